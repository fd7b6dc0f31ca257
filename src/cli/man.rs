//! `cook man`: the manual page.

use super::context::{Answer, answer};
use crate::view::PromptAnswer;
use cook_core::diagnostic::Failure;

/// The manual: one page for `cook`, one section per command behind it.
pub(super) fn man(mut command: clap::Command) -> Answer {
    let mut text = Vec::new();
    let write = |command: clap::Command, text: &mut Vec<u8>| {
        clap_mangen::Man::new(command)
            .render(text)
            .map_err(|error| {
                Failure::state(cook_core::diagnostic::Code::NotWritable, error.to_string())
            })
    };
    // Options for every command reach the subcommands only by this.
    command.build();
    let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
    let subcommands: Vec<clap::Command> = shown.cloned().collect();
    write(command, &mut text)?;
    for subcommand in subcommands {
        let name: &'static str =
            Box::leak(format!("cook-{}", subcommand.get_name()).into_boxed_str());
        write(subcommand.name(name), &mut text)?;
    }
    answer(PromptAnswer(String::from_utf8_lossy(&text).into_owned()))
}
