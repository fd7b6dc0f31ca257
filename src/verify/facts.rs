//! What a transition says that git answered, asked of git again.
//!
//! A fact that was measured outside of git (a gate, the trust of a machine, a file that was not
//! committed) cannot be asked again; neither can one about a commit that this clone does not hold.

use super::commit;
use super::criteria::{Kind, find_kind};
use crate::anchor::Anchor;
use crate::measure::Needs;
use crate::service::Workspace;
use cook_core::diagnostic::Failure;
use cook_core::machine::{AnchorQuestion, Facts, Head, Range, Verdict, follow, needs, short};
use cook_core::model::{Event, Snapshot};
use std::collections::{BTreeMap, BTreeSet};

/// Asks git again, one transition after the other.
pub(super) struct Again<'a> {
    workspace: &'a Workspace,
    /// Not every commit brings its history and its files.
    is_cut: bool,
    trees: BTreeMap<String, Option<String>>,
    ranges: BTreeMap<(String, String, bool), Range>,
    /// Transitions whose commit is here.
    pub compared: u64,
}

impl<'a> Again<'a> {
    pub fn new(workspace: &'a Workspace) -> Result<Self, Failure> {
        let repo = &workspace.repo;
        Ok(Self {
            workspace,
            is_cut: repo.is_shallow() || repo.promisor()?.is_some(),
            trees: BTreeMap::new(),
            ranges: BTreeMap::new(),
            compared: 0,
        })
    }

    /// What git contradicts in the facts of a transition, in words.
    pub fn contradiction(
        &mut self,
        before: Option<&Snapshot>,
        event: &Event,
        facts: &Facts,
    ) -> Result<Option<String>, Failure> {
        let Some(head) = &facts.head else {
            return Ok(None);
        };
        let Some(commit) = &head.commit else {
            return Ok(None);
        };
        let Some(tree) = self.find_tree(commit)? else {
            return Ok(None);
        };
        self.compared += 1;
        if head.tree.as_ref().is_some_and(|said| *said != tree) {
            return Ok(Some(format!("the tree of {} is {tree}", short(commit))));
        }
        if self.is_cut {
            return Ok(None);
        }
        let followed = before.map(|before| follow(before, facts.rebound.as_ref()));
        let set = needs(followed.as_deref(), event);
        let since = set.since.as_ref().zip(facts.since.as_ref());
        let since = since.map(|(from, said)| (from, said, true));
        let ranges = facts.ranges.iter().map(|(from, said)| (from, said, false));
        for (from, said, with_paths) in ranges.chain(since) {
            if let Some(what) = self.range(head, commit, from, said, with_paths)? {
                return Ok(Some(what));
            }
        }
        let Some(before) = followed.as_deref() else {
            return Ok(None);
        };
        if let Some(what) = commit::contradiction(self.workspace, before, head, facts, &set)? {
            return Ok(Some(what));
        }
        self.anchors(before, head, facts, &set.anchors)
    }

    fn find_tree(&mut self, commit: &str) -> Result<Option<String>, Failure> {
        if let Some(tree) = self.trees.get(commit) {
            return Ok(tree.clone());
        }
        let repo = &self.workspace.repo;
        let tree = match repo.resolve(commit)?.as_deref() == Some(commit) {
            true => Some(repo.find_tree(commit)?),
            false => None,
        };
        self.trees.insert(commit.to_owned(), tree.clone());
        Ok(tree)
    }

    fn range(
        &mut self,
        head: &Head,
        commit: &str,
        from: &str,
        said: &Range,
        with_paths: bool,
    ) -> Result<Option<String>, Failure> {
        let repo = &self.workspace.repo;
        if !said.resolves || repo.resolve(from)?.is_none() {
            return Ok(None);
        }
        let key = (from.to_owned(), commit.to_owned(), with_paths);
        let found = match self.ranges.get(&key) {
            Some(found) => found,
            None => {
                let found = repo.range(head, from, with_paths)?;
                self.ranges.entry(key).or_insert(found)
            }
        };
        let (from, to) = (short(from), short(commit));
        Ok((found != said).then(|| format!("other commits lead from {from} to {to}")))
    }

    /// Proof that stands in files: a place that was not there, or was not the slice's work.
    fn anchors(
        &self,
        before: &Snapshot,
        head: &Head,
        facts: &Facts,
        asked: &BTreeSet<AnchorQuestion>,
    ) -> Result<Option<String>, Failure> {
        let in_files = |question: &&AnchorQuestion| {
            let anchor = Anchor::parse(&question.anchor);
            anchor.is_ok_and(|anchor| find_kind(&anchor) == Kind::Code)
        };
        let asked: BTreeSet<AnchorQuestion> = asked.iter().filter(in_files).cloned().collect();
        if asked.is_empty() {
            return Ok(None);
        }
        let answers = self
            .workspace
            .look_up(before, head, &asked, Needs::Commits)?;
        for question in &asked {
            let key = question.key();
            let (Some(said), Some(found)) = (facts.anchors.get(&key), answers.get(&key)) else {
                continue;
            };
            let held = matches!(said.verdict, Verdict::Verified | Verdict::Moved);
            let why = match found.verdict {
                Verdict::Changed | Verdict::Missing | Verdict::Malformed if held => &found.why,
                Verdict::Verified | Verdict::Moved if held && said.related != found.related => {
                    match found.related {
                        true => "it is the slice's work",
                        false => "it is not the slice's work",
                    }
                }
                Verdict::Verified | Verdict::Moved if held && said.is_new != found.is_new => {
                    match found.is_new {
                        true => "it did not hold at the slice's basis",
                        false => "it held at the slice's basis already",
                    }
                }
                _ => continue,
            };
            let of = short(head.commit.as_deref().unwrap_or_default());
            return Ok(Some(format!("of `{}` at {of}: {why}", question.anchor)));
        }
        Ok(None)
    }
}
