//! Results in JUnit XML, as the many programs write it that have no specification of it.

use super::found::{Again, Found};
use super::text::is_script;
use super::types::TestResult::{self, Failed, Passed, Skipped};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::{BTreeMap, BTreeSet};

/// Words by which `status` or `result` says that a test ran and held; any other says that it did not.
const WELL: [&str; 14] = [
    "",
    "run",
    "ran",
    "ok",
    "pass",
    "passed",
    "success",
    "successful",
    "succeeded",
    "completed",
    "complete",
    "finished",
    "executed",
    "fixed",
];
/// Those that say that it ran and did not hold.
const ILL: [&str; 9] = [
    "fail", "failed", "failure", "error", "errored", "broken", "timeout", "aborted", "crashed",
];

/// Bytes of an element's text that are kept for its first line.
const MESSAGE: usize = 1_000;

/// Attributes of an element.
type Attributes = BTreeMap<String, String>;

/// How a runner is known by its report: what the name of its outermost element starts with, what the
/// path of its file holds, and what stands between the parts of its names.
type Known = (
    &'static str,
    Option<&'static str>,
    Option<&'static str>,
    &'static str,
);

const KNOWN: [Known; 13] = [
    ("pytest", Some("pytest"), None, "::"),
    ("nextest", Some("nextest-run"), Some("target/nextest/"), " "),
    ("jest", Some("jest tests"), None, " > "),
    ("vitest", Some("vitest tests"), None, " > "),
    ("bun", Some("bun test"), None, " > "),
    ("deno", Some("deno test"), None, " > "),
    ("mocha", Some("Mocha Tests"), None, " > "),
    ("rspec", Some("rspec"), None, " > "),
    ("gtest", Some("AllTests"), None, "."),
    ("maven", None, Some("surefire-reports/"), "."),
    ("maven", None, Some("failsafe-reports/"), "."),
    ("gradle", None, Some("/test-results/"), "."),
    ("meson", None, Some("testlog.junit.xml"), " "),
];

fn find_known(is_it: impl Fn(&Known) -> bool) -> Option<&'static Known> {
    KNOWN.iter().find(|known| is_it(known))
}

/// A case whose end did not come yet.
#[derive(Default)]
struct Case {
    attributes: Attributes,
    /// It failed, it was set aside; both where it was expected to.
    is_failed: bool,
    is_aside: bool,
    is_expected: bool,
    is_flaky: bool,
    why: Option<String>,
    is_why_open: bool,
}

/// Reads a report; says which runner wrote it.
pub(super) fn read(path: &str, text: &str, found: &mut Found) -> &'static str {
    let start = found.told.len();
    let mut reading = Reading {
        known: find_known(|(_, _, part, _)| part.is_some_and(|part| path.contains(part))),
        suites: Vec::new(),
        case: None,
        is_node: false,
        seen: BTreeSet::new(),
    };
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = false;
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => reading.open(&tag, false, found),
            Ok(Event::Empty(tag)) => reading.open(&tag, true, found),
            Ok(Event::End(tag)) => reading.close(tag.name().as_ref(), found),
            Ok(Event::Text(text)) => reading.say(text.as_ref()),
            Ok(Event::CData(text)) => reading.say(text.as_ref()),
            Ok(Event::GeneralRef(name)) => {
                reading.say(&unescape(&format!("&{};", name.as_ref() as &str)))
            }
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(_) => {
                found.is_partial = true;
                break;
            }
        }
    }
    found.is_partial |= !reading.suites.is_empty() || reading.case.is_some();
    let runner = reading.runner();
    let ran = found.told.get(start..).map_or(0, <[_]>::len) as u64;
    found.count(runner, ran, false);
    runner
}

struct Reading {
    known: Option<&'static Known>,
    /// Names of the suites that are open, outermost first.
    suites: Vec<String>,
    case: Option<Case>,
    is_node: bool,
    /// Tests of pytest's that were told already.
    seen: BTreeSet<String>,
}

impl Reading {
    fn runner(&self) -> &'static str {
        match self.known {
            Some((runner, ..)) => runner,
            None if self.is_node => "node",
            None => "junit",
        }
    }

    fn open(&mut self, tag: &BytesStart, is_empty: bool, found: &mut Found) {
        let attributes = read_attributes(tag);
        let name = attributes.get("name").cloned().unwrap_or_default();
        match (tag.local_name().as_ref(), &mut self.case) {
            ("testsuites" | "testsuite", None) => {
                if self.known.is_none() && self.suites.iter().all(String::is_empty) {
                    self.known = find_known(|(_, start, ..)| {
                        start.is_some_and(|start| name.starts_with(start))
                    });
                }
                let is_outer = tag.local_name().as_ref() == "testsuites";
                if !is_empty {
                    self.suites
                        .push(if is_outer { String::new() } else { name });
                }
            }
            ("testcase", None) => {
                self.case = Some(Case {
                    attributes,
                    ..Case::default()
                });
                if is_empty {
                    self.close_case(found);
                }
            }
            (kind, Some(case)) => {
                let value =
                    |name: &str| attributes.get(name).map(String::as_str).unwrap_or_default();
                let message = Some(value("message"))
                    .filter(|text| !text.trim().is_empty() && !text.lines().all(is_place));
                match kind {
                    "failure" | "error" if value("type").ends_with("RiskyTestError") => {}
                    "failure" | "error" => {
                        case.is_failed = true;
                        case.is_why_open = !is_empty && case.why.is_none() && message.is_none();
                        case.why = case.why.take().or(message.map(str::to_owned));
                    }
                    "skipped" if message == Some("Unable to find executable") => {
                        case.is_failed = true;
                        case.why = message.map(str::to_owned);
                    }
                    "skipped" if value("type") == "pytest.xfail" => {}
                    "skipped" | "disabled" | "ignored" | "notrun" | "pending" | "todo"
                    | "inconclusive" => {
                        case.is_aside = true;
                        case.is_expected |= value("type") == "todo";
                    }
                    "flakyFailure" | "flakyError" => case.is_flaky = true,
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn say(&mut self, text: &str) {
        if let Some(case) = self.case.as_mut().filter(|case| case.is_why_open) {
            let why = case.why.get_or_insert_default();
            if why.len() < MESSAGE {
                why.push_str(text);
            }
        }
    }

    fn close(&mut self, tag: &str, found: &mut Found) {
        match tag {
            "testsuites" | "testsuite" if self.case.is_none() => {
                self.suites.pop();
            }
            "testcase" => self.close_case(found),
            "failure" | "error" => {
                if let Some(case) = &mut self.case {
                    case.is_why_open = false;
                }
            }
            _ => {}
        }
    }

    fn close_case(&mut self, found: &mut Found) {
        let Some(case) = self.case.take() else {
            return;
        };
        let value = |name: &str| {
            case.attributes
                .get(name)
                .map(String::as_str)
                .unwrap_or_default()
        };
        let (name, class) = (value("name"), value("classname"));
        // `node --test` writes no name outside of its suites; its classes are called `test`.
        self.is_node |= class == "test" && case.attributes.len() <= 5;
        let result = case.find_result();
        let file = Some(value("file")).filter(|file| !file.is_empty());
        // A file that did not load, or holds no test, stands for itself.
        if is_script(name) && (class == name || class == "test") {
            if result == Failed {
                found.unload(name, case.find_why(name));
            }
            return;
        }
        let full = self.make_name(name, class, file);
        let runner = self.runner();
        let mut is_flaky = case.is_flaky;
        let mut again = Again::No;
        // A test that pytest ran again is a case of its own, which passed until the last.
        if runner == "pytest" {
            is_flaky |= !self.seen.insert(full.clone());
            again = Again::Attempt(found.told.len() as u32);
        }
        let at = found.tell(runner, &full, result, again);
        if let Some(told) = found.told.get_mut(at) {
            told.is_flaky = is_flaky && result == Passed;
        }
        if let Some(file) = file.or(Some(class).filter(|class| is_script(class))) {
            found.place(at, file);
        }
        found.explain(at, case.find_why(name));
    }

    /// The parts of a test's name, joined as its runner does.
    fn make_name(&self, name: &str, class: &str, file: Option<&str>) -> String {
        let suites = self.suites.iter().map(String::as_str);
        let suites: Vec<&str> = suites.filter(|suite| !suite.is_empty()).collect();
        let runner = self.runner();
        let join = self.known.map_or("::", |(.., join)| *join);
        match runner {
            // The class has the innermost suite first.
            "bun" | "node" => suites
                .into_iter()
                .chain([name])
                .collect::<Vec<_>>()
                .join(" > "),
            "meson" => match suites.last().filter(|suite| suite.contains(" / ")) {
                Some(suite) => name_in_program(suite, name),
                None => name.to_owned(),
            },
            // Their classes are parts of the name, or of the path of the file.
            "jest" | "mocha" | "rspec" => match file.map(|file| file.trim_start_matches("./")) {
                Some(file) => format!("{file} > {name}"),
                None => name.to_owned(),
            },
            _ if class.is_empty() || class == name => name.to_owned(),
            _ if is_script(class) => {
                let title = name.replace(" \u{203a} ", " > ");
                format!("{} > {title}", class.trim_start_matches("./"))
            }
            // A place with a line, of busted's.
            _ if class
                .rsplit_once(':')
                .is_some_and(|(_, line)| line.parse::<u32>().is_ok()) =>
            {
                name.to_owned()
            }
            _ => format!("{class}{join}{name}"),
        }
    }
}

impl Case {
    /// The first line that is neither the name of the test nor where it stands.
    fn find_why(&self, name: &str) -> &str {
        let lines = self.why.as_deref().unwrap_or_default().lines();
        let is_name = |line: &str| {
            line.split_once("::")
                .is_some_and(|(_, rest)| rest.starts_with(name))
        };
        let mut lines = lines.filter(|line| !line.trim().is_empty() && !is_place(line));
        lines.find(|line| !is_name(line)).unwrap_or_default()
    }

    fn find_result(&self) -> TestResult {
        let value = |name: &str| {
            let value = self.attributes.get(name);
            value.map(|value| value.trim().to_ascii_lowercase())
        };
        let words: Vec<String> = ["status", "result"].into_iter().filter_map(value).collect();
        let is_one_of = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
        let is_yes = |name: &str| value(name).is_some_and(|word| word == "true" || word == "1");
        let is_aside = self.is_aside
            || ["skipped", "disabled", "ignored"].into_iter().any(is_yes)
            || value("executed").is_some_and(|word| word == "false");
        if self.is_expected {
            Skipped
        } else if self.is_failed || is_one_of(&ILL) {
            Failed
        } else if is_aside || !words.iter().all(|word| WELL.contains(&word.as_str())) {
            Skipped
        } else {
            Passed
        }
    }
}

/// The name of a test that a program of meson's told in TAP: `project.project / program`, `1 - name`
fn name_in_program(suite: &str, name: &str) -> String {
    let program = suite.split_once('.').map_or(suite, |(_, program)| program);
    let title = name.split_once(" - ");
    let title = title.filter(|(number, _)| number.parse::<u32>().is_ok());
    format!("{program} > {}", title.map_or(name, |(_, title)| title))
}

/// `thread 'a::b' (123) panicked at src/lib.rs:6:13:`, `a.cc:3`: where it failed, not why.
fn is_place(line: &str) -> bool {
    let number = line.rsplit_once(':').map(|(_, number)| number.trim());
    line.starts_with("thread '") && line.contains(" panicked at ")
        || !line.contains(' ') && number.is_some_and(|number| number.parse::<u32>().is_ok())
}

fn read_attributes(tag: &BytesStart) -> Attributes {
    let mut attributes = tag.html_attributes();
    attributes
        .with_checks(false)
        .flatten()
        .map(|attribute| {
            let key = attribute.key.local_name().as_ref().to_owned();
            (key, unescape(&attribute.value))
        })
        .collect()
}

fn unescape(text: &str) -> String {
    quick_xml::escape::unescape(text).map_or_else(|_| text.to_owned(), |text| text.into_owned())
}
