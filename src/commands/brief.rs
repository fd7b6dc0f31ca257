//! `cook brief`: the brief for the next session. Each change passes the same reconciliation and is recorded as one
//! transition.

use super::context::*;
use super::recorded::{self, Recorded};
use crate::hooks;
use crate::init::{read_text_file, write_text_file};
use crate::service::{Asked, CheckedAnchor, DEFAULT_BYTES, WholeBrief};
use crate::view::json_text;
use cook_agents::hooks::Item;
use cook_protocol::brief::{self, Artifact, Brief, Filled, Guide};
use cook_protocol::model::{
    BriefChange, BriefDocument, BriefLine, BriefOutcome, BriefRecord, Cause, GuideProposal, Slot,
};
use cook_repo::git::make_unified_diff;
use cook_repo::process::ROLE_VARIABLE;

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
    /// Print at most this many bytes, and count the omitted entries [default: 8000]
    #[arg(long, value_name = "N", conflicts_with = "all")]
    pub max_bytes: Option<usize>,
    /// Print the complete brief, however long it is
    #[arg(long)]
    pub all: bool,
    /// Also write the brief to this file [default: CONTINUE.md]
    #[arg(long, value_name = "PATH", num_args = 0..=1, default_missing_value = "")]
    pub write: Option<String>,
    /// List the entries with their IDs instead
    #[arg(long, conflicts_with = "write")]
    pub ids: bool,
    /// End or replace entries by a JSON list of `{id, verdict, by, why}` (`-` reads standard input)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["write", "ids"])]
    pub reconcile: Option<PathBuf>,
    #[command(flatten)]
    pub author: BriefAuthorArgs,
}

#[derive(Debug, Subcommand)]
pub(super) enum BriefCommand {
    /// Print the brief
    Show(BriefShowArgs),
    /// Print the brief of an artifact (works without a repository)
    Render {
        /// File of the artifact (`-` reads standard input) [default: -]
        file: Option<PathBuf>,
    },
    /// Check whether every anchor still holds
    Check,
    /// Record finished work and next steps
    Checkpoint(CheckpointArgs),
    /// Print the recovery message for a session that lost its context
    Recover,
    /// Add an entry, from options or from JSON on standard input
    Note(Box<BriefNoteArgs>),
    /// Record a statement of the user that anchors can quote (user only)
    Say {
        /// Statement to record (`-` reads standard input)
        #[arg(allow_hyphen_values = true, value_parser = free_text)]
        text: String,
        /// Record the ID of the session in which the user made the statement
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        #[command(flatten)]
        as_user: AsUser,
    },
    /// Import an artifact as the complete next brief
    Import {
        /// File of the artifact (`-` reads standard input) [default: -]
        file: Option<PathBuf>,
        /// Read the causes of omitted entries from this file (`-` reads standard input)
        #[arg(long, value_name = "FILE")]
        reconcile: Option<PathBuf>,
        #[command(flatten)]
        author: BriefAuthorArgs,
    },
    /// Print the brief as an artifact
    Export,
    /// Show or apply the proposed update of the agent guide
    Guide {
        /// Show the changes
        #[arg(long, required_unless_present = "apply", conflicts_with = "apply")]
        diff: bool,
        /// Write the changes to the guide
        #[arg(long)]
        apply: bool,
    },
}

pub(super) fn brief(context: &Context, args: &BriefArgs) -> Answer {
    match &args.command {
        None => show(context, &args.show),
        Some(BriefCommand::Show(args)) => show(context, args),
        Some(BriefCommand::Render { file }) => render(file.as_deref()),
        Some(BriefCommand::Check) => answer(BriefCheckAnswer::new(service::check(
            &context.workspace()?,
        )?)),
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
    if let (true, Some(room)) = (fitted.over, room) {
        let what = format!("task, end, forbids and the first step take more than {room} bytes");
        findings.push(Finding::new(Code::BriefOverBudget, what));
    }
    let written = args.write.as_ref();
    let written = written.map(|path| service::write_brief(&workspace, path, &fitted.text));
    answer(BriefAnswer {
        ids: args.ids,
        text: fitted.text,
        left_out: fitted.left_out,
        entries: whole.entries.iter().map(ShownEntry::from).collect(),
        written: written.transpose()?,
        findings,
    })
}

/// Renders the brief of an artifact, without a repository.
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
                slot: line.slot,
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
    let stored = snapshot.brief.unwrap_or_default();
    let (kept, guide) = (stored.entries, stored.guide);
    // Entries are exported as stored, however they are shown, so that an import returns them unchanged.
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
        guide: guide.map_or_else(Guide::default, |guide| Guide {
            content: Some(guide.content),
            reason: guide.reason,
        }),
        reconciliation: Vec::new(),
    };
    answer(PromptAnswer(json_text(&artifact.to_json())))
}

/// The guide that agents read before they begin.
const GUIDE: &str = "AGENTS.md";

/// Shows the proposed guide, and writes it if `apply` is set.
fn guide(context: &Context, apply: bool) -> Answer {
    let workspace = context.workspace()?;
    let (_, snapshot) = workspace.require()?;
    let Some(update) = snapshot.brief.and_then(|brief| brief.guide) else {
        let what = "no update of the agent guide is proposed";
        return Err(Refusal::new(Code::GuideMissing, what).into());
    };
    let root = workspace.repo.root();
    let there = read_text_file(root, GUIDE)?.unwrap_or_default();
    let mut text = update.content;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let diff = make_unified_diff(GUIDE, &there, &text)?;
    let applied = apply && !diff.is_empty();
    if applied {
        write_text_file(root, GUIDE, &text)?;
    }
    answer(GuideAnswer {
        path: GUIDE.to_owned(),
        reason: update.reason,
        by: update.by,
        diff,
        applied,
    })
}

#[derive(Debug, Args)]
pub(super) struct BriefNoteArgs {
    /// List that gets the entry: prohibitions, proven facts, lessons, open questions or next steps
    #[arg(value_parser = input::one_of(&Slot::ALL, Slot::id))]
    pub slot: Slot,
    /// Rule, claim, lesson, question or action to add; without it and without options, read JSON from standard
    /// input
    #[arg(allow_hyphen_values = true, value_parser = free_text)]
    pub text: Option<String>,
    /// Name the source of the entry (for `forbid` and `learned`)
    #[arg(long, allow_hyphen_values = true, value_parser = free_text)]
    pub source: Option<String>,
    /// Name the anchor that proves the claim (for `established`)
    #[arg(long, value_name = "ANCHOR")]
    pub evidence: Option<String>,
    /// Name the kind of proof: observed, test, output, user or doc (for `established`)
    #[arg(long)]
    pub basis: Option<String>,
    /// Name the event after which to check the claim again (for `established`)
    #[arg(long, allow_hyphen_values = true, value_parser = free_text)]
    pub reopen: Option<String>,
    /// Name the test or fact that would answer the question (for `open`)
    #[arg(long, allow_hyphen_values = true, value_parser = free_text)]
    pub verifies: Option<String>,
    /// Name the expected result of the action (for `next`)
    #[arg(long, allow_hyphen_values = true, value_parser = free_text)]
    pub outcome: Option<String>,
    /// End or replace earlier entries, as `cook brief --reconcile` does
    #[arg(long, value_name = "FILE")]
    pub reconcile: Option<PathBuf>,
    #[command(flatten)]
    pub author: BriefAuthorArgs,
}

// The author of a change.
#[derive(Debug, Default, Args)]
pub(super) struct BriefAuthorArgs {
    /// Record this author of the change [default: the role, `user` or `agent`]
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// Record the ID of the session in which the change was made
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    #[command(flatten)]
    pub as_user: AsUser,
}

fn note(context: &Context, args: &BriefNoteArgs) -> Answer {
    let mut warnings = Vec::new();
    let change = BriefChange {
        entries: read_entries(args, &mut warnings)?,
        reconciliation: read_causes(args.reconcile.as_deref())?,
        ..BriefChange::default()
    };
    record(&context.workspace()?, change, &args.author, warnings)
}

/// Reads the entries from flags, or from stdin as JSON: an object or a list of objects.
fn read_entries(args: &BriefNoteArgs, warnings: &mut Vec<Finding>) -> Result<Vec<BriefLine>> {
    let slot = args.slot;
    let mut ignored = Vec::new();
    let flags = flags(args)?;
    if !flags.is_empty() {
        let value = Value::Object(flags);
        let line = brief::read_line_from_value(slot, &value, slot.id(), &mut ignored)?;
        return Ok(vec![line]);
    }
    let bytes = input::read(None)?;
    if bytes.len() > brief::MAX_BYTES {
        return Err(unreadable("the input is larger than 1 MiB"));
    }
    let value = cook_protocol::schema::value(&bytes)
        .map_err(|error| unreadable(&format!("the JSON cannot be read: {error}")))?;
    let id = slot.id();
    let lines = match value.is_array() {
        true => brief::read_lines_from_value(slot, &value, id, &mut ignored)?,
        false => vec![brief::read_line_from_value(slot, &value, id, &mut ignored)?],
    };
    warnings.extend(ignored.into_iter().map(|path| {
        let what = format!("`{path}` is unknown here and was ignored");
        Finding::new(Code::ArtifactKeyUnknown, what).at(path)
    }));
    Ok(lines)
}

fn unreadable(why: &str) -> Failure {
    Failure::new(FailureKind::Check, Code::ArtifactUnreadable, why)
}

/// Collects the fields that were given as flags; refuses a field that the slot does not have.
fn flags(args: &BriefNoteArgs) -> Result<Map<String, Value>> {
    let slot = args.slot;
    let given = [
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
            let (list, known) = (slot.id(), slot.fields().join(", "));
            let what = format!("`--{key}` is not a field of {list}; it has {known}");
            return Err(Failure::usage(what));
        }
        fields.insert(key.to_owned(), Value::String(value.clone()));
    }
    Ok(fields)
}

fn read_causes(file: Option<&Path>) -> Result<Vec<BriefOutcome>> {
    match file {
        Some(file) => brief::read_reconciliation(&input::read(Some(file))?),
        None => Ok(Vec::new()),
    }
}

fn reconcile(context: &Context, file: &Path, author: &BriefAuthorArgs) -> Answer {
    let change = BriefChange {
        reconciliation: read_causes(Some(file))?,
        ..BriefChange::default()
    };
    record(&context.workspace()?, change, author, Vec::new())
}

fn import(
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
    let (theirs, ours) = (&artifact.brief, &whole.brief);
    for (field, theirs, ours) in [
        ("brief.task", &theirs.task, &ours.task),
        ("brief.done_when", &theirs.done_when, &ours.done_when),
    ] {
        if theirs != ours {
            let what = format!("`{field}` was ignored: the documents say `{ours}`");
            warnings.push(Finding::new(Code::BriefNotTaken, what).at(field));
        }
    }
    let stored = workspace.require()?.1.brief.unwrap_or_default();
    // Entries that cook itself fills in are part of every brief and are not stored.
    let is_own = |line: &BriefLine| {
        let mut own = whole.entries.iter().filter(|entry| entry.is_own());
        own.any(|entry| entry.line == *line)
    };
    let mut reconciliation = artifact.reconciliation;
    reconciliation.extend(read_causes(reconcile)?);
    let entries = artifact.brief.lines.into_iter();
    let entries = entries.filter(|line| !is_own(line));
    let change = BriefChange {
        entries: entries.map(|line| as_kept(line, &whole, &stored)).collect(),
        reconciliation,
        whole: true,
        guide: artifact.guide.content.map(|content| GuideProposal {
            content,
            reason: artifact.guide.reason,
        }),
    };
    record(&workspace, change, author, warnings)
}

/// Returns the stored form of an entry that is shown differently: a claim without proof is shown as a question.
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
            recorded::or_leave(workspace, failure, Asked::BriefNote { change, by })
        }
        outcome => outcome,
    }
}

/// A person, or a script with `--as-user`, speaks for the user; any other caller has the actor `Role`.
fn actor(author: &BriefAuthorArgs) -> Result<Actor> {
    if author.as_user.as_user {
        return context::require_user(true);
    }
    let user = Some(context::anybody()).filter(|actor| *actor == Actor::User);
    Ok(user.unwrap_or(Actor::Role))
}

/// Returns `--by`, or the session's role, or `user` or `agent` by the actor.
fn name(author: &BriefAuthorArgs, actor: Actor) -> Result<String> {
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
    let role = std::env::var(ROLE_VARIABLE).ok();
    let name = match (role.and_then(|role| Role::parse(&role)), actor) {
        (Some(role), _) => role.short(),
        (None, Actor::User | Actor::Script) => "user",
        (None, _) => "agent",
    };
    Ok(name.to_owned())
}

fn say(context: &Context, text: &str, session: Option<&String>, as_user: bool) -> Answer {
    let actor = context::require_user(as_user)?;
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
    findings.extend(recorded::take_in(workspace));
    let applied = match service::transition(workspace, event, actor) {
        Ok(applied) => applied,
        Err(failure) if failure.code == Code::BriefUnchanged => {
            let (tip, _) = workspace.require()?;
            return answer(BriefChangeAnswer {
                operation: None.into(),
                seq: tip.seq,
                records: Vec::new(),
                summary: "the brief already contains this".to_owned(),
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
            let (rule, next) = (applied.step.rule, &applied.step.next);
            let more = match rule == Rule::Stopped && next.policy == Policy::Continue {
                true => "; the project was done and is open again (`cook next`)",
                false => "",
            };
            format!("kept; quote it as `user@{}: '…'`{more}", record.id)
        }
        Some(_) => format!("{} of the brief", count_noun(records.len(), "change")),
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

/// Updates the file of the brief if it is configured; a failure is only a finding, since the change is recorded.
fn follow(workspace: &Workspace, findings: &mut Vec<Finding>) -> Option<String> {
    service::follow_brief(workspace).unwrap_or_else(|failure| {
        findings.push(Finding::new(failure.code, failure.message));
        None
    })
}

#[derive(Debug, Args)]
pub(super) struct CheckpointArgs {
    /// Finished work and next steps (`-` reads standard input)
    #[arg(allow_hyphen_values = true, value_parser = free_text)]
    pub text: String,
    /// Import this artifact as the complete next brief first; if it is refused, record nothing
    #[arg(long, value_name = "FILE")]
    pub brief: Option<PathBuf>,
}

fn checkpoint(context: &Context, args: &CheckpointArgs) -> Answer {
    let text = input::read_argument(&args.text)?;
    if let Some(file) = &args.brief {
        import(context, Some(file), None, &BriefAuthorArgs::default())?;
    }
    let workspace = context.workspace()?;
    let mut findings = recorded::take_in(&workspace);
    let (entry, behind) = match hooks::checkpoint(&workspace, &text) {
        Ok(kept) => kept,
        Err(failure) => {
            let request = service::Asked::Checkpoint { text, item: None };
            return recorded::or_leave(&workspace, failure, request);
        }
    };
    findings.extend(behind);
    if workspace.store.is_some() {
        follow(&workspace, &mut findings);
    }
    findings.extend(find_torn_line(&workspace)?);
    answer(CheckpointAnswer { entry, findings })
}

fn recover(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let recovery = hooks::recover(&workspace)?;
    let message = recovery.render();
    let checkpoints = recovery.checkpoints.into_iter();
    answer(RecoverAnswer {
        message,
        item: recovery.item,
        checkpoints: checkpoints
            .map(|(ago, text)| Remembered { ago, text })
            .collect(),
        uncommitted: recovery.uncommitted,
        uncommitted_more: recovery.uncommitted_more,
        role: recovery.role,
        command: recovery.command,
        notes: recovery.notes,
        findings: find_torn_line(&workspace)?,
    })
}

fn find_torn_line(workspace: &Workspace) -> Result<Vec<Finding>> {
    let found = workspace.store.as_ref().map(|store| store.trail_finding());
    Ok(found.transpose()?.flatten().into_iter().collect())
}

/// An entry of the brief.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct ShownEntry {
    /// ID of the entry; it begins with `c` if cook fills the entry in itself.
    pub id: String,
    /// List of the brief that holds the entry.
    pub slot: Slot,
    /// Author of the entry.
    pub by: String,
    /// Text of the entry, as printed.
    pub text: String,
}

impl From<&Filled> for ShownEntry {
    fn from(entry: &Filled) -> Self {
        Self {
            id: entry.id.clone(),
            slot: entry.line.slot,
            by: entry.by.clone(),
            text: cook_protocol::brief::line_text(&entry.line),
        }
    }
}

/// The printed brief, and its entries.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct BriefAnswer {
    /// `--ids`: people see the entries, not the text.
    #[serde(skip)]
    pub ids: bool,
    /// Text of the brief, without the final newline.
    pub text: String,
    /// Number of entries that did not fit.
    pub left_out: usize,
    /// All entries, including those that did not fit.
    pub entries: Vec<ShownEntry>,
    /// File that the brief was written to; null if none was written.
    pub written: Option<String>,
    /// Findings of the command.
    pub findings: Vec<Finding>,
}

impl Show for BriefAnswer {
    fn human(&self, page: &mut Page) {
        page.find(&self.findings);
        // The fields of the brief are already safe to print. The text must not contain even a change of tone.
        if !self.ids {
            page.wrap_lines(&self.text);
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
}

/// A change of the brief.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct BriefChangeAnswer {
    /// Commit in the log; null if nothing had to change.
    #[serde(flatten)]
    pub operation: Recorded,
    /// Number of the transition in the log.
    pub seq: u64,
    /// New records of `brief-history.jsonl`.
    pub records: Vec<BriefRecord>,
    /// One line about the result.
    pub summary: String,
    /// File that holds the brief; null if no file was updated.
    pub written: Option<String>,
    /// Findings of the command.
    pub findings: Vec<Finding>,
}

impl Show for BriefChangeAnswer {
    fn human(&self, page: &mut Page) {
        page.find(&self.findings);
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
}

/// Every anchor of the brief and of the plan's evidence, with its verdict.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct BriefCheckAnswer {
    /// Whether the anchors hold; the exit code is 1 if not.
    holds: bool,
    /// Number of anchors by verdict, without zeros.
    counts: BTreeMap<Verdict, usize>,
    anchors: Vec<CheckedAnchor>,
}

impl BriefCheckAnswer {
    /// The check passes if no required anchor is lost and, if there are required anchors, at least one could be
    /// verified.
    fn new(anchors: Vec<CheckedAnchor>) -> Self {
        use Verdict::{Changed, Malformed, Missing, Unverifiable};
        let mut counts = BTreeMap::new();
        for anchor in &anchors {
            *counts.entry(anchor.verdict).or_default() += 1;
        }
        let required = anchors.iter().filter(|anchor| anchor.required);
        let required: Vec<Verdict> = required.map(|anchor| anchor.verdict).collect();
        let is_lost = |verdict: &Verdict| matches!(verdict, Changed | Missing | Malformed);
        let is_checked = required.iter().any(|verdict| *verdict != Unverifiable);
        let holds = required.is_empty() || (is_checked && !required.iter().any(is_lost));
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
            let (id, why) = (&anchor.id, &anchor.why);
            let now = anchor.now.iter().map(|now| format!(" → {now}"));
            let now: String = now.collect();
            let free = if anchor.required { "" } else { " (mentioned)" };
            page.line(&format!(" {id}  {}{now}: {why}{free}", anchor.anchor));
        }
        let counts = self.counts.iter();
        let mut counts: Vec<(&str, &usize)> = counts.map(|(it, n)| (it.id(), n)).collect();
        counts.sort_unstable();
        let counts: Vec<String> = counts.iter().map(|(id, n)| format!("{n} {id}")).collect();
        let anchors = count_noun(self.anchors.len(), "anchor");
        let what = format!("{anchors}: {}", counts.join(", "));
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
        Exit::of_check(self.holds)
    }
}

/// The proposed update of the agent guide.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct GuideAnswer {
    /// Path of the guide.
    pub path: String,
    /// Reason for the proposal.
    pub reason: String,
    /// Author of the proposal.
    pub by: String,
    /// Unified diff; empty if nothing changes.
    pub diff: String,
    /// Whether the changes were written.
    pub applied: bool,
}

impl Show for GuideAnswer {
    fn human(&self, page: &mut Page) {
        if !self.diff.is_empty() {
            page.lines(self.diff.trim_end_matches('\n'));
        }
        let what = match (self.diff.is_empty(), self.applied) {
            (true, _) => format!("`{}` already contains this", self.path),
            (false, true) => format!("`{}` is written", self.path),
            (false, false) => format!("proposed by {}: {}", self.by, self.reason),
        };
        page.add_toned_line(Tone::Dim, &what);
    }
}

/// The entry that was appended to the checkpoint trail.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct CheckpointAnswer {
    /// The appended entry.
    pub entry: Checkpoint,
    /// Findings of the command.
    pub findings: Vec<Finding>,
}

impl Show for CheckpointAnswer {
    fn human(&self, page: &mut Page) {
        page.find(&self.findings);
        match &self.entry.item {
            Some(item) => page.line(&format!("kept, with {item}")),
            None => page.line("kept; no slice is in work"),
        }
    }
}

/// The recovery message for a session that lost its context, and its parts.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct RecoverAnswer {
    /// The message, at most 2,048 bytes of UTF-8.
    message: String,
    item: Option<Item>,
    #[schemars(length(max = 5))]
    checkpoints: Vec<Remembered>,
    uncommitted: Vec<String>,
    uncommitted_more: u64,
    role: String,
    command: String,
    notes: Vec<String>,
    findings: Vec<Finding>,
}

/// A checkpoint and its age.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Remembered {
    ago: String,
    text: String,
}

impl Show for RecoverAnswer {
    fn human(&self, page: &mut Page) {
        page.find(&self.findings);
        page.verbatim(&self.message);
        page.newline();
    }
}
