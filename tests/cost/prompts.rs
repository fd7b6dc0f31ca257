//! What prompts cost: the tokens of each session of clean jobs of many sizes, and of a plan of thousands
//! of slices. `--nocapture` prints them; `COOK_PROMPTS=DIRECTORY` keeps each prompt there.

use crate::support::Repo;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Bytes of a prompt that make a token, about; `cook run --estimate` counts so too.
const BYTES_A_TOKEN: usize = 4;

const MISSION: &str =
    "Ship the word tool: count, list and compare the words of a text, as the README says";

/// Runs each case, and prints its name with how it ended.
const RUN: &str = "status=0
for case in tests/cases/*.sh; do
  name=$(sed -n '1s/^# //p' \"$case\")
  if bash \"$case\"; then echo \"ok - $name\"; else echo \"not ok - $name\"; status=1; fi
done
exit $status
";

/// What a session was asked.
struct Prompt {
    role: String,
    slice: String,
    text: String,
}

impl Prompt {
    fn tokens(&self) -> usize {
        self.text.len() / BYTES_A_TOKEN
    }
}

/// A job in which every verdict is a yes, and what each session was asked.
struct Job {
    prompts: Vec<Prompt>,
}

fn name(number: usize) -> String {
    format!("part-{number:02}")
}

fn number(slice: &str) -> usize {
    slice.trim_start_matches("part-").parse().unwrap()
}

fn criteria(number: usize) -> [String; 2] {
    [
        format!("part {number} counts the words of a file with several lines"),
        format!("part {number} says that a file is missing and exits with 1"),
    ]
}

fn slice(number: usize) -> Value {
    let name = name(number);
    json!({
        "slice_id": name,
        "goal": format!("build part {number} of the word tool with its own page of the manual"),
        "acceptance_criteria": criteria(number),
        "contract_ids": [format!("C-{number:02}")],
        "priority": 5,
        "why_now": format!("part {number} uses what the parts before it have"),
        "implementation_surfaces": [format!("src/{name}.txt"), format!("tests/cases/{name}-*.sh")],
        "verification_commands": ["bash tests/run.sh"],
    })
}

/// What proves the criteria of a slice.
fn proofs(number: usize, slice: Option<&str>) -> Value {
    let proofs = criteria(number).map(|criterion| {
        let mut proof = json!({"criterion": criterion, "anchor": format!("test:{criterion}")});
        if let Some(slice) = slice {
            proof["slice_id"] = json!(slice);
        }
        proof
    });
    json!(proofs)
}

/// A repository with a gate that the user trusts, set up under a profile.
fn set_up(assurance: &str, judges: u64) -> Repo {
    let repo = Repo::new();
    repo.write("tests/run.sh", RUN);
    repo.write("tests/cases/first.sh", "# the tool is there\ntrue\n");
    repo.commit("Begin the tests", None);
    let words = [
        "init",
        "--mission",
        MISSION,
        "--commit",
        "--assurance",
        assurance,
        "--as-user",
    ];
    repo.cook(&words).ok();
    repo.edit("profile.json", |profile| {
        profile["required_stop_judges"] = json!(judges);
    });
    let settings = repo.read(".agent/cook.toml") + "\n[limits]\nsteps = 1000\n";
    repo.write(".agent/cook.toml", settings);
    repo.cook(&["init", "--as-user", "--commit"]).ok();
    repo.trust("bash tests/run.sh");
    repo
}

impl Job {
    /// Works with a plan of that many slices until the project is done.
    fn work(assurance: &str, judges: u64, slices: usize) -> Self {
        let repo = set_up(assurance, judges);
        let mut prompts: Vec<Prompt> = Vec::new();
        // Each slice takes four sessions at most.
        for step in 0..slices * 4 + 20 {
            let due = repo.due();
            if due["rule"] == "S" {
                assert_eq!(due["phase"], "done", "{due}");
                let job = Self { prompts };
                job.tell(&format!("{slices} slices under {assurance}"));
                return job;
            }
            if due["blocking_command"] == "cook verify stop" && due["rule"] == "8" {
                repo.cook(&["verify", "stop"]).ok();
                continue;
            }
            let prompt = Prompt {
                text: repo.cook(&["next", "--prompt"]).ok().out,
                role: due["role"].as_str().unwrap().replace("completion-", ""),
                slice: due["slice_id"].as_str().unwrap_or_default().to_owned(),
            };
            if let Some(dir) = std::env::var_os("COOK_PROMPTS") {
                let file = format!("{assurance}-{slices}-{step:03}-{}.txt", prompt.role);
                std::fs::write(Path::new(&dir).join(file), &prompt.text).unwrap();
            }
            let session = format!("session-{step}");
            let report = with_header_of(&prompt, &answer(&repo, &due, &prompt, slices));
            let report = report.replace("nothing is left", &session);
            repo.record_with(&[&prompt.role, "--session", &session], report)
                .ok();
            prompts.push(prompt);
        }
        panic!("the job does not end");
    }

    fn tokens(&self) -> usize {
        self.prompts.iter().map(Prompt::tokens).sum()
    }

    fn tokens_of_slice(&self, number: usize) -> usize {
        let own = self.prompts.iter().filter(|it| it.slice == name(number));
        own.map(Prompt::tokens).sum()
    }

    /// Prints what the sessions of each role cost.
    fn tell(&self, title: &str) {
        let mut roles: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for prompt in &self.prompts {
            roles.entry(&prompt.role).or_default().push(prompt.tokens());
        }
        let sessions = self.prompts.len();
        println!("{title}: {sessions} sessions, {} tokens", self.tokens());
        for (role, tokens) in roles {
            let (sum, most) = (tokens.iter().sum::<usize>(), tokens.iter().max().unwrap());
            println!(
                "  {role}: {} sessions, {sum} tokens, {most} at most",
                tokens.len()
            );
        }
    }
}

/// The report with the header that its prompt shows.
fn with_header_of(prompt: &Prompt, report: &str) -> String {
    let is_header = |line: &&str| line.starts_with("Remaining contract IDs");
    let shown = prompt.text.lines().find(is_header).unwrap();
    let own = report.lines().find(is_header).unwrap();
    let (label, value) = (
        own.split_once(": ").unwrap().0,
        shown.split_once(": ").unwrap().1,
    );
    report.replacen(own, &format!("{label}: {value}"), 1)
}

fn answer(repo: &Repo, due: &Value, prompt: &Prompt, slices: usize) -> String {
    let slice = prompt.slice.as_str();
    match (prompt.role.as_str(), due["rule"].as_str().unwrap()) {
        ("implementer", _) => {
            build(repo, number(slice));
            let report = repo.implementer_report(None);
            match repo.document("profile.json")["assurance"].as_str() {
                None | Some("strict") => report,
                _ => {
                    let offered = json!({"evidence": proofs(number(slice), None)});
                    format!("{report}\n```json\n{offered}\n```\n")
                }
            }
        }
        ("reviewer", _) => repo.reviewer_report(None),
        ("auditor", _) => audit(repo, slice),
        ("stop-judge", _) => repo.judge_report(None),
        (_, "9") => repo.regrounder_report(&json!({"conclude": {"decision": "stop"}})),
        (_, "7") => {
            let mut block = json!({
                "reconcile": {"slice_id": slice, "decision": "accepted"},
                "evidence": proofs(number(slice), Some(slice)),
            });
            if number(slice) < slices {
                block["select"] = json!(name(number(slice) + 1));
            }
            repo.regrounder_report(&block)
        }
        _ => {
            let plan: Vec<Value> = (1..=slices).map(self::slice).collect();
            let plan = json!({"plan_basis": "README.md and the tests", "candidate_slices": plan});
            repo.regrounder_report(&json!({"plan": plan, "select": name(1)}))
        }
    }
}

/// A file of twenty lines, and a case for each criterion.
fn build(repo: &Repo, number: usize) {
    let name = name(number);
    let lines: String = (1..=20)
        .map(|line| format!("line {line} of part {number} counts what it reads\n"))
        .collect();
    repo.write(&format!("src/{name}.txt"), lines);
    for (place, criterion) in criteria(number).iter().enumerate() {
        let line = place + 1;
        let case =
            format!("# {criterion}\ngrep -q 'line {line} of part {number} ' src/{name}.txt\n");
        repo.write(&format!("tests/cases/{name}-{line}.sh"), case);
    }
    repo.commit(&format!("Build part {number}"), Some(&name));
}

/// Names what slices of the plan have still to bring about, and nothing else.
fn audit(repo: &Repo, slice: &str) -> String {
    let report = repo.auditor_report();
    let plan = repo.document("plan.json");
    let slices = plan["candidate_slices"].as_array().unwrap().iter();
    let open: Vec<&Value> = slices
        .filter(|it| it["status"] == "planned" && it["slice_id"] != slice)
        .collect();
    let Some(next) = open.first() else {
        return report;
    };
    let ids = open
        .iter()
        .map(|it| it["contract_ids"][0].as_str().unwrap());
    let ids: Vec<&str> = ids.collect();
    let next = next["slice_id"].as_str().unwrap();
    report
        .replace(
            "still not done: none",
            "still not done: the plan has open slices",
        )
        .replace(
            "contract IDs: none",
            &format!("contract IDs: {}", ids.join(", ")),
        )
        .replace("mandatory slice: none", &format!("mandatory slice: {next}"))
}

fn check_growth(job: &Job, last: usize) {
    let (second, end) = (job.tokens_of_slice(2), job.tokens_of_slice(last));
    println!("slice 2: {second} tokens, slice {last}: {end}");
    assert!(end * 10 <= second * 12, "{second}, {end}");
    let slices = 1..=last;
    let most = slices.map(|number| job.tokens_of_slice(number)).max();
    assert!(most.unwrap() <= 8_000, "{most:?}");
}

#[test]
fn the_last_of_six_slices_costs_what_the_second_does() {
    check_growth(&Job::work("strict", 3, 6), 6);
}

#[test]
#[ignore = "takes minutes; proofs/prompts.sh runs it"]
fn fifty_slices_under_strict_cost_a_third_of_a_million_tokens() {
    let job = Job::work("strict", 3, 50);
    check_growth(&job, 50);
    assert!(job.tokens() <= 350_000, "{}", job.tokens());
}

/// The plan of another tool, with that many stories.
fn take_in(stories: usize) -> Repo {
    let repo = Repo::new();
    repo.write("tests/run.sh", RUN);
    repo.write("tests/cases/first.sh", "# the tool is there\ntrue\n");
    let stories: Vec<Value> = (1..=stories)
        .map(|number| {
            json!({
                "id": name(number), "passes": false, "acceptanceCriteria": criteria(number),
                "title": format!("build part {number} of the word tool with its own page of the manual"),
            })
        })
        .collect();
    let plan = json!({"project": MISSION, "userStories": stories});
    repo.write("prd.json", plan.to_string());
    let settings = "[gates.tests]\nrun = \"bash tests/run.sh\"\nrequired = true\n";
    repo.write(".agent/cook.toml", settings);
    repo.commit("Begin", None);
    let words = [
        "init",
        "--from",
        "prd.json",
        "--commit",
        "--assurance",
        "strict",
        "--as-user",
    ];
    repo.cook(&words).ok();
    repo.trust("bash tests/run.sh");
    repo.trust("bash .agent/verify_completion_stop.sh");
    repo
}

#[test]
#[ignore = "takes a minute; proofs/prompts.sh runs it"]
fn a_plan_of_five_thousand_slices_is_taken_in() {
    let repo = take_in(5_000);
    let plan = repo.document("plan.json");
    assert_eq!(plan["candidate_slices"].as_array().unwrap().len(), 5_000);
    let text = repo.cook(&["next", "--prompt"]).ok().out;
    println!("a plan of 5,000: {}", text.len() / BYTES_A_TOKEN);
    assert!(text.len() / BYTES_A_TOKEN <= 6_000, "{}", text.len());
}
