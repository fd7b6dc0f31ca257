//! Every process a child brought into being, and its end.
//!
//! A process belongs to the child when it is in its process group, descends
//! from it, or carries its mark in its environment (a daemon that left group,
//! session and parent still does). The mark is looked for in `/proc`, so it works
//! on Linux; elsewhere the group alone is ended.

use std::time::Duration;

/// The variable that marks a gate's processes.
pub(super) const MARK: &str = "COOK_GATE";

/// How often a tree that keeps growing is swept.
const SWEEPS: usize = 50;
const BETWEEN_SWEEPS: Duration = Duration::from_millis(10);

/// Asks the group to end. Harmless when it is gone already, as long as the
/// leader has not been waited for (its id cannot have been given to another).
pub(super) fn ask_to_end(leader: u32) {
    #[cfg(unix)]
    signal_group(leader, nix::sys::signal::Signal::SIGTERM);
    #[cfg(not(unix))]
    let _ = leader;
}

/// Ends the group and everything that descends from it or carries the mark,
/// until a sweep finds nothing more. True when the last sweep was empty.
pub(super) fn end_all(leader: u32, mark: &str) -> bool {
    for sweep in 0..SWEEPS {
        let found = end_found(leader, mark);
        #[cfg(unix)]
        signal_group(leader, nix::sys::signal::Signal::SIGKILL);
        if found == 0 {
            return true;
        }
        if sweep + 1 < SWEEPS {
            std::thread::sleep(BETWEEN_SWEEPS);
        }
    }
    false
}

#[cfg(unix)]
fn signal_group(leader: u32, signal: nix::sys::signal::Signal) {
    if let Ok(group) = i32::try_from(leader) {
        let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(group), signal);
    }
}

#[cfg(not(target_os = "linux"))]
fn end_found(_leader: u32, _mark: &str) -> usize {
    0
}

/// Ends what belongs to the child, other than the leader itself; how many there were.
///
/// All of it is stopped before any of it is ended: a parent that is gone no longer
/// tells whose child is whose.
#[cfg(target_os = "linux")]
fn end_found(leader: u32, mark: &str) -> usize {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    let send = |pid: u32, signal| {
        if let Ok(pid) = i32::try_from(pid) {
            let _ = kill(Pid::from_raw(pid), signal);
        }
    };
    signal_group(leader, Signal::SIGSTOP);
    let mut found = linux::belonging(leader, mark);
    for _ in 0..SWEEPS {
        found.iter().for_each(|pid| send(*pid, Signal::SIGSTOP));
        let now = linux::belonging(leader, mark);
        let grown = !now.is_subset(&found);
        found = now;
        if !grown {
            break;
        }
    }
    found.iter().for_each(|pid| send(*pid, Signal::SIGKILL));
    found.len()
}

#[cfg(target_os = "linux")]
mod linux {
    use super::MARK;
    use std::collections::BTreeSet;
    use std::fs;

    struct Process {
        pid: u32,
        parent: u32,
        group: u32,
        gone: bool,
    }

    /// Living processes of the child's tree, without its leader.
    pub(super) fn belonging(leader: u32, mark: &str) -> BTreeSet<u32> {
        let processes = list();
        let mark = format!("{MARK}={mark}");
        let mut found: BTreeSet<u32> = processes
            .iter()
            .filter(|process| process.group == leader || carries(process.pid, &mark))
            .map(|process| process.pid)
            .collect();
        found.insert(leader);
        loop {
            let before = found.len();
            for process in &processes {
                if found.contains(&process.parent) {
                    found.insert(process.pid);
                }
            }
            if found.len() == before {
                break;
            }
        }
        found.remove(&leader);
        found.remove(&std::process::id());
        for process in processes.iter().filter(|process| process.gone) {
            found.remove(&process.pid);
        }
        found
    }

    fn list() -> Vec<Process> {
        let Ok(entries) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter_map(read)
            .collect()
    }

    /// `/proc/<pid>/stat`: `pid (name) state parent group …`; the name may hold anything.
    fn read(pid: u32) -> Option<Process> {
        let bytes = fs::read(format!("/proc/{pid}/stat")).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?;
        Some(Process {
            pid,
            parent: fields.next()?.parse().ok()?,
            group: fields.next()?.parse().ok()?,
            gone: matches!(state, "Z" | "X"),
        })
    }

    fn carries(pid: u32, mark: &str) -> bool {
        fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
            environment
                .split(|byte| *byte == 0)
                .any(|entry| entry == mark.as_bytes())
        })
    }
}
