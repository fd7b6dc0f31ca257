//! Proof: receipts, the anchor grammar, evidence entries and claims, `verification-evidence.json`.

use super::contract::Offer;
use super::scalar::all;
use super::scalar::{Count, OptionalI32, SchemaVersion, Text, Texts, Timestamp};
use schemars::JsonSchema;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;
use strum::{IntoStaticStr, VariantArray};

/// Kind of proof that an anchor gives.
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
    VariantArray,
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
    /// All kinds.
    pub const ALL: [Basis; 5] = all();

    /// Returns the kind with this name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|basis| basis.id() == word)
    }
}

/// The proof of one criterion, as checked and stamped by cook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvidenceRecord {
    /// Text of the criterion; a criterion that the slice no longer has was dropped, because this proof shows that it
    /// holds.
    #[serde(with = "Text")]
    pub criterion: String,
    /// Anchor of the proof, such as `path:line`, `test:NAME` or `cmd:COMMAND#TEXT`.
    #[serde(with = "Text")]
    pub anchor: String,
    /// Kind of proof.
    pub basis: Basis,
    /// ID of the receipt that backs the proof; absent if no receipt does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
    /// Full ID of HEAD when the proof was checked.
    #[serde(with = "Text")]
    pub head_sha: String,
    /// Time at which the proof was checked (RFC 3339, UTC).
    pub recorded_at: Timestamp,
    /// The accepted lines: a range, the line of a symbol, or a section; absent for other anchors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Vec<String>>,
    /// Object ID of the tree that holds the accepted version of the tests; the log keeps this tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<String>,
    /// Object ID of the tree of HEAD at which a transition last found that these tests pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_at: Option<String>,
    /// Reason why the user gave up the proof, which is no longer checked; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired: Option<String>,
}

impl EvidenceRecord {
    /// Returns the record's proof as it was when it was accepted.
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

/// A proof as it was when it was accepted.
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
    /// The head of the slice to accept, if its commits declare that the test changed. The version of the test
    /// there, which its review saw, may then replace the accepted version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_at: Option<String>,
}

/// A checked proof. A plain text comes from an older version of the format and proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Evidence {
    /// Checked and stamped by cook.
    Record(EvidenceRecord),
    /// An older file's plain text: read, shown, and proof of nothing.
    Text(String),
}

impl Evidence {
    /// Returns the record, if it is one.
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

/// Place where a gate ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// In a checkout that cook made from the commit's objects.
    CleanRoom,
    /// In the worktree as it stood: proves nothing.
    Worktree,
}

/// State of the caches where a gate ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Caches {
    /// The directories that the settings name, as runs before left them.
    Kept,
    /// Nothing of any run before.
    Empty,
}

/// Sandbox of a gate's processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxKind {
    /// The kernel, by bubblewrap.
    Bubblewrap,
    /// Nothing: it could reach what its user can.
    None,
}

/// The program that the first word of a command refers to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Path of the program file, as found on the search path.
    #[serde(with = "Text")]
    pub path: String,
    /// SHA-256 of the program file, in hexadecimal.
    #[serde(with = "Text")]
    pub sha256: String,
}

/// The record of one run of a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// Command line, as configured.
    #[serde(with = "Text")]
    pub command: String,
    /// Words of the executed command; the first one is the program, as the command names it.
    pub argv: Vec<String>,
    /// Directory of the run, relative to the root of the worktree or clean room; `.` for the root.
    pub cwd: String,
    /// Exit code; null if a signal ended the process, as it usually does after a timeout.
    #[serde(with = "OptionalI32")]
    pub exit_code: Option<i32>,
    /// Whether cook ended the process because it reached its time limit; absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// Wall time of the run, in milliseconds.
    pub duration_ms: Count,
    /// SHA-256 of the complete standard output, in hexadecimal.
    #[serde(with = "Text")]
    pub stdout_sha256: String,
    /// SHA-256 of the complete standard error output, in hexadecimal.
    #[serde(with = "Text")]
    pub stderr_sha256: String,
    /// SHA-256 of the results of the individual tests as JSON, in hexadecimal; absent in older receipts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcomes_sha256: Option<String>,
    /// Last lines of standard output, followed by the last lines of standard error.
    pub tail: String,
    /// Full ID of the tested commit, or of HEAD for a run in the worktree; null on an unborn branch.
    #[serde(deserialize_with = "Option::deserialize")]
    pub head_sha: Option<String>,
    /// Object ID of the tree of that commit; null on an unborn branch.
    #[serde(deserialize_with = "Option::deserialize")]
    pub tree_oid: Option<String>,
    /// SHA-256 of the modes, object IDs and paths of the files that match the `paths` of the gate, in hexadecimal;
    /// absent if the gate names no `paths`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_sha256: Option<String>,
    /// Place of the run; only a run in a clean room counts as proof.
    pub place: Place,
    /// State of the caches: `kept` if they could hold files of earlier runs, otherwise `empty`.
    pub caches: Caches,
    /// Sandbox of the processes; `none` if they had all permissions of the user.
    pub sandbox: SandboxKind,
    /// The program that was found on the search path; null if the command names it by a path, or if the file cannot be
    /// read.
    #[serde(deserialize_with = "Option::deserialize")]
    pub program: Option<Program>,
    /// SHA-256 of the settings that prepare the clean room, in hexadecimal.
    #[serde(with = "Text")]
    pub preparation_sha256: String,
    /// Names of the user's environment variables that the run did not get.
    pub dropped_env: Vec<String>,
    /// Start time (RFC 3339, UTC).
    pub started_at: Timestamp,
    /// ID of the receipt: SHA-256 of the other fields as JSON with sorted keys, in hexadecimal.
    #[serde(with = "Text")]
    pub id: String,
}

impl Receipt {
    /// Whether it exited with 0 before its timeout.
    pub fn has_passed(&self) -> bool {
        self.exit_code == Some(0) && !self.timed_out
    }

    /// Whether it can prove something about its commit: it ran in a clean room.
    pub fn proves(&self) -> bool {
        self.place == Place::CleanRoom
    }

    /// Describes how the command ended.
    pub fn ending(&self) -> String {
        match (self.timed_out, self.exit_code) {
            (true, _) => "ran out of time".to_owned(),
            (false, Some(code)) => format!("ended with {code}"),
            (false, None) => "was ended by a signal".to_owned(),
        }
    }
}

/// Subject of `verification-evidence.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Subject {
    #[default]
    None,
    SelectedSlice,
    CurrentHead,
}

/// Result of the verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Outcome {
    #[default]
    NotRecorded,
    Passed,
    Failed,
}

/// The kind of document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum ArtifactType {
    #[default]
    #[serde(rename = "completion-verification-evidence")]
    Evidence,
}

/// Subject and result of the last verification: `verification-evidence.json`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerificationEvidence {
    /// Version of the document format.
    pub schema_version: SchemaVersion,
    /// Kind of document; a constant.
    pub artifact_type: ArtifactType,
    /// Subject of the verification: a slice, the commit at HEAD, or nothing yet.
    pub subject_type: Subject,
    /// ID of the slice; null if the subject is not a slice.
    #[serde(deserialize_with = "Option::deserialize")]
    pub slice_id: Option<String>,
    /// Purpose of the slice, or the words of a reached goal; null otherwise.
    #[serde(deserialize_with = "Option::deserialize")]
    pub goal: Option<String>,
    /// IDs of the contracts that the slice serves; empty if the subject is not a slice.
    #[serde(with = "Texts")]
    pub contract_ids: Vec<String>,
    /// Full ID of the commit at which the slice or the goal started; null otherwise.
    #[serde(deserialize_with = "Option::deserialize")]
    pub basis_commit: Option<String>,
    /// Full ID of the verified commit; null if nothing was verified yet.
    #[serde(deserialize_with = "Option::deserialize")]
    pub head_sha: Option<String>,
    /// Commands that were run; after the selection of a slice, its own commands, which have not run yet.
    #[serde(with = "Texts")]
    pub verification_commands: Vec<String>,
    /// Result of the verification; `not_recorded` if no gate has run.
    pub outcome: Outcome,
    /// Time at which the result was recorded (RFC 3339, UTC); null if there is none yet.
    #[serde(deserialize_with = "Option::deserialize")]
    pub recorded_at: Option<Timestamp>,
    /// Summary for people, in one line.
    pub summary: String,
    /// Receipts of the runs.
    #[serde(default)]
    pub runs: Vec<Receipt>,
}

// The grammar of anchors, the results of checking one, and the stamp of its place.

/// The maximum length of an anchor, in characters.
pub const MAX_ANCHOR: usize = 4000;

/// The place of a proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Anchor {
    /// `path:line` or `path:line-line`; lines count from 1.
    #[allow(missing_docs)]
    Lines {
        path: String,
        first: usize,
        last: usize,
    },
    /// `path:symbol`.
    #[allow(missing_docs)]
    Symbol { path: String, symbol: String },
    /// `test:NAME`.
    Test(String),
    /// `cmd:COMMAND#TEXT`, split at the last `#`.
    #[allow(missing_docs)]
    Command { command: String, text: String },
    /// `doc:WHERE` or `doc:WHERE#SECTION`.
    #[allow(missing_docs)]
    Doc {
        place: String,
        section: Option<String>,
    },
    /// `user@ID` or `user@ID: 'QUOTE'`.
    #[allow(missing_docs)]
    User { id: String, quote: Option<String> },
    /// `gone:PATH` or `gone:PATH#LINE`: a file, or a line of it, that no longer exists.
    #[allow(missing_docs)]
    Gone { path: String, line: Option<String> },
    /// `entry:PATH`: the mode and the content of a whole file.
    Entry(String),
    /// `commit:SHA`.
    Commit(String),
    /// `receipt:ID`.
    Receipt(String),
}

/// The reason why a text is not an anchor, as a lowercase fragment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub String);

fn refuse_form<T>(why: impl Into<String>) -> Result<T, Malformed> {
    Err(Malformed(why.into()))
}

impl Anchor {
    /// Returns the file of the repository that it refers to.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Lines { path, .. }
            | Self::Symbol { path, .. }
            | Self::Gone { path, .. }
            | Self::Entry(path)
            | Self::Doc { place: path, .. } => Some(path),
            _ => None,
        }
    }

    /// Returns the kind of proof that its form implies.
    pub fn basis(&self) -> Basis {
        match self {
            Self::Lines { .. }
            | Self::Symbol { .. }
            | Self::Gone { .. }
            | Self::Entry(_)
            | Self::Commit(_) => Basis::Observed,
            Self::Test(_) => Basis::Test,
            Self::Command { .. } | Self::Receipt(_) => Basis::Output,
            Self::User { .. } => Basis::User,
            Self::Doc { .. } => Basis::Doc,
        }
    }

    /// Parses an anchor.
    ///
    /// # Errors
    /// If the text matches no form of the grammar.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        if text.chars().count() > MAX_ANCHOR {
            return refuse_form(format!("an anchor is longer than {MAX_ANCHOR} characters"));
        }
        if text.chars().any(char::is_control) {
            return refuse_form("an anchor holds a control character");
        }
        let text = text.trim();
        if let Some(name) = text.strip_prefix("test:") {
            return parse_name(name, "a test's name").map(Self::Test);
        }
        if let Some(rest) = text.strip_prefix("cmd:") {
            return command(rest);
        }
        if let Some(rest) = text.strip_prefix("doc:") {
            return doc(rest);
        }
        if let Some(rest) = text.strip_prefix("gone:") {
            let (path, line) = match rest.split_once('#') {
                Some((path, line)) => (path, Some(parse_name(line, "the line")?)),
                None => (rest, None),
            };
            let path = parse_name(path, "the path")?;
            check_path(&path)?;
            return Ok(Anchor::Gone { path, line });
        }
        if let Some(rest) = text.strip_prefix("entry:") {
            let path = parse_name(rest, "the path")?;
            check_path(&path)?;
            return Ok(Anchor::Entry(path));
        }
        if let Some(rest) = text.strip_prefix("user@") {
            return user(rest);
        }
        if let Some(id) = text.strip_prefix("commit:") {
            return hex(id, 4..=64, "a commit id").map(Self::Commit);
        }
        if let Some(id) = text.strip_prefix("receipt:") {
            return hex(id, 64..=64, "a receipt id").map(Self::Receipt);
        }
        place(text)
    }
}

fn parse_name(text: &str, what: &str) -> Result<String, Malformed> {
    let text = text.trim();
    if text.is_empty() {
        return refuse_form(format!("{what} is missing"));
    }
    Ok(text.to_owned())
}

fn hex(
    text: &str,
    length: std::ops::RangeInclusive<usize>,
    what: &str,
) -> Result<String, Malformed> {
    let text = text.trim();
    if length.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(text.to_ascii_lowercase());
    }
    refuse_form(format!("`{text}` is not {what}"))
}

fn command(rest: &str) -> Result<Anchor, Malformed> {
    let Some((command, text)) = rest.rsplit_once('#') else {
        return refuse_form("`cmd:` needs `#` and a line of the output, or `#exit`");
    };
    let command = parse_name(command, "the command")?;
    if !shell_words::split(&command).is_ok_and(|words| !words.is_empty()) {
        return refuse_form("the command has an open quote");
    }
    Ok(Anchor::Command {
        command,
        text: parse_name(text, "what stands after `#`")?,
    })
}

fn doc(rest: &str) -> Result<Anchor, Malformed> {
    let (place, section) = match rest.split_once('#') {
        Some((place, section)) => (place, Some(parse_name(section, "the section")?)),
        None => (rest, None),
    };
    let place = parse_name(place, "the document")?;
    if !place.contains("://") {
        check_path(&place)?;
    }
    Ok(Anchor::Doc { place, section })
}

fn user(rest: &str) -> Result<Anchor, Malformed> {
    let (id, quote) = match rest.split_once(':') {
        Some((id, quote)) => (id, Some(quote.trim())),
        None => (rest, None),
    };
    let id = parse_name(id, "the message's id")?;
    if id.contains(char::is_whitespace) {
        return refuse_form("a message's id has no blanks");
    }
    let quote = match quote {
        Some(quote) => match quote.strip_prefix('\'').and_then(|q| q.strip_suffix('\'')) {
            Some(quote) if !quote.is_empty() => Some(quote.to_owned()),
            _ => return refuse_form("a quote stands between `'` and `'`"),
        },
        None => None,
    };
    Ok(Anchor::User { id, quote })
}

/// Parses `path:line[-line]` or `path:symbol`.
fn place(text: &str) -> Result<Anchor, Malformed> {
    if let Some((path, lines)) = text.rsplit_once(':')
        && lines.starts_with(|c: char| c.is_ascii_digit())
        && lines
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-')
    {
        check_path(path)?;
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
        return match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => Ok(Anchor::Lines {
                path: path.to_owned(),
                first: first as usize,
                last: last as usize,
            }),
            (Some(_), Some(_)) => refuse_form(format!("lines {lines} run backwards")),
            _ => refuse_form(format!(
                "`{lines}` is not a line number from 1, or a pair of them"
            )),
        };
    }
    let Some((path, symbol)) = text.split_once(':') else {
        return refuse_form(format!(
            "`{text}` is not an anchor: a file needs `:line` or `:symbol`"
        ));
    };
    check_path(path)?;
    let fits = |c: char| c.is_alphanumeric() || "_.:$#!?-".contains(c);
    let begins = !symbol.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let names = symbol.contains(char::is_alphanumeric);
    if !(begins && names && symbol.chars().all(fits)) {
        return refuse_form(format!("`{symbol}` is neither a line nor a symbol"));
    }
    Ok(Anchor::Symbol {
        path: path.to_owned(),
        symbol: symbol.to_owned(),
    })
}

fn check_path(path: &str) -> Result<(), Malformed> {
    if path.is_empty() {
        return refuse_form("the path is missing");
    }
    let drive = matches!(path.as_bytes(), [_, b':', b'/' | b'\\', ..]);
    if path.starts_with('/') || path.starts_with('\\') || path.starts_with('~') || drive {
        return refuse_form(format!("`{path}` is not relative to the repository"));
    }
    if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return refuse_form(format!(
            "`{path}` is not a plain path inside the repository"
        ));
    }
    Ok(())
}

/// Verdict on an anchor at the current HEAD.
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
pub enum Verdict {
    /// It holds.
    Verified,
    /// It holds in another place.
    Moved,
    /// The place holds something else.
    Changed,
    /// The file, symbol, test or receipt is gone, or its gate is red.
    Missing,
    /// The receipt is of another tree.
    Stale,
    /// It cannot be told offline.
    Unverifiable,
    /// It does not follow the grammar.
    Malformed,
}

/// State of the place of an anchor when the anchor was written, by which the same text can be found later.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stamp {
    /// Full ID of HEAD at that time; absent on an unborn branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Short name of the branch at that time; absent if HEAD was detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Object ID of the blob of the file at that time; absent if the anchor names no text in a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    /// SHA-256 of the anchored lines, in hexadecimal; absent if the anchor names no text in a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_sha256: Option<String>,
    /// SHA-256 of the anchored lines with the line before and the line after, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_sha256: Option<String>,
    /// Number of the first anchored line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<Count>,
    /// Number of anchored lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<Count>,
}

/// Whether an anchor of this form may be a proof of this kind.
pub fn fits(basis: Basis, anchor: &Anchor) -> bool {
    let is_place = matches!(anchor, Anchor::Lines { .. } | Anchor::Symbol { .. });
    anchor.basis() == basis || basis == Basis::Test && is_place
}

// Claims of a re-ground that a criterion is proved.

/// A claim that an anchor proves a criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "GivenClaim")]
pub struct EvidenceClaim {
    /// The slice; by default the one that is reconciled or active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice_id: Option<String>,
    /// The criterion's text.
    #[serde(with = "Text")]
    pub criterion: String,
    /// Where the proof is.
    #[serde(with = "Text")]
    pub anchor: String,
    /// The kind of proof; by default the one that the form of the anchor implies.
    pub basis: Basis,
}

/// An evidence claim in its written form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenClaim {
    #[serde(default)]
    slice_id: Option<String>,
    #[serde(with = "Text")]
    criterion: String,
    #[serde(with = "Text")]
    anchor: String,
    #[serde(default)]
    basis: Option<Basis>,
}

impl From<GivenClaim> for EvidenceClaim {
    fn from(given: GivenClaim) -> Self {
        // A malformed anchor is refused later, when the anchor is checked.
        let natural = || Anchor::parse(&given.anchor).map_or(Basis::Observed, |a| a.basis());
        Self {
            basis: given.basis.unwrap_or_else(natural),
            slice_id: given.slice_id,
            criterion: given.criterion,
            anchor: given.anchor,
        }
    }
}

impl EvidenceClaim {
    /// Converts the proof that an implementer offers into the claim of a re-ground.
    pub fn of_offer(slice_id: &str, offer: &Offer) -> Self {
        Self::from(GivenClaim {
            slice_id: Some(slice_id.to_owned()),
            criterion: offer.criterion.clone(),
            anchor: offer.anchor.clone(),
            basis: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, first: usize, last: usize) -> Anchor {
        Anchor::Lines {
            path: path.to_owned(),
            first,
            last,
        }
    }

    #[test]
    fn every_form() {
        let symbol = |path: &str, symbol: &str| Anchor::Symbol {
            path: path.to_owned(),
            symbol: symbol.to_owned(),
        };
        let command = |command: &str, text: &str| Anchor::Command {
            command: command.to_owned(),
            text: text.to_owned(),
        };
        for (text, anchor) in [
            ("src/a.rs:10", lines("src/a.rs", 10, 10)),
            ("src/a.rs:10-12", lines("src/a.rs", 10, 12)),
            ("a: b/c.rs:3", lines("a: b/c.rs", 3, 3)),
            ("Makefile:build", symbol("Makefile", "build")),
            ("src/a.rs:Foo::bar", symbol("src/a.rs", "Foo::bar")),
            ("test:a::b c", Anchor::Test("a::b c".to_owned())),
            ("cmd:cargo test#exit", command("cargo test", "exit")),
            ("cmd:sh -c 'echo #1'#1", command("sh -c 'echo #1'", "1")),
            ("commit:ABCD12", Anchor::Commit("abcd12".to_owned())),
            ("entry:a/b.png", Anchor::Entry("a/b.png".to_owned())),
            (
                "gone:a.rs#fn old() {",
                Anchor::Gone {
                    path: "a.rs".to_owned(),
                    line: Some("fn old() {".to_owned()),
                },
            ),
        ] {
            assert_eq!(Anchor::parse(text), Ok(anchor), "{text}");
        }
        assert!(matches!(
            Anchor::parse("doc:https://example.org/a#b"),
            Ok(Anchor::Doc {
                section: Some(_),
                ..
            })
        ));
        assert!(matches!(
            Anchor::parse("user@m12: 'it's done'"),
            Ok(Anchor::User { quote: Some(quote), .. }) if quote == "it's done"
        ));
        assert!(Anchor::parse(&format!("receipt:{}", "a".repeat(64))).is_ok());
    }

    #[test]
    fn what_is_no_anchor() {
        for text in [
            "",
            "README.md",
            "src/a.rs:0",
            "src/a.rs:5-3",
            "src/a.rs:1-",
            "src/a.rs:-1",
            "src/a.rs:1-2-3",
            "src/a.rs:99999999999",
            "../a.rs:1",
            "a/../b.rs:1",
            "/etc/passwd:1",
            "C:\\a:1",
            "~/a:1",
            "a//b:1",
            "./a:1",
            ":1",
            "src/a.rs:",
            "src/a.rs:two words",
            "http://x",
            "gone:",
            "gone:../a",
            "gone:a#",
            "entry:/etc/passwd",
            "test:",
            "test:  ",
            "cmd:cargo test",
            "cmd:#exit",
            "cmd:a#",
            "cmd:'a#exit",
            "doc:",
            "doc:../x",
            "doc:/etc/passwd",
            "user@",
            "user@a b",
            "user@a: quote",
            "user@a: ''",
            "commit:xyz",
            "commit:abc",
            "receipt:abcd",
            "a\u{1b}[31m:1",
            "a.rs:1\nb",
        ] {
            assert!(Anchor::parse(text).is_err(), "{text:?}");
        }
        assert!(Anchor::parse(&"a".repeat(MAX_ANCHOR + 1)).is_err());
    }

    #[test]
    fn each_basis_has_its_forms() {
        let forms = [
            "a:1",
            "a:b",
            "commit:abcd",
            "test:a",
            "cmd:a#exit",
            "user@a",
            "doc:a",
        ];
        for form in forms {
            let anchor = Anchor::parse(form).unwrap();
            assert!(fits(anchor.basis(), &anchor), "{form}");
        }
        let fit = |basis| {
            let anchors = forms.iter().map(|form| Anchor::parse(form).unwrap());
            anchors
                .map(|anchor| fits(basis, &anchor))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            fit(Basis::Observed),
            [true, true, true, false, false, false, false]
        );
        assert_eq!(
            fit(Basis::Test),
            [true, true, false, true, false, false, false]
        );
        assert_eq!(
            fit(Basis::Output),
            [false, false, false, false, true, false, false]
        );
        assert_eq!(
            fit(Basis::User),
            [false, false, false, false, false, true, false]
        );
        assert_eq!(
            fit(Basis::Doc),
            [false, false, false, false, false, false, true]
        );
    }
}
