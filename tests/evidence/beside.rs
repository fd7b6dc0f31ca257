//! What stood beside the work did not take its place, and what others brought is nobody's proof.

use crate::again::GATE;
use crate::job::{Job, OWN, library, proof, with};
use serde_json::json;

/// Names each test of `t/*.txt` by its file: `t.a.adds`.
const CHECK: &str = "for f in t/*.txt; do n=${f#t/}; sed -n \"s/^fn \\([a-z_]*\\).*/test t.${n%.txt}.\\1 ... ok/p\" \"$f\"; done\n";
const TEST: &str = "fn adds() {\n    one plus one must be two\n}\n";

const HEAD: &str = "the head of the list\n";
const OF_A: &str = "slice a wrote this line\nand it wrote this one too\n";
const OF_B: &str = "slice b wrote another line\nand ended the list with it\n";

/// Both slices are done: each wrote below what stood in the list.
fn list_done() -> Job {
    let job = Job::begin_with(&["a works"], &[("list.txt", HEAD)]);
    job.repo
        .write_commit_for("a", "list.txt", &format!("{HEAD}{OF_A}"));
    job.judge();
    job.accept(&[proof("a", "a works", "list.txt:2", "observed")])
        .ok();
    job.select("b");
    job.repo
        .write_commit_for("b", "list.txt", &format!("{HEAD}{OF_A}{OF_B}"));
    job.judge();
    job.accept(&[proof("b", "b works", "list.txt:4", "observed")])
        .ok();
    job
}

fn change(job: &Job, text: &str) {
    job.repo.write("list.txt", text);
    job.repo.commit("Somebody else's", None);
}

/// Rows 6 and 8.
#[test]
fn text_that_stood_below_the_work_did_not_replace_it() {
    let job = list_done();
    change(&job, &format!("{HEAD}{OF_B}"));
    job.is_reopened();
    assert_eq!(job.status("b"), "done");
    // Changed before it went.
    let job = list_done();
    let changed = OF_A.replace("wrote", "had written");
    change(&job, &format!("{HEAD}{changed}{OF_B}"));
    change(&job, &format!("{HEAD}{OF_B}"));
    job.is_reopened();
}

/// Row 6: what took its place may be named, and what stood beside it may not.
#[test]
fn only_what_came_into_the_place_of_the_work_is_its_proof() {
    let job = Job::begin_with(&["a works"], &[("list.txt", HEAD)]);
    job.repo
        .write_commit_for("a", "list.txt", &format!("{HEAD}{OF_A}"));
    job.judge();
    job.accept(&[proof("a", "a works", "list.txt:2", "observed")])
        .ok();
    change(&job, &format!("{HEAD}{OF_A}{OF_B}"));
    let instead = "somebody wrote this in its stead\n";
    change(&job, &format!("{HEAD}{instead}{OF_B}"));
    let block = json!({"policy": {"to": "await_user_input", "question": "is this wanted?"}});
    let answer = |anchor: &str| {
        let mut block = block.clone();
        block["evidence"] = json!([proof("a", "a works", anchor, "observed")]);
        job.reground(block)
    };
    for beside in ["list.txt:3", "list.txt:4"] {
        answer(beside).exits(4);
    }
    answer("list.txt:2").ok();
    assert_eq!(job.status("a"), "done");
}

/// Row 13: a copy elsewhere is not what is called.
#[test]
fn a_symbol_with_another_one_in_its_place_did_not_move() {
    let works = "fn works() {\n    compute_the_sum();\n    finish_the_sum();\n}\n";
    let accept = || {
        let job = Job::begin(&["a works"]);
        job.repo.write("lib.txt", with(&library(), &OWN));
        job.repo.write("code.rs", works);
        job.repo.commit("Work", Some("a"));
        job.judge();
        job.accept(&[proof("a", "a works", "code.rs:works", "observed")])
            .ok();
        job
    };
    let job = accept();
    job.repo.write("parked.rs", works);
    job.repo
        .write("code.rs", "fn works() {\n    nothing_of_it();\n}\n");
    job.repo.commit("Somebody else's", None);
    job.must_answer("evidence_changed");
    // What only leads there stands in nobody's way.
    let job = accept();
    job.repo.write("sum.rs", works);
    job.repo.write("code.rs", "pub use sum::works;\n");
    job.repo.commit("Somebody else's", None);
    job.stands();
    assert_eq!(job.anchor("a"), "sum.rs:works");
}

/// A gate that runs every test of `t/`, and slice `a` in work.
fn begin_tests() -> Job {
    let job = Job::begin_with(&["it adds"], &[("check.sh", CHECK), ("t/old.txt", "-\n")]);
    job.plan_anew(GATE);
    job
}

fn by_test(name: &str) -> serde_json::Value {
    proof("a", "it adds", &format!("test:{name}"), "test")
}

/// Row 7, of a test.
#[test]
fn a_test_that_a_merge_brought_is_nobody_s_proof() {
    let job = begin_tests();
    job.git(&["checkout", "--quiet", "-b", "side"]);
    job.repo.write("t/a.txt", TEST);
    job.repo.commit("A colleague's test", None);
    job.git(&["checkout", "--quiet", "main"]);
    job.write_own("a");
    let merge = [
        "merge",
        "--quiet",
        "--no-ff",
        "-m",
        "Merge it\n\nCook-Slice: a",
        "side",
    ];
    job.git(&merge);
    job.judge();
    for anchor in [
        by_test("t.a.adds"),
        proof(
            "a",
            "it adds",
            "cmd:sh check.sh#test t.a.adds ... ok",
            "output",
        ),
    ] {
        job.accept(&[anchor])
            .exits(4)
            .says("evidence_unrelated")
            .says("others wrote the test");
    }
    job.accept(&[proof("a", "it adds", "lib.txt:5", "observed")])
        .ok();
}

/// Row 7: a test that was there at the basis is whoever's makes it pass.
#[test]
fn a_test_that_waited_for_the_work_proves_it() {
    let waiting = CHECK.replace(
        " ... ok/p",
        " ... ok/p\" \"$f\"; test -e done || sed -n \"s/^fn .*/test t.${n%.txt}.adds ... FAILED/p",
    );
    let job = Job::begin_with(&["it adds"], &[("check.sh", &waiting), ("t/a.txt", TEST)]);
    job.plan_anew(GATE);
    job.repo.write("done", "it is\n");
    job.write_own("a");
    job.judge();
    job.accept(&[by_test("t.a.adds")]).ok();
}

/// Row 14: a later test of the same short name holds nothing up.
#[test]
fn a_short_name_that_several_tests_have_now_is_named_in_full() {
    let job = begin_tests();
    job.repo.write("t/a.txt", TEST);
    job.write_own("a");
    job.judge();
    job.accept(&[by_test("adds")]).ok();
    job.repo.write("t/b.txt", TEST);
    job.repo.commit("Somebody else's", None);
    job.repo
        .cook(&["gate", "--slice", "a", "--clean", "--fresh"])
        .ok();
    let asks = json!({"to": "await_user_input", "question": "is it there now?"});
    job.reground(json!({"policy": asks})).ok();
    job.repo.cook(&["answer", "yes", "--as-user"]).ok();
    assert_eq!(job.anchor("a"), "test:t.a.adds");
    // Set aside, it is not the other one.
    job.git(&["mv", "t/a.txt", "t/a.off"]);
    job.repo.commit("Set it aside", None);
    job.is_reopened();
}

/// Row 14: given anew it is given in full.
#[test]
fn a_short_name_of_several_tests_does_not_answer() {
    let job = begin_tests();
    job.repo.write("t/a.txt", TEST);
    job.write_own("a");
    job.judge();
    job.accept(&[by_test("adds")]).ok();
    let gutted = TEST.replace("must be two", "is something");
    for path in ["t/a.txt", "t/b.txt"] {
        job.repo.write(path, &gutted);
    }
    job.repo.commit("Somebody else's", None);
    job.repo
        .cook(&["gate", "--slice", "a", "--clean", "--fresh"])
        .ok();
    job.must_answer("evidence_changed").says("test:t.a.adds");
    let answer = |name: &str| job.reground(json!({"select": "b", "evidence": [by_test(name)]}));
    answer("adds").exits(4).says("in full");
    answer("t.b.adds").exits(4).says("evidence_unrelated");
    answer("t.a.adds").ok();
    assert_eq!(job.status("a"), "done");
}

/// Row 5: the text was copied in one commit and cut out in the next. Nobody can say whose copy it is, and the
/// report does.
#[test]
fn text_that_was_copied_before_it_was_cut_is_anchored_where_it_is() {
    let sum = "fn add() {\n    compute_the_sum_of_all();\n    finish_the_sum_of_all();\n}\n";
    let head = "use std::ops;\n\n";
    let job = Job::begin_with(&["a works"], &[("calc.rs", head)]);
    job.repo
        .write_commit_for("a", "calc.rs", &format!("{head}{sum}"));
    job.judge();
    job.accept(&[proof("a", "a works", "calc.rs:4", "observed")])
        .ok();
    job.repo.write("sum.rs", sum);
    job.repo.commit("Copy it", None);
    job.repo
        .write("calc.rs", "use std::ops;\n\nuse sum::add;\n");
    job.repo.commit("Cut it out", None);
    job.must_answer("evidence_changed");
    let again = |anchor: &str| {
        let block = json!([proof("a", "a works", anchor, "observed")]);
        job.reground(json!({"select": "b", "evidence": block}))
    };
    again("sum.rs:2").ok();
    assert_eq!(job.status("a"), "done");
}

/// Rows 7 and 14: the line that names a test makes it nobody's.
#[test]
fn a_colleague_s_test_that_the_slice_names_otherwise_is_nobody_s_proof() {
    let job = begin_tests();
    job.repo.write("t/theirs.txt", TEST);
    job.repo.commit("A colleague's test", None);
    job.repo
        .write("t/theirs.txt", TEST.replace("adds", "adds_up"));
    job.write_own("a");
    job.judge();
    job.accept(&[by_test("t.theirs.adds_up")])
        .exits(4)
        .says("evidence_unrelated");
}

/// Row 14: a colleague's test of the same name is not the slice's, which went.
#[test]
fn another_file_s_test_of_the_same_name_is_not_the_slice_s() {
    let job = begin_tests();
    job.repo.write("t/a.txt", TEST);
    job.write_own("a");
    job.judge();
    job.accept(&[by_test("adds")]).ok();
    job.git(&["rm", "-q", "t/a.txt"]);
    let theirs = TEST.replace("one plus one must be two", "their own thing is looked at");
    job.repo.write("t/theirs.txt", theirs);
    job.repo.commit("Theirs in its place", None);
    job.repo
        .cook(&["gate", "--slice", "a", "--clean", "--fresh"])
        .ok();
    let block = json!({"select": "b", "evidence": [by_test("adds")]});
    job.reground(block).exits(4);
    assert_ne!(job.status("b"), "selected");
}
