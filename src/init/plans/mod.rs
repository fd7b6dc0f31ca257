//! Plans that a repository has already: task lists of other tools, read as slices.
//!
//! An unticked task becomes a slice; a ticked one does too, as a claim that nothing proves yet.
//! A source is read and never written to, but for [`tick`], which a user asks for.

mod beads;
mod check_list;
mod issues;
mod json;
mod kiro;
mod marked;
mod place;
mod prd;
mod source;
mod task;
mod task_master;
mod tick;

pub use source::{Kind, list_plans, read};
pub use task::TakenPlan;
pub use tick::{Ticked, Worth, tick};

/// Bytes of a plan that are read: what cook may write ticks into.
const MAX_PLAN_BYTES: u64 = super::text_file::MAX;
