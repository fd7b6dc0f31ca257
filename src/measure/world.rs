//! Everything that can be looked at, and the gates that are known there.

use crate::anchor::{KeptTests, MadeTests};
use crate::prelude::*;
use cook_protocol::machine::OutsideEdit;
use cook_repo::clock::Clock;
use cook_repo::git::{Edit, Entry};
use cook_repo::receipt::Trust;
use std::cell::OnceCell;

/// Everything that can be looked at.
pub struct World<'a> {
    /// The user's repository.
    pub repo: &'a Repo,
    /// `cook.toml`.
    pub config: &'a Config,
    /// Kept receipts, and what may run here, once one of them is read.
    pub gates: &'a OnceCell<(Receipts, Trust)>,
    /// Every gate is trusted for this run.
    pub trusts_everything: bool,
    /// Gates may run for anchors, where no receipt answers for them.
    pub runs: bool,
    /// The time.
    pub clock: Clock,
    /// The moment of the last transition, which nothing may come before.
    pub not_before: Option<&'a str>,
    /// Contract texts that say something else than the log; asked only when the fact is.
    pub contract_differs: &'a dyn Fn() -> Result<Vec<String>, Failure>,
    /// `.agent/` against the log; asked only when the fact is.
    pub outside_edits: &'a dyn Fn() -> Result<Vec<OutsideEdit>, Failure>,
    /// Whether the stop verifier is out of date with the settings; asked only when the fact is.
    pub stop_verifier_stale: &'a dyn Fn() -> Result<bool, Failure>,
    /// By slice: the commands its plan entry names, which anchors may rest on.
    pub slice_commands: &'a BTreeMap<String, Vec<String>>,
    /// The user's messages by id, those that were not taken back; asked only when an
    /// anchor points to one.
    pub messages: &'a dyn Fn() -> Result<BTreeMap<String, String>, Failure>,
    /// Reads tests that were accepted from the log, by the id of their bundle.
    pub(crate) kept_tests: KeptTests<'a>,
    /// The bundles of tests that are accepted, by id.
    pub accepted: &'a BTreeSet<String>,
    /// Where tests that proofs show are put, for the log.
    pub(crate) made_tests: &'a MadeTests,
    /// What gates find of earlier runs. Where that is nothing, they run even where a receipt is kept.
    pub caches: Caches,
    /// How long a command may take at most.
    pub patience: Option<Duration>,
    /// Where hidden files of a goal lie, by their digests.
    pub hidden: &'a Path,
}

impl World<'_> {
    pub(super) fn gates_here(&self) -> Result<(&Receipts, &Trust), Failure> {
        if self.gates.get().is_none() {
            let trust = Trust::of(self.repo)?;
            let trust = match self.trusts_everything {
                true => trust.with_everything(),
                false => trust,
            };
            // Nobody else sets it: a world belongs to one thread.
            let _ = self.gates.set((Receipts::of(self.repo)?, trust));
        }
        let gates = self.gates.get().map(|(receipts, trust)| (receipts, trust));
        gates.ok_or_else(|| Failure::state(Code::FactMissing, "receipts were not opened"))
    }

    pub(crate) fn runner(&self) -> Result<Gates<'_>, Failure> {
        Ok(Gates {
            repo: self.repo,
            receipts: self.gates_here()?.0,
            clock: self.clock,
            settings: &self.config.clean_room,
            agents: &self.config.agents,
            sandbox: self.config.sandbox.mode,
            trust: self.gates_here()?.1,
            live: None,
            patience: self.patience,
        })
    }

    /// The gates of `cook.toml` and of every slice.
    pub(super) fn every_gate(&self) -> Vec<String> {
        gate_commands(self.config, self.slice_commands.values().flatten())
    }

    pub(super) fn list_gates(&self, slice: &str) -> Vec<String> {
        gate_commands(
            self.config,
            self.slice_commands.get(slice).into_iter().flatten(),
        )
    }
}

/// The commands that decide what passes, of the settings and of slices: a file that one of
/// them names is not a plain source.
pub fn gate_commands<'a>(
    config: &Config,
    of_slices: impl IntoIterator<Item = &'a String>,
) -> Vec<String> {
    let own: Vec<String> = of_slices.into_iter().cloned().collect();
    let gates = merge_gates(config.gate_specs(), &own);
    gates.into_iter().map(|gate| gate.run).collect()
}

// What decides whether a change passes: a file that one of these names is not plain source.

/// Files that say what a check runs, beside the gates themselves.
const RUNNERS: [&str; 6] = [
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "package.json",
    "tox.ini",
];

/// The commands that decide what passes, and the scripts among the edited files that a runner's
/// file names at the base.
pub(crate) fn deciding(
    (repo, config): (&Repo, &Config),
    edits: &[Edit],
    base: &str,
) -> Result<Vec<String>, Failure> {
    let mut gates = gate_commands(config, []);
    let paths = edits.iter().map(|edit| edit.change.path.as_str());
    let scripts: Vec<&str> = paths.filter(|path| path.ends_with(".sh")).collect();
    if scripts.is_empty() {
        return Ok(gates);
    }
    for runner in RUNNERS {
        if let Entry::File { bytes, .. } = repo.entry(base, runner)? {
            let text = String::from_utf8_lossy(&bytes);
            let named = scripts.iter().filter(|path| text.contains(**path));
            gates.extend(named.map(|path| (*path).to_owned()));
        }
    }
    Ok(gates)
}
