//! `cook status`: where the work stands; what is ready, the plan as a graph, what it cost.

use super::ask::store;
use super::calibrate::ShareView;
use super::context::{Answer, Context, answer};
use super::transition::note;
use crate::drive::Live;
use crate::judges::Judged;
use crate::service::Workspace;
use crate::view::{
    CostAnswer, CostRow, Edge, GraphAnswer, GraphForm, Judgments, Node, Page, Show, Tone,
    dispatch_lines, write_line,
};
use crate::{drive, judges, lifecycle, service};
use clap::Args;
use cook_agents::tokens;
use cook_core::diagnostic::{Code, Failure, Finding, Lines, clean, count_noun};
use cook_core::machine::{
    Dispatch, Head, ReadyRow, Rule, SliceGraph, current_audit, current_review, list_votes,
    waits_for,
};
use cook_core::model::{
    Amendment, Assurance, Blocker, Evidence, Limits, Phase, Plan, Policy, Role, Slice, SliceStatus,
    Snapshot, Waiting,
};
use cook_os::clock::Clock;
use cook_os::process::{Patience, is_alive};
use cook_store::session::CallRecord;
use cook_store::store::{Meta, Tip};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write, stdout};
use std::time::{Duration, Instant};

/// How often a watched status is looked at.
const PACE: Duration = Duration::from_millis(500);

/// How long a signal waits at most.
const NAP: Duration = Duration::from_millis(100);

/// Clears a terminal.
const CLEAR: &str = "\u{1b}[2J\u{1b}[H";

#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    #[command(flatten)]
    pub part: StatusPart,
}

/// What is shown in place of the whole.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(super) struct StatusPart {
    /// Show it again whenever it changes; into a pipe, print a line for each transition
    #[arg(long)]
    pub watch: bool,
    /// Show the slices that can be selected now, in order of work
    #[arg(long)]
    pub ready: bool,
    /// Show the plan as a graph
    #[arg(long, value_enum, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "drawn")]
    pub graph: Option<GraphForm>,
    /// Show what agents have cost, by role and agent
    #[arg(long)]
    pub cost: bool,
}

pub(super) fn status(context: &Context, args: &StatusArgs) -> Answer {
    match &args.part {
        StatusPart { watch: true, .. } => watch(context),
        StatusPart { ready: true, .. } => ready(context),
        StatusPart { cost: true, .. } => cost(context),
        StatusPart {
            graph: Some(form), ..
        } => graph(context, *form),
        _ => look(context),
    }
}

fn look(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let (_, snapshot) = workspace.require()?;
    let (dispatch, facts) = service::dispatch_now(&workspace, Some(&snapshot))?;
    let found = service::find_where_moved(&workspace, &snapshot, &dispatch, &facts)?;
    let displaced = workspace.store()?.rescue_list()?.len();
    let mut findings = dispatch.findings.clone();
    if dispatch.role.is_some_and(service::leaves_the_tree_alone)
        && let Some(worktree) = service::find_uncommitted(&workspace, &facts)?
    {
        findings.extend(service::tell_uncommitted(&snapshot, &dispatch, &worktree));
    }
    findings.extend(workspace.config_problem().cloned());
    findings.extend(lifecycle::install::unseen(&workspace));
    let limits = workspace
        .config()
        .map(|config| config.limits())
        .unwrap_or_default();
    let run = match drive::live(&workspace)? {
        Some(live) => Some(view_run(&workspace, live)?),
        None => None,
    };
    let head = service::find_head(&facts)?;
    answer(StatusAnswer {
        run,
        unfinished: drive::list_unfinished(&workspace)?,
        judges: judges::find_verdicts(&workspace, &snapshot, &head)?,
        head,
        scripted: service::list_scripted_commands(&workspace, &snapshot)?,
        snapshot,
        found,
        dispatch,
        limits,
        displaced,
        findings,
    })
}

/// Shows the status until the user ends it; into a pipe, the transitions until the work is done.
fn watch(context: &Context) -> Answer {
    if context.screen.json {
        return Err(Failure::usage("`cook status --watch` has no JSON").hint(
            "`cook log --json` has the transitions, `cook status --json` where the work stands",
        ));
    }
    let patience = Patience::begin(None).map_err(|error| {
        Failure::state(Code::OutputUnwritable, "signals cannot be heeded").with_cause(&error)
    })?;
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    match stdout().is_terminal() && !is_dumb {
        true => redraw(context, &patience)?,
        false => follow(&context.workspace()?, &patience)?,
    }
    note("watched", Vec::new())
}

/// False where the user wants to go.
fn wait(patience: &Patience) -> bool {
    let began = Instant::now();
    while began.elapsed() < PACE && !patience.is_over() {
        std::thread::sleep(NAP);
    }
    !patience.is_over()
}

fn redraw(context: &Context, patience: &Patience) -> Result<(), Failure> {
    let mut shown = String::new();
    // A terminal that ended is none any more, and nothing else tells it where nothing changes.
    while !patience.is_over() && stdout().is_terminal() {
        let text = context.screen.text(&*look(context)?);
        if text != shown {
            let mut out = stdout().lock();
            let drawn = out.write_all(format!("{CLEAR}{text}").as_bytes());
            // The terminal is gone.
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

fn follow(workspace: &Workspace, patience: &Patience) -> Result<(), Failure> {
    workspace.require()?;
    let store = workspace.store()?;
    let mut told: Option<Tip> = None;
    while !patience.is_over() {
        let tip = store.tip()?;
        if tip != told
            && let Some(now) = &tip
        {
            let newest = now.seq.saturating_sub(1);
            let seen = told.as_ref().map_or(newest, |told| told.seq);
            let mut new = Vec::new();
            for meta in store.entries()? {
                let meta = meta?;
                if meta.seq <= seen {
                    break;
                }
                new.push(meta);
            }
            for meta in new.iter().rev() {
                // The reader is gone.
                if write_line(&make_line(meta)).is_err() {
                    return Ok(());
                }
            }
            told = tip;
            if store.snapshot()?.state.continuation_policy == Policy::Done {
                return Ok(());
            }
        }
        if !wait(patience) {
            break;
        }
    }
    Ok(())
}

/// `#12 2026-01-01T00:00:00Z reviewed by role about a`
fn make_line(meta: &Meta) -> String {
    let about = match meta.subject.is_empty() {
        true => String::new(),
        false => format!(" about {}", meta.subject),
    };
    let (time, event) = (
        Clock::of_epoch(meta.epoch_seconds),
        meta.event.replace('_', " "),
    );
    let line = format!("#{} {time} {event} by {}{about}", meta.seq, meta.actor);
    clean(&line, Lines::Fold)
}

/// What is to be seen of a run from outside.
fn view_run(workspace: &Workspace, live: Live) -> Result<RunView, Failure> {
    let now = workspace.clock.epoch_millis() / 1000;
    let sessions = live
        .sessions
        .iter()
        .map(|session| SessionView {
            role: session.role,
            agent: session.agent.clone(),
            pid: session.pid,
            alive: session.pid.is_some_and(is_alive),
            began_at: session.began_at.clone(),
            quiet_seconds: Clock::parse_seconds(&session.output_at).map(|at| (now - at).max(0)),
            tool: session.tool.clone(),
        })
        .collect();
    let worktree = workspace.repo.status()?.worktree;
    let last_changed = worktree
        .dirty
        .iter()
        .filter_map(|path| {
            let found = std::fs::symlink_metadata(workspace.repo.root().join(path)).ok()?;
            Some((found.modified().ok()?, path))
        })
        .max()
        .map(|(at, path)| {
            let seconds = at.elapsed().map_or(0, |elapsed| elapsed.as_secs());
            LastChanged {
                path: path.clone(),
                seconds,
            }
        });
    Ok(RunView {
        pid: live.pid,
        waits_until: live.waits_until,
        sessions,
        last_changed,
    })
}

/// What a running `cook run` is at.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunView {
    /// The driver's process.
    pub pid: u32,
    /// Until when the end of a limit, or the network, is waited for, RFC 3339.
    pub waits_until: Option<String>,
    /// The sessions that are held now.
    pub sessions: Vec<SessionView>,
    /// The path that was changed last and is not committed.
    pub last_changed: Option<LastChanged>,
}

/// A path and how long ago it was changed.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LastChanged {
    /// The path.
    pub path: String,
    /// Seconds since.
    pub seconds: u64,
}

/// A session that is held now.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionView {
    /// Whose turn it is.
    pub role: Role,
    /// Who plays it.
    pub agent: String,
    /// The agent's process.
    pub pid: Option<u32>,
    /// That process is there.
    pub alive: bool,
    /// When it began, RFC 3339.
    pub began_at: String,
    /// Seconds since it printed something.
    pub quiet_seconds: Option<i64>,
    /// The tool it used last.
    pub tool: Option<String>,
}

impl RunView {
    fn lines(&self, page: &mut Page) {
        if let Some(until) = &self.waits_until {
            page.row("waits", &format!("until {until} to try again"));
        }
        if self.sessions.is_empty() && self.waits_until.is_none() {
            page.row(
                "run",
                &format!("between two sessions (cook is pid {})", self.pid),
            );
        }
        for session in &self.sessions {
            let process = match (session.pid, session.alive) {
                (None, _) => "not started yet".to_owned(),
                (Some(pid), true) => format!("pid {pid} alive"),
                (Some(pid), false) => format!("pid {pid} gone"),
            };
            let quiet = session
                .quiet_seconds
                .map_or_else(String::new, |seconds| format!(", {seconds} s since output"));
            let tool = session
                .tool
                .as_ref()
                .map_or_else(String::new, |tool| format!(", tool {tool}"));
            page.row(
                "run",
                &format!(
                    "{} by {}, {process}{quiet}{tool}",
                    session.role, session.agent
                ),
            );
        }
        if let Some(LastChanged { path, seconds }) = &self.last_changed {
            page.row("changed", &format!("{path}, {seconds} s ago"));
        }
    }
}

/// Where the work stands.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Standing<'a> {
    mission_anchor: &'a str,
    policy: Policy,
    phase: Phase,
    /// The dispatch rule.
    rule: Rule,
    /// The role that is due; null when nobody is.
    role: Option<Role>,
    action: &'a str,
    reason: &'a str,
    contract_status: &'a str,
    /// The profile in force.
    assurance: Assurance,
    /// The lowest under which a slice was accepted or a vote taken.
    lowest_assurance: Assurance,
    seq: u64,
    /// The workflow's branch; null = detached.
    branch: Option<&'a str>,
    /// HEAD's commit; null before the first.
    head: Option<&'a str>,
    slices: Vec<SliceRow<'a>>,
    review: Option<Reviewed<'a>>,
    audit: Option<Audited<'a>>,
    wave: u64,
    judgments: Judgments,
    /// The verdicts of slices that are done or in work and the votes at HEAD, by role and agent.
    judges: Vec<JudgedView<'a>>,
    /// Contract ids of open slices.
    unsatisfied_contract_ids: &'a [String],
    /// As the last re-ground named them.
    release_blocker_ids: &'a [String],
    /// As the last re-ground named them.
    high_value_gaps: &'a [String],
    /// Rejections that no re-ground has answered.
    unanswered: &'a [Blocker],
    waiting: Option<&'a Waiting>,
    amendments: &'a [Amendment],
    steps: Steps,
    /// User-only commands run with `--as-user`.
    scripted_commands: u64,
    /// Those of the newest transitions, newest first.
    scripted: Vec<Scripted<'a>>,
    set_aside: usize,
    /// What a running `cook run` is at; null when nobody drives the work.
    run: Option<&'a RunView>,
    /// Roles whose sessions a cook that is gone left unfinished.
    unfinished: &'a [Role],
    findings: &'a [Finding],
}

/// A slice of the plan and how far it is.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct SliceRow<'a> {
    slice_id: &'a str,
    goal: &'a str,
    status: SliceStatus,
    criteria: usize,
    proven: usize,
    /// It is done in the log, and HEAD does not hold its work or proof any more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    gone: bool,
    attempts: u64,
    /// Why it is blocked, as the plan says.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked: Option<&'a str>,
}

impl SliceRow<'_> {
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
        let spent = match self.attempts {
            0 => String::new(),
            attempts => format!(", {} spent", count_noun(attempts, "attempt")),
        };
        let why = self
            .blocked
            .map_or_else(String::new, |why| format!(": {why}"));
        let gone = match self.gone {
            true => ": HEAD does not hold its work or proof any more",
            false => "",
        };
        page.line(&format!(
            "{} — {} ({} of {} criteria proven{spent}){why}{gone}",
            self.slice_id, self.goal, self.proven, self.criteria
        ));
    }
}

/// The review that counts.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Reviewed<'a> {
    acceptable: bool,
    commit: &'a str,
}

/// The audit that counts.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Audited<'a> {
    findings: &'a [String],
    commit: &'a str,
}

/// Steps that were taken, and how many there may be.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Steps {
    spent: u64,
    limit: u64,
}

/// A transition that a script caused.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Scripted<'a> {
    seq: u64,
    /// What happened.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = cook_core::model::Event::NAMES)))]
    event: &'a str,
}

/// Where the work stands.
#[derive(Debug)]
pub struct StatusAnswer {
    /// What a running `cook run` is at.
    pub run: Option<RunView>,
    /// Whose sessions a cook that is gone left unfinished.
    pub unfinished: Vec<Role>,
    /// The documents.
    pub snapshot: Snapshot,
    /// Verdicts, and what is known of who gave them.
    pub judges: Vec<Judged>,
    /// The plan as HEAD bears it out, where HEAD moved.
    pub found: Option<Plan>,
    /// HEAD.
    pub head: Head,
    /// Who is due.
    pub dispatch: Dispatch,
    /// Limits of `cook.toml`.
    pub limits: Limits,
    /// Copies that were set aside.
    pub displaced: usize,
    /// User-only commands that scripts ran: sequence and event, newest first.
    pub scripted: Vec<(u64, String)>,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
}

/// Criteria of a slice with stamped evidence.
fn proven(slice: &Slice) -> usize {
    slice
        .acceptance_criteria
        .iter()
        .filter(|criterion| {
            slice
                .evidence
                .iter()
                .filter_map(Evidence::record)
                .any(|record| &record.criterion == *criterion)
        })
        .count()
}

impl StatusAnswer {
    fn steps(&self) -> Steps {
        let granted = self.snapshot.counters.granted.steps.unwrap_or(0);
        Steps {
            spent: self.snapshot.counters.steps.0,
            limit: self.limits.steps().saturating_add(granted),
        }
    }

    fn slice_row<'a>(&'a self, slice: &'a Slice) -> SliceRow<'a> {
        let attempts = self.snapshot.counters.attempts.get(&slice.slice_id);
        let known = self.snapshot.ledger.slices.get(&slice.slice_id);
        let found = self.found.as_ref();
        let found = found.and_then(|plan| plan.slice(&slice.slice_id));
        let is_gone =
            slice.status == SliceStatus::Done && found.is_some_and(|found| found.status.is_open());
        SliceRow {
            slice_id: &slice.slice_id,
            goal: &slice.goal,
            status: slice.status,
            criteria: slice.acceptance_criteria.len(),
            // What was proven of a slice that is taken up again is to be proven anew.
            proven: match is_gone || slice.status.is_open() {
                true => 0,
                false => proven(slice),
            },
            gone: is_gone,
            attempts: attempts.map_or(0, |count| count.0),
            blocked: known.and_then(|known| known.blocked.as_deref()),
        }
    }
}

impl Serialize for StatusAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Snapshot {
            state,
            plan,
            ledger,
            ..
        } = &self.snapshot;
        let review = current_review(&self.snapshot);
        let audit = current_audit(&self.snapshot);
        let scripted = self.scripted.iter();
        let row = |slice| self.slice_row(slice);
        Standing {
            mission_anchor: &state.mission_anchor,
            policy: self.dispatch.policy,
            phase: self.dispatch.phase,
            rule: self.dispatch.rule,
            role: self.dispatch.role,
            action: &self.dispatch.action,
            reason: &self.dispatch.reason,
            contract_status: &state.contract_status,
            assurance: self.snapshot.assurance(),
            lowest_assurance: self.snapshot.lowest_assurance(),
            seq: ledger.seq.0,
            branch: ledger.branch.as_deref(),
            head: self.head.commit.as_deref(),
            slices: plan.candidate_slices.iter().map(row).collect(),
            review: review.map(|review| Reviewed {
                acceptable: !review.rejects(),
                commit: &review.commit,
            }),
            audit: audit.map(|audit| Audited {
                findings: &audit.findings,
                commit: &audit.commit,
            }),
            wave: state.current_stop_wave_id.0,
            judgments: Judgments::of(Some(&self.snapshot), &self.head),
            judges: self.judges.iter().map(Into::into).collect(),
            unsatisfied_contract_ids: &state.unsatisfied_contract_ids,
            release_blocker_ids: &state.release_blocker_ids,
            high_value_gaps: &ledger.high_value_gaps,
            unanswered: &ledger.unanswered,
            waiting: ledger.waiting.as_ref(),
            amendments: &ledger.amendments,
            steps: self.steps(),
            scripted_commands: ledger.scripted_commands.0,
            scripted: scripted
                .map(|(seq, event)| Scripted { seq: *seq, event })
                .collect(),
            set_aside: self.displaced,
            run: self.run.as_ref(),
            unfinished: &self.unfinished,
            findings: &self.findings,
        }
        .serialize(serializer)
    }
}

impl Show for StatusAnswer {
    fn human(&self, page: &mut Page) {
        let state = &self.snapshot.state;
        page.row("mission", &state.mission_anchor);
        page.row(
            "policy",
            &format!(
                "{} · {} · phase {}",
                self.dispatch.policy, state.contract_status, self.dispatch.phase
            ),
        );
        if let Some(words) = self.snapshot.describe_assurance() {
            page.row("assurance", &words);
        }
        for role in &self.unfinished {
            page.row(
                "unfinished",
                &format!("a session of the {role}, whose cook is gone; `cook run --steps 0` ends it and puts back what it may not have changed: best before you go on working here"),
            );
        }
        if let Some(run) = &self.run {
            run.lines(page);
        }
        // What is due names the same reason below.
        if state.continuation_policy != Policy::Continue
            && state.continuation_reason != self.dispatch.reason
        {
            page.row("reason", &state.continuation_reason);
        }
        for slice in &self.snapshot.plan.candidate_slices {
            self.slice_row(slice).line(page);
        }
        let Steps { spent, limit } = self.steps();
        page.row("steps", &format!("{spent} of {limit}"));
        let have = list_votes(&self.snapshot, &self.head).count();
        if state.current_stop_wave_id.0 > 0 {
            page.row(
                "wave",
                &format!(
                    "{}: {have} of {} votes at this HEAD",
                    state.current_stop_wave_id.0, self.snapshot.profile.required_stop_judges.0
                ),
            );
        }
        for judged in &self.judges {
            page.row("judged", &judged.words());
        }
        if self.snapshot.ledger.scripted_commands.0 > 0 {
            page.row(
                "scripts",
                &crate::service::describe_scripted(
                    self.snapshot.ledger.scripted_commands.0,
                    &self.scripted,
                ),
            );
        }
        if self.displaced > 0 {
            page.row(
                "set aside",
                &match self.displaced {
                    1 => "1 copy (`cook doctor rescue list`)".to_owned(),
                    copies => format!("{copies} copies (`cook doctor rescue list`)"),
                },
            );
        }
        dispatch_lines(page, &self.dispatch, self.snapshot.goal().is_some());
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// Verdicts of one role by one agent.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct JudgedView<'a> {
    role: Role,
    /// Those that said yes; of an audit those that found everything in order.
    yes: u64,
    of: u64,
    /// Who gave them; null where nobody was measured here, or no session of this clone is named.
    agent: Option<&'a str>,
    model: Option<&'a str>,
    /// Of planted faults, as `cook calibrate` measured it with the prompt of now; null = uncalibrated.
    caught: Option<ShareView>,
    /// Of clean work.
    alarms: Option<ShareView>,
}

impl<'a> From<&'a Judged> for JudgedView<'a> {
    fn from(judged: &'a Judged) -> Self {
        Self {
            role: judged.role,
            yes: judged.yes,
            of: judged.of,
            agent: judged.agent.as_deref(),
            model: judged.model.as_deref(),
            caught: judged.known.map(|known| known.caught.into()),
            alarms: judged.known.map(|known| known.alarms.into()),
        }
    }
}

pub(super) fn ready(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let (_, snapshot) = workspace.require()?;
    let found = service::find(&workspace, &snapshot)?;
    let (plan, selection) = (&found.snapshot.plan, &found.selection);
    let waiting = plan
        .open_slices()
        .map(|slice| WaitingSlice {
            slice_id: slice.slice_id.clone(),
            waits_for: waits_for(plan, slice),
        })
        .filter(|slice| !slice.waits_for.is_empty())
        .collect();
    let ready = SliceGraph::new(plan).ready(plan);
    let rests_on = ready.iter().filter_map(|row| {
        let on = selection.rests_on(plan.slice(&row.slice_id)?);
        let unrun = on.iter().map(|(id, what)| format!("`{id}` ({what})"));
        let unrun: Vec<String> = unrun.collect();
        (!unrun.is_empty()).then(|| {
            let what = format!(
                "slice `{}` can be selected only if what it waits for still holds at HEAD, where it has not run: {}",
                row.slice_id,
                unrun.join(", ")
            );
            Finding::new(Code::ProofStale, what).at(row.slice_id.clone())
        })
    });
    let committed = snapshot.find_slice_in_work();
    let committed = committed
        .filter(|id| snapshot.is_committed(id))
        .map(|id| format!("slice `{id}` is committed, and waits to be accepted or reopened"));
    answer(ReadyAnswer {
        held: selection.held.clone().or(committed),
        findings: rests_on.collect(),
        ready,
        waiting,
    })
}

/// Slices that can be selected now, in order of work.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadyAnswer {
    /// In order of work.
    pub ready: Vec<ReadyRow>,
    /// The other open slices.
    pub waiting: Vec<WaitingSlice>,
    /// Why none of them can be selected now; null = they can.
    pub held: Option<String>,
    /// What is not known of some of them.
    pub findings: Vec<Finding>,
}

/// An open slice that cannot be selected yet.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitingSlice {
    /// The slice.
    pub slice_id: String,
    /// What comes first.
    pub waits_for: Vec<String>,
}

impl Show for ReadyAnswer {
    fn human(&self, page: &mut Page) {
        if self.ready.is_empty() {
            page.line("no slice can be selected now");
        } else if let Some(why) = &self.held {
            let why = clean(why, Lines::Fold);
            page.add_toned_line(
                Tone::Warn,
                &format!("nothing can be selected now: {why}; after that:"),
            );
        }
        for (index, row) in self.ready.iter().enumerate() {
            page.add_toned(Tone::Strong, &format!("{}. {}", index + 1, row.slice_id));
            page.line(&format!(" — {} (priority {})", row.goal, row.priority.0));
            let unblocks = if row.unblocks.is_empty() {
                "(none)".to_owned()
            } else {
                row.unblocks.join(", ")
            };
            page.line(&format!(
                "   unblocks: {unblocks} · {} wait for it in all · longest chain {}",
                row.unblocks_all, row.chain
            ));
        }
        for slice in &self.waiting {
            let waits = slice.waits_for.join(", ");
            page.add_toned_line(
                Tone::Dim,
                &format!("   {} waits for {waits}", slice.slice_id),
            );
        }
    }
    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

pub(super) fn graph(context: &Context, form: GraphForm) -> Answer {
    let (_, snapshot) = context.workspace()?.require()?;
    answer(make_graph(&snapshot.plan, form))
}

/// The slices, and which waits for which.
pub(super) fn make_graph(plan: &Plan, form: GraphForm) -> GraphAnswer {
    let nodes = plan
        .candidate_slices
        .iter()
        .map(|slice| Node {
            slice_id: slice.slice_id.clone(),
            goal: slice.goal.clone(),
            status: slice.status,
        })
        .collect();
    let mut edges = Vec::new();
    for slice in &plan.candidate_slices {
        for dependency in slice
            .blocked_on
            .iter()
            .filter(|entry| plan.slice(entry).is_some())
        {
            edges.push(Edge {
                from: dependency.clone(),
                to: slice.slice_id.clone(),
            });
        }
    }
    GraphAnswer { nodes, edges, form }
}

pub(super) fn cost(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    answer(sum_cost(&store(&workspace)?.lines()?))
}

/// What the calls have cost, by role and agent.
pub(super) fn sum_cost(lines: &[CallRecord]) -> CostAnswer {
    let mut rows: BTreeMap<(String, String), CostRow> = BTreeMap::new();
    for line in lines {
        // Lines about refs that expired name no supplier.
        let Some(supplier) = line.supplier.as_deref() else {
            continue;
        };
        let answer = line.answer.clone().unwrap_or_default();
        let role = answer.role.as_deref().unwrap_or("-");
        let row = rows
            .entry((role.to_owned(), supplier.to_owned()))
            .or_insert_with(|| CostRow::new(role, supplier));
        row.calls += 1;
        row.failed += u64::from(line.error.is_some());
        row.milliseconds += answer.duration_ms;
        if let Some(tokens) = answer.usage.as_ref().and_then(tokens) {
            row.input_tokens += tokens.input;
            row.cached_tokens += tokens.cached;
            row.output_tokens += tokens.output;
        }
        match answer.cost_micro_usd {
            Some(micro) => row.micro_usd += micro,
            // A program that was never started cost nothing.
            None if answer.exit.is_none() && answer.duration_ms == 0 => {}
            None => row.unknown += 1,
        }
    }
    CostAnswer::of(rows.into_values().collect())
}
