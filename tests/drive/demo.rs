//! `cook demo`: the run to `done`, each culprit caught, and what each run leaves.
#![cfg(unix)]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const COOK: &str = env!("CARGO_BIN_EXE_cook");
/// How long a demonstration may take, on a busy machine as well.
const BOUND: Duration = Duration::from_secs(120);
/// Sessions of the story.
const SESSIONS: u64 = 21;

/// A home for demonstrations.
struct Stage {
    dir: TempDir,
}

/// A demonstration that came to its end.
struct Played {
    root: PathBuf,
    json: Value,
    /// What was said while it ran.
    told: String,
}

impl Stage {
    fn new() -> Self {
        let dir = crate::support::room();
        for name in ["home", "tmp"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        Self { dir }
    }

    /// A program in an environment with nothing of this machine but the usual programs.
    fn command(&self, program: &str, dir: &Path) -> Command {
        let bin = Path::new(COOK).parent().unwrap();
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
            .env("HOME", self.dir.path().join("home"))
            .env("TMPDIR", self.dir.path().join("tmp"))
            .env("TERM", "dumb")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .current_dir(dir)
            .stdin(Stdio::null());
        command
    }

    fn demo(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(COOK, self.dir.path());
        command.arg("demo").args(arguments);
        command
    }

    /// Plays one, within the bound, and looks at everything that it left.
    fn plays(&self, arguments: &[&str]) -> Played {
        let begun = Instant::now();
        let output = self.demo(arguments).arg("--json").output().unwrap();
        let took = begun.elapsed();
        let told = text(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {told}");
        assert!(took < BOUND, "{arguments:?} took {took:?}");
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        fits("demo", &json);
        let root = PathBuf::from(json["directory"].as_str().unwrap());
        assert_eq!(json["next"]["policy"], "done");
        let played = Played { root, json, told };
        self.check_left_in_order(&played.root);
        played
    }

    fn check_left_in_order(&self, root: &Path) {
        for arguments in [
            &["verify", "--strict"][..],
            &["session", "verify"],
            &["doctor", "fsck"],
            &["status"],
            &["log"],
            &["report", "--html", "-"],
        ] {
            let answer = self.command(COOK, root).args(arguments).output().unwrap();
            let said = text(&answer.stdout) + &text(&answer.stderr);
            assert!(answer.status.success(), "{arguments:?}: {said}");
        }
        self.git(root, &["fsck", "--strict", "--no-dangling"]);
        assert_eq!(self.git(root, &["status", "--porcelain"]), "");
        // The program does what its mission says.
        let answer = self
            .command("sh", root)
            .args(["roman", "1994"])
            .output()
            .unwrap();
        assert_eq!(text(&answer.stdout), "MCMXCIV\n");
        assert_eq!(list_processes_in(root), Vec::<String>::new());
        let watch = root.join(".git/cook/watch");
        assert!(!watch.exists() || files(&watch).is_empty());
    }

    fn git(&self, root: &Path, arguments: &[&str]) -> String {
        let answer = self.command("git", root).args(arguments).output().unwrap();
        assert!(answer.status.success(), "{}", text(&answer.stderr));
        text(&answer.stdout).trim().to_owned()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().flatten();
    entries
        .flat_map(|entry| match entry.path() {
            path if path.is_dir() => files(&path),
            path => vec![path],
        })
        .collect()
}

/// Processes that still work in a directory, zombies left out.
fn list_processes_in(dir: &Path) -> Vec<String> {
    let dir = dir.canonicalize().unwrap();
    let Ok(all) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    all.flatten()
        .filter(|process| {
            std::fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&dir))
        })
        .map(|process| process.file_name().to_string_lossy().into_owned())
        .collect()
}

#[track_caller]
fn fits(name: &str, value: &Value) {
    let path = format!(
        "{}/protocol/schema/output-{name}.schema.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let schema = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(value)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}\n{value:#}");
}

fn codes(json: &Value) -> Vec<&str> {
    let caught = json["caught"].as_array().unwrap();
    caught
        .iter()
        .map(|catch| catch["code"].as_str().unwrap())
        .collect()
}

#[test]
fn the_story_ends_in_done_and_leaves_a_repository_that_verifies() {
    let stage = Stage::new();
    let played = stage.plays(&[]);
    assert_eq!(played.json["sessions"], SESSIONS);
    assert_eq!(played.json["culprit"], Value::Null);
    assert_eq!(codes(&played.json), [""; 0]);
    assert!(
        played
            .root
            .starts_with(stage.dir.path().canonicalize().unwrap())
    );
    let subjects = stage.git(&played.root, &["log", "--reverse", "--format=%s"]);
    assert_eq!(
        subjects.lines().collect::<Vec<_>>(),
        [
            "Begin roman",
            "Set up the completion contract",
            "Write numbers as roman numerals",
            "Refuse what has no numeral",
            "Say how roman is called",
        ]
    );
    // The user's own commands were opened by a script, and the log says so.
    let log = stage
        .command(COOK, &played.root)
        .args(["log", "--json", "-n", "99"])
        .output()
        .unwrap();
    let log: Value = serde_json::from_slice(&log.stdout).unwrap();
    let rows = log["worktrees"][0]["transitions"].as_array().unwrap();
    let by_script = rows.iter().filter(|row| row["actor"] == "script").count();
    assert_eq!(by_script, 2, "{log:#}");
    // What reviewer and judge caught is on the page that tells of it.
    let page = stage
        .command(COOK, &played.root)
        .args(["report", "--html", "-"])
        .output()
        .unwrap();
    let page = text(&page.stdout);
    for part in [
        "<h1>DONE AND PROVEN</h1>",
        "✗ the review sends it back",
        "<code>roman 0</code> prints an empty line",
        "✗ no",
        "the README does not say how roman is called",
        "<bdi>scripted</bdi>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    page_quotes_what_is_said_of(&stage, &played);
    tells_live_with_the_reason(&played.told);
    let sizes = measure_prompts_of_attempts(&stage, &played);
    assert_eq!(sizes.len(), 3, "{sizes:?}");
    // 8,000 tokens of four bytes.
    assert!(sizes.iter().all(|size| *size <= 32_000), "{sizes:?}");
}

/// `docs/ci.md` shows what a check of a pull request says: the beginning of the answer that `action.yml` asks
/// for in a clone, but for the commits' ids.
fn page_quotes_what_is_said_of(stage: &Stage, played: &Played) {
    let bare = stage.dir.path().join("r.git");
    let bare = bare.to_str().unwrap();
    stage.git(&played.root, &["init", "-q", "--bare", bare]);
    stage.git(&played.root, &["remote", "add", "origin", bare]);
    let base = "HEAD~3:refs/heads/trunk";
    stage.git(&played.root, &["push", "-q", "origin", base]);
    let mut push = stage.command(COOK, &played.root);
    let pushed = push.args(["push", "--yes"]).output().unwrap();
    assert!(pushed.status.success(), "{}", text(&pushed.stderr));
    let clone = stage.dir.path().join("clone");
    let to = clone.to_str().unwrap();
    stage.git(&played.root, &["clone", "-q", "-b", "main", bare, to]);
    let mut command = stage.command(COOK, &clone);
    command.args(["verify", "all", "--trust-repo", "--format", "markdown"]);
    command.args(["--from=origin", "--base=origin/trunk"]);
    command.args(["--rerun", "--history", "--strict"]);
    let said = text(&command.output().unwrap().stdout);
    let mark = "<code>";
    let without_ids = |line: &str| {
        let is_id = |word: &str| word.len() == 12 && word.bytes().all(|c| c.is_ascii_hexdigit());
        let parts = line
            .split(mark)
            .map(|part| match part.split_once("</code>") {
                Some((id, rest)) if is_id(id) => rest,
                _ => part,
            });
        parts.collect::<Vec<_>>().join(mark)
    };
    let quoted = include_str!("../../docs/ci.md").lines();
    let quoted: Vec<String> = quoted
        .filter_map(|line| line.strip_prefix('>'))
        .map(|line| without_ids(line.trim_start()))
        .collect();
    let said: Vec<String> = said.lines().map(without_ids).collect();
    assert_eq!(quoted.len(), 10, "{quoted:#?}");
    assert_eq!(
        quoted,
        said[..quoted.len()],
        "docs/ci.md quotes another answer"
    );
    assert_eq!(
        said[quoted.len()],
        "",
        "docs/ci.md quotes a part of the table"
    );
}

/// Bytes of the four prompts of each attempt: implementer, reviewer, auditor, regrounder.
fn measure_prompts_of_attempts(stage: &Stage, played: &Played) -> Vec<usize> {
    let ask = |arguments: &[&str]| -> Value {
        let mut command = stage.command(COOK, &played.root);
        let answer = command.args(arguments).arg("--json").output().unwrap();
        serde_json::from_slice(&answer.stdout).unwrap()
    };
    let log = ask(&["session", "log", "-n", "99"]);
    // Newest first.
    let calls: Vec<&Value> = log["calls"].as_array().unwrap().iter().rev().collect();
    let attempts = calls.windows(4).filter(|four| {
        let roles = four.iter().map(|call| call["call"]["role"].as_str());
        roles.eq(["implementer", "reviewer", "auditor", "regrounder"].map(Some))
    });
    let bytes = |call: &&Value| {
        let said = ask(&[
            "session",
            "show",
            call["call"]["exchange"].as_str().unwrap(),
        ]);
        said["value"]["input"].as_str().unwrap().len()
    };
    attempts.map(|four| four.iter().map(bytes).sum()).collect()
}

fn tells_live_with_the_reason(told: &str) {
    for line in [
        "completion-reviewer (scripted), rule 5",
        "  PROGRESS: trying numbers that no test tries",
        "    numerals: committed, gates green (1 of 1 gates passed)",
        "    no: `roman 0` prints an empty line",
        "    reopens numerals",
        "    no: the README does not say how roman is called",
        "    plans 2 slices; the work goes on: manual takes it up",
        "    the project is done",
    ] {
        let line = line.trim_start();
        assert!(told.contains(line), "`{line}` is not in {told}");
    }
    // README's picture was drawn from such a run, and says what it says.
    let picture = include_str!("../../docs/demo.svg");
    let shown = picture
        .lines()
        .filter_map(|line| line.split_once(" x=\"152\">"));
    let mut drawn = 0;
    for (_, said) in shown {
        let said = said
            .split("</tspan>")
            .next()
            .unwrap()
            .trim_end_matches(" …");
        let said = said
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&");
        assert!(
            told.contains(&said),
            "`{said}` is drawn and not told: run docs/demo.sh"
        );
        drawn += 1;
    }
    assert_eq!(drawn, SESSIONS);
}

#[test]
fn a_liar_is_caught_by_what_cook_runs_itself() {
    let stage = Stage::new();
    let played = stage.plays(&["--with", "liar"]);
    assert_eq!(codes(&played.json), ["commit_unknown", "gate_red"]);
    assert_eq!(played.json["sessions"], SESSIONS + 2);
    let noticed = played.json["caught"][1]["noticed"].to_string();
    assert!(
        noticed.contains("failed: 9 is written by subtraction"),
        "{noticed}"
    );
}

#[test]
fn a_cheater_leaves_every_criterion_as_it_was() {
    let stage = Stage::new();
    let played = stage.plays(&["--with", "cheater"]);
    assert_eq!(
        codes(&played.json),
        ["authority_breached", "criteria_weakened"]
    );
    let plan = std::fs::read_to_string(played.root.join(".agent/plan.json")).unwrap();
    assert!(plan.contains("a number without a numeral is an error"));
    assert!(!plan.contains("some numbers are written"));
    // What it wrote is kept.
    let kept = played.json["caught"][0]["kept"].as_array().unwrap();
    assert_eq!(kept.len(), 2);
    let shown: String = kept
        .iter()
        .map(|id| {
            let mut command = stage.command(COOK, &played.root);
            command.args(["doctor", "rescue", "show", id.as_str().unwrap()]);
            text(&command.output().unwrap().stdout)
        })
        .collect();
    for file in ["plan.json", "verify_completion_stop.sh"] {
        assert!(shown.contains(file), "{shown}");
    }
}

#[test]
fn a_crash_after_the_commit_loses_no_work() {
    let stage = Stage::new();
    let played = stage.plays(&["--with", "crasher"]);
    assert_eq!(codes(&played.json), ["supplier_failed"]);
    // The next session reported the commit that was there.
    let subjects = stage.git(&played.root, &["log", "--format=%s"]);
    let once = |subject: &str| subjects.lines().filter(|line| *line == subject).count();
    assert_eq!(once("Write numbers as roman numerals"), 1);
}

#[test]
fn a_hanger_is_ended_by_its_idle_clock() {
    let played = Stage::new().plays(&["--with", "hanger"]);
    assert_eq!(codes(&played.json), ["supplier_failed"]);
    let noticed = played.json["caught"][0]["noticed"].to_string();
    assert!(noticed.contains("said nothing for longer"), "{noticed}");
}

#[test]
fn of_a_flood_only_the_ends_are_kept() {
    let stage = Stage::new();
    let played = stage.plays(&["--with", "flooder"]);
    assert_eq!(codes(&played.json), ["supplier_failed"]);
    let sizes = files(&played.root)
        .into_iter()
        .map(|file| file.metadata().unwrap().len());
    let sizes: Vec<u64> = sizes.collect();
    assert!(sizes.iter().max() > Some(&1_000_000), "a part is kept");
    assert!(sizes.iter().sum::<u64>() < 20_000_000, "not the whole");
}

#[test]
fn an_editor_is_put_back_and_what_it_did_is_kept() {
    let stage = Stage::new();
    let played = stage.plays(&["--with", "editor"]);
    assert_eq!(codes(&played.json), ["authority_breached"]);
    assert_eq!(stage.git(&played.root, &["tag", "--list"]), "");
    assert!(!played.root.join("notes.txt").exists());
    let subjects = stage.git(&played.root, &["log", "--format=%s"]);
    assert!(!subjects.contains("While I am here"), "{subjects}");
    let kept = played.json["caught"][0]["kept"].to_string();
    let refs = kept.split('"').filter(|name| name.starts_with("refs/"));
    for name in refs.clone() {
        let on_head = ["merge-base", "--is-ancestor", name, "HEAD"];
        let mut command = stage.command("git", &played.root);
        let code = command.args(on_head).status().unwrap().code();
        assert_eq!(code, Some(1), "{name} is on HEAD");
    }
    let branch = refs.clone().find(|name| name.ends_with("/heads/main"));
    let branch = branch.unwrap();
    let subject = stage.git(&played.root, &["log", "-1", "--format=%s", branch]);
    assert_eq!(subject, "While I am here");
}

/// Inside an agent's environment too, and with settings of the user's in the way. With `--quiet` there is the
/// answer and nothing else.
#[test]
fn whatever_stands_around_it_the_demonstration_is_its_own() {
    let stage = Stage::new();
    let settings = stage.dir.path().join("gitconfig");
    std::fs::write(
        &settings,
        "[commit]\n\tgpgSign = true\n[core]\n\thooksPath = /nonexistent\n\tautocrlf = true\n[init]\n\tdefaultBranch = trunk\n[user]\n\tuseConfigOnly = true\n",
    )
    .unwrap();
    let dir = stage.dir.path().join("with a blank");
    let output = stage
        .demo(&["--quiet", "--dir"])
        .arg(&dir)
        .env("CLAUDECODE", "1")
        .env("AI_AGENT", "x")
        .env("GIT_CONFIG_GLOBAL", &settings)
        .env("GIT_DIR", "/nonexistent")
        .env("GIT_INDEX_FILE", "/nonexistent/index")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    let answer = text(&output.stdout);
    for said in [
        "done at",
        "cd '",
        "cook status",
        "cook log",
        "cook verify --strict",
    ] {
        assert!(answer.contains(said), "{answer}");
    }
    stage.check_left_in_order(&dir);
}

/// What demos leave is named, and goes together; a directory of somebody else's with such a name stays, and so does one
/// in which a run is at work.
#[test]
fn what_demos_leave_is_removed_when_that_is_asked_for() {
    let stage = Stage::new();
    let played = stage.demo(&[]).output().unwrap();
    let told = String::from_utf8(played.stdout).unwrap();
    assert!(
        told.contains("when you have seen it: cook demo --clean"),
        "{told}"
    );
    let tmp = stage.dir.path().join("tmp");
    let list = || {
        let entries = std::fs::read_dir(&tmp).unwrap().flatten();
        let names = entries.map(|entry| entry.file_name().into_string().unwrap());
        names
            .filter(|name| name.starts_with("cook-demo-"))
            .collect::<Vec<_>>()
    };
    let left = list();
    assert_eq!(left.len(), 1, "{left:?}");
    let theirs = tmp.join("cook-demo-theirs");
    std::fs::create_dir(&theirs).unwrap();
    std::fs::write(theirs.join("notes.txt"), "mine").unwrap();

    let clean = || {
        let output = stage.demo(&["--clean"]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let leases = tmp.join(&left[0]).join(".git/cook/leases");
    let lease = std::fs::read_dir(&leases)
        .unwrap()
        .flatten()
        .next()
        .unwrap();
    let held = std::fs::File::open(lease.path()).unwrap();
    held.lock().unwrap();
    let told = clean();
    assert!(told.contains("stays: the workflow is driven by"), "{told}");
    assert_eq!(list().len(), 2);
    drop(held);
    let told = clean();
    assert!(told.contains(&format!("/{}\n", left[0])), "{told}");
    assert_eq!(list(), ["cook-demo-theirs"]);
    assert!(clean().contains("no demo left anything to remove"));
}
