//! Many writers, readers beside writers and packing, long logs.

use crate::support::store::*;
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::model::Count;
use cook_repo::store::{History, Place, Store};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

#[test]
fn of_many_writers_nothing_is_lost() {
    const THREADS: u64 = 8;
    const EACH: u64 = 12;
    let (fixture, store) = Fixture::with(1);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let fixture = &fixture;
            scope.spawn(move || {
                let store = fixture.open();
                for number in 0..EACH {
                    let why = format!("writer {thread} number {number}");
                    loop {
                        let before = store.current().unwrap();
                        match commit(&store, transition(before, make_paused(&why))) {
                            Ok(committed) => {
                                assert!(committed.findings.is_empty(), "{committed:?}");
                                break;
                            }
                            Err(Failure {
                                code: Code::StaleFacts,
                                ..
                            }) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                }
            });
        }
    });
    let total = 1 + THREADS * EACH;
    assert_eq!(store.tip().unwrap().unwrap().seq, total);
    let lines: Vec<String> = store
        .history_lines(History::Slice)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(lines.len() as u64, total - 1);
    for thread in 0..THREADS {
        for number in 0..EACH {
            let why = format!("\"writer {thread} number {number}\"");
            assert_eq!(lines.iter().filter(|line| line.contains(&why)).count(), 1);
        }
    }
    assert_eq!(
        fixture.read("slice-history.jsonl").lines().count(),
        lines.len()
    );
    let report = store
        .replay(|before, event, _, _| Ok(replay(before, event, next_seq(before))))
        .unwrap();
    assert_eq!(report.findings, []);
    assert_eq!(report.transitions, total);
    assert_eq!(store.fsck().unwrap().findings, []);
}

#[test]
fn readers_see_whole_transitions_while_a_writer_commits_and_packs() {
    const TRANSITIONS: u64 = 100;
    let (fixture, store) = Fixture::with(2);
    let done = AtomicBool::new(false);
    let reads = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let (fixture, done, reads) = (&fixture, &done, &reads);
            scope.spawn(move || {
                let mut seen = 0;
                while !done.load(Ordering::Relaxed) {
                    let store = fixture.open();
                    let (tip, snapshot) = store.current().unwrap().unwrap();
                    assert!(tip.seq >= seen, "{} after {seen}", tip.seq);
                    seen = tip.seq;
                    assert_eq!(snapshot.state.revision, Some(Count(tip.seq)));
                    assert_eq!(snapshot.active.revision, Some(Count(tip.seq)));
                    assert_eq!(
                        snapshot.state.continuation_reason,
                        if tip.seq == 1 {
                            String::new()
                        } else {
                            format!("pause {}", tip.seq)
                        }
                    );
                    assert!(store.entry("@-").unwrap().seq >= tip.seq - 1);
                    store.view_status().unwrap();
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for number in 0..TRANSITIONS {
            step(&store).unwrap();
            if number % 10 == 9 {
                let _lock = store.lock(WAIT).unwrap();
                let mut git = std::process::Command::new("git");
                git.arg("--git-dir").arg(fixture.log(""));
                assert!(git.args(["gc", "--quiet"]).status().unwrap().success());
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(reads.load(Ordering::Relaxed) > 0);
    assert_eq!(store.fsck().unwrap().findings, []);
}

#[test]
fn packing_comes_by_itself_and_loses_nothing() {
    let (fixture, store) = Fixture::with(1);
    let mut packed = 0;
    while packed == 0 {
        if step(&store).unwrap().packed {
            packed = store.tip().unwrap().unwrap().seq;
        }
        assert!(store.tip().unwrap().unwrap().seq < 600, "never packed");
    }
    let packs = std::fs::read_dir(fixture.log("objects/pack"))
        .unwrap()
        .count();
    assert!(packs > 0);
    let store = fixture.open();
    assert_eq!(store.entry("1").unwrap().event, first_event());
    assert_eq!(store.entries().unwrap().count() as u64, packed);
    step(&store).unwrap();
    assert_eq!(store.fsck().unwrap().findings, []);
}

/// A log whose one import holds this many records.
fn with_history(records: u64) -> (Fixture, Store) {
    let fixture = Fixture::new();
    let store = Store::create(fixture.place()).unwrap();
    let mut first = transition(None, first_event());
    let filler = "what the review of this slice found, at some length ".repeat(6);
    first.records.slice = (0..records).map(|n| slice_record(n, &filler)).collect();
    commit(&store, first).unwrap();
    (fixture, store)
}

/// Time this thread had a processor, in seconds; wall time where the system does not say.
fn cpu_seconds(started: Instant) -> f64 {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse::<f64>().ok())
        .map_or_else(|| started.elapsed().as_secs_f64(), |ns| ns / 1e9)
}

#[allow(clippy::print_stdout)]
fn measure<T>(name: &str, times: u32, mut work: impl FnMut() -> T) -> f64 {
    work();
    let started = Instant::now();
    let before = cpu_seconds(started);
    for _ in 0..times {
        work();
    }
    let cpu = (cpu_seconds(started) - before) / f64::from(times);
    let wall = started.elapsed().as_secs_f64() / f64::from(times);
    println!(
        "{name}: {:.3} ms of processor, {:.3} ms",
        cpu * 1e3,
        wall * 1e3
    );
    cpu
}

/// Figures; run with `--release -- --ignored --nocapture figures`.
#[test]
#[ignore = "measures; run it by itself in release"]
#[allow(clippy::print_stdout)]
fn figures() {
    let (fixture, store) = Fixture::with(20);
    let place: Place = fixture.place();
    measure("open", 500, || Store::open(place.clone()).unwrap());
    measure("open, tip, snapshot", 500, || {
        let store = Store::open(place.clone()).unwrap().unwrap();
        store.current().unwrap()
    });
    measure("tip, snapshot", 500, || store.current().unwrap());
    measure("outside edits", 500, || store.outside_edits().unwrap());
    measure("transition", 50, || step(&store).unwrap());

    let (fixture, store) = with_history(1_000_000);
    let bytes = fixture.read(History::Slice.file()).len() as f64 / 1e6;
    measure("transition after 1,000,000 records", 20, || {
        step(&store).unwrap()
    });
    let imported = store.entry("1").unwrap().records;
    let mut copies: Vec<_> = (0..2).map(|_| imported.clone()).collect();
    let seconds = measure("replay of them", 1, || {
        let report = store
            .replay(|before, event, _, _| {
                let seq = next_seq(before);
                let mut replayed = replay(before, event, seq);
                if seq == 1 {
                    replayed.records = copies.pop().unwrap();
                }
                Ok(replayed)
            })
            .unwrap();
        assert_eq!(report.findings, []);
    });
    println!("{bytes:.0} MB: {:.0} MB/s", bytes / seconds);
    let seconds = measure("view by content", 1, || {
        store.find_differences_by_content().unwrap()
    });
    println!("{bytes:.0} MB: {:.0} MB/s", bytes / seconds);
}
