//! RSpec, minitest and test-unit.

use super::reader::Reader;
use crate::outcomes::found::{Again, Found};
use crate::outcomes::text::number_before;
use crate::outcomes::types::TestResult::{Failed, Passed, Skipped};
use std::collections::BTreeMap;

const RSPEC: &str = "rspec";
const MINITEST: &str = "minitest";
const TEST_UNIT: &str = "test-unit";

#[derive(Default)]
pub(super) struct Ruby {
    /// Reasons of RSpec's by the name of the example, and the example whose reason comes.
    reasons: BTreeMap<String, String>,
    example: Option<String>,
    is_failure: bool,
    /// The file that could not be loaded.
    unloaded: Option<String>,
    /// The test whose reason comes.
    why: Option<usize>,
    is_minitest_list: bool,
    /// The class whose tests test-unit names.
    class: Option<String>,
}

impl Reader for Ruby {
    fn read(&mut self, line: &str, found: &mut Found) -> bool {
        self.read_rspec(line, found)
            || self.read_minitest(line, found)
            || self.read_test_unit(line, found)
    }
}

impl Ruby {
    fn read_rspec(&mut self, line: &str, found: &mut Found) -> bool {
        // `rspec ./spec/calc_spec.rb:5 # Calc multiplies`
        if let Some((place, name)) = line
            .strip_prefix("rspec ")
            .and_then(|rest| rest.split_once(" # "))
        {
            let at = found.tell(RSPEC, name, Failed, Again::Echo);
            let file = place.trim_matches('\'').split_once(".rb");
            if let Some((file, _)) = file {
                let file = format!("{}.rb", file.trim_start_matches("./"));
                found.prefix(RSPEC, at..usize::MAX, &format!("{file} > "));
                found.place(at, &file);
            }
            if let Some(reason) = self.reasons.get(name.trim()) {
                found.explain(at, reason);
            }
            return true;
        }
        if let Some(file) = line.strip_prefix("An error occurred while loading ") {
            let file = file.trim_end_matches('.').to_owned();
            found.unload(&file, "");
            self.unloaded = Some(file);
            return true;
        }
        if let Some(file) = self.unloaded.clone()
            && !line.trim().is_empty()
            && !line.starts_with("Failure/Error:")
            && !line.ends_with(':')
        {
            found.unload(&file, line);
            self.unloaded = None;
            return true;
        }
        if let Some(rest) = line.strip_prefix("  ")
            && let Some((number, name)) = rest.split_once(") ")
            && number.parse::<u32>().is_ok()
        {
            self.example = Some(name.trim().to_owned());
            self.is_failure = false;
            return false;
        }
        if let Some(name) = &self.example {
            let text = line.trim();
            if text.starts_with("Failure/Error:") {
                self.is_failure = true;
            } else if self.is_failure && !text.is_empty() {
                self.reasons.insert(name.clone(), text.to_owned());
                self.example = None;
            }
        }
        if line.contains(" example") && line.contains(" failure") {
            let Some(all) = number_before(line, " example") else {
                return false;
            };
            let ran = all.saturating_sub(number_before(line, " pending").unwrap_or(0));
            found.close(RSPEC, ran, ran);
            return true;
        }
        false
    }

    fn read_minitest(&mut self, line: &str, found: &mut Found) -> bool {
        // `CalcTest#test_mul = 0.01 s = F`
        if let Some((rest, mark)) = line.rsplit_once(" s = ")
            && let Some((name, seconds)) = rest.rsplit_once(" = ")
            && name.contains('#')
            && seconds.parse::<f64>().is_ok()
        {
            let result = match mark {
                "." => Passed,
                "F" | "E" => Failed,
                "S" => Skipped,
                _ => return false,
            };
            found.tell(MINITEST, name, result, Again::No);
            return true;
        }
        // `  1) Failure:`, and on the next line `CalcTest#test_mul [calc_test.rb:4]:`
        if let Some((number, kind)) = line.trim_start().split_once(") ")
            && number.parse::<u32>().is_ok()
        {
            self.is_minitest_list = matches!(kind, "Failure:" | "Error:");
            return self.is_minitest_list;
        }
        if std::mem::take(&mut self.is_minitest_list)
            && let Some((name, file)) = split_place(line)
        {
            let at = found.tell(MINITEST, name, Failed, Again::Echo);
            if let Some(file) = file {
                found.place(at, file);
            }
            self.why = Some(at);
            return true;
        }
        // Of both: `4 runs, 2 assertions, …` and `4 tests, 2 assertions, …`
        if line.contains(" assertions, ") && line.contains(" failures, ") {
            for (word, runner) in [(" runs, ", MINITEST), (" tests, ", TEST_UNIT)] {
                if let Some(ran) = number_before(line, word) {
                    found.close(runner, ran, ran);
                    *self = Self::default();
                    return true;
                }
            }
        }
        if let Some(at) = self.why.take_if(|_| !is_source(line)) {
            found.explain(at, line);
            return true;
        }
        false
    }

    fn read_test_unit(&mut self, line: &str, found: &mut Found) -> bool {
        // `Failure: test_mul(CalcTest)`, `Error: test_err(CalcTest): RuntimeError: no`
        if let Some((kind, rest)) = line.split_once(": ")
            && matches!(kind, "Failure" | "Error")
            && let Some((name, behind)) = rest.split_once(')')
            && let Some((test, class)) = name.split_once('(')
        {
            let at = found.tell(TEST_UNIT, &format!("{class}#{test}"), Failed, Again::Echo);
            let why = behind.trim_start_matches(':');
            found.explain(at, why);
            self.why = Some(at);
            return true;
        }
        // `CalcTest:` and `  test_add:<tab>.: (0.000179)`
        if let Some(class) = line.strip_suffix(':')
            && class.starts_with(char::is_uppercase)
            && !class.contains(' ')
        {
            self.class = Some(class.to_owned());
            return false;
        }
        if let Some(class) = &self.class
            && let Some((test, rest)) = line.split_once(":\t")
            && line.starts_with("  ")
        {
            let result = match rest.trim_start().split(':').next() {
                Some(".") => Passed,
                Some("F" | "E") => Failed,
                Some("P" | "O" | "N") => Skipped,
                _ => return false,
            };
            let name = format!("{class}#{}", test.trim());
            found.tell(TEST_UNIT, &name, result, Again::No);
            return true;
        }
        false
    }
}

/// `tu_test.rb:4:in `test_mul'`, `  => 4:   def test_mul; …`: where it failed, not why.
fn is_source(line: &str) -> bool {
    let text = line.trim_start().trim_start_matches("=> ");
    let number = text.split(':').next().unwrap_or_default();
    text.is_empty() || number.parse::<u32>().is_ok() || text.contains(":in ")
}

/// `CalcTest#test_mul [calc_test.rb:4]:`, `CalcTest#test_err:`
fn split_place(line: &str) -> Option<(&str, Option<&str>)> {
    let line = line.strip_suffix(':')?;
    let (name, place) = match line.rsplit_once(" [") {
        Some((name, place)) => (name, Some(place.strip_suffix(']')?)),
        None => (line, None),
    };
    let file = place.map(|place| place.rsplit_once(':').map_or(place, |(file, _)| file));
    name.contains('#').then_some((name, file))
}
