//! The service layer. It turns an event into a transition or a refusal, and assembles what that needs: the due role,
//! its prompt and the brief.

mod brief_assembly;
mod candidates;
mod carriage;
mod due_role;
mod goal_workflow;
mod inbox;
mod past;
mod prompting;
mod report_context;
mod transition;

pub(crate) use brief_assembly::{
    CheckedAnchor, DEFAULT_BYTES, WholeBrief, assemble, check, follow_brief, write_brief,
};
pub(crate) use carriage::{
    Public, branch, check_secrets, check_unseen, find_tracked_base, find_tracked_default,
    has_remotes, list_pulled, look_into, push_known, remote,
};
pub use due_role::last_refusal;
pub(crate) use due_role::{
    check_room, dispatch_now, dispatch_told, explain_now, find, find_head, find_made_up, find_plan,
    find_uncommitted, find_where_moved, follows, needs_ticket, require_turn, run_stop_verifier,
    tell_uncommitted,
};
pub(crate) use goal_workflow::{
    Draft, find_goal, forget_hidden, is_dropped, look_at_goal, set_goal,
};
pub(crate) use inbox::{Asked, Taker, is_shut_out, leave, take_inbox};
pub(crate) use prompting::{
    Prompts, RunEstimate, estimate_run, fits, leaves_the_tree_alone, report_format, role_prompts,
    ticket,
};
pub(crate) use report_context::{describe_scripted, list_scripted_commands};
pub use transition::transition;
pub(crate) use transition::{
    Applied, ByCookOutcome, Foresight, check_commit_point, dry_run, explain_by_cook, foresee,
    leave_workflow, reground_all_by_cook, reground_by_cook, show_tip, sign, transition_holding,
};
