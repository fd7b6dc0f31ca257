//! Two texts by their words: what a formatter joins and wraps stays told apart.

use super::file::Text;
use crate::RepoError;
use crate::lines::{Hunk, hunks};
use std::ops::Range;

/// A text, one word to a line.
pub(super) struct Words {
    text: Vec<u8>,
    /// The number of each line's first word, and how many there are.
    starts: Vec<usize>,
}

impl Words {
    pub(super) fn of(text: &Text) -> Self {
        let (mut words, mut starts, mut count) = (Vec::new(), vec![0], 0);
        for line in text.lines() {
            let of_line = line.split(u8::is_ascii_whitespace);
            for word in of_line.filter(|word| !word.is_empty()) {
                words.extend_from_slice(word);
                words.push(b'\n');
                count += 1;
            }
            starts.push(count);
        }
        Self {
            text: words,
            starts,
        }
    }

    /// The words of a line.
    pub(super) fn find_line(&self, line: usize) -> Range<usize> {
        let start = |line: usize| self.starts.get(line).copied().unwrap_or_default();
        start(line)..start(line + 1)
    }

    /// Where another text has other words.
    pub(super) fn compare(&self, other: &Self) -> Result<Vec<Hunk>, RepoError> {
        hunks(&self.text, &other.text)
    }
}
