//! The judges' votes: each no is answered, and a full wave is ended.

use crate::diagnostic::{Code, Finding, Refusal};
use crate::machine::rule::Rule;
use crate::machine::text::quoted;
use crate::machine::wave;
use crate::machine::work::Work;
use crate::model::{
    AnsweredRejection, Caches, Conclude, Outcome, Policy, Receipt, Reground, STOP_VERIFIER,
    Subject, VerificationEvidence,
};

/// Outside rule 9 every `no` that is owed must be answered.
pub(super) fn answer_rejections(work: &mut Work, block: &Reground) -> Result<bool, Refusal> {
    if work.due.rule == Rule::Conclude {
        return Ok(false);
    }
    wave::void(&mut work.next);
    let owed = work.next.ledger.unanswered.clone();
    let open: Vec<Finding> = owed
        .iter()
        .filter(|no| !block.answers.iter().any(|answer| answer.no == no.id))
        .map(|no| {
            Finding::new(
                Code::NoUnanswered,
                format!("{} is not answered: {}", no.id, no.what.join("; ")),
            )
            .at(no.id.clone())
        })
        .collect();
    if let Some(first) = open.first() {
        let shape = format!(
            "add `\"answers\": [{{\"no\": \"{}\", \"reason\": …}}]`: the slice that takes it up, or why it no longer holds",
            owed.first().map_or("", |no| no.id.as_str())
        );
        return Err(Refusal::new(Code::NoUnanswered, first.message.clone())
            .with(open)
            .replace_hints([shape]));
    }
    for no in &owed {
        let mut given = block.answers.iter().filter(|given| given.no == no.id);
        let answer = given.next().map_or("", |given| &given.reason).to_owned();
        work.next
            .ledger
            .answered_rejections
            .push(AnsweredRejection {
                no: no.clone(),
                answer,
            });
    }
    work.next.ledger.unanswered.clear();
    Ok(!owed.is_empty())
}

/// Ends the wave. Returns true when a new one was asked for with a reason.
pub(super) fn conclude(
    work: &mut Work,
    block: &Reground,
    opened: &[String],
) -> Result<bool, Refusal> {
    let due = work.due.rule == Rule::Conclude;
    match (&block.conclude, due) {
        (None, false) => Ok(false),
        (None, true) if block.policy.is_some() => Ok(false),
        (None, true) => Err(Refusal::new(
            Code::ConcludeMissing,
            "all votes are in; the report must conclude the wave with stop or go_on",
        )),
        (Some(_), false) => Err(Refusal::new(
            Code::ConcludeNotDue,
            format!(
                "rule {} answers, so there is no wave to conclude",
                work.due.rule
            ),
        )),
        (Some(Conclude::Stop), true) => stop(work).map(|()| true),
        (Some(Conclude::GoOn { reason }), true) => go_on(work, reason.as_deref(), opened),
    }
}

fn stop(work: &mut Work) -> Result<(), Refusal> {
    let head = work.facts.head()?;
    if !wave::unanimous(work.before, head) {
        return Err(Refusal::new(
            Code::StopNotUnanimous,
            "not every judge of this wave said yes with no blocker and no gap",
        ));
    }
    if let Some(open) = work.next.plan.open_slices().next() {
        return Err(Refusal::new(
            Code::StopNotUnanimous,
            format!("slice `{}` is open", open.slice_id),
        ));
    }
    let worktree = work.facts.worktree()?;
    if !worktree.is_clean() {
        return Err(Refusal::new(
            Code::StopDirty,
            format!("the worktree is not clean: {}", worktree.first_dirty()),
        ));
    }
    let run = work.facts.stop_verifier()?;
    let verifier = [STOP_VERIFIER.to_owned()].into();
    if let Some(command) = work.facts.untrusted(&verifier)?.first() {
        return Err(Refusal::new(
            Code::TrustMissing,
            "the stop verifier was not run: this machine does not trust its scripts",
        )
        .hint(format!("run `cook trust {}`", quoted(command))));
    }
    if !run.passed() {
        let why = match (&run.problem, &run.receipt) {
            (Some(problem), _) => problem.clone(),
            (None, Some(receipt)) => {
                format!("it {}: {}", receipt.ending(), last_line(&receipt.tail))
            }
            (None, None) => "it did not run".to_owned(),
        };
        return Err(Refusal::new(
            Code::StopVerifierRed,
            format!("the stop verifier does not pass: {why}"),
        ));
    }
    let kept = |receipt: &&Receipt| receipt.caches != Caches::Empty;
    if run.receipt.as_ref().filter(kept).is_some() {
        return Err(Refusal::new(
            Code::StopVerifierRed,
            "the stop verifier used what earlier runs had left",
        ));
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
        summary: "the stop verifier passed at the HEAD the judges agreed on".to_owned(),
        runs: run.receipt.iter().cloned().collect(),
        ..VerificationEvidence::none()
    };
    work.next.evidence = evidence;
    work.next.state.continuation_policy = Policy::Done;
    work.next.ledger.waiting = None;
    Ok(())
}

fn last_line(text: &str) -> &str {
    text.lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("no output")
}

fn go_on(work: &mut Work, reason: Option<&str>, opened: &[String]) -> Result<bool, Refusal> {
    let head = work.facts.head()?.clone();
    let takes_up = opened.iter().any(|id| {
        work.next
            .plan
            .slice(id)
            .is_some_and(|slice| slice.status.is_open())
    });
    let reason = reason.filter(|reason| !reason.trim().is_empty());
    if takes_up {
        let by = format!("slices that take it up: {}", opened.join(", "));
        answer_wave(work, reason.unwrap_or(&by));
        return Ok(false);
    }
    let Some(reason) = reason else {
        return Err(Refusal::new(
            Code::ConcludeMissing,
            "go_on needs a new or reopened slice, or a reason for another wave",
        ));
    };
    if !wave::may_open(work.before, &head) {
        return Err(Refusal::new(
            Code::WaveLimit,
            format!("{} waves were held at this HEAD", wave::WAVES_PER_HEAD),
        )
        .replace_hints([
            "plan a slice, or stop with `policy`; the user may run `cook resume --new-wave`",
        ]));
    }
    answer_wave(work, reason);
    Ok(true)
}

/// The wave's rejections are answered by what comes of it.
fn answer_wave(work: &mut Work, answer: &str) {
    let ledger = &mut work.next.ledger;
    let rejections = ledger.wave.votes.drain(..).filter(|vote| !vote.can_stop);
    ledger
        .answered_rejections
        .extend(rejections.map(|vote| AnsweredRejection {
            no: wave::blocker(&vote),
            answer: answer.to_owned(),
        }));
}
