//! Criteria and their proof (`protocol/completion.md#acceptance-criteria`): which anchors a
//! re-ground must have verified, what each one is worth, and when a slice has enough.

mod claimed;
mod complete;
mod place;
mod question;
mod standing;
mod stored;
mod text;

pub(super) use claimed::{require_distinct, stamp};
pub(super) use complete::require_complete;
pub(super) use question::{list_dropping_anchors, may_drop, questions};
pub(super) use standing::{find_lost, standing_question};
pub(super) use stored::revalidate_done;
