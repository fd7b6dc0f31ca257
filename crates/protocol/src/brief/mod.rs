//! The continuation brief: what the next session must know, computed without a model.
//!
//! Pure. An artifact is read ([`read`]), checked field by field, and rendered ([`render`]) from its content alone.
//! What is kept from cycle to cycle goes through [`reconcile`], the only way in for notes, imports, checkpoints
//! and re-grounds, where nothing is lost without a cause. [`fill`] adds what the documents and histories already
//! say. Stamps and verdicts come from outside.

mod artifact;
mod brief_reconciliation;
mod entry;
mod fill;

pub use artifact::{
    Artifact, Guide, MAX_BYTES, Reading, VERSION, mentions, quotes, read, read_line_from_value,
    read_lines_from_value, read_reconciliation,
};
pub use brief_reconciliation::{Author, Reconciled, reconcile, undo};
pub use entry::{
    Brief, Budgeted, FieldError, Weight, entry_id, is_users, line_digest, line_text, name_user,
    normalise, not_user, render, within,
};
pub use fill::{
    Attempt, Due, Filled, Here, LastCheckpoint, Material, Origin, Proof, fill, split_checkpoint,
};
