//! What must hold of every transition, stated without the code that makes it.

use super::admission::find_answer;
use super::events::Offer;
use super::world::World;
use cook_protocol::diagnostic::Code;
use cook_protocol::machine::{Dispatch, Facts, Rule, Step, Verdict};
use cook_protocol::model::{
    ActiveStatus, AuditNote, Caches, Conclude, Decision, Event, Evidence, Policy, Reground,
    STOP_VERIFIER, Slice, SliceStatus, Snapshot,
};
use cook_protocol::question::Question;
use std::collections::BTreeSet;

/// A transition and what was known of it.
pub struct Seen<'a> {
    pub before: &'a Snapshot,
    /// The repository.
    pub world: &'a World,
    /// Who was due.
    pub due: &'a Dispatch,
    pub offer: &'a Offer,
    pub facts: &'a Facts,
    pub step: &'a Step,
    /// Who is due after it, measured afresh.
    pub now: &'a Dispatch,
}

pub type Check = Result<(), String>;

pub fn require(holds: bool, what: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(what()) }
}

impl Seen<'_> {
    pub fn after(&self) -> &Snapshot {
        &self.step.snapshot
    }

    pub fn block(&self) -> Option<&Reground> {
        match &self.offer.event {
            Event::Regrounded { block, .. } | Event::RegroundedByCook { block, .. } => Some(block),
            _ => None,
        }
    }

    /// Undo and a new mission take documents back as they were, or away.
    fn starts_over(&self) -> bool {
        matches!(
            self.offer.event,
            Event::Undone { .. } | Event::Refocused { .. }
        )
    }
}

/// Only decisions that depend on cleanliness walk the tree; only those that
/// need a run make one.
pub fn asks_little(event: &Event, facts: &Facts) -> Check {
    let asked = facts.asked.as_deref().unwrap_or_default();
    let block = match event {
        Event::Regrounded { block, .. } | Event::RegroundedByCook { block, .. } => Some(block),
        _ => None,
    };
    let implements = matches!(event, Event::Implemented { .. });
    let walks = implements
        || block.is_some()
        || matches!(
            event,
            Event::Reviewed { .. }
                | Event::Audited { .. }
                | Event::Judged { .. }
                | Event::Paused { .. }
                | Event::Resumed(_)
        );
    for question in asked {
        let may_ask = match question {
            Question::Worktree { .. } => walks,
            Question::Gates(_) | Question::Commit(_) => implements,
            Question::Anchors { .. } => block.is_some(),
            Question::StopVerifier(_) => {
                block.is_some_and(|block| block.conclude == Some(Conclude::Stop))
            }
            Question::Room => matches!(event, Event::Verified),
            _ => true,
        };
        require(may_ask, || format!("{} asks {question:?}", event.name()))?;
    }
    Ok(())
}

/// All of them.
pub fn transition(seen: &Seen) -> Check {
    super::admission::check_admitted(seen)?;
    check_written(seen)?;
    check_counters(seen)?;
    check_done(seen)?;
    check_slices_accepted(seen)?;
    super::standing::check_built_on(seen)?;
    super::standing::check_given_up(seen)?;
    check_selected_clean(seen)?;
    criteria_stay(seen)?;
    noes_stay(seen)?;
    audits_stay(seen)?;
    reviews_stay(seen)?;
    super::on_record::check_noes(seen)?;
    check_cancelled_leave_nothing(seen)?;
    remarks_stay(seen)?;
    votes_are_cast(seen)?;
    waves_are_counted(seen)?;
    lemma(seen)?;
    exits_are_named(seen)
}

/// A dispatch without the advice that `cook next` adds for the role to come.
fn without_advice(dispatch: &Dispatch) -> Dispatch {
    let advice = [Code::DirtyWorktree, Code::ContractUntracked];
    let mut decided = dispatch.clone();
    if decided
        .findings
        .iter()
        .any(|finding| finding.code == Code::ContractUntracked)
    {
        decided.blocking_command = None;
    }
    decided
        .findings
        .retain(|finding| !advice.contains(&finding.code));
    decided
}

/// Stored dispatch is what `dispatch` says of the repository right after.
fn check_written(seen: &Seen) -> Check {
    let (state, now) = (&seen.after().state, seen.now);
    require(seen.step.rule == seen.due.rule, || {
        "the step names another rule".to_owned()
    })?;
    // Advice about the tree and the contract is given where it was measured.
    require(
        without_advice(&seen.step.next) == without_advice(now),
        || format!("said {:?}\nmeasured {now:?}", seen.step.next),
    )?;
    require(
        state.next_mandatory_role.0 == now.role
            && state.current_phase == now.phase
            && state.next_mandatory_action == now.action,
        || {
            format!(
                "stored {:?} {:?}, measured {now:?}",
                state.next_mandatory_role, state.current_phase
            )
        },
    )?;
    let open: BTreeSet<&String> = seen
        .after()
        .plan
        .open_slices()
        .flat_map(|slice| &slice.contract_ids)
        .collect();
    require(
        open == state.unsatisfied_contract_ids.iter().collect(),
        || "the unsatisfied contracts are not those of the open slices".to_owned(),
    )?;
    require(
        state.project_done == (state.continuation_policy == Policy::Done),
        || "project_done differs from the policy".to_owned(),
    )
}

/// Counters never fall, the sequence grows by one, a role's event spends a step.
fn check_counters(seen: &Seen) -> Check {
    let (before, after) = (&seen.before.counters, &seen.after().counters);
    require(
        seen.after().ledger.seq.0 == seen.before.ledger.seq.0 + 1,
        || "the sequence does not grow by one".to_owned(),
    )?;
    let attempts_kept = before
        .attempts
        .iter()
        .all(|(id, spent)| after.attempts.get(id).is_some_and(|now| now.0 >= spent.0));
    require(
        attempts_kept
            && after.steps.0 >= before.steps.0
            && after.refused.0 >= before.refused.0
            && after.waves.0 >= before.waves.0
            && after.cost_micro_usd.0 >= before.cost_micro_usd.0
            && after.granted.steps >= before.granted.steps
            && after.granted.attempts_per_slice >= before.granted.attempts_per_slice
            && seen.after().ledger.scripted_commands.0 >= seen.before.ledger.scripted_commands.0,
        || "a counter fell".to_owned(),
    )?;
    let undone = &seen.after().undone.seqs;
    require(
        seen.before
            .undone
            .seqs
            .iter()
            .all(|seq| undone.contains(seq)),
        || "an undone record counts again".to_owned(),
    )?;
    let role = seen.offer.event.submission().is_some()
        || matches!(seen.offer.event, Event::Refused { .. });
    require(after.steps.0 == before.steps.0 + u64::from(role), || {
        "steps are not what roles spent".to_owned()
    })
}

/// `done` only by a conclusion with the required votes at this HEAD and wave.
fn check_done(seen: &Seen) -> Check {
    let was = seen.before.state.continuation_policy == Policy::Done;
    if seen.after().state.continuation_policy != Policy::Done || was {
        return Ok(());
    }
    let concluded = seen
        .block()
        .is_some_and(|block| block.conclude == Some(Conclude::Stop));
    require(concluded && seen.due.rule == Rule::Conclude, || {
        "done without a conclusion".to_owned()
    })?;
    let head = seen
        .facts
        .head
        .as_ref()
        .and_then(|head| head.commit.clone());
    let votes = &seen.before.ledger.wave.votes;
    let sessions: BTreeSet<_> = votes.iter().map(|vote| &vote.session).collect();
    let agreed = votes.iter().all(|vote| {
        vote.can_stop
            && vote.blocker_count.0 == 0
            && vote.high_value_gap_count.0 == 0
            && Some(&vote.head) == head.as_ref()
    });
    require(
        agreed && sessions.len() as u64 >= seen.before.profile.required_stop_judges.0,
        || format!("done with the votes {votes:?} at {head:?}"),
    )?;
    let untrusted = seen.facts.untrusted.as_ref();
    require(
        untrusted.is_some_and(|commands| !commands.contains(STOP_VERIFIER)),
        || "done by a stop verifier that nobody trusts".to_owned(),
    )?;
    require(
        seen.facts.stop_verifier.as_ref().is_some_and(|run| {
            run.receipt.as_ref().is_some_and(|receipt| {
                receipt.exit_code == Some(0) && receipt.proves() && receipt.caches == Caches::Empty
            })
        }) && seen
            .facts
            .worktree
            .as_ref()
            .is_some_and(|tree| tree.dirty.is_empty())
            && seen.after().plan.open_slices().next().is_none(),
        || "done on red, on dirt, or with open slices".to_owned(),
    )
}

/// A slice is done only by an accepted reconciliation with proof of each criterion.
fn check_slices_accepted(seen: &Seen) -> Check {
    if seen.starts_over() {
        return Ok(());
    }
    for slice in &seen.after().plan.candidate_slices {
        let was = seen.before.plan.slice(&slice.slice_id);
        let done_before = was.is_some_and(|slice| slice.status == SliceStatus::Done);
        if slice.status != SliceStatus::Done || done_before {
            continue;
        }
        let id = &slice.slice_id;
        let reconciled = seen
            .block()
            .and_then(|block| block.reconcile.as_ref())
            .is_some_and(|reconcile| {
                reconcile.decision == Decision::Accepted && &reconcile.slice_id == id
            });
        require(reconciled && seen.due.rule == Rule::Reconcile, || {
            format!("{id} is done without a reconciliation")
        })?;
        let ledger = &seen.before.ledger.slices[id];
        let reviewed = ledger.review.as_deref().is_some_and(|review| {
            review.acceptable
                && review.fails.is_empty()
                && Some(&review.commit) == ledger.head.as_ref()
        });
        let audited = ledger
            .audit
            .as_deref()
            .is_some_and(|audit| Some(&audit.commit) == ledger.head.as_ref());
        let audited = audited || !super::by_cook::owes_audit(seen.before);
        require(reviewed && audited, || {
            format!("{id} is done without review and audit of its commit")
        })?;
        let same = was.is_some_and(|was| was.acceptance_criteria == slice.acceptance_criteria);
        require(same, || {
            format!("{id} is done with criteria nobody reviewed")
        })?;
        require(
            seen.facts
                .worktree
                .as_ref()
                .is_some_and(|tree| tree.dirty.is_empty()),
            || format!("{id} is done on a dirty tree"),
        )?;
        let mut targets = BTreeSet::new();
        for criterion in &slice.acceptance_criteria {
            let proof = slice
                .evidence
                .iter()
                .filter_map(Evidence::record)
                .find(|record| &record.criterion == criterion);
            let answer = proof.and_then(|proof| find_answer(seen, id, criterion, &proof.anchor));
            let holds = answer.is_some_and(|answer| {
                matches!(answer.verdict, Verdict::Verified | Verdict::Moved)
                    && (answer.text.is_some() || answer.receipt.is_some())
                    && targets.insert(answer.target.clone())
            });
            require(holds, || {
                format!("{id} is done without proof of {criterion}")
            })?;
        }
        let records = &seen.step.records.slice;
        require(records.iter().any(|record| &record.slice_id == id), || {
            format!("{id} is done and no record says so")
        })?;
    }
    Ok(())
}

/// A slice comes into work only on a clean tree with the contract committed.
fn check_selected_clean(seen: &Seen) -> Check {
    let working = |snapshot: &Snapshot| {
        matches!(
            snapshot.active.status,
            ActiveStatus::Selected | ActiveStatus::InProgress | ActiveStatus::Committed
        )
        .then(|| snapshot.active.slice_id.clone())
        .flatten()
    };
    let (was, is) = (working(seen.before), working(seen.after()));
    if is.is_none() || was == is || seen.starts_over() {
        return Ok(());
    }
    let clean = seen
        .facts
        .worktree
        .as_ref()
        .is_some_and(|tree| tree.dirty.is_empty());
    let committed = seen
        .facts
        .contract_uncommitted
        .as_ref()
        .is_some_and(Vec::is_empty);
    require(clean && committed && seen.block().is_some(), || {
        format!("{is:?} is selected on a dirty tree or an uncommitted contract")
    })?;
    require(
        seen.before.active.status != ActiveStatus::Committed
            || seen.due.rule == Rule::Reconcile
            || seen.due.rule == Rule::Recover,
        || "another slice is selected while one is committed".to_owned(),
    )?;
    let slice = is.and_then(|id| seen.after().plan.slice(&id).cloned());
    require(
        slice.is_some_and(|slice| {
            slice.blocked_on.iter().all(|entry| {
                seen.after()
                    .plan
                    .slice(entry)
                    .is_some_and(|other| other.status == SliceStatus::Done || other.is_satisfied())
            })
        }),
        || "a slice that waits is selected".to_owned(),
    )
}

/// No slice is removed, no criterion lost without proof.
fn criteria_stay(seen: &Seen) -> Check {
    if seen.starts_over() {
        return Ok(());
    }
    for slice in &seen.before.plan.candidate_slices {
        let id = &slice.slice_id;
        let Some(now) = seen.after().plan.slice(id) else {
            return Err(format!("{id} was removed"));
        };
        for criterion in &slice.acceptance_criteria {
            let kept = now.acceptance_criteria.contains(criterion);
            let proved = seen.block().is_some_and(|block| {
                block.evidence.iter().any(|claim| {
                    &claim.criterion == criterion
                        && claim.slice_id.as_ref() == Some(id)
                        && claim.anchor.starts_with("test:good")
                })
            });
            let amended = matches!(&seen.offer.event, Event::CriterionAmended { slice_id, .. } if slice_id == id)
                && seen
                    .after()
                    .ledger
                    .amendments
                    .iter()
                    .any(|amendment| &amendment.old == criterion);
            require(kept || proved || amended, || {
                format!("{id} lost `{criterion}`")
            })?;
        }
        require(
            !now.acceptance_criteria.is_empty() || slice.acceptance_criteria.is_empty(),
            || format!("{id} has no criteria"),
        )?;
    }
    Ok(())
}

/// The sequences of the rejections that count or are owed.
fn rejections(snapshot: &Snapshot) -> BTreeSet<String> {
    let votes = snapshot.ledger.wave.votes.iter();
    votes
        .filter(|vote| !vote.can_stop)
        .map(|vote| format!("no-{}", vote.seq.0))
        .chain(snapshot.ledger.unanswered.iter().map(|no| no.id.clone()))
        .collect()
}

/// A no leaves only by an answer, by a conclusion of its own wave, or with its mission.
fn noes_stay(seen: &Seen) -> Check {
    if matches!(seen.offer.event, Event::Refocused { .. }) {
        return Ok(());
    }
    let concluded = seen.due.rule == Rule::Conclude
        && seen
            .block()
            .is_some_and(|block| matches!(block.conclude, Some(Conclude::GoOn { .. })));
    let kept = rejections(seen.after());
    if let Event::Undone { to, .. } = &seen.offer.event {
        require(rejections(to).is_subset(&kept), || {
            "a no whose answer was taken back is lost".to_owned()
        })?;
    }
    for no in rejections(seen.before) {
        let answered = seen
            .block()
            .is_some_and(|block| block.answers.iter().any(|answer| answer.no == no));
        require(kept.contains(&no) || answered || concluded, || {
            format!("{no} is lost")
        })?;
    }
    let ids: Vec<&String> = seen
        .after()
        .ledger
        .unanswered
        .iter()
        .map(|no| &no.id)
        .collect();
    let distinct: BTreeSet<&&String> = ids.iter().collect();
    require(distinct.len() == ids.len(), || {
        "a no is owed twice".to_owned()
    })
}

/// A contract that it left to the plan is that of no slice which is open or done.
fn gives_up(snapshot: &Snapshot, audit: &AuditNote) -> bool {
    let slices = snapshot.plan.candidate_slices.iter();
    let held = slices.filter(|slice| slice.status.is_open() || slice.rests_on_proof());
    let held: BTreeSet<&String> = held.flat_map(|slice| &slice.contract_ids).collect();
    audit
        .planned
        .iter()
        .any(|contract| !held.contains(contract))
}

/// What an audit finds not in order stands until a re-ground answers it or a later audit takes its
/// place; no judge is asked before that.
fn audits_stay(seen: &Seen) -> Check {
    let open = |snapshot: &Snapshot| {
        let audit = snapshot.ledger.open_audit.as_deref();
        let rejecting = audit.filter(|audit| audit.rejects || gives_up(snapshot, audit));
        rejecting.map(|audit| audit.seq.0)
    };
    let after = open(seen.after());
    require(
        !matches!(seen.now.rule, Rule::Judge | Rule::Conclude) || after.is_none(),
        || "judges are asked while an audit waits for an answer".to_owned(),
    )?;
    if seen.starts_over() {
        return Ok(());
    }
    let answered = |seq: u64| {
        let id = format!("audit-{seq}");
        let block = seen.block();
        block.is_some_and(|block| block.answers.iter().any(|answer| answer.no == id))
    };
    let audits = |snapshot: &Snapshot| {
        let slices = snapshot.ledger.slices.values();
        let notes = slices.flat_map(|slice| [slice.audit.clone(), slice.earlier_audit.clone()]);
        let notes: Vec<_> = notes.flatten().collect();
        notes
    };
    let later = |seq: u64| audits(seen.before).iter().any(|audit| audit.seq.0 > seq);
    if let Some(seq) = open(seen.before) {
        require(after == Some(seq) || answered(seq) || later(seq), || {
            format!("audit {seq} is lost")
        })?;
    }
    let kept = audits(seen.after());
    for audit in audits(seen.before).iter().filter(|audit| audit.rejects) {
        let seq = audit.seq.0;
        let is_kept = kept.iter().any(|known| known.seq.0 == seq) || after == Some(seq);
        require(is_kept || answered(seq) || later(seq), || {
            format!("audit {seq} of a slice is lost")
        })?;
    }
    Ok(())
}

/// A review's no stands, or is shown as the one before, until its slice is accepted or a later
/// review takes its place; once its criteria are others it leaves by an answer, by work that is
/// taken up again, or by the user.
fn reviews_stay(seen: &Seen) -> Check {
    if matches!(seen.offer.event, Event::Refocused { .. }) {
        return Ok(());
    }
    for (id, was) in &seen.before.ledger.slices {
        let noes = [&was.review, &was.sent_back].into_iter().flatten();
        let noes = noes.filter(|review| review.rejects());
        let Some(newest) = noes.map(|review| review.seq.0).max() else {
            continue;
        };
        let Some(slice) = seen.after().plan.slice(id) else {
            continue;
        };
        let was_done = |slice: &cook_protocol::model::Slice| slice.status == SliceStatus::Done;
        let accepted = was_done(slice) && !seen.before.plan.slice(id).is_some_and(was_done);
        let now = seen.after().ledger.slices.get(id);
        let now = now.map(|now| [&now.review, &now.sent_back].into_iter().flatten());
        let kept = now.is_some_and(|mut now| now.any(|review| review.seq.0 >= newest));
        require(kept || accepted, || format!("the no to {id} is lost"))?;
    }
    let before = &seen.before.active;
    let after = &seen.after().active;
    let stays = before.status == ActiveStatus::Committed
        && after.status == ActiveStatus::Committed
        && before.slice_id == after.slice_id;
    let (Some(id), Some(block), true) = (&before.slice_id, seen.block(), stays) else {
        return Ok(());
    };
    let review = |snapshot: &Snapshot| {
        let ledger = snapshot.ledger.slices.get(id)?;
        let review = ledger.review.as_deref().filter(|review| review.rejects())?;
        Some(review.seq.0)
    };
    let Some(no) = review(seen.before) else {
        return Ok(());
    };
    let answered = block
        .answers
        .iter()
        .any(|answer| answer.no == format!("review-{no}"));
    require(answered || review(seen.after()) == Some(no), || {
        format!("review-{no} is gone without an answer")
    })
}

/// No judge is asked, and nothing is done, while what only cancelled slices took up is unanswered: the
/// last review's no to one, and what the user said.
fn check_cancelled_leave_nothing(seen: &Seen) -> Check {
    let after = seen.after();
    let ends = matches!(seen.now.rule, Rule::Judge | Rule::Conclude)
        || after.state.continuation_policy == Policy::Done;
    if !ends {
        return Ok(());
    }
    let is_answered = |id: String| {
        let mut answered = after.ledger.answered_rejections.iter();
        answered.any(|answered| answered.no.id == id)
    };
    let slices = || after.plan.candidate_slices.iter().map(|slice| &**slice);
    let is_cancelled = |slice: &&Slice| slice.status == SliceStatus::Cancelled;
    for slice in slices().filter(is_cancelled) {
        let Some(ledger) = after.ledger.slices.get(&slice.slice_id) else {
            continue;
        };
        let reviews = [&ledger.review, &ledger.sent_back].into_iter().flatten();
        let last = reviews.max_by_key(|review| review.seq.0);
        let no = last.filter(|review| review.rejects());
        let is_open = no.filter(|no| !is_answered(format!("review-{}", no.seq.0)));
        require(is_open.is_none(), || {
            format!("{is_open:?} is nobody's any more")
        })?;
        let audits = [&ledger.audit, &ledger.earlier_audit].into_iter().flatten();
        let last = audits.max_by_key(|audit| audit.seq.0);
        let no = last.filter(|audit| audit.rejects);
        let is_open = no.filter(|no| !is_answered(format!("audit-{}", no.seq.0)));
        require(is_open.is_none(), || {
            format!("{is_open:?} is nobody's any more")
        })?;
    }
    for answer in &after.ledger.answers {
        let note = answer.note();
        let has = |slice: &&Slice| slice.locked_notes.iter().flatten().any(|it| *it == note);
        let was_taken_up = slices().filter(is_cancelled).any(|slice| has(&slice));
        let is_taken_up = slices()
            .filter(|slice| !is_cancelled(slice))
            .any(|it| has(&it));
        require(
            !was_taken_up || is_taken_up || is_answered(answer.id()),
            || format!("{} binds nobody any more", answer.id()),
        )?;
    }
    Ok(())
}

/// What an implementer said of the plan and of risks stands until its slice is accepted; what it gave
/// a slice back for until a re-ground decides.
fn remarks_stay(seen: &Seen) -> Check {
    if seen.starts_over() {
        return Ok(());
    }
    for (id, was) in &seen.before.ledger.slices {
        let Some(remarked) = &was.remarked else {
            continue;
        };
        let slice = seen.after().plan.slice(id);
        let is_done = slice.is_none_or(|slice| slice.status == SliceStatus::Done);
        let now = seen.after().ledger.slices.get(id);
        let now = now.and_then(|now| now.remarked.as_ref());
        let is_kept = now.is_some_and(|now| now.contains(remarked.as_str()));
        require(is_kept || is_done, || {
            format!("what was said of {id} is lost: {remarked}")
        })?;
    }
    let decides = seen.block().is_some_and(|block| block.policy.is_none());
    let (before, after) = (&seen.before.ledger.returned, &seen.after().ledger.returned);
    require(before.is_none() || after.is_some() || decides, || {
        "why a slice was given back is lost".to_owned()
    })
}

/// A vote appears only by a judge's report, as it was given.
fn votes_are_cast(seen: &Seen) -> Check {
    for vote in &seen.after().ledger.wave.votes {
        if seen.before.ledger.wave.votes.contains(vote) {
            continue;
        }
        let cast = matches!(&seen.offer.event, Event::Judged { verdicts, submission }
            if verdicts.positive == vote.can_stop
                && verdicts.blocker_count == vote.blocker_count
                && submission.session == vote.session);
        let head = seen
            .facts
            .head
            .as_ref()
            .and_then(|head| head.commit.clone());
        require(
            cast && seen.due.rule == Rule::Judge && head.as_ref() == Some(&vote.head),
            || format!("{vote:?} was cast by nobody"),
        )?;
        require(is_green(seen.before, seen.facts), || {
            format!("{vote:?} was cast where no gate was green")
        })?;
        require(
            seen.step.records.stop.len() == 1
                && seen.step.records.stop[0].stop_wave_id
                    == Some(seen.after().state.current_stop_wave_id),
            || "the judgment is not recorded in its wave".to_owned(),
        )?;
    }
    Ok(())
}

/// HEAD's tree was looked at in a clean room, and every gate was green.
fn is_green(snapshot: &Snapshot, facts: &Facts) -> bool {
    let tree = facts.head.as_ref().and_then(|head| head.tree.as_ref());
    let room = snapshot.ledger.room.as_ref();
    room.is_some_and(|room| Some(&room.tree) == tree && room.red.is_empty())
}

/// The wave number grows by one where judges are asked anew, and nowhere else.
/// A stop in between (rule S) suspends a wave and does not end it, unless HEAD moved.
fn waves_are_counted(seen: &Seen) -> Check {
    let before = seen.before.state.current_stop_wave_id.0;
    let after = seen.after().state.current_stop_wave_id.0;
    let opened = after - before;
    let asked =
        |rule: Rule, snapshot: &Snapshot| rule == Rule::Judge && is_green(snapshot, seen.facts);
    let begins = asked(seen.now.rule, seen.after()) && !asked(seen.due.rule, seen.before);
    let resumed = seen.due.rule == Rule::Stopped && seen.before.ledger.wave.running;
    if opened == 0 {
        return require(!begins || resumed, || {
            "judges are asked anew and no wave was opened".to_owned()
        });
    }
    require(opened == 1 && begins, || {
        format!(
            "the wave grew by {opened} where rule {} follows {}",
            seen.now.rule, seen.due.rule
        )
    })?;
    require(seen.after().ledger.wave.votes.is_empty(), || {
        "a new wave begins with votes".to_owned()
    })
}

/// After an accepted re-ground no condition of rule 2 holds but a gate that is red from then on.
fn lemma(seen: &Seen) -> Check {
    let red = seen
        .facts
        .room
        .as_ref()
        .is_some_and(|room| !room.red.is_empty());
    require(
        seen.block().is_none() || red || seen.now.rule != Rule::Recover,
        || format!("rule 2 answers after a re-ground: {}", seen.now.reason),
    )
}

/// Whatever stops the work names the command that leaves it.
fn exits_are_named(seen: &Seen) -> Check {
    let silent = seen.now.rule == Rule::Stopped
        && seen.now.blocking_command.is_none()
        && seen.now.policy != Policy::Done;
    require(!silent, || "the stopped work names no way out".to_owned())
}
