//! A transition that counts only when the remote took it.

use crate::remote::leaving::Kept;
use crate::remote::push_plan::{Plan, Update};
use crate::remote::remote::{Mark, Remote, Side};
use crate::remote::user_git::Call;
use crate::store::Store;
use cook_protocol::diagnostic::{Code, Failure, Finding, Refusal};
use cook_protocol::model::Snapshot;

/// A transition that is written and that no branch leads to yet.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// The log that it is written to.
    pub store: &'a Store,
    /// Whose log it is.
    pub branch: &'a str,
    /// The transition before it, which the remote must hold as its newest.
    pub from: &'a str,
    /// Its commit.
    pub to: &'a str,
    /// HEAD.
    pub head: Option<&'a str>,
    /// The documents after it.
    pub snapshot: &'a Snapshot,
}

/// Whether commits may leave beside the branch; an error says why not.
pub type MayLeave<'a> = &'a dyn Fn(&Kept) -> Result<(), Failure>;

impl Remote<'_> {
    /// Pushes a transition, and says what did not go with it; none where the remote holds another
    /// transition after the same.
    ///
    /// # Errors
    /// Whatever keeps the remote from taking it.
    pub fn offer(
        &self,
        offer: &Offer,
        may_leave: MayLeave<'_>,
    ) -> Result<Option<Vec<Finding>>, Failure> {
        let mut plan = Plan::empty(offer.branch, offer.to, Some(offer.from.to_owned()));
        plan.lent.push(self.place.log_dir().join("objects"));
        let log = Update {
            name: self.names.log(offer.branch),
            to: offer.to.to_owned(),
            from: Some(offer.from.to_owned()),
        };
        // A server that hides these refs would take the branch and refuse the log: the first one
        // goes alone.
        let mut findings = Vec::new();
        if self.recall(Mark::Taken, offer.branch)?.is_some() {
            findings = self.plan_rest(offer, may_leave, &mut plan)?;
        }
        plan.updates.push(log.clone());
        plan.log = Some(log);
        Ok(self.try_send(&plan)?.map(|_| findings))
    }

    /// After a transition was taken and recorded: what this clone has seen there, and the branch
    /// where the log went alone.
    ///
    /// # Errors
    /// A log that cannot be written.
    pub fn settle(&self, offer: &Offer, may_leave: MayLeave<'_>) -> Result<Vec<Finding>, Failure> {
        let is_first = self.recall(Mark::Taken, offer.branch)?.is_none();
        self.note(Mark::Seen(Side::Push), offer.branch, offer.to)?;
        self.note(Mark::Taken, offer.branch, offer.to)?;
        if !is_first {
            return Ok(Vec::new());
        }
        let mut plan = Plan::empty(offer.branch, offer.to, None);
        plan.lent.push(self.place.log_dir().join("objects"));
        let mut findings = Vec::new();
        let sent = match self.plan_rest(offer, may_leave, &mut plan) {
            Ok(left) if plan.updates.is_empty() => return Ok(left),
            Ok(left) => {
                findings = left;
                self.try_send(&plan)
            }
            Err(failure) => Err(failure),
        };
        let why = match sent {
            Ok(Some(_)) => return Ok(findings),
            Ok(None) => "it moved meanwhile".to_owned(),
            Err(failure) => failure.message,
        };
        let what = format!("`{}` did not take the branch yet: {why}", self.show());
        findings.push(Finding::new(Code::PushPending, what));
        Ok(findings)
    }

    /// The branch, and what is kept. Commits that may not leave stay, and nothing else waits for them.
    fn plan_rest(
        &self,
        offer: &Offer,
        may_leave: MayLeave<'_>,
        plan: &mut Plan,
    ) -> Result<Vec<Finding>, Failure> {
        let is_there = self.find_tracked(offer.branch)?.as_deref() == offer.head;
        if let Some(head) = offer.head.filter(|_| !is_there) {
            plan.with_branch = true;
            plan.moves_forward = true;
            plan.updates.push(Update {
                name: format!("refs/heads/{}", offer.branch),
                to: head.to_owned(),
                from: None,
            });
        }
        let loose = self.loose_commits(offer.snapshot, offer.head)?;
        if loose.is_empty() {
            return Ok(Vec::new());
        }
        let listing = self.look(offer.branch, Side::Push)?;
        let done = self.plan_done(offer.store, &listing, offer.snapshot, offer.to)?;
        plan.updates.extend(done);
        let kept = match self.plan_keep(&listing, &loose, offer.head, plan) {
            Ok(()) => may_leave(&plan.kept),
            Err(failure) => Err(failure),
        };
        let failure = match kept {
            Ok(()) => return Ok(Vec::new()),
            Err(failure) if failure.code == Code::Interrupted => return Err(failure),
            Err(failure) => failure,
        };
        plan.leave_out_kept();
        let what = format!(
            "commits that the log cites and the branch does not hold are not on `{}`: {}",
            self.show(),
            failure.message
        );
        Ok(vec![Finding::new(Code::PushPending, what)])
    }

    /// Where the branch stood on the remote when git saw it last.
    fn find_tracked(&self, branch: &str) -> Result<Option<String>, Failure> {
        let name = format!("refs/remotes/{}/{branch}", self.show());
        let call = Call::new("rev-parse --quiet --verify").word(&name);
        let captured = self.git.run(call)?;
        let text = String::from_utf8_lossy(&captured.stdout).trim().to_owned();
        Ok(Some(text).filter(|_| captured.success()))
    }

    /// The user pushed the branch's log there, or this clone has seen it where git goes.
    ///
    /// # Errors
    /// `push_unconfirmed`.
    pub fn require_expected(&self, branch: &str) -> Result<(), Failure> {
        match self.is_expected(branch)? {
            true => Ok(()),
            false => Err(Refusal::new(
                Code::PushUnconfirmed,
                format!(
                    "with `[log] sync = \"each\"` a transition counts when `{}` took it, and nobody has pushed this log there from here yet",
                    self.show()
                ),
            )
            .into()),
        }
    }
}
