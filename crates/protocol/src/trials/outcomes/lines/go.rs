//! `go test`: the lines of its tests, and the line of their package behind them.

use super::reader::Reader;
use crate::trials::outcomes::found::{Again, Found};
use crate::trials::outcomes::text::{find_result, indent_of, without_time};
use crate::trials::outcomes::types::TestResult::{self, Failed, Passed, Skipped};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const GO: &str = "go";

#[derive(Default)]
pub(super) struct Go {
    /// Tests that began and did not end, with the first line that each printed.
    open: BTreeMap<String, String>,
    current: String,
    /// The test that failed last, and how far in its line stands.
    failed: Option<(usize, usize)>,
    is_verbose: bool,
    panic: Option<String>,
    /// The package that is built, and the first line of what its compiler said.
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

    /// The first line that a test printed, which stands before its result with `-v` and else behind it.
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

/// `--- PASS: TestX (0.00s)`, which may stand behind what a test printed without an end of its line.
fn read_result(line: &str) -> Option<(&str, TestResult, usize)> {
    let (before, rest) = line.split_once("--- ")?;
    let (word, name) = rest.split_once(": ")?;
    let result = find_result(word)?;
    let short = without_time(name);
    (short != name).then_some((short, result, indent_of(before)))
}
