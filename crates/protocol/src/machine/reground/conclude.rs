//! The end of a full wave of judges.

use super::choices::is_wave_over;
use super::rejections::{answer_shape, answer_to, describe_unanswered};
use crate::diagnostic::{Code, Refusal};
use crate::machine::text::quote_word;
use crate::machine::wave;
use crate::machine::work::Work;
use crate::model::{
    AnsweredRejection, Blocker, Caches, Conclude, Outcome, Policy, Receipt, Reground,
    STOP_VERIFIER, Subject, VerificationEvidence,
};
use crate::report::is_named;

/// Ends the wave. Returns true when a new one was asked for with a reason.
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
        (Some(_), false) => Err(Refusal::new(
            Code::ConcludeNotDue,
            format!(
                "rule {} answers, so there is no wave to conclude",
                work.due.rule
            ),
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
            "not every judge of this wave said yes with no blocker and no gap",
        ));
    }
    if let Some(open) = work.next.plan.open_slices().next() {
        let broken = work.findings.iter();
        let broken = broken.filter(|finding| finding.code == Code::ProofBroken);
        let what = format!("slice `{}` is open", open.slice_id);
        return Err(Refusal::new(Code::StopNotUnanimous, what).with(broken.cloned().collect()));
    }
    let worktree = work.facts.worktree()?;
    if !worktree.is_clean() {
        return Err(Refusal::new(
            Code::StopDirty,
            format!("the worktree is not clean: {}", worktree.first_dirty()),
        ));
    }
    // `verify --strict` fails there.
    if let Some(path) = worktree.unwatched.first() {
        return Err(Refusal::new(
            Code::StopDirty,
            format!(
                "git was told not to look at {}, which HEAD has otherwise",
                quote_word(path)
            ),
        )
        .replace_hints([
            "`git update-index --no-assume-unchanged --no-skip-worktree PATH` lets git look at it; then commit it or put it back",
        ]));
    }
    let run = work.facts.stop_verifier()?;
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

fn go_on(
    work: &mut Work,
    block: &Reground,
    reason: Option<&str>,
    opened: &[String],
) -> Result<bool, Refusal> {
    let head = work.facts.head()?.clone();
    let takes_up = opened.iter().any(|id| {
        work.next
            .plan
            .slice(id)
            .is_some_and(|slice| slice.status.is_open())
    });
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
        return Err(Refusal::new(
            Code::WaveLimit,
            format!("{} waves were held at this HEAD", wave::WAVES_PER_HEAD),
        )
        .replace_hints([
            "plan a slice, or stop with `policy` and without `conclude`; the user may run `cook resume --new-wave`",
        ]));
    }
    match block.policy {
        // Who asks the user or stops the work has not decided: each rejection waits for the next report.
        Some(_) => wave::void(&mut work.next),
        None => answer_wave(work, block, reason),
    }
    Ok(true)
}

/// A slice answers what it takes up: the report says which of a judge's points that is, and what
/// becomes of the others.
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
        "or one `reason` beside `go_on` that answers each of them".to_owned(),
    ]))
}

/// The wave's rejections are answered by what comes of it, where the report has no answer to each.
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
