//! The write path: `Locked → Recovered → Staged → Committed`.
//!
//! The types enforce the order: nothing is written before an interrupted write is rolled forward, and nothing is
//! committed without a check against its parent under the lock. The commit point is the compare-and-swap of the branch:
//! before it nothing counts; after it nothing can fail, and only the view can lag behind.

use super::Store;
use super::checkpoints::{self, Intake};
use super::displaced::MAX_KEPT;
use super::error::{in_one_line, refuse_malformed, stale, too_large, unsafe_path};
use super::log_format::{self, Document, Stand, Tip};
use super::log_place::{self, LockedLog};
use super::odb::{Log, commit_text};
use super::transitions::{self, Sign, Transition, add_signature, check_transition};
use super::view::{Difference, View};
use cook_protocol::diagnostic::{Code, Failure, Finding};
use cook_protocol::machine::OutsideEdit;
use cook_protocol::model::Ledger;
use cook_protocol::refusal::Refusal;
use git2::{ObjectType, Oid};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// The result of recovery.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recovery {
    /// Whether the view was behind; it now shows the tip.
    pub rolled_forward: bool,
    /// The kept copy of files that were in the way.
    pub displaced: Option<String>,
}

/// State: the writer lock is held.
#[derive(Debug)]
pub struct Locked<'s> {
    writer: Writer<'s>,
}

/// State: the view shows the tip, except for edits outside cook.
#[derive(Debug)]
pub struct Recovered<'s> {
    pub(super) writer: Writer<'s>,
    recovery: Recovery,
}

/// State: a transition was checked against its parent.
#[derive(Debug)]
pub struct Staged<'s> {
    writer: Writer<'s>,
    transition: Transition,
    parent: Option<Oid>,
    seconds: i64,
    leave: BTreeSet<String>,
}

/// State: the branch has moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// The new tip.
    pub tip: Tip,
    /// `checkout_pending` if the view lags behind, `displaced` if edits were set aside.
    pub findings: Vec<Finding>,
    /// The kept copy of overwritten files.
    pub displaced: Option<String>,
    /// Whether the log was packed afterwards.
    pub packed: bool,
}

/// A store together with the lock on its log.
pub(super) struct Writer<'s> {
    pub(super) store: &'s Store,
    pub(super) locked: LockedLog,
}

impl std::fmt::Debug for Writer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.store.fmt(f)
    }
}

impl Writer<'_> {
    pub(super) fn tip(&self) -> Result<Option<Oid>, Failure> {
        self.store.tip_id(&self.locked.log)
    }

    /// Lets `.agent/` show a transition that the branch has reached. Returns the kept copy of overwritten files, and
    /// findings. It cannot fail: at worst the view lags behind.
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
                    in_one_line(&error)
                );
                (None, vec![Finding::new(Code::CheckoutPending, why)])
            }
        }
    }

    fn view(&self, tip: Oid) -> Result<View<'_>, Failure> {
        View::open(&self.locked.log, &self.store.place, tip)
    }
}

impl Store {
    /// Takes the writer lock; waits at most `wait` for another writer.
    pub fn lock(&self, wait: Duration) -> Result<Locked<'_>, Failure> {
        if self.foreign {
            return Err(refuse_malformed(
                "another worktree's workflow is only written there",
            ));
        }
        let writer = Writer {
            store: self,
            locked: LockedLog::take_known(&self.place, wait)?,
        };
        if let Some(tip) = writer.tip()? {
            Stand::at(&writer.locked.log, tip)?.check_format()?;
        }
        Ok(Locked { writer })
    }
}

impl<'s> Locked<'s> {
    /// Moves the branch forward to a transition from which somebody moved it back; false if the tip is not an ancestor
    /// of it.
    pub fn forward(&self, to: &str) -> Result<bool, Failure> {
        self.move_branch(to, log_format::comes_before)
    }

    /// Moves the branch back to an earlier transition; false if `to` is not an ancestor of the tip.
    pub fn back(&self, to: &str) -> Result<bool, Failure> {
        self.move_branch(to, |log, tip, to| log_format::comes_before(log, to, tip))
    }

    fn move_branch(
        &self,
        to: &str,
        may: impl Fn(&Log, Oid, Oid) -> Result<bool, Failure>,
    ) -> Result<bool, Failure> {
        let Writer { store, locked } = &self.writer;
        let (Some(tip), Some(to)) = (self.writer.tip()?, locked.log.oid(to)) else {
            return Ok(false);
        };
        if !may(&locked.log, tip, to)? {
            return Ok(false);
        }
        locked.advance(&store.branch(), Some(tip), to)?;
        Ok(true)
    }

    /// Repairs a view that a dead writer left behind. Files in the way that the log does not hold are kept first. Files
    /// edited while the view was up to date stay as they are.
    pub fn recover(self) -> Result<Recovered<'s>, Failure> {
        let Self { writer } = self;
        let mut recovery = Recovery::default();
        if let Some(tip) = writer.tip()? {
            let view = writer.view(tip)?;
            view.refuse_rewind(&writer.store.branch())?;
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
    /// Restores the log's version of every file of `.agent/`. Replaced content is kept in the copy whose id is
    /// returned.
    pub fn put_view_back(&self) -> Result<Option<String>, Failure> {
        match self.writer.tip()? {
            Some(tip) => self.writer.view(tip)?.show(&BTreeSet::new()),
            None => Ok(None),
        }
    }
}

impl<'s> Recovered<'s> {
    /// The result of recovery.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// The tip, which no other writer can move now.
    pub fn tip(&self) -> Result<Option<Tip>, Failure> {
        let id = self.writer.tip()?;
        id.map(|id| log_format::tip(&self.writer.locked.log, id))
            .transpose()
    }

    /// The edits outside cook that a transition would find now.
    pub fn outside_edits(&self) -> Result<Vec<OutsideEdit>, Failure> {
        Ok(self.differences()?.into_iter().map(Into::into).collect())
    }

    pub(super) fn differences(&self) -> Result<Vec<Difference>, Failure> {
        let tip = self.writer.tip()?;
        tip.map_or(Ok(Vec::new()), |tip| self.writer.view(tip)?.differences())
    }

    /// Checks a transition against its parent: it was computed from the current tip and view (else `stale_facts`), its
    /// numbers are consecutive, and the writer is not fenced off. The caller must compare HEAD, index and tree of the
    /// user's repository between this and [`Staged::commit`].
    pub fn stage(self, transition: Transition) -> Result<Staged<'s>, Failure> {
        let parent = self.writer.tip()?;
        let expected = transition.parent.as_ref().map(|tip| tip.commit.as_str());
        if parent.map(|id| id.to_string()).as_deref() != expected {
            return Err(stale("the log moved while the transition was computed"));
        }
        let seconds = check_transition(&transition)?;
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

    fn check_epoch(&self, parent: Option<Oid>, transition: &Transition) -> Result<(), Failure> {
        let Some(parent) = parent else {
            return Ok(());
        };
        let ledger: Ledger =
            Stand::at(&self.writer.locked.log, parent)?.document(Document::Ledger)?;
        let current = ledger.lease_epoch.0;
        if transition.snapshot.ledger.lease_epoch.0 < current {
            return Err(refuse_malformed("it lowers the lease epoch"));
        }
        if transition.lease_epoch < current {
            let epoch = transition.lease_epoch;
            let what = format!("lease epoch {epoch} was replaced by {current}");
            return Err(Refusal::new(Code::Fenced, what).into());
        }
        Ok(())
    }

    /// Checks that the edits are those that were judged, and that none is too large to be kept.
    fn check_view(
        &self,
        transition: &Transition,
        differences: &[Difference],
    ) -> Result<(), Failure> {
        if let Some(judged) = &transition.facts.outside_edits {
            let found: BTreeSet<OutsideEdit> =
                differences.iter().cloned().map(Into::into).collect();
            if judged.iter().cloned().collect::<BTreeSet<_>>() != found {
                return Err(stale("`.agent/` changed while the transition was computed"));
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

fn can_be_kept(path: &Path) -> Result<(), Failure> {
    match log_place::look(path)? {
        Some(found) if found.is_dir() => Err(unsafe_path(
            Code::AgentDirUnsafe,
            path,
            "is a directory; move it away",
        )),
        Some(found) if found.len() > MAX_KEPT => Err(too_large(path, found.len(), MAX_KEPT)),
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
    /// Commits the transition, with a signature if `sign` is given. `taken` is called once the objects are written and
    /// before the branch moves; its error prevents the move. An error means that nothing changed. Once the branch has
    /// moved this is a success, and files that `.agent/` could not show are a finding.
    pub fn commit(
        self,
        sign: Option<&Sign<'_>>,
        taken: impl FnOnce(&Tip) -> Result<(), Failure>,
    ) -> Result<Committed, Failure> {
        let seq = self.transition.snapshot.ledger.seq.0;
        let trail = self.trail()?;
        let commit = self.write_objects(seq, &trail, sign)?;
        taken(&Tip {
            commit: commit.to_string(),
            seq,
        })?;
        // The commit point.
        self.writer
            .locked
            .advance(&self.writer.store.branch(), self.parent, commit)?;
        let mut committed = Committed {
            tip: Tip {
                commit: commit.to_string(),
                seq,
            },
            findings: trail.torn.into_iter().collect(),
            displaced: None,
            packed: false,
        };
        let (displaced, findings) = self.writer.show(commit, seq, &self.leave);
        committed.displaced = displaced;
        committed.findings.extend(findings);
        committed.packed = self.writer.locked.pack_when_due(seq);
        Ok(committed)
    }

    /// The checkpoints that the log does not hold yet.
    fn trail(&self) -> Result<Intake, Failure> {
        let log = &self.writer.locked.log;
        let digest = match self.parent {
            Some(parent) => Stand::at(log, parent)?.histories()?.checkpoints,
            None => Default::default(),
        };
        checkpoints::intake(&self.writer.store.place, log, self.parent, &digest)
    }

    /// Writes the objects, each synced before the next.
    fn write_objects(
        &self,
        seq: u64,
        trail: &Intake,
        sign: Option<&Sign<'_>>,
    ) -> Result<Oid, Failure> {
        let log = &self.writer.locked.log;
        let before = self.parent.map(|id| Stand::at(log, id)).transpose()?;
        let (tree, message) =
            transitions::write_transition(log, before.as_ref(), &self.transition, trail, seq)?;
        let mut text = commit_text(tree, self.parent, self.seconds, &message);
        if let Some(sign) = sign {
            text = add_signature(&text, &sign(text.as_bytes())?)?;
        }
        log.write(ObjectType::Commit, text.as_bytes())
    }
}
