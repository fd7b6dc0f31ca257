//! Parses the reports of mutation tools into one form: those of `cargo mutants`, and of tools that write the
//! mutation-testing-elements schema, such as Stryker.

use crate::line_diff::make_unified;
use cook_protocol::diagnostic::begin;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The maximum size of a report in bytes.
const MOST_BYTES: usize = 64 << 20;
/// The maximum number of defects taken from a report.
const MOST_TRIED: usize = 100_000;
/// The maximum size of a text from a report in bytes.
const MOST_WORD: usize = 4_096;

/// The outcome of a planted defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A gate was red or timed out.
    Killed,
    /// All gates were green.
    Survived,
    /// The defect does not compile, so no gate could have noticed it.
    Unbuildable,
}

/// A planted defect and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Tried {
    pub id: String,
    pub path: String,
    /// Counted from 1.
    pub line: usize,
    /// The defect as described by the tool.
    pub what: String,
    pub outcome: Outcome,
    /// The unified diff, if the report contains it.
    pub diff: Option<String>,
    /// The file with the unified diff, in the directory of the report.
    #[serde(skip)]
    pub diff_file: Option<String>,
}

/// The number of defects with each outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Tally {
    pub killed: usize,
    pub survived: usize,
    pub unbuildable: usize,
}

impl Tally {
    /// Counts outcomes.
    pub fn of(outcomes: impl IntoIterator<Item = Outcome>) -> Self {
        let mut tally = Self::default();
        for outcome in outcomes {
            match outcome {
                Outcome::Killed => tally.killed += 1,
                Outcome::Survived => tally.survived += 1,
                Outcome::Unbuildable => tally.unbuildable += 1,
            }
        }
        tally
    }

    /// The number of defects that could have been noticed.
    pub fn count_planted(self) -> usize {
        self.killed + self.survived
    }

    /// The share of those that was noticed; `None` if there were none.
    pub fn strength(self) -> Option<f64> {
        (self.count_planted() > 0).then(|| self.killed as f64 / self.count_planted() as f64)
    }
}

/// The reason why a report cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// It exceeds the maximum size.
    #[error("the report has {0} bytes, and at most {MOST_BYTES} are read")]
    TooLarge(usize),
    /// It is not JSON.
    #[error("the report is not valid JSON: {0}")]
    NotJson(String),
    /// It is JSON, but not a report of this tool.
    #[error("the report is not one of {tool}: {what}")]
    Shape {
        /// The tool whose report was expected.
        tool: &'static str,
        /// The missing or unknown part.
        what: String,
    },
}

impl Unread {
    /// The error code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLarge(_) => "report_too_large",
            Self::NotJson(_) => "report_not_json",
            Self::Shape { .. } => "report_unknown",
        }
    }
}

fn parse(bytes: &[u8]) -> Result<Value, Unread> {
    if bytes.len() > MOST_BYTES {
        return Err(Unread::TooLarge(bytes.len()));
    }
    serde_json::from_slice(bytes).map_err(|error| Unread::NotJson(error.to_string()))
}

/// A text of the report, truncated to the maximum size.
fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    Some(begin(value.get(key)?.as_str()?, MOST_WORD))
}

fn number(value: &Value, path: &[&str]) -> Option<usize> {
    let found = path.iter().try_fold(value, |value, key| value.get(key))?;
    usize::try_from(found.as_u64()?).ok()
}

/// A path of a report, relative and with `/` as separator; `None` if it leads out of the repository.
fn relative(path: &str) -> Option<String> {
    let path = path.replace('\\', "/");
    let path = path.trim_start_matches("./");
    let leaves = path.starts_with('/')
        || path.get(1..2) == Some(":")
        || path.split('/').any(|part| part == "..");
    (!path.is_empty() && !leaves).then(|| path.to_owned())
}

const CARGO_MUTANTS: &str = "cargo-mutants";

/// Parses `outcomes.json`. A failed baseline is an error, because the other results mean nothing then.
///
/// # Errors
/// When the report is too large, is not JSON, or was not written by this tool.
pub fn read_cargo_mutants(bytes: &[u8]) -> Result<Vec<Tried>, Unread> {
    let report = parse(bytes)?;
    let shape = |what: &str| Unread::Shape {
        tool: CARGO_MUTANTS,
        what: what.to_owned(),
    };
    let entries = report
        .get("outcomes")
        .and_then(Value::as_array)
        .ok_or_else(|| shape("no list `outcomes`"))?;
    let mut found = Vec::new();
    for entry in entries.iter().take(MOST_TRIED) {
        let scenario = entry
            .get("scenario")
            .ok_or_else(|| shape("an outcome without `scenario`"))?;
        let summary =
            text(entry, "summary").ok_or_else(|| shape("an outcome without `summary`"))?;
        if scenario == "Baseline" {
            if summary != "Success" {
                return Err(shape(&format!(
                    "the tests failed without any defect: `{summary}`"
                )));
            }
            continue;
        }
        let mutant = scenario
            .get("Mutant")
            .ok_or_else(|| shape("an unknown `scenario`"))?;
        let outcome = match summary {
            "CaughtMutant" | "Timeout" => Outcome::Killed,
            "MissedMutant" => Outcome::Survived,
            "Unviable" => Outcome::Unbuildable,
            // Listed, but not tested.
            "Success" | "Failure" => continue,
            other => return Err(shape(&format!("unknown summary `{other}`"))),
        };
        found.push(
            read_mutant(entry, mutant, outcome)
                .ok_or_else(|| shape("a mutant without `file` and place"))?,
        );
    }
    Ok(found)
}

fn read_mutant(entry: &Value, mutant: &Value, outcome: Outcome) -> Option<Tried> {
    let path = relative(text(mutant, "file")?)?;
    // Before version 24, the line was a separate member.
    let line = number(mutant, &["span", "start", "line"]).or_else(|| number(mutant, &["line"]))?;
    let column = number(mutant, &["span", "start", "column"]).unwrap_or(1);
    let replacement = text(mutant, "replacement").unwrap_or_default();
    let function = mutant
        .get("function")
        .and_then(|function| text(function, "function_name").or(function.as_str()));
    let what = match (text(mutant, "name"), function) {
        (Some(name), _) => name.to_owned(),
        (None, Some(function)) => format!("replace {function} with {replacement}"),
        (None, None) => format!("replace with {replacement}"),
    };
    Some(Tried {
        id: format!("{path}:{line}:{column}:{replacement}"),
        path,
        line,
        what,
        outcome,
        diff: text(mutant, "diff").map(str::to_owned),
        diff_file: text(entry, "diff_path").and_then(relative),
    })
}

const ELEMENTS: &str = "mutation-testing-elements";

/// Parses a report of the mutation-testing-elements schema, version 1 or 2.
///
/// # Errors
/// When the report is too large, is not JSON, or has another schema.
pub fn read_elements(bytes: &[u8]) -> Result<Vec<Tried>, Unread> {
    let report = parse(bytes)?;
    let shape = |what: String| Unread::Shape {
        tool: ELEMENTS,
        what,
    };
    let version = report.get("schemaVersion");
    let version = version.and_then(|version| {
        version
            .as_str()
            .map(str::to_owned)
            .or_else(|| Some(version.as_u64()?.to_string()))
    });
    let version = version.ok_or_else(|| shape("no `schemaVersion`".to_owned()))?;
    if !matches!(version.split('.').next(), Some("1" | "2")) {
        return Err(shape(format!("unknown `schemaVersion` `{version}`")));
    }
    let files = report
        .get("files")
        .and_then(Value::as_object)
        .ok_or_else(|| shape("no `files`".to_owned()))?;
    let mut found = Vec::new();
    for (path, file) in files {
        let path = relative(path)
            .ok_or_else(|| shape(format!("the path `{path}` leads out of the repository")))?;
        let source = file.get("source").and_then(Value::as_str);
        let mutants = file.get("mutants").and_then(Value::as_array);
        let mutants = mutants.ok_or_else(|| shape(format!("`{path}` without `mutants`")))?;
        for mutant in mutants {
            if found.len() == MOST_TRIED {
                return Ok(found);
            }
            let status = text(mutant, "status")
                .ok_or_else(|| shape("a mutant without `status`".to_owned()))?;
            let outcome = match status {
                "Killed" | "Timeout" => Outcome::Killed,
                "Survived" | "NoCoverage" => Outcome::Survived,
                "CompileError" | "RuntimeError" => Outcome::Unbuildable,
                "Ignored" | "Pending" => continue,
                other => return Err(shape(format!("unknown status `{other}`"))),
            };
            let one = read_element(&path, source, mutant, outcome);
            found.push(one.ok_or_else(|| shape("a mutant without `id` and place".to_owned()))?);
        }
    }
    Ok(found)
}

fn read_element(
    path: &str,
    source: Option<&str>,
    mutant: &Value,
    outcome: Outcome,
) -> Option<Tried> {
    let id = text(mutant, "id")?;
    let at = |side: &str, what: &str| number(mutant, &["location", side, what]);
    let start = (at("start", "line")?, at("start", "column")?);
    let replacement = text(mutant, "replacement");
    let name = text(mutant, "mutatorName").unwrap_or("mutant");
    let end = at("end", "line").zip(at("end", "column"));
    // Only survivors are shown to the user.
    let shown = source
        .filter(|_| outcome == Outcome::Survived)
        .zip(replacement)
        .zip(end);
    let diff = shown.and_then(|((source, replacement), end)| {
        let (from, to) = (offset(source, start)?, offset(source, end)?);
        let (before, after) = (source.get(..from)?, source.get(to..)?);
        let mutated = (from <= to).then(|| format!("{before}{replacement}{after}"))?;
        Some(make_unified(path, source, &mutated))
    });
    Some(Tried {
        id: format!("{path}:{id}"),
        path: path.to_owned(),
        line: start.0,
        what: match replacement {
            Some(replacement) => format!("{name}: {replacement}"),
            None => name.to_owned(),
        },
        outcome,
        diff,
        diff_file: None,
    })
}

/// The byte offset of a line and a column, both counted from 1; columns are counted in UTF-16 units, as in JavaScript.
fn offset(source: &str, (line, column): (usize, usize)) -> Option<usize> {
    let mut at = 0;
    for _ in 1..line {
        at += source.get(at..)?.find('\n')? + 1;
    }
    let rest = source.get(at..)?;
    let mut units = column.checked_sub(1)?;
    for c in rest.chars() {
        if units == 0 {
            return Some(at);
        }
        units = units.checked_sub(c.len_utf16())?;
        at += c.len_utf8();
    }
    (units == 0).then_some(at)
}

#[cfg(test)]
mod tests {
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
        let large = vec![b' '; MOST_BYTES + 1];
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
}
