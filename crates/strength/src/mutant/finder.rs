//! What the places of defects are looked for with.

use super::site::{Operator, Site};
use crate::language::Language;
use crate::lex::{Kind, Token, close};
use crate::suite::{Item, Sort, Suite, last_line};
use std::ops::Range;

/// Words that begin a line in which nothing is planted.
const DECLARED: [&str; 12] = [
    "import",
    "use",
    "from",
    "package",
    "include",
    "require",
    "extern",
    "mod",
    "module",
    "using",
    "namespace",
    "export",
];

pub(super) struct Finder<'a> {
    pub suite: &'a Suite<'a>,
    pub text: &'a str,
    pub is_changed: &'a dyn Fn(usize) -> bool,
}

impl<'t> Finder<'t> {
    pub(super) fn tokens(&self) -> &[Token<'t>] {
        &self.suite.tokens
    }

    pub(super) fn token(&self, at: usize) -> Option<&Token<'t>> {
        self.suite.tokens.get(at)
    }

    pub(super) fn site(
        &self,
        operator: Operator,
        range: Range<usize>,
        with: impl Into<String>,
    ) -> Option<Site> {
        let (first, last) = (
            self.token(range.start)?,
            self.token(range.end.checked_sub(1)?)?,
        );
        Some(Site {
            operator,
            line: first.line,
            from: first.at,
            to: last.end(),
            with: with.into(),
        })
    }

    pub(super) fn words(&self, range: &Range<usize>) -> &str {
        let (Some(first), Some(last)) = (
            self.token(range.start),
            self.token(range.end.saturating_sub(1)),
        ) else {
            return "";
        };
        self.text.get(first.at..last.end()).unwrap_or_default()
    }

    /// The line declares what others define, or says something to the compiler.
    pub(super) fn is_declared(&self, at: usize) -> bool {
        let line = self.tokens()[at].line;
        let first = (0..=at)
            .rev()
            .take_while(|at| self.tokens()[*at].line == line)
            .last();
        let first = &self.tokens()[first.unwrap_or(at)];
        let of_php = self.suite.language == Language::Php && first.text.starts_with('$');
        !of_php && (DECLARED.contains(&first.text) || first.is("#") || first.is("@"))
    }

    /// Nothing but a comment, or nothing at all.
    pub(super) fn is_blank(&self, line: usize) -> bool {
        let tokens = self.tokens();
        let place = tokens.partition_point(|token| token.line < line);
        tokens.get(place).is_none_or(|token| token.line != line)
    }

    pub(super) fn is_first(&self, token: &Token) -> bool {
        self.text[..token.at]
            .rsplit('\n')
            .next()
            .is_some_and(|before| before.trim().is_empty())
    }

    /// The end of the statement that holds a token.
    pub(super) fn statement_end(&self, at: usize) -> usize {
        let tokens = self.tokens();
        let mut end = at + 1;
        while end < tokens.len() {
            let (token, before) = (&tokens[end], &tokens[end - 1]);
            let new_line = token.line > last_line(before)
                && !token.is(".")
                && !token.is("?")
                && !goes_on(before);
            if token.kind == Kind::Mark && matches!(token.text, ";" | "}" | ")")
                || new_line && end > at + 1
            {
                break;
            }
            if new_line && end == at + 1 {
                break;
            }
            if token.kind == Kind::Mark && matches!(token.text, "(" | "[" | "{") {
                end = close(tokens, end);
            }
            end += 1;
        }
        end
    }

    /// The innermost function around a token.
    pub(super) fn find_function(&self, at: usize) -> Option<&Item> {
        let items = self.suite.items.iter();
        items
            .filter(|item| item.sort == Sort::Helper && item.body.contains(&at))
            .min_by_key(|item| item.body.len())
    }
}

fn goes_on(last: &Token) -> bool {
    last.kind == Kind::Mark && !matches!(last.text, ")" | "]" | "}" | "++" | "--" | ";" | "?" | "!")
}
