//! Passages of an answer: its text, and what stands in the fences and quotes of that.

use super::fence::{Fence, is_indented};

/// A text whose fences and quotes are told apart from what it says itself.
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

/// A fence or a quote: the lines from `start` up to, not including, `end`.
pub(super) struct Part {
    pub start: usize,
    pub end: usize,
    /// None = a quote.
    pub fence: Option<Fence>,
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
        match part.fence {
            None => all.iter().filter_map(|line| unquoted(line)).collect(),
            Some(_) => {
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
    let mut parts = Vec::new();
    let mut start = 0;
    while start < lines.len() {
        let (end, fence) = match closed[start].take() {
            Some((end, fence)) => (end, Some(fence)),
            None => {
                let quoted = lines[start..]
                    .iter()
                    .take_while(|line| unquoted(line).is_some());
                (start + quoted.count(), None)
            }
        };
        if end > start {
            parts.push(Part { start, end, fence });
        }
        start = end.max(start + 1);
    }
    (parts, !open.is_empty())
}

/// A quoted line without its mark.
fn unquoted(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('>')?;
    (!is_indented(line)).then(|| rest.strip_prefix(' ').unwrap_or(rest))
}
