//! What a diff takes away from the tests.

use crate::diagnostic::count_noun;
use cook_strength::{Edited, Kind, Remark, weakenings};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Losses of one kind that are told one by one.
const TOLD: usize = 8;
/// Names in one loss.
const NAMED: usize = 5;
/// Characters of a line that are shown.
const SHOWN: usize = 120;

/// What was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossKind {
    /// A test, or a file of tests, is gone.
    Deleted,
    /// A test is there and does not run.
    Skipped,
    /// Less is asserted, or a failure goes unseen.
    Weakened,
    /// A gate's run names fewer tests than its run at the basis.
    Fewer,
}

/// One loss, in words that name its place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loss {
    /// What kind.
    pub kind: LossKind,
    /// What and where.
    pub what: String,
}

/// What these edits take away. A test that stands elsewhere, or under another name, is not lost.
pub fn losses(edits: &[Edited]) -> Vec<Loss> {
    let remarks = weakenings(edits).remarks;
    let mut lost: BTreeMap<&str, Vec<&Remark>> = BTreeMap::new();
    for remark in remarks.iter().filter(|remark| remark.kind == Kind::Lost) {
        lost.entry(&remark.path).or_default().push(remark);
    }
    let is_gone = |path: &str| {
        edits
            .iter()
            .any(|edit| edit.path == path && edit.after.is_none())
    };
    let deleted = lost
        .into_iter()
        .map(|(path, tests)| describe_deleted(path, &tests, is_gone(path)));
    let weaker = remarks.iter().filter(|remark| remark.kind != Kind::Lost);
    cap(deleted.chain(weaker.map(tell_loss)).collect())
}

/// A remark in words that end with its line.
fn tell_loss(remark: &Remark) -> Loss {
    let Remark {
        path, name, what, ..
    } = remark;
    let whose = match name == path {
        true => "tests".to_owned(),
        false => format!("`{}`", cut(name)),
    };
    let (kind, what) = match remark.kind {
        Kind::Lost | Kind::Skipped => (
            LossKind::Skipped,
            format!("`{path}` sets {whose} aside: {what}"),
        ),
        Kind::Emptied => (
            LossKind::Weakened,
            format!("`{path}` leaves nothing in {whose}: {what}"),
        ),
        Kind::Assertionless => (
            LossKind::Weakened,
            format!("`{path}` asserts nothing any more in {whose}: {what}"),
        ),
        Kind::Weakened => (
            LossKind::Weakened,
            format!("`{path}` asserts less in {whose}: {what}"),
        ),
        Kind::Retried => (
            LossKind::Weakened,
            format!("`{path}` tries {whose} again: {what}"),
        ),
        Kind::SleepPadded => (
            LossKind::Weakened,
            format!("`{path}` waits for a time in {whose}: {what}"),
        ),
        Kind::ErrorSwallowing => (
            LossKind::Weakened,
            format!("`{path}` lets an error pass unseen in {whose}: {what}"),
        ),
        Kind::ExitSwallowing => (
            LossKind::Weakened,
            format!("`{path}` lets a failure pass unseen: {what}"),
        ),
    };
    loss(kind, what)
}

/// What a gate's output says: names of the tests that ran at the basis and now, and of those
/// that are set aside now.
pub fn collect_losses(
    gate: &str,
    ran_at_basis: &BTreeSet<String>,
    ran: &BTreeSet<String>,
    aside: &BTreeSet<String>,
) -> Vec<Loss> {
    let mut found = Vec::new();
    for name in ran_at_basis.intersection(aside) {
        if !ran.contains(name) {
            found.push(loss(
                LossKind::Skipped,
                format!(
                    "`{gate}` ran `{}` at the basis and sets it aside now",
                    cut(name)
                ),
            ));
        }
    }
    let gone: Vec<&str> = ran_at_basis
        .iter()
        .filter(|name| !ran.contains(*name) && !aside.contains(*name))
        .map(String::as_str)
        .collect();
    let (was, is) = (ran_at_basis.len(), ran.len() + aside.len());
    if is < was {
        let what = format!(
            "`{gate}` names {} and named {was} at the basis; gone: {}",
            count_noun(is as u64, "test"),
            some(&gone)
        );
        found.push(loss(LossKind::Fewer, what));
    } else if !gone.is_empty() {
        let what = format!(
            "`{gate}` does not name any more what it named at the basis: {}",
            some(&gone)
        );
        found.push(loss(LossKind::Deleted, what));
    }
    cap(found)
}

fn loss(kind: LossKind, what: String) -> Loss {
    Loss { kind, what }
}

fn describe_deleted(path: &str, tests: &[&Remark], is_gone: bool) -> Loss {
    let names: Vec<&str> = tests
        .iter()
        .map(|test| test.name.as_str())
        .filter(|name| *name != path)
        .collect();
    let what = match (is_gone, names.is_empty()) {
        (_, true) => format!("the test file `{path}` is deleted"),
        (true, false) => format!("the test file `{path}` is deleted: {}", some(&names)),
        (false, false) => format!("`{path}` lost tests: {}", some(&names)),
    };
    loss(LossKind::Deleted, what)
}

fn cut(line: &str) -> &str {
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => &line[..end],
        None => line,
    }
}

fn some(names: &[&str]) -> String {
    let mut shown: Vec<String> = names
        .iter()
        .take(NAMED)
        .map(|name| cut(name).to_owned())
        .collect();
    if names.len() > NAMED {
        shown.push(format!("{} more", names.len() - NAMED));
    }
    shown.join("; ")
}

/// The first of each kind, and how many more there are.
fn cap(found: Vec<Loss>) -> Vec<Loss> {
    let mut by_kind: BTreeMap<LossKind, Vec<Loss>> = BTreeMap::new();
    for one in found {
        by_kind.entry(one.kind).or_default().push(one);
    }
    let mut kept = Vec::new();
    for (kind, mut all) in by_kind {
        let more = all.len().saturating_sub(TOLD);
        all.truncate(TOLD);
        kept.append(&mut all);
        if more > 0 {
            kept.push(loss(kind, format!("{more} more of this kind")));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tell_loss(
        edits: &[(&'static str, Option<&'static str>, Option<&'static str>)],
    ) -> Vec<String> {
        let edits: Vec<Edited> = edits
            .iter()
            .map(|(path, before, after)| Edited {
                path,
                class: cook_strength::classify(path, &[]),
                before: *before,
                after: *after,
            })
            .collect();
        losses(&edits)
            .into_iter()
            .map(|loss| format!("{:?}: {}", loss.kind, loss.what))
            .collect()
    }

    const RUST: &str = "fn work() {}\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n#[test]\nfn fails() {\n    assert!(add(i32::MAX, 1).is_err());\n}\n";

    #[test]
    fn what_is_taken_away_is_named_with_its_place() {
        for (path, before, after, expected) in [
            (
                "src/lib.rs",
                RUST,
                "fn work() {}\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n",
                "Deleted: `src/lib.rs` lost tests: fails",
            ),
            (
                "tests/a.py",
                "def test_a():\n    assert f() == 1\n",
                "@pytest.mark.skip(reason='flaky')\ndef test_a():\n    assert f() == 1\n",
                "Skipped: `tests/a.py` sets `test_a` aside: @pytest.mark.skip(reason='flaky')",
            ),
            (
                "web/a.test.ts",
                "it('adds', () => {\n  expect(add(1)).toBe(2)\n  expect(add(2)).toBe(3)\n})\n",
                "it('adds', () => {\n  expect(add(1)).toBe(2)\n})\n",
                "Weakened: `web/a.test.ts` asserts less in `adds`: it('adds', () => {",
            ),
            (
                "pkg/a_test.go",
                "func TestA(t *testing.T) {\n\tif f() != 1 { t.Fatal(f()) }\n}\n",
                "func TestA(t *testing.T) {\n\tt.Skip(\"later\")\n\tif f() != 1 { t.Fatal(f()) }\n}\n",
                "Skipped: `pkg/a_test.go` sets `TestA` aside: t.Skip(\"later\")",
            ),
            (
                "tests/a.rs",
                "#[test]\nfn a() {\n    assert!(f());\n}\n",
                "#[test]\nfn a() {\n    assert!( true );\n}\n",
                "Weakened: `tests/a.rs` asserts less in `a`: assert!( true );",
            ),
            (
                "tests/b.py",
                "def test_b():\n    assert f() == 1\n",
                "def test_b():\n    assert f()\n",
                "Weakened: `tests/b.py` asserts less in `test_b`: assert f()",
            ),
            (
                "Makefile",
                "test:\n\tcargo test\n",
                "test:\n\tcargo test || true\n",
                "Weakened: `Makefile` lets a failure pass unseen: cargo test || true",
            ),
        ] {
            let found = tell_loss(&[(path, Some(before), Some(after))]);
            assert!(found.iter().any(|one| one == expected), "{path}: {found:?}");
        }
        assert_eq!(
            tell_loss(&[("tests/run.sh", Some("run it\n"), None)]),
            ["Deleted: the test file `tests/run.sh` is deleted"]
        );
    }

    #[test]
    fn what_moves_grows_or_changes_its_name_is_no_loss() {
        let more = format!("{RUST}#[test]\nfn third() {{\n    assert!(ok());\n}}\n");
        let renamed = RUST.replace("fn fails", "fn overflow_is_an_error");
        for edits in [
            &[
                ("src/a.rs", Some(RUST), None),
                ("src/b.rs", None, Some(RUST)),
            ][..],
            &[("src/a.rs", Some(RUST), Some(&*more.leak()))],
            &[("src/a.rs", Some(RUST), Some(&*renamed.leak()))],
            &[
                ("tests/run.sh", Some("x\n"), None),
                ("tests/all.sh", None, Some("x\n")),
            ],
            &[
                (
                    "tests/a.py",
                    Some("import a\ndef test_a():\n    assert a.f() == 1\n"),
                    None,
                ),
                (
                    "tests/b.py",
                    None,
                    Some("import b\ndef test_a():\n    assert b.f() == 1\n"),
                ),
            ],
            &[(
                "src/emit.rs",
                Some("a();\n"),
                Some("emit(x); unit(y); benefit(z); // #[ignore\n"),
            )],
            &[("src/a.rs", Some("assert!(x);\n"), Some("\n"))],
            &[("README.md", Some("a"), Some("run it || true"))],
        ] {
            assert_eq!(tell_loss(edits), Vec::<String>::new());
        }
    }

    #[test]
    fn a_gates_own_output_says_which_tests_are_gone() {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let (basis, ran) = (set(&["a", "b", "c", "d"]), set(&["a", "new"]));
        let found = collect_losses("make test", &basis, &ran, &set(&["b"]));
        let told: Vec<&str> = found.iter().map(|loss| &*loss.what).collect();
        assert_eq!(
            told,
            [
                "`make test` ran `b` at the basis and sets it aside now",
                "`make test` names 3 tests and named 4 at the basis; gone: c; d"
            ]
        );
        assert!(collect_losses("g", &basis, &basis, &set(&[])).is_empty());
        let as_many = collect_losses("g", &basis, &set(&["a", "b", "c", "e"]), &set(&[]));
        assert_eq!(as_many[0].kind, LossKind::Deleted);
        assert!(as_many[0].what.ends_with("at the basis: d"));
    }

    #[test]
    fn a_thousand_losses_are_told_in_a_few_lines() {
        let many: &'static str = "@Disabled\n".repeat(1_000).leak();
        let found = tell_loss(&[("src/ATest.java", Some(""), Some(many))]);
        assert_eq!(found.len(), TOLD + 1);
        assert_eq!(found[TOLD], "Skipped: 992 more of this kind");
    }
}
