//! The commands that are the user's alone: pause, resume, cancel, refocus, adopt, restore, undo,
//! amend.

mod adopt;
mod amend;
mod mission;
mod resume;
mod stop;
mod undo;

pub(super) use adopt::{adopt, adopt_branch, restore};
pub(super) use amend::{amend, retire};
pub(super) use mission::{learn_mission, refocus, set_mission};
pub(super) use resume::{resume, resume_needs};
pub(super) use stop::{block, cancel, pause};
pub(super) use undo::undo;

use crate::diagnostic::{Code, Refusal};

/// A command that has nothing to do here.
fn refusal(message: impl Into<String>) -> Refusal {
    Refusal::new(Code::DoesNotApply, message)
}
