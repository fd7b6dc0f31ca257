//! Power cuts on a real file system: a block image whose writes and flushes are
//! logged while transitions run, then replayed up to each flush, mounted, and
//! handed to the binary for recovery.
//!
//! `qemu-storage-daemon` logs (its `blklogwrites` driver, format of
//! `dm-log-writes`) and shows the image as a file through FUSE; a loop device and
//! ext4 lie on it. After each flush two more cuts are made in which only some of
//! the writes up to the next flush arrived: what a disk's cache may do.

use crate::crash::kinds::Stand;
use crate::support::workflow::{Sandbox, copy_tree, feed, reports, store};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SECTOR: usize = 512;
const FLUSH: u64 = 1;
const DISCARD: u64 = 4;
const IMAGE: u64 = 64 << 20;

/// What cannot run here, if anything.
pub fn missing() -> Option<String> {
    if !nix::unistd::geteuid().is_root() {
        return Some("it needs root".to_owned());
    }
    if !Path::new("/dev/fuse").exists() || !Path::new("/dev/loop-control").exists() {
        return Some("it needs FUSE and loop devices".to_owned());
    }
    [
        "qemu-storage-daemon",
        "losetup",
        "mkfs.ext4",
        "mount",
        "strace",
    ]
    .into_iter()
    .find(|tool| {
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {tool}")])
            .output();
        !found.is_ok_and(|output| output.status.success())
    })
    .map(|tool| format!("it needs {tool}"))
}

fn tool(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output().unwrap();
    assert!(
        output.status.success(),
        "{program} {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// An image that is mounted until it is dropped.
struct Mounted {
    at: PathBuf,
    device: String,
}

impl Mounted {
    fn new(image: &Path, at: &Path) -> Self {
        std::fs::create_dir_all(at).unwrap();
        let device = tool("losetup", &["--find", "--show", image.to_str().unwrap()]);
        let mounted = Self {
            at: at.to_owned(),
            device,
        };
        tool(
            "mount",
            &["-t", "ext4", &mounted.device, at.to_str().unwrap()],
        );
        mounted
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        for (program, target) in [
            ("umount", self.at.to_str().unwrap()),
            ("losetup", &self.device),
        ] {
            let args = if program == "losetup" {
                vec!["-d", target]
            } else {
                vec![target]
            };
            let _ = Command::new(program)
                .args(args)
                .stderr(Stdio::null())
                .status();
        }
    }
}

/// The daemon that shows an image as a file and logs what is done to it.
struct Logged {
    daemon: Child,
    file: PathBuf,
    log: PathBuf,
}

impl Logged {
    fn new(dir: &Path, image: &Path) -> Self {
        let (file, log) = (dir.join("shown.img"), dir.join("writes.log"));
        File::create(&file).unwrap();
        File::create(&log).unwrap().set_len(4 << 30).unwrap();
        let daemon = Command::new("qemu-storage-daemon")
            .args(["--blockdev", &format!("driver=file,node-name=disk,filename={}", image.display())])
            .args(["--blockdev", &format!("driver=file,node-name=log,filename={}", log.display())])
            .args(["--blockdev", "driver=blklogwrites,node-name=logged,file=disk,log=log,log-sector-size=512,log-super-update-interval=1"])
            .args(["--export", &format!("type=fuse,id=shown,node-name=logged,mountpoint={},writable=on", file.display())])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let started = Instant::now();
        while std::fs::metadata(&file).unwrap().len() != IMAGE {
            assert!(
                started.elapsed() < Duration::from_secs(20),
                "the image is not shown"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { daemon, file, log }
    }

    fn entries(&self) -> Vec<Entry> {
        entries(&self.log)
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        let _ = nix::sys::signal::kill(
            nix::unistd::Pid::from_raw(i32::try_from(self.daemon.id()).unwrap()),
            nix::sys::signal::Signal::SIGTERM,
        );
        let _ = self.daemon.wait();
    }
}

/// One write or flush of the log, in order.
struct Entry {
    offset: u64,
    flush: bool,
    data: Vec<u8>,
}

fn entries(log: &Path) -> Vec<Entry> {
    let mut file = File::open(log).unwrap();
    let mut block = [0; SECTOR];
    file.read_exact(&mut block).unwrap();
    let word = |block: &[u8; SECTOR], n: usize| {
        u64::from_le_bytes(block[n * 8..n * 8 + 8].try_into().unwrap())
    };
    assert_eq!(word(&block, 0), 0x006a_7366_7773_6872, "a log of writes");
    let count = word(&block, 2);
    let mut entries = Vec::new();
    for _ in 0..count {
        file.read_exact(&mut block).unwrap();
        let (sector, sectors, flags) = (word(&block, 0), word(&block, 1), word(&block, 2));
        let size = usize::try_from(sectors).unwrap() * SECTOR;
        let mut data = vec![0; size];
        if flags & DISCARD == 0 {
            file.read_exact(&mut data).unwrap();
        }
        entries.push(Entry {
            offset: sector * SECTOR as u64,
            flush: flags & FLUSH != 0,
            data,
        });
    }
    entries
}

/// What was acknowledged when so many entries were logged.
struct Ack {
    entries: usize,
    seq: u64,
}

/// Figures of one run.
#[derive(Debug, Default)]
pub struct Outcome {
    pub transitions: u64,
    pub flushes: usize,
    pub cuts: usize,
    pub lost: Vec<String>,
    pub mixed: Vec<String>,
    pub stuck: Vec<String>,
}

impl Outcome {
    pub fn line(&self) -> String {
        format!(
            "{} transitions, {} flushes, {} cuts: {} lost, {} mixed, {} stuck",
            self.transitions,
            self.flushes,
            self.cuts,
            self.lost.len(),
            self.mixed.len(),
            self.stuck.len()
        )
    }

    pub fn faults(&self) -> usize {
        self.lost.len() + self.mixed.len() + self.stuck.len()
    }
}

/// A run and its cuts. `synced` = false takes every sync away from cook: the
/// control. Of the flushes every `step`-th is cut at.
pub fn run(synced: bool, step: usize) -> Outcome {
    let sandbox = Sandbox::new();
    let image = sandbox.join("disk.img");
    File::create(&image).unwrap().set_len(IMAGE).unwrap();
    tool("mkfs.ext4", &["-q", "-F", image.to_str().unwrap()]);
    let at = sandbox.join("mnt");
    {
        let mounted = Mounted::new(&image, &at);
        let work = sandbox.join("work");
        sandbox.repository(&work);
        sandbox.init(&work);
        copy_tree(&work, &mounted.at.join("work"));
    }
    let base = sandbox.join("base.img");
    std::fs::copy(&image, &base).unwrap();
    let (entries, acks, stands) = run_logged(&sandbox, &image, &at, synced);
    let mut outcome = Outcome {
        transitions: acks.len() as u64,
        flushes: entries.iter().filter(|entry| entry.flush).count(),
        ..Outcome::default()
    };
    let cuts = Cuts {
        sandbox: &sandbox,
        at: &at,
        acks: &acks,
        stands: &stands,
    };
    cuts.all(&base, &entries, step, &mut outcome);
    outcome
}

/// Runs transitions on the logged image: the log, what was acknowledged when, and
/// the state after each.
fn run_logged(
    sandbox: &Sandbox,
    image: &Path,
    at: &Path,
    synced: bool,
) -> (Vec<Entry>, Vec<Ack>, Vec<Stand>) {
    let daemon = Logged::new(sandbox.path(), image);
    let mut acks = Vec::new();
    let mut stands = Vec::new();
    {
        let mounted = Mounted::new(&daemon.file, at);
        let work = mounted.at.join("work");
        stands.push(Stand::of(&work).unwrap());
        let mut act = |args: &[&str], input: &str| {
            let output = feed(&mut cook(sandbox, &work, args, synced), input);
            assert!(
                output.status.success(),
                "{args:?} {}",
                String::from_utf8_lossy(&output.stderr)
            );
            let stand = Stand::of(&work).unwrap();
            acks.push(Ack {
                entries: daemon.entries().len(),
                seq: stand.seq,
            });
            stands.push(stand);
        };
        act(&["record", "regrounder"], &reports::plan());
        act(&["pause", "a power cut"], "");
        act(&["resume", "--as-user"], "");
        std::fs::write(work.join(".agent/plan.json"), "{}\n").unwrap();
        act(&["plan", "adopt", "--discard", "--as-user"], "");
        let commit = durable_commit(sandbox, &work);
        act(
            &["record", "implementer"],
            &reports::report_implemented(&commit),
        );
        act(&["record", "reviewer"], &reports::report_reviewed());
        act(&["record", "auditor"], &reports::report_audited());
        act(&["undo", "--as-user"], "");
    }
    (daemon.entries(), acks, stands)
}

/// What the implementer commits. git syncs no loose object by default, and a
/// commit that a power cut takes away is none of cook's.
fn durable_commit(sandbox: &Sandbox, work: &Path) -> String {
    let file = work.join("greeting.txt");
    std::fs::write(&file, "hello please\n").unwrap();
    File::open(&file).unwrap().sync_all().unwrap();
    let message = "Say please\n\nCook-Slice: kind";
    let args = [
        "-c",
        "core.fsync=all",
        "commit",
        "--quiet",
        "--all",
        "--message",
        message,
    ];
    sandbox.git(work, &args);
    sandbox.git(work, &["rev-parse", "HEAD"])
}

/// `cook`, or in the control `cook` whose every sync says yes and does nothing.
fn cook(sandbox: &Sandbox, work: &Path, args: &[&str], synced: bool) -> Command {
    if synced {
        let mut command = sandbox.cook(work);
        command.args(args);
        return command;
    }
    let mut command = sandbox.command("strace", work);
    command
        .args([
            "-f",
            "-qq",
            "-o",
            "/dev/null",
            "-e",
            "trace=fsync,fdatasync,sync_file_range",
        ])
        .args(["-e", "inject=fsync,fdatasync:retval=0", "--"])
        .arg(env!("CARGO_BIN_EXE_cook"))
        .args(args);
    command
}

struct Cuts<'s> {
    sandbox: &'s Sandbox,
    at: &'s Path,
    acks: &'s [Ack],
    stands: &'s [Stand],
}

impl Cuts<'_> {
    /// Cuts at the flushes up to the last acknowledged transition, and once there.
    fn all(&self, base: &Path, entries: &[Entry], step: usize, outcome: &mut Outcome) {
        let rolling = self.sandbox.join("rolling.img");
        std::fs::copy(base, &rolling).unwrap();
        let image = File::options()
            .read(true)
            .write(true)
            .open(&rolling)
            .unwrap();
        let end = self.acks.last().unwrap().entries;
        let mut flushes = 0;
        for (index, entry) in entries[..end].iter().enumerate() {
            apply(&image, entry);
            let last = index + 1 == end;
            flushes += usize::from(entry.flush);
            if !last && (!entry.flush || flushes % step != 0) {
                continue;
            }
            self.cut(&rolling, index + 1, &[], outcome);
            let until_next = entries[index + 1..end]
                .iter()
                .take_while(|entry| !entry.flush);
            let pending: Vec<&Entry> = until_next.collect();
            for seed in 1..=2_u64 {
                let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ index as u64;
                let some: Vec<&Entry> = pending
                    .iter()
                    .filter(|_| coin(&mut random))
                    .copied()
                    .collect();
                if !some.is_empty() {
                    self.cut(&rolling, index + 1, &some, outcome);
                }
            }
        }
    }

    /// One cut: what arrived up to here, and some of what came after.
    fn cut(&self, rolling: &Path, index: usize, more: &[&Entry], outcome: &mut Outcome) {
        outcome.cuts += 1;
        // A file of its own: what the loop device of the cut before still holds goes to the old one.
        let image = self.sandbox.join("cut.img");
        let _ = std::fs::remove_file(&image);
        copy_sparse(rolling, &image);
        let file = File::options().write(true).open(&image).unwrap();
        for entry in more {
            apply(&file, entry);
        }
        drop(file);
        let mounted = Mounted::new(&image, self.at);
        let what = format!("after entry {index} and {} more", more.len());
        let work = mounted.at.join("work");
        let acked = self
            .acks
            .iter()
            .rev()
            .find(|ack| ack.entries <= index)
            .map_or(1, |ack| ack.seq);
        match std::panic::catch_unwind(|| Stand::of(&work)) {
            Ok(Some(found)) if found.seq < acked => outcome
                .lost
                .push(format!("{what}: {} of {acked}", found.seq)),
            Ok(Some(found)) if self.stands.contains(&found) => {}
            other => outcome.mixed.push(format!("{what}: {other:?}")),
        }
        if let Err(why) = self.recover(&work) {
            outcome.stuck.push(format!("{what}: {why}"));
        }
        self.check_kept(&work, acked, &what, outcome);
    }

    fn recover(&self, work: &Path) -> Result<(), String> {
        let cook = |args: &[&str]| {
            let output = feed(self.sandbox.cook(work).args(args), "");
            if output.status.success() {
                Ok(String::from_utf8_lossy(&output.stdout).into_owned())
            } else {
                Err(format!(
                    "{args:?} {:?} {}",
                    output.status.code(),
                    String::from_utf8_lossy(&output.stderr)
                ))
            }
        };
        let next = cook(&["next", "--json"])?;
        cook(&["status", "--json"])?;
        if next.contains("\"paused\"") {
            cook(&["resume", "--as-user"])?;
        } else {
            cook(&["pause", "after the cut"])?;
        }
        let report = store(work)
            .ok_or("no log")?
            .fsck()
            .map_err(|error| error.to_string())?;
        // The edit that was about to be discarded may still stand.
        let others: Vec<_> = report
            .findings
            .iter()
            .filter(|one| !one.message.contains("plan.json"))
            .collect();
        if others.is_empty() {
            Ok(())
        } else {
            Err(format!("{others:?}"))
        }
    }

    /// Once the discard was acknowledged, the edit is kept.
    fn check_kept(&self, work: &Path, acked: u64, what: &str, outcome: &mut Outcome) {
        const DISCARDED: u64 = 5;
        if acked < DISCARDED {
            return;
        }
        let open = std::panic::catch_unwind(|| store(work)).ok().flatten();
        let kept = open.is_some_and(|store| {
            store.rescue_list().is_ok_and(|list| {
                list.iter().any(|copy| {
                    store
                        .rescue_show(&copy.id, ".agent/plan.json")
                        .is_ok_and(|bytes| bytes == b"{}\n")
                })
            })
        });
        if !kept {
            outcome.lost.push(format!("{what}: the edited plan"));
        }
    }
}

fn apply(image: &File, entry: &Entry) {
    image.write_all_at(&entry.data, entry.offset).unwrap();
}

fn coin(random: &mut u64) -> bool {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random & 1 == 1
}

/// Copies without writing blocks of zeros.
fn copy_sparse(from: &Path, to: &Path) {
    let mut from = File::open(from).unwrap();
    let mut to = File::create(to).unwrap();
    let mut block = vec![0; 1 << 16];
    for at in (0..IMAGE).step_by(block.len()) {
        from.read_exact(&mut block).unwrap();
        if block.iter().any(|byte| *byte != 0) {
            to.seek(SeekFrom::Start(at)).unwrap();
            to.write_all(&block).unwrap();
        }
    }
    to.set_len(IMAGE).unwrap();
}
