//! The story as data (`protocol/demo/story.toml`), and the scripts that its agents play.
//!
//! Invariant: only agents get anything of it. The driver is told nothing, so that what it
//! decides it decides by what it measures.

use cook_protocol::model::Role;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const STORY: &str = include_str!("../../protocol/demo/story.toml");

/// An agent that misbehaves.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Culprit {
    /// Reports a commit that is not there, and green tests that are red
    Liar,
    /// Weakens a criterion, edits cook's files, disarms the stop verifier
    Cheater,
    /// Dies in the middle of a line, with its work committed
    Crasher,
    /// Prints nothing and does not end
    Hanger,
    /// Prints 1 GB
    Flooder,
    /// Edits, commits and tags where it may only read
    Editor,
}

/// Everything that is told to the agents of a demonstration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Story {
    /// The mission of the repository.
    pub mission: String,
    pub gate: String,
    /// Each role's report, with places in braces for what differs.
    reports: BTreeMap<String, String>,
    /// The files that the repository begins with, by path.
    pub start: BTreeMap<String, String>,
    session: Vec<Session>,
    misdeed: Vec<Misdeed>,
}

/// What an agent does in one session, in this order.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Session {
    role: String,
    /// A line that it says before.
    says: Option<String>,
    /// Files that it writes.
    write: BTreeMap<String, String>,
    /// Texts that it puts in the place of others: path, from, to.
    edit: Vec<(String, String, String)>,
    /// What it commits all that as.
    commit: Option<Commit>,
    /// Whatever else it does, in the language of the scripted agent.
    steps: Vec<Value>,
    /// The JSON of a re-grounder's report.
    block: Option<String>,
    /// What stands in the places of its report; without it there is none.
    report: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Commit {
    slice: String,
    message: String,
}

/// A session of an agent that misbehaves.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Misdeed {
    culprit: Culprit,
    /// It comes before the role's session of that number, from 1.
    turn: usize,
    /// It does that session's work, and the session only reports it.
    #[serde(default)]
    works: bool,
    /// The code by which the log must tell of it, or `gate_red`.
    pub code: String,
    /// What it did, for people.
    pub did: String,
    session: Session,
}

impl Misdeed {
    /// Whose session it is.
    pub(super) fn role(&self) -> Option<Role> {
        Role::parse(&self.session.role)
    }
}

impl Story {
    /// The story that is built in.
    ///
    /// # Errors
    /// When it is no such document.
    pub(super) fn read() -> Result<Self, toml::de::Error> {
        toml::from_str(STORY)
    }

    /// What a culprit does, in the order in which it does it.
    pub(super) fn misdeeds(&self, culprit: Culprit) -> Vec<&Misdeed> {
        let of_it = |misdeed: &&Misdeed| misdeed.culprit == culprit;
        self.misdeed.iter().filter(of_it).collect()
    }

    /// The script of a role's agent; `log` is the file by which it counts its sessions.
    pub(super) fn script(&self, role: Role, culprit: Option<Culprit>, log: &str) -> Value {
        let is_own = |session: &&Session| Role::parse(&session.role) == Some(role);
        let misdeeds = culprit.map(|culprit| self.misdeeds(culprit));
        let misdeeds = misdeeds.unwrap_or_default();
        let mut played: Vec<Vec<Value>> = Vec::new();
        for (number, session) in self.session.iter().filter(is_own).enumerate() {
            let mut session = session.clone();
            for misdeed in &misdeeds {
                if misdeed.role() == Some(role) && misdeed.turn == number + 1 {
                    let mut steps = Vec::new();
                    if misdeed.works {
                        steps.extend(session.work());
                        session = session.with_its_work_done();
                    }
                    steps.extend(self.steps(&misdeed.session, role));
                    played.push(steps);
                }
            }
            played.push(self.steps(&session, role));
        }
        let calls: BTreeMap<String, Vec<Value>> = played
            .into_iter()
            .enumerate()
            .map(|(number, steps)| ((number + 1).to_string(), steps))
            .collect();
        // A session that the story does not have is told apart from one that it has.
        let beyond = json!([{"error": format!("the story has no further session of the {role}")}]);
        json!({"dialect": "pi", "log": log, "calls": calls, "steps": beyond})
    }

    fn steps(&self, session: &Session, role: Role) -> Vec<Value> {
        let mut steps = vec![json!("session"), json!({"report": {"cost_usd": 0.0}})];
        if session.is_silent() {
            steps.clear();
        }
        steps.extend(session.says.iter().map(|line| json!({ "answer": line })));
        steps.extend(session.work());
        steps.extend(session.steps.iter().cloned());
        if let Some(report) = self.report(session, role) {
            steps.push(json!({ "reply_with_head": report }));
        }
        steps
    }

    fn report(&self, session: &Session, role: Role) -> Option<String> {
        let given = session.report.clone()?;
        let files: Vec<&str> = session.paths().collect();
        let mut text = self.reports.get(role.short())?.clone();
        let fixed = [
            ("mission", self.mission.clone()),
            ("files", files.join(", ")),
            ("commit", "{head}".to_owned()),
            ("block", session.block.clone().unwrap_or_default()),
        ];
        let unsaid = ["remaining", "reopened", "decision", "slice", "selected"];
        let places = given
            .into_iter()
            .chain(fixed.map(|(name, value)| (name.to_owned(), value)))
            .chain(unsaid.map(|name| (name.to_owned(), "none".to_owned())));
        for (name, value) in places {
            text = text.replace(&format!("{{{name}}}"), value.trim());
        }
        Some(text)
    }
}

impl Session {
    /// It says nothing at all, not even that it begins.
    fn is_silent(&self) -> bool {
        self.report.is_none() && self.says.is_none()
    }

    fn paths(&self) -> impl Iterator<Item = &str> {
        let written = self.write.keys().map(String::as_str);
        let edited = self.edit.iter().map(|(path, _, _)| path.as_str());
        let mut paths: Vec<&str> = written.chain(edited).collect();
        paths.sort_unstable();
        paths.dedup();
        paths.into_iter()
    }

    fn work(&self) -> Vec<Value> {
        let write = |(path, text): (&String, &String)| json!({"write": [path, text]});
        let mut steps: Vec<Value> = self.write.iter().map(write).collect();
        let edit =
            |(path, from, to): &(String, String, String)| json!({"replace": [path, from, to]});
        steps.extend(self.edit.iter().map(edit));
        if let Some(Commit { slice, message }) = &self.commit {
            let trailer = format!("Cook-Slice: {slice}");
            steps.push(json!({"tool": "git"}));
            steps.push(json!({"run": ["git", "add", "--all"]}));
            steps.push(json!({"run":
                ["git", "commit", "--quiet", "--message", message, "--message", trailer]}));
        }
        steps
    }

    /// The session as it is when somebody did its work before: it has the same to report.
    fn with_its_work_done(mut self) -> Self {
        let files: Vec<&str> = self.paths().collect();
        let files = files.join(", ");
        if let Some(report) = &mut self.report {
            report.insert("files".to_owned(), files);
        }
        self.write.clear();
        self.edit.clear();
        self.commit = None;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::PLAYED;
    use clap::ValueEnum;
    use cook_protocol::report;
    use std::iter::once;

    fn reports(script: &Value) -> Vec<String> {
        let calls = script["calls"].as_object().cloned().unwrap_or_default();
        let steps = calls.values().filter_map(Value::as_array).flatten();
        let said = steps.filter_map(|step| step["reply_with_head"].as_str());
        said.map(str::to_owned).collect()
    }

    /// Whatever is refused of the story is refused for what it says, never for its form.
    #[test]
    fn every_report_of_the_story_keeps_the_rules() {
        let story = Story::read().unwrap();
        let mut seen = 0;
        for culprit in once(None).chain(Culprit::value_variants().iter().copied().map(Some)) {
            for role in PLAYED {
                for text in reports(&story.script(role, culprit, "log")) {
                    let text = text.replace("{head}", &"a".repeat(40));
                    let parsed = report::parse(role, text.as_bytes());
                    assert!(parsed.findings.is_empty(), "{text}\n{:?}", parsed.findings);
                    seen += 1;
                }
            }
        }
        assert!(seen > 100, "{seen}");
    }

    #[test]
    fn every_script_can_be_played() {
        let story = Story::read().unwrap();
        for culprit in once(None).chain(Culprit::value_variants().iter().copied().map(Some)) {
            for role in PLAYED {
                let script = story.script(role, culprit, "log");
                serde_json::from_value::<cook_agents::scripted::Script>(script).unwrap();
            }
        }
    }

    #[test]
    fn a_culprit_adds_its_sessions_and_takes_none() {
        let story = Story::read().unwrap();
        let sessions = |culprit| -> usize {
            let scripts = PLAYED.map(|role| story.script(role, culprit, "log"));
            let calls = scripts
                .iter()
                .filter_map(|script| script["calls"].as_object());
            calls.map(serde_json::Map::len).sum()
        };
        for &culprit in Culprit::value_variants() {
            let more = story.misdeeds(culprit).len();
            assert!(more > 0, "{culprit:?}");
            assert_eq!(
                sessions(Some(culprit)),
                sessions(None) + more,
                "{culprit:?}"
            );
        }
    }
}
