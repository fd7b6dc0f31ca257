//! Where a committed slice went when its history was written anew.

use super::way::Step;
use crate::Repo;
use crate::SLICE_TRAILER;
use crate::trailers::last_trailer;
use cook_core::diagnostic::Failure;
use cook_core::machine::{Head, Rebound, ReboundQuestion};
use cook_core::model::OwnFile;
use std::collections::BTreeMap;

/// Commits of HEAD that are looked at.
const MAX_SEEN: usize = 500;

impl Repo {
    /// The commit on HEAD that has the tree of a slice's head, above one that has the tree of its basis,
    /// where it can be told which commits between are the slice's own. None while the slice's own
    /// commit is on HEAD.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn rebound(
        &self,
        head: &Head,
        question: &ReboundQuestion,
    ) -> Result<Option<Rebound>, Failure> {
        let Some(tip) = &head.commit else {
            return Ok(None);
        };
        let known = self.resolve(&question.head)?;
        if let Some(known) = &known
            && self.is_ancestor(known, tip)?
        {
            return Ok(None);
        }
        let tree = match (&known, &question.tree) {
            (_, Some(tree)) => tree.clone(),
            (Some(known), None) => self.find_tree(known)?,
            (None, None) => return Ok(None),
        };
        let basis = self.resolve(&question.basis)?;
        let was = match (&basis, &known) {
            (Some(basis), Some(known)) => Some(self.steps(basis, known, &question.claimed)?),
            _ => None,
        };
        let basis_tree = match &basis {
            Some(basis) => Some(self.find_tree(basis)?),
            None => question.basis_tree.clone(),
        };
        let Some(basis_tree) = basis_tree else {
            return Ok(None);
        };
        for commit in self.ask(|history| history.list(None, tip, MAX_SEEN))? {
            if self.find_tree(&commit.id)? != tree {
                continue;
            }
            let stays = match &basis {
                Some(basis) if self.is_ancestor(basis, &commit.id)? => Some(basis.clone()),
                _ => None,
            };
            let from = match stays {
                Some(basis) => Some(basis),
                None => self.find_base_with_tree(&basis_tree, &commit.id)?,
            };
            let Some(from) = from.filter(|from| *from != commit.id) else {
                continue;
            };
            if let Some(claimed) = self.claims(&from, &commit.id, was.as_deref(), question)? {
                return Ok(Some(Rebound {
                    slice_id: question.slice_id.clone(),
                    from: question.head.clone(),
                    head: commit.id,
                    basis: from,
                    claimed,
                }));
            }
        }
        Ok(None)
    }

    /// The newest commit up to this one that has the tree.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn find_with_tree(&self, tree: &str, tip: &str) -> Result<Option<String>, Failure> {
        for commit in self.ask(|history| history.list(None, tip, MAX_SEEN))? {
            if self.find_tree(&commit.id)? == tree {
                return Ok(Some(commit.id));
            }
        }
        Ok(None)
    }

    /// The newest commit up to this one in which these files stand as they were left.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn find_with_files(&self, files: &[OwnFile], tip: &str) -> Result<Option<String>, Failure> {
        if files.is_empty() {
            return Ok(None);
        }
        for commit in self.ask(|history| history.list(None, tip, MAX_SEEN))? {
            let mut stands = true;
            for file in files {
                stands = self.tree_entry(&commit.id, &file.path)? == file.entry;
                if !stands {
                    break;
                }
            }
            if stands {
                return Ok(Some(commit.id));
            }
        }
        Ok(None)
    }

    /// The nearest commit before this one, along first parents, that has the tree.
    fn find_base_with_tree(&self, tree: &str, commit: &str) -> Result<Option<String>, Failure> {
        let mut at = commit.to_owned();
        for _ in 0..MAX_SEEN {
            let Some(parent) = self.ask(|history| history.parent(&at))? else {
                break;
            };
            if self.find_tree(&parent)? == tree {
                return Ok(Some(parent));
            }
            at = parent;
        }
        Ok(None)
    }

    /// Which commits between the two are the slice's own; none where one of them holds work of the
    /// slice and of others.
    fn claims(
        &self,
        basis: &str,
        head: &str,
        was: Option<&[Step]>,
        question: &ReboundQuestion,
    ) -> Result<Option<Vec<String>>, Failure> {
        let is_all_own = was.is_some_and(|was| was.iter().all(|step| step.own));
        let mut owners = BTreeMap::new();
        for step in was.unwrap_or_default() {
            owners.insert(self.find_change(step)?, step.own);
        }
        let mut claimed = Vec::new();
        for step in self.steps(basis, head, &question.claimed)? {
            let own = match owners.get(&self.find_change(&step)?) {
                _ if is_all_own => true,
                Some(own) => *own,
                None if self.bears_trailer(&step.commit, &question.slice_id)? => true,
                None => return Ok(None),
            };
            if own {
                claimed.push(step.commit);
            }
        }
        Ok((!claimed.is_empty()).then_some(claimed))
    }

    /// From which tree to which a commit leads.
    fn find_change(&self, step: &Step) -> Result<(String, String), Failure> {
        Ok((self.find_tree(&step.parent)?, self.find_tree(&step.commit)?))
    }

    fn bears_trailer(&self, commit: &str, slice: &str) -> Result<bool, Failure> {
        let listed = self.ask(|history| history.list(None, commit, 1))?;
        let named = listed
            .first()
            .and_then(|one| last_trailer(&one.message, SLICE_TRAILER));
        Ok(named.as_deref() == Some(slice))
    }
}
