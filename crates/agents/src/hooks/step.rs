//! The handling of an event. Pure: the input is the session state and measured facts, the output is the new session
//! state, effects and trail entries.
//!
//! Invariants: an event that was handled already changes nothing, but may be refused again (a stop counts as handled
//! only if it was handled while this delivery of it waited); a message that the event cannot carry waits for one that
//! can; a sub-agent is only guarded; a session that does not own the workflow gets only the recovery message.

use super::command_line::{issue_call, segments};
use super::hook_event::{Action, Agent, Effects, Event, Prompt, Source, Tool};
use super::recovery::{data, shorten};
use super::session_state::{
    BLOCKS, CONTEXT_LIMIT, ClosedIssue, Due, GoOn, HeadSeen, NUDGE_AFTER, SessionState, Since,
    Situation, Stop, begins, goes_on, has_shrunk, remember,
};
use cook_protocol::diagnostic::{Lines, clean, redact};
use cook_protocol::digest::sha256;
use cook_protocol::model::hook_table::{Gate, Kind, Row, SendOn};
use cook_protocol::model::{
    CONTRACT_FILES, Checkpoint, CheckpointKind, MAX_CHECKPOINT_TEXT, PROMPT_DIGEST, PROMPT_ID,
    Policy, Role, SETTINGS_FILES, SchemaVersion, Timestamp, surface_matches,
};
use std::collections::BTreeSet;

/// Handles one event.
pub fn step(agent: Agent, state: SessionState, event: &Event, facts: &Situation) -> Outcome {
    let Some(row) = agent.row(event.native) else {
        return Step::new(agent, state, event, facts).finish();
    };
    let mut step = Step::new(agent, state, event, facts);
    step.state.seen_ms = facts.now_ms;
    step.state.called_ms = facts.now_ms;
    let twin = match event.kind {
        // Stops have identical content, and no agent numbers them.
        Kind::Stop => facts.again,
        _ => {
            let (key, has_id) = delivery(event);
            step.state.is_twin(&key, has_id, facts.now_ms)
        }
    };
    step.guard();
    if twin {
        step.repeat(row);
        return step.finish();
    }
    step.follow_item();
    step.link_commits();
    step.read_trail();
    step.tool_effects();
    step.count_turn();
    if facts.child.is_some() {
        return step.finish();
    }
    step.keep_ownership();
    step.lifecycle(row);
    if !event.subagent {
        step.stop_gate(row);
        step.say(row);
    }
    step.finish()
}

/// The key by which repeated deliveries are recognised, and whether it contains the agent's own id.
fn delivery(event: &Event) -> (String, bool) {
    match event.tool.as_ref().and_then(|tool| tool.id.as_ref()) {
        Some(id) => (format!("{:?}:{}:{id}", event.kind, event.subagent), true),
        None => (format!("{}:{}", event.native, event.digest), false),
    }
}

/// The result of an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The new session state.
    pub state: SessionState,
    /// The reaction.
    pub effects: Effects,
    /// Entries to append to the trail.
    pub entries: Vec<Checkpoint>,
    /// Whether the session becomes the workflow's owner.
    pub takes: bool,
    /// Whether the session stops being the owner.
    pub leaves: bool,
}

/// An event with its facts, and the result so far.
pub(super) struct Step<'a> {
    pub(super) agent: Agent,
    pub(super) state: SessionState,
    pub(super) event: &'a Event,
    pub(super) facts: &'a Situation,
    pub(super) effects: Effects,
    pub(super) entries: Vec<Checkpoint>,
    pub(super) takes: bool,
    pub(super) leaves: bool,
}

impl<'a> Step<'a> {
    pub(super) fn new(
        agent: Agent,
        state: SessionState,
        event: &'a Event,
        facts: &'a Situation,
    ) -> Self {
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

    pub(super) fn finish(self) -> Outcome {
        Outcome {
            state: self.state,
            effects: self.effects,
            entries: self.entries,
            takes: self.takes,
            leaves: self.leaves,
        }
    }

    /// Whether the session owns the workflow, or works on an issue if there is no workflow.
    pub(super) fn owns(&self) -> bool {
        match &self.facts.workflow {
            Some(_) => (self.facts.owner || self.takes) && !self.facts.driven,
            None => self.state.claimed || self.state.found,
        }
    }

    /// A key that distinguishes this event from one with the same content at another time.
    pub(super) fn key(&self) -> String {
        let digest: String = self.event.digest.chars().take(16).collect();
        format!("{digest}-{}", self.facts.now_ms)
    }

    pub(super) fn entry(
        &mut self,
        kind: CheckpointKind,
        id: String,
        text: String,
        commit: Option<String>,
    ) {
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
}

/// The maximum number of bytes that cook adds to a context at once: the agent with the smallest limit truncates longer
/// texts.
const INLINE: usize = 10_000;

impl Step<'_> {
    /// Denies a tool call that the role may not make; also for a sub-agent.
    pub(super) fn guard(&mut self) {
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
            .and_then(|tool| refusal(role, tool, self.facts));
    }

    /// Handles a repeated delivery: only a refusal is repeated.
    pub(super) fn repeat(&mut self, row: &Row) {
        if row.gate == Gate::Block && self.state.stop.blocks > 0 && self.owns() {
            self.effects.block.clone_from(&self.state.stop.reason);
        }
    }

    /// Refuses the stop of an owning session as long as the policy is to continue.
    pub(super) fn stop_gate(&mut self, row: &Row) {
        if self.event.kind != Kind::Stop || row.gate != Gate::Block {
            return;
        }
        self.state.stops += 1;
        if self.event.waits {
            return;
        }
        let go_on = &mut self.state.pending.go_on;
        if let Some(go_on) = go_on.take_if(|_| self.facts.workflow.is_none()) {
            self.effects.block = Some(say_go_on(&go_on));
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
        if self.steps_back() {
            return;
        }
        match self.state.stop.count(&workflow.progress) {
            Stop::Refused => self.block(role, due),
            Stop::Released => self.release(role),
            Stop::LetGo => {}
        }
    }

    /// Whether the agent's own goal loop is running: cook does not interfere with it, and says so once.
    pub(super) fn steps_back(&mut self) -> bool {
        if self.event.goal_loop && !self.state.stop.stepped_back {
            self.state.stop.stepped_back = true;
            let notice = "cook: the agent's own goal loop is running, so cook does not hold it";
            self.state.pending.notices.push(notice.to_owned());
        }
        self.event.goal_loop
    }

    fn block(&mut self, role: Role, due: &Due) {
        let mut reason = format!(
            "cook: the work is not done. {role} is due: {}. Run: {}",
            data(&due.action, 400),
            data(&due.command, 400)
        );
        if let Some(more) = self.state.pending.go_on.take() {
            reason.push('\n');
            reason.push_str(&say_go_on(&more));
        }
        self.state.stop.reason = Some(reason.clone());
        self.effects.block = Some(reason);
    }

    fn release(&mut self, role: Role) {
        self.state.stop.reason = None;
        let text = format!(
            "The session stopped although {role} is due: {BLOCKS} refused stops in a row brought no progress."
        );
        self.write_down(text);
    }

    /// Records that a session was allowed to stop, and tells the user.
    pub(super) fn write_down(&mut self, text: String) {
        let id = format!("released:{}", self.key());
        self.entry(CheckpointKind::Released, id, text.clone(), None);
        self.state.pending.notices.push(format!("cook: {text}"));
    }

    /// Delivers the pending messages that this event can carry.
    pub(super) fn say(&mut self, row: &Row) {
        let owns = self.owns();
        let gates_stops = self.agent.rows().iter().any(|row| row.gate == Gate::Block);
        // If the agent's stop can be refused, the session is told to continue at its stop.
        let sent_on_at_stop = gates_stops && self.agent.hooks().send_on == SendOn::AtStop;
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
                    parts.push(format!("{message}\n\n{}", quote_brief(brief, room)));
                    self.state.pending.notices.push(brief.clone());
                } else {
                    parts.push(message);
                }
            }
            let pending = &mut self.state.pending;
            if owns && std::mem::take(&mut pending.warning) {
                let percent = self.state.context_percent.unwrap_or(CONTEXT_LIMIT);
                parts.push(warn_of_context(percent));
            }
            if let Some(turns) = pending.nudge.take().filter(|_| owns) {
                parts.push(remind(turns));
            }
            let carries = owns || self.facts.workflow.is_none();
            if carries && !sent_on_at_stop {
                parts.extend(pending.go_on.take().as_ref().map(say_go_on));
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

    /// Determines the session's item: the issue that it claimed, otherwise the active slice, otherwise the issue that
    /// the tracker had in progress for this actor when the session began.
    pub(super) fn follow_item(&mut self) {
        if let Some(issue) = &self.facts.claimed {
            if self.state.claim(issue) {
                let id = format!("claim:{}:{}", shorten(issue, 40), self.key());
                self.entry(CheckpointKind::Claim, id, format!("claim: {issue}"), None);
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

    /// Adds an entry for each new commit, regardless of its author. A commit counts as a checkpoint.
    pub(super) fn link_commits(&mut self) {
        let slice = self.facts.workflow.as_ref().and_then(|w| w.slice.clone());
        for commit in &self.facts.commits {
            let short: String = commit.id.chars().take(7).collect();
            let subject = data(&commit.subject, 200);
            let text = format!("commit: {short} {subject}");
            let id = format!("commit:{}", commit.id);
            self.entry(CheckpointKind::Commit, id, text, Some(commit.id.clone()));
            remember(&mut self.state.since.commits, format!("{short} {subject}"));
            for path in &commit.paths {
                self.state.note_edit(path);
            }
            if slice.is_some() && commit.slice == slice && self.facts.child.is_none() {
                self.takes = true;
            }
        }
        if !self.facts.commits.is_empty() && !self.event.subagent {
            self.state.note_checkpoint();
        }
        self.state.head = Some(HeadSeen {
            commit: self.facts.head.clone(),
        });
    }

    /// Reads checkpoints that were made in other ways: by a command of the agent, or by the user.
    pub(super) fn read_trail(&mut self) {
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
            self.state.note_checkpoint();
        }
        for text in texts {
            remember(&mut self.state.since.checkpoints, data(&text, 200));
        }
        self.state.trail = Some(self.facts.trail);
    }

    /// Records the edited files, gates, claims and closed issues of a tool call.
    pub(super) fn tool_effects(&mut self) {
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
                self.state.note_edit(path);
            }
        }
        // A call of cook within this tool call took ownership, but did not know the session.
        let by_hand = !self.event.subagent && self.facts.child.is_none();
        self.takes |= tool.action == Action::Shell && by_hand && self.facts.taken;
        for segment in segments(tool.command.as_deref().unwrap_or_default()) {
            if segment.is_cook("gate") {
                let names = segment.words.join(" ");
                let gate = data(&format!("cook {names}"), 80);
                remember(&mut self.state.since.gates, gate);
            }
            let comments = issue_call(&segment, &["comments", "comment"]).is_some();
            // With a workflow, the checkpoint appears in the trail.
            let keeps = segment.is_cook("brief")
                && segment.words.iter().any(|word| word == "checkpoint")
                && self.facts.workflow.is_none();
            if (comments || keeps) && !tool.failed && !self.event.subagent {
                self.state.note_checkpoint();
            }
        }
        for closed in &self.facts.closed {
            self.note_close(closed);
        }
    }

    /// Handles a confirmed close: records the list of files once, and prepares the message about the next work.
    fn note_close(&mut self, closed: &ClosedIssue) {
        if !self.state.close(&closed.id) {
            return;
        }
        let files = self.state.files.remove(&closed.id).unwrap_or_default();
        if !files.is_empty() {
            let id = format!("files:{}:{}", shorten(&closed.id, 40), self.key());
            let text = format!("Files modified: {}", file_list(&files));
            let item = self.state.item.replace(closed.id.clone());
            self.entry(CheckpointKind::Files, id, text, None);
            self.state.item = item;
        }
        let pending = self.state.pending.go_on.get_or_insert_default();
        describe_closed(closed, self.facts.dirty.as_deref(), pending);
    }

    pub(super) fn count_turn(&mut self) {
        if self.event.subagent {
            return;
        }
        let over = match (self.event.kind, self.agent.reports(Kind::TurnEnd)) {
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

    /// Handles starts, compactions, the fill level of the context, and the end of a session.
    pub(super) fn lifecycle(&mut self, row: &Row) {
        self.follow_context();
        if let Some(percent) = self.event.context_percent.filter(|_| !self.event.subagent) {
            self.state.context_percent = Some(percent);
        }
        if begins(&self.state, self.event) {
            self.state.started = true;
            self.state.pending.recovery = true;
            self.state.pending.brief |= goes_on(self.event);
        }
        match self.event.kind {
            Kind::SessionStart if matches!(self.event.source, Source::Compact | Source::Clear) => {
                self.new_window();
            }
            Kind::BeforeCompact if self.event.is_compaction() => {
                self.auto_checkpoint();
                // If the agent also reports the end of a compaction, the context is lost only then.
                if row.context || !self.agent.reports(Kind::AfterCompact) {
                    self.lose_context();
                }
            }
            Kind::BeforeCompact => self.state.attempted = self.state.context_tokens,
            Kind::AfterCompact => self.lose_context(),
            Kind::Prompt => self.keep_prompt(),
            Kind::SessionEnd => {
                self.leaves = true;
                self.state.started = false;
            }
            _ => {}
        }
        let full = self
            .state
            .context_percent
            .is_some_and(|p| p >= CONTEXT_LIMIT);
        if full && !self.state.warned && self.owns() && !self.event.is_compaction() {
            self.state.warned = true;
            self.state.pending.warning = true;
            let percent = self.state.context_percent.unwrap_or(CONTEXT_LIMIT);
            let notice = format!("cook: the context is {percent:.0} % full");
            self.state.pending.notices.push(notice);
        }
    }

    /// Updates the size of the context, and detects whether the attempted compaction took place.
    fn follow_context(&mut self) {
        let Some(tokens) = self.event.context_tokens.filter(|_| !self.event.subagent) else {
            return;
        };
        if has_shrunk(&self.state, self.event) {
            self.auto_checkpoint();
            self.lose_context();
        }
        self.state.attempted = None;
        self.state.context_tokens = Some(tokens);
    }

    /// Handles the loss of the context.
    fn lose_context(&mut self) {
        self.state.pending.recovery = true;
        self.state.pending.brief = true;
        self.new_window();
    }

    /// A resumed session owns the workflow again if it did before, unless another session has taken it.
    pub(super) fn keep_ownership(&mut self) {
        if self.facts.workflow.is_none() {
            return;
        }
        if begins(&self.state, self.event) && self.state.owned && !self.facts.held {
            self.takes |= !self.facts.owner;
        }
        if self.facts.owner || self.takes {
            self.state.owned = true;
        } else if self.facts.held {
            self.state.owned = false;
        }
    }

    /// Stores a prompt that the user typed as a message that anchors can cite. Prompts that repeat cook's own words, or
    /// are not known to be typed, are ignored.
    fn keep_prompt(&mut self) {
        let typed = |prompt: &&Prompt| prompt.typed == Some(true);
        let Some(prompt) = self.event.prompt.as_ref().filter(typed) else {
            return;
        };
        let text = clean(&prompt.text, Lines::Keep);
        let text = text.trim();
        let is_ours = text.starts_with("cook: ")
            // This is how an agent reports to itself that a background task is done.
            || text.starts_with("<task-notification>")
            || self.state.stop.reason.as_deref().map(str::trim) == Some(text);
        if text.is_empty() || is_ours || self.event.subagent || self.facts.workflow.is_none() {
            return;
        }
        let kept = match self.facts.keep_prompts {
            true => shorten(&redact(text), MAX_CHECKPOINT_TEXT),
            false => {
                let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
                format!("{PROMPT_DIGEST}{}", sha256(folded))
            }
        };
        let name = sha256(self.key());
        let id = format!("{PROMPT_ID}{}", &name[..12]);
        // A prompt belongs to the session, not to its item.
        let item = self.state.item.take();
        self.entry(CheckpointKind::Prompt, id, kept, None);
        self.state.item = item;
    }

    fn new_window(&mut self) {
        self.state.warned = false;
        self.state.context_percent = None;
        self.state.pending.warning = false;
    }

    /// Stores a summary before the context is lost.
    fn auto_checkpoint(&mut self) {
        let has_news = self.state.turns > 0 || self.state.since != Since::default();
        if self.state.item.is_none() || !has_news || self.event.subagent {
            return;
        }
        // Files that were edited by shell commands are only detected now.
        for path in self.facts.dirty.iter().flatten() {
            self.state.note_edit(path);
        }
        let command = self.facts.due.as_ref().map(|due| due.command.as_str());
        let last = self.event.last_message.as_deref().and_then(first_line);
        let next = last.or(self.facts.last_line.clone());
        let text = |turns| summarise(&self.state, turns, next.as_deref(), command);
        let said = sha256(format!("{:?} {}", self.state.item, text(0)));
        if self.state.kept.as_ref() == Some(&said) {
            return;
        }
        let text = text(self.state.turns);
        self.state.kept = Some(said);
        let id = format!("auto:{}", self.key());
        let head = self.facts.head.clone();
        self.entry(CheckpointKind::Auto, id, text, head);
        self.state.since = Since::default();
        self.state.note_checkpoint();
    }
}

/// The reason to deny a tool call; `None` if it is allowed. `role` is `None` if the session is not bound to a role.
pub(super) fn refusal(role: Option<Role>, tool: &Tool, facts: &Situation) -> Option<String> {
    match tool.action {
        Action::Edit => role.and_then(|role| edit(role, facts)),
        Action::Shell => {
            let line = tool.command.as_deref().unwrap_or_default();
            role.and_then(|role| commit(role, line).or_else(|| edit(role, facts)))
                .or_else(|| close(line, facts))
        }
        Action::Other => None,
    }
}

fn edit(role: Role, facts: &Situation) -> Option<String> {
    if role.is_read_only()
        && let Some(path) = facts.tracked.first()
    {
        return Some(format!(
            "cook: {role} is due, and it changes no tracked file: `{}` stays as it is. {}",
            data(path, 200),
            way_out(role)
        ));
    }
    let surfaces = facts
        .workflow
        .as_ref()
        .map(|workflow| workflow.surfaces.as_slice())
        .unwrap_or_default();
    let ours = facts.paths.iter().find(|path| {
        is_cooks(path)
            && !surfaces
                .iter()
                .any(|surface| surface_matches(surface, path))
    })?;
    Some(format!(
        "cook: `{}` is written by cook alone. Hand what you know in with `cook record {}`, or keep it with `cook brief checkpoint`.",
        data(ours, 200),
        role.short()
    ))
}

/// Whether a path belongs to the workflow's state or contract.
fn is_cooks(path: &str) -> bool {
    const STATE: [&str; 7] = [
        ".agent/state.json",
        ".agent/plan.json",
        ".agent/active-slice.json",
        ".agent/verification-evidence.json",
        ".agent/slice-history.jsonl",
        ".agent/stop-check-history.jsonl",
        ".agent/checkpoints.jsonl",
    ];
    STATE.contains(&path) || CONTRACT_FILES.contains(&path) || SETTINGS_FILES.contains(&path)
}

fn commit(role: Role, line: &str) -> Option<String> {
    let writes = role.is_read_only() && segments(line).iter().any(|s| s.writes_history());
    writes.then(|| {
        format!(
            "cook: {role} is due, and it commits nothing and moves no branch. {}",
            way_out(role)
        )
    })
}

fn way_out(role: Role) -> String {
    format!(
        "Hand its report in with `cook record {}`; `cook next` says what it needs, `cook pause` suspends the work.",
        role.short()
    )
}

/// Denies closing an issue while changes are uncommitted.
fn close(line: &str, facts: &Situation) -> Option<String> {
    let stopped = facts
        .workflow
        .as_ref()
        .is_some_and(|workflow| workflow.policy != Policy::Continue);
    let dirty = facts
        .dirty
        .as_ref()
        .filter(|dirty| !dirty.is_empty() && !stopped)?;
    let segment = segments(line)
        .into_iter()
        .find(|segment| segment.program != "cook" && issue_call(segment, &["close"]).is_some())?;
    let shown: Vec<String> = dirty.iter().take(5).map(|path| data(path, 100)).collect();
    let more = match dirty.len().saturating_sub(shown.len()) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    Some(format!(
        "cook: commit first, then run `{} close`: {}{more} {} not committed.",
        segment.program,
        shown.join(", "),
        if dirty.len() == 1 { "is" } else { "are" }
    ))
}

/// The maximum number of closed issues that are named.
const CLOSED: usize = 10;
/// The maximum number of files in a list; the others are counted.
const FILES: usize = 30;

/// The summary of a session's work when its context is lost.
pub(super) fn summarise(
    state: &SessionState,
    turns: u64,
    next: Option<&str>,
    command: Option<&str>,
) -> String {
    let mut done: Vec<String> = Vec::new();
    done.extend(state.since.checkpoints.iter().rev().take(3).rev().cloned());
    done.extend(
        state
            .since
            .commits
            .iter()
            .map(|commit| format!("commit {commit}")),
    );
    done.extend(state.since.gates.iter().map(|gate| format!("ran `{gate}`")));
    let done = match done.is_empty() {
        true => "nothing committed".to_owned(),
        false => shorten(&done.join("; "), 1_500),
    };
    let files = match state.since.files.is_empty() {
        true => "none".to_owned(),
        false => shorten(&file_list(&state.since.files), 1_200),
    };
    let next = match (next, command) {
        (Some(line), _) => data(line, 400),
        (None, Some(command)) => data(command, 400),
        (None, None) => "not known".to_owned(),
    };
    let text = format!(
        "Auto-checkpoint (before compaction). Done: {done}. Files: {files}. Turns since the last checkpoint: {turns}. Next: {next}"
    );
    shorten(&text, MAX_CHECKPOINT_TEXT)
}

/// The first files in sorted order, then the number of the others.
pub(super) fn file_list(files: &BTreeSet<String>) -> String {
    let shown: Vec<String> = files
        .iter()
        .take(FILES)
        .map(|path| data(path, 200))
        .collect();
    let more = match files.len().saturating_sub(FILES) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    shorten(
        &format!("{}{more}", shown.join(", ")),
        MAX_CHECKPOINT_TEXT - 100,
    )
}

/// The brief between two marker lines, byte for byte as it is printed; if it is too long, the command that prints it.
pub(super) fn quote_brief(brief: &str, room: usize) -> String {
    let text = format!("--- cook brief ---\n{brief}\n--- end of the brief ---");
    match text.len() + 2 <= room {
        true => text,
        false => "(The brief is too long to stand here: run `cook brief`)".to_owned(),
    }
}

/// The first line that is not empty.
pub fn first_line(text: &str) -> Option<String> {
    text.lines()
        .map(|line| data(line, 400))
        .find(|line| !line.is_empty())
}

pub(super) fn remind(turns: u64) -> String {
    format!(
        "cook: {turns} turns without a checkpoint. Keep what you know now: cook brief checkpoint 'DONE: …; NEXT: …'"
    )
}

pub(super) fn warn_of_context(percent: f64) -> String {
    format!(
        "cook: the context is {percent:.0} % full and will be compacted. Keep what must survive: cook brief checkpoint 'DONE: …; NEXT: …'"
    )
}

/// Adds a closed issue to the message: the issues it unblocked, and the commit that must be made.
pub(super) fn describe_closed(closed: &ClosedIssue, dirty: Option<&[String]>, pending: &mut GoOn) {
    let id = data(&closed.id, 100);
    if pending.closed.len() < CLOSED {
        pending.closed.push(match closed.unblocked.is_empty() {
            true => format!("{id} is closed; it unblocked nothing."),
            false => {
                let shown = closed.unblocked.iter().take(5);
                let shown: Vec<String> = shown.map(|entry| data(entry, 120)).collect();
                format!("{id} is closed; it unblocked {}.", shown.join(", "))
            }
        });
    }
    if dirty.is_some_and(|dirty| !dirty.is_empty()) {
        pending.commit = Some(format!("git commit -am 'Close {id}'"));
    }
}

/// The message that tells the session to continue.
pub(super) fn say_go_on(pending: &GoOn) -> String {
    let mut text = format!(
        "cook: {} Continue with the next ready work: cook issue ready",
        pending.closed.join(" ")
    );
    if let Some(commit) = &pending.commit {
        text.push_str(&format!("\nThe tree is dirty; commit first: {commit}"));
    }
    text
}
