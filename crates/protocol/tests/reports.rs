//! The report grammar: what is tolerated, what is refused and by which code, and
//! that no text gets a positive verdict past a rule that is stated here anew.
#![allow(clippy::unwrap_used)]

use cook_protocol::diagnostic::{CATALOGUE, Code, Family, without_tags};
use cook_protocol::model::{Basis, Decision, Event, Reground, Role, RubricVerdict};
use cook_protocol::report::{
    DIMENSIONS, Kind, MAX_BYTES, OFFER_FORMAT, Parsed, Provenance, Report, Reported,
    describe_check, event, fields, format, has_block, has_rubric, parse, render, repair_prompt,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The published schema of a role's report.
fn schema(role: Role) -> Value {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../protocol/schema");
    let file = format!("{directory}/report-{}.json", role.short());
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// A report as label-value lines that a test can change before it is written out.
#[derive(Debug, Clone)]
struct Draft {
    role: Role,
    lines: Vec<(String, String)>,
    rubric: Vec<String>,
    block: Option<String>,
}

impl Draft {
    fn valid(role: Role) -> Self {
        let lines = fields(role)
            .iter()
            .filter(|field| field.required)
            .map(|field| {
                (
                    field.label.to_owned(),
                    valid_value(role, field.key).to_owned(),
                )
            })
            .collect();
        let rubric = DIMENSIONS
            .iter()
            .map(|dimension| format!("- {}: pass - it holds", dimension.label))
            .collect();
        Self {
            role,
            lines,
            rubric: if has_rubric(role) { rubric } else { Vec::new() },
            block: has_block(role).then(|| "{}".to_owned()),
        }
    }

    fn set(mut self, label: &str, value: &str) -> Self {
        match self.lines.iter_mut().find(|(name, _)| name == label) {
            Some((_, old)) => *old = value.to_owned(),
            None => self.lines.push((label.to_owned(), value.to_owned())),
        }
        self
    }

    fn without(mut self, label: &str) -> Self {
        self.lines.retain(|(name, _)| name != label);
        self
    }

    fn rate(mut self, place: usize, line: &str) -> Self {
        self.rubric[place] = line.to_owned();
        self
    }

    fn block(mut self, block: &str) -> Self {
        self.block = Some(block.to_owned());
        self
    }

    fn text(&self) -> String {
        let mut out = String::new();
        for (place, (label, value)) in self.lines.iter().enumerate() {
            if place == 2 && !self.rubric.is_empty() {
                out.push_str(&format!("Rubric:\n{}\n", self.rubric.join("\n")));
            }
            out.push_str(&format!("{label}: {value}\n"));
        }
        if let Some(block) = &self.block {
            out.push_str(&format!("```json\n{block}\n```\n"));
        }
        out
    }

    fn parse(&self) -> Parsed {
        parse(self.role, self.text().as_bytes())
    }
}

fn valid_value(role: Role, key: &str) -> &'static str {
    match (role, key) {
        (_, "mission_anchor") => "Ship the thing",
        (_, "commit_sha" | "latest_completed_slice_commit") => "0123456789abcdef",
        (_, "blocker_count" | "high_value_gap_count") => "0",
        (_, "reconciliation_decision") => "none",
        (Role::Implementer, "plan_adjustment_required") => "no",
        (Role::Implementer, "slice_id") => "s-1",
        (Role::Auditor, "stale_or_conflicting_canonical_state") => "no",
        (role, key) => match fields(role)
            .iter()
            .find(|field| field.key == key)
            .unwrap()
            .kind
        {
            Kind::YesNo => "yes",
            _ => "none",
        },
    }
}

fn codes(parsed: &Parsed) -> BTreeSet<Code> {
    parsed.findings.iter().map(|finding| finding.code).collect()
}

fn expect_accepted(draft: &Draft) -> Report {
    let parsed = draft.parse();
    assert_eq!(parsed.findings, [], "{}", draft.text());
    parsed.report.unwrap()
}

fn expect_refused(draft: &Draft, code: Code) {
    let parsed = draft.parse();
    assert_eq!(codes(&parsed), BTreeSet::from([code]), "{}", draft.text());
    assert!(parsed.report.is_none());
}

fn make_event(report: &Report) -> Event {
    let provenance = Provenance {
        session: Some("session-1".to_owned()),
        ticket: None,
        began_at: None,
    };
    match event(report, provenance) {
        Reported::Event(event) => *event,
        Reported::Nothing => panic!("no event"),
    }
}

const FOLLOW_UP: &str = "Smallest follow-up slice";
const CAN_STOP: &str = "Can the project stop now";
const JUDGE_IDS: &str = "Exact remaining open top-level contract IDs";
const DOCS_MATCH: &str = "Docs/config/runbooks match shipped behavior";
const CLEAN: &str = "Tracked and unignored worktree is clean";
const NEXT_SLICE: &str = "Next mandatory slice";
const OPEN_IDS: &str = "Open top-level contract IDs";

/// One broken report for each code of the grammar.
fn list_broken() -> Vec<(Code, Role, Vec<u8>)> {
    let reviewer = Draft::valid(Role::Reviewer);
    let auditor = Draft::valid(Role::Auditor);
    let judge = Draft::valid(Role::StopJudge);
    let regrounder = Draft::valid(Role::Regrounder);
    let implementer = Draft::valid(Role::Implementer);
    let mut unblocked = regrounder.clone();
    unblocked.block = None;
    let mut unrated = reviewer.clone();
    unrated.rubric.clear();
    let mut three = reviewer.clone();
    three.rubric.pop();
    let mut five = reviewer.clone();
    five.rubric
        .push("- Contract coverage: fail - it does not".to_owned());
    let two_blocks = format!(
        "{}```json\n{{\"select\": \"s-1\"}}\n```\n",
        regrounder.text()
    );
    let reviewer_text = reviewer.text();
    let twice = format!("{reviewer_text}Findings: one\n");
    let long = "x".repeat(20_001);
    let drafts = vec![
        (
            Code::ReportBlockInvalid,
            regrounder.clone().block("{\"plan\": {\"cancel\": [{}]}}"),
        ),
        (Code::ReportBlockMissing, unblocked),
        (Code::FieldMissing, reviewer.clone().without("Findings")),
        (Code::FieldEmpty, reviewer.clone().set("Findings", "")),
        (
            Code::FieldNotYesNo,
            reviewer.clone().set("Acceptable as-is", "yesterday"),
        ),
        (
            Code::FieldNotCount,
            judge.clone().set("Blocker count", "-1"),
        ),
        (
            Code::FieldNotInSet,
            implementer.clone().set("Commit SHA", "main"),
        ),
        (Code::FieldTooLong, reviewer.clone().set("Findings", &long)),
        (
            Code::HeaderMissing,
            Draft {
                lines: reviewer.lines.iter().rev().cloned().collect(),
                ..reviewer.clone()
            },
        ),
        (Code::RubricMissing, unrated),
        (Code::RubricIncomplete, three),
        (
            Code::RubricInvalid,
            reviewer
                .clone()
                .rate(0, "- Contract coverage: passable - x"),
        ),
        (Code::RubricDuplicated, five),
        (
            Code::PositiveWithFail,
            reviewer
                .clone()
                .rate(1, "- Correctness risk: fail - it breaks"),
        ),
        (
            Code::ReviewYesWithFollowUp,
            reviewer.clone().set(FOLLOW_UP, "none; tighten the docs"),
        ),
        (
            Code::ReviewNoWithoutFollowUp,
            reviewer.clone().set("Acceptable as-is", "no"),
        ),
        (
            Code::AuditCleanWithBlockers,
            auditor.clone().set("Worktree blockers", "a.txt"),
        ),
        (
            Code::AuditDirtyWithoutBlockers,
            auditor.clone().set(CLEAN, "no"),
        ),
        (
            Code::AuditOpenWithoutNextSlice,
            auditor.clone().set(OPEN_IDS, "c-1"),
        ),
        (
            Code::JudgeYesWithOpenContracts,
            judge.clone().set(JUDGE_IDS, "c-1"),
        ),
        (
            Code::JudgeYesWithBlockers,
            judge.clone().set("High-value gap count", "1"),
        ),
        (
            Code::JudgeYesWithDocsMismatch,
            judge.clone().set(DOCS_MATCH, "no"),
        ),
        (
            Code::JudgeYesWithDirtyWorktree,
            judge.clone().set(CLEAN, "no"),
        ),
        (
            Code::ReturnWithoutReason,
            implementer
                .set("Commit SHA", "none")
                .set("Plan adjustment required", "yes"),
        ),
        (
            Code::BlockContradictsField,
            regrounder.set("Reconciliation decision", "accepted"),
        ),
    ];
    let mut all: Vec<(Code, Role, Vec<u8>)> = drafts
        .into_iter()
        .map(|(code, draft)| (code, draft.role, draft.text().into_bytes()))
        .collect();
    all.push((Code::ReportEmpty, Role::Reviewer, b"\n \n".to_vec()));
    let other = reviewer_text.replace("Findings: none", "Findings: one");
    all.push((
        Code::ReportAmbiguous,
        Role::Reviewer,
        format!("{reviewer_text}\n{other}").into_bytes(),
    ));
    all.push((Code::ReportTooLarge, Role::Reviewer, vec![b'x'; 10 << 20]));
    all.push((
        Code::ReportNotText,
        Role::Reviewer,
        b"MISSION ANCHOR: \xff".to_vec(),
    ));
    all.push((
        Code::ReportBlockAmbiguous,
        Role::Regrounder,
        two_blocks.into_bytes(),
    ));
    all.push((Code::FieldDuplicated, Role::Reviewer, twice.into_bytes()));
    all
}

#[test]
fn a_valid_report_of_every_role_is_accepted() {
    for role in Role::ALL {
        let report = expect_accepted(&Draft::valid(role));
        assert_eq!(report.role(), role);
        assert_eq!(report.mission_anchor(), "Ship the thing");
        assert_eq!(report.remaining_contract_ids(), Vec::<String>::new());
    }
}

#[test]
fn each_broken_report_breaks_its_one_code() {
    for (code, role, bytes) in list_broken() {
        let parsed = parse(role, &bytes);
        assert_eq!(codes(&parsed), BTreeSet::from([code]), "{code}");
        assert!(parsed.report.is_none(), "{code}");
    }
}

#[test]
fn every_code_of_the_report_family_is_reached() {
    let reached: BTreeSet<Code> = list_broken().into_iter().map(|(code, ..)| code).collect();
    let family: BTreeSet<Code> = CATALOGUE
        .iter()
        .copied()
        .filter(|code| code.family() == Family::Report)
        .collect();
    assert_eq!(reached, family);
}

#[test]
fn decoration_of_chat_answers_is_tolerated() {
    let text = "\u{feff}PROGRESS: reading\r\n\r\nVERIFYING: tests\r\n```\r\n\
        - **MISSION ANCHOR:** `Ship the thing`\r\n\
        * `Remaining contract IDs: c-1, c-2`\r\n\
        - **Rubric:**\r\n\
        \x20   - **Contract coverage**: **pass** - all met\r\n\
        \x20   - `Correctness risk`: Concern – a race\r\n\
        \x20     in the lock\r\n\
        \x20   - Verification evidence: PASS: tests\r\n\
        \x20   - Docs/state parity: pass — fine\r\n\
        - Findings:\r\n\
        \x20 - one\r\n\
        \x20 - two, with Label: text\r\n\
        \x20   and more\r\n\
        \x20 - Remarks (none): no label\r\n\
        - **ACCEPTABLE   as-is? (yes/no)**: **Yes**\r\n\
        - Smallest Follow-Up Slice: None; proceed to completion-auditor.\r\n\
        ```\r\n";
    let parsed = parse(Role::Reviewer, text.as_bytes());
    // A line with an unknown label is text of the field above it.
    assert_eq!(parsed.findings, []);
    let report = parsed.report.unwrap();
    assert_eq!(report.mission_anchor(), "Ship the thing");
    assert_eq!(report.remaining_contract_ids(), ["c-1", "c-2"]);
    assert_eq!(
        report.items("findings"),
        [
            "one",
            "two, with Label: text and more",
            "Remarks (none): no label"
        ]
    );
    let rubric = report.rubric().unwrap();
    assert_eq!(rubric["correctness_risk"].verdict, RubricVerdict::Concern);
    assert_eq!(rubric["correctness_risk"].why, "a race in the lock");
    assert_eq!(rubric["docs_state_parity"].why, "fine");
}

#[test]
fn decoration_laid_on_more_than_once_is_taken_off_whole() {
    for (anchor, read) in [
        ("*\t*\t0", "0"),
        ("- * + Ship it", "Ship it"),
        ("`- Ship it`", "Ship it"),
        ("- **- `Ship it`**", "Ship it"),
    ] {
        let report = expect_accepted(&Draft::valid(Role::Reviewer).set("MISSION ANCHOR", anchor));
        assert_eq!(report.mission_anchor(), read, "{anchor}");
        let again = parse(Role::Reviewer, render(&report).as_bytes());
        assert_eq!(again.report.unwrap().record(), report.record());
    }
}

#[test]
fn control_and_direction_characters_never_reach_a_field() {
    let hostile =
        "bell\u{7} esc\u{1b}[31m rtl\u{202e} zero\u{200b} tag\u{e0041} c1\u{9b} del\u{7f}";
    let draft = Draft::valid(Role::Reviewer).set("Findings", hostile);
    assert_eq!(
        expect_accepted(&draft).field("findings"),
        "bell esc rtl zero tag c1 del"
    );
    let block = r#"{"plan": {"candidate_slices": [{"slice_id": "s", "goal": "a\u001b[2Jb\u202e",
        "acceptance_criteria": ["c"], "priority": 1}]}}"#;
    let report = expect_accepted(&Draft::valid(Role::Regrounder).block(block));
    let plan = report.block().unwrap().plan.as_ref().unwrap();
    assert_eq!(plan.candidate_slices[0].goal, "ab");
}

#[test]
fn a_block_with_an_error_names_the_place() {
    let block = r#"{"plan": {"candidate_slices": [{"slice_id": "s", "goal": 3,
        "acceptance_criteria": ["c"], "priority": 1}]}}"#;
    let parsed = Draft::valid(Role::Regrounder).block(block).parse();
    assert_eq!(parsed.findings[0].code, Code::ReportBlockInvalid);
    let message = &parsed.findings[0].message;
    assert!(
        message.contains("plan.candidate_slices[0].goal"),
        "{message}"
    );
    for block in ["", "[]", "{} {}"] {
        expect_refused(
            &Draft::valid(Role::Regrounder).block(block),
            Code::ReportBlockMissing,
        );
    }
    for block in [
        "{\"reconcile\": [\"s-1\", \"accepted\"]}",
        "{\"conclude\": [\"stop\"]}",
        "{\"select\": \"a\", \"select\": \"b\"}",
        "{\"selected\": \"a\"}",
        "{\"plan\": {\"candidate_slices\": [{\"slice_id\": \"\\u0007\", \"goal\": \"g\", \
         \"acceptance_criteria\": [\"c\"], \"priority\": 1}]}}",
    ] {
        expect_refused(
            &Draft::valid(Role::Regrounder).block(block),
            Code::ReportBlockInvalid,
        );
    }
    let deep = format!(
        "{{\"plan\": {}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    expect_refused(
        &Draft::valid(Role::Regrounder).block(&deep),
        Code::ReportBlockInvalid,
    );
}

#[test]
fn a_fence_in_the_last_value_belongs_to_it_and_one_around_the_report_does_not() {
    let reasons = "\n- it drops lines:\n```sh\ntool a.txt\n\ntool b.txt\n```\n- the docs lie";
    let draft = Draft::valid(Role::StopJudge).set("Brief justification", reasons);
    let wanted = ["it drops lines: tool a.txt tool b.txt", "the docs lie"];
    for text in [
        draft.text(),
        format!("{}\nSo much for that.\n", draft.text()),
    ] {
        let report = parse(Role::StopJudge, text.as_bytes()).report.unwrap();
        assert_eq!(report.items("brief_justification"), wanted);
    }
    let fenced = Draft::valid(Role::StopJudge).set("Brief justification", "it holds");
    let fenced = format!("```\n{}```\nI ran\n```sh\ntool\n```\n", fenced.text());
    let report = parse(Role::StopJudge, fenced.as_bytes()).report.unwrap();
    assert_eq!(report.items("brief_justification"), ["it holds"]);
}

#[test]
fn labels_deep_in_a_value_are_text() {
    let draft = Draft::valid(Role::Reviewer).set("Findings", "\n    Acceptable as-is: no\n    - x");
    let report = expect_accepted(&draft);
    assert_eq!(report.yes("acceptable_as_is"), Some(true));
    assert_eq!(report.field("findings"), "Acceptable as-is: no\n- x");
}

#[test]
fn an_unfilled_format_is_never_a_report() {
    for role in Role::ALL {
        let parsed = parse(role, format(role).as_bytes());
        if has_rubric(role) {
            assert!(codes(&parsed).contains(&Code::RubricInvalid));
        }
        assert!(codes(&parsed).contains(&Code::FieldNotYesNo), "{role}");
        assert!(!codes(&parsed).contains(&Code::FieldMissing), "{role}");
        assert!(!codes(&parsed).contains(&Code::HeaderMissing), "{role}");
        assert!(
            !codes(&parsed).contains(&Code::ReportBlockInvalid),
            "{role}"
        );
    }
}

#[test]
fn the_format_s_block_is_a_block() {
    let text = format(Role::Regrounder);
    let block = text
        .split("```json")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let block: Reground = serde_json::from_str(block).unwrap();
    let written = serde_json::to_value(&block).unwrap();
    let shown = schema(Role::Regrounder)["properties"]["block"]["properties"].clone();
    let keys = |value: &Value| -> BTreeSet<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(keys(&written), keys(&shown));
}

#[test]
fn the_json_form_says_the_same_as_the_text_form() {
    for role in Role::ALL {
        let report = expect_accepted(&Draft::valid(role));
        let json = to_json(&report).to_string();
        for text in [
            json.clone(),
            format!("PROGRESS: x\n```json\n{json}\n```\n"),
            format!("```\n{json}\n```"),
        ] {
            let again = parse(role, text.as_bytes());
            assert_eq!(again.findings, [], "{text}");
            assert_same(&again.report.unwrap(), &report);
        }
    }
}

#[test]
fn the_json_form_takes_typed_values() {
    let mut value = to_json(&expect_accepted(&Draft::valid(Role::StopJudge)));
    value["blocker_count"] = json!(2);
    value["can_the_project_stop_now"] = json!(false);
    value["brief_justification"] = json!(["docs lie", "tests\nare red"]);
    value["exact_remaining_open_top_level_contract_ids"] = json!([]);
    let report = parse(Role::StopJudge, value.to_string().as_bytes())
        .report
        .unwrap();
    assert_eq!(report.count("blocker_count"), Some(2));
    assert_eq!(report.yes("can_the_project_stop_now"), Some(false));
    assert_eq!(
        report.items("brief_justification"),
        ["docs lie", "tests are red"]
    );
}

#[test]
fn a_broken_json_form_is_refused_once() {
    let valid = to_json(&expect_accepted(&Draft::valid(Role::Reviewer)));
    let text = valid.to_string();
    let with = |key: &str, value: Value| {
        let mut changed = valid.clone();
        changed[key] = value;
        changed.to_string()
    };
    let doubled = text.replacen('{', "{\"findings\": \"x\", ", 1);
    let twice = text.replacen(
        "\"rubric\":{",
        "\"rubric\":{\"correctness_risk\":{\"verdict\":\"pass\",\"why\":\"x\"},",
        1,
    );
    let mut fewer = valid.clone();
    fewer["rubric"]
        .as_object_mut()
        .unwrap()
        .remove("correctness_risk");
    for (code, text) in [
        (Code::HeaderMissing, "{".to_owned()),
        (
            Code::ReportBlockInvalid,
            "{\"mission_anchor\": \"m\",".to_owned(),
        ),
        (
            Code::ReportAmbiguous,
            format!(
                "```json\n{text}\n```\n```json\n{}\n```",
                with("findings", json!("one"))
            ),
        ),
        (Code::ReportBlockInvalid, with("block", json!({}))),
        (Code::ReportBlockInvalid, with("findings", json!(3))),
        (Code::ReportBlockInvalid, with("findings", json!([3]))),
        (Code::FieldEmpty, with("findings", Value::Null)),
        (Code::ReportBlockInvalid, doubled),
        (Code::ReportBlockInvalid, twice),
        (Code::RubricIncomplete, fewer.to_string()),
        (Code::HeaderMissing, "{\"a\":".repeat(50_000)),
    ] {
        let parsed = parse(Role::Reviewer, text.as_bytes());
        assert_eq!(
            codes(&parsed),
            BTreeSet::from([code]),
            "{}",
            &text[..text.len().min(200)]
        );
    }
}

/// What stands behind a verdict may take it back: nobody guesses.
#[test]
fn a_verdict_is_the_word_and_nothing_more() {
    for said in [
        "pass - no, it is wrong",
        "yes - it drops lines",
        "Yes, but not the docs",
        "yes.",
        "yes or no",
        "no - it drops lines",
        "no\n- it drops lines",
        "maybe",
    ] {
        let draft = Draft::valid(Role::Reviewer).set("Acceptable as-is", said);
        expect_refused(&draft, Code::FieldNotYesNo);
    }
    for (said, code) in [
        ("0 critical, 3 minor", Code::FieldNotCount),
        ("0 or 2", Code::FieldNotCount),
    ] {
        expect_refused(
            &Draft::valid(Role::StopJudge).set("Blocker count", said),
            code,
        );
    }
    let decided = Draft::valid(Role::Regrounder).set("Reconciliation decision", "none yet");
    expect_refused(&decided, Code::FieldNotInSet);
    let named = Draft::valid(Role::Implementer).set("Commit SHA", "0123456789abcdef (main)");
    expect_refused(&named, Code::FieldNotInSet);
    for said in [
        "pass - no, it is wrong",
        "pass - fail: it is wrong",
        "pass - fail it deletes the file",
        "pass - **FAIL** it deletes the file",
        "pass, mostly - it holds",
        "pass or fail - it holds",
        "concern - pass. It holds",
    ] {
        let draft = Draft::valid(Role::Reviewer).rate(1, &format!("- Correctness risk: {said}"));
        expect_refused(&draft, Code::RubricInvalid);
    }
    let mut object = to_json(&expect_accepted(&Draft::valid(Role::Reviewer)));
    object["rubric"]["correctness_risk"]["why"] = json!("no, it is wrong");
    let parsed = parse(Role::Reviewer, object.to_string().as_bytes());
    assert_eq!(codes(&parsed), BTreeSet::from([Code::RubricInvalid]));
}

/// A prompt shows a tag with other brackets: what is to be filled in is none.
#[test]
fn no_placeholder_of_a_format_reads_as_a_tag() {
    for role in Role::ALL {
        let format = format(role);
        assert_eq!(without_tags(&format), format, "{role}");
    }
    assert_eq!(without_tags(OFFER_FORMAT), OFFER_FORMAT);
}

/// What a refused object must hold is what its own role must.
#[test]
fn a_refusal_of_the_json_form_speaks_of_its_role() {
    for role in Role::ALL {
        let valid = to_json(&expect_accepted(&Draft::valid(role)));
        let told = |change: &dyn Fn(&mut Value)| {
            let mut changed = valid.clone();
            change(&mut changed);
            let parsed = parse(role, changed.to_string().as_bytes());
            let [finding] = parsed.findings.as_slice() else {
                panic!("{role}: {:?}", parsed.findings);
            };
            assert_eq!(finding.code, Code::ReportBlockInvalid);
            finding.message.clone()
        };
        let is_of_regrounder = |message: &str| message.contains("reconcile, reopen");
        let unknown = told(&|value| value["frobnicate"] = json!(1));
        let own = fields(role).last().unwrap().key;
        assert!(unknown.contains("`frobnicate` is not a field"), "{unknown}");
        assert!(unknown.contains(own), "{role}: {unknown}");
        assert!(!is_of_regrounder(&unknown), "{role}: {unknown}");
        for field in fields(role).iter().filter(|field| field.required) {
            let message = told(&|value| value[field.key] = json!({"a": 1}));
            let wanted = format!("it holds `{{\"a\":1}}`; it must hold {}", field.hint);
            assert!(message.contains(&wanted), "{role}: {message}");
        }
        if has_rubric(role) {
            let message = told(&|value| value["rubric"] = json!(3));
            assert!(
                message.contains("it holds `3`; it must hold a verdict and a reason"),
                "{message}"
            );
        }
        let broken = parse(role, b"{\"mission_anchor\": \"m\",");
        assert!(
            !is_of_regrounder(&broken.findings[0].message),
            "{:?}",
            broken.findings
        );
    }
}

#[test]
fn schemas_accept_reports_and_refuse_broken_ones() {
    for role in Role::ALL {
        let schema = jsonschema::validator_for(&schema(role)).unwrap();
        let valid = to_json(&expect_accepted(&Draft::valid(role)));
        assert!(schema.is_valid(&valid), "{valid}");
        for field in fields(role) {
            for wrong in [json!({}), json!(-1), json!(1.5), json!("")] {
                let mut changed = valid.clone();
                changed[field.key] = wrong;
                assert!(!schema.is_valid(&changed), "{changed}");
                let refused = parse(role, changed.to_string().as_bytes()).report.is_none();
                assert!(refused || !field.required, "{changed}");
            }
            let mut changed = valid.clone();
            changed.as_object_mut().unwrap().remove(field.key);
            assert_eq!(schema.is_valid(&changed), !field.required);
        }
        let mut changed = valid.clone();
        changed["more"] = json!(1);
        assert!(!schema.is_valid(&changed));
    }
}

#[test]
fn a_check_shows_what_was_read() {
    let draft = Draft::valid(Role::Reviewer).set(FOLLOW_UP, "tighten the docs");
    let value = json!(describe_check(Role::Reviewer, &draft.parse()));
    assert_eq!(value["valid"], false);
    assert_eq!(value["role"], "completion-reviewer");
    assert_eq!(
        value["fields"]["smallest_follow_up_slice"],
        "tighten the docs"
    );
    assert_eq!(value["rubric"]["correctness_risk"]["verdict"], "pass");
    assert_eq!(value["findings"][0]["code"], "review_yes_with_follow_up");
    let keys: Vec<&String> = value["findings"][0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["code", "message"]);
    let implementer = Draft::valid(Role::Implementer);
    let value = json!(describe_check(Role::Implementer, &implementer.parse()));
    assert_eq!(
        (&value["valid"], &value["rubric"]),
        (&json!(true), &Value::Null)
    );
}

/// Each key of the block, with a value of another kind and with one that lacks what it requires.
#[test]
fn a_refusal_of_the_block_says_what_it_holds_and_must_hold() {
    let schema = schema(Role::Regrounder);
    let block = schema["properties"]["block"]["properties"]
        .as_object()
        .unwrap();
    assert!(block.len() > 10);
    let shown = format(Role::Regrounder);
    let told = |value: &Value| {
        let text = Draft::valid(Role::Regrounder).text();
        let (fields, _) = text.split_once("```json").unwrap();
        let parsed = parse(
            Role::Regrounder,
            format!("{fields}```json\n{value}\n```\n").as_bytes(),
        );
        let mut findings = parsed.findings.into_iter();
        findings
            .find(|finding| finding.code == Code::ReportBlockInvalid)
            .map(|finding| finding.message)
    };
    for (key, property) in block {
        let message = told(&json!({key: 7})).unwrap();
        assert!(
            message.contains("; it holds `7`; it must hold "),
            "{message}"
        );
        assert!(
            message.contains(&format!("for example `\"{key}\": ")),
            "{message}"
        );
        assert!(shown.contains(&format!("\"{key}\": ")));
        let required = property["items"]["required"].as_array();
        if required.is_some() {
            let message = told(&json!({key: [{}]})).unwrap();
            assert!(message.contains(&format!("at `{key}[0]")), "{message}");
            assert!(
                message.contains("; it holds `{}`; it must hold "),
                "{message}"
            );
        }
    }
    let parsed = parse(
        Role::Regrounder,
        b"MISSION ANCHOR: m\n```json\n{\"select\": \"a\",}\n```\n",
    );
    let messages: Vec<&str> = parsed
        .findings
        .iter()
        .map(|it| it.message.as_str())
        .collect();
    assert!(
        messages
            .iter()
            .any(|it| it.contains("it holds `{\"select\": \"a\",}`; it must hold one JSON object")),
        "{messages:?}"
    );
    let table = Draft::valid(Role::Reviewer).text().replace(
        "- Contract coverage:",
        "| Dimension | Rating |\n- Contract coverage:",
    );
    let parsed = parse(Role::Reviewer, table.as_bytes());
    let message = &parsed.findings[0].message;
    assert!(
        message.contains("it holds `| Dimension | Rating |`; it must hold pass"),
        "{message}"
    );
}

#[test]
fn no_example_is_what_was_refused() {
    let told = |draft: Draft| {
        let findings = draft.parse().findings;
        assert!(!findings.is_empty());
        let messages = findings.into_iter().map(|finding| finding.message);
        messages.collect::<Vec<_>>().join("\n")
    };
    let review = Draft::valid(Role::Reviewer)
        .set("Acceptable as-is", "no")
        .set("Smallest follow-up slice", "none");
    let text = told(review);
    assert!(!text.contains("`Smallest follow-up slice: none`"), "{text}");
    assert!(text.contains("`Smallest follow-up slice: <"), "{text}");
    let vote = Draft::valid(Role::StopJudge)
        .set("Can the project stop now", "yes")
        .set("Blocker count", "2");
    let text = told(vote);
    assert!(text.contains("for example `Blocker count: 0`"), "{text}");
    // A word is what it said, without what stands around it.
    for (said, word) in [
        ("No.", "no"),
        ("no, all is fine", "no"),
        ("**Yes** - it grew", "yes"),
        ("perhaps", "no"),
    ] {
        let draft = Draft::valid(Role::Implementer).set("Plan adjustment required", said);
        let example = format!("for example `Plan adjustment required (yes/no): {word}`");
        let text = told(draft);
        assert!(text.contains(&example), "{said}: {text}");
    }
    let text = told(Draft::valid(Role::StopJudge).set("Blocker count", "a few"));
    assert!(text.contains("for example `Blocker count: 2`"), "{text}");
    let conclude = parse(
        Role::Regrounder,
        b"MISSION ANCHOR: m\n```json\n{\"conclude\": \"go_on\"}\n```\n",
    );
    let text = format!("{:?}", conclude.findings);
    assert!(text.contains("an object with `decision`"), "{text}");
}

#[test]
fn the_repair_prompt_names_each_breach_and_the_format() {
    let draft = Draft::valid(Role::Reviewer)
        .set("Acceptable as-is", "perhaps")
        .without("Findings");
    let text = repair_prompt(
        Role::Reviewer,
        &draft.parse().findings,
        &draft.text(),
        &format(Role::Reviewer),
    );
    assert!(text.contains("it holds `perhaps`; it must hold yes or no"));
    assert!(text.contains("for example `Acceptable as-is (yes/no): no`"));
    assert!(text.contains("\n    Acceptable as-is: perhaps\n"), "{text}");
    let long = repair_prompt(
        Role::Reviewer,
        &[],
        &format!("{}the end", "x\n".repeat(1 << 20)),
        "",
    );
    assert!(long.len() < 100_000 && long.contains("\n    the end\n"));
    assert!(text.contains("`Acceptable as-is (yes/no)`: "));
    assert!(text.contains("[field_not_yes_no]"));
    assert!(text.contains("`Findings` is missing; write one finding a line"));
    assert!(text.contains("[field_missing]"));
    assert!(text.ends_with(&format(Role::Reviewer)));
}

#[test]
fn reviewers_auditors_and_judges_give_verdicts() {
    let no = Draft::valid(Role::Reviewer)
        .rate(1, "- Correctness risk: fail - loses data")
        .set("Findings", "\n- a.rs:3 loses data\n- b.rs:9 has no test")
        .set("Acceptable as-is", "No")
        .set(FOLLOW_UP, "keep the data in a.rs");
    let Event::Reviewed {
        verdicts,
        submission,
    } = make_event(&expect_accepted(&no))
    else {
        panic!("not reviewed")
    };
    assert!(!verdicts.positive);
    assert_eq!(verdicts.fails, ["correctness_risk"]);
    assert_eq!(
        verdicts.findings,
        ["a.rs:3 loses data", "b.rs:9 has no test"]
    );
    assert_eq!(verdicts.follow_up.as_deref(), Some("keep the data in a.rs"));
    assert_eq!(submission.session.as_deref(), Some("session-1"));
    assert_eq!(submission.report_sha256.len(), 64);

    let clear = make_event(&expect_accepted(&Draft::valid(Role::Auditor)));
    let Event::Audited {
        verdicts,
        submission,
    } = clear
    else {
        panic!("not audited")
    };
    assert!(verdicts.positive && verdicts.findings.is_empty() && verdicts.follow_up.is_none());
    assert_eq!(submission.worktree_clean, Some(true));
    for (label, value, counted) in [
        (OPEN_IDS, "c-1", "open contracts: c-1"),
        ("Blocker count", "1", "1 blocker, 0 high-value gaps"),
        ("High-value gap count", "2", "0 blockers, 2 high-value gaps"),
    ] {
        let open = Draft::valid(Role::Auditor)
            .set(label, value)
            .set("Why the project is still not done", "\n1. docs\n2. tests")
            .set(NEXT_SLICE, "docs");
        let Event::Audited { verdicts, .. } = make_event(&expect_accepted(&open)) else {
            panic!("not audited")
        };
        assert!(!verdicts.positive, "{label}");
        assert_eq!(verdicts.findings, ["docs", "tests", counted]);
        assert_eq!(verdicts.follow_up.as_deref(), Some("docs"));
    }
    // What is told, or rated, is open as well as what is counted.
    for (value, wanted) in [
        ("no licence", &["no licence"][..]),
        ("None found.", &["None found."]),
        ("None.", &[]),
    ] {
        let told = Draft::valid(Role::Auditor).set("Why the project is still not done", value);
        let Event::Audited { verdicts, .. } = make_event(&expect_accepted(&told)) else {
            panic!("not audited")
        };
        assert_eq!(verdicts.positive, wanted.is_empty(), "{value}");
        assert_eq!(verdicts.findings, wanted);
    }

    let judge = Draft::valid(Role::StopJudge).set("Brief justification", "all holds");
    let Event::Judged { verdicts, .. } = make_event(&expect_accepted(&judge)) else {
        panic!("not judged")
    };
    assert!(verdicts.positive);
    assert_eq!(verdicts.commit.as_deref(), Some("0123456789abcdef"));
    assert_eq!(verdicts.findings, ["all holds"]);
    let no = judge
        .set(CAN_STOP, "no")
        .set(JUDGE_IDS, "c-1, c-2")
        .set("Blocker count", "2")
        .set("Brief justification", "\n- docs lie\n- tests are red");
    let Event::Judged { verdicts, .. } = make_event(&expect_accepted(&no)) else {
        panic!("not judged")
    };
    assert!(!verdicts.positive);
    assert_eq!(verdicts.open_contract_ids, ["c-1", "c-2"]);
    assert_eq!(verdicts.blocker_count.0, 2);
    assert_eq!(verdicts.findings, ["docs lie", "tests are red"]);
}

#[test]
fn implementers_land_a_commit_or_give_the_slice_back() {
    let draft = Draft::valid(Role::Implementer);
    let landed = draft
        .clone()
        .set("Plan adjustment required", "yes")
        .set("Residual risks discovered", "c-2 needs a slice");
    for draft in [&draft, &landed] {
        let Event::Implemented {
            slice_id, commit, ..
        } = make_event(&expect_accepted(draft))
        else {
            panic!("not implemented")
        };
        assert_eq!(
            (slice_id.as_str(), commit.as_str()),
            ("s-1", "0123456789abcdef")
        );
    }
    let back = draft.clone().set("Commit SHA", "none");
    expect_refused(&back, Code::FieldNotInSet);
    let back = back
        .set("Plan adjustment required", "yes")
        .set("Residual risks discovered", "needs a migration first");
    let Event::Returned { why, slice_id, .. } = make_event(&expect_accepted(&back)) else {
        panic!("not returned")
    };
    assert_eq!(
        (why.as_str(), slice_id.as_str()),
        ("needs a migration first", "s-1")
    );
}

#[test]
fn a_question_for_the_user_is_asked() {
    for role in [Role::Bootstrapper, Role::Regrounder, Role::Implementer] {
        let mut draft = Draft::valid(role).set("Input needed from user", "Which licence?");
        draft.block = None;
        let Event::Asked {
            role: asking,
            question,
            ..
        } = make_event(&expect_accepted(&draft))
        else {
            panic!("not asked")
        };
        assert_eq!((asking, question.as_str()), (role, "Which licence?"));
    }
    let none = Draft::valid(Role::Bootstrapper).set("Input needed from user", "none");
    assert_eq!(
        event(&expect_accepted(&none), Provenance::default()),
        Reported::Nothing
    );
    let both = Draft::valid(Role::Regrounder)
        .set("Input needed from user", "Which licence?")
        .block(r#"{"select": "s-1"}"#);
    expect_refused(&both, Code::BlockContradictsField);
    // A role without the field cannot ask: the line is text of the field above.
    let reviewer = Draft::valid(Role::Reviewer).set("Input needed from user", "May I?");
    expect_refused(&reviewer, Code::ReviewYesWithFollowUp);
}

#[test]
fn the_basis_of_a_claim_follows_from_its_anchor() {
    let receipt = format!("receipt:{}", "0".repeat(64));
    for (anchor, basis) in [
        ("test:a", Basis::Test),
        ("cmd:cargo test#exit", Basis::Output),
        (receipt.as_str(), Basis::Output),
        ("user@u-1", Basis::User),
        ("doc:README.md#Use", Basis::Doc),
        ("src/a.rs:3", Basis::Observed),
        ("gone:a", Basis::Observed),
        ("no anchor at all", Basis::Observed),
    ] {
        let claim = json!({"evidence": [{"criterion": "c", "anchor": anchor}]});
        let report = expect_accepted(&Draft::valid(Role::Regrounder).block(&claim.to_string()));
        assert_eq!(report.block().unwrap().evidence[0].basis, basis, "{anchor}");
    }
    let claim = r#"{"evidence": [{"criterion": "c", "anchor": "a.rs:1", "basis": "test"}]}"#;
    let report = expect_accepted(&Draft::valid(Role::Regrounder).block(claim));
    assert_eq!(report.block().unwrap().evidence[0].basis, Basis::Test);
}

#[test]
fn a_regrounder_s_block_and_fields_agree() {
    let draft = Draft::valid(Role::Regrounder)
        .set("Reconciliation decision", "accepted")
        .set("Reconciled slice ID", "`s-1`")
        .block(r#"{"reconcile": {"slice_id": "s-1", "decision": "accepted"}, "select": "s-2"}"#);
    let Event::Regrounded { block, .. } = make_event(&expect_accepted(&draft)) else {
        panic!("not regrounded")
    };
    assert_eq!(block.reconcile.unwrap().decision, Decision::Accepted);
    assert_eq!(block.select.as_deref(), Some("s-2"));
    expect_refused(
        &draft.clone().set("Reconciliation decision", "reopened"),
        Code::BlockContradictsField,
    );
    for (label, value) in [
        ("Reconciled slice ID", "s-2"),
        ("Reopened slices", "s-1"),
        ("Current selected slice", "s-3"),
        ("Canonical re-ground applied", "no"),
    ] {
        expect_refused(
            &draft.clone().set(label, value),
            Code::BlockContradictsField,
        );
    }
}

#[test]
fn a_report_of_the_largest_size_is_read_in_bounded_time() {
    let start = std::time::Instant::now();
    let mut slowest = (std::time::Duration::ZERO, String::new());
    let is_whole = std::env::var_os("COOK_LONG_TESTS").is_some();
    for (number, filler) in [
        "a: b\n",
        "`",
        "```json\n",
        "- Findings: x\n",
        "Findings: x\n",
        "Mission anchor: x\n",
        "\n",
        "[",
        "]",
        "{",
        "[[],",
        "{\"mission_anchor\":",
        "**",
        "{\"a\":",
        "[\"",
        ">",
        "> ",
        "> \n",
        "<",
        "<think>",
        "</think>",
        "</think>\n",
        "<think></think>",
        "<think ",
        "- ",
        "1. ",
        "yes ",
    ]
    .into_iter()
    .enumerate()
    {
        // Each with one role, another one each time.
        let due = |role: &usize| is_whole || number % Role::ALL.len() == *role;
        for role in (0..Role::ALL.len()).filter(due).map(|at| Role::ALL[at]) {
            let whole = Draft::valid(role).text();
            for before in ["MISSION ANCHOR: x\n", "MISSION ANCHOR: x", &whole] {
                let text = format!("{before}{}", filler.repeat(MAX_BYTES / filler.len()));
                let begin = std::time::Instant::now();
                let parsed = parse(role, &text.as_bytes()[..MAX_BYTES]);
                assert!(before == whole || parsed.report.is_none());
                let took = begin.elapsed();
                if took > slowest.0 {
                    slowest = (took, format!("{role}: {before:?} {filler:?}"));
                }
            }
        }
    }
    // Whatever else the machine does: a reader that looks back from each line takes hours, one
    // that begins anew at each bracket a minute.
    assert!(slowest.0.as_secs() < 20, "{slowest:?}");
    assert!(start.elapsed().as_secs() < 600, "{:?}", start.elapsed());
}

fn to_json(report: &Report) -> Value {
    let record = report.record();
    let mut object: serde_json::Map<String, Value> = record
        .fields
        .into_iter()
        .map(|(key, text)| (key, Value::String(text)))
        .collect();
    if let Some(rubric) = record.rubric {
        object.insert("rubric".to_owned(), serde_json::to_value(rubric).unwrap());
    }
    if let Some(block) = report.block() {
        object.insert("block".to_owned(), serde_json::to_value(block).unwrap());
    }
    Value::Object(object)
}

fn assert_same(left: &Report, right: &Report) {
    assert_eq!(left.record(), right.record());
    assert_eq!(left.block(), right.block());
}

/// The rules between fields, restated from the protocol without the library's help.
fn holds(role: Role, fields: &BTreeMap<String, String>, fails: bool) -> Result<(), &'static str> {
    let text = |key: &str| fields.get(key).map_or("", String::as_str);
    let word = |key: &str| -> String {
        text(key)
            .trim_start_matches(['*', '`', ' '])
            .chars()
            .take_while(|c| c.is_alphanumeric())
            .collect::<String>()
            .to_lowercase()
    };
    let number = |key: &str| word(key).parse::<u64>().ok();
    let pure = |key: &str| {
        let text = text(key).to_lowercase().replace(['`', '*'], "");
        let text = text.trim().trim_start_matches("- ").trim();
        let text = text.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '(');
        ["none", "(none", "n/a", "na", "not applicable"].contains(&text)
    };
    let ensure = |ok: bool, what: &'static str| if ok { Ok(()) } else { Err(what) };
    match role {
        Role::Reviewer if word("acceptable_as_is") == "yes" => {
            ensure(!fails, "yes with fail")?;
            let routed = text("smallest_follow_up_slice").contains("proceed to");
            ensure(
                pure("smallest_follow_up_slice") || routed,
                "yes with follow-up",
            )
        }
        Role::Reviewer => {
            ensure(word("acceptable_as_is") == "no", "neither yes nor no")?;
            ensure(!pure("smallest_follow_up_slice"), "no without follow-up")
        }
        Role::Auditor => {
            let clean = word("tracked_and_unignored_worktree_is_clean") == "yes";
            ensure(clean == pure("worktree_blockers"), "worktree")?;
            let counts = [number("blocker_count"), number("high_value_gap_count")];
            ensure(counts.iter().all(Option::is_some), "counts")?;
            let open = !pure("open_top_level_contract_ids") || counts.iter().any(|n| *n != Some(0));
            ensure(
                !open || !pure("next_mandatory_slice"),
                "open without next slice",
            )
        }
        Role::StopJudge if word("can_the_project_stop_now") == "yes" => {
            ensure(!fails, "yes with fail")?;
            ensure(
                pure("exact_remaining_open_top_level_contract_ids"),
                "open ids",
            )?;
            ensure(number("blocker_count") == Some(0), "blockers")?;
            ensure(number("high_value_gap_count") == Some(0), "gaps")?;
            ensure(
                word("docs_config_runbooks_match_shipped_behavior") == "yes",
                "docs",
            )?;
            ensure(
                word("tracked_and_unignored_worktree_is_clean") == "yes",
                "dirty",
            )
        }
        Role::Implementer => {
            let commit = word("commit_sha");
            let hex = commit.len() >= 7 && commit.chars().all(|c| c.is_ascii_hexdigit());
            let adjust = word("plan_adjustment_required") == "yes";
            let asks =
                fields.contains_key("input_needed_from_user") && !pure("input_needed_from_user");
            ensure(hex || adjust || asks, "no commit and no reason")
        }
        _ => Ok(()),
    }
}

fn check_rules(parsed: &Parsed) -> Result<(), TestCaseError> {
    prop_assert_eq!(parsed.report.is_some(), parsed.findings.is_empty());
    for text in parsed.read.fields.values() {
        prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
        let hidden = text.contains(['\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}']);
        prop_assert!(!hidden);
    }
    let Some(report) = &parsed.report else {
        return Ok(());
    };
    let record = report.record();
    for field in fields(record.role).iter().filter(|field| field.required) {
        prop_assert!(
            !report.field(field.key).is_empty(),
            "{} is empty",
            field.key
        );
        if field.kind == Kind::YesNo {
            prop_assert!(report.yes(field.key).is_some());
        }
        if field.kind == Kind::Count {
            prop_assert!(report.count(field.key).is_some());
        }
    }
    let rubric = record.rubric.unwrap_or_default();
    prop_assert_eq!(rubric.len(), if has_rubric(record.role) { 4 } else { 0 });
    let fails = rubric
        .values()
        .any(|entry| entry.verdict == RubricVerdict::Fail);
    prop_assert_eq!(holds(record.role, &record.fields, fails), Ok(()));
    let again = parse(record.role, render(report).as_bytes());
    prop_assert_eq!(&again.findings, &Vec::new(), "{}", render(report));
    let again = again.report.unwrap();
    prop_assert_eq!(again.record(), report.record());
    prop_assert_eq!(again.block(), report.block());
    prop_assert_eq!(render(&again), render(report));
    // Building the event must not panic either.
    let _ = event(report, Provenance::default());
    Ok(())
}

fn any_role() -> impl Strategy<Value = Role> {
    prop::sample::select(Role::ALL.to_vec())
}

/// Values that come near the rules: answers, near-answers, lists, labels, hostile text.
fn any_value() -> impl Strategy<Value = String> {
    let near = prop::sample::select(vec![
        "yes",
        "no",
        "Yes.",
        "No - because",
        "yesterday",
        "yes/no",
        "none",
        "(none)",
        "N/A",
        "na.",
        "not applicable",
        "none; tighten the docs",
        "none; proceed to completion-auditor",
        "0",
        "3",
        "-1",
        "0-2",
        "1.5",
        "c-1, c-2",
        "[\"a\"]",
        "accepted",
        "reopened",
        "0123456789abcdef",
        "abc",
        "",
        "-",
        "`none`",
        "**yes**",
        "\n- a\n- b",
        "\n    Acceptable as-is: yes",
        "\n- none",
        "\u{1b}[31myes\u{1b}[0m",
        "\u{202e}no",
        "```json\n{}\n```",
        "Rubric:",
        "x\nFindings: y",
    ]);
    prop_oneof![
        3 => near.prop_map(str::to_owned),
        1 => "[ -~\\n\\t`*:é\u{202e}\u{1b}]{0,40}",
        1 => any::<String>(),
    ]
}

fn any_rubric_line() -> impl Strategy<Value = String> {
    (
        prop::sample::select(DIMENSIONS.to_vec()),
        prop::sample::select(vec![
            "pass", "concern", "fail", "FAIL", "**fail**", "passable", "",
        ]),
        "[ -~]{0,20}",
    )
        .prop_map(|(dimension, verdict, why)| format!("- {}: {verdict} - {why}", dimension.label))
}

prop_compose! {
    fn any_draft()(
        role in any_role(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any_value()), 0..5),
        rates in prop::collection::vec((0_usize..4, any_rubric_line()), 0..2),
        drop in prop::option::weighted(0.1, any::<prop::sample::Index>()),
        question in prop::option::weighted(0.2, any_value()),
    ) -> Draft {
        let mut draft = Draft::valid(role);
        for (index, value) in changes {
            let place = index.index(draft.lines.len());
            draft.lines[place].1 = value;
        }
        for (place, line) in rates {
            if !draft.rubric.is_empty() {
                draft.rubric[place] = line;
            }
        }
        if let Some(index) = drop {
            let place = index.index(draft.lines.len());
            draft.lines.remove(place);
        }
        if let Some(question) = question {
            draft.lines.push(("Input needed from user".to_owned(), question));
        }
        draft
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_reports_pass_no_broken_rule(draft in any_draft()) {
        check_rules(&draft.parse())?;
    }

    #[test]
    fn values_in_the_json_form_pass_no_broken_rule_and_render_back(draft in any_draft()) {
        let mut object = serde_json::Map::new();
        for (label, value) in &draft.lines {
            let field = fields(draft.role).iter().find(|field| field.label == label);
            if let Some(field) = field {
                object.insert(field.key.to_owned(), json!(value));
            }
        }
        if !draft.rubric.is_empty() {
            let entries: serde_json::Map<String, Value> = DIMENSIONS
                .iter()
                .zip(&draft.rubric)
                .map(|(dimension, line)| (
                    dimension.key.to_owned(),
                    json!({"verdict": line.rsplit(':').next(), "why": line}),
                ))
                .collect();
            object.insert("rubric".to_owned(), Value::Object(entries));
        }
        if has_block(draft.role) {
            object.insert("block".to_owned(), json!({"select": "s-1"}));
        }
        check_rules(&parse(draft.role, Value::Object(object).to_string().as_bytes()))?;
    }

    #[test]
    fn cut_spliced_and_flipped_reports_never_panic(
        draft in any_draft(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_usize..40), 1..6),
    ) {
        let mut bytes = draft.text().into_bytes();
        for (index, byte, length) in cuts {
            if bytes.is_empty() {
                break;
            }
            let place = index.index(bytes.len());
            let end = (place + length).min(bytes.len());
            match byte % 3 {
                0 => bytes[place] = byte,
                1 => drop(bytes.drain(place..end)),
                _ => {
                    let piece = bytes[place..end].to_vec();
                    bytes.extend(piece);
                }
            }
        }
        check_rules(&parse(draft.role, &bytes))?;
    }

    #[test]
    fn any_bytes_never_panic(role in any_role(), bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        check_rules(&parse(role, &bytes))?;
    }
}
