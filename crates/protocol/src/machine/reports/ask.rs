//! What takes the place of a report: a question to the user, or one that was refused.

use crate::diagnostic::{Code, Refusal};
use crate::machine::answers;
use crate::machine::work::Work;
use crate::model::{Policy, Role, Submission, Waiting, WaitingKind};
use crate::report::advice;

/// A role needs something only the user has. Those that judge do not ask.
pub(in crate::machine) fn ask(
    work: &mut Work,
    role: Role,
    question: &str,
    submission: &Submission,
) -> Result<(), Refusal> {
    let may_ask = matches!(
        role,
        Role::Bootstrapper | Role::Regrounder | Role::Implementer
    );
    if !may_ask {
        return Err(Refusal::new(
            Code::NotYourTurn,
            format!("the {role} reports a verdict and asks nothing"),
        ));
    }
    answers::require_new(work, question)?;
    // What it says besides is heard when it goes on.
    match role {
        Role::Implementer => {
            if let Some(id) = work.active_id() {
                work.note_remarks(&id, &submission.report);
                work.note_fixes(&id, &submission.report);
            }
        }
        _ => {
            work.next.ledger.advice = advice(&submission.report).or(work.next.ledger.advice.take())
        }
    }
    work.next.state.continuation_policy = Policy::AwaitUserInput;
    work.next.ledger.waiting = Some(Waiting {
        kind: WaitingKind::Question,
        what: question.to_owned(),
        exit: "cook resume --answer 'TEXT'".to_owned(),
        asker: Some(role),
    });
    Ok(())
}

/// A driven session's report was refused: an attempt is spent, nothing else moves.
pub(in crate::machine) fn count_refusal(work: &mut Work) {
    work.next.counters.refused.0 += 1;
    if let Some(id) = work.active_id() {
        work.next.counters.attempts.entry(id).or_default().0 += 1;
    }
}
