//! What became of a slice's work, whole or in part.

use super::sources::Sources;
use cook_core::diagnostic::Failure;
use cook_core::machine::OwnQuestion;
use cook_core::model::Survival;
use cook_git::Following;

impl Sources<'_> {
    /// What became of the work that a transition accepted; whole where nobody wrote it down.
    ///
    /// # Errors
    /// When the repository or the log cannot be read.
    pub fn survival(&self, seq: u64, accepted: &str) -> Result<Option<Survival>, Failure> {
        let (Some(own), Some(head)) = (self.find_accepted(seq)?, &self.head.commit) else {
            return Ok(None);
        };
        let mut survival = Following::new(self.repo, &own, head)?.survival()?;
        if own.head != accepted {
            survival.on_head = match self.repo.resolve(accepted)? {
                Some(accepted) => self.repo.is_ancestor(&accepted, head)?,
                None => false,
            };
        }
        Ok(Some(survival))
    }

    /// The same of work that nobody accepted yet; none where its commits are not here.
    ///
    /// # Errors
    /// As [`Sources::survival`].
    pub fn find_claimed_survival(
        &self,
        question: &OwnQuestion,
    ) -> Result<Option<Survival>, Failure> {
        let own = self.find_claimed_work(question, None)?;
        let Some(head) = self.head.commit.as_ref().filter(|_| !own.head.is_empty()) else {
            return Ok(None);
        };
        Ok(Some(Following::new(self.repo, &own, head)?.survival()?))
    }
}
