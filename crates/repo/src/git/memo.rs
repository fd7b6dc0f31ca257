//! What git was asked and answers the same way always: a process for each question is what a quick command pays for.

use cook_protocol::diagnostic::Failure;
use cook_protocol::model::TreeEntry;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Answers that are kept of each question: a commit of 100,000 files takes about 10 MB.
const MOST: usize = 4;

#[derive(Default)]
pub(crate) struct Known {
    /// Files, by a commit's full id.
    pub trees: Memo<BTreeMap<String, TreeEntry>>,
    /// What git says of two commits' differences, by their full ids.
    pub changes: Memo<Vec<Vec<u8>>>,
    /// The remote of a partial clone.
    pub promisor: Memo<Option<String>>,
}

/// Answers by what was asked.
pub(crate) struct Memo<T>(RefCell<BTreeMap<String, T>>);

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<T: Clone> Memo<T> {
    /// The answer, asked for where it is not known. An error is asked again.
    pub fn recall(
        &self,
        question: &str,
        ask: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if let Some(answer) = self.0.borrow().get(question) {
            return Ok(answer.clone());
        }
        let answer = ask()?;
        let mut known = self.0.borrow_mut();
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(question.to_owned(), answer.clone());
        Ok(answer)
    }
}
