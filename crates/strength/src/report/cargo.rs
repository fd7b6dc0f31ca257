//! `mutants.out/outcomes.json` of `cargo mutants`.

use super::tried::{MOST_TRIED, Outcome, Tried, Unread, number, parse, relative, text};
use serde_json::Value;

const TOOL: &str = "cargo-mutants";

/// Reads `outcomes.json`. A baseline that failed is an error: then nothing that follows says anything.
///
/// # Errors
/// It is too large, no JSON, or none of this tool.
pub fn read_cargo_mutants(bytes: &[u8]) -> Result<Vec<Tried>, Unread> {
    let report = parse(bytes)?;
    let shape = |what: &str| Unread::Shape {
        tool: TOOL,
        what: what.to_owned(),
    };
    let entries = report
        .get("outcomes")
        .and_then(Value::as_array)
        .ok_or_else(|| shape("no list `outcomes`"))?;
    let mut found = Vec::new();
    for entry in entries.iter().take(MOST_TRIED) {
        let scenario = entry
            .get("scenario")
            .ok_or_else(|| shape("an outcome without `scenario`"))?;
        let summary =
            text(entry, "summary").ok_or_else(|| shape("an outcome without `summary`"))?;
        if scenario == "Baseline" {
            if summary != "Success" {
                return Err(shape(&format!(
                    "the tests failed without any defect: `{summary}`"
                )));
            }
            continue;
        }
        let mutant = scenario
            .get("Mutant")
            .ok_or_else(|| shape("an unknown `scenario`"))?;
        let outcome = match summary {
            "CaughtMutant" | "Timeout" => Outcome::Killed,
            "MissedMutant" => Outcome::Survived,
            "Unviable" => Outcome::Unbuildable,
            // Looked at and not tried.
            "Success" | "Failure" => continue,
            other => return Err(shape(&format!("unknown summary `{other}`"))),
        };
        found.push(
            read_tried(entry, mutant, outcome)
                .ok_or_else(|| shape("a mutant without `file` and place"))?,
        );
    }
    Ok(found)
}

fn read_tried(entry: &Value, mutant: &Value, outcome: Outcome) -> Option<Tried> {
    let path = relative(text(mutant, "file")?)?;
    // Before version 24 the line stood by itself.
    let line = number(mutant, &["span", "start", "line"]).or_else(|| number(mutant, &["line"]))?;
    let column = number(mutant, &["span", "start", "column"]).unwrap_or(1);
    let replacement = text(mutant, "replacement").unwrap_or_default();
    let function = mutant
        .get("function")
        .and_then(|function| text(function, "function_name").or(function.as_str()));
    let what = match (text(mutant, "name"), function) {
        (Some(name), _) => name.to_owned(),
        (None, Some(function)) => format!("replace {function} with {replacement}"),
        (None, None) => format!("replace with {replacement}"),
    };
    Some(Tried {
        id: format!("{path}:{line}:{column}:{replacement}"),
        path,
        line,
        what,
        outcome,
        diff: text(mutant, "diff").map(str::to_owned),
        diff_file: text(entry, "diff_path").and_then(relative),
    })
}
