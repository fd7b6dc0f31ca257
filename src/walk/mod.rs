//! The main walk: an event becomes a transition, or a refusal and nothing else; and what is put
//! together on the way: who is due, what they are given, the brief.

mod applied;
mod brief;
mod cited;
mod context;
mod continued;
mod dispatch;
mod inbox;
mod notify;
mod prompting;
mod scripted;
mod transition;
mod workspace;

pub use applied::Applied;
pub use brief::{CheckedAnchor, DEFAULT_BYTES, WholeBrief, assemble, check, put_together};
pub use continued::{follow_brief, write_brief};
pub use dispatch::{dispatch_facts, dispatch_now, head_of, run_stop_verifier};
pub use inbox::{Asked, Request, Taker, is_shut_out, leave, take_inbox};
pub use prompting::{Prompts, role_prompt, role_prompts, ticket};
pub use scripted::{scripted_doors, scripted_line};
pub use transition::{dry_run, show_tip, transition, transition_holding};
pub use workspace::{SPARE_DIR, Workspace, place_of};
