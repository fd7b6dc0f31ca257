//! Histories and files that are odd: each has its code and a way on, and takes bounded time.

use crate::job::{Job, OWN, library, proof, with};
use serde_json::json;
use std::time::{Duration, Instant};

/// What any one report may take here, however large the files are.
const PATIENCE: Duration = Duration::from_secs(60);

fn entry(path: &str) -> serde_json::Value {
    proof("a", "a works", &format!("entry:{path}"), "observed")
}

fn at(anchor: &str) -> serde_json::Value {
    proof("a", "a works", anchor, "observed")
}

impl Job {
    /// `a` is judged with this file as its work.
    fn with_file(path: &str, bytes: &[u8]) -> Self {
        let job = Self::begin(&["a works"]);
        job.repo.write(path, bytes);
        job.repo.commit("Work on a", Some("a"));
        job.judge();
        job
    }
}

#[test]
fn a_history_that_was_written_anew_from_its_root_is_followed() {
    let job = Job::with_done();
    job.git(&[
        "-c",
        "core.safecrlf=false",
        "filter-branch",
        "-f",
        "--env-filter",
        "GIT_AUTHOR_NAME=Nobody",
        "HEAD",
    ]);
    job.git(&["update-ref", "-d", "refs/original/refs/heads/main"]);
    job.git(&["reflog", "expire", "--expire=now", "--all"]);
    job.git(&["gc", "-q", "--prune=now"]);
    job.stands().says("rebound");
}

/// The same, and the work is not in it any more.
#[test]
fn a_history_that_was_written_anew_without_the_work_opens_it() {
    let job = Job::with_done();
    let without =
        "test ! -e lib.txt || sed -i 's/^the .* line of slice a$/a line of nobody/' lib.txt";
    job.git(&["filter-branch", "-f", "--tree-filter", without, "HEAD"]);
    job.must_answer("evidence_changed");
    let answers = json!([{"no": "part-a", "reason": "it was never wanted"}]);
    let block = json!({"select": "b", "evidence": [at("lib.txt:3")], "answers": answers});
    job.reground(block).exits(4).says("evidence_unrelated");

    let job = Job::with_done();
    let without = "git rm -q --cached --ignore-unmatch lib.txt";
    job.git(&["filter-branch", "-f", "--index-filter", without, "HEAD"]);
    job.is_reopened();
}

#[test]
fn a_commit_serves_one_slice() {
    let job = Job::with_done();
    job.select_b().ok();
    job.report().exits(4).says("commit_not_after_basis");
    job.repo.write_commit_for("b", "b.txt", "b works\n");
    job.report().ok();
}

#[test]
fn a_slice_whose_basis_is_gone_is_selected_anew() {
    let job = Job::begin(&["a works"]);
    job.git(&["checkout", "-q", "--orphan", "new"]);
    job.git(&["commit", "-q", "-m", "All anew"]);
    job.git(&["branch", "-q", "-M", "new", "main"]);
    job.git(&["reflog", "expire", "--expire=now", "--all"]);
    job.git(&["gc", "-q", "--prune=now"]);
    let due = job.repo.due();
    assert_eq!(due["rule"], "2", "{due}");
    job.reground(json!({})).ok();
    if job.repo.rule() == "3" {
        job.select("a");
    }
    job.write_own("a");
    job.judge();
    job.accept(&[at("lib.txt:5")]).ok();
}

impl Job {
    /// The messages of all commits are written anew, and git throws the former ones away.
    fn reword_all(&self) {
        let filter = ["--msg-filter", "sed '1s/$/ again/'", "HEAD"];
        self.git(&[&["filter-branch", "-f"], &filter[..]].concat());
        self.git(&["update-ref", "-d", "refs/original/refs/heads/main"]);
        self.git(&["reflog", "expire", "--expire=now", "--all"]);
        self.git(&["gc", "-q", "--prune=now"]);
    }
}

/// Another commit has its tree: the slice begins there, at whichever step that happens.
#[test]
fn a_basis_that_was_reworded_and_thrown_away_is_found_by_its_tree() {
    let committed = |what: &str| {
        let job = Job::begin(&["a works"]);
        job.write_own("a");
        if what == "reported" {
            job.report().ok();
        } else if what == "judged" {
            job.judge();
        }
        job
    };
    let job = committed("judged");
    job.reword_all();
    job.accept(&[at("lib.txt:5")]).ok().says("rebound");

    let job = committed("reported");
    job.reword_all();
    job.judge_rest();
    job.accept(&[at("lib.txt:5")]).ok();

    let job = committed("written");
    job.reword_all();
    assert_eq!(job.repo.due()["rule"], "2");
    job.reground(json!({})).ok();
    job.judge();
    job.accept(&[at("lib.txt:5")]).ok();
    // What stood before is nobody's work.
    let job = committed("written");
    job.reword_all();
    job.reground(json!({})).ok();
    job.judge();
    job.accept(&[at("lib.txt:3")])
        .exits(4)
        .says("evidence_unrelated");

    // What is only gone can be shown as well.
    let job = Job::begin(&["a works"]);
    job.git(&["rm", "-q", "drop.txt"]);
    job.repo.commit("Drop it", Some("a"));
    job.judge();
    job.reword_all();
    job.accept(&[at("gone:drop.txt")]).ok();

    // So it is where the slice was opened again.
    let job = Job::with_done();
    let head = job.git(&["rev-parse", "HEAD"]);
    let again = json!([{"slice": "a", "why": "look again", "at": head.trim()}]);
    job.reground(json!({"reopen": again})).ok();
    job.reword_all();
    job.reground(json!({"select": "a"})).ok();
    job.judge();
    job.accept(&[at("lib.txt:5")]).ok();
}

#[test]
fn a_file_too_large_to_read_is_proved_as_a_whole() {
    let line = [vec![b'x'; 10 << 20], b"\n".to_vec()].concat();
    let lines = b"a line of a large file\n".repeat((100 << 20) / 23);
    for (path, bytes) in [("line.txt", line), ("lines.txt", lines)] {
        let job = Job::with_file(path, &bytes);
        let started = Instant::now();
        job.accept(&[at(&format!("{path}:1"))])
            .exits(4)
            .says("evidence_unverified");
        job.accept(&[entry(path)]).ok();
        assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());
        job.git(&["rm", "-q", path]);
        job.repo.commit("Take it away", None);
        job.is_reopened();
    }
}

#[test]
fn text_in_two_bytes_a_character_has_no_lines() {
    let text: Vec<u8> = "a line of text\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let job = Job::with_file("wide.txt", &text);
    job.accept(&[at("wide.txt:1")])
        .exits(4)
        .says("evidence_unverified");
    job.accept(&[entry("wide.txt")]).ok();
}

#[test]
fn carriage_returns_alone_end_no_line() {
    let job = Job::with_file("mac.txt", b"one line\rtwo lines\rthree lines\r");
    job.accept(&[at("mac.txt:2")])
        .exits(4)
        .says("evidence_unverified");
    job.accept(&[at("mac.txt:1")]).ok();
    job.repo
        .write("mac.txt", "one line\rtwo others\rthree lines\r");
    job.repo.commit("Change a part", None);
    job.must_answer("evidence_changed");
}

/// One piece of the work comes apart into as many as it has lines.
#[test]
fn a_long_text_is_followed_where_its_lines_are_in_another_order() {
    let lines: Vec<String> = (0..200_000)
        .map(|number| format!("line {number:06}\n"))
        .collect();
    let job = Job::with_file("long.txt", lines.concat().as_bytes());
    job.accept(&[at("long.txt:5")]).ok();
    let turned: Vec<&str> = lines.iter().rev().map(String::as_str).collect();
    job.repo.write("long.txt", turned.concat());
    job.repo.commit("Turn it round", None);
    let started = Instant::now();
    job.stands();
    assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());
    assert_eq!(job.anchor("a"), "long.txt:199996");
}

/// Each of thousands of pieces is looked for in a long text that has nothing of them.
#[test]
fn thousands_of_pieces_are_followed_through_a_long_text() {
    let line = |word: &str, number: usize| format!("{word} line {number:06} of a long text\n");
    let text = |word: &str| -> String {
        let every = |number| line(if number % 50 == 4 { word } else { "old" }, number);
        (0..50_000).map(every).collect()
    };
    let job = Job::begin_with(&["a works"], &[("long.txt", &text("old"))]);
    job.repo.write("long.txt", text("own"));
    job.repo.commit("Work on a", Some("a"));
    job.judge();
    job.accept(&[at("long.txt:5")]).ok();
    let anew: String = (0..50_000).map(|number| line("new", number)).collect();
    job.repo.write("long.txt", anew);
    job.repo.commit("Write it anew", None);
    let started = Instant::now();
    job.must_answer("evidence_changed");
    assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());
}

#[test]
fn a_storm_of_renames_is_followed() {
    storm(3_000, PATIENCE);
}

/// `proofs/odd.sh`
#[test]
#[ignore = "minutes"]
fn a_storm_of_fifty_thousand_renames_is_followed() {
    storm(50_000, PATIENCE * 5);
}

/// Before it is reported too, with a line that is moved out of the slice's file meanwhile.
#[test]
fn a_storm_of_renames_before_the_report_is_followed() {
    storm_midway(3_000, PATIENCE);
}

/// `proofs/odd.sh`
#[test]
#[ignore = "minutes"]
fn a_storm_of_fifty_thousand_renames_before_the_report_is_followed() {
    storm_midway(50_000, PATIENCE * 5);
}

fn storm_midway(files: usize, patience: Duration) {
    let job = Job::begin(&["a works"]);
    let write = |number: usize, text: &str| {
        let path = format!("many/{number}.txt");
        job.repo
            .write(&path, format!("file {number} of many\n{text}"));
    };
    for number in 0..files {
        write(number, "");
    }
    job.repo.write("own.txt", with(&library(), &OWN));
    job.repo.commit("Work on a", Some("a"));
    // Somebody writes to all of them, and renames them all.
    for number in 0..files {
        write(number, "somebody wrote this\n");
    }
    job.repo
        .write("own.txt", with(&library(), &[(5, ""), OWN[1]]));
    job.repo.write("moved.txt", format!("{}\n", OWN[0].1));
    job.repo.commit("Everywhere", None);
    job.git(&["mv", "many", "more"]);
    job.repo.commit("Move all of it", None);
    job.repo
        .write_commit_for("a", "last.txt", "the last of slice a\n");
    let started = Instant::now();
    job.judge();
    job.accept(&[at("last.txt:1")]).ok();
    job.stands();
    assert!(started.elapsed() < patience, "{:?}", started.elapsed());
}

fn storm(files: usize, patience: Duration) {
    let job = Job::begin(&["a works"]);
    for number in 0..files {
        let path = format!("many/{number}.txt");
        job.repo.write(&path, format!("file {number} of many\n"));
    }
    let own = with(&library(), &OWN);
    job.repo.write("many/own.txt", &own);
    job.repo.commit("Work on a", Some("a"));
    job.judge();
    job.accept(&[at("many/own.txt:5")]).ok();
    job.git(&["mv", "many", "more"]);
    job.repo.commit("Move all of it", None);
    let started = Instant::now();
    job.stands();
    assert!(started.elapsed() < patience, "{:?}", started.elapsed());
    assert_eq!(job.anchor("a"), "more/own.txt:5");
}

/// Whoever writes the slice's trailer beside the work: what a merge brings in is somebody else's, and on
/// the branch itself a commit bears it that is asked for.
#[test]
fn a_trailer_of_somebody_else_makes_nothing_the_slice_s() {
    let job = Job::begin(&["a works"]);
    job.git(&["checkout", "-q", "-b", "colleague"]);
    job.repo
        .write_commit_for("a", "other.txt", "a colleague wrote this line\n");
    job.git(&["checkout", "-q", "main"]);
    job.write_own("a");
    job.git(&["merge", "-q", "--no-edit", "colleague"]);
    job.judge();
    job.accept(&[at("other.txt:1")])
        .exits(4)
        .says("evidence_unrelated");
    job.accept(&[at("lib.txt:5")]).ok();
    // Once it is done, one more commit with its trailer is a foreign one.
    job.repo
        .write_commit_for("a", "other.txt", "somebody's line with the trailer of a\n");
    job.stands();
    job.repo.write_commit_for("b", "b.txt", "b works\n");
    job.judge();
    job.accept(&[proof("b", "b works", "other.txt:1", "observed")])
        .exits(4)
        .says("evidence_unrelated");
    job.accept(&[proof("b", "b works", "b.txt:1", "observed")])
        .ok();
}

#[test]
fn a_submodule_that_is_gone_is_no_proof() {
    let job = Job::begin(&["a works"]);
    let commit = job.repo.head();
    let info = format!("160000,{commit},sub");
    job.git(&["update-index", "--add", "--cacheinfo", &info]);
    job.git(&["commit", "-q", "-m", "Add it\n\nCook-Slice: a"]);
    job.git(&["rm", "-q", "--cached", "sub"]);
    job.git(&["commit", "-q", "-m", "Take it away\n\nCook-Slice: a"]);
    job.write_own("a");
    job.judge();
    job.accept(&[entry("sub")])
        .exits(4)
        .says("evidence_unverified");
    job.accept(&[at("lib.txt:5")]).ok();

    // Of a done slice it is lost, whether anybody has the commit that it names or not.
    for commit in [&*commit, "0123456789012345678901234567890123456789"] {
        let job = Job::begin(&["a works"]);
        // As a clone without submodules has it.
        std::fs::create_dir(job.repo.root.join("sub")).unwrap();
        let info = format!("160000,{commit},sub");
        job.git(&["update-index", "--add", "--cacheinfo", &info]);
        job.git(&["commit", "-q", "-m", "Add it\n\nCook-Slice: a"]);
        job.judge();
        job.accept(&[entry("sub")]).ok();
        job.git(&["rm", "-q", "--cached", "sub"]);
        job.git(&["commit", "-q", "-m", "Take it away"]);
        job.is_reopened();
    }
}
