//! `[clean_room]` of `cook.toml`: how a commit is made fit to run apart from anybody's worktree.

use super::setting::{CachePath, Command, Commands, RepoPath, Size, VariableName};
use serde::{Deserialize, Serialize};

/// What of git a gate sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GitShown {
    /// A `.git` with that commit as HEAD, its history and tags.
    #[default]
    History,
    /// None: a huge tree saves its index.
    None,
}

/// `[clean_room]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CleanRoom {
    /// Where rooms are; the user's cache directory when nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
    /// What all rooms may take; the oldest go first.
    pub max: Size,
    /// Directories that stay from run to run.
    pub cache: Vec<CachePath>,
    /// Commands that come before the gates.
    pub setup: Commands,
    /// Files whose change makes them run again; none = every commit does.
    pub setup_inputs: Vec<RepoPath>,
    /// Whether setup reaches the network.
    pub network: bool,
    /// Variables that are passed on.
    pub env: Vec<VariableName>,
    /// What of git is there.
    pub git: GitShown,
}

impl Default for CleanRoom {
    fn default() -> Self {
        Self {
            dir: None,
            max: Size::of("10GiB"),
            cache: Vec::new(),
            setup: Commands::default(),
            setup_inputs: Vec::new(),
            network: true,
            env: Vec::new(),
            git: GitShown::History,
        }
    }
}

impl CleanRoom {
    /// What decides on the outcome of a command that runs there, as JSON: where the room is and
    /// how large it may grow does not.
    pub fn preparation(&self) -> String {
        let all = (
            &self.cache,
            &self.setup,
            &self.setup_inputs,
            self.network,
            &self.env,
            self.git,
        );
        serde_json::to_string(&all).unwrap_or_default()
    }

    /// The setup commands.
    pub fn setup(&self) -> impl Iterator<Item = &Command> {
        self.setup.iter()
    }
}
