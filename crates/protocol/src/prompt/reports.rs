//! Reviews, audits and votes as a prompt shows them.

use super::fit::{cut, fit};
use super::slices::{row, rows};
use crate::diagnostic::count_noun;
use crate::machine::list_other_ratings;
use crate::model::{AuditNote, Blocker, Count, FixNote, ReviewNote, SliceLedger, Vote};
use std::fmt::Write;

/// Bytes of something that had to be fixed, and of what was done about it.
const WHAT: usize = 850;
const SAID: usize = 600;

/// What shows whole reports.
pub(super) const REPORTS: &str = "`cook log` lists the reports, `cook log N` shows one";

/// What shows the report of that number.
fn shows(seq: Count) -> String {
    format!("`cook log {}` shows the report", seq.0)
}

/// A review, without what stands among `besides` already.
pub(super) fn review_text(review: Option<&ReviewNote>, besides: &[String]) -> String {
    let Some(review) = review else {
        return String::new();
    };
    let mut text = String::new();
    let verdict = match (review.acceptable, review.weak) {
        (true, false) => "acceptable as it is",
        (true, true) => {
            "acceptable to the reviewer, and not to cook: gates notice too few planted defects"
        }
        (false, _) => "not acceptable",
    };
    let _ = writeln!(text, "{verdict}, of {}", review.commit);
    let mut is_said = false;
    let rest = shows(review.seq);
    let mut add = |label: &str, values: &[String]| {
        let (said, new): (Vec<String>, Vec<String>) = values
            .iter()
            .cloned()
            .partition(|value| besides.contains(value));
        is_said |= !said.is_empty();
        rows(&mut text, label, &new, &rest);
    };
    // An older log has no reasons beside what failed.
    match review.concerns.is_empty() {
        true => add("fails", &review.fails),
        false => add("rubric", &list_other_ratings(&[], &review.concerns)),
    }
    add("finding", &review.findings);
    add("smallest follow-up", review.follow_up.as_slice());
    if is_said {
        row(&mut text, "besides", "what must be fixed, or had to be");
    }
    text
}

/// An audit; with the id under which it is answered, where it has to be.
pub(super) fn audit_text(audit: Option<&AuditNote>, owed: Option<&Blocker>) -> String {
    let Some(audit) = audit else {
        return String::new();
    };
    let mut text = format!("of {}\n", audit.commit);
    if let Some(no) = owed.filter(|no| no.id.ends_with(&format!("-{}", audit.seq.0))) {
        let _ = writeln!(
            text,
            "  `{}`: where no slice stays open, `answers` says what is done about it",
            no.id
        );
    }
    let rest = shows(audit.seq);
    match audit.findings.is_empty() && !audit.rejects {
        true => text.push_str("  nothing is open\n"),
        false => rows(&mut text, "open", &audit.findings, &rest),
    }
    let rated = list_other_ratings(&[], &audit.concerns);
    rows(&mut text, "rubric", &rated, &rest);
    row(
        &mut text,
        "wants next",
        audit.next_slice.as_deref().unwrap_or_default(),
    );
    text
}

pub(super) fn vote(vote: &Vote) -> String {
    let says = match vote.can_stop {
        true => "yes".to_owned(),
        // `answers` may answer it by itself.
        false => format!("no (`no-{}`)", vote.seq.0),
    };
    let mut text = format!(
        "number {}, at {}: {says}, {}, {}",
        vote.seq.0,
        vote.head,
        count_noun(vote.blocker_count.0, "blocker"),
        count_noun(vote.high_value_gap_count.0, "high-value gap")
    );
    for reason in &vote.blockers {
        let _ = write!(text, "; {reason}");
    }
    text
}

pub(super) fn rejection(no: &Blocker) -> String {
    format!("`{}`: {}", no.id, no.what.join("; "))
}

/// What the next attempt is sent back by: a no to the commit that stands, or the one before.
pub(super) fn standing_review(ledger: &SliceLedger) -> Option<&ReviewNote> {
    let review = ledger.review.as_ref().filter(|review| review.rejects());
    review.or(ledger.sent_back.as_ref())
}

/// The review before this one was of the commit that stands.
pub(super) fn is_of_this_commit(ledger: &SliceLedger) -> bool {
    let before = ledger.sent_back.as_ref();
    before.is_some_and(|review| Some(&review.commit) == ledger.head.as_ref())
}

/// What a commit had to fix, each with what its implementer says that was done about it.
pub(super) fn list_fixes(ledger: &SliceLedger) -> Vec<String> {
    let said = |what: &String| {
        let mut notes = ledger.fixes.iter();
        let note = notes.find(|note| note.what.as_ref() == Some(what))?;
        Some(cut(&note.did, SAID, REPORTS))
    };
    let with_answer = |what: &String| {
        let answer = match said(what) {
            Some(did) => did,
            // What was said of a commit later, its report could not answer.
            None if is_of_this_commit(ledger) => return what.clone(),
            None => "nothing said".to_owned(),
        };
        format!(
            "{}; what was done about it: {answer}",
            cut(what, WHAT, REPORTS)
        )
    };
    ledger.fixed.iter().map(with_answer).collect()
}

/// What its report says of fixes and names nothing that had to be fixed.
pub(super) fn list_other_notes(ledger: &SliceLedger) -> Vec<String> {
    let notes = ledger.fixes.iter();
    let besides = notes.filter(|note| {
        note.what
            .as_ref()
            .is_none_or(|it| !ledger.fixed.contains(it))
    });
    let besides: Vec<String> = besides.map(|note| note.did.clone()).collect();
    fit(&besides, REPORTS)
}

/// What attempts before said of what they had to fix: what is to be fixed still goes by its number.
pub(super) fn list_earlier_notes(ledger: &SliceLedger, must: &[String]) -> Vec<String> {
    let is_newer = |note: &&FixNote| ledger.fixes.iter().all(|new| new.what != note.what);
    let before = ledger.fixes_before.iter().filter(is_newer);
    let said = before.chain(&ledger.fixes).map(|note| {
        let did = cut(&note.did, SAID, REPORTS);
        let Some(what) = &note.what else {
            return did;
        };
        match must.iter().position(|one| one == what) {
            Some(at) => format!("of {}: {did}", at + 1),
            None => format!("{}; it said: {did}", cut(what, SAID, REPORTS)),
        }
    });
    fit(&said.collect::<Vec<_>>(), REPORTS)
}

/// The id of the no of the review that sent the work back.
pub(super) fn review_id(ledger: &SliceLedger) -> Option<String> {
    let review = ledger.sent_back.as_ref()?;
    Some(format!("{}{}", Blocker::REVIEW, review.seq.0))
}
