//! The parts of the log that a role decides on: for each role and rule, the reports, answers and rejections that
//! its own report is checked against. `crates/protocol/tests/exploration/prompts.rs` compares them with what the
//! machine reads.

use super::prompt_slices::{
    PLAN, REPORTS, ROOM, ROOM_TO_PLAN, active_text, audit_text, fill_room, find_rule,
    is_of_this_commit, list_earlier_notes, list_fixes, list_other_claims, list_other_notes,
    may_select, plan_text, rejection, review_id, review_text, standing_review, vote,
};
use super::quote::{MAX_PART_CHARS, Quoted, cut, fit};
use crate::diagnostic::without_attribution;
use crate::machine::{
    Rule, Selection, current_review, find_audit_to_answer, list_left_if_cancelled, list_owed,
    new_answer, open_audit,
};
use crate::prelude::*;

/// The parts of a role's prompt, in order.
pub(super) fn parts(input: &PromptInput) -> Parts {
    let mut parts = Parts::default();
    match input.role {
        Role::Bootstrapper => {}
        Role::Regrounder => regrounder(input, &mut parts),
        Role::Implementer => implementer(input, &mut parts),
        Role::Reviewer => reviewer(input, &mut parts),
        Role::Auditor => auditor(input, &mut parts),
        Role::StopJudge => judge(input, &mut parts),
    }
    let findings = input.list_other_findings().map(finding);
    parts.list("What cook found:", findings.collect());
    parts.add(BRIEF, cooks_own(input.brief));
    parts.add("The repository:", cooks_own(input.context));
    parts
}

const BRIEF: &str =
    "What the brief says besides (`cook brief check` tells which of its anchors hold):";
const ANSWERS: &str = "What the user said; it binds as the criteria do:";
const ADVICE: &str = "What the last re-ground says to the roles after it:";
const EARLIER_AUDIT: &str = "The audit before that one:";
const AUDIT_OF_COMMIT: &str =
    "The slice's last audit; the user's words or changes since then make a new one due:";
const AUDIT_OF_BEFORE: &str = "An earlier audit of the slice, which nothing answers yet:";
const OPEN_AUDIT: &str = "The last audit of the project, of an earlier commit:";
const AUDIT_BEFORE: &str = "The last audit of the project, of an earlier commit. Yours replaces it: repeat its points that still hold, because omitted ones count as settled:";
const ANSWER_TO_REVIEW: &str = "What was answered to it:";
const REVIEW: &str = "The review of its commit:";
const REOPENED_REVIEW: &str = "The review of its last commit, which a re-ground reopened:";
const VOID_REVIEW: &str =
    "A review that no longer counts: its commit, the criteria or the user's words have changed:";

fn regrounder(input: &PromptInput, parts: &mut Parts) {
    let snapshot = input.snapshot;
    let ledger = &snapshot.ledger;
    let active = active_ledger(snapshot);
    let is_end = input.rule == Rule::Conclude.id();
    let voided = answer_to(snapshot, active);
    // The project's audit may be answered at any time, a slice's when the slice is reconciled.
    let audit_owed = match input.rule == Rule::Reconcile.id() {
        true => find_audit_to_answer(snapshot),
        false => open_audit(snapshot),
    };
    let audit_owed = audit_owed.as_ref();
    let rejections = match is_end {
        // `conclude` answers the rejections of the wave.
        true => ledger.unanswered.clone(),
        false => list_owed(snapshot),
    };
    let left = list_left_if_cancelled(snapshot);
    let left = left.iter().map(|no| cut(&rejection(no), LEFT, PLAN));
    let votes = ledger.wave.votes.iter().filter(|_| is_end);
    let red = ledger.room.iter().flat_map(|room| room.red.clone());
    let selection = may_select(input.rule, snapshot).then_some((input.rule, input.selection));
    let review_title = match current_review(snapshot) {
        Some(_) => REVIEW,
        None => VOID_REVIEW,
    };
    let review = active.and_then(|slice| slice.review.as_deref());
    let is_sent_back = |slice: &&SliceLedger| voided.is_some() || slice.find_unheard_no().is_some();
    let before = active.filter(is_sent_back);
    let before = before.and_then(|slice| slice.sent_back.as_deref());
    let audit = active.and_then(|slice| slice.audit.as_deref());
    // An audit that is in order is not read again.
    let rejects = |audit: &&AuditNote| audit.rejects_with(&snapshot.plan);
    let earlier = active.and_then(|slice| slice.earlier_audit.as_deref());
    let earlier = earlier.filter(rejects);
    let returned = ledger.returned.as_deref();
    let last_answer = new_answer(ledger);
    parts.add(ANSWERS, answers(&ledger.answers));
    parts.line(LAST_ANSWER, last_answer.as_deref());
    parts.section(ADVICE, ledger.advice.as_deref().unwrap_or_default());
    parts.line("Given back by the implementer:", returned);
    let head = active.and_then(|slice| slice.head.as_deref());
    let room = match find_rule(input.rule) {
        Some(Rule::Recover | Rule::Select) => ROOM_TO_PLAN,
        _ => ROOM,
    };
    parts.section("The plan:", &plan_text(snapshot, selection, room));
    parts.section("The slice in work:", &active_text(snapshot));
    parts.list(OWN_COMMITS, list_other_claims(active));
    parts.section(review_title, &review_text(review, &[], head));
    parts.section(REVIEW_BEFORE, &review_text(before, &[], head));
    parts.line(ANSWER_TO_REVIEW, voided);
    let standing = ledger.open_audit.as_deref().filter(rejects);
    parts.section("The audit after it:", &audit_text(audit, audit_owed, head));
    parts.section(OPEN_AUDIT, &audit_text(standing, audit_owed, head));
    parts.section(EARLIER_AUDIT, &audit_text(earlier, None, head));
    parts.line(RISKS, active.and_then(|slice| slice.remarked.as_deref()));
    parts.list(OWED, rejections.iter().map(rejection).collect());
    parts.list(LEFT_IF_CANCELLED, left.collect());
    parts.list("The votes of this wave:", votes.map(vote).collect());
    parts.list("The gates at HEAD in a clean room:", red.collect());
    let opened = is_end.then(|| Quoted::word(&ledger.wave.opened.0.to_string()));
    parts.add("Waves held at this HEAD (at most 2):", opened);
    parts.list(RELEASE_BLOCKERS, snapshot.state.release_blocker_ids.clone());
    parts.list(GAPS, ledger.high_value_gaps.clone());
    parts.list(AMENDED, amendments(snapshot));
    parts.list(REMARKS, remarks(snapshot));
}

const LAST_ANSWER: &str = "The user's last answer, new since the last re-ground:";
const OWN_COMMITS: &str = "Commits of its own that are reported:";
const REVIEW_BEFORE: &str = "The review before this one:";
const RISKS: &str = "What its implementer says of the plan and of risks:";
const OWED: &str = "Rejections that wait for an answer in `answers`:";
const LEFT_IF_CANCELLED: &str =
    "If the slices that these rest on are cancelled, say in `answers` what becomes of each:";
const RELEASE_BLOCKERS: &str = "Release blockers of the last re-ground (they stay until `release_blocker_ids` names others; `[]` takes them back):";
const GAPS: &str = "High-value gaps of the last re-ground (they stay until `high_value_gaps` names others; `[]` takes them back):";
const AMENDED: &str = "Criteria the user amended:";

/// Maximum bytes of each: the plan holds the rest among the required fixes and the user's words.
const LEFT: usize = 160;

const REMARKS: &str = "Reduced or extra work (judge whether each is right):";

fn implementer(input: &PromptInput, parts: &mut Parts) {
    let snapshot = input.snapshot;
    let ledger = active_ledger(snapshot);
    let must = must_fix(snapshot);
    let review = ledger.and_then(standing_review);
    let review_title = match review {
        Some(review) if !review.rejects() => REOPENED_REVIEW,
        _ => "The review that sent it back:",
    };
    let earlier = ledger.map_or_else(Vec::new, |slice| list_earlier_notes(slice, must));
    let checked = ledger.filter(|_| !must.is_empty());
    let checked = checked.and_then(|slice| slice.checked.as_deref());
    let advice = snapshot.ledger.advice.as_deref().unwrap_or_default();
    let head = ledger.and_then(|slice| slice.head.as_deref());
    let last = ledger.and_then(|slice| slice.reported.as_deref());
    let last = last.filter(|_| head.is_none());
    parts.section("The exact handoff:", &active_text(snapshot));
    parts.add(ANSWERS, answers(&snapshot.ledger.answers));
    parts.section(review_title, &review_text(review, must, head));
    parts.list(TAKEN_UP, list_taken_up(snapshot));
    parts.list("What earlier attempts said about their fixes:", earlier);
    parts.line("What the last attempt said its checks showed:", checked);
    parts.section(ADVICE, advice);
    parts.line(
        "What its reports said of the plan and of risks:",
        ledger.and_then(|slice| slice.remarked.as_deref()),
    );
    parts.line("Its commit that was reported last:", last);
    parts.list(OWN_COMMITS, list_other_claims(ledger));
    parts.list(AMENDED, amendments(snapshot));
}

fn reviewer(input: &PromptInput, parts: &mut Parts) {
    let snapshot = input.snapshot;
    describe_committed(snapshot, parts);
    let title = "The other slices:";
    parts.list(title, other_slices(snapshot));
    parts.list(AMENDED, amendments(snapshot));
    parts.list(REMARKS, remarks(snapshot));
}

fn auditor(input: &PromptInput, parts: &mut Parts) {
    let snapshot = input.snapshot;
    describe_committed(snapshot, parts);
    let before = snapshot.ledger.open_audit.as_deref();
    let before = before.filter(|audit| audit.rejects_with(&snapshot.plan));
    parts.section(AUDIT_BEFORE, &audit_text(before, None, None));
    parts.section("The plan:", &plan_text(snapshot, None, ROOM));
    parts.list(AMENDED, amendments(snapshot));
    parts.list(REMARKS, remarks(snapshot));
}

/// The parts about a committed slice, for its reviewer and its auditor.
fn describe_committed(snapshot: &Snapshot, parts: &mut Parts) {
    let ledger = active_ledger(snapshot);
    // A review of this commit, given before an answer of the user or other criteria.
    let void = ledger.and_then(|slice| slice.review.as_deref());
    let void = void.filter(|_| current_review(snapshot).is_none());
    let before = void.or(ledger.and_then(|slice| slice.sent_back.as_deref()));
    let fixed = ledger.map_or(&[][..], |slice| &slice.fixed);
    let rejects = |audit: &&AuditNote| audit.rejects_with(&snapshot.plan);
    let audit = ledger
        .and_then(|slice| slice.audit.as_deref())
        .filter(rejects);
    let earlier = ledger.and_then(|slice| slice.earlier_audit.as_deref());
    let earlier = earlier.filter(rejects);
    let head = ledger.and_then(|slice| slice.head.as_deref());
    let fixes_title = match ledger.is_some_and(is_of_this_commit) {
        true => "What this commit had to fix, or what was said of it from that review on:",
        false => "What this attempt had to fix:",
    };
    let fixes = ledger.map_or_else(Vec::new, |slice| fit(&list_fixes(slice), REPORTS));
    let others = ledger.map_or_else(Vec::new, list_other_notes);
    parts.section("The slice, committed:", &active_text(snapshot));
    parts.add(ANSWERS, answers(&snapshot.ledger.answers));
    parts.list(TAKEN_UP, list_taken_up(snapshot));
    parts.section(REVIEW_BEFORE, &review_text(before, fixed, head));
    parts.line(ANSWER_TO_REVIEW, answer_to(snapshot, ledger));
    parts.section(AUDIT_OF_COMMIT, &audit_text(audit, None, head));
    parts.section(AUDIT_OF_BEFORE, &audit_text(earlier, None, head));
    parts.list(fixes_title, fixes);
    parts.list("What else its implementer says of that:", others);
    parts.line(RISKS, ledger.and_then(|slice| slice.remarked.as_deref()));
    parts.section(
        ADVICE,
        snapshot.ledger.advice.as_deref().unwrap_or_default(),
    );
}

/// The parts of a judge's prompt, which shows no other judge's vote and no advice.
fn judge(input: &PromptInput, parts: &mut Parts) {
    let snapshot = input.snapshot;
    let ledger = &snapshot.ledger;
    let answered = ledger.answered_rejections.iter().map(tell_answered);
    let open = ledger.unanswered.iter().map(rejection);
    parts.add(ANSWERS, answers(&ledger.answers));
    parts.list("The slices:", fit(&slices(snapshot), PLAN));
    parts.line(
        "The latest completed slice's commit:",
        latest_commit(snapshot),
    );
    parts.list(
        "Rejections of earlier waves, of reviews and audits, with what was done about each:",
        answered.collect(),
    );
    parts.list(
        "Rejections of earlier waves that wait for an answer:",
        open.collect(),
    );
    parts.list(AMENDED, amendments(snapshot));
    parts.list(REMARKS, remarks(snapshot));
}

fn answer_to<'a>(snapshot: &'a Snapshot, ledger: Option<&SliceLedger>) -> Option<&'a str> {
    let id = review_id(ledger?)?;
    let mut answered = snapshot.ledger.answered_rejections.iter().rev();
    let answered = answered.find(|answered| answered.no.id == id)?;
    Some(&answered.answer)
}

/// Findings, and ids of rejections, that the role's prompt shows in a part of its own, so that the brief need not
/// repeat them.
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
    snapshot.find_ledger(id)?.last_head.as_deref()
}

fn active_ledger(snapshot: &Snapshot) -> Option<&SliceLedger> {
    snapshot.find_ledger(snapshot.find_slice_in_work()?)
}

/// The input of a prompt.
#[derive(Debug, Clone, Copy)]
pub struct PromptInput<'a> {
    /// The role that the prompt is for.
    pub role: Role,
    /// The documents of the log's tip, as a report finds them.
    pub snapshot: &'a Snapshot,
    /// The dispatch rule that fired: `1` to `9`.
    pub rule: &'a str,
    /// What the role must do.
    pub action: &'a str,
    /// Why the role is due.
    pub reason: &'a str,
    /// cook's findings in the repository.
    pub findings: &'a [Finding],
    /// What prevents a selection in the repository.
    pub selection: &'a Selection,
    /// Whatever the caller adds, such as diffs, receipts and verdicts. Shown in one fence.
    pub context: &'a str,
    /// The continuation brief, as `cook brief` prints it. Shown in one fence.
    pub brief: &'a str,
}

impl<'a> PromptInput<'a> {
    /// The findings that are not part of the reason, with which the prompt begins.
    fn list_other_findings(&self) -> impl Iterator<Item = &'a Finding> {
        let reason = self.reason;
        let is_whole = reason.len() <= MAX_PART_CHARS;
        let findings = self.findings.iter();
        findings.filter(move |finding| !(is_whole && reason.contains(&*finding.message)))
    }
}

// The content of a part of a prompt: a line, a section or a list.

/// Parts of a prompt, each below a title of cook's own; an empty one is left out. Roles' words are put in lines,
/// sections and lists, so that none of them reads as words of the user that cook wrote down.
#[derive(Default)]
pub(super) struct Parts(pub(super) Vec<(&'static str, Quoted)>);

impl Parts {
    pub(super) fn add(&mut self, title: &'static str, part: Option<Quoted>) {
        self.0.extend(part.map(|part| (title, part)));
    }

    pub(super) fn line(&mut self, title: &'static str, text: Option<&str>) {
        let text = text.filter(|text| !text.trim().is_empty());
        self.add(
            title,
            text.map(|text| Quoted::line(&without_attribution(text))),
        );
    }

    pub(super) fn section(&mut self, title: &'static str, text: &str) {
        self.add(title, cooks_own(&without_attribution(text)));
    }

    pub(super) fn list(&mut self, title: &'static str, items: Vec<String>) {
        let shown = items.iter().map(|item| without_attribution(item));
        self.add(title, (!items.is_empty()).then(|| Quoted::list(shown)));
    }
}

/// Text that cook has put together, which may hold anchors of the user's words.
fn cooks_own(text: &str) -> Option<Quoted> {
    (!text.trim().is_empty()).then(|| Quoted::section(text))
}

pub(super) fn answers(answers: &[UserAnswer]) -> Option<Quoted> {
    let concerns = |answer: &UserAnswer| match answer.slices.is_empty() {
        true => String::new(),
        false => format!(" (of {})", answer.slices.join(", ")),
    };
    let items = answers.iter().map(|answer| {
        // The question is a role's text.
        let shown = UserAnswer {
            question: without_attribution(&answer.question),
            ..answer.clone()
        };
        let text = format!("{}{}", shown.note(), concerns(answer));
        (text, format!("cook log {}", answer.seq.0))
    });
    (!answers.is_empty()).then(|| Quoted::items(items))
}

/// A rejection with its answer.
fn tell_answered(answered: &AnsweredRejection) -> String {
    format!("{}; answer: {}", rejection(&answered.no), answered.answer)
}

const TAKEN_UP: &str = "Rejections that this slice takes up, with what was answered to each:";

/// Rejections that were answered with the slice in work, which must fix what they name.
fn list_taken_up(snapshot: &Snapshot) -> Vec<String> {
    let told: Vec<String> = find_taken_up(snapshot).map(tell_answered).collect();
    fit(&told, REPORTS)
}

fn list_ids_taken_up(snapshot: &Snapshot) -> Vec<String> {
    let ids = find_taken_up(snapshot).map(|answered| answered.no.id.clone());
    ids.collect()
}

fn find_taken_up(snapshot: &Snapshot) -> impl Iterator<Item = &AnsweredRejection> {
    let slice = snapshot.find_slice_in_work();
    let answered = snapshot.ledger.answered_rejections.iter();
    answered.filter(move |it| it.slices.iter().any(|id| Some(id.as_str()) == slice))
}

pub(super) fn slices(snapshot: &Snapshot) -> Vec<String> {
    let slices = snapshot.plan.candidate_slices.iter();
    slices
        .map(|slice| {
            let known = snapshot.find_ledger(&slice.slice_id);
            let head = known.and_then(|slice| slice.head.as_ref().or(slice.last_head.as_ref()));
            format!(
                "`{}` ({}{}): {}",
                slice.slice_id,
                slice.status.id(),
                head.map_or_else(String::new, |head| format!(", commit {head}")),
                slice.goal
            )
        })
        .collect()
}

/// The other open slices, one on each line, for a role that looks at one slice alone.
fn other_slices(snapshot: &Snapshot) -> Vec<String> {
    let in_work = snapshot.find_slice_in_work();
    let open = snapshot.plan.open_slices();
    let others = open.filter(|slice| Some(slice.slice_id.as_str()) != in_work);
    let lines = others.map(|slice| {
        let criteria = slice.acceptance_criteria.join("; ");
        let line = format!("`{}`: {}: {criteria}", slice.slice_id, slice.goal);
        cut(&line, OTHER, PLAN)
    });
    let lines: Vec<String> = lines.collect();
    let (mut shown, left) = fill_room(lines, ROOM_FOR_OTHERS);
    if left > 0 {
        let left = count_noun(left, "more open slice");
        shown.push(format!("{left} ({PLAN})"));
    }
    shown
}

/// Maximum bytes of each other slice, and of all of them.
const OTHER: usize = 300;
const ROOM_FOR_OTHERS: usize = 600;

pub(super) fn amendments(snapshot: &Snapshot) -> Vec<String> {
    let amendments = snapshot.ledger.amendments.iter();
    amendments
        .map(|amendment| {
            format!(
                "`{}`: was \"{}\", is \"{}\", because {}",
                amendment.slice_id, amendment.old, amendment.new, amendment.reason
            )
        })
        .collect()
}

pub(super) fn remarks(snapshot: &Snapshot) -> Vec<String> {
    let remarks = snapshot.ledger.remarks.iter();
    let remarks: Vec<String> = remarks
        .map(|remark| match remark.slice_id.as_str() {
            "" => format!("`{}`: {}", remark.code, remark.what),
            id => format!("`{}` (slice `{id}`): {}", remark.code, remark.what),
        })
        .collect();
    fit(&remarks, "`cook log` and `cook log N` name them")
}

pub(super) fn finding(finding: &Finding) -> String {
    let place = finding.place.as_deref();
    let place = place.map_or_else(String::new, |place| format!(" ({place})"));
    format!("`{}`: {}{place}", finding.code, finding.message)
}
