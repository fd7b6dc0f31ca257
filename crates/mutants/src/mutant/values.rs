//! What a function gives back that gives back nothing, by its language and its result's type.

use crate::language::Language;
use crate::suite::Item;
use crate::tokens::{Token, close};

/// The empty result of a function; none = it has none that could be written.
pub(super) fn empty_result(
    language: Language,
    tokens: &[Token],
    function: &Item,
) -> Option<String> {
    let head = &tokens[function.head.clone()];
    match language {
        Language::Rust => {
            let arrow = head.iter().rposition(|token| token.is("->"))?;
            let rest = &head[arrow + 1..];
            let end = rest.iter().position(|token| token.is("where"));
            Some(of_rust(&rest[..end.unwrap_or(rest.len())]))
        }
        Language::Go => {
            let params = head.iter().enumerate().rfind(|(at, token)| {
                token.is("(")
                    && at
                        .checked_sub(1)
                        .is_some_and(|at| head[at].text == function.name)
            })?;
            let results = &head[close(head, params.0) + 1..];
            let inner = match results.first() {
                Some(open) if open.is("(") => &results[1..close(results, 0)],
                _ => results,
            };
            let types: Vec<String> = split(inner).map(of_go).collect();
            (!types.is_empty()).then(|| types.join(", "))
        }
        Language::Python => Some("None".to_owned()),
        Language::JavaScript => Some("undefined".to_owned()),
        Language::Ruby | Language::Elixir => Some("nil".to_owned()),
        Language::Php | Language::Java => Some("null".to_owned()),
        Language::CSharp => Some("default".to_owned()),
        Language::C => Some("0".to_owned()),
        _ => None,
    }
}

fn of_rust(result: &[Token]) -> String {
    let first = result.first().map_or("", |token| token.text);
    let reference = first == "&" && result.iter().any(|token| token.is("str"));
    match first {
        "bool" => "false",
        "Result" => "Ok(Default::default())",
        "Option" => "None",
        "String" => "String::new()",
        "Vec" => "Vec::new()",
        _ if reference => "\"\"",
        _ => "Default::default()",
    }
    .to_owned()
}

/// The types of a list, each without its name.
fn split<'t, 'a>(tokens: &'t [Token<'a>]) -> impl Iterator<Item = &'t [Token<'a>]> {
    let named = |part: &&'t [Token<'a>]| !part.is_empty();
    tokens.split(|token| token.is(",")).filter(named)
}

fn of_go(part: &[Token]) -> String {
    let own = match part {
        // `err error`
        [name, rest @ ..]
            if !rest.is_empty()
                && !matches!(name.text, "*" | "[" | "map" | "chan" | "func")
                && !rest[0].is(".")
                && !rest[0].is("[") =>
        {
            rest
        }
        _ => part,
    };
    let text: String = own.iter().map(|token| token.text).collect();
    match text.as_str() {
        "error" | "any" => "nil".to_owned(),
        "string" => "\"\"".to_owned(),
        "bool" => "false".to_owned(),
        "int" | "int64" | "int32" | "uint" | "uint64" | "float64" | "byte" | "rune" => {
            "0".to_owned()
        }
        _ if text.starts_with(['*', '[']) && !text.starts_with("[0")
            || text.starts_with("map[") =>
        {
            "nil".to_owned()
        }
        _ => format!("*new({text})"),
    }
}
