//! A gate on a commit's files outside of the room: with the user's environment, and with what setup filled in the
//! worktree. Green there and red in the room, it is the room that lacks something, and not the commit.

use super::gate::{Gates, run_of};
use super::kept::Look;
use super::place::RunPlace;
use cook_core::diagnostic::Failure;
use cook_core::machine::GateRun;
use cook_core::model::{Caches, GateSpec};

impl Gates<'_> {
    /// Runs a gate there, where it was not run there yet.
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

    /// Runs a gate in the worktree, where it holds more than the commit or was not asked yet.
    ///
    /// # Errors
    /// As [`Gates::run_at`].
    pub fn look_here(&self, commit: &str, gate: &GateSpec) -> Result<GateRun, Failure> {
        let mut here = RunPlace::worktree(self.repo, self.settings)?;
        here.expect_look(Some(Look::Here));
        let known = match self.repo.status()?.worktree.dirty.is_empty() {
            true => self.find_look(commit, gate, here.look())?,
            false => None,
        };
        match known {
            Some(known) => Ok(run_of(gate, (Some(known), None), &here)),
            None => self.run_one(&mut here, gate),
        }
    }

    /// What a command prints where a gate of a commit runs: in its room, and outside.
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
        let mut place = RunPlace::outside(self.terms())?;
        place.hold(commit)?;
        place.link_caches(&gate.dir);
        Ok(place)
    }

    /// Nothing where it cannot be started.
    fn print(&self, place: &RunPlace, gate: &GateSpec, argv: &[String]) -> Result<String, Failure> {
        let Some(order) = self.order(gate) else {
            return Ok(String::new());
        };
        let order = super::place::Order {
            argv: argv.to_vec(),
            ..order
        };
        let program = place.program(&order.argv[0]);
        let ran = self.run_once(place, &order, &program, false)?;
        let bytes = ran.map_or(Vec::new(), |ran| ran.ended.stdout.bytes());
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
