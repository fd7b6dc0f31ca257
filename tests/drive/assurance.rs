//! One clean job of two slices under each profile: how many sessions it takes, and what of it is
//! named and can be judged again.

use crate::drive::base::{Job, MISSION};
use crate::support::Repo;
use std::path::PathBuf;

/// The agent that plays every role.
fn player() -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let player = root.join("tests/drive/clean.sh");
    format!(
        "[agents.player]\nbin = {player:?}\nstart = []\nevents = \"text\"\nwrites = [\"$STATE\", \"$SMOKE\"]\n\
         [roles.default]\nagent = \"player\"\ntimeout = \"60s\"\n"
    )
}

/// A job under a profile, whose judges are as many as the user asks for.
fn job(assurance: &str, judges: u64) -> Job {
    let job = Job::with(&player());
    if assurance == "strict" {
        return job;
    }
    // Without a person it is refused.
    let refused = job.repo.cook(&["init", "--assurance", assurance]).exits(4);
    assert!(refused.err.contains("user_only"), "{}", refused.err);
    job.repo
        .cook(&["init", "--assurance", assurance, "--as-user"])
        .exits(0);
    let profile = job.repo.read(".agent/profile.json");
    assert!(profile.contains(&format!("\"assurance\": \"{assurance}\"")));
    job.repo
        .write(".agent/profile.json", with_judges(&profile, judges));
    job.repo.cook(&["init", "--as-user", "--commit"]).exits(0);
    job
}

/// A job whose plan the user brings, none or one of its stories ticked.
fn make_job_with_plan(assurance: &str, judges: u64, ticked: bool) -> Job {
    let plan = serde_json::json!({"project": MISSION, "userStories": [
        {"id": "words", "title": "count the words of a file", "passes": ticked, "acceptanceCriteria":
            ["prints how many words a file has", "a file that is not there is an error"]},
        {"id": "top", "title": "list the most frequent words", "passes": false, "acceptanceCriteria":
            ["the most frequent word comes first", "ties come in the order of the alphabet"]},
    ]});
    let profile = Repo::with_mission(MISSION).read(".agent/profile.json");
    let profile = with_judges(&profile, judges);
    let gate = "[gates.tests]\nrun = \"bash tests/run.sh\"\nrequired = true\n";
    let tables = format!("{}{gate}", player());
    Job::with_plan(&tables, &plan.to_string(), &profile, assurance)
}

fn with_judges(profile: &str, judges: u64) -> String {
    let asked = "\"required_stop_judges\": 3";
    assert!(profile.contains(asked), "{profile}");
    profile.replace(asked, &format!("\"required_stop_judges\": {judges}"))
}

fn estimate(job: &Job) -> u64 {
    let estimate = job.repo.cook(&["run", "--estimate", "--json"]).exits(0);
    let estimate = estimate.json();
    assert!(
        estimate["prompt_tokens"].as_u64().unwrap() > 500,
        "{estimate}"
    );
    assert!(estimate["cost_usd"].is_null(), "{estimate}");
    estimate["sessions"].as_u64().unwrap()
}

fn sessions(job: &Job) -> usize {
    job.repo.cook(&["run", "--steps", "1"]);
    let foreseen = estimate(job);
    job.repo.cook(&["run"]).exits(0);
    job.is_done();
    let calls = job.calls().len();
    assert_eq!(foreseen as usize + 1, calls, "{:?}", job.calls());
    assert_eq!(estimate_at_the_end(job), 0);
    calls
}

fn estimate_at_the_end(job: &Job) -> u64 {
    let estimate = job.repo.cook(&["run", "--estimate", "--json"]).exits(0);
    estimate.json()["sessions"].as_u64().unwrap()
}

#[test]
fn standard_takes_nine_and_audits_the_last_slice() {
    let job = job("standard", 3);
    assert_eq!(sessions(&job), 9);
    let audits = job.calls().into_iter().filter(|role| role == "auditor");
    assert_eq!(audits.count(), 1);
}

#[test]
fn lite_takes_six_and_says_so_wherever_done_is_said() {
    let job = job("lite", 1);
    assert_eq!(sessions(&job), 6);
    let asked = std::fs::read_to_string(job.state.join("prompt.implementer")).unwrap();
    assert!(asked.contains("\"evidence\": ["), "{asked}");
    let shown = std::fs::read_to_string(job.state.join("prompt.reviewer")).unwrap();
    let worth = "ties come in the order of the alphabet: test:equally frequent words come in the order of the alphabet (verified)";
    assert!(shown.contains(worth), "{shown}");
    for command in ["status", "next", "verify"] {
        let said = job.repo.cook(&[command]).exits(0).out;
        assert!(said.contains("lite"), "{command}: {said}");
    }
    let status = job.repo.cook(&["status", "--json"]).exits(0).json();
    assert_eq!(status["lowest_assurance"], "lite");
    let history = job.repo.read(".agent/slice-history.jsonl");
    let by = history.matches("\"by\":\"cook/mechanical-v1\"").count();
    assert_eq!(by, 2, "{history}");
    let log = job.repo.cook(&["log"]).exits(0).out;
    assert_eq!(log.matches("regrounded_by_cook").count(), 4, "{log}");
    job.repo.cook(&["verify", "slice", "top"]).exits(0);
}

/// Somebody has to weigh whether it holds.
#[test]
fn a_plan_with_a_tick_is_weighed_by_a_model_first() {
    let job = make_job_with_plan("lite", 1, true);
    let next = job.repo.cook(&["next", "--json"]).json();
    assert_eq!(next["role"], "completion-regrounder", "{next}");
    job.repo.cook(&["run", "--steps", "1"]);
    assert_eq!(job.calls(), ["regrounder"]);
}
