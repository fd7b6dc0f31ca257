//! Pulling the log from a remote: the fetch is bounded, and the log is checked before any part of it is kept. If a
//! fetched log is not accepted, nothing changes.

use crate::git::Call;
use crate::remote::push_plan::has_ended;
use crate::remote::remote::{
    LOCK_WAIT, Listing, Mark, Remote, RemoteRef, Side, is_id, make_failure, unreachable, words,
};
use crate::run_again;
use crate::session::wrong_citation;
use crate::store::{Admitted, Limits, Quarantine, Store, Tip};
use cook_protocol::diagnostic::{Code, Failure, Finding, count_noun};
use cook_protocol::model::Snapshot;
use cook_protocol::refusal::Refusal;
use std::time::{Duration, Instant};

/// Limits for a fetched log.
const TRANSITIONS: u64 = 1_000_000;
const OBJECTS: u64 = 8_000_000;
const DOCUMENT: u64 = 4 << 20;
const FILE: u64 = 64 << 20;
/// The time limit for checking a log and replaying its events.
const TIME: Duration = Duration::from_secs(300);

/// The fetch brings only objects, each checked by git, and no refs or side effects. Without `--no-filter` a partial
/// clone would omit blobs.
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
    /// Fetches logs listed by [`Remote::look`] and opens each for reading, checked but not replayed. The repository and
    /// its log are not changed; the directory that holds the logs is removed with the last store.
    ///
    /// # Errors
    /// `remote_unreachable`; `remote_log_refused` for a log that cook would not have written.
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

    /// Fetches commits of the user's history that are missing here, by full id, into the repository's objects and
    /// without a ref. Returns those that the remote does not provide.
    ///
    /// # Errors
    /// When git cannot be run.
    pub fn bring(&self, commits: &[String]) -> Result<Vec<String>, Failure> {
        let mut lacking = Vec::new();
        for commit in commits.iter().filter(|commit| is_id(commit)) {
            if self.repo.resolve(commit)?.is_none() {
                lacking.push(commit.clone());
            }
        }
        // If one commit is unavailable, git fetches none of them; they are then tried one at a time.
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

    /// Unshallows a shallow clone: fetches the history of a commit (full id) if the remote has it, otherwise of its
    /// default branch.
    ///
    /// # Errors
    /// When git cannot be run.
    pub fn bring_history(&self, commit: &str) -> Result<(), Failure> {
        for wanted in [commit, "HEAD"] {
            if !self.repo.is_shallow() {
                break;
            }
            let call = self.call(Side::Fetch, &["--unshallow"])?.arg(wanted);
            // A failure is reported later, by the code that needs the history.
            self.git.run(call)?;
        }
        Ok(())
    }

    /// Fetches a branch's commit listed by [`Remote::look`], with its history, into the repository's objects.
    ///
    /// # Errors
    /// `remote_unreachable`, also if the branch no longer contains the commit.
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

    /// The arguments of `git fetch`, including the remote's address.
    fn call(&self, side: Side, more: &[&str]) -> Result<Call, Failure> {
        let mut call = Call::new(FETCH).transfers();
        for flag in more {
            call = call.arg(*flag);
        }
        Ok(call.arg(self.address(side)?))
    }

    /// Fetches refs into a quarantine and checks the size of the result. Returns the limits for reading it.
    pub(crate) fn fetch(
        &self,
        quarantine: &Quarantine,
        wanted: &[RemoteRef],
        side: Side,
    ) -> Result<Limits, Failure> {
        let mut call = self
            .call(side, &[])?
            .cap()
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

    /// Replays the events after a transition that is already known to be valid.
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

    /// Checks that the exchanges recorded beside a report are those that produced it.
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

    fn report_absent(&self, branch: &str) -> Failure {
        let what = format!("`{}` has no log for branch `{branch}`", self.show());
        let failure = Failure::state(Code::RemoteLogAbsent, what);
        // A log is named after its branch, which may have another name here.
        match self.find_upstream(branch) {
            Some(there) if there != branch => failure.hint(format!(
                "the branch is `{there}` there: `git branch -m {} {}`, then `cook pull`",
                shell_words::quote(branch),
                shell_words::quote(there)
            )),
            _ => failure,
        }
    }

    /// Pulls the remote's log of a branch.
    ///
    /// # Errors
    /// `remote_log_absent`, `log_gone`, `remote_log_rewound`, `log_other`, `remote_log_refused`; in each case nothing
    /// has changed.
    pub fn pull(
        &self,
        store: Option<&Store>,
        branch: &str,
        manner: Manner,
    ) -> Result<Pulled, Failure> {
        let listing = self.look(branch, Side::Fetch)?;
        let seen = self.recall(Mark::Seen(Side::Fetch), branch)?;
        let Some(there) = &listing.log else {
            return Err(match seen {
                Some(_) => self.report_gone(branch),
                None => self.report_absent(branch),
            });
        };
        let here = match store {
            Some(store) => store.current()?,
            None => None,
        };
        let mut pulled = Pulled {
            tip: Tip {
                commit: there.commit.clone(),
                seq: 0,
            },
            transitions: 0,
            is_fresh: store.is_none(),
            set_aside: None,
            ahead_of: None,
            branch: listing.branch.as_ref().map(|branch| branch.commit.clone()),
            findings: Vec::new(),
        };
        if let (Some(store), Some((tip, _))) = (store, &here) {
            let later = match &seen {
                Some(seen) if store.leads_over(seen, &there.commit)? => Some(seen),
                _ => None,
            };
            if let Some(seen) = later.filter(|_| manner != Manner::Accept) {
                return Err(self.rewound(branch, store, &there.commit, seen));
            }
            if tip.commit == there.commit || store.leads_over(&tip.commit, &there.commit)? {
                self.note(Mark::Seen(Side::Fetch), branch, &there.commit)?;
                pulled.tip = tip.clone();
                if later.is_some() {
                    return self.set_back(store, &there.commit, pulled);
                }
                pulled.ahead_of = (tip.commit != there.commit).then(|| there.commit.clone());
                return Ok(pulled);
            }
        }
        let quarantine = Quarantine::make(&self.place, true)?;
        let limits = self.fetch(&quarantine, std::slice::from_ref(there), Side::Fetch)?;
        let admitted = self.admit(&quarantine, there, &limits)?;
        let theirs = quarantine.open(&admitted)?;
        if let Some(seen) = &seen
            && manner != Manner::Accept
            && !is_at_or_before(&theirs, &admitted, seen)?
            && !self.was_kept(&theirs, &listing, seen)?
        {
            return Err(self.rewound(branch, store.unwrap_or(&theirs), &there.commit, seen));
        }
        let mine = match (store, &here) {
            (Some(store), Some((tip, snapshot))) => {
                let keep_mine = manner == Manner::KeepMine;
                self.only_here(store, tip, snapshot, &theirs, &admitted, branch, keep_mine)?
            }
            _ => 0,
        };
        let shared = here.as_ref().map_or(0, |(tip, _)| tip.seq - mine);
        self.replay(&theirs, admitted.find_known().as_deref(), &limits)?;
        quarantine.take_in(&admitted, LOCK_WAIT)?;
        let created;
        let store = match store {
            Some(store) => store,
            None => {
                created = Store::create(self.place.clone())?;
                &created
            }
        };
        // Recorded first: after the log has moved, nothing can fail.
        self.note(Mark::Seen(Side::Fetch), branch, &there.commit)?;
        self.note(Mark::Pulled, branch, &there.commit)?;
        let recovered = store.lock(LOCK_WAIT)?.recover()?;
        let moved = recovered.go_on_from(here.as_ref().map(|(tip, _)| tip), &there.commit)?;
        pulled.tip = moved.tip;
        // Some may be in the log already, if the process that pushed them was killed before recording them.
        pulled.transitions = pulled.tip.seq - shared;
        pulled.set_aside = moved.set_aside.map(|name| SetAside {
            name,
            transitions: mine,
        });
        pulled.findings = moved.findings;
        Ok(pulled)
    }

    /// Resets the log to the remote's, even if only this clone has newer transitions: these are set aside.
    ///
    /// # Errors
    /// As [`Remote::pull`].
    pub fn fall_back(&self, store: &Store, branch: &str) -> Result<Pulled, Failure> {
        let mut pulled = self.pull(Some(store), branch, Manner::Usual)?;
        match pulled.ahead_of.take() {
            Some(there) => self.set_back(store, &there, pulled),
            None => Ok(pulled),
        }
    }

    /// Resets the log to an earlier transition of its own. The later transitions are kept.
    fn set_back(&self, store: &Store, there: &str, mut pulled: Pulled) -> Result<Pulled, Failure> {
        let recovered = store.lock(LOCK_WAIT)?.recover()?;
        let moved = recovered.go_on_from(Some(&pulled.tip), there)?;
        pulled.set_aside = moved.set_aside.map(|name| SetAside {
            name,
            transitions: pulled.tip.seq - moved.tip.seq,
        });
        pulled.tip = moved.tip;
        pulled.findings = moved.findings;
        Ok(pulled)
    }

    /// Fails if the remote's log is shorter than this clone has seen there, a different one, or missing; a workflow
    /// that ended and is kept there is fine. `theirs` is the remote's present log.
    ///
    /// # Errors
    /// `remote_log_rewound`, `log_gone`.
    pub fn refuse_set_back(
        &self,
        branch: &str,
        listing: &Listing,
        theirs: Option<&Store>,
        own: Option<&Store>,
    ) -> Result<(), Failure> {
        let seen = match branch.is_empty() {
            true => None,
            false => self.recall(Mark::Seen(Side::Fetch), branch)?,
        };
        let Some(seen) = seen else {
            return Ok(());
        };
        let there = listing.log.as_ref().zip(theirs);
        if let Some((log, theirs)) = there
            && (log.commit == seen || theirs.leads_over(&log.commit, &seen)?)
        {
            return Ok(());
        }
        let kept: Vec<RemoteRef> = listing.list_kept().take(MOST_KEPT).cloned().collect();
        if kept.iter().any(|kept| kept.commit == seen) {
            return Ok(());
        }
        if !kept.is_empty() {
            for (kept, store) in kept.iter().zip(self.read(&kept)?) {
                if store.leads_over(&kept.commit, &seen)? {
                    return Ok(());
                }
            }
        }
        Err(match there {
            Some((log, theirs)) => self.rewound(branch, own.unwrap_or(theirs), &log.commit, &seen),
            None => self.report_gone(branch),
        })
    }

    /// Whether the log that this clone has seen there ended, and is kept beside the one that replaced it.
    fn was_kept(&self, theirs: &Store, listing: &Listing, seen: &str) -> Result<bool, Failure> {
        for kept in listing.list_kept() {
            if kept.commit == seen || theirs.leads_over(&kept.commit, seen)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The number of transitions that only this clone has; an error if they prevent adopting the remote's log.
    #[allow(clippy::too_many_arguments)]
    fn only_here(
        &self,
        store: &Store,
        tip: &Tip,
        snapshot: &Snapshot,
        theirs: &Store,
        admitted: &Admitted,
        branch: &str,
        keep_mine: bool,
    ) -> Result<u64, Failure> {
        if is_at_or_before(theirs, admitted, &tip.commit)? {
            return Ok(0);
        }
        let shared = store.last_shared(theirs)?;
        if shared.is_none() && !has_ended(snapshot) {
            return Err(self.other(branch, &theirs.snapshot()?));
        }
        let mine = tip.seq - shared.map_or(0, |shared| shared.seq);
        if keep_mine {
            return Err(Refusal::new(
                Code::LogDiverged,
                format!(
                    "{} here and {} of `{}` do not follow one another",
                    count_noun(mine, "transition"),
                    count_noun(admitted.transitions, "transition"),
                    self.show()
                ),
            )
            .into());
        }
        Ok(mine)
    }
}

/// Attributes an unreadable log to the remote it came from: `cook doctor fsck` only examines the local one.
pub fn blame(failure: Failure, remote: &str) -> Failure {
    match failure.code {
        Code::LogUnreadable => name_log(failure, remote),
        _ => failure,
    }
}

/// Adds the remote's name to the refusal of its log.
fn name_log(failure: Failure, remote: &str) -> Failure {
    let what = format!("the log of `{remote}`: {}", failure.message);
    let mut named = Failure::new(failure.kind, Code::RemoteLogRefused, what);
    named.causes = failure.causes;
    named
}

/// Whether a line of git's output is about the received objects, not about the connection.
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

/// The maximum number of kept logs that are searched for one that this clone has seen.
const MOST_KEPT: usize = 64;

/// Transitions that only this clone had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// The ref of the log that keeps them.
    pub name: String,
    /// Their number.
    pub transitions: u64,
}

/// The result of a pull.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pulled {
    /// The tip of the log after the pull.
    pub tip: Tip,
    /// The number of transitions that are new here.
    pub transitions: u64,
    /// Whether there was no log here before.
    pub is_fresh: bool,
    /// The transitions of this clone that were set aside because the remote's log replaced them.
    pub set_aside: Option<SetAside>,
    /// The tip of the remote's log, if only this clone has newer transitions.
    pub ahead_of: Option<String>,
    /// The remote's commit of the branch itself.
    pub branch: Option<String>,
    /// Findings of the pull.
    pub findings: Vec<Finding>,
}

/// How to treat transitions that only this clone has, and a remote log that is not the one this clone has seen there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Sets aside transitions that only this clone has; an unexpected log there is an error.
    Usual,
    /// Both are errors.
    KeepMine,
    /// Accepts the remote's log as it is.
    Accept,
}

/// Whether a transition is in an admitted log.
fn is_at_or_before(theirs: &Store, admitted: &Admitted, earlier: &str) -> Result<bool, Failure> {
    Ok(admitted.tip() == earlier || theirs.leads_over(&admitted.tip(), earlier)?)
}
