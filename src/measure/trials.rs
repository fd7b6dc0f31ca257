//! What the trials of a change say, for a decision.

use super::facts::read_settings_at;
use super::world::World;
use crate::trial::{Span, Tried, try_change};
use cook_protocol::diagnostic::Failure;
use cook_protocol::machine::{GateQuestion, GateRun};
use cook_protocol::trials::{TestResult, TrialLine};

impl World<'_> {
    /// The trials of a slice by its gates, once all that are required are green.
    pub(super) fn trials(
        &self,
        question: &GateQuestion,
        runs: &[GateRun],
    ) -> Result<Vec<TrialLine>, Failure> {
        let is_red = |run: &GateRun| run.gate.required && !run.has_passed();
        let ends = (
            self.repo.resolve(&question.basis)?,
            self.repo.resolve(&question.commit)?,
        );
        let (Some(basis), Some(commit)) = ends else {
            return Ok(Vec::new());
        };
        // What is none of its descendants is refused for that.
        if runs.iter().any(is_red) || !self.repo.is_ancestor(&basis, &commit)? {
            return Ok(Vec::new());
        }
        Ok(self.try_change(&basis, &commit, runs, &|_| {})?.lines)
    }

    /// Tries a change by runs of gates at its head.
    pub(crate) fn try_change(
        &self,
        base: &str,
        head: &str,
        runs: &[GateRun],
        tell: crate::trial::Tell,
    ) -> Result<Tried, Failure> {
        let settings = read_settings_at(self.repo, base)?.unwrap_or_default();
        let runner = self.runner()?;
        let mut runs = runs.to_vec();
        // A run in the worktree says nothing of a commit.
        runs.retain(|run| run.receipt.as_ref().is_some_and(|receipt| receipt.proves()));
        try_change(
            self.repo,
            &runner,
            &runs,
            &Span {
                base,
                head,
                settings: &settings,
                tell,
            },
        )
    }

    /// Names the tests that a red gate's run calls failed.
    pub(crate) fn add_failed(&self, runs: &mut [GateRun]) -> Result<(), Failure> {
        let (receipts, _) = self.gates_here()?;
        for run in runs.iter_mut() {
            let Some(receipt) = run.receipt.as_ref().filter(|receipt| !receipt.has_passed()) else {
                continue;
            };
            let outcomes = receipts.outcomes(receipt)?;
            let failed = outcomes
                .tests
                .into_iter()
                .filter(|(_, test)| test.result == TestResult::Failed);
            run.failed = failed.map(|(name, _)| name).collect();
        }
        Ok(())
    }
}
