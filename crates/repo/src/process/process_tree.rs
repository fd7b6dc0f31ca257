//! Every process a child brought into being, and its end.
//!
//! A process belongs to the child when it is in its process group or session, descends
//! from it, was orphaned to cook out of it (a daemon that left group, session and parent is),
//! was seen to belong earlier, or carries the mark of its session in its environment.
//! Processes are looked for in `/proc`, so it works on Linux; elsewhere the group alone
//! is ended.

use process_wrap::std::ChildWrapper;
use std::time::Duration;

/// The signal a child takes as a request to end its work in order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Polite {
    /// SIGINT, as from Ctrl-C.
    Interrupt,
    /// SIGTERM.
    #[default]
    Terminate,
}

/// How often a tree that keeps growing is swept.
const SWEEPS: usize = 50;
const BETWEEN_SWEEPS: Duration = Duration::from_millis(10);

/// A child and what belongs to it.
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

    /// The tree of a child that is started now and leads a session, with `name=mark` in its
    /// environment where there is one; its orphans come to this process and are taken for its own.
    /// Between its start and its entry among the leaders no other tree looks for orphans.
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

    /// Notes who belongs now, to know it after the child has ended.
    pub(super) fn look(&mut self) {
        #[cfg(target_os = "linux")]
        linux::look(&mut self.known, self.leader);
    }

    /// Signals the leader alone, in the way it likes best. In a sandbox the program is meant: the leader
    /// started the first process in it, and that one the program; both would end all that is in it.
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

    /// Asks the group to end. Harmless when it is gone already, as long as the
    /// leader has not been waited for (its id cannot have been given to another).
    pub(super) fn terminate(&self) {
        #[cfg(unix)]
        signal_group(self.leader, nix::sys::signal::Signal::SIGTERM);
    }

    /// Ends all that belongs to the child, until a sweep finds nothing more. True when
    /// the last sweep was empty.
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

    /// Ends what belongs to the child, other than the leader itself; how many there were.
    ///
    /// All of it is stopped before any of it is ended: a parent that is gone no longer
    /// tells whose child is whose.
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

/// Ends every process that carries `name=mark`, and what descends from one: what a cook
/// that was killed left behind. How many there were; 0 where there is no `/proc`.
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

/// Ends the groups of all children that take orphans in, without waiting for anything: cook
/// itself is about to end.
pub(super) fn end_all() {
    #[cfg(target_os = "linux")]
    for leader in linux::leaders() {
        signal_group(leader, nix::sys::signal::Signal::SIGKILL);
    }
}

/// No group has the id 0: to the system it would mean cook's own.
#[cfg(unix)]
pub(super) fn signal_group(leader: u32, signal: nix::sys::signal::Signal) {
    if let Ok(group) = i32::try_from(leader)
        && group > 1
    {
        let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(group), signal);
    }
}

/// The process that started one.
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

    /// Leaders of the trees that take orphans in: they are not orphans themselves.
    static LEADERS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

    /// Orphans come to this process from now on; the leaders, until they are let go of.
    pub(super) fn adopt() -> MutexGuard<'static, BTreeSet<u32>> {
        let _ = nix::sys::prctl::set_child_subreaper(true);
        LEADERS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The leaders there are, unless somebody is about to change them.
    pub(super) fn leaders() -> BTreeSet<u32> {
        let leaders = LEADERS.try_lock();
        leaders.map_or_else(|_| BTreeSet::new(), |leaders| leaders.clone())
    }

    pub(super) fn unregister(leader: u32) {
        let mut leaders = LEADERS.lock().unwrap_or_else(PoisonError::into_inner);
        leaders.remove(&leader);
    }

    /// What was seen to belong to a tree: processes with their start times, because ids
    /// are given again, and their sessions.
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

    /// An orphan that came to cook stays in the table until cook has waited for it.
    pub(super) fn reap(pid: u32) {
        if let Ok(pid) = i32::try_from(pid) {
            let _ = waitpid(Pid::from_raw(pid), Some(WaitPidFlag::WNOHANG));
        }
    }

    /// Notes who belongs by group, session and descent.
    pub(super) fn look(known: &mut Known, leader: u32) {
        let processes = list();
        grow(known, leader, &processes, |_| false);
    }

    /// Living processes of the child's tree, without its leader.
    pub(super) fn belonging(
        known: &mut Known,
        leader: u32,
        mark: Option<&str>,
        adopts: bool,
    ) -> BTreeSet<u32> {
        let processes = list();
        let own = std::process::id();
        // After the list: a leader that stands in it is entered by now.
        let leaders = LEADERS
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let own_session = find_session(&processes, own);
        // Cook's other children stay in its session. Of an orphan out of several trees at
        // once it cannot be told whose it was: the last of them ends it.
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

    /// Everybody that belongs, the leader among them.
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

    /// 0 for a process that is not listed.
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

    /// `/proc/<pid>/stat`: `pid (name) state parent group session …`; the name may hold
    /// anything. The start time is the 22nd field.
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

    /// A file of a process, which does not say how long it is. Room for all of it takes one read where `fs::read`
    /// takes five, and all processes of the machine are looked through.
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

/// Where the processes of that name work; none where that cannot be told. Those of other
/// users, which cannot be asked, are left out.
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

/// Whether a process of that id is there. Where that cannot be asked, it is taken to be.
pub fn is_alive(pid: u32) -> bool {
    #[cfg(unix)]
    if let Ok(pid) = i32::try_from(pid) {
        use nix::errno::Errno;
        return nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), None) != Err(Errno::ESRCH);
    }
    let _ = pid;
    true
}
