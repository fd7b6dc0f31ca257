//! Kinds of files, by their paths and their texts.

use crate::class::{Class, classify};
use crate::language::Language;
use crate::suite::Suite;

/// Directories whose code is never what ships.
const OF_TESTS: [&str; 7] = [
    "test",
    "tests",
    "spec",
    "specs",
    "__tests__",
    "__snapshots__",
    "testdata",
];

/// The path leads through a directory whose code is taken for tests.
pub fn is_in_tests(path: &str) -> bool {
    let lower = path.to_lowercase();
    let mut dirs = lower.split('/');
    dirs.next_back();
    dirs.any(|dir| OF_TESTS.contains(&dir))
}

/// The class of a path whose texts are known: what ships may stand where documents do, and bear a name like a test's.
/// In a directory of tests code is taken for tests.
pub fn classify_texts(path: &str, gates: &[String], texts: [Option<&str>; 2]) -> Class {
    let class = classify(path, gates);
    let texts = texts.into_iter().flatten();
    let is_code = |text: &str| Language::of(path, text) != Language::Other;
    let is_source = match class {
        Class::Docs => texts.clone().any(is_code),
        Class::Test => {
            !is_in_tests(path)
                && texts.clone().any(is_code)
                && !texts
                    .clone()
                    .any(|text| Suite::read(path, text).has_tests())
        }
        Class::Source | Class::Gate => false,
    };
    match is_source {
        true => Class::Source,
        false => class,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ships_is_known_by_its_text_where_its_place_says_something_else() {
        let code = "def works():\n    return 1\n";
        let tests = "def test_works():\n    assert works() == 1\n";
        for (path, text, class) in [
            ("docs/calc.py", code, Class::Source),
            ("docs/a.md", code, Class::Docs),
            ("LICENSE", code, Class::Docs),
            ("app/spec.py", code, Class::Source),
            ("app/impl_test.py", code, Class::Source),
            ("app/impl_test.py", tests, Class::Test),
            ("fixtures/calc.py", code, Class::Source),
            ("fixtures/calc.json", "{}", Class::Test),
            ("tests/helper.py", code, Class::Test),
            ("noxfile.py", code, Class::Gate),
        ] {
            assert_eq!(
                classify_texts(path, &[], [None, Some(text)]),
                class,
                "{path}"
            );
        }
    }
}
