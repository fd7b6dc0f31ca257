//! Trials: a gate on a tree that may be made of two commits.

use super::gate::{Gates, run_of};
use super::kept::Look;
use super::place::RunPlace;
use cook_core::diagnostic::Failure;
use cook_core::machine::GateRun;
use cook_core::model::{Caches, GateSpec};
use cook_trials::Outcomes;

/// A room in which trials run one after another, so that only the files that differ are written.
pub struct TrialRoom<'a> {
    gates: &'a Gates<'a>,
    caches: Caches,
    place: Option<RunPlace<'a>>,
}

/// What came of a trial.
#[derive(Debug, Clone)]
pub struct TrialRun {
    /// The run.
    pub run: GateRun,
    /// What it says of each test.
    pub outcomes: Outcomes,
}

impl TrialRun {
    /// How long it took when it ran.
    pub fn ms(&self) -> u64 {
        let receipt = self.run.receipt.as_ref();
        receipt.map_or(0, |receipt| receipt.duration_ms.0)
    }
}

impl<'a> TrialRoom<'a> {
    /// None is taken before the first trial that has to run.
    pub fn new(gates: &'a Gates<'a>, caches: Caches) -> Self {
        Self {
            gates,
            caches,
            place: None,
        }
    }

    /// A gate at a commit (full id), which may be a made one; answered from the newest receipt of its
    /// command on that tree, green or red, where there is one. `anew` asks for a second look, which is kept as such:
    /// whoever asks twice is told the same.
    ///
    /// # Errors
    /// As [`Gates::run_at`].
    pub fn run(&mut self, commit: &str, gate: &GateSpec, anew: bool) -> Result<TrialRun, Failure> {
        let look = anew.then_some(Look::Again);
        if let Some(receipt) = self.gates.find_look(commit, gate, look)? {
            return self.read(GateRun {
                gate: gate.clone(),
                receipt: Some(receipt),
                problem: None,
                remarks: Vec::new(),
                at_basis: None,
                failed: Vec::new(),
            });
        }
        let gates = self.gates;
        let place = match &mut self.place {
            Some(place) => place,
            none => {
                let mut place = gates.room(self.caches)?;
                place.expect_mixed();
                place.expect_look(look);
                none.insert(place)
            }
        };
        let run = match gates.prepare(place, commit)? {
            None => gates.run_one(place, gate)?,
            problem => run_of(gate, (None, problem), place),
        };
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
