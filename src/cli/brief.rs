//! `cook brief`: what the next session must know. Every change of it passes the one reconciliation, as one
//! transition.

use super::caller::AsUser;
use super::context::{Answer, Context, answer};
use super::input::free_text;
use super::transition::Recorded;
use super::{caller, input, transition};
use crate::scaffold::{read_text_file, write_text_file};
use crate::service::{Asked, CheckedAnchor, DEFAULT_BYTES, WholeBrief, Workspace};
use crate::view::{Exit, Page, Show, Tone};
use crate::{lifecycle, service};
use clap::{Args, Subcommand, ValueEnum};
use cook_core::brief;
use cook_core::brief::{Artifact, Brief, Filled, Guide};
use cook_core::diagnostic::{Code, Failure, FailureKind, Finding, Refusal, count_noun};
use cook_core::machine::Rule;
use cook_core::model::{
    Actor, BriefChange, BriefDocument, BriefLine, BriefOutcome, BriefRecord, Cause, Checkpoint,
    Event, GuideProposal, Policy, Role, Slot, Verdict,
};
use cook_git::make_unified_diff;
use cook_hooks::{Item, Recovery};
use cook_os::process::ROLE_VARIABLE;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
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
        Some(BriefCommand::Note(args)) => note(context, args),
        Some(BriefCommand::Say {
            text,
            session,
            as_user,
        }) => say(context, text, session.as_ref(), as_user.as_user),
        Some(BriefCommand::Import {
            file,
            reconcile,
            author,
        }) => import(context, file.as_deref(), reconcile.as_deref(), author),
        Some(BriefCommand::Export) => export(context),
        Some(BriefCommand::Guide { apply, .. }) => guide(context, *apply),
    }
}

fn show(context: &Context, args: &BriefShowArgs) -> Answer {
    if let Some(file) = &args.reconcile {
        return reconcile(context, file, &args.author);
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
        return Ok(vec![brief::read_line_from_value(
            slot,
            &value,
            slot.id(),
            &mut Vec::new(),
        )?]);
    }
    let bytes = input::read(None)?;
    if bytes.len() > brief::MAX_BYTES {
        return Err(unreadable("the input is larger than 1 MiB"));
    }
    let value = cook_core::schema::value(&bytes)
        .map_err(|error| unreadable(&format!("the JSON cannot be read: {error}")))?;
    let mut ignored = Vec::new();
    let lines = match &value {
        Value::Array(_) => brief::read_lines_from_value(slot, &value, slot.id(), &mut ignored)?,
        _ => vec![brief::read_line_from_value(
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
        Some(file) => brief::read_reconciliation(&input::read(Some(file))?),
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
    let reading = brief::read(&input::read(file)?)?;
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
            transition::or_leave(workspace, failure, Asked::BriefNote { change, by })
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
        let by = brief::normalise(by)
            .map_err(|breach| Failure::usage(format!("`--by` {}", breach.rule)))?;
        if by.chars().count() > 100 {
            return Err(Failure::usage("`--by` is longer than 100 characters"));
        }
        return match actor {
            Actor::User | Actor::Script => Ok(brief::name_user(&by)),
            _ => brief::not_user(by).map_err(Failure::from),
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
    findings.extend(transition::take_in(workspace));
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

#[derive(Debug, Args)]
pub(super) struct CheckpointArgs {
    /// What was done, what comes next (`-` = standard input)
    #[arg(allow_hyphen_values = true, value_parser = free_text)]
    pub text: String,
    /// Take this artifact in as the whole next brief first; when it is refused, nothing is kept
    #[arg(long, value_name = "FILE")]
    pub brief: Option<PathBuf>,
}

pub(super) fn checkpoint(context: &Context, args: &CheckpointArgs) -> Answer {
    let text = input::read_argument(&args.text)?;
    if let Some(file) = &args.brief {
        import(context, Some(file), None, &BriefAuthorArgs::default())?;
    }
    let workspace = context.workspace()?;
    let mut findings = transition::take_in(&workspace);
    let (entry, behind) = match lifecycle::checkpoint(&workspace, &text) {
        Ok(kept) => kept,
        Err(failure) => {
            let request = service::Asked::Checkpoint { text, item: None };
            return transition::or_leave(&workspace, failure, request);
        }
    };
    findings.extend(behind);
    if workspace.store.is_some()
        && let Err(failure) = service::follow_brief(&workspace)
    {
        findings.push(Finding::new(failure.code, failure.message));
    }
    findings.extend(find_torn_line(&workspace)?);
    answer(CheckpointAnswer { entry, findings })
}

pub(super) fn recover(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let recovery = lifecycle::recover(&workspace)?;
    answer(RecoverAnswer::of(recovery, find_torn_line(&workspace)?))
}

pub(super) fn find_torn_line(workspace: &Workspace) -> Result<Vec<Finding>, Failure> {
    Ok(match &workspace.store {
        Some(store) => store.trail_finding()?.into_iter().collect(),
        None => Vec::new(),
    })
}

/// An entry as it is listed.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShownEntry {
    /// Its id; `c…` for what cook fills in itself.
    pub id: String,
    /// Its list.
    pub slot: Slot,
    /// Who added it.
    pub by: String,
    /// As it is rendered.
    pub text: String,
}

impl From<&Filled> for ShownEntry {
    fn from(entry: &Filled) -> Self {
        Self {
            id: entry.id.clone(),
            slot: entry.line.slot(),
            by: entry.by.clone(),
            text: cook_core::brief::line_text(&entry.line),
        }
    }
}

/// The brief as it is printed, and its entries.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefAnswer {
    /// `--ids`: people see the entries, not the text.
    #[serde(skip)]
    pub ids: bool,
    /// The rendering, without the newline that ends what is printed.
    pub text: String,
    /// Entries that did not fit.
    pub left_out: usize,
    /// Every entry, those that did not fit among them.
    pub entries: Vec<ShownEntry>,
    /// The file it was written into.
    pub written: Option<String>,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
}

impl Show for BriefAnswer {
    fn human(&self, page: &mut Page) {
        // Its fields hold nothing hidden; not even a change of tone may come in between.
        if !self.ids {
            page.verbatim(&self.text);
            page.newline();
            return;
        }
        for entry in &self.entries {
            page.add_toned(Tone::Strong, &entry.id);
            let (slot, by) = (entry.slot.id(), &entry.by);
            page.line(&format!("  {slot:<11} {by:<11} {}", entry.text));
        }
        if self.entries.is_empty() {
            page.line("the brief has no entries");
        }
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// `cook brief export`: the artifact itself.
#[derive(Debug, Serialize)]
pub struct ArtifactAnswer(pub Value);

impl Show for ArtifactAnswer {
    fn human(&self, page: &mut Page) {
        page.json(&self.0);
    }

    fn has_json(&self) -> bool {
        false
    }
}

/// What changed in the brief.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefChangeAnswer {
    /// The log commit; null when nothing had to change.
    #[serde(flatten)]
    pub operation: Recorded,
    /// Log sequence.
    pub seq: u64,
    /// What `brief-history.jsonl` gained.
    pub records: Vec<BriefRecord>,
    /// One line that says what was done.
    pub summary: String,
    /// The file that follows the brief, when it was written.
    pub written: Option<String>,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
}

impl Show for BriefChangeAnswer {
    fn human(&self, page: &mut Page) {
        match self.operation.recorded {
            true => page.add_toned(Tone::Good, &format!("recorded #{}", self.seq)),
            false => page.add_toned(Tone::Dim, "nothing to record"),
        }
        page.line(&format!("  {}", self.summary));
        for record in &self.records {
            let kind = json!(record.kind);
            let kind = kind.as_str().unwrap_or_default();
            page.line(&format!("  {kind:<10} {}  {}", record.id, record.text));
        }
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// Every anchor of the brief and of the plan's evidence, with what it is worth now.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefCheckAnswer {
    /// False makes exit 1.
    holds: bool,
    /// By verdict; those that no anchor has are left out.
    #[cfg_attr(
        feature = "schema",
        schemars(extend("propertyNames" = cook_core::schema::published::describe::<Verdict>()))
    )]
    counts: BTreeMap<Verdict, NonZeroUsize>,
    anchors: Vec<CheckedAnchor>,
}

impl BriefCheckAnswer {
    /// It holds when no anchor is lost, and, where there are any, one at least could be checked.
    pub fn of(anchors: Vec<CheckedAnchor>) -> Self {
        use Verdict::{Changed, Malformed, Missing, Unverifiable};
        let mut counts = BTreeMap::new();
        for anchor in &anchors {
            let count = counts.entry(anchor.verdict);
            count
                .and_modify(|count: &mut NonZeroUsize| *count = count.saturating_add(1))
                .or_insert(NonZeroUsize::MIN);
        }
        let required = anchors.iter().filter(|anchor| anchor.required);
        let mut required = required.map(|anchor| anchor.verdict).peekable();
        let is_lost = |verdict| matches!(verdict, Changed | Missing | Malformed);
        let holds = required.peek().is_none()
            || (!required.clone().any(is_lost) && required.any(|verdict| verdict != Unverifiable));
        Self {
            holds,
            counts,
            anchors,
        }
    }
}

impl Show for BriefCheckAnswer {
    fn human(&self, page: &mut Page) {
        for anchor in &self.anchors {
            let tone = match anchor.verdict {
                Verdict::Verified => Tone::Good,
                Verdict::Moved | Verdict::Stale | Verdict::Unverifiable => Tone::Warn,
                Verdict::Changed | Verdict::Missing | Verdict::Malformed => Tone::Bad,
            };
            page.add_toned(tone, &format!("{:<12}", anchor.verdict.id()));
            let now = match &anchor.now {
                Some(now) => format!(" → {now}"),
                None => String::new(),
            };
            let free = if anchor.required { "" } else { " (mentioned)" };
            page.line(&format!(
                " {}  {}{now}: {}{free}",
                anchor.id, anchor.anchor, anchor.why
            ));
        }
        let mut counts: Vec<String> = self
            .counts
            .iter()
            .map(|(verdict, number)| format!("{number} {}", verdict.id()))
            .collect();
        counts.sort_by(|one, two| one.split(' ').nth(1).cmp(&two.split(' ').nth(1)));
        let what = format!(
            "{}: {}",
            count_noun(self.anchors.len() as u64, "anchor"),
            counts.join(", ")
        );
        match (self.anchors.is_empty(), self.holds) {
            (true, _) => page.line("the brief has no anchors"),
            (_, true) => page.line(&what),
            (_, false) => {
                page.add_toned(Tone::Bad, "does not hold");
                page.line(&format!("  {what}"));
            }
        }
    }

    fn exit(&self) -> Exit {
        if self.holds {
            Exit::Ok
        } else {
            Exit::CheckFailed
        }
    }
}

/// The proposed update of the agent guide.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GuideAnswer {
    /// The file.
    pub path: String,
    /// Why.
    pub reason: String,
    /// Who proposed it.
    pub by: String,
    /// A unified diff; empty when nothing would change.
    pub diff: String,
    /// It was written.
    pub applied: bool,
}

impl Show for GuideAnswer {
    fn human(&self, page: &mut Page) {
        if !self.diff.is_empty() {
            page.lines(self.diff.trim_end_matches('\n'));
        }
        let what = match (self.diff.is_empty(), self.applied) {
            (true, _) => format!("`{}` says that already", self.path),
            (false, true) => format!("`{}` is written", self.path),
            (false, false) => format!("proposed by {}: {}", self.by, self.reason),
        };
        page.add_toned_line(Tone::Dim, &what);
    }
}

/// The entry that was appended to the checkpoint trail.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckpointAnswer {
    /// The entry.
    pub entry: Checkpoint,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
}

impl Show for CheckpointAnswer {
    fn human(&self, page: &mut Page) {
        match &self.entry.item {
            Some(item) => page.line(&format!("kept, with {item}")),
            None => page.line("kept; no slice is in work"),
        }
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// The message a session gets when its context was lost, and what it is made of.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecoverAnswer {
    /// At most 2,048 bytes of UTF-8.
    message: String,
    item: Option<Item>,
    #[cfg_attr(feature = "schema", schemars(length(max = 5)))]
    checkpoints: Vec<Remembered>,
    uncommitted: Vec<String>,
    uncommitted_more: u64,
    role: String,
    command: String,
    notes: Vec<String>,
    findings: Vec<Finding>,
}

/// A checkpoint and how long ago it was kept.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Remembered {
    ago: String,
    text: String,
}

impl RecoverAnswer {
    /// What was noticed on the way is not part of the message.
    pub fn of(recovery: Recovery, findings: Vec<Finding>) -> Self {
        let checkpoints = recovery.checkpoints.iter().cloned();
        Self {
            message: recovery.render(),
            checkpoints: checkpoints
                .map(|(ago, text)| Remembered { ago, text })
                .collect(),
            item: recovery.item,
            uncommitted: recovery.uncommitted,
            uncommitted_more: recovery.uncommitted_more,
            role: recovery.role,
            command: recovery.command,
            notes: recovery.notes,
            findings,
        }
    }
}

impl Show for RecoverAnswer {
    fn human(&self, page: &mut Page) {
        page.verbatim(&self.message);
        page.newline();
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}
