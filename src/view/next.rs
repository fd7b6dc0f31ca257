//! `cook next`, `cook why`: who is due.

use super::{Exit, Page, Show, Tone, to_json};
use cook_core::diagnostic::Finding;
use cook_core::machine::{Dispatch, Head, Rule, Trace, votes_at};
use cook_core::model::{ActiveSlice, ActiveStatus, Phase, Policy, Role, SchemaVersion, Snapshot};
use serde::Serialize;
use serde_json::{Value, json};

/// The mandatory role, with all that is needed to play it.
#[derive(Debug)]
pub struct NextAnswer {
    /// What `dispatch` says.
    pub dispatch: Dispatch,
    /// The documents, when there is a log.
    pub snapshot: Option<Snapshot>,
    /// HEAD.
    pub head: Head,
    /// For `cook record --ticket`; none without a log.
    pub ticket: Option<String>,
    /// `--exit-code`.
    pub exit_code: bool,
}

impl NextAnswer {
    fn in_work(&self) -> Option<&Snapshot> {
        let snapshot = self.snapshot.as_ref();
        snapshot.filter(|snapshot| is_in_work(snapshot.active.status))
    }

    fn slice_id(&self) -> Option<&str> {
        self.in_work()
            .and_then(|snapshot| snapshot.active.slice_id.as_deref())
    }
}

/// Votes that count at this HEAD, and how many are needed.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Judgments {
    have: usize,
    need: u64,
}

impl Judgments {
    pub(super) fn of(snapshot: Option<&Snapshot>, head: &Head) -> Self {
        Self {
            have: snapshot.map_or(0, |snapshot| votes_at(snapshot, head).count()),
            need: snapshot.map_or(0, |snapshot| snapshot.profile.required_stop_judges.0),
        }
    }
}

/// The mandatory role and all that is needed to play it.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Dispatched<'a> {
    schema_version: SchemaVersion,
    /// The dispatch rule.
    rule: Rule,
    /// The role that is due; null when nobody is.
    role: Option<Role>,
    phase: Phase,
    policy: Policy,
    /// What the role has to do.
    action: &'a str,
    /// Why the rule answers.
    reason: &'a str,
    /// The slice in work.
    slice_id: Option<&'a str>,
    /// The stop wave; 0 before the first.
    wave: u64,
    judgments: Judgments,
    /// The command to run first.
    blocking_command: Option<&'a str>,
    findings: &'a [Finding],
    /// `active-slice.json` as it stands, while a slice is in work.
    handoff: Option<&'a ActiveSlice>,
    /// For `cook record --ticket`; null before `cook init`.
    ticket: Option<&'a str>,
}

impl<'a> Dispatched<'a> {
    /// `cook next --json` and every transition carry it.
    pub(super) fn of(
        dispatch: &'a Dispatch,
        snapshot: Option<&'a Snapshot>,
        head: &Head,
        ticket: Option<&'a str>,
    ) -> Self {
        let active = snapshot.map(|snapshot| &snapshot.active);
        let handoff = active.filter(|active| is_in_work(active.status));
        Self {
            schema_version: SchemaVersion,
            rule: dispatch.rule,
            role: dispatch.role,
            phase: dispatch.phase,
            policy: dispatch.policy,
            action: &dispatch.action,
            reason: &dispatch.reason,
            slice_id: handoff.and_then(|active| active.slice_id.as_deref()),
            wave: snapshot.map_or(0, |snapshot| snapshot.state.current_stop_wave_id.0),
            judgments: Judgments::of(snapshot, head),
            blocking_command: dispatch.blocking_command.as_deref(),
            findings: &dispatch.findings,
            handoff,
            ticket,
        }
    }
}

fn is_in_work(status: ActiveStatus) -> bool {
    matches!(
        status,
        ActiveStatus::Selected | ActiveStatus::InProgress | ActiveStatus::Committed
    )
}

/// The command that plays the role, for a reader who has to type it.
fn command_for(dispatch: &Dispatch) -> Option<String> {
    match (dispatch.rule, dispatch.role) {
        (Rule::Stopped | Rule::Bootstrap, _) | (_, None) => None,
        (_, Some(Role::Bootstrapper)) => None,
        (_, Some(role)) => Some(format!(
            "cook next --prompt > .agent/tmp/prompt.txt, let an agent answer it, cook record {} .agent/tmp/report.txt",
            role.short()
        )),
    }
}

/// A policy in words.
pub(super) fn describe_policy(policy: Policy) -> &'static str {
    match policy {
        Policy::Continue => "the work goes on",
        Policy::AwaitUserInput => "the work waits for you",
        Policy::Blocked => "the work is blocked",
        Policy::Paused => "the work is paused",
        Policy::Done => "the work is done",
    }
}

/// What every answer about dispatch prints.
pub(super) fn dispatch_lines(page: &mut Page, dispatch: &Dispatch) {
    let (tone, who) = match dispatch.role {
        Some(role) => (Tone::Strong, role.id().to_owned()),
        None => (
            Tone::Warn,
            format!("nobody ({})", describe_policy(dispatch.policy)),
        ),
    };
    page.toned(Tone::Dim, &format!("{:<10} ", "next"));
    page.toned(tone, &who);
    page.line(&format!("  (rule {})", dispatch.rule));
    page.row("do", &dispatch.action);
    page.row("because", &dispatch.reason);
    if let Some(command) = &dispatch.blocking_command {
        page.row("first run", command);
    }
}

impl Show for NextAnswer {
    fn human(&self, page: &mut Page) {
        dispatch_lines(page, &self.dispatch);
        if let Some(snapshot) = self.in_work() {
            let goal = snapshot.active.goal.as_deref().unwrap_or_default();
            page.row(
                "slice",
                &format!("{} — {goal}", self.slice_id().unwrap_or_default()),
            );
        }
        if let Some(snapshot) = self
            .snapshot
            .as_ref()
            .filter(|_| matches!(self.dispatch.rule, Rule::Judge | Rule::Conclude))
        {
            let have = votes_at(snapshot, &self.head).count();
            let need = snapshot.profile.required_stop_judges.0;
            page.row(
                "votes",
                &format!(
                    "{have} of {need} in wave {}",
                    snapshot.state.current_stop_wave_id.0
                ),
            );
        }
        if let Some(command) = command_for(&self.dispatch) {
            page.row("how", &command);
        }
    }

    fn json(&self) -> Value {
        json!(Dispatched::of(
            &self.dispatch,
            self.snapshot.as_ref(),
            &self.head,
            self.ticket.as_deref(),
        ))
    }

    fn findings(&self) -> &[Finding] {
        &self.dispatch.findings
    }

    fn exit(&self) -> Exit {
        if self.exit_code {
            Exit::of_policy(self.dispatch.policy)
        } else {
            Exit::Ok
        }
    }
}

/// A prompt, as it goes to an agent.
#[derive(Debug)]
pub struct PromptAnswer(pub String);

impl Show for PromptAnswer {
    fn human(&self, page: &mut Page) {
        page.verbatim(&self.0);
    }

    fn json(&self) -> Value {
        Value::String(self.0.clone())
    }

    fn has_json(&self) -> bool {
        false
    }
}

/// The rules in order, with what each one saw.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Explained<'a> {
    rules: Vec<Asked<'a>>,
    /// The dispatch rule.
    rule: Rule,
    /// The role that is due; null when nobody is.
    role: Option<Role>,
    findings: &'a [Finding],
}

/// What one rule looked at and whether it answered.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Asked<'a> {
    rule: Rule,
    question: &'a str,
    /// Null when an earlier rule answered.
    fired: Option<bool>,
    saw: &'a str,
}

/// The rules in order.
#[derive(Debug)]
pub struct WhyAnswer {
    /// What each rule saw.
    pub traces: Vec<Trace>,
    /// What came of it.
    pub dispatch: Dispatch,
}

impl Show for WhyAnswer {
    fn human(&self, page: &mut Page) {
        for trace in &self.traces {
            let (tone, mark) = match trace.fired {
                Some(true) => (Tone::Good, "→"),
                Some(false) => (Tone::Dim, "·"),
                None => (Tone::Dim, " "),
            };
            page.toned(
                tone,
                &format!("{mark} {}  {}", trace.rule, trace.rule.question()),
            );
            page.newline();
            if trace.fired.is_some() {
                page.line(&format!("     {}", trace.saw));
            }
        }
        page.newline();
        dispatch_lines(page, &self.dispatch);
    }

    fn json(&self) -> Value {
        let traces = self.traces.iter();
        to_json(&Explained {
            rules: traces
                .map(|trace| Asked {
                    rule: trace.rule,
                    question: trace.rule.question(),
                    fired: trace.fired,
                    saw: &trace.saw,
                })
                .collect(),
            rule: self.dispatch.rule,
            role: self.dispatch.role,
            findings: &self.dispatch.findings,
        })
    }

    fn findings(&self) -> &[Finding] {
        &self.dispatch.findings
    }
}
