//! `cook next`, `cook next --why`: who is due.

use super::{Exit, Page, Show, Tone};
use cook_core::diagnostic::Finding;
use cook_core::machine::{Dispatch, Head, Rule, Trace, list_votes};
use cook_core::model::{ActiveSlice, ActiveStatus, Policy, Role, SchemaVersion, Snapshot};
use serde::Serialize;

/// `cook next`.
#[derive(Debug, Serialize)]
pub struct NextAnswer {
    /// Who is due.
    #[serde(flatten)]
    pub next: Dispatched,
    /// `--exit-code`.
    #[serde(skip)]
    pub exit_code: bool,
    /// HEAD or the worktree moved, and the role that is due may not have seen it.
    #[serde(skip)]
    pub needs_ticket: bool,
}

/// Votes that count at this HEAD, and how many are needed.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Judgments {
    have: usize,
    need: u64,
}

impl Judgments {
    pub(super) fn of(snapshot: Option<&Snapshot>, head: &Head) -> Self {
        Self {
            have: snapshot.map_or(0, |snapshot| list_votes(snapshot, head).count()),
            need: snapshot.map_or(0, |snapshot| snapshot.profile.required_stop_judges.0),
        }
    }
}

/// The mandatory role and all that is needed to play it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Dispatched {
    schema_version: SchemaVersion,
    #[serde(flatten)]
    dispatch: Dispatch,
    /// The slice in work.
    slice_id: Option<String>,
    /// The stop wave; 0 before the first.
    wave: u64,
    judgments: Judgments,
    /// `active-slice.json` as it stands, while a slice is in work.
    handoff: Option<ActiveSlice>,
    /// For `cook record --ticket`; null before `cook init`.
    ticket: Option<String>,
    #[serde(skip)]
    is_goal: bool,
}

impl Dispatched {
    /// `cook next --json` and every transition carry it.
    pub fn of(
        dispatch: Dispatch,
        snapshot: Option<&Snapshot>,
        head: &Head,
        ticket: Option<String>,
    ) -> Self {
        let active = snapshot.map(|snapshot| &snapshot.active);
        let handoff = active.filter(|active| is_in_work(active.status)).cloned();
        Self {
            schema_version: SchemaVersion,
            dispatch,
            slice_id: handoff.as_ref().and_then(|active| active.slice_id.clone()),
            wave: snapshot.map_or(0, |snapshot| snapshot.state.current_stop_wave_id.0),
            judgments: Judgments::of(snapshot, head),
            handoff,
            ticket,
            is_goal: snapshot.is_some_and(|snapshot| snapshot.goal().is_some()),
        }
    }

    /// What every answer about it prints.
    pub(super) fn lines(&self, page: &mut Page) {
        dispatch_lines(page, &self.dispatch, self.is_goal);
    }
}

fn is_in_work(status: ActiveStatus) -> bool {
    matches!(
        status,
        ActiveStatus::Selected | ActiveStatus::InProgress | ActiveStatus::Committed
    )
}

/// The command that plays the role, for a reader who has to type it.
fn find_command(dispatch: &Dispatch, is_goal: bool) -> Option<String> {
    match (dispatch.rule, dispatch.role) {
        (Rule::Implement, _) if is_goal => {
            Some("work on it and commit; `cook goal` asks its checks".to_owned())
        }
        (Rule::Stopped | Rule::Bootstrap, _) | (_, None) => None,
        // There is no prompt before they ran.
        _ if dispatch.waits_for_gates() => None,
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
pub(super) fn dispatch_lines(page: &mut Page, dispatch: &Dispatch, is_goal: bool) {
    let (tone, who) = match dispatch.role {
        Some(role) => (Tone::Strong, role.id().to_owned()),
        None => (
            Tone::Warn,
            match (is_goal, dispatch.policy) {
                (true, Policy::Done) => "nobody (goal_reached)".to_owned(),
                (_, policy) => format!("nobody ({})", describe_policy(policy)),
            },
        ),
    };
    page.add_toned(Tone::Dim, &format!("{:<10} ", "next"));
    page.add_toned(tone, &who);
    page.line(&format!("  (rule {})", dispatch.rule));
    page.row("do", &dispatch.action);
    page.row("because", &dispatch.reason);
    if let Some(command) = &dispatch.blocking_command {
        page.row("first run", command);
    }
    if dispatch.role.is_none() && dispatch.policy == Policy::Done {
        page.row("then", if is_goal { AFTER_GOAL } else { AFTER_DONE });
    }
}

/// What can be done with work that is done.
const AFTER_DONE: &str = "`cook verify --strict` proves it again, `cook push` lets anybody do so, `cook report --format pr` writes the \
     pull request; `cook plan refocus --mission TEXT` begins new work";

/// The same of a goal.
const AFTER_GOAL: &str = "`cook verify --rerun` asks its checks again, `cook push` lets anybody do so; `cook goal WORDS --check COMMAND` \
     sets another one";

impl Show for NextAnswer {
    fn human(&self, page: &mut Page) {
        let next = &self.next;
        next.lines(page);
        if let Some(active) = &next.handoff {
            let id = active.slice_id.as_deref().unwrap_or_default();
            let goal = active.goal.as_deref().unwrap_or_default();
            page.row("slice", &format!("{id} — {goal}"));
        }
        if matches!(next.dispatch.rule, Rule::Judge | Rule::Conclude) {
            let Judgments { have, need } = next.judgments;
            page.row("votes", &format!("{have} of {need} in wave {}", next.wave));
        }
        if let Some(command) = find_command(&next.dispatch, next.is_goal) {
            // Without it a report is refused that nothing ties to this HEAD and worktree.
            let ticket = next.ticket.as_ref().filter(|_| self.needs_ticket);
            let ticket = ticket.map_or_else(String::new, |ticket| format!(" --ticket {ticket}"));
            page.row("how", &format!("{command}{ticket}"));
        }
    }

    fn findings(&self) -> &[Finding] {
        &self.next.dispatch.findings
    }

    fn exit(&self) -> Exit {
        if self.exit_code {
            Exit::of_policy(self.next.dispatch.policy)
        } else {
            Exit::Ok
        }
    }
}

/// A text as it is, for a file or another program.
#[derive(Debug, Serialize)]
pub struct PromptAnswer(pub String);

impl Show for PromptAnswer {
    fn human(&self, page: &mut Page) {
        page.verbatim(&self.0);
    }

    fn has_json(&self) -> bool {
        false
    }
}

/// The prompt of the role that is due, as it goes to an agent.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RolePromptAnswer {
    /// The whole prompt.
    pub prompt: String,
    /// Its bytes; four of them are about a token.
    pub bytes: usize,
}

impl From<String> for RolePromptAnswer {
    fn from(prompt: String) -> Self {
        Self {
            bytes: prompt.len(),
            prompt,
        }
    }
}

impl Show for RolePromptAnswer {
    fn human(&self, page: &mut Page) {
        page.verbatim(&self.prompt);
    }
}

/// The rules in order, with what each one saw.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhyAnswer {
    rules: Vec<Asked>,
    /// The dispatch rule.
    rule: Rule,
    /// The role that is due; null when nobody is.
    role: Option<Role>,
    findings: Vec<Finding>,
    #[serde(skip)]
    dispatch: Dispatch,
    #[serde(skip)]
    is_goal: bool,
}

/// What one rule looked at and whether it answered.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Asked {
    question: &'static str,
    #[serde(flatten)]
    trace: Trace,
}

impl WhyAnswer {
    /// What each rule saw, and what came of it.
    pub fn of(traces: Vec<Trace>, mut dispatch: Dispatch, is_goal: bool) -> Self {
        let asked = |trace: Trace| Asked {
            question: trace.rule.question(),
            trace,
        };
        Self {
            rules: traces.into_iter().map(asked).collect(),
            rule: dispatch.rule,
            role: dispatch.role,
            findings: std::mem::take(&mut dispatch.findings),
            dispatch,
            is_goal,
        }
    }
}

impl Show for WhyAnswer {
    fn human(&self, page: &mut Page) {
        for Asked { question, trace } in &self.rules {
            let (tone, mark) = match trace.fired {
                Some(true) => (Tone::Good, "→"),
                Some(false) => (Tone::Dim, "·"),
                None => (Tone::Dim, " "),
            };
            page.add_toned_line(tone, &format!("{mark} {}  {question}", trace.rule));
            if trace.fired.is_some() {
                page.line(&format!("     {}", trace.saw));
            }
        }
        page.newline();
        dispatch_lines(page, &self.dispatch, self.is_goal);
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}
