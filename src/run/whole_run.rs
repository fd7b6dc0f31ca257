//! A whole run of `cook run` or `cook run --once`.

use super::mirror::open_whole;
use super::preflight::{Keeping, PLAYED, before, cast_roles, require_agents};
use super::run_loop::Driver;
use super::run_order::{
    Ended, Limits, Observer, Opening, Operator, Order, Outcome, RecentStatus, RoleAgent,
    RoleAssignment, RunEvent, Step, paths_are,
};
use super::session_guard::unwritable;
use crate::prelude::*;
use crate::service;
use crate::workspace::Workspace;
use cook_protocol::machine::Worktree;
use cook_repo::git::Unparked;
use cook_repo::remote::{Manner, Pulled, Remote, Side};
use cook_repo::store::{Lease, fresh_id};

/// The result of a run, and the state of the worktree after it.
#[derive(Debug)]
pub struct Held {
    /// The driver's result.
    pub outcome: Outcome,
    /// The documents after the run.
    pub snapshot: Snapshot,
    pub head: Head,
    /// Number of uncommitted paths after the run.
    pub uncommitted: u64,
    /// Whether only one session was requested.
    pub is_one_step: bool,
    /// What was pushed to the remote, if the run was made for one.
    pub given: Option<Given>,
}

/// What a step pushed to the remote that it started from.
#[derive(Debug)]
pub struct Given {
    /// The remote's name or address, as it was given.
    pub remote: String,
    /// Refs that moved there.
    pub refs: Vec<String>,
}

/// Runs the whole workflow: settles what the last run left, drives, and restores parked changes.
///
/// # Errors
/// An obstacle to the run, or a failure that ended it.
pub fn hold(order: &Order, operator: &dyn Operator) -> Result<Held> {
    let (workspace, was_lost) = open_whole(order.dir)?;
    workspace.require()?;
    settle_first(order.dir, operator, was_lost)?;
    if let Some(held) = find_done(order)? {
        return Ok(held);
    }
    hold_settled(order, operator)
}

/// The result of a run if the work is done already: that needs no agent.
fn find_done(order: &Order) -> Result<Option<Held>> {
    let workspace = order.opening.open(order.dir)?;
    let (_, snapshot) = workspace.require()?;
    if snapshot.state.continuation_policy != Policy::Done {
        return Ok(None);
    }
    let (next, _) = service::dispatch_now(&workspace, Some(&snapshot))?;
    if next.role.is_some() || next.policy != Policy::Done {
        return Ok(None);
    }
    let outcome = Outcome::without_session(Ended::Policy(Policy::Done), next);
    Held::of(outcome, &workspace).map(Some)
}

/// As [`hold`], after an earlier run is settled and if the work is not done.
pub(super) fn hold_settled(order: &Order, operator: &dyn Operator) -> Result<Held> {
    let workspace = order.opening.open(order.dir)?;
    let config = workspace.config()?;
    let mut cast = cast_roles(&workspace, config, order.agent, &PLAYED)?;
    let limits = Limits {
        steps: order.steps.unwrap_or(u64::MAX),
        wall: config.wall(),
        cost_micro_usd: config.limits().cost_micro_usd.unwrap_or(0),
        tokens: config.tokens(),
        requests: config.requests(),
    };
    let keeping = Keeping::of(&workspace)?;
    let mut observer = operator.observer();
    // Must come before the driver is created: until then a signal ends `cook`, even at a question.
    let parks = before(operator, &workspace, &mut cast, &limits, &keeping, order)?;
    let root = workspace.repo.root();
    let mut driver = Driver::new(root, cast, limits, keeping, &mut *observer)?;
    driver.opening = order.opening;
    let recent = RecentStatus::default();
    driver.recent = recent.clone();
    if parks {
        park(operator, &workspace)?;
    } else if workspace.repo.recent_status()?.worktree.is_clean() {
        // Otherwise a person was asked, and the answer may have taken time.
        recent.note(&workspace.repo);
    }
    let outcome = driver.run().map_err(with_report_lost);
    drop(observer);
    // Also after a failure, because the changes are the user's.
    let parked = put_back(operator, &workspace);
    let outcome = outcome?;
    if parked? {
        recent.forget();
    }
    let workspace = order.opening.open(order.dir)?;
    recent.lend(&workspace.repo);
    Held::of(outcome, &workspace)
}

impl Held {
    /// With the present state of the worktree.
    pub(super) fn of(outcome: Outcome, workspace: &Workspace) -> Result<Self> {
        let (_, snapshot) = workspace.require()?;
        Ok(Self {
            outcome,
            snapshot,
            head: workspace.repo.head()?,
            uncommitted: count(&workspace.repo.recent_status()?.worktree),
            is_one_step: false,
            given: None,
        })
    }

    /// Whether the mission is done.
    pub fn is_done(&self) -> bool {
        self.outcome.next.policy == Policy::Done
    }
}

/// Settles what a killed run left. Must come before the settings are read, because its session may have changed them.
pub(super) fn settle_first(dir: &Path, operator: &dyn Operator, was_lost: bool) -> Result<()> {
    if was_lost {
        operator.note(
            "cook's files in the git directory were gone; they are restored as the last run left them",
        );
    }
    let workspace = Workspace::open(dir)?;
    workspace.require()?;
    let mut observer = operator.observer();
    let (cast, limits) = (RoleAssignment::new(), Limits::default());
    let keeping = Keeping::Measured {
        why: "it holds no session".to_owned(),
    };
    let root = workspace.repo.root();
    let mut driver = Driver::new(root, cast, limits, keeping, &mut *observer)?;
    driver.recover()?;
    match driver.is_asked_to_end() {
        false => Ok(()),
        true => Err(Failure::state(
            Code::Interrupted,
            "interrupted before a session began",
        )),
    }
}

/// Adds a hint if an interrupted gate lost the report of its commit.
fn with_report_lost(mut failure: Failure) -> Failure {
    if failure.code == Code::Interrupted {
        let hint = "the report of the last session was not taken: `cook run` begins its step again";
        failure.hints.push(hint.to_owned());
    }
    failure
}

/// Maximum number of waits for a supplier's limit before the session.
const MOST_WAITS: usize = 50;

/// The result of one session.
#[derive(Debug)]
pub struct HeldOnce {
    /// Why nothing was recorded; `None` if something was.
    pub nothing: Option<String>,
    /// Cost in millionths of a dollar; `None` if unknown.
    pub cost_micro_usd: Option<u64>,
    /// Whether an interruption was requested meanwhile.
    pub is_asked_to_end: bool,
}

/// The first agent for a role, by the settings or by name. It is installed and trusted.
///
/// # Errors
/// No agent is named, it may not run here, or it is not installed.
pub fn first_agent(workspace: &Workspace, role: Role, only: Option<&str>) -> Result<RoleAgent> {
    let all = cast_roles(workspace, workspace.config()?, only, &[role])?;
    let first = all.get(&role).and_then(|agents| agents.first()).cloned();
    let mut one: RoleAssignment = first.map(|agent| (role, vec![agent])).into_iter().collect();
    require_agents(workspace, &mut one)?;
    let agent = one.into_values().flatten().next();
    agent.ok_or_else(|| Failure::usage(format!("no agent is named for the {role}")))
}

/// Runs one session of the due role in `dir`.
///
/// # Errors
/// An interruption, an agent that could not play the role, or unreadable state.
pub fn hold_once(
    dir: &Path,
    role: Role,
    agent: &RoleAgent,
    keeping: &Keeping,
    observer: &mut dyn Observer,
) -> Result<HeldOnce> {
    let only = RoleAssignment::from([(role, vec![agent.clone()])]);
    let limits = Limits {
        steps: 1,
        wall: Duration::from_secs(u64::from(u32::MAX)),
        ..Limits::default()
    };
    let mut driver = Driver::new(dir, only, limits, keeping.clone(), observer)?;
    driver.opening = Opening {
        trusts_everything: true,
        pushes_later: true,
        tells_nobody: true,
    };
    driver.tally.one_by_one = true;
    for _ in 0..MOST_WAITS {
        let nothing = match driver.step()? {
            Step::Waited => continue,
            Step::Moved => None,
            Step::Nothing(why) | Step::Another(why) => Some(why),
            Step::Ended(Ended::Agents(why) | Ended::Stalled(why) | Ended::Budget(why)) => {
                return Err(Failure::new(
                    FailureKind::Supplier,
                    Code::SupplierFailed,
                    why,
                ));
            }
            Step::Ended(Ended::Policy(policy)) => Some(format!("the work is stopped: {policy}")),
            Step::Ended(Ended::Steps | Ended::Asked) => {
                return Err(Failure::state(Code::Interrupted, "interrupted"));
            }
        };
        let spent = &driver.tally.spent;
        return Ok(HeldOnce {
            nothing,
            cost_micro_usd: (spent.unpriced == 0).then_some(spent.micro_usd),
            is_asked_to_end: driver.is_asked_to_end(),
        });
    }
    let why = format!("{}: its limit has no known end", agent.preset.name());
    Err(Failure::state(Code::SupplierFailed, why))
}

/// An observer that ignores all events.
#[derive(Debug)]
pub struct Unseen;

impl Observer for Unseen {
    fn observe(&mut self, _: &RunEvent) {}
}

pub(super) fn count_uncommitted(workspace: &Workspace) -> Result<u64> {
    Ok(count(&workspace.repo.status()?.worktree))
}

fn count(worktree: &Worktree) -> u64 {
    worktree.dirty.len() as u64 + worktree.more
}

/// Parks the uncommitted changes.
pub(super) fn park(operator: &dyn Operator, workspace: &Workspace) -> Result<()> {
    let paths = count_uncommitted(workspace)?;
    let name = workspace
        .repo
        .park(workspace.store_id(), &cook_repo::store::fresh_id())?;
    operator.note(&format!("{} parked as `{name}`", paths_are(paths)));
    Ok(())
}

/// Restores parked changes of this workflow, newest first, because each was parked on top of the earlier ones. Returns
/// whether there were any.
pub(super) fn put_back(operator: &dyn Operator, workspace: &Workspace) -> Result<bool> {
    let parked = workspace.repo.list_parked(workspace.store_id())?;
    for name in parked.iter().rev() {
        match workspace.repo.unpark(name)? {
            Unparked::PutBack => operator.note("the parked changes are back in the worktree"),
            Unparked::Stay(why) => {
                operator.warn(&format!("parked changes stay where they are, because {why}: `git stash apply --index {name}` puts them back, then `git update-ref -d {name}`"),
                );
                break;
            }
        }
    }
    Ok(!parked.is_empty())
}

// One step of a worker that keeps no state of its own: it takes in the remote's state, runs one session, and pushes the
// result in one push.
//
// Invariants: the rejected push is the fence, so that only one of two workers is recorded. The worktree is clean when a
// step begins, so changes that are found later are that step's. Everything that is discarded is kept first, and named.

/// The owner named in the lease.
const OWNER: &str = "cook run --once --from";

/// Runs one step from a remote's state, and pushes the result to it.
///
/// # Errors
/// `step_overtaken` if another run was first; any failure of a pull, a session or a push.
pub fn step_from(
    order: &Order,
    operator: &dyn Operator,
    remote: &str,
    attended: bool,
) -> Result<Held> {
    let worker = Worker {
        order,
        operator,
        remote,
        attended,
    };
    let (workspace, was_lost) = open_whole(order.dir)?;
    if workspace.store.is_some() {
        settle_first(order.dir, operator, was_lost)?;
    }
    worker.take_in()?;
    let workspace = worker.open()?;
    let due = worker.find_due(&workspace);
    // If no session will run, no state of this clone belongs to a step.
    if !due.as_ref().is_ok_and(|(_, next)| next.role.is_some()) {
        worker.forget_begun(&workspace)?;
    }
    let (tip, next) = due?;
    if next.role.is_none() {
        let outcome = Outcome::without_session(Ended::Policy(next.policy), next);
        return Ok(worker.with_given(Held::of(outcome, &workspace)?, Vec::new()));
    }
    let held = hold_settled(order, operator);
    let workspace = worker.open()?;
    let lease = workspace.store()?.lease(OWNER)?;
    worker.keep_uncommitted(&workspace)?;
    let refs = match workspace.require()?.0 == tip {
        true => Vec::new(),
        false => worker.give(&workspace, &lease)?,
    };
    worker.forget_begun(&workspace)?;
    let held = held.map_err(|failure| worker.explain_trust(failure))?;
    Ok(worker.with_given(held, refs))
}

struct Worker<'a> {
    order: &'a Order<'a>,
    operator: &'a dyn Operator,
    remote: &'a str,
    attended: bool,
}

/// How to treat commits that the remote's branch does not have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Commits {
    /// Push them with the next transition; if they conflict, the user decides.
    Stay,
    /// The same, but a step made them: if they conflict, they are kept aside.
    Yield,
    /// They belong to a log that the remote did not accept: keep them aside.
    Go,
}

impl Worker<'_> {
    fn open(&self) -> Result<Workspace> {
        let mut workspace = self.order.opening.open(self.order.dir)?;
        workspace.attended = self.attended;
        Ok(workspace)
    }

    fn remote<'w>(&self, workspace: &'w Workspace, branch: &str) -> Result<Remote<'w>> {
        let named = Some(self.remote);
        service::remote(workspace, named, branch, Side::Fetch, self.attended)
    }

    /// The log's tip, and the role that is due.
    fn find_due(&self, workspace: &Workspace) -> Result<(Tip, Dispatch)> {
        let (tip, snapshot) = workspace.require()?;
        let (next, _) = service::dispatch_now(workspace, Some(&snapshot))?;
        Ok((tip, next))
    }

    /// Brings log and branch to the remote's state, and pushes what an earlier step recorded but could not push.
    fn take_in(&self) -> Result<()> {
        let workspace = self.open()?;
        let (_, snapshot) = workspace.current()?;
        let branch = service::branch(&workspace, snapshot.as_ref())?;
        let store = workspace.store.as_ref();
        let lease = store.map(|store| store.lease(OWNER)).transpose()?;
        let was_begun = store.is_some() && self.place_of_begun(&workspace)?.exists();
        if was_begun {
            workspace.repo.remove_dead_locks(&Default::default())?;
            self.keep_uncommitted(&workspace)?;
        }
        self.require_clean(&workspace)?;
        let remote = self.remote(&workspace, &branch)?;
        let pulled = remote
            .pull(store, &branch, Manner::Usual)
            .map_err(|failure| self.explain_absence(failure, &workspace))?;
        let workspace = self.open()?;
        let commits = match (was_begun, pulled.set_aside.is_some()) {
            (true, true) => Commits::Go,
            (true, false) => Commits::Yield,
            (false, _) => Commits::Stay,
        };
        self.tell(&pulled);
        let there = self.find_there(&workspace, &remote, &branch, &pulled)?;
        if let Some(there) = &there
            && commits == Commits::Stay
        {
            self.require_together(&workspace, &branch, there)?;
        }
        // A step that was refused before this point has not begun: commits and edits in this clone are the user's.
        self.note_begun(&workspace)?;
        let taken = || -> Result<()> {
            if let Some(there) = &there {
                self.follow_branch(&workspace, &branch, there, commits)?;
            }
            let lease = match lease {
                Some(lease) => lease,
                None => workspace.store()?.lease(OWNER)?,
            };
            if pulled.ahead_of.is_some() {
                self.give(&self.open()?, &lease)?;
            }
            Ok(())
        };
        let taken = taken();
        if taken.is_err() && !was_begun {
            self.forget_begun(&workspace)?;
        }
        taken
    }

    /// Explains how to push the first log to the remote, which is done once, from the clone that has it.
    fn explain_absence(&self, failure: Failure, workspace: &Workspace) -> Failure {
        if failure.code != Code::RemoteLogAbsent {
            return failure;
        }
        failure.replace_hints([match workspace.store {
            Some(_) => format!("run `cook push --yes {}` here", self.remote),
            None => format!(
                "run `cook push --yes {}` where the work was begun; where it was not: `cook init --mission TEXT --commit`, then that",
                self.remote
            ),
        }])
    }

    /// Adds a hint at how to trust the commands for one step.
    fn explain_trust(&self, failure: Failure) -> Failure {
        match failure.code {
            Code::TrustMissing | Code::AgentUntrusted => failure.hint(format!(
                "or trust all commands of this repository for one step: `cook run --once --from {} --trust-repo`",
                self.remote
            )),
            _ => failure,
        }
    }

    fn require_clean(&self, workspace: &Workspace) -> Result<()> {
        let paths = count_uncommitted(workspace)?;
        if paths == 0 {
            return Ok(());
        }
        let what = format!("{} not committed", paths_are(paths));
        let hint = "commit them and `cook push`, or let the step be held in a clone of its own";
        Err(Refusal::new(Code::DirtyWorktree, what)
            .replace_hints([hint])
            .into())
    }

    /// The commit of the remote's branch, after fetching it; `None` if the local branch is there already.
    fn find_there(
        &self,
        workspace: &Workspace,
        remote: &Remote,
        branch: &str,
        pulled: &Pulled,
    ) -> Result<Option<String>> {
        let here = workspace.repo.head()?.commit;
        let there = pulled.branch.clone().filter(|at| here.as_ref() != Some(at));
        if let Some(there) = &there {
            remote.bring_branch(branch, there)?;
        }
        Ok(there)
    }

    /// Checks that the local and the remote branch have not diverged.
    fn require_together(&self, workspace: &Workspace, branch: &str, there: &str) -> Result<()> {
        let repo = &workspace.repo;
        match repo.head()?.commit {
            Some(here)
                if !repo.is_ancestor(&here, there)? && !repo.is_ancestor(there, &here)? =>
            {
                Err(self.report_diverged(branch))
            }
            _ => Ok(()),
        }
    }

    /// Moves the branch to the remote's commit.
    fn follow_branch(
        &self,
        workspace: &Workspace,
        branch: &str,
        there: &str,
        commits: Commits,
    ) -> Result<()> {
        let repo = &workspace.repo;
        if let Some(here) = &repo.head()?.commit
            && !repo.is_ancestor(here, there)?
        {
            let is_ahead = repo.is_ancestor(there, here)?;
            match commits {
                Commits::Stay | Commits::Yield if is_ahead => return Ok(()),
                Commits::Stay => return Err(self.report_diverged(branch)),
                Commits::Yield | Commits::Go => {
                    let kept = repo.keep_commit(&fresh_id(), branch, here)?;
                    self.operator.warn(&format!(
                        "commits of an earlier step that `{}` does not have are kept as `{kept}`",
                        self.remote
                    ));
                }
            }
        }
        repo.move_branch(there)
    }

    fn report_diverged(&self, branch: &str) -> Failure {
        let what = format!(
            "branch `{branch}` of `{}` and the local branch have diverged",
            self.remote
        );
        let (remote, of) = (shell_words::quote(self.remote), shell_words::quote(branch));
        let hints = [
            format!("bring them together: `git pull --no-rebase {remote} {of}`"),
            format!(
                "if the branch was rewritten there and you do not need the commits here: `git fetch {remote} {of}`, then `git reset --keep FETCH_HEAD`"
            ),
        ];
        Refusal::new(Code::RemoteAhead, what)
            .replace_hints(hints)
            .into()
    }

    /// Pushes what was recorded here in one push. If another run was first, this clone is brought to the remote's
    /// state, and the transitions and commits made here are kept.
    fn give(&self, workspace: &Workspace, _lease: &Lease) -> Result<Vec<String>> {
        match service::push_known(workspace, Some(self.remote)) {
            Err(failure) if failure.code == Code::RemoteAhead => {
                Err(self.fall_back(workspace, failure)?)
            }
            Err(failure) => Err(failure.hint(format!(
                "what the step recorded stands in this clone: `cook run --once --from {}` in it pushes that first",
                self.remote
            ))),
            Ok(refs) => Ok(refs),
        }
    }

    fn fall_back(&self, workspace: &Workspace, lost: Failure) -> Result<Failure> {
        let store = workspace.store()?;
        let branch = service::branch(workspace, Some(&store.snapshot()?))?;
        let remote = self.remote(workspace, &branch)?;
        let pulled = remote.fall_back(store, &branch)?;
        self.tell(&pulled);
        if let Some(there) = self.find_there(workspace, &remote, &branch, &pulled)? {
            self.follow_branch(workspace, &branch, &there, Commits::Go)?;
        }
        self.forget_begun(workspace)?;
        let what = format!("another run was first: {}", lost.message);
        let failure = Failure::new(FailureKind::Held, Code::StepOvertaken, what);
        Ok(failure.replace_hints([format!(
            "run `cook run --once --from {}` again",
            self.remote
        )]))
    }

    /// Names the transitions that only this clone had.
    fn tell(&self, pulled: &Pulled) {
        if let Some(aside) = &pulled.set_aside {
            self.operator.warn(&format!(
                "{} of this clone that `{}` lacks are kept as `{}` of the log",
                count_noun(aside.transitions, "transition"),
                self.remote,
                aside.name
            ));
        }
    }

    /// Keeps the uncommitted changes of a session aside: the next session, in whatever clone, begins without them.
    fn keep_uncommitted(&self, workspace: &Workspace) -> Result<()> {
        let paths = count_uncommitted(workspace)?;
        if paths > 0 {
            let kept = workspace.repo.keep_uncommitted(&fresh_id())?;
            self.operator.warn(&format!(
                "{} not committed, and kept as `{kept}`: `git stash apply --index {kept}` shows them",
                paths_are(paths)
            ));
        }
        Ok(())
    }

    fn with_given(&self, mut held: Held, refs: Vec<String>) -> Held {
        held.given = Some(Given {
            remote: self.remote.to_owned(),
            refs,
        });
        held
    }

    /// The file that marks this worktree while a step is in progress.
    fn place_of_begun(&self, workspace: &Workspace) -> Result<PathBuf> {
        let dir = workspace.repo.cook_dir()?.join("steps");
        Ok(dir.join(workspace.store()?.id()))
    }

    fn note_begun(&self, workspace: &Workspace) -> Result<()> {
        let path = self.place_of_begun(workspace)?;
        let dir = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        dir.and_then(|()| NewFile::at(&path, Durable::ContentAndName).write(b""))
            .map_err(|error| unwritable(&path, &error))
    }

    fn forget_begun(&self, workspace: &Workspace) -> Result<()> {
        let path = self.place_of_begun(workspace)?;
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(unwritable(&path, &error))
            }
            _ => Ok(()),
        }
    }
}
