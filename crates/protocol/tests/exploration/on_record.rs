//! What somebody said stays on record: no no goes away but by an answer or by a later word of who said it, and
//! what the user says is weighed by a model.

use super::CORE;
use super::events::{Bounds, audit, plan_of, submission};
use super::invariants::{Check, Seen, require};
use super::walk::Walk;
use cook_protocol::diagnostic::Code;
use cook_protocol::machine::Rule;
use cook_protocol::model::{
    AnswerTo, Assurance, AuditNote, Event, Limits, PlanBlock, PlannedSlice, Reground, Resume,
    ReviewNote, Role, Snapshot,
};
use std::collections::BTreeSet;

const LITE: Bounds = Bounds {
    slices: 2,
    max_slices: 2,
    assurance: Assurance::Lite,
    ..CORE
};

const TWO: Bounds = Bounds {
    slices: 2,
    max_slices: 2,
    ..CORE
};

fn list_reviews(snapshot: &Snapshot, id: &str) -> Vec<ReviewNote> {
    let ledger = snapshot.ledger.slices.get(id);
    let reviews = ledger.map(|it| [it.review.clone(), it.sent_back.clone()]);
    let reviews = reviews.into_iter().flatten().flatten();
    let noes = reviews.filter(|review| review.rejects());
    noes.map(|review| *review).collect()
}

fn find_newest_audit(snapshot: &Snapshot) -> Option<AuditNote> {
    let ledger = &snapshot.ledger;
    let slices = ledger.slices.values();
    let audits = slices.flat_map(|it| [it.audit.clone(), it.earlier_audit.clone()]);
    let audits = audits.chain([ledger.open_audit.clone()]).flatten();
    audits.max_by_key(|audit| audit.seq.0).map(|audit| *audit)
}

/// Every no that somebody who decides is shown, or that waits for an answer.
fn list_noes(snapshot: &Snapshot) -> BTreeSet<String> {
    let ledger = &snapshot.ledger;
    let answered = ledger.answered_rejections.iter();
    let owed = ledger
        .unanswered
        .iter()
        .chain(answered.map(|answered| &answered.no));
    let votes = ledger.wave.votes.iter().filter(|vote| !vote.can_stop);
    let reviews = ledger
        .slices
        .keys()
        .flat_map(|id| list_reviews(snapshot, id));
    let audit = find_newest_audit(snapshot).filter(|audit| audit.rejects);
    owed.filter(|no| !no.id.starts_with("answer-"))
        .map(|no| no.id.clone())
        .chain(votes.map(|vote| format!("no-{}", vote.seq.0)))
        .chain(reviews.map(|review| format!("review-{}", review.seq.0)))
        .chain(audit.map(|audit| format!("audit-{}", audit.seq.0)))
        .collect()
}

/// Holds of each transition: a no is where it was, owed, or answered; or who said it said something else of
/// the same since; or a re-ground sent the slice back for it, as its history tells. A refocus keeps those that nobody
/// answered.
pub fn check_noes(seen: &Seen) -> Check {
    if matches!(seen.offer.event, Event::Refocused { .. }) {
        return Ok(());
    }
    let after = list_noes(seen.after());
    let newest_audit = [seen.before, seen.after()].map(find_newest_audit);
    let newest_audit = newest_audit.iter().flatten().map(|it| it.seq.0).max();
    for no in list_noes(seen.before) {
        let number = no
            .rsplit('-')
            .next()
            .and_then(|seq| seq.parse::<u64>().ok());
        let is_replaced = match no.split('-').next() {
            Some("audit") => newest_audit > number,
            Some("review") => seen.before.ledger.slices.keys().any(|id| {
                let was = |review: &ReviewNote| Some(review.seq.0) == number;
                let is_newer = |review: &ReviewNote| Some(review.seq.0) > number;
                let known = list_reviews(seen.before, id);
                let known = known.iter().find(|review| was(review));
                let sent_back_from = &seen.before.ledger.slices[id].last_head;
                known.is_some_and(|known| {
                    list_reviews(seen.after(), id).iter().any(is_newer)
                        || sent_back_from.as_ref() == Some(&known.commit)
                })
            }),
            _ => false,
        };
        require(after.contains(&no) || is_replaced, || {
            format!("{no} is on record nowhere any more")
        })?;
    }
    Ok(())
}

impl Walk {
    fn say(&mut self) {
        self.take(Event::Said {
            text: "greet in German too".to_owned(),
            session: None,
        });
    }

    fn resume_with(&mut self, resume: Resume) {
        let words = "greet in German too";
        self.take(Event::Resumed(Resume {
            answer: Some(words.to_owned()),
            ..resume
        }));
        let answers = &self.snapshot.ledger.answers;
        assert_eq!(answers.last().map(|it| it.answer.as_str()), Some(words));
        assert_eq!(self.snapshot.ledger.answered.as_deref(), Some(words));
    }

    fn is_owed(&self, id: &str) -> bool {
        let mut owed = self.snapshot.ledger.unanswered.iter();
        owed.any(|no| no.id == id)
    }

    fn find_answer(&self, id: &str) -> Option<&str> {
        let mut answered = self.snapshot.ledger.answered_rejections.iter();
        let known = answered.find(|answered| answered.no.id == id)?;
        Some(&known.answer)
    }

    fn derive_refusal(&self) -> String {
        self.by_cook()
            .map(|(kind, _)| kind.id().to_owned())
            .unwrap_err()
    }
}

#[test]
fn what_the_user_says_unasked_is_weighed_by_a_model() {
    let speak: [fn(&mut Walk); 3] = [
        Walk::say,
        |walk| {
            walk.take(Event::Paused {
                why: "greet in German too".to_owned(),
            });
            walk.take(walk.resume());
        },
        |walk| {
            walk.take(walk.pause());
            walk.resume_with(Resume::default());
        },
    ];
    for speak in speak {
        let mut walk = Walk::new(LITE);
        walk.plan_and_select();
        speak(&mut walk);
        walk.reach_review();
        assert_eq!(walk.rule(), Rule::Reconcile);
        let why = walk.derive_refusal();
        assert!(why.contains("a message of the user"), "{why}");
        walk.take(walk.report_accepted("a"));
        assert!(walk.snapshot.ledger.answered.is_none());
    }
}

#[test]
fn words_beside_whatever_a_resume_does_bind() {
    let mut walk = Walk::new(CORE);
    walk.plan_and_select();
    let budget = Limits {
        steps: Some(5),
        ..Limits::default()
    };
    walk.resume_with(Resume {
        budget: Some(budget),
        ..Resume::default()
    });
    let mut walk = Walk::new(CORE);
    walk.reach_rule_7(false);
    walk.resume_with(Resume {
        review_again: true,
        ..Resume::default()
    });
    let mut walk = Walk::new(CORE);
    walk.reach_wave();
    walk.resume_with(Resume {
        new_wave: true,
        ..Resume::default()
    });
    let mut walk = Walk::new(CORE);
    walk.plan_and_select();
    walk.resume_with(Resume {
        trust: vec!["make test".to_owned()],
        ..Resume::default()
    });
}

#[test]
fn a_no_to_what_the_work_was_before_is_weighed_by_a_model_and_read_by_the_judges() {
    let mut walk = Walk::new(LITE);
    walk.plan_and_select();
    walk.own_commit();
    walk.take(walk.report_implemented_with("good"));
    walk.take(walk.report_reviewed(false));
    let no = walk.snapshot.ledger.seq.0;
    walk.own_commit();
    walk.take(walk.report_implemented_with("good"));
    walk.take(walk.report_reviewed(true));
    let yes = walk.snapshot.ledger.seq.0;
    assert_eq!(walk.rule(), Rule::Reconcile);
    let why = walk.derive_refusal();
    assert!(why.contains("an earlier review of slice"), "{why}");
    walk.take(walk.report_accepted("a"));
    let answer = walk.find_answer(&format!("review-{no}"));
    assert_eq!(
        answer,
        Some(format!("review-{yes} came after it and says yes").as_str())
    );
}

#[test]
fn what_a_model_names_as_a_blocker_or_deviation_a_model_takes_back() {
    let mut walk = Walk::new(LITE);
    let plan = super::events::first_plan(&walk.bounds);
    let mut event = walk.reground(|block: &mut Reground| {
        block.plan = Some(plan);
        block.select = Some("a".to_owned());
    });
    if let Event::Regrounded { submission, .. } = &mut event {
        let field = "canonical_blockers_or_deviations".to_owned();
        let named = "the manual contradicts the mission".to_owned();
        submission.report.fields.insert(field, named);
    }
    walk.take(event);
    walk.reach_review();
    let why = walk.derive_refusal();
    assert!(why.contains("without a blocker or deviation"), "{why}");
    // A report that names none does.
    walk.take(walk.report_accepted("a"));
    assert!(walk.by_cook().is_ok());
}

/// An audit that is taken back, with the acceptance after it or alone, is owed an answer; so is what was
/// answered after it.
#[test]
fn no_no_goes_away_with_what_is_taken_back() {
    for transitions in 1..=4 {
        let mut walk = Walk::new(TWO);
        walk.plan_and_select();
        walk.implement(true);
        walk.take(Event::Audited {
            verdicts: audit(false),
            submission: submission(&walk.snapshot, Role::Auditor),
        });
        let id = format!("audit-{}", walk.snapshot.ledger.seq.0);
        let answer = |block: &mut Reground| {
            block.answers = vec![AnswerTo {
                no: id.clone(),
                reason: "the auditor read an old page".to_owned(),
            }];
        };
        let mut accepted = walk.report_accepted("a");
        if let Event::Regrounded { block, .. } = &mut accepted {
            answer(block);
        }
        walk.take(accepted);
        assert!(walk.find_answer(&id).is_some());
        walk.take(walk.undo(transitions));
        let stands = find_newest_audit(&walk.snapshot).is_some();
        assert!(stands || walk.is_owed(&id), "{transitions}");
        if !stands {
            let silent = walk.reground(|block| {
                block.answers.clear();
                block.plan = Some(PlanBlock::default());
            });
            walk.refuse(silent, Code::NoUnanswered);
        }
        walk.drive();
    }
}

/// A review's no whose slice goes with what is taken back.
#[test]
fn a_review_stays_without_its_slice() {
    let mut walk = Walk::new(CORE);
    walk.plan_and_select();
    walk.implement(false);
    let id = format!("review-{}", walk.snapshot.ledger.seq.0);
    walk.take(walk.undo(3));
    assert!(walk.snapshot.plan.candidate_slices.is_empty());
    assert!(walk.is_owed(&id));
    walk.drive();
    assert!(walk.find_answer(&id).is_some());
}

#[test]
fn what_a_done_slice_was_for_stays() {
    let mut walk = Walk::new(TWO);
    walk.reach_rule_7(true);
    walk.take(walk.report_accepted("a"));
    let changes: [fn(&mut PlannedSlice); 2] = [
        |planned| planned.goal = "something easier".to_owned(),
        |planned| planned.acceptance_criteria[0] = "something easier".to_owned(),
    ];
    for change in changes {
        let mut plan = plan_of(&walk.snapshot);
        change(&mut plan.candidate_slices[0]);
        let changed = walk.reground(|block| {
            block.plan = Some(plan);
            block.select = Some("b".to_owned());
        });
        walk.refuse(changed, Code::GoalChanged);
    }
    let plan = plan_of(&walk.snapshot);
    walk.take(walk.reground(|block| {
        block.plan = Some(plan);
        block.select = Some("b".to_owned());
    }));
}
