//! One rule for the lists of a block: what a list names it names once, and two lists that exclude
//! one another do not name the same slice.

use crate::diagnostic::{Code, Refusal};
use crate::model::Reground;
use std::collections::BTreeSet;

/// Of two entries for one thing one would be lost.
pub(super) fn require_named_once(block: &Reground) -> Result<(), Refusal> {
    let reopened = || block.reopen.iter().map(|reopen| reopen.slice_id.as_str());
    once("reopen", reopened())?;
    once("answers", block.answers.iter().map(|given| &*given.no))?;
    let placed = block.answers_to.iter();
    once("answers_to", placed.clone().map(|placed| &*placed.answer))?;
    for placed in placed {
        once("slices", placed.slices.iter().map(String::as_str))?;
    }
    for (list, ids) in [
        ("release_blocker_ids", &block.release_blocker_ids),
        ("high_value_gaps", &block.high_value_gaps),
    ] {
        once(list, ids.iter().flatten().map(String::as_str))?;
    }
    let plan = block.plan.as_ref();
    for changed in plan.iter().flat_map(|plan| &plan.change) {
        let numbers: Vec<String> = changed
            .drop_criteria
            .iter()
            .map(|number| number.0.to_string())
            .collect();
        once("drop_criteria", numbers.iter().map(String::as_str))?;
    }
    let cancelled = plan.iter().flat_map(|plan| &plan.cancel);
    once(
        "reopen and cancel",
        reopened().chain(cancelled.map(|slice| &*slice.slice_id)),
    )?;
    let reconciled = block.reconcile.iter().map(|it| &*it.slice_id);
    once("reopen and reconcile", reopened().chain(reconciled))
}

fn once<'a>(list: &str, names: impl Iterator<Item = &'a str>) -> Result<(), Refusal> {
    let mut seen = BTreeSet::new();
    let mut names = names;
    match names.find(|name| !seen.insert(*name)) {
        None => Ok(()),
        Some(name) => Err(Refusal::new(
            Code::NamedTwice,
            format!("`{name}` stands twice in {list}"),
        )),
    }
}
