//! Changed lines as they were, beside the tests as they are: tests are no part of what is taken back.

use crate::lines::{self, Hunk};
use crate::suite::{Sort, Suite};
use std::collections::BTreeSet;

/// Lines, from 1, of tests and of what stands around them for them alone.
pub(crate) fn test_lines(suite: &Suite) -> BTreeSet<usize> {
    let holds = |group: &crate::suite::Item| {
        suite
            .tests()
            .any(|(test, _)| group.body.contains(&test.head.start))
    };
    let mut found = BTreeSet::new();
    for item in &suite.items {
        let for_tests = match item.sort {
            Sort::Test => true,
            // A module of tests; a class may hold more than those.
            Sort::Group => holds(item) && item.name.to_lowercase().contains("test"),
            Sort::Helper => false,
        };
        if for_tests {
            found.extend(suite.lines(item));
        }
    }
    found
}

/// Hunks of a file outside of its tests, each as what stands in its place when it is taken back.
pub(super) fn hunks(path: &str, before: &str, after: &str) -> Vec<(Hunk, String)> {
    let (old, new) = (lines::split(before), lines::split(after));
    let of_before = test_lines(&Suite::read(path, before));
    let of_after = test_lines(&Suite::read(path, after));
    let mut found = Vec::new();
    for hunk in lines::hunks(&old, &new) {
        let put_back = hunk
            .before
            .clone()
            .filter(|at| !of_before.contains(&(at + 1)));
        let kept = hunk.after.clone().filter(|at| of_after.contains(&(at + 1)));
        let text: String = put_back
            .map(|at| old[at])
            .chain(kept.map(|at| new[at]))
            .collect();
        if text != new[hunk.after.clone()].concat() {
            found.push((hunk, text));
        }
    }
    found
}

/// What a source file is when its change is taken back and its tests stay; none = a new file, whose
/// tests would go with it. Empty texts: the file was not there.
pub fn without_change(
    path: &str,
    before: Option<&str>,
    after: Option<&str>,
) -> Option<Option<String>> {
    let (Some(old), Some(new)) = (before, after) else {
        let has_tests = after.is_some_and(|after| Suite::read(path, after).has_tests());
        return (!has_tests).then(|| before.map(str::to_owned));
    };
    let whole = lines::split(new);
    let mut out = String::new();
    let mut at = 0;
    for (hunk, text) in hunks(path, old, new) {
        out.push_str(&whole[at..hunk.after.start].concat());
        out.push_str(&text);
        at = hunk.after.end;
    }
    out.push_str(&whole[at..].concat());
    Some(Some(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_stay_when_what_they_test_is_taken_back() {
        let old = "fn a() -> u8 { 1 }\n";
        let module = "\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a_is_2() {}\n}\n";
        let new = format!("fn a() -> u8 {{ 2 }}\n{module}");
        let path = "src/a.rs";
        let back = |before, after| without_change(path, before, after);
        assert_eq!(
            back(Some(old), Some(&new)),
            Some(Some(format!("{old}{}", &module[1..])))
        );
        assert_eq!(back(Some("x"), Some("y")), Some(Some("x".to_owned())));
        assert_eq!(back(None, Some("y")), Some(None));
        assert_eq!(back(Some("y"), None), Some(Some("y".to_owned())));
        assert_eq!(back(None, Some(&new)), None, "its tests would go with it");
        let between = "#[test]\nfn t() {}\nfn a() {}\n";
        let both = format!("{old}#[test]\nfn t() {{}}\n");
        assert_eq!(back(Some(old), Some(between)), Some(Some(both)));
    }
}
