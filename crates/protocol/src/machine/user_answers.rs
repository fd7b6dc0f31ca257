//! The user's answers: conditions in the notes of the slices that they concern. Reviews and audits are given for
//! them too, and no plan removes one.

use super::work::Work;
use crate::model::{ANSWER_NOTE, PlaceAnswer};
use crate::prelude::*;

/// Keeps the user's answer to the open question.
pub(super) fn keep(work: &mut Work, answer: &str) {
    let waiting = work.before.ledger.waiting.as_ref();
    let question = waiting.map_or(String::new(), |waiting| waiting.what.clone());
    add(work, question, answer);
}

/// Keeps the user's words that no question asked for.
pub(super) fn keep_said(work: &mut Work, text: &str) {
    add(work, String::new(), text);
}

fn add(work: &mut Work, question: String, answer: &str) {
    let seq = work.seq();
    work.next.ledger.answers.push(UserAnswer {
        seq,
        question,
        answer: answer.to_owned(),
        slices: Vec::new(),
    });
    note(work);
}

/// Refuses a question that the user has answered already.
pub(super) fn require_new(work: &Work, question: &str) -> Result<(), Refusal> {
    let mut answers = work.before.ledger.answers.iter().rev();
    let asked = Some(reduce_wording(question)).filter(|asked| !asked.is_empty());
    let Some(asked) = asked else { return Ok(()) };
    let Some(known) = answers.find(|known| reduce_wording(&known.question) == asked) else {
        return Ok(());
    };
    Err(refusal!(
        Code::AlreadyAnswered,
        "the user answered this ({}): {}",
        known.id(),
        known.answer
    ))
}

/// Reduces a question to its wording: without case, extra white space, a leading number or mark, quotes and
/// emphasis around it, and punctuation at its end.
fn reduce_wording(question: &str) -> String {
    let text = clean(question, Lines::Fold).to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let is_around = |c: char| c.is_whitespace() || "\"'`*_“”‘’«»„".contains(c);
    let is_mark = |c: char| is_around(c) || "-+•#>(".contains(c);
    let mut rest = text.trim_start_matches(is_mark);
    let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    if number.len() < rest.len()
        && let Some(after) = number.strip_prefix(['.', ')', ':'])
        && after.starts_with(|c: char| c.is_whitespace() || is_mark(c))
    {
        rest = after.trim_start_matches(is_mark);
    }
    let is_end = |c: char| is_around(c) || "?!.…？".contains(c);
    rest.trim_end_matches(is_end).to_owned()
}

/// Sets which slices an answer concerns. Returns whether any answer changed.
pub(super) fn place(work: &mut Work, block: &Reground) -> Result<bool, Refusal> {
    for PlaceAnswer { answer, slices } in &block.answers_to {
        let known = slices.iter().find(|id| work.next.plan.slice(id).is_none());
        if let Some(id) = known {
            return Err(refusal!(
                Code::SliceUnknown,
                "the plan has no slice `{id}`, which the report names for {answer}"
            ));
        }
        let mut answers = work.next.ledger.answers.iter_mut();
        let Some(kept) = answers.find(|kept| kept.id() == *answer) else {
            return Err(refusal!(
                Code::AnswerUnknown,
                "the user did not give an answer with the id `{answer}`"
            ));
        };
        kept.slices.clone_from(slices);
        let note = kept.note();
        let misses = |id: &&String| !binds(&work.next.plan, id, &note);
        if let Some(id) = slices.iter().find(misses) {
            let slice = work.next.plan.slice(id);
            let what = match slice.is_some_and(|slice| slice.status == SliceStatus::Cancelled) {
                true => format!("slice `{id}` is cancelled, so {answer} cannot bind it"),
                false => format!("slice `{id}` was closed before the user gave {answer}"),
            };
            return Err(Refusal::new(Code::AnswerUnplaced, what));
        }
    }
    let changed = work.next.ledger.answers != work.before.ledger.answers;
    note(work);
    tell_moved(work, block);
    Ok(changed)
}

/// Notes each open slice that an answer no longer binds, so that no role drops the user's words silently.
fn tell_moved(work: &mut Work, block: &Reground) {
    for PlaceAnswer { answer, .. } in &block.answers_to {
        let mut answers = work.next.ledger.answers.iter();
        let Some(note) = answers
            .find(|kept| kept.id() == *answer)
            .map(UserAnswer::note)
        else {
            continue;
        };
        let has_it = |slice: &Slice| {
            let notes = slice.locked_notes.as_ref();
            notes.is_some_and(|notes| notes.contains(&note))
        };
        let before = work.before.plan.open_slices().filter(|slice| has_it(slice));
        let is_bound = |id: &str| work.next.plan.slice(id).is_some_and(has_it);
        let lost = before.filter(|slice| !is_bound(&slice.slice_id));
        for id in lost.map(|slice| &slice.slice_id) {
            let what = format!("{answer} no longer binds slice `{id}`");
            work.findings
                .push(Finding::new(Code::AnswerMoved, what).at(id.clone()));
        }
    }
}

/// Whether an answer binds the slice: the slice is open, or done and was accepted under the answer.
fn binds(plan: &Plan, id: &str, note: &String) -> bool {
    plan.slice(id).is_some_and(|slice| {
        let notes = slice.locked_notes.as_ref();
        let has_it = notes.is_some_and(|notes| notes.contains(note));
        slice.status.is_open() || (slice.status == SliceStatus::Done && has_it)
    })
}

/// Updates the notes of every open slice to the answers. An answer whose slices were all cancelled concerns every
/// slice again.
pub(super) fn note(work: &mut Work) {
    let plan = &work.next.plan;
    for kept in &mut work.next.ledger.answers {
        let note = kept.note();
        if !kept.slices.iter().any(|id| binds(plan, id, &note)) {
            kept.slices.clear();
        }
    }
    let ledger = &work.next.ledger;
    for slice in &mut work.next.plan.candidate_slices {
        if !slice.status.is_open() {
            continue;
        }
        let notes = slice.locked_notes.take().unwrap_or_default();
        let own = notes.into_iter().filter(|note| !is_answer(note));
        slice.locked_notes = Some(own.chain(list_notes(ledger, &slice.slice_id)).collect());
    }
    work.sync_handoff();
}

/// Words of the user that no open or done slice was built or accepted under. Empty while the plan has no slices.
pub(super) fn list_unheld(snapshot: &Snapshot) -> Vec<Blocker> {
    let slices = &snapshot.plan.candidate_slices;
    if slices.is_empty() {
        return Vec::new();
    }
    let kept = slices
        .iter()
        .filter(|slice| slice.status != SliceStatus::Cancelled);
    let notes: Vec<&String> = kept
        .flat_map(|slice| slice.locked_notes.iter().flatten())
        .collect();
    let answers = snapshot.ledger.answers.iter();
    let unheld = answers.filter(|answer| !notes.contains(&&answer.note()));
    let unheld = unheld.map(|answer| Blocker {
        id: answer.id(),
        what: vec![answer.words()],
    });
    unheld.collect()
}

/// Refuses a note that reads as the user's but is not one of the answers, because only cook writes those.
pub(super) fn require_own_notes(ledger: &Ledger, planned: &PlannedSlice) -> Result<(), Refusal> {
    let is_known = |note: &String| {
        let mut answers = ledger.answers.iter();
        answers.any(|answer| clean(&answer.note(), Lines::Fold) == clean(note, Lines::Fold))
    };
    let mut notes = planned.locked_notes.iter().flatten();
    let forged = notes.find(|note| reads_as_users(note) && !is_known(note));
    let Some(note) = forged else { return Ok(()) };
    let shown: String = clean(note, Lines::Fold).chars().take(80).collect();
    Err(refusal!(
        Code::NoteForged,
        "a note of slice `{}` reads as the user's: {shown}",
        planned.slice_id
    ))
}

/// Whether a line begins with `user@` or something that looks like it. Blanks and marks are ignored, and a letter
/// of another alphabet may look like any letter.
fn reads_as_users(note: &str) -> bool {
    let reads = |line: &str| {
        let Some(at) = line.find(['@', '＠', '﹫']) else {
            return false;
        };
        let name: String = line[..at].chars().filter(|c| c.is_alphanumeric()).collect();
        let name = name.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_other = !name.is_ascii() && name.chars().count() <= 6;
        is_other || name.eq_ignore_ascii_case("user")
    };
    clean(note, Lines::Keep).lines().any(reads)
}

fn list_notes(ledger: &Ledger, id: &str) -> impl Iterator<Item = String> {
    let concerns = move |answer: &&UserAnswer| {
        answer.slices.is_empty() || answer.slices.iter().any(|slice| slice == id)
    };
    let answers = ledger.answers.iter().filter(concerns);
    answers.map(UserAnswer::note)
}

fn is_answer(note: &str) -> bool {
    note.starts_with(ANSWER_NOTE)
}

/// The conditions that a review and an audit are given for: the criteria and the user's answers.
pub(super) fn conditions(slice: &Slice) -> Vec<String> {
    let notes = slice.locked_notes.iter().flatten();
    let answers = notes.filter(|note| is_answer(note)).cloned();
    slice
        .acceptance_criteria
        .iter()
        .cloned()
        .chain(answers)
        .collect()
}
