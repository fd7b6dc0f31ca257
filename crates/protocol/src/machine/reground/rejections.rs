//! A report's answers to rejections by judges, a review, or the last audit.

use super::choices::is_wave_over;
use crate::diagnostic::last_line;
use crate::machine::rule::Rule;
use crate::machine::work::{Work, quote_word};
use crate::machine::{drift, slices, wave};
use crate::model::{Caches, Outcome, STOP_VERIFIER};
use crate::prelude::*;
use crate::report::is_named;

/// Requires an answer to every open no of a judge, except under rule 9.
pub(super) fn answer_rejections(work: &mut Work, block: &Reground) -> Result<bool, Refusal> {
    require_known(work, block)?;
    if work.due.rule == Rule::Conclude {
        return Ok(false);
    }
    wave::void(&mut work.next);
    let owed = work.next.ledger.unanswered.clone();
    let open = || owed.iter().filter(|no| answer_to(block, no).is_none());
    if let Some(first) = open().next() {
        let finding =
            |no: &Blocker| Finding::new(Code::NoUnanswered, describe_unanswered(no)).at(&*no.id);
        return Err(Refusal::new(Code::NoUnanswered, describe_unanswered(first))
            .with(open().map(finding).collect())
            .replace_hints([answer_shape(first)]));
    }
    for no in &owed {
        keep_answer(work, block, no);
    }
    work.next.ledger.unanswered.clear();
    Ok(!owed.is_empty())
}

/// Requires an answer if a review rejected the committed slice and its criteria or the user's answers have
/// changed: the report reopens the slice, or says why it need not be, and the next reviewer is told.
pub(super) fn answer_review(work: &mut Work, block: &Reground) -> Result<bool, Refusal> {
    let Some(review) = slices::void_rejection(&work.next) else {
        return Ok(false);
    };
    let no = wave::review_blocker(review);
    if answer_to(block, &no).is_none() {
        return Err(
            Refusal::new(Code::NoUnanswered, describe_unanswered(&no)).replace_hints([
                "reopen the slice: `\"reconcile\": {\"slice_id\": …, \"decision\": \"reopened\"}`"
                    .to_owned(),
                answer_shape(&no),
            ]),
        );
    }
    keep_answer(work, block, &no);
    let id = work.active_id().unwrap_or_default();
    work.void_review(&id);
    Ok(true)
}

/// Takes the report's answer to the last audit, and requires one before the end.
pub(super) fn answer_audit(work: &mut Work, block: &Reground) -> Result<(), Refusal> {
    // The audit of a cancelled slice is answered already.
    let kept = &work.next.ledger.answered_rejections;
    let is_kept = |no: &String| kept.iter().any(|kept| kept.no.id == *no);
    let mut given = block.answers.iter().map(|answer| &answer.no);
    let given = given.find(|no| no.starts_with(Blocker::AUDIT) && !is_kept(no));
    let open = wave::open_audit(&work.next);
    if let Some(id) = given
        && open.as_ref().is_none_or(|no| no.id != *id)
    {
        let what =
            format!("`answers` names `{id}`, but the report neither accepts nor reopens its slice");
        return Err(Refusal::new(Code::AnswerUnknown, what)
            .replace_hints(["answer it in the report that accepts or reopens the slice"]));
    }
    let Some(no) = open else { return Ok(()) };
    if answer_to(block, &no).is_some() {
        keep_answer(work, block, &no);
        work.next.ledger.open_audit = None;
        return Ok(());
    }
    if block.policy.is_some() || !drift::end_is_near(&work.next) {
        return Ok(());
    }
    let what = describe_unanswered(&no);
    Err(
        refusal!(Code::NoUnanswered, "all slices are closed, but {what}")
            .replace_hints([answer_shape(&no)]),
    )
}

/// The report's answer to a rejection. A reason without content is not an answer.
pub(super) fn answer_to<'a>(block: &'a Reground, no: &Blocker) -> Option<&'a str> {
    let mut answers = block.answers.iter();
    let given = answers.find(|given| given.no == no.id && is_named(&given.reason))?;
    Some(&given.reason)
}

/// Describes a rejection that is not answered.
fn describe_unanswered(no: &Blocker) -> String {
    format!("{} is not answered: {}", no.id, no.what.join("; "))
}

fn answer_shape(no: &Blocker) -> String {
    format!(
        "add `\"answers\": [{{\"no\": \"{}\", \"reason\": …}}]`; the reason names the slice that deals with it, or says why it no longer holds",
        no.id
    )
}

fn keep_answer(work: &mut Work, block: &Reground, no: &Blocker) {
    let answer = answer_to(block, no).unwrap_or_default().to_owned();
    let answered = &mut work.next.ledger.answered_rejections;
    answered.push(AnsweredRejection::new(no.clone(), answer));
}

/// Notes which slices take up the rejections answered now: those that the answer names, otherwise those that this
/// report opens.
pub(super) fn note_slices(work: &mut Work, opened: &[String]) {
    let (before, next) = (&work.before.ledger.answered_rejections, &mut work.next);
    let open = next.plan.open_slices();
    let open: Vec<&String> = open.map(|slice| &slice.slice_id).collect();
    let answered = next.ledger.answered_rejections.iter_mut();
    for answered in answered.filter(|answered| !before.contains(answered)) {
        let named = |id: &&&String| names(&answered.answer, id);
        let mut slices: Vec<String> = open.iter().filter(named).copied().cloned().collect();
        if slices.is_empty() {
            let is_open = |id: &&String| open.contains(id);
            slices.extend(opened.iter().filter(is_open).cloned());
        }
        answered.slices = slices;
    }
}

/// Whether the id occurs in the text as a word of its own.
fn names(text: &str, id: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    text.match_indices(id).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + id.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// Requires a new answer to what was answered with a slice that this report cancels, and an answer to what no
/// slice takes up. A report that stops the work may leave the latter to the next.
pub(super) fn answer_left(work: &mut Work, block: &Reground) -> Result<bool, Refusal> {
    let again = wave::take_back_answers(&mut work.next, &work.before.plan);
    let mut left = wave::list_left(&work.next);
    left.retain(|no| again.iter().all(|known| known.id != no.id));
    if block.policy.is_some() {
        left.retain(|no| answer_to(block, no).is_some());
    }
    for no in again.iter().chain(&left) {
        if answer_to(block, no).is_none() {
            return Err(refuse_left(no, again.contains(no)));
        }
        keep_answer(work, block, no);
    }
    Ok(!again.is_empty() || !left.is_empty())
}

fn refuse_left(no: &Blocker, is_again: bool) -> Refusal {
    let (id, what) = (&no.id, no.what.join("; "));
    if no.is_users() {
        return refusal!(
            Code::AnswerUnplaced,
            "{id} is not assigned to any open or done slice: {what}"
        )
        .replace_hints([
            "open a slice for it in the same report".to_owned(),
            answer_shape(no),
        ]);
    }
    let what = match is_again {
        true => format!("the answer to {id} was a slice that this report cancels: {what}"),
        false => format!("{id} rejected a slice that is cancelled: {what}"),
    };
    Refusal::new(Code::NoUnanswered, what).replace_hints([answer_shape(no)])
}

/// Refuses an answer to an unknown rejection, because it would be lost.
fn require_known(work: &Work, block: &Reground) -> Result<(), Refusal> {
    let mut known: Vec<String> = wave::list_owed(work.before)
        .into_iter()
        .map(|no| no.id)
        .collect();
    known.extend(slices::rejection(work.before).map(|review| wave::review_blocker(review).id));
    known.extend(wave::find_audit_to_answer(work.before).map(|no| no.id));
    known.extend(wave::list_planned_audits(work.before));
    let plan = block.plan.iter().flat_map(|plan| &plan.candidate_slices);
    let cancelled: Vec<&String> = plan
        .filter(|slice| slice.status == Some(SliceStatus::Cancelled))
        .map(|slice| &slice.slice_id)
        .collect();
    let answered = work.before.ledger.answered_rejections.iter();
    let again = answered.filter(|it| it.slices.iter().any(|id| cancelled.contains(&id)));
    known.extend(again.map(|answered| answered.no.id.clone()));
    let left = wave::list_left_without(work.before, &cancelled);
    known.extend(left.into_iter().map(|no| no.id));
    let mut seen = BTreeSet::new();
    known.retain(|id| seen.insert(id.clone()));
    // A done slice of which a part is gone is answered for in the same list.
    let is_part = |no: &str| {
        let id = no.strip_prefix("part-");
        id.is_some_and(|id| work.before.plan.slice(id).is_some())
    };
    let mut answers = block.answers.iter();
    let Some(unknown) = answers.find(|answer| !known.contains(&answer.no) && !is_part(&answer.no))
    else {
        return Ok(());
    };
    let which = match known.is_empty() {
        true => "nothing is waiting for an answer".to_owned(),
        false => format!("only these are waiting for an answer: {}", known.join(", ")),
    };
    Err(refusal!(
        Code::AnswerUnknown,
        "`answers` names `{}`, but {which}",
        unknown.no
    )
    .replace_hints(["name a rejection that the prompt lists, or omit `answers`"]))
}

// The end of a full wave of judges.

/// Ends the wave. Returns whether that is progress by itself: the project stops, or another wave was given a
/// reason.
pub(super) fn conclude(
    work: &mut Work,
    block: &Reground,
    opened: &[String],
) -> Result<bool, Refusal> {
    let due = is_wave_over(work.due.rule);
    match (&block.conclude, due) {
        (None, false) => Ok(false),
        (None, true) if block.policy.is_some() => Ok(false),
        (None, true) => Err(Refusal::new(
            Code::ConcludeMissing,
            "all votes are in; the report must conclude the wave with stop or go_on",
        )),
        (Some(_), false) => Err(refusal!(
            Code::ConcludeNotDue,
            "rule {} applies here, so there is no wave to conclude",
            work.due.rule
        )),
        (Some(Conclude::Stop), true) => stop(work).map(|()| true),
        (Some(Conclude::GoOn { reason }), true) => go_on(work, block, reason.as_deref(), opened),
    }
}

fn stop(work: &mut Work) -> Result<(), Refusal> {
    let head = work.facts.head()?;
    if !wave::unanimous(work.before, head.commit.as_deref()) {
        return Err(Refusal::new(
            Code::StopNotUnanimous,
            "at least one judge of this wave said no, or named a blocker or a gap",
        ));
    }
    if let Some(open) = work.next.plan.open_slices().next() {
        let broken = work.findings.iter();
        let broken = broken.filter(|finding| finding.code == Code::ProofBroken);
        return Err(
            refusal!(Code::StopNotUnanimous, "slice `{}` is open", open.slice_id)
                .with(broken.cloned().collect()),
        );
    }
    let worktree = work.facts.worktree()?;
    if !worktree.is_clean() {
        return Err(refusal!(
            Code::StopDirty,
            "the worktree is not clean: {}",
            worktree.first_dirty()
        ));
    }
    // `cook verify --strict` fails on such a file.
    if let Some(path) = worktree.unwatched.first() {
        return Err(refusal!(Code::StopDirty, "git is set to ignore changes to {}, which differs from HEAD",
                quote_word(path))
        .replace_hints([
            "run `git update-index --no-assume-unchanged --no-skip-worktree PATH`, then commit or restore the file",
        ]));
    }
    let run = work.facts.stop_verifier(Caches::Empty)?;
    let verifier = [STOP_VERIFIER.to_owned()].into();
    if let Some(command) = work.facts.list_untrusted(&verifier)?.first() {
        return Err(Refusal::new(
            Code::TrustMissing,
            "the stop verifier was not run: this machine does not trust its scripts",
        )
        .hint(format!("run `cook trust {}`", quote_word(command))));
    }
    if !run.has_passed() {
        let why = match (&run.problem, &run.receipt) {
            (Some(problem), _) => problem.clone(),
            (None, Some(receipt)) => {
                let said = last_line(&receipt.tail).unwrap_or("no output");
                format!("it {}: {said}", receipt.ending())
            }
            (None, None) => "it did not run".to_owned(),
        };
        return Err(refusal!(
            Code::StopVerifierRed,
            "the stop verifier does not pass: {why}"
        ));
    }
    let kept = |receipt: &&Receipt| receipt.caches != Caches::Empty;
    if run.receipt.as_ref().filter(kept).is_some() {
        return Err(Refusal::new(
            Code::StopVerifierRed,
            "the stop verifier used files that earlier runs had left behind",
        ));
    }
    for what in run.remarks.clone() {
        work.remark(Code::GateSurroundings, "", what);
    }
    let evidence = VerificationEvidence {
        subject_type: Subject::CurrentHead,
        head_sha: head.commit.clone(),
        verification_commands: run
            .receipt
            .iter()
            .map(|receipt| receipt.command.clone())
            .collect(),
        outcome: Outcome::Passed,
        recorded_at: Some(work.now()),
        summary: format!(
            "the stop verifier passed at the HEAD the judges agreed on; {}",
            work.next.plan.tally_proofs().describe()
        ),
        runs: run.receipt.iter().cloned().collect(),
        ..VerificationEvidence::default()
    };
    work.next.evidence = evidence;
    work.next.state.continuation_policy = Policy::Done;
    work.next.ledger.waiting = None;
    Ok(())
}

fn go_on(
    work: &mut Work,
    block: &Reground,
    reason: Option<&str>,
    opened: &[String],
) -> Result<bool, Refusal> {
    let head = work.facts.head()?.clone();
    let takes_up = opened.iter().any(|id| work.next.plan.is_open(id));
    let reason = reason.filter(|reason| is_named(reason));
    if takes_up {
        require_wave_answered(work, block, reason)?;
        answer_wave(work, block, reason.unwrap_or_default());
        return Ok(false);
    }
    let Some(reason) = reason else {
        return Err(Refusal::new(
            Code::ConcludeMissing,
            "go_on needs a new or reopened slice, or a reason for another wave",
        ));
    };
    if !wave::may_open(work.before, &head) {
        return Err(refusal!(Code::WaveLimit, "{} waves were already held at this HEAD, which is the limit", wave::WAVES_PER_HEAD)
        .replace_hints([
            "plan a slice, or stop with `policy` instead of `conclude`; the user can also run `cook resume --new-wave`",
        ]));
    }
    match block.policy {
        // A report that asks the user or stops the work has not decided: each rejection waits for the next report.
        Some(_) => wave::void(&mut work.next),
        None => answer_wave(work, block, reason),
    }
    Ok(true)
}

/// Requires an answer to each no: slices alone do not say which of a judge's points they take up, and what becomes
/// of the others.
fn require_wave_answered(
    work: &Work,
    block: &Reground,
    reason: Option<&str>,
) -> Result<(), Refusal> {
    let votes = work.before.ledger.wave.votes.iter();
    let mut noes = votes.filter(|vote| !vote.can_stop).map(wave::blocker);
    let is_open = |no: &Blocker| reason.is_none() && answer_to(block, no).is_none();
    let Some(no) = noes.find(is_open) else {
        return Ok(());
    };
    let what = describe_unanswered(&no);
    Err(Refusal::new(Code::NoUnanswered, what).replace_hints([
        answer_shape(&no),
        "or add one `reason` to `go_on` that answers all of them".to_owned(),
    ]))
}

/// Answers the wave's rejections with `answer`, unless the report has an answer to one.
fn answer_wave(work: &mut Work, block: &Reground, answer: &str) {
    let own = |no: &Blocker| answer_to(block, no).unwrap_or(answer).to_owned();
    let ledger = &mut work.next.ledger;
    let rejections = ledger.wave.votes.drain(..).filter(|vote| !vote.can_stop);
    ledger.answered_rejections.extend(rejections.map(|vote| {
        let no = wave::blocker(&vote);
        let answer = own(&no);
        AnsweredRejection::new(no, answer)
    }));
}
