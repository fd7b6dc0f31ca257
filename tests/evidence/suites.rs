//! Tests that bear one title: in suites of their own, or without any.

use crate::job::{Job, proof};
use serde_json::{Value, json};

/// Prints what `t/` holds as the reporter of node does.
const CHECK: &str = "cat t/*.js | sed -n \"s/^describe('\\([a-z]*\\)'.*/\u{25b6} \\1/p; s/^  it('\\([a-z]*\\)'.*/  \u{2714} \\1 (0.1ms)/p\"\n";
/// The same without suites.
const FLAT: &str = "cat t/*.js | sed -n \"s/^  it('\\([a-z]*\\)'.*/\u{2714} \\1 (0.1ms)/p\"\n";
const GATE: &str = "sh check.sh";
const LINE: &str = "cmd:sh check.sh#\u{2714} refuses";

fn write_suite(of: &str) -> String {
    format!(
        "describe('{of}', () => {{\n  it('refuses', () => {{\n    expect({of}(two, three)).to.be.refused\n    expect({of}(one)).to.be.refused\n  }})\n}})\n"
    )
}

fn begin(check: &str, files: &[(&str, &str)]) -> Job {
    let files: Vec<(&str, &str)> = [
        &[
            ("check.sh", check),
            ("t/none.js", "-\n"),
            ("old/none.js", "-\n"),
        ],
        files,
    ]
    .concat();
    let job = Job::begin_with(&["it refuses"], &files);
    job.plan_anew(GATE);
    job
}

fn by(anchor: &str) -> Value {
    let basis = if anchor.starts_with("cmd:") {
        "output"
    } else {
        "test"
    };
    proof("a", "it refuses", anchor, basis)
}

/// The slice's test in suite `add`, reviewed and audited.
fn write_own(job: &Job) {
    job.repo
        .write_commit_for("a", "t/add.js", &write_suite("add"));
    job.judge();
}

fn commit_and_gate(job: &Job) {
    job.repo.commit("Somebody else's", None);
    job.repo
        .cook(&["gate", "--slice", "a", "--clean", "--fresh"])
        .ok();
}

fn answer(job: &Job, evidence: Value) -> crate::support::Run {
    job.reground(json!({"select": "b", "evidence": [evidence]}))
}

/// Row 14: two suites have a test of this title, and either may prove something.
#[test]
fn a_title_that_two_suites_have_is_given_with_its_suite() {
    let job = begin(CHECK, &[("t/sub.js", &write_suite("sub"))]);
    write_own(&job);
    for anchor in ["test:refuses", LINE] {
        job.accept(&[by(anchor)]).exits(4).says("add > refuses");
    }
    job.accept(&[by("test:add > refuses")]).ok();
    job.git(&["mv", "t/add.js", "old/add.js"]);
    job.repo.commit("Set it aside", None);
    job.is_reopened();
}

/// Row 14: the title alone, and the line that bears it, mean the test that they meant.
#[test]
fn a_title_of_another_suite_is_not_the_slice_s() {
    for anchor in ["test:refuses", LINE] {
        let job = begin(CHECK, &[]);
        write_own(&job);
        job.accept(&[by(anchor)]).ok();
        job.git(&["mv", "t/add.js", "old/add.js"]);
        job.repo.write("t/sub.js", write_suite("sub"));
        job.repo.commit("Set it aside", None);
        job.is_reopened();
    }
}

/// Row 14: beside another one of its title it is what it was.
#[test]
fn a_title_is_followed_where_another_suite_has_it_too() {
    for anchor in ["test:refuses", LINE] {
        let job = begin(CHECK, &[]);
        write_own(&job);
        job.accept(&[by(anchor)]).ok();
        job.repo.write("t/sub.js", write_suite("sub"));
        job.repo.commit("Somebody else's", None);
        job.stands();
    }
}

/// Row 14: one of several tests of one name is gone, and nobody can say which.
#[test]
fn a_name_that_fewer_tests_bear_is_answered_otherwise() {
    for anchor in ["test:refuses", LINE] {
        let job = begin(FLAT, &[]);
        job.repo.write("t/sub.js", write_suite("sub"));
        job.repo.commit("A colleague's test", None);
        write_own(&job);
        job.accept(&[by(anchor)]).ok();
        job.git(&["mv", "t/add.js", "old/add.js"]);
        commit_and_gate(&job);
        job.must_answer("evidence_changed");
        answer(&job, by(anchor)).exits(4);
        answer(&job, by("test:refuses")).exits(4);
        let back = json!([{"slice_id": "a", "why": "its test is gone"}]);
        job.reground(json!({"reopen": back})).ok();
    }
}

/// Row 14: what was set aside does not make a colleague's test of its name the slice's.
#[test]
fn a_name_that_others_bear_too_is_not_given_anew() {
    let job = begin(FLAT, &[]);
    write_own(&job);
    job.accept(&[by("test:refuses")]).ok();
    job.git(&["mv", "t/add.js", "old/add.js"]);
    let other = write_suite("sub").replace(".to.be.refused", " == their_own_thing");
    job.repo.write("t/sub.js", other);
    commit_and_gate(&job);
    job.must_answer("evidence_changed");
    answer(&job, by("test:refuses")).exits(4);
    assert_ne!(job.status("b"), "selected");
}

/// Rows 7 and 14: a word behind one of its lines makes no test the slice's.
#[test]
fn a_remark_in_a_colleague_s_test_makes_it_nobody_s_proof() {
    let job = begin(CHECK, &[]);
    job.repo.write("t/sub.js", write_suite("sub"));
    job.repo.commit("A colleague's test", None);
    let remarked = write_suite("sub").replacen("refused\n", "refused // seen\n", 1);
    job.repo.write("t/sub.js", &remarked);
    job.write_own("a");
    job.judge();
    job.accept(&[by("test:sub > refuses")])
        .exits(4)
        .says("evidence_unrelated");
}

/// The count behind a line is another one as soon as there is another test.
#[test]
fn a_line_that_names_a_test_is_followed_without_what_stands_behind_it() {
    let check = "n=$(cat t/*.js | grep -c \"it(\"); cat t/*.js | sed -n \"s/^  it('\\([a-z]*\\)'.*/t.py::\\1 PASSED [ $n%]/p\"\n";
    let job = begin(check, &[]);
    write_own(&job);
    job.accept(&[by("cmd:sh check.sh#t.py::refuses PASSED [ 1%]")])
        .ok();
    job.repo
        .write("t/sub.js", write_suite("sub").replace("refuses", "takes"));
    job.repo.commit("Somebody else's", None);
    job.stands();
}
