//! What must be true of an event that was accepted: the other side of each
//! refusal, stated from the event, the documents and the facts alone.

use super::by_cook;
use super::events::Offer;
use super::invariants::{Check, Seen, require};
use cook_protocol::diagnostic::Code;
use cook_protocol::machine::{
    AnchorAnswer, Facts, MAX_SLICES, Rule, SliceGraph, Verdict, dispatch, find_state, follow,
    id_is_valid, is_for_tree, ready, waits_for,
};
use cook_protocol::model::{
    ActiveStatus, Actor, Conclude, Decision, Event, Evidence, EvidenceClaim, Plan, Policy,
    Reground, Resume, Role, STOP_VERIFIER, Shared, Slice, SliceRecordType, SliceStatus, Snapshot,
    Submission, Verdicts, WaitingKind, surface_matches, surface_names,
};
use cook_protocol::question::AnchorQuestion;
use std::collections::BTreeSet;

/// All of them.
pub fn check_admitted(seen: &Seen) -> Check {
    let user = matches!(seen.offer.actor, Actor::User | Actor::Script);
    let event = &seen.offer.event;
    require(user || !event.is_user_only(), || {
        format!("{} without the user", event.name())
    })?;
    if let Some(submission) = event.submission() {
        header(seen, submission)?;
    }
    match event {
        Event::Regrounded { block, .. } => reground(seen, block),
        Event::RegroundedByCook { kind, block } => {
            by_cook::check_admitted(seen, *kind, block)?;
            reground(seen, block)
        }
        Event::Implemented { slice_id, .. } => check_implemented(seen, slice_id),
        Event::Returned { slice_id, .. } => speaks_of_active(seen, slice_id),
        Event::Reviewed { .. } | Event::Audited { .. } => same_tree(seen),
        Event::Judged {
            verdicts,
            submission,
        } => check_judged(seen, verdicts, submission),
        Event::Asked { role, .. } => require(
            matches!(
                role,
                Role::Bootstrapper | Role::Regrounder | Role::Implementer
            ),
            || format!("the {role} asks"),
        ),
        Event::Refused { .. } | Event::Paused { .. } | Event::Blocked { .. } => {
            running(seen, event.name())
        }
        Event::Cancelled { .. } => require(
            seen.before.state.continuation_policy != Policy::Done
                && waiting(seen.before) != Some(WaitingKind::Cancel),
            || "what has ended is cancelled".to_owned(),
        ),
        Event::Resumed(resume) => check_resumed(seen, resume),
        Event::Refocused { mission } => mission_known(seen, Some(mission)),
        Event::Bootstrapped { mission, .. } => check_initialised(seen, mission.as_deref()),
        // No workflow here begins with a goal: tests/goal walks those.
        Event::GoalSet { .. } | Event::GoalAsked => Err(format!("{} is taken", event.name())),
        Event::Adopted { plan } => check_adopted(seen, plan),
        Event::BranchAdopted => require(
            seen.before.ledger.branch != seen.after().ledger.branch,
            || "the workflow's own branch is adopted".to_owned(),
        ),
        Event::Verified => require(
            seen.before.plan == seen.after().plan
                && seen.before.plan.open_slices().next().is_none()
                && keeps_room(seen),
            || "gates were run where work goes on".to_owned(),
        ),
        Event::Restored => require(
            seen.facts
                .outside_edits
                .as_ref()
                .is_some_and(|edits| !edits.is_empty()),
            || "nothing is put back".to_owned(),
        ),
        Event::Undone { to, to_seq, .. } => require(
            to_seq.0 < seen.before.ledger.seq.0 && to.ledger.seq == *to_seq,
            || "what is to come is undone".to_owned(),
        ),
        Event::CriterionAmended {
            slice_id,
            number,
            text,
            reason,
        } => {
            let index = usize::try_from(*number).unwrap().wrapping_sub(1);
            check_amended(seen, slice_id, index, text, reason)
        }
        Event::ProofRetired {
            slice_id,
            number,
            reason,
        } => check_retired(seen, slice_id, *number, reason),
        Event::Said { text, .. } => {
            let heard = seen.after().ledger.answers.last();
            let heard = heard.is_some_and(|heard| heard.answer == *text && heard.slices.is_empty());
            let notes = |slice: &Slice| {
                let mut notes = slice.locked_notes.iter().flatten();
                notes.any(|note| note.ends_with(text.as_str()))
            };
            let all = seen.after().plan.open_slices().all(notes);
            let was_done = seen.before.state.continuation_policy == Policy::Done;
            require(
                heard && all && seen.after().ledger.wave.votes.is_empty(),
                || "what the user says does not bind everybody".to_owned(),
            )?;
            require(
                seen.after().state.continuation_policy != Policy::Done
                    && (!was_done || seen.after().state.requires_reground),
                || "the project stays done against what the user says".to_owned(),
            )
        }
        Event::Briefed { .. } | Event::Signed => require(
            seen.before.plan == seen.after().plan
                && seen.before.ledger.slices == seen.after().ledger.slices
                && seen.before.ledger.head_seen == seen.after().ledger.head_seen,
            || format!("{} moves the work", event.name()),
        ),
    }
}

/// Who does nothing but select is refused by the plan just where the ready list does not name the
/// slice. `outcome` is what became of the report.
pub fn list_is_admission(
    snapshot: &Snapshot,
    facts: &Facts,
    offer: &Offer,
    outcome: Result<(), Code>,
) -> Check {
    let Event::Regrounded { block, .. } = &offer.event else {
        return Ok(());
    };
    let Some(id) = &block.select else {
        return Ok(());
    };
    let alone = Reground {
        select: Some(id.clone()),
        ..Reground::default()
    };
    let by_plan = [
        Code::SelectBlocked,
        Code::SelectClosed,
        Code::CriteriaEmpty,
        Code::SliceUnknown,
        Code::UnreconciledCommit,
    ];
    let taken = match outcome {
        Ok(()) => true,
        Err(code) if by_plan.contains(&code) => false,
        // The tree, the history, or who is due: no list says that.
        Err(_) => return Ok(()),
    };
    if *block != alone {
        return Ok(());
    }
    let snapshot = &*follow(snapshot, facts);
    let facts = &Facts {
        asked: None,
        ..facts.clone()
    };
    let due = dispatch(Some(snapshot), facts).map_err(|refusal| refusal.to_string())?;
    let found = find_state(snapshot, facts, &due).map_err(|refusal| refusal.to_string())?;
    let found = found.snapshot;
    // What is in work may be named again, and while it is committed nothing else.
    let is_listed = match found.find_slice_in_work() {
        Some(active) if active == id => true,
        Some(_) if found.active.status == ActiveStatus::Committed => false,
        _ => ready(&found.plan).contains(id),
    };
    require(taken == is_listed, || {
        format!("slice {id} is listed: {is_listed}, and its selection is taken: {taken}")
    })
}

fn waiting(snapshot: &Snapshot) -> Option<WaitingKind> {
    let waiting = snapshot.ledger.waiting.as_ref();
    waiting.map(|waiting| waiting.kind)
}

/// What the gates said is kept, and what else there is to say of their runs is told.
fn keeps_room(seen: &Seen) -> bool {
    let ledger = &seen.after().ledger;
    let mut said = seen.facts.room.clone();
    let remarks = said.as_mut().map(|room| std::mem::take(&mut room.remarks));
    let is_told = |what: &String| ledger.remarks.iter().any(|remark| remark.what == *what);
    ledger.room == said && remarks.unwrap_or_default().iter().all(is_told)
}

fn running(seen: &Seen, what: &str) -> Check {
    require(
        seen.before.state.continuation_policy == Policy::Continue,
        || format!("{what} while the work is stopped"),
    )
}

fn is_clean(seen: &Seen) -> bool {
    let tree = seen.facts.worktree.as_ref();
    tree.is_some_and(|tree| tree.dirty.is_empty())
}

/// The contracts of open slices.
fn open_contracts(snapshot: &Snapshot) -> BTreeSet<&String> {
    snapshot
        .plan
        .open_slices()
        .flat_map(|slice| &slice.contract_ids)
        .collect()
}

/// A report comes from the role that is due, and its header is what cook knows.
fn header(seen: &Seen, submission: &Submission) -> Check {
    let event = &seen.offer.event;
    require(event.role() == seen.due.role, || {
        format!("{} where {:?} is due", event.name(), seen.due.role)
    })?;
    require(
        submission.mission_anchor == seen.before.state.mission_anchor,
        || "a report on another mission".to_owned(),
    )?;
    check_settled(seen)?;
    let given: BTreeSet<&String> = submission.remaining_contract_ids.iter().collect();
    require(
        given == open_contracts(seen.before)
            || matches!(event, Event::Regrounded { .. }) && given == open_contracts(seen.after()),
        || format!("a report that remembers the open contracts as {given:?}"),
    )?;
    let measured = !matches!(event, Event::Asked { .. } | Event::Returned { .. });
    let claimed = submission.worktree_clean.filter(|_| measured);
    require(
        claimed.is_none_or(|claimed| claimed == is_clean(seen)),
        || "a report on a tree that is not so".to_owned(),
    )
}

/// The settings are the user's, but for those that the slice in work names as its own, and a
/// commit of the slice makes those the user's too.
fn check_settled(seen: &Seen) -> Check {
    let surfaces = seen.before.active.handoff.as_ref();
    let surfaces = surfaces.and_then(|handoff| handoff.implementation_surfaces.as_deref());
    let named = |path: &str| {
        let mut surfaces = surfaces.unwrap_or_default().iter();
        surfaces.any(|surface| surface_names(surface, path))
    };
    let found = seen.facts.settings.as_ref().ok_or("settings unseen")?;
    for (path, kept) in &seen.before.ledger.settings {
        require(found.get(path) == Some(kept) || named(path), || {
            "a report over settings that are not as the user left them".to_owned()
        })?;
        let taken_over = matches!(seen.offer.event, Event::Implemented { .. });
        let now = seen.after().ledger.settings.get(path);
        require(!taken_over || now == found.get(path), || {
            format!("{path} was the slice's work and is not the user's")
        })?;
    }
    Ok(())
}

fn speaks_of_active(seen: &Seen, slice_id: &str) -> Check {
    let active = &seen.before.active;
    require(
        active.slice_id.as_deref() == Some(slice_id)
            && matches!(
                active.status,
                ActiveStatus::Selected | ActiveStatus::InProgress | ActiveStatus::Committed
            ),
        || format!("a report on {slice_id}, which is not in work"),
    )
}

/// The commit is on HEAD after the basis, changes something, nothing protected, and is new.
fn check_implemented(seen: &Seen, slice_id: &str) -> Check {
    speaks_of_active(seen, slice_id)?;
    let commit = seen.facts.commit.as_ref().unwrap();
    let slice = seen.before.plan.slice(slice_id).unwrap();
    let surfaces = slice.implementation_surfaces.as_deref().unwrap_or_default();
    let listed = |path: &String| {
        surfaces
            .iter()
            .any(|surface| surface_matches(surface, path))
    };
    require(
        commit.id.is_some()
            && commit.on_head
            && commit.after_basis
            && !commit.paths.is_empty()
            && commit.protected.iter().all(listed),
        || format!("{commit:?} is taken for work"),
    )?;
    let must_fix = slice.must_fix_findings.as_ref();
    let ledger = seen.before.ledger.slices.get(slice_id);
    require(
        ledger.is_none_or(|ledger| {
            ledger.head != commit.id
                && (ledger.last_head != commit.id || must_fix.is_none_or(Vec::is_empty))
        }),
        || "a commit is reported twice".to_owned(),
    )?;
    let outside = !surfaces.is_empty() && !commit.paths.iter().all(listed);
    let mut findings = seen.step.findings.iter();
    let noted = findings.any(|finding| finding.code == Code::OutsideSurfaces);
    require(noted == outside, || {
        format!("work outside the surfaces: {outside}, and said so: {noted}")
    })?;
    let commands = slice.verification_commands.iter().flatten();
    require(are_trusted(seen, commands), || {
        "gates that nobody trusts were run".to_owned()
    })?;
    let gates = seen.facts.gates.as_ref().unwrap();
    let green = gates
        .iter()
        .all(|run| !run.gate.required || run.has_passed());
    require(
        green == (seen.after().active.status == ActiveStatus::Committed),
        || format!("gates that are green: {green}, and the slice is otherwise"),
    )
}

fn are_trusted<'a>(seen: &Seen, mut commands: impl Iterator<Item = &'a String>) -> bool {
    let untrusted = seen.facts.untrusted.as_ref();
    commands.all(|command| untrusted.is_some_and(|set| !set.contains(command)))
}

/// Who only reads leaves the tree as the last transition saw it, or as its ticket says.
fn same_tree(seen: &Seen) -> Check {
    let tree = seen.facts.worktree.as_ref().unwrap();
    let before = seen.before.ledger.status_seen.as_ref();
    let submission = seen.offer.event.submission();
    let ticket = submission.and_then(|submission| submission.ticket.as_deref());
    let told = ticket.and_then(|ticket| is_for_tree(ticket, &tree.digest));
    require(
        tree.dirty.is_empty()
            || told.unwrap_or_else(|| before.is_none_or(|before| *before == tree.digest)),
        || "a reader changed the tree".to_owned(),
    )
}

/// One vote for each judge, about the commit that is there.
fn check_judged(seen: &Seen, verdicts: &Verdicts, submission: &Submission) -> Check {
    same_tree(seen)?;
    let mut votes = seen.before.ledger.wave.votes.iter();
    let twice = votes.any(|vote| match (&vote.session, &submission.session) {
        (Some(theirs), Some(mine)) => theirs == mine,
        _ => match (&vote.ticket, &submission.ticket) {
            (Some(theirs), Some(mine)) => theirs == mine,
            _ => vote.report_sha256 == submission.report_sha256,
        },
    });
    require(!twice, || "a judge votes twice".to_owned())?;
    let head = seen.facts.head.as_ref().unwrap().commit.clone();
    let head = head.ok_or("a vote without a commit")?;
    let last = seen.before.state.latest_completed_slice.as_ref();
    let last = last
        .and_then(|id| seen.before.ledger.slices.get(id))
        .and_then(|slice| slice.last_head.clone());
    let there = |named: &String| {
        named.len() >= 7
            && (head.starts_with(named.as_str())
                || last.is_some_and(|last| last.starts_with(named.as_str())))
    };
    require(verdicts.commit.as_ref().is_none_or(there), || {
        "a vote on another commit".to_owned()
    })
}

fn check_resumed(seen: &Seen, resume: &Resume) -> Check {
    let stopped = seen.before.state.continuation_policy;
    if resume.review_again {
        return check_reviewed_again(seen);
    }
    let brings_trust = resume
        == &Resume {
            trust: resume.trust.clone(),
            ..Resume::default()
        };
    if brings_trust && !resume.trust.is_empty() && stopped == seen.after().state.continuation_policy
    {
        return require(
            seen.before.active.status == seen.after().active.status
                && seen.before.state.requires_reground == seen.after().state.requires_reground,
            || "trust alone moves the work".to_owned(),
        );
    }
    if stopped == Policy::Continue {
        let trusts = !resume.trust.is_empty() || resume.settings;
        require(resume.budget.is_some() || resume.new_wave || trusts, || {
            "the running work is resumed".to_owned()
        })?;
    } else {
        require(
            seen.after().state.continuation_policy == Policy::Continue,
            || "the resumed work stays stopped".to_owned(),
        )?;
        check_left_with_needs(seen, resume)?;
    }
    let wave = resume.new_wave && (stopped != Policy::Continue || resume.budget.is_none());
    require(
        !wave || seen.after().plan.open_slices().next().is_none(),
        || "a wave is asked for while slices are open".to_owned(),
    )
}

/// A stop is left only with what it waits for; a re-ground follows where the world may be another.
fn check_left_with_needs(seen: &Seen, resume: &Resume) -> Check {
    let ledger = &seen.before.ledger;
    let head = seen.facts.head.as_ref().unwrap();
    let tree = seen.facts.worktree.as_ref().unwrap();
    let moved = head.commit != ledger.head_seen || head.branch != ledger.branch;
    let changed = ledger
        .status_seen
        .as_ref()
        .is_some_and(|digest| *digest != tree.digest);
    let regrounds = seen.after().state.requires_reground;
    require(regrounds || !(moved || changed), || {
        "the repository moved under a stop, and nobody looks".to_owned()
    })?;
    if seen.before.state.continuation_policy == Policy::Done {
        return require(
            regrounds && (resume.new_wave || head.commit != ledger.head_seen),
            || "done is left for nothing".to_owned(),
        );
    }
    let added = resume.budget.as_ref().map_or(0, |budget| {
        budget.steps.unwrap_or(0) + budget.attempts_per_slice.unwrap_or(0)
    });
    let answered = resume.answer.as_ref();
    let brought = match waiting(seen.before) {
        Some(WaitingKind::Question) => {
            // Who builds the slice goes on; who plans looks at the plan again.
            let asker = ledger.waiting.as_ref().and_then(|waiting| waiting.asker);
            let goes_on = asker == Some(Role::Implementer);
            (regrounds || goes_on) && answered.is_some_and(|text| !text.trim().is_empty())
        }
        // A no is an answer too: the plan is looked at again, and the words bind.
        Some(WaitingKind::Trust) => {
            let said_no = answered.is_some()
                && regrounds
                && seen.after().ledger.answers.len() > ledger.answers.len();
            let commands = seen.before.plan.open_slices();
            let commands = commands.flat_map(|slice| slice.verification_commands.iter().flatten());
            said_no || are_trusted(seen, commands)
        }
        Some(WaitingKind::Budget) => added > 0,
        Some(WaitingKind::Outside | WaitingKind::Worktree | WaitingKind::Cancel) => regrounds,
        Some(WaitingKind::Pause) | None => true,
    };
    require(brought, || {
        format!("{:?} is left empty-handed", waiting(seen.before))
    })
}

/// A review is asked for again of the commit that was reviewed last, on HEAD.
fn check_reviewed_again(seen: &Seen) -> Check {
    running(seen, "another review")?;
    let id = seen.before.active.slice_id.as_ref();
    let id = id.ok_or("another review of no slice")?;
    let was = &seen.before.ledger.slices[id];
    let now = &seen.after().ledger.slices[id];
    let same = was.head.as_ref().or(was.last_head.as_ref()) == now.head.as_ref();
    require(
        now.head.is_some()
            && same
            && now.review.is_none()
            && seen.after().active.status == ActiveStatus::Committed,
        || "another review of what is not there".to_owned(),
    )?;
    require(was.head.is_none() || was.review.is_some(), || {
        "another review where there was none".to_owned()
    })?;
    let on_head = now
        .head
        .as_ref()
        .and_then(|head| seen.facts.on_head.get(head));
    require(was.head.is_some() || on_head == Some(&true), || {
        "another review of a commit that is not on HEAD".to_owned()
    })
}

fn mission_known(seen: &Seen, mission: Option<&str>) -> Check {
    require(
        mission.is_none_or(|text| !text.trim().is_empty())
            && !seen.after().state.mission_anchor.trim().is_empty(),
        || "a mission without a line of text".to_owned(),
    )
}

/// A later `init` gives no second mission, and no agent asks for fewer judges.
fn check_initialised(seen: &Seen, mission: Option<&str>) -> Check {
    let known = seen.before.mission.trim();
    mission_known(seen, mission)?;
    require(
        known.is_empty() || mission.is_none_or(|mission| mission.trim() == known),
        || "init changes the mission".to_owned(),
    )?;
    let user = matches!(seen.offer.actor, Actor::User | Actor::Script);
    let judges = |snapshot: &Snapshot| snapshot.profile.required_stop_judges;
    require(user || judges(seen.after()) >= judges(seen.before), || {
        "fewer judges without the user".to_owned()
    })
}

/// An edited plan keeps what only cook sets.
fn check_adopted(seen: &Seen, plan: &Plan) -> Check {
    require(
        plan.mission_anchor == seen.before.plan.mission_anchor,
        || "an edited mission is adopted".to_owned(),
    )?;
    plan_is_legal(seen, &plan.candidate_slices)?;
    for edited in &plan.candidate_slices {
        let id = &edited.slice_id;
        let now = seen
            .after()
            .plan
            .slice(id)
            .ok_or("an edited slice is gone")?;
        require(
            edited.basis_commit == now.basis_commit && edited.evidence == now.evidence,
            || format!("{id} is adopted with what only cook sets"),
        )?;
        require(
            edited.status == now.status && edited.acceptance_criteria == now.acceptance_criteria,
            || format!("{id} is adopted and not as it was edited"),
        )?;
    }
    Ok(())
}

fn check_amended(seen: &Seen, id: &str, index: usize, text: &str, reason: &str) -> Check {
    let was = seen.before.plan.slice(id);
    let was = was.ok_or("a criterion of no slice is amended")?;
    let now = &seen.after().plan.slice(id).unwrap().acceptance_criteria;
    require(
        !text.trim().is_empty() && !reason.trim().is_empty() && was.status.is_open(),
        || format!("{id} is amended without a text, a reason or a chance"),
    )?;
    require(
        index < now.len()
            && now.len() == was.acceptance_criteria.len()
            && now[index] == text
            && now.iter().collect::<BTreeSet<_>>().len() == now.len(),
        || format!("{id} is amended to {now:?}"),
    )
}

/// The proof of one criterion of a closed slice is marked, and nothing else of the plan changes.
fn check_retired(seen: &Seen, id: &str, number: u64, reason: &str) -> Check {
    let was = seen.before.plan.slice(id);
    let was = was.ok_or("a proof of no slice is given up")?;
    let index = usize::try_from(number).unwrap().wrapping_sub(1);
    let criterion = was.acceptance_criteria.get(index);
    require(
        !reason.trim().is_empty() && was.rests_on_proof() && criterion.is_some(),
        || format!("a proof of {id} is given up without a reason or a chance"),
    )?;
    let mut then = seen.before.plan.clone();
    let slice = then.slice_mut(id).ok_or("it is gone")?;
    let mut is_marked = false;
    for entry in &mut slice.evidence {
        if let Evidence::Record(record) = entry
            && Some(&record.criterion) == criterion
        {
            record.retired = Some(reason.to_owned());
            is_marked = true;
        }
    }
    require(is_marked && then == seen.after().plan, || {
        format!("{id} gave up more than one proof")
    })
}

/// A re-ground: its plan, its proof, its conclusion, its selection, its stop, its progress.
fn reground(seen: &Seen, block: &Reground) -> Check {
    plan_is_legal(seen, &seen.after().plan.candidate_slices)?;
    let reopened_ids: BTreeSet<&String> = block.reopen.iter().map(|it| &it.slice_id).collect();
    require(reopened_ids.len() == block.reopen.len(), || {
        "one slice is reopened twice".to_owned()
    })?;
    if let Some(plan) = &block.plan {
        let changed = plan.change.iter().map(|slice| &slice.slice_id);
        let mut named: BTreeSet<&String> =
            plan.cancel.iter().map(|slice| &slice.slice_id).collect();
        let count = plan.cancel.len() + plan.change.len();
        named.extend(changed);
        require(named.len() == count, || {
            "a plan changes one slice twice".to_owned()
        })?;
        for planned in &plan.candidate_slices {
            let id = &planned.slice_id;
            let was = seen.before.plan.slice(id).map(|slice| slice.status);
            let is_closed = matches!(was, Some(SliceStatus::Done | SliceStatus::Cancelled));
            let blocks = planned.status == Some(SliceStatus::Blocked) && !is_closed;
            let waits = planned.blocked_on.iter().flatten().next().is_some();
            let why = planned.reason.as_ref();
            require(
                !blocks || waits || why.is_some_and(|why| !why.trim().is_empty()),
                || format!("{id} is blocked without a reason"),
            )?;
            let cancels = planned.status == Some(SliceStatus::Cancelled) && !is_closed;
            let reason = planned.reason.as_ref();
            require(
                !cancels || reason.is_some_and(|reason| !reason.trim().is_empty()),
                || format!("{id} is cancelled without a reason"),
            )?;
            let shown = seen.after().plan.slice(id).is_some_and(Slice::is_satisfied);
            let claims = block.evidence.iter();
            let mut claims = claims.filter(|claim| {
                let of = claim.slice_id.as_ref();
                of == Some(id) && planned.acceptance_criteria.contains(&claim.criterion)
            });
            require(!cancels || shown == claims.next().is_some(), || {
                format!("{id} is cancelled, and half of it is shown")
            })?;
            let now = seen
                .after()
                .plan
                .slice(id)
                .ok_or("a planned slice is gone")?;
            require(
                was == Some(SliceStatus::Cancelled)
                    || now.goal == planned.goal
                        && now.acceptance_criteria == planned.acceptance_criteria,
                || format!("{id} is planned in one way and kept in another"),
            )?;
            let mut commands = planned.verification_commands.iter().flatten();
            let words = |command: &String| shell_words::split(command).unwrap_or_default();
            require(commands.all(|command| !words(command).is_empty()), || {
                format!("{id} names a command of no words")
            })?;
            let claims = planned.status == Some(SliceStatus::Done) && !is_closed;
            require(!claims, || format!("the plan calls {id} done"))?;
        }
    }
    check_concluded(seen, block)?;
    check_reconciled(seen, block)?;
    if wants_acceptance(block) && !is_clean(seen) {
        return check_held_back(seen);
    }
    for claim in &block.evidence {
        check_proved(seen, block, claim)?;
    }
    check_reopened(seen, block)?;
    news(seen, block)?;
    check_selected(seen, block)?;
    stops_as_it_says(seen, block)?;
    check_progress(seen, block)
}

fn wants_acceptance(block: &Reground) -> bool {
    let reconcile = block.reconcile.as_ref();
    reconcile.is_some_and(|reconcile| reconcile.decision == Decision::Accepted)
}

/// On a dirty tree nothing is accepted, selected or proved: the slice goes back, or the user is asked.
fn check_held_back(seen: &Seen) -> Check {
    let (before, after) = (seen.before, seen.after());
    let sent_back = after.active.status == ActiveStatus::InProgress;
    let asked = after.active.status == ActiveStatus::Committed
        && waiting(after) == Some(WaitingKind::Worktree);
    require(
        before.active.slice_id == after.active.slice_id
            && (sent_back && after.state.continuation_policy != Policy::Done || asked),
        || "an acceptance on a dirty tree goes on".to_owned(),
    )?;
    check_untrusted(seen)
}

/// Ids are words, told apart; every open slice has criteria, told apart; no circle; what is
/// closed or in work keeps its goal; a slice changes its status only as a plan may.
fn plan_is_legal(seen: &Seen, given: &[Shared<Slice>]) -> Check {
    require(given.len() <= MAX_SLICES, || "too many slices".to_owned())?;
    let ids: BTreeSet<&String> = given.iter().map(|slice| &slice.slice_id).collect();
    require(
        ids.len() == given.len() && ids.iter().all(|id| id_is_valid(id)),
        || format!("slices are called {ids:?}"),
    )?;
    let plan = &seen.after().plan;
    require(SliceGraph::new(plan).cycle().is_none(), || {
        "slices wait in a circle".to_owned()
    })?;
    for slice in &plan.candidate_slices {
        let id = &slice.slice_id;
        let criteria = &slice.acceptance_criteria;
        let blank = criteria.iter().all(|text| text.trim().is_empty());
        let was = seen.before.plan.slice(id);
        // A slice of an older layout may stand without criteria until a plan speaks of it.
        let untouched = was.is_some_and(|was| was.acceptance_criteria.is_empty());
        require(!blank || !slice.status.is_open() || untouched, || {
            format!("{id} is open without criteria")
        })?;
        require(
            criteria.iter().collect::<BTreeSet<_>>().len() == criteria.len(),
            || format!("{id} says one thing twice"),
        )?;
        match was {
            None => require(
                matches!(
                    slice.status,
                    SliceStatus::Planned | SliceStatus::Blocked | SliceStatus::Cancelled
                ) || seen.after().active.slice_id.as_ref() == Some(id),
                || format!("{id} is new and {}", slice.status.id()),
            )?,
            Some(was) => check_kept(seen, was, slice)?,
        }
    }
    Ok(())
}

/// What showed it to be there is not what it was.
fn is_unproven(seen: &Seen, slice: &Slice) -> bool {
    let mut records = slice.evidence.iter().filter_map(Evidence::record);
    records.any(|record| {
        let key = AnchorQuestion::ask_stored(slice, record).key();
        let answer = seen.facts.anchors.get(&key);
        answer.is_some_and(|answer| answer.verdict != Verdict::Verified)
    })
}

fn check_kept(seen: &Seen, was: &Slice, now: &Slice) -> Check {
    let id = &now.slice_id;
    let closed = !was.status.is_open() && was.status == now.status;
    let in_work = matches!(was.status, SliceStatus::Selected | SliceStatus::InProgress);
    require(now.goal == was.goal || !(closed || in_work), || {
        format!("{id} has another goal")
    })?;
    require(
        !closed || now.acceptance_criteria == was.acceptance_criteria,
        || format!("{id} is closed and has other criteria"),
    )?;
    require(
        was.status != SliceStatus::Cancelled
            || now.status == SliceStatus::Cancelled
            || was.is_satisfied() && is_unproven(seen, was),
        || format!("{id} was cancelled and is back"),
    )?;
    // What is committed and still on HEAD leaves work only by a reconciliation.
    let active = &seen.before.active;
    let head = seen.before.ledger.slices.get(id);
    let head = head.and_then(|ledger| ledger.head.as_ref());
    let there = head.and_then(|head| seen.facts.on_head.get(head)) == Some(&true);
    let committed = active.status == ActiveStatus::Committed
        && active.slice_id.as_ref() == Some(id)
        && was.status == SliceStatus::InProgress;
    let reopened = seen.block().is_some_and(|block| block.reconcile.is_some());
    require(
        !(committed && there)
            || reopened
            || matches!(now.status, SliceStatus::InProgress | SliceStatus::Done),
        || format!("{id} was committed and is {}", now.status.id()),
    )
}

/// Accepted or reopened is what waits for it; reopened also what was done.
fn check_reconciled(seen: &Seen, block: &Reground) -> Check {
    let Some(reconcile) = &block.reconcile else {
        return Ok(());
    };
    let id = &reconcile.slice_id;
    let was = seen.before.plan.slice(id);
    let was = was.ok_or("a slice is reconciled that is not there")?;
    let waits =
        seen.due.rule == Rule::Reconcile && seen.before.active.slice_id.as_ref() == Some(id);
    let reopens = reconcile.decision == Decision::Reopened;
    let again = reopens && was.status == SliceStatus::Done;
    let active = &seen.before.active;
    let is_committed =
        active.status == ActiveStatus::Committed && active.slice_id.as_ref() == Some(id);
    let ledger = seen.before.ledger.slices.get(id);
    let review = ledger.and_then(|ledger| ledger.review.as_deref());
    let rejected = reopens && is_committed && review.is_some_and(|review| review.rejects());
    // The repository moved, and what was committed goes back.
    let shaken = reopens && seen.due.rule == Rule::Recover && active.slice_id.as_ref() == Some(id);
    let shaken = shaken && ledger.is_some_and(|ledger| ledger.reported.is_some());
    require(waits || again || rejected || shaken, || {
        format!("{id} is reconciled and did not wait for it")
    })?;
    let says_what = reconcile
        .findings
        .iter()
        .any(|text| !text.trim().is_empty());
    let said_no = review.is_some_and(|review| review.rejects());
    require(!reopens || says_what || said_no, || {
        format!("{id} is reopened, and nothing is to be fixed")
    })
}

/// What was found at an anchor: as it is claimed now, else as it was stamped.
pub fn find_answer<'a>(
    seen: &'a Seen,
    id: &str,
    criterion: &str,
    anchor: &str,
) -> Option<&'a AnchorAnswer> {
    let start = format!("{id}\u{1f}{criterion}\u{1f}{anchor}\u{1f}");
    let mut found = seen.facts.anchors.range(start.clone()..);
    let (key, answer) = found.next()?;
    key.starts_with(&start).then_some(answer)
}

/// Every claim of an accepted report was verified, for a slice of the plan and for itself alone.
fn check_proved(seen: &Seen, block: &Reground, claim: &EvidenceClaim) -> Check {
    // A claim that names no slice speaks of the one that is reconciled or in work.
    let reconciled = block.reconcile.as_ref().map(|it| &it.slice_id);
    let active = seen.before.active.slice_id.as_ref();
    let meant = |claim: &EvidenceClaim| {
        let id = claim.slice_id.as_ref().or(reconciled).or(active)?;
        seen.after().plan.slice(id).map(|_| id.clone())
    };
    let id = meant(claim).ok_or("evidence for a slice that is not there")?;
    let answer = |claim: &EvidenceClaim| {
        find_answer(seen, &id, &claim.criterion, &claim.anchor).expect("a claim that was looked at")
    };
    let (verdict, target) = (answer(claim).verdict, &answer(claim).target);
    let shows = answer(claim).text.is_some() || answer(claim).receipt.is_some();
    require(shows, || "evidence that shows nothing".to_owned())?;
    require(verdict == Verdict::Verified, || {
        format!("evidence that is {verdict:?}")
    })?;
    let shared = block.evidence.iter().any(|other| {
        meant(other).as_ref() == Some(&id)
            && other.criterion != claim.criterion
            && &answer(other).target == target
    });
    require(!shared, || "one proof for two criteria".to_owned())
}

/// A slice is taken up again once it is done, or at a commit on HEAD; a committed one is reconciled.
fn check_reopened(seen: &Seen, block: &Reground) -> Check {
    for reopen in &block.reopen {
        let was = seen.before.plan.slice(&reopen.slice_id);
        let was = was.ok_or("a slice is reopened that is not there")?;
        let active = seen.before.active.slice_id.as_ref() == Some(&reopen.slice_id);
        let committed = active && seen.before.active.status == ActiveStatus::Committed;
        let may = was.status == SliceStatus::Done || was.status.is_open() && reopen.at.is_some();
        require(may && !committed, || {
            format!("{} is reopened and was not done", reopen.slice_id)
        })?;
        let at = reopen.at.as_ref();
        require(
            at.is_none_or(|at| seen.facts.on_head.get(at) == Some(&true)),
            || {
                format!(
                    "{} is reopened at a commit that is nowhere",
                    reopen.slice_id
                )
            },
        )?;
    }
    let plan = &seen.after().plan;
    let waits_for_cancelled = |slice: &Slice| {
        let mut entries = slice
            .blocked_on
            .iter()
            .filter_map(|entry| plan.slice(entry));
        entries.any(|other| other.status == SliceStatus::Cancelled && !other.is_satisfied())
    };
    require(
        block.plan.is_none() || !plan.open_slices().any(waits_for_cancelled),
        || "a slice waits for one that nobody will build".to_owned(),
    )
}

/// What is accepted rests on one thing at least that its basis did not have.
fn news(seen: &Seen, block: &Reground) -> Check {
    let accepted = block.reconcile.as_ref().filter(|_| wants_acceptance(block));
    let Some(slice) = accepted.and_then(|it| seen.after().plan.slice(&it.slice_id)) else {
        return Ok(());
    };
    let records = slice.evidence.iter().filter_map(Evidence::record);
    let mut answers = records
        .filter_map(|record| find_answer(seen, &slice.slice_id, &record.criterion, &record.anchor));
    require(answers.any(|answer| answer.is_new), || {
        format!("{} is accepted without news", slice.slice_id)
    })
}

/// A wave is concluded where it is due, with cause; at most two are held at one HEAD.
fn check_concluded(seen: &Seen, block: &Reground) -> Check {
    let due = seen.due.rule == Rule::Conclude;
    require(block.conclude.is_none() || due, || {
        "a wave is concluded that is not due".to_owned()
    })?;
    require(
        !due || block.conclude.is_some() || block.policy.is_some(),
        || "a wave is left without a conclusion".to_owned(),
    )?;
    let Some(Conclude::GoOn { reason }) = &block.conclude else {
        return Ok(());
    };
    let opened = seen.after().plan.open_slices().next().is_some();
    require(
        opened || reason.as_ref().is_some_and(|text| !text.trim().is_empty()),
        || "another wave for no reason".to_owned(),
    )?;
    let wave = &seen.before.ledger.wave;
    let head = seen.facts.head.as_ref().unwrap();
    require(
        opened || wave.opened_at != head.commit || wave.opened.0 < 2,
        || "a third wave at one HEAD".to_owned(),
    )
}

/// Who is selected is in work afterwards, and was open.
fn check_selected(seen: &Seen, block: &Reground) -> Check {
    let Some(id) = &block.select else {
        return Ok(());
    };
    let active = &seen.after().active;
    require(
        active.slice_id.as_ref() == Some(id)
            && matches!(
                active.status,
                ActiveStatus::Selected | ActiveStatus::InProgress | ActiveStatus::Committed
            ),
        || format!("{id} is selected and not in work"),
    )?;
    let slice = seen.after().plan.slice(id).unwrap();
    require(!slice.acceptance_criteria.is_empty(), || {
        format!("{id} is selected without criteria")
    })?;
    let waits = waits_for(&seen.after().plan, slice);
    let mut reopened = block.reopen.iter();
    require(!reopened.any(|it| waits.contains(&it.slice_id)), || {
        format!("{id} is selected and waits for what the same report opens")
    })?;
    let was = seen.before.plan.slice(id).map(|slice| slice.status);
    let mut records = seen.step.records.slice.iter();
    let reopened =
        records.any(|record| record.kind == SliceRecordType::Reopened && &record.slice_id == id);
    let taken_up = block.plan.is_some() || reopened;
    require(
        was.is_some_and(|was| was.is_open() && was != SliceStatus::Blocked) || taken_up,
        || format!("{id} was {was:?} and is selected"),
    )
}

/// The work stops only where the report says so, or the user must be asked for trust.
fn stops_as_it_says(seen: &Seen, block: &Reground) -> Check {
    let after = seen.after();
    let stops = block.conclude == Some(Conclude::Stop);
    require(
        !(stops && (block.policy.is_some() || block.select.is_some())),
        || "a report stops for two reasons".to_owned(),
    )?;
    require(
        stops == (after.state.continuation_policy == Policy::Done),
        || "a stop that is none".to_owned(),
    )?;
    require(
        block.policy.is_none() || after.state.continuation_policy != Policy::Continue,
        || "a report stops and the work goes on".to_owned(),
    )?;
    check_untrusted(seen)
}

fn check_untrusted(seen: &Seen) -> Check {
    let open = seen.after().plan.open_slices();
    let commands = open.flat_map(|slice| slice.verification_commands.iter().flatten());
    let verifier = STOP_VERIFIER.to_owned();
    let commands = commands.chain([&verifier]);
    require(
        seen.after().state.continuation_policy != Policy::Continue || are_trusted(seen, commands),
        || "commands that nobody trusts stay in the plan".to_owned(),
    )
}

/// An accepted report changes what stands in the documents.
fn check_progress(seen: &Seen, block: &Reground) -> Check {
    let (before, after) = (seen.before, seen.after());
    let moved = before.plan.candidate_slices != after.plan.candidate_slices
        || before.active.status != after.active.status
        || before.state.continuation_policy != after.state.continuation_policy
        || before.state.current_stop_wave_id != after.state.current_stop_wave_id
        || seen.now.rule != seen.due.rule
        || block.select.is_some();
    require(moved, || "a re-ground that changes nothing".to_owned())?;
    require(
        seen.due.rule != Rule::Reconcile || block.reconcile.is_some() || block.policy.is_some(),
        || "a committed slice is left waiting".to_owned(),
    )
}
