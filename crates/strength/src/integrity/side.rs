//! A test on one side of a diff, or on both.

use super::assertion::{self, Assertion, Helpers};
use super::constants::Constants;
use super::marks;
use super::remark::Kind;
use super::retired::Retired;
use super::strength::{Strength, fails};
use crate::language::Language;
use crate::lex::{self, Token};
use crate::suite::{Item, Sort, Suite};
use std::collections::{BTreeMap, BTreeSet};

/// A test on one side of the diff.
pub(super) struct Side<'a> {
    pub suite: &'a Suite<'a>,
    pub item: &'a Item,
    pub assertions: Vec<Assertion>,
    /// The test's lines, by their numbers.
    pub lines: Vec<(usize, &'a str)>,
    pub helpers: &'a Helpers,
    /// Numbers that have names outside of tests.
    pub loose: &'a Constants<'a>,
}

pub(super) struct Both<'a, 's> {
    /// Values that came outside of tests into the file of now.
    pub fresh: &'s BTreeSet<&'a str>,
    /// Assertions of tests that came.
    pub spare: &'s BTreeMap<String, usize>,
    pub retired: &'s Retired<'a>,
    pub was: &'s Side<'a>,
    pub is: &'s Side<'a>,
}

impl<'a> Side<'a> {
    pub(super) fn of(
        suite: &'a Suite<'a>,
        item: &'a Item,
        helpers: &'a Helpers,
        lines: &'a [String],
        loose: &'a Constants<'a>,
    ) -> Self {
        let mut own = assertion::assertions(suite, &item.body, helpers);
        if item.sort == Sort::Test {
            own.extend(in_head(suite, item));
        }
        let numbers = suite.lines(item);
        let first = numbers.start.saturating_sub(1).min(lines.len());
        let last = numbers.end.saturating_sub(1).clamp(first, lines.len());
        let numbered = lines[first..last].iter().enumerate();
        Self {
            suite,
            item,
            assertions: own,
            lines: numbered
                .map(|(at, line)| (first + at + 1, line.as_str()))
                .collect(),
            helpers,
            loose,
        }
    }

    /// A script that is one test: its functions are looked at by themselves, its ends by another.
    pub(super) fn without_functions(mut self) -> Self {
        let suite = self.suite;
        let functions: Vec<_> = suite.items.iter().map(|item| item.body.clone()).collect();
        self.assertions.retain(|one| {
            let at = one.tokens.start;
            let place = functions.partition_point(|body| body.start <= at);
            let inside = place > 0 && functions[place - 1].contains(&at);
            let ends = matches!(suite.tokens[at].text, "exit" | "return" | "fail" | "die");
            let defines = suite.tokens.get(at + 1).is_some_and(|next| next.is("("));
            !inside && !ends && !defines
        });
        self
    }

    pub(super) fn tokens(&self) -> &'a [Token<'a>] {
        &self.suite.tokens[self.item.body.clone()]
    }

    /// Nothing in it does anything.
    pub(super) fn is_empty(&self) -> bool {
        let body = self.tokens();
        if self.suite.language == Language::JavaScript {
            let arrow = body
                .iter()
                .position(|token| token.is("=>") || token.is("function"));
            return arrow.is_some_and(|arrow| body[arrow + 1..].iter().all(is_nothing));
        }
        if self.suite.language == Language::Go && self.item.head.len() == 3 {
            // `t.Run("name", func(t *testing.T) {…}`
            let open = body.iter().position(|token| token.is("{"));
            return open.is_some_and(|open| body[open + 1..].iter().all(is_nothing));
        }
        body.iter().all(is_nothing)
    }

    pub(super) fn matching(&self, is_one: impl Fn(&str) -> bool) -> Vec<(usize, &'a str)> {
        self.lines
            .iter()
            .filter(|(_, line)| is_one(line))
            .copied()
            .collect()
    }

    /// A test that came with the diff and could never fail.
    pub(super) fn find_born_weak(&self) -> Vec<(Kind, usize)> {
        let mut found = Vec::new();
        for (line, _) in self.matching(marks::is_unconditional) {
            found.push((Kind::Skipped, line));
        }
        if self.is_empty() && !self.lines.iter().any(|(_, line)| marks::is_skip(line)) {
            found.push((Kind::Emptied, self.item.line));
        }
        let idle = self
            .assertions
            .iter()
            .filter(|one| one.strength == Strength::Idle);
        found.extend(idle.map(|one| (Kind::Weakened, one.line)));
        found
    }

    pub(super) fn weight(&self) -> usize {
        let real = self
            .assertions
            .iter()
            .filter(|one| one.strength > Strength::Idle);
        real.map(|one| one.weight).sum()
    }

    /// It fails by itself, or asks no more than whether a call went well.
    pub(super) fn says_little(&self, one: &Assertion) -> bool {
        let own = &self.suite.tokens[one.tokens.clone()];
        let of_error = self.suite.language == Language::Go
            && own.iter().any(|token| token.is("err"))
            && one.strength == Strength::Truth;
        one.strength == Strength::Idle
            || of_error
            || fails(own) && !own.iter().any(|token| token.is("if"))
    }

    pub(super) fn text(&self, one: &Assertion) -> String {
        assertion::text(&self.suite.tokens, &one.tokens)
    }
}

/// A value that is looked at; a format of Go says what went wrong.
pub(super) fn is_value(language: Language, token: &Token) -> bool {
    let format = language == Language::Go && token.text.contains('%');
    matches!(token.kind, lex::Kind::Number | lex::Kind::Text) && !format
}

fn is_nothing(token: &Token) -> bool {
    match token.kind {
        lex::Kind::Mark => true,
        lex::Kind::Text => true,
        lex::Kind::Word => matches!(
            token.text,
            "pass"
                | "return"
                | "true"
                | "async"
                | "todo"
                | "unimplemented"
                | "Ok"
                | "t"
                | "nil"
                | "done"
                | "Unit"
                | ":"
        ),
        _ => false,
    }
}

/// What an attribute asserts: `#[should_panic(expected = "…")]`, `@Test(expected = …)`.
fn in_head(suite: &Suite, item: &Item) -> Vec<Assertion> {
    let tokens = &suite.tokens[item.head.clone()];
    // `#[test_case("a" => 1)]` holds what is answered against it.
    let row = tokens.iter().position(|token| token.is("test_case"));
    if let Some(at) = row
        && let Some(arrow) = tokens.iter().position(|token| token.is("=>"))
        && arrow > at
    {
        return vec![Assertion {
            line: tokens[at].line,
            strength: Strength::Exact,
            tokens: item.head.start + at..item.head.end,
            weight: 1,
            guards: 0,
        }];
    }
    let expects = tokens.iter().position(|token| {
        token.is("should_panic") || token.is("expected") || token.is("expectedException")
    });
    let Some(at) = expects else { return Vec::new() };
    let end = (at..tokens.len())
        .find(|at| tokens[*at].is("]"))
        .unwrap_or(at + 1);
    let has_text = tokens.iter().skip(at).take(6).any(|token| {
        token.kind == lex::Kind::Text || token.is("expected") && !tokens[at].is("should_panic")
    });
    vec![Assertion {
        line: tokens[at].line,
        strength: if has_text {
            Strength::Partial
        } else {
            Strength::Truth
        },
        tokens: item.head.start + at..item.head.start + end,
        weight: 1,
        guards: 0,
    }]
}
