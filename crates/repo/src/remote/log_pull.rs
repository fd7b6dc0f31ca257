//! Taking in what a remote holds: fetched, looked through, run again, and only then gone on from.

use crate::remote::push_plan::has_ended;
use crate::remote::remote::{LOCK_WAIT, Listing, Mark, Remote, RemoteRef, Side};
use crate::store::{Admitted, Quarantine, Store, Tip};
use cook_protocol::diagnostic::{Code, Failure, Finding, Refusal, count_noun};
use cook_protocol::model::Snapshot;

/// Logs that were kept there which are read in search of what this clone has seen.
const MOST_KEPT: usize = 64;

/// Transitions that only this clone had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// The ref of the log that keeps them.
    pub name: String,
    /// How many.
    pub transitions: u64,
}

/// What was taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pulled {
    /// Where the log stands now.
    pub tip: Tip,
    /// Transitions that are new here.
    pub transitions: u64,
    /// There was no log here before.
    pub is_fresh: bool,
    /// Transitions of this clone that the remote lacks, and the remote's stand.
    pub set_aside: Option<SetAside>,
    /// Where the log stands there, when this clone alone went on from there.
    pub ahead_of: Option<String>,
    /// The branch's own commit there.
    pub branch: Option<String>,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
}

/// What becomes of transitions that only this clone has, and of a log that is not the one it has seen
/// there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// What only this clone has is set aside; another log there is an error.
    Usual,
    /// Both are errors.
    KeepMine,
    /// The log there is taken as it is.
    Accept,
}

impl Remote<'_> {
    fn report_absent(&self, branch: &str) -> Failure {
        let what = format!("`{}` has no log for branch `{branch}`", self.show());
        let failure = Failure::state(Code::RemoteLogAbsent, what);
        // A log goes by the branch's name, which is another one here.
        match self.find_upstream(branch) {
            Some(there) if there != branch => failure.hint(format!(
                "the branch is `{there}` there: `git branch -m {} {}`, then `cook pull`",
                shell_words::quote(branch),
                shell_words::quote(there)
            )),
            _ => failure,
        }
    }

    /// Takes in what the remote holds for a branch.
    ///
    /// # Errors
    /// `remote_log_absent`, `log_gone`, `remote_log_rewound`, `log_other`, `remote_log_refused`;
    /// nothing changed then.
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
        // Noted first: once the log has moved, nothing more can fail.
        self.note(Mark::Seen(Side::Fetch), branch, &there.commit)?;
        self.note(Mark::Pulled, branch, &there.commit)?;
        let recovered = store.lock(LOCK_WAIT)?.recover()?;
        let moved = recovered.go_on_from(here.as_ref().map(|(tip, _)| tip), &there.commit)?;
        pulled.tip = moved.tip;
        // Some of them may lie in the log already: one that was pushed by a process which was killed then.
        pulled.transitions = pulled.tip.seq - shared;
        pulled.set_aside = moved.set_aside.map(|name| SetAside {
            name,
            transitions: mine,
        });
        pulled.findings = moved.findings;
        Ok(pulled)
    }

    /// Lets the log stand where the remote has it, also where this clone alone went on from there:
    /// what only this clone has is set aside.
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

    /// Lets the log stand at an earlier transition of its own. What comes after it is kept.
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

    /// Refuses a log that is shorter than this clone has seen there, another one, or away; what ended and
    /// is kept there is none of these. `theirs` is the log that stands there now.
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

    /// A workflow that this clone has seen ended, and is kept beside the one that took its place.
    fn was_kept(&self, theirs: &Store, listing: &Listing, seen: &str) -> Result<bool, Failure> {
        for kept in listing.list_kept() {
            if kept.commit == seen || theirs.leads_over(&kept.commit, seen)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How many transitions only this clone has; an error where they keep the remote's from
    /// standing.
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

/// Whether an admitted chain leads over a transition, or ends with it.
fn is_at_or_before(theirs: &Store, admitted: &Admitted, earlier: &str) -> Result<bool, Failure> {
    Ok(admitted.tip() == earlier || theirs.leads_over(&admitted.tip(), earlier)?)
}
