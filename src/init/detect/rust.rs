//! Cargo.

use super::check::{Check, Proposed};
use super::files::Files;
use crate::init::error::Error;
use toml::{Table, Value};

pub(super) fn detect(files: &Files<'_>, found: &mut Proposed) -> Result<(), Error> {
    let source = "Cargo.toml";
    let Some(text) = files.text(source)? else {
        return Ok(());
    };
    let manifest: Table = toml::from_str(&text).unwrap_or_default();
    let table = |name: &str| manifest.get(name).and_then(Value::as_table);
    // A member's lock file is that of its workspace.
    let mut lock = None;
    for at in std::iter::once(files.clone()).chain(files.above()) {
        let is_known = lock.is_some();
        lock = lock.or(at.read_committed("Cargo.lock")?);
        if !is_known && lock.as_ref().is_some_and(|lock| lock.contains("source = ")) {
            found.add_setup(&at, ["cargo fetch --locked"], &["Cargo.lock"]);
        }
    }
    let network = lock.is_none() && fetches(&manifest);
    found.add_caches(&["target"]);
    if files.has("rustfmt.toml") || files.has(".rustfmt.toml") {
        let run = "cargo fmt --all --check";
        found.add(Check::new("cargo", "format", "rustfmt.toml", run));
    }
    let test = if table("workspace").is_some() {
        "cargo test --workspace"
    } else {
        "cargo test"
    };
    found.add(Check::new("cargo", "test", source, test).with_network(network));
    let lints = table("lints")
        .or_else(|| table("workspace")?.get("lints")?.as_table())
        .is_some_and(|lints| lints.contains_key("clippy"));
    if lints || files.has("clippy.toml") || files.has(".clippy.toml") {
        let run = "cargo clippy --all-targets -- -D warnings";
        let mut lint = Check::new("cargo", "lint", source, run).with_network(network);
        lint.required = false;
        found.add(lint);
    }
    Ok(())
}

/// Whether a build looks for crates that are not in the repository; of a workspace that is taken
/// as so, because its members are not read.
fn fetches(manifest: &Table) -> bool {
    if manifest.contains_key("workspace") {
        return true;
    }
    let targets = manifest.get("target").and_then(Value::as_table);
    let platforms = targets
        .into_iter()
        .flat_map(Table::values)
        .filter_map(Value::as_table);
    platforms.chain([manifest]).any(|table| {
        ["dependencies", "dev-dependencies", "build-dependencies"]
            .iter()
            .filter_map(|name| table.get(*name)?.as_table())
            .flat_map(Table::values)
            .any(|wanted| wanted.get("path").is_none())
    })
}
