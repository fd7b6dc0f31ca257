//! `cook answer`: answers the question that is waited on.

use super::caller::{self, AsUser};
use super::context::{Answer, Context};
use super::input::free_text;
use super::resume::leave;
use super::{input, transition};
use clap::Args;
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
    let actor = caller::require_user(args.as_user.as_user)?;
    let workspace = context.workspace()?;
    let text = input::text_of(&args.text)?;
    transition::fits(&workspace, WaitingKind::Question, "an answer")?;
    let resume = Resume {
        answer: Some(text),
        ..Resume::default()
    };
    leave(&workspace, resume, actor, "answered")
}
