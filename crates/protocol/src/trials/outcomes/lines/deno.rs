//! `deno test`.

use super::reader::Reader;
use crate::trials::outcomes::found::{Again, Found};
use crate::trials::outcomes::text::{find_result, indent_of, is_time, number_before};
use crate::trials::outcomes::types::TestResult::{self, Failed};
use std::collections::BTreeMap;

const DENO: &str = "deno";

#[derive(Default)]
pub(super) struct Deno {
    file: Option<String>,
    /// Tests with steps that run, outermost first, with how far in each stands.
    parents: Vec<(usize, String)>,
    is_output: bool,
    /// Tests that failed, by the names that the list of errors has.
    failed: BTreeMap<String, usize>,
    why: Option<String>,
}

impl Reader for Deno {
    fn read(&mut self, line: &str, found: &mut Found) -> bool {
        if let Some((_, file)) = line
            .strip_prefix("running ")
            .and_then(|rest| rest.split_once(" from "))
        {
            self.file = Some(file.trim_start_matches("./").to_owned());
            self.parents.clear();
            return true;
        }
        if line == "------- output -------" || line == "----- output end -----" {
            self.is_output = line.starts_with("-------");
            return true;
        }
        if self.is_output {
            return false;
        }
        if let Some((_, counts)) = line.split_once(" | ")
            && (line.starts_with("ok | ") || line.starts_with("FAILED | "))
        {
            let count = |word: &str| number_before(counts, word).unwrap_or(0);
            let ran = count(" passed") + count(" failed");
            found.close(DENO, ran, ran);
            *self = Self::default();
            return true;
        }
        if let Some((name, place)) = line.split_once(" => ") {
            let file = place.rsplitn(3, ':').nth(2).unwrap_or(place);
            self.why = Some(format!("{} > {name}", file.trim_start_matches("./")));
        } else if let Some(why) = line.strip_prefix("error: ")
            && let Some(at) = self.why.take().and_then(|name| self.failed.remove(&name))
        {
            found.explain(at, why);
        }
        self.read_test(line, found)
    }
}

impl Deno {
    /// `name ... ok (5ms)`, `name ... FAILED (due to 1 failed step) (1ms)`, `name ...` with its steps behind.
    fn read_test(&mut self, line: &str, found: &mut Found) -> bool {
        let Some(file) = self.file.clone() else {
            return false;
        };
        let indent = indent_of(line);
        let text = line.trim_start();
        if let Some(title) = text.strip_suffix(" ...") {
            self.parents.retain(|(at, _)| *at < indent);
            self.parents.push((indent, title.to_owned()));
            return true;
        }
        let Some((title, result)) = read_result(text) else {
            return false;
        };
        self.parents.retain(|(at, _)| *at < indent);
        if let Some(path) = title.strip_suffix(" (uncaught error)") {
            found.unload(path, "uncaught error");
            return true;
        }
        let parents = self.parents.iter().map(|(_, title)| title.as_str());
        let name: Vec<&str> = parents.chain([title]).collect();
        let at = found.tell(
            DENO,
            &format!("{file} > {}", name.join(" > ")),
            result,
            Again::No,
        );
        found.place(at, &file);
        if result == Failed {
            self.failed
                .insert(format!("{file} > {}", name.join(" ... ")), at);
        }
        true
    }
}

fn read_result(text: &str) -> Option<(&str, TestResult)> {
    let (title, rest) = text.rsplit_once(" ... ")?;
    let (word, time) = rest.split_once(" (")?;
    let time = time.rsplit('(').next()?.strip_suffix(')')?;
    let result = find_result(word)?;
    is_time(time).then_some((title, result))
}
