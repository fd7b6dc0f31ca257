//! Runs gates and makes their receipts.
//!
//! Also runs the stop verifier: its checks of the commit in a clean room, and the control plane next to the log.

use super::programs::{identify, words};
use super::receipts::{CHANCE, FoundBy, Look, RED, folder, stop_verifier_argv};
use super::run_place::{Found, Gates, Lent, Order, RunPlace, inherit, lend_downloads};
use super::{Receipts, seal};
use crate::process::{Long, Outcome as Ended, ProcessError, on_path, run};
use cook_protocol::diagnostic::{Code, Failure, last_line};
use cook_protocol::digest::sha256;
use cook_protocol::machine::{GateRun, StopVerifierRun};
use cook_protocol::model::{
    Caches, Count, GateSpec, Gone, Place, Receipt, STOP_VERIFIER, Timestamp,
};
use cook_protocol::trials::{Outcomes, fits_path};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

const SETUP_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// The time limit of a command that only a plan names; the same as the default in `cook.toml`.
const PLAN_GATE_TIMEOUT: Duration = Duration::from_secs(20 * 60);
/// The number of bytes of each stream that a receipt itself holds.
const TAIL: usize = 1500;

/// A completed run.
pub(super) struct Ran {
    pub ended: Ended,
    started_at: String,
    outcomes: Outcomes,
}

impl Gates<'_> {
    /// Runs gates at a commit (full id), one after another, in a clean room that holds only that commit when each gate
    /// begins; gates for the worktree run there.
    ///
    /// # Errors
    /// When the commit cannot be checked out, a receipt cannot be stored, or cook is interrupted. A gate that cannot be
    /// started is not an error: its run states the problem.
    pub fn run_at(
        &self,
        commit: &str,
        gates: &[GateSpec],
        caches: Caches,
    ) -> Result<Vec<GateRun>, Failure> {
        let mut room = None;
        let mut runs = Vec::new();
        for gate in gates {
            if gate.place == Place::Worktree {
                runs.push(self.run_here(gate)?);
                continue;
            }
            let place = match &mut room {
                Some(place) => place,
                none => none.insert(self.room(caches)?),
            };
            let run = self.run_in(place, commit, gate)?;
            let rerun = |place: &mut RunPlace| self.run_one(place, gate);
            let mut run = self.confirm(commit, run, rerun)?;
            if let Some(receipt) = &run.receipt {
                let other = self.remark_on(receipt)?;
                run.remarks.extend(other);
            }
            runs.push(run);
        }
        Ok(runs)
    }

    /// The remark about a receipt's program, if there is one.
    ///
    /// # Errors
    /// When a receipt cannot be opened.
    pub fn remark_on(&self, receipt: &Receipt) -> Result<Option<String>, Failure> {
        compare(self.receipts, &self.trust.programs(), receipt)
    }

    pub(super) fn room(&self, caches: Caches) -> Result<RunPlace<'_>, Failure> {
        RunPlace::room(self, self.sandbox, caches)
    }

    /// Removes the remains of a killed run that had empty caches.
    ///
    /// # Errors
    /// When the room cannot be made or removed.
    pub fn clear_empty_room(&self) -> Result<(), Failure> {
        self.room(Caches::Empty).map(drop)
    }

    /// Runs one gate at a commit, in a room that is set up for it.
    pub(super) fn run_in(
        &self,
        place: &mut RunPlace,
        commit: &str,
        gate: &GateSpec,
    ) -> Result<GateRun, Failure> {
        match self.prepare(place, commit)? {
            None => self.run_one(place, gate),
            problem => Ok(run_of(gate, (None, problem), place)),
        }
    }

    /// Makes the place hold the commit, set up for its gates. Returns the problem, if there is one.
    pub(super) fn prepare(
        &self,
        place: &mut RunPlace,
        commit: &str,
    ) -> Result<Option<String>, Failure> {
        place.hold(commit)?;
        if !place.lacking.is_empty() {
            let what = place.lacking.join("; ");
            return Ok(Some(format!("the commit is not reproducible here: {what}")));
        }
        let runs = self.set_up(place, commit)?;
        Ok(runs.iter().find(|run| !run.has_passed()).map(|red| {
            let command = &red.gate.run;
            let why = match (&red.problem, &red.receipt) {
                (None, Some(receipt)) => {
                    let said = last_line(&receipt.tail).unwrap_or("no output");
                    format!("it {}: {said}", receipt.ending())
                }
                (problem, _) => problem.clone().unwrap_or_default(),
            };
            format!("setup `{command}` failed: {why}")
        }))
    }

    /// Runs the setup commands at a commit, as before its gates; no runs if the room is set up already.
    ///
    /// # Errors
    /// As [`Gates::run_at`].
    pub fn set_up_at(&self, commit: &str, caches: Caches) -> Result<Vec<GateRun>, Failure> {
        if self.settings.setup().next().is_none() {
            return Ok(Vec::new());
        }
        let mut place = self.room(caches)?;
        place.hold(commit)?;
        match place.lacking.is_empty() {
            true => self.set_up(&mut place, commit),
            false => Ok(Vec::new()),
        }
    }

    /// Runs the setup commands until one is red.
    fn run_setup(&self, place: &mut RunPlace) -> Result<Vec<GateRun>, Failure> {
        let mut runs = Vec::new();
        for command in self.settings.setup() {
            let mut gate = plan_gate(command);
            "setup".clone_into(&mut gate.name);
            command.dir().clone_into(&mut gate.dir);
            gate.timeout_ms = SETUP_TIMEOUT.as_millis() as u64;
            gate.network = self.settings.network;
            let run = match words(&gate.run) {
                Ok(argv) => self.run(place, &gate, &argv, false)?,
                Err(why) => run_of(&gate, (None, Some(why.message)), place),
            };
            let is_red = !run.has_passed();
            runs.push(run);
            if is_red {
                break;
            }
        }
        Ok(runs)
    }

    /// Runs the setup commands until one is red, unless the room is already set up for the same inputs.
    fn set_up(&self, place: &mut RunPlace, commit: &str) -> Result<Vec<GateRun>, Failure> {
        if self.settings.setup().next().is_none() {
            return Ok(Vec::new());
        }
        let stamp = place.setup_stamp()?;
        if place.is_set_up(&stamp) {
            return Ok(Vec::new());
        }
        place.note_setup(None)?;
        let commands: Vec<&str> = self.settings.setup().map(|command| &**command).collect();
        let lent = match place.home() {
            Some(home) => lend_downloads(&home, &commands),
            None => Lent::default(),
        };
        place.lending.clone_from(&lent.remarks);
        let mut runs = self.run_setup(place)?;
        if let (Some(red), true) = (runs.iter().find(|run| !run.has_passed()), lent.is_any()) {
            // The downloads may be damaged, or refer to missing files.
            let command = red.gate.run.clone();
            lent.take_back()?;
            place.lending.push(format!(
                "setup `{command}` failed with {}, so it ran again without",
                lent.describe()
            ));
            place.hold(commit)?;
            runs = self.run_setup(place)?;
        }
        if runs.iter().any(|run| !run.has_passed()) {
            return Ok(runs);
        }
        place.note_setup(Some(&stamp))?;
        // Files that setup created outside of the caches are removed, because they are not part of the commit.
        place.hold(commit)?;
        Ok(runs)
    }

    /// Runs one command in a place that is prepared for it.
    pub(super) fn run_one(
        &self,
        place: &mut RunPlace,
        gate: &GateSpec,
    ) -> Result<GateRun, Failure> {
        match words(&gate.run) {
            Ok(argv) => self.run(place, gate, &argv, true),
            Err(why) => Ok(run_of(gate, (None, Some(why.message)), place)),
        }
    }

    /// Runs one gate in the worktree as it is: feedback, but not proof.
    ///
    /// # Errors
    /// As [`Gates::run_at`].
    pub fn run_here(&self, gate: &GateSpec) -> Result<GateRun, Failure> {
        let mut here = RunPlace::worktree(self)?;
        self.run_one(&mut here, gate)
    }

    /// Runs a gate with these words. With `hooked`, test runners append the outcome of each test to a file.
    pub(super) fn run(
        &self,
        place: &mut RunPlace,
        gate: &GateSpec,
        argv: &[String],
        hooked: bool,
    ) -> Result<GateRun, Failure> {
        if let Some(tell) = &self.tell {
            tell(&format!("{}: `{}`", gate.name, shell_words::join(argv)));
        }
        let order = &Order { gate, argv };
        let program = place.program(&argv[0]);
        let found = match &program {
            Found::Nothing => {
                let word = &argv[0];
                let path = std::env::var_os("PATH").unwrap_or_default();
                let how = match on_path(word, &path) {
                    Some(file) if file.starts_with(self.repo.root()) => {
                        "entries of PATH inside the repository are left out: have `[clean_room] setup` make what the gate needs, and name its place"
                    }
                    Some(_) => "the present PATH has it: `cook trust --tools` trusts that one",
                    None => "nor on the present one: install it",
                };
                let why = format!(
                    "the program `{word}` is not on the PATH that this machine's user trusted; {how}"
                );
                return Ok(run_of(gate, (None, Some(why)), place));
            }
            Found::Machine(file) => identify(file),
            Found::Path => None,
        };
        let mut ran = match self.run_once(place, order, &program, hooked)? {
            Ok(ran) => ran,
            Err(why) => return Ok(run_of(gate, (None, Some(why)), place)),
        };
        let mut changed = place.find_changed();
        let is_red = ran.ended.code != Some(0) && !ran.ended.has_timed_out();
        if is_red && changed.is_none() && hooked {
            ran = self.run_without_hooks(place, order, &program, ran)?;
            changed = place.find_changed();
        }
        let Ran {
            ended,
            started_at,
            outcomes,
        } = ran;
        let outcomes = serde_json::to_vec(&outcomes).unwrap_or_default();
        let receipt = seal(Receipt {
            command: gate.run.clone(),
            argv: argv.to_vec(),
            cwd: folder(gate).to_owned(),
            exit_code: ended.code,
            timed_out: ended.has_timed_out(),
            duration_ms: Count(ended.duration.as_millis() as u64),
            stdout_sha256: ended.stdout.sha256.clone(),
            stderr_sha256: ended.stderr.sha256.clone(),
            outcomes_sha256: Some(sha256(&outcomes)),
            tail: tail(&ended),
            head_sha: place.commit.clone(),
            tree_oid: place.tree.clone(),
            scope_sha256: match &place.commit {
                Some(commit) => self.measure_scope(commit, &gate.paths)?,
                None => None,
            },
            place: place.kind(),
            caches: place.caches(),
            sandbox: place.sandbox(),
            program: found,
            preparation_sha256: self.preparation(gate),
            dropped_env: place.environment.dropped.clone(),
            started_at: Timestamp::Text(started_at),
            id: String::new(),
        });
        let problem = match (ended.swept, changed) {
            (false, _) => Some("a process it started could not be ended".to_owned()),
            (true, Some(path)) => Some(format!(
                "`{path}`, a file of the commit, was changed while it ran, so the result says nothing about the commit"
            )),
            (true, None) => None,
        };
        // A receipt belongs to a commit, so a run on altered files stores none.
        if !place.is_altered() {
            let streams = [&ended.stdout, &ended.stderr];
            let found_by = match (problem.is_none(), place.look, place.mixed) {
                (false, ..) => FoundBy::Id,
                (true, Some(look), _) => FoundBy::Look(look),
                (true, None, true) => FoundBy::Tree,
                (true, None, false) => FoundBy::Command,
            };
            self.receipts.keep(&receipt, streams, &outcomes, found_by)?;
        }
        Ok(run_of(gate, (Some(receipt), problem), place))
    }

    /// Repeats a red run without hooks, in case the hooks made it red: that is so if it is green without hooks and red
    /// with them again. A run that is red by chance stays red. Trials are not repeated: the gate was green with hooks
    /// at its head.
    fn run_without_hooks(
        &self,
        place: &mut RunPlace,
        order: &Order,
        program: &Found,
        red: Ran,
    ) -> Result<Ran, Failure> {
        let Some(commit) = place.commit.clone().filter(|_| !place.mixed) else {
            return Ok(red);
        };
        place.hold(&commit)?;
        let bare = self.run_once(place, order, program, false)?;
        let Ok(bare) = bare else { return Ok(red) };
        if bare.ended.code != Some(0) {
            return Ok(red);
        }
        place.hold(&commit)?;
        let again = self.run_once(place, order, program, true)?;
        Ok(match again {
            Ok(again) if again.ended.code != Some(0) => bare,
            _ => red,
        })
    }

    /// Runs the command to its end; the inner error is the reason why it could not be run.
    pub(super) fn run_once(
        &self,
        place: &RunPlace,
        order: &Order,
        program: &Found,
        hooked: bool,
    ) -> Result<Result<Ran, String>, Failure> {
        place.lay_hooks()?;
        let own = Duration::from_millis(order.gate.timeout_ms);
        let start = place.start(order, program, hooked);
        let started_at = self.clock.now();
        let began = SystemTime::now();
        let ended = run(&Long {
            argv: &start.argv,
            dir: &start.dir,
            env: &start.env,
            timeout: self.patience.map_or(own, |patience| own.min(patience)),
        });
        match ended {
            Err(error @ ProcessError::Interrupted(_)) => {
                Err(Failure::state(Code::Interrupted, error.to_string()))
            }
            Err(ProcessError::Start { program, cause }) => {
                Ok(Err(format!("`{program}` could not be started: {cause}")))
            }
            Err(error) => Ok(Err(error.to_string())),
            Ok(ended) => Ok(Ok(Ran {
                outcomes: place.read_outcomes(&ended, began),
                ended,
                started_at,
            })),
        }
    }

    /// The newest receipt of a gate for the files that it depends on at a commit, green or red, with the same
    /// preparation as now.
    ///
    /// # Errors
    /// When a receipt cannot be opened, or git does not answer.
    pub fn find_asked(&self, commit: &str, gate: &GateSpec) -> Result<Option<Receipt>, Failure> {
        self.find_look(commit, gate, None)
    }

    pub(super) fn find_look(
        &self,
        commit: &str,
        gate: &GateSpec,
        look: Option<Look>,
    ) -> Result<Option<Receipt>, Failure> {
        let scope = match look {
            None => self.measure_scope(commit, &gate.paths)?,
            Some(_) => None,
        };
        let of = match scope {
            Some(scope) => scope,
            None => self.repo.find_tree(commit)?,
        };
        let found = self.receipts.find_gate(gate, &of, look)?;
        let prepared = self.preparation(gate);
        Ok(found.filter(|receipt| receipt.preparation_sha256 == prepared))
    }

    /// A digest of the files of a commit that match these paths; `None` without paths, which means every file.
    fn measure_scope(&self, commit: &str, paths: &[String]) -> Result<Option<String>, Failure> {
        if paths.is_empty() {
            return Ok(None);
        }
        let mut text = String::new();
        for (path, entry) in self.repo.files(commit)? {
            if paths.iter().any(|pattern| fits_path(pattern, &path)) {
                text.push_str(&format!("{} {} {path}\0", entry.mode, entry.id));
            }
        }
        Ok(Some(sha256(text)))
    }

    /// A digest of the preparation that a receipt must have to stand for a run of the gate now.
    pub fn preparation(&self, gate: &GateSpec) -> String {
        let network = if gate.network {
            " with the network"
        } else {
            ""
        };
        sha256(format!("{}{network}", self.settings.preparation()))
    }

    /// Repeats a green run if the command was red at the same tree before, and adds a remark about that.
    pub(super) fn confirm(
        &self,
        commit: &str,
        mut run: GateRun,
        rerun: impl Fn(&mut RunPlace) -> Result<GateRun, Failure>,
    ) -> Result<GateRun, Failure> {
        let is_green = |run: &GateRun| {
            run.problem.is_none() && run.receipt.as_ref().is_some_and(Receipt::has_passed)
        };
        let Some(green) = run.receipt.as_ref().filter(|_| is_green(&run)) else {
            return Ok(run);
        };
        let Some(red) = self.receipts.find_red(RED, green)? else {
            let known = self.tell_chance(green)?;
            run.remarks.extend(known);
            return Ok(run);
        };
        for number in 1..=FRESH_RUNS {
            let mut place = self.room(Caches::Empty)?;
            run = match self.prepare(&mut place, commit)? {
                None => rerun(&mut place)?,
                problem => run_of(&run.gate, (None, problem), &place),
            };
            if !is_green(&run) {
                let said = format!("number {number}, with empty caches, was red again");
                run.remarks.push(tell(&red, &said));
                return Ok(run);
            }
        }
        self.receipts.note_chance(&red)?;
        run.remarks.push(tell_confirmed(&red));
        Ok(run)
    }

    /// The remark about a green receipt whose command was red at the same tree before, if that was found to be chance.
    ///
    /// # Errors
    /// When a receipt cannot be opened.
    pub fn tell_chance(&self, green: &Receipt) -> Result<Option<String>, Failure> {
        let red = self.receipts.find_red(CHANCE, green)?;
        Ok(red.as_ref().map(tell_confirmed))
    }

    /// Runs the stop verifier's checks at a commit, in a clean room. The network is available if one of its gates has
    /// it, and the time limit is that of all its gates together. The other half of the stop verifier,
    /// [`Gates::control_plane`], reads the log, which is not in a room.
    ///
    /// # Errors
    /// As [`Gates::run_at`].
    pub fn stop_verifier(
        &self,
        commit: &str,
        caches: Caches,
        network: bool,
        timeout: Duration,
    ) -> Result<StopVerifierRun, Failure> {
        if let Some(problem) = self.control_plane()? {
            return Ok(not_run(problem));
        }
        let mut place = self.room(caches)?;
        if let Some(problem) = self.prepare(&mut place, commit)? {
            return Ok(not_run(problem));
        }
        let gate = GateSpec {
            timeout_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
            network,
            ..plan_gate(STOP_VERIFIER)
        };
        let argv = stop_verifier_argv();
        let rerun = |place: &mut RunPlace| -> Result<GateRun, Failure> {
            let mut run = self.run(place, &gate, &argv, true)?;
            run.remarks.clear();
            Ok(run)
        };
        let run = rerun(&mut place)?;
        drop(place);
        let run = self.confirm(commit, run, rerun)?;
        Ok(StopVerifierRun {
            receipt: run.receipt,
            problem: run.problem,
            remarks: run.remarks,
        })
    }

    /// Checks the control plane next to the log with this program itself. Returns the problem, if there is one.
    fn control_plane(&self) -> Result<Option<String>, Failure> {
        let Ok(own) = std::env::current_exe() else {
            return Ok(Some("cook does not find its own program".to_owned()));
        };
        let argv = [
            own.into_os_string(),
            "verify".into(),
            "control-plane".into(),
        ];
        let root = self.repo.root();
        let mut env = inherit().variables;
        env.insert("PWD".into(), root.into());
        let ended = run(&Long {
            argv: &argv,
            dir: root,
            env: &env,
            timeout: CONTROL_PLANE_TIMEOUT,
        });
        match ended {
            Ok(ended) if ended.code == Some(0) => Ok(None),
            Ok(ended) => {
                let said = tail(&ended);
                let said = last_line(&said).unwrap_or("no output");
                Ok(Some(format!("`cook verify control-plane` fails: {said}")))
            }
            Err(error @ ProcessError::Interrupted(_)) => {
                Err(Failure::state(Code::Interrupted, error.to_string()))
            }
            Err(error) => Ok(Some(error.to_string())),
        }
    }
}

/// The run of a gate in a place, with the place's remarks.
pub(super) fn run_of(
    gate: &GateSpec,
    (receipt, problem): (Option<Receipt>, Option<String>),
    place: &RunPlace,
) -> GateRun {
    GateRun {
        remarks: place.remarks(),
        ..GateRun::new(gate.clone(), receipt, problem.as_deref())
    }
}

/// The last lines of stdout and stderr.
pub(super) fn tail(ended: &Ended) -> String {
    [&ended.stdout, &ended.stderr]
        .map(|stream| stream.last_lines(TAIL))
        .concat()
}

/// The gate for a command that only a plan names.
pub fn plan_gate(command: &str) -> GateSpec {
    GateSpec {
        name: command.to_owned(),
        run: command.to_owned(),
        timeout_ms: PLAN_GATE_TIMEOUT.as_millis() as u64,
        required: true,
        must_fail_at_basis: Gone,
        network: false,
        place: Place::CleanRoom,
        dir: String::new(),
        paths: Vec::new(),
    }
}

/// The configured gates, then the commands that only a plan names, without duplicates.
pub fn merge_gates(mut gates: Vec<GateSpec>, commands: &[String]) -> Vec<GateSpec> {
    let argv = |command: &str| words(command).unwrap_or_else(|_| vec![command.to_owned()]);
    let mut seen: BTreeSet<Vec<String>> = gates.iter().map(|gate| argv(&gate.run)).collect();
    for command in commands {
        if seen.insert(argv(command)) {
            gates.push(plan_gate(command));
        }
    }
    gates
}

/// The number of runs with empty caches that must all be green.
const FRESH_RUNS: usize = 3;

fn tell_confirmed(red: &Receipt) -> String {
    let said = format!("{FRESH_RUNS} in a row, with empty caches, were green");
    tell(red, &said)
}

fn tell(red: &Receipt, of_runs: &str) -> String {
    format!(
        "`{}` {} (receipt:{}) and then passed at the same tree; of the runs after that, {of_runs}",
        red.command,
        red.ending(),
        red.id
    )
}

/// The remark for a gate whose program is neither the one of its first green run nor one that the user accepted.
fn compare(
    receipts: &Receipts,
    taken: &BTreeMap<String, String>,
    receipt: &Receipt,
) -> Result<Option<String>, Failure> {
    let (Some(name), Some(now)) = (receipt.argv.first(), &receipt.program) else {
        return Ok(None);
    };
    if taken.get(name) == Some(&now.sha256) {
        return Ok(None);
    }
    let known = receipts.find_program(name)?;
    Ok(known
        .filter(|known| known.sha256 != now.sha256)
        .map(|known| {
            format!(
                "`{name}` is another program ({}) than at its first green run ({}); `cook trust --program {name}` takes it",
                now.path, known.path
            )
        }))
}

const CONTROL_PLANE_TIMEOUT: Duration = Duration::from_secs(60 * 60);

fn not_run(problem: String) -> StopVerifierRun {
    StopVerifierRun {
        receipt: None,
        problem: Some(problem),
        remarks: Vec::new(),
    }
}
