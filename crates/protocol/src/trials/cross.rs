//! What four trials say of each test, and what a commit's message declares of them.

use super::outcomes::{Outcomes, Test, TestResult};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What a change did to a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// Red at the head and not red before.
    GateRed,
    /// Green before; its old version is red on the new code.
    PassToFail,
    /// Red before and its old version still is; it is not red any more.
    Bent,
    /// The same where no code changed: the test was mended.
    TestRepaired,
    /// Green before and its old version still is; it is skipped now.
    SetAside,
    /// Green before and its old version still is; nothing of that name runs now.
    Lost,
    /// Red before and red now.
    RedBefore,
    /// Its old version could not be built or loaded on the new code.
    NotComparable,
    /// Green now; red or without a result on the old code.
    FailToPass,
    /// Settings of a runner changed, and without that change a test goes otherwise.
    RunnerChanged,
    /// What the gate runs changed, and the old recipe could not be tried.
    GateChanged,
    /// It goes now so and now otherwise, and did not before.
    MadeFlaky,
    /// It goes now so and now otherwise, before the change too.
    Flaky,
    /// No test ran, before and now.
    NothingRan,
    /// Tests came or were edited with the code, and each is green without the change of the code.
    ChangeUnnoticed,
    /// A declaration names nothing that is so.
    NotDeclared,
}

/// What a word means for the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// The claim is false unless somebody declares the change.
    Refuses,
    /// Nobody can say.
    NotKnown,
    /// A reader is shown it.
    Shown,
}

impl Word {
    /// What it means where nobody declares it.
    pub fn weight(self) -> Weight {
        match self {
            Self::GateRed
            | Self::PassToFail
            | Self::Bent
            | Self::TestRepaired
            | Self::SetAside
            | Self::RunnerChanged
            | Self::GateChanged
            | Self::MadeFlaky => Weight::Refuses,
            Self::RedBefore | Self::NotComparable | Self::NothingRan => Weight::NotKnown,
            Self::Lost
            | Self::FailToPass
            | Self::Flaky
            | Self::ChangeUnnoticed
            | Self::NotDeclared => Weight::Shown,
        }
    }

    /// A line `Test-Changed: NAME: why` in a commit's message answers for it.
    pub fn can_be_declared(self) -> bool {
        matches!(
            self,
            Self::PassToFail
                | Self::Bent
                | Self::TestRepaired
                | Self::SetAside
                | Self::Lost
                | Self::RunnerChanged
                | Self::GateChanged
                | Self::NotComparable
        )
    }
}

/// One thing that trials say of a change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialLine {
    /// What it is.
    pub word: Word,
    /// What it means, with declarations counted.
    pub weight: Weight,
    /// The test, file or gate that it is about.
    pub name: String,
    /// What was seen, for a reader.
    pub what: String,
    /// The command with which anybody sees the same.
    pub show: String,
    /// The file that it is about, at the head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The reason that a commit's message gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<String>,
}

impl TrialLine {
    /// The line of a commit's message that would answer for it; nothing where none does.
    pub fn declaration(&self) -> Option<String> {
        let is_open = self.declared.is_none() && self.weight != Weight::Shown;
        (is_open && self.word.can_be_declared())
            .then(|| format!("Test-Changed: {}: WHY", self.name))
    }
}

/// What became of a test at the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Became {
    /// It is green.
    Green,
    /// It is red.
    Red,
    /// It is skipped.
    Skipped,
    /// Nothing of that name ran.
    Gone,
}

/// A test and a word that is true of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NamedTest {
    /// What the change did to it.
    pub word: Word,
    /// Its name at the base, or where it was not there the one at the head.
    pub name: String,
    /// Its file at the head, where that is known.
    pub file: Option<String>,
    /// The line that it failed with.
    pub message: Option<String>,
    /// What became of it.
    pub became: Became,
}

/// Four trials of a gate. Where one equals another, it is given twice.
pub struct Crossed<'a> {
    /// Tests of the base on the code of the base.
    pub before: &'a Outcomes,
    /// Tests of the base on the code of the head.
    pub old_tests: &'a Outcomes,
    /// Tests of the head on the code of the base; nothing where that was not asked.
    pub new_tests: Option<&'a Outcomes>,
    /// Tests of the head on the code of the head.
    pub after: &'a Outcomes,
    /// Files of tests, at the head, that `old_tests` ran; nothing = all.
    pub old_ran: Option<&'a BTreeSet<String>>,
    /// The same of `new_tests`, at the head.
    pub new_ran: Option<&'a BTreeSet<String>>,
    /// Files at the head whose old tests could not be built or loaded, with the line that says so.
    pub unloaded: &'a BTreeMap<String, String>,
    /// The path of a file of the base at the head.
    pub renamed: &'a dyn Fn(&str) -> Option<String>,
    /// The code side changed.
    pub code_changed: bool,
}

/// Names that are true of each test, sorted.
pub fn cross(crossed: &Crossed) -> Vec<NamedTest> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for (name, before) in &crossed.before.tests {
        let head = rename(name, before, crossed);
        seen.insert(head.clone());
        crossed.weigh(name, &head, Some(before), &mut found);
    }
    // A test that the base does not name passed there, where the runner names none that passed, and was red, where
    // something could not be loaded.
    let was = match crossed.before.unloaded.is_empty() {
        true if crossed.before.omits_passed => Some(TestResult::Passed),
        true => None,
        false => Some(TestResult::Failed),
    };
    let red = crossed.old_tests.tests.iter();
    let red = red.filter(|(_, test)| test.result == TestResult::Failed);
    for (name, test) in red {
        let after = crossed.after.tests.get(name).map(|test| test.result);
        // What never ran before and is red now is told as red.
        if let Some(result) = was
            && (result, after) != (TestResult::Failed, Some(TestResult::Failed))
            && seen.insert(name.clone())
        {
            let (file, message) = (test.file.clone(), None);
            let before = Test {
                result,
                file,
                message,
                is_ambiguous: false,
                line: None,
            };
            crossed.weigh(name, name, Some(&before), &mut found);
        }
    }
    for name in crossed.after.tests.keys() {
        if !seen.contains(name) {
            crossed.weigh(name, name, None, &mut found);
        }
    }
    for (file, message) in crossed.unloaded {
        found.push(NamedTest {
            word: Word::NotComparable,
            name: file.clone(),
            file: Some(file.clone()),
            message: Some(message.clone()),
            became: Became::Gone,
        });
    }
    found.sort();
    found.dedup();
    found
}

/// A name of the base as the same test bears it where its file was renamed.
fn rename(name: &str, test: &Test, crossed: &Crossed) -> String {
    let Some(file) = &test.file else {
        return name.to_owned();
    };
    let Some(to) = (crossed.renamed)(file).filter(|to| to != file) else {
        return name.to_owned();
    };
    if let Some(rest) = name.strip_prefix(file.as_str()) {
        return format!("{to}{rest}");
    }
    // Python's unittest and Rust name a file as a module.
    let module = |path: &str, mark: &str| {
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        stem.replace('/', mark)
    };
    for mark in [".", "::"] {
        if let Some(rest) = name.strip_prefix(&module(file, mark)) {
            return format!("{}{rest}", module(&to, mark));
        }
    }
    name.to_owned()
}

impl Crossed<'_> {
    fn weigh(&self, name: &str, head: &str, before: Option<&Test>, found: &mut Vec<NamedTest>) {
        let after = self.after.tests.get(head);
        let file = after.and_then(|test| test.file.clone()).or_else(|| {
            let file = before?.file.as_ref()?;
            (self.renamed)(file).or_else(|| Some(file.clone()))
        });
        let became = match after.map(|test| test.result) {
            Some(TestResult::Passed) => Became::Green,
            Some(TestResult::Failed) => Became::Red,
            Some(TestResult::Skipped) => Became::Skipped,
            None if self.after.omits_passed => Became::Green,
            None => Became::Gone,
        };
        let mut add = |word, message: Option<&String>| {
            found.push(NamedTest {
                word,
                name: name.to_owned(),
                file: file.clone(),
                message: message.cloned(),
                became,
            });
        };
        let is_unloaded = file
            .as_ref()
            .is_some_and(|file| self.unloaded.contains_key(file));
        let at_base = before.and_then(|test| test.file.as_deref());
        let old = self.find_old(name, head, [file.as_deref(), at_base], after);
        let was = before.map(|test| test.result);
        let message = after.and_then(|test| test.message.as_ref());
        match (was, became) {
            (Some(TestResult::Failed), Became::Red) => add(Word::RedBefore, message),
            (_, Became::Red) => add(Word::GateRed, message),
            _ => {}
        }
        match (was, old) {
            _ if is_unloaded => {}
            (Some(TestResult::Passed), Old::Red(message)) => add(Word::PassToFail, message),
            (Some(TestResult::Passed), Old::NotCollected) if became != Became::Red => {
                add(Word::PassToFail, None);
            }
            (Some(TestResult::Failed), Old::Red(message)) if became != Became::Red => {
                match (self.code_changed, became) {
                    (false, Became::Green) => add(Word::TestRepaired, message),
                    // Without a change of code what is skipped or gone still is red.
                    _ => add(Word::Bent, message),
                }
            }
            (Some(TestResult::Passed), Old::Green | Old::Skipped | Old::Unknown)
                if became == Became::Skipped =>
            {
                add(Word::SetAside, None);
            }
            // Nobody can say what it would say of the new code: its new version says nothing of it.
            (Some(TestResult::Passed), Old::Unknown | Old::Skipped)
                if became == Became::Gone && self.names_all()
                    || became == Became::Green && self.runs_all() =>
            {
                add(Word::NotComparable, None);
            }
            (Some(TestResult::Passed | TestResult::Failed), Old::Green)
                if became == Became::Gone
                    && !self.after.is_partial
                    && !self.runs_with_parameters(head) =>
            {
                add(Word::Lost, None);
            }
            _ => {}
        }
        if became == Became::Green && self.fails_on_old_code(head, file.as_deref()) {
            add(Word::FailToPass, None);
        }
    }

    /// Whether it runs once for each of its parameters now, whose names runners put behind its own.
    fn runs_with_parameters(&self, head: &str) -> bool {
        let with = format!("{head}[");
        let mut from = self.after.tests.range(with.clone()..);
        from.next().is_some_and(|(name, _)| name.starts_with(&with))
    }

    /// How the version of the base goes on the code of the head.
    fn find_old<'t>(
        &'t self,
        name: &str,
        head: &str,
        places: [Option<&str>; 2],
        after: Option<&'t Test>,
    ) -> Old<'t> {
        let mut known = places.iter().flatten().peekable();
        let ran = match (self.old_ran, known.peek()) {
            (None, _) => true,
            (Some(files), Some(_)) => known.any(|file| files.contains(*file)),
            // Nobody knows where it stands: it was run where a name says so.
            (Some(_), None) => self.old_tests.tests.contains_key(name),
        };
        let test = match ran {
            true => self
                .old_tests
                .tests
                .get(head)
                .or_else(|| self.old_tests.tests.get(name)),
            false => after,
        };
        match test.map(|test| (test.result, test)) {
            Some((TestResult::Passed, _)) => Old::Green,
            Some((TestResult::Failed, test)) => Old::Red(test.message.as_ref()),
            Some((TestResult::Skipped, _)) => Old::Skipped,
            None if self.old_tests.omits_passed => Old::Green,
            // Other tests of its file ran, so this one was not collected.
            None if ran
                && !self.old_tests.is_partial
                && places.iter().flatten().any(|file| self.runs_of(file)) =>
            {
                Old::NotCollected
            }
            None => Old::Unknown,
        }
    }

    /// Neither trial left out a test that ran.
    fn names_all(&self) -> bool {
        let both = [self.old_tests, self.after];
        both.iter()
            .all(|outcomes| !outcomes.is_partial && !outcomes.omits_passed)
    }

    /// The same, and what did not run is no part of what did not build or load.
    fn runs_all(&self) -> bool {
        self.names_all() && self.old_tests.unloaded.is_empty()
    }

    fn runs_of(&self, file: &str) -> bool {
        let mut tests = self.old_tests.tests.values();
        tests.any(|test| test.file.as_deref() == Some(file))
    }

    fn fails_on_old_code(&self, head: &str, file: Option<&str>) -> bool {
        let Some(new_tests) = self.new_tests.filter(|it| !it.omits_passed) else {
            return false;
        };
        let ran = match (self.new_ran, file) {
            (None, _) => true,
            (Some(files), Some(file)) => files.contains(file),
            // What does not build there has no result.
            (Some(_), None) => {
                new_tests.tests.contains_key(head)
                    || !new_tests.unloaded.is_empty() && !self.before.tests.contains_key(head)
            }
        };
        ran && new_tests
            .tests
            .get(head)
            .is_none_or(|test| test.result == TestResult::Failed)
    }
}

enum Old<'a> {
    Green,
    Skipped,
    Red(Option<&'a String>),
    /// Without a result, where other tests of its file have one.
    NotCollected,
    Unknown,
}

// What a commit's message declares: `Test-Changed: NAME: why`, anywhere in it.

/// The label of the line.
const LABEL: &str = "Test-Changed:";

/// One declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// The commit whose message has it.
    pub commit: String,
    /// What stands behind the label: a name, `: ` and the reason. A name may hold `: ` itself.
    text: String,
}

/// The declarations of a message.
pub fn read_declarations(commit: &str, message: &str) -> Vec<Declaration> {
    let lines = message.lines().filter_map(|line| {
        let line = line.trim().trim_start_matches(['>', '*', '-']).trim_start();
        let label = line.get(..LABEL.len())?;
        let rest = line.get(LABEL.len()..)?;
        label.eq_ignore_ascii_case(LABEL).then(|| Declaration {
            commit: commit.to_owned(),
            text: rest.trim().to_owned(),
        })
    });
    lines.collect()
}

impl Declaration {
    /// The names that it may have and the reason of each, the longest name first.
    fn splits(&self) -> impl Iterator<Item = (&str, &str)> {
        let places: Vec<usize> = self.text.match_indices(": ").map(|(at, _)| at).collect();
        let whole = [(self.text.trim_end_matches(':'), "")].into_iter();
        let splits = places.into_iter().rev().map(|at| {
            let (name, why) = self.text.split_at(at);
            (name, why[1..].trim())
        });
        whole.chain(splits)
    }

    /// The reason that it gives for a name, where it names that: the name itself, `PREFIX*`, or a
    /// directory with `/` at its end. An empty reason is none.
    pub fn find_reason(&self, name: &str) -> Option<&str> {
        let mut splits = self.splits();
        let (_, why) = splits.find(|(declared, _)| names(declared.trim(), name))?;
        // A mark is no reason.
        let has_words = why
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty());
        Some(if has_words.count() > 1 { why } else { "" })
    }

    /// It names all of a directory.
    pub fn is_directory(&self) -> bool {
        self.splits().any(|(name, _)| name.trim().ends_with('/'))
    }

    /// What it says, for a reader.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// It names many by a prefix.
    pub fn is_prefix(&self) -> bool {
        self.splits().any(|(name, _)| name.trim().ends_with('*'))
    }
}

fn names(declared: &str, name: &str) -> bool {
    // A prompt shows tags, and what looks like one, with other brackets.
    let plain = |text: &str| text.replace('\u{2039}', "<").replace('\u{203a}', ">");
    let (declared, name) = (plain(declared.trim_matches('`')), plain(name));
    let declared = declared.as_str();
    if declared.is_empty() {
        return false;
    }
    if let Some(prefix) = declared.strip_suffix('*') {
        return prefix.len() > 1 && name.starts_with(prefix);
    }
    declared == name || declared.ends_with('/') && name.starts_with(declared)
}

#[cfg(test)]
mod tests_of_cross {
    use super::*;
    use TestResult::{Failed, Passed, Skipped};

    fn outcomes(tests: &[(&str, TestResult)]) -> Outcomes {
        let test = |result| Test {
            result,
            file: Some("t.py".to_owned()),
            message: None,
            is_ambiguous: false,
            line: None,
        };
        Outcomes {
            tests: tests
                .iter()
                .map(|(name, result)| ((*name).to_owned(), test(*result)))
                .collect(),
            ..Outcomes::default()
        }
    }

    fn words(
        before: &[(&str, TestResult)],
        old: &[(&str, TestResult)],
        new: &[(&str, TestResult)],
        after: &[(&str, TestResult)],
        code_changed: bool,
    ) -> Vec<(Word, String)> {
        let all = [before, old, new, after].map(outcomes);
        let found = cross(&Crossed {
            before: &all[0],
            old_tests: &all[1],
            new_tests: Some(&all[2]),
            after: &all[3],
            old_ran: None,
            new_ran: None,
            unloaded: &BTreeMap::new(),
            renamed: &|path| Some(path.to_owned()),
            code_changed,
        });
        found.into_iter().map(|it| (it.word, it.name)).collect()
    }

    #[test]
    fn each_word_is_found() {
        let a = |result| vec![("a", result)];
        let keep = ("z", Passed);
        let with = |mut tests: Vec<(&'static str, TestResult)>| {
            tests.push(keep);
            tests
        };
        for (before, old, new, after, code, expected) in [
            (
                a(Passed),
                a(Failed),
                a(Failed),
                a(Passed),
                true,
                vec![Word::PassToFail, Word::FailToPass],
            ),
            (
                a(Passed),
                a(Failed),
                a(Passed),
                a(Passed),
                true,
                vec![Word::PassToFail],
            ),
            (
                a(Passed),
                a(Failed),
                a(Passed),
                vec![],
                true,
                vec![Word::PassToFail],
            ),
            (
                a(Passed),
                vec![],
                a(Passed),
                a(Passed),
                true,
                vec![Word::PassToFail],
            ),
            (
                a(Failed),
                a(Failed),
                a(Passed),
                a(Passed),
                true,
                vec![Word::Bent],
            ),
            (
                a(Failed),
                a(Failed),
                a(Failed),
                a(Skipped),
                true,
                vec![Word::Bent],
            ),
            (
                a(Failed),
                a(Failed),
                a(Failed),
                vec![],
                true,
                vec![Word::Bent],
            ),
            (
                a(Failed),
                a(Failed),
                a(Passed),
                a(Passed),
                false,
                vec![Word::TestRepaired],
            ),
            (
                a(Failed),
                a(Passed),
                a(Failed),
                a(Passed),
                true,
                vec![Word::FailToPass],
            ),
            (
                a(Passed),
                a(Passed),
                a(Skipped),
                a(Skipped),
                true,
                vec![Word::SetAside],
            ),
            (
                a(Passed),
                a(Skipped),
                a(Passed),
                a(Passed),
                true,
                vec![Word::NotComparable],
            ),
            (a(Passed), a(Passed), vec![], vec![], true, vec![Word::Lost]),
            (a(Failed), a(Passed), vec![], vec![], true, vec![Word::Lost]),
            (
                a(Failed),
                a(Failed),
                a(Failed),
                a(Failed),
                true,
                vec![Word::RedBefore],
            ),
            (
                a(Passed),
                a(Failed),
                a(Failed),
                a(Failed),
                true,
                vec![Word::GateRed, Word::PassToFail],
            ),
            (vec![], vec![], vec![], a(Failed), true, vec![Word::GateRed]),
            (
                vec![],
                vec![],
                vec![],
                a(Passed),
                true,
                vec![Word::FailToPass],
            ),
            (a(Passed), a(Passed), a(Passed), a(Passed), true, vec![]),
            (a(Skipped), a(Skipped), a(Skipped), a(Skipped), true, vec![]),
        ] {
            let shown = format!("{before:?} {old:?} {new:?} {after:?}");
            let found = words(&with(before), &with(old), &with(new), &with(after), code);
            let found: Vec<Word> = found
                .into_iter()
                .filter(|(_, name)| name == "a")
                .map(|(word, _)| word)
                .collect();
            assert_eq!(found, expected, "{shown}");
        }
    }

    #[test]
    fn a_test_that_was_given_parameters_is_not_lost() {
        let was = [("t::x", Passed)];
        for (now, expected) in [
            ([("t::x[1]", Passed), ("t::x[2]", Passed)], vec![]),
            (
                [("t::xy[1]", Passed), ("t::z", Passed)],
                vec![(Word::Lost, "t::x".to_owned())],
            ),
        ] {
            assert_eq!(words(&was, &was, &now, &now, false), expected);
        }
    }

    #[test]
    fn a_file_that_moved_keeps_its_tests() {
        let at = |file: &str, name: &str| {
            let mut all = outcomes(&[(name, Passed)]);
            for test in all.tests.values_mut() {
                test.file = Some(file.to_owned());
            }
            all
        };
        for (old, new) in [("a/t.py::x", "b/t.py::x"), ("a.t.T.x", "b.t.T.x")] {
            let (before, after) = (at("a/t.py", old), at("b/t.py", new));
            let found = cross(&Crossed {
                before: &before,
                old_tests: &after,
                new_tests: None,
                after: &after,
                old_ran: None,
                new_ran: None,
                unloaded: &BTreeMap::new(),
                renamed: &|path| Some(path.replace("a/", "b/")),
                code_changed: true,
            });
            assert_eq!(found, [], "{old}");
        }
    }
}

#[cfg(test)]
mod tests_of_declared {
    use super::*;

    #[test]
    fn a_line_anywhere_declares() {
        let message = "Squash\n\n* one\n  Test-Changed: a.py::T::test_x: it rounds now\n\nmore\nTest-changed: b > c: d*: why: so\nTest-Changed: e\nTest-Changed: tests/old/: moved to ES modules\n";
        let found = read_declarations("c", message);
        let reasons: Vec<Option<&str>> = [
            (0, "a.py::T::test_x"),
            (0, "a.py::T"),
            (1, "b > c: d1"),
            (1, "b > c"),
            (2, "e"),
            (3, "tests/old/a.js > x"),
        ]
        .iter()
        .map(|(at, name)| found[*at].find_reason(name))
        .collect();
        let shown = read_declarations("c", "Test-Changed: a.js \u{203a} x: it adds now");
        assert_eq!(shown[0].find_reason("a.js > x"), Some("it adds now"));
        assert_eq!(
            reasons,
            [
                Some("it rounds now"),
                None,
                Some("why: so"),
                Some("d*: why: so"),
                Some(""),
                Some("moved to ES modules"),
            ]
        );
    }
}
