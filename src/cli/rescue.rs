//! `cook doctor rescue`: what was set aside, looked at and put back.

use super::caller;
use super::context::{Answer, Context, answer, note};
use crate::service::Workspace;
use crate::view::{RescueAnswer, RescueFile, RescueRef, RescueRow, RescuedFile};
use clap::Subcommand;
use cook_core::diagnostic::{Code, Failure, FailureKind};
use cook_core::machine;
use cook_os::clock::Clock;
use cook_store::store::KeptCopy;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(super) enum RescueCommand {
    /// What was set aside
    List,
    /// What one copy holds, or the text of one of its files
    Show {
        /// Its id or the beginning of it, or a ref of the list
        id: String,
        /// A file of the copy, as the list of its files names it
        path: Option<String>,
    },
    /// Write one copy into a directory of this worktree
    Restore {
        /// Its id, or the beginning of it
        id: String,
        /// Where to; made when it is not there
        #[arg(long, value_name = "DIR")]
        to: PathBuf,
    },
}

pub(super) fn rescue(context: &Context, command: &RescueCommand) -> Answer {
    let workspace = context.workspace()?;
    let store = workspace.store()?;
    let mut copies = store.rescue_list()?;
    let mut refs = refs(&workspace)?;
    match command {
        RescueCommand::List => {}
        RescueCommand::Show { id, path: None } => {
            copies.retain(|copy| copy.id.starts_with(id.as_str()));
            refs.retain(|kept| kept.name == *id);
            if copies.is_empty() && refs.is_empty() {
                return Err(unknown(id));
            }
        }
        RescueCommand::Show {
            id,
            path: Some(path),
        } => {
            if let Some(kept) = refs.iter().find(|kept| kept.name == *id) {
                return Err(report_misnamed(
                    format!("`{id}` is a ref, not a copy"),
                    &format!("run `{}`", kept.shown_by),
                ));
            }
            let copy = only(&copies, id)?;
            if !copy.files.iter().any(|file| file.path == *path) {
                return Err(report_misnamed(
                    format!(
                        "the copy {} holds no file `{}`",
                        copy.id,
                        path.escape_debug()
                    ),
                    &format!("`cook doctor rescue show {}` lists its files", copy.id),
                ));
            }
            let bytes = store.rescue_show(&copy.id, path)?;
            return answer(RescuedFile {
                id: copy.id.clone(),
                path: path.clone(),
                bytes: bytes.len() as u64,
                text: String::from_utf8(bytes).ok(),
            });
        }
        RescueCommand::Restore { id, to } => {
            caller::not_apart(&workspace)?;
            let id = &only(&copies, id)?.id;
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
    answer(RescueAnswer {
        refs,
        copies: copies
            .into_iter()
            .map(|copy| {
                let files = copy.files.into_iter();
                RescueRow {
                    kind: format!("{:?}: {}", copy.kind, copy.why).to_lowercase(),
                    id: copy.id,
                    time: Clock::of_epoch(copy.epoch_seconds),
                    files: files
                        .map(|file| RescueFile {
                            path: file.path,
                            bytes: file.bytes,
                        })
                        .collect(),
                }
            })
            .collect(),
    })
}

/// What refs keep: work in the repository, transitions in the log.
fn refs(workspace: &Workspace) -> Result<Vec<RescueRef>, Failure> {
    let log = machine::quote_word(&workspace.place().log_dir().display().to_string());
    let mut refs = Vec::new();
    for (name, object) in workspace.repo.set_aside()? {
        let shown_by = format!("git show {name}");
        refs.push(RescueRef {
            name,
            object,
            shown_by,
        });
    }
    for (name, object) in workspace.store()?.set_aside()? {
        let shown_by = format!("git --git-dir={log} log {name}");
        refs.push(RescueRef {
            name,
            object,
            shown_by,
        });
    }
    Ok(refs)
}

/// The one copy whose id begins so.
fn only<'c>(copies: &'c [KeptCopy], id: &str) -> Result<&'c KeptCopy, Failure> {
    let found: Vec<&KeptCopy> = copies
        .iter()
        .filter(|copy| copy.id.starts_with(id))
        .collect();
    match &found[..] {
        [] => Err(unknown(id)),
        [copy] => Ok(copy),
        several => Err(report_misnamed(
            format!(
                "{} copies that were set aside have an id that begins with `{id}`",
                several.len()
            ),
            "give more of it; `cook doctor rescue list` shows them",
        )),
    }
}

/// No copy has that id.
fn unknown(id: &str) -> Failure {
    report_misnamed(
        format!("no copy that was set aside is named `{id}`"),
        "run `cook doctor rescue list`",
    )
}

fn report_misnamed(message: String, hint: &str) -> Failure {
    Failure::new(FailureKind::Usage, Code::OperationUnknown, message).replace_hints([hint])
}
