//! `cargo test` and `cargo nextest`.

use super::found::TestResult::{Failed, Passed, Skipped};
use super::found::{Again, Found, Reader, TestResult, Told, number_before};
use std::collections::BTreeMap;

const CARGO: &str = "cargo";
const NEXTEST: &str = "nextest";

/// The tests of one binary, from `running N tests` to `test result: …`.
struct Block {
    /// The name in the header that cargo printed before it on the same stream.
    header: Option<String>,
    start: usize,
    end: usize,
    planned: u64,
    has_result: bool,
    is_doc: bool,
    /// Whether it holds all examples of its package.
    is_joined: bool,
}

#[derive(Default)]
pub(super) struct Cargo {
    blocks: Vec<Block>,
    /// Names in the headers of binaries whose tests are on another stream.
    headers: Vec<String>,
    has_header: bool,
    /// A test whose result comes on a line of its own, after its output.
    pending: Option<String>,
    /// Failed tests by name, with the index of their result.
    failed: BTreeMap<String, usize>,
    /// The test whose output is being shown.
    section: Option<String>,
    /// The test whose panic message is on the next line.
    panics: Option<String>,
    is_list: bool,
    /// Whether captured output of tests is being shown, which holds no results.
    is_report: bool,
    error: Option<String>,
}

impl Reader for Cargo {
    fn read(&mut self, line: &str, found: &mut Found) -> bool {
        if let Some(name) = self.panics.take() {
            self.explain(&name, line, found);
        }
        if let Some(name) = std::mem::take(&mut self.is_list)
            .then(|| line.strip_prefix("    "))
            .flatten()
        {
            self.is_list = true;
            self.tell(name, Failed, Again::Echo, found);
            return true;
        }
        if let Some(rest) = line
            .strip_prefix("test ")
            .filter(|rest| !rest.starts_with("result: "))
        {
            return self.is_report || self.read_test(rest, found);
        }
        if let Some(header) = read_header(line) {
            self.headers.push(header);
            self.has_header = true;
            return true;
        }
        if let Some(result) = find_result(line)
            && let Some(name) = self.pending.take()
        {
            self.tell(&name, result, Again::No, found);
            return true;
        }
        self.read_frame(line, found) || self.read_message(line, found)
    }

    fn end(&mut self, found: &mut Found) {
        self.name_binaries(found);
        for block in &self.blocks {
            let named = found.told.get(block.start..block.end.min(found.told.len()));
            let named = named.map_or(0, |told| {
                let is_own = |told: &&Told| told.runner == CARGO && told.again == Again::No;
                let firsts = told.iter().filter(is_own);
                firsts.count() as u64
            });
            found.count(
                CARGO,
                block.planned,
                block.has_result && named < block.planned,
            );
            found.ends_early |= !block.has_result && named < block.planned;
        }
    }
}

impl Cargo {
    fn tell(&mut self, name: &str, result: TestResult, again: Again, found: &mut Found) {
        let is_doc = name.contains(" (line ");
        let at = found.tell(CARGO, name, result, again);
        if result == Failed {
            self.failed.entry(name.to_owned()).or_insert(at);
        }
        if let Some(block) = self.blocks.last_mut() {
            block.end = found.told.len();
            block.is_doc |= is_doc;
        }
    }

    /// `a::b ... ok`
    fn read_test(&mut self, rest: &str, found: &mut Found) -> bool {
        let Some((name, word)) = rest.rsplit_once(" ... ") else {
            let pending = rest.strip_suffix(" ...");
            self.pending = pending.map(|name| without_kind(name).to_owned());
            return pending.is_some();
        };
        // A test may print what looks like another test's result before its own.
        let (first, is_whole) = match rest.split_once(" ... ") {
            Some((first, behind)) => (first, behind.len() == word.len()),
            None => (name, true),
        };
        if let (Some(result), true) = (find_result(word), is_whole) {
            self.pending = None;
            self.tell(without_kind(name), result, Again::No, found);
        } else if !self.blocks.last().is_none_or(|block| block.has_result) {
            self.pending = Some(without_kind(first).to_owned());
        }
        true
    }

    /// Reads the lines around the tests of a binary.
    fn read_frame(&mut self, line: &str, found: &mut Found) -> bool {
        if let Some(planned) = line
            .strip_prefix("running ")
            .and_then(|rest| rest.strip_suffix(" tests").or(rest.strip_suffix(" test")))
            .and_then(|count| count.parse().ok())
        {
            let header = match std::mem::take(&mut self.has_header) {
                true => self.headers.pop(),
                false => None,
            };
            self.blocks.push(Block {
                header,
                start: found.told.len(),
                end: found.told.len(),
                planned,
                has_result: false,
                is_doc: false,
                is_joined: false,
            });
            self.failed.clear();
            self.is_report = false;
            return true;
        }
        if line.starts_with("test result: ") {
            if let Some(block) = self.blocks.last_mut() {
                block.has_result = true;
            }
            self.section = None;
            self.pending = None;
            self.is_report = false;
            return true;
        }
        if line.starts_with("all doctests ran in ") {
            self.join_examples();
            return true;
        }
        if line == "failures:" {
            self.is_list = true;
            self.is_report = !self.blocks.is_empty();
            self.section = None;
            return true;
        }
        let section = line.strip_prefix("---- ");
        if let Some(name) = section.and_then(|rest| rest.strip_suffix(" stdout ----")) {
            self.section = Some(without_kind(name).to_owned());
            return true;
        }
        if line.starts_with("error") && line.contains(": could not compile `") {
            let target = line.split_once('`').map_or("", |(_, rest)| rest);
            let target = target.split(" due to ").next().unwrap_or(target);
            let error = self.error.take().unwrap_or_default();
            found.unload(&target.replacen('`', "", 1), &error);
            return true;
        }
        if line.starts_with("error[E") || line.starts_with("error: ") {
            self.error.get_or_insert_with(|| line.to_owned());
        }
        false
    }

    fn read_message(&mut self, line: &str, found: &mut Found) -> bool {
        if let Some(thread) = read_panic(line) {
            let shown = self.section.clone();
            self.panics = Some(shown.unwrap_or_else(|| thread.to_owned()));
            return true;
        }
        if line.starts_with("Error: ")
            && let Some(name) = self.section.clone()
        {
            self.explain(&name, line, found);
            return true;
        }
        false
    }

    fn explain(&mut self, name: &str, line: &str, found: &mut Found) {
        if let Some(at) = self.failed.get(name) {
            found.explain(*at, line);
        }
    }

    /// Makes equal names of several binaries distinct, if it is known which block belongs to which binary.
    fn name_binaries(&mut self, found: &mut Found) {
        let nameless = self.blocks.iter().filter(|block| block.header.is_none());
        let is_known = nameless.count() == self.headers.len();
        let mut headers = std::mem::take(&mut self.headers).into_iter();
        for block in &mut self.blocks {
            name_examples(block.start, block.end, found);
            let own = block.header.take();
            let header = own.or_else(|| headers.next().filter(|_| is_known));
            if let Some(header) = header {
                let join = if block.is_doc { " " } else { "::" };
                found.prefix(CARGO, block.start..block.end, &format!("{header}{join}"));
            }
        }
    }

    /// Joins the examples of a package that are compiled alone to those that are compiled together, which run
    /// first.
    fn join_examples(&mut self) {
        while let [.., first, last] = &mut self.blocks[..]
            && first.is_doc
            && !first.is_joined
            && last.is_doc
            && last.header.is_none()
        {
            first.end = last.end;
            first.planned += last.planned;
            first.has_result &= last.has_result;
            self.blocks.pop();
        }
        if let Some(block) = self.blocks.last_mut() {
            block.is_joined = true;
        }
    }
}

/// Names examples in documentation by their number within their item, because the line in their name changes.
fn name_examples(start: usize, end: usize, found: &mut Found) {
    let end = end.min(found.told.len());
    let told = found.told.get_mut(start..end).unwrap_or_default();
    let mut lines: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for told in told.iter().filter(|told| told.runner == CARGO) {
        if let Some((item, line)) = read_example(&told.name) {
            let lines = lines.entry(item.to_owned()).or_default();
            if let Err(at) = lines.binary_search(&line) {
                lines.insert(at, line);
            }
        }
    }
    for told in told.iter_mut().filter(|told| told.runner == CARGO) {
        let Some((item, line)) = read_example(&told.name) else {
            continue;
        };
        let at = lines
            .get(item)
            .and_then(|lines| lines.binary_search(&line).ok());
        told.name = match at {
            None | Some(0) => item.to_owned(),
            Some(at) => format!("{item} ({})", at + 1),
        };
    }
}

/// `src/lib.rs - f (line 3)`
fn read_example(name: &str) -> Option<(&str, u64)> {
    let (item, rest) = name.rsplit_once(" (line ")?;
    Some((item, rest.strip_suffix(')')?.parse().ok()?))
}

fn without_kind(name: &str) -> &str {
    let kinds = [" - should panic", " - compile fail", " - compile"];
    let bare = kinds.iter().find_map(|kind| name.strip_suffix(kind));
    bare.unwrap_or(name)
}

/// `ok`, `FAILED`, `ignored, slow`, `ok <0.003s>`
fn find_result(word: &str) -> Option<TestResult> {
    let word = word.rsplit_once(" <").map_or(word, |(word, _)| word);
    Some(match word {
        "ok" => Passed,
        "FAILED" | "FAILED (time limit exceeded)" => Failed,
        "ignored" => Skipped,
        _ if word.starts_with("ignored, ") => Skipped,
        _ => return None,
    })
}

/// `     Running unittests src/lib.rs (target/debug/deps/x-0123456789abcdef)`, `   Doc-tests x`
fn read_header(line: &str) -> Option<String> {
    if let Some(name) = line.strip_prefix("   Doc-tests ") {
        return Some(name.to_owned());
    }
    let rest = line.strip_prefix("     Running ")?;
    let (target, path) = rest.strip_suffix(')')?.rsplit_once(" (")?;
    let file = path.rsplit(['/', '\\']).next()?;
    let name = file.rsplit_once('-').map_or(file, |(name, _)| name);
    let is_program = target
        .strip_prefix("unittests ")
        .is_some_and(|source| source.ends_with("main.rs") || source.contains("bin/"));
    Some(match is_program {
        true => format!("bin/{name}"),
        false => name.to_owned(),
    })
}

/// `thread 'a::b' (123) panicked at src/lib.rs:6:13:`
fn read_panic(line: &str) -> Option<&str> {
    let (name, rest) = line.strip_prefix("thread '")?.split_once('\'')?;
    rest.contains(" panicked at ").then_some(name)
}

#[derive(Default)]
pub(super) struct Nextest {
    failed: Option<usize>,
    is_panic: bool,
    is_summary: bool,
}

impl Reader for Nextest {
    fn read(&mut self, line: &str, found: &mut Found) -> bool {
        if let Some(at) = self.failed {
            if std::mem::take(&mut self.is_panic) || line.starts_with("    Error: ") {
                found.explain(at, line);
            }
            if read_panic(line.trim_start()).is_some() {
                self.is_panic = true;
                return true;
            }
        }
        if line.trim_start().starts_with("Summary [") {
            self.is_summary = true;
            let ran = number_before(line, " test").unwrap_or(0);
            found.close(NEXTEST, ran, ran);
            return true;
        }
        let Some((name, result, attempt)) = read_status(line) else {
            return false;
        };
        let again = match attempt {
            _ if self.is_summary => Again::Echo,
            Some(attempt) if attempt > 1 => Again::Attempt(attempt),
            _ => Again::No,
        };
        // A summary names only the last try of a test, and repeats what is known.
        if self.is_summary && result == Failed && attempt.is_some() {
            return true;
        }
        let at = found.tell(NEXTEST, name, result, again);
        self.failed = (result == Failed && !self.is_summary).then_some(at);
        self.is_panic = false;
        true
    }
}

/// `PASS [   0.004s] (1/2) package module::test`, `TRY 2 FAIL [   0.004s] …`
fn read_status(line: &str) -> Option<(&str, TestResult, Option<u32>)> {
    let (status, rest) = line.trim_start().split_once(" [")?;
    let (time, name) = rest.split_once("] ")?;
    let time = time.trim();
    let is_timed = time.is_empty()
        || time
            .strip_suffix('s')
            .is_some_and(|time| time.trim_start_matches('>').parse::<f64>().is_ok());
    let (attempt, word) = match status.strip_prefix("TRY ") {
        Some(rest) => {
            let (attempt, word) = rest.split_once(' ')?;
            (Some(attempt.parse().ok()?), word)
        }
        None => (None, status),
    };
    let name = match name.trim_start().strip_prefix('(') {
        Some(rest) => rest.split_once(") ")?.1,
        None => name,
    };
    let result = match word.split(' ').next()? {
        "PASS" | "LEAK" | "FLAKY" => Passed,
        "SKIP" => Skipped,
        "FAIL" | "ABRT" | "TMT" | "TIMEOUT" | "LEAK-FAIL" | "LKFAIL" | "FLKY-FL" | "XFAIL"
        | "FL+LK" => Failed,
        signal if signal.starts_with("SIG") => Failed,
        _ => return None,
    };
    (is_timed && name.contains(' ')).then_some((name, result, attempt))
}
