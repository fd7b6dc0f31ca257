//! The spec reporter of `node --test`.

use super::reader::Reader;
use crate::outcomes::found::{Again, Found};
use crate::outcomes::text::{indent_of, is_script, is_time};
use crate::outcomes::types::TestResult::{self, Failed, Passed, Skipped};

const NODE: &str = "node";

#[derive(Default)]
pub(super) struct Node {
    /// `▶ title`, outermost first, with how far in each stands.
    suites: Vec<(usize, String)>,
    /// The list of what failed once more, with the file of the next one.
    is_list: bool,
    listed: usize,
    place: Option<String>,
    failed: Option<usize>,
}

impl Reader for Node {
    fn read(&mut self, line: &str, found: &mut Found) -> bool {
        let text = line.trim_start();
        let indent = indent_of(line);
        if text == "\u{2716} failing tests:" {
            self.is_list = true;
            return true;
        }
        // A mark alone is no test: it waits for this line.
        if text.starts_with("\u{2139} tests ") {
            let ran = found.open(NODE).count() as u64;
            found.close(NODE, ran, 0);
            // mocha has to see that what it took for its own is not.
            return false;
        }
        if let Some(title) = text.strip_prefix("\u{25b6} ") {
            self.suites.retain(|(at, _)| *at < indent);
            self.suites.push((indent, title.to_owned()));
            return true;
        }
        if let Some(place) = line.strip_prefix("test at ").filter(|_| self.is_list) {
            let file = place.rsplitn(3, ':').nth(2);
            self.place = file.map(str::to_owned);
            return true;
        }
        if let Some((title, result)) = read_test(text) {
            match self.is_list {
                true => self.find(title, found),
                false => self.tell(indent, title, result, found),
            }
            return self.is_list;
        }
        if text.contains(" passing (") {
            found.void_open(NODE);
        }
        if let Some(at) = self.failed.take_if(|_| self.is_list) {
            found.explain(at, text.trim_matches('\''));
            return true;
        }
        false
    }

    fn end(&mut self, found: &mut Found) {
        found.void_open(NODE);
    }
}

impl Node {
    fn tell(&mut self, indent: usize, title: &str, result: TestResult, found: &mut Found) {
        self.suites.retain(|(at, _)| *at < indent);
        // A file that holds no test passes as one.
        if indent == 0 && is_script(title) && !title.contains(' ') {
            if result == Failed {
                found.unload(title, "it did not run to its end");
            }
            return;
        }
        let above = self.suites.iter().map(|(_, title)| title.as_str());
        let name: Vec<&str> = above.chain([title]).collect();
        found.tell(NODE, &name.join(" > "), result, Again::No);
    }

    /// The first of those that failed with this title and have no reason yet.
    fn find(&mut self, title: &str, found: &mut Found) {
        let is_it = |name: &str| {
            name.strip_suffix(title)
                .is_some_and(|above| above.is_empty() || above.ends_with(" > "))
        };
        // They are listed in the order in which they failed.
        let failed = found.told.iter().enumerate().skip(self.listed);
        let mut failed = failed.filter(|(_, told)| told.runner == NODE && told.result == Failed);
        let at = failed.find(|(_, told)| is_it(&told.name)).map(|(at, _)| at);
        if let Some(at) = at {
            self.listed = at + 1;
        }
        if let (Some(at), Some(file)) = (at, self.place.take()) {
            found.place(at, &file);
        }
        self.failed = at;
    }
}

/// `✔ title (1.2ms)`, `✖ title (1.2ms) # EXPECTED FAILURE`, `﹣ title (1.2ms) # SKIP`
fn read_test(text: &str) -> Option<(&str, TestResult)> {
    let (mark, rest) = text.split_once(' ')?;
    let result = match mark {
        "\u{2714}" => Passed,
        "\u{2716}" => Failed,
        "\u{fe63}" | "\u{26a0}" => Skipped,
        _ => return None,
    };
    // Behind the time stands why a test was set aside, in anybody's words.
    let mut places = rest.match_indices(" (");
    let (at, end) = places.find_map(|(at, open)| {
        let time = &rest[at + open.len()..];
        let end = time.find(')')?;
        let behind = &time[end + 1..];
        let is_end = is_time(&time[..end]) && (behind.is_empty() || behind.starts_with(" # "));
        is_end.then_some((at, at + open.len() + end + 1))
    })?;
    let directive = rest[end..].trim_start_matches([' ', '#']);
    let result = match directive {
        "" | "EXPECTED FAILURE" => result,
        _ if directive.starts_with("EXPECTED FAILURE") => result,
        _ => Skipped,
    };
    Some((&rest[..at], result))
}
