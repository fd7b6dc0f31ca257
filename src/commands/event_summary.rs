//! What an event says, in one sentence a person reads: what was asked, found, voted or answered.

use cook_protocol::diagnostic::{Lines, clean, count_noun};
use cook_protocol::model::{
    Conclude, Decision, Event, PlanBlock, PolicyChange, Records, Reground, Resume, SliceRecordType,
    Verdicts,
};

/// The sentence, in the words of who caused it; several things it did are joined by semicolons.
pub(crate) fn summarize(event: &Event) -> String {
    match event {
        Event::Bootstrapped {
            mission, import, ..
        } => {
            let mut text = "the contract is written".to_owned();
            if mission.is_none() {
                text.push_str("; the user is asked for the mission");
            }
            if import.is_some() {
                text.push_str("; older state is taken over");
            }
            text
        }
        Event::Regrounded { block, .. } => summarize_block(block),
        Event::RegroundedByCook { block, .. } => {
            format!("cook itself: {}", summarize_block(block))
        }
        Event::Implemented {
            slice_id, commit, ..
        } => format!("{slice_id}: commit {commit:.12}"),
        Event::Returned { slice_id, why, .. } => {
            format!("{slice_id}: no commit: {}", fold(why))
        }
        Event::Reviewed { verdicts, .. } => {
            summarize_verdict(verdicts, "yes, acceptable as it is", "no")
        }
        Event::Audited { verdicts, .. } => summarize_verdict(verdicts, "nothing is open", "open"),
        Event::Judged { verdicts, .. } => {
            summarize_verdict(verdicts, "yes, the project can stop", "no")
        }
        Event::Asked { role, question, .. } => {
            format!("the {} asks the user: {}", role.short(), fold(question))
        }
        Event::Refused { role, codes, .. } => {
            let codes = codes.join(", ");
            format!("the {}'s report does not count: {codes}", role.short())
        }
        Event::Paused { why } | Event::Cancelled { why } => fold(why),
        Event::Resumed(resume) => summarize_resume(resume),
        Event::Blocked { why, exit } => format!("{}; `{}` resumes", fold(why), fold(exit)),
        Event::Refocused { mission } => format!("the mission is now: {}", fold(mission)),
        Event::Adopted { plan } => {
            let slices = count_noun(plan.candidate_slices.len() as u64, "slice");
            format!("the edited plan is taken in, {slices}")
        }
        Event::BranchAdopted => "the workflow goes on on the branch checked out".to_owned(),
        Event::Restored => "edited documents are as the log has them".to_owned(),
        Event::GoalSet { goal, .. } => format!("the goal is: {}", fold(&goal.words)),
        Event::GoalAsked => "the goal's checks were asked of HEAD".to_owned(),
        Event::Verified => "the gates ran at HEAD, which had moved".to_owned(),
        Event::Undone {
            to_seq, operations, ..
        } => {
            let taken = count_noun(operations.len() as u64, "transition");
            format!("{taken} taken back, to #{}", to_seq.0)
        }
        Event::CriterionAmended {
            slice_id,
            number,
            text,
            reason,
        } => {
            let (text, reason) = (fold(text), fold(reason));
            format!("{slice_id}, criterion {number}: {text}; because {reason}")
        }
        Event::ProofRetired {
            slice_id,
            number,
            reason,
        } => {
            let reason = fold(reason);
            format!("{slice_id}, the proof of criterion {number} is given up; because {reason}")
        }
        Event::Briefed { by, .. } => format!("the brief is changed by {}", fold(by)),
        Event::Said { text, .. } => format!("the user says: {}", fold(text)),
        Event::Signed => "the user signs what the log records".to_owned(),
    }
}

/// The same of a transition: a slice that the report accepts and the worktree holds back is not
/// called accepted, and what builds on that was not done either.
pub(crate) fn summarize_taken(event: &Event, records: &Records) -> String {
    let accepted = find_accepted(event);
    let has = |of: SliceRecordType| records.slice.iter().any(|record| record.kind == of);
    match accepted {
        Some(id) if has(SliceRecordType::Reopened) => {
            format!("would accept {id}, which is reopened: the worktree is not clean")
        }
        Some(id) if !has(SliceRecordType::Accepted) => {
            format!("would accept {id}, which waits: the worktree is not clean")
        }
        _ => summarize(event),
    }
}

/// The slice that a report accepts.
pub(crate) fn find_accepted(event: &Event) -> Option<&str> {
    let (Event::Regrounded { block, .. } | Event::RegroundedByCook { block, .. }) = event else {
        return None;
    };
    let reconcile = block.reconcile.as_ref();
    let accepted = reconcile.filter(|made| made.decision == Decision::Accepted);
    accepted.map(|made| made.slice_id.as_str())
}

/// One line, whatever the text holds.
fn fold(text: &str) -> String {
    clean(text, Lines::Fold)
}

fn join(parts: &[String], nothing: &str) -> String {
    match parts.is_empty() {
        true => nothing.to_owned(),
        false => parts.join("; "),
    }
}

fn summarize_block(block: &Reground) -> String {
    let mut parts = Vec::new();
    if let Some(made) = &block.reconcile {
        let decision = match made.decision {
            Decision::Accepted => "accepts",
            Decision::Reopened => "reopens",
        };
        parts.push(format!("{decision} {}", made.slice_id));
    }
    for again in &block.reopen {
        parts.push(format!("reopens {}: {}", again.slice_id, fold(&again.why)));
    }
    parts.extend(block.plan.as_ref().and_then(summarize_plan));
    parts.extend(block.conclude.as_ref().map(|concluded| match concluded {
        Conclude::Stop => "the project is done".to_owned(),
        Conclude::GoOn { reason: None } => "the work goes on".to_owned(),
        Conclude::GoOn {
            reason: Some(reason),
        } => format!("the work goes on: {}", fold(reason)),
    }));
    if !block.answers.is_empty() {
        let answered = count_noun(block.answers.len() as u64, "rejection");
        parts.push(format!("answers {answered}"));
    }
    parts.extend(
        block
            .select
            .as_ref()
            .map(|slice| format!("selects {slice}")),
    );
    parts.extend(block.policy.as_ref().map(|policy| match policy {
        PolicyChange::AwaitUserInput { question } => {
            format!("asks the user: {}", fold(question))
        }
        PolicyChange::Blocked { why, exit } => {
            format!("is blocked: {}; to clear it: `{}`", fold(why), fold(exit))
        }
    }));
    join(&parts, "the plan stays as it is")
}

fn summarize_plan(plan: &PlanBlock) -> Option<String> {
    if !plan.is_delta() {
        let slices = count_noun(plan.candidate_slices.len() as u64, "slice");
        return Some(format!("plans {slices}"));
    }
    let ids = [
        (
            "adds",
            plan.add.iter().map(|it| it.slice_id.clone()).collect(),
        ),
        (
            "changes",
            plan.change.iter().map(|it| it.slice_id.clone()).collect(),
        ),
        (
            "cancels",
            plan.cancel.iter().map(|it| it.slice_id.clone()).collect(),
        ),
        ("orders", plan.order.clone()),
    ];
    let some = ids
        .into_iter()
        .filter(|(_, ids): &(_, Vec<String>)| !ids.is_empty());
    let parts: Vec<String> = some
        .map(|(verb, ids)| format!("{verb} {}", ids.join(", ")))
        .collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn summarize_verdict(verdicts: &Verdicts, yes: &str, no: &str) -> String {
    if verdicts.positive {
        return match verdicts.concerns.len() as u64 {
            0 => yes.to_owned(),
            concerns => format!("{yes}; {}", count_noun(concerns, "concern")),
        };
    }
    let mut reasons = verdicts.findings.iter().chain(&verdicts.fails);
    let first = reasons.next();
    let contracts = &verdicts.open_contract_ids;
    match (first, reasons.count()) {
        (None, _) if contracts.is_empty() => no.to_owned(),
        (None, _) => format!("{no}: {}", contracts.join(", ")),
        (Some(first), 0) => format!("{no}: {}", fold(first)),
        (Some(first), more) => format!("{no}: {} (and {more} more)", fold(first)),
    }
}

fn summarize_resume(resume: &Resume) -> String {
    let mut parts = Vec::new();
    let answer = resume.answer.as_ref();
    parts.extend(answer.map(|text| format!("the user answers: {}", fold(text))));
    if !resume.trust.is_empty() {
        parts.push(format!("trusts {}", fold(&resume.trust.join(", "))));
    }
    for (is_so, text) in [
        (resume.settings, "the settings are taken as they stand"),
        (resume.budget.is_some(), "the budget is changed"),
        (resume.new_wave, "another wave of judges begins"),
        (resume.review_again, "the slice is reviewed again"),
    ] {
        parts.extend(is_so.then(|| text.to_owned()));
    }
    join(&parts, "the work goes on")
}
