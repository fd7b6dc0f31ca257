//! The answers that judges gave to planted cases: a file for each of them beside the log, a line a case.
//!
//! A line is written once its case is answered, so that a calibration that is ended goes on after it. A
//! last line that is torn counts as none.

use crate::service::Workspace;
use cook_mutants::FaultKind;
use cook_protocol::diagnostic::{Code, Failure, FailureKind};
use cook_protocol::digest;
use cook_protocol::model::Role;
use cook_protocol::prompt;
use cook_repo::disk::{self, Links};
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Beside the log.
const DIR: &str = "calibrations";
/// Bytes of one file that are read.
const LIMIT: u64 = 16 << 20;

/// Who was measured, and what they were asked by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// The version of the file's format.
    schema_version: u32,
    pub role: Role,
    pub agent: String,
    /// None = the agent's own choice.
    pub model: Option<String>,
    /// The version of the role's prompt.
    pub prompt: String,
}

impl Identity {
    /// An agent as it would be asked now.
    pub fn now(role: Role, agent: &str, model: Option<&str>) -> Self {
        Self {
            schema_version: 1,
            role,
            agent: agent.to_owned(),
            model: model.map(str::to_owned),
            prompt: prompt::version(role),
        }
    }

    fn file(&self, dir: &Path) -> PathBuf {
        let model = self.model.as_deref().unwrap_or("\0");
        let parts = [self.role.id(), &self.agent, model, &self.prompt];
        let digest = digest::sha256(parts.join("\n"));
        dir.join(format!("{}-{}.jsonl", self.role.short(), &digest[..16]))
    }
}

/// What came of one case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Answered {
    /// The same for the same case.
    pub case: String,
    /// What was planted; none = the case is clean.
    pub fault: Option<FaultKind>,
    /// The slice whose work it is.
    pub slice: String,
    /// It is of this repository's history.
    pub own: bool,
    /// Whether the judge said no; none = a gate noticed the fault, so that no judge was asked.
    pub refused: Option<bool>,
    /// Millionths of a dollar; none = unknown.
    pub cost_micro_usd: Option<u64>,
    pub milliseconds: u64,
    /// When, RFC 3339.
    pub at: String,
}

/// What one judge answered.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub identity: Identity,
    pub answers: Vec<Answered>,
}

impl Kept {
    /// What is kept of one judge; nothing where nothing is.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn of(workspace: &Workspace, identity: Identity) -> Result<Self, Failure> {
        let path = identity.file(&place(workspace)?);
        let kept = read(&path)?.filter(|kept| kept.identity == identity);
        Ok(kept.unwrap_or(Self {
            identity,
            answers: Vec::new(),
        }))
    }

    /// Of every judge that was measured here.
    ///
    /// # Errors
    /// A directory or a file that cannot be read.
    pub fn all(workspace: &Workspace) -> Result<Vec<Self>, Failure> {
        let dir = place(workspace)?;
        let entries = match std::fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unreadable(&dir, &error)),
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
        paths.sort();
        let mut all = Vec::new();
        for path in paths {
            all.extend(read(&path)?);
        }
        Ok(all)
    }

    /// Keeps an answer.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn add(&mut self, workspace: &Workspace, answer: Answered) -> Result<(), Failure> {
        let path = self.identity.file(&place(workspace)?);
        let fail = |error: &dyn std::fmt::Display| unwritable(&path, error);
        if self.answers.is_empty() {
            // What is there has another first line, or none that can be read.
            remove(&path)?;
        }
        let mut file = disk::open_to_append(&path).map_err(|error| fail(&error))?;
        let mut lines = Vec::new();
        let last = disk::read_tail(&mut file, 1).map_err(|error| fail(&error))?;
        if !last.is_empty() && last != b"\n" {
            // A line that was torn ends here, so that it takes no other along.
            lines.push(String::new());
        }
        if self.answers.is_empty() {
            lines.push(serde_json::to_string(&self.identity).map_err(|error| fail(&error))?);
        }
        lines.push(serde_json::to_string(&answer).map_err(|error| fail(&error))?);
        for line in lines {
            disk::append_line(&mut file, &line).map_err(|error| fail(&error))?;
        }
        self.answers.push(answer);
        Ok(())
    }

    /// Forgets what is kept of this judge.
    ///
    /// # Errors
    /// A file that cannot be removed.
    pub fn forget(&mut self, workspace: &Workspace) -> Result<(), Failure> {
        self.answers.clear();
        remove(&self.identity.file(&place(workspace)?))
    }

    /// Holds the directory against another calibration.
    ///
    /// # Errors
    /// `lease_held` where there is one, a directory that cannot be made.
    pub fn hold(workspace: &Workspace) -> Result<std::fs::File, Failure> {
        let dir = place(workspace)?;
        std::fs::create_dir_all(&dir).map_err(|error| unwritable(&dir, &error))?;
        let held = disk::hold_directory(&dir, Duration::ZERO);
        let held = held.map_err(|error| unwritable(&dir, &error))?;
        held.ok_or_else(|| {
            let what = "another `cook calibrate` is at work here";
            Failure::new(FailureKind::Held, Code::LeaseHeld, what)
                .replace_hints(["wait until it ends; what it measured counts here too"])
        })
    }
}

fn place(workspace: &Workspace) -> Result<PathBuf, Failure> {
    Ok(workspace.repo.cook_dir()?.join(DIR))
}

fn remove(path: &Path) -> Result<(), Failure> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(unwritable(path, &error)),
        _ => Ok(()),
    }
}

/// What a file holds; none where its first line does not say whose answers they are.
fn read(path: &Path) -> Result<Option<Kept>, Failure> {
    let bytes = disk::read(path, LIMIT, Links::Refuse);
    let Some(bytes) = bytes.map_err(|error| unreadable(path, &error))? else {
        return Ok(None);
    };
    // A line that is damaged counts as none, as one that is torn does.
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines();
    let identity = lines.next().map(serde_json::from_str);
    let answers = lines.filter_map(|line| serde_json::from_str(line).ok());
    Ok(identity.and_then(Result::ok).map(|identity| Kept {
        identity,
        answers: answers.collect(),
    }))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    let what = format!("`{}`: {error}", path.display());
    let hint = format!(
        "remove `{}`, then measure that judge again with `cook calibrate`",
        path.display()
    );
    Failure::state(Code::DocumentUnreadable, what).replace_hints([hint])
}

fn unwritable(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    let what = format!("`{}` cannot be written: {error}", path.display());
    Failure::state(Code::NotWritable, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_last_line_counts_as_none() {
        let dir = tempfile::tempdir().unwrap();
        let identity = Identity::now(Role::Reviewer, "a", None);
        let path = identity.file(dir.path());
        let answer = Answered {
            case: "c".to_owned(),
            fault: Some(FaultKind::Unmet),
            slice: "s".to_owned(),
            own: true,
            refused: Some(true),
            cost_micro_usd: None,
            milliseconds: 3,
            at: "2030-01-01T00:00:00Z".to_owned(),
        };
        let whole = format!(
            "{}\n{}\n{{\"case\":\"d\"",
            serde_json::to_string(&identity).unwrap(),
            serde_json::to_string(&answer).unwrap()
        );
        std::fs::write(&path, whole).unwrap();
        let kept = read(&path).unwrap().unwrap();
        assert_eq!(kept.identity, identity);
        assert_eq!(kept.answers, [answer]);
        std::fs::write(&path, "no judge\n").unwrap();
        assert!(read(&path).unwrap().is_none());
    }

    #[test]
    fn another_agent_model_or_role_has_another_file() {
        let dir = Path::new("d");
        let of = |role, agent, model| Identity::now(role, agent, model).file(dir);
        let all = [
            of(Role::Reviewer, "a", None),
            of(Role::Reviewer, "b", None),
            of(Role::Reviewer, "a", Some("m")),
            of(Role::Auditor, "a", None),
        ];
        let different: std::collections::BTreeSet<&PathBuf> = all.iter().collect();
        assert_eq!(different.len(), all.len());
    }
}
