//! Finds the places in changed lines where a defect can be planted, by the keywords and operators of the language.
//! Comments and tests are left alone, and string literals are only replaced as a whole.

use crate::suite::{Item, Sort, Suite};
use crate::tokens::Language::{self, *};
use crate::tokens::{Kind, Token, close, goes_on, inside, line_starts};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The kind of a defect, ordered from the most to the least significant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operator {
    /// Changed lines are reverted.
    HunkReverted,
    /// A new branch is never taken.
    BranchRemoved,
    /// A function returns nothing, or an empty value.
    ReturnEmptied,
    /// An error is ignored.
    ErrorIgnored,
    /// A condition is negated.
    ConditionNegated,
    /// A comparison is replaced by another one.
    ComparisonShifted,
    /// An arithmetic operator is replaced.
    ArithmeticChanged,
    /// A statement is removed.
    StatementDropped,
    /// A constant is changed.
    ConstantChanged,
}

impl Operator {
    /// Describes the defect.
    pub fn words(self) -> &'static str {
        match self {
            Self::HunkReverted => "changed lines are as they were",
            Self::BranchRemoved => "a branch is never taken",
            Self::ReturnEmptied => "a function gives back nothing, or what is nearest to it",
            Self::ErrorIgnored => "an error does not stop anything",
            Self::ConditionNegated => "a condition is the opposite",
            Self::ComparisonShifted => "a comparison is another one",
            Self::ArithmeticChanged => "it calculates otherwise",
            Self::StatementDropped => "a statement is gone",
            Self::ConstantChanged => "a constant is another one",
        }
    }
}

/// A place in the text, and its replacement.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Site {
    pub line: usize,
    pub operator: Operator,
    pub from: usize,
    pub to: usize,
    pub with: String,
}

/// Operators that are exchanged for one another.
const COMPARISONS: [(&str, &str); 8] = [
    ("<", "<="),
    (">", ">="),
    ("==", "!="),
    ("===", "!=="),
    ("-eq", "-ne"),
    ("-lt", "-le"),
    ("-gt", "-ge"),
    ("-z", "-n"),
];
const SUMS: [(&str, &str); 4] = [("+", "-"), ("*", "/"), ("+=", "-="), ("*=", "/=")];
const CONNECTIVES: [(&str, &str); 2] = [("&&", "||"), ("and", "or")];

/// Words that begin a line in which no defect is planted.
pub(super) const IMPORTS: [&str; 11] = [
    "import", "use", "from", "package", "include", "require", "extern", "mod", "module", "using",
    "export",
];

/// Words that begin a line which is never dropped as a statement.
const KEPT: [&str; 34] = [
    "return", "if", "elif", "elsif", "else", "unless", "while", "until", "for", "foreach",
    "switch", "match", "case", "try", "catch", "except", "rescue", "finally", "with", "do", "let",
    "const", "var", "val", "pub", "fn", "def", "raise", "throw", "break", "continue", "end",
    "local", "yield",
];
/// Words that begin a statement for logging or debugging.
const TOLD: [&str; 13] = [
    "log", "logger", "logging", "console", "debug", "trace", "info", "warn", "tracing", "slog",
    "Log", "LOG", "assert",
];

/// The other operator of a pair.
fn find_opposite<'s>(pairs: &[(&'s str, &'s str)], sign: &str) -> Option<&'s str> {
    pairs.iter().find_map(|(one, other)| match sign {
        _ if sign == *one => Some(*other),
        _ if sign == *other => Some(*one),
        _ => None,
    })
}

/// Finds all sites in changed lines.
pub(super) fn sites(suite: &Suite, text: &str, is_changed: &dyn Fn(usize) -> bool) -> Vec<Site> {
    let mut finder = Finder {
        suite,
        text,
        is_changed,
        found: Vec::new(),
    };
    for at in 0..suite.tokens.len() {
        if is_changed(suite.tokens[at].line) && !finder.is_import(at) {
            finder.find_condition(at);
            finder.find_sign(at);
            finder.find_constant(at);
            finder.find_result(at);
            finder.find_error(at);
        }
    }
    finder.find_statements();
    finder.find_bodies();
    finder.found
}

struct Finder<'a> {
    suite: &'a Suite<'a>,
    text: &'a str,
    is_changed: &'a dyn Fn(usize) -> bool,
    found: Vec<Site>,
}

impl<'t> Finder<'t> {
    fn tokens(&self) -> &'t [Token<'t>] {
        &self.suite.tokens
    }

    fn language(&self) -> Language {
        self.suite.language
    }

    fn add(&mut self, operator: Operator, range: Range<usize>, with: impl Into<String>) {
        if let Some([first, .., last] | [first @ last]) = self.tokens().get(range) {
            self.found.push(Site {
                operator,
                line: first.line,
                from: first.at,
                to: last.end(),
                with: with.into(),
            });
        }
    }

    /// The text of a range of tokens.
    fn words(&self, range: &Range<usize>) -> &'t str {
        match self.tokens().get(range.clone()) {
            Some([first, .., last] | [first @ last]) => &self.text[first.at..last.end()],
            _ => "",
        }
    }

    /// Whether the line is an import, an attribute or a directive.
    fn is_import(&self, at: usize) -> bool {
        let line = self.tokens()[at].line;
        let first = self.tokens().partition_point(|token| token.line < line);
        let first = &self.tokens()[first];
        let is_variable = self.language() == Php && first.text.starts_with('$');
        !is_variable && (IMPORTS.contains(&first.text) || first.is("#") || first.is("@"))
    }

    /// The end of the statement that contains a token.
    fn statement_end(&self, at: usize) -> usize {
        let tokens = self.tokens();
        let mut end = at + 1;
        while let Some(token) = tokens.get(end) {
            let before = &tokens[end - 1];
            let is_new = token.line > before.last_line()
                && !token.is(".")
                && !token.is("?")
                && !goes_on(before);
            if is_new || token.kind == Kind::Mark && matches!(token.text, ";" | "}" | ")") {
                break;
            }
            if token.kind == Kind::Mark && matches!(token.text, "(" | "[" | "{") {
                end = close(tokens, end);
            }
            end += 1;
        }
        end
    }

    /// `if` and `while`: negates the condition; a new branch is never taken.
    fn find_condition(&mut self, at: usize) {
        let token = self.tokens()[at];
        let is_if = matches!(token.text, "if" | "elif" | "elsif");
        if token.kind != Kind::Word || !is_if && !matches!(token.text, "while" | "unless") {
            return;
        }
        let range = self.condition_range(at);
        let Some(range) = range.filter(|range| range.start < range.end) else {
            return;
        };
        let words = self.words(&range);
        let (negated, never) = match self.language() {
            Shell => match words.strip_prefix("! ") {
                Some(rest) => (rest.to_owned(), format!("false && {words}")),
                None => (format!("! {words}"), format!("false && {words}")),
            },
            Python => (format!("not ({words})"), format!("False and ({words})")),
            Elixir => (format!("not ({words})"), format!("false and ({words})")),
            _ => (format!("!({words})"), format!("false && ({words})")),
        };
        if is_if && self.language() == Go && words.contains("err") && words.contains("nil") {
            self.add(Operator::ErrorIgnored, range.clone(), never);
        } else if is_if && self.is_new_branch(at, &range) {
            self.add(Operator::BranchRemoved, range.clone(), never);
        }
        self.add(Operator::ConditionNegated, range, negated);
    }

    /// The tokens of the condition after a keyword.
    fn condition_range(&self, at: usize) -> Option<Range<usize>> {
        let tokens = self.tokens();
        let line = tokens[at].line;
        let ends: &[&str] = match self.language() {
            Rust | Swift => &["{", "=>", ";"],
            Go => &["{"],
            Python => &[":"],
            Shell => &[";", "then", "do"],
            Ruby | Elixir => &["then", "do"],
            Other => return None,
            _ => {
                let open = tokens.get(at + 1)?;
                return open.is("(").then(|| at + 2..close(tokens, at + 1));
            }
        };
        let of_line = matches!(self.language(), Ruby | Elixir | Shell);
        let mut end = at + 1;
        while let Some(token) = tokens.get(end) {
            if ends.contains(&token.text) && token.kind != Kind::Text
                || of_line && token.line > line
            {
                break;
            }
            if token.kind == Kind::Mark && matches!(token.text, "(" | "[") {
                end = close(tokens, end);
            }
            end += 1;
        }
        let range = at + 1..end;
        let own = tokens.get(range.clone())?;
        if end == tokens.len() || own.iter().any(|token| token.is("let") || token.is("case")) {
            return None;
        }
        // In Go, a statement may precede the condition.
        let last = own.iter().rposition(|token| token.is(";"));
        Some(last.map_or(range.start, |last| range.start + last + 1)..end)
    }

    /// Whether the whole branch is new.
    fn is_new_branch(&self, at: usize, condition: &Range<usize>) -> bool {
        let tokens = self.tokens();
        let line = tokens[at].line;
        let last = if self.language().has_braces() && self.language() != Shell {
            let near = condition.end..tokens.len().min(condition.end + 3);
            let open = near.into_iter().find(|at| tokens[*at].is("{"));
            open.map_or(line, |open| tokens[close(tokens, open)].line)
        } else {
            let first = tokens.partition_point(|token| token.line < line);
            let starts = line_starts(&tokens[condition.end..], false).into_iter();
            let mut starts = starts.map(|start| start + condition.end);
            let end = starts
                .find(|at| tokens[*at].line > line && tokens[*at].column <= tokens[first].column);
            tokens[end.unwrap_or(tokens.len()) - 1].last_line()
        };
        let is_blank = |line: usize| {
            let place = tokens.partition_point(|token| token.line < line);
            tokens.get(place).is_none_or(|token| token.line != line)
        };
        (line..=last).all(|line| (self.is_changed)(line) || is_blank(line))
    }

    /// Replaces an operator between two values, surrounded by spaces.
    fn find_sign(&mut self, at: usize) {
        let tokens = self.tokens();
        let token = tokens[at];
        let (Some(before), Some(after)) =
            (at.checked_sub(1).map(|at| tokens[at]), tokens.get(at + 1))
        else {
            return;
        };
        let is_spaced = before.end() < token.at && token.end() < after.at;
        if !is_spaced || !matches!(token.kind, Kind::Mark | Kind::Word) {
            return;
        }
        let of_shell = self.language() == Shell;
        let closes = matches!(before.text, ")" | "]" | "?");
        let is_value = matches!(before.kind, Kind::Word | Kind::Number) || closes;
        // `||` may also begin a closure.
        let joins = (is_value || before.kind == Kind::Text || before.is("}"))
            && !matches!(before.text, "move" | "return")
            && !(of_shell && token.is("||"));
        if let Some(other) = find_opposite(&COMPARISONS, token.text)
            && of_shell == token.text.starts_with('-')
        {
            self.add(Operator::ComparisonShifted, at..at + 1, other);
        } else if let Some(other) = find_opposite(&CONNECTIVES, token.text).filter(|_| joins) {
            self.add(Operator::ConditionNegated, at..at + 1, other);
        } else if let Some(other) = find_opposite(&SUMS, token.text)
            && is_value
            // In some languages `+` also joins strings.
            && after.kind != Kind::Text
            && !of_shell
            && !matches!(before.text, "return" | "case" | "in" | "yield" | "as" | "mut")
        {
            self.add(Operator::ArithmeticChanged, at..at + 1, other);
        }
    }

    fn find_constant(&mut self, at: usize) {
        let token = self.tokens()[at];
        let with = match (token.kind, token.text) {
            (Kind::Number, text) => other_number(text),
            (Kind::Word, "true") => Some("false".to_owned()),
            (Kind::Word, "false") if self.language() != Shell => Some("true".to_owned()),
            (Kind::Word, "True") => Some("False".to_owned()),
            (Kind::Word, "False") => Some("True".to_owned()),
            (Kind::Text, text) if !self.is_remark(at) => other_text(self.language(), text),
            _ => None,
        };
        if let Some(with) = with {
            self.add(Operator::ConstantChanged, at..at + 1, with);
        }
    }

    /// Whether a string literal is a statement of its own, that is, a docstring.
    fn is_remark(&self, at: usize) -> bool {
        let tokens = self.tokens();
        let begins = at.checked_sub(1).is_none_or(|before| {
            let before = &tokens[before];
            before.last_line() < tokens[at].line && (!goes_on(before) || before.is(":"))
        });
        let ends = tokens
            .get(at + 1)
            .is_none_or(|next| next.line > tokens[at].last_line() || next.is(";"));
        begins && ends
    }

    fn find_result(&mut self, at: usize) {
        let tokens = self.tokens();
        if !tokens[at].is("return") || self.language() == Shell {
            return;
        }
        let end = self.statement_end(at);
        let around = self.suite.items.iter();
        let around = around.filter(|item| item.sort == Sort::Helper && item.body.contains(&at));
        let function = around.min_by_key(|item| item.body.len());
        let with = function.and_then(|function| empty_result(self.language(), tokens, function));
        if let Some(with) = with
            && end > at + 1
            && self.words(&(at + 1..end)) != with
        {
            self.add(Operator::ReturnEmptied, at + 1..end, with);
        }
    }

    fn find_error(&mut self, at: usize) {
        let tokens = self.tokens();
        let token = tokens[at];
        let begins = at.checked_sub(1).is_none_or(|before| {
            let before = tokens[before];
            before.line < token.line || matches!(before.text, ";" | "{" | "}" | ":")
        });
        if self.language() != Shell {
            if begins && (token.is("raise") || token.is("throw")) {
                let end = self.statement_end(at);
                self.add(Operator::ErrorIgnored, at..end, nothing(self.language()));
            }
            return;
        }
        let behind = tokens.get(at + 1).filter(|next| next.line == token.line);
        let behind = behind.map_or("", |next| next.text);
        match token.text {
            "die" => self.add(Operator::ErrorIgnored, at..at + 1, ":"),
            "exit" | "return" if !matches!(behind, "" | "0") => {
                self.add(Operator::ErrorIgnored, at + 1..at + 2, "0");
            }
            "set" if behind.starts_with('-') && behind.contains('e') => {
                self.add(Operator::ErrorIgnored, at..at + 1, ": set");
            }
            _ => {}
        }
    }

    /// Drops statements.
    fn find_statements(&mut self) {
        let (tokens, language) = (self.tokens(), self.language());
        let mut starts = line_starts(tokens, language.has_braces());
        starts.retain(|at| {
            let before = at.checked_sub(1).map(|at| &tokens[at]);
            !tokens[*at].is(".")
                && !before.is_some_and(|it| goes_on(it) && !it.is("{") && !it.is(":"))
        });
        let ends = starts.iter().skip(1).copied().chain([tokens.len()]);
        let ranges: Vec<Range<usize>> = starts
            .iter()
            .zip(ends)
            .map(|(from, to)| *from..to)
            .collect();
        for range in ranges {
            let mut lines = tokens[range.start].line..=tokens[range.end - 1].last_line();
            let is_changed = lines.all(|line| (self.is_changed)(line));
            if !is_changed
                || self.is_import(range.start)
                || !does_something(language, &tokens[range.clone()])
            {
                continue;
            }
            if let Some(call) = self.words(&range).strip_suffix("?;") {
                let ignored = format!("let _ = {call};");
                self.add(Operator::ErrorIgnored, range.clone(), ignored);
            }
            let with = match language {
                Ruby | Elixir => "",
                _ => nothing(language),
            };
            self.add(Operator::StatementDropped, range, with);
        }
    }

    /// Replaces the bodies of functions by an empty result, if at least half of the body changed.
    fn find_bodies(&mut self) {
        let (tokens, language) = (self.tokens(), self.language());
        for item in &self.suite.items {
            let range = item.body.clone();
            let own = &tokens[range.clone()];
            let changed = own.iter().filter(|token| (self.is_changed)(token.line));
            if item.sort != Sort::Helper
                || own.is_empty()
                || changed.count() * 2 < own.len()
                || matches!(language, Shell | Java | CSharp | C)
            {
                continue;
            }
            let Some(value) = empty_result(language, tokens, item) else {
                continue;
            };
            let is_value = matches!(language, Rust | Ruby | Elixir)
                || language == JavaScript && !is_block(tokens, item);
            let with = match is_value {
                true => value,
                false => format!("return {value}"),
            };
            if self.words(&range).trim_end_matches(';') != with {
                self.add(Operator::ReturnEmptied, range, with);
            }
        }
    }
}

fn is_block(tokens: &[Token], item: &Item) -> bool {
    tokens.get(item.head.end).is_some_and(|open| open.is("{"))
}

/// A statement without effect.
fn nothing(language: Language) -> &'static str {
    match language {
        Python => "pass",
        Shell => ":",
        Ruby | Elixir => "nil",
        _ => "",
    }
}

/// Whether a statement has an effect: a call, or an assignment to an existing variable.
fn does_something(language: Language, own: &[Token]) -> bool {
    let (Some(first), Some(last)) = (own.first(), own.last()) else {
        return false;
    };
    let is_other =
        KEPT.contains(&first.text) || TOLD.contains(&first.text.trim_start_matches("debug_"));
    if first.kind != Kind::Word && !first.is("*") || is_other || language == Other {
        return false;
    }
    let count = |text: &str| own.iter().filter(|token| token.is(text)).count();
    let is_whole = count("(") == count(")")
        && count("[") == count("]")
        && count("{") == count("}")
        && !matches!(last.text, ":" | "do" | "," | "then");
    if !is_whole || count(":=") > 0 {
        return false;
    }
    if language == Shell {
        const KEPT_IN_SHELLS: [&str; 6] = ["set", "exit", "shift", "trap", "echo", "printf"];
        let is_part = |c: char| c.is_alphanumeric() || "_-./$".contains(c);
        let is_ending = matches!(first.text, "fi" | "done" | "esac" | "function" | "then");
        return first.text.chars().all(is_part)
            && !is_ending
            && !KEPT_IN_SHELLS.contains(&first.text)
            && count("(") == 0;
    }
    const ASSIGNS: [&str; 9] = ["=", "+=", "-=", "*=", "/=", "|=", "&=", "++", "--"];
    let acts = count("(") > 0
        || ASSIGNS.iter().any(|sign| count(sign) > 0)
        || matches!(language, Ruby | Elixir) && own.len() > 1;
    // `int x = f()` and `class A` are declarations; in Ruby, `save x` is a call.
    let declares = own.len() > 2 && own[0].kind == Kind::Word && own[1].kind == Kind::Word;
    acts && !declares
}

fn other_number(text: &str) -> Option<String> {
    if let Ok(number) = text.parse::<u64>() {
        return Some(number.checked_add(1)?.to_string());
    }
    let number: f64 = text.parse().ok()?;
    text.contains('.').then(|| format!("{:?}", number + 1.0))
}

/// Empties a string literal, or fills an empty one; `None` for a pattern or a literal with interpolated values.
fn other_text(language: Language, text: &str) -> Option<String> {
    let own = inside(text);
    let is_filled = match language {
        Rust | CSharp => own.contains('{'),
        Go | C => own.contains('%'),
        Shell => own.contains(['$', '`']) || !text.starts_with(['"', '\'']),
        Php | Kotlin => own.contains('$'),
        _ => text.starts_with('/'),
    };
    let is_char = matches!(language, Rust | Go | Java | C | CSharp) && text.starts_with('\'');
    if is_filled || is_char || text.contains('\n') || text.len() < 2 {
        return None;
    }
    if own.is_empty() {
        let (before, after) = text.split_at_checked(text.len() / 2 + text.len() % 2)?;
        return Some(format!("{before}planted{after}"));
    }
    let at = text.find(own)?;
    Some(format!("{}{}", &text[..at], &text[at + own.len()..]))
}

// The empty result of a function, by its language and result type.

/// The empty result of a function; `None` if none can be written.
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

/// The non-empty parts of a list, separated by commas.
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
