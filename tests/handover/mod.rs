//! A whole job in which every role knows its prompt and nothing else: no file of `.agent/`, no log,
//! no story. What one of them says must reach the one that acts on it, or the job does not end.

pub mod prompt;
pub mod roles;

use crate::support::Repo;
use prompt::Prompt;
use roles::{Output, Roles};
use std::collections::BTreeMap;

/// Reports until the job must be done.
const BOUND: usize = 45;
/// A job that is given the same reason so often goes in a circle; the one that ends hears none more than four times.
const SAME: usize = 6;
/// The gate: it says what it misses, as a test would.
const CHECK: &str = "for word in RED-7; do grep -q $word greet.txt || { echo \"greet.txt must hold $word\"; exit 1; }; done\n";
const MISSION: &str =
    "greet.txt must hold HELLO-1\n\nIt greets whom the user says. The gate is `sh check.sh`.";

/// What must be in the file at the end, and who said it.
const WORDS: [(&str, &str); 7] = [
    ("HELLO-1", "the mission"),
    ("RED-7", "a red gate"),
    ("BLUE-3", "a reviewer"),
    ("ADVICE-9", "a regrounder"),
    ("NAME-4", "the user"),
    ("GREEN-2", "a judge"),
    ("BASE-5", "an implementer, of the plan"),
];

/// How a job ended: `done`, or what stood in its way.
fn run(without: Option<&str>) -> Result<Repo, String> {
    let repo = Repo::new();
    repo.write("check.sh", CHECK);
    repo.commit("The gate", None);
    repo.init_strictly(MISSION).ok();
    repo.trust("sh check.sh");
    let mut roles = Roles::default();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for number in 0..BOUND {
        let next = repo.cook(&["next", "--json"]).ok().json();
        if next["policy"] == "done" {
            return Ok(repo);
        }
        let heard = reasons.entry(next["reason"].to_string()).or_default();
        *heard += 1;
        if *heard == SAME {
            break;
        }
        let Some(role) = next["role"].as_str().map(str::to_owned) else {
            let question = next["reason"].as_str().unwrap_or_default().to_owned();
            match question.contains("whom") {
                true => repo
                    .cook(&[
                        "resume",
                        "--answer",
                        "greet.txt must hold NAME-4",
                        "--as-user",
                    ])
                    .ok(),
                false => repo.cook(&["verify", "stop"]),
            };
            continue;
        };
        if next["waits_for_gates"] == true {
            repo.cook(&["verify", "stop"]);
            continue;
        }
        let run = repo.cook(&["next", "--prompt"]);
        if run.code != 0 {
            repo.cook(&["verify", "stop"]);
            continue;
        }
        let prompt = Prompt::read(&run.out, without);
        let name = role.trim_start_matches("completion-");
        let Output { report, files } = roles.play(name, &prompt);
        if let Some((slice, text)) = files {
            repo.write_commit_for(&slice, "greet.txt", &text);
        }
        let report = report.replace("HEAD-OF-THE-REPOSITORY", &repo.head());
        let session = format!("s{number}");
        let taken = repo.record_with(&[name, "--session", &session], report);
        if taken.code != 0 && std::env::var("COOK_SHOW").is_ok() {
            eprintln!("{name}: {}", taken.err);
        }
    }
    Err(format!("not done: {reasons:#?} {}", repo.read("greet.txt")))
}

#[test]
fn a_job_whose_roles_know_their_prompts_alone_comes_to_done() {
    let repo = run(None).unwrap();
    let text = repo.read("greet.txt");
    for (word, by) in WORDS {
        assert!(text.contains(word), "{word}, which {by} asks for: {text}");
    }
}
