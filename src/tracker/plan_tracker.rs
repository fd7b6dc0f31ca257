//! The tracker `none`: the slices of cook's own plan as issues.
//!
//! Only the regrounder's reports create, select and accept slices, so `claim` and `close` succeed only if that has
//! already happened. Comments on a slice are entries of the checkpoint trail.

use super::tracked_issue::{
    Attempt, Brief, Comment, Commented, Holder, Issue, IssueStatus, Link, NewIssue, Reach,
    ReadyIssue, ReadyList, Result, Tracker, TrackerError, is_id, line, text,
};
use crate::prelude::*;
use cook_protocol::machine::SliceGraph;
use cook_protocol::model::MAX_CHECKPOINT_TEXT;
use cook_repo::process::session_around;
use cook_repo::store::Place;

/// How many entries of the trail are searched for a slice's comments.
const LOOK_BACK: usize = 2_000;

/// The plan as a tracker.
#[derive(Debug, Clone)]
pub struct PlanTracker {
    plan: Plan,
    /// The place of the log that holds the trail.
    place: Place,
    clock: Clock,
}

impl PlanTracker {
    /// A tracker for this plan and its worktree's trail.
    pub fn new(plan: Plan, place: Place, clock: Clock) -> Self {
        Self { plan, place, clock }
    }

    fn store(&self) -> Result<Store> {
        let absent = || "there is no log for this worktree".to_owned();
        let store = Store::open(self.place.clone()).map_err(TrackerError::Trail)?;
        store.ok_or_else(|| TrackerError::Absent("cook", absent()))
    }

    fn slice(&self, id: &str) -> Result<&Slice> {
        let slice = self.plan.slice(id);
        slice.ok_or_else(|| TrackerError::Unknown(line(id)))
    }

    fn links<'a>(&'a self, ids: impl Iterator<Item = &'a str>) -> Vec<Link> {
        ids.filter_map(|id| self.plan.slice(id))
            .map(|slice| Link {
                kind: "blocks".to_owned(),
                issue: brief(slice),
            })
            .collect()
    }
}

fn status(slice: &Slice) -> IssueStatus {
    match slice.status {
        SliceStatus::Planned => IssueStatus::Open,
        SliceStatus::Selected | SliceStatus::InProgress => IssueStatus::InProgress,
        SliceStatus::Blocked => IssueStatus::Blocked,
        SliceStatus::Done | SliceStatus::Cancelled => IssueStatus::Closed,
    }
}

fn brief(slice: &Slice) -> Brief {
    Brief {
        id: slice.slice_id.clone(),
        title: line(&slice.goal),
        status: Some(status(slice)),
        kind: Some("slice".to_owned()),
    }
}

fn issue(slice: &Slice) -> Issue {
    Issue {
        id: slice.slice_id.clone(),
        title: line(&slice.goal),
        status: status(slice),
        kind: "slice".to_owned(),
        priority: Some(slice.priority.0.clone()),
        assignee: None,
        updated_at: None,
        description: text(&slice.acceptance_criteria.join("\n")),
    }
}

fn by_report(message: String) -> TrackerError {
    TrackerError::Plan(message, "run `cook next --prompt`")
}

impl Tracker for PlanTracker {
    fn name(&self) -> &'static str {
        "none"
    }

    fn current(&self) -> Result<Vec<Issue>> {
        let slices = self.plan.open_slices();
        let in_work = |issue: &Issue| issue.status == IssueStatus::InProgress;
        Ok(slices.map(issue).filter(in_work).collect())
    }

    fn ready(&self) -> Result<Vec<Issue>> {
        let rows = SliceGraph::new(&self.plan).ready(&self.plan);
        rows.iter().map(|row| self.show(&row.slice_id)).collect()
    }

    fn show(&self, id: &str) -> Result<Issue> {
        self.slice(id).map(issue)
    }

    fn comments(&self, id: &str) -> Result<Vec<Comment>> {
        self.slice(id)?;
        let trail = self
            .store()?
            .checkpoints(LOOK_BACK)
            .map_err(TrackerError::Trail)?;
        Ok(trail
            .entries
            .into_iter()
            .filter(|entry| entry.item.as_deref() == Some(id))
            .map(|entry| Comment {
                author: line(entry.agent.as_deref().unwrap_or(entry.kind.id())),
                created_at: Some(line(&entry.at.display())),
                text: text(&entry.text),
            })
            .collect())
    }

    fn dependents(&self, id: &str) -> Result<Vec<Link>> {
        self.slice(id)?;
        let waiting = self.plan.candidate_slices.iter();
        let waiting = waiting.filter(|slice| slice.blocked_on.iter().any(|entry| entry == id));
        Ok(self.links(waiting.map(|slice| slice.slice_id.as_str())))
    }

    fn dependencies(&self, id: &str) -> Result<Vec<Link>> {
        let slice = self.slice(id)?;
        Ok(self.links(slice.blocked_on.iter().map(String::as_str)))
    }

    fn claim(&self, id: &str) -> Result<Issue> {
        let issue = self.show(id)?;
        if issue.status == IssueStatus::InProgress {
            return Ok(issue);
        }
        Err(by_report(format!(
            "slice `{id}` is {}: a re-ground selects it, not a claim",
            self.slice(id)?.status.id()
        )))
    }

    fn comment(&self, id: &str, key: &str, said: &str, _attempt: Attempt) -> Result<Commented> {
        self.slice(id)?;
        if !is_id(key) {
            return Err(TrackerError::BadText("has a key that is not a single word"));
        }
        let said = text(said);
        let said = said.trim();
        if said.is_empty() {
            return Err(TrackerError::BadText("is empty"));
        }
        if said.len() > MAX_CHECKPOINT_TEXT {
            return Err(TrackerError::BadText("is longer than 4096 bytes"));
        }
        let around = session_around();
        let entry = Checkpoint {
            id: format!("manual:{}", &sha256(format!("{id}\0{key}"))[..32]),
            schema_version: SchemaVersion,
            at: Timestamp::Text(self.clock.now()),
            kind: CheckpointKind::Manual,
            text: said.to_owned(),
            item: Some(id.to_owned()),
            agent: around.as_ref().map(|(agent, _)| (*agent).to_owned()),
            session: around.map(|(_, session)| session),
            commit: None,
        };
        // The trail holds each id once, so adding a comment again has no effect.
        match self.store()?.append_checkpoint(&entry) {
            Ok(true) => Ok(Commented::Added),
            Ok(false) => Ok(Commented::WasThere),
            Err(error) => Err(TrackerError::Trail(error)),
        }
    }

    fn close(&self, id: &str, _reason: &str) -> Result<(Issue, bool)> {
        let issue = self.show(id)?;
        if issue.status == IssueStatus::Closed {
            return Ok((issue, true));
        }
        Err(by_report(format!(
            "slice `{id}` is {}: an accepted reconciliation closes it",
            self.slice(id)?.status.id()
        )))
    }

    fn create(&self, _new: &NewIssue) -> Result<Issue> {
        Err(by_report(
            "a re-ground plans slices; there is no issue tracker here".to_owned(),
        ))
    }

    fn ready_list(&self, _end: Instant) -> Result<ReadyList> {
        let graph = SliceGraph::new(&self.plan);
        let mut rows = Vec::new();
        for row in graph.ready(&self.plan) {
            let unblocks = row.unblocks.iter().filter_map(|id| self.plan.slice(id));
            rows.push(ReadyIssue {
                issue: self.show(&row.slice_id)?,
                holder: Holder::Nobody,
                reach: Some(Reach {
                    parent: None,
                    unblocks: unblocks.map(brief).collect(),
                    unblocks_all: row.unblocks_all,
                    chain: row.chain,
                    complete: true,
                }),
            });
        }
        Ok(ReadyList {
            rows,
            cycles: graph.cycle().into_iter().collect(),
            problems: Vec::new(),
        })
    }

    fn until(&self, _end: Instant) -> Box<dyn Tracker + '_> {
        Box::new(self.clone())
    }
}
