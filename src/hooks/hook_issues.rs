//! The hooks' use of `br` and `bd`: a tracker is opened only when needed, within the time limit of one event, and is
//! not asked again during a known outage until the next session begins.
//!
//! Invariants: without a tracker workspace, no program is looked up or started; the replay queue writes each entry to
//! its issue once; outages are reported.

use crate::prelude::*;
use crate::tracker::{
    self, Actor, Beads, Bounds, Brief, Comment, Entry, Found, Issue, IssueStatus, Link, Memory,
    MemoryError, Outage, Tracker, TrackerError, is_id, list_issues, list_unblocked_by, split_mark,
    with_parents_type,
};
use crate::workspace::Workspace;
use cook_agents::hooks::layout::{self, Purpose};
use cook_agents::hooks::{ClosedIssue, Item, Kind};
use std::cell::OnceCell;

/// How many ready issues are named.
const READY: usize = 3;

/// Finds the worktree's tracker, if it has one. The time limit for all its answers starts now.
pub fn find_tracker(workspace: &Workspace, kind: Kind) -> Option<Issues<'_>> {
    // The time that the agent waits, less 5 s for the rest of the work. A tracker that does not answer costs it only
    // once per session.
    let call = Duration::from_secs(layout::seconds(kind, Purpose::Workflow) - 5);
    let until = Instant::now() + call + Duration::from_secs(2);
    let path = std::env::var_os("PATH");
    let kind = workspace.config().ok()?.tracker();
    // `cook issue` and `cook doctor` report a configured tracker that is missing; a hook works without it.
    let found = tracker::find(kind, workspace.repo.root(), path.as_deref()).ok()??;
    Some(Issues {
        workspace,
        found,
        bounds: Bounds::beside(call, until),
        beads: OnceCell::new(),
        away: RefCell::new(None),
    })
}

/// Lists the entries of a trail that belong to issues, as comments. Entries of a slice go to the slice's issues.
pub fn list_owed(trail: &[Checkpoint], plan: Option<&Plan>) -> Vec<Entry> {
    let mut owed = Vec::new();
    for entry in trail {
        let Some(item) = entry.item.as_deref() else {
            continue;
        };
        let issues: Vec<&str> = match plan.and_then(|plan| plan.slice(item)) {
            Some(slice) => list_issues(slice).collect(),
            None => is_id(item).then_some(item).into_iter().collect(),
        };
        let key = key(&entry.id);
        for (number, issue) in issues.into_iter().enumerate() {
            owed.push(Entry {
                id: match number {
                    0 => key.clone(),
                    n => format!("{key}.{n}"),
                },
                issue: issue.to_owned(),
                text: entry.text.clone(),
            });
        }
    }
    owed
}

/// The key of an entry in its comment: a single word.
pub(super) fn key(id: &str) -> String {
    let word = id.replace(':', ".");
    match is_id(&word) && word.len() <= 90 {
        true => word,
        false => sha256(id)[..32].to_owned(),
    }
}

/// A worktree's tracker for the hooks.
pub struct Issues<'w> {
    workspace: &'w Workspace,
    found: Found,
    bounds: Bounds,
    beads: OnceCell<Beads>,
    /// `Some(Some(why))` during an outage; `None` before it was looked up.
    away: RefCell<Option<Option<String>>>,
}

impl Issues<'_> {
    fn beads(&self) -> &Beads {
        self.beads.get_or_init(|| {
            let root = self.workspace.repo.root();
            Beads::new(&self.found, root, Actor::of(root), self.bounds)
        })
    }

    /// Returns the tracker, unless there is a known outage.
    fn reach(&self) -> Result<&Beads, String> {
        let mut away = self.away.borrow_mut();
        let why = away.get_or_insert_with(|| {
            // If the memory cannot be read, no outage is known.
            let noted = Memory::outage(self.workspace.repo.git_dir()).ok().flatten();
            noted.map(|outage| outage.why)
        });
        match why {
            Some(why) => Err(why.clone()),
            None => Ok(self.beads()),
        }
    }

    /// Notes an outage, so that no later event waits for the tracker, and turns the error into text.
    fn note_outage<T>(&self, answer: Result<T, TrackerError>) -> Result<T, String> {
        answer.map_err(|error| {
            let why = error.to_string();
            if error.is_away() {
                self.note(Some(why.clone()));
            }
            why
        })
    }

    fn note(&self, why: Option<String>) {
        if let Ok(mut memory) = Memory::hold(self.workspace.repo.git_dir()) {
            let since = self.workspace.clock.now();
            // If this fails, the next event meets the outage itself.
            let _ = memory.note_outage(why.clone().map(|why| Outage { why, since }));
        }
        *self.away.borrow_mut() = Some(why);
    }

    /// Returns the list. If it failed, returns an empty one and adds a note.
    fn list<T>(&self, notes: &mut Vec<String>, answer: Result<Vec<T>, TrackerError>) -> Vec<T> {
        self.note_outage(answer).unwrap_or_else(|why| {
            if !notes.contains(&why) {
                notes.push(why);
            }
            Vec::new()
        })
    }

    /// Returns this actor's issues in work, the wanted one first, and fills the ready list.
    fn in_work(&self, beads: &Beads, wanted: Wanted, picture: &mut Picture) -> Vec<Issue> {
        let current = || match wanted {
            Wanted::Carried(_) => Ok(Vec::new()),
            _ => beads.current(),
        };
        let (current, ready) = thread::both(current, || beads.ready());
        let mut issues = self.list(&mut picture.notes, current);
        issues.retain(|issue| is_mine_to_do(beads, issue));
        if let Wanted::Claimed(id) = wanted {
            issues.sort_by_key(|issue| issue.id != id);
        }
        picture.ready = self
            .list(&mut picture.notes, ready)
            .iter()
            .filter(|issue| issue.status == IssueStatus::Open && is_mine_to_do(beads, issue))
            .take(READY)
            .map(|issue| name_issue(&issue.id, &issue.title))
            .collect();
        issues
    }

    fn item(&self, beads: &Beads, issue: &Issue, others: usize, notes: &mut Vec<String>) -> Item {
        let (down, up) = thread::both(
            || {
                let links = beads.dependencies(&issue.id)?;
                Ok(with_parents_type(beads, links))
            },
            || beads.dependents(&issue.id),
        );
        let up: Vec<Link> = self.list(notes, up);
        let waiting = up
            .iter()
            .filter(|link| link.blocks() && !link.issue.is_closed());
        Item {
            id: issue.id.clone(),
            title: issue.title.clone(),
            status: issue.status.id().to_owned(),
            kind: issue.kind.clone(),
            priority: issue
                .priority
                .as_ref()
                .map_or_else(|| "none".to_owned(), |number| format!("P{number}")),
            parent: self
                .list(notes, down)
                .iter()
                .find(|link| link.is_parent())
                .map(|link| parent(&link.issue)),
            unblocks: waiting.map(|link| brief(&link.issue)).collect(),
            others,
            is_issue: true,
        }
    }

    fn comments(&self, beads: &Beads, issue: &str, notes: &mut Vec<String>) -> Vec<Checkpoint> {
        self.list(notes, beads.comments(issue))
            .into_iter()
            .enumerate()
            .map(|(number, comment)| checkpoint(issue, number, comment))
            .collect()
    }

    /// Asks at the start of a session whether the tracker answers, and returns its error. A tracker that does not
    /// answer is not asked again before the next session.
    pub(super) fn wake(&self) -> Result<(), String> {
        let why = match self.beads().detect() {
            Ok(()) => None,
            Err(TrackerError::Absent(tracker, why)) => {
                Some(format!("`{tracker}` is not set up: {why}"))
            }
            Err(error) => Some(error.to_string()),
        };
        self.note(why.clone());
        why.map_or(Ok(()), Err)
    }

    /// Collects the tracker's part of the recovery message.
    pub(super) fn picture(&self, wanted: Wanted) -> Picture {
        let mut picture = Picture::default();
        let beads = match self.reach() {
            Ok(beads) => beads,
            Err(why) => {
                picture.notes.push(why);
                return picture;
            }
        };
        let issues = self.in_work(beads, wanted, &mut picture);
        let mut notes = std::mem::take(&mut picture.notes);
        let asked_for = match wanted {
            Wanted::Carried(issue) => Some(issue),
            _ => issues.first().map(|issue| issue.id.as_str()),
        };
        if let (Some(issue), Ok(beads)) = (issues.first(), self.reach()) {
            picture.item = Some(self.item(beads, issue, issues.len() - 1, &mut notes));
        }
        if let (Some(id), Ok(beads)) = (asked_for, self.reach()) {
            picture.trail = self.comments(beads, id, &mut notes);
        }
        picture.notes = notes;
        picture
    }

    /// Whether this actor has the issue in work now.
    pub(super) fn holds(&self, issue: &str) -> Result<bool, String> {
        let beads = self.reach()?;
        let issue = self.note_outage(beads.show(issue))?;
        Ok(issue.status == IssueStatus::InProgress && is_mine_to_do(beads, &issue))
    }

    /// Verifies an observed close; `None` if the issue is not closed.
    pub(super) fn verify_close(&self, issue: &str) -> Result<Option<ClosedIssue>, String> {
        let beads = self.reach()?;
        let issue = self.note_outage(beads.show(issue))?;
        if issue.status != IssueStatus::Closed {
            return Ok(None);
        }
        // The close counts even if the unblocked issues are unknown.
        let unblocked = self
            .note_outage(list_unblocked_by(beads, &issue.id))
            .unwrap_or_default();
        Ok(Some(ClosedIssue {
            id: issue.id,
            unblocked: unblocked.iter().map(brief).collect(),
        }))
    }

    /// Adds the missing entries to their issues, each once. Returns false if entries still wait, for example for a
    /// tracker that does not answer.
    pub(super) fn catch_up(&self, entries: &[Entry]) -> Result<bool, String> {
        let Some(last) = entries.last() else {
            return Ok(true);
        };
        let mut memory = match Memory::hold(self.workspace.repo.git_dir()) {
            Ok(memory) => memory,
            // The process that holds the memory reads the trail again before it releases it.
            Err(MemoryError::Busy) => return Ok(false),
            Err(error) => return Err(error.to_string()),
        };
        if memory.has_sent(self.found.name, &last.id) {
            return Ok(true);
        }
        // The outage was reported when it was noted, and will be again at the start of the next session.
        let Ok(beads) = self.reach() else {
            return Ok(false);
        };
        let report =
            tracker::replay(beads, &mut memory, entries).map_err(|error| error.to_string())?;
        drop(memory);
        match report.stopped_by {
            Some(error) => self.note_outage(Err(error)),
            None => Ok(true),
        }
    }
}

/// Whether the issue is assigned to nobody or to this actor.
fn is_mine_to_do(beads: &Beads, issue: &Issue) -> bool {
    let assignee = issue.assignee.as_deref();
    assignee.is_none_or(|name| beads.is_mine(name))
}

fn name_issue(id: &str, title: &str) -> String {
    match title {
        "" => id.to_owned(),
        title => format!("{id} — {title}"),
    }
}

fn parent(issue: &Brief) -> String {
    match &issue.kind {
        Some(kind) => name_issue(&format!("{} ({kind})", issue.id), &issue.title),
        None => brief(issue),
    }
}

fn brief(issue: &Brief) -> String {
    name_issue(&issue.id, &issue.title)
}

/// Converts a comment to an entry of the trail; cook's own comments hold the key of their entry.
fn checkpoint(issue: &str, number: usize, comment: Comment) -> Checkpoint {
    let (text, key) = split_mark(&comment.text);
    Checkpoint {
        id: key.map_or_else(|| format!("comment.{number}"), str::to_owned),
        schema_version: SchemaVersion,
        at: Timestamp::Text(comment.created_at.clone().unwrap_or_default()),
        kind: CheckpointKind::Manual,
        text: text.to_owned(),
        item: Some(issue.to_owned()),
        session: None,
        agent: None,
        commit: None,
    }
}

/// The issue that a session is told about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted<'a> {
    /// The issue that the session claimed; as [`Wanted::Any`] if it is no longer in work.
    Claimed(&'a str),
    /// The issue of the slice in work, only for its comments.
    Carried(&'a str),
    /// This actor's most recently updated issue in work.
    Any,
}

/// The tracker's information for a session that begins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Picture {
    /// The issue in work.
    pub item: Option<Item>,
    /// The issue's entries, oldest first; their ids are the keys of comments.
    pub trail: Vec<Checkpoint>,
    /// Ready issues in the tracker's order, with id and title.
    pub ready: Vec<String>,
    /// Failed requests, one line each.
    pub notes: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(id: &str, item: Option<&str>) -> Checkpoint {
        serde_json::from_value(json!({"id": id, "schema_version": 1,
            "at": "2026-01-02T03:04:05Z", "kind": "manual", "text": id, "item": item}))
        .unwrap()
    }

    #[test]
    fn a_slice_speaks_to_the_issues_it_carries_and_an_issue_to_itself() {
        let plan: Plan = serde_json::from_value(json!({"schema_version": 1,
            "mission_anchor": "m", "last_reground_at": null, "plan_basis": "",
            "candidate_slices": [
                {"slice_id": "a", "goal": "g", "acceptance_criteria": ["c"],
                 "contract_ids": ["C-1", "issue:x-1", "issue:x-2"], "priority": 1,
                 "status": "selected", "why_now": "", "blocked_on": [], "evidence": []},
                {"slice_id": "b", "goal": "g", "acceptance_criteria": ["c"],
                 "contract_ids": [], "priority": 1, "status": "planned", "why_now": "",
                 "blocked_on": [], "evidence": []}]}))
        .unwrap();
        let trail = [
            entry("commit:c1", Some("a")),
            entry("commit:c2", Some("b")),
            entry("commit:c3", Some("y-9")),
            entry("commit:c4", None),
            entry("commit:c5", Some("--help")),
        ];
        let told: Vec<(String, String)> = list_owed(&trail, Some(&plan))
            .into_iter()
            .map(|entry| (entry.issue, entry.id))
            .collect();
        let pair = |issue: &str, key: &str| (issue.to_owned(), key.to_owned());
        assert_eq!(
            told,
            [
                pair("x-1", "commit.c1"),
                pair("x-2", "commit.c1.1"),
                pair("y-9", "commit.c3"),
            ]
        );
        assert_eq!(
            list_owed(&trail[..2], None).len(),
            2,
            "without a plan an item is an issue"
        );
    }

    #[test]
    fn keys_are_one_word_and_tell_entries_apart() {
        let long = format!("files:{}:x-1", "y".repeat(100));
        let other = format!("files:{}:x-2", "y".repeat(100));
        for id in ["commit:abc", "manual:1", &long, "", "a b", "ü"] {
            assert!(is_id(&format!("{}.19", key(id))), "{id}");
        }
        assert_ne!(key(&long), key(&other));
    }
}
