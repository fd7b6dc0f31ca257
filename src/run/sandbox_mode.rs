//! Whether agents run in the sandbox here, and what is said of it.
//!
//! Invariant: a run goes by the settings that stood when it began, so that no session opens the
//! next one's sandbox.

use crate::service::Workspace;
use cook_agents::Sandbox;
use cook_protocol::diagnostic::{Code, Failure, FailureKind, Finding};
use cook_protocol::model::{Config, SandboxMode, SocketPath};
use cook_repo::git::Repo;
use cook_repo::room::Bubblewrap;

/// What holds agents to what they may write.
#[derive(Debug, Clone)]
pub enum Keeping {
    /// The kernel.
    Kernel {
        /// What starts them.
        bubblewrap: Bubblewrap,
        /// What they reach of the machine nonetheless.
        sockets: Vec<SocketPath>,
    },
    /// Nothing: what a session changed is measured afterwards.
    Measured {
        /// Why.
        why: String,
    },
}

/// How to have bubblewrap.
const INSTALL: &str = "install bubblewrap (`apt install bubblewrap`, `dnf install bubblewrap`), then run `cook doctor`";

impl Keeping {
    /// By the settings, and by whether the sandbox works here.
    ///
    /// # Errors
    /// `sandbox_unavailable` where the settings require it and it does not work.
    pub fn of(workspace: &Workspace) -> Result<Self, Failure> {
        let config = workspace.config()?;
        let why = match config.sandbox.mode {
            SandboxMode::Off => "`[sandbox] mode` is `off`".to_owned(),
            SandboxMode::Auto | SandboxMode::Required => match try_out(workspace, config)? {
                Ok(keeping) => return Ok(keeping),
                Err(why) => why,
            },
        };
        match config.sandbox.mode {
            SandboxMode::Required => {
                let what = format!(
                    "`[sandbox] mode` is `required`, and the sandbox does not work here: {why}"
                );
                let failure = Failure::new(FailureKind::Refused, Code::SandboxUnavailable, what);
                Err(match Bubblewrap::find() {
                    None if cfg!(target_os = "linux") => failure.replace_hints([INSTALL]),
                    _ => failure,
                })
            }
            SandboxMode::Auto | SandboxMode::Off => Ok(Self::Measured { why }),
        }
    }

    /// The sandbox of this worktree's agents; none where nothing but measuring holds them.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn sandbox(&self, repo: &Repo) -> Result<Option<Sandbox>, Failure> {
        match self {
            Self::Kernel {
                bubblewrap,
                sockets,
            } => Sandbox::of(bubblewrap.clone(), repo, sockets).map(Some),
            Self::Measured { .. } => Ok(None),
        }
    }

    /// The kernel does it.
    pub fn is_kernel(&self) -> bool {
        matches!(self, Self::Kernel { .. })
    }

    /// One line for whoever begins a run.
    pub fn summary(&self) -> String {
        match self {
            Self::Kernel { .. } => {
                "in force: agents run in bubblewrap, and cannot write what they have no right to"
                    .to_owned()
            }
            Self::Measured { why } => format!(
                "not in force ({why}): what a session changes without a right to is measured afterwards and put back"
            ),
        }
    }

    /// Exactly what an agent can do and cannot, for `cook doctor`.
    pub fn describe(&self) -> Vec<String> {
        let lines: &[&str] = match self {
            Self::Kernel { .. } => &[
                "an implementer can write the worktree and `.git`; not cook's directory, git's settings, hooks and excludes, other worktrees, replacement refs kept as files",
                "a re-grounder, reviewer, auditor or judge can write a checkout of its own that is thrown away, `.agent/inbox/` and `.agent/tmp/`; not the worktree or `.git`",
                "an agent can write its own directories but for settings that start programs later, and a private `/tmp`; nothing else of this machine",
                "an agent can read what you can, reach the network, and sockets without a path; not other processes, nor sockets with a path",
                "measured after a session and put back: `commondir`, `config.worktree`, packed replacement refs, alternates, the `.git` of a submodule or a nested repository",
            ],
            Self::Measured { .. } => &[
                "an agent can write whatever you can, the log and the list of trusted commands among it",
                "measured after a session and put back: what `docs/run.md` lists; an agent that takes care can rewrite the log unseen",
            ],
        };
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    /// What whoever calls an agent is warned of.
    pub fn warn_of_open(&self) -> Option<Finding> {
        let Self::Kernel { sockets, .. } = self else {
            return None;
        };
        let names: Vec<String> = sockets.iter().map(|path| format!("`{path}`")).collect();
        let what = format!(
            "agents reach {} and all that answers there, outside of the sandbox",
            names.join(", ")
        );
        let opened = Finding::new(Code::SandboxOpened, what).at("sandbox.sockets");
        (!names.is_empty()).then_some(opened)
    }

    /// What whoever looks at the settings is warned of.
    pub fn warning(&self) -> Option<Finding> {
        match self {
            Self::Kernel { .. } => self.warn_of_open(),
            Self::Measured { why } => {
                let what = format!("agents run without a sandbox: {why}");
                Some(Finding::new(Code::SandboxOff, what).at("sandbox.mode"))
            }
        }
    }
}

/// Runs the arguments of a session in this worktree, as this user.
fn try_out(workspace: &Workspace, config: &Config) -> Result<Result<Keeping, String>, Failure> {
    if !cfg!(target_os = "linux") {
        return Ok(Err("it needs Linux".to_owned()));
    }
    let Some(bubblewrap) = Bubblewrap::find() else {
        return Ok(Err("`bwrap` is not on PATH".to_owned()));
    };
    let sockets = config.sandbox.sockets.clone();
    let sandbox = Sandbox::of(bubblewrap.clone(), &workspace.repo, &sockets)?;
    Ok(sandbox.try_out().map(|()| Keeping::Kernel {
        bubblewrap,
        sockets,
    }))
}
