//! `cook log`: lists the transitions, newest first, and shows one of them or the changes between two.

use super::context::*;
use cook_protocol::model::{
    Conclude, Decision, PlanBlock, PolicyChange, Records, Reground, ReportRecord, Resume,
    RubricVerdict,
};
use cook_protocol::report::fields;

#[derive(Debug, Args)]
pub(super) struct LogArgs {
    /// Show this transition (a number, an ID, `@` or `@-`), or the changes between two (`A..B`)
    #[arg(value_name = "ID", conflicts_with_all = ["limit", "all_worktrees"])]
    pub operation: Option<String>,
    /// List at most this many transitions
    #[arg(short = 'n', long, default_value_t = 20)]
    pub limit: usize,
    /// List the logs of all worktrees, including removed ones
    #[arg(long)]
    pub all_worktrees: bool,
}

pub(super) fn log(context: &Context, args: &LogArgs) -> Answer {
    let workspace = context.workspace()?;
    if let Some(operation) = &args.operation {
        let store = workspace.store()?;
        return match operation.split_once("..") {
            Some((from, "")) => diff(store, from, "@"),
            Some((from, to)) => diff(store, from, to),
            None => show(store, operation),
        };
    }
    if !args.all_worktrees {
        let here = WorktreeLog::read(workspace.store()?, "here", args.limit)?;
        let worktrees = vec![here];
        return answer(LogAnswer { worktrees });
    }
    let mut worktrees = Vec::new();
    for other in Store::all_worktrees(&workspace.place())? {
        let place = if other.here {
            "here"
        } else {
            "another worktree"
        };
        if let Some(store) = Store::open_other(workspace.place(), &other.id)? {
            worktrees.push(WorktreeLog::read(&store, place, args.limit)?);
        }
    }
    worktrees.sort_by_key(|tree| tree.place != "here");
    answer(LogAnswer { worktrees })
}

/// The transitions of each workflow, newest first.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct LogAnswer {
    /// Logs of the worktrees, the current one first.
    worktrees: Vec<WorktreeLog>,
}

/// The transitions of one worktree.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct WorktreeLog {
    id: String,
    /// `here` for the current worktree, otherwise `another worktree`.
    place: &'static str,
    /// Transitions, newest first.
    transitions: Vec<LogRow>,
    /// Number of older transitions that are not listed.
    #[serde(skip)]
    left_out: u64,
}

/// One row of `cook log`.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct LogRow {
    /// Number of the transition in the log.
    seq: u64,
    /// Commit of the transition in the log.
    operation: String,
    /// Time of the transition (RFC 3339, UTC).
    time: String,
    /// Kind of the event.
    #[schemars(extend("enum" = cook_protocol::model::Event::NAMES))]
    event: String,
    /// Dispatch rule that applied before the transition.
    #[schemars(with = "cook_protocol::machine::Rule")]
    rule: String,
    /// Actor that caused the transition; `script` is a script that passed `--as-user`.
    #[schemars(with = "cook_protocol::model::Actor")]
    actor: String,
    /// ID of the slice that the transition is about; for a change of the brief its author, for a message its ID;
    /// otherwise the mission anchor.
    subject: String,
    /// One sentence about the question, result, vote or answer.
    summary: String,
    /// Whether the transition was undone.
    undone: bool,
}

impl WorktreeLog {
    fn read(store: &Store, place: &'static str, limit: usize) -> Result<Self> {
        // Transitions are numbered from 1 without gaps.
        let all = store.tip()?.map_or(0, |tip| tip.seq);
        let undone = store.snapshot()?.undone.seqs;
        let mut transitions = Vec::new();
        for meta in store.entries()?.take(limit) {
            let meta = meta?;
            transitions.push(LogRow {
                summary: summarize_entry(store, &meta),
                undone: undone.contains(&meta.seq),
                seq: meta.seq,
                operation: meta.commit,
                time: Clock::of_epoch(meta.epoch_seconds),
                event: meta.event,
                rule: meta.rule,
                actor: meta.actor,
                subject: meta.subject,
            });
        }
        Ok(Self {
            id: store.id().to_owned(),
            place,
            left_out: all.saturating_sub(transitions.len() as u64),
            transitions,
        })
    }
}

fn summarize_entry(store: &Store, meta: &Meta) -> String {
    let event = match store.event(&meta.commit) {
        Ok(event) => event,
        // A log with a damaged transition can still be listed.
        Err(error) => return format!("cannot be read: {}", error.message),
    };
    // The event does not say whether the slice that it accepts was really accepted.
    let accepted = find_accepted(&event);
    match (
        accepted.and_then(|_| store.entry(&meta.commit).ok()),
        &event,
    ) {
        (Some(entry), _) => summarize_taken(&entry.event, &entry.records),
        (None, Event::Reviewed { .. } | Event::Audited { .. }) => {
            format!("{}: {}", meta.subject, summarize(&event))
        }
        (None, event) => summarize(event),
    }
}

/// The maximum length of a summary in the list in characters; `cook log ID` shows all of it.
const SUMMARY_CHARS: usize = 100;

impl Show for LogAnswer {
    fn human(&self, page: &mut Page) {
        for tree in &self.worktrees {
            if self.worktrees.len() > 1 {
                let text = format!("worktree {} ({})", tree.id, tree.place);
                page.add_toned_line(Tone::Strong, &text);
            }
            for row in &tree.transitions {
                page.add_toned(Tone::Strong, &format!("#{:<4}", row.seq));
                page.add_toned(Tone::Dim, &format!(" {} ", row.time));
                let undone = if row.undone { "  (taken back)" } else { "" };
                // Most transitions come from a role's report, so only other actors are named.
                let by = match row.actor.as_str() {
                    "role" => String::new(),
                    actor => format!(" by {actor}"),
                };
                let what = shorten(&row.summary, SUMMARY_CHARS);
                page.line(&format!("{}{by}: {what}{undone}", row.event));
            }
            if tree.left_out > 0 {
                let (left_out, shown) = (tree.left_out, tree.transitions.len() as u64);
                let all = left_out + shown;
                let text = format!("{left_out} older not shown: `cook log -n {all}` lists all");
                page.add_toned_line(Tone::Dim, &text);
            }
        }
    }
}

fn show(store: &Store, operation: &str) -> Answer {
    let entry = store.entry(operation)?;
    let before = match &entry.parent {
        Some(parent) => json!(store.entry(parent)?.snapshot),
        None => json!({}),
    };
    let fields = |value: Value| value.as_object().cloned().unwrap_or_default();
    let head = entry.facts.head.as_ref();
    answer(EntryAnswer {
        summary: summarize_taken(&entry.event, &entry.records),
        report: entry.event.submission().map(|from| from.report.clone()),
        head: head.and_then(|head| head.commit.clone()),
        gates: entry.receipts,
        changes: list_changes(&before, &json!(entry.snapshot)),
        seq: entry.seq,
        event: fields(json!(entry.event)),
        facts: fields(json!(entry.facts)),
        records: entry.records,
        operation: entry.commit,
        time: entry.time,
        rule: entry.rule,
        actor: entry.actor.id().to_owned(),
        subject: entry.subject,
    })
}

/// One transition with its event, facts, records and changes.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct EntryAnswer {
    /// Number of the transition in the log.
    seq: u64,
    /// Commit of the transition in the log.
    operation: String,
    /// Time of the transition (RFC 3339, UTC).
    time: String,
    /// Dispatch rule that applied before the transition.
    #[schemars(with = "cook_protocol::machine::Rule")]
    rule: String,
    /// Actor that caused the transition; `script` is a script that passed `--as-user`.
    #[schemars(with = "cook_protocol::model::Actor")]
    actor: String,
    /// ID of the slice that the transition is about; for a change of the brief its author, for a message its ID;
    /// otherwise the mission anchor.
    subject: String,
    /// One sentence about the question, result, vote or answer.
    summary: String,
    /// Report of the transition.
    #[serde(skip)]
    report: Option<ReportRecord>,
    /// HEAD at that time.
    #[serde(skip)]
    head: Option<String>,
    /// Receipts of the gates that ran for it.
    #[serde(skip)]
    gates: Vec<Receipt>,
    /// The complete event.
    #[schemars(extend("required" = ["event"]))]
    event: Map<String, Value>,
    /// Facts that were measured for the transition.
    facts: Map<String, Value>,
    /// Records that the transition added to the histories.
    records: Records,
    /// Fields of the documents that the transition changed.
    changes: Vec<Change>,
}

fn show_gate(page: &mut Page, gate: &Receipt) {
    let (tone, ended) = match gate.has_passed() {
        true => (Tone::Good, "green".to_owned()),
        false => (Tone::Bad, format!("red, it {}", gate.ending())),
    };
    let seconds = gate.duration_ms.0 as f64 / 1e3;
    page.text("  ");
    page.add_toned(tone, &ended);
    page.line(&format!(" in {seconds:.1} s  {}", gate.command));
}

fn show_report(page: &mut Page, report: &ReportRecord) {
    page.newline();
    let title = format!("the {}'s report", report.role.short());
    page.add_toned_line(Tone::Strong, &title);
    let mut say = |label: &str, text: &str| {
        page.add_toned(Tone::Dim, &format!("  {label}: "));
        page.line(text);
    };
    for field in fields(report.role) {
        if let Some(text) = report.fields.get(field.key) {
            say(field.label, text);
        }
    }
    for (key, entry) in report.rubric.iter().flatten() {
        let verdict = match entry.verdict {
            RubricVerdict::Pass => "pass",
            RubricVerdict::Concern => "concern",
            RubricVerdict::Fail => "fail",
        };
        say(&key.replace('_', " "), &format!("{verdict}: {}", entry.why));
    }
}

impl Show for EntryAnswer {
    fn human(&self, page: &mut Page) {
        let (seq, actor, time, rule) = (self.seq, &self.actor, &self.time, &self.rule);
        let (subject, operation) = (&self.subject, &self.operation);
        let event = self.event.get("event").and_then(Value::as_str);
        let title = format!("#{seq} {}", event.unwrap_or_default());
        page.add_toned(Tone::Strong, &title);
        let head = self.head.as_deref().unwrap_or("no commit");
        page.line(&format!(
            " by {actor} at {time}, under rule {rule}, on {subject}, HEAD {head:.12}"
        ));
        page.line(&self.summary);
        if let Some(report) = &self.report {
            show_report(page, report);
        }
        if !self.gates.is_empty() {
            page.newline();
            page.add_toned_line(Tone::Strong, "gates that cook ran");
            self.gates.iter().for_each(|gate| show_gate(page, gate));
        }
        page.newline();
        let before = seq.saturating_sub(1);
        let text = format!(
            "log commit {operation}; `cook log {before}..{seq}` shows its changes of the documents, `cook log {seq} --json` everything"
        );
        page.add_toned_line(Tone::Dim, &text);
    }
}

fn diff(store: &Store, from: &str, to: &str) -> Answer {
    let (from, to) = (store.entry(from)?, store.entry(to)?);
    answer(DiffAnswer {
        from: from.seq,
        to: to.seq,
        changes: list_changes(&json!(from.snapshot), &json!(to.snapshot)),
    })
}

/// Differences between two transitions.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct DiffAnswer {
    /// Number of the earlier transition.
    from: u64,
    /// Number of the later transition.
    to: u64,
    /// Fields that differ.
    changes: Vec<Change>,
}

/// A field that differs.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Change {
    /// Document, field and place, joined with dots.
    path: String,
    /// Value before the change; null if there was none.
    before: Option<Value>,
    /// Value after the change; null if there is none.
    after: Option<Value>,
}

/// Lists the fields that differ between two snapshots, each with its full path.
fn list_changes(before: &Value, after: &Value) -> Vec<Change> {
    let mut changes = Vec::new();
    compare("", Some(before), Some(after), &mut changes);
    changes
}

fn compare(path: &str, before: Option<&Value>, after: Option<&Value>, changes: &mut Vec<Change>) {
    match (before, after) {
        _ if before == after => {}
        (Some(Value::Object(one)), Some(Value::Object(two))) => {
            let keys: BTreeSet<&String> = one.keys().chain(two.keys()).collect();
            let dot = if path.is_empty() { "" } else { "." };
            for key in keys {
                let path = format!("{path}{dot}{key}");
                compare(&path, one.get(key), two.get(key), changes);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(two))) => {
            for index in 0..one.len().max(two.len()) {
                let path = format!("{path}[{index}]");
                compare(&path, one.get(index), two.get(index), changes);
            }
        }
        _ => changes.push(Change {
            path: path.to_owned(),
            before: before.cloned(),
            after: after.cloned(),
        }),
    }
}

impl Show for DiffAnswer {
    fn human(&self, page: &mut Page) {
        let (from, to) = (self.from, self.to);
        if self.changes.is_empty() {
            page.line(&format!("#{from} and #{to} hold the same documents"));
        }
        let short = |value: &Option<Value>| match value {
            Some(value) => shorten(&value.to_string(), 120),
            None => "(absent)".to_owned(),
        };
        for change in &self.changes {
            page.add_toned_line(Tone::Strong, &format!("  {}", change.path));
            let (before, after) = (short(&change.before), short(&change.after));
            page.add_toned_line(Tone::Bad, &format!("    - {before}"));
            page.add_toned_line(Tone::Good, &format!("    + {after}"));
        }
    }
}

// Summarizes an event in one sentence for people: what was asked, found, voted or answered.

/// Returns the sentence from the view of the event's author; semicolons join several actions.
pub(crate) fn summarize(event: &Event) -> String {
    match event {
        Event::Bootstrapped {
            mission, import, ..
        } => {
            let mut text = "the contract is written".to_owned();
            if mission.is_none() {
                text.push_str("; the user is asked for the mission");
            }
            if import.is_some() {
                text.push_str("; older state is taken over");
            }
            text
        }
        Event::Regrounded { block, .. } => summarize_block(block),
        Event::RegroundedByCook { block, .. } => {
            format!("cook itself: {}", summarize_block(block))
        }
        Event::Implemented {
            slice_id, commit, ..
        } => format!("{slice_id}: commit {commit:.12}"),
        Event::Returned { slice_id, why, .. } => {
            format!("{slice_id}: no commit: {}", fold(why))
        }
        Event::Reviewed { verdicts, .. } => {
            summarize_verdict(verdicts, "yes, acceptable as it is", "no")
        }
        Event::Audited { verdicts, .. } => summarize_verdict(verdicts, "nothing is open", "open"),
        Event::Judged { verdicts, .. } => {
            summarize_verdict(verdicts, "yes, the project can stop", "no")
        }
        Event::Asked { role, question, .. } => {
            format!("the {} asks the user: {}", role.short(), fold(question))
        }
        Event::Refused { role, codes, .. } => {
            let codes = codes.join(", ");
            format!("the {}'s report does not count: {codes}", role.short())
        }
        Event::Paused { why } | Event::Cancelled { why } => fold(why),
        Event::Resumed(resume) => summarize_resume(resume),
        Event::Blocked { why, exit } => format!("{}; `{}` resumes", fold(why), fold(exit)),
        Event::Refocused { mission } => format!("the mission is now: {}", fold(mission)),
        Event::Adopted { plan } => {
            let slices = count_noun(plan.candidate_slices.len(), "slice");
            format!("the edited plan is taken in, {slices}")
        }
        Event::BranchAdopted => "the workflow continues on the branch checked out".to_owned(),
        Event::Restored => "edited documents are as the log has them".to_owned(),
        Event::GoalSet { goal, .. } => format!("the goal is: {}", fold(&goal.words)),
        Event::GoalAsked => "the goal's checks were asked of HEAD".to_owned(),
        Event::Verified => "the gates ran at HEAD, which had moved".to_owned(),
        Event::Undone {
            to_seq, operations, ..
        } => {
            let taken = count_noun(operations.len(), "transition");
            format!("{taken}, back to #{}", to_seq.0)
        }
        Event::CriterionAmended {
            slice_id,
            number,
            text,
            reason,
        } => {
            let (text, reason) = (fold(text), fold(reason));
            format!("{slice_id}, criterion {number}: {text}; because {reason}")
        }
        Event::ProofRetired {
            slice_id,
            number,
            reason,
        } => {
            let reason = fold(reason);
            format!("{slice_id}, the proof of criterion {number} is given up; because {reason}")
        }
        Event::Briefed { by, .. } => format!("the brief is changed by {}", fold(by)),
        Event::Said { text, .. } => format!("the user says: {}", fold(text)),
        Event::Signed => "the user signs what the log records".to_owned(),
    }
}

/// Like [`summarize`], for a transition: if the worktree is not clean, a slice that the report accepts is not accepted,
/// and what the report builds on that is not done either.
pub(crate) fn summarize_taken(event: &Event, records: &Records) -> String {
    let accepted = find_accepted(event);
    let has = |of: SliceRecordType| records.slice.iter().any(|record| record.kind == of);
    match accepted {
        Some(id) if has(SliceRecordType::Reopened) => {
            format!("would accept {id}, which is reopened: the worktree is not clean")
        }
        Some(id) if !has(SliceRecordType::Accepted) => {
            format!("would accept {id}, which waits: the worktree is not clean")
        }
        _ => summarize(event),
    }
}

/// Returns the slice that a report accepts.
pub(crate) fn find_accepted(event: &Event) -> Option<&str> {
    event.block()?.find_accepted()
}

/// Cleans the text and joins its lines.
fn fold(text: &str) -> String {
    clean(text, Lines::Fold)
}

fn join(parts: &[String], nothing: &str) -> String {
    match parts.is_empty() {
        true => nothing.to_owned(),
        false => parts.join("; "),
    }
}

fn summarize_block(block: &Reground) -> String {
    let mut parts = Vec::new();
    if let Some(made) = &block.reconcile {
        let decision = match made.decision {
            Decision::Accepted => "accepts",
            Decision::Reopened => "reopens",
        };
        parts.push(format!("{decision} {}", made.slice_id));
    }
    for again in &block.reopen {
        parts.push(format!("reopens {}: {}", again.slice_id, fold(&again.why)));
    }
    parts.extend(block.plan.as_ref().and_then(summarize_plan));
    parts.extend(block.conclude.as_ref().map(|concluded| match concluded {
        Conclude::Stop => "the project is done".to_owned(),
        Conclude::GoOn { reason: None } => "the work goes on".to_owned(),
        Conclude::GoOn {
            reason: Some(reason),
        } => format!("the work goes on: {}", fold(reason)),
    }));
    if !block.answers.is_empty() {
        let answered = count_noun(block.answers.len(), "rejection");
        parts.push(format!("answers {answered}"));
    }
    parts.extend(
        block
            .select
            .as_ref()
            .map(|slice| format!("selects {slice}")),
    );
    parts.extend(block.policy.as_ref().map(|policy| match policy {
        PolicyChange::AwaitUserInput { question } => {
            format!("asks the user: {}", fold(question))
        }
        PolicyChange::Blocked { why, exit } => {
            format!("is blocked: {}; to clear it: `{}`", fold(why), fold(exit))
        }
    }));
    join(&parts, "the plan stays as it is")
}

fn summarize_plan(plan: &PlanBlock) -> Option<String> {
    if !plan.is_delta() {
        let slices = count_noun(plan.candidate_slices.len(), "slice");
        return Some(format!("plans {slices}"));
    }
    let added = plan.add.iter().map(|it| ("adds", &it.slice_id));
    let changed = plan.change.iter().map(|it| ("changes", &it.slice_id));
    let cancelled = plan.cancel.iter().map(|it| ("cancels", &it.slice_id));
    let ordered = plan.order.iter().map(|id| ("orders", id));
    let mut parts: Vec<String> = Vec::new();
    let mut last = "";
    for (verb, id) in added.chain(changed).chain(cancelled).chain(ordered) {
        match parts.last_mut().filter(|_| verb == last) {
            Some(part) => part.push_str(&format!(", {id}")),
            None => parts.push(format!("{verb} {id}")),
        }
        last = verb;
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn summarize_verdict(verdicts: &Verdicts, yes: &str, no: &str) -> String {
    if verdicts.positive {
        return match verdicts.concerns.len() as u64 {
            0 => yes.to_owned(),
            concerns => format!("{yes}; {}", count_noun(concerns, "concern")),
        };
    }
    let mut reasons = verdicts.findings.iter().chain(&verdicts.fails);
    let first = reasons.next();
    let contracts = &verdicts.open_contract_ids;
    match (first, reasons.count()) {
        (None, _) if contracts.is_empty() => no.to_owned(),
        (None, _) => format!("{no}: {}", contracts.join(", ")),
        (Some(first), 0) => format!("{no}: {}", fold(first)),
        (Some(first), more) => format!("{no}: {} (and {more} more)", fold(first)),
    }
}

fn summarize_resume(resume: &Resume) -> String {
    let mut parts = Vec::new();
    let answer = resume.answer.as_ref();
    parts.extend(answer.map(|text| format!("the user answers: {}", fold(text))));
    if !resume.trust.is_empty() {
        parts.push(format!("trusts {}", fold(&resume.trust.join(", "))));
    }
    for (is_so, text) in [
        (resume.settings, "the settings are taken as they stand"),
        (resume.budget.is_some(), "the budget is changed"),
        (resume.new_wave, "another wave of judges begins"),
        (resume.review_again, "the slice is reviewed again"),
    ] {
        parts.extend(is_so.then(|| text.to_owned()));
    }
    join(&parts, "the work goes on")
}
