//! An agent program as a supplier of conversations.

use super::agent_run::{Report, Task, run, transcript_digest};
use super::listen::Progress;
use super::redact::{redact_answer, redact_data};
use super::{Bounds, Preset, Sandbox, Surroundings, usage};
use cook_core::diagnostic;
use cook_core::digest::sha256;
use cook_core::model::Access;
use cook_git::Repo;
use cook_os::clock::Clock;
use cook_os::process::{Clocks, ControlFlow, INVOCATION_VARIABLE, WORKFLOW_VARIABLE, end_marked};
use cook_store::session::{
    Action, Answer, Capability, Continuation, GitStore, Native, SessionError, Supplier,
    SupplierError, SupplierErrorKind, Turn, Window,
};
use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Sees what goes on, and may stop it.
pub type Watch<'a> = Box<dyn FnMut(Progress) -> ControlFlow + 'a>;

/// Puts back what a question changed, and says what that was, one line each; none = it was not
/// looked at.
pub type PutBack<'a> = Box<dyn FnOnce() -> Result<Option<Vec<String>>, diagnostic::Failure> + 'a>;
/// Begins to watch a question; of an order only what cook keeps is put back.
pub type Guard<'a> = dyn Fn(Action) -> Result<PutBack<'a>, diagnostic::Failure> + 'a;

/// An agent with what it may do. It works in one directory; calls follow one another.
pub struct AgentSupplier<'a> {
    preset: Preset,
    dir: PathBuf,
    root: PathBuf,
    clocks: Clocks,
    /// The repository that is compared before and after each call.
    pub repo: Option<&'a Repo>,
    /// Holds a question to reading, an order to what is not cook's; none = what it changed is named alone.
    pub guard: Option<Box<Guard<'a>>>,
    /// A model other than its own choice.
    pub model: Option<String>,
    /// The role of the workflow that it plays.
    pub role: Option<String>,
    /// The workflow: its log's id.
    pub workflow: Option<String>,
    /// What a call may take.
    pub bounds: Bounds,
    /// An access other than that of the action: reading for an ask, writing for an act.
    pub access: Option<Access>,
    /// What keeps it to what its action may do; none = nothing does.
    pub sandbox: Option<Sandbox>,
    /// Further variables.
    pub env: Vec<(String, OsString)>,
    /// Sees it while it works.
    pub watch: RefCell<Watch<'a>>,
    last: RefCell<Option<Report>>,
}

impl<'a> AgentSupplier<'a> {
    /// An agent that works in `dir` and keeps its files in the session store's directory
    /// `root`: raw output in `attempts/<exchange>/`, session files in `native/<agent>/`.
    pub fn new(
        preset: Preset,
        dir: impl Into<PathBuf>,
        root: impl Into<PathBuf>,
        clocks: Clocks,
    ) -> Self {
        Self {
            preset,
            repo: None,
            guard: None,
            dir: dir.into(),
            root: root.into(),
            clocks,
            model: None,
            role: None,
            workflow: None,
            bounds: Bounds::default(),
            access: None,
            sandbox: None,
            env: Vec::new(),
            watch: RefCell::new(Box::new(|_| ControlFlow::Continue)),
            last: RefCell::new(None),
        }
    }

    /// What came of the last call, the failure's class among it.
    pub fn last(&self) -> Option<Report> {
        self.last.borrow().clone()
    }

    fn choose_access(&self, action: Action) -> Access {
        if self.preset.capability() == Capability::Atom {
            return Access::None;
        }
        self.access.unwrap_or(match action {
            Action::Ask => Access::Read,
            Action::Act => Access::Write,
        })
    }

    fn surroundings(&self) -> Result<Option<Surroundings>, SupplierError> {
        self.repo.map(Surroundings::of).transpose().map_err(unseen)
    }

    /// What the call changed, beside what it answered; where it was looked for to be put back,
    /// that is what there is.
    fn measure(
        &self,
        before: &Option<Surroundings>,
        (action, put_back): (Action, Option<Vec<String>>),
        answer: &mut Answer,
    ) -> Result<(), SupplierError> {
        let is_guarded = action == Action::Ask && put_back.is_some();
        answer.changed = put_back.unwrap_or_default();
        let (Some(repo), Some(before)) = (self.repo, before) else {
            return Ok(());
        };
        let now = Surroundings::of(repo).map_err(unseen)?;
        answer.head_before = before.head().map(str::to_owned);
        answer.head_after = now.head().map(str::to_owned);
        answer.tree_after = Some(now.tree_digest());
        if !is_guarded {
            let changed = before.list_changes(repo, &now).map_err(unseen)?;
            answer.changed.extend(changed);
        }
        answer.commits = before.commits(repo, &now).map_err(unseen)?;
        Ok(())
    }
}

fn unseen(failure: diagnostic::Failure) -> SupplierError {
    SupplierErrorKind::Failed(format!("the repository cannot be read: {failure}")).into()
}

impl Supplier for AgentSupplier<'_> {
    fn name(&self) -> &str {
        self.preset.name()
    }

    fn capability(&self) -> Capability {
        self.preset.capability()
    }

    fn continuation(&self) -> Continuation {
        self.preset.continuation()
    }

    fn window(&self) -> Option<Window> {
        self.preset.window()
    }

    fn can_fork(&self, native: &Native) -> bool {
        let kept = native.transcript_sha256.as_ref();
        kept.is_some() && kept == transcript_digest(&self.preset, &native.session).as_ref()
    }

    fn call(&self, turn: &Turn) -> Result<Answer, SupplierError> {
        let before = self.surroundings()?;
        let guard = self.guard.as_ref();
        let put_back = guard
            .map(|begin| begin(turn.action))
            .transpose()
            .map_err(unseen)?;
        let invocation = turn.name.to_string();
        let task = Task {
            preset: &self.preset,
            prompt: turn.prompt,
            access: self.choose_access(turn.action),
            action: turn.action,
            sandbox: self.sandbox.as_ref(),
            dir: &self.dir,
            model: self.model.as_deref(),
            schema: turn.schema,
            fork: turn.fork,
            clocks: self.clocks,
            bounds: self.bounds,
            invocation: &invocation,
            role: self.role.as_deref(),
            env: &self.env,
            state: &self.root.join("native").join(self.preset.name()),
            keep: &self.root.join("attempts").join(&invocation),
        };
        let ran = run(&task, &mut *self.watch.borrow_mut());
        // Before anything is asked that may fail: whatever became of it may have changed something.
        let put_back = match put_back {
            Some(put_back) => put_back().map_err(unseen)?,
            None => None,
        };
        let mut report = match ran {
            Ok(report) => report,
            Err(error) => {
                let mut failed = SupplierError::from(SupplierErrorKind::Failed(error.message));
                self.measure(&before, (turn.action, put_back), &mut failed.known)?;
                return Err(failed);
            }
        };
        let by_price = self.bounds.price.zip(report.usage.as_ref());
        report.cost_micro_usd = report
            .cost_micro_usd
            .or_else(|| by_price.and_then(|(price, usage)| usage::compute_price(price, usage)));
        *self.last.borrow_mut() = Some(report.clone());
        // Its hash is of what is kept, so secrets go before there is a value.
        report.data.iter_mut().for_each(redact_data);
        let mut answer = Answer {
            output: redact_answer(&report.text),
            data: report.data,
            exid: report.session,
            native: report.native,
            compaction: report.compaction.as_deref().map(redact_answer),
            usage: report.usage,
            cost_micro_usd: report.cost_micro_usd,
            duration_ms: u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX),
            exit: report.exit,
            model: self.model.clone(),
            role: self.role.clone(),
            workflow: self.workflow.clone(),
            ..Answer::default()
        };
        self.measure(&before, (turn.action, put_back), &mut answer)?;
        match report.failure {
            None => Ok(answer),
            Some(failed) => Err(SupplierError {
                failure: failed.failure,
                class: Some(failed.class.id()),
                reset_at: failed.reset_at,
                known: Box::new(answer),
            }),
        }
    }
}

/// What marks the processes of a workflow's agents: its log's id, and where that log is, because a
/// copy of a repository has the same id and work of its own.
pub fn workflow_mark(workflow: &str, cook_dir: &Path) -> String {
    let place = sha256(cook_dir.as_os_str().as_encoded_bytes());
    format!("{workflow}-{}", &place[..16])
}

/// Ends whatever a run of that workflow left at work, also when nothing is known of its calls
/// any more. Nobody else may drive it: whoever calls this holds the lease, or knows that
/// nobody does. True when there was anything.
pub fn end_left(workflow: &str, cook_dir: &Path) -> bool {
    end_marked(WORKFLOW_VARIABLE, &workflow_mark(workflow, cook_dir)) > 0
}

/// Ends the agents of calls whose cook is gone, and writes those calls down as interrupted.
///
/// # Errors
/// When the store cannot be read or written.
pub fn settle_left(store: &GitStore, clock: &Clock) -> Result<(), SessionError> {
    for call in store.list_interrupted()? {
        end_marked(INVOCATION_VARIABLE, &call.name.to_string());
        store.settle(call, &clock.now())?;
    }
    Ok(())
}
