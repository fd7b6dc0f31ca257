//! State of older layouts, much of it contradictory, as `cook init` may find it.

use super::CORE;
use super::events::{claims, plan_of};
use super::explore::{due, first};
use super::walk::Walk;
use super::world::{Budget, Mood, World, id};
use cook_protocol::diagnostic::Code;
use cook_protocol::machine::{Rule, contradictions};
use cook_protocol::model::{
    ActiveSlice, Assurance, Import, Plan, Policy, SliceRecord, SliceStatus,
};
use serde_json::{Value, json};

fn slice(name: &str, status: &str, criteria: &[&str]) -> Value {
    json!({
        "slice_id": name, "goal": format!("do {name}"), "acceptance_criteria": criteria,
        "contract_ids": [format!("C-{name}")], "priority": 1, "status": status, "why_now": "",
        "blocked_on": [], "evidence": ["somebody saw it"], "implementation_surfaces": ["src/"],
        "must_fix_findings": [], "basis_commit": id(0),
    })
}

fn plan(slices: &[Value]) -> Option<Plan> {
    let plan = json!({
        "schema_version": 1, "mission_anchor": "old", "last_reground_at": null,
        "plan_basis": "old", "candidate_slices": slices,
    });
    Some(serde_json::from_value(plan).unwrap())
}

fn active(name: &str, status: &str, basis: &str) -> Option<ActiveSlice> {
    let active = json!({
        "schema_version": 1, "status": status, "slice_id": name, "goal": format!("do {name}"),
        "contract_ids": [format!("C-{name}")], "mission_anchor": "old",
        "acceptance_criteria": ["a1", "a2"], "priority": 1, "why_now": "", "blocked_on": [],
        "locked_notes": [], "must_fix_findings": [], "basis_commit": basis,
        "remaining_contract_ids_before": [], "release_blocker_count_before": 0,
        "high_value_gap_count_before": 0,
    });
    Some(serde_json::from_value(active).unwrap())
}

fn record_implemented(commit: &str) -> Vec<SliceRecord> {
    let record = json!({
        "schema_version": 1, "type": "implemented", "recorded_at": 1_700_000_000, "slice_id": "a",
        "commit_sha": commit, "head_sha": commit,
    });
    vec![serde_json::from_value(record).unwrap()]
}

/// A plan that the user brought, of two slices as [`super::events`] plans them.
pub fn make_brought_plan() -> Import {
    let mut slices = [
        slice("a", "planned", &["a1", "a2"]),
        slice("b", "planned", &["b1"]),
    ];
    for slice in &mut slices {
        slice["evidence"] = json!([]);
        slice.as_object_mut().unwrap().remove("basis_commit");
    }
    Import {
        layout: "prd".to_owned(),
        path: Some("prd.json".to_owned()),
        plan: plan(&slices),
        ..Import::default()
    }
}

/// By name.
pub fn imports() -> Vec<(&'static str, Import)> {
    let both = ["a1", "a2"];
    let import = |plan, active, slice_history| Import {
        layout: "agent-0.1.26".to_owned(),
        plan,
        active,
        slice_history,
        ..Import::default()
    };
    let selected = || plan(&[slice("a", "selected", &both)]);
    let working = || plan(&[slice("a", "in_progress", &both)]);
    let mut all = vec![
        (
            "nothing but a plan",
            import(plan(&[slice("a", "planned", &both)]), None, Vec::new()),
        ),
        (
            "selected, none active",
            import(selected(), None, Vec::new()),
        ),
        (
            "two selected",
            import(
                plan(&[
                    slice("a", "selected", &both),
                    slice("b", "in_progress", &["b1"]),
                ]),
                active("a", "selected", &id(0)),
                Vec::new(),
            ),
        ),
        (
            "another one selected beside a done one",
            import(
                plan(&[slice("a", "done", &both), slice("b", "selected", &["b1"])]),
                active("a", "done", &id(0)),
                Vec::new(),
            ),
        ),
        (
            "not in the plan",
            import(plan(&[]), active("a", "in_progress", &id(0)), Vec::new()),
        ),
        (
            "no commit as basis",
            import(selected(), active("a", "selected", "deadbeef"), Vec::new()),
        ),
        (
            "without criteria",
            import(
                plan(&[slice("a", "in_progress", &[])]),
                active("a", "in_progress", &id(0)),
                Vec::new(),
            ),
        ),
        (
            "statuses differ",
            import(
                plan(&[slice("a", "planned", &both)]),
                active("a", "committed", &id(0)),
                Vec::new(),
            ),
        ),
        (
            "handoff differs",
            import(
                plan(&[slice("a", "in_progress", &["a1", "a9"])]),
                active("a", "in_progress", &id(0)),
                Vec::new(),
            ),
        ),
        (
            "committed without a record",
            import(working(), active("a", "committed", &id(0)), Vec::new()),
        ),
        (
            "committed",
            import(
                working(),
                active("a", "committed", &id(0)),
                record_implemented(&id(1)),
            ),
        ),
        (
            "committed elsewhere",
            import(
                working(),
                active("a", "committed", &id(0)),
                record_implemented("feed"),
            ),
        ),
        (
            "done without criteria",
            import(plan(&[slice("a", "done", &[])]), None, Vec::new()),
        ),
        (
            "cancelled without criteria",
            import(
                plan(&[slice("a", "cancelled", &[]), slice("b", "planned", &["b1"])]),
                None,
                Vec::new(),
            ),
        ),
        (
            "done by word alone",
            import(
                plan(&[slice("a", "done", &both)]),
                active("a", "done", &id(0)),
                Vec::new(),
            ),
        ),
        (
            "done, and the plan says planned",
            import(
                plan(&[slice("a", "planned", &both)]),
                active("a", "done", &id(0)),
                Vec::new(),
            ),
        ),
    ];
    let mut paused = import(working(), active("a", "in_progress", &id(0)), Vec::new());
    paused.policy = Some(Policy::Paused);
    all.push(("paused", paused));
    all
}

/// Each contradiction of older state is named when it is met, and rule 2 answers for it.
#[test]
fn what_contradicts_itself_is_named() {
    let named = [
        ("selected, none active", Code::StatusPairIllegal),
        ("two selected", Code::SelectedTwice),
        (
            "another one selected beside a done one",
            Code::StatusPairIllegal,
        ),
        ("not in the plan", Code::SliceNotInPlan),
        ("no commit as basis", Code::BasisUnresolved),
        ("without criteria", Code::CriteriaMissing),
        ("statuses differ", Code::StatusPairIllegal),
        ("handoff differs", Code::HandoffDiffers),
        ("committed without a record", Code::SliceHeadVanished),
        ("committed elsewhere", Code::SliceHeadVanished),
        ("done, and the plan says planned", Code::StatusPairIllegal),
    ];
    let about_documents = [
        Code::StatusPairIllegal,
        Code::SelectedTwice,
        Code::SliceNotInPlan,
        Code::CriteriaMissing,
        Code::HandoffDiffers,
    ];
    let budget = Budget {
        steps: 60,
        attempts: 4,
    };
    let world = World::of_length(2);
    for (name, import) in imports() {
        let mut snapshot = first(&world, 1, Assurance::Strict, Some(import));
        // The import itself asks for a re-ground; what is found must be enough without it.
        snapshot.state.requires_reground = false;
        let found: Vec<Code> = contradictions(&snapshot)
            .iter()
            .map(|finding| finding.code)
            .collect();
        let wanted = named.iter().find(|(known, _)| *known == name);
        let wanted = wanted.map(|(_, code)| *code);
        match wanted.filter(|code| about_documents.contains(code)) {
            Some(code) => assert!(found.contains(&code), "{name}: {found:?}"),
            None if name == "committed" => assert_eq!(found, []),
            None => {}
        }
        if let Some(code) = wanted {
            let answer = due(&snapshot, &world, &Mood::GOOD, &budget);
            let codes: Vec<Code> = answer.findings.iter().map(|f| f.code).collect();
            assert_eq!(answer.rule, Rule::Recover, "{name}");
            assert!(codes.contains(&code), "{name}: {codes:?}");
        }
    }
}

/// The file that calls a task done is no proof that it is.
#[test]
fn a_brought_slice_is_not_shown_to_be_there_by_its_plan() {
    let world = World::of_length(1);
    let mut walk = Walk::new(CORE);
    walk.snapshot = first(&world, 1, Assurance::Strict, Some(make_brought_plan()));
    let cancel = |walk: &Walk, anchor: &str| {
        walk.reground(|block| {
            let mut plan = plan_of(&walk.snapshot);
            plan.candidate_slices[0].status = Some(SliceStatus::Cancelled);
            plan.candidate_slices[0].reason = Some("it is there".to_owned());
            block.plan = Some(plan);
            block.evidence = claims(walk.snapshot.plan.slice("a").unwrap(), "good");
            if !anchor.is_empty() {
                block.evidence[0].anchor = anchor.to_owned();
            }
        })
    };
    let by_the_plan = cancel(&walk, "prd.json:3");
    walk.refuse(by_the_plan, Code::EvidenceUnrelated);
    let by_work = cancel(&walk, "");
    walk.take(by_work);
}
