//! Finding an artifact in what a model wrote: alone, in a fence, after its
//! reasoning, in the middle of prose. Nothing is repaired by inventing content.

use super::artifact::{Artifact, outcomes};
use super::field::FieldError;
use crate::diagnostic::{Code, Failure, FailureKind, Finding};
use crate::model::BriefOutcome;
use crate::schema::{self, find_json, without_thoughts};
use serde::de::IgnoredAny;
use serde_json::Value;

/// Bytes an artifact may have, with everything around it.
pub const MAX_BYTES: usize = 1 << 20;

/// A valid artifact and what was passed over on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The artifact.
    pub artifact: Artifact,
    /// `artifact_key_unknown` for keys that mean nothing here.
    pub warnings: Vec<Finding>,
}

/// Reads an artifact.
///
/// # Errors
/// `artifact_unreadable` (too large, no UTF-8, no object that could be one, an
/// object that ends early), `artifact_ambiguous` (two different valid ones), or
/// `artifact_invalid` with the field's path and the rule it breaks.
pub fn read(bytes: &[u8]) -> Result<Reading, Failure> {
    let text = text(bytes)?;
    let spoken = match without_thoughts(text) {
        // A tag that none ends is prose.
        thoughts if thoughts.unended.is_some() => text.to_owned(),
        thoughts => thoughts.text,
    };
    let mut found = Vec::new();
    collect_artifacts(&spoken, MAX_DEPTH, &mut found);
    // An object that stands alone says which key it lacks.
    let whole = spoken.trim();
    if found.is_empty() && whole.starts_with('{') && find_json(whole) == [whole] {
        found.push(whole);
    }
    let mut valid: Vec<Reading> = Vec::new();
    let mut breach = None;
    for slice in found {
        let mut ignored = Vec::new();
        let value =
            schema::value(slice.as_bytes()).map_err(|error| FieldError::new("", error.to_string()));
        match value.and_then(|value| Artifact::from_value(&value, &mut ignored)) {
            Ok(artifact) if valid.iter().any(|known| known.artifact == artifact) => {}
            Ok(artifact) => valid.push(Reading {
                artifact,
                warnings: ignored.into_iter().map(note_passed_over).collect(),
            }),
            // The last word of a model is the one it means.
            Err(found) => breach = Some(found),
        }
    }
    match (valid.len(), breach) {
        (1, _) => Ok(valid.remove(0)),
        (0, Some(breach)) => Err(invalid(&breach)),
        (0, None) => Err(unreadable(
            match serde_json::from_str::<IgnoredAny>(whole) {
                Err(why) if spoken.contains("\"version\"") => {
                    format!("the JSON cannot be read: {why}")
                }
                _ => "none of its JSON objects is an artifact".to_owned(),
            },
        )),
        (number, _) => Err(Failure::new(
            FailureKind::Check,
            Code::ArtifactAmbiguous,
            format!("it holds {number} different valid artifacts"),
        )),
    }
}

/// Reads a reconciliation by itself: a list of causes, or an object that holds one
/// under `reconciliation`.
///
/// # Errors
/// As [`read`].
pub fn read_reconciliation(bytes: &[u8]) -> Result<Vec<BriefOutcome>, Failure> {
    let text = text(bytes)?;
    let value = schema::value(text.trim().as_bytes())
        .map_err(|error| unreadable(format!("the JSON cannot be read: {error}")))?;
    let list = match &value {
        Value::Object(object) => object.get("reconciliation").unwrap_or(&Value::Null),
        other => other,
    };
    outcomes(list, "reconciliation", &mut Vec::new()).map_err(|breach| invalid(&breach))
}

fn text(bytes: &[u8]) -> Result<&str, Failure> {
    if bytes.len() > MAX_BYTES {
        let what = format!(
            "it has {} bytes; cook reads {MAX_BYTES} of an artifact",
            bytes.len()
        );
        return Err(Failure::new(
            FailureKind::Check,
            Code::ArtifactUnreadable,
            what,
        ));
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| unreadable(format!("it is not UTF-8 at byte {}", error.valid_up_to())))?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn unreadable(what: String) -> Failure {
    Failure::new(FailureKind::Check, Code::ArtifactUnreadable, what)
}

/// The failure that a breach amounts to.
fn invalid(breach: &FieldError) -> Failure {
    let message = match breach.path.is_empty() {
        true => format!("the artifact {}", breach.rule),
        false => breach.to_string(),
    };
    let finding = Finding::new(Code::ArtifactInvalid, message.clone()).at(breach.path.clone());
    let mut failure = Failure::new(FailureKind::Check, Code::ArtifactInvalid, message);
    failure.findings.push(finding);
    failure
}

impl From<FieldError> for Failure {
    fn from(breach: FieldError) -> Self {
        invalid(&breach)
    }
}

fn note_passed_over(path: String) -> Finding {
    Finding::new(
        Code::ArtifactKeyUnknown,
        format!("`{path}` means nothing here and was passed over"),
    )
    .at(path)
}

/// How deep lists and objects around an artifact are looked into.
const MAX_DEPTH: usize = 4;

/// Adds the objects of a text that could be artifacts, outermost first.
fn collect_artifacts<'a>(text: &'a str, depth: usize, found: &mut Vec<&'a str>) {
    for value in find_json(text) {
        if is_artifact_like(value) {
            found.push(value);
        } else if depth > 0 {
            collect_artifacts(&value[1..], depth - 1, found);
        }
    }
}

/// It has the key of the slots, or of the version.
fn is_artifact_like(object: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Keys {
        #[serde(default)]
        version: Option<IgnoredAny>,
        #[serde(default)]
        brief: Option<IgnoredAny>,
    }
    let keys = serde_json::from_str::<Keys>(object);
    // A key twice: it says so when it is read.
    let has_key = keys.map_or(true, |keys| keys.version.is_some() || keys.brief.is_some());
    object.starts_with('{') && has_key
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn good(task: &str) -> Value {
        json!({
            "version": super::super::VERSION,
            "brief": {"task": task, "done_when": "d", "forbid": [], "established": [],
                "learned": [], "open": [], "next": []},
            "agentGuideUpdate": {"content": null, "reason": "none"},
        })
    }

    fn task(text: &str) -> Result<String, String> {
        read(text.as_bytes())
            .map(|reading| reading.artifact.brief.task)
            .map_err(|failure| format!("{}: {}", failure.code, failure.message))
    }

    #[test]
    fn it_is_found_wherever_it_stands() {
        let json = good("t").to_string();
        let pretty = serde_json::to_string_pretty(&good("t")).unwrap();
        let other = good("draft").to_string();
        for text in [
            json.clone(),
            format!("\u{feff}\n {pretty}\n"),
            format!("```json\n{pretty}\n```"),
            format!("~~~\n{json}\n~~~ and more"),
            format!("Don't say \"no: it's {{here}}\n```\n{pretty}\n```\nthe 5\" disk's"),
            format!("<think>{other} or {{\"version\": 1</think>\n{json}"),
            format!("I think {other}\n</think>\n{json}"),
            format!("<think>never closed {{\n{json}"),
            format!("<thinking>a<thinking>{other}</thinking>b {json}"),
            format!("{json}\nagain:\n{pretty}"),
            format!("{{\"result\": {json}}}"),
            format!("[{json}]"),
        ] {
            assert_eq!(task(&text).as_deref(), Ok("t"), "{text}");
        }
        let tagged = good("a <think> b </think> c");
        let text = format!("prose {{x}} {tagged}");
        assert_eq!(task(&text).as_deref(), Ok("a <think> b </think> c"));
    }

    #[test]
    fn what_is_not_there_is_not_invented() {
        let json = good("t").to_string();
        for (text, said) in [
            (String::new(), "artifact_unreadable"),
            ("{}".to_owned(), "artifact_invalid: `version`"),
            ("no JSON".to_owned(), "artifact_unreadable"),
            (
                json[..json.len() - 2].to_owned(),
                "artifact_unreadable: the JSON cannot be read: EOF",
            ),
            (format!("<think>{json}</think> done"), "artifact_unreadable"),
            (format!("{json} {}", good("u")), "artifact_ambiguous"),
            (
                json.replace("\"brief\"", "\"version\":1,\"brief\""),
                "artifact_invalid: the artifact",
            ),
            (" ".repeat(MAX_BYTES + 1), "artifact_unreadable"),
        ] {
            let found = task(&text).unwrap_err();
            assert!(
                found.starts_with(said),
                "{found} for {}",
                &text[..text.len().min(80)]
            );
        }
        assert!(read(b"\xff{}").is_err());
    }

    #[test]
    fn every_breach_is_at_its_field() {
        let established =
            json!([{"claim": "c", "evidence": "a.rs:1", "basis": "observed", "reopen": "r"}]);
        let cases: Vec<(&str, Value, &str)> = vec![
            ("/version", json!("v3"), "version"),
            ("/version", json!(4), "version"),
            ("/brief", Value::Null, "brief"),
            ("/brief/task", json!(" \n- \n"), "brief.task"),
            ("/brief/task", json!(["t"]), "brief.task"),
            ("/brief/forbid", Value::Null, "brief.forbid"),
            ("/brief/forbid", json!({}), "brief.forbid"),
            ("/brief/forbid", json!(["x"]), "brief.forbid[0]"),
            (
                "/brief/forbid",
                json!([{"rule": "r"}]),
                "brief.forbid[0].source",
            ),
            (
                "/brief/learned",
                json!([{"lesson": "l", "source": 5}]),
                "brief.learned[0].source",
            ),
            (
                "/brief/open",
                json!(vec![json!({"question": "q", "verifies": "v"}); 501]),
                "brief.open",
            ),
            (
                "/brief/next",
                json!([{"action": "\u{200b}", "outcome": "o"}]),
                "brief.next[0].action",
            ),
            (
                "/brief/established/0/basis",
                json!("guess"),
                "brief.established[0].basis",
            ),
            (
                "/brief/established/0/basis",
                json!("user"),
                "brief.established[0].basis",
            ),
            (
                "/brief/established/0/evidence",
                json!("a.rs"),
                "brief.established[0].evidence",
            ),
            (
                "/brief/established/0/evidence",
                json!("../a.rs:1"),
                "brief.established[0].evidence",
            ),
            (
                "/brief/established/0/reopen",
                Value::Null,
                "brief.established[0].reopen",
            ),
            ("/agentGuideUpdate", Value::Null, "agentGuideUpdate"),
            (
                "/agentGuideUpdate/content",
                json!(7),
                "agentGuideUpdate.content",
            ),
        ];
        for (pointer, value, path) in cases {
            let mut artifact = good("t");
            artifact["brief"]["established"] = established.clone();
            *artifact.pointer_mut(pointer).unwrap() = value;
            let failure = read(artifact.to_string().as_bytes()).unwrap_err();
            assert_eq!(failure.path(), Some(path), "{}", failure.message);
            assert_eq!(failure.code, Code::ArtifactInvalid);
        }
        for slot in [
            "task",
            "done_when",
            "forbid",
            "established",
            "learned",
            "open",
            "next",
        ] {
            let mut artifact = good("t");
            artifact["brief"].as_object_mut().unwrap().remove(slot);
            let failure = read(artifact.to_string().as_bytes()).unwrap_err();
            assert_eq!(failure.path(), Some(&*format!("brief.{slot}")));
        }
    }

    #[test]
    fn unknown_keys_are_passed_over_and_said() {
        let mut artifact = good("t");
        artifact["extra"] = json!(1);
        artifact["brief"]["more"] = json!(1);
        let reading = read(artifact.to_string().as_bytes()).unwrap();
        let places: Vec<_> = reading
            .warnings
            .iter()
            .flat_map(|w| w.place.clone())
            .collect();
        assert_eq!(places, ["extra", "brief.more"]);
    }

    #[test]
    fn hostile_text_ends_soon() {
        let started = std::time::Instant::now();
        for text in [
            "{".repeat(MAX_BYTES),
            "{\"a\":".repeat(MAX_BYTES / 5),
            "{\"version\":[".repeat(MAX_BYTES / 12),
            "<think>".repeat(MAX_BYTES / 7),
            "<think></think>".repeat(MAX_BYTES / 15),
            format!("{{\"a\":[{}", "{\"b\":1},".repeat(100_000)),
        ] {
            let text = &text[..text.len().min(MAX_BYTES)];
            assert!(read(text.as_bytes()).is_err());
        }
        assert!(started.elapsed().as_secs() < 120);
    }
}
