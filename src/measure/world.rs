//! Everything that can be looked at, and the gates that are known there.

use crate::prelude::*;
use crate::workspace::Workspace;
use cook_repo::git::Entry;
use std::cell::OnceCell;

/// Everything that can be looked at.
pub struct World<'a> {
    /// The worktree, its log, and the user's repository.
    pub workspace: &'a Workspace,
    /// The user's repository.
    pub repo: &'a Repo,
    /// The settings that decide.
    pub config: &'a Config,
    /// The documents that are decided on.
    pub snapshot: Option<&'a Snapshot>,
    /// Kept receipts, and what may run here, once one of them is read.
    gates: OnceCell<(Receipts, Trust)>,
    /// Gates may run for anchors, where no receipt answers for them.
    pub runs: bool,
}

impl<'a> World<'a> {
    /// What a worktree's commands look at.
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
            // Nobody else sets it: a world belongs to one thread.
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

    /// The commands that the plan names for a slice, or for any.
    pub(super) fn slice_commands(&self, slice: Option<&str>) -> impl Iterator<Item = &String> {
        let slices = self
            .snapshot
            .into_iter()
            .flat_map(|it| &it.plan.candidate_slices);
        let named = slices.filter(move |it| slice.is_none_or(|slice| it.slice_id == slice));
        named.flat_map(|slice| slice.verification_commands.iter().flatten())
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
