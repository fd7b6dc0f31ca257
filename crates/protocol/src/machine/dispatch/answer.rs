//! What the rules answer with, in words.

use super::goal;
use crate::diagnostic::{Code, Refusal, count_noun};
use crate::machine::drift::{Drift, new_answer};
use crate::machine::facts::{MAX_COMMITS, Range};
use crate::machine::rule::Dispatch;
use crate::machine::text::short;
use crate::model::{Policy, Role, Snapshot, WaitingKind};

/// What a rule answers with when it fires.
pub(super) struct Answer {
    pub action: String,
    pub reason: String,
    pub command: Option<String>,
}

impl Answer {
    pub(super) fn new(action: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            action: action.into(),
            reason: reason.into(),
            command: None,
        }
    }

    pub(super) fn command(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }
}

/// What is to be done about the slice, and what the user said meanwhile, whatever that is.
pub(super) fn implement_answer(snapshot: &Snapshot, drift: &Drift, id: &str) -> Answer {
    let mut answer = work_answer(snapshot, drift, id);
    if let Some(said) = new_answer(&snapshot.ledger) {
        let what = format!("; the user answered ({said}): hold the work to that before the report");
        answer.reason.push_str(&what);
    }
    answer
}

fn work_answer(snapshot: &Snapshot, drift: &Drift, id: &str) -> Answer {
    if let Some(newest) = drift.unreported.last() {
        return Answer::new(
            format!(
                "report slice `{id}`: its commits up to {} are not reported",
                short(newest)
            ),
            format!(
                "{} of the slice in no report yet; the work is there, only the report is missing",
                count_noun(drift.unreported.len() as u64, "commit")
            ),
        );
    }
    if let Some(at) = &drift.holds {
        return Answer::new(
            format!("report slice `{id}`: commit {} holds its work", short(at)),
            "the re-ground that reopened it names the commit; it is reviewed anew as it stands",
        );
    }
    let must_fix = snapshot
        .active
        .handoff
        .as_ref()
        .map_or(0, |h| h.must_fix_findings.len());
    if must_fix > 0 {
        return Answer::new(
            format!(
                "fix slice `{id}`: {} to fix",
                count_noun(must_fix as u64, "finding")
            ),
            "the slice was reopened, or its gates were red",
        );
    }
    let claimed = snapshot
        .ledger
        .slices
        .get(id)
        .map_or(0, |it| it.claimed.len());
    if claimed > 0 {
        return Answer::new(
            format!("implement slice `{id}`"),
            format!(
                "the slice is selected; {} of its own came before it was given back, and no report of them was taken",
                count_noun(claimed as u64, "commit")
            ),
        );
    }
    Answer::new(
        format!("implement slice `{id}`"),
        "the slice is selected and has no commit of its own yet",
    )
}

/// Action, reason and the command that leaves a stored stopped policy.
pub(super) fn describe_stop(snapshot: &Snapshot) -> (String, String, Option<String>) {
    let waiting = snapshot.ledger.waiting.as_ref();
    let what = waiting.map_or(String::new(), |waiting| waiting.what.clone());
    let exit = waiting.map(|waiting| waiting.exit.clone());
    let proofs = snapshot.plan.tally_proofs().describe();
    if let Some((action, reason)) = goal::describe_end(snapshot) {
        return (action, reason, None);
    }
    match snapshot.state.continuation_policy {
        Policy::Done => (
            "nothing: the project is done".to_owned(),
            match snapshot.describe_assurance() {
                None => format!("the final reconciliation is recorded; {proofs}"),
                Some(_) => format!(
                    "the final reconciliation is recorded; {proofs}; slices or votes rest on assurance `{}`",
                    snapshot.lowest_assurance()
                ),
            },
            None,
        ),
        Policy::Blocked => {
            let exit = describe_way_on(exit.as_deref().unwrap_or_default());
            ("clear what blocks".to_owned(), what, Some(exit))
        }
        Policy::Paused if waiting.is_some_and(|waiting| waiting.kind == WaitingKind::Cancel) => {
            ("nothing: the workflow was cancelled".to_owned(), what, exit)
        }
        Policy::Paused => ("nothing: the workflow is paused".to_owned(), what, exit),
        Policy::AwaitUserInput | Policy::Continue => {
            let action = match waiting.map(|waiting| waiting.kind) {
                Some(WaitingKind::Trust) => "trust the commands, or change the plan",
                Some(WaitingKind::Worktree) => "settle the files that are not the slice's",
                Some(WaitingKind::Outside) => "settle what was changed outside",
                _ => "answer",
            };
            (action.to_owned(), what, exit)
        }
    }
}

/// What a role names clears what blocks, and leaves the work stopped: the command that resumes it
/// stands behind it.
fn describe_way_on(exit: &str) -> String {
    const RESUME: &str = "cook resume";
    const RESUMING: [&str; 2] = [RESUME, "cook trust"];
    match exit.trim() {
        "" => RESUME.to_owned(),
        exit if RESUMING.iter().any(|known| exit.contains(known)) => exit.to_owned(),
        exit => format!("{exit} && {RESUME}"),
    }
}

/// What became of HEAD since the project was found done.
pub(super) fn describe_moved(since: &Range) -> String {
    if !since.ancestor {
        return "HEAD no longer contains the commit that was found done".to_owned();
    }
    match since.commits.len() {
        MAX_COMMITS => format!("{MAX_COMMITS} commits or more came since"),
        count => format!("{} came since", count_noun(count as u64, "commit")),
    }
}

/// `not_your_turn`, with who is due instead.
pub fn not_your_turn(role: Role, due: &Dispatch) -> Refusal {
    let message = match due.role {
        Some(due_role) => format!(
            "rule {} asks for the {due_role}, not the {role}: {}",
            due.rule, due.reason
        ),
        None => format!("the work is stopped ({}): {}", due.policy, due.reason),
    };
    let mut refusal = Refusal::new(Code::NotYourTurn, message);
    if let Some(command) = &due.blocking_command {
        refusal = refusal.hint(format!("run `{command}`"));
    }
    refusal
}
