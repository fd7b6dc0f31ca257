//! What others wrote before a slice's history was written anew.

use super::way::Other;
use crate::trailers::last_trailer;
use crate::{Repo, SLICE_TRAILER};
use cook_core::diagnostic::Failure;
use cook_core::machine::{MAX_COMMITS, OwnQuestion};
use cook_core::model::Arrival;

impl Repo {
    /// Earlier bases, and what came while nobody worked on the slice and is not on the way to its
    /// head any more, as far as it is here.
    pub(super) fn find_left(&self, question: &OwnQuestion) -> Result<Vec<Other>, Failure> {
        let mut left = Vec::new();
        for earlier in &question.earlier_bases {
            let commit = self.resolve(earlier)?;
            left.extend(commit.map(|commit| Other {
                commit,
                after: None,
            }));
        }
        for arrival in &question.arrivals {
            let ends = (self.resolve(&arrival.after)?, self.resolve(&arrival.upto)?);
            let (Some(after), Some(upto)) = ends else {
                continue;
            };
            // What stands on top of the work was not left: it came after it.
            let head = &question.head;
            let is_left = !self.is_ancestor(&upto, head)? && !self.is_ancestor(head, &upto)?;
            if is_left && self.is_ancestor(&after, &upto)? {
                left.extend(self.list_others(question, &Arrival { after, upto })?);
            }
        }
        Ok(left)
    }

    /// Commits of the arrival that are not the slice's own, each run of them as one.
    fn list_others(
        &self,
        question: &OwnQuestion,
        arrival: &Arrival,
    ) -> Result<Vec<Other>, Failure> {
        let (after, upto) = (&arrival.after, &arrival.upto);
        let listed = self.ask(|history| history.list(Some(after), upto, MAX_COMMITS))?;
        let mut own = question.claimed.clone();
        let of_slice = listed.into_iter().filter(|commit| {
            let slice = last_trailer(&commit.message, SLICE_TRAILER);
            slice.as_ref() == Some(&question.slice_id)
        });
        own.extend(of_slice.map(|commit| commit.id));
        let mut runs: Vec<Other> = Vec::new();
        for step in self.steps(after, upto, &own)? {
            if step.own {
                continue;
            }
            match runs.last_mut() {
                Some(last) if last.commit == step.parent => last.commit = step.commit,
                _ => runs.push(Other {
                    commit: step.commit,
                    after: Some(step.parent),
                }),
            }
        }
        Ok(runs)
    }
}
