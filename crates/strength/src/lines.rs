//! Two texts compared line by line: hunks, and the unified diff that shows them. The effort is
//! bounded: where large parts have no line in common that is there once, they count as rewritten.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

/// Products of line counts up to which the longest common lines are looked for exactly.
const EXACT: usize = 250_000;
/// How often parts are divided again.
const DEPTH: usize = 32;
/// Unchanged lines around a hunk that are shown.
const CONTEXT: usize = 3;

/// Lines of the one text that stand in the place of lines of the other, from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Lines that are gone.
    pub before: Range<usize>,
    /// Lines that came.
    pub after: Range<usize>,
}

/// A text's lines, each with its end.
pub fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// What differs, in order.
pub fn hunks(before: &[&str], after: &[&str]) -> Vec<Hunk> {
    let mut found = Vec::new();
    compare((before, 0), (after, 0), DEPTH, &mut found);
    let mut joined: Vec<Hunk> = Vec::new();
    for hunk in found {
        match joined.last_mut() {
            Some(last)
                if last.before.end == hunk.before.start && last.after.end == hunk.after.start =>
            {
                last.before.end = hunk.before.end;
                last.after.end = hunk.after.end;
            }
            _ => joined.push(hunk),
        }
    }
    joined
}

fn compare(
    (mut before, mut from): (&[&str], usize),
    (mut after, mut to): (&[&str], usize),
    depth: usize,
    found: &mut Vec<Hunk>,
) {
    let same = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    (before, after) = (&before[same..], &after[same..]);
    (from, to) = (from + same, to + same);
    let same = before.iter().rev().zip(after.iter().rev());
    let same = same.take_while(|(a, b)| a == b).count();
    before = &before[..before.len() - same];
    after = &after[..after.len() - same];
    if before.is_empty() && after.is_empty() {
        return;
    }
    let whole = Hunk {
        before: from..from + before.len(),
        after: to..to + after.len(),
    };
    if before.is_empty() || after.is_empty() {
        found.push(whole);
        return;
    }
    let exact = before.len().saturating_mul(after.len()) <= EXACT;
    let anchors = match exact {
        true => longest(before, after),
        false if depth > 0 => unique(before, after),
        false => Vec::new(),
    };
    if anchors.is_empty() {
        found.push(whole);
        return;
    }
    let mut last = (0, 0);
    for (a, b) in anchors.into_iter().chain([(before.len(), after.len())]) {
        let (old, new) = (&before[last.0..a], &after[last.1..b]);
        let (old_at, new_at) = (from + last.0, to + last.1);
        if !exact {
            compare((old, old_at), (new, new_at), depth - 1, found);
        } else if !old.is_empty() || !new.is_empty() {
            found.push(Hunk {
                before: old_at..old_at + old.len(),
                after: new_at..new_at + new.len(),
            });
        }
        last = (a + 1, b + 1);
    }
}

/// Pairs of equal lines, as many as there can be.
fn longest(before: &[&str], after: &[&str]) -> Vec<(usize, usize)> {
    let width = after.len() + 1;
    let mut lengths = vec![0u32; (before.len() + 1) * width];
    for a in (0..before.len()).rev() {
        for b in (0..after.len()).rev() {
            lengths[a * width + b] = if before[a] == after[b] {
                lengths[(a + 1) * width + b + 1] + 1
            } else {
                lengths[(a + 1) * width + b].max(lengths[a * width + b + 1])
            };
        }
    }
    let (mut a, mut b) = (0, 0);
    let mut pairs = Vec::new();
    while a < before.len() && b < after.len() {
        if before[a] == after[b] {
            pairs.push((a, b));
            (a, b) = (a + 1, b + 1);
        } else if lengths[(a + 1) * width + b] >= lengths[a * width + b + 1] {
            a += 1;
        } else {
            b += 1;
        }
    }
    pairs
}

/// Pairs of lines that stand once in each text, as many as keep their order.
fn unique(before: &[&str], after: &[&str]) -> Vec<(usize, usize)> {
    let mut seen: HashMap<&str, [(usize, usize); 2]> = HashMap::new();
    for (side, lines) in [before, after].into_iter().enumerate() {
        for (at, line) in lines.iter().enumerate() {
            let entry = &mut seen.entry(line).or_default()[side];
            *entry = (entry.0 + 1, at);
        }
    }
    let mut pairs: Vec<(usize, usize)> = seen
        .into_values()
        .filter(|[a, b]| a.0 == 1 && b.0 == 1)
        .map(|[a, b]| (a.1, b.1))
        .collect();
    pairs.sort_unstable();
    // The longest rising run of second places: the last pair of each length, and who came before.
    let mut ends: Vec<usize> = Vec::new();
    let mut before_it: Vec<Option<usize>> = vec![None; pairs.len()];
    for at in 0..pairs.len() {
        let place = ends.partition_point(|end| pairs[*end].1 < pairs[at].1);
        before_it[at] = place.checked_sub(1).map(|place| ends[place]);
        match ends.get_mut(place) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut chosen = Vec::new();
    let mut next = ends.last().copied();
    while let Some(at) = next {
        chosen.push(pairs[at]);
        next = before_it[at];
    }
    chosen.reverse();
    chosen
}

/// The unified diff of a file; none = the file is not there.
pub fn make_unified(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    let (old, new) = (
        split(before.unwrap_or_default()),
        split(after.unwrap_or_default()),
    );
    let side = |mark: &str, text: Option<&str>| match text {
        Some(_) => format!("{mark}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let mut out = format!("--- {}\n+++ {}\n", side("a", before), side("b", after));
    let hunks = hunks(&old, &new);
    let mut next = 0;
    while next < hunks.len() {
        let mut last = next;
        while last + 1 < hunks.len()
            && hunks[last + 1].before.start - hunks[last].before.end <= 2 * CONTEXT
        {
            last += 1;
        }
        group(&old, &new, &hunks[next..=last], &mut out);
        next = last + 1;
    }
    out
}

fn group(old: &[&str], new: &[&str], hunks: &[Hunk], out: &mut String) {
    let (Some(first), Some(last)) = (hunks.first(), hunks.last()) else {
        return;
    };
    let lead = first.before.start.min(CONTEXT);
    let trail = (old.len() - last.before.end).min(CONTEXT);
    let (from, to) = (first.before.start - lead, last.before.end + trail);
    let (new_from, new_to) = (first.after.start - lead, last.after.end + trail);
    let range = |from: usize, to: usize| match to - from {
        0 => format!("{from},0"),
        1 => (from + 1).to_string(),
        len => format!("{},{len}", from + 1),
    };
    let header = (range(from, to), range(new_from, new_to));
    let _ = writeln!(out, "@@ -{} +{} @@", header.0, header.1);
    let mut at = from;
    for hunk in hunks {
        show(' ', &old[at..hunk.before.start], out);
        show('-', &old[hunk.before.clone()], out);
        show('+', &new[hunk.after.clone()], out);
        at = hunk.before.end;
    }
    show(' ', &old[at..to], out);
}

fn show(mark: char, lines: &[&str], out: &mut String) {
    for line in lines {
        out.push(mark);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn apply(before: &[&str], after: &[&str], hunks: &[Hunk]) -> String {
        let mut out = String::new();
        let mut at = 0;
        for hunk in hunks {
            out.extend(before[at..hunk.before.start].iter().copied());
            out.extend(after[hunk.after.clone()].iter().copied());
            at = hunk.before.end;
        }
        out.extend(before[at..].iter().copied());
        out
    }

    proptest! {
        #[test]
        fn what_differs_makes_the_one_text_out_of_the_other(before in "([abcd]\n){0,12}[ab]?", after in "([abcd]\n){0,12}[ab]?") {
            let (old, new) = (split(&before), split(&after));
            let found = hunks(&old, &new);
            prop_assert_eq!(apply(&old, &new, &found), after);
            for hunk in &found {
                prop_assert!(!hunk.before.is_empty() || !hunk.after.is_empty());
            }
        }
    }

    #[test]
    fn large_texts_take_little_and_stay_right() {
        let old: Vec<String> = (0..100_000).map(|n| format!("line {n}\n")).collect();
        let mut new = old.clone();
        new.swap(10, 50_000);
        new.remove(70_000);
        let other: Vec<String> = (0..100_000).map(|n| format!("other {}\n", n % 7)).collect();
        let view = |lines: &'_ Vec<String>| -> Vec<&'static str> {
            lines.iter().map(|line| &*line.clone().leak()).collect()
        };
        let (old, new, other) = (view(&old), view(&new), view(&other));
        let found = hunks(&old, &new);
        assert!(found.len() < 10, "{}", found.len());
        assert_eq!(apply(&old, &new, &found), new.concat());
        assert_eq!(hunks(&old, &other).len(), 1);
    }

    #[test]
    fn a_diff_reads_as_gits_does() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn";
        let new = "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\n";
        let expected = "--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n a\n-b\n+B\n c\n d\n e\n@@ -11,4 +11,4 @@\n k\n l\n m\n-n\n\\ No newline at end of file\n+n\n";
        assert_eq!(make_unified("x", Some(old), Some(new)), expected);
        assert_eq!(
            make_unified("x", None, Some("a\n")),
            "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n"
        );
        assert_eq!(
            make_unified("x", Some("a\n"), None),
            "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
        );
    }
}
