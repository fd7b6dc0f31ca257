//! `br` and `bd` as the hooks use them: opened only when something is to be asked,
//! everything within the time of one event, and left alone while it is known to be
//! away (until the next session begins).
//!
//! Invariants: where no workspace is, no program is looked for and none is started;
//! an entry reaches its issue once, through the replay queue; what is away is named.

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

/// Ready issues that are named.
const READY: usize = 3;

/// The tracker of a worktree, if it has one. The time for everything that is asked
/// of it begins now.
pub fn find_tracker(workspace: &Workspace, kind: Kind) -> Option<Issues<'_>> {
    // As long as the agent waits, but for what is left to do then: a tracker that is away is asked
    // once in a session.
    let call = Duration::from_secs(layout::seconds(kind, Purpose::Workflow) - 5);
    let until = Instant::now() + call + Duration::from_secs(2);
    let path = std::env::var_os("PATH");
    let kind = workspace.config().ok()?.tracker();
    // A tracker that the settings name and that is not there is what `cook issue`
    // and `cook doctor` speak of; a hook goes on without.
    let found = tracker::find(kind, workspace.repo.root(), path.as_deref()).ok()??;
    Some(Issues {
        workspace,
        found,
        bounds: Bounds::beside(call, until),
        beads: OnceCell::new(),
        away: RefCell::new(None),
    })
}

/// The entries of a trail that belong to issues, as comments: those of a slice go to
/// the issues that it carries.
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

/// The key that a comment carries for an entry: one word.
pub(super) fn key(id: &str) -> String {
    let word = id.replace(':', ".");
    match is_id(&word) && word.len() <= 90 {
        true => word,
        false => sha256(id)[..32].to_owned(),
    }
}

/// The tracker of a worktree, as the hooks use it.
pub struct Issues<'w> {
    workspace: &'w Workspace,
    found: Found,
    bounds: Bounds,
    beads: OnceCell<Beads>,
    /// Why nothing is asked; the outer none = not looked up yet.
    away: RefCell<Option<Option<String>>>,
}

impl Issues<'_> {
    fn beads(&self) -> &Beads {
        self.beads.get_or_init(|| {
            let root = self.workspace.repo.root();
            Beads::new(&self.found, root, Actor::of(root), self.bounds)
        })
    }

    /// The tracker, unless it is known to be away.
    fn reach(&self) -> Result<&Beads, String> {
        let mut away = self.away.borrow_mut();
        let why = away.get_or_insert_with(|| {
            // Memory that cannot be read knows of no outage.
            let noted = Memory::outage(self.workspace.repo.git_dir()).ok().flatten();
            noted.map(|outage| outage.why)
        });
        match why {
            Some(why) => Err(why.clone()),
            None => Ok(self.beads()),
        }
    }

    /// The same; an outage is noted, so that no later event waits for it.
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
            // An outage that cannot be noted is met again by the next event.
            let _ = memory.note_outage(why.clone().map(|why| Outage { why, since }));
        }
        *self.away.borrow_mut() = Some(why);
    }

    /// A list, or a note why it is not there.
    fn list<T>(&self, notes: &mut Vec<String>, answer: Result<Vec<T>, TrackerError>) -> Vec<T> {
        self.note_outage(answer).unwrap_or_else(|why| {
            if !notes.contains(&why) {
                notes.push(why);
            }
            Vec::new()
        })
    }

    /// This actor's issues in work, the one that is wanted first; and the ready list.
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

    /// A session begins: asks whether the tracker answers; what it said where it did not. One that did not
    /// is asked for nothing more until the next session begins.
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

    /// What the recovery message shows.
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

    /// Whether this actor holds the issue now.
    pub(super) fn holds(&self, issue: &str) -> Result<bool, String> {
        let beads = self.reach()?;
        let issue = self.note_outage(beads.show(issue))?;
        Ok(issue.status == IssueStatus::InProgress && is_mine_to_do(beads, &issue))
    }

    /// Verifies a close that was seen; none when the issue is not closed.
    pub(super) fn verify_close(&self, issue: &str) -> Result<Option<ClosedIssue>, String> {
        let beads = self.reach()?;
        let issue = self.note_outage(beads.show(issue))?;
        if issue.status != IssueStatus::Closed {
            return Ok(None);
        }
        // The close counts whether or not its consequences could be asked for.
        let unblocked = self
            .note_outage(list_unblocked_by(beads, &issue.id))
            .unwrap_or_default();
        Ok(Some(ClosedIssue {
            id: issue.id,
            unblocked: unblocked.iter().map(brief).collect(),
        }))
    }

    /// Gives the issues those of the entries that they do not have yet, each once, now or when the
    /// tracker answers again. True when nothing waits any more.
    pub(super) fn catch_up(&self, entries: &[Entry]) -> Result<bool, String> {
        let Some(last) = entries.last() else {
            return Ok(true);
        };
        let mut memory = match Memory::hold(self.workspace.repo.git_dir()) {
            Ok(memory) => memory,
            // Whoever holds it looks at the trail again before it lets go.
            Err(MemoryError::Busy) => return Ok(false),
            Err(error) => return Err(error.to_string()),
        };
        if memory.has_sent(self.found.name, &last.id) {
            return Ok(true);
        }
        // Named when it was noted, and again when the next session begins.
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

/// Not somebody else's.
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

/// A comment as an entry of the trail; one of cook's own has the key of its entry.
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

/// Which issue a session is told about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted<'a> {
    /// The one it claimed; when that is not in work any more, as [`Wanted::Any`].
    Claimed(&'a str),
    /// The one that the slice in work carries: only what is kept with it.
    Carried(&'a str),
    /// The most recently updated one of this actor that is in work.
    Any,
}

/// What the tracker has to say to a session that begins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Picture {
    /// The issue in work.
    pub item: Option<Item>,
    /// Entries kept with it, oldest first; their ids are keys of comments.
    pub trail: Vec<Checkpoint>,
    /// What could be worked on, in the tracker's order: id and title.
    pub ready: Vec<String>,
    /// What did not answer, one line each.
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
