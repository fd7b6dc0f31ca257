//! The service layer: an event becomes a transition, or a refusal and nothing else; and what is put
//! together on the way: who is due, what they are given, the brief.

mod applied;
mod brief;
mod by_cook;
mod candidates;
mod carriage;
mod cited;
mod context;
mod continued;
mod contract;
mod derived;
mod dispatch;
mod elsewhere;
mod estimate;
mod foreign;
mod foresight;
mod found;
mod gate_runs;
mod goal;
mod histories;
mod inbox;
mod judging;
mod judging_gates;
mod notify;
mod offers;
mod past;
mod prompting;
mod pulled;
mod refusal;
mod scripted;
mod slice_rows;
mod sync;
mod told;
mod transition;
mod unclaimed;
mod uncommitted;
mod workspace;

pub(crate) use applied::Applied;
pub(crate) use brief::{CheckedAnchor, DEFAULT_BYTES, WholeBrief, assemble, check};
pub(crate) use by_cook::{ByCookOutcome, is_by_cook, reground_all_by_cook, reground_by_cook};
pub(crate) use carriage::{
    Public, branch, check_secrets, check_unseen, has_remotes, look_into, push_known, remote,
};
pub(crate) use continued::{follow_brief, write_brief};
pub(crate) use derived::{find_made_up, follows};
pub(crate) use dispatch::{
    check_room, dispatch_facts, dispatch_now, dispatch_told, find_head, require_turn,
    run_stop_verifier,
};
pub(crate) use estimate::{RunEstimate, estimate_run};
pub(crate) use foresight::{Foresight, foresee};
pub(crate) use found::{find, find_plan, find_where_moved};
pub(crate) use goal::{Draft, find_goal, forget_hidden, is_dropped, look_at_goal, set_goal};
pub(crate) use inbox::{Asked, Taker, is_shut_out, leave, take_inbox};
pub use judging::Judging;
pub(crate) use prompting::{
    Prompts, fits, leaves_the_tree_alone, report_format, role_prompts, ticket,
};
pub(crate) use pulled::{find_tracked_base, find_tracked_default, list_pulled};
pub use refusal::last_refusal;
pub(crate) use scripted::{describe_scripted, list_scripted_commands};
pub(crate) use sync::check_commit_point;
pub use transition::transition;
pub(crate) use transition::{dry_run, leave_workflow, show_tip, sign, transition_holding};
pub(crate) use uncommitted::{find_uncommitted, needs_ticket, tell_uncommitted};
pub use workspace::{LogSource, Workspace};
pub(crate) use workspace::{MIRROR_DIR, OF_PROCESS, find_place};
