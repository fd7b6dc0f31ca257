//! What random histories (`random`) found. Those that are ignored fail until cook is mended, and the random
//! histories leave them out (`random/refused.rs`).

use crate::job::{Job, OWN, library, proof, with};
use crate::support::Run;
use serde_json::json;

/// `protocol/completion.md#evidence-through-history`: a deletion that is there again is lost.
#[test]
fn a_line_that_is_back_in_a_file_renamed_before_the_acceptance_is_lost() {
    let job = Job::begin(&["a works"]);
    job.git(&["mv", "lib.txt", "new.txt"]);
    job.repo.commit("Somebody's rename", None);
    let work = with(&library(), &[(5, ""), OWN[1]]);
    job.repo.write_commit_for("a", "new.txt", &work);
    job.judge();
    let gone = "gone:lib.txt#line 5 of the library";
    job.accept(&[proof("a", "a works", gone, "observed")]).ok();
    job.repo.write("new.txt", with(&library(), &[OWN[1]]));
    job.repo.commit("Somebody puts the line back", None);
    job.is_reopened();
}

/// Its own text stands, though the line beside it was rewritten before the acceptance.
#[test]
fn a_line_beside_a_rewritten_one_proves_what_it_is() {
    let job = Job::begin(&["a works"]);
    let two = "the first line of slice a\nand the second line of slice a";
    let text = with(&library(), &[(5, two)]);
    job.repo.write_commit_for("a", "lib.txt", &text);
    job.judge();
    job.foreign(&[(5, "somebody's line\nand the second line of slice a")]);
    job.accept(&[proof("a", "a works", "lib.txt:6", "observed")])
        .ok();
}

/// Two criteria may change their anchors with one another.
#[test]
fn two_criteria_may_swap_their_anchors() {
    let job = Job::begin(&["one", "two"]);
    let head = job.write_own("a");
    job.judge();
    let claims = |one: &str, two: &str| {
        [
            proof("a", "one", one, "observed"),
            proof("a", "two", two, "observed"),
        ]
    };
    job.accept(&claims("lib.txt:5", "lib.txt:15")).ok();
    job.reground(json!({"reopen": [{"slice_id": "a", "why": "look at it again", "at": head}]}))
        .ok();
    job.reground(json!({"select": "a"})).ok();
    job.judge();
    job.accept(&claims("lib.txt:15", "lib.txt:5")).ok();
}

/// What is asked for is taken: a colleague's commit that forked off before the basis is foreign.
#[test]
fn a_commit_beside_the_basis_is_not_asked_for() {
    let job = Job::with_done();
    job.select_b().ok();
    commit_colleague_from(&job, "HEAD~1", Some("b"));
    job.repo.write_commit_for("b", "b.txt", "b works\n");
    job.report().ok();
    merge_into_colleague(&job);
    let due = job.repo.due();
    let action = due["action"].as_str().unwrap().to_owned();
    assert!(!action.contains("are not reported"), "{action}");
}

/// The slice's commits are its own, though the parent that was merged into has one of them too.
#[test]
fn work_stays_its_own_when_it_is_merged_into_a_branch_that_began_amid_it() {
    let job = Job::begin(&["the line is there", "the file is gone"]);
    let amid = job
        .repo
        .write_commit_for("a", "lib.txt", &with(&library(), &OWN[..1]));
    job.git(&["rm", "-q", "drop.txt"]);
    job.repo.commit("More work", Some("a"));
    accept_both(&job).ok();
    commit_colleague_from(&job, &amid, None);
    merge_into_colleague(&job);
    job.git(&["revert", "--no-edit", &amid]);
    job.is_reopened();
    job.repo.cook(&["answer", "yes", "--as-user"]).ok();
    job.reground(json!({})).ok();
    job.reground(json!({"select": "a"})).ok();
    let again = with(&library(), &[(5, "the line of slice a once more")]);
    job.repo.write_commit_for("a", "lib.txt", &again);
    accept_both(&job).ok();
}

/// What is asked for is taken: a commit that changes nothing is none of the slice's work.
#[test]
fn a_commit_without_a_change_is_not_asked_for() {
    let job = Job::with_done();
    job.select_b().ok();
    job.repo.commit("Nothing", Some("b"));
    let due = job.repo.due();
    let action = due["action"].as_str().unwrap().to_owned();
    assert!(!action.contains("are not reported"), "{action}");
}

/// Amended with the same tree: nothing is to be done.
#[test]
fn a_reported_commit_that_is_amended_stays_the_slices_without_a_trailer_too() {
    let job = Job::begin(&["a works"]);
    job.write_own("a");
    job.report().ok();
    job.git(&["commit", "-q", "--amend", "-m", "Amended"]);
    assert_eq!(job.repo.rule(), "5");
}

/// Work that survived a squash whole is its own when it is taken up again where it stands.
#[test]
fn what_a_squash_without_a_trailer_holds_stays_its_own_when_it_is_reopened() {
    let job = Job::begin(&["the line is there", "the file is gone"]);
    let basis = job.repo.head();
    job.git(&["rm", "-q", "drop.txt"]);
    job.write_own("a");
    accept_both(&job).ok();
    job.git(&["reset", "-q", "--soft", &basis]);
    job.repo.commit("All of it", None);
    job.repo.write("other.txt", "a colleague's file\n");
    let at = job.repo.commit("Somebody else's", None);
    job.reground(json!({"reopen": [{"slice_id": "a", "why": "look at it again", "at": at}]}))
        .ok();
    job.reground(json!({"select": "a"})).ok();
    accept_both(&job).ok();
}

/// What is asked for is taken: the commit that a reopening named is no longer on HEAD.
#[test]
fn a_commit_that_left_head_is_not_asked_for() {
    let job = Job::with_done();
    let at = job.repo.head();
    job.reground(json!({"reopen": [{"slice_id": "a", "why": "look at it again", "at": at}]}))
        .ok();
    job.git(&["commit", "-q", "--amend", "-m", "Amended"]);
    job.reground(json!({"select": "a"})).ok();
    let due = job.repo.due();
    let action = due["action"].as_str().unwrap().to_owned();
    assert!(!action.contains(&at[..12]), "{action}");
}

/// Git sees no rename where most of a file is new; the line is there all the same.
#[test]
fn a_line_that_is_back_in_a_new_file_is_lost() {
    let job = Job::begin(&["a works"]);
    let work = with(&library(), &[(5, ""), OWN[1]]);
    job.repo.write_commit_for("a", "lib.txt", &work);
    job.judge();
    let gone = "gone:lib.txt#line 5 of the library";
    job.accept(&[proof("a", "a works", gone, "observed")]).ok();
    job.git(&["rm", "-q", "lib.txt"]);
    let other = format!("another text\n{}\nline 5 of the library\n", OWN[1].1);
    job.repo.write("new.txt", other);
    job.repo.commit("Write it anew", None);
    job.is_reopened();
}

/// The same where the new file is wrapped otherwise: the line is a part of one.
#[test]
fn a_line_that_is_back_as_a_part_of_one_in_a_new_file_is_lost() {
    let halves = |line: &str| format!("{line} begins here\nand {line} ends there\n");
    let wrapped: String = library().iter().map(|line| halves(line)).collect();
    let joined = wrapped.replace("here\n", "here ");
    for (text, is_back) in [
        (joined.clone(), true),
        (
            joined.replace("line 5 of the library begins here ", ""),
            false,
        ),
    ] {
        let job = Job::begin_with(&["a works"], &[("wrapped.txt", &wrapped)]);
        let work = wrapped.replace("line 5 of the library begins here\n", "");
        job.repo.write_commit_for("a", "wrapped.txt", &work);
        job.judge();
        let gone = "gone:wrapped.txt#line 5 of the library begins here";
        job.accept(&[proof("a", "a works", gone, "observed")]).ok();
        job.git(&["rm", "-q", "wrapped.txt"]);
        job.repo.write("joined.txt", text);
        job.repo.commit("Write it anew", None);
        match is_back {
            true => job.is_reopened(),
            false => drop(job.stands()),
        }
    }
}

/// A file that was no text on the way counts as a whole: what stood in it before is nobody's work.
#[test]
fn what_a_slice_puts_back_whole_is_not_all_its_own() {
    let job = Job::begin(&["a works"]);
    job.repo.write("lib.txt", b"\0 no text");
    job.repo.commit("Somebody breaks it", None);
    job.repo
        .write_commit_for("a", "lib.txt", &with(&library(), &OWN));
    job.judge();
    job.accept(&[proof("a", "a works", "lib.txt:9", "observed")])
        .expect_refused("evidence_unrelated");
    job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
        .ok();
}

fn accept_both(job: &Job) -> Run {
    job.judge();
    job.accept(&[
        proof("a", "the line is there", "lib.txt:5", "observed"),
        proof("a", "the file is gone", "gone:drop.txt", "observed"),
    ])
}

fn commit_colleague_from(job: &Job, commit: &str, slice: Option<&str>) {
    job.git(&["checkout", "-q", "-b", "colleague", commit]);
    job.repo.write("other.txt", "a colleague's file\n");
    job.repo.commit("Colleague", slice);
    job.git(&["checkout", "-q", "main"]);
}

fn merge_into_colleague(job: &Job) {
    job.git(&["checkout", "-q", "colleague"]);
    job.git(&["merge", "-q", "--no-ff", "-m", "Merge", "main"]);
    job.git(&["checkout", "-q", "-B", "main"]);
}

/// What stands in the place of rewritten text may be named where the text had gone before.
#[test]
fn the_place_that_is_named_for_text_that_moved_and_was_rewritten_is_taken() {
    let job = Job::with_done();
    job.repo
        .write("lib.txt", with(&library(), &[(5, ""), OWN[1]]));
    job.repo.write("more.txt", format!("{}\n", OWN[0].1));
    job.repo.commit("Somebody moves a line", None);
    job.reground(json!({"policy": {"to": "await_user_input", "question": "is this wanted?"}}))
        .ok();
    job.repo.cook(&["answer", "yes", "--as-user"]).ok();
    assert_eq!(job.anchor("a"), "more.txt:1");
    job.repo
        .write("more.txt", "somebody says it in his own words\n");
    job.repo.commit("Somebody rewrites it there", None);
    job.must_answer("\"anchor\": \"more.txt:1\"");
    let again = json!([proof("a", "a works", "more.txt:1", "observed")]);
    let part = json!([{"no": "part-a", "reason": "what is left of it does"}]);
    job.reground(json!({"select": "b", "evidence": again, "answers": part}))
        .ok();
    assert_eq!(job.status("a"), "done");
}

/// Line ends, indentation and line breaks are nobody's words.
#[test]
fn what_was_only_shaped_otherwise_is_no_ones_work() {
    let work = with(&library(), &OWN);
    let broken = work.replace("line 17 of the", "line 17 of\nthe");
    let shapes = [
        work.replace('\n', "\r\n"),
        work.replace("line", "\tline"),
        broken,
    ];
    for shape in shapes {
        let job = Job::begin(&["a works"]);
        job.repo.write_commit_for("a", "lib.txt", &shape);
        job.judge();
        job.accept(&[proof("a", "a works", "lib.txt:17", "observed")])
            .exits(4)
            .says("evidence_unrelated");
        job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
            .ok();
    }
}

#[test]
fn lines_that_are_back_in_another_shape_are_lost() {
    let job = Job::begin(&["a works"]);
    let work = with(&library(), &[(8, ""), (9, ""), OWN[1]]);
    job.repo.write_commit_for("a", "lib.txt", &work);
    job.judge();
    let gone = "gone:lib.txt#line 8 of the library";
    job.accept(&[proof("a", "a works", gone, "observed")]).ok();
    let back = work.replace(
        "line 7 of the library\n",
        "line 7 of the library\nline 8 of the library line 9 of the library\n",
    );
    job.repo.write("lib.txt", back);
    job.repo.commit("Somebody puts both back in one line", None);
    job.is_reopened();
}

/// What is left of lines that were written together is still the slice's own.
#[test]
fn lines_beside_one_that_is_deleted_are_its_own_and_stand() {
    let job = Job::begin(&["a works"]);
    let lines = "the first new line\nthe second new line\nthe third new line\n";
    job.repo.write_commit_for("a", "new.txt", lines);
    job.judge();
    let without = |line: &str| lines.replace(&format!("{line}\n"), "");
    job.repo.write("new.txt", without("the second new line"));
    job.repo.commit("Somebody deletes a line", None);
    job.accept(&[proof("a", "a works", "new.txt:2", "observed")])
        .ok();
    job.stands();
    job.repo.write("new.txt", "the third new line\n");
    job.repo.write_commit_for("b", "b.txt", "b works\n");
    job.report().ok();
    job.repo
        .record("reviewer", job.repo.reviewer_report(None))
        .ok();
    job.repo.record("auditor", job.repo.auditor_report()).ok();
    job.accept(&[proof("b", "b works", "b.txt:1", "observed")])
        .ok();
    assert_eq!(job.status("a"), "done");
}

/// A file that somebody renamed on the way is looked at under each of its names.
#[test]
fn work_in_a_file_that_was_renamed_on_the_way_is_its_own() {
    let job = Job::begin(&["the line is there", "the other is gone"]);
    let work = with(&library(), &[OWN[0], (9, "")]);
    job.repo.write_commit_for("a", "lib.txt", &work);
    job.git(&["mv", "lib.txt", "new.txt"]);
    job.repo.commit("Somebody's rename", None);
    job.repo
        .write_commit_for("a", "other.txt", "more of slice a\n");
    job.judge();
    job.accept(&[
        proof("a", "the line is there", "new.txt:5", "observed"),
        proof(
            "a",
            "the other is gone",
            "gone:lib.txt#line 9 of the library",
            "observed",
        ),
    ])
    .ok();

    // One that the slice itself made.
    let job = Job::begin(&["a works"]);
    job.repo.write_commit_for(
        "a",
        "made.txt",
        "the first made line\nthe second made line\n",
    );
    job.git(&["mv", "made.txt", "named.txt"]);
    job.repo.commit("Somebody's rename", None);
    job.repo
        .write_commit_for("a", "other.txt", "more of slice a\n");
    job.judge();
    job.accept(&[proof("a", "a works", "named.txt:1", "observed")])
        .ok();
}

/// What somebody else took away beside the slice's own lines is not the slice's removal, and what the
/// slice took away from lines that somebody else broke anew is.
#[test]
fn a_removal_is_whose_who_removed_it() {
    let job = Job::begin(&["a works", "the line is gone"]);
    job.foreign(&[(5, "")]);
    let work = with(&library(), &[(5, ""), (6, OWN[0].1)]);
    job.repo.write_commit_for("a", "lib.txt", &work);
    job.judge();
    let gone = |line: usize| {
        let anchor = format!("gone:lib.txt#line {line} of the library");
        proof("a", "the line is gone", &anchor, "observed")
    };
    let works = proof("a", "a works", "lib.txt:5", "observed");
    job.accept(&[works.clone(), gone(5)])
        .exits(4)
        .says("evidence_unrelated");
    job.accept(&[works, gone(6)]).ok();

    let job = Job::begin(&["the line is gone"]);
    let broken = with(&library(), &[]).replace(" of the", "\n    of the");
    job.repo.write("lib.txt", &broken);
    job.repo.commit("Somebody's formatter", None);
    let work = broken.replace("line 5\n    of the library\n", "");
    job.repo.write_commit_for("a", "lib.txt", &work);
    job.judge();
    job.accept(&[gone(6)]).exits(4);
    job.accept(&[gone(5)]).ok();
}

/// The library as a formatter breaks it, without some of its lines.
fn break_library(without: &[usize]) -> String {
    let changes: Vec<(usize, &str)> = without.iter().map(|number| (*number, "")).collect();
    with(&library(), &changes).replace(" of the", "\n    of the")
}

/// `a` begins on what somebody has just committed, and the history leaves that behind.
fn begin_left_behind(text: &str) -> Job {
    let job = Job::begin(&["the line is gone"]);
    let back = job.repo.head();
    job.select_instead("b");
    job.repo.write("lib.txt", text);
    job.repo.commit("Somebody's formatter", None);
    job.select_instead("a");
    job.git(&["reset", "-q", "--hard", &back]);
    job.reground(json!({})).ok();
    job
}

fn line_gone(path: &str, line: usize) -> serde_json::Value {
    let anchor = format!("gone:{path}#line {line} of the library");
    proof("a", "the line is gone", &anchor, "observed")
}

/// What somebody wrote at a basis that was left, and the slice commits in another shape, is not the slice's.
#[test]
fn what_stood_at_a_basis_that_was_left_is_nobody_s_in_another_shape() {
    let theirs = "a colleague wrote this line";
    let job = begin_left_behind(&with(&library(), &[(9, theirs)]));
    let shaped = [(5, ""), (9, "a colleague\n    wrote this line"), OWN[1]];
    job.repo
        .write_commit_for("a", "lib.txt", &with(&library(), &shaped));
    job.judge();
    for lines in ["8", "9", "8-9"] {
        let anchor = format!("lib.txt:{lines}");
        job.accept(&[proof("a", "the line is gone", &anchor, "observed")])
            .expect_refused("evidence_unrelated");
    }
    job.accept(&[line_gone("lib.txt", 5)]).ok();
}

/// A squash that leaves a file as somebody left it on top of the slice's work.
#[test]
fn own_work_that_is_squashed_with_what_came_after_it_stays_its_own() {
    let job = Job::begin(&["a works", "the line is gone"]);
    let back = job.repo.head();
    job.repo
        .write_commit_for("a", "lib.txt", &with(&library(), &[(5, ""), OWN[1]]));
    job.report().ok();
    job.foreign(&[
        (5, ""),
        (9, ""),
        (10, "a colleague wrote this line"),
        OWN[1],
    ]);
    job.judge_rest();
    job.accept_nothing();
    job.git(&["reset", "-q", "--soft", &back]);
    job.repo.commit("All of it", Some("a"));
    job.judge();
    let works = |anchor: &str| proof("a", "a works", anchor, "observed");
    job.accept(&[works("lib.txt:8"), line_gone("lib.txt", 5)])
        .expect_refused("evidence_unrelated");
    job.accept(&[works("lib.txt:13"), line_gone("lib.txt", 9)])
        .expect_refused("evidence_unrelated");
    job.accept(&[works("lib.txt:13"), line_gone("lib.txt", 5)])
        .ok();
}

/// A file that others renamed and wrote to, before the basis that was left and after the report.
#[test]
fn a_file_of_others_is_theirs_whoever_squashes_it() {
    let job = Job::begin(&["a works"]);
    let back = job.repo.head();
    job.select_instead("b");
    job.git(&["mv", "lib.txt", "new.txt"]);
    job.repo.commit("Somebody's rename", None);
    job.select_instead("a");
    job.repo
        .write_commit_for("a", "own.txt", "slice a wrote this\n");
    job.report().ok();
    let theirs = [(10, "a colleague wrote this line")];
    job.repo.write("new.txt", with(&library(), &theirs));
    job.repo.commit("Somebody else's", None);
    job.judge_rest();
    job.accept_nothing();
    job.git(&["reset", "-q", "--soft", &back]);
    job.repo.commit("All of it", Some("a"));
    job.reground(json!({})).ok();
    job.judge();
    for anchor in ["new.txt:10", "entry:new.txt", "gone:lib.txt"] {
        job.accept(&[proof("a", "a works", anchor, "observed")])
            .expect_refused("evidence_unrelated");
    }
    job.accept(&[proof("a", "a works", "own.txt:1", "observed")])
        .ok();
}

/// Somebody formats and renames a file in one commit, so that git sees no rename.
#[test]
fn a_line_is_taken_out_of_a_file_whose_rename_git_does_not_see() {
    let job = Job::begin(&["the line is gone"]);
    job.git(&["rm", "-q", "lib.txt"]);
    job.repo.write("new.txt", break_library(&[9]));
    job.repo.commit("Somebody's formatter", None);
    let renames = job.git(&[
        "diff",
        "-M",
        "--diff-filter=R",
        "--name-only",
        "HEAD~1",
        "HEAD",
    ]);
    assert_eq!(renames, "");
    job.repo
        .write_commit_for("a", "new.txt", &break_library(&[5, 9]));
    job.judge();
    for line in [9, 6, 21] {
        let run = job.accept(&[line_gone("lib.txt", line)]);
        assert_eq!(run.code, 4, "{line}: {}", run.out);
    }
    job.accept(&[line_gone("lib.txt", 5)]).ok();
    job.repo.write("new.txt", break_library(&[9]));
    job.repo.commit("Somebody puts it back", None);
    job.is_reopened();
}

/// The same where the file has its former name again: the history went back to before it was wrapped and renamed.
#[test]
fn a_line_that_is_back_in_a_file_of_its_former_name_is_lost() {
    let halves = |line: &str| format!("{line} begins here\nand {line} ends there\n");
    let wrapped: String = library().iter().map(|line| halves(line)).collect();
    let joined = wrapped.replace("here\n", "here ");
    let job = Job::begin_with(&["a works"], &[("old.txt", &wrapped)]);
    job.git(&["mv", "old.txt", "new.txt"]);
    job.repo.commit("Rename it", None);
    let work = wrapped.replace("line 5 of the library begins here\n", "");
    job.repo.write_commit_for("a", "new.txt", &work);
    job.judge();
    let gone = "gone:new.txt#line 5 of the library begins here";
    job.accept(&[proof("a", "a works", gone, "observed")]).ok();
    job.git(&["rm", "-q", "new.txt"]);
    job.repo.write("old.txt", joined);
    job.repo.commit("As it was", None);
    job.is_reopened();
}
