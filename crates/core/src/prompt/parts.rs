//! What a role decides on, out of the log: for each role and rule the reports, answers and
//! rejections that its own report is measured against. `crates/core/tests/exploration/prompts.rs`
//! holds it to what the machine reads.

use super::fit::{cut, fit};
use super::input::PromptInput;
use super::lists::{
    amendments, answers, cooks_own, finding, line, list, list_answered, list_ids_taken_up,
    other_slices, remarks, section, show_taken_up, slices,
};
use super::quote::Quoted;
use super::reports::{
    REPORTS, audit_text, is_of_this_commit, list_earlier_notes, list_fixes, list_other_notes,
    rejection, review_id, review_text, standing_review, vote,
};
use super::slices::{PLAN, active_text, list_other_claims, may_select, plan_text};
use crate::machine::{
    Rule, current_review, find_audit_to_answer, list_left_if_cancelled, list_owed, new_answer,
    open_audit,
};
use crate::model::{Role, SliceLedger, Snapshot};

/// One part: a title and what stands below it; nothing = the part is left out.
type Part = (&'static str, Option<Quoted>);

/// The parts of a role's prompt, in order.
pub(super) fn parts(input: &PromptInput) -> Vec<(&'static str, Quoted)> {
    let of_role = match input.role {
        Role::Bootstrapper => Vec::new(),
        Role::Regrounder => regrounder(input),
        Role::Implementer => implementer(input),
        Role::Reviewer => reviewer(input),
        Role::Auditor => auditor(input),
        Role::StopJudge => judge(input),
    };
    let found = [
        (
            "What cook found:",
            list(input.list_other_findings().map(finding).collect()),
        ),
        (BRIEF, cooks_own(input.brief)),
        ("The repository:", cooks_own(input.context)),
    ];
    let parts = of_role.into_iter().chain(found);
    parts
        .filter_map(|(title, part)| Some((title, part?)))
        .collect()
}

const BRIEF: &str =
    "What the brief says besides (`cook brief check` tells which of its anchors hold):";
const ANSWERS: &str = "What the user said; it binds as the criteria do:";
const ADVICE: &str = "What the last re-ground says to the roles after it:";
const EARLIER_AUDIT: &str = "The audit before that one:";
const AUDIT_OF_COMMIT: &str =
    "The last audit of the slice; what the user said or changed since makes it due again:";
const AUDIT_OF_BEFORE: &str = "An earlier audit of the slice, which nothing answers yet:";
const OPEN_AUDIT: &str = "The last audit of the project, of an earlier commit:";
const AUDIT_BEFORE: &str = "The last audit of the project, of an earlier commit. Yours takes its place: say again what of it still holds, because what you leave out counts as settled:";
const ANSWER_TO_REVIEW: &str = "What was answered to it:";
const REVIEW: &str = "The review of its commit:";
const REOPENED_REVIEW: &str = "The review of its last commit, which a re-ground reopened:";
const VOID_REVIEW: &str = "A review that no longer counts: its commit, the criteria or what the user said is another now:";

fn regrounder(input: &PromptInput) -> Vec<Part> {
    let snapshot = input.snapshot;
    let ledger = &snapshot.ledger;
    let active = active_ledger(snapshot);
    let is_end = input.rule == Rule::Conclude.id();
    let voided = answer_to(snapshot, active);
    // That of the project may be answered at any time, that of a slice where it is reconciled.
    let audit_owed = match input.rule == Rule::Reconcile.id() {
        true => find_audit_to_answer(snapshot),
        false => open_audit(snapshot),
    };
    let rejections = match is_end {
        // `conclude` answers those of the wave.
        true => ledger.unanswered.clone(),
        false => list_owed(snapshot),
    };
    vec![
        (ANSWERS, answers(&ledger.answers)),
        (
            "The user's last answer, new since the last re-ground:",
            line(new_answer(ledger).as_deref()),
        ),
        (
            ADVICE,
            section(ledger.advice.as_deref().unwrap_or_default()),
        ),
        (
            "Given back by the implementer:",
            line(ledger.returned.as_deref()),
        ),
        (
            "The plan:",
            section(&plan_text(
                snapshot,
                may_select(input.rule, snapshot).then_some((input.rule, input.selection)),
            )),
        ),
        ("The slice in work:", section(&active_text(snapshot))),
        (
            "Its commit:",
            line(active.and_then(|slice| slice.head.as_deref())),
        ),
        (
            "Commits of its own that are reported:",
            list(list_other_claims(active)),
        ),
        (
            match current_review(snapshot) {
                Some(_) => REVIEW,
                None => VOID_REVIEW,
            },
            section(&review_text(
                active.and_then(|slice| slice.review.as_ref()),
                &[],
            )),
        ),
        (
            "The review before this one:",
            section(&review_text(
                active
                    .filter(|slice| voided.is_some() || slice.find_unheard_no().is_some())
                    .and_then(|slice| slice.sent_back.as_ref()),
                &[],
            )),
        ),
        (ANSWER_TO_REVIEW, line(voided)),
        (
            "The audit after it:",
            section(&audit_text(
                active.and_then(|slice| slice.audit.as_ref()),
                audit_owed.as_ref(),
            )),
        ),
        (
            OPEN_AUDIT,
            section(&audit_text(ledger.open_audit.as_ref(), audit_owed.as_ref())),
        ),
        (
            EARLIER_AUDIT,
            section(&audit_text(
                active.and_then(|slice| slice.earlier_audit.as_ref()),
                None,
            )),
        ),
        (
            "What its implementer says of the plan and of risks:",
            line(active.and_then(|slice| slice.remarked.as_deref())),
        ),
        (
            "Rejections that wait for an answer in `answers`:",
            list(rejections.iter().map(rejection).collect()),
        ),
        (
            "Where the slices that these rest on are cancelled, `answers` says what becomes of each:",
            list(
                list_left_if_cancelled(snapshot)
                    .iter()
                    .map(|no| cut(&rejection(no), LEFT, PLAN))
                    .collect(),
            ),
        ),
        (
            "The votes of this wave:",
            list(
                ledger
                    .wave
                    .votes
                    .iter()
                    .filter(|_| is_end)
                    .map(vote)
                    .collect(),
            ),
        ),
        (
            "The gates at HEAD in a clean room:",
            list(
                ledger
                    .room
                    .iter()
                    .flat_map(|room| room.red.clone())
                    .collect(),
            ),
        ),
        (
            "Waves held at this HEAD (at most 2):",
            is_end.then(|| Quoted::word(&ledger.wave.opened.0.to_string())),
        ),
        (
            "Release blockers of the last re-ground (they stay until `release_blocker_ids` names others; `[]` takes them back):",
            list(snapshot.state.release_blocker_ids.clone()),
        ),
        (
            "High-value gaps of the last re-ground (they stay until `high_value_gaps` names others; `[]` takes them back):",
            list(ledger.high_value_gaps.clone()),
        ),
        ("Criteria the user amended:", list(amendments(snapshot))),
        (REMARKS, list(remarks(snapshot))),
    ]
}

/// Bytes of each: the plan holds the rest among what must be fixed, and the user's words.
const LEFT: usize = 160;

const REMARKS: &str = "What made the work smaller or went beyond it (judge whether each is right):";

fn implementer(input: &PromptInput) -> Vec<Part> {
    let snapshot = input.snapshot;
    let ledger = active_ledger(snapshot);
    vec![
        (
            "The exact handoff, as `.agent/active-slice.json` has it:",
            section(&active_text(snapshot)),
        ),
        (ANSWERS, answers(&snapshot.ledger.answers)),
        (
            match ledger.and_then(standing_review) {
                Some(review) if !review.rejects() => REOPENED_REVIEW,
                _ => "The review that sent it back:",
            },
            section(&review_text(
                ledger.and_then(standing_review),
                must_fix(snapshot),
            )),
        ),
        show_taken_up(snapshot),
        (
            "What attempts before said of what they had to fix:",
            list(ledger.map_or_else(Vec::new, |slice| {
                list_earlier_notes(slice, must_fix(snapshot))
            })),
        ),
        (
            "What the last attempt said that its checks came to:",
            line(
                ledger
                    .filter(|_| !must_fix(snapshot).is_empty())
                    .and_then(|slice| slice.checked.as_deref()),
            ),
        ),
        (
            ADVICE,
            section(snapshot.ledger.advice.as_deref().unwrap_or_default()),
        ),
        (
            "What was said before of the plan and of risks, in its reports:",
            line(ledger.and_then(|slice| slice.remarked.as_deref())),
        ),
        (
            "Its commit that was reported last:",
            line(ledger.and_then(|slice| slice.head.as_deref().or(slice.reported.as_deref()))),
        ),
        (
            "Commits of its own that are reported:",
            list(list_other_claims(ledger)),
        ),
        ("Criteria the user amended:", list(amendments(snapshot))),
    ]
}

fn reviewer(input: &PromptInput) -> Vec<Part> {
    let snapshot = input.snapshot;
    let mut parts = describe_committed(snapshot);
    parts.extend([
        (
            "The other slices (what they do is not asked of this one):",
            list(other_slices(snapshot)),
        ),
        ("Criteria the user amended:", list(amendments(snapshot))),
        (REMARKS, list(remarks(snapshot))),
    ]);
    parts
}

fn auditor(input: &PromptInput) -> Vec<Part> {
    let snapshot = input.snapshot;
    let mut parts = describe_committed(snapshot);
    parts.extend([
        (
            AUDIT_BEFORE,
            section(&audit_text(snapshot.ledger.open_audit.as_ref(), None)),
        ),
        ("The plan:", section(&plan_text(snapshot, None))),
        ("Criteria the user amended:", list(amendments(snapshot))),
        (REMARKS, list(remarks(snapshot))),
    ]);
    parts
}

/// A committed slice, as it is reviewed and audited.
fn describe_committed(snapshot: &Snapshot) -> Vec<Part> {
    let ledger = active_ledger(snapshot);
    // One of this commit, given before an answer of the user's or other criteria.
    let void = ledger.and_then(|slice| slice.review.as_ref());
    let void = void.filter(|_| current_review(snapshot).is_none());
    vec![
        ("The slice, committed:", section(&active_text(snapshot))),
        (ANSWERS, answers(&snapshot.ledger.answers)),
        show_taken_up(snapshot),
        (
            "Its commit:",
            line(ledger.and_then(|slice| slice.head.as_deref())),
        ),
        (
            "The review before this one:",
            section(&review_text(
                void.or(ledger.and_then(|slice| slice.sent_back.as_ref())),
                ledger.map_or(&[], |slice| &slice.fixed),
            )),
        ),
        (ANSWER_TO_REVIEW, line(answer_to(snapshot, ledger))),
        (
            AUDIT_OF_COMMIT,
            section(&audit_text(
                ledger.and_then(|slice| slice.audit.as_ref()),
                None,
            )),
        ),
        (
            AUDIT_OF_BEFORE,
            section(&audit_text(
                ledger.and_then(|slice| slice.earlier_audit.as_ref()),
                None,
            )),
        ),
        (
            match ledger.is_some_and(is_of_this_commit) {
                true => {
                    "What this commit had to fix, or was said of it by that review and after it:"
                }
                false => "What this attempt had to fix:",
            },
            list(ledger.map_or_else(Vec::new, |slice| fit(&list_fixes(slice), REPORTS))),
        ),
        (
            "What its implementer says of that besides:",
            list(ledger.map_or_else(Vec::new, list_other_notes)),
        ),
        (
            "What its implementer says of the plan and of risks:",
            line(ledger.and_then(|slice| slice.remarked.as_deref())),
        ),
        (
            ADVICE,
            section(snapshot.ledger.advice.as_deref().unwrap_or_default()),
        ),
    ]
}

/// A judge hears of no other's vote, and takes nobody's advice.
fn judge(input: &PromptInput) -> Vec<Part> {
    let snapshot = input.snapshot;
    let ledger = &snapshot.ledger;
    vec![
        (ANSWERS, answers(&ledger.answers)),
        ("The slices:", list(slices(snapshot))),
        (
            "The latest completed slice's commit:",
            line(latest_commit(snapshot)),
        ),
        (
            "Rejections of earlier waves, of reviews and audits, with what was done about each:",
            list_answered(&ledger.answered_rejections),
        ),
        (
            "Rejections of earlier waves that wait for an answer:",
            list(ledger.unanswered.iter().map(rejection).collect()),
        ),
        ("Criteria the user amended:", list(amendments(snapshot))),
        (REMARKS, list(remarks(snapshot))),
    ]
}

fn answer_to<'a>(snapshot: &'a Snapshot, ledger: Option<&SliceLedger>) -> Option<&'a str> {
    let id = review_id(ledger?)?;
    let mut answered = snapshot.ledger.answered_rejections.iter().rev();
    let answered = answered.find(|answered| answered.no.id == id)?;
    Some(&answered.answer)
}

/// Findings, and ids of rejections, that a prompt of the role shows in a part of its own: the brief
/// need not say them again.
pub fn findings_shown(role: Role, snapshot: &Snapshot) -> Vec<String> {
    let mut shown = match role {
        Role::Bootstrapper | Role::StopJudge => Vec::new(),
        _ => must_fix(snapshot).to_vec(),
    };
    if role != Role::Regrounder {
        shown.extend(list_ids_taken_up(snapshot));
    }
    if matches!(role, Role::Reviewer | Role::Auditor)
        && let Some(ledger) = active_ledger(snapshot)
    {
        shown.extend(ledger.fixed.iter().cloned());
        shown.extend(review_id(ledger));
    }
    if role == Role::Regrounder
        && let Some(ledger) =
            active_ledger(snapshot).filter(|it| answer_to(snapshot, Some(it)).is_some())
    {
        shown.extend(review_id(ledger));
    }
    if matches!(role, Role::Regrounder | Role::Auditor) {
        let open = snapshot.plan.open_slices();
        shown.extend(open.flat_map(|slice| slice.must_fix_findings.iter().flatten().cloned()));
    }
    shown
}

pub(super) fn must_fix(snapshot: &Snapshot) -> &[String] {
    let handoff = snapshot.active.handoff.as_ref();
    handoff.map_or(&[], |handoff| &handoff.must_fix_findings)
}

fn latest_commit(snapshot: &Snapshot) -> Option<&str> {
    let id = snapshot.state.latest_completed_slice.as_ref()?;
    snapshot.ledger.slices.get(id)?.last_head.as_deref()
}

fn active_ledger(snapshot: &Snapshot) -> Option<&SliceLedger> {
    snapshot.ledger.slices.get(snapshot.find_slice_in_work()?)
}
