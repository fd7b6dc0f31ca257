//! Somebody who does what `cook next` asks for, as it stands in the repository; now and then a liar.

use super::world::{GATE, Kind, SLICES, World};
use crate::support::Run;
use serde_json::{Value, json};

pub enum Went {
    On,
    Done,
    Wrong(String),
}

/// Answers to one report that is refused.
const TRIES: usize = 10;

/// The code of a refusal.
fn code_of(run: &Run) -> &str {
    let rest = run.err.split_once("error[").map_or("", |(_, rest)| rest);
    rest.split(']').next().unwrap_or_default()
}

/// What a value of JSON says; nothing where it is no text.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn claim(name: &str, anchor: &str) -> Value {
    json!({"slice_id": name[..1], "criterion": name, "anchor": anchor})
}

fn is_claimed(block: &Value, name: &str) -> bool {
    block["evidence"]
        .as_array()
        .is_some_and(|all| all.iter().any(|claim| claim["criterion"] == name))
}

impl World {
    /// Does what is due.
    pub fn step(&mut self, may_lie: bool) -> Went {
        // A transition says who is due; after anything else `cook next` does.
        let due = match self.due.take() {
            Some(due) => due,
            None => self.repo.cook(&["next", "--json"]).ok().json(),
        };
        let (rule, exit) = (text(&due["rule"]), text(&due["blocking_command"]));
        self.ticket = text(&due["ticket"]);
        self.say(format!(
            "-- rule {rule}: {} {}",
            due["action"], due["reason"]
        ));
        if may_lie && matches!(&*rule, "2" | "3" | "7") && self.rng.chance(20) && self.lie(&rule) {
            return Went::On;
        }
        let result = match &*rule {
            "S" if text(&due["action"]).contains("project is done") && exit.is_empty() => {
                return Went::Done;
            }
            "S" if exit.starts_with("cook resume --answer") || exit.is_empty() => {
                self.cook("resume --answer yes --as-user")
            }
            "S" => self.cook(&format!("{} --as-user", exit.trim_start_matches("cook "))),
            "1" => self.cook("init"),
            "4" => self.implement(&due),
            "5" => self.review(),
            "6" => self.record("auditor", &self.repo.auditor_report()),
            "8" if exit.starts_with("cook ") => {
                // It says no as long as votes are missing; what it measured counts.
                self.cook(exit.trim_start_matches("cook ")).or(Ok(()))
            }
            "8" => self.record("stop-judge", &self.repo.judge_report(None)),
            "7" if self.rng.chance(50) && self.has_mended() => Ok(()),
            _ => {
                let block = self.decide(&rule, &due);
                self.settle(block)
            }
        };
        match result {
            Ok(()) => Went::On,
            Err(why) => Went::Wrong(format!("rule {rule}: {why}")),
        }
    }

    fn cook(&mut self, words: &str) -> Result<(), String> {
        let run = self
            .repo
            .cook(&words.split_whitespace().collect::<Vec<_>>());
        match run.code {
            0 => Ok(()),
            _ => Err(format!("{}: {}{}", run.line, run.out, run.err)),
        }
    }

    /// A report of HEAD as it was when cook said who is due; an implementer's is of a newer one.
    fn hand_in(&mut self, role: &str, report: &str) -> Run {
        let (session, ticket) = (format!("session-{}", self.log.len()), self.ticket.clone());
        let mut words = vec![role, "--json", "--session", &session];
        if role != "implementer" {
            words.extend(["--ticket", &ticket]);
        }
        let run = self.repo.record_with(&words, report);
        self.note("reports");
        self.say(format!("   {role} -> {}\n{}{}", run.code, run.out, run.err));
        match run.code {
            0 => self.due = Some(run.json()["next"].clone()).filter(Value::is_object),
            _ => self.note(format!("refused: {}", code_of(&run))),
        }
        run
    }

    fn record(&mut self, role: &str, report: &str) -> Result<(), String> {
        let run = self.hand_in(role, report);
        match run.code {
            0 => Ok(()),
            _ => Err(format!("{role}: {}", run.err)),
        }
    }

    /// Others came in between: what they broke is put right by hand.
    fn has_mended(&mut self) -> bool {
        self.mend();
        let is_changed = !self.git(&["status", "--porcelain"]).is_empty();
        if is_changed {
            self.repo.commit("Mend", None);
            self.say("   mended");
        }
        is_changed
    }

    /// A yes, with an answer to each change of tests.
    fn review(&mut self) -> Result<(), String> {
        let prompt = self.repo.cook(&["next", "--prompt"]).ok().out;
        let ids = prompt.split('`').filter(|word| word.starts_with("t-"));
        let answers: String = ids.map(|id| format!("\nWAIVE {id}: it is meant")).collect();
        let report = self.repo.reviewer_report(None);
        let answers = if answers.is_empty() {
            " none"
        } else {
            &answers
        };
        self.record(
            "reviewer",
            &report.replace("Findings: none", &format!("Findings:{answers}")),
        )
    }

    /// Reports the commit that is named, else builds.
    fn implement(&mut self, due: &Value) -> Result<(), String> {
        let id = text(&self.repo.document("active-slice.json")["slice_id"]);
        let action = text(&due["action"]);
        let is_id =
            |word: &&str| word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let named = action
            .split_whitespace()
            .find(is_id)
            .filter(|_| action.starts_with("report"));
        if let Some(commit) = named {
            let (report, head) = (self.repo.implementer_report(None), self.repo.head());
            let run = self.hand_in(
                "implementer",
                &report.replace(
                    &format!("Commit SHA: {head}"),
                    &format!("Commit SHA: {commit}"),
                ),
            );
            // It forked off before the basis, holds nothing, left HEAD, or others bent tests on its way.
            match code_of(&run) {
                "" => {
                    let commit = self.git(&["rev-parse", commit]);
                    self.note_report(commit);
                    return Ok(());
                }
                code if code.starts_with("commit_") || code == "tests_undeclared" => {}
                _ => {
                    return Err(format!(
                        "the commit that was asked for is refused: {}",
                        run.err
                    ));
                }
            }
        }
        // Now and then the slice changes what a slice before it did, with its test.
        let others = self
            .accepted
            .iter()
            .filter(|(name, _)| name[..1] != *id && self.is_done(name));
        let others = others.filter(|(name, kept)| kept.anchor == format!("test:{name}"));
        let others: Vec<String> = others.map(|(name, _)| name.clone()).collect();
        let other = self.rng.pick(&others).filter(|_| self.rng.chance(20));
        for name in self.names_of(&id).into_iter().chain(other) {
            self.renew(&name);
        }
        if self.rng.chance(20) {
            self.repo
                .write(&format!("tests/vacuous-{}.sh", self.count), "true\n");
        }
        self.mend();
        self.repo.commit(&format!("Work on {id}"), Some(&id));
        self.say(format!("   built {id}: {:?}", self.values));
        for _ in 0..TRIES {
            let run = self.hand_in("implementer", &self.repo.implementer_report(None));
            if run.code == 0 {
                self.note_report(self.repo.head());
                return match run.out.contains("gate_red") {
                    true => Err("a green gate is called red".to_owned()),
                    false => Ok(()),
                };
            }
            let lines = run
                .err
                .lines()
                .filter_map(|line| line.split_once("in the message: "));
            let lines: Vec<String> = lines
                .map(|(_, line)| line.replace("WHY", "it is meant"))
                .collect();
            if code_of(&run) != "tests_undeclared" || lines.is_empty() {
                return Err(format!("implementer: {}", run.err));
            }
            self.repo
                .commit(&format!("Say so\n\n{}", lines.join("\n")), Some(&id));
        }
        Err("declared in a loop".to_owned())
    }

    fn note_report(&mut self, commit: String) {
        let basis = text(&self.repo.document("active-slice.json")["basis_commit"]);
        self.said = self.read_messages(&basis, &commit);
        self.reported = commit;
    }

    fn read_messages(&self, from: &str, to: &str) -> String {
        let range = format!("{from}..{to}");
        self.try_git(&["log", "--format=%B", &range]).out
    }

    fn decide(&mut self, rule: &str, due: &Value) -> Value {
        let mut block = json!({"evidence": [], "reopen": [], "answers": []});
        let findings = due["findings"].as_array().cloned().unwrap_or_default();
        for finding in findings
            .iter()
            .filter(|finding| finding["code"] == "unanswered_no")
        {
            let answer = json!({"no": finding["place"], "reason": "what is left does"});
            block["answers"].as_array_mut().unwrap().push(answer);
        }
        let open: Vec<&str> = SLICES
            .into_iter()
            .filter(|id| self.status(id) == "planned")
            .collect();
        match rule {
            "7" => self.decide_on_work(&mut block),
            "9" => block["conclude"] = json!({"decision": "stop"}),
            _ if self.rng.chance(6) => block["policy"] = self.ask(),
            "3" => block["select"] = json!(self.rng.pick(&open)),
            _ => {}
        }
        block
    }

    fn ask(&self) -> Value {
        json!({"to": "await_user_input", "question": format!("is this wanted? ({})", self.log.len())})
    }

    /// Accepts what is proved, and sends the rest back.
    fn decide_on_work(&mut self, block: &mut Value) {
        let active = self.repo.document("active-slice.json");
        let (id, basis) = (text(&active["slice_id"]), text(&active["basis_commit"]));
        let names = self.names_of(&id);
        let proofs = names
            .iter()
            .map(|name| Some(claim(name, &self.find_proof(name)?)));
        let proofs = proofs.collect::<Option<Vec<Value>>>();
        let is_new = self.is_commit(&basis) && names.iter().any(|name| self.is_new(name, &basis));
        block["reconcile"] = json!({"slice_id": id, "decision": "accepted"});
        match proofs.filter(|_| is_new) {
            Some(proofs) => block["evidence"] = json!(proofs),
            None => {
                block["reconcile"]["decision"] = json!("reopened");
                block["reconcile"]["findings"] = json!(["not all of it holds"]);
            }
        }
    }

    /// Hands the report in, and answers each refusal as it asks.
    fn settle(&mut self, mut block: Value) -> Result<(), String> {
        for _ in 0..TRIES {
            let basis = text(&self.repo.document("active-slice.json")["basis_commit"]);
            let run = self.hand_in_block(&block);
            match code_of(&run) {
                "" => {
                    self.remember(&block, &basis);
                    self.note_old(&run.json()["findings"]);
                    return Ok(());
                }
                // Others eased what is asked since the report.
                "evidence_not_new" if self.has_mended() => return Ok(()),
                "evidence_not_new" => {
                    let findings = json!(["what was reported asks for nothing new"]);
                    block["evidence"] = json!([]);
                    block["reconcile"]["decision"] = json!("reopened");
                    block["reconcile"]["findings"] = findings;
                }
                // What was run for the report says that something else is due.
                "conclude_not_due" => return Ok(()),
                // The accepted test is gone, or cannot be run: it is claimed anew, or its slice taken up.
                "proof_unguarded" | "proof_unrunnable" => {
                    for part in run.err.split("\"criterion\": \"").skip(1) {
                        let name = part.split('"').next().unwrap_or_default();
                        let proof = self.find_proof(name).filter(|_| !is_claimed(&block, name));
                        let (key, answer) = match proof.filter(|_| self.rng.chance(70)) {
                            Some(anchor) => ("evidence", claim(name, &anchor)),
                            None => (
                                "reopen",
                                json!({"slice_id": name[..1], "why": "it is not as it was"}),
                            ),
                        };
                        let answers = block[key].as_array_mut().unwrap();
                        if !answers.contains(&answer) {
                            answers.push(answer);
                        }
                    }
                    let reopened = block["reopen"].as_array().unwrap().clone();
                    let stays = |claim: &Value| {
                        !reopened
                            .iter()
                            .any(|it| it["slice_id"] == claim["slice_id"])
                    };
                    block["evidence"].as_array_mut().unwrap().retain(stays);
                    if !reopened.is_empty() && !block["conclude"].is_null() {
                        block["conclude"] =
                            json!({"decision": "go_on", "reason": "look at it again"});
                    }
                }
                _ => return Err(format!("refused: {}", run.err)),
            }
        }
        Err(format!("refused in a loop: {block}"))
    }

    fn hand_in_block(&mut self, block: &Value) -> Run {
        self.say(format!("   {block}"));
        self.hand_in("regrounder", &self.repo.regrounder_report(block))
    }

    /// Keeps what was accepted; of a test that commits declare as changed the changed one, where the old is red.
    fn remember(&mut self, block: &Value, basis: &str) {
        for claim in block["evidence"].as_array().unwrap() {
            if self.is_done(&text(&claim["criterion"])) {
                let name = text(&claim["criterion"]);
                self.keep(&name, &text(&claim["anchor"]), "HEAD");
                // One that takes the place of another is shown to judges, and needs not be new.
                let is_replaced = claim["slice_id"] != block["reconcile"]["slice_id"];
                self.accepted.get_mut(&name).unwrap().is_old = is_replaced;
            }
        }
        if block["reconcile"]["decision"] != "accepted" {
            return;
        }
        let now = self.read_messages(basis, "HEAD");
        let said = format!("{}{now}", self.said);
        for name in self.accepted.keys().cloned().collect::<Vec<_>>() {
            let anchor = self.accepted[&name].anchor.clone();
            let test = anchor
                .strip_prefix("test:")
                .map(|test| format!("Test-Changed: {test}: "));
            let is_declared = test.is_some_and(|line| said.contains(&line));
            if is_declared && self.is_done(&name) && !self.holds(&name, "HEAD") {
                // As its review saw it.
                let seen = self.reported.clone();
                let seen = if self.is_commit(&seen) { &seen } else { "HEAD" };
                self.keep(&name, &anchor, seen);
            }
        }
    }

    /// Keeps which proofs cook calls already true: they may hold at the base.
    fn note_old(&mut self, findings: &Value) {
        let findings = findings.as_array().cloned().unwrap_or_default();
        for finding in findings.iter().filter(|it| it["code"] == "proof_not_new") {
            let said = text(&finding["message"]);
            for (name, accepted) in &mut self.accepted {
                accepted.is_old |= said.contains(&format!("`{name}`"));
            }
        }
    }

    /// A report that claims what does not hold; whether there is something to lie about.
    fn lie(&mut self, rule: &str) -> bool {
        let mut block = json!({});
        let active = self.repo.document("active-slice.json");
        let (mut id, basis) = (text(&active["slice_id"]), text(&active["basis_commit"]));
        if rule == "7" {
            if !self.is_commit(&basis) || !self.is_commit(&self.reported) {
                return false;
            }
            let names = self.names_of(&id);
            let mut claims = self.list_lies(&basis);
            if names.len() > 1 && self.rng.chance(25) {
                // One proof for all.
                claims = self.find_proof(&names[0]).into_iter().collect();
                // Without a claim those of before are asked again, which is no lie.
                if claims.is_empty() {
                    return false;
                }
            }
            let lies = names
                .iter()
                .filter_map(|name| Some(claim(name, &self.rng.pick(&claims)?)));
            block["evidence"] = lies.collect();
            block["reconcile"] = json!({"slice_id": id, "decision": "accepted"});
        } else {
            // The accepted version of a test is red, and another one is claimed.
            let is_red = |name: &&String| {
                self.criteria[*name] == Kind::Test
                    && self.is_done(name)
                    && !self.holds(name, "HEAD")
            };
            let Some(name) = self.accepted.keys().find(is_red) else {
                return false;
            };
            id = name[..1].to_owned();
            block["evidence"] = json!([claim(name, "test:add")]);
            block["policy"] = self.ask();
        }
        let run = self.hand_in_block(&block);
        self.note("lies");
        match run.code == 0 && self.status(&id) == "done" {
            true => self.wrong.push(format!("a lie is taken: {block}")),
            false => self.note("lies refused"),
        }
        true
    }

    /// What proves nothing: it holds at the basis, or nowhere.
    fn list_lies(&mut self, basis: &str) -> Vec<String> {
        let tests = self.keep_tests(&self.reported.clone());
        let said = self.try_tests(basis, tests.to_str().unwrap());
        let green = said.lines().filter(|line| line.starts_with("ok "));
        let named = green.filter_map(|line| line.split_once(" - "));
        let mut claims: Vec<String> = named.map(|(_, name)| format!("test:{name}")).collect();
        if self
            .try_git(&["diff", "--quiet", basis, "HEAD", "--", "notes.md"])
            .code
            == 0
        {
            claims.extend([3, 5, 7].map(|line| format!("notes.md:{line}")));
        }
        let then = self.try_tests(basis, "");
        if then.contains("1..") && !then.contains("not ok") {
            claims.push(format!("cmd:{GATE}#exit"));
        }
        claims.extend(["test:nowhere", "gone:nowhere.txt", "nowhere.txt:1"].map(str::to_owned));
        claims
    }
}
