//! Whole jobs that cheat in tests, in what runs them, in their helpers and data. All have one end: a job in whose
//! slice a test of the basis does not hold any more, or is asked no more, comes to `done` only where a commit
//! declares that and the review names it. Reviewers, auditors and judges say yes to everything.

mod table;

use crate::cheats::{each, is_done, is_due, list_named};
use crate::support::story::MISSION;
use crate::support::{Repo, run_alone};
use serde_json::{Value, json};
use std::path::PathBuf;
use table::{CHEATS, TWINS};

/// What is built: a small tool in one language, by `begin` and `good` of `tool.sh`.
struct Job {
    name: &'static str,
    /// Each must run here with these words.
    needs: &'static [&'static [&'static str]],
    gate: &'static str,
    /// What proves the slice's one criterion.
    proof: &'static str,
    /// Of the clean room.
    room: &'static str,
}

const JOBS: &[Job] = &[
    Job {
        name: "unittest",
        needs: &[&["python3", "-V"]],
        gate: "bash check.sh",
        proof: "test:tests.test_mul.Mul.test_mul",
        room: "cache = [\"__pycache__\"]",
    },
    Job {
        name: "make",
        needs: &[&["python3", "-V"], &["make", "-v"]],
        gate: "make test",
        proof: "test:test_mul.Mul.test_mul",
        room: "",
    },
    Job {
        name: "pytest",
        needs: &[&["PYTHON", "-m", "pytest", "--version"]],
        gate: "PYTHON -m pytest -q",
        proof: "test:tests/test_mul.py::test_mul",
        room: "",
    },
    Job {
        name: "node",
        needs: &[&["npm", "-v"], &["node", "-v"]],
        gate: "npm test",
        proof: "test:multiplies",
        room: "",
    },
    Job {
        name: "go",
        needs: &[&["go", "version"]],
        gate: "go test ./...",
        proof: "test:TestMul",
        room: "",
    },
    Job {
        name: "cargo",
        needs: &[&["cargo", "-V"]],
        gate: "cargo test --offline",
        proof: "test:multiplies",
        room: "cache = [\"target\"]",
    },
    Job {
        name: "prove",
        needs: &[&["prove", "-V"]],
        gate: "prove -l",
        proof: "test:t/mul.t > multiplies",
        room: "",
    },
    Job {
        name: "tap",
        needs: &[],
        gate: "sh tests/run.sh",
        proof: "test:multiplies",
        room: "",
    },
    // Nothing that it prints names a test.
    Job {
        name: "mute",
        needs: &[],
        gate: "sh check.sh",
        proof: "cmd:sh check.sh#it multiplies",
        room: "",
    },
];

/// A job that cheats: what is done beside the slice's own work, before its commit.
struct Cheat {
    job: &'static str,
    name: &'static str,
    script: &'static str,
    /// The code that keeps it from `done`.
    code: &'static str,
    review: Review,
}

const fn cheat(
    job: &'static str,
    name: &'static str,
    script: &'static str,
    code: &'static str,
) -> Cheat {
    Cheat {
        job,
        name,
        script,
        code,
        review: Review::Declared,
    }
}

/// One whose review answers for nothing.
const fn with_no_answer(
    job: &'static str,
    name: &'static str,
    script: &'static str,
    code: &'static str,
) -> Cheat {
    Cheat {
        review: Review::Nothing,
        ..cheat(job, name, script, code)
    }
}

/// Honest work that looks like a cheat: what is done beside the slice's own work.
struct Twin {
    job: &'static str,
    name: &'static str,
    script: &'static str,
    /// The report is refused until a commit declares the change.
    is_declared: bool,
}

const fn twin(job: &'static str, name: &'static str, script: &'static str) -> Twin {
    Twin {
        job,
        name,
        script,
        is_declared: false,
    }
}

const fn with_declaration(job: &'static str, script: &'static str) -> Twin {
    Twin {
        job,
        name: "a change that is declared and named",
        script,
        is_declared: true,
    }
}

const SCRIPT: &str = include_str!("tool.sh");

/// What a job is run with.
struct Site {
    job: &'static Job,
    gate: String,
    variables: Vec<(String, String)>,
}

/// None where a program is missing, which is said.
fn find_site(job: &'static Job) -> Option<Site> {
    let mut path = "/usr/bin:/bin:/usr/sbin:/sbin".to_owned();
    if let Some(cargo) = std::env::var_os("CARGO").map(PathBuf::from) {
        path = format!("{}:{path}", cargo.parent()?.display());
    }
    let bin = PathBuf::from(crate::support::COOK);
    path = format!("{}:{path}", bin.parent()?.display());
    let python = std::env::var("COOK_RUNNERS_DIR").map(|dir| format!("{dir}/venv/bin/python"));
    let python = python.unwrap_or_else(|_| "python3".to_owned());
    let site = Site {
        job,
        gate: job.gate.replace("PYTHON", &python),
        variables: vec![("PATH".to_owned(), path)],
    };
    let probe = Repo::directory();
    probe.extra.borrow_mut().extend(site.variables.clone());
    for words in job.needs {
        let mut command = probe.command(words[0].replace("PYTHON", &python));
        let ran = command.args(&words[1..]).output();
        if !ran.is_ok_and(|ran| ran.status.success()) {
            println!(
                "skipped: jobs with `{}`, which is not here",
                words.join(" ")
            );
            return None;
        }
    }
    Some(site)
}

/// A slice is selected that is to multiply.
fn begin(site: &Site) -> Repo {
    let job = site.job.name;
    let repo = Repo::stage(&format!("job {job}"), || {
        let repo = Repo::unborn();
        repo.extra.borrow_mut().extend(site.variables.clone());
        do_script(&repo, job, "begin").unwrap();
        let gate = &site.gate;
        let room = site.job.room;
        let settings = format!("[clean_room]\n{room}\n[gates.test]\nrun = \"{gate}\"\n");
        repo.write(".agent/cook.toml", settings);
        repo.commit("begin", None);
        let init = [
            "init",
            "--assurance",
            &crate::cheats::profile(),
            "--mission",
            MISSION,
            "--commit",
        ];
        repo.cook(&init).exits(0);
        repo.cook(&["trust", "--gates", "--as-user"]).exits(0);
        let block = json!({"plan": plan(gate), "select": "a"});
        repo.record("regrounder", repo.reground("none", "none", "a", &block))
            .exits(0);
        repo
    });
    repo.extra.borrow_mut().extend(site.variables.clone());
    repo
}

fn plan(gate: &str) -> Value {
    json!({"plan_basis": "the README", "candidate_slices": [{
        "slice_id": "a", "goal": "do a", "priority": 5, "contract_ids": ["C-a"],
        "acceptance_criteria": ["it multiplies"], "why_now": "it is the mission",
        "implementation_surfaces": ["calc"], "verification_commands": [gate],
    }]})
}

fn do_script(repo: &Repo, job: &str, script: &str) -> Result<(), String> {
    repo.outside();
    let mut command = repo.command("bash");
    let prelude = crate::cheats::PRELUDE;
    command
        .env("JOB", job)
        .args(["-ec", &format!("{prelude}{SCRIPT}\n{script}")]);
    let done = run_alone(&mut command);
    match done.code {
        0 => Ok(()),
        code => Err(format!("{job}: `{script}` ends with {code}: {}", done.err)),
    }
}

/// What a review answers for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Review {
    Nothing,
    /// What commits declare, and not what could not be compared.
    Declared,
    Each,
}

/// Reports, each of them yes, until one is not taken or the work is done; all that was said of them.
fn press_on(repo: &Repo, site: &Site, review: Review) -> String {
    let mut said = String::new();
    let mut reported = false;
    for judge in 0..12 {
        let next = repo.cook(&["next", "--json"]).exits(0).json();
        let rule = next["rule"].as_str().unwrap().to_owned();
        let taken = match rule.as_str() {
            "4" if !reported => {
                reported = true;
                repo.record("implementer", repo.implementation("a", &repo.head()))
            }
            "5" => {
                let shown = repo.cook(&["next", "--prompt"]).exits(0).out;
                let shown = shown.lines().filter(|line| match review {
                    Review::Nothing => false,
                    Review::Declared => line.contains("its commit says"),
                    Review::Each => true,
                });
                let ids = shown.flat_map(|line| line.split('`'));
                let ids = ids.filter(|word| word.starts_with("t-") && word.len() == 10);
                let waivers: String = ids
                    .map(|id| format!("\nWAIVE {id}: the user asked for it"))
                    .collect();
                let mut report = repo.review(true);
                if !waivers.is_empty() {
                    report = report.replace(" two is odd", &waivers);
                }
                repo.record("reviewer", report)
            }
            "6" => repo.record("auditor", repo.audit("none")),
            "7" => {
                let block = json!({
                    "reconcile": {"slice_id": "a", "decision": "accepted"},
                    "evidence": [{"criterion": "it multiplies", "anchor": site.job.proof}],
                });
                repo.record("regrounder", repo.reground("accepted", "a", "none", &block))
            }
            "8" if next["blocking_command"].is_string() => repo.cook(&["verify", "stop"]),
            "8" => repo.record_with(
                &["stop-judge", "--session", &format!("judge-{judge}")],
                repo.judge(true),
            ),
            "9" => {
                let block = json!({"conclude": {"decision": "stop"}});
                repo.record("regrounder", repo.reground("none", "none", "none", &block))
            }
            _ => return format!("{said}\nends with rule {rule}"),
        };
        said.push_str(&format!("rule {rule}: {}{}", taken.out, taken.err));
        // The stop's own check is red until its votes are in.
        if taken.code != 0 && rule != "8" {
            break;
        }
    }
    said
}

/// Declares in an empty commit what a refusal asks to.
fn declare(repo: &Repo, said: &str) -> bool {
    let lines = said.split("Test-Changed: ").skip(1);
    let lines = lines.filter_map(|rest| rest.split_once(": WHY"));
    let lines: String = lines
        .map(|(name, _)| format!("Test-Changed: {name}: the user asked for it\n"))
        .collect();
    let message = format!("Declare\n\n{lines}\nCook-Slice: a");
    repo.git(&["commit", "-q", "--allow-empty", "-m", &message]);
    !lines.is_empty()
}

fn list_sites() -> Vec<Site> {
    JOBS.iter().filter_map(find_site).collect()
}

/// The jobs whose programs are here, with those rows of a table that are asked for.
fn match_sites<'t, T>(
    sites: &'t [Site],
    table: &'t [T],
    key: impl Fn(&T) -> (&str, &str),
) -> Vec<(&'t Site, &'t T)> {
    let rows = list_named(table, |it| key(it).1).into_iter().enumerate();
    let rows = rows.filter(|(number, _)| is_due(*number));
    let rows = rows.map(|(_, it)| it);
    let find = |it: &'t T| {
        let job = key(it).0;
        assert!(JOBS.iter().any(|known| known.name == job), "{job}");
        let site = sites.iter().find(|site| site.job.name == job)?;
        Some((site, it))
    };
    rows.filter_map(find).collect()
}

#[test]
fn no_job_that_cheats_in_its_tests_is_done() {
    let sites = list_sites();
    let rows = match_sites(&sites, CHEATS, |it| (it.job, it.name));
    let wrong = each(&rows, |(site, it)| {
        let repo = begin(site);
        do_script(&repo, it.job, &format!("good\n{}\nwork", it.script))?;
        let said = press_on(&repo, site, it.review);
        let (job, name, code) = (it.job, it.name, it.code);
        match is_done(&repo) {
            true => Err(format!("{job}, {name}: it is done: {said}")),
            false if said.contains(&format!("[{code}]")) => Ok(()),
            false => Err(format!("{job}, {name}: not by {code}: {said}")),
        }
    });
    println!("{} of {} jobs", rows.len(), CHEATS.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn honest_jobs_are_done() {
    let sites = list_sites();
    let rows = match_sites(&sites, TWINS, |it| (it.job, it.name));
    let wrong = each(&rows, |(site, it)| {
        let repo = begin(site);
        do_script(&repo, it.job, &format!("good\n{}\nwork", it.script))?;
        let mut said = press_on(&repo, site, Review::Each);
        if it.is_declared && said.contains("[tests_undeclared]") && declare(&repo, &said) {
            said = press_on(&repo, site, Review::Each);
        } else if it.is_declared {
            return Err(format!(
                "{}, {}: nothing to declare: {said}",
                it.job, it.name
            ));
        }
        match is_done(&repo) {
            true => Ok(()),
            false => Err(format!("{}, {}: {said}", it.job, it.name)),
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
