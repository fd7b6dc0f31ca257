//! Plans that a repository has already: task lists of other tools, read as slices.
//!
//! An unticked task becomes a slice; a ticked one does too, as a claim that nothing proves yet.
//! A source is read and never written to, but for [`tick`], which a user asks for.

mod check_list;
mod json_plans;
mod source;
mod spec_documents;
mod task;

pub use source::{Kind, Ticked, Worth, list_plans, read, read_mission, tick};
pub use task::TakenPlan;

/// Bytes of a plan that are read: what cook may write ticks into.
const MAX_PLAN_BYTES: u64 = super::text_files::MAX;
