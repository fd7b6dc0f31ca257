//! Commits that a log cites and its branch does not hold: a chain of empty commits keeps them on
//! the remote, so that neither a squash nor a deleted branch loses what the proof is about.

use crate::process::{LENT_VARIABLE, join_lent};
use crate::remote::push_plan::{Plan, Update, find_done_commit};
use crate::remote::remote::{Remote, Side};
use crate::remote::remote_listing::{Listing, is_id};
use crate::remote::user_git::Call;
use crate::store::Quarantine;
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::model::Snapshot;
use std::collections::BTreeSet;

/// Parents of one commit of the chain.
const MOST: usize = 64;

impl Remote<'_> {
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
                .env(LENT_VARIABLE, join_lent(quarantine.lent()))
        };
        if let Some(keep) = before {
            let call = Call::new("cat-file -t").word(&keep.commit);
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
                    let call = call.word(commit).word(&keep.commit);
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
            let mut call = Call::new("commit-tree -m").word("Keep what the log cites");
            for parent in tip.iter().chain(some.iter().copied()) {
                call = call.word("-p").word(parent);
            }
            let call = call
                .word(tree.trim())
                .env("GIT_AUTHOR_NAME", "cook")
                .env("GIT_AUTHOR_EMAIL", "cook@localhost")
                .env("GIT_COMMITTER_NAME", "cook")
                .env("GIT_COMMITTER_EMAIL", "cook@localhost");
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
}

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
