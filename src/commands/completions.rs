//! `cook completions`: what a shell completes.

use super::context::{Answer, PromptAnswer, answer};
use clap::Args;

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// For which shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

pub(super) fn completions(mut command: clap::Command, args: &CompletionsArgs) -> Answer {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "cook", &mut text);
    answer(PromptAnswer(String::from_utf8_lossy(&text).into_owned()))
}
