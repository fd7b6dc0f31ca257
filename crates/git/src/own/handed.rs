//! Which files own commits changed, and into which others somebody moved text out of these.

use super::file::Text;
use super::way::{Moves, Step};
use crate::Repo;
use crate::history::ChangeKind;
use crate::lines::hunks;
use cook_core::diagnostic::Failure;
use cook_core::model::{Own, OwnFile};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Files that are read for it.
const MAX_READ: usize = 1_000;

/// Files that took text from others: their names after the step, with those others' names before it.
pub(super) type Handed = BTreeMap<String, Vec<String>>;

/// The files of a way, by the names that they have in the end.
#[derive(Default)]
pub(super) struct Touched {
    /// Own commits changed them.
    pub(super) own: BTreeSet<String>,
    /// Others put lines there that stood in a file that own commits had changed.
    pub(super) received: BTreeSet<String>,
    /// The same of each step.
    pub(super) handed: Vec<Handed>,
}

impl Repo {
    /// An own commit that is here changed the file itself; else lines of it alone are the slice's, which
    /// somebody moved there.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn is_own_file(&self, own: &Own, file: &OwnFile) -> Result<bool, Failure> {
        if file.hunks.is_empty() {
            return Ok(true);
        }
        let names = [Some(&file.path), file.from.as_ref()];
        for commit in &own.commits {
            let Some(commit) = self.resolve(commit)? else {
                continue;
            };
            let Some(parent) = self.ask(|history| history.parent(&commit))? else {
                return Ok(true);
            };
            for name in names.into_iter().flatten() {
                if self.tree_entry(&parent, name)? != self.tree_entry(&commit, name)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Paths that own commits changed; of a merge those that differ from every parent. Where own text
    /// went is looked for where it is asked for.
    pub(super) fn find_touched(
        &self,
        steps: &[Step],
        moves: &[Moves],
        follows: bool,
    ) -> Result<Touched, Failure> {
        let mut touched = Touched::default();
        let mut left = MAX_READ;
        for (step, moves) in steps.iter().zip(moves) {
            let handed = match step.own || !follows {
                true => Handed::new(),
                false => self.hand_over(step, moves, &touched, &mut left)?,
            };
            for (new, old) in moves {
                for paths in [&mut touched.own, &mut touched.received] {
                    if paths.contains(old) {
                        paths.insert(new.clone());
                    }
                }
            }
            touched.received.extend(handed.keys().cloned());
            touched.handed.push(handed);
            if !step.own {
                continue;
            }
            touched.own.append(&mut self.list_written_by(step)?);
        }
        Ok(touched)
    }

    /// Paths that the step changed, but for those that stand as others left them.
    fn list_written_by(&self, step: &Step) -> Result<BTreeSet<String>, Failure> {
        let differ = |parent: &str| self.paths_between(parent, &step.commit);
        let mut paths = differ(&step.parent)?;
        let mut doubtful = BTreeSet::new();
        for other in &step.others {
            let there = differ(&other.commit)?;
            match &other.after {
                None => paths.retain(|path| there.contains(path)),
                Some(after) => {
                    let theirs = self.paths_between(after, &other.commit)?;
                    doubtful.extend(theirs.into_iter().filter(|path| !there.contains(path)));
                }
            }
        }
        for path in &doubtful {
            if paths.contains(path) && self.is_of_others(step, path)? {
                paths.remove(path);
            }
        }
        Ok(paths)
    }

    /// What stands there is what was there before the step or with others, as others changed it since:
    /// else they changed what the step had written, and it stays a file of the step's.
    fn is_of_others(&self, step: &Step, path: &str) -> Result<bool, Failure> {
        let entry = |commit: &str| self.tree_entry(commit, path);
        let mut known = vec![entry(&step.parent)?];
        let mut changes = Vec::new();
        for other in &step.others {
            let left = entry(&other.commit)?;
            match &other.after {
                None => known.push(left),
                Some(after) => changes.push((entry(after)?, left)),
            }
        }
        while let Some(at) = changes.iter().position(|(was, _)| known.contains(was)) {
            known.push(changes.swap_remove(at).1);
        }
        Ok(known.contains(&entry(&step.commit)?))
    }

    fn paths_between(&self, from: &str, to: &str) -> Result<BTreeSet<String>, Failure> {
        let changes = self.changes(Some(from), to)?;
        Ok(changes.into_iter().map(|change| change.path).collect())
    }

    /// Files in which a step wrote lines that it took from a file that own commits had changed.
    fn hand_over(
        &self,
        step: &Step,
        moves: &Moves,
        before: &Touched,
        left: &mut usize,
    ) -> Result<Handed, Failure> {
        let mut handed = Handed::new();
        if before.own.is_empty() {
            return Ok(handed);
        }
        let changes = self.changes(Some(&step.parent), &step.commit)?;
        let names: HashMap<&str, &str> = moves.iter().map(|(new, old)| (&**old, &**new)).collect();
        let paths = |unlike: ChangeKind| {
            let listed = changes.iter().filter(move |change| change.kind != unlike);
            let mut paths: Vec<&str> = listed.map(|change| &*change.path).collect();
            // Few files are renamed and give or take lines as well.
            paths.sort_by_key(|path| names.contains_key(path) || moves.contains_key(*path));
            paths
        };
        let mut taken: HashMap<Vec<u8>, BTreeSet<&str>> = HashMap::new();
        let mut for_givers = *left / 2;
        *left -= for_givers;
        for path in paths(ChangeKind::Added) {
            if before.own.contains(path) || before.received.contains(path) {
                let now = names.get(path).copied().unwrap_or(path);
                let [lines, _] = self.differing(step, (path, now), &mut for_givers)?;
                for line in lines {
                    taken.entry(line).or_default().insert(path);
                }
            }
        }
        *left += for_givers;
        if taken.is_empty() {
            return Ok(handed);
        }
        for path in paths(ChangeKind::Deleted) {
            let was = moves.get(path).map_or(path, String::as_str);
            let [_, written] = self.differing(step, (was, path), left)?;
            let givers = written.iter().filter_map(|line| taken.get(line)).flatten();
            // Within one file it is seen line by line.
            let givers = givers.filter(|giver| **giver != was);
            let givers: BTreeSet<&str> = givers.copied().collect();
            if !givers.is_empty() {
                let givers = givers.into_iter().map(str::to_owned).collect();
                handed.insert(path.to_owned(), givers);
            }
        }
        Ok(handed)
    }

    /// Lines that a step took out of a file, and those that it wrote there; nothing where it is no
    /// text, or too much was read already.
    fn differing(
        &self,
        step: &Step,
        (was, is): (&str, &str),
        left: &mut usize,
    ) -> Result<[HashSet<Vec<u8>>; 2], Failure> {
        let mut found = [HashSet::new(), HashSet::new()];
        if *left == 0 {
            return Ok(found);
        }
        *left -= 1;
        let text = |commit: &str, path: &str| -> Result<Text, Failure> {
            Ok(self.read_text_at(commit, path)?.unwrap_or_default())
        };
        let texts = [text(&step.parent, was)?, text(&step.commit, is)?];
        let lines = [texts[0].lines(), texts[1].lines()];
        for hunk in hunks(texts[0].bytes(), texts[1].bytes())? {
            for (side, range) in [hunk.old, hunk.new].into_iter().enumerate() {
                let here = lines[side].get(range).unwrap_or_default().iter();
                let says = here.filter(|line| !line.trim_ascii().is_empty());
                found[side].extend(says.map(|line| line.to_vec()));
            }
        }
        Ok(found)
    }
}

/// A file's name after the step.
pub(super) fn find_name_after<'a>(path: &'a str, moves: &'a Moves) -> &'a str {
    let mut named = moves.iter().filter(|(_, old)| *old == path);
    named.next().map_or(path, |(new, _)| new)
}
