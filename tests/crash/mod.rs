//! What is left when a transition is interrupted: by a signal or an I/O error at
//! every system call, or by a power cut at every point where data became durable.
//!
//! `cargo test` runs a thin slice of the sweep; `proofs/` has the whole of it.
#![cfg(target_os = "linux")]

mod kinds;
mod packing;
mod power;
mod sweep;
mod trace;
mod travel;

use crate::support::workflow::Sandbox;
use std::time::Instant;
use sweep::{Fault, Tally};

/// Injections that the short sweep spreads over all kinds.
const SHORT: usize = 38;

#[test]
fn an_interrupted_transition_happened_or_did_not() {
    run(SHORT);
}

/// `proofs/crash-sweep.sh`
#[test]
#[ignore = "the whole sweep takes long; proofs/crash-sweep.sh runs it"]
fn the_whole_sweep() {
    run(std::env::var("SWEEP_POINTS").map_or(usize::MAX, |points| points.parse().unwrap()));
}

/// Sweeps all kinds, or those that `SWEEP_KINDS` names, with about so many injections.
fn run(wanted: usize) {
    if !sweep::strace_works() {
        return;
    }
    let sandbox = Sandbox::new();
    let mut kinds = kinds::all(&sandbox);
    if let Ok(named) = std::env::var("SWEEP_KINDS") {
        kinds.retain(|kind| named.split(',').any(|name| name == kind.name));
    }
    let each = wanted / kinds.len();
    let started = Instant::now();
    let mut total = Tally::default();
    for (index, kind) in kinds.iter().enumerate() {
        let points = sweep::points(&sandbox, kind);
        let step = (points.len() / each.max(1)).max(1);
        // Another phase for each kind, so that together they meet more places.
        let chosen: Vec<_> = points.iter().skip(index % step).step_by(step).collect();
        let tally = sweep::sweep(&sandbox, kind, &chosen, 2);
        println!("{:16} {}", kind.name, tally.line());
        for (sort, what) in tally.lists() {
            println!("  {sort}: {what}");
        }
        total.merge(tally);
        if kind.travels || kind.name == "pull" {
            let tally = travel::kill_each_git(&sandbox, kind, each);
            println!("{:16} {}", format!("{}, its git", kind.name), tally.line());
            for (sort, what) in tally.lists() {
                println!("  {sort}: {what}");
            }
            total.merge(tally);
        }
    }
    println!(
        "{:16} {} in {} s",
        "all",
        total.line(),
        started.elapsed().as_secs()
    );
    assert!(total.injections >= kinds.len());
    assert_eq!(total.faults(), 0);
}

/// What the contract says is not known then; it was taken for what the log says.
#[test]
fn a_contract_that_a_disk_does_not_give_is_not_taken_for_the_log_s() {
    if !sweep::strace_works() {
        return;
    }
    let sandbox = Sandbox::new();
    let mut total = Tally::default();
    for kind in kinds::all(&sandbox) {
        if !["refocus", "pause"].contains(&kind.name) {
            continue;
        }
        let points = sweep::points(&sandbox, &kind);
        let is_read = |line: &str| {
            ["mission.md", "profile.json"]
                .iter()
                .any(|it| line.contains(it))
        };
        let chosen: Vec<_> = points
            .iter()
            .filter(|(call, fault)| *fault == Fault::Eio && is_read(&call.line))
            .collect();
        assert!(!chosen.is_empty());
        total.merge(sweep::sweep(&sandbox, &kind, &chosen, 2));
    }
    assert_eq!(total.faults(), 0, "{total:#?}");
}

/// `proofs/power-loss.sh`
#[test]
#[ignore = "needs root, FUSE and loop devices; proofs/power-loss.sh runs it"]
fn a_power_cut_leaves_what_was_acknowledged() {
    if let Some(why) = power::missing() {
        println!("skipped: {why}");
        return;
    }
    let step = std::env::var("POWER_STEP").map_or(1, |step| step.parse().unwrap());
    let outcome = power::run(true, step);
    println!("power cuts      {}", outcome.line());
    let control = power::run(false, step);
    println!("unsynced control {}", control.line());
    assert_eq!(outcome.faults(), 0, "{outcome:#?}");
    assert!(outcome.cuts > 0);
    assert!(control.faults() > 0, "the control must fail");
}
