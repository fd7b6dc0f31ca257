//! Items of languages whose blocks stand in braces.

use super::item::{Item, Sort, is_own_word};
use crate::language::Language;
use crate::lex::{Kind, Token, between, close, inside};

/// Last parts of attributes' paths that make a function of Rust a test.
const RUST_TESTS: [&str; 8] = [
    "test",
    "rstest",
    "test_case",
    "quickcheck",
    "wasm_bindgen_test",
    "test_log",
    "proptest",
    "case",
];
/// Annotations that make a method a test.
const ANNOTATIONS: [&str; 12] = [
    "Test",
    "ParameterizedTest",
    "RepeatedTest",
    "TestFactory",
    "TestTemplate",
    "Property",
    "Fact",
    "Theory",
    "TestMethod",
    "TestCase",
    "DataTestMethod",
    "ValueSource",
];
/// Macros of C++ that begin a test.
const MACROS: [&str; 8] = [
    "TEST",
    "TEST_F",
    "TEST_P",
    "TYPED_TEST",
    "TEST_CASE",
    "SCENARIO",
    "BOOST_AUTO_TEST_CASE",
    "TEST_METHOD",
];
/// Words before a parenthesis that begin no function.
const CONTROL: [&str; 14] = [
    "if",
    "for",
    "while",
    "switch",
    "catch",
    "synchronized",
    "try",
    "return",
    "when",
    "match",
    "using",
    "lock",
    "foreach",
    "fixed",
];

/// The items of a text.
pub(super) fn items(language: Language, tokens: &[Token]) -> Vec<Item> {
    let mut found = Vec::new();
    // Where the attributes of the next item begin.
    let mut pending: Option<usize> = None;
    let mut is_attributed = false;
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at];
        if let Some(end) = attribute(language, tokens, at) {
            pending = pending.filter(|_| is_attributed).or(Some(at));
            is_attributed = true;
            at = end + 1;
            continue;
        }
        if language.is_line_based() && !is_attributed && begins_statement(tokens, at) {
            pending = None;
        }
        let start = pending.unwrap_or(at);
        if let Some(item) = item(language, tokens, start, at) {
            at = match item.sort {
                Sort::Group => item.body.start,
                // Tests of Go hold tests.
                _ => item.head.end,
            };
            found.push(item);
            (pending, is_attributed) = (None, false);
            continue;
        }
        let ends = token.kind == Kind::Mark && matches!(token.text, ";" | "{" | "}");
        if ends {
            (pending, is_attributed) = (None, false);
        } else if pending.is_none() && token.kind == Kind::Word && begins_statement(tokens, at) {
            // Modifiers belong to the head.
            pending = Some(at);
        }
        at += 1;
    }
    found
}

fn begins_statement(tokens: &[Token], at: usize) -> bool {
    at == 0
        || matches!(tokens[at - 1].text, ";" | "{" | "}")
        || tokens[at - 1].line < tokens[at].line
}

/// The last token of an attribute or annotation that begins here.
fn attribute(language: Language, tokens: &[Token], at: usize) -> Option<usize> {
    use Language::*;
    let next = tokens.get(at + 1)?;
    match language {
        Rust if tokens[at].is("#") && next.is("[") => Some(close(tokens, at + 1)),
        Php if tokens[at].is("#") && next.is("[") => Some(close(tokens, at + 1)),
        CSharp if tokens[at].is("[") && begins_statement(tokens, at) => Some(close(tokens, at)),
        Java | Kotlin | Swift if tokens[at].is("@") && next.kind == Kind::Word => {
            let mut end = at + 1;
            while tokens.get(end + 1).is_some_and(|t| t.is(".") || t.is(":"))
                && end + 2 < tokens.len()
            {
                end += 2;
            }
            match tokens.get(end + 1) {
                Some(open) if open.is("(") && open.at == tokens[end].end() => {
                    Some(close(tokens, end + 1))
                }
                _ => Some(end),
            }
        }
        _ => None,
    }
}

fn item(language: Language, tokens: &[Token], start: usize, at: usize) -> Option<Item> {
    use Language::*;
    if tokens[at].kind != Kind::Word {
        return None;
    }
    group(tokens, start, at).or_else(|| match language {
        Rust if tokens[at].is("macro_rules") => {
            let name = tokens.get(at + 2)?;
            let body = block(tokens, at + 3)?;
            Some(Item {
                name: name.text.to_owned(),
                sort: Sort::Helper,
                line: name.line,
                head: start..body.start - 1,
                body,
            })
        }
        Rust => {
            let is_function = is_own_word(tokens, at, "fn");
            let name = tokens.get(at + 1).filter(|_| is_function)?;
            let marks = names(tokens, start, at);
            function(tokens, start, at + 1, name.text, |_| {
                marks.iter().any(|name| RUST_TESTS.contains(name))
            })
        }
        Go => go(tokens, start, at),
        Kotlin => {
            let name = tokens.get(at + 1).filter(|_| tokens[at].is("fun"))?;
            let marks = names(tokens, start, at);
            function(tokens, start, at + 1, inside(name.text), |name| {
                is_marked(&marks) || is_camel(name)
            })
        }
        Swift => {
            let name = tokens.get(at + 1).filter(|_| tokens[at].is("func"))?;
            function(tokens, start, at + 1, name.text, is_camel)
        }
        Php => {
            let name = tokens.get(at + 1).filter(|_| tokens[at].is("function"))?;
            let marks = names(tokens, start, at);
            function(tokens, start, at + 1, name.text, |name| {
                is_marked(&marks) || is_camel(name) || name.starts_with("test_")
            })
        }
        C if MACROS.contains(&tokens[at].text) => {
            let open = tokens.get(at + 1).filter(|open| open.is("("))?;
            let end = close(tokens, at + 1);
            let inner = &tokens[at + 2..end];
            // `TEST(Suite, Name)`: fixtures change the first.
            let own = inner
                .split(|token| token.is(","))
                .nth(1)
                .filter(|_| inner[0].kind == Kind::Word);
            let name: Vec<&str> = own
                .unwrap_or(inner)
                .iter()
                .map(|token| inside(token.text))
                .collect();
            let body = block(tokens, end + 1)?;
            Some(Item {
                name: name.join(" "),
                sort: Sort::Test,
                line: open.line,
                head: start..body.start - 1,
                body,
            })
        }
        Java | CSharp | C => {
            let open = tokens.get(at + 1).filter(|open| open.is("("))?;
            let called = at > 0 && matches!(tokens[at - 1].text, "new" | "." | "return" | "=");
            if called || CONTROL.contains(&tokens[at].text) || open.at != tokens[at].end() {
                return None;
            }
            let marks = names(tokens, start, at);
            let void = at > 0 && tokens[at - 1].is("void");
            function(tokens, start, at, tokens[at].text, |name| {
                is_marked(&marks) || void && is_camel(name)
            })
        }
        _ => None,
    })
}

/// `mod`, `class` and their like.
fn group(tokens: &[Token], start: usize, at: usize) -> Option<Item> {
    const GROUPS: [&str; 7] = [
        "mod",
        "class",
        "object",
        "interface",
        "trait",
        "namespace",
        "module",
    ];
    let name = tokens.get(at + 1)?;
    if !GROUPS.contains(&tokens[at].text) || name.kind != Kind::Word {
        return None;
    }
    let body = block(tokens, at + 2)?;
    Some(Item {
        name: name.text.to_owned(),
        sort: Sort::Group,
        line: name.line,
        head: start..body.start - 1,
        body,
    })
}

/// A function whose name stands at `named`, with its parameters behind it.
fn function(
    tokens: &[Token],
    start: usize,
    named: usize,
    name: &str,
    is_test: impl Fn(&str) -> bool,
) -> Option<Item> {
    let mut at = named + 1;
    if tokens.get(at).is_some_and(|token| token.is("<")) {
        while at < tokens.len() && !tokens[at].is("(") {
            at += 1;
        }
    }
    tokens.get(at).filter(|open| open.is("("))?;
    let params_end = close(tokens, at);
    let body = block(tokens, params_end + 1).or_else(|| expression(tokens, params_end + 1))?;
    Some(Item {
        name: name.to_owned(),
        sort: if is_test(name) {
            Sort::Test
        } else {
            Sort::Helper
        },
        line: tokens[named].line,
        head: start..body.start - 1,
        body,
    })
}

/// What stands in the next braces, where nothing ends the statement before.
fn block(tokens: &[Token], from: usize) -> Option<std::ops::Range<usize>> {
    let mut at = from;
    while at < tokens.len() {
        match tokens[at].text {
            "{" => return Some(between(tokens, at)),
            ";" | "}" | "=" => return None,
            "=>" => return None,
            "(" | "[" => at = close(tokens, at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// The body of `fun a() = b()`, `void A() => B();`.
fn expression(tokens: &[Token], from: usize) -> Option<std::ops::Range<usize>> {
    let mut at = from;
    while !(tokens.get(at)?.is("=") || tokens[at].is("=>")) {
        if matches!(tokens[at].text, ";" | "{" | "}") {
            return None;
        }
        at += 1;
    }
    let begin = at + 1;
    let mut end = begin;
    while end < tokens.len() {
        let token = tokens[end];
        if matches!(token.text, ";" | "}")
            || end > begin && token.line > tokens[end - 1].line && !token.is(".")
        {
            break;
        }
        if matches!(token.text, "(" | "[" | "{") {
            end = close(tokens, end);
        }
        end += 1;
    }
    Some(begin..end)
}

/// `func TestA(t *testing.T) {`, `func (s *Suite) TestA() {`, `t.Run("name", …)`.
fn go(tokens: &[Token], start: usize, at: usize) -> Option<Item> {
    if tokens[at].is("Run") && at > 0 && tokens[at - 1].is(".") {
        let open = tokens.get(at + 1).filter(|open| open.is("("))?;
        let name = tokens.get(at + 2).filter(|name| name.kind == Kind::Text)?;
        let end = close(tokens, at + 1);
        return Some(Item {
            name: inside(name.text).to_owned(),
            sort: Sort::Test,
            line: open.line,
            head: at..at + 3,
            body: at + 3..end.max(at + 3),
        });
    }
    if !tokens[at].is("func") {
        return None;
    }
    let mut named = at + 1;
    if tokens.get(named)?.is("(") {
        named = close(tokens, named) + 1;
    }
    let name = tokens.get(named).filter(|name| name.kind == Kind::Word)?;
    function(tokens, start, named, name.text, |name| {
        ["Test", "Fuzz", "Benchmark", "Example"].iter().any(|kind| {
            let rest = name.strip_prefix(kind);
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_lowercase()))
                // It runs the tests.
                && name != "TestMain"
        })
    })
}

/// Last parts of the paths in attributes.
fn names<'a>(tokens: &[Token<'a>], start: usize, end: usize) -> Vec<&'a str> {
    let mut found = Vec::new();
    for at in start..end {
        let next = tokens.get(at + 1);
        let ends = next.is_none_or(|next| {
            next.kind != Kind::Mark || matches!(next.text, "(" | "]" | "," | ")" | "@" | "[")
        });
        let before = at.checked_sub(1).map_or("", |at| tokens[at].text);
        let begins = matches!(before, "[" | "::" | "." | "@" | "," | ":");
        if tokens[at].kind == Kind::Word && ends && begins && depth(tokens, start, at) == 0 {
            found.push(tokens[at].text);
        }
    }
    found
}

/// How many parentheses are open: `#[cfg(test)]` is no `#[test]`.
fn depth(tokens: &[Token], start: usize, end: usize) -> usize {
    let open = |text| tokens[start..end].iter().filter(|t| t.is(text)).count();
    open("(").saturating_sub(open(")"))
}

fn is_marked(names: &[&str]) -> bool {
    names.iter().any(|name| ANNOTATIONS.contains(name))
}

/// `testAdds`, of frameworks that go by the name.
fn is_camel(name: &str) -> bool {
    name.strip_prefix("test")
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_uppercase() || c == '_'))
}
