//! What is found: commands that say whether the repository is in order, and what a clean room
//! needs so that they can.

use std::borrow::Cow;

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
}

/// What the settings of a repository could be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Proposed {
    /// In the order in which they should run.
    pub checks: Vec<Check>,
    /// Directories that stay from run to run.
    pub cache: Vec<&'static str>,
    /// Commands that come before the checks in a clone.
    pub setup: Vec<String>,
    /// Files whose change makes them run again; none = every commit does.
    pub setup_inputs: Vec<&'static str>,
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
    setup: Vec<String>,
    setup_inputs: Vec<&'static str>,
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
        commands: impl IntoIterator<Item = T>,
        inputs: &[&'static str],
    ) {
        self.setup.extend(commands.into_iter().map(Into::into));
        self.setup_inputs.extend(inputs);
        self.setup_always |= inputs.is_empty();
    }

    pub(super) fn has_test(&self) -> bool {
        self.proposals.iter().any(|found| found.kind == "test")
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
