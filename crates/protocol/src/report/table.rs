//! The one table per role: which fields a report has, in order. The readers, the
//! format shown in prompts, the JSON schema and the repair prompt all follow it.

use crate::prelude::*;
use Kind::{Choice, Count, List, Sha, Text, YesNo};
use std::sync::LazyLock;

/// One dimension of the rubric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimension {
    /// Its name in a text.
    pub label: &'static str,
    /// Its name in JSON and in records.
    pub key: &'static str,
}

/// The four dimensions; each must be rated.
pub const DIMENSIONS: [Dimension; 4] = [
    dimension("Contract coverage", "contract_coverage"),
    dimension("Correctness risk", "correctness_risk"),
    dimension("Verification evidence", "verification_evidence"),
    dimension("Docs/state parity", "docs_state_parity"),
];

const fn dimension(label: &'static str, key: &'static str) -> Dimension {
    Dimension { label, key }
}

/// The fields of a role, one on each line: kind, label, hint; `optional` if the field may be left out.
macro_rules! table {
    ($name:ident: $($kind:expr, $label:expr, $hint:literal $($optional:ident)?;)*) => {
        static $name: LazyLock<Vec<Field>> =
            LazyLock::new(|| vec![$(Field::new($label, $kind, $hint)$(.$optional())?),*]);
    };
}

/// The key of the field that a report begins with.
pub(super) const ANCHOR: &str = "mission_anchor";

/// The possible decisions on a committed slice.
pub(super) const DECISIONS: [&str; 3] = ["accepted", "reopened", "none"];

/// An implementer's field that prompts ask for if fixes are required.
pub const MUST_FIX: &str = "Must-fix answered";

/// The key of the field in which a role asks the user.
pub(super) const QUESTION: &str = "input_needed_from_user";

table! { BOOTSTRAPPER:
    Text, "MISSION ANCHOR", "the mission anchor, word for word";
    List, "Remaining contract IDs", "the unsatisfied contract ids you were given, or none";
    YesNo, "Bootstrap applied", "yes or no";
    List, "Local helper files repaired", "one path a line, or none";
    List, "Execution-state files initialized", "one path a line, or none";
    YesNo, "Gitignore updated", "yes or no";
    Text, "Next role to invoke", "the role you expect next; cook decides";
    Text, "Exact handoff payload", "what the next role must know, or none";
    List, "Canonical blockers", "one blocker a line, or none";
    Text, "Input needed from user", "only if nobody else can answer it: the exact question" optional;
}

table! { REGROUNDER:
    Text, "MISSION ANCHOR", "the mission anchor, word for word";
    List, "Remaining contract IDs", "the unsatisfied contract ids you were given, or none";
    YesNo, "Canonical re-ground applied", "yes or no";
    YesNo, "Acceptance criteria revalidated", "yes or no";
    YesNo, "Tracked and unignored worktree is clean", "yes or no, as `git status --porcelain` shows it";
    List, "Reopened slices", "one slice id a line, or none";
    Choice(&DECISIONS), "Reconciliation decision", "accepted, reopened or none, as in the block";
    Text, "Reconciled slice ID", "the slice id, as in the block, or none";
    Text, "Current selected slice", "the slice id, or none";
    Text, "Next role to invoke", "the role you expect next; cook decides";
    Text, "Exact handoff payload", "what the next role must know, or none";
    List, "Canonical blockers or deviations", "one a line, or none";
    Text, "Input needed from user", "only if nobody else can answer it: the exact question" optional;
}

table! { IMPLEMENTER:
    Text, "MISSION ANCHOR", "the mission anchor, word for word";
    List, "Remaining contract IDs before slice", "the unsatisfied contract ids you were given, or none";
    Text, "Slice ID", "the slice you were given";
    Text, "Slice goal", "its goal";
    List, "Contract IDs closed or advanced", "contract ids, or none";
    List, "Files changed", "one path a line, or none; why, for one outside the slice's paths";
    List, "Tests added or strengthened", "one test a line, or none";
    List, "Verification commands run", "one command a line, or none";
    Text, "Verification results", "what each command showed";
    Sha, "Commit SHA", "the slice's newest commit, or none";
    Text, "What release gap this closed", "the gap, or none";
    List, MUST_FIX, "for each thing that must be fixed its number, and what you did about it or why nothing" optional;
    YesNo, "Plan adjustment required", "yes or no; after a yes, say why as a risk";
    List, "Residual risks discovered", "one risk a line, or none";
    List, "Remaining contract IDs after slice", "contract ids that stay open, or none";
    Text, "Input needed from user", "only if nobody else can answer it: the exact question" optional;
}

table! { REVIEWER:
    Text, "MISSION ANCHOR", "the mission anchor, word for word";
    List, "Remaining contract IDs", "the unsatisfied contract ids you were given, or none";
    List, "Findings", "one finding a line with its place, or none";
    YesNo, "Acceptable as-is", "yes or no; any fail in the rubric means no";
    Text, "Smallest follow-up slice", "after a yes none, after a no the smallest change";
}

table! { AUDITOR:
    Text, "MISSION ANCHOR", "the mission anchor, word for word";
    List, "Remaining contract IDs", "the unsatisfied contract ids you were given, or none";
    List, "Why the project is still not done", "one reason a line, or none";
    List, "Open top-level contract IDs", "contract ids you find open, or none";
    Count, "Blocker count", "a number of at least 0";
    Count, "High-value gap count", "a number of at least 0";
    YesNo, "Tracked and unignored worktree is clean", "yes or no, as `git status --porcelain` shows it";
    List, "Worktree blockers", "one path a line, or none";
    Text, "Next mandatory slice", "a slice if anything is open, or none";
    YesNo, "Stale or conflicting canonical state", "yes or no";
    YesNo, "Plan truthfully captures remaining slice backlog", "yes or no";
}

table! { STOP_JUDGE:
    Text, "MISSION ANCHOR", "the mission anchor, word for word";
    List, "Remaining contract IDs", "the unsatisfied contract ids you were given, or none";
    YesNo, "Can the project stop now", "yes or no; any fail in the rubric means no";
    List, "Exact remaining open top-level contract IDs", "contract ids you find open; none with a yes";
    Count, "Blocker count", "a number of at least 0";
    Count, "High-value gap count", "a number of at least 0";
    Sha, "Latest completed slice commit", "its commit id, or none";
    YesNo, "Docs/config/runbooks match shipped behavior", "yes or no";
    YesNo, "Tracked and unignored worktree is clean", "yes or no, as `git status --porcelain` shows it";
    List, "Brief justification", "one reason a line; after a no, each blocker on a line of its own";
}

/// The fields of a role's report in the order in which they are written, header first.
pub fn fields(role: Role) -> &'static [Field] {
    match role {
        Role::Bootstrapper => &BOOTSTRAPPER,
        Role::Regrounder => &REGROUNDER,
        Role::Implementer => &IMPLEMENTER,
        Role::Reviewer => &REVIEWER,
        Role::Auditor => &AUDITOR,
        Role::StopJudge => &STOP_JUDGE,
    }
}

/// Whether the role rates the four dimensions.
pub const fn has_rubric(role: Role) -> bool {
    matches!(role, Role::Reviewer | Role::Auditor | Role::StopJudge)
}

/// Whether the role's report must have a JSON block.
pub const fn has_block(role: Role) -> bool {
    matches!(role, Role::Regrounder)
}

/// Number of fields in the header: the mission anchor and the remaining contract ids.
pub const HEADER_FIELDS: usize = 2;

/// The kind of value that a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// Exactly yes or no.
    YesNo,
    /// Exactly a whole number of at least 0.
    Count,
    /// One text a line, or `none`.
    List,
    /// Exactly one of these words.
    Choice(&'static [&'static str]),
    /// Exactly a commit id of 7 to 64 hex digits, or `none`.
    Sha,
}

/// One field of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name before the colon, without the list of its words.
    pub label: &'static str,
    /// Its name in JSON and in records.
    pub key: &'static str,
    /// The kind of its value.
    pub kind: Kind,
    /// Whether its absence is a breach.
    pub required: bool,
    /// Says what to write, for the format in prompts.
    pub hint: &'static str,
}

impl Field {
    /// Creates a field whose key is the label in lower case, with `_` for every other character.
    pub(super) fn new(label: &'static str, kind: Kind, hint: &'static str) -> Self {
        let key = label.to_lowercase();
        let key = key.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        Self {
            label,
            key: key.leak(),
            kind,
            required: true,
            hint,
        }
    }

    fn optional(mut self) -> Self {
        self.required = false;
        self
    }

    /// The words that a field of a fixed choice may hold, in order.
    pub fn words(&self) -> &'static [&'static str] {
        match self.kind {
            Kind::YesNo => &["yes", "no"],
            Kind::Choice(words) => words,
            _ => &[],
        }
    }

    /// What it must hold, with one example: the word with which the refused value begins, or else another value.
    pub(super) fn wants(&self, refused: &str) -> String {
        let own = self.hint.trim_end_matches(", or none");
        let own = format!("<{own}>");
        let examples: &[&str] = match self.kind {
            Kind::YesNo | Kind::Choice(_) => self.words(),
            // A count that could be read was refused because it is too large.
            Kind::Count if refused.starts_with(|c: char| c.is_ascii_digit()) => &["0", "1"],
            Kind::Count => &["2"],
            Kind::Sha => &["1a2b3c4d"],
            Kind::Text | Kind::List if self.hint.contains("none") => &["none", &own],
            Kind::Text | Kind::List => &[&own],
        };
        let refused = refused.trim_start_matches(['-', '*', ' ']).to_lowercase();
        let has_words = !self.words().is_empty();
        let mut fitting = examples
            .iter()
            .filter(|one| refused.starts_with(**one) == has_words);
        let example = fitting.next().or(examples.last()).copied();
        let example = example.unwrap_or_default();
        format!("{}; for example `{}: {example}`", self.hint, self.title())
    }

    /// The placeholder for the value in a format: the hint without the words that the title names.
    pub(super) fn placeholder(&self) -> &'static str {
        let rest = match (self.kind, self.words()) {
            (Kind::Count, _) => return "number",
            (_, [first @ .., last]) => {
                let words = format!("{} or {last}", first.join(", "));
                self.hint.strip_prefix(&words).unwrap_or(self.hint)
            }
            _ => return self.hint,
        };
        match rest.trim_start_matches([',', ';', ' ']) {
            "" => "answer",
            rest => rest,
        }
    }

    /// The label with the words that the field may hold: `Acceptable as-is (yes/no)`.
    pub fn title(&self) -> String {
        match self.words() {
            [] => self.label.to_owned(),
            words => format!("{} ({})", self.label, words.join("/")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn keys_follow_from_labels_and_are_unique() {
        for role in Role::ALL {
            let mut seen = BTreeSet::new();
            for field in fields(role) {
                let derived: String = field
                    .label
                    .to_lowercase()
                    .replace(|c: char| !c.is_ascii_alphanumeric(), "_");
                assert_eq!(derived, field.key, "{role}");
                assert!(seen.insert(field.key), "{role}: {}", field.key);
                assert!(!field.label.contains(':'));
            }
        }
    }

    #[test]
    fn every_report_begins_with_the_two_header_fields() {
        for role in Role::ALL {
            let header = &fields(role)[..HEADER_FIELDS];
            assert_eq!(header[0].label, "MISSION ANCHOR");
            assert!(header[1].label.starts_with("Remaining contract IDs"));
        }
    }

    #[test]
    fn only_three_roles_may_ask_the_user() {
        let asking: Vec<Role> = Role::ALL
            .into_iter()
            .filter(|role| fields(*role).iter().any(|field| field.key == QUESTION))
            .collect();
        assert_eq!(
            asking,
            [Role::Bootstrapper, Role::Regrounder, Role::Implementer]
        );
    }
}
