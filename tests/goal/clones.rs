//! A goal that was reached, in a stranger's clone.

use crate::goal::{CHEAT, CHECK, OPEN, mend, repo, set, state};
use crate::support::Repo;
use std::path::PathBuf;

fn bare(repo: &Repo) -> PathBuf {
    repo.beside("bare.git")
}

/// Reached, and pushed with its log.
fn push_all() -> Repo {
    Repo::stage("a goal that was reached and pushed", || {
        let repo = repo();
        let place = bare(&repo);
        repo.git(&[
            "init",
            "-q",
            "--bare",
            "-b",
            "main",
            place.to_str().unwrap(),
        ]);
        repo.git(&["remote", "add", "origin", "../bare.git"]);
        repo.git(&["push", "-q", "-u", "origin", "main"]);
        set(&repo, &[]).ok();
        mend(&repo);
        state(&repo, 0);
        repo.git(&["push", "-q"]);
        repo.cook(&["push", "--yes"]).ok();
        repo
    })
}

fn clone(repo: &Repo) -> Repo {
    let clone = Repo::directory();
    let from = format!("file://{}", bare(repo).display());
    clone.git(&["clone", "-q", &from, "."]);
    clone
}

fn digest(repo: &Repo) -> String {
    let told = state(repo, 0);
    told["digest"].as_str().unwrap().to_owned()
}

const RERUN: [&str; 4] = ["verify", "--from", "origin", "--rerun"];

#[test]
fn a_clone_says_the_goal_its_checks_and_that_they_are_reproduced() {
    let repo = push_all();
    let clone = clone(&repo);
    clone
        .cook(&["verify", "--from", "origin"])
        .ok()
        .says("slugs are lower case")
        .says("the commit that reached the goal");
    // Commands out of a log do not run because a log has them.
    clone
        .cook(&RERUN)
        .exits(3)
        .says("goal_commands")
        .says(CHECK)
        .says("--goal");
    clone
        .cook(&[&RERUN[..], &["--trust-repo"]].concat())
        .exits(3);
    let other = "0".repeat(64);
    clone
        .cook(&[&RERUN[..], &["--goal", &other]].concat())
        .exits(3)
        .says("names another");
    let digest = digest(&repo);
    let run = clone
        .cook(&[&RERUN[..], &["--goal", &digest, "--json"]].concat())
        .ok();
    let told = run.json();
    assert_eq!(told["criteria"][0]["verdict"], "reproduced", "{told}");
    assert_eq!(told["criteria"][0]["slice"], "goal");
    assert_eq!(told["commit"]["how"], "itself");
    assert_eq!(clone.git(&["status", "--porcelain", "--ignored"]), "");
}

#[test]
fn one_line_of_the_code_changed_is_named() {
    let repo = push_all();
    let digest = digest(&repo);
    let clone = clone(&repo);
    clone.write("slug.sh", OPEN);
    clone.commit("One line", None);
    clone
        .cook(&[&RERUN[..], &["--goal", &digest]].concat())
        .exits(1)
        .says("is not the commit that reached the goal")
        .says("criterion_differs");
}

#[test]
fn a_clone_without_the_hidden_files_has_their_check_recorded() {
    let repo = push_all();
    let repo = {
        repo.cook(&["goal", "drop", "--as-user"]).ok();
        repo.write("slug.sh", OPEN);
        repo.commit("Begin again", None);
        let more = repo.beside("more.sh");
        std::fs::write(
            &more,
            "set -e\n. ./slug.sh\n[ \"$(slug 'C D')\" = 'c-d' ]\n",
        )
        .unwrap();
        set(&repo, &["--hidden", more.to_str().unwrap()]).ok();
        repo.write("slug.sh", CHEAT);
        repo.commit("Cheat", None);
        state(&repo, 1);
        mend(&repo);
        state(&repo, 0);
        repo.git(&["push", "-q"]);
        repo.cook(&["push", "--yes"]).ok();
        repo
    };
    let digest = digest(&repo);
    let clone = clone(&repo);
    let asked = [&RERUN[..], &["--goal", &digest, "--json"]].concat();
    let told = clone.cook(&asked).ok().json();
    assert_eq!(told["criteria"][0]["verdict"], "reproduced", "{told}");
    assert_eq!(told["criteria"][1]["verdict"], "recorded", "{told}");
    let kept = clone.outside();
    std::fs::copy(repo.beside("more.sh"), kept.join("whatever.sh")).unwrap();
    let told = clone
        .cook(&[&asked[..], &["--hidden", kept.to_str().unwrap()]].concat())
        .ok()
        .json();
    assert_eq!(told["criteria"][1]["verdict"], "reproduced", "{told}");
}

#[test]
fn a_second_goal_of_a_branch_whose_log_a_remote_holds_is_refused() {
    let repo = push_all();
    let clone = clone(&repo);
    set(&clone, &[])
        .exits(4)
        .says("goal_exists")
        .says("cook pull");
    clone.cook(&["pull"]).ok();
    assert_eq!(clone.git(&["status", "--porcelain", "--ignored"]), "");
    clone.cook(&["status"]).ok().says("the goal is reached");
}
