//! One role's turn: its session, its report, and the transition.

use super::mirror::TAKEN;
use super::run_loop::Driver;
use super::run_order::{Ended, RoleAgent, RunEvent, Step};
use super::session_guard::{Violation, Watch, unwritable, watches};
use crate::prelude::*;
use crate::service::{self, ByCookOutcome, Prompts, Taker};
use crate::workspace::Workspace;
use cook_agents::{
    AgentFailure, AgentSupplier, Bounds, FailureClass, Progress, Report, Sandbox, workflow_mark,
};
use cook_protocol::prompt;
use cook_protocol::report::{self, Provenance, Reported};
use cook_repo::git::{Identity, Throwaway};
use cook_repo::process::{ControlFlow, WORKFLOW_VARIABLE};
use cook_repo::session::{
    Action, Call, Continuation, NativeUse, On, Ref, RefKind, Reply, Supplier, call, seed,
};
use cook_repo::store::History;
use std::sync::{Mutex, PoisonError};

/// Chooses the prompt of an agent and the episode to continue from. An agent that cannot continue an episode gets the
/// whole prompt.
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
    pub(super) fn step(&mut self) -> Result<Step> {
        let workspace = self.open()?;
        self.recent.lend(&workspace.repo);
        // The session reads `.agent/`, so it must show the state that its report is checked against.
        let shown = service::show_tip(&workspace)?;
        if shown.rolled_forward {
            workspace.repo.forget_status();
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
            let required = snapshot.count_required_judges() as usize;
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

    /// Re-grounds without a session if the profile lets cook do so.
    fn reground(&mut self, workspace: &Workspace) -> Result<Option<Step>> {
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

    /// Takes in the inbox of the sessions; nobody else does while a driver holds the lease.
    fn take_inbox(&mut self) -> Result<()> {
        let workspace = self.open()?;
        for finding in service::take_inbox(&workspace, Taker::Command)? {
            self.observer.observe(&RunEvent::Inbox(&finding));
        }
        Ok(())
    }

    /// The part of the prompt about the role's surroundings, if it works in its own checkout or in the sandbox.
    fn beside(&self, workspace: &Workspace, role: Role) -> Result<String> {
        if !self.is_apart(workspace, role)? {
            return Ok(match self.keeping.is_kernel() {
                true => prompt::SANDBOX.to_owned(),
                false => String::new(),
            });
        }
        let worktree = workspace.repo.recent_status()?.worktree;
        let mut dirty = worktree.dirty;
        if worktree.more > 0 {
            dirty.push(format!("and {} more", worktree.more));
        }
        Ok(prompt::apart(&dirty))
    }

    /// Runs the sessions of a role, possibly several at once, then records their reports one after another. `format` is
    /// the report format that the prompt asks for.
    pub(super) fn play(
        &mut self,
        workspace: &Workspace,
        role: Role,
        (dispatch, format): (&Dispatch, &str),
        askings: &[Asking],
        ticket: Option<String>,
    ) -> Result<Vec<Step>> {
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
        let rooms = rooms.collect::<Result<Vec<_>>>()?;
        let at = workspace.clock.now();
        let mark = workflow_mark(workspace.store_id(), &workspace.place().cook_dir());
        let sandbox = self.keeping.sandbox(&workspace.repo)?;
        let (_, snapshot) = workspace.require()?;
        let bounds = self.compute_bounds(&snapshot);
        // In its own home or sandbox, the agent's git may not see the user's git settings.
        let identity = match role {
            Role::Implementer => workspace.repo.identity()?.unwrap_or_default(),
            _ => Identity::new(),
        };
        let mut contexts = Vec::new();
        for (asking, (_, dir)) in askings.iter().zip(&rooms) {
            contexts.push(SessionContext {
                role,
                format,
                asking,
                slot: self.board.begins(role, asking.agent.preset.name()),
                dir,
                at: &at,
                workflow: workspace.store_id(),
                mark: &mark,
                identity: &identity,
                bounds,
                sandbox: sandbox.as_ref(),
            });
        }
        let (heard, breach) = self.converse(&contexts, &watch)?;
        self.end(watch)?;
        self.board.ends();
        if breach.what.is_empty() && breach.log_moved {
            if let Some(step) = self.find_stop_meanwhile()? {
                return Ok(vec![step]);
            }
            if breach.user_spoke {
                let why = "the user said something meanwhile, which the judge must hear first; its report is in `cook session log`";
                self.observe_nothing(why);
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
            self.recent.lend(&workspace.repo);
            if !outcomes.is_empty() {
                let (tip, snapshot) = workspace.require()?;
                let head = workspace.repo.head()?;
                began.ticket =
                    service::ticket(&workspace, Some((&tip, &snapshot)), &head, Some(role))?;
            }
            outcomes.push(self.weigh((&workspace, role), agent, heard, &began)?);
        }
        Ok(outcomes)
    }

    /// The evidence of the wave, as an episode that judges continue from, and the prompt that follows it. The episode
    /// is created once for each wave and found again by its label.
    pub(super) fn evidence(
        &self,
        workspace: &Workspace,
        snapshot: &Snapshot,
        head: &Head,
        prompts: &Prompts,
    ) -> Result<Option<(String, On)>> {
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

    /// The judges in order of preference: the configured agents in rotation, starting with the one whose turn it is,
    /// then the fallbacks.
    pub(super) fn bench(
        &self,
        workspace: &Workspace,
        agents: &[RoleAgent],
        turn: usize,
    ) -> Result<Vec<RoleAgent>> {
        let roles = &workspace.config()?.roles;
        let turns = roles.get(Role::StopJudge.short());
        let turns = turns.map_or(0, |role| role.agents.len()).min(agents.len());
        let mut bench = agents.to_vec();
        if turns > 1 {
            bench[..turns].rotate_left(turn % turns);
        }
        Ok(bench)
    }

    /// Runs the sessions of all missing judges at once. If one violates its role, it cannot be told which: no vote
    /// counts, and from then on judges run one at a time.
    pub(super) fn judges_together(
        &mut self,
        workspace: &Workspace,
        due: (&Dispatch, &str),
        judges: &[Asking],
        ticket: Option<String>,
    ) -> Result<Step> {
        let (mut moved, mut last, mut ended) = (false, Step::Waited, None);
        for outcome in self.play(workspace, Role::StopJudge, due, judges, ticket)? {
            match outcome {
                Step::Moved => moved = true,
                // The other judges' votes still count.
                step @ Step::Ended(_) => ended = Some(step),
                // Another agent may replace this one; that is tried one judge at a time.
                Step::Another(_) => self.tally.one_by_one = true,
                step => last = step,
            }
        }
        Ok(ended.unwrap_or(if moved { Step::Moved } else { last }))
    }

    /// Whether a role works in its own checkout. A role that may change nothing does if it runs in the sandbox, if the
    /// settings ask for it, or if the user's worktree had uncommitted changes when the run began.
    pub(super) fn is_apart(&self, workspace: &Workspace, role: Role) -> Result<bool> {
        let set = workspace.config()?.rules.isolate_readonly;
        let wanted = set || self.beside_edits || self.keeping.is_kernel();
        Ok(wanted && role != Role::Implementer && workspace.repo.head()?.commit.is_some())
    }

    /// Prepares the directory that a role works in. Commands of `cook` there act for the worktree of the workflow.
    pub(super) fn room(
        &self,
        workspace: &Workspace,
        role: Role,
    ) -> Result<(Option<Throwaway>, PathBuf)> {
        let throwaway = match workspace.repo.head()?.commit {
            Some(commit) if self.is_apart(workspace, role)? => workspace.repo.throwaway(&commit)?,
            _ => return Ok((None, self.dir.clone())),
        };
        let dir = throwaway.path().to_owned();
        throwaway.stand_for(&workspace.repo)?;
        furnish(&workspace.repo.root().join(".agent"), &dir, role)
            .map_err(|error| unwritable(&dir, &error))?;
        Ok((Some(throwaway), dir))
    }

    /// Runs the sessions, including repair requests, and checks for violations. The first check after all of them ended
    /// sees the changes of every session.
    pub(super) fn converse(
        &mut self,
        contexts: &[SessionContext],
        watch: &Watch,
    ) -> Result<(Vec<SessionAnswer>, Violation)> {
        let asked = contexts.iter();
        let asked: Vec<_> = asked
            .map(|context| (context, context.asking.say.as_str(), context.asking.on))
            .collect();
        let answers = self.ask(&asked);
        let mut breach = Violation::default();
        let mut all = Vec::new();
        for (context, answer) in contexts.iter().zip(answers) {
            let (heard, found) = self.hear(context, answer, watch)?;
            if !found.is_none() {
                breach = found;
            }
            all.push(heard);
        }
        Ok((all, breach))
    }

    /// Calls all agents at once, each in its own thread, and reports their progress as it arrives.
    fn ask(&mut self, asked: &[(&SessionContext, &str, Option<On>)]) -> Vec<Asked> {
        let (sessions, spent) = (&self.sessions, &self.tally.spent);
        let told = Mutex::new((&mut *self.observer, &mut self.board));
        let told = || told.lock().unwrap_or_else(PoisonError::into_inner);
        let one = |(context, say, on): &(&SessionContext, &str, Option<On>)| {
            let slot = context.slot;
            let answer = context.ask(sessions, say, *on, &mut |progress| {
                let (observer, board) = &mut *told();
                board.shows(slot, &progress);
                observer.observe(&RunEvent::Shows { slot, progress });
                ControlFlow::Continue
            });
            told().0.observe(&RunEvent::Ends { slot, spent });
            answer
        };
        let answers: Vec<Asked> = thread::on_each(asked, one)
            .into_iter()
            .map(|answer| answer.unwrap_or_else(|cause| std::panic::resume_unwind(cause)))
            .collect();
        for ((context, ..), answer) in asked.iter().zip(&answers) {
            self.book(context, answer);
        }
        answers
    }

    /// Counts the cost of a call, whatever its outcome.
    fn book(&mut self, context: &SessionContext, asked: &Asked) {
        let spent = &mut self.tally.spent;
        match asked {
            Ok(reply) => spent.add(reply.answer.cost_micro_usd, reply.answer.usage.as_ref()),
            Err(error) => {
                let Some(report) = &error.1 else {
                    return;
                };
                spent.add(report.cost_micro_usd, report.usage.as_ref());
                let class = report.failure.as_ref().map(|failed| failed.class);
                if class == Some(FailureClass::Interrupted) {
                    self.tally.cut = Some(context.role);
                }
            }
        }
        let spent = &self.tally.spent;
        self.observer.observe(&RunEvent::Ends {
            slot: context.slot,
            spent,
        });
    }

    /// Interprets an answer, asks once for a repair if the report is malformed, and checks for violations.
    fn hear(
        &mut self,
        context: &SessionContext,
        first: Asked,
        watch: &Watch,
    ) -> Result<(SessionAnswer, Violation)> {
        let breach = self.settle(watch)?;
        let reply = match first {
            Err(error) => return Ok((nothing(*error), breach)),
            Ok(reply) => reply,
        };
        let on = reply.series.map_or(On::Episode(reply.episode), On::Series);
        let sent = reply.answer.output.clone();
        let findings = match SessionAnswer::of(context.role, reply) {
            SessionAnswer::Malformed(findings) if breach.is_none() => findings,
            heard => return Ok((heard, breach)),
        };
        self.observer.observe(&RunEvent::Repairs(&findings));
        let repair = report::repair_prompt(context.role, &findings, &sent, context.format);
        self.mirror.refresh()?;
        let again = self.ask(&[(context, &repair, Some(on))]).remove(0);
        let breach = self.settle(watch)?;
        let heard = match again {
            Err(error) => nothing(*error),
            Ok(again) => SessionAnswer::of(context.role, again),
        };
        Ok((heard, breach))
    }

    /// Settles the watch after a session. The workspace is opened again each time, because the session may have changed
    /// the settings.
    fn settle(&mut self, watch: &Watch) -> Result<Violation> {
        let (leads, lost) = self.mirror.put_back(watch)?;
        let workspace = Workspace::open(&self.dir)?;
        let store = workspace.store()?;
        if !store.holds(&self.lease) {
            // The lease was lost with cook's files, or another driver holds it now.
            self.lease = store.lease("cook run")?;
        }
        let unlocked = watch.unlock(&workspace)?;
        if !unlocked.is_empty() {
            self.observer.observe(&RunEvent::Unlocked(&unlocked));
        }
        let mut breach = watch.settle(&workspace, leads)?;
        match breach.is_none() {
            true => self.recent.note(&workspace.repo),
            false => self.recent.forget(),
        }
        self.mirror.note_settled();
        if !breach.before.is_empty() {
            self.observer.observe(&RunEvent::Beside(&breach.before));
        }
        if lost {
            breach.what.insert(0, TAKEN.to_owned());
        }
        Ok(breach)
    }

    /// Handles a log that was moved during a session: if that stops the work, the run ends; otherwise the report counts
    /// if it still fits.
    pub(super) fn find_stop_meanwhile(&mut self) -> Result<Option<Step>> {
        let workspace = self.open()?;
        let (_, snapshot) = workspace.require()?;
        let (dispatch, _) = service::dispatch_now(&workspace, Some(&snapshot))?;
        if dispatch.role.is_some() {
            return Ok(None);
        }
        let why = "the work was stopped meanwhile; what the session committed stays, and its report is in `cook session log`";
        self.observe_nothing(why);
        Ok(Some(Step::Ended(Ended::Policy(dispatch.policy))))
    }

    /// The session violated its role: its report is not accepted.
    fn refuse_violation(&mut self, role: Role, breach: &Violation) -> Result<Step> {
        self.observer.observe(&RunEvent::Breached { role, breach });
        if breach.log_moved {
            let what = format!(
                "the log was moved during the session of the {role}: its report no longer fits the log"
            );
            return Err(Refusal::new(Code::StaleFacts, what).into());
        }
        let why = format!("it exceeded its role: {}", breach.what.join("; "));
        let workspace = self.open()?;
        self.spend((&workspace, role), list_one(Code::AuthorityBreached), why)
    }

    /// Turns a session's answer into a transition or a failed attempt.
    fn weigh(
        &mut self,
        at: At,
        agent: &RoleAgent,
        answer: SessionAnswer,
        began: &SessionStart,
    ) -> Result<Step> {
        self.tally.has_heard |= matches!(
            answer,
            SessionAnswer::Taken(_) | SessionAnswer::Malformed(_)
        );
        match answer {
            SessionAnswer::Taken(report) => self.take(at, &report, began),
            SessionAnswer::Malformed(findings) => {
                let codes = findings.iter().map(|one| one.code.id().to_owned());
                let said = findings.iter().take(NAMED);
                let mut said: Vec<String> = said
                    .map(|one| format!("[{}] {}", one.code.id(), one.message))
                    .collect();
                let more = findings.len().saturating_sub(NAMED);
                said.extend((more > 0).then(|| format!("and {more} more")));
                let why = format!("the report breaks the rules: {}", said.join("; "));
                self.refuse(at, codes.collect(), why)
            }
            SessionAnswer::Nothing(failed, end) => self.weigh_failure(at, agent, (&failed, &end)),
            SessionAnswer::Unkept(error) => Ok(Step::Another(error.message)),
        }
    }

    /// Records a report, as `cook record` does.
    fn take(
        &mut self,
        at: At,
        (report, reply): &(report::Report, Reply),
        began: &SessionStart,
    ) -> Result<Step> {
        let (workspace, role) = at;
        if role == Role::StopJudge
            && let (_, snapshot) = workspace.require()?
            && let Some(vote) = self.twin(&snapshot, reply)?
        {
            let why = format!("its session already gave vote {vote}");
            return self.refuse(at, list_one(Code::JudgeNotIndependent), why);
        }
        let provenance = Provenance {
            session: Some(reply.exchange.to_string()),
            ticket: began.ticket.clone(),
            began_at: began.head.clone(),
        };
        let Reported::Event(event) = report::event(report, provenance) else {
            return Ok(Step::Another("the report asks for nothing".to_owned()));
        };
        // Measured before recording: gates and notifications are not part of the session's time.
        let took = began.at.elapsed();
        match self.record(workspace, &event) {
            Ok(applied) => {
                self.observer.observe(&RunEvent::Recorded {
                    event: &event,
                    applied: &applied,
                    took,
                    cost_micro_usd: reply.answer.cost_micro_usd,
                });
                Ok(Step::Moved)
            }
            Err(failure) if failure.kind == FailureKind::Refused => {
                let mut why = format!("[{}] {}", failure.code.id(), failure.message);
                for hint in &failure.hints {
                    why.push_str("; ");
                    why.push_str(hint);
                }
                self.refuse(at, list_one(failure.code), why)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Tells the observer and records that a session failed by its own fault.
    fn refuse(&mut self, at: At, codes: Vec<String>, why: String) -> Result<Step> {
        self.observe_nothing(&why);
        self.spend(at, codes, why)
    }

    /// Like [`Self::refuse`], without telling the observer.
    fn spend(&mut self, at: At, codes: Vec<String>, why: String) -> Result<Step> {
        let refused = Event::Refused {
            role: at.1,
            codes,
            why: why.chars().take(MAX_WHY).collect(),
        };
        self.record(at.0, &refused)?;
        Ok(Step::Nothing(why))
    }

    fn observe_nothing(&mut self, why: &str) {
        self.observer.observe(&RunEvent::CameToNothing(why));
    }

    fn weigh_failure(
        &mut self,
        at: At,
        agent: &RoleAgent,
        (failed, end): (&AgentFailure, &str),
    ) -> Result<Step> {
        let why = format!("{}: {} ({end})", agent.preset.name(), failed.why());
        match failed.class {
            FailureClass::Interrupted => Ok(Step::Ended(Ended::Asked)),
            FailureClass::Agent => self.refuse(at, list_one(Code::SupplierFailed), why),
            FailureClass::Config | FailureClass::Environment => {
                self.observe_nothing(&why);
                if failed.class == FailureClass::Environment {
                    if let Some(until) = &failed.reset_at {
                        let name = agent.preset.name().to_owned();
                        self.limited.insert(name, until.clone());
                        return self.wait(at.0, until, why);
                    }
                    // An agent that never answered may have a wrong address, and waiting does not correct that.
                    if failed.passes() || failed.is_offline() && self.tally.has_heard {
                        self.tally.passing = Some(failed.read_retry_after());
                    }
                    // A program that was there before may be in the middle of an update.
                    let waits = self.tally.waits < ABSENT_WAITS;
                    if failed.is_absent() && self.tally.has_heard && waits {
                        self.tally.passing = Some(Some(ABSENT_WAIT));
                    }
                }
                Ok(Step::Another(why))
            }
        }
    }

    /// The earlier vote of this wave that came from the same session of the same agent.
    fn twin(&self, snapshot: &Snapshot, reply: &Reply) -> Result<Option<u64>> {
        let session = |name: Ref| -> Result<Option<(String, String)>> {
            let entry = self.sessions.entry(name)?;
            Ok(entry.and_then(|entry| Some((entry.supplier, entry.exid?))))
        };
        let Some(mine) = session(reply.exchange)? else {
            return Ok(None);
        };
        for vote in &snapshot.ledger.wave.votes {
            let name = vote.session.as_deref().and_then(|text| text.parse().ok());
            if let Some(name) = name
                && session(name)?.as_ref() == Some(&mine)
            {
                return Ok(Some(vote.seq.0));
            }
        }
        Ok(None)
    }
}

/// How long to wait each time for a program that was there and is gone.
const ABSENT_WAIT: Duration = Duration::from_secs(5);
/// Number of such waits: an update takes a minute at most.
const ABSENT_WAITS: u32 = 12;

fn no_role(dispatch: &Dispatch) -> Failure {
    Refusal::new(
        Code::NotInitialised,
        format!("the contract needs repair: {}", dispatch.reason),
    )
    .replace_hints(["run `cook init`"])
    .into()
}

// A session: the prompt and, if its report breaks a rule, one repair request, with the check for violations. A session
// that violated its role is not asked again.

/// The result of a session.
pub(super) enum SessionAnswer {
    /// A report that follows the rules.
    Taken(Box<(report::Report, Reply)>),
    /// A report that breaks the rules, even after the repair request if one was made.
    Malformed(Vec<Finding>),
    /// No report, because the agent failed; also how its process ended.
    Nothing(AgentFailure, String),
    /// No report, for a reason that is not the agent's fault.
    Unkept(Failure),
}

impl SessionAnswer {
    fn of(role: Role, reply: Reply) -> Self {
        let parsed = report::parse(role, reply.answer.output.as_bytes());
        match parsed.report {
            Some(report) if parsed.findings.is_empty() => Self::Taken(Box::new((report, reply))),
            _ => Self::Malformed(parsed.findings),
        }
    }
}

/// An agent, its prompt, and the episode or series to continue from.
pub(super) struct Asking {
    pub agent: RoleAgent,
    pub say: String,
    pub on: Option<On>,
}

/// The role, place and conditions of a session.
pub(super) struct SessionContext<'a> {
    pub role: Role,
    /// Format of the report that the prompt asks for.
    pub format: &'a str,
    pub asking: &'a Asking,
    /// Its slot on the board.
    pub slot: usize,
    pub dir: &'a Path,
    /// The start time, in RFC 3339.
    pub at: &'a str,
    /// The log's id.
    pub workflow: &'a str,
    /// Value of the environment variable that marks its processes.
    pub mark: &'a str,
    /// Author of its commits, as environment variables of git.
    pub identity: &'a Identity,
    /// Its limits of cost, tokens and requests.
    pub bounds: Bounds,
    /// The sandbox that restricts what it can write, if any.
    pub sandbox: Option<&'a Sandbox>,
}

/// A reply, or a failure with the report of the agent's process if it ran.
pub(super) type Asked = Result<Reply, Box<(Failure, Option<Report>)>>;

impl SessionContext<'_> {
    /// Makes one call. `watched` receives the agent's progress.
    pub fn ask(
        &self,
        sessions: &GitStore,
        say: &str,
        on: Option<On>,
        watched: &mut dyn FnMut(Progress) -> ControlFlow,
    ) -> Asked {
        let agent = &self.asking.agent;
        let preset = agent.preset.clone();
        let mut supplier = AgentSupplier::new(preset, self.dir, sessions.root(), agent.clocks);
        supplier.model.clone_from(&agent.model);
        supplier.role = Some(self.role.short().to_owned());
        supplier.workflow = Some(self.workflow.to_owned());
        supplier.env = vec![(WORKFLOW_VARIABLE.to_owned(), self.mark.into())];
        let identity = self.identity.iter();
        supplier
            .env
            .extend(identity.map(|(name, value)| ((*name).to_owned(), value.into())));
        supplier.bounds = self.bounds;
        supplier.bounds.price = agent.price;
        supplier.access = Some(agent.access);
        supplier.sandbox = self.sandbox.cloned();
        supplier.watch = RefCell::new(Box::new(watched));
        let outcome = call(
            sessions,
            &supplier,
            &Call {
                say,
                action: match self.role {
                    Role::Implementer => Action::Act,
                    _ => Action::Ask,
                },
                on: on.filter(|_| supplier.continuation() != Continuation::None),
                schema: None,
                native: NativeUse::Auto,
                recap: None,
                at: self.at,
            },
        );
        outcome.map_err(|error| Box::new((error, supplier.last())))
    }
}

fn nothing((error, report): (Failure, Option<Report>)) -> SessionAnswer {
    let failed = report.and_then(|report| Some((report.failure.clone()?, report.describe_end())));
    match failed {
        Some((failed, end)) => SessionAnswer::Nothing(failed, end),
        None => SessionAnswer::Unkept(error),
    }
}

/// Copies the documents that the prompt refers to into the role's own checkout. A judge gets no votes, because some may
/// be of its own wave.
fn furnish(documents: &Path, room: &Path, role: Role) -> std::io::Result<()> {
    let to = room.join(".agent");
    std::fs::create_dir_all(&to)?;
    for entry in std::fs::read_dir(documents)? {
        let entry = entry?;
        let (name, target) = (entry.file_name(), to.join(entry.file_name()));
        let votes = role == Role::StopJudge && name == History::Stop.file();
        if entry.file_type()?.is_file() && !votes && !target.exists() {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

// Recording the result of a session, as a transition or a failed attempt.

/// Maximum length in characters of the recorded reason why a report was not accepted.
const MAX_WHY: usize = 2_000;

/// Maximum number of broken rules that are named.
const NAMED: usize = 5;

/// The workspace where the result is recorded, and the role of the session.
type At<'a> = (&'a Workspace, Role);

fn list_one(code: Code) -> Vec<String> {
    vec![code.id().to_owned()]
}

/// The state when a session began.
struct SessionStart {
    /// The ticket that its prompt was made for.
    ticket: Option<String>,
    /// HEAD at that time.
    head: Option<String>,
    at: Instant,
}
