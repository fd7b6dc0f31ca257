//! A text with another line in it.

/// The text with other lines in the place of one.
pub(super) fn with_line(all: &[&str], at: usize, put: &str) -> String {
    let mut text = all[..at].concat();
    text.push_str(put);
    text.push_str(&all[at + 1..].concat());
    text
}
