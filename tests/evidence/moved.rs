//! A slice's own text that somebody moves to another place, whole or in part.

use crate::job::{Job, OWN, library, proof, with};
use serde_json::json;

const FIRST: &str = "the first line of slice a";

/// Somebody moves the first own line of slice `a` to another file, and writes beside it there; then
/// the slice goes on.
fn make_moved_on_the_way() -> Job {
    let job = Job::begin(&["a works"]);
    job.repo.write("old.txt", "somebody's text\n");
    job.repo.commit("Before", None);
    job.repo
        .write_commit_for("a", "lib.txt", &with(&library(), &OWN));
    job.repo
        .write("lib.txt", with(&library(), &[(5, ""), OWN[1]]));
    job.repo
        .write("moved.txt", format!("{FIRST}\nsomebody wrote this line\n"));
    job.repo
        .write("beside.txt", "somebody wrote this as well\n");
    job.git(&["update-index", "--chmod=+x", "old.txt"]);
    job.git(&["add", "lib.txt", "moved.txt", "beside.txt"]);
    job.git(&["commit", "-q", "-m", "Somebody else's"]);
    job.git(&["checkout", "-q", "--", "."]);
    let last = with(
        &library(),
        &[(5, ""), OWN[1], (17, "the last line of slice a")],
    );
    job.repo.write_commit_for("a", "lib.txt", &last);
    job.judge();
    job
}

/// Row 5.
#[test]
fn own_text_that_was_moved_before_the_slice_was_reported_is_its_own() {
    let job = make_moved_on_the_way();
    job.accept(&[proof("a", "a works", "moved.txt:1", "observed")])
        .ok();
    job.stands();
    // It is followed from there as from anywhere.
    job.repo.write("moved.txt", "another text altogether\n");
    job.repo.commit("Rewrite", None);
    let verified = job.repo.cook(&["verify", "control-plane"]).ok();
    verified.says("proof_stale");
}

#[test]
fn what_somebody_writes_beside_moved_text_is_nobody_s_proof() {
    let job = make_moved_on_the_way();
    for wrong in [
        "moved.txt:2",
        "beside.txt:1",
        "entry:moved.txt",
        "entry:old.txt",
        "old.txt:1",
    ] {
        job.accept(&[proof("a", "a works", wrong, "observed")])
            .exits(4)
            .says("evidence_unrelated");
    }
}

/// Within one file too.
#[test]
fn own_text_that_was_moved_within_its_file_is_its_own() {
    let job = Job::begin(&["a works"]);
    job.write_own("a");
    let moved = format!("line 1 of the library\n{FIRST}\nsomebody wrote this line");
    job.foreign(&[(1, &moved), (5, ""), OWN[1]]);
    let last = [
        (1, &*moved),
        (5, ""),
        OWN[1],
        (17, "the last line of slice a"),
    ];
    job.repo
        .write_commit_for("a", "lib.txt", &with(&library(), &last));
    job.judge();
    job.accept(&[proof("a", "a works", "lib.txt:3", "observed")])
        .exits(4)
        .says("evidence_unrelated");
    job.accept(&[proof("a", "a works", "lib.txt:2", "observed")])
        .ok();
    job.stands();
}

/// A copy of what stands elsewhere at the basis was not moved there by anybody.
#[test]
fn text_that_stood_there_before_was_not_moved_there() {
    let job = Job::begin(&["a works"]);
    job.repo
        .write("other.txt", format!("{FIRST}\nanother line\n"));
    job.repo.commit("Before", None);
    job.write_own("a");
    job.foreign(&[(5, ""), OWN[1]]);
    job.repo
        .write("other.txt", format!("another line\n{FIRST}\n"));
    job.repo.commit("Order", None);
    let last = [(5, ""), OWN[1], (17, "the last line of slice a")];
    job.repo
        .write_commit_for("a", "lib.txt", &with(&library(), &last));
    job.judge();
    job.accept(&[proof("a", "a works", "other.txt:2", "observed")])
        .exits(4)
        .says("evidence_unrelated");
}

const BLOCK: [&str; 3] = [
    "one line of slice a",
    "two lines of slice a",
    "three lines of slice a",
];

/// Slice `a` is done by three lines in a file of its own.
fn block_done() -> Job {
    let job = Job::begin(&["a works"]);
    job.repo
        .write_commit_for("a", "own.txt", &format!("{}\n", BLOCK.join("\n")));
    job.judge();
    job.accept(&[proof("a", "a works", "own.txt:3", "observed")])
        .ok();
    job
}

/// Row 5 and 6: what is left of a block stands, what was moved is moved, and the rest is rewritten.
#[test]
fn a_part_of_own_text_that_was_moved_is_its_own() {
    let job = block_done();
    job.repo.write("moved.txt", format!("{}\n", BLOCK[0]));
    job.repo
        .write("own.txt", format!("{}\n{}\n", BLOCK[1], BLOCK[2]));
    job.repo.commit("Move", None);
    job.repo
        .write("own.txt", format!("{}\nsomebody wrote this\n", BLOCK[1]));
    job.repo.commit("Rewrite", None);
    job.must_answer("evidence_changed");
    let again = json!([proof("a", "a works", "moved.txt:1", "observed")]);
    job.reground(json!({"select": "b", "evidence": again})).ok();
    assert_eq!(job.status("a"), "done");
}

#[test]
fn beside_a_part_that_was_moved_nobody_else_s_text_counts() {
    let job = block_done();
    job.repo.write(
        "moved.txt",
        format!("somebody wrote this first\n{}\n", BLOCK[0]),
    );
    job.repo
        .write("own.txt", format!("{}\nsomebody wrote this\n", BLOCK[1]));
    job.repo.commit("Move and rewrite", None);
    job.must_answer("evidence_changed");
    let again = json!([proof("a", "a works", "moved.txt:1", "observed")]);
    job.reground(json!({"select": "b", "evidence": again}))
        .exits(4)
        .says("evidence_unrelated");
}

/// Nothing was taken back where each line of a block stands somewhere.
#[test]
fn a_block_that_was_moved_apart_stands_whole() {
    let job = block_done();
    job.repo.write("one.txt", format!("{}\n", BLOCK[0]));
    job.repo
        .write("two.txt", format!("{}\n{}\n", BLOCK[1], BLOCK[2]));
    job.git(&["rm", "-q", "own.txt"]);
    job.repo.commit("Move apart", None);
    let due = job.repo.due();
    job.stands();
    assert_eq!(job.anchor("a"), "two.txt:2", "{due}");
}

/// What was moved before a slice is taken up again stays its own.
#[test]
fn a_part_that_was_moved_is_kept_when_the_slice_is_reopened() {
    let job = block_done();
    job.repo
        .write("moved.txt", format!("{}\nsomebody wrote this\n", BLOCK[0]));
    job.repo
        .write("own.txt", format!("somebody wrote that\n{}\n", BLOCK[2]));
    job.repo.commit("Move and rewrite", None);
    // The commit that is reported is the slice's, whoever made it.
    job.repo.write("other.txt", "somebody wrote another file\n");
    job.repo.commit("Beside", None);
    let head = job.repo.head();
    let reopen = json!([{"slice_id": "a", "why": "look at it again", "at": head}]);
    job.reground(json!({"reopen": reopen, "select": "a"})).ok();
    job.judge();
    for wrong in ["moved.txt:2", "own.txt:1"] {
        job.accept(&[proof("a", "a works", wrong, "observed")])
            .exits(4)
            .says("evidence_unrelated");
    }
    job.accept(&[proof("a", "a works", "moved.txt:1", "observed")])
        .ok();
    job.stands();
}

/// Row 8: what the slice moved and somebody moves back is the basis's text again.
#[test]
fn a_move_that_is_taken_back_is_a_revert() {
    let seven = "line 7 of the library";
    let job = Job::begin(&["a works"]);
    let moved = format!("line 15 of the library\n{seven}");
    job.repo
        .write_commit_for("a", "lib.txt", &with(&library(), &[(7, ""), (15, &moved)]));
    job.judge();
    job.accept(&[proof("a", "a works", "lib.txt:15", "observed")])
        .ok();
    job.git(&["revert", "--no-edit", "HEAD"]);
    job.is_reopened();

    let job = Job::begin(&["a works"]);
    job.repo.write("apart.txt", format!("{seven}\n"));
    job.repo
        .write_commit_for("a", "lib.txt", &with(&library(), &[(7, "")]));
    job.judge();
    job.accept(&[proof("a", "a works", "apart.txt:1", "observed")])
        .ok();
    job.git(&["revert", "--no-edit", "HEAD"]);
    job.is_reopened();
}

/// Somebody wrote the same elsewhere, and then the slice's work was taken back.
#[test]
fn equal_lines_that_stood_elsewhere_before_hold_nothing_up() {
    let job = Job::begin(&["a works"]);
    let own = job.write_own("a");
    job.judge();
    job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
        .ok();
    let notes: Vec<&str> = OWN.iter().map(|(_, text)| *text).collect();
    job.repo
        .write("notes.txt", format!("notes\n{}\n", notes.join("\n")));
    job.repo.commit("Take notes", None);
    job.git(&["revert", "--no-edit", &own]);
    job.is_reopened();
}

/// Row 5: what is proved as a whole, or by its heading, follows its file like lines do.
#[test]
fn an_entry_and_a_section_follow_their_renamed_file() {
    let job = Job::begin(&["it looks", "it is told"]);
    let manual = "# Manual\n\n## Usage\n\nCall it with one argument.\n";
    job.repo.write("logo.bin", b"\0one");
    job.repo.write("man.md", manual);
    job.repo.commit("Work on a", Some("a"));
    job.judge();
    job.accept(&[
        proof("a", "it looks", "entry:logo.bin", "observed"),
        proof("a", "it is told", "doc:man.md#Usage", "doc"),
    ])
    .ok();
    std::fs::create_dir(job.repo.root.join("docs")).unwrap();
    job.git(&["mv", "logo.bin", "docs/logo.bin"]);
    job.git(&["mv", "man.md", "docs/man.md"]);
    job.repo.commit("Move both", None);
    job.stands();
    assert_eq!(job.anchor("a"), "entry:docs/logo.bin");
    // From there as before: as it was stamped, or changed.
    job.repo.write("docs/logo.bin", b"\0two");
    job.repo.commit("Draw it anew", None);
    job.repo.write_commit_for("b", "b.txt", "b works\n");
    job.judge();
    let done = proof("b", "b works", "b.txt:1", "observed");
    job.accept(std::slice::from_ref(&done))
        .exits(4)
        .says("evidence_changed")
        .says("entry:docs/logo.bin");
    let again = proof("a", "it looks", "entry:docs/logo.bin", "observed");
    job.accept(&[done, again]).ok();
    assert_eq!(job.status("a"), "done");
}

/// Two files alike, each of a slice: where one is reverted, the other was there before and is not its new name.
#[test]
fn a_file_that_stood_beside_it_is_not_its_new_name() {
    let twin = |name: &str| {
        let lines = (0..12).map(|at| format!("line {at} that both files have\n"));
        lines.collect::<String>() + &format!("and what {name} alone says here\n")
    };
    let job = Job::begin(&["a works", "a is told"]);
    job.repo.write_commit_for("a", "a.txt", &twin("a"));
    job.judge();
    job.accept(&[
        proof("a", "a works", "a.txt:3", "observed"),
        proof("a", "a is told", "a.txt:13", "observed"),
    ])
    .ok();
    let of_a = job.repo.head();
    job.select("b");
    job.repo.write_commit_for("b", "b.txt", &twin("b"));
    job.judge();
    job.accept(&[proof("b", "b works", "b.txt:13", "observed")])
        .ok();
    job.git(&["revert", "--no-edit", &of_a]);
    job.is_reopened();
}
