//! `cook ask`: asks an agent; nothing may change.

use super::call::{CallArgs, Onset, Prepared, choose, make_schema, on, one, prepare, store, words};
use super::caller;
use super::context::{Answer, Context};
use super::fanout::ask_each;
use super::input;
use super::input::free_text;
use crate::service::Workspace;
use clap::Args;
use cook_core::diagnostic::Failure;
use cook_store::session::{Action, GitStore};
use serde::Deserialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct AskArgs {
    /// The question (`-` = standard input)
    #[arg(required_unless_present = "request", allow_hyphen_values = true, value_parser = free_text)]
    pub say: Option<String>,
    /// The agent
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Ask each of these agents the same, none seeing another's answer; one named twice is asked in two sessions
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', conflicts_with_all = ["agent", "request"])]
    pub each: Vec<String>,
    /// Everything in one JSON object: say, agent, on, schema (`-` = standard input)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["say", "agent", "on_episode", "on_series", "schema"])]
    pub request: Option<PathBuf>,
    #[command(flatten)]
    pub call: CallArgs,
}

/// `cook ask --request`: the same in one object.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    say: String,
    agent: Option<String>,
    on: Option<Onset>,
    schema: Option<Value>,
}

pub(super) fn ask(context: &Context, args: &AskArgs) -> Answer {
    caller::not_nested()?;
    if !args.each.is_empty() {
        let say = args.say.as_deref().unwrap_or("-");
        return ask_each(context, say, &args.each, &args.call);
    }
    let workspace = context.workspace()?;
    let store = store(&workspace)?;
    let (agent, prepared) = match &args.request {
        Some(file) => read_request(&workspace, &store, file, &args.call)?,
        None => {
            let say = words(args.say.as_deref().unwrap_or("-"))?;
            let prepared = prepare(&workspace, &store, say, &args.call)?;
            (args.agent.clone(), prepared)
        }
    };
    let preset = choose(&workspace, &store, agent.as_deref(), prepared.on)?;
    one(context, &workspace, &store, preset, prepared, Action::Ask)
}

fn read_request(
    workspace: &Workspace,
    store: &GitStore,
    file: &Path,
    args: &CallArgs,
) -> Result<(Option<String>, Prepared), Failure> {
    let bytes = input::read(Some(file))?;
    let request: Request = serde_json::from_slice(&bytes)
        .map_err(|error| Failure::usage(format!("the request cannot be read: {error}")))?;
    if request.say.trim().is_empty() {
        return Err(Failure::usage("there is nothing to say"));
    }
    let mut prepared = prepare(workspace, store, request.say, args)?;
    if let Some(onset) = &request.on {
        prepared.on = Some(on(store, onset, &mut prepared.findings)?);
    }
    prepared.schema = request.schema.map(make_schema).transpose()?;
    Ok((request.agent, prepared))
}
