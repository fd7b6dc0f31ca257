//! What sources tell of tests, one after the other, and its merging by name.

use super::text::make_message;
use super::types::TestResult;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

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
    pub is_flaky: bool,
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
                is_flaky: false,
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
