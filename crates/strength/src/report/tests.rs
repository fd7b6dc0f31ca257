//! Reports as the tools write them, and what is none.

use super::*;
use proptest::prelude::*;

const CARGO: &str = r#"{
  "outcomes": [
    {"scenario": "Baseline", "summary": "Success", "log_path": "log/baseline.log", "phase_results": []},
    {"scenario": {"Mutant": {"name": "src/lib.rs:3:5: replace add -> i32 with 0", "package": "calc", "file": "src/lib.rs",
      "function": {"function_name": "add", "return_type": "-> i32", "span": {"start": {"line": 2, "column": 1}, "end": {"line": 4, "column": 2}}},
      "span": {"start": {"line": 3, "column": 5}, "end": {"line": 3, "column": 10}}, "replacement": "0", "genre": "FnValue"}},
     "summary": "CaughtMutant", "log_path": "log/a.log", "diff_path": "diff/a.diff", "phase_results": []},
    {"scenario": {"Mutant": {"name": "src/lib.rs:9:7: replace < with ==", "package": "calc", "file": "src/lib.rs", "function": null,
      "span": {"start": {"line": 9, "column": 7}, "end": {"line": 9, "column": 8}}, "replacement": "==", "genre": "BinaryOperator"}},
     "summary": "MissedMutant", "log_path": "log/b.log", "diff_path": "diff/b.diff", "phase_results": []},
    {"scenario": {"Mutant": {"package": "calc", "file": "src/lib.rs", "line": 12, "function": "f", "replacement": "Default::default()", "genre": "FnValue"}},
     "summary": "Unviable", "log_path": "log/c.log", "phase_results": []},
    {"scenario": {"Mutant": {"package": "calc", "file": "src/lib.rs", "line": 14, "function": "g", "replacement": "()", "genre": "FnValue"}},
     "summary": "Timeout", "log_path": "log/d.log", "phase_results": []}
  ],
  "total_mutants": 4, "missed": 1, "caught": 1, "timeout": 1, "unviable": 1, "success": 0, "cargo_mutants_version": "25.0.0"
}"#;

const STRYKER: &str = r#"{
  "schemaVersion": "1.0", "thresholds": {"high": 80, "low": 60},
  "files": {"src/a.js": {"language": "javascript", "source": "const s = '😀'; if (a < b) {\n  go()\n}\n", "mutants": [
    {"id": "1", "mutatorName": "EqualityOperator", "replacement": "a <= b", "status": "Survived",
     "location": {"start": {"line": 1, "column": 21}, "end": {"line": 1, "column": 26}}},
    {"id": "2", "mutatorName": "BlockStatement", "replacement": "{}", "status": "Killed",
     "location": {"start": {"line": 1, "column": 28}, "end": {"line": 3, "column": 2}}},
    {"id": "3", "mutatorName": "StringLiteral", "replacement": "\"\"", "status": "NoCoverage",
     "location": {"start": {"line": 1, "column": 11}, "end": {"line": 1, "column": 15}}},
    {"id": "4", "mutatorName": "X", "status": "CompileError", "location": {"start": {"line": 2, "column": 3}, "end": {"line": 2, "column": 7}}},
    {"id": "5", "mutatorName": "X", "status": "Ignored", "location": {"start": {"line": 2, "column": 3}, "end": {"line": 2, "column": 7}}},
    {"id": "6", "mutatorName": "X", "status": "Timeout", "location": {"start": {"line": 2, "column": 3}, "end": {"line": 2, "column": 7}}}
  ]}}}"#;

#[test]
fn what_the_tools_write_has_one_shape() {
    let tried = read_cargo_mutants(CARGO.as_bytes()).unwrap();
    let tally = Tally::of(tried.iter().map(|one| one.outcome));
    assert_eq!(
        tally,
        Tally {
            killed: 2,
            survived: 1,
            unbuildable: 1
        }
    );
    assert_eq!(
        (tally.count_planted(), tally.strength()),
        (3, Some(2.0 / 3.0))
    );
    let survivor = tried
        .iter()
        .find(|one| one.outcome == Outcome::Survived)
        .unwrap();
    assert_eq!((survivor.path.as_str(), survivor.line), ("src/lib.rs", 9));
    assert_eq!(survivor.diff_file.as_deref(), Some("diff/b.diff"));
    assert_eq!(survivor.what, "src/lib.rs:9:7: replace < with ==");
    assert_eq!(tried[2].what, "replace f with Default::default()");

    let tried = read_elements(STRYKER.as_bytes()).unwrap();
    let tally = Tally::of(tried.iter().map(|one| one.outcome));
    assert_eq!(
        tally,
        Tally {
            killed: 2,
            survived: 2,
            unbuildable: 1
        }
    );
    assert_eq!(tried[0].id, "src/a.js:1");
    let diff = tried[0].diff.as_deref().unwrap();
    assert!(
        diff.contains("-const s = '😀'; if (a < b) {\n+const s = '😀'; if (a <= b) {\n"),
        "{diff}"
    );
    let diff = tried[2].diff.as_deref().unwrap();
    assert!(diff.contains("+const s = \"\"; if (a < b) {\n"), "{diff}");
    assert_eq!(Tally::default().strength(), None);
}

#[test]
fn what_is_no_report_says_so_in_a_code() {
    for (text, code) in [
        ("", "report_not_json"),
        ("mutants: 3 caught", "report_not_json"),
        ("[]", "report_unknown"),
        ("{}", "report_unknown"),
        (r#"{"outcomes": [{}]}"#, "report_unknown"),
        (
            r#"{"outcomes": [{"scenario": "Baseline", "summary": "Failure"}]}"#,
            "report_unknown",
        ),
        (
            r#"{"outcomes": [{"scenario": {"Mutant": {"file": "../x", "line": 1}}, "summary": "MissedMutant"}]}"#,
            "report_unknown",
        ),
        (
            r#"{"outcomes": [{"scenario": {"Mutant": {"file": "a", "line": 1}}, "summary": "Eaten"}]}"#,
            "report_unknown",
        ),
    ] {
        assert_eq!(
            read_cargo_mutants(text.as_bytes()).unwrap_err().code(),
            code,
            "{text}"
        );
    }
    for (text, code) in [
        ("\u{0}", "report_not_json"),
        ("{}", "report_unknown"),
        (r#"{"schemaVersion": "7", "files": {}}"#, "report_unknown"),
        (
            r#"{"schemaVersion": "1", "files": {"/etc/passwd": {"mutants": []}}}"#,
            "report_unknown",
        ),
        (
            r#"{"schemaVersion": "1", "files": {"a": {"mutants": [{"status": "Killed"}]}}}"#,
            "report_unknown",
        ),
        (
            r#"{"schemaVersion": "1", "files": {"a": {"mutants": [{"status": "Odd"}]}}}"#,
            "report_unknown",
        ),
    ] {
        assert_eq!(
            read_elements(text.as_bytes()).unwrap_err().code(),
            code,
            "{text}"
        );
    }
    let large = vec![b' '; tried::MOST_BYTES + 1];
    assert_eq!(
        read_elements(&large).unwrap_err().code(),
        "report_too_large"
    );
    let deep = "[".repeat(100_000);
    assert_eq!(
        read_elements(deep.as_bytes()).unwrap_err().code(),
        "report_not_json"
    );
}

#[test]
fn places_that_are_not_in_the_source_give_no_diff() {
    let report = |line: u64, column: u64| {
        format!(
            r#"{{"schemaVersion": "1", "files": {{"a": {{"source": "äb\n", "mutants": [{{"id": "1", "status": "Survived", "replacement": "x",
            "location": {{"start": {{"line": {line}, "column": {column}}}, "end": {{"line": 1, "column": 2}}}}}}]}}}}}}"#
        )
    };
    for (line, column) in [
        (0, 0),
        (1, 0),
        (9, 1),
        (1, 99),
        (u64::MAX, 1),
        (1, u64::MAX),
        (1, 3),
    ] {
        let tried = read_elements(report(line, column).as_bytes()).unwrap();
        let shown = tried[0].diff.is_some();
        assert_eq!(shown, (line, column) == (0, 1), "{line}:{column}");
    }
    assert!(
        read_elements(report(1, 1).as_bytes()).unwrap()[0]
            .diff
            .is_some()
    );
}

proptest! {
    #[test]
    fn a_damaged_report_is_an_error_and_no_panic(cut in 0usize..1200, byte in any::<u8>()) {
        for text in [CARGO, STRYKER] {
            let mut bytes = text.as_bytes().to_vec();
            let at = cut % bytes.len();
            bytes[at] = byte;
            let _ = read_cargo_mutants(&bytes);
            let _ = read_elements(&bytes);
            let _ = read_cargo_mutants(&bytes[..at]);
            let _ = read_elements(&bytes[..at]);
        }
    }
}
