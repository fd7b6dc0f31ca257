//! `hooks install … --check`: a stop and a push are held against `cook check`, in a repository without
//! `.agent/`.

use crate::support::hooks::stop_checked;
use crate::support::{Repo, run};
use cook_agents::hooks::Agent;
use cook_protocol::model::hook_table::SettingsForm;
use serde_json::{Value, json};

const SOUND: &str = "one() { echo 1; }\n";
const BROKEN: &str = "one() { echo 2; }\n";

/// A repository whose gate is trusted, with a remote that has its first commit.
fn repo() -> Repo {
    let repo = Repo::unborn();
    repo.write("Makefile", "test:\n\tsh t.sh\n");
    repo.write("t.sh", "set -e\n. ./lib.sh\n[ \"$(one)\" = 1 ]\n");
    repo.write("lib.sh", SOUND);
    repo.commit("Begin", None);
    repo.git(&["init", "-q", "--bare", "../there.git"]);
    repo.git(&["remote", "add", "origin", "../there.git"]);
    repo.git(&["push", "-q", "-u", "origin", "main"]);
    repo.trust("make test");
    repo
}

/// What a stop of that session is answered with.
fn stop(repo: &Repo, session: &str, more: Value) -> Value {
    stop_checked(repo, session, &more)
}

/// Where this machine has its programs, and this build.
fn path_with_cook() -> String {
    let cook = std::path::Path::new(env!("CARGO_BIN_EXE_cook"));
    let path = std::env::var_os("PATH").unwrap();
    let dirs = [cook.parent().unwrap().to_owned()].into_iter();
    let dirs = dirs.chain(std::env::split_paths(&path));
    std::env::join_paths(dirs).unwrap().into_string().unwrap()
}

/// A push as a user types it, with cook on the path.
fn push(repo: &Repo, args: &[&str]) -> (bool, String) {
    let mut command = repo.command("git");
    command.env("PATH", path_with_cook());
    command.arg("push").args(args);
    let run = run(command, "");
    (run.code == 0, run.err)
}

#[test]
fn a_stop_is_refused_with_the_lines_of_the_check_three_times_at_any_speed() {
    let repo = repo();
    let none = || json!({});
    assert_eq!(stop(&repo, "s", none()), Value::Null, "all is well");
    repo.write("lib.sh", BROKEN);
    repo.commit("Break it", None);
    let line = repo.cook(&["check", "--json"]).exits(1).json()["lines"][0].clone();
    let words = format!(
        "- false [gate_red] {}\n  next: {}",
        line["message"].as_str().unwrap(),
        line["show"].as_str().unwrap()
    );
    for n in 0..3 {
        let told = stop(&repo, "s", none());
        assert_eq!(told["decision"], "block", "{n}: {told}");
        assert!(told["reason"].as_str().unwrap().contains(&words), "{told}");
    }
    let told = stop(&repo, "s", none());
    assert_eq!(told["decision"], Value::Null, "let go: {told}");
    assert!(
        told["systemMessage"]
            .as_str()
            .unwrap()
            .contains("stopped although")
    );
    let kept = std::fs::read_to_string(repo.root.join(".git/cook-hooks/queue.jsonl")).unwrap();
    assert_eq!(kept.matches("\"released\"").count(), 1, "{kept}");
    assert_eq!(stop(&repo, "s", none()), Value::Null, "it stays let go");
    assert_eq!(
        stop(&repo, "t", none())["decision"],
        "block",
        "another session"
    );
    // Work goes on: what is still false with the next commit is refused anew.
    repo.git(&["commit", "-q", "--allow-empty", "-m", "Try"]);
    assert_eq!(stop(&repo, "s", none())["decision"], "block");
    repo.write("lib.sh", SOUND);
    repo.commit("Mend it", None);
    assert_eq!(stop(&repo, "s", none()), Value::Null);
    assert_eq!(
        repo.git(&["status", "--porcelain"]),
        "",
        "nothing of cook's in the tree"
    );
}

#[test]
fn installing_the_check_and_removing_it_leaves_every_byte() {
    for agent in Agent::all() {
        let repo = Repo::unborn();
        let name = agent.name();
        let install = &agent.hooks().install;
        if !agent.can_hold_a_stop() {
            repo.cook(&["hooks", "install", name, "--check"])
                .fails(2, "usage")
                .says("asks no hook when it stops")
                .says("cook check");
            continue;
        }
        let Some(shared) = install.shared.as_deref() else {
            repo.cook(&["hooks", "install", name, "--check", "--shared"])
                .fails(2, "usage")
                .says("only your own")
                .says(&format!("cook hooks install {name} --check"));
            continue;
        };
        let merged = matches!(install.form, SettingsForm::Groups | SettingsForm::Flat);
        let version = if install.form == SettingsForm::Flat {
            "\"version\": 1, "
        } else {
            ""
        };
        let theirs = format!("{{ {version}\"mine\": [1,2 ] , \"hooks\": {{}} }}\n");
        if merged {
            repo.write(shared, &theirs);
        }
        repo.write("README.md", "# Theirs\n");
        repo.commit("Theirs", None);
        repo.cook(&["hooks", "check", name, "--shared", "--check"])
            .exits(1)
            .says("hooks_missing");
        let hooks = |word: &str, more: &[&str]| {
            let args = [&["hooks", word, name, "--shared"], more].concat();
            repo.cook(&args).exits(0)
        };
        let tree = || {
            repo.git(&["add", "-A"]);
            repo.git(&["write-tree"])
        };
        let before = tree();
        hooks("install", &["--check"]);
        let checked = tree();
        hooks("install", &["--check"]);
        assert_eq!(tree(), checked, "{name}: a second run changes a byte");
        hooks("check", &["--check"]);
        // Those of the workflow stand beside them, and each is taken out alone.
        hooks("install", &[]);
        hooks("check", &[]);
        hooks("check", &["--check"]);
        hooks("remove", &[]);
        assert_eq!(tree(), checked, "{name}: the check was touched");
        hooks("install", &[]);
        hooks("remove", &["--check"]);
        hooks("check", &[]);
        hooks("remove", &[]);
        assert_eq!(tree(), before, "{name} leaves a trace");
    }
}

#[test]
fn a_push_of_what_is_false_is_refused_and_the_hook_goes_as_it_came() {
    let repo = repo();
    repo.cook(&["hooks", "install", "git"])
        .exits(2)
        .says("hooks install git --check");
    repo.cook(&["hooks", "check", "git", "--check"])
        .exits(1)
        .says("hooks_missing");
    repo.cook(&["hooks", "install", "git", "--check"]).exits(0);
    repo.cook(&["hooks", "install", "git", "--check"])
        .exits(0)
        .says("as it was");
    repo.cook_env(
        &["hooks", "check", "git", "--check"],
        "PATH",
        "/usr/bin:/bin",
    )
    .exits(1)
    .says("hooks_dead");
    let check = ["hooks", "check", "git", "--check"];
    repo.cook_env(&check, "PATH", &path_with_cook()).exits(0);
    repo.write("lib.sh", BROKEN);
    repo.commit("Break it", None);
    let (pushed, said) = push(&repo, &["origin", "main"]);
    assert!(!pushed && said.contains("[gate_red] `make test`"), "{said}");
    // What is uncommitted is not pushed; what is pushed need not be checked out.
    repo.write("lib.sh", SOUND);
    assert!(!push(&repo, &["origin", "main"]).0);
    repo.commit("Mend it", None);
    repo.write("lib.sh", BROKEN);
    let (pushed, said) = push(&repo, &["origin", "main"]);
    assert!(pushed && !said.contains('['), "{said}");
    repo.git(&["checkout", "-q", "--", "."]);
    let (pushed, said) = push(&repo, &["origin", "HEAD~1:refs/heads/other"]);
    assert!(!pushed && said.contains("[gate_red]"), "{said}");
    assert!(push(&repo, &["origin", "HEAD:refs/heads/other"]).0);
    assert!(
        push(&repo, &["origin", ":other"]).0,
        "a deletion brings nothing"
    );
    repo.cook(&["hooks", "remove", "git", "--check"]).exits(0);
    assert!(!repo.root.join(".git/hooks/pre-push").exists());
    repo.cook(&["hooks", "remove", "git", "--check"])
        .exits(0)
        .says("it does not contain hooks of cook");
}

#[test]
fn a_pre_push_hook_of_theirs_is_never_changed() {
    let repo = repo();
    let theirs = "#!/bin/sh\nexit 0\n";
    repo.write(".githooks/pre-push", theirs);
    repo.git(&["config", "core.hooksPath", ".githooks"]);
    let run = repo.cook(&["hooks", "install", "git", "--check"]);
    assert_ne!(run.code, 0);
    assert!(run.err.contains("cook check --pushed || exit 1"), "{run:?}");
    repo.cook(&["hooks", "remove", "git", "--check"])
        .exits(0)
        .says("it does not contain hooks of cook");
    assert_eq!(repo.read(".githooks/pre-push"), theirs);
    // Their directory without such a hook takes it; what they add to it is theirs.
    std::fs::remove_file(repo.root.join(".githooks/pre-push")).unwrap();
    repo.cook(&["hooks", "install", "git", "--check"]).exits(0);
    let ours = repo.read(".githooks/pre-push");
    assert!(!repo.root.join(".git/hooks/pre-push").exists());
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    repo.write("lib.sh", BROKEN);
    repo.commit("Break it", None);
    let (pushed, said) = push(&repo, &["origin", "main"]);
    assert!(!pushed && said.contains("[gate_red]"), "{said}");
    repo.write(".githooks/pre-push", format!("{ours}echo mine\n"));
    assert_ne!(repo.cook(&["hooks", "remove", "git", "--check"]).code, 0);
    assert!(repo.read(".githooks/pre-push").ends_with("echo mine\n"));
    repo.write(".githooks/pre-push", ours);
    repo.cook(&["hooks", "remove", "git", "--check"]).exits(0);
    assert!(!repo.root.join(".githooks/pre-push").exists());
    // A directory of the user's that other repositories use too.
    let shared = repo.root.parent().unwrap().join("shared-hooks");
    repo.git(&["config", "core.hooksPath", shared.to_str().unwrap()]);
    let run = repo.cook(&["hooks", "install", "git", "--check"]);
    assert!(
        run.code != 0 && run.err.contains("not this repository's alone"),
        "{run:?}"
    );
}
