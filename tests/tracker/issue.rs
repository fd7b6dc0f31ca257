//! `cook issue` over the plan and over the fake trackers, and issues that follow slices.
#![cfg(unix)]

use crate::support::reports::{plan, proof, slice, waiting_slice};
use crate::support::tracker::{Issues, SHAPES, install};
use crate::support::{NOW, Repo, Run, run, run_alone};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// A repository with a tracker in it.
struct Desk {
    repo: Repo,
    issues: Issues,
    path: String,
}

impl Desk {
    fn on(repo: Repo, program: &str, shape: &str) -> Self {
        let bin = repo.outside().join("bin");
        install(&bin, program);
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let issues = Issues::at(&repo.root, shape);
        repo.write(".beads/.gitignore", "fake/\n");
        repo.commit("Track issues", None);
        Self { repo, issues, path }
    }

    fn new(program: &str, shape: &str) -> Self {
        Self::on(Repo::new(), program, shape)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.repo.cook_command(arguments);
        command.env("PATH", &self.path).env("BR_ACTOR", "me");
        command
    }

    fn cook(&self, arguments: &[&str]) -> Run {
        run_alone(&mut self.command(arguments))
    }

    fn cook_reads(&self, arguments: &[&str], input: &str) -> Run {
        run(self.command(arguments), input)
    }

    /// The answer in JSON, which must follow its schema.
    #[track_caller]
    fn json(&self, schema: &str, arguments: &[&str]) -> Value {
        let mut arguments = arguments.to_vec();
        arguments.push("--json");
        let value = self.cook(&arguments).ok().json();
        let file = format!("protocol/schema/output-{schema}.schema.json");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let text = std::fs::read_to_string(file).unwrap();
        let validator = jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|e| e.to_string())
            .collect();
        assert!(errors.is_empty(), "{errors:#?}\n{value:#}");
        value
    }

    fn record(&self, role: &str, report: &str) -> Run {
        self.cook_reads(&["record", role], report)
    }
}

fn project(desk: &Desk) {
    desk.issues.add("x-0", "the whole", "");
    desk.issues.set("x-0", "priority", "4");
    desk.issues.add("x-a", "first", "parent-child x-0\n");
    desk.issues.add("x-b", "second", "blocks x-a\n");
    desk.issues.add("x-c", "third", "blocks x-b\n");
}

#[test]
fn the_whole_round_works_without_a_workflow_in_every_shape() {
    for (program, shape) in SHAPES {
        let desk = Desk::new(program, shape);
        project(&desk);
        desk.cook(&["issue", "ready"]).ok().says(
            "[P2] x-a (task) first\n   parent: x-0 (task) the whole\n   unblocks: x-b second\n   \
             2 wait for it in all · longest chain 3\n\
             [P4] x-0 (task) the whole\n   unblocks: (none)\n",
        );
        let ready = desk.json("issue-ready", &["issue", "ready"]);
        assert_eq!(
            (&ready["tracker"], &ready["ready"][0]["id"]),
            (&json!(program), &json!("x-a"))
        );
        let claimed = desk.json("issue-changed", &["issue", "claim", "x-a"]);
        assert_eq!(
            (&claimed["changed"], &claimed["issue"]["assignee"]),
            (&json!(true), &json!("me"))
        );
        desk.cook(&["issue", "claim", "x-a"])
            .ok()
            .says("claimed already");
        desk.cook(&["issue", "ready"])
            .ok()
            .says("first [in_progress, yours]");
        for changed in [true, false] {
            let said = desk.json(
                "issue-changed",
                &["issue", "comment", "x-a", "half", "--key", "K"],
            );
            assert_eq!(said["changed"], changed);
        }
        assert_eq!(desk.issues.comments("x-a"), ["half [cook:K]"]);
        let read = desk.cook_reads(&["issue", "comment", "x-a", "-"], "piped");
        read.ok().says("commented  ");
        let shown = desk.json("issue-show", &["issue", "show", "x-a"]);
        assert_eq!(shown["comments"][0]["text"], "half [cook:K]");
        assert_eq!(shown["dependents"][0]["issue"]["id"], "x-b");
        let status = desk.json("issue-status", &["issue", "status"]);
        assert_eq!(
            (&status["current"][0]["id"], &status["ready"]),
            (&json!("x-a"), &json!(2))
        );
        let made = desk.json(
            "issue-changed",
            &[
                "issue",
                "create",
                "found",
                "--type",
                "bug",
                "--priority",
                "0",
                "--discovered-from",
                "x-a",
            ],
        );
        let id = made["issue"]["id"].as_str().unwrap();
        assert_eq!(desk.issues.get(id, "deps"), "discovered-from x-a\n");
        let closed = desk.json(
            "issue-changed",
            &["issue", "close", "x-a", "--reason", "built"],
        );
        assert_eq!(closed["unblocked"][0]["id"], "x-b");
        desk.cook(&["issue", "close", "x-a"])
            .ok()
            .says("closed already");
        desk.cook(&["issue", "close", "x-c"])
            .expect_refused("issue_not_closed")
            .says("waits for x-b");
        desk.cook(&["issue", "show", "x-9"])
            .expect_refused("issue_unknown");
        desk.cook(&["issue", "show", "--", "--help"])
            .exits(2)
            .says("not an issue id");
    }
}

#[test]
fn an_issue_is_not_closed_over_uncommitted_work() {
    let desk = Desk::new("br", "flat");
    project(&desk);
    desk.repo.write("src.txt", "work");
    desk.repo.write(".beads/issues.jsonl", "{}\n");
    desk.cook(&["issue", "close", "x-a"])
        .expect_refused("issue_dirty")
        .says("src.txt is not committed");
    assert_eq!(desk.issues.get("x-a", "status"), "open");
    std::fs::remove_file(desk.repo.root.join("src.txt")).unwrap();
    desk.cook(&["issue", "close", "x-a"]).ok();
}

#[test]
fn a_tracker_that_is_away_is_named_and_noted() {
    for (fault, why) in [("locked", "database is locked"), ("denied", "may not open")] {
        let desk = Desk::new("br", "flat");
        project(&desk);
        desk.issues.fault("info", fault);
        desk.cook(&["issue", "ready"])
            .exits(3)
            .says("[tracker_unavailable]")
            .says(why);
        desk.issues.fault("info", "");
        let status = desk.json("issue-status", &["issue", "status"]);
        assert_eq!(status["outage"]["since"], NOW);
        assert!(status["outage"]["why"].as_str().unwrap().contains(why));
    }
    let desk = Desk::new("br", "flat");
    project(&desk);
    desk.issues.fault("ready", "drift");
    desk.cook(&["issue", "ready"])
        .exits(3)
        .says("[tracker_unreadable]")
        .says("`result`");
    desk.issues.fault("ready", "");
    desk.issues.fault("dep", "quiet-error");
    let ready = desk.json("issue-ready", &["issue", "ready"]);
    assert_eq!(ready["findings"][0]["code"], "ready_incomplete");
    assert_eq!(ready["ready"][0]["reach"], Value::Null);
}

#[test]
fn the_plan_is_a_tracker_that_only_reports_move() {
    let repo = Repo::with_mission("a mission");
    let desk = Desk::on(repo, "br", "flat");
    desk.repo
        .write(".agent/cook.toml", "[tracker]\nkind = \"none\"\n");
    desk.repo.commit("Settle the tracker", None);
    desk.repo.cook(&["init", "--as-user"]).ok();
    desk.repo
        .hand_in_reground(&json!({"plan": plan(&[slice("one"), waiting_slice("two", "one")])}));
    desk.cook(&["issue", "ready"])
        .ok()
        .says("one (slice)")
        .says("unblocks: two")
        .says("1 wait for it in all");
    let ready = desk.json("issue-ready", &["issue", "ready"]);
    assert_eq!(ready["ready"][0]["reach"]["chain"], 2);
    desk.json("issue-show", &["issue", "show", "two"]);
    desk.cook(&["issue", "claim", "one"])
        .expect_refused("issue_follows_slice");
    desk.cook(&["issue", "close", "one"])
        .expect_refused("issue_follows_slice");
    desk.cook(&["issue", "create", "three"])
        .expect_refused("issue_follows_slice");
    desk.cook(&["issue", "comment", "nine", "so"])
        .expect_refused("issue_unknown");
    for changed in [true, false] {
        let said = desk.json(
            "issue-changed",
            &["issue", "comment", "one", "so", "--key", "K"],
        );
        assert_eq!(said["changed"], changed);
    }
    desk.cook_reads(&["issue", "comment", "one", "-"], "piped\n")
        .ok()
        .says("commented  ");
    desk.cook(&["issue", "comment", "one", "\u{1b} "]).exits(2);
    desk.cook(&["issue", "comment", "one", &"x".repeat(4097)])
        .exits(2);
    let trail = desk.repo.read(".agent/checkpoints.jsonl");
    assert_eq!(trail.lines().count(), 2, "{trail}");
    let shown = desk.json("issue-show", &["issue", "show", "one"]);
    let said = |number: usize| shown["comments"][number]["text"].clone();
    assert_eq!((said(0), said(1)), (json!("so"), json!("piped")));
    desk.cook(&["issue", "show", "three"])
        .expect_refused("issue_unknown");
    desk.repo.hand_in_reground(&json!({"select": "one"}));
    desk.cook(&["issue", "claim", "one"])
        .ok()
        .says("claimed already");
    desk.repo.build_slice("one");
    desk.repo.accept_slice("one");
    desk.cook(&["issue", "close", "one"])
        .ok()
        .says("unblocked: two");
    assert!(desk.issues.calls().is_empty());
}

/// The first slice carries an issue.
fn carrying(desk: &Desk) {
    let mut first = slice("one");
    first["contract_ids"] = json!(["C-1", "issue:x-a"]);
    let mut second = waiting_slice("two", "one");
    second["contract_ids"] = json!(["issue:x-b"]);
    let report = desk
        .repo
        .regrounder_report(&json!({"plan": plan(&[first, second])}));
    desk.record("regrounder", &report).ok();
}

#[test]
fn the_claim_follows_the_selection_and_the_close_the_acceptance() {
    for (program, shape) in SHAPES {
        let desk = Desk::on(Repo::with_mission("a mission"), program, shape);
        project(&desk);
        carrying(&desk);
        assert_eq!(desk.issues.get("x-a", "status"), "open", "planned only");
        let stays = |id: &str, word: &str| {
            desk.cook(&["issue", word, id])
                .expect_refused("issue_follows_slice");
        };
        stays("x-a", "claim");
        stays("x-a", "close");
        // The tracker is away while the slice is selected: the report counts, and the
        // claim comes with the next one.
        desk.issues.fault("info", "once locked");
        let select = desk.repo.regrounder_report(&json!({"select": "one"}));
        desk.record("regrounder", &select)
            .ok()
            .says("[tracker_behind]");
        assert_eq!(desk.issues.get("x-a", "status"), "open");
        desk.repo.write_commit_for("one", "one.txt", "one works\n");
        desk.record("implementer", &desk.repo.implementer_report(None))
            .ok();
        assert_eq!(desk.issues.get("x-a", "status"), "in_progress");
        assert_eq!(desk.issues.get("x-a", "assignee"), "me");
        stays("x-a", "close");
        desk.record("reviewer", &desk.repo.reviewer_report(None))
            .ok();
        desk.record("auditor", &desk.repo.auditor_report()).ok();
        assert_eq!(
            desk.issues.count(&["close"]),
            0,
            "never before the acceptance"
        );
        assert_eq!(desk.issues.count(&["update"]), 1, "once is enough");
        let accept = desk.repo.regrounder_report(&json!({
            "reconcile": {"slice_id": "one", "decision": "accepted"},
            "evidence": proof("one"),
        }));
        desk.record("regrounder", &accept).ok();
        assert_eq!(desk.issues.get("x-a", "status"), "closed");
        assert_eq!(desk.issues.get("x-a", "reason"), "slice one is accepted");
        assert_eq!(desk.issues.get("x-b", "status"), "open");
        let writes = desk.issues.calls();
        let silent = |call: &Vec<String>| call.contains(&"--no-auto-flush".to_owned());
        let writes = writes
            .iter()
            .filter(|call| ["update", "close"].contains(&call[0].as_str()));
        assert!(writes.clone().count() == 2 && writes.clone().all(silent));
    }
}
