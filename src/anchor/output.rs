//! Test results in a gate's output: what the common runners print, and JUnit XML
//! or JSON lines among it. Pure.

use super::forms::TestOutcome::{self, Failed, Ignored, Passed};
use super::forms::{Named, of_line, unittest_name, unittest_outcome};

use cook_core::diagnostic::without_escapes;
use std::collections::BTreeSet;

/// Every test that the output names with a result, in the order it does.
pub fn test_outcomes(output: &str) -> Vec<(String, TestOutcome)> {
    let plain = without_escapes(output);
    let mut found: Vec<(String, TestOutcome)> = Vec::new();
    // Lines of mocha's that are no list of its yet.
    let is_count = |line: &str| {
        let count = line.trim().strip_suffix(" failing");
        count.is_some_and(|count| count.parse::<u32>().is_ok())
    };
    let mut inline = plain.lines().position(is_count).unwrap_or(0);
    let mut described: Option<String> = None;
    for line in plain.lines() {
        let outcome = of_line(line)
            .or_else(|| of_description(described.take()?, line))
            .or_else(|| (inline > 0).then(|| read_numbered(line))?);
        found.extend(outcome);
        inline = inline.saturating_sub(1);
        described = unittest_name(line.trim())
            .filter(|(_, rest)| rest.is_empty())
            .map(|(name, _)| name);
    }
    found.extend(junit(&plain));
    found
}

/// Lines that name the tests which failed, the first few, for a reader who sees only the end of an output.
pub fn describe_failed(output: &str) -> Vec<String> {
    const NAMED: usize = 5;
    let outcomes = test_outcomes(output);
    let failed = outcomes.iter().filter(|(_, outcome)| *outcome == Failed);
    let names: BTreeSet<&String> = failed.map(|(name, _)| name).collect();
    let named = names.iter().take(NAMED);
    let mut lines: Vec<String> = named.map(|name| format!("failed: {name}")).collect();
    if names.len() > NAMED {
        lines.push(format!("failed: {} more", names.len() - NAMED));
    }
    lines
}

/// `Says more. ... ok`: Python's unittest puts a test's description on a line of its own, with the
/// outcome.
fn of_description(name: String, line: &str) -> Named {
    let (_, word) = line.rsplit_once(" ... ")?;
    Some((name, unittest_outcome(word)?))
}

/// `1) name`: how mocha names a test that failed where the others are marked.
fn read_numbered(line: &str) -> Named {
    let (number, name) = line.trim().split_once(") ")?;
    let is_one = number.parse::<u32>().is_ok();
    is_one.then(|| (name.to_owned(), Failed))
}

/// True when `name` is the test's whole name or its last parts, or what its runner prints for it.
pub(super) fn names(full: &str, name: &str) -> bool {
    if unittest_name(name).is_some_and(|(dotted, rest)| rest.is_empty() && dotted == full) {
        return true;
    }
    const BETWEEN: [&str; 7] = ["::", "/", ".", " > ", " \u{203a} ", " ", "#"];
    full == name
        || full
            .strip_suffix(name)
            .is_some_and(|before| BETWEEN.iter().any(|mark| before.ends_with(mark)))
}

/// `<testcase name=… classname=…>` elements of a JUnit report.
fn junit(text: &str) -> Vec<(String, TestOutcome)> {
    let mut found = Vec::new();
    for part in text.split("<testcase").skip(1) {
        let Some((tag, rest)) = split_tag(part) else {
            continue;
        };
        let body = if tag.ends_with('/') {
            ""
        } else {
            rest.split("</testcase>").next().unwrap_or_default()
        };
        let outcome = if body.contains("<failure") || body.contains("<error") {
            Failed
        } else if body.contains("<skipped") {
            Ignored
        } else {
            Passed
        };
        if let Some(name) = attribute(tag, "name") {
            let full = match attribute(tag, "classname") {
                Some(class) if !class.is_empty() => format!("{class}::{name}"),
                _ => name,
            };
            found.push((full, outcome));
        }
    }
    found
}

/// Splits behind the tag's `>`, which may also stand within quotes.
fn split_tag(text: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '>') => return Some((&text[..at], &text[at + 1..])),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    None
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let mut rest = tag;
    loop {
        let (before, after) = rest.split_once(&format!("{name}="))?;
        let quote = after.chars().next()?;
        let (value, behind) = after.get(1..)?.split_once(quote)?;
        if before.ends_with(char::is_whitespace) {
            let value = value.replace("&quot;", "\"").replace("&apos;", "'");
            let value = value.replace("&lt;", "<").replace("&gt;", ">");
            return Some(value.replace("&amp;", "&"));
        }
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn what_runners_print() {
        for (line, name, outcome) in [
            ("test a::b ... ok", "a::b", Passed),
            ("test a::b ... FAILED", "a::b", Failed),
            ("test a::b ... ignored, slow", "a::b", Ignored),
            ("test a - should panic ... ok", "a", Passed),
            (
                "test src/lib.rs - f (line 3) ... ok",
                "src/lib.rs - f (line 3)",
                Passed,
            ),
            ("        PASS [   0.004s] pkg a::b", "pkg a::b", Passed),
            ("        FAIL [   1.0s] pkg a::b", "pkg a::b", Failed),
            (
                "tests/t.py::test_x PASSED      [ 50%]",
                "tests/t.py::test_x",
                Passed,
            ),
            ("tests/t.py::test_x SKIPPED (no) ", "", Ignored),
            ("PASSED tests/t.py::test_x", "tests/t.py::test_x", Passed),
            (
                "FAILED tests/t.py::test_x - assert 0",
                "tests/t.py::test_x",
                Failed,
            ),
            ("--- PASS: TestX (0.00s)", "TestX", Passed),
            ("    --- FAIL: TestX/sub (0.00s)", "TestX/sub", Failed),
            ("--- SKIP: TestX (0.00s)", "TestX", Ignored),
            (
                "1/2 Test #1: add ..............................   Passed    0.00 sec",
                "add",
                Passed,
            ),
            (
                "2/2 Test  #2: mul ..............................***Failed    0.01 sec",
                "mul",
                Failed,
            ),
            (
                "2/2 Test #2: mul ...***Exception: SegFault  0.1 sec",
                "mul",
                Failed,
            ),
            (
                "3/3 Test #3: later ...***Not Run (Disabled)   0.00 sec",
                "later",
                Ignored,
            ),
            ("PASS: test-add.sh", "test-add.sh", Passed),
            ("FAIL: test-mul.sh", "test-mul.sh", Failed),
            (
                " FAIL  src/a.test.ts > calc > mul",
                "src/a.test.ts > calc > mul",
                Failed,
            ),
            (
                " \u{2713} src/a.test.ts > calc > adds 2ms",
                "src/a.test.ts > calc > adds",
                Passed,
            ),
            ("  \u{25cf} calc \u{203a} mul", "calc \u{203a} mul", Failed),
            ("(pass) calc > adds [0.12ms]", "calc > adds", Passed),
            ("(fail) calc > mul [0.12ms]", "calc > mul", Failed),
            ("adds ... ok (5ms)", "adds", Passed),
            ("mul ... FAILED (5ms)", "mul", Failed),
            (
                "CalcTest#test_add = 0.00 s = .",
                "CalcTest#test_add",
                Passed,
            ),
            (
                "CalcTest#test_mul = 0.01 s = F",
                "CalcTest#test_mul",
                Failed,
            ),
            (
                "rspec ./spec/calc_spec.rb:5 # Calc multiplies",
                "Calc multiplies",
                Failed,
            ),
            ("  Passed Calc.Tests.Adds [1 ms]", "Calc.Tests.Adds", Passed),
            ("  Failed Calc.Tests.Mul [< 1 ms]", "Calc.Tests.Mul", Failed),
            ("CalcTest > adds() PASSED", "CalcTest > adds()", Passed),
            ("1) CalcTest::testMul", "CalcTest::testMul", Failed),
            (
                "Test Case '-[CalcTests testAdd]' passed (0.001 seconds).",
                "CalcTests testAdd",
                Passed,
            ),
            ("test_x (m.T) ... ok", "m.T.test_x", Passed),
            ("ok 1 - adds up", "adds up", Passed),
            ("not ok 2 - adds up", "adds up", Failed),
            ("ok 3 - adds up # SKIP why", "adds up", Ignored),
            ("  \u{2713} adds up (5 ms)", "adds up", Passed),
            (
                "  \u{1b}[32m\u{2714}\u{1b}[0m adds up (1.2ms)",
                "adds up",
                Passed,
            ),
            ("  \u{2715} adds up (5 ms)", "adds up", Failed),
            ("  \u{25cb} skipped adds up", "adds up", Ignored),
            (
                r#"{"type":"test","event":"ok","name":"a::b"}"#,
                "a::b",
                Passed,
            ),
            (
                r#"{"Action":"fail","Package":"p","Test":"TestX"}"#,
                "TestX",
                Failed,
            ),
        ] {
            let expected: Vec<(String, TestOutcome)> = if name.is_empty() {
                Vec::new()
            } else {
                vec![(name.to_owned(), outcome)]
            };
            assert_eq!(test_outcomes(line), expected, "{line}");
        }
        for line in [
            "ok",
            "test result: ok. 3 passed",
            "ERROR: the server did not start",
            "FAIL: nothing was found here",
            "downloading (1.2) ... ok",
            "1) read this",
            "\u{25cf} Console",
            "\u{2716} failing tests:",
            "{\"Action\":\"run\",\"Test\":\"T\"}",
            "PASS",
        ] {
            assert!(test_outcomes(line).is_empty(), "{line}");
        }
    }

    /// What runners printed, word for word.
    #[test]
    fn recorded_outputs() {
        for (runner, output, expected) in [
            (
                "unittest",
                include_str!("../../tests/data/runners/unittest.txt"),
                &[
                    ("test_m.Broken.setUpClass", Failed),
                    ("test_m.T.test_add", Passed),
                    ("test_m.T.test_doc", Passed),
                    ("test_m.T.test_error", Failed),
                    ("test_m.T.test_known", Ignored),
                    ("test_m.T.test_later", Ignored),
                    ("test_m.T.test_mul", Failed),
                    ("test_m.T.test_prints", Passed),
                    ("test_m.T.test_sub", Failed),
                    ("test_m.T.test_surprise", Failed),
                ][..],
            ),
            (
                "node, TAP",
                include_str!("../../tests/data/runners/node-tap.txt"),
                &[
                    ("adds", Passed),
                    ("calc", Failed),
                    ("later", Ignored),
                    ("mul", Failed),
                    ("skip", Ignored),
                ],
            ),
            (
                "node, spec",
                include_str!("../../tests/data/runners/node-spec.txt"),
                &[
                    ("adds", Passed),
                    ("calc", Failed),
                    ("later", Ignored),
                    ("mul", Failed),
                    ("skip", Ignored),
                ],
            ),
            (
                "prove",
                include_str!("../../tests/data/runners/prove.txt"),
                &[("mul", Failed), ("t/b.t", Passed)],
            ),
            (
                "cargo",
                include_str!("../../tests/data/runners/cargo.txt"),
                &[
                    ("tests::adds", Passed),
                    ("tests::later", Ignored),
                    ("tests::mul", Failed),
                ],
            ),
        ] {
            let found: BTreeSet<_> = test_outcomes(output).into_iter().collect();
            let expected: BTreeSet<_> = expected
                .iter()
                .map(|(name, outcome)| ((*name).to_owned(), *outcome))
                .collect();
            assert_eq!(found, expected, "{runner}");
        }
    }

    #[test]
    fn a_test_of_unittests_is_named_as_it_prints_it_too() {
        for name in [
            "test_mul",
            "T.test_mul",
            "test_m.T.test_mul",
            "test_mul (test_m.T.test_mul)",
            "test_mul (test_m.T)",
        ] {
            assert!(names("test_m.T.test_mul", name), "{name}");
        }
        assert!(!names("test_m.T.test_mul", "test_mul (other.T.test_mul)"));
        assert!(!names("test_m.T.test_mul", "mul"));
    }

    #[test]
    fn what_fails_is_named_where_mocha_counts_it() {
        let output = "  calc\n    \u{2714} adds\n    1) mul\n\n  1 passing (5ms)\n  1 failing\n\n  1) calc\n       mul:\n";
        let expected = [("adds", Passed), ("mul", Failed)];
        assert_eq!(
            test_outcomes(output),
            expected.map(|(name, outcome)| (name.to_owned(), outcome))
        );
        assert_eq!(test_outcomes("1) read this\n2) then that\n"), []);
    }

    #[test]
    fn junit_reports() {
        let report = r#"<testsuite><testcase classname="m.C" name="a &gt; b" time="0.1"/>
            <testcase name="bad"><failure message="x > y">no</failure></testcase>
            <testcase name="err"><error/></testcase>
            <testcase name="later"><skipped/></testcase></testsuite>"#;
        let expected = [
            ("m.C::a > b", Passed),
            ("bad", Failed),
            ("err", Failed),
            ("later", Ignored),
        ];
        assert_eq!(
            test_outcomes(report),
            expected.map(|(name, outcome)| (name.to_owned(), outcome))
        );
        assert!(test_outcomes("<testcase name=").is_empty());
    }

    #[test]
    fn a_name_is_the_whole_or_the_last_parts() {
        assert!(names("a::b::c", "a::b::c"));
        assert!(names("a::b::c", "b::c"));
        assert!(names("pkg a::b", "a::b"));
        assert!(!names("a::bc", "c"));
        assert!(!names("a::b", "a"));
        assert!(!names("a::b", ""));
    }
}
