//! The facts that decisions read of ranges and reported commits.

use super::contents::Listed;
use super::trailers::last_trailer;
use super::{Repo, RepoError, SLICE_TRAILER};
use cook_protocol::diagnostic::Failure;
use cook_protocol::machine::{
    CommitFacts, CommitQuestion, CommitSeen, Head, MAX_COMMITS, MAX_PATHS, Range,
};
use cook_protocol::model::{Pattern, surface_matches};
use std::collections::BTreeSet;

impl Repo {
    /// What came on HEAD since `commit`; see [`Range`].
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn range(&self, head: &Head, commit: &str, with_paths: bool) -> Result<Range, Failure> {
        let mut range = Range {
            resolves: false,
            ancestor: false,
            merge_base: None,
            commits: Vec::new(),
        };
        let Some(from) = self.resolve(commit)? else {
            return Ok(range);
        };
        range.resolves = true;
        let Some(to) = &head.commit else {
            return Ok(range);
        };
        range.ancestor = self.is_ancestor(&from, to)?;
        if !range.ancestor {
            range.merge_base = self.merge_base(&from, to)?;
        }
        range.commits = self.list_since(&from, to, range.ancestor, with_paths)?;
        Ok(range)
    }

    fn list_since(
        &self,
        from: &str,
        to: &str,
        is_on_head: bool,
        with_paths: bool,
    ) -> Result<Vec<CommitSeen>, Failure> {
        if from == to {
            return Ok(Vec::new());
        }
        let listed = self.objects.list(Some(from), to, MAX_COMMITS)?;
        let mut found = Vec::new();
        for commit in listed.into_iter().rev() {
            let mut seen = self.read_commit(commit, with_paths)?;
            if seen.slice.is_some() && !self.is_work(&seen.id, from, is_on_head)? {
                seen.slice = None;
            }
            found.push(seen);
        }
        Ok(found)
    }

    /// A commit can be a slice's work: it changes something, and it is built on where the range
    /// begins. What a merge brings in from beside is somebody else's, whatever its trailer says.
    fn is_work(&self, commit: &str, from: &str, is_on_head: bool) -> Result<bool, Failure> {
        let parents = self.objects.parents(commit)?;
        if let [parent] = &parents[..]
            && self.find_tree(parent)? == self.find_tree(commit)?
        {
            return Ok(false);
        }
        Ok(!is_on_head || self.is_ancestor(from, commit)?)
    }

    fn read_commit(&self, commit: Listed, with_paths: bool) -> Result<CommitSeen, Failure> {
        let paths = if with_paths {
            let parent = self.objects.parent(&commit.id)?;
            let changes = self.changes(parent.as_deref(), &commit.id)?;
            let paths = changes.into_iter().map(|change| change.path);
            paths.take(MAX_PATHS).collect()
        } else {
            Vec::new()
        };
        Ok(CommitSeen {
            slice: last_trailer(&commit.message, SLICE_TRAILER),
            id: commit.id,
            paths,
        })
    }

    /// Paths that a commit writes itself: what differs from every parent of it.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn list_written_paths(&self, commit: &str) -> Result<BTreeSet<String>, Failure> {
        let parents = self.objects.parents(commit)?;
        let paths = |parent: Option<&str>| -> Result<BTreeSet<String>, Failure> {
            let changes = self.changes(parent, commit)?.into_iter();
            Ok(changes.map(|change| change.path).collect())
        };
        let Some((first, rest)) = parents.split_first() else {
            return paths(None);
        };
        let mut written = paths(Some(first))?;
        for parent in rest {
            let others = paths(Some(parent))?;
            written.retain(|path| others.contains(path));
        }
        Ok(written)
    }

    /// Who wrote a commit, and the first line of its message, as they stand.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn heading(&self, commit: &str) -> Result<(String, String), Failure> {
        let listed = self.objects.list(None, commit, 1)?;
        let heading = listed.into_iter().next().map(|commit| {
            let subject = commit.message.lines().next().unwrap_or_default().to_owned();
            (commit.author, subject)
        });
        Ok(heading.unwrap_or_default())
    }

    /// True when `commit` (full or abbreviated) is on HEAD.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn on_head(&self, head: &Head, commit: &str) -> Result<bool, Failure> {
        match (self.resolve(commit)?, &head.commit) {
            (Some(commit), Some(head)) => self.is_ancestor(&commit, head),
            _ => Ok(false),
        }
    }

    /// A reported commit against its slice's basis; see [`CommitFacts`].
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn commit_facts(
        &self,
        head: &Head,
        question: &CommitQuestion,
        protected: &[Pattern],
    ) -> Result<CommitFacts, Failure> {
        let mut facts = CommitFacts {
            id: self.resolve(&question.commit)?,
            tree: None,
            on_head: false,
            after_basis: false,
            paths: Vec::new(),
            protected: Vec::new(),
            claimed: Vec::new(),
            merged: Vec::new(),
        };
        let Some(id) = facts.id.clone() else {
            return Ok(facts);
        };
        facts.tree = Some(self.find_tree(&id)?);
        if let Some(head) = &head.commit {
            facts.on_head = self.is_ancestor(&id, head)?;
        }
        let Some(basis) = self.resolve(&question.basis)? else {
            return Ok(facts);
        };
        facts.after_basis = basis != id && self.is_ancestor(&basis, &id)?;
        let since = match &question.since {
            Some(since) => self.resolve(since)?,
            None => None,
        };
        let listed = self.objects.list(Some(&basis), &id, MAX_COMMITS)?;
        let trailers: Vec<(String, Option<String>)> = listed
            .into_iter()
            .map(|commit| (commit.id, last_trailer(&commit.message, SLICE_TRAILER)))
            .collect();
        let is_own = |slice: &Option<String>| slice.as_ref() == Some(&question.slice_id);
        facts.claimed = vec![id.clone()];
        // What a rewriting of history made anew came from anybody.
        if let Some(since) = since
            && self.is_ancestor(&since, &id)?
        {
            facts.claimed = self.between(&since, &id)?;
            facts.claimed.retain(|commit| {
                let named = trailers.iter().find(|(id, _)| id == commit);
                named.is_none_or(|(_, slice)| slice.is_none() || is_own(slice))
            });
        }
        let mut own = question.claimed.clone();
        let of_slice = trailers.into_iter().filter(|(_, slice)| is_own(slice));
        own.extend(of_slice.map(|(id, _)| id));
        let way = self.list_way(&basis, &id)?;
        facts.merged.clone_from(&facts.claimed);
        facts.merged.retain(|commit| !way.contains(commit));
        let made = facts.claimed.iter().filter(|made| way.contains(*made));
        own.extend(made.cloned());
        own.insert(id.clone());
        let mut touched = BTreeSet::new();
        for commit in own.intersection(&way) {
            touched.extend(self.list_written_paths(commit)?);
        }
        let mut paths = self.changes(Some(&basis), &id)?;
        paths.retain(|change| touched.contains(&change.path));
        let (mut guarded, mut free): (Vec<String>, Vec<String>) = paths
            .into_iter()
            .map(|change| change.path)
            .partition(|path| is_protected(path, protected));
        guarded.truncate(MAX_PATHS);
        free.truncate(MAX_PATHS - guarded.len());
        facts.paths = [guarded.clone(), free].concat();
        facts.protected = guarded;
        Ok(facts)
    }

    /// Commits after `from` on the first parents' way from `to`.
    fn list_way(&self, from: &str, to: &str) -> Result<BTreeSet<String>, RepoError> {
        let mut way = BTreeSet::new();
        let mut next = Some(to.to_owned());
        while let Some(commit) = next.filter(|commit| commit != from && way.len() < MAX_COMMITS) {
            next = self.objects.parent(&commit)?;
            way.insert(commit);
        }
        Ok(way)
    }

    /// Ids of `from..to`, oldest first.
    fn between(&self, from: &str, to: &str) -> Result<Vec<String>, RepoError> {
        let listed = self.objects.list(Some(from), to, MAX_COMMITS)?;
        Ok(listed.into_iter().rev().map(|commit| commit.id).collect())
    }
}

/// A file of the contract or of the settings, whose gates and limits bind its author as
/// well, or a path of `[rules] protected`.
pub(super) fn is_protected(path: &str, protected: &[Pattern]) -> bool {
    path.starts_with(".agent/")
        || protected
            .iter()
            .any(|pattern| surface_matches(pattern, path))
}
