//! The contract of the base decides: what a pull request loosens is named and red, what it asks for
//! beside runs too, and a change of the contract alone waits for a person.

use crate::from::{bare, make_clone, make_pushed, make_pushed_after};
use crate::job::{all_are, codes, make_finished_after};
use crate::support::{Repo, Run};
use serde_json::{Value, json};

const SETTINGS: &str = ".agent/cook.toml";
const OF_WORK: [&str; 6] = [
    "--from",
    "origin",
    "--branch",
    "work",
    "--base",
    "origin/main",
];

fn ask(clone: &Repo, scope: &str, more: &[&str]) -> Run {
    let words = ["verify", scope, "--trust-repo", "--json"];
    clone.cook(&[&words[..], &OF_WORK, more].concat())
}

/// What was found of a code: its messages.
fn messages(run: &Run, code: &str) -> Vec<String> {
    let answer = run.json();
    let findings = answer["findings"].as_array().unwrap().iter();
    findings
        .filter(|finding| finding["code"] == code)
        .map(|finding| finding["message"].as_str().unwrap().to_owned())
        .collect()
}

fn add(clone: &Repo, path: &str, text: &str) {
    clone.write(path, clone.read(path) + text);
}

fn replace(clone: &Repo, path: &str, was: &str, is: &str) {
    let text = clone.read(path);
    assert!(text.contains(was), "{text}");
    clone.write(path, text.replace(was, is));
}

type Change = fn(&Repo);

/// What a pull request loosens, the code, and the file with the field that are named.
const LOOSENED: [(Change, &str, &str); 13] = [
    (
        |clone| clone.write(SETTINGS, ""),
        "contract_weaker",
        "`.agent/cook.toml` `gates.check` is gone",
    ),
    (
        |clone| replace(clone, SETTINGS, "sh check.sh", "true"),
        "contract_weaker",
        "`gates.check.run` is `true`, and was `sh check.sh` (not comparable)",
    ),
    (
        |clone| replace(clone, SETTINGS, "\" }", "\", required = false }"),
        "contract_weaker",
        "`gates.check.required` is `false`, and was `true` (weaker)",
    ),
    (
        |clone| add(clone, SETTINGS, "[limits]\nsteps = 99999\n"),
        "contract_weaker",
        "`limits.steps`",
    ),
    (
        |clone| std::fs::remove_file(clone.root.join(SETTINGS)).unwrap(),
        "contract_weaker",
        "`.agent/cook.toml` is removed",
    ),
    (
        |clone| {
            let judges = "\"required_stop_judges\": ";
            let profile = ".agent/profile.json";
            replace(clone, profile, &format!("{judges}3"), &format!("{judges}1"));
        },
        "contract_weaker",
        "`required_stop_judges` is `1`, and was `3` (weaker)",
    ),
    (
        |clone| replace(clone, ".agent/mission.md", "Extend", "Rather extend"),
        "contract_weaker",
        "`.agent/mission.md` does not say any more",
    ),
    (
        |clone| add(clone, ".agent/verify_completion_stop.sh", "exit 0\n"),
        "contract_weaker",
        "`.agent/verify_completion_stop.sh` is edited",
    ),
    (
        |clone| clone.write("check.sh", "exit 0\n"),
        "contract_weaker",
        "`check.sh` is edited",
    ),
    (
        |clone| clone.write(".agent/allowed_signers", "b@example.org ssh-ed25519 BBBB\n"),
        "contract_weaker",
        "`.agent/allowed_signers` `b@example.org` is `b@example.org ssh-ed25519 BBBB`, in another's place",
    ),
    (
        |clone| std::fs::remove_file(clone.root.join(".agent/allowed_signers")).unwrap(),
        "contract_weaker",
        "`.agent/allowed_signers` is removed",
    ),
    (
        |clone| {
            replace(
                clone,
                ".github/workflows/cook.yml",
                "cook verify",
                "cook --version",
            )
        },
        "judge_changed",
        "`.github/workflows/cook.yml` is edited",
    ),
    (
        |clone| clone.write(".github/actions/prove/action.yml", "runs: true\n"),
        "judge_changed",
        "`.github/actions/prove/action.yml` is edited",
    ),
];

/// A pushed job whose base has a list of signers and CI.
fn make_guarded() -> Repo {
    let begin = |repo: &Repo| {
        repo.git(&["checkout", "-q", "main"]);
        repo.write(".agent/allowed_signers", "a@example.org ssh-ed25519 AAAA\n");
        repo.write(".github/workflows/cook.yml", "- run: cook verify\n");
        repo.write(".github/workflows/other.yml", "- run: make\n");
        repo.write("Makefile", "test:\n\tpytest\n\truff check\n");
        repo.write("app/package.json", "{\n  \"test\": \"jest\"\n}\n");
        repo.write(".github/actions/prove/action.yml", "- run: cook check\n");
        repo.commit("Guard it", None);
        repo.git(&["checkout", "-q", "work"]);
        repo.git(&["merge", "-q", "--ff-only", "main"]);
    };
    make_pushed_after("a pushed job that is guarded", || {
        make_finished_after("a job that is guarded", begin)
    })
}

#[test]
fn whatever_a_pull_request_loosens_is_named_with_its_file_and_field() {
    let repo = make_guarded();
    let clone = make_clone(&repo, &["-b", "work"]);
    let head = clone.head();
    let found = codes(&ask(&clone, "control-plane", &[]));
    let of_contract = |code: &&String| code.starts_with("contract_") || *code == "judge_changed";
    assert_eq!(found.iter().filter(of_contract).count(), 0, "{found:?}");
    for (change, code, message) in LOOSENED {
        clone.git(&["reset", "-q", "--hard", &head]);
        clone.write("more.txt", "and something else\n");
        change(&clone);
        clone.commit("Loosen it", None);
        let run = ask(&clone, "control-plane", &[]).exits(1);
        let found = messages(&run, code);
        assert!(
            found.iter().any(|found| found.contains(message)),
            "{message}: {found:?} {:?}",
            codes(&run)
        );
    }
    // Checks that are others and no fewer are asked for by nobody.
    clone.git(&["reset", "-q", "--hard", &head]);
    clone.write(".github/workflows/other.yml", "- run: make all\n");
    clone.commit("Another workflow", None);
    let found = codes(&ask(&clone, "control-plane", &[]));
    assert_eq!(found.iter().filter(of_contract).count(), 0, "{found:?}");
}

#[test]
fn a_gate_that_is_new_runs_with_those_of_the_base() {
    let repo = make_pushed_after("a pushed job that asks for more", || {
        make_finished_after("a job that asks for more", |repo| {
            let check = repo.read(SETTINGS);
            let more = "more = { run = \"sh .agent/more.sh\" }\n[limits]\nsteps = 50\n";
            repo.write(SETTINGS, check + more);
            repo.write(".agent/more.sh", "test -e code.txt\n");
            repo.git(&["add", "-f", ".agent/more.sh"]);
            repo.cook(&["init"]).ok();
            repo.cook(&["trust", "--gates", "--as-user"]).ok();
            repo.commit("Ask for more", None);
        })
    });
    let clone = make_clone(&repo, &["-b", "work"]);
    let run = ask(&clone, "all", &["--rerun"]).ok();
    all_are(&run, "reproduced", "holds");
    let found = messages(&run, "contract_stronger");
    for field in [
        "`gates.more` is a new gate, `sh .agent/more.sh`",
        "`limits.steps`",
    ] {
        assert!(found.iter().any(|found| found.contains(field)), "{found:?}");
    }
    run.says("2 gates at HEAD in a clean room, as the contract that decides has them");

    // An attestation names the contract that decided.
    let words = [&["attest", "--trust-repo"][..], &OF_WORK].concat();
    let lines = clone.cook(&words).ok().out;
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let predicate = &first["predicate"];
    let base = clone.git(&["rev-parse", "origin/main"]);
    let uri = predicate["verifier"]["policies"][0]["uri"]
        .as_str()
        .unwrap();
    assert!(uri.contains(&format!("@{base}#")), "{first}");
    let properties = predicate["properties"].as_array().unwrap();
    assert!(properties.contains(&json!("COOK_BASE_CONTRACT")), "{first}");

    // The base's gates stay as they are, whatever the new one says.
    clone.git(&["checkout", "-q", "-b", "strict", "origin/main"]);
    clone.write("check.sh", "exit 1\n");
    let base = clone.commit("Red everywhere", None);
    let words = [
        "verify",
        "--trust-repo",
        "--json",
        "--from",
        "origin",
        "--branch",
        "work",
    ];
    clone.git(&["checkout", "-q", "work"]);
    let run = clone.cook(&[&words[..], &["--base", &base]].concat());
    // `check.sh` lies in the tree that is judged: the branch did not change it.
    assert!(messages(&run.ok(), "contract_weaker").is_empty());
}

/// The base went on: its gates count, with the files that they read under `.agent/`.
#[test]
fn a_gate_of_the_base_runs_with_the_bases_own_scripts() {
    for (script, exit) in [("test -e table.txt\n", 0), ("test ! -e table.txt\n", 1)] {
        let repo = make_pushed();
        repo.git(&["checkout", "-q", "main"]);
        add(&repo, SETTINGS, "more = { run = \"sh .agent/more.sh\" }\n");
        repo.write(".agent/more.sh", script);
        repo.git(&["add", "-f", ".agent/more.sh"]);
        repo.commit("Ask for more", None);
        repo.git(&["push", "-q", bare(&repo).to_str().unwrap(), "main"]);
        let clone = make_clone(&repo, &["-b", "work"]);
        let run = ask(&clone, "all", &["--rerun"]).exits(exit);
        assert!(messages(&run, "contract_weaker").is_empty(), "{}", run.out);
        let run = run.says("with its files under `.agent/`");
        let red = messages(&run, "stop_verifier_failed");
        match exit {
            0 => assert!(red.is_empty(), "{red:?}"),
            _ => assert!(
                red[0].contains("the gate `more` of the contract that decides"),
                "{red:?}"
            ),
        }
    }
}

/// Who holds a done commit could merge it into a commit of their own, as often as they like.
#[test]
fn a_done_commit_makes_nothing_else_done() {
    let repo = make_pushed();
    let clone = make_clone(&repo, &["-b", "work"]);
    let digest = ask(&clone, "all", &[]).json()["base"]["contract"].clone();
    clone.git(&["checkout", "-q", "-b", "attack", "origin/main"]);
    clone.write("evil.txt", "nobody judged this\n");
    clone.commit("Evil", None);
    clone.git(&["merge", "-q", "--no-ff", "-m", "Merge", "origin/work"]);
    let merged = clone.head();
    for squash in [false, true] {
        if squash {
            clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
            clone.git(&["merge", "-q", "--squash", "origin/work"]);
            clone.git(&["commit", "-q", "-m", "Squash"]);
        }
        for accept in [&[][..], &["--accept-contract", digest.as_str().unwrap()]] {
            let run = ask(&clone, "all", &[&["--rerun", "--strict"], accept].concat());
            let run = run.exits(1).says("judged by nobody");
            assert!(codes(&run).contains(&"head_moved_since_done".to_owned()));
        }
    }
    // What the base has taken in is its own.
    clone.git(&[
        "update-ref",
        "refs/remotes/origin/main",
        &format!("{merged}^1"),
    ]);
    clone.git(&["reset", "-q", "--hard", &merged]);
    let run = ask(&clone, "all", &["--rerun"]);
    run.says("is exactly the merge of the done commit");
}

/// A tag or a branch of somebody's that has the base's name is not the base.
#[test]
fn a_base_that_may_be_two_things_is_refused() {
    let repo = make_pushed();
    let clone = make_clone(&repo, &["-b", "work"]);
    clone.git(&["tag", "origin/main", "HEAD"]);
    ask(&clone, "all", &[])
        .exits(2)
        .says("`refs/tags/origin/main` or `refs/remotes/origin/main`");
    clone.git(&["update-ref", "-d", "refs/remotes/origin/main"]);
    ask(&clone, "all", &[])
        .exits(2)
        .says("no branch of the remote");
    clone.git(&["tag", "main", "HEAD"]);
    let by = |base: &str| {
        clone
            .cook(&["verify", "--trust-repo", "--base", base])
            .exits(2)
    };
    by("main").says("is the tag `refs/tags/main`");
    clone.git(&["tag", "-d", "main"]);
    // A branch of the remote's may be named so.
    let head = "refs/remotes/origin/HEAD";
    clone.git(&["remote", "set-head", "origin", "--delete"]);
    clone.git(&["update-ref", head, "HEAD"]);
    by("origin/HEAD").says("not what the remote's HEAD names");
    clone.git(&["update-ref", "--no-deref", "-d", head]);
    clone.git(&["tag", "-d", "origin/main"]);
    ask(&clone, "all", &[]).ok();
}

#[test]
fn nothing_of_gits_own_is_written_and_no_pipe_is_waited_for() {
    let repo = make_pushed();
    let clone = make_clone(&repo, &["-b", "work"]);
    for words in [
        &["report", "--html", ".git/HEAD"][..],
        &["attest", "--out", ".git/config"],
    ] {
        clone.cook(words).exits(2).says("git's own directory");
    }
    // The way on is the flag that the command has.
    clone
        .cook(&["attest", "--sign"])
        .exits(4)
        .says("may say `--yes`");
    assert!(
        clone
            .command("mkfifo")
            .arg("fifo")
            .status()
            .unwrap()
            .success()
    );
    clone
        .cook(&["attest", "verify", "fifo", "--allowed-signers", "fifo"])
        .says("input_unreadable");
}

#[test]
fn a_change_of_the_contract_alone_waits_for_a_person() {
    let repo = make_pushed();
    let clone = make_clone(&repo, &["-b", "main"]);
    clone.git(&["checkout", "-q", "-b", "loosen"]);
    replace(&clone, SETTINGS, "sh check.sh", "true");
    clone.commit("Another gate", None);
    let run = ask(&clone, "all", &["--strict"]).exits(12);
    assert_eq!(codes(&run), ["contract_alone"]);
    let run = run.says("`gates.check.run` is `true`, and was `sh check.sh`");
    let digest = run.json()["base"]["contract"].as_str().unwrap().to_owned();
    assert!(messages(&run, "contract_alone")[0].contains(&digest));

    for accepted in [&digest[..], &digest[..32]] {
        let run = ask(&clone, "all", &["--accept-contract", accepted]).ok();
        assert_eq!(run.json()["base"]["accepted"], true);
    }
    // One more edit makes it void.
    replace(&clone, SETTINGS, "true", "false");
    clone.commit("One more", None);
    let run = ask(&clone, "all", &["--accept-contract", &digest]).exits(1);
    assert_eq!(codes(&run), ["contract_alone", "contract_not_accepted"]);

    // With anything else it is no change of the contract alone.
    clone.write("code.txt", "and something else\n");
    clone.commit("Something else", None);
    let run = ask(&clone, "all", &[]).exits(1);
    let found = codes(&run);
    assert!(found.contains(&"contract_weaker".to_owned()), "{found:?}");
    assert!(!found.contains(&"contract_alone".to_owned()), "{found:?}");
}

/// The repository's own checks are compared, and are work as well.
#[test]
fn what_runs_beside_the_gates_is_no_contract_alone() {
    let repo = make_guarded();
    let clone = make_clone(&repo, &["-b", "main"]);
    clone.git(&["checkout", "-q", "-b", "more"]);
    add(&clone, "Makefile", "\tmypy .\n");
    clone.commit("One more check", None);
    let run = ask(&clone, "control-plane", &[]);
    assert!(
        messages(&run, "contract_stronger").is_empty(),
        "{}",
        run.out
    );
    assert!(messages(&run, "contract_weaker").is_empty(), "{}", run.out);

    clone.git(&["checkout", "-q", "-b", "less", "origin/main"]);
    replace(&clone, "Makefile", "\tpytest\n", "");
    replace(&clone, SETTINGS, "sh check.sh", "true");
    clone.commit("Fewer checks", None);
    let run = ask(&clone, "control-plane", &[]).exits(1);
    assert_eq!(messages(&run, "contract_weaker").len(), 1, "{}", run.out);
    assert!(messages(&run, "contract_alone").is_empty(), "{}", run.out);
    let digest = run.json()["base"]["contract"].as_str().unwrap().to_owned();
    let accept = ["--accept-contract", &digest[..]];
    let run = ask(&clone, "control-plane", &accept);
    assert!(messages(&run, "contract_weaker").is_empty(), "{}", run.out);
    assert_eq!(run.json()["base"]["accepted"], true);
    // One more edit makes it void.
    clone.git(&["rm", "-q", "Makefile"]);
    clone.commit("None at all", None);
    let run = ask(&clone, "control-plane", &accept).exits(1);
    assert_eq!(
        messages(&run, "contract_not_accepted").len(),
        1,
        "{}",
        run.out
    );
}

#[test]
fn a_contract_that_somebody_accepted_decides_until_the_next_edit() {
    let repo = make_pushed_after("a pushed job with other limits", || {
        make_finished_after("a job with other limits", |repo| {
            add(repo, SETTINGS, "[limits]\nsteps = 99999\n");
            repo.cook(&["init", "--as-user"]).ok();
            repo.commit("More steps", None);
        })
    });
    let clone = make_clone(&repo, &["-b", "work"]);
    let run = ask(&clone, "all", &["--rerun"]).exits(1);
    assert_eq!(messages(&run, "contract_weaker").len(), 1, "{}", run.out);
    let digest = run.json()["base"]["contract"].as_str().unwrap().to_owned();
    let accept = ["--rerun", "--strict", "--accept-contract", &digest];
    let run = ask(&clone, "all", &accept).ok();
    all_are(&run, "reproduced", "holds");
    let other = digest.replace(|c: char| c.is_ascii_digit(), "0");
    let run = ask(&clone, "all", &["--accept-contract", &other]).exits(1);
    let found = codes(&run);
    for code in ["contract_weaker", "contract_not_accepted"] {
        assert!(found.contains(&code.to_owned()), "{found:?}");
    }
}

/// A plan that the base has: the log was begun with a criterion less, and one in other words.
#[test]
fn a_criterion_of_the_base_that_was_dropped_or_reworded_is_named() {
    let repo = Repo::new();
    repo.cook(&["init", "--mission", "Do the list", "--commit"])
        .ok();
    repo.write(
        "PLAN.md",
        "# List\n\n- [ ] Add the numbers\n- [ ] Say the sum\n",
    );
    repo.commit("The list", None);
    repo.git(&["branch", "base"]);
    repo.git(&["checkout", "-q", "-b", "next"]);
    let other = Repo::directory();
    let from = repo.root.to_str().unwrap();
    other.git(&["clone", "-q", "-b", "next", from, "."]);
    other.write("PLAN.md", "# List\n\n- [ ] Add the numbers, mostly\n");
    other.commit("Another list", None);
    other
        .cook(&["init", "--from", "PLAN.md", "--skip-gates"])
        .ok();
    let run = other
        .cook(&["verify", "--json", "--base", "origin/base"])
        .exits(1);
    let found = messages(&run, "contract_weaker");
    for task in ["Add the numbers", "Say the sum"] {
        assert!(found.iter().any(|found| found.contains(task)), "{found:?}");
    }
    let whole = Repo::directory();
    whole.git(&["clone", "-q", "-b", "next", from, "."]);
    whole
        .cook(&["init", "--from", "PLAN.md", "--skip-gates"])
        .ok();
    let run = whole
        .cook(&["verify", "--json", "--base", "origin/base"])
        .exits(1);
    assert!(messages(&run, "contract_weaker").is_empty(), "{}", run.out);
    run.says("not_done");
}

#[test]
fn a_base_that_says_nothing_and_words_that_mean_nothing_are_told() {
    let repo = make_pushed();
    let clone = make_clone(&repo, &["-b", "work"]);
    let by = |base: &str, more: &[&str]| {
        let words = [
            "verify",
            "control-plane",
            "--from",
            "origin",
            "--base",
            base,
        ];
        clone.cook(&[&words[..], more].concat())
    };
    for base in [
        "origin/nothing",
        "--x",
        "",
        "0123456789012345678901234567890123456789",
    ] {
        if base.starts_with('-') {
            continue;
        }
        by(base, &[]).fails(2, "commit_unknown");
    }
    clone.git(&["checkout", "-q", "--orphan", "empty"]);
    clone.git(&["rm", "-rq", "--cached", "."]);
    clone.git(&["commit", "-q", "--allow-empty", "-m", "Nothing"]);
    clone.git(&["checkout", "-qf", "work"]);
    by("empty", &[])
        .exits(1)
        .says("base_contract_missing")
        .says("cook init --commit");
    clone.git(&["checkout", "-q", "-b", "broken", "origin/main"]);
    clone.write(SETTINGS, "[gates\n");
    clone.commit("Break it", None);
    clone.git(&["checkout", "-q", "work"]);
    by("broken", &[]).fails(3, "config_invalid");
    for digest in ["", "abc", &"g".repeat(64), &"0".repeat(65)] {
        by("origin/main", &["--accept-contract", digest]).exits(2);
    }
    let zeros = "0".repeat(64);
    let run = by("origin/main", &["--accept-contract", &zeros]);
    run.exits(1).says("contract_not_accepted").says("next: ");
    clone
        .cook(&["verify", "--accept-contract", &zeros])
        .exits(2);
    clone
        .cook(&["verify", "stop", "--base", "origin/main"])
        .exits(2);
}
