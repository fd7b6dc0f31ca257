//! `cook doctor agents`: agents that can be asked.

use super::context::{Answer, Context, answer};
use crate::drive::find_here;
use crate::view::{AgentRow, AgentsAnswer};
use cook_agents::{Found, Preset, presets};
use cook_core::model::{AgentKind, Continuation};

pub(super) fn agents(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let mut rows: Vec<AgentRow> = Vec::new();
    let all = presets(workspace.config()?);
    let sound: Vec<&Preset> = all
        .values()
        .filter_map(|preset| preset.as_ref().ok())
        .collect();
    let found = find_here(&workspace, &sound)?;
    for (preset, found) in sound.into_iter().zip(found) {
        let mut preset = preset.clone();
        found.restrict(&mut preset);
        rows.push(row(&preset, found));
    }
    for (name, wrong) in &all {
        if let Err(error) = wrong {
            rows.push(AgentRow {
                name: name.clone(),
                problem: Some(error.to_string()),
                ..AgentRow::default()
            });
        }
    }
    rows.sort_by(|one, two| one.name.cmp(&two.name));
    answer(AgentsAnswer { agents: rows })
}

fn row(preset: &Preset, found: Found) -> AgentRow {
    let table = preset.table();
    let can = [
        ("acp", preset.kind() == AgentKind::Acp),
        ("resume", table.resume.is_some()),
        ("fork", preset.continuation() == Continuation::Native),
        ("schema", table.schema.is_some()),
        (
            "named-session",
            preset.session() != cook_core::model::SessionNaming::None,
        ),
        ("read-only", preset.can_only_read()),
        (
            "cost",
            preset.rules().iter().any(|rule| rule.set.cost.is_some()),
        ),
        ("open", table.open.is_some()),
    ];
    AgentRow {
        name: preset.name().to_owned(),
        bin: preset.bin().to_owned(),
        installed: found.path.is_some() && found.is_it,
        path: found.path.map(|path| path.display().to_string()),
        version: found.version,
        verified: preset.is_verified(),
        capabilities: can
            .iter()
            .filter(|(_, can)| *can)
            .map(|(name, _)| *name)
            .collect(),
        problem: found.problem,
    }
}
