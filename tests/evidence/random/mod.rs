//! Histories by chance: slices are built and accepted while others rewrite code, tests and history. Where the
//! project is done, what it was accepted by holds at HEAD; and an honest agent always gets on.
//!
//! `COOK_HISTORIES=N` runs that many, `COOK_HISTORIES_FROM=K` from that seed on, `COOK_HISTORIES_JOBS=J` so many
//! at a time (`proofs/histories.sh`). A seed that shows something wrong is printed with its log.

mod actor;
mod events;
mod oracle;
mod world;

use actor::Went;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use world::World;

/// Histories when nothing else is said.
const FEW: u64 = 4;
/// Events of each history; each kind is dealt in turn.
const EVENTS: usize = 6;
/// Reports until the project must be done.
const BOUND: usize = 100;

/// What came up.
type Figures = BTreeMap<String, usize>;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

#[test]
#[ignore = "takes long; proofs/histories.sh runs it"]
fn whatever_becomes_of_the_history_done_means_proved() {
    let first = number("COOK_HISTORIES_FROM", 0);
    let end = first + number("COOK_HISTORIES", FEW);
    let next = AtomicUsize::new(first as usize);
    let (wrong, figures) = (AtomicUsize::new(0), Mutex::new(Figures::new()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed) as u64;
            if seed >= end {
                return;
            }
            let Ok((found, seen, log)) = std::panic::catch_unwind(|| history(seed)) else {
                println!("seed {seed}: the test itself failed");
                wrong.fetch_add(1, Ordering::Relaxed);
                continue;
            };
            for one in &found {
                println!("seed {seed}: {one}");
            }
            if !found.is_empty() {
                println!("{}", log.join("\n"));
                wrong.fetch_add(found.len(), Ordering::Relaxed);
            }
            for (what, count) in seen {
                *figures.lock().unwrap().entry(what).or_default() += count;
            }
        }
    };
    std::thread::scope(|scope| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..number("COOK_HISTORIES_JOBS", cores as u64) {
            scope.spawn(work);
        }
    });
    let (wrong, figures) = (wrong.into_inner(), figures.into_inner().unwrap());
    println!("wrong {wrong}, {figures:?}");
    assert_eq!(wrong, 0);
    // The test saw enough to fail; one history alone is looked at by hand.
    if end - first < FEW {
        return;
    }
    let seen = |what: &str| figures.get(what).copied().unwrap_or_default();
    assert!(seen("done") >= (end - first) as usize, "{figures:?}");
    assert!(
        seen("lies refused") * 2 >= (end - first) as usize,
        "{figures:?}"
    );
}

/// What is wrong with one history, what came up in it, and how it went.
fn history(seed: u64) -> (Vec<String>, Figures, Vec<String>) {
    let mut world = World::begin(seed);
    for number in 0..EVENTS {
        let reports = world.rng.below(10);
        report(&mut world, reports, true);
        if !world.wrong.is_empty() {
            break;
        }
        world.event(seed as usize * EVENTS + number);
    }
    if world.wrong.is_empty() && !report(&mut world, BOUND, false) && world.wrong.is_empty() {
        world.wrong.push("not done at the end".to_owned());
    }
    (world.wrong, world.figures, world.log)
}

/// So many reports, or until the project is done; whether it is.
fn report(world: &mut World, reports: usize, may_lie: bool) -> bool {
    for _ in 0..reports {
        match world.step(may_lie) {
            Went::On => {}
            Went::Wrong(why) => {
                let graph = [
                    "log",
                    "--graph",
                    "--oneline",
                    "--reflog",
                    "--format=%h %T %s",
                ];
                let graph = world.git(&graph);
                world.say(graph);
                world.wrong.push(why);
                return false;
            }
            Went::Done => {
                world.note("done");
                let found = world.violations();
                world.wrong.extend(found);
                return true;
            }
        }
    }
    false
}
