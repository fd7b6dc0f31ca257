//! What is found: commands that say whether the repository is in order, and what a clean room
//! needs so that they can.

use super::files::Files;
use std::borrow::Cow;

/// The kind of a check that runs tests.
const TEST: &str = "test";

/// One command that says whether the repository is in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// A name that is its own: `test`, or `npm-test` when `test` is taken.
    pub name: String,
    /// The command; plain words with one blank between them.
    pub run: Cow<'static, str>,
    /// The file that says so.
    pub source: &'static str,
    /// How long it may take.
    pub timeout: &'static str,
    /// Part of the stop verifier, and red is a must-fix finding.
    pub required: bool,
    /// It fetches what it needs, where no setup does.
    pub network: bool,
    /// It runs tests.
    pub tests: bool,
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
    /// Files whose change makes them run again, from the root; none = every commit does.
    pub setup_inputs: Vec<String>,
}

/// A check before its name is settled.
#[derive(Debug, Clone)]
pub(super) struct Proposal {
    pub(super) tool: &'static str,
    pub(super) kind: &'static str,
    pub(super) run: Cow<'static, str>,
    pub(super) source: &'static str,
    pub(super) required: bool,
    pub(super) network: bool,
}

impl Proposal {
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

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) proposals: Vec<Proposal>,
    cache: Vec<&'static str>,
    setup: Vec<(String, String)>,
    setup_inputs: Vec<String>,
    /// A setup rests on files that cannot be named.
    setup_always: bool,
}

impl Found {
    pub(super) fn add(&mut self, proposal: Proposal) {
        self.proposals.push(proposal);
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
    }

    pub(super) fn has_test(&self) -> bool {
        self.proposals.iter().any(|found| found.kind == TEST)
    }

    /// Gives each check a name of its own.
    pub(super) fn into_proposed(self) -> Proposed {
        let all = &self.proposals;
        let shared = |kind| all.iter().filter(|other| other.kind == kind).count() > 1;
        let checks = all.iter().map(|proposal| Check {
            name: if shared(proposal.kind) {
                format!("{}-{}", proposal.tool, proposal.kind)
            } else {
                proposal.kind.to_owned()
            },
            run: proposal.run.clone(),
            source: proposal.source,
            timeout: "20m",
            required: proposal.required,
            network: proposal.network,
            tests: proposal.kind == TEST,
        });
        Proposed {
            checks: checks.collect(),
            cache: self.cache,
            setup: self.setup,
            setup_inputs: match self.setup_always {
                true => Vec::new(),
                false => self.setup_inputs,
            },
        }
    }
}
