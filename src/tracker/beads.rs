//! `br` and `bd`: the same commands, small differences.

use super::actor::Actor;
use super::answer;
use super::call::{Bounds, Call, Program};
use super::error::TrackerError;
use super::find::Found;
use super::interface::{Attempt, Closed, Commented, Tracker};
use super::issue::{Comment, Issue, IssueStatus, Link, NewIssue, is_id, line, text};
use super::mark::{carries, mark};
use super::ready::explore;
use super::ready_list::ReadyList;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Longest text that is given to a program: one argument holds 128 KiB on Linux.
const MAX_ARGUMENT: usize = 60 * 1024;

/// A tracker that is a program.
#[derive(Debug, Clone)]
pub struct Beads {
    program: Program,
    actor: Actor,
    /// How the program lists the comments of an issue.
    comment_words: &'static [&'static str],
}

impl Beads {
    /// The tracker that was found, for a worktree.
    pub fn new(found: &Found, root: &Path, actor: Actor, bounds: Bounds) -> Self {
        let is_br = found.name == "br";
        Self {
            program: Program {
                name: found.name,
                path: found.program.clone(),
                dir: root.to_owned(),
                actor: actor.name.clone(),
                bounds,
                lock_unit: if is_br { "" } else { "ms" },
                plain: Arc::default(),
            },
            actor,
            comment_words: if is_br {
                &["comments", "list"]
            } else {
                &["comments"]
            },
        }
    }

    fn issues(&self, call: &Call) -> Result<Vec<Issue>, TrackerError> {
        self.program.read(call, answer::issue)
    }

    fn links(&self, id: &str, direction: &str) -> Result<Vec<Link>, TrackerError> {
        let call = Call {
            words: &["dep", "list"],
            options: vec![format!("--direction={direction}")],
            free: &[check_id(id)?],
            writes: false,
        };
        self.about(id, self.program.read(&call, |row| answer::link(row, id)))
    }

    /// The same outcome; a complaint about an unknown issue names the issue.
    fn about<T>(&self, id: &str, outcome: Result<T, TrackerError>) -> Result<T, TrackerError> {
        outcome.map_err(|error| match error {
            TrackerError::Unknown(_) => TrackerError::Unknown(id.to_owned()),
            error => error,
        })
    }

    /// Writes; what it complained of, unless that leaves open what it did.
    fn complaint(&self, call: &Call) -> Result<Option<TrackerError>, TrackerError> {
        match self.program.write(call) {
            Err(error) if error.is_outage() => Err(error),
            said => Ok(said.err()),
        }
    }

    /// Who else has it.
    fn holder(&self, issue: &Issue) -> Option<String> {
        let assignee = issue.assignee.as_deref()?;
        (!self.actor.is(assignee)).then(|| assignee.to_owned())
    }

    /// Why an issue cannot be claimed, or that it is this actor's already.
    fn claimable(&self, issue: &Issue) -> Result<bool, TrackerError> {
        if let Some(by) = self.holder(issue) {
            return Err(TrackerError::Held {
                id: issue.id.clone(),
                by,
            });
        }
        match issue.status {
            IssueStatus::InProgress => Ok(issue.assignee.is_none()),
            IssueStatus::Closed => Err(not_claimed(issue)),
            _ => Ok(true),
        }
    }

    fn add_comment(&self, id: &str, text: &str) -> Result<(), TrackerError> {
        let call = Call {
            words: &["comments", "add"],
            free: &[id, text],
            writes: true,
            ..Call::default()
        };
        self.about(id, self.program.write(&call))
    }

    /// What still keeps an issue open.
    fn blockers(&self, id: &str) -> Option<String> {
        let open: Vec<String> = self
            .dependencies(id)
            .ok()?
            .into_iter()
            .filter(|link| link.blocks() && !link.issue.is_closed())
            .map(|link| link.issue.id)
            .collect();
        (!open.is_empty()).then(|| format!("it waits for {}", open.join(", ")))
    }
}

impl Tracker for Beads {
    fn name(&self) -> &'static str {
        self.program.name
    }

    fn detect(&self) -> Result<(), TrackerError> {
        let call = Call {
            words: &["info"],
            ..Call::default()
        };
        match self.program.write(&call) {
            Err(error) if error.is_away() => Err(error),
            // Whatever else it says, it is there: the command that is wanted will tell.
            _ => Ok(()),
        }
    }

    fn current(&self) -> Result<Vec<Issue>, TrackerError> {
        let mut issues = self.issues(&Call {
            words: &["list"],
            options: vec!["--status=in_progress".to_owned(), "--limit=0".to_owned()],
            ..Call::default()
        })?;
        issues.retain(|issue| issue.status == IssueStatus::InProgress);
        issues.sort_by(|a, b| b.updated_at.cmp(&a.updated_at));
        let is_mine = |issue: &Issue| issue.assignee.as_deref().is_some_and(|n| self.actor.is(n));
        issues.sort_by_key(|issue| !is_mine(issue));
        Ok(issues)
    }

    fn ready(&self) -> Result<Vec<Issue>, TrackerError> {
        let mut issues = self.issues(&Call {
            words: &["ready"],
            options: vec!["--sort=priority".to_owned(), "--limit=0".to_owned()],
            ..Call::default()
        })?;
        issues.retain(|issue| !matches!(issue.status, IssueStatus::Blocked | IssueStatus::Closed));
        Ok(issues)
    }

    fn show(&self, id: &str) -> Result<Issue, TrackerError> {
        let call = Call {
            words: &["show"],
            free: &[check_id(id)?],
            ..Call::default()
        };
        let issues = self.about(id, self.issues(&call))?;
        match <[Issue; 1]>::try_from(issues) {
            Ok([issue]) if issue.id == id => Ok(issue),
            Ok([issue]) => Err(self
                .program
                .shape(&call, format!("it is about `{}`", issue.id))),
            Err(none) if none.is_empty() => Err(TrackerError::Unknown(id.to_owned())),
            Err(_) => Err(self.program.shape(&call, "it has several rows".to_owned())),
        }
    }

    fn comments(&self, id: &str) -> Result<Vec<Comment>, TrackerError> {
        let call = Call {
            words: self.comment_words,
            free: &[check_id(id)?],
            ..Call::default()
        };
        self.about(id, self.program.read(&call, answer::comment))
    }

    fn dependents(&self, id: &str) -> Result<Vec<Link>, TrackerError> {
        self.links(id, "up")
    }

    fn dependencies(&self, id: &str) -> Result<Vec<Link>, TrackerError> {
        self.links(id, "down")
    }

    fn claim(&self, id: &str) -> Result<Issue, TrackerError> {
        let before = self.show(id)?;
        if !self.claimable(&before)? {
            return Ok(before);
        }
        let call = Call {
            words: &["update"],
            options: vec!["--claim".to_owned()],
            free: &[&before.id],
            writes: true,
        };
        let complaint = self.complaint(&call)?;
        let now = self.show(&before.id)?;
        if let Some(by) = self.holder(&now) {
            return Err(TrackerError::Held { id: now.id, by });
        }
        match complaint {
            _ if now.status == IssueStatus::InProgress && now.assignee.is_some() => Ok(now),
            Some(complaint) => Err(complaint),
            None => Err(not_claimed(&now)),
        }
    }

    fn comment(
        &self,
        id: &str,
        key: &str,
        text: &str,
        attempt: Attempt,
    ) -> Result<Commented, TrackerError> {
        let id = check_id(id)?;
        if !is_id(key) {
            return Err(TrackerError::BadText("has a key that is not a single word"));
        }
        let text = argument(text)?;
        if attempt == Attempt::Again && self.comments(id)?.iter().any(|c| carries(&c.text, key)) {
            return Ok(Commented::WasThere);
        }
        self.add_comment(id, &format!("{text} {}", mark(key)))?;
        Ok(Commented::Added)
    }

    fn close(&self, id: &str, reason: &str) -> Result<Closed, TrackerError> {
        let before = self.show(id)?;
        if before.status == IssueStatus::Closed {
            return Ok(Closed {
                issue: before,
                already: true,
            });
        }
        let call = Call {
            words: &["close"],
            options: vec![format!("--reason={}", argument(reason)?)],
            free: &[&before.id],
            writes: true,
        };
        let complaint = self.complaint(&call)?;
        let now = self.show(&before.id)?;
        if now.status == IssueStatus::Closed {
            return Ok(Closed {
                issue: now,
                already: false,
            });
        }
        let why = self
            .blockers(&now.id)
            .or_else(|| complaint.map(|complaint| complaint.to_string()))
            .unwrap_or_else(|| format!("it is {}", now.status.id()));
        Err(TrackerError::NotClosed { id: now.id, why })
    }

    fn create(&self, new: &NewIssue) -> Result<Issue, TrackerError> {
        let title = line(&argument(&new.title)?);
        if title.is_empty() {
            return Err(TrackerError::BadText("is empty"));
        }
        let kind = new.kind.as_deref().unwrap_or("task");
        if !is_id(kind) {
            return Err(TrackerError::BadText("names no type of issue"));
        }
        let mut options = vec![format!("--type={kind}")];
        options.extend(new.priority.map(|number| format!("--priority={number}")));
        if let Some(description) = &new.description {
            options.push(format!("--description={}", argument(description)?));
        }
        if let Some(origin) = &new.discovered_from {
            let origin = self.show(origin)?.id;
            options.push(format!("--deps=discovered-from:{origin}"));
        }
        let call = Call {
            words: &["create"],
            options,
            free: &[&title],
            writes: true,
        };
        let made = self.program.read(&call, |row| Ok(row.clone()))?;
        let made = made.first().and_then(|row| row.get("id")?.as_str());
        match made.filter(|id| is_id(id)) {
            Some(id) => self.show(id),
            None => Err(self.program.shape(&call, "it names no issue".to_owned())),
        }
    }

    fn ready_list(&self, end: Instant) -> Result<ReadyList, TrackerError> {
        explore(self, self.ready()?, end)
    }

    fn is_mine(&self, assignee: &str) -> bool {
        self.actor.is(assignee)
    }

    fn until(&self, end: Instant) -> Box<dyn Tracker + '_> {
        let mut bounded = self.clone();
        let until = self.program.bounds.until;
        bounded.program.bounds.until = Some(until.map_or(end, |until| until.min(end)));
        Box::new(bounded)
    }
}

/// A word that may stand where an id is wanted.
fn check_id(id: &str) -> Result<&str, TrackerError> {
    if is_id(id) {
        Ok(id)
    } else {
        Err(TrackerError::BadId(line(id)))
    }
}

/// A text as an argument: clean, and short enough for one.
fn argument(raw: &str) -> Result<String, TrackerError> {
    if raw.len() > MAX_ARGUMENT {
        return Err(TrackerError::BadText("is longer than 60 KiB"));
    }
    Ok(text(raw))
}

fn not_claimed(issue: &Issue) -> TrackerError {
    TrackerError::NotClaimed {
        id: issue.id.clone(),
        why: format!("it is {}", issue.status.id()),
    }
}
