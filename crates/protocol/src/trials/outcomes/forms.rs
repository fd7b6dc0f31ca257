//! Runners that tell everything about a test on one line: their forms, as data. For runners with a hook only
//! failures are read, for runs that the hook did not reach.

use super::found::TestResult::{Failed, Passed, Skipped};
use super::found::{
    Again, Found, Reader, TestResult, find_result, is_script, is_time, number_before,
    unittest_name, without_time,
};
use std::collections::BTreeMap;

/// A test's name and its result.
type Named<'a> = Option<(&'a str, TestResult)>;
/// A failed test's name, and the reason if the line gives one.
type Red<'a> = Option<(String, &'a str)>;

/// The form of a runner's lines.
struct Form {
    runner: &'static str,
    /// A heading above tests, which begins their names, and the text that joins the two.
    heading: fn(&str) -> Option<&str>,
    join: &'static str,
    /// A line with the result of a test.
    test: fn(&str) -> Named<'_>,
    /// A summary line, which says how many tests ran.
    count: fn(&str) -> Option<u64>,
    /// A line that repeats a failure, or that names one of a runner with a hook.
    red: fn(&str) -> Red<'_>,
}

const NOTHING: Form = Form {
    runner: "another",
    heading: |_| None,
    join: "",
    test: |_| None,
    count: |_| None,
    red: |_| None,
};

const FORMS: [Form; 21] = [
    Form {
        // jasmine, cucumber-js, uvu, swift test.
        count: |line| match line {
            "No specs found" | "0 scenarios" => Some(0),
            _ if line.contains(" specs, ") || line.contains(" spec, ") => {
                number_before(line, " spec")
            }
            _ if line.contains(" scenarios (") => number_before(line, " scenarios"),
            _ => line.strip_prefix("Total:     ")?.parse().ok(),
        },
        ..NOTHING
    },
    Form {
        runner: "ctest",
        test: read_ctest,
        count: |line| match line {
            "No tests were found!!!" => Some(0),
            _ if line.contains(" tests failed out of ") => line.rsplit(' ').next()?.parse().ok(),
            _ => line
                .trim_matches('*')
                .starts_with("No test configuration file found!")
                .then_some(0),
        },
        ..NOTHING
    },
    Form {
        runner: "automake",
        test: read_automake,
        count: |line| line.strip_prefix("# TOTAL:")?.trim().parse().ok(),
        ..NOTHING
    },
    Form {
        runner: "gradle",
        test: read_gradle,
        count: |line| {
            line.ends_with(" tests completed")
                .then(|| number_before(line, " tests"))?
        },
        ..NOTHING
    },
    Form {
        runner: "maven",
        count: |line| match line.contains("Tests run:")
            && line.contains(", Skipped: ")
            && !line.contains(" -- in ")
            && !line.contains("Time elapsed")
        {
            true => number_before(line, ", Failures"),
            false => line.contains("No tests to run.").then_some(0),
        },
        ..NOTHING
    },
    Form {
        runner: "dotnet",
        test: read_dotnet,
        count: |line| line.strip_prefix("Total tests: ")?.parse().ok(),
        ..NOTHING
    },
    Form {
        runner: "xctest",
        test: read_xctest,
        ..NOTHING
    },
    Form {
        runner: "gtest",
        test: |line| read_gtest(line).filter(|_| without_time(line) != line),
        count: |line| {
            number_before(line.strip_prefix("[==========]")?, " ran.").or_else(|| {
                line.ends_with(" ms total)")
                    .then(|| number_before(line, " test"))?
            })
        },
        red: |line| {
            let (name, result) = read_gtest(line)?;
            (result == Failed && name.contains('.')).then(|| (name.to_owned(), ""))
        },
        ..NOTHING
    },
    Form {
        runner: "meson",
        test: read_meson,
        count: |line| line.starts_with("No tests defined.").then_some(0),
        ..NOTHING
    },
    Form {
        runner: "zig",
        test: read_zig,
        ..NOTHING
    },
    Form {
        runner: "test-unit",
        heading: |line| {
            let class = line.strip_suffix(':')?;
            (class.starts_with(char::is_uppercase) && !class.contains(' ')).then_some(class)
        },
        join: "#",
        test: |line| {
            let (test, rest) = line.split_once(":\t")?;
            let result = match rest.trim_start().split(':').next()? {
                "." => Passed,
                "F" | "E" => Failed,
                "P" | "O" | "N" => Skipped,
                _ => return None,
            };
            Some((test, result))
        },
        count: |line| count_assertions(line, " tests, "),
        red: |line| {
            let (kind, rest) = line.split_once(": ")?;
            let (name, why) = rest.split_once(')')?;
            let (test, class) = name.split_once('(')?;
            let is_it =
                matches!(kind, "Failure" | "Error") && class.starts_with(char::is_uppercase);
            is_it.then(|| (format!("{class}#{test}"), why.trim_start_matches(':')))
        },
    },
    Form {
        runner: EXUNIT,
        heading: |line| line.strip_suffix(".exs]")?.rsplit_once(" [").map(|it| it.0),
        join: " ",
        test: read_exunit,
        count: |line| {
            let all = number_before(line, " test").filter(|_| line.contains(" failure"))?;
            line.starts_with(|c: char| c.is_ascii_digit())
                .then(|| all.saturating_sub(number_before(line, " excluded").unwrap_or(0)))
        },
        red: read_exunit_failure,
    },
    Form {
        runner: "minitest",
        // `1) Skipped:` lists tests that did not fail.
        heading: |line| {
            let (number, kind) = line.strip_suffix(':')?.split_once(") ")?;
            number.parse::<u32>().is_ok().then_some(kind)
        },
        count: |line| count_assertions(line, " runs, "),
        red: |line| {
            let name = line.strip_suffix(':')?;
            let name = name.split_once(" [").map_or(name, |(name, _)| name);
            let is_name = name.contains('#') && !name.contains(' ');
            is_name.then(|| (name.to_owned(), ""))
        },
        ..NOTHING
    },
    Form {
        runner: "rspec",
        count: |line| {
            let all = number_before(line, " example").filter(|_| line.contains(" failure"))?;
            Some(all.saturating_sub(number_before(line, " pending").unwrap_or(0)))
        },
        red: |line| {
            let (place, name) = line.strip_prefix("rspec ")?.split_once(" # ")?;
            let (file, _) = place.trim_matches('\'').split_once(".rb")?;
            let file = file.trim_start_matches("./");
            Some((format!("{file}.rb > {name}"), ""))
        },
        ..NOTHING
    },
    Form {
        runner: "unittest",
        count: |line| {
            let rest = line
                .strip_prefix("Ran ")
                .filter(|rest| rest.contains(" in "));
            number_before(rest?, " test")
        },
        red: |line| {
            let (kind, name) = line.split_once(": ")?;
            let (name, rest) = unittest_name(name)?;
            let is_it = matches!(kind, "FAIL" | "ERROR" | "UNEXPECTED SUCCESS");
            let is_loaded = !name.starts_with("unittest.loader._FailedTest.");
            (is_it && is_loaded && rest.is_empty()).then_some((name, ""))
        },
        ..NOTHING
    },
    Form {
        runner: "pytest",
        count: count_pytest,
        red: |line| {
            let rest = line
                .strip_prefix("FAILED ")
                .or(line.strip_prefix("ERROR "))?;
            let (file, _) = rest.split_once("::")?;
            let is_file = file.contains('.') && !file.contains(' ');
            let (name, why) = split_reason(rest);
            is_file.then(|| (name.to_owned(), why))
        },
        ..NOTHING
    },
    Form {
        runner: "jest",
        heading: |line| {
            let rest = line.strip_prefix("PASS ").or(line.strip_prefix("FAIL "))?;
            let file = without_time(rest).rsplit(' ').next()?;
            (is_script(file) && !rest.starts_with(' ')).then_some(file)
        },
        join: " > ",
        count: |line| match line.strip_prefix("Tests: ") {
            Some(counts) => number_before(counts, " total").map(|_| sum(counts)),
            None => line
                .starts_with("No tests found, exiting with code ")
                .then_some(0),
        },
        red: |line| {
            let title = line.strip_prefix("\u{25cf} ")?;
            let is_other = matches!(title, "Test suite failed to run" | "Console");
            let is_test = !is_other && !title.ends_with(':');
            is_test.then(|| (title.replace(" \u{203a} ", " > "), ""))
        },
        ..NOTHING
    },
    Form {
        runner: "vitest",
        count: |line| match line.strip_prefix("Tests  ") {
            Some(counts) => Some(sum(counts)),
            None => line
                .starts_with("No test files found, exiting with code ")
                .then_some(0),
        },
        red: |line| {
            let name = line.strip_prefix("FAIL  ")?.trim();
            name.contains(" > ").then(|| (name.to_owned(), ""))
        },
        ..NOTHING
    },
    Form {
        runner: "node",
        count: |line| line.strip_prefix("\u{2139} tests ")?.parse().ok(),
        ..NOTHING
    },
    Form {
        runner: "mocha",
        count: |line| count_with_time(line, " passing"),
        ..NOTHING
    },
    Form {
        runner: "playwright",
        count: |line| match line {
            "Error: No tests found." => Some(0),
            _ => count_with_time(line, " passed"),
        },
        ..NOTHING
    },
];

const EXUNIT: &str = "exunit";

#[derive(Default)]
pub(super) struct Forms {
    /// The current heading of each runner.
    headings: BTreeMap<&'static str, String>,
    /// For ExUnit, the test whose reason follows.
    why: Option<usize>,
}

impl Reader for Forms {
    fn read(&mut self, line: &str, found: &mut Found) -> bool {
        if let Some(at) = self.why
            && line.starts_with("     ")
            && !line.contains(".exs:")
        {
            found.explain(at, line);
            self.why = None;
        }
        let text = line.trim_start();
        FORMS.iter().any(|form| self.read_form(form, text, found))
    }
}

impl Forms {
    fn read_form(&mut self, form: &Form, text: &str, found: &mut Found) -> bool {
        if let Some(heading) = (form.heading)(text) {
            self.headings.insert(form.runner, heading.to_owned());
            // To another runner, a line that ends in a colon may mean something else.
            return !matches!(form.runner, "test-unit" | "minitest");
        }
        let heading = self.headings.get(form.runner);
        let join = |name: &str| heading.map(|above| format!("{above}{}{name}", form.join));
        if let Some((name, result)) = (form.test)(text) {
            let again = match form.runner == "ctest" && text.starts_with("Test") {
                true => Again::Attempt(found.told.len() as u32),
                false => Again::No,
            };
            let name = join(name).unwrap_or_else(|| name.to_owned());
            found.tell(form.runner, &name, result, again);
            return true;
        }
        if let Some((name, why)) = (form.red)(text) {
            // A failure has the test's whole name, except for its file.
            let name = match form.runner {
                "jest" => join(&name),
                "minitest" => heading.filter(|kind| *kind != "Skipped").map(|_| name),
                _ => Some(name),
            };
            let Some(name) = name else { return false };
            let at = found.tell(form.runner, &name, Failed, Again::Echo);
            let file = name.split_once("::").or(name.split_once(" > "));
            if let Some((file, _)) = file.filter(|(file, _)| file.contains('.')) {
                found.place(at, file);
            }
            found.explain(at, why);
            self.why = (form.runner == EXUNIT).then_some(at);
            return true;
        }
        if let Some(ran) = (form.count)(text) {
            found.close(form.runner, ran, ran);
            return true;
        }
        false
    }
}

/// How many tests ran, by a summary such as `1 failed, 5 passed, 6 total`.
fn sum(counts: &str) -> u64 {
    let words = [
        " passed",
        " failed",
        " xfailed",
        " xpassed",
        " expected fail",
    ];
    let counts = words.iter().filter_map(|word| number_before(counts, word));
    counts.sum()
}

/// `12 passing (9ms)`
fn count_with_time(line: &str, word: &str) -> Option<u64> {
    let counts = without_time(line);
    let is_timed = counts != line;
    is_timed.then(|| counts.strip_suffix(word)?.parse().ok())?
}

/// `4 runs, 3 assertions, 1 failures, 1 errors, 1 skips`
fn count_assertions(line: &str, word: &str) -> Option<u64> {
    let is_it = line.contains(" assertions, ") && line.contains(" failures, ");
    is_it.then(|| number_before(line, word))?
}

/// `=== 1 failed, 5 passed in 0.12s ===`, and with `-q` the same without a frame.
fn count_pytest(line: &str) -> Option<u64> {
    let (counts, time) = line.trim_matches(['=', ' ']).rsplit_once(" in ")?;
    let words = ["no tests ran", " deselected", " skipped", " error"];
    let is_count = counts.starts_with(|c: char| c.is_ascii_digit()) || counts == words[0];
    let ran = sum(counts);
    let is_it = ran > 0 || words.iter().any(|word| counts.contains(word));
    (is_it && is_count && time.starts_with(|c: char| c.is_ascii_digit())).then_some(ran)
}

/// Splits a name, which may contain ` - ` in brackets, from the reason after it.
fn split_reason(text: &str) -> (&str, &str) {
    for (at, mark) in text.match_indices(" - ") {
        let name = &text[..at];
        if name.matches('[').count() <= name.matches(']').count() {
            return (name, &text[at + mark.len()..]);
        }
    }
    (text, "")
}

/// `1/2 Test #1: name .......   Passed    0.00 sec`, `…***Failed    0.01 sec`
fn read_ctest(line: &str) -> Named<'_> {
    let (count, rest) = line.split_once("Test")?;
    let is_count = |c: char| c.is_ascii_digit() || c == '/' || c == ' ';
    let rest = rest.trim_start().strip_prefix('#')?.split_once(": ")?.1;
    let rest = rest
        .strip_suffix(" sec")?
        .trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let at = rest.rfind(['.', '*'])?;
    let (name, result) = rest.split_at(at + 1);
    let name = name.trim_end_matches(['.', '*', ' ']);
    let result = match result.split_whitespace().next()? {
        "Not" if result.contains("Disabled") => Skipped,
        "Exception:" | "Not" => Failed,
        word => find_result(word)?,
    };
    count.chars().all(is_count).then_some((name, result))
}

/// `PASS: name`, as automake and DejaGnu print it.
fn read_automake(line: &str) -> Named<'_> {
    let (word, name) = line.split_once(": ")?;
    let is_word = matches!(word, "PASS" | "XFAIL" | "FAIL" | "XPASS" | "ERROR" | "SKIP");
    // `FAIL: 0` is a count.
    let is_name = name.contains(char::is_alphabetic) && !name.contains(char::is_whitespace);
    (is_word && is_name).then(|| Some((name, find_result(word)?)))?
}

/// `CalcTest > adds() PASSED`
fn read_gradle(line: &str) -> Named<'_> {
    let (name, word) = line.rsplit_once(' ')?;
    let is_word = matches!(word, "PASSED" | "FAILED" | "SKIPPED");
    (is_word && name.contains(" > ")).then(|| Some((name, find_result(word)?)))?
}

/// `Passed Calc.Tests.Adds [1 ms]`
fn read_dotnet(line: &str) -> Named<'_> {
    let (word, rest) = line.split_once(' ')?;
    let is_word = matches!(word, "Passed" | "Failed" | "Skipped");
    let name = without_time(rest);
    (is_word && name != rest && rest.ends_with(']')).then(|| Some((name, find_result(word)?)))?
}

/// `Test Case '-[CalcTests testAdd]' passed (0.001 seconds).`
fn read_xctest(line: &str) -> Named<'_> {
    let (name, rest) = line.strip_prefix("Test Case '")?.split_once("' ")?;
    let name = name.trim_start_matches("-[").trim_end_matches(']');
    Some((name, find_result(rest.split([' ', '.']).next()?)?))
}

/// `[       OK ] CalcTest.Add (0 ms)`; the list of failures at the end has no times.
fn read_gtest(line: &str) -> Named<'_> {
    let (word, name) = line.strip_prefix("[ ")?.split_once(" ] ")?;
    let result = find_result(word.trim())?;
    let name = without_time(name);
    let name = name.split_once(", where ").map_or(name, |(name, _)| name);
    (!name.contains(' ')).then_some((name, result))
}

/// `1/6 calc:core / adds OK              0.03s`
fn read_meson(line: &str) -> Named<'_> {
    let rest = read_counted(line)?.trim();
    let ends = rest.match_indices(' ').map(|(at, _)| at);
    let mut named = ends.filter_map(|at| {
        let (word, behind) = rest[at + 1..].split_once(' ')?;
        let is_word = word.chars().all(|c| c.is_ascii_uppercase());
        let result = find_result(word).filter(|_| is_word)?;
        let time = behind.split_whitespace().next()?;
        is_time(time).then_some((rest[..at].trim_end(), result))
    });
    named.next_back()
}

/// `* test adds (0.01ms) [L#3]`
fn read_exunit(line: &str) -> Named<'_> {
    let name = line.strip_prefix("* ")?;
    let (name, place) = name.rsplit_once(" [L#")?;
    place.ends_with(']').then_some(())?;
    for aside in [" (skipped)", " (excluded)"] {
        if let Some(name) = name.strip_suffix(aside) {
            return Some((name, Skipped));
        }
    }
    let short = without_time(name);
    (short != name).then_some((short, Passed))
}

/// `  1) test muls (CalcTest)`
fn read_exunit_failure(line: &str) -> Red<'_> {
    let (number, rest) = line.split_once(") ")?;
    number.parse::<u32>().ok()?;
    let (test, module) = rest.strip_suffix(')')?.rsplit_once(" (")?;
    let is_module = module.starts_with(char::is_uppercase) && !module.contains(' ');
    let is_test = ["test ", "property ", "doctest "]
        .iter()
        .any(|kind| test.starts_with(kind));
    (is_module && is_test).then(|| (format!("{module} {test}"), ""))
}

/// `1/3 a.test.adds...OK`
fn read_zig(line: &str) -> Named<'_> {
    let (name, word) = read_counted(line)?.rsplit_once("...")?;
    let word = word.split(' ').next()?;
    let is_word = matches!(word, "OK" | "FAIL" | "SKIP");
    is_word.then(|| Some((name, find_result(word)?)))?
}

/// The text after `1/3 `.
fn read_counted(line: &str) -> Option<&str> {
    let (count, rest) = line.split_once(' ')?;
    let (at, all) = count.split_once('/')?;
    (at.parse::<u32>().is_ok() && all.parse::<u32>().is_ok()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_no_test() {
        for line in [
            "PASSED: 16",
            "FAILED: 0",
            "FAIL: 0",
            "# FAIL:  0",
            "ERROR: 2 of 3",
        ] {
            assert_eq!(read_automake(line), None, "{line}");
        }
        assert_eq!(
            read_automake("FAIL: mul.sh"),
            Some(("mul.sh", TestResult::Failed))
        );
    }
}
