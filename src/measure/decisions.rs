//! What a worktree's commands have measured: rules that decide, gates that run, anchors that are judged.

use super::world::{World, gate_commands};
use super::{Claim, Reran};
use crate::prelude::*;
use crate::workspace::{Judging, Workspace};

/// Whether gates may run while rules decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateRuns {
    /// They run where no receipt answers for them.
    Allowed,
    /// None runs for an anchor: the receipts that are kept say what it is worth.
    Kept,
    /// None runs, and a rule that asks for a run fails.
    Refused,
}

impl Workspace {
    /// HEAD's stop verifier is the one that cook makes from the gates of the settings.
    ///
    /// # Errors
    /// git that does not answer, settings that cannot be read.
    pub fn has_generated_verifier(&self) -> Result<bool> {
        let Some(commit) = self.repo.head()?.commit else {
            return Ok(false);
        };
        self.world()?.is_generated(&commit)
    }

    /// Has rules decide, and measures what they ask for until they can.
    ///
    /// # Errors
    /// A refusal of theirs; git that does not answer, settings or trust that cannot be read.
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

    /// The same where the answers are not all measured.
    ///
    /// # Errors
    /// As [`Workspace::decide`], and what `measure` fails at.
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

    /// What anchors are worth by receipts that are kept, by the questions' keys: no gate is run.
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

    /// The commands whose receipts may prove a test: gates, and those of slices.
    pub(crate) fn list_gate_commands(&self, snapshot: &Snapshot) -> Result<Vec<String>> {
        let slices = snapshot.plan.candidate_slices.iter();
        let own = slices.flat_map(|slice| slice.verification_commands.iter().flatten());
        Ok(gate_commands(self.config()?, own))
    }

    /// Runs gates at HEAD in a clean room, where no receipt answers for them.
    ///
    /// # Errors
    /// As [`Workspace::measure`].
    pub fn run_gates(&self, gates: &[GateSpec]) -> Result<Vec<GateRun>> {
        let Some(commit) = self.repo.head()?.commit else {
            return Err(Refusal::new(Code::UnbornHead, "the repository has no commit yet").into());
        };
        self.world()?.run_trusted(&commit, None, gates.to_vec())
    }

    /// Asks gates of a commit, where no receipt answers for them, with the tests that failed.
    ///
    /// # Errors
    /// As [`Workspace::measure`].
    pub fn ask_gates_at(&self, commit: &str, gates: &[GateSpec]) -> Result<Vec<GateRun>> {
        let world = self.world()?;
        let mut runs = world.ask(commit, gates.to_vec())?;
        world.add_failed(&mut runs)?;
        Ok(runs)
    }

    /// What is looked at without documents. Whoever runs something by it has asked whether that is trusted.
    ///
    /// # Errors
    /// Settings that cannot be read.
    pub(crate) fn world(&self) -> Result<World<'_>> {
        Ok(World::new(self, self.config()?, None))
    }

    /// Runs at a commit what the claims rest on; see [`World::rerun`].
    ///
    /// # Errors
    /// As [`Workspace::measure`].
    pub fn rerun(&self, snapshot: &Snapshot, commit: &str, claims: &[Claim]) -> Result<Vec<Reran>> {
        World::new(self, self.judging_config()?, Some(snapshot)).rerun(commit, claims)
    }

    /// What anchors are worth at a commit, by what is kept.
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

    /// Whether HEAD holds the settings as they stand in the worktree.
    ///
    /// # Errors
    /// git that does not answer, settings that cannot be read.
    pub fn holds_settings(&self) -> Result<bool> {
        let Some(commit) = self.repo.head()?.commit else {
            return Ok(false);
        };
        self.world()?.holds_settings(&commit)
    }

    /// Runs the gates of the contract that decides at a commit, with what it has under `.agent/`; then
    /// those that the commit adds, with what it has there itself.
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
                // Where it is not trusted, its run says so.
                true => runs.extend(world.run_trusted(commit, None, vec![gate])?),
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
        runs.extend(world.run_trusted(commit, None, judging.gates(true))?);
        Ok(runs)
    }
}
