//! Proof by text: it was in no file of the basis, and it stands at HEAD.

use crate::evidence::job::{CRITERION, Job, LIBRARY, claim};

#[test]
fn text_without_a_letter_a_commit_and_a_whole_document_prove_nothing() {
    let job = Job::begin(&[CRITERION]);
    let commit = job.build();
    job.judge();
    job.accept(&[claim(CRITERION, "lib.sh:6")])
        .expect_refused("evidence_unverified");
    let anchor = format!("commit:{commit}");
    job.accept(&[claim(CRITERION, &anchor)])
        .expect_refused("evidence_unrelated");
    job.accept(&[claim(CRITERION, "doc:notes.md")])
        .expect_refused("evidence_unrelated");
}

#[test]
fn two_criteria_share_no_claim() {
    let job = Job::begin(&["one", "two"]);
    job.build();
    job.judge();
    job.accept(&[claim("one", "lib.sh:4-5"), claim("two", "lib.sh:5-6")])
        .expect_refused("evidence_shared");
    job.accept(&[claim("one", "lib.sh:4"), claim("two", "lib.sh:5")])
        .ok();
}

#[test]
fn what_is_gone_stays_gone() {
    let job = Job::begin(&[CRITERION]);
    job.repo
        .write("lib.sh", "add() {\n  expr \"$1\" + \"$2\"\n}\n");
    job.repo.commit("Use expr", Some("a"));
    job.judge();
    job.accept(&[claim(CRITERION, "gone:lib.sh#echo $(($1 + $2))")])
        .ok();
    job.foreign("notes.md", "# Notes\n");
    job.repo.write("lib.sh", LIBRARY);
    job.repo.commit("Back", None);
    job.is_reopened();
}
