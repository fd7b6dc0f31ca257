//! Fetching logs into a quarantine, and reading them there.

use crate::git::Call;
use crate::remote::remote::{Remote, RemoteRef, Side, is_id, make_failure, unreachable, words};
use crate::run_again;
use crate::session::wrong_citation;
use crate::store::{Admitted, Limits, Quarantine, Store};
use cook_protocol::diagnostic::{Code, Failure};
use std::time::{Duration, Instant};

/// What is read of a log at most.
const TRANSITIONS: u64 = 1_000_000;
const OBJECTS: u64 = 8_000_000;
const DOCUMENT: u64 = 4 << 20;
const FILE: u64 = 64 << 20;
/// How long it may take to look through one, and to run its events again.
const TIME: Duration = Duration::from_secs(300);

/// Under these settings and flags nothing but objects comes along, each looked at by git. Without `--no-filter` a
/// partial clone leaves blobs out.
const FETCH: &str = "-c fetch.fsckObjects=true -c fetch.unpackLimit=1 -c transfer.unpackLimit=1 \
    -c fetch.prune=false -c fetch.pruneTags=false -c fetch.recurseSubmodules=no \
    -c fetch.writeCommitGraph=false -c fetch.bundleURI= -c fetch.parallel=1 \
    -c gc.auto=0 -c maintenance.auto=false -c pack.threads=1 fetch --quiet \
    --no-filter --no-tags --no-prune --no-write-fetch-head --refmap= --no-auto-gc \
    --no-recurse-submodules --no-show-forced-updates";

pub(crate) fn limits() -> Limits {
    Limits {
        transitions: TRANSITIONS,
        objects: OBJECTS,
        document: DOCUMENT,
        file: FILE,
        until: Instant::now() + TIME,
    }
}

impl Remote<'_> {
    /// Fetches logs that [`Remote::look`] named and opens each for reading, looked through and not
    /// replayed. Nothing is written to the repository or its log; the directory that holds them
    /// goes with the last store.
    ///
    /// # Errors
    /// `remote_unreachable`; `remote_log_refused` for a log that cook would not write.
    pub fn read(&self, wanted: &[RemoteRef]) -> Result<Vec<Store>, Failure> {
        let quarantine = Quarantine::make(&self.place, false)?;
        let limits = self.fetch(&quarantine, wanted, Side::Fetch)?;
        wanted
            .iter()
            .map(|one| {
                let admitted = self.admit(&quarantine, one, &limits)?;
                quarantine
                    .open(&admitted)
                    .map_err(|error| self.refuse(error))
            })
            .collect()
    }

    /// Brings commits of the user's history that are not here, by their full ids: into the
    /// repository's objects, under no ref. Returns those that the remote does not give.
    ///
    /// # Errors
    /// git that cannot be run.
    pub fn bring(&self, commits: &[String]) -> Result<Vec<String>, Failure> {
        let mut lacking = Vec::new();
        for commit in commits.iter().filter(|commit| is_id(commit)) {
            if self.repo.resolve(commit)?.is_none() {
                lacking.push(commit.clone());
            }
        }
        // One that is not to be had lets git bring none of them: then one after the other.
        let mut calls = match lacking.len() {
            0 => return Ok(lacking),
            1 => Vec::new(),
            _ => vec![lacking.clone()],
        };
        calls.extend(lacking.iter().map(|commit| vec![commit.clone()]));
        for wanted in calls {
            let mut call = self.call(Side::Fetch, &[])?;
            for commit in &wanted {
                call = call.arg(commit);
            }
            if self.git.run(call)?.success() {
                lacking.retain(|commit| !wanted.contains(commit));
            }
            if lacking.is_empty() {
                break;
            }
        }
        Ok(lacking)
    }

    /// Brings what a shallow clone was cut off from: the history that leads to a commit (a full id), where
    /// the remote has that one, else to its default branch.
    ///
    /// # Errors
    /// git that cannot be run.
    pub fn bring_history(&self, commit: &str) -> Result<(), Failure> {
        for wanted in [commit, "HEAD"] {
            if !self.repo.is_shallow() {
                break;
            }
            let call = self.call(Side::Fetch, &["--unshallow"])?.arg(wanted);
            // What is still missing is said where it is asked for.
            self.git.run(call)?;
        }
        Ok(())
    }

    /// Brings a branch's commit that [`Remote::look`] named, and what it leads to, into the
    /// repository's objects.
    ///
    /// # Errors
    /// `remote_unreachable`, also where the branch does not lead to it any more.
    pub fn bring_branch(&self, branch: &str, commit: &str) -> Result<(), Failure> {
        if self.repo.resolve(commit)?.is_some() {
            return Ok(());
        }
        let call = self.call(Side::Fetch, &[])?;
        let captured = self.git.run(call.arg(format!("refs/heads/{branch}")))?;
        if captured.success() && self.repo.resolve(commit)?.is_some() {
            return Ok(());
        }
        let what = format!("`{}` did not send branch `{branch}`", self.show());
        Err(unreachable(&what, &words(&captured.stderr)))
    }

    /// A call of `git fetch`, up to the remote's address.
    fn call(&self, side: Side, more: &[&str]) -> Result<Call, Failure> {
        let mut call = Call::new(FETCH).transfers();
        for flag in more {
            call = call.arg(*flag);
        }
        Ok(call.arg(self.address(side)?))
    }

    /// Fetches refs into a quarantine and looks at the sizes of what came; what is left of the
    /// limits.
    pub(crate) fn fetch(
        &self,
        quarantine: &Quarantine,
        wanted: &[RemoteRef],
        side: Side,
    ) -> Result<Limits, Failure> {
        let mut call = self
            .call(side, &[])?
            .capped()
            .env("GIT_OBJECT_DIRECTORY", quarantine.objects())
            .lend(quarantine.lent());
        for one in wanted {
            call = call.arg(format!("+{}", one.name));
        }
        let captured = self.git.run(call)?;
        if !captured.success() {
            let said = words(&captured.stderr);
            let shown = self.show();
            return Err(match said.iter().any(|line| is_of_objects(line)) {
                true => make_failure(
                    Code::RemoteLogRefused,
                    &format!(
                        "git does not take the objects that `{shown}` sends, or they are more than cook reads"
                    ),
                    &said,
                ),
                false => unreachable(&format!("`{shown}` did not send its log"), &said),
            });
        }
        let limits = limits();
        quarantine
            .check_sizes(&limits)
            .map_err(|error| self.refuse(error))?;
        Ok(limits)
    }

    pub(crate) fn admit(
        &self,
        quarantine: &Quarantine,
        wanted: &RemoteRef,
        limits: &Limits,
    ) -> Result<Admitted, Failure> {
        let admitted = quarantine.admit(&wanted.commit, limits);
        admitted.map_err(|error| self.refuse(error))
    }

    fn refuse(&self, failure: Failure) -> Failure {
        match failure.code {
            Code::RemoteLogRefused => name_log(failure, &self.show()),
            _ => blame(failure, &self.show()),
        }
    }

    /// Runs the events again after a transition that is known to hold.
    pub(crate) fn replay(
        &self,
        store: &Store,
        known: Option<&str>,
        limits: &Limits,
    ) -> Result<(), Failure> {
        let mut late = false;
        let replayed = store.replay_after(known, |before, event, facts, actor| {
            if Instant::now() > limits.until {
                late = true;
                return Err("it was not reached in time".to_owned());
            }
            run_again(before, event, facts, actor)
        });
        let report = replayed.map_err(|error| self.refuse(error))?;
        let Some(finding) = report.findings.into_iter().next() else {
            return self.check_cited(store, known);
        };
        let what = match late {
            true => format!(
                "running its events again took longer than {} s",
                TIME.as_secs()
            ),
            false => finding.message,
        };
        Err(self.not_taken(&what))
    }

    /// Exchanges that lie beside a report are those that it came out of.
    fn check_cited(&self, store: &Store, known: Option<&str>) -> Result<(), Failure> {
        let mut wrong = None;
        store.each_cited_exchange(known, |_, seq, event, cited| {
            let why = match cited {
                Ok(cited) => wrong_citation(event, cited),
                Err(why) => Some(why.to_owned()),
            };
            wrong = wrong
                .take()
                .or(why.map(|why| format!("transition {seq}: {why}")));
            Ok(())
        })?;
        wrong.map_or(Ok(()), |what| Err(self.not_taken(&what)))
    }

    fn not_taken(&self, what: &str) -> Failure {
        Failure::state(
            Code::RemoteLogRefused,
            format!("the log of `{}` is not taken: {what}", self.show()),
        )
    }
}

/// A log that came from a remote and cannot be read is that remote's: `cook doctor fsck` looks at the one that
/// is here.
pub fn blame(failure: Failure, remote: &str) -> Failure {
    match failure.code {
        Code::LogUnreadable => name_log(failure, remote),
        _ => failure,
    }
}

/// Whose log it is that is refused.
fn name_log(failure: Failure, remote: &str) -> Failure {
    let what = format!("the log of `{remote}`: {}", failure.message);
    let mut named = Failure::new(failure.kind, Code::RemoteLogRefused, what);
    named.causes = failure.causes;
    named
}

/// git speaks of what was sent, not of the way there.
fn is_of_objects(line: &str) -> bool {
    [
        "fsck",
        "index-pack",
        "Out of memory",
        "out of memory",
        "bad object",
        "inflate",
        "pack has",
    ]
    .iter()
    .any(|known| line.contains(known))
}
