//! Finds and ends all processes that a child started.
//!
//! A process belongs to the child if it is in its process group or session, descends from it, was orphaned and
//! reparented to cook (a daemon that left its group, session and parent), was seen to belong to it earlier, or carries
//! the mark of the session in its environment. Processes are found through `/proc`, so this works on Linux; elsewhere
//! only the process group is ended.

use process_wrap::std::ChildWrapper;
use std::time::Duration;

/// The signal that asks a child to end gracefully.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Polite {
    /// SIGINT, as from Ctrl-C.
    Interrupt,
    /// SIGTERM.
    #[default]
    Terminate,
}

/// The maximum number of sweeps over a tree that keeps growing.
const SWEEPS: usize = 50;
const BETWEEN_SWEEPS: Duration = Duration::from_millis(10);

/// A child and the processes that belong to it.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub(super) struct Tree {
    leader: u32,
    mark: Option<String>,
    adopts: bool,
    #[cfg(target_os = "linux")]
    known: linux::Known,
}

impl Tree {
    fn of(leader: u32, mark: Option<(&str, &str)>) -> Self {
        Self {
            leader,
            mark: mark.map(|(name, mark)| format!("{name}={mark}")),
            adopts: false,
            #[cfg(target_os = "linux")]
            known: linux::Known::default(),
        }
    }

    /// Starts a child that leads a session and returns it with its tree. With a mark, `name=mark` is in the child's
    /// environment. Orphaned descendants are reparented to this process and count as the child's. The leaders stay
    /// locked until the child is registered as one, so that no other tree takes it for an orphan.
    pub(super) fn adopting<E>(
        mark: Option<(&str, &str)>,
        start: impl FnOnce() -> Result<Box<dyn ChildWrapper>, E>,
    ) -> Result<(Box<dyn ChildWrapper>, Self), E> {
        #[cfg(target_os = "linux")]
        let mut leaders = linux::adopt();
        let child = start()?;
        #[cfg(target_os = "linux")]
        leaders.insert(child.id());
        let mut tree = Self::of(child.id(), mark);
        tree.adopts = true;
        Ok((child, tree))
    }

    /// Records the processes that belong to the child now, so that they are recognised after it has ended.
    pub(super) fn look(&mut self) {
        #[cfg(target_os = "linux")]
        linux::look(&mut self.known, self.leader);
    }

    /// Signals only the program itself, with the signal it prefers. In a sandbox, that is the only child of the
    /// sandbox's first process, which the leader started; signalling either of those two would end everything in the
    /// sandbox.
    #[cfg_attr(not(unix), allow(unused_variables))]
    pub(super) fn ask(&self, polite: Polite, is_inside: bool) {
        #[cfg(unix)]
        {
            use nix::sys::signal::{Signal, kill};
            let signal = match polite {
                Polite::Interrupt => Signal::SIGINT,
                Polite::Terminate => Signal::SIGTERM,
            };
            #[cfg(target_os = "linux")]
            if is_inside
                && let Some(program) = linux::find_child(self.leader).and_then(linux::find_child)
            {
                return linux::send(program, signal);
            }
            if let Ok(pid) = i32::try_from(self.leader) {
                let _ = kill(nix::unistd::Pid::from_raw(pid), signal);
            }
        }
    }

    /// Sends SIGTERM to the process group. Harmless if the group is gone, as long as the leader has not been waited for
    /// (its id cannot have been reused).
    pub(super) fn terminate(&self) {
        #[cfg(unix)]
        signal_group(self.leader, nix::sys::signal::Signal::SIGTERM);
    }

    /// Kills all processes that belong to the child, until a sweep finds none. Returns whether the last sweep was
    /// empty.
    pub(super) fn end(&mut self) -> bool {
        for sweep in 0..SWEEPS {
            let found = self.end_found();
            #[cfg(unix)]
            signal_group(self.leader, nix::sys::signal::Signal::SIGKILL);
            if found == 0 {
                return true;
            }
            if sweep + 1 < SWEEPS {
                std::thread::sleep(BETWEEN_SWEEPS);
            }
        }
        false
    }

    /// Kills all processes that belong to the child except the leader. Returns how many there were.
    ///
    /// All of them are stopped before the first is killed: once a parent is gone, its descendants can no longer be
    /// recognised.
    #[cfg(target_os = "linux")]
    fn end_found(&mut self) -> usize {
        use nix::sys::signal::Signal;
        signal_group(self.leader, Signal::SIGSTOP);
        let adopts = self.adopts;
        let mut find =
            || linux::belonging(&mut self.known, self.leader, self.mark.as_deref(), adopts);
        let mut found = find();
        for _ in 0..SWEEPS {
            found
                .iter()
                .for_each(|pid| linux::send(*pid, Signal::SIGSTOP));
            let now = find();
            let grown = !now.is_subset(&found);
            found = now;
            if !grown {
                break;
            }
        }
        found
            .iter()
            .for_each(|pid| linux::send(*pid, Signal::SIGKILL));
        found.iter().for_each(|pid| linux::reap(*pid));
        found.len()
    }

    #[cfg(not(target_os = "linux"))]
    fn end_found(&mut self) -> usize {
        0
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        if self.adopts {
            linux::unregister(self.leader);
        }
    }
}

/// Kills every process that has `name=mark` in its environment, and its descendants: left over from a cook process that
/// was killed. Returns their number; 0 without `/proc`.
pub fn end_marked(name: &str, mark: &str) -> usize {
    let mut tree = Tree::of(0, Some((name, mark)));
    let mut ended = 0;
    for _ in 0..SWEEPS {
        match tree.end_found() {
            0 => break,
            found => ended += found,
        }
        std::thread::sleep(BETWEEN_SWEEPS);
    }
    ended
}

/// Kills the process groups of all children that adopt orphans, without waiting: cook itself is about to end.
pub(super) fn end_all() {
    #[cfg(target_os = "linux")]
    for leader in linux::leaders() {
        signal_group(leader, nix::sys::signal::Signal::SIGKILL);
    }
}

/// Ids of 1 and below are ignored: to `killpg`, group 0 is cook's own group.
#[cfg(unix)]
pub(super) fn signal_group(leader: u32, signal: nix::sys::signal::Signal) {
    if let Ok(group) = i32::try_from(leader)
        && group > 1
    {
        let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(group), signal);
    }
}

/// The parent of a process.
#[cfg(target_os = "linux")]
pub(super) fn find_parent(pid: u32) -> Option<u32> {
    linux::read(pid).map(|process| process.parent)
}

#[cfg(target_os = "linux")]
mod linux {
    use nix::sys::signal::{Signal, kill};
    use nix::sys::wait::{WaitPidFlag, waitpid};
    use nix::unistd::Pid;
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::io::{self, Read};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// Leaders of the trees that adopt orphans; a leader is not an orphan itself.
    static LEADERS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

    /// Makes this process the reaper of orphans from now on, and locks the set of leaders.
    pub(super) fn adopt() -> MutexGuard<'static, BTreeSet<u32>> {
        let _ = nix::sys::prctl::set_child_subreaper(true);
        LEADERS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The current leaders; empty if the set is locked.
    pub(super) fn leaders() -> BTreeSet<u32> {
        let leaders = LEADERS.try_lock();
        leaders.map_or_else(|_| BTreeSet::new(), |leaders| leaders.clone())
    }

    pub(super) fn unregister(leader: u32) {
        let mut leaders = LEADERS.lock().unwrap_or_else(PoisonError::into_inner);
        leaders.remove(&leader);
    }

    /// The processes known to belong to a tree, with their start times because process ids are reused, and their
    /// sessions.
    #[derive(Debug, Default)]
    pub(super) struct Known {
        processes: BTreeMap<u32, u64>,
        sessions: BTreeSet<u32>,
    }

    pub(super) struct Process {
        pid: u32,
        pub(super) parent: u32,
        group: u32,
        session: u32,
        started: u64,
        gone: bool,
    }

    pub(super) fn send(pid: u32, signal: Signal) {
        if let Ok(pid) = i32::try_from(pid) {
            let _ = kill(Pid::from_raw(pid), signal);
        }
    }

    /// Waits for an orphan that was reparented to cook; otherwise it would stay in the process table.
    pub(super) fn reap(pid: u32) {
        if let Ok(pid) = i32::try_from(pid) {
            let _ = waitpid(Pid::from_raw(pid), Some(WaitPidFlag::WNOHANG));
        }
    }

    /// Records the processes that belong by group, session and descent.
    pub(super) fn look(known: &mut Known, leader: u32) {
        let processes = list();
        grow(known, leader, &processes, |_| false);
    }

    /// The living processes of the child's tree, without its leader.
    pub(super) fn belonging(
        known: &mut Known,
        leader: u32,
        mark: Option<&str>,
        adopts: bool,
    ) -> BTreeSet<u32> {
        let processes = list();
        let own = std::process::id();
        // Read after the process list, so that every leader in the list is registered by now.
        let leaders = LEADERS
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let own_session = find_session(&processes, own);
        // Cook's other children stay in its session. With several trees at once, an orphan cannot be attributed to one
        // of them: the last tree ends it.
        let alone = adopts && leaders.len() <= 1;
        let orphan = |process: &Process| {
            alone
                && process.parent == own
                && process.session != own_session
                && !leaders.contains(&process.pid)
        };
        let found = grow(known, leader, &processes, |process| {
            orphan(process) || mark.is_some_and(|mark| carries(process.pid, mark))
        });
        processes
            .iter()
            .filter(|process| !process.gone && found.contains(&process.pid))
            .map(|process| process.pid)
            .filter(|pid| *pid != leader && *pid != own)
            .collect()
    }

    /// All processes that belong to the tree, including the leader; they are recorded in `known`.
    fn grow(
        known: &mut Known,
        leader: u32,
        processes: &[Process],
        also: impl Fn(&Process) -> bool,
    ) -> BTreeSet<u32> {
        let own = std::process::id();
        let is_known = |process: &Process| {
            known.processes.get(&process.pid) == Some(&process.started)
                || known.sessions.contains(&process.session)
        };
        let mut found: BTreeSet<u32> = processes
            .iter()
            .filter(|process| process.pid != own)
            .filter(|process| {
                (leader != 0 && (process.group == leader || process.session == leader))
                    || is_known(process)
                    || also(process)
            })
            .map(|process| process.pid)
            .collect();
        if leader != 0 {
            found.insert(leader);
        }
        loop {
            let before = found.len();
            for process in processes {
                if found.contains(&process.parent) && process.pid != own {
                    found.insert(process.pid);
                }
            }
            if found.len() == before {
                break;
            }
        }
        let own_session = find_session(processes, own);
        for process in processes
            .iter()
            .filter(|process| found.contains(&process.pid))
        {
            known.processes.insert(process.pid, process.started);
            if process.session != own_session && process.session != 0 {
                known.sessions.insert(process.session);
            }
        }
        found
    }

    /// The session of a process; 0 if it is not listed.
    fn find_session(processes: &[Process], pid: u32) -> u32 {
        let found = processes.iter().find(|process| process.pid == pid);
        found.map_or(0, |process| process.session)
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

    /// The oldest living child.
    pub(super) fn find_child(pid: u32) -> Option<u32> {
        let processes = list();
        let children = processes
            .iter()
            .filter(|one| one.parent == pid && !one.gone);
        children
            .min_by_key(|one| (one.started, one.pid))
            .map(|one| one.pid)
    }

    /// Parses `/proc/<pid>/stat`: `pid (name) state parent group session …`; the name may hold any character. The start
    /// time is the 22nd field.
    pub(super) fn read(pid: u32) -> Option<Process> {
        let bytes = read_whole(pid, "stat", 1 << 10).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?;
        Some(Process {
            pid,
            parent: fields.next()?.parse().ok()?,
            group: fields.next()?.parse().ok()?,
            session: fields.next()?.parse().ok()?,
            started: fields.nth(15)?.parse().ok()?,
            gone: matches!(state, "Z" | "X"),
        })
    }

    /// Reads a file of `/proc/<pid>`, whose length the system does not report. A buffer of the right size needs one
    /// read instead of the five of `fs::read`, which matters because every process of the machine is examined.
    fn read_whole(pid: u32, name: &str, room: usize) -> io::Result<Vec<u8>> {
        let mut file = fs::File::open(format!("/proc/{pid}/{name}"))?;
        let mut bytes = vec![0; room];
        let mut length = 0;
        loop {
            match file.read(&mut bytes[length..])? {
                0 => break,
                read => length += read,
            }
            if length == bytes.len() {
                bytes.resize(2 * length, 0);
            }
        }
        bytes.truncate(length);
        Ok(bytes)
    }

    fn carries(pid: u32, mark: &str) -> bool {
        read_whole(pid, "environ", 16 << 10).is_ok_and(|environment| {
            environment
                .split(|byte| *byte == 0)
                .any(|entry| entry == mark.as_bytes())
        })
    }
}

/// The working directories of all processes with this name; `None` if the system cannot list them. Processes of other
/// users, whose directory cannot be read, are left out.
pub fn working_directories(name: &str) -> Option<Vec<std::path::PathBuf>> {
    #[cfg(target_os = "linux")]
    {
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").ok()? {
            let Ok(entry) = entry else { continue };
            let is_id = entry
                .file_name()
                .as_encoded_bytes()
                .iter()
                .all(u8::is_ascii_digit);
            let path = entry.path();
            if is_id
                && std::fs::read_to_string(path.join("comm"))
                    .is_ok_and(|comm| comm.trim_end() == name)
            {
                found.extend(std::fs::read_link(path.join("cwd")).ok());
            }
        }
        Some(found)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = name;
        None
    }
}

/// Whether a process with this id exists. True if that cannot be determined.
pub fn is_alive(pid: u32) -> bool {
    #[cfg(unix)]
    if let Ok(pid) = i32::try_from(pid) {
        use nix::errno::Errno;
        return nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), None) != Err(Errno::ESRCH);
    }
    let _ = pid;
    true
}
