//! The store through its public API: create, read, commit, reopen.

use crate::support::store::*;
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::model::Event;
use cook_repo::store::{History, Place, Store, ViewStatus};
use serde_json::Value;

#[test]
fn nothing_is_there_before_the_first_transition() {
    let fixture = Fixture::new();
    assert!(Store::open(fixture.place()).unwrap().is_none());
    assert!(Store::all_worktrees(&fixture.place()).unwrap().is_empty());
    let store = Store::create(fixture.place()).unwrap();
    assert_eq!(store.tip().unwrap(), None);
    assert_eq!(store.view_status().unwrap(), ViewStatus::Absent);
    assert!(Store::open(fixture.place()).unwrap().is_none());
    step(&store).unwrap();
    let reopened = fixture.open();
    assert_eq!(reopened.tip().unwrap().unwrap().seq, 1);
    assert_eq!(reopened.id(), store.id());
}

#[test]
fn a_transition_is_read_back_as_it_was_written() {
    let (fixture, store) = Fixture::with(3);
    let written = next(&store);
    let committed = commit(&store, written.clone()).unwrap();
    assert!(committed.findings.is_empty(), "{:?}", committed.findings);

    let store = fixture.open();
    assert_eq!(store.snapshot().unwrap(), written.snapshot);
    let entry = store.entry("@").unwrap();
    assert_eq!(entry.commit, committed.tip.commit);
    assert_eq!(entry.event, written.event);
    assert_eq!(entry.facts, written.facts);
    assert_eq!(entry.records, written.records);
    assert_eq!(entry.snapshot, written.snapshot);
    assert_eq!((entry.seq, entry.rule.as_str()), (4, "S"));
    assert_eq!(entry.time, NOW);
    assert_eq!(
        entry.parent.as_deref(),
        Some(store.entry("@-").unwrap().commit.as_str())
    );
    let meta = store.resolve("@").unwrap();
    assert_eq!(
        (meta.event.as_str(), meta.actor.as_str()),
        ("paused", "user")
    );
    assert_eq!(meta.epoch_seconds, 1_767_323_045);
}

#[test]
fn the_view_shows_the_tip() {
    let (fixture, store) = Fixture::with(4);
    assert_eq!(store.view_status().unwrap(), ViewStatus::Current);
    assert!(store.outside_edits().unwrap().is_empty());
    let snapshot = store.snapshot().unwrap();
    assert_eq!(
        fixture.read("state.json"),
        serde_json::to_string_pretty(&snapshot.state).unwrap() + "\n"
    );
    assert_eq!(
        fixture.read("plan.json"),
        serde_json::to_string_pretty(&snapshot.plan).unwrap() + "\n"
    );
    let log = git2::Repository::open_bare(fixture.log("")).unwrap();
    let tip = store.resolve("@").unwrap().commit;
    let digests = log
        .revparse_single(&format!("{tip}:histories.json"))
        .unwrap();
    let digests: Value = serde_json::from_slice(digests.as_blob().unwrap().content()).unwrap();
    for history in History::ALL {
        let lines: Vec<String> = store
            .history_lines(history)
            .unwrap()
            .map(Result::unwrap)
            .collect();
        if history == History::Brief {
            // It is shown from its first line on.
            assert!(lines.is_empty() && !fixture.agent(history.file()).exists());
            continue;
        }
        let shown = fixture.read(history.file());
        assert_eq!(shown.lines().collect::<Vec<_>>(), lines);
        let digest = &digests[history.file().trim_end_matches(".jsonl")];
        assert_eq!(digest["records"], lines.len());
        assert_eq!(digest["bytes"], shown.len());
    }
    let leftovers = std::fs::read_dir(fixture.agent("tmp")).unwrap().count();
    assert_eq!(leftovers, 0);
}

#[test]
fn operations_have_names() {
    let (_fixture, store) = Fixture::with(5);
    let ids: Vec<String> = store
        .entries()
        .unwrap()
        .map(|meta| meta.unwrap().commit)
        .collect();
    assert_eq!(ids.len(), 5);
    for (name, expected) in [
        ("@", 0),
        ("@-", 1),
        ("@--", 2),
        ("@-3", 3),
        ("5", 0),
        ("1", 4),
        (ids[2].as_str(), 2),
        (&ids[3][..10], 3),
    ] {
        assert_eq!(store.resolve(name).unwrap().commit, ids[expected], "{name}");
    }
    for name in [
        "",
        "@-9",
        "0",
        "6",
        "main",
        "ffffffff",
        "../x",
        "@@",
        "99999999999999999999999",
    ] {
        let error = store.entry(name).unwrap_err();
        assert!(
            matches!(
                error,
                Failure {
                    code: Code::OperationUnknown,
                    ..
                }
            ),
            "{name}: {error}"
        );
    }
}

#[test]
fn a_transition_that_does_not_follow_is_refused() {
    let (_fixture, store) = Fixture::with(2);
    let good = next(&store);

    let mut wrong = good.clone();
    wrong.snapshot.ledger.seq.0 += 1;
    assert!(matches!(
        commit(&store, wrong),
        Err(Failure {
            code: Code::WriteFailed,
            ..
        })
    ));
    let mut wrong = good.clone();
    wrong.snapshot.state.revision = None;
    assert!(matches!(
        commit(&store, wrong),
        Err(Failure {
            code: Code::WriteFailed,
            ..
        })
    ));
    let mut wrong = good.clone();
    wrong.snapshot.active.revision.as_mut().unwrap().0 = 1;
    assert!(matches!(
        commit(&store, wrong),
        Err(Failure {
            code: Code::WriteFailed,
            ..
        })
    ));
    let mut wrong = good.clone();
    wrong.facts.now = "yesterday".to_owned();
    assert!(matches!(
        commit(&store, wrong),
        Err(Failure {
            code: Code::WriteFailed,
            ..
        })
    ));
    let mut wrong = good.clone();
    wrong.rule = "two words".to_owned();
    assert!(matches!(
        commit(&store, wrong),
        Err(Failure {
            code: Code::WriteFailed,
            ..
        })
    ));

    assert_eq!(store.tip().unwrap().unwrap().seq, 2);
    commit(&store, good).unwrap();
}

#[test]
fn of_two_writers_with_the_same_parent_one_wins() {
    let (fixture, store) = Fixture::with(2);
    let other = fixture.open();
    let (mine, theirs) = (next(&store), next(&other));
    commit(&store, mine).unwrap();
    let error = commit(&other, theirs).unwrap_err();
    assert!(
        matches!(
            error,
            Failure {
                code: Code::StaleFacts,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(other.tip().unwrap().unwrap().seq, 3);
    commit(&other, next(&other)).unwrap();
    assert_eq!(store.tip().unwrap().unwrap().seq, 4);
}

#[test]
fn edits_that_came_after_the_facts_are_stale_facts() {
    let (fixture, store) = Fixture::with(2);
    let mut judged = next(&store);
    judged.facts.outside_edits = Some(store.outside_edits().unwrap());
    fixture.edit("state.json", "\"continue\"", "\"done\"");
    let error = commit(&store, judged).unwrap_err();
    assert!(
        matches!(
            error,
            Failure {
                code: Code::StaleFacts,
                ..
            }
        ),
        "{error}"
    );
    let mut judged = next(&store);
    judged.facts.outside_edits = Some(store.outside_edits().unwrap());
    assert_eq!(judged.facts.outside_edits.as_ref().unwrap().len(), 1);
    commit(&store, judged).unwrap();
}

#[test]
fn a_lower_lease_epoch_is_fenced_off() {
    let (_fixture, store) = Fixture::with(2);
    let mut raised = next(&store);
    raised.snapshot.ledger.lease_epoch.0 = 1;
    raised.lease_epoch = 1;
    commit(&store, raised).unwrap();
    let mut old = next(&store);
    old.lease_epoch = 0;
    let error = commit(&store, old).unwrap_err();
    assert!(
        matches!(
            error,
            Failure {
                code: Code::Fenced,
                ..
            }
        ),
        "{error}"
    );
    let mut lowered = next(&store);
    lowered.snapshot.ledger.lease_epoch.0 = 0;
    assert!(commit(&store, lowered).is_err());
    step(&store).unwrap();
}

#[test]
fn undo_takes_documents_back_and_leaves_histories() {
    let (fixture, store) = Fixture::with(4);
    let slice_lines = fixture.read("slice-history.jsonl");
    let to = store.entry("2").unwrap();
    let event = Event::Undone {
        to: Box::new(to.snapshot.clone()),
        to_seq: cook_protocol::model::Count(2),
        undone: vec![3, 4],
        operations: Vec::new(),
    };
    let before = store.current().unwrap();
    commit(&store, transition(before, event)).unwrap();
    let now = store.snapshot().unwrap();
    assert_eq!(
        now.state.continuation_reason,
        to.snapshot.state.continuation_reason
    );
    assert_eq!(now.counters.steps.0, 3);
    assert_eq!(fixture.read("slice-history.jsonl"), slice_lines);
    let report = store
        .replay(|before, event, _, _| Ok(replay(before, event, next_seq(before))))
        .unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert_eq!(report.transitions, 5);
}

#[test]
fn worktrees_have_branches_of_their_own() {
    let (fixture, store) = Fixture::with(2);
    let git_dir = fixture.place().git_dir.join("worktrees/two");
    let worktree = fixture.dir.path().join("two");
    std::fs::create_dir_all(&git_dir).unwrap();
    std::fs::create_dir_all(&worktree).unwrap();
    let place = Place {
        git_dir: git_dir.clone(),
        worktree,
        ..fixture.place()
    };
    assert!(Store::open(place.clone()).unwrap().is_none());
    let second = Store::create(place.clone()).unwrap();
    step(&second).unwrap();
    assert_ne!(second.id(), store.id());
    assert_eq!(store.tip().unwrap().unwrap().seq, 2);
    assert_eq!(second.tip().unwrap().unwrap().seq, 1);

    // The worktree is removed; its workflow can still be read, and not be written.
    let id = second.id().to_owned();
    drop(second);
    std::fs::remove_dir_all(&git_dir).unwrap();
    let logs = Store::all_worktrees(&fixture.place()).unwrap();
    assert_eq!(logs.len(), 2);
    let gone = logs.iter().find(|log| log.id == id).unwrap();
    assert!(!gone.here);
    let other = Store::open_other(fixture.place(), &id).unwrap().unwrap();
    assert_eq!(other.tip().unwrap().unwrap().commit, gone.tip.commit);
    assert!(other.lock(WAIT).is_err());
    assert!(Store::open_other(fixture.place(), "../x").is_err());
}
