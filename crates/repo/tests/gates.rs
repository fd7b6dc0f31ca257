//! Gates: what they are run with, how they end, what their receipts say, and who
//! may run.

use crate::machine::with_default_signals;
use crate::scratch::Scratch;
use cook_protocol::machine::{GateRun, Head};
use cook_protocol::model::{Caches, CleanRoom, GateSpec, Gone, Place, Receipt, SandboxMode};
use cook_repo::clock::Clock;
use cook_repo::git::Repo;
use cook_repo::process::{Long, ProcessError, run};
use cook_repo::receipt::{Agents, Gates, Receipts, Trust, seal};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn long(
    dir: &Path,
    argv: &[&str],
    timeout: Duration,
) -> Result<cook_repo::process::Outcome, ProcessError> {
    let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
    run(&Long {
        argv: &argv,
        dir,
        env: &std::env::vars_os().collect(),
        timeout,
    })
}

fn shell(dir: &Path, script: &str, timeout: Duration) -> cook_repo::process::Outcome {
    long(dir, &["sh", "-c", script], timeout).unwrap()
}

/// Settings without an agent.
static NO_AGENTS: Agents = Agents::new();
const MINUTE: Duration = Duration::from_secs(60);

/// Whether a process runs whose command line holds `mark`.
#[cfg(target_os = "linux")]
fn runs(mark: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let own = entry.file_name().to_string_lossy() == std::process::id().to_string();
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        !own && String::from_utf8_lossy(&line).contains(mark)
    })
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "the child of `daemons_do_not_outlive_a_gate_that_ended_well`"]
fn daemons_alone() {
    let scratch = Scratch::empty();
    // In the group; in a session of its own; twice forked and without its pipes; with
    // its pipes held open; outside group and session with a cleared environment.
    for (number, daemon) in [
        "sleep 732.1 &",
        "setsid sleep 732.2 >/dev/null 2>&1 &",
        "(setsid sh -c 'sleep 732.3 & exit 0' >/dev/null 2>&1 &);",
        "setsid sleep 732.4 &",
        "sh -c 'env -i setsid sleep 732.5 & wait' &",
        // Forked twice with a cleared environment; one that starts itself again when it is ended.
        "env -i setsid sh -c '(sleep 732.6 &) >/dev/null 2>&1 </dev/null; exit 0';",
        "setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 732.7; done' >/dev/null 2>&1 &",
    ]
    .iter()
    .enumerate()
    {
        let script = format!("{daemon} sleep 0.2; echo done");
        let started = Instant::now();
        let ended = shell(&scratch.root, &script, MINUTE);
        assert_eq!((ended.code, ended.swept), (Some(0), true), "{daemon}");
        assert_eq!(ended.stdout.bytes(), b"done\n");
        assert!(started.elapsed() < Duration::from_secs(10), "{daemon}");
        assert!(!runs(&format!("732.{}", number + 1)), "{daemon}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn processes_of_others_are_left_alone() {
    let scratch = Scratch::empty();
    let mut other = std::process::Command::new("sleep")
        .arg("733.1")
        .spawn()
        .unwrap();
    shell(&scratch.root, "sleep 733.2 & true", MINUTE);
    assert!(other.try_wait().unwrap().is_none() && runs("733.1") && !runs("733.2"));
    other.kill().unwrap();
    other.wait().unwrap();
}

fn gate(run: &str) -> GateSpec {
    GateSpec {
        name: run.to_owned(),
        run: run.to_owned(),
        timeout_ms: 60_000,
        required: true,
        must_fail_at_basis: Gone,
        network: false,
        place: Place::CleanRoom,
        dir: String::new(),
        paths: Vec::new(),
    }
}

struct Stand {
    scratch: Scratch,
    repo: Repo,
    receipts: Receipts,
    trust: Trust,
    settings: CleanRoom,
    sandbox: SandboxMode,
    _rooms: TempDir,
}

impl Stand {
    fn of(scratch: Scratch) -> Self {
        let repo = scratch.repo();
        let receipts = Receipts::of(&repo).unwrap();
        let trust = Trust::of(&repo).unwrap();
        let rooms = crate::machine::room();
        Self {
            scratch,
            repo,
            receipts,
            trust,
            settings: CleanRoom {
                dir: Some(rooms.path().join("rooms").display().to_string()),
                ..CleanRoom::default()
            },
            sandbox: SandboxMode::Off,
            _rooms: rooms,
        }
    }

    fn gates(&self) -> Gates<'_> {
        Gates {
            repo: &self.repo,
            receipts: &self.receipts,
            clock: Clock::with_moment("2026-05-06T07:08:09Z").unwrap(),
            settings: &self.settings,
            agents: &NO_AGENTS,
            sandbox: self.sandbox,
            trust: &self.trust,
            tell: None,
            patience: None,
        }
    }

    fn head(&self) -> Head {
        self.repo.head().unwrap()
    }

    fn run(&self, command: &str) -> GateRun {
        let head = self.head().commit.unwrap();
        self.gates()
            .run_at(&head, &[gate(command)], Caches::Kept)
            .unwrap()
            .remove(0)
    }
}

#[test]
fn a_receipt_says_what_was_seen() {
    let stand = Stand::of(Scratch::new());
    let run = stand.run("sh -c 'pwd; echo err >&2; exit 4'");
    let receipt = run.receipt.clone().unwrap();
    assert_eq!(receipt.argv, ["sh", "-c", "pwd; echo err >&2; exit 4"]);
    assert_eq!(
        (receipt.exit_code, receipt.place, receipt.cwd.as_str()),
        (Some(4), Place::CleanRoom, ".")
    );
    assert_eq!(
        (receipt.head_sha.clone(), receipt.tree_oid.clone()),
        (stand.head().commit, stand.head().tree)
    );
    let (place, rest) = receipt.tail.split_once('\n').unwrap();
    assert!(!Path::new(place).starts_with(stand.repo.root()) && !place.contains("cook"));
    assert_eq!(rest, "err\n");
    let program = receipt.program.as_ref().unwrap();
    assert!(program.path.ends_with("/sh") && program.sha256.len() == 64);
    assert_eq!(receipt.started_at.display(), "2026-05-06T07:08:09Z");
    assert!(!run.has_passed() && stand.run("true").has_passed());

    assert_eq!(stand.receipts.get(&receipt.id).unwrap().unwrap(), receipt);
    let output = stand.receipts.output(&receipt).unwrap();
    assert!(output.text.contains("err\n") && !output.partial);
    let tree = receipt.tree_oid.clone().unwrap();
    let found = stand
        .receipts
        .find("sh -c \"pwd; echo err >&2; exit 4\"", &tree)
        .unwrap();
    assert_eq!(
        found.as_ref(),
        Some(&receipt),
        "the same words, quoted otherwise"
    );
    assert_eq!(stand.receipts.find("true", "another tree").unwrap(), None);
    assert_eq!(seal(receipt.clone()), receipt);
}

/// What was red without the network says nothing of a run with it.
#[test]
fn a_gate_that_gets_the_network_runs_anew() {
    let stand = Stand::of(Scratch::new());
    let head = stand.head().commit.unwrap();
    let mut gate = gate("sh -c 'exit 4'");
    stand.run(&gate.run);
    let find = |gate: &GateSpec| stand.gates().find_asked(&head, gate).unwrap();
    assert!(find(&gate).is_some());
    gate.network = true;
    assert_eq!(find(&gate), None);
}

#[test]
fn a_changed_receipt_or_output_counts_for_nothing() {
    let stand = Stand::of(Scratch::new());
    let receipt = stand.run("sh -c 'echo red; exit 1'").receipt.unwrap();
    let path = stand
        .repo
        .common_dir()
        .join(format!("cook/receipts/{}.json", receipt.id));
    let forged: Receipt = Receipt {
        exit_code: Some(0),
        ..receipt.clone()
    };
    fs::write(&path, serde_json::to_vec(&forged).unwrap()).unwrap();
    assert_eq!(stand.receipts.get(&receipt.id).unwrap(), None);
    let tree = receipt.tree_oid.clone().unwrap();
    assert_eq!(stand.receipts.find(&receipt.command, &tree).unwrap(), None);
    fs::write(&path, "{").unwrap();
    assert_eq!(stand.receipts.get(&receipt.id).unwrap(), None);
    for id in ["../../trust", "", "A", &"/".repeat(64)] {
        assert_eq!(stand.receipts.get(id).unwrap(), None);
    }
    let output = stand
        .repo
        .common_dir()
        .join("cook/outputs")
        .join(&receipt.stdout_sha256);
    let other = stand.run("sh -c 'echo green'").receipt.unwrap();
    let green = stand
        .repo
        .common_dir()
        .join("cook/outputs")
        .join(&other.stdout_sha256);
    fs::copy(green, output).unwrap();
    let read = stand.receipts.output(&receipt).unwrap();
    assert!(read.partial && !read.text.contains("green"));
}

#[test]
fn no_shell_and_no_redirection_of_git() {
    let stand = Stand::of(Scratch::new());
    let refused = stand.run("echo $HOME '*' > x; touch y");
    assert!(refused.receipt.is_none() && refused.problem.unwrap().contains("without one"));
    let receipt = stand.run("echo $HOME '*' '> x; touch y'").receipt.unwrap();
    assert_eq!(receipt.tail, "$HOME * > x; touch y\n");
    assert!(!stand.scratch.path("x").exists() && !stand.scratch.path("y").exists());
    let receipt = stand.run("env").receipt.unwrap();
    let text = stand.receipts.output(&receipt).unwrap().text;
    assert!(
        text.contains("CI=true") && !text.to_lowercase().contains("cook"),
        "{text}"
    );
    assert!(
        receipt
            .dropped_env
            .contains(&"GIT_CONFIG_GLOBAL".to_owned())
    );
}

#[test]
fn what_counts_is_run_on_the_commit_and_never_on_the_worktree() {
    let stand = Stand::of(Scratch::new());
    let head = stand.head();
    for hide in [None, Some("--assume-unchanged"), Some("--skip-worktree")] {
        if let Some(hide) = hide {
            stand.scratch.git(&["update-index", hide, "a.txt"]);
        }
        stand.scratch.write("a.txt", "what nobody sees");
        stand.scratch.write("helper.sh", "exit 0");
        let receipt = stand.run("sh -c 'cat a.txt; ls'").receipt.unwrap();
        assert_eq!(receipt.tail, "one\nmore\na.txt\ndir\n", "{hide:?}");
        assert!(receipt.proves());
    }
    let first = stand.scratch.git(&["rev-list", "--max-parents=0", "HEAD"]);
    let run = stand
        .gates()
        .run_at(&first, &[gate("cat a.txt")], Caches::Kept)
        .unwrap()
        .remove(0);
    let receipt = run.receipt.unwrap();
    assert_eq!(
        (receipt.tail.as_str(), receipt.head_sha.as_deref()),
        ("one\n", Some(first.as_str()))
    );
    assert_ne!(receipt.tree_oid, head.tree);
    assert_eq!(stand.scratch.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_run_in_the_worktree_proves_nothing() {
    let stand = Stand::of(Scratch::new());
    let run = stand.gates().run_here(&gate("cat a.txt")).unwrap();
    let receipt = run.receipt.unwrap();
    assert!(receipt.has_passed() && !receipt.proves());
    let tree = stand.head().tree.unwrap();
    assert_eq!(stand.receipts.find("cat a.txt", &tree).unwrap(), None);
    let told = GateSpec {
        place: Place::Worktree,
        ..gate("pwd")
    };
    let head = stand.head().commit.unwrap();
    let run = stand
        .gates()
        .run_at(&head, &[told], Caches::Kept)
        .unwrap()
        .remove(0);
    let receipt = run.receipt.unwrap();
    assert_eq!(receipt.place, Place::Worktree);
    assert_eq!(receipt.tail.trim(), stand.repo.root().display().to_string());
}

#[test]
fn a_gate_that_changes_what_it_tests_proves_nothing() {
    let stand = Stand::of(Scratch::new());
    for command in [
        "sh -c 'echo x >> a.txt'",
        "rm a.txt",
        "sh -c 'cp -p a.txt b; echo x > a.txt; cp -p b a.txt'",
    ] {
        let run = stand.run(command);
        let problem = run.problem.clone().unwrap();
        assert!(
            !run.has_passed() && problem.contains("`a.txt`"),
            "{problem}"
        );
    }
    assert!(
        stand
            .run("sh -c 'cat a.txt; touch coverage.txt'")
            .has_passed()
    );
}

/// Whoever asks often enough would get a green run of it by chance.
#[test]
fn green_after_red_at_one_tree_counts_after_three_fresh_runs() {
    let mut stand = Stand::of(Scratch::new());
    stand.settings.cache = vec!["built".to_owned().try_into().unwrap()];
    let rest = tempfile::tempdir().unwrap();
    let left = rest.path().join("left");
    // Each run takes a line of the file, and is red where that says so.
    let command = format!(
        "sh -c 'mkdir -p built; cat built/n 2>/dev/null; echo x > built/n; read word < {0} || exit 0; sed -i 1d {0}; test $word = green'",
        left.display()
    );
    let turns = |words: &str| fs::write(&left, words.replace(' ', "\n")).unwrap();
    turns("green green red ");
    assert!(stand.run(&command).has_passed(), "nothing was red before");
    assert_eq!(fs::read_to_string(&left).unwrap(), "green\nred\n");

    // A red run is tried without hooks, and is red there too.
    turns("red red green green red red green green green green green ");
    assert!(!stand.run(&command).has_passed());
    let by_chance = stand.run(&command);
    assert!(!by_chance.has_passed() && by_chance.problem.is_none());
    assert!(by_chance.remarks[0].contains("number 2, with empty caches, was red again"));
    assert_eq!(fs::read_to_string(&left).unwrap(), "green\n".repeat(5));

    let confirmed = stand.run(&command);
    assert!(confirmed.has_passed());
    assert!(confirmed.remarks[0].contains("3 in a row, with empty caches, were green"));
    let receipt = confirmed.receipt.as_ref().unwrap();
    assert_eq!((receipt.caches, receipt.tail.as_str()), (Caches::Empty, ""));
    assert_eq!(fs::read_to_string(&left).unwrap(), "green\n");
    // That red run was chance: it asks for nothing any more, and is still told of.
    assert_eq!(stand.run(&command).remarks, confirmed.remarks);
    assert_eq!(fs::read_to_string(&left).unwrap(), "");

    // Red at another tree, or set up otherwise, says nothing of this one.
    turns("red ");
    assert!(!stand.run(&command).has_passed());
    stand.scratch.write("a.txt", "other\n");
    stand.scratch.commit("work");
    assert!(stand.run(&command).remarks.is_empty());
    turns("red ");
    assert!(!stand.run(&command).has_passed());
    stand.settings.env = vec!["OTHER".to_owned().try_into().unwrap()];
    assert!(stand.run(&command).remarks.is_empty());
}

#[test]
fn trust_is_by_words() {
    let scratch = Scratch::new();
    let repo = scratch.repo();
    let mut trust = Trust::of(&repo).unwrap();
    assert!(!trust.is_trusted("cargo test"));
    trust.trust("cargo test --lib").unwrap();
    trust.trust_prefix("npm run").unwrap();
    for trust in [trust.clone(), Trust::of(&repo).unwrap()] {
        for (command, trusted) in [
            ("cargo test --lib", true),
            ("cargo  test '--lib'", true),
            ("cargo test --lib --ignored", false),
            ("cargo test", false),
            ("npm run build", true),
            ("npm run", true),
            ("npm runner", false),
            ("npm", false),
            ("npm run 'build; rm -rf x'", true),
            ("npm run build; rm -rf x", false),
            ("sh -c 'npm run'", false),
            ("npm 'run", false),
            ("", false),
        ] {
            assert_eq!(trust.is_trusted(command), trusted, "{command}");
        }
    }
    assert_eq!(
        trust.list_trusted(),
        (vec!["cargo test --lib"], vec!["npm run"])
    );
    assert!(trust.trust("").is_err() && trust.trust_prefix("'").is_err());
    assert!(
        Trust::of(&repo)
            .unwrap()
            .with_everything()
            .is_trusted("anything at all")
    );
    let other = Scratch::new();
    assert!(
        !Trust::of(&other.repo())
            .unwrap()
            .is_trusted("cargo test --lib")
    );
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_ends_the_gate_and_is_told() {
    use nix::sys::signal::{Signal, kill};
    let scratch = Scratch::empty();
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            "gates::interrupted_child",
            "--ignored",
            "--nocapture",
        ])
        .env("CHILD_ROOT", &scratch.root)
        .stdout(std::process::Stdio::piped());
    let mut child = with_default_signals(&mut command).spawn().unwrap();
    let started = Instant::now();
    while !scratch.path("up").exists() {
        assert!(started.elapsed() < MINUTE);
        std::thread::sleep(Duration::from_millis(20));
    }
    kill(
        nix::unistd::Pid::from_raw(child.id() as i32),
        Signal::SIGINT,
    )
    .unwrap();
    // The second one comes while no gate runs: it ends the process as ever.
    while !scratch.path("told").exists() {
        assert!(started.elapsed() < MINUTE);
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!runs("736.1"));
    kill(
        nix::unistd::Pid::from_raw(child.id() as i32),
        Signal::SIGINT,
    )
    .unwrap();
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::SIGINT as i32));
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "the child of `an_interrupt_ends_the_gate_and_is_told`"]
fn interrupted_child() {
    let root = std::path::PathBuf::from(std::env::var("CHILD_ROOT").unwrap());
    let ended = long(&root, &["sh", "-c", "touch up; sleep 736.1"], MINUTE);
    assert!(
        matches!(ended, Err(ProcessError::Interrupted(_))),
        "{ended:?}"
    );
    assert!(cook_repo::process::is_interrupted());
    fs::write(root.join("told"), "").unwrap();
    std::thread::sleep(MINUTE);
}
