//! The four trials of a change: the tests of the base and of the head, each on the code of the base and
//! of the head, by a gate in a clean room.
//!
//! Invariant: a proof is what a command says of a tree, never what a text is taken to mean.

mod accepted_tests;
mod gate_trials;
mod trial_change;
mod trial_lines;

pub(crate) use accepted_tests::{
    Accepted, Bundle, TestSide, lay_down, list_paths, run_at, try_new_tests,
};
pub(crate) use gate_trials::Tell;
pub(crate) use trial_lines::{describe_place, find_laid_out, last_line, show_red, show_red_before};

use crate::prelude::*;
use cook_protocol::trials::{Side, Weight, Word, outcomes};
use gate_trials::{GateTrials, leaves_out};
use trial_change::Change;

/// Counts what commits of a range declare of these lines.
///
/// # Errors
/// When the repository cannot be read.
pub(crate) fn count_declared(
    repo: &Repo,
    base: &str,
    head: &str,
    lines: &mut Vec<TrialLine>,
) -> Result<()> {
    Change::read(repo, base, head, &[], &[])?.count_declarations(lines)
}

/// What is asked.
pub(crate) struct Span<'a> {
    /// Full ids.
    pub base: &'a str,
    pub head: &'a str,
    /// The settings of the base.
    pub settings: &'a Config,
    pub tell: Tell<'a>,
}

/// What trials said.
#[derive(Debug, Default)]
pub(crate) struct Tried {
    pub lines: Vec<TrialLine>,
    /// The side of each changed path.
    pub sides: Vec<(String, Side)>,
    /// One line for each gate: which trials there were.
    pub looked_at: Vec<String>,
    /// Changed test files of which no gate ran a test, as far as the runners name files.
    pub unrun: Vec<String>,
}

/// Tries a change by the gates that ran at its head.
///
/// # Errors
/// When the repository cannot be read, a receipt cannot be kept, or cook is interrupted.
pub(crate) fn try_change(
    repo: &Repo,
    gates: &Gates,
    runs: &[GateRun],
    span: &Span,
) -> Result<Tried> {
    let mut tried = Tried::default();
    if span.base == span.head {
        return Ok(tried);
    }
    let specs: Vec<GateSpec> = runs.iter().map(|run| run.gate.clone()).collect();
    let paths: Vec<String> = span.settings.tests.paths.clone();
    let change = Change::read(repo, span.base, span.head, &paths, &specs)?;
    let mut names = BTreeSet::new();
    let mut ran = (!runs.is_empty()).then(BTreeSet::new);
    for run in runs {
        let known_red = &span.settings.check.known_red;
        let mut trials = GateTrials::new(&change, gates, &run.gate, known_red, span.tell);
        tried.lines.extend(trials.look(run)?);
        names.append(&mut trials.names);
        ran = ran.zip(trials.files.take()).map(|(mut ran, files)| {
            ran.extend(files);
            ran
        });
        if !trials.ran.is_empty() {
            let ran: Vec<String> = trials
                .ran
                .iter()
                .map(|(what, ms)| format!("{what} {}.{} s", ms / 1000, ms % 1000 / 100))
                .collect();
            let place = describe_place(&run.gate);
            let line = format!("`{}`{place} was tried: {}", run.gate.run, ran.join(", "));
            tried.looked_at.push(line);
        }
    }
    change.count_declarations(&mut tried.lines)?;
    if span.settings.check.lost == cook_protocol::model::LostTests::Refuse {
        for line in &mut tried.lines {
            if line.word == Word::Lost && line.declared.is_none() {
                line.weight = Weight::Refuses;
            }
        }
    }
    let none = BTreeSet::new();
    tried.sides = change
        .changes
        .iter()
        .map(|it| (it.path().to_owned(), change.side(it, &none)))
        .collect();
    // A test that others inherit or load runs under the name of their file.
    let has_run = |test: &String| {
        let own = test.rsplit(" > ").next().unwrap_or(test);
        let mut names = names.iter().map(|name| name.split('[').next());
        names.any(|name| name.is_some_and(|name| outcomes::names(name, own)))
    };
    for (path, tests) in change.list_test_files() {
        if leaves_out(&ran, &path) && !tests.iter().any(has_run) {
            tried.unrun.push(path);
        }
    }
    tried.lines.sort_by_key(|line| (line.weight, line.word));
    tried.lines.dedup();
    Ok(tried)
}
