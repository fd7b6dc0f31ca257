//! What a gate in the sandbox sees, may write and leaves behind. Without a bubblewrap that works
//! here the tests say so and prove nothing.

use cook_protocol::model::Caches;
use cook_repo::room::{Bubblewrap, Environment, Gate, Room, Source, Surroundings};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

struct Place {
    dir: TempDir,
    room: Room,
    bubblewrap: Bubblewrap,
}

impl Place {
    /// None where the sandbox does not work.
    fn new() -> Option<Self> {
        crate::scratch::hermetic();
        let bubblewrap = Bubblewrap::find();
        let Some(bubblewrap) = bubblewrap.filter(|found| found.try_out().is_ok()) else {
            eprintln!("skipped: bubblewrap does not work here");
            return None;
        };
        // Not below the private `/tmp`: there everything is hidden anyway.
        let below = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let dir = TempDir::new_in(below).unwrap();
        let repo = dir.path().join("repo");
        fs::create_dir(&repo).unwrap();
        let git = |arguments: &[&str]| {
            let output = Command::new("git")
                .args(arguments)
                .current_dir(&repo)
                .output()
                .unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        git(&["init", "-q", "-b", "main"]);
        git(&["config", "user.name", "a"]);
        git(&["config", "user.email", "a@example.org"]);
        fs::write(repo.join("a"), "one\n").unwrap();
        git(&["add", "-A"]);
        git(&["commit", "-qm", "work"]);
        git(&["tag", "v1"]);
        let room =
            Room::open(&dir.path().join("rooms"), &repo, "repo", Caches::Kept, true).unwrap();
        let tag = git(&["rev-parse", "v1"]);
        room.fill(
            &Source {
                common: &repo.join(".git"),
                git_dir: &repo.join(".git"),
                worktree: &repo,
                commit: &git(&["rev-parse", "HEAD"]),
                refs: &[("refs/tags/v1".to_owned(), tag)],
                objects_at: Some(Bubblewrap::objects),
                history: true,
                alone: false,
                path: &std::env::var_os("PATH").unwrap(),
            },
            &[],
        )
        .unwrap();
        Some(Self {
            dir,
            room,
            bubblewrap,
        })
    }

    fn run(&self, script: &str) -> Output {
        let repo = self.dir.path().join("repo");
        let hidden: [PathBuf; 1] = [repo.clone()];
        let around = Surroundings {
            home: Bubblewrap::home(),
            scratch: Path::new("/tmp"),
            untrusted: &hidden,
            passed: &[],
            tools: &cook_repo::room::tools(std::env::vars_os()),
        };
        let environment = Environment::of(std::env::vars_os(), &around);
        let argv = self.bubblewrap.gate(&Gate {
            top: self.room.path(),
            dir: "",
            home: &self.room.home(),
            objects: &[repo.join(".git/objects")],
            hidden: &hidden,
            shown: &[],
            network: false,
        });
        Command::new(&argv[0])
            .args(&argv[1..])
            .args(["sh", "-c", script])
            .env_clear()
            .envs(environment.variables)
            .output()
            .unwrap()
    }

    fn prints(&self, script: &str) -> String {
        let output = self.run(script);
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

#[test]
fn a_gate_writes_its_room_and_nothing_else() {
    let Some(place) = Place::new() else { return };
    let outside = place.dir.path().join("outside");
    fs::write(&outside, "mine").unwrap();
    let script = format!(
        "echo x > new; echo y > ~/kept; echo bad > {0}; rm -f {0}; echo bad > /run/objects/x; touch /etc/cook-was-here; true",
        outside.display()
    );
    assert!(place.run(&script).status.success());
    assert_eq!(fs::read(place.room.path().join("new")).unwrap(), b"x\n");
    assert_eq!(fs::read(place.room.home().join("kept")).unwrap(), b"y\n");
    assert_eq!(fs::read(&outside).unwrap(), b"mine");
    assert!(!place.dir.path().join("repo/.git/objects/x").exists());
    assert!(!Path::new("/etc/cook-was-here").exists());
}

#[test]
fn nothing_that_a_gate_started_outlives_it() {
    let Some(place) = Place::new() else { return };
    // Out of the process group, out of the session, with an empty environment, twice forked.
    let daemon =
        "(env -i setsid sh -c '(while true; do date >> tick; sleep 0.05; done) & ' &) ; sleep 0.3";
    assert!(place.run(daemon).status.success());
    let tick = place.room.path().join("tick");
    let started = Instant::now();
    let mut size = fs::metadata(&tick).unwrap().len();
    while started.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(300));
        let now = fs::metadata(&tick).unwrap().len();
        if now == size {
            return;
        }
        size = now;
    }
    panic!("it ticks on");
}

#[test]
fn there_is_no_network_unless_it_is_given() {
    let Some(place) = Place::new() else { return };
    let names = place.prints("cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d ' '");
    assert_eq!(names, "lo");
}
