//! The slices that a workflow has done, each with the transition before its work was reported.

use crate::demo::Demo;
use crate::measure::texts;
use crate::run::Unseen;
use crate::service::Workspace;
use cook_mutants::{Fault, faults};
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::model::{Event, SliceStatus};
use cook_repo::disk::TemporaryDir;
use cook_repo::store::Meta;
use std::collections::VecDeque;

/// Transitions of a log that are looked through, newest first.
const MOST_TRANSITIONS: usize = 5_000;
/// Slices that cases are made of, newest first.
const MOST_SLICES: usize = 50;

/// A done slice.
pub(super) struct DoneSlice {
    pub id: String,
    /// The commit that was reported and accepted.
    pub commit: String,
    /// The transition before the report.
    pub before: String,
    /// The report and what came after it, oldest first, by their commits in the log.
    pub events: Vec<Meta>,
    /// What can be planted in its change.
    pub faults: VecDeque<Fault>,
}

/// Where cases are made of.
pub(super) struct Source {
    pub workspace: Workspace,
    /// It is this repository's own.
    pub own: bool,
    pub slices: Vec<DoneSlice>,
    /// The slice whose fault is next.
    next: usize,
    /// Of the history that cook carries, for as long as cases are made of it.
    _dir: Option<TemporaryDir>,
}

impl Source {
    /// The done slices of a workflow, newest first; none where there is no log.
    ///
    /// # Errors
    /// A log or a repository that cannot be read.
    pub fn of(workspace: Workspace, own: bool) -> Result<Self, Failure> {
        let mut slices = Vec::new();
        if let (Some(store), (_, Some(snapshot))) = (&workspace.store, workspace.current()?) {
            let entries = store.entries()?.take(MOST_TRANSITIONS);
            let mut metas = entries.collect::<Result<Vec<Meta>, _>>()?;
            metas.reverse();
            let done = snapshot.plan.candidate_slices.iter();
            let done = done.filter(|slice| slice.status == SliceStatus::Done);
            let done: Vec<&str> = done.map(|slice| slice.slice_id.as_str()).collect();
            let mut seen = Vec::new();
            for (at, meta) in metas.iter().enumerate().rev() {
                let is_report = meta.event == "implemented" && done.contains(&&*meta.subject);
                if !is_report || seen.contains(&meta.subject) || slices.len() >= MOST_SLICES {
                    continue;
                }
                seen.push(meta.subject.clone());
                let Some(before) = at.checked_sub(1).map(|before| metas[before].commit.clone())
                else {
                    continue;
                };
                let Event::Implemented { commit, .. } = store.event(&meta.commit)? else {
                    continue;
                };
                // A history that was written anew may have lost it.
                let Some(commit) = workspace.repo.resolve(&commit)? else {
                    continue;
                };
                let seed = match own {
                    true => commit.as_str(),
                    false => "carried",
                };
                let ledger = snapshot.ledger.slices.get(&meta.subject);
                let accepted = ledger.and_then(|ledger| ledger.accepted.as_ref());
                let basis = match accepted {
                    Some(accepted) => workspace.repo.resolve(&accepted.basis)?,
                    None => None,
                };
                let Some(basis) = basis else { continue };
                slices.push(DoneSlice {
                    id: meta.subject.clone(),
                    before,
                    events: metas[at..].to_vec(),
                    faults: find_faults(&workspace, &basis, &commit, seed)?,
                    commit,
                });
            }
        }
        Ok(Self {
            workspace,
            own,
            slices,
            next: 0,
            _dir: None,
        })
    }

    /// The history that cook carries, for repositories that have none of their own: the job of `cook demo`, done
    /// by its scripted agents in the user's name.
    ///
    /// # Errors
    /// A directory that cannot be made, what keeps a demonstration from its end.
    pub fn carry(workspace: &Workspace) -> Result<Self, Failure> {
        let dir = TemporaryDir::make().map_err(|error| {
            let what = "no directory can be made for cases";
            Failure::state(Code::NotWritable, what).with_cause(&error)
        })?;
        let root = dir.path().join("roman");
        let identity = workspace.repo.identity()?.unwrap_or_default();
        let find = |variable: &str| {
            let found = identity.iter().find(|(name, _)| *name == variable);
            found.map_or("", |(_, value)| value.as_str())
        };
        let (name, address) = (find("GIT_AUTHOR_NAME"), find("GIT_AUTHOR_EMAIL"));
        let author = (!name.is_empty()).then_some((name, address));
        Demo::prepare(Some(&root), None, author)?.run(&mut Unseen)?;
        Ok(Self {
            _dir: Some(dir),
            ..Self::of(Workspace::open(&root)?, false)?
        })
    }

    /// The next fault of each slice in turn, with the slice's place; whether it is of this repository's own history.
    pub fn take_fault(&mut self) -> Option<(usize, Fault, bool)> {
        for _ in 0..self.slices.len() {
            let at = self.next;
            self.next = (at + 1) % self.slices.len();
            if let Some(fault) = self.slices[at].faults.pop_front() {
                return Some((at, fault, self.own));
            }
        }
        None
    }
}

fn find_faults(
    workspace: &Workspace,
    basis: &str,
    commit: &str,
    seed: &str,
) -> Result<VecDeque<Fault>, Failure> {
    let edits = workspace.repo.edits(basis, commit)?;
    let gates = workspace.config()?.gate_specs().into_iter();
    let commands: Vec<String> = gates.map(|gate| gate.run).collect();
    Ok(faults(&texts(&edits, &commands), seed).into())
}
