//! How the log travels: pushed to a remote beside its branch, fetched from one, and looked through
//! before anything of it is believed.
//!
//! git runs in the user's repository: only there do its remotes, addresses and credentials count.
//! The log's objects are lent to it and named by id, so that nothing of the log is written there.
//! Invariants: a ref of the remote moves forward or is made, and what it held before is known; what
//! a remote brings is data, bounded before it is read and checked before it is kept; where it is
//! not known whether the remote took a push, it is asked.

mod known_logs;
mod log_pull;
mod log_push;
mod push_plan;
#[allow(clippy::module_inception)]
mod remote;

pub use known_logs::{Elsewhere, FORMER, PulledFrom};
pub use log_pull::{Manner, Pulled, SetAside, blame};
pub use log_push::{MayLeave, Offer, Sent};
pub use push_plan::{Kept, KeptFile, Plan, Restore, list_cited};
pub use remote::{Done, Listing, Mark, Remote, RemoteRef, Side};
