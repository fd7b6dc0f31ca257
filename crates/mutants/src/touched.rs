//! Which tests a diff touches, by their names: a list for a reader, and no verdict.

use crate::suite::Suite;
use std::collections::BTreeMap;
use std::fmt;

/// Words by which a test is set aside where it stands.
const SKIPS: [&str; 14] = [
    "skip",
    "skipif",
    "skipIf",
    "skipUnless",
    "xfail",
    "ignore",
    "Ignore",
    "Disabled",
    "disabled",
    "xit",
    "xtest",
    "xdescribe",
    "todo",
    "t.Skip",
];

/// What a diff does to a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Touch {
    /// It was not there.
    Adds,
    /// Its body differs.
    Edits,
    /// It has a mark that sets tests aside, and had none.
    Skips,
    /// It is not there any more.
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

/// Each test by its groups and name: its body, and whether a mark sets it aside.
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
        let is_skip = |word: &&str| SKIPS.contains(word);
        let skips = head.iter().any(is_skip) || body.iter().take(4).any(is_skip);
        (name, (body.join(" "), skips))
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
