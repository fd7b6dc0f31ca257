//! Which commits an anchor's answer rests on.

use super::sources::Sources;
use cook_core::diagnostic::Failure;
use cook_core::machine::{AnchorQuestion, WorkOf};
use std::collections::BTreeSet;

impl Sources<'_> {
    /// The commits that the answer to a question is found by, beside the one it is asked of.
    pub(crate) fn rests_on(&self, question: &AnchorQuestion) -> Result<BTreeSet<String>, Failure> {
        let mut commits: BTreeSet<String> = question.stamped_at.iter().cloned().collect();
        let earlier = match &question.work {
            Some(WorkOf::Claimed(own)) => {
                commits.extend([own.basis.clone(), own.head.clone()]);
                commits.extend(own.claimed.iter().cloned());
                own.earlier
            }
            Some(WorkOf::Accepted(seq)) => Some(*seq),
            None => None,
        };
        let accepted = earlier
            .map(|seq| self.find_accepted(seq))
            .transpose()?
            .flatten();
        if let Some(own) = accepted {
            commits.extend([own.basis, own.head]);
            commits.extend(own.commits);
        }
        Ok(commits)
    }
}
