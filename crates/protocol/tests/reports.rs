//! The report grammar: what is tolerated, what is refused and by which code, and
//! that no text gets a positive verdict past a rule that is stated here anew.
#![allow(clippy::unwrap_used)]

use cook_protocol::diagnostic::Code;
use cook_protocol::model::{Reground, Role, RubricVerdict};
use cook_protocol::report::{
    DIMENSIONS, Kind, Parsed, Provenance, Report, event, fields, format, has_block, has_rubric,
    parse, render,
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

const FOLLOW_UP: &str = "Smallest follow-up slice";
const JUDGE_IDS: &str = "Exact remaining open top-level contract IDs";
const DOCS_MATCH: &str = "Docs/config/runbooks match shipped behavior";
const CLEAN: &str = "Tracked and unignored worktree is clean";
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
