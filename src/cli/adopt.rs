//! `cook adopt`, `cook undo`: what the user takes in, puts back and takes back.

use super::args::{AdoptArgs, UndoArgs};
use super::doors::{act, closed};
use super::{Answer, Context, caller};
use crate::walk::Workspace;
use cook_core::diagnostic::{Code, Failure, Refusal, counted};
use cook_core::model::{Count, Event, Plan};
use cook_core::schema;

/// Largest `plan.json` that is taken in.
const MAX_PLAN: usize = 16 << 20;

pub(super) fn adopt(context: &Context, args: &AdoptArgs) -> Answer {
    let actor = caller::user_door(args.as_user.as_user)?;
    let workspace = context.workspace()?;
    workspace.require()?;
    if args.branch {
        return act(
            &workspace,
            &Event::BranchAdopted,
            actor,
            "the workflow continues on this branch",
        );
    }
    if args.discard {
        return act(
            &workspace,
            &Event::Restored,
            actor,
            "the log's version is back; the edit is kept (`cook rescue list`)",
        );
    }
    let edits = workspace.outside_edits()?;
    if edits.is_empty() {
        return Err(closed("nothing in `.agent/` differs from the log"));
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
            .replace_hints(["run `cook adopt --discard` to put every file back"]),
        ));
    }
    let plan = edited_plan(&workspace)?;
    act(
        &workspace,
        &Event::Adopted { plan },
        actor,
        "the edited plan is taken in",
    )
}

fn edited_plan(workspace: &Workspace) -> Result<Plan, Failure> {
    let path = workspace.repo.root().join(".agent").join("plan.json");
    let bytes = std::fs::read(&path).map_err(|error| {
        Failure::state(Code::InputUnreadable, "`.agent/plan.json` cannot be read").caused_by(&error)
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

pub(super) fn undo(context: &Context, args: &UndoArgs) -> Answer {
    let actor = caller::user_door(args.as_user.as_user)?;
    let workspace = context.workspace()?;
    workspace.require()?;
    let store = workspace.store()?;
    let target = store.entry(&args.operation)?;
    let mut undone = Vec::new();
    let mut operations = Vec::new();
    for meta in store.entries()? {
        let meta = meta?;
        if meta.seq <= target.seq {
            break;
        }
        undone.push(meta.seq);
        operations.push(meta.commit);
    }
    if operations.is_empty() {
        return Err(Refusal::new(
            Code::UndoTooFar,
            "that is the newest transition; nothing comes after it",
        )
        .into());
    }
    let later = later_commits(&workspace, target.snapshot.ledger.head_seen.as_deref())?;
    let summary = format!(
        "{} taken back to #{}{later}",
        counted(operations.len() as u64, "transition"),
        target.seq
    );
    let event = Event::Undone {
        to: Box::new(target.snapshot),
        to_seq: Count(target.seq),
        undone,
        operations,
    };
    act(&workspace, &event, actor, &summary)
}

/// The user's repository is not touched; what came later is named.
fn later_commits(workspace: &Workspace, since: Option<&str>) -> Result<String, Failure> {
    let Some(since) = since else {
        return Ok(String::new());
    };
    let head = workspace.repo.head()?;
    let range = workspace.repo.range(&head, since, false)?;
    if range.commits.is_empty() {
        return Ok(String::new());
    }
    let names: Vec<&str> = range
        .commits
        .iter()
        .rev()
        .take(10)
        .map(|commit| commit.id.get(..12).unwrap_or(&commit.id))
        .collect();
    Ok(format!(
        "; your repository keeps its {} ({})",
        counted(range.commits.len() as u64, "later commit"),
        names.join(", ")
    ))
}
