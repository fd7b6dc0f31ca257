//! Installs, checks and removes hooks in an agent's settings.
//!
//! Invariants: text of others stays, in its order and with its comments; a second run changes no byte; cook's parts
//! carry its mark, and only they are removed; symlinks inside the worktree are not followed.

use crate::prelude::*;
use crate::workspace::Workspace;
use cook_agents::hooks::jsonc::{self, JsoncError};
use cook_agents::hooks::layout::{self, Base, Content, Entry, Plan, Purpose};
use cook_agents::hooks::toml_tables::{self, TablesError};
use cook_agents::hooks::{Agent, Kind, SessionState, StateDir};
use cook_protocol::model::StateDirectory;
use cook_repo::disk::Mode;

/// The beginning and end of cook's block in a text file of others.
const BEGIN: &str = "<!-- >>> cook-hooks";
const END: &str = "<!-- <<< cook-hooks -->";

/// Computes the change that installing or removing makes to each file.
///
/// # Errors
/// A file that cannot be read, is not valid JSON, or does not belong to cook.
pub fn changes(
    workspace: &Workspace,
    agent: Agent,
    (shared, purpose): (bool, Purpose),
    install: bool,
) -> Result<Vec<Change>> {
    layout::plans(agent, shared, purpose)
        .iter()
        .map(|plan| change(workspace, agent, plan, install))
        .collect()
}

fn change(workspace: &Workspace, agent: Agent, plan: &Plan, install: bool) -> Result<Change> {
    let path = locate(workspace, agent, plan)?;
    let before = read(&path)?;
    let told = |error: &dyn std::fmt::Display| {
        Failure::state(
            Code::HooksFile,
            format!("`{}` cannot be changed: {error}", path.display()),
        )
    };
    let (standing, after, remark) = match &plan.content {
        Content::Merged(entries) => {
            let held = merge(before.as_deref(), entries, plan.any_mark, install);
            let held = held.map_err(|error| told(&error))?;
            if install && let Some(text) = &before {
                let reads = &agent.hooks().install.reads;
                jsonc::check(text, reads).map_err(|error| told(&error))?;
            }
            held
        }
        Content::Tables(tables) => append(before.as_deref(), tables, plan.any_mark, install)
            .map_err(|error| told(&error))?,
        Content::Whole(text) => {
            let foreign = before
                .as_ref()
                .is_some_and(|text| !text.contains(plan.any_mark));
            if foreign && install {
                let what = format!("`{}` is there and is not cook's", path.display());
                return Err(Failure::state(Code::HooksFile, what));
            }
            let after = match (install, foreign) {
                (true, _) => Some(text.clone()),
                (false, true) => before.clone(),
                (false, false) => None,
            };
            let standing = match &before {
                Some(found) if found == text => Standing::Current,
                Some(_) if !foreign => Standing::Stale,
                _ => Standing::Missing,
            };
            (standing, after, None)
        }
        Content::Block(text) => block(before.as_deref(), text, install),
    };
    Ok(Change {
        path,
        standing,
        before,
        after,
        remark,
    })
}

type Merged = (Standing, Option<String>, Option<String>);

fn merge(
    before: Option<&str>,
    entries: &[Entry],
    mark: &str,
    install: bool,
) -> Result<Merged, JsoncError> {
    let root = jsonc::value(before.unwrap_or_default())?;
    let standing = standing(&root, entries, mark);
    let mut remark = None;
    for entry in entries.iter().filter(|entry| !entry.listed) {
        let held = root.pointer(&pointer(&entry.path));
        if install && held.is_some_and(|held| !is_ours(held, mark)) {
            remark = entry.if_theirs.clone().or(remark);
        }
    }
    if install && standing == Standing::Current {
        return Ok((standing, before.map(str::to_owned), remark));
    }
    let theirs = match before {
        Some(text) => without(text, entries, mark)?.or_else(|| {
            // Nothing but cook's part is left. A file that cook created ends with a line end, and is removed; an
            // existing blank file has no line end after cook's part, and gets back the text before it.
            let from = text.find('{').unwrap_or_default();
            (!text.ends_with('\n')).then(|| text[..from].to_owned())
        }),
        None => None,
    };
    if !install {
        return Ok((standing, theirs, remark));
    }
    let blank = theirs.clone().filter(|text| jsonc::is_blank(text));
    let mut after = theirs.unwrap_or_default();
    for entry in entries {
        let held = jsonc::value(&after)?;
        if entry.listed || held.pointer(&pointer(&entry.path)).is_none() {
            after = jsonc::add(&after, &entry.path, &entry.value, entry.listed)?;
        }
    }
    if let Some(blank) = blank {
        after = format!("{blank}{}", after.trim_end());
    }
    Ok((standing, Some(after), remark))
}

/// Appends the tables to the text of others, or removes them.
fn append(
    before: Option<&str>,
    tables: &str,
    mark: &str,
    install: bool,
) -> Result<Merged, TablesError> {
    let text = before.unwrap_or_default();
    let standing = match toml_tables::holds(text, tables, mark)? {
        None => Standing::Missing,
        Some(true) => Standing::Current,
        Some(false) => Standing::Stale,
    };
    let theirs = match before {
        Some(text) => toml_tables::without(text, mark)?,
        None => None,
    };
    let after = match (install, standing) {
        (false, _) => theirs,
        (true, Standing::Current) => before.map(str::to_owned),
        (true, _) => Some(toml_tables::add(theirs.as_deref(), tables)?),
    };
    Ok((standing, after, None))
}

fn pointer(path: &[&str]) -> String {
    path.iter().map(|name| format!("/{name}")).collect()
}

/// Whether each entry is there exactly once, without any other part of cook's.
fn standing(root: &Value, entries: &[Entry], mark: &str) -> Standing {
    let mut found: Vec<(&str, &Value)> = Vec::new();
    for (event, groups) in root["hooks"].as_object().into_iter().flatten() {
        let groups = groups.as_array().into_iter().flatten();
        let ours = groups.filter(|group| holds_ours(group, mark));
        found.extend(ours.map(|group| (event.as_str(), group)));
    }
    let mut wanted: Vec<(&str, &Value)> = Vec::new();
    let mut lacks_member = false;
    for entry in entries {
        match root.pointer(&pointer(&entry.path)) {
            _ if entry.listed => wanted.push((entry.path[1], &entry.value)),
            Some(held) if is_ours(held, mark) => {
                found.push((entry.path[0], held));
                wanted.push((entry.path[0], &entry.value));
            }
            // An entry of others stays.
            Some(_) => {}
            None => lacks_member = true,
        }
    }
    let by_name = |one: &(&str, &Value), two: &(&str, &Value)| one.0.cmp(two.0);
    found.sort_by(by_name);
    wanted.sort_by(by_name);
    match (found.is_empty(), found == wanted && !lacks_member) {
        (true, _) => Standing::Missing,
        (false, true) => Standing::Current,
        (false, false) => Standing::Stale,
    }
}

/// Whether the hook is cook's, by the mark in its command.
fn is_ours(hook: &Value, mark: &str) -> bool {
    ["command", "bash", "powershell"].iter().any(|field| {
        hook[*field]
            .as_str()
            .is_some_and(|line| line.contains(mark))
    })
}

/// Whether the group contains a hook of cook's, or is one itself.
fn holds_ours(group: &Value, mark: &str) -> bool {
    let hooks = group["hooks"].as_array().into_iter().flatten();
    is_ours(group, mark) || hooks.into_iter().any(|hook| is_ours(hook, mark))
}

/// Removes cook's parts from the text; `None` if nothing else is left. A group to which others added a hook stays.
fn without(text: &str, entries: &[Entry], mark: &str) -> Result<Option<String>, JsoncError> {
    let is_ours = |hook: &Value| is_ours(hook, mark);
    let all_ours = |group: &Value| {
        let hooks = group["hooks"].as_array();
        is_ours(group) || hooks.is_some_and(|hooks| !hooks.is_empty() && hooks.iter().all(is_ours))
    };
    let mut text = text.to_owned();
    for entry in entries.iter().filter(|entry| !entry.listed) {
        let held = jsonc::value(&text)?;
        let member = held.pointer(&pointer(&entry.path));
        if member.is_some_and(|member| is_ours(member) || *member == entry.value) {
            match jsonc::remove_member(&text, &entry.path)? {
                Some(left) => text = left,
                None => return Ok(None),
            }
        }
    }
    let root = jsonc::value(&text)?;
    for event in root["hooks"]
        .as_object()
        .into_iter()
        .flat_map(|events| events.keys())
    {
        let Some(left) = jsonc::remove(&text, &["hooks", event], &all_ours)? else {
            return Ok(None);
        };
        text = from_shared_groups(left, event, &is_ours)?;
    }
    Ok(Some(text))
}

/// Removes cook's hooks from groups that also hold hooks of others.
fn from_shared_groups(
    mut text: String,
    event: &str,
    is_ours: &dyn Fn(&Value) -> bool,
) -> Result<String, JsoncError> {
    let root = jsonc::value(&text)?;
    let groups = root["hooks"][event].as_array().map_or(0, Vec::len);
    for index in 0..groups {
        let path = ["hooks", event, &index.to_string(), "hooks"];
        if let Some(left) = jsonc::remove(&text, &path, &is_ours)? {
            text = left;
        }
    }
    Ok(text)
}

/// Adds a marked block at the end of a text of others, or removes it.
fn block(before: Option<&str>, text: &str, install: bool) -> Merged {
    let wanted = format!("{BEGIN} 1 -->\n{}\n{END}\n", text.trim_end());
    let held = before.unwrap_or_default();
    let found = held.find(BEGIN).and_then(|from| {
        let end = held[from..].find(END)? + from + END.len();
        let end = end + usize::from(held[end..].starts_with('\n'));
        Some(from..end)
    });
    let standing = match &found {
        None => Standing::Missing,
        Some(span) if held[span.clone()] == wanted => Standing::Current,
        Some(_) => Standing::Stale,
    };
    // A line end of cook's precedes the block, unless cook created the file.
    let theirs = match &found {
        Some(span) if span.start == 0 && span.end == held.len() => None,
        Some(span) => {
            let ahead = &held[..span.start];
            let ahead = ahead.strip_suffix('\n').unwrap_or(ahead);
            Some(format!("{ahead}{}", &held[span.end..]))
        }
        None => before.map(str::to_owned),
    };
    let after = match (install, standing, theirs) {
        (true, Standing::Current, _) => Some(held.to_owned()),
        (true, _, Some(theirs)) => Some(format!("{theirs}\n{wanted}")),
        (true, _, None) => Some(wanted),
        (false, _, theirs) => theirs,
    };
    (standing, after, None)
}

fn locate(workspace: &Workspace, agent: Agent, plan: &Plan) -> Result<PathBuf> {
    match plan.base {
        Base::Worktree => {
            let root = workspace.repo.root();
            let mut path = root.to_owned();
            for part in plan.path.split('/') {
                path.push(part);
                let link = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink());
                if link {
                    let what = format!("`{}` is a symbolic link", path.display());
                    return Err(Failure::state(Code::HooksFile, what));
                }
            }
            Ok(path)
        }
        Base::Home => {
            let home = std::env::var_os("HOME")
                .filter(|home| !home.is_empty())
                .ok_or_else(|| Failure::state(Code::HooksFile, "`HOME` is not set"))?;
            let writes = &agent.known().preset.writes;
            let path = in_home(Path::new(&home), writes, &plan.path);
            // A link to settings elsewhere is followed, and they are changed there.
            match path.canonicalize() {
                Ok(real) => Ok(real),
                Err(_) if path.is_symlink() => {
                    let what = format!("`{}` is a link that leads nowhere", path.display());
                    Err(Failure::state(Code::HooksFile, what))
                }
                Err(_) => Ok(path),
            }
        }
    }
}

/// Returns a path in the home directory, or in the directory that an agent's variable names instead.
fn in_home(home: &Path, writes: &[StateDirectory], path: &str) -> PathBuf {
    let moved = writes.iter().find_map(|directory| {
        let rest = Path::new(path).strip_prefix(&directory.home).ok()?;
        let place = std::env::var_os(directory.variable.as_ref()?).filter(|at| !at.is_empty())?;
        Some(Path::new(&place).join(&directory.under).join(rest))
    });
    moved.unwrap_or_else(|| home.join(path))
}

/// The agents with hooks installed here, in private or shared settings.
pub fn list_installed(workspace: &Workspace, purpose: Purpose) -> Vec<Agent> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    let is_there = |place: &str| {
        let (top, path) = match place.strip_prefix("~/") {
            Some(path) => (home.as_deref().map(Path::new), path),
            None => (Some(workspace.repo.root()), place),
        };
        let names = [path, &purpose.own_name(path)];
        let found = |name: &str| top.is_some_and(|top| top.join(name).symlink_metadata().is_ok());
        names.into_iter().any(found)
    };
    let is_set = |variable: &str| std::env::var_os(variable).is_some();
    Agent::list_with_hooks(is_there, is_set)
        .filter(|agent| is_installed(workspace, *agent, purpose))
        .collect()
}

fn is_installed(workspace: &Workspace, agent: Agent, purpose: Purpose) -> bool {
    [false, true].into_iter().any(|shared| {
        let plans = layout::plans(agent, shared, purpose);
        plans.first().is_some_and(|plan| {
            change(workspace, agent, plan, true).is_ok_and(|c| c.standing != Standing::Missing)
        })
    })
}

/// A file that contains a part of cook's, and the plan that wrote it.
pub struct Written {
    agent: Agent,
    is_shared: bool,
    plan: Plan,
    pub path: PathBuf,
    /// Whether all repositories share the file.
    pub is_in_home: bool,
    /// Whether the file is entirely cook's and was edited by someone else.
    pub is_edited: bool,
}

impl Written {
    pub fn agent(&self) -> &'static str {
        self.agent.name()
    }

    /// Removes cook's part from the current file.
    ///
    /// # Errors
    /// The file cannot be changed.
    pub fn take_out(&self, workspace: &Workspace) -> Result<()> {
        let changes = [change(workspace, self.agent, &self.plan, false)?];
        write(&changes, false)?;
        match self.is_shared {
            true => Ok(()),
            false => hide_from_status(workspace, &changes, false),
        }
    }
}

/// Lists the files of this worktree that contain hooks of cook's, and failures to read such files.
pub fn list_written(workspace: &Workspace) -> (Vec<Written>, Vec<Failure>) {
    let (mut written, mut failed) = (Vec::new(), Vec::new());
    let each = Agent::all().flat_map(|agent| {
        let shared = [false, true].into_iter();
        shared.flat_map(move |is_shared| {
            let purposes = [Purpose::Workflow, Purpose::Check].into_iter();
            purposes.map(move |purpose| (agent, is_shared, purpose))
        })
    });
    for (agent, is_shared, purpose) in each {
        for plan in layout::plans(agent, is_shared, purpose) {
            let found = match change(workspace, agent, &plan, false) {
                Ok(found) => found,
                Err(failure) => {
                    failed.push(failure);
                    continue;
                }
            };
            if !found.changes() {
                continue;
            }
            let before = found.before.as_deref().unwrap_or_default();
            // Earlier versions wrote another mark.
            let is_whole = matches!(plan.content, Content::Whole(_));
            let is_edited =
                is_whole && found.standing == Standing::Stale && before.contains(purpose.mark());
            written.push(Written {
                agent,
                is_shared,
                path: found.path,
                is_in_home: plan.base == Base::Home,
                is_edited,
                plan,
            });
        }
    }
    (written, failed)
}

/// Whether the call comes from another agent that also runs this agent's hooks and has its own hooks here.
pub fn is_called_twice(workspace: &Workspace, agent: Agent, purpose: Purpose) -> bool {
    let is_around = |one: &Agent| {
        let mut set = one.known().markers.set.iter();
        set.any(|name| std::env::var_os(name).is_some())
    };
    let runs_it = |one: &Agent| {
        one.hooks()
            .also_runs
            .iter()
            .any(|name| name == agent.name())
    };
    let mut others = Agent::all().filter(|one| runs_it(one) && is_around(one));
    !is_around(&agent) && others.any(|one| is_installed(workspace, one, purpose))
}

// The changes of files by installing or removing.

/// The state of a file compared with the wanted content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The file contains no part of cook's.
    Missing,
    /// Cook's part differs from what this version writes.
    Stale,
    /// Cook's part is as this version writes it.
    Current,
}

/// A file with its current and its wanted content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path of the file.
    pub path: PathBuf,
    /// The state of the current content.
    pub standing: Standing,
    /// The current content; `None` if there is no file.
    pub before: Option<String>,
    /// The wanted content; `None` if there should be no file.
    pub after: Option<String>,
    /// A remark for the user.
    pub remark: Option<String>,
}

impl Change {
    /// Whether the file must be written.
    pub fn changes(&self) -> bool {
        self.before != self.after
    }
}

/// The maximum size of a settings file in bytes.
const MAX_FILE: u64 = 4 << 20;
/// How long to wait for another cook process that is writing the file.
const WAIT: Duration = Duration::from_secs(5);

fn read(path: &Path) -> Result<Option<String>> {
    let failed = |why: String| {
        Failure::state(
            Code::HooksFile,
            format!("`{}` cannot be read: {why}", path.display()),
        )
    };
    disk::read_text(path, MAX_FILE, Links::Follow).map_err(|error| failed(error.to_string()))
}

/// Writes the files that change.
///
/// # Errors
/// A file cannot be written.
pub fn write(changes: &[Change], is_program: bool) -> Result<()> {
    let mode = match is_program {
        true => Mode::Masked(0o777),
        false => Mode::Kept(0o644),
    };
    for change in changes.iter().filter(|change| change.changes()) {
        may_be_changed(&change.path)?;
    }
    for change in changes.iter().filter(|change| change.changes()) {
        let path = &change.path;
        let _held = hold(path)?;
        let found = read(path)?;
        if found == change.after {
            continue;
        }
        if found != change.before {
            let what = format!(
                "`{}` was changed by another program just now",
                path.display()
            );
            return Err(
                Failure::state(Code::HooksFile, what).replace_hints(["run the command again"])
            );
        }
        put(path, change.after.as_deref(), mode).or_fail(
            Code::NotWritable,
            format!("`{}` cannot be written", path.display()),
        )?;
    }
    Ok(())
}

/// Locks the file's directory, so that no other call of cook overwrites this change. A directory that is missing or
/// cannot be locked is no error here: the write itself reports it.
fn hold(path: &Path) -> Result<Option<std::fs::File>> {
    let held = path.parent().map(|dir| disk::hold_directory(dir, WAIT));
    match held {
        Some(Ok(None)) => {
            let what = format!("another cook is writing `{}`", path.display());
            Err(Failure::state(Code::HooksFile, what).replace_hints(["run the command again"]))
        }
        Some(Ok(held)) => Ok(held),
        Some(Err(_)) | None => Ok(None),
    }
}

/// Refuses a file that is read-only or belongs to another user: replacing it would succeed without write permission.
fn may_be_changed(path: &Path) -> Result<()> {
    let Ok(found) = std::fs::metadata(path) else {
        return Ok(());
    };
    let (why, way) = if found.permissions().readonly() {
        let write = format!("let it be written (`chmod u+w {}`)", path.display());
        (
            "is read-only",
            format!("{write}, then run the command again"),
        )
    } else if !disk::is_own(&found) {
        let way = "add the hooks as its owner: `cook hooks install AGENT --print` shows them";
        ("belongs to another user", way.to_owned())
    } else {
        return Ok(());
    };
    let what = format!("`{}` {why}", path.display());
    Err(Failure::state(Code::HooksFile, what).replace_hints([way]))
}

fn put(path: &Path, text: Option<&str>, mode: Mode) -> std::io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let Some(text) = text else {
        std::fs::remove_file(path)?;
        // Fails if the directory is not empty.
        let _ = std::fs::remove_dir(dir);
        return Ok(());
    };
    std::fs::create_dir_all(dir)?;
    NewFile::at(path, Durable::Content)
        .mode(mode)
        .write(text.as_bytes())
}

/// The line before each of cook's lines in git's exclude file.
const HIDDEN: &str = "# cook: hooks of one's own, until `cook hooks remove`";

/// Hides personal files in the worktree from `git status`, so that they do not make the worktree dirty, or shows files
/// again that cook hid.
///
/// # Errors
/// The exclude file cannot be written.
pub fn hide_from_status(workspace: &Workspace, changes: &[Change], hides: bool) -> Result<()> {
    let root = workspace.repo.root();
    let info = workspace.repo.common_dir().join("info");
    if info.exists() && !disk::is_directory(&info) {
        let what = format!("`{}` leads elsewhere", info.display());
        return Err(Failure::state(Code::NotWritable, what));
    }
    let exclude = info.join("exclude");
    for change in changes {
        let Ok(relative) = change.path.strip_prefix(root) else {
            continue;
        };
        let held = read(&exclude)?.unwrap_or_default();
        let line = format!("/{}", relative.display());
        let own = format!("{HIDDEN}\n{line}\n");
        let gap = match held.is_empty() || held.ends_with('\n') {
            true => "",
            false => "\n",
        };
        let text = match hides {
            true if !held.lines().any(|known| known == line) => format!("{held}{gap}{own}"),
            false if held.contains(&own) => held.replacen(&own, "", 1),
            _ => continue,
        };
        put(&exclude, Some(&text), Mode::Kept(0o644))
            .or_fail(Code::NotWritable, "`info/exclude` cannot be written")?;
    }
    Ok(())
}

// Checks whether installed hooks work: runs the agent's hook command on one event, and finds the agent's last call.

/// The session of the test event; it leaves no files behind.
const SESSION: &str = "cook-hooks-check";
/// The time limit of the command.
const DEADLINE: Duration = Duration::from_secs(5);

/// Runs the installed command on an event without effect.
///
/// # Errors
/// One line that describes the problem.
pub fn try_command(workspace: &Workspace, agent: Agent, purpose: Purpose) -> Result<(), String> {
    let row = agent.rows().iter().find(|row| row.kind == Kind::AfterTool);
    let native = row.map_or("", |row| row.native.as_str());
    let event = json!({
        "hook_event_name": native,
        "session_id": SESSION,
        "session": SESSION,
        "cwd": workspace.repo.root().display().to_string(),
        "tool_name": "read",
    });
    let command = layout::command(agent, row, purpose);
    let tried = run(workspace, &command, event.to_string().into_bytes());
    StateDir::at(&workspace.repo, workspace.store.is_some()).forget(agent, SESSION);
    tried
}

/// Checks that a hook finds the program.
///
/// # Errors
/// One line that describes the problem.
pub fn try_program(workspace: &Workspace) -> Result<(), String> {
    run(workspace, "exit 0", Vec::new())
}

/// Runs a command line of a hook, with a check that it finds `cook`.
fn run(workspace: &Workspace, command: &str, stdin: Vec<u8>) -> Result<(), String> {
    let line = format!("command -v cook >/dev/null || exit 9; {command}");
    let argv = ["sh", "-c", &line].map(OsString::from).to_vec();
    let outcome = capture(&Short {
        stdin,
        ..Short::new(argv, workspace.repo.root(), DEADLINE, 64 * 1024)
    })
    .map_err(|error| error.to_string())?;
    match outcome.code {
        Some(0) if outcome.stderr.is_empty() => Ok(()),
        Some(9) => Err("the `cook` program is not on PATH, so the hooks do nothing".to_owned()),
        _ => Err(format!(
            "the command ends with {:?}: {}",
            outcome.code,
            outcome.stderr.lines().next().unwrap_or_default()
        )),
    }
}

/// When the agent last called a hook in this worktree, in milliseconds since 1970.
pub fn last_called(workspace: &Workspace, agent: Agent) -> Option<i64> {
    let state_dir = StateDir::at(&workspace.repo, workspace.store.is_some());
    let called = |state: &SessionState| {
        (state.agent == agent.name() && state.called_ms > 0).then_some(state.called_ms)
    };
    state_dir.sessions().iter().filter_map(called).max()
}

/// Returns `hooks_unseen` for each agent whose hooks are installed but were never called.
pub fn unseen(workspace: &Workspace) -> Vec<Finding> {
    let state_dir = StateDir::at(&workspace.repo, workspace.store.is_some());
    let seen = state_dir.sessions();
    list_installed(workspace, Purpose::Workflow)
        .into_iter()
        .filter(|agent| {
            !seen
                .iter()
                .any(|s| s.agent == agent.name() && s.called_ms > 0)
        })
        .map(|agent| {
            let what = format!(
                "hooks of {} are installed and were never called here",
                agent.name()
            );
            Finding::new(Code::HooksUnseen, what)
        })
        .collect()
}

// git's `pre-push` hook: checks what is pushed.
//
// Invariants: the user's own hook is never changed; a file is deleted only if its content is exactly cook's.

/// The line with which a user's own hook can do the same.
const LINE: &str = "cook check --pushed || exit 1";

/// git passes the refs on stdin. Without cook, a push works as usual.
fn pre_push_text() -> String {
    format!(
        "#!/bin/sh\n# {}: written by `cook hooks install git --check`, taken out by `cook hooks remove git --check`\ncommand -v cook >/dev/null 2>&1 || exit 0\nfound=$(cook check --pushed) && exit 0\nprintf '%s\\n' \"$found\" >&2\nexit 1\n",
        Purpose::Check.mark()
    )
}

/// Computes the change that installing or removing makes to the hook.
///
/// # Errors
/// `hooks_file` if the hook is the user's own, or other repositories would share it.
pub fn change_pre_push(workspace: &Workspace, install: bool) -> Result<Change> {
    let path = locate_pre_push(workspace, install)?;
    let before = read(&path)?;
    let text = pre_push_text();
    let (standing, after) = match &before {
        None => (Standing::Missing, install.then_some(text)),
        Some(found) if *found == text => (Standing::Current, install.then_some(text)),
        Some(found) => {
            let is_ours = found.contains(Purpose::Check.any_mark());
            if install || is_ours {
                let what = format!("`{}` is there and is not what cook writes", path.display());
                return Err(theirs(what));
            }
            (Standing::Missing, before.clone())
        }
    };
    Ok(Change {
        path,
        standing,
        before,
        after,
        remark: None,
    })
}

fn theirs(what: String) -> Failure {
    let hint = format!(
        "add to it, before anything reads its standard input: `{LINE}` (to take cook's part out, delete that line)"
    );
    Failure::state(Code::HooksFile, what).replace_hints([hint])
}

/// The path where git looks for the hook, with `core.hooksPath`.
fn locate_pre_push(workspace: &Workspace, install: bool) -> Result<PathBuf> {
    let repo = &workspace.repo;
    let dir = repo.hooks_dir()?;
    let own = [repo.root(), repo.git_dir(), repo.common_dir()];
    // A missing directory is resolved by its nearest existing ancestor.
    let real = dir.ancestors().find_map(|at| {
        let rest = dir.strip_prefix(at).ok()?.to_owned();
        Some(at.canonicalize().ok()?.join(rest))
    });
    let real = real.unwrap_or_else(|| dir.clone());
    let path = real.join("pre-push");
    if install && !own.iter().any(|own: &&Path| real.starts_with(own)) {
        let what = format!(
            "`core.hooksPath` leads to `{}`, which is not this repository's alone",
            dir.display()
        );
        let hint = format!("add to `{}` yourself: `{LINE}`", path.display());
        return Err(Failure::state(Code::HooksFile, what).replace_hints([hint]));
    }
    if std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
        let what = format!("`{}` is a symbolic link", path.display());
        return Err(theirs(what));
    }
    Ok(path)
}
