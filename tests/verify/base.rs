//! The contract of the base decides: what a pull request loosens is named and red, what it asks for
//! beside runs too, and a change of the contract alone waits for a person.

use crate::support::{Repo, Run};
use crate::verify::from::{make_clone, make_pushed, make_pushed_after};
use crate::verify::job::{all_are, codes, make_finished_after};
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

/// What a pull request loosens, and the file that is named, with what became of it.
const LOOSENED: [(Change, &str); 13] = [
    (
        |clone| clone.write(SETTINGS, ""),
        "`.agent/cook.toml` is edited",
    ),
    (
        |clone| replace(clone, SETTINGS, "sh check.sh", "true"),
        "`.agent/cook.toml` is edited",
    ),
    (
        |clone| replace(clone, SETTINGS, "\" }", "\", required = false }"),
        "`.agent/cook.toml` is edited",
    ),
    (
        |clone| add(clone, SETTINGS, "[limits]\nsteps = 99999\n"),
        "`.agent/cook.toml` is edited",
    ),
    (
        |clone| std::fs::remove_file(clone.root.join(SETTINGS)).unwrap(),
        "`.agent/cook.toml` is removed",
    ),
    (
        |clone| {
            let judges = "\"required_stop_judges\": ";
            let profile = ".agent/profile.json";
            replace(clone, profile, &format!("{judges}3"), &format!("{judges}1"));
        },
        "`.agent/profile.json` is edited",
    ),
    (
        |clone| replace(clone, ".agent/mission.md", "Extend", "Rather extend"),
        "`.agent/mission.md` is edited",
    ),
    (
        |clone| add(clone, ".agent/verify_completion_stop.sh", "exit 0\n"),
        "`.agent/verify_completion_stop.sh` is edited",
    ),
    (
        |clone| clone.write("check.sh", "exit 0\n"),
        "`check.sh` is edited",
    ),
    (
        |clone| clone.write(".agent/allowed_signers", "b@example.org ssh-ed25519 BBBB\n"),
        "`.agent/allowed_signers` is edited",
    ),
    (
        |clone| std::fs::remove_file(clone.root.join(".agent/allowed_signers")).unwrap(),
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
        "`.github/workflows/cook.yml` is edited",
    ),
    (
        |clone| clone.write(".github/workflows/more.yml", "- run: true\n"),
        "`.github/workflows/more.yml` is new",
    ),
];

/// A pushed job whose base has a list of signers and protects its CI.
fn make_guarded() -> Repo {
    let begin = |repo: &Repo| {
        add(repo, SETTINGS, "[rules]\nprotected = [\".github/**\"]\n");
        repo.write(".agent/allowed_signers", "a@example.org ssh-ed25519 AAAA\n");
        repo.write(".github/workflows/cook.yml", "- run: cook verify\n");
        repo.write("Makefile", "test:\n\tpytest\n\truff check\n");
        repo.cook(&["init", "--as-user"]).ok();
        repo.commit("Guard it", None);
        repo.git(&["branch", "-f", "main"]);
    };
    make_pushed_after("a pushed job that is guarded", || {
        make_finished_after("a job that is guarded", begin)
    })
}

#[test]
fn whatever_a_pull_request_loosens_is_named_with_its_file() {
    let repo = make_guarded();
    let clone = make_clone(&repo, &["-b", "work"]);
    let head = clone.head();
    let of_contract = |run: &Run| {
        let found = codes(run).into_iter();
        let found: Vec<String> = found.filter(|it| it.starts_with("contract_")).collect();
        found
    };
    let none = Vec::<String>::new();
    assert_eq!(of_contract(&ask(&clone, "control-plane", &[])), none);
    for (change, message) in LOOSENED {
        clone.git(&["reset", "-q", "--hard", &head]);
        clone.write("more.txt", "and something else\n");
        change(&clone);
        clone.commit("Loosen it", None);
        let run = ask(&clone, "control-plane", &[]).exits(12);
        assert_eq!(messages(&run, "contract_changed"), [message]);
    }
    // What no rule protects is work.
    clone.git(&["reset", "-q", "--hard", &head]);
    clone.write("Makefile", "test:\n\ttrue\n");
    clone.commit("Another recipe", None);
    assert_eq!(of_contract(&ask(&clone, "control-plane", &[])), none);
}

/// What a gate goes through is work as well, so the tests of the base are asked of HEAD's code.
#[test]
fn a_recipe_that_asks_nothing_any_more_hides_no_broken_code() {
    let repo = make_pushed_after("a pushed job with a recipe", || {
        make_finished_after("a job with a recipe", |repo| {
            add(repo, SETTINGS, "make = { run = \"make test\" }\n");
            repo.write("Makefile", "test:\n\tsh tests/sum.sh\n");
            let test = ". ./sum.sh\n[ \"$(sum 1 2)\" = 3 ]\n";
            repo.write("tests/sum.sh", test);
            repo.write("sum.sh", "sum() { echo $(($1 + $2)); }\n");
            repo.cook(&["init", "--as-user"]).ok();
            repo.cook(&["trust", "--gates", "--as-user"]).ok();
            repo.commit("A recipe", None);
            repo.git(&["branch", "-f", "main"]);
        })
    });
    let clone = make_clone(&repo, &["-b", "work"]);
    ask(&clone, "all", &["--rerun", "--strict"]).ok();
    clone.write("Makefile", "test:\n\ttrue\n");
    let head = clone.commit("Another recipe", None);
    let red = |run: &Run| {
        let of_tests = [
            "pass_to_fail",
            "bent",
            "set_aside",
            "lost",
            "stop_verifier_failed",
        ];
        codes(run)
            .into_iter()
            .filter(|code| of_tests.contains(&&code[..]))
            .collect::<Vec<_>>()
    };
    assert_eq!(red(&ask(&clone, "all", &[])), Vec::<String>::new());
    clone.write("sum.sh", "sum() { echo 4; }\n");
    clone.commit("Break it", None);
    let run = ask(&clone, "all", &[]).exits(1);
    assert!(!red(&run).is_empty(), "{head}: {}", run.out);
}

#[test]
fn a_gate_that_is_new_runs_with_those_of_the_base() {
    let repo = make_pushed_after("a pushed job that asks for more", || {
        make_finished_after("a job that asks for more", |repo| {
            let check = repo.read(SETTINGS);
            let more = "more = { run = \"sh .agent/more.sh\" }\n";
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
    assert_eq!(
        messages(&run, "contract_stronger"),
        ["it adds the gate `more`"]
    );
    run.says("2 gates of the deciding contract at HEAD, in a clean room");

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
    assert!(messages(&run.ok(), "contract_changed").is_empty());
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
            let run = run.exits(1).says("was never judged");
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
    by("origin/HEAD").says("not the remote's HEAD branch");
    clone.git(&["update-ref", "--no-deref", "-d", head]);
    clone.git(&["tag", "-d", "origin/main"]);
    ask(&clone, "all", &[]).ok();
}

/// A plan that the base has: the log was begun with a criterion less, and one in other words.
#[test]
fn a_criterion_of_the_base_that_was_dropped_or_reworded_is_named() {
    let repo = Repo::new();
    repo.init_strictly("Do the list").ok();
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
