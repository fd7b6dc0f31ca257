//! What is found: commands that say whether the repository is in order, and what a clean room
//! needs so that they can.

use super::files::Files;
use std::borrow::Cow;

/// One command that says whether the repository is in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    pub(super) tool: &'static str,
    /// What it asks: `test`, `lint`, `build` and the like.
    pub kind: &'static str,
    /// The command; plain words with one blank between them.
    pub run: Cow<'static, str>,
    /// The file that says so.
    pub source: &'static str,
    /// Part of the stop verifier, and red is a must-fix finding.
    pub required: bool,
    /// It fetches what it needs, where no setup does.
    pub network: bool,
}

impl Check {
    pub(super) fn new(
        tool: &'static str,
        kind: &'static str,
        source: &'static str,
        run: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            tool,
            kind,
            run: run.into(),
            source,
            required: true,
            network: false,
        }
    }

    pub(super) fn with_network(mut self, network: bool) -> Self {
        self.network = network;
        self
    }
}

/// What the settings of a repository could be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Proposed {
    /// In the order in which they should run.
    pub checks: Vec<Check>,
    /// Directories that stay from run to run.
    pub cache: Vec<&'static str>,
    /// Commands that come before the checks in a clone, each with its folder.
    pub setup: Vec<(String, String)>,
    /// Files whose change makes them run again, from the root.
    pub setup_inputs: Vec<String>,
    /// A setup rests on files that cannot be named: every commit makes it run again.
    pub setup_always: bool,
}

impl Proposed {
    pub(super) fn add(&mut self, check: Check) {
        self.checks.push(check);
    }

    pub(super) fn add_caches(&mut self, dirs: &[&'static str]) {
        for dir in dirs {
            if !self.cache.contains(dir) {
                self.cache.push(dir);
            }
        }
    }

    /// Commands that make a clone fit to run, and the files that decide what they bring; no file =
    /// they cannot be named.
    pub(super) fn add_setup<T: Into<String>>(
        &mut self,
        files: &Files<'_>,
        commands: impl IntoIterator<Item = T>,
        inputs: &[&'static str],
    ) {
        let commands = commands.into_iter().map(Into::into);
        self.setup
            .extend(commands.map(|run| (files.dir().to_owned(), run)));
        let inputs_here = inputs.iter().map(|path| files.place(path));
        self.setup_inputs.extend(inputs_here);
        self.setup_always |= inputs.is_empty();
        if self.setup_always {
            self.setup_inputs.clear();
        }
    }

    /// One of the checks runs tests.
    pub fn has_test(&self) -> bool {
        self.checks.iter().any(|check| check.kind == "test")
    }

    /// A check's own name: `test`, or `npm-test` where `test` is taken.
    pub fn name_check(&self, check: &Check) -> String {
        let alike = self.checks.iter().filter(|other| other.kind == check.kind);
        match alike.count() {
            1 => check.kind.to_owned(),
            _ => format!("{}-{}", check.tool, check.kind),
        }
    }
}
