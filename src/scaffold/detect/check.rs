//! A command that says whether the repository is in order, before and after it has its name.

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
}

/// A check before its name is settled.
#[derive(Debug, Clone)]
pub(super) struct Proposal {
    pub(super) tool: &'static str,
    pub(super) kind: &'static str,
    pub(super) run: Cow<'static, str>,
    pub(super) source: &'static str,
    pub(super) required: bool,
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
        }
    }
}

/// Gives each proposal a name of its own.
pub(super) fn named(proposals: &[Proposal]) -> Vec<Check> {
    let shared = |kind| proposals.iter().filter(|other| other.kind == kind).count() > 1;
    proposals
        .iter()
        .map(|proposal| Check {
            name: if shared(proposal.kind) {
                format!("{}-{}", proposal.tool, proposal.kind)
            } else {
                proposal.kind.to_owned()
            },
            run: proposal.run.clone(),
            source: proposal.source,
            timeout: "20m",
            required: proposal.required,
        })
        .collect()
}
