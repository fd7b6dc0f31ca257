//! Rules that hold for all runners.

use cook_protocol::trials::TestResult::{self, Failed, Passed};
use cook_protocol::trials::outcomes::names;
use cook_protocol::trials::{Material, Outcomes, Report, Source};

fn read_lines(stdout: &str) -> Outcomes {
    Outcomes::read(&Material {
        stdout,
        ..Material::default()
    })
}

fn read_records(records: &str, stdout: &str) -> Outcomes {
    Outcomes::read(&Material {
        records,
        stdout,
        ..Material::default()
    })
}

fn list(outcomes: &Outcomes) -> Vec<(&str, TestResult)> {
    let tests = outcomes.tests.iter();
    tests
        .map(|(name, test)| (name.as_str(), test.result))
        .collect()
}

const RECORDS: &str = r#"{"runner":"pytest","name":"a.py::t","result":"passed"}
{"runner":"pytest","name":"a.py::u","result":"failed","attempt":0}
{"runner":"pytest","name":"a.py::u","result":"passed","attempt":1}
{"runner":"pytest","unloaded":"b.py","message":"ImportError: no"}
{"runner":"pytest","ran":2}
"#;

#[test]
fn hooks_win_over_lines_of_their_runner_alone() {
    let lines = "a.py::t FAILED\na.py::v FAILED\nrunning 1 test\ntest x ... ok\ntest result: ok. 1 passed\n";
    let outcomes = read_records(RECORDS, lines);
    assert_eq!(
        list(&outcomes),
        [("a.py::t", Passed), ("a.py::u", Passed), ("x", Passed)]
    );
    assert_eq!(outcomes.source, Source::Hook);
    assert!(!outcomes.is_partial && !outcomes.nothing_ran);
    assert_eq!(outcomes.unloaded["b.py"], "ImportError: no");
}

#[test]
fn records_that_end_before_their_end_are_partial() {
    let cut = &RECORDS[..RECORDS.len() - 30];
    assert!(read_records(cut, "").is_partial);
    let outcomes = read_records(r#"{"runner":"vitest","ran":0}"#, "");
    assert!(outcomes.nothing_ran && !outcomes.is_partial);
    // A file of records that is empty says nothing.
    assert!(!read_records("", "").nothing_ran);
}

#[test]
fn two_tests_of_one_name_are_ambiguous_and_the_worst_counts() {
    let twice = "running 2 tests\ntest x ... FAILED\ntest x ... ok\ntest result: FAILED. 1 passed; 1 failed\n";
    let outcomes = read_lines(twice);
    assert_eq!(list(&outcomes), [("x", Failed)]);
    assert!(outcomes.tests["x"].is_ambiguous);
    let outcomes = read_lines("FAILED a.py::t - no\nFAILED a.py::t - no\n");
    assert!(!outcomes.tests["a.py::t"].is_ambiguous);
    assert_eq!(outcomes.tests["a.py::t"].message.as_deref(), Some("no"));
    assert_eq!(outcomes.tests["a.py::t"].line, Some(0));
}

#[test]
fn a_report_wins_over_lines_that_say_no_more() {
    let report = |text| Report {
        path: "target/surefire-reports/TEST-x.xml",
        text,
    };
    let text = r#"<testsuite name="x"><testcase classname="x.T" name="a"/></testsuite>"#;
    let outcomes = Outcomes::read(&Material {
        stdout: "[INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0\n",
        reports: &[report(text)],
        ..Material::default()
    });
    assert_eq!(list(&outcomes), [("x.T.a", Passed)]);
    assert!(outcomes.source == Source::Report && !outcomes.omits_passed);
    for cut in [
        r#"<testsuite name="x"><testcase name="a"/>"#,
        r#"<testsuite><testcase name="a"#,
    ] {
        let outcomes = Outcomes::read(&Material {
            reports: &[report(cut)],
            ..Material::default()
        });
        assert!(outcomes.is_partial, "{cut}");
    }
}

#[test]
fn what_junit_calls_neither_run_nor_passed_is_no_pass() {
    use TestResult::Skipped;
    for (case, result) in [
        (
            r#"<testcase name="a" status="run" result="completed"/>"#,
            Passed,
        ),
        (r#"<testcase name="a" status="Passed"></testcase>"#, Passed),
        (r#"<testcase name="a" status="notrun"/>"#, Skipped),
        (
            r#"<testcase name="a" status="run" result="suppressed"/>"#,
            Skipped,
        ),
        (r#"<testcase name="a" result="Failed"/>"#, Failed),
        (r#"<testcase name="a" executed="False"/>"#, Skipped),
        (r#"<testcase name="a"><disabled/></testcase>"#, Skipped),
        (r#"<testcase name="a"><error/></testcase>"#, Failed),
        (
            r#"<testcase classname=" status='run'" name="a" status="notrun"/>"#,
            Skipped,
        ),
        (
            r#"<testcase name="a"><system-out><![CDATA[<skipped/>]]></system-out></testcase>"#,
            Passed,
        ),
        (
            r#"<testcase name="a"><!-- <failure/> --></testcase>"#,
            Passed,
        ),
    ] {
        let text = format!("<testsuite>{case}</testsuite>");
        let outcomes = read_lines(&text);
        let found: Vec<TestResult> = outcomes.tests.values().map(|test| test.result).collect();
        assert_eq!(found, [result], "{case}");
    }
    assert!(
        read_lines("<system-out><![CDATA[<testcase name=\"a\"/>]]></system-out>")
            .tests
            .is_empty()
    );
}

#[test]
fn a_line_that_looks_like_a_test_alone_is_none() {
    for line in [
        "\u{2713} built in 876ms",
        "\u{2713} 34 modules transformed.",
        "  \u{2713} copied (5 ms)",
        "\u{2714} compiled (5ms)",
        " \u{2713} dist/index.js > dist/index.min.js",
        "ok",
        "test result: ok. 3 passed",
        "ok  \texample.com/m\t0.003s",
        "ok | 4 passed | 0 failed (412ms)",
        "ERROR: the server did not start",
        "FAIL: nothing was found here",
        "downloading (1.2) ... ok",
        "1) read this",
        "  1) read this",
        "  \u{25cf} Console",
        "{\"Action\":\"run\",\"Test\":\"T\"}",
        "PASS",
        "FAIL",
        "FAILED because of this",
        "see https://x.org/a::b FAILED to load",
    ] {
        let outcomes = read_lines(&format!("{line}\n"));
        assert_eq!(list(&outcomes), [], "{line}");
    }
}

#[test]
fn an_output_that_was_cut_is_partial() {
    for output in [
        "1..7\nok 1 - a\nok 2 - b\n",
        "1..2\nok 1 - a\nBail out!  the database is gone\n",
        "TAP version 13\nok 1 - a\n# the process ended\n",
        "ok 1 - a\n    1..3\n    ok 1 - inner\nok 2 - outer\n1..2\n",
        "1..1\nok 1\n1..2\nok 1\n",
        "test a ... ok\n[cook: 900 bytes left out]\ntest b ... ok\n",
        "running 3 tests\ntest a ... ok\n",
    ] {
        assert!(read_lines(output).is_partial, "{output}");
    }
    for output in [
        "1..2\nok 1 - a\nok 2 - b # SKIP why\n",
        "TAP version 14\nok 1 - a\nnot ok 2 - b # TODO\n1..2\n",
        "1..0 # SKIP nothing here\n",
        "1..1\nok 1\n1..2\nok 1\nnot ok 2\n",
        "1..7\ntest a::b ... ok\n",
        "Bail out! is what it says\ntest a::b ... ok\n",
        "1..x\nok 1 - a\n",
        "",
    ] {
        assert!(!read_lines(output).is_partial, "{output}");
    }
}

#[test]
fn several_runners_in_one_output_all_count() {
    let output = "\u{2713} built in 876ms\n  root\n    \u{2714} slow (95ms)\n\n  1 passing (9ms)\n\n\u{2714} fast (1.2ms)\n\u{2139} tests 1\n\
        ok  \tx/y\t0.1s\n--- FAIL: TestX (0.00s)\n    a_test.go:3: no\nFAIL\nFAIL\tx/z\t0.1s\n";
    let outcomes = read_lines(output);
    assert_eq!(list(&outcomes), [("x/z.TestX", Failed)]);
    assert!(outcomes.omits_passed);
}

#[test]
fn a_name_is_the_whole_or_the_last_parts() {
    for (full, claimed) in [
        ("a::b::c", "a::b::c"),
        ("a::b::c", "b::c"),
        ("pkg a::b", "a::b"),
        ("example.com/m/a.TestX/sub", "TestX/sub"),
        ("example.com/m/a.TestX/sub", "a.TestX/sub"),
        ("a.test.js > calc > adds", "calc > adds"),
        ("CalcTest#test_add", "test_add"),
        ("m.T.test_mul", "test_mul (m.T.test_mul)"),
        ("m.T.test_mul", "test_mul (m.T)"),
    ] {
        assert!(names(full, claimed), "{full} {claimed}");
    }
    for (full, claimed) in [
        ("a::bc", "c"),
        ("a::b", "a"),
        ("a::b", ""),
        ("m.T.test_mul", "test_mul (other.T.test_mul)"),
    ] {
        assert!(!names(full, claimed), "{full} {claimed}");
    }
}

/// Every recorded output cut, doubled, and with bytes exchanged at places that a fixed sequence picks.
#[test]
fn no_text_makes_it_panic() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut pick = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below.max(1) as u64).unwrap_or(0)
    };
    let mut all = Vec::new();
    for file in std::fs::read_dir(super::directory()).expect("outputs") {
        let path = file.expect("a file").path();
        all.push(std::fs::read(path).expect("bytes"));
    }
    let odd = [
        "\u{1b}[",
        "\r",
        "\0",
        "\u{2713} ",
        "<",
        ">",
        "\"",
        "1..",
        " ... ",
        "::",
        "(",
        " - ",
        "\u{e9}",
    ];
    for _ in 0..400 {
        let mut bytes = all[pick(all.len())].clone();
        let other = &all[pick(all.len())];
        bytes.truncate(pick(bytes.len()) + 1);
        bytes.extend_from_slice(&other[pick(other.len())..]);
        for _ in 0..8 {
            let at = pick(bytes.len());
            let word = odd[pick(odd.len())].bytes();
            bytes.splice(at..at, word);
            let at = pick(bytes.len());
            bytes[at] = bytes[at].wrapping_add(1);
        }
        let text = String::from_utf8_lossy(&bytes);
        Outcomes::read(&Material {
            root: "/tree",
            stdout: &text,
            stderr: &text,
            records: &text,
            reports: &[Report {
                path: "a.xml",
                text: &text,
            }],
        });
    }
}

#[test]
fn a_million_names_are_read_in_part() {
    let mut output = String::from("running 1000000 tests\n");
    for at in 0..1_000_000 {
        output += &format!("test module::of::some::depth::test_{at} ... ok\n");
    }
    output += "test result: ok.\n";
    let start = std::time::Instant::now();
    let outcomes = read_lines(&output);
    assert!(outcomes.is_partial);
    assert_eq!(outcomes.tests.len(), 200_000);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
