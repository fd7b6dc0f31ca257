//! The repository of a demonstration: its directory, its setup as by a user, and the agents that work in it.

use crate::init::{TRACKED, write_contract};
use crate::prelude::*;
use crate::run::{PLAYED, RoleAgent, RoleAssignment};
use crate::service;
use crate::workspace::Workspace;
use cook_agents::Preset;
use cook_protocol::model::{Access, AgentName, AgentTable, Resume};
use cook_repo::process::Clocks;

/// The table of the agents, without the fields that are set here.
const AGENT: &str = include_str!("../../protocol/demo/agent.toml");
/// Directory of the agents' scripts in the worktree, within the scratch space of `.agent/`.
const SCRIPTS: &str = ".agent/tmp/demo";
/// Prefix of directory names that the user did not choose.
const PREFIX: &str = "cook-demo-";
/// The name of the agents.
const NAME: &str = "scripted";
/// Time limit of a session.
const WALL: Duration = Duration::from_secs(60);
/// How long an agent may be silent if an agent of its role hangs.
const SHORT_IDLE: Duration = Duration::from_secs(2);
/// Maximum size of the settings in bytes.
const MAX_SETTINGS: u64 = 1 << 20;
/// Time limit of a git command.
const DEADLINE: Duration = Duration::from_secs(60);

/// Checks that the programs which the agents, the gate and the stop verifier need exist.
pub(super) fn look_for_programs() -> Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_absent = |program: &&str| on_path(program, &path).is_none();
    match ["git", "sh", "bash"].into_iter().find(is_absent) {
        None => Ok(()),
        Some("git") => {
            let what = "`git` is not on PATH: nothing was begun";
            Err(Failure::state(Code::GitMissing, what))
        }
        Some(program) => {
            let what = format!("the demonstration needs `{program}` on PATH");
            Err(make_failure(&what))
        }
    }
}

/// The directory of a demonstration: `given`, which must be absent or empty, or a new one.
pub(super) fn directory(given: Option<&Path>) -> Result<PathBuf> {
    let Some(dir) = given else {
        let made = tempfile::Builder::new().prefix(PREFIX).tempdir();
        let made = made.map_err(|error| unwritable(&std::env::temp_dir(), &error))?;
        return Ok(made.keep());
    };
    let refuse = |how: &str| {
        let failure = Failure::usage(format!("`{}` {how}", dir.display()));
        Err(failure.replace_hints(["name a directory that is absent or empty, or none"]))
    };
    match std::fs::read_dir(dir) {
        Ok(mut entries) => {
            return match entries.next() {
                Some(_) => refuse("is not empty"),
                None => Ok(dir.to_owned()),
            };
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(_) if dir.exists() && !dir.is_dir() => return refuse("is a file"),
        Err(error) => return Err(unwritable(dir, &error)),
    }
    std::fs::create_dir_all(dir).map_err(|error| unwritable(dir, &error))?;
    Ok(dir.to_owned())
}

/// Removes repositories of earlier demonstrations from the system's temporary directory. Returns the removed ones, and
/// a failure for each one that stays.
pub fn remove_left() -> (Vec<PathBuf>, Vec<Failure>) {
    let entries = std::fs::read_dir(std::env::temp_dir()).into_iter();
    let names = entries.flatten().flatten();
    let named = names.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    let is_ours = |dir: &PathBuf| {
        let found = std::fs::symlink_metadata(dir);
        found.is_ok_and(|found| found.is_dir() && disk::is_own(&found))
            && dir.join(SCRIPTS).is_dir()
    };
    let (mut gone, mut stay) = (Vec::new(), Vec::new());
    for dir in named.map(|entry| entry.path()).filter(is_ours) {
        let removed = Workspace::open_without_log(&dir).and_then(|workspace| {
            let _held = Store::hold_all(&workspace.place())?;
            disk::remove_tree(&dir).map_err(|error| unwritable(&dir, &error))
        });
        match removed {
            Ok(()) => gone.push(dir),
            Err(failure) => {
                let what = format!("{} stays: {}", dir.display(), failure.message);
                stay.push(Failure {
                    message: what,
                    ..failure
                });
            }
        }
    }
    gone.sort();
    (gone, stay)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    let what = format!("`{}` cannot be written", path.display());
    Failure::state(Code::NotWritable, what).with_cause(error)
}

/// Sets up the repository: the program with its tests, `cook init --commit`, `cook trust`.
pub(super) fn set_up(root: &Path, story: &Story, author: Option<(&str, &str)>) -> Result<()> {
    let (name, address) = author.unwrap_or(("cook demo", "demo@example.org"));
    for (path, text) in &story.start {
        write(&root.join(path), text)?;
    }
    let begin = ["init", "--quiet", "--initial-branch=main", "--template="];
    git(root, &begin)?;
    // The user's git settings must not affect the commits of the scripted agents.
    for (name, value) in [
        ("user.name", name),
        ("user.email", address),
        ("commit.gpgSign", "false"),
        ("core.hooksPath", ".git/hooks"),
        ("core.autocrlf", "false"),
    ] {
        git(root, &["config", name, value])?;
    }
    git(root, &["add", "--all"])?;
    git(root, &["commit", "--quiet", "--message", "Begin roman"])?;
    let mut workspace = Workspace::open(root)?;
    let contract = write_contract(workspace.repo.root(), Some(&story.mission), &|_| {})?;
    let profile = contract
        .profile
        .ok_or_else(|| make_failure("the contract has no profile"))?;
    let settings = workspace.repo.root().join(".agent/cook.toml");
    let head = disk::read_present(&settings, MAX_SETTINGS, Links::Refuse)
        .map_err(|error| unwritable(&settings, &error))?;
    let head = String::from_utf8_lossy(&head);
    let gate = toml::Value::from(story.gate.as_str());
    write(&settings, &format!("{head}\n[gates.test]\nrun = {gate}\n"))?;
    // Generates the stop verifier from the gates.
    write_contract(workspace.repo.root(), None, &|_| {})?;
    workspace.store = Some(Store::create(workspace.place())?);
    let mut paths: Vec<&str> = TRACKED.to_vec();
    paths.push(".gitignore");
    let subject = "Set up the completion contract";
    workspace.repo.commit_paths(&paths, subject)?;
    let bootstrapped = Event::Bootstrapped {
        mission: Some(story.mission.clone()),
        profile,
        branch: workspace.repo.head()?.branch,
        settings: Some(workspace.repo.settings()?),
        import: None,
    };
    service::transition(&workspace, &bootstrapped, Actor::Script)?;
    let mut trust = workspace.trust()?;
    trust.trust(&story.gate)?;
    trust.trust(STOP_VERIFIER)?;
    let trusted = Event::Resumed(Resume {
        trust: vec![story.gate.clone(), STOP_VERIFIER.to_owned()],
        ..Resume::default()
    });
    service::transition(&workspace, &trusted, Actor::Script)?;
    Ok(())
}

/// Writes the script of each role's agent.
pub(super) fn write_scripts(root: &Path, story: &Story, culprit: Option<Culprit>) -> Result<()> {
    PLAYED.iter().try_for_each(|role| {
        let script = story.script(*role, culprit);
        write(&root.join(describe_place(*role)), &script)
    })
}

fn describe_place(role: Role) -> String {
    format!("{SCRIPTS}/{}.sh", role.short())
}

/// Assigns the scripted agent to every role.
pub(super) fn cast(story: &Story, culprit: Option<Culprit>) -> Result<RoleAssignment> {
    let hangs = culprit.filter(|culprit| *culprit == Culprit::Hanger);
    let hanging: Vec<_> = hangs
        .map(|culprit| story.misdeeds(culprit))
        .unwrap_or_default();
    let mut cast = RoleAssignment::new();
    for role in PLAYED {
        let mut table: AgentTable = toml::from_str(AGENT)
            .map_err(|error| make_failure("the agents' table cannot be read").with_cause(&error))?;
        table.start = Some(vec![describe_place(role)]);
        let mut config = Config::default();
        let name = AgentName::try_from(NAME.to_owned()).map_err(|why| make_failure(&why))?;
        config.agents.insert(name, table);
        let hangs = hanging.iter().any(|misdeed| misdeed.role() == Some(role));
        let agent = RoleAgent {
            preset: Preset::of(NAME, &config)?,
            model: None,
            price: None,
            access: match role {
                Role::Implementer => Access::Write,
                _ => Access::Read,
            },
            clocks: Clocks {
                wall: WALL,
                idle: if hangs { SHORT_IDLE } else { WALL },
            },
        };
        cast.insert(role, vec![agent]);
    }
    Ok(cast)
}

fn git(dir: &Path, arguments: &[&str]) -> Result<()> {
    let argv = ["git"].iter().chain(arguments).map(OsString::from);
    let captured = capture(&Short {
        env: vec![("GIT_TERMINAL_PROMPT", OsString::from("0"))],
        group: false,
        ..Short::new(argv.collect(), dir, DEADLINE, 1 << 20)
    });
    let what = format!("`git {}` did not work", arguments.join(" "));
    match captured {
        Ok(captured) if captured.success() => Ok(()),
        Ok(captured) => {
            let said = captured.stderr.lines().next().unwrap_or_default();
            Err(Failure::state(Code::GitFailed, format!("{what}: {said}")))
        }
        Err(error) => Err(Failure::state(Code::GitFailed, what).with_cause(&error)),
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).map_err(|error| unwritable(dir, &error))?;
    }
    std::fs::write(path, text).map_err(|error| unwritable(path, &error))
}

pub(super) fn make_failure(why: &str) -> Failure {
    Failure::new(FailureKind::Check, Code::DemoFailed, why)
}

// The story as data (`protocol/demo/story.toml`), and the scripts made from it.
//
// Invariant: only agents receive parts of the story. The driver knows nothing of it, so it decides by its measurements
// alone.

const STORY: &str = include_str!("../../protocol/demo/story.toml");

/// An agent that misbehaves.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Culprit {
    /// Reports a commit that does not exist, and failing tests as passed
    Liar,
    /// Weakens a criterion, edits cook's files and disables the stop verifier
    Cheater,
    /// Crashes in the middle of a line, after it has committed its work
    Crasher,
    /// Prints nothing and never ends
    Hanger,
    /// Prints 1 GB
    Flooder,
    /// Edits, commits and tags although it may only read
    Editor,
}

/// All data for the agents of a demonstration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Story {
    /// The mission of the repository.
    pub mission: String,
    pub gate: String,
    /// The beginning of each agent's script.
    beginning: String,
    /// The report of each role, with placeholders in braces.
    reports: BTreeMap<String, String>,
    /// The initial files of the repository, by path.
    pub start: BTreeMap<String, String>,
    session: Vec<Session>,
    misdeed: Vec<Misdeed>,
}

/// The actions of an agent in one session, in this order.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Session {
    role: String,
    /// Shell commands.
    run: String,
    /// The JSON block of a re-grounder's report.
    block: Option<String>,
    /// Values for the placeholders of the report. If absent, the script announces no session and gives no report.
    report: Option<BTreeMap<String, String>>,
}

/// A session of a misbehaving agent.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Misdeed {
    culprit: Culprit,
    /// Number of the role's session, from 1, that it precedes.
    turn: usize,
    /// Whether it performs the steps of that session, which then only reports them.
    #[serde(default)]
    works: bool,
    /// The code with which the log must record it, or `gate_red`.
    pub code: String,
    /// A description for people.
    pub did: String,
    session: Session,
}

impl Misdeed {
    /// The role of the session.
    pub(super) fn role(&self) -> Option<Role> {
        Role::parse(&self.session.role)
    }
}

impl Story {
    /// The built-in story.
    ///
    /// # Errors
    /// A story with an invalid format.
    pub(super) fn read() -> Result<Self, toml::de::Error> {
        toml::from_str(STORY)
    }

    /// The misdeeds of a culprit, in order.
    pub(super) fn misdeeds(&self, culprit: Culprit) -> Vec<&Misdeed> {
        let of_it = |misdeed: &&Misdeed| misdeed.culprit == culprit;
        self.misdeed.iter().filter(of_it).collect()
    }

    /// The sessions of a role in order, including those in which the culprit misbehaves.
    fn sessions(&self, role: Role, culprit: Option<Culprit>) -> Vec<Session> {
        let is_own = |session: &&Session| Role::parse(&session.role) == Some(role);
        let misdeeds = culprit.map(|culprit| self.misdeeds(culprit));
        let misdeeds = misdeeds.unwrap_or_default();
        let mut sessions = Vec::new();
        for (number, session) in (1..).zip(self.session.iter().filter(is_own)) {
            let mut session = session.clone();
            for misdeed in &misdeeds {
                if misdeed.role() == Some(role) && misdeed.turn == number {
                    let mut before = misdeed.session.clone();
                    if misdeed.works {
                        before.run = std::mem::take(&mut session.run) + &before.run;
                    }
                    sessions.push(before);
                }
            }
            sessions.push(session);
        }
        sessions
    }

    /// The shell script of a role's agent.
    pub(super) fn script(&self, role: Role, culprit: Option<Culprit>) -> String {
        let mut script = format!("{}case $session in\n", self.beginning);
        for (number, session) in (1..).zip(self.sessions(role, culprit)) {
            let run = session.run.trim_end();
            let steps = match self.report(&session, role) {
                Some(report) => {
                    let report = json!(report).to_string();
                    format!("begin\n{run}\nanswer {}\nend", shell_words::quote(&report))
                }
                None => run.to_owned(),
            };
            script += &format!("{number})\n{steps}\n;;\n");
        }
        // A session that the story does not have ends with a distinct error.
        let beyond = format!("the story has no further session of the {role}");
        let beyond = json!({"type": "message_end",
            "message": {"stopReason": "error", "errorMessage": beyond}});
        script + &format!("*) echo '{beyond}' ;;\nesac\n")
    }

    fn report(&self, session: &Session, role: Role) -> Option<String> {
        let given = session.report.clone()?;
        let mut text = self.reports.get(role.short())?.clone();
        let fixed = [
            ("mission", self.mission.clone()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::PLAYED;
    use clap::ValueEnum;
    use cook_protocol::report;
    use std::iter::once;

    /// Reports of the story may be refused for their content, but never for their form.
    #[test]
    fn every_report_of_the_story_keeps_the_rules() {
        let story = Story::read().unwrap();
        let mut seen = 0;
        for culprit in once(None).chain(Culprit::value_variants().iter().copied().map(Some)) {
            for role in PLAYED {
                let sessions = story.sessions(role, culprit);
                for text in sessions
                    .iter()
                    .filter_map(|session| story.report(session, role))
                {
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
    fn a_culprit_adds_its_sessions_and_takes_none() {
        let story = Story::read().unwrap();
        let sessions = |culprit| -> usize {
            let sessions = PLAYED.map(|role| story.sessions(role, culprit).len());
            sessions.iter().sum()
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
