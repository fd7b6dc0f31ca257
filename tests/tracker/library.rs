//! Trackers against a fake that answers in every known shape and fails in every
//! known way. The real programs are never run.
#![cfg(unix)]

use crate::support::tracker::{Desk, SHAPES, hasty};
use cook::tracker::{
    Attempt, Commented, Entry, Holder, IssueStatus, Memory, NewIssue, Tracker, TrackerError,
    list_unblocked_by, replay,
};
use std::time::{Duration, Instant};

/// A project: `a` is ready and is waited for by `b` and `c`; `d` waits for both.
fn project(desk: &Desk) {
    desk.issues.add("x-0", "the whole", "");
    desk.issues.set("x-0", "type", "epic");
    desk.issues.set("x-0", "priority", "4");
    desk.issues
        .add("x-a", "first", "parent-child x-0\nrelated x-d\n");
    desk.issues.add("x-b", "second", "blocks x-a\n");
    desk.issues.add("x-c", "third", "waits-for x-a\n");
    desk.issues.add(
        "x-d",
        "last",
        "conditional-blocks x-b\nblocks x-c\nfrobs x-a\n",
    );
}

fn ids(issues: &[cook::tracker::Issue]) -> Vec<&str> {
    issues.iter().map(|issue| issue.id.as_str()).collect()
}

#[test]
fn every_operation_works_in_every_shape() {
    for (program, shape) in SHAPES {
        let desk = Desk::new(program, shape);
        project(&desk);
        let tracker = &desk.tracker;
        assert!(tracker.detect().is_ok(), "{shape}");
        assert_eq!(ids(&tracker.ready().unwrap()), ["x-a", "x-0"], "{shape}");
        assert!(tracker.current().unwrap().is_empty());
        let shown = tracker.show("x-a").unwrap();
        assert_eq!((shown.title.as_str(), shown.assignee), ("first", None));

        let claimed = tracker.claim("x-a").unwrap();
        assert_eq!(claimed.status, IssueStatus::InProgress);
        assert_eq!(claimed.assignee.as_deref(), Some("me"));
        assert_eq!(ids(&tracker.current().unwrap()), ["x-a"]);
        assert_eq!(tracker.claim("x-a").unwrap(), claimed, "a second claim");
        assert_eq!(desk.issues.count(&["update"]), 1, "and no second write");

        let text = "-- it's \"so\" $(touch x); `y`\nsecond line";
        let said = tracker.comment("x-a", "K1", text, Attempt::First).unwrap();
        assert_eq!(said, Commented::Added);
        assert_eq!(desk.issues.comments("x-a"), [format!("{text} [cook:K1]")]);
        assert_eq!(tracker.comments("x-a").unwrap()[0].author, "fake");

        let closed = tracker.close("x-a", "--done\nit is").unwrap();
        assert!(!closed.1 && closed.0.status == IssueStatus::Closed);
        assert_eq!(desk.issues.get("x-a", "reason"), "--done\nit is");
        let free = list_unblocked_by(tracker, "x-a").unwrap();
        let free: Vec<&str> = free.iter().map(|brief| brief.id.as_str()).collect();
        assert_eq!(free, ["x-b", "x-c"], "x-d still waits for both");

        let made = tracker
            .create(&NewIssue {
                title: "--found: \u{1b}[31m a \u{202e}bug".to_owned(),
                kind: Some("bug".to_owned()),
                priority: Some(1),
                description: Some("how".to_owned()),
                discovered_from: Some("x-a".to_owned()),
            })
            .unwrap();
        assert_eq!(made.title, "--found: a bug");
        assert_eq!(
            (made.kind.as_str(), made.description.as_str()),
            ("bug", "how")
        );
        let origin = &tracker.dependencies(&made.id).unwrap()[0];
        assert_eq!(origin.kind, "discovered-from");
        assert!(!origin.blocks() && origin.issue.id == "x-a");
    }
}

#[test]
fn up_is_who_depends_and_down_is_what_is_needed() {
    for (program, shape) in SHAPES {
        let desk = Desk::new(program, shape);
        project(&desk);
        let named = |links: Vec<cook::tracker::Link>| -> Vec<String> {
            links
                .iter()
                .map(|link| format!("{} {}", link.kind, link.issue.id))
                .collect()
        };
        assert_eq!(
            named(desk.tracker.dependents("x-a").unwrap()),
            ["blocks x-b", "waits-for x-c", "frobs x-d"],
            "{shape}"
        );
        assert_eq!(
            named(desk.tracker.dependencies("x-a").unwrap()),
            ["parent-child x-0", "related x-d"]
        );
    }
}

#[test]
fn calls_are_argument_vectors_with_their_flags() {
    let desk = Desk::with("br", "flat", hasty());
    project(&desk);
    desk.tracker
        .comment("x-a", "K", "--force", Attempt::First)
        .unwrap();
    desk.tracker.current().unwrap();
    let calls = desk.issues.calls();
    assert_eq!(
        calls[0],
        [
            "comments",
            "add",
            "--json",
            "--actor=me",
            "--lock-timeout=300",
            "--no-auto-flush",
            "--",
            "x-a",
            "--force [cook:K]"
        ]
    );
    assert_eq!(
        calls[1],
        [
            "list",
            "--json",
            "--lock-timeout=300",
            "--status=in_progress",
            "--limit=0"
        ]
    );
    let flushing = Desk::new("bd", "envelope");
    project(&flushing);
    flushing
        .tracker
        .comment("x-a", "K", "t", Attempt::First)
        .unwrap();
    let call = &flushing.issues.calls()[0];
    assert!(call.contains(&"--lock-timeout=300ms".to_owned()));
    assert!(!call.contains(&"--no-auto-flush".to_owned()));
}

/// What each fault looks like to whoever reads.
#[derive(Debug, PartialEq)]
enum Seen {
    Fine,
    Away,
    Absent,
    Shape,
    Rejected,
}

fn reduce_outcome<T>(outcome: &Result<T, TrackerError>) -> Seen {
    match outcome {
        Ok(_) => Seen::Fine,
        Err(TrackerError::Unavailable { .. }) => Seen::Away,
        Err(TrackerError::Absent { .. }) => Seen::Absent,
        Err(TrackerError::Shape { .. }) => Seen::Shape,
        Err(TrackerError::Rejected { .. }) => Seen::Rejected,
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn every_fault_of_every_reading_command_is_named_in_every_shape() {
    let faults = [
        ("logs", Seen::Fine),
        ("old", Seen::Fine),
        ("locked", Seen::Away),
        ("denied", Seen::Away),
        ("wordless", Seen::Away),
        ("uninitialised", Seen::Absent),
        ("quiet-error", Seen::Rejected),
        ("strange", Seen::Rejected),
        ("partial", Seen::Rejected),
        ("truncate", Seen::Shape),
        ("drift", Seen::Shape),
        ("silent", Seen::Shape),
        ("flood", Seen::Shape),
    ];
    for (program, shape) in SHAPES {
        let desk = Desk::new(program, shape);
        project(&desk);
        for (fault, expected) in &faults {
            for command in ["list", "ready", "show", "comments", "dep"] {
                desk.issues.fault(command, fault);
                let outcome = match command {
                    "list" => reduce_outcome(&desk.tracker.current()),
                    "ready" => reduce_outcome(&desk.tracker.ready()),
                    "show" => reduce_outcome(&desk.tracker.show("x-a")),
                    "comments" => reduce_outcome(&desk.tracker.comments("x-a")),
                    _ => reduce_outcome(&desk.tracker.dependents("x-a")),
                };
                assert_eq!(outcome, *expected, "{shape} {command} {fault}");
                desk.issues.fault(command, "");
            }
        }
        // A tracker of this fault is left alone until something is asked of it.
        desk.issues.fault("info", "uninitialised");
        assert!(matches!(
            desk.tracker.detect(),
            Err(TrackerError::Absent { .. })
        ));
        desk.issues.fault("info", "locked");
        assert!(matches!(
            desk.tracker.detect(),
            Err(TrackerError::Unavailable { .. })
        ));
    }
}

#[test]
fn a_program_that_vanishes_is_unavailable() {
    let desk = Desk::new("br", "flat");
    project(&desk);
    desk.tracker.ready().unwrap();
    let program = desk.dir.path().join("bin/br");
    std::fs::remove_file(&program).unwrap();
    let error = desk.tracker.ready().unwrap_err();
    assert_eq!(
        error.to_string(),
        "`br` is unavailable: its program is gone"
    );
    std::fs::write(&program, "").unwrap();
    let error = desk.tracker.ready().unwrap_err();
    assert_eq!(
        error.to_string(),
        "`br` is unavailable: its program may not be executed"
    );
}

#[test]
fn one_deadline_holds_for_all_calls() {
    let desk = Desk::new("br", "flat");
    project(&desk);
    let late = desk.tracker.until(Instant::now());
    let error = late.ready().unwrap_err();
    assert!(error.is_outage() && !error.is_away());
    assert!(desk.issues.calls().is_empty(), "nothing was started");
}

#[test]
fn a_claim_that_another_holds_is_refused_and_changes_nothing() {
    for (program, shape) in SHAPES {
        for status in ["open", "in_progress"] {
            let desk = Desk::new(program, shape);
            project(&desk);
            desk.issues.set("x-a", "assignee", "rival");
            desk.issues.set("x-a", "status", status);
            let error = desk.tracker.claim("x-a").unwrap_err();
            assert_eq!(error.to_string(), "issue `x-a` is held by rival");
            assert_eq!(desk.issues.count(&["update"]), 0, "nothing was written");
        }
        // Somebody was faster, whether the program says so or not.
        for fault in ["stolen", "stolen-silently"] {
            let desk = Desk::new(program, shape);
            project(&desk);
            desk.issues.fault("update", fault);
            let error = desk.tracker.claim("x-a").unwrap_err();
            assert!(matches!(error, TrackerError::Held(_, by) if by == "rival"));
            assert_eq!(desk.issues.get("x-a", "assignee"), "rival");
        }
        let desk = Desk::new(program, shape);
        project(&desk);
        desk.issues.fault("update", "claims-nothing");
        let error = desk.tracker.claim("x-a").unwrap_err();
        assert_eq!(error.to_string(), "issue `x-a` was not claimed: it is open");
        desk.issues.set("x-a", "status", "closed");
        let error = desk.tracker.claim("x-a").unwrap_err();
        assert_eq!(
            error.to_string(),
            "issue `x-a` was not claimed: it is closed"
        );
        desk.issues.set("x-b", "assignee", "me@example.org");
        desk.issues.set("x-b", "status", "in_progress");
        desk.tracker.claim("x-b").unwrap();
    }
}

#[test]
fn a_close_is_seen_and_not_believed() {
    for (program, shape) in SHAPES {
        let desk = Desk::new(program, shape);
        project(&desk);
        let error = desk.tracker.close("x-d", "done").unwrap_err();
        assert_eq!(
            error.to_string(),
            "issue `x-d` is not closed: it waits for x-b, x-c"
        );
        desk.issues.fault("close", "closes-nothing");
        let error = desk.tracker.close("x-a", "done").unwrap_err();
        assert_eq!(error.to_string(), "issue `x-a` is not closed: it is open");
        // Said to have failed, and closed all the same.
        for fault in ["fail-after", "drift", "truncate", "silent"] {
            desk.issues.set("x-a", "status", "open");
            desk.issues.fault("close", fault);
            let closed = desk.tracker.close("x-a", "done");
            assert_eq!(closed.is_ok(), fault != "silent", "{fault}");
        }
        desk.issues.set("x-a", "status", "closed");
        assert!(desk.tracker.close("x-a", "done").unwrap().1);
        let error = desk.tracker.close("x-9", "done").unwrap_err();
        assert_eq!(error.to_string(), "unknown issue `x-9`");
    }
}

#[test]
fn words_that_are_no_ids_never_reach_a_program() {
    let desk = Desk::new("br", "flat");
    project(&desk);
    for word in ["", "--help", "a b", "../x", "x;y", "x\n", "é"] {
        for error in [
            desk.tracker.show(word).unwrap_err(),
            desk.tracker.claim(word).unwrap_err(),
            desk.tracker.close(word, "r").unwrap_err(),
            desk.tracker.comments(word).unwrap_err(),
            desk.tracker.dependents(word).unwrap_err(),
        ] {
            assert!(matches!(error, TrackerError::BadId(_)), "{word:?}: {error}");
        }
    }
    let long = "x".repeat(70_000);
    let said = desk.tracker.comment("x-a", "K", &long, Attempt::First);
    assert!(matches!(said, Err(TrackerError::BadText(_))));
    let said = desk
        .tracker
        .comment("x-a", "K] [cook:L", "t", Attempt::First);
    assert!(matches!(said, Err(TrackerError::BadText(_))));
    assert!(desk.issues.calls().is_empty());
}

#[test]
fn what_a_tracker_says_is_cleaned_and_hostile_ids_are_refused() {
    let desk = Desk::new("bd", "envelope");
    project(&desk);
    desk.issues
        .set("x-a", "title", "a\u{1b}]0;t\u{7} \u{202e}b\r\n## c");
    desk.issues.set("x-a", "assignee", "r\u{1b}[2J");
    let shown = desk.tracker.show("x-a").unwrap();
    assert_eq!(shown.title, "a b ## c");
    assert_eq!(shown.assignee.as_deref(), Some("r"));
    desk.issues.add("--all", "hostile", "");
    assert_eq!(reduce_outcome(&desk.tracker.ready()), Seen::Shape);
}

#[test]
fn ready_rows_say_what_hangs_on_them_and_whose_they_are() {
    for (program, shape) in SHAPES {
        let desk = Desk::new(program, shape);
        project(&desk);
        desk.issues.set("x-a", "assignee", "me@example.org");
        desk.issues.set("x-a", "status", "in_progress");
        desk.issues.add("y-1", "theirs", "");
        desk.issues.set("y-1", "assignee", "rival");
        desk.issues.set("y-1", "priority", "3");
        let end = Instant::now() + Duration::from_secs(60);
        let list = desk.tracker.ready_list(end).unwrap();
        let rows: Vec<(&str, &Holder)> = list
            .rows
            .iter()
            .map(|row| (row.issue.id.as_str(), &row.holder))
            .collect();
        let rival = Holder::Other("rival".to_owned());
        assert_eq!(
            rows,
            [
                ("x-a", &Holder::Mine),
                ("y-1", &rival),
                ("x-0", &Holder::Nobody)
            ]
        );
        let reach = list.rows[0].reach.as_ref().unwrap();
        assert_eq!(reach.parent.as_ref().unwrap().id, "x-0");
        let unblocks: Vec<&str> = reach
            .unblocks
            .iter()
            .map(|brief| brief.id.as_str())
            .collect();
        assert_eq!(unblocks, ["x-b", "x-c"], "unknown types do not block");
        assert_eq!(
            (reach.unblocks_all, reach.chain, reach.complete),
            (3, 3, true)
        );
        let theirs = list.rows[1].reach.as_ref().unwrap();
        assert_eq!((theirs.unblocks.len(), theirs.chain), (0, 1));
        assert!(list.cycles.is_empty() && list.problems.is_empty());
    }
}

#[test]
fn circles_are_named_and_end_every_walk() {
    let desk = Desk::new("br", "flat");
    desk.issues.add("x-a", "first", "");
    desk.issues.add("x-b", "second", "blocks x-a\nblocks x-c\n");
    desk.issues.add("x-c", "third", "blocks x-b\n");
    let list = desk
        .tracker
        .ready_list(Instant::now() + Duration::from_secs(60))
        .unwrap();
    assert_eq!(list.cycles, [["x-b".to_owned(), "x-c".to_owned()]]);
    let reach = list.rows[0].reach.as_ref().unwrap();
    assert_eq!((reach.unblocks_all, reach.chain), (2, 3));
}

#[test]
fn only_the_first_five_are_looked_into() {
    let desk = Desk::new("br", "flat");
    for number in 0..8 {
        desk.issues.add(&format!("x-{number}"), "t", "");
    }
    let list = desk
        .tracker
        .ready_list(Instant::now() + Duration::from_secs(60))
        .unwrap();
    let looked: Vec<bool> = list.rows.iter().map(|row| row.reach.is_some()).collect();
    assert_eq!(looked, [true, true, true, true, true, false, false, false]);
    assert_eq!(desk.issues.count(&["dep", "list"]), 10);
}

fn entries(count: usize) -> Vec<Entry> {
    (1..=count)
        .map(|number| Entry {
            id: format!("E{number}"),
            issue: "x-a".to_owned(),
            text: format!("entry {number}"),
        })
        .collect()
}

fn list_expected(count: usize) -> Vec<String> {
    (1..=count)
        .map(|n| format!("entry {n} [cook:E{n}]"))
        .collect()
}

#[test]
fn a_lost_cursor_repeats_nothing() {
    let desk = Desk::with("br", "flat", hasty());
    project(&desk);
    let mut memory = Memory::hold(desk.git_dir()).unwrap();
    replay(&desk.tracker, &mut memory, &entries(4)).unwrap();
    drop(memory);
    let file = desk.git_dir().join("cook-tracker.json");
    std::fs::write(&file, "{\"format\":1,").unwrap();
    let mut memory = Memory::hold(desk.git_dir()).unwrap();
    // It is lost again half way, and entries come that were never sent.
    desk.issues.fault("comments", "once locked");
    replay(&desk.tracker, &mut memory, &entries(6)).unwrap();
    desk.issues.fault("comments-add", "once hang-after");
    let torn = replay(&desk.tracker, &mut memory, &entries(6)).unwrap();
    assert_eq!((torn.found, torn.added, torn.waiting), (4, 0, 2));
    let done = replay(&desk.tracker, &mut memory, &entries(6)).unwrap();
    assert_eq!((done.found, done.added), (1, 1));
    assert_eq!(desk.issues.comments("x-a"), list_expected(6));
}
