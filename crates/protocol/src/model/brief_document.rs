//! The continuation brief in the log: the entries that agents and the user added, and the outcome of each. Parts
//! that cook fills in by itself are not stored.

use super::evidence::{Basis, Stamp, Verdict};
use super::scalar::all;
use super::scalar::{Count, SchemaVersion, Text, Timestamp};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use strum::{IntoStaticStr, VariantArray};

/// The maximum length of a field, in characters.
pub const MAX_FIELD_CHARS: usize = 4_000;
/// The maximum number of entries in a slot.
pub const MAX_ENTRIES: usize = 500;

/// The five lists of a brief, in the order they are rendered.
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
pub enum Slot {
    Forbid,
    Established,
    Learned,
    Open,
    Next,
}

impl Slot {
    /// All slots, in order.
    pub const ALL: [Slot; 5] = all();

    /// Returns the names of an entry's fields; the first one identifies it.
    pub fn fields(self) -> &'static [&'static str] {
        match self {
            Slot::Forbid => &["rule", "source"],
            Slot::Established => &["claim", "evidence", "basis", "reopen"],
            Slot::Learned => &["lesson", "source"],
            Slot::Open => &["question", "verifies"],
            Slot::Next => &["action", "outcome"],
        }
    }
}

/// An entry in a slot. Documents use the names of [`Slot::fields`] for its fields.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BriefLine {
    /// The entry's slot.
    pub slot: Slot,
    /// The first field: rule, claim, lesson, question or action.
    pub head: String,
    /// The second field: source, evidence, `verifies` or outcome.
    pub tail: String,
    /// The kind of proof, and the reason to look at it again; only for an established entry.
    pub proof: Option<(Basis, String)>,
}

impl BriefLine {
    /// Builds an entry without a proof.
    pub fn new(slot: Slot, head: impl Into<String>, tail: impl Into<String>) -> Self {
        Self {
            slot,
            head: head.into(),
            tail: tail.into(),
            proof: None,
        }
    }

    /// Builds an established entry.
    pub fn establish(
        claim: impl Into<String>,
        evidence: impl Into<String>,
        basis: Basis,
        reopen: impl Into<String>,
    ) -> Self {
        Self {
            proof: Some((basis, reopen.into())),
            ..Self::new(Slot::Established, claim, evidence)
        }
    }

    /// Builds an entry from its fields; `field` is called with each name, in the order of [`Slot::fields`].
    ///
    /// # Errors
    /// The first error of `field` or `basis`.
    pub fn from_fields<E>(
        slot: Slot,
        mut field: impl FnMut(&'static str) -> Result<String, E>,
        basis: impl FnOnce(&str) -> Result<Basis, E>,
    ) -> Result<Self, E> {
        let names = slot.fields();
        let line = Self::new(slot, field(names[0])?, field(names[1])?);
        let proof = match slot {
            Slot::Established => Some((basis(&field("basis")?)?, field("reopen")?)),
            _ => None,
        };
        Ok(Self { proof, ..line })
    }

    /// Returns the fields with their names, in order.
    pub fn fields(&self) -> Vec<(&'static str, &str)> {
        let names = self.slot.fields();
        let mut fields = vec![(names[0], &*self.head), (names[1], &*self.tail)];
        if let Some((basis, reopen)) = &self.proof {
            fields.extend([("basis", basis.id()), ("reopen", reopen)]);
        }
        fields
    }

    /// Returns the free texts with their names, so that the caller can replace them.
    pub fn texts_mut(&mut self) -> Vec<(&'static str, &mut String)> {
        let names = self.slot.fields();
        let mut texts = vec![(names[0], &mut self.head), (names[1], &mut self.tail)];
        texts.extend(self.proof.as_mut().map(|(_, reopen)| ("reopen", reopen)));
        texts
    }
}

impl Serialize for BriefLine {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let slot = ("slot", self.slot.id());
        to.collect_map([slot].into_iter().chain(self.fields()))
    }
}

impl<'de> Deserialize<'de> for BriefLine {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut given = BTreeMap::<String, String>::deserialize(from)?;
        let slot = given.remove("slot").unwrap_or_default();
        let slot = Slot::ALL.into_iter().find(|known| known.id() == slot);
        let slot = slot.ok_or_else(|| D::Error::custom("`slot` is missing or unknown"))?;
        let id = slot.id();
        let field = |key: &str| match given.remove(key) {
            Some(text) if text.is_empty() => Err(format!("`{key}` is empty in an entry of `{id}`")),
            Some(text) => Ok(text),
            None => Err(format!("`{key}` is missing in an entry of `{id}`")),
        };
        let basis = |word: &str| Basis::parse(word).ok_or(format!("unknown basis `{word}`"));
        let line = Self::from_fields(slot, field, basis).map_err(D::Error::custom)?;
        match given.keys().next() {
            Some(key) => Err(D::Error::custom(format!(
                "`{key}` is not a field of `{id}`"
            ))),
            None => Ok(line),
        }
    }
}

/// An entry of the brief that an agent or the user added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BriefEntry {
    /// ID of the entry: `e` and 12 hexadecimal digits of a digest of its slot, its claim and the target of its anchor
    /// as first stamped.
    #[serde(with = "Text")]
    pub id: String,
    /// Content of the entry: its slot and the fields of that slot.
    pub line: BriefLine,
    /// Name of the author, as the author gave it.
    #[serde(with = "Text")]
    pub by: String,
    /// Time at which the entry was added or reworded (RFC 3339, UTC).
    pub recorded_at: Timestamp,
    /// Number of the transition that added or reworded the entry.
    pub seq: Count,
    /// ID of the session that added or reworded the entry; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Number of whole briefs that had been taken in, including the one that brought the entry.
    pub cycle: Count,
    /// ID of the established entry that became this question; absent for other entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demoted_from: Option<String>,
    /// State of the place of the anchor when the entry was written; absent if nothing was stamped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Stamp>,
}

/// A proposed text for the agent guide, as submitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuideProposal {
    /// Complete new text of the guide.
    #[serde(with = "Text")]
    pub content: String,
    /// Reason for the proposal.
    pub reason: String,
}

/// A proposed text of the agent guide; only the user applies it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuideUpdate {
    /// Complete new text of the guide.
    #[serde(with = "Text")]
    pub content: String,
    /// Reason for the proposal.
    pub reason: String,
    /// Name of the author of the proposal.
    #[serde(with = "Text")]
    pub by: String,
    /// Number of the transition that recorded the proposal.
    pub seq: Count,
}

/// Entries that agents and the user added to the continuation brief: `brief.json`. The file is absent before the first
/// addition.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BriefDocument {
    /// Version of the document format.
    pub schema_version: SchemaVersion,
    /// Number of whole briefs that were taken in so far, by imports and re-grounds.
    pub cycle: Count,
    /// Live entries, in the order in which they were added.
    pub entries: Vec<BriefEntry>,
    /// Proposed text of the agent guide; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guide: Option<GuideUpdate>,
}

/// The outcome of an entry that does not stay as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum BriefVerdict {
    /// Another entry replaces it.
    Superseded,
    /// It becomes a question again.
    Demoted,
    /// It no longer matters.
    Retired,
}

/// The outcome of an entry, with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BriefOutcome {
    /// The entry.
    #[serde(with = "Text")]
    pub id: String,
    /// Its outcome.
    pub verdict: BriefVerdict,
    /// The cause: the id of a live entry, or `user@ID` of a message. Optional for a demotion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Why, in words.
    #[serde(with = "Text")]
    pub why: String,
}

/// A proposed change of the brief: new entries, and outcomes for existing ones.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BriefChange {
    /// Entries to add; an entry that is there already is kept.
    #[serde(default)]
    pub entries: Vec<BriefLine>,
    /// The outcomes of entries that do not stay as they are.
    #[serde(default)]
    pub reconciliation: Vec<BriefOutcome>,
    /// Whether `entries` is the whole next brief; then each entry that it leaves out needs an outcome.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
    /// A proposed text for the agent guide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guide: Option<GuideProposal>,
}

impl BriefChange {
    /// Whether it asks for nothing.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
            && self.reconciliation.is_empty()
            && self.guide.is_none()
            && !self.whole
    }
}

/// The state of an anchor that no longer matches its stamp. An entry whose anchor matches has none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BriefStanding {
    /// The result of the check.
    pub verdict: Verdict,
    /// The reason, for a reader.
    pub why: String,
    /// The corrected anchor (`moved`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
}

/// The measured facts about the anchors of the brief.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BriefFacts {
    /// Entries whose anchor no longer matches its stamp, by id.
    pub standings: BTreeMap<String, BriefStanding>,
    /// The new stamps of anchors that moved, by entry id.
    pub followed: BTreeMap<String, Stamp>,
    /// For each new line, its stamp, if it has one.
    pub stamps: Vec<Option<Stamp>>,
    /// The new lines whose anchor does not hold now, by index, with the reason.
    pub unproved: BTreeMap<usize, BriefStanding>,
    /// The messages that exist.
    pub messages: BTreeSet<String>,
}

/// Kind of a record of `brief-history.jsonl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The user said something.
    Said,
    /// An entry was added.
    Added,
    /// An entry's anchor was followed to where its text stands now.
    Followed,
    /// Another entry took its place.
    Superseded,
    /// An established entry became a question.
    Demoted,
    /// An entry ended.
    Retired,
    /// `cook undo` brought an entry back.
    Restored,
}

/// A message of the user or a change of an entry of the brief: one line of `brief-history.jsonl`, to which lines are
/// only appended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BriefRecord {
    /// Version of the document format.
    pub schema_version: SchemaVersion,
    /// Kind of the record: `said` for a message, otherwise the change of the entry.
    #[serde(rename = "type")]
    pub kind: Cause,
    /// Time of the message or change (RFC 3339, UTC).
    pub recorded_at: Timestamp,
    /// Number of the transition that wrote the record.
    pub seq: Count,
    /// ID of the message (`msg-N`) or of the entry.
    #[serde(with = "Text")]
    pub id: String,
    /// Text of the message; for an entry, its slot and its rendered text.
    #[serde(with = "Text")]
    pub text: String,
    /// Name of the author; `user` or `script` for a message, `undo` for a change by `cook undo`.
    #[serde(with = "Text")]
    pub by: String,
    /// Cause of the change: ID of a live entry, `user@ID` of a message, or `undo`; absent for messages and additions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Reason for the change; absent if none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// ID of the session of the author; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}
