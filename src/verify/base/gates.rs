//! The gates of the contract that decides, at HEAD.

use crate::check::Line;
use crate::measure::{self, Red};
use crate::service::{Judging, Workspace};
use crate::verify::outcome::Outcome;
use cook_core::diagnostic::{Code, Failure, count_noun};
use cook_core::model::STOP_VERIFIER;
use cook_trials::Weight;

/// Runs them; what is red is a finding.
pub(in crate::verify) fn run(
    workspace: &Workspace,
    judging: &Judging,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    const PLACE: &str = ".agent/cook.toml";
    let Some(head) = workspace.repo.head()?.commit else {
        let what = "the repository has no commit to run the gates at";
        outcome.find(Code::UnbornHead, what, PLACE);
        return Ok(());
    };
    if judging.has_own_verifier && !workspace.trust()?.is_trusted(STOP_VERIFIER) {
        let what =
            format!("`{STOP_VERIFIER}` was not run: this machine does not trust its scripts");
        let place = ".agent/verify_completion_stop.sh";
        outcome.find(Code::StopVerifierUntrusted, what, place);
    }
    let runs = workspace.run_judging_gates(judging, &head)?;
    let count = count_noun(runs.len() as u64, "gate");
    let from = match judging.files.is_empty() {
        true => "",
        false => ", with its files under `.agent/`",
    };
    outcome.add_checked(format!(
        "{count} at HEAD in a clean room, as the contract that decides has them{from}"
    ));
    for run in runs.iter().filter(|run| !run.has_passed()) {
        let why = match (&run.problem, &run.receipt) {
            (Some(problem), _) => problem.clone(),
            (None, Some(receipt)) => {
                let lines: Vec<&str> = receipt.tail.lines().collect();
                let last = lines[lines.len().saturating_sub(3)..].join("; ");
                format!("{}: {last}", receipt.ending())
            }
            (None, None) => "it did not run".to_owned(),
        };
        let red = Red {
            gate: Some(&run.gate),
            receipt: run.receipt.as_ref(),
            problem: run.problem.as_deref(),
        };
        let missing = measure::missing(&workspace.repo, &judging.config, red)?;
        let missing: String = missing
            .iter()
            .map(|hint| format!("; missing: {hint}"))
            .collect();
        let name = &run.gate.name;
        let what =
            format!("the gate `{name}` of the contract that decides does not pass: {why}{missing}");
        outcome.find(Code::StopVerifierFailed, what, PLACE);
    }
    // What the gates go through (a Makefile, a runner's settings, tests) is work as well, so that it is
    // held by what the base's tests say of HEAD's code.
    let tried = workspace.try_change(&judging.base, &head, &runs, &|_| {})?;
    outcome.checked.extend(tried.looked_at);
    for line in tried.lines.into_iter().map(Line::from) {
        match line.weight {
            Weight::Refuses => outcome.find(
                line.code,
                format!("{}; next: {}", line.message, line.show),
                line.file.as_ref().map_or(PLACE, |file| &file.path),
            ),
            Weight::NotKnown => outcome.add_checked(format!("not known: {}", line.message)),
            Weight::Shown => {}
        }
    }
    Ok(())
}
