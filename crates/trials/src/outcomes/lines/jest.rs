//! Lines of jest.

use super::reader::Reader;
use crate::outcomes::found::{Again, Found};
use crate::outcomes::text::{indent_of, is_script, number_before, without_time};
use crate::outcomes::types::TestResult::{Failed, Passed, Skipped};

const JEST: &str = "jest";

#[derive(Default)]
pub(super) struct Jest {
    /// The file whose results are told, and whether its list goes on.
    file: Option<String>,
    is_list: bool,
    suites: Vec<(usize, String)>,
    /// What the next line with letters says the reason of.
    why: Option<Why>,
}

enum Why {
    Test(usize),
    File(String),
}

impl Reader for Jest {
    fn read(&mut self, line: &str, found: &mut Found) -> bool {
        if let Some(file) = read_file(line) {
            self.file = Some(file.to_owned());
            self.is_list = true;
            self.suites.clear();
            self.why = None;
            return true;
        }
        if let Some(counts) = line.strip_prefix("Tests: ") {
            return self.read_counts(counts, found);
        }
        if line.starts_with("No tests found, exiting with code ") {
            found.count(JEST, 0, false);
            return true;
        }
        let Some(file) = self.file.clone() else {
            return false;
        };
        if self.is_list {
            self.is_list = !line.is_empty() && indent_of(line) >= 2;
            if self.is_list && !line.trim_start().starts_with('\u{25cf}') {
                self.read_test(&file, line, found);
                return true;
            }
        }
        if let Some(title) = line.strip_prefix("  \u{25cf} ") {
            self.why = None;
            if title == "Test suite failed to run" {
                self.why = Some(Why::File(file.clone()));
                found.unload(&file, "");
            } else if title != "Console" && !title.ends_with(':') {
                let name = format!("{file} > {}", title.replace(" \u{203a} ", " > "));
                let at = found.tell(JEST, &name, Failed, Again::Echo);
                found.place(at, &file);
                self.why = Some(Why::Test(at));
            }
            return true;
        }
        if !line.is_empty() && indent_of(line) >= 4 {
            match self.why.take() {
                Some(Why::Test(at)) => found.explain(at, line),
                Some(Why::File(file)) => found.unload(&file, line),
                None => return false,
            }
            return true;
        }
        false
    }
}

impl Jest {
    fn read_test(&mut self, file: &str, line: &str, found: &mut Found) {
        let indent = indent_of(line);
        let text = line.trim_start();
        self.suites.retain(|(at, _)| *at < indent);
        let (mark, title) = text.split_once(' ').unwrap_or((text, ""));
        let (result, title) = match mark {
            "\u{2713}" | "\u{221a}" => (Passed, title),
            "\u{2715}" | "\u{d7}" => (Failed, title),
            "\u{25cb}" => (Skipped, title.strip_prefix("skipped ").unwrap_or(title)),
            "\u{270e}" => (Skipped, title.strip_prefix("todo ").unwrap_or(title)),
            _ => {
                self.suites.push((indent, text.to_owned()));
                return;
            }
        };
        let suites = self.suites.iter().map(|(_, title)| title.as_str());
        let name: Vec<&str> = [file]
            .into_iter()
            .chain(suites)
            .chain([without_time(title)])
            .collect();
        let at = found.tell(JEST, &name.join(" > "), result, Again::No);
        found.place(at, file);
    }

    /// `Tests:       1 failed, 1 skipped, 1 todo, 6 passed, 9 total`
    fn read_counts(&mut self, counts: &str, found: &mut Found) -> bool {
        let Some(total) = number_before(counts, " total") else {
            return false;
        };
        let count = |word: &str| number_before(counts, word).unwrap_or(0);
        let ran = count(" passed") + count(" failed");
        found.close(JEST, ran, total);
        *self = Self::default();
        true
    }
}

/// `PASS t/a.test.js`, `FAIL project t/a.test.js (5.2 s)`
fn read_file(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("PASS ").or(line.strip_prefix("FAIL "))?;
    let file = without_time(rest).rsplit(' ').next()?;
    (is_script(file) && !rest.starts_with(' ')).then_some(file)
}
