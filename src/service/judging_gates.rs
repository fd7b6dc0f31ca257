//! The gates of the contract that decides, at HEAD.

use super::judging::Judging;
use super::workspace::Workspace;
use cook_protocol::diagnostic::Failure;
use cook_protocol::machine::GateRun;
use cook_protocol::model::STOP_VERIFIER;

impl Workspace {
    /// Runs the gates of the contract that decides at a commit, with what it has under `.agent/`; then
    /// those that the commit adds, with what it has there itself.
    ///
    /// # Errors
    /// As [`Workspace::measure`].
    pub(crate) fn run_judging_gates(
        &self,
        judging: &Judging,
        commit: &str,
    ) -> Result<Vec<GateRun>, Failure> {
        let trust = self.trust()?;
        self.in_world(&judging.config, true, None, |world| {
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
        })
    }
}
