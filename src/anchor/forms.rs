//! What test runners print of one test, a form each: how it went, and its name. Pure.

use TestOutcome::{Failed, Ignored, Passed};
use serde_json::Value;

/// How a test went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum TestOutcome {
    Passed,
    Failed,
    Ignored,
}

/// A test and how it went.
pub type Named = Option<(String, TestOutcome)>;

/// The forms, each by the runners that print it; the first that fits counts.
const FORMS: [fn(&str) -> Named; 20] = [
    // libtest of Rust, and nextest.
    cargo,
    nextest,
    // `go test -v`.
    go,
    // TAP: node, Perl, bats, and what prints its lists beside it.
    tap,
    read_perl_failure,
    prove,
    unittest,
    pytest,
    ctest,
    automake,
    // JavaScript: jest, vitest, mocha, the spec reporter of node; bun; deno.
    read_marked,
    in_suite,
    bun,
    deno,
    // Ruby: minitest, RSpec.
    minitest,
    rspec,
    // .NET, Gradle, PHPUnit, XCTest.
    dotnet,
    gradle,
    phpunit,
    xctest,
];

/// What a line says of a test.
pub fn of_line(line: &str) -> Named {
    let line = line.trim();
    if line.starts_with('{') {
        return json(line);
    }
    let (name, outcome) = FORMS.iter().find_map(|form| form(line))?;
    let name = name.trim();
    (!name.is_empty()).then(|| (name.to_owned(), outcome))
}

/// The words of all runners.
fn find_outcome(word: &str) -> Option<TestOutcome> {
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
    find_outcome(word).filter(|_| !word.contains(|c: char| c.is_ascii_lowercase()))
}

fn make_named(name: &str, outcome: TestOutcome) -> Named {
    Some((name.to_owned(), outcome))
}

/// `test a::b ... ok`
fn cargo(line: &str) -> Named {
    let (name, result) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let outcome = find_outcome(result.split([',', ' ']).next()?)?;
    make_named(
        name.strip_suffix(" - should panic").unwrap_or(name),
        outcome,
    )
}

/// `PASS [   0.004s] (1/2) package module::test`
fn nextest(line: &str) -> Named {
    let (word, rest) = line.split_once(" [")?;
    let outcome = capital_outcome(word)?;
    let (time, name) = rest.split_once("] ")?;
    time.trim()
        .ends_with('s')
        .then(|| make_named(name, outcome))?
}

/// `--- PASS: TestX (0.00s)`
fn go(line: &str) -> Named {
    let (word, name) = line.strip_prefix("--- ")?.split_once(": ")?;
    make_named(without_time(name), capital_outcome(word)?)
}

/// `ok 1 - name`, `not ok 2 - name`, `ok 3 - name # SKIP why`
fn tap(line: &str) -> Named {
    let (outcome, rest) = match line.strip_prefix("not ok ") {
        Some(rest) => (Failed, rest),
        None => (Passed, line.strip_prefix("ok ")?),
    };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let name = rest.trim_start().strip_prefix("- ").unwrap_or(rest);
    let (name, is_aside) = without_directive(name);
    make_named(name, if is_aside { Ignored } else { outcome })
}

/// `name # SKIP why`, `name # Skipped: why`, `name # TODO`: the name, and whether the test was set
/// aside. `\#` stands for a `#` of the name.
fn without_directive(name: &str) -> (&str, bool) {
    let is_aside = name.match_indices(" #").any(|(at, mark)| {
        let word = name[at + mark.len()..].trim_start().get(..4);
        word.is_some_and(|word| {
            ["skip", "todo"]
                .iter()
                .any(|aside| word.eq_ignore_ascii_case(aside))
        })
    });
    let end = match is_aside {
        true => name.find(" #"),
        false => name.find(" # "),
    };
    (end.map_or(name, |end| &name[..end]), is_aside)
}

/// `#   Failed test 'name'`
fn read_perl_failure(line: &str) -> Named {
    let rest = line.strip_prefix('#')?.trim_start();
    let name = rest.strip_prefix("Failed test '")?.strip_suffix('\'')?;
    make_named(name, Failed)
}

/// `t/a.t .. ok`
fn prove(line: &str) -> Named {
    let (name, rest) = line.split_once(" ..")?;
    let result = rest.trim_start_matches('.').trim();
    let outcome = match result.split([' ', ':']).next()? {
        "ok" => Passed,
        "Failed" | "Dubious," => Failed,
        "skipped" => Ignored,
        _ => return None,
    };
    name.ends_with(".t").then(|| make_named(name, outcome))?
}

/// `test_x (module.Class.test_x) ... ok`, `FAIL: test_x (module.Class.test_x)`
fn unittest(line: &str) -> Named {
    for failed in ["FAIL: ", "ERROR: ", "UNEXPECTED SUCCESS: "] {
        if let Some(rest) = line.strip_prefix(failed) {
            return match unittest_name(rest)? {
                (name, "") => Some((name, Failed)),
                _ => None,
            };
        }
    }
    let (name, rest) = unittest_name(line)?;
    Some((name, unittest_outcome(rest.strip_prefix(" ... ")?)?))
}

/// What Python's unittest says behind a test or its description.
pub(super) fn unittest_outcome(word: &str) -> Option<TestOutcome> {
    Some(match word.trim() {
        "ok" => Passed,
        "FAIL" | "ERROR" | "unexpected success" => Failed,
        "expected failure" => Ignored,
        word if word.starts_with("skipped") => Ignored,
        _ => return None,
    })
}

/// A test's dotted name as Python's unittest writes it, `test_x (module.Class.test_x)`, before 3.11
/// `test_x (module.Class)`, with the parameters of a subtest or without; and what stands behind it.
pub(super) fn unittest_name(text: &str) -> Option<(String, &str)> {
    let is_word = |text: &str| {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '<' | '>');
        !text.is_empty() && text.chars().all(is_part)
    };
    let (method, rest) = text.split_once(" (")?;
    let (class, mut rest) = rest.split_once(')')?;
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    if !is_word(method) || !is_word(class) || !class.contains('.') || is_number(class) {
        return None;
    }
    for (open, close) in [(" [", ']'), (" (", ')')] {
        if let Some((_, behind)) = rest
            .strip_prefix(open)
            .and_then(|rest| rest.split_once(close))
        {
            rest = behind;
        }
    }
    let is_whole = class
        .strip_suffix(method)
        .is_some_and(|class| class.ends_with('.'));
    let name = match is_whole {
        true => class.to_owned(),
        false => format!("{class}.{method}"),
    };
    Some((name, rest))
}

/// `tests/test_a.py::test_x PASSED [ 50%]`, `PASSED tests/test_a.py::test_x`
fn pytest(line: &str) -> Named {
    if let Some((word, name)) = line.split_once(' ')
        && let Some(outcome) = capital_outcome(word)
        && name.contains("::")
    {
        return make_named(
            name.split_once(" - ").map_or(name, |(name, _)| name),
            outcome,
        );
    }
    let line = match line.rsplit_once(" [") {
        Some((before, percent)) if percent.ends_with("%]") => before.trim_end(),
        _ => line,
    };
    let (name, word) = line.rsplit_once(' ')?;
    let outcome = capital_outcome(word)?;
    name.contains("::").then(|| make_named(name, outcome))?
}

/// `1/2 Test #1: name .......   Passed    0.00 sec`, `…***Failed    0.01 sec`
fn ctest(line: &str) -> Named {
    let (count, rest) = line.split_once(" Test")?;
    let is_count = |c: char| c.is_ascii_digit() || c == '/';
    let rest = rest.trim_start().strip_prefix('#')?;
    let (name, rest) = rest.split_once(": ")?.1.split_once(" ..")?;
    let result = rest.trim_start_matches(['.', '*', ' ']);
    let outcome = match result.split_whitespace().next()? {
        "Passed" => Passed,
        "Skipped" => Ignored,
        "Not" if result.contains("Disabled") => Ignored,
        "Failed" | "Timeout" | "Exception:" | "Not" => Failed,
        _ => return None,
    };
    count
        .chars()
        .all(is_count)
        .then(|| make_named(name, outcome))?
}

/// `PASS: name`, of automake and DejaGnu.
fn automake(line: &str) -> Named {
    let (word, name) = line.split_once(": ")?;
    let outcome = match word {
        "PASS" => Passed,
        "FAIL" | "XPASS" => Failed,
        "SKIP" | "XFAIL" => Ignored,
        _ => return None,
    };
    (!name.contains(char::is_whitespace)).then(|| make_named(name, outcome))?
}

/// `✓ name (5 ms)` and its relatives.
fn read_marked(line: &str) -> Named {
    let mut rest = line.chars();
    let outcome = match rest.next()? {
        '\u{2713}' | '\u{2714}' | '\u{221a}' => Passed,
        '\u{2715}' | '\u{2717}' | '\u{2718}' | '\u{2716}' | '\u{d7}' => Failed,
        '\u{25cb}' | '\u{2193}' | '\u{fe63}' => Ignored,
        _ => return None,
    };
    let name = rest.as_str().trim_start_matches('\u{fe0e}');
    // The heading of node's list of them.
    if !name.starts_with(' ') || name == " failing tests:" {
        return None;
    }
    let (name, is_aside) = without_message(name.trim());
    let outcome = if is_aside { Ignored } else { outcome };
    let name = name
        .strip_prefix("skipped ")
        .filter(|_| outcome == Ignored)
        .unwrap_or(name);
    // vitest puts the time behind a path, without brackets.
    let name = match name.rsplit_once(' ') {
        Some((before, time)) if before.contains(" > ") && is_time(time) => before,
        _ => name,
    };
    make_named(without_time(name), outcome)
}

/// The same of a marked line: behind the time stands why a test was set aside, in anybody's words.
fn without_message(name: &str) -> (&str, bool) {
    let mut places = name.match_indices(" # ").map(|(at, _)| &name[..at]);
    match places.find(|before| without_time(before) != *before) {
        Some(before) => (before, true),
        // A method is often named by its `#` in what describes it.
        None if !name.contains(" # ") => (name, false),
        None => without_directive(name),
    }
}

fn is_time(text: &str) -> bool {
    let number = text.strip_suffix("ms").or(text.strip_suffix('s'));
    number.is_some_and(|number| number.parse::<f64>().is_ok())
}

/// `● suite › name` of jest's failures, ` FAIL  file > suite > name` of vitest's.
fn in_suite(line: &str) -> Named {
    if let Some(name) = line.strip_prefix("\u{25cf} ") {
        return name
            .contains(" \u{203a} ")
            .then(|| make_named(name, Failed))?;
    }
    let name = line.strip_prefix("FAIL ")?.trim_start();
    name.contains(" > ").then(|| make_named(name, Failed))?
}

/// `(pass) suite > name [0.12ms]`
fn bun(line: &str) -> Named {
    let (word, name) = line.strip_prefix('(')?.split_once(") ")?;
    let outcome = find_outcome(word)?;
    make_named(
        name.split_once(" [").map_or(name, |(name, _)| name),
        outcome,
    )
}

/// `name ... ok (5ms)`
fn deno(line: &str) -> Named {
    let (name, result) = line.rsplit_once(" ... ")?;
    let (word, time) = result.split_once(" (")?;
    let is_timed = time.strip_suffix(')').is_some_and(is_time);
    is_timed.then(|| make_named(name, find_outcome(word)?))?
}

/// `CalcTest#test_add = 0.00 s = .`
fn minitest(line: &str) -> Named {
    let (rest, mark) = line.rsplit_once(" s = ")?;
    let (name, seconds) = rest.rsplit_once(" = ")?;
    let outcome = match mark {
        "." => Passed,
        "F" | "E" => Failed,
        "S" => Ignored,
        _ => return None,
    };
    let is_one = name.contains('#') && seconds.parse::<f64>().is_ok();
    is_one.then(|| make_named(name, outcome))?
}

/// `rspec ./spec/calc_spec.rb:5 # Calc multiplies`
fn rspec(line: &str) -> Named {
    let (_, name) = line.strip_prefix("rspec ./")?.split_once(" # ")?;
    make_named(name, Failed)
}

/// `Passed Calc.Tests.Adds [1 ms]`
fn dotnet(line: &str) -> Named {
    let (word, rest) = line.split_once(' ')?;
    let (name, time) = rest.rsplit_once(" [")?;
    let outcome = match word {
        "Passed" => Passed,
        "Failed" => Failed,
        "Skipped" => Ignored,
        _ => return None,
    };
    time.ends_with("s]").then(|| make_named(name, outcome))?
}

/// `CalcTest > adds() PASSED`
fn gradle(line: &str) -> Named {
    let (name, word) = line.rsplit_once(' ')?;
    let outcome = capital_outcome(word)?;
    name.contains(" > ").then(|| make_named(name, outcome))?
}

/// `1) CalcTest::testMul` in the list of failures.
fn phpunit(line: &str) -> Named {
    let (number, name) = line.split_once(") ")?;
    let is_one = number.parse::<u32>().is_ok() && name.contains("::");
    is_one.then(|| make_named(name, Failed))?
}

/// `Test Case '-[CalcTests testAdd]' passed (0.001 seconds).`
fn xctest(line: &str) -> Named {
    let (name, rest) = line.strip_prefix("Test Case '")?.split_once("' ")?;
    let name = name.trim_start_matches("-[").trim_end_matches(']');
    make_named(name, find_outcome(rest.split([' ', '.']).next()?)?)
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
fn json(line: &str) -> Named {
    let value: Value = serde_json::from_str(line).ok()?;
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let (name, word) = match text("Test") {
        Some(name) => (name, text("Action")?),
        None if text("type") == Some("test") => (text("name")?, text("event")?),
        None => return None,
    };
    make_named(name, find_outcome(word)?)
}
