//! The store through its public API: create, read, commit, reopen.

use crate::support::store::*;
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::model::Event;

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
