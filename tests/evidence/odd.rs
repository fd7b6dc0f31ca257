//! Places that are no text, and tests that do not come to an end.

use crate::evidence::job::{CRITERION, Job, LIBRARY, OWN, claim};
use serde_json::json;

#[test]
fn a_place_that_is_no_text_any_more_is_gone() {
    let changes: [&dyn Fn(&Job); 4] = [
        &|job| {
            job.git(&["rm", "-q", "own.txt"]);
            job.repo.write("own.txt/inner", "x\n");
        },
        &|job| {
            job.git(&["rm", "-q", "own.txt"]);
            std::os::unix::fs::symlink("lib.sh", job.repo.root.join("own.txt")).unwrap();
        },
        &|job| job.repo.write("own.txt", b"\0\x01binary"),
        &|job| drop(job.git(&["rm", "-q", "own.txt"])),
    ];
    for change in changes {
        let job = Job::begin(&[CRITERION]);
        job.repo.write("own.txt", "what a writes\n");
        job.repo.commit("Write", Some("a"));
        job.judge();
        job.accept(&[claim(CRITERION, "own.txt:1")]).ok();
        change(&job);
        job.repo.commit("Change its kind", None);
        job.is_reopened();
    }
}

#[test]
fn an_accepted_test_that_cannot_be_run_is_replaced_or_its_slice_reopened() {
    let job = Job::finish_by("test:double");
    // The accepted version waits for something that never comes.
    job.repo.write(
        "lib.sh",
        format!("while [ ! -e ready ]; do sleep 1; done\n{LIBRARY}{OWN}"),
    );
    job.repo.write(
        "tests/double.sh",
        "touch ready; . ./lib.sh; [ \"$(double 4)\" = 8 ]\n",
    );
    job.repo.write(
        "tests/add.sh",
        "touch ready; . ./lib.sh; [ \"$(add 1 2)\" = 3 ]\n",
    );
    job.repo.write(
        ".agent/cook.toml",
        "[gates.test]\nrun = \"sh run.sh\"\ntimeout = \"3s\"\n",
    );
    job.repo.commit("Wait", None);
    job.repo.cook(&["init", "--as-user"]).ok();
    job.repo.trust("--gates");
    let run = job.reground(json!({"select": "b"}));
    assert!(
        matches!(job.status("a").as_str(), "done" | "planned"),
        "{run:?}"
    );
    assert!(
        run.err.contains("proof_unrunnable") || run.out.contains("proof_broken"),
        "{run:?}"
    );
}

#[test]
fn head_may_be_detached() {
    let job = Job::finish_by("test:double");
    job.git(&["checkout", "-q", "--detach"]);
    job.repo.cook(&["next"]).exits(0);
    job.git(&["checkout", "-q", "-"]);
    job.holds();
}

#[test]
fn a_link_to_the_renamed_file_leads_to_the_text() {
    let job = Job::finish_by("lib.sh:5");
    std::fs::create_dir(job.repo.root.join("src")).unwrap();
    job.git(&["mv", "lib.sh", "src/lib.sh"]);
    std::os::unix::fs::symlink("src/lib.sh", job.repo.root.join("lib.sh")).unwrap();
    job.repo.commit("Link to it", None);
    job.holds();
    assert_eq!(job.record("a")["anchor"], "src/lib.sh:5");
}

#[test]
fn a_command_that_is_no_gate_is_never_run_because_a_claim_names_it() {
    let job = Job::begin(&[CRITERION]);
    job.build();
    job.judge();
    job.accept(&[claim(CRITERION, "cmd:touch was-run.log#exit")])
        .expect_refused("evidence_unverified");
    assert!(!job.repo.root.join("was-run.log").exists());
}

/// What a plan calls the status of a done slice says nothing.
#[test]
fn a_plan_that_lists_a_broken_slice_does_not_keep_it_closed() {
    for status in ["planned", "done", "in_progress"] {
        let job = Job::finish_by("lib.sh:5");
        job.git(&["revert", "--no-edit", "HEAD"]);
        let listed = |id: &str| {
            let plan = job.repo.document("plan.json");
            let slices = plan["candidate_slices"].as_array().unwrap().clone();
            let mut named = slices.into_iter().filter(|slice| slice["slice_id"] == id);
            let slice = named.next().unwrap();
            let keys = [
                "slice_id",
                "goal",
                "acceptance_criteria",
                "contract_ids",
                "priority",
                "why_now",
            ];
            let kept = keys.map(|key| (key.to_owned(), slice[key].clone()));
            serde_json::Value::Object(kept.into_iter().collect())
        };
        let mut a = listed("a");
        a["status"] = json!(status);
        let plan = crate::support::reports::plan(&[a, listed("b")]);
        let ask = json!({"to": "await_user_input", "question": "is this wanted?"});
        job.reground(json!({"plan": plan, "policy": ask}));
        let run =
            job.reground(json!({"policy": {"to": "await_user_input", "question": "and this?"}}));
        assert_ne!(job.status("a"), "done", "{status}: {run:?}");
    }
}
