//! `.agent/` against the log: edits from outside, interrupted writes, kept copies.

use crate::support::store::*;
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::machine::OutsideEdit;
use cook_repo::store::{DifferenceKind, Store, ViewStatus};
use std::collections::BTreeMap;
use std::path::Path;

/// In the order in which they are written.
const FILES: [&str; 6] = [
    "slice-history.jsonl",
    "stop-check-history.jsonl",
    "plan.json",
    "verification-evidence.json",
    "active-slice.json",
    "state.json",
];

fn edits(store: &Store) -> Vec<OutsideEdit> {
    store.outside_edits().unwrap()
}

fn contents(fixture: &Fixture) -> BTreeMap<&'static str, Vec<u8>> {
    FILES
        .into_iter()
        .map(|file| (file, std::fs::read(fixture.agent(file)).unwrap()))
        .collect()
}

fn is_whole(fixture: &Fixture, store: &Store) {
    assert_eq!(store.view_status().unwrap(), ViewStatus::Current);
    assert!(edits(store).is_empty(), "{:?}", edits(store));
    assert!(store.find_differences_by_content().unwrap().is_empty());
    let snapshot = store.snapshot().unwrap();
    let state: cook_protocol::model::State =
        serde_json::from_str(&fixture.read("state.json")).unwrap();
    assert_eq!(state, snapshot.state);
}

fn recover(store: &Store) -> cook_repo::store::Recovery {
    store
        .lock(WAIT)
        .unwrap()
        .recover()
        .unwrap()
        .recovery()
        .clone()
}

#[test]
fn what_is_no_document_at_all_is_an_edit_too() {
    let (fixture, store) = Fixture::with(3);
    let cases: [(&str, &[u8], DifferenceKind); 5] = [
        ("state.json", b"", DifferenceKind::NotJson),
        ("state.json", b"\0\0\0\0", DifferenceKind::NotJson),
        (
            "plan.json",
            b"{\"candidate_slices\": [",
            DifferenceKind::NotJson,
        ),
        ("plan.json", b"[]", DifferenceKind::Edited),
        ("slice-history.jsonl", b"{}\n", DifferenceKind::Edited),
    ];
    for (file, bytes, kind) in cases {
        let good = std::fs::read(fixture.agent(file)).unwrap();
        std::fs::write(fixture.agent(file), bytes).unwrap();
        let found = store.differences().unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].file.as_str(), found[0].kind), (file, kind));
        std::fs::write(fixture.agent(file), good).unwrap();
    }
    let deep = "[".repeat(100_000);
    std::fs::write(fixture.agent("state.json"), deep).unwrap();
    assert_eq!(
        store.differences().unwrap()[0].kind,
        DifferenceKind::NotJson
    );
    let huge = std::fs::File::create(fixture.agent("state.json")).unwrap();
    huge.set_len(100 << 20).unwrap();
    assert_eq!(
        store.differences().unwrap()[0].kind,
        DifferenceKind::TooLarge
    );
    // Too large to be kept: putting the log's version back is refused, nothing is lost.
    let mut reground = next(&store);
    reground.displace = true;
    let error = commit(&store, reground).unwrap_err();
    assert!(
        matches!(
            error,
            Failure {
                code: Code::InputTooLarge,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(store.tip().unwrap().unwrap().seq, 3);
}

#[test]
fn copies_are_only_restored_inside_the_worktree() {
    let (fixture, store) = Fixture::with(2);
    fixture.edit("plan.json", "do two", "do 2");
    let mut reground = next(&store);
    reground.displace = true;
    let id = commit(&store, reground).unwrap().displaced.unwrap();
    let outside = fixture.dir.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    for into in ["..", "../outside", "a/../../x", "/", ".git", "x/.git/hooks"] {
        let error = store
            .rescue_restore(&id, &[], Path::new(into), true)
            .unwrap_err();
        assert!(
            matches!(
                error,
                Failure {
                    code: Code::NotWritable,
                    ..
                }
            ),
            "{into}: {error}"
        );
    }
    assert!(store.rescue_restore(&id, &[], &outside, true).is_err());
    #[cfg(unix)]
    {
        let link = fixture.place().worktree.join("link");
        std::os::unix::fs::symlink(&outside, link).unwrap();
        assert!(
            store
                .rescue_restore(&id, &[], Path::new("link"), true)
                .is_err()
        );
    }
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    for bad in ["", "../heads/x", "none"] {
        assert!(matches!(
            store.rescue_show(bad, "x"),
            Err(Failure {
                code: Code::OperationUnknown,
                ..
            })
        ));
    }
}

#[test]
fn a_write_interrupted_at_any_file_is_rolled_forward() {
    let (fixture, store) = Fixture::with(5);
    let stamp = fixture.place().stamp_file();
    for written in 0..=FILES.len() {
        let (old, old_stamp) = (contents(&fixture), std::fs::read(&stamp).unwrap());
        step(&store).unwrap();
        let new = contents(&fixture);
        for (index, file) in FILES.into_iter().enumerate() {
            if index >= written && old[file] != new[file] {
                std::fs::write(fixture.agent(file), &old[file]).unwrap();
            }
        }
        std::fs::write(&stamp, old_stamp).unwrap();
        assert_eq!(store.view_status().unwrap(), ViewStatus::Pending);
        assert!(edits(&store).is_empty(), "{written}: {:?}", edits(&store));
        let recovery = recover(&store);
        assert!(recovery.rolled_forward);
        assert_eq!(recovery.displaced, None);
        assert_eq!(contents(&fixture), new, "{written}");
        is_whole(&fixture, &store);
        assert_eq!(recover(&store), cook_repo::store::Recovery::default());
    }
}

#[test]
fn an_append_torn_at_any_byte_is_completed() {
    let (fixture, store) = Fixture::with(4);
    let stamp = fixture.place().stamp_file();
    let (old, old_stamp) = (contents(&fixture), std::fs::read(&stamp).unwrap());
    step(&store).unwrap();
    let new = contents(&fixture);
    let name = "slice-history.jsonl";
    for length in (old[name].len()..new[name].len()).step_by(7) {
        for (file, bytes) in &old {
            std::fs::write(fixture.agent(file), bytes).unwrap();
        }
        std::fs::write(fixture.agent(name), &new[name][..length]).unwrap();
        std::fs::write(&stamp, &old_stamp).unwrap();
        assert!(edits(&store).is_empty(), "{length}");
        assert!(recover(&store).rolled_forward);
        assert_eq!(contents(&fixture), new, "{length}");
    }
    assert!(store.rescue_list().unwrap().is_empty());
}

#[test]
fn an_interrupted_write_over_edits_keeps_them() {
    let (fixture, store) = Fixture::with(4);
    let stamp = fixture.place().stamp_file();
    let old_stamp = std::fs::read(&stamp).unwrap();
    step(&store).unwrap();
    std::fs::write(&stamp, old_stamp).unwrap();
    std::fs::write(fixture.agent("state.json"), "mine").unwrap();
    let history = fixture.read("slice-history.jsonl");
    let shorter: String = history.lines().take(1).map(|l| format!("{l}\n")).collect();
    std::fs::write(fixture.agent("slice-history.jsonl"), shorter).unwrap();
    std::fs::write(fixture.agent("stop-check-history.jsonl"), "also mine\n").unwrap();
    let files: Vec<String> = edits(&store).into_iter().map(|edit| edit.file).collect();
    assert_eq!(
        files,
        [
            "slice-history.jsonl",
            "state.json",
            "stop-check-history.jsonl"
        ]
    );
    let recovery = recover(&store);
    assert!(recovery.rolled_forward);
    let id = recovery.displaced.unwrap();
    assert_eq!(
        store.rescue_show(&id, ".agent/state.json").unwrap(),
        b"mine"
    );
    assert_eq!(
        store
            .rescue_show(&id, ".agent/stop-check-history.jsonl")
            .unwrap(),
        b"also mine\n"
    );
    assert_eq!(fixture.read("slice-history.jsonl"), history);
    is_whole(&fixture, &store);
}

#[cfg(unix)]
#[test]
fn symlinks_are_never_followed() {
    use std::os::unix::fs::symlink;
    let (fixture, store) = Fixture::with(3);
    let victim = fixture.dir.path().join("victim");
    std::fs::write(&victim, "untouched").unwrap();
    for file in ["state.json", "slice-history.jsonl"] {
        std::fs::remove_file(fixture.agent(file)).unwrap();
        symlink(&victim, fixture.agent(file)).unwrap();
    }
    let found = store.differences().unwrap();
    assert!(found.iter().all(|d| d.kind == DifferenceKind::NotAFile));
    assert_eq!(found.len(), 2);
    let mut reground = next(&store);
    reground.displace = true;
    let id = commit(&store, reground).unwrap().displaced.unwrap();
    assert_eq!(
        store.rescue_show(&id, ".agent/state.json").unwrap(),
        victim.as_os_str().as_encoded_bytes()
    );
    is_whole(&fixture, &store);
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "untouched");

    // `.agent` itself, and its scratch directory.
    let elsewhere = fixture.dir.path().join("elsewhere");
    std::fs::rename(fixture.place().agent_dir(), &elsewhere).unwrap();
    symlink(&elsewhere, fixture.place().agent_dir()).unwrap();
    assert!(matches!(
        store.outside_edits(),
        Err(Failure {
            code: Code::AgentDirUnsafe,
            ..
        })
    ));
    assert!(step(&store).is_err());
    std::fs::remove_file(fixture.place().agent_dir()).unwrap();
    std::fs::write(fixture.place().agent_dir(), "a file").unwrap();
    assert!(matches!(
        store.view_status(),
        Err(Failure {
            code: Code::AgentDirUnsafe,
            ..
        })
    ));
    std::fs::remove_file(fixture.place().agent_dir()).unwrap();
    std::fs::rename(&elsewhere, fixture.place().agent_dir()).unwrap();
    std::fs::remove_dir(fixture.agent("tmp")).unwrap();
    symlink(fixture.dir.path(), fixture.agent("tmp")).unwrap();
    assert!(step(&store).is_err());
    assert_eq!(store.tip().unwrap().unwrap().seq, 4);
}

#[test]
fn a_branch_that_was_moved_back_is_not_taken_for_the_truth() {
    let (fixture, store) = Fixture::with(3);
    let branch = format!("refs/heads/{}", store.id());
    let log = git2::Repository::open_bare(fixture.log("")).unwrap();
    let tip = log.refname_to_id(&branch).unwrap();
    let older = log.find_commit(tip).unwrap().parent_id(0).unwrap();
    log.reference(&branch, older, true, "test").unwrap();

    let error = store.differences().unwrap_err();
    let failure = error;
    assert_eq!(failure.code, Code::LogRewound);
    assert!(failure.message.contains("from #3 to #2"), "{failure:?}");
    assert!(failure.hints[0].contains(&format!("update-ref {branch} {tip}")));
    let locked = store.lock(WAIT).unwrap();
    assert!(matches!(
        locked.recover(),
        Err(Failure {
            code: Code::LogRewound,
            ..
        })
    ));
    let found = store.fsck().unwrap().findings;
    assert!(found.iter().any(|f| f.code == Code::LogRewound));

    // Brought back, nothing is wrong; and what never was a descendant is not a rewinding.
    log.reference(&branch, tip, true, "test").unwrap();
    assert_eq!(store.differences().unwrap(), Vec::new());
    recover(&store);
}
