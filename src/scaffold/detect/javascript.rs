//! `package.json` scripts by package manager, and Deno.

use super::check::Proposal;
use super::files::Files;
use crate::scaffold::error::Error;
use serde_json::Value;

/// Scripts that are checks, with the name their gate gets.
const SCRIPTS: [&str; 4] = ["test", "lint", "typecheck", "build"];

pub(super) fn detect(files: &Files<'_>, found: &mut Vec<Proposal>) -> Result<(), Error> {
    if let Some(text) = files.text("package.json")? {
        package(files, &text, found);
    }
    if let Some(source) = files.first(&["deno.json", "deno.jsonc"]) {
        let text = files.text(source)?.unwrap_or_default();
        let tasks: Value = serde_json::from_str(&text).unwrap_or_default();
        let run = if tasks["tasks"].get("test").is_some() {
            "deno task test"
        } else {
            "deno test --permit-no-files"
        };
        found.push(Proposal::new("deno", "test", source, run));
    }
    Ok(())
}

fn package(files: &Files<'_>, text: &str, found: &mut Vec<Proposal>) {
    let manifest: Value = serde_json::from_str(text).unwrap_or_default();
    let tool = package_manager(files, manifest["packageManager"].as_str());
    for name in SCRIPTS {
        let says = manifest["scripts"][name].as_str().unwrap_or_default();
        // `npm init` leaves a test that always fails, and a watcher never ends.
        let real = !says.trim().is_empty()
            && !says.contains("no test specified")
            && !says.contains("--watch");
        if real {
            let run = format!("{tool} run {name}");
            found.push(Proposal::new(tool, name, "package.json", run));
        }
    }
}

fn package_manager(files: &Files<'_>, declared: Option<&str>) -> &'static str {
    let declared = declared.unwrap_or_default().split('@').next();
    if let Some(tool) = ["npm", "pnpm", "yarn", "bun"]
        .into_iter()
        .find(|tool| declared == Some(*tool))
    {
        return tool;
    }
    let locks = [
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("bun.lock", "bun"),
        ("bun.lockb", "bun"),
    ];
    locks
        .into_iter()
        .find(|(lock, _)| files.has(lock))
        .map_or("npm", |(_, tool)| tool)
}
