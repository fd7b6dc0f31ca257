//! A slice that is to be accepted, and what proves it.

use crate::job::{Job, OWN, library, list_planned, proof, with};
use serde_json::json;

/// Row 7.
#[test]
fn what_a_merge_brings_in_is_somebody_elses() {
    let job = Job::begin(&["a works"]);
    let basis = job.repo.head();
    job.git(&["checkout", "-q", "-b", "colleague"]);
    // Whoever's trailer it bears.
    job.repo.write_commit_for(
        "a",
        "lib.txt",
        &with(&library(), &[(10, "a colleague wrote this line")]),
    );
    job.git(&["checkout", "-q", "main"]);
    job.write_own("a");
    job.git(&["merge", "-q", "--no-edit", "colleague"]);
    job.judge();
    job.accept(&[proof("a", "a works", "lib.txt:10", "observed")])
        .exits(4)
        .says("evidence_unrelated");
    job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
        .ok();

    // The other way: the slice's branch is merged into the colleague's, which becomes the branch.
    let job = Job::begin(&["a works"]);
    assert_ne!(basis, "");
    job.git(&["checkout", "-q", "-b", "colleague"]);
    job.repo
        .write_commit_for("a", "other.txt", "a colleague wrote this line\n");
    job.git(&["checkout", "-q", "main"]);
    job.write_own("a");
    job.git(&["merge", "-q", "--no-ff", "--no-edit", "colleague"]);
    job.judge();
    job.accept(&[proof("a", "a works", "other.txt:1", "observed")])
        .exits(4)
        .says("evidence_unrelated");
    job.accept(&[proof("a", "a works", "lib.txt:15", "observed")])
        .ok();
}

/// Row 7: of a merge, what differs from every parent is own.
#[test]
fn the_lines_that_only_the_merge_has_are_its_own() {
    let job = Job::begin(&["a works"]);
    job.git(&["checkout", "-q", "-b", "colleague"]);
    job.repo.write(
        "lib.txt",
        with(&library(), &[(5, "a colleague wrote this line")]),
    );
    job.repo.commit("A colleague's", None);
    job.git(&["checkout", "-q", "main"]);
    job.write_own("a");
    let mut merge = job.repo.command("git");
    merge.args(["merge", "-q", "colleague"]);
    assert!(!merge.output().unwrap().status.success(), "no conflict");
    job.repo.write(
        "lib.txt",
        with(
            &library(),
            &[(5, "both wrote this line in the end"), OWN[1]],
        ),
    );
    job.git(&["add", "-A"]);
    job.git(&["commit", "-q", "--no-edit"]);
    job.judge();
    job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
        .ok();
}

#[test]
fn text_that_the_slice_left_alone_proves_nothing() {
    let job = Job::begin(&["a works"]);
    job.write_own("a");
    job.judge();
    for (anchor, basis) in [
        ("lib.txt:4", "observed"),
        ("README.md:1", "observed"),
        ("doc:README.md", "doc"),
    ] {
        job.accept(&[proof("a", "a works", anchor, basis)])
            .exits(4)
            .says("evidence_unrelated");
    }
}

/// Row 11.
#[test]
fn a_slice_that_only_deletes_is_proved_by_what_is_gone() {
    let job = Job::begin(&["the file is gone", "the line is gone"]);
    job.git(&["rm", "-q", "drop.txt"]);
    job.repo.write("lib.txt", with(&library(), &[(7, "")]));
    job.repo.commit("Take away", Some("a"));
    job.judge();
    let line = |anchor: &str| proof("a", "the line is gone", anchor, "observed");
    let file = |anchor: &str| proof("a", "the file is gone", anchor, "observed");
    for (one, two) in [
        ("gone:never.txt", "gone:lib.txt#line 7 of the library"),
        ("gone:drop.txt", "gone:lib.txt#no such line was there"),
    ] {
        job.accept(&[file(one), line(two)])
            .exits(4)
            .says("evidence_unrelated");
    }
    job.accept(&[
        file("gone:lib.txt"),
        line("gone:lib.txt#line 7 of the library"),
    ])
    .exits(4)
    .says("evidence_unverified");
    job.accept(&[
        file("gone:drop.txt"),
        line("gone:lib.txt#line 7 of the library"),
    ])
    .ok();
    job.repo.write("lib.txt", with(&library(), &[]));
    job.repo.commit("Put it back", None);
    job.is_reopened();
}

/// Row 12. Nor has it lines that tell who took it away.
#[test]
fn a_file_without_lines_is_taken_away_as_a_whole() {
    let files = [("picture.bin", "\0a\n"), ("theirs.bin", "\0b\n")];
    let job = Job::begin_with(&["the picture is gone"], &files);
    let remove = |name: &str| std::fs::remove_file(job.repo.root.join(name)).unwrap();
    remove("picture.bin");
    job.repo.commit("Drop the picture", Some("a"));
    remove("theirs.bin");
    job.repo.commit("Somebody else's", None);
    job.repo
        .write_commit_for("a", "lib.txt", &with(&library(), &OWN[..1]));
    job.judge();
    let gone = |anchor: &str| [proof("a", "the picture is gone", anchor, "observed")];
    job.accept(&gone("gone:theirs.bin"))
        .exits(4)
        .says("evidence_unrelated");
    job.accept(&gone("gone:picture.bin")).ok();
    job.repo.write("picture.bin", "\0a\n");
    job.repo.commit("Somebody else's too", None);
    job.is_reopened();
}

/// Row 12.
#[test]
fn what_has_no_lines_is_proved_as_an_entry() {
    let job = Job::begin(&["the picture is there", "the script runs"]);
    job.repo
        .write("picture.bin", b"\x89PNG\0\x01\x02".as_slice());
    job.repo
        .write("drop.txt", "this file is to go\nand this line as well\n");
    job.git(&["update-index", "--chmod=+x", "drop.txt"]);
    job.git(&["add", "picture.bin"]);
    job.git(&["commit", "-q", "-m", "Picture\n\nCook-Slice: a"]);
    job.git(&["checkout", "-q", "--", "."]);
    job.judge();
    let picture = |anchor: &str| proof("a", "the picture is there", anchor, "observed");
    let script = proof("a", "the script runs", "entry:drop.txt", "observed");
    job.accept(&[picture("entry:lib.txt"), script.clone()])
        .exits(4)
        .says("evidence_unrelated");
    job.accept(&[picture("entry:picture.bin"), script]).ok();
    // Changed since: as text that is rewritten.
    job.repo.write("picture.bin", b"\x89PNG\0\x03".as_slice());
    job.repo.commit("Another picture", None);
    job.must_answer("evidence_changed");
    let again = json!([proof(
        "a",
        "the picture is there",
        "entry:picture.bin",
        "observed"
    )]);
    job.reground(json!({"select": "b", "evidence": again})).ok();
}

#[test]
fn a_generated_file_alone_proves_nothing() {
    let job = Job::begin(&["a works"]);
    let text = "// Code generated by x. DO NOT EDIT.\nlet everything = works();\n";
    job.repo.write_commit_for("a", "made.txt", text);
    job.judge();
    job.accept(&[proof("a", "a works", "made.txt:2", "observed")])
        .exits(4)
        .says("evidence_unrelated");

    // By a tracked file of attributes; what the repository's own settings say changes nothing.
    let job = Job::begin_with(
        &["a works"],
        &[(".gitattributes", "*.pb linguist-generated\n")],
    );
    job.repo.write("sub/made.pb", "let everything = works();\n");
    job.repo
        .write("sub/.gitattributes", "x -linguist-generated\n");
    job.write_own("a");
    let info = job.repo.root.join(".git/info/attributes");
    std::fs::write(info, "*.pb -linguist-generated\n").unwrap();
    job.judge();
    for wrong in ["sub/made.pb:1", "sub/made.pb:everything"] {
        job.accept(&[proof("a", "a works", wrong, "observed")])
            .exits(4)
            .says("evidence_unrelated");
    }
    job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
        .ok();
}

/// Row 13.
#[test]
fn a_section_and_a_symbol_stand_by_their_content() {
    let job = Job::begin(&["the use is said", "the function is there"]);
    let readme = job.repo.read("README.md");
    job.repo.write(
        "README.md",
        readme.replace("Read it.", "Run it twice a day."),
    );
    job.repo.write(
        "code.rs",
        "fn work() {\n    call_the_first();\n    call_the_second();\n}\n",
    );
    job.repo.commit("Work", Some("a"));
    job.judge();
    let section = |anchor: &str| proof("a", "the use is said", anchor, "doc");
    let symbol = proof("a", "the function is there", "code.rs:work", "observed");
    job.accept(&[section("doc:README.md#End"), symbol.clone()])
        .exits(4)
        .says("evidence_unrelated");
    job.accept(&[section("doc:README.md#Use"), symbol]).ok();
    let readme = job.repo.read("README.md");
    job.repo
        .write("README.md", readme.replace("That is all.", "That is more."));
    job.repo.commit("Elsewhere", None);
    job.reground(json!({"policy": {"to": "blocked", "why": "x", "exit": "cook resume"}}))
        .ok();
    job.repo.cook(&["resume", "--as-user"]).ok();
    let readme = job.repo.read("README.md");
    job.repo
        .write("README.md", readme.replace("twice", "three times"));
    job.repo.commit("The section", None);
    job.must_answer("evidence_changed");
}

/// Row 15.
#[test]
fn a_receipt_that_held_at_the_basis_is_no_news() {
    let job = Job::begin(&["a works", "it runs"]);
    job.repo.trust("sh check.sh");
    let mut slices = list_planned(&job.repo);
    for slice in &mut slices {
        slice["verification_commands"] = json!(["git --version"]);
    }
    job.repo.trust("git --version");
    // The plan changes while the slice is in work: the next re-ground is asked for first.
    let report = job.repo.implementer_report(Some("a command is missing"));
    job.repo.record("implementer", report).ok();
    job.reground(json!({"plan": {"plan_basis": "x", "candidate_slices": slices}, "select": "a"}))
        .ok();
    job.write_own("a");
    job.judge();
    let runs = proof("a", "it runs", "cmd:git --version#exit", "output");
    let works = |anchor: &str, basis: &str| proof("a", "a works", anchor, basis);
    job.accept(&[works("commit:HEAD", "observed"), runs.clone()])
        .exits(4);
    job.accept(&[works("lib.txt:5", "observed"), runs])
        .ok()
        .says("proof_not_new");
}

#[test]
fn a_slice_without_one_new_proof_is_not_accepted() {
    let job = Job::begin(&["it runs"]);
    job.repo.trust("git --version");
    let report = job.repo.implementer_report(Some("a command is missing"));
    job.repo.record("implementer", report).ok();
    let mut slices = list_planned(&job.repo);
    for slice in &mut slices {
        slice["verification_commands"] = json!(["git --version"]);
    }
    job.reground(json!({"plan": {"plan_basis": "x", "candidate_slices": slices}, "select": "a"}))
        .ok();
    job.write_own("a");
    job.judge();
    job.accept(&[proof("a", "it runs", "cmd:git --version#exit", "output")])
        .exits(4)
        .says("evidence_not_new");
}

/// Row 18.
#[test]
fn a_commit_shows_nothing_of_what_it_holds() {
    let job = Job::begin(&["a works"]);
    let commit = job.write_own("a");
    job.judge();
    job.accept(&[proof(
        "a",
        "a works",
        &format!("commit:{commit}"),
        "observed",
    )])
    .exits(4)
    .says("evidence_unrelated");
}
