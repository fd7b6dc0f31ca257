//! Existing plans of a repository: task lists of other tools, read as slices.
//!
//! An unticked task becomes a slice; so does a ticked one, as a claim without proof. Sources are only read, except by
//! [`tick`], which runs at the user's request.

mod check_list;
mod json_plans;
mod source;
mod spec_documents;
mod task;

pub use source::{Kind, Ticked, Worth, list_plans, read, read_mission, tick};
pub use task::TakenPlan;

/// Size limit of a plan in bytes: that of files into which cook can write ticks.
const MAX_PLAN_BYTES: u64 = super::text_files::MAX;
