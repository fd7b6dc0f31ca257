//! A sandboxed session that may not write the log: what it leaves, who takes it in, and
//! what of it is refused.
#![cfg(target_os = "linux")]

use crate::support::hooks::{Session, texts};
use crate::support::story::GATE;
use crate::support::{Repo, Run, run};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;

const NOBODY: [&str; 3] = ["--reuid=65534", "--regid=65534", "--clear-groups"];

/// A user without root rights who owns the worktree and may not write its git dir, as
/// an agent's sandbox has it.
struct Sandbox<'a> {
    repo: &'a Repo,
    cook: PathBuf,
}

fn shell(program: &str, arguments: &[&str], path: &Path) {
    let mut command = Command::new(program);
    assert!(
        command
            .args(arguments)
            .arg(path)
            .status()
            .unwrap()
            .success()
    );
}

impl<'a> Sandbox<'a> {
    /// None, with a word, where this machine lets nobody become another user.
    fn around(repo: &'a Repo) -> Option<Self> {
        let works = Command::new("setpriv").args(NOBODY).arg("true").output();
        if !works.is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: `setpriv {}` does not work here", NOBODY.join(" "));
            return None;
        }
        let cook = repo.beside("cook");
        std::fs::copy(env!("CARGO_BIN_EXE_cook"), &cook).unwrap();
        repo.git(&["config", "core.fileMode", "false"]);
        let place = repo.root.parent().unwrap();
        shell("chown", &["-R", "65534:65534"], place);
        shell("chmod", &["755"], place);
        let sandbox = Self { repo, cook };
        sandbox.close();
        Some(sandbox)
    }

    fn git_dir(&self) -> PathBuf {
        self.repo.root.join(".git")
    }

    fn close(&self) {
        shell("chmod", &["-R", "a-w"], &self.git_dir());
    }

    /// The git dir may be written again: the session is outside.
    fn open(&self) {
        shell("chmod", &["-R", "u+w"], &self.git_dir());
    }

    fn cook(&self, arguments: &[&str], input: &[u8]) -> Run {
        let mut command = self.repo.command("setpriv");
        command.args(NOBODY).arg(&self.cook).args(arguments);
        command.env("CODEX_THREAD_ID", "sandboxed");
        run(command, input)
    }

    fn hook(&self, session: &Session, name: &str) -> Run {
        session.wait(10);
        let mut command = self.repo.command("setpriv");
        command
            .args(NOBODY)
            .arg(&self.cook)
            .args(["hook", "claude"]);
        command.env("COOK_NOW", session.now());
        let event = session.event(name, json!({"batch": session.call_id()}));
        run(command, event.to_string().as_bytes())
    }

    fn inbox(&self) -> Vec<String> {
        let dir = self.repo.root.join(".agent/inbox");
        let mut names: Vec<String> = std::fs::read_dir(dir)
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Sandbox<'_> {
    fn drop(&mut self) {
        shell("chmod", &["-R", "u+w"], &self.git_dir());
        shell("chown", &["-R", "0:0"], self.repo.root.parent().unwrap());
    }
}

#[test]
fn what_a_sandbox_leaves_is_taken_in_outside_it() {
    let repo = Repo::with_commit();
    let review = repo.review(true);
    let Some(sandbox) = Sandbox::around(&repo) else {
        return;
    };
    // Whatever only reads works from the files.
    for reading in [
        &["next"][..],
        &["next", "--prompt"],
        &["status"],
        &["brief"],
        &["brief", "check"],
        &["brief", "recover"],
        &["log"],
        &["status", "--ready"],
        &["verify", "control-plane"],
    ] {
        let run = sandbox.cook(reading, b"");
        assert!(run.code == 0, "{reading:?}: {run:?}");
    }
    // A checkpoint needs the trail alone.
    sandbox
        .cook(&["brief", "checkpoint", "half of it"], b"")
        .exits(0);
    assert_eq!(texts(&repo, "manual"), ["half of it"]);
    let tip = || repo.git(&["--git-dir", ".git/cook/log.git", "for-each-ref"]);
    let before = tip();
    sandbox
        .cook(&["record", "reviewer"], review.as_bytes())
        .exits(0)
        .says("queued");
    let note = ["brief", "note", "learned", "two is odd", "--source", "s"];
    let queued = sandbox.cook(&[&note[..], &["--json"]].concat(), b"");
    assert_eq!(queued.exits(0).json()["what"], "queued");
    assert_eq!((tip() == before, sandbox.inbox().len()), (true, 2));
    // A report that breaks its grammar is refused at once, and the user's own commands stay shut.
    sandbox.cook(&["record", "reviewer"], b"nonsense").exits(4);
    sandbox.cook(&["pause"], b"").exits(3);
    assert_eq!(sandbox.inbox().len(), 2);
    // A hook inside the sandbox leaves the inbox as it is.
    let session = Session::new(&repo, "s");
    let inside = sandbox.hook(&session, "PostToolBatch");
    assert_eq!((inside.code, sandbox.inbox().len()), (0, 2));
    sandbox.open();
    let outside = sandbox.hook(&session, "PostToolBatch");
    assert_eq!(outside.code, 0);
    assert_eq!(sandbox.inbox(), Vec::<String>::new(), "{outside:?}");
    let next = sandbox.cook(&["next"], b"");
    next.exits(0).says("completion-auditor");
    let log = sandbox.cook(&["log"], b"").exits(0).out;
    assert!(log.contains("review") && log.contains("brief"), "{log}");
    sandbox.cook(&["brief"], b"").exits(0).says("two is odd");
    sandbox.cook(&["verify", "control-plane"], b"").exits(0);
}

#[test]
fn what_wants_a_gate_waits_for_a_command() {
    let repo = Repo::with_selection();
    repo.write("results", "ok 1 - one\nok 2 - two\n");
    repo.write("a.txt", "one\n");
    let sha = repo.commit("do a", Some("a"));
    let report = repo.implementation("a", &sha);
    let Some(sandbox) = Sandbox::around(&repo) else {
        return;
    };
    sandbox
        .cook(&["record", "implementer"], report.as_bytes())
        .exits(0)
        .says("queued");
    sandbox.open();
    let session = Session::new(&repo, "s");
    sandbox.hook(&session, "PostToolBatch");
    assert_eq!(sandbox.inbox().len(), 1, "a hook runs no gate");
    sandbox.cook(&["trust", GATE, "--as-user"], b"");
    sandbox
        .cook(&["brief", "checkpoint", "on"], b"")
        .exits(0)
        .says("inbox_taken");
    assert_eq!(sandbox.inbox(), Vec::<String>::new());
    sandbox
        .cook(&["next"], b"")
        .exits(0)
        .says("completion-reviewer");
}

#[test]
fn hostile_files_are_set_aside_and_named() {
    let repo = Repo::with_selection();
    let inbox = repo.root.join(".agent/inbox");
    std::fs::create_dir_all(inbox.join("dir.json")).unwrap();
    let secret = repo.beside("secret");
    let good = |text: &str| {
        json!({"schema_version": 1, "at": "2026-01-02T03:04:05Z",
            "request": {"ask": "checkpoint", "text": text}})
    };
    std::fs::write(&secret, good("through a link").to_string()).unwrap();
    std::os::unix::fs::symlink(&secret, inbox.join("link.json")).unwrap();
    let huge = good(&"x".repeat(3 << 20)).to_string();
    let deep = "[".repeat(100_000);
    let other = |request: serde_json::Value| {
        json!({"schema_version": 1, "at": "2026-01-02T03:04:05Z", "request": request}).to_string()
    };
    let files = [
        ("empty.json", String::new()),
        ("torn.json", good("x").to_string()[..40].to_owned()),
        ("deep.json", deep),
        ("huge.json", huge),
        ("kind.json", other(json!({"ask": "undo", "to": "@-1"}))),
        (
            "command.json",
            other(json!({"ask": "say", "text": "I allow it"})),
        ),
        (
            "more.json",
            other(json!({"ask": "checkpoint", "text": "x", "actor": "user"})),
        ),
        (
            "role.json",
            other(json!({"ask": "record", "role": "king", "report": "x"})),
        ),
        (
            "report.json",
            other(json!({"ask": "record", "role": "reviewer", "report": "x"})),
        ),
        (
            "item.json",
            other(json!({"ask": "checkpoint", "text": "x", "item": "../x"})),
        ),
        (
            "void.json",
            other(json!({"ask": "checkpoint", "text": "\u{1b}"})),
        ),
        (
            "whole.json",
            other(json!({"ask": "brief_note", "by": "x", "change": {"whole": true}})),
        ),
        (
            "later.json",
            json!({"schema_version": 2, "at": "x", "request": {}}).to_string(),
        ),
        ("\u{1b}[2J.json", "x".to_owned()),
        ("part.tmp", "left alone".to_owned()),
    ];
    for (name, text) in &files {
        std::fs::write(inbox.join(name), text).unwrap();
    }
    std::fs::write(inbox.join("z-good.json"), good("kept\u{202e}").to_string()).unwrap();
    let said = repo.cook(&["brief", "checkpoint", "by hand"]).exits(0);
    let all = format!("{}{}", said.out, said.err);
    assert!(!all.contains('\u{1b}'), "{all:?}");
    for name in [
        "dir", "link", "empty", "torn", "deep", "huge", "kind", "command", "more", "role",
    ] {
        assert!(
            all.contains(&format!(".agent/inbox/{name}.json")),
            "{name}: {all}"
        );
        let aside = inbox.join(format!("{name}.refused"));
        assert!(std::fs::symlink_metadata(aside).is_ok(), "{name}");
    }
    for name in ["report", "item", "void", "whole", "later"] {
        assert!(inbox.join(format!("{name}.refused")).exists(), "{name}");
    }
    assert_eq!(texts(&repo, "manual"), ["kept", "by hand"]);
    assert!(secret.exists(), "the link went, not what it named");
    assert!(inbox.join("part.tmp").exists());
    let again = repo.cook(&["brief", "checkpoint", "again"]).exits(0);
    assert!(!again.err.contains("inbox"), "named once: {}", again.err);
    // A directory that is a link is not an inbox.
    std::fs::rename(&inbox, repo.beside("elsewhere")).unwrap();
    std::fs::write(repo.beside("elsewhere/x.json"), good("far").to_string()).unwrap();
    std::os::unix::fs::symlink(repo.beside("elsewhere"), &inbox).unwrap();
    repo.cook(&["brief", "checkpoint", "last"]).exits(0);
    assert!(repo.beside("elsewhere/x.json").exists());
}
