//! A session: the prompt, and where its report breaks a rule one request more; with what was
//! done beside. Whoever did what he may not is asked nothing more.

use super::mirror::TAKEN;
use super::run_loop::Driver;
use super::run_order::{RoleAgent, RunEvent};
use super::session_guard::{Violation, Watch, unwritable};
use crate::service::Workspace;
use cook_agents::{AgentFailure, AgentSupplier, Bounds, FailureClass, Progress, Report, Sandbox};
use cook_protocol::diagnostic::{Failure, Finding};
use cook_protocol::model::Role;
use cook_protocol::report;
use cook_repo::git::{Identity, Throwaway};
use cook_repo::process::{ControlFlow, WORKFLOW_VARIABLE};
use cook_repo::session::{
    Action, Call, Continuation, GitStore, NativeUse, On, Reply, Supplier, call,
};
use cook_repo::store::History;
use cook_repo::thread;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

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
    pub agent: &'a RoleAgent,
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
        let mut supplier = AgentSupplier::new(
            self.agent.preset.clone(),
            self.dir,
            sessions.root(),
            self.agent.clocks,
        );
        supplier.model.clone_from(&self.agent.model);
        supplier.role = Some(self.role.short().to_owned());
        supplier.workflow = Some(self.workflow.to_owned());
        supplier.env = vec![(WORKFLOW_VARIABLE.to_owned(), self.mark.into())];
        let identity = self.identity.iter();
        supplier
            .env
            .extend(identity.map(|(name, value)| ((*name).to_owned(), value.into())));
        supplier.bounds = self.bounds;
        supplier.bounds.price = self.agent.price;
        supplier.access = Some(self.agent.access);
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

impl Driver<'_> {
    /// Whether a role works in a place of its own: one that may change nothing, when it is in the
    /// sandbox, the settings ask for it, or the user's worktree held what is not committed as the
    /// run began.
    pub(super) fn is_apart(&self, workspace: &Workspace, role: Role) -> Result<bool, Failure> {
        let set = workspace.config()?.rules.isolate_readonly;
        let wanted = set || self.beside_edits || self.keeping.is_kernel();
        Ok(wanted && role != Role::Implementer && workspace.repo.head()?.commit.is_some())
    }

    /// Where a role works. What it asks cook there is answered for the worktree in work.
    pub(super) fn room(
        &self,
        workspace: &Workspace,
        role: Role,
    ) -> Result<(Option<Throwaway>, PathBuf), Failure> {
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
        askings: &[Asking],
        watch: &Watch,
    ) -> Result<(Vec<SessionAnswer>, Violation), Failure> {
        let asked = contexts.iter().zip(askings);
        let asked: Vec<_> = asked
            .map(|(context, asking)| (context, asking.say.as_str(), asking.on))
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
    ) -> Result<(SessionAnswer, Violation), Failure> {
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
    fn settle(&mut self, watch: &Watch) -> Result<Violation, Failure> {
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
        self.mirror.note_settled();
        if !breach.before.is_empty() {
            self.observer.observe(&RunEvent::Beside(&breach.before));
        }
        if lost {
            breach.what.insert(0, TAKEN.to_owned());
        }
        Ok(breach)
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
