//! One step of a worker that keeps nothing of its own: what the remote has is taken in, one session
//! is held, and what came of it goes back in one push.
//!
//! Invariants: the rejected push is the fence, so that of two workers one is recorded; a worktree in
//! which a step was begun was clean then, and what is found there later is that step's; what is let go
//! of is kept first, and named.

use super::mirror::open_whole;
use super::run_order::paths_are;
use super::run_order::{Ended, Operator, Order, Outcome};
use super::session_guard::unwritable;
use super::whole_run::{Given, Held, count_uncommitted, hold_settled, settle_first};
use crate::service::{self, Workspace};
use cook_protocol::diagnostic::{Code, Failure, FailureKind, Refusal, count_noun};
use cook_protocol::machine::Dispatch;
use cook_protocol::model::Policy;
use cook_repo::disk::{Durable, NewFile};
use cook_repo::remote::{Manner, Pulled, Remote, Side};
use cook_repo::store::{Lease, Tip, fresh_id};
use std::path::PathBuf;

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
) -> Result<Held, Failure> {
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
    fn open(&self) -> Result<Workspace, Failure> {
        let mut workspace = self.order.opening.open(self.order.dir)?;
        workspace.attended = self.attended;
        Ok(workspace)
    }

    fn remote<'w>(&self, workspace: &'w Workspace, branch: &str) -> Result<Remote<'w>, Failure> {
        let named = Some(self.remote);
        service::remote(workspace, named, branch, Side::Fetch, self.attended)
    }

    /// Where the log stands, and what is due there.
    fn find_due(&self, workspace: &Workspace) -> Result<(Tip, Dispatch), Failure> {
        let (tip, snapshot) = workspace.require()?;
        let (next, _) = service::dispatch_now(workspace, Some(&snapshot))?;
        Ok((tip, next))
    }

    /// Brings log and branch to where the remote has them, and gives it what an earlier step
    /// recorded and could not push.
    fn take_in(&self) -> Result<(), Failure> {
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
        let taken = || -> Result<(), Failure> {
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

    fn require_clean(&self, workspace: &Workspace) -> Result<(), Failure> {
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
    ) -> Result<Option<String>, Failure> {
        let here = workspace.repo.head()?.commit;
        let there = pulled.branch.clone().filter(|at| here.as_ref() != Some(at));
        if let Some(there) = &there {
            remote.bring_branch(branch, there)?;
        }
        Ok(there)
    }

    /// One of both is before the other.
    fn require_together(
        &self,
        workspace: &Workspace,
        branch: &str,
        there: &str,
    ) -> Result<(), Failure> {
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
    ) -> Result<(), Failure> {
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
            "branch `{branch}` of `{}` and this one have commits that the other lacks",
            self.remote
        );
        let (remote, of) = (shell_words::quote(self.remote), shell_words::quote(branch));
        let hints = [
            format!("bring them together: `git pull --no-rebase {remote} {of}`"),
            format!(
                "where it was rewritten there and nothing here is yours: `git fetch {remote} {of}`, then `git reset --keep FETCH_HEAD`"
            ),
        ];
        Refusal::new(Code::RemoteAhead, what)
            .replace_hints(hints)
            .into()
    }

    /// One push of what was recorded here; where somebody else was first, this clone stands where
    /// the remote does, and what was made here is kept.
    fn give(&self, workspace: &Workspace, _lease: &Lease) -> Result<Vec<String>, Failure> {
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

    fn fall_back(&self, workspace: &Workspace, lost: Failure) -> Result<Failure, Failure> {
        let store = workspace.store()?;
        let branch = service::branch(workspace, Some(&store.snapshot()?))?;
        let remote = self.remote(workspace, &branch)?;
        let pulled = remote.fall_back(store, &branch)?;
        self.tell(&pulled);
        if let Some(there) = self.find_there(workspace, &remote, &branch, &pulled)? {
            self.follow_branch(workspace, &branch, &there, Commits::Go)?;
        }
        self.forget_begun(workspace)?;
        let what = format!("somebody else was first: {}", lost.message);
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
    fn keep_uncommitted(&self, workspace: &Workspace) -> Result<(), Failure> {
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
    fn place_of_begun(&self, workspace: &Workspace) -> Result<PathBuf, Failure> {
        let dir = workspace.repo.cook_dir()?.join("steps");
        Ok(dir.join(workspace.store()?.id()))
    }

    fn note_begun(&self, workspace: &Workspace) -> Result<(), Failure> {
        let path = self.place_of_begun(workspace)?;
        let dir = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        dir.and_then(|()| NewFile::at(&path, Durable::ContentAndName).write(b""))
            .map_err(|error| unwritable(&path, &error))
    }

    fn forget_begun(&self, workspace: &Workspace) -> Result<(), Failure> {
        let path = self.place_of_begun(workspace)?;
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(unwritable(&path, &error))
            }
            _ => Ok(()),
        }
    }
}

impl Held {
    /// The mission is done.
    pub fn is_done(&self) -> bool {
        self.outcome.next.policy == Policy::Done
    }
}
