//! Two texts by their words: what a formatter joins and wraps stays told apart.

use super::file::Text;
use super::place::list_touching;
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

/// Every word of this line (from 0) of a text stands in another one, among the words that stood around it.
///
/// # Errors
/// When the texts cannot be compared.
pub fn stands_by_words(was: &Text, line: usize, now: &Text) -> Result<bool, RepoError> {
    let words = Words::of(was);
    let of_line = words.find_line(line);
    let changes = words.compare(&Words::of(now))?;
    Ok(!of_line.is_empty() && list_touching(&changes, &of_line).is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stands_where_it_was_joined_to_the_next_one() {
        let stands = |now: &str| {
            let [was, now] = ["head\nthe first half\nthe second one\ntail\n", now]
                .map(|text| Text::of(text.into()).unwrap());
            stands_by_words(&was, 1, &now).unwrap()
        };
        assert!(stands("head\nthe first half the second one\ntail\n"));
        assert!(!stands("head\nthe second one\ntail\n"));
        assert!(!stands("head\nthe other half the second one\ntail\n"));
        assert!(!stands(""));
    }
}
