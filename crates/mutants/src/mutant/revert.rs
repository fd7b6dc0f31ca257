//! Changed lines as they were, beside the tests as they are: tests are no part of what is taken back. And a
//! change that changes nothing: a gate that notices it looks at the text and not at what it does.

use crate::language::Language;
use crate::line_diff::{self, Difference};
use crate::suite::{Item, Sort, Suite};
use std::collections::BTreeSet;

/// Lines, from 1, of tests and of what stands around them for them alone.
pub(crate) fn test_lines(suite: &Suite) -> BTreeSet<usize> {
    let holds = |group: &Item| {
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
pub(super) fn hunks(path: &str, before: &str, after: &str) -> Vec<(Difference, String)> {
    let (old, new) = (line_diff::split(before), line_diff::split(after));
    let of_before = test_lines(&Suite::read(path, before));
    let of_after = test_lines(&Suite::read(path, after));
    let mut found = Vec::new();
    for hunk in line_diff::list_differences(before, after) {
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
    let whole = line_diff::split(new);
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

/// The text with a comment behind it; none where its language is not known, or what stands at its end
/// may be no code.
pub fn with_comment(path: &str, text: &str) -> Option<String> {
    let language = Language::of(path, text);
    let mark = language
        .comments()
        .first()
        .filter(|_| language != Language::Other)?;
    let is_markup = path.ends_with(".vue") || path.ends_with(".svelte");
    let ends_before = text.contains("?>") || text.lines().any(|line| line == "__END__");
    if is_markup || ends_before {
        return None;
    }
    let comment = format!("{mark} Nothing else is changed.\n");
    let mut commented = String::new();
    // Behind the first line too, where that is a line of its own.
    let rest = match text.split_once('\n') {
        Some((first, rest)) if ends_with_itself(first) => {
            commented = format!("{first}\n{comment}");
            rest
        }
        _ => text,
    };
    commented.push_str(rest);
    if !commented.is_empty() && !commented.ends_with('\n') {
        commented.push('\n');
    }
    Some(commented + &comment)
}

/// What begins in the line does not go on in the next.
fn ends_with_itself(line: &str) -> bool {
    let goes_on = ["\"\"\"", "'''", "/*", "`", "<<"];
    let last = line.trim_end();
    // A statement may go on wherever a bracket or an operator is open.
    let is_whole = last.is_empty()
        || ["#", "//", ";", ")", "}"]
            .iter()
            .any(|mark| line.starts_with(mark) || last.ends_with(mark));
    is_whole && !goes_on.iter().any(|mark| line.contains(mark))
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

    #[test]
    fn a_comment_is_one_of_the_language() {
        let with = with_comment;
        let said = "# Nothing else is changed.\n";
        assert_eq!(with("a.sh", "echo a").unwrap(), format!("echo a\n{said}"));
        assert_eq!(
            with("a.sh", "#!/bin/sh\necho a\n").unwrap(),
            format!("#!/bin/sh\n{said}echo a\n{said}")
        );
        assert_eq!(
            with("a.rs", "fn a() {}\n").unwrap(),
            "fn a() {}\n// Nothing else is changed.\n// Nothing else is changed.\n"
        );
        // A text of several lines, a list that goes on.
        for first in ["\"\"\"What it does.", "a = [", "x = 1 +"] {
            let text = format!("{first}\nb\n");
            assert_eq!(with("a.py", &text).unwrap(), format!("{text}{said}"));
        }
        assert_eq!(with("a.txt", "a\n"), None);
        assert_eq!(with("a.vue", "<a/>\n"), None);
        assert_eq!(with("a.php", "<?php ?>\n"), None);
        assert_eq!(with("a.rb", "a\n__END__\nb\n"), None);
    }
}
