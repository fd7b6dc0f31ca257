//! `cook hook`, `cook checkpoint`, `cook recover`: what agents call, and the same
//! by hand.

use super::args::{BriefAuthorArgs, CheckpointArgs, HookArgs};
use super::{Answer, Context, answer, brief_change, input, queued};
use crate::lifecycle::{self, Call};
use crate::view::{CheckpointAnswer, Exit, HookAnswer, RecoverAnswer};
use crate::walk;
use cook_core::diagnostic::{Failure, Finding};
use cook_hooks::Agent;
use std::ffi::OsStr;
use std::io::Read;

/// Largest event that is read.
const MAX_EVENT: u64 = 16 << 20;

/// What follows the agent's name in the word that makes a status line.
const STATUSLINE: &str = "-statusline";

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
        let line = lifecycle::statusline(agent, &bytes, &context.dir);
        return answer(HookAnswer::line(line));
    }
    let Some(agent) = Agent::parse(&args.agent) else {
        return answer(HookAnswer::complaint("cook hook: unknown agent".to_owned()));
    };
    let response = lifecycle::respond(&Call {
        agent,
        named: args.event.as_deref(),
        input: &bytes,
        dir: &context.dir,
        tracker: &lifecycle::tracker_of,
    });
    answer(HookAnswer::of(response))
}

/// Whether this is a call of `cook hook`, however wrong the rest of it is.
pub(super) fn is_hook_call() -> bool {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let first = words
        .iter()
        .find(|word| !word.to_string_lossy().starts_with('-'));
    first.is_some_and(|word| word == OsStr::new("hook"))
}

/// A hook that ends with 2 would refuse what the agent is about to do.
pub(super) fn not_parsed(error: &clap::Error) -> Exit {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let complaint = HookAnswer::complaint(format!("cook hook: {first}"));
    crate::view::Screen::new(false, false, false, crate::view::ColorChoice::Never)
        .answer(&complaint)
}

pub(super) fn checkpoint(context: &Context, args: &CheckpointArgs) -> Answer {
    let text = match args.text.as_str() {
        "-" => input::read_text(None)?,
        text => text.to_owned(),
    };
    if let Some(file) = &args.brief {
        brief_change::import(context, Some(file), None, &BriefAuthorArgs::default())?;
    }
    let workspace = context.workspace()?;
    let mut findings = queued::take_in(&workspace);
    let (entry, behind) = match lifecycle::checkpoint(&workspace, &text) {
        Ok(kept) => kept,
        Err(failure) => {
            let request = walk::Asked::Checkpoint { text, item: None };
            return queued::or_leave(&workspace, failure, request);
        }
    };
    findings.extend(behind);
    if workspace.store.is_some()
        && let Err(failure) = walk::follow_brief(&workspace)
    {
        findings.push(Finding::new(failure.code, failure.message));
    }
    findings.extend(torn(&workspace)?);
    answer(CheckpointAnswer { entry, findings })
}

pub(super) fn recover(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    answer(RecoverAnswer {
        recovery: lifecycle::recover(&workspace)?,
        findings: torn(&workspace)?,
    })
}

fn torn(workspace: &crate::walk::Workspace) -> Result<Vec<Finding>, Failure> {
    Ok(match &workspace.store {
        Some(store) => store.trail_finding()?.into_iter().collect(),
        None => Vec::new(),
    })
}
