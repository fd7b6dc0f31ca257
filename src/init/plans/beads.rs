//! `.beads/issues.jsonl`: one issue a line.

use super::json;
use super::task::{Task, Tasks, note_left_out};
use cook_protocol::diagnostic::{Failure, Lines, clean};
use serde::Deserialize;
use std::collections::BTreeSet;

#[derive(Deserialize)]
struct Bead {
    #[serde(deserialize_with = "json::line")]
    id: String,
    #[serde(deserialize_with = "json::line")]
    title: String,
    #[serde(default, deserialize_with = "json::line")]
    description: String,
    #[serde(default)]
    acceptance_criteria: Option<String>,
    #[serde(default, deserialize_with = "json::line")]
    design: String,
    #[serde(default, deserialize_with = "json::line")]
    status: String,
    #[serde(default)]
    priority: Option<u64>,
    #[serde(default, deserialize_with = "json::line")]
    issue_type: String,
    #[serde(default, deserialize_with = "json::list")]
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    #[serde(deserialize_with = "json::line")]
    depends_on_id: String,
    #[serde(rename = "type", default, deserialize_with = "json::line")]
    kind: String,
}

pub(super) fn tasks(path: &str, text: &str) -> Result<Tasks, Failure> {
    let beads: Vec<(usize, Bead)> = json::parse_lines(path, text)?;
    let mut read = Tasks::default();
    let mut gone = BTreeSet::new();
    for (_, bead) in beads.iter().filter(|(_, bead)| is_gone(bead)) {
        gone.insert(bead.id.clone());
        let what = format!(
            "issue `{}` is {}, and is not taken in",
            bead.id,
            describe_gone(bead)
        );
        read.findings.push(note_left_out(path, &what));
    }
    let kept = beads.into_iter().filter(|(_, bead)| !is_gone(bead));
    read.tasks = kept.map(|(line, bead)| task(line, bead, &gone)).collect();
    Ok(read)
}

/// Deleted, or a heading over others.
fn is_gone(bead: &Bead) -> bool {
    bead.status == "tombstone" || bead.issue_type == "epic"
}

fn describe_gone(bead: &Bead) -> &'static str {
    match bead.issue_type == "epic" {
        true => "an epic, which others are the work of",
        false => "deleted there",
    }
}

fn task(line: usize, bead: Bead, gone: &BTreeSet<String>) -> Task {
    let blocks = bead
        .dependencies
        .into_iter()
        .filter(|one| one.kind == "blocks");
    let after = blocks
        .map(|one| one.depends_on_id)
        .filter(|id| !gone.contains(id));
    let criteria = bead.acceptance_criteria.unwrap_or_default();
    let criteria = criteria.lines().map(|line| {
        let line = clean(line, Lines::Fold);
        let item = line.trim_start_matches(['-', '*', '+']).trim_start();
        let item = item
            .strip_prefix("[ ]")
            .or_else(|| item.strip_prefix("[x]"))
            .unwrap_or(item);
        item.trim().to_owned()
    });
    Task {
        item: bead.id.clone(),
        id: Some(bead.id),
        goal: bead.title,
        criteria: criteria.collect(),
        notes: [bead.description, bead.design]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect(),
        after: after.collect(),
        // 0 is the most urgent there.
        priority: bead.priority.map(|priority| priority.saturating_add(1)),
        ticked: bead.status == "closed",
        line: Some(line),
        ..Task::default()
    }
}
