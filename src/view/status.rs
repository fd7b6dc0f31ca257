//! `cook status`: where the work stands.

use super::judges::JudgedView;
use super::next::{Judgments, dispatch_lines};
use super::{Page, Show, Tone};
use crate::judges::Judged;
use cook_core::diagnostic::{Finding, count_noun};
use cook_core::machine::{Dispatch, Head, Rule, current_audit, current_review, list_votes};
use cook_core::model::{
    Amendment, Assurance, Blocker, Evidence, Limits, Phase, Plan, Policy, Role, Slice, SliceStatus,
    Snapshot, Waiting,
};
use serde::{Serialize, Serializer};

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
