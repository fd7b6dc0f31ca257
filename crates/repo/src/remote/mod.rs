//! How the log travels: pushed to a remote beside its branch, fetched from one, and looked through
//! before anything of it is believed.
//!
//! git runs in the user's repository: only there do its remotes, addresses and credentials count.
//! The log's objects are lent to it and named by id, so that nothing of the log is written there.
//! Invariants: a ref of the remote moves forward or is made, and what it held before is known; what
//! a remote brings is data, bounded before it is read and checked before it is kept; where it is
//! not known whether the remote took a push, it is asked.

mod fetch;
mod former;
mod git_words;
mod kept_commits;
mod known_logs;
mod leaving;
mod log_pull;
mod log_push;
mod offer;
mod push_plan;
mod remote;
mod remote_listing;
mod signers;
mod user_git;

pub use fetch::blame;
pub use kept_commits::list_cited;
pub use known_logs::{Elsewhere, FORMER, PulledFrom};
pub use leaving::{Kept, KeptFile};
pub use log_pull::{Manner, Pulled, SetAside};
pub use log_push::Sent;
pub use offer::{MayLeave, Offer};
pub use push_plan::{Plan, Restore};
pub use remote::{Mark, Remote, Side};
pub use remote_listing::{Done, Listing, RemoteRef};
