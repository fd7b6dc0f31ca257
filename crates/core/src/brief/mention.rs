//! Anchors inside free text: sources, what a question verifies, outcomes.

use crate::model::Anchor;

/// The anchors that a free text mentions: the whole text when it is one, else
/// single words that can be nothing else. `path:word` counts only as the whole
/// text, because prose is full of colons.
pub fn mentions(text: &str) -> Vec<String> {
    let text = text.trim();
    if let Ok(anchor) = Anchor::parse(text)
        && is_certain(&anchor, text, true)
    {
        return vec![text.to_owned()];
    }
    let mut found = Vec::new();
    for word in text.split_whitespace() {
        let word = word.trim_matches(|c: char| ".,;()[]{}\"'`".contains(c));
        let word = word.strip_suffix(':').unwrap_or(word);
        if let Ok(anchor) = Anchor::parse(word)
            && is_certain(&anchor, word, false)
            && !found.iter().any(|known| known == word)
        {
            found.push(word.to_owned());
        }
    }
    found
}

fn is_certain(anchor: &Anchor, text: &str, whole: bool) -> bool {
    let is_path = |path: &str| {
        !path.contains(char::is_whitespace) && !path.contains("://") && path.contains(['/', '.'])
    };
    match anchor {
        Anchor::User { .. } | Anchor::Receipt(_) | Anchor::Commit(_) => true,
        Anchor::Lines { path, .. } => is_path(path),
        Anchor::Symbol { path, symbol } => {
            whole && is_path(path) && !symbol.contains("//") && !text.contains("://")
        }
        Anchor::Gone { path, .. } | Anchor::Entry(path) => whole && is_path(path),
        Anchor::Test(_) | Anchor::Command { .. } | Anchor::Doc { .. } => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_told_from_prose() {
        for (text, expected) in [
            ("user@msg-1", vec!["user@msg-1"]),
            (
                "user@msg-1: 'use queues; they last'",
                vec!["user@msg-1: 'use queues; they last'"],
            ),
            (
                "cmd:pnpm test a.ts#first-line",
                vec!["cmd:pnpm test a.ts#first-line"],
            ),
            (
                "see src/a.rs:12, and commit:abcd12.",
                vec!["src/a.rs:12", "commit:abcd12"],
            ),
            ("src/a.rs:parse", vec!["src/a.rs:parse"]),
            ("session experience: round-trip seen", vec![]),
            ("note: run it at 10:30", vec![]),
            ("https://example.org/a:80 is up", vec![]),
            ("Run test: all green", vec![]),
        ] {
            assert_eq!(mentions(text), expected, "{text}");
        }
    }
}
