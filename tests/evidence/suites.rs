//! Tests that bear one title: in suites of their own, or without any.

use crate::job::{Job, proof};
use serde_json::{Value, json};

/// Prints what `t/` holds as the reporter of node does.
const CHECK: &str = "cat t/*.js | sed -n \"s/^describe('\\([a-z]*\\)'.*/\u{25b6} \\1/p; s/^  it('\\([a-z]*\\)'.*/  \u{2714} \\1 (0.1ms)/p\"\necho '\u{2139} tests 1'\n";
/// The same without suites.
const FLAT: &str = "cat t/*.js | sed -n \"s/^  it('\\([a-z]*\\)'.*/\u{2714} \\1 (0.1ms)/p\"\necho '\u{2139} tests 1'\n";
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

/// Names what pytest would run of `t/`: functions of classes whose name begins with `Test`, and those of none.
const PYTEST: &str = r#"awk '/^\047\047\047/{q=!q} q{next}
/^class /{c=$2; sub(/[(:].*/,"",c)}
/^    def test_/{n=$2; sub(/[(].*/,"",n); if (c ~ /^Test/) print FILENAME "::" c "::" n " PASSED"}
/^def test_/{n=$2; sub(/[(].*/,"",n); print FILENAME "::" n " PASSED"}' t/*.py
"#;

fn write_class(name: &str, body: &str) -> String {
    format!("class {name}:\n    def test_works(self):\n        {body}\n\n\n")
}

const LOOKS: &str = "assert one(two, three) == four";

fn accept_class(anchor: &str) -> Job {
    let job = begin(PYTEST, &[("t/one.py", "import one\n\n\n")]);
    let own = format!("import one\n\n\n{}", write_class("TestOne", LOOKS));
    job.repo.write_commit_for("a", "t/one.py", &own);
    job.judge();
    job.accept(&[by(anchor)]).ok();
    job
}

/// Row 14: what no runner takes for the test of that name is not it, though it says what it said.
#[test]
fn a_body_under_another_class_is_not_the_test_of_the_first() {
    let anchors = [
        "test:TestOne::test_works",
        "test:t/one.py::TestOne::test_works",
    ];
    for (anchor, parked, hollow) in [
        (anchors[0], "Parked", "pass"),
        (anchors[1], "Parked", "assert True"),
        (anchors[0], "TestTwo", "pass"),
    ] {
        let job = accept_class(anchor);
        let now = [write_class(parked, LOOKS), write_class("TestOne", hollow)].concat();
        job.repo.write("t/one.py", format!("import one\n\n\n{now}"));
        commit_and_gate(&job);
        job.must_answer("evidence_changed");
        answer(&job, by(anchor)).exits(4);
    }
    // A class that is called otherwise is followed.
    let job = accept_class(anchors[0]);
    let now = write_class("TestFirst", LOOKS);
    job.repo.write("t/one.py", format!("import one\n\n\n{now}"));
    commit_and_gate(&job);
    job.stands();
    assert_eq!(job.anchor("a"), "test:t/one.py::TestFirst::test_works");
}

/// Row 14: a new name is followed where nothing else bears it.
#[test]
fn a_test_is_not_followed_to_the_name_of_another() {
    let hollow = "def test_works():\n    pass\n";
    for parked in ["class Old:\n    ", "'''\n"] {
        let job = accept_class("test:TestOne::test_works");
        let own = write_class("TestOne", LOOKS);
        let (_, body) = own.split_once('\n').unwrap();
        let now = match parked.contains("class") {
            true => format!("class Old:\n{body}{hollow}"),
            false => format!("'''\n{own}'''\n\n\n{hollow}"),
        };
        job.repo.write("t/one.py", format!("import one\n\n\n{now}"));
        job.repo.commit("Somebody else's", None);
        let block = json!({"select": "b"});
        job.reground(block).ok();
        assert_ne!(job.status("a"), "done", "{parked}");
    }
}

/// Prints what `t/` holds as the reporter of node does, and what any line makes up.
const COMPUTED: &str = "cat t/*.js | sed -n \"/^made up:/{s/made up: \\([a-z]*\\)-\\(.*\\)/\u{2714} \\1\\2 (0.1ms)/p}; s/^  it('\\([a-z]*\\)'.*/\u{2714} \\1 (0.1ms)/p\"\necho '\u{2139} tests 1'\n";

/// Row 14: nothing runs a test in a comment or in a text, though another one prints its name.
#[test]
fn a_test_that_is_quoted_runs_no_more() {
    for (before, after) in [("/*\n", "*/\n"), ("const old = `\n", "`\n")] {
        let job = begin(COMPUTED, &[]);
        write_own(&job);
        job.accept(&[by("test:refuses")]).ok();
        // The gate reads lines alone, so that the quoted one must not look like one of its own.
        let parked = write_suite("add").replace("  it('", "   it('");
        job.repo
            .write("t/add.js", format!("{before}{parked}{after}"));
        job.repo.write("t/more.js", "made up: re-fuses\n");
        commit_and_gate(&job);
        job.must_answer("evidence_changed");
        answer(&job, by("test:refuses")).exits(4);
    }
    // A comment above it changes nothing.
    let job = begin(COMPUTED, &[]);
    write_own(&job);
    job.accept(&[by("test:refuses")]).ok();
    let remarked = format!("/* refuses is tested here */\n{}", write_suite("add"));
    job.repo.write("t/add.js", remarked);
    job.repo.commit("Somebody else's", None);
    job.stands();
}

/// Row 14: what is put in the place of a method bears its name.
#[test]
fn a_method_that_is_put_into_a_class_is_asked_about() {
    let job = accept_class("test:TestOne::test_works");
    let now = [
        "import one\n\n\n",
        &write_class("TestOne", LOOKS),
        "TestOne.test_works = lambda self: None\n",
    ];
    job.repo.write("t/one.py", now.concat());
    job.repo.commit("Somebody else's", None);
    job.must_answer("evidence_changed");
}
