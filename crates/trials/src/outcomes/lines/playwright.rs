//! Lines of Playwright.

use super::reader::Reader;
use crate::outcomes::found::{Again, Found};
use crate::outcomes::text::{indent_of, number_before, without_time};
use crate::outcomes::types::TestResult::{self, Failed, Passed, Skipped};
use std::collections::BTreeMap;

const PLAYWRIGHT: &str = "playwright";

#[derive(Default)]
pub(super) struct Playwright {
    /// The list at the end that goes on: tests that failed, or that passed when they were tried again.
    list: Option<TestResult>,
    failed: u64,
    flaky: u64,
    reasons: BTreeMap<String, String>,
    why: Option<String>,
}

impl Reader for Playwright {
    fn read(&mut self, line: &str, found: &mut Found) -> bool {
        let text = line.trim_start();
        if text == "Error: No tests found." {
            found.count(PLAYWRIGHT, 0, false);
            return true;
        }
        if let Some((name, result, again)) = read_test(text) {
            let at = found.tell(PLAYWRIGHT, &name, result, again);
            place(at, &name, found);
            return true;
        }
        // `  1) a.spec.ts:3:5 › calc › muls ───`, and why below it.
        if let Some((number, name)) = text.split_once(") ")
            && number.parse::<u32>().is_ok()
            && let Some(name) = make_name(name.trim_end_matches(['\u{2500}', ' ']))
        {
            self.why = Some(name);
            return true;
        }
        if let Some(name) = self.why.take_if(|_| line.starts_with("    Error")) {
            self.reasons.entry(name).or_insert_with(|| text.to_owned());
            return true;
        }
        indent_of(line) >= 2 && self.read_summary(line, text, found)
    }
}

impl Playwright {
    /// `1 failed`, `1 flaky`, each with a list below it; `3 passed (2.1s)`
    fn read_summary(&mut self, line: &str, text: &str, found: &mut Found) -> bool {
        if let Some(result) = self.list.filter(|_| indent_of(line) == 4)
            && let Some(name) = make_name(text.trim_end_matches(['\u{2500}', ' ']))
        {
            let at = found.tell(PLAYWRIGHT, &name, result, Again::Echo);
            place(at, &name, found);
            let reason = self.reasons.get(&name).cloned().unwrap_or_default();
            found.explain(at, &reason);
            if let Some(told) = found.told.get_mut(at) {
                told.is_flaky = result == Passed;
            }
            return true;
        }
        let mut words = text.split(' ');
        let (count, word) = (words.next(), words.next());
        let Some(count) = count.and_then(|count| count.parse::<u64>().ok()) else {
            return false;
        };
        match (word, words.next()) {
            (Some("failed"), None) => (self.list, self.failed) = (Some(Failed), count),
            (Some("flaky"), None) => (self.list, self.flaky) = (Some(Passed), count),
            (Some("passed"), Some(time)) if time.starts_with('(') => {
                self.end_run(number_before(text, " passed").unwrap_or(0), found);
            }
            _ => return false,
        }
        true
    }

    /// A test that is expected to fail is marked as failed where it ran, but not listed.
    fn end_run(&mut self, passed: u64, found: &mut Found) {
        let start = found.start(PLAYWRIGHT);
        let told = found.told.get_mut(start..).unwrap_or_default();
        let is_own = |again: Again| again != Again::Echo;
        let listed: Vec<String> = told
            .iter()
            .filter(|told| told.runner == PLAYWRIGHT && !is_own(told.again))
            .map(|told| told.name.clone())
            .collect();
        for told in told.iter_mut() {
            if told.runner == PLAYWRIGHT && is_own(told.again) && !listed.contains(&told.name) {
                told.result = told.result.min(if told.result == Failed {
                    Passed
                } else {
                    Skipped
                });
            }
        }
        let ran = passed + self.failed + self.flaky;
        found.close(PLAYWRIGHT, ran, ran);
        *self = Self::default();
    }
}

fn place(at: usize, name: &str, found: &mut Found) {
    if let Some((file, _)) = name.split_once(" > ") {
        found.place(at, file);
    }
}

/// `✓  1 a.spec.ts:3:5 › calc › adds (5ms)`, `✘  2 [chromium] › a.spec.ts:3:5 › calc › muls (retry #1) (3ms)`
fn read_test(text: &str) -> Option<(String, TestResult, Again)> {
    let (mark, rest) = text.split_once(' ')?;
    let result = match mark {
        "\u{2713}" | "ok" => Passed,
        "\u{2718}" | "x" => Failed,
        "-" => Skipped,
        _ => return None,
    };
    let (number, name) = rest.trim_start().split_once(' ')?;
    number.parse::<u32>().ok()?;
    let name = without_time(name);
    let (name, again) = match name.rsplit_once(" (retry #") {
        Some((name, number)) => (
            name,
            Again::Attempt(number.strip_suffix(')')?.parse().ok()?),
        ),
        None => (name, Again::No),
    };
    Some((make_name(name)?, result, again))
}

/// `a.spec.ts:3:5 › calc › adds` without the place in the file, which moves.
fn make_name(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split(" \u{203a} ").collect();
    let file = parts.iter().position(|part| {
        let mut place = part.rsplit(':');
        let is_number = |text: Option<&str>| text.is_some_and(|text| text.parse::<u32>().is_ok());
        is_number(place.next()) && is_number(place.next())
    })?;
    let path = parts[file].rsplitn(3, ':').nth(2)?;
    let behind = parts[..file].iter().chain(&parts[file + 1..]);
    let titles = behind.map(|part| format!(" > {part}"));
    let names = [path.to_owned()].into_iter().chain(titles);
    (parts.len() > file + 1).then(|| names.collect())
}
