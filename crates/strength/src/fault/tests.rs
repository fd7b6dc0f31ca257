//! Faults of changes of every kind.

use super::*;

fn kinds(edits: &[Edited]) -> Vec<FaultKind> {
    faults(edits, "seed")
        .iter()
        .map(|fault| fault.kind)
        .collect()
}

fn make_edited<'a>(
    path: &'a str,
    class: Class,
    before: Option<&'a str>,
    after: &'a str,
) -> Edited<'a> {
    Edited {
        path,
        class,
        before,
        after: Some(after),
    }
}

const SOURCE: &str = "def total(items):\n    if not items:\n        raise ValueError(\"none\")\n    return sum(items)\n";
const TESTS: &str = "def test_total():\n    assert total([1, 2]) == 3\n\ndef test_none():\n    with raises(ValueError):\n        total([])\n";

#[test]
fn a_change_has_faults_of_each_kind_that_fits() {
    let edits = [
        make_edited(
            "cart.py",
            Class::Source,
            Some("def total(items):\n    return 0\n"),
            SOURCE,
        ),
        make_edited("test_cart.py", Class::Test, None, TESTS),
        make_edited(
            "README.md",
            Class::Docs,
            Some("# cart\n"),
            "# cart\n\nNo item is an error.\n",
        ),
    ];
    let found = faults(&edits, "seed");
    let kinds: BTreeSet<FaultKind> = found.iter().map(|fault| fault.kind).collect();
    for kind in [
        FaultKind::Unmet,
        FaultKind::TestDeleted,
        FaultKind::FalseDocs,
        FaultKind::SecretPrinted,
        FaultKind::Defect,
    ] {
        assert!(kinds.contains(&kind), "{kind:?} of {kinds:?}");
    }
    // No kind comes a second time before each came once.
    let first: BTreeSet<FaultKind> = found[..kinds.len()].iter().map(|one| one.kind).collect();
    assert_eq!(first, kinds);
    let ids: BTreeSet<&str> = found.iter().map(|fault| fault.id.as_str()).collect();
    assert_eq!(ids.len(), found.len());
    for fault in &found {
        let edit = edits.iter().find(|edit| edit.path == fault.path).unwrap();
        assert_ne!(edit.after, fault.text.as_deref(), "{fault:?}");
    }
    assert_eq!(
        found,
        faults(&edits, "seed"),
        "the same seed, the same faults"
    );
    assert_ne!(found, faults(&edits, "other"));
}

#[test]
fn a_test_that_is_gone_takes_its_lines_alone() {
    let edits = [make_edited("test_cart.py", Class::Test, None, TESTS)];
    let texts: BTreeSet<Option<String>> = faults(&edits, "s")
        .into_iter()
        .map(|fault| fault.text)
        .collect();
    let first = "\ndef test_none():\n    with raises(ValueError):\n        total([])\n";
    assert!(texts.contains(&Some(first.to_owned())), "{texts:?}");
    let before = "check \"no number\" 2 roman\nexit \"$failed\"\n";
    let after = "check \"no number\" 2 roman\ncheck \"4\" IV roman 4\nexit \"$failed\"\n";
    let edits = [make_edited(
        "tests/run.sh",
        Class::Test,
        Some(before),
        after,
    )];
    let texts: Vec<Option<String>> = faults(&edits, "s")
        .into_iter()
        .map(|fault| fault.text)
        .collect();
    assert_eq!(texts, [Some(before.to_owned())]);
}

#[test]
fn what_brings_nothing_has_no_fault() {
    assert!(kinds(&[]).is_empty());
    let same = make_edited("a.py", Class::Source, Some(SOURCE), SOURCE);
    assert_eq!(kinds(&[same]), []);
    let gone = Edited {
        path: "a.py",
        class: Class::Source,
        before: Some(SOURCE),
        after: None,
    };
    assert_eq!(kinds(&[gone]), []);
}

#[test]
fn secrets_are_printed_where_a_statement_may_stand() {
    for (path, before, after) in [
        ("run.sh", "set -eu\n", "set -eu\necho 1\nfoo a \\\n  b\n"),
        ("a.rs", "fn f() {\n}\n", "fn f() {\n    g();\n}\n"),
        ("a.js", "function f() {\n}\n", "function f() {\n  g()\n}\n"),
        ("a.py", "def f():\n", "def f():\n    g()\n"),
    ] {
        let edits = [make_edited(path, Class::Source, Some(before), after)];
        let found = faults(&edits, "s");
        let secret = found
            .iter()
            .find(|one| one.kind == FaultKind::SecretPrinted);
        let text = secret
            .and_then(|one| one.text.as_deref())
            .unwrap_or_else(|| panic!("{path}"));
        assert_eq!(text.lines().count(), after.lines().count() + 1, "{text}");
        assert!(!text.contains("\\\nenv"), "{text}");
    }
}
