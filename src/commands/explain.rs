//! `cook explain`: what a code means, and what to do.

use super::context::{Answer, PromptAnswer, answer};
use clap::Args;
use cook_protocol::diagnostic::{CATALOGUE, Failure, Family, Severity};

#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// The code, as it stands in brackets; without one every code is listed
    pub code: Option<String>,
}

pub(super) fn explain(args: &ExplainArgs) -> Answer {
    let mut text = String::new();
    let Some(code) = &args.code else {
        for code in CATALOGUE {
            text.push_str(&format!("{:<32}{}\n", code.id(), code.meaning()));
        }
        return answer(PromptAnswer(text));
    };
    let Some(code) = CATALOGUE.iter().find(|known| known.id() == code) else {
        let what = format!("there is no code `{}`", code.escape_debug());
        return Err(Failure::usage(what).hint("run `cook explain`, which lists every code"));
    };
    answer(PromptAnswer(format!(
        "{code}: {}\n  {}\n  next: {}\n",
        code.meaning(),
        describe_effect(code.family(), code.severity()),
        code.hint()
    )))
}

fn describe_effect(family: Family, severity: Severity) -> &'static str {
    match (family, severity) {
        (Family::Report, _) => "The report is refused as a whole, and nothing is written.",
        (Family::Refusal, _) => "The event is not taken, and nothing is written. Exit code 4.",
        (Family::Failure, _) => "The command cannot run. Exit code 2, 3 or 7.",
        (Family::Finding, Severity::Note) => "A note: it changes no exit code.",
        (Family::Finding, Severity::Warning) => {
            "A warning: `cook verify` passes, unless an option such as `--strict` asks for more; `cook check` may fail."
        }
        (Family::Finding, Severity::NeedsReground) => {
            "A re-ground puts it right; `cook verify` fails with `--strict`."
        }
        (Family::Finding, Severity::Error) => "An error: `cook verify` fails.",
    }
}
