//! What cook does with an event. Pure: session state and measured facts in,
//! session state, effects and trail entries out.
//!
//! Invariants: an event that was handled already changes nothing but may be
//! refused again; nothing is said that the event cannot carry, it waits; a
//! sub-agent gets the guard and nothing else; a session that does not own the
//! workflow gets the recovery message and nothing else.

use super::agent::Agent;
use super::event::{Action, Effects, Event, Prompt, Source};
use super::recovery::{Recovery, data, shortened};
use super::shell::{Segment, segments};
use super::state::{BLOCKS, CONTEXT_LIMIT, HeadSeen, NUDGE_AFTER, SessionState, Since};
use super::{guard, summary};
use cook_core::diagnostic::{Lines, clean, redacted};
use cook_core::digest::sha256;
use cook_core::model::hooks::{Gate, Kind, Row, SendOn};
use cook_core::model::{
    Checkpoint, CheckpointKind, MAX_CHECKPOINT_TEXT, PROMPT_DIGEST, PROMPT_ID, Policy, Role,
    SchemaVersion, Timestamp,
};
use cook_git::MadeCommit;

/// Bytes that cook adds to a context at once: what goes beyond is cut by the agent
/// with the smallest limit.
const INLINE: usize = 10_000;

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
    /// `cook run` drives: nobody owns the workflow.
    pub driven: bool,
    /// HEAD.
    pub head: Option<String>,
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

/// What came of an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The session now.
    pub state: SessionState,
    /// What to say.
    pub effects: Effects,
    /// What to append to the trail.
    pub entries: Vec<Checkpoint>,
    /// The session becomes the workflow's owner.
    pub takes: bool,
    /// It stops being it.
    pub leaves: bool,
}

/// Which of the slower facts an event needs, by what is remembered of the session.
pub fn wants(state: &SessionState, row: &Row, event: &Event) -> Wants {
    let starts = matches!(event.kind, Kind::SessionStart | Kind::BeforeCompact);
    Wants {
        recovery: row.context && !event.subagent && (starts || state.pending.recovery),
        due: (event.kind == Kind::Stop && !event.subagent) || event.kind == Kind::BeforeCompact,
        dirty: event.kind == Kind::BeforeCompact
            || event.tool.as_ref().is_some_and(|tool| {
                let line = tool.command.as_deref().unwrap_or_default();
                segments(line)
                    .iter()
                    .any(|segment| matches!(issue_call(segment), Some(("close", _))))
            }),
        last_line: event.kind == Kind::BeforeCompact && event.last_message.is_none(),
        brief: row.context && !event.subagent && (state.pending.brief || goes_on(event)),
    }
}

/// A session begins that has lost what it knew.
fn goes_on(event: &Event) -> bool {
    event.kind == Kind::SessionStart && matches!(event.source, Source::Compact | Source::Resume)
}

/// The first word of a tracker's command line.
pub fn tracker_word(segment: &Segment) -> Option<&str> {
    ["br", "bd"]
        .contains(&segment.program.as_str())
        .then(|| segment.subcommand().map(|(word, _)| word))
        .flatten()
}

/// What a command line asks of the tracker, directly or through `cook issue`: the
/// word, and the words behind it.
pub fn issue_call(segment: &Segment) -> Option<(&str, &[String])> {
    let (word, rest) = segment.subcommand()?;
    match (segment.program.as_str(), word) {
        ("br" | "bd", word) => Some((word, rest)),
        ("cook", "issue") => {
            let at = rest.iter().position(|word| !word.starts_with('-'))?;
            Some((&rest[at], &rest[at + 1..]))
        }
        _ => None,
    }
}

/// Handles one event.
pub fn step(agent: Agent, state: SessionState, event: &Event, facts: &Situation) -> Outcome {
    let Some(row) = agent.row(event.native) else {
        return Step::new(agent, state, event, facts).done();
    };
    let mut step = Step::new(agent, state, event, facts);
    step.state.seen_ms = facts.now_ms;
    step.state.called_ms = facts.now_ms;
    let (key, has_id) = delivery(event);
    let twin = step.state.is_twin(&key, has_id, facts.now_ms);
    step.guard();
    if twin {
        step.repeat(row);
        return step.done();
    }
    step.follow_item();
    step.link_commits();
    step.read_trail();
    step.tool_effects();
    step.count_turn();
    if facts.child.is_some() {
        return step.done();
    }
    step.lifecycle();
    if !event.subagent {
        step.stop_gate(row);
        step.say(row);
    }
    step.done()
}

/// What makes two deliveries one, and whether the agent itself says so.
fn delivery(event: &Event) -> (String, bool) {
    match event.tool.as_ref().and_then(|tool| tool.id.as_ref()) {
        Some(id) => (format!("{:?}:{}:{id}", event.kind, event.subagent), true),
        None => (format!("{}:{}", event.native, event.digest), false),
    }
}

struct Step<'a> {
    agent: Agent,
    state: SessionState,
    event: &'a Event,
    facts: &'a Situation,
    effects: Effects,
    entries: Vec<Checkpoint>,
    takes: bool,
    leaves: bool,
}

impl<'a> Step<'a> {
    fn new(agent: Agent, state: SessionState, event: &'a Event, facts: &'a Situation) -> Self {
        let mut state = state;
        state.agent = agent.name().to_owned();
        state.session.clone_from(&event.session);
        Self {
            agent,
            state,
            event,
            facts,
            effects: Effects::default(),
            entries: Vec::new(),
            takes: false,
            leaves: false,
        }
    }

    fn done(self) -> Outcome {
        Outcome {
            state: self.state,
            effects: self.effects,
            entries: self.entries,
            takes: self.takes,
            leaves: self.leaves,
        }
    }

    /// The session works for the workflow, or without one for an issue it claimed.
    fn owns(&self) -> bool {
        match &self.facts.workflow {
            Some(_) => (self.facts.owner || self.takes) && !self.facts.driven,
            None => self.state.claimed || self.state.found,
        }
    }

    /// Refuses what the role may not do; a sub-agent's calls too.
    fn guard(&mut self) {
        if self.event.kind != Kind::BeforeTool {
            return;
        }
        let role = match (self.facts.child, &self.facts.workflow) {
            (Some(role), _) => role,
            (None, Some(workflow)) if self.owns() && workflow.policy == Policy::Continue => {
                workflow.role
            }
            _ => None,
        };
        self.effects.deny = self
            .event
            .tool
            .as_ref()
            .and_then(|tool| guard::refusal(role, tool, self.facts));
    }

    /// A second delivery: a refusal is repeated, nothing else is said or counted.
    fn repeat(&mut self, row: &Row) {
        if row.gate == Gate::Block && self.state.stop.blocks > 0 && self.owns() {
            self.effects.block.clone_from(&self.state.stop.reason);
        }
    }

    /// The session's own claim, else the slice in work, else what the tracker had in
    /// work for this actor when the session began.
    fn follow_item(&mut self) {
        if let Some(issue) = &self.facts.claimed {
            if self.state.claim(issue) {
                self.claimed(issue.clone());
            }
            return;
        }
        if self.state.claimed {
            return;
        }
        let workflow = self.facts.workflow.as_ref();
        let in_work = self.facts.recovery.as_ref().and_then(|r| r.item.as_ref());
        if let Some(slice) = workflow.and_then(|workflow| workflow.slice.as_deref()) {
            self.state.work_on(Some(slice));
            self.state.found = false;
        } else if let Some(issue) = in_work.filter(|item| item.is_issue) {
            self.state.work_on(Some(&issue.id));
            self.state.found = true;
        } else if !self.state.found {
            self.state.work_on(None);
        }
    }

    /// Tells this event from one that says the same at another time.
    fn key(&self) -> String {
        let digest: String = self.event.digest.chars().take(16).collect();
        format!("{digest}-{}", self.facts.now_ms)
    }

    fn claimed(&mut self, issue: String) {
        let id = format!("claim:{}:{}", shortened(&issue, 40), self.key());
        self.entry(CheckpointKind::Claim, id, format!("claim: {issue}"), None);
    }

    fn entry(&mut self, kind: CheckpointKind, id: String, text: String, commit: Option<String>) {
        self.entries.push(Checkpoint {
            id,
            schema_version: SchemaVersion,
            at: Timestamp::from(self.facts.now.as_str()),
            kind,
            text,
            item: self.state.item.clone(),
            session: Some(self.event.session.clone()),
            agent: Some(self.agent.name().to_owned()),
            commit,
        });
    }

    /// One entry per commit, whoever made it; a commit is a checkpoint.
    fn link_commits(&mut self) {
        let slice = self.facts.workflow.as_ref().and_then(|w| w.slice.clone());
        for commit in &self.facts.commits {
            let short: String = commit.id.chars().take(7).collect();
            let subject = data(&commit.subject, 200);
            let text = format!("commit: {short} {subject}");
            let id = format!("commit:{}", commit.id);
            self.entry(CheckpointKind::Commit, id, text, Some(commit.id.clone()));
            self.state.committed(format!("{short} {subject}"));
            for path in &commit.paths {
                self.state.edited(path);
            }
            if slice.is_some() && commit.slice == slice && self.facts.child.is_none() {
                self.takes = true;
            }
        }
        if !self.facts.commits.is_empty() && !self.event.subagent {
            self.state.checkpointed();
        }
        self.state.head = Some(HeadSeen {
            commit: self.facts.head.clone(),
        });
    }

    /// Checkpoints that came by another way: a command of the agent's, or the user.
    fn read_trail(&mut self) {
        let mine = |entry: &&Checkpoint| {
            let session = entry.session.as_deref();
            let other = session.is_some_and(|session| session != self.event.session)
                || entry.kind == CheckpointKind::Prompt;
            !other || (entry.item.is_some() && entry.item == self.state.item)
        };
        let texts: Vec<String> = self
            .facts
            .news
            .iter()
            .filter(mine)
            .map(|e| e.text.clone())
            .collect();
        if !texts.is_empty() {
            self.state.checkpointed();
        }
        for text in texts {
            self.state.noted(data(&text, 200));
        }
        self.state.trail = Some(self.facts.trail);
    }

    /// Files, gates, claims and closes that a tool call shows.
    fn tool_effects(&mut self) {
        let Some(tool) = self
            .event
            .tool
            .as_ref()
            .filter(|_| self.event.kind == Kind::AfterTool)
        else {
            return;
        };
        if tool.action == Action::Edit && !tool.failed {
            for path in &self.facts.paths {
                self.state.edited(path);
            }
        }
        for segment in segments(tool.command.as_deref().unwrap_or_default()) {
            if segment.is_cook("gate") {
                let names = segment.words.join(" ");
                self.state.ran_gate(data(&format!("cook {names}"), 80));
            }
            let takes = segment.is_cook("record")
                || (segment.is_cook("next") && segment.words.iter().any(|word| word == "--take"));
            if takes && !tool.failed && !self.event.subagent && self.facts.child.is_none() {
                self.takes = true;
            }
            let comments = matches!(issue_call(&segment), Some(("comments" | "comment", _)));
            // With a workflow the trail itself shows it.
            let keeps = segment.is_cook("checkpoint") && self.facts.workflow.is_none();
            if (comments || keeps) && !tool.failed && !self.event.subagent {
                self.state.checkpointed();
            }
        }
        for closed in &self.facts.closed {
            self.closed(closed);
        }
    }

    /// After a verified close: the file list, once, and what can be done next.
    fn closed(&mut self, closed: &ClosedIssue) {
        if !self.state.close(&closed.id) {
            return;
        }
        let files = self.state.files.remove(&closed.id).unwrap_or_default();
        if !files.is_empty() {
            let id = format!("files:{}:{}", shortened(&closed.id, 40), self.key());
            let text = format!("Files modified: {}", summary::file_list(&files));
            let item = self.state.item.replace(closed.id.clone());
            self.entry(CheckpointKind::Files, id, text, None);
            self.state.item = item;
        }
        let pending = self.state.pending.go_on.get_or_insert_default();
        summary::closed(closed, self.facts.dirty.as_deref(), pending);
    }

    fn count_turn(&mut self) {
        if self.event.subagent {
            return;
        }
        let over = match (self.event.kind, self.agent.reports_turns()) {
            (Kind::TurnEnd, true) => true,
            (Kind::AfterTool, false) => {
                let named = self.event.turn.is_some();
                let again = named && self.event.turn == self.state.turn;
                self.state.turn.clone_from(&self.event.turn);
                !again
            }
            _ => false,
        };
        if over {
            self.state.turns += 1;
        }
        if self.owns() && self.state.turns >= self.state.nudged + NUDGE_AFTER {
            self.state.nudged = self.state.turns;
            self.state.pending.nudge = Some(self.state.turns);
            let notice = format!("cook: {} turns without a checkpoint", self.state.turns);
            self.state.pending.notices.push(notice);
        }
    }

    /// Starts, compactions, how full the context is, the end.
    fn lifecycle(&mut self) {
        if let Some(percent) = self.event.context_percent.filter(|_| !self.event.subagent) {
            self.state.context_percent = Some(percent);
        }
        match self.event.kind {
            Kind::SessionStart => {
                self.state.pending.recovery = true;
                self.state.pending.brief |= goes_on(self.event);
                if matches!(self.event.source, Source::Compact | Source::Clear) {
                    self.new_window();
                }
            }
            Kind::BeforeCompact => {
                self.auto_checkpoint();
                self.state.pending.recovery = true;
                self.state.pending.brief = true;
                self.new_window();
            }
            Kind::AfterCompact => {
                self.state.pending.recovery = true;
                self.state.pending.brief = true;
                self.new_window();
            }
            Kind::Prompt => self.keep_prompt(),
            Kind::SessionEnd => self.leaves = true,
            _ => {}
        }
        let full = self
            .state
            .context_percent
            .is_some_and(|p| p >= CONTEXT_LIMIT);
        if full && !self.state.warned && self.owns() && self.event.kind != Kind::BeforeCompact {
            self.state.warned = true;
            self.state.pending.warning = true;
            let percent = self.state.context_percent.unwrap_or(CONTEXT_LIMIT);
            let notice = format!("cook: the context is {percent:.0} % full");
            self.state.pending.notices.push(notice);
        }
    }

    /// What the user typed becomes a message that anchors can quote. Prompts that are
    /// cook's own words coming back, and those that nobody says were typed, do not.
    fn keep_prompt(&mut self) {
        let typed = |prompt: &&Prompt| prompt.typed == Some(true);
        let Some(prompt) = self.event.prompt.as_ref().filter(typed) else {
            return;
        };
        let text = clean(&prompt.text, Lines::Keep);
        let text = text.trim();
        let is_ours = text.starts_with("cook: ")
            || self.state.stop.reason.as_deref().map(str::trim) == Some(text);
        if text.is_empty() || is_ours || self.event.subagent || self.facts.workflow.is_none() {
            return;
        }
        let kept = match self.facts.keep_prompts {
            true => shortened(&redacted(text), MAX_CHECKPOINT_TEXT),
            false => {
                let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
                format!("{PROMPT_DIGEST}{}", sha256(folded))
            }
        };
        let name = sha256(self.key());
        let id = format!("{PROMPT_ID}{}", &name[..12]);
        // It belongs to the session, whatever the session works on.
        let item = self.state.item.take();
        self.entry(CheckpointKind::Prompt, id, kept, None);
        self.state.item = item;
    }

    fn new_window(&mut self) {
        self.state.warned = false;
        self.state.context_percent = None;
        self.state.pending.warning = false;
    }

    /// What would be lost with the context, kept before it is.
    fn auto_checkpoint(&mut self) {
        if self.state.item.is_none() || !self.state.has_news() || self.event.subagent {
            return;
        }
        // What a shell edited shows only now.
        for path in self.facts.dirty.iter().flatten() {
            self.state.edited(path);
        }
        let command = self.facts.due.as_ref().map(|due| due.command.as_str());
        let last = self
            .event
            .last_message
            .as_deref()
            .and_then(summary::first_line);
        let next = last.or(self.facts.last_line.clone());
        let text = summary::auto(&self.state, next.as_deref(), command);
        let id = format!("auto:{}", self.key());
        self.entry(CheckpointKind::Auto, id, text, None);
        self.state.since = Since::default();
        self.state.checkpointed();
    }

    /// Keeps an owning session at work while the policy says so.
    fn stop_gate(&mut self, row: &Row) {
        if self.event.kind != Kind::Stop || row.gate != Gate::Block {
            return;
        }
        let go_on = &mut self.state.pending.go_on;
        if let Some(go_on) = go_on.take_if(|_| self.facts.workflow.is_none()) {
            self.effects.block = Some(summary::go_on(&go_on));
            return;
        }
        let (Some(due), Some(workflow)) = (&self.facts.due, &self.facts.workflow) else {
            return;
        };
        let Some(role) = due
            .role
            .filter(|_| due.policy == Policy::Continue && self.owns())
        else {
            return;
        };
        if self.event.goal_loop {
            if !self.state.stop.stepped_back {
                self.state.stop.stepped_back = true;
                let notice = "cook: the agent's own goal loop is running, so cook does not hold it";
                self.state.pending.notices.push(notice.to_owned());
            }
            return;
        }
        if self.state.stop.progress != workflow.progress {
            self.state.stop.progress.clone_from(&workflow.progress);
            self.state.stop.blocks = 0;
        }
        self.state.stop.blocks += 1;
        match self.state.stop.blocks {
            n if n <= BLOCKS => self.block(role, due),
            n if n == BLOCKS + 1 => self.release(role),
            _ => self.state.stop.blocks = BLOCKS + 1,
        }
    }

    fn block(&mut self, role: Role, due: &Due) {
        let mut reason = format!(
            "cook: the work is not done. {role} is due: {}. Run: {}",
            data(&due.action, 400),
            data(&due.command, 400)
        );
        if let Some(more) = self.state.pending.go_on.take() {
            reason.push('\n');
            reason.push_str(&summary::go_on(&more));
        }
        self.state.stop.reason = Some(reason.clone());
        self.effects.block = Some(reason);
    }

    fn release(&mut self, role: Role) {
        self.state.stop.reason = None;
        let text = format!(
            "The session stopped although {role} is due: {BLOCKS} refused stops in a row brought no progress."
        );
        let id = format!("released:{}", self.key());
        self.entry(CheckpointKind::Released, id, text.clone(), None);
        self.state.pending.notices.push(format!("cook: {text}"));
    }

    /// What waited, as far as this event carries it.
    fn say(&mut self, row: &Row) {
        let owns = self.owns();
        let sent_on_at_stop = self.stops_are_gated();
        if row.context {
            let mut parts = Vec::new();
            if self.state.pending.recovery
                && let Some(recovery) = &self.facts.recovery
            {
                self.state.pending.recovery = false;
                let message = recovery.render();
                if std::mem::take(&mut self.state.pending.brief)
                    && let Some(brief) = &self.facts.brief
                {
                    let room = INLINE - message.len();
                    parts.push(format!("{message}\n\n{}", summary::beside(brief, room)));
                    if self.facts.show_brief {
                        self.state.pending.notices.push(brief.clone());
                    }
                } else {
                    parts.push(message);
                }
            }
            let pending = &mut self.state.pending;
            if owns && std::mem::take(&mut pending.warning) {
                let percent = self.state.context_percent.unwrap_or(CONTEXT_LIMIT);
                parts.push(summary::warning(percent));
            }
            if let Some(turns) = pending.nudge.take().filter(|_| owns) {
                parts.push(summary::nudge(turns));
            }
            let carries = owns || self.facts.workflow.is_none();
            if carries && !sent_on_at_stop {
                parts.extend(pending.go_on.take().as_ref().map(summary::go_on));
            }
            if !parts.is_empty() {
                self.effects.context = Some(parts.join("\n\n"));
            }
        }
        if row.notice && !self.state.pending.notices.is_empty() {
            let notices = std::mem::take(&mut self.state.pending.notices);
            self.effects.notice = Some(notices.join("\n"));
        }
    }

    /// The agent's stop can be refused, so that is where a session is sent on.
    fn stops_are_gated(&self) -> bool {
        self.agent.hooks().send_on == SendOn::AtStop
            && self.agent.rows().iter().any(|row| row.gate == Gate::Block)
    }
}
