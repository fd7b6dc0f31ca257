//! What `cook verify` says of proofs.

use crate::evidence::job::{Job, LIBRARY, OWN};
use serde_json::Value;

/// The verdict and the reason of the first criterion of `a`.
#[track_caller]
fn verdict(job: &Job, words: &[&str]) -> (String, String) {
    let words = [&["verify", "--json"], words].concat();
    let run = job.repo.cook(&words);
    let answer: Value = serde_json::from_str(&run.out).unwrap();
    let criterion = answer["criteria"][0].clone();
    let text = |key: &str| criterion[key].as_str().unwrap_or_default().to_owned();
    (text("verdict"), text("why"))
}

/// Both slices are accepted, and the judges agreed.
fn make_finished(anchor: &str) -> Job {
    let job = Job::finish_by(anchor);
    job.build_b("b.txt", "what b writes\n");
    job.accept_b("b.txt:1", &[]).ok();
    job.repo.cook(&["verify", "stop"]);
    job.repo.conclude();
    job
}

#[test]
fn the_words_for_a_text() {
    let job = make_finished("lib.sh:5");
    assert_eq!(verdict(&job, &[]).0, "holds");
    job.foreign("lib.sh", LIBRARY);
    assert_eq!(verdict(&job, &[]).0, "lost");
}

#[test]
fn the_words_for_a_test() {
    let job = make_finished("test:double");
    assert_eq!(verdict(&job, &[]).0, "holds");
    assert_eq!(verdict(&job, &["--rerun"]).0, "reproduced");
    assert_eq!(verdict(&job, &["--rerun", "--history"]).0, "reproduced");
    // The tests of today are green, and the accepted one is red.
    job.repo
        .write("lib.sh", format!("{LIBRARY}{}", OWN.replace("* 2", "* 3")));
    job.foreign("tests/double.sh", "true\n");
    assert_eq!(verdict(&job, &[]).0, "recorded");
    let (word, why) = verdict(&job, &["--rerun"]);
    assert_eq!(word, "differs", "{why}");
    assert!(why.contains("the accepted version"), "{why}");
}

#[test]
fn what_was_run_before_judges_is_known_to_whoever_asks_who_is_due() {
    let job = Job::finish_by("test:double");
    job.build_b("b.txt", "what b writes\n");
    job.accept_b("b.txt:1", &[]).ok();
    job.repo
        .write("lib.sh", format!("{LIBRARY}{}", OWN.replace("* 2", "* 3")));
    let bent = job.repo.read("tests/double.sh").replace("= 8", "= 12");
    job.foreign("tests/double.sh", &bent);
    // The gates are green, and nobody ran the accepted version.
    assert_eq!(job.repo.rule(), "8");
    job.repo.cook(&["verify", "stop"]);
    assert_eq!(job.repo.rule(), "2");
    job.repo.cook(&["next"]).says("proof_broken");
    job.is_reopened();
}
