//! Only the field that is there for it asks the user something, and whatever stands in it but none.
#![allow(clippy::unwrap_used)]

use cook_protocol::diagnostic::Code;
use cook_protocol::model::Role;
use cook_protocol::report::{Parsed, parse};

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
fn what_stands_in_the_field_is_asked_and_nothing_else() {
    let commit = "0123456789abcdef";
    for none in ["none", "None.", "n/a", "(none)"] {
        let parsed = parse(Role::Implementer, work(Some(none), commit).as_bytes());
        assert_eq!(find_question(&parsed), None, "{none}");
    }
    for question in ["Which licence?", "Shall I delete the old table?"] {
        let parsed = parse(Role::Implementer, work(Some(question), "none").as_bytes());
        assert_eq!(find_question(&parsed).as_deref(), Some(question));
        for text in [
            format!("{}\n{question}\n", work(None, commit)),
            format!("{question}\n\n{}", work(None, commit)),
        ] {
            let parsed = parse(Role::Implementer, text.as_bytes());
            assert_eq!(find_question(&parsed), None, "{text}");
        }
        // Who has neither a commit nor a question is told so.
        let text = format!("{}\n{question}\n", work(None, "none"));
        assert!(!parse(Role::Implementer, text.as_bytes()).is_valid());
    }
}

#[test]
fn a_yes_or_a_no_is_no_question() {
    for said in ["no", "No", "**yes**"] {
        let parsed = parse(
            Role::Implementer,
            work(Some(said), "0123456789abcdef").as_bytes(),
        );
        assert_eq!(parsed.findings[0].code, Code::FieldNotInSet, "{parsed:?}");
    }
}
