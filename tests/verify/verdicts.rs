//! What the proof of each criterion is worth, by what was looked up, run again, or only said.

use crate::support::{Repo, run_alone};
use crate::verify::job::{all_are, codes, make_finished, verdicts};

#[test]
fn each_kind_of_proof_has_its_verdict_with_and_without_a_rerun() {
    let repo = make_finished();
    all_are(&repo.cook(&["verify", "--json"]).ok(), "holds", "holds");
    for rerun in [&["--rerun"][..], &["--rerun", "--history"]] {
        let words = [&["verify", "--strict", "--json"], rerun].concat();
        all_are(&repo.cook(&words).ok(), "reproduced", "holds");
    }
    for id in ["a", "b"] {
        let run = repo
            .cook(&["verify", "slice", id, "--rerun", "--json"])
            .ok();
        let found = verdicts(&run);
        let word = |word: &str| found.values().filter(|found| *found == word).count();
        assert_eq!(
            word("reproduced") + word("holds"),
            found.len(),
            "{}",
            run.out
        );
        assert!(word("reproduced") > 0, "{}", run.out);
    }
}

#[test]
fn one_line_of_the_code_changed_is_named() {
    for (from, to, criterion, word) in [
        ("adds: works", "adds: broken", "it adds", "differs"),
        (
            "and gives their sum",
            "and gives their product",
            "the sum is written down",
            "lost",
        ),
        ("subtracts: works\n", "", "it subtracts", "differs"),
        (
            "the difference",
            "what is left",
            "the difference is named",
            "lost",
        ),
    ] {
        let repo = make_finished();
        let code = repo.read("code.txt");
        assert!(code.contains(from));
        repo.write("code.txt", code.replace(from, to));
        repo.commit("One line", None);
        let run = repo.cook(&["verify", "--rerun", "--json"]).exits(1);
        assert_eq!(verdicts(&run)[criterion], word, "{}", run.out);
        let codes = codes(&run);
        let of_word = match word {
            "lost" => "proof_broken",
            _ => "criterion_differs",
        };
        for code in [of_word, "head_moved_since_done"] {
            assert!(codes.contains(&code.to_owned()), "{codes:?}");
        }
    }
    let repo = make_finished();
    repo.git(&["rm", "-q", "table.txt"]);
    repo.write("old.txt", "it is back\n");
    repo.commit("Back to before", None);
    let found = verdicts(&repo.cook(&["verify", "--json"]).exits(1));
    assert_eq!(found["the table is there"], "lost");
    assert_eq!(found["the old way is gone"], "lost");
}

/// An archive of the whole directory, unpacked by somebody else on this machine.
fn make_unpacked() -> Repo {
    let repo = make_finished();
    let other = Repo::directory();
    std::fs::remove_dir(&other.root).unwrap();
    run_alone(
        repo.command("cp")
            .arg("-R")
            .arg(&repo.root)
            .arg(&other.root),
    )
    .ok();
    other
}

#[test]
fn receipts_of_an_archive_were_not_made_here_and_are_not_believed() {
    let other = make_unpacked();
    let run = other.cook(&["verify", "slice", "a", "--json"]).ok();
    let found = verdicts(&run);
    assert_eq!(found["it adds"], "recorded", "{}", run.out);
    assert_eq!(found["the sum is written down"], "holds");
    other
        .cook(&["verify", "slice", "a"])
        .says("a receipt of the log says that `sh check.sh` passed at")
        .says("not run here");
    // Its gates are nobody's here, so the question of the commit is open.
    other
        .cook(&["verify"])
        .exits(1)
        .says("stop_verifier_untrusted");
    other
        .cook(&["verify", "--rerun"])
        .exits(1)
        .says("is not trusted");
    let run = other
        .cook(&["verify", "--rerun", "--trust-repo", "--json"])
        .ok();
    all_are(&run, "reproduced", "holds");
    // What ran here since counts as run here.
    let run = other.cook(&["verify", "slice", "b", "--json"]).ok();
    assert_eq!(verdicts(&run)["it subtracts"], "holds", "{}", run.out);
}
