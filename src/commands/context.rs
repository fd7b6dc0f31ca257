//! The context of a command: its directory and screen, who called it, what the caller may do, and progress messages.

pub(super) use super::context;
pub(super) use super::input::{self, free_text};
pub(super) use crate::prelude::*;
pub(super) use crate::service;
pub(super) use crate::view::{Dispatched, Exit, Format, Page, Screen, Show, Tone, VerifyAnswer};
pub(super) use crate::workspace::Workspace;
pub(super) use clap::{Args, Subcommand};

use crate::view;
use cook_repo::process::{ROLE_VARIABLE, agent_marker, agent_process, session_marker};
use cook_repo::room::RunnerFiles;
use std::io::{self, IsTerminal};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The context that every command gets.
pub(super) struct Context {
    /// The current directory, or the argument of `-C`.
    pub dir: PathBuf,
    pub dir_is_named: bool,
    /// The output.
    pub screen: Screen,
}

impl Context {
    pub fn workspace(&self) -> Result<Workspace> {
        let mut workspace = Workspace::open(&self.dir)?;
        workspace.attended = is_attended();
        Ok(workspace)
    }
}

/// The result of any command.
pub(super) type Answer = Result<Box<dyn view::Answer>>;

pub(super) fn answer(value: impl view::Answer + 'static) -> Answer {
    Ok(Box::new(value))
}

/// A text that is printed unchanged, for a file or another program.
#[derive(Debug, Serialize)]
pub(super) struct PromptAnswer(pub String);

impl Show for PromptAnswer {
    fn human(&self, page: &mut Page) {
        page.verbatim(&self.0);
    }

    fn has_json(&self) -> bool {
        false
    }
}

/// Lines for a person, wrapped to the width of the terminal.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct HelpAnswer(pub String);

impl Show for HelpAnswer {
    fn human(&self, page: &mut Page) {
        self.0.lines().for_each(|line| page.line(line));
    }

    fn has_json(&self) -> bool {
        false
    }
}

// Identifies the caller: a person, a script, or a process that an agent started
// (`protocol/completion.md#what-is-the-users-alone`).

#[derive(Debug, Clone, Default, Args)]
pub(super) struct AsUser {
    /// Confirm that a script acts on behalf of a person (recorded in the log)
    #[arg(long)]
    pub as_user: bool,
}

/// Accepts a person, or a script with `--as-user`; refuses a process that an agent started.
pub(super) fn require_user(as_user: bool) -> Result<Actor> {
    require_user_by("--as-user", as_user)
}

/// Like [`require_user`], for a command whose flag for scripts has another name.
pub(super) fn require_user_by(flag: &str, said: bool) -> Result<Actor> {
    if let Some(why) = agent_around() {
        return Err(user_only(&why));
    }
    match (std::io::stdin().is_terminal(), said) {
        (true, false) => Ok(Actor::User),
        (_, true) => Ok(Actor::Script),
        (false, false) => Err(user_only("standard input is not a terminal").hint(format!(
            "in a script of your own use `{flag}`; the log then records that a script did it"
        ))),
    }
}

fn user_only(why: &str) -> Failure {
    Refusal::new(Code::UserOnly, format!("only a person may do this: {why}")).into()
}

/// The actor to record for a command that everyone may use.
pub(super) fn anybody() -> Actor {
    match (agent_around(), std::io::stdin().is_terminal()) {
        (Some(_), _) => Actor::Role,
        (None, true) => Actor::User,
        (None, false) => Actor::Script,
    }
}

/// Whether a person at a terminal can be asked for a password.
pub(super) fn is_attended() -> bool {
    std::io::stdin().is_terminal() && agent_around().is_none()
}

/// Returns a sign that an agent started this process, if any.
pub(super) fn agent_around() -> Option<String> {
    agent_marker()
        .map(|name| format!("`{name}` is set"))
        .or_else(session_marker)
        .or_else(|| {
            let (name, pid) = agent_process()?;
            Some(format!("process {pid}, an agent ({name}), started it"))
        })
}

/// In a session of a role, refuses the reports of other roles.
pub(super) fn refuse_other_role(role: Role) -> Result<()> {
    let Ok(mine) = std::env::var(ROLE_VARIABLE) else {
        return Ok(());
    };
    if mine.is_empty() || Role::parse(&mine) == Some(role) {
        return Ok(());
    }
    Err(inside_role(format!(
        "this is a session of `{mine}`; it cannot hand in a report of the {role}"
    )))
}

/// Refuses to write from a throwaway copy of a worktree.
pub(super) fn not_apart(workspace: &Workspace) -> Result<()> {
    let what = "this directory is a copy of another worktree, which cannot be changed from here";
    match workspace.from_apart {
        false => Ok(()),
        true => Err(inside_role(what).hint("you can still run commands that only read")),
    }
}

/// The actor of a pause. Everyone may pause the work, but only a person's words bind. A session that cook started stops
/// the work by its report instead.
pub(super) fn find_pauser(as_user: bool) -> Result<Actor> {
    if let Some(why) = session_marker() {
        return Err(inside_role(format!(
            "a session that cook started cannot pause the work: {why}"
        )));
    }
    if as_user {
        return require_user(true);
    }
    Ok(match is_attended() {
        true => Actor::User,
        false => Actor::Role,
    })
}

/// Refuses to start an agent from an agent that cook started.
pub(super) fn not_nested() -> Result<()> {
    match session_marker() {
        None => Ok(()),
        Some(why) => Err(inside_role(format!(
            "an agent that cook started may not start another: {why}"
        ))),
    }
}

fn inside_role(what: impl Into<String>) -> Failure {
    Refusal::new(Code::InsideRole, what).into()
}

// Progress messages for a person at a terminal.

/// Commands that end sooner print no progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// The current activity, if any, and whether [`PATIENCE`] has passed.
pub(super) struct Progress(Screen, Arc<Mutex<(Option<String>, bool)>>);

impl Progress {
    pub(super) fn begin(screen: Screen) -> Self {
        let said = Arc::new(Mutex::new((None, false)));
        let waits = Arc::clone(&said);
        let wait = move || {
            std::thread::sleep(PATIENCE);
            let mut said = hold(&waits);
            said.1 = true;
            said.0.iter().for_each(|text: &String| screen.note(text));
        };
        // Without a thread, each activity is printed at once.
        if screen.redraws && thread::spawn(wait).is_err() {
            hold(&said).1 = true;
        }
        Self(screen, said)
    }

    pub(super) fn tell(&self, text: &str) {
        let mut said = hold(&self.1);
        if said.1 {
            self.0.note(text);
        }
        said.0 = Some(text.to_owned());
    }
}

/// Prints each command that begins, to a person at a terminal, as long as the workspace lives.
pub(super) fn tell_progress(screen: Screen, workspace: &mut Workspace) {
    let progress = Progress::begin(screen);
    workspace.tell = Some(Arc::new(move |text: &str| progress.tell(text)));
}

impl Drop for Progress {
    fn drop(&mut self) {
        hold(&self.1).0 = None;
    }
}

fn hold<T>(said: &Mutex<T>) -> MutexGuard<'_, T> {
    said.lock().unwrap_or_else(PoisonError::into_inner)
}

// Protects the files through which a CI step talks to its runner while gates run.

/// Runs `work`, which runs gates, and restores the runner's files afterwards, even if it fails. A finding
/// names the files that were written.
pub(super) fn guard<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, Option<Finding>)> {
    let failure = |error: io::Error| {
        let what = "the files by which a step speaks to its CI runner";
        Failure::state(Code::NotWritable, what).with_cause(&error)
    };
    let files = RunnerFiles::remember().map_err(failure)?;
    let done = work();
    let written = files.put_back().map_err(failure)?;
    let finding = (!written.is_empty()).then(|| {
        let what = format!(
            "while gates ran, something wrote the file of `{}`; it was restored",
            written.join("`, `")
        );
        Finding::new(Code::RunnerFilesWritten, what)
    });
    match done {
        Ok(done) => Ok((done, finding)),
        Err(mut failure) => {
            failure.findings.extend(finding);
            Err(failure)
        }
    }
}

/// Joins names on one line, or returns `nothing` if there are none.
pub(super) fn join_or(names: &[String], nothing: &str) -> String {
    match names.is_empty() {
        true => nothing.to_owned(),
        false => names.join(", "),
    }
}
