//! What a push would do, decided from what the remote holds: which refs it moves, from where, and
//! whether it may.
//!
//! A log that was another branch's before: what the remote holds under that name goes on with it, or
//! whoever works on there would add to what nobody reads.
//!
//! Commits that a log cites and its branch does not hold: a chain of empty commits keeps them on
//! the remote, so that neither a squash nor a deleted branch loses what the proof is about.
//!
//! What leaves beside a branch: commits of the user's that the log cites and the branch does not hold,
//! and what they bring that the remote lacks.

use crate::git::Call;
use crate::remote::remote::{Listing, Mark, Remote, RemoteRef, Side, is_id};
use crate::store::{Marks, Quarantine, Store};
use cook_protocol::diagnostic::{Code, Failure, FailureKind, short};
use cook_protocol::model::{Policy, Snapshot, WaitingKind, unescape_branch};
use cook_protocol::refusal::Refusal;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Whether a log that somebody took away or set back is put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restore {
    /// It is an error.
    No,
    /// As this clone has it.
    Yes,
}

/// One ref of the remote, and how it is to move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Update {
    pub(crate) name: String,
    pub(crate) to: String,
    /// Where it must stand; none = nowhere.
    pub(crate) from: Option<String>,
}

/// A push that was looked into.
#[derive(Debug, Default)]
pub struct Plan {
    pub(crate) branch: String,
    pub(crate) log: Option<Update>,
    /// All of them, in order, the log's included.
    pub(crate) updates: Vec<Update>,
    /// The branch itself is among them.
    pub with_branch: bool,
    /// Commits that leave beside the branch, below `refs/cook/keep/`.
    pub kept: Kept,
    /// How many of those stay here.
    pub withheld: u64,
    /// The ref that keeps them.
    pub(crate) keep: Option<String>,
    /// Where the log stands there.
    pub from: Option<String>,
    /// Where it is to stand.
    pub to: String,
    /// The workflow that stood there before ended or has another branch now, and is kept beside.
    pub replaces: bool,
    /// Branches that this log was the log of before.
    pub(crate) former: Vec<String>,
    /// A ref without a place to stand moves forward from wherever it does.
    pub(crate) moves_forward: bool,
    /// Directories that hold objects which are neither the repository's nor the log's.
    pub(crate) lent: Vec<PathBuf>,
    /// Held until the push is over.
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

    /// The remote has everything already.
    pub fn is_empty(&self) -> bool {
        self.updates.is_empty()
    }

    /// Commits of the user's leave, so that their `pre-push` hook has a say.
    pub fn sends_commits(&self) -> bool {
        self.with_branch || !self.kept.is_empty()
    }

    /// Lets the commits stay that the branch does not hold.
    pub fn leave_out_kept(&mut self) {
        let keep = self.keep.take();
        self.updates
            .retain(|update| Some(&update.name) != keep.as_ref());
        self.withheld = self.kept.commits.len() as u64;
        self.kept = Kept::default();
    }

    /// The remote has no log of this workflow yet.
    pub fn is_first(&self) -> bool {
        self.from.is_none() || self.replaces
    }
}

/// The commit that a log found done.
pub(crate) fn find_done_commit(snapshot: &Snapshot) -> Option<String> {
    match snapshot.state.continuation_policy {
        Policy::Done => snapshot.ledger.head_seen.clone(),
        _ => None,
    }
}

/// Nothing more comes of this workflow: another may begin on its branch.
pub(crate) fn has_ended(snapshot: &Snapshot) -> bool {
    let waiting = snapshot.ledger.waiting.as_ref();
    snapshot.state.continuation_policy == Policy::Done
        || waiting.is_some_and(|waiting| waiting.kind == WaitingKind::Cancel)
}

impl Remote<'_> {
    /// Looks into a push of the log, and of its branch with that head.
    ///
    /// # Errors
    /// `remote_ahead` where the remote holds what is not here, and every reason not to push there.
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
        // What others recorded says more than where their branch stands.
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

    /// The log by which a commit was found done is kept beside. Where it went on and the commit is done
    /// still (it was signed, or undone and found done again), what is kept goes on with it.
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

    /// The remote's log is not before this one: it is ahead, or of a workflow that ended, which is
    /// kept before its ref moves, or of another one.
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
        // This workflow's own log stood there.
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

    /// What the remote recorded and this clone lacks.
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

    /// The log was seen there, and is not among what the server shows now.
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

    /// Lets the log's former names lead to where it stands. One that ended under its name stays.
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

    /// Commits that the log cites, are here, and are not on the way to that head.
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
        // The branch may go once the work is done.
        if let Some(done) = find_done_commit(snapshot)
            && !loose.contains(&done)
            && self.repo.resolve(&done)?.is_some()
        {
            loose.push(done);
        }
        Ok(loose)
    }

    /// Lets the chain lead to those commits too.
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

    /// Somebody put something else where commits are kept.
    fn refuse_keep(&self, name: &str, kind: &str) -> Failure {
        let shown = self.show();
        let what = format!("`{name}` of `{shown}` is a {kind}, and not a commit that keeps others");
        Failure::state(Code::RemoteLogRefused, what).replace_hints([format!(
            "look at it, then take it away: `git push {} :{name}`, and push again",
            shell_words::quote(&shown)
        )])
    }

    /// What comes along with commits where those others are there already. `adjust` lets git find
    /// the objects.
    pub(crate) fn list_leaving(
        &self,
        commits: &[&String],
        there: &[&str],
        adjust: &impl Fn(Call) -> Call,
    ) -> Result<Kept, Failure> {
        let what = "git does not say which commits would be kept";
        // A push sends what stands behind a replaced object.
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

/// Parents of one commit of the chain.
const MOST: usize = 64;

/// Commits of the user's history that the log's newest state names.
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

/// A file of such a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFile {
    /// The first commit that brings it.
    pub commit: String,
    /// Its path there.
    pub path: String,
    /// The id of what it holds; a directory has one too.
    pub id: String,
}

/// Commits of the user's that leave without their branch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// Their ids and messages, authors included.
    pub commits: Vec<(String, String)>,
    /// What they bring.
    pub files: Vec<KeptFile>,
}

impl Kept {
    /// None leave.
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }
}
