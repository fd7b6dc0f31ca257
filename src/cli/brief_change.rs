//! `cook brief note`, `say`, `import`, `--reconcile`: every change passes the one
//! reconciliation, as one transition.

use super::caller::{self, AsUser};
use super::context::{Answer, Context, answer};
use super::input::free_text;
use super::{input, queued};
use crate::service::{self, Asked, WholeBrief, Workspace};
use crate::view::BriefChangeAnswer;
use clap::{Args, ValueEnum};
use cook_core::brief as contract;
use cook_core::diagnostic::{Code, Failure, FailureKind, Finding, count_noun};
use cook_core::machine::Rule;
use cook_core::model::{
    Actor, BriefChange, BriefDocument, BriefLine, BriefOutcome, Cause, Event, GuideProposal,
    Policy, Role, Slot,
};
use cook_os::process::ROLE_VARIABLE;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// A list of the brief.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum BriefSlot {
    /// What must not be done: rule, source
    Forbid,
    /// What holds, with its proof: claim, evidence, basis, reopen
    Established,
    /// What was found out: lesson, source
    Learned,
    /// What must be answered: question, verifies
    Open,
    /// What comes next: action, outcome
    Next,
}

#[derive(Debug, Args)]
pub(super) struct BriefNoteArgs {
    /// Which list
    #[arg(value_enum)]
    pub slot: BriefSlot,
    /// What it says: rule, claim, lesson, question or action (nothing and no flag = JSON on standard input)
    #[arg(allow_hyphen_values = true, value_parser = free_text)]
    pub text: Option<String>,
    /// Of forbid and learned: where it comes from
    #[arg(long, allow_hyphen_values = true, value_parser = free_text)]
    pub source: Option<String>,
    /// Of established: the anchor
    #[arg(long, value_name = "ANCHOR")]
    pub evidence: Option<String>,
    /// Of established: observed, test, output, user or doc
    #[arg(long)]
    pub basis: Option<String>,
    /// Of established: what would make it worth another look
    #[arg(long, allow_hyphen_values = true, value_parser = free_text)]
    pub reopen: Option<String>,
    /// Of open: what would answer it
    #[arg(long, allow_hyphen_values = true, value_parser = free_text)]
    pub verifies: Option<String>,
    /// Of next: what it leads to
    #[arg(long, allow_hyphen_values = true, value_parser = free_text)]
    pub outcome: Option<String>,
    /// Of forbid: the rule
    #[arg(long, conflicts_with = "text", allow_hyphen_values = true, value_parser = free_text)]
    pub rule: Option<String>,
    /// Of established: the claim
    #[arg(long, conflicts_with = "text", allow_hyphen_values = true, value_parser = free_text)]
    pub claim: Option<String>,
    /// Of learned: the lesson
    #[arg(long, conflicts_with = "text", allow_hyphen_values = true, value_parser = free_text)]
    pub lesson: Option<String>,
    /// Of open: the question
    #[arg(long, conflicts_with = "text", allow_hyphen_values = true, value_parser = free_text)]
    pub question: Option<String>,
    /// Of next: the action
    #[arg(long, conflicts_with = "text", allow_hyphen_values = true, value_parser = free_text)]
    pub action: Option<String>,
    /// What becomes of earlier entries
    #[arg(long, value_name = "FILE")]
    pub reconcile: Option<PathBuf>,
    #[command(flatten)]
    pub author: BriefAuthorArgs,
}

/// Who changes the brief.
#[derive(Debug, Default, Args)]
pub(super) struct BriefAuthorArgs {
    /// Who says so
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// The session it comes from
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    #[command(flatten)]
    pub as_user: AsUser,
}

pub(super) fn note(context: &Context, args: &BriefNoteArgs) -> Answer {
    let mut warnings = Vec::new();
    let entries = entries(args, &mut warnings)?;
    let change = BriefChange {
        entries,
        reconciliation: causes(args.reconcile.as_deref())?,
        ..BriefChange::default()
    };
    record(&context.workspace()?, change, &args.author, warnings)
}

/// The entries: from flags, or as JSON, one object or a list of them.
fn entries(args: &BriefNoteArgs, warnings: &mut Vec<Finding>) -> Result<Vec<BriefLine>, Failure> {
    let slot = slot(args.slot);
    let flags = flags(args, slot)?;
    if !flags.is_empty() {
        let value = Value::Object(flags);
        return Ok(vec![contract::read_line_from_value(
            slot,
            &value,
            slot.id(),
            &mut Vec::new(),
        )?]);
    }
    let bytes = input::read(None)?;
    if bytes.len() > contract::MAX_BYTES {
        return Err(unreadable("the input is larger than 1 MiB"));
    }
    let value = cook_core::schema::value(&bytes)
        .map_err(|error| unreadable(&format!("the JSON cannot be read: {error}")))?;
    let mut ignored = Vec::new();
    let lines = match &value {
        Value::Array(_) => contract::read_lines_from_value(slot, &value, slot.id(), &mut ignored)?,
        _ => vec![contract::read_line_from_value(
            slot,
            &value,
            slot.id(),
            &mut ignored,
        )?],
    };
    warnings.extend(ignored.into_iter().map(|path| {
        let what = format!("`{path}` means nothing here and was passed over");
        Finding::new(Code::ArtifactKeyUnknown, what).at(path)
    }));
    Ok(lines)
}

fn unreadable(why: &str) -> Failure {
    Failure::new(FailureKind::Check, Code::ArtifactUnreadable, why)
}

fn slot(slot: BriefSlot) -> Slot {
    match slot {
        BriefSlot::Forbid => Slot::Forbid,
        BriefSlot::Established => Slot::Established,
        BriefSlot::Learned => Slot::Learned,
        BriefSlot::Open => Slot::Open,
        BriefSlot::Next => Slot::Next,
    }
}

/// The fields that were given as flags; one that the slot does not have is an error.
fn flags(args: &BriefNoteArgs, slot: Slot) -> Result<Map<String, Value>, Failure> {
    let given = [
        ("rule", &args.rule),
        ("claim", &args.claim),
        ("lesson", &args.lesson),
        ("question", &args.question),
        ("action", &args.action),
        ("source", &args.source),
        ("evidence", &args.evidence),
        ("basis", &args.basis),
        ("reopen", &args.reopen),
        ("verifies", &args.verifies),
        ("outcome", &args.outcome),
        (slot.fields()[0], &args.text),
    ];
    let mut fields = Map::new();
    for (key, value) in given {
        let Some(value) = value else { continue };
        if !slot.fields().contains(&key) {
            return Err(Failure::usage(format!(
                "`--{key}` is not a field of {}; it has {}",
                slot.id(),
                slot.fields().join(", ")
            )));
        }
        fields.insert(key.to_owned(), Value::String(value.clone()));
    }
    Ok(fields)
}

fn causes(file: Option<&Path>) -> Result<Vec<BriefOutcome>, Failure> {
    match file {
        Some(file) => contract::read_reconciliation(&input::read(Some(file))?),
        None => Ok(Vec::new()),
    }
}

pub(super) fn reconcile(context: &Context, file: &Path, author: &BriefAuthorArgs) -> Answer {
    let change = BriefChange {
        reconciliation: causes(Some(file))?,
        ..BriefChange::default()
    };
    record(&context.workspace()?, change, author, Vec::new())
}

pub(super) fn import(
    context: &Context,
    file: Option<&Path>,
    reconcile: Option<&Path>,
    author: &BriefAuthorArgs,
) -> Answer {
    let reading = contract::read(&input::read(file)?)?;
    let artifact = reading.artifact;
    let mut warnings = reading.warnings;
    let workspace = context.workspace()?;
    let whole = service::assemble(&workspace)?;
    for (field, theirs, ours) in [
        ("brief.task", &artifact.brief.task, &whole.brief.task),
        (
            "brief.done_when",
            &artifact.brief.done_when,
            &whole.brief.done_when,
        ),
    ] {
        if theirs != ours {
            let what = format!("`{field}` is not taken: the documents say `{ours}`");
            warnings.push(Finding::new(Code::BriefNotTaken, what).at(field));
        }
    }
    let stored = workspace.require()?.1.brief.unwrap_or_default();
    // What cook fills in by itself comes back with every brief and is not stored.
    let filled = |line: &BriefLine| {
        whole
            .entries
            .iter()
            .any(|entry| entry.is_own() && entry.line == *line)
    };
    let mut reconciliation = artifact.reconciliation;
    reconciliation.extend(causes(reconcile)?);
    let change = BriefChange {
        entries: artifact
            .brief
            .lines
            .into_iter()
            .filter(|line| !filled(line))
            .map(|line| as_kept(line, &whole, &stored))
            .collect(),
        reconciliation,
        whole: true,
        guide: artifact.guide.content.map(|content| GuideProposal {
            content,
            reason: artifact.guide.reason,
        }),
    };
    record(&workspace, change, author, warnings)
}

/// An entry that the brief shows otherwise than it is kept, as it is kept: a claim that nothing
/// proves is shown as a question.
fn as_kept(line: BriefLine, whole: &WholeBrief, stored: &BriefDocument) -> BriefLine {
    let mut shown = whole.entries.iter();
    let entry = shown.find(|entry| !entry.is_own() && entry.line == line);
    let kept = entry.and_then(|entry| stored.entries.iter().find(|kept| kept.id == entry.id));
    kept.map_or(line, |kept| kept.line.clone())
}

fn record(
    workspace: &Workspace,
    change: BriefChange,
    author: &BriefAuthorArgs,
    warnings: Vec<Finding>,
) -> Answer {
    workspace.require()?;
    let actor = actor(author)?;
    let by = name(author, actor)?;
    let event = Event::Briefed {
        change: change.clone(),
        by: by.clone(),
        session: author.session.clone(),
    };
    match write_down(workspace, &event, actor, warnings) {
        Err(failure) if !change.whole && change.guide.is_none() => {
            queued::or_leave(workspace, failure, Asked::BriefNote { change, by })
        }
        outcome => outcome,
    }
}

/// A person, or a script that says so, speaks for the user; everybody else does not.
fn actor(author: &BriefAuthorArgs) -> Result<Actor, Failure> {
    if author.as_user.as_user {
        return caller::require_user(true);
    }
    Ok(match caller::anybody() {
        Actor::User => Actor::User,
        _ => Actor::Role,
    })
}

/// `--by`, the role of this session, or what the caller plainly is.
fn name(author: &BriefAuthorArgs, actor: Actor) -> Result<String, Failure> {
    if let Some(by) = &author.by {
        let by = contract::normalise(by)
            .map_err(|breach| Failure::usage(format!("`--by` {}", breach.rule)))?;
        if by.chars().count() > 100 {
            return Err(Failure::usage("`--by` is longer than 100 characters"));
        }
        return match actor {
            Actor::User | Actor::Script => Ok(contract::name_user(&by)),
            _ => contract::not_user(by).map_err(Failure::from),
        };
    }
    let role = std::env::var(ROLE_VARIABLE)
        .ok()
        .and_then(|role| Role::parse(&role));
    Ok(match (role, actor) {
        (Some(role), _) => role.short().to_owned(),
        (None, Actor::User | Actor::Script) => "user".to_owned(),
        (None, _) => "agent".to_owned(),
    })
}

pub(super) fn say(
    context: &Context,
    text: &str,
    session: Option<&String>,
    as_user: bool,
) -> Answer {
    let actor = caller::require_user(as_user)?;
    let event = Event::Said {
        text: input::read_argument(text)?.trim_end().to_owned(),
        session: session.cloned(),
    };
    let workspace = context.workspace()?;
    workspace.require()?;
    write_down(&workspace, &event, actor, Vec::new())
}

fn write_down(
    workspace: &Workspace,
    event: &Event,
    actor: Actor,
    mut findings: Vec<Finding>,
) -> Answer {
    findings.extend(queued::take_in(workspace));
    let applied = match service::transition(workspace, event, actor) {
        Ok(applied) => applied,
        Err(failure) if failure.code == Code::BriefUnchanged => {
            let (tip, _) = workspace.require()?;
            return answer(BriefChangeAnswer {
                operation: None.into(),
                seq: tip.seq,
                records: Vec::new(),
                summary: "the brief says that already".to_owned(),
                written: follow(workspace, &mut findings),
                findings,
            });
        }
        Err(failure) => return Err(failure),
    };
    findings.extend(applied.findings.clone());
    let records = applied.step.records.brief.clone();
    let summary = match records.first() {
        Some(record) if record.kind == Cause::Said => {
            let next = &applied.step.next;
            let was_done = applied.step.rule == Rule::Stopped && next.policy == Policy::Continue;
            let more = match was_done {
                true => "; the project was done and is open again (`cook next`)",
                false => "",
            };
            format!("kept; quote it as `user@{}: '…'`{more}", record.id)
        }
        Some(_) => format!(
            "{} of the brief",
            count_noun(records.len() as u64, "change")
        ),
        None => "the proposed agent guide is kept".to_owned(),
    };
    let written = follow(workspace, &mut findings);
    answer(BriefChangeAnswer {
        operation: applied.tip.map(|tip| tip.commit).into(),
        seq: applied.step.snapshot.ledger.seq.0,
        records,
        summary,
        written,
        findings,
    })
}

/// The brief's file, when it follows; the change is written down whether or not it can.
fn follow(workspace: &Workspace, findings: &mut Vec<Finding>) -> Option<String> {
    match service::follow_brief(workspace) {
        Ok(written) => written,
        Err(failure) => {
            findings.push(Finding::new(failure.code, failure.message));
            None
        }
    }
}
