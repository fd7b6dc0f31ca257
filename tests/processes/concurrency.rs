//! Many processes on one repository: nothing lost, nothing torn, every command
//! ends with a documented exit code. `proofs/concurrency.sh` runs the full size.
#![cfg(unix)]

use crate::support::workflow::{Sandbox, feed, reports, store};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// Done, refused, held: what a command may say here. Nothing is ever unreadable
/// (3) and no check fails (1) because somebody else writes.
const DOCUMENTED: [i32; 3] = [0, 4, 7];

/// What one process saw.
#[derive(Default)]
struct Seen {
    commands: usize,
    codes: BTreeMap<i32, usize>,
    /// Log commits that transitions reported.
    accepted: Vec<String>,
    wrong: Vec<String>,
}

#[test]
fn writers_and_readers_share_a_repository() {
    many(4, 12);
}

/// `proofs/concurrency.sh`
#[test]
#[ignore = "1,600 commands; proofs/concurrency.sh runs it"]
fn eight_processes_of_two_hundred_commands() {
    many(8, 200);
}

fn many(processes: usize, commands: usize) {
    let sandbox = Sandbox::new();
    let work = prepare(&sandbox);
    let before = store(&work).unwrap().tip().unwrap().unwrap().seq;
    let started = Instant::now();
    let seen = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for process in 0..processes {
            let (sandbox, work, seen) = (&sandbox, &work, &seen);
            scope.spawn(move || {
                let one = one_process(sandbox, work, process, commands);
                seen.lock().unwrap().push(one);
            });
        }
    });
    let seen = seen.into_inner().unwrap();
    let wrong: Vec<&String> = seen.iter().flat_map(|one| &one.wrong).collect();
    let mut codes: BTreeMap<i32, usize> = BTreeMap::new();
    for one in &seen {
        for (code, times) in &one.codes {
            *codes.entry(*code).or_default() += times;
        }
    }
    let total: usize = seen.iter().map(|one| one.commands).sum();
    let accepted: Vec<&String> = seen.iter().flat_map(|one| &one.accepted).collect();
    println!(
        "{processes} processes, {total} commands in {} s, exit codes {codes:?}, {} transitions",
        started.elapsed().as_secs(),
        accepted.len()
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(total, processes * commands);
    nothing_lost(&sandbox, &work, before, &accepted);
}

/// A workflow with a selected slice and a report that is refused at any time.
fn prepare(sandbox: &Sandbox) -> PathBuf {
    let work = sandbox.join("work");
    sandbox.repository(&work);
    sandbox.init(&work);
    sandbox.run(&work, &["record", "regrounder"], &reports::plan(), 0);
    work
}

/// A mix of commands, another order in each process.
fn one_process(sandbox: &Sandbox, work: &Path, process: usize, commands: usize) -> Seen {
    let mut seen = Seen::default();
    let refused = reports::report_reviewed();
    let confirmed = reports::confirm("C-kind", "kind");
    for turn in 0..commands {
        let (args, input, writes): (&[&str], &str, bool) = match (turn + process) % 10 {
            0 | 4 | 7 => (&["pause", "one of many", "--json"], "", true),
            1 | 5 | 8 => (&["resume", "--as-user", "--json"], "", true),
            2 => (&["next", "--json"], "", false),
            3 => (&["status", "--json"], "", false),
            6 => (&["record", "reviewer", "--json"], &refused, true),
            _ => match turn % 4 {
                0 => (&["verify", "control-plane", "--format", "json"], "", false),
                1 => (&["record", "regrounder", "--json"], &confirmed, true),
                2 => (&["undo", "--as-user", "--json"], "", true),
                _ => (&["log", "--json", "-n", "3"], "", false),
            },
        };
        let mut command = sandbox.cook(work);
        command.args(args);
        let output = feed(&mut command, input);
        seen.commands += 1;
        let code = output.status.code().unwrap_or(-1);
        *seen.codes.entry(code).or_default() += 1;
        let told = || {
            format!(
                "{args:?}: {code} {} {}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            )
        };
        if !DOCUMENTED.contains(&code) {
            seen.wrong.push(told());
            continue;
        }
        if code != 0 {
            continue;
        }
        match (serde_json::from_slice::<Value>(&output.stdout), writes) {
            (Err(_), _) => seen.wrong.push(told()),
            (Ok(value), true) => match value["operation"].as_str() {
                Some(operation) => seen.accepted.push(operation.to_owned()),
                None => seen.wrong.push(told()),
            },
            (Ok(_), false) => {}
        }
    }
    seen
}

/// Every transition that was reported is in the chain, each once and no other;
/// the log derives from its events and the view shows it.
fn nothing_lost(sandbox: &Sandbox, work: &Path, before: u64, accepted: &[&String]) {
    let reported: BTreeSet<&String> = accepted.iter().copied().collect();
    assert_eq!(
        reported.len(),
        accepted.len(),
        "a commit was reported twice"
    );
    let store = store(work).unwrap();
    let tip = store.tip().unwrap().unwrap();
    assert_eq!(tip.seq, before + accepted.len() as u64);
    let chain: BTreeSet<String> = store
        .entries()
        .unwrap()
        .map(Result::unwrap)
        .take(accepted.len())
        .map(|meta| meta.commit)
        .collect();
    assert!(reported.iter().all(|commit| chain.contains(*commit)));
    assert_eq!(store.snapshot().unwrap().ledger.seq.0, tip.seq);
    sandbox.run(work, &["doctor", "fsck"], "", 0);
    let verified = sandbox
        .cook(work)
        .args(["verify", "control-plane", "--format", "json"])
        .output()
        .unwrap();
    assert!(
        verified.status.success(),
        "{}",
        String::from_utf8_lossy(&verified.stdout)
    );
}

#[test]
fn readers_see_whole_states_beside_a_writer_that_packs() {
    readers(150, 3);
}

/// `proofs/concurrency.sh`
#[test]
#[ignore = "long; proofs/concurrency.sh runs it"]
fn many_reads_beside_a_writer_that_packs() {
    readers(4_000, 4);
}

/// Readers in loops, without locks, while transitions are made and the log is
/// packed again and again. A reader sees one transition's state, whole, and
/// never an older one than it saw before.
fn readers(reads: usize, threads: usize) {
    let sandbox = Sandbox::new();
    let work = prepare(&sandbox);
    let done = AtomicBool::new(false);
    let bad = Mutex::new(Vec::new());
    let counted = AtomicUsize::new(0);
    let written = AtomicUsize::new(0);
    let packs = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for args in [&["pause", "beside readers"][..], &["resume", "--as-user"]] {
                    let mut command = sandbox.cook(&work);
                    let output = feed(command.args(args).env("COOK_PACK_ABOVE", "40"), "");
                    if !output.status.success() {
                        bad.lock().unwrap().push(format!("{args:?} {output:?}"));
                        return;
                    }
                    written.fetch_add(1, Ordering::Relaxed);
                }
                packs.lock().unwrap().extend(list_packs(&work));
            }
        });
        let readers: Vec<_> = (0..threads)
            .map(|thread| {
                let (sandbox, work, bad, counted) = (&sandbox, &work, &bad, &counted);
                scope.spawn(move || {
                    let mut newest = 0;
                    for turn in 0..reads / threads {
                        let seen = read_once(sandbox, work, (turn + thread) % 3);
                        counted.fetch_add(1, Ordering::Relaxed);
                        match seen {
                            Ok(seq) if seq.is_none_or(|seq| seq >= newest) => {
                                newest = seq.unwrap_or(newest);
                            }
                            Ok(seq) => bad.lock().unwrap().push(format!("{seq:?} after {newest}")),
                            Err(why) => bad.lock().unwrap().push(why),
                        }
                    }
                })
            })
            .collect();
        for reader in readers {
            reader.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    let bad = bad.into_inner().unwrap();
    let (written, packs) = (written.into_inner(), packs.into_inner().unwrap().len());
    println!(
        "{} reads beside {written} transitions and {packs} packings, {} bad",
        counted.into_inner(),
        bad.len()
    );
    assert!(bad.is_empty(), "{bad:#?}");
    assert!(written > 2 && packs > 0, "the writer wrote and packed");
    sandbox.run(&work, &["doctor", "fsck"], "", 0);
}

/// Names of the packs that the log holds now.
fn list_packs(work: &Path) -> BTreeSet<std::ffi::OsString> {
    std::fs::read_dir(work.join(".git/cook/log.git/objects/pack"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| {
            Path::new(name)
                .extension()
                .is_some_and(|kind| kind == "pack")
        })
        .collect()
}

/// One reading command. The log sequence it saw, where it says one.
fn read_once(sandbox: &Sandbox, work: &Path, which: usize) -> Result<Option<u64>, String> {
    let args: &[&str] = match which {
        0 => &["next", "--json"],
        1 => &["status", "--json"],
        _ => &["log", "-n", "5", "--json"],
    };
    let mut command = sandbox.cook(work);
    let output = feed(command.args(args), "");
    let value: Value = serde_json::from_slice(&output.stdout)
        .ok()
        .filter(|_| output.status.success())
        .ok_or_else(|| {
            format!(
                "{args:?} {:?} {}",
                output.status.code(),
                String::from_utf8_lossy(&output.stderr)
            )
        })?;
    match which {
        0 => {
            // Either the slice is in work or the user paused; nothing between.
            let pair = (value["rule"].as_str(), value["policy"].as_str());
            match pair {
                (Some("4"), Some("continue")) | (Some("S"), Some("paused")) => Ok(None),
                _ => Err(format!("a torn state: {value}")),
            }
        }
        1 => value["seq"]
            .as_u64()
            .map(Some)
            .ok_or_else(|| format!("no sequence: {value}")),
        _ => {
            let operations = value["worktrees"][0]["transitions"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            let seqs: Vec<u64> = operations
                .iter()
                .filter_map(|one| one["seq"].as_u64())
                .collect();
            if seqs.is_empty() || !seqs.windows(2).all(|pair| pair[0] == pair[1] + 1) {
                return Err(format!("a broken chain: {value}"));
            }
            Ok(seqs.first().copied())
        }
    }
}
