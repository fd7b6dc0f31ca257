//! Lines of AVA.

use super::reader::Reader;
use crate::trials::outcomes::found::{Again, Found};
use crate::trials::outcomes::text::{indent_of, without_time};
use crate::trials::outcomes::types::TestResult::{self, Failed, Passed, Skipped};

const AVA: &str = "ava";

#[derive(Default)]
pub(super) struct Ava {
    ran: u64,
}

impl Reader for Ava {
    fn read(&mut self, line: &str, found: &mut Found) -> bool {
        if indent_of(line) != 2 {
            return false;
        }
        let text = line.trim_start();
        if text == "\u{2718} Couldn\u{2019}t find any matching tests" {
            found.count(AVA, 0, false);
            return true;
        }
        if let Some((name, result)) = read_test(text) {
            found.tell(AVA, name, result, Again::No);
            self.ran += u64::from(result != Skipped);
            // A mark alone is no test, and others print the same.
            return false;
        }
        let is_count = |word: &str| {
            let count = text
                .strip_suffix(word)
                .map(|text| text.trim_end_matches('s'));
            let count = count.and_then(|text| text.strip_suffix(" test"));
            count.is_some_and(|count| count.parse::<u32>().is_ok())
        };
        if is_count(" failed") || is_count(" passed") {
            found.close(AVA, self.ran, self.ran);
            self.ran = 0;
            return true;
        }
        false
    }

    fn end(&mut self, found: &mut Found) {
        found.void_open(AVA);
    }
}

/// `✔ a › adds (110ms)`, `✘ [fail]: a › muls`, `✔ [expected fail] a › known`, `- [skip] a › skips`
fn read_test(text: &str) -> Option<(&str, TestResult)> {
    let (mark, name) = text.split_once(' ')?;
    let (result, name) = match mark {
        "\u{2714}" => (
            Passed,
            name.strip_prefix("[expected fail] ").unwrap_or(name),
        ),
        "\u{2718}" => (Failed, name.strip_prefix("[")?.split_once("]: ")?.1),
        "-" => (Skipped, name.strip_prefix("[")?.split_once("] ")?.1),
        _ => return None,
    };
    Some((without_time(name), result))
}
