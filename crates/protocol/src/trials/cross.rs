//! Compares four trials of each test, and reads the declarations in commit messages.

use super::outcomes::{Outcomes, Test, TestResult};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The effect of a change on a test or a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// Red at the head, and not red before.
    GateRed,
    /// Green before; its old version does not pass on the new code.
    PassToFail,
    /// Red before, and its old version still is; it is not red now.
    Bent,
    /// Like [`Word::Bent`] without a change of code: the test was repaired.
    TestRepaired,
    /// Green before and its old version still is; it is skipped now.
    SetAside,
    /// Green before and its old version still is; no test of that name runs now.
    Lost,
    /// Red before and red now.
    RedBefore,
    /// Its old version could not be built or loaded on the new code.
    NotComparable,
    /// Green now; red or without a result on the old code.
    FailToPass,
    /// Settings of a runner changed, and without that change a test has another result.
    RunnerChanged,
    /// The gate runs something else, and the old recipe could not be tried.
    GateChanged,
    /// Its result varies between runs, and did not before.
    MadeFlaky,
    /// Its result varies between runs, as before the change.
    Flaky,
    /// No test ran, neither before nor now.
    NothingRan,
    /// Tests were added or edited with the code, and each is green without the change of the code.
    ChangeUnnoticed,
    /// A commit declares a change that no test shows.
    NotDeclared,
}

/// The weight of a word in the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// The claim is false unless a commit declares the change.
    Refuses,
    /// Whether the claim holds is not known.
    NotKnown,
    /// It is shown to a reader, and makes nothing false.
    Shown,
}

impl Word {
    /// The weight if no commit declares the change.
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

    /// Whether a line `Test-Changed: NAME: why` in a commit message can declare it.
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

/// One result of the trials of a change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialLine {
    /// The kind of result.
    pub word: Word,
    /// Its weight, after declarations.
    pub weight: Weight,
    /// The test, file or gate that it is about.
    pub name: String,
    /// A description for a reader.
    pub what: String,
    /// The command that reproduces it.
    pub show: String,
    /// The file that it is about, at the head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The reason that a commit message gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<String>,
}

impl TrialLine {
    /// The line of a commit message that would declare it; `None` if a line cannot, or need not.
    pub fn declaration(&self) -> Option<String> {
        let is_open = self.declared.is_none() && self.weight != Weight::Shown;
        (is_open && self.word.can_be_declared())
            .then(|| format!("Test-Changed: {}: WHY", self.name))
    }
}

/// The state of a test at the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Became {
    /// It is green.
    Green,
    /// It is red.
    Red,
    /// It is skipped.
    Skipped,
    /// No test of that name ran.
    Gone,
}

/// A test, and a word that applies to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NamedTest {
    /// The effect of the change on it.
    pub word: Word,
    /// Its name at the base or, if it is not there, at the head.
    pub name: String,
    /// Its file at the head, if known.
    pub file: Option<String>,
    /// The line that it failed with.
    pub message: Option<String>,
    /// Its state at the head.
    pub became: Became,
}

/// Four trials of a gate. If two are the same, the outcomes are given twice.
pub struct Crossed<'a> {
    /// Tests of the base on the code of the base.
    pub before: &'a Outcomes,
    /// Tests of the base on the code of the head.
    pub old_tests: &'a Outcomes,
    /// Tests of the head on the code of the base; `None` if this was not asked for.
    pub new_tests: Option<&'a Outcomes>,
    /// Tests of the head on the code of the head.
    pub after: &'a Outcomes,
    /// Test files, at the head, that `old_tests` ran; `None` means all.
    pub old_ran: Option<&'a BTreeSet<String>>,
    /// Test files, at the head, that `new_tests` ran; `None` means all.
    pub new_ran: Option<&'a BTreeSet<String>>,
    /// Files at the head whose old tests could not be built or loaded, with the message.
    pub unloaded: &'a BTreeMap<String, String>,
    /// Maps the path of a file at the base to its path at the head.
    pub renamed: &'a dyn Fn(&str) -> Option<String>,
    /// Whether the code side changed.
    pub code_changed: bool,
}

/// The words that apply to each test, sorted.
pub fn cross(crossed: &Crossed) -> Vec<NamedTest> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for (name, before) in &crossed.before.tests {
        let head = rename(name, before, crossed);
        seen.insert(head.clone());
        crossed.weigh(name, &head, Some(before), &mut found);
    }
    // A test that the base does not name passed there if the runner does not name passing tests, and was red if
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
        // A test that did not run before and is red now is reported as red.
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

/// The name of a test at the head: its name at the base, unless its file was renamed.
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
    // Python's unittest and Rust name a file by its module path.
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
                    // Without a change of code, a skipped or missing test still is red.
                    _ => add(Word::Bent, message),
                }
            }
            (Some(TestResult::Passed), Old::Green | Old::Skipped | Old::Unknown)
                if became == Became::Skipped =>
            {
                add(Word::SetAside, None);
            }
            // Its result on the new code is unknown, and its new version does not show it.
            (Some(TestResult::Passed), Old::Unknown | Old::Skipped)
                if became == Became::Gone && self.names_all()
                    || became == Became::Green && self.runs_all() =>
            {
                let early = "the runner ended before it had reported every test".to_owned();
                let ends_early = self.old_tests.ends_early || self.after.ends_early;
                add(Word::NotComparable, ends_early.then_some(&early));
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

    /// Whether the test now runs once for each of its parameters, which runners append to its name.
    fn runs_with_parameters(&self, head: &str) -> bool {
        let with = format!("{head}[");
        let mut from = self.after.tests.range(with.clone()..);
        from.next().is_some_and(|(name, _)| name.starts_with(&with))
    }

    /// The result of the base's version of a test on the code of the head.
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
            // Its file is unknown, so it ran if a result has its name.
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

    /// Whether neither trial left out a test that ran to its end.
    fn names_all(&self) -> bool {
        let both = [self.old_tests, self.after];
        both.iter()
            .all(|outcomes| !outcomes.is_cut() && !outcomes.omits_passed)
    }

    /// Whether also no test may be missing because something did not build or load.
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
            // A test that does not build there has no result.
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
    /// Without a result, although other tests of its file have one.
    NotCollected,
    Unknown,
}

// Declarations in commit messages: `Test-Changed: NAME: why`, anywhere in the message.

const LABEL: &str = "Test-Changed:";

/// A declaration in a commit message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// The commit whose message holds it.
    pub commit: String,
    /// The text after the label: a name, `: ` and the reason. A name may itself contain `: `.
    text: String,
}

/// Reads the declarations in a message.
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
    /// The possible names, each with its reason, the longest name first.
    fn splits(&self) -> impl Iterator<Item = (&str, &str)> {
        let places: Vec<usize> = self.text.match_indices(": ").map(|(at, _)| at).collect();
        let whole = [(self.text.trim_end_matches(':'), "")].into_iter();
        let splits = places.into_iter().rev().map(|at| {
            let (name, why) = self.text.split_at(at);
            (name, why[1..].trim())
        });
        whole.chain(splits)
    }

    /// The reason that it gives for a name, if it names that: as the name itself, as `PREFIX*`, or as a directory
    /// that ends in `/`. Empty if it has fewer than two words.
    pub fn find_reason(&self, name: &str) -> Option<&str> {
        let mut splits = self.splits();
        let (_, why) = splits.find(|(declared, _)| names(declared.trim(), name))?;
        // A reason needs more than a mark or one word.
        let has_words = why
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty());
        Some(if has_words.count() > 1 { why } else { "" })
    }

    /// Whether it names everything in a directory.
    pub fn is_directory(&self) -> bool {
        self.splits().any(|(name, _)| name.trim().ends_with('/'))
    }

    /// Its text, for a reader.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it names tests by a prefix.
    pub fn is_prefix(&self) -> bool {
        self.splits().any(|(name, _)| name.trim().ends_with('*'))
    }
}

fn names(declared: &str, name: &str) -> bool {
    // A prompt shows tags, and text that looks like one, with other brackets.
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
