//! PHPUnit, which names what did not pass.

use super::reader::Reader;
use crate::trials::outcomes::found::{Again, Found};
use crate::trials::outcomes::text::number_before;
use crate::trials::outcomes::types::TestResult::{self, Failed, Passed, Skipped};

const PHPUNIT: &str = "phpunit";

#[derive(Default)]
pub(super) struct Phpunit {
    /// What the list that goes on is of.
    list: Option<TestResult>,
    why: Option<usize>,
}

impl Reader for Phpunit {
    fn read(&mut self, line: &str, found: &mut Found) -> bool {
        if let Some(result) = read_heading(line) {
            self.list = Some(result);
            return true;
        }
        if line == "No tests executed!" {
            found.count(PHPUNIT, 0, false);
            return true;
        }
        let is_ok = line.starts_with("OK (") && line.contains(" assertion");
        if is_ok || line.starts_with("Tests: ") && line.contains(", Assertions: ") {
            let ran = match is_ok {
                true => number_before(line, " test"),
                false => number_before(line, ","),
            };
            let ran = ran.unwrap_or(0);
            found.close(PHPUNIT, ran, ran);
            *self = Self::default();
            return true;
        }
        let Some(result) = self.list else {
            return false;
        };
        if let Some((number, name)) = line.split_once(") ")
            && number.parse::<u32>().is_ok()
            && name.contains("::")
        {
            let at = found.tell(PHPUNIT, without_values(name), result, Again::No);
            self.why = Some(at);
            return true;
        }
        if let Some(at) = self.why.take_if(|_| !line.is_empty()) {
            found.explain(at, line);
            return true;
        }
        false
    }
}

/// `There were 2 failures:`
fn read_heading(line: &str) -> Option<TestResult> {
    let rest = line
        .strip_prefix("There was ")
        .or(line.strip_prefix("There were "))?;
    let (number, kind) = rest.strip_suffix(':')?.split_once(' ')?;
    number.parse::<u32>().ok()?;
    Some(match kind.split(' ').next()? {
        "failure" | "failures" | "error" | "errors" => Failed,
        "skipped" | "incomplete" => Skipped,
        // A risky test, or one with a warning, ran and held.
        _ => Passed,
    })
}

/// `T::t with data set "two" (2)`: the values are no part of the name.
fn without_values(name: &str) -> &str {
    let Some(at) = name.find(" with data set ") else {
        return name;
    };
    let set = at + " with data set ".len();
    let end = match name[set..].strip_prefix('"') {
        Some(rest) => rest.find("\" (").map(|end| set + end + 2),
        None => name[set..].find(" (").map(|end| set + end),
    };
    end.map_or(name, |end| &name[..end])
}
