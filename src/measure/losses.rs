//! What a slice takes away from the tests.

use super::world::World;
use crate::anchor::{TestOutcome, test_outcomes};
use cook_core::change::{Loss, collect_losses, losses};
use cook_core::diagnostic::Failure;
use cook_core::machine::{CommitFacts, CommitQuestion, GateRun};
use cook_git::Edit;
use cook_strength::{Edited, classify};
use std::collections::BTreeSet;

impl World<'_> {
    /// What the slice's diff takes away from the tests.
    pub(super) fn look_for_losses(
        &self,
        question: &CommitQuestion,
        facts: &mut CommitFacts,
    ) -> Result<(), Failure> {
        let (Some(commit), true) = (&facts.id, facts.after_basis) else {
            return Ok(());
        };
        let Some(basis) = self.repo.resolve(&question.basis)? else {
            return Ok(());
        };
        let gates = self.every_gate();
        facts.losses = list_lost_tests(&self.repo.edits(&basis, commit)?, &gates);
        Ok(())
    }

    /// Tests that a gate named when it ran at the basis and does not name now. Nothing is
    /// told where a run is not kept, or not whole.
    pub(crate) fn add_losses(&self, basis: &str, runs: &mut [GateRun]) -> Result<(), Failure> {
        let Some(basis) = self.repo.resolve(basis)? else {
            return Ok(());
        };
        let tree = self.repo.find_tree(&basis)?;
        let (receipts, _) = self.gates_here()?;
        for run in runs {
            let Some(receipt) = run.receipt.as_ref().filter(|receipt| receipt.has_passed()) else {
                continue;
            };
            let Some(then) = receipts.find(&run.gate.run, &tree)? else {
                continue;
            };
            let (then, now) = (receipts.output(&then)?, receipts.output(receipt)?);
            if then.partial || now.partial {
                continue;
            }
            let (ran, _) = by_outcome(&then.text);
            let (still, aside) = by_outcome(&now.text);
            run.losses = collect_losses(&run.gate.run, &ran, &still, &aside);
        }
        Ok(())
    }

    /// Names the tests that a red gate's output calls failed.
    pub(crate) fn add_failed(&self, runs: &mut [GateRun]) -> Result<(), Failure> {
        let (receipts, _) = self.gates_here()?;
        for run in runs.iter_mut() {
            let Some(receipt) = run.receipt.as_ref().filter(|receipt| !receipt.has_passed()) else {
                continue;
            };
            let output = receipts.output(receipt)?;
            let outcomes = test_outcomes(&output.text).into_iter();
            let failed = outcomes.filter(|(_, outcome)| *outcome == TestOutcome::Failed);
            // Many runners name them where they ran, and once more at the end.
            let mut seen = BTreeSet::new();
            let names = failed.map(|(name, _)| name);
            run.failed = names.filter(|name| seen.insert(name.clone())).collect();
        }
        Ok(())
    }
}

/// What edits take away from the tests.
pub(crate) fn list_lost_tests(edits: &[Edit], gates: &[String]) -> Vec<Loss> {
    let edited: Vec<Edited> = edits
        .iter()
        .filter_map(|edit| {
            let (before, after) = edit.texts.as_ref()?;
            Some(Edited {
                path: &edit.change.path,
                class: classify(&edit.change.path, gates),
                before: before.as_deref(),
                after: after.as_deref(),
            })
        })
        .collect();
    losses(&edited)
}

/// Names of tests that ran, and of those that were set aside.
fn by_outcome(output: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let (aside, ran): (Vec<_>, Vec<_>) = test_outcomes(output)
        .into_iter()
        .partition(|(_, outcome)| *outcome == TestOutcome::Ignored);
    let names =
        |tests: Vec<(String, TestOutcome)>| tests.into_iter().map(|(name, _)| name).collect();
    (names(ran), names(aside))
}
