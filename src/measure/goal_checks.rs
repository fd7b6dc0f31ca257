//! A goal's checks at a commit: each runs in a clean room with the frozen files restored. If all are green, the tests
//! of the base are run on the commit's code as well.
//!
//! Invariants: only trusted commands run. Hidden files are placed in rooms of their own, whose caches are deleted with
//! them. No output of a run over hidden files is kept.

use super::gates::explain_untrusted;
use super::planted::{Field, Green, plant_defects};
use super::world::World;
use crate::prelude::*;
use crate::trial::{Accepted, Bundle, lay_down, list_paths};
use cook_protocol::model::{CheckRun, Goal, GoalCheck, GoalFound, Place};
use cook_protocol::trials::{Outcomes, TrialLine, Weight};
use cook_repo::receipt::{Look, TakenBack, TrialRoom, plan_gate};

/// Maximum size of a hidden file in bytes.
pub(crate) const MAX_HIDDEN: u64 = 1 << 20;
/// Maximum number of defects, and of minutes, for testing a check whose test file came with the work.
const DEFECTS: (usize, u64) = (12, 3);
/// Maximum number of bytes of a run's message that are shown.
const SAID: usize = 300;

/// The gate of a check: the settings may contain options for its command.
pub(crate) fn spec_of(goal: &Goal, check: &GoalCheck, settings: &Config) -> GateSpec {
    let mut own = settings.gate_specs().into_iter();
    let mut gate = own
        .rfind(|gate| gate.run == check.run)
        .unwrap_or_else(|| plan_gate(&check.run));
    gate.name.clone_from(&check.run);
    gate.timeout_ms = goal.time_ms.0;
    gate.place = Place::CleanRoom;
    gate.required = true;
    gate
}

impl World<'_> {
    /// Runs a goal's checks at a commit (full id).
    pub(crate) fn ask_goal(&self, goal: &Goal, commit: &str) -> Result<GoalFound> {
        let settings = read_settings(goal)?;
        let mut world = World::new(self.workspace, &settings, self.snapshot);
        world.runs = self.runs;
        let bundle = world.find_bundle(goal)?;
        let mut found = GoalFound {
            commit: commit.to_owned(),
            ..GoalFound::default()
        };
        let mut runs = Vec::new();
        for check in &goal.checks {
            let gate = spec_of(goal, check, &settings);
            let laid = lay_down(
                self.repo,
                &settings,
                &gate,
                (&bundle, commit),
                &Accepted::new(),
                &BTreeSet::new(),
            )?;
            let mut new_test = None;
            let mut told = match (world.explain_check(&gate.run)?, check.hidden) {
                (Some(why), _) => not_known(why, format!("cook trust {}", quote_word(&gate.run))),
                (None, true) => without_words(tell(&gate, world.run_hidden(goal, &laid, &gate)?)),
                (None, false) => {
                    let (run, outcomes) = world.run_at(&laid, &gate)?;
                    new_test = world.find_new_test(goal, &bundle, &gate, &outcomes)?;
                    let silent = match run.has_passed() {
                        true => world.find_silent(goal, &gate, &outcomes)?,
                        false => None,
                    };
                    let told = tell(&gate, run);
                    match silent {
                        None => told,
                        Some(why) => CheckRun {
                            verdict: CheckVerdict::Red,
                            why: clean(&why, Lines::Fold),
                            ..told
                        },
                    }
                }
            };
            let laid_over = self.repo.changes(Some(commit), &laid)?;
            if let (CheckVerdict::Red, false, [first, ..]) =
                (told.verdict, check.hidden, &laid_over[..])
            {
                let path = clean(&first.path, Lines::Fold);
                told.why = format!("{}, with `{path}` as it was frozen", told.why);
                told.next = format!("git diff {} -- {}", goal.base, quote_word(&first.path));
            }
            if told.verdict == CheckVerdict::Green && !check.hidden {
                let (own, _) = world.run_at(commit, &gate)?;
                if !own.has_passed() {
                    let mut own = tell(&gate, own);
                    own.why = format!("{}, with the files of this commit", own.why);
                    told = own;
                } else if let Some(came) = world
                    .find_written(goal, (&bundle, commit), &gate)?
                    .or(new_test)
                    && let Some(why) = world.doubt_check(goal, commit, (&gate, &own), &came)?
                {
                    told = not_known(why, format!("git diff {}", goal.base));
                }
                let receipt = told.receipt.clone();
                runs.extend(receipt.map(|receipt| GateRun::new(gate.clone(), Some(receipt), None)));
            }
            found.checks.push(told);
        }
        let is_fit = |(check, run): (&GoalCheck, &CheckRun)| {
            // A clone does not have the hidden files.
            run.verdict == CheckVerdict::Green
                || check.hidden && run.verdict == CheckVerdict::NotKnown
        };
        if goal.checks.iter().zip(&found.checks).all(is_fit) {
            let tried = world.try_change(&goal.base, commit, &runs, &|_| {})?;
            let lines = tried.lines.into_iter();
            let is_told =
                |line: &TrialLine| line.weight != Weight::Shown || line.declared.is_some();
            found.lines = lines.filter(is_told).collect();
        }
        Ok(found)
    }

    fn find_bundle(&self, goal: &Goal) -> Result<Bundle> {
        let found = self.workspace.read_kept_tests(&goal.tests)?;
        found.ok_or_else(|| {
            Failure::state(
                Code::LogUnreadable,
                "the files that the goal froze are not in its log",
            )
        })
    }

    fn explain_check(&self, run: &str) -> Result<Option<String>> {
        let (_, trust) = self.gates_here()?;
        Ok(explain_untrusted(trust, run).or(self.explain_untrusted_setup(trust)))
    }

    /// The result of a check at a commit, which may be a synthetic one; from its receipt if there is one.
    fn run_at(&self, commit: &str, gate: &GateSpec) -> Result<(GateRun, Outcomes)> {
        let runner = self.runner()?;
        let tree = self.repo.find_tree(commit)?;
        let kept = runner.receipts.find(&gate.run, &tree)?;
        let anew = self.workspace.caches == Caches::Empty || kept.is_some_and(|it| it.timed_out);
        let look = anew.then_some(Look::Again);
        let tried = TrialRoom::new(&runner, self.workspace.caches).run(commit, gate, look)?;
        let mut run = tried.run;
        let tests = tried.outcomes.tests.iter();
        let failed = tests.filter(|(_, test)| test.result == TestResult::Failed);
        run.failed = failed.map(|(name, _)| name.clone()).collect();
        Ok((run, tried.outcomes))
    }

    /// Why a green run of a check proves nothing: a test that was red at the base is skipped, or no test ran although
    /// some ran at the base. `None` if it counts.
    fn find_silent(&self, goal: &Goal, gate: &GateSpec, now: &Outcomes) -> Result<Option<String>> {
        let (_, then) = self.run_at(&goal.base, gate)?;
        let result = |of: &Outcomes, name: &String| of.tests.get(name).map(|test| test.result);
        let mut red = then.tests.keys();
        let skipped = red.find(|name| {
            result(&then, name) == Some(TestResult::Failed)
                && result(now, name) == Some(TestResult::Skipped)
        });
        if let Some(name) = skipped {
            return Ok(Some(format!("`{name}` was red at the base and is skipped")));
        }
        let is_silent = now.tests.is_empty() && !now.is_partial && !then.tests.is_empty();
        let names_passed = !now.omits_passed;
        Ok((is_silent && names_passed).then(|| {
            let ran = count_noun(then.tests.len(), "test");
            format!("it is green and ran no test; at the base it ran {ran}")
        }))
    }

    /// Runs a check in a room that also holds the hidden files.
    pub(crate) fn run_hidden(&self, goal: &Goal, commit: &str, gate: &GateSpec) -> Result<GateRun> {
        let mut files = Vec::new();
        let dir = self.workspace.find_hidden()?;
        for hidden in &goal.hidden {
            let Some(bytes) = find_hidden(&dir, &hidden.sha256) else {
                return Ok(GateRun::new(
                    gate.clone(),
                    None,
                    Some("a hidden file is not here"),
                ));
            };
            files.push(TakenBack {
                path: hidden.path.clone(),
                bytes: Some(bytes),
                runs: false,
            });
        }
        let gates = std::slice::from_ref(gate);
        let mut runs = self
            .runner()?
            .run_without(commit, &files, gates, Caches::Empty)?;
        Ok(runs
            .pop()
            .unwrap_or_else(|| GateRun::new(gate.clone(), None, None)))
    }

    /// A passed test that came with the work, unless a test that was red at the base is green now: without one, only
    /// the work's own tests support the check.
    fn find_new_test(
        &self,
        goal: &Goal,
        bundle: &Bundle,
        gate: &GateSpec,
        now: &Outcomes,
    ) -> Result<Option<String>> {
        let (_, then) = self.run_at(&goal.base, gate)?;
        let green = now.tests.iter();
        let green = green.filter(|(_, test)| test.result == TestResult::Passed);
        let mut new = None;
        for (name, test) in green {
            let is_held = match &test.file {
                Some(file) => bundle.holds(file),
                None => bundle.holds_of(gate),
            };
            match then.tests.get(name).map(|test| test.result) {
                Some(TestResult::Failed) => return Ok(None),
                None if is_held => return Ok(None),
                None => {
                    new.get_or_insert(name);
                }
                Some(TestResult::Passed | TestResult::Skipped) => {}
            }
        }
        Ok(new.cloned())
    }

    /// Describes why a check is red at the base: which test failed or, if none ran, the runner's message.
    pub(crate) fn describe_red(&self, goal: &Goal, check: &GoalCheck) -> Result<String> {
        let settings = read_settings(goal)?;
        let mut world = World::new(self.workspace, &settings, self.snapshot);
        world.runs = self.runs;
        let gate = spec_of(goal, check, &settings);
        let (run, outcomes) = world.run_at(&goal.base, &gate)?;
        let mut why = tell(&gate, run).why;
        let mut tests = outcomes.tests.values();
        let names_tests = !outcomes.unloaded.is_empty() || outcomes.nothing_ran;
        if names_tests && !tests.any(|test| test.result == TestResult::Failed) {
            why.push_str("; no test of it ran and failed, so it may be red for another reason than the missing work");
        }
        if let Some((what, line)) = outcomes.unloaded.first_key_value() {
            why.push_str(&format!(": `{what}` does not load ({line})"));
        }
        Ok(clean(&why, Lines::Fold))
    }

    /// A file that a check names and that came with the work.
    fn find_written(
        &self,
        goal: &Goal,
        (bundle, commit): (&Bundle, &str),
        gate: &GateSpec,
    ) -> Result<Option<String>> {
        let (then, now) = (self.repo.files(&goal.base)?, self.repo.files(commit)?);
        let mut named = list_paths(&gate.run).into_iter();
        let is_written = |path: &String| {
            now.contains_key(path) && !then.contains_key(path) && !bundle.holds(path)
        };
        Ok(named.find(is_written))
    }

    /// Why a green check proves nothing: the test that it runs came with the work and notices no defect. `None` if it
    /// counts.
    fn doubt_check(
        &self,
        goal: &Goal,
        commit: &str,
        (gate, run): (&GateSpec, &GateRun),
        came: &str,
    ) -> Result<Option<String>> {
        let Some(receipt) = &run.receipt else {
            return Ok(None);
        };
        let edits = self.repo.edits(&goal.base, commit)?;
        let runner = self.runner()?;
        let without = |files: &[TakenBack], gate: &GateSpec| {
            runner.run_without(
                commit,
                files,
                std::slice::from_ref(gate),
                self.workspace.caches,
            )
        };
        let planted = plant_defects(
            &Field {
                repo: self.repo,
                base: &goal.base,
                head: commit,
                edits: &edits,
                commands: std::slice::from_ref(&gate.run),
                greens: &[Green {
                    gate: gate.clone(),
                    ms: receipt.duration_ms.0,
                    tail: receipt.tail.clone(),
                }],
                run: &without,
                tell: &|_| {},
            },
            DEFECTS,
        )?;
        Ok((planted.tally.killed == 0).then(|| {
            format!(
                "[{}] `{}` came after the goal was set, and notices none of {} defects planted in the work",
                Code::CheckWrittenByAgent,
                clean(came, Lines::Fold),
                planted.tally.count_planted()
            )
        }))
    }
}

/// The content of a file in the directory with this digest, whatever its name.
fn find_hidden(dir: &Path, digest: &str) -> Option<Vec<u8>> {
    /// Maximum number of files of a directory that are read.
    const MOST: usize = 1_000;
    let read = |place: &Path| {
        let bytes = disk::read(place, MAX_HIDDEN, Links::Refuse)
            .ok()
            .flatten()?;
        (sha256(&bytes) == digest).then_some(bytes)
    };
    let others = || {
        let mut all = std::fs::read_dir(dir).ok()?.flatten().take(MOST);
        all.find_map(|entry| read(&entry.path()))
    };
    read(&dir.join(digest)).or_else(others)
}

/// The settings that were frozen with the goal.
pub(crate) fn read_settings(goal: &Goal) -> Result<Config> {
    Config::parse(&goal.settings)
        .map_err(|why| Failure::state(Code::LogUnreadable, format!("the goal's settings: {why}")))
}

fn not_known(why: String, next: String) -> CheckRun {
    CheckRun {
        verdict: CheckVerdict::NotKnown,
        why,
        next,
        receipt: None,
    }
}

fn tell(gate: &GateSpec, run: GateRun) -> CheckRun {
    let show = |verdict, why: String| CheckRun {
        verdict,
        why: clean(&why, Lines::Fold),
        next: gate.run.clone(),
        receipt: run.receipt.clone(),
    };
    match (&run.problem, &run.receipt) {
        (Some(problem), _) => show(CheckVerdict::NotKnown, problem.clone()),
        (None, None) => show(CheckVerdict::NotKnown, "it did not run".to_owned()),
        (None, Some(receipt)) if receipt.has_passed() => {
            show(CheckVerdict::Green, "green".to_owned())
        }
        (None, Some(receipt)) if receipt.timed_out => {
            let seconds = gate.timeout_ms / 1000;
            let why = format!("it did not end in {seconds} s: `--time` gives it more");
            show(CheckVerdict::NotKnown, why)
        }
        (None, Some(receipt)) => {
            let tail = without_escapes(&receipt.tail);
            let mut lines = tail.lines().rev().map(str::trim);
            let last = lines.find(|line| !line.is_empty()).unwrap_or("no output");
            let first = run.failed.first().map_or(last, String::as_str);
            let first: String = first.chars().take(SAID).collect();
            show(
                CheckVerdict::Red,
                format!("it {}: {first}", receipt.ending()),
            )
        }
    }
}

/// Removes all details of a check that needs hidden files, except whether it is green.
fn without_words(run: CheckRun) -> CheckRun {
    let why = match run.verdict {
        CheckVerdict::Red => "red".to_owned(),
        CheckVerdict::Green | CheckVerdict::NotKnown => run.why,
    };
    CheckRun {
        why,
        next: String::new(),
        receipt: None,
        ..run
    }
}
