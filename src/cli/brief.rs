//! `cook brief`: what the next session must know.

use super::brief_change::{self, BriefAuthorArgs, BriefNoteArgs};
use super::caller::AsUser;
use super::checkpoint::{CheckpointArgs, checkpoint};
use super::context::{Answer, Context, answer};
use super::input;
use super::input::free_text;
use super::recover::recover;
use crate::scaffold::{read_text_file, write_text_file};
use crate::service::{self, DEFAULT_BYTES, WholeBrief};
use crate::view::{ArtifactAnswer, BriefAnswer, BriefCheckAnswer, GuideAnswer, ShownEntry};
use clap::{Args, Subcommand};
use cook_core::brief::{self, Artifact, Brief, Guide};
use cook_core::diagnostic::{Code, Finding, Refusal};
use cook_core::model::BriefLine;
use cook_git::make_unified_diff;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct BriefArgs {
    #[command(subcommand)]
    pub command: Option<BriefCommand>,
    #[command(flatten)]
    pub show: BriefShowArgs,
}

#[derive(Debug, Args)]
pub(super) struct BriefShowArgs {
    /// At most this many bytes; what is left out is counted
    #[arg(long, value_name = "N", conflicts_with = "all")]
    pub max_bytes: Option<usize>,
    /// All of it
    #[arg(long)]
    pub all: bool,
    /// Write it into a file too, `CONTINUE.md` when none is named
    #[arg(long, value_name = "PATH", num_args = 0..=1, default_missing_value = "")]
    pub write: Option<String>,
    /// The entries with their ids
    #[arg(long, conflicts_with = "write")]
    pub ids: bool,
    /// End or replace entries: a list of `{id, verdict, by, why}` (`-` = standard input)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["write", "ids"])]
    pub reconcile: Option<PathBuf>,
    #[command(flatten)]
    pub author: BriefAuthorArgs,
}

#[derive(Debug, Subcommand)]
pub(super) enum BriefCommand {
    /// Print it
    Show(BriefShowArgs),
    /// Print an artifact as a brief; needs no repository
    Render {
        /// The artifact (`-` or nothing = standard input)
        file: Option<PathBuf>,
    },
    /// Say of every anchor whether it still holds
    Check,
    /// Keep a line about what was done and what comes next
    Checkpoint(CheckpointArgs),
    /// Print the message that a session gets when its context was lost
    Recover,
    /// Add an entry, from flags or as JSON on standard input
    Note(Box<BriefNoteArgs>),
    /// Keep a statement of the user's that anchors may quote (user only)
    Say {
        /// The statement (`-` = standard input)
        #[arg(allow_hyphen_values = true, value_parser = free_text)]
        text: String,
        /// The session it was made in
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        #[command(flatten)]
        as_user: AsUser,
    },
    /// Take in an artifact as the whole next brief
    Import {
        /// The artifact (`-` or nothing = standard input)
        file: Option<PathBuf>,
        /// Causes of the entries that it leaves out
        #[arg(long, value_name = "FILE")]
        reconcile: Option<PathBuf>,
        #[command(flatten)]
        author: BriefAuthorArgs,
    },
    /// Print the brief as an artifact
    Export,
    /// The proposed update of the agent guide
    Guide {
        /// Show what it would change
        #[arg(long, required_unless_present = "apply", conflicts_with = "apply")]
        diff: bool,
        /// Write it
        #[arg(long)]
        apply: bool,
    },
}

pub(super) fn brief(context: &Context, args: &BriefArgs) -> Answer {
    match &args.command {
        None => show(context, &args.show),
        Some(BriefCommand::Show(args)) => show(context, args),
        Some(BriefCommand::Render { file }) => render(file.as_deref()),
        Some(BriefCommand::Check) => {
            answer(BriefCheckAnswer::of(service::check(&context.workspace()?)?))
        }
        Some(BriefCommand::Checkpoint(args)) => checkpoint(context, args),
        Some(BriefCommand::Recover) => recover(context),
        Some(BriefCommand::Note(args)) => brief_change::note(context, args),
        Some(BriefCommand::Say {
            text,
            session,
            as_user,
        }) => brief_change::say(context, text, session.as_ref(), as_user.as_user),
        Some(BriefCommand::Import {
            file,
            reconcile,
            author,
        }) => brief_change::import(context, file.as_deref(), reconcile.as_deref(), author),
        Some(BriefCommand::Export) => export(context),
        Some(BriefCommand::Guide { apply, .. }) => guide(context, *apply),
    }
}

fn show(context: &Context, args: &BriefShowArgs) -> Answer {
    if let Some(file) = &args.reconcile {
        return brief_change::reconcile(context, file, &args.author);
    }
    let workspace = context.workspace()?;
    let whole = service::assemble(&workspace)?;
    let room = match (args.all, args.max_bytes) {
        (true, _) => None,
        (false, asked) => Some(asked.unwrap_or(DEFAULT_BYTES)),
    };
    let fitted = whole.within(room);
    let mut findings = whole.findings.clone();
    findings.extend(over_budget(fitted.over, room));
    let written = match &args.write {
        Some(path) => Some(service::write_brief(&workspace, path, &fitted.text)?),
        None => None,
    };
    answer(BriefAnswer {
        ids: args.ids,
        text: fitted.text,
        left_out: fitted.left_out,
        entries: whole.entries.iter().map(ShownEntry::from).collect(),
        written,
        findings,
    })
}

fn over_budget(over: bool, room: Option<usize>) -> Option<Finding> {
    let room = room.filter(|_| over)?;
    let what = format!("task, end, forbids and the first step take more than {room} bytes");
    Some(Finding::new(Code::BriefOverBudget, what))
}

/// Pure: an artifact in, its brief out.
fn render(file: Option<&Path>) -> Answer {
    let reading = brief::read(&input::read(file)?)?;
    let lines = reading.artifact.brief.lines.iter();
    answer(BriefAnswer {
        ids: false,
        text: brief::render(&reading.artifact.brief),
        left_out: 0,
        entries: lines
            .map(|line| ShownEntry {
                id: brief::entry_id(line, None),
                slot: line.slot(),
                by: "artifact".to_owned(),
                text: brief::line_text(line),
            })
            .collect(),
        written: None,
        findings: reading.warnings,
    })
}

fn export(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let (_, snapshot) = workspace.require()?;
    let WholeBrief { brief, entries, .. } = service::assemble(&workspace)?;
    let (kept, guide) = match snapshot.brief {
        Some(stored) => (stored.entries, stored.guide),
        None => (Vec::new(), None),
    };
    // As they are kept, whatever is shown of them: what comes back is what went out.
    let own = entries.into_iter().filter(|entry| entry.is_own());
    let mut lines: Vec<BriefLine> = own.map(|entry| entry.line).collect();
    for entry in kept {
        if !lines.contains(&entry.line) {
            lines.push(entry.line);
        }
    }
    let brief = Brief { lines, ..brief };
    let artifact = Artifact {
        brief,
        guide: match guide {
            Some(guide) => Guide {
                content: Some(guide.content),
                reason: guide.reason,
            },
            None => Guide::default(),
        },
        reconciliation: Vec::new(),
    };
    answer(ArtifactAnswer(artifact.to_json()))
}

/// The proposed guide is shown, and written only when it is asked for.
fn guide(context: &Context, apply: bool) -> Answer {
    let workspace = context.workspace()?;
    let (_, snapshot) = workspace.require()?;
    let Some(update) = snapshot.brief.and_then(|brief| brief.guide) else {
        return Err(Refusal::new(
            Code::GuideMissing,
            "no update of the agent guide is proposed",
        )
        .into());
    };
    let path = workspace.config()?.brief.guide.clone();
    let root = workspace.repo.root();
    let there = read_text_file(root, &path)?.unwrap_or_default();
    let mut text = update.content;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let diff = make_unified_diff(&path, &there, &text)?;
    let applied = apply && !diff.is_empty();
    if applied {
        write_text_file(root, &path, &text)?;
    }
    answer(GuideAnswer {
        path,
        reason: update.reason,
        by: update.by,
        diff,
        applied,
    })
}
