//! `bun test`.

use super::reader::Reader;
use crate::trials::outcomes::found::{Again, Found};
use crate::trials::outcomes::text::{find_result, is_script, number_before, without_time};
use crate::trials::outcomes::types::TestResult::Failed;

const BUN: &str = "bun";

#[derive(Default)]
pub(super) struct Bun {
    file: Option<String>,
    /// The error that was told last: it stands before its test.
    error: Option<String>,
    is_unhandled: bool,
    is_list: bool,
}

impl Reader for Bun {
    fn read(&mut self, line: &str, found: &mut Found) -> bool {
        if let Some(file) = line.strip_suffix(':').filter(|file| is_script(file))
            && !file.starts_with(' ')
        {
            self.file = Some(file.to_owned());
            self.error = None;
            return true;
        }
        if let Some(error) = line.strip_prefix("error: ") {
            if let Some(file) = self.file.clone().filter(|_| self.is_unhandled) {
                found.unload(&file, error);
                self.is_unhandled = false;
            } else {
                self.error = Some(error.to_owned());
            }
            if error.starts_with("regex ") && error.contains(" matched 0 tests.") {
                found.count(BUN, 0, false);
            }
            return false;
        }
        if line == "# Unhandled error between tests" {
            self.is_unhandled = true;
            return true;
        }
        if line == "The following filters did not match any test files:" {
            found.count(BUN, 0, false);
            return true;
        }
        if line.ends_with(" tests failed:") || line.ends_with(" test failed:") {
            self.is_list = true;
            return true;
        }
        if let Some(rest) = line
            .strip_prefix("Ran ")
            .filter(|rest| rest.contains(" across "))
        {
            let ran = number_before(rest, " test").unwrap_or(0);
            found.close(BUN, ran, ran.saturating_sub(found.unloaded.len() as u64));
            *self = Self::default();
            return true;
        }
        self.read_test(line, found).is_some()
    }
}

impl Bun {
    /// `(pass) suite > name [0.12ms]`
    fn read_test(&mut self, line: &str, found: &mut Found) -> Option<()> {
        let (word, name) = line.strip_prefix('(')?.split_once(") ")?;
        let result = find_result(word)?;
        let again = if self.is_list { Again::Echo } else { Again::No };
        let at = found.tell(BUN, without_time(name), result, again);
        if let Some(file) = &self.file {
            found.prefix(BUN, at..usize::MAX, &format!("{file} > "));
            found.place(at, file);
        }
        if let Some(error) = self.error.take().filter(|_| result == Failed) {
            found.explain(at, &error);
        }
        Some(())
    }
}
