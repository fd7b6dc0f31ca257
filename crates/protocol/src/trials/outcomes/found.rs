//! The tests of a run as a source reports them, and helpers that read the output of runners.

use TestResult::{Failed, Passed, Skipped};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

// The tests of a run, and the material that they are read from.

/// The result of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestResult {
    /// It ran and succeeded.
    Passed,
    /// It was skipped, ended early for a reason of its own, or is expected to fail: it does not show that the code
    /// works.
    Skipped,
    /// It ran and failed, or could not be set up.
    Failed,
}

/// A test of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Test {
    /// Its worst result if it has several; the last one if the runner tried it again.
    pub result: TestResult,
    /// Its file, relative to the root of the tree, if the source names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line that it failed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Whether it has several results that are not retries, because two tests share the name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_ambiguous: bool,
    /// The line of the console with its result, from 0, if it was read from the console. Lines of stderr are
    /// counted after those of stdout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

/// The source of the outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// No test is named, so only the exit code counts.
    #[default]
    ExitCode,
    /// Lines of a known runner.
    Lines,
    /// A file that the runner wrote.
    Report,
    /// Records that a hook in the runner appended.
    Hook,
}

/// Every test that a run names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Outcomes {
    /// Tests by full name.
    pub tests: BTreeMap<String, Test>,
    /// Files or packages that did not build or load, with the compiler's or runner's line.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unloaded: BTreeMap<String, String>,
    /// The best source that named any of them.
    pub source: Source,
    /// Whether a runner reported that it ran no test, and no test is named.
    pub nothing_ran: bool,
    /// Whether an output was cut or ended early, so that an unnamed test may have run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_partial: bool,
    /// Whether a runner ended before it had reported every test, and no output was cut: a test ended its process, for
    /// example.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_early: bool,
    /// Whether a runner that is read by its lines ran tests that it does not name, usually passing ones, so that
    /// an unnamed test may have passed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub omits_passed: bool,
}

impl Outcomes {
    /// Whether an output was cut, so that the result of an unnamed test may stand in what is missing.
    pub fn is_cut(&self) -> bool {
        self.is_partial && !self.ends_early
    }
}

/// A report file that a runner wrote in the tree during the run.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// Path relative to the root of the tree, with `/`.
    pub path: &'a str,
    /// Its content.
    pub text: &'a str,
}

/// The output and the report files of one run of a command.
#[derive(Debug, Clone, Copy, Default)]
pub struct Material<'a> {
    /// The root of the tree as the command saw it, or empty. Names of files are relative to it.
    pub root: &'a str,
    /// Its standard output.
    pub stdout: &'a str,
    /// Its standard error.
    pub stderr: &'a str,
    /// Records that hooks appended, one JSON object on each line.
    pub records: &'a str,
    /// Report files that runners wrote.
    pub reports: &'a [Report<'a>],
}

// The results of one source, in the order in which it reports them.

/// Maximum number of results kept from one source. Of a run with more, the rest is not read.
const MOST: usize = 200_000;
/// Maximum total length of the names kept from one source, in bytes.
const MOST_BYTES: usize = 64 << 20;

/// How a result relates to an earlier one of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// It is a separate result.
    No,
    /// The runner repeats an earlier result.
    Echo,
    /// The runner tried the test again; a higher number is a later try.
    Attempt(u32),
}

/// One result of a test.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub runner: &'static str,
    pub name: String,
    pub result: TestResult,
    pub file: Option<String>,
    pub message: Option<String>,
    pub line: Option<usize>,
    pub again: Again,
    /// Whether it turned out not to be a result.
    pub is_void: bool,
}

/// The number of tests that a runner says it ran, and whether it names fewer.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Count {
    pub ran: u64,
    pub omits: bool,
}

/// The results of a source.
#[derive(Debug, Default)]
pub(crate) struct Found<'a> {
    /// The root of the tree as the command saw it.
    pub root: &'a str,
    /// The number of the line being read.
    pub line: Option<usize>,
    pub told: Vec<Told>,
    pub unloaded: BTreeMap<String, String>,
    pub counts: BTreeMap<&'static str, Count>,
    pub is_cut: bool,
    pub ends_early: bool,
    /// For each runner, the index of the first result after its last summary line.
    starts: BTreeMap<&'static str, usize>,
    bytes: usize,
}

impl<'a> Found<'a> {
    pub(crate) fn new(root: &'a str) -> Self {
        Self {
            root,
            ..Self::default()
        }
    }

    /// Adds a result, and returns its index.
    pub(crate) fn tell(
        &mut self,
        runner: &'static str,
        name: &str,
        result: TestResult,
        again: Again,
    ) -> usize {
        let at = self.told.len();
        let name = self.relative(name.trim());
        self.bytes += name.len();
        if at >= MOST || self.bytes > MOST_BYTES {
            self.is_cut = true;
        } else if !name.is_empty() {
            self.told.push(Told {
                runner,
                name,
                result,
                file: None,
                message: None,
                line: self.line,
                again,
                is_void: false,
            });
        }
        at
    }

    /// Sets the line that a test failed with, unless it has one.
    pub(crate) fn explain(&mut self, at: usize, text: &str) {
        let root = self.root;
        if let Some(told) = self.told.get_mut(at)
            && told.message.is_none()
        {
            told.message = make_message(text, root);
        }
    }

    /// Sets the file of a test.
    pub(crate) fn place(&mut self, at: usize, file: &str) {
        let file = self.relative(file);
        if let Some(told) = self.told.get_mut(at)
            && !file.starts_with('/')
        {
            told.file = Some(file);
        }
    }

    /// Puts a prefix before the names of a runner's results in the range.
    pub(crate) fn prefix(&mut self, runner: &str, range: Range<usize>, prefix: &str) {
        let prefix = self.relative(prefix);
        let end = range.end.min(self.told.len());
        let told = self.told.get_mut(range.start..end).unwrap_or_default();
        for told in told.iter_mut().filter(|told| told.runner == runner) {
            told.name.insert_str(0, &prefix);
            self.bytes += prefix.len();
        }
        self.is_cut |= self.bytes > MOST_BYTES;
    }

    /// Notes a file or package that did not load.
    pub(crate) fn unload(&mut self, name: &str, text: &str) {
        let message = make_message(text, self.root).unwrap_or_default();
        let known = self.unloaded.entry(self.relative(name)).or_default();
        if known.is_empty() {
            *known = message;
        }
    }

    /// Notes how many tests a runner says it ran, and whether it left some unnamed.
    pub(crate) fn count(&mut self, runner: &'static str, ran: u64, omits: bool) {
        let count = self.counts.entry(runner).or_default();
        count.ran = count.ran.saturating_add(ran);
        count.omits |= omits;
    }

    /// Handles a runner's last line, which says how many tests ran and how many have a result. Later names belong
    /// to another run.
    pub(crate) fn close(&mut self, runner: &'static str, ran: u64, all: u64) {
        let names: BTreeSet<&str> = self.open(runner).map(|told| told.name.as_str()).collect();
        let omits = ran > 0 && all > names.len() as u64;
        self.count(runner, ran, omits);
        self.starts.insert(runner, self.told.len());
    }

    /// The runner's results since its last summary line.
    pub(crate) fn open(&self, runner: &str) -> impl Iterator<Item = &Told> {
        let told = self.told.get(self.start(runner)..).unwrap_or_default();
        told.iter().filter(move |told| told.runner == runner)
    }

    /// The index of the first result after the runner's last summary line.
    pub(crate) fn start(&self, runner: &str) -> usize {
        self.starts.get(runner).copied().unwrap_or(0)
    }

    /// Voids the runner's results since its last summary line, because they were not its own.
    pub(crate) fn void_open(&mut self, runner: &'static str) {
        let start = self.start(runner);
        for told in self.told.get_mut(start..).unwrap_or_default() {
            told.is_void |= told.runner == runner;
        }
        self.starts.insert(runner, self.told.len());
    }

    /// Makes a path below the root of the tree relative to it.
    pub(crate) fn relative(&self, path: &str) -> String {
        let root = self.root.trim_end_matches('/');
        let inside = path.strip_prefix(root).filter(|_| !root.is_empty());
        let inside = inside.and_then(|inside| inside.strip_prefix('/'));
        let path = inside.unwrap_or(path);
        path.strip_prefix("./").unwrap_or(path).to_owned()
    }

    /// The runners of which it has results or counts.
    pub(crate) fn runners(&self) -> BTreeSet<&'static str> {
        let told = self.told.iter().filter(|told| !told.is_void);
        let told = told.map(|told| told.runner);
        told.chain(self.counts.keys().copied()).collect()
    }
}

// Helpers that read the text of runners.

/// Maximum length of a message, in bytes.
const MESSAGE: usize = 200;

/// The text as a terminal shows it: without escape sequences, and only what follows the last carriage return.
pub(crate) fn without_escapes(line: &str) -> Cow<'_, str> {
    let line = line.trim_end_matches('\r');
    let line = line.rsplit('\r').next().unwrap_or(line);
    if !line.contains('\u{1b}') {
        return Cow::Borrowed(line);
    }
    let mut plain = String::with_capacity(line.len());
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\u{1b}' {
            plain.push(c);
        } else if rest.next_if_eq(&'[').is_some() {
            while rest.next_if(|c| (' '..='?').contains(c)).is_some() {}
            rest.next_if(|c| ('@'..='~').contains(c));
        } else if rest
            .next_if(|c| matches!(c, ']' | 'P' | 'X' | '^' | '_'))
            .is_some()
        {
            while rest.next_if(|c| !matches!(c, '\u{7}' | '\u{1b}')).is_some() {}
            if rest.next_if_eq(&'\u{1b}').is_some() {
                rest.next_if_eq(&'\\');
            } else {
                rest.next_if_eq(&'\u{7}');
            }
        }
    }
    Cow::Owned(plain)
}

/// The first line of a failure message that is not empty, shortened.
fn make_message(text: &str, root: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = without_escapes(line);
    let mut line = line.trim().replace(|c: char| c.is_control(), " ");
    if root.len() > 1 {
        line = line.replace(&format!("{}/", root.trim_end_matches('/')), "");
    }
    if line.len() > MESSAGE {
        let mut end = MESSAGE - '\u{2026}'.len_utf8();
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        line.truncate(end);
        line.push('\u{2026}');
    }
    (!line.is_empty()).then_some(line)
}

/// `5ms`, `1.2s`, `813µs`, `< 1 ms`, `1m 5s`, `0.00 sec`
pub(crate) fn is_time(text: &str) -> bool {
    let text = text.trim_start_matches("< ");
    let is_part = |part: &str| {
        let number = part.trim_end_matches(|c: char| c.is_alphabetic());
        let unit = &part[number.len()..];
        let is_unit = matches!(
            unit,
            "h" | "m"
                | "s"
                | "ms"
                | "\u{b5}s"
                | "\u{3bc}s"
                | "us"
                | "ns"
                | "min"
                | "sec"
                | "seconds"
        );
        (number.parse::<f64>().is_ok() && (is_unit || unit.is_empty()))
            || number.is_empty() && is_unit
    };
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(|c: char| c.is_alphabetic())
        && text.split(' ').all(is_part)
}

/// Removes `(0.00s)`, `(5 ms)` or `[0.12ms]` from the end.
pub(crate) fn without_time(name: &str) -> &str {
    let name = name.trim_end();
    for (open, close) in [(" (", ')'), (" [", ']')] {
        if let Some((before, time)) = name.rsplit_once(open)
            && time.strip_suffix(close).is_some_and(is_time)
        {
            return before.trim_end();
        }
    }
    name
}

/// The number before a word: 3 for `3 passed, 1 failed` and `passed`.
pub(crate) fn number_before(text: &str, word: &str) -> Option<u64> {
    text.match_indices(word).find_map(|(at, _)| {
        let before = text[..at].trim_end();
        let start = before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        before[start..].parse().ok()
    })
}

/// The indentation of a line, in bytes.
pub(crate) fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// Whether the path is that of a JavaScript or TypeScript file, or of a component that holds one.
pub(crate) fn is_script(path: &str) -> bool {
    let ends = path.rsplit_once('.').map(|(_, end)| end);
    matches!(
        ends,
        Some("js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx" | "vue" | "svelte")
    )
}

/// Reads a test's name as Python's unittest prints it: `test_x (module.Class.test_x)`, before 3.11
/// `test_x (module.Class)`, with or without parameters of a subtest. Returns the dotted name and the text after
/// it.
pub(crate) fn unittest_name(text: &str) -> Option<(String, &str)> {
    let is_word = |text: &str| {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '<' | '>');
        !text.is_empty() && text.chars().all(is_part)
    };
    let (method, rest) = text.split_once(" (")?;
    let (class, mut rest) = rest.split_once(')')?;
    if !is_word(method) || !is_word(class) || class.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    for (open, close) in [(" [", ']'), (" (", ')')] {
        if let Some((_, behind)) = rest
            .strip_prefix(open)
            .and_then(|rest| rest.split_once(close))
        {
            rest = behind;
        }
    }
    let whole = class.strip_suffix(method);
    let name = match whole.is_some_and(|class| class.ends_with('.')) {
        true => class.to_owned(),
        false if class.contains('.') => format!("{class}.{method}"),
        false => return None,
    };
    Some((name, rest))
}

/// Whether `claimed` is the test's whole name, its last parts, or the name that its runner prints.
pub fn names(full: &str, claimed: &str) -> bool {
    const BETWEEN: [&str; 7] = ["::", "/", ".", " > ", " \u{203a} ", " ", "#"];
    if full == claimed {
        return true;
    }
    if claimed.is_empty() {
        return false;
    }
    if unittest_name(claimed).is_some_and(|(dotted, rest)| rest.is_empty() && dotted == full) {
        return true;
    }
    full.strip_suffix(claimed)
        .is_some_and(|before| BETWEEN.iter().any(|mark| before.ends_with(mark)))
}

/// The result that a runner's word stands for, in upper or lower case.
pub(crate) fn find_result(word: &str) -> Option<TestResult> {
    Some(match word.to_ascii_lowercase().as_str() {
        "ok" | "pass" | "passed" => Passed,
        "fail" | "failed" | "error" | "xpass" | "unexpectedpass" | "timeout" | "interrupt" => {
            Failed
        }
        "skip" | "skipped" | "ignored" | "todo" | "xfail" | "expectedfail" => Skipped,
        _ => return None,
    })
}

// The interface of the readers.

/// Reads the lines of a runner, one after the other.
pub(super) trait Reader {
    /// Reads a line without escapes, and returns whether it was this runner's.
    fn read(&mut self, line: &str, found: &mut Found) -> bool;
    /// Called after the last line.
    fn end(&mut self, _found: &mut Found) {}
}
