//! What the log holds that a pull request tells.

use super::super::caught::{REPORTS, find_catch};
use crate::service::Workspace;
use crate::view::{Caught, PullRequest, SliceLine, VerifyAnswer, VoteLine};
use cook_core::diagnostic::Failure;
use cook_core::model::{Event, Snapshot};
use std::collections::BTreeMap;

pub(super) fn tell(
    workspace: &Workspace,
    snapshot: &Snapshot,
    verified: &VerifyAnswer,
) -> Result<PullRequest, Failure> {
    let mut request = PullRequest::new(snapshot.mission.clone(), verified.as_results());
    let mut attempts: BTreeMap<String, usize> = BTreeMap::new();
    let store = workspace.store()?;
    for meta in store.entries()? {
        let meta = meta?;
        if !REPORTS.contains(&meta.event.as_str()) {
            continue;
        }
        let event = store.event(&meta.commit)?;
        if let Event::Implemented { slice_id, .. } = event {
            *attempts.entry(slice_id).or_default() += 1;
            continue;
        }
        let Some((what, names)) = find_catch(&event) else {
            continue;
        };
        let seq = meta.seq;
        request.caught.push(Caught { seq, what, names });
    }
    request.caught.reverse();
    for slice in &snapshot.plan.candidate_slices {
        let id = &slice.slice_id;
        let ledger = snapshot.ledger.slices.get(id);
        let head = ledger.and_then(|it| it.head.as_ref().or(it.last_head.as_ref()));
        request.slices.push(SliceLine {
            attempts: attempts.get(id).copied().unwrap_or_default(),
            goal: slice.goal.clone(),
            status: slice.status.id(),
            head: head.map(|head| head.get(..12).unwrap_or(head).to_owned()),
            id: id.clone(),
        });
    }
    let wave = &snapshot.ledger.wave;
    request.wave = snapshot.state.current_stop_wave_id.0;
    request.votes.extend(wave.votes.iter().map(|vote| VoteLine {
        session: vote.session.clone(),
        yes: vote.can_stop,
        names: vote.blockers.join("; "),
    }));
    Ok(request)
}
