//! Clones that lack a part of the history, of the files, or of the refs: what was not asked is never green.

use crate::support::reports::slice;
use crate::support::{Repo, run_alone};
use crate::verify::from::{bare, make_clone, make_pushed};
use crate::verify::hostile::{Forger, UNTRUE, write_anew};
use crate::verify::job::{codes, make_finished, record_judged, verdicts};
use crate::verify::shapes::bring;
use cook_protocol::model::{Basis, Event};
use serde_json::json;

/// How a clone may lack something.
const CUT: [&[&str]; 5] = [
    &["--depth", "1"],
    &["--depth", "2"],
    &["--filter=blob:none"],
    &["--filter=tree:0"],
    &["--depth", "1", "--filter=blob:none"],
];

fn clone_work(repo: &Repo, how: &[&str]) -> Repo {
    let bare = bare(repo);
    let set = |key: &str| {
        let mut git = repo.command("git");
        git.arg("--git-dir")
            .arg(&bare)
            .args(["config", key, "true"]);
        run_alone(&mut git).ok();
    };
    set("uploadpack.allowFilter");
    set("uploadpack.allowAnySHA1InWant");
    make_clone(repo, &[how, &["-b", "work"]].concat())
}

fn is_named(run: &crate::support::Run, code: &str, what: &str) {
    let found = codes(run);
    let is_found = found.iter().any(|known| known == code);
    assert!(is_found, "{what}: {found:?}");
}

/// A log that says of a place what git does not is told in every clone, as in a whole one.
#[test]
fn what_a_clone_lacks_is_fetched_and_a_forged_place_named() {
    let repo = make_pushed();
    for how in CUT {
        let clone = clone_work(&repo, how);
        let words = [
            "verify",
            "--from",
            "origin",
            "--rerun",
            "--strict",
            "--trust-repo",
        ];
        clone.cook(&words).ok();
    }
    let (_, change) = UNTRUE
        .iter()
        .find(|(what, _)| *what == "a place that the slice did not write")
        .unwrap();
    write_anew(&repo, change);
    let forger = Forger::new(&repo);
    let (to, tip) = (bare(&repo), forger.branch());
    let done = format!("+{tip}:refs/cook/done/{}", repo.git(&["rev-parse", "work"]));
    let log = format!("+{tip}:refs/cook/log/work");
    forger.git(&["push", "-q", to.to_str().unwrap(), &log, &done], b"");
    for how in CUT.iter().chain([&&[][..]]) {
        let clone = clone_work(&repo, how);
        let words = ["verify", "--from", "origin", "--json"];
        is_named(
            &clone.cook(&words).exits(1),
            "facts_contradicted",
            &format!("{how:?}"),
        );
        let attest = ["attest", "--from", "origin", "--rerun", "--trust-repo"];
        assert_ne!(clone.cook(&attest).code, 0, "{how:?}");
    }
}

/// Where no remote is named, nothing is fetched: what git could not be asked about is no proof. A pull names
/// one.
#[test]
fn what_was_not_asked_again_fails_where_it_is_strict() {
    let repo = make_pushed();
    for how in CUT {
        let clone = clone_work(&repo, how);
        clone.cook(&["pull"]).ok();
        let from = ["verify", "control-plane", "--strict", "--from", "origin"];
        let is_partial = how.iter().any(|option| option.starts_with("--filter"));
        let is_shallow = how.contains(&"--depth");
        // A pull brings what the log rests on.
        if is_partial && !is_shallow {
            let words = ["verify", "--rerun", "--strict", "--trust-repo"];
            clone.cook(&words).ok();
            continue;
        }
        if is_partial {
            let run = clone.cook(&["verify", "control-plane", "--strict"]);
            let is_told = [
                "this clone is partial",
                "not in this clone",
                "history is shallow",
            ];
            let said = run.out + &run.err;
            assert!(
                run.code != 0 && is_told.iter().any(|told| said.contains(told)),
                "{how:?}: {said}"
            );
            clone.cook(&from).ok();
            continue;
        }
        clone.cook(&["verify", "control-plane"]).ok();
        let strict = clone.cook(&["verify", "control-plane", "--strict", "--json"]);
        is_named(
            &strict.exits(1),
            "proof_not_reproducible",
            &format!("{how:?}"),
        );
        clone.cook(&from).ok();
    }
}

/// What it takes to make a merge again is fetched too.
#[test]
fn what_was_merged_is_recognised_in_a_clone_without_its_files() {
    for how in ["merge", "squash", "rebase"] {
        let repo = make_pushed();
        repo.git(&["checkout", "-q", "main"]);
        repo.write("other.txt", "somebody else's\n");
        repo.commit("Meanwhile", None);
        bring(&repo, how);
        repo.git(&["push", "-q", bare(&repo).to_str().unwrap(), "main"]);
        // The branch went with it.
        clone_work(&repo, &[]);
        for filter in ["--filter=blob:none", "--filter=tree:0"] {
            let clone = make_clone(&repo, &["-b", "main", filter]);
            let words = ["verify", "--from", "origin", "--rerun", "--strict"];
            let run = clone.cook(&[&words[..], &["--trust-repo"]].concat());
            run.ok().says("is the");
        }
    }
}

/// A log that says of a test that it was new, and rests a slice on it alone: it is run at the basis.
#[test]
fn what_commands_alone_prove_is_run_at_the_basis_too() {
    let repo = Repo::stage("a finished slice whose test was there before", || {
        let repo = Repo::new();
        repo.write("check.sh", "echo 'test adds ... ok'\n");
        let settings = "[gates]\ncheck = { run = \"sh check.sh\" }\n";
        repo.write(".agent/cook.toml", settings);
        repo.commit("The library", None);
        repo.init_strictly("Extend the library").ok();
        repo.cook(&["trust", "--gates", "--as-user"]).ok();
        repo.plan_and_select(&[slice("one")]);
        repo.write("code.txt", "a change that nothing tests\n");
        repo.commit("Change it", Some("one"));
        record_judged(&repo);
        let claim = |anchor: &str, basis: &str| {
            let criterion = slice("one")["acceptance_criteria"][0].clone();
            json!({
                "reconcile": {"slice_id": "one", "decision": "accepted"},
                "evidence": [{"slice_id": "one", "criterion": criterion, "anchor": anchor, "basis": basis}],
            })
        };
        let report = repo.regrounder_report(&claim("test:adds", "test"));
        repo.record("regrounder", report)
            .expect_refused("evidence_not_new");
        repo.hand_in_reground(&claim("code.txt:1", "observed"));
        repo
    });
    let rerun = ["verify", "slice", "one", "--rerun", "--history", "--json"];
    repo.cook(&rerun).ok();
    write_anew(&repo, |event, facts| {
        let Event::Regrounded { block, .. } = event else {
            return false;
        };
        let Some(claim) = block.evidence.first_mut() else {
            return false;
        };
        claim.anchor = "test:adds".to_owned();
        claim.basis = Basis::Test;
        let anchors = std::mem::take(&mut facts.anchors).into_iter();
        facts.anchors = anchors
            .map(|(key, answer)| (key.replace("code.txt:1", "test:adds"), answer))
            .collect();
        true
    });
    let run = repo.cook(&rerun).exits(1);
    assert!(
        verdicts(&run).values().all(|verdict| verdict == "differs"),
        "{}",
        run.out
    );
    run.says("already came out the same at the slice's basis");
    // A basis that is nowhere says nothing.
    write_anew(&repo, |event, facts| {
        let mut value = serde_json::to_string(&(&*event, &*facts)).unwrap();
        let basis = facts.commit.is_some() || matches!(event, Event::Regrounded { .. });
        let root = repo.git(&["rev-parse", "HEAD~1"]);
        value = value.replace(&root, &"1".repeat(40));
        let (new_event, new_facts) = serde_json::from_str(&value).unwrap();
        *event = new_event;
        *facts = new_facts;
        basis
    });
    let run = repo.cook(&rerun);
    assert!(
        verdicts(&run)
            .values()
            .all(|verdict| verdict == "not_reproducible"),
        "{}",
        run.out
    );
    run.says("so it is unknown whether it is new");
}

/// The contract of the base is compared with a whole history too.
#[test]
fn a_shallow_clone_compares_contracts_as_a_whole_one_does() {
    let repo = make_pushed();
    repo.git(&["checkout", "-q", "main"]);
    repo.write(".agent/allowed_signers", "# nobody yet\n");
    repo.commit("Who may sign", None);
    let to = bare(&repo).to_str().unwrap().to_owned();
    repo.git(&["push", "-q", &to, "main"]);
    let clone = clone_work(&repo, &["--depth", "1", "--no-single-branch"]);
    let words = [
        "verify",
        "--from",
        "origin",
        "--base",
        "origin/main",
        "--rerun",
        "--trust-repo",
        "--json",
    ];
    let [first, again] = [(); 2].map(|()| codes(&clone.cook(&words).exits(1)));
    assert_eq!(first, again);
}

/// A question about a log that is not there is not answered.
#[test]
fn no_log_at_the_remote_is_no_sound_state() {
    let repo = make_pushed();
    let clone = make_clone(&repo, &["-b", "main"]);
    let ask = ["verify", "control-plane", "--from", "origin"];
    clone.cook(&["verify", "control-plane"]).ok();
    clone
        .cook(&ask)
        .exits(1)
        .says("log_missing")
        .says("there is no log there");
    clone.git(&["checkout", "-q", "--detach"]);
    clone.cook(&ask).exits(1).says("--branch BRANCH");
    clone.git(&["checkout", "-q", "--detach", "origin/work"]);
    clone.cook(&ask).ok();
}

/// The list is asked for when a log is pulled, whatever refs the clone has.
#[test]
fn who_may_sign_is_asked_of_the_remote_and_kept() {
    let repo = make_pushed();
    let to = bare(&repo).to_str().unwrap().to_owned();
    repo.git(&["checkout", "-q", "-b", "trunk", "main"]);
    repo.write(".agent/allowed_signers", "# nobody yet\n");
    repo.commit("Who may sign", None);
    repo.git(&["push", "-q", &to, "trunk"]);
    let mut head = repo.command("git");
    head.args(["--git-dir", &to, "symbolic-ref", "HEAD", "refs/heads/trunk"]);
    run_alone(&mut head).ok();
    let ask = |clone: &Repo| {
        clone
            .cook(&["verify", "slice", "a"])
            .exits(1)
            .says("word_unsigned");
    };
    // As a runner checks out: one commit, and no ref of the default branch.
    let clone = Repo::directory();
    clone.git(&["init", "-q"]);
    clone.git(&["remote", "add", "origin", &format!("file://{to}")]);
    clone.git(&["fetch", "-q", "origin", "work"]);
    clone.git(&["checkout", "-q", "-B", "work", "FETCH_HEAD"]);
    clone.cook(&["pull"]).ok().says("word_unsigned");
    ask(&clone);
    let single = make_clone(&repo, &["-b", "work", "--single-branch"]);
    single.cook(&["pull"]).ok();
    ask(&single);
    let usual = make_clone(&repo, &["-b", "work"]);
    usual.cook(&["pull"]).ok();
    usual.git(&["remote", "remove", "origin"]);
    ask(&usual);
    // Another address, which may come with the branch, lists nobody for this clone.
    let fork = repo.beside("fork.git");
    let fork = fork.to_str().unwrap();
    repo.git(&["clone", "-q", "--mirror", &to, fork]);
    repo.git(&["--git-dir", fork, "symbolic-ref", "HEAD", "refs/heads/main"]);
    for options in [&[][..], &["--single-branch"]] {
        let clone = make_clone(&repo, &[&["-b", "work"], options].concat());
        clone.cook(&["pull", fork]).ok().says("word_unsigned");
        ask(&clone);
    }
    // Where not even the directories are here.
    repo.git(&["--git-dir", &to, "config", "uploadpack.allowFilter", "true"]);
    let treeless = make_clone(&repo, &["-b", "work", "--filter=tree:0"]);
    treeless.cook(&["pull"]).ok().says("word_unsigned");
    treeless
        .cook(&["verify", "slice", "a", "--from", "origin"])
        .exits(1)
        .says("word_unsigned");
    // Without a list the answer says whose word it is.
    head = repo.command("git");
    head.args(["--git-dir", &to, "symbolic-ref", "HEAD", "refs/heads/main"]);
    run_alone(&mut head).ok();
    let free = make_clone(&repo, &["-b", "work", "--single-branch"]);
    free.cook(&["pull"]).ok();
    free.cook(&["verify", "slice", "a"])
        .ok()
        .says("anyone who can push this ref could have written its records: `refs/cook/log/work` of `origin`");
}

/// What a job rests on that was amended is brought by a pull, and missed where it was held back.
#[test]
fn commits_that_only_the_log_cites_come_with_a_pull() {
    let amend = |options: &[&str]| {
        let repo = make_finished();
        let to = bare(&repo).to_str().unwrap().to_owned();
        repo.git(&["init", "-q", "--bare", "-b", "main", &to]);
        repo.git(&["remote", "add", "origin", &to]);
        repo.git(&["commit", "-q", "--amend", "-m", "Said better"]);
        repo.cook(&["next"]).ok();
        repo.git(&["push", "-q", "origin", "main", "work"]);
        let run = repo.cook(&[&["push", "origin", "--yes"], options].concat());
        let clone = make_clone(&repo, &["-b", "work"]);
        (repo, run, clone)
    };
    let words = ["verify", "--rerun", "--strict", "--trust-repo"];
    let from = [&words[..], &["--from", "origin"]].concat();
    let (_repo, run, clone) = amend(&[]);
    run.ok().says("refs/cook/keep/work");
    clone.cook(&["pull"]).ok();
    clone.cook(&words).ok();
    clone.cook(&from).ok();
    let (_repo, run, clone) = amend(&["--no-keep"]);
    run.ok().says("without `--no-keep` sends them");
    clone
        .cook(&from)
        .exits(1)
        .says("proof_not_reproducible")
        .says("without `--no-keep` takes there");
    clone.cook(&["pull"]).ok();
    clone.cook(&words).exits(1).says("proof_not_reproducible");
}
