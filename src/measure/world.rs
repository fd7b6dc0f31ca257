//! The sources that measuring reads, and the gates that are known there.

use crate::prelude::*;
use crate::workspace::Workspace;
use cook_repo::git::Entry;
use std::cell::OnceCell;

/// The sources that measuring reads.
pub struct World<'a> {
    /// The worktree, its log, and the user's repository.
    pub workspace: &'a Workspace,
    /// The user's repository.
    pub repo: &'a Repo,
    /// The settings in force.
    pub config: &'a Config,
    /// The documents that are decided on.
    pub snapshot: Option<&'a Snapshot>,
    /// Kept receipts and the commands that may run here, opened when first needed.
    gates: OnceCell<(Receipts, Trust)>,
    /// Whether gates may run for anchors, if no receipt has their result.
    pub runs: bool,
}

impl<'a> World<'a> {
    /// The sources for a worktree's commands.
    pub(crate) fn new(
        workspace: &'a Workspace,
        config: &'a Config,
        snapshot: Option<&'a Snapshot>,
    ) -> Self {
        Self {
            workspace,
            repo: &workspace.repo,
            config,
            snapshot,
            gates: OnceCell::new(),
            runs: true,
        }
    }

    pub(super) fn gates_here(&self) -> Result<(&Receipts, &Trust)> {
        if self.gates.get().is_none() {
            let opened = (Receipts::of(self.repo)?, self.workspace.trust()?);
            // Cannot fail: a world is used by one thread.
            let _ = self.gates.set(opened);
        }
        let gates = self.gates.get().map(|(receipts, trust)| (receipts, trust));
        gates.ok_or_else(|| Failure::state(Code::FactMissing, "receipts were not opened"))
    }

    pub(crate) fn runner(&self) -> Result<Gates<'_>> {
        Ok(Gates {
            repo: self.repo,
            receipts: self.gates_here()?.0,
            clock: self.workspace.clock,
            settings: &self.config.clean_room,
            agents: &self.config.agents,
            sandbox: self.config.sandbox.mode,
            trust: self.gates_here()?.1,
            patience: self.workspace.patience,
            tell: self.workspace.tell.clone(),
        })
    }

    /// The gates of `cook.toml` and of every slice.
    pub(super) fn every_gate(&self) -> Vec<String> {
        gate_commands(self.config, self.slice_commands(None))
    }

    pub(super) fn list_gates(&self, slice: &str) -> Vec<String> {
        gate_commands(self.config, self.slice_commands(Some(slice)))
    }

    /// The commands that the plan names for a slice, or for all slices.
    pub(super) fn slice_commands(&self, slice: Option<&str>) -> impl Iterator<Item = &String> {
        let slices = self
            .snapshot
            .into_iter()
            .flat_map(|it| &it.plan.candidate_slices);
        let named = slices.filter(move |it| slice.is_none_or(|slice| it.slice_id == slice));
        named.flat_map(|slice| slice.verification_commands.iter().flatten())
    }
}

/// The commands, of the settings and of slices, that decide whether a change passes. A file that one of them names is
/// not a plain source file.
pub fn gate_commands<'a>(
    config: &Config,
    of_slices: impl IntoIterator<Item = &'a String>,
) -> Vec<String> {
    let own: Vec<String> = of_slices.into_iter().cloned().collect();
    let gates = merge_gates(config.gate_specs(), &own);
    gates.into_iter().map(|gate| gate.run).collect()
}

// The commands and scripts that decide whether a change passes: a file that one of them names is not a plain source
// file.

/// Files, besides the gates themselves, that define what a check runs.
const RUNNERS: [&str; 6] = [
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "package.json",
    "tox.ini",
];

/// The commands that decide whether a change passes, and the edited scripts that a runner's file names at the base.
pub(crate) fn deciding(
    (repo, config): (&Repo, &Config),
    edits: &[Edit],
    base: &str,
) -> Result<Vec<String>> {
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
