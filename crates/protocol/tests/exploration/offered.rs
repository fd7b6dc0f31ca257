//! What a regrounder is offered is what its report may say: each choice is tried under each rule.

use super::events::{NAMES, blocks_it, claim, claims, first_plan, reconcile, slice_plan};
use super::explore::try_event;
use super::prompts::make_prompt;
use super::walk::Walk;
use super::world::{Budget, Dirt, Touch};
use super::{Bounds, CORE};
use cook_protocol::machine::{Choice, Rule, Selection, list_owed};
use cook_protocol::model::{
    Actor, AnswerTo, ChangedSlice, Conclude, Count, Decision, Event, PlaceAnswer, PlanBlock,
    Reground, Reopen, Resume, Role, Slice, SliceStatus,
};
use cook_protocol::prompt::report_format;

const TWO: Bounds = Bounds {
    slices: 2,
    max_slices: 3,
    start: &[1],
    ..CORE
};

fn go_on() -> Option<Conclude> {
    Some(Conclude::GoOn {
        reason: Some("it is not so".to_owned()),
    })
}

/// A report that says it, with what the rule asks of every report; none where no slice is in work.
fn saying(walk: &Walk, choice: Choice) -> Option<Event> {
    let (snapshot, rule) = (&walk.snapshot, walk.rule());
    let slices = &snapshot.plan.candidate_slices;
    let in_work = snapshot.find_slice_in_work();
    let find = |is: &dyn Fn(&&Slice) -> bool| slices.iter().map(|slice| &**slice).find(is);
    let is_free = |slice: &&Slice| slice.status.is_open() && in_work != Some(&*slice.slice_id);
    let name = in_work.unwrap_or(NAMES[0]).to_owned();
    if matches!(choice, Choice::Accept | Choice::SendBack) {
        in_work?;
    }
    let accept = |block: &mut Reground| {
        block.reconcile = reconcile(&name, Decision::Accepted);
        let slice = snapshot.plan.slice(&name);
        block.evidence = slice.map_or_else(Vec::new, |slice| claims(slice, "good"));
    };
    let send_back = |block: &mut Reground| block.reconcile = reconcile(&name, Decision::Reopened);
    let decide = |block: &mut Reground| match rule {
        Rule::Reconcile if Choice::Accept.is_open(rule, snapshot, false) => accept(block),
        Rule::Reconcile => send_back(block),
        Rule::Conclude => block.conclude = go_on(),
        _ => {}
    };
    Some(walk.reground(|block| match choice {
        Choice::Accept => accept(block),
        Choice::SendBack => send_back(block),
        Choice::GoOn => block.conclude = go_on(),
        Choice::Stop => block.conclude = Some(Conclude::Stop),
        Choice::Reopen => {
            let done = find(&|slice| slice.status == SliceStatus::Done);
            block.reopen = vec![Reopen {
                slice_id: done.map_or(name.clone(), |slice| slice.slice_id.clone()),
                why: "it broke".to_owned(),
                at: None,
            }];
            block.policy = blocks_it();
        }
        Choice::DropCriteria => {
            let open =
                find(&|slice| slice.status.is_open() && !snapshot.is_committed(&slice.slice_id));
            let id = open.map_or(name.clone(), |slice| slice.slice_id.clone());
            block.evidence = vec![claim(&id, &format!("{id}2"), "good")];
            block.plan = Some(PlanBlock {
                change: vec![ChangedSlice {
                    slice_id: id,
                    drop_criteria: vec![Count(2)],
                    ..ChangedSlice::default()
                }],
                ..PlanBlock::default()
            });
            block.policy = blocks_it();
        }
        Choice::Evidence => {
            block.evidence = vec![claim(NAMES[0], &format!("{}1", NAMES[0]), "good")];
            block.policy = blocks_it();
        }
        Choice::Answers => {
            let owed = list_owed(snapshot).into_iter().map(|no| no.id);
            let owed: Vec<String> = owed.collect();
            let ids = match owed.is_empty() {
                true => vec!["no-999".to_owned()],
                false => owed,
            };
            let answer = |no| AnswerTo {
                no,
                reason: "it is not so".to_owned(),
            };
            block.answers = ids.into_iter().map(answer).collect();
            decide(block);
            if block.conclude.is_none() {
                block.policy = blocks_it();
            }
        }
        Choice::AnswersTo => {
            let answer = snapshot.ledger.answers.last();
            block.answers_to = vec![PlaceAnswer {
                answer: answer.map_or("answer-999".to_owned(), |answer| answer.id()),
                slices: Vec::new(),
            }];
            block.policy = blocks_it();
        }
        Choice::Select => {
            decide(block);
            let id = match find(&is_free) {
                Some(slice) if slice.blocked_on.is_empty() => slice.slice_id.clone(),
                _ => {
                    block.plan = Some(PlanBlock {
                        add: vec![slice_plan("c", &[], &TWO)],
                        ..PlanBlock::default()
                    });
                    "c".to_owned()
                }
            };
            block.select = Some(id);
        }
    }))
}

/// Whether the report is taken, and what it says with it.
fn is_taken(walk: &Walk, choice: Choice) -> Option<bool> {
    let event = saying(walk, choice)?;
    let (snapshot, world, mood) = (&walk.snapshot, &walk.world, &walk.mood);
    let budget: &Budget = &walk.budget;
    let result = try_event(snapshot, world, mood, budget, &event, Actor::Role).1;
    let Event::Regrounded { block, .. } = &event else {
        return None;
    };
    Some(match result {
        // On dirt what else a report says waits with the acceptance.
        Ok(step) => block.select.is_none() || step.snapshot.active.slice_id == block.select,
        Err(_) => false,
    })
}

fn states() -> Vec<(&'static str, Walk)> {
    let mut states = Vec::new();
    let mut add = |name, make: &dyn Fn(&mut Walk)| {
        let mut walk = Walk::new(TWO);
        make(&mut walk);
        states.push((name, walk));
    };
    add("nothing planned", &|_| {});
    add("planned", &|walk| {
        let plan = first_plan(&TWO);
        walk.take(walk.reground(|block| block.plan = Some(plan)));
    });
    add("selected, and HEAD moved", &|walk| {
        walk.plan_and_select();
        walk.foreign_commit(Touch::Surface);
    });
    add("a yes", &|walk| walk.reach_rule_7(true));
    add("a no", &|walk| walk.reach_rule_7(false));
    add("committed, and HEAD moved", &|walk| {
        walk.reach_rule_7(true);
        walk.foreign_commit(Touch::Surface);
    });
    add("one is done", &|walk| {
        walk.reach_rule_7(true);
        walk.take(walk.report_accepted("a"));
    });
    add("the user answered", &|walk| {
        walk.plan_and_select();
        walk.foreign_commit(Touch::Surface);
        walk.take(walk.regrounder_asks());
        walk.take(Event::Resumed(Resume {
            answer: Some("the first".to_owned()),
            ..Resume::default()
        }));
    });
    for (name, vote) in [("all judges say yes", true), ("a judge says no", false)] {
        add(name, &|walk| {
            walk.reach_wave();
            while walk.rule() == Rule::Judge {
                walk.take(walk.report_judged(vote));
            }
        });
    }
    states
}

#[test]
fn a_regrounder_is_offered_what_its_report_may_say() {
    let (mut met, mut wrong) = (Vec::new(), Vec::new());
    for (name, mut walk) in states() {
        for dirt in [Dirt::Clean, Dirt::User] {
            walk.mood.dirt = dirt;
            let due = walk.due();
            assert_eq!(due.role, Some(Role::Regrounder), "{name}: {due:?}");
            met.push(due.rule);
            for choice in Choice::ALL {
                let held = dirt != Dirt::Clean;
                let offered = choice.is_open(due.rule, &walk.snapshot, held);
                if let Some(taken) = is_taken(&walk, choice)
                    && taken != offered
                {
                    wrong.push(format!(
                        "rule {}, {name}, {dirt:?}: {choice:?} is offered: {offered}, taken: {taken}",
                        due.rule
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for rule in [Rule::Recover, Rule::Select, Rule::Reconcile, Rule::Conclude] {
        assert!(met.contains(&rule), "rule {rule} was not met");
    }
}

#[test]
fn a_format_shows_what_is_offered_and_nothing_else() {
    let shown = |walk: &Walk, selection: &Selection| {
        let rule = walk.rule().id();
        report_format(Role::Regrounder, rule, &walk.snapshot, selection)
    };
    let free = Selection::default();
    let held = Selection {
        held: Some("the worktree is not clean".to_owned()),
        ..Selection::default()
    };
    for (name, walk) in states() {
        let text = shown(&walk, &free);
        let is_yes = matches!(name, "a yes");
        assert_eq!(
            text.contains("\"accepted\"") || text.contains("is accepted or"),
            is_yes,
            "{name}: {text}"
        );
        assert_eq!(
            text.contains("\"stop\""),
            name == "all judges say yes",
            "{name}: {text}"
        );
        assert!(
            !text.contains("drop_criteria") || text.contains("\"evidence\""),
            "{text}"
        );
        assert!(!shown(&walk, &held).contains("\"select\""), "{name}");
        assert!(!shown(&walk, &held).contains("\"stop\""), "{name}");
    }
}

/// What waits for a slice that is not accepted yet is selected by the report that accepts it.
#[test]
fn what_waits_for_a_committed_slice_is_offered_with_its_acceptance() {
    let told = "can be selected too, where this report accepts `a`: b";
    for (name, walk) in states() {
        let due = walk.due();
        let text = make_prompt(&walk.snapshot, &due, Role::Regrounder);
        assert_eq!(text.contains(told), name == "a yes", "{name}: {text}");
        let is_listed = text.contains("can be selected, in order of work: b");
        assert_eq!(is_listed, name == "one is done", "{name}: {text}");
    }
}
