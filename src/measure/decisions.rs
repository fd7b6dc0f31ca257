//! The entry points of a worktree's commands to measuring: deciding by rules, running gates, judging anchors.

use super::world::{World, gate_commands};
use super::{Claim, Reran};
use crate::prelude::*;
use crate::workspace::{Judging, Workspace};

/// Whether gates may run while rules decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateRuns {
    /// They run if no receipt has their result.
    Allowed,
    /// None is run for an anchor: its verdict follows from kept receipts.
    Kept,
    /// None is run, and a rule that needs a run fails.
    Refused,
}

impl Workspace {
    /// Whether HEAD's stop verifier is the one that cook generates from the gates of the settings.
    ///
    /// # Errors
    /// A failing git, or settings that cannot be read.
    pub fn has_generated_verifier(&self) -> Result<bool> {
        let Some(commit) = self.repo.head()?.commit else {
            return Ok(false);
        };
        self.world()?.is_generated(&commit)
    }

    /// Runs the rules, and measures the facts that they ask for until they can decide.
    ///
    /// # Errors
    /// A refusal of the rules; a failing git; settings or trust that cannot be read.
    pub fn decide<T>(
        &self,
        snapshot: Option<&Snapshot>,
        facts: &mut Facts,
        runs: GateRuns,
        rules: impl Fn(&Facts) -> Result<T, Refusal>,
    ) -> Result<T> {
        let measure =
            |world: &World, question: &Question, facts: &mut Facts| world.measure(question, facts);
        self.decide_by(snapshot, facts, runs, measure, rules)
    }

    /// Like [`Workspace::decide`], with another way to obtain the answers.
    ///
    /// # Errors
    /// As [`Workspace::decide`], and the errors of `measure`.
    pub(crate) fn decide_by<T>(
        &self,
        snapshot: Option<&Snapshot>,
        facts: &mut Facts,
        runs: GateRuns,
        measure: impl Fn(&World, &Question, &mut Facts) -> Result<()>,
        rules: impl Fn(&Facts) -> Result<T, Refusal>,
    ) -> Result<T> {
        let defaults = Config::default();
        let config = self.config().unwrap_or(&defaults);
        let mut world = World::new(self, config, snapshot);
        world.runs = runs == GateRuns::Allowed;
        let answer = |question: &Question, facts: &mut Facts| {
            if runs == GateRuns::Refused && question.may_run() {
                let what = "gates would have to run, and nobody waits for them here";
                return Err(Failure::state(Code::FactMissing, what));
            }
            measure(&world, question, facts)?;
            if world.runs && question.may_run() {
                facts.forget_surroundings();
                self.repo.forget_status();
            }
            Ok(())
        };
        machine::decide(facts, answer, &rules)
    }

    /// Measures the answer to one question.
    ///
    /// # Errors
    /// As [`Workspace::decide`].
    pub fn measure(
        &self,
        snapshot: Option<&Snapshot>,
        question: Question,
        runs: GateRuns,
    ) -> Result<Facts> {
        let mut facts = Facts::default();
        let mut world = World::new(self, self.config()?, snapshot);
        world.runs = runs == GateRuns::Allowed;
        world.measure(&question, &mut facts)?;
        Ok(facts)
    }

    /// The verdicts on anchors by kept receipts, by the keys of the questions: no gate is run.
    pub(crate) fn measure_kept(
        &self,
        snapshot: &Snapshot,
        asked: BTreeSet<AnchorQuestion>,
    ) -> Result<BTreeMap<String, AnchorAnswer>> {
        if asked.is_empty() {
            return Ok(BTreeMap::new());
        }
        let question = Question::Anchors { asked, ends: false };
        Ok(self
            .measure(Some(snapshot), question, GateRuns::Kept)?
            .anchors)
    }

    /// The commands whose receipts may prove a test: gates, and the commands of slices.
    pub(crate) fn list_gate_commands(&self, snapshot: &Snapshot) -> Result<Vec<String>> {
        let slices = snapshot.plan.candidate_slices.iter();
        let own = slices.flat_map(|slice| slice.verification_commands.iter().flatten());
        Ok(gate_commands(self.config()?, own))
    }

    /// Runs gates at HEAD in a clean room, if no receipt has their result.
    ///
    /// # Errors
    /// As [`Workspace::measure`].
    pub fn run_gates(&self, gates: &[GateSpec]) -> Result<Vec<GateRun>> {
        let Some(commit) = self.repo.head()?.commit else {
            return Err(Refusal::new(Code::UnbornHead, "the repository has no commit yet").into());
        };
        self.world()?.run_trusted(&commit, gates.to_vec())
    }

    /// Finds or runs the results of gates at a commit, and adds the names of the failed tests.
    ///
    /// # Errors
    /// As [`Workspace::measure`].
    pub fn ask_gates_at(&self, commit: &str, gates: &[GateSpec]) -> Result<Vec<GateRun>> {
        let world = self.world()?;
        let mut runs = world.ask(commit, gates.to_vec())?;
        world.add_failed(&mut runs)?;
        Ok(runs)
    }

    /// A world without documents. The caller has checked that the commands which it runs are trusted.
    ///
    /// # Errors
    /// Settings that cannot be read.
    pub(crate) fn world(&self) -> Result<World<'_>> {
        Ok(World::new(self, self.config()?, None))
    }

    /// Runs the commands of the claims at a commit; see [`World::rerun`].
    ///
    /// # Errors
    /// As [`Workspace::measure`].
    pub fn rerun(&self, snapshot: &Snapshot, commit: &str, claims: &[Claim]) -> Result<Vec<Reran>> {
        World::new(self, self.judging_config()?, Some(snapshot)).rerun(commit, claims)
    }

    /// The verdicts on anchors at a commit, by kept results.
    ///
    /// # Errors
    /// As [`Workspace::measure`].
    pub(crate) fn look_up(
        &self,
        snapshot: &Snapshot,
        head: &Head,
        questions: &BTreeSet<AnchorQuestion>,
    ) -> Result<BTreeMap<String, AnchorAnswer>> {
        World::new(self, self.judging_config()?, Some(snapshot)).look_up(head, questions)
    }

    /// Whether HEAD holds the settings as they are in the worktree.
    ///
    /// # Errors
    /// A failing git, or settings that cannot be read.
    pub fn holds_settings(&self) -> Result<bool> {
        let Some(commit) = self.repo.head()?.commit else {
            return Ok(false);
        };
        self.world()?.holds_settings(&commit)
    }

    /// Runs the gates of the contract that decides at a commit, with that contract's files under `.agent/`; then those
    /// that the commit adds, with the commit's own files.
    ///
    /// # Errors
    /// As [`Workspace::measure`].
    pub(crate) fn run_judging_gates(
        &self,
        judging: &Judging,
        commit: &str,
    ) -> Result<Vec<GateRun>> {
        let trust = self.trust()?;
        let world = World::new(self, &judging.config, None);
        let (mut runs, mut due) = (Vec::new(), Vec::new());
        for gate in judging.gates(false) {
            match judging.files.is_empty() || !trust.is_trusted(&gate.run) {
                // If it is not trusted, the result says so.
                true => runs.extend(world.run_trusted(commit, vec![gate])?),
                false => due.push(gate),
            }
        }
        if judging.has_own_verifier && trust.is_trusted(STOP_VERIFIER) {
            due.push(judging.verifier());
        }
        if !due.is_empty() {
            let runner = world.runner()?;
            runs.extend(runner.run_without(commit, &judging.files, &due, self.caches)?);
        }
        runs.extend(world.run_trusted(commit, judging.gates(true))?);
        Ok(runs)
    }
}
