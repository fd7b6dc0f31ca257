//! The ready list: what each issue belongs to and what waits for it.
//!
//! The first few issues are looked into side by side under one deadline; what
//! does not come in time is left out and the row says that it is not complete.

use super::tracked_issue::{
    Brief, Holder, Issue, Link, Reach, ReadyIssue, ReadyList, Tracker, TrackerError,
};
use cook_repo::thread;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// Rows that are looked into.
pub const ENRICHED: usize = 5;

/// Issues whose dependents are asked for, beyond those of the rows themselves.
const MAX_ASKED: usize = 200;

/// Questions under way at once.
const AT_ONCE: usize = 5;

/// Whose an issue is to a tracker's actor.
pub(super) fn holder(tracker: &dyn Tracker, issue: &Issue) -> Holder {
    match &issue.assignee {
        None => Holder::Nobody,
        Some(name) if tracker.is_mine(name) => Holder::Mine,
        Some(name) => Holder::Other(name.clone()),
    }
}

/// Looks into the first rows.
pub(super) fn explore(
    tracker: &dyn Tracker,
    issues: Vec<Issue>,
    end: Instant,
) -> Result<ReadyList, TrackerError> {
    let tracker = &*tracker.until(end);
    let mut seen = Seen::default();
    let first: Vec<String> = issues.iter().take(ENRICHED).map(|i| i.id.clone()).collect();
    let parents = ask_side_by_side(&first, |id| {
        let links = tracker.dependencies(id)?;
        Ok(with_parents_type(tracker, links))
    });
    let parents: Vec<Option<Vec<Link>>> = parents.into_iter().map(|a| seen.note(a)).collect();
    seen.ask(tracker, &first);
    let rows = issues
        .into_iter()
        .enumerate()
        .map(|(at, issue)| {
            let down = parents.get(at).and_then(Option::as_ref);
            ReadyIssue {
                holder: holder(tracker, &issue),
                reach: (at < ENRICHED)
                    .then(|| seen.reach(&issue.id, down))
                    .flatten(),
                issue,
            }
        })
        .collect();
    Ok(ReadyList {
        rows,
        cycles: seen.cycles(),
        problems: seen.problems.into_iter().collect(),
    })
}

/// The links of an issue, that to its parent with the parent's type: some trackers say it only where
/// they show the parent itself. What cannot be asked for is left out.
pub(crate) fn with_parents_type(tracker: &dyn Tracker, mut links: Vec<Link>) -> Vec<Link> {
    let parent = links.iter_mut().find(|link| link.is_parent());
    if let Some(parent) = parent.filter(|link| link.issue.kind.is_none()) {
        let shown = tracker.show(&parent.issue.id).ok();
        parent.issue.kind = shown.map(|issue| issue.kind);
    }
    links
}

/// Open issues that waited for this one and wait for nothing that is still open.
///
/// # Errors
/// When the tracker does not say.
pub fn list_unblocked_by(tracker: &dyn Tracker, id: &str) -> Result<Vec<Brief>, TrackerError> {
    let waiting: Vec<Brief> = list_waiting(&tracker.dependents(id)?);
    let ids: Vec<String> = waiting
        .iter()
        .map(|brief| brief.id.clone())
        .take(MAX_ASKED)
        .collect();
    let mut free = Vec::new();
    for (brief, needs) in waiting
        .into_iter()
        .zip(ask_side_by_side(&ids, |id| tracker.dependencies(id)))
    {
        let still = |link: &Link| link.blocks() && link.issue.id != id && !link.issue.is_closed();
        if !needs?.iter().any(still) {
            free.push(brief);
        }
    }
    Ok(free)
}

/// The open issues at the other end of links that block.
fn list_waiting(links: &[Link]) -> Vec<Brief> {
    let mut waiting: Vec<Brief> = links
        .iter()
        .filter(|link| link.blocks() && !link.issue.is_closed())
        .map(|link| link.issue.clone())
        .collect();
    waiting.sort_by(|a, b| a.id.cmp(&b.id));
    waiting.dedup_by(|a, b| a.id == b.id);
    waiting
}

/// What was learnt of who waits for whom.
#[derive(Default)]
struct Seen {
    /// Each issue that was asked about, with who waits for it.
    edges: BTreeMap<String, Vec<Brief>>,
    /// Issues that could not be asked about.
    unasked: BTreeSet<String>,
    problems: BTreeSet<String>,
}

impl Seen {
    fn note<T>(&mut self, answer: Result<T, TrackerError>) -> Option<T> {
        match answer {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.problems.insert(error.to_string());
                None
            }
        }
    }

    /// Asks who waits for these, then for those, and so on.
    fn ask(&mut self, tracker: &dyn Tracker, first: &[String]) {
        let mut due = first.to_vec();
        while !due.is_empty() {
            let room = (MAX_ASKED + first.len()).saturating_sub(self.edges.len());
            if due.len() > room {
                self.problems.insert(format!(
                    "more than {MAX_ASKED} issues wait; not all were looked at"
                ));
                self.unasked.extend(due.drain(room..));
            }
            let answers = ask_side_by_side(&due, |id| tracker.dependents(id));
            let mut next = BTreeSet::new();
            for (id, answer) in due.drain(..).zip(answers) {
                let Some(links) = self.note(answer) else {
                    self.unasked.insert(id);
                    continue;
                };
                let waiting = list_waiting(&links);
                next.extend(waiting.iter().map(|brief| brief.id.clone()));
                self.edges.insert(id, waiting);
            }
            next.retain(|id| !self.edges.contains_key(id) && !self.unasked.contains(id));
            due = next.into_iter().collect();
        }
    }

    fn list_waiting(&self, id: &str) -> impl Iterator<Item = &str> {
        let waiting = self.edges.get(id).into_iter().flatten();
        waiting.map(|brief| brief.id.as_str())
    }

    /// Issues that wait for this one, directly or not; itself too where it stands in a circle.
    fn list_reached(&self, id: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut due: Vec<&str> = self.list_waiting(id).collect();
        while let Some(next) = due.pop() {
            if reached.insert(next) {
                due.extend(self.list_waiting(next));
            }
        }
        reached
    }

    /// Issues on the longest chain from this one. Each one's length is computed once; a circle ends a
    /// chain. No deeper than the number of issues that were asked about.
    fn measure_chain<'s>(&'s self, id: &'s str, known: &mut BTreeMap<&'s str, usize>) -> usize {
        if let Some(length) = known.get(id) {
            return *length;
        }
        known.insert(id, 0);
        let rest = self
            .list_waiting(id)
            .map(|next| self.measure_chain(next, known));
        let length = rest.max().unwrap_or(0) + 1;
        known.insert(id, length);
        length
    }

    fn cycles(&self) -> Vec<Vec<String>> {
        let ids = self.edges.keys();
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            ids.map(|id| (id.as_str(), self.list_reached(id))).collect();
        let cycle = |id: &str| -> Vec<String> {
            let others = reached[id].iter();
            let back =
                others.filter(|other| reached.get(*other).is_some_and(|all| all.contains(id)));
            back.map(|other| (*other).to_owned()).collect()
        };
        let cycles: BTreeSet<Vec<String>> = reached.keys().map(|id| cycle(id)).collect();
        cycles
            .into_iter()
            .filter(|cycle| !cycle.is_empty())
            .collect()
    }

    /// None when not even the issue's own dependents are known.
    fn reach(&self, id: &str, down: Option<&Vec<Link>>) -> Option<Reach> {
        let unblocks = self.edges.get(id)?.clone();
        let mut reached = self.list_reached(id);
        reached.remove(id);
        Some(Reach {
            parent: down
                .and_then(|links| links.iter().find(|link| link.is_parent()))
                .map(|link| link.issue.clone()),
            unblocks,
            unblocks_all: reached.len(),
            chain: self.measure_chain(id, &mut BTreeMap::new()),
            complete: down.is_some() && !reached.iter().any(|id| self.unasked.contains(*id)),
        })
    }
}

/// Asks the same of each id, a few at once, and gives the answers in the same order.
fn ask_side_by_side<T: Send>(ids: &[String], ask: impl Fn(&str) -> T + Sync) -> Vec<T> {
    let mut answers = Vec::with_capacity(ids.len());
    for some in ids.chunks(AT_ONCE) {
        let asked = thread::on_each(some, |id| ask(id)).into_iter();
        answers.extend(
            asked.map(|answer| answer.unwrap_or_else(|panic| std::panic::resume_unwind(panic))),
        );
    }
    answers
}
