//! The contract of another commit, by which HEAD is judged.

use cook_protocol::model::{Config, GateSpec, Place, Profile, STOP_VERIFIER};
use cook_repo::receipt::TakenBack;
use std::time::Duration;

/// Longest time for a stop verifier that somebody wrote.
const PATIENCE: Duration = Duration::from_secs(60 * 60);

/// A contract that decides instead of the worktree's.
#[derive(Debug, Clone)]
pub struct Judging {
    /// The commit that has it, full id.
    pub commit: String,
    /// The base that was named, full id; another commit where HEAD's contract was accepted.
    pub base: String,
    /// Its settings, with the gates that HEAD adds.
    pub config: Config,
    /// Its profile.
    pub profile: Option<Profile>,
    /// Gates that HEAD adds, by name.
    pub added: Vec<String>,
    /// Files under `.agent/` as that commit has them, where HEAD has them otherwise.
    pub files: Vec<TakenBack>,
    /// Its stop verifier is not the one that cook makes of its gates.
    pub has_own_verifier: bool,
}

impl Judging {
    /// Required gates that prove something of a commit.
    pub(super) fn gates(&self, added: bool) -> Vec<GateSpec> {
        let mut gates = self.config.gate_specs();
        gates.retain(|gate| {
            gate.required
                && gate.place == Place::CleanRoom
                && self.added.contains(&gate.name) == added
        });
        for gate in &mut gates {
            gate.must_fail_at_basis = false;
        }
        gates
    }

    /// Its stop verifier's checks, as one command.
    pub(super) fn verifier(&self) -> GateSpec {
        GateSpec {
            name: "stop verifier".to_owned(),
            run: format!("{STOP_VERIFIER} --checks"),
            timeout_ms: PATIENCE.as_millis() as u64,
            required: true,
            must_fail_at_basis: false,
            network: self.gates(false).iter().any(|gate| gate.network),
            place: Place::CleanRoom,
            dir: String::new(),
            paths: Vec::new(),
        }
    }
}
