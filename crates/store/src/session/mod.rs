//! Sessions: what was said to agents and models and what they answered, as immutable,
//! content-addressed values that can be gone on from, branched from, moved to another
//! supplier and checked.
//!
//! Exchange = one request and its response; episode = one context window of exchanges;
//! series = a chain of episodes bridged by compaction.

mod archive;
mod calls;
mod check;
mod cited;
mod conversation;
mod error;
mod event;
mod git;
mod hash;
mod inflight;
mod interrupted;
mod library;
mod record;
mod reference;
mod repair;
mod replay;
mod resolve;
mod seed;
mod store;
mod stored;
mod supplier;
mod upkeep;
mod value;
mod writer;

pub use archive::{Archive, Content, TakenIn};
pub use calls::{CallRecord, without_nulls};
pub use check::{Checked, verify};
pub use cited::wrong_citation;
pub use conversation::{Call, NativeUse, Reply, call};
pub use error::{NoRecap, Prior, Reason, SessionError};
pub use event::Batch;
pub use git::GitStore;
pub use hash::ContentHash;
pub use inflight::InFlight;
pub use interrupted::Interrupted;
pub use library::{Atom, EpisodeRef, Repl, Request};
pub use reference::{On, Ref, RefKind};
pub use replay::prompt as replay_prompt;
pub use resolve::{Named, reads_as_ref, resolve};
pub use seed::seed;
pub use store::{SessionStore, load_episode, load_exchange, load_series};
pub use stored::{Entry, Native, Object};
pub use supplier::{
    Action, Answer, Capability, Continuation, Supplier, SupplierError, SupplierErrorKind,
    Transport, Turn, Window, combine, estimate,
};
pub use upkeep::{Cleared, clear, preview_clear};
pub use value::{Episode, Exchange, Kind, Series};
