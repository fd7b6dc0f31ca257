//! `cook undo`: what the user takes back.

use super::caller::AsUser;
use super::context::{Answer, Context};
use super::{caller, transition};
use crate::service::Workspace;
use crate::{init, service};
use clap::Args;
use cook_protocol::diagnostic::{Code, Failure, Refusal, count_noun};
use cook_protocol::machine::CONTRACT_TEXTS;
use cook_protocol::model::{Count, Event};

#[derive(Debug, Args)]
pub(super) struct UndoArgs {
    /// Back to how it was after this transition (default: before the newest)
    #[arg(default_value = "@-")]
    pub operation: String,
    #[command(flatten)]
    pub as_user: AsUser,
}

pub(super) fn undo(context: &Context, args: &UndoArgs) -> Answer {
    let actor = caller::require_user(args.as_user.as_user)?;
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
        let what = "that is the newest transition; nothing comes after it";
        return Err(Refusal::new(Code::UndoTooFar, what).into());
    }
    let later = later_commits(&workspace, target.snapshot.ledger.head_seen.as_deref())?;
    let (taken, seq) = (
        count_noun(operations.len() as u64, "transition"),
        target.seq,
    );
    let summary = format!("{taken} taken back to #{seq}{later}");
    let event = Event::Undone {
        to: Box::new(target.snapshot),
        to_seq: Count(target.seq),
        undone,
        operations,
    };
    let (_, now) = workspace.require()?;
    if let Event::Undone { to, .. } = &event
        && to.mission != now.mission
        && !workspace
            .contract_differs(Some(&now))?
            .contains(&CONTRACT_TEXTS[0].to_owned())
    {
        service::dry_run(&workspace, &event, actor)?;
        init::write_mission(workspace.repo.root(), &to.mission)?;
    }
    transition::record(&workspace, &event, actor, &summary)
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
    let names = range.commits.iter().rev().take(10);
    let names: Vec<String> = names.map(|commit| format!("{:.12}", commit.id)).collect();
    let (later, names) = (
        count_noun(range.commits.len() as u64, "later commit"),
        names.join(", "),
    );
    Ok(format!("; your repository keeps its {later} ({names})"))
}
