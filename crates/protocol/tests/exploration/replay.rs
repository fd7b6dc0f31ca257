//! Random walks, judged again from what the log would keep of them.

use super::CORE;
use super::events::{Bounds, reports, repository, user_commands};
use super::explore::bootstrap;
use super::walk::Walk;
use super::world::{Contract, Dirt, Mood, World};
use cook_protocol::machine::{Facts, apply, is_for_tree, quote_word, ticket};
use cook_protocol::model::{Actor, Event, Snapshot};
use proptest::prelude::*;

const WIDE: Bounds = Bounds {
    name: "random walks",
    slices: 2,
    max_slices: 3,
    judges: 2,
    commits: 60,
    steps: 40,
    attempts: 3,
    plans: true,
    user_commands: true,
    rewrites: 100,
    harms: 3,
    commands: true,
    undo: 3,
    ..CORE
};

/// What a walk may meet beside events: edits, dirt, a lost contract, another branch.
fn moods() -> [Mood; 5] {
    let good = Mood::GOOD;
    [
        good,
        Mood {
            edited: true,
            ..good
        },
        Mood {
            dirt: Dirt::User,
            ..good
        },
        Mood {
            contract: Contract::Missing,
            ..good
        },
        Mood {
            other_branch: true,
            ..good
        },
    ]
}

/// Walks by the given choices: each picks a change of the repository or an event.
fn wander(choices: &[(u8, u16)]) -> Walk {
    let mut walk = Walk::new(WIDE);
    for &(kind, choice) in choices {
        let choice = usize::from(choice);
        if kind % 4 == 0 {
            let moves = repository(&walk.snapshot, &walk.world, &walk.bounds);
            if !moves.is_empty() {
                walk.world = moves[choice % moves.len()].1.clone();
            }
            continue;
        }
        let mood = if kind % 4 == 3 {
            moods()[choice % 5]
        } else {
            Mood::GOOD
        };
        walk.mood = mood;
        let rule = walk.rule();
        let mut offers = reports(&walk.snapshot, &walk.world, rule, &walk.bounds);
        // Roles do most of the work.
        offers.extend(offers.clone());
        offers.extend(user_commands(&walk.snapshot, &walk.bounds, mood));
        let offer = &offers[choice % offers.len()];
        if mood == Mood::GOOD {
            walk.mood = offer.mood;
        }
        // A refusal changes nothing; that is checked by the replay.
        let _ = walk.attempt(&offer.event, offer.actor);
    }
    walk
}

/// Judges a log again: the events and facts as JSON kept them.
fn replay(start: &Snapshot, log: &[(Event, Facts, Actor)]) -> Vec<Snapshot> {
    let mut snapshots = vec![start.clone()];
    for (event, facts, actor) in log {
        let kept = serde_json::to_string(&(event, facts, actor)).unwrap();
        let (event, facts, actor): (Event, Facts, Actor) = serde_json::from_str(&kept).unwrap();
        let last = snapshots.last().unwrap();
        let step = apply(Some(last), &facts, &event, actor).unwrap();
        snapshots.push(step.snapshot);
    }
    snapshots
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_log_judged_again_gives_the_same_snapshots(
        choices in prop::collection::vec((any::<u8>(), any::<u16>()), 1..60),
    ) {
        let walk = wander(&choices);
        let again = replay(&bootstrap(&World::of_length(1), WIDE.judges, WIDE.assurance), &walk.log);
        let mut walked = walk.past.clone();
        walked.push(walk.snapshot.clone());
        prop_assert_eq!(&again, &walked);
        for snapshot in &again {
            let kept = serde_json::to_string(snapshot).unwrap();
            let read: Snapshot = serde_json::from_str(&kept).unwrap();
            prop_assert_eq!(&read, snapshot);
        }
    }
}

#[test]
fn a_ticket_fits_one_tip_and_one_head() {
    let mut world = World::of_length(1);
    let head = world.head(&Mood::GOOD, Some("main"));
    let first = ticket("tip", &head, None);
    assert_eq!(first, ticket("tip", &head, None));
    assert_ne!(first, ticket("other tip", &head, None));
    assert_ne!(
        first,
        ticket("tip", &world.head(&Mood::GOOD, Some("side")), None)
    );
    world.amend();
    assert_ne!(
        first,
        ticket("tip", &world.head(&Mood::GOOD, Some("main")), None)
    );
    let dirty = ticket("tip", &head, Some("dirt"));
    assert!(dirty.starts_with(&first));
    assert_eq!(is_for_tree(&first, "dirt"), None);
    assert_eq!(is_for_tree(&dirty, "dirt"), Some(true));
    assert_eq!(is_for_tree(&dirty, "other dirt"), Some(false));
}

#[test]
fn a_quoted_word_stays_one_word() {
    for word in ["a b", "it's", "$(x)", "", "'"] {
        let split = shell_words::split(&quote_word(word)).unwrap();
        assert_eq!(split, [word]);
    }
}
