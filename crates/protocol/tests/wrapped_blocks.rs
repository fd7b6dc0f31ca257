//! A report's block is found however it is wrapped, or the report is refused with the way to mend
//! it: none is passed over. Nor is a verdict that a fence or a quote holds beside the report's.
#![allow(clippy::unwrap_used)]

use cook_protocol::diagnostic::Code;
use cook_protocol::model::Role;
use cook_protocol::report::{Parsed, parse};
use std::collections::BTreeSet;

const FIELDS: &str = "\
MISSION ANCHOR: Ship the thing
Remaining contract IDs: none
Canonical re-ground applied: yes
Acceptance criteria revalidated: yes
Tracked and unignored worktree is clean: yes
Reopened slices: none
Reconciliation decision: none
Reconciled slice ID: none
Current selected slice: s-2
Next role to invoke: implementer
Exact handoff payload: none
Canonical blockers or deviations: none
";
const BLOCK: &str = "{\n  \"select\": \"s-2\",\n  \"release_blocker_ids\": []\n}";

const WORK: &str = "\
MISSION ANCHOR: Ship the thing
Remaining contract IDs before slice: none
Slice ID: s-1
Slice goal: it
Contract IDs closed or advanced: none
Files changed: a.rs
Tests added or strengthened: none
Verification commands run: none
Verification results: green
Commit SHA: 0123456789abcdef
What release gap this closed: none
Plan adjustment required: no
Residual risks discovered: none
Remaining contract IDs after slice: none
Next role to invoke: reviewer
Exact handoff payload: none
";

const REVIEW: &str = "\
MISSION ANCHOR: Ship the thing
Remaining contract IDs: none
Rubric:
- Contract coverage: pass - it holds
- Correctness risk: pass - it holds
- Verification evidence: pass - it holds
- Docs/state parity: pass - it holds
Findings: none
Acceptable as-is: yes
Smallest follow-up slice: none
";

fn codes(parsed: &Parsed) -> BTreeSet<Code> {
    parsed.findings.iter().map(|finding| finding.code).collect()
}

fn each_line(text: &str, before: &str) -> String {
    text.lines()
        .map(|line| format!("{before}{line}\n"))
        .collect()
}

/// Ways to set a block apart.
fn wrap(block: &str) -> Vec<String> {
    let mut wrapped = vec![
        format!("{block}\n"),
        format!("**Block:**\n{block}\n"),
        format!("### JSON block\n\n{block}\n"),
        format!("Here is the plan's block:\n\n{block}\n"),
        format!("<details>\n\n```json\n{block}\n```\n\n</details>\n"),
        each_line(block, "    "),
        each_line(block, "> "),
        each_line(block, "> > "),
        each_line(&format!("```json\n{block}\n```"), "    "),
        each_line(&format!("```\n{block}\n```"), "> "),
        format!(
            "- the block:\n{}",
            each_line(&format!("```json\n{block}\n```"), "  ")
        ),
        format!("[{block}]\n"),
        format!("{{\"block\": {block}}}\n"),
        format!("```json\n{block}\n```\n```text\ndone\n```\n"),
    ];
    for label in [
        "",
        "json",
        "JSON",
        "Json",
        "json5",
        "jsonc",
        "jsonl",
        "json title=\"plan\"",
        "{.json}",
        "js",
        "javascript",
        "text",
        "plan",
        "application/json",
        "yaml",
    ] {
        for (open, close) in [
            ("```", "```"),
            ("~~~", "~~~"),
            ("````", "````"),
            ("~~~~", "~~~~"),
        ] {
            wrapped.push(format!("{open}{label}\n{block}\n{close}\n"));
            wrapped.push(format!("{open} {label}\n{block}\n{close}\n"));
            wrapped.push(each_line(&format!("{open}{label}\n{block}\n{close}"), "  "));
            wrapped.push(each_line(&format!("{open}{label}\n{block}\n{close}"), "> "));
        }
    }
    wrapped
}

#[test]
fn a_block_beside_a_question_is_not_passed_over() {
    let asks = format!("{FIELDS}Input needed from user: Which licence?\n")
        .replace("applied: yes", "applied: no");
    assert!(parse(Role::Regrounder, asks.as_bytes()).is_valid());
    for block in wrap(BLOCK) {
        let text = format!("{asks}\n{block}");
        let parsed = parse(Role::Regrounder, text.as_bytes());
        assert!(!parsed.is_valid(), "{text}");
    }
}

#[test]
fn an_implementers_proof_is_read_or_refused() {
    let offered = r#"{"evidence": [{"criterion": "it holds", "anchor": "test:holds"}]}"#;
    let (mut count, mut wrong) = (0, Vec::new());
    let (before, after) = WORK.split_at(WORK.find("Commit SHA").unwrap());
    for block in wrap(offered) {
        for text in [
            format!("{WORK}\n{block}"),
            format!("{block}\n{WORK}"),
            format!("{before}{block}{after}"),
            format!("``````\n{WORK}``````\n{block}"),
        ] {
            count += 1;
            let parsed = parse(Role::Implementer, text.as_bytes());
            let is_right = parsed
                .report
                .is_none_or(|report| report.offers().len() == 1);
            if !is_right {
                wrong.push(text);
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n=====\n")
    );
    for broken in [
        r#"{"evidence": [{"criterion": "it holds", "anchor": "test:holds"},]}"#,
        r#"{"evidence": [{"criterion": "it holds"}]}"#,
        r#"{"evidence": ["it holds"]}"#,
    ] {
        let text = format!("{WORK}\n```json\n{broken}\n```\n");
        let parsed = parse(Role::Implementer, text.as_bytes());
        assert_eq!(
            codes(&parsed),
            BTreeSet::from([Code::ReportBlockInvalid]),
            "{text}"
        );
    }
    // Other data is none of it.
    for other in ["{\"name\": \"x\"}", "{\"evidence\": \"none\"}", "[1]", "{"] {
        let text = format!("{WORK}\n```json\n{other}\n```\n");
        assert!(
            parse(Role::Implementer, text.as_bytes()).is_valid(),
            "{text}"
        );
    }
}

#[test]
fn a_second_verdict_in_a_fence_or_a_quote_refuses_the_report() {
    let other = REVIEW
        .replace("as-is: yes", "as-is: no")
        .replace("slice: none", "slice: mend it");
    for said in [
        "Acceptable as-is: no - it overflows\n".to_owned(),
        "**Acceptable as-is (yes/no):** no\n".to_owned(),
        "- Correctness risk: fail - it overflows\n".to_owned(),
        "{\"acceptable_as_is\": false}\n".to_owned(),
        other,
    ] {
        for wrapped in [
            format!("```\n{said}```\n"),
            format!("~~~text\n{said}~~~\n"),
            format!("```json\n{said}```\n"),
            each_line(&said, "> "),
            each_line(&format!("```\n{said}```"), "> "),
            format!("<!--\n{said}-->\n"),
        ] {
            for text in [
                format!("{REVIEW}\nOn second thought:\n\n{wrapped}"),
                format!("{wrapped}\n{REVIEW}"),
                REVIEW.replace(
                    "Findings: none\n",
                    &format!("Findings:\n- one\n\n{wrapped}"),
                ),
            ] {
                let parsed = parse(Role::Reviewer, text.as_bytes());
                assert!(!parsed.is_valid(), "{text}");
                let codes = codes(&parsed);
                assert!(
                    [
                        Code::FieldDuplicated,
                        Code::RubricDuplicated,
                        Code::ReportAmbiguous
                    ]
                    .iter()
                    .any(|code| codes.contains(code)),
                    "{codes:?}\n{text}"
                );
            }
        }
        if said.starts_with('{') {
            continue;
        }
        // Indented by four blanks it is a quotation of the field.
        let quoted = REVIEW.replace(
            "Findings: none\n",
            &format!(
                "Findings:\n- the last review said\n\n{}",
                each_line(&said, "      ")
            ),
        );
        assert!(
            parse(Role::Reviewer, quoted.as_bytes()).is_valid(),
            "{quoted}"
        );
    }
    let same =
        format!("{REVIEW}\n```\nAcceptable as-is: yes\n```\n\n> **Acceptable as-is:** Yes\n");
    assert!(parse(Role::Reviewer, same.as_bytes()).is_valid());
}
