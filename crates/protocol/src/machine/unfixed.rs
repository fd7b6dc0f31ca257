//! What the next attempt at a slice must fix. It adds up until a review has seen an attempt, and a
//! review that says no adds what it asks for.

use super::asked::{add_new, list_requests};
use super::wave;
use super::work::Work;
use crate::model::{AnsweredRejection, AuditNote, FixNote, ReportRecord};
use crate::report::{fixes, return_reason};

impl Work<'_> {
    /// The audit no longer counts; what it names is shown until the slice is reconciled.
    pub fn set_audit_aside(&mut self, id: &str) {
        let ledger = self.ledger(id);
        let Some(audit) = ledger.audit.take().filter(AuditNote::names_something) else {
            return;
        };
        if let Some(earlier) = ledger.earlier_audit.replace(audit.clone()) {
            wave::follow_audit(&mut self.next, &earlier, &audit);
        }
    }

    /// The slice is closed or taken up again; what its last audit says of the project stays, and what
    /// those before it said is settled by it.
    pub fn keep_audit(&mut self, id: &str) {
        let ledger = self.ledger(id);
        let audits = [ledger.earlier_audit.take(), ledger.audit.take()];
        for audit in audits.into_iter().flatten() {
            if let Some(earlier) = self.next.ledger.open_audit.take() {
                wave::follow_audit(&mut self.next, &earlier, &audit);
            }
            let kept = Some(audit).filter(AuditNote::names_something);
            self.next.ledger.open_audit = kept;
        }
    }

    /// A review's no to what the slice was before stays on record when a later yes is acted on: the judges read
    /// it, with what became of it. What a re-ground sent back stands in the slice's history.
    pub fn keep_no(&mut self, id: &str) {
        let ledger = self.ledger(id);
        let yes = ledger.review.as_ref().filter(|review| !review.rejects());
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

    /// Takes a slice's review away, and gives what is still to be fixed: what it asked for when it
    /// said no, or what the attempt had to fix when none has seen it. A no is shown to the next
    /// reviewer.
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

    /// Keeps what a report says of the things that its attempt had to fix. What an attempt with red
    /// gates said holds until one says otherwise: no review has seen it.
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

    /// Keeps what a report says of the plan and of risks, beside what those before it said: nobody has
    /// decided on that before the slice is accepted.
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

    /// Adds to what the next attempt at a slice must fix.
    pub fn must_fix(&mut self, id: &str, more: Vec<String>) {
        if let Some(slice) = self.next.plan.slice_mut(id) {
            add_new(slice.must_fix_findings.get_or_insert_default(), more);
        }
    }
}

/// The text stands in the other, as whole lines.
fn is_among(text: &str, other: &str) -> bool {
    format!("\n{other}\n").contains(&format!("\n{text}\n"))
}
