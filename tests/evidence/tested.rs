//! Proof by tests and commands: red on the code of the basis, and the accepted version green on HEAD's code.

use crate::evidence::job::{CRITERION, Job, LIBRARY, OWN, TEST, claim};
use serde_json::json;

fn make_done() -> Job {
    Job::finish_by("test:double")
}

#[test]
fn a_test_that_is_red_on_the_old_code_proves_and_is_kept() {
    let job = make_done();
    let id = job.record("a")["tests"].as_str().unwrap().to_owned();
    let log = job.git(&["rev-parse", "--git-common-dir"]);
    assert!(!log.is_empty() && id.len() == 64);
    job.holds();
}

#[test]
fn a_test_that_is_green_on_the_old_code_too_is_not_new() {
    let job = Job::begin(&[CRITERION]);
    job.repo.write("lib.sh", format!("{LIBRARY}{OWN}"));
    job.repo.write("tests/double.sh", "true\n");
    job.repo.commit("Test nothing", Some("a"));
    job.judge();
    job.accept(&[claim(CRITERION, "test:double")])
        .expect_refused("evidence_not_new");
    job.accept(&[claim(CRITERION, "test:add")])
        .expect_refused("evidence_not_new");
}

/// Whoever misspells a test is told the names that there are, the most alike first.
#[test]
fn a_name_that_no_gate_knows_is_answered_with_those_it_names() {
    let job = Job::begin(&[CRITERION]);
    job.build();
    job.judge();
    job.accept(&[claim(CRITERION, "test:duoble")])
        .expect_refused("evidence_unverified")
        .says("no gate's output names it as passed; tests that it names: `double`, `add`");
}

/// The version that is kept is HEAD's, whatever the slice reported.
#[test]
fn a_test_that_was_eased_after_the_report_is_not_new() {
    let job = Job::begin(&[CRITERION]);
    job.build();
    job.judge();
    job.foreign("tests/double.sh", "true\n");
    job.accept(&[claim(CRITERION, "test:double")])
        .expect_refused("evidence_not_new");

    // Nor is what others bring after it.
    let job = Job::begin(&[CRITERION]);
    job.repo.write("lib.sh", format!("{LIBRARY}# a\n"));
    job.repo.commit("Begin", Some("a"));
    job.judge();
    job.repo.write("lib.sh", format!("{LIBRARY}{OWN}"));
    job.foreign("tests/double.sh", TEST);
    job.accept(&[claim(CRITERION, "test:double")])
        .expect_refused("evidence_not_new");

    // Nor one that was eased when it was reported.
    let job = Job::begin(&[CRITERION]);
    job.repo.write("lib.sh", format!("{LIBRARY}{OWN}"));
    job.repo.write("tests/double.sh", "true\n");
    job.repo.commit("Double", Some("a"));
    job.judge();
    job.foreign("tests/double.sh", TEST);
    job.accept(&[claim(CRITERION, "test:double")])
        .expect_refused("evidence_not_new");
}

#[test]
fn a_line_and_an_exit_code_that_were_so_before_are_not_new() {
    for (anchor, is_new) in [
        ("cmd:sh run.sh#exit", false),
        ("cmd:sh run.sh#ok 1 - add", false),
        ("cmd:sh run.sh#ok 2 - double", true),
    ] {
        let job = Job::begin(&[CRITERION]);
        job.build();
        job.judge();
        let run = job.accept(&[claim(CRITERION, anchor)]);
        match is_new {
            true => drop(run.ok()),
            false => drop(run.expect_refused("evidence_not_new")),
        }
    }
}

#[test]
fn the_accepted_version_is_run_on_later_code() {
    // Others break the code and bend the test.
    let job = make_done();
    job.repo
        .write("lib.sh", format!("{LIBRARY}{}", OWN.replace("* 2", "* 3")));
    job.foreign("tests/double.sh", &TEST.replace("= 8", "= 12"));
    job.is_reopened().says("the accepted version");

    // A helper that makes every test green.
    let job = make_done();
    job.repo.write("lib.sh", LIBRARY);
    let lax = job
        .repo
        .read("run.sh")
        .replace("if sh \"$file\"", "if true");
    job.foreign("run.sh", &lax);
    job.is_reopened();

    // The test asks for more than it did.
    let job = make_done();
    job.foreign(
        "tests/double.sh",
        &format!("{TEST}[ \"$(double 1)\" = 2 ]\n"),
    );
    job.holds();

    // Tests beside it come and go.
    let job = make_done();
    job.foreign("tests/other.sh", "true\n");
    job.holds();
}

/// The accepted tests are laid down together: one that moved since is not laid down at both places.
#[test]
fn tests_that_moved_before_a_later_slice_was_accepted_hold() {
    let job = make_done();
    std::fs::create_dir(job.repo.root.join("tests/deep")).unwrap();
    job.git(&["mv", "tests/double.sh", "tests/add.sh", "tests/deep"]);
    job.repo.commit("Move the tests", None);
    job.select_b().ok();
    let triple = "triple() {\n  echo $(($1 * 3))\n}\n";
    job.repo.write("lib.sh", format!("{LIBRARY}{OWN}{triple}"));
    job.repo.write(
        "tests/deep/triple.sh",
        ". ./lib.sh\n[ \"$(triple 4)\" = 12 ]\n",
    );
    job.repo.commit("Triple", Some("b"));
    job.judge();
    job.accept_b("test:triple", &[]).ok();
    job.foreign("tests/other.sh", "true\n");
    job.repo
        .cook(&["verify", "stop"])
        .exits(1)
        .says("votes_missing");
    assert_eq!(job.status("a"), "done");
}

#[test]
fn what_a_test_reads_binds_wherever_it_lies() {
    for path in ["tests/data/eight.txt", "fixtures/eight.txt"] {
        let job = Job::begin(&[CRITERION]);
        job.repo.write("lib.sh", format!("{LIBRARY}{OWN}"));
        job.repo.write(path, "8\n");
        job.repo.write(
            "tests/double.sh",
            format!(". ./lib.sh\n[ \"$(double 4)\" = \"$(cat {path})\" ]\n"),
        );
        job.repo.commit("Double", Some("a"));
        job.judge();
        job.accept(&[claim(CRITERION, "test:double")]).ok();
        job.repo
            .write("lib.sh", format!("{LIBRARY}{}", OWN.replace("* 2", "* 3")));
        job.foreign(path, "12\n");
        job.is_reopened().says("the accepted version");
    }
}

#[test]
fn a_text_takes_no_place_of_a_run() {
    let job = make_done();
    job.git(&["mv", "tests/double.sh", "tests/twice.sh"]);
    job.repo.commit("Rename a test", None);
    job.build_b("b.txt", "what b writes\n");
    job.accept_b("b.txt:1", &[claim(CRITERION, "lib.sh:5")])
        .expect_refused("evidence_unrelated")
        .says("is not a run and cannot replace it");
}

#[test]
fn a_test_that_nobody_asks_any_more_is_put_back_or_replaced() {
    let job = make_done();
    job.git(&["mv", "tests/double.sh", "tests/twice.sh"]);
    job.repo.commit("Rename a test", None);
    // A selection builds on nothing of it.
    job.build_b("b.txt", "what b writes\n");
    job.accept_b("b.txt:1", &[])
        .expect_refused("proof_unguarded");
    job.accept_b("b.txt:1", &[claim(CRITERION, "test:twice")])
        .ok()
        .says("proof_replaced");
    assert_eq!(job.status("a"), "done");
    assert_eq!(job.record("a")["anchor"], "test:twice");
}

#[test]
fn a_red_test_is_not_replaced() {
    let job = make_done();
    job.repo.write("lib.sh", LIBRARY);
    job.git(&["rm", "-q", "tests/double.sh"]);
    job.repo.commit("Take it away", None);
    let anew = json!({"select": "b", "evidence": [claim(CRITERION, "test:add")]});
    job.reground(anew);
    assert_ne!(job.status("a"), "done");
}

#[test]
fn a_change_that_a_later_slice_declares_is_the_accepted_version_from_then_on() {
    let job = make_done();
    job.select_b().ok();
    let repo = &job.repo;
    repo.write(
        "lib.sh",
        format!("{LIBRARY}{}# b\n", OWN.replace("* 2", "* 2 + 1")),
    );
    repo.write("tests/double.sh", TEST.replace("= 8", "= 9"));
    repo.commit("Round up", Some("b"));
    repo.record("implementer", repo.implementer_report(None))
        .expect_refused("tests_undeclared");
    let message = "Say so\n\nTest-Changed: double: it rounds up now\n\nCook-Slice: b";
    job.git(&["commit", "-q", "--allow-empty", "-m", message]);
    repo.record("implementer", repo.implementer_report(None))
        .ok();
    let shown = repo.cook(&["next", "--prompt"]).ok().out;
    let id = shown
        .split('`')
        .find(|word| word.starts_with("t-"))
        .unwrap()
        .to_owned();
    let answer = format!("Findings:\nWAIVE {id}: the mission asks for it\n");
    let review = repo
        .reviewer_report(None)
        .replace("Findings: none\n", &answer);
    repo.record("reviewer", review).ok();
    repo.record("auditor", repo.auditor_report()).ok();
    let before = job.record("a")["tests"].clone();
    job.accept_b("lib.sh:7", &[]).ok();
    assert_eq!(job.status("a"), "done");
    assert_ne!(job.record("a")["tests"], before);
    // The new version binds.
    job.foreign("lib.sh", &format!("{LIBRARY}{OWN}# b\n"));
    job.git(&["checkout", "-q", "HEAD~1", "--", "tests"]);
    job.git(&["reset", "-q", "--hard"]);
    job.repo.cook(&["verify", "stop"]).exits(1);
    job.is_reopened();
}

/// What came after the review of such a change was seen by nobody.
#[test]
fn of_a_declared_change_the_reviewed_version_is_the_accepted_one() {
    let job = make_done();
    job.select_b().ok();
    let repo = &job.repo;
    let round = OWN.replace("* 2", "* 2 + 1");
    repo.write("lib.sh", format!("{LIBRARY}{round}# b\n"));
    repo.write("tests/double.sh", TEST.replace("= 8", "= 9"));
    let message = "Round up\n\nTest-Changed: double: it rounds up now";
    repo.commit(message, Some("b"));
    repo.record("implementer", repo.implementer_report(None))
        .ok();
    let shown = repo.cook(&["next", "--prompt"]).ok().out;
    let mut ids = shown.split('`').filter(|word| word.starts_with("t-"));
    let id = ids.next().unwrap();
    let answer = format!("Findings:\nWAIVE {id}: the mission asks for it\n");
    let review = repo.reviewer_report(None);
    repo.record("reviewer", review.replace("Findings: none\n", &answer))
        .ok();
    repo.record("auditor", repo.auditor_report()).ok();
    // The code is broken, and the test asks nothing any more.
    repo.write("lib.sh", format!("{LIBRARY}# b\n"));
    job.foreign("tests/double.sh", "true\n");
    job.accept_b("lib.sh:4", &[]).ok();
    assert_eq!(job.status("a"), "planned");
}

#[test]
fn of_a_change_that_nobody_declared_the_accepted_version_stays() {
    let job = make_done();
    job.select_b().ok();
    let repo = &job.repo;
    job.foreign("tests/double.sh", "true\n");
    repo.write("lib.sh", format!("{LIBRARY}{OWN}# b\n"));
    repo.commit("Work on b", Some("b"));
    repo.record("implementer", repo.implementer_report(None))
        .ok();
    repo.record("reviewer", repo.reviewer_report(None)).ok();
    repo.record("auditor", repo.auditor_report()).ok();
    // The code is broken, and the test that the review saw asks nothing.
    job.foreign("lib.sh", &format!("{LIBRARY}# b\n"));
    job.accept_b("lib.sh:4", &[]).ok();
    assert_eq!(job.status("a"), "planned");
}

#[test]
fn the_log_answers_where_git_threw_the_commit_away() {
    let job = make_done();
    job.repo.write("tests/double.sh", "true\n");
    job.git(&["commit", "-q", "-a", "--amend", "-m", "Another test"]);
    job.git(&["reflog", "expire", "--expire=now", "--all"]);
    job.git(&["gc", "-q", "--prune=now"]);
    job.holds();

    let job = make_done();
    job.repo.write("tests/double.sh", "true\n");
    job.repo.write("lib.sh", LIBRARY);
    job.git(&["commit", "-q", "-a", "--amend", "-m", "Another test"]);
    job.git(&["reflog", "expire", "--expire=now", "--all"]);
    job.git(&["gc", "-q", "--prune=now"]);
    job.is_reopened();
}

#[test]
fn a_line_that_is_printed_no_more_opens_the_slice() {
    let job = Job::finish_by("cmd:sh run.sh#ok 2 - double");
    job.git(&["rm", "-q", "tests/double.sh"]);
    job.repo.commit("Remove a test", None);
    job.is_reopened();
}

/// Its file cannot be loaded on the code of the basis, so that it would be without a result there whatever it asks.
#[test]
fn a_test_that_cannot_be_loaded_on_the_old_code_must_notice_a_defect() {
    let run = "#!/bin/sh\n. ./larger.sh || exit 1\n";
    let code = "larger() {\n  if [ \"$1\" -gt \"$2\" ]; then\n    echo \"$1\"\n  else\n    echo \"$2\"\n  fi\n}\n";
    for (test, is_new) in [
        (
            "[ \"$(larger 4 8)\" = 8 ] && [ \"$(larger 9 8)\" = 9 ]",
            true,
        ),
        // It asks nothing.
        ("[ 8 = 8 ]", false),
        // It reads the text of the code.
        ("! grep -q Nothing larger.sh", false),
    ] {
        let job = Job::begin(&[CRITERION]);
        job.repo.write("larger.sh", code);
        job.repo.write(
            "tests/larger.sh",
            format!(". ./larger.sh || exit 99\n{test}\n"),
        );
        let all = job.repo.read("run.sh");
        let all = all.split_once('\n').unwrap().1;
        job.repo.write("run.sh", format!("{run}{all}"));
        job.repo.commit("Compare", Some("a"));
        job.judge();
        let run = job.accept(&[claim(CRITERION, "test:larger")]);
        match is_new {
            true => run.ok(),
            false => run.expect_refused("evidence_not_new"),
        };
    }
}

#[test]
fn the_user_gives_up_a_proof_and_its_slice_stays_done() {
    let job = make_done();
    let retire = |words: &[&str]| {
        let as_user = ["--as-user"];
        job.repo
            .cook(&[&["plan", "criteria", "retire"], words, &as_user].concat())
    };
    retire(&["b", "1", "--reason", "it is not done"]).expect_refused("evidence_missing");
    retire(&["a", "7", "--reason", "there is none"]).expect_refused("slice_unknown");
    retire(&["a", "1", "--reason", " "]).expect_refused("criteria_empty");
    job.repo.write("lib.sh", LIBRARY);
    job.git(&["rm", "-q", "tests/double.sh"]);
    job.repo.commit("Nobody doubles any more", None);
    retire(&["a", "1", "--reason", "nobody doubles any more"]).ok();
    job.holds();
    let answer = job.repo.cook(&["verify", "slice", "a", "--json"]).json();
    let criterion = &answer["criteria"][0];
    assert_eq!(criterion["verdict"], "recorded", "{answer}");
    let why = criterion["why"].as_str().unwrap();
    assert!(why.ends_with("nobody doubles any more"), "{why}");
}
