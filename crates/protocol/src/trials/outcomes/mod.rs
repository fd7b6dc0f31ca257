//! Outcomes of tests by name, from the best available source.
//!
//! The sources in order: records that a hook of ours appended while a runner ran, a report file of the runner,
//! lines of a known runner. Without any of them only the exit code counts. Times, counts and summaries are never
//! part of a name.

mod cargo;
mod forms;
mod found;
mod lines;
mod reports;
mod tap;

use found::{Again, Found, Told};
pub use found::{Material, Outcomes, Report, Source, Test, TestResult, names};
use std::collections::{BTreeMap, BTreeSet};

impl Outcomes {
    /// Reads the outcomes of one run.
    pub fn read(material: &Material) -> Self {
        let [mut hooked, mut reported, mut printed] = [(); 3].map(|()| Found::new(material.root));
        reports::read_records(material.records, &mut hooked);
        reports::read(material, &mut reported);
        lines::read(material.stdout, material.stderr, &mut printed);
        gather(hooked, reported, printed)
    }
}

/// Whether a path, relative to the tree, is that of a report that a runner writes.
pub fn is_report(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or_default();
    let within = |dirs: &[&str]| parts.clone().any(|part| dirs.contains(&part));
    name.ends_with(".xml")
        && (name.starts_with("TEST-")
            && within(&["surefire-reports", "failsafe-reports", "test-results"])
            || name == "junit.xml" && within(&["nextest"])
            || name.ends_with(".junit.xml") && within(&["meson-logs"]))
        || name.ends_with(".tap") && within(&["test-results"])
        || name == "LastTest.log" && within(&["Temporary"])
}

// Results of all sources by name: for each runner the best source counts.

/// Combines the results of hooks, reports and lines.
fn gather(hooked: Found, reported: Found, printed: Found) -> Outcomes {
    let mut gathering = Gathering::default();
    let by_hook = hooked.runners();
    gathering.add(hooked, Source::Hook, |_| false, |_, _| true);
    let mut better = by_hook.clone();
    better.extend(reported.runners());
    let failed = reported.told.iter();
    let failed = failed.filter(|told| told.result == TestResult::Failed && !told.is_void);
    let red: BTreeSet<&str> = failed.map(|told| told.runner).collect();
    let is_known = |runner: &str| by_hook.contains(runner);
    gathering.add(reported, Source::Report, is_known, |told, _| {
        !by_hook.contains(told.runner)
    });
    let is_known = |runner: &str| better.contains(runner);
    gathering.add(printed, Source::Lines, is_known, |told, merged| {
        // A report may be of another run of the same runner, or have fewer results than its lines.
        !better.contains(told.runner)
            || !by_hook.contains(told.runner)
                && told.result == TestResult::Failed
                && (!red.contains(told.runner) || merged.tests.contains_key(&told.name))
    });
    gathering.finish()
}

#[derive(Default)]
struct Gathering {
    outcomes: Outcomes,
    merged: Merged,
    /// Whether a runner said how many tests it ran.
    is_counted: bool,
    /// Whether an output was cut.
    is_cut: bool,
    ran: u64,
}

impl Gathering {
    fn add(
        &mut self,
        found: Found,
        source: Source,
        is_known: impl Fn(&str) -> bool,
        counts: impl Fn(&Told, &Merged) -> bool,
    ) {
        for (runner, count) in &found.counts {
            if !is_known(runner) {
                self.is_counted = true;
                self.ran = self.ran.saturating_add(count.ran);
                self.outcomes.omits_passed |= count.omits;
            }
        }
        self.is_cut |= found.is_cut;
        self.outcomes.ends_early |= found.ends_early;
        // A worse source may give the same file another name.
        let reasons: BTreeSet<String> = self.outcomes.unloaded.values().cloned().collect();
        for (name, why) in found.unloaded {
            if !reasons.contains(&why) {
                self.outcomes.unloaded.entry(name).or_insert(why);
            }
        }
        for mut told in found.told {
            if told.is_void || !counts(&told, &self.merged) {
                continue;
            }
            self.outcomes.source = self.outcomes.source.max(source);
            let is_echo = is_known(told.runner) || self.merged.is_of_better(&told.name, source);
            if is_echo {
                told.again = Again::Echo;
            }
            self.merged.add(told, source);
        }
    }

    fn finish(self) -> Outcomes {
        let tests: BTreeMap<String, Test> = self.merged.into_tests();
        let names_none = tests.is_empty() && self.outcomes.unloaded.is_empty();
        Outcomes {
            nothing_ran: self.is_counted && self.ran == 0 && names_none,
            tests,
            is_partial: self.is_cut || self.outcomes.ends_early,
            ends_early: !self.is_cut && self.outcomes.ends_early,
            ..self.outcomes
        }
    }
}

/// A test, with what is needed to merge another result into it.
#[derive(Debug)]
struct Entry {
    test: Test,
    /// The number of the try that counts.
    attempt: u32,
    /// Whether a result other than an echo was added.
    is_told: bool,
    source: Source,
}

/// Results merged by name.
#[derive(Debug, Default)]
struct Merged {
    tests: BTreeMap<String, Entry>,
}

impl Merged {
    /// Whether a better source reported the test.
    fn is_of_better(&self, name: &str, source: Source) -> bool {
        self.tests
            .get(name)
            .is_some_and(|entry| entry.source > source)
    }

    fn add(&mut self, told: Told, source: Source) {
        let attempt = match told.again {
            Again::Attempt(attempt) => attempt,
            _ => 0,
        };
        let is_told = told.again != Again::Echo;
        let new = Test {
            result: told.result,
            file: told.file,
            message: told.message.filter(|_| told.result == TestResult::Failed),
            is_ambiguous: false,
            line: told.line,
        };
        let Some(entry) = self.tests.get_mut(&told.name) else {
            let entry = Entry {
                test: new,
                attempt,
                is_told,
                source,
            };
            self.tests.insert(told.name, entry);
            return;
        };
        let test = &mut entry.test;
        let file = test.file.take().or(new.file.clone());
        if attempt > entry.attempt {
            *test = new;
            entry.attempt = attempt;
        } else {
            test.is_ambiguous |= entry.is_told && is_told;
            if new.result > test.result {
                test.result = new.result;
                test.line = new.line;
            }
            test.message = test.message.take().or(new.message);
        }
        test.file = file;
        entry.is_told |= is_told;
    }

    fn into_tests(self) -> BTreeMap<String, Test> {
        let tests = self.tests.into_iter();
        tests.map(|(name, entry)| (name, entry.test)).collect()
    }
}
