//! Decides the next step of a long job of coding agents, from documents in memory.
//!
//! Pure: it uses no file, process, repository, clock or random number. [`machine::dispatch`] and [`machine::apply`]
//! decide from [`machine::Facts`]. If a fact is missing, they refuse with a [`question::Question`]; [`machine::decide`]
//! lets the caller measure the answer and asks them again. [`report`] parses the report of a role, [`prompt`] writes
//! the prompt of a role, and [`schema`] checks documents from outside.
//!
//! Start a job and ask which role is next:
//!
//! ```
//! use cook_protocol::machine::{Facts, apply, dispatch};
//! use cook_protocol::model::{Actor, Event, Role};
//!
//! let event: Event = serde_json::from_str(
//!     r#"{
//!         "event": "bootstrapped",
//!         "mission": "tally counts the words of a text",
//!         "branch": "main",
//!         "profile": {
//!             "schema_version": 1, "protocol_id": "completion", "project_name": "tally",
//!             "required_stop_judges": 3, "priority_policy_id": "completion-default",
//!             "docs_surfaces": ["README.md"]
//!         }
//!     }"#,
//! )?;
//! // The facts that the caller measured in the repository.
//! let facts: Facts = serde_json::from_str(
//!     r#"{
//!         "now": "2026-03-02T11:00:00Z",
//!         "head": {
//!             "commit": "0f16b23693d414b7c6a69524f9fae945890d78f7",
//!             "tree": "e15cb2e7098fa876f6d274665111c15ab41870cc",
//!             "branch": "main"
//!         },
//!         "worktree": {"dirty": [], "more": 0,
//!             "digest": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
//!         "contract_missing": [], "contract_uncommitted": [], "settings": {}, "outside_edits": [],
//!         "since": {"resolves": true, "ancestor": true, "merge_base": null, "commits": []},
//!         "config": {"limits": {}, "strict": false}
//!     }"#,
//! )?;
//! let documents = apply(None, &facts, &event, Actor::User)?.snapshot;
//! let due = dispatch(Some(&documents), &facts)?;
//! assert_eq!(due.role, Some(Role::Regrounder));
//! assert_eq!(documents.state.next_mandatory_role.0, due.role);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod brief;
pub mod change;
pub mod diagnostic;
pub mod digest;
pub mod machine;
pub mod model;
pub mod prompt;
pub mod question;
pub mod refusal;
pub mod report;
pub mod schema;
pub mod trials;

/// Names that most modules use: documents, findings, refusals and collections.
mod prelude {
    pub(crate) use crate::diagnostic::{
        Code, Finding, Lines, clean, count_noun, finding, short, shorten,
    };
    pub(crate) use crate::model::{
        ActiveSlice, ActiveStatus, Anchor, AnsweredRejection, AuditNote, Basis, Blocker, BriefLine,
        ByCook, Conclude, Count, Decision, Event, Evidence, Ledger, MAX_FIELD_CHARS, Offer, Plan,
        PlannedSlice, Policy, Profile, Receipt, Reground, ReportRecord, ReviewNote, Role,
        RubricVerdict, SchemaVersion, Shared, Slice, SliceLedger, SliceRecordType, SliceStatus,
        Slot, Snapshot, Subject, Submission, UserAnswer, Verdicts, VerificationEvidence,
        WaitingKind,
    };
    pub(crate) use crate::refusal::{Refusal, refusal};
    pub(crate) use std::collections::{BTreeMap, BTreeSet};
}
