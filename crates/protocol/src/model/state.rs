//! `state.json`, the authoritative summary, and the mission anchor, by which every document names the mission.

use super::scalar::all;
use super::scalar::{Count, SchemaVersion, Text, Texts, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};

/// Whether the work continues and, if not, the kind of stop.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Display, Serialize, Deserialize, JsonSchema,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// A role is due.
    #[default]
    Continue,
    /// The user owes an exact answer.
    AwaitUserInput,
    /// Something outside must change.
    Blocked,
    /// The user paused or cancelled the work.
    Paused,
    /// The final reconciliation is recorded.
    Done,
}

/// Phase of the protocol; it follows from the dispatch rule that applies.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
    Display,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Phase {
    #[default]
    Reground,
    Implement,
    PostCommitReview,
    PostCommitAudit,
    PostCommitReconcile,
    StopWave,
    AwaitingUser,
    Blocked,
    Done,
}

/// Role of the protocol.
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
    JsonSchema,
    VariantArray,
    Display,
    IntoStaticStr,
)]
#[strum(prefix = "completion-", serialize_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Role {
    #[serde(rename = "completion-bootstrapper")]
    Bootstrapper,
    #[serde(rename = "completion-regrounder")]
    Regrounder,
    #[serde(rename = "completion-implementer")]
    Implementer,
    #[serde(rename = "completion-reviewer")]
    Reviewer,
    #[serde(rename = "completion-auditor")]
    Auditor,
    #[serde(rename = "completion-stop-judge")]
    StopJudge,
}

impl Role {
    /// All six, in the order of the protocol.
    pub const ALL: [Role; 6] = all();

    /// Whether the role judges work, and so must not be played by the session that did it.
    pub fn is_independent(self) -> bool {
        matches!(self, Role::Reviewer | Role::Auditor | Role::StopJudge)
    }

    /// The short name for the command line, such as `reviewer`.
    pub fn short(self) -> &'static str {
        &self.id()["completion-".len()..]
    }

    /// Parses the full or the short name.
    pub fn parse(name: &str) -> Option<Role> {
        Role::ALL
            .into_iter()
            .find(|role| role.id() == name || role.short() == name)
    }

    /// Whether the role must leave every tracked file unchanged.
    pub fn is_read_only(self) -> bool {
        matches!(
            self,
            Role::Regrounder | Role::Reviewer | Role::Auditor | Role::StopJudge
        )
    }
}

/// `next_mandatory_role`. `None` is JSON `null`; the text `"null"` of older writers is read as `None` too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(transparent)]
pub struct RoleSlot(pub Option<Role>);

impl<'de> Deserialize<'de> for RoleSlot {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Some(name) = Option::<String>::deserialize(deserializer)? else {
            return Ok(Self(None));
        };
        if name == "null" {
            return Ok(Self(None));
        }
        Role::ALL
            .into_iter()
            .find(|role| role.id() == name)
            .map(|role| Self(Some(role)))
            .ok_or_else(|| serde::de::Error::custom("unknown role"))
    }
}

/// Verdict of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditorVerdict {
    /// Nothing open was named.
    Clear,
    /// Open contracts, blockers or gaps were named.
    Open,
}

/// Summary of the state of the work: `state.json`. Only cook writes it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Version of the document format.
    pub schema_version: SchemaVersion,
    /// Number of the transition that wrote the document; the same as in `active-slice.json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Count>,
    /// The line by which documents and reports name the mission.
    #[serde(with = "Text")]
    pub mission_anchor: String,
    /// Phase of the protocol; it follows from the dispatch rule that applies.
    pub current_phase: Phase,
    /// Whether the work continues and, if not, the kind of stop.
    pub continuation_policy: Policy,
    /// Reason for the policy: the question or obstacle of stopped work, otherwise the reason of the dispatch rule.
    pub continuation_reason: String,
    /// Whether the final reconciliation is recorded and the policy is `done`.
    pub project_done: bool,
    /// Whether a re-ground is due before any other work.
    pub requires_reground: bool,
    /// Number of `implemented` records since the last re-ground.
    pub slices_since_last_reground: Count,
    /// Number of release blockers that the last re-ground named; null if not known yet.
    #[serde(deserialize_with = "Option::deserialize")]
    pub remaining_release_blockers: Option<Count>,
    /// Number of high-value gaps that the last re-ground named; null if not known yet.
    #[serde(deserialize_with = "Option::deserialize")]
    pub remaining_high_value_gaps: Option<Count>,
    /// IDs of the contracts that open slices serve.
    #[serde(with = "Texts")]
    pub unsatisfied_contract_ids: Vec<String>,
    /// IDs of the release blockers that the last re-ground named.
    #[serde(with = "Texts")]
    pub release_blocker_ids: Vec<String>,
    /// Task of the role that is due, in the imperative.
    pub next_mandatory_action: String,
    /// Role that is due; null if the work is stopped. The text "null" is read as null.
    #[serde(deserialize_with = "RoleSlot::deserialize")]
    pub next_mandatory_role: RoleSlot,
    /// Number of votes that are still missing for the current HEAD and stop wave.
    pub remaining_stop_judges: Count,
    /// Time of the last accepted re-ground (RFC 3339, UTC); null before the first one.
    #[serde(deserialize_with = "Option::deserialize")]
    pub last_reground_at: Option<Timestamp>,
    /// Verdict of the last audit: `open` if it named anything open, otherwise `clear`; null before the first audit.
    #[serde(deserialize_with = "Option::deserialize")]
    pub last_auditor_verdict: Option<AuditorVerdict>,
    /// Status in one word: `bootstrapped`, `in_work`, `stop_wave`, `satisfied`, `cancelled` or `goal_reached`.
    #[serde(with = "Text")]
    pub contract_status: String,
    /// ID of the slice that was accepted last; null if there is none.
    #[serde(deserialize_with = "Option::deserialize")]
    pub latest_completed_slice: Option<String>,
    /// ID of the slice whose required gates passed last; null if there is none.
    #[serde(deserialize_with = "Option::deserialize")]
    pub latest_verified_slice: Option<String>,
    /// Label for the kind of work, copied from `profile.json`.
    #[serde(default = "super::contract::task_type", with = "Text")]
    pub task_type: String,
    /// Label for the rubric of reviewers, auditors and judges, copied from `profile.json`.
    #[serde(default = "super::contract::evaluation_profile", with = "Text")]
    pub evaluation_profile: String,
    /// Number of the current stop wave; 0 before the first one.
    #[serde(default)]
    pub current_stop_wave_id: Count,
}

// The mission anchor: the line by which documents and reports name the mission (`protocol/completion.md#words`).

/// The maximum length of an anchor, in characters.
pub const MAX_ANCHOR_CHARS: usize = 200;

/// Returns the anchor of a mission text: its first line with any text, without heading marks, with white space
/// collapsed, cut at [`MAX_ANCHOR_CHARS`]. Control characters, zero-width characters and characters that change
/// the text direction are removed, because anchors are shown on terminals and in prompts.
///
/// `None` if no line has any text.
pub fn mission_anchor(mission: &str) -> Option<String> {
    mission
        .split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'])
        .find_map(find_anchor)
}

fn find_anchor(line: &str) -> Option<String> {
    let visible: String = line
        .chars()
        .filter(|c| c.is_whitespace() || !is_hidden(*c))
        .collect();
    let collapsed = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = without_heading_marks(&collapsed)
        .chars()
        .take(MAX_ANCHOR_CHARS)
        .collect();
    let anchor = without_heading_marks(&cut);
    (!anchor.is_empty()).then(|| anchor.to_owned())
}

/// Strips Markdown heading marks from both ends: `## Title ##` becomes `Title`, but `#hashtag` and `C#` stay.
/// It repeats until nothing changes, so that the anchor of an anchor is the anchor itself.
fn without_heading_marks(line: &str) -> &str {
    let mut line = line.trim();
    loop {
        let rest = line.trim_start_matches('#');
        if rest.len() == line.len() || !(rest.is_empty() || rest.starts_with(' ')) {
            return line;
        }
        line = rest.trim_start();
        let body = line.trim_end_matches('#');
        if body.is_empty() || body.ends_with(' ') {
            line = body.trim_end();
        }
    }
}

/// Whether the character is a control character (C0, DEL or C1), changes the text direction, or has zero width.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchor(text: &str) -> String {
        mission_anchor(text).unwrap_or_else(|| "-".to_owned())
    }

    #[test]
    fn the_first_line_that_says_something() {
        assert_eq!(
            anchor("\n\n  # Ship   the\tthing  \nmore"),
            "Ship the thing"
        );
        assert_eq!(anchor("\u{feff}# Titel\r\nText"), "Titel");
        assert_eq!(anchor("## Closed ##"), "Closed");
        assert_eq!(anchor("# Port it to C#"), "Port it to C#");
        assert_eq!(anchor("#hashtag first"), "#hashtag first");
        assert_eq!(anchor("#\n##  \n# ##\nreal"), "real");
        for nothing in ["", " \n\t\r\n", "#", "\u{200b}\u{202e}\n\u{1b}"] {
            assert_eq!(mission_anchor(nothing), None, "{nothing:?}");
        }
    }

    #[test]
    fn nothing_that_moves_a_terminal_or_turns_text() {
        assert_eq!(
            anchor("a\u{1b}[31mb \u{202e}c\u{2066} \u{7}\u{0} d"),
            "a[31mb c d"
        );
        assert_eq!(anchor("\u{200b}# x"), "x");
    }

    #[test]
    fn at_most_two_hundred_characters_and_stable() {
        let long = "ä ".repeat(1000);
        let cut = anchor(&long);
        assert!(
            cut.chars().count() <= MAX_ANCHOR_CHARS,
            "{}",
            cut.chars().count()
        );
        assert_eq!(anchor(&"x".repeat(300)).chars().count(), 200);
        assert_eq!(
            anchor(&format!("{} yz", "x".repeat(199))).chars().count(),
            199
        );
        let texts = ["# # x", "#\u{200b} x", "# ## a ## #", "x #\u{7} #", "## "];
        assert_eq!(mission_anchor(&"# ".repeat(1_000_000)), None);
        for text in texts.into_iter().chain([cut.as_str()]) {
            let once = anchor(text);
            assert_eq!(anchor(&once), once, "{text:?}");
        }
    }
}
