//! The mark that makes a comment one of a kind.

use super::issue::is_id;

/// The mark that makes a comment one of a kind. Only at the very end of a comment
/// does it count, so that text from elsewhere cannot pass for one.
pub fn mark(key: &str) -> String {
    format!("[cook:{key}]")
}

/// A comment without its mark, and the key the mark holds.
pub fn split_mark(comment: &str) -> (&str, Option<&str>) {
    let whole = comment.trim_end();
    let marked = whole.strip_suffix(']').and_then(|rest| {
        let (text, key) = rest.rsplit_once("[cook:")?;
        is_id(key).then_some((text.trim_end(), Some(key)))
    });
    marked.unwrap_or((comment, None))
}

/// Whether a comment carries the mark.
pub fn carries(comment: &str, key: &str) -> bool {
    split_mark(comment).1 == Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_mark_counts() {
        for (comment, text, key) in [
            ("done [cook:K1]", "done", Some("K1")),
            ("done [cook:K1]\n", "done", Some("K1")),
            (
                "as [cook:K1] says [cook:K2]",
                "as [cook:K1] says",
                Some("K2"),
            ),
            ("as [cook:K1] says", "as [cook:K1] says", None),
            ("[cook:]", "[cook:]", None),
            ("[cook:a b]", "[cook:a b]", None),
            ("", "", None),
        ] {
            assert_eq!(split_mark(comment), (text, key), "{comment:?}");
        }
    }
}
