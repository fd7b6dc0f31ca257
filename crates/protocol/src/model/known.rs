//! The agents that cook knows: one file each in `protocol/agents/`, embedded, read when one
//! is asked for and kept from then on.

use super::agent::AgentTable;
use super::hooks::HookTable;
use serde::Deserialize;
use std::sync::OnceLock;

macro_rules! files {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../../../../protocol/agents/", $name, ".toml")))),*]
    };
}

/// The files, by the name of the agent.
const FILES: [(&str, &str); 14] = files! {
    "claude" "codex" "gemini" "qwen" "copilot" "cursor" "opencode" "pi" "aider" "amp"
    "gemini-acp" "goose" "opencode-acp" "qwen-acp"
};

static KNOWN: [OnceLock<KnownAgent>; FILES.len()] = [const { OnceLock::new() }; FILES.len()];

/// Variables by which an agent is seen to be around a process.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Markers {
    /// The one that holds the id of the session.
    pub session: Option<String>,
    /// Those that the agent sets for its children, each seen there. What a person exports is none.
    pub set: Vec<String>,
    /// Where it says so instead to a server of tools, which gets none of them.
    pub mcp: Option<McpMarker>,
}

/// How an agent says in a call of a tool which session it is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpMarker {
    /// The name by which it greets the server.
    pub client: String,
    /// The field of a request's `_meta` that holds the id of the session.
    pub session: String,
}

impl Markers {
    /// Whether a variable of that name is one.
    pub fn include(&self, variable: &str) -> bool {
        self.set.iter().any(|name| name == variable)
    }
}

/// An agent that cook knows.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownAgent {
    #[serde(skip)]
    name: &'static str,
    /// How it is noticed.
    #[serde(default)]
    pub markers: Markers,
    /// How it is started and read.
    pub preset: AgentTable,
    /// Its lifecycle hooks, if it has any.
    #[serde(default)]
    pub hooks: Option<HookTable>,
}

impl KnownAgent {
    /// All of them.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        (0..FILES.len()).map(Self::at)
    }

    /// The agent of that name.
    pub fn find(name: &str) -> Option<&'static Self> {
        let index = FILES.iter().position(|(known, _)| *known == name)?;
        Some(Self::at(index))
    }

    /// The names of all.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|(name, _)| *name)
    }

    /// The names of those whose file has this line. For texts that every start of the
    /// program puts together, most of them for nothing: no file is parsed.
    pub fn list_names_with(line: &str) -> impl Iterator<Item = &'static str> + use<> {
        let line = format!("\n{line}\n");
        FILES
            .iter()
            .filter(move |(_, text)| text.contains(&line))
            .map(|(name, _)| *name)
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    fn at(index: usize) -> &'static Self {
        KNOWN[index].get_or_init(|| {
            let (name, text) = FILES[index];
            // The files are part of the program, and a test reads each of them.
            let known: Self = toml::from_str(text)
                .unwrap_or_else(|error| panic!("protocol/agents/{name}.toml: {error}"));
            Self { name, ..known }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_listed_and_sound() {
        let here = concat!(env!("CARGO_MANIFEST_DIR"), "/../../protocol/agents");
        let mut files: Vec<String> = std::fs::read_dir(here)
            .unwrap_or_else(|e| panic!("{e}"))
            .flatten()
            .filter_map(|entry| {
                Some(
                    entry
                        .file_name()
                        .to_str()?
                        .strip_suffix(".toml")?
                        .to_owned(),
                )
            })
            .collect();
        let mut names: Vec<&str> = KnownAgent::all().map(KnownAgent::name).collect();
        files.sort();
        names.sort_unstable();
        assert_eq!(names, files);
        let those = |is: fn(&HookTable) -> bool| -> Vec<&str> {
            KnownAgent::all()
                .filter(|known| known.hooks.as_ref().is_some_and(is))
                .map(KnownAgent::name)
                .collect()
        };
        let with = |line: &str| KnownAgent::list_names_with(line).collect::<Vec<_>>();
        assert_eq!(with("[hooks]"), those(|_| true));
        assert_eq!(
            with("statusline = true"),
            those(|hooks| hooks.install.statusline)
        );
    }

    #[test]
    fn a_session_variable_is_a_marker() {
        for known in KnownAgent::all() {
            let session = known.markers.session.as_ref();
            assert!(session.is_none_or(|name| known.markers.include(name)));
        }
    }

    #[test]
    fn a_key_that_means_nothing_is_refused() {
        for (part, key) in [
            ("", "colour = 1"),
            ("[markers]", "sets = []"),
            ("[preset]", "bn = \"x\""),
        ] {
            let text = format!(
                "{part}\n{key}\n{}",
                if part == "[preset]" { "" } else { "[preset]" }
            );
            assert!(toml::from_str::<KnownAgent>(&text).is_err(), "{text}");
        }
    }
}
