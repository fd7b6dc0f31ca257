//! The judges of a stop wave (`docs/run.md#the-judges-of-a-stop-wave`): each goes on from the
//! same evidence, in a session of its own, one after another or all at once; none is shown what
//! another one said.

use super::assignment::RoleAgent;
use super::driver::Driver;
use super::outcome::{RoleOutcome, Step};
use super::talk::Asking;
use crate::service::{Prompts, Workspace};
use cook_core::diagnostic::Failure;
use cook_core::machine::{self, Dispatch, Head};
use cook_core::model::{Role, Snapshot};
use cook_store::session::{On, RefKind, seed};

impl Driver<'_> {
    /// What a judge is told: the evidence of the wave as an episode to go on from, and the
    /// rest. A wave's evidence is put together once and found again by its name.
    pub(super) fn evidence(
        &self,
        workspace: &Workspace,
        snapshot: &Snapshot,
        head: &Head,
        prompts: &Prompts,
    ) -> Result<Option<(String, On)>, Failure> {
        let (Some((evidence, say)), Some(commit)) = (&prompts.beside_evidence, &head.commit) else {
            return Ok(None);
        };
        let wave = snapshot.state.current_stop_wave_id.0;
        let log = workspace.store()?.id();
        let label = format!("stop-wave-{wave}-{commit:.12}-{log:.12}");
        let known = match self.sessions.find_labelled(&label)? {
            Some(name) if name.kind() == RefKind::Episode => {
                self.sessions.entry(name)?.map(|_| name)
            }
            _ => None,
        };
        let episode = match known {
            Some(name) => name,
            None => {
                let about = format!("the evidence of stop wave {wave} at {commit}");
                let name = seed(&self.sessions, &about, evidence, &workspace.clock.now())?;
                self.sessions.label(&label, name)?;
                name
            }
        };
        Ok(Some((say.clone(), On::Episode(episode))))
    }

    /// Who judges, first choice first: those that take turns, begun by the one whose turn it
    /// is, then the others.
    pub(super) fn bench(
        &self,
        workspace: &Workspace,
        agents: &[RoleAgent],
        turn: usize,
    ) -> Result<Vec<RoleAgent>, Failure> {
        let roles = &workspace.config()?.roles;
        let turns = roles.get(Role::StopJudge.short());
        let turns = turns.map_or(0, |role| role.agents.len()).min(agents.len());
        let mut bench = agents.to_vec();
        if turns > 1 {
            bench[..turns].rotate_left(turn % turns);
        }
        Ok(bench)
    }

    /// How many judges the wave still needs.
    pub(super) fn missing_judges(&self, snapshot: &Snapshot, head: &Head) -> usize {
        let required = snapshot.profile.required_stop_judges.0 as usize;
        required.saturating_sub(machine::list_votes(snapshot, head).count())
    }

    /// Holds all missing judges' sessions at once. Who did what he may not cannot be told from
    /// the others then: no vote counts, and they are held one by one from there on.
    pub(super) fn judges_together(
        &mut self,
        workspace: &Workspace,
        due: (&Dispatch, &str),
        judges: &[Asking],
        ticket: Option<String>,
    ) -> Result<Step, Failure> {
        let (mut moved, mut last, mut ended) = (false, Step::Waited, None);
        for outcome in self.play(workspace, Role::StopJudge, due, judges, ticket)? {
            match outcome {
                RoleOutcome::Step(Step::Moved) => moved = true,
                // What the others said counts all the same.
                RoleOutcome::Step(step @ Step::Ended(_)) => ended = Some(step),
                RoleOutcome::Step(step) => last = step,
                // Another agent may stand in: that is tried with one at a time.
                RoleOutcome::Another(_) => self.tally.one_by_one = true,
            }
        }
        Ok(ended.unwrap_or(if moved { Step::Moved } else { last }))
    }
}
