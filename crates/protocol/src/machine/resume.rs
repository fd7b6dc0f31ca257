//! `cook resume`: the only way out of every stopped state.

use super::slices::open_commands;
use super::user::{refusal, set_mission};
use super::wave::{add_new, review_blocker};
use super::work::{Work, quote_word, require_reground};
use super::{brief_changes, goal_transitions, user_answers, wave};
use crate::model::{Limits, Resume};
use crate::prelude::*;
use crate::report::is_named;

/// The commit at which the slice in work was sent back, if no newer one was reported.
fn find_reviewed_head(snapshot: &Snapshot) -> Option<String> {
    let id = snapshot.active.slice_id.as_ref()?;
    let ledger = snapshot.find_ledger(id)?;
    let is_newest = ledger.head.is_none() && ledger.reported == ledger.last_head;
    ledger.last_head.clone().filter(|_| is_newest)
}

/// Leaves a stopped state. Words that the user adds bind, whatever else the command does.
pub(super) fn resume(work: &mut Work, resume: &Resume) -> Result<(), Refusal> {
    if goal_transitions::is_over(work.before) && resume.trust.is_empty() {
        return Err(goal_transitions::nothing_open());
    }
    go_on(work, resume)?;
    let is_taken = work.next.ledger.answers != work.before.ledger.answers
        || work.next.mission != work.before.mission;
    if let Some(said) = find_other_words(resume).filter(|_| !is_taken) {
        brief_changes::hear(work, said);
    }
    Ok(())
}

fn go_on(work: &mut Work, resume: &Resume) -> Result<(), Refusal> {
    grant(work, resume);
    if resume.settings {
        work.next.ledger.settings = work.facts.settings()?.clone();
    }
    if resume.review_again {
        return review_again(work);
    }
    let policy = work.before.state.continuation_policy;
    if trust_changes_nothing(work, resume)? {
        return Ok(());
    }
    if policy == Policy::Continue {
        if resume.budget.is_some() {
            return Ok(());
        }
        if resume.new_wave {
            return new_wave(work);
        }
        if resume.answer.is_some() {
            return Err(refusal("there is no open question to answer")
                .replace_hints([
                    "run `cook plan refocus --mission TEXT` to change the mission",
                    "run `cook brief say TEXT` to record it; then `cook brief note forbid RULE --source 'user@msg-N: …'` shows it to each role",
                ]));
        }
        return Err(refusal("the work is not stopped"));
    }
    leave(work, resume)?;
    let moved = tell_moved(work)?;
    work.next.state.continuation_policy = Policy::Continue;
    work.next.state.contract_status = "in_work".to_owned();
    work.next.ledger.waiting = None;
    if let Some(what) = moved {
        let cause = format!("{RESUMED}, and since it stopped {what}");
        require_reground(&mut work.next, cause);
    }
    if resume.new_wave {
        new_wave(work)?;
    }
    Ok(())
}

/// Whether trust is only recorded and changes nothing else: the work does not wait for it, or waits for more.
fn trust_changes_nothing(work: &Work, resume: &Resume) -> Result<bool, Refusal> {
    let is_stopped = work.before.state.continuation_policy != Policy::Continue;
    let only_trust = (!resume.trust.is_empty() || resume.settings)
        && !(is_stopped && resume.answer.is_some())
        && resume.budget.is_none()
        && !resume.new_wave;
    let waiting = work.before.ledger.waiting.as_ref();
    let waited_for = waiting.is_some_and(|waiting| waiting.kind == WaitingKind::Trust);
    Ok(only_trust
        && (!waited_for
            || !work
                .facts
                .list_untrusted(&open_commands(work.before))?
                .is_empty()))
}

/// Leaves the stopped state, or refuses if the command does not bring what it waits for.
fn leave(work: &mut Work, resume: &Resume) -> Result<(), Refusal> {
    let kind = work
        .before
        .ledger
        .waiting
        .as_ref()
        .map(|waiting| waiting.kind);
    match (work.before.state.continuation_policy, kind) {
        (Policy::Done, _) => {
            let still_there = work.facts.head()?.commit == work.before.ledger.head_seen;
            if still_there && !resume.new_wave {
                return Err(refusal("the project is done and HEAD has not moved")
                    .hint("run `cook plan refocus --mission TEXT` for new work, or `cook brief say TEXT` if something is missing in this work"));
            }
            let cause = "the project was done, and the user went on with `cook resume`";
            require_reground(&mut work.next, cause.to_owned());
        }
        (_, Some(WaitingKind::Question)) => {
            let Some(answer) = resume
                .answer
                .as_ref()
                .filter(|text| !clean(text, Lines::Fold).trim().is_empty())
            else {
                return Err(Refusal::new(
                    Code::AnswerMissing,
                    "a question waits for an answer",
                ));
            };
            match work.next.mission.is_empty() {
                true => set_mission(work, answer)?,
                false => user_answers::keep(work, answer),
            }
            work.next.ledger.answered = Some(answer.clone());
            // An implementer continues with the answer; for any other question a re-ground looks at the plan
            // again.
            let waiting = work.before.ledger.waiting.as_ref();
            let asker = waiting.and_then(|waiting| waiting.asker);
            if asker != Some(Role::Implementer) {
                let cause = match asker {
                    Some(role) => format!("the {role} asked the user something"),
                    None => "the work waited for the user".to_owned(),
                };
                require_reground(&mut work.next, cause);
            }
        }
        (_, Some(WaitingKind::Trust)) => {
            let untrusted = work.facts.list_untrusted(&open_commands(work.before))?;
            if let Some(command) = untrusted.first() {
                if refuses_trust(work, resume) {
                    return Ok(());
                }
                return Err(refusal!(Code::TrustMissing, "`{command}` is not trusted")
                    .replace_hints([
                        format!("run `cook trust {}`", quote_word(command)),
                        "or run `cook resume --answer 'no: WHY'` to change the plan".to_owned(),
                    ]));
            }
        }
        (_, Some(WaitingKind::Budget)) => {
            let adds = |limits: &Limits| {
                limits.steps.unwrap_or(0) > 0 || limits.attempts_per_slice.unwrap_or(0) > 0
            };
            if !resume.budget.as_ref().is_some_and(adds) {
                let waiting = work.before.ledger.waiting.as_ref();
                let exit = waiting.map_or("cook resume --add steps=20", |waiting| &waiting.exit);
                return Err(Refusal::new(Code::BudgetSpent, "the budget is spent")
                    .replace_hints([format!("run `{exit}`")]));
            }
        }
        (_, Some(WaitingKind::Outside | WaitingKind::Worktree | WaitingKind::Cancel)) => {
            let waiting = work.before.ledger.waiting.as_ref();
            work.next.ledger.stopped_for = waiting.map(|waiting| waiting.what.clone());
            require_reground(&mut work.next, RESUMED.to_owned());
        }
        (_, Some(WaitingKind::Pause) | None) => {}
    }
    Ok(())
}

/// Whether an answer begins with yes. A yes trusts nothing: that takes `cook trust`.
fn begins_with_yes(said: &str) -> bool {
    let mut words = said.split(|c: char| !c.is_alphanumeric());
    let first = words.find(|word| !word.is_empty());
    first.is_some_and(|word| word.eq_ignore_ascii_case("yes"))
}

/// Whether the user answered other than yes to commands of the plan. Such words bind, and a re-ground is due.
fn refuses_trust(work: &mut Work, resume: &Resume) -> bool {
    let Some(no) = find_other_words(resume).filter(|said| !begins_with_yes(said)) else {
        return false;
    };
    user_answers::keep(work, no);
    work.next.ledger.answered = Some(no.to_owned());
    let cause = "the user was asked to trust commands of the plan, and did not answer yes";
    require_reground(&mut work.next, cause.to_owned());
    true
}

/// The words that the user gave with the command.
fn find_other_words(resume: &Resume) -> Option<&str> {
    let said = resume.answer.as_deref();
    said.filter(|text| is_named(text))
}

const RESUMED: &str = "the user went on with `cook resume`";

/// Describes how HEAD, branch and worktree changed since the work stopped.
fn tell_moved(work: &Work) -> Result<Option<String>, Refusal> {
    let head = work.facts.head()?;
    let tree = work.facts.worktree()?;
    let seen = &work.before.ledger;
    let mut moved = Vec::new();
    if head.commit != seen.head_seen {
        let name = |commit: &Option<String>| commit.as_deref().map_or("none", short).to_owned();
        let (from, to) = (name(&seen.head_seen), name(&head.commit));
        moved.push(format!("HEAD moved from {from} to {to}"));
    }
    if head.branch != seen.branch {
        moved.push("another branch was checked out".to_owned());
    }
    let is_other_tree = |seen: &String| *seen != tree.digest;
    if seen.status_seen.as_ref().is_some_and(is_other_tree) {
        moved.push(match tree.is_clean() {
            true => "the worktree changed, and is clean now".to_owned(),
            false => format!("the worktree changed: {}", tree.first_dirty()),
        });
    }
    Ok((!moved.is_empty()).then(|| moved.join(", ")))
}

fn grant(work: &mut Work, resume: &Resume) {
    let Some(budget) = &resume.budget else { return };
    let add = |have: Option<u64>, more: Option<u64>| match (have, more) {
        (have, None) => have,
        (have, Some(more)) => Some(have.unwrap_or(0).saturating_add(more)),
    };
    let granted = &mut work.next.counters.granted;
    *granted = Limits {
        attempts_per_slice: add(granted.attempts_per_slice, budget.attempts_per_slice),
        steps: add(granted.steps, budget.steps),
        wall: budget.wall.clone().or_else(|| granted.wall.clone()),
        cost_micro_usd: add(granted.cost_micro_usd, budget.cost_micro_usd),
    };
}

/// Voids the review and the audit of the slice in work, which is committed or was reopened at the same commit.
fn review_again(work: &mut Work) -> Result<(), Refusal> {
    if work.before.state.continuation_policy != Policy::Continue {
        return Err(refusal("the work is stopped; resume it first"));
    }
    let Some(id) = work.active_id() else {
        return Err(refusal("no slice is in work"));
    };
    if work.next.active.status == ActiveStatus::Committed {
        if work.ledger(&id).review.is_none() {
            return Err(refusal(format!("slice `{id}` has no review to void")));
        }
        work.void_review(&id);
        work.set_audit_aside(&id);
        keep_voided(work, &id);
        return Ok(());
    }
    let Some(head) = find_reviewed_head(work.before) else {
        return Err(refusal(format!(
            "slice `{id}` does not have a reviewed commit"
        )));
    };
    if !work.facts.on_head(&head)? {
        return Err(refusal("the reviewed commit is no longer on HEAD"));
    }
    work.ledger(&id).head = Some(head);
    work.set_audit_aside(&id);
    let mut fixed = work.take_review(&id);
    work.next.active.status = ActiveStatus::Committed;
    if let Some(slice) = work.next.plan.slice_mut(&id) {
        slice.status = SliceStatus::InProgress;
        let must = slice.must_fix_findings.replace(Vec::new());
        add_new(&mut fixed, must.unwrap_or_default());
    }
    work.ledger(&id).fixed = fixed;
    keep_voided(work, &id);
    work.sync_handoff();
    Ok(())
}

/// Keeps a no that the user voided on record, and its outcome: the next reviewer, the judges and the brief are
/// told both.
fn keep_voided(work: &mut Work, id: &str) {
    let ledger = work.ledger(id);
    let is_of_head = |review: &&ReviewNote| Some(&review.commit) == ledger.head.as_ref();
    let voided = ledger.sent_back.as_deref().filter(is_of_head);
    let Some(no) = voided.filter(|review| review.rejects()).map(review_blocker) else {
        return;
    };
    let answered = &mut work.next.ledger.answered_rejections;
    answered.retain(|answered| answered.no.id != no.id);
    answered.push(AnsweredRejection::new(no, VOIDED.to_owned()));
}

/// The answer that is kept for a no which the user voids with `cook resume --review-again`.
const VOIDED: &str = "the user voided that review and has the same commit reviewed again";

fn new_wave(work: &mut Work) -> Result<(), Refusal> {
    if work.next.plan.open_slices().next().is_some() || work.next.is_in_work() {
        return Err(refusal("slices are open, so no wave is due"));
    }
    wave::void(&mut work.next);
    wave::grant(&mut work.next);
    let cause = "the user asked for another stop wave with `cook resume --new-wave`";
    require_reground(&mut work.next, cause.to_owned());
    Ok(())
}
