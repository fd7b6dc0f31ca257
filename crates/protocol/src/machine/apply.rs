//! `apply`: the only way from one snapshot to the next.

use super::active::{follow_facts, follow_to};
use super::dispatch::{find_due, not_your_turn};
use super::facts::Facts;
use super::finish::{Before, finish};
use super::rule::Rule;
use super::work::{Step, Work};
use super::{
    assurance, bootstrap, brief_changes, by_cook, drift, goal_transitions, implementer, reground,
    resume, user, verdicts, wave,
};
use crate::model::{Actor, GOAL_SLICE, Records};
use crate::prelude::*;
use crate::question::Question;
use crate::report::{write_header_ids, write_ids};

/// Computes the next snapshot, or refuses and changes nothing.
///
/// # Errors
/// A [`Refusal`] with the code of the rule that was broken.
pub fn apply(
    snapshot: Option<&Snapshot>,
    facts: &Facts,
    event: &Event,
    actor: Actor,
) -> Result<Step, Refusal> {
    let Some(before) = snapshot else {
        return start(facts, event);
    };
    let (followed, rebound) = follow_to(before, facts)?.unzip();
    let followed_facts;
    let (before, facts) = match &followed {
        Some(next) => {
            followed_facts = follow_facts(facts, before, next);
            (next, &followed_facts)
        }
        None => (before, facts),
    };
    ask_first(before, facts, event)?;
    let facts = &count_claimed_as_own(facts, event);
    let due = find_due(before, facts)?;
    if event.is_cooks_own() != (actor == Actor::Cook) {
        return Err(refusal!(
            Code::NotByCook,
            "this caller may not send `{}`",
            event.name()
        ));
    }
    if event.is_user_only() && !matches!(actor, Actor::User | Actor::Script) {
        return Err(refusal!(
            Code::UserOnly,
            "`{}` is a user-only command",
            event.name()
        ));
    }
    if let (Some(submission), Some(role)) = (event.submission(), event.role()) {
        if due.role != Some(role) {
            return Err(not_your_turn(role, &due));
        }
        check_submission(before, facts, event, submission)?;
    }
    let head = facts.head()?;
    let room_is_known = wave::find_room(before, head).is_some();
    if matches!(event, Event::Judged { .. }) && !room_is_known {
        return Err(Refusal::new(
            Code::NotYourTurn,
            "a judge can vote only after the gates have run at this HEAD in a clean room",
        )
        .replace_hints(["run `cook verify stop`"]));
    }
    if event.is_aside() {
        return brief_changes::apply(before, facts, due, event, actor);
    }
    let (rule, due_role) = (due.rule, due.role);
    let mut work = Work::new(before, facts, due);
    run(&mut work, event, actor)?;
    if actor == Actor::Script && event.is_user_only() {
        work.next.ledger.scripted_commands.0 += 1;
    }
    let spends_step = event.submission().is_some() || matches!(event, Event::Refused { .. });
    let mut facts = with_contract_taken_in(facts, before, &work.next);
    if matches!(event, Event::Bootstrapped { .. }) {
        facts = bootstrap::with_contract(&facts, &work.next.ledger.settings);
    }
    let Work {
        mut next,
        records,
        mut findings,
        displace,
        ..
    } = work;
    let next_dispatch = finish(
        &mut next,
        &facts,
        &Before {
            rule,
            in_wave: rule == Rule::Judge && room_is_known,
            spends_step,
            displace,
            // A mission begins at HEAD: no earlier commit is work on it.
            marks: matches!(
                event,
                Event::Regrounded { .. } | Event::Implemented { .. } | Event::Refocused { .. }
            ),
        },
    )?;
    // An implementer's ticket stays valid: the next reviewer compares the work with the message. Other roles must
    // read it first.
    let builds = |role: Option<Role>| role == Some(Role::Implementer);
    if matches!(event, Event::Said { .. }) && builds(due_role) && builds(next_dispatch.role) {
        next.ledger.aside = Count(before.ledger.aside.0 + 1);
        next.ledger.head_seen.clone_from(&before.ledger.head_seen);
    }
    if let Event::Regrounded { submission, .. } = event {
        echo_ids(submission, &[before, &next])?;
    }
    findings.extend(rebound);
    findings.sort();
    findings.dedup();
    Ok(Step {
        snapshot: next,
        records,
        rule,
        next: next_dispatch,
        findings,
        displace,
    })
}

/// Asks for facts that the log keeps of this event, or that change how a rule reads it.
fn ask_first(before: &Snapshot, facts: &Facts, event: &Event) -> Result<(), Refusal> {
    facts.ask(Question::Head)?;
    if before.ledger.goal.is_none() {
        if let Some(mark) = drift::mark(before) {
            facts.ask(Question::Since(mark.clone()))?;
        }
        if matches!(event, Event::Bootstrapped { .. }) {
            facts.ask(Question::Contract)?;
            facts.ask(Question::View)?;
        }
        if let Some(question) = implementer::ask_commit(before, event) {
            facts.ask(Question::Commit(question))?;
        }
    }
    let block = event.block();
    let is_by_cook = matches!(event, Event::RegroundedByCook { .. });
    // A role's event spends a budget, which the settings limit.
    if event.role().is_some() || is_by_cook || assurance::reads_settings(before, event) {
        facts.ask(Question::Config)?;
    }
    // An uncommitted contract file is a finding of the dispatch, and then a model must re-ground.
    if is_by_cook {
        facts.ask(Question::ContractCommitted)?;
    }
    let sees_worktree = block.is_some()
        || matches!(
            event,
            Event::Implemented { .. }
                | Event::Reviewed { .. }
                | Event::Audited { .. }
                | Event::Judged { .. }
                | Event::Resumed(_)
                | Event::Paused { .. }
        );
    if sees_worktree {
        let ends = block.is_some_and(|block| block.conclude == Some(Conclude::Stop));
        facts.ask(Question::Worktree { ends })?;
    }
    Ok(())
}

/// Drops the mission or profile from `contract_differs` if this transition takes the file's version into the log.
fn with_contract_taken_in(facts: &Facts, before: &Snapshot, next: &Snapshot) -> Facts {
    let mut facts = facts.clone();
    facts
        .contract_differs
        .retain(|path| match path == super::CONTRACT_TEXTS[0] {
            true => before.mission == next.mission,
            false => before.profile == next.profile,
        });
    facts
}

fn start(facts: &Facts, event: &Event) -> Result<Step, Refusal> {
    let made = match event {
        Event::Bootstrapped {
            mission,
            profile,
            branch,
            settings,
            import,
        } => Some(bootstrap::first(
            facts,
            mission.as_deref(),
            profile,
            branch.as_deref(),
            settings.as_ref(),
            import.as_deref(),
        )?),
        Event::GoalSet { goal, branch } => Some(bootstrap::first_of_goal(facts, goal, branch)?),
        _ => None,
    };
    let Some((snapshot, next)) = made else {
        return Err(Refusal::new(Code::NotYourTurn, "there is no log yet")
            .replace_hints(["run `cook init`"]));
    };
    Ok(Step {
        snapshot,
        records: Records::default(),
        rule: Rule::Bootstrap,
        next,
        findings: Vec::new(),
        displace: true,
    })
}

fn run(work: &mut Work, event: &Event, actor: Actor) -> Result<(), Refusal> {
    match event {
        Event::Bootstrapped {
            mission,
            profile,
            settings,
            ..
        } => {
            if let Some(settings) = settings {
                work.next.ledger.settings = settings.clone();
            }
            repair(work, mission.as_deref(), profile, actor)
        }
        Event::Regrounded { block, submission } => {
            reground::apply(work, block, Some(submission))?;
            assurance::note_reground(work, submission);
            Ok(())
        }
        Event::RegroundedByCook { kind, block } => by_cook::apply(work, *kind, block),
        Event::GoalSet { goal, branch } => goal_transitions::set(work, goal, branch),
        Event::GoalAsked => goal_transitions::weigh(work),
        Event::Implemented { submission, .. } if work.before.ledger.goal.is_some() => {
            work.note_remarks(GOAL_SLICE, &submission.report);
            goal_transitions::weigh(work)?;
            goal_transitions::spend_attempt(work);
            Ok(())
        }
        Event::Implemented {
            slice_id,
            evidence,
            submission,
            ..
        } => implementer::implement(work, slice_id, evidence, submission),
        Event::Returned {
            slice_id,
            why,
            submission,
        } => implementer::hand_back(work, slice_id, why, submission),
        Event::Reviewed {
            verdicts,
            submission,
        } => verdicts::review(work, verdicts, submission),
        Event::Audited {
            verdicts,
            submission,
        } => verdicts::audit(work, verdicts, submission),
        Event::Judged {
            verdicts,
            submission,
        } => verdicts::judge(work, verdicts, submission),
        Event::Asked {
            role,
            question,
            submission,
        } => implementer::ask(work, *role, question, submission),
        Event::Refused { .. } => {
            if work.before.state.continuation_policy != Policy::Continue {
                return Err(Refusal::new(Code::DoesNotApply, "the work is stopped"));
            }
            implementer::count_refusal(work);
            Ok(())
        }
        Event::Paused { why } => user::pause(work, why, actor),
        Event::Resumed(resume) => resume::resume(work, resume),
        Event::Cancelled { why } => user::cancel(work, why),
        Event::Blocked { why, exit } => user::block(work, why, exit),
        Event::Refocused { mission } => user::refocus(work, mission),
        Event::Adopted { plan } => user::adopt(work, plan),
        Event::BranchAdopted => user::adopt_branch(work),
        Event::Restored => user::restore(work),
        Event::Verified => verify_room(work),
        Event::Undone {
            to, to_seq, undone, ..
        } => user::undo(work, to, to_seq.0, undone),
        Event::CriterionAmended {
            slice_id,
            number,
            text,
            reason,
        } => user::amend(work, slice_id, *number, text, reason),
        Event::ProofRetired {
            slice_id,
            number,
            reason,
        } => user::retire(work, slice_id, *number, reason),
        Event::Said { text, session } => brief_changes::say(work, text, session.as_ref(), actor),
        // These leave the work unchanged; `brief_changes` applies them.
        Event::Briefed { .. } | Event::Signed => Ok(()),
    }
}

/// Keeps the result of the gates at HEAD, if the end of the project is next.
fn verify_room(work: &mut Work) -> Result<(), Refusal> {
    if work.due.rule == Rule::Stopped || !drift::end_is_near(work.before) {
        return Err(refusal!(
            Code::NotYourTurn,
            "rule {} answers: {}",
            work.due.rule,
            work.due.reason
        ));
    }
    work.facts.ask(Question::Room)?;
    wave::keep_room(&mut work.next, work.facts.room.as_ref());
    Ok(())
}

/// A later `cook init`: the profile may change; the mission only while it is unknown. Only the user may ask for
/// fewer judges or less assurance.
fn repair(
    work: &mut Work,
    mission: Option<&str>,
    profile: &Profile,
    actor: Actor,
) -> Result<(), Refusal> {
    match mission {
        Some(mission) if work.before.mission.is_empty() => user::learn_mission(work, mission)?,
        Some(mission) if mission.trim() != work.before.mission.trim() => {
            return Err(goal_transitions::has_mission(work.before));
        }
        _ => {}
    }
    let known = &work.before.profile;
    let is_less = profile.required_stop_judges < known.required_stop_judges
        || profile.assurance < known.assurance;
    if is_less && !matches!(actor, Actor::User | Actor::Script) {
        return Err(Refusal::new(
            Code::UserOnly,
            "the profile asks for fewer judges or less assurance than the log",
        ));
    }
    goal_transitions::check_profile(profile, work.before.ledger.goal.is_some())?;
    goal_transitions::leave(work, profile);
    assurance::take_in(work, profile);
    work.next.profile = profile.clone();
    work.next.state.task_type = profile.task_type.clone();
    work.next.state.evaluation_profile = profile.evaluation_profile.clone();
    Ok(())
}

/// Removes the commits that the report claims from those that are foreign to the slice.
fn count_claimed_as_own(facts: &Facts, event: &Event) -> Facts {
    let mut facts = facts.clone();
    if let (Event::Implemented { .. }, Some(commit), Some(since)) =
        (event, &facts.commit, &mut facts.since)
    {
        since
            .commits
            .retain(|seen| !commit.claimed.contains(&seen.id));
    }
    facts
}

/// Compares the report with what cook can measure itself.
fn check_submission(
    before: &Snapshot,
    facts: &Facts,
    event: &Event,
    submission: &Submission,
) -> Result<(), Refusal> {
    if submission.mission_anchor != before.state.mission_anchor {
        return Err(refusal!(
            Code::MissionMismatch,
            "the report's `MISSION ANCHOR` holds `{}`; it must hold `{}`",
            clean(&submission.mission_anchor, Lines::Fold),
            clean(&before.state.mission_anchor, Lines::Fold)
        ));
    }
    if !matches!(event, Event::Regrounded { .. }) {
        echo_ids(submission, &[before])?;
    }
    if let Some(claimed) = submission.worktree_clean
        && !matches!(event, Event::Asked { .. } | Event::Returned { .. })
    {
        let worktree = facts.worktree()?;
        if claimed != worktree.is_clean() {
            let measured = match worktree.is_clean() {
                true => "it is clean".to_owned(),
                false => format!("it is not: {}", worktree.first_dirty()),
            };
            return Err(refusal!(
                Code::CleanMismatch,
                "the report says the worktree is {}; {measured}",
                if claimed { "clean" } else { "not clean" }
            ));
        }
    }
    Ok(())
}

/// Requires the state's remaining contract ids in the header. A regrounder may instead give those after its plan.
fn echo_ids(submission: &Submission, states: &[&Snapshot]) -> Result<(), Refusal> {
    let given: BTreeSet<&String> = submission.remaining_contract_ids.iter().collect();
    let fits = states.iter().any(|snapshot| {
        let ids = &snapshot.state.unsatisfied_contract_ids;
        given == ids.iter().collect() || given == BTreeSet::from([&write_header_ids(ids)])
    });
    if fits {
        return Ok(());
    }
    let mut must: Vec<String> = states
        .iter()
        .map(|snapshot| write_header_ids(&snapshot.state.unsatisfied_contract_ids))
        .collect();
    must.dedup();
    let holds = write_ids(&submission.remaining_contract_ids);
    Err(refusal!(
        Code::RemainingIdsMismatch,
        "the report's remaining contract ids hold `{}`; they must hold `{}`",
        clean(&holds, Lines::Fold),
        clean(&must.join("` or `"), Lines::Fold)
    ))
}
