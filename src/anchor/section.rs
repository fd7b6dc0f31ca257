//! Sections of a document: what stands below a heading, up to the next one of its depth.

use std::ops::Range;

/// The lines of the section with that heading, compared as a link to it would be written.
pub(super) fn find_section(lines: &[String], section: &str) -> Option<Range<usize>> {
    let wanted = slug(section);
    let headings = headings(lines);
    let at = headings
        .iter()
        .position(|heading| slug(heading.words) == wanted)?;
    let depth = headings[at].depth;
    let next = headings[at + 1..]
        .iter()
        .find(|heading| heading.depth <= depth);
    let end = next.map_or(lines.len(), |next| next.line);
    let start = headings[at].line;
    // Empty lines before the next heading are nobody's.
    let section = lines[start..end].iter();
    let last = section.rev().position(|line| !line.trim().is_empty())?;
    Some(start..end - last)
}

struct Heading<'a> {
    line: usize,
    depth: usize,
    words: &'a str,
}

/// Headings marked with `#` and those that are underlined; what stands in a code fence is none.
fn headings(lines: &[String]) -> Vec<Heading<'_>> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for (line, text) in lines.iter().enumerate() {
        let text = text.trim_end();
        let ticks = find_fence(text);
        match (fence, ticks) {
            (Some(open), Some(close)) => {
                let closes = close.starts_with(open) && close.len() == text.trim_start().len();
                if closes {
                    fence = None;
                }
                continue;
            }
            (None, Some(open)) => {
                fence = Some(open);
                continue;
            }
            (Some(_), None) => continue,
            (None, None) => {}
        }
        let marks = text.chars().take_while(|c| *c == '#').count();
        if (1..=6).contains(&marks) && text[marks..].chars().next().is_none_or(char::is_whitespace)
        {
            found.push(Heading {
                line,
                depth: marks,
                words: text[marks..].trim_end_matches('#'),
            });
        } else if let Some(depth) = lines.get(line + 1).and_then(|next| underline(next))
            && !text.is_empty()
            && (line == 0 || lines[line - 1].trim().is_empty())
        {
            found.push(Heading {
                line,
                depth,
                words: text,
            });
        }
    }
    found
}

/// The marks that open or close a code fence.
fn find_fence(line: &str) -> Option<&str> {
    let text = line.trim_start();
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = text.chars().take_while(|c| *c == mark).count();
    (length >= 3 && line.len() - text.len() <= 3).then(|| &text[..length])
}

/// The depth of a heading over a line of `=` or `-`.
fn underline(line: &str) -> Option<usize> {
    let line = line.trim_end();
    let all = |mark: char| line.len() >= 2 && line.chars().all(|c| c == mark);
    match (all('='), all('-')) {
        (true, _) => Some(1),
        (_, true) => Some(2),
        _ => None,
    }
}

/// As a link to it would be written.
fn slug(text: &str) -> String {
    text.trim()
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(text: &str, name: &str) -> Option<String> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        find_section(&lines, name).map(|range| lines[range].join("\n"))
    }

    #[test]
    fn a_section_ends_at_the_next_heading_of_its_depth() {
        let text = "# A\none\n## B b\ntwo\n### C\nthree\n## D\nfour\n";
        assert_eq!(section(text, "b-b").unwrap(), "## B b\ntwo\n### C\nthree");
        assert_eq!(section(text, "D").unwrap(), "## D\nfour");
        assert_eq!(section(text, "E"), None);
    }

    #[test]
    fn underlined_headings_are_headings() {
        let text = "Tool\n====\none\n\nUse it\n---\ntwo\n\nMore\n---\nthree\n";
        assert_eq!(section(text, "use-it").unwrap(), "Use it\n---\ntwo");
        assert!(section(text, "tool").unwrap().ends_with("three"));
        // A rule under a paragraph, and what leads a file, are none.
        assert_eq!(section("---\ntitle: x\n---\n", "title-x"), None);
        assert_eq!(section("one\ntwo\n---\n", "two"), None);
    }

    #[test]
    fn a_comment_in_a_code_fence_is_no_heading() {
        let text = "# Build\n```sh\n# first\nmake\n```\nthen\n~~~\n# x\n```\n~~~\nend\n# Next\n";
        assert!(section(text, "build").unwrap().ends_with("end"));
        assert_eq!(section(text, "first"), None);
        assert_eq!(section(text, "x"), None);
    }
}
