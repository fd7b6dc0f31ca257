//! One role's turn: its session, its report, the transition.

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
    pub(super) fn step(&mut self) -> Result<Step> {
        let workspace = self.open()?;
        self.recent.lend(&workspace.repo);
        // A session reads `.agent/`: what it sees has to be what its report is held against.
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

    /// Re-grounds without a session, where the profile lets cook do that.
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

    /// Takes in what the sessions left: nobody else does while a driver holds the lease.
    fn take_inbox(&mut self) -> Result<()> {
        let workspace = self.open()?;
        for finding in service::take_inbox(&workspace, Taker::Command)? {
            self.observer.observe(&RunEvent::Inbox(&finding));
        }
        Ok(())
    }

    /// What a role is told of the place it works in, where that is one of its own.
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

    /// Holds a role's sessions, several of them at once; their reports, of the format that was asked
    /// for, are taken one after another.
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
        // Its settings of git may be none of those that the user goes by: a home of its own, a sandbox.
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

    /// What a judge is told: the evidence of the wave as an episode to go on from, and the
    /// rest. A wave's evidence is put together once and found again by its name.
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

    /// Who judges, first choice first: those that take turns, begun by the one whose turn it
    /// is, then the others.
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

    /// Holds all missing judges' sessions at once. Who did what he may not cannot be told from
    /// the others then: no vote counts, and they are held one by one from there on.
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
                // What the others said counts all the same.
                step @ Step::Ended(_) => ended = Some(step),
                // Another agent may stand in: that is tried with one at a time.
                Step::Another(_) => self.tally.one_by_one = true,
                step => last = step,
            }
        }
        Ok(ended.unwrap_or(if moved { Step::Moved } else { last }))
    }

    /// Whether a role works in a place of its own: one that may change nothing, when it is in the
    /// sandbox, the settings ask for it, or the user's worktree held what is not committed as the
    /// run began.
    pub(super) fn is_apart(&self, workspace: &Workspace, role: Role) -> Result<bool> {
        let set = workspace.config()?.rules.isolate_readonly;
        let wanted = set || self.beside_edits || self.keeping.is_kernel();
        Ok(wanted && role != Role::Implementer && workspace.repo.head()?.commit.is_some())
    }

    /// Where a role works. What it asks cook there is answered for the worktree in work.
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

    /// The sessions from their prompts on, and what was done beside: the first look after all
    /// of them ended sees what any of them did.
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

    /// Asks all at once, each in a thread of its own; what they let know is told as it comes.
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

    /// What a call took counts, whatever came of it.
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

    /// What an answer amounts to, and what was done beside it.
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

    /// The workspace is opened again each time: the session may have changed the settings.
    fn settle(&mut self, watch: &Watch) -> Result<Violation> {
        let (leads, lost) = self.mirror.put_back(watch)?;
        let workspace = Workspace::open(&self.dir)?;
        let store = workspace.store()?;
        if !store.holds(&self.lease) {
            // It went with the rest, or somebody else drives now.
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

    /// Somebody recorded something while a session was held. Where that stops the work, the run
    /// ends; else the report counts as far as it still fits.
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

    /// The session did what its role may not: its report is not taken.
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

    /// What a session gave becomes a transition, or an attempt that failed.
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

    /// Hands a report in, as `cook record` does.
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
        // Its gates, and whoever is told, take their own time.
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

    /// Writes down that a session failed by its own doing.
    fn refuse(&mut self, at: At, codes: Vec<String>, why: String) -> Result<Step> {
        self.observe_nothing(&why);
        self.spend(at, codes, why)
    }

    /// The same where the observer knows it.
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
                    // One that never was there may be a wrong address, which no wait mends.
                    if failed.passes() || failed.is_offline() && self.tally.has_heard {
                        self.tally.passing = Some(failed.read_retry_after());
                    }
                    // A program that was there may be just being updated.
                    let waits = self.tally.waits < ABSENT_WAITS;
                    if failed.is_absent() && self.tally.has_heard && waits {
                        self.tally.passing = Some(Some(ABSENT_WAIT));
                    }
                }
                Ok(Step::Another(why))
            }
        }
    }

    /// The vote of this wave that came out of the same session of the same agent.
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

/// How long a program that was there and is gone is waited for, each time.
const ABSENT_WAIT: Duration = Duration::from_secs(5);
/// How often: an update takes a minute at most.
const ABSENT_WAITS: u32 = 12;

fn no_role(dispatch: &Dispatch) -> Failure {
    Refusal::new(
        Code::NotInitialised,
        format!("the contract needs repair: {}", dispatch.reason),
    )
    .replace_hints(["run `cook init`"])
    .into()
}

// A session: the prompt, and where its report breaks a rule one request more; with what was
// done beside. Whoever did what he may not is asked nothing more.

/// What a session gave.
pub(super) enum SessionAnswer {
    /// A report that keeps the rules.
    Taken(Box<(report::Report, Reply)>),
    /// One that does not, also the second time where it was asked for again.
    Malformed(Vec<Finding>),
    /// Nothing; how it ended.
    Nothing(AgentFailure, String),
    /// Nothing, and not by the agent's doing.
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

/// Who is asked what, and what it goes on from.
pub(super) struct Asking {
    pub agent: RoleAgent,
    pub say: String,
    pub on: Option<On>,
}

/// Who is to say what, where.
pub(super) struct SessionContext<'a> {
    pub role: Role,
    /// Of the report that it is asked for.
    pub format: &'a str,
    pub asking: &'a Asking,
    /// Its place on the board.
    pub slot: usize,
    pub dir: &'a Path,
    /// The moment, RFC 3339.
    pub at: &'a str,
    /// The log's id.
    pub workflow: &'a str,
    /// What marks its processes.
    pub mark: &'a str,
    /// Whom its commits name.
    pub identity: &'a Identity,
    /// What it may take.
    pub bounds: Bounds,
    /// What holds it to what its role may write.
    pub sandbox: Option<&'a Sandbox>,
}

/// An answer, or the lack of one with what the agent's program came to where it ran.
pub(super) type Asked = Result<Reply, Box<(Failure, Option<Report>)>>;

impl SessionContext<'_> {
    /// One call. The agent is listened to by whoever `watched` tells.
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

/// Lets a place of its own hold the documents that the prompt speaks of. A judge gets no
/// votes: some may be of its own wave.
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

// What a session gave becomes a transition, or an attempt that came to nothing.

/// Longest reason why a report was not taken that is kept, in characters.
const MAX_WHY: usize = 2_000;

/// Rules that a report breaks which are named one by one.
const NAMED: usize = 5;

/// Where what a session gave is recorded, and whose it is.
type At<'a> = (&'a Workspace, Role);

fn list_one(code: Code) -> Vec<String> {
    vec![code.id().to_owned()]
}

/// What a session began with.
struct SessionStart {
    /// The ticket of the state that it was asked about.
    ticket: Option<String>,
    /// HEAD.
    head: Option<String>,
    /// When.
    at: Instant,
}
