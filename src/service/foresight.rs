//! What stands against a report in this repository, as far as it is known without running
//! anything and without writing.

use super::dispatch::{dispatch_now, follow};
use super::transition::in_own_words;
use super::workspace::Workspace;
use crate::measure::gate_commands;
use cook_protocol::diagnostic::{Code, Failure, Finding};
use cook_protocol::machine::{self, FactSet, Facts};
use cook_protocol::model::{Actor, Anchor, Event, Role, Snapshot, Verdict};

/// A report held against the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foresight {
    /// What it was held against; or why it was not.
    pub against: Result<String, String>,
    /// What would refuse it.
    pub refusals: Vec<Finding>,
    /// What was taken for green because it was not run.
    pub assumed: Vec<String>,
}

/// Holds a report against the log and the repository, where its role is due.
///
/// # Errors
/// Unreadable state, git that does not answer.
pub fn foresee(workspace: &Workspace, role: Role, event: &Event) -> Result<Foresight, Failure> {
    let (_, snapshot) = workspace.current()?;
    let Some(snapshot) = snapshot else {
        return Ok(not_held("nothing is recorded here yet".to_owned()));
    };
    let (dispatch, _) = dispatch_now(workspace, Some(&snapshot))?;
    if dispatch.role != Some(role) {
        let rule = dispatch.rule.id();
        let due = dispatch.role.map_or("user", |role| role.short());
        return Ok(not_held(format!("rule {rule} waits for the {due}")));
    }
    let event = &in_own_words(event, Some(&snapshot));
    let (facts, mut assumed) = measure_without_running(workspace, &snapshot, event)?;
    let refusals = match machine::apply(Some(&snapshot), &facts, event, Actor::Role) {
        Ok(_) => Vec::new(),
        // What only a run can tell was asked for.
        Err(refusal) if refusal.code == Code::FactMissing => {
            assumed.push("the stop verifier".to_owned());
            Vec::new()
        }
        Err(refusal) => list_findings(refusal.into()),
    };
    let head = facts.head.as_ref().and_then(|head| head.commit.as_deref());
    let head = head.map_or("no commit", |commit| commit.get(..12).unwrap_or(commit));
    Ok(Foresight {
        against: Ok(format!("transition {} at {head}", snapshot.ledger.seq.0)),
        refusals,
        assumed,
    })
}

fn not_held(why: String) -> Foresight {
    Foresight {
        against: Err(why),
        refusals: Vec::new(),
        assumed: Vec::new(),
    }
}

/// The facts of a decision, with every gate that would run taken for green.
fn measure_without_running(
    workspace: &Workspace,
    snapshot: &Snapshot,
    event: &Event,
) -> Result<(Facts, Vec<String>), Failure> {
    let logged = snapshot;
    let snapshot = &*follow(workspace, snapshot)?;
    let mut needs = machine::needs(Some(snapshot), event);
    machine::ask_to_follow(&mut needs, logged);
    let asks_for_gates = needs.gates.is_some();
    let wanted = FactSet {
        existing_receipts_only: true,
        gates: None,
        room: false,
        stop_verifier: None,
        ..needs
    };
    let mut facts = workspace.measure(&wanted, Some(snapshot))?;
    let mut assumed = Vec::new();
    if asks_for_gates {
        facts.gates = Some(Vec::new());
        assumed.push("the gates at the commit".to_owned());
    }
    let slices = snapshot.plan.candidate_slices.iter();
    let commands = slices.flat_map(|slice| slice.verification_commands.iter().flatten());
    let gates = gate_commands(workspace.config()?, commands);
    for question in &wanted.anchors {
        let runs = match Anchor::parse(&question.anchor) {
            Ok(Anchor::Test(_)) => !gates.is_empty(),
            Ok(Anchor::Command { command, .. }) => gates.contains(&command),
            _ => false,
        };
        if let Some(answer) = facts.anchors.get_mut(&question.key())
            && runs
            && answer.verdict == Verdict::Unverifiable
        {
            answer.verdict = Verdict::Verified;
            assumed.push(question.anchor.clone());
        }
    }
    assumed.sort();
    assumed.dedup();
    Ok((facts, assumed))
}

/// The single things that a refusal lists, or the refusal itself.
fn list_findings(failure: Failure) -> Vec<Finding> {
    match failure.findings.is_empty() {
        true => vec![Finding::new(failure.code, failure.message)],
        false => failure.findings,
    }
}
