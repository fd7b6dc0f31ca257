//! Detects whether this process runs under an agent: by the environment variables that agent programs set for their
//! children, and by cook's own.

#[cfg(target_os = "linux")]
use super::process_tree::find_parent;
use cook_protocol::model::KnownAgent;
use std::ffi::OsStr;

/// Variables that several agent programs set for their children. Those of a single agent are listed in its file in
/// `protocol/agents/`.
const COMMON: [&str; 2] = ["AGENT", "AI_AGENT"];

/// Set by cook for the sessions it starts.
pub const ROLE_VARIABLE: &str = "COOK_ROLE";
/// Set by cook for every process of a session it starts.
pub const INVOCATION_VARIABLE: &str = "COOK_INVOCATION";

/// Set by cook for every process of a session that belongs to a `cook run`: the log of its workflow.
pub const WORKFLOW_VARIABLE: &str = "COOK_WORKFLOW";

/// The nesting depth of agents around a process; set by cook for the sessions it starts.
pub const DEPTH_VARIABLE: &str = "COOK_DEPTH";

/// Whether cook itself sets this variable for its children.
pub(super) fn is_own_marker(name: &str) -> bool {
    [
        ROLE_VARIABLE,
        INVOCATION_VARIABLE,
        WORKFLOW_VARIABLE,
        DEPTH_VARIABLE,
    ]
    .contains(&name)
}

/// Whether an agent program sets this variable for its children.
pub fn is_agent_marker(name: &str) -> bool {
    COMMON.contains(&name) || KnownAgent::all().any(|known| known.markers.include(name))
}

/// The first agent marker in this process's own environment.
pub fn agent_marker() -> Option<String> {
    list_set().filter(|name| is_agent_marker(name)).min()
}

/// The names of the variables in this process's environment that are not empty.
fn list_set() -> impl Iterator<Item = String> {
    let set = std::env::vars_os().filter(|(_, value)| !value.is_empty());
    set.filter_map(|(name, _)| name.into_string().ok())
}

/// Describes cook's own marker in the environment of this process or (on Linux) of one of its ancestors; `None` if
/// there is none.
pub fn session_marker() -> Option<String> {
    for name in [ROLE_VARIABLE, INVOCATION_VARIABLE] {
        if std::env::var_os(name).is_some_and(|value| !value.is_empty()) {
            return Some(format!("`{name}` is set"));
        }
    }
    ancestor_marker()
}

/// The agent session that this process runs in, as agent and session id, if the agent's variables name it. If several
/// do, the first by name.
pub fn session_around() -> Option<(&'static str, String)> {
    KnownAgent::all()
        .filter_map(|known| {
            let id = std::env::var(known.markers.session.as_ref()?).ok()?;
            (!id.is_empty() && id.len() <= 4096).then_some((known.name(), id))
        })
        .min()
}

/// The agent that this process runs under, detected by the variables that only this agent sets, otherwise by its
/// process. If several match, the first by name.
pub fn agent_around() -> Option<&'static str> {
    let set: Vec<String> = list_set().collect();
    KnownAgent::all()
        .filter(|known| set.iter().any(|name| known.markers.include(name)))
        .map(KnownAgent::name)
        .min()
        .or_else(|| agent_process().map(|(name, _)| name))
}

/// The nearest ancestor process that is an agent known by its program name, because it sets no variable; with the
/// agent's name.
pub fn agent_process() -> Option<(&'static str, u32)> {
    list_ancestors().find_map(|pid| {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let is_it = |known: &&KnownAgent| known.markers.program.as_deref() == Some(name.trim_end());
        Some((KnownAgent::all().find(is_it)?.name(), pid))
    })
}

/// The ancestors of this process, nearest first.
#[cfg(target_os = "linux")]
fn list_ancestors() -> impl Iterator<Item = u32> {
    let all = std::iter::successors(find_parent(std::process::id()), |pid| find_parent(*pid));
    all.take_while(|pid| *pid > 1).take(256)
}

/// The ancestors are known on Linux only.
#[cfg(not(target_os = "linux"))]
fn list_ancestors() -> impl Iterator<Item = u32> {
    std::iter::empty()
}

/// Looks for a marker through `/proc`; a process whose environment cannot be read is skipped. A descendant of another
/// cook process was not started by the user: it is a gate, or an agent that has cleared its environment.
fn ancestor_marker() -> Option<String> {
    let own = std::env::current_exe().ok();
    list_ancestors().find_map(|pid| {
        let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
        if program.is_some_and(|program| {
            own.as_ref() == Some(&program) || program.file_name() == Some(OsStr::new("cook"))
        }) {
            return Some(format!("process {pid}, a cook, started it"));
        }
        let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
        let name = [ROLE_VARIABLE, INVOCATION_VARIABLE]
            .into_iter()
            .find(|name| {
                let begin = format!("{name}=");
                let mut entries = environment.split(|byte| *byte == 0);
                entries
                    .any(|entry| entry.len() > begin.len() && entry.starts_with(begin.as_bytes()))
            })?;
        Some(format!(
            "`{name}` is set for process {pid}, which this one descends from"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_told_from_settings() {
        for name in [
            "CLAUDECODE",
            "CODEX_THREAD_ID",
            "CLAUDE_CODE_ENTRYPOINT",
            "QWEN_CODE",
            "AGENT",
            "PI_SESSION_ID",
        ] {
            assert!(is_agent_marker(name), "{name}");
        }
        for name in [
            "CODEX_HOME",
            "PATH",
            "PI_PACKAGE_DIR",
            "AGENTS",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_MAX_RETRIES",
            "CLAUDE_CODE_EFFORT_LEVEL",
            "COPILOT_MODEL",
            "QWEN_CODE_MAX_OUTPUT_TOKENS",
            "CLAUDE_CODE_USE_BEDROCK",
            "COPILOT_GITHUB_TOKEN",
            "COPILOT_PROVIDER_BASE_URL",
            "COOK_ROLE",
        ] {
            assert!(!is_agent_marker(name), "{name}");
        }
    }
}
