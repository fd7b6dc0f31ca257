//! SARIF 2.1.0: a rule for each code, a result for each finding.

use crate::view::results::{Found, Results};
use cook_protocol::diagnostic::Code;
use cook_protocol::digest::sha256;
use serde_json::{Value, json};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The document.
pub fn sarif(results: &Results) -> Value {
    let mut codes: Vec<Code> = results.found.iter().map(|found| found.code).collect();
    codes.sort();
    codes.dedup();
    let found = results.found.iter();
    let proofs = results.proofs.iter().map(|(proof, _)| proof);
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "cook",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": codes.iter().map(|code| rule(*code)).collect::<Vec<_>>(),
            }},
            // One category for each question, so that uploads of both stand beside each other.
            "automationDetails": {"id": format!("{}/", results.command.replace(' ', "-"))},
            "invocations": [{"executionSuccessful": !results.is_failure}],
            "columnKind": "unicodeCodePoints",
            "results": found.map(|found| result(found, &codes)).collect::<Vec<_>>(),
            "properties": {
                "passed": results.passed,
                "verdict": results.verdict,
                "head": results.head,
                "checked": results.checked,
                "criteria": proofs.collect::<Vec<_>>(),
            },
        }],
    })
}

fn rule(code: Code) -> Value {
    let mut rule = json!({
        "id": code.id(),
        "shortDescription": {"text": code.meaning()},
        "fullDescription": {"text": code.meaning()},
    });
    if !code.hint().is_empty() {
        rule["help"] = json!({"text": code.hint()});
    }
    rule
}

fn result(found: &Found, codes: &[Code]) -> Value {
    let path = found.file.as_ref().map(|file| file.path.as_str());
    let key = format!("{}\n{}\n{}", found.code, path.unwrap_or(""), found.message);
    json!({
        "ruleId": found.code.id(),
        "ruleIndex": codes.iter().position(|code| *code == found.code),
        "level": found.weight.level(),
        "message": {"text": found.with_next(&found.message)},
        "locations": [location(found)],
        "partialFingerprints": {"cook/v1": sha256(key)},
    })
}

/// Code scanning takes no result without a file: what is about the commit as a whole says so there.
fn location(found: &Found) -> Value {
    let Some(file) = &found.file else {
        return json!({"physicalLocation": {"artifactLocation": {
            "uri": "the-commit-as-a-whole",
            "description": {"text": "no file of it"},
        }}});
    };
    let mut place = json!({"artifactLocation": {
        "uri": uri(&file.path),
        "uriBaseId": "%SRCROOT%",
    }});
    if let Some(line) = file.line {
        place["region"] = json!({"startLine": line});
    }
    json!({"physicalLocation": place})
}

/// A path below the root as a relative reference.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
