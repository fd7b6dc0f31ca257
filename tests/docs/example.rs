//! `.agent-example/`: a control plane in the middle of a job, as cook wrote it. It follows the
//! schemas, does not contradict itself, is accepted where there is no log, is taken in by
//! `cook init`, and is what `smoke/example.sh` makes today.
#![cfg(unix)]

use crate::support::{COOK, Repo, clean, generated, run_alone};
use cook_protocol::machine;
use cook_protocol::model::{
    ActiveSlice, Counters, Ledger, Plan, Profile, SliceRecord, SliceRecordType, Snapshot, State,
    StopRecord, Undone, VerificationEvidence,
};
use cook_protocol::schema::{self, Documented};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(".agent-example")
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(example().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn document<T: Documented>(name: &str) -> T {
    schema::read_document(&bytes(name), schema::MAX_DOCUMENT_BYTES)
        .unwrap_or_else(|findings| panic!("{name}: {findings:?}"))
}

fn records<T: Documented>(name: &str) -> Vec<T> {
    String::from_utf8(bytes(name))
        .unwrap()
        .lines()
        .map(|line| {
            schema::read_document(line.as_bytes(), schema::MAX_DOCUMENT_BYTES)
                .unwrap_or_else(|findings| panic!("{name}: {findings:?}\n{line}"))
        })
        .collect()
}

fn snapshot() -> Snapshot {
    Snapshot {
        brief: None,
        mission: String::from_utf8(bytes("mission.md")).unwrap(),
        profile: document::<Profile>("profile.json"),
        state: document::<State>("state.json"),
        plan: document::<Plan>("plan.json"),
        active: document::<ActiveSlice>("active-slice.json"),
        evidence: document::<VerificationEvidence>("verification-evidence.json"),
        ledger: Ledger::default(),
        counters: Counters::default(),
        undone: Undone::default(),
    }
}

#[test]
fn it_follows_the_schemas_and_does_not_contradict_itself() {
    let mut snapshot = snapshot();
    assert_eq!(machine::contradictions(&snapshot), []);
    let types: Vec<SliceRecordType> = records::<SliceRecord>("slice-history.jsonl")
        .iter()
        .map(|record| record.kind)
        .collect();
    for kind in [
        SliceRecordType::Implemented,
        SliceRecordType::Reviewed,
        SliceRecordType::Audited,
        SliceRecordType::Accepted,
        SliceRecordType::Reopened,
    ] {
        assert!(types.contains(&kind), "{kind:?}");
    }
    records::<StopRecord>("stop-check-history.jsonl");
    assert!(
        snapshot.active.handoff.is_some(),
        "it is in the middle of a slice"
    );

    // The check itself can fail.
    snapshot.plan.candidate_slices.pop();
    assert!(!machine::contradictions(&snapshot).is_empty());
}

/// A repository with the example as its `.agent/`.
fn place_example() -> Repo {
    let repo = Repo::new();
    repo.write(".gitignore", ".agent/*\n");
    for entry in std::fs::read_dir(example()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        repo.write(&format!(".agent/{name}"), "");
        std::fs::copy(entry.path(), repo.root.join(".agent").join(name)).unwrap();
    }
    let contract = [
        "README.md",
        "mission.md",
        "profile.json",
        "cook.toml",
        "verify_completion_control_plane.sh",
        "verify_completion_stop.sh",
    ];
    for name in contract {
        repo.git(&["add", "--force", &format!(".agent/{name}")]);
    }
    repo.git(&["add", ".gitignore"]);
    repo.git(&["commit", "--quiet", "--message", "Take the example in"]);
    repo
}

#[test]
fn cook_accepts_it_where_there_is_no_log() {
    let repo = place_example();
    let answer = repo
        .cook(&["verify", "control-plane", "--format", "json"])
        .ok();
    let value = answer.json();
    let findings: Vec<&str> = value["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["code"].as_str().unwrap())
        .collect();
    assert_eq!(findings, ["log_missing"], "{value:#}");
    repo.cook(&["verify", "control-plane", "--strict"]).exits(1);

    // A document that breaks its schema is noticed there too.
    let plan = repo.read(".agent/plan.json");
    repo.write(
        ".agent/plan.json",
        plan.replace("\"in_progress\"", "\"underway\""),
    );
    repo.cook(&["verify", "control-plane"])
        .exits(1)
        .says("[document_invalid]");
}

#[test]
fn init_takes_it_in_with_its_plan() {
    let repo = place_example();
    repo.cook(&["init"]).ok();
    let plan = repo.document("plan.json");
    let ids: Vec<&str> = plan["candidate_slices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|slice| slice["slice_id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["words", "top"]);
    let history = repo.read(".agent/slice-history.jsonl");
    assert_eq!(
        history.lines().count(),
        records::<SliceRecord>("slice-history.jsonl").len()
    );
    // The basis is a commit of another repository: only a re-ground can tell what holds here.
    assert_eq!(repo.rule(), "2");
}

/// Fields that say where and how fast gates ran.
const OF_THE_MACHINE: [&str; 4] = ["\"duration_ms\"", "\"sandbox\"", "\"path\"", "\"sha256\""];

/// File name to text, with ids, and what a clock measured, replaced.
fn files(directory: &Path, repo: &Repo) -> BTreeMap<String, String> {
    std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let text = repo.redact(&std::fs::read_to_string(&path).unwrap());
            let text: Vec<&str> = text
                .lines()
                .filter(|line| !OF_THE_MACHINE.iter().any(|field| line.contains(field)))
                .collect();
            (name, text.join("\n"))
        })
        .collect()
}

#[test]
fn generated_example_is_what_its_script_makes() {
    let scratch = crate::support::room();
    let made = scratch.path().join("made");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("smoke/example.sh");
    let mut command = clean("bash", scratch.path());
    command
        .arg(script)
        .arg(&made)
        .env("COOK_BIN", COOK)
        .env("TMPDIR", scratch.path())
        .current_dir(scratch.path());
    run_alone(&mut command).ok();
    let repo = Repo::unborn();
    let wanted = files(&made, &repo);
    // Ids and durations differ each time; without another difference the files stay.
    if generated::is_update() && files(&example(), &repo) != wanted {
        std::fs::remove_dir_all(example()).unwrap();
        std::fs::create_dir(example()).unwrap();
        for name in wanted.keys() {
            std::fs::copy(made.join(name), example().join(name)).unwrap();
        }
    }
    let kept = files(&example(), &repo);
    let stale = generated::stale(".agent-example");
    let names = |files: &BTreeMap<String, String>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&kept), names(&wanted), "{stale}");
    for (name, text) in kept {
        assert!(text == wanted[&name], "`{name}` differs: {stale}");
    }
}
