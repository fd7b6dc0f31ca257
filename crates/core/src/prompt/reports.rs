//! Reviews, audits and votes as a prompt shows them.

use super::slices::{row, rows};
use crate::model::{AuditNote, Blocker, ReviewNote, Vote};
use std::fmt::Write;

pub(super) fn review_text(review: Option<&ReviewNote>) -> String {
    let Some(review) = review else {
        return String::new();
    };
    let mut text = String::new();
    let verdict = match review.acceptable {
        true => "acceptable as it is",
        false => "not acceptable",
    };
    let _ = writeln!(text, "{verdict}, of {}", review.commit);
    rows(&mut text, "fails", &review.fails);
    rows(&mut text, "finding", &review.findings);
    row(
        &mut text,
        "smallest follow-up",
        review.follow_up.as_deref().unwrap_or_default(),
    );
    text
}

pub(super) fn audit_text(audit: Option<&AuditNote>) -> String {
    let Some(audit) = audit else {
        return String::new();
    };
    let mut text = format!("of {}\n", audit.commit);
    match audit.findings.is_empty() {
        true => text.push_str("  nothing is open\n"),
        false => rows(&mut text, "open", &audit.findings),
    }
    text
}

pub(super) fn vote(vote: &Vote) -> String {
    let says = match vote.can_stop {
        true => "yes",
        false => "no",
    };
    let mut text = format!(
        "number {}, at {}: {says}, {} blockers, {} high-value gaps",
        vote.seq.0, vote.head, vote.blocker_count.0, vote.high_value_gap_count.0
    );
    for reason in &vote.blockers {
        let _ = write!(text, "; {reason}");
    }
    text
}

pub(super) fn rejection(no: &Blocker) -> String {
    format!("`{}`: {}", no.id, no.what.join("; "))
}
