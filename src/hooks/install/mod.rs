//! Installing, checking and removing hooks in an agent's settings.
//!
//! Invariants: what others wrote stays, in its order, with its comments; a second
//! run changes no byte; what cook wrote carries its mark, and only that is taken
//! out; inside the worktree no link is followed.

mod hook_trial;
pub mod pre_push;
mod settings_file;

use crate::service::Workspace;
use cook_agents::hooks::Agent;
use cook_agents::hooks::jsonc::{self, JsoncError};
use cook_agents::hooks::layout::{self, Base, Content, Entry, Plan, Purpose};
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::model::StateDirectory;
pub use hook_trial::{last_called, try_command, try_program, unseen};
use serde_json::Value;
use settings_file::read;
pub use settings_file::{Change, Standing, hide_from_status, write};
use std::path::{Path, PathBuf};

/// Beginning and end of a block in a text of others.
const BEGIN: &str = "<!-- >>> cook-hooks";
const END: &str = "<!-- <<< cook-hooks -->";

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
            merge(before.as_deref(), entries, plan.any_mark, install).map_err(told)?
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
            // What it held before cook's part became all that is in it; none = there was no file. One
            // that cook made ends with its line; behind what it wrote into an empty one no line ends.
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

fn pointer(path: &[&str]) -> String {
    path.iter().map(|name| format!("/{name}")).collect()
}

/// Whether each entry is there exactly once, and nothing else of cook's is.
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
            // Somebody else's stays.
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
    // Before the block stands one line end of cook's, unless the file was made for it.
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

/// A path below the home, or below the place that a variable names for an agent's directory.
fn in_home(home: &Path, writes: &[StateDirectory], path: &str) -> PathBuf {
    let moved = writes.iter().find_map(|directory| {
        let rest = Path::new(path).strip_prefix(&directory.home).ok()?;
        let place = std::env::var_os(directory.variable.as_ref()?).filter(|at| !at.is_empty())?;
        Some(Path::new(&place).join(&directory.under).join(rest))
    });
    moved.unwrap_or_else(|| home.join(path))
}

/// Agents whose hooks are installed here, in either place.
pub fn list_installed(workspace: &Workspace, purpose: Purpose) -> Vec<Agent> {
    let is_there = |agent: &Agent| {
        [false, true].into_iter().any(|shared| {
            let plan = &layout::plans(*agent, shared, purpose)[0];
            change(workspace, *agent, plan, true).is_ok_and(|c| c.standing != Standing::Missing)
        })
    };
    Agent::all().filter(is_there).collect()
}
