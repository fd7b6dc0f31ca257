//! One change of a commit, and what its gates say of it.

use super::built::does_not_build;
use super::found::{Field, Green};
use cook_mutants::Outcome;
use cook_protocol::diagnostic::{Code, Failure, Lines, Refusal, clean};
use cook_repo::receipt::TakenBack;
use std::time::{Duration, Instant};

/// What a gate may take beside three times its green run.
const BESIDE: Duration = Duration::from_secs(10);

/// What became of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tried {
    /// The gates say it; `timed_out`: one did not end with it. `said`: what the red one printed last.
    Told {
        outcome: Outcome,
        timed_out: bool,
        said: String,
    },
    /// The time that there is for all of them was over before it could be told.
    OutOfTime,
}

/// Runs gates, the fastest first, up to the first that is red with these files in the commit. `limit` says how
/// long each may take.
pub(super) fn try_files(
    field: &Field,
    greens: &[Green],
    files: &[TakenBack],
    deadline: Instant,
    limit: fn(&Green) -> Duration,
) -> Result<Tried, Failure> {
    for green in greens {
        let left = deadline.saturating_duration_since(Instant::now());
        let limit = limit(green);
        // What ends it has to be the defect, never the time that is left.
        let given = limit.min(left);
        if given < Duration::from_millis(green.ms) {
            return Ok(Tried::OutOfTime);
        }
        let mut gate = green.gate.clone();
        gate.timeout_ms = given.as_millis() as u64;
        let runs = (field.run)(files, &gate)?;
        for run in runs {
            let Some(receipt) = &run.receipt else {
                let why = run.problem.unwrap_or_default();
                let what = format!("`{}` could not be run: {why}", gate.run);
                return Err(Refusal::new(Code::GatesNotGreen, what).into());
            };
            if receipt.timed_out && given < limit {
                return Ok(Tried::OutOfTime);
            }
            if !receipt.has_passed() {
                return Ok(Tried::Told {
                    outcome: find_outcome(files, green, &receipt.tail),
                    timed_out: receipt.timed_out,
                    said: find_last_line(&receipt.tail),
                });
            }
        }
    }
    Ok(Tried::Told {
        outcome: Outcome::Survived,
        timed_out: false,
        said: String::new(),
    })
}

fn find_last_line(tail: &str) -> String {
    let mut lines = tail.lines().rev();
    let last = lines.find(|line| !line.trim().is_empty());
    clean(last.unwrap_or("nothing").trim(), Lines::Fold)
}

/// How long a gate may take with a defect: its own limit, and never much longer than without.
pub(super) fn limit_to_usual(green: &Green) -> Duration {
    let usual = Duration::from_millis(green.ms.saturating_mul(3)) + BESIDE;
    usual.min(limit_to_own(green))
}

/// How long it may take by its settings.
pub(super) fn limit_to_own(green: &Green) -> Duration {
    Duration::from_millis(green.gate.timeout_ms)
}

fn find_outcome(files: &[TakenBack], green: &Green, red: &str) -> Outcome {
    let broken = files.iter().any(|file| {
        let text = String::from_utf8_lossy(file.bytes.as_deref().unwrap_or_default());
        does_not_build(&file.path, &text, &green.tail, red)
    });
    match broken {
        true => Outcome::Unbuildable,
        false => Outcome::Killed,
    }
}
