//! The commit is the done one itself, has its tree, or is exactly its merge; anything else is not.

use crate::support::Repo;
use crate::verify::job::{all_are, codes, make_finished};

/// How the work is brought into `main`.
const WAYS: [&str; 3] = ["merge", "squash", "rebase"];

/// A finished job, with `main` where something else came meanwhile.
fn make_moved() -> Repo {
    Repo::stage("a finished job and a base that moved", || {
        let repo = make_finished();
        repo.git(&["checkout", "-q", "main"]);
        repo.write("other.txt", "somebody else's\n");
        repo.commit("Meanwhile", None);
        repo
    })
}

pub fn bring(repo: &Repo, how: &str) {
    match how {
        "merge" => drop(repo.git(&["merge", "-q", "--no-ff", "-m", "m", "work"])),
        "squash" => {
            repo.git(&["merge", "-q", "--squash", "work"]);
            repo.git(&["commit", "-q", "-m", "s"]);
        }
        _ => {
            let base = repo.git(&["merge-base", "main", "work"]);
            repo.git(&["cherry-pick", &format!("{base}..work")]);
        }
    }
}

fn how(repo: &Repo, args: &[&str], exit: i32) -> (String, Vec<String>) {
    let run = repo
        .cook(&[&["verify", "--json"], args].concat())
        .exits(exit);
    let answer = run.json();
    let how = answer["commit"]["how"].as_str().unwrap_or("no").to_owned();
    (how, codes(&run))
}

#[test]
fn the_done_commit_is_itself_and_another_with_its_tree_is_the_same() {
    let repo = make_finished();
    let first = |run: crate::support::Run| run.out.lines().next().unwrap().to_owned();
    let line = first(repo.cook(&["verify"]).ok());
    assert!(line.starts_with("is this commit proven done? `"), "{line}");
    assert!(
        line.ends_with(
            "` is the done commit; of 8 criteria 3 proved by a command, 5 by a text, 0 by nothing; 0 of 3 votes came out of a session that cook ran"
        ),
        "{line}"
    );
    repo.git(&["checkout", "-q", "--detach"]);
    assert_eq!(how(&repo, &[], 0).0, "itself");

    repo.git(&["commit", "-q", "--amend", "-m", "another message"]);
    let line = first(repo.cook(&["verify"]).ok());
    assert!(line.contains("has the tree of the done commit"), "{line}");
    let (found, found_codes) = how(&repo, &["--strict"], 1);
    assert_eq!((&*found, &*found_codes[0]), ("same_tree", "not_rerun"));
    assert_eq!(how(&repo, &["--strict", "--rerun"], 0).0, "same_tree");
    let run = repo.cook(&["verify", "--rerun", "--json"]).ok();
    all_are(&run, "reproduced", "holds");

    repo.write("more.txt", "one line more\n");
    repo.commit("more", None);
    let (how, codes) = how(&repo, &["--rerun"], 1);
    assert_eq!(how, "no");
    assert!(
        codes.contains(&"head_moved_since_done".to_owned()),
        "{codes:?}"
    );
}

#[test]
fn a_merge_counts_when_its_gates_ran_on_it_and_a_tampered_one_never() {
    for way in WAYS {
        let repo = make_moved();
        bring(&repo, way);
        let (found, found_codes) = how(&repo, &[], 1);
        assert_eq!(found, "merged_from", "{way}");
        assert_eq!(
            found_codes,
            ["not_rerun", "proof_not_new", "scripted_command"],
            "{way}"
        );
        {
            let run = repo
                .cook(&["verify", "--strict", "--json", "--rerun"])
                .exits(0);
            all_are(&run, "reproduced", "holds");
            let commit = &run.json()["commit"];
            assert_eq!(commit["merged_as"], way);
            assert_eq!(
                commit["base"],
                repo.git(&[
                    "rev-parse",
                    if way == "rebase" { "HEAD~2" } else { "HEAD^" }
                ])
            );
        }
        let line = repo.cook(&["verify", "--rerun"]).exits(0).out;
        assert!(
            line.lines()
                .next()
                .unwrap()
                .contains("is exactly the merge"),
            "{line}"
        );

        let code = repo.read("code.txt");
        repo.write("code.txt", code.replace("their sum", "their product"));
        repo.git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
        let (found, found_codes) = how(&repo, &["--rerun"], 1);
        assert_eq!(found, "no", "{way}");
        assert!(
            found_codes.contains(&"head_moved_since_done".to_owned()),
            "{found_codes:?}"
        );
    }
}

#[test]
fn work_in_progress_is_not_done_and_what_is_open_is_said() {
    let repo = Repo::with_commit();
    repo.cook(&["verify"])
        .exits(1)
        .says("[not_done]")
        .says("open: `a`");
    repo.cook(&["verify", "slice", "a"])
        .exits(1)
        .says("slice_not_proven")
        .says("it is in progress");
    repo.cook(&["verify", "control-plane"]).ok();
}

#[test]
fn a_shallow_clone_says_what_it_lacks_and_how_it_is_had() {
    let repo = make_moved();
    bring(&repo, "merge");
    let shallow = Repo::directory();
    let from = format!("file://{}", repo.root.display());
    shallow.git(&["clone", "-q", "--depth", "1", &from, "."]);
    // The log is the same one: another worktree's git dir brought along.
    crate::support::run_alone(
        shallow
            .command("cp")
            .args(["-R"])
            .arg(repo.root.join(".git/cook"))
            .arg(".git/cook"),
    )
    .ok();
    crate::support::run_alone(
        shallow
            .command("cp")
            .arg(repo.root.join(".git/cook-id"))
            .arg(".git/cook-id"),
    )
    .ok();
    for args in [
        &["verify", "--trust-repo"][..],
        &["verify", "--rerun", "--trust-repo"],
    ] {
        let run = shallow.cook(args).exits(1).says("history_shallow");
        run.says("fetch-depth: 0").says("git fetch --unshallow");
    }
    shallow
        .cook(&["verify", "slice", "a", "--trust-repo"])
        .exits(1)
        .says("history_shallow");
}
