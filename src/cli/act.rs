//! `cook act`: orders an agent to do something.

use super::call::{CallArgs, choose, one, prepare, store, words};
use super::caller;
use super::context::{Answer, Context};
use super::input::free_text;
use clap::Args;
use cook_store::session::Action;

#[derive(Debug, Args)]
pub(super) struct ActArgs {
    /// The order (`-` = standard input)
    #[arg(value_name = "DO", allow_hyphen_values = true, value_parser = free_text)]
    pub say: String,
    /// The agent
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    #[command(flatten)]
    pub call: CallArgs,
}

pub(super) fn act(context: &Context, args: &ActArgs) -> Answer {
    caller::not_nested()?;
    let workspace = context.workspace()?;
    let store = store(&workspace)?;
    let say = words(&args.say)?;
    let prepared = prepare(&workspace, &store, say, &args.call)?;
    let preset = choose(&workspace, &store, args.agent.as_deref(), prepared.on)?;
    one(context, &workspace, &store, preset, prepared, Action::Act)
}
