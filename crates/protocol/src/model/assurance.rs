//! How much of the protocol a project asks for: the field `assurance` of `profile.json`, and what
//! the log keeps of it (`docs/assurance.md`).

use super::scalar::Count;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use strum::IntoStaticStr;

/// A profile, the least first.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    IntoStaticStr,
    JsonSchema,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Assurance {
    /// Commands alone decide: there is one slice, and no review, audit or judge (`docs/goal.md`).
    Goal,
    /// cook re-grounds where nothing is to be weighed, and no audit is due unless it is asked for.
    Lite,
    /// cook re-grounds where nothing is to be weighed, and every few slices are audited.
    Standard,
    /// Each step is a session of its role.
    #[default]
    Strict,
}

impl Assurance {
    /// Every one that `cook init` takes, the most first.
    pub const ALL: [Self; 3] = [Self::Strict, Self::Standard, Self::Lite];

    /// As `profile.json` has it.
    pub fn id(self) -> &'static str {
        self.into()
    }

    /// The default: left out where it is written.
    pub fn is_strict(&self) -> bool {
        *self == Self::Strict
    }
}

impl fmt::Display for Assurance {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// A profile that still binds after the user chose a lower one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// The profile.
    pub assurance: Assurance,
    /// Until this slice is no longer in work; none = until the wave ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice_id: Option<String>,
}

/// What the log keeps where a profile below `strict` is or was in force.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Assured {
    /// A higher profile than `profile.json` has, for as long as it binds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
    /// The lowest under which a slice was accepted or a vote taken.
    #[serde(skip_serializing_if = "Assurance::is_strict")]
    pub lowest: Assurance,
    /// Slices accepted since the last audit.
    pub unaudited: Count,
    /// Re-grounds of cook's own since the last one of a model.
    pub by_cook: Count,
    /// Remarks that the last re-ground of a model has seen; 0 where the plan is one that the user
    /// brought and none was held yet; none = neither, or it was under `strict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remarks_seen: Option<Count>,
}

impl Assured {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What an implementer says proves a criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    /// The criterion.
    pub criterion: String,
    /// Where the proof stands.
    pub anchor: String,
}

/// What cook may re-ground itself.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, IntoStaticStr,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum ByCook {
    /// Select the first slice in order of work.
    Select,
    /// Accept the committed slice.
    Accept,
    /// End the project.
    Stop,
}

impl ByCook {
    /// Who a history record of it names, and by which rules.
    pub const BY: &str = "cook/mechanical-v1";

    /// As the event has it.
    pub fn id(self) -> &'static str {
        self.into()
    }
}
