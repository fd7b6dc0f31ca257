//! The log of a remote, read from a clone that has none: `cook verify --from`.

use crate::support::{Repo, run};
use crate::verify::hostile::{Change, Forger, of, replace_once};
use crate::verify::job::{all_are, codes, make_finished, verdicts};
use std::path::PathBuf;

/// A finished job whose branch and log are in a bare repository beside it, with `main` as its base.
pub fn make_pushed() -> Repo {
    make_pushed_after("a finished job that was pushed", make_finished)
}

/// The same of another job.
pub fn make_pushed_after(name: &str, job: impl FnOnce() -> Repo) -> Repo {
    Repo::stage(name, || {
        let repo = job();
        let bare = bare(&repo);
        repo.git(&["init", "-q", "--bare", "-b", "main", bare.to_str().unwrap()]);
        repo.git(&["push", "-q", bare.to_str().unwrap(), "main"]);
        repo.cook(&["push", bare.to_str().unwrap(), "--yes"]).ok();
        repo
    })
}

pub fn bare(repo: &Repo) -> PathBuf {
    repo.beside("bare.git")
}

/// A clone with a home of its own, where nothing is trusted.
pub fn make_clone(repo: &Repo, options: &[&str]) -> Repo {
    let clone = Repo::directory();
    let from = format!("file://{}", bare(repo).display());
    clone.git(&[&["clone", "-q"], options, &[&from, "."]].concat());
    clone
}

#[test]
fn a_strangers_clone_reproduces_everything_and_keeps_nothing() {
    let repo = make_pushed();
    let clone = make_clone(&repo, &["-b", "work"]);
    clone
        .cook(&["verify"])
        .exits(1)
        .says("log_missing")
        .says("cook verify --from REMOTE")
        .never_says("cook init");
    let run = clone
        .cook(&["verify", "--from", "origin"])
        .exits(1)
        .says("stop_verifier_untrusted");
    run.says("a receipt of the log says that `sh check.sh` passed at")
        .says("not run here");

    let run = clone
        .cook(&[
            "verify",
            "--from",
            "origin",
            "--rerun",
            "--trust-repo",
            "--strict",
            "--json",
        ])
        .ok();
    all_are(&run, "reproduced", "holds");
    let line = clone
        .cook(&["verify", "--from", "origin", "--rerun", "--trust-repo"])
        .ok()
        .out;
    let first = line.lines().next().unwrap();
    assert!(first.contains("is the done commit; of 8 criteria 3 proved by a command, 5 by a text, 0 by nothing; 0 of 3 votes came out of a session that cook ran; anyone who can push this ref could have written its records: `refs/cook/log/work` of `origin`"), "{first}");
    clone
        .cook(&["verify", "slice", "a", "--from", "origin"])
        .ok()
        .says("anyone who can push this ref");
    clone
        .cook(&["verify", "control-plane", "--from", "origin"])
        .ok()
        .says("contract, log and histories");
    // It was read, and is not here.
    assert!(!clone.root.join(".git/cook/log.git").exists());
    assert!(!clone.root.join(".git/cook-id").exists());
    assert_eq!(clone.git(&["status", "--porcelain"]), "");
    clone.cook(&["verify"]).exits(1).says("log_missing");
}

#[test]
fn one_line_of_the_code_changed_in_a_clone_is_named() {
    let repo = make_pushed();
    let clone = make_clone(&repo, &["-b", "work"]);
    clone.write(
        "code.txt",
        clone.read("code.txt").replace("their sum", "their product"),
    );
    clone.commit("one line", None);
    let run = clone
        .cook(&[
            "verify",
            "--from",
            "origin",
            "--rerun",
            "--trust-repo",
            "--json",
        ])
        .exits(1);
    assert_eq!(verdicts(&run)["the sum is written down"], "lost");
    assert!(codes(&run).contains(&"head_moved_since_done".to_owned()));
}

#[test]
fn a_remote_without_a_log_one_that_is_not_there_and_a_forged_one_are_said_so() {
    let repo = make_pushed();
    let clone = make_clone(&repo, &["-b", "main"]);
    clone
        .cook(&["verify", "--from", "origin"])
        .exits(1)
        .says("log_missing")
        .says("`origin` holds no log for branch `main`");
    let log = format!("{}:refs/cook/log/main", clone.git(&["rev-parse", "HEAD"]));
    clone.git(&["push", "-q", "origin", &log]);
    assert_ne!(clone.cook(&["verify", "--from", "origin"]).code, 0);
    clone
        .cook(&["verify", "--from", "nobody"])
        .exits(2)
        .says("remote_unknown");
    let gone = clone.beside("gone.git");
    let run = clone.cook(&["verify", "--from", gone.to_str().unwrap()]);
    assert!(
        run.code != 0 && run.err.contains("remote_unreachable"),
        "{}{}",
        run.out,
        run.err
    );

    let flipped: Change = |file, text| {
        of(file, "reviewed", text)
            .then(|| replace_once(text, "\"positive\": true", "\"positive\": false"))
            .flatten()
    };
    let forger = Forger::new(&repo);
    forger.forge(flipped);
    let refs = format!("+{}:refs/cook/log/work", forger.branch());
    forger.git(&["push", "-q", bare(&repo).to_str().unwrap(), &refs], b"");
    forger.git(
        &[
            "push",
            "-q",
            bare(&repo).to_str().unwrap(),
            &format!(
                "+{}:refs/cook/done/{}",
                forger.branch(),
                repo.git(&["rev-parse", "work"])
            ),
        ],
        b"",
    );
    let clone = make_clone(&repo, &["-b", "work"]);
    clone
        .cook(&["verify", "--from", "origin", "--trust-repo"])
        .exits(1)
        .says("log_not_derivable");
}

/// What this clone has seen on the remote is not forgotten because somebody set it back there.
#[test]
fn a_log_that_was_set_back_or_taken_away_proves_nothing_to_whoever_saw_more() {
    let repo = make_pushed();
    let to = bare(&repo).to_str().unwrap().to_owned();
    let there = |words: &[&str]| repo.git(&[&["-C", &to, "update-ref"], words].concat());
    let log = "refs/cook/log/work";
    let old = repo.git(&["-C", &to, "rev-parse", log]);
    repo.cook(&["verify", "--from", &to]).ok();
    repo.cook(&["undo", "--as-user"]).ok();
    repo.cook(&["push", &to]).ok();
    let clone = make_clone(&repo, &["-b", "work"]);
    clone.cook(&["pull", "origin"]).ok();
    let page = repo.beside("page.html").display().to_string();
    let refuses = |code: &str| {
        for words in [
            &["verify", "--trust-repo"][..],
            &["verify", "control-plane"],
            &["report", "--html", &page, "--trust-repo"],
            &["attest", "--trust-repo"],
        ] {
            repo.cook(&[words, &["--from", &to]].concat())
                .fails(3, code);
            clone
                .cook(&[words, &["--from", "origin"]].concat())
                .fails(3, code);
        }
    };
    there(&[log, &old]);
    refuses("remote_log_rewound");
    // Another branch at that commit is told by the same log.
    clone.git(&["checkout", "-q", "-b", "copy"]);
    refuses("remote_log_rewound");
    there(&["-d", log]);
    refuses("log_gone");
    // Whoever saw nothing more than the log by which it was found done is told by that one.
    let fresh = make_clone(&repo, &["-b", "work"]);
    fresh
        .cook(&["verify", "--from", "origin", "--trust-repo"])
        .ok();
}

/// Where the base branch lists who may sign, what is only recorded counts when one of them signed.
#[test]
fn what_is_recorded_counts_by_the_signers_of_the_base() {
    let repo = make_pushed();
    let keys = repo.outside();
    let key = |name: &str| keys.join(name).to_str().unwrap().to_owned();
    for name in ["one", "other"] {
        let mut make = repo.command("ssh-keygen");
        make.args([
            "-q",
            "-t",
            "ed25519",
            "-N",
            "",
            "-C",
            name,
            "-f",
            &key(name),
        ]);
        match make.output() {
            Ok(made) => assert!(made.status.success()),
            Err(_) => return println!("skipped: no ssh-keygen here"),
        }
    }
    let public = std::fs::read_to_string(key("one.pub")).unwrap();
    repo.git(&["checkout", "-q", "main"]);
    repo.write(
        ".agent/allowed_signers",
        format!("one@example.org namespaces=\"cook\" {public}"),
    );
    repo.commit("Who may sign", None);
    let to = bare(&repo).to_str().unwrap().to_owned();
    repo.git(&["push", "-q", &to, "main"]);
    let ask = || {
        let clone = make_clone(&repo, &["-b", "work"]);
        clone.cook(&["verify", "slice", "a", "--from", "origin"])
    };
    ask().exits(1).says("word_unsigned").says("is not signed");
    // As a CI checkout has it, and by the address alone: the remote says which branch is its base.
    let clone = make_clone(&repo, &["-b", "work"]);
    clone.git(&["remote", "set-head", "origin", "--delete"]);
    for named in ["origin", &format!("file://{to}")] {
        clone
            .cook(&["verify", "slice", "a", "--from", named])
            .exits(1)
            .says("word_unsigned");
    }

    // A log that was pulled is no better than the one it came from; this clone's own is asked for nothing.
    let pulled = |options: &[&str]| {
        let clone = make_clone(&repo, &["-b", "work"]);
        for option in options {
            clone.git(&["remote", "set-head", "origin", option]);
        }
        clone.cook(&["pull"]).ok();
        clone.cook(&["verify", "slice", "a"])
    };
    for options in [&[][..], &["--delete"]] {
        pulled(options).exits(1).says("word_unsigned");
    }
    repo.cook(&["verify", "slice", "a"])
        .never_says("word_unsigned");

    for (name, namespace, code, why) in [
        (
            "one",
            "cook",
            0,
            "its records are signed by one@example.org",
        ),
        ("other", "cook", 1, "word_signer_unknown"),
        ("one", "git", 1, "word_namespace"),
    ] {
        let forger = Forger::new(&repo);
        let tip = forger.git(&["cat-file", "commit", &forger.branch()], b"") + "\n";
        let mut sign = repo.command("ssh-keygen");
        sign.args(["-q", "-Y", "sign", "-n", namespace, "-f", &key(name)]);
        let signature = run(&mut sign, tip.as_bytes()).ok().out;
        let (head, message) = tip.split_once("\n\n").unwrap();
        let indented = signature.trim_end().replace('\n', "\n ");
        let signed = format!("{head}\ngpgsig {indented}\n\n{message}");
        let signed = forger.git(
            &["hash-object", "-t", "commit", "-w", "--stdin"],
            signed.as_bytes(),
        );
        forger.git(
            &["push", "-q", &to, &format!("+{signed}:refs/cook/log/work")],
            b"",
        );
        ask().exits(code).says(why);
        pulled(&[]).exits(code).says(why);
        let clone = make_clone(&repo, &["-b", "work"]);
        let words = ["verify", "slice", "a", "--from", "origin", "--base"];
        let by_base = |base: &str| clone.cook(&[&words[..], &[base]].concat());
        by_base("origin/main").exits(code).says(why);
        // Another base has no list.
        by_base("origin/main~1").says("anyone who can push this ref");
        if code != 0 {
            continue;
        }
        for (options, why) in [
            (
                "namespaces=\"cook\",valid-before=\"20250101\"",
                "word_signer_expired",
            ),
            (
                "namespaces=\"cook\",valid-after=\"20400101\"",
                "word_signer_expired",
            ),
            ("namespaces=\"git\"", "word_namespace"),
        ] {
            clone.git(&["checkout", "-q", "--detach", "origin/main"]);
            let line = format!("one@example.org {options} {public}");
            clone.write(".agent/allowed_signers", line);
            let list = clone.commit("Another list", None);
            clone.git(&["checkout", "-q", "work"]);
            by_base(&list).exits(1).says(why).says("next: ");
        }
    }
}
