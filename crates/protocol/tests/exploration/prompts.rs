//! The prompt of a role holds what its report is decided by: a field of the documents that changes
//! what becomes of some report changes the prompt of the role that is due.
//!
//! Nothing here lists the fields. Each text, number and flag of the state is changed in turn; where
//! the prompt stays the same, every report that is tried must fare the same.

use super::events::Offer;
use super::explore::{due, try_event};
use super::world::{Budget, Mood, World};
use cook_protocol::machine::{Dispatch, Rule, Selection};
use cook_protocol::model::{Actor, Role, Snapshot};
use cook_protocol::prompt::{PromptInput, render};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// States that are looked at for each rule and shape of the state.
const EACH: usize = 2;

/// Times that a field is tried for each rule where the prompt shows it: what it decides is only noted.
const SHOWN: usize = 2;

/// What cook measures or keeps for itself, and no role is asked about.
const COOKS_OWN: &[&str] = &[
    // Where the repository was: what of it matters is among the findings, with its code.
    "ledger.branch",
    "ledger.head_seen",
    "ledger.mark",
    "ledger.status_seen",
    "ledger.settings",
    // Numbers of the log, digests, names of sessions.
    "ledger.seq",
    "ledger.aside",
    "ledger.taken_digests",
    "ledger.lease_epoch",
    "*.seq",
    "*.report_sha256",
    "*.criteria_sha256",
    "*.session",
    "*.ticket",
    "*.recorded_at",
    "*.head_sha",
    "*.schema_version",
    "*.revision",
    // Of a slice that nothing ran for nobody is told that its proof is text alone.
    "ledger.slices.*.receipts",
    // Budgets stop the work before a role is asked.
    "counters.",
    "undone.",
    // A copy of the plan entry, which is changed in its place.
    "active.goal",
    "active.contract_ids",
    "active.acceptance_criteria",
    "active.priority",
    "active.why_now",
    "active.blocked_on",
    "active.locked_notes",
    "active.must_fix_findings",
    "active.basis_commit",
    "active.implementation_surfaces",
    "active.verification_commands",
];

/// A judge is to judge alone.
const WITHHELD_FROM_JUDGES: &str = "ledger.wave";

/// Of closed slices they stand in the context, with what each proof is worth now; the slices that nobody
/// doubts are a number, with the command that lists them.
const OF_CLOSED: [&str; 3] = [
    "plan.candidate_slices.*.acceptance_criteria",
    "plan.candidate_slices.*.evidence",
    "plan.candidate_slices.*.slice_id",
];

/// What was looked at so far.
#[derive(Default)]
pub struct Prompts {
    shapes: BTreeMap<String, usize>,
    shown: BTreeMap<(Rule, String), usize>,
    /// Fields that a decision depends on, by rule.
    pub read: BTreeSet<(Rule, String)>,
    /// What is wrong, by rule and field.
    pub lacks: BTreeMap<(Rule, String), String>,
}

impl Prompts {
    /// Tries every change of a state of a shape that was not seen often.
    pub fn check(
        &mut self,
        snapshot: &Snapshot,
        world: &World,
        budget: &Budget,
        offers: &[Offer],
        path: impl Fn() -> String,
    ) {
        let now = due(snapshot, world, &Mood::GOOD, budget);
        let Some(role) = now.role.filter(|_| !now.waits_for_gates()) else {
            return;
        };
        let seen = self.shapes.entry(shape(snapshot, &now)).or_default();
        *seen += 1;
        if *seen > EACH {
            return;
        }
        let offers: Vec<&Offer> = offers
            .iter()
            .filter(|offer| offer.actor == Actor::Role && offer.event.role() == Some(role))
            .collect();
        let whole = serde_json::to_value(snapshot).unwrap();
        let prompt = make_prompt(snapshot, &now, role);
        let outcomes: Vec<String> = offers
            .iter()
            .map(|offer| find_outcome(snapshot, world, budget, offer))
            .collect();
        let mut places = Vec::new();
        list(&whole, &mut Vec::new(), &mut places);
        for place in places {
            let name = name_place(&place);
            let is_withheld = role == Role::StopJudge && is_one_of(&name, WITHHELD_FROM_JUDGES);
            if is_withheld || COOKS_OWN.iter().any(|own| is_one_of(&name, own)) {
                continue;
            }
            let is_closed = match place.get(2) {
                Some(Step::Item(at)) => {
                    let slice = snapshot.plan.candidate_slices.get(*at);
                    slice.is_some_and(|slice| !slice.status.is_open())
                }
                _ => false,
            };
            if is_closed && OF_CLOSED.iter().any(|own| is_one_of(&name, own)) {
                continue;
            }
            for changed in changes(&whole, &place) {
                let Ok(mut changed) = serde_json::from_value::<Snapshot>(changed) else {
                    continue;
                };
                copy_handoff(&mut changed);
                let then = due(&changed, world, &Mood::GOOD, budget);
                if (then.rule, then.role) != (now.rule, now.role) {
                    continue;
                }
                let is_shown = make_prompt(&changed, &then, role) != prompt;
                let key = (now.rule, name.clone());
                if is_shown {
                    let times = self.shown.entry(key.clone()).or_default();
                    *times += 1;
                    if *times > SHOWN || self.read.contains(&key) {
                        continue;
                    }
                }
                let differs = offers.iter().zip(&outcomes).find(|(offer, before)| {
                    find_outcome(&changed, world, budget, offer) != **before
                });
                let Some((offer, before)) = differs else {
                    continue;
                };
                self.read.insert(key.clone());
                if !is_shown {
                    let told = || {
                        format!(
                            "the prompt of the {role} (rule {}) says nothing of `{name}`, by which `{}` is decided: {before}, and then {}\n{}",
                            now.rule,
                            offer.label,
                            find_outcome(&changed, world, budget, offer),
                            path()
                        )
                    };
                    self.lacks.entry(key).or_insert_with(told);
                }
            }
        }
    }
}

/// The handoff is a copy of its plan entry, and changes with it.
fn copy_handoff(snapshot: &mut Snapshot) {
    let active = &mut snapshot.active;
    let slice = active
        .slice_id
        .as_ref()
        .and_then(|id| snapshot.plan.slice(id));
    let (Some(slice), Some(handoff)) = (slice, &mut active.handoff) else {
        return;
    };
    active.goal = Some(slice.goal.clone());
    active.contract_ids.clone_from(&slice.contract_ids);
    handoff
        .acceptance_criteria
        .clone_from(&slice.acceptance_criteria);
    handoff.priority = slice.priority.clone();
    handoff.why_now.clone_from(&slice.why_now);
    handoff.blocked_on.clone_from(&slice.blocked_on);
    handoff.locked_notes = slice.locked_notes.clone().unwrap_or_default();
    handoff.must_fix_findings = slice.must_fix_findings.clone().unwrap_or_default();
    handoff.basis_commit = slice.basis_commit.clone().unwrap_or_default();
    handoff
        .implementation_surfaces
        .clone_from(&slice.implementation_surfaces);
    handoff
        .verification_commands
        .clone_from(&slice.verification_commands);
}

fn shape(snapshot: &Snapshot, due: &Dispatch) -> String {
    let statuses = snapshot.plan.candidate_slices.iter();
    let statuses: BTreeSet<&str> = statuses.map(|slice| slice.status.id()).collect();
    let votes = snapshot.ledger.wave.votes.iter();
    let votes: BTreeSet<bool> = votes.map(|vote| vote.can_stop).collect();
    format!(
        "{} {} {statuses:?} {votes:?} {} {}",
        due.rule,
        snapshot.active.status.id(),
        snapshot.ledger.unanswered.len().min(1),
        snapshot.ledger.answers.len().min(1),
    )
}

pub fn make_prompt(snapshot: &Snapshot, due: &Dispatch, role: Role) -> String {
    render(&PromptInput {
        role,
        snapshot,
        rule: due.rule.id(),
        action: &due.action,
        reason: &due.reason,
        findings: &due.findings,
        selection: &Selection::default(),
        context: "",
        brief: "",
    })
}

/// What becomes of a report: refused with which code, or who is next with which findings.
fn find_outcome(snapshot: &Snapshot, world: &World, budget: &Budget, offer: &Offer) -> String {
    let (_, result) = try_event(
        snapshot,
        world,
        &offer.mood,
        budget,
        &offer.event,
        offer.actor,
    );
    match result {
        Err(refusal) => format!("refused: {}", refusal.code),
        Ok(step) => {
            let codes = step.findings.iter().map(|finding| finding.code);
            let codes: BTreeSet<_> = codes.collect();
            format!("taken: then rule {}, {codes:?}", step.next.rule)
        }
    }
}

#[derive(Clone)]
enum Step {
    Key(String),
    Item(usize),
}

/// Every text, number and flag, and every list.
fn list(value: &Value, at: &mut Vec<Step>, places: &mut Vec<Vec<Step>>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                at.push(Step::Key(key.clone()));
                list(value, at, places);
                at.pop();
            }
        }
        Value::Array(items) => {
            if !items.is_empty() {
                places.push(at.clone());
            }
            for (place, value) in items.iter().enumerate() {
                at.push(Step::Item(place));
                list(value, at, places);
                at.pop();
            }
        }
        Value::Null => {}
        _ => places.push(at.clone()),
    }
}

/// Items of lists and names of slices are `*`.
fn name_place(place: &[Step]) -> String {
    let mut name = String::new();
    let mut in_slices = false;
    for step in place {
        let word = match step {
            Step::Item(_) => "*",
            Step::Key(_) if in_slices => "*",
            Step::Key(key) => key,
        };
        in_slices = word == "slices" || word == "settings" && name == "ledger";
        if !name.is_empty() {
            name.push('.');
        }
        name.push_str(word);
    }
    name
}

fn is_one_of(name: &str, own: &str) -> bool {
    match own.strip_prefix('*') {
        Some(end) => name.ends_with(end),
        None => name == own || name.starts_with(&format!("{}.", own.trim_end_matches('.'))),
    }
}

fn changes(whole: &Value, place: &[Step]) -> Vec<Value> {
    let mut found = Vec::new();
    let others = |value: &Value| match value {
        Value::String(text) => vec![json!(format!("{text} and more"))],
        Value::Bool(flag) => vec![json!(!flag)],
        Value::Number(number) => vec![json!(number.as_u64().unwrap_or_default() + 1)],
        Value::Array(items) => vec![json!(items[1..])],
        _ => Vec::new(),
    };
    for other in others(at(whole, place)) {
        let mut changed = whole.clone();
        *place.iter().fold(&mut changed, |value, step| match step {
            Step::Key(key) => &mut value[key],
            Step::Item(place) => &mut value[place],
        }) = other;
        found.push(changed);
    }
    found
}

fn at<'a>(whole: &'a Value, place: &[Step]) -> &'a Value {
    place.iter().fold(whole, |value, step| match step {
        Step::Key(key) => &value[key],
        Step::Item(place) => &value[place],
    })
}
