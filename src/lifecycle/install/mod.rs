//! Installing, checking and removing hooks in an agent's settings.
//!
//! Invariants: what others wrote stays, in its order, with its comments; a second
//! run changes no byte; what cook wrote carries its mark, and only that is taken
//! out; inside the worktree no link is followed.

pub mod pre_push;
mod trial;

pub use trial::{last_called, try_command, unseen};

use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure};
use cook_core::model::StateDirectory;
use cook_hooks::Agent;
use cook_hooks::jsonc::{self, JsoncError};
use cook_hooks::layout::{self, Base, Content, Entry, Plan, Purpose};
use cook_os::disk::{self, Durable, Links, Mode, NewFile};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Largest settings file that is changed.
const MAX_FILE: u64 = 4 << 20;
/// Beginning and end of a block in a text of others.
const BEGIN: &str = "<!-- >>> cook-hooks";
const END: &str = "<!-- <<< cook-hooks -->";

/// How a file stands to what belongs into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing of cook's is in it.
    Missing,
    /// Something else than this version writes.
    Stale,
    /// As it should be.
    Current,
}

/// One file, with what it is and what it would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where it is.
    pub path: PathBuf,
    /// How it stands.
    pub standing: Standing,
    /// What it holds; none = there is no file.
    pub before: Option<String>,
    /// What it would hold; none = no file.
    pub after: Option<String>,
    /// A word for the user.
    pub remark: Option<String>,
}

impl Change {
    /// Something would be written.
    pub fn changes(&self) -> bool {
        self.before != self.after
    }
}

/// What installing, or removing, would do to each file.
///
/// # Errors
/// A file that cannot be read, is not valid JSON, or is somebody else's.
pub fn changes(
    workspace: &Workspace,
    agent: Agent,
    (shared, purpose): (bool, Purpose),
    install: bool,
) -> Result<Vec<Change>, Failure> {
    layout::plans(agent, shared, purpose)
        .iter()
        .map(|plan| change(workspace, agent, plan, install))
        .collect()
}

fn change(
    workspace: &Workspace,
    agent: Agent,
    plan: &Plan,
    install: bool,
) -> Result<Change, Failure> {
    let path = locate(workspace, agent, plan)?;
    let before = read(&path)?;
    let told = |error: JsoncError| {
        Failure::state(
            Code::HooksFile,
            format!("`{}` cannot be changed: {error}", path.display()),
        )
    };
    let (standing, after, remark) = match &plan.content {
        Content::Merged(entries) => {
            merged(before.as_deref(), entries, plan.any_mark, install).map_err(told)?
        }
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

fn merged(
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
    let cleared = match before {
        Some(text) => without(text, entries, mark)?,
        None => None,
    };
    if !install {
        return Ok((standing, cleared, remark));
    }
    let mut after = cleared.unwrap_or_default();
    for entry in entries {
        after = match entry.listed {
            true => jsonc::push(&after, &entry.path, &entry.value)?,
            false => with_member(after, entry)?,
        };
    }
    Ok((standing, Some(after), remark))
}

fn with_member(text: String, entry: &Entry) -> Result<String, JsoncError> {
    match jsonc::value(&text)?.pointer(&pointer(&entry.path)) {
        Some(_) => Ok(text),
        None => jsonc::insert(&text, &entry.path, &entry.value),
    }
}

fn pointer(path: &[&str]) -> String {
    path.iter().map(|name| format!("/{name}")).collect()
}

/// Whether each entry is there exactly once, and nothing else of cook's is.
fn standing(root: &Value, entries: &[Entry], mark: &str) -> Standing {
    let mut current = true;
    let mut any = false;
    for entry in entries {
        let held = root.pointer(&pointer(&entry.path));
        if !entry.listed {
            let replaceable = held.is_some_and(|held| !is_ours(held, mark));
            current &= replaceable || held == Some(&entry.value);
            any |= held.is_some_and(|held| is_ours(held, mark));
            continue;
        }
        let ours: Vec<&Value> = held
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter(|held| holds_ours(held, mark))
            .collect();
        any |= !ours.is_empty();
        current &= ours == [&entry.value];
    }
    let known = |event: &String| {
        entries
            .iter()
            .any(|e| e.path.get(1) == Some(&event.as_str()))
    };
    for (event, groups) in root["hooks"].as_object().into_iter().flatten() {
        let mut groups = groups.as_array().into_iter().flatten();
        let strays = groups.any(|group| holds_ours(group, mark));
        if strays && !known(event) {
            any = true;
            current = false;
        }
    }
    match (any, current) {
        (false, _) => Standing::Missing,
        (true, true) => Standing::Current,
        (true, false) => Standing::Stale,
    }
}

/// A hook of cook's, by the mark in its command.
fn is_ours(hook: &Value, mark: &str) -> bool {
    ["command", "bash", "powershell"].iter().any(|field| {
        hook[*field]
            .as_str()
            .is_some_and(|line| line.contains(mark))
    })
}

/// A group with a hook of cook's in it, or such a hook itself.
fn holds_ours(group: &Value, mark: &str) -> bool {
    let hooks = group["hooks"].as_array().into_iter().flatten();
    is_ours(group, mark) || hooks.into_iter().any(|hook| is_ours(hook, mark))
}

/// The text without what is cook's; none = nothing else is in it. A group that somebody added a
/// hook to stays.
fn without(text: &str, entries: &[Entry], mark: &str) -> Result<Option<String>, JsoncError> {
    let is_ours = |hook: &Value| is_ours(hook, mark);
    let all_ours = |group: &Value| {
        let hooks = group["hooks"].as_array();
        is_ours(group) || hooks.is_some_and(|hooks| !hooks.is_empty() && hooks.iter().all(is_ours))
    };
    let mut text = text.to_owned();
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
    for entry in entries.iter().filter(|entry| !entry.listed) {
        let held = jsonc::value(&text)?;
        let member = held.pointer(&pointer(&entry.path));
        let left = || jsonc::remove_member(&text, &entry.path);
        if member.is_some_and(&is_ours) {
            match left()? {
                Some(left) => text = left,
                None => return Ok(None),
            }
        } else if member == Some(&entry.value) && left()?.is_none() {
            // What belongs to any such file goes with one that holds nothing else.
            return Ok(None);
        }
    }
    Ok(Some(text))
}

/// Takes cook's hooks out of groups that hold others too.
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

/// A marked block at the end of a text of others.
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
    let rest = match &found {
        Some(span) => format!("{}{}", &held[..span.start], &held[span.end..]),
        None => held.to_owned(),
    };
    let after = match (install, standing) {
        (true, Standing::Current) => Some(held.to_owned()),
        (true, _) => {
            let gap = match rest.as_str() {
                "" => "",
                rest if rest.ends_with("\n\n") => "",
                rest if rest.ends_with('\n') => "\n",
                _ => "\n\n",
            };
            Some(format!("{rest}{gap}{wanted}"))
        }
        (false, Standing::Missing) => before.map(str::to_owned),
        (false, _) => {
            let rest = rest
                .strip_suffix("\n\n")
                .map(|r| format!("{r}\n"))
                .unwrap_or(rest);
            (!rest.trim().is_empty()).then_some(rest)
        }
    };
    (standing, after, None)
}

fn locate(workspace: &Workspace, agent: Agent, plan: &Plan) -> Result<PathBuf, Failure> {
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
            // Settings that are kept elsewhere and linked to are changed there.
            Ok(path.canonicalize().unwrap_or(path))
        }
    }
}

/// A path below the home, or below the place that a variable names for an agent's directory.
fn in_home(home: &Path, writes: &[StateDirectory], path: &str) -> PathBuf {
    let moved = writes.iter().find_map(|directory| {
        let rest = Path::new(path).strip_prefix(&directory.home).ok()?;
        let place = std::env::var_os(directory.variable.as_ref()?).filter(|at| !at.is_empty())?;
        Some(Path::new(&place).join(&directory.under).join(rest))
    });
    moved.unwrap_or_else(|| home.join(path))
}

fn read(path: &Path) -> Result<Option<String>, Failure> {
    let failed = |why: String| {
        Failure::state(
            Code::HooksFile,
            format!("`{}` cannot be read: {why}", path.display()),
        )
    };
    disk::read_text(path, MAX_FILE, Links::Follow).map_err(|error| failed(error.to_string()))
}

/// Writes what changed.
///
/// # Errors
/// A place that cannot be written.
pub fn write(changes: &[Change]) -> Result<(), Failure> {
    write_as(changes, Mode::Kept(0o644))
}

/// The same for a file that is run.
///
/// # Errors
/// As [`write`].
pub fn write_program(change: &Change) -> Result<(), Failure> {
    write_as(std::slice::from_ref(change), Mode::Masked(0o777))
}

fn write_as(changes: &[Change], mode: Mode) -> Result<(), Failure> {
    for change in changes.iter().filter(|change| change.changes()) {
        let path = &change.path;
        put(path, change.after.as_deref(), mode).map_err(|error| {
            Failure::state(
                Code::NotWritable,
                format!("`{}` cannot be written", path.display()),
            )
            .caused_by(&error)
        })?;
    }
    Ok(())
}

fn put(path: &Path, text: Option<&str>, mode: Mode) -> std::io::Result<()> {
    let Some(text) = text else {
        return std::fs::remove_file(path);
    };
    let dir = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(dir)?;
    NewFile::at(path, Durable::Content)
        .mode(mode)
        .write(text.as_bytes())
}

/// Keeps a personal file inside the worktree out of `git status`, so that it never
/// makes the tree dirty.
///
/// # Errors
/// When the list cannot be written.
pub fn keep_out_of_status(workspace: &Workspace, changes: &[Change]) -> Result<(), Failure> {
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
        let line = format!("/{}", relative.display());
        let held = read(&exclude)?.unwrap_or_default();
        if held.lines().any(|known| known == line) {
            continue;
        }
        let gap = if held.is_empty() || held.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        let text = format!("{held}{gap}{line}\n");
        put(&exclude, Some(&text), Mode::Kept(0o644)).map_err(|error| {
            Failure::state(Code::NotWritable, "`info/exclude` cannot be written").caused_by(&error)
        })?;
    }
    Ok(())
}

/// Agents whose hooks are installed here, in either place.
pub fn installed(workspace: &Workspace) -> Vec<Agent> {
    let is_there = |agent: &Agent| {
        [false, true].into_iter().any(|shared| {
            let plan = &layout::plans(*agent, shared, Purpose::Workflow)[0];
            change(workspace, *agent, plan, true).is_ok_and(|c| c.standing != Standing::Missing)
        })
    };
    Agent::all().filter(is_there).collect()
}
