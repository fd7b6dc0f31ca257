//! Paths into an event, and the rules that look there.
//!
//! A path is keys joined by `.`; `key[k=v]` takes the items of a list whose `k` is `v`.
//! A step into a list without a filter goes into each item.

use cook_protocol::model::{Rule, Wanted};
use serde_json::Value;

/// Values that one path may find.
const MAX_FOUND: usize = 10_000;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step<'a> {
    pub(super) key: &'a str,
    pub(super) filter: Option<(&'a str, &'a str)>,
}

/// Splits a path into its steps; none when it is not a path.
pub(super) fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let mut steps = Vec::new();
    let mut rest = path;
    loop {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let key = &rest[..end];
        rest = &rest[end..];
        let mut filter = None;
        if let Some(inside) = rest.strip_prefix('[') {
            let (condition, after) = inside.split_once(']')?;
            filter = Some(condition.split_once('=')?);
            rest = after;
        }
        if key.is_empty() {
            return None;
        }
        steps.push(Step { key, filter });
        if rest.is_empty() {
            return Some(steps);
        }
        rest = rest.strip_prefix('.')?;
    }
}

/// Everything a path finds, in order.
pub(super) fn find_values<'a>(event: &'a Value, path: &str) -> Vec<&'a Value> {
    let Some(steps) = steps(path) else {
        return Vec::new();
    };
    let mut found = vec![event];
    for step in steps {
        let mut next = Vec::new();
        for value in found {
            enter(value, &step, &mut next);
        }
        next.truncate(MAX_FOUND);
        found = next;
    }
    found
}

fn enter<'a>(value: &'a Value, step: &Step, next: &mut Vec<&'a Value>) {
    if let Value::Array(items) = value {
        for item in items {
            if let Some(inner) = item.get(step.key) {
                keep(inner, step, next);
            }
        }
    } else if let Some(inner) = value.get(step.key) {
        keep(inner, step, next);
    }
}

fn keep<'a>(value: &'a Value, step: &Step, next: &mut Vec<&'a Value>) {
    match (step.filter, value) {
        (None, _) => next.push(value),
        (Some((key, wanted)), Value::Array(items)) => {
            next.extend(
                items
                    .iter()
                    .filter(|item| item.get(key).and_then(Value::as_str) == Some(wanted)),
            );
        }
        (Some(_), _) => {}
    }
}

/// What a path finds as text: several texts are lines.
pub(super) fn find_text(event: &Value, path: &str) -> Option<String> {
    let texts: Vec<String> = find_values(event, path)
        .into_iter()
        .filter_map(as_text)
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// Whether a rule speaks of this event.
pub(super) fn applies(rule: &Rule, event: &Value) -> bool {
    rule.when
        .iter()
        .all(|(path, wanted)| holds(&find_values(event, path), wanted))
}

fn holds(found: &[&Value], wanted: &Wanted) -> bool {
    let is = |text: &str| {
        found
            .iter()
            .any(|value| as_text(value).as_deref() == Some(text))
    };
    match wanted {
        Wanted::Flag(flag) => found.iter().any(|value| value.as_bool() == Some(*flag)),
        Wanted::Text(text) if text == "*" => found.iter().any(|value| !value.is_null()),
        Wanted::Text(text) => match text.strip_prefix('!') {
            Some(other) => !found.is_empty() && !is(other),
            None => is(text),
        },
        Wanted::Any(texts) => texts.iter().any(|text| is(text)),
    }
}

/// Says what is wrong with a rule.
pub(super) fn check_rule(rule: &Rule) -> Result<(), String> {
    if rule.when.is_empty() {
        return Err("a rule without `when` would speak of every event".to_owned());
    }
    let set = serde_json::to_value(&rule.set).unwrap_or_default();
    let set = set.as_object().into_iter().flat_map(|set| set.values());
    let paths = rule.when.keys().map(String::as_str);
    for path in paths.chain(set.filter_map(Value::as_str)) {
        if steps(path).is_none() {
            return Err(format!("`{}` is not a path", path.escape_debug()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_go_into_objects_and_lists() {
        let event = json!({"m": {"c": [
            {"type": "text", "text": "one"}, {"type": "tool", "text": "no"},
            {"type": "text", "text": "two"}]}, "n": 3, "t": true, "z": null});
        assert_eq!(
            find_text(&event, "m.c[type=text].text").as_deref(),
            Some("one\ntwo")
        );
        assert_eq!(
            find_text(&event, "m.c.text").as_deref(),
            Some("one\nno\ntwo")
        );
        assert_eq!(find_text(&event, "n").as_deref(), Some("3"));
        assert_eq!(find_text(&event, "m.c"), None);
        for path in ["", ".", "a.", "a[b]", "a[b=c", "a[b=c]d"] {
            assert!(
                steps(path).is_none() && find_values(&event, path).is_empty(),
                "{path}"
            );
        }
    }

    #[test]
    fn conditions() {
        let event = json!({"type": "result", "is_error": true, "sub": "bad", "n": 3, "z": null});
        let yes = |path: &str, wanted: Wanted| holds(&find_values(&event, path), &wanted);
        let text = |text: &str| Wanted::Text(text.to_owned());
        assert!(yes("type", text("result")) && yes("n", text("3")));
        assert!(yes("is_error", Wanted::Flag(true)) && !yes("is_error", Wanted::Flag(false)));
        assert!(yes("sub", text("!good")) && !yes("sub", text("!bad")));
        assert!(!yes("none", text("!good")) && yes("sub", text("*")));
        assert!(!yes("z", text("*")) && !yes("none", text("*")));
        let any = Wanted::Any(vec!["x".to_owned(), "bad".to_owned()]);
        assert!(yes("sub", any));
    }
}
