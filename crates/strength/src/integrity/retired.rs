//! What left the code: functions, types, options and routes whose tests may go with them.

use crate::class::{Class, Edited};
use crate::language::Language;
use crate::lex::{Kind, Token, inside};
use crate::suite::{Item, Sort, Suite};
use std::collections::{BTreeMap, BTreeSet};

/// Functions that one which is gone is held against: it may only have another name.
const CANDIDATES: usize = 200;

/// Words before a name that is made there.
const MAKERS: [&str; 17] = [
    "fn",
    "def",
    "func",
    "function",
    "class",
    "struct",
    "enum",
    "trait",
    "type",
    "interface",
    "const",
    "static",
    "mod",
    "fun",
    "record",
    "object",
    "macro_rules",
];

/// Names and texts that code held and no code holds any more.
#[derive(Debug, Default)]
pub(super) struct Retired<'a> {
    names: BTreeSet<&'a str>,
    texts: BTreeSet<&'a str>,
    /// Other words, and texts of one, which may be anything: fields, variants, commands.
    plain: BTreeSet<&'a str>,
}

impl<'a> Retired<'a> {
    pub(super) fn list(
        edits: &[Edited],
        before: &[Option<Suite<'a>>],
        after: &[Option<Suite<'a>>],
    ) -> Self {
        let of_code = |(edit, suite): (&Edited, &'_ Option<Suite<'a>>)| -> bool {
            edit.class == Class::Source && suite.is_some()
        };
        let code = |suites: &'_ [Option<Suite<'a>>]| -> Vec<usize> {
            let numbered = edits.iter().zip(suites).enumerate();
            numbered
                .filter(|(_, pair)| of_code(*pair))
                .map(|(at, _)| at)
                .collect()
        };
        let mut names = BTreeSet::new();
        let mut texts = BTreeSet::new();
        let mut plain = BTreeSet::new();
        for at in code(before) {
            let Some(suite) = &before[at] else { continue };
            let own: Vec<Token> = suite.list_untested();
            names.extend(list_made(&own));
            texts.extend(
                own.iter()
                    .filter(|one| is_address(one))
                    .map(|one| inside(one.text)),
            );
            let words = own
                .iter()
                .filter(|one| is_key(one) || one.kind == Kind::Word && one.text.len() > 3);
            plain.extend(words.map(|one| inside(one.text)));
        }
        for at in code(after) {
            let Some(suite) = &after[at] else { continue };
            for token in suite.list_untested() {
                match token.kind {
                    Kind::Text => {
                        texts.remove(inside(token.text));
                        plain.remove(inside(token.text));
                    }
                    _ => {
                        names.remove(token.text);
                        plain.remove(token.text);
                    }
                }
            }
        }
        let (was, is) = (functions(edits, before), functions(edits, after));
        let known: BTreeSet<&str> = was.iter().map(|(name, _)| *name).collect();
        let came: Vec<&(&str, BTreeSet<&str>)> = is
            .iter()
            .filter(|(name, _)| !known.contains(name))
            .take(CANDIDATES)
            .collect();
        let gone = was.iter().filter(|(name, _)| names.contains(name));
        let renamed: Vec<&str> = gone
            .take(CANDIDATES)
            .filter(|(_, body)| came.iter().any(|(_, other)| is_much_the_same(body, other)))
            .map(|(name, _)| *name)
            .collect();
        names.retain(|name| !renamed.contains(name));
        plain.retain(|name| !renamed.contains(name));
        Self {
            names,
            texts,
            plain,
        }
    }

    /// One of these tokens of a test names what is gone, or says a key that code knew.
    pub(super) fn is_told_in(&self, language: Language, tokens: &[Token]) -> bool {
        self.is_named_in(language, tokens)
            || tokens
                .iter()
                .any(|one| one.kind != Kind::Mark && self.plain.contains(inside(one.text)))
    }

    /// One of these tokens names what is gone.
    pub(super) fn is_named_in(&self, language: Language, tokens: &[Token]) -> bool {
        if self.names.is_empty() && self.texts.is_empty() {
            return false;
        }
        let of_shell = language == Language::Shell;
        tokens.iter().any(|token| match token.kind {
            Kind::Word if of_shell => self.has_word(token.text),
            Kind::Word => self.names.contains(token.text),
            Kind::Text if of_shell => self.has_word(token.text),
            Kind::Text => self.texts.contains(inside(token.text)),
            _ => false,
        })
    }

    fn has_word(&self, text: &str) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        self.texts.contains(inside(text))
            || text
                .split(|c: char| !is_part(c))
                .any(|word| self.names.contains(word) || self.texts.contains(word))
    }
}

/// Names that are made among these tokens.
fn list_made<'a>(tokens: &[Token<'a>]) -> Vec<&'a str> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != Kind::Word {
            continue;
        }
        let before = at.checked_sub(1).map(|at| tokens[at]);
        let is = |step: usize, text: &str| tokens.get(at + step).is_some_and(|t| t.is(text));
        let by_word = before.is_some_and(|one| {
            MAKERS.contains(&one.text)
                || one.is("!") && at > 1 && tokens[at - 2].is("macro_rules")
                // `func (s *Store) Get(`
                || one.is(")") && is(1, "(") && has_receiver(tokens, at)
        });
        let of_module = before.is_some_and(|one| one.is("."))
            && at > 1
            && tokens[at - 2].is("exports")
            && is(1, "=");
        let begins = before.is_none_or(|one| one.line < token.line);
        let of_shell = begins && is(1, "(") && is(2, ")") && is(3, "{");
        // `import) …;;` of a `case`.
        let of_case = of_shell_case(tokens, at);
        // A method of a class of JavaScript or Java.
        let of_class =
            begins && is(1, "(") && before.is_some_and(|one| matches!(one.text, "}" | "{" | ";"));
        if (by_word || of_module || of_shell || of_case || of_class) && token.text.len() > 2 {
            found.push(token.text);
        }
    }
    found
}

fn of_shell_case(tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).map(|at| tokens[at]);
    tokens
        .get(at + 1)
        .is_some_and(|next| matches!(next.text, ")" | "|"))
        && before.is_some_and(|one| {
            matches!(one.text, "in" | ";;" | "|") || one.is(";") || one.line < tokens[at].line
        })
        && tokens[at..]
            .iter()
            .take(80)
            .any(|one| matches!(one.text, ";;" | "esac"))
}

fn has_receiver(tokens: &[Token], at: usize) -> bool {
    let near = at.saturating_sub(8)..at;
    tokens[near].iter().any(|token| token.is("func"))
}

/// An option or a route: `--json`, `/v1/items`.
fn is_address(token: &Token) -> bool {
    let own = inside(token.text);
    let begins = own.starts_with("--") || own.starts_with('/');
    matches!(token.kind, Kind::Text | Kind::Word)
        && begins
        && own.len() > 3
        && !own.contains(char::is_whitespace)
}

/// A text of one word: a kind, a command, a field.
fn is_key(token: &Token) -> bool {
    let own = inside(token.text);
    token.kind == Kind::Text
        && own.len() > 2
        && own.starts_with(char::is_alphabetic)
        && own.chars().all(|c| c.is_alphanumeric() || "_-".contains(c))
}

/// Functions of code, each with the words and values in it.
fn functions<'a>(
    edits: &[Edited],
    suites: &[Option<Suite<'a>>],
) -> Vec<(&'a str, BTreeSet<&'a str>)> {
    let mut found: BTreeMap<&'a str, BTreeSet<&'a str>> = BTreeMap::new();
    for (edit, suite) in edits.iter().zip(suites) {
        let Some(suite) = suite.as_ref().filter(|_| edit.class == Class::Source) else {
            continue;
        };
        let helpers = suite.items.iter().filter(|item| item.sort == Sort::Helper);
        for helper in helpers {
            let Some(name) = find_name(suite, helper) else {
                continue;
            };
            let body = suite.tokens[helper.body.clone()].iter();
            let words = body
                .filter(|token| token.kind != Kind::Mark)
                .map(|token| token.text);
            found.entry(name).or_default().extend(words);
        }
    }
    found.into_iter().collect()
}

fn find_name<'a>(suite: &Suite<'a>, item: &Item) -> Option<&'a str> {
    let head = &suite.tokens[item.head.clone()];
    head.iter()
        .find(|token| token.text == item.name)
        .map(|token| token.text)
}

fn is_much_the_same(a: &BTreeSet<&str>, b: &BTreeSet<&str>) -> bool {
    let both = a.intersection(b).count();
    both > 1 && both * 10 >= a.len().max(b.len()) * 7
}
