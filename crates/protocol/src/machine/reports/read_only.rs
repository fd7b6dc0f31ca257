//! What the reports of reviewer, auditor and judge have in common.

use crate::diagnostic::{Code, Lines, Refusal, clean};
use crate::machine::facts::FactSet;
use crate::machine::ticket::is_for_tree;
use crate::machine::work::Work;
use crate::model::Submission;

/// What reviewer, auditor and judge want measured.
pub(in crate::machine) fn read_only_needs(set: &mut FactSet) {
    set.worktree = true;
    set.config = true;
}

/// A read-only role looks at one commit, and leaves the worktree as it was when its ticket was given,
/// else at the last transition.
pub(super) fn require_same_tree(work: &Work, submission: &Submission) -> Result<(), Refusal> {
    let head = work.facts.head()?.commit.as_deref().unwrap_or("(none)");
    let elsewhere = |began: &&str| *began != head;
    if let Some(began) = submission.began_at.as_deref().filter(elsewhere) {
        return Err(Refusal::new(
            Code::TreeChanged,
            format!(
                "its session began at {}, and HEAD is {head}: it looked at another commit",
                clean(began, Lines::Fold)
            ),
        )
        .replace_hints(["give the role that is due a new session: `cook next`"]));
    }
    let worktree = work.facts.worktree()?;
    let ticket = submission.ticket.as_deref();
    let told = ticket.and_then(|ticket| is_for_tree(ticket, &worktree.digest));
    let seen = work.before.ledger.status_seen.as_ref();
    let same = told.unwrap_or_else(|| seen.is_none_or(|seen| seen == &worktree.digest));
    if same || worktree.is_clean() {
        return Ok(());
    }
    let since = match told {
        Some(_) => "its ticket was given",
        None => "the last transition",
    };
    Err(Refusal::new(
        Code::TreeChanged,
        format!(
            "the worktree changed since {since}: {}",
            worktree.first_dirty()
        ),
    )
    .replace_hints([
        format!(
            "take a ticket again: `cook next` prints the one of the worktree as it is, and `cook record {} FILE --ticket TICKET` hands the report in with it",
            submission.report.role.short()
        ),
        "or put back what changed; a commit is looked at anew".to_owned(),
    ]))
}
