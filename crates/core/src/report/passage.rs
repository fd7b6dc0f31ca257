//! Passages of an answer: its text, and what stands in the fences, quotes and comments of that.

use super::fence::{Fence, is_indented};

/// A text whose fences, quotes and comments are told apart from what it says itself.
pub(super) struct Passage<'a> {
    /// The passage it stands in, by number, and the first line there that comes after it.
    pub around: Option<(usize, usize)>,
    pub lines: Vec<&'a str>,
    /// In order; none overlaps another.
    pub parts: Vec<Part>,
    /// By line: it belongs to a part.
    pub inner: Vec<bool>,
    /// A fence has no other end: what is inside and what is not cannot be told for certain.
    pub unclosed: bool,
}

/// Something that is set apart: the lines from `start` up to, not including, `end`.
pub(super) struct Part {
    pub start: usize,
    pub end: usize,
    pub wrapping: Wrapping,
}

/// What sets a part apart.
#[derive(PartialEq)]
pub(super) enum Wrapping {
    Fence(Fence),
    Quote,
    /// `<!-- … -->`, which no reader sees; without an end it goes on to the last line.
    Comment,
}

impl Part {
    pub fn fence(&self) -> Option<&Fence> {
        match &self.wrapping {
            Wrapping::Fence(fence) => Some(fence),
            _ => None,
        }
    }
}

impl<'a> Passage<'a> {
    pub fn new(lines: Vec<&'a str>, around: Option<(usize, usize)>) -> Self {
        let (parts, unclosed) = parts(&lines);
        let mut inner = vec![false; lines.len()];
        for part in &parts {
            inner[part.start..part.end].fill(true);
        }
        Self {
            around,
            lines,
            parts,
            inner,
            unclosed,
        }
    }

    /// What it says itself.
    pub fn own_text(&self) -> String {
        let own = self.lines.iter().zip(&self.inner);
        let own: Vec<&str> = own
            .filter(|(_, inner)| !**inner)
            .map(|(line, _)| *line)
            .collect();
        own.join("\n")
    }

    /// The lines within a part, its marks taken off.
    pub fn inside(&self, part: &Part) -> Vec<&'a str> {
        let all = &self.lines[part.start..part.end];
        match part.wrapping {
            Wrapping::Quote => all
                .iter()
                .filter_map(|line| strip_quote_mark(line))
                .collect(),
            Wrapping::Comment => all.iter().map(|line| without_marks(line)).collect(),
            Wrapping::Fence(_) => {
                let opener = all[0];
                let indent = opener.len() - opener.trim_start_matches(' ').len();
                let cut = |line: &&'a str| {
                    let blanks = line.len() - line.trim_start_matches(' ').len();
                    &line[blanks.min(indent)..]
                };
                all[1..all.len() - 1].iter().map(cut).collect()
            }
        }
    }
}

/// A fence that is marked with a language opens within another one, as models write it. One that
/// never ends is a line like any other.
fn parts(lines: &[&str]) -> (Vec<Part>, bool) {
    let mut open: Vec<(usize, Fence)> = Vec::new();
    let mut closed: Vec<Option<(usize, Fence)>> = Vec::new();
    closed.resize_with(lines.len(), || None);
    for (place, line) in lines.iter().enumerate() {
        let ends = open
            .last()
            .is_some_and(|(_, fence)| fence.is_closed_by(line));
        match Fence::open(line) {
            _ if ends => {
                if let Some((start, fence)) = open.pop() {
                    closed[start] = Some((place + 1, fence));
                }
            }
            Some(fence) => open.push((place, fence)),
            None => {}
        }
    }
    let numbered = lines.iter().enumerate();
    let ends: Vec<usize> = numbered
        .filter(|(_, line)| line.contains(COMMENT_END))
        .map(|(place, _)| place)
        .collect();
    let end_from = |place: usize| {
        let next = ends.partition_point(|end| *end < place);
        ends.get(next).map(|end| end + 1)
    };
    let mut parts = Vec::new();
    let mut start = 0;
    while start < lines.len() {
        if closed[start].is_none()
            && begins_comment(lines[start])
            && let Some(end) = end_from(start + 1)
        {
            parts.push(Part {
                start: start + 1,
                end,
                wrapping: Wrapping::Comment,
            });
            start = end;
            continue;
        }
        let (end, wrapping) = match closed[start].take() {
            Some((end, fence)) => (end, Wrapping::Fence(fence)),
            None => match is_comment(lines[start]) {
                true => (end_from(start).unwrap_or(lines.len()), Wrapping::Comment),
                false => {
                    let quoted = lines[start..].iter();
                    let quoted = quoted.take_while(|line| strip_quote_mark(line).is_some());
                    (start + quoted.count(), Wrapping::Quote)
                }
            },
        };
        if end > start {
            parts.push(Part {
                start,
                end,
                wrapping,
            });
        }
        start = end.max(start + 1);
    }
    (parts, !open.is_empty())
}

/// A quoted line without its mark.
fn strip_quote_mark(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('>')?;
    (!is_indented(line)).then(|| rest.strip_prefix(' ').unwrap_or(rest))
}

/// A comment begins with the line.
fn is_comment(line: &str) -> bool {
    !is_indented(line) && line.trim_start().starts_with(COMMENT)
}

/// A comment begins behind words of the line and goes on below.
fn begins_comment(line: &str) -> bool {
    let Some((words, comment)) = line.rsplit_once(COMMENT) else {
        return false;
    };
    let is_code = words.matches('`').count() % 2 == 1;
    let is_set_apart = strip_quote_mark(line).is_some() || is_indented(line);
    !words.trim().is_empty() && !is_code && !comment.contains(COMMENT_END) && !is_set_apart
}

const COMMENT: &str = "<!--";
const COMMENT_END: &str = "-->";

fn without_marks(line: &str) -> &str {
    let line = line.strip_prefix(COMMENT).unwrap_or(line);
    line.split(COMMENT_END).next().unwrap_or_default()
}
