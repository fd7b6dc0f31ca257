//! What cook does in CI: each case with real git objects, right in all, and refused where somebody tampered.

use crate::support::{Repo, Run, run_alone};
use crate::verify::from::{bare, make_clone, make_pushed};

const OF_WORK: [&str; 4] = ["--from", "origin", "--branch", "work"];

fn push(repo: &Repo, what: &str) {
    repo.git(&["push", "-q", bare(repo).to_str().unwrap(), what]);
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
