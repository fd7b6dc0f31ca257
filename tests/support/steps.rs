//! An agent that does what `cook next` says, and nothing else: it shows that a state leads on.

use super::Repo;
use super::reports::proof;
use serde_json::{Value, json};

/// More steps than any of these small jobs takes.
const STEPS: usize = 40;

impl Repo {
    /// `cook next --json`.
    pub fn due(&self) -> Value {
        self.cook(&["next", "--json"]).json()
    }

    /// Does what is due, step by step, until nothing is; returns the rules that answered.
    #[track_caller]
    pub fn work(&self) -> Vec<String> {
        let mut rules = Vec::new();
        for _ in 0..STEPS {
            let due = self.due();
            let rule = due["rule"].as_str().unwrap().to_owned();
            rules.push(rule.clone());
            if rule == "S" {
                return rules;
            }
            let session = format!("session-{}", rules.len());
            match rule.as_str() {
                "1" => self.cook(&["init"]).ok(),
                "4" => self.implement(&due),
                "5" => self.record("reviewer", self.reviewer_report(None)).ok(),
                "6" => self.record("auditor", self.auditor_report()).ok(),
                "8" => self
                    .cook_reads(
                        &["record", "stop-judge", "--session", &session],
                        self.judge_report(None),
                    )
                    .ok(),
                _ => self
                    .record("regrounder", self.regrounder_report(&self.decide(&due)))
                    .ok(),
            };
        }
        panic!("still at work after {STEPS} steps: {rules:?}");
    }

    /// Works until the project is done, and has `cook verify` agree.
    #[track_caller]
    pub fn work_until_done(&self) -> Vec<String> {
        let rules = self.work();
        self.cook(&["next"]).ok().says("the project is done");
        self.cook(&["verify"]).ok();
        rules
    }

    fn implement(&self, due: &Value) -> super::Run {
        let id = due["slice_id"].as_str().unwrap();
        if !due["action"].as_str().unwrap().contains("report") {
            let file = format!("{id}.txt");
            let before = if self.root.join(&file).exists() {
                self.read(&file)
            } else {
                String::new()
            };
            // A line that stood in a file of the basis would prove nothing.
            let number = before.lines().count() + 1;
            self.write_commit_for(id, &file, &format!("{before}{id} works, line {number}\n"));
        }
        self.record("implementer", self.implementer_report(None))
            .ok()
    }

    /// The block of a regrounder who accepts, answers each no, selects what is first, and concludes.
    fn decide(&self, due: &Value) -> Value {
        let mut block = json!({});
        if due["rule"] == "7" {
            let id = due["slice_id"].as_str().unwrap();
            block["reconcile"] = json!({"slice_id": id, "decision": "accepted"});
            // What an attempt before this one wrote may have become somebody else's.
            let lines = self.read(&format!("{id}.txt")).lines().count();
            block["evidence"] = proof(id);
            block["evidence"][0]["anchor"] = json!(format!("{id}.txt:{lines}"));
            return block;
        }
        if due["rule"] == "9" {
            block["conclude"] = json!({"decision": "stop"});
            return block;
        }
        let rejections: Vec<Value> = due["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|finding| finding["code"] == "unanswered_no")
            .map(|finding| json!({"no": finding["place"], "reason": "it is so no longer"}))
            .collect();
        if !rejections.is_empty() {
            block["answers"] = json!(rejections);
        }
        let status = self.cook(&["status", "--json"]).json();
        let in_work = status["slices"]
            .as_array()
            .unwrap()
            .iter()
            .any(|slice| slice["status"] == "selected" || slice["status"] == "in_progress");
        let ready = self.cook(&["status", "--ready", "--json"]).json();
        if let (false, Some(first)) = (in_work, ready["ready"].as_array().unwrap().first()) {
            block["select"] = first["slice_id"].clone();
        }
        block
    }
}
