//! The commits between a slice's basis and its head, and what files were called on the way.

use crate::Repo;
use crate::history::ChangeKind;
use cook_core::diagnostic::Failure;
use std::collections::{BTreeMap, BTreeSet};

/// Commits that are looked at one by one.
const MAX_STEPS: usize = 500;

/// What a step may have brought in besides the commit before it.
#[derive(Clone)]
pub(super) struct Other {
    pub(super) commit: String,
    /// What came from here to the commit alone is its; none = all that stands there.
    pub(super) after: Option<String>,
}

/// A commit on the way from the basis.
pub(super) struct Step {
    pub(super) commit: String,
    /// The parent on that way.
    pub(super) parent: String,
    pub(super) others: Vec<Other>,
    pub(super) own: bool,
}

/// Renames of a step: new names to old ones.
pub(super) type Moves = BTreeMap<String, String>;

/// What a file was called before the first step, and after each.
pub(super) fn list_names(path: &str, moves: &[Moves]) -> Vec<String> {
    let mut names = vec![path.to_owned()];
    for moves in moves.iter().rev() {
        let name = names.last().map_or(path, String::as_str);
        names.push(moves.get(name).map_or(name, String::as_str).to_owned());
    }
    names.reverse();
    names
}

impl Repo {
    /// The way from the basis to the head: of a merge the first parent that the basis is in.
    pub(super) fn steps(
        &self,
        basis: &str,
        head: &str,
        claimed: &BTreeSet<String>,
    ) -> Result<Vec<Step>, Failure> {
        let mut steps = Vec::new();
        let mut commit = head.to_owned();
        while commit != basis && steps.len() < MAX_STEPS {
            let parents = self.ask(|history| history.parents(&commit))?;
            let Some(parent) = self.find_way(basis, &parents, claimed)? else {
                break;
            };
            steps.push(Step {
                own: claimed.contains(&commit),
                others: parents
                    .into_iter()
                    .filter(|other| *other != parent)
                    .map(|commit| Other {
                        commit,
                        after: None,
                    })
                    .collect(),
                commit: std::mem::replace(&mut commit, parent.clone()),
                parent,
            });
        }
        steps.reverse();
        Ok(steps)
    }

    /// The parent on the way: the first that the basis is in, sooner one that holds commits of the
    /// slice.
    fn find_way(
        &self,
        basis: &str,
        parents: &[String],
        claimed: &BTreeSet<String>,
    ) -> Result<Option<String>, Failure> {
        if let [only] = parents {
            return Ok(Some(only.clone()));
        }
        let mut first = None;
        for parent in parents {
            if !self.is_ancestor(basis, parent)? {
                continue;
            }
            for commit in claimed {
                let known = self.resolve(commit)?.is_some();
                if known && self.is_ancestor(commit, parent)? && !self.is_ancestor(commit, basis)? {
                    return Ok(Some(parent.clone()));
                }
            }
            first = first.or(Some(parent.clone()));
        }
        Ok(first)
    }

    /// The renames of each step, new names to old ones.
    pub(super) fn moves(&self, steps: &[Step], wanted: bool) -> Result<Vec<Moves>, Failure> {
        let of = |step: &Step| -> Result<Moves, Failure> {
            if !wanted {
                return Ok(Moves::new());
            }
            let changes = self.changes(Some(&step.parent), &step.commit)?;
            let has = |kind| changes.iter().any(|change| change.kind == kind);
            match has(ChangeKind::Added) && has(ChangeKind::Deleted) {
                true => Ok(self
                    .renames(&step.parent, &step.commit)?
                    .into_iter()
                    .collect()),
                false => Ok(Moves::new()),
            }
        };
        steps.iter().map(of).collect()
    }
}
