//! Proof by tests and commands: red on the code of the basis, and the accepted version green on HEAD's code.

use crate::evidence::job::{CRITERION, Job, LIBRARY, OWN, TEST, claim};

fn make_done() -> Job {
    Job::finish_by("test:double")
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
