//! What stands below a line: symbols, sections and tests by what they say.

use crate::again::GATE;
use crate::job::{Job, OWN, library, proof, with};
use serde_json::json;

const BEFORE: &str = "fn works() {\n    take_the_old_way();\n    return_nothing();\n}\n";
const AFTER: &str = "fn works() {\n    compute_the_sum();\n    finish_the_sum();\n}\n";

/// `a` is accepted by the symbol, beside lines of the library.
fn accept_symbol(before: &str, after: &str) -> Job {
    let job = Job::begin_with(&["a works"], &[("code.rs", before)]);
    job.repo.write("lib.txt", with(&library(), &OWN));
    job.repo.write("code.rs", after);
    job.repo.commit("Work", Some("a"));
    job.judge();
    job.accept(&[proof("a", "a works", "code.rs:works", "observed")])
        .ok();
    job
}

fn write(job: &Job, path: &str, text: &str) {
    job.repo.write(path, text);
    job.repo.commit("Somebody else's", None);
}

/// Row 13.
#[test]
fn a_symbol_whose_body_stands_is_followed() {
    for now in [
        format!("// works is called here\nfn calls() {{ works(); }}\n\n{AFTER}"),
        AFTER.replace("    ", "\t"),
        format!("fn calls() {{\n    works();\n}}\n{AFTER}"),
    ] {
        let job = accept_symbol("// nothing yet\n", AFTER);
        write(&job, "code.rs", &now);
        job.stands();
    }
    let job = accept_symbol("// nothing yet\n", AFTER);
    job.git(&["mv", "code.rs", "sum.rs"]);
    job.repo.commit("Rename it", None);
    job.stands();
    assert_eq!(job.anchor("a"), "sum.rs:works");
}

/// Row 13.
#[test]
fn a_symbol_whose_body_says_something_else_is_answered() {
    for (after, now) in [
        (AFTER, AFTER.replace("finish", "break")),
        (AFTER, AFTER.replace("works() {", "works(x: u8) {")),
        (AFTER, AFTER.replace("    finish_the_sum();\n", "")),
        (
            AFTER,
            format!(
                "// works\nfn other() {{}}\n{}",
                AFTER.replace("finish", "break")
            ),
        ),
        (
            "fn works(\n    x: u8,\n) -> u8\nwhere\n    u8: Copy,\n{\n    compute_the_sum();\n}\n",
            "fn works(\n    x: u8,\n) -> u8\nwhere\n    u8: Copy,\n{\n    break_the_sum();\n}\n"
                .to_owned(),
        ),
    ] {
        let job = accept_symbol("// nothing yet\n", after);
        write(&job, "code.rs", &now);
        job.must_answer("evidence_changed").says("code.rs:works");
        let again = proof("a", "a works", "code.rs:works", "observed");
        job.reground(json!({"select": "b", "evidence": [again]}))
            .ok();
        assert_eq!(job.status("a"), "done");
    }
}

/// Rows 8 and 13.
#[test]
fn a_symbol_without_the_slice_s_body_opens_it() {
    for (before, now) in [
        (BEFORE, BEFORE),
        (
            BEFORE,
            "// put back\nfn works() {\n    take_the_old_way();\n    return_nothing();\n}\n",
        ),
        ("// nothing yet\n", "fn works() {\n}\n"),
        ("// nothing yet\n", "fn works() {}\n"),
        ("// nothing yet\n", "let works = 1;\nfn works() {\n}\n"),
    ] {
        let job = accept_symbol(before, AFTER);
        write(&job, "code.rs", now);
        if now != "fn works() {}\n" {
            job.is_reopened();
        } else {
            job.must_answer("evidence_changed");
        }
    }
}

/// Rows 8 and 13: a part of the slice is still there.
#[test]
fn a_section_that_is_put_back_opens_its_slice() {
    let job = Job::begin(&["a works"]);
    let before = job.repo.read("README.md");
    let after = before.replace("Read it.", "Run it twice a day.\nAnd once a night.");
    job.repo.write("lib.txt", with(&library(), &OWN));
    job.repo.write("README.md", &after);
    job.repo.commit("Work", Some("a"));
    job.judge();
    let section = proof("a", "a works", "doc:README.md#Use", "doc");
    job.accept(std::slice::from_ref(&section)).ok();
    // A part that stays is anchored again.
    let part = after.replace("And once a night.", "And never on a Sunday.");
    write(&job, "README.md", &part);
    job.must_answer("evidence_changed");
    // All of it is the basis's text again, with a line of somebody's beside it.
    write(
        &job,
        "README.md",
        &before.replace("Read it.", "Read it.\nOr not."),
    );
    let kept = json!({"no": "part-a", "reason": "the rest is there"});
    job.reground(json!({"select": "b", "evidence": [section], "answers": [kept]}))
        .exits(4)
        .says("evidence_unrelated");
    job.is_reopened();
}

/// Rows 5, 6 and 13: the section is its text.
#[test]
fn a_section_under_another_heading_is_followed() {
    let begin = || {
        let job = Job::begin(&["a works"]);
        let before = job.repo.read("README.md");
        let after = before.replace("Read it.", "Run it twice a day.\nAnd once a night.");
        job.repo.write("README.md", &after);
        job.repo.commit("Work", Some("a"));
        job.judge();
        job.accept(&[proof("a", "a works", "doc:README.md#Use", "doc")])
            .ok();
        (job, after)
    };
    let (job, after) = begin();
    write(
        &job,
        "README.md",
        &after.replace("## Use", "## Usage, in short"),
    );
    job.stands();
    assert_eq!(job.anchor("a"), "doc:README.md#Usage, in short");

    // With another text beside it the report says where it is.
    let (job, after) = begin();
    let more = after
        .replace("## Use", "## Usage")
        .replace("a night.", "a night.\nNever at noon.");
    write(&job, "README.md", &more);
    job.must_answer("evidence_changed");
    let again = json!([proof("a", "a works", "doc:README.md#Usage", "doc")]);
    job.reground(json!({"select": "b", "evidence": again})).ok();

    // A copy of it hides no text that was put back, and a heading alone is no section.
    let (job, after) = begin();
    write(
        &job,
        "README.md",
        &after.replace("Run it twice a day.\nAnd once a night.", "Read it."),
    );
    job.is_reopened();
}

/// Row 8, of a test.
#[test]
fn a_test_that_is_put_back_opens_its_slice() {
    let before = "fn adds() {\n    one plus one is there\n}\n";
    let after = before.replace("is there", "is two");
    let gate = "sed -n 's/^fn \\([a-z_]*\\).*/test \\1 ... ok/p' tests.txt\n";
    let job = Job::begin_with(
        &["a works", "it adds"],
        &[("tests.txt", before), ("check.sh", gate)],
    );
    job.plan_anew(GATE);
    job.repo.write("lib.txt", with(&library(), &OWN));
    job.repo.write("tests.txt", &after);
    job.repo.commit("Work", Some("a"));
    job.judge();
    job.accept(&[
        proof("a", "a works", "lib.txt:5", "observed"),
        proof("a", "it adds", "test:adds", "test"),
    ])
    .ok();
    write(&job, "tests.txt", before);
    job.is_reopened();
}
