//! Plans a push from what the remote holds: which refs move, from which value, and whether they may.
//!
//! If a log used to belong to another branch, the remote's log of that name moves with it, so that nobody continues a
//! log that is no longer read.
//!
//! Commits that the log cites and its branch does not contain are kept on the remote by a chain of empty commits, so
//! that the subject of a proof survives a squash or a deleted branch. Those commits and their files leave the machine
//! beside the branch, so they are listed.

use crate::git::Call;
use crate::remote::remote::{Listing, Mark, Remote, RemoteRef, Side, is_id};
use crate::store::{Marks, Quarantine, Store};
use cook_protocol::diagnostic::{Code, Failure, FailureKind, short};
use cook_protocol::model::{Policy, Snapshot, WaitingKind, unescape_branch};
use cook_protocol::refusal::Refusal;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Whether to restore a remote log that was deleted or reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restore {
    /// No: it is an error.
    No,
    /// Yes, to the state in this clone.
    Yes,
}

/// A ref on the remote and its intended move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Update {
    pub(crate) name: String,
    pub(crate) to: String,
    /// The value it must have before; `None` if it must not exist.
    pub(crate) from: Option<String>,
}

/// A planned push.
#[derive(Debug, Default)]
pub struct Plan {
    pub(crate) branch: String,
    pub(crate) log: Option<Update>,
    /// All updates in order, including the log's.
    pub(crate) updates: Vec<Update>,
    /// Whether the branch itself is among them.
    pub with_branch: bool,
    /// Commits that leave beside the branch, below `refs/cook/keep/`.
    pub kept: Kept,
    /// The number of such commits that stay here.
    pub withheld: u64,
    /// The ref that keeps them on the remote.
    pub(crate) keep: Option<String>,
    /// The tip of the log on the remote.
    pub from: Option<String>,
    /// The tip that the log will have.
    pub to: String,
    /// Whether the remote's log is of a workflow that ended or has another branch now; it is kept beside.
    pub replaces: bool,
    /// Other branches to which this log belonged before.
    pub(crate) former: Vec<String>,
    /// Whether a branch without a `from` value moves forward from its present value, whatever that is.
    pub(crate) moves_forward: bool,
    /// Object directories that belong neither to the repository nor to the log.
    pub(crate) lent: Vec<PathBuf>,
    /// Kept alive until the push is complete.
    pub(crate) quarantine: Option<Quarantine>,
}

impl Plan {
    pub(crate) fn empty(branch: &str, to: &str, from: Option<String>) -> Self {
        Self {
            branch: branch.to_owned(),
            from,
            to: to.to_owned(),
            ..Self::default()
        }
    }

    /// Whether the remote has everything already.
    pub fn is_empty(&self) -> bool {
        self.updates.is_empty()
    }

    /// Whether commits of the user are pushed, so that their `pre-push` hook runs.
    pub fn sends_commits(&self) -> bool {
        self.with_branch || !self.kept.is_empty()
    }

    /// Removes the commits that the branch does not contain from the push.
    pub fn leave_out_kept(&mut self) {
        let keep = self.keep.take();
        self.updates
            .retain(|update| Some(&update.name) != keep.as_ref());
        self.withheld = self.kept.commits.len() as u64;
        self.kept = Kept::default();
    }

    /// Whether the remote has no log of this workflow yet.
    pub fn is_first(&self) -> bool {
        self.from.is_none() || self.replaces
    }
}

/// The commit at which a log was found done.
pub(crate) fn find_done_commit(snapshot: &Snapshot) -> Option<String> {
    match snapshot.state.continuation_policy {
        Policy::Done => snapshot.ledger.head_seen.clone(),
        _ => None,
    }
}

/// Whether this workflow is finished, so that another one may begin on its branch.
pub(crate) fn has_ended(snapshot: &Snapshot) -> bool {
    let waiting = snapshot.ledger.waiting.as_ref();
    snapshot.state.continuation_policy == Policy::Done
        || waiting.is_some_and(|waiting| waiting.kind == WaitingKind::Cancel)
}

impl Remote<'_> {
    /// Plans a push of the log, and of its branch at `head`.
    ///
    /// # Errors
    /// `remote_ahead` if the remote holds transitions or commits that are not here, and every other reason not to push
    /// there.
    pub fn plan(
        &self,
        store: &Store,
        branch: &str,
        head: Option<&str>,
        restore: Restore,
    ) -> Result<Plan, Failure> {
        if self.is_mirror() {
            let shown = self.show();
            return Err(Failure::state(
                Code::RemoteMirror,
                format!("`remote.{shown}.mirror` is set: a push there would delete what this clone does not have"),
            )
            .replace_hints([format!(
                "run `git config --unset remote.{shown}.mirror`, or name another remote"
            )]));
        }
        let listing = self.look(branch, Side::Push)?;
        let (tip, snapshot) = store.current()?.ok_or_else(|| {
            Failure::state(Code::NotInitialised, "there is no log for this worktree")
        })?;
        let from = listing.log.as_ref().map(|log| log.commit.clone());
        let mut plan = Plan::empty(branch, &tip.commit, from);
        plan.lent.push(self.place.log_dir().join("objects"));
        // A failure of the log takes precedence, because it says more than one of the branch.
        let log = self.plan_log(store, &listing, restore, &mut plan);
        let branch = self.plan_branch(&listing, head, &mut plan);
        log.map_err(|mut log| {
            let branch = branch.as_ref().err();
            if let Some(branch) = branch.filter(|_| log.code == Code::RemoteAhead) {
                log.causes.push(branch.message.clone());
                log.hints.extend(branch.hints.iter().cloned());
            }
            log
        })?;
        branch?;
        self.plan_former(store, &mut plan)?;
        let done = self.plan_done(store, &listing, &snapshot, &plan.to)?;
        plan.updates.extend(done);
        let loose = self.loose_commits(&snapshot, head)?;
        self.plan_keep(&listing, &loose, head, &mut plan)?;
        Ok(plan)
    }

    /// Keeps the log by which a commit was found done under a ref of its own. If the log has advanced and the commit is
    /// still done (it was signed, or undone and found done again), that ref advances too.
    pub(crate) fn plan_done(
        &self,
        store: &Store,
        listing: &Listing,
        snapshot: &Snapshot,
        to: &str,
    ) -> Result<Option<Update>, Failure> {
        let Some(commit) = find_done_commit(snapshot) else {
            return Ok(None);
        };
        let there = listing.done.iter().find(|done| done.commit == commit);
        let from = there.map(|done| done.log.commit.clone());
        if let Some(from) = &from
            && (from == to || !store.leads_over(to, from)?)
        {
            return Ok(None);
        }
        Ok(Some(Update {
            name: self.names.name_done(&commit),
            to: to.to_owned(),
            from,
        }))
    }

    fn plan_branch(
        &self,
        listing: &Listing,
        head: Option<&str>,
        plan: &mut Plan,
    ) -> Result<(), Failure> {
        let Some(head) = head else {
            return Ok(());
        };
        let from = listing.branch.as_ref().map(|branch| branch.commit.clone());
        if let Some(from) = &from {
            if from == head {
                return Ok(());
            }
            let is_here = self.repo.resolve(from)?.is_some();
            if !is_here || !self.repo.is_ancestor(from, head)? {
                let branch = &plan.branch;
                let shown = self.show();
                let (remote, quoted) = (shell_words::quote(&shown), shell_words::quote(branch));
                return Err(Refusal::new(
                    Code::RemoteAhead,
                    format!(
                        "branch `{branch}` of `{}` stands at {}, which is not before HEAD",
                        self.show(),
                        short(from)
                    ),
                )
                .replace_hints([
                    format!("take its commits in: `git pull --no-rebase {remote} {quoted}`"),
                    format!(
                        "where they were rewritten here (amended, rebased) and nobody else's are among them: `git push --force-with-lease={quoted}:{from} {remote} HEAD:refs/heads/{quoted}`, then `cook push`"
                    ),
                ])
                .into());
            }
        }
        plan.with_branch = true;
        let update = Update {
            name: format!("refs/heads/{}", plan.branch),
            to: head.to_owned(),
            from,
        };
        plan.updates.insert(0, update);
        Ok(())
    }

    fn plan_log(
        &self,
        store: &Store,
        listing: &Listing,
        restore: Restore,
        plan: &mut Plan,
    ) -> Result<(), Failure> {
        let seen = self.recall(Mark::Seen(Side::Push), &plan.branch)?;
        let forward = match &listing.log {
            None if seen.is_some() && restore == Restore::No => {
                return Err(self.report_gone(&plan.branch));
            }
            None => true,
            Some(there) if there.commit == plan.to => return Ok(()),
            Some(there) => {
                if let Some(seen) = &seen
                    && restore == Restore::No
                    && store.leads_over(seen, &there.commit)?
                {
                    return Err(self.rewound(&plan.branch, store, &there.commit, seen));
                }
                store.leads_over(&plan.to, &there.commit)?
            }
        };
        if !forward && let Some(there) = &listing.log {
            let seen = seen.filter(|_| restore == Restore::No);
            self.plan_replacement(store, listing, there, seen.as_deref(), plan)?;
        }
        let update = Update {
            name: self.names.log(&plan.branch),
            to: plan.to.clone(),
            from: plan.from.clone(),
        };
        plan.log = Some(update.clone());
        plan.updates.push(update);
        Ok(())
    }

    /// Handles a remote log that this one does not continue: it is ahead, or of a workflow that ended and is kept
    /// before its ref moves, or of another workflow.
    fn plan_replacement(
        &self,
        store: &Store,
        listing: &Listing,
        there: &RemoteRef,
        seen: Option<&str>,
        plan: &mut Plan,
    ) -> Result<(), Failure> {
        let quarantine = Quarantine::make(&self.place, true)?;
        let limits = self.fetch(&quarantine, std::slice::from_ref(there), Side::Push)?;
        let admitted = self.admit(&quarantine, there, &limits)?;
        let other = quarantine.open(&admitted)?;
        let first = other.first()?;
        if first == store.first()? {
            return Err(self.ahead(&quarantine, there)?);
        }
        // The log that this clone has seen there was this workflow's own.
        if let Some(seen) = seen
            && (plan.to == seen || store.leads_over(&plan.to, seen)?)
        {
            return Err(self.rewound(&plan.branch, store, &there.commit, seen));
        }
        let snapshot = other.snapshot()?;
        let of = snapshot.ledger.branch.as_ref();
        let is_of_branch = of.is_none_or(|of| *of == plan.branch);
        if is_of_branch && !has_ended(&snapshot) {
            return Err(self.other(&plan.branch, &snapshot));
        }
        let name = match find_done_commit(&snapshot) {
            Some(commit) => self.names.name_done(&commit),
            None => self.names.old(&first),
        };
        if !listing.list_kept().any(|kept| kept.name == name) {
            plan.updates.push(Update {
                name,
                to: there.commit.clone(),
                from: None,
            });
        }
        plan.replaces = true;
        plan.lent.push(quarantine.objects());
        plan.quarantine = Some(quarantine);
        Ok(())
    }

    /// The failure if the remote has transitions that this clone lacks.
    pub(crate) fn ahead(
        &self,
        quarantine: &Quarantine,
        there: &RemoteRef,
    ) -> Result<Failure, Failure> {
        let meta = quarantine.meta(&there.commit)?;
        Ok(Refusal::new(
            Code::RemoteAhead,
            format!(
                "`{}` holds #{} `{}: {}` (by the {}), which is not here",
                self.show(),
                meta.seq,
                meta.event,
                meta.subject,
                meta.actor
            ),
        )
        .into())
    }

    pub(crate) fn other(&self, branch: &str, snapshot: &Snapshot) -> Failure {
        Failure::state(
            Code::LogOther,
            format!(
                "`{}` holds the log of another workflow for branch `{branch}`, which is not finished: {}",
                self.show(),
                snapshot.state.mission_anchor
            ),
        )
        .hint("or give up the one of this clone and take that one in: `cook cancel --as-user`, then `cook pull`")
    }

    /// The failure if this clone has seen the log there, but the server does not show it now.
    pub fn report_gone(&self, branch: &str) -> Failure {
        let failure = Failure::state(
            Code::LogGone,
            format!(
                "this clone has seen a log of branch `{branch}` on `{}`, which shows none now: somebody took it away, or the server hides it",
                self.show()
            ),
        );
        self.with_other_names(
            failure
                .hint("where it was taken away, put it back as it is here: `cook push --restore`"),
        )
    }

    pub(crate) fn rewound(&self, branch: &str, store: &Store, there: &str, seen: &str) -> Failure {
        let number = |commit: &str| match store.resolve(commit) {
            Ok(meta) => format!("#{}", meta.seq),
            Err(_) => format!("another history ({})", short(commit)),
        };
        Failure::new(
            FailureKind::State,
            Code::RemoteLogRewound,
            format!(
                "the log of branch `{branch}` on `{}` stands at {}, and this clone has seen {} there",
                self.show(),
                number(there),
                number(seen)
            ),
        )
        .hint("where the one of this clone is right, put it back as it is here: `cook push --restore`")
        .hint("where the one there is right, take it as it is; what only this clone has is kept under a ref: `cook pull --accept`")
    }

    /// Updates the log's refs under its former branches. A log that ended under a former name is left alone.
    pub(crate) fn plan_former(&self, store: &Store, plan: &mut Plan) -> Result<(), Failure> {
        let prefix = format!("remotes/{}/", self.key(Side::Push)?);
        for name in Marks::list(&self.place, &prefix)? {
            let branch = unescape_branch(&name);
            let seen = Marks::read(&self.place, &format!("{prefix}{name}"))?;
            let Some(seen) = seen.filter(|_| branch != plan.branch) else {
                continue;
            };
            if !store.leads_over(&plan.to, &seen)? {
                continue;
            }
            let then = store.entry(&seen)?.snapshot;
            if has_ended(&then) || then.ledger.branch.as_ref() != Some(&branch) {
                continue;
            }
            let Some(there) = self.look(&branch, Side::Push)?.log else {
                continue;
            };
            if there.commit == plan.to {
                continue;
            }
            if !store.leads_over(&plan.to, &there.commit)? {
                return Err(self.report_went_on(&branch, &plan.branch));
            }
            plan.updates.push(Update {
                name: there.name,
                to: plan.to.clone(),
                from: Some(there.commit),
            });
            plan.former.push(branch);
        }
        Ok(())
    }

    fn report_went_on(&self, former: &str, branch: &str) -> Failure {
        let what = format!(
            "this log was that of branch `{former}`, and there `{}` is ahead of this clone",
            self.show()
        );
        let (quoted, now) = (shell_words::quote(former), shell_words::quote(branch));
        Refusal::new(Code::RemoteAhead, what)
            .replace_hints([format!(
                "take it in where it was recorded, and give the log its new branch again: `git switch -C {quoted}`, `cook plan adopt --branch`, `cook pull`, `git switch {now}`, `cook plan adopt --branch`, `cook push`"
            )])
            .into()
    }

    /// Commits that are cited by the log and exist here, but are not in the history of `head`.
    pub(crate) fn loose_commits(
        &self,
        snapshot: &Snapshot,
        head: Option<&str>,
    ) -> Result<Vec<String>, Failure> {
        let mut loose = Vec::new();
        for commit in list_cited(snapshot) {
            if self.repo.resolve(&commit)?.as_deref() != Some(commit.as_str()) {
                continue;
            }
            let is_held = match head {
                Some(head) => self.repo.is_ancestor(&commit, head)?,
                None => false,
            };
            if !is_held {
                loose.push(commit);
            }
        }
        // The branch may be deleted once the work is done.
        if let Some(done) = find_done_commit(snapshot)
            && !loose.contains(&done)
            && self.repo.resolve(&done)?.is_some()
        {
            loose.push(done);
        }
        Ok(loose)
    }

    /// Extends the chain of empty commits so that it keeps these commits too.
    pub(crate) fn plan_keep(
        &self,
        listing: &Listing,
        loose: &[String],
        head: Option<&str>,
        plan: &mut Plan,
    ) -> Result<(), Failure> {
        if loose.is_empty() {
            return Ok(());
        }
        let quarantine = match plan.quarantine.take() {
            Some(quarantine) => quarantine,
            None => Quarantine::make(&self.place, true)?,
        };
        let before = listing.keep.as_ref();
        if let Some(keep) = before {
            self.fetch(&quarantine, std::slice::from_ref(keep), Side::Push)?;
        }
        let in_quarantine = |call: Call| {
            call.env("GIT_OBJECT_DIRECTORY", quarantine.objects())
                .lend(quarantine.lent())
        };
        if let Some(keep) = before {
            let call = Call::new("cat-file -t").arg(&keep.commit);
            let what = "git does not say what keeps commits there";
            let kind = self.git.answer(in_quarantine(call), what)?;
            if kind.trim() != "commit" {
                return Err(self.refuse_keep(&keep.name, kind.trim()));
            }
        }
        let mut lacking = Vec::new();
        for commit in loose {
            let is_kept = match before {
                Some(keep) => {
                    let call = Call::new("--no-replace-objects merge-base --is-ancestor");
                    let call = call.arg(commit).arg(&keep.commit);
                    self.git.run(in_quarantine(call))?.success()
                }
                None => false,
            };
            if !is_kept {
                lacking.push(commit);
            }
        }
        if !lacking.is_empty() {
            let mut there: Vec<&str> = Vec::new();
            there.extend(head);
            there.extend(before.map(|keep| keep.commit.as_str()));
            if let Some(branch) = &listing.branch
                && self.repo.resolve(&branch.commit)?.is_some()
            {
                there.push(&branch.commit);
            }
            plan.kept = self.list_leaving(&lacking, &there, &in_quarantine)?;
        }
        let mut tip = before.map(|keep| keep.commit.clone());
        for some in lacking.chunks(MOST) {
            let what = "git cannot write the commit that keeps others";
            let tree = Call::new("hash-object -t tree -w --stdin");
            let tree = self.git.answer(in_quarantine(tree), what)?;
            let mut call = Call::new("commit-tree -m").arg("Keep what the log cites");
            for parent in tip.iter().chain(some.iter().copied()) {
                call = call.arg("-p").arg(parent);
            }
            let call = call.arg(tree.trim()).by_cook();
            let made = self.git.answer(in_quarantine(call), what)?;
            tip = Some(made.trim().to_owned()).filter(|id| is_id(id));
        }
        if let Some(tip) = tip.filter(|_| !lacking.is_empty()) {
            plan.lent.push(quarantine.objects());
            let name = self.names.keep(&plan.branch);
            plan.keep = Some(name.clone());
            plan.updates.push(Update {
                name,
                to: tip,
                from: before.map(|keep| keep.commit.clone()),
            });
        }
        plan.quarantine = Some(quarantine);
        Ok(())
    }

    /// The failure if the remote's ref for kept commits holds something else.
    fn refuse_keep(&self, name: &str, kind: &str) -> Failure {
        let shown = self.show();
        let what = format!("`{name}` of `{shown}` is a {kind}, and not a commit that keeps others");
        Failure::state(Code::RemoteLogRefused, what).replace_hints([format!(
            "look at it, then take it away: `git push {} :{name}`, and push again",
            shell_words::quote(&shown)
        )])
    }

    /// The commits and files that a push of `commits` would send to a remote that has the commits `there`. `adjust`
    /// gives git access to the objects.
    pub(crate) fn list_leaving(
        &self,
        commits: &[&String],
        there: &[&str],
        adjust: &impl Fn(Call) -> Call,
    ) -> Result<Kept, Failure> {
        let what = "git does not say which commits would be kept";
        // A push sends the original object and not its replacement.
        let mut call =
            Call::new("--no-replace-objects rev-list --reverse --objects --in-commit-order");
        for commit in commits {
            call = call.arg(commit.as_str());
        }
        call = call.arg("--not");
        for commit in there {
            call = call.arg(*commit);
        }
        let mut kept = Kept::default();
        let mut ids = Vec::new();
        for line in self.git.answer(adjust(call), what)?.lines() {
            match line.split_once(' ') {
                None if is_id(line) => ids.push(line.to_owned()),
                Some((id, path)) if !path.is_empty() => kept.files.push(KeptFile {
                    commit: ids.last().cloned().unwrap_or_default(),
                    path: path.to_owned(),
                    id: id.to_owned(),
                }),
                _ => {}
            }
        }
        if ids.is_empty() {
            return Ok(kept);
        }
        let mut call = Call::new(
            "--no-replace-objects log --no-walk=unsorted -s -z --no-show-signature --no-notes",
        )
        .arg("--format=%H%n%an <%ae>%n%cn <%ce>%n%B");
        for id in &ids {
            call = call.arg(id.as_str());
        }
        for message in self.git.answer(adjust(call), what)?.split('\0') {
            if let Some((id, text)) = message.split_once('\n') {
                kept.commits.push((id.to_owned(), text.to_owned()));
            }
        }
        Ok(kept)
    }
}

/// The maximum number of commits that one commit of the chain keeps.
const MOST: usize = 64;

/// The commits of the user's history that the log's newest state names.
pub fn list_cited(snapshot: &Snapshot) -> BTreeSet<String> {
    let ledger = &snapshot.ledger;
    let mut found: BTreeSet<&str> = BTreeSet::new();
    found.extend(ledger.mark.as_deref());
    for slice in ledger.slices.values() {
        let named = [
            &slice.basis,
            &slice.reported,
            &slice.head,
            &slice.last_head,
            &slice.holds,
        ];
        found.extend(named.into_iter().flatten().map(String::as_str));
        found.extend(slice.claimed.iter().map(String::as_str));
        if let Some(accepted) = &slice.accepted {
            found.extend([accepted.basis.as_str(), accepted.head.as_str()]);
        }
    }
    found
        .into_iter()
        .filter(|id| is_id(id))
        .map(str::to_owned)
        .collect()
}

/// A file of a commit that is pushed without its branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFile {
    /// The first commit that contains it.
    pub commit: String,
    /// Its path in the commit.
    pub path: String,
    /// The object id of the file or directory.
    pub id: String,
}

/// Commits of the user that are pushed without their branch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// Their ids, with authors and messages.
    pub commits: Vec<(String, String)>,
    /// Their files.
    pub files: Vec<KeptFile>,
}

impl Kept {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }
}
