//! Lines of a text: which are new against another, where some stand, whether they can be told from
//! others.

use super::RepoError;
use cook_core::digest::hex;
use git2::{DiffOptions, Patch};
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::Range;

/// Characters, white space not counted, that lines need to be told from others.
const TELLING: usize = 6;
/// Lines with the same beginning that are looked at for one that was broken otherwise.
const MAX_ALIKE: usize = 64;
/// Lines that are digested while some are looked for by their digest alone.
const MAX_DIGESTED: usize = 4_000_000;

/// Lines that differ, both counted from 0; one of the two may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Lines of the old text.
    pub old: Range<usize>,
    /// Lines of the new text that stand in their place.
    pub new: Range<usize>,
}

/// Where two texts differ, in order.
///
/// # Errors
/// When libgit2 cannot compare them.
pub fn hunks(old: &[u8], new: &[u8]) -> Result<Vec<Hunk>, RepoError> {
    if old == new {
        return Ok(Vec::new());
    }
    let mut options = DiffOptions::new();
    options.context_lines(0).force_text(true);
    let patch = Patch::from_buffers(old, None, new, None, Some(&mut options))?;
    // A side without lines is named by the line before it.
    let range = |start: u32, count: u32| {
        let first = (start as usize).saturating_sub(usize::from(count > 0));
        first..first + count as usize
    };
    (0..patch.num_hunks())
        .map(|number| {
            let (hunk, _) = patch.hunk(number)?;
            Ok(Hunk {
                old: range(hunk.old_start(), hunk.old_lines()),
                new: range(hunk.new_start(), hunk.new_lines()),
            })
        })
        .collect()
}

/// A text's lines, without their ends.
pub fn split_lines(text: &[u8]) -> Vec<&[u8]> {
    let whole = text.strip_suffix(b"\n").unwrap_or(text);
    let lines = whole.split(|byte| *byte == b'\n');
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines
        .take(if text.is_empty() { 0 } else { usize::MAX })
        .collect()
}

/// The lines say enough to be told from others.
pub fn is_telling<L: AsRef<[u8]>>(lines: &[L]) -> bool {
    let parts = lines.iter().flat_map(|line| line.as_ref().utf8_chunks());
    let characters = parts.flat_map(|part| part.valid().chars());
    let telling = characters.filter(|c| !c.is_whitespace());
    telling.take(TELLING).count() == TELLING
}

/// SHA-256 of lines, whatever their ends were.
pub fn digest_lines<L: AsRef<[u8]>>(lines: &[L]) -> String {
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(line.as_ref());
        hash.update(b"\n");
    }
    hex(&hash.finalize())
}

/// A line without its white space: what a formatter leaves as it is.
fn squeeze(line: &[u8]) -> impl Iterator<Item = u8> + '_ {
    let bytes = line.iter().copied();
    bytes.filter(|byte| !byte.is_ascii_whitespace())
}

/// Lines that are the same but for white space, however they are broken.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Reshaped {
    /// For each new line the old one that it is, or is a part of; none where it says something else.
    pub from: Vec<Option<usize>>,
    /// Old lines that the new ones hold.
    pub stay: BTreeSet<usize>,
}

/// What of the old lines the new ones hold in another shape, or in another order.
pub fn find_reshaped<L: AsRef<[u8]>>(old: &[L], new: &[L]) -> Reshaped {
    let squeezed = |lines: &[L]| -> Vec<Vec<u8>> {
        let lines = lines.iter();
        lines.map(|line| squeeze(line.as_ref()).collect()).collect()
    };
    let (were, are) = (squeezed(old), squeezed(new));
    if were.concat() == are.concat() {
        return Reshaped {
            from: align(&were, &are),
            stay: (0..old.len()).collect(),
        };
    }
    let mut found = Reshaped {
        from: vec![None; new.len()],
        stay: BTreeSet::new(),
    };
    let mut known: HashMap<&[u8], VecDeque<usize>> = HashMap::new();
    for (at, line) in were.iter().enumerate() {
        known.entry(line).or_default().push_back(at);
    }
    for (from, line) in found.from.iter_mut().zip(&are) {
        *from = known.get_mut(&line[..]).and_then(VecDeque::pop_front);
        found.stay.extend(*from);
    }
    find_broken(&were, &are, &mut found);
    found
}

/// Among lines that are unlike, those that were broken otherwise.
fn find_broken(old: &[Vec<u8>], new: &[Vec<u8>], found: &mut Reshaped) {
    let mut begins: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (at, line) in old.iter().enumerate() {
        if let (Some(start), false) = (line.get(..TELLING), found.stay.contains(&at)) {
            begins.entry(start).or_default().push(at);
        }
    }
    for at in 0..new.len() {
        let places = new[at].get(..TELLING).and_then(|start| begins.get(start));
        let places = places.filter(|places| places.len() <= MAX_ALIKE);
        for &place in places.into_iter().flatten() {
            if found.from[at].is_some() || found.stay.contains(&place) {
                continue;
            }
            let were = (place..old.len()).take_while(|at| !found.stay.contains(at));
            let are = (at..new.len()).take_while(|at| found.from[*at].is_none());
            if let Some((took, gave)) = same_text(were.map(|at| &old[at]), are.map(|at| &new[at])) {
                let places = align(&old[place..place + took], &new[at..at + gave]);
                for (from, of) in found.from[at..].iter_mut().zip(places) {
                    *from = of.map(|of| place + of);
                }
                found.stay.extend(place..place + took);
            }
        }
    }
}

/// How many lines of each side hold the same text, from the first on.
fn same_text<'a>(
    mut olds: impl Iterator<Item = &'a Vec<u8>>,
    mut news: impl Iterator<Item = &'a Vec<u8>>,
) -> Option<(usize, usize)> {
    let (mut was, mut is) = (&olds.next()?[..], &news.next()?[..]);
    let (mut took, mut gave) = (1, 1);
    loop {
        let common = was.len().min(is.len());
        if was[..common] != is[..common] {
            return None;
        }
        (was, is) = (&was[common..], &is[common..]);
        match (was.is_empty(), is.is_empty()) {
            (true, true) => return Some((took, gave)),
            (true, false) => (was, took) = (olds.next()?, took + 1),
            (false, _) => (is, gave) = (news.next()?, gave + 1),
        }
    }
}

/// The same characters on both sides: where each new line begins among the old ones.
fn align(old: &[Vec<u8>], new: &[Vec<u8>]) -> Vec<Option<usize>> {
    let mut ends = Vec::with_capacity(old.len());
    let mut end = 0;
    for line in old {
        end += line.len();
        ends.push(end);
    }
    let mut begin = 0;
    let place = |line: &Vec<u8>| {
        let at = ends.partition_point(|end| *end <= begin);
        begin += line.len();
        (at < ends.len()).then_some(at)
    };
    new.iter().map(place).collect()
}

/// Lines around one that are looked for together with it.
const AROUND: usize = 8;

/// The line of the block stands in the text, by itself or with those beside it, however they are
/// broken into lines there.
pub fn stands_reshaped<L: AsRef<[u8]>, M: AsRef<[u8]>>(text: &[L], block: &[M], at: usize) -> bool {
    let here: Vec<Vec<u8>> = text
        .iter()
        .map(|line| squeeze(line.as_ref()).collect())
        .collect();
    let stands = |wanted: &[u8]| {
        (0..here.len()).any(|start| {
            let mut rest = wanted;
            for line in &here[start..] {
                match rest.strip_prefix(line.as_slice()) {
                    Some([]) => return true,
                    Some(more) => rest = more,
                    None => return false,
                }
            }
            false
        })
    };
    let first = at.saturating_sub(AROUND);
    let last = (at + AROUND).min(block.len().saturating_sub(1));
    (first..=at).any(|from| {
        (at..=last).any(|to| {
            let run = block.get(from..=to).unwrap_or_default().iter();
            let wanted: Vec<u8> = run.flat_map(|line| squeeze(line.as_ref())).collect();
            !wanted.is_empty() && stands(&wanted)
        })
    })
}

/// Wherever these lines stand in the text, in linear time.
pub fn find_lines<L: PartialEq>(text: &[L], lines: &[L]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if lines.is_empty() {
        return found;
    }
    // Knuth, Morris and Pratt: how much of the beginning ends at each line.
    let mut borders = vec![0; lines.len()];
    let mut matched = 0;
    for at in 1..lines.len() {
        while matched > 0 && lines[at] != lines[matched] {
            matched = borders[matched - 1];
        }
        matched += usize::from(lines[at] == lines[matched]);
        borders[at] = matched;
    }
    matched = 0;
    for (at, line) in text.iter().enumerate() {
        while matched > 0 && *line != lines[matched] {
            matched = borders[matched - 1];
        }
        matched += usize::from(*line == lines[matched]);
        if matched == lines.len() {
            found.push(at + 1 - matched..at + 1);
            matched = borders[matched - 1];
        }
    }
    found
}

/// Wherever so many lines with this digest stand; nowhere when that takes too long to tell.
pub fn find_digest<L: AsRef<[u8]>>(text: &[L], count: usize, sha256: &str) -> Vec<Range<usize>> {
    let windows = (text.len() + 1).saturating_sub(count);
    if count == 0 || windows.saturating_mul(count) > MAX_DIGESTED {
        return Vec::new();
    }
    let here = text.windows(count).enumerate();
    let here = here.filter(|(_, window)| digest_lines(window) == sha256);
    here.map(|(at, _)| at..at + count).collect()
}

/// The two texts as a unified diff; empty when they are equal.
///
/// # Errors
/// When libgit2 cannot compare them.
pub fn make_unified_diff(path: &str, old: &str, new: &str) -> Result<String, RepoError> {
    if old == new {
        return Ok(String::new());
    }
    let mut options = DiffOptions::new();
    options.force_text(true);
    let file = Some(std::path::Path::new(path));
    let mut patch = Patch::from_buffers(
        old.as_bytes(),
        file,
        new.as_bytes(),
        file,
        Some(&mut options),
    )?;
    let bytes = patch.to_buf()?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_without_lines_is_where_they_would_stand() {
        let found = |old: &[u8], new: &[u8]| {
            let hunks = hunks(old, new).unwrap();
            let ranges = hunks.into_iter().map(|hunk| (hunk.old, hunk.new));
            ranges.collect::<Vec<_>>()
        };
        let old = b"a\nb\nc\nd\n";
        assert_eq!(found(old, b"a\nB\nc\nd\ne\n"), [(1..2, 1..2), (4..4, 4..5)]);
        assert_eq!(found(old, b"a\nd\n"), [(1..3, 1..1)]);
        assert_eq!(found(old, old), []);
        assert_eq!(found(b"", b"a\nb\n"), [(0..0, 0..2)]);
        assert_eq!(found(b"b\n", b"a\nb\n"), [(0..0, 0..1)]);
    }

    #[test]
    fn lines_are_found_wherever_they_stand() {
        let split = |text: &'static str| text.split(' ').collect::<Vec<_>>();
        assert_eq!(
            find_lines(&split("a b a b a"), &split("a b a")),
            [0..3, 2..5]
        );
        assert_eq!(
            find_lines(&split("a a b a a a b"), &split("a a b")),
            [0..3, 4..7]
        );
        assert!(find_lines(&split("a b"), &split("a b c")).is_empty());
        assert!(find_lines(&split("a b"), &[]).is_empty());
        let wanted = digest_lines(&["b", "a"]);
        assert_eq!(find_digest(&split("a b a b a"), 2, &wanted), [1..3, 3..5]);
        assert!(find_digest(&split("b"), 2, &wanted).is_empty());
    }

    #[test]
    fn lines_that_were_broken_otherwise_are_found_beside_others() {
        let found = |old: &[&str], new: &[&str]| {
            let found = find_reshaped(old, new);
            (found.from, Vec::from_iter(found.stay))
        };
        let old = ["the first line", "is gone", "the third line is long", "}"];
        assert_eq!(
            found(
                &old,
                &["the first", "  line", "is new", "the third", "line is long"]
            ),
            (vec![Some(0), Some(0), None, Some(2), Some(2)], vec![0, 2])
        );
        assert_eq!(
            found(
                &["is new", "the first", "line", "was"],
                &["the first line", "x"]
            ),
            (vec![Some(1), None], vec![1, 2])
        );
        // All of it, and no more than a beginning.
        assert_eq!(
            found(&["one long", "line"], &["one long line"]),
            (vec![Some(0)], vec![0, 1])
        );
        assert_eq!(
            found(&["the first line", "x"], &["the first", "of all"]),
            (vec![None, None], vec![])
        );
    }

    #[test]
    fn braces_tell_nothing() {
        assert!(!is_telling(&["  }", "\t)", "\u{e9}\u{e9}\u{e9}"]));
        assert!(is_telling(&["  x(1);", "}"]));
    }

    #[test]
    fn lines_have_no_ends() {
        assert_eq!(split_lines(b""), Vec::<&[u8]>::new());
        assert_eq!(split_lines(b"\n"), [b""]);
        assert_eq!(split_lines(b"a\r\nb"), [b"a", b"b"]);
    }
}
