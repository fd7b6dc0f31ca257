//! Tests of a run: what a source tells of them, and small readings of the text that it is read from.

use TestResult::{Failed, Passed, Skipped};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

// Tests of a run, what they are read from, and what the run left.

/// How a test went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestResult {
    /// It ran and held.
    Passed,
    /// It was set aside, did not run to its end for a reason of its own, or is expected to fail: it does not say that the
    /// code works.
    Skipped,
    /// It ran and did not hold, or could not be set up.
    Failed,
}

/// A test of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Test {
    /// Its worst result, where it has several; the last one where the runner tried it again.
    pub result: TestResult,
    /// The file that it stands in, relative to the root of the tree, where the source says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line that it failed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// It has more than one result that was not a new try: two tests share the name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_ambiguous: bool,
    /// The line of the console with its result, from 0, where a line of the console said it. Lines of
    /// the standard error are counted on behind those of the standard output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

/// What the outcomes were read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Nothing names a test: the exit code alone speaks.
    #[default]
    ExitCode,
    /// Lines of a runner that is known.
    Lines,
    /// A file that the runner wrote.
    Report,
    /// What a hook in the runner appended.
    Hook,
}

/// Every test that a run names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Outcomes {
    /// By full name.
    pub tests: BTreeMap<String, Test>,
    /// Files or packages that did not build or load, with the compiler's or runner's line.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unloaded: BTreeMap<String, String>,
    /// The best source that named one of them.
    pub source: Source,
    /// A runner said that it ran no test, and nothing names one.
    pub nothing_ran: bool,
    /// An output was cut, or ended before its end: a test that is not named may have run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_partial: bool,
    /// A runner that is read by its lines ran tests that it does not name, as many do of those that pass:
    /// a test that is not named may have passed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub omits_passed: bool,
}

/// A report file that a runner wrote in the tree during the run.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// Relative to the root of the tree, with `/`.
    pub path: &'a str,
    /// What it holds.
    pub text: &'a str,
}

/// What one run of a command left.
#[derive(Debug, Clone, Copy, Default)]
pub struct Material<'a> {
    /// The root of the tree as the command saw it, or nothing: names of files are relative to it.
    pub root: &'a str,
    /// Its standard output.
    pub stdout: &'a str,
    /// Its standard error.
    pub stderr: &'a str,
    /// What hooks appended: a JSON object a line.
    pub records: &'a str,
    /// Files that runners wrote.
    pub reports: &'a [Report<'a>],
}

// What sources tell of tests, one after the other, and its merging by name.

/// Results that are kept of one source; a run that has more is read in part.
const MOST: usize = 200_000;
/// Bytes of names that are kept of one source.
const MOST_BYTES: usize = 64 << 20;

/// How a result stands to an earlier one of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// It is another result.
    No,
    /// The runner prints what it said already.
    Echo,
    /// The runner tried the test again, so many times before.
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
    /// It turned out to be none.
    pub is_void: bool,
}

/// How many tests a runner says that it ran, and whether it names fewer.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Count {
    pub ran: u64,
    pub omits: bool,
}

/// What a source tells.
#[derive(Debug, Default)]
pub(crate) struct Found<'a> {
    /// The root of the tree as the command saw it.
    pub root: &'a str,
    /// The line that is read.
    pub line: Option<usize>,
    pub told: Vec<Told>,
    pub unloaded: BTreeMap<String, String>,
    pub counts: BTreeMap<&'static str, Count>,
    pub is_partial: bool,
    /// Where the results behind the last line of each runner begin.
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

    /// Notes a result; says where it stands.
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
            self.is_partial = true;
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

    /// Puts what tests belong to before the names of a runner's results in the range.
    pub(crate) fn prefix(&mut self, runner: &str, range: Range<usize>, prefix: &str) {
        let prefix = self.relative(prefix);
        let end = range.end.min(self.told.len());
        let told = self.told.get_mut(range.start..end).unwrap_or_default();
        for told in told.iter_mut().filter(|told| told.runner == runner) {
            told.name.insert_str(0, &prefix);
            self.bytes += prefix.len();
        }
        self.is_partial |= self.bytes > MOST_BYTES;
    }

    /// Notes a file or package that did not load.
    pub(crate) fn unload(&mut self, name: &str, text: &str) {
        let message = make_message(text, self.root).unwrap_or_default();
        let known = self.unloaded.entry(self.relative(name)).or_default();
        if known.is_empty() {
            *known = message;
        }
    }

    /// Notes how many tests a runner says that it ran, and whether it did not name them all.
    pub(crate) fn count(&mut self, runner: &'static str, ran: u64, omits: bool) {
        let count = self.counts.entry(runner).or_default();
        count.ran = count.ran.saturating_add(ran);
        count.omits |= omits;
    }

    /// A runner's last line: it ran so many tests, and has results of so many in all. What it names
    /// from here on is of another run.
    pub(crate) fn close(&mut self, runner: &'static str, ran: u64, all: u64) {
        let names: BTreeSet<&str> = self.open(runner).map(|told| told.name.as_str()).collect();
        let omits = ran > 0 && all > names.len() as u64;
        self.count(runner, ran, omits);
        self.starts.insert(runner, self.told.len());
    }

    /// What the runner named since its last line.
    pub(crate) fn open(&self, runner: &str) -> impl Iterator<Item = &Told> {
        let told = self.told.get(self.start(runner)..).unwrap_or_default();
        told.iter().filter(move |told| told.runner == runner)
    }

    /// The first result behind the runner's last line.
    pub(crate) fn start(&self, runner: &str) -> usize {
        self.starts.get(runner).copied().unwrap_or(0)
    }

    /// What the runner seemed to tell since its last line was nothing of its.
    pub(crate) fn void_open(&mut self, runner: &'static str) {
        let start = self.start(runner);
        for told in self.told.get_mut(start..).unwrap_or_default() {
            told.is_void |= told.runner == runner;
        }
        self.starts.insert(runner, self.told.len());
    }

    /// A path below the root of the tree, relative to it.
    pub(crate) fn relative(&self, path: &str) -> String {
        let root = self.root.trim_end_matches('/');
        let inside = path.strip_prefix(root).filter(|_| !root.is_empty());
        let inside = inside.and_then(|inside| inside.strip_prefix('/'));
        let path = inside.unwrap_or(path);
        path.strip_prefix("./").unwrap_or(path).to_owned()
    }

    /// The runners that it tells something of.
    pub(crate) fn runners(&self) -> BTreeSet<&'static str> {
        let told = self.told.iter().filter(|told| !told.is_void);
        let told = told.map(|told| told.runner);
        told.chain(self.counts.keys().copied()).collect()
    }
}

// Small readings of the text that runners print.

/// Bytes that a message may have.
const MESSAGE: usize = 200;

/// The text without the escape sequences of terminals, and only what stands behind the last return of
/// the carriage: what a reader of the terminal sees.
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

/// The first line with letters of what a test failed with, short.
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

/// Takes `(0.00s)`, `(5 ms)`, `[0.12ms]` off the end.
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

/// The number that stands before a word: `3 passed, 1 failed` and `passed` are 3.
pub(crate) fn number_before(text: &str, word: &str) -> Option<u64> {
    text.match_indices(word).find_map(|(at, _)| {
        let before = text[..at].trim_end();
        let start = before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        before[start..].parse().ok()
    })
}

/// How far in a line stands.
pub(crate) fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// Whether it is the path of a file of JavaScript's or TypeScript's.
pub(crate) fn is_script(path: &str) -> bool {
    let ends = path.rsplit_once('.').map(|(_, end)| end);
    matches!(
        ends,
        Some("js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx" | "vue" | "svelte")
    )
}

/// A test's dotted name as Python's unittest writes it, `test_x (module.Class.test_x)`, before 3.11
/// `test_x (module.Class)`, with the parameters of a subtest or without; and what stands behind it.
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

/// True when `claimed` is the test's whole name or its last parts, or what its runner prints for it.
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

/// The result that a runner's word for it means, in whichever case it prints it.
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

// What reads the lines of a runner.

/// Reads the lines of a runner, one after the other.
pub(super) trait Reader {
    /// Reads a line without escapes; says whether it was this runner's.
    fn read(&mut self, line: &str, found: &mut Found) -> bool;
    /// There is no other line.
    fn end(&mut self, _found: &mut Found) {}
}
