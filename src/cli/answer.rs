//! `cook answer`: answers the question that is waited on.

use super::caller::{self, AsUser};
use super::context::{Answer, Context};
use super::input::free_text;
use super::resume::leave;
use super::{input, transition};
use clap::Args;
use cook_core::diagnostic::Failure;
use cook_core::model::{Resume, WaitingKind};

#[derive(Debug, Args)]
pub(super) struct AnswerArgs {
    /// The answer (`-` = standard input)
    #[arg(allow_hyphen_values = true, value_parser = free_text)]
    pub text: String,
    #[command(flatten)]
    pub as_user: AsUser,
}

pub(super) fn answer_question(context: &Context, args: &AnswerArgs) -> Answer {
    give(context, args.as_user.as_user, || {
        input::read_argument(&args.text)
    })
}

/// Gives the answer that is read once it is known that a person may give one.
pub(super) fn give(
    context: &Context,
    as_user: bool,
    read: impl FnOnce() -> Result<String, Failure>,
) -> Answer {
    let actor = caller::require_user(as_user)?;
    let workspace = context.workspace()?;
    let text = read()?;
    let (_, snapshot) = workspace.require()?;
    let waiting = snapshot.ledger.waiting.as_ref().map(|waiting| waiting.kind);
    // A no to commands is one, in words.
    if waiting != Some(WaitingKind::Trust) {
        transition::fits(&workspace, WaitingKind::Question, "an answer")?;
    }
    let resume = Resume {
        answer: Some(text),
        ..Resume::default()
    };
    leave(&workspace, resume, actor, "answered")
}
