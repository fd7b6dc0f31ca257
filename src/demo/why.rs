//! Why cook did what it did: one line for each thing that happens in a run.
//!
//! Told from the event alone, so that it is true of any run.

use crate::run::RunEvent;
use crate::service::Applied;
use cook_protocol::diagnostic::count_noun;
use cook_protocol::machine::Rule;
use cook_protocol::model::{ActiveStatus, Role, SliceRecordType};

/// The line; none where the event says why itself.
pub fn why(event: &RunEvent) -> Option<String> {
    match event {
        RunEvent::Recorded { role, applied, .. } => explain_record(*role, applied),
        RunEvent::Breached { breach, .. } if breach.left.is_empty() => Some(
            "cook compared the repository before and after the session: what the role may not \
             touch was kept aside and put back, and its report is not read"
                .to_owned(),
        ),
        RunEvent::CameToNothing { .. } => Some(
            "nothing moves by such a session: the log keeps it, the attempt is spent, the role \
             gets another session"
                .to_owned(),
        ),
        _ => None,
    }
}

fn explain_record(role: Role, applied: &Applied) -> Option<String> {
    match role {
        Role::Bootstrapper => None,
        Role::Regrounder => Some(explain_reground(applied)),
        Role::Implementer => Some(explain_work(applied)),
        Role::Reviewer => explain_review(applied),
        Role::Auditor => Some(
            "whatever the review said, an auditor looks past the slice, at the whole project"
                .to_owned(),
        ),
        Role::StopJudge => explain_vote(applied),
    }
}

fn explain_reground(applied: &Applied) -> String {
    let snapshot = &applied.step.snapshot;
    let records = &applied.step.records.slice;
    let wave = snapshot.state.current_stop_wave_id.0;
    if snapshot.state.project_done {
        return format!(
            "every judge of wave {wave} said yes at this commit, and cook ran the stop verifier \
             there: it is done"
        );
    }
    let of = |kind| records.iter().find(|record| record.kind == kind);
    if let Some(accepted) = of(SliceRecordType::Accepted) {
        let criteria = snapshot
            .plan
            .slice(&accepted.slice_id)
            .map_or(0, |slice| slice.acceptance_criteria.len());
        return format!(
            "the review said yes, and each of the {criteria} criteria has proof of its own that \
             cook looked up in a receipt or in the slice's commits"
        );
    }
    if of(SliceRecordType::Reopened).is_some() {
        return "a no is not talked away: what the reviewer found is what the next implementer \
                must fix"
            .to_owned();
    }
    let slices = snapshot.plan.candidate_slices.len();
    if applied.step.rule == Rule::Conclude {
        return format!(
            "a judge's rejection is answered by work: the plan has {} now, and another wave comes \
             after them",
            count_noun(slices as u64, "slice")
        );
    }
    format!(
        "the plan is taken, with {}; from here on its criteria may grow and never weaken",
        count_noun(slices as u64, "slice")
    )
}

fn explain_work(applied: &Applied) -> String {
    let active = &applied.step.snapshot.active;
    match active.status {
        ActiveStatus::Committed => "cook ran the gate itself at that commit, green: the report's \
                                    word on tests counts for nothing"
            .to_owned(),
        _ => format!(
            "cook ran the gate itself at that commit, red, whatever the report says: {}",
            active
                .handoff
                .as_ref()
                .and_then(|handoff| handoff.must_fix_findings.first())
                .map_or("it must be fixed", String::as_str)
        ),
    }
}

fn explain_review(applied: &Applied) -> Option<String> {
    let report = applied.step.records.slice.first()?.report.as_ref()?;
    let answer = report.fields.get("acceptable_as_is")?;
    Some(match answer.to_ascii_lowercase().starts_with("yes") {
        true => "yes, at this commit and for these criteria only: either changes, and it is void"
            .to_owned(),
        false => format!(
            "no, so the slice can only be reopened: {}",
            report.fields.get("findings").map_or("", String::as_str)
        ),
    })
}

fn explain_vote(applied: &Applied) -> Option<String> {
    let vote = applied.step.records.stop.first()?;
    let need = applied.step.snapshot.profile.required_stop_judges;
    let have = need
        .0
        .saturating_sub(applied.step.snapshot.state.remaining_stop_judges.0);
    let heard = format!("judge {have} of {}", need.0);
    Some(match vote.can_stop {
        true => format!("{heard}: yes; it takes all of them, and none sees another's answer"),
        false => {
            let report = vote.report.as_ref()?;
            let why = report.fields.get("brief_justification");
            format!(
                "{heard}: no, {}; the others are heard all the same",
                why.map_or("", String::as_str)
            )
        }
    })
}
