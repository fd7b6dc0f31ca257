//! libgit2 opens what stands at the name of an object or a ref, and a FIFO there keeps it waiting for
//! ever. Looking at every such file before would cost each command more than its answer. So a
//! thread watches whether one of this process is stuck, looks for FIFOs then, and opens and closes
//! them at their other end: whoever waited reads nothing, and says what is damaged.

use super::special::{common_dir_of, fifos, git_dir_of};
use cook_os::{disk, thread};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

/// How often it is looked whether somebody is stuck.
const TICK: Duration = Duration::from_millis(500);
/// The same once a FIFO was found.
const NEAR: Duration = Duration::from_millis(20);

/// Watches from now on, once in a process. Where no thread can be started nobody watches.
pub(super) fn watch(worktree: &Path) {
    static ONCE: Once = Once::new();
    let Some(git_dir) = git_dir_of(worktree) else {
        return;
    };
    ONCE.call_once(|| {
        let _ = thread::spawn(move || release(&git_dir));
    });
}

fn release(git_dir: &Path) {
    let mut found: Vec<PathBuf> = Vec::new();
    for tick in 1u64.. {
        std::thread::sleep(TICK);
        // Where it cannot be told, a look now and then has to do.
        if is_opening().unwrap_or(tick.is_power_of_two()) {
            found = fifos(&[git_dir.to_owned(), common_dir_of(git_dir)]);
        }
        if found.is_empty() {
            continue;
        }
        for _ in 0..TICK.as_millis() / NEAR.as_millis() {
            found.iter().for_each(|path| disk::release_reader(path));
            std::thread::sleep(NEAR);
        }
    }
}

/// Whether a thread of this process opens something right now; none where that is not told.
#[cfg(target_os = "linux")]
fn is_opening() -> Option<bool> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    let mut told = None;
    for task in tasks.flatten() {
        let call = disk::read_text(&task.path().join("syscall"), 4096, disk::Links::Refuse);
        let Ok(Some(call)) = call else {
            continue;
        };
        let number = call.split(' ').next().and_then(|word| word.parse().ok());
        told = Some(told == Some(true) || number.is_some_and(|call: i64| disk::is_open_call(call)));
    }
    told
}

#[cfg(not(target_os = "linux"))]
fn is_opening() -> Option<bool> {
    None
}
