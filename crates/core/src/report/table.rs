//! The one table per role: which fields a report has, in order. The parser, the
//! format shown in prompts, the JSON schema and the repair prompt all follow it.

use super::field::{Field, Kind};
use crate::model::Role;

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

/// Lines that may stand before the header; they feed the live view only.
pub const PROGRESS: [&str; 5] = ["PROGRESS", "RATIONALE", "NEXT", "VERIFYING", "STATE-DELTA"];

const ANCHOR: Field = Field::new(
    "MISSION ANCHOR",
    "mission_anchor",
    Kind::Text,
    "the mission anchor, word for word",
);
const REMAINING: Field = Field::new(
    "Remaining contract IDs",
    "remaining_contract_ids",
    Kind::List,
    "the unsatisfied contract ids you were given, or none",
);
const INPUT_NEEDED: Field = Field::new(
    "Input needed from user",
    "input_needed_from_user",
    Kind::Text,
    "only when the work cannot go on without the user: the exact question",
)
.optional();
const NEXT_ROLE: Field = Field::new(
    "Next role to invoke",
    "next_role_to_invoke",
    Kind::Text,
    "the role you expect next; cook decides",
);
const HANDOFF: Field = Field::new(
    "Exact handoff payload",
    "exact_handoff_payload",
    Kind::Text,
    "what the next role must know, or none",
);
const CLEAN: Field = Field::new(
    "Tracked and unignored worktree is clean",
    "tracked_and_unignored_worktree_is_clean",
    Kind::YesNo,
    "yes or no, as `git status --porcelain` shows it",
);
const BLOCKERS: Field = Field::new(
    "Blocker count",
    "blocker_count",
    Kind::Count,
    "a number of at least 0",
);
const GAPS: Field = Field::new(
    "High-value gap count",
    "high_value_gap_count",
    Kind::Count,
    "a number of at least 0",
);

const BOOTSTRAPPER: &[Field] = &[
    ANCHOR,
    REMAINING,
    Field::new(
        "Bootstrap applied",
        "bootstrap_applied",
        Kind::YesNo,
        "yes or no",
    ),
    Field::new(
        "Local helper files repaired",
        "local_helper_files_repaired",
        Kind::List,
        "one path a line, or none",
    ),
    Field::new(
        "Execution-state files initialized",
        "execution_state_files_initialized",
        Kind::List,
        "one path a line, or none",
    ),
    Field::new(
        "Gitignore updated",
        "gitignore_updated",
        Kind::YesNo,
        "yes or no",
    ),
    NEXT_ROLE,
    HANDOFF,
    Field::new(
        "Canonical blockers",
        "canonical_blockers",
        Kind::List,
        "one blocker a line, or none",
    ),
    INPUT_NEEDED,
];

const REGROUNDER: &[Field] = &[
    ANCHOR,
    REMAINING,
    Field::new(
        "Canonical re-ground applied",
        "canonical_re_ground_applied",
        Kind::YesNo,
        "yes or no",
    ),
    Field::new(
        "Acceptance criteria revalidated",
        "acceptance_criteria_revalidated",
        Kind::YesNo,
        "yes or no",
    ),
    CLEAN,
    Field::new(
        "Reopened slices",
        "reopened_slices",
        Kind::List,
        "one slice id a line, or none",
    ),
    Field::new(
        "Reconciliation decision",
        "reconciliation_decision",
        Kind::Choice(&["accepted", "reopened", "none"]),
        "accepted, reopened or none, as in the block",
    ),
    Field::new(
        "Reconciled slice ID",
        "reconciled_slice_id",
        Kind::Text,
        "the slice id, as in the block, or none",
    ),
    Field::new(
        "Current selected slice",
        "current_selected_slice",
        Kind::Text,
        "the slice id, or none",
    ),
    NEXT_ROLE,
    HANDOFF,
    Field::new(
        "Canonical blockers or deviations",
        "canonical_blockers_or_deviations",
        Kind::List,
        "one a line, or none",
    ),
    INPUT_NEEDED,
];

const IMPLEMENTER: &[Field] = &[
    ANCHOR,
    Field::new(
        "Remaining contract IDs before slice",
        "remaining_contract_ids_before_slice",
        Kind::List,
        "the unsatisfied contract ids you were given, or none",
    ),
    Field::new(
        "Slice ID",
        "slice_id",
        Kind::Text,
        "the slice you were given",
    ),
    Field::new("Slice goal", "slice_goal", Kind::Text, "its goal"),
    Field::new(
        "Contract IDs closed or advanced",
        "contract_ids_closed_or_advanced",
        Kind::List,
        "contract ids, or none",
    ),
    Field::new(
        "Files changed",
        "files_changed",
        Kind::List,
        "one path a line, or none; say why for a path outside the slice's surfaces",
    ),
    Field::new(
        "Tests added or strengthened",
        "tests_added_or_strengthened",
        Kind::List,
        "one test a line, or none",
    ),
    Field::new(
        "Verification commands run",
        "verification_commands_run",
        Kind::List,
        "one command a line, or none",
    ),
    Field::new(
        "Verification results",
        "verification_results",
        Kind::Text,
        "what each command showed",
    ),
    Field::new(
        "Commit SHA",
        "commit_sha",
        Kind::Sha,
        "the slice's newest commit; none only when the plan must change first",
    ),
    Field::new(
        "What release gap this closed",
        "what_release_gap_this_closed",
        Kind::Text,
        "the gap, or none",
    ),
    Field::new(
        "Plan adjustment required",
        "plan_adjustment_required",
        Kind::YesNo,
        "yes or no; after a yes, what the plan gets wrong",
    ),
    Field::new(
        "Residual risks discovered",
        "residual_risks_discovered",
        Kind::List,
        "one risk a line, or none",
    ),
    Field::new(
        "Remaining contract IDs after slice",
        "remaining_contract_ids_after_slice",
        Kind::List,
        "contract ids you believe are still open, or none",
    ),
    INPUT_NEEDED,
];

const REVIEWER: &[Field] = &[
    ANCHOR,
    REMAINING,
    Field::new(
        "Findings",
        "findings",
        Kind::List,
        "one finding a line with its place, or none",
    ),
    Field::new(
        "Acceptable as-is",
        "acceptable_as_is",
        Kind::YesNo,
        "yes or no; any fail in the rubric means no",
    ),
    Field::new(
        "Smallest follow-up slice",
        "smallest_follow_up_slice",
        Kind::Text,
        "after a yes: none. After a no: the smallest change that would make it acceptable",
    ),
];

const AUDITOR: &[Field] = &[
    ANCHOR,
    REMAINING,
    Field::new(
        "Why the project is still not done",
        "why_the_project_is_still_not_done",
        Kind::List,
        "one reason a line, or none",
    ),
    Field::new(
        "Open top-level contract IDs",
        "open_top_level_contract_ids",
        Kind::List,
        "contract ids you find open, or none",
    ),
    BLOCKERS,
    GAPS,
    CLEAN,
    Field::new(
        "Worktree blockers",
        "worktree_blockers",
        Kind::List,
        "none when the worktree is clean; else one path a line",
    ),
    Field::new(
        "Next mandatory slice",
        "next_mandatory_slice",
        Kind::Text,
        "a slice when anything is open, or none",
    ),
    Field::new(
        "Stale or conflicting canonical state",
        "stale_or_conflicting_canonical_state",
        Kind::YesNo,
        "yes or no",
    ),
    Field::new(
        "Plan truthfully captures remaining slice backlog",
        "plan_truthfully_captures_remaining_slice_backlog",
        Kind::YesNo,
        "yes or no",
    ),
];

const STOP_JUDGE: &[Field] = &[
    ANCHOR,
    REMAINING,
    Field::new(
        "Can the project stop now",
        "can_the_project_stop_now",
        Kind::YesNo,
        "yes or no; any fail in the rubric means no",
    ),
    Field::new(
        "Exact remaining open top-level contract IDs",
        "exact_remaining_open_top_level_contract_ids",
        Kind::List,
        "contract ids you find open; none with a yes",
    ),
    BLOCKERS,
    GAPS,
    Field::new(
        "Latest completed slice commit",
        "latest_completed_slice_commit",
        Kind::Sha,
        "its commit id, or none",
    ),
    Field::new(
        "Docs/config/runbooks match shipped behavior",
        "docs_config_runbooks_match_shipped_behavior",
        Kind::YesNo,
        "yes or no",
    ),
    CLEAN,
    Field::new(
        "Brief justification",
        "brief_justification",
        Kind::List,
        "one reason a line; after a no, each blocker on a line of its own",
    ),
];

/// The fields of a role's report, header first, in the order they are written.
pub const fn fields(role: Role) -> &'static [Field] {
    match role {
        Role::Bootstrapper => BOOTSTRAPPER,
        Role::Regrounder => REGROUNDER,
        Role::Implementer => IMPLEMENTER,
        Role::Reviewer => REVIEWER,
        Role::Auditor => AUDITOR,
        Role::StopJudge => STOP_JUDGE,
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
            .filter(|role| fields(*role).contains(&INPUT_NEEDED))
            .collect();
        assert_eq!(
            asking,
            [Role::Bootstrapper, Role::Regrounder, Role::Implementer]
        );
    }
}
