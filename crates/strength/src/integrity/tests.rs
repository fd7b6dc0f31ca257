//! Names, places and bounds of what is said; how much is said right is measured by
//! `crates/strength/tests/integrity/main.rs`.

use super::*;
use crate::classify;
use proptest::prelude::*;

fn edit<'a>(path: &'a str, before: Option<&'a str>, after: Option<&'a str>) -> Edited<'a> {
    Edited {
        path,
        class: classify(path, &[]),
        before,
        after,
    }
}

#[test]
fn a_remark_names_the_test_its_groups_and_the_line() {
    let before = "describe('cart', () => {\n  it('adds', () => {\n    expect(add(1)).toBe(1)\n  })\n  it('empties', () => {\n    expect(clear()).toEqual([])\n  })\n})\n";
    let after = "describe('cart', () => {\n  it.skip('adds', () => {\n    expect(add(1)).toBe(1)\n  })\n})\n";
    let found = weakenings(&[edit("a.test.js", Some(before), Some(after))]).remarks;
    let told: Vec<_> = found
        .iter()
        .map(|one| (one.kind, one.line, one.name.as_str(), one.what.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            (Kind::Skipped, 2, "cart > adds", "it.skip('adds', () => {"),
            (Kind::Lost, 5, "cart > empties", "it('empties', () => {"),
        ]
    );
}

#[test]
fn a_test_that_has_another_name_is_told_with_both() {
    let before = "def test_a():\n    assert parse('x=1') == {'x': 1}\n";
    let after = before.replace("test_a", "test_a_pair_is_read");
    let found = weakenings(&[edit("tests/test_a.py", Some(before), Some(&after))]);
    assert_eq!(found.remarks, []);
    assert_eq!(
        found.renamed,
        [Renamed {
            path: "tests/test_a.py".to_owned(),
            from: "test_a".to_owned(),
            to: "test_a_pair_is_read".to_owned()
        }]
    );
}

#[test]
fn thousands_of_tests_are_compared_in_time() {
    let file = |from: usize, to: usize, word: &str| -> String {
        let tests = (from..to).map(|n| {
            format!("#[test]\nfn {word}_{n}() {{\n    let x = make({n}, \"{word}\");\n    assert_eq!(x.len(), {n});\n}}\n")
        });
        tests.collect()
    };
    let (before, after) = (file(0, 2_000, "old"), file(1_000, 3_000, "new"));
    let (started, spent) = (std::time::Instant::now(), read_spent());
    let found = weakenings(&[edit("tests/a.rs", Some(&before), Some(&after))]);
    assert!(found.remarks.iter().any(|one| one.kind == Kind::Lost));
    // Beside other programs the wall says little.
    let took = match (spent, read_spent()) {
        (Some(then), Some(now)) => std::time::Duration::from_nanos(now - then),
        _ => started.elapsed(),
    };
    assert!(took.as_secs() < 30, "{took:?}");
}

/// Nanoseconds that this thread had a processor for, where the kernel says so.
fn read_spent() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split(' ').next()?.parse().ok()
}

proptest! {
    #[test]
    fn no_text_upsets_it_and_nothing_is_lost_where_nothing_changed(
        before in "(@Test\n|#\\[test\\]\n|fn |def test_a|it\\('x', |func TestA|\\(|\\)|\\{|\\}|:|\n|    |assert |assert_eq!|expect|\\.toBe|== |1|\"|'|try|catch|except|rescue|end|do|if |return|;|err != nil|sleep|skip|λ){0,24}",
        after in "(@Test\n|#\\[test\\]\n|fn |def test_a|it\\('x', |func TestA|\\(|\\)|\\{|\\}|:|\n|    |assert |assert_eq!|expect|\\.toBe|== |1|\"|'|try|catch|except|rescue|end|do|if |return|;|err != nil|sleep|skip|λ){0,24}",
        pick in 0usize..12,
    ) {
        let path = ["tests/a.rs", "test_a.py", "a.test.js", "a_test.go", "a.bats", "ATest.java", "ATest.kt", "a_test.rb", "a_test.cc", "a_test.exs", "ATest.php", "Makefile"][pick];
        let lines = after.lines().count().max(before.lines().count());
        for one in weakenings(&[edit(path, Some(&before), Some(&after))]).remarks {
            prop_assert!(one.line >= 1 && one.line <= lines.max(1), "{one:?}");
            prop_assert!(!one.path.is_empty());
        }
        prop_assert_eq!(weakenings(&[edit(path, Some(&after), Some(&after))]).remarks, vec![]);
    }
}

#[test]
fn what_opens_at_the_end_of_a_text_holds_nothing() {
    for path in ["a_test.rb", "a_test.exs", "a.test.js", "ATest.java"] {
        for text in ["def test_a{", "it('x', () => {\n  expect(", "test 'x' do {"] {
            for (before, after) in [("", text), (text, ""), (text, text)] {
                weakenings(&[edit(path, Some(before), Some(after))]);
            }
        }
    }
}
