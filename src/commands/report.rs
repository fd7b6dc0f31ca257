//! `cook report --html`: writes a page about the work and its proof.

use super::context::*;
use super::pull_request::{
    BY_HAND, Moment, PrArgs, count_tries, list_catches, list_named, name_judge, pull_request,
    read_log,
};
use super::verify::{self, ProofArgs, VerifyScope};
use crate::judges::find_verdicts;
use crate::verify::{Criterion, ProofVerdict, head_at};
use crate::view::html_page::{HtmlPage, Table, draw_plan, line, list, sign, write_page};
use crate::view::{CostAnswer, Results, Weight};
use clap::ValueEnum;
use cook_protocol::model::Submission;
use cook_repo::disk::{Mode, look};
use maud::{Markup, html};

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// Write a self-contained HTML page to this file (`-` writes to standard output)
    #[arg(long, value_name = "FILE", required_unless_present = "format")]
    pub html: Option<PathBuf>,
    /// Print the text of a pull request: mission, proof, votes and caught violations
    #[arg(long, value_enum, value_name = "FORM", conflicts_with_all = ["html", "from", "branch", "base", "accept_contract", "rerun", "history", "goal", "hidden", "strict", "trust_repo"])]
    pub format: Option<ReportFormat>,
    #[command(flatten)]
    pub proof: ProofArgs,
    // Must be last: its help heading applies to all options after it.
    #[command(flatten)]
    pub pr: PrArgs,
}

/// What is made beside a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ReportFormat {
    /// Text of a pull request, in Markdown
    Pr,
}

/// The file's mode: everyone may read a report.
const READABLE: Mode = Mode::Kept(0o644);
/// The field of a report that gives its reasons.
const JUSTIFICATION: &str = "brief_justification";
/// The commands that show the transitions which a table leaves out.
const LOG: &str = "`cook log` lists the transitions, `cook log N` shows one.";

/// The file to which the page was written.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct ReportAnswer {
    /// Path of the file.
    file: String,
    /// Size of the file in bytes.
    bytes: u64,
    /// Whether the proof on the page passes `cook verify`.
    proven: bool,
}

impl Show for ReportAnswer {
    fn human(&self, page: &mut Page) {
        let bytes = count_noun(self.bytes, "byte");
        page.line(&format!("wrote {} ({bytes})", self.file));
        match self.proven {
            true => page.add_toned_line(Tone::Good, "it says: done and proven"),
            false => page.add_toned_line(
                Tone::Warn,
                "it does not say that the work is proven done; `cook verify` says why",
            ),
        }
    }
}

pub(super) fn report(context: &Context, args: &ReportArgs) -> Answer {
    let Some(html) = &args.html else {
        return pull_request(context, &args.pr);
    };
    let target = match html == Path::new("-") {
        true if context.screen.json => {
            return Err(
                Failure::usage("`--html -` prints the page, and `--json` something else")
                    .hint("name a file: `cook report --html report.html --json`"),
            );
        }
        true => None,
        false if context.dir_is_named => Some(context.dir.join(html)),
        false => Some(html.clone()),
    };
    // Refuse an unwritable target before the gates run for minutes.
    if let Some(target) = &target {
        input::require_outside_git(&context.dir, target)?;
        is_free(target)?;
    }
    let (workspace, verified) = verify::ask(context, &args.proof, VerifyScope::All, "")?;
    for code in [Code::LogMissing, Code::LogDamaged] {
        if let Some(found) = verified.findings.iter().find(|found| found.code == code) {
            let what = found.message.clone();
            return Err(Failure::new(FailureKind::Check, code, what));
        }
    }
    let proven = verified.has_passed();
    let page = make_page(&workspace, &verified)?;
    let Some(target) = target else {
        return answer(PromptAnswer(page));
    };
    NewFile::at(&target, Durable::Content)
        .mode(READABLE)
        .write(page.as_bytes())
        .or_fail(
            Code::NotWritable,
            format!("`{}` cannot be written", target.display()),
        )?;
    answer(ReportAnswer {
        file: target.display().to_string(),
        bytes: page.len() as u64,
        proven,
    })
}

/// Refuses to replace anything but a regular file, such as a directory or a device.
fn is_free(target: &Path) -> Result<()> {
    let shown = target.display();
    let found = look(target).or_fail(Code::NotWritable, format!("`{shown}` cannot be written"))?;
    if found.as_ref().is_some_and(std::fs::Metadata::is_dir) {
        let what = format!("`{shown}` is a directory");
        let file = target.join("report.html");
        return Err(Failure::usage(what).hint(format!("name a file: `--html {}`", file.display())));
    }
    if found.as_ref().is_some_and(|found| !found.is_file()) {
        let what = format!("`{shown}` is not a file");
        return Err(Failure::usage(what).hint("name a file, or `-` for standard output"));
    }
    if found.is_some_and(|found| found.permissions().readonly()) {
        let failure = Failure::state(Code::NotWritable, format!("`{shown}` is read-only"));
        return Err(failure
            .replace_hints(["make it writable, name another file, or `-` for standard output"]));
    }
    let dir = target.parent().filter(|dir| *dir != Path::new(""));
    if let Some(dir) = dir.filter(|dir| !dir.is_dir()) {
        let what = format!("there is no directory `{}`", dir.display());
        return Err(Failure::usage(what).hint("make it first"));
    }
    Ok(())
}

fn make_page(workspace: &Workspace, verified: &VerifyAnswer) -> Result<String> {
    let (tip, snapshot) = workspace.require()?;
    let results = verified.as_results();
    let question = verified.question.as_ref();
    let criteria = question.map_or(&[][..], |question| &question.criteria);
    let open = list_open(&snapshot);
    let log = read_log(workspace)?;
    let standing = question.and_then(|question| question.commit.as_ref());
    let done = standing.and_then(|standing| standing.done.as_deref());
    let at = match done {
        Some(done) => head_at(done),
        None => workspace.repo.head()?,
    };
    let judges = find_verdicts(workspace, &snapshot, &at)?;
    let judges: Vec<String> = judges.iter().map(|judged| judged.words()).collect();
    let catches = list_catches(workspace, &log)?;
    let (cost, put_back) = match workspace.log_from {
        Some(_) => (
            html! { p { "The record of calls stays where the work was done; a fetched log does not hold it." } },
            html! { p.dim { "Copies of reverted changes stay where the work was done; a fetched log does not hold them." } },
        ),
        None => (list_calls(workspace)?, list_put_back(workspace)?),
    };
    let caught = Table {
        caption: "Reports that were refused, gates that were red, and rejections that changed what was done after them",
        heads: &["Transition", "About", "What", "It names"],
        room: 60_000,
        rest: LOG,
    };
    let caught = html! {
        @match catches.caught.is_empty() {
            true => p { "No report was refused, no gate was red, and no rejection changed anything." },
            false => (caught.of(&catches.caught, |one| html! {
                td.number { "#" (one.seq) }
                td {
                    @match snapshot.plan.slice(&one.subject) {
                        Some(_) => { (sign(&one.subject)) },
                        None => { (line(&one.subject)) },
                    }
                }
                td { (one.what) }
                td { (line(&one.names)) }
            })),
        }
        @if let Some(others) = &catches.unheeded { p.dim { (line(others)) } }
        (put_back)
    };
    let branch = snapshot.ledger.branch.as_deref();
    let word = match verified.has_passed() {
        true => "DONE AND PROVEN",
        false if verified.findings.iter().any(|it| it.code == Code::NotDone) => "NOT DONE",
        false => "NOT PROVEN",
    };
    let against = results.list_failing().into_iter();
    let caught_and_all = (catches.caught.len(), log.len());
    let figures = list_figures(&snapshot, criteria, open.len(), caught_and_all);
    let criteria = list_criteria(criteria, &open);
    let votes = list_votes(&snapshot, &log, &judges);
    let checks = list_checks(verified, branch);
    Ok(write_page(&HtmlPage {
        word,
        is_good: verified.has_passed(),
        verdict: &results.verdict,
        against: against.map(|found| found.message.as_str()).collect(),
        figures,
        mission: &snapshot.mission,
        parts: vec![
            ("caught", "What was caught", caught),
            ("findings", "What was found", list_findings(&results)),
            ("criteria", "Criteria and their proof", criteria),
            ("slices", "Slices", list_slices(&snapshot, &log)),
            ("judges", "What the judges said", votes),
            ("cost", "Time and cost", html! { (span(&log)) (cost) }),
            ("graph", "The plan", draw_plan(&snapshot.plan)),
            ("timeline", "Timeline", list_log(&snapshot, &log)),
            ("checked", "What was examined", checks),
        ],
        made_at: workspace.clock.now(),
        source: match &workspace.log_from {
            Some(from) => format!(
                "the log {} of {}, at {}",
                from.reference,
                from.shown,
                short(&from.tip)
            ),
            None => format!("the log of this worktree, at {}", short(&tip.commit)),
        },
    }))
}

/// The figures that summarize the work: the CSS class, the number, and the text for what it counts.
fn list_figures(
    snapshot: &Snapshot,
    criteria: &[Criterion],
    open: usize,
    (caught, transitions): (usize, usize),
) -> Vec<(&'static str, String, &'static str)> {
    let worth = |is_wanted: fn(ProofVerdict) -> bool| {
        let wanted = criteria.iter().filter(|one| is_wanted(one.verdict));
        wanted.count()
    };
    let good = worth(|it| matches!(it, ProofVerdict::Reproduced | ProofVerdict::Holds));
    let said = worth(|it| it == ProofVerdict::Recorded);
    let bad = criteria.len() - good - said;
    let all = criteria.len() + open;
    let slices = &snapshot.plan.candidate_slices;
    let count = |status: SliceStatus| slices.iter().filter(|one| one.status == status).count();
    let done = count(SliceStatus::Done);
    let planned = slices.len() - count(SliceStatus::Cancelled);
    let votes = snapshot.ledger.wave.votes.iter();
    let yes = votes.filter(|vote| vote.can_stop).count();
    let required = snapshot.count_required_judges();
    let changing = "reports refused, gates red, or rejections that changed something";
    let looked_up = "criteria looked up or run again, and true";
    let lost = "lost, different, or not reproducible";
    let figures = [
        ("", format!("{good} of {all}"), looked_up),
        ("warn", said.to_string(), "on an agent's word alone"),
        ("bad", bad.to_string(), lost),
        ("warn", open.to_string(), "of slices that are not done"),
        ("", format!("{done} of {planned}"), "slices done"),
        ("", format!("{yes} of {required}"), "judges say yes"),
        ("", caught.to_string(), changing),
        ("", transitions.to_string(), "transitions"),
    ];
    // Leave out counts of problems that are zero.
    let shown = |(class, figure, _): &(&str, String, &str)| class.is_empty() || figure != "0";
    figures.into_iter().filter(shown).collect()
}

/// Lists the findings of `cook verify`, worst first.
fn list_findings(results: &Results) -> Markup {
    if results.found.is_empty() {
        return html! { p { "Nothing." } };
    }
    let table = Table {
        caption: "Findings, starting with those that fail the work",
        heads: &["Weight", "Code", "What", "What to do"],
        room: 40_000,
        rest: "`cook verify` lists all of them.",
    };
    table.of(&results.found, |found| {
        let (class, word) = match found.weight {
            Weight::Fails => ("bad", "✗ fails"),
            Weight::Look => ("warn", "! look"),
            Weight::Note => ("dim", "note"),
        };
        html! {
            td { b class=(class) { (word) } }
            td.short { (sign(found.code.id())) }
            td { (line(&found.message)) }
            td { (line(&found.next)) }
        }
    })
}

/// Lists the criteria of open slices.
fn list_open(snapshot: &Snapshot) -> Vec<Criterion> {
    let slices = snapshot.plan.open_slices();
    let open = slices.flat_map(|slice| {
        let records = || slice.evidence.iter().filter_map(Evidence::record);
        slice.acceptance_criteria.iter().map(move |text| Criterion {
            slice: slice.slice_id.clone(),
            text: text.clone(),
            anchor: records()
                .find(|record| record.criterion == *text)
                .map(|record| record.anchor.clone()),
            verdict: ProofVerdict::Recorded,
            why: "the slice is not done".to_owned(),
            at: None,
        })
    });
    open.collect()
}

/// Lists each criterion with its evidence and the result of the check of that evidence.
fn list_criteria(judged: &[Criterion], open: &[Criterion]) -> Markup {
    let judged = judged.iter().map(|one| (verdict(one.verdict), one));
    let open = open.iter().map(|one| (("warn", "… open"), one));
    let rows: Vec<_> = judged.chain(open).collect();
    if rows.is_empty() {
        return html! { p { "No slice has criteria yet." } };
    }
    let table = Table {
        caption: "Each criterion, the place of its proof, and its state now",
        heads: &["Proof", "Slice", "Criterion", "Evidence", "What was seen"],
        room: 250_000,
        rest: "`cook verify --json` has all of them.",
    };
    table.of(&rows, |((class, word), one)| {
        html! {
            td { b class=(class) { (word) } }
            td { (sign(&one.slice)) }
            td { (line(&one.text)) }
            td {
                @match &one.anchor { Some(anchor) => { (sign(anchor)) }, None => "none on record" }
                @if let Some(at) = &one.at { " at " (sign(short(at))) }
            }
            td { (line(&one.why)) }
        }
    })
}

fn verdict(verdict: ProofVerdict) -> (&'static str, &'static str) {
    match verdict {
        ProofVerdict::Reproduced => ("good", "✓ reproduced"),
        ProofVerdict::Holds => ("good", "✓ holds"),
        ProofVerdict::Recorded => ("warn", "~ recorded"),
        ProofVerdict::NotReproducible => ("warn", "? not reproducible"),
        ProofVerdict::Differs => ("bad", "✗ differs"),
        ProofVerdict::Lost => ("bad", "✗ lost"),
    }
}

/// Lists the slices, and below them the outcome of each attempt.
fn list_slices(snapshot: &Snapshot, log: &[Moment]) -> Markup {
    let slices = &snapshot.plan.candidate_slices;
    if slices.is_empty() {
        return html! { p { "There is no plan yet." } };
    }
    let table = Table {
        caption: "The slices of the plan",
        heads: &["Slice", "Goal", "Status", "Waits for", "Tries", "Commit"],
        room: 80_000,
        rest: "`cook status` lists all of them.",
    };
    let plan = table.of(slices, |slice| {
        let ledger = snapshot.ledger.slices.get(&slice.slice_id);
        let head = ledger.and_then(|ledger| ledger.head.as_ref().or(ledger.last_head.as_ref()));
        html! {
            th scope="row" { (sign(&slice.slice_id)) }
            td { (line(&slice.goal)) }
            td { (slice.status.id().replace('_', " ")) }
            td { @match slice.blocked_on.is_empty() { true => "nothing", false => (list(&slice.blocked_on)) } }
            td.number { (count_tries(log, &slice.slice_id)) }
            td { @match head { Some(head) => { (sign(short(head))) }, None => "none" } }
        }
    });
    let events = slices.iter().flat_map(|slice| {
        let own = log
            .iter()
            .filter(|(meta, _)| meta.subject == slice.slice_id);
        own.filter_map(|(meta, event)| Some((meta, describe_report(event.as_ref()?)?)))
    });
    let events: Vec<_> = events.collect();
    let tries = Table {
        caption: "The reports of each slice, oldest first",
        heads: &["Slice", "Transition", "What", "What it says"],
        room: 110_000,
        rest: LOG,
    };
    html! {
        (plan)
        @if !events.is_empty() {
            h3 { "Tries and rejections" }
            (tries.of(&events, |(meta, (what, good, says))| html! {
                td { (sign(&meta.subject)) }
                td.number { "#" (meta.seq) }
                td {
                    @match good {
                        Some(true) => b.good { "✓ " (what) },
                        Some(false) => b.bad { "✗ " (what) },
                        None => (what),
                    }
                }
                td { (list(says)) }
            }))
        }
    }
}

/// Describes a report on a slice: its kind, whether it brought the slice forward (`None` for neutral), and its text.
fn describe_report(event: &Event) -> Option<(&'static str, Option<bool>, Vec<String>)> {
    Some(match event {
        Event::Implemented { commit, .. } => {
            let says = vec![format!("`{}`", short(commit))];
            ("a commit was reported", None, says)
        }
        Event::Returned { why, .. } => ("given back", Some(false), vec![why.clone()]),
        Event::Refused { role, codes, .. } => {
            let says = format!("{role}: `{}`", codes.join("`, `"));
            ("a session was refused", Some(false), vec![says])
        }
        Event::Reviewed { verdicts, .. } => {
            let what = match verdicts.positive {
                true => "the review accepts it",
                false => "the review sends it back",
            };
            (what, Some(verdicts.positive), list_named(verdicts))
        }
        Event::Audited { verdicts, .. } => {
            let what = match verdicts.positive {
                true => "the audit finds nothing open",
                false => "the audit finds something open",
            };
            // Neutral: before the re-ground, a contract may be open only because nobody has closed it yet.
            let good = verdicts.positive.then_some(true);
            (what, good, list_named(verdicts))
        }
        _ => return None,
    })
}

/// A judge's reasons: its own words, and the findings that they do not contain.
fn list_reasons(submission: &Submission, findings: &[String]) -> Vec<String> {
    let text = submission.report.fields.get(JUSTIFICATION);
    let text = text.map_or("", String::as_str);
    let lines = text.lines();
    let lines = lines.map(|line| line.trim_start_matches(['-', '*', ' ']).to_owned());
    let more = findings.iter().filter(|one| !text.contains(one.as_str()));
    lines.chain(more.cloned()).collect()
}

/// Lists every vote with its reasons.
fn list_votes(snapshot: &Snapshot, log: &[Moment], judges: &[String]) -> Markup {
    let table = Table {
        caption: "Every vote, newest first",
        heads: &["Transition", "Judge", "Vote", "Reasons"],
        room: 50_000,
        rest: LOG,
    };
    let votes = log.iter().filter_map(|(meta, event)| match event {
        Some(Event::Judged {
            verdicts,
            submission,
        }) => Some((meta.seq, verdicts, submission)),
        _ => None,
    });
    let mut votes: Vec<_> = votes.zip(1..).collect();
    votes.reverse();
    let is_of_wave = |seq: u64| {
        let mut counting = snapshot.ledger.wave.votes.iter();
        counting.any(|vote| vote.seq.0 == seq)
    };
    html! {
        @if !judges.is_empty() {
            h3 { "The judges, and how many planted faults each of them caught" }
            (list(judges))
        }
        @match votes.is_empty() {
            true => p { "No judge has voted yet." },
            false => (table.of(&votes, |((seq, verdicts, submission), number)| html! {
                td.number { "#" (seq) }
                td {
                    @match name_judge(submission.session.as_deref(), *number) {
                        Some(name) => { (line(&name)) },
                        None => (BY_HAND),
                    }
                }
                td {
                    @match verdicts.positive { true => b.good { "✓ yes" }, false => b.bad { "✗ no" } }
                    @if !is_of_wave(*seq) { " " span.dim { "(of an earlier wave)" } }
                }
                td {
                    (list(&list_reasons(submission, &verdicts.findings)))
                    @if !verdicts.concerns.is_empty() { div.dim { "Not passed: " (list(&verdicts.concerns)) } }
                }
            })),
        }
    }
}

/// Lists the copies of changes that were reverted.
fn list_put_back(workspace: &Workspace) -> Result<Markup> {
    let copies = workspace.store()?.rescue_list()?;
    if copies.is_empty() {
        return Ok(html! { p { "Nothing had to be reverted." } });
    }
    let table = Table {
        caption: "Forbidden changes of sessions and edits from outside: kept, then reverted",
        heads: &["Copy", "When", "Why", "Files"],
        room: 20_000,
        rest: "`cook doctor rescue list` lists all of them.",
    };
    Ok(html! {
        h3 { "Put back" }
        (table.of(&copies, |one| {
            let files: Vec<String> = one.files.iter().map(|file| file.path.clone()).collect();
            html! {
                td { (sign(short(&one.id))) }
                td { (Clock::of_epoch(one.epoch_seconds)) }
                td { (line(&one.why)) }
                td { (list(&files)) }
            }
        }))
    })
}

fn describe_span(seconds: u64) -> String {
    humantime::format_duration(Duration::from_secs(seconds)).to_string()
}

/// The time from the first transition to the last.
fn span(log: &[Moment]) -> Markup {
    let (Some((first, _)), Some((last, _))) = (log.first(), log.last()) else {
        return html! {};
    };
    let seconds = last.epoch_seconds - first.epoch_seconds;
    let [first, last] = [first, last].map(|meta| Clock::of_epoch(meta.epoch_seconds));
    html! {
        p { "From " time datetime=(first) { (first) } " to " time datetime=(last) { (last) }
            ": " (describe_span(u64::try_from(seconds).unwrap_or_default())) "." }
    }
}

/// Lists the cost of calls of agents.
fn list_calls(workspace: &Workspace) -> Result<Markup> {
    let mut calls = GitStore::open(workspace.place())?.lines()?;
    calls.retain(|call| call.is_of(workspace.store_id()));
    let cost = CostAnswer::sum(&calls);
    if cost.rows.is_empty() {
        return Ok(html! { p { "No agent was called through cook for this work." } });
    }
    let table = Table {
        caption: "The cost, by role and agent",
        heads: &["Role", "Agent", "Calls", "Failed", "Time", "Cost"],
        room: 20_000,
        rest: "`cook status --cost` lists all of them.",
    };
    let all: Vec<_> = cost.rows.iter().chain([&cost.total]).collect();
    Ok(table.of(&all, |row| {
        html! {
            th scope="row" { (line(&row.role)) }
            td { (line(&row.agent)) }
            td.number { (row.calls) }
            td.number { (row.failed) }
            td.number { (describe_span(row.milliseconds / 1000)) }
            td { (row.cost()) }
        }
    }))
}

/// Lists the transitions, newest first.
fn list_log(snapshot: &Snapshot, log: &[Moment]) -> Markup {
    let table = Table {
        caption: "Transitions, newest first",
        heads: &["#", "When", "What", "By", "Rule", "About"],
        room: 240_000,
        rest: "`cook log -n 100000` lists all of them.",
    };
    let newest: Vec<&Moment> = log.iter().rev().collect();
    table.of(&newest, |(meta, _)| {
        let event = meta.event.replace('_', " ");
        let is_undone = snapshot.undone.seqs.contains(&meta.seq);
        html! {
            td.number { (meta.seq) }
            td { (Clock::of_epoch(meta.epoch_seconds)) }
            td { @match is_undone { true => { s { (line(&event)) } " (taken back)" }, false => (line(&event)) } }
            td { (line(&meta.actor)) }
            td { (line(&meta.rule)) }
            td { (line(&meta.subject)) }
        }
    })
}

/// Lists the checks that the verification made.
fn list_checks(verified: &VerifyAnswer, branch: Option<&str>) -> Markup {
    let table = Table {
        caption: "What was examined; it is in order unless something else is said",
        heads: &["What"],
        room: 20_000,
        rest: "`cook verify` lists all of it.",
    };
    let errors = verified.findings.iter();
    let errors = errors.filter(|found| found.severity() == Severity::Error);
    html! {
        p { (count_noun(verified.checked.len(), "check")) ", " (count_noun(errors.count(), "error"))
            @if let Some(branch) = branch { ", branch " (sign(branch)) } "." }
        (table.of(&verified.checked, |one| html! { td { (line(one)) } }))
    }
}
