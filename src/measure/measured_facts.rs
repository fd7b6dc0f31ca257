//! Measures the facts that a rule asks for.

use super::world::World;
use crate::init::SETTINGS;
use crate::prelude::*;
use crate::trial::{Span, Tried, try_change};
use cook_protocol::machine::{CommitFacts, ConfigFacts};
use cook_protocol::question::GateQuestion;
use cook_repo::git::Entry;

impl World<'_> {
    /// Measures the answer to one question.
    ///
    /// # Errors
    /// A fact that cannot be measured.
    pub fn measure(&self, question: &Question, facts: &mut Facts) -> Result<()> {
        let repo = self.repo;
        // Facts that are measured together refer to one HEAD.
        let seen = facts.head.clone();
        let head = || seen.map_or_else(|| repo.head(), Ok);
        if question.reads_settings() {
            self.workspace.config()?;
        }
        match question {
            Question::Head => facts.head = Some(repo.head()?),
            Question::Contract => {
                facts.contract_missing = Some(repo.contract_missing()?);
                facts.settings = Some(repo.settings()?);
                facts.contract_differs = self.workspace.contract_differs(self.snapshot)?;
            }
            Question::ContractCommitted => {
                facts.contract_uncommitted = Some(repo.contract_uncommitted(&head()?)?);
                facts.stop_verifier_stale = self.workspace.is_stop_verifier_stale()?;
            }
            Question::View => facts.outside_edits = Some(self.workspace.outside_edits()?),
            Question::Worktree { ends } => {
                let status = match self.workspace.worktree_stays {
                    true => repo.recent_status()?,
                    false => repo.status()?,
                };
                let mut worktree = status.worktree;
                // Only the end of a project needs it.
                if *ends {
                    worktree.unwatched = repo.list_unwatched()?;
                }
                facts.worktree = Some(worktree);
            }
            Question::Range(basis) => {
                let range = repo.range(&head()?, basis, false)?;
                facts.ranges.insert(basis.clone(), range);
            }
            Question::Since(seen) => facts.since = Some(repo.range(&head()?, seen, true)?),
            Question::OnHead(commit) => {
                let on_head = repo.on_head(&head()?, commit)?;
                facts.on_head.insert(commit.clone(), on_head);
            }
            Question::Commit(question) => {
                let protected = &self.config.rules.protected;
                let mut commit = repo.commit_facts(&head()?, question, protected)?;
                self.guard_settings(&mut commit)?;
                facts.commit = Some(commit);
            }
            Question::Gates(question) => {
                let runs = self.gates(question)?;
                facts.strength = self.strength(question, &runs)?;
                facts.trials = self.trials(question, &runs)?;
                facts.gates = Some(runs);
            }
            Question::Anchors { asked, ends } => {
                facts.anchors.extend(self.anchors(asked, *ends)?);
            }
            Question::Standing { seen, anchors } => {
                facts.standing = self.standing(seen, anchors, false)?;
            }
            Question::StopVerifier(caches) => {
                facts.stop_verifier = Some(self.stop_verifier(*caches)?);
            }
            Question::Trust(commands) => {
                let untrusted = self.list_untrusted(commands)?;
                facts.untrusted.get_or_insert_default().extend(untrusted);
            }
            Question::Config => facts.config = Some(read_rules(self.config)),
            Question::Brief(question) => facts.brief = Some(self.brief(question)?),
            Question::Room => facts.room = self.room()?,
            Question::Goal(goal) => {
                if let Some(commit) = head()?.commit {
                    facts.goal = Some(self.ask_goal(goal, &commit)?);
                }
            }
        }
        let clock = self.workspace.clock;
        // Time never runs back behind the last transition.
        let last = self.snapshot.and_then(|it| it.ledger.last_at.as_deref());
        facts.now = last.map_or_else(|| clock.now(), |last| clock.read_not_before(last));
        Ok(())
    }

    /// Whether the settings in force are those of the commit.
    pub(crate) fn holds_settings(&self, commit: &str) -> Result<bool> {
        Ok(read_settings_at(self.repo, commit)?.as_ref() == Some(self.config))
    }

    /// Gates and limits are read from the worktree: an uncommitted edit of them counts as a change of a protected path,
    /// like a committed one.
    fn guard_settings(&self, facts: &mut CommitFacts) -> Result<()> {
        let Some(commit) = &facts.id else {
            return Ok(());
        };
        if !self.holds_settings(commit)? && !facts.protected.iter().any(|path| path == SETTINGS) {
            facts.protected.push(SETTINGS.to_owned());
        }
        Ok(())
    }

    // The results of the trials of a change, for a decision.

    /// Runs the trials of a slice by its gates, if all required gates are green.
    pub(super) fn trials(
        &self,
        question: &GateQuestion,
        runs: &[GateRun],
    ) -> Result<Vec<TrialLine>> {
        let is_red = |run: &GateRun| run.gate.required && !run.has_passed();
        let ends = (
            self.repo.resolve(&question.basis)?,
            self.repo.resolve(&question.commit)?,
        );
        let (Some(basis), Some(commit)) = ends else {
            return Ok(Vec::new());
        };
        // A commit that does not descend from the basis is refused for that reason.
        if runs.iter().any(is_red) || !self.repo.is_ancestor(&basis, &commit)? {
            return Ok(Vec::new());
        }
        Ok(self.try_change(&basis, &commit, runs, &|_| {})?.lines)
    }

    /// Tries a change with the gates that ran at its head.
    pub(crate) fn try_change(
        &self,
        base: &str,
        head: &str,
        runs: &[GateRun],
        tell: crate::trial::Tell,
    ) -> Result<Tried> {
        let settings = read_settings_at(self.repo, base)?.unwrap_or_default();
        let runner = self.runner()?;
        let mut runs = runs.to_vec();
        // A run in the worktree proves nothing about a commit.
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

    /// Adds the names of the failed tests to each red run.
    pub(crate) fn add_failed(&self, runs: &mut [GateRun]) -> Result<()> {
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

/// The settings that rules decide by.
pub(crate) fn read_rules(config: &Config) -> ConfigFacts {
    ConfigFacts {
        limits: config.limits(),
        strict: cook_protocol::model::Gone,
        audit: config.rules.audit,
        audit_every: config.rules.audit_every,
        audit_last: config.rules.audit_every.is_none(),
        strength: config.find_required_strength(),
    }
}

/// The settings of a commit; `None` if they cannot be read.
pub(crate) fn read_settings_at(repo: &Repo, commit: &str) -> Result<Option<Config>> {
    Ok(match repo.entry(commit, SETTINGS)? {
        Entry::File { bytes, .. } => Config::parse(&String::from_utf8_lossy(&bytes)).ok(),
        Entry::Nothing => Some(Config::default()),
        _ => None,
    })
}
