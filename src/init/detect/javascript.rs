//! `package.json` scripts by package manager, and Deno.

use super::check::{Check, Proposed};
use super::files::Files;
use crate::init::error::Error;
use serde_json::Value;

/// Scripts that are checks, with the name their gate gets.
const SCRIPTS: [&str; 4] = ["test", "lint", "typecheck", "build"];
const PACKAGE: &str = "package.json";

/// A package manager, its lock files, the install that follows one to the letter, and the one for
/// a package that has none.
type Manager = (
    &'static str,
    &'static [&'static str],
    &'static str,
    &'static str,
);

const MANAGERS: [Manager; 4] = [
    (
        "pnpm",
        &["pnpm-lock.yaml"],
        "pnpm install --frozen-lockfile --prefer-offline",
        "pnpm install --no-lockfile",
    ),
    (
        "yarn",
        &["yarn.lock"],
        "yarn install --frozen-lockfile",
        "yarn install",
    ),
    (
        "bun",
        &["bun.lock", "bun.lockb"],
        "bun install --frozen-lockfile",
        "bun install --no-save",
    ),
    (
        "npm",
        &["package-lock.json", "npm-shrinkwrap.json"],
        "npm ci --prefer-offline --no-audit --no-fund",
        "npm install --no-package-lock",
    ),
];

pub(super) fn detect(files: &Files<'_>, found: &mut Proposed) -> Result<(), Error> {
    if let Some(text) = files.text(PACKAGE)? {
        package(files, &text, found)?;
    }
    if let Some(source) = files.first(&["deno.json", "deno.jsonc"]) {
        let text = files.text(source)?.unwrap_or_default();
        let tasks: Value = serde_json::from_str(&text).unwrap_or_default();
        let run = if tasks["tasks"].get("test").is_some() {
            "deno task test"
        } else {
            "deno test --permit-no-files"
        };
        found.add(Check::new("deno", "test", source, run).with_network(true));
    }
    Ok(())
}

fn package(files: &Files<'_>, text: &str, found: &mut Proposed) -> Result<(), Error> {
    let manifest: Value = serde_json::from_str(text).unwrap_or_default();
    let has_lock = MANAGERS
        .iter()
        .any(|(_, locks, ..)| files.first(locks).is_some());
    let workspace = match has_lock {
        true => None,
        false => find_workspace(files)?,
    };
    let (at, of_all) = workspace
        .as_ref()
        .map_or((files, &manifest), |(at, of)| (at, of));
    let manager = package_manager(at, of_all["packageManager"].as_str());
    let tool = manager.0;
    for name in SCRIPTS {
        let says = manifest["scripts"][name].as_str().unwrap_or_default();
        // `npm init` leaves a test that always fails, and a watcher never ends.
        let real = !says.trim().is_empty()
            && !says.contains("no test specified")
            && !says.contains("--watch");
        if real {
            let run = format!("{tool} run {name}");
            found.add(Check::new(tool, name, PACKAGE, run));
        }
    }
    install(at, manager, of_all, found)
}

/// The nearest folder above whose package has others as parts: what they need is installed there.
fn find_workspace<'a>(files: &Files<'a>) -> Result<Option<(Files<'a>, Value)>, Error> {
    for above in files.above() {
        let text = above.text(PACKAGE)?.unwrap_or_default();
        let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
        if manifest.get("workspaces").is_some() || above.has("pnpm-workspace.yaml") {
            return Ok(Some((above, manifest)));
        }
    }
    Ok(None)
}

/// What the package names comes first: its scripts need it, and targets of make call them.
fn install(
    files: &Files<'_>,
    (tool, locks, exact, loose): Manager,
    manifest: &Value,
    found: &mut Proposed,
) -> Result<(), Error> {
    let names_something = ["dependencies", "devDependencies", "optionalDependencies"]
        .iter()
        .filter_map(|name| manifest[name].as_object())
        .any(|names| !names.is_empty())
        || manifest.get("workspaces").is_some();
    let lock = files.list_committed(locks).first().copied();
    let command = match lock {
        Some(_) if tool == "yarn" && is_later_yarn(files, manifest)? => "yarn install --immutable",
        Some(_) => exact,
        None if names_something => loose,
        None => return Ok(()),
    };
    let inputs: Vec<&'static str> = lock.into_iter().chain([PACKAGE]).collect();
    found.add_setup(files, [command], &inputs);
    found.add_caches(&["node_modules"]);
    Ok(())
}

/// Yarn 2 and later know other words than Yarn 1.
fn is_later_yarn(files: &Files<'_>, manifest: &Value) -> Result<bool, Error> {
    let declared = manifest["packageManager"].as_str().unwrap_or_default();
    if let Some(version) = declared.strip_prefix("yarn@") {
        return Ok(!version.starts_with("1."));
    }
    let lock = files.text("yarn.lock")?.unwrap_or_default();
    Ok(files.has(".yarnrc.yml") || lock.contains("__metadata:"))
}

fn package_manager(files: &Files<'_>, declared: Option<&str>) -> Manager {
    let declared = declared.unwrap_or_default().split('@').next();
    let by_name = MANAGERS.iter().find(|(tool, ..)| declared == Some(*tool));
    let by_lock = || {
        let mut all = MANAGERS.iter();
        all.find(|(_, locks, ..)| files.first(locks).is_some())
    };
    let [.., npm] = MANAGERS;
    by_name.or_else(by_lock).copied().unwrap_or(npm)
}
