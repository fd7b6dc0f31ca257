//! Where parts of a slice's work stand now that are not where they stood.

use super::follow::Following;
use super::moved::{Index, MAX_SEARCHED, may_move};
use super::sought::{Part, Sought};
use crate::Repo;
use crate::history::ChangeKind;
use crate::lines::{find_lines, is_telling};
use cook_core::diagnostic::Failure;
use cook_core::model::{TextOutcome, TreeEntry};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Pieces of one slice that are looked for in other files.
const MAX_SOUGHT: usize = 200;
/// Bytes of text that are searched for that.
const MAX_SEARCHED_BYTES: usize = 64 << 20;

impl Following<'_> {
    /// Runs of these lines that stand elsewhere in their file, or in one other that changed, and did
    /// not before.
    pub(super) fn find_moved_parts(
        &self,
        sought: &Sought<'_>,
        lines: Range<usize>,
    ) -> Result<Vec<Part>, Failure> {
        let (path, all) = (sought.path, sought.then);
        let mut due = vec![lines.clone()];
        if let Some((_, compared)) = sought.now {
            let mut at = lines.start;
            due.clear();
            for (run, _) in compared.list_untouched(&lines) {
                due.push(at..run.start);
                at = run.end;
            }
            due.push(at..lines.end);
        }
        let mut parts = Vec::new();
        for due in due {
            let block = all.get(due.clone()).unwrap_or_default();
            let mut left = due.start..due.start;
            let mut others = Vec::new();
            for run in sought.here()?.find_runs(block, |_| true) {
                let of = due.start + run.of.start..due.start + run.of.end;
                others.push(left.start..of.start);
                left = of.end..of.end;
                parts.push((of, TextOutcome::Moved, (path.to_owned(), run.at)));
            }
            others.push(left.start..due.end);
            for other in others {
                parts.extend(self.elsewhere(path, all, other)?);
            }
        }
        Ok(parts)
    }

    /// The same in other files.
    fn elsewhere(
        &self,
        path: &str,
        then: &[&[u8]],
        lines: Range<usize>,
    ) -> Result<Vec<Part>, Failure> {
        let block = then.get(lines.clone()).unwrap_or_default();
        let (Some(head), true) = (&self.head, is_telling(block)) else {
            return Ok(Vec::new());
        };
        self.sought.set(self.sought.get() + 1);
        if self.sought.get() > MAX_SOUGHT {
            return Ok(Vec::new());
        }
        if self.changed.get().is_none() {
            let _ = self.changed.set(self.index_changed(head)?);
        }
        let Some((paths, index)) = self.changed.get() else {
            return Ok(Vec::new());
        };
        let mut parts = Vec::new();
        for run in index.find_runs(block, |text| {
            paths[text] != path && may_move(path, &paths[text])
        }) {
            let other = &paths[run.text];
            // What stood there already did not move there, and what stood there at the basis was put back.
            let mut is_new = true;
            for commit in [head, &self.own.basis] {
                if self.repo.resolve(commit)?.is_some() {
                    let was = self.repo.read_text_at(commit, other)?.unwrap_or_default();
                    is_new &= find_lines(&was.lines(), &block[run.of.clone()]).is_empty();
                }
            }
            if is_new && !self.has_stood_before(path, other, &block[run.of.clone()])? {
                let of = lines.start + run.of.start..lines.start + run.of.end;
                parts.push((of, TextOutcome::Moved, (other.clone(), run.at)));
            }
        }
        Ok(parts)
    }

    /// The other file held the lines before they left theirs, on the way since the slice's head.
    fn has_stood_before(&self, path: &str, other: &str, lines: &[&[u8]]) -> Result<bool, Failure> {
        self.repo
            .has_stood_before(self.list_way()?, path, other, lines)
    }

    /// The commits since the slice's head, each after its parent.
    pub(super) fn list_way(&self) -> Result<&[(String, String)], Failure> {
        if self.way.get().is_none() {
            let head = self.head.as_deref().unwrap_or(self.at);
            let _ = self.way.set(self.repo.list_way(head, self.at)?);
        }
        Ok(self.way.get().map_or(&[][..], Vec::as_slice))
    }

    /// Files that changed since the slice's head, and their lines now.
    fn index_changed(&self, head: &str) -> Result<(Vec<String>, Index), Failure> {
        let (mut paths, mut index, mut bytes) = (Vec::new(), Index::default(), 0);
        let changes = self.repo.changes(Some(head), self.at)?.into_iter();
        let there = changes.filter(|change| change.kind != ChangeKind::Deleted);
        for change in there.take(MAX_SEARCHED) {
            let text = self
                .repo
                .read_text_at(self.at, &change.path)?
                .unwrap_or_default();
            bytes += text.bytes().len();
            if bytes > MAX_SEARCHED_BYTES {
                break;
            }
            index.add(&text.lines(), |_| true);
            paths.push(change.path);
        }
        Ok((paths, index))
    }
}

impl Repo {
    /// The commits from one to another, each after its parent, oldest first.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn list_way(&self, from: &str, to: &str) -> Result<Vec<(String, String)>, Failure> {
        let steps = self.steps(from, to, &BTreeSet::new())?.into_iter();
        Ok(steps.map(|step| (step.parent, step.commit)).collect())
    }

    /// Where the lines left their file on that way, the other one held them already: they are
    /// somebody's who wrote the same, and did not move there.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn has_stood_before(
        &self,
        way: &[(String, String)],
        path: &str,
        other: &str,
        lines: &[&[u8]],
    ) -> Result<bool, Failure> {
        let Some((first, _)) = way.first() else {
            return Ok(false);
        };
        let commits: Vec<&str> = [first.as_str()]
            .into_iter()
            .chain(way.iter().map(|(_, commit)| commit.as_str()))
            .collect();
        let mut known = HashMap::new();
        let mut holds = |entry: Option<TreeEntry>| -> Result<bool, Failure> {
            let Some(entry) = entry else {
                return Ok(false);
            };
            if let Some(holds) = known.get(&entry.id) {
                return Ok(*holds);
            }
            let text = self.read_text(Some(&entry))?.unwrap_or_default();
            let is_held = !find_lines(&text.lines(), lines).is_empty();
            known.insert(entry.id, is_held);
            Ok(is_held)
        };
        let read = |at: usize| self.tree_entry(commits[at], path);
        let mut parts = vec![((0, read(0)?), (way.len(), read(way.len())?))];
        // Where a file begins and ends a part of the way with one text it lost nothing there for good.
        while let Some(((from, before), (to, after))) = parts.pop() {
            if before == after {
                continue;
            }
            if from + 1 == to {
                if holds(before)?
                    && !holds(after)?
                    && holds(self.tree_entry(commits[from], other)?)?
                {
                    return Ok(true);
                }
                continue;
            }
            let middle = from.midpoint(to);
            let between = read(middle)?;
            parts.push(((from, before), (middle, between.clone())));
            parts.push(((middle, between), (to, after)));
        }
        Ok(false)
    }
}
