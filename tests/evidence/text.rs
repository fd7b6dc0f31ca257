//! Proof by text: it was in no file of the basis, and it stands at HEAD.

use crate::evidence::job::{CRITERION, Job, LIBRARY, OWN, claim};

#[test]
fn text_that_the_slice_brought_proves_it_and_is_kept() {
    let job = Job::finish_by("lib.sh:5");
    assert_eq!(job.record("a")["text"][0], "  echo $(($1 * 2))");
    job.holds();
}

#[test]
fn text_that_stood_in_a_file_of_the_basis_is_not_new() {
    for anchor in [
        "lib.sh:2",
        "lib.sh:add",
        "doc:notes.md#use",
        "gone:other.sh",
    ] {
        let job = Job::begin(&[CRITERION]);
        job.build();
        job.judge();
        job.accept(&[claim(CRITERION, anchor)])
            .expect_refused("evidence_not_new");
    }
    // In another file, and set in otherwise.
    let job = Job::begin(&[CRITERION]);
    job.repo.write("other.sh", "    echo $(( $1 + $2 ))\n");
    job.repo.commit("Copy a line", Some("a"));
    job.judge();
    job.accept(&[claim(CRITERION, "other.sh:1")])
        .expect_refused("evidence_not_new");
}

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
fn one_new_claim_is_enough_and_the_others_are_shown() {
    let job = Job::begin(&["one", "two"]);
    job.build();
    job.judge();
    job.accept(&[claim("one", "lib.sh:4"), claim("two", "lib.sh:2")])
        .ok()
        .says("proof_not_new");
}

#[test]
fn a_rewritten_history_a_formatter_and_a_rename_change_nothing() {
    let histories: [&dyn Fn(&Job); 6] = [
        &|job| drop(job.git(&["commit", "-q", "--amend", "-m", "Said otherwise"])),
        &|job| {
            job.git(&["reset", "-q", "--soft", "HEAD~1"]);
            job.git(&["commit", "-q", "-m", "Squashed"]);
            job.git(&["reflog", "expire", "--expire=now", "--all"]);
            job.git(&["gc", "-q", "--prune=now"]);
        },
        &|job| drop(job.foreign("lib.sh", &format!("# on top\n\n{LIBRARY}{OWN}# below\n"))),
        &|job| {
            let wrapped = OWN.replace("  echo $(($1 * 2))", "\techo  $(( $1\n    * 2 ))");
            job.foreign("lib.sh", &format!("{LIBRARY}{wrapped}"));
        },
        &|job| {
            let between = OWN.replace("double() {\n", "double() {\n  # twice\n");
            job.foreign("lib.sh", &format!("{LIBRARY}{between}"));
        },
        &|job| {
            job.git(&["mv", "lib.sh", "library.sh"]);
            job.repo.commit("Rename", None);
        },
    ];
    for (number, history) in histories.into_iter().enumerate() {
        let job = Job::finish_by("lib.sh:4-5");
        history(&job);
        job.holds();
        let anchor = &job.record("a")["anchor"];
        let is_renamed = anchor == "library.sh:4-5";
        assert_eq!(is_renamed, number == 5, "{anchor}");
    }
}

#[test]
fn text_that_is_gone_opens_the_slice_or_is_claimed_anew() {
    let job = Job::finish_by("lib.sh:5");
    job.foreign("lib.sh", LIBRARY);
    job.is_reopened().says("proof_broken");

    let job = Job::finish_by("lib.sh:5");
    job.git(&["revert", "--no-edit", "HEAD"]);
    job.is_reopened();

    let job = Job::finish_by("lib.sh:5");
    let other = OWN.replace("$1 * 2", "$1 + $1");
    job.foreign("lib.sh", &format!("{LIBRARY}{other}"));
    let anew = serde_json::json!({"select": "b", "evidence": [claim(CRITERION, "lib.sh:5")]});
    job.reground(anew).ok();
    assert_eq!(job.status("a"), "done");
    assert_eq!(job.record("a")["text"][0], "  echo $(($1 + $1))");
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

#[test]
fn a_symbol_is_its_line_and_a_section_its_words() {
    let job = Job::finish_by("lib.sh:double");
    assert_eq!(job.record("a")["text"], serde_json::json!(["double() {"]));
    let other = OWN.replace("$1 * 2", "$1 + $1");
    job.foreign("lib.sh", &format!("{LIBRARY}{other}"));
    job.holds();

    let job = Job::begin(&[CRITERION]);
    let text = job.repo.read("notes.md") + "\n## Doubling\n\nIt doubles a number.\n";
    job.repo.write("notes.md", &text);
    job.repo.commit("Write it down", Some("a"));
    job.judge();
    job.accept(&[claim(CRITERION, "doc:notes.md#doubling")])
        .ok();
    let moved = text.replace("## Use\n\nSource it.\n\n", "") + "\nAnd so on.\n";
    job.foreign("notes.md", &moved);
    job.holds();
}
