//! A finished job with each kind of proof, on a branch of its own.

use crate::support::reports::{self, plan};
use crate::support::{Repo, Run};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub const GATE: &str = "sh check.sh";
/// Names what works, and is red where something does not.
const CHECK: &str = "sed -n 's/^\\([a-z_]*\\): works$/test \\1 ... ok/p' code.txt\n\
    sed -n 's/^\\([a-z_]*\\): broken$/test \\1 ... FAILED/p' code.txt\n\
    ! grep -q ': broken$' code.txt\n";

/// Where the proof of each criterion is, with its kind.
pub const PROOFS: [(&str, &str, &str, &str); 8] = [
    ("a", "it adds", "test:adds", "test"),
    ("a", "the sum is written down", "code.txt:2-3", "observed"),
    ("a", "the check is green", "cmd:sh check.sh#exit", "output"),
    ("a", "the old way is gone", "gone:old.txt", "observed"),
    ("a", "the manual says how", "doc:README.md#Adding", "doc"),
    ("b", "it subtracts", "test:subtracts", "test"),
    (
        "b",
        "the difference is named",
        "code.txt:difference",
        "observed",
    ),
    ("b", "the table is there", "entry:table.txt", "observed"),
];

fn slice(id: &str) -> Value {
    let criteria = PROOFS.iter().filter(|(of, ..)| *of == id);
    let criteria: Vec<&str> = criteria.map(|(_, criterion, ..)| *criterion).collect();
    json!({
        "slice_id": id,
        "goal": format!("make {id} work"),
        "acceptance_criteria": criteria,
        "contract_ids": [format!("C-{id}")],
        "priority": 5,
        "why_now": "it is first in order",
        "implementation_surfaces": [],
    })
}

fn evidence(id: &str) -> Value {
    let proofs = PROOFS.iter().filter(|(of, ..)| *of == id);
    let proofs = proofs.map(|(slice, criterion, anchor, basis)| {
        json!({"slice_id": slice, "criterion": criterion, "anchor": anchor, "basis": basis})
    });
    proofs.collect()
}

/// Done on the branch `work`, which `main` has not taken in.
pub fn make_finished() -> Repo {
    make_finished_after("a finished job", |_| {})
}

/// The same after a change that the branch begins with.
pub fn make_finished_after(name: &str, change: impl FnOnce(&Repo)) -> Repo {
    Repo::stage(name, || {
        let repo = Repo::new();
        repo.write("check.sh", CHECK);
        repo.write("code.txt", "the library of sums\n");
        repo.write("old.txt", "this is the old way, which is to go\n");
        repo.write(
            ".agent/cook.toml",
            format!("[gates]\ncheck = {{ run = \"{GATE}\" }}\n"),
        );
        repo.commit("The library", None);
        repo.init_strictly("Extend the library").ok();
        repo.cook(&["trust", "--gates", "--as-user"]).ok();
        repo.git(&["checkout", "-q", "-b", "work"]);
        repo.cook(&["plan", "adopt", "--branch", "--as-user"]).ok();
        change(&repo);
        let block = json!({"plan": plan(&[slice("a"), slice("b")]), "select": "a"});
        repo.hand_in_reground(&block);

        repo.write(
            "code.txt",
            "the library of sums\nadding takes two numbers\nand gives their sum\nadds: works\n",
        );
        repo.git(&["rm", "-q", "old.txt"]);
        repo.write(
            "README.md",
            "# A project\n\n## Adding\n\nGive it two numbers.\n",
        );
        repo.commit("Add", Some("a"));
        record_judged(&repo);
        repo.hand_in_reground(&json!({
            "reconcile": {"slice_id": "a", "decision": "accepted"},
            "evidence": evidence("a"),
        }));
        repo.hand_in_reground(&json!({"select": "b"}));
        let code = repo.read("code.txt");
        repo.write(
            "code.txt",
            code + "subtracting gives the difference\nsubtracts: works\n",
        );
        repo.write("table.txt", "1 + 1 = 2\n");
        repo.commit("Subtract", Some("b"));
        record_judged(&repo);
        repo.hand_in_reground(&json!({
            "reconcile": {"slice_id": "b", "decision": "accepted"},
            "evidence": evidence("b"),
        }));
        for judge in 0..3 {
            let session = format!("judge-{judge}");
            repo.record_with(
                &["stop-judge", "--session", &session],
                repo.judge_report(None),
            )
            .ok();
        }
        repo.hand_in_reground(&json!({"conclude": {"decision": "stop"}}));
        repo.cook(&["verify", "--strict"]).ok();
        repo
    })
}

/// The commit at HEAD is reported, reviewed and audited.
pub fn record_judged(repo: &Repo) {
    repo.record("implementer", repo.implementer_report(None))
        .ok();
    let session = format!("at-{}", repo.document("state.json")["revision"]);
    repo.record_with(
        &["reviewer", "--session", &session],
        repo.reviewer_report(None),
    )
    .ok();
    repo.record_with(&["auditor", "--session", &session], repo.auditor_report())
        .ok();
}

/// By criterion, what its proof is worth.
pub fn verdicts(run: &Run) -> BTreeMap<String, String> {
    let answer = run.json();
    let criteria = answer["criteria"].as_array().unwrap().iter();
    criteria
        .map(|one| {
            let word = |key: &str| one[key].as_str().unwrap().to_owned();
            (word("text"), word("verdict"))
        })
        .collect()
}

/// Every criterion has the verdict of its kind: commands, places in the code.
#[track_caller]
pub fn all_are(run: &Run, commands: &str, code: &str) {
    let found = verdicts(run);
    assert_eq!(found.len(), PROOFS.len(), "{}", run.out);
    for (_, criterion, anchor, _) in PROOFS {
        let is_command = anchor.starts_with("test:") || anchor.starts_with("cmd:");
        let expected = if is_command { commands } else { code };
        assert_eq!(found[criterion], expected, "{criterion}: {}", run.out);
    }
}

/// The codes of what was found.
pub fn codes(run: &Run) -> Vec<String> {
    let answer = run.json();
    let findings = answer["findings"].as_array().unwrap().iter();
    findings
        .map(|finding| finding["code"].as_str().unwrap().to_owned())
        .collect()
}

/// A job in work whose review was sent back with these words, as those of the mission.
pub fn make_sent_back(words: &str, mission: &str) -> Repo {
    let repo = Repo::with_mission(mission);
    repo.plan_and_select(&[reports::slice("a")]);
    repo.write_commit_for("a", "a.txt", "a works\n");
    repo.record("implementer", repo.implementer_report(None))
        .ok();
    let no = format!("the sum is wrong {words}");
    repo.record("reviewer", repo.reviewer_report(Some(&no)))
        .ok();
    repo.record("auditor", repo.auditor_report()).ok();
    let decision = serde_json::json!({"slice_id": "a", "decision": "reopened"});
    repo.hand_in_reground(&serde_json::json!({"reconcile": decision}));
    repo
}
