//! pytest: its progress with `-v`, and its short summary.

use super::reader::Reader;
use crate::outcomes::found::{Again, Found};
use crate::outcomes::text::number_before;
use crate::outcomes::types::TestResult::{self, Failed, Passed, Skipped};
use std::collections::BTreeMap;

const PYTEST: &str = "pytest";

#[derive(Default)]
pub(super) struct Pytest {
    is_summary: bool,
    /// What was captured of tests is shown: it holds no progress.
    is_report: bool,
    /// Tests that ran again, so many times.
    reruns: BTreeMap<String, u32>,
    /// The file whose collection failed.
    collected: Option<String>,
    why: BTreeMap<String, String>,
}

impl Reader for Pytest {
    fn read(&mut self, line: &str, found: &mut Found) -> bool {
        if self.read_frame(line, found) {
            return true;
        }
        if let Some(file) = &self.collected
            && let Some(error) = line.strip_prefix("E  ")
        {
            let why = self.why.entry(file.clone()).or_default();
            if why.is_empty() {
                error.trim().clone_into(why);
            }
        }
        if let Some((name, result, why)) = read_summary(line).filter(|_| !self.is_report) {
            self.tell(name, result, true, why, found);
            return true;
        }
        if let Some((name, word)) = read_progress(line).filter(|_| !self.is_report) {
            let is_first = self.reruns.get(name).copied();
            if word == "RERUN" {
                let tried = is_first.unwrap_or(0);
                self.reruns.insert(name.to_owned(), tried + 1);
                let at = self.tell(name, Failed, false, "", found);
                if let Some(told) = found.told.get_mut(at) {
                    told.again = Again::Attempt(tried);
                }
            } else if let Some(result) = find_result(word) {
                // A test that passed and could not be taken down is one test.
                let is_known = word == "ERROR" || word.starts_with("SUB");
                let at = self.tell(name, result, is_known, "", found);
                if let (Some(told), Some(tried)) = (found.told.get_mut(at), is_first)
                    && !is_known
                {
                    told.again = Again::Attempt(tried);
                }
            }
            return true;
        }
        false
    }

    fn end(&mut self, found: &mut Found) {
        for (file, why) in &self.why {
            if !why.is_empty() || found.unloaded.contains_key(file) {
                found.unloaded.insert(found.relative(file), String::new());
                found.unload(file, why);
            }
        }
    }
}

impl Pytest {
    fn tell(
        &mut self,
        name: &str,
        result: TestResult,
        is_echo: bool,
        why: &str,
        found: &mut Found,
    ) -> usize {
        let again = if is_echo { Again::Echo } else { Again::No };
        let at = found.tell(PYTEST, name, result, again);
        if let Some((file, _)) = name.split_once("::") {
            found.place(at, file);
        }
        found.explain(at, why);
        at
    }

    /// Headings and the last line, with the counts.
    fn read_frame(&mut self, line: &str, found: &mut Found) -> bool {
        if line.starts_with("====") {
            let heading = line.trim_matches(['=', ' ']);
            self.is_summary = heading == "short test summary info";
            self.is_report = matches!(
                heading,
                "ERRORS" | "FAILURES" | "PASSES" | "XPASSES" | "XFAILURES"
            );
            self.collected = None;
            self.read_counts(heading, found);
            return true;
        }
        if line.starts_with("____") {
            let heading = line.trim_matches(['_', ' ']);
            let file = heading.strip_prefix("ERROR collecting ");
            self.collected = file.map(|file| file.trim_end().to_owned());
            return true;
        }
        if let Some(rest) = line.strip_prefix("ERROR ").filter(|_| self.is_summary)
            && !rest.contains("::")
        {
            let (file, why) = rest.split_once(" - ").unwrap_or((rest, ""));
            self.why.entry(file.to_owned()).or_default();
            found.unload(file, why);
            return true;
        }
        if let Some(rest) = line.strip_prefix("ImportError while loading conftest '") {
            let file = rest.split('\'').next().unwrap_or(rest);
            self.collected = Some(file.to_owned());
            found.unload(file, "");
            return true;
        }
        let is_last = line.contains(" in ") && line.ends_with(['s', ')']);
        // `-q` has no frame around the counts.
        if is_last && (line.starts_with("no tests ran in ") || line.starts_with(char::is_numeric)) {
            return self.read_counts(line, found);
        }
        false
    }

    /// `3 failed, 3 passed, 1 skipped, 2 errors in 0.91s`
    fn read_counts(&mut self, text: &str, found: &mut Found) -> bool {
        let Some((counts, time)) = text.rsplit_once(" in ") else {
            return false;
        };
        let is_time = time.trim_start().starts_with(|c: char| c.is_ascii_digit());
        let count = |word: &str| number_before(counts, word).unwrap_or(0);
        let ran = [" passed", " failed", " xfailed", " xpassed"]
            .map(count)
            .iter()
            .sum();
        let is_count = ["no tests ran", " deselected", " skipped", " error"]
            .iter()
            .any(|word| counts.contains(word));
        if !is_time || ran == 0 && !is_count {
            return false;
        }
        found.close(PYTEST, ran, ran);
        self.reruns.clear();
        true
    }
}

fn find_result(word: &str) -> Option<TestResult> {
    Some(match word {
        "PASSED" | "XFAIL" | "XPASS" | "SUBPASSED" | "SUBPASS" => Passed,
        "FAILED" | "ERROR" | "SUBFAILED" | "SUBFAIL" => Failed,
        "SKIPPED" | "SUBSKIPPED" | "SUBSKIP" => Skipped,
        _ => return None,
    })
}

/// `FAILED a.py::t[e - f] - why`, `PASSED a.py::t`, `SUBFAILED[part] (i=1) a.py::t - why`
fn read_summary(line: &str) -> Option<(&str, TestResult, &str)> {
    let (head, rest) = line.split_once(' ')?;
    let word = head.split(['[', '(']).next()?;
    let result = find_result(word)?;
    let name = match word.starts_with("SUB") {
        false if head.len() > word.len() => return None,
        false => rest,
        true => {
            let at = rest.find("::")?;
            let start = rest[..at].rfind(' ').map_or(0, |blank| blank + 1);
            &rest[start..]
        }
    };
    if !is_node(name) {
        return None;
    }
    let (name, why) = match matches!(word, "PASSED") {
        true => (name, ""),
        false => split_reason(name),
    };
    Some((name, result, why))
}

/// A file with what it holds: `a.py::T::t`
fn is_node(name: &str) -> bool {
    let file = name.split_once("::").map(|(file, _)| file);
    file.is_some_and(|file| file.contains('.') && !file.starts_with(' '))
}

/// Splits at the ` - ` that stands in no brackets.
fn split_reason(text: &str) -> (&str, &str) {
    for (at, mark) in text.match_indices(" - ") {
        let name = &text[..at];
        if name.matches('[').count() <= name.matches(']').count() {
            return (name, &text[at + mark.len()..]);
        }
    }
    (text, "")
}

/// `a.py::t PASSED   [ 50%]`, `a.py::t SKIPPED (later) [ 50%]`, `[gw1] [ 11%] PASSED a.py::t`
fn read_progress(line: &str) -> Option<(&str, &str)> {
    if let Some(rest) = line.strip_prefix("[gw") {
        let (_, rest) = rest.split_once("%] ")?;
        let (word, name) = rest.split_once(' ')?;
        return is_node(name).then_some((name.trim(), word));
    }
    let line = match line.rsplit_once(" [") {
        Some((before, percent)) if percent.ends_with("%]") => before.trim_end(),
        _ => line,
    };
    let first = line.find("::").filter(|_| is_node(line))?;
    let mut end = line.len();
    while let Some(at) = line[..end].rfind(' ').filter(|at| *at > first) {
        let behind = &line[at + 1..];
        let word = behind.split([' ', '[']).next()?;
        let rest = behind[word.len()..].trim_start();
        let is_whole = rest.is_empty() || rest.starts_with('(') || word.starts_with("SUB");
        if (word == "RERUN" || find_result(word).is_some()) && is_whole {
            return Some((line[..at].trim_end(), word));
        }
        end = at;
    }
    None
}
