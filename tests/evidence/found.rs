//! What the histories by chance found, each as short as it can be said.

use crate::job::{Job, OWN, library, proof, with};
use serde_json::{Value, json};

fn claims(anchor: &str) -> Value {
    json!({"select": "b", "evidence": [proof("a", "a works", anchor, "observed")]})
}

/// Rows 4 and 8.
#[test]
fn a_revert_is_seen_through_a_formatter() {
    for how in ["indent", "line ends"] {
        let job = Job::with_done();
        job.git(&["revert", "--no-edit", "HEAD"]);
        let text = with(&library(), &[]);
        let formatted = match how {
            "indent" => text.lines().map(|line| format!("    {line}\n")).collect(),
            _ => text.replace('\n', "\r\n"),
        };
        job.repo.write("lib.txt", formatted);
        job.repo.commit("Format", None);
        let run = job.reground(claims("lib.txt:3"));
        assert_ne!(
            (run.code, &*job.status("a")),
            (0, "done"),
            "{how}: {}",
            run.out
        );
        job.is_reopened();
    }
}

/// Rows 5 and 11.
#[test]
fn a_line_that_is_back_in_a_renamed_file_is_back() {
    let job = Job::begin(&["a works", "the line is gone"]);
    job.repo
        .write("lib.txt", with(&library(), &[OWN[0], OWN[1], (10, "")]));
    job.repo.commit("Work", Some("a"));
    job.judge();
    job.accept(&[
        proof("a", "a works", "lib.txt:5", "observed"),
        proof(
            "a",
            "the line is gone",
            "gone:lib.txt#line 10 of the library",
            "observed",
        ),
    ])
    .ok();
    job.git(&["mv", "lib.txt", "src.txt"]);
    job.repo.write("src.txt", with(&library(), &OWN));
    job.repo.commit("Rename, and put it back", None);
    job.is_reopened();
}

/// Row 8.
#[test]
fn a_text_that_is_no_text_any_more_is_gone() {
    let job = Job::with_done();
    job.repo.write("lib.txt", "\0nothing to read\n");
    job.repo.commit("Binary", None);
    let run = job.select_b();
    assert_ne!(
        (run.code, &*job.status("a")),
        (0, "done"),
        "binary: {}",
        run.out
    );

    let job = Job::with_done();
    std::fs::remove_file(job.repo.root.join("lib.txt")).unwrap();
    std::os::unix::fs::symlink("README.md", job.repo.root.join("lib.txt")).unwrap();
    job.repo.commit("Link", None);
    let run = job.select_b();
    assert_ne!(
        (run.code, &*job.status("a")),
        (0, "done"),
        "link: {}",
        run.out
    );
}

/// Rows 2 and 7.
#[test]
fn what_a_rebase_rewrites_is_not_the_slices_in_work() {
    let job = Job::with_done();
    job.select_b().ok();
    let root = job.git(&["rev-list", "--max-parents=0", "HEAD"]);
    let tip = job.repo.head();
    job.git(&["checkout", "-q", "-b", "moved", &root]);
    job.repo.write("other.txt", "somebody else's text\n");
    job.git(&["add", "other.txt"]);
    job.git(&["commit", "-q", "-m", "Somebody else's"]);
    job.git(&["cherry-pick", &format!("{root}..{tip}")]);
    job.git(&["branch", "-q", "-f", "main", "moved"]);
    job.git(&["checkout", "-q", "main"]);
    if job.repo.rule() == "2" {
        job.reground(json!({})).ok();
    }
    let text = with(
        &library(),
        &[OWN[0], OWN[1], (10, "the one line of slice b")],
    );
    job.repo.write_commit_for("b", "lib.txt", &text);
    job.judge();
    let mut wrong = Vec::new();
    for anchor in ["lib.txt:5", "other.txt:1"] {
        let run = job.accept(&[proof("b", "b works", anchor, "observed")]);
        if run.code == 0 {
            wrong.push(anchor);
            break;
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
    job.accept(&[proof("b", "b works", "lib.txt:10", "observed")])
        .ok();
}

/// Row 10.
#[test]
fn the_text_of_a_rejected_attempt_proves_nothing_wherever_it_is_committed() {
    let job = Job::begin(&["a works"]);
    let rejected = [
        (5, "a first attempt at slice a"),
        (15, "which was not good"),
    ];
    let attempt = job
        .repo
        .write_commit_for("a", "lib.txt", &with(&library(), &rejected));
    job.report().ok();
    let repo = &job.repo;
    repo.record("reviewer", repo.reviewer_report(Some("it is wrong")))
        .ok();
    repo.record("auditor", repo.auditor_report()).ok();
    job.reground(json!({"reconcile": {"slice_id": "a", "decision": "reopened"}}))
        .ok();
    job.write_own("a");
    job.judge();
    job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
        .ok();
    let basis = job.git(&["rev-parse", &format!("{attempt}~1")]);
    job.git(&["reset", "-q", "--hard", &basis]);
    job.repo.write("other.txt", "somebody else's text\n");
    job.repo.commit("Somebody else's", None);
    job.git(&["cherry-pick", &attempt]);
    let mut lie = claims("lib.txt:5");
    lie["answers"] = json!([{"no": "part-a", "reason": "it is all there"}]);
    let run = job.reground(lie);
    assert_ne!((run.code, &*job.status("a")), (0, "done"), "{}", run.out);
}

/// "A reopened slice never loses its basis while own text stands."
#[test]
fn a_squashed_slice_keeps_its_basis_when_it_is_reopened() {
    for at in [true, false] {
        let job = Job::begin(&["a works"]);
        let basis = job.repo.head();
        job.write_own("a");
        job.judge();
        job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
            .ok();
        job.git(&["reset", "-q", "--soft", &basis]);
        job.repo.write("other.txt", "somebody else's text\n");
        let head = job.repo.commit("All of it", None);
        let mut reopen = json!({"slice_id": "a", "why": "look at it again"});
        if at {
            reopen["at"] = json!(head);
        }
        job.reground(json!({"reopen": [reopen], "select": "a"}))
            .ok();
        let active = job.repo.document("active-slice.json");
        assert_eq!(active["basis_commit"], json!(basis), "at: {at}");
    }
}

/// One proof serves one criterion, in whatever words it is named.
#[test]
fn a_proof_that_another_criterion_has_is_not_given_again_by_a_longer_range() {
    let job = Job::begin(&["a works", "it still runs"]);
    job.write_own("a");
    job.judge();
    job.accept(&[
        proof("a", "a works", "lib.txt:5", "observed"),
        proof("a", "it still runs", "lib.txt:15", "observed"),
    ])
    .ok();
    job.foreign(&[OWN[0], (15, "somebody wrote this in its place")]);
    let again = json!([proof("a", "it still runs", "lib.txt:5-6", "observed")]);
    job.reground(json!({"select": "b", "evidence": again}))
        .exits(4)
        .says("evidence_shared");
}

/// Rows 8 and 12.
#[test]
fn an_entry_that_is_as_before_is_no_proof_when_it_is_named_again() {
    let job = Job::begin(&["the file is another", "a works"]);
    job.repo.write("drop.txt", b"\0\x01\x02".as_slice());
    job.repo.write("lib.txt", with(&library(), &OWN));
    job.repo.commit("Work", Some("a"));
    job.judge();
    let entry = proof("a", "the file is another", "entry:drop.txt", "observed");
    job.accept(&[
        entry.clone(),
        proof("a", "a works", "lib.txt:5", "observed"),
    ])
    .ok();
    job.git(&["checkout", "-q", "HEAD~1", "--", "drop.txt"]);
    job.repo.commit("As before", None);
    let run = job.reground(json!({"select": "b", "evidence": [entry]}));
    assert_ne!((run.code, &*job.status("a")), (0, "done"), "{}", run.out);
}

/// Rows 4 and 6.
#[test]
fn a_formatter_does_not_make_every_line_a_place_for_proof() {
    let job = Job::with_done();
    let text = with(
        &library(),
        &[(5, "somebody wrote this in its place"), OWN[1]],
    );
    job.repo.write(
        "lib.txt",
        text.lines()
            .map(|line| format!("    {line}\n"))
            .collect::<String>(),
    );
    job.repo.commit("Rewrite and format", None);
    for wrong in ["lib.txt:3", "lib.txt:18"] {
        let run = job.reground(claims(wrong));
        assert_ne!(
            (run.code, &*job.status("a")),
            (0, "done"),
            "{wrong}: {}",
            run.out
        );
    }
    job.reground(claims("lib.txt:5")).ok();
}

/// Row 8.
#[test]
fn a_revert_is_seen_beside_a_change_of_the_next_line() {
    let job = Job::with_done();
    job.git(&["revert", "--no-edit", "HEAD"]);
    job.foreign(&[
        (4, "somebody changed the line above"),
        (16, "and the one below"),
    ]);
    // The text of the basis, and the neighbour's.
    for wrong in ["lib.txt:5", "lib.txt:4"] {
        let run = job.reground(claims(wrong));
        assert_ne!(
            (run.code, &*job.status("a")),
            (0, "done"),
            "{wrong}: {}",
            run.out
        );
    }
    job.is_reopened();
}

/// Row 7: the slice's branch is merged into a colleague's, and the merge is what is reported.
#[test]
fn own_commits_stay_own_behind_a_merge_into_a_colleagues_branch() {
    let job = Job::begin(&["a works"]);
    job.git(&["checkout", "-q", "-b", "colleague"]);
    job.repo.write("other.txt", "a colleague wrote this line\n");
    job.repo.commit("A colleague's", None);
    job.git(&["checkout", "-q", "main"]);
    job.write_own("a");
    job.git(&["checkout", "-q", "colleague"]);
    job.git(&["merge", "-q", "--no-edit", "main"]);
    job.git(&["checkout", "-q", "-B", "main"]);
    job.judge();
    job.accept(&[proof("a", "a works", "lib.txt:5", "observed")])
        .ok();
}

/// Row 17: what became of text is told by its digests alone, where its commit and its file are gone.
#[test]
fn a_revert_is_seen_though_the_commit_is_gone() {
    for text in ["the library", "another text"] {
        let job = Job::with_done();
        job.git(&["checkout", "-q", "--orphan", "fresh"]);
        let now = match text {
            "the library" => with(&library(), &[]),
            _ => "another text altogether\n".to_owned(),
        };
        job.repo.write("lib.txt", now);
        job.repo.commit("All of it", None);
        job.git(&["branch", "-q", "-f", "main", "fresh"]);
        job.git(&["checkout", "-q", "main"]);
        job.git(&["branch", "-q", "-D", "fresh"]);
        job.git(&["reflog", "expire", "--expire=now", "--all"]);
        job.git(&["gc", "-q", "--prune=now"]);
        let run = job.reground(claims("lib.txt:4"));
        assert_ne!((run.code, &*job.status("a")), (0, "done"), "{}", run.out);
        match text {
            "the library" => job.is_reopened(),
            _ => drop(job.must_answer("evidence_changed")),
        }
    }
}
