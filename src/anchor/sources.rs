//! The sources that anchors are checked against, each read once.

use crate::prelude::*;
use crate::trial::{Accepted, Bundle, TestSide};
use crate::workspace::Workspace;
use cook_protocol::trials::outcomes::{Material, Outcomes};
use cook_repo::git::Entry;
use std::collections::HashMap;
use std::hash::Hash;
use std::rc::Rc;

pub(super) const NO_COMMIT: &str = "there is no commit yet";
/// Maximum number of cached items of one kind.
const MAX_KEPT: usize = 512;

/// The sources that anchors are checked against.
pub(crate) struct Sources<'a> {
    pub repo: &'a Repo,
    pub receipts: &'a Receipts,
    pub head: &'a Head,
    pub config: &'a Config,
    /// Runs trials; `None` if only kept receipts may be used.
    pub runner: Option<&'a Gates<'a>>,
    /// Its log holds the user's messages and the accepted tests.
    pub workspace: &'a Workspace,
    /// Ids of the bundles of accepted tests.
    pub accepted: BTreeSet<String>,
    pub known: Known,
}

/// A cache of everything that was read for an anchor, so that it is not read again for the next one.
#[derive(Default)]
pub(crate) struct Known {
    outputs: Kept<String, Said>,
    messages: Kept<(), BTreeMap<String, String>>,
    texts: Kept<(String, String), Text>,
    /// The files of accepted tests.
    pub(super) accepted: Kept<(), Accepted>,
    /// Synthetic commits, by the version of the accepted tests and the gate's command.
    pub(super) mixed: Kept<(String, String), String>,
    /// The tests of a commit.
    pub(super) bundles: Kept<String, Bundle>,
    /// Accepted tests by their id; `None` if the log does not hold them.
    kept_tests: Kept<String, Option<Bundle>>,
    /// The last runs of gates, by command.
    runs: RefCell<HashMap<String, LastRun>>,
    /// The test side of a commit.
    pub(super) tests: Kept<String, TestSide>,
    /// By gate and span, the results of a slice's tests on the code of its basis; by gate and commit, their results on
    /// code with a defect.
    pub(super) on_other_code: Kept<(String, String), Option<Told>>,
    /// The tree of a commit.
    pub(super) files: Kept<String, BTreeMap<String, TreeEntry>>,
}

/// The results of a run, and whether the gate passed.
pub(super) struct Told {
    pub outcomes: Outcomes,
    pub has_passed: bool,
}

/// Where a gate ran last.
#[derive(Clone)]
pub(super) enum LastRun {
    /// At HEAD's tree; its receipt and test results.
    AtHead(Rc<Receipt>, Rc<Outcomes>),
    /// Only at other trees.
    Elsewhere,
    Never,
}

/// A cache.
pub(super) type Kept<K, T> = RefCell<HashMap<K, Rc<T>>>;

/// The output of a receipt.
pub(super) struct Said {
    pub lines: Vec<String>,
    pub partial: bool,
}

/// The lines of a file, or why it cannot be anchored in.
pub(super) enum Text {
    Lines(Vec<String>),
    Gone,
    No(&'static str),
}

impl Sources<'_> {
    /// The user's messages that count.
    pub(super) fn list_messages(&self) -> Result<Rc<BTreeMap<String, String>>> {
        recall(&self.known.messages, (), || self.workspace.messages())
    }

    /// Accepted tests, by the id of their bundle.
    pub(super) fn read_kept_tests(&self, id: &str) -> Result<Rc<Option<Bundle>>> {
        recall(&self.known.kept_tests, id.to_owned(), || {
            self.workspace.read_kept_tests(id)
        })
    }

    /// Where a gate ran last; looked up once.
    pub(super) fn find_run(&self, command: &str) -> Result<LastRun> {
        if let Some(known) = self.known.runs.borrow().get(command) {
            return Ok(known.clone());
        }
        let tree = self.head.tree.as_deref().unwrap_or_default();
        let found = match self.receipts.find(command, tree)? {
            Some(receipt) => {
                let outcomes = Rc::new(self.receipts.outcomes(&receipt)?);
                LastRun::AtHead(Rc::new(receipt), outcomes)
            }
            None if self.receipts.latest(command)?.is_some() => LastRun::Elsewhere,
            None => LastRun::Never,
        };
        // If commands may run, this one may run for the next anchor.
        if matches!(found, LastRun::AtHead(..)) || self.runner.is_none() {
            let mut runs = self.known.runs.borrow_mut();
            runs.insert(command.to_owned(), found.clone());
        }
        Ok(found)
    }

    pub(super) fn read_output(&self, receipt: &Receipt) -> Result<Rc<Said>> {
        recall(&self.known.outputs, receipt.id.clone(), || {
            let output = self.receipts.output(receipt)?;
            let outcomes = self.receipts.outcomes(receipt)?;
            let plain = without_escapes(&output.text);
            Ok(Said {
                lines: plain.lines().map(|line| line.trim().to_owned()).collect(),
                partial: output.partial || outcomes.is_partial,
            })
        })
    }

    /// The lines of a file, read once.
    pub(super) fn text(&self, commit: &str, path: &str) -> Result<Rc<Text>> {
        let key = (commit.to_owned(), path.to_owned());
        recall(&self.known.texts, key, || self.read_text(commit, path))
    }

    fn read_text(&self, commit: &str, path: &str) -> Result<Text> {
        Ok(match self.repo.entry(commit, path)? {
            Entry::Nothing => Text::Gone,
            Entry::Directory => Text::No("it is a directory"),
            Entry::Symlink => Text::No("it is a symbolic link"),
            Entry::Submodule => Text::No("it is a submodule"),
            Entry::Huge(_) => Text::No("it is too large to read"),
            Entry::File { bytes, .. } if bytes.contains(&0) => Text::No("it is a binary file"),
            Entry::File { bytes, .. } => Text::Lines(split(&bytes)),
        })
    }
}

pub(super) fn split(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes)
        .lines()
        .map(str::to_owned)
        .collect()
}

/// The cached value for a key, or else a new one.
pub(super) fn recall<K: Eq + Hash, T>(
    kept: &Kept<K, T>,
    key: K,
    make: impl FnOnce() -> Result<T>,
) -> Result<Rc<T>> {
    if let Some(known) = kept.borrow().get(&key) {
        return Ok(Rc::clone(known));
    }
    let made = Rc::new(make()?);
    let mut kept = kept.borrow_mut();
    if kept.len() >= MAX_KEPT {
        kept.clear();
    }
    kept.insert(key, Rc::clone(&made));
    Ok(made)
}

pub(super) fn answer(verdict: Verdict, why: impl Into<String>, target: &str) -> AnchorAnswer {
    AnchorAnswer {
        verdict,
        why: why.into(),
        now: None,
        receipt: None,
        target: target.to_owned(),
        is_new: true,
        text: None,
        tests: None,
    }
}

/// The answer if the target of the anchor is the anchor itself.
pub(super) fn say(
    question: &AnchorQuestion,
    verdict: Verdict,
    why: impl Into<String>,
) -> Result<AnchorAnswer> {
    Ok(answer(verdict, why, &question.anchor))
}

// The test results that lines of an output contain.

/// The test results in a text.
fn read(text: &str) -> Outcomes {
    Outcomes::read(&Material {
        stdout: text,
        ..Material::default()
    })
}

/// The test result in one line.
pub(crate) fn read_line(line: &str) -> Option<(String, TestResult)> {
    let tests = read(&without_escapes(line)).tests;
    let mut tests = tests.into_iter();
    tests.next().map(|(name, test)| (name, test.result))
}

/// Lines that name the first failed tests, for readers who see only the end of an output.
pub(crate) fn describe_failed(output: &str) -> Vec<String> {
    const NAMED: usize = 5;
    let outcomes = read(output);
    let failed = outcomes.tests.iter();
    let names: Vec<&String> = failed
        .filter(|(_, test)| test.result == TestResult::Failed)
        .map(|(name, _)| name)
        .collect();
    let named = names.iter().take(NAMED);
    let mut lines: Vec<String> = named.map(|name| format!("failed: {name}")).collect();
    if names.len() > NAMED {
        lines.push(format!("failed: {} more", names.len() - NAMED));
    }
    lines
}
