//! What a long log costs on its way: read from a remote, run again, and pushed by one transition.

use crate::cost::scale::{Scale, cook_binary};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// What one run took.
struct Cost {
    /// All of it.
    wall: Duration,
    /// The processes of git, one after another.
    git: Duration,
    /// KiB at most: of git and what it starts, and of all.
    git_peak: u64,
    peak: u64,
}

/// A log of that many transitions on a bare remote, and a clone that has none.
fn make_shared(transitions: u64) -> Scale {
    let scale = Scale::initialise(10);
    scale.grow_log_to(transitions);
    scale.git(&["init", "-q", "--bare", "-b", "main", "../r.git"]);
    scale.git(&["remote", "add", "origin", "../r.git"]);
    scale.cook(&["push", "--yes"]);
    scale.git(&["clone", "-q", "../r.git", "../clone"]);
    scale
}

/// Runs `cook` in the clone; git and cook each under `/usr/bin/time`.
fn measure(scale: &Scale, args: &[&str]) -> (Cost, String) {
    let beside = scale.root().parent().unwrap().to_owned();
    let (ours, gits) = (beside.join("ours"), beside.join("gits"));
    for file in [&ours, &gits] {
        let _ = std::fs::remove_file(file);
    }
    let path = std::env::var("PATH").unwrap();
    let real = std::env::split_paths(&path)
        .map(|dir| dir.join("git"))
        .find(|git| git.is_file())
        .unwrap();
    let shims = beside.join("shims");
    std::fs::create_dir_all(&shims).unwrap();
    let shim = shims.join("git");
    let mut script = std::fs::File::create(&shim).unwrap();
    writeln!(
        script,
        "#!/bin/sh\nexec /usr/bin/time -q -a -o '{}' -f '%M %e' '{}' \"$@\"",
        gits.display(),
        real.display()
    )
    .unwrap();
    drop(script);
    std::fs::set_permissions(&shim, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = scale.command("/usr/bin/time");
    command
        .args(["-q", "-o"])
        .arg(&ours)
        .args(["-f", "%M %e"])
        .arg(cook_binary())
        .args(args)
        .current_dir(beside.join("clone"))
        .env("PATH", format!("{}:{path}", shims.display()));
    let started = Instant::now();
    let output = command.output().unwrap();
    let wall = started.elapsed();
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    let read = |file: &Path| -> Vec<(u64, f64)> {
        let text = std::fs::read_to_string(file).unwrap();
        let line = |line: &str| {
            let (peak, seconds) = line.split_once(' ')?;
            Some((peak.parse().ok()?, seconds.parse().ok()?))
        };
        text.lines().filter_map(line).collect()
    };
    let git = read(&gits);
    let cost = Cost {
        wall,
        git: Duration::from_secs_f64(git.iter().map(|(_, seconds)| seconds).sum()),
        git_peak: git.iter().map(|(peak, _)| *peak).max().unwrap(),
        peak: read(&ours).first().unwrap().0,
    };
    (cost, said.concat())
}

/// `proofs/long-log.sh`
#[test]
#[ignore = "takes minutes; proofs/long-log.sh runs it, optimized"]
fn a_long_log_is_read_from_a_remote_in_seconds() {
    let transitions: u64 =
        std::env::var("TRANSITIONS").map_or(10_000, |text| text.parse().unwrap());
    if !Path::new("/usr/bin/time").is_file() {
        println!("skipped: /usr/bin/time is not here");
        return;
    }
    let scale = make_shared(transitions);
    for run in 0..3 {
        let (cost, said) = measure(&scale, &["verify", "--from", "origin"]);
        // The work goes on: that is what it must find, after all the rest.
        assert!(said.contains("not_done"), "{said}");
        assert!(said.contains(&transitions.to_string()), "{said}");
        let own = cost.wall.saturating_sub(cost.git);
        println!(
            "verify --from of {transitions} transitions, run {run}: git {} ms and {} MiB, cook {} ms and {} MiB",
            cost.git.as_millis(),
            cost.git_peak >> 10,
            own.as_millis(),
            cost.peak >> 10
        );
        assert!(cost.git <= Duration::from_secs(2) && cost.git_peak <= 100 << 10);
        assert!(own <= Duration::from_secs(3) && cost.peak <= 200 << 10);
    }
    let (cost, said) = measure(&scale, &["pull"]);
    assert!(said.contains(&transitions.to_string()), "{said}");
    println!(
        "pull of it: git {} ms and {} MiB, all {} ms and {} MiB",
        cost.git.as_millis(),
        cost.git_peak >> 10,
        cost.wall.as_millis(),
        cost.peak >> 10
    );
}
