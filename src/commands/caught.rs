//! What was caught: reports that were refused, and rejections that changed what was done after them. An audit
//! of planned work names what is open, and a no that the user voids or a re-ground only answers changes
//! nothing: those are counted apart.

use crate::service::Workspace;
use cook_protocol::diagnostic::{Failure, count_noun};
use cook_protocol::machine::list_other_ratings;
use cook_protocol::model::{Event, Plan, Reground, Slice, SliceStatus, Verdicts};
use cook_repo::store::Meta;

/// Events that report on a slice or on the whole.
pub(super) const REPORTS: [&str; 6] = [
    "implemented",
    "returned",
    "reviewed",
    "audited",
    "judged",
    "refused",
];

/// A report that was refused, or a no that changed something.
pub(super) struct Caught {
    pub seq: u64,
    pub subject: String,
    pub what: &'static str,
    pub names: String,
}

/// What was caught, oldest first, and of rejections that changed nothing how many there are.
pub(super) struct Catches {
    pub caught: Vec<Caught>,
    pub unheeded: Option<String>,
}

/// Reads the log once, newest first.
pub(super) fn list_catches(workspace: &Workspace) -> Result<Catches, Failure> {
    let store = workspace.store()?;
    let mut caught = Vec::new();
    let mut unheeded = 0_u64;
    // The re-ground that decided on what is looked at.
    let mut decided: Option<Meta> = None;
    for meta in store.entries()? {
        let meta = meta?;
        if meta.event == "regrounded" || meta.event == "regrounded_by_cook" {
            if decides(&store.event(&meta.commit)?) {
                decided = Some(meta);
            }
            continue;
        }
        if !REPORTS.contains(&meta.event.as_str()) {
            continue;
        }
        let event = store.event(&meta.commit)?;
        let Some((what, names)) = find_no(&event) else {
            continue;
        };
        let is_heeded = match (&event, &decided) {
            (Event::Refused { .. }, _) => true,
            (_, None) => false,
            (_, Some(decided)) => {
                let before = store.entry(&meta.commit)?.snapshot.plan;
                let after = store.entry(&decided.commit)?.snapshot.plan;
                takes_up(&event, &before, &after)
            }
        };
        match is_heeded {
            false => unheeded += 1,
            true => caught.push(Caught {
                seq: meta.seq,
                subject: meta.subject,
                what,
                names,
            }),
        }
    }
    caught.reverse();
    let unheeded = (unheeded > 0).then(|| {
        let rejections = count_noun(unheeded, "rejection");
        format!(
            "{rejections} changed nothing: what was named was planned already, was answered in words, or waits."
        )
    });
    Ok(Catches { caught, unheeded })
}

/// A refusal or a no, and what it names.
fn find_no(event: &Event) -> Option<(&'static str, String)> {
    Some(match event {
        Event::Returned { slice_id, why, .. } => {
            ("a slice was given back", format!("{slice_id}: {why}"))
        }
        Event::Refused { role, codes, .. } => (
            "a session was refused",
            format!("{role}: {}", codes.join(", ")),
        ),
        Event::Reviewed { verdicts, .. } if !verdicts.positive => {
            ("a review said no", list_names(verdicts))
        }
        Event::Audited { verdicts, .. } if !verdicts.positive => {
            ("an audit found something open", list_names(verdicts))
        }
        Event::Judged { verdicts, .. } if !verdicts.positive => {
            ("a judge said no", list_names(verdicts))
        }
        _ => return None,
    })
}

fn list_names(verdicts: &Verdicts) -> String {
    // Dimensions that fail stand among the concerns too, where those are on record.
    let rated = match verdicts.concerns.is_empty() {
        true => verdicts.fails.clone(),
        false => list_other_ratings(&verdicts.findings, &verdicts.concerns),
    };
    [&verdicts.findings[..], &rated].concat().join("; ")
}

/// A re-ground says what becomes of work, and does not only note that HEAD moved.
fn decides(event: &Event) -> bool {
    let (Event::Regrounded { block, .. } | Event::RegroundedByCook { block, .. }) = event else {
        return false;
    };
    let Reground {
        reconcile,
        reopen,
        plan,
        conclude,
        answers,
        policy,
        ..
    } = block;
    let lists = !reopen.is_empty() || !answers.is_empty();
    // Who ends a wave with a question has not decided.
    let ends = conclude.is_some() && policy.is_none();
    lists || reconcile.is_some() || plan.is_some() || ends
}

/// The plan has more to do, or otherwise, than before the no. What an attempt must fix follows from a
/// review, and a plan that only ends or reorders slices from who gave one back.
fn takes_up(event: &Event, before: &Plan, after: &Plan) -> bool {
    after.candidate_slices.iter().any(|now| {
        let Some(then) = before.slice(&now.slice_id) else {
            return now.status.is_open();
        };
        let is_again = then.status == SliceStatus::Done && now.status.is_open();
        let is_more = has_more(&then.acceptance_criteria, &now.acceptance_criteria);
        let is_cancelled = then.status.is_open() && now.status == SliceStatus::Cancelled;
        let differs = match event {
            Event::Reviewed { .. } => {
                let fix = |slice: &Slice| slice.must_fix_findings.clone().unwrap_or_default();
                is_cancelled || has_more(&fix(then), &fix(now))
            }
            Event::Returned { .. } => is_cancelled || then.blocked_on != now.blocked_on,
            _ => false,
        };
        is_again || is_more || differs
    })
}

fn has_more(before: &[String], after: &[String]) -> bool {
    after.iter().any(|text| !before.contains(text))
}
