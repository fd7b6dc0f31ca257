//! Plans as changes, and the user's answers as conditions of slices.

use crate::support::Repo;
use crate::support::reports::{plan, slice, waiting_slice};
use serde_json::{Value, json};

/// `s1` is selected, `s2` waits for it.
fn make_planned() -> Repo {
    let repo = Repo::with_mission("Ship it");
    let slices = [slice("s1"), waiting_slice("s2", "s1"), slice("s3")];
    repo.hand_in_reground(&json!({"plan": plan(&slices), "select": "s1"}));
    repo
}

fn reground(repo: &Repo, block: &Value) -> crate::support::Run {
    repo.record("regrounder", repo.regrounder_report(block))
}

/// A re-ground is due: the slice in work was given back.
fn make_given_back() -> Repo {
    let repo = make_planned();
    let report = repo.implementer_report(Some("it is cut at the wrong place"));
    repo.record("implementer", report).ok();
    repo
}

fn of<'a>(plan: &'a Value, id: &str) -> &'a Value {
    let slices = plan["candidate_slices"].as_array().unwrap();
    slices.iter().find(|slice| slice["slice_id"] == id).unwrap()
}

#[test]
fn a_plan_says_what_changes_and_the_rest_stays() {
    let repo = make_given_back();
    let before = repo.document("plan.json");
    let block = json!({"plan": {
        "basis": "what came back",
        "add": [slice("s4")],
        "change": [{"slice_id": "s2", "blocked_on": ["s4"], "priority": 1, "add_criteria": ["it is fast"]}],
        "cancel": [{"slice_id": "s3", "reason": "nobody wants it"}],
        "order": ["s4", "s2"],
    }});
    reground(&repo, &block).ok();
    let after = repo.document("plan.json");
    let order: Vec<&str> = after["candidate_slices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|slice| slice["slice_id"].as_str().unwrap())
        .collect();
    assert_eq!(order, ["s4", "s2", "s1", "s3"]);
    assert_eq!(of(&after, "s2")["blocked_on"], json!(["s4"]));
    assert_eq!(
        of(&after, "s2")["acceptance_criteria"]
            .as_array()
            .unwrap()
            .last(),
        Some(&json!("it is fast"))
    );
    assert_eq!(of(&after, "s3")["status"], "cancelled");
    for key in ["goal", "acceptance_criteria", "status"] {
        assert_eq!(of(&after, "s1")[key], of(&before, "s1")[key]);
    }
}

#[test]
fn a_plan_that_cannot_be_applied_is_refused_with_the_way_on() {
    let change = |id: &str| json!({"slice_id": id, "priority": 1});
    let cancel = |id: &str| json!({"slice_id": id, "reason": "no"});
    let wrong = [
        (
            json!({"add": [slice("s4"), slice("s4")]}),
            "slice_duplicated",
        ),
        (json!({"add": [slice("s1")]}), "slice_duplicated"),
        (
            json!({"change": [change("s2")], "cancel": [cancel("s2")]}),
            "slice_duplicated",
        ),
        (json!({"change": [change("s9")]}), "slice_unknown"),
        (json!({"cancel": [cancel("s1")]}), "blocked_on_cancelled"),
        (
            json!({"cancel": [{"slice_id": "s3", "reason": " "}]}),
            "cancel_without_reason",
        ),
        (json!({"order": ["s9"]}), "order_unknown"),
        (json!({"order": ["s1", "s1"]}), "order_unknown"),
        (
            json!({"change": [{"slice_id": "s2", "drop_criteria": [7]}]}),
            "criteria_weakened",
        ),
        (
            json!({"change": [{"slice_id": "s2", "drop_criteria": [1], "add_criteria": ["another"]}]}),
            "criteria_weakened",
        ),
        (
            json!({"add": [slice("s4")], "candidate_slices": [slice("s1")]}),
            "plan_twice",
        ),
    ];
    let repo = make_given_back();
    let before = repo.fingerprint();
    for (delta, code) in wrong {
        let run = reground(&repo, &json!({"plan": delta}));
        assert_ne!(run.code, 0, "{delta}");
        run.says(code).says("next: ");
        assert_eq!(repo.fingerprint(), before);
    }
    // What others wait for may go when the same report says what they wait for instead.
    let both = json!({"plan": {"cancel": [cancel("s1")], "change": [{"slice_id": "s2", "blocked_on": []}]}});
    reground(&repo, &both).ok();
    let closed = json!({"plan": {"change": [change("s1")]}});
    reground(&repo, &closed).exits(4).says("goal_changed");
    let closed = json!({"plan": {"order": ["s1"]}});
    reground(&repo, &closed).exits(4).says("order_unknown");
}

/// What is left out stays, of blockers and gaps too.
#[test]
fn blockers_and_gaps_stay_until_a_list_is_given() {
    let repo = make_given_back();
    let block =
        json!({"release_blocker_ids": ["B-1"], "high_value_gaps": ["no manual"], "select": "s3"});
    reground(&repo, &block).ok();
    repo.record("implementer", repo.implementer_report(Some("not yet")))
        .ok();
    reground(&repo, &json!({"select": "s1"})).ok();
    assert_eq!(
        repo.document("state.json")["release_blocker_ids"],
        json!(["B-1"])
    );
    repo.record(
        "implementer",
        repo.implementer_report(Some("not this either")),
    )
    .ok();
    // An empty list is offered of what is not open alone, and what it clears is said.
    let prompt = repo.cook(&["next", "--prompt"]).ok().out;
    for key in ["release_blocker_ids", "high_value_gaps"] {
        assert!(!prompt.contains(&format!("\"{key}\": []")), "{prompt}");
    }
    reground(&repo, &json!({"release_blocker_ids": [], "select": "s3"}))
        .ok()
        .says("blockers_cleared")
        .says("'B-1'");
    assert_eq!(
        repo.document("state.json")["release_blocker_ids"],
        json!([])
    );
    assert_eq!(repo.document("state.json")["remaining_high_value_gaps"], 1);
}

fn notes(repo: &Repo, id: &str) -> Vec<String> {
    let plan = repo.document("plan.json");
    let notes = of(&plan, id)["locked_notes"].as_array().unwrap().clone();
    notes
        .iter()
        .map(|note| note.as_str().unwrap().to_owned())
        .collect()
}

fn ask(repo: &Repo, question: &str) -> crate::support::Run {
    let block = json!({"policy": {"to": "await_user_input", "question": question}});
    reground(repo, &block)
}

#[test]
fn an_answer_is_a_condition_that_no_plan_removes() {
    let repo = make_given_back();
    ask(&repo, "which port?").ok();
    repo.cook(&["resume", "--answer", "8080", "--as-user"]).ok();
    for id in ["s1", "s2", "s3"] {
        assert!(notes(&repo, id)[0].contains("asked \"which port?\", the user said: 8080"));
    }
    let drop =
        json!({"plan": {"change": [{"slice_id": "s2", "locked_notes": []}], "add": [slice("s4")]}});
    reground(&repo, &drop).ok();
    assert_eq!(notes(&repo, "s2").len(), 1);
    assert_eq!(notes(&repo, "s4").len(), 1, "a new slice has it too");
    // The question is not asked again, in whatever case.
    let report = repo.implementer_report(Some("again"));
    if repo.rule() == "4" {
        repo.record("implementer", report).ok();
    }
    ask(&repo, "Which  port?")
        .exits(4)
        .says("already_answered")
        .says("8080");
    let seq = repo.document("plan.json")["candidate_slices"][0]["locked_notes"][0]
        .as_str()
        .unwrap()
        .to_owned();
    let id = seq
        .split(':')
        .next()
        .unwrap()
        .trim_start_matches("user@")
        .to_owned();
    let nobody = json!({"answers_to": [{"answer": "answer-999", "slices": []}]});
    reground(&repo, &nobody).exits(4).says("answer_unknown");
    let place = json!({"answers_to": [{"answer": id, "slices": ["s3"]}]});
    reground(&repo, &place).ok();
    assert!(notes(&repo, "s1").is_empty());
    assert_eq!(notes(&repo, "s3").len(), 1);
}

/// What a review was given for has changed with the answer.
#[test]
fn an_answer_after_a_review_makes_one_due_again() {
    let repo = Repo::with_mission("Ship it");
    repo.plan_and_select(&[slice("s1"), slice("s2")]);
    repo.build_slice("s1");
    assert_eq!(repo.rule(), "7");
    ask(&repo, "in which language?").ok();
    repo.cook(&["resume", "--answer", "Frisian", "--as-user"])
        .ok();
    assert_eq!(repo.rule(), "2");
    reground(&repo, &json!({})).ok();
    assert_eq!(repo.rule(), "5");
    let prompt = repo.cook(&["next", "--prompt"]).ok().out;
    assert!(prompt.contains("the user said: Frisian"), "{prompt}");
}

/// Who builds the slice asked, so who builds it goes on, with the answer.
#[test]
fn an_implementers_question_leads_back_to_it() {
    let repo = make_planned();
    let asks = || {
        let report = repo.implementer_report(None);
        let commit = report.lines().find(|line| line.starts_with("Commit SHA:"));
        let report = report.replace(commit.unwrap(), "Commit SHA: none");
        report + "Input needed from user: in which language?\n"
    };
    repo.record("implementer", asks()).ok();
    repo.cook(&["resume", "--answer", "Frisian", "--as-user"])
        .ok();
    assert_eq!(repo.rule(), "4");
    let prompt = repo.cook(&["next", "--prompt"]).ok().out;
    assert!(prompt.contains("the user said: Frisian"), "{prompt}");
    repo.record("implementer", asks())
        .exits(4)
        .says("already_answered");
}

/// Where the repository moved under the question, the plan is looked at first.
#[test]
fn an_answer_after_the_repository_moved_leads_to_a_reground() {
    let repo = make_planned();
    let report = repo.implementer_report(None);
    let commit = report.lines().find(|line| line.starts_with("Commit SHA:"));
    let report = report.replace(commit.unwrap(), "Commit SHA: none");
    repo.record("implementer", report + "Input needed from user: which?\n")
        .ok();
    repo.write("else.txt", "moved\n");
    repo.commit("Move on", None);
    repo.cook(&["resume", "--answer", "this", "--as-user"]).ok();
    assert_eq!(repo.rule(), "2");
}

/// A done slice that was accepted before the answer takes nothing up.
#[test]
fn an_answer_is_placed_where_it_binds() {
    let repo = Repo::with_mission("Ship it");
    repo.plan_and_select(&[slice("s1"), slice("s2"), slice("s3")]);
    repo.build_slice("s1");
    repo.accept_slice("s1");
    ask(&repo, "which port?").ok();
    repo.cook(&["resume", "--answer", "8080", "--as-user"]).ok();
    let note = notes(&repo, "s2")[0].clone();
    let id = note.split(':').next().unwrap();
    let id = id.trim_start_matches("user@");
    let place = |slices: &[&str]| json!({"answers_to": [{"answer": id, "slices": slices}]});
    for slices in [&["s1"][..], &["s1", "s2"]] {
        reground(&repo, &place(slices))
            .exits(4)
            .says("answer_unplaced")
            .says("s1");
    }
    reground(&repo, &place(&["s2"]))
        .ok()
        .says("answer_moved")
        .says("no longer binds slice `s3`");
    assert!(notes(&repo, "s3").is_empty());
    // With its slice gone it concerns the others again.
    let cancel = json!({"plan": {"cancel": [{"slice_id": "s2", "reason": "nobody wants it"}]}});
    let prompt = repo.cook(&["next", "--prompt"]).ok().out;
    assert!(prompt.contains("(of s2)"), "{prompt}");
    reground(&repo, &cancel).ok();
    assert_eq!(notes(&repo, "s3"), [note]);
}

/// What the regrounder itself calls missing is taken up, or taken back, before judges are asked.
#[test]
fn nothing_that_is_named_as_missing_is_left_at_the_end() {
    for key in ["release_blocker_ids", "high_value_gaps"] {
        let repo = Repo::with_mission("Ship it");
        let first = json!({"plan": plan(&[slice("s1")]), "select": "s1", key: ["RB-1"]});
        repo.hand_in_reground(&first);
        repo.build_slice("s1");
        let mut accept = json!({
            "reconcile": {"slice_id": "s1", "decision": "accepted"},
            "evidence": crate::support::reports::proof("s1"),
        });
        reground(&repo, &accept)
            .exits(4)
            .says("blockers_open")
            .says("RB-1");
        assert_eq!(repo.rule(), "7", "nothing was taken");
        // One that stands in the report alone holds it up as well.
        let mut settled = accept.clone();
        settled[key] = json!([]);
        let told = repo.regrounder_report(&settled).replace(
            "Canonical blockers or deviations: none",
            "Canonical blockers or deviations: the licence is missing",
        );
        repo.record("regrounder", told)
            .exits(4)
            .says("blockers_open")
            .says("the licence is missing");
        let mut asks = accept.clone();
        asks["policy"] = json!({"to": "await_user_input", "question": "who mends RB-1?"});
        let report = repo.regrounder_report(&asks);
        repo.record_with(&["regrounder", "--check"], report).ok();
        let mut opens = accept.clone();
        opens["plan"] = json!({"add": [slice("s2")]});
        let report = repo.regrounder_report(&opens);
        repo.record_with(&["regrounder", "--check"], report).ok();
        accept[key] = json!([]);
        reground(&repo, &accept).ok();
        assert_eq!(repo.rule(), "8");
    }
}

#[test]
fn the_work_is_blocked_for_a_reason() {
    let repo = make_given_back();
    let blocked = |why: &str| json!({"policy": {"to": "blocked", "why": why, "exit": "true"}});
    for why in ["", " ", "none", "-"] {
        reground(&repo, &blocked(why)).exits(4);
    }
    reground(&repo, &blocked("none"))
        .exits(4)
        .says("block_without_reason");
    reground(&repo, &blocked("the mirror is down")).ok();
}

/// What a list of every slice leaves out of one stays, as in a change.
#[test]
fn a_whole_list_leaves_what_it_does_not_name() {
    let repo = make_given_back();
    let mut noted = slice("s3");
    noted["locked_notes"] = json!(["never as root"]);
    noted["blocked_on"] = json!(["s2"]);
    let whole =
        |third: Value| json!({"plan": {"candidate_slices": [slice("s1"), slice("s2"), third]}});
    reground(&repo, &whole(noted)).ok();
    let report = repo.implementer_report(Some("once more"));
    if repo.rule() == "4" {
        repo.record("implementer", report).ok();
    }
    let mut bare = slice("s3");
    bare["why_now"] = json!("it is last");
    for key in ["locked_notes", "blocked_on", "contract_ids"] {
        bare.as_object_mut().unwrap().remove(key);
    }
    reground(&repo, &whole(bare)).ok();
    let after = repo.document("plan.json");
    assert_eq!(of(&after, "s3")["locked_notes"], json!(["never as root"]));
    assert_eq!(of(&after, "s3")["blocked_on"], json!(["s2"]));
    assert_eq!(of(&after, "s3")["why_now"], json!("it is last"));
}

/// A review does not cover an answer that its report moves, and is not told that criteria changed.
#[test]
fn an_answer_that_moves_is_not_blamed_on_the_criteria() {
    let repo = Repo::with_mission("Ship it");
    repo.plan_and_select(&[slice("s1"), slice("s2")]);
    repo.build_slice("s1");
    ask(&repo, "in which language?").ok();
    repo.cook(&["resume", "--answer", "Frisian", "--as-user"])
        .ok();
    reground(&repo, &json!({})).ok();
    // Who reviews anew reads what was said of the commit before the answer.
    let prompt = repo.cook(&["next", "--prompt"]).ok().out;
    assert!(prompt.contains("The review before this one:\n"), "{prompt}");
    // Where it concerns `s2` alone, what was said of `s1` counts.
    let repo = Repo::with_mission("Ship it");
    repo.plan_and_select(&[slice("s1"), slice("s2")]);
    repo.build_slice("s1");
    ask(&repo, "in which language?").ok();
    repo.cook(&["resume", "--answer", "Frisian", "--as-user"])
        .ok();
    let note = notes(&repo, "s1")[0].clone();
    let id = note.split(':').next().unwrap().trim_start_matches("user@");
    reground(
        &repo,
        &json!({"answers_to": [{"answer": id, "slices": ["s2"]}]}),
    )
    .ok();
    assert_eq!(repo.rule(), "7");
    // Once `s2` is cancelled, the answer binds `s1` again.
    let cancelled = json!({
        "reconcile": {"slice_id": "s1", "decision": "accepted"},
        "evidence": crate::support::reports::proof("s1"),
        "plan": {"cancel": [{"slice_id": "s2", "reason": "not wanted"}]},
    });
    let moved = reground(&repo, &cancelled).exits(4);
    let moved = moved.says("review_negative").says("the user's answers");
    assert!(
        !moved.err.contains("the criteria of slice"),
        "{}",
        moved.err
    );
    let accepted = json!({
        "reconcile": {"slice_id": "s1", "decision": "accepted"},
        "evidence": crate::support::reports::proof("s1"),
        "select": "s2",
    });
    reground(&repo, &accepted).ok();
}

/// Nobody is offered what is refused: a committed slice waits for its review.
#[test]
fn a_reground_beside_a_committed_slice_is_offered_no_selection() {
    let repo = Repo::with_mission("Ship it");
    repo.plan_and_select(&[slice("s1"), slice("s2")]);
    repo.build_slice("s1");
    ask(&repo, "in which language?").ok();
    repo.cook(&["resume", "--answer", "Frisian", "--as-user"])
        .ok();
    let prompt = repo.cook(&["next", "--prompt"]).ok().out;
    assert!(!prompt.contains("\"select\""), "{prompt}");
    assert!(
        prompt.contains("A review that no longer counts"),
        "{prompt}"
    );
}

/// What the review found is not gone with the question that makes another review due.
#[test]
fn a_review_that_said_no_is_answered_before_another_one() {
    let repo = Repo::with_mission("Ship it");
    repo.plan_and_select(&[slice("s1"), slice("s2")]);
    repo.write_commit_for("s1", "src/s1.txt", "s1\n");
    let report = repo.implementer_report(None);
    repo.record("implementer", report).ok();
    let no = repo.reviewer_report(Some("it loses the exit code"));
    repo.record("reviewer", no).ok();
    repo.record("auditor", repo.auditor_report()).ok();
    assert_eq!(repo.rule(), "7");
    ask(&repo, "which exit code?").ok();
    repo.cook(&["resume", "--answer", "exit 3", "--as-user"])
        .ok();
    assert_eq!(repo.rule(), "2");
    let refused = reground(&repo, &json!({})).exits(4);
    refused.says("no_unanswered").says("review-");
    let nobodys = json!({"answers": [{"no": "no-99", "reason": "it is not so"}]});
    reground(&repo, &nobodys).exits(4).says("answer_unknown");
    let report = repo.regrounder_report(&json!({}));
    repo.write(".agent/tmp/r.txt", &report);
    repo.cook(&[
        "record",
        "regrounder",
        "--repair-prompt",
        ".agent/tmp/r.txt",
    ])
    .ok()
    .says("is not answered");
    let reopen = json!({"reconcile": {"slice_id": "s1", "decision": "reopened"}});
    reground(&repo, &reopen).ok();
    assert_eq!(repo.rule(), "4");
    let active = repo.document("active-slice.json");
    assert_ne!(active["must_fix_findings"], json!([]));
}

#[test]
fn a_plan_that_changes_nothing_but_the_order_says_so() {
    let repo = make_given_back();
    for plan in [
        json!({}),
        json!({"plan_basis": "x", "add": [], "order": []}),
    ] {
        let kept = repo.document("plan.json")["candidate_slices"].clone();
        reground(&repo, &json!({"plan": plan})).ok();
        assert_eq!(repo.document("plan.json")["candidate_slices"], kept);
        let report = repo.implementer_report(Some("again"));
        repo.record("implementer", report).ok();
    }
    reground(&repo, &json!({"plan": {"order": ["s3", "s1", "s2"]}}))
        .ok()
        .says("orders s3, s1, s2");
    let forged =
        json!({"plan": {"change": [{"slice_id": "s2", "locked_notes": [" user@answer-9: yes"]}]}});
    let report = repo.implementer_report(Some("once more"));
    repo.record("implementer", report).ok();
    reground(&repo, &forged).exits(4).says("note_forged");
}
