//! The roles. What they keep to themselves are demands that nobody else can know of.

use crate::handover::prompt::{Prompt, orders};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What a role leaves: its report, and what it commits for a slice.
pub struct Output {
    pub report: String,
    pub files: Option<(String, String)>,
}

/// Who was asked what already, as each role remembers of itself.
#[derive(Default)]
pub struct Roles {
    has_asked: bool,
    has_returned: bool,
    has_advised: bool,
    /// What the implementer has in its file.
    text: String,
}

fn report(prompt: &Prompt, fields: &[(&'static str, &str)], block: Option<&Value>) -> Output {
    let fields: BTreeMap<&str, String> = fields
        .iter()
        .map(|(name, value)| (*name, (*value).to_owned()))
        .collect();
    let block = block.map(|block| serde_json::to_string_pretty(block).unwrap());
    Output {
        report: prompt.report(&fields, block.as_deref()),
        files: None,
    }
}

impl Roles {
    pub fn play(&mut self, role: &str, prompt: &Prompt) -> Output {
        match role {
            "regrounder" => self.regrounder(prompt),
            "implementer" => self.implementer(prompt),
            "reviewer" => reviewer(prompt),
            "auditor" => report(
                prompt,
                &[("Stale or conflicting canonical state", "no")],
                None,
            ),
            "stop-judge" => judge(prompt),
            other => panic!("no such role: {other}"),
        }
    }

    fn regrounder(&mut self, prompt: &Prompt) -> Output {
        let mut block = json!({});
        let mut fields = vec![("Reopened slices", "none".to_owned())];
        let (plan, review) = (
            prompt.part("The plan:"),
            prompt.part("The review of its commit:"),
        );
        let active = Slice::read(prompt.part("The slice in work:"));
        match prompt.rule.as_str() {
            "7" => {
                let slice = active.unwrap();
                let accepted = review.starts_with("acceptable");
                let decision = if accepted { "accepted" } else { "reopened" };
                block["reconcile"] = json!({"slice_id": slice.id, "decision": decision});
                fields.push(("Reconciliation decision", decision.to_owned()));
                fields.push(("Reconciled slice ID", slice.id.clone()));
                if accepted {
                    block["evidence"] = evidence(&slice, prompt);
                }
            }
            "9" => {
                let votes = prompt.part("The votes of this wave:");
                let wanted = orders(votes);
                block["conclude"] = match wanted.is_empty() {
                    true => json!({"decision": "stop"}),
                    false => {
                        block["plan"] =
                            json!({"plan_basis": "the votes", "add": [slice("s9", &wanted, &[])]});
                        json!({"decision": "go_on", "reason": format!("s9 takes it up: {}", wanted.join(", "))})
                    }
                };
            }
            _ => {
                let returned = orders(prompt.part("Given back by the implementer:"));
                if !returned.is_empty() {
                    let waiting = active.map_or("s1".to_owned(), |slice| slice.id);
                    block["plan"] = json!({
                        "plan_basis": "what the implementer says",
                        "add": [slice("s0", &returned, &[])],
                        "change": [{"slice_id": waiting, "blocked_on": ["s0"], "status": "planned"}],
                    });
                    block["select"] = json!("s0");
                } else if plan.trim().is_empty() && active.is_none() {
                    let wanted = orders(&prompt.mission);
                    block["plan"] = json!({"plan_basis": "the mission", "add": [slice("s1", &wanted, &["it greets whom the user says"])]});
                    block["select"] = json!("s1");
                } else if let Some((_, ready)) =
                    plan.split_once("can be selected, in order of work: ")
                    && active.is_none()
                {
                    let first = ready.lines().next().unwrap().split(", ").next().unwrap();
                    block["select"] = json!(first);
                }
            }
        }
        if let Some(select) = block["select"].as_str() {
            fields.push(("Current selected slice", select.to_owned()));
        }
        if !self.has_advised {
            fields.push((
                "Exact handoff payload",
                "greet.txt must hold ADVICE-9".to_owned(),
            ));
            self.has_advised = prompt.rule == "7";
        }
        let fields: Vec<(&'static str, &str)> = fields
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        report(prompt, &fields, Some(&block))
    }

    fn implementer(&mut self, prompt: &Prompt) -> Output {
        let handoff = prompt.part("The exact handoff");
        let slice = Slice::read(handoff).unwrap_or_else(|| panic!("no slice in: {handoff}"));
        let base = [
            ("Slice ID", slice.id.as_str()),
            ("Slice goal", slice.goal.as_str()),
            ("Plan adjustment required", "no"),
        ];
        let greets = slice
            .criteria
            .iter()
            .any(|criterion| criterion.contains("whom the user says"));
        if greets && !self.has_returned {
            self.has_returned = true;
            let why = "something must be there before: greet.txt must hold BASE-5";
            let fields = [
                base[0],
                base[1],
                ("Plan adjustment required", "yes"),
                ("Residual risks discovered", why),
                ("Commit SHA", "none"),
            ];
            return report(prompt, &fields, None);
        }
        if greets && !self.has_asked {
            self.has_asked = true;
            let fields = [
                base[0],
                base[1],
                base[2],
                ("Commit SHA", "none"),
                ("Input needed from user", "whom does it greet?"),
            ];
            return report(prompt, &fields, None);
        }
        let mut wanted = orders(handoff);
        wanted.extend(orders(prompt.part("What the user said")));
        wanted.extend(orders(
            prompt.part("What the last re-ground says to the roles after it:"),
        ));
        wanted.extend(orders(prompt.part("The review that sent it back:")));
        wanted.extend(orders(prompt.part("The repository:")));
        for word in wanted {
            if !self.text.contains(&word) {
                self.text
                    .push_str(&format!("this line is there for {word}\n"));
            }
        }
        let fields = [
            base[0],
            base[1],
            base[2],
            ("Commit SHA", "HEAD-OF-THE-REPOSITORY"),
        ];
        let said = report(prompt, &fields, None);
        Output {
            files: Some((slice.id, format!("{}\n", self.text.trim_end()))),
            ..said
        }
    }
}

/// It wants what the user said, and a word of its own where the file greets somebody.
fn reviewer(prompt: &Prompt) -> Output {
    let committed = prompt.part("The slice, committed:");
    let repository = prompt.part("The repository:");
    let mut wanted = orders(committed);
    wanted.extend(orders(prompt.part("What the user said")));
    if committed.contains("whom the user says") {
        wanted.push("BLUE-3".to_owned());
    }
    let misses: Vec<&String> = wanted
        .iter()
        .filter(|word| !repository.contains(&format!("for {word}")))
        .collect();
    match misses.first() {
        None => report(prompt, &[], None),
        Some(word) => report(
            prompt,
            &[
                (
                    "Findings",
                    &format!("greet.txt:1: greet.txt must hold {word}"),
                ),
                ("Acceptable as-is", "no"),
                ("Smallest follow-up slice", &format!("write {word}")),
            ],
            None,
        ),
    }
}

/// It looks at the project, and wants a word that no plan has.
fn judge(prompt: &Prompt) -> Output {
    let wanted = "greet.txt must hold GREEN-2";
    let is_planned = prompt.part("The slices:").contains("GREEN-2");
    let user = orders(prompt.part("What the user said"));
    let latest = prompt
        .part("The latest completed slice's commit:")
        .trim()
        .trim_matches('`')
        .to_owned();
    match is_planned && user.contains(&"NAME-4".to_owned()) {
        true => report(prompt, &[("Latest completed slice commit", &latest)], None),
        false => report(
            prompt,
            &[
                ("Can the project stop now", "no"),
                ("Blocker count", "1"),
                ("Latest completed slice commit", &latest),
                ("Brief justification", wanted),
            ],
            None,
        ),
    }
}

/// A slice as a prompt shows it.
struct Slice {
    id: String,
    goal: String,
    criteria: Vec<String>,
}

impl Slice {
    fn read(text: &str) -> Option<Self> {
        let (id, rest) = text.lines().next()?.split_once(" (")?;
        let criteria = text.lines().filter_map(|line| {
            let (number, criterion) = line.trim().strip_prefix("criterion ")?.split_once(": ")?;
            number.parse::<usize>().ok()?;
            Some(criterion.to_owned())
        });
        Some(Self {
            id: id.to_owned(),
            goal: rest.split_once("): ")?.1.to_owned(),
            criteria: criteria.collect(),
        })
    }
}

fn slice(id: &str, words: &[String], more: &[&str]) -> Value {
    let criteria: Vec<String> = words
        .iter()
        .map(|word| format!("greet.txt must hold {word}"))
        .chain(more.iter().map(|&text| text.to_owned()))
        .collect();
    json!({
        "slice_id": id,
        "goal": format!("make {} hold", words.join(" and ")),
        "acceptance_criteria": criteria,
        "priority": 5,
        "verification_commands": ["sh check.sh"],
    })
}

/// One line of the diff for each criterion: the one that its word stands in, else what the user said.
fn evidence(slice: &Slice, prompt: &Prompt) -> Value {
    let repository = prompt.part("The repository:");
    let (_, diff) = repository.split_once("+++ b/greet.txt").unwrap_or_default();
    let mut added = Vec::new();
    let mut number = 0;
    for line in diff.lines() {
        if let Some(hunk) = line.strip_prefix("@@ ") {
            let (_, start) = hunk.split_once('+').unwrap();
            number = start
                .split([',', ' '])
                .next()
                .unwrap()
                .parse::<usize>()
                .unwrap();
        } else if let Some(text) = line.strip_prefix('+') {
            added.push((number, text.to_owned()));
            number += 1;
        } else if !line.starts_with('-') {
            number += 1;
        }
    }
    let find = |word: &str| {
        added
            .iter()
            .find(|(_, text)| text.ends_with(word))
            .map_or(1, |(at, _)| *at)
    };
    let said = orders(prompt.part("What the user said"));
    let claims = slice.criteria.iter().map(|criterion| {
        let own = orders(criterion);
        let word = own.first().or(said.first()).cloned().unwrap_or_default();
        json!({
            "slice_id": slice.id,
            "criterion": criterion,
            "anchor": format!("greet.txt:{}", find(&word)),
            "basis": "observed",
        })
    });
    Value::Array(claims.collect())
}
