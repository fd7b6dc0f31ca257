//! Reads the output of known runners: a table of readers, one for each form of lines.

use super::cargo::{Cargo, Nextest};
use super::forms::Forms;
use super::found::TestResult::{Failed, Passed, Skipped};
use super::found::{
    Again, Found, Reader, TestResult, find_result, indent_of, is_script, is_time, number_before,
    without_escapes, without_time,
};
use super::tap::Tap;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A longer line, in bytes, does not hold a result.
const LONGEST: usize = 8_000;
/// Begins the line in kept output that replaces its middle.
const GAP: &str = "[cook: ";

/// The runners in the order in which they are asked.
const RUNNERS: [fn() -> Box<dyn Reader>; 9] = [
    || Box::new(Go::default()),
    || Box::new(Cargo::default()),
    || Box::new(Nextest::default()),
    || Box::new(Bun::default()),
    || Box::new(Deno::default()),
    || Box::new(Phpunit::default()),
    || Box::new(Ava::default()),
    || Box::new(Tap::default()),
    || Box::new(Forms::default()),
];

/// Reads what a command printed: first its stdout, then its stderr.
pub(super) fn read(stdout: &str, stderr: &str, found: &mut Found) {
    let mut readers = RUNNERS.map(|make| make());
    for (at, line) in stdout.lines().chain(stderr.lines()).enumerate() {
        found.line = Some(at);
        found.is_cut |= line.starts_with(GAP) && line.ends_with(" bytes left out]");
        if line.len() > LONGEST {
            continue;
        }
        let line = without_escapes(line);
        let line = line.trim_end();
        for reader in &mut readers {
            if reader.read(line, found) {
                break;
            }
        }
    }
    found.line = None;
    for reader in &mut readers {
        reader.end(found);
    }
}

// `go test`: the lines of its tests, and after them the line of their package.

const GO: &str = "go";

#[derive(Default)]
struct Go {
    /// Tests that began and did not end, with the first line that each printed.
    open: BTreeMap<String, String>,
    current: String,
    /// The index of the last failed test, and the indentation of its line.
    failed: Option<(usize, usize)>,
    is_verbose: bool,
    panic: Option<String>,
    /// The package whose compiler output may follow.
    built: Option<String>,
    build_errors: BTreeMap<String, String>,
    unbuilt: BTreeSet<String>,
}

impl Reader for Go {
    fn read(&mut self, line: &str, found: &mut Found) -> bool {
        if line.starts_with("{\"") {
            return self.read_json(line, found).is_some();
        }
        if let Some((mark, name)) = line
            .strip_prefix("=== ")
            .and_then(|rest| rest.split_once(' '))
        {
            let name = name.trim();
            if mark == "RUN" {
                self.is_verbose = true;
                self.open.entry(name.to_owned()).or_default();
            }
            name.clone_into(&mut self.current);
            return true;
        }
        if let Some((name, result, indent)) = read_result(line) {
            let at = found.tell(GO, name, result, Again::No);
            let said = self.open.remove(name).unwrap_or_default();
            self.failed = None;
            if result == Failed {
                found.explain(at, &said);
                self.failed = Some((at, indent));
            }
            return true;
        }
        if let Some(package) = line.strip_prefix("# ") {
            let package = package.split(' ').next().unwrap_or(package);
            let package = package.trim_matches(['[', ']']);
            self.built = Some(package.to_owned());
            return false;
        }
        if let Some(package) = self.built.take() {
            if line.contains(".go:") {
                self.build_errors
                    .entry(package)
                    .or_insert_with(|| line.to_owned());
            }
            return false;
        }
        self.read_package(line, found).is_some() || self.read_message(line, found)
    }

    fn end(&mut self, found: &mut Found) {
        for package in &self.unbuilt {
            let line = self.build_errors.get(package);
            found.unload(package, line.map_or("build failed", String::as_str));
        }
    }
}

impl Go {
    /// `ok <tab>package<tab>0.003s`, `FAIL<tab>package [build failed]`, `? <tab>package<tab>[no test files]`
    fn read_package(&mut self, line: &str, found: &mut Found) -> Option<()> {
        let (word, rest) = line.split_once('\t')?;
        let (package, rest) = rest.trim_start().split_once(['\t', ' '])?;
        let named = found.open(GO).count() as u64;
        match word.trim_end() {
            "ok" if rest.contains("[no tests to run]") => found.count(GO, 0, false),
            "ok" => found.count(GO, named.max(1), !self.is_verbose),
            "?" | "" if rest.contains("[no test files]") || rest.starts_with('\t') => {
                found.count(GO, 0, false);
            }
            "FAIL" if rest.contains(" failed]") => {
                self.unbuilt.insert(package.to_owned());
            }
            "FAIL" => {
                found.count(GO, named.max(1), !self.is_verbose);
                let why = self.panic.take();
                let why = why.unwrap_or_else(|| "it did not come to its end".to_owned());
                for (name, _) in std::mem::take(&mut self.open) {
                    let at = found.tell(GO, &name, Failed, Again::No);
                    found.explain(at, &why);
                }
            }
            _ => return None,
        }
        found.prefix(GO, found.start(GO)..usize::MAX, &format!("{package}."));
        found.close(GO, 0, 0);
        *self = Self {
            build_errors: std::mem::take(&mut self.build_errors),
            unbuilt: std::mem::take(&mut self.unbuilt),
            ..Self::default()
        };
        Some(())
    }

    /// The first line that a test printed, which comes before its result with `-v` and otherwise after it.
    fn read_message(&mut self, line: &str, found: &mut Found) -> bool {
        if line.starts_with("panic: ") {
            if let Some((at, _)) = self.failed {
                found.explain(at, line);
            }
            self.panic.get_or_insert_with(|| line.to_owned());
            return true;
        }
        let indent = indent_of(line);
        if indent < 4 || !line.contains(".go:") {
            return false;
        }
        if let Some((at, outer)) = self.failed.filter(|(_, outer)| *outer < indent) {
            found.explain(at, line);
            self.failed = Some((at, outer));
        } else if let Some(said) = self.open.get_mut(&self.current)
            && said.is_empty()
        {
            line.clone_into(said);
        }
        true
    }

    /// `{"Action":"pass","Package":"p","Test":"TestX"}`
    fn read_json(&mut self, line: &str, found: &mut Found) -> Option<()> {
        let value: Value = serde_json::from_str(line).ok()?;
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let action = text("Action")?;
        let package = text("Package").or(text("ImportPath"))?;
        let result = match action {
            "pass" => Passed,
            "fail" => Failed,
            "skip" => Skipped,
            "output" => {
                let said = text("Output")?.trim_end();
                if let Some(test) = text("Test")
                    && said.contains(".go:")
                {
                    let name = format!("{package}.{test}");
                    self.open.entry(name).or_insert_with(|| said.to_owned());
                }
                return Some(());
            }
            _ => return Some(()),
        };
        let Some(test) = text("Test") else {
            if text("FailedBuild").is_some() {
                self.unbuilt.insert(package.to_owned());
            } else if result == Skipped {
                found.count(GO, 0, false);
            }
            return Some(());
        };
        let name = format!("{package}.{test}");
        let at = found.tell(GO, &name, result, Again::No);
        let said = self.open.remove(&name).unwrap_or_default();
        found.explain(at, &said);
        found.close(GO, 1, 1);
        Some(())
    }
}

/// `--- PASS: TestX (0.00s)`, which may follow output of a test that does not end in a newline.
fn read_result(line: &str) -> Option<(&str, TestResult, usize)> {
    let (before, rest) = line.split_once("--- ")?;
    let (word, name) = rest.split_once(": ")?;
    let result = find_result(word)?;
    let short = without_time(name);
    (short != name).then_some((short, result, indent_of(before)))
}

// `bun test`.

const BUN: &str = "bun";

#[derive(Default)]
struct Bun {
    file: Option<String>,
    /// The last error, which is printed before its test.
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

// `deno test`.

const DENO: &str = "deno";

#[derive(Default)]
struct Deno {
    file: Option<String>,
    /// Running tests that have steps, outermost first, with their indentation.
    parents: Vec<(usize, String)>,
    is_output: bool,
    /// Failed tests, by their names in the list of errors.
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
    /// `name ... ok (5ms)`, `name ... FAILED (due to 1 failed step) (1ms)`, `name ...` with its steps after it.
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
        let Some((title, result)) = read_deno_result(text) else {
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

fn read_deno_result(text: &str) -> Option<(&str, TestResult)> {
    let (title, rest) = text.rsplit_once(" ... ")?;
    let (word, time) = rest.split_once(" (")?;
    let time = time.rsplit('(').next()?.strip_suffix(')')?;
    let result = find_result(word)?;
    is_time(time).then_some((title, result))
}

// Lines of AVA.

const AVA: &str = "ava";

#[derive(Default)]
struct Ava {
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
            // The mark alone does not show that it is AVA's: other runners print the same.
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

// PHPUnit, which names only tests that did not pass.

const PHPUNIT: &str = "phpunit";

#[derive(Default)]
struct Phpunit {
    /// The result of the tests in the current list.
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
        // A risky test, or one with a warning, ran and succeeded.
        _ => Passed,
    })
}

/// `T::t with data set "two" (2)`: the values are not part of the name.
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
