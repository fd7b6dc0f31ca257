//! One role's turn: its session, its report, the transition.

use super::authority::Watch;
use super::cast::Player;
use super::driver::Driver;
use super::left::watches;
use super::moment::Moment;
use super::outcome::{Ended, Played, Step};
use super::talk::Scene;
use crate::walk::{self, Workspace};
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
        let shown = walk::show_tip(&workspace)?;
        if shown.rolled_forward {
            self.audience.told(&Moment::CaughtUp(&shown));
        }
        let (tip, snapshot) = workspace.require()?;
        let (dispatch, facts) = walk::dispatch_now(&workspace, Some(&snapshot))?;
        let Some(role) = dispatch.role else {
            return Ok(Step::Ended(Ended::Policy(dispatch.policy)));
        };
        if role == Role::Bootstrapper {
            return Err(no_role(&dispatch));
        }
        let head = walk::head_of(&facts)?;
        let ticket = walk::ticket(&workspace, Some((&tip, &snapshot)), &head)?;
        let prompts = walk::role_prompts(&workspace, Some(&snapshot), &dispatch, &facts)?;
        let beside = self.beside(&workspace, role)?;
        let mut players = self.cast.get(&role).cloned().unwrap_or_default();
        let mut evidence = None;
        if role == Role::StopJudge {
            let votes = machine::votes_at(&snapshot, &head).count();
            players = self.bench(&workspace, &players, votes)?;
            evidence = self.evidence(&workspace, &snapshot, &head, &prompts)?;
            let missing = self.missing_judges(&snapshot, &head);
            if let Some(step) = self.wait_for(&workspace, players.first())? {
                return Ok(step);
            }
            let together = workspace.config()?.rules.parallel_judges && !self.tally.one_by_one;
            if together && missing > 1 && !players.is_empty() {
                let mut seats = Vec::new();
                for turn in 0..missing {
                    let player = self.bench(&workspace, &players, turn)?.swap_remove(0);
                    let (say, on) = self.told(role, &player, &prompts.whole, &evidence, &beside);
                    seats.push((player, say, on));
                }
                return self.judges_together(&workspace, &dispatch, &seats);
            }
        }
        if let Some(step) = self.wait_for(&workspace, players.first())? {
            return Ok(step);
        }
        let mut last = format!("no agent is named for the {role}");
        for player in &players {
            let (say, on) = self.told(role, player, &prompts.whole, &evidence, &beside);
            match self.play(
                &workspace,
                role,
                player,
                &dispatch,
                (&say, on),
                ticket.as_deref(),
            )? {
                Played::Step(step) => return Ok(step),
                Played::Another(why) => last = why,
            }
        }
        match self.tally.passing.take() {
            Some(after) => self.wait_out(&workspace, after, last),
            None => Ok(Step::Ended(Ended::Agents(last))),
        }
    }

    /// What a player is told and what it goes on from. One that cannot go on from anything is
    /// told everything.
    fn told(
        &self,
        role: Role,
        player: &Player,
        whole: &str,
        evidence: &Option<(String, On)>,
        beside: &str,
    ) -> (String, Option<On>) {
        let can = player.preset.continuation() != Continuation::None;
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
        player: &Player,
        dispatch: &Dispatch,
        (say, on): (&str, Option<On>),
        ticket: Option<&str>,
    ) -> Result<Played, Failure> {
        let started = Instant::now();
        self.audience.told(&Moment::Begins {
            role,
            dispatch,
            agent: player.preset.name(),
            idle: player.clocks.idle,
        });
        let dir = watches(workspace)?.join(cook_store::store::fresh_id());
        let apart = self.is_apart(workspace, role)?;
        let watch = Watch::begin(workspace, role, apart, &dir)?;
        self.spare.refresh()?;
        self.tally.sessions += 1;
        let (_room, dir) = self.room(workspace, role)?;
        let scene = Scene {
            role,
            player,
            dir: &dir,
            at: &workspace.clock.now(),
            workflow: workspace.store_id(),
        };
        let (heard, breach) = self.converse(&scene, say, on, &watch)?;
        self.end(watch)?;
        self.board.ends();
        if breach.is_anothers() {
            if let Some(step) = self.stopped_meanwhile(role)? {
                return Ok(Played::Step(step));
            }
        } else if !breach.is_none() {
            return self.breached(role, &breach);
        }
        let workspace = Workspace::open(&self.dir)?;
        self.weigh(&workspace, role, player, heard, ticket, started)
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
