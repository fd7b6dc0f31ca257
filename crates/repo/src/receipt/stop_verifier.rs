//! The stop verifier: its checks of the commit in a clean room, and the control plane beside the log.

use super::gate_run::{last_line, plan_gate, tail};
use super::receipts::stop_verifier_argv;
use super::run_place::{Gates, RunPlace, inherit};
use crate::process::{Long, ProcessError, run};
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::machine::{GateRun, StopVerifierRun};
use cook_protocol::model::{Caches, GateSpec, STOP_VERIFIER};
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
        let root = self.repo.root();
        let mut env = inherit().variables;
        env.insert("PWD".into(), root.into());
        let ended = run(&Long {
            argv: &argv,
            dir: root,
            env: &env,
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
