//! Turns what is asked into facts.

use super::world::World;
use crate::init::SETTINGS;
use crate::prelude::*;
use crate::trial::{Span, Tried, try_change};
use cook_protocol::machine::{CommitFacts, ConfigFacts, GateQuestion};
use cook_protocol::trials::TrialLine;
use cook_repo::git::Entry;

/// Measures what is asked, and nothing else.
///
/// # Errors
/// When something that was asked for cannot be told.
pub fn measure(wanted: &FactSet, world: &World) -> Result<Facts, Failure> {
    let mut facts = Facts::default();
    if let Some(question) = &wanted.gates {
        let runs = world.gates(question)?;
        facts.strength = world.strength(question, &runs)?;
        facts.trials = world.trials(question, &runs)?;
        facts.gates = Some(runs);
    }
    if wanted.room {
        facts.room = world.room()?;
    }
    if let Some(caches) = wanted.stop_verifier {
        facts.stop_verifier = Some(world.stop_verifier(caches)?);
    }
    if !wanted.anchors.is_empty() {
        world.anchors(wanted, &mut facts)?;
    }
    world.standing(wanted, &mut facts)?;
    if let Some(question) = &wanted.brief {
        facts.brief = Some(world.brief(question)?);
    }
    if let (Some(goal), Some(commit)) = (&wanted.goal, world.repo.head()?.commit) {
        facts.goal = Some(world.ask_goal(goal, &commit)?);
    }
    world.history(wanted, &mut facts)?;
    if wanted.contract {
        facts.contract_missing = Some(world.repo.contract_missing()?);
        facts.settings = Some(world.repo.settings()?);
        facts.contract_differs = (world.contract_differs)()?;
    }
    if wanted.view {
        facts.outside_edits = Some((world.outside_edits)()?);
    }
    if wanted.worktree {
        let mut worktree = world.repo.status()?.worktree;
        // The end alone rests on it.
        if wanted.stop_verifier.is_some() {
            worktree.unwatched = world.repo.list_unwatched()?;
        }
        facts.worktree = Some(worktree);
    }
    facts.untrusted = Some(world.list_untrusted(wanted, &facts)?);
    if wanted.config {
        facts.config = Some(ConfigFacts {
            limits: world.config.limits(),
            strict: world.config.rules.strict,
            audit: world.config.rules.audit,
            audit_every: world.config.rules.audit_every,
            strength: world.config.find_required_strength(),
        });
    }
    facts.now = match world.not_before {
        Some(previous) => world.clock.read_not_before(previous),
        None => world.clock.now(),
    };
    Ok(facts)
}

impl World<'_> {
    /// HEAD and what hangs on it.
    fn history(&self, wanted: &FactSet, facts: &mut Facts) -> Result<(), Failure> {
        let needed = wanted.head
            || wanted.contract_committed
            || !wanted.ranges.is_empty()
            || wanted.since.is_some()
            || !wanted.on_head.is_empty()
            || wanted.commit.is_some();
        if !needed {
            return Ok(());
        }
        let head = self.repo.head()?;
        for basis in &wanted.ranges {
            let range = self.repo.range(&head, basis, false)?;
            facts.ranges.insert(basis.clone(), range);
        }
        if let Some(since) = &wanted.since {
            facts.since = Some(self.repo.range(&head, since, true)?);
        }
        for commit in &wanted.on_head {
            let on_head = self.repo.on_head(&head, commit)?;
            facts.on_head.insert(commit.clone(), on_head);
        }
        if let Some(question) = &wanted.commit {
            let protected = &self.config.rules.protected;
            let mut commit = self.repo.commit_facts(&head, question, protected)?;
            self.guard_settings(&mut commit)?;
            facts.commit = Some(commit);
        }
        if wanted.contract_committed {
            facts.contract_uncommitted = Some(self.repo.contract_uncommitted(&head)?);
            facts.stop_verifier_stale = (self.stop_verifier_stale)()?;
        }
        if wanted.head {
            facts.head = Some(head);
        }
        Ok(())
    }

    /// The settings in force are the commit's.
    pub(crate) fn holds_settings(&self, commit: &str) -> Result<bool, Failure> {
        Ok(read_settings_at(self.repo, commit)?.as_ref() == Some(self.config))
    }

    /// Gates and limits are read from the worktree: an edit of them that no commit holds is
    /// a change of a protected path like one that is committed.
    fn guard_settings(&self, facts: &mut CommitFacts) -> Result<(), Failure> {
        let Some(commit) = &facts.id else {
            return Ok(());
        };
        if !self.holds_settings(commit)? && !facts.protected.iter().any(|path| path == SETTINGS) {
            facts.protected.push(SETTINGS.to_owned());
        }
        Ok(())
    }

    // What the trials of a change say, for a decision.

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

/// The settings that a commit holds; none where they cannot be read.
pub(crate) fn read_settings_at(repo: &Repo, commit: &str) -> Result<Option<Config>, Failure> {
    Ok(match repo.entry(commit, SETTINGS)? {
        Entry::File { bytes, .. } => Config::parse(&String::from_utf8_lossy(&bytes)).ok(),
        Entry::Nothing => Some(Config::default()),
        _ => None,
    })
}
