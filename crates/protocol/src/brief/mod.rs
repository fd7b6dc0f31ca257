//! The continuation brief: what the next session must know, without a model.
//!
//! Pure. An artifact is read ([`read`]), checked field by field, and rendered
//! ([`render`]) by a function of nothing else; what is kept from cycle to cycle
//! passes [`reconcile`], the one way in for notes, imports, checkpoints and
//! re-grounds, where nothing is lost without a cause; [`fill`] writes down what
//! the documents and histories already say. Stamps and verdicts come from outside.

mod artifact;
mod author;
mod field;
mod fill;
mod identity;
mod material;
mod mention;
mod read;
mod reconcile;
mod render;

pub use artifact::{Artifact, Guide, VERSION, read_line_from_value, read_lines_from_value};
pub use author::{is_users, name_user, not_user};
pub use field::{FieldError, normalise};
pub use fill::{fill, last_line, split_checkpoint};
pub use identity::{entry_id, line_digest};
pub use material::{Attempt, Due, Filled, Here, LastCheckpoint, Material, Origin, Proof};
pub use mention::{mentions, quotes};
pub use read::{MAX_BYTES, Reading, read, read_reconciliation};
pub use reconcile::{Author, Incoming, Reconciled, close, reconcile, undo};
pub use render::{Brief, Budgeted, Weight, line_text, render, within};
