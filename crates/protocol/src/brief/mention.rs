//! Anchors inside free text: sources, what a question verifies, outcomes.

use crate::diagnostic::attributions;
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

/// A message that a source names, with what stands beside its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quoted {
    /// The message's id.
    pub id: String,
    /// What the source so has it say; empty = nothing.
    pub words: Vec<String>,
}

/// The messages that a source names. Whatever stands beside an id, in quotes or not, reads as
/// the message's own words.
pub fn quotes(source: &str) -> Vec<Quoted> {
    let is_around = |c: char| c.is_whitespace() || ".,;:()[]{}<>\"'`“”„‘’‚«»‹›*_-–—…".contains(c);
    let words = |text: &str| text.trim_matches(is_around).to_owned();
    let named = attributions(source);
    let ends = named.iter().skip(1).map(|next| next.start);
    let ends = ends.chain([source.len()]);
    let mut begin = 0;
    let mut found = Vec::new();
    for (at, end) in named.iter().zip(ends) {
        let beside = [&source[begin..at.start], &source[at.id.end..end]];
        found.push(Quoted {
            id: source[at.id.clone()].to_owned(),
            words: beside
                .map(words)
                .into_iter()
                .filter(|it| !it.is_empty())
                .collect(),
        });
        begin = end;
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
    fn whatever_stands_beside_an_id_is_a_quote() {
        let of = |source: &str| {
            let found = quotes(source);
            let pair = |quoted: Quoted| format!("{}={}", quoted.id, quoted.words.join("|"));
            found.into_iter().map(pair).collect::<Vec<_>>().join(" ")
        };
        for (source, expected) in [
            ("user@msg-1", "msg-1="),
            ("`user@msg-1`.", "msg-1="),
            ("user@msg-1: 'it's \"done\" now'", "msg-1=it's \"done\" now"),
            ("user@msg-1: other words", "msg-1=other words"),
            ("user@msg-1 «other words»", "msg-1=other words"),
            ("as User @ msg-1 says", "msg-1=as|says"),
            (
                "user@msg-1: 'a', user@answer-2: \"b\"",
                "msg-1=a answer-2=b",
            ),
            ("us\u{435}r@msg-1: a", "msg-1=a"),
            ("src/a.rs:1", ""),
            ("user@example.com says so", ""),
        ] {
            assert_eq!(of(source), expected, "{source}");
        }
    }

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
