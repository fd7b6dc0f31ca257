//! How a change of one field weighs.

use super::difference::{Difference, Strength, show};
use serde_json::Value;

/// Which of two values asks for more.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rule {
    /// The lower number or shorter time; `none` = what stands there where nothing is said.
    Lower { none: Option<f64> },
    /// The lower number, 0 being no limit.
    LowerAboveZero,
    /// The higher number; yes.
    Higher,
    /// No.
    No,
    /// The later of these words; `none` = the word where nothing is said.
    Later {
        words: &'static [&'static str],
        none: Option<&'static str>,
    },
    /// A list that holds more.
    More,
    /// A list that holds less.
    Fewer,
    /// Another value is another thing.
    Same,
    /// It decides nothing.
    Aside,
}

/// How the value now stands to the one before; none = they ask for the same. An absent one is null.
pub(super) fn weigh(rule: Rule, was: &Value, is: &Value) -> Option<Strength> {
    if was == is {
        return None;
    }
    let by_order = |was: Option<f64>, is: Option<f64>| match (was, is) {
        (Some(was), Some(is)) if is == was => None,
        (Some(was), Some(is)) if is > was => Some(Strength::Stronger),
        (Some(_), Some(_)) => Some(Strength::Weaker),
        _ => Some(Strength::NotComparable),
    };
    let negative = |value: Option<f64>| value.map(|value| -value);
    match rule {
        Rule::Aside => None,
        Rule::Same => Some(Strength::NotComparable),
        Rule::Higher => by_order(number(was), number(is)),
        Rule::No => by_order(negative(number(was)), negative(number(is))),
        Rule::Lower { none } => {
            let of = |value: &Value| match value.is_null() {
                true => none,
                false => number(value),
            };
            by_order(negative(of(was)), negative(of(is)))
        }
        Rule::LowerAboveZero => {
            let of = |value: &Value| number(value).map(|n| if n > 0.0 { n } else { f64::INFINITY });
            by_order(negative(of(was)), negative(of(is)))
        }
        Rule::Later { words, none } => {
            let of = |value: &Value| {
                let word = value.as_str().or(none.filter(|_| value.is_null()))?;
                let place = words.iter().position(|known| *known == word)?;
                Some(place as f64)
            };
            by_order(of(was), of(is))
        }
        Rule::More => by_content(was, is, Strength::Stronger, Strength::Weaker),
        Rule::Fewer => by_content(was, is, Strength::Weaker, Strength::Stronger),
    }
}

/// A number, a yes or no, or a length of time.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::Bool(yes) => Some(f64::from(u8::from(*yes))),
        Value::String(text) => humantime::parse_duration(text)
            .ok()
            .map(|length| length.as_secs_f64()),
        _ => None,
    }
}

fn by_content(was: &Value, is: &Value, grown: Strength, shrunk: Strength) -> Option<Strength> {
    let items = |value: &Value| value.as_array().cloned();
    let (Some(was), Some(is)) = (items(was), items(is)) else {
        return Some(Strength::NotComparable);
    };
    let gone = was.iter().any(|item| !is.contains(item));
    let new = is.iter().any(|item| !was.contains(item));
    match (gone, new) {
        (false, false) => None,
        (false, true) => Some(grown),
        (true, false) => Some(shrunk),
        (true, true) => Some(Strength::NotComparable),
    }
}

/// The difference in a field, if it makes one.
pub(super) fn differ(
    file: &str,
    field: &str,
    rule: Rule,
    was: &Value,
    is: &Value,
) -> Option<Difference> {
    let strength = weigh(rule, was, is)?;
    let what = format!("is {}, and was {}", say(is), say(was));
    Some(Difference::new(file, field, strength, what))
}

fn say(value: &Value) -> String {
    match value {
        Value::Null => "not there".to_owned(),
        Value::String(text) => show(text),
        other => show(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_rule_knows_more_less_and_another() {
        use Strength::{NotComparable, Stronger, Weaker};
        let assurance = Rule::Later {
            words: &["lite", "standard", "strict"],
            none: Some("strict"),
        };
        for (rule, was, is, expected) in [
            (
                Rule::Lower { none: None },
                json!(3),
                json!(2),
                Some(Stronger),
            ),
            (Rule::Lower { none: None }, json!(2), json!(3), Some(Weaker)),
            (
                Rule::Lower { none: None },
                json!("20m"),
                json!("1200s"),
                None,
            ),
            (
                Rule::Lower { none: None },
                json!("20m"),
                json!("1h"),
                Some(Weaker),
            ),
            (
                Rule::Lower { none: None },
                json!(null),
                json!("1h"),
                Some(NotComparable),
            ),
            (
                Rule::Lower { none: Some(3.0) },
                json!(null),
                json!(4),
                Some(Weaker),
            ),
            (Rule::Lower { none: Some(3.0) }, json!(3), json!(null), None),
            (Rule::LowerAboveZero, json!(5), json!(0), Some(Weaker)),
            (Rule::LowerAboveZero, json!(0), json!(5), Some(Stronger)),
            (Rule::Higher, json!(3), json!(1), Some(Weaker)),
            (Rule::Higher, json!(false), json!(true), Some(Stronger)),
            (Rule::No, json!(false), json!(true), Some(Weaker)),
            (assurance, json!(null), json!("lite"), Some(Weaker)),
            (assurance, json!("lite"), json!("standard"), Some(Stronger)),
            (assurance, json!("lite"), json!("new"), Some(NotComparable)),
            (Rule::More, json!(["a"]), json!(["a", "b"]), Some(Stronger)),
            (Rule::More, json!(["a"]), json!([]), Some(Weaker)),
            (Rule::More, json!(["a"]), json!(["b"]), Some(NotComparable)),
            (Rule::More, json!(["a", "b"]), json!(["b", "a"]), None),
            (Rule::Fewer, json!(["a"]), json!(["a", "b"]), Some(Weaker)),
            (Rule::Same, json!("a"), json!("b"), Some(NotComparable)),
            (Rule::Aside, json!("a"), json!("b"), None),
        ] {
            assert_eq!(weigh(rule, &was, &is), expected, "{rule:?} {was} {is}");
        }
    }
}
