//! Conditions and comparisons as places of defects.

use super::finder::Finder;
use super::site::{Operator, Site};
use crate::language::Language;
use crate::lex::{Kind, close};
use crate::suite::last_line;
use std::ops::Range;

/// Comparisons and what they are shifted to.
const SHIFTS: [(&str, &str); 16] = [
    ("<", "<="),
    ("<=", "<"),
    (">", ">="),
    (">=", ">"),
    ("==", "!="),
    ("!=", "=="),
    ("===", "!=="),
    ("!==", "==="),
    ("-eq", "-ne"),
    ("-ne", "-eq"),
    ("-lt", "-le"),
    ("-le", "-lt"),
    ("-gt", "-ge"),
    ("-ge", "-gt"),
    ("-z", "-n"),
    ("-n", "-z"),
];

/// Signs of arithmetic and what they become.
const ARITHMETIC: [(&str, &str); 9] = [
    ("+", "-"),
    ("-", "+"),
    ("*", "/"),
    ("/", "*"),
    ("%", "*"),
    ("+=", "-="),
    ("-=", "+="),
    ("*=", "/="),
    ("/=", "*="),
];

impl Finder<'_> {
    /// `if` and `while`: the condition negated; a branch that came, never taken.
    pub(super) fn condition(&self, at: usize, found: &mut Vec<Site>) {
        use Language::*;
        let token = self.tokens()[at];
        let language = self.suite.language;
        let is_if = token.is("if") || token.is("elif") || token.is("elsif");
        if token.kind != Kind::Word || !(is_if || token.is("while") || token.is("unless")) {
            return;
        }
        let Some(range) = self
            .condition_range(at)
            .filter(|range| range.start < range.end)
        else {
            return;
        };
        let words = self.words(&range);
        let (negated, never) = match language {
            Shell => match words.strip_prefix("! ") {
                Some(rest) => (rest.to_owned(), format!("false && {words}")),
                None => (format!("! {words}"), format!("false && {words}")),
            },
            Python => (format!("not ({words})"), format!("False and ({words})")),
            Elixir => (format!("not ({words})"), format!("false and ({words})")),
            _ => (format!("!({words})"), format!("false && ({words})")),
        };
        let of_error = language == Go && words.contains("err") && words.contains("nil");
        if is_if {
            let operator = if of_error {
                Operator::ErrorIgnored
            } else {
                Operator::BranchRemoved
            };
            if of_error || self.is_new_branch(at, &range) {
                found.extend(self.site(operator, range.clone(), never));
            }
        }
        found.extend(self.site(Operator::ConditionNegated, range, negated));
    }

    /// The condition behind a keyword, as tokens.
    fn condition_range(&self, at: usize) -> Option<Range<usize>> {
        use Language::*;
        let tokens = self.tokens();
        let next = self.token(at + 1)?;
        let until = |from: usize, ends: &[&str]| {
            let mut end = from;
            while end < tokens.len() {
                let token = &tokens[end];
                if token.kind != Kind::Text && ends.contains(&token.text) {
                    return Some(from..end);
                }
                if token.kind == Kind::Mark && matches!(token.text, "(" | "[") {
                    end = close(tokens, end);
                }
                end += 1;
            }
            None
        };
        match self.suite.language {
            Rust | Swift => {
                let range = until(at + 1, &["{", "=>", ";"])?;
                let binds = tokens[range.clone()]
                    .iter()
                    .any(|token| token.is("let") || token.is("case"));
                (!binds).then_some(range)
            }
            Go => {
                let range = until(at + 1, &["{"])?;
                let last = tokens[range.clone()]
                    .iter()
                    .rposition(|token| token.is(";"));
                Some(last.map_or(range.start, |last| range.start + last + 1)..range.end)
            }
            Python => until(at + 1, &[":"]),
            Shell => until(at + 1, &[";", "then", "do"])
                .filter(|range| tokens[at].line == tokens[range.end - 1].line),
            Ruby | Elixir => {
                let line = next.line;
                let end = (at + 1..tokens.len()).find(|at| {
                    tokens[*at].line > line || tokens[*at].is("then") || tokens[*at].is("do")
                });
                Some(at + 1..end.unwrap_or(tokens.len()))
            }
            Other => None,
            _ if next.is("(") => Some(at + 2..close(tokens, at + 1)),
            _ => None,
        }
    }

    /// The branch came as a whole.
    fn is_new_branch(&self, at: usize, condition: &Range<usize>) -> bool {
        let tokens = self.tokens();
        let first = tokens[at].line;
        let last = if self.suite.language.has_braces() {
            let open =
                (condition.end..tokens.len().min(condition.end + 3)).find(|at| tokens[*at].is("{"));
            open.map_or(first, |open| tokens[close(tokens, open)].line)
        } else {
            let column = tokens
                .iter()
                .find(|token| token.line == first)
                .map_or(0, |token| token.column);
            let ends = tokens[condition.end..].iter().position(|token| {
                token.line > first && token.column <= column && self.is_first(token)
            });
            let end = ends.map_or(tokens.len(), |place| condition.end + place);
            last_line(&tokens[end - 1])
        };
        (first..=last).all(|line| (self.is_changed)(line) || self.is_blank(line))
    }

    pub(super) fn comparison(&self, at: usize, found: &mut Vec<Site>) {
        let token = self.tokens()[at];
        let before = at.checked_sub(1).map(|at| &self.tokens()[at]);
        let (Some(before), Some(after)) = (before, self.token(at + 1)) else {
            return;
        };
        let spaced = before.end() < token.at && token.end() < after.at;
        let of_shell = self.suite.language == Language::Shell;
        let shift = SHIFTS.iter().find(|(from, _)| *from == token.text);
        if let Some((from, to)) = shift
            && spaced
            && token.kind != Kind::Text
            && of_shell == from.starts_with('-')
        {
            found.extend(self.site(Operator::ComparisonShifted, at..at + 1, *to));
        }
        let connective = match token.text {
            "&&" => "||",
            "||" if !of_shell => "&&",
            "and" => "or",
            "or" => "and",
            _ => return,
        };
        // `||` also begins a closure.
        let joins = matches!(before.kind, Kind::Word | Kind::Number | Kind::Text)
            && !matches!(before.text, "move" | "return" | "=>")
            || matches!(before.text, ")" | "]" | "?" | "}");
        if token.kind != Kind::Text && joins && spaced {
            found.extend(self.site(Operator::ConditionNegated, at..at + 1, connective));
        }
    }
    /// Between two values, with spaces around; never of texts, which some languages add up.
    pub(super) fn arithmetic(&self, at: usize, found: &mut Vec<Site>) {
        let token = self.tokens()[at];
        let before = at.checked_sub(1).map(|at| &self.tokens()[at]);
        let (Some(before), Some(after)) = (before, self.token(at + 1)) else {
            return;
        };
        let spaced = before.end() < token.at && token.end() < after.at;
        let is_value = matches!(before.kind, Kind::Word | Kind::Number)
            || matches!(before.text, ")" | "]" | "?");
        let of_texts = before.kind == Kind::Text || after.kind == Kind::Text;
        let sign = ARITHMETIC.iter().find(|(from, _)| *from == token.text);
        if let Some((_, to)) = sign
            && token.kind == Kind::Mark
            && spaced
            && is_value
            && !of_texts
            && !matches!(
                before.text,
                "return" | "case" | "in" | "yield" | "as" | "mut"
            )
            && self.suite.language != Language::Shell
        {
            found.extend(self.site(Operator::ArithmeticChanged, at..at + 1, *to));
        }
    }
}
