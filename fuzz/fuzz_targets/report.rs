//! Whatever an agent hands in: no panic, and a report that is accepted is one
//! whose canonical text is accepted as the same report.
#![no_main]

use cook_protocol::model::Role;
use cook_protocol::report::{Provenance, describe_check, event, parse, render, repair_prompt};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((first, bytes)) = input.split_first() else {
        return;
    };
    let role = Role::ALL[usize::from(*first) % Role::ALL.len()];
    let parsed = parse(role, bytes);
    assert_eq!(parsed.report.is_some(), parsed.findings.is_empty());
    let _ = describe_check(role, &parsed);
    let _ = repair_prompt(role, &parsed.findings, &String::from_utf8_lossy(bytes));
    if let Some(report) = parsed.report {
        let again = parse(role, render(&report).as_bytes());
        let again = again.report.expect("the canonical text is a report");
        assert_eq!(again.record(), report.record());
        assert_eq!(again.block(), report.block());
        let _ = event(&report, Provenance::default());
    }
});
