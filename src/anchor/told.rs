//! What a gate's run says of its tests, and in which lines.

use cook_protocol::diagnostic::without_escapes;
use cook_protocol::trials::TestResult;
use cook_protocol::trials::outcomes::{Material, Outcomes};

/// What a text says of tests.
fn read(text: &str) -> Outcomes {
    Outcomes::read(&Material {
        stdout: text,
        ..Material::default()
    })
}

/// What one line says of a test.
pub(crate) fn read_line(line: &str) -> Option<(String, TestResult)> {
    let tests = read(&without_escapes(line)).tests;
    let mut tests = tests.into_iter();
    tests.next().map(|(name, test)| (name, test.result))
}

/// Lines that name the tests which failed, the first few, for a reader who sees only the end of an output.
pub(crate) fn describe_failed(output: &str) -> Vec<String> {
    const NAMED: usize = 5;
    let outcomes = read(output);
    let failed = outcomes.tests.iter();
    let names: Vec<&String> = failed
        .filter(|(_, test)| test.result == TestResult::Failed)
        .map(|(name, _)| name)
        .collect();
    let named = names.iter().take(NAMED);
    let mut lines: Vec<String> = named.map(|name| format!("failed: {name}")).collect();
    if names.len() > NAMED {
        lines.push(format!("failed: {} more", names.len() - NAMED));
    }
    lines
}
