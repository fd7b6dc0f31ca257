//! One role's turn: its session, its report, the transition.

use super::talk::{Heard, Scene};
use super::{Breach, Driver, Ended, Moment, Player, Step, Watch, no_role};
use crate::walk::{self, Workspace};
use cook_agents::{AgentFailure, FailureClass};
use cook_core::diagnostic::{Code, Failure, FailureKind, Finding, Lines, clean};
use cook_core::machine::{self, Dispatch};
use cook_core::model::{Event, Role};
use cook_core::prompt;
use cook_core::report::{self, Parsed, Provenance, Reported};
use cook_os::clock::Clock;
use cook_store::session::{Continuation, On, Reply};
use std::time::{Duration, Instant};

/// How long the end of a supplier's limit is waited for at most.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);
/// The first wait where nobody says how long a limit lasts; each is twice as long as the last,
const FIRST_WAIT: Duration = Duration::from_secs(30);
/// up to this,
const LONGEST_PAUSE: Duration = Duration::from_secs(30 * 60);
/// and so many in a row: about a day.
const MOST_WAITS: u32 = 50;
/// How often it is looked whether somebody asks for an end.
const GLANCE: Duration = Duration::from_millis(200);

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

    /// Waits for what ends by itself, each time longer where nobody says for how long.
    fn wait_out(
        &mut self,
        workspace: &Workspace,
        after: Option<Duration>,
        why: String,
    ) -> Result<Step, Failure> {
        let doubled = FIRST_WAIT.saturating_mul(1 << self.tally.waits.min(16));
        let pause = after.unwrap_or(doubled).min(LONGEST_PAUSE);
        self.tally.waits += 1;
        if self.tally.waits > MOST_WAITS {
            return Ok(Step::Ended(Ended::Agents(why)));
        }
        let seconds = workspace.clock.epoch_millis() / 1000;
        let until = seconds + 1 + i64::try_from(pause.as_secs()).unwrap_or(i64::MAX / 2);
        self.wait(workspace, &Clock::of_epoch(until), why)
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
        let dir = super::watches(workspace)?.join(cook_store::store::fresh_id());
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

    /// Somebody recorded something while a session was held. Where that stops the work, the run
    /// ends; else the report counts as far as it still fits.
    pub(super) fn stopped_meanwhile(&mut self, role: Role) -> Result<Option<Step>, Failure> {
        let workspace = Workspace::open(&self.dir)?;
        let (_, snapshot) = workspace.require()?;
        let (dispatch, _) = walk::dispatch_now(&workspace, Some(&snapshot))?;
        if dispatch.role.is_some() {
            return Ok(None);
        }
        let why = "the work was stopped meanwhile; what the session committed stays, and its report is in `cook session log`";
        self.audience.told(&Moment::CameToNothing { role, why });
        Ok(Some(Step::Ended(Ended::Policy(dispatch.policy))))
    }

    /// The session did what its role may not: its report is not taken.
    pub(super) fn breached(&mut self, role: Role, breach: &Breach) -> Result<Played, Failure> {
        self.audience.told(&Moment::Breached { role, breach });
        if breach.log_moved {
            return Err(Failure::from(cook_core::diagnostic::Refusal::new(
                Code::StaleFacts,
                format!(
                    "the log was moved during the session of the {role}: its report no longer fits the log"
                ),
            )));
        }
        let why = format!("it did what its role may not: {}", breach.what.join("; "));
        let workspace = Workspace::open(&self.dir)?;
        let codes = vec![Code::AuthorityBreached.id().to_owned()];
        self.spend(&workspace, role, codes, why)
    }

    /// What a session gave becomes a transition, or an attempt that failed.
    pub(super) fn weigh(
        &mut self,
        workspace: &Workspace,
        role: Role,
        player: &Player,
        heard: Heard,
        ticket: Option<&str>,
        started: Instant,
    ) -> Result<Played, Failure> {
        match heard {
            Heard::Unusable(findings) => {
                self.refuse(workspace, role, codes(&findings), told(&findings))
            }
            Heard::Report(report) => {
                let (parsed, reply) = *report;
                self.take(workspace, role, parsed, &reply, ticket, started)
            }
            Heard::Malformed(findings) => {
                let why = format!("the report breaks the rules twice: {}", told(&findings));
                self.refuse(workspace, role, codes(&findings), why)
            }
            Heard::Nothing(failed) => self.failed(workspace, role, player, &failed),
            Heard::Unkept(error) => Ok(Played::Another(error.to_string())),
        }
    }

    /// Hands a report in, as `cook record` does.
    fn take(
        &mut self,
        workspace: &Workspace,
        role: Role,
        parsed: Parsed,
        reply: &Reply,
        ticket: Option<&str>,
        started: Instant,
    ) -> Result<Played, Failure> {
        let Some(report) = parsed.report else {
            return self.refuse(workspace, role, Vec::new(), told(&parsed.findings));
        };
        if role == Role::StopJudge
            && let (_, snapshot) = workspace.require()?
            && let Some(vote) = self.twin(&snapshot, reply)?
        {
            let why = format!("its session is the one that gave vote {vote} already");
            let codes = vec![Code::JudgeNotIndependent.id().to_owned()];
            return self.refuse(workspace, role, codes, why);
        }
        let provenance = Provenance {
            session: Some(reply.exchange.to_string()),
            ticket: ticket.map(str::to_owned),
        };
        let Reported::Event(event) = report::event(&report, provenance) else {
            return Ok(Played::Another("the report asks for nothing".to_owned()));
        };
        // Its gates, and whoever is told, take their own time.
        let took = started.elapsed();
        match self.record(workspace, &event) {
            Ok(applied) => {
                self.tally.refused = None;
                self.audience.told(&Moment::Recorded {
                    role,
                    applied: &applied,
                    took,
                    cost_micro_usd: reply.cost_micro_usd,
                });
                Ok(Played::Step(Step::Moved))
            }
            Err(failure) if failure.kind == FailureKind::Refused => {
                let mut why = format!("[{}] {}", failure.code.id(), failure.message);
                for hint in &failure.hints {
                    why.push_str("; ");
                    why.push_str(hint);
                }
                self.refuse(workspace, role, vec![failure.code.id().to_owned()], why)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Writes down that a session failed by its own doing.
    fn refuse(
        &mut self,
        workspace: &Workspace,
        role: Role,
        codes: Vec<String>,
        why: String,
    ) -> Result<Played, Failure> {
        self.audience
            .told(&Moment::CameToNothing { role, why: &why });
        self.spend(workspace, role, codes, why)
    }

    /// The same where the audience knows it.
    fn spend(
        &mut self,
        workspace: &Workspace,
        role: Role,
        codes: Vec<String>,
        why: String,
    ) -> Result<Played, Failure> {
        self.record(workspace, &Event::Refused { role, codes })?;
        self.tally.refused = Some((role, why.clone()));
        Ok(Played::Step(Step::Nothing(why)))
    }

    fn failed(
        &mut self,
        workspace: &Workspace,
        role: Role,
        player: &Player,
        failed: &AgentFailure,
    ) -> Result<Played, Failure> {
        let why = format!("{}: {}", player.preset.name(), failed.why());
        match failed.class {
            FailureClass::Interrupted => Ok(Played::Step(Step::Ended(Ended::Asked))),
            FailureClass::Agent => self.refuse(
                workspace,
                role,
                vec![Code::SupplierFailed.id().to_owned()],
                why,
            ),
            FailureClass::Config => {
                self.audience
                    .told(&Moment::CameToNothing { role, why: &why });
                Ok(Played::Another(why))
            }
            FailureClass::Environment => {
                self.audience
                    .told(&Moment::CameToNothing { role, why: &why });
                match &failed.reset_at {
                    Some(until) => {
                        let name = player.preset.name().to_owned();
                        self.limited.insert(name, until.clone());
                        Ok(Played::Step(self.wait(workspace, until, why)?))
                    }
                    None => {
                        if failed.passes() {
                            self.tally.passing = Some(failed.again_after());
                        }
                        Ok(Played::Another(why))
                    }
                }
            }
        }
    }

    /// Waits where the player whose turn it is said that its limit holds still.
    fn wait_for(
        &mut self,
        workspace: &Workspace,
        player: Option<&Player>,
    ) -> Result<Option<Step>, Failure> {
        let Some(name) = player.map(|player| player.preset.name()) else {
            return Ok(None);
        };
        let Some(until) = self.limited.get(name).cloned() else {
            return Ok(None);
        };
        if workspace.clock.now() >= until {
            self.limited.remove(name);
            return Ok(None);
        }
        let why = format!("{name}: its limit holds until {until}");
        self.wait(workspace, &until, why).map(Some)
    }

    /// Waits for the end of a supplier's limit; the attempt is not spent.
    fn wait(&mut self, workspace: &Workspace, until: &str, why: String) -> Result<Step, Failure> {
        self.audience.told(&Moment::Waits { until });
        self.board.waits(until);
        let begun = Instant::now();
        while workspace.clock.now().as_str() < until {
            if self.patience.is_over() {
                return Ok(Step::Ended(Ended::Asked));
            }
            if begun.elapsed() > LONGEST_WAIT {
                return Ok(Step::Ended(Ended::Agents(why)));
            }
            std::thread::sleep(GLANCE);
        }
        Ok(Step::Waited)
    }
}

/// What came of one player.
pub(super) enum Played {
    Step(Step),
    /// It could not play; another one may.
    Another(String),
}

fn codes(findings: &[Finding]) -> Vec<String> {
    findings
        .iter()
        .map(|finding| finding.code.id().to_owned())
        .collect()
}

fn told(findings: &[Finding]) -> String {
    let lines: Vec<String> = findings
        .iter()
        .take(5)
        .map(|finding| format!("[{}] {}", finding.code.id(), finding.message))
        .collect();
    lines.join("; ")
}
