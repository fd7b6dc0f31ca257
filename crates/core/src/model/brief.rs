//! The continuation brief as the log keeps it: what agents and the user added,
//! and what became of each entry. What cook fills in by itself is not stored.

use super::anchor::{Stamp, Verdict};
use super::evidence::Basis;
use super::scalar::{Count, SchemaVersion, Text, Timestamp};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// Characters a field may have.
pub const MAX_FIELD_CHARS: usize = 4_000;
/// Entries a slot may have.
pub const MAX_ENTRIES: usize = 500;

/// The five lists of a brief, in the order they are rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Slot {
    Forbid,
    Established,
    Learned,
    Open,
    Next,
}

impl Slot {
    /// All, in order.
    pub const ALL: [Slot; 5] = [
        Slot::Forbid,
        Slot::Established,
        Slot::Learned,
        Slot::Open,
        Slot::Next,
    ];

    /// The key in an artifact.
    pub fn id(self) -> &'static str {
        match self {
            Slot::Forbid => "forbid",
            Slot::Established => "established",
            Slot::Learned => "learned",
            Slot::Open => "open",
            Slot::Next => "next",
        }
    }

    /// The fields of an entry, the one it is known by first.
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

/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "slot", rename_all = "snake_case")]
#[allow(missing_docs)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum BriefLine {
    Forbid {
        /// What must not be done.
        #[serde(with = "Text")]
        rule: String,
        /// Where it comes from.
        #[serde(with = "Text")]
        source: String,
    },
    Established {
        /// What holds.
        #[serde(with = "Text")]
        claim: String,
        /// The anchor of its proof.
        #[serde(with = "Text")]
        evidence: String,
        /// What kind of proof.
        basis: Basis,
        /// What would make it worth another look.
        #[serde(with = "Text")]
        reopen: String,
    },
    Learned {
        /// What was found out.
        #[serde(with = "Text")]
        lesson: String,
        /// Where it comes from.
        #[serde(with = "Text")]
        source: String,
    },
    Open {
        /// What must be answered.
        #[serde(with = "Text")]
        question: String,
        /// What would answer it.
        #[serde(with = "Text")]
        verifies: String,
    },
    Next {
        /// What to do.
        #[serde(with = "Text")]
        action: String,
        /// What it leads to.
        #[serde(with = "Text")]
        outcome: String,
    },
}

/// A line with the fields of every slot: serde's own reading of a tagged enum is
/// freer than the schema.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainLine {
    slot: Slot,
    #[serde(default, deserialize_with = "read_given")]
    rule: Option<String>,
    #[serde(default, deserialize_with = "read_given")]
    source: Option<String>,
    #[serde(default, deserialize_with = "read_given")]
    claim: Option<String>,
    #[serde(default, deserialize_with = "read_given")]
    evidence: Option<String>,
    #[serde(default, deserialize_with = "read_given_basis")]
    basis: Option<Basis>,
    #[serde(default, deserialize_with = "read_given")]
    reopen: Option<String>,
    #[serde(default, deserialize_with = "read_given")]
    lesson: Option<String>,
    #[serde(default, deserialize_with = "read_given")]
    question: Option<String>,
    #[serde(default, deserialize_with = "read_given")]
    verifies: Option<String>,
    #[serde(default, deserialize_with = "read_given")]
    action: Option<String>,
    #[serde(default, deserialize_with = "read_given")]
    outcome: Option<String>,
}

fn read_given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Text::deserialize(deserializer).map(Some)
}

fn read_given_basis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Basis>, D::Error> {
    Basis::deserialize(deserializer).map(Some)
}

impl<'de> Deserialize<'de> for BriefLine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(PlainLine::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl TryFrom<PlainLine> for BriefLine {
    type Error = String;

    fn try_from(plain: PlainLine) -> Result<Self, String> {
        let slot = plain.slot;
        let PlainLine {
            slot: _,
            rule,
            source,
            claim,
            evidence,
            basis,
            reopen,
            lesson,
            question,
            verifies,
            action,
            outcome,
        } = plain;
        let mut texts = BTreeMap::from([
            ("rule", rule),
            ("source", source),
            ("claim", claim),
            ("evidence", evidence),
            ("reopen", reopen),
            ("lesson", lesson),
            ("question", question),
            ("verifies", verifies),
            ("action", action),
            ("outcome", outcome),
        ]);
        texts.retain(|_, text| text.is_some());
        let mut take = |key: &str| {
            let text = texts.remove(key).flatten();
            text.ok_or_else(|| format!("`{key}` is missing in an entry of `{}`", slot.id()))
        };
        let mut basis = basis;
        let line = match slot {
            Slot::Forbid => BriefLine::Forbid {
                rule: take("rule")?,
                source: take("source")?,
            },
            Slot::Established => BriefLine::Established {
                claim: take("claim")?,
                evidence: take("evidence")?,
                basis: basis.take().ok_or("`basis` is missing")?,
                reopen: take("reopen")?,
            },
            Slot::Learned => BriefLine::Learned {
                lesson: take("lesson")?,
                source: take("source")?,
            },
            Slot::Open => BriefLine::Open {
                question: take("question")?,
                verifies: take("verifies")?,
            },
            Slot::Next => BriefLine::Next {
                action: take("action")?,
                outcome: take("outcome")?,
            },
        };
        match texts.keys().next().copied().or(basis.map(|_| "basis")) {
            Some(key) => Err(format!("`{key}` is not a field of `{}`", slot.id())),
            None => Ok(line),
        }
    }
}

impl BriefLine {
    /// Its list.
    pub fn slot(&self) -> Slot {
        match self {
            BriefLine::Forbid { .. } => Slot::Forbid,
            BriefLine::Established { .. } => Slot::Established,
            BriefLine::Learned { .. } => Slot::Learned,
            BriefLine::Open { .. } => Slot::Open,
            BriefLine::Next { .. } => Slot::Next,
        }
    }

    /// What it says: rule, claim, lesson, question or action.
    pub fn head(&self) -> &str {
        match self {
            BriefLine::Forbid { rule, .. } => rule,
            BriefLine::Established { claim, .. } => claim,
            BriefLine::Learned { lesson, .. } => lesson,
            BriefLine::Open { question, .. } => question,
            BriefLine::Next { action, .. } => action,
        }
    }

    /// What stands behind it: source, evidence, `verifies` or outcome.
    pub fn tail(&self) -> &str {
        match self {
            BriefLine::Forbid { source, .. } | BriefLine::Learned { source, .. } => source,
            BriefLine::Established { evidence, .. } => evidence,
            BriefLine::Open { verifies, .. } => verifies,
            BriefLine::Next { outcome, .. } => outcome,
        }
    }

    /// The text fields with their keys, to be read or replaced one by one.
    pub fn texts_mut(&mut self) -> Vec<(&'static str, &mut String)> {
        match self {
            BriefLine::Forbid { rule, source } => vec![("rule", rule), ("source", source)],
            BriefLine::Established {
                claim,
                evidence,
                reopen,
                ..
            } => vec![("claim", claim), ("evidence", evidence), ("reopen", reopen)],
            BriefLine::Learned { lesson, source } => vec![("lesson", lesson), ("source", source)],
            BriefLine::Open { question, verifies } => {
                vec![("question", question), ("verifies", verifies)]
            }
            BriefLine::Next { action, outcome } => {
                vec![("action", action), ("outcome", outcome)]
            }
        }
    }
}

/// An entry that somebody added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefEntry {
    /// Digest of slot, claim and the anchor's target as first stamped.
    #[serde(with = "Text")]
    pub id: String,
    /// What it says.
    pub line: BriefLine,
    /// Who added it, as they call themselves.
    #[serde(with = "Text")]
    pub by: String,
    /// When.
    pub recorded_at: Timestamp,
    /// Number of the transition that added it.
    pub seq: Count,
    /// The session it came from, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The cycle it was added in: whole briefs taken in before it.
    pub cycle: Count,
    /// The established entry that this question was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demoted_from: Option<String>,
    /// Where its anchor pointed when it was written down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Stamp>,
}

/// A new text for the agent guide, as it comes in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuideProposal {
    /// The whole new text.
    #[serde(with = "Text")]
    pub content: String,
    /// Why.
    pub reason: String,
}

/// What an artifact proposes for the agent guide; applied by hand only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GuideUpdate {
    /// The whole new text of the guide.
    #[serde(with = "Text")]
    pub content: String,
    /// Why.
    pub reason: String,
    /// Who proposed it.
    #[serde(with = "Text")]
    pub by: String,
    /// Number of the transition that brought it.
    pub seq: Count,
}

/// What agents and the user added to the continuation brief: `brief.json`. It is there
/// from the first addition on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefDocument {
    /// Version of this document's shape.
    pub schema_version: SchemaVersion,
    /// Whole briefs taken in so far (imports, re-grounds that bring one).
    pub cycle: Count,
    /// The live entries, in the order they came.
    pub entries: Vec<BriefEntry>,
    /// The proposed agent guide, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guide: Option<GuideUpdate>,
}

/// What becomes of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BriefVerdict {
    /// Another entry says it now.
    Superseded,
    /// It is a question again.
    Demoted,
    /// It no longer matters.
    Retired,
}

impl BriefVerdict {
    /// The word in documents.
    pub fn id(self) -> &'static str {
        match self {
            BriefVerdict::Superseded => "superseded",
            BriefVerdict::Demoted => "demoted",
            BriefVerdict::Retired => "retired",
        }
    }
}

/// One line of a reconciliation: why an entry does not go on as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BriefOutcome {
    /// The entry.
    #[serde(with = "Text")]
    pub id: String,
    /// What becomes of it.
    pub verdict: BriefVerdict,
    /// The cause: id of a live entry, or `user@ID` of a message. A demotion may leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Why, in words.
    #[serde(with = "Text")]
    pub why: String,
}

/// A proposed change of the brief: what is added, and what becomes of what is there.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BriefChange {
    /// Entries; those that are there already are kept.
    #[serde(default)]
    pub entries: Vec<BriefLine>,
    /// Causes of those that do not go on.
    #[serde(default)]
    pub reconciliation: Vec<BriefOutcome>,
    /// True: the entries are the whole next brief, and whatever they leave out needs a cause.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
    /// A proposed agent guide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guide: Option<GuideProposal>,
}

impl BriefChange {
    /// It asks for nothing.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
            && self.reconciliation.is_empty()
            && self.guide.is_none()
            && !self.whole
    }
}

/// An entry whose anchor does not stand as it was stamped. Entries that hold have none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BriefStanding {
    /// What it is worth.
    pub verdict: Verdict,
    /// Why, for a reader.
    pub why: String,
    /// The anchor as it should be written now (`moved`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
}

/// What a line of `brief-history.jsonl` tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

/// A message of the user's, or what became of an entry of the brief: a line of
/// `brief-history.jsonl`, which is only ever appended to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefRecord {
    /// Version of this document's shape.
    pub schema_version: SchemaVersion,
    /// What happened.
    #[serde(rename = "type")]
    pub kind: Cause,
    /// When.
    pub recorded_at: Timestamp,
    /// Number of the transition that wrote it.
    pub seq: Count,
    /// The message's or the entry's id.
    #[serde(with = "Text")]
    pub id: String,
    /// The message, or the entry as it was rendered.
    #[serde(with = "Text")]
    pub text: String,
    /// Who did it: a name, for a message `user` or `script`.
    #[serde(with = "Text")]
    pub by: String,
    /// What it points at: the entry that follows, or the user's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Why, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The session, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}
