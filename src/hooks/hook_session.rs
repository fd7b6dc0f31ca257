//! Changes of a session's state outside hooks (taking the workflow, a checkpoint by hand, the status line), and the
//! facts for the hooks' decisions.

use super::hook_issues::{Issues, Wanted, find_tracker, key};
use super::respond::{Called, HookError, LOOK_BACK, SWITCH, child, give};
use crate::prelude::*;
use crate::service;
use crate::tracker::{is_id, is_own_file, list_issues};
use crate::workspace::Workspace;
use cook_agents::hooks::{
    Agent, CHECKPOINTS, Due, Item, Kind, Owner, Recovery, SessionState, Situation, StateDir, Wants,
    Workflow, ago, begins, find_directory, find_inside, first_line, issue_call, segments,
};
use cook_protocol::model::MAX_CHECKPOINT_TEXT;
use cook_repo::git::Entry;
use cook_repo::process::{INVOCATION_VARIABLE, agent_around, session_around};

fn unwritable(error: &std::io::Error) -> Failure {
    Failure::state(Code::NotWritable, "`.agent/tmp` cannot be written").with_cause(error)
}

/// Makes the agent session around this process the owner of the workflow. If the agent does not name its session, the
/// session is identified at the end of the tool call that runs this process. Returns `false` if there is no such
/// session, or in a child process of cook.
///
/// # Errors
/// The owner cannot be written.
pub fn take_around(workspace: &Workspace) -> Result<bool> {
    let child = std::env::var_os(INVOCATION_VARIABLE).is_some_and(|value| !value.is_empty());
    if child || workspace.store.is_none() {
        return Ok(false);
    }
    let unnamed = || {
        let agent = agent_around().filter(|agent| Agent::parse(agent).is_some())?;
        Some((agent, String::new()))
    };
    match session_around().or_else(unnamed) {
        Some((agent, session)) => attach(workspace, agent, &session).map(|_| true),
        None => Ok(false),
    }
}

/// Makes a session the owner of the workflow.
///
/// # Errors
/// The owner cannot be written.
pub fn attach(workspace: &Workspace, agent: &str, session: &str) -> Result<Owner> {
    workspace.store()?;
    let owner = Owner {
        agent: agent.to_owned(),
        session: session.to_owned(),
        seen_ms: workspace.clock.epoch_millis(),
    };
    let write = || {
        let state_dir = StateDir::of(&workspace.repo, true)?;
        let _held = state_dir.lock()?;
        state_dir.set_owner(Some(&owner))
    };
    write().map_err(|error| unwritable(&error))?;
    Ok(owner)
}

/// Returns the session to attach: the named one, the one around this process, or the one that called last.
///
/// # Errors
/// No session is found.
pub fn find_session_to_attach(
    workspace: &Workspace,
    named: Option<&str>,
) -> Result<(String, String)> {
    let state_dir = StateDir::at(&workspace.repo, workspace.store.is_some());
    let known = state_dir.sessions();
    let by_id = |id: &str| known.iter().find(|state| state.session == id);
    let found = match named {
        Some(id) => by_id(id).map(|state| (state.agent.clone(), id.to_owned())),
        None => session_around()
            .map(|(agent, id)| (agent.to_owned(), id))
            .or_else(|| known.first().map(|s| (s.agent.clone(), s.session.clone()))),
    };
    found.ok_or_else(|| {
        let mut failure = Failure::new(
            FailureKind::Usage,
            Code::SessionUnknown,
            "no such agent session has called in this worktree",
        );
        failure.hints = vec!["run `cook hooks check AGENT`".to_owned()];
        failure
    })
}

/// Keeps a checkpoint text in the trail and with the tracker's issue, together with the current item. A finding gives
/// the reason if the tracker does not have it yet.
///
/// # Errors
/// The text is empty or too long, there is neither a workflow nor a tracker, or the trail cannot be written.
pub fn checkpoint(workspace: &Workspace, text: &str) -> Result<(Checkpoint, Vec<Finding>)> {
    let tracker = find_tracker(workspace, Kind::BeforeCompact);
    if workspace.store.is_none() && tracker.is_none() {
        workspace.store()?;
    }
    let (item, mut findings) = current_item(workspace, tracker.as_ref())?;
    let entry = Checkpoint {
        commit: workspace.repo.head()?.commit,
        ..make_checkpoint(&workspace.clock.now(), item, text)?
    };
    match &workspace.store {
        Some(store) => {
            store.append_checkpoint(&entry)?;
        }
        None => {
            let write = || {
                let state_dir = StateDir::of(&workspace.repo, false)?;
                let _held = state_dir.lock()?;
                state_dir.enqueue(std::slice::from_ref(&entry))
            };
            write().map_err(|error| unwritable(&error))?;
        }
    }
    if let Some(tracker) = &tracker {
        let told = StateDir::of(&workspace.repo, workspace.store.is_some())
            .map_err(HookError::from)
            .and_then(|state_dir| give(workspace, &state_dir, tracker));
        let why = told.err().map(|error| error.to_string());
        findings.extend(why.map(|why| Finding::new(Code::TrackerBehind, why)));
    }
    Ok((entry, findings))
}

fn make_checkpoint(now: &str, item: Option<String>, text: &str) -> Result<Checkpoint> {
    let text = clean(text, Lines::Keep);
    let text = text.trim();
    if text.is_empty() {
        return Err(Failure::usage("the checkpoint says nothing"));
    }
    if text.len() > MAX_CHECKPOINT_TEXT {
        let what = format!("the checkpoint is longer than {MAX_CHECKPOINT_TEXT} bytes");
        return Err(Failure::new(FailureKind::Usage, Code::InputTooLarge, what));
    }
    let around = session_around();
    let session = around.as_ref().map(|(_, id)| id.clone());
    let told = format!("{now}\0{item:?}\0{session:?}\0{text}");
    Ok(Checkpoint {
        id: format!("manual:{}", &sha256(told)[..32]),
        schema_version: SchemaVersion,
        at: Timestamp::from(now),
        kind: CheckpointKind::Manual,
        text: text.to_owned(),
        item,
        agent: around.map(|(agent, _)| agent.to_owned()),
        session,
        commit: None,
    })
}

/// The item in work here: the issue that the session around this process claimed, else the slice in work, else this
/// actor's issue in work. The findings name failed requests.
///
/// # Errors
/// The log cannot be read.
fn current_item(
    workspace: &Workspace,
    tracker: Option<&Issues>,
) -> Result<(Option<String>, Vec<Finding>)> {
    let state = session_state(workspace);
    let claimed = state.filter(|state| state.claimed).and_then(|s| s.item);
    let (_, snapshot) = workspace.current()?;
    let slice = snapshot
        .as_ref()
        .and_then(Snapshot::find_slice_in_work)
        .map(str::to_owned);
    if let (None, Some(tracker)) = (claimed.as_ref().or(slice.as_ref()), tracker) {
        let picture = tracker.picture(Wanted::Any);
        let behind = |why| Finding::new(Code::TrackerBehind, why);
        let findings = picture.notes.into_iter().map(behind).collect();
        return Ok((picture.item.map(|item| item.id), findings));
    }
    Ok((claimed.or(slice), Vec::new()))
}

/// The recovery message for this worktree.
///
/// # Errors
/// There is neither a workflow nor a tracker, or the repository or the log cannot be read.
pub fn recover(workspace: &Workspace) -> Result<Recovery> {
    let tracker = find_tracker(workspace, Kind::BeforeCompact);
    let snapshot = match &tracker {
        Some(tracker) => {
            // The message names a tracker that does not answer.
            let _ = tracker.wake();
            workspace.current()?.1
        }
        None => Some(workspace.require()?.1),
    };
    let state = session_state(workspace).filter(|state| state.claimed);
    let claimed = state.and_then(|state| state.item);
    let kept = match workspace.store {
        Some(_) => Vec::new(),
        None => StateDir::at(&workspace.repo, false)
            .queue()
            .map_err(|error| unwritable(&error))?,
    };
    collect_recovery(
        workspace,
        snapshot.as_ref(),
        tracker.as_ref(),
        claimed.as_deref(),
        kept,
    )
}

/// The state of the session around this process.
fn session_state(workspace: &Workspace) -> Option<SessionState> {
    let (agent, session) = session_around()?;
    let state_dir = StateDir::at(&workspace.repo, workspace.store.is_some());
    state_dir.load(Agent::parse(agent)?, &session)
}

/// Handles the status line's input: saves how full the context is, and describes the state of the work in one line,
/// which is empty without a workflow or an item.
pub fn statusline(agent: Agent, input: &[u8], called: &Path) -> String {
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(input) else {
        return String::new();
    };
    let percent = value["context_window"]["used_percentage"].as_f64();
    let named = value["workspace"]["current_dir"]
        .as_str()
        .or(value["cwd"].as_str());
    let dir = find_directory(named, called);
    let Ok(workspace) = Workspace::open(&dir) else {
        return String::new();
    };
    let off = workspace.config().is_ok_and(|config| !config.hooks.enabled);
    if off || std::env::var_os(SWITCH).is_some_and(|value| value == "off") {
        return String::new();
    }
    let Ok((_, snapshot)) = workspace.current() else {
        return String::new();
    };
    let session = value["session_id"].as_str();
    let state_dir = StateDir::at(&workspace.repo, workspace.store.is_some());
    let state = session.and_then(|session| state_dir.load(agent, session));
    let item = state.and_then(|state| state.item.filter(|_| state.claimed || state.found));
    if snapshot.is_none() && item.is_none() {
        return String::new();
    }
    if let (Some(percent), Some(session)) = (percent, session) {
        // The line is shown even if the figure could not be saved.
        let _ = remember(&workspace, agent, session, percent);
    }
    let state = snapshot.as_ref().map(|snapshot| &snapshot.state);
    let who = state.map(|state| match state.next_mandatory_role.0 {
        Some(role) => role.short().to_owned(),
        None => state.continuation_policy.to_string(),
    });
    let slice = snapshot
        .as_ref()
        .and_then(Snapshot::find_slice_in_work)
        .map(str::to_owned);
    let full = percent.map(|percent| format!("context {percent:.0} %"));
    let parts: Vec<String> = [who, item.or(slice), full].into_iter().flatten().collect();
    format!("cook: {}", parts.join(" · "))
}

fn remember(
    workspace: &Workspace,
    agent: Agent,
    session: &str,
    percent: f64,
) -> std::io::Result<()> {
    let state_dir = StateDir::of(&workspace.repo, workspace.store.is_some())?;
    let _held = state_dir.lock()?;
    let Some(mut state) = state_dir.load(agent, session) else {
        return Ok(());
    };
    state.context_percent = Some(percent.clamp(0.0, 100.0));
    state_dir.save(&state)
}

// The facts for the decision: quick ones are measured while the session's lock is held, slow ones before.

/// How many entries of the trail are searched for new ones.
const NEWS: usize = 200;

/// How many issues of one command line are looked up.
const ISSUES: usize = 5;

impl Called {
    /// Measures the slow facts, without the lock.
    pub(super) fn slow_facts(
        &self,
        tracker: Option<&Issues>,
        (state_dir, state): (&StateDir, &SessionState),
        snapshot: Option<&Snapshot>,
        wanted: Wants,
    ) -> Result<Situation, HookError> {
        let config = self.workspace.config().ok();
        let mut facts = Situation {
            now: self.workspace.clock.now(),
            now_ms: self.workspace.clock.epoch_millis(),
            child: child(),
            keep_prompts: config.is_some_and(|config| config.hooks.keep_prompts),
            ..Situation::default()
        };
        let claimed = state.item.as_deref().filter(|_| state.claimed);
        let mut away = None;
        let starts = begins(state, &self.event);
        if let (true, Some(tracker), None) = (starts, tracker, facts.child) {
            away = tracker.wake().err();
        }
        if wanted.recovery && facts.child.is_none() {
            let kept = match self.workspace.store {
                Some(_) => Vec::new(),
                None => state_dir.queue()?,
            };
            if wanted.brief && snapshot.is_some() {
                match self.brief() {
                    Ok(text) => facts.brief = Some(text),
                    Err(failure) => away = Some(format!("the brief: {failure}")),
                }
            }
            let mut recovery = collect_recovery(&self.workspace, snapshot, tracker, claimed, kept)?;
            recovery.notes.extend(away);
            recovery.notes.dedup();
            facts.recovery = Some(recovery);
        }
        if let (true, Some(snapshot), None) = (wanted.due, snapshot, facts.child) {
            facts.due = Some(find_due(&self.workspace, snapshot)?.0);
        }
        if wanted.last_line {
            let path = self.event.transcript.as_deref();
            facts.last_line = path.and_then(|path| last_line(Path::new(path)));
        }
        if wanted.dirty {
            let dirty = self.workspace.repo.status()?.worktree.dirty;
            let trackers = |path: &str| tracker.is_some() && is_own_file(path);
            facts.dirty = Some(dirty.into_iter().filter(|path| !trackers(path)).collect());
        }
        self.ask_tracker(tracker, &mut facts);
        Ok(facts)
    }

    /// Asks the tracker whether the claims and closes in a tool call happened.
    fn ask_tracker(&self, tracker: Option<&Issues>, facts: &mut Situation) {
        let tool = self
            .event
            .tool
            .as_ref()
            .filter(|_| self.event.kind == Kind::AfterTool);
        let (Some(tracker), Some(tool)) = (tracker, tool) else {
            return;
        };
        for segment in segments(tool.command.as_deref().unwrap_or_default()) {
            let Some((word, rest)) = issue_call(&segment, &["update", "claim", "close"]) else {
                continue;
            };
            let claims = word == "claim"
                || rest.iter().any(|word| {
                    word == "--claim" || word == "in_progress" || word == "--status=in_progress"
                });
            for issue in list_named(rest) {
                match word {
                    "update" | "claim" if claims && tracker.holds(issue) == Ok(true) => {
                        facts.claimed = Some(issue.to_owned());
                    }
                    // A skipped close can exit with 0, so the result is verified.
                    "close" if !facts.closed.iter().any(|closed| closed.id == issue) => {
                        facts
                            .closed
                            .extend(tracker.verify_close(issue).ok().flatten());
                    }
                    _ => {}
                }
            }
        }
    }

    pub(super) fn fast_facts(
        &self,
        state_dir: &StateDir,
        state: &SessionState,
        snapshot: Option<&Snapshot>,
        facts: &mut Situation,
    ) -> Result<(), HookError> {
        let head = self.workspace.repo.head()?;
        if let Some(seen) = &state.head {
            facts.commits = self
                .workspace
                .repo
                .list_made_since(seen.commit.as_deref(), &head)?;
        }
        facts.head.clone_from(&head.commit);
        facts.workflow = snapshot.map(|snapshot| describe_workflow(snapshot, &head));
        if let Some(store) = &self.workspace.store {
            facts.trail = store.checkpoints_length()?;
            if let Some(seen) = state.trail.filter(|seen| *seen != facts.trail) {
                facts.news = store.read_checkpoints_after(seen, NEWS)?;
            }
            if let Some(owner) = state_dir.owner().filter(|owner| owner.holds(facts.now_ms)) {
                let agents = owner.agent == self.agent.name();
                facts.owner = agents && owner.session == self.event.session;
                facts.taken = agents && owner.session.is_empty();
                facts.held = !facts.owner && !facts.taken;
            }
            facts.driven = facts.owner && store.lease_holder()?.is_some();
        }
        self.tool_paths(&head, facts)?;
        Ok(())
    }

    fn tool_paths(&self, head: &Head, facts: &mut Situation) -> Result<(), HookError> {
        let root = self.workspace.repo.root();
        let Some(tool) = &self.event.tool else {
            return Ok(());
        };
        facts.paths = tool
            .paths
            .iter()
            .filter_map(|path| find_inside(root, &self.dir, path))
            .collect();
        if self.event.kind == Kind::BeforeTool
            && let Some(commit) = &head.commit
        {
            for path in &facts.paths {
                if self.workspace.repo.entry(commit, path)? != Entry::Nothing {
                    facts.tracked.push(path.clone());
                }
            }
        }
        Ok(())
    }

    /// The brief as `cook brief` prints it.
    fn brief(&self) -> Result<String> {
        let whole = service::assemble(&self.workspace)?;
        Ok(whole.within(Some(service::DEFAULT_BYTES)).text)
    }
}

/// The first words that may be ids of issues.
fn list_named(words: &[String]) -> impl Iterator<Item = &str> {
    const TAKE_A_WORD: [&str; 6] = ["--reason", "-r", "--status", "-s", "--actor", "--session"];
    let values = words.iter().skip(1).zip(words);
    let first = words.first().into_iter().map(String::as_str);
    let rest = values
        .filter(|(_, before)| !TAKE_A_WORD.contains(&before.as_str()))
        .map(|(word, _)| word.as_str());
    first.chain(rest).filter(|word| is_id(word)).take(ISSUES)
}

/// How many bytes at the end of a transcript are read.
const TRANSCRIPT: u64 = 64 << 10;

/// The workflow as the log describes it.
pub(super) fn describe_workflow(snapshot: &Snapshot, head: &Head) -> Workflow {
    let state = &snapshot.state;
    let role = state.next_mandatory_role.0;
    let slices = snapshot.plan.candidate_slices.iter();
    let proofs: usize = slices.map(|slice| slice.evidence.len()).sum();
    let handoff = snapshot.active.handoff.as_ref();
    Workflow {
        policy: state.continuation_policy,
        role,
        slice: snapshot.find_slice_in_work().map(str::to_owned),
        surfaces: handoff
            .and_then(|handoff| handoff.implementation_surfaces.clone())
            .unwrap_or_default(),
        progress: format!(
            "{} {} {} {} {proofs}",
            head.commit.as_deref().unwrap_or("unborn"),
            state.continuation_policy,
            role.map_or("none", Role::id),
            snapshot.counters.steps.0,
        ),
    }
}

/// The next role.
///
/// # Errors
/// As [`service::dispatch_now`].
pub(super) fn find_due(workspace: &Workspace, snapshot: &Snapshot) -> Result<(Due, Dispatch)> {
    let (dispatch, _) = service::dispatch_now(workspace, Some(snapshot))?;
    let due = Due {
        policy: dispatch.policy,
        role: dispatch.role,
        action: dispatch.action.clone(),
        command: command(&dispatch),
    };
    Ok((due, dispatch))
}

/// The exact next command.
pub fn command(dispatch: &Dispatch) -> String {
    match (&dispatch.blocking_command, dispatch.role, dispatch.rule) {
        (Some(command), _, _) => command.clone(),
        (None, None, _) => "cook status".to_owned(),
        (None, Some(Role::Bootstrapper), _) | (None, Some(_), Rule::Bootstrap) => {
            "cook init".to_owned()
        }
        (None, Some(role), _) => format!(
            "cook next --prompt --take, do what it says, then cook record {} REPORT",
            role.short()
        ),
    }
}

/// The rules, most important first; with their heading at most 600 bytes.
pub(super) fn rules() -> Vec<String> {
    [
        "Agents report, cook decides: `cook next` names the one role that is due, `cook record ROLE REPORT` hands its report in.",
        "Keep progress where it survives: `cook brief checkpoint 'DONE: …; NEXT: …'` after each step.",
        "`cook brief` shows what earlier sessions established, with proof.",
        "Put `Cook-Slice: ID` at the end of each commit message; commit small.",
        "Files under `.agent/` are cook's: read them, never edit them.",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Collects everything that the recovery message shows. `claimed` is the issue that the session claimed; `kept` are the
/// entries of a worktree without a workflow.
///
/// # Errors
/// The repository or the log cannot be read.
pub(super) fn collect_recovery(
    workspace: &Workspace,
    snapshot: Option<&Snapshot>,
    tracker: Option<&Issues>,
    claimed: Option<&str>,
    kept: Vec<Checkpoint>,
) -> Result<Recovery> {
    let mut recovery = Recovery {
        rules: rules(),
        ..Recovery::default()
    };
    if let Some(snapshot) = snapshot {
        let (due, dispatch) = find_due(workspace, snapshot)?;
        recovery.role = match due.role {
            Some(role) => format!("{role} is due (rule {}): {}", dispatch.rule, due.action),
            None => format!("Nobody is due ({}): {}", due.policy, dispatch.reason),
        };
        recovery.command = due.command;
        recovery.item = item(snapshot);
    } else {
        recovery.role = "No workflow is set up here; the issue tracker has the work.".to_owned();
        recovery.command = "cook issue ready".to_owned();
    }
    let mut entries = match &workspace.store {
        Some(store) => store.checkpoints(LOOK_BACK)?.entries,
        None => kept,
    };
    if let Some(tracker) = tracker {
        // The issue whose comments belong to the slice in work.
        let slice =
            snapshot.and_then(|snapshot| snapshot.plan.slice(snapshot.find_slice_in_work()?));
        let carried = slice.and_then(|slice| list_issues(slice).next());
        ask_tracker(tracker, carried, claimed, &mut recovery, &mut entries);
    }
    let now = workspace.clock.now();
    recovery.checkpoints = recovery
        .item
        .as_ref()
        .map(|item| read_trail(&entries, &item.id, &now))
        .unwrap_or_default();
    let status = workspace.repo.status()?.worktree;
    recovery.uncommitted = status.dirty;
    recovery.uncommitted_more = status.more;
    Ok(recovery)
}

/// Adds the tracker's part. A claimed issue takes precedence over the slice, and any issue in work replaces a missing
/// slice; the issue of the slice only adds its comments.
fn ask_tracker(
    tracker: &Issues,
    carried: Option<&str>,
    claimed: Option<&str>,
    recovery: &mut Recovery,
    entries: &mut Vec<Checkpoint>,
) {
    let wanted = match (claimed, &recovery.item, carried) {
        (Some(claimed), ..) => Wanted::Claimed(claimed),
        (None, Some(_), Some(carried)) => Wanted::Carried(carried),
        (None, Some(_), None) => return,
        (None, None, _) => Wanted::Any,
    };
    let mut picture = tracker.picture(wanted);
    if let (Wanted::Carried(_), Some(slice)) = (wanted, &recovery.item) {
        for entry in &mut picture.trail {
            entry.item = Some(slice.id.clone());
        }
    }
    merge(entries, picture.trail);
    if picture.item.is_some() {
        recovery.item = picture.item;
    }
    recovery.ready = picture.ready;
    recovery.notes.extend(picture.notes);
}

/// Merges entries by key, sorted by time.
fn merge(entries: &mut Vec<Checkpoint>, more: Vec<Checkpoint>) {
    let known: BTreeSet<String> = entries.iter().map(|entry| key(&entry.id)).collect();
    entries.extend(more.into_iter().filter(|entry| !known.contains(&entry.id)));
    entries.sort_by_key(|entry| Clock::parse_seconds(&entry.at.display()));
}

/// The newest entries of one item, oldest first, each with its age.
fn read_trail(entries: &[Checkpoint], item: &str, now: &str) -> Vec<(String, String)> {
    let now = Clock::parse_seconds(now).unwrap_or_default();
    let mut shown: Vec<(String, String)> = entries
        .iter()
        .rev()
        .filter(|entry| entry.item.as_deref() == Some(item))
        .take(CHECKPOINTS)
        .map(|entry| {
            let at = Clock::parse_seconds(&entry.at.display()).unwrap_or(now);
            (ago(now - at), entry.text.clone())
        })
        .collect();
    shown.reverse();
    shown
}

/// The slice in work, as the message shows it.
fn item(snapshot: &Snapshot) -> Option<Item> {
    let id = snapshot.find_slice_in_work()?;
    let slice = snapshot.plan.slice(id)?;
    let waits = |other: &&Slice| other.blocked_on.iter().any(|entry| entry == id);
    Some(Item {
        id: id.to_owned(),
        title: slice.goal.clone(),
        status: snapshot.active.status.id().to_owned(),
        kind: "slice".to_owned(),
        priority: slice.priority.rank().to_string(),
        parent: None,
        unblocks: snapshot
            .plan
            .open_slices()
            .filter(waits)
            .map(|other| format!("{} — {}", other.slice_id, other.goal))
            .collect(),
        others: 0,
        is_issue: false,
    })
}

/// The first line of the assistant's last message in a transcript of JSON lines.
pub(super) fn last_line(path: &Path) -> Option<String> {
    let mut file = disk::open_regular(path, Links::Follow).ok()??;
    let bytes = disk::read_tail(&mut file, TRANSCRIPT).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    text.lines()
        .rev()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find_map(|entry| assistant_text(&entry))
        .and_then(|text| first_line(&text))
}

/// The text of an assistant's message, in the known layouts.
fn assistant_text(entry: &Value) -> Option<String> {
    let message = match (&entry["message"], &entry["payload"]) {
        (Value::Object(_), _) => &entry["message"],
        (_, Value::Object(_)) => &entry["payload"],
        _ => entry,
    };
    let says = |value: &Value| {
        ["assistant", "model", "gemini"]
            .iter()
            .any(|word| value == word)
    };
    if !says(&entry["type"]) && !says(&message["role"]) {
        return None;
    }
    let content = match &message["content"] {
        Value::Null => &message["parts"],
        content => content,
    };
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => parts
            .iter()
            .find_map(|part| part["text"].as_str())
            .map(str::to_owned),
        _ => None,
    }
    .filter(|text| !text.trim().is_empty())
}
