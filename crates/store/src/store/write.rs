//! The write path: `Locked → Recovered → Staged → Committed`.
//!
//! The types make the order impossible to get wrong: nothing is written before
//! an interrupted write was rolled forward, and nothing is committed that was
//! not checked against its parent under the lock. The commit point is the
//! compare-and-swap of the branch; before it nothing counts, after it nothing
//! can fail any more, only lag behind.

use super::Store;
use super::aside::MAX_KEPT;
use super::difference::Difference;
use super::encode::{self, actor_word, one_line};
use super::error::StoreError;
use super::lock;
use super::log::{Log, commit_text};
use super::objects::{self, Meta, Stand, Tip};
use super::pack::{self, Packing};
use super::place;
use super::seal::{Sign, add_signature};
use super::trail::{self, Intake};
use super::transition::{Transition, check};
use super::tree::{self, Document};
use super::view::View;
use cook_core::diagnostic::{Code, Finding};
use cook_core::machine::OutsideEdit;
use git2::{ObjectType, Oid};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

/// What recovery did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recovery {
    /// The view was behind and now shows the tip.
    pub rolled_forward: bool,
    /// Kept copy of what stood in the way.
    pub displaced: Option<String>,
}

/// The writer lock is held.
#[derive(Debug)]
pub struct Locked<'s> {
    writer: Writer<'s>,
}

/// The view shows the tip, edits outside cook apart.
#[derive(Debug)]
pub struct Recovered<'s> {
    pub(super) writer: Writer<'s>,
    recovery: Recovery,
}

/// A transition was checked against its parent.
#[derive(Debug)]
pub struct Staged<'s> {
    writer: Writer<'s>,
    transition: Transition,
    parent: Option<Oid>,
    seconds: i64,
    leave: BTreeSet<String>,
}

/// The branch moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// The new tip.
    pub tip: Tip,
    /// `checkout_pending` when the view lags behind, `displaced` when edits were set aside.
    pub findings: Vec<Finding>,
    /// Kept copy of what was overwritten.
    pub displaced: Option<String>,
    /// Whether the log was packed afterwards.
    pub packing: Packing,
}

/// A store with the lock, on a log that was opened after the lock was taken
/// (another process may have packed it in the meantime).
pub(super) struct Writer<'s> {
    pub(super) store: &'s Store,
    pub(super) log: Log,
    /// Released when it is closed.
    lock: File,
}

impl std::fmt::Debug for Writer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.store.fmt(f)
    }
}

impl Writer<'_> {
    pub(super) fn tip(&self) -> Result<Option<Oid>, StoreError> {
        self.store.tip_id(&self.log)
    }

    /// Lets `.agent/` show a transition that the branch has reached: the kept copy of what was
    /// overwritten, and what is to be said. Nothing fails any more here, it lags behind.
    pub(super) fn show(
        &self,
        commit: Oid,
        seq: u64,
        leave: &BTreeSet<String>,
    ) -> (Option<String>, Vec<Finding>) {
        match self.view(commit).and_then(|view| view.show(leave)) {
            Ok(None) => (None, Vec::new()),
            Ok(Some(id)) => {
                let kept = format!("what was edited outside cook is kept as {id}");
                (Some(id), vec![Finding::new(Code::Displaced, kept)])
            }
            Err(error) => {
                let why = format!(
                    "`.agent/` does not show transition {seq} yet: {}",
                    error.in_one_line()
                );
                (None, vec![Finding::new(Code::CheckoutPending, why)])
            }
        }
    }

    fn view(&self, tip: Oid) -> Result<View<'_>, StoreError> {
        View::open(&self.log, &self.store.place, tip)
    }
}

impl Store {
    /// Takes the writer lock, waiting at most that long for another writer.
    pub fn lock(&self, wait: Duration) -> Result<Locked<'_>, StoreError> {
        if self.foreign {
            return Err(StoreError::from_malformed(
                "another worktree's workflow is only written there",
            ));
        }
        let lock = lock::take(&self.place.cook_dir().join("lock"), wait)?;
        let log = place::open_known_log(&self.place)?;
        let writer = Writer {
            store: self,
            log,
            lock,
        };
        if let Some(tip) = writer.tip()? {
            Stand::at(&writer.log, tip)?.check_format()?;
        }
        Ok(Locked { writer })
    }
}

impl<'s> Locked<'s> {
    /// Moves the branch forward again to a transition that somebody set it back from; false
    /// when it does not stand at one that came before.
    pub fn forward(&self, to: &str) -> Result<bool, StoreError> {
        let Self { writer } = self;
        let (Some(tip), Some(to)) = (writer.tip()?, writer.log.oid(to)) else {
            return Ok(false);
        };
        if !objects::comes_before(&writer.log, tip, to)? {
            return Ok(false);
        }
        self.move_branch(tip, to)
    }

    /// Moves the branch back to a transition that came before; false when it is none of those.
    pub fn back(&self, to: &str) -> Result<bool, StoreError> {
        let Self { writer } = self;
        let (Some(tip), Some(to)) = (writer.tip()?, writer.log.oid(to)) else {
            return Ok(false);
        };
        if !objects::comes_before(&writer.log, to, tip)? {
            return Ok(false);
        }
        self.move_branch(tip, to)
    }

    fn move_branch(&self, from: Oid, to: Oid) -> Result<bool, StoreError> {
        let Self { writer } = self;
        let branch = writer.store.branch();
        lock::clear_ref_lock(&writer.store.place.log_dir().join(&branch))?;
        match writer.log.move_ref(&branch, from, to) {
            Ok(()) => Ok(true),
            Err(error) => Err(StoreError::write("the log's branch", error)),
        }
    }

    /// Packs the log now (`cook gc`); a transition packs by itself when it is due.
    pub fn pack(&self) -> Packing {
        pack::now(&self.writer.store.place, &self.writer.lock)
    }

    /// Puts right what a dead writer left: its ref lock, and a view that is
    /// behind. What stands in the way and the log does not hold is kept first.
    /// Files edited while the view was up to date stay as they are.
    pub fn recover(self) -> Result<Recovered<'s>, StoreError> {
        let Self { writer } = self;
        lock::clear_ref_lock(&writer.store.place.log_dir().join(writer.store.branch()))?;
        let mut recovery = Recovery::default();
        if let Some(tip) = writer.tip()? {
            let view = writer.view(tip)?;
            if let Some(rewound) = view.find_rewind(&writer.store.branch())? {
                return Err(rewound);
            }
            recovery.rolled_forward = !view.shows_tip();
            let leave = match recovery.rolled_forward {
                true => BTreeSet::new(),
                false => names(&view.differences()?),
            };
            recovery.displaced = view.show(&leave)?;
        }
        Ok(Recovered { writer, recovery })
    }
}

impl Recovered<'_> {
    /// Puts the log's version of every file of `.agent/` back; what stood there is kept, in
    /// the copy whose id is returned.
    pub fn put_view_back(&self) -> Result<Option<String>, StoreError> {
        match self.writer.tip()? {
            Some(tip) => self.writer.view(tip)?.show(&BTreeSet::new()),
            None => Ok(None),
        }
    }
}

impl<'s> Recovered<'s> {
    /// What was done.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// The tip, which no other writer can move now.
    pub fn tip(&self) -> Result<Option<Tip>, StoreError> {
        let id = self.writer.tip()?;
        id.map(|id| objects::tip(&self.writer.log, id)).transpose()
    }

    /// Files edited outside cook, as a transition would meet them now.
    pub fn outside_edits(&self) -> Result<Vec<OutsideEdit>, StoreError> {
        Ok(self.differences()?.into_iter().map(Into::into).collect())
    }

    pub(super) fn differences(&self) -> Result<Vec<Difference>, StoreError> {
        let tip = self.writer.tip()?;
        tip.map_or(Ok(Vec::new()), |tip| self.writer.view(tip)?.differences())
    }

    /// Checks a transition against its parent: the tip and the view are those it
    /// was computed from (else `stale_facts`), its numbers follow, the writer is
    /// not fenced off. HEAD, index and tree of the user's repository are for the
    /// caller to compare between this and [`Staged::commit`].
    pub fn stage(self, transition: Transition) -> Result<Staged<'s>, StoreError> {
        let parent = self.writer.tip()?;
        let expected = transition.parent.as_ref().map(|tip| tip.commit.as_str());
        if parent.map(|id| id.to_string()).as_deref() != expected {
            return Err(StoreError::stale(
                "the log moved while the transition was computed",
            ));
        }
        let seconds = check(&transition)?;
        self.check_epoch(parent, &transition)?;
        let differences = self.differences()?;
        self.check_view(&transition, &differences)?;
        let leave = if transition.displace {
            BTreeSet::new()
        } else {
            names(&differences)
        };
        Ok(Staged {
            writer: self.writer,
            transition,
            parent,
            seconds,
            leave,
        })
    }

    fn check_epoch(&self, parent: Option<Oid>, transition: &Transition) -> Result<(), StoreError> {
        let Some(parent) = parent else {
            return Ok(());
        };
        let ledger: cook_core::model::Ledger = tree::parse(
            Document::Ledger.file(),
            &Stand::at(&self.writer.log, parent)?.file(Document::Ledger.file())?,
        )?;
        let current = ledger.lease_epoch.0;
        if transition.snapshot.ledger.lease_epoch.0 < current {
            return Err(StoreError::from_malformed("it lowers the lease epoch"));
        }
        if transition.lease_epoch < current {
            return Err(StoreError::Fenced {
                epoch: transition.lease_epoch,
                current,
            });
        }
        Ok(())
    }

    /// The edits are those that were judged, and none is too large to be kept.
    fn check_view(
        &self,
        transition: &Transition,
        differences: &[Difference],
    ) -> Result<(), StoreError> {
        if let Some(judged) = &transition.facts.outside_edits {
            let found: BTreeSet<OutsideEdit> =
                differences.iter().cloned().map(Into::into).collect();
            if judged.iter().cloned().collect::<BTreeSet<_>>() != found {
                return Err(StoreError::stale(
                    "`.agent/` changed while the transition was computed",
                ));
            }
        }
        let dir = self.writer.store.place.agent_dir();
        let overwritten: Vec<&str> = match (&transition.parent, transition.displace) {
            (None, _) => super::view::list_documents().collect(),
            (Some(_), true) => differences.iter().map(|d| d.file.as_str()).collect(),
            (Some(_), false) => Vec::new(),
        };
        for name in overwritten {
            can_be_kept(&dir.join(name))?;
        }
        Ok(())
    }
}

fn can_be_kept(path: &Path) -> Result<(), StoreError> {
    match place::look(path)? {
        Some(found) if found.is_dir() => Err(StoreError::path(
            Code::AgentDirUnsafe,
            path,
            "is a directory; move it away",
        )),
        Some(found) if found.len() > MAX_KEPT => Err(StoreError::TooLarge {
            path: path.to_owned(),
            bytes: found.len(),
            cap: MAX_KEPT,
        }),
        _ => Ok(()),
    }
}

pub(super) fn names(differences: &[Difference]) -> BTreeSet<String> {
    differences
        .iter()
        .map(|difference| difference.file.clone())
        .collect()
}

impl Staged<'_> {
    /// Commits. An error means that nothing changed; once the branch moved this
    /// is a success, and what could not be shown in `.agent/` is a finding.
    pub fn commit(self) -> Result<Committed, StoreError> {
        self.commit_once(None, |_| Ok(()))
    }

    /// The same, with a signature of the commit where one is asked for, once somebody else has taken
    /// the transition, which is written by then: their no is the error, and nothing changed.
    pub fn commit_once<E: From<StoreError>>(
        self,
        sign: Option<&Sign<'_, E>>,
        taken: impl FnOnce(&Tip) -> Result<(), E>,
    ) -> Result<Committed, E> {
        let seq = self.transition.snapshot.ledger.seq.0;
        let trail = self.trail()?;
        let commit = self.write_objects(seq, &trail, sign)?;
        taken(&Tip {
            commit: commit.to_string(),
            seq,
        })?;
        self.move_branch(commit)?;
        let mut committed = Committed {
            tip: Tip {
                commit: commit.to_string(),
                seq,
            },
            findings: trail.torn.into_iter().collect(),
            displaced: None,
            packing: Packing::NotDue,
        };
        let (displaced, findings) = self.writer.show(commit, seq, &self.leave);
        committed.displaced = displaced;
        committed.findings.extend(findings);
        committed.packing = pack::when_due(&self.writer.store.place, seq, &self.writer.lock);
        Ok(committed)
    }

    /// Checkpoints that the log does not hold yet.
    fn trail(&self) -> Result<Intake, StoreError> {
        let log = &self.writer.log;
        let digest = match self.parent {
            Some(parent) => Stand::at(log, parent)?.histories()?.checkpoints,
            None => Default::default(),
        };
        trail::intake(&self.writer.store.place, log, self.parent, &digest)
    }

    /// Objects first, synced one by one as they are written.
    fn write_objects<E: From<StoreError>>(
        &self,
        seq: u64,
        trail: &Intake,
        sign: Option<&Sign<'_, E>>,
    ) -> Result<Oid, E> {
        let log = &self.writer.log;
        let before = self.parent.map(|id| Stand::at(log, id)).transpose()?;
        let tree = encode::transition(log, before.as_ref(), &self.transition, trail, seq)?;
        let message = objects::message(&Meta {
            commit: String::new(),
            seq,
            event: self.transition.event.name().to_owned(),
            rule: self.transition.rule.clone(),
            actor: actor_word(self.transition.actor).to_owned(),
            subject: one_line(&self.transition.subject),
            epoch_seconds: self.seconds,
        });
        let mut text = commit_text(tree, self.parent, self.seconds, &message);
        if let Some(sign) = sign {
            text = add_signature(&text, &sign(text.as_bytes())?)?;
        }
        let commit = log.write(ObjectType::Commit, text.as_bytes())?;
        log.sync_fan_out()?;
        Ok(commit)
    }

    /// The commit point. When the update reports an error the branch is read
    /// again, and what it says decides.
    fn move_branch(&self, commit: Oid) -> Result<(), StoreError> {
        let branch = self.writer.store.branch();
        lock::clear_ref_lock(&self.writer.store.place.log_dir().join(&branch))?;
        let log = &self.writer.log;
        let moved = match self.parent {
            Some(parent) => log.move_ref(&branch, parent, commit),
            None => log.create_ref(&branch, commit),
        };
        let Err(error) = moved else {
            return Ok(());
        };
        match self.writer.tip() {
            Ok(Some(tip)) if tip == commit => Ok(()),
            Ok(tip) if tip != self.parent => Err(StoreError::stale(
                "the log moved while the transition was written",
            )),
            _ => Err(StoreError::write("the log's branch", error)),
        }
    }
}
