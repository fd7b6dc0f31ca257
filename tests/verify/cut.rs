//! Clones that lack a part of the history, of the files, or of the refs: what was not asked is never green.

use crate::support::reports::slice;
use crate::support::{Repo, run_alone};
use crate::verify::from::{bare, make_clone, make_pushed};
use crate::verify::hostile::{Forger, UNTRUE, write_anew};
use crate::verify::job::{codes, record_judged, verdicts};
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
