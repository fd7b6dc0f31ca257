//! Line-by-line comparison of two texts: the differences, and the unified diff.

use super::suite::Suite;
use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, Hunk, InternedInput, UnifiedDiffConfig};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// Line ranges that differ, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The lines in the text before.
    pub before: Range<usize>,
    /// The lines in the text after.
    pub after: Range<usize>,
}

/// The lines of a text, including their line ends.
pub fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn compare<'t>(before: &'t str, after: &'t str) -> (InternedInput<&'t str>, Diff) {
    let input = InternedInput::new(before, after);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    (input, diff)
}

/// The differences, in line order.
pub fn list_differences(before: &str, after: &str) -> Vec<Difference> {
    let (_, diff) = compare(before, after);
    let range = |lines: Range<u32>| lines.start as usize..lines.end as usize;
    let difference = |Hunk { before, after }| Difference {
        before: range(before),
        after: range(after),
    };
    diff.hunks().map(difference).collect()
}

/// The lines, counted from 0, that were added or changed.
pub fn list_changed(before: &str, after: &str) -> std::collections::BTreeSet<usize> {
    let differences = list_differences(before, after).into_iter();
    differences.flat_map(|one| one.after).collect()
}

/// The unified diff of a file, with three lines of context.
pub fn make_unified(path: &str, before: &str, after: &str) -> String {
    let (input, diff) = compare(before, after);
    let printer = BasicLineDiffPrinter(&input.interner);
    let shown = diff.unified_diff(&printer, UnifiedDiffConfig::default(), &input);
    format!("--- a/{path}\n+++ b/{path}\n{shown}")
}

// The tests that a diff touches, by name: a list for the reader, not a verdict.

/// Words that mark a test as skipped.
const SKIPS: &str = "\
    skip skipif skipIf skipUnless xfail ignore Ignore Disabled disabled xit xtest xdescribe \
    todo t.Skip";

/// The effect of a diff on a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Touch {
    /// The test is new.
    Adds,
    /// The body of the test differs.
    Edits,
    /// The test is now marked as skipped.
    Skips,
    /// The test was removed.
    Removes,
}

impl fmt::Display for Touch {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Adds => "adds",
            Self::Edits => "edits",
            Self::Skips => "marks as skipped",
            Self::Removes => "removes",
        })
    }
}

/// The tests of a file that a diff touches.
pub fn list_touched_tests(
    path: &str,
    before: Option<&str>,
    after: Option<&str>,
) -> Vec<(Touch, String)> {
    let (before, after) = (bodies(path, before), bodies(path, after));
    let mut touched = Vec::new();
    for (name, (body, skips)) in &after {
        match before.get(name) {
            None => touched.push((Touch::Adds, name.clone())),
            Some((_, skipped)) if *skips && !skipped => touched.push((Touch::Skips, name.clone())),
            Some((old, _)) if old != body => touched.push((Touch::Edits, name.clone())),
            Some(_) => {}
        }
    }
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    touched.extend(gone.map(|name| (Touch::Removes, name.clone())));
    touched
}

/// Each test by its groups and name: its body, and whether it is marked as skipped.
fn bodies(path: &str, text: Option<&str>) -> BTreeMap<String, (String, bool)> {
    let Some(text) = text else {
        return BTreeMap::new();
    };
    let suite = Suite::read(path, text);
    let all = suite.tests().map(|(test, within)| {
        let name = match within.is_empty() {
            true => test.name.clone(),
            false => format!("{within} > {}", test.name),
        };
        let text = |range: std::ops::Range<usize>| {
            let tokens = suite.tokens.get(range).unwrap_or_default();
            tokens.iter().map(|token| token.text).collect::<Vec<_>>()
        };
        let head = text(test.head.start..test.body.start);
        let body = text(test.body.clone());
        let is_skip = |word: &&str| SKIPS.split(' ').any(|skip| skip == *word);
        let skips = head.iter().any(is_skip) || body.iter().take(4).any(is_skip);
        (name, (body.join(" "), skips))
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn apply(before: &[&str], after: &[&str], hunks: &[Difference]) -> String {
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
            let found = list_differences(&before, &after);
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
        let (old, new, other) = (old.concat(), new.concat(), other.concat());
        let found = list_differences(&old, &new);
        assert!(found.len() < 10, "{}", found.len());
        assert_eq!(apply(&split(&old), &split(&new), &found), new);
        assert_eq!(list_differences(&old, &other).len(), 1);
    }

    #[test]
    fn a_diff_reads_as_gits_does() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\no\n";
        let new = "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\n";
        let expected = "--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n a\n-b\n+B\n c\n d\n e\n@@ -11,4 +11,4 @@\n k\n l\n m\n-o\n+n\n";
        assert_eq!(make_unified("x", old, new), expected);
    }

    #[test]
    fn tests_are_listed_by_what_became_of_them() {
        let before = "def test_a():\n    assert f() == 1\n\ndef test_b():\n    assert g()\n\ndef test_c():\n    assert h()\n";
        let after = "def test_a():\n    assert f() == 2\n\n@pytest.mark.skip\ndef test_b():\n    assert g()\n\ndef test_d():\n    assert h()\n";
        let found = list_touched_tests("t.py", Some(before), Some(after));
        let found: Vec<(Touch, &str)> = found
            .iter()
            .map(|(touch, name)| (*touch, name.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                (Touch::Edits, "test_a"),
                (Touch::Skips, "test_b"),
                (Touch::Adds, "test_d"),
                (Touch::Removes, "test_c"),
            ]
        );
    }
}
