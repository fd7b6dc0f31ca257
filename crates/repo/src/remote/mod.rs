//! Transfer of the log: it is pushed to a remote beside its branch, and a log that is fetched is checked before it is
//! used.
//!
//! git runs in the user's repository, because only there its remotes, addresses and credentials apply. The log's
//! objects are lent to git through the environment and named by id, so nothing of the log is written there.
//!
//! Invariants: a remote ref is only created or moved forward, and its previous value is known; data from a remote is
//! bounded before it is read and checked before it is kept; if it is unknown whether the remote accepted a push, the
//! remote is asked.

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
