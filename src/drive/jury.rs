//! The judges of a stop wave (`docs/run.md#the-judges-of-a-stop-wave`): each goes on from the
//! same evidence, in a session of its own, one after another or all at once; none is shown what
//! another one said.

use super::assignment::RoleAgent;
use super::authority::{Violation, Watch};
use super::driver::Driver;
use super::event::RunEvent;
use super::left::watches;
use super::outcome::{RoleOutcome, Step};
use super::talk::{Asked, SessionContext};
use crate::service::{self, Prompts, Workspace};
use cook_agents::Progress;
use cook_core::diagnostic::Failure;
use cook_core::machine::{self, Dispatch, Head};
use cook_core::model::{Role, Snapshot};
use cook_os::process::ControlFlow;
use cook_store::session::{Fault, On, RefKind, SessionError, SessionStore, seed};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// What a judge in a thread of its own lets the driver know.
enum Word {
    Started(u32),
    Tool(String),
    Said(String),
    Pulse { elapsed: Duration, quiet: Duration },
    Ended,
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
        let kept = |fault: Fault| Failure::from(SessionError::new(fault));
        let known = match self.sessions.labelled(&label).map_err(kept)? {
            Some(name) if name.kind() == RefKind::Episode => {
                self.sessions.entry(name).map_err(kept)?.map(|_| name)
            }
            _ => None,
        };
        let episode = match known {
            Some(name) => name,
            None => {
                let about = format!("the evidence of stop wave {wave} at {commit}");
                let name =
                    seed(&self.sessions, &about, evidence, &workspace.clock.now()).map_err(kept)?;
                self.sessions.label(&label, name).map_err(kept)?;
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
        required.saturating_sub(machine::votes_at(snapshot, head).count())
    }

    /// Holds all missing judges' sessions at once; their votes are taken one after another.
    /// Who did what he may not cannot be told from the others then: no vote counts, and they
    /// are held one by one from there on.
    pub(super) fn judges_together(
        &mut self,
        workspace: &Workspace,
        dispatch: &Dispatch,
        asked_judges: &[(RoleAgent, String, Option<On>)],
    ) -> Result<Step, Failure> {
        let role = Role::StopJudge;
        let started = Instant::now();
        let mut rooms = Vec::new();
        for (agent, _, _) in asked_judges {
            self.observer.observe(&RunEvent::Begins {
                role,
                dispatch,
                agent: agent.preset.name(),
                idle: agent.clocks.idle,
            });
            rooms.push(self.room(workspace, role)?);
        }
        let dir = watches(workspace)?.join(cook_store::store::fresh_id());
        let apart = self.is_apart(workspace, role)?;
        let watch = Watch::begin(workspace, role, apart, &dir)?;
        self.mirror.refresh()?;
        self.tally.sessions += asked_judges.len() as u64;
        let at = workspace.clock.now();
        let contexts: Vec<SessionContext> = asked_judges
            .iter()
            .zip(&rooms)
            .map(|((agent, _, _), (_, dir))| SessionContext {
                role,
                agent,
                dir,
                at: &at,
                workflow: workspace.store_id(),
            })
            .collect();
        let slots: Vec<usize> = asked_judges
            .iter()
            .map(|(agent, _, _)| self.board.begins(role, agent.preset.name()))
            .collect();
        let asked = self.ask_all(&contexts, &slots, asked_judges);
        let mut breach = Violation::default();
        let mut heard = Vec::new();
        for ((context, slot), asked) in contexts.iter().zip(&slots).zip(asked) {
            // The first look sees what any of them did.
            let (one, found) = self.hear(context, *slot, asked, &watch)?;
            if !found.is_none() {
                breach = found;
            }
            heard.push(one);
        }
        self.end(watch)?;
        self.board.ends();
        if breach.is_anothers() {
            if let Some(step) = self.stopped_meanwhile(role)? {
                return Ok(step);
            }
        } else if !breach.is_none() {
            self.tally.one_by_one = true;
            return Ok(match self.breached(role, &breach)? {
                RoleOutcome::Step(step) => step,
                RoleOutcome::Another(why) => Step::Nothing(why),
            });
        }
        let (mut moved, mut last, mut ended) = (false, Step::Waited, None);
        for ((agent, _, _), heard) in asked_judges.iter().zip(heard) {
            let workspace = Workspace::open(&self.dir)?;
            let (tip, snapshot) = workspace.require()?;
            let (_, facts) = service::dispatch_now(&workspace, Some(&snapshot))?;
            let head = service::head_of(&facts)?;
            let ticket = service::ticket(&workspace, Some((&tip, &snapshot)), &head)?;
            match self.weigh(&workspace, role, agent, heard, ticket.as_deref(), started)? {
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

    /// Asks every judge at once; what they let know is told as it comes.
    fn ask_all(
        &mut self,
        contexts: &[SessionContext],
        slots: &[usize],
        asked_judges: &[(RoleAgent, String, Option<On>)],
    ) -> Vec<Asked> {
        let sessions = &self.sessions;
        let (observer, board) = (&mut self.observer, &mut self.board);
        let spent = &self.tally.spent;
        let all: Vec<Asked> = std::thread::scope(|scope| {
            let (tell, words) = mpsc::channel();
            let threads: Vec<_> = contexts
                .iter()
                .zip(slots)
                .zip(asked_judges)
                .map(|((context, slot), (_, say, on))| {
                    let tell: mpsc::Sender<(usize, Word)> = tell.clone();
                    scope.spawn(move || {
                        let asked = context.ask(sessions, say, *on, &mut |progress| {
                            // Nobody listens any more when the driver is going down.
                            let _ = tell.send((*slot, Word::of(progress)));
                            ControlFlow::Continue
                        });
                        let _ = tell.send((*slot, Word::Ended));
                        asked
                    })
                })
                .collect();
            drop(tell);
            for (slot, word) in words {
                match word.progress() {
                    Some(progress) => {
                        board.shows(slot, &progress);
                        observer.observe(&RunEvent::Shows { slot, progress });
                    }
                    None => {
                        observer.observe(&RunEvent::Ends { slot, spent });
                    }
                }
            }
            threads
                .into_iter()
                .map(|thread| match thread.join() {
                    Ok(asked) => asked,
                    Err(cause) => std::panic::resume_unwind(cause),
                })
                .collect()
        });
        for ((context, slot), asked) in contexts.iter().zip(slots).zip(&all) {
            self.book(context.role, *slot, asked);
        }
        all
    }
}

impl Word {
    fn of(progress: Progress) -> Self {
        match progress {
            Progress::Started(id) => Self::Started(id),
            Progress::Tool(name) => Self::Tool(name.to_owned()),
            Progress::Said(text) => Self::Said(text.to_owned()),
            Progress::Pulse { elapsed, quiet } => Self::Pulse { elapsed, quiet },
        }
    }

    /// None when the judge has ended.
    fn progress(&self) -> Option<Progress<'_>> {
        Some(match self {
            Self::Ended => return None,
            Self::Started(id) => Progress::Started(*id),
            Self::Tool(name) => Progress::Tool(name),
            Self::Said(text) => Progress::Said(text),
            Self::Pulse { elapsed, quiet } => Progress::Pulse {
                elapsed: *elapsed,
                quiet: *quiet,
            },
        })
    }
}
