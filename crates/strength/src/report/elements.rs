//! The report of mutation-testing-elements, which Stryker and others write.

use super::tried::{MOST_TRIED, Outcome, Tried, Unread, number, parse, relative, text};
use crate::lines;
use serde_json::Value;

const TOOL: &str = "mutation-testing-elements";

/// Reads a report of that schema, version 1 or 2.
///
/// # Errors
/// It is too large, no JSON, or of another schema.
pub fn read_elements(bytes: &[u8]) -> Result<Vec<Tried>, Unread> {
    let report = parse(bytes)?;
    let shape = |what: String| Unread::Shape { tool: TOOL, what };
    let version = report.get("schemaVersion");
    let version = version.and_then(|version| {
        version
            .as_str()
            .map(str::to_owned)
            .or_else(|| Some(version.as_u64()?.to_string()))
    });
    let version = version.ok_or_else(|| shape("no `schemaVersion`".to_owned()))?;
    if !matches!(version.split('.').next(), Some("1" | "2")) {
        return Err(shape(format!("unknown `schemaVersion` `{version}`")));
    }
    let files = report
        .get("files")
        .and_then(Value::as_object)
        .ok_or_else(|| shape("no `files`".to_owned()))?;
    let mut found = Vec::new();
    for (path, file) in files {
        let path = relative(path)
            .ok_or_else(|| shape(format!("the path `{path}` leads out of the repository")))?;
        let source = file.get("source").and_then(Value::as_str);
        let mutants = file.get("mutants").and_then(Value::as_array);
        let mutants = mutants.ok_or_else(|| shape(format!("`{path}` without `mutants`")))?;
        for mutant in mutants {
            if found.len() == MOST_TRIED {
                return Ok(found);
            }
            let status = text(mutant, "status")
                .ok_or_else(|| shape("a mutant without `status`".to_owned()))?;
            let outcome = match status {
                "Killed" | "Timeout" => Outcome::Killed,
                "Survived" | "NoCoverage" => Outcome::Survived,
                "CompileError" | "RuntimeError" => Outcome::Unbuildable,
                "Ignored" | "Pending" => continue,
                other => return Err(shape(format!("unknown status `{other}`"))),
            };
            let one = read_tried(&path, source, mutant, outcome);
            found.push(one.ok_or_else(|| shape("a mutant without `id` and place".to_owned()))?);
        }
    }
    Ok(found)
}

fn read_tried(path: &str, source: Option<&str>, mutant: &Value, outcome: Outcome) -> Option<Tried> {
    let id = text(mutant, "id")?;
    let at = |side: &str, what: &str| number(mutant, &["location", side, what]);
    let start = (at("start", "line")?, at("start", "column")?);
    let replacement = text(mutant, "replacement");
    let name = text(mutant, "mutatorName").unwrap_or("mutant");
    let end = at("end", "line").zip(at("end", "column"));
    // Only a survivor is shown to anybody.
    let shown = source
        .filter(|_| outcome == Outcome::Survived)
        .zip(replacement)
        .zip(end);
    let diff = shown.and_then(|((source, replacement), end)| {
        let (from, to) = (offset(source, start)?, offset(source, end)?);
        let (before, after) = (source.get(..from)?, source.get(to..)?);
        let mutated = (from <= to).then(|| format!("{before}{replacement}{after}"))?;
        Some(lines::make_unified(path, Some(source), Some(&mutated)))
    });
    Some(Tried {
        id: format!("{path}:{id}"),
        path: path.to_owned(),
        line: start.0,
        what: match replacement {
            Some(replacement) => format!("{name}: {replacement}"),
            None => name.to_owned(),
        },
        outcome,
        diff,
        diff_file: None,
    })
}

/// The byte at a line and a column, both from 1, the column in units of UTF-16 as JavaScript counts.
fn offset(source: &str, (line, column): (usize, usize)) -> Option<usize> {
    let mut at = 0;
    for _ in 1..line {
        at += source.get(at..)?.find('\n')? + 1;
    }
    let rest = source.get(at..)?;
    let mut units = column.checked_sub(1)?;
    for c in rest.chars() {
        if units == 0 {
            return Some(at);
        }
        units = units.checked_sub(c.len_utf16())?;
        at += c.len_utf8();
    }
    (units == 0).then_some(at)
}
