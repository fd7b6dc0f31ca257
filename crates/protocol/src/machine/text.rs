//! Commits and commands as they stand in a message.

/// The first 12 characters of a commit id.
pub fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

/// A word in single quotes, as it can be pasted into a shell.
pub fn quote_word(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
