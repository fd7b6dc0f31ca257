//! Where rooms are: which of them go, and what stays of them.

use cook_protocol::model::Caches;
use cook_repo::room::Room;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// A directory for worktrees, and where their rooms will be.
fn make_place() -> (TempDir, PathBuf) {
    crate::scratch::hermetic();
    let dir = tempfile::tempdir().unwrap();
    let rooms = dir.path().join("rooms");
    (dir, rooms)
}

fn open(rooms: &Path, worktree: &Path) -> Room {
    fs::create_dir_all(worktree).unwrap();
    Room::open(rooms, worktree, "w", Caches::Kept, false).unwrap()
}

fn list(rooms: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(rooms)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    found.sort();
    found
}

#[test]
fn a_lock_of_no_room_goes_and_a_file_of_somebody_else_stays() {
    let (dir, rooms) = make_place();
    fs::create_dir(&rooms).unwrap();
    let lock = rooms.join("0123456789abcdef-0.lock");
    let others = [
        "poetry.lock",
        "0123456789abcdef.lock",
        "0123456789abcdef-0.txt",
    ];
    for name in others {
        fs::write(rooms.join(name), "").unwrap();
    }
    fs::write(&lock, "").unwrap();
    drop(open(&rooms, &dir.path().join("here")));
    assert!(!lock.exists());
    assert!(others.iter().all(|name| rooms.join(name).exists()));
}

/// Whoever removes a room takes the file of its lock away, while somebody may wait for that.
#[test]
fn who_waited_for_a_lock_that_went_is_not_in_the_room_of_who_took_the_next() {
    let (dir, rooms) = make_place();
    let here = dir.path().join("here");
    let first = open(&rooms, &here);
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let room = open(&rooms, &here);
            let path = room.path().to_owned();
            std::thread::sleep(Duration::from_millis(200));
            path
        });
        std::thread::sleep(Duration::from_millis(30));
        let lock = list(&rooms).into_iter().find(|it| it.is_file()).unwrap();
        fs::remove_file(lock).unwrap();
        let next = open(&rooms, &here);
        assert_eq!(next.path(), first.path());
        drop(first);
        assert_ne!(waits.join().unwrap(), next.path());
    });
}
