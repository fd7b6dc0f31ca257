//! `cook status`: the state of the work, the ready slices, the plan as a graph, and the cost.

use super::ask::store;
use super::calibrate::ShareView;
use super::context::*;
use super::recorded::note;
use crate::hooks;
use crate::judges::{self, Judged};
use crate::run::{self, Live, LiveSession};
use crate::view::{CostAnswer, Judgments, dispatch_lines, write_line};
use cook_protocol::machine::{
    ReadyRow, SliceGraph, current_audit, current_review, describe_typed_votes, waits_for,
};
use cook_protocol::model::{Amendment, Assurance, Blocker, Phase, Waiting};
use cook_repo::process::{Patience, is_alive};
use std::io::{IsTerminal, Write, stdout};

/// The interval at which a watched status is checked.
const PACE: Duration = Duration::from_millis(500);

/// The longest delay before a signal is noticed.
const NAP: Duration = Duration::from_millis(100);

/// The escape sequence that clears the terminal.
const CLEAR: &str = "\u{1b}[2J\u{1b}[H";

// Each option replaces the full status.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(super) struct StatusArgs {
    /// Show the status again whenever it changes; without a terminal, print a line for each transition
    #[arg(long)]
    pub watch: bool,
    /// List the slices that can be selected now, in order of work
    #[arg(long)]
    pub ready: bool,
    /// Show the plan as a graph in this form [default: drawn]
    #[arg(long, value_enum, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "drawn")]
    pub graph: Option<GraphForm>,
    /// Show calls, time and cost by role and agent
    #[arg(long)]
    pub cost: bool,
}

pub(super) fn status(context: &Context, args: &StatusArgs) -> Answer {
    match args {
        StatusArgs { watch: true, .. } => watch(context),
        StatusArgs { ready: true, .. } => ready(context),
        StatusArgs { cost: true, .. } => {
            let calls = store(&context.workspace()?)?.lines()?;
            answer(CostAnswer::sum(&calls))
        }
        StatusArgs {
            graph: Some(form), ..
        } => {
            let (_, snapshot) = context.workspace()?.require()?;
            answer(GraphAnswer::new(&snapshot.plan, *form))
        }
        _ => look(context),
    }
}

fn look(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let (_, snapshot) = workspace.require()?;
    let (mut dispatch, facts) = service::dispatch_now(&workspace, Some(&snapshot))?;
    let head = service::find_head(&facts)?;
    let found = service::find_where_moved(&workspace, &snapshot, &dispatch, &facts)?;
    let mut findings = std::mem::take(&mut dispatch.findings);
    if dispatch.role.is_some_and(service::leaves_the_tree_alone)
        && let Some(worktree) = service::find_uncommitted(&workspace, &facts)?
    {
        findings.extend(service::tell_uncommitted(&snapshot, &dispatch, &worktree));
    }
    findings.extend(workspace.config_problem().cloned());
    findings.extend(hooks::install::unseen(&workspace));
    let limits = workspace.config().map(|config| config.limits());
    let granted = snapshot.counters.granted.steps.unwrap_or(0);
    let slices = snapshot.plan.candidate_slices.iter();
    let slices = slices.map(|slice| SliceRow::new(slice, &snapshot, found.as_ref()));
    let slices = slices.collect();
    let judges = judges::find_verdicts(&workspace, &snapshot, &head)?;
    let is_told = |reason: &String| *reason != dispatch.reason;
    let is_stopped = snapshot.state.continuation_policy != Policy::Continue;
    answer(StatusAnswer {
        mission_anchor: snapshot.state.mission_anchor.clone(),
        policy: dispatch.policy,
        phase: dispatch.phase,
        rule: dispatch.rule,
        role: dispatch.role,
        action: dispatch.action.clone(),
        reason: dispatch.reason.clone(),
        contract_status: snapshot.state.contract_status.clone(),
        assurance: snapshot.assurance(),
        lowest_assurance: snapshot.lowest_assurance(),
        assurance_words: snapshot.describe_assurance(),
        seq: snapshot.ledger.seq.0,
        branch: snapshot.ledger.branch.clone(),
        slices,
        review: current_review(&snapshot).map(|review| Reviewed {
            acceptable: !review.rejects(),
            commit: review.commit.clone(),
        }),
        audit: current_audit(&snapshot).map(|audit| Audited {
            findings: audit.findings.clone(),
            commit: audit.commit.clone(),
        }),
        wave: snapshot.state.current_stop_wave_id.0,
        judgments: Judgments::of(Some(&snapshot), &head),
        typed_votes: describe_typed_votes(&snapshot, &head),
        judges: judges.iter().map(JudgedView::new).collect(),
        judged: judges.iter().map(Judged::words).collect(),
        steps: Steps {
            spent: snapshot.counters.steps.0,
            limit: limits.unwrap_or_default().steps().saturating_add(granted),
        },
        scripted_commands: snapshot.ledger.scripted_commands.0,
        scripted: service::list_scripted_commands(&workspace, &snapshot)?
            .into_iter()
            .map(|(seq, event)| Scripted { seq, event })
            .collect(),
        set_aside: workspace.store()?.rescue_list()?.len(),
        run: run::live(&workspace)?
            .map(|live| RunView::new(&workspace, live))
            .transpose()?,
        unfinished: run::list_unfinished(&workspace)?,
        findings,
        // Left out if the line about the next step gives the same reason.
        stopped: Some(snapshot.state.continuation_reason.clone())
            .filter(is_told)
            .filter(|_| is_stopped),
        is_goal: snapshot.goal().is_some(),
        dispatch,
        head: head.commit,
        unsatisfied_contract_ids: snapshot.state.unsatisfied_contract_ids,
        release_blocker_ids: snapshot.state.release_blocker_ids,
        high_value_gaps: snapshot.ledger.high_value_gaps,
        unanswered: snapshot.ledger.unanswered,
        waiting: snapshot.ledger.waiting,
        amendments: snapshot.ledger.amendments,
    })
}

/// On a terminal, shows the status until the user stops it; otherwise, prints transitions until the work is done.
fn watch(context: &Context) -> Answer {
    if context.screen.json {
        return Err(Failure::usage("`cook status --watch` has no JSON").hint(
            "`cook log --json` has the transitions, `cook status --json` where the work stands",
        ));
    }
    let patience =
        Patience::begin(None).or_fail(Code::OutputUnwritable, "signals cannot be handled")?;
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    match stdout().is_terminal() && !is_dumb {
        true => redraw(context, &patience)?,
        false => follow(&context.workspace()?, &patience)?,
    }
    note("watched", Vec::new())
}

/// Waits for [`PACE`]; false if the user asked to stop.
fn wait(patience: &Patience) -> bool {
    let began = Instant::now();
    while began.elapsed() < PACE && !patience.is_over() {
        std::thread::sleep(NAP);
    }
    !patience.is_over()
}

fn redraw(context: &Context, patience: &Patience) -> Result<()> {
    let mut shown = String::new();
    // While the status does not change, nothing is written, so only this check notices a closed terminal.
    while !patience.is_over() && stdout().is_terminal() {
        let text = context.screen.text(&*look(context)?);
        if text != shown {
            let mut out = stdout().lock();
            let drawn = out.write_all(format!("{CLEAR}{text}").as_bytes());
            // The terminal was closed.
            if drawn.and_then(|()| out.flush()).is_err() {
                return Ok(());
            }
            shown = text;
        }
        if !wait(patience) {
            break;
        }
    }
    Ok(())
}

fn follow(workspace: &Workspace, patience: &Patience) -> Result<()> {
    workspace.require()?;
    let store = workspace.store()?;
    let mut told: Option<u64> = None;
    while !patience.is_over() {
        let tip = store.tip()?.map(|tip| tip.seq);
        if let Some(now) = tip.filter(|now| told.is_none_or(|told| told < *now)) {
            // The log can grow between two reads: the state is read first, so that no transition before it is left out.
            let is_done = store.snapshot()?.state.continuation_policy == Policy::Done;
            let seen = told.unwrap_or(now.saturating_sub(1));
            let entries = store.entries()?;
            let new = entries.take_while(|meta| meta.as_ref().map_or(true, |it| it.seq > seen));
            let new = new.collect::<Result<Vec<Meta>, _>>()?;
            for meta in new.iter().rev() {
                // The reader has closed the pipe.
                if write_line(&make_line(meta)).is_err() {
                    return Ok(());
                }
            }
            told = new.first().map(|newest| newest.seq).or(told);
            if is_done {
                return Ok(());
            }
        }
        if !wait(patience) {
            break;
        }
    }
    Ok(())
}

/// Formats a transition as `#12 2026-01-01T00:00:00Z reviewed by role about a`.
fn make_line(meta: &Meta) -> String {
    let about = match meta.subject.is_empty() {
        true => String::new(),
        false => format!(" about {}", meta.subject),
    };
    let time = Clock::of_epoch(meta.epoch_seconds);
    let event = meta.event.replace('_', " ");
    let line = format!("#{} {time} {event} by {}{about}", meta.seq, meta.actor);
    clean(&line, Lines::Fold)
}

/// State of the running `cook run`.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct RunView {
    /// Process ID of `cook run`.
    pid: u32,
    /// Time until which the run waits for a limit or the network (RFC 3339, UTC); null if it does not wait.
    waits_until: Option<String>,
    /// Current sessions.
    sessions: Vec<SessionView>,
    /// The newest uncommitted change; null if there is none.
    last_changed: Option<LastChanged>,
}

/// The newest uncommitted change.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct LastChanged {
    path: String,
    /// Age of the change, in seconds.
    seconds: u64,
}

/// A running session.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct SessionView {
    #[serde(flatten)]
    session: LiveSession,
    /// Whether the process of the agent is running.
    alive: bool,
    /// Time since the last output of the session, in seconds; null if unknown.
    quiet_seconds: Option<i64>,
}

impl RunView {
    fn new(workspace: &Workspace, live: Live) -> Result<Self> {
        let now = workspace.clock.epoch_millis() / 1000;
        let sessions = live.sessions.into_iter().map(|session| SessionView {
            alive: session.pid.is_some_and(is_alive),
            quiet_seconds: Clock::parse_seconds(&session.output_at).map(|at| (now - at).max(0)),
            session,
        });
        let dirty = workspace.repo.status()?.worktree.dirty.into_iter();
        let changed = dirty.filter_map(|path| {
            let found = std::fs::symlink_metadata(workspace.repo.root().join(&path)).ok()?;
            Some((found.modified().ok()?, path))
        });
        Ok(Self {
            pid: live.pid,
            waits_until: live.waits_until,
            sessions: sessions.collect(),
            last_changed: changed.max().map(|(at, path)| LastChanged {
                path,
                seconds: at.elapsed().map_or(0, |elapsed| elapsed.as_secs()),
            }),
        })
    }

    fn lines(&self, page: &mut Page) {
        if let Some(until) = &self.waits_until {
            page.row("waits", &format!("until {until} to try again"));
        } else if self.sessions.is_empty() {
            let text = format!("between two sessions (cook is pid {})", self.pid);
            page.row("run", &text);
        }
        for shown in &self.sessions {
            let session = &shown.session;
            let mut text = format!("{} by {}, ", session.role, session.agent);
            text.push_str(&match (session.pid, shown.alive) {
                (None, _) => "not started yet".to_owned(),
                (Some(pid), true) => format!("pid {pid} alive"),
                (Some(pid), false) => format!("pid {pid} gone"),
            });
            if let Some(seconds) = shown.quiet_seconds {
                text.push_str(&format!(", {seconds} s since output"));
            }
            if let Some(tool) = &session.tool {
                text.push_str(&format!(", tool {tool}"));
            }
            page.row("run", &text);
        }
        if let Some(LastChanged { path, seconds }) = &self.last_changed {
            page.row("changed", &format!("{path}, {seconds} s ago"));
        }
    }
}

/// The state of the work.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct StatusAnswer {
    mission_anchor: String,
    policy: Policy,
    phase: Phase,
    /// Dispatch rule that applies.
    rule: Rule,
    /// Role that must work next; null if none must.
    role: Option<Role>,
    action: String,
    reason: String,
    contract_status: String,
    /// Profile in force.
    assurance: Assurance,
    /// Lowest profile under which a slice was accepted or a vote was taken.
    lowest_assurance: Assurance,
    seq: u64,
    /// Branch of the workflow; null if HEAD is detached.
    branch: Option<String>,
    /// Commit of HEAD; null before the first commit.
    head: Option<String>,
    slices: Vec<SliceRow>,
    review: Option<Reviewed>,
    audit: Option<Audited>,
    wave: u64,
    judgments: Judgments,
    /// Verdicts on slices that are done or in work and the votes at HEAD, by role and agent.
    judges: Vec<JudgedView>,
    /// IDs of the contracts that open slices serve.
    unsatisfied_contract_ids: Vec<String>,
    /// IDs of the release blockers that the last re-ground named.
    release_blocker_ids: Vec<String>,
    /// High-value gaps that the last re-ground named.
    high_value_gaps: Vec<String>,
    /// Rejections that no re-ground has answered yet.
    unanswered: Vec<Blocker>,
    waiting: Option<Waiting>,
    amendments: Vec<Amendment>,
    steps: Steps,
    /// Number of user-only commands that were run with `--as-user`.
    scripted_commands: u64,
    /// Such commands among the newest transitions, newest first.
    scripted: Vec<Scripted>,
    set_aside: usize,
    /// State of the running `cook run`; null if none is running.
    run: Option<RunView>,
    /// Roles whose sessions a killed `cook` left unfinished.
    unfinished: Vec<Role>,
    findings: Vec<Finding>,
    #[serde(skip)]
    dispatch: Dispatch,
    #[serde(skip)]
    is_goal: bool,
    #[serde(skip)]
    assurance_words: Option<String>,
    #[serde(skip)]
    judged: Vec<String>,
    #[serde(skip)]
    typed_votes: Option<String>,
    #[serde(skip)]
    stopped: Option<String>,
}

/// A slice of the plan, with its progress.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct SliceRow {
    slice_id: String,
    goal: String,
    status: SliceStatus,
    criteria: usize,
    proven: usize,
    /// Whether the slice is done in the log, but HEAD no longer contains its work or proof; absent if false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    gone: bool,
    attempts: u64,
    /// Reason in the plan why the slice is blocked; absent if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked: Option<String>,
}

impl SliceRow {
    /// `found` is the plan as HEAD confirms it, if HEAD has moved.
    fn new(slice: &Slice, snapshot: &Snapshot, found: Option<&Plan>) -> Self {
        let id = &slice.slice_id;
        let found = found.and_then(|plan| plan.slice(id));
        let is_open = found.is_some_and(|found| found.status.is_open());
        let gone = slice.status == SliceStatus::Done && is_open;
        let records = || slice.evidence.iter().filter_map(Evidence::record);
        let is_proven = |criterion: &&String| records().any(|it| it.criterion == **criterion);
        let criteria = slice.acceptance_criteria.iter();
        let known = snapshot.ledger.slices.get(id);
        Self {
            slice_id: id.clone(),
            goal: slice.goal.clone(),
            status: slice.status,
            criteria: criteria.len(),
            // A slice that is open again must be proven anew.
            proven: match gone || slice.status.is_open() {
                true => 0,
                false => criteria.filter(is_proven).count(),
            },
            gone,
            attempts: snapshot.counters.attempts.get(id).map_or(0, |it| it.0),
            blocked: known.and_then(|known| known.blocked.clone()),
        }
    }

    fn line(&self, page: &mut Page) {
        let tone = match self.status {
            SliceStatus::Done if self.gone => Tone::Warn,
            SliceStatus::Done => Tone::Good,
            SliceStatus::Selected | SliceStatus::InProgress => Tone::Strong,
            SliceStatus::Blocked => Tone::Warn,
            SliceStatus::Planned | SliceStatus::Cancelled => Tone::Dim,
        };
        page.text("  ");
        page.add_toned(tone, &format!("{:<12}", self.status.id()));
        let (id, goal, proven, all) = (&self.slice_id, &self.goal, self.proven, self.criteria);
        let mut text = format!("{id} — {goal} ({proven} of {all} criteria proven");
        if self.attempts > 0 {
            text.push_str(&format!(", {} spent", count_noun(self.attempts, "attempt")));
        }
        text.push(')');
        if let Some(why) = &self.blocked {
            text.push_str(&format!(": {why}"));
        }
        if self.gone {
            text.push_str(": HEAD does not hold its work or proof any more");
        }
        page.line(&text);
    }
}

/// The review that counts for the slice in work.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Reviewed {
    acceptable: bool,
    commit: String,
}

/// The audit that counts.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Audited {
    findings: Vec<String>,
    commit: String,
}

/// Number of steps that were taken, and their limit.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Steps {
    spent: u64,
    limit: u64,
}

/// A transition that a script caused.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Scripted {
    seq: u64,
    /// Kind of the event.
    #[schemars(extend("enum" = cook_protocol::model::Event::NAMES))]
    event: String,
}

/// Verdicts of one agent in one role, and the measured quality of that judge.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct JudgedView {
    role: Role,
    /// Number of yes verdicts; for audits, number of audits without an objection.
    yes: u64,
    of: u64,
    /// Agent that gave the verdicts; null if unknown in this clone.
    agent: Option<String>,
    model: Option<String>,
    /// Share of planted faults that the judge caught with the current prompt; null if not measured.
    caught: Option<ShareView>,
    /// Share of clean work that the judge rejected; null if not measured.
    alarms: Option<ShareView>,
}

impl JudgedView {
    fn new(judged: &Judged) -> Self {
        Self {
            role: judged.role,
            yes: judged.yes,
            of: judged.of,
            agent: judged.agent.clone(),
            model: judged.model.clone(),
            caught: judged.known.map(|known| known.caught.into()),
            alarms: judged.known.map(|known| known.alarms.into()),
        }
    }
}

impl Show for StatusAnswer {
    fn human(&self, page: &mut Page) {
        page.find(&self.findings);
        page.row("mission", &self.mission_anchor);
        let (policy, contract, phase) = (self.policy, &self.contract_status, self.phase);
        page.row("policy", &format!("{policy} · {contract} · phase {phase}"));
        page.row_of("assurance", self.assurance_words.as_ref());
        for role in &self.unfinished {
            page.row(
                "unfinished",
                &format!("a session of the {role} whose `cook run` has ended; run `cook run --steps 0` before you continue here: it ends the session and reverts its forbidden changes"),
            );
        }
        if let Some(run) = &self.run {
            run.lines(page);
        }
        page.row_of("reason", self.stopped.as_ref());
        self.slices.iter().for_each(|slice| slice.line(page));
        let Steps { spent, limit } = self.steps;
        page.row("steps", &format!("{spent} of {limit}"));
        if self.wave > 0 {
            let Judgments { have, need } = self.judgments;
            let typed = self.typed_votes.as_ref();
            let typed = typed.map_or(String::new(), |words| format!("; {words}"));
            let text = format!("{}: {have} of {need} votes at this HEAD{typed}", self.wave);
            page.row("wave", &text);
        }
        self.judged
            .iter()
            .for_each(|words| page.row("judged", words));
        if self.scripted_commands > 0 {
            let scripted = self.scripted.iter();
            let named: Vec<_> = scripted.map(|it| (it.seq, it.event.clone())).collect();
            let words = service::describe_scripted(self.scripted_commands, &named);
            page.row("scripts", &words);
        }
        match self.set_aside {
            0 => {}
            1 => page.row("set aside", "1 copy (`cook doctor rescue list`)"),
            copies => {
                let text = format!("{copies} copies (`cook doctor rescue list`)");
                page.row("set aside", &text);
            }
        }
        dispatch_lines(page, &self.dispatch, self.is_goal);
    }
}

fn ready(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let (_, snapshot) = workspace.require()?;
    let found = service::find(&workspace, &snapshot)?;
    let (plan, selection) = (&found.snapshot.plan, &found.selection);
    let waiting = plan.open_slices().map(|slice| WaitingSlice {
        slice_id: slice.slice_id.clone(),
        waits_for: waits_for(plan, slice),
    });
    let ready = SliceGraph::new(plan).ready(plan);
    let rests_on = ready.iter().filter_map(|row| {
        let id = &row.slice_id;
        let on = selection.rests_on(plan.slice(id)?);
        let unrun = on.iter().map(|(id, what)| format!("`{id}` ({what})"));
        let unrun: Vec<String> = unrun.collect();
        (!unrun.is_empty()).then(|| {
            let what = format!(
                "slice `{id}` can be selected only if the slices that it waits for still hold at HEAD, where these proofs have not run: {}",
                unrun.join(", ")
            );
            Finding::new(Code::ProofStale, what).at(id.clone())
        })
    });
    let committed = snapshot.find_slice_in_work();
    let committed = committed
        .filter(|id| snapshot.is_committed(id))
        .map(|id| format!("slice `{id}` is committed, and waits to be accepted or reopened"));
    answer(ReadyAnswer {
        held: selection.held.clone().or(committed),
        findings: rests_on.collect(),
        waiting: waiting
            .filter(|slice| !slice.waits_for.is_empty())
            .collect(),
        ready,
    })
}

/// Slices that can be selected now, in order of work.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct ReadyAnswer {
    /// Slices that can be selected, in order of work.
    ready: Vec<ReadyRow>,
    /// Open slices that wait for other slices.
    waiting: Vec<WaitingSlice>,
    /// Reason why none of the slices can be selected now; null if they can be selected.
    held: Option<String>,
    /// Findings about slices that wait for slices whose proof has not run at HEAD.
    findings: Vec<Finding>,
}

/// An open slice that cannot be selected yet.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct WaitingSlice {
    slice_id: String,
    /// IDs of slices that must be done first, and texts that name outside blockers.
    waits_for: Vec<String>,
}

impl Show for ReadyAnswer {
    fn human(&self, page: &mut Page) {
        page.find(&self.findings);
        if self.ready.is_empty() {
            page.line("no slice can be selected now");
        } else if let Some(why) = &self.held {
            let text = format!("nothing can be selected now: {why}; after that:");
            page.add_toned_line(Tone::Warn, &text);
        }
        for (index, row) in self.ready.iter().enumerate() {
            page.add_toned(Tone::Strong, &format!("{}. {}", index + 1, row.slice_id));
            page.line(&format!(" — {} (priority {})", row.goal, row.priority.0));
            let unblocks = join_or(&row.unblocks, "(none)");
            let (all, chain) = (row.unblocks_all, row.chain);
            page.line(&format!(
                "   unblocks: {unblocks} · {all} wait for it in all · longest chain {chain}"
            ));
        }
        for WaitingSlice {
            slice_id,
            waits_for,
        } in &self.waiting
        {
            let text = format!("   {slice_id} waits for {}", waits_for.join(", "));
            page.add_toned_line(Tone::Dim, &text);
        }
    }
}

// The plan as a graph, for `cook status --graph` and the page of `cook report`.

/// The plan as a graph.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct GraphAnswer {
    /// The slices.
    pub nodes: Vec<Node>,
    /// Edges, each from a slice to a slice that waits for it.
    pub edges: Vec<Edge>,
    /// Form of the printed graph.
    #[serde(skip)]
    pub form: GraphForm,
}

/// How a graph is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum GraphForm {
    /// Drawing for a terminal.
    Drawn,
    /// Source for Mermaid.
    Mermaid,
    /// Source for Graphviz.
    Dot,
}

/// A slice of the plan.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Node {
    /// ID of the slice.
    pub slice_id: String,
    /// Goal of the slice.
    pub goal: String,
    /// Status of the slice.
    pub status: SliceStatus,
}

/// A dependency between two slices.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Edge {
    /// ID of the slice that must be done first.
    pub from: String,
    /// ID of the slice that waits.
    pub to: String,
}

/// Text that is safe inside quotes in both formats.
fn label(text: &str) -> String {
    text.chars()
        .take(80)
        .map(|c| match c {
            '"' => '\'',
            '\\' => '/',
            '<' | '>' | '[' | ']' | '{' | '}' | '|' | '`' | '#' | ';' => ' ',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect()
}

impl GraphAnswer {
    /// The slices, and their dependencies as edges.
    pub fn new(plan: &Plan, form: GraphForm) -> Self {
        let slices = || plan.candidate_slices.iter();
        let edges = slices().flat_map(|slice| {
            let known = slice.blocked_on.iter();
            let known = known.filter(|entry| plan.slice(entry).is_some());
            known.map(|dependency| Edge {
                from: dependency.clone(),
                to: slice.slice_id.clone(),
            })
        });
        let nodes = slices().map(|slice| Node {
            slice_id: slice.slice_id.clone(),
            goal: slice.goal.clone(),
            status: slice.status,
        });
        Self {
            nodes: nodes.collect(),
            edges: edges.collect(),
            form,
        }
    }

    fn index(&self, id: &str) -> usize {
        self.nodes
            .iter()
            .position(|node| node.slice_id == id)
            .unwrap_or_default()
    }

    /// The slices for which a slice waits, in the order of the plan.
    fn waits_for<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a Node> {
        self.nodes.iter().filter(move |node| {
            let mut edges = self.edges.iter();
            edges.any(|edge| edge.to == id && edge.from == node.slice_id)
        })
    }

    /// Draws one slice per line, after all its dependencies and indented below the deepest one.
    fn draw(&self, page: &mut Page) {
        let mut depths: BTreeMap<&str, usize> = BTreeMap::new();
        let mut left: Vec<&Node> = self.nodes.iter().collect();
        while !left.is_empty() {
            let drawn = |node: &Node| depths.contains_key(node.slice_id.as_str());
            // Only a plan from a damaged log can have a cycle; the loop ends even then.
            let next = left
                .iter()
                .position(|node| self.waits_for(&node.slice_id).all(drawn))
                .unwrap_or_default();
            let node = left.remove(next);
            let before: Vec<&Node> = self.waits_for(&node.slice_id).collect();
            let depth = before
                .iter()
                .filter_map(|node| depths.get(node.slice_id.as_str()))
                .max()
                .map_or(0, |depth| depth + 1);
            depths.insert(&node.slice_id, depth);
            draw_node(page, node, depth, &before);
        }
        page.add_toned_line(Tone::Dim, LEGEND);
    }

    fn write(&self, page: &mut Page, is_dot: bool) {
        let (head, arrow) = match is_dot {
            true => ("digraph plan {\n  rankdir=LR;", "->"),
            false => ("graph LR", "-->"),
        };
        head.lines().for_each(|line| page.line(line));
        for (at, node) in self.nodes.iter().enumerate() {
            let (id, goal) = (label(&node.slice_id), label(&node.goal));
            let status = node.status.id();
            page.line(&match is_dot {
                true => format!("  s{at} [shape=box, label=\"{id}\\n{goal}\\n{status}\"];"),
                false => format!("  s{at}[\"{id}: {goal} ({status})\"]"),
            });
        }
        let end = if is_dot { ";" } else { "" };
        for Edge { from, to } in &self.edges {
            let (from, to) = (self.index(from), self.index(to));
            page.line(&format!("  s{from} {arrow} s{to}{end}"));
        }
        if is_dot {
            page.line("}");
        }
    }
}

impl Show for GraphAnswer {
    fn human(&self, page: &mut Page) {
        match self.form {
            GraphForm::Drawn if self.nodes.is_empty() => page.line("nothing is planned yet"),
            GraphForm::Drawn => self.draw(page),
            GraphForm::Mermaid => self.write(page, false),
            GraphForm::Dot => self.write(page, true),
        }
    }
}

const LEGEND: &str = "[x] done  [>] in work  [ ] planned  [!] blocked  [-] cancelled";

fn draw_node(page: &mut Page, node: &Node, depth: usize, before: &[&Node]) {
    let (mark, tone) = match node.status {
        SliceStatus::Done => ("[x]", Tone::Good),
        SliceStatus::Selected | SliceStatus::InProgress => ("[>]", Tone::Strong),
        SliceStatus::Planned => ("[ ]", Tone::Dim),
        SliceStatus::Blocked => ("[!]", Tone::Warn),
        SliceStatus::Cancelled => ("[-]", Tone::Dim),
    };
    // The indentation is limited, so that deep chains fit a terminal.
    let lead = match depth {
        0 => String::new(),
        depth => format!("{}`-- ", "    ".repeat(depth.min(10) - 1)),
    };
    page.text(&lead);
    page.add_toned(tone, mark);
    let waits: Vec<&str> = before.iter().map(|node| node.slice_id.as_str()).collect();
    let waits = match waits.is_empty() {
        true => String::new(),
        false => format!("  (after {})", waits.join(", ")),
    };
    page.line(&format!(" {} — {}{waits}", node.slice_id, node.goal));
}
