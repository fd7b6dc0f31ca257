//! What goes wrong in a day, each case on the real binary and to its end: `done`.
//! The guide's table names these cases, and one test holds the two together.
#![cfg(unix)]

use crate::support::Repo;
use crate::support::reports::{plan, slice, waiting_slice};
use serde_json::json;
use std::path::Path;

/// Leaves the repository in the state its row names.
type Case = (&'static str, fn() -> Repo, &'static str);

/// The guide's row, the way there, and the rule that then answers.
const CASES: [Case; 16] = [
    ("an empty plan: nothing is left to do", empty_plan, "8"),
    ("every slice is blocked", all_blocked, "3"),
    ("the reviewer was wrong", reviewer_wrong, "7"),
    ("a judge said no, then HEAD moved", no_then_moved, "2"),
    ("a rebase in the middle of a slice", make_rebased, "2"),
    ("a commit without the trailer", no_trailer, "2"),
    ("a report that was lost", make_lost_report, "4"),
    ("the plan was wrong", make_returned, "2"),
    ("red gates", red_gates, "4"),
    ("a dirty file of yours", dirty, "7"),
    ("a branch switch", make_switched, "S"),
    ("your own change of the contract", contract_changed, "S"),
    ("a new mission", make_refocused, "2"),
    ("no commit in the repository yet", unborn, "3"),
    (
        "a file in `.agent/` was edited or deleted",
        make_edited,
        "2",
    ),
    ("`.agent/` was deleted altogether", make_deleted, "1"),
];

fn make_started() -> Repo {
    let repo = Repo::with_mission("a mission");
    repo.plan_and_select(&[slice("one")]);
    repo
}

fn empty_plan() -> Repo {
    let repo = Repo::with_mission("a mission");
    repo.hand_in_reground(&json!({"plan": plan(&[])}));
    repo
}

fn all_blocked() -> Repo {
    let repo = Repo::with_mission("a mission");
    repo.hand_in_reground(
        &json!({"plan": plan(&[waiting_slice("one", "the licence from legal")])}),
    );
    repo
}

fn reviewer_wrong() -> Repo {
    let repo = make_started();
    repo.write_commit_for("one", "one.txt", "one works\n");
    repo.record("implementer", repo.implementer_report(None))
        .ok();
    repo.record("reviewer", repo.reviewer_report(Some("line 1 is misspelt")))
        .ok();
    repo.record("auditor", repo.auditor_report()).ok();
    repo
}

fn no_then_moved() -> Repo {
    let repo = make_started();
    repo.build_slice("one");
    repo.accept_slice("one");
    repo.record(
        "stop-judge",
        repo.judge_report(Some("the licence is missing")),
    )
    .ok();
    repo.write("LICENSE", "free\n");
    repo.commit("Add the licence", None);
    repo
}

fn make_rebased() -> Repo {
    let repo = make_started();
    repo.write_commit_for("one", "one.txt", "one works\n");
    // HEAD gets another past: the basis is not an ancestor any more.
    repo.git(&["reset", "--quiet", "--soft", "HEAD~2"]);
    repo.git(&["commit", "--quiet", "--amend", "--message", "Begin again"]);
    repo
}

fn no_trailer() -> Repo {
    let repo = make_started();
    repo.write("one.txt", "one works\n");
    repo.commit("Make one work", None);
    repo
}

fn make_lost_report() -> Repo {
    let repo = make_started();
    repo.write_commit_for("one", "one.txt", "one works\n");
    repo
}

fn make_returned() -> Repo {
    let repo = make_started();
    let report = repo.implementer_report(Some("one needs two first"));
    repo.record("implementer", &report).ok();
    repo
}

fn red_gates() -> Repo {
    let repo = Repo::with_mission("a mission");
    repo.write("gate.sh", "test \"$(wc -l < one.txt)\" -ge 2\n");
    repo.write(".agent/cook.toml", "[gates.two]\nrun = \"sh gate.sh\"\n");
    repo.cook(&["init", "--as-user"]).ok();
    repo.commit("Ask for two lines", None);
    repo.cook(&["trust", "--gates", "--as-user"]).ok();
    repo.plan_and_select(&[slice("one")]);
    repo.write_commit_for("one", "one.txt", "one works\n");
    repo.record("implementer", repo.implementer_report(None))
        .ok();
    repo
}

fn dirty() -> Repo {
    let repo = make_started();
    repo.build_slice("one");
    repo.write("notes.txt", "buy milk\n");
    repo
}

fn make_switched() -> Repo {
    let repo = make_started();
    repo.git(&["switch", "--quiet", "--create", "aside"]);
    repo
}

fn make_refocused() -> Repo {
    let repo = make_started();
    repo.build_slice("one");
    repo.accept_slice("one");
    repo.cook(&[
        "plan",
        "refocus",
        "--mission",
        "another mission",
        "--as-user",
    ])
    .ok();
    repo.commit("Change the mission", None);
    repo
}

fn unborn() -> Repo {
    let repo = Repo::unborn();
    repo.cook(&["init", "--mission", "a mission"]).ok();
    repo
}

fn contract_changed() -> Repo {
    let repo = make_started();
    let settings = repo.read(".agent/cook.toml");
    repo.write(
        ".agent/cook.toml",
        format!("{settings}\n[limits]\nsteps = 99\n"),
    );
    repo.commit("Allow more steps", None);
    repo.write_commit_for("one", "one.txt", "one works\n");
    repo
}

fn make_edited() -> Repo {
    let repo = make_started();
    let state = repo.read(".agent/state.json");
    let forged = state.replace("\"project_done\": false", "\"project_done\": true");
    assert_ne!(state, forged);
    repo.write(".agent/state.json", &forged);
    repo
}

fn make_deleted() -> Repo {
    let repo = make_started();
    std::fs::remove_dir_all(repo.root.join(".agent")).unwrap();
    repo
}

/// What a person does about it, where an agent cannot.
fn help(name: &str, repo: &Repo) {
    match name {
        "every slice is blocked" => {
            repo.hand_in_reground(&json!({
                "policy": {"to": "await_user_input", "question": "is the licence there?"},
            }));
            repo.cook(&["resume", "--answer", "yes", "--as-user"]).ok();
            // What a plan leaves out stays.
            let mut free = slice("one");
            free["blocked_on"] = json!([]);
            repo.hand_in_reground(&json!({"plan": plan(&[free]), "select": "one"}));
        }
        "the reviewer was wrong" => {
            repo.cook(&["resume", "--review-again", "--as-user"]).ok();
        }
        "a dirty file of yours" => {
            let block = json!({"reconcile": {"slice_id": "one", "decision": "accepted"},
                "evidence": crate::support::reports::proof("one")});
            repo.record("regrounder", repo.regrounder_report(&block))
                .ok()
                .says("notes.txt");
            assert_eq!(repo.rule(), "S");
            repo.cook(&["next", "--exit-code"]).exits(10);
            std::fs::remove_file(repo.root.join("notes.txt")).unwrap();
            repo.cook(&["resume", "--as-user"]).ok();
        }
        "a commit without the trailer" => {
            let commit = repo.head();
            repo.record("implementer", repo.implementer_report(None))
                .ok();
            assert_eq!(repo.rule(), "5");
            let history = repo.read(".agent/slice-history.jsonl");
            assert!(history.contains(&format!("\"claimed\":[\"{commit}\"]")));
        }
        "a branch switch" => {
            repo.git(&["switch", "--quiet", "main"]);
        }
        "your own change of the contract" => {
            repo.record("implementer", repo.implementer_report(None))
                .expect_refused("not_your_turn")
                .says("cook init");
            // Without a terminal and without `--as-user` it is nobody's word.
            repo.cook(&["init"]).ok().says("contract_edited");
            assert_eq!(repo.rule(), "S");
            repo.cook(&["init", "--as-user"]).ok();
        }
        "a new mission" => {
            repo.hand_in_reground(&json!({"plan": plan(&[slice("two")]), "select": "two"}));
        }
        "no commit in the repository yet" => {
            let block = json!({"plan": plan(&[slice("one")]), "select": "one"});
            repo.record("regrounder", repo.regrounder_report(&block))
                .exits(4)
                .says("cook init --commit");
            repo.cook(&["init", "--commit"]).ok();
            repo.hand_in_reground(&block);
        }
        _ => {}
    }
}

#[test]
fn the_guide_names_these_cases() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let section = guide
        .split("\n## ")
        .find(|section| section.starts_with("When something goes wrong"))
        .unwrap();
    let rows: Vec<(&str, &str)> = section
        .lines()
        .filter(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| {
            let mut cells = line.trim_matches('|').split('|').map(str::trim);
            (cells.next().unwrap(), cells.next().unwrap())
        })
        .collect();
    let cases: Vec<&str> = CASES.iter().map(|case| case.0).collect();
    let named: Vec<&str> = rows.iter().map(|row| row.0).collect();
    assert_eq!(named, cases);
    for ((name, rule), case) in rows.iter().zip(CASES) {
        let said = rule.split(',').next().unwrap();
        assert_eq!(said, format!("rule {}", case.2), "{name}");
    }
}

fn case(name: &str) {
    let (name, arrive, rule) = CASES.into_iter().find(|case| case.0 == name).unwrap();
    let repo = arrive();
    assert_eq!(repo.rule(), rule, "{name}: {:#}", repo.due());
    help(name, &repo);
    let rules = repo.work_until_done();
    println!("{name}: {}", rules.join(" "));
}

macro_rules! cases {
    ($($test:ident $name:literal;)*) => {
        $(#[test] fn $test() { case($name); })*

        #[test]
        fn every_case_has_a_test() {
            assert_eq!([$($name),*], CASES.map(|case| case.0));
        }
    };
}

cases! {
    an_empty_plan_is_judged_at_once "an empty plan: nothing is left to do";
    blocked_slices_end_in_a_question "every slice is blocked";
    a_wrong_review_is_voided_by_the_user "the reviewer was wrong";
    a_no_outlives_its_commit "a judge said no, then HEAD moved";
    a_rebase_goes_on_from_the_merge_base "a rebase in the middle of a slice";
    a_commit_without_trailer_is_claimed "a commit without the trailer";
    a_lost_report_is_asked_for "a report that was lost";
    a_wrong_plan_goes_back "the plan was wrong";
    red_gates_are_fixed "red gates";
    a_dirty_file_holds_acceptance_up "a dirty file of yours";
    a_branch_switch_waits "a branch switch";
    your_own_change_of_the_contract_is_named "your own change of the contract";
    a_new_mission_is_planned "a new mission";
    an_unborn_head_gets_its_commit "no commit in the repository yet";
    an_edited_state_is_put_back "a file in `.agent/` was edited or deleted";
    a_deleted_view_comes_back "`.agent/` was deleted altogether";
}
