//! The state diagram, drawn from the edges the exploration saw.

use cook_protocol::model::Phase;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

pub type Edges = BTreeSet<(Phase, &'static str, Phase)>;

fn name(phase: Phase) -> String {
    serde_json::to_value(phase)
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned()
}

fn group_by_ends(
    edges: &Edges,
    wanted: impl Fn(&str) -> bool,
) -> BTreeMap<(Phase, Phase), Vec<&str>> {
    let mut by_ends: BTreeMap<(Phase, Phase), Vec<&str>> = BTreeMap::new();
    for &(from, event, to) in edges {
        if wanted(event) {
            by_ends.entry((from, to)).or_default().push(event);
        }
    }
    by_ends
}

/// Events of roles: the way a workflow goes by itself.
fn is_role_event(event: &str) -> bool {
    matches!(
        event,
        "regrounded" | "implemented" | "returned" | "reviewed" | "audited" | "judged" | "asked"
    )
}

/// The diagram: phases, and the roles' events between them.
pub fn diagram(edges: &Edges) -> String {
    let mut text = String::from(
        "%% Drawn by the exploration (crates/protocol/tests/exploration) from the transitions it saw; do not edit.\n\
         stateDiagram-v2\n    [*] --> reground: bootstrapped\n",
    );
    for ((from, to), events) in group_by_ends(edges, is_role_event) {
        let _ = writeln!(
            text,
            "    {} --> {}: {}",
            name(from),
            name(to),
            events.join(", ")
        );
    }
    text.push_str("    done --> [*]\n");
    text
}

/// The table: every edge, the commands of the user and the runner among them.
pub fn table(edges: &Edges) -> String {
    let mut text = String::from(
        "# Phases and transitions\n\n\
         The exploration (`crates/protocol/tests/exploration`) generates this page from the transitions that it saw; run\n\
         `just update` to write it again. A phase is the answer of `dispatch`, so every transition is an accepted event. Changes of\n\
         the repository itself (a commit, an edit) change the phase without an event. [state-diagram.mmd](state-diagram.mmd) draws\n\
         the events of roles.\n\n\
         | from | to, by events of roles | to, by the user or the runner |\n|---|---|---|\n",
    );
    let phases: BTreeSet<Phase> = edges.iter().map(|edge| edge.0).collect();
    for from in phases {
        let cell = |of_roles: bool| {
            let wanted = |event: &str| is_role_event(event) == of_roles;
            let ends = group_by_ends(edges, wanted).into_iter();
            let ends = ends.filter(|((begin, _), _)| *begin == from);
            let ends = ends.map(|((_, to), events)| format!("{}: {}", name(to), events.join(", ")));
            ends.collect::<Vec<_>>().join("; ")
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            name(from),
            cell(true),
            cell(false)
        );
    }
    text
}

/// The edges of a table that was drawn before.
pub fn read(table: &str) -> Edges {
    let phase = |name: &str| serde_json::from_value(name.into()).ok();
    let mut edges = Edges::new();
    for row in table.lines() {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, from, roles, others, _] = cells[..] else {
            continue;
        };
        let Some(from) = phase(from) else {
            continue;
        };
        let ends = roles.split("; ").chain(others.split("; "));
        for (to, events) in ends.filter_map(|end| end.split_once(": ")) {
            let to = phase(to).unwrap_or_else(|| panic!("`{to}` is not a phase"));
            for event in events.split(", ") {
                edges.insert((from, &*String::from(event).leak(), to));
            }
        }
    }
    edges
}
