//! `cook issue`: issues over the plan, `br` or `bd`, and what the plan owes them.

use super::args::{CreateIssueArgs, IssueArgs, IssueCommand};
use super::{Answer, Context, answer, input};
use crate::tracker::{
    Attempt, Bounds, Commented, Deed, Memory, MemoryError, NewIssue, Outage, PlanTracker, Tracker,
    TrackerError, is_own_file, may_claim, may_close, open, owed, settle, unblocked_by,
};
use crate::view::{IssueChangedAnswer, IssueReadyAnswer, IssueShowAnswer, IssueStatusAnswer};
use crate::walk::Workspace;
use cook_core::diagnostic::{Code, Failure, Finding, Refusal, counted, listed_are};
use cook_core::model::{Plan, Snapshot};
use std::path::Path;
use std::time::{Duration, Instant};

/// Time to look into the ready list's first rows.
const ENRICH: Duration = Duration::from_secs(5);
/// Time for one call, and for all, of what follows a report.
const FOLLOW_CALL: Duration = Duration::from_secs(5);
const FOLLOW_ALL: Duration = Duration::from_secs(15);

/// A command's worktree with its tracker.
struct Desk {
    workspace: Workspace,
    /// The plan; none before `cook init`.
    plan: Option<Plan>,
    tracker: Box<dyn Tracker>,
}

impl Desk {
    /// A tracker that does not answer is noted, so that hooks leave it alone until
    /// the next session start.
    fn open(context: &Context) -> Result<Self, Failure> {
        let workspace = context.workspace()?;
        let plan = workspace.current()?.1.map(|snapshot| snapshot.plan);
        let kind = workspace.config()?.tracker();
        let tracker: Box<dyn Tracker> = match open(kind, workspace.repo.root(), Bounds::command()) {
            Ok(Some(beads)) => Box::new(beads),
            Ok(None) => match &plan {
                Some(plan) => Box::new(PlanTracker::new(
                    plan.clone(),
                    workspace.place(),
                    workspace.clock,
                )),
                None => return Err(nothing_here()),
            },
            Err(error) => {
                note_outage(&workspace, &error);
                return Err(error.into());
            }
        };
        Ok(Self {
            workspace,
            plan,
            tracker,
        })
    }

    fn changed(&self, did: &'static str, issue: crate::tracker::Issue) -> IssueChangedAnswer {
        IssueChangedAnswer {
            tracker: self.tracker.name(),
            did,
            changed: true,
            issue,
            key: None,
            unblocked: Vec::new(),
            findings: Vec::new(),
        }
    }
}

fn nothing_here() -> Failure {
    Failure::state(
        Code::NotInitialised,
        "there is neither a plan nor an issue tracker in this worktree",
    )
}

pub(super) fn issue(context: &Context, args: &IssueArgs) -> Answer {
    let desk = Desk::open(context)?;
    match &args.command {
        IssueCommand::Ready => ready(&desk),
        IssueCommand::Show { id } => show(&desk, id),
        IssueCommand::Claim { id } => claim(&desk, id),
        IssueCommand::Close { id, reason } => close(&desk, id, reason),
        IssueCommand::Comment { id, text, key } => comment(&desk, id, text, key.as_deref()),
        IssueCommand::Create(new) => create(&desk, new),
        IssueCommand::Status => status(&desk),
    }
}

fn ready(desk: &Desk) -> Answer {
    let list = desk.tracker.ready_list(Instant::now() + ENRICH)?;
    let findings = list.problems.iter();
    let findings = findings.map(|why| Finding::new(Code::ReadyIncomplete, why.clone()));
    answer(IssueReadyAnswer {
        tracker: desk.tracker.name(),
        findings: findings.collect(),
        list,
    })
}

fn show(desk: &Desk, id: &str) -> Answer {
    let issue = desk.tracker.show(id)?;
    answer(IssueShowAnswer {
        tracker: desk.tracker.name(),
        dependencies: desk.tracker.dependencies(id)?,
        dependents: desk.tracker.dependents(id)?,
        comments: desk.tracker.comments(id)?,
        issue,
    })
}

fn follows(id: &str, slice: &str, when: &str) -> Failure {
    Refusal::new(
        Code::IssueFollowsSlice,
        format!("issue `{id}` belongs to slice `{slice}`, which is not {when} yet"),
    )
    .into()
}

fn claim(desk: &Desk, id: &str) -> Answer {
    if let Some(plan) = &desk.plan {
        may_claim(plan, id).map_err(|slice| follows(id, slice, "selected"))?;
    }
    let was = desk.tracker.show(id)?;
    let issue = desk.tracker.claim(id)?;
    let mut changed = desk.changed("claimed", issue);
    changed.changed = was != changed.issue;
    answer(changed)
}

fn close(desk: &Desk, id: &str, reason: &str) -> Answer {
    if let Some(plan) = &desk.plan {
        may_close(plan, id).map_err(|slice| follows(id, slice, "accepted"))?;
    }
    // The plan's own closes write nothing, so what is uncommitted does not matter there.
    if desk.tracker.name() != "none" {
        clean(&desk.workspace)?;
    }
    let closed = desk.tracker.close(id, reason)?;
    let mut changed = desk.changed("closed", closed.issue);
    changed.changed = !closed.already;
    match unblocked_by(&*desk.tracker, id) {
        Ok(unblocked) => changed.unblocked = unblocked,
        Err(error) => changed
            .findings
            .push(Finding::new(Code::ReadyIncomplete, error.to_string())),
    }
    answer(changed)
}

/// Nothing but the tracker's own files may be uncommitted.
fn clean(workspace: &Workspace) -> Result<(), Failure> {
    let worktree = workspace.repo.status()?.worktree;
    let dirty: Vec<&String> = worktree
        .dirty
        .iter()
        .filter(|path| !is_own_file(path))
        .collect();
    if dirty.is_empty() && worktree.more == 0 {
        return Ok(());
    }
    let more = match dirty.len().saturating_sub(5) as u64 + worktree.more {
        0 => String::new(),
        more => format!(" ({} more)", counted(more, "path")),
    };
    let named = &dirty[..dirty.len().min(5)];
    Err(Refusal::new(
        Code::IssueDirty,
        format!("{} not committed{more}", listed_are(named)),
    )
    .into())
}

fn comment(desk: &Desk, id: &str, text: &str, key: Option<&str>) -> Answer {
    let text = match text {
        "-" => input::read_text(None)?,
        text => text.to_owned(),
    };
    let (key, attempt) = match key {
        Some(key) => (key.to_owned(), Attempt::Again),
        None => (ulid::Ulid::generate().to_string(), Attempt::First),
    };
    let issue = desk.tracker.show(id)?;
    let said = desk.tracker.comment(id, &key, &text, attempt)?;
    let mut changed = desk.changed("commented", issue);
    changed.changed = said == Commented::Added;
    changed.key = Some(key);
    answer(changed)
}

fn create(desk: &Desk, new: &CreateIssueArgs) -> Answer {
    let issue = desk.tracker.create(&NewIssue {
        title: new.title.clone(),
        kind: new.kind.clone(),
        priority: new.priority,
        description: new.description.clone(),
        discovered_from: new.discovered_from.clone(),
    })?;
    answer(desk.changed("created", issue))
}

fn status(desk: &Desk) -> Answer {
    let git_dir = desk.workspace.repo.git_dir();
    let outage = Memory::outage(git_dir)
        .map_err(|error| Failure::state(Code::InputUnreadable, error.to_string()))?;
    answer(IssueStatusAnswer {
        tracker: desk.tracker.name(),
        current: desk.tracker.current()?,
        ready: desk.tracker.ready()?.len(),
        outage,
    })
}

/// Gives the tracker what the plan owes it: claims of selected slices' issues, closes
/// of accepted ones. Never keeps a report from being taken: what fails is a finding
/// and is tried again with the next report.
pub(super) fn follow(workspace: &Workspace, snapshot: &Snapshot) -> Vec<Finding> {
    let deeds = owed(&snapshot.plan);
    if deeds.is_empty() {
        // What was settled before an undo is owed anew when it comes again.
        let forgotten = Memory::forget_settled(workspace.repo.git_dir());
        let behind = |error: MemoryError| Finding::new(Code::TrackerBehind, error.to_string());
        return forgotten.err().map(behind).into_iter().collect();
    }
    let kind = match workspace.config() {
        Ok(config) => config.tracker(),
        Err(failure) => return failure.findings,
    };
    let bounds = Bounds::beside(FOLLOW_CALL, Instant::now() + FOLLOW_ALL);
    match open(kind, workspace.repo.root(), bounds) {
        Ok(None) => Vec::new(),
        Ok(Some(beads)) => give(&beads, workspace.repo.git_dir(), &deeds),
        Err(error) => {
            note_outage(workspace, &error);
            vec![error.finding()]
        }
    }
}

fn give(
    tracker: &dyn Tracker,
    git_dir: &Path,
    deeds: &std::collections::BTreeSet<Deed>,
) -> Vec<Finding> {
    let settled = Memory::hold(git_dir).and_then(|mut memory| settle(tracker, &mut memory, deeds));
    match settled {
        Ok(report) => report.owed.iter().map(|(_, why)| why.finding()).collect(),
        Err(error) => vec![Finding::new(Code::TrackerBehind, error.to_string())],
    }
}

/// Best effort: an outage that cannot be noted is met again by the next caller.
fn note_outage(workspace: &Workspace, error: &TrackerError) {
    if !error.is_outage() {
        return;
    }
    if let Ok(mut memory) = Memory::hold(workspace.repo.git_dir()) {
        let _ = memory.note_outage(Some(Outage {
            why: error.to_string(),
            since: workspace.clock.now(),
        }));
    }
}
