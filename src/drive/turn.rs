//! One role's turn: its session, its report, the transition.

use super::assignment::RoleAgent;
use super::authority::Watch;
use super::driver::Driver;
use super::event::RunEvent;
use super::left::watches;
use super::outcome::{Ended, RoleOutcome, Step};
use super::talk::SessionContext;
use crate::service::{self, Workspace};
use cook_core::diagnostic::{Code, Failure, Lines, Refusal, clean};
use cook_core::machine::{self, Dispatch};
use cook_core::model::Role;
use cook_core::prompt;
use cook_store::session::{Continuation, On};
use std::time::Instant;

impl Driver<'_> {
    pub(super) fn step(&mut self) -> Result<Step, Failure> {
        let workspace = Workspace::open(&self.dir)?;
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
        let head = service::head_of(&facts)?;
        let ticket = service::ticket(&workspace, Some((&tip, &snapshot)), &head)?;
        let prompts = service::role_prompts(&workspace, Some(&snapshot), &dispatch, &facts)?;
        let beside = self.beside(&workspace, role)?;
        let mut agents = self.cast.get(&role).cloned().unwrap_or_default();
        let mut evidence = None;
        if role == Role::StopJudge {
            let votes = machine::votes_at(&snapshot, &head).count();
            agents = self.bench(&workspace, &agents, votes)?;
            evidence = self.evidence(&workspace, &snapshot, &head, &prompts)?;
            let missing = self.missing_judges(&snapshot, &head);
            if let Some(step) = self.wait_for(&workspace, agents.first())? {
                return Ok(step);
            }
            let together = workspace.config()?.rules.parallel_judges && !self.tally.one_by_one;
            if together && missing > 1 && !agents.is_empty() {
                let mut asked_judges = Vec::new();
                for turn in 0..missing {
                    let agent = self.bench(&workspace, &agents, turn)?.swap_remove(0);
                    let (say, on) =
                        self.choose_prompt(role, &agent, &prompts.whole, &evidence, &beside);
                    asked_judges.push((agent, say, on));
                }
                return self.judges_together(&workspace, &dispatch, &asked_judges);
            }
        }
        if let Some(step) = self.wait_for(&workspace, agents.first())? {
            return Ok(step);
        }
        let mut last = format!("no agent is named for the {role}");
        for agent in &agents {
            let (say, on) = self.choose_prompt(role, agent, &prompts.whole, &evidence, &beside);
            match self.play(
                &workspace,
                role,
                agent,
                &dispatch,
                (&say, on),
                ticket.as_deref(),
            )? {
                RoleOutcome::Step(step) => return Ok(step),
                RoleOutcome::Another(why) => last = why,
            }
        }
        match self.tally.passing.take() {
            Some(after) => self.wait_out(&workspace, after, last),
            None => Ok(Step::Ended(Ended::Agents(last))),
        }
    }

    /// What an agent is told and what it goes on from. One that cannot go on from anything is
    /// told everything.
    fn choose_prompt(
        &self,
        role: Role,
        agent: &RoleAgent,
        whole: &str,
        evidence: &Option<(String, On)>,
        beside: &str,
    ) -> (String, Option<On>) {
        let can = agent.preset.continuation() != Continuation::None;
        let (mut say, on) = match evidence {
            Some((say, on)) if can => (say.clone(), Some(*on)),
            _ => (whole.to_owned(), None),
        };
        say.push_str(beside);
        if let Some((of, why)) = &self.tally.refused
            && *of == role
        {
            say.push_str(&format!(
                "\n\nThe last report of this role was not taken: {}. What the worktree holds now is what that session left.\n",
                clean(why, Lines::Fold)
            ));
        }
        (say, on)
    }

    /// What a role is told of the place it works in, where that is one of its own.
    fn beside(&self, workspace: &Workspace, role: Role) -> Result<String, Failure> {
        if !self.is_apart(workspace, role)? {
            return Ok(String::new());
        }
        let worktree = workspace.repo.status()?.worktree;
        let mut dirty = worktree.dirty;
        if worktree.more > 0 {
            dirty.push(format!("and {} more", worktree.more));
        }
        Ok(prompt::apart(&dirty))
    }

    fn play(
        &mut self,
        workspace: &Workspace,
        role: Role,
        agent: &RoleAgent,
        dispatch: &Dispatch,
        (say, on): (&str, Option<On>),
        ticket: Option<&str>,
    ) -> Result<RoleOutcome, Failure> {
        let started = Instant::now();
        self.observer.observe(&RunEvent::Begins {
            role,
            dispatch,
            agent: agent.preset.name(),
            idle: agent.clocks.idle,
        });
        let dir = watches(workspace)?.join(cook_store::store::fresh_id());
        let apart = self.is_apart(workspace, role)?;
        let watch = Watch::begin(workspace, role, apart, &dir)?;
        self.mirror.refresh()?;
        self.tally.sessions += 1;
        let (_room, dir) = self.room(workspace, role)?;
        let context = SessionContext {
            role,
            agent,
            dir: &dir,
            at: &workspace.clock.now(),
            workflow: workspace.store_id(),
        };
        let (heard, breach) = self.converse(&context, say, on, &watch)?;
        self.end(watch)?;
        self.board.ends();
        if breach.is_anothers() {
            if let Some(step) = self.stopped_meanwhile(role)? {
                return Ok(RoleOutcome::Step(step));
            }
        } else if !breach.is_none() {
            return self.breached(role, &breach);
        }
        let workspace = Workspace::open(&self.dir)?;
        self.weigh(&workspace, role, agent, heard, ticket, started)
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
