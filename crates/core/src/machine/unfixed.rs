//! What the next attempt at a slice must fix. It adds up until a review has seen an attempt, and a
//! review that says no adds what it asks for.

use super::wave;
use super::work::Work;
use crate::diagnostic::{Lines, clean};
use crate::model::{AuditNote, FixNote, ReportRecord, ReviewNote, SliceLedger};
use crate::report::fixes;

/// What a review asks for: its findings, its follow-up, and each dimension that it fails.
pub(super) fn asked_by(review: &ReviewNote) -> Vec<String> {
    let mut asked = Vec::new();
    add_new(&mut asked, review.findings.iter().cloned());
    add_new(&mut asked, review.follow_up.iter().cloned());
    for dimension in &review.fails {
        let named = format!("{dimension} (fail): ");
        let mut concerns = review.concerns.iter();
        match concerns.find_map(|concern| concern.strip_prefix(&named)) {
            // Often it is a finding's own words.
            Some(why) if review.findings.iter().any(|text| text.contains(why)) => {}
            Some(why) => add_new(&mut asked, [format!("{named}{why}")]),
            None => add_new(&mut asked, [format!("the review fails {dimension}")]),
        }
    }
    asked
}

/// Adds the texts that say something and are not there yet.
pub(super) fn add_new(to: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for text in more {
        let folded = clean(&text, Lines::Fold);
        let is_known = |old: &String| clean(old, Lines::Fold) == folded;
        if !folded.is_empty() && !to.iter().any(is_known) {
            to.push(text);
        }
    }
}

/// The audit no longer counts; what it names is shown until the slice is reconciled.
pub(super) fn set_audit_aside(ledger: &mut SliceLedger) {
    let audit = ledger.audit.take();
    if let Some(audit) = audit.filter(AuditNote::names_something) {
        ledger.earlier_audit = Some(audit);
    }
}

impl Work<'_> {
    /// The slice is closed or taken up again; what its last audit says of the project stays.
    pub fn keep_audit(&mut self, id: &str) {
        let ledger = self.ledger(id);
        let earlier = ledger.earlier_audit.take();
        if let Some(audit) = ledger.audit.take().or(earlier) {
            wave::follow_audit(&mut self.next, &audit);
            let kept = Some(audit).filter(AuditNote::names_something);
            self.next.ledger.open_audit = kept;
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
                let asked = asked_by(&review);
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

    /// Adds to what the next attempt at a slice must fix.
    pub fn must_fix(&mut self, id: &str, more: Vec<String>) {
        if let Some(slice) = self.next.plan.slice_mut(id) {
            add_new(slice.must_fix_findings.get_or_insert_default(), more);
        }
    }
}
