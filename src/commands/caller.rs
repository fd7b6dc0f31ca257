//! Who is calling: a person, a script, or something an agent started
//! (`protocol/completion.md#what-is-the-users-alone`).

use crate::service::Workspace;
use clap::Args;
use cook_protocol::diagnostic::{Code, Failure, Refusal};
use cook_protocol::model::{Actor, Role};
use cook_repo::process::{ROLE_VARIABLE, agent_marker, session_marker};
use std::io::IsTerminal;

#[derive(Debug, Clone, Default, Args)]
pub(super) struct AsUser {
    /// Called by a script on a person's behalf; recorded as such
    #[arg(long)]
    pub as_user: bool,
}

/// Lets a person through, or a script that says so; refuses an agent's environment.
pub(super) fn require_user(as_user: bool) -> Result<Actor, Failure> {
    require_user_by("--as-user", as_user)
}

/// The same for a command whose flag for scripts has another name.
pub(super) fn require_user_by(flag: &str, said: bool) -> Result<Actor, Failure> {
    if let Some(why) = agent_around() {
        return Err(user_only(&why));
    }
    match (std::io::stdin().is_terminal(), said) {
        (true, false) => Ok(Actor::User),
        (_, true) => Ok(Actor::Script),
        (false, false) => Err(user_only("standard input is not a terminal").hint(format!(
            "a script of yours may say `{flag}`; the log then says that a script did it"
        ))),
    }
}

fn user_only(why: &str) -> Failure {
    Refusal::new(Code::UserOnly, format!("only a person may do this: {why}")).into()
}

/// Who to write down for a command that is open to everybody.
pub(super) fn anybody() -> Actor {
    match (agent_around(), std::io::stdin().is_terminal()) {
        (Some(_), _) => Actor::Role,
        (None, true) => Actor::User,
        (None, false) => Actor::Script,
    }
}

/// Somebody at a terminal can be asked for a password.
pub(super) fn is_attended() -> bool {
    std::io::stdin().is_terminal() && agent_around().is_none()
}

/// What says that an agent is around this process.
pub(super) fn agent_around() -> Option<String> {
    agent_marker()
        .map(|name| format!("`{name}` is set"))
        .or_else(session_marker)
}

/// Inside a role session only that role's report is taken.
pub(super) fn refuse_other_role(role: Role) -> Result<(), Failure> {
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

/// Nothing is written into a worktree from a throwaway one that stands for it.
pub(super) fn not_apart(workspace: &Workspace) -> Result<(), Failure> {
    let what = "this place stands for another worktree, and nothing is done there from here";
    match workspace.from_apart {
        false => Ok(()),
        true => Err(inside_role(what).hint("look here as much as you like")),
    }
}

/// Who pauses the work: everybody may, and only the words of a person bind. A role that cook plays stops it by its
/// report, not by a command.
pub(super) fn find_pauser(as_user: bool) -> Result<Actor, Failure> {
    if let Some(why) = session_marker() {
        return Err(inside_role(format!(
            "a session that cook started does not pause the work: {why}"
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

/// An agent that cook started may not start another.
pub(super) fn not_nested() -> Result<(), Failure> {
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
