//! A log that was another branch's before: what the remote holds under that name goes on with it, or
//! whoever works on there would add to what nobody reads.

use crate::remote::push_plan::{Plan, Update, has_ended};
use crate::remote::remote::{Remote, Side};
use crate::store::{Marks, Store};
use cook_protocol::diagnostic::{Code, Failure, Refusal};
use cook_protocol::model::unescape_branch;

impl Remote<'_> {
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
            "this log was that of branch `{former}`, and there `{}` holds what is not here",
            self.show()
        );
        let (quoted, now) = (shell_words::quote(former), shell_words::quote(branch));
        Refusal::new(Code::RemoteAhead, what)
            .replace_hints([format!(
                "take it in where it was recorded, and give the log its new branch again: `git switch -C {quoted}`, `cook plan adopt --branch`, `cook pull`, `git switch {now}`, `cook plan adopt --branch`, `cook push`"
            )])
            .into()
    }
}
