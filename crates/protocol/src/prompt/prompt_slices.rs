//! Slices as a prompt shows them: their purpose, their criteria, and what they wait for.

use super::quote::{cut, fit};
use crate::machine::{Choice, Rule, Selection, SliceGraph, list_other_ratings, waits_for};
use crate::model::{ANSWER_NOTE, FixNote, Handoff, Priority, Vote};
use crate::prelude::*;
use crate::report::{self, write_header_ids};
use std::fmt::Write;

pub(super) const PLAN: &str = "`cat .agent/plan.json` shows all";
const HANDOFF: &str = "`cat .agent/active-slice.json` shows all";

/// Tells a re-ground what to do with the ticks of a plan that was taken in.
const CLAIMED: &str = "of each slice that is claimed done: `cancel` it with the reason `already satisfied` and `evidence` for every criterion, or leave it to be done\n";

/// The rule with this id.
pub(super) fn find_rule(id: &str) -> Option<Rule> {
    Rule::ALL.into_iter().find(|known| known.id() == id)
}

/// Whether a report under the rule may select a slice, apart from the state of the repository.
pub(super) fn may_select(rule: &str, snapshot: &Snapshot) -> bool {
    find_rule(rule).is_some_and(|rule| Choice::Select.is_open(rule, snapshot, false))
}

/// Maximum bytes of the slices in a prompt beside the one in work; more if the plan itself is due.
pub(super) const ROOM: usize = 1_200;
pub(super) const ROOM_TO_PLAN: usize = 8_000;

/// Maximum number of slices that are only named.
const NAMED: usize = 12;

/// Returns the items that fit into the room, at least one, and the number of the others.
pub(super) fn fill_room(
    items: impl IntoIterator<Item = String>,
    room: usize,
) -> (Vec<String>, u64) {
    let (mut used, mut left, mut shown) = (0, 0, Vec::new());
    for item in items {
        used += item.len();
        match used <= room || shown.is_empty() {
            true => shown.push(item),
            false => left += 1,
        }
    }
    (shown, left)
}

/// Open slices in full, those that come next first; closed ones that are in doubt or were accepted last; the
/// number of the others; and, with `selection` and its rule, what can be selected.
pub(super) fn plan_text(
    snapshot: &Snapshot,
    selection: Option<(&str, &Selection)>,
    room: usize,
) -> String {
    let plan = &snapshot.plan;
    let in_work = snapshot.find_slice_in_work();
    let ready = SliceGraph::new(plan).ready(plan).into_iter();
    let ready = ready.map(|row| row.slice_id);
    // The one in work has a part of its own.
    let ready: Vec<String> = ready.filter(|id| Some(id.as_str()) != in_work).collect();
    let places = ready.iter().enumerate();
    let places: BTreeMap<&str, usize> = places.map(|(at, id)| (id.as_str(), at)).collect();
    let mut others: Vec<&Slice> = plan.candidate_slices.iter().map(|it| &**it).collect();
    others.retain(|slice| Some(slice.slice_id.as_str()) != in_work);
    let place = |slice: &&Slice| places.get(slice.slice_id.as_str()).copied();
    others.sort_by_key(|slice| place(slice).unwrap_or(usize::MAX));
    let (open, closed): (Vec<&Slice>, Vec<&Slice>) =
        others.into_iter().partition(|slice| slice.status.is_open());
    let open = open.into_iter().map(|slice| {
        let mut text = name_slice(slice, "");
        open_slice(&mut text, snapshot, slice);
        text
    });
    let (shown, left) = fill_room(open, room);
    let mut text = shown.concat();
    if left > 0 {
        let left = count_noun(left, "more open slice");
        let _ = writeln!(text, "{left} ({PLAN})");
    }
    list_closed(&mut text, snapshot, &closed, room);
    let is_claimed = plan.open_slices().any(|slice| {
        let known = snapshot.find_ledger(&slice.slice_id);
        let source = known.and_then(|known| known.source.as_ref());
        source.is_some_and(|source| source.ticked)
    });
    if is_claimed {
        text.push_str(CLAIMED);
    }
    let Some((rule, selection)) = selection else {
        return text;
    };
    let more = ready_once_accepted(rule, snapshot, &ready);
    if !ready.is_empty() {
        list_ready(&mut text, snapshot, selection, ready);
    }
    if let (Some(id), false, None) = (in_work, more.is_empty(), &selection.held) {
        let more = name_first(&more);
        let _ = writeln!(
            text,
            "can be selected too, where this report accepts `{id}`: {more}"
        );
    }
    text
}

fn name_slice(slice: &Slice, more: &str) -> String {
    let (id, status) = (&slice.slice_id, slice.status.id());
    format!("{id} ({status}{more}): {}\n", fold(&slice.goal))
}

/// Adds the closed slices that an answer, a judge or an audit may contradict, and those accepted last.
fn list_closed(text: &mut String, snapshot: &Snapshot, closed: &[&Slice], room: usize) {
    let ledger = &snapshot.ledger;
    let is_doubted = ledger.answered.is_some()
        || !ledger.unanswered.is_empty()
        || ledger.wave.votes.iter().any(|vote| !vote.can_stop);
    let find_accepted = |slice: &Slice| snapshot.find_ledger(&slice.slice_id)?.accepted.as_ref();
    let mut closed = closed.to_vec();
    let all = closed.len() as u64;
    closed.sort_by_key(|slice| std::cmp::Reverse(find_accepted(slice).map(|it| it.seq.0)));
    if !is_doubted {
        closed.retain(|slice| find_accepted(slice).is_some());
        closed.truncate(
            usize::try_from(ledger.assured.unaudited.0)
                .unwrap_or(1)
                .max(1),
        );
    }
    let lines = closed.into_iter().map(|slice| {
        let accepted = find_accepted(slice).map_or_else(String::new, |accepted| {
            let priority = number(&slice.priority);
            format!(", priority {priority}, its work is at {}", accepted.head)
        });
        let mut line = name_slice(slice, &accepted);
        if slice.status == SliceStatus::Done && is_doubted {
            number_criteria(&mut line, &slice.acceptance_criteria);
        }
        ids(&mut line, "contracts", &slice.contract_ids);
        line
    });
    let (shown, _) = fill_room(lines, room);
    text.push_str(&shown.concat());
    let left = all - shown.len() as u64;
    if left > 0 {
        let left = count_noun(left, "more closed slice");
        let _ = writeln!(text, "{left} ({PLAN})");
    }
}

fn name_first(ids: &[String]) -> String {
    let shown = ids[..ids.len().min(NAMED)].join(", ");
    match ids.len().saturating_sub(NAMED) {
        0 => shown,
        left => format!("{shown} and {left} more (`cook status --ready` lists them)"),
    }
}

/// Slices that wait for the committed slice alone, if a report may accept it.
fn ready_once_accepted(rule: &str, snapshot: &Snapshot, ready: &[String]) -> Vec<String> {
    let rule = find_rule(rule);
    let may_accept = |rule: &Rule| Choice::Accept.is_open(*rule, snapshot, false);
    let mut plan = snapshot.plan.clone();
    let id = snapshot.find_slice_in_work().unwrap_or_default();
    let Some(slice) = plan
        .slice_mut(id)
        .filter(|_| rule.as_ref().is_some_and(may_accept))
    else {
        return Vec::new();
    };
    slice.status = SliceStatus::Done;
    let rows = SliceGraph::new(&plan).ready(&plan).into_iter();
    let ids = rows.map(|row| row.slice_id);
    ids.filter(|id| !ready.contains(id)).collect()
}

/// Adds what a report may select and, for the other slices, why not and until when.
fn list_ready(text: &mut String, snapshot: &Snapshot, selection: &Selection, ready: Vec<String>) {
    let first = "in order of work";
    if let Some(why) = &selection.held {
        let _ = writeln!(
            text,
            "nothing can be selected now ({}); once that is settled, {first}: {}",
            fold(why),
            name_first(&ready)
        );
        return;
    }
    let rests_on = |id: &String| {
        let slice = snapshot.plan.slice(id);
        slice.map_or_else(Vec::new, |slice| selection.rests_on(slice))
    };
    let (known, unknown): (Vec<String>, Vec<String>) =
        ready.into_iter().partition(|id| rests_on(id).is_empty());
    if !known.is_empty() {
        let _ = writeln!(text, "can be selected, {first}: {}", name_first(&known));
    }
    if unknown.len() > NAMED {
        let left = unknown.len() - NAMED;
        let _ = writeln!(
            text,
            "{left} more can be selected only after a gate ran at HEAD (`cook status --ready` lists them)"
        );
    }
    for id in unknown.iter().take(NAMED) {
        let on = rests_on(id).into_iter();
        let on: Vec<String> = on
            .map(|(other, what)| format!("`{other}` ({})", fold(what)))
            .collect();
        let _ = writeln!(
            text,
            "can be selected only if this passes at HEAD, where it has not run (your report runs it, `cook gate --clean` before): {id}, which rests on {}",
            on.join(", ")
        );
    }
}

fn open_slice(text: &mut String, snapshot: &Snapshot, slice: &Slice) {
    let list = |values: &Option<Vec<String>>| values.clone().unwrap_or_default();
    number_criteria(text, &slice.acceptance_criteria);
    row(text, "priority", &number(&slice.priority));
    row(text, "why now", &slice.why_now);
    let blockers = list_blockers(snapshot, &slice.blocked_on);
    ids(text, "blocked on", &blockers);
    ids(text, "waits for", &waits_for(&snapshot.plan, slice));
    ids(text, "contracts", &slice.contract_ids);
    ids(text, "paths", &list(&slice.implementation_surfaces));
    rows(text, "gate", &list(&slice.verification_commands), PLAN);
    notes(text, &list(&slice.locked_notes));
    rows(text, "must be fixed", &list(&slice.must_fix_findings), PLAN);
    let ledger = snapshot.find_ledger(&slice.slice_id);
    let source = ledger.and_then(|slice| slice.source.as_ref());
    let tick = source.filter(|source| source.ticked);
    let tick = tick.map_or("", |source| &source.at);
    row(text, "claimed done, not proven, by", tick);
    let reason = ledger.and_then(|slice| slice.blocked.as_deref());
    row(text, "blocked because", reason.unwrap_or_default());
    let holds = ledger.and_then(|slice| slice.holds.as_deref());
    row(text, "its work may be at", holds.unwrap_or_default());
}

/// The entries that a slice waits for, with a mark on those that are done.
fn list_blockers(snapshot: &Snapshot, entries: &[String]) -> Vec<String> {
    let is_done = |entry: &String| snapshot.plan.is_done(entry);
    let entries = entries.iter().map(|entry| match is_done(entry) {
        true => format!("{entry} (done)"),
        false => entry.clone(),
    });
    entries.collect()
}

pub(super) fn active_text(snapshot: &Snapshot) -> String {
    let active = &snapshot.active;
    let (Some(id), Some(goal), Some(handoff)) = (&active.slice_id, &active.goal, &active.handoff)
    else {
        return String::new();
    };
    // The slice that was accepted last stays there until the next one is selected.
    if active.status == ActiveStatus::Done {
        return String::new();
    }
    let mut text = String::new();
    let _ = writeln!(text, "{id} ({}): {}", active.status.id(), fold(goal));
    handoff_text(&mut text, snapshot, handoff);
    ids(&mut text, "contracts", &active.contract_ids);
    let attempts = snapshot.counters.attempts.get(id);
    if let Some(spent) = attempts.filter(|spent| spent.0 > 0) {
        let _ = writeln!(text, "  attempts spent: {}", spent.0);
    }
    let ledger = snapshot.find_ledger(id);
    let holds = ledger.and_then(|slice| slice.holds.as_deref());
    row(&mut text, "its work may be at", holds.unwrap_or_default());
    let head = ledger.and_then(|slice| slice.head.as_deref());
    row(&mut text, "commit", head.unwrap_or_default());
    text
}

fn handoff_text(text: &mut String, snapshot: &Snapshot, handoff: &Handoff) {
    let list = |values: &Option<Vec<String>>| values.clone().unwrap_or_default();
    number_criteria(text, &handoff.acceptance_criteria);
    // The report answers each by its number.
    let must = handoff.must_fix_findings.iter().enumerate();
    let must = must.map(|(number, text)| format!("{}. {text}", number + 1));
    rows(text, "must be fixed", &must.collect::<Vec<_>>(), HANDOFF);
    notes(text, &handoff.locked_notes);
    row(text, "priority", &number(&handoff.priority));
    row(text, "why now", &handoff.why_now);
    row(text, "basis_commit", &handoff.basis_commit);
    let blockers = list_blockers(snapshot, &handoff.blocked_on);
    ids(text, "blocked on", &blockers);
    ids(text, "paths", &list(&handoff.implementation_surfaces));
    rows(text, "gate", &list(&handoff.verification_commands), HANDOFF);
    // The header of the report names the contracts that are open now.
    let before = &handoff.remaining_contract_ids_before;
    if *before != snapshot.state.unsatisfied_contract_ids {
        row(text, "contracts open before it", &write_header_ids(before));
    }
    let blockers = handoff.release_blocker_count_before.0;
    let gaps = handoff.high_value_gap_count_before.0;
    if blockers + gaps > 0 {
        let blockers = count_noun(blockers, "release blocker");
        let gaps = count_noun(gaps, "high-value gap");
        let _ = writeln!(text, "  before it: {blockers}, {gaps}");
    }
}

fn number(priority: &Priority) -> String {
    serde_json::to_string(priority).unwrap_or_default()
}

fn number_criteria(text: &mut String, criteria: &[String]) {
    for (number, criterion) in criteria.iter().enumerate() {
        let _ = writeln!(text, "  criterion {}: {}", number + 1, fold(criterion));
    }
}

pub(super) fn row(text: &mut String, label: &str, value: &str) {
    if !value.trim().is_empty() {
        let _ = writeln!(text, "  {label}: {}", fold(value));
    }
}

/// Adds the notes except the user's answers, which have a part of their own.
fn notes(text: &mut String, notes: &[String]) {
    for note in notes.iter().filter(|note| !note.starts_with(ANSWER_NOTE)) {
        row(text, "note", note);
    }
}

/// Adds a row for each value; of too many, the first and the last, with the command that shows the rest.
pub(super) fn rows(text: &mut String, label: &str, values: &[String], rest: &str) {
    let values: Vec<String> = values.iter().map(|value| fold(value)).collect();
    for value in fit(&values, rest) {
        row(text, label, &value);
    }
}

fn ids(text: &mut String, label: &str, values: &[String]) {
    row(text, label, &values.join(", "));
}

fn fold(text: &str) -> String {
    clean(text, Lines::Fold)
}

/// The commits that a slice claims, unless that is only its newest one.
pub(super) fn list_other_claims(ledger: Option<&SliceLedger>) -> Vec<String> {
    let Some(ledger) = ledger else {
        return Vec::new();
    };
    match (&ledger.claimed[..], &ledger.head) {
        ([only], Some(head)) if only == head => Vec::new(),
        ([], Some(_)) => vec!["none".to_owned()],
        (claimed, _) => claimed.to_vec(),
    }
}

// Reviews, audits and votes as a prompt shows them.

/// Maximum bytes of a required fix, and of the answer to it.
const WHAT: usize = 850;
const SAID: usize = 600;

/// The commands that show whole reports.
pub(super) const REPORTS: &str = "`cook log` lists the reports, `cook log N` shows one";

/// The command that shows the report of that number.
fn shows(seq: Count) -> String {
    format!("`cook log {}` shows the report", seq.0)
}

/// A review, without the points that are among `besides`.
pub(super) fn review_text(
    review: Option<&ReviewNote>,
    besides: &[String],
    head: Option<&str>,
) -> String {
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
    text.push_str(verdict);
    // The slice shows its present commit.
    if head != Some(review.commit.as_str()) {
        let _ = write!(text, ", of {}", review.commit);
    }
    text.push('\n');
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
    // An older log has no reasons for failed dimensions.
    match review.concerns.is_empty() {
        true => add("fails", &review.fails),
        false => add("rubric", &list_other_ratings(&[], &review.concerns)),
    }
    add("finding", &review.findings);
    add("smallest follow-up", review.follow_up.as_slice());
    if is_said {
        row(
            &mut text,
            "besides",
            "the points that must be, or had to be, fixed",
        );
    }
    text
}

/// An audit, with the id under which it is answered if it must be.
pub(super) fn audit_text(
    audit: Option<&AuditNote>,
    owed: Option<&Blocker>,
    head: Option<&str>,
) -> String {
    let Some(audit) = audit else {
        return String::new();
    };
    let mut text = String::new();
    if head != Some(audit.commit.as_str()) {
        let _ = writeln!(text, "of {}", audit.commit);
    }
    if let Some(no) = owed.filter(|no| no.id.ends_with(&format!("-{}", audit.seq.0))) {
        let _ = writeln!(
            text,
            "  `{}`: where no slice stays open, `answers` says what is done about it",
            no.id
        );
    }
    let rest = shows(audit.seq);
    // The plan shows the contracts of open slices.
    let told = format!("{}{}", report::OPEN_CONTRACTS, audit.planned.join(", "));
    let is_planned = |finding: &&String| !audit.planned.is_empty() && **finding == told;
    let (planned, open): (Vec<&String>, Vec<&String>) = audit.findings.iter().partition(is_planned);
    let mut open: Vec<String> = open.into_iter().cloned().collect();
    open.extend(
        planned
            .first()
            .map(|_| "contracts of open slices".to_owned()),
    );
    match open.is_empty() && !audit.rejects {
        true => text.push_str("  nothing is open\n"),
        false => rows(&mut text, "open", &open, &rest),
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
        // It may be answered by itself in `answers`.
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

/// The review that sends the work back to the next attempt: a no to the present commit, or the review before.
pub(super) fn standing_review(ledger: &SliceLedger) -> Option<&ReviewNote> {
    let review = ledger.review.as_deref().filter(|review| review.rejects());
    review.or(ledger.sent_back.as_deref())
}

/// Whether the review before this one was of the present commit.
pub(super) fn is_of_this_commit(ledger: &SliceLedger) -> bool {
    let before = ledger.sent_back.as_deref();
    before.is_some_and(|review| Some(&review.commit) == ledger.head.as_ref())
}

/// The fixes required of a commit, each with its implementer's answer.
pub(super) fn list_fixes(ledger: &SliceLedger) -> Vec<String> {
    let said = |what: &String| {
        let mut notes = ledger.fixes.iter();
        let note = notes.find(|note| note.what.as_ref() == Some(what))?;
        Some(cut(&note.did, SAID, REPORTS))
    };
    let with_answer = |what: &String| {
        let answer = match said(what) {
            Some(did) => did,
            // A fix that was required of a commit later could not be answered by its report.
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

/// Answers in its report that name none of the required fixes.
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

/// The answers of earlier attempts to their required fixes. A fix that is still required is named by its number.
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

/// The id of the no in the review that sent the work back.
pub(super) fn review_id(ledger: &SliceLedger) -> Option<String> {
    let review = ledger.sent_back.as_deref()?;
    Some(format!("{}{}", Blocker::REVIEW, review.seq.0))
}
