//! Test results in a gate's output: what the common runners print, and JUnit XML
//! or JSON lines among it. Pure.

use super::forms::TestOutcome::{self, Failed, Passed};
use super::forms::{Named, of_line, unittest_name, unittest_outcome};
use super::junit::read_cases;
use super::suites::Suites;
use super::tap::is_cut_off;

use cook_core::diagnostic::without_escapes;
use std::collections::BTreeSet;

/// A test as an output names it.
pub(super) struct Told {
    /// The line with its result, counted from 0.
    pub(super) line: Option<usize>,
    pub(super) name: String,
    pub(super) outcome: TestOutcome,
}

/// Every test that the output names with a result, in the order it does.
pub fn test_outcomes(output: &str) -> Vec<(String, TestOutcome)> {
    let told = list_told(output).into_iter();
    told.map(|told| (told.name, told.outcome)).collect()
}

/// The same, and where.
pub(super) fn list_told(output: &str) -> Vec<Told> {
    let plain = without_escapes(output);
    let mut found: Vec<Told> = Vec::new();
    let mut suites = Suites::default();
    // Lines of mocha's that are no list of its yet.
    let is_count = |line: &str| {
        let count = line.trim().strip_suffix(" failing");
        count.is_some_and(|count| count.parse::<u32>().is_ok())
    };
    let mut inline = plain.lines().position(is_count).unwrap_or(0);
    let mut described: Option<String> = None;
    let mut is_again = false;
    for (at, line) in plain.lines().enumerate() {
        let named = of_line(line)
            .or_else(|| of_description(described.take()?, line))
            .or_else(|| (inline > 0).then(|| read_numbered(line))?);
        found.extend(named.and_then(|(title, outcome)| {
            let is_known = is_again && found.iter().any(|told| is_in_suite(&told.name, &title));
            (!is_known).then(|| Told {
                line: Some(at),
                name: suites.name_in_full(line, &title),
                outcome,
            })
        }));
        is_again |= line.trim().ends_with(" failing tests:");
        suites.note(line);
        inline = inline.saturating_sub(1);
        described = unittest_name(line.trim())
            .filter(|(_, rest)| rest.is_empty())
            .map(|(name, _)| name);
    }
    found.extend(read_cases(&plain).into_iter().map(|(name, outcome)| Told {
        line: None,
        name,
        outcome,
    }));
    if is_cut_off(&plain) {
        found.retain(|told| told.outcome != Passed);
    }
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

/// The node runner lists what failed once more, without suites.
fn is_in_suite(name: &str, title: &str) -> bool {
    name.strip_suffix(title)
        .is_some_and(|suites| suites.ends_with(" > "))
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

#[cfg(test)]
mod tests {
    use super::super::forms::TestOutcome::Ignored;
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
            ("ok 3 - adds up # SKIP: why", "adds up", Ignored),
            ("ok 3 - adds up # SKIPPED", "adds up", Ignored),
            ("ok 3 - adds up # Skipped for now", "adds up", Ignored),
            ("ok 3 - adds up # skipping", "adds up", Ignored),
            ("ok 3 - adds up # TODO: x", "adds up", Ignored),
            ("ok 3 - adds up #SKIP", "adds up", Ignored),
            ("ok 3 - adds up #  todo", "adds up", Ignored),
            ("ok 3 - adds # two # skip why", "adds", Ignored),
            ("not ok 3 - adds up # TODO", "adds up", Ignored),
            (
                "ok 3 - skips a TODO in C# too",
                "skips a TODO in C# too",
                Passed,
            ),
            ("ok 3 - reads \\# skip", "reads \\# skip", Passed),
            ("ok 3 - adds up # in 5 ms", "adds up", Passed),
            ("  \u{2714} one (0.5ms) # skip: why", "one", Ignored),
            ("  \u{2714} one (0.5ms) # SKIPPED", "one", Ignored),
            ("\u{2714} two (0.5ms) # write it", "two", Ignored),
            ("\u{2714} two (0.5ms) # TODO", "two", Ignored),
            ("  \u{2713} #skip skips (5 ms)", "#skip skips", Passed),
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
                    ("calc > later", Ignored),
                    ("calc > mul", Failed),
                    ("calc > skip", Ignored),
                ],
            ),
            (
                "node, spec",
                include_str!("../../tests/data/runners/node-spec.txt"),
                &[
                    ("adds", Passed),
                    ("calc", Failed),
                    ("calc > later", Ignored),
                    ("calc > mul", Failed),
                    ("calc > skip", Ignored),
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
        let expected = [("calc > adds", Passed), ("calc > mul", Failed)];
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
    fn what_junit_calls_neither_run_nor_passed_is_no_pass() {
        for (case, outcome) in [
            (
                r#"<testcase name="a" status="run" result="completed"/>"#,
                Passed,
            ),
            (r#"<testcase name="a" status="Passed"></testcase>"#, Passed),
            (r#"<testcase name="a" status="notrun"/>"#, Ignored),
            (
                r#"<testcase name="a" status="run" result="suppressed"/>"#,
                Ignored,
            ),
            (
                r#"<testcase name="a" status="run" result="skipped"/>"#,
                Ignored,
            ),
            (r#"<testcase name="a" status="disabled"/>"#, Ignored),
            (r#"<testcase name="a" result="Failed"/>"#, Failed),
            (r#"<testcase name="a" executed="False"/>"#, Ignored),
            (r#"<testcase name="a"><disabled/></testcase>"#, Ignored),
            (
                r#"<testcase classname=" status='run'" name="a" status="notrun"/>"#,
                Ignored,
            ),
            (
                r#"<testcase name="a"><system-out><![CDATA[<skipped/>]]></system-out></testcase>"#,
                Passed,
            ),
        ] {
            let found = test_outcomes(case);
            let [(name, how)] = &found[..] else {
                panic!("{case}: {found:?}");
            };
            assert!(name.ends_with('a') && *how == outcome, "{case}: {found:?}");
        }
        for text in [
            r#"<testsuite><!-- <testcase name="a"/> --></testsuite>"#,
            r#"<testsuite><!-- <testcase name="a"/>"#,
            r#"<system-out><![CDATA[<testcase name="a"/>]]></system-out>"#,
        ] {
            assert_eq!(test_outcomes(text), [], "{text}");
        }
    }

    #[test]
    fn an_output_of_tap_that_did_not_end_proves_no_test() {
        let whole = "1..2\nok 1 - adds\nok 2 - mul\n";
        assert_eq!(test_outcomes(whole).len(), 2);
        for output in [
            "1..7\nok 1 - adds\nok 2 - mul\n",
            "1..2\nok 1 - adds\nok 2 - mul\nBail out!\n",
        ] {
            assert_eq!(test_outcomes(output), [], "{output}");
        }
        let failed = test_outcomes("1..3\nok 1 - adds\nnot ok 2 - mul\n");
        assert_eq!(failed, [("mul".to_owned(), Failed)]);
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
