//! Has agents answer once.

use super::agents::{choose, find_here};
use super::sandbox::Keeping;
use crate::service::Workspace;
use cook_agents::{AgentSupplier, Preset, Sandbox, presets, probe_version};
use cook_core::diagnostic::{Code, Failure, Finding};
use cook_os::process::Clocks;
use cook_os::thread;
use cook_store::session::{Action, Ref, RefKind, Supplier, Turn};
use std::path::PathBuf;
use std::time::Duration;

/// How long an agent may take over one word.
const PROBE: Clocks = Clocks {
    wall: Duration::from_secs(120),
    idle: Duration::from_secs(90),
};

/// Has agents answer once; what was seen, and what is wrong.
pub fn probe(
    workspace: &Workspace,
    only: Option<&str>,
) -> Result<(Vec<String>, Vec<Finding>), Failure> {
    let config = workspace.config()?;
    let all: Vec<Preset> = match only {
        Some(name) => vec![choose(workspace, Some(name))?],
        None => presets(config)
            .into_values()
            .filter_map(Result::ok)
            .collect(),
    };
    let borrowed: Vec<&Preset> = all.iter().collect();
    let found = find_here(workspace, &borrowed)?;
    let here: Vec<&Preset> = borrowed
        .into_iter()
        .zip(&found)
        .filter(|(_, found)| only.is_some() || (found.path.is_some() && found.is_it))
        .map(|(preset, _)| preset)
        .collect();
    let root = workspace.repo.cook_dir()?.join("sessions");
    let dir = workspace.repo.root();
    let sandbox = Keeping::of(workspace)?.sandbox(&workspace.repo)?;
    let heard = thread::on_each(&here, |preset| {
        one_turn(preset, dir.to_owned(), root.clone(), sandbox.clone())
    });
    let heard = heard
        .into_iter()
        .map(|heard| heard.unwrap_or_else(|_| Err("the probe failed".to_owned())));
    let mut checked = Vec::new();
    let mut findings = Vec::new();
    for (preset, heard) in here.iter().zip(heard) {
        match heard {
            Ok(said) => checked.push(format!("agent {}: {said}", preset.name())),
            Err(why) => findings
                .push(Finding::new(Code::AgentSilent, why).at(format!("agent {}", preset.name()))),
        }
    }
    if here.is_empty() {
        checked.push("no agent is installed".to_owned());
    }
    Ok((checked, findings))
}

fn one_turn(
    preset: &Preset,
    dir: PathBuf,
    root: PathBuf,
    sandbox: Option<Sandbox>,
) -> Result<String, String> {
    let version = probe_version(preset, &dir);
    let mut supplier = AgentSupplier::new(preset.clone(), dir, root, PROBE);
    supplier.sandbox = sandbox;
    let turn = Turn {
        name: Ref::new(RefKind::Exchange),
        prompt: "Answer with the one word: ready",
        action: Action::Ask,
        fork: None,
        schema: None,
    };
    match supplier.call(&turn) {
        Ok(answer) => {
            let said: String = answer.output.chars().take(60).collect();
            let version = version
                .map(|version| format!(" {version}"))
                .unwrap_or_default();
            Ok(format!(
                "answered{version} in {} ms: {said}",
                answer.duration_ms
            ))
        }
        Err(error) => Err(match error.failure {
            cook_store::session::SupplierErrorKind::Failed(why)
            | cook_store::session::SupplierErrorKind::Absent(why)
            | cook_store::session::SupplierErrorKind::TimedOut(why)
            | cook_store::session::SupplierErrorKind::Unparseable(why) => match error.class {
                Some(class) => format!("{class}: {why}"),
                None => why,
            },
        }),
    }
}
