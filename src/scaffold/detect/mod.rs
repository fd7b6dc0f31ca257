//! The checks a repository has at its top level, told from its files alone.
//!
//! Nothing is run. Every command is a constant of this module: what a file says
//! only decides whether the command is proposed, so a hostile file can add no word
//! to one. Files are read up to a cap; links are not followed.

mod javascript;
mod native;
mod python;
mod runner;

use super::error::Error;
use super::files::Tree;
use cook_core::model::GateTable;
use std::path::Path;

/// Bytes of a file that are looked at; a larger one counts as there, but empty.
const MAX_BYTES: u64 = 1024 * 1024;

/// One command that says whether the repository is in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// A name that is its own: `test`, or `npm-test` when `test` is taken.
    pub name: String,
    /// The command; plain words with one blank between them.
    pub run: &'static str,
    /// The file that says so.
    pub source: &'static str,
    /// How long it may take.
    pub timeout: &'static str,
    /// Part of the stop verifier, and red is a must-fix finding.
    pub required: bool,
}

impl Check {
    /// The gate that `cook.toml` would hold for it.
    pub fn gate(&self) -> GateTable {
        GateTable {
            run: self.run.to_owned(),
            timeout: self.timeout.to_owned(),
            required: self.required,
            must_fail_at_basis: false,
        }
    }
}

/// The checks of the repository, in the order in which they should run; none in
/// an empty one. A task runner's targets are taken only where no build tool
/// brought a test of its own, since they mostly call it.
///
/// # Errors
/// When a file that is there cannot be read.
pub fn detect(root: &Path) -> Result<Vec<Check>, Error> {
    let files = Files::new(root);
    let mut found = Vec::new();
    native::detect(&files, &mut found)?;
    javascript::detect(&files, &mut found)?;
    python::detect(&files, &mut found)?;
    if !found.iter().any(|proposal| proposal.kind == "test") {
        runner::detect(&files, &mut found)?;
    }
    Ok(named(&found))
}

/// A check before its name is settled.
#[derive(Debug, Clone, Copy)]
struct Proposal {
    tool: &'static str,
    kind: &'static str,
    run: &'static str,
    source: &'static str,
    required: bool,
}

impl Proposal {
    fn new(
        tool: &'static str,
        kind: &'static str,
        source: &'static str,
        run: &'static str,
    ) -> Self {
        Self {
            tool,
            kind,
            run,
            source,
            required: true,
        }
    }
}

/// Gives each proposal a name of its own.
fn named(proposals: &[Proposal]) -> Vec<Check> {
    let shared = |kind| proposals.iter().filter(|other| other.kind == kind).count() > 1;
    proposals
        .iter()
        .map(|proposal| Check {
            name: if shared(proposal.kind) {
                format!("{}-{}", proposal.tool, proposal.kind)
            } else {
                proposal.kind.to_owned()
            },
            run: proposal.run,
            source: proposal.source,
            timeout: "20m",
            required: proposal.required,
        })
        .collect()
}

/// The files at the top of the worktree.
pub(super) struct Files<'a> {
    tree: Tree<'a>,
    root: &'a Path,
}

impl<'a> Files<'a> {
    pub(super) fn new(root: &'a Path) -> Self {
        Self {
            tree: Tree::new(root),
            root,
        }
    }

    /// A file's text, with what is not UTF-8 replaced; none when no plain file is there.
    pub(super) fn text(&self, path: &str) -> Result<Option<String>, Error> {
        match self.tree.bytes(path, MAX_BYTES) {
            Ok(bytes) => Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())),
            Err(Error::TooLarge { .. }) => Ok(Some(String::new())),
            Err(Error::Unsafe { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn has(&self, path: &str) -> bool {
        self.tree.has_file(path).unwrap_or(false)
    }

    fn has_directory(&self, path: &str) -> bool {
        self.tree.has_directory(path).unwrap_or(false)
    }

    /// The first of these files that is there.
    fn first(&self, paths: &[&'static str]) -> Option<&'static str> {
        paths.iter().copied().find(|path| self.has(path))
    }

    /// Whether a file in that directory satisfies the test on its name.
    fn any_name(&self, directory: &str, test: impl Fn(&str) -> bool) -> bool {
        std::fs::read_dir(self.root.join(directory)).is_ok_and(|entries| {
            entries
                .take(10_000)
                .flatten()
                .any(|entry| entry.file_name().to_str().is_some_and(&test))
        })
    }
}
