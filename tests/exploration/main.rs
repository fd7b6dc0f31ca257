//! The protocol explored: every state that role reports, user doors and the
//! repository can bring about within stated bounds, over the production
//! `dispatch` and `apply`.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod events;
mod explore;
mod fingerprint;
mod invariants;
mod world;

use events::Bounds;
use explore::explore;

const SMALL: Bounds = Bounds {
    name: "one slice, one judge",
    slices: 1,
    max_slices: 1,
    judges: 1,
    commits: 3,
    steps: 1_000_000,
    attempts: 1_000_000,
    hostile: false,
    plans: false,
    doors: false,
    stops: false,
    rewrites: false,
    commands: false,
    undo: 0,
};

#[test]
fn probe() {
    let outcome = explore(&SMALL);
    println!(
        "{}: {} states, {} transitions, {} refusals, {:?}, done {}, lost {}, restless {} truncated {}",
        outcome.name,
        outcome.states,
        outcome.transitions,
        outcome.refused,
        outcome.time,
        outcome.done,
        outcome.lost.len(),
        outcome.restless,
        outcome.truncated
    );
    println!("{:?}\n{:?}", outcome.rules, outcome.codes);
    for path in outcome.lost.iter().take(3) {
        println!("lost: {path}");
    }
}
