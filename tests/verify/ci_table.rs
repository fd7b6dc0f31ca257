//! What cook does in CI: each case with real git objects, right in all, and refused where somebody tampered.

use crate::support::{Repo, Run, run_alone};
use crate::verify::from::{bare, make_clone, make_pushed};
use crate::verify::job::{all_are, codes};

/// Asks as a job does, with the log of the branch and the contract of `main`.
fn ask(clone: &Repo, more: &[&str]) -> Run {
    ask_by(clone, "origin/main", more)
}

fn ask_by(clone: &Repo, base: &str, more: &[&str]) -> Run {
    let words = [
        "verify",
        "--rerun",
        "--trust-repo",
        "--json",
        "--base",
        base,
    ];
    clone.cook(&[&words[..], more].concat())
}

const OF_WORK: [&str; 4] = ["--from", "origin", "--branch", "work"];

#[track_caller]
fn is_proven(run: Run, how: &str) {
    let answer = run.json();
    assert_eq!(answer["commit"]["how"], how, "{}{}", run.out, run.err);
    assert_eq!(answer["base"]["accepted"], false);
    all_are(&run.ok(), "reproduced", "holds");
}

#[track_caller]
fn is_refused(run: Run, code: &str) {
    let run = run.exits(1);
    let found = codes(&run);
    assert!(found.contains(&code.to_owned()), "{code}: {found:?}");
}

/// Whatever the checked out commit is, with one line more.
fn tamper(clone: &Repo) {
    clone.write("code.txt", clone.read("code.txt") + "one line more\n");
    clone.git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
}

fn push(repo: &Repo, what: &str) {
    repo.git(&["push", "-q", bare(repo).to_str().unwrap(), what]);
}

/// `main` went on, and is at the remote.
fn go_on(repo: &Repo) {
    repo.git(&["checkout", "-q", "main"]);
    repo.write("other.txt", "somebody else's\n");
    repo.commit("Meanwhile", None);
    push(repo, "main");
}

/// The commit at HEAD under a name of its own at the remote, checked out there as a runner does it.
pub fn check_out(repo: &Repo, name: &str, depth: &[&str]) -> Repo {
    push(repo, &format!("+HEAD:{name}"));
    let clone = Repo::directory();
    clone.git(&["init", "-q", "-b", "main"]);
    let from = format!("file://{}", bare(repo).display());
    clone.git(&["remote", "add", "origin", &from]);
    let local = "refs/remotes/checked/out";
    let all = "+refs/heads/*:refs/remotes/origin/*";
    let wanted = format!("+{name}:{local}");
    let mut words = vec!["fetch", "-q", "--no-tags"];
    words.extend(depth);
    words.extend(["origin", &wanted]);
    if depth.is_empty() {
        words.push(all);
    }
    clone.git(&words);
    clone.git(&["checkout", "-q", "--detach", local]);
    clone
}

#[test]
fn a_pull_request_at_its_own_head() {
    let repo = make_pushed();
    let clone = make_clone(&repo, &["-b", "work"]);
    is_proven(ask(&clone, &OF_WORK), "itself");
    tamper(&clone);
    is_refused(ask(&clone, &OF_WORK), "head_moved_since_done");
}

#[test]
fn a_push_after_done_is_red_at_that_commit() {
    let repo = make_pushed();
    repo.write("more.txt", "one thing more\n");
    repo.commit("More", None);
    push(&repo, "work");
    let clone = make_clone(&repo, &["-b", "work"]);
    is_refused(ask(&clone, &OF_WORK), "head_moved_since_done");
}

/// What `actions/checkout` takes where nothing is said: the merge that the server made, with nothing
/// before it.
#[test]
fn a_merge_ref_with_and_without_its_history() {
    for depth in [&["--depth", "1"][..], &[]] {
        let repo = make_pushed();
        go_on(&repo);
        repo.git(&["checkout", "-q", "--detach"]);
        repo.git(&["merge", "-q", "--no-ff", "-m", "Merge 1", "work"]);
        let clone = check_out(&repo, "refs/pull/1/merge", depth);
        is_proven(ask(&clone, &OF_WORK), "merged_from");
        let words = ["verify", "--trust-repo", "--base", "origin/main"];
        let run = clone.cook(&[&words[..], &OF_WORK].concat());
        run.exits(1).says("not_rerun");
        tamper(&clone);
        is_refused(ask(&clone, &OF_WORK), "head_moved_since_done");
    }
}

#[test]
fn a_merge_queue_of_several() {
    let repo = make_pushed();
    go_on(&repo);
    repo.git(&["checkout", "-q", "-b", "another", "main~1"]);
    repo.write("another.txt", "of another pull request\n");
    repo.commit("Another", None);
    repo.git(&["checkout", "-q", "--detach", "main"]);
    repo.git(&["merge", "-q", "--no-ff", "-m", "Merge 1", "another"]);
    repo.git(&["merge", "-q", "--no-ff", "-m", "Merge 2", "work"]);
    let name = "refs/heads/gh-readonly-queue/main/pr-2";
    let clone = check_out(&repo, name, &[]);
    let of_queue = [
        "--from",
        "origin",
        "--branch",
        "gh-readonly-queue/main/pr-2",
    ];
    // The base is what the queue builds on, which answers for itself.
    is_proven(ask_by(&clone, "HEAD~1", &of_queue), "merged_from");
    is_refused(ask(&clone, &of_queue), "head_moved_since_done");
    // The one behind it brings what nobody proved.
    repo.write("unproven.txt", "nobody judged this\n");
    repo.commit("Merge 3", None);
    let behind = check_out(&repo, "refs/heads/gh-readonly-queue/main/pr-3", &[]);
    is_refused(ask(&behind, &OF_WORK), "head_moved_since_done");
}

/// The log is in the fork alone; the base's list says whose word counts.
#[test]
fn a_pull_request_from_a_fork() {
    let repo = make_pushed();
    let fork = repo.beside("fork.git");
    let words = ["clone", "-q", "--mirror"];
    let (from, to) = (bare(&repo), fork.to_str().unwrap().to_owned());
    repo.git(&[&words[..], &[from.to_str().unwrap(), &to]].concat());
    for gone in ["refs/cook/log/work", "refs/heads/work"] {
        push(&repo, &format!(":{gone}"));
    }
    let done = format!("refs/cook/done/{}", repo.git(&["rev-parse", "work"]));
    push(&repo, &format!(":{done}"));
    let clone = make_clone(&repo, &["-b", "main"]);
    let url = format!("file://{to}");
    clone.git(&["fetch", "-q", &url, "refs/heads/work"]);
    clone.git(&["checkout", "-q", "--detach", "FETCH_HEAD"]);
    let of_fork = ["--from", &url, "--branch", "work"];
    let before = clone.git(&["for-each-ref"]);
    is_proven(ask(&clone, &of_fork), "itself");
    assert_eq!(clone.git(&["for-each-ref"]), before);
    is_refused(ask(&clone, &OF_WORK), "log_missing");

    // The fork's own list is nobody's word.
    clone.git(&["checkout", "-q", "main"]);
    clone.write(".agent/allowed_signers", "a@example.org ssh-ed25519 AAAA\n");
    let listed = clone.commit("Who may sign", None);
    clone.git(&["checkout", "-q", "--detach", "FETCH_HEAD"]);
    let words = [
        "verify",
        "--rerun",
        "--trust-repo",
        "--json",
        "--base",
        &listed,
    ];
    is_refused(
        clone.cook(&[&words[..], &of_fork].concat()),
        "word_unsigned",
    );

    std::fs::rename(&fork, repo.beside("private.git")).unwrap();
    ask(&clone, &of_fork).exits(3).says("remote_unreachable");
}

#[test]
fn conflicts_that_were_solved_by_hand_are_judged_again() {
    let repo = make_pushed();
    repo.git(&["checkout", "-q", "main"]);
    repo.write("code.txt", "the library of differences\n");
    repo.commit("Meanwhile", None);
    push(&repo, "main");
    let solved = repo.git(&["show", "work:code.txt"]) + "\n";
    let mut merge = repo.command("git");
    assert_ne!(
        run_alone(merge.args(["merge", "-q", "--no-ff", "work"])).code,
        0
    );
    repo.write(
        "code.txt",
        solved.replace("sums\n", "sums and differences\n"),
    );
    repo.commit("Merge by hand", None);
    let clone = check_out(&repo, "refs/pull/1/merge", &[]);
    is_refused(ask(&clone, &OF_WORK), "head_moved_since_done");
}

#[test]
fn two_runs_at_once_read_the_log_that_each_was_told_of() {
    let repo = make_pushed();
    let clone = make_clone(&repo, &["-b", "work"]);
    let tip = repo.git(&[
        "ls-remote",
        bare(&repo).to_str().unwrap(),
        "refs/cook/log/work",
    ]);
    let tip = tip.split_whitespace().next().unwrap();
    let words = [&["verify", "--rerun", "--trust-repo"][..], &OF_WORK].concat();
    let runs: Vec<Run> = std::thread::scope(|scope| {
        let start = || {
            let mut command = clone.cook_command(&words);
            scope.spawn(move || run_alone(&mut command))
        };
        let both = [start(), start()];
        both.into_iter().map(|run| run.join().unwrap()).collect()
    });
    for run in runs {
        run.ok().says(&format!("the log at `{}`", &tip[..12]));
    }
    // Then it moves, and the next run judges that.
    repo.cook(&["undo", "--as-user"]).ok();
    repo.cook(&["push", bare(&repo).to_str().unwrap()]).ok();
    let run = clone.cook(&words).exits(1).says("not_done");
    run.never_says(&tip[..12]);
    assert_eq!(clone.git(&["status", "--porcelain"]), "");
}

/// On `main` after the work came in: its log is found by the commit that was found done.
#[test]
fn what_was_merged_is_found_by_the_done_commits_of_the_remote() {
    for (way, depth) in [
        ("merge", false),
        ("squash", false),
        ("rebase", false),
        ("merge", true),
        ("squash", true),
    ] {
        let repo = make_pushed();
        repo.git(&["checkout", "-q", "main"]);
        repo.write("other.txt", "somebody else's\n");
        repo.commit("Meanwhile", None);
        match way {
            "merge" => drop(repo.git(&["merge", "-q", "--no-ff", "-m", "m", "work"])),
            "squash" => {
                repo.git(&["merge", "-q", "--squash", "work"]);
                repo.git(&["commit", "-q", "-m", "s"]);
            }
            _ => drop(repo.git(&[
                "cherry-pick",
                &format!("{}..work", repo.git(&["merge-base", "main", "work"])),
            ])),
        }
        repo.git(&["push", "-q", bare(&repo).to_str().unwrap(), "main"]);
        let mut options = vec!["-b", "main", "--single-branch"];
        if depth {
            options.extend(["--depth", "1"]);
        }
        let clone = make_clone(&repo, &options);
        let run = clone.cook(&[
            "verify",
            "--from",
            "origin",
            "--rerun",
            "--trust-repo",
            "--json",
        ]);
        assert_eq!(
            run.json()["commit"]["merged_as"],
            way,
            "{way} {depth}: {}{}",
            run.out,
            run.err
        );
        let run = run.ok();
        all_are(&run, "reproduced", "holds");
        clone
            .cook(&["verify", "--from", "origin", "--trust-repo"])
            .exits(1)
            .says("not_rerun");
        clone.write("code.txt", clone.read("code.txt") + "one line more\n");
        clone.git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
        let run = clone
            .cook(&["verify", "--from", "origin", "--rerun", "--trust-repo"])
            .exits(1);
        run.says("log_missing");
    }
}

/// So many commits on top of one, whose trees are by turns those of two others, the last one's that of `main`. In this
/// process: git would be started for each.
fn go_far<'l>(
    repo: &Repo,
    base: &str,
    by_turns: impl Iterator<Item = &'l str>,
    commits: usize,
) -> String {
    let git = git2::Repository::open(&repo.root).unwrap();
    let find = |name: &str| git.revparse_single(name).unwrap().peel_to_commit().unwrap();
    let trees: Vec<git2::Tree> = by_turns.map(|id| find(id).tree().unwrap()).collect();
    let (last, mut at) = (find("main").tree().unwrap(), find(base));
    let who = at.author().to_owned();
    for number in 1..=commits {
        let tree = if number == commits {
            &last
        } else {
            &trees[number % 2]
        };
        let id = git
            .commit(None, &who, &who, "On the way\n", tree, &[&at])
            .unwrap();
        at = git.find_commit(id).unwrap();
    }
    at.id().to_string()
}

/// As many commits are looked back over as the table says, and no more.
#[test]
fn a_long_branch_that_was_rebased_is_found_by_its_250th_commit_at_most() {
    for (commits, found) in [(250, true), (251, false)] {
        let repo = make_pushed();
        go_on(&repo);
        let base = repo.head();
        let fork = repo.git(&["merge-base", "main", "work"]);
        repo.git(&["cherry-pick", &format!("{}..work", fork.trim())]);
        let listed = repo.git(&["rev-list", "--reverse", &format!("{base}..main")]);
        let at = go_far(&repo, &base, listed.lines().take(2), commits);
        repo.git(&["reset", "-q", "--hard", &at]);
        push(&repo, "main");
        let clone = make_clone(&repo, &["-b", "main", "--single-branch"]);
        let words = [
            "verify",
            "--from",
            "origin",
            "--rerun",
            "--trust-repo",
            "--json",
        ];
        let run = clone.cook(&words);
        match found {
            true => {
                assert_eq!(
                    run.json()["commit"]["merged_as"],
                    "rebase",
                    "{}{}",
                    run.out,
                    run.err
                );
                all_are(&run.ok(), "reproduced", "holds");
            }
            false => is_refused(run, "log_missing"),
        }
    }
}
