//! The stop verifier: its checks of the commit in a clean room, and the control plane beside the log.

use super::gate::{Gates, last_line, tail};
use super::kept::stop_verifier_argv;
use super::place::{Found, Order, RunPlace};
use cook_core::diagnostic::{Code, Failure};
use cook_core::machine::StopVerifierRun;
use cook_core::model::{Caches, STOP_VERIFIER};
use cook_os::process::{Long, ProcessError, run};
use std::time::Duration;

const CONTROL_PLANE_TIMEOUT: Duration = Duration::from_secs(60 * 60);

impl Gates<'_> {
    /// Runs the stop verifier's checks at a commit, in a clean room; with the network, where one of
    /// its gates has it, and for as long as all of its gates may take. Its other half looks at the log, which no room has: [`Gates::control_plane`].
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
        let order = Order {
            command: STOP_VERIFIER,
            argv: stop_verifier_argv(),
            timeout,
            network,
            hooked: true,
            dir: "",
            paths: &[],
        };
        let outcome = self.run(&mut place, &order)?;
        drop(place);
        let rerun = |place: &mut RunPlace| self.run(place, &order);
        let ((receipt, problem), remark) = self.confirm(commit, outcome, rerun)?;
        Ok(StopVerifierRun {
            receipt,
            problem,
            remarks: remark.into_iter().collect(),
        })
    }

    /// Checks the control plane beside the log, by this program itself; what is wrong, if anything.
    fn control_plane(&self) -> Result<Option<String>, Failure> {
        let Ok(own) = std::env::current_exe() else {
            return Ok(Some("cook does not find its own program".to_owned()));
        };
        let argv = [
            own.into_os_string(),
            "verify".into(),
            "control-plane".into(),
        ];
        let place = RunPlace::worktree(self.repo, self.settings)?;
        let nothing = Order {
            command: "",
            argv: Vec::new(),
            timeout: CONTROL_PLANE_TIMEOUT,
            network: false,
            hooked: false,
            dir: "",
            paths: &[],
        };
        let start = place.start(&nothing, &Found::Path, false);
        let ended = run(&Long {
            argv: &argv,
            dir: &start.dir,
            env: &start.env,
            timeout: CONTROL_PLANE_TIMEOUT,
            live: self.live.clone(),
        });
        match ended {
            Ok(ended) if ended.code == Some(0) => Ok(None),
            Ok(ended) => {
                let said = tail(&ended);
                Ok(Some(format!(
                    "`cook verify control-plane` fails: {}",
                    last_line(&said)
                )))
            }
            Err(error @ ProcessError::Interrupted(_)) => {
                Err(Failure::state(Code::Interrupted, error.to_string()))
            }
            Err(error) => Ok(Some(error.to_string())),
        }
    }
}

fn not_run(problem: String) -> StopVerifierRun {
    StopVerifierRun {
        receipt: None,
        problem: Some(problem),
        remarks: Vec::new(),
    }
}
