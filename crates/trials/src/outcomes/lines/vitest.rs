//! vitest. Its default reporter leaves out the titles of suites: only what it names in full counts.

use super::reader::Reader;
use crate::outcomes::found::{Again, Found};
use crate::outcomes::text::{is_time, number_before};
use crate::outcomes::types::TestResult::{Failed, Passed, Skipped};

const VITEST: &str = "vitest";

#[derive(Default)]
pub(super) struct Vitest {
    is_known: bool,
    why: Option<Why>,
}

enum Why {
    Test(usize),
    File(String),
}

impl Reader for Vitest {
    fn read(&mut self, line: &str, found: &mut Found) -> bool {
        if line.starts_with(" RUN  v") || line.starts_with(" DEV  v") {
            self.is_known = true;
            return true;
        }
        if line.starts_with("No test files found, exiting with code ") {
            found.count(VITEST, 0, false);
            return true;
        }
        if let Some(counts) = line.strip_prefix("      Tests  ") {
            self.is_known = true;
            return self.read_counts(counts, found);
        }
        if let Some(rest) = line.strip_prefix(" FAIL  ") {
            self.is_known = true;
            self.read_failure(rest, found);
            return true;
        }
        if let Some(rest) = line.strip_prefix(' ')
            && self.read_test(rest, found)
        {
            return true;
        }
        match self.why.take().filter(|_| !line.is_empty()) {
            Some(Why::Test(at)) => found.explain(at, line.trim_start_matches([' ', '\u{2192}'])),
            Some(Why::File(file)) => found.unload(&file, line),
            None => return false,
        }
        true
    }

    fn end(&mut self, found: &mut Found) {
        if !self.is_known {
            found.void_open(VITEST);
        }
    }
}

impl Vitest {
    /// `✓ a.test.js > suite > name 3ms (retry x1)`, of the verbose reporter.
    fn read_test(&mut self, rest: &str, found: &mut Found) -> bool {
        let Some((mark, name)) = rest.split_once(' ') else {
            return false;
        };
        let result = match mark {
            "\u{2713}" => Passed,
            "\u{d7}" => Failed,
            "\u{2193}" | "\u{25a1}" => Skipped,
            _ => return false,
        };
        let full = read_name(name);
        let name = full.as_str();
        if !name.contains(" > ") {
            // A file, with a count of its tests.
            return true;
        }
        let mut name = name;
        let mut is_flaky = false;
        for mark in [" (retry x", " (repeat x"] {
            if let Some((before, _)) = name.rsplit_once(mark).filter(|_| name.ends_with(')')) {
                name = before;
                is_flaky |= mark == " (retry x" && result == Passed;
            }
        }
        if let Some((before, _)) = name.rsplit_once(' ').filter(|(_, time)| is_time(time)) {
            name = before.trim_end();
        }
        let at = found.tell(VITEST, name, result, Again::No);
        if let Some(told) = found.told.get_mut(at) {
            told.is_flaky = is_flaky;
        }
        place(at, name, found);
        self.why = (result == Failed).then_some(Why::Test(at));
        true
    }

    /// `a.test.js > suite > name`, or `c.test.js [ c.test.js ]`, which did not load.
    fn read_failure(&mut self, rest: &str, found: &mut Found) {
        let full = read_name(rest);
        let name = full.as_str();
        if let Some((file, _)) = name.split_once(" [ ").filter(|_| name.ends_with(" ]")) {
            let file = without_project(file);
            found.unload(file, "");
            self.why = Some(Why::File(file.to_owned()));
        } else if name.contains(" > ") {
            let at = found.tell(VITEST, name, Failed, Again::Echo);
            place(at, name, found);
            self.why = Some(Why::Test(at));
        }
    }

    /// `1 failed | 6 passed | 1 skipped (10)`
    fn read_counts(&mut self, counts: &str, found: &mut Found) -> bool {
        let count = |word: &str| number_before(counts, word).unwrap_or(0);
        let ran = count(" passed") + count(" failed") + count(" expected fail");
        let total = counts
            .rsplit_once('(')
            .and_then(|(_, total)| total.strip_suffix(')'));
        let total: u64 = total.and_then(|total| total.parse().ok()).unwrap_or(ran);
        found.close(VITEST, ran, total);
        true
    }
}

fn place(at: usize, name: &str, found: &mut Found) {
    if let Some((file, _)) = name.split_once(" > ") {
        found.place(at, without_project(file));
    }
}

/// `|project| a.test.js`, also where it stands on a colour: ` project  a.test.js`.
fn read_name(text: &str) -> String {
    let text = text.trim();
    match text.split_once("  ") {
        Some((project, name)) if !text.starts_with('|') && !project.contains(" > ") => {
            format!("|{project}| {}", name.trim_start())
        }
        _ => text.to_owned(),
    }
}

fn without_project(name: &str) -> &str {
    let inside = name
        .strip_prefix('|')
        .and_then(|rest| rest.split_once("| "));
    inside.map_or(name, |(_, name)| name.trim_start())
}
