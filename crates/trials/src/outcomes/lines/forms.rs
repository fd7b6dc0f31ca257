//! Runners of which a line says all of a test: their forms, as data.

use super::reader::Reader;
use crate::outcomes::found::{Again, Found};
use crate::outcomes::text::{is_time, number_before, without_time};
use crate::outcomes::types::TestResult::{self, Failed, Passed, Skipped};

/// A name with its result.
type Named<'a> = Option<(&'a str, TestResult)>;

/// A runner that is read by its lines alone.
struct Form {
    runner: &'static str,
    /// A line of a test.
    test: fn(&str) -> Named<'_>,
    /// A line of its summary, which says how many tests ran.
    count: fn(&str) -> Option<u64>,
    /// What it prints twice.
    echo: fn(&str) -> Named<'_>,
}

const FORMS: [Form; 11] = [
    Form {
        runner: "another",
        test: |_| None,
        // jasmine, cucumber-js, uvu, swift test.
        count: |line| match line {
            "No specs found" | "0 scenarios" => Some(0),
            _ if line.contains(" specs, ") || line.contains(" spec, ") => {
                number_before(line, " spec")
            }
            _ if line.contains(" scenarios (") => number_before(line, " scenarios"),
            _ => line.strip_prefix("Total:     ")?.parse().ok(),
        },
        echo: |_| None,
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
        echo: |_| None,
    },
    Form {
        runner: "automake",
        test: read_automake,
        count: |line| line.strip_prefix("# TOTAL:")?.trim().parse().ok(),
        echo: |_| None,
    },
    Form {
        runner: "gradle",
        test: read_gradle,
        count: |line| {
            line.ends_with(" tests completed")
                .then(|| number_before(line, " tests"))?
        },
        echo: |_| None,
    },
    Form {
        runner: "maven",
        test: |_| None,
        count: |line| match line.contains("Tests run:")
            && line.contains(", Skipped: ")
            && !line.contains(" -- in ")
            && !line.contains("Time elapsed")
        {
            true => number_before(line, ", Failures"),
            false => line.contains("No tests to run.").then_some(0),
        },
        echo: |_| None,
    },
    Form {
        runner: "dotnet",
        test: read_dotnet,
        count: |line| line.strip_prefix("Total tests: ")?.parse().ok(),
        echo: |_| None,
    },
    Form {
        runner: "xctest",
        test: read_xctest,
        count: |_| None,
        echo: |_| None,
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
        echo: |line| {
            read_gtest(line).filter(|(name, result)| *result == Failed && name.contains('.'))
        },
    },
    Form {
        runner: "meson",
        test: read_meson,
        count: |line| line.starts_with("No tests defined.").then_some(0),
        echo: |_| None,
    },
    Form {
        runner: "exunit",
        test: read_exunit,
        count: |line| {
            let all = number_before(line, " test").filter(|_| line.contains(" failure"))?;
            line.starts_with(|c: char| c.is_ascii_digit())
                .then(|| all.saturating_sub(number_before(line, " excluded").unwrap_or(0)))
        },
        echo: |_| None,
    },
    Form {
        runner: "zig",
        test: read_zig,
        count: |_| None,
        echo: |_| None,
    },
];

#[derive(Default)]
pub(super) struct Forms {
    /// The module whose tests ExUnit names.
    module: String,
    /// Of ExUnit: the test whose reason comes.
    why: Option<usize>,
}

impl Reader for Forms {
    fn read(&mut self, line: &str, found: &mut Found) -> bool {
        if let Some((module, file)) = line.rsplit_once(" [")
            && file.ends_with(".exs]")
        {
            module.clone_into(&mut self.module);
            return true;
        }
        if let Some((test, module)) = read_exunit_failure(line) {
            let at = found.tell("exunit", &format!("{module} {test}"), Failed, Again::Echo);
            self.why = Some(at);
            return true;
        }
        if let Some(at) = self.why
            && line.starts_with("     ")
            && !line.contains(".exs:")
        {
            found.explain(at, line);
            self.why = None;
        }
        let text = line.trim_start();
        for form in &FORMS {
            if let Some((name, result)) = (form.test)(text) {
                // ctest counts no test that it runs again.
                let again = match form.runner == "ctest" && text.starts_with("Test") {
                    true => Again::Attempt(found.told.len() as u32),
                    false => Again::No,
                };
                let place = found.tell(form.runner, name, result, again);
                if form.runner == "exunit" && !self.module.is_empty() {
                    found.prefix(form.runner, place..usize::MAX, &format!("{} ", self.module));
                }
                return true;
            }
            if let Some((name, result)) = (form.echo)(text) {
                found.tell(form.runner, name, result, Again::Echo);
                return true;
            }
            if let Some(ran) = (form.count)(text) {
                found.close(form.runner, ran, ran);
                return true;
            }
        }
        false
    }
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
        "Passed" => Passed,
        "Skipped" => Skipped,
        "Not" if result.contains("Disabled") => Skipped,
        "Failed" | "Timeout" | "Exception:" | "Not" => Failed,
        _ => return None,
    };
    count.chars().all(is_count).then_some((name, result))
}

/// `PASS: name`, of automake and DejaGnu.
fn read_automake(line: &str) -> Named<'_> {
    let (word, name) = line.split_once(": ")?;
    let result = match word {
        "PASS" | "XFAIL" => Passed,
        "FAIL" | "XPASS" | "ERROR" => Failed,
        "SKIP" => Skipped,
        _ => return None,
    };
    (!name.is_empty() && !name.contains(char::is_whitespace)).then_some((name, result))
}

/// `CalcTest > adds() PASSED`
fn read_gradle(line: &str) -> Named<'_> {
    let (name, word) = line.rsplit_once(' ')?;
    let result = match word {
        "PASSED" => Passed,
        "FAILED" => Failed,
        "SKIPPED" => Skipped,
        _ => return None,
    };
    name.contains(" > ").then_some((name, result))
}

/// `Passed Calc.Tests.Adds [1 ms]`
fn read_dotnet(line: &str) -> Named<'_> {
    let (word, rest) = line.split_once(' ')?;
    let result = match word {
        "Passed" => Passed,
        "Failed" => Failed,
        "Skipped" => Skipped,
        _ => return None,
    };
    let name = without_time(rest);
    (name != rest && rest.ends_with(']')).then_some((name, result))
}

/// `Test Case '-[CalcTests testAdd]' passed (0.001 seconds).`
fn read_xctest(line: &str) -> Named<'_> {
    let (name, rest) = line.strip_prefix("Test Case '")?.split_once("' ")?;
    let name = name.trim_start_matches("-[").trim_end_matches(']');
    let result = match rest.split([' ', '.']).next()? {
        "passed" => Passed,
        "failed" => Failed,
        "skipped" => Skipped,
        _ => return None,
    };
    Some((name, result))
}

/// `[       OK ] CalcTest.Add (0 ms)`; without a time where what failed is listed once more.
fn read_gtest(line: &str) -> Named<'_> {
    let (word, name) = line.strip_prefix("[ ")?.split_once(" ] ")?;
    let result = match word.trim() {
        "OK" => Passed,
        "FAILED" => Failed,
        "SKIPPED" => Skipped,
        _ => return None,
    };
    let name = without_time(name);
    let name = name.split_once(", where ").map_or(name, |(name, _)| name);
    (!name.contains(' ')).then_some((name, result))
}

/// `1/6 calc:core / adds OK              0.03s`
fn read_meson(line: &str) -> Named<'_> {
    let (count, rest) = line.split_once(' ')?;
    let (at, all) = count.split_once('/')?;
    (at.parse::<u32>().is_ok() && all.parse::<u32>().is_ok()).then_some(())?;
    let rest = rest.trim();
    const WORDS: [(&str, TestResult); 9] = [
        ("OK", Passed),
        ("EXPECTEDFAIL", Passed),
        ("FAIL", Failed),
        ("ERROR", Failed),
        ("TIMEOUT", Failed),
        ("INTERRUPT", Failed),
        ("UNEXPECTEDPASS", Failed),
        ("SKIP", Skipped),
        ("IGNORED", Skipped),
    ];
    WORDS.into_iter().find_map(|(word, result)| {
        let mark = format!(" {word} ");
        let (name, behind) = rest.rsplit_once(&mark)?;
        let time = behind.split_whitespace().next()?;
        is_time(time).then_some((name.trim_end(), result))
    })
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
    // What failed is told behind.
    (short != name).then_some((short, Passed))
}

/// `  1) test muls (CalcTest)`
fn read_exunit_failure(line: &str) -> Option<(&str, &str)> {
    let (number, rest) = line.strip_prefix("  ")?.trim_start().split_once(") ")?;
    number.parse::<u32>().ok()?;
    let (test, module) = rest.strip_suffix(')')?.rsplit_once(" (")?;
    let is_module = module.starts_with(char::is_uppercase) && !module.contains(' ');
    let is_test = ["test ", "property ", "doctest "]
        .iter()
        .any(|kind| test.starts_with(kind));
    (is_module && is_test).then_some((test, module))
}

/// `1/3 a.test.adds...OK`
fn read_zig(line: &str) -> Named<'_> {
    let (count, rest) = line.split_once(' ')?;
    let (at, all) = count.split_once('/')?;
    (at.parse::<u32>().is_ok() && all.parse::<u32>().is_ok()).then_some(())?;
    let (name, word) = rest.rsplit_once("...")?;
    let result = match word.split(' ').next()? {
        "OK" => Passed,
        "FAIL" => Failed,
        "SKIP" => Skipped,
        _ => return None,
    };
    Some((name, result))
}
