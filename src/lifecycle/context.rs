//! One event of an agent in its worktree.

use super::tracker::Tracker;
use crate::service::Workspace;
use cook_core::model::Role;
use cook_hooks::{Agent, Event, Row, StateDir};
use cook_os::process::{INVOCATION_VARIABLE, ROLE_VARIABLE};
use std::path::PathBuf;

/// An event in its worktree.
pub(super) struct HookContext<'a> {
    pub(super) agent: Agent,
    pub(super) row: &'static Row,
    pub(super) event: &'a Event,
    pub(super) dir: PathBuf,
    pub(super) tracker: Option<&'a dyn Tracker>,
    pub(super) workspace: &'a Workspace,
}

impl HookContext<'_> {
    pub(super) fn state_dir(&self) -> std::io::Result<StateDir> {
        StateDir::of(&self.workspace.repo, self.workspace.store.is_some())
    }
}

/// cook's own child, and the role it plays.
pub(super) fn child() -> Option<Option<Role>> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    set(INVOCATION_VARIABLE)?;
    Some(set(ROLE_VARIABLE).and_then(|role| Role::parse(&role)))
}
