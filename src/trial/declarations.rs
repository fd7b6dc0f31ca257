//! What commits of a change declare of its tests.

use super::trial_change::{Change, End};
use cook_protocol::diagnostic::{Failure, Lines, clean};
use cook_protocol::machine::short;
use cook_protocol::trials::{Declaration, TrialLine, Weight, Word, read_declarations};
use cook_repo::git::{Entry, Said};

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
        let mut unused = Vec::new();
        let mut open = Vec::new();
        for declaration in &declared {
            let fits = |line: &TrialLine| {
                line.word.can_be_declared()
                    && (!declaration.is_directory() || line.word == Word::NotComparable)
                    && declaration.find_reason(&line.name).is_some()
            };
            let fits: Vec<usize> = (0..lines.len()).filter(|at| fits(&lines[*at])).collect();
            if fits.is_empty() {
                unused.push(declaration);
            }
            let comparable = fits
                .iter()
                .filter(|at| lines[**at].word != Word::NotComparable);
            let is_many = declaration.is_prefix() && comparable.count() > MOST;
            for at in fits {
                let why = declaration.find_reason(&lines[at].name).unwrap_or_default();
                let why_not = if why.is_empty() {
                    "gives no reason".to_owned()
                } else if is_many {
                    format!("names more than {MOST} tests by one prefix")
                } else if !self.was_so_at(&declaration.commit, &lines[at])? {
                    "was made before the last change of the file".to_owned()
                } else {
                    lines[at].declared = Some(clean(why, Lines::Fold));
                    lines[at].weight = Weight::Shown;
                    continue;
                };
                open.push((at, short(&declaration.commit), why_not));
            }
        }
        for (at, commit, why) in open {
            if lines[at].declared.is_none() {
                let what = format!("; the declaration in {commit} {why}");
                lines[at].what.push_str(&what);
            }
        }
        for declaration in unused {
            let text = clean(declaration.text(), Lines::Fold);
            let commit = short(&declaration.commit);
            lines.push(TrialLine {
                word: Word::NotDeclared,
                weight: Word::NotDeclared.weight(),
                what: format!("{commit} declares `{text}`, which is so of no test"),
                name: text,
                show: format!("git show {commit}"),
                file: None,
                declared: None,
            });
        }
        Ok(())
    }

    /// The file was there as it is at the head.
    fn was_so_at(&self, commit: &str, line: &TrialLine) -> Result<bool, Failure> {
        let Some(file) = line.file.as_ref().filter(|file| self.find(file).is_some()) else {
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
        let refs = self.repo.refs()?.into_iter();
        let of_remotes = refs.filter(|(name, _)| name.starts_with("refs/remotes/"));
        let tips: Vec<String> = of_remotes.map(|(_, tip)| tip).collect();
        let mut theirs = Vec::new();
        for parent in merged {
            for tip in &tips {
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
