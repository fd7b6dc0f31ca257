//! Places in changed lines where a defect can be planted, by the words and marks of the language.
//! Never in a comment, never in a test, in a text only as a whole.

use super::finder::Finder;
use super::site::{Operator, Site};
use super::statements::statements;
use super::values::empty_result;
use crate::language::Language;
use crate::lex::{Kind, inside};
use crate::suite::{Sort, Suite, last_line};

/// All places in lines for which `is_changed` holds.
pub(super) fn sites(suite: &Suite, text: &str, is_changed: &dyn Fn(usize) -> bool) -> Vec<Site> {
    let finder = Finder {
        suite,
        text,
        is_changed,
    };
    let mut found = Vec::new();
    for at in 0..suite.tokens.len() {
        if !is_changed(suite.tokens[at].line) || finder.is_declared(at) {
            continue;
        }
        finder.condition(at, &mut found);
        finder.comparison(at, &mut found);
        finder.arithmetic(at, &mut found);
        finder.constant(at, &mut found);
        finder.result(at, &mut found);
        finder.error(at, &mut found);
    }
    finder.find_dropped(&mut found);
    finder.bodies(&mut found);
    found
}

impl Finder<'_> {
    fn constant(&self, at: usize, found: &mut Vec<Site>) {
        let token = self.tokens()[at];
        let with = match (token.kind, token.text) {
            (Kind::Number, text) => other_number(text),
            (Kind::Word, "true") => Some("false".to_owned()),
            (Kind::Word, "false") if self.suite.language != Language::Shell => {
                Some("true".to_owned())
            }
            (Kind::Word, "True") => Some("False".to_owned()),
            (Kind::Word, "False") => Some("True".to_owned()),
            (Kind::Text, text) if !self.is_remark(at) => empty_literal(self.suite.language, text),
            _ => None,
        };
        if let Some(with) = with {
            found.extend(self.site(Operator::ConstantChanged, at..at + 1, with));
        }
    }

    /// A text that stands for itself: a docstring, a directive.
    fn is_remark(&self, at: usize) -> bool {
        let tokens = self.tokens();
        let begins = at == 0
            || last_line(&tokens[at - 1]) < tokens[at].line
                && !matches!(
                    tokens[at - 1].text,
                    "(" | "[" | "{" | "," | "+" | "=" | "&&" | "||" | "." | "return"
                );
        let ends = tokens
            .get(at + 1)
            .is_none_or(|next| next.line > last_line(&tokens[at]) || next.is(";"));
        begins && ends
    }

    /// `return x`.
    fn result(&self, at: usize, found: &mut Vec<Site>) {
        let tokens = self.tokens();
        let token = tokens[at];
        if !token.is("return") || self.suite.language == Language::Shell {
            return;
        }
        let end = self.statement_end(at);
        if end <= at + 1 {
            return;
        }
        let function = self.find_function(at);
        let with = match function {
            Some(function) => empty_result(self.suite.language, tokens, function),
            None => None,
        };
        if let Some(with) = with
            && self.words(&(at + 1..end)) != with
        {
            found.extend(self.site(Operator::ReturnEmptied, at + 1..end, with));
        }
    }

    /// An error that goes on nowhere.
    fn error(&self, at: usize, found: &mut Vec<Site>) {
        use Language::*;
        let tokens = self.tokens();
        let token = tokens[at];
        let language = self.suite.language;
        let begins = at == 0
            || tokens[at - 1].line < token.line
            || matches!(tokens[at - 1].text, ";" | "{" | "}" | ":");
        if (token.is("raise") || token.is("throw")) && begins && language != Shell {
            let end = self.statement_end(at);
            let with = match language {
                Python => "pass",
                Ruby | Elixir => "nil",
                _ => "",
            };
            found.extend(self.site(Operator::ErrorIgnored, at..end, with));
        }
        if language == Shell {
            let failing = matches!(token.text, "exit" | "return" | "die");
            let code = self
                .token(at + 1)
                .filter(|code| code.line == token.line && code.text != "0");
            if failing && (code.is_some() || token.is("die")) {
                let with = if token.is("die") { ":" } else { "0" };
                let range = if token.is("die") {
                    at..at + 1
                } else {
                    at + 1..at + 2
                };
                found.extend(self.site(Operator::ErrorIgnored, range, with));
            }
            let option = self
                .token(at + 1)
                .filter(|option| option.line == token.line && option.text.starts_with('-'));
            if token.is("set") && option.is_some_and(|option| option.text.contains('e')) {
                found.extend(self.site(Operator::ErrorIgnored, at..at + 1, ": set"));
            }
        }
    }

    fn find_dropped(&self, found: &mut Vec<Site>) {
        let tokens = self.tokens();
        for range in statements(self.suite.language, tokens) {
            let lines = tokens[range.start].line..=last_line(&tokens[range.end - 1]);
            if !lines.clone().all(|line| (self.is_changed)(line)) || self.is_declared(range.start) {
                continue;
            }
            let words = self.words(&range);
            if self.suite.language == Language::Rust
                && let Some(call) = words.strip_suffix("?;")
            {
                found.extend(self.site(
                    Operator::ErrorIgnored,
                    range.clone(),
                    format!("let _ = {call};"),
                ));
            }
            let with = match self.suite.language {
                Language::Python => "pass",
                Language::Shell => ":",
                _ => "",
            };
            found.extend(self.site(Operator::StatementDropped, range, with));
        }
    }

    /// Functions of which most lines changed: they give back nothing.
    fn bodies(&self, found: &mut Vec<Site>) {
        let tokens = self.tokens();
        let language = self.suite.language;
        for item in self
            .suite
            .items
            .iter()
            .filter(|item| item.sort == Sort::Helper && !item.body.is_empty())
        {
            let range = item.body.clone();
            let lines: Vec<usize> = tokens[range.clone()]
                .iter()
                .map(|token| token.line)
                .collect();
            let changed = lines
                .iter()
                .filter(|line| (self.is_changed)(**line))
                .count();
            if changed * 2 < lines.len() || language == Language::Shell {
                continue;
            }
            let Some(value) = empty_result(language, tokens, item) else {
                continue;
            };
            let words = self.words(&range);
            let with = match language {
                Language::Rust => value,
                Language::Java | Language::CSharp | Language::C => continue,
                Language::Ruby | Language::Elixir => value,
                // A body of an arrow is a value.
                Language::JavaScript
                    if !tokens.get(item.head.end).is_some_and(|open| open.is("{")) =>
                {
                    value
                }
                _ => format!("return {value}"),
            };
            if words != with && words.trim_end_matches(';') != with {
                found.extend(self.site(Operator::ReturnEmptied, range, with));
            }
        }
    }
}

fn other_number(text: &str) -> Option<String> {
    if let Ok(number) = text.parse::<u64>() {
        return Some(number.checked_add(1)?.to_string());
    }
    let number: f64 = text.parse().ok()?;
    text.contains('.').then(|| format!("{:?}", number + 1.0))
}

/// The same literal with nothing in it; one of nothing with a word.
fn empty_literal(language: Language, text: &str) -> Option<String> {
    let own = inside(text);
    let filled = match language {
        Language::Rust | Language::CSharp => own.contains('{'),
        Language::Go | Language::C => own.contains('%'),
        Language::Shell => own.contains('$') || own.contains('`') || !text.starts_with(['"', '\'']),
        Language::Php | Language::Kotlin => own.contains('$'),
        _ => text.starts_with('/') || text.starts_with('%'),
    };
    let is_char = matches!(
        language,
        Language::Rust | Language::Go | Language::Java | Language::C | Language::CSharp
    ) && text.trim_start_matches('b').starts_with('\'');
    if filled || is_char || text.contains('\n') || text.len() < 2 {
        return None;
    }
    if own.is_empty() {
        let quote = text.len() / 2 + text.len() % 2;
        let (before, after) = text.split_at_checked(quote)?;
        return Some(format!("{before}planted{after}"));
    }
    let at = text.find(own)?;
    Some(format!("{}{}", &text[..at], &text[at + own.len()..]))
}
