//! A gate that is red in the clean room: what it did not have there, and the setting that gives it.

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
        &[
            "`package-lock.json`",
            "setup = [\"npm ci --prefer-offline",
            "cache",
        ],
    );
    let with = format!("{SHELL}[clean_room]\nsetup = \"true\"\n");
    let (_, some) = red(&with, &files, &[]);
    assert_eq!(missing(&some), [""; 0]);
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
        said.contains("`rooms`") && said.contains("absolute path"),
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
