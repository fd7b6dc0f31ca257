//! Sessions: conversations with agents and models as immutable, content-addressed values that can be continued,
//! branched, moved to another supplier, and verified.

mod archive;
mod conversation;
mod failures;
mod session_check;
mod session_record;
mod session_store;
mod session_values;

pub use archive::{Archive, Content};
pub use conversation::{Call, NativeUse, Reply, call, replay_prompt, seed};
pub use failures::{corrupt, keeping, no_continuation, not_found, read_only_violated};
pub use session_check::{Cleared, clear, verify};
pub use session_record::{Batch, CallRecord, without_nulls};
pub use session_store::{
    GitStore, InFlight, Interrupted, Named, load_episode, load_exchange, load_series, reads_as_ref,
    resolve,
};
pub use session_values::{
    Action, Answer, Capability, ContentHash, Continuation, Entry, Episode, Exchange, Kind, Native,
    Object, On, Prior, Ref, RefKind, Series, Supplier, SupplierError, SupplierErrorKind, Transport,
    Turn, Window, combine, estimate, wrong_citation,
};
