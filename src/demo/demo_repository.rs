//! The demonstration's repository: its directory, what a user would do in it, and the
//! agents that work there.

use super::story::{Culprit, Story};
use crate::init::{TRACKED, write_contract};
use crate::run::{PLAYED, RoleAgent, RoleAssignment};
use crate::service::{self, Workspace};
use cook_agents::Preset;
use cook_protocol::diagnostic::{Code, Failure, FailureKind};
use cook_protocol::model::{
    Access, Actor, AgentName, AgentTable, Config, Event, Resume, Role, STOP_VERIFIER,
};
use cook_repo::disk::{self, Links};
use cook_repo::process::{Clocks, Short, capture, on_path};
use cook_repo::store::Store;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The agents' table, but for what is known only here.
const AGENT: &str = include_str!("../../protocol/demo/agent.toml");
/// Where the agents' scripts lie, below the worktree: scratch of `.agent/`.
const SCRIPTS: &str = ".agent/tmp/demo";
/// The agents' name.
const NAME: &str = "scripted";
/// How long a session may take.
const WALL: Duration = Duration::from_secs(60);
/// How long an agent may be silent where one of its role does not end by itself.
const SHORT_IDLE: Duration = Duration::from_secs(2);
/// Bytes of the settings, at most.
const MAX_SETTINGS: u64 = 1 << 20;
/// How long git may take.
const DEADLINE: Duration = Duration::from_secs(60);

/// What the agents, the gate and the stop verifier are run with.
pub(super) fn look_for_programs() -> Result<(), Failure> {
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

/// The directory of a demonstration: `given`, which must be absent or empty, else a new one.
pub(super) fn directory(given: Option<&Path>) -> Result<PathBuf, Failure> {
    let Some(dir) = given else {
        let made = tempfile::Builder::new().prefix("cook-demo-").tempdir();
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

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    let what = format!("`{}` cannot be written", path.display());
    Failure::state(Code::NotWritable, what).with_cause(error)
}

/// The program with its tests, `cook init --commit`, `cook trust`.
pub(super) fn set_up(
    root: &Path,
    story: &Story,
    author: Option<(&str, &str)>,
) -> Result<(), Failure> {
    let (name, address) = author.unwrap_or(("cook demo", "demo@example.org"));
    for (path, text) in &story.start {
        write(&root.join(path), text)?;
    }
    let begin = ["init", "--quiet", "--initial-branch=main", "--template="];
    git(root, &begin)?;
    // Nothing of the user's settings has a say in the commits of the scripted agents.
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
    let contract = write_contract(workspace.repo.root(), Some(&story.mission))?;
    let profile = contract
        .profile
        .ok_or_else(|| make_failure("the contract has no profile"))?;
    let settings = workspace.repo.root().join(".agent/cook.toml");
    let head = disk::read_present(&settings, MAX_SETTINGS, Links::Refuse)
        .map_err(|error| unwritable(&settings, &error))?;
    let head = String::from_utf8_lossy(&head);
    let gate = toml::Value::from(story.gate.as_str());
    write(&settings, &format!("{head}\n[gates.test]\nrun = {gate}\n"))?;
    // The stop verifier is made from the gates.
    write_contract(workspace.repo.root(), None)?;
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

/// The script of each role.
pub(super) fn write_scripts(
    root: &Path,
    story: &Story,
    culprit: Option<Culprit>,
) -> Result<(), Failure> {
    for role in PLAYED {
        let script = story.script(role, culprit, &format!("{}.log", describe_place(role)));
        let path = root.join(format!("{}.json", describe_place(role)));
        write(&path, &format!("{script:#}\n"))?;
    }
    Ok(())
}

fn describe_place(role: Role) -> String {
    format!("{SCRIPTS}/{}", role.short())
}

/// The scripted agent in every role.
pub(super) fn cast(story: &Story, culprit: Option<Culprit>) -> Result<RoleAssignment, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| make_failure("cook does not find its own program").with_cause(&error))?;
    let hangs = culprit.filter(|culprit| *culprit == Culprit::Hanger);
    let hanging: Vec<_> = hangs
        .map(|culprit| story.misdeeds(culprit))
        .unwrap_or_default();
    let mut cast = RoleAssignment::new();
    for role in PLAYED {
        let mut table: AgentTable = toml::from_str(AGENT)
            .map_err(|error| make_failure("the agents' table cannot be read").with_cause(&error))?;
        table.bin = Some(program.display().to_string());
        table.start = Some(vec![
            "scripted-agent".to_owned(),
            format!("{}.json", describe_place(role)),
        ]);
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

fn git(dir: &Path, arguments: &[&str]) -> Result<(), Failure> {
    let argv = ["git"].iter().chain(arguments).map(OsString::from);
    let captured = capture(&Short {
        argv: argv.collect(),
        dir,
        env: vec![("GIT_TERMINAL_PROMPT", OsString::from("0"))],
        stdin: Vec::new(),
        deadline: DEADLINE,
        limit: 1 << 20,
        group: false,
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

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).map_err(|error| unwritable(dir, &error))?;
    }
    std::fs::write(path, text).map_err(|error| unwritable(path, &error))
}

pub(super) fn make_failure(why: &str) -> Failure {
    Failure::new(FailureKind::Check, Code::DemoFailed, why)
}
