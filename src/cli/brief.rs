//! `cook brief`: what the next session must know.

use super::args::{BriefArgs, BriefCommand, BriefShowArgs};
use super::{Answer, Context, answer, brief_change, input};
use crate::scaffold::{read_text_file, write_text_file};
use crate::view::{
    ArtifactAnswer, BriefAnswer, BriefCheckAnswer, BriefIdsAnswer, GuideAnswer, ShownEntry,
};
use crate::walk::{self, DEFAULT_BYTES, WholeBrief};
use cook_core::brief::{self, Artifact, Guide};
use cook_core::diagnostic::{Code, Finding, Refusal};
use cook_git::unified_diff;
use std::path::Path;

pub(super) fn brief(context: &Context, args: &BriefArgs) -> Answer {
    match &args.command {
        None => show(context, &args.show),
        Some(BriefCommand::Show(args)) => show(context, args),
        Some(BriefCommand::Render { file }) => render(file.as_deref()),
        Some(BriefCommand::Check) => answer(BriefCheckAnswer(walk::check(&context.workspace()?)?)),
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
    let whole = walk::assemble(&workspace)?;
    let room = match (args.all, args.max_bytes) {
        (true, _) => None,
        (false, asked) => Some(asked.unwrap_or(DEFAULT_BYTES)),
    };
    let fitted = whole.within(room);
    let mut findings = whole.findings.clone();
    findings.extend(over_budget(fitted.over, room));
    let written = match &args.write {
        Some(path) => Some(walk::write_brief(&workspace, path, &fitted.text)?),
        None => None,
    };
    let shown = BriefAnswer {
        text: fitted.text,
        left_out: fitted.left_out,
        entries: whole.entries.iter().map(ShownEntry::from).collect(),
        written,
        findings,
    };
    if args.ids {
        return answer(BriefIdsAnswer(shown));
    }
    answer(shown)
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
    let WholeBrief { brief, .. } = walk::assemble(&workspace)?;
    let guide = snapshot.brief.and_then(|brief| brief.guide);
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
    let diff = unified_diff(&path, &there, &text)?;
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
