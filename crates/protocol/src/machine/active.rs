//! The slice in work: its document, the fixes required of its next attempt, and the case that its commit left
//! HEAD.

use super::facts::Facts;
use super::wave::{add_new, list_requests};
use super::work::{Work, attach};
use super::{slices, user_answers, wave};
use crate::model::{FixNote, Handoff};
use crate::prelude::*;
use crate::question::Question;
use crate::report::{fixes, return_reason};
use std::borrow::Cow;

// The active document is a copy of its plan entry; a reopened slice comes back into it.

impl Work<'_> {
    /// The id of the active slice, if it is in work.
    pub fn active_id(&self) -> Option<String> {
        self.next
            .is_in_work()
            .then(|| self.next.active.slice_id.clone())
            .flatten()
    }

    /// Copies the plan entry into the active document again.
    pub fn sync_handoff(&mut self) {
        let Some(id) = self.active_id() else {
            return;
        };
        let status = self.next.active.status;
        if let Some(slice) = self.next.plan.slice(&id) {
            self.next.active = active_from(slice, status, &self.next.state.mission_anchor);
        }
    }

    /// Leaves no slice active.
    pub fn go_idle(&mut self) {
        self.next.active = ActiveSlice::idle(&self.next.state.mission_anchor);
    }

    /// Reopens a slice: `in_progress` if it is the active one, otherwise `planned`. Writes the record, and adds
    /// the required fixes to the plan.
    pub fn reopen(&mut self, id: &str, findings: Vec<String>, submission: Option<&Submission>) {
        let active = self.active_id().as_deref() == Some(id);
        let was_last = self.next.active.slice_id.as_deref() == Some(id) && !active;
        let fallback = self
            .next
            .plan
            .slice(id)
            .and_then(|slice| slice.basis_commit.clone())
            .or_else(|| self.next_head())
            .unwrap_or_else(|| "unborn".to_owned());
        // The next attempt is shown this review, whoever makes it.
        let review = self.ledger(id).review.clone();
        self.keep_no(id);
        let mut must = self.take_review(id);
        wave::add_new(&mut must, findings);
        self.keep_audit(id);
        let ledger = self.ledger(id);
        ledger.sent_back = review.or(ledger.sent_back.take());
        let commit = ledger
            .head
            .take()
            .or_else(|| ledger.last_head.clone())
            .unwrap_or(fallback);
        ledger.last_head = Some(commit.clone());
        let said = std::mem::take(&mut ledger.fixes);
        if !said.is_empty() {
            ledger.fixes_before = said;
        }
        ledger.offered.clear();
        ledger.offered_by = None;
        ledger.receipts.clear();
        ledger.head_tree = None;
        ledger.holds = None;
        // The work so far stays the slice's: its next commit comes after the same basis.
        if let Some(accepted) = ledger.accepted.take() {
            ledger.basis = Some(accepted.basis);
        }
        let record = self.slice_record(SliceRecordType::Reopened, id, &commit);
        record.findings = Some(must.clone());
        if let Some(submission) = submission {
            attach(record, submission);
        }
        self.must_fix(id, must);
        if let Some(slice) = self.next.plan.slice_mut(id) {
            slice.status = if active {
                SliceStatus::InProgress
            } else {
                SliceStatus::Planned
            };
        }
        user_answers::note(self);
        if active {
            self.next.active.status = ActiveStatus::InProgress;
            self.sync_handoff();
        } else if was_last {
            self.go_idle();
        }
    }

    /// Voids the audit. What it names is shown until the slice is reconciled.
    pub fn set_audit_aside(&mut self, id: &str) {
        let ledger = self.ledger(id);
        let Some(audit) = ledger.audit.take().filter(|audit| audit.names_something()) else {
            return;
        };
        if let Some(earlier) = ledger.earlier_audit.replace(audit.clone()) {
            wave::follow_audit(&mut self.next, &earlier, &audit);
        }
    }

    /// Keeps the last audit of a slice that is closed or reopened as the open audit of the project, if it names
    /// something. It settles the audits before it.
    pub fn keep_audit(&mut self, id: &str) {
        let ledger = self.ledger(id);
        let audits = [ledger.earlier_audit.take(), ledger.audit.take()];
        for audit in audits.into_iter().flatten() {
            if let Some(earlier) = self.next.ledger.open_audit.take() {
                wave::follow_audit(&mut self.next, &earlier, &audit);
            }
            let kept = Some(audit).filter(|audit| audit.names_something());
            self.next.ledger.open_audit = kept;
        }
    }

    /// Keeps a review's no to an earlier commit of the slice on record when a later yes is acted on: the judges
    /// read it and its outcome. A no for which a re-ground sent the slice back is in the slice's history already.
    pub fn keep_no(&mut self, id: &str) {
        let ledger = self.ledger(id);
        let yes = ledger.review.as_deref().filter(|review| !review.rejects());
        let no = ledger.find_unheard_no();
        let (Some(yes), Some(no)) = (yes.map(wave::review_blocker), no.map(wave::review_blocker))
        else {
            return;
        };
        let answered = &mut self.next.ledger.answered_rejections;
        if answered.iter().all(|known| known.no.id != no.id) {
            let answer = format!("{} came after it and says yes", yes.id);
            answered.push(AnsweredRejection::new(no, answer));
        }
    }

    /// Removes the slice's review and returns what is still to be fixed: the review's requests if it said no, or
    /// the required fixes of the attempt if no review has seen it. A no is kept for the next reviewer.
    pub fn take_review(&mut self, id: &str) -> Vec<String> {
        let ledger = self.ledger(id);
        let fixed = std::mem::take(&mut ledger.fixed);
        match ledger.review.take() {
            None => fixed,
            Some(review) if review.rejects() => {
                let asked = list_requests(&review);
                ledger.sent_back = Some(review);
                asked
            }
            Some(_) => Vec::new(),
        }
    }

    /// Voids the review, and adds its requests to the fixes required of the attempt.
    pub fn void_review(&mut self, id: &str) {
        let mut fixed = self.ledger(id).fixed.clone();
        add_new(&mut fixed, self.take_review(id));
        self.ledger(id).fixed = fixed;
    }

    /// Keeps the report's answers to the required fixes. Earlier answers stay until a new one replaces them, if no
    /// review has seen their attempt because its gates were red.
    pub fn note_fixes(&mut self, id: &str, report: &ReportRecord) {
        let slice = self.next.plan.slice(id);
        let must = slice.and_then(|slice| slice.must_fix_findings.clone());
        let must = must.unwrap_or_default();
        let said = fixes(report).into_iter().map(|(number, did)| {
            let named = number.and_then(|number| must.get(number.checked_sub(1)?));
            match (named, number) {
                (None, Some(number)) => FixNote {
                    what: None,
                    did: format!("{number}: {did}"),
                },
                (named, _) => FixNote {
                    what: named.cloned(),
                    did,
                },
            }
        });
        let said: Vec<FixNote> = said.collect();
        let ledger = self.ledger(id);
        let is_seen = ledger.review.is_some();
        ledger.fixes.retain(|note| {
            let is_due = note.what.as_ref().is_some_and(|what| must.contains(what));
            is_due && !is_seen && said.iter().all(|new| new.what != note.what)
        });
        ledger.fixes.extend(said);
    }

    /// Keeps the report's words on the plan and on risks, added to those of earlier reports: nothing is decided on
    /// them before the slice is accepted.
    pub fn note_remarks(&mut self, id: &str, report: &ReportRecord) {
        let Some(said) = return_reason(report) else {
            return;
        };
        let remarked = &mut self.ledger(id).remarked;
        *remarked = Some(match remarked.take() {
            Some(before) if is_among(&said, &before) => before,
            Some(before) => format!("{before}\n{said}"),
            None => said,
        });
    }

    /// Adds to the required fixes of the slice's next attempt. They add up until a review has seen an attempt; a
    /// review that says no adds its requests.
    pub fn must_fix(&mut self, id: &str, more: Vec<String>) {
        if let Some(slice) = self.next.plan.slice_mut(id) {
            add_new(slice.must_fix_findings.get_or_insert_default(), more);
        }
    }
}

/// Builds the active document from a plan entry.
pub(super) fn active_from(slice: &Slice, status: ActiveStatus, anchor: &str) -> ActiveSlice {
    ActiveSlice {
        schema_version: SchemaVersion,
        revision: None,
        status,
        slice_id: Some(slice.slice_id.clone()),
        goal: Some(slice.goal.clone()),
        contract_ids: slice.contract_ids.clone(),
        mission_anchor: anchor.to_owned(),
        handoff: Some(Handoff {
            acceptance_criteria: slice.acceptance_criteria.clone(),
            priority: slice.priority.clone(),
            why_now: slice.why_now.clone(),
            blocked_on: slice.blocked_on.clone(),
            locked_notes: slice.locked_notes.clone().unwrap_or_default(),
            must_fix_findings: slice.must_fix_findings.clone().unwrap_or_default(),
            basis_commit: slice.basis_commit.clone().unwrap_or_default(),
            remaining_contract_ids_before: slice
                .remaining_contract_ids_before
                .clone()
                .unwrap_or_default(),
            release_blocker_count_before: slice.release_blocker_count_before.unwrap_or_default(),
            high_value_gap_count_before: slice.high_value_gap_count_before.unwrap_or_default(),
            implementation_surfaces: slice.implementation_surfaces.clone(),
            verification_commands: slice.verification_commands.clone(),
        }),
    }
}

/// Whether `text` occurs in `other` as whole lines.
fn is_among(text: &str, other: &str) -> bool {
    format!("\n{other}\n").contains(&format!("\n{text}\n"))
}

// A committed slice whose commit left HEAD: if HEAD has the same tree, the slice continues there; otherwise its
// work is reported again.

/// Returns the state moved to HEAD if the commit of the committed slice left HEAD and HEAD has the same tree,
/// which review and audit have seen; otherwise the state as it is. `facts` are those that a rule decided by.
pub fn follow<'a>(snapshot: &'a Snapshot, facts: &Facts) -> Cow<'a, Snapshot> {
    match follow_to(snapshot, facts) {
        Ok(Some((next, _))) => Cow::Owned(next),
        _ => Cow::Borrowed(snapshot),
    }
}

/// Like [`follow`], with a finding for the reader; `None` if nothing changes.
pub(super) fn follow_to(
    snapshot: &Snapshot,
    facts: &Facts,
) -> Result<Option<(Snapshot, Finding)>, Refusal> {
    let active = &snapshot.active;
    let id = active.slice_id.as_ref();
    let ledger = id.and_then(|id| snapshot.find_ledger(id));
    let from = ledger.and_then(|ledger| ledger.head.as_ref());
    let (Some(id), Some(ledger), Some(from), Some(handoff)) = (id, ledger, from, &active.handoff)
    else {
        return Ok(None);
    };
    let basis = &handoff.basis_commit;
    if active.status != ActiveStatus::Committed {
        return Ok(None);
    }
    facts.ask(Question::OnHead(from.clone()))?;
    if facts.on_head.get(from) != Some(&false) {
        return Ok(None);
    }
    facts.ask(Question::Head)?;
    facts.ask(Question::Range(basis.clone()))?;
    let now = facts.head.as_ref().filter(|now| {
        // Review and audit looked at this tree.
        ledger.head_tree.is_some() && ledger.head_tree == now.tree
    });
    let head = now.and_then(|now| now.commit.as_ref());
    let range = facts.ranges.get(basis);
    let range = range.filter(|range| range.ancestor || range.merge_base.is_some());
    let (Some(head), Some(range)) = (head, range) else {
        return Ok(None);
    };
    let (from, basis) = (
        from.clone(),
        range.merge_base.clone().unwrap_or(basis.clone()),
    );
    let finding = finding!(
        Code::Rebound,
        "its commit {} is no longer on HEAD, but HEAD ({}) has the same tree",
        short(&from),
        short(head)
    )
    .at(id.clone());
    let mut next = snapshot.clone();
    if let Some(ledger) = next.ledger.slices.get_mut(id) {
        let ledger = &mut **ledger;
        let review = ledger.review.as_mut().map(|review| &mut review.commit);
        let audit = ledger.audit.as_mut().map(|audit| &mut audit.commit);
        let heads = ledger.head.as_mut().into_iter().chain(&mut ledger.reported);
        for commit in heads.chain(review).chain(audit) {
            if *commit == from {
                commit.clone_from(head);
            }
        }
        ledger.basis = Some(basis.clone());
        // The same tree needs no second report, however many commits it consists of now.
        let own = range
            .commits
            .iter()
            .filter(|commit| commit.slice.as_ref() == Some(id));
        ledger.claimed.extend(own.map(|commit| commit.id.clone()));
        ledger.claimed.push(head.clone());
    }
    if let Some(slice) = next.plan.slice_mut(id) {
        slice.basis_commit = Some(basis.clone());
    }
    if let Some(handoff) = &mut next.active.handoff {
        handoff.basis_commit = basis;
    }
    Ok(Some((next, finding)))
}

/// Adjusts the facts to the state that [`follow`] returns.
pub(super) fn follow_facts(facts: &Facts, before: &Snapshot, next: &Snapshot) -> Facts {
    let mut facts = facts.clone();
    let of = |snapshot: &Snapshot| {
        let handoff = snapshot.active.handoff.as_ref();
        handoff.map(|handoff| handoff.basis_commit.clone())
    };
    if let (Some(was), Some(is)) = (of(before), of(next))
        && let Some(mut range) = facts.ranges.get(&was).cloned()
    {
        (range.resolves, range.ancestor, range.merge_base) = (true, true, None);
        facts.ranges.insert(is, range);
    }
    let head = facts.head.as_ref().and_then(|head| head.commit.clone());
    facts.on_head.extend(head.map(|head| (head, true)));
    facts
}

/// Whether the committed slice's commit is not on HEAD.
pub(super) fn has_vanished(work: &Work) -> Result<bool, Refusal> {
    if work.next.active.status != ActiveStatus::Committed {
        return Ok(false);
    }
    let id = work.next.active.slice_id.as_ref();
    let ledger = id.and_then(|id| work.before.find_ledger(id));
    match ledger.and_then(|ledger| ledger.head.as_ref()) {
        Some(head) => Ok(!work.facts.on_head(head)?),
        None => Ok(true),
    }
}

/// Requires the fixes of the commit again, and keeps a review's no. A commit that was not rejected may be reported
/// again once it is back.
pub(super) fn take_commit_away(work: &mut Work, id: &str) {
    let mut must = work.ledger(id).fixed.clone();
    let is_rejected = slices::rejection(&work.next).is_some();
    wave::add_new(&mut must, work.take_review(id));
    work.set_audit_aside(id);
    let ledger = work.ledger(id);
    let head = ledger.head.take();
    ledger.last_head = head.filter(|_| is_rejected || must.is_empty());
    ledger.head_tree = None;
    ledger.receipts.clear();
    work.must_fix(id, must);
    work.next.active.status = ActiveStatus::InProgress;
}

/// Puts the slice back in progress if its commit left HEAD. Under rule 4 its other commits are to be reported.
pub(super) fn take_vanished_away(work: &mut Work) -> Result<(), Refusal> {
    if !has_vanished(work)? {
        return Ok(());
    }
    let Some(id) = work.active_id() else {
        return Ok(());
    };
    take_commit_away(work, &id);
    if let Some(slice) = work.next.plan.slice_mut(&id) {
        slice.status = SliceStatus::InProgress;
    }
    work.sync_handoff();
    Ok(())
}
