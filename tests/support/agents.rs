//! Scripted agents for tests: their scripts, their tables for `cook.toml`, and what they were sent.

use super::{Repo, player};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A scripted agent in a directory.
pub struct Scripted {
    /// Its name.
    pub name: String,
    dir: PathBuf,
    extends: &'static str,
    extra: String,
}

impl Scripted {
    /// An agent that speaks like `dialect` (a preset's name, or `text`).
    pub fn new(dir: &Path, name: &str, dialect: &'static str) -> Self {
        let agent = Self {
            name: name.to_owned(),
            dir: dir.to_owned(),
            extends: dialect,
            extra: String::new(),
        };
        std::fs::create_dir_all(dir).unwrap();
        agent.plays(json!([{"reply": "ready"}]));
        agent
    }

    /// With more lines in its table.
    pub fn with(mut self, extra: &str) -> Self {
        self.extra.push_str(extra);
        self.extra.push('\n');
        self
    }

    fn file(&self, what: &str) -> PathBuf {
        self.dir.join(format!("{}-{what}", self.name))
    }

    /// What it does at each call.
    pub fn plays(&self, steps: Value) -> &Self {
        self.script(json!({"steps": steps}))
    }

    /// Its whole script; dialect, log and records are filled in.
    pub fn script(&self, mut script: Value) -> &Self {
        script["dialect"] = json!(self.extends);
        script["log"] = json!(self.file("log"));
        script["records"] = json!(self.file("records").join("records"));
        std::fs::write(self.file("script.json"), script.to_string()).unwrap();
        self
    }

    /// Its table for `cook.toml`: forks natively where the dialect's preset does.
    pub fn table(&self) -> String {
        let script = self.file("script.json");
        let home = self.file("records");
        let script = script.display();
        let mut text = format!("[agents.{}]\nbin = {:?}\n", self.name, player::program());
        let model = match self.extends {
            "acp" => "",
            _ => ", \"{model}\"",
        };
        let mut start = format!("[\"scripted-agent\", \"{script}\", \"{{access}}\"{model}");
        if self.extends == "text" {
            text.push_str("events = \"text\"\n");
        } else if self.extends == "acp" {
            text.push_str(&format!(
                "kind = \"acp\"\ncontinuation = \"native\"\n\
                 identify = {{ args = [\"--version\"], match = \"cook \" }}\n\
                 transcript = {{ variable = \"NO_SUCH_VARIABLE_HERE\", home = \"{}\", under = \"records\" }}\n",
                home.display()
            ));
        } else {
            text.push_str(&format!("extends = {:?}\n", self.extends));
            text.push_str("session = \"uuid\"\n");
            text.push_str("identify = { args = [\"--version\"], match = \"cook \" }\n");
            start.push_str(", \"--session\", \"{session}\"");
            text.push_str(&format!(
                "fork = [\"scripted-agent\", \"{script}\", \"--fork\", \"{{session}}\", \"--session\", \"{{new_session}}\"]\n\
                 open = [\"scripted-agent\", \"{script}\", \"--fork\", \"{{session}}\", \"--session\", \"opened-by-hand\"]\n\
                 transcript = {{ variable = \"NO_SUCH_VARIABLE_HERE\", home = \"{}\", under = \"records\" }}\n",
                home.display()
            ));
        }
        let dir = self.dir.display();
        text.push_str(&format!(
            "start = {start}]\nwrites = [\"{dir}\"]\n{}",
            self.extra
        ));
        text
    }

    /// The calls it got: `args`, `cwd`, `pwd`, `input`.
    pub fn calls(&self) -> Vec<Value> {
        std::fs::read_to_string(self.file("log"))
            .unwrap_or_default()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// What it read on stdin at a call.
    pub fn input(&self, call: usize) -> String {
        self.calls()[call]["input"].as_str().unwrap().to_owned()
    }
}

/// What lets sessions be measured alone, where these settings say nothing about the sandbox.
pub fn add_sandbox_setting(settings: &str) -> &'static str {
    match settings.contains("[sandbox]") {
        true => "",
        false => "[sandbox]\nmode = \"off\"\n",
    }
}

/// Whether the sandbox works here; a test that needs it says so and is skipped elsewhere.
#[allow(clippy::print_stderr)]
pub fn has_sandbox() -> bool {
    let works = cook_repo::room::Bubblewrap::find().is_some_and(|found| found.try_out().is_ok());
    if !works {
        eprintln!("skipped: bubblewrap does not work here");
    }
    works
}

/// Whether a process is there and no zombie.
pub fn is_alive(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    let state = stat.rsplit_once(')').unwrap().1.trim().chars().next();
    !matches!(state, Some('Z' | 'X'))
}

/// Whether it has ended within two seconds: on a busy machine a killed process takes a while to die.
pub fn has_ended(pid: u32) -> bool {
    for _ in 0..40 {
        if !is_alive(pid) {
            return true;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    false
}

/// The process id in a file, waited for.
#[track_caller]
pub fn wait_for_pid(path: &Path) -> u32 {
    wait_for(|| std::fs::read_to_string(path).ok()?.parse().ok())
}

/// What a question answers in the end.
#[track_caller]
pub fn wait_for<T>(mut question: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(answer) = question() {
            return answer;
        }
        assert!(Instant::now() < end, "it did not come about in 20 s");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Writes `cook.toml` with the agents' tables and `more`, and trusts them. Without a word about the
/// sandbox there is none: what an agent does is measured.
pub fn settle(repo: &Repo, agents: &[Scripted], more: &str) {
    let tables: Vec<String> = agents.iter().map(Scripted::table).collect();
    let text = format!("{}{more}\n{}", add_sandbox_setting(more), tables.join("\n"));
    repo.write(".agent/cook.toml", &text);
    let config = cook_protocol::model::Config::parse(&text).unwrap();
    for agent in agents {
        let preset = cook_agents::Preset::of(&agent.name, &config).unwrap();
        repo.trust(&preset.trust_words().unwrap());
    }
}
