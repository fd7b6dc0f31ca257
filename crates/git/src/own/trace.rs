//! Who wrote which line between a slice's basis and its head.

use super::lineage::Trace;
use super::way::{Moves, Step, list_names};
use crate::Repo;
use crate::history::ChangeKind;
use cook_core::diagnostic::Failure;
use cook_core::machine::OwnQuestion;
use cook_core::model::{Count, Own, OwnFile};
use std::collections::{BTreeMap, BTreeSet};

/// Files that are listed.
const MAX_FILES: usize = 2_000;
/// Hunks that are listed; files after that count as a whole.
pub(super) const MAX_HUNKS: usize = 4_000;

impl Repo {
    /// What claimed commits of `basis..head`, both given in full, wrote and took away. Commits that a
    /// merge brought in are somebody else's, whoever claims them; so is what stood at an earlier basis or
    /// came while nobody worked on the slice, as far as that is here. `only` names the files to look at.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn own(
        &self,
        question: &OwnQuestion,
        only: Option<&BTreeSet<String>>,
    ) -> Result<Own, Failure> {
        let (basis, head) = (question.basis.as_str(), question.head.as_str());
        let mut steps = self.steps(basis, head, &question.claimed)?;
        // Whoever commits it anew brings in what others wrote, as a merge does.
        let left = self.find_left(question)?;
        for step in steps.iter_mut().filter(|step| step.own) {
            step.others.extend(left.iter().cloned());
        }
        let changes = self.changes(Some(basis), head)?;
        let has = |kind| changes.iter().any(|change| change.kind == kind);
        let moves = self.moves(&steps, has(ChangeKind::Added))?;
        let touched = self.find_touched(&steps, &moves, true)?;
        let trace = Trace::new(self, basis, (&steps, &moves), &touched.handed);
        let mut renamed: BTreeMap<String, String> =
            match has(ChangeKind::Added) && has(ChangeKind::Deleted) {
                true => self.renames(basis, head)?.into_iter().collect(),
                false => BTreeMap::new(),
            };
        let gone = changes.iter().filter(|one| one.kind == ChangeKind::Deleted);
        let gone: BTreeSet<&str> = gone.map(|change| change.path.as_str()).collect();
        // Git sees some renames one by one alone.
        for change in changes.iter().filter(|one| one.kind == ChangeKind::Added) {
            let names = list_names(&change.path, &moves);
            let first = names.first().filter(|first| gone.contains(first.as_str()));
            if let (Some(first), None) = (first, renamed.get(&change.path)) {
                renamed.insert(change.path.clone(), first.clone());
            }
        }
        let sources: BTreeSet<&String> = renamed.values().collect();
        let mut own = Own {
            basis: basis.to_owned(),
            head: head.to_owned(),
            commits: steps
                .iter()
                .filter(|step| step.own)
                .map(|step| step.commit.clone())
                .collect(),
            ..Own::default()
        };
        let mut listed = 0;
        for change in &changes {
            let is_source = change.kind == ChangeKind::Deleted && sources.contains(&change.path);
            let is_asked = only.is_none_or(|only| only.contains(&change.path));
            let is_own = touched.own.contains(&change.path);
            let is_touched = is_own || touched.received.contains(&change.path);
            if !is_touched || is_source || !is_asked {
                continue;
            }
            if own.files.len() == MAX_FILES {
                own.more = Count(own.more.0 + 1);
                continue;
            }
            let from = renamed.get(&change.path);
            let mut file = OwnFile {
                entry: self.tree_entry(head, &change.path)?,
                was: self.tree_entry(basis, from.unwrap_or(&change.path))?,
                path: change.path.clone(),
                from: from.cloned(),
                hunks: Vec::new(),
            };
            let names = list_names(&change.path, &moves);
            let is_mover = |(step, (names, moves)): (&Step, (&[String], &Moves))| {
                step.own && names.last().is_some_and(|name| moves.contains_key(name))
            };
            let is_moved = moves
                .iter()
                .zip(names.windows(2))
                .any(|(moves, names)| names.last().is_some_and(|name| moves.contains_key(name)));
            let mut ways = steps.iter().zip(names.windows(2).zip(&moves));
            let renames = file.from.is_some() && (!is_moved || ways.any(is_mover));
            match trace.own_hunks(&file, head, &names)? {
                // Text that own commits put back, or that others overwrote.
                Some(hunks)
                    if hunks.is_empty() && !(is_own && is_more_than_text(&file, renames)) =>
                {
                    continue;
                }
                Some(hunks) if listed + hunks.len() <= MAX_HUNKS => {
                    listed += hunks.len();
                    file.hunks = hunks;
                }
                // Somebody else's file, but for lines that are the slice's.
                _ if !is_own => continue,
                _ => {}
            }
            own.files.push(file);
        }
        Ok(own)
    }

    /// Commits on the way from the basis to the head.
    pub(crate) fn way(
        &self,
        basis: &str,
        head: &str,
        claimed: &BTreeSet<String>,
    ) -> Result<BTreeSet<String>, Failure> {
        let steps = self.steps(basis, head, claimed)?;
        Ok(steps.into_iter().map(|step| step.commit).collect())
    }

    /// Paths that commits of `basis..head` among these changed.
    pub(crate) fn list_touched_by(
        &self,
        basis: &str,
        head: &str,
        claimed: &BTreeSet<String>,
    ) -> Result<BTreeSet<String>, Failure> {
        let steps = self.steps(basis, head, claimed)?;
        let moves = self.moves(&steps, true)?;
        Ok(self.find_touched(&steps, &moves, false)?.own)
    }
}

/// Something else than lines differs between a text's two entries.
fn is_more_than_text(file: &OwnFile, renames: bool) -> bool {
    match (&file.was, &file.entry) {
        (Some(was), Some(entry)) => was.mode != entry.mode || renames,
        // A file without a line.
        (Some(one), None) | (None, Some(one)) => EMPTY.contains(&one.id.as_str()),
        (None, None) => false,
    }
}

/// The blob without a byte, by SHA-1 and by SHA-256.
const EMPTY: [&str; 2] = [
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
];
