//! Tests which defects are planted in each language, in which order, and where none are planted.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn edit<'a>(path: &'a str, before: Option<&'a str>, after: &'a str) -> Edited<'a> {
    Edited {
        path,
        class: crate::classify(path, &[]),
        before,
        after: Some(after),
    }
}

/// The defects that change one line, as `OPERATOR: new line`.
fn list_defects(path: &str, before: &str, after: &str) -> Vec<String> {
    let planting = plant(&[edit(path, Some(before), after)], "seed", 1_000);
    let mut told: Vec<String> = planting
        .mutants
        .iter()
        .filter(|mutant| mutant.operator > Operator::HunkReverted)
        .map(|mutant| {
            let came = mutant
                .diff
                .lines()
                .skip(2)
                .filter_map(|line| line.strip_prefix('+'));
            let came: Vec<&str> = came.map(str::trim).collect();
            format!("{:?}: {}", mutant.operator, came.join(" / "))
        })
        .collect();
    told.sort();
    told
}

#[test]
fn each_language_has_defects_of_its_own() {
    for (path, before, after, expected) in [
        (
            "src/a.rs",
            "fn f(x: u8) -> bool {\n    a();\n}\n",
            "fn f(x: u8) -> bool {\n    a();\n    if x < 3 && y {\n        // if z < 9\n        b(\"t\")?;\n    }\n}\n",
            &[
                "BranchRemoved: if false && (x < 3 && y) {",
                "ComparisonShifted: if x <= 3 && y {",
                "ConditionNegated: if !(x < 3 && y) {",
                "ConditionNegated: if x < 3 || y {",
                "ConstantChanged: b(\"\")?;",
                "ConstantChanged: if x < 4 && y {",
                "ErrorIgnored: let _ = b(\"t\");",
                "ReturnEmptied: false",
                "StatementDropped: ",
            ][..],
        ),
        (
            "a.py",
            "def f(x):\n    a()\n",
            "def f(x):\n    \"\"\"If x == 1.\"\"\"\n    if not x:\n        raise ValueError(\"no\")\n    self.n += 1\n    return g(x)\n",
            &[
                "ArithmeticChanged: self.n -= 1",
                "BranchRemoved: if False and (not x):",
                "ConditionNegated: if not (not x):",
                "ConstantChanged: raise ValueError(\"\")",
                "ConstantChanged: self.n += 2",
                "ErrorIgnored: pass",
                "ReturnEmptied: return None",
                "ReturnEmptied: return None",
                "StatementDropped: pass",
            ],
        ),
        (
            "a.js",
            "function f(x) {\n}\n",
            "function f(x) {\n  if (x === 'a') {\n    throw new Error('no')\n  }\n  save(x)\n  return x >= 2;\n}\n",
            &[
                "BranchRemoved: if (false && (x === 'a')) {",
                "ComparisonShifted: if (x !== 'a') {",
                "ComparisonShifted: return x > 2;",
                "ConditionNegated: if (!(x === 'a')) {",
                "ConstantChanged: if (x === '') {",
                "ConstantChanged: return x >= 3;",
                "ConstantChanged: throw new Error('')",
                "ErrorIgnored: ",
                "ReturnEmptied: return undefined",
                "ReturnEmptied: return undefined;",
                "StatementDropped: ",
            ],
        ),
        (
            "a.go",
            "package a\n\nfunc F(x int) (string, error) {\n}\n",
            "package a\n\nfunc F(x int) (string, error) {\n\tv, err := g(x)\n\tif err != nil {\n\t\treturn \"\", err\n\t}\n\ts.n = x\n\treturn v, nil\n}\n",
            &[
                "ComparisonShifted: if err == nil {",
                "ConditionNegated: if !(err != nil) {",
                "ConstantChanged: return \"planted\", err",
                "ErrorIgnored: if false && (err != nil) {",
                "ReturnEmptied: return \"\", nil",
                "ReturnEmptied: return \"\", nil",
                "ReturnEmptied: return \"\", nil",
                "StatementDropped: ",
            ],
        ),
        (
            "a.sh",
            "#!/bin/sh\n",
            "#!/bin/sh\nset -e\nif [ \"$1\" -lt 3 ]; then\n  cp a b\n  exit 2\nfi\n",
            &[
                "BranchRemoved: if false && [ \"$1\" -lt 3 ]; then",
                "ComparisonShifted: if [ \"$1\" -le 3 ]; then",
                "ConditionNegated: if ! [ \"$1\" -lt 3 ]; then",
                "ErrorIgnored: : set -e",
                "ErrorIgnored: exit 0",
                "StatementDropped: :",
            ],
        ),
        (
            "A.java",
            "class A {\n}\n",
            "class A {\n  String f(int x) {\n    if (x > 0) {\n      b.c(x);\n    }\n    return d;\n  }\n}\n",
            &[
                "BranchRemoved: if (false && (x > 0)) {",
                "ComparisonShifted: if (x >= 0) {",
                "ConditionNegated: if (!(x > 0)) {",
                "ConstantChanged: if (x > 1) {",
                "ReturnEmptied: return null;",
                "StatementDropped: ",
            ],
        ),
        (
            "a.rb",
            "def f(x)\nend\n",
            "def f(x)\n  raise E unless x == 1\n  save x\n  return x\nend\n",
            &[
                "ComparisonShifted: raise E unless x != 1",
                "ConditionNegated: raise E unless !(x == 1)",
                "ConstantChanged: raise E unless x == 2",
                "ErrorIgnored: nil",
                "ReturnEmptied: nil",
                "ReturnEmptied: return nil",
                "StatementDropped: ",
            ],
        ),
    ] {
        assert_eq!(list_defects(path, before, after), expected, "{path}");
    }
}

#[test]
fn nothing_is_planted_in_tests_documents_settings_and_what_did_not_change() {
    let old = "fn f() -> u8 {\n    a(1)\n}\n";
    let new = format!(
        "{old}// A word: if x == 1.\n#[cfg(test)]\nmod tests {{\n    use super::*;\n    #[test]\n    fn f_is_one() {{\n        assert_eq!(f(), 1);\n    }}\n}}\n"
    );
    let planting = plant(&[edit("src/a.rs", Some(old), &new)], "s", 100);
    let touched: Vec<&str> = planting
        .mutants
        .iter()
        .map(|mutant| mutant.diff.as_str())
        .collect();
    assert!(
        touched
            .iter()
            .all(|diff| !diff.contains("-        assert") && !diff.contains("-    a(1)")),
        "{touched:#?}"
    );
    for (path, text) in [
        ("tests/a.rs", "fn f() { a(1); }\n"),
        ("README.md", "if x == 1"),
        ("Cargo.toml", "a = 1\n"),
    ] {
        assert_eq!(
            plant(&[edit(path, Some(""), text)], "s", 100),
            Planting::default(),
            "{path}"
        );
    }
}

#[test]
fn of_a_language_that_nobody_knows_hunks_are_taken_back_and_no_more() {
    let (old, new) = ("a\nb\nc\nd\n", "a\nB\nc\nD\n");
    let planting = plant(&[edit("a.zig", Some(old), new)], "s", 100);
    let operators: Vec<Operator> = planting
        .mutants
        .iter()
        .map(|mutant| mutant.operator)
        .collect();
    assert_eq!(operators, [Operator::HunkReverted, Operator::HunkReverted]);
    let texts: Vec<&str> = planting
        .mutants
        .iter()
        .map(|mutant| mutant.text.as_str())
        .collect();
    assert!(texts.contains(&"a\nb\nc\nD\n") && texts.contains(&"a\nB\nc\nd\n"));
}

#[test]
fn a_large_slice_is_sampled_by_its_seed_and_each_line_comes_first() {
    let text = |lines: usize| {
        let calls = (0..lines).map(|n| format!("    g{n}({n}, \"x\");\n"));
        format!("fn f() {{\n{}}}\n", calls.collect::<String>())
    };
    let (large, small) = (text(20_000), text(1_000));
    let sample =
        |text: &str, seed| plant(&[edit("src/a.rs", Some("fn f() {\n}\n"), text)], seed, 40);
    let planting = sample(&large, "one");
    assert_eq!(planting.mutants.len(), 40);
    assert!(planting.possible > 20_000, "{}", planting.possible);
    let lines: BTreeSet<usize> = planting.mutants.iter().map(|mutant| mutant.line).collect();
    assert_eq!(
        lines.len(),
        40,
        "a line gave its second before others gave their first"
    );
    assert_eq!(sample(&small, "one"), sample(&small, "one"));
    assert_ne!(sample(&small, "one").mutants, sample(&small, "two").mutants);
}

#[test]
fn an_id_stays_when_lines_move() {
    let ids = |before: &str, after: &str| -> BTreeSet<String> {
        let planting = plant(&[edit("src/a.rs", Some(before), after)], "s", 100);
        planting
            .mutants
            .iter()
            .map(|mutant| mutant.id.clone())
            .collect()
    };
    let first = ids("fn f() {\n}\n", "fn f() {\n    a(1);\n    a(1);\n}\n");
    let moved = ids(
        "mod b;\nfn f() {\n}\n",
        "mod b;\nfn f() {\n    a(1);\n    a(1);\n}\n",
    );
    assert_eq!(first, moved);
    assert_eq!(
        first.len(),
        4,
        "the same words twice are two defects: {first:?}"
    );
}

proptest! {
    #[test]
    fn any_change_of_any_text_gives_other_texts_with_ids_of_their_own(
        before in "[a-z(){}=<>!&|;:\"'#/ \n0-9]{0,60}",
        after in "(if |return |x == 1|throw e;|raise E\n|\\{|\\}|\\(|\\)|;|\"t\"|\n|&& |err != nil|// c|'|λ){0,14}",
        pick in 0usize..8,
    ) {
        let path = ["a.rs", "a.py", "a.js", "a.go", "a.sh", "A.java", "a.rb", "a.zig"][pick];
        let planting = plant(&[edit(path, Some(&before), &after)], "s", 200);
        let mut ids = BTreeSet::new();
        for mutant in &planting.mutants {
            prop_assert!(ids.insert(mutant.id.clone()), "{}", mutant.id);
            prop_assert!(mutant.text != after);
            prop_assert!(!mutant.diff.is_empty());
        }
    }
}

#[test]
fn comments_as_they_were_are_no_defect() {
    let old = "# Says a.\necho a\necho b\necho c\n";
    let new = "# Says b, to whoever asks.\necho a\necho d\necho c\n";
    let planting = plant(&[edit("a.sh", Some(old), new)], "s", 100);
    let reverted: Vec<&str> = planting
        .mutants
        .iter()
        .filter(|mutant| mutant.operator == Operator::HunkReverted)
        .map(|mutant| mutant.text.as_str())
        .collect();
    assert_eq!(
        reverted,
        ["# Says b, to whoever asks.\necho a\necho b\necho c\n"]
    );
}

fn of(edits: &[(&str, Option<&str>, Option<&str>)]) -> Subject {
    let edits: Vec<Edited> = edits
        .iter()
        .map(|(path, before, after)| Edited {
            path,
            class: crate::classify(path, &[]),
            before: *before,
            after: *after,
        })
        .collect();
    subject(&edits)
}

#[test]
fn only_code_that_came_is_code() {
    let one = "fn a() -> u8 {\n    1\n}\n";
    let two = "fn b() -> u8 {\n    2\n}\n";
    let both = format!("{one}{two}");
    let turned = format!("{two}{one}");
    for (edits, expected) in [
        (&[("src/a.rs", Some(one), Some(&*both))][..], Subject::Code),
        (&[("src/a.rs", None, Some(one))], Subject::Code),
        (
            &[(
                "src/a.rs",
                Some("fn a() { f(1) }\n"),
                Some("fn a() { f(2) }\n"),
            )],
            Subject::Code,
        ),
        (&[("README.md", Some("a"), Some("b"))], Subject::NoSource),
        (&[("tests/a.rs", Some(one), Some(two))], Subject::NoSource),
        (&[("Cargo.toml", Some("a"), Some("b"))], Subject::NoSource),
        (
            &[(
                "src/a.rs",
                Some(one),
                Some("// why\nfn a() -> u8 {\n    1 // one\n}\n"),
            )],
            Subject::Comments,
        ),
        (
            &[(
                "a.py",
                Some("def a():\n    \"\"\"Old.\"\"\"\n    return 1\n"),
                Some("def a():\n    \"\"\"New.\"\"\"\n    return 1\n"),
            )],
            Subject::Comments,
        ),
        (&[("src/a.rs", Some(&*both), Some(one))], Subject::Deletions),
        (&[("src/a.rs", Some(one), None)], Subject::Deletions),
        (
            &[("src/a.rs", Some(&*both), Some(&*turned))],
            Subject::Moves,
        ),
        (
            &[
                ("src/a.rs", Some(&*both), Some(one)),
                ("src/b.rs", None, Some(two)),
                ("src/lib.rs", Some("mod a;\n"), Some("mod a;\nmod b;\n")),
            ],
            Subject::Moves,
        ),
        (&[("data.unknown", Some("a"), Some("b"))], Subject::Code),
        (&[], Subject::NoSource),
    ] {
        assert_eq!(of(edits), expected, "{edits:?}");
    }
}

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
