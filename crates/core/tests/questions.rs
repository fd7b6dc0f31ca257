//! Only the field that is there for it asks the user something: what models say in parting does not.
#![allow(clippy::unwrap_used)]

use cook_core::model::Role;
use cook_core::report::{Parsed, parse};

const SIGN_OFFS: [&str; 5] = [
    "Let me know if you want anything else?",
    "Shall I continue?",
    "Should I proceed with the next slice?",
    "Would you like me to go on?",
    "Let me know if you have any questions. Thanks!",
];

fn work(asks: Option<&str>, commit: &str) -> String {
    let asks = asks.map_or(String::new(), |asks| {
        format!("Input needed from user: {asks}\n")
    });
    format!(
        "MISSION ANCHOR: Ship the thing\n\
         Remaining contract IDs before slice: none\n\
         Slice ID: s-1\n\
         Slice goal: it\n\
         Contract IDs closed or advanced: none\n\
         Files changed: a.rs\n\
         Tests added or strengthened: none\n\
         Verification commands run: none\n\
         Verification results: green\n\
         Commit SHA: {commit}\n\
         What release gap this closed: none\n\
         Plan adjustment required: no\n\
         Residual risks discovered: none\n\
         Remaining contract IDs after slice: none\n\
         {asks}"
    )
}

fn find_question(parsed: &Parsed) -> Option<String> {
    let report = parsed.report.as_ref();
    let report = report.unwrap_or_else(|| panic!("{:?}", parsed.findings));
    report.question().map(str::to_owned)
}

#[test]
fn a_sign_off_in_a_field_or_behind_the_report_asks_nothing() {
    let commit = "0123456789abcdef";
    for sign_off in SIGN_OFFS {
        for text in [
            format!("{}\n{sign_off}\n", work(None, commit)),
            format!("{}{sign_off}\n", work(None, commit)),
            format!("{sign_off}\n\n{}", work(None, commit)),
            work(Some(sign_off), commit),
            work(Some(&format!("none. {sign_off}")), commit),
            work(Some(&format!("none\n{sign_off}")), commit),
            work(Some(&format!("No input needed.\n\n{sign_off}")), commit),
            work(None, commit).replace(
                "Residual risks discovered: none",
                &format!("Residual risks discovered: none\n{sign_off}"),
            ),
        ] {
            let parsed = parse(Role::Implementer, text.as_bytes());
            assert_eq!(find_question(&parsed), None, "{text}");
        }
        // Who has neither a commit nor a question is told so.
        let parsed = parse(Role::Implementer, work(Some(sign_off), "none").as_bytes());
        assert!(!parsed.is_valid(), "{sign_off}");
    }
    let parting = format!("{}Shall I continue?\n", work(None, commit));
    let parsed = parse(Role::Implementer, parting.as_bytes());
    assert_eq!(
        parsed
            .report
            .unwrap()
            .field("remaining_contract_ids_after_slice"),
        "none"
    );
}

#[test]
fn what_must_be_decided_is_asked_also_beside_a_sign_off() {
    for question in [
        "Which licence?",
        "Shall I delete the old table?",
        "Shall I continue with SQLite or with Postgres?",
        "Which licence? Let me know if you want anything else.",
    ] {
        let parsed = parse(Role::Implementer, work(Some(question), "none").as_bytes());
        assert_eq!(find_question(&parsed).as_deref(), Some(question));
    }
}

#[test]
fn a_yes_with_a_sign_off_below_its_last_field_is_a_yes() {
    let review = "MISSION ANCHOR: Ship the thing\n\
        Remaining contract IDs: none\n\
        Rubric:\n\
        - Contract coverage: pass - it holds\n\
        - Correctness risk: pass - it holds\n\
        - Verification evidence: pass - it holds\n\
        - Docs/state parity: pass - it holds\n\
        Findings: none\n\
        Acceptable as-is: yes\n\
        Smallest follow-up slice: none\n";
    for sign_off in SIGN_OFFS {
        let parsed = parse(Role::Reviewer, format!("{review}{sign_off}\n").as_bytes());
        assert!(parsed.is_valid(), "{sign_off}: {:?}", parsed.findings);
    }
}
