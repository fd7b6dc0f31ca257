//! The spec reporter of mocha.

use super::reader::Reader;
use crate::outcomes::found::{Again, Found};
use crate::outcomes::text::{indent_of, number_before, without_time};
use crate::outcomes::types::TestResult::{Failed, Passed, Skipped};

const MOCHA: &str = "mocha";

#[derive(Default)]
pub(super) struct Mocha {
    /// Titles of suites, outermost first, with how far in each stands.
    suites: Vec<(usize, String)>,
    /// Tests that failed, by their number.
    failed: Vec<usize>,
    /// The list of failures, and the one whose reason is awaited.
    is_list: bool,
    why: Option<usize>,
}

impl Reader for Mocha {
    fn read(&mut self, line: &str, found: &mut Found) -> bool {
        let text = line.trim_start();
        let indent = indent_of(line);
        if text.starts_with("\u{2139} tests ") {
            found.void_open(MOCHA);
        }
        if indent == 2 && self.read_count(text, found) {
            return true;
        }
        if self.is_list {
            let number = text
                .split_once(") ")
                .and_then(|(number, _)| number.parse().ok());
            if let Some(number) = number.filter(|_| indent == 2) {
                self.why = self.failed.get(usize::wrapping_sub(number, 1)).copied();
            } else if let Some(at) = self.why
                && indent >= 5
                && text.contains("Error")
            {
                found.explain(at, text);
                self.why = None;
            }
        }
        if indent == 0 || text.is_empty() {
            return false;
        }
        self.read_test(indent, text, found)
    }

    /// A mark alone is no test: `✓ built in 876ms` is a bundler's.
    fn end(&mut self, found: &mut Found) {
        found.void_open(MOCHA);
    }
}

impl Mocha {
    /// `3 passing (9ms)`, `2 pending`, `1 failing`
    fn read_count(&mut self, text: &str, found: &mut Found) -> bool {
        if text.contains(" passing (") && without_time(text).ends_with(" passing") {
            let passing = number_before(text, " passing").unwrap_or(0);
            found.close(MOCHA, passing, passing);
            self.suites.clear();
            self.is_list = true;
            return true;
        }
        let failing = text
            .strip_suffix(" failing")
            .and_then(|count| count.parse::<u64>().ok());
        if let Some(failing) = failing.filter(|_| self.is_list) {
            found.count(MOCHA, failing, false);
            return true;
        }
        false
    }

    fn read_test(&mut self, indent: usize, text: &str, found: &mut Found) -> bool {
        let (mark, title) = text.split_once(' ').unwrap_or((text, ""));
        let result = match mark {
            "\u{2714}" | "\u{2713}" | "\u{221a}" => Passed,
            "-" => Skipped,
            _ if mark
                .strip_suffix(')')
                .is_some_and(|n| n.parse::<u32>().is_ok()) =>
            {
                Failed
            }
            _ => {
                if indent.is_multiple_of(2) {
                    self.suites.retain(|(at, _)| *at < indent);
                    self.suites.push((indent, text.to_owned()));
                }
                return false;
            }
        };
        if self.is_list && result != Passed || title.is_empty() {
            return false;
        }
        if std::mem::take(&mut self.is_list) {
            self.failed.clear();
        }
        self.suites.retain(|(at, _)| *at < indent);
        let mut name: Vec<&str> = Vec::new();
        let mut outer = indent;
        for (at, suite) in self.suites.iter().rev() {
            if *at + 2 != outer {
                break;
            }
            outer = *at;
            name.insert(0, suite);
        }
        // A hook that fails is the failure of the test that it is for.
        let hooked = title
            .rsplit_once("\" hook for \"")
            .filter(|_| result == Failed);
        let hooked = hooked.and_then(|(_, test)| test.strip_suffix('"'));
        name.push(hooked.unwrap_or(without_time(title)));
        let at = found.tell(MOCHA, &name.join(" > "), result, Again::No);
        if result == Failed {
            self.failed.push(at);
        }
        true
    }
}
