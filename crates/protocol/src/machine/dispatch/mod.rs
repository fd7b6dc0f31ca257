//! `dispatch`: the one mandatory next role. Rules are asked in order, the first
//! that fires answers; each asks only for the facts `needs` names for it.

mod answer;
mod goal;
mod rules;
mod stopped;

pub use answer::not_your_turn;

use crate::diagnostic::Refusal;
use crate::machine::facts::{FactSet, Facts};
use crate::machine::rule::{Dispatch, Rule, Trace};
use crate::machine::vanished::{follow_facts, follow_to};
use crate::machine::{drift, slices};
use crate::model::{Policy, Snapshot};
use rules::{Walk, selects};

/// The facts `dispatch` reads for this snapshot (none = there is no log).
pub fn dispatch_needs(snapshot: Option<&Snapshot>) -> FactSet {
    let mut set = FactSet {
        head: true,
        ..FactSet::default()
    };
    let Some(snapshot) = snapshot else {
        set.contract = true;
        return set;
    };
    if snapshot.state.continuation_policy == Policy::Done {
        set.since = snapshot.ledger.head_seen.clone();
    }
    if snapshot.state.continuation_policy == Policy::Continue && snapshot.ledger.goal.is_some() {
        return drift::needs(snapshot);
    }
    if snapshot.state.continuation_policy == Policy::Continue {
        set = drift::needs(snapshot);
        set.config = true;
        let between = !drift::in_work(snapshot);
        // Advice for the role that comes: a selection needs a committed contract, and
        // what a re-ground or a judge decides needs a clean tree.
        let recovers = snapshot.state.requires_reground;
        set.contract_committed = recovers || between && selects(snapshot);
        let is_read = match snapshot.assurance().is_strict() {
            true => slices::current_audit(snapshot).is_some(),
            false => slices::current_review(snapshot).is_some(),
        };
        set.worktree = recovers || snapshot.ledger.regrounded && (between || is_read);
    }
    set
}

/// Names the mandatory role.
///
/// # Errors
/// Only `fact_missing`, when the facts are not those of [`dispatch_needs`].
pub fn dispatch(snapshot: Option<&Snapshot>, facts: &Facts) -> Result<Dispatch, Refusal> {
    explain(snapshot, facts).map(|(dispatch, _)| dispatch)
}

/// The same with what each rule saw (`cook next --why`).
///
/// # Errors
/// As [`dispatch`].
pub fn explain(
    snapshot: Option<&Snapshot>,
    facts: &Facts,
) -> Result<(Dispatch, Vec<Trace>), Refusal> {
    let mut walk = Walk {
        facts,
        traces: Vec::new(),
        findings: Vec::new(),
    };
    let dispatch = match snapshot {
        None => walk.without_log()?,
        Some(snapshot) => match follow_to(snapshot, facts) {
            None => walk.with_log(snapshot)?,
            Some((next, finding)) => {
                walk.findings.push(finding);
                let facts = follow_facts(facts, snapshot, &next);
                let mut walk_on = Walk {
                    facts: &facts,
                    traces: std::mem::take(&mut walk.traces),
                    findings: std::mem::take(&mut walk.findings),
                };
                let dispatch = walk_on.with_log(&next)?;
                walk.traces = walk_on.traces;
                dispatch
            }
        },
    };
    let mut traces = walk.traces;
    for rule in Rule::ALL.into_iter().skip(traces.len()) {
        traces.push(Trace {
            rule,
            fired: None,
            saw: "not reached".to_owned(),
        });
    }
    Ok((dispatch, traces))
}
