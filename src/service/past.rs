//! What the log holds of the whole job where its documents do not: another mission and `cook undo` clear
//! those, and no commit that was made.

use super::workspace::Workspace;
use cook_protocol::diagnostic::Failure;
use cook_protocol::machine::Head;
use cook_protocol::model::{Conclude, Event, Policy, SliceRecordType, Snapshot, Verdicts};
use cook_repo::store::Store;
use std::collections::BTreeMap;

/// Events that are read whole.
const READ: [&str; 9] = [
    "regrounded",
    "regrounded_by_cook",
    "implemented",
    "returned",
    "asked",
    "reviewed",
    "audited",
    "refocused",
    "undone",
];

/// The job since it began, or since the project was last found done: who found that judged what was there.
pub(super) struct Past {
    /// HEAD there; none where the log has seen no commit.
    pub base: Option<String>,
    /// The project was found done there.
    pub begins_at_end: bool,
    /// The transitions since that say something of work, oldest first.
    pub events: Vec<Passed>,
    /// What implementers reported, oldest first.
    reports: Vec<Reported>,
    /// Acceptances: number and slice.
    accepted: Vec<(u64, String)>,
    undone: Vec<u64>,
}

/// A transition.
pub(super) struct Passed {
    pub seq: u64,
    /// The slice that it is about, of a report on one.
    pub subject: String,
    pub event: Event,
}

/// Commits that a report named for a slice.
struct Reported {
    seq: u64,
    slice: String,
    commits: Vec<String>,
}

/// Whose a commit is that no slice of the plan accounts for.
pub(super) struct Whose {
    pub slice: String,
    /// Number of the first report that names it; none = the plan alone knows.
    pub report: Option<u64>,
    pub is_of_earlier_mission: bool,
    /// The slice was accepted with it, and in which transition.
    pub accepted: Option<u64>,
}

impl Past {
    /// Reads back to where the job began.
    ///
    /// # Errors
    /// A log or a repository that cannot be read.
    pub fn read(workspace: &Workspace, snapshot: &Snapshot, head: &Head) -> Result<Self, Failure> {
        let store = workspace.store()?;
        let mut past = Self {
            base: None,
            begins_at_end: false,
            events: Vec::new(),
            reports: Vec::new(),
            accepted: Vec::new(),
            undone: snapshot.undone.seqs.clone(),
        };
        let mut commits = Vec::new();
        for meta in store.entries()? {
            let meta = meta?;
            commits.push(meta.commit.clone());
            if !READ.contains(&meta.event.as_str()) {
                continue;
            }
            let event = store.event(&meta.commit)?;
            if is_end(&event) && !past.is_undone(meta.seq) {
                past.base = end_on_head(workspace, head, &meta.commit)?;
            }
            if past.base.is_some() {
                past.begins_at_end = true;
                break;
            }
            past.events.push(Passed {
                seq: meta.seq,
                subject: meta.subject,
                event,
            });
        }
        past.events.reverse();
        if past.base.is_none() {
            past.base = first_head(store, &commits)?;
        }
        past.read_reports(workspace)?;
        Ok(past)
    }

    fn read_reports(&mut self, workspace: &Workspace) -> Result<(), Failure> {
        let is_wanted =
            |line: &str| line.contains("\"implemented\"") || line.contains("\"accepted\"");
        let mut claimed = BTreeMap::new();
        for record in workspace.slice_records(is_wanted)? {
            let seq = record.seq.map_or(0, |seq| seq.0);
            match record.kind {
                SliceRecordType::Implemented => {
                    claimed.insert(seq, record.claimed.unwrap_or_default());
                }
                SliceRecordType::Accepted => self.accepted.push((seq, record.slice_id)),
                _ => {}
            }
        }
        for passed in &self.events {
            let Event::Implemented {
                slice_id, commit, ..
            } = &passed.event
            else {
                continue;
            };
            let mut commits = claimed.remove(&passed.seq).unwrap_or_default();
            commits.extend(workspace.repo.resolve(commit)?);
            self.reports.push(Reported {
                seq: passed.seq,
                slice: slice_id.clone(),
                commits,
            });
        }
        Ok(())
    }

    /// The user took that transition back.
    pub fn is_undone(&self, seq: u64) -> bool {
        self.undone.contains(&seq)
    }

    /// The mission that a transition was made under, counted from the first that is looked at.
    fn mission_of(&self, seq: u64) -> usize {
        let before = self.events.iter().filter(|passed| passed.seq < seq);
        before
            .filter(|passed| matches!(passed.event, Event::Refocused { .. }))
            .count()
    }

    /// A transition of a mission that is no more.
    pub fn is_of_earlier_mission(&self, seq: u64) -> bool {
        self.mission_of(seq) != self.mission_of(u64::MAX)
    }

    /// Whose the commit is: of the report that names it last, or of the slice of the plan that claims it.
    pub fn find_whose(&self, commit: &String, claimant: Option<&str>) -> Option<Whose> {
        let last = self.reports.iter().rev();
        let mut last = last.filter(|report| report.commits.contains(commit));
        let Some(last) = last.next() else {
            return claimant.map(|slice| Whose {
                slice: slice.to_owned(),
                report: None,
                is_of_earlier_mission: false,
                accepted: None,
            });
        };
        let mission = self.mission_of(last.seq);
        let is_same = |report: &&Reported| {
            report.slice == last.slice && self.mission_of(report.seq) == mission
        };
        let mut same = self.reports.iter().filter(is_same);
        let first = same.find(|report| report.commits.contains(commit));
        let mut accepted = self.accepted.iter().filter(|(seq, slice)| {
            *slice == last.slice
                && *seq > last.seq
                && self.mission_of(*seq) == mission
                && !self.is_undone(*seq)
        });
        Some(Whose {
            slice: last.slice.clone(),
            report: Some(first.map_or(last.seq, |first| first.seq)),
            is_of_earlier_mission: self.is_of_earlier_mission(last.seq),
            accepted: accepted.next().map(|(seq, _)| *seq),
        })
    }

    /// The last review of the commit and the last audit after it, each with its number.
    pub fn find_looks(&self, whose: &Whose) -> [Option<(u64, &Verdicts)>; 2] {
        let since = whose.report.unwrap_or_default();
        let mission = whose.report.map(|seq| self.mission_of(seq));
        let mission = mission.unwrap_or_else(|| self.mission_of(u64::MAX));
        let mut looks = [None, None];
        for passed in &self.events {
            let of_slice = passed.subject == whose.slice && passed.seq > since;
            if !of_slice || self.mission_of(passed.seq) != mission {
                continue;
            }
            match &passed.event {
                Event::Reviewed { verdicts, .. } => looks[0] = Some((passed.seq, verdicts)),
                Event::Audited { verdicts, .. } => looks[1] = Some((passed.seq, verdicts)),
                _ => {}
            }
        }
        looks
    }
}

/// A re-ground that calls the project done.
fn is_end(event: &Event) -> bool {
    match event {
        Event::Regrounded { block, .. } | Event::RegroundedByCook { block, .. } => {
            matches!(block.conclude, Some(Conclude::Stop))
        }
        _ => false,
    }
}

/// The HEAD that was found done, where the HEAD of now goes on from it.
fn end_on_head(
    workspace: &Workspace,
    head: &Head,
    transition: &str,
) -> Result<Option<String>, Failure> {
    let then = workspace.store()?.entry(transition)?.snapshot;
    let is_done = then.state.continuation_policy == Policy::Done;
    let Some(found) = then.ledger.head_seen.filter(|_| is_done) else {
        return Ok(None);
    };
    let is_on_head = workspace.repo.on_head(head, &found)?;
    Ok(is_on_head.then_some(found))
}

/// The first HEAD that the log has seen; its transitions are given newest first.
fn first_head(store: &Store, transitions: &[String]) -> Result<Option<String>, Failure> {
    for transition in transitions.iter().rev() {
        let then = store.entry(transition)?.snapshot;
        if then.ledger.head_seen.is_some() {
            return Ok(then.ledger.head_seen);
        }
    }
    Ok(None)
}
