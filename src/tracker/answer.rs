//! Reading what a tracker printed: the shapes of br 0.1.12 (a flat array), br
//! from 0.1.30 on (`{"issues":[…]}`) and bd (`{"schema_version":…,"data":…}`).
//!
//! Invariants: nothing is guessed (an answer of another shape is an error that
//! says so), sizes and counts are capped, no text leaves here uncleaned.

use super::issue::{Brief, Comment, Issue, IssueStatus, Link, is_id, line, text};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Rows that are read of one answer.
const MAX_ROWS: usize = 20_000;
/// Members under which a list is wrapped.
const WRAPPERS: [&str; 6] = [
    "data",
    "issues",
    "comments",
    "dependencies",
    "dependents",
    "results",
];

/// What a tracker complains of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Complaint {
    /// `error.code`; empty where there is none.
    pub code: String,
    /// In its own words.
    pub message: String,
}

/// The error in a stream of log lines: the object that starts at the first line
/// that is exactly `{`. What follows it is passed over.
pub(super) fn complaint(stderr: &str) -> Option<Complaint> {
    let mut at = 0;
    let start = stderr.split_inclusive('\n').find_map(|line| {
        let here = at;
        at += line.len();
        (line.trim_end_matches(['\r', '\n']) == "{").then_some(here)
    })?;
    let mut values = serde_json::Deserializer::from_str(&stderr[start..]).into_iter::<Value>();
    find_complaint(&values.next()?.ok()?)
}

/// The error that a JSON answer holds instead of data.
pub(super) fn find_complaint(value: &Value) -> Option<Complaint> {
    let whole = value.as_object()?;
    let of = |object: &Map<String, Value>, message: &str| Complaint {
        code: find_text(object, &["code"]).unwrap_or_default(),
        message: line(message),
    };
    match whole.get("error")? {
        Value::Object(error) => Some(of(
            error,
            &find_text(error, &["message", "error"]).unwrap_or_default(),
        )),
        Value::String(message) => Some(of(whole, message)),
        _ => None,
    }
}

/// The rows of an answer; a single object counts as one row, `null` as none.
pub(super) fn rows(stdout: &[u8]) -> Result<Vec<Map<String, Value>>, String> {
    let stdout = stdout.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stdout);
    if stdout.iter().all(u8::is_ascii_whitespace) {
        return Err("it is empty".to_owned());
    }
    let value: Value = serde_json::from_slice(stdout).map_err(|error| {
        if error.is_eof() {
            "it breaks off".to_owned()
        } else {
            format!("it is not valid JSON ({error})")
        }
    })?;
    let list = unwrap(value, 0)?;
    if list.len() > MAX_ROWS {
        return Err(format!("it has more than {MAX_ROWS} rows"));
    }
    list.into_iter()
        .map(|row| match row {
            Value::Object(row) => Ok(row),
            _ => Err("a row is not an object".to_owned()),
        })
        .collect()
}

fn unwrap(value: Value, depth: usize) -> Result<Vec<Value>, String> {
    match value {
        Value::Array(list) => Ok(list),
        Value::Null => Ok(Vec::new()),
        Value::Object(mut object) => {
            // An issue may have members of these names too.
            let wrapper = (!object.contains_key("id"))
                .then(|| WRAPPERS.iter().find(|name| object.contains_key(**name)))
                .flatten();
            match wrapper.and_then(|name| object.remove(*name)) {
                Some(inner) if depth < 2 => unwrap(inner, depth + 1),
                None if object.contains_key("id") => Ok(vec![Value::Object(object)]),
                _ => Err(format!(
                    "it is an object with {}",
                    names(object.keys().map(String::as_str))
                )),
            }
        }
        _ => Err("it is neither a list nor an object".to_owned()),
    }
}

fn names<'a>(keys: impl Iterator<Item = &'a str>) -> String {
    let keys: Vec<String> = keys.take(6).map(|key| format!("`{}`", line(key))).collect();
    if keys.is_empty() {
        return "no members".to_owned();
    }
    keys.join(", ")
}

/// An issue of a row.
pub(super) fn issue(row: &Map<String, Value>) -> Result<Issue, String> {
    Ok(Issue {
        id: find_id(row, &["id"])?,
        title: line(&find_text(row, &["title"]).unwrap_or_default()),
        status: find_text(row, &["status"])
            .map(|word| IssueStatus::read(&word))
            .ok_or("an issue has no `status`")?,
        kind: find_text(row, &["issue_type", "type"])
            .map_or_else(|| "task".to_owned(), |k| line(&k)),
        priority: row
            .get("priority")
            .and_then(|value| serde_json::Number::deserialize(value).ok()),
        assignee: find_text(row, &["assignee"])
            .map(|name| line(&name))
            .filter(|name| !name.is_empty()),
        updated_at: find_text(row, &["updated_at"]).map(|moment| line(&moment)),
        description: text(&find_text(row, &["description"]).unwrap_or_default()),
    })
}

/// A dependency of a row, seen from `of`: rows of one tracker name both ends,
/// those of another are the issue at the other end.
pub(super) fn link(row: &Map<String, Value>, of: &str) -> Result<Link, String> {
    let id = if row.contains_key("id") {
        find_id(row, &["id"])?
    } else {
        let from = find_id(row, &["issue_id"])?;
        let to = find_id(row, &["depends_on_id"])?;
        if from == of { to } else { from }
    };
    let kind = find_text(row, &["dependency_type", "dep_type", "type"])
        .ok_or("a dependency has no `type`")?;
    Ok(Link {
        kind: line(&kind),
        issue: Brief {
            id,
            title: line(&find_text(row, &["title"]).unwrap_or_default()),
            status: find_text(row, &["status"]).map(|word| IssueStatus::read(&word)),
            kind: find_text(row, &["issue_type"]).map(|kind| line(&kind)),
        },
    })
}

/// A comment of a row.
pub(super) fn comment(row: &Map<String, Value>) -> Result<Comment, String> {
    let said = find_text(row, &["text", "body", "content"]).ok_or("a comment has no `text`")?;
    Ok(Comment {
        author: line(&find_text(row, &["author", "created_by"]).unwrap_or_default()),
        created_at: find_text(row, &["created_at"]).map(|moment| line(&moment)),
        text: text(&said),
    })
}

fn find_id(row: &Map<String, Value>, names: &[&str]) -> Result<String, String> {
    let id = find_text(row, names).ok_or_else(|| format!("a row has no `{}`", names[0]))?;
    if is_id(&id) {
        Ok(id)
    } else {
        Err(format!("`{}` is not an issue id", line(&id)))
    }
}

fn find_text(row: &Map<String, Value>, names: &[&str]) -> Option<String> {
    names
        .iter()
        .find_map(|name| row.get(*name)?.as_str().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(answer: &str) -> Result<Vec<String>, String> {
        let rows = rows(answer.as_bytes())?;
        rows.iter().map(|row| Ok(issue(row)?.id)).collect()
    }

    #[test]
    fn each_known_shape_gives_the_same_rows() {
        let row = r#"{"id":"a-1","title":"t","status":"open","dependencies":[]}"#;
        for answer in [
            format!("[{row}]"),
            format!(r#"{{"issues":[{row}],"total":1,"has_more":false}}"#),
            format!(r#"{{"schema_version":1,"data":[{row}]}}"#),
            format!(r#"{{"schema_version":1,"data":{{"issues":[{row}]}}}}"#),
            format!(r#"{{"schema_version":1,"data":{row}}}"#),
            row.to_owned(),
            format!("\u{feff}[{row}]\n"),
        ] {
            assert_eq!(ids(&answer), Ok(vec!["a-1".to_owned()]), "{answer}");
        }
        for none in [r#"{"schema_version":1,"data":null}"#, "null", "[]"] {
            assert_eq!(ids(none), Ok(Vec::new()));
        }
    }

    #[test]
    fn any_other_shape_is_named() {
        for (answer, what) in [
            ("", "empty"),
            ("[{\"id\":\"a\"", "breaks off"),
            ("nonsense", "not valid JSON"),
            ("[1]", "a row is not an object"),
            ("7", "neither"),
            (r#"{"rows":[]}"#, "`rows`"),
            (r#"{"data":{"data":{"data":[]}}}"#, "object with no members"),
            (r#"[{"id":"a"}]"#, "no `status`"),
            (r#"[{"id":7,"status":"open"}]"#, "no `id`"),
            (
                r#"[{"id":"--force","status":"open"}]"#,
                "`--force` is not an issue id",
            ),
            (
                r#"[{"id":"a b","status":"open"}]"#,
                "`a b` is not an issue id",
            ),
        ] {
            let error = ids(answer).unwrap_err();
            assert!(error.contains(what), "{answer}: {error}");
        }
        let deep = "[".repeat(100_000);
        assert!(ids(&deep).is_err());
    }

    #[test]
    fn the_error_starts_at_the_first_line_that_is_a_brace() {
        let logs = "2026 INFO {\"error\":{\"code\":\"NO\"}}\n  {\n{\r\n  \"error\": {\n    \"code\": \"ISSUE_NOT_FOUND\",\n    \"message\": \"no\\u001b[31m such\"\n  }\n}\n2026 DEBUG bye\n";
        let found = complaint(logs).unwrap();
        assert_eq!(found.code, "ISSUE_NOT_FOUND");
        assert_eq!(found.message, "no such");
        assert_eq!(complaint("INFO all well\n"), None);
        assert_eq!(complaint("{\n  \"error\": {\n"), None);
        let flat =
            complaint("{\n\"error\": \"database is locked\", \"code\": \"busy\"}\n").unwrap();
        assert_eq!(flat.code, "busy");
    }

    #[test]
    fn dependencies_of_both_forms_name_the_other_end() {
        let read = |text: &str| link(&rows(text.as_bytes()).unwrap()[0], "a-1").unwrap();
        let up = read(r#"[{"issue_id":"b-2","depends_on_id":"a-1","type":"blocks","title":"t"}]"#);
        assert_eq!((up.issue.id.as_str(), up.blocks()), ("b-2", true));
        let down = read(r#"[{"issue_id":"a-1","depends_on_id":"c-3","type":"parent-child"}]"#);
        assert_eq!((down.issue.id.as_str(), down.is_parent()), ("c-3", true));
        let bd = read(
            r#"[{"id":"d-4","issue_type":"bug","status":"closed","dependency_type":"frobs"}]"#,
        );
        assert!(bd.issue.is_closed() && !bd.blocks() && !bd.is_parent());
    }

    proptest::proptest! {
        #[test]
        fn no_answer_makes_it_panic(bytes: Vec<u8>, wrapper in "(data|issues|id|error|type)?", inner in "[\\[\\]{}\"a:,0-9.n-]{0,40}") {
            let wrapped = format!("{{\n\"{wrapper}\":{inner}}}");
            for text in [String::from_utf8_lossy(&bytes).into_owned(), wrapped] {
                let _ = complaint(&text);
                if let Ok(rows) = rows(text.as_bytes()) {
                    for row in &rows {
                        let _ = (issue(row), link(row, "a"), comment(row));
                    }
                }
            }
        }
    }
}
