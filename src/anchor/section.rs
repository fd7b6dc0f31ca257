//! Sections of a Markdown document: from a heading to the next of its depth or above.

use super::answer::answer;
use super::sources::{Sources, Text};
use cook_core::diagnostic::Failure;
use cook_core::machine::{AnchorAnswer, WorkOf};
use cook_core::model::{TextOutcome, Verdict};
use cook_git::{Following, is_telling};
use std::ops::Range;

impl Sources<'_> {
    /// Of a section that holds nothing of the slice's work any more: where that went, if it is anywhere.
    pub(super) fn answer_emptied(
        &self,
        work: &WorkOf,
        place: &str,
        section: &str,
    ) -> Result<AnchorAnswer, Failure> {
        let target = format!("{place}#{}", slug(section));
        let lost = "the section holds nothing of the slice's work any more";
        let nothing = Ok(answer(Verdict::Missing, lost, &target));
        let (Some(own), Some(head)) = (self.work(work, place)?, &self.head.commit) else {
            return nothing;
        };
        let Some(file) = own.files.iter().find(|file| file.path == place) else {
            return nothing;
        };
        let text = self.text(&own.head, place)?;
        let was = match &*text {
            Text::Lines(lines) => find_section(lines, section).unwrap_or(0..lines.len()),
            _ => 0..usize::MAX,
        };
        for piece in Following::new(self.repo, &own, head)?.pieces(file)? {
            let (_, then) = &piece.then;
            let is_there = then.start < was.end && was.start < then.end;
            let stands = piece.outcome.survives() || piece.outcome == TextOutcome::Rewritten;
            if let Some((path, now)) = piece.now.filter(|_| is_there && stands && piece.tells) {
                let why = "its text stands elsewhere now";
                let mut answer = answer(Verdict::Changed, why, &target);
                answer.target = format!("{path}#{}-{}", now.start + 1, now.end);
                answer.now = Some(format!("{path}:{}", now.start + 1));
                return Ok(answer);
            }
        }
        nothing
    }
}

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

/// Two sections say the same, white space and the form of the heading aside.
pub(super) fn says_the_same(one: &[String], other: &[String]) -> bool {
    let words = |lines: &[String]| -> String {
        let below = match lines.get(1).and_then(|line| underline(line)) {
            Some(_) => 2,
            None => 1,
        };
        let all = lines.iter().skip(below);
        let all = all.flat_map(|line| line.split_whitespace());
        all.collect::<Vec<_>>().concat()
    };
    words(one) == words(other)
}

/// The one heading that was none then, under which now stands what stood under this one.
pub(super) fn find_retitled<'n>(
    then: &[String],
    now: &'n [String],
    section: &str,
) -> Option<&'n str> {
    let below = |lines: &[String], title: &str| {
        let found = find_section(lines, title)?;
        Some(lines[found.start + 1..found.end].to_vec())
    };
    let said = below(then, section).filter(|said| is_telling(said))?;
    let all = headings(now)
        .into_iter()
        .map(|heading| heading.words.trim());
    let mut all = all.filter(|title| find_section(then, title).is_none());
    let one = all.find(|title| below(now, title).as_ref() == Some(&said))?;
    let others = all.any(|title| below(now, title).as_ref() == Some(&said));
    (!others).then_some(one)
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
pub(super) fn slug(text: &str) -> String {
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
