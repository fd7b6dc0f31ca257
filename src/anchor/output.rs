//! Test results in a gate's output: what the common runners print, and JUnit XML
//! or JSON lines among it. Pure.

use serde_json::Value;

/// How a test went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TestOutcome {
    Passed,
    Failed,
    Ignored,
}

use TestOutcome::{Failed, Ignored, Passed};
use cook_core::diagnostic::without_escapes;

/// Every test that the output names with a result, in the order it does.
pub fn test_outcomes(output: &str) -> Vec<(String, TestOutcome)> {
    let plain = without_escapes(output);
    let mut found: Vec<(String, TestOutcome)> = plain.lines().filter_map(of_line).collect();
    found.extend(junit(&plain));
    found
}

/// True when `name` is the test's whole name or its last parts.
pub(super) fn names(full: &str, name: &str) -> bool {
    const BETWEEN: [&str; 7] = ["::", "/", ".", " > ", " \u{203a} ", " ", "#"];
    full == name
        || full
            .strip_suffix(name)
            .is_some_and(|before| BETWEEN.iter().any(|mark| before.ends_with(mark)))
}

pub(super) fn of_line(line: &str) -> Option<(String, TestOutcome)> {
    let line = line.trim();
    if line.starts_with('{') {
        return json(line);
    }
    let (name, outcome) = cargo(line)
        .or_else(|| nextest(line))
        .or_else(|| go(line))
        .or_else(|| tap(line))
        .or_else(|| pytest(line))
        .or_else(|| marked(line))?;
    let name = name.trim();
    (!name.is_empty()).then(|| (name.to_owned(), outcome))
}

/// The words of all runners.
fn outcome_of(word: &str) -> Option<TestOutcome> {
    Some(match word.to_ascii_lowercase().as_str() {
        "ok" | "pass" | "passed" => Passed,
        "fail" | "failed" | "error" | "xpass" | "timeout" | "abort" | "sigsegv" | "sigabrt" => {
            Failed
        }
        "skip" | "skipped" | "ignored" | "xfail" => Ignored,
        _ => return None,
    })
}

/// Where only a word in capitals is no prose.
fn capital_outcome(word: &str) -> Option<TestOutcome> {
    outcome_of(word).filter(|_| !word.contains(|c: char| c.is_ascii_lowercase()))
}

type Named<'a> = Option<(&'a str, TestOutcome)>;

/// `test a::b ... ok`
fn cargo(line: &str) -> Named<'_> {
    let (name, result) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let outcome = outcome_of(result.split([',', ' ']).next()?)?;
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    Some((name, outcome))
}

/// `PASS [   0.004s] (1/2) package module::test`
fn nextest(line: &str) -> Named<'_> {
    let (word, rest) = line.split_once(" [")?;
    let outcome = capital_outcome(word)?;
    let (time, name) = rest.split_once("] ")?;
    time.trim().ends_with('s').then_some((name, outcome))
}

/// `--- PASS: TestX (0.00s)`
fn go(line: &str) -> Named<'_> {
    let (word, name) = line.strip_prefix("--- ")?.split_once(": ")?;
    Some((without_time(name), capital_outcome(word)?))
}

/// `ok 1 - name`, `not ok 2 - name`, `ok 3 - name # SKIP why`
fn tap(line: &str) -> Named<'_> {
    let (outcome, rest) = match line.strip_prefix("not ok ") {
        Some(rest) => (Failed, rest),
        None => (Passed, line.strip_prefix("ok ")?),
    };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let name = rest.trim_start().strip_prefix("- ").unwrap_or(rest);
    match name.split_once(" # ") {
        Some((name, directive)) => {
            let word = directive.split_whitespace().next().unwrap_or_default();
            let set_aside = ["skip", "todo"]
                .iter()
                .any(|w| word.eq_ignore_ascii_case(w));
            Some((name, if set_aside { Ignored } else { outcome }))
        }
        None => Some((name, outcome)),
    }
}

/// `tests/test_a.py::test_x PASSED [ 50%]`, `PASSED tests/test_a.py::test_x`
fn pytest(line: &str) -> Named<'_> {
    if let Some((word, name)) = line.split_once(' ')
        && let Some(outcome) = capital_outcome(word)
        && name.contains("::")
    {
        return Some((
            name.split_once(" - ").map_or(name, |(name, _)| name),
            outcome,
        ));
    }
    let line = match line.rsplit_once(" [") {
        Some((before, percent)) if percent.ends_with("%]") => before.trim_end(),
        _ => line,
    };
    let (name, word) = line.rsplit_once(' ')?;
    let outcome = capital_outcome(word)?;
    name.contains("::").then_some((name, outcome))
}

/// `✓ name (5 ms)` and its relatives: jest, vitest, mocha, the node runner.
fn marked(line: &str) -> Named<'_> {
    let mut rest = line.chars();
    let outcome = match rest.next()? {
        '\u{2713}' | '\u{2714}' | '\u{221a}' => Passed,
        '\u{2715}' | '\u{2717}' | '\u{2718}' | '\u{2716}' | '\u{d7}' => Failed,
        '\u{25cb}' | '\u{2193}' | '\u{fe63}' => Ignored,
        _ => return None,
    };
    let name = rest.as_str().trim_start_matches('\u{fe0e}');
    if !name.starts_with(' ') {
        return None;
    }
    let name = name.trim();
    let name = name
        .strip_prefix("skipped ")
        .filter(|_| outcome == Ignored)
        .unwrap_or(name);
    Some((without_time(name), outcome))
}

/// Takes `(0.00s)`, `(5 ms)` off the end.
fn without_time(name: &str) -> &str {
    let name = name.trim_end();
    match name.rsplit_once(" (") {
        Some((before, time))
            if time.starts_with(|c: char| c.is_ascii_digit()) && time.ends_with("s)") =>
        {
            before
        }
        _ => name,
    }
}

/// `{"type":"test","event":"ok","name":…}` (libtest), `{"Action":"pass","Test":…}` (go).
fn json(line: &str) -> Option<(String, TestOutcome)> {
    let value: Value = serde_json::from_str(line).ok()?;
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let (name, word) = match text("Test") {
        Some(name) => (name.to_owned(), text("Action")?),
        None if text("type") == Some("test") => (text("name")?.to_owned(), text("event")?),
        None => return None,
    };
    Some((name, outcome_of(word)?))
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
            "{\"Action\":\"run\",\"Test\":\"T\"}",
            "PASS",
        ] {
            assert!(test_outcomes(line).is_empty(), "{line}");
        }
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
