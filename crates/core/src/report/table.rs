//! The one table per role: which fields a report has, in order. The parser, the
//! format shown in prompts, the JSON schema and the repair prompt all follow it.

use super::field::{Field, Kind, count, list, sha, text, yes_no};
use crate::model::Role;
use std::sync::LazyLock;

/// One dimension of the rubric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimension {
    /// As it is written.
    pub label: &'static str,
    /// As it stands in JSON and in records.
    pub key: &'static str,
}

/// The four dimensions; each must be rated.
pub const DIMENSIONS: [Dimension; 4] = [
    Dimension {
        label: "Contract coverage",
        key: "contract_coverage",
    },
    Dimension {
        label: "Correctness risk",
        key: "correctness_risk",
    },
    Dimension {
        label: "Verification evidence",
        key: "verification_evidence",
    },
    Dimension {
        label: "Docs/state parity",
        key: "docs_state_parity",
    },
];

fn anchor() -> Field {
    text("MISSION ANCHOR", "the mission anchor, word for word")
}
fn remaining() -> Field {
    list(
        "Remaining contract IDs",
        "the unsatisfied contract ids you were given, or none",
    )
}
fn input_needed() -> Field {
    text(
        "Input needed from user",
        "only when the work cannot go on without the user: the exact question",
    )
    .optional()
}
fn next_role() -> Field {
    text(
        "Next role to invoke",
        "the role you expect next; cook decides",
    )
}
fn handoff() -> Field {
    text(
        "Exact handoff payload",
        "what the next role must know, or none",
    )
}
fn clean() -> Field {
    yes_no(
        "Tracked and unignored worktree is clean",
        "yes or no, as `git status --porcelain` shows it",
    )
}
fn blockers() -> Field {
    count("Blocker count", "a number of at least 0")
}
fn gaps() -> Field {
    count("High-value gap count", "a number of at least 0")
}

static BOOTSTRAPPER: LazyLock<Vec<Field>> = LazyLock::new(|| {
    vec![
        anchor(),
        remaining(),
        yes_no("Bootstrap applied", "yes or no"),
        list("Local helper files repaired", "one path a line, or none"),
        list(
            "Execution-state files initialized",
            "one path a line, or none",
        ),
        yes_no("Gitignore updated", "yes or no"),
        next_role(),
        handoff(),
        list("Canonical blockers", "one blocker a line, or none"),
        input_needed(),
    ]
});

static REGROUNDER: LazyLock<Vec<Field>> = LazyLock::new(|| {
    vec![
        anchor(),
        remaining(),
        yes_no("Canonical re-ground applied", "yes or no"),
        yes_no("Acceptance criteria revalidated", "yes or no"),
        clean(),
        list("Reopened slices", "one slice id a line, or none"),
        Field::new(
            "Reconciliation decision",
            Kind::Choice(&["accepted", "reopened", "none"]),
            "accepted, reopened or none, as in the block",
        ),
        text(
            "Reconciled slice ID",
            "the slice id, as in the block, or none",
        ),
        text("Current selected slice", "the slice id, or none"),
        next_role(),
        handoff(),
        list("Canonical blockers or deviations", "one a line, or none"),
        input_needed(),
    ]
});

/// An implementer's field that is asked for where something must be fixed.
pub const MUST_FIX: &str = "Must-fix answered";

static IMPLEMENTER: LazyLock<Vec<Field>> = LazyLock::new(|| {
    vec![
        anchor(),
        list(
            "Remaining contract IDs before slice",
            "the unsatisfied contract ids you were given, or none",
        ),
        text("Slice ID", "the slice you were given"),
        text("Slice goal", "its goal"),
        list("Contract IDs closed or advanced", "contract ids, or none"),
        list(
            "Files changed",
            "one path a line, or none; say why for a path outside the slice's surfaces",
        ),
        list("Tests added or strengthened", "one test a line, or none"),
        list("Verification commands run", "one command a line, or none"),
        text("Verification results", "what each command showed"),
        sha(
            "Commit SHA",
            "the slice's newest commit; none only when the plan must change first",
        ),
        text("What release gap this closed", "the gap, or none"),
        list(
            MUST_FIX,
            "for each thing that must be fixed its number, and what you did about it or why nothing",
        )
        .optional(),
        yes_no(
            "Plan adjustment required",
            "yes or no; after a yes, what the plan gets wrong",
        ),
        list("Residual risks discovered", "one risk a line, or none"),
        list(
            "Remaining contract IDs after slice",
            "contract ids you believe are still open, or none",
        ),
        input_needed(),
    ]
});

static REVIEWER: LazyLock<Vec<Field>> = LazyLock::new(|| {
    vec![
        anchor(),
        remaining(),
        list("Findings", "one finding a line with its place, or none"),
        yes_no(
            "Acceptable as-is",
            "yes or no; any fail in the rubric means no",
        ),
        text(
            "Smallest follow-up slice",
            "after a yes: none. After a no: the smallest change that would make it acceptable",
        ),
    ]
});

static AUDITOR: LazyLock<Vec<Field>> = LazyLock::new(|| {
    vec![
        anchor(),
        remaining(),
        list(
            "Why the project is still not done",
            "one reason a line, or none",
        ),
        list(
            "Open top-level contract IDs",
            "contract ids you find open, or none",
        ),
        blockers(),
        gaps(),
        clean(),
        list(
            "Worktree blockers",
            "none when the worktree is clean; else one path a line",
        ),
        text(
            "Next mandatory slice",
            "a slice when anything is open, or none",
        ),
        yes_no("Stale or conflicting canonical state", "yes or no"),
        yes_no(
            "Plan truthfully captures remaining slice backlog",
            "yes or no",
        ),
    ]
});

static STOP_JUDGE: LazyLock<Vec<Field>> = LazyLock::new(|| {
    vec![
        anchor(),
        remaining(),
        yes_no(
            "Can the project stop now",
            "yes or no; any fail in the rubric means no",
        ),
        list(
            "Exact remaining open top-level contract IDs",
            "contract ids you find open; none with a yes",
        ),
        blockers(),
        gaps(),
        sha("Latest completed slice commit", "its commit id, or none"),
        yes_no("Docs/config/runbooks match shipped behavior", "yes or no"),
        clean(),
        list(
            "Brief justification",
            "one reason a line; after a no, each blocker on a line of its own",
        ),
    ]
});

/// The fields of a role's report, header first, in the order they are written.
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

/// The role rates the four dimensions.
pub const fn has_rubric(role: Role) -> bool {
    matches!(role, Role::Reviewer | Role::Auditor | Role::StopJudge)
}

/// The report carries one JSON block.
pub const fn has_block(role: Role) -> bool {
    matches!(role, Role::Regrounder)
}

/// Fields of the header: the mission anchor and the remaining contract ids.
pub const HEADER_FIELDS: usize = 2;

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
            .filter(|role| fields(*role).contains(&input_needed()))
            .collect();
        assert_eq!(
            asking,
            [Role::Bootstrapper, Role::Regrounder, Role::Implementer]
        );
    }
}
