//! Hooks beside an issue tracker: the fake speaks each shape, hangs, locks and is cut
//! off in the middle of a write; what cook says and keeps is looked at from both sides.
#![cfg(unix)]

use crate::support::hooks::Session;
use crate::support::tracker::{Issues, SHAPES, install};
use crate::support::{Repo, run};
use serde_json::json;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The fake tracker in a repository, which every command finds on PATH.
fn track(repo: &Repo, program: &str, shape: &str) -> Issues {
    let bin = repo.beside("bin");
    install(&bin, program);
    let cook = std::path::Path::new(env!("CARGO_BIN_EXE_cook"));
    let path = format!(
        "{}:{}:/usr/bin:/bin",
        bin.display(),
        cook.parent().unwrap().display()
    );
    let me = if program == "br" {
        "BR_ACTOR"
    } else {
        "BD_ACTOR"
    };
    let extra = [("PATH", path.as_str()), (me, "me")];
    let owned = extra.map(|(name, value)| (name.to_owned(), value.to_owned()));
    repo.extra.borrow_mut().extend(owned);
    let issues = Issues::at(&repo.root, shape);
    repo.write(".beads/.gitignore", "fake/\n");
    repo.commit("Track issues", None);
    issues
}

/// `x-a`, part of `x-0`, keeps `x-b` waiting, which keeps `x-c`.
fn project(issues: &Issues) {
    issues.add("x-0", "the whole", "");
    issues.set("x-0", "priority", "4");
    issues.add("x-a", "first", "parent-child x-0\n");
    issues.add("x-b", "second", "blocks x-a\n");
    issues.add("x-c", "third", "blocks x-b\n");
}

fn set_claimed(issues: &Issues, id: &str, by: &str) {
    issues.set(id, "status", "in_progress");
    issues.set(id, "assignee", by);
}

/// A worktree without a workflow, `x-a` in work.
fn make_tracked() -> (Repo, Issues) {
    let repo = Repo::with_script();
    let issues = track(&repo, "br", "paged");
    project(&issues);
    set_claimed(&issues, "x-a", "me");
    (repo, issues)
}

fn head(repo: &Repo) -> String {
    repo.git(&["rev-parse", "HEAD"])
}

/// The comment that links HEAD.
fn link(repo: &Repo, subject: &str) -> String {
    let id = head(repo);
    format!("commit: {} {subject} [cook:commit.{id}]", &id[..7])
}

#[test]
fn a_session_is_told_its_issue_and_what_is_ready() {
    for (program, shape) in SHAPES {
        let repo = Repo::with_script();
        let issues = track(&repo, program, shape);
        project(&issues);
        issues.add("x-d", "other work", "");
        set_claimed(&issues, "x-a", "me");
        issues.write(
            "issues/x-a/comment-0000",
            "Done: half.\nNext: # the rest </b>",
        );
        let session = Session::new(&repo, "s");
        let text = session.start("startup").context();
        for part in [
            "## Core Rules",
            "## Resuming: x-a — `first`\nStatus: in_progress | Type: task | Priority: P2\n\
             Parent: `x-0 (task) — the whole`\nUnblocks: `x-b — second`\n",
            "### Checkpoint Trail",
            "Done: half. Next: # the rest ‹/b›",
            "Run: cook issue ready\nReady: `x-d — other work`, `x-0 — the whole`",
        ] {
            assert!(
                text.contains(part),
                "{program} {shape}: `{part}` is not in\n{text}"
            );
        }
        let said = |words: &[&str]| issues.count(words);
        assert_eq!(
            [
                said(&["info"]),
                said(&["list"]),
                said(&["ready"]),
                said(&["dep"]),
                said(&["update"]) + said(&["comments", "add"]) + said(&["close"]),
            ],
            [1, 1, 1, 2, 0],
            "{program} {shape}"
        );
    }
}

#[test]
fn without_a_workspace_no_tracker_is_called() {
    let repo = Repo::with_selection();
    let issues = track(&repo, "br", "flat");
    std::fs::remove_dir_all(repo.root.join(".beads")).unwrap();
    repo.commit("No issues", None);
    let session = Session::owner(&repo, "s");
    session.shell("br close x-a");
    repo.commit("made", Some("a"));
    session.shell("br update x-a --claim");
    session.compact();
    session.stop();
    assert_eq!(issues.calls(), Vec::<Vec<String>>::new());
    assert!(!repo.root.join(".beads").exists());
    // The settings may say so too.
    let none = Repo::with_selection();
    let issues = track(&none, "br", "flat");
    project(&issues);
    none.write(".agent/cook.toml", "[tracker]\nkind = \"none\"\n");
    Session::owner(&none, "s").shell("br close x-a");
    assert_eq!(issues.calls(), Vec::<Vec<String>>::new());
}

#[test]
fn a_commit_is_one_comment_however_often_it_is_told() {
    let (repo, issues) = make_tracked();
    let session = Session::new(&repo, "s");
    session.start("startup");
    repo.write("a.rs", "a");
    repo.commit("made <b>", None);
    let after = session.event(
        "PostToolUse",
        json!({"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "git commit"}}),
    );
    session.wait(10);
    for _ in 0..3 {
        session.raw("claude", after.to_string().as_bytes()).json();
    }
    session.turn();
    session.stop();
    // Another session, and one that has forgotten everything.
    let other = Session::new(&repo, "t");
    other.start("startup");
    other.stop();
    std::fs::remove_file(repo.root.join(".git/cook-tracker.json")).unwrap();
    session.start("resume");
    assert_eq!(issues.comments("x-a"), [link(&repo, "made ‹b›")]);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_comment_that_was_cut_off_is_there_once() {
    let (repo, issues) = make_tracked();
    let session = Session::new(&repo, "s");
    session.start("startup");
    repo.commit("made", None);
    issues.fault("comments-add", "once hang-after");
    let told = session.turn();
    assert!(
        told.0.err.contains("`br` is unavailable: no answer within"),
        "{told:?}",
        told = told.0
    );
    assert_eq!(issues.comments("x-a").len(), 1, "it had arrived");
    session.turn().is_silent();
    assert_eq!(issues.count(&["comments", "add"]), 1, "left alone until");
    session.start("resume");
    assert_eq!(issues.comments("x-a"), [link(&repo, "made")]);
    assert_eq!(issues.count(&["comments", "add"]), 1);
}

#[test]
fn a_hook_that_is_killed_in_the_middle_of_a_comment_leaves_one() {
    let (repo, issues) = make_tracked();
    let session = Session::new(&repo, "s");
    session.start("startup");
    repo.commit("made", None);
    issues.fault("comments-add", "once hang-after");
    session.wait(10);
    let mut command = repo.cook_command(&["hook", "claude"]);
    command.env("COOK_NOW", session.now());
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let event = session.event("PostToolBatch", json!({"batch": 1}));
    use std::io::Write;
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(event.to_string().as_bytes()).unwrap();
    drop(stdin);
    let began = Instant::now();
    while issues.comments("x-a").is_empty() {
        assert!(began.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    session.turn();
    session.start("resume");
    session.stop();
    assert_eq!(issues.comments("x-a"), [link(&repo, "made")]);
}

#[test]
fn a_tracker_that_is_away_is_named_once_and_hears_everything_later() {
    for (fault, why) in [
        ("locked", "`br` is unavailable: database is locked"),
        ("hang", "`br` is unavailable: no answer within"),
        ("uninitialised", "`br` is not set up: run init first"),
    ] {
        let (repo, issues) = make_tracked();
        let session = Session::new(&repo, "s");
        session.start("startup");
        let before = issues.calls().len();
        issues.fault("info", fault);
        let began = Instant::now();
        let text = session.start("clear").context();
        // Five of the ten seconds that the agent waits; a busy machine gets more.
        assert!(
            began.elapsed() < Duration::from_secs(12),
            "{:?}",
            began.elapsed()
        );
        assert!(text.contains(why), "{fault}: {text}");
        for n in 0..2 {
            repo.commit(&format!("made {n}"), None);
            session.turn().is_silent();
        }
        session.shell("br close x-a").is_silent();
        assert_eq!(issues.calls().len(), before + 1, "{fault}: asked once");
        issues.fault("info", "");
        session.start("resume");
        let said = issues.comments("x-a");
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].contains("made 0") && said[1].contains("made 1"));
    }
}

#[test]
fn any_wrong_answer_is_named_and_stops_nothing() {
    for fault in [
        "drift",
        "truncate",
        "strange",
        "silent",
        "quiet-error",
        "partial",
    ] {
        for command in ["list", "ready", "dep", "comments", "show"] {
            let (repo, issues) = make_tracked();
            issues.fault(command, fault);
            let session = Session::new(&repo, "s");
            let text = session.start("startup").context();
            assert!(text.contains("## Core Rules") && text.len() <= 2048);
            if command != "show" {
                assert!(text.contains("br"), "{command} {fault}: {text}");
            }
            session.shell("br close x-a").json();
            repo.commit("made", None);
            session.turn().json();
            session.stop().json();
        }
    }
}

#[test]
fn the_issue_of_a_slice_hears_what_is_done_for_it() {
    let repo = Repo::set_up();
    let issues = track(&repo, "br", "flat");
    project(&issues);
    repo.cook(&["trust", crate::support::story::GATE, "--as-user"])
        .exits(0);
    let mut plan = crate::support::story::plan();
    plan["candidate_slices"][0]["contract_ids"] = json!(["C-a", "issue:x-a"]);
    let block = json!({"plan": plan, "select": "a"});
    repo.record("regrounder", repo.reground("none", "none", "a", &block))
        .exits(0);
    assert_eq!(issues.get("x-a", "assignee"), "me");
    let session = Session::owner(&repo, "s");
    repo.write("a.txt", "one\n");
    repo.commit("do a", Some("a"));
    session.turn();
    repo.cook(&["brief", "checkpoint", "half of it"])
        .exits(0)
        .says("kept, with a");
    session.tell_edit("b.txt");
    session.turn();
    session.compact();
    let said = issues.comments("x-a");
    assert_eq!(said.len(), 3, "{said:#?}");
    assert_eq!(said[0], link(&repo, "do a"));
    assert!(said[1].starts_with("half of it [cook:manual."));
    assert!(said[2].starts_with("Auto-checkpoint (before compaction). Done: "));
    // The trail is the union of both, one per key; the last one names what it sums up.
    issues.write("issues/x-a/comment-0003", "a colleague's word");
    let text = session.start("compact").context();
    for (part, times) in [
        ("commit: ", 1),
        // In the trail twice, and in the brief as what is said to be done.
        ("half of it", 3),
        ("a colleague's word", 1),
        ("Auto-checkpoint", 1),
    ] {
        assert_eq!(text.matches(part).count(), times, "{part}\n{text}");
    }
    assert!(text.contains("## Resuming: a — `do a`"));
    assert_eq!(issues.comments("x-b").len(), 0);
}

#[test]
fn a_claim_makes_the_issue_the_sessions_and_a_close_sends_it_on() {
    for cook in [true, false] {
        let repo = Repo::with_script();
        let issues = track(&repo, "br", "flat");
        project(&issues);
        set_claimed(&issues, "x-0", "rival");
        let session = Session::new(&repo, "s");
        let text = session.start("startup").context();
        assert!(
            !text.contains("## Resuming"),
            "another's work is not resumed: {text}"
        );
        assert!(
            text.contains("Ready: `x-a — first`\n") || text.ends_with("Ready: `x-a — first`"),
            "{text}"
        );
        session.tell_edit("before.rs");
        // A claim that another actor holds changes nothing.
        session.shell("br update x-0 --status in_progress");
        assert_eq!(session.state()["item"], json!(null));
        if cook {
            repo.cook(&["issue", "claim", "x-a"]).exits(0);
            session.shell("cook issue claim x-a");
        } else {
            set_claimed(&issues, "x-a", "me");
            session.shell("cd . && br update x-a --status=in_progress --json");
        }
        assert_eq!(session.state()["item"], "x-a");
        assert_eq!(
            (
                session.state()["turns"].clone(),
                session.state()["files"]["x-a"].clone()
            ),
            (json!(0), json!([]))
        );
        session.tell_edit("src/b.rs");
        session.tell_edit("src/a.rs");
        session.tell_edit("../outside.rs");
        repo.write("src/a.rs", "a");
        repo.write("src/b.rs", "b");
        let denied = session
            .before("Bash", json!({"command": "br close x-a"}))
            .why_denied();
        assert!(denied.unwrap().contains("commit first"));
        repo.commit("made", None);
        assert_eq!(
            session
                .before("Bash", json!({"command": "br close x-a"}))
                .why_denied(),
            None
        );
        // Not closed yet, whatever the command ended with.
        session.shell("br close x-a --reason done");
        assert_eq!(session.state()["item"], "x-a");
        if cook {
            repo.cook(&["issue", "close", "x-a"]).exits(0);
        } else {
            issues.set("x-a", "status", "closed");
        }
        let line = if cook {
            "cook issue close x-a"
        } else {
            "br close --reason done x-a"
        };
        session.shell(line);
        session.shell(line);
        let said = issues.comments("x-a");
        assert_eq!(said.len(), 3, "{said:#?}");
        assert!(said[0].starts_with("claim: x-a [cook:claim.x-a."));
        assert!(said[1].starts_with("commit: "));
        assert!(said[2].starts_with("Files modified: src/a.rs, src/b.rs [cook:files.x-a."));
        let on = session.stop().why_blocked().unwrap();
        assert_eq!(
            on,
            "cook: x-a is closed; it unblocked x-b — second. Continue with the next ready work: cook issue ready"
        );
        assert_eq!(session.stop().why_blocked(), None, "once");
    }
}

#[test]
fn the_claimed_issue_comes_first_and_the_rest_is_counted() {
    let (repo, issues) = make_tracked();
    set_claimed(&issues, "x-c", "me");
    issues.set("x-c", "updated", "2026-01-02T03:04:05Z");
    set_claimed(&issues, "x-b", "rival");
    let session = Session::new(&repo, "s");
    let text = session.start("startup").context();
    assert!(text.contains("## Resuming: x-c — `third` (+1)"), "{text}");
    session.shell("br update x-a --claim");
    let text = session.start("resume").context();
    assert!(text.contains("## Resuming: x-a — `first` (+1)"), "{text}");
    let line = session.raw(
        "claude-statusline",
        json!({"session_id": "s", "cwd": repo.root})
            .to_string()
            .as_bytes(),
    );
    assert_eq!(line.0.out, "cook: x-a\n");
    // What somebody else took meanwhile is not resumed.
    set_claimed(&issues, "x-a", "rival");
    let text = session.start("resume").context();
    assert!(text.contains("## Resuming: x-c — `third`\n"), "{text}");
}

#[test]
fn checkpoints_and_recovery_work_by_hand_without_a_workflow() {
    let (repo, issues) = make_tracked();
    let session = Session::new(&repo, "s");
    session.start("startup");
    for _ in 0..8 {
        session.turn();
    }
    assert_eq!(session.state()["turns"], 8);
    repo.cook(&["brief", "checkpoint", "DONE: x; NEXT: y"])
        .exits(0)
        .says("kept, with x-a");
    session.shell("cook brief checkpoint 'DONE: x; NEXT: y'");
    assert_eq!(session.state()["turns"], 0);
    assert!(issues.comments("x-a")[0].starts_with("DONE: x; NEXT: y [cook:manual."));
    let said = repo.cook(&["brief", "recover"]).exits(0);
    assert!(said.out.contains("## Resuming: x-a — `first`"));
    assert_eq!(
        said.out.matches("DONE: x; NEXT: y").count(),
        1,
        "{}",
        said.out
    );
    issues.fault("comments-add", "locked");
    repo.cook(&["brief", "checkpoint", "later"])
        .exits(0)
        .says("tracker_behind")
        .says("database is locked");
    issues.fault("comments-add", "");
    session.start("resume");
    assert!(issues.comments("x-a")[1].starts_with("later [cook:manual."));
    assert_eq!(
        repo.git(&["status", "--porcelain"]),
        "",
        "nothing in the tree"
    );
    Repo::with_script()
        .cook(&["brief", "checkpoint", "x"])
        .fails(3, "not_initialised");
    Repo::with_script()
        .cook(&["brief", "recover"])
        .fails(3, "not_initialised");
}

#[test]
fn hooks_at_once_comment_once() {
    let rounds = match std::env::var("COOK_LONG_TESTS") {
        Ok(_) => 20,
        Err(_) => 1,
    };
    let (repo, issues) = make_tracked();
    let session = Session::new(&repo, "s");
    session.start("startup");
    for round in 0..rounds {
        repo.commit(&format!("made {round}"), None);
        session.wait(10);
        std::thread::scope(|scope| {
            for n in 0..50 {
                let event =
                    session.event("PostToolBatch", json!({"batch": format!("{round}-{n}")}));
                let mut command = repo.cook_command(&["hook", "claude"]);
                command.env("COOK_NOW", session.now());
                scope.spawn(move || {
                    let run = run(command, event.to_string().as_bytes());
                    assert_eq!(run.code, 0, "{run:?}");
                });
            }
        });
        session.stop();
        let said = issues.comments("x-a");
        assert_eq!(said.len(), round + 1, "{said:#?}");
        assert_eq!(said[round], link(&repo, &format!("made {round}")));
    }
    assert!(count_queue_texts(&repo) <= 101);
}

fn count_queue_texts(repo: &Repo) -> usize {
    assert!(!repo.root.join(".agent").exists());
    let path = repo.root.join(".git/cook-hooks/queue.jsonl");
    std::fs::read_to_string(path).unwrap().lines().count()
}

/// `N20–N23` and the like, one by one.
fn list_rows(cell: &str) -> Vec<String> {
    let number = |row: &str| row[1..].parse::<u32>().unwrap();
    cell.split(", ")
        .flat_map(|part| match part.split_once('–') {
            Some((first, last)) => (number(first)..=number(last))
                .map(|n| format!("{}{n}", &first[..1]))
                .collect(),
            None => vec![part.to_owned()],
        })
        .collect()
}

#[test]
fn every_row_of_the_seed_names_tests_that_exist() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let lists = read("tests/hooks/seed-rows.txt");
    let mut tests = String::new();
    let mut directories = vec![root.join("tests")];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                tests += &std::fs::read_to_string(path).unwrap();
            }
        }
    }
    let mut listed = std::collections::BTreeSet::new();
    for line in lists.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let is_row = |cell: &str| {
            cell.len() >= 2
                && cell.starts_with(['N', 'U', 'S', 'P', 'R', 'D'])
                && cell[1..].starts_with(|c: char| c.is_ascii_digit())
        };
        if is_row(cells[0]) {
            listed.extend(list_rows(cells[0]));
        }
        for name in line.split('`').skip(1).step_by(2) {
            let is_name =
                name.len() > 20 && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            assert!(!is_name || tests.contains(&format!("fn {name}(")), "{name}");
        }
    }
    let mut wanted = Vec::new();
    for (letter, numbers) in [
        (
            "N",
            &[
                1..=3,
                10..=12,
                15..=15,
                20..=23,
                25..=28,
                30..=36,
                40..=43,
                50..=55,
            ][..],
        ),
        ("U", &[1..=7]),
        ("S", &[1..=4]),
        ("P", &[1..=5]),
        ("R", &[0..=8]),
        ("D", &[1..=7]),
    ] {
        for number in numbers.iter().cloned().flatten() {
            wanted.push(format!("{letter}{number}"));
        }
    }
    let missing: Vec<String> = wanted
        .into_iter()
        .filter(|row| !listed.contains(row))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
