//! `cook doctor agents`: which of them are here and what can be done with each.

use super::{Page, Show, Tone};
use serde::Serialize;

/// Agents that can be asked.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentsAnswer {
    /// One for each agent, by name.
    pub agents: Vec<AgentRow>,
}

/// One agent.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentRow {
    /// Its name.
    pub name: String,
    /// The program.
    pub bin: String,
    /// The program is there, and it is the one that is meant.
    pub installed: bool,
    /// Where a program of that name is.
    pub path: Option<String>,
    /// As it says.
    pub version: Option<String>,
    /// Some version of it was seen to work with the preset.
    pub verified: bool,
    /// What can be done with it.
    pub capabilities: Vec<&'static str>,
    /// What is wrong.
    pub problem: Option<String>,
}

impl Show for AgentsAnswer {
    fn human(&self, page: &mut Page) {
        for row in &self.agents {
            let (tone, state) = match (&row.problem, &row.path, row.installed) {
                (Some(_), _, _) => (Tone::Warn, "problem"),
                (None, None, _) => (Tone::Dim, "absent"),
                (None, Some(_), false) => (Tone::Warn, "another"),
                (None, Some(_), true) => (Tone::Good, "here"),
            };
            page.add_toned(Tone::Strong, &format!("{:<10}", row.name));
            page.add_toned(tone, &format!(" {state:<8}"));
            let version = row.version.as_deref().unwrap_or("-");
            let verified = if row.verified { "" } else { "  unverified" };
            page.line(&format!(
                " {version:<12} {}{verified}",
                row.capabilities.join(" ")
            ));
            if let Some(problem) = &row.problem {
                page.line(&format!("           {problem}"));
            }
            if row.path.is_some() && !row.installed && row.problem.is_none() {
                page.line(&format!(
                    "           `{}` is another program of that name",
                    row.bin
                ));
            }
        }
    }
}
