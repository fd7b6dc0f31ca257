//! What commits of a change declare of its tests.

use super::change::{Change, End};
use cook_core::diagnostic::{Failure, Lines, clean};
use cook_git::{Entry, Said};
use cook_trials::{Declaration, TrialLine, Weight, Word, read_declarations};
use std::collections::BTreeSet;

/// Names that one prefix may stand for.
const MOST: usize = 20;

impl Change<'_> {
    /// Counts the declarations of the range: what is declared refuses no more. A declaration that names
    /// nothing that is so is told.
    pub(super) fn count_declarations(&self, lines: &mut Vec<TrialLine>) -> Result<(), Failure> {
        let said = self.repo.list_said(&self.base, &self.head)?;
        let declared: Vec<Declaration> = said
            .iter()
            .filter(|said| said.merged.is_empty())
            .flat_map(|said| read_declarations(&said.commit, &said.message))
            .collect();
        self.note_foreign(&said, lines)?;
        let mut used = BTreeSet::new();
        let mut open = Vec::new();
        for (number, declaration) in declared.iter().enumerate() {
            let mut fits: Vec<usize> = Vec::new();
            for (at, line) in lines.iter().enumerate() {
                let by_directory = declaration.is_directory();
                if line.word.can_be_declared()
                    && (!by_directory || line.word == Word::NotComparable)
                    && declaration.find_reason(&line.name).is_some()
                {
                    fits.push(at);
                }
            }
            if fits.is_empty() {
                continue;
            }
            used.insert(number);
            let is_many = declaration.is_prefix()
                && fits
                    .iter()
                    .filter(|at| lines[**at].word != Word::NotComparable)
                    .count()
                    > MOST;
            for at in fits {
                let why = declaration.find_reason(&lines[at].name).unwrap_or_default();
                let why_not = if why.is_empty() {
                    Some("gives no reason".to_owned())
                } else if is_many {
                    Some(format!("names more than {MOST} tests by one prefix"))
                } else if !self.was_so_at(&declaration.commit, &lines[at])? {
                    Some("was made before the last change of the file".to_owned())
                } else {
                    None
                };
                match why_not {
                    None => {
                        lines[at].declared = Some(clean(why, Lines::Fold));
                        lines[at].weight = Weight::Shown;
                    }
                    Some(why) => open.push((at, declaration.commit.clone(), why)),
                }
            }
        }
        for (at, commit, why) in open {
            if lines[at].declared.is_none() {
                let short = commit.get(..12).unwrap_or(&commit).to_owned();
                lines[at]
                    .what
                    .push_str(&format!("; the declaration in {short} {why}"));
            }
        }
        for (number, declaration) in declared.iter().enumerate() {
            if !used.contains(&number) {
                let text = clean(declaration.text(), Lines::Fold);
                let commit = declaration.commit.get(..12).unwrap_or_default();
                lines.push(TrialLine {
                    word: Word::NotDeclared,
                    weight: Word::NotDeclared.weight(),
                    name: text.clone(),
                    what: format!("{commit} declares `{text}`, which is so of no test"),
                    show: format!("git show {commit}"),
                    file: None,
                    declared: None,
                });
            }
        }
        Ok(())
    }

    /// The file was there as it is at the head.
    fn was_so_at(&self, commit: &str, line: &TrialLine) -> Result<bool, Failure> {
        let changed = |file: &&String| self.changes.iter().any(|change| change.path() == **file);
        let Some(file) = line.file.as_ref().filter(changed) else {
            // It goes otherwise by the code alone.
            return Ok(true);
        };
        let then = self.repo.entry(commit, file)?;
        Ok(then == self.repo.entry(self.commit(End::Head), file)?)
    }

    /// Tests that came with a merge of what others work on are theirs: they are shown.
    fn note_foreign(&self, said: &[Said], lines: &mut [TrialLine]) -> Result<(), Failure> {
        let merged: Vec<&String> = said.iter().flat_map(|said| &said.merged).collect();
        if merged.is_empty() {
            return Ok(());
        }
        let refs = self.repo.refs()?;
        let mut theirs = Vec::new();
        for parent in merged {
            for (_, tip) in refs
                .iter()
                .filter(|(name, _)| name.starts_with("refs/remotes/"))
            {
                if tip == parent || self.repo.is_ancestor(parent, tip)? {
                    theirs.push(parent);
                    break;
                }
            }
        }
        for line in lines.iter_mut().filter(|line| line.word.can_be_declared()) {
            let Some(file) = &line.file else { continue };
            let entry = self.repo.entry(self.commit(End::Head), file)?;
            for parent in &theirs {
                if entry != Entry::Nothing && self.repo.entry(parent, file)? == entry {
                    line.weight = Weight::Shown;
                    line.what.push_str("; its file came with a merge");
                    break;
                }
            }
        }
        Ok(())
    }
}
