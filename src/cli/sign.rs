//! Which key signs what a command makes.

use super::context::Context;
use crate::service::Workspace;
use crate::signature::{Key, signing_key};
use clap::Args;
use cook_core::diagnostic::Failure;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct SigningArgs {
    /// Sign with an SSH key of yours: `cook.signingkey`, else `user.signingkey`, of git's settings (user only)
    #[arg(long)]
    pub sign: bool,
    /// The key that signs: its file, or the public half of one that `ssh-agent` holds
    #[arg(long, value_name = "FILE", requires = "sign")]
    pub key: Option<PathBuf>,
}

impl SigningArgs {
    /// # Errors
    /// `signing_format`, `signing_key_missing`.
    pub fn key(&self, context: &Context, workspace: &Workspace) -> Result<Key, Failure> {
        signing_key(&workspace.repo, self.key.as_deref(), &context.dir)
    }
}
