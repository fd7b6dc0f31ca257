//! What every command needs: its place and its screen, an answer and its page, failures and arguments.

pub(super) use super::context::{self, Answer, AsUser, Context, PromptAnswer, answer};
pub(super) use super::input::{self, free_text};
pub(super) use crate::service::{self, Workspace};
pub(super) use crate::view::{Exit, Page, Screen, Show, Tone};
pub(super) use clap::{Args, Subcommand};
pub(super) use cook_protocol::diagnostic::{
    Code, Failure, FailureKind, Finding, Refusal, count_noun,
};
pub(super) use serde::Serialize;
