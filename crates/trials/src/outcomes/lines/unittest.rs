//! Python's unittest.

use super::reader::Reader;
use crate::outcomes::found::{Again, Found};
use crate::outcomes::text::{indent_of, number_before, unittest_name};
use crate::outcomes::types::TestResult::{self, Failed, Passed, Skipped};

const UNITTEST: &str = "unittest";
/// What stands for a module that did not load.
const UNLOADED: &str = "unittest.loader._FailedTest.";

#[derive(Default)]
pub(super) struct Unittest {
    /// The test whose result, or description with the result, comes on another line.
    pending: Option<String>,
    /// The test or module whose failure is told.
    told: Option<(String, usize)>,
    /// The traceback began, and the line that says why.
    is_traceback: bool,
    last: String,
}

impl Reader for Unittest {
    fn read(&mut self, line: &str, found: &mut Found) -> bool {
        self.read_failure(line, found)
            || self.read_test(line, found)
            || self.read_count(line, found)
    }
}

impl Unittest {
    fn tell(&mut self, name: &str, result: TestResult, again: Again, found: &mut Found) -> usize {
        if let Some(module) = name.strip_prefix(UNLOADED) {
            found.unload(module, "");
            return usize::MAX;
        }
        found.tell(UNITTEST, name, result, again)
    }

    /// `FAIL: test_x (module.Class.test_x)`, a line of `-`, a traceback whose last line says why.
    fn read_failure(&mut self, line: &str, found: &mut Found) -> bool {
        let kinds = [
            ("FAIL: ", Failed),
            ("ERROR: ", Failed),
            ("UNEXPECTED SUCCESS: ", Failed),
        ];
        for (kind, result) in kinds {
            if let Some((name, rest)) = line.strip_prefix(kind).and_then(unittest_name)
                && rest.is_empty()
            {
                let at = self.tell(&name, result, Again::Echo, found);
                self.told = Some((name, at));
                self.is_traceback = false;
                self.last.clear();
                return true;
            }
        }
        let Some((name, at)) = &self.told else {
            return false;
        };
        let is_rule = line.len() > 60
            && (line.trim_matches('=').is_empty() || line.trim_matches('-').is_empty());
        if !self.is_traceback {
            self.is_traceback = is_rule;
            return is_rule;
        }
        if line.trim().is_empty() || is_rule && !self.last.is_empty() {
            if !self.last.is_empty() {
                match name.strip_prefix(UNLOADED) {
                    Some(module) => found.unload(module, &self.last),
                    None => found.explain(*at, &self.last),
                }
                self.told = None;
            }
            return is_rule;
        }
        let is_error = indent_of(line) == 0 && line.contains(|c: char| c.is_alphanumeric());
        let is_frame = ["Traceback (", "ImportError: Failed to import"];
        if is_error && self.last.is_empty() && !is_frame.iter().any(|start| line.starts_with(start))
        {
            line.clone_into(&mut self.last);
        }
        false
    }

    /// `test_x (module.Class.test_x) ... ok`
    fn read_test(&mut self, line: &str, found: &mut Found) -> bool {
        if let Some((name, rest)) = unittest_name(line.trim_start()) {
            let is_part = indent_of(line) > 0;
            let again = if is_part { Again::Echo } else { Again::No };
            if let Some(word) = rest.strip_prefix(" ... ") {
                self.pending = None;
                if let Some(result) = find_result(word) {
                    self.tell(&name, result, again, found);
                    return true;
                }
                // Before 3.11 the next test stands on the line of one with parts that failed.
                if unittest_name(word).is_some() {
                    self.tell(&name, Failed, Again::No, found);
                    return self.read_test(word, found);
                }
            }
            let is_open = rest.is_empty() || rest.starts_with(" ...");
            self.pending = is_open.then_some(name);
            return is_open;
        }
        let Some(name) = self.pending.clone() else {
            return false;
        };
        let word = line.rsplit_once(" ... ").map_or(line, |(_, word)| word);
        let Some(result) = find_result(word) else {
            return false;
        };
        self.pending = None;
        self.tell(&name, result, Again::No, found);
        true
    }

    /// `Ran 3 tests in 0.003s`
    fn read_count(&mut self, line: &str, found: &mut Found) -> bool {
        let Some(rest) = line.strip_prefix("Ran ") else {
            return false;
        };
        let Some(ran) = number_before(rest, " test").filter(|_| rest.contains(" in ")) else {
            return false;
        };
        found.close(
            UNITTEST,
            ran,
            ran.saturating_sub(found.unloaded.len() as u64),
        );
        *self = Self::default();
        true
    }
}

/// What it says behind a test or its description.
fn find_result(word: &str) -> Option<TestResult> {
    Some(match word.trim() {
        "ok" | "expected failure" => Passed,
        "FAIL" | "ERROR" | "unexpected success" => Failed,
        word if word == "skipped"
            || word.starts_with("skipped '")
            || word.starts_with("skipped \"") =>
        {
            Skipped
        }
        _ => return None,
    })
}
