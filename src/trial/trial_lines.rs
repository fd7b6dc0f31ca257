//! What trials say, in words.

use super::trial_change::{Change, End, Recipe};
use crate::prelude::*;
use cook_protocol::model::CleanRoom;
use cook_protocol::trials::{Became, Declaration, NamedTest, Weight, Word, read_declarations};
use cook_repo::git::{Entry, Said};

/// Lines of one word that are told one by one.
const TOLD: usize = 20;

/// Who tells it.
pub(super) struct Teller<'a> {
    pub change: &'a Change<'a>,
    pub gate: &'a GateSpec,
    pub known_red: &'a [String],
    /// How a clean room is made ready.
    pub settings: &'a CleanRoom,
    /// The commit with the old tests on the new code, and the command that ran there.
    pub old: Option<(&'a str, &'a str)>,
    /// Files that were put back for their own tests alone, with the same of them.
    pub apart: Option<(&'a BTreeSet<String>, (&'a str, &'a str))>,
}

impl Teller<'_> {
    /// A line for each test; many of one word that no reader is owed one by one are counted.
    pub fn tell(&self, named: &[NamedTest]) -> Vec<TrialLine> {
        let mut lines = Vec::new();
        let told = named.iter().filter(|it| it.word != Word::FailToPass);
        for it in told {
            let is_known = self.known_red.iter().any(|name| name == &it.name);
            if it.word == Word::RedBefore && is_known {
                continue;
            }
            lines.push(self.line(it));
        }
        cap(lines)
    }

    fn line(&self, it: &NamedTest) -> TrialLine {
        let name = clean(&it.name, Lines::Fold);
        let why = match &it.message {
            Some(message) => format!(" ({})", clean(message, Lines::Fold)),
            None => String::new(),
        };
        let now = match it.became {
            Became::Green => "it is green now",
            Became::Red => "it is red now",
            Became::Skipped => "it is skipped or expected to fail now",
            Became::Gone => "nothing of that name runs now",
        };
        let what = match it.word {
            Word::GateRed => format!("`{name}` is red{why}"),
            Word::RedBefore => format!("`{name}` was red before and is red now{why}"),
            Word::PassToFail => format!(
                "`{name}` was green, and its old version does not pass on the new code{why}; {now}"
            ),
            Word::Bent => format!(
                "`{name}` was red, and its old version is still red on the new code{why}; {now}"
            ),
            Word::TestRepaired => {
                format!("`{name}` was red, and only the test was changed{why}; {now}")
            }
            Word::SetAside => {
                format!("`{name}` ran and passed before, and is skipped or expected to fail now")
            }
            Word::Lost => format!(
                "`{name}` ran before and does not run now; its old version passes on the new code"
            ),
            Word::NotComparable => {
                format!("the old tests of `{name}` have no result on the new code{why}")
            }
            _ => name.clone(),
        };
        self.make(it.word, &it.name, what, it.file.clone())
    }

    fn make(&self, word: Word, name: &str, what: String, file: Option<String>) -> TrialLine {
        TrialLine {
            word,
            weight: word.weight(),
            name: name.to_owned(),
            what,
            show: self.show(word, file.as_deref()),
            file,
            declared: None,
        }
    }

    /// The command with which anybody sees the same.
    fn show(&self, word: Word, file: Option<&str>) -> String {
        let apart = self
            .apart
            .filter(|(own, _)| file.is_some_and(|file| own.contains(file)));
        match (word, apart.map(|(_, at)| at).or(self.old)) {
            (
                Word::PassToFail | Word::Bent | Word::TestRepaired | Word::NotComparable,
                Some(at),
            ) => show_at(self.gate, self.settings, at),
            (Word::RedBefore, _) => show_red_before(self.gate, self.settings, &self.change.base),
            (Word::GateRed | Word::MadeFlaky | Word::NothingRan, _) => show_red(self.gate),
            _ => {
                let [base, head] = [&self.change.base, &self.change.head].map(|it| short(it));
                format!("git diff {base} {head}")
            }
        }
    }

    pub fn tell_flaky(&self, word: Word, name: &str) -> TrialLine {
        let shown = clean(name, Lines::Fold);
        let as_before = match word {
            Word::Flaky => "as it did before",
            _ => {
                "which it did not before; if it lacked something that this machine has by now, run it anew"
            }
        };
        let what = format!("`{shown}` passes at times and fails at times, {as_before}");
        self.make(word, name, what, None)
    }

    /// `red`: tests that are red without the edit, as a trial says at that commit with that command.
    pub fn tell_setting(&self, path: &str, red: &[String], at: (&str, &str)) -> TrialLine {
        let more = and_more(red.len().saturating_sub(1));
        let first = red.first().map_or("", String::as_str);
        let [shown, first] = [path, first].map(|text| clean(text, Lines::Fold));
        let what = format!(
            "`{shown}` holds settings of the test runner, which were edited: without the edit `{first}`{more} is red"
        );
        let line = self.make(Word::RunnerChanged, path, what, Some(path.to_owned()));
        TrialLine {
            show: show_at(self.gate, self.settings, at),
            ..line
        }
    }

    pub fn tell_recipe(&self, recipe: &Recipe) -> TrialLine {
        let file = recipe.file().unwrap_or_default();
        let what = format!(
            "what `{}` runs was changed in `{file}`, and the old tests do not run in the old way on the new code",
            self.gate.run
        );
        self.make(Word::GateChanged, file, what, Some(file.to_owned()))
    }

    pub fn tell_silent(&self, had: usize) -> TrialLine {
        let what = format!(
            "`{}` is green and ran no test; at the base {} passed",
            self.gate.run,
            count_noun(had, "test")
        );
        self.make(Word::GateRed, &self.gate.name, what, None)
    }

    pub fn tell_nothing_ran(&self) -> TrialLine {
        let what = format!(
            "`{}`{} ran no test; add one, or name another command for the gate `{}` in `.agent/cook.toml`",
            self.gate.run,
            describe_place(self.gate),
            self.gate.name
        );
        self.make(Word::NothingRan, &self.gate.name, what, None)
    }

    pub fn tell_red(&self, run: &GateRun, was_so: bool) -> TrialLine {
        let ending = run.receipt.as_ref().map(|receipt| {
            let last = clean(&last_line(&receipt.tail), Lines::Fold);
            format!("{}: {last}", receipt.ending())
        });
        let (word, when) = match was_so {
            true => (Word::RedBefore, "was red before and is red"),
            false => (Word::GateRed, "is red"),
        };
        let what = format!(
            "`{}` {when} at HEAD: {}",
            self.gate.run,
            ending.unwrap_or_default()
        );
        self.make(word, &self.gate.name, what, None)
    }

    pub fn tell_unnoticed(&self, brings_tests: bool) -> TrialLine {
        let how = match brings_tests {
            true => "no added or edited test fails on the old code",
            false => "every test has the same result on the old code",
        };
        let what = format!("{how}: `{}` does not notice the change", self.gate.run);
        self.make(Word::ChangeUnnoticed, &self.gate.name, what, None)
    }
}

/// The folder of a gate, where it is not the root.
pub(crate) fn describe_place(gate: &GateSpec) -> String {
    match gate.dir.as_str() {
        "" => String::new(),
        dir => format!(" in `{dir}`"),
    }
}

/// The last line of an output that says something.
pub(crate) fn last_line(tail: &str) -> String {
    let last = cook_protocol::diagnostic::last_line(&without_escapes(tail)).map(str::to_owned);
    last.unwrap_or_else(|| "no output".to_owned())
}

/// What shows a gate that is red at the head.
pub(crate) fn show_red(gate: &GateSpec) -> String {
    format!("cook gate --clean {}", shell_words::quote(&gate.name))
}

/// The same of one that was red at its base.
pub(crate) fn show_red_before(gate: &GateSpec, settings: &CleanRoom, base: &str) -> String {
    show_at(gate, settings, (base, &gate.run))
}

/// What shows a run of a command at a commit, where its gate runs, after what makes a clean room ready for it.
fn show_at(gate: &GateSpec, settings: &CleanRoom, (commit, command): (&str, &str)) -> String {
    let commit = short(commit);
    let setup: Vec<String> = settings.setup().map(|run| format!("{run} && ")).collect();
    let place = format!("../trial-{commit}");
    let dir = match (setup.is_empty(), gate.dir.as_str()) {
        (true, dir) => format!("{place}/{dir}"),
        (false, _) => place.clone(),
    };
    let dir = shell_words::quote(dir.trim_end_matches('/')).into_owned();
    let inner = match (setup.is_empty(), gate.dir.as_str()) {
        (true, _) | (_, "") => String::new(),
        (false, dir) => format!("cd {} && ", shell_words::quote(dir)),
    };
    let setup = setup.concat();
    format!("{ADD_WORKTREE}{place} {commit} && cd {dir} && {setup}{inner}{command}")
}

const ADD_WORKTREE: &str = "git worktree add --detach ";

/// The commit that such a command lays out.
pub(crate) fn find_laid_out(show: &str) -> Option<&str> {
    show.strip_prefix(ADD_WORKTREE)?.split(' ').nth(1)
}

/// The first of each word; the others are counted, and none that refuses is left out of its sum.
fn cap(lines: Vec<TrialLine>) -> Vec<TrialLine> {
    let mut kept: Vec<TrialLine> = Vec::new();
    let mut more: Vec<(TrialLine, usize)> = Vec::new();
    for line in lines {
        let of_word = kept.iter().filter(|known| known.word == line.word).count();
        if line.weight != Weight::Shown || of_word < TOLD {
            kept.push(line);
        } else if let Some((_, count)) = more.iter_mut().find(|(of, _)| of.word == line.word) {
            *count += 1;
        } else {
            more.push((line, 1));
        }
    }
    for (mut line, count) in more {
        line.what = format!("{}, and {count} more like it", line.what);
        kept.push(line);
    }
    kept
}

// What commits of a change declare of its tests.

/// Names that one prefix may stand for.
const MOST: usize = 20;

impl Change<'_> {
    /// Counts the declarations of the range: what is declared refuses no more. A declaration that names
    /// nothing that is so is told.
    pub(super) fn count_declarations(&self, lines: &mut Vec<TrialLine>) -> Result<()> {
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
                what: format!("{commit} declares `{text}`, which fits no test"),
                name: text,
                show: format!("git show {commit}"),
                file: None,
                declared: None,
            });
        }
        Ok(())
    }

    /// The file was there as it is at the head.
    fn was_so_at(&self, commit: &str, line: &TrialLine) -> Result<bool> {
        let Some(file) = line.file.as_ref().filter(|file| self.find(file).is_some()) else {
            // It goes otherwise by the code alone.
            return Ok(true);
        };
        let then = self.repo.entry(commit, file)?;
        Ok(then == self.repo.entry(self.commit(End::Head), file)?)
    }

    /// Tests that came with a merge of the remote's default branch are others' work: they are shown. Where that branch
    /// holds the head too, what was merged is what is being checked.
    fn note_foreign(&self, said: &[Said], lines: &mut [TrialLine]) -> Result<()> {
        let merged: Vec<&String> = said.iter().flat_map(|said| &said.merged).collect();
        let Some(name) = self.repo.default_branch()?.filter(|_| !merged.is_empty()) else {
            return Ok(());
        };
        let Some(tip) = self.repo.commit_named(&name)? else {
            return Ok(());
        };
        let holds = |commit: &str| {
            Ok::<bool, Failure>(commit == tip || self.repo.is_ancestor(commit, &tip)?)
        };
        if holds(&self.head)? {
            return Ok(());
        }
        let mut theirs = Vec::new();
        for parent in merged {
            if holds(parent)? {
                theirs.push(parent);
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
