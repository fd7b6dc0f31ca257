//! Runs gates on trees that no clone has: mixed from two commits, with some files restored, or outside of the clean
//! room with the user's environment and the worktree's caches. A gate that is green outside and red in the room shows
//! that the room lacks something, and not the commit.

use super::gate_run::run_of;
use super::receipts::Look;
use super::run_place::{Gates, Order, RunPlace};
use crate::disk::{self, AtPath, Durable, Mode, NewFile};
use cook_protocol::diagnostic::Failure;
use cook_protocol::machine::GateRun;
use cook_protocol::model::{Caches, GateSpec, Receipt};
use cook_protocol::trials::Outcomes;
use std::io;
use std::path::{Path, PathBuf};

impl Gates<'_> {
    /// Runs a gate outside of the clean room, unless a receipt of such a run exists.
    ///
    /// # Errors
    /// As [`Gates::run_at`].
    pub fn run_outside(&self, commit: &str, gate: &GateSpec) -> Result<GateRun, Failure> {
        let mut place = self.outside(commit, gate)?;
        if let Some(known) = self.find_look(commit, gate, Some(Look::Outside))? {
            return Ok(run_of(gate, (Some(known), None), &place));
        }
        self.run_one(&mut place, gate)
    }

    /// Runs a gate in the worktree. It runs each time, because the files there belong to no commit.
    ///
    /// # Errors
    /// As [`Gates::run_at`].
    pub fn look_here(&self, gate: &GateSpec) -> Result<GateRun, Failure> {
        let mut here = RunPlace::worktree(self)?;
        here.look = Some(Look::Here);
        self.run_one(&mut here, gate)
    }

    /// The output of a command in the clean room of a gate and outside of it.
    ///
    /// # Errors
    /// As [`Gates::run_at`].
    pub fn print_both(
        &self,
        commit: &str,
        gate: &GateSpec,
        argv: &[String],
    ) -> Result<[String; 2], Failure> {
        let mut room = self.room(Caches::Kept)?;
        room.expect_mixed();
        let is_ready = self.prepare(&mut room, commit)?.is_none();
        let outside = self.outside(commit, gate)?;
        Ok([
            match is_ready {
                true => self.print(&room, gate, argv)?,
                false => String::new(),
            },
            self.print(&outside, gate, argv)?,
        ])
    }

    fn outside(&self, commit: &str, gate: &GateSpec) -> Result<RunPlace<'_>, Failure> {
        let mut place = RunPlace::outside(self)?;
        place.hold(commit)?;
        place.link_caches(&gate.dir);
        Ok(place)
    }

    /// The command's stdout; empty if it cannot be started.
    fn print(&self, place: &RunPlace, gate: &GateSpec, argv: &[String]) -> Result<String, Failure> {
        let program = place.program(&argv[0]);
        let ran = self.run_once(place, &Order { gate, argv }, &program, false)?;
        let bytes = ran.map_or(Vec::new(), |ran| ran.ended.stdout.bytes());
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Runs gates at a commit (full id) in a clean room in which these files are restored to an earlier state. No
    /// receipt is kept, because the result belongs to no commit.
    ///
    /// # Errors
    /// As [`Gates::run_at`].
    pub fn run_without(
        &self,
        commit: &str,
        taken_back: &[TakenBack],
        gates: &[GateSpec],
        caches: Caches,
    ) -> Result<Vec<GateRun>, Failure> {
        let mut place = self.room(caches)?;
        let mut runs = Vec::new();
        for gate in gates {
            let run = match self.prepare(&mut place, commit)? {
                None => {
                    take_back(&mut place, taken_back)?;
                    self.run_one(&mut place, gate)?
                }
                problem => run_of(gate, (None, problem), &place),
            };
            runs.push(run);
        }
        Ok(runs)
    }
}

/// A file in its earlier state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenBack {
    /// The path in the commit's tree: relative to the root, without `.` and `..`.
    pub path: String,
    /// Its content; `None` if it did not exist.
    pub bytes: Option<Vec<u8>>,
    /// Whether it was executable.
    pub runs: bool,
}

fn take_back(place: &mut RunPlace, files: &[TakenBack]) -> Result<(), Failure> {
    let Some(top) = place.alter() else {
        return Ok(());
    };
    for file in files {
        let written = put(&top, file);
        written.at("write", &top.join(&file.path))?;
    }
    Ok(())
}

/// Restores one file without following links. Only the directories of the commit are used.
fn put(top: &Path, file: &TakenBack) -> io::Result<()> {
    let mut parts: Vec<&str> = file.path.split('/').collect();
    if parts
        .iter()
        .any(|part| matches!(*part, "" | "." | ".." | ".git"))
    {
        return Err(io::Error::other("it is not a path of a commit"));
    }
    let name = parts.pop().unwrap_or_default();
    let mut dir: PathBuf = top.to_owned();
    for part in parts {
        dir.push(part);
        match dir.symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(_) => {
                std::fs::remove_file(&dir)?;
                std::fs::create_dir(&dir)?;
            }
            Err(_) if file.bytes.is_none() => return Ok(()),
            Err(_) => std::fs::create_dir(&dir)?,
        }
    }
    let target = dir.join(name);
    match &file.bytes {
        None => disk::remove_file(&target),
        Some(bytes) => {
            if disk::is_directory(&target) {
                disk::remove_tree(&target)?;
            }
            let bits = if file.runs { 0o755 } else { 0o644 };
            NewFile::at(&target, Durable::Nothing)
                .mode(Mode::Masked(bits))
                .write(bytes)
        }
    }
}

/// A room in which trials run one after another, so that only the files that differ are written.
pub struct TrialRoom<'a> {
    gates: &'a Gates<'a>,
    caches: Caches,
    place: Option<RunPlace<'a>>,
    /// The start of the green run that trials are compared with. A red receipt from before that time is not reused,
    /// because the machine may have lacked something then.
    pub green_since: Option<String>,
}

/// The result of a trial.
#[derive(Debug, Clone)]
pub struct TrialRun {
    /// The run.
    pub run: GateRun,
    /// The outcomes of its tests.
    pub outcomes: Outcomes,
}

impl TrialRun {
    /// Its duration in milliseconds; 0 without a receipt.
    pub fn ms(&self) -> u64 {
        let receipt = self.run.receipt.as_ref();
        receipt.map_or(0, |receipt| receipt.duration_ms.0)
    }
}

impl<'a> TrialRoom<'a> {
    /// Creates a value without a room; the room is opened by the first trial that has to run.
    pub fn new(gates: &'a Gates<'a>, caches: Caches) -> Self {
        Self {
            gates,
            caches,
            place: None,
            green_since: None,
        }
    }

    /// Runs a gate at a commit (full id), which may be a mixed one. If the newest receipt of the command on that tree
    /// can be reused, it answers, whether green or red. `look` asks for an additional run, whose receipt is stored
    /// under that look, so that the answer stays the same.
    ///
    /// # Errors
    /// As [`Gates::run_at`].
    pub fn run(
        &mut self,
        commit: &str,
        gate: &GateSpec,
        look: Option<Look>,
    ) -> Result<TrialRun, Failure> {
        let is_older = |receipt: &Receipt| {
            let since = self.green_since.as_ref();
            !receipt.has_passed()
                && since.is_some_and(|since| receipt.started_at.display() < *since)
        };
        let kept = self.gates.find_look(commit, gate, look)?;
        if let Some(receipt) = kept.filter(|receipt| !is_older(receipt)) {
            return self.read(GateRun::new(gate.clone(), Some(receipt), None));
        }
        let gates = self.gates;
        let place = match &mut self.place {
            Some(place) => place,
            none => {
                let mut place = gates.room(self.caches)?;
                place.expect_mixed();
                none.insert(place)
            }
        };
        place.look = look;
        let run = gates.run_in(place, commit, gate)?;
        self.read(run)
    }

    fn read(&self, run: GateRun) -> Result<TrialRun, Failure> {
        let outcomes = match &run.receipt {
            Some(receipt) => self.gates.receipts.outcomes(receipt)?,
            None => Outcomes::default(),
        };
        Ok(TrialRun { run, outcomes })
    }
}
