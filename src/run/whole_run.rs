//! A whole run, as `cook run` and `cook run --once` hold it.

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

/// What a run came to, and how it left the worktree.
#[derive(Debug)]
pub struct Held {
    /// Of the driver.
    pub outcome: Outcome,
    /// The documents now.
    pub snapshot: Snapshot,
    /// HEAD.
    pub head: Head,
    /// Paths that are not committed now.
    pub uncommitted: u64,
    /// One session was asked for, and no more.
    pub is_one_step: bool,
    /// What a remote took of it, where it was held for one.
    pub given: Option<Given>,
}

/// What a step gave to the remote that it came from.
#[derive(Debug)]
pub struct Given {
    /// The remote's name or address, as it was named.
    pub remote: String,
    /// Refs that moved there.
    pub refs: Vec<String>,
}

/// Holds a run from what the last one left to what this one leaves.
///
/// # Errors
/// What stands in the way of it, and what ended it.
pub fn hold(order: &Order, operator: &dyn Operator) -> Result<Held> {
    let (workspace, was_lost) = open_whole(order.dir)?;
    workspace.require()?;
    settle_first(order.dir, operator, was_lost)?;
    if let Some(held) = find_done(order)? {
        return Ok(held);
    }
    hold_settled(order, operator)
}

/// What a run of done work comes to: no agent is named, asked or needed for it.
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

/// The same where nothing is left of an earlier run.
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
    // Comes before the driver: until a session may begin a signal ends cook, also at a question.
    let parks = before(operator, &workspace, &mut cast, &limits, &keeping, order)?;
    let root = workspace.repo.root();
    let mut driver = Driver::new(root, cast, limits, keeping, &mut *observer)?;
    driver.opening = order.opening;
    let recent = RecentStatus::default();
    driver.recent = recent.clone();
    if parks {
        park(operator, &workspace)?;
    } else if workspace.repo.recent_status()?.worktree.is_clean() {
        // Where it is not, somebody was asked, and may have taken time over the answer.
        recent.note(&workspace.repo);
    }
    let outcome = driver.run().map_err(with_report_lost);
    drop(observer);
    // Also after a failure: they are the user's.
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
    /// As the worktree stands now.
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

    /// The mission is done.
    pub fn is_done(&self) -> bool {
        self.outcome.next.policy == Policy::Done
    }
}

/// Settles what a killed run left, before the settings are read: its session may have
/// changed them.
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

/// A gate that is ended takes the report along whose commit it was for.
fn with_report_lost(mut failure: Failure) -> Failure {
    if failure.code == Code::Interrupted {
        let hint = "the report of the last session was not taken: `cook run` begins its step again";
        failure.hints.push(hint.to_owned());
    }
    failure
}

/// Limits of a supplier that are waited for in one session.
const MOST_WAITS: usize = 50;

/// What came of the session.
#[derive(Debug)]
pub struct HeldOnce {
    /// Why nothing was recorded, where nothing was.
    pub nothing: Option<String>,
    /// Millionths of a dollar; none = unknown.
    pub cost_micro_usd: Option<u64>,
    /// Somebody asked for an end meanwhile.
    pub is_asked_to_end: bool,
}

/// The agent that plays a role here first, by the settings or by name; it is installed and trusted.
///
/// # Errors
/// No agent, one that may not be run, one that is not there.
pub fn first_agent(workspace: &Workspace, role: Role, only: Option<&str>) -> Result<RoleAgent> {
    let all = cast_roles(workspace, workspace.config()?, only, &[role])?;
    let first = all.get(&role).and_then(|agents| agents.first()).cloned();
    let mut one: RoleAssignment = first.map(|agent| (role, vec![agent])).into_iter().collect();
    require_agents(workspace, &mut one)?;
    let agent = one.into_values().flatten().next();
    agent.ok_or_else(|| Failure::usage(format!("no agent is named for the {role}")))
}

/// Holds one session of the role that is due in `dir`.
///
/// # Errors
/// An interruption, an agent that could not play, unreadable state.
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

/// Nobody looks on.
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

/// Puts what is not committed aside.
pub(super) fn park(operator: &dyn Operator, workspace: &Workspace) -> Result<()> {
    let paths = count_uncommitted(workspace)?;
    let name = workspace
        .repo
        .park(workspace.store_id(), &cook_repo::store::fresh_id())?;
    operator.note(&format!("{} parked as `{name}`", paths_are(paths)));
    Ok(())
}

/// Puts parked changes of this workflow back, newest first: they lie on each other so. Whether there were any.
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

// One step of a worker that keeps nothing of its own: what the remote has is taken in, one session
// is held, and what came of it goes back in one push.
//
// Invariants: the rejected push is the fence, so that of two workers one is recorded; a worktree in
// which a step was begun was clean then, and what is found there later is that step's; what is let go
// of is kept first, and named.

/// Whose name the lease bears.
const OWNER: &str = "cook run --once --from";

/// Holds one step from what a remote has, and gives it what came of it.
///
/// # Errors
/// `step_overtaken` where somebody else was first; everything that stands in the way of a pull, a
/// session or a push.
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
    // Where no session is held, nothing in this clone is a step's.
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

/// What becomes of commits that the remote's branch does not have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Commits {
    /// They go with the next transition; where they are in the way, a person decides.
    Stay,
    /// The same, but a step made them: where they are in the way they are kept beside.
    Yield,
    /// They belong to what the remote did not take.
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

    /// Where the log stands, and what is due there.
    fn find_due(&self, workspace: &Workspace) -> Result<(Tip, Dispatch)> {
        let (tip, snapshot) = workspace.require()?;
        let (next, _) = service::dispatch_now(workspace, Some(&snapshot))?;
        Ok((tip, next))
    }

    /// Brings log and branch to where the remote has them, and gives it what an earlier step
    /// recorded and could not push.
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
        // What is refused up to here was not begun: commits and edits in this clone are the user's.
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

    /// A remote without a log is given one once, by whoever has it.
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

    /// What a machine does not trust, it may trust for one step.
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

    /// Where the remote has the branch, with its commits brought here; none where it stands there.
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

    /// One of both is before the other.
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

    /// Lets the branch stand where the remote has it.
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

    /// One push of what was recorded here; where somebody else was first, this clone stands where
    /// the remote does, and what was made here is kept.
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

    /// Says what only this clone had.
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

    /// What a session left that nobody committed: the next one, wherever it is held, begins without.
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

    /// The file that says of this worktree that a step was begun in it, and has not ended.
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
