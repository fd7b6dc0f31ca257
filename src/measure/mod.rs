//! Measuring exactly what a decision asks for.
//!
//! [`measure`] turns a [`FactSet`] into [`Facts`]. Gates run here, before any
//! lock is taken; a command that is not trusted on this machine is never run.
//! What a gate may have changed (HEAD, the worktree) is measured after it.

use crate::anchor::{Anchor, Sources, TestOutcome, test_outcomes};
use cook_core::change::{Edited, Loss, class_of, collected_losses, losses};
use cook_core::diagnostic::{Code, Failure};
use cook_core::machine::{
    AnchorAnswer, BriefFacts, BriefQuestion, CommitFacts, CommitQuestion, ConfigFacts, FactSet,
    Facts, GateQuestion, GateRun, Head, OutsideEdit, StopVerifierRun,
};
use cook_core::model::{BriefLine, BriefStanding, Config, GateSpec, STOP_VERIFIER, Verdict};
use cook_git::{Edit, Entry, Repo};
use cook_os::clock::Clock;
use cook_os::process::Live;
use cook_store::receipt::{Gates, Receipts, Trust, merged, words};
use std::collections::{BTreeMap, BTreeSet};

/// Everything that can be looked at.
pub struct World<'a> {
    /// The user's repository.
    pub repo: &'a Repo,
    /// `cook.toml`.
    pub config: &'a Config,
    /// Kept receipts, and what may run here; none when [`wants_gates`] says that
    /// nothing of it is asked.
    pub gates: Option<(&'a Receipts, &'a Trust)>,
    /// The time.
    pub clock: Clock,
    /// The moment of the last transition, which nothing may come before.
    pub not_before: Option<&'a str>,
    /// `.agent/` against the log; asked only when the fact is.
    pub outside_edits: &'a dyn Fn() -> Result<Vec<OutsideEdit>, Failure>,
    /// By slice: the commands its plan entry names, which anchors may rest on.
    pub slice_commands: &'a BTreeMap<String, Vec<String>>,
    /// The user's messages by id, those that were not taken back; asked only when an
    /// anchor points to one.
    pub messages: &'a dyn Fn() -> Result<BTreeMap<String, String>, Failure>,
    /// Who watches gates.
    pub live: Option<Live>,
    /// Gates that anchors rest on are run again even where a receipt is kept.
    pub rerun: bool,
}

/// Whether these facts cannot be told without receipts and trust.
pub fn wants_gates(wanted: &FactSet) -> bool {
    wanted.gates.is_some()
        || wanted.stop_verifier
        || !wanted.anchors.is_empty()
        || !wanted.trust.is_empty()
        || wanted.brief.is_some()
}

/// The gate that a plan's command amounts to.
pub fn plan_gate(command: &str) -> GateSpec {
    merged(Vec::new(), &[command.to_owned()]).remove(0)
}

/// Measures what is asked, and nothing else.
///
/// # Errors
/// When something that was asked for cannot be told.
pub fn measure(wanted: &FactSet, world: &World) -> Result<Facts, Failure> {
    let mut facts = Facts::default();
    if let Some(question) = &wanted.gates {
        facts.gates = Some(world.gates(question)?);
    }
    if wanted.stop_verifier {
        facts.stop_verifier = Some(world.stop_verifier()?);
    }
    if !wanted.anchors.is_empty() {
        world.anchors(wanted, &mut facts)?;
    }
    if let Some(question) = &wanted.brief {
        facts.brief = Some(world.brief(question)?);
    }
    world.history(wanted, &mut facts)?;
    if wanted.contract {
        facts.contract_missing = Some(world.repo.contract_missing()?);
        facts.settings = Some(world.repo.settings()?);
    }
    if wanted.view {
        facts.outside_edits = Some((world.outside_edits)()?);
    }
    if wanted.worktree {
        facts.worktree = Some(world.repo.status()?.worktree);
    }
    facts.untrusted = Some(world.untrusted(wanted, &facts)?);
    if wanted.config {
        facts.config = Some(ConfigFacts {
            limits: world.config.limits(),
            strict: world.config.rules.strict,
        });
    }
    facts.now = match world.not_before {
        Some(previous) => world.clock.not_before(previous),
        None => world.clock.now(),
    };
    Ok(facts)
}

impl World<'_> {
    fn gates_here(&self) -> Result<(&Receipts, &Trust), Failure> {
        self.gates
            .ok_or_else(|| Failure::state(Code::FactMissing, "receipts were not opened"))
    }

    fn runner(&self) -> Result<Gates<'_>, Failure> {
        Ok(Gates {
            repo: self.repo,
            receipts: self.gates_here()?.0,
            clock: self.clock,
            live: self.live.clone(),
        })
    }

    /// Runs the stop verifier, which is a program of the repository like any gate.
    fn stop_verifier(&self) -> Result<StopVerifierRun, Failure> {
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
    fn untrusted(&self, wanted: &FactSet, facts: &Facts) -> Result<BTreeSet<String>, Failure> {
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
            self.look_for_losses(question, &mut commit)?;
            facts.commit = Some(commit);
        }
        if wanted.contract_committed {
            facts.contract_uncommitted = Some(self.repo.contract_uncommitted(&head)?);
        }
        if wanted.head {
            facts.head = Some(head);
        }
        Ok(())
    }

    /// Gates and limits are read from the worktree: an edit of them that no commit holds is
    /// a change of a protected path like one that is committed.
    fn guard_settings(&self, facts: &mut CommitFacts) -> Result<(), Failure> {
        const SETTINGS: &str = ".agent/cook.toml";
        let Some(commit) = &facts.id else {
            return Ok(());
        };
        let committed = match self.repo.entry(commit, SETTINGS)? {
            Entry::File { bytes, .. } => Config::parse(&String::from_utf8_lossy(&bytes)).ok(),
            Entry::Nothing => Some(Config::default()),
            _ => None,
        };
        if committed.as_ref() != Some(self.config)
            && !facts.protected.iter().any(|path| path == SETTINGS)
        {
            facts.protected.push(SETTINGS.to_owned());
        }
        Ok(())
    }

    /// What the slice's diff takes away from the tests.
    fn look_for_losses(
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
        let gates = gate_commands(self.config, self.slice_commands.values().flatten());
        facts.losses = lost_tests(&self.repo.edits(&basis, commit)?, &gates);
        Ok(())
    }

    /// Tests that a gate named when it ran at the basis and does not name now. Nothing is
    /// told where a run is not kept, or not whole.
    fn add_losses(&self, basis: &str, runs: &mut [GateRun]) -> Result<(), Failure> {
        let Some(basis) = self.repo.resolve(basis)? else {
            return Ok(());
        };
        let tree = self.repo.tree_of(&basis)?;
        let (receipts, _) = self.gates_here()?;
        for run in runs {
            let Some(receipt) = run.receipt.as_ref().filter(|receipt| receipt.passed()) else {
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
            run.losses = collected_losses(&run.gate.run, &ran, &still, &aside);
        }
        Ok(())
    }

    fn gates(&self, question: &GateQuestion) -> Result<Vec<GateRun>, Failure> {
        let gates = merged(self.config.gate_specs(), &question.commands);
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

    /// Judges anchors, after the trusted gates that they rest on have a receipt of
    /// HEAD's tree.
    fn anchors(&self, wanted: &FactSet, facts: &mut Facts) -> Result<(), Failure> {
        let head = self.repo.head()?;
        let mut resting = BTreeSet::new();
        for question in &wanted.anchors {
            match Anchor::parse(&question.anchor) {
                Ok(Anchor::Test(_)) => {
                    let gates = self.gates_of(&question.slice_id);
                    resting.extend(gates.iter().filter_map(|gate| words(gate).ok()));
                }
                Ok(Anchor::Command { command, .. }) => {
                    let gates = self.gates_of(&question.slice_id);
                    let named = words(&command).ok();
                    // What an anchor names is never run because the anchor names it.
                    let is_gate = |named: &Vec<String>| {
                        gates
                            .iter()
                            .any(|gate| words(gate).is_ok_and(|gate| gate == *named))
                    };
                    resting.extend(named.filter(is_gate));
                }
                _ => {}
            }
        }
        if !wanted.existing_receipts_only {
            self.complete(&head, &resting)?;
        }
        let sources = Sources::new(self.repo, self.gates_here()?.0, &head, self.messages);
        for question in &wanted.anchors {
            let answer = sources.judge(question, &self.gates_of(&question.slice_id))?;
            facts.anchors.insert(question.key(), answer);
        }
        Ok(())
    }

    /// The brief's anchors, by what is kept: no gate is run for them.
    fn brief(&self, question: &BriefQuestion) -> Result<BriefFacts, Failure> {
        let head = self.repo.head()?;
        let sources = Sources::new(self.repo, self.gates_here()?.0, &head, self.messages);
        let gates = self.every_gate();
        let mut facts = BriefFacts::default();
        for entry in &question.entries {
            let BriefLine::Established {
                evidence, basis, ..
            } = &entry.line
            else {
                continue;
            };
            let answer = sources.recheck(evidence, *basis, entry.stamp.as_ref(), &gates)?;
            if answer.verdict == Verdict::Verified {
                continue;
            }
            if let Some(now) = &answer.now {
                let (_, stamp) = sources.stamp(now, *basis, &gates)?;
                facts.followed.insert(entry.id.clone(), stamp);
            }
            facts.standings.insert(entry.id.clone(), standing(answer));
        }
        for (number, line) in question.lines.iter().enumerate() {
            let BriefLine::Established {
                evidence, basis, ..
            } = line
            else {
                facts.stamps.push(None);
                continue;
            };
            let (answer, stamp) = sources.stamp(evidence, *basis, &gates)?;
            facts.stamps.push(Some(stamp));
            if answer.verdict != Verdict::Verified {
                facts.unproved.insert(number, standing(answer));
            }
        }
        if !question.messages.is_empty() {
            let known = sources.messages()?;
            let asked = question.messages.iter();
            facts.messages = asked
                .filter(|id| known.contains_key(*id))
                .cloned()
                .collect();
        }
        Ok(facts)
    }

    /// The gates of `cook.toml` and of every slice.
    fn every_gate(&self) -> Vec<String> {
        let own: Vec<String> = self.slice_commands.values().flatten().cloned().collect();
        let gates = merged(self.config.gate_specs(), &own);
        gates.into_iter().map(|gate| gate.run).collect()
    }

    fn specs_of(&self, slice: &str) -> Vec<GateSpec> {
        let own = self
            .slice_commands
            .get(slice)
            .map_or(&[][..], Vec::as_slice);
        merged(self.config.gate_specs(), own)
    }

    fn gates_of(&self, slice: &str) -> Vec<String> {
        self.specs_of(slice)
            .into_iter()
            .map(|gate| gate.run)
            .collect()
    }

    /// Runs trusted gates that have no receipt of HEAD's tree yet.
    fn complete(&self, head: &Head, commands: &BTreeSet<Vec<String>>) -> Result<(), Failure> {
        let (Some(commit), Some(tree)) = (&head.commit, &head.tree) else {
            return Ok(());
        };
        let (receipts, trust) = self.gates_here()?;
        let slices = self.slice_commands.values().flatten().cloned();
        let all = merged(self.config.gate_specs(), &slices.collect::<Vec<_>>());
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

/// The commands that decide what passes, of the settings and of slices: a file that one of
/// them names is not a plain source.
pub fn gate_commands<'a>(
    config: &Config,
    of_slices: impl IntoIterator<Item = &'a String>,
) -> Vec<String> {
    let own = config.gate_specs().into_iter().map(|gate| gate.run);
    own.chain(of_slices.into_iter().cloned()).collect()
}

/// What edits take away from the tests.
pub fn lost_tests(edits: &[Edit], gates: &[String]) -> Vec<Loss> {
    let edited: Vec<Edited> = edits
        .iter()
        .filter_map(|edit| {
            let (before, after) = edit.texts.as_ref()?;
            Some(Edited {
                path: &edit.change.path,
                class: class_of(&edit.change.path, gates),
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

fn standing(answer: AnchorAnswer) -> BriefStanding {
    BriefStanding {
        verdict: answer.verdict,
        why: answer.why,
        now: answer.now,
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
