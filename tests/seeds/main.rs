//! The seed sweep: `cook run` against agents that misbehave by a seed, killed at random
//! moments and started again. `proofs/seeds.sh` runs the full size. This program is the
//! agent too, when its environment says so.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::exit)]

#[cfg(unix)]
mod agent;
#[cfg(unix)]
mod draw;
#[cfg(unix)]
mod kind;
#[cfg(unix)]
mod place;
#[cfg(unix)]
mod sweep;

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    if std::env::var_os(agent::STATE).is_some() {
        agent::play();
        return std::process::ExitCode::SUCCESS;
    }
    run::main()
}

#[cfg(unix)]
mod run {
    //! Arguments, workers, figures.

    use super::kind::{BEHAVES, KINDS};
    use super::sweep::{Seen, one};
    use std::process::ExitCode;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Instant;

    /// Seeds of the short version.
    const SHORT: u64 = 8;

    /// What to run.
    struct Asked {
        seeds: u64,
        from: u64,
        jobs: u64,
        /// Each of so many is in the sandbox; 0 = none.
        sandboxed: u64,
    }

    impl Asked {
        fn is_sandboxed(&self, seed: u64) -> bool {
            self.sandboxed > 0 && seed.is_multiple_of(self.sandboxed)
        }
    }

    fn sandbox_works() -> bool {
        let tried = std::process::Command::new("bwrap")
            .args(["--unshare-all", "--ro-bind", "/", "/", "true"])
            .output();
        tried.is_ok_and(|answer| answer.status.success())
    }

    pub fn main() -> ExitCode {
        let Some(mut asked) = read_asked() else {
            return ExitCode::SUCCESS;
        };
        if asked.sandboxed > 0 && !sandbox_works() {
            println!("bubblewrap does not work here: no seed is tried in the sandbox");
            if asked.sandboxed == 1 {
                return ExitCode::FAILURE;
            }
            asked.sandboxed = 0;
        }
        // A sandbox has a `/tmp` of its own.
        let base = tempfile::Builder::new()
            .prefix("cook-seeds-")
            .tempdir_in(env!("CARGO_TARGET_TMPDIR"))
            .unwrap();
        let base = base.keep();
        let started = Instant::now();
        let next = AtomicU64::new(asked.from);
        let seen = Mutex::new(Seen::default());
        std::thread::scope(|scope| {
            for _ in 0..asked.jobs {
                scope.spawn(|| {
                    loop {
                        let seed = next.fetch_add(1, Ordering::SeqCst);
                        if seed >= asked.from + asked.seeds {
                            break;
                        }
                        let found = one(&base, seed, asked.is_sandboxed(seed));
                        seen.lock().unwrap().add(found);
                    }
                });
            }
        });
        let seen = seen.into_inner().unwrap();
        figures(&asked, &seen, started);
        if seen.is_well() {
            std::fs::remove_dir_all(&base).unwrap();
            return ExitCode::SUCCESS;
        }
        ExitCode::FAILURE
    }

    fn figures(asked: &Asked, seen: &Seen, started: Instant) {
        let misdeeds = seen.kinds.iter().filter(|(kind, _)| *kind != BEHAVES);
        println!(
            "{} seeds from {}{} in {} s: {} sessions, {} of them misbehaved in {} of {} ways; cook was started {} times and killed {} times",
            asked.seeds,
            asked.from,
            match asked.sandboxed {
                0 => String::new(),
                1 => " in the sandbox".to_owned(),
                number => format!(" (each {number}th in the sandbox)"),
            },
            started.elapsed().as_secs(),
            seen.kinds.values().sum::<usize>(),
            misdeeds.clone().map(|(_, number)| number).sum::<usize>(),
            misdeeds.clone().count(),
            KINDS.len(),
            seen.starts,
            seen.kills,
        );
        for (kind, _, what) in KINDS {
            if let Some(number) = seen.kinds.get(kind) {
                println!("  {number:5}  {kind}: {what}");
            }
        }
        println!("stops that the misdeeds explain, left by the command that cook names:");
        for (reason, number) in &seen.stops {
            println!("  {number:5}  {reason}");
        }
        for (what, list) in [
            ("wrong policies", &seen.wrong),
            ("broken states", &seen.broken),
            ("survivors", &seen.survivors),
            ("lost work", &seen.lost),
        ] {
            println!("{:5}  {what}", list.len());
            for line in list.iter() {
                println!("    {line}");
            }
        }
    }

    /// None when this program is called for something else, as `cargo test NAME` does.
    fn read_asked() -> Option<Asked> {
        let mut asked = Asked {
            seeds: SHORT,
            from: 1,
            jobs: 4,
            sandboxed: 4,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let number = |words: &mut dyn Iterator<Item = String>| {
                words.next().and_then(|text| text.parse().ok())
            };
            match word.as_str() {
                "--short" => asked.seeds = SHORT,
                "--seeds" => {
                    asked.seeds = number(&mut words)?;
                    if asked.sandboxed > 1 {
                        asked.sandboxed = 0;
                    }
                }
                "--from" => asked.from = number(&mut words)?,
                "--jobs" => asked.jobs = number(&mut words)?,
                "--sandbox" => asked.sandboxed = 1,
                "--list" | "--ignored" => return None,
                option if option.starts_with('-') => {}
                filter if "seeds".contains(filter) => {}
                _ => return None,
            }
        }
        Some(asked)
    }
}
