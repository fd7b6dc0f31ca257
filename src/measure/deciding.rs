//! What decides whether a change passes: a file that one of these names is not plain source.

use super::world::gate_commands;
use cook_protocol::diagnostic::Failure;
use cook_protocol::model::Config;
use cook_repo::git::{Edit, Entry, Repo};

/// Files that say what a check runs, beside the gates themselves.
const RUNNERS: [&str; 6] = [
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "package.json",
    "tox.ini",
];

/// The commands that decide what passes, and the scripts among the edited files that a runner's
/// file names at the base.
pub(crate) fn deciding(
    (repo, config): (&Repo, &Config),
    edits: &[Edit],
    base: &str,
) -> Result<Vec<String>, Failure> {
    let mut gates = gate_commands(config, []);
    let paths = edits.iter().map(|edit| edit.change.path.as_str());
    let scripts: Vec<&str> = paths.filter(|path| path.ends_with(".sh")).collect();
    if scripts.is_empty() {
        return Ok(gates);
    }
    for runner in RUNNERS {
        if let Entry::File { bytes, .. } = repo.entry(base, runner)? {
            let text = String::from_utf8_lossy(&bytes);
            let named = scripts.iter().filter(|path| text.contains(**path));
            gates.extend(named.map(|path| (*path).to_owned()));
        }
    }
    Ok(gates)
}
