//! Proof: receipts, evidence entries, `verification-evidence.json`.

use super::scalar::{Count, OptionalI32, SchemaVersion, Text, Texts, Timestamp, nullable};
use schemars::JsonSchema;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;
use strum::IntoStaticStr;

/// What kind of proof an anchor is.
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
#[allow(missing_docs)]
pub enum Basis {
    Observed,
    Test,
    Output,
    User,
    Doc,
}

impl Basis {
    /// All of them.
    pub const ALL: [Basis; 5] = [
        Basis::Observed,
        Basis::Test,
        Basis::Output,
        Basis::User,
        Basis::Doc,
    ];

    /// The basis of that word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|basis| basis.id() == word)
    }

    /// The word in reports and documents.
    pub fn id(self) -> &'static str {
        self.into()
    }
}

/// One criterion's proof as cook stamped it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvidenceRecord {
    /// The criterion's text. One that is no longer among the slice's criteria was dropped with this proof.
    #[serde(with = "Text")]
    pub criterion: String,
    /// Where the proof is.
    #[serde(with = "Text")]
    pub anchor: String,
    /// What kind of proof it is.
    pub basis: Basis,
    /// Receipt id, for anchors that a receipt backs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
    /// HEAD when it was checked.
    #[serde(with = "Text")]
    pub head_sha: String,
    /// When it was checked.
    pub recorded_at: Timestamp,
    /// The lines that it showed: of a place, a symbol's line, or a section.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Vec<String>>,
    /// Id of the tree that holds the tests as they were then; the log keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<String>,
    /// The tree on which a transition last found that these tests pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_at: Option<String>,
    /// Why the user gave it up: it is asked no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired: Option<String>,
}

impl EvidenceRecord {
    /// What it showed when it was accepted.
    pub fn copy_kept(&self) -> KeptProof {
        KeptProof {
            head_sha: self.head_sha.clone(),
            text: self.text.clone(),
            tests: self.tests.clone(),
            held_at: self.held_at.clone(),
            declared_at: None,
        }
    }
}

/// What a proof showed when it was accepted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptProof {
    /// HEAD when it was checked.
    pub head_sha: String,
    /// See [`EvidenceRecord::text`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Vec<String>>,
    /// See [`EvidenceRecord::tests`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<String>,
    /// See [`EvidenceRecord::held_at`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_at: Option<String>,
    /// The head of the slice that is to be accepted, where its commits declare that the test changed: the version
    /// that its review saw may take the place of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_at: Option<String>,
}

/// A stamped record. A plain text is what older writers left: it is read and proves
/// nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Evidence {
    /// Checked and stamped by cook.
    Record(EvidenceRecord),
    /// An older file's plain text: read, shown, and proof of nothing.
    Text(String),
}

impl Evidence {
    /// The stamped record, if this is one.
    pub fn record(&self) -> Option<&EvidenceRecord> {
        match self {
            Evidence::Record(record) => Some(record),
            Evidence::Text(_) => None,
        }
    }
}

struct EvidenceVisitor;

impl<'de> Visitor<'de> for EvidenceVisitor {
    type Value = Evidence;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an evidence record or a text")
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Evidence, E> {
        Ok(Evidence::Text(value.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Evidence, A::Error> {
        EvidenceRecord::deserialize(de::value::MapAccessDeserializer::new(map))
            .map(Evidence::Record)
    }
}

impl<'de> Deserialize<'de> for Evidence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EvidenceVisitor)
    }
}

/// Where a gate ran.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// In a checkout that cook made from the commit's objects.
    CleanRoom,
    /// In the worktree as it stood: proves nothing.
    Worktree,
}

/// What earlier runs had left where a gate ran.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Caches {
    /// The directories that the settings name, as runs before left them.
    Kept,
    /// Nothing of any run before.
    Empty,
}

/// What kept a gate's processes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SandboxKind {
    /// The kernel, by bubblewrap.
    Bubblewrap,
    /// Nothing: it could reach what its user can.
    None,
}

/// The program that a command's first word was found to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Where it is.
    #[serde(with = "Text")]
    pub path: String,
    /// Digest of its bytes.
    #[serde(with = "Text")]
    pub sha256: String,
}

/// One run of one gate, as cook saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The command as it was configured.
    #[serde(with = "Text")]
    pub command: String,
    /// What was executed, word by word.
    pub argv: Vec<String>,
    /// Where, relative to the worktree's root.
    pub cwd: String,
    /// Exit code; null when it was ended by a signal or a timeout.
    #[serde(with = "OptionalI32")]
    pub exit_code: Option<i32>,
    /// True when cook ended it at its timeout.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// Wall time in milliseconds.
    pub duration_ms: Count,
    /// Digest of everything it wrote to stdout.
    #[serde(with = "Text")]
    pub stdout_sha256: String,
    /// Digest of everything it wrote to stderr.
    #[serde(with = "Text")]
    pub stderr_sha256: String,
    /// Digest of what it says of each test, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcomes_sha256: Option<String>,
    /// The last lines of its output.
    pub tail: String,
    /// HEAD it ran at; null on an unborn branch.
    #[serde(deserialize_with = "nullable")]
    pub head_sha: Option<String>,
    /// Tree it ran on; null on an unborn branch.
    #[serde(deserialize_with = "nullable")]
    pub tree_oid: Option<String>,
    /// Digest of what of that tree its gate says something about, where that is not all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_sha256: Option<String>,
    /// Where it ran; only what ran in a clean room proves something.
    pub place: Place,
    /// What earlier runs had left there.
    pub caches: Caches,
    /// What kept its processes.
    pub sandbox: SandboxKind,
    /// The program; null for one of the repository itself.
    #[serde(deserialize_with = "nullable")]
    pub program: Option<Program>,
    /// Digest of the settings that prepared the place.
    #[serde(with = "Text")]
    pub preparation_sha256: String,
    /// Variables of the user's environment that it did not get.
    pub dropped_env: Vec<String>,
    /// When it started.
    pub started_at: Timestamp,
    /// Digest of all the rest.
    #[serde(with = "Text")]
    pub id: String,
}

impl Receipt {
    /// Exit 0, in time.
    pub fn has_passed(&self) -> bool {
        self.exit_code == Some(0) && !self.timed_out
    }

    /// It says something about its commit: it ran in a clean room.
    pub fn proves(&self) -> bool {
        self.place == Place::CleanRoom
    }

    /// How the command came to its end, in words.
    pub fn ending(&self) -> String {
        match (self.timed_out, self.exit_code) {
            (true, _) => "ran out of time".to_owned(),
            (false, Some(code)) => format!("ended with {code}"),
            (false, None) => "was ended by a signal".to_owned(),
        }
    }
}

/// What `verification-evidence.json` speaks of.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Subject {
    None,
    SelectedSlice,
    CurrentHead,
}

/// How the verification went.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Outcome {
    NotRecorded,
    Passed,
    Failed,
}

/// The kind of document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum ArtifactType {
    #[serde(rename = "completion-verification-evidence")]
    Evidence,
}

/// What was verified last, and how it went: `verification-evidence.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerificationEvidence {
    /// Version of this document's shape.
    pub schema_version: SchemaVersion,
    /// Kind of document.
    pub artifact_type: ArtifactType,
    /// What it speaks of.
    pub subject_type: Subject,
    /// The slice, when it speaks of one.
    #[serde(deserialize_with = "nullable")]
    pub slice_id: Option<String>,
    /// What the slice is for.
    #[serde(deserialize_with = "nullable")]
    pub goal: Option<String>,
    /// Contracts the slice serves.
    #[serde(with = "Texts")]
    pub contract_ids: Vec<String>,
    /// The commit the slice started from.
    #[serde(deserialize_with = "nullable")]
    pub basis_commit: Option<String>,
    /// The commit that was verified.
    #[serde(deserialize_with = "nullable")]
    pub head_sha: Option<String>,
    /// What was run.
    #[serde(with = "Texts")]
    pub verification_commands: Vec<String>,
    /// How it went.
    pub outcome: Outcome,
    /// When.
    #[serde(deserialize_with = "nullable")]
    pub recorded_at: Option<Timestamp>,
    /// One line for people.
    pub summary: String,
    /// The receipts.
    #[serde(default)]
    pub runs: Vec<Receipt>,
}

impl VerificationEvidence {
    /// Nothing recorded yet.
    pub fn none() -> Self {
        Self {
            schema_version: SchemaVersion,
            artifact_type: ArtifactType::Evidence,
            subject_type: Subject::None,
            slice_id: None,
            goal: None,
            contract_ids: Vec::new(),
            basis_commit: None,
            head_sha: None,
            verification_commands: Vec::new(),
            outcome: Outcome::NotRecorded,
            recorded_at: None,
            summary: String::new(),
            runs: Vec::new(),
        }
    }
}
