//! The commit is the done one itself, has its tree, or is exactly its merge; anything else is not.

use crate::support::Repo;
use crate::verify::job::{GATE, all_are, codes, make_finished};

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

/// What was merged into may ask for less than the work was judged by.
#[test]
fn the_gates_of_a_merge_are_named_where_they_are_other_ones() {
    let repo = make_moved();
    let settings = repo.read(".agent/cook.toml");
    let weaker = settings.replace(GATE, "true");
    assert_ne!(settings, weaker);
    repo.write(".agent/cook.toml", weaker);
    repo.commit("Fewer gates", None);
    bring(&repo, "merge");
    let said = repo.cook(&["verify", "--rerun", "--trust-repo"]).out;
    let line = said.lines().next().unwrap_or_default();
    assert!(line.contains("is exactly the merge"), "{said}");
    assert!(line.contains("HEAD's `.agent/cook.toml`"), "{said}");
    assert!(
        said.contains("the gates of `.agent/cook.toml` at HEAD: "),
        "{said}"
    );

    let repo = make_moved();
    bring(&repo, "merge");
    let said = repo.cook(&["verify", "--rerun"]).exits(0).out;
    assert!(!said.contains("gates of HEAD's"), "{said}");
}

/// Git merges the work into what was built on it without any change: that is no merge of the work, and
/// what was built nobody judged.
#[test]
fn what_is_built_on_the_work_is_never_its_merge() {
    let unjudged = |repo: &Repo| {
        let code = repo.read("code.txt");
        repo.write("code.txt", code + "nobody judged this\n");
        repo.commit("More", None);
    };
    for way in ["merge", "squash", "rebase", "fast-forward"] {
        let repo = match way {
            "fast-forward" => make_finished(),
            _ => make_moved(),
        };
        match way {
            "fast-forward" => drop(repo.git(&["checkout", "-q", "work"])),
            _ => bring(&repo, way),
        }
        let before = repo.git(&["rev-parse", "HEAD"]);
        let is_refused = |what: &str| {
            let (found, found_codes) = how(&repo, &["--rerun"], 1);
            assert_eq!(found, "no", "{way}, {what}");
            let moved = "head_moved_since_done".to_owned();
            assert!(
                found_codes.contains(&moved),
                "{way}, {what}: {found_codes:?}"
            );
        };
        unjudged(&repo);
        repo.git(&["commit", "-q", "--allow-empty", "-m", "Start CI"]);
        is_refused("then an empty commit");

        repo.git(&["reset", "-q", "--hard", &before]);
        repo.git(&["checkout", "-q", "-b", "next"]);
        unjudged(&repo);
        repo.git(&["checkout", "-q", "-"]);
        repo.git(&["merge", "-q", "--no-ff", "-m", "Merge the next", "next"]);
        is_refused("then a merge of what came next");
    }
}

#[test]
fn a_merge_whose_gates_are_red_is_red() {
    let repo = make_finished();
    repo.git(&["checkout", "-q", "main"]);
    let check = repo.read("check.sh");
    repo.write("check.sh", check + "test ! -e table.txt\n");
    repo.commit("A check that the work does not meet", None);
    bring(&repo, "merge");
    let (found, codes) = how(&repo, &["--rerun"], 1);
    assert_eq!(found, "merged_from");
    for code in ["stop_verifier_failed", "criterion_differs"] {
        assert!(codes.contains(&code.to_owned()), "{codes:?}");
    }
}

#[test]
fn three_questions_are_answered_by_three_commands() {
    let repo = make_finished();
    for (args, line) in [
        (
            &["verify", "control-plane"][..],
            "is the state sound? contract, documents, log and histories",
        ),
        (
            &["verify", "slice", "a"],
            "is slice `a` proven? at its head `",
        ),
        (&["verify", "all"], "is this commit proven done? `"),
    ] {
        let run = repo.cook(args).ok();
        assert!(run.out.starts_with(line), "{}", run.out);
    }
    repo.cook(&["verify", "slice"]).exits(2);
    repo.cook(&["verify", "all", "a"]).exits(2);
    repo.cook(&["verify", "slice", "z"])
        .fails(2, "slice_unknown");

    let clone = Repo::directory();
    clone.git(&["clone", "-q", repo.root.to_str().unwrap(), "."]);
    let run = clone.cook(&["verify", "control-plane"]).ok();
    assert!(
        run.out.starts_with(
            "is the state sound? there is no log here, so only the contract was checked"
        ),
        "{}",
        run.out
    );
    for args in [&["verify"][..], &["verify", "slice", "a"]] {
        clone
            .cook(args)
            .exits(1)
            .says("log_missing")
            .says("not answered")
            .never_says("cook init");
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

#[test]
fn what_git_was_told_not_to_look_at_is_not_clean() {
    for bit in ["assume-unchanged", "skip-worktree"] {
        let repo = make_finished();
        repo.git(&["update-index", &format!("--{bit}"), "code.txt"]);
        let code = repo.read("code.txt");
        repo.write("code.txt", code + "edited\n");
        for question in [
            &["verify", "--strict", "--json"][..],
            &["verify", "control-plane", "--strict", "--json"],
        ] {
            let found = codes(&repo.cook(question).exits(1));
            assert!(
                found.contains(&"dirty_worktree".to_owned()),
                "{bit}: {found:?}"
            );
        }
        // A sparse checkout leaves files out, and nothing else does.
        std::fs::remove_file(repo.root.join("code.txt")).unwrap();
        let exit = i32::from(bit == "assume-unchanged");
        repo.cook(&["verify", "--strict"]).exits(exit);
    }
}
