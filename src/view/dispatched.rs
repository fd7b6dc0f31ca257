//! Who is due: a part of every answer of a command that moves state.

use super::{Page, Tone};
use cook_protocol::machine::{Dispatch, Head, list_votes};
use cook_protocol::model::{ActiveSlice, ActiveStatus, Policy, SchemaVersion, Snapshot};
use serde::Serialize;

/// Votes that count at this HEAD, and how many are needed.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Judgments {
    pub have: usize,
    pub need: u64,
}

impl Judgments {
    pub(crate) fn of(snapshot: Option<&Snapshot>, head: &Head) -> Self {
        Self {
            have: snapshot.map_or(0, |snapshot| list_votes(snapshot, head).count()),
            need: snapshot.map_or(0, |snapshot| snapshot.profile.required_stop_judges.0),
        }
    }
}

/// The mandatory role and all that is needed to play it.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Dispatched {
    schema_version: SchemaVersion,
    #[serde(flatten)]
    pub dispatch: Dispatch,
    /// The slice in work.
    pub slice_id: Option<String>,
    /// The stop wave; 0 before the first.
    pub wave: u64,
    pub judgments: Judgments,
    /// `active-slice.json` as it stands, while a slice is in work.
    pub handoff: Option<ActiveSlice>,
    /// For `cook record --ticket`; null before `cook init`.
    pub ticket: Option<String>,
    #[serde(skip)]
    pub is_goal: bool,
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
        let is_in_work = |active: &&ActiveSlice| {
            use ActiveStatus::{Committed, InProgress, Selected};
            matches!(active.status, Selected | InProgress | Committed)
        };
        let handoff = active.filter(is_in_work).cloned();
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
    pub(crate) fn lines(&self, page: &mut Page) {
        dispatch_lines(page, &self.dispatch, self.is_goal);
    }
}

/// A policy in words.
pub(crate) fn describe_policy(policy: Policy) -> &'static str {
    match policy {
        Policy::Continue => "the work goes on",
        Policy::AwaitUserInput => "the work waits for you",
        Policy::Blocked => "the work is blocked",
        Policy::Paused => "the work is paused",
        Policy::Done => "the work is done",
    }
}

/// What every answer about dispatch prints.
pub(crate) fn dispatch_lines(page: &mut Page, dispatch: &Dispatch, is_goal: bool) {
    let (tone, who) = match (dispatch.role, dispatch.policy) {
        (Some(role), _) => (Tone::Strong, role.id().to_owned()),
        (None, Policy::Done) if is_goal => (Tone::Warn, "nobody (goal_reached)".to_owned()),
        (None, policy) => (Tone::Warn, format!("nobody ({})", describe_policy(policy))),
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
