//! A gate that is red in the clean room: what it did not have there, and the setting that gives it.

use crate::support::agents::has_sandbox;
use crate::support::{Repo, Run, run};

/// Runs a gate in the room with these files committed and these variables around.
fn red(settings: &str, files: &[(&str, &str)], variables: &[(&str, &str)]) -> (Repo, Run) {
    let repo = Repo::set_up();
    repo.write(".agent/cook.toml", settings);
    for (path, text) in files {
        repo.write(path, text);
    }
    repo.commit("gates", None);
    repo.cook(&["trust", "--gates", "--as-user"]).exits(0);
    let said = again(&repo, variables);
    (repo, said)
}

fn again(repo: &Repo, variables: &[(&str, &str)]) -> Run {
    let mut command = repo.cook_command(&["gate", "--clean"]);
    command.envs(variables.iter().copied());
    run(command, b"").exits(1)
}

/// What is said to be missing, one line each.
fn missing(run: &Run) -> Vec<&str> {
    let lines = run.out.lines();
    lines
        .filter_map(|line| line.trim().strip_prefix("missing: "))
        .collect()
}

#[track_caller]
fn says(run: &Run, words: &[&str]) {
    let hints = missing(run);
    let found = hints
        .iter()
        .any(|hint| words.iter().all(|word| hint.contains(word)));
    assert!(found, "{words:?}: {}", run.out);
}

#[track_caller]
fn says_once(run: &Run, words: &[&str]) {
    says(run, words);
    assert_eq!(missing(run).len(), 1, "{}", run.out);
}

const SHELL: &str = "[gates]\nt = { run = \"sh t.sh\" }\n";

#[test]
fn a_variable_that_is_named_somewhere() {
    let url = [("DATABASE_URL", "x"), ("EDITOR", "vi")];
    let setting = "`[clean_room] env = [\"DATABASE_URL\"]`";
    let (_, output) = red(
        SHELL,
        &[("t.sh", "echo \"DATABASE_URL unset\"; exit 1\n")],
        &url,
    );
    says_once(&output, &["its output", setting]);
    let command = "[gates]\nt = { run = \"sh -c 'exit ${#DATABASE_URL}1'\" }\n";
    let (_, command) = red(command, &[], &url);
    says_once(&command, &["its command", setting]);
    let (_, file) = red(
        SHELL,
        &[
            ("t.sh", ". ./lib.sh\n"),
            ("lib.sh", "exec test -n \"$DATABASE_URL\"\n"),
            ("EDITOR.md", "EDITOR\n"),
        ],
        &url,
    );
    says_once(&file, &["`lib.sh`", setting]);
    let (_, nothing) = red(SHELL, &[("t.sh", "exit 1\n")], &url);
    assert_eq!(missing(&nothing), [""; 0]);
}

#[cfg(unix)]
#[test]
fn a_program_that_is_not_found() {
    let (repo, nowhere) = red(SHELL, &[("t.sh", "no-such-tool --check\n")], &[]);
    says_once(&nowhere, &["`no-such-tool`", "cook trust --tools"]);
    // It is here by now, on a PATH that nobody trusted.
    let tool = repo.outside().join("no-such-tool");
    std::fs::write(&tool, "#!/bin/sh\nexit 0\n").unwrap();
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", repo.outside().display());
    let here = again(&repo, &[("PATH", &path)]);
    says_once(&here, &["`no-such-tool`", "the PATH of this terminal"]);
    let (_, node) = red(
        SHELL,
        &[("t.sh", "echo 'spawn other-tool ENOENT'; exit 1\n")],
        &[],
    );
    says_once(&node, &["`other-tool`"]);
    let python = "File \"subprocess.py\"\\nFileNotFoundError: [Errno 2] No such file or directory: 'other-tool'";
    let script = format!("printf \"{}\\n\"; exit 1\n", python.replace('"', "\\\""));
    let (_, python) = red(SHELL, &[("t.sh", &script)], &[]);
    says_once(&python, &["`other-tool`"]);
    let file = "echo \"FileNotFoundError: No such file or directory: 'data'\"; exit 1\n";
    let (_, file) = red(SHELL, &[("t.sh", file)], &[]);
    assert_eq!(missing(&file), [""; 0]);
}

#[test]
fn a_file_that_no_commit_has() {
    let files = [
        (".gitignore", ".env\n"),
        (".env", "A=1\n"),
        ("t.sh", "set -e; . ./.env\n"),
    ];
    let (_, ignored) = red(SHELL, &files, &[]);
    says_once(&ignored, &["`.env`", "git ignores", "`[gates.t]`", "setup"]);
    let (repo, _) = red(SHELL, &[("t.sh", "cat lib/part.txt\n")], &[]);
    repo.write("lib/part.txt", "part\n");
    says_once(&again(&repo, &[]), &["`lib/part.txt`", "commit it"]);
}

#[test]
fn packages_that_a_lock_file_names() {
    let files = [
        ("package.json", r#"{"scripts":{"test":"node t.js"}}"#),
        ("package-lock.json", "{}"),
        (
            "t.sh",
            "echo \"Error: Cannot find module 'left-pad'\"; exit 1\n",
        ),
    ];
    let (_, none) = red(SHELL, &files, &[]);
    says_once(
        &none,
        &["`package-lock.json`", "setup = [\"npm ci\"]", "cache"],
    );
    let with = format!("{SHELL}[clean_room]\nsetup = \"true\"\n");
    let (_, some) = red(&with, &files, &[]);
    says_once(&some, &["setup did not bring", "--fresh"]);
}

#[test]
fn a_network_that_the_sandbox_keeps_away() {
    let said = [(
        "t.sh",
        "echo 'fatal: Could not resolve host: example.org'; exit 1\n",
    )];
    if has_sandbox() {
        let (_, kept) = red(SHELL, &said, &[]);
        says_once(&kept, &["`network = true` in `[gates.t]`"]);
    }
    let with = "[gates]\nt = { run = \"sh t.sh\", network = true }\n";
    let registry = [("NPM_CONFIG_REGISTRY", "https://example.org")];
    let (_, open) = red(with, &said, &registry);
    says_once(&open, &["NPM_CONFIG_REGISTRY", "`[clean_room] env`"]);
}

/// One of its own it reaches: only the machine's are kept away.
#[test]
fn a_server_that_the_sandbox_keeps_away() {
    let script = [(
        "t.sh",
        "echo 'connect ECONNREFUSED 127.0.0.1:5432'; exit 1\n",
    )];
    let (_, shut) = red(SHELL, &script, &[]);
    if has_sandbox() {
        says_once(&shut, &["a server", "`network = true` in `[gates.t]`"]);
    }
    let open = "[gates]\nt = { run = \"sh t.sh\", network = true }\n";
    let (_, open) = red(open, &script, &[]);
    assert_eq!(missing(&open), [""; 0]);
}

/// A whole path, or one of the home.
#[test]
fn a_place_for_rooms_that_depends_on_where_one_stands() {
    let repo = Repo::set_up();
    let settings = "[clean_room]\ndir = \"rooms\"\n[gates]\nt = { run = \"true\" }\n";
    repo.write(".agent/cook.toml", settings);
    repo.commit("gates", None);
    repo.cook(&["trust", "--gates", "--as-user"]).exits(0);
    let said = repo.cook(&["gate", "--clean"]).fails(3, "not_writable").err;
    assert!(
        said.contains("`rooms`") && said.contains("whole path"),
        "{said}"
    );
}

/// Of a link of the commit that leads somewhere else, readers hear.
#[test]
fn a_link_that_leads_out_is_a_remark() {
    let repo = Repo::set_up();
    repo.write(".agent/cook.toml", "[gates]\nt = { run = \"true\" }\n");
    std::os::unix::fs::symlink("/etc/hostname", repo.root.join("out")).unwrap();
    std::os::unix::fs::symlink("README.md", repo.root.join("in")).unwrap();
    repo.commit("gates", None);
    repo.cook(&["trust", "--gates", "--as-user"]).exits(0);
    let answer = repo.cook(&["gate", "--clean", "--json"]).exits(0).json();
    let remarks = answer["gates"][0]["remarks"].as_array().unwrap();
    let about: Vec<&str> = remarks
        .iter()
        .filter_map(|remark| remark.as_str())
        .collect();
    assert!(
        about
            .iter()
            .any(|remark| remark.contains("`out` is a link that leads out")),
        "{about:?}"
    );
    assert!(
        !about.iter().any(|remark| remark.contains("`in`")),
        "{about:?}"
    );
}

#[test]
fn an_identity_for_git() {
    let script = "cd \"$(mktemp -d)\" && git init -q && git -c user.useConfigOnly=true commit --allow-empty -qm x\n";
    let (_, run) = red(SHELL, &[("t.sh", script)], &[]);
    says(&run, &["an identity for git"]);
}

#[test]
fn verify_says_it_too() {
    let (repo, _) = red(SHELL, &[("t.sh", "no-such-tool --check\n")], &[]);
    repo.cook(&["init", "--as-user"]).exits(0);
    repo.commit("verifier", None);
    repo.cook(&["trust", "--gates", "--as-user"]).exits(0);
    let run = repo.cook(&["verify", "stop", "--rerun"]);
    assert!(
        run.out.contains("missing: the program `no-such-tool`"),
        "{}\n{}",
        run.out,
        run.err
    );
}
