//! A log that is not as cook writes it, a log of a newer cook, damage, forgery, the lease.

use crate::support::store::*;
use cook_protocol::diagnostic::{Code, Failure, FailureKind};
use cook_repo::store::Store;
use std::path::Path;
use std::time::{Duration, SystemTime};

fn expect_refused(fixture: &Fixture) -> Failure {
    let error = Store::open(fixture.place()).unwrap_err();
    let created = Store::create(fixture.place()).unwrap_err();
    assert_eq!(error.code, created.code);
    error
}

#[test]
fn any_other_config_is_refused() {
    let (fixture, store) = Fixture::with(1);
    let config = fixture.log("config");
    let good = std::fs::read_to_string(&config).unwrap();
    for bad in [
        format!("{good}[include]\n\tpath = /tmp/x\n"),
        good.replace("/dev/null", "/tmp/hooks"),
        String::new(),
        good.replace("bare = true", "bare = false"),
    ] {
        std::fs::write(&config, bad).unwrap();
        assert_eq!(expect_refused(&fixture).code, Code::LogUnsafe);
        assert!(store.lock(WAIT).is_err());
    }
    std::fs::remove_file(&config).unwrap();
    assert_eq!(expect_refused(&fixture).code, Code::LogUnsafe);
    std::fs::write(&config, good).unwrap();
    step(&fixture.open()).unwrap();
}

#[cfg(unix)]
#[test]
fn symlinks_in_the_place_of_the_log_are_refused() {
    use std::os::unix::fs::symlink;
    for name in [
        "cook",
        "cook/log.git",
        "cook/log.git/objects",
        "cook/log.git/refs",
    ] {
        let (fixture, store) = Fixture::with(1);
        drop(store);
        let path = fixture.place().common_dir.join(name);
        let moved = fixture.dir.path().join("moved");
        std::fs::rename(&path, &moved).unwrap();
        symlink(&moved, &path).unwrap();
        assert_eq!(expect_refused(&fixture).code, Code::LogUnsafe, "{name}");
    }
    let (fixture, store) = Fixture::with(1);
    let lock = fixture.place().cook_dir().join("lock");
    std::fs::remove_file(&lock).unwrap();
    symlink(fixture.dir.path().join("made"), &lock).unwrap();
    assert!(store.lock(WAIT).is_err());
    assert!(!fixture.dir.path().join("made").exists());
}

#[test]
fn what_cannot_be_read_is_not_taken_for_absent() {
    let (fixture, store) = Fixture::with(2);
    let branch = fixture.log(&format!("refs/heads/{}", store.id()));
    let good = std::fs::read(&branch).unwrap();
    drop(store);
    for bad in ["", "garbage\n", "ref: refs/heads/none\n"] {
        std::fs::write(&branch, bad).unwrap();
        let opened = Store::open(fixture.place());
        // A symbolic ref to nothing is the one form that git itself calls absent.
        if !bad.starts_with("ref:") {
            assert!(
                matches!(
                    opened,
                    Err(Failure {
                        code: Code::LogUnreadable,
                        ..
                    })
                ),
                "{bad:?}"
            );
        }
    }
    std::fs::write(&branch, &good).unwrap();
    std::fs::write(fixture.place().id_file(), "../../x\n").unwrap();
    assert_eq!(expect_refused(&fixture).code, Code::LogUnsafe);
}

#[test]
fn creation_that_was_cut_short_is_made_good() {
    let fixture = Fixture::new();
    let cook = fixture.place().cook_dir();
    std::fs::create_dir_all(cook.join("cook-temporary-abc/log.git/objects")).unwrap();
    assert!(Store::open(fixture.place()).unwrap().is_none());
    let store = Store::create(fixture.place()).unwrap();
    let again = Store::create(fixture.place()).unwrap();
    assert_eq!(store.id(), again.id());
    step(&again).unwrap();
    assert_eq!(store.tip().unwrap().unwrap().seq, 1);
}

#[test]
fn of_many_creators_one_makes_the_log_and_all_open_it() {
    for _ in 0..10 {
        let fixture = Fixture::new();
        let ids: Vec<String> = std::thread::scope(|scope| {
            let makers: Vec<_> = (0..6)
                .map(|_| scope.spawn(|| Store::create(fixture.place()).unwrap().id().to_owned()))
                .collect();
            makers.into_iter().map(|m| m.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|id| *id == ids[0]));
        let left: Vec<_> = std::fs::read_dir(fixture.place().cook_dir())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["log.git"]);
    }
}

/// Commits a tree of the caller's making on the branch, as a forger would.
fn forge(fixture: &Fixture, store: &Store, change: impl Fn(&str, Vec<u8>) -> Option<Vec<u8>>) {
    let repo = git2::Repository::open_bare(fixture.log("")).unwrap();
    let branch = format!("refs/heads/{}", store.id());
    let tip = repo
        .find_reference(&branch)
        .unwrap()
        .peel_to_commit()
        .unwrap();
    let mut builder = repo.treebuilder(None).unwrap();
    for entry in &tip.tree().unwrap() {
        let name = entry.name().unwrap();
        if entry.kind() != Some(git2::ObjectType::Blob) {
            builder.insert(name, entry.id(), entry.filemode()).unwrap();
            continue;
        }
        let bytes = repo.find_blob(entry.id()).unwrap().content().to_vec();
        if let Some(bytes) = change(name, bytes) {
            let blob = repo.blob(&bytes).unwrap();
            builder.insert(name, blob, entry.filemode()).unwrap();
        }
    }
    let tree = repo.find_tree(builder.write().unwrap()).unwrap();
    let who = tip.author();
    let parents: Vec<_> = tip.parents().collect();
    let parents: Vec<_> = parents.iter().collect();
    let id = repo
        .commit(None, &who, &who, tip.message().unwrap(), &tree, &parents)
        .unwrap();
    repo.reference(&branch, id, true, "forged").unwrap();
}

fn swap(
    name: &'static str,
    from: &'static str,
    to: &'static str,
) -> impl Fn(&str, Vec<u8>) -> Option<Vec<u8>> {
    move |file, bytes| {
        if file != name {
            return Some(bytes);
        }
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains(from), "{file}: {text}");
        Some(text.replace(from, to).into_bytes())
    }
}

#[test]
fn a_newer_format_can_be_read_and_not_written() {
    let (fixture, store) = Fixture::with(2);
    forge(&fixture, &store, swap("format", "4", "5"));
    assert_eq!(store.format().unwrap(), 5);
    assert_eq!(store.snapshot().unwrap().ledger.seq.0, 2);
    let error = store.lock(WAIT).unwrap_err();
    assert!(
        matches!(
            error,
            Failure {
                code: Code::LogTooNew,
                ..
            }
        ),
        "{error}"
    );
    // What this cook cannot parse is called new, not broken.
    forge(
        &fixture,
        &store,
        swap("state.json", "\"project_done\"", "\"project_finished\""),
    );
    assert!(matches!(
        store.snapshot(),
        Err(Failure {
            code: Code::LogTooNew,
            ..
        })
    ));
}

#[test]
fn a_forged_log_is_not_derivable() {
    let apply =
        |before: Option<&_>, event: &_, _: &_, _| Ok(replay(before, event, next_seq(before)));
    for (file, from, to) in [
        ("state.json", "\"continue\"", "\"done\""),
        ("plan.json", "\"planned\"", "\"done\""),
        (
            "ledger.json",
            "\"regrounded\": false",
            "\"regrounded\": true",
        ),
        ("counters.json", "\"steps\": 4", "\"steps\": 0"),
        ("undone.json", "[]", "[1]"),
        (
            "profile.json",
            "\"required_stop_judges\": 3",
            "\"required_stop_judges\": 1",
        ),
        ("mission.md", "All of it", "Some of it"),
        ("histories.json", "\"records\": 4", "\"records\": 5"),
        ("event.json", "\"rule\": \"S\"", "\"rule\": \"4\""),
        ("event.json", "\"actor\": \"user\"", "\"actor\": \"role\""),
        ("event.json", "pause 5", "pause 6"),
        ("event.json", "\"seq\": 5", "\"seq\": 6"),
        ("event.json", "03:04:05", "03:04:06"),
    ] {
        let (fixture, store) = Fixture::with(5);
        assert!(store.replay(apply).unwrap().findings.is_empty());
        forge(&fixture, &store, swap(file, from, to));
        let report = store.replay(apply).unwrap();
        assert_eq!(report.transitions, 4, "{file} {to}");
        let forged = &report.findings[0];
        assert_eq!(forged.code, Code::LogNotDerivable, "{file}");
        assert_eq!(forged.place.as_deref(), Some("transition 5"));
    }
    let (fixture, store) = Fixture::with(5);
    forge(&fixture, &store, |file, bytes| {
        (file != "undone.json").then_some(bytes)
    });
    assert_eq!(
        store.replay(apply).unwrap().findings[0].code,
        Code::LogNotDerivable
    );
    // An event that is no longer accepted.
    let (_fixture, store) = Fixture::with(5);
    let report = store
        .replay(|before, event, _, _| {
            let seq = next_seq(before);
            if seq == 3 {
                Err("no".to_owned())
            } else {
                Ok(replay(before, event, seq))
            }
        })
        .unwrap();
    assert_eq!(report.transitions, 2);
    assert!(report.findings[0].message.contains("not accepted: no"));
}

#[test]
fn replay_reads_the_histories_of_the_view() {
    let apply =
        |before: Option<&_>, event: &_, _: &_, _| Ok(replay(before, event, next_seq(before)));
    let (fixture, store) = Fixture::with(7);
    let report = store.replay(apply).unwrap();
    assert_eq!((report.transitions, report.records), (7, 8));
    assert!(report.findings.is_empty());
    let good = fixture.read("slice-history.jsonl");
    for (text, code) in [
        (good.replace("pause 4", "pause 5"), Code::HistoryForged),
        (format!("{good}x"), Code::HistoryForged),
        (good[..good.len() - 3].to_owned(), Code::HistoryTorn),
    ] {
        std::fs::write(fixture.agent("slice-history.jsonl"), text).unwrap();
        let report = store.replay(apply).unwrap();
        assert_eq!(report.findings.len(), 1);
        assert_eq!(report.findings[0].code, code);
    }
    std::fs::remove_file(fixture.agent("slice-history.jsonl")).unwrap();
    assert_eq!(
        store.replay(apply).unwrap().findings[0].code,
        Code::DocumentMissing
    );
}

fn first_object(dir: &Path) -> std::path::PathBuf {
    let mut paths: Vec<_> = (0..256)
        .filter_map(|byte| std::fs::read_dir(dir.join(format!("{byte:02x}"))).ok())
        .flatten()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths.swap_remove(0)
}

#[test]
fn fsck_passes_a_good_log_and_names_damage() {
    let (fixture, store) = Fixture::with(6);
    let report = store.fsck().unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert_eq!((report.workflows, report.transitions), (1, 6));
    assert!(report.objects > 20);

    fixture.edit("state.json", "\"continue\"", "\"done\"");
    let codes = |store: &Store| -> Vec<Code> {
        store
            .fsck()
            .unwrap()
            .findings
            .iter()
            .map(|f| f.code)
            .collect()
    };
    assert_eq!(codes(&store), [Code::StateForged]);

    let path = first_object(&fixture.log("objects"));
    let good = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, &good[..good.len() / 2]).unwrap();
    let report = fixture.open().fsck();
    let found = report.unwrap().findings;
    assert!(
        found.iter().any(|f| f.code == Code::LogDamaged),
        "{found:?}"
    );
}

#[test]
fn the_users_objects_are_never_written() {
    let (fixture, store) = Fixture::with(3);
    let mut reground = next(&store);
    fixture.edit("plan.json", "do two", "do 2");
    reground.displace = true;
    commit(&store, reground).unwrap();
    store.rescue_list().unwrap();
    let objects = fixture.place().common_dir.join("objects");
    let made: Vec<_> = std::fs::read_dir(objects)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name != "info" && name != "pack")
        .collect();
    assert!(made.is_empty(), "{made:?}");
}

#[test]
fn a_dead_writers_ref_lock_does_not_stick() {
    let (fixture, store) = Fixture::with(1);
    let lock = fixture.log(&format!("refs/heads/{}.lock", store.id()));
    let file = std::fs::File::create(&lock).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60))
        .unwrap();
    step(&store).unwrap();
    assert!(!lock.exists());
}

#[test]
fn a_held_lock_is_waited_for_and_then_named() {
    let (fixture, store) = Fixture::with(1);
    let held = store.lock(WAIT).unwrap();
    let other = fixture.open();
    let error = other.lock(Duration::from_millis(30)).unwrap_err();
    assert!(
        matches!(
            error,
            Failure {
                code: Code::LockHeld,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(error.kind, FailureKind::Held);
    drop(held);
    // A process that another test just began holds the file too, until it runs its own program.
    other.lock(WAIT).unwrap();
}
