//! Rejections and what answers them: an answer holds no longer than the slices that it rests on.

use super::CORE;
use super::events::{Bounds, asks, audit, claims, first_plan, reconcile, slice_plan, submission};
use super::explore::try_event;
use super::walk::Walk;
use super::world::Touch;
use cook_protocol::diagnostic::Code;
use cook_protocol::machine::{Rule, find_audit_to_answer, open_audit};
use cook_protocol::model::{
    Actor, AnswerTo, CancelledSlice, Conclude, Count, Decision, Event, PAUSED_BY_HAND, PlaceAnswer,
    PlanBlock, Reground, Reopen, Resume, Role, Slice, SliceStatus, Verdicts,
};

const ONE: Bounds = Bounds {
    max_slices: 2,
    ..CORE
};

/// A judge's no that slice `b` takes up, in these words.
fn walk_taken_up(reason: &str) -> Walk {
    let mut walk = Walk::new(ONE);
    walk.reach_wave();
    walk.take(walk.report_judged(false));
    let plan = slice_plan("b", &[], &walk.bounds);
    walk.take(walk.reground(|block| {
        block.answers.clear();
        block.plan = Some(PlanBlock {
            add: vec![plan],
            ..PlanBlock::default()
        });
        block.conclude = Some(Conclude::GoOn {
            reason: Some(reason.to_owned()),
        });
    }));
    walk
}

fn cancel(block: &mut Reground, id: &str) {
    block.plan = Some(PlanBlock {
        cancel: vec![CancelledSlice {
            slice_id: id.to_owned(),
            reason: "not wanted".to_owned(),
        }],
        ..PlanBlock::default()
    });
}

#[test]
fn a_no_is_owed_again_once_the_slice_that_takes_it_up_is_cancelled() {
    for reason in ["slice b takes it up", "it is taken up"] {
        let mut walk = walk_taken_up(reason);
        let answered = &walk.snapshot.ledger.answered_rejections;
        assert_eq!(answered[0].slices, ["b"], "{reason}");
        let id = answered[0].no.id.clone();
        let bare = walk.reground(|block| {
            block.answers.clear();
            cancel(block, "b");
        });
        walk.refuse(bare, Code::NoUnanswered);
        let told = walk.reground(|block| {
            cancel(block, "b");
            block.answers = vec![AnswerTo {
                no: id.clone(),
                reason: "the judge read an old page".to_owned(),
            }];
        });
        walk.take(told);
        let answered = &walk.snapshot.ledger.answered_rejections;
        assert_eq!(answered.len(), 1);
        assert_eq!(answered[0].answer, "the judge read an old page");
        assert!(answered[0].slices.is_empty());
        walk.drive();
    }
}

#[test]
fn a_slice_that_was_built_answers_for_good() {
    let mut walk = walk_taken_up("b closes it");
    walk.drive();
    assert!(walk.snapshot.ledger.unanswered.is_empty());
    assert_eq!(walk.snapshot.ledger.answered_rejections.len(), 1);
}

#[test]
fn what_the_user_cancels_leaves_the_no_owed() {
    let mut walk = walk_taken_up("b closes it");
    walk.take(Event::Cancelled {
        why: "enough".to_owned(),
    });
    assert_eq!(walk.snapshot.ledger.unanswered.len(), 1);
    assert!(walk.snapshot.ledger.answered_rejections.is_empty());
    walk.drive();
}

#[test]
fn what_is_asked_for_is_the_answer_that_lacks() {
    let mut walk = Walk::new(Bounds { judges: 2, ..ONE });
    walk.reach_wave();
    walk.take(walk.report_judged(false));
    walk.take(walk.report_judged(false));
    walk.take(Event::Refocused {
        mission: "the same, in other words".to_owned(),
    });
    let owed = walk.snapshot.ledger.unanswered.clone();
    let [first, second] = &owed[..] else {
        panic!("{owed:?}");
    };
    let half = walk.reground(|block| block.answers.retain(|answer| answer.no == first.id));
    let (mood, budget) = (&walk.mood, &walk.budget);
    let tried = try_event(
        &walk.snapshot,
        &walk.world,
        mood,
        budget,
        &half,
        Actor::Role,
    );
    let refusal = tried.1.unwrap_err();
    assert_eq!(refusal.code, Code::NoUnanswered);
    assert!(refusal.message.contains(&second.id), "{refusal:?}");
    assert!(refusal.hints[0].contains(&second.id), "{refusal:?}");
}

#[test]
fn no_rejection_ends_with_a_mission() {
    let refocused = || Event::Refocused {
        mission: "the same, in other words".to_owned(),
    };
    let mut walk = Walk::new(ONE);
    walk.reach_wave();
    walk.take(walk.report_judged(false));
    walk.take(refocused());
    assert_eq!(walk.snapshot.ledger.unanswered.len(), 1);
    assert_eq!(walk.rule(), Rule::Recover);
    let silent = walk.reground(|block| block.answers.clear());
    walk.refuse(silent, Code::NoUnanswered);
    walk.drive();
    // Nor what a review or an audit of a slice asks for.
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.implement(false);
    walk.take(make_audited(&walk, audit(false)));
    walk.take(refocused());
    let owed = &walk.snapshot.ledger.unanswered;
    let owed: Vec<&str> = owed.iter().map(|no| &no.id[..6]).collect();
    assert_eq!(owed, ["review", "audit-"]);
}

fn make_audited(walk: &Walk, verdicts: Verdicts) -> Event {
    Event::Audited {
        verdicts,
        submission: submission(&walk.snapshot, Role::Auditor),
    }
}

#[test]
fn what_a_later_audit_leaves_out_is_told_to_the_judges() {
    let mut walk = Walk::new(Bounds { slices: 2, ..ONE });
    walk.plan_and_select();
    walk.implement(true);
    walk.take(make_audited(&walk, audit(false)));
    let earlier = format!("audit-{}", walk.snapshot.ledger.seq.0);
    walk.take(walk.report_accepted("a"));
    walk.take(walk.reground(|block| {
        block.answers.clear();
        block.select = Some("b".to_owned());
    }));
    walk.drive();
    let answered = &walk.snapshot.ledger.answered_rejections;
    let told = answered.iter().find(|told| told.no.id == earlier).unwrap();
    assert!(
        told.answer.ends_with("names: nothing open"),
        "{}",
        told.answer
    );
}

/// An audit that names contracts as open, and nothing else.
fn name_open(contracts: &[&str], weighs_plan: bool) -> Verdicts {
    Verdicts {
        weighs_plan,
        open_contract_ids: contracts.iter().map(|&id| id.to_owned()).collect(),
        blocker_count: Count(0),
        ..audit(false)
    }
}

/// The audit of the first of two slices, and the walk after it.
fn audit_first(verdicts: Verdicts) -> (Walk, String) {
    let mut walk = Walk::new(Bounds { slices: 2, ..ONE });
    walk.plan_and_select();
    walk.implement(true);
    walk.take(make_audited(&walk, verdicts));
    let id = format!("audit-{}", walk.snapshot.ledger.seq.0);
    (walk, id)
}

#[test]
fn work_of_the_plan_that_an_audit_calls_open_is_owed_no_answer() {
    let (mut walk, id) = audit_first(name_open(&["C-a", "C-b"], true));
    assert_eq!(open_audit(&walk.snapshot), None);
    walk.drive_until(Walk::is_done);
    let answered = &walk.snapshot.ledger.answered_rejections;
    assert!(answered.iter().all(|it| it.no.id != id), "{answered:?}");
    // One of an earlier build stays what it was.
    let (walk, id) = audit_first(name_open(&["C-a", "C-b"], false));
    let owed = find_audit_to_answer(&walk.snapshot).map(|no| no.id);
    assert_eq!(owed, Some(id));
}

#[test]
fn what_no_slice_of_the_plan_brings_about_is_owed_an_answer() {
    let lies: [fn(&mut Verdicts); 4] = [
        |said| said.open_contract_ids.push("C-z".to_owned()),
        |said| said.blocker_count = Count(1),
        |said| said.high_value_gap_count = Count(1),
        |said| said.fails = vec!["correctness_risk".to_owned()],
    ];
    for lie in lies {
        let mut verdicts = name_open(&["C-b"], true);
        lie(&mut verdicts);
        let (walk, id) = audit_first(verdicts);
        let owed = find_audit_to_answer(&walk.snapshot).map(|no| no.id);
        assert_eq!(owed, Some(id));
    }
}

/// The plan was the answer, and goes.
#[test]
fn an_audit_is_owed_an_answer_once_the_slice_that_it_counts_on_is_cancelled() {
    let (walk, id) = audit_first(name_open(&["C-b"], true));
    let proof = claims(walk.snapshot.plan.slice("a").unwrap(), "good");
    let report = |answers: Vec<AnswerTo>| {
        walk.reground(|block| {
            block.reconcile = reconcile("a", Decision::Accepted);
            block.evidence = proof.clone();
            block.answers = answers;
            cancel(block, "b");
        })
    };
    let answer = AnswerTo {
        no: id.clone(),
        reason: "the mission does not need it".to_owned(),
    };
    let mut at_once = walk.clone();
    at_once.refuse(report(Vec::new()), Code::NoUnanswered);
    at_once.take(report(vec![answer]));
    let answered = &at_once.snapshot.ledger.answered_rejections;
    assert!(answered.iter().any(|it| it.no.id == id), "{answered:?}");
    at_once.drive();
    // The user cancels it later: the next re-ground answers.
    let mut later = walk.clone();
    later.take(later.report_accepted("a"));
    assert_eq!(open_audit(&later.snapshot), None);
    later.take(later.reground(|block| {
        block.answers.clear();
        cancel(block, "b");
        block.policy = asks();
    }));
    let owed = open_audit(&later.snapshot).map(|no| no.id);
    assert_eq!(owed, Some(id));
}

/// Reopened after a review's no, given back, planned again: nothing of that answers the review.
/// Of two audits of one slice the judges read what the first found and the second leaves out.
#[test]
fn what_a_later_audit_of_the_same_slice_leaves_out_is_told_to_the_judges() {
    let voids: [fn(&mut Walk); 3] = [
        |walk| {
            walk.take(make_said("greet politely"));
        },
        |walk| {
            walk.own_commit();
            walk.take(walk.report_implemented());
        },
        |walk| {
            walk.take(Event::Resumed(Resume {
                review_again: true,
                ..Resume::default()
            }));
        },
    ];
    for (times, void) in [1, 2]
        .into_iter()
        .flat_map(|times| voids.map(|void| (times, void)))
    {
        let mut walk = Walk::new(ONE);
        walk.drive_until(|walk| walk.rule() == Rule::Audit);
        let mut noes = Vec::new();
        for time in 0..times {
            walk.drive_until(|walk| walk.rule() == Rule::Audit);
            let mut verdicts = audit(false);
            verdicts.findings = vec![format!("gap {time}: the usage is not written down")];
            walk.take(make_audited(&walk, verdicts));
            noes.push(format!("audit-{}", walk.snapshot.ledger.seq.0));
            void(&mut walk);
        }
        walk.drive_until(Walk::is_done);
        let answered = &walk.snapshot.ledger.answered_rejections;
        for no in &noes {
            let is_told = answered.iter().any(|answered| answered.no.id == *no);
            assert!(is_told, "{no} of {noes:?}: {answered:?}");
        }
    }
}

#[test]
fn a_reviews_no_is_owed_once_its_slice_is_cancelled() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.implement(false);
    let id = format!("review-{}", walk.snapshot.ledger.seq.0);
    walk.take(walk.report_audited());
    walk.take(walk.report_reopened("a"));
    walk.take(Event::Returned {
        slice_id: "a".to_owned(),
        why: "it is cut wrong".to_owned(),
        submission: submission(&walk.snapshot, Role::Implementer),
    });
    let mut refocused = walk.clone();
    let bare = walk.reground(|block| {
        block.answers.clear();
        cancel(block, "a");
    });
    walk.refuse(bare, Code::NoUnanswered);
    let mut cancelled = walk.clone();
    cancelled.take(Event::Cancelled {
        why: "enough".to_owned(),
    });
    cancelled.take(cancelled.resume());
    let silent = cancelled.reground(|block| block.answers.clear());
    cancelled.refuse(silent, Code::NoUnanswered);
    cancelled.drive();
    refocused.take(Event::Refocused {
        mission: "the same, in other words".to_owned(),
    });
    let owed = &refocused.snapshot.ledger.unanswered;
    assert!(owed.iter().any(|no| no.id == id), "{owed:?}");
    walk.take(walk.reground(|block| {
        cancel(block, "a");
        block.answers = vec![AnswerTo {
            no: id.clone(),
            reason: "what it rejects was taken back by hand".to_owned(),
        }];
    }));
    walk.drive();
    let answered = &walk.snapshot.ledger.answered_rejections;
    assert!(answered.iter().any(|answered| answered.no.id == id));
}

#[test]
fn what_the_user_said_of_a_cancelled_slice_is_answered() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.take(make_said("port 8080"));
    let id = format!("answer-{}", walk.snapshot.ledger.seq.0);
    walk.take(Event::Returned {
        slice_id: "a".to_owned(),
        why: "nobody needs it".to_owned(),
        submission: submission(&walk.snapshot, Role::Implementer),
    });
    let bare = walk.reground(|block| {
        block.answers.clear();
        cancel(block, "a");
    });
    walk.refuse(bare, Code::AnswerUnplaced);
    walk.take(walk.reground(|block| {
        cancel(block, "a");
        block.answers = vec![AnswerTo {
            no: id.clone(),
            reason: "there is no server any more".to_owned(),
        }];
    }));
    walk.drive();
}

#[test]
fn what_the_user_says_opens_what_is_done() {
    let mut walk = Walk::new(ONE);
    walk.drive();
    assert!(walk.is_done());
    walk.take(make_said("and the manual?"));
    assert_eq!(walk.rule(), Rule::Recover);
    walk.drive();
    assert!(walk.is_done());
}

/// What the user said while no slice was open is built, or answered by name; and a wave whose end asks the
/// user has answered no rejection.
#[test]
fn what_the_user_answers_to_the_judges_is_decided_on() {
    let mut walk = Walk::new(ONE);
    walk.reach_wave();
    walk.take(walk.report_judged(false));
    walk.take(walk.reground(|block| {
        block.conclude = Some(Conclude::GoOn {
            reason: Some("the user has to say".to_owned()),
        });
        block.policy = asks();
    }));
    assert_eq!(walk.snapshot.ledger.unanswered.len(), 1);
    assert!(walk.snapshot.ledger.answered_rejections.is_empty());
    walk.take(Event::Resumed(Resume {
        answer: Some("leave such keys out".to_owned()),
        ..Resume::default()
    }));
    assert_eq!(walk.rule(), Rule::Recover);
    let said = format!("answer-{}", walk.snapshot.ledger.seq.0);
    walk.refuse(
        walk.reground(|block| block.answers.clear()),
        Code::NoUnanswered,
    );
    let only = |walk: &Walk, of_user: bool| {
        walk.reground(|block| {
            block
                .answers
                .retain(|answer| (answer.no == said) == of_user);
        })
    };
    walk.refuse(only(&walk, true), Code::NoUnanswered);
    walk.refuse(only(&walk, false), Code::AnswerUnplaced);
    // Answered in words, both stand where the judges read them.
    let mut told = walk.clone();
    told.take(told.reground(|_| {}));
    assert_eq!(told.snapshot.ledger.answered_rejections.len(), 2);
    told.drive();
    // A slice takes up both: it is bound by the one and mends the other.
    let plan = slice_plan("b", &[], &walk.bounds);
    walk.take(walk.reground(|block| {
        block.answers.retain(|answer| answer.no != said);
        block.plan = Some(PlanBlock {
            add: vec![plan],
            ..PlanBlock::default()
        });
    }));
    assert_eq!(walk.snapshot.ledger.answered_rejections[0].slices, ["b"]);
    let slice = walk.snapshot.plan.slice("b").unwrap();
    let mut notes = slice.locked_notes.iter().flatten();
    assert!(notes.any(|note| note.contains(&said)));
    walk.drive();
    assert!(walk.is_done());
}

/// The user's edit is no answer.
#[test]
fn a_no_is_owed_again_once_the_user_edits_its_slice_away() {
    let mut walk = walk_taken_up("b closes it");
    let mut plan = walk.snapshot.plan.clone();
    plan.slice_mut("b").unwrap().status = SliceStatus::Cancelled;
    walk.take(Event::Adopted { plan });
    assert_eq!(walk.snapshot.ledger.unanswered.len(), 1);
    walk.drive();
}

#[test]
fn what_a_report_says_of_risks_stays_beside_later_ones() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    for risk in ["it leaks", "it is slow", "it leaks"] {
        walk.own_commit();
        let mut event = walk.report_implemented();
        if let Event::Implemented { submission, .. } = &mut event {
            let fields = &mut submission.report.fields;
            fields.insert("residual_risks_discovered".to_owned(), risk.to_owned());
        }
        walk.take(event);
    }
    let remarked = walk.snapshot.ledger.slices["a"].remarked.as_deref();
    assert_eq!(remarked, Some("it leaks\nit is slow"));
    walk.drive();
}

#[test]
fn a_report_that_opens_what_the_slice_in_work_waits_for_does_not_select_it() {
    let mut walk = Walk::new(Bounds { slices: 2, ..ONE });
    walk.plan_and_select();
    walk.implement(true);
    walk.take(walk.report_audited());
    walk.take(walk.report_accepted("a"));
    walk.take(walk.reground(|block| block.select = Some("b".to_owned())));
    walk.take(Event::Returned {
        slice_id: "b".to_owned(),
        why: "a is wrong".to_owned(),
        submission: submission(&walk.snapshot, Role::Implementer),
    });
    let opens = |id: &str| {
        walk.reground(|block| {
            block.reopen = vec![Reopen {
                slice_id: "a".to_owned(),
                why: "it is wrong".to_owned(),
                at: None,
            }];
            block.select = Some(id.to_owned());
        })
    };
    let (both, one) = (opens("b"), opens("a"));
    walk.refuse(both, Code::SelectBlocked);
    walk.take(one);
}

/// The reason of a pause, what stands beside a resume, and the reason of an end bind as an answer does.
#[test]
fn what_the_user_says_with_a_command_binds() {
    let heard = |walk: &Walk, text: &str| {
        let last = walk.snapshot.ledger.answers.last().unwrap();
        assert_eq!(last.answer, text);
        let note = last.note();
        let slices: Vec<&Slice> = walk.snapshot.plan.open_slices().collect();
        let has = |slice: &&Slice| slice.locked_notes.iter().flatten().any(|it| *it == note);
        assert!(!slices.is_empty() && slices.iter().all(has), "{text}");
    };
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.implement(true);
    let pause = |why: &str| Event::Paused {
        why: why.to_owned(),
    };
    walk.take(pause(PAUSED_BY_HAND));
    assert!(walk.snapshot.ledger.answers.is_empty());
    walk.take(walk.resume());
    assert_eq!(walk.rule(), Rule::Audit);
    walk.take(pause("the port must be 8080"));
    heard(&walk, "the port must be 8080");
    walk.take(Event::Resumed(Resume {
        answer: Some("and the host as before".to_owned()),
        ..Resume::default()
    }));
    heard(&walk, "and the host as before");
    // The review was given without these words.
    assert_eq!(walk.rule(), Rule::Review);
    let mut ended = walk.clone();
    ended.take(Event::Cancelled {
        why: "nobody needs a server".to_owned(),
    });
    ended.take(ended.resume());
    let plan = slice_plan("b", &[], &ended.bounds);
    ended.take(ended.reground(|block| {
        block.plan = Some(PlanBlock {
            add: vec![plan],
            ..PlanBlock::default()
        });
    }));
    heard(&ended, "nobody needs a server");
    ended.drive();
    walk.drive();
    // Judges that voted without them vote again.
    let mut walk = Walk::new(Bounds { judges: 2, ..ONE });
    walk.reach_wave();
    walk.take(walk.report_judged(true));
    walk.take(pause("and the manual?"));
    assert!(walk.snapshot.ledger.wave.votes.is_empty());
    walk.take(walk.resume());
    walk.drive();
}

#[test]
fn a_no_to_commands_binds_and_the_plan_is_looked_at_again() {
    let mut walk = Walk::new(Bounds {
        commands: true,
        ..ONE
    });
    walk.mood.trusted = false;
    walk.plan_and_select();
    let answers = |text: &str| {
        Event::Resumed(Resume {
            answer: Some(text.to_owned()),
            ..Resume::default()
        })
    };
    for trusts in ["yes", "Yes, do.", " ", "none"] {
        walk.refuse(answers(trusts), Code::TrustMissing);
    }
    walk.take(answers("no: it deletes the home directory"));
    assert_eq!(walk.rule(), Rule::Recover);
    let known = walk.snapshot.ledger.answers.last().unwrap();
    assert!(known.question.contains("check a"), "{known:?}");
    let slice = walk.snapshot.plan.slice("a").unwrap();
    assert!(
        slice
            .locked_notes
            .iter()
            .flatten()
            .any(|note| *note == known.note())
    );
    walk.mood.trusted = true;
    walk.drive();
}

/// A slice that is cancelled before it is reconciled leaves what its audit says owed, as its review's no.
#[test]
fn an_audits_no_is_owed_once_its_slice_is_cancelled() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    walk.implement(true);
    walk.take(make_audited(&walk, audit(false)));
    let id = format!("audit-{}", walk.snapshot.ledger.seq.0);
    let answer = || {
        vec![AnswerTo {
            no: id.clone(),
            reason: "the slice that it speaks of is gone".to_owned(),
        }]
    };
    // By the user.
    let mut cancelled = walk.clone();
    cancelled.take(Event::Cancelled {
        why: "enough".to_owned(),
    });
    cancelled.take(cancelled.resume());
    let silent = cancelled.reground(|block| block.answers.clear());
    cancelled.refuse(silent, Code::NoUnanswered);
    cancelled.drive();
    let answered = &cancelled.snapshot.ledger.answered_rejections;
    assert!(answered.iter().any(|answered| answered.no.id == id));
    // By a plan, once its criteria are others and its commit is off HEAD.
    walk.take(Event::CriterionAmended {
        slice_id: "a".to_owned(),
        number: 1,
        text: "what was meant".to_owned(),
        reason: "the text was false".to_owned(),
    });
    walk.world.head = walk.world.commits[walk.world.head.unwrap()].parent;
    let bare = walk.reground(|block| {
        block.answers.clear();
        cancel(block, "a");
    });
    walk.refuse(bare, Code::NoUnanswered);
    walk.take(walk.reground(|block| {
        block.answers = answer();
        cancel(block, "a");
    }));
    let answered = &walk.snapshot.ledger.answered_rejections;
    assert!(answered.iter().any(|answered| answered.no.id == id));
    walk.drive();
}

/// What no re-ground has decided on is told to the next one, though the plan that it was said of is gone.
#[test]
fn what_was_not_decided_on_outlasts_the_plan() {
    let refocused: fn() -> Event = || Event::Refocused {
        mission: "the same, in other words".to_owned(),
    };
    let ended: fn() -> Event = || Event::Cancelled {
        why: "enough".to_owned(),
    };
    let tells = |walk: &Walk, words: &str| {
        let due = &walk.snapshot.ledger.due_for;
        assert!(
            due.iter().any(|cause| cause.contains(words)),
            "{words}: {due:?}"
        );
    };
    for ends in [refocused, ended] {
        let mut asked = Walk::new(ONE);
        asked.plan_and_select();
        let mut event = asked.report_asked(Role::Implementer);
        if let Event::Asked {
            question,
            submission,
            ..
        } = &mut event
        {
            "which port?".clone_into(question);
            let fields = &mut submission.report.fields;
            for (key, said) in [
                ("plan_adjustment_required", "yes"),
                ("residual_risks_discovered", "cut b in two"),
            ] {
                fields.insert(key.to_owned(), said.to_owned());
            }
        }
        asked.take(event);
        asked.take(ends());
        tells(&asked, "which port?");
        tells(&asked, "cut b in two");
        let mut returned = Walk::new(ONE);
        returned.plan_and_select();
        returned.take(Event::Returned {
            slice_id: "a".to_owned(),
            why: "it is cut wrong".to_owned(),
            submission: submission(&returned.snapshot, Role::Implementer),
        });
        returned.take(ends());
        let kept = returned.snapshot.ledger.returned.as_deref();
        if kept != Some("it is cut wrong") {
            tells(&returned, "it is cut wrong");
        }
        let mut blocked = Walk::new(ONE);
        blocked.plan_and_select();
        blocked.take(Event::Blocked {
            why: "the disk is full".to_owned(),
            exit: "df".to_owned(),
        });
        blocked.take(ends());
        tells(&blocked, "the disk is full");
    }
    let mut paused = Walk::new(ONE);
    paused.plan_and_select();
    paused.take(Event::Paused {
        why: "wait for the licence".to_owned(),
    });
    paused.take(refocused());
    tells(&paused, "wait for the licence");
    paused.drive();
}

fn make_said(text: &str) -> Event {
    Event::Said {
        text: text.to_owned(),
        session: None,
    }
}

/// A regrounder asks and the user answers; the name of that answer.
fn ask_and_answer(walk: &mut Walk) -> String {
    walk.foreign_commit(Touch::Surface);
    walk.take(walk.regrounder_asks());
    walk.take(Event::Resumed(Resume {
        answer: Some("leave such keys out".to_owned()),
        ..Resume::default()
    }));
    walk.snapshot.ledger.answers[0].id()
}

/// Where an answer binds is said of an answer and of slices that there are.
#[test]
fn an_answer_is_placed_by_its_name_on_slices_of_the_plan() {
    let mut walk = Walk::new(ONE);
    walk.plan_and_select();
    let said = ask_and_answer(&mut walk);
    let placing = |walk: &Walk, answer: &str, id: &str| {
        walk.reground(|block| {
            block.answers_to = vec![PlaceAnswer {
                answer: answer.to_owned(),
                slices: vec![id.to_owned()],
            }];
        })
    };
    walk.refuse(placing(&walk, &said, "nobody"), Code::SliceUnknown);
    walk.refuse(placing(&walk, "answer-0", "a"), Code::AnswerUnknown);
    walk.take(placing(&walk, &said, "a"));
}

/// An answer binds no slice that was closed before it was given, and a plan writes none itself.
#[test]
fn nothing_reads_as_an_answer_that_is_none() {
    let two = Bounds { slices: 2, ..ONE };
    let mut walk = Walk::new(two);
    let mut forged = first_plan(&two);
    let note = "user@answer-1: asked \"which?\", the user said: none";
    forged.candidate_slices[0].locked_notes = Some(vec![note.to_owned()]);
    walk.refuse(
        walk.reground(|block| block.plan = Some(forged)),
        Code::NoteForged,
    );
    walk.reach_rule_7(true);
    walk.take(walk.report_accepted("a"));
    walk.take(walk.reground(|block| block.select = Some("b".to_owned())));
    let said = ask_and_answer(&mut walk);
    let placed = walk.reground(|block| {
        block.answers_to = vec![PlaceAnswer {
            answer: said,
            slices: vec!["a".to_owned()],
        }];
    });
    walk.refuse(placed, Code::AnswerUnplaced);
}
