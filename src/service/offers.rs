//! What an implementer says proves each criterion, and what that is worth now: for whoever weighs
//! its commit. Nothing is run for it.

use super::workspace::Workspace;
use cook_protocol::diagnostic::Failure;
use cook_protocol::machine::{AnchorQuestion, FactSet};
use cook_protocol::model::{EvidenceClaim, Offer, Snapshot};
use std::fmt::Write;

/// Lists the criteria of the slice in work; none where its implementer gave no evidence.
pub(super) fn list_offers(
    text: &mut String,
    workspace: &Workspace,
    snapshot: &Snapshot,
) -> Result<(), Failure> {
    let id = snapshot.find_slice_in_work().unwrap_or_default();
    let ledger = snapshot.ledger.slices.get(id);
    let offered = ledger.map_or(&[][..], |ledger| ledger.offered.as_slice());
    let slice = snapshot.plan.slice(id);
    let (Some(slice), false) = (slice, offered.is_empty()) else {
        return Ok(());
    };
    let question = |offer: &Offer| {
        let claim = EvidenceClaim::of_offer(id, offer);
        AnchorQuestion::ask_claimed(snapshot, id, &claim.anchor, claim.basis)
    };
    let wanted = FactSet {
        head: true,
        existing_receipts_only: true,
        anchors: offered.iter().filter_map(question).collect(),
        ..FactSet::default()
    };
    let facts = workspace.measure(&wanted, Some(snapshot))?;
    let worth = |offer: &Offer| {
        let answer = question(offer).and_then(|asked| facts.anchors.get(&asked.key()));
        let Some(answer) = answer else {
            return "not looked at".to_owned();
        };
        let mut worth = answer.verdict.id().to_owned();
        if !answer.is_new {
            worth.push_str(", held at the basis too");
        }
        worth
    };
    let _ = writeln!(
        text,
        "what the implementer says proves each criterion, and what that is worth now:"
    );
    for criterion in &slice.acceptance_criteria {
        let given = offered.iter().filter(|offer| offer.criterion == *criterion);
        let given: Vec<String> = given
            .map(|offer| format!("{} ({})", offer.anchor, worth(offer)))
            .collect();
        let shown = match given.is_empty() {
            true => "nothing is given".to_owned(),
            false => given.join(", "),
        };
        let _ = writeln!(text, "  {criterion}: {shown}");
    }
    Ok(())
}
