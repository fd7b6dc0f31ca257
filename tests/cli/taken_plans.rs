//! `cook init --from`: plans of other tools, their ticks, and what breaks their formats.

use crate::support::Repo;
use serde_json::{Value, json};
use std::path::Path;

/// Id, goal, criteria and what it waits for.
pub(crate) type Row = (String, String, Vec<String>, Vec<String>);

const TASKS: &str = "\
# Tasks: Greeter

<!-- - [ ] T000 an example that is no task -->

## Phase 1: Setup

- [x] T001 Create the folder layout
- [x] T002 [P] Add a linter in lint.toml

## Phase 2: User Story 1

- [ ] T003 [P] [US1] Write `greet` in src/greet.sh
  - [ ] it prints the name
  - [ ] it ends with 1 where no name is given
- [X] T004 [US1] Document it in README.md

```text
- [ ] T999 code is no list
```
";

fn repo(files: &[(&str, &str)]) -> Repo {
    let repo = Repo::new();
    repo.write("a.txt", "the first file says a\n");
    for (path, text) in files {
        repo.write(path, text);
    }
    repo.commit("Begin", None);
    repo
}

/// A workflow that began with that check list.
pub(crate) fn begin_with_list(list: &str) -> Repo {
    let repo = repo(&[("TODO.md", list)]);
    let words = [
        "init",
        "--assurance",
        "strict",
        "--from",
        "TODO.md",
        "--commit",
        "--skip-gates",
    ];
    repo.cook(&words).ok();
    repo
}

/// The slices of a workflow that begins with that file.
fn take_plan(path: &str, text: &str, beside: &[(&str, &str)]) -> Vec<Row> {
    let repo = repo(&[&[(path, text)], beside].concat());
    repo.cook(&[
        "init",
        "--assurance",
        "strict",
        "--from",
        path,
        "--skip-gates",
    ])
    .ok();
    slices(&repo)
}

pub(crate) fn slices(repo: &Repo) -> Vec<Row> {
    let texts = |value: &Value| -> Vec<String> { serde_json::from_value(value.clone()).unwrap() };
    let plan = repo.document("plan.json");
    let slices = plan["candidate_slices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|slice| {
            assert_eq!(slice["status"], "planned");
            (
                slice["slice_id"].as_str().unwrap().to_owned(),
                slice["goal"].as_str().unwrap().to_owned(),
                texts(&slice["acceptance_criteria"]),
                texts(&slice["blocked_on"]),
            )
        });
    slices.collect()
}

fn row(id: &str, goal: &str, criteria: &[&str], after: &[&str]) -> Row {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    (
        id.to_owned(),
        goal.to_owned(),
        texts(criteria),
        texts(after),
    )
}

#[test]
fn a_spec_kit_feature_is_taken_in_and_its_ticks_are_claims() {
    let spec = "# Feature Specification: Greeter\n\nA program that greets whoever is named.\n";
    let repo = repo(&[
        ("specs/001-greeter/tasks.md", TASKS),
        ("specs/001-greeter/spec.md", spec),
    ]);
    let run = repo
        .cook(&[
            "init",
            "--assurance",
            "strict",
            "--from",
            "specs",
            "--commit",
            "--skip-gates",
        ])
        .ok();
    assert!(run.out.contains("took 4 tasks from specs/001-greeter/tasks.md (spec-kit) as 2 slices; 3 ticked there, still without proof"), "{}", run.out);
    // The specification tells no story, so the tasks say what must hold.
    assert_eq!(
        slices(&repo),
        [
            row(
                "setup",
                "Setup",
                &["Create the folder layout", "Add a linter in lint.toml"],
                &[]
            ),
            row(
                "US1",
                "User Story 1",
                &[
                    "it prints the name",
                    "it ends with 1 where no name is given",
                    "Document it in README.md"
                ],
                &[]
            ),
        ]
    );
    let prompt = repo.cook(&["next", "--prompt"]).ok().out;
    assert!(
        prompt.contains("claimed done, not proven, by: specs/001-greeter/tasks.md:7"),
        "{prompt}"
    );
    assert!(prompt.contains("`already satisfied`"), "{prompt}");
    // Begun once, it is the log's.
    repo.cook(&["init", "--from", "specs"])
        .exits(4)
        .says("does_not_apply");
}

#[test]
fn a_tick_that_holds_is_closed_with_proof_and_one_that_does_not_is_refused() {
    let list = "- [x] The file a.txt says a\n- [x] The file b.txt says b\n- [ ] Write c.txt\n";
    let repo = begin_with_list(list);
    let [there, missing, open] = &slices(&repo)[..] else {
        panic!("three slices")
    };
    let cancel =
        |id: &str| json!({"plan": {"cancel": [{"slice_id": id, "reason": "already satisfied"}]}});
    let with = |mut block: Value, id: &str, criterion: &str, anchor: &str| {
        block["evidence"] = json!([{"slice_id": id, "criterion": criterion, "anchor": anchor}]);
        block
    };
    // A place that is not there.
    let lie = with(cancel(&missing.0), &missing.0, &missing.2[0], "b.txt:1");
    let report = repo.regrounder_report(&lie);
    repo.record("regrounder", report)
        .exits(4)
        .says("evidence_unverified");
    // What calls it done is no proof of it.
    let tick = with(cancel(&there.0), &there.0, &there.2[0], "TODO.md:1");
    let report = repo.regrounder_report(&tick);
    repo.record("regrounder", report)
        .exits(4)
        .says("evidence_unrelated");
    let proof = with(cancel(&there.0), &there.0, &there.2[0], "a.txt:1");
    let report = repo.regrounder_report(&proof);
    repo.record("regrounder", report).ok();
    let verified = repo.cook(&["verify"]).exits(1).out;
    assert!(
        verified.contains("1 of 2 ticks in TODO.md hold; "),
        "{verified}"
    );
    assert!(verified.contains(&missing.0), "{verified}");
    // Given up without proof: the plan says so.
    let report = repo.regrounder_report(&cancel(&missing.0));
    repo.record("regrounder", report).ok();
    // Reviewers and judges are told.
    let shown = repo.cook(&["log", "@", "--json"]).ok().out;
    assert!(
        shown.contains("that `TODO.md:2` calls it done is not shown"),
        "{shown}"
    );
    let select = repo.regrounder_report(&json!({"select": open.0}));
    repo.record("regrounder", select).ok();
    // Nothing is accepted, so nothing is ticked.
    let run = repo.cook(&["init", "--tick", "--as-user"]).ok();
    assert!(run.out.contains("nothing to tick"), "{}", run.out);
    assert_eq!(repo.read("TODO.md"), list);
}

#[test]
fn half_a_proof_closes_no_slice() {
    let list = "- [x] Both files\n  - [x] a.txt says a\n  - [x] b.txt says b\n- [ ] More\n";
    let repo = begin_with_list(list);
    let both = &slices(&repo)[0];
    let block = json!({
        "plan": {"cancel": [{"slice_id": both.0, "reason": "already satisfied"}]},
        "evidence": [{"slice_id": both.0, "criterion": both.2[0], "anchor": "a.txt:1"}],
    });
    let report = repo.regrounder_report(&block);
    repo.record("regrounder", report)
        .exits(4)
        .says("evidence_missing");
}

#[test]
fn each_tool_has_its_own_words() {
    let change = "## 1. Implementation\n- [x] 1.1 Add the flag\n- [ ] 1.2 Print the name\n## 2. Docs\n- [P] is no box\n- [ ] 2.1 Say so\n- [ ] 2.1 Say more\n";
    assert_eq!(
        take_plan("openspec/changes/add-flag/tasks.md", change, &[]),
        [
            row("1.1", "Add the flag", &["Add the flag"], &[]),
            row("1.2", "Print the name", &["Print the name"], &[]),
            row("2.1", "Say so", &["Say so"], &[]),
            row("2.1-2", "Say more", &["Say more"], &[]),
        ]
    );
    let requirements = "# Requirements\n\n### Requirement 1\n\n#### Acceptance Criteria\n\n1. WHEN a name is given THEN the system SHALL greet it\n2. IF none is given THEN the system SHALL end with 1\n";
    let kiro = "# Plan\n\n- [ ] 1. Build the greeter\n  - keep it small\n  - _Requirements: 1.1, 1.2_\n- [-] 2. Test it\n  - [ ] 2.1 with a name\n  - [ ]* 2.2 without one\n";
    assert_eq!(
        take_plan(
            ".kiro/specs/greeter/tasks.md",
            kiro,
            &[(".kiro/specs/greeter/requirements.md", requirements)]
        ),
        [
            row(
                "1",
                "Build the greeter",
                &[
                    "WHEN a name is given THEN the system SHALL greet it",
                    "IF none is given THEN the system SHALL end with 1"
                ],
                &[]
            ),
            row("2", "Test it", &["with a name", "without one"], &[]),
        ]
    );
    let master = r#"{"master": {"tasks": [
        {"id": 1, "title": "Lay out", "description": "Folders exist", "status": "done", "priority": "high", "testStrategy": "", "subtasks": []},
        {"id": 2, "title": "Greet", "description": "It greets", "status": "pending", "dependencies": [1, 3], "testStrategy": "Run it", "subtasks": [{"id": 1, "title": "Parse", "status": "pending"}]},
        {"id": 3, "title": "Maybe", "status": "deferred"}], "metadata": {"updated": "x"}}}"#;
    assert_eq!(
        take_plan(".taskmaster/tasks/tasks.json", master, &[]),
        [
            row("1", "Lay out", &["Folders exist"], &[]),
            row("2", "Greet", &["It greets", "Parse", "Run it"], &["1"]),
        ]
    );
    let prd = r#"{"project": "Greeter", "branchName": "b", "description": "It greets", "userStories": [
        {"id": "US-002", "title": "Greet", "description": "As a user", "acceptanceCriteria": ["prints the name", "typecheck passes"], "priority": 2, "passes": false, "notes": ""},
        {"id": "US-001", "title": "Lay out", "acceptanceCriteria": [], "priority": 1, "passes": true}]}"#;
    assert_eq!(
        take_plan("prd.json", prd, &[]),
        [
            row(
                "US-002",
                "Greet",
                &["prints the name", "typecheck passes"],
                &[]
            ),
            row("US-001", "Lay out", &["Lay out"], &[]),
        ]
    );
    let issues = r#"[{"number": 12, "title": "Greet by name", "body": "It should.\r\n\r\n- [ ] with a name\r\n- [x] without\r\n", "state": "OPEN", "labels": []},
        {"number": 3, "title": "Crash", "body": null, "state": "CLOSED"},
        {"number": 4, "title": "No", "state": "CLOSED", "stateReason": "NOT_PLANNED"}]"#;
    assert_eq!(
        take_plan("issues.json", issues, &[]),
        [
            row("issue-3", "Crash", &["Crash"], &[]),
            row(
                "issue-12",
                "Greet by name",
                &["with a name", "without"],
                &[]
            ),
        ]
    );
    let beads = "{\"id\":\"g-1\",\"title\":\"Lay out\",\"status\":\"closed\",\"priority\":0,\"issue_type\":\"task\"}\n\n{\"id\":\"g-2\",\"title\":\"Greet\",\"acceptance_criteria\":\"- it greets\\n- [ ] it ends\",\"status\":\"open\",\"priority\":2,\"issue_type\":\"feature\",\"dependencies\":[{\"issue_id\":\"g-2\",\"depends_on_id\":\"g-1\",\"type\":\"blocks\"},{\"issue_id\":\"g-2\",\"depends_on_id\":\"g-3\",\"type\":\"parent-child\"}]}\n{\"id\":\"g-3\",\"title\":\"All\",\"status\":\"open\",\"priority\":1,\"issue_type\":\"epic\"}\n";
    assert_eq!(
        take_plan(".beads/issues.jsonl", beads, &[]),
        [
            row("g-1", "Lay out", &["Lay out"], &[]),
            row("g-2", "Greet", &["it greets", "it ends"], &["g-1"]),
        ]
    );
    let list = "# To do\n\n1. [ ] Größe zählen\n2. [ ] 名前\n* [x] Do it\n* [ ] Do it\n";
    let made: Vec<String> = take_plan("PLAN.md", list, &[])
        .into_iter()
        .map(|slice| slice.0)
        .collect();
    assert_eq!(made, ["gr-e-z-hlen", "task-2", "do-it", "do-it-2"]);
}

/// Each is refused with the line and the column, and nothing is begun.
#[test]
fn what_breaks_a_format_is_named_by_its_place() {
    let cases = [
        (
            "TODO.md",
            "# T\n\n- [ ] one\n  - [y] two\n",
            "plan_malformed",
            "line 4, column 6",
        ),
        (
            "TODO.md",
            "- [ ]   \n",
            "plan_malformed",
            "line 1, column 1",
        ),
        (
            "TODO.md",
            "- [ ] a\n- [ b\n",
            "plan_malformed",
            "line 2, column 4: the box of an item is not closed",
        ),
        (
            "prd.json",
            "{\"userStories\": [{\"id\": 1, \"title\": \"a\"},\n{\"id\": 1, \"title\": \"b\"}]}",
            "slice_duplicated",
            "task 2: it is called `1`, as task 1 is",
        ),
        (
            "issues.json",
            "[{\"number\": 1, \"title\": \"\\u200b\"}]",
            "plan_malformed",
            "task 1: it has no words",
        ),
        (
            ".beads/issues.jsonl",
            "{\"id\": \"a\", \"title\": \"\"}\n",
            "plan_malformed",
            "line 1, column 1",
        ),
        ("TODO.md", "nothing to do\n", "plan_empty", "names no task"),
        (
            "specs/x/tasks.md",
            "- [ ] T001 a\n- [ ] T001 b\n",
            "slice_duplicated",
            "line 2, column 1: it is called `T001`, as line 1, column 1 is",
        ),
        (
            "prd.json",
            "{\"userStories\": [\n  {\"id\": \"a\", \"title\": 3}\n]}",
            "plan_malformed",
            "line 2, column 24",
        ),
        (
            "prd.json",
            "{\"userStories\": [",
            "plan_malformed",
            "line 1, column 17",
        ),
        (
            ".taskmaster/tasks/tasks.json",
            "{\"tasks\": [{\"id\": 1, \"title\": \"a\", \"dependencies\": [9]}]}",
            "plan_malformed",
            "waits for `9`, which is not a task there",
        ),
        (
            ".taskmaster/tasks/tasks.json",
            "{\"tasks\": [{\"id\": 1, \"title\": \"a\", \"dependencies\": [2]}, {\"id\": 2, \"title\": \"b\", \"dependencies\": [1]}]}",
            "dependency_cycle",
            "in a circle",
        ),
        (
            ".taskmaster/tasks/tasks.json",
            "{\"one\": {\"tasks\": [{\"id\": 1, \"title\": \"a\"}]}, \"two\": {\"tasks\": [{\"id\": 1, \"title\": \"b\"}]}}",
            "plan_ambiguous",
            "--from '.taskmaster/tasks/tasks.json#one'",
        ),
        (
            ".beads/issues.jsonl",
            "{\"id\":\"a\",\"title\":\"t\"}\n{\"id\":\"b\"}\n",
            "plan_malformed",
            "line 2, column 10",
        ),
        (
            "issues.json",
            "[{\"number\": \"x\"}]",
            "plan_malformed",
            "line 1, column 15",
        ),
        (
            "notes.csv",
            "a,b\n",
            "plan_unknown",
            "is not a plan that cook reads",
        ),
    ];
    for (path, text, code, place) in cases {
        let beside = [(path, text), ("specs/x/spec.md", "# X\n\nA thing to do.\n")];
        let repo = repo(&beside);
        repo.cook(&["init", "--from", path])
            .exits(4)
            .says(code)
            .says(place);
        assert!(!repo.root.join(".agent/plan.json").exists(), "{path}");
    }
}

#[test]
fn a_path_that_leads_elsewhere_or_to_several_plans_is_refused() {
    let list = "- [ ] one\n";
    let repo = repo(&[
        ("specs/a/tasks.md", list),
        ("specs/b/tasks.md", list),
        ("TODO.md", list),
    ]);
    for path in ["../x.md", "/etc/passwd", "a/../../x.md"] {
        repo.cook(&["init", "--from", path])
            .exits(4)
            .says("plan_unknown");
    }
    repo.cook(&["init", "--from", "gone.md"])
        .exits(4)
        .says("there is no `gone.md`");
    repo.cook(&["init", "--from", "specs"])
        .exits(4)
        .says("plan_ambiguous")
        .says("cook init --from specs/a/tasks.md");
    repo.cook(&["init", "--from", "."])
        .exits(4)
        .says("plan_ambiguous");
    // What is there is offered.
    let run = repo
        .cook(&["init", "--mission", "Do it", "--skip-gates"])
        .ok();
    assert!(
        run.out
            .contains("`cook init --from 'specs/a/tasks.md'` imports it"),
        "{}",
        run.out
    );
}

/// Builds a slice of the plan and has it accepted.
pub(crate) fn build(repo: &Repo, slice: &Row) {
    let id = &slice.0;
    repo.hand_in_reground(&json!({"select": id}));
    let path = format!("{id}.txt");
    let lines = slice.2.iter().map(|criterion| format!("{criterion}\n"));
    repo.write_commit_for(id, &path, &lines.collect::<String>());
    for (role, report) in [
        ("implementer", repo.implementer_report(None)),
        ("reviewer", repo.reviewer_report(None)),
        ("auditor", repo.auditor_report()),
    ] {
        repo.record(role, report).ok();
    }
    let evidence = slice.2.iter().zip(1..).map(
        |(criterion, line)| json!({"criterion": criterion, "anchor": format!("{path}:{line}")}),
    );
    repo.hand_in_reground(&json!({
        "reconcile": {"slice_id": id, "decision": "accepted"},
        "evidence": evidence.collect::<Vec<Value>>(),
    }));
}

/// A workflow that began with a plan that its own tool made or took (`proofs/plans.sh` makes them again).
fn begin_with_recorded(tool: &str, from: &str) -> Repo {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/plans")
        .join(tool);
    let repo = Repo::new();
    for path in list_files(&recorded) {
        repo.write(&path, std::fs::read(recorded.join(&path)).unwrap());
    }
    repo.commit("Plan", None);
    repo.cook(&[
        "init",
        "--assurance",
        "strict",
        "--from",
        from,
        "--commit",
        "--skip-gates",
    ])
    .ok();
    repo
}

fn list_files(root: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let names = entries.flat_map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        match path.is_dir() {
            true => list_files(&path)
                .iter()
                .map(|below| format!("{name}/{below}"))
                .collect(),
            false => vec![name],
        }
    });
    names.collect()
}

fn build_all(repo: &Repo) {
    for slice in &slices(repo) {
        build(repo, slice);
    }
}

/// The change is the mission, its tasks and what its capabilities must do are the slices; the boxes that OpenSpec counts are
/// read as it reads them, and ticked with those below them.
#[test]
fn a_change_of_openspec_is_taken_in_as_openspec_reads_it() {
    let change = "openspec/changes/add-dark-mode";
    let repo = begin_with_recorded("openspec", change);
    let mission = "# add-dark-mode\n\nPeople who work at night cannot read the page. They ask for a dark one.\n";
    assert_eq!(repo.read(".agent/mission.md"), mission);
    let ids: Vec<String> = slices(&repo).into_iter().map(|slice| slice.0).collect();
    assert_eq!(ids, ["1.1", "1.2", "2.1", "theme"]);
    assert_eq!(
        slices(&repo)[3],
        row(
            "theme",
            "Show that each requirement of `theme` holds",
            &[
                "A page can be dark: The switch is used: WHEN somebody uses the switch of a light page THEN the page is dark",
                "A page can be dark: The switch is used again: WHEN somebody uses the switch of a dark page THEN the page is light",
                "The choice is kept: The page is opened again: GIVEN a page that was dark WHEN it is opened again THEN it is dark",
                "Pages have one set of colours: no longer",
            ],
            &[]
        )
    );
    let tasks = format!("{change}/tasks.md");
    let before = repo.read(&tasks);
    build_all(&repo);
    repo.cook(&["init", "--tick", "--as-user"]).ok();
    let ticked = before.replace("- []", "- [x]").replace("- [ ]", "- [x]");
    assert_eq!(repo.read(&tasks), ticked);
}

/// A story is a slice with its scenarios as criteria; what serves no story is one slice for each phase.
#[test]
fn a_story_of_spec_kit_is_a_slice() {
    let repo = begin_with_recorded("spec-kit", "specs");
    let mission =
        "# Greet people by name\n\nA program for the command line that greets whoever is named\n";
    assert_eq!(repo.read(".agent/mission.md"), mission);
    assert_eq!(
        slices(&repo),
        [
            row(
                "setup-shared-infrastructure",
                "Setup (Shared Infrastructure)",
                &[
                    "Create the directories src/ and tests/",
                    "Configure shellcheck in .shellcheckrc"
                ],
                &[]
            ),
            row(
                "US1",
                "Greet whoever is named",
                &[
                    "Given a name, When the program runs, Then it prints a greeting with that name",
                    "Given no name, When the program runs, Then it ends with status 2"
                ],
                &[]
            ),
            row(
                "US2",
                "Say goodbye",
                &["Given a name and `--bye`, When the program runs, Then it prints a farewell"],
                &[]
            ),
            row(
                "polish-cross-cutting-concerns",
                "Polish & Cross-Cutting Concerns",
                &["Describe both in README.md"],
                &[]
            ),
        ]
    );
    let steps = repo.document("plan.json")["candidate_slices"][1]["locked_notes"].to_string();
    assert!(
        steps.contains(
            "step: T003 [P] [US1] Contract test for a greeting in tests/greet.sh (ticked"
        ),
        "{steps}"
    );
    let tasks = "specs/001-greet-people-name/tasks.md";
    let before = repo.read(tasks);
    build(&repo, &slices(&repo)[1]);
    repo.cook(&["init", "--tick", "--as-user"])
        .ok()
        .says("ticked in specs/001-greet-people-name/tasks.md: T005 [US1] Implement the greeting")
        .says("left as it is in specs/001-greet-people-name/tasks.md: T001 Create the directories");
    let ticked = before
        .replace("- [ ] T004", "- [x] T004")
        .replace("- [ ] T005", "- [x] T005");
    assert_eq!(repo.read(tasks), ticked);
}

/// The words that the tasks were made of are the mission, and what holds is told in the tool's own command.
#[test]
fn task_master_keeps_its_words_and_its_ticks() {
    let repo = begin_with_recorded("task-master", ".taskmaster");
    let mission = "Greeter is a program for the command line that greets whoever is named.\n";
    assert_eq!(repo.read(".agent/mission.md"), mission);
    build_all(&repo);
    repo.cook(&["init", "--tick", "--as-user"])
        .exits(4)
        .says("next: task-master set-status --id=1,2 --status=done");
}

/// One run names everything that has to be mended.
#[test]
fn everything_that_breaks_a_format_is_told_at_once() {
    let repo = repo(&[
        ("TODO.md", "- [ ] a\n- [y] b\n  - [ ]\n- [ c\n"),
        (".beads/issues.jsonl", "{\"id\":\"b\"}\nno\n"),
    ]);
    repo.cook(&["init", "--from", "TODO.md"])
        .exits(4)
        .says("`TODO.md` breaks its format in 3 places")
        .says("line 2, column 4: the box of an item holds neither")
        .says("line 3, column 1: an item with a box has no text")
        .says("line 4, column 4: the box of an item is not closed");
    repo.cook(&["init", "--from", ".beads/issues.jsonl"])
        .exits(4)
        .says("in 2 places")
        .says("line 1, column 10")
        .says("line 2, column 2");
}

/// Of two items of the same words nobody can say which was built.
#[test]
fn of_items_alike_none_is_ticked() {
    let list = "- [ ] Write it\n- [ ] Write it\n- [ ] Write more\n";
    let repo = begin_with_list(list);
    build(&repo, &slices(&repo)[1]);
    let run = repo.cook(&["init", "--tick", "--as-user"]).ok();
    run.says("not in TODO.md exactly once: Write it");
    assert_eq!(repo.read("TODO.md"), list);
}
