//! The stop wave: which votes count, and when a wave is opened. Also every rejection, with what it asks for, until
//! it is answered.

use super::facts::Head;
use super::slices::{current_audit, void_rejection};
use super::user_answers;
use crate::model::{Remark, RoomCheck, Vote};
use crate::prelude::*;

/// Maximum number of waves at one HEAD.
pub(super) const WAVES_PER_HEAD: u64 = 2;

/// Votes of the current wave at this HEAD.
pub fn list_votes<'a>(snapshot: &'a Snapshot, head: &'a Head) -> impl Iterator<Item = &'a Vote> {
    snapshot
        .ledger
        .wave
        .votes
        .iter()
        .filter(|vote| Some(vote.head.as_str()) == head.commit.as_deref())
}

/// Prefix of the names of sessions that cook ran and kept.
pub const EXCHANGE: &str = "ex_";

/// Says how many votes of the current wave at this HEAD came out of a session that cook ran; `None` if all did.
pub fn describe_typed_votes(snapshot: &Snapshot, head: &Head) -> Option<String> {
    let is_kept = |vote: &&Vote| {
        let session = vote.session.as_deref();
        session.is_some_and(|session| session.starts_with(EXCHANGE))
    };
    let all = list_votes(snapshot, head).count();
    let kept = list_votes(snapshot, head).filter(is_kept).count();
    (kept < all).then(|| format!("{kept} of {all} votes came out of a session that cook ran"))
}

/// The result of the clean-room check of HEAD's tree, if there is one.
pub(super) fn find_room<'a>(snapshot: &'a Snapshot, head: &Head) -> Option<&'a RoomCheck> {
    let room = snapshot.ledger.room.as_ref();
    room.filter(|room| Some(&room.tree) == head.tree.as_ref())
}

/// Keeps the result of the gates at HEAD. Remarks about their runs go to the ledger, for reviewers and judges.
pub(super) fn keep_room(next: &mut Snapshot, room: Option<&RoomCheck>) {
    let mut room = room.cloned();
    for what in room.iter_mut().flat_map(|room| room.remarks.drain(..)) {
        let remark = Remark {
            slice_id: String::new(),
            code: Code::GateSurroundings.id().to_owned(),
            what,
        };
        if !next.ledger.remarks.contains(&remark) {
            next.ledger.remarks.push(remark);
        }
    }
    next.ledger.room = room;
}

/// Whether the wave is unanimous: all required votes are in, say yes, and count no blocker and no gap.
pub(super) fn unanimous(snapshot: &Snapshot, head: Option<&str>) -> bool {
    let votes = snapshot.ledger.wave.votes.iter();
    let votes: Vec<&Vote> = votes.filter(|vote| Some(&*vote.head) == head).collect();
    votes.len() as u64 >= snapshot.count_required_judges()
        && votes.iter().all(|vote| {
            vote.can_stop && vote.blocker_count.0 == 0 && vote.high_value_gap_count.0 == 0
        })
}

/// A judge's no as a blocker, with the id under which it is named.
pub(super) fn blocker(vote: &Vote) -> Blocker {
    Blocker {
        id: format!("no-{}", vote.seq.0),
        what: vote.blockers.clone(),
    }
}

/// A review's no as a blocker.
pub(super) fn review_blocker(review: &ReviewNote) -> Blocker {
    Blocker {
        id: format!("{}{}", Blocker::REVIEW, review.seq.0),
        what: list_requests(review),
    }
}

/// What the last audit leaves open; a re-ground must answer it before the end.
pub fn open_audit(snapshot: &Snapshot) -> Option<Blocker> {
    let audit = snapshot.ledger.open_audit.as_deref();
    let audit = audit.filter(|audit| audit.rejects_with(&snapshot.plan));
    audit.map(audit_blocker)
}

/// Like [`open_audit`], for a report that closes or reopens the committed slice, whose own audit comes first.
pub fn find_audit_to_answer(snapshot: &Snapshot) -> Option<Blocker> {
    match current_audit(snapshot) {
        Some(audit) => audit
            .rejects_with(&snapshot.plan)
            .then(|| audit_blocker(audit)),
        None => open_audit(snapshot),
    }
}

/// Ids of audits that reject as soon as the plan drops a contract which they call open.
pub(super) fn list_planned_audits(snapshot: &Snapshot) -> impl Iterator<Item = String> {
    let audits = current_audit(snapshot).into_iter();
    let audits = audits.chain(snapshot.ledger.open_audit.as_deref());
    let audits = audits.filter(|audit| !audit.planned.is_empty());
    audits.map(|audit| audit_blocker(audit).id)
}

fn audit_blocker(audit: &AuditNote) -> Blocker {
    let next = audit
        .next_slice
        .iter()
        .map(|next| format!("wants next: {next}"));
    let rated = list_other_ratings(&audit.findings, &audit.concerns);
    let named = audit.findings.iter().cloned().chain(rated);
    Blocker {
        id: format!("{}{}", Blocker::AUDIT, audit.seq.0),
        what: named.chain(next).collect(),
    }
}

/// Replaces the audit that waits for an answer by a later one. What the later one leaves out counts as settled,
/// and the judges are told so.
pub(super) fn follow_audit(next: &mut Snapshot, earlier: &AuditNote, audit: &AuditNote) {
    if !earlier.rejects_with(&next.plan) || earlier.seq == audit.seq {
        return;
    }
    let (no, later) = (audit_blocker(earlier), audit_blocker(audit));
    if no.what.iter().all(|what| later.what.contains(what)) {
        return;
    }
    let names = match later.what.is_empty() {
        true => "nothing open".to_owned(),
        false => later.what.join("; "),
    };
    let answer = format!("{} came after it and names: {names}", later.id);
    let answered = &mut next.ledger.answered_rejections;
    answered.push(AnsweredRejection::new(no, answer));
}

/// Rejections that a re-ground owes an answer: those carried over, those of a wave at an earlier HEAD, a review's
/// whose key has changed, and what cancelled slices leave.
pub fn list_unanswered(snapshot: &Snapshot, head: &Head) -> Vec<Blocker> {
    let mut rejections = snapshot.ledger.unanswered.clone();
    let votes = snapshot.ledger.wave.votes.iter();
    let void =
        votes.filter(|vote| !vote.can_stop && Some(vote.head.as_str()) != head.commit.as_deref());
    owe(&mut rejections, void.map(blocker));
    owe(&mut rejections, list_owed_by_slices(snapshot));
    rejections
}

/// Rejections that a re-ground under any rule but 9 owes an answer, because it voids the wave.
pub fn list_owed(snapshot: &Snapshot) -> Vec<Blocker> {
    let mut rejections = list_owed_to_judges(snapshot);
    owe(&mut rejections, list_owed_by_slices(snapshot));
    rejections
}

fn list_owed_to_judges(snapshot: &Snapshot) -> Vec<Blocker> {
    let ledger = &snapshot.ledger;
    let mut rejections = ledger.unanswered.clone();
    let of_wave = ledger.wave.votes.iter().filter(|vote| !vote.can_stop);
    owe(&mut rejections, of_wave.map(blocker));
    rejections
}

fn list_owed_by_slices(snapshot: &Snapshot) -> impl Iterator<Item = Blocker> {
    let void = void_rejection(snapshot).map(review_blocker);
    void.into_iter().chain(list_left(snapshot))
}

/// Every rejection on record, answered or not: of reviews that no later one replaced, of the newest audit, and of
/// judges.
pub(super) fn list_noes(snapshot: &Snapshot) -> Vec<Blocker> {
    let (ledger, plan) = (&snapshot.ledger, &snapshot.plan);
    let mut noes = ledger.unanswered.clone();
    let answered = ledger.answered_rejections.iter();
    owe(&mut noes, answered.map(|answered| answered.no.clone()));
    let slices = || ledger.slices.values();
    let reviews = slices().flat_map(|slice| [&slice.review, &slice.sent_back]);
    let reviews = reviews.flatten().filter(|review| review.rejects());
    owe(&mut noes, reviews.map(|review| review_blocker(review)));
    let audits = slices().flat_map(|slice| [&slice.audit, &slice.earlier_audit]);
    let audits = audits.chain([&ledger.open_audit]).flatten();
    let newest = audits.max_by_key(|audit| audit.seq.0);
    owe(
        &mut noes,
        newest
            .filter(|audit| audit.rejects_with(plan))
            .map(|audit| audit_blocker(audit)),
    );
    noes
}

/// Adds the rejections that are not owed yet.
pub(super) fn owe(to: &mut Vec<Blocker>, more: impl IntoIterator<Item = Blocker>) {
    for no in more {
        if to.iter().all(|known| known.id != no.id) {
            to.push(no);
        }
    }
}

/// What no slice takes up, until it is answered: rejections of cancelled slices by reviews and audits, and words
/// of the user that bind no open or done slice.
pub(super) fn list_left(snapshot: &Snapshot) -> Vec<Blocker> {
    let mut left = find_rejected_and_cancelled(snapshot);
    left.extend(user_answers::list_unheld(snapshot));
    let answered = &snapshot.ledger.answered_rejections;
    left.retain(|no| answered.iter().all(|answered| answered.no.id != no.id));
    left
}

/// The last review and the last audit of each cancelled slice, if they said no: no later one will replace them.
fn find_rejected_and_cancelled(snapshot: &Snapshot) -> Vec<Blocker> {
    let slices = snapshot.plan.candidate_slices.iter();
    let cancelled = slices.filter(|slice| slice.status == SliceStatus::Cancelled);
    let noes = cancelled.flat_map(|slice| {
        let ledger = snapshot.find_ledger(&slice.slice_id);
        let review = ledger.and_then(|it| it.review.as_deref().or(it.sent_back.as_deref()));
        let audit = ledger.and_then(|it| it.audit.as_deref().or(it.earlier_audit.as_deref()));
        let review = review.filter(|review| review.rejects()).map(review_blocker);
        let audit = audit.filter(|audit| audit.rejects_with(&snapshot.plan));
        review.into_iter().chain(audit.map(audit_blocker))
    });
    noes.collect()
}

/// What would be left, beyond what is owed now, if these slices were cancelled.
pub fn list_left_without(snapshot: &Snapshot, slices: &[&String]) -> Vec<Blocker> {
    if slices.is_empty() {
        return Vec::new();
    }
    let mut then = snapshot.clone();
    for id in slices {
        if let Some(slice) = then.plan.slice_mut(id) {
            slice.status = SliceStatus::Cancelled;
        }
    }
    let now = list_left(snapshot);
    let mut left = list_left(&then);
    left.retain(|no| !now.contains(no));
    left
}

/// Like [`list_left_without`], for every open slice that may be cancelled; a committed one may not.
pub fn list_left_if_cancelled(snapshot: &Snapshot) -> Vec<Blocker> {
    let open = snapshot.plan.open_slices().map(|slice| &slice.slice_id);
    let open: Vec<&String> = open.filter(|id| !snapshot.is_committed(id)).collect();
    list_left_without(snapshot, &open)
}

/// Ends the wave without an answer: its votes no longer count, but its rejections stay owed.
pub(super) fn void(next: &mut Snapshot) {
    next.ledger.unanswered = list_owed_to_judges(next);
    next.ledger.wave.votes.clear();
}

/// Takes back the answers that rest on slices which were open in `before` and are cancelled now, and returns their
/// rejections. Slices that were cancelled as there already still answer theirs.
pub(super) fn take_back_answers(next: &mut Snapshot, before: &Plan) -> Vec<Blocker> {
    let is_new = |slice: &&Shared<Slice>| {
        let before = before.slice(&slice.slice_id);
        slice.status == SliceStatus::Cancelled
            && !slice.is_satisfied()
            && before.is_some_and(|before| before.status.is_open())
    };
    let cancelled = next.plan.candidate_slices.iter().filter(is_new);
    let cancelled: Vec<&String> = cancelled.map(|slice| &slice.slice_id).collect();
    let is_cancelled =
        |answered: &mut AnsweredRejection| answered.slices.iter().any(|id| cancelled.contains(&id));
    let answered = &mut next.ledger.answered_rejections;
    answered
        .extract_if(.., is_cancelled)
        .map(|answered| answered.no)
        .collect()
}

/// Opens the next wave at this HEAD; the previous one was voided.
pub(super) fn open(next: &mut Snapshot, head: &Head) {
    next.state.current_stop_wave_id.0 += 1;
    next.counters.waves.0 += 1;
    let wave = &mut next.ledger.wave;
    if wave.opened_at.is_some() && wave.opened_at == head.commit {
        wave.opened.0 += 1;
    } else {
        wave.opened_at = head.commit.clone();
        wave.opened = Count(1);
    }
}

/// Resets the number of waves held at this HEAD.
pub(super) fn grant(next: &mut Snapshot) {
    next.ledger.wave.opened = Count(0);
    next.ledger.wave.opened_at = None;
    next.ledger.wave.running = false;
}

/// Whether another wave may be held at this HEAD.
pub(super) fn may_open(snapshot: &Snapshot, head: &Head) -> bool {
    let wave = &snapshot.ledger.wave;
    wave.opened_at != head.commit || wave.opened.0 < WAVES_PER_HEAD
}

// What a review asks for, and lists without duplicates.

/// What a review asks for: its findings, its follow-up, and each reason for a failed dimension, once for all
/// dimensions that share it.
pub(super) fn list_requests(review: &ReviewNote) -> Vec<String> {
    let mut asked = Vec::new();
    add_new(&mut asked, review.findings.iter().cloned());
    add_new(&mut asked, review.follow_up.iter().cloned());
    let is_of = |concern: &&String, dimension: &String| {
        let rest = concern.strip_prefix(dimension.as_str());
        rest.is_some_and(|rest| rest.starts_with(FAILS))
    };
    let concerns = review.concerns.iter();
    let failing = concerns.filter(|concern| review.fails.iter().any(|it| is_of(concern, it)));
    let failing: Vec<String> = failing.cloned().collect();
    let failing = list_other_ratings(&asked, &failing);
    add_new(&mut asked, failing);
    let bare = review.fails.iter().filter(|dimension| {
        let mut concerns = review.concerns.iter();
        !concerns.any(|concern| is_of(&concern, dimension))
    });
    add_new(
        &mut asked,
        bare.map(|dimension| format!("the review fails {dimension}")),
    );
    asked
}

const FAILS: &str = " (fail): ";

/// The ratings of a rubric that are not a pass, unless a finding gives the same reason. Dimensions with the same
/// rating and reason are merged.
pub fn list_other_ratings(findings: &[String], concerns: &[String]) -> Vec<String> {
    // Dimensions, their rating, and the reason.
    let mut merged: Vec<(Vec<&str>, &str, &str)> = Vec::new();
    for concern in concerns {
        let (rated, why) = concern.split_once(": ").unwrap_or((concern, ""));
        let (dimension, how) = rated.split_once(' ').unwrap_or((rated, ""));
        let words = reduce_wording(why);
        // Often the reason repeats a finding.
        if !words.is_empty()
            && findings
                .iter()
                .any(|text| reduce_wording(text).contains(&words))
        {
            continue;
        }
        let is_same = |(_, known, reason): &&mut (Vec<&str>, &str, &str)| {
            *known == how && reduce_wording(reason) == words
        };
        match merged.iter_mut().find(is_same) {
            Some((dimensions, ..)) => dimensions.push(dimension),
            None => merged.push((vec![dimension], how, why)),
        }
    }
    let merged = merged.iter();
    merged
        .map(|(dimensions, how, why)| format!("{} {how}: {why}", dimensions.join(", ")))
        .collect()
}

/// Reduces a text to its wording: without extra white space, a list mark or number before it, the case of its
/// first letter, and punctuation at its end.
fn reduce_wording(text: &str) -> String {
    let text = clean(text, Lines::Fold);
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_mark = |word: &str| {
        let number = word.strip_suffix(['.', ')']).unwrap_or_default();
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number || matches!(word, "-" | "*" | "+" | "•")
    };
    let marks = words.iter().take_while(|word| is_mark(word)).count();
    let text = words[marks..].join(" ");
    let text = text.trim_end_matches(['.', ';', ',']);
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(letters).collect()
}

/// Adds the texts that are not empty and whose wording is new.
pub(super) fn add_new(to: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for text in more {
        let words = reduce_wording(&text);
        if !words.is_empty() && !to.iter().any(|old| reduce_wording(old) == words) {
            to.push(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_finding_is_asked_for_once() {
        let review: ReviewNote = serde_json::from_value(json!({
            "commit": "c", "criteria_sha256": "", "acceptable": false,
            "fails": ["contract_coverage", "correctness_risk", "verification_evidence", "docs_state_parity"],
            "concerns": [
                "contract_coverage (fail): no test",
                "correctness_risk (fail): it loses the exit code.",
                "verification_evidence (fail): No test.",
                "docs_state_parity (concern): old",
            ],
            "findings": ["a.rs:3: it loses the exit code", "it loses the exit code (b.rs)"],
            "follow_up": "A.rs:3:  it loses the exit code.", "report_sha256": "", "seq": 4,
        }))
        .unwrap_or_else(|error| panic!("{error}"));
        let mut asked = list_requests(&review);
        let all = [
            "a.rs:3: it loses the exit code",
            "it loses the exit code (b.rs)",
            "contract_coverage, verification_evidence (fail): no test",
            "the review fails docs_state_parity",
        ];
        assert_eq!(asked, all);
        let more = [
            "1. a.rs:3: it loses the exit code",
            "x <= 3",
            "x >= 3",
            "-x",
            "x",
        ];
        add_new(&mut asked, more.map(str::to_owned));
        assert_eq!(asked[4..], ["x <= 3", "x >= 3", "-x", "x"]);
    }
}
