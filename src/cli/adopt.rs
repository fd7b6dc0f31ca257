//! `cook plan adopt`: what the user takes in, and puts back.

use super::caller::{self, AsUser};
use super::context::{Answer, Context};
use super::transition;
use crate::service::Workspace;
use clap::Args;
use cook_core::diagnostic::{Code, Failure, Refusal};
use cook_core::model::{Event, Plan};
use cook_core::schema;
use cook_os::disk::{self, Links};

/// Largest `plan.json` that is taken in.
const MAX_PLAN: usize = 16 << 20;

#[derive(Debug, Args)]
pub(super) struct AdoptArgs {
    /// Put the log's version back; the edit is kept (`cook doctor rescue list`)
    #[arg(long, conflicts_with = "branch")]
    pub discard: bool,
    /// Go on on the branch that is checked out
    #[arg(long)]
    pub branch: bool,
    #[command(flatten)]
    pub as_user: AsUser,
}

pub(super) fn adopt(context: &Context, args: &AdoptArgs) -> Answer {
    let actor = caller::require_user(args.as_user.as_user)?;
    let workspace = context.workspace()?;
    workspace.require()?;
    if args.branch {
        return transition::record(
            &workspace,
            &Event::BranchAdopted,
            actor,
            "the workflow continues on this branch",
        );
    }
    if args.discard {
        return transition::record(
            &workspace,
            &Event::Restored,
            actor,
            "the log's version is back; the edit is kept (`cook doctor rescue list`)",
        );
    }
    let edits = workspace.outside_edits()?;
    if edits.is_empty() {
        return Err(refuse("nothing in `.agent/` differs from the log"));
    }
    if let Some(other) = edits.iter().find(|edit| edit.file != "plan.json") {
        return Err(Failure::from(
            Refusal::new(
                Code::AdoptIllegal,
                format!(
                    "only an edited `plan.json` can be taken in; `.agent/{}` differs too",
                    other.file
                ),
            )
            .replace_hints(["run `cook plan adopt --discard` to put every file back"]),
        ));
    }
    let plan = read_edited_plan(&workspace)?;
    transition::record(
        &workspace,
        &Event::Adopted { plan },
        actor,
        "the edited plan is taken in",
    )
}

fn read_edited_plan(workspace: &Workspace) -> Result<Plan, Failure> {
    let path = workspace.repo.root().join(".agent").join("plan.json");
    let read = disk::read_present(&path, MAX_PLAN as u64 + 1, Links::Refuse);
    let bytes = read.map_err(|error| {
        Failure::state(Code::InputUnreadable, "`.agent/plan.json` cannot be read")
            .with_cause(&error)
    })?;
    schema::read_document::<Plan>(&bytes, MAX_PLAN).map_err(|findings| {
        let mut refusal = Refusal::new(
            Code::AdoptIllegal,
            "the edited `plan.json` breaks its schema",
        );
        refusal.findings = findings;
        refusal.into()
    })
}

/// The refusal of a command that needs a log.
fn refuse(message: &str) -> Failure {
    Refusal::new(Code::DoesNotApply, message).into()
}
