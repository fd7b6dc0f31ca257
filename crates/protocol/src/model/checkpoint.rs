//! One line of `checkpoints.jsonl`: what a session did, kept outside the documents.

use super::scalar::{SchemaVersion, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// What made an entry.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    IntoStaticStr,
    JsonSchema,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum CheckpointKind {
    /// Somebody said so (`cook brief checkpoint`).
    Manual,
    /// A commit came on HEAD.
    Commit,
    /// Kept before a compaction.
    Auto,
    /// A slice or an issue became a session's current one.
    Claim,
    /// The stop gate let a session go without progress.
    Released,
    /// The files of a closed issue.
    Files,
    /// What the user typed, as the agent reported it.
    Prompt,
}

impl CheckpointKind {
    /// The word in documents.
    pub fn id(self) -> &'static str {
        self.into()
    }
}

/// An entry of the checkpoint trail. Two entries with one id are one entry.
/// Fields of a later cook are read over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checkpoint {
    /// Its name; first in the line, so that it is found without parsing.
    #[schemars(length(min = 1, max = 100))]
    pub id: String,
    /// Version of this document's shape.
    pub schema_version: SchemaVersion,
    /// When.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// What made it.
    pub kind: CheckpointKind,
    /// One or more lines, at most 4,096 bytes.
    pub text: String,
    /// The slice or issue it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// The session it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The agent of that session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The commit, in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// How the id of a prompt begins: as the word behind `user@`, and never that of a
/// message that was said to cook itself.
pub const PROMPT_ID: &str = "prompt-";

/// What stands in the place of a prompt's text where settings keep its digest only;
/// hexadecimal SHA-256 of the prompt with single blanks follows.
pub const PROMPT_DIGEST: &str = "sha256:";

/// Bytes of text that one entry holds.
pub const MAX_CHECKPOINT_TEXT: usize = 4096;
