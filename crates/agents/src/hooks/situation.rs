//! What an event is judged by, and which of it has to be measured for that event. Pure.

use super::command_line::{issue_call, segments};
use super::hook_event::{Event, Source};
use super::recovery::Recovery;
use super::session_state::SessionState;
use cook_protocol::model::hooks::{Kind, Row};
use cook_protocol::model::{Checkpoint, Policy, Role};
use cook_repo::git::MadeCommit;

/// The workflow, as the log has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workflow {
    /// Whether work goes on.
    pub policy: Policy,
    /// Who is due, as last written down.
    pub role: Option<Role>,
    /// The slice in work.
    pub slice: Option<String>,
    /// What that slice is expected to change.
    pub surfaces: Vec<String>,
    /// Changes when the work gets on: a commit, an accepted report, another
    /// policy or role, a criterion that was verified.
    pub progress: String,
}

/// Who is due now, measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// Whether work goes on.
    pub policy: Policy,
    /// The role; none when nobody is.
    pub role: Option<Role>,
    /// What it is to do.
    pub action: String,
    /// The exact command.
    pub command: String,
}

/// A tracker issue that was closed, and verified to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedIssue {
    /// Its id.
    pub id: String,
    /// What can start now: id and title.
    pub unblocked: Vec<String>,
}

/// Facts an event is judged by. What [`wants`] did not ask for may be left out.
#[derive(Debug, Clone, Default)]
pub struct Situation {
    /// Now, RFC 3339.
    pub now: String,
    /// Now, milliseconds since 1970.
    pub now_ms: i64,
    /// cook's own child: the role it was started for.
    pub child: Option<Option<Role>>,
    /// The workflow; none where none is set up.
    pub workflow: Option<Workflow>,
    /// The session owns the workflow.
    pub owner: bool,
    /// Another one does.
    pub held: bool,
    /// This agent's session around a call of cook took the workflow, and its environment did not say
    /// which one that is.
    pub taken: bool,
    /// This stop was handled already, while this delivery of it waited.
    pub again: bool,
    /// `cook run` drives: nobody owns the workflow.
    pub driven: bool,
    /// HEAD; of a goal what stands in the worktree.
    pub head: Option<String>,
    /// A goal is asked, also where the agent's own goal loop runs.
    pub goal: bool,
    /// What the person is to be told, where nothing holds the stop.
    pub told: Option<String>,
    /// Commits made since the session's last look, oldest first.
    pub commits: Vec<MadeCommit>,
    /// Entries of the trail since the session's last look.
    pub news: Vec<Checkpoint>,
    /// Length of the trail.
    pub trail: u64,
    /// The tool's paths inside the worktree, relative to it.
    pub paths: Vec<String>,
    /// Those of them that HEAD tracks.
    pub tracked: Vec<String>,
    /// An issue of this session's actor, as the tracker has it.
    pub claimed: Option<String>,
    /// Issues that the tool call closed.
    pub closed: Vec<ClosedIssue>,
    /// Uncommitted paths, when asked for; a tracker's own files are left out.
    pub dirty: Option<Vec<String>>,
    /// Who is due, when asked for.
    pub due: Option<Due>,
    /// The recovery message, when asked for.
    pub recovery: Option<Recovery>,
    /// First line of the assistant's last message, when asked for.
    pub last_line: Option<String>,
    /// The brief, when asked for and there is one.
    pub brief: Option<String>,
    /// The user is shown it too.
    pub show_brief: bool,
    /// Prompts are kept as they are; otherwise their digest is.
    pub keep_prompts: bool,
}

/// Facts that take longer, and whether this event needs them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wants {
    /// The recovery message's.
    pub recovery: bool,
    /// Who is due.
    pub due: bool,
    /// Whether the worktree is clean.
    pub dirty: bool,
    /// The transcript's end.
    pub last_line: bool,
    /// The brief, to be said.
    pub brief: bool,
}

/// Which of the slower facts an event needs, by what is remembered of the session.
pub fn wants(state: &SessionState, row: &Row, event: &Event) -> Wants {
    let starts = begins(state, event) || event.is_compaction();
    let loses = event.is_compaction() || has_shrunk(state, event);
    Wants {
        recovery: row.context && !event.subagent && (starts || state.pending.recovery),
        due: (event.kind == Kind::Stop && !event.subagent) || loses,
        dirty: loses
            || event.tool.as_ref().is_some_and(|tool| {
                let line = tool.command.as_deref().unwrap_or_default();
                segments(line)
                    .iter()
                    .any(|segment| matches!(issue_call(segment), Some(("close", _))))
            }),
        last_line: loses && event.last_message.is_none(),
        brief: row.context && !event.subagent && (state.pending.brief || goes_on(event)),
    }
}

/// A session begins: by its event, or by its first prompt where the agent sends no such event.
pub fn begins(state: &SessionState, event: &Event) -> bool {
    let first = event.kind == Kind::Prompt && !state.started;
    !event.subagent && (event.kind == Kind::SessionStart || first)
}

/// Since the agent tried to compact the context it holds clearly less. A request adds to it, and what
/// an agent leaves out of one beside that is little.
pub(super) fn has_shrunk(state: &SessionState, event: &Event) -> bool {
    const LEFT: f64 = 0.75;
    let held = state.attempted.zip(event.context_tokens);
    !event.subagent && held.is_some_and(|(before, now)| now < before * LEFT)
}

/// A session begins that has lost what it knew.
pub(super) fn goes_on(event: &Event) -> bool {
    event.kind == Kind::SessionStart && matches!(event.source, Source::Compact | Source::Resume)
}
