//! The mission anchor: the one line by which every document and every report
//! names the mission (`protocol/completion.md#words`).

/// Characters an anchor holds at most.
pub const MAX_ANCHOR_CHARS: usize = 200;

/// The anchor of a mission text: its first line that says something, without
/// heading marks, with white space collapsed, cut at [`MAX_ANCHOR_CHARS`].
/// Control characters and characters that turn the reading direction or have no
/// width are left out, since an anchor is shown on terminals and in prompts.
///
/// None when no line says anything.
pub fn mission_anchor(mission: &str) -> Option<String> {
    mission
        .split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'])
        .find_map(find_anchor)
}

fn find_anchor(line: &str) -> Option<String> {
    let visible: String = line
        .chars()
        .filter(|c| c.is_whitespace() || !is_hidden(*c))
        .collect();
    let collapsed = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = without_heading_marks(&collapsed)
        .chars()
        .take(MAX_ANCHOR_CHARS)
        .collect();
    let anchor = without_heading_marks(&cut);
    (!anchor.is_empty()).then(|| anchor.to_owned())
}

/// Takes Markdown heading marks off both ends: `## Title ##` is `Title`, while
/// `#hashtag` and `C#` keep theirs. Repeated, so that the anchor of an anchor is itself.
fn without_heading_marks(line: &str) -> &str {
    let mut line = line.trim();
    loop {
        let rest = line.trim_start_matches('#');
        if rest.len() == line.len() || !(rest.is_empty() || rest.starts_with(' ')) {
            return line;
        }
        line = rest.trim_start();
        let body = line.trim_end_matches('#');
        if body.is_empty() || body.ends_with(' ') {
            line = body.trim_end();
        }
    }
}

/// C0, DEL and C1; marks that change direction; characters that take no room.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchor(text: &str) -> String {
        mission_anchor(text).unwrap_or_else(|| "-".to_owned())
    }

    #[test]
    fn the_first_line_that_says_something() {
        assert_eq!(
            anchor("\n\n  # Ship   the\tthing  \nmore"),
            "Ship the thing"
        );
        assert_eq!(anchor("\u{feff}# Titel\r\nText"), "Titel");
        assert_eq!(anchor("## Closed ##"), "Closed");
        assert_eq!(anchor("# Port it to C#"), "Port it to C#");
        assert_eq!(anchor("#hashtag first"), "#hashtag first");
        assert_eq!(anchor("#\n##  \n# ##\nreal"), "real");
        for nothing in ["", " \n\t\r\n", "#", "\u{200b}\u{202e}\n\u{1b}"] {
            assert_eq!(mission_anchor(nothing), None, "{nothing:?}");
        }
    }

    #[test]
    fn nothing_that_moves_a_terminal_or_turns_text() {
        assert_eq!(
            anchor("a\u{1b}[31mb \u{202e}c\u{2066} \u{7}\u{0} d"),
            "a[31mb c d"
        );
        assert_eq!(anchor("\u{200b}# x"), "x");
    }

    #[test]
    fn at_most_two_hundred_characters_and_stable() {
        let long = "ä ".repeat(1000);
        let cut = anchor(&long);
        assert!(
            cut.chars().count() <= MAX_ANCHOR_CHARS,
            "{}",
            cut.chars().count()
        );
        assert_eq!(anchor(&"x".repeat(300)).chars().count(), 200);
        assert_eq!(
            anchor(&format!("{} yz", "x".repeat(199))).chars().count(),
            199
        );
        let texts = ["# # x", "#\u{200b} x", "# ## a ## #", "x #\u{7} #", "## "];
        assert_eq!(mission_anchor(&"# ".repeat(1_000_000)), None);
        for text in texts.into_iter().chain([cut.as_str()]) {
            let once = anchor(text);
            assert_eq!(anchor(&once), once, "{text:?}");
        }
    }
}
