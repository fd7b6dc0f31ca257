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
mod git;
mod keep;
mod known;
mod leaving;
mod look;
mod offer;
mod plan;
mod porcelain;
mod pull;
mod push;
mod remote;
mod signers;
mod words;

pub use fetch::blame;
pub use keep::list_cited;
pub use known::{Elsewhere, FORMER, PulledFrom};
pub use leaving::{Kept, KeptFile};
pub use look::{Done, Listing, RemoteRef};
pub use offer::{MayLeave, Offer};
pub use plan::{Plan, Restore};
pub use pull::{Pulled, SetAside};
pub use push::Sent;
pub use remote::{Mark, Remote, Side};
