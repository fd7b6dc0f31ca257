//! Runs gates that are trusted, where no receipt answers for them.

use super::world::World;
use cook_core::diagnostic::Failure;
use cook_core::machine::{FactSet, Facts, GateQuestion, GateRun, Head, StopVerifierRun};
use cook_core::model::{GateSpec, STOP_VERIFIER};
use cook_store::receipt::{merge_gates, words};
use std::collections::{BTreeMap, BTreeSet};

impl World<'_> {
    /// Runs the stop verifier, which is a program of the repository like any gate.
    pub(super) fn stop_verifier(&self) -> Result<StopVerifierRun, Failure> {
        let (_, trust) = self.gates_here()?;
        if trust.is_trusted(STOP_VERIFIER) {
            return self.runner()?.stop_verifier();
        }
        Ok(StopVerifierRun {
            receipt: None,
            problem: Some("this machine does not trust its scripts".to_owned()),
        })
    }

    /// Of the commands that are asked about, and of the gates that were to run, those
    /// that are not trusted.
    pub(super) fn untrusted(
        &self,
        wanted: &FactSet,
        facts: &Facts,
    ) -> Result<BTreeSet<String>, Failure> {
        let gates = facts.gates.iter().flatten().map(|run| &run.gate.run);
        let asked: BTreeSet<&String> = wanted.trust.iter().chain(gates).collect();
        if asked.is_empty() {
            return Ok(BTreeSet::new());
        }
        let (_, trust) = self.gates_here()?;
        Ok(asked
            .into_iter()
            .filter(|command| !trust.is_trusted(command))
            .cloned()
            .collect())
    }

    pub(super) fn gates(&self, question: &GateQuestion) -> Result<Vec<GateRun>, Failure> {
        let gates = merge_gates(self.config.gate_specs(), &question.commands);
        let commit = if question.commit.is_empty() {
            self.repo.head()?.commit
        } else {
            self.repo.resolve(&question.commit)?
        };
        match commit {
            Some(commit) => {
                let mut runs = self.run_trusted(&commit, Some(&question.basis), gates)?;
                self.add_losses(&question.basis, &mut runs)?;
                Ok(runs)
            }
            None => Ok(gates
                .into_iter()
                .map(|gate| not_run(gate, "there is no such commit to run it at"))
                .collect()),
        }
    }

    /// Runs those that are trusted; the others say that they are not. A run of this
    /// process at the same tree is not repeated: the command is then being retried.
    fn run_trusted(
        &self,
        commit: &str,
        basis: Option<&str>,
        gates: Vec<GateSpec>,
    ) -> Result<Vec<GateRun>, Failure> {
        let (receipts, trust) = self.gates_here()?;
        let tree = self.repo.tree_of(commit)?;
        let mut done: BTreeMap<usize, GateRun> = BTreeMap::new();
        let mut due = Vec::new();
        for (place, gate) in gates.into_iter().enumerate() {
            let kept = receipts.find(&gate.run, &tree)?;
            let own = kept.filter(|receipt| receipts.is_own(receipt));
            if !trust.is_trusted(&gate.run) {
                let hint = format!("run `cook trust {}`", shell_words::quote(&gate.run));
                let why = format!("it is not trusted on this machine: {hint}");
                done.insert(place, not_run(gate, &why));
            } else if let Some(receipt) = own.filter(|_| !gate.must_fail_at_basis) {
                let mut run = not_run(gate, "");
                (run.receipt, run.problem) = (Some(receipt), None);
                done.insert(place, run);
            } else {
                due.push((place, gate));
            }
        }
        let (places, specs): (Vec<usize>, Vec<GateSpec>) = due.into_iter().unzip();
        let runs = self.runner()?.run_at(commit, basis, &specs)?;
        done.extend(places.into_iter().zip(runs));
        Ok(done.into_values().collect())
    }

    /// Runs trusted gates that have no receipt of HEAD's tree yet.
    pub(super) fn complete(
        &self,
        head: &Head,
        commands: &BTreeSet<Vec<String>>,
    ) -> Result<(), Failure> {
        let (Some(commit), Some(tree)) = (&head.commit, &head.tree) else {
            return Ok(());
        };
        let (receipts, trust) = self.gates_here()?;
        let slices = self.slice_commands.values().flatten().cloned();
        let all = merge_gates(self.config.gate_specs(), &slices.collect::<Vec<_>>());
        let mut due = Vec::new();
        for mut gate in all {
            let asked = words(&gate.run).is_ok_and(|argv| commands.contains(&argv))
                && trust.is_trusted(&gate.run);
            if asked && (self.rerun || receipts.find(&gate.run, tree)?.is_none()) {
                gate.must_fail_at_basis = false;
                due.push(gate);
            }
        }
        self.runner()?.run_at(commit, None, &due)?;
        Ok(())
    }
}

fn not_run(gate: GateSpec, why: &str) -> GateRun {
    GateRun {
        gate,
        receipt: None,
        problem: Some(why.to_owned()),
        at_basis: None,
        losses: Vec::new(),
    }
}
