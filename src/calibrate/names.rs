//! The name of a commit in what was said of it, put in the place of another one's.

/// Shortest beginning of a commit's name that counts as one.
const SHORTEST: usize = 7;

/// The text with each word that is a commit's name, or begins it, as the other's.
pub(super) fn rename(text: &str, from: &str, to: &str) -> String {
    let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_hex) {
        let joins = |c: char| c.is_alphanumeric() || c == '_';
        let is_begun = rest[..at].chars().next_back().is_some_and(joins)
            || (at == 0 && out.chars().next_back().is_some_and(joins));
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.find(|c| !joins(c)).unwrap_or(rest.len());
        let word = &rest[..end];
        match !is_begun && word.len() >= SHORTEST && from.starts_with(word) {
            true => out.push_str(&to[..word.len().min(to.len())]),
            false => out.push_str(word),
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_names_and_their_beginnings_become_others() {
        let (from, to) = ("abcdef0123456789", "1111111111111111");
        for (text, expected) in [
            ("commit abcdef0123456789.", "commit 1111111111111111."),
            ("git:abcdef012:a.rs", "git:111111111:a.rs"),
            ("abcdef", "abcdef"),
            ("xabcdef0123", "xabcdef0123"),
            ("abcdef01234567890", "abcdef01234567890"),
            ("a_abcdef0 é abcdef0", "a_abcdef0 é 1111111"),
            ("", ""),
        ] {
            assert_eq!(rename(text, from, to), expected, "{text}");
        }
    }
}
