//! `cook hooks`: hooks in an agent's settings, and which session works.

use super::args::{HooksArgs, HooksCommand};
use super::{Answer, Context, note};
use crate::hook;

pub(super) fn hooks(context: &Context, args: &HooksArgs) -> Answer {
    let workspace = context.workspace()?;
    match &args.command {
        HooksCommand::Attach { session } => {
            let (agent, session) = hook::session_to_attach(&workspace, session.as_deref())?;
            hook::attach(&workspace, &agent, &session)?;
            note(
                "hooks_attached",
                vec![format!(
                    "session {session} ({agent}) works on this workflow now"
                )],
            )
        }
        HooksCommand::Install(_) | HooksCommand::Check(_) | HooksCommand::Remove(_) => {
            note("hooks", Vec::new())
        }
    }
}
