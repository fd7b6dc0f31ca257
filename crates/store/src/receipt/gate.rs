//! Running gates: where, on what tree, and what came of it.

use super::{Receipts, seal, words};
use cook_core::diagnostic::{Code, Failure};
use cook_core::machine::{GateRun, StopVerifierRun};
use cook_core::model::{Count, GateSpec, Receipt, STOP_VERIFIER, Timestamp};
use cook_git::{Repo, Throwaway};
use cook_os::clock::Clock;
use cook_os::process::{Ended, Live, Long, ProcessError, run};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// Names the cook that the stop verifier calls: the one that runs it.
pub const COOK_BIN_VARIABLE: &str = "COOK_BIN";
const STOP_VERIFIER_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// How long a command may take that only a plan names; `cook.toml`'s default.
const PLAN_GATE_TIMEOUT: Duration = Duration::from_secs(20 * 60);
/// Bytes of each stream a receipt carries itself.
const TAIL: usize = 1500;

/// Runs gates and keeps their receipts.
pub struct Gates<'a> {
    /// Where.
    pub repo: &'a Repo,
    /// Who keeps the receipts.
    pub receipts: &'a Receipts,
    /// When.
    pub clock: Clock,
    /// Who watches the output.
    pub live: Option<Live>,
}

/// A tree to run gates on.
struct Place {
    repo: Option<Repo>,
    commit: Option<String>,
    tree: Option<String>,
    /// Differed from the tree before anything ran.
    dirty: bool,
    /// Removed when the place goes; after the repository opened on it.
    _throwaway: Option<Throwaway>,
}

/// A receipt, or why there is none; with a receipt, what else is wrong.
type Outcome = (Option<Receipt>, Option<String>);

impl Gates<'_> {
    /// Runs gates at a commit (full id), one after another: in the worktree when it
    /// is clean and HEAD is that commit, otherwise in one throwaway worktree. Gates
    /// that must fail at the basis run there too.
    ///
    /// # Errors
    /// When git fails, a receipt cannot be kept, or cook is interrupted. A gate that
    /// cannot be started is not an error: its run says so.
    pub fn run_at(
        &self,
        commit: &str,
        basis: Option<&str>,
        gates: &[GateSpec],
    ) -> Result<Vec<GateRun>, Failure> {
        if gates.is_empty() {
            return Ok(Vec::new());
        }
        let place = self.place_at(commit)?;
        let mut runs = Vec::new();
        for gate in gates {
            let (receipt, problem) = self.run(&place, &gate.run, timeout(gate), &[])?;
            runs.push(GateRun {
                gate: gate.clone(),
                receipt,
                problem,
                at_basis: None,
                losses: Vec::new(),
            });
        }
        drop(place);
        if gates.iter().any(|gate| gate.must_fail_at_basis) {
            self.add_basis_runs(basis, &mut runs)?;
        }
        Ok(runs)
    }

    fn add_basis_runs(&self, basis: Option<&str>, runs: &mut [GateRun]) -> Result<(), Failure> {
        let basis = match basis {
            Some(basis) => self.repo.resolve(basis)?,
            None => None,
        };
        let place = basis.map(|basis| self.throwaway(&basis)).transpose()?;
        for run in runs.iter_mut().filter(|run| run.gate.must_fail_at_basis) {
            let Some(place) = &place else {
                run.problem.get_or_insert(
                    "it must fail at the basis, which is not a commit here".to_owned(),
                );
                continue;
            };
            let (receipt, problem) = self.run(place, &run.gate.run, timeout(&run.gate), &[])?;
            run.at_basis = receipt;
            if let Some(problem) = problem {
                run.problem
                    .get_or_insert(format!("at the basis: {problem}"));
            }
        }
        Ok(())
    }

    /// Runs one gate in the worktree as it stands; the receipt says when it is dirty.
    ///
    /// # Errors
    /// As [`Gates::run_at`].
    pub fn run_here(&self, gate: &GateSpec) -> Result<GateRun, Failure> {
        let mut here = self.here()?;
        here.dirty |= !self.repo.unwatched()?.is_empty();
        let (receipt, problem) = self.run(&here, &gate.run, timeout(gate), &[])?;
        Ok(GateRun {
            gate: gate.clone(),
            receipt,
            problem,
            at_basis: None,
            losses: Vec::new(),
        })
    }

    /// Runs the stop verifier in the worktree as it stands (it reads `.agent/`, which
    /// no throwaway worktree has).
    ///
    /// # Errors
    /// As [`Gates::run_at`].
    pub fn stop_verifier(&self) -> Result<StopVerifierRun, Failure> {
        let env: Vec<(&str, OsString)> = std::env::current_exe()
            .into_iter()
            .map(|program| (COOK_BIN_VARIABLE, program.into_os_string()))
            .collect();
        if let Some(first) = self.repo.unwatched()?.first() {
            let problem = format!(
                "git was told not to look at `{first}`, so a clean worktree says nothing; `git update-index --no-assume-unchanged --no-skip-worktree {}` ends that",
                shell_words::quote(first)
            );
            return Ok(StopVerifierRun {
                receipt: None,
                problem: Some(problem),
            });
        }
        let place = self.here()?;
        let (receipt, problem) = self.run(&place, STOP_VERIFIER, STOP_VERIFIER_TIMEOUT, &env)?;
        Ok(StopVerifierRun { receipt, problem })
    }

    fn here(&self) -> Result<Place, Failure> {
        let head = self.repo.head()?;
        Ok(Place {
            repo: None,
            dirty: !self.repo.status()?.worktree.is_clean(),
            commit: head.commit,
            tree: head.tree,
            _throwaway: None,
        })
    }

    fn place_at(&self, commit: &str) -> Result<Place, Failure> {
        let here = self.here()?;
        // A file that git does not look at may hold anything, so it is tested as committed.
        if here.commit.as_deref() == Some(commit)
            && !here.dirty
            && self.repo.unwatched()?.is_empty()
        {
            return Ok(here);
        }
        self.throwaway(commit)
    }

    fn throwaway(&self, commit: &str) -> Result<Place, Failure> {
        let throwaway = self.repo.throwaway(commit)?;
        Ok(Place {
            repo: Some(Repo::discover(throwaway.path())?),
            commit: Some(commit.to_owned()),
            tree: Some(self.repo.tree_of(commit)?),
            dirty: false,
            _throwaway: Some(throwaway),
        })
    }

    fn run(
        &self,
        place: &Place,
        command: &str,
        timeout: Duration,
        env: &[(&str, OsString)],
    ) -> Result<Outcome, Failure> {
        let Ok(argv) = words(command) else {
            return Ok((None, Some("it has no words, or an open quote".to_owned())));
        };
        let repo = place.repo.as_ref().unwrap_or(self.repo);
        // Untracked files that an earlier gate of the same sequence left do not
        // change what is tested; a tracked file that it changed does.
        let touched = repo.status()?.tracked;
        let started_at = self.clock.now();
        let ended = match self.start(repo.root(), &argv, timeout, env)? {
            Ok(ended) => ended,
            Err(problem) => return Ok((None, Some(problem))),
        };
        let moved = repo.head()?.commit != place.commit;
        let changed = repo.status()?.tracked;
        let receipt = seal(Receipt {
            command: command.to_owned(),
            argv,
            cwd: ".".to_owned(),
            exit_code: ended.code,
            timed_out: ended.timed_out,
            duration_ms: Count(ended.duration.as_millis() as u64),
            stdout_sha256: ended.stdout.sha256.clone(),
            stderr_sha256: ended.stderr.sha256.clone(),
            tail: tail(&ended),
            head_sha: place.commit.clone(),
            tree_oid: place.tree.clone(),
            dirty: place.dirty || touched || moved || changed,
            started_at: Timestamp::Text(started_at),
            id: String::new(),
        });
        self.receipts
            .keep(&receipt, [&ended.stdout, &ended.stderr])?;
        let problem = if !ended.swept {
            Some("a process it started could not be ended")
        } else if moved {
            Some("it moved HEAD, so it shows nothing about the commit it was run for")
        } else if !place.dirty && touched {
            Some("a command before it changed tracked files")
        } else if !place.dirty && changed {
            Some("it changed tracked files, so it shows nothing about what is committed")
        } else {
            None
        };
        Ok((Some(receipt), problem.map(str::to_owned)))
    }

    fn start(
        &self,
        dir: &Path,
        argv: &[String],
        timeout: Duration,
        env: &[(&str, OsString)],
    ) -> Result<Result<Ended, String>, Failure> {
        let long = Long {
            argv,
            dir,
            env,
            timeout,
            live: self.live.clone(),
        };
        match run(&long) {
            Ok(ended) => Ok(Ok(ended)),
            Err(error @ ProcessError::Interrupted(_)) => {
                Err(Failure::state(Code::Interrupted, error.to_string()))
            }
            Err(ProcessError::Start { program, cause }) => {
                Ok(Err(format!("`{program}` could not be started: {cause}")))
            }
            Err(error) => Ok(Err(error.to_string())),
        }
    }
}

fn timeout(gate: &GateSpec) -> Duration {
    Duration::from_millis(gate.timeout_ms)
}

/// The last lines of both streams.
fn tail(ended: &Ended) -> String {
    [&ended.stdout, &ended.stderr]
        .map(|stream| stream.last_lines(TAIL))
        .concat()
}

/// The configured gates, then the commands that only a plan names, each once.
pub fn merge_gates(mut gates: Vec<GateSpec>, commands: &[String]) -> Vec<GateSpec> {
    let argv = |command: &str| words(command).unwrap_or_else(|_| vec![command.to_owned()]);
    let mut seen: BTreeSet<Vec<String>> = gates.iter().map(|gate| argv(&gate.run)).collect();
    for command in commands {
        if seen.insert(argv(command)) {
            gates.push(GateSpec {
                name: command.clone(),
                run: command.clone(),
                timeout_ms: PLAN_GATE_TIMEOUT.as_millis() as u64,
                required: true,
                must_fail_at_basis: false,
            });
        }
    }
    gates
}
