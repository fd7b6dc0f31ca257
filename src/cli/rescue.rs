//! `cook rescue`: what was set aside, looked at and put back.

use super::args::{RescueArgs, RescueCommand};
use super::{Answer, Context, answer, note};
use crate::clock::Clock;
use crate::diagnostic::{Code, Failure, FailureKind};
use crate::view::RescueAnswer;

pub(super) fn rescue(context: &Context, args: &RescueArgs) -> Answer {
    let workspace = context.workspace()?;
    let store = workspace.store()?;
    let mut copies = store.rescue_list()?;
    match &args.command {
        RescueCommand::List => {}
        RescueCommand::Show { id } => {
            copies.retain(|copy| copy.id.starts_with(id.as_str()));
            if copies.is_empty() {
                return Err(unknown(id));
            }
        }
        RescueCommand::Restore { id, to } => {
            copies.retain(|copy| copy.id.starts_with(id.as_str()));
            let id = match &copies[..] {
                [] => return Err(unknown(id)),
                [copy] => &copy.id,
                several => return Err(ambiguous(id, several.len())),
            };
            let to = context.dir.join(to);
            let written = store.rescue_restore(id, &[], &to, false)?;
            return note(
                "rescue_restored",
                written
                    .iter()
                    .map(|path| format!("wrote {}", path.display()))
                    .collect(),
            );
        }
    }
    let refs = match &args.command {
        RescueCommand::List => workspace.repo.set_aside()?,
        _ => Vec::new(),
    };
    answer(RescueAnswer {
        refs,
        copies: copies
            .into_iter()
            .map(|copy| {
                let files = copy
                    .files
                    .iter()
                    .map(|file| (file.path.clone(), file.bytes))
                    .collect();
                (
                    copy.id,
                    format!("{:?}: {}", copy.kind, copy.why).to_lowercase(),
                    Clock::of_epoch(copy.epoch_seconds),
                    files,
                )
            })
            .collect(),
    })
}

/// Several copies have an id that begins so.
fn ambiguous(id: &str, number: usize) -> Failure {
    misnamed(
        format!("{number} copies that were set aside have an id that begins with `{id}`"),
        "give more of it; `cook rescue list` shows them",
    )
}

/// No copy has that id.
fn unknown(id: &str) -> Failure {
    misnamed(
        format!("no copy that was set aside is named `{id}`"),
        "run `cook rescue list`",
    )
}

fn misnamed(message: String, hint: &str) -> Failure {
    let mut failure = Failure::new(FailureKind::Usage, Code::OperationUnknown, message);
    failure.hints = vec![hint.to_owned()];
    failure
}
