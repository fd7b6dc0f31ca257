//! Sends one atomic push and determines its result.
//!
//! Also handles transitions that count only after the remote has accepted them.

use crate::git::Call;
use crate::process::Captured;
use crate::remote::push_plan::{Kept, Plan, Update};
use crate::remote::remote::{Listing, Mark, Remote, Side, make_failure, unreachable, words};
use crate::store::{Quarantine, Store};
use cook_protocol::diagnostic::{Code, Failure, Finding};
use cook_protocol::model::{LogRefs, Snapshot};
use cook_protocol::refusal::Refusal;
use std::collections::BTreeMap;

/// A push that the remote accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// Full names of the refs that moved on the remote.
    pub refs: Vec<String>,
    /// Whether the user's `pre-push` hook was skipped, because only the log was pushed.
    pub without_hook: bool,
}

/// The remote's answer for each ref: the reason of a refusal, or `None` if it was accepted.
type Answers = BTreeMap<String, Option<String>>;

/// The result of a push.
enum Verdict {
    Taken,
    /// A ref on the remote moved in the meantime.
    Raced,
    /// Only some refs were accepted.
    Split,
    /// No ref was accepted, for these reasons.
    Refused(Vec<String>),
    /// Some refs have no answer.
    Unknown,
}

impl Remote<'_> {
    /// Pushes the plan, all of it or nothing.
    ///
    /// # Errors
    /// `remote_ahead` if someone else pushed first, `remote_split` if the remote accepted only some refs, and every
    /// reason why it accepted nothing.
    pub fn send(&self, plan: &Plan) -> Result<Sent, Failure> {
        let Some(sent) = self.try_send(plan)? else {
            return Err(self.report_lost(plan)?);
        };
        self.note(Mark::Seen(Side::Push), &plan.branch, &plan.to)?;
        for former in &plan.former {
            self.note(Mark::Seen(Side::Push), former, &plan.to)?;
        }
        if plan.log.is_some() {
            self.note(Mark::Taken, &plan.branch, &plan.to)?;
        }
        Ok(sent)
    }

    /// The same without recording it; `None` if someone else pushed first.
    pub(crate) fn try_send(&self, plan: &Plan) -> Result<Option<Sent>, Failure> {
        let captured = self.push(plan)?;
        let said = words(&captured.stderr);
        let answers = parse(&String::from_utf8_lossy(&captured.stdout));
        match judge(&plan.updates, &answers) {
            Verdict::Taken => {}
            Verdict::Raced => return Ok(None),
            Verdict::Split => return Err(self.split(plan, &answers, &said)),
            Verdict::Refused(why) => {
                return match self.has_moved(plan) {
                    true => Ok(None),
                    false => Err(self.report_refused(plan, why, &said)),
                };
            }
            Verdict::Unknown => self.ask_after(plan, &captured, &said)?,
        }
        Ok(Some(Sent {
            refs: plan
                .updates
                .iter()
                .map(|update| update.name.clone())
                .collect(),
            without_hook: !plan.sends_commits(),
        }))
    }

    fn push(&self, plan: &Plan) -> Result<Captured, Failure> {
        let mut call = Call::new("-c push.followTags=false -c push.gpgSign=if-asked")
            .arg("push")
            .arg("--porcelain")
            .arg("--atomic")
            .lend(&plan.lent)
            .transfers();
        if !plan.sends_commits() {
            // The hook is meant for the user's own commits.
            call = call.arg("--no-verify");
        }
        for update in &plan.updates {
            let is_branch = plan.moves_forward && update.name.starts_with("refs/heads/");
            if update.from.is_none() && is_branch && plan.log.as_ref() != Some(update) {
                continue;
            }
            let from = update.from.as_deref().unwrap_or_default();
            call = call.arg(format!("--force-with-lease={}:{from}", update.name));
        }
        call = call.arg(self.address(Side::Push)?);
        for update in &plan.updates {
            call = call.arg(format!("{}:{}", update.to, update.name));
        }
        let pushed = self.git.run(call).map_err(|mut failure| {
            if failure.code != Code::GitMissing {
                failure.message = format!("{}: {}", failure.message, self.unknown());
            }
            failure
        });
        let forgotten = self.forget_lent(plan);
        // The result of the push is reported first.
        pushed.and_then(|captured| forgotten.map(|()| captured))
    }

    /// Deletes the remote-tracking refs that git created for lent objects. These objects are not in the repository, and
    /// a ref to a missing object breaks every command that reads all refs.
    fn forget_lent(&self, plan: &Plan) -> Result<(), Failure> {
        let branch = format!("refs/heads/{}", plan.branch);
        let format = "--format=%(objectname) %(refname)";
        let what = "git does not say what it noted of the push";
        let call = Call::new("for-each-ref").arg(format).arg("refs/remotes/");
        for line in self.git.answer(call, what)?.lines() {
            let Some((commit, name)) = line.split_once(' ') else {
                continue;
            };
            let is_lent = |update: &Update| update.name != branch && update.to == commit;
            if plan.updates.iter().any(is_lent) {
                let call = Call::new("update-ref -d").arg(name).arg(commit);
                self.git
                    .answer(call, "git does not forget what it noted of the push")?;
            }
        }
        Ok(())
    }

    /// The message for a push that ended without an answer.
    fn unknown(&self) -> String {
        format!(
            "whether `{}` took the push is not known; the next command asks again",
            self.show()
        )
    }

    /// Whether the remote's log differs from the state that the push expected. The log is looked up because servers
    /// report that in many ways.
    fn has_moved(&self, plan: &Plan) -> bool {
        let Some(log) = &plan.log else {
            return false;
        };
        // If the remote does not answer now, its refusal is reported.
        self.look(&plan.branch, Side::Push)
            .is_ok_and(|listing| listing.log.map(|there| there.commit) != log.from)
    }

    /// Handles a push without an answer: the remote may have accepted it anyway.
    fn ask_after(&self, plan: &Plan, captured: &Captured, said: &[String]) -> Result<(), Failure> {
        let is_atomic = |line: &String| line.contains("does not support --atomic");
        if said.iter().any(is_atomic) {
            let what = format!("`{}` cannot take a branch and its log at once", self.show());
            return Err(make_failure(Code::RemoteNotAtomic, &what, said));
        }
        let listing = self.look(&plan.branch, Side::Push).map_err(|mut failure| {
            failure.message = format!(
                "`{}` gave no answer to the push, and none now: {}",
                self.show(),
                self.unknown()
            );
            failure
                .causes
                .extend(said.iter().map(|line| format!("git says: {line}")));
            failure
        })?;
        let stands = |update: &&Update| stands_at(&listing, update);
        match plan.updates.iter().filter(stands).count() {
            all if all == plan.updates.len() => Ok(()),
            // git exits with another code if it cannot reach a remote.
            0 if plan.sends_commits() && captured.code == Some(1) && self.has_hook()? => {
                let what = "the hook `pre-push` of this clone refused the push; nothing was pushed";
                Err(make_failure(Code::RemoteRefused, what, said)
                    .replace_hints(["look at what the hook says, mend it, then push again"]))
            }
            0 => {
                let code = captured
                    .code
                    .map_or("a signal".to_owned(), |code| code.to_string());
                let what = format!("`{}` took nothing: git ended with {code}", self.show());
                Err(unreachable(&what, said))
            }
            _ => Err(self.split(plan, &BTreeMap::new(), said)),
        }
    }

    /// Whether this clone has a `pre-push` hook.
    fn has_hook(&self) -> Result<bool, Failure> {
        let call = Call::new("rev-parse --git-path hooks/pre-push");
        let path = self
            .git
            .answer(call, "git does not say where its hooks are")?;
        Ok(self.repo.root().join(path.trim_end()).is_file())
    }

    /// The failure if someone else pushed first: it names what they recorded.
    fn report_lost(&self, plan: &Plan) -> Result<Failure, Failure> {
        let listing = self.look(&plan.branch, Side::Push)?;
        if let Some(there) = listing
            .log
            .as_ref()
            .filter(|log| Some(&log.commit) != plan.from.as_ref())
        {
            let quarantine = Quarantine::make(&self.place, true)?;
            let limits = self.fetch(&quarantine, std::slice::from_ref(there), Side::Push)?;
            self.admit(&quarantine, there, &limits)?;
            return self.ahead(&quarantine, there);
        }
        let what = format!("`{}` moved while this was pushed", self.show());
        Ok(Refusal::new(Code::RemoteAhead, what).into())
    }

    fn split(&self, plan: &Plan, answers: &Answers, said: &[String]) -> Failure {
        let taken = |name: &str| matches!(answers.get(name), Some(None));
        let (there, not): (Vec<&str>, Vec<&str>) = plan
            .updates
            .iter()
            .map(|update| update.name.as_str())
            .partition(|name| taken(name));
        let what = match answers.is_empty() {
            true => format!("`{}` took a part of the push", self.show()),
            false => format!(
                "`{}` took {} and refused {}",
                self.show(),
                there.join(", "),
                not.join(", ")
            ),
        };
        let failure = make_failure(Code::RemoteSplit, &what, said);
        match plan
            .log
            .as_ref()
            .is_some_and(|log| not.contains(&log.name.as_str()))
        {
            true => self.with_other_names(failure),
            false => failure,
        }
    }

    /// Explains why the remote refuses a transition that follows its own log.
    ///
    /// # Errors
    /// When the remote does not answer.
    pub fn explain(
        &self,
        store: &crate::store::Store,
        branch: &str,
        head: Option<&str>,
    ) -> Result<Failure, Failure> {
        let plan = self.plan(store, branch, head, crate::remote::push_plan::Restore::No)?;
        if plan.log.is_some() {
            let what = format!(
                "`{}` lacks transitions that were recorded here before",
                self.show()
            );
            return Ok(Refusal::new(Code::PushUnconfirmed, what)
                .replace_hints(["run `cook push`, then the command again"])
                .into());
        }
        let what = format!("`{}` shows its log and does not let it move", self.show());
        Ok(self.with_other_names(make_failure(Code::RemoteRefused, &what, &[])))
    }

    fn report_refused(&self, plan: &Plan, why: Vec<String>, said: &[String]) -> Failure {
        let what = format!(
            "`{}` took nothing of the push: {}",
            self.show(),
            why.join("; ")
        );
        let failure = make_failure(Code::RemoteRefused, &what, said);
        match plan.log.is_some() {
            true => self.with_other_names(failure),
            false => failure,
        }
    }

    /// Adds a hint: if a server shows or accepts only branches and tags, the log can be pushed as a branch.
    pub(crate) fn with_other_names(&self, failure: Failure) -> Failure {
        if self.names != LogRefs::default() {
            return failure;
        }
        failure.hint(
            "where the server shows or takes branches and tags alone, write this into `.agent/cook.toml`: `[log]` and below it `remote_ref = \"refs/heads/cook/{branch}\"`; it then shows among the branches and may start CI",
        )
    }

    /// Pushes a transition and returns findings about what could not be pushed with it; `None` if the remote has
    /// another transition after the same one.
    ///
    /// # Errors
    /// Any reason why the remote does not accept it.
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
        // A server that hides these refs would accept the branch and refuse the log, so the first push contains only
        // the log.
        let mut findings = Vec::new();
        if self.recall(Mark::Taken, offer.branch)?.is_some() {
            findings = self.plan_rest(offer, may_leave, &mut plan)?;
        }
        plan.updates.push(log.clone());
        plan.log = Some(log);
        Ok(self.try_send(&plan)?.map(|_| findings))
    }

    /// After a transition was accepted and recorded: records what this clone has seen on the remote, and pushes the
    /// branch if the log was pushed alone.
    ///
    /// # Errors
    /// When the log cannot be written.
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

    /// Adds the branch and the cited commits to the plan. If the latter may not leave, they stay, and the rest is still
    /// pushed.
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

    /// The commit of the branch on the remote as of git's last fetch or push.
    fn find_tracked(&self, branch: &str) -> Result<Option<String>, Failure> {
        let name = format!("refs/remotes/{}/{branch}", self.show());
        let call = Call::new("rev-parse --quiet --verify").arg(&name);
        let captured = self.git.run(call)?;
        let text = String::from_utf8_lossy(&captured.stdout).trim().to_owned();
        Ok(Some(text).filter(|_| captured.success()))
    }

    /// Requires that the user has pushed the branch's log there, or that this clone has seen it at git's default
    /// remote.
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

fn stands_at(listing: &Listing, update: &Update) -> bool {
    let refs = [&listing.log, &listing.branch, &listing.keep];
    let mut all = refs.into_iter().flatten().chain(listing.list_kept());
    all.any(|found| found.name == update.name && found.commit == update.to)
}

/// The verdict from the answers of all refs. A ref that had the new value already counts as accepted: a transition
/// names its writer, so it was pushed by this clone.
fn judge(updates: &[Update], answers: &Answers) -> Verdict {
    let of = |update: &Update| answers.get(&update.name);
    if updates.iter().any(|update| of(update).is_none()) {
        return Verdict::Unknown;
    }
    let refused: Vec<(&str, &str)> = updates
        .iter()
        .filter_map(|update| match of(update) {
            Some(Some(why)) => Some((update.name.as_str(), why.as_str())),
            _ => None,
        })
        .collect();
    if refused.is_empty() {
        return Verdict::Taken;
    }
    if refused.len() < updates.len() {
        return Verdict::Split;
    }
    let mut own = refused
        .iter()
        .filter(|(_, why)| !is_for_another(why))
        .peekable();
    if own.peek().is_some() && own.clone().all(|(_, why)| is_lost_race(why)) {
        return Verdict::Raced;
    }
    Verdict::Refused(
        refused
            .iter()
            .map(|(name, why)| format!("{name} ({why})"))
            .collect(),
    )
}

/// Parses the answer for each ref, by its name on the remote. git's exit code only tells that some ref was refused.
fn parse(stdout: &str) -> Answers {
    let mut found = BTreeMap::new();
    for line in stdout.lines() {
        let mut parts = line.splitn(3, '\t');
        let (Some(flag), Some(refs), Some(summary)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let Some((_, name)) = refs.rsplit_once(':') else {
            continue;
        };
        let stands = matches!(flag, " " | "*" | "+" | "=");
        found.insert(name.to_owned(), (!stands).then(|| reason(summary)));
    }
    found
}

/// Extracts `why` from `[remote rejected] (why)`.
fn reason(summary: &str) -> String {
    let inside = summary
        .split_once('(')
        .and_then(|(_, rest)| rest.strip_suffix(')'));
    inside.unwrap_or(summary).to_owned()
}

/// Whether a ref was refused because it, or another one, had an unexpected value.
fn is_lost_race(why: &str) -> bool {
    [
        "stale info",
        "fetch first",
        "non-fast-forward",
        "remote ref updated since checkout",
        "failed to update ref",
        "cannot lock ref",
        "incorrect old value",
        "reference already exists",
        "failed to lock",
    ]
    .iter()
    .any(|known| why.contains(known))
}

/// Whether a ref was refused only because another one was.
fn is_for_another(why: &str) -> bool {
    [
        "atomic push failed",
        "atomic transaction failed",
        "transaction failed",
    ]
    .iter()
    .any(|known| why.contains(known))
}

/// A transition that is written but not on a branch of the log yet.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// The log that it is written to.
    pub store: &'a Store,
    /// The branch of the log.
    pub branch: &'a str,
    /// The transition before it, which must be the newest on the remote.
    pub from: &'a str,
    /// The commit of the transition.
    pub to: &'a str,
    /// HEAD.
    pub head: Option<&'a str>,
    /// The documents after the transition.
    pub snapshot: &'a Snapshot,
}

/// Decides whether commits may be pushed beside the branch; the error says why not.
pub type MayLeave<'a> = &'a dyn Fn(&Kept) -> Result<(), Failure>;

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(answers: &[(&str, Option<String>)]) -> Verdict {
        let update = |name: &str| Update {
            name: name.to_owned(),
            to: "a".repeat(40),
            from: None,
        };
        let updates = [update("refs/heads/main"), update("refs/cook/log/main")];
        let answers = answers
            .iter()
            .map(|(name, outcome)| ((*name).to_owned(), outcome.clone()));
        judge(&updates, &answers.collect())
    }

    #[test]
    fn a_push_is_taken_when_every_ref_says_so() {
        let no = |why: &str| Some(why.to_owned());
        let (branch, log) = ("refs/heads/main", "refs/cook/log/main");
        let of = |a, b| verdict(&[(branch, a), (log, b)]);
        assert!(matches!(of(None, None), Verdict::Taken));
        assert!(matches!(of(None, None), Verdict::Taken));
        assert!(matches!(
            of(None, no("deny updating a hidden ref")),
            Verdict::Split
        ));
        assert!(matches!(
            of(no("atomic push failed"), no("stale info")),
            Verdict::Raced
        ));
        assert!(matches!(
            of(no("atomic push failed"), no("pre-receive hook declined")),
            Verdict::Refused(_)
        ));
        assert!(matches!(
            of(no("atomic push failed"), no("atomic push failed")),
            Verdict::Refused(_)
        ));
        assert!(matches!(verdict(&[(log, None)]), Verdict::Unknown));
    }

    #[test]
    fn each_ref_has_its_own_answer() {
        let found = parse(
            "To alias:r.git\n \tabc:refs/heads/main\t1..2\n!\tdef:refs/cook/log/main\t[rejected] (stale info)\n*\tabc:refs/x\t[new reference]\n=\tabc:refs/y\t[up to date]\nDone\n",
        );
        assert_eq!(found["refs/heads/main"], None);
        assert_eq!(found["refs/cook/log/main"], Some("stale info".to_owned()));
        assert_eq!(found["refs/x"], None);
        assert_eq!(found["refs/y"], None);
        assert_eq!(found.len(), 4);
    }
}
