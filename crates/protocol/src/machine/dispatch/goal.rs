//! What there is to do about a goal, in words.

use crate::diagnostic::count_noun;
use crate::machine::text::short;
use crate::model::{GoalLedger, Policy, Snapshot, WaitingKind};

/// What the role is to do, and why.
pub(super) fn describe(pursued: &GoalLedger) -> (String, String) {
    let all = count_noun(pursued.goal.checks.len() as u64, "check");
    let words = pursued.goal.words.lines().next().unwrap_or_default();
    let reason = match &pursued.found {
        None => format!("{all} of it, none asked yet"),
        Some(found) => {
            let open = found.list_reasons(&pursued.goal);
            let first = open.first().map_or("", String::as_str);
            format!(
                "{} of {all} open at {}: {first}",
                open.len(),
                short(&found.commit)
            )
        }
    };
    (format!("bring the goal about: {words}"), reason)
}

/// Of a goal that is over: what there is to do, and why.
pub(super) fn describe_end(snapshot: &Snapshot) -> Option<(String, String)> {
    let pursued = snapshot.ledger.goal.as_ref()?;
    let waiting = snapshot.ledger.waiting.as_ref();
    match snapshot.state.continuation_policy {
        Policy::Done => {
            let at = pursued.found.as_ref().map_or("", |it| short(&it.commit));
            let count = count_noun(pursued.goal.checks.len() as u64, "check");
            Some((
                "nothing: the goal is reached".to_owned(),
                format!("{count} green at {at}, with the files of the goal as they were frozen"),
            ))
        }
        _ if waiting.is_some_and(|waiting| waiting.kind == WaitingKind::Cancel) => Some((
            "nothing: the goal was dropped".to_owned(),
            waiting.map_or(String::new(), |waiting| waiting.what.clone()),
        )),
        _ => None,
    }
}
