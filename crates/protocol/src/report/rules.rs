//! The rules between fields: what a report may not say at the same time (`protocol/completion.md#reports`). A rule
//! whose fields could not be read is skipped, because the grammar has reported that already.

use super::block::Block;
use super::table::{DECISIONS, QUESTION};
use super::value;
use super::value::{
    commit, count, ids, is_named, is_none, is_none_or_routing, is_routing, items, split_numbered,
    yes_no,
};
use crate::model::PolicyChange;
use crate::prelude::*;

/// A field of a record; empty if it is missing.
pub(super) fn field<'a>(record: &'a ReportRecord, key: &str) -> &'a str {
    record.fields.get(key).map_or("", String::as_str)
}

/// The role's question to the user, if it asks one.
pub(super) fn question(record: &ReportRecord) -> Option<&str> {
    Some(field(record, QUESTION)).filter(|text| is_named(text))
}

/// A reviewer's follow-up or an auditor's next slice, if one is named.
pub(super) fn follow_up<'a>(record: &'a ReportRecord, key: &str) -> Option<&'a str> {
    Some(field(record, key))
        .filter(|text| is_named(text) && !is_none_or_routing(text) && !is_routing(text))
}

/// The advice of a report to the next role.
pub fn advice(record: &ReportRecord) -> Option<String> {
    let handoff = field(record, "exact_handoff_payload");
    let deviations = match record.role {
        Role::Regrounder => field(record, "canonical_blockers_or_deviations"),
        _ => "",
    };
    let parts: Vec<String> = [handoff, deviations]
        .into_iter()
        .filter(|text| is_named(text))
        .map(|text| clean(text, Lines::Keep))
        .collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// The items of a list field; empty if it holds `none`.
pub fn list_items(record: &ReportRecord, key: &str) -> Vec<String> {
    items(field(record, key))
}

/// The blockers and deviations that a re-ground names.
pub fn list_deviations(record: &ReportRecord) -> Vec<String> {
    list_items(record, "canonical_blockers_or_deviations")
}

/// What an audit calls untrue in plan and state.
pub fn untrue(record: &ReportRecord) -> Vec<String> {
    let state = contrary(record, "stale_or_conflicting_canonical_state", false);
    let plan = "plan_truthfully_captures_remaining_slice_backlog";
    let plan = contrary(record, plan, true);
    state.into_iter().chain(plan).collect()
}

/// The answer to a yes/no field, if it differs from the one given when all is well.
pub(super) fn contrary(record: &ReportRecord, key: &str, well: bool) -> Option<String> {
    let answer = yes_no(field(record, key))?;
    let word = if answer { "yes" } else { "no" };
    (answer != well).then(|| format!("{key}: {word}"))
}

/// Begins the text with the contracts that a verdict leaves open.
pub const OPEN_CONTRACTS: &str = "open contracts: ";

/// The counts and the open contracts of a verdict, one text each.
pub fn counts(verdicts: &Verdicts) -> Vec<String> {
    let mut texts = Vec::new();
    if !verdicts.open_contract_ids.is_empty() {
        let ids = verdicts.open_contract_ids.join(", ");
        texts.push(format!("{OPEN_CONTRACTS}{ids}"));
    }
    let (blockers, gaps) = (verdicts.blocker_count.0, verdicts.high_value_gap_count.0);
    if blockers + gaps > 0 {
        let blockers = count_noun(blockers, "blocker");
        texts.push(format!(
            "{blockers}, {}",
            count_noun(gaps, "high-value gap")
        ));
    }
    texts
}

/// An implementer's words on the plan and on risks, which are also its reason for giving a slice back.
pub fn return_reason(record: &ReportRecord) -> Option<String> {
    let risks = field(record, "residual_risks_discovered");
    is_named(risks).then(|| clean(risks, Lines::Keep))
}

/// What an implementer did about the required fixes, each with its number if the report names one.
pub fn fixes(record: &ReportRecord) -> Vec<(Option<usize>, String)> {
    split_numbered(field(record, "must_fix_answered"))
}

/// All rules that are broken.
pub(super) fn breaches(record: &ReportRecord, block: Option<&Block>) -> Vec<Finding> {
    let rules = Rules { record };
    let mut found = match (record.role, block) {
        (Role::Regrounder, Some(Block::Reground(block))) => rules.regrounder(block),
        (Role::Bootstrapper | Role::Regrounder, _) => Vec::new(),
        (Role::Implementer, _) => rules.implementer(),
        (Role::Reviewer, _) => rules.reviewer(),
        (Role::Auditor, _) => rules.auditor(),
        (Role::StopJudge, _) => rules.stop_judge(),
    };
    if rules.yes(QUESTION).is_some() {
        let message = "a yes or a no is neither a question nor none";
        found.push(Finding::new(Code::FieldNotInSet, message).at(QUESTION));
    }
    found
}

struct Rules<'a> {
    record: &'a ReportRecord,
}

impl<'a> Rules<'a> {
    fn text(&self, key: &str) -> Option<&'a str> {
        self.record.fields.get(key).map(String::as_str)
    }

    fn yes(&self, key: &str) -> Option<bool> {
        self.text(key).and_then(yes_no)
    }

    fn some(&self, key: &str) -> bool {
        self.text(key).and_then(count).is_some_and(|n| n > 0)
    }

    /// Whether the field is present and not purely none.
    fn is_listed(&self, key: &str) -> bool {
        self.text(key).is_some_and(|text| !is_none(text))
    }

    fn find_positive_with_fail(&self, key: &'static str) -> Option<Finding> {
        let rubric = self.record.rubric.as_ref()?;
        let failed: Vec<&str> = rubric
            .iter()
            .filter(|(_, entry)| entry.verdict == RubricVerdict::Fail)
            .map(|(key, _)| key.as_str())
            .collect();
        (self.yes(key) == Some(true) && !failed.is_empty()).then(|| {
            finding!(
                Code::PositiveWithFail,
                "the answer is yes although {} is a fail",
                failed.join(", ")
            )
            .at(key)
        })
    }

    fn reviewer(&self) -> Vec<Finding> {
        let key = "smallest_follow_up_slice";
        let mut found = Vec::from_iter(self.find_positive_with_fail("acceptable_as_is"));
        match (self.yes("acceptable_as_is"), self.text(key)) {
            (Some(true), Some(text)) if !is_none_or_routing(text) => {
                found.push(breach(Code::ReviewYesWithFollowUp, key));
            }
            (Some(false), Some(_)) if follow_up(self.record, key).is_none() => {
                found.push(breach(Code::ReviewNoWithoutFollowUp, key));
            }
            _ => {}
        }
        found
    }

    fn auditor(&self) -> Vec<Finding> {
        let blockers = "worktree_blockers";
        let mut found = Vec::new();
        let clean = self.yes("tracked_and_unignored_worktree_is_clean");
        match (clean, self.text(blockers)) {
            (Some(true), Some(text)) if !is_none(text) => {
                found.push(breach(Code::AuditCleanWithBlockers, blockers));
            }
            (Some(false), Some(text)) if !is_named(text) => {
                found.push(breach(Code::AuditDirtyWithoutBlockers, blockers));
            }
            _ => {}
        }
        let open = self.is_listed("open_top_level_contract_ids")
            || self.some("blocker_count")
            || self.some("high_value_gap_count");
        let next = "next_mandatory_slice";
        if open && self.text(next).is_some() && follow_up(self.record, next).is_none() {
            found.push(breach(Code::AuditOpenWithoutNextSlice, next));
        }
        found
    }

    fn stop_judge(&self) -> Vec<Finding> {
        let mut found = Vec::from_iter(self.find_positive_with_fail("can_the_project_stop_now"));
        if self.yes("can_the_project_stop_now") != Some(true) {
            return found;
        }
        let ids = "exact_remaining_open_top_level_contract_ids";
        let docs = "docs_config_runbooks_match_shipped_behavior";
        let clean = "tracked_and_unignored_worktree_is_clean";
        let [blockers, gaps] = ["blocker_count", "high_value_gap_count"];
        let is_no = |key| self.yes(key) == Some(false);
        for (is_broken, code, key) in [
            (self.is_listed(ids), Code::JudgeYesWithOpenContracts, ids),
            (self.some(blockers), Code::JudgeYesWithBlockers, blockers),
            (self.some(gaps), Code::JudgeYesWithBlockers, gaps),
            (is_no(docs), Code::JudgeYesWithDocsMismatch, docs),
            (is_no(clean), Code::JudgeYesWithDirtyWorktree, clean),
        ] {
            found.extend(is_broken.then(|| breach(code, key)));
        }
        found
    }

    fn implementer(&self) -> Vec<Finding> {
        let sha = self.text("commit_sha");
        let without_commit = sha.is_some_and(|text| commit(text).is_none() && is_none(text));
        if !without_commit || question(self.record).is_some() {
            return Vec::new();
        }
        match self.yes("plan_adjustment_required") {
            Some(true) if return_reason(self.record).is_none() => {
                vec![breach(
                    Code::ReturnWithoutReason,
                    "residual_risks_discovered",
                )]
            }
            Some(false) => {
                let message = "no commit is named, and neither a changed plan nor the user's input is asked for";
                vec![Finding::new(Code::FieldNotInSet, message).at("commit_sha")]
            }
            _ => Vec::new(),
        }
    }

    fn regrounder(&self, block: &Reground) -> Vec<Finding> {
        let mut found = Vec::new();
        let mut contradiction = |key: &'static str, message: &str| {
            found.push(Finding::new(Code::BlockContradictsField, message).at(key));
        };
        let decided = block.reconcile.as_ref();
        let word = match decided.map(|reconcile| reconcile.decision) {
            Some(Decision::Accepted) => "accepted",
            Some(Decision::Reopened) => "reopened",
            None => "none",
        };
        let said = self
            .text("reconciliation_decision")
            .and_then(|text| value::word(text, &DECISIONS));
        if said.is_some_and(|said| said != word) {
            let message = format!("the block's decision is {word}");
            contradiction("reconciliation_decision", &message);
        }
        let slice = self.text("reconciled_slice_id");
        if let (Some(reconcile), Some(slice)) = (decided, slice)
            && slice != reconcile.slice_id
        {
            let message = "the block reconciles another slice";
            contradiction("reconciled_slice_id", message);
        }
        let reopened = |id: &String| {
            let mut named = block.reopen.iter().map(|reopen| &reopen.slice_id);
            let decided = decided.filter(|it| it.decision == Decision::Reopened);
            named.any(|known| known == id) || decided.is_some_and(|it| it.slice_id == *id)
        };
        let named = self.text("reopened_slices").map(ids).unwrap_or_default();
        if let Some(id) = named
            .iter()
            .map(|id| first_word(id))
            .find(|id| !reopened(id))
        {
            let message = format!("the block does not reopen `{id}`");
            contradiction("reopened_slices", &message);
        }
        let named = self
            .text("current_selected_slice")
            .filter(|text| !is_none(text));
        let named = named.map(first_word);
        if let (Some(select), Some(named)) = (&block.select, named)
            && *select != named
        {
            let message = format!("the block selects `{select}`");
            contradiction("current_selected_slice", &message);
        }
        if self.yes("canonical_re_ground_applied") == Some(false) && !only_asks(block) {
            let message = "the block changes something";
            contradiction("canonical_re_ground_applied", message);
        }
        if question(self.record).is_some() && !only_asks(block) {
            let message = "a report that asks the user changes nothing else; \
                           to do both, put the question into the block's `policy` and `none` here";
            contradiction("input_needed_from_user", message);
        }
        found
    }
}

/// The id at the beginning of a text.
fn first_word(text: &str) -> String {
    let word = text.split_whitespace().next().unwrap_or_default();
    let marks = |c: char| !c.is_alphanumeric() && c != '_';
    word.trim_matches(marks).to_owned()
}

/// Whether the block changes nothing, or only asks the user.
fn only_asks(block: &Reground) -> bool {
    let rest = Reground {
        policy: None,
        ..block.clone()
    };
    let asks = matches!(
        block.policy,
        None | Some(PolicyChange::AwaitUserInput { .. })
    );
    asks && rest == Reground::default()
}

/// The finding for a broken rule, in the words of its code.
fn breach(code: Code, key: &str) -> Finding {
    Finding::new(code, code.meaning()).at(key)
}
