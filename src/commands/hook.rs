//! `cook hook`: answers an agent's lifecycle event.

use super::context::{Answer, Context, answer};
use crate::hooks::{self, Call};
use crate::view::{ColorChoice, Exit, Format, Page, Screen, Show};
use clap::Args;
use cook_agents::hooks::Agent;
use cook_protocol::model::KnownAgent;
use serde::Serialize;
use std::io::Read;

/// Largest event that is read.
const MAX_EVENT: u64 = 16 << 20;

/// What follows the agent's name in the word that makes a status line.
const STATUSLINE: &str = "-statusline";

/// The agents with hooks.
pub(super) fn list_hooked_agents() -> String {
    list_words(KnownAgent::list_names_with("[hooks]").map(str::to_owned))
}

/// What may call `cook hook`.
fn callers() -> String {
    let lines =
        KnownAgent::list_names_with("statusline = true").map(|name| format!("{name}-statusline"));
    let agents = KnownAgent::list_names_with("[hooks]").map(str::to_owned);
    list_words(agents.chain(lines))
}

fn list_words(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => words.concat(),
    }
}

#[derive(Debug, Args)]
pub(super) struct HookArgs {
    #[arg(help = callers())]
    pub agent: String,
    /// The event, for agents that do not send its name
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    /// Hold a stop against `cook check`, and hear of nothing else
    #[arg(long)]
    pub check: bool,
}

pub(super) fn hook(context: &Context, args: &HookArgs) -> Answer {
    let mut bytes = Vec::new();
    let read = std::io::stdin()
        .lock()
        .take(MAX_EVENT)
        .read_to_end(&mut bytes);
    if let Err(error) = read {
        return answer(HookAnswer::complaint(format!("cook hook: {error}")));
    }
    let lined = args.agent.strip_suffix(STATUSLINE).and_then(Agent::parse);
    if let Some(agent) = lined.filter(|agent| agent.hooks().install.statusline) {
        let line = hooks::statusline(agent, &bytes, &context.dir);
        let out = if line.is_empty() { line } else { line + "\n" };
        return answer(HookAnswer {
            out,
            complaint: None,
        });
    }
    let Some(agent) = Agent::parse(&args.agent) else {
        return answer(HookAnswer::complaint("cook hook: unknown agent".to_owned()));
    };
    let call = Call {
        agent,
        named: args.event.as_deref(),
        input: &bytes,
        dir: &context.dir,
    };
    let response = match args.check {
        true => hooks::respond_to_stop(&call),
        false => hooks::respond(&call),
    };
    let out = response.answer.map(|value| format!("{value}\n"));
    answer(HookAnswer {
        out: out.unwrap_or_default(),
        complaint: response.complaint,
    })
}

/// Whether this is a call of `cook hook`, however wrong the rest of it is.
pub(super) fn is_hook_call() -> bool {
    let mut words = std::env::args_os().skip(1);
    let first = words.find(|word| !word.to_string_lossy().starts_with('-'));
    first.is_some_and(|word| word == "hook")
}

/// A hook that ends with 2 would refuse what the agent is about to do.
pub(super) fn not_parsed(error: &clap::Error) -> Exit {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let complaint = HookAnswer::complaint(format!("cook hook: {first}"));
    Screen::new(Format::Human, false, false, ColorChoice::Never).answer(&complaint)
}

/// What an agent reads: its own JSON or nothing, and never an exit code that means no.
#[derive(Debug, Default, Serialize)]
pub(super) struct HookAnswer {
    out: String,
    complaint: Option<String>,
}

impl HookAnswer {
    /// Nothing but a line for stderr.
    fn complaint(text: String) -> Self {
        Self {
            out: String::new(),
            complaint: Some(text),
        }
    }
}

impl Show for HookAnswer {
    fn human(&self, page: &mut Page) {
        page.verbatim(&self.out);
    }

    fn has_json(&self) -> bool {
        false
    }

    fn aside(&self) -> Option<&str> {
        self.complaint.as_deref()
    }
}
