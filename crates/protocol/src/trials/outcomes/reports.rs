//! Reads the records of hooks, and runners' reports in JUnit XML and TAP.

use super::found::TestResult::{Failed, Passed, Skipped};
use super::found::{Again, Found, Material, Reader, TestResult};
use super::tap::Tap;
use quick_xml::events::{BytesStart, Event};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

// Files that runners write.

/// How files in the Test Anything Protocol begin.
const TAP: [&str; 5] = ["TAP version ", "1..", "ok 1", "not ok 1", "# Subtest: "];

/// Reads the report files, and reports that are part of an output.
pub(super) fn read(material: &Material, found: &mut Found) {
    for report in material.reports {
        read_file(report.path, report.text, found);
    }
    // If a hook has written records, a report in the output only repeats them.
    let outputs = [material.stdout, material.stderr].into_iter();
    for output in outputs.filter(|_| material.records.is_empty()) {
        if let Some(text) = find_printed(output) {
            read_junit("", text, found);
        }
    }
}

fn read_file(path: &str, text: &str, found: &mut Found) {
    let start = text.trim_start();
    if start.starts_with('<') {
        if text.contains("<testsuite") {
            read_junit(path, text, found);
        }
    } else if path.ends_with("LastTest.log") {
        // ctest 3.25 writes `Test Passed.` there also for tests that were skipped, disabled or could not be
        // started.
    } else if path.ends_with(".tap") || TAP.iter().any(|mark| start.starts_with(mark)) {
        let from = found.told.len();
        let mut tap = Tap::default();
        for line in text.lines() {
            tap.read(line, found);
        }
        tap.end(found);
        let place = path
            .split_once("test-results/")
            .map_or(path, |(_, place)| place);
        let place = place.strip_suffix(".tap").unwrap_or(place);
        for runner in ["tap", "node"] {
            found.prefix(runner, from..usize::MAX, &format!("{place} > "));
        }
    }
}

/// The XML from the first suite to the end of the last one.
fn find_printed(output: &str) -> Option<&str> {
    let start = output.find("<testsuite")?;
    let is_line = output[..start]
        .trim_end_matches([' ', '\t'])
        .ends_with(['\n', '>'])
        || start == 0;
    let end = output.rfind("</testsuite")?;
    let close = output[end..].find('>')?;
    (is_line && start < end).then(|| &output[start..end + close + 1])
}

// Records of hooks in runners, one JSON object on each line.

/// One record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Record {
    /// A test and its result. The same name with a higher `attempt` is a retry.
    Test {
        runner: String,
        name: String,
        #[serde(default)]
        file: Option<String>,
        result: TestResult,
        #[serde(default)]
        message: Option<String>,
        #[serde(default)]
        attempt: u32,
    },
    /// A file that did not load.
    Unloaded {
        runner: String,
        unloaded: String,
        message: String,
    },
    /// The runner finished, and ran this many tests.
    End { runner: String, ran: u64 },
}

/// Names of runners that hooks and the readers of lines share.
const RUNNERS: [&str; 10] = [
    "pytest",
    "unittest",
    "rspec",
    "minitest",
    "node",
    "mocha",
    "jest",
    "vitest",
    "playwright",
    "tap",
];

/// Reads the records of all hooks.
pub(super) fn read_records(records: &str, found: &mut Found) {
    let mut open: BTreeSet<&'static str> = BTreeSet::new();
    let mut ended: BTreeSet<&'static str> = BTreeSet::new();
    for line in records.lines().filter(|line| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(Record::Test {
                runner,
                name,
                file,
                result,
                message,
                attempt,
            }) => {
                let again = match attempt {
                    0 => Again::No,
                    attempt => Again::Attempt(attempt),
                };
                let runner = find_runner(&runner);
                let at = found.tell(runner, &name, result, again);
                if let Some(file) = file {
                    found.place(at, &file);
                }
                found.explain(at, &message.unwrap_or_default());
                open.insert(runner);
            }
            Ok(Record::Unloaded {
                runner,
                unloaded,
                message,
            }) => {
                found.unload(&unloaded, &message);
                found.count(find_runner(&runner), 0, false);
            }
            Ok(Record::End { runner, ran }) => {
                found.count(find_runner(&runner), ran, false);
                ended.insert(find_runner(&runner));
            }
            // The run was ended while this line was being written.
            Err(_) => found.is_cut = true,
        }
    }
    found.ends_early |= !open.is_subset(&ended);
}

fn find_runner(name: &str) -> &'static str {
    let name = name.split(':').next().unwrap_or(name);
    let name = if name == "prove" { "tap" } else { name };
    let known = RUNNERS.into_iter().find(|known| *known == name);
    known.unwrap_or("another")
}

// Results in JUnit XML, which many programs write and no specification defines.

/// Values of `status` or `result` for a test that ran and passed; any other means that it did not.
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
/// Values for a test that ran and failed.
const ILL: [&str; 9] = [
    "fail", "failed", "failure", "error", "errored", "broken", "timeout", "aborted", "crashed",
];

/// Maximum length kept of an element's text, in bytes, for its first line.
const MESSAGE: usize = 1_000;

/// Attributes of an element.
type Attributes = BTreeMap<String, String>;

/// Runners by a part of their report's path, and the text that joins the parts of their tests' names.
const KNOWN: [(&str, &str, &str); 5] = [
    ("nextest", "target/nextest/", " "),
    ("maven", "surefire-reports/", "."),
    ("maven", "failsafe-reports/", "."),
    ("gradle", "/test-results/", "."),
    ("meson", "testlog.junit.xml", " "),
];

/// A test case whose end has not been read yet.
#[derive(Default)]
struct Case {
    attributes: Attributes,
    /// Whether it failed, and whether it was set aside; both if it was expected to fail.
    is_failed: bool,
    is_aside: bool,
    why: Option<String>,
    is_why_open: bool,
}

/// Reads a report.
fn read_junit(path: &str, text: &str, found: &mut Found) {
    let start = found.told.len();
    let mut reading = Reading {
        runner: "junit",
        join: "::",
        suites: Vec::new(),
        case: None,
    };
    let known = KNOWN.iter().find(|(_, part, _)| path.contains(part));
    if let Some((runner, _, join)) = known {
        (reading.runner, reading.join) = (runner, join);
    }
    let mut reader = quick_xml::Reader::from_str(text);
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
                found.ends_early = true;
                break;
            }
        }
    }
    found.ends_early |= !reading.suites.is_empty() || reading.case.is_some();
    let ran = found.told.get(start..).map_or(0, <[_]>::len) as u64;
    found.count(reading.runner, ran, false);
}

struct Reading {
    runner: &'static str,
    join: &'static str,
    /// Names of the open suites, outermost first.
    suites: Vec<String>,
    case: Option<Case>,
}

impl Reading {
    fn open(&mut self, tag: &BytesStart, is_empty: bool, found: &mut Found) {
        let attributes = read_attributes(tag);
        let name = attributes.get("name").cloned().unwrap_or_default();
        match (tag.local_name().as_ref(), &mut self.case) {
            ("testsuites" | "testsuite", None) => {
                if name == "AllTests" {
                    (self.runner, self.join) = ("gtest", ".");
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
                    "failure" | "error" => {
                        case.is_failed = true;
                        case.is_why_open = !is_empty && case.why.is_none() && message.is_none();
                        case.why = case.why.take().or(message.map(str::to_owned));
                    }
                    "skipped" | "disabled" | "ignored" | "notrun" | "pending" | "todo"
                    | "inconclusive" => case.is_aside = true,
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
        let result = case.find_result();
        let file = Some(value("file")).filter(|file| !file.is_empty());
        let at = found.tell(self.runner, &self.make_name(name, class), result, Again::No);
        if let Some(file) = file {
            found.place(at, file);
        }
        found.explain(at, case.find_why(name));
    }

    /// Joins the parts of a test's name as its runner does.
    fn make_name(&self, name: &str, class: &str) -> String {
        let is_number = |line: &str| line.parse::<u32>().is_ok();
        // In busted's reports the class is a place.
        let is_place = class
            .rsplit_once(':')
            .is_some_and(|(_, line)| is_number(line));
        let program = self.suites.last().filter(|suite| suite.contains(" / "));
        match (self.runner, program) {
            ("meson", Some(suite)) => name_in_program(suite, name),
            ("meson", None) => name.to_owned(),
            _ if class.is_empty() || class == name || is_place => name.to_owned(),
            _ => format!("{class}{}{name}", self.join),
        }
    }
}

impl Case {
    /// The first line that is neither the name of the test nor a place.
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
        if self.is_failed || is_one_of(&ILL) {
            Failed
        } else if is_aside || !words.iter().all(|word| WELL.contains(&word.as_str())) {
            Skipped
        } else {
            Passed
        }
    }
}

/// The name of a test of a program that reports to meson in TAP: `project.project / program`, `1 - name`.
fn name_in_program(suite: &str, name: &str) -> String {
    let program = suite.split_once('.').map_or(suite, |(_, program)| program);
    let title = name.split_once(" - ");
    let title = title.filter(|(number, _)| number.parse::<u32>().is_ok());
    format!("{program} > {}", title.map_or(name, |(_, title)| title))
}

/// `thread 'a::b' (123) panicked at src/lib.rs:6:13:`, `a.cc:3`: where a test failed, not why.
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
