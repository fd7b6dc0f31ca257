//! One role's turn: its session, its report, the transition.

use super::agent_session::{Asking, SessionContext};
use super::handle_report::SessionStart;
use super::run_loop::Driver;
use super::run_order::{Ended, RoleAgent, RunEvent, Step};
use super::session_guard::{Watch, watches};
use crate::service::{self, ByCookOutcome, Prompts, Taker, Workspace};
use cook_agents::workflow_mark;
use cook_protocol::diagnostic::{Code, Failure, Refusal};
use cook_protocol::machine::{self, Dispatch, Head};
use cook_protocol::model::{Actor, Event, Role, Snapshot};
use cook_protocol::prompt;
use cook_repo::git::Identity;
use cook_repo::session::{Continuation, On, RefKind, seed};
use std::time::Instant;

/// What an agent is told and what it goes on from. One that cannot go on from anything is told
/// everything.
fn choose_prompt(
    agent: RoleAgent,
    whole: &str,
    evidence: &Option<(String, On)>,
    beside: &str,
) -> Asking {
    let can = agent.preset.continuation() != Continuation::None;
    let (mut say, on) = match evidence {
        Some((say, on)) if can => (say.clone(), Some(*on)),
        _ => (whole.to_owned(), None),
    };
    say.push_str(beside);
    Asking { agent, say, on }
}

impl Driver<'_> {
    pub(super) fn step(&mut self) -> Result<Step, Failure> {
        let workspace = self.open()?;
        // A session reads `.agent/`: what it sees has to be what its report is held against.
        let shown = service::show_tip(&workspace)?;
        if shown.rolled_forward {
            self.observer.observe(&RunEvent::CaughtUp(&shown));
        }
        let (tip, snapshot) = workspace.require()?;
        let (dispatch, facts) = service::dispatch_now(&workspace, Some(&snapshot))?;
        let Some(role) = dispatch.role else {
            return Ok(Step::Ended(Ended::Policy(dispatch.policy)));
        };
        if role == Role::Bootstrapper {
            return Err(no_role(&dispatch));
        }
        if dispatch.waits_for_gates() {
            service::transition_holding(&workspace, &self.lease, &Event::Verified, Actor::Runner)?;
            return Ok(Step::Moved);
        }
        if let Some(step) = self.reground(&workspace)? {
            return Ok(step);
        }
        let head = service::find_head(&facts)?;
        let ticket = service::ticket(&workspace, Some((&tip, &snapshot)), &head, Some(role))?;
        let prompts = service::role_prompts(&workspace, Some(&snapshot), &dispatch, &facts)?;
        let mut beside = self.beside(&workspace, role)?;
        if let Some(why) = service::last_refusal(&workspace, role)? {
            beside.push_str(&prompt::not_taken(&why));
        }
        let mut agents = self.cast.get(&role).cloned().unwrap_or_default();
        let mut evidence = None;
        let mut missing = 1;
        if role == Role::StopJudge {
            let votes = machine::list_votes(&snapshot, &head).count();
            agents = self.bench(&workspace, &agents, votes)?;
            evidence = self.evidence(&workspace, &snapshot, &head, &prompts)?;
            let required = snapshot.profile.required_stop_judges.0 as usize;
            missing = required.saturating_sub(votes);
        }
        if let Some(step) = self.wait_for(&workspace, agents.first())? {
            return Ok(step);
        }
        let together = workspace.config()?.rules.parallel_judges && !self.tally.one_by_one;
        if together && missing > 1 && !agents.is_empty() {
            let mut judges = Vec::new();
            for turn in 0..missing {
                let agent = self.bench(&workspace, &agents, turn)?.swap_remove(0);
                judges.push(choose_prompt(agent, &prompts.whole, &evidence, &beside));
            }
            return self.judges_together(&workspace, (&dispatch, &prompts.format), &judges, ticket);
        }
        let mut last = format!("no agent is named for the {role}");
        for agent in agents {
            let asking = choose_prompt(agent, &prompts.whole, &evidence, &beside);
            let due = (&dispatch, &*prompts.format);
            for outcome in self.play(&workspace, role, due, &[asking], ticket.clone())? {
                match outcome {
                    Step::Another(why) => last = why,
                    step => return Ok(step),
                }
            }
        }
        match self.tally.passing.take() {
            Some(after) => self.wait_out(&workspace, after, last),
            None => Ok(Step::Ended(Ended::Agents(last))),
        }
    }

    /// Re-grounds without a session, where the profile lets cook do that.
    fn reground(&mut self, workspace: &Workspace) -> Result<Option<Step>, Failure> {
        match service::reground_by_cook(workspace, Some(&self.lease))? {
            ByCookOutcome::Applied(applied) => {
                self.observer.observe(&RunEvent::ByCook(&applied));
                Ok(Some(Step::Moved))
            }
            ByCookOutcome::Model(why) => {
                self.observer.observe(&RunEvent::ModelAsked(&why));
                Ok(None)
            }
            ByCookOutcome::NotDue => Ok(None),
        }
    }

    /// Takes in what the sessions left: nobody else does while a driver holds the lease.
    fn take_inbox(&mut self) -> Result<(), Failure> {
        let workspace = self.open()?;
        for finding in service::take_inbox(&workspace, Taker::Command)? {
            self.observer.observe(&RunEvent::Inbox(&finding));
        }
        Ok(())
    }

    /// What a role is told of the place it works in, where that is one of its own.
    fn beside(&self, workspace: &Workspace, role: Role) -> Result<String, Failure> {
        if !self.is_apart(workspace, role)? {
            return Ok(match self.keeping.is_kernel() {
                true => prompt::SANDBOX.to_owned(),
                false => String::new(),
            });
        }
        let worktree = workspace.repo.status()?.worktree;
        let mut dirty = worktree.dirty;
        if worktree.more > 0 {
            dirty.push(format!("and {} more", worktree.more));
        }
        Ok(prompt::apart(&dirty))
    }

    /// Holds a role's sessions, several of them at once; their reports, of the format that was asked
    /// for, are taken one after another.
    pub(super) fn play(
        &mut self,
        workspace: &Workspace,
        role: Role,
        (dispatch, format): (&Dispatch, &str),
        askings: &[Asking],
        ticket: Option<String>,
    ) -> Result<Vec<Step>, Failure> {
        let mut began = SessionStart {
            ticket,
            head: workspace.repo.head()?.commit,
            at: Instant::now(),
        };
        for Asking { agent, .. } in askings {
            self.observer.observe(&RunEvent::Begins {
                role,
                dispatch,
                agent: agent.preset.name(),
                idle: agent.clocks.idle,
            });
        }
        let dir = watches(workspace)?.join(cook_repo::store::fresh_id());
        let apart = self.is_apart(workspace, role)?;
        let watch = Watch::begin(workspace, role, apart, &dir)?;
        self.mirror.refresh()?;
        self.tally.sessions += askings.len() as u64;
        let rooms = askings.iter().map(|_| self.room(workspace, role));
        let rooms = rooms.collect::<Result<Vec<_>, Failure>>()?;
        let at = workspace.clock.now();
        let mark = workflow_mark(workspace.store_id(), &workspace.place().cook_dir());
        let sandbox = self.keeping.sandbox(&workspace.repo)?;
        let (_, snapshot) = workspace.require()?;
        let bounds = self.compute_bounds(&snapshot);
        // Its settings of git may be none of those that the user goes by: a home of its own, a sandbox.
        let identity = match role {
            Role::Implementer => workspace.repo.identity()?.unwrap_or_default(),
            _ => Identity::new(),
        };
        let mut contexts = Vec::new();
        for (Asking { agent, .. }, (_, dir)) in askings.iter().zip(&rooms) {
            contexts.push(SessionContext {
                role,
                format,
                agent,
                slot: self.board.begins(role, agent.preset.name()),
                dir,
                at: &at,
                workflow: workspace.store_id(),
                mark: &mark,
                identity: &identity,
                bounds,
                sandbox: sandbox.as_ref(),
            });
        }
        let (heard, breach) = self.converse(&contexts, askings, &watch)?;
        self.end(watch)?;
        self.board.ends();
        if breach.what.is_empty() && breach.log_moved {
            if let Some(step) = self.find_stop_meanwhile(role)? {
                return Ok(vec![step]);
            }
            if breach.user_spoke {
                let why = "the user said something meanwhile: whoever judges hears it first; its report is in `cook session log`";
                self.observer
                    .observe(&RunEvent::CameToNothing { role, why });
                return Ok(vec![Step::Moved]);
            }
            return Ok(vec![self.refuse_violation(role, &breach)?]);
        } else if !breach.is_none() {
            self.tally.one_by_one |= askings.len() > 1;
            return Ok(vec![self.refuse_violation(role, &breach)?]);
        }
        self.take_inbox()?;
        let mut outcomes = Vec::new();
        for (Asking { agent, .. }, heard) in askings.iter().zip(heard) {
            let workspace = self.open()?;
            if !outcomes.is_empty() {
                let (tip, snapshot) = workspace.require()?;
                let head = workspace.repo.head()?;
                began.ticket =
                    service::ticket(&workspace, Some((&tip, &snapshot)), &head, Some(role))?;
            }
            outcomes.push(self.weigh(&workspace, role, agent, heard, &began)?);
        }
        Ok(outcomes)
    }
}

fn no_role(dispatch: &Dispatch) -> Failure {
    Refusal::new(
        Code::NotInitialised,
        format!("the contract needs repair: {}", dispatch.reason),
    )
    .replace_hints(["run `cook init`"])
    .into()
}

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
                Step::Moved => moved = true,
                // What the others said counts all the same.
                step @ Step::Ended(_) => ended = Some(step),
                // Another agent may stand in: that is tried with one at a time.
                Step::Another(_) => self.tally.one_by_one = true,
                step => last = step,
            }
        }
        Ok(ended.unwrap_or(if moved { Step::Moved } else { last }))
    }
}
