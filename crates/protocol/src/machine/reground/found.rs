//! The state that a report finds: what rule 2 objects to is put right, and done slices whose work or
//! proof is gone are open again. [`apply`](super::apply) begins there, and so does what a role is
//! shown, so that what is listed for selection is what may be selected.

use super::recover::heal;
use super::select::find_unsettled;
use crate::diagnostic::{Code, Finding, Refusal};
use crate::machine::facts::{AnchorQuestion, FactSet, Facts, Verdict};
use crate::machine::proof;
use crate::machine::rule::{Dispatch, Rule};
use crate::machine::vanished::take_vanished_away;
use crate::machine::work::Work;
use crate::model::{Evidence, Reground, Slice, SliceStatus, Snapshot};
use std::collections::BTreeMap;

/// The state as a report finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The documents.
    pub snapshot: Snapshot,
    /// What the log calls done and the repository does not hold.
    pub findings: Vec<Finding>,
    /// What stands against a selection beside the plan.
    pub selection: Selection,
}

/// What the repository says against selections. A plan alone does not tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// Why nothing can be selected now.
    pub held: Option<String>,
    /// Done slices that rest on a run which nobody made at HEAD, with what is run.
    pub unrun: BTreeMap<String, String>,
}

impl Selection {
    /// The done slices that this one waits for whose proof is not known at HEAD.
    pub fn rests_on<'a>(&'a self, slice: &'a Slice) -> Vec<(&'a str, &'a str)> {
        let waits = slice.blocked_on.iter();
        let unrun = waits.filter_map(|id| self.unrun.get_key_value(id));
        unrun
            .map(|(id, what)| (id.as_str(), what.as_str()))
            .collect()
    }
}

/// What must be measured beside the facts of `dispatch`. No gate is run for it.
pub fn list_needs(snapshot: &Snapshot) -> FactSet {
    let nothing = Reground::default();
    FactSet {
        head: true,
        existing_receipts_only: true,
        anchors: proof::questions(snapshot, &nothing),
        ..FactSet::default()
    }
}

/// What any report of the role that is due begins from.
///
/// # Errors
/// Only `fact_missing`, when the facts are not those of `dispatch` and [`list_needs`].
pub fn find_state(snapshot: &Snapshot, facts: &Facts, due: &Dispatch) -> Result<Found, Refusal> {
    let mut work = Work::new(snapshot, facts, due.clone());
    // Before the first commit there is nothing to hold the documents against.
    if facts.head()?.commit.is_some() {
        put_right(&mut work)?;
        proof::revalidate_done(&mut work, &Reground::default(), None)?;
    }
    let is_open = |id: &str| {
        let slice = work.next.plan.slice(id);
        slice.is_some_and(|slice| slice.status.is_open())
    };
    let slices = snapshot.plan.candidate_slices.iter();
    let lost = slices
        .filter(|slice| slice.rests_on_proof() && is_open(&slice.slice_id))
        .map(|slice| {
            let id = &slice.slice_id;
            let what = format!(
                "the log calls slice `{id}` {}, and what it rests on is gone: any re-ground opens it again, and may change or cancel it",
                slice.status.id()
            );
            Finding::new(Code::ProofBroken, what).at(id.clone())
        })
        .collect();
    let held = find_unsettled(facts).map(|refusal| refusal.message.clone());
    let unrun = find_unrun(&work);
    Ok(Found {
        snapshot: work.next,
        findings: lost,
        selection: Selection { held, unrun },
    })
}

/// Slices that stay done by what is kept, and rest on a run that the report will make.
fn find_unrun(work: &Work) -> BTreeMap<String, String> {
    let mut unrun = BTreeMap::new();
    let slices = work.next.plan.candidate_slices.iter();
    for slice in slices.filter(|slice| slice.status == SliceStatus::Done) {
        let records = slice.evidence.iter().filter_map(Evidence::record);
        let stale = records.filter(|record| {
            let before = work.before.plan.slice(&slice.slice_id);
            let key = before
                .map(|before| AnchorQuestion::ask_stored(before, record).key())
                .unwrap_or_default();
            let answer = work.facts.anchors.get(&key);
            answer.is_some_and(|answer| answer.verdict == Verdict::Stale)
        });
        let anchors: Vec<&str> = stale.map(|record| record.anchor.as_str()).collect();
        if !anchors.is_empty() {
            unrun.insert(slice.slice_id.clone(), anchors.join(", "));
        }
    }
    unrun
}

/// What an implementer's report begins from.
///
/// # Errors
/// As [`find_state`].
pub fn find_slice(snapshot: &Snapshot, facts: &Facts, due: &Dispatch) -> Result<Snapshot, Refusal> {
    let mut work = Work::new(snapshot, facts, due.clone());
    put_right(&mut work)?;
    Ok(work.next)
}

/// Puts right what rule 2 objects to, and a commit that an implementer reports anew.
pub(super) fn put_right(work: &mut Work) -> Result<(), Refusal> {
    match work.due.rule {
        Rule::Recover => {
            work.displace = true;
            heal(work)
        }
        Rule::Implement => take_vanished_away(work),
        _ => Ok(()),
    }
}
