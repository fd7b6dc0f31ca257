//! Runs gates that are trusted, where no receipt answers for them.

use super::missing::missing;
use super::world::World;
use crate::init::stop_script;
use cook_protocol::diagnostic::Failure;
use cook_protocol::machine::{FactSet, Facts, GateQuestion, GateRun, Head, StopVerifierRun};
use cook_protocol::model::{
    Caches, GateSpec, Place, Receipt, RoomCheck, STOP_VERIFIER, STOP_VERIFIER_SCRIPTS,
};
use cook_repo::disk::{self, Links};
use cook_repo::git::Entry;
use cook_repo::receipt::{Trust, cannot, merge_gates, words};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Bytes of a script, at most.
const MAX_SCRIPT: u64 = 1 << 20;
/// What the script itself may take, beside its gates.
const OF_SCRIPT: Duration = Duration::from_secs(30);
/// Longest time for a stop verifier.
const PATIENCE: Duration = Duration::from_secs(60 * 60);

impl World<'_> {
    /// Runs the stop verifier, which is a program of the repository like any gate.
    pub(super) fn stop_verifier(&self, caches: Caches) -> Result<StopVerifierRun, Failure> {
        let (_, trust) = self.gates_here()?;
        let why = match (trust.is_trusted(STOP_VERIFIER), self.repo.head()?.commit) {
            (true, Some(commit)) => {
                match self
                    .other_script(&commit)?
                    .or(self.explain_untrusted_setup(trust))
                {
                    None => {
                        let gates = self.config.gate_specs();
                        let runs =
                            |gate: &&GateSpec| gate.required && gate.place == Place::CleanRoom;
                        let required = || gates.iter().filter(runs);
                        let network = required().any(|gate| gate.network);
                        let own = required().map(|gate| gate.timeout_ms).sum();
                        // How long a script of the user's own takes nobody says.
                        let patience = match self.is_generated(&commit)? {
                            true => (Duration::from_millis(own) + OF_SCRIPT).min(PATIENCE),
                            false => PATIENCE,
                        };
                        let runner = self.runner()?;
                        return runner.stop_verifier(&commit, caches, network, patience);
                    }
                    Some(why) => why,
                }
            }
            (true, None) => "there is no commit to run it at".to_owned(),
            (false, _) => "this machine does not trust its scripts".to_owned(),
        };
        Ok(StopVerifierRun {
            receipt: None,
            problem: Some(why),
            remarks: Vec::new(),
        })
    }

    /// Of the commands that are asked about, and of the gates that were to run, those
    /// that are not trusted.
    pub(super) fn list_untrusted(
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
                self.add_failed(&mut runs)?;
                Ok(runs)
            }
            None => Ok(gates
                .into_iter()
                .map(|gate| not_run(gate, "there is no such commit to run it at"))
                .collect()),
        }
    }

    /// Runs those that are trusted; the others say that they are not. A green run at the same tree
    /// is not repeated, nor is a red one of this process: the command is then being retried.
    pub(crate) fn run_trusted(
        &self,
        commit: &str,
        basis: Option<&str>,
        gates: Vec<GateSpec>,
    ) -> Result<Vec<GateRun>, Failure> {
        let (receipts, trust) = self.gates_here()?;
        let tree = self.repo.find_tree(commit)?;
        let mut done: BTreeMap<usize, GateRun> = BTreeMap::new();
        let mut due = Vec::new();
        let runner = self.runner()?;
        let untrusted_setup = self.explain_untrusted_setup(trust);
        for (place, gate) in gates.into_iter().enumerate() {
            let kept = receipts.find_gate(&gate, &tree, None)?;
            let known = kept.filter(|receipt| {
                let serves = receipt.caches == self.caches || self.caches == Caches::Kept;
                receipts.is_own(receipt) && serves
                    || receipt.has_passed()
                        && self.caches == Caches::Kept
                        && receipt.preparation_sha256 == runner.preparation()
            });
            if let Some(why) = explain_untrusted(trust, &gate.run).or(untrusted_setup.clone()) {
                done.insert(place, not_run(gate, &why));
            } else if let Some(receipt) = known.filter(|_| !gate.must_fail_at_basis) {
                let mut run = not_run(gate, "");
                run.remarks.extend(runner.tell_chance(&receipt)?);
                run.remarks.extend(runner.remark_on(&receipt)?);
                (run.receipt, run.problem) = (Some(receipt), None);
                done.insert(place, run);
            } else {
                due.push((place, gate));
            }
        }
        let (places, specs): (Vec<usize>, Vec<GateSpec>) = due.into_iter().unzip();
        let runs = runner.run_at(commit, basis, &specs, self.caches)?;
        done.extend(places.into_iter().zip(runs));
        Ok(done.into_values().collect())
    }

    /// Runs trusted gates that were not asked yet of what they say something about of a commit. Whoever asks again is
    /// told the same, green or red; `cook gate --clean` runs a gate anew.
    ///
    /// # Errors
    /// As [`Gates::run_at`](cook_repo::receipt::Gates::run_at).
    pub(crate) fn ask(&self, commit: &str, gates: Vec<GateSpec>) -> Result<Vec<GateRun>, Failure> {
        let (_, trust) = self.gates_here()?;
        let runner = self.runner()?;
        let is_trusted = self.explain_untrusted_setup(trust).is_none();
        let mut runs = Vec::new();
        for gate in gates {
            let known = match is_trusted && trust.is_trusted(&gate.run) {
                true if self.caches == Caches::Kept => runner.find_asked(commit, &gate)?,
                _ => None,
            };
            match known {
                Some(receipt) => {
                    let mut run = not_run(gate, "");
                    run.remarks.extend(runner.remark_on(&receipt)?);
                    (run.receipt, run.problem) = (Some(receipt), None);
                    runs.push(run);
                }
                None => runs.extend(self.run_trusted(commit, None, vec![gate])?),
            }
        }
        Ok(runs)
    }

    /// The commit's stop verifier is what cook makes of the gates.
    pub(crate) fn is_generated(&self, commit: &str) -> Result<bool, Failure> {
        let made = stop_script(&self.config.gate_specs());
        let entry = self.repo.entry(commit, STOP_VERIFIER_SCRIPTS[0])?;
        Ok(matches!(entry, Entry::File { bytes, .. } if bytes == made.as_bytes()))
    }

    /// What the required gates say of HEAD in a clean room, and a stop verifier that is more than
    /// these gates; none on an unborn branch.
    pub(super) fn room(&self) -> Result<Option<RoomCheck>, Failure> {
        let head = self.repo.head()?;
        let (Some(commit), Some(tree)) = (head.commit, head.tree) else {
            return Ok(None);
        };
        if !self.holds_settings(&commit)? {
            let why = "`.agent/cook.toml` is not committed as it stands in the worktree";
            return Ok(Some(RoomCheck {
                tree,
                red: vec![why.to_owned()],
                remarks: Vec::new(),
            }));
        }
        let mut gates = self.config.gate_specs();
        gates.retain(|gate| gate.required && gate.place == Place::CleanRoom);
        for gate in &mut gates {
            gate.must_fail_at_basis = false;
        }
        let generated = self.is_generated(&commit)?;
        let runs = self.run_trusted(&commit, None, gates)?;
        let mut red = Vec::new();
        for run in runs.iter().filter(|run| !run.has_passed()) {
            let mut what = ending(&run.gate.name, run.receipt.as_ref(), run.problem.as_deref());
            for hint in missing(self.repo, self.config, run.into())? {
                what.push_str(&format!("; missing: {hint}"));
            }
            red.push(what);
        }
        let mut remarks: Vec<String> = runs.into_iter().flat_map(|run| run.remarks).collect();
        if red.is_empty() && !generated {
            let run = self.stop_verifier(self.caches)?;
            remarks.extend(run.remarks.iter().cloned());
            if !run.has_passed() {
                let name = STOP_VERIFIER_SCRIPTS[0];
                red.push(ending(name, run.receipt.as_ref(), run.problem.as_deref()));
            }
        }
        Ok(Some(RoomCheck { tree, red, remarks }))
    }

    /// Runs trusted gates that have no receipt of HEAD's tree yet; with empty caches each of them.
    pub(super) fn complete(
        &self,
        head: &Head,
        commands: &BTreeSet<Vec<String>>,
        caches: Caches,
    ) -> Result<(), Failure> {
        let (Some(commit), Some(tree)) = (&head.commit, &head.tree) else {
            return Ok(());
        };
        let (receipts, trust) = self.gates_here()?;
        if self.explain_untrusted_setup(trust).is_some() {
            return Ok(());
        }
        let slices = self.slice_commands.values().flatten().cloned();
        let all = merge_gates(self.config.gate_specs(), &slices.collect::<Vec<_>>());
        let mut due = Vec::new();
        for mut gate in all {
            let asked = words(&gate.run).is_ok_and(|argv| commands.contains(&argv))
                && trust.is_trusted(&gate.run);
            if asked && (caches == Caches::Empty || receipts.find(&gate.run, tree)?.is_none()) {
                gate.must_fail_at_basis = false;
                due.push(gate);
            }
        }
        self.runner()?.run_at(commit, None, &due, caches)?;
        Ok(())
    }
}

impl World<'_> {
    /// What is run is the commit's script; what is trusted is the one in the worktree.
    fn other_script(&self, commit: &str) -> Result<Option<String>, Failure> {
        for script in STOP_VERIFIER_SCRIPTS {
            let path = self.repo.root().join(script);
            let here = disk::read_if_plain(&path, MAX_SCRIPT, Links::Refuse);
            let here = here.map_err(|cause| cannot("read", &path, cause))?;
            let same = match self.repo.entry(commit, script)? {
                Entry::File { bytes, .. } => here == Some(bytes),
                _ => false,
            };
            if !same {
                let why = format!("`{script}` is not committed as it stands in the worktree");
                return Ok(Some(why));
            }
        }
        Ok(None)
    }

    /// Why setup may not run here, if it may not.
    pub(super) fn explain_untrusted_setup(&self, trust: &Trust) -> Option<String> {
        let commands = self.config.clean_room.setup();
        let mut whys = commands.filter_map(|command| explain_untrusted(trust, command));
        whys.next()
    }
}

/// How a run that is not green came to its end.
pub(super) fn ending(name: &str, receipt: Option<&Receipt>, problem: Option<&str>) -> String {
    match (problem, receipt) {
        (Some(problem), _) => format!("`{name}`: {problem}"),
        (None, Some(receipt)) => format!("`{name}` {} (receipt:{})", receipt.ending(), receipt.id),
        (None, None) => format!("`{name}` did not run"),
    }
}

/// Why a command may not run here, if it may not.
pub(super) fn explain_untrusted(trust: &Trust, command: &str) -> Option<String> {
    let hint = || format!("run `cook trust {}`", shell_words::quote(command));
    (!trust.is_trusted(command))
        .then(|| format!("`{command}` is not trusted on this machine: {}", hint()))
}

fn not_run(gate: GateSpec, why: &str) -> GateRun {
    GateRun {
        gate,
        receipt: None,
        problem: Some(why.to_owned()),
        remarks: Vec::new(),
        at_basis: None,
        failed: Vec::new(),
    }
}
