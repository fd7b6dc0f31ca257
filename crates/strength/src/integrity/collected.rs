//! Tests that stand where no runner finds them any more.

use super::case::Case;
use crate::class::{Class, Edited};
use crate::language::Language;
use crate::lex::Token;
use crate::suite::{Sort, Suite};
use std::collections::BTreeSet;

/// A runner found it, and does not any more: by its file's name, or by its class's.
pub(super) fn is_out_of_sight(edits: &[Edited], was: &Case, is: &Case) -> bool {
    let (before, after) = (edits[was.file].path, edits[is.file].path);
    is_found(was.suite.language, before) && !is_found(is.suite.language, after)
        || is.suite.language == Language::Python && in_plain_class(is) && !in_plain_class(was)
}

fn is_found(language: Language, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    match language {
        Language::Go => name.ends_with("_test.go") && !name.starts_with(['_', '.']),
        Language::Python => {
            name.starts_with("test_") || name.ends_with("_test.py") || name.starts_with("test")
        }
        Language::JavaScript => {
            name.contains(".test.") || name.contains(".spec.") || path.contains("test")
        }
        _ => true,
    }
}

/// A class that is none of tests by its name, nor by what it is made from.
fn in_plain_class(case: &Case) -> bool {
    let own = case.item.head.start;
    let mut groups =
        case.suite.items.iter().filter(|item| {
            item.sort == Sort::Group && item.body.start <= own && own < item.body.end
        });
    groups.next_back().is_some_and(|group| {
        let head = &case.suite.tokens[group.head.clone()];
        // Where others are made from it, they hold its tests.
        let tokens = case.suite.tokens.iter();
        let named = tokens.filter(|token| token.text == group.name).take(2);
        !group.name.contains("Test")
            && !head.iter().any(|token| token.is("("))
            && named.count() == 1
    })
}

/// Modules of Rust that hold tests and that nothing lists any more: their names and lines of before.
pub(super) fn list_unlisted(
    edits: &[Edited],
    file: usize,
    before: &Suite,
    after: &Suite,
) -> Vec<(String, usize)> {
    let edit = &edits[file];
    if before.language != Language::Rust {
        return Vec::new();
    }
    let listed = |suite: &'_ Suite| -> BTreeSet<String> {
        list_modules(&suite.tokens)
            .map(|name| name.text.to_owned())
            .collect()
    };
    let now = listed(after);
    let moved = |name: &str| {
        edits.iter().any(|other| {
            let path = other.path;
            path.ends_with(&format!("/{name}.rs")) || path.contains(&format!("/{name}/"))
        })
    };
    let gone = list_modules(&before.tokens).filter(|name| {
        let of_tests = edit.class == Class::Test || name.text.starts_with("test");
        of_tests && !now.contains(name.text) && !moved(name.text)
    });
    gone.take(20)
        .map(|name| (name.text.to_owned(), name.line))
        .collect()
}

/// `mod name;`
fn list_modules<'t, 'a>(tokens: &'t [Token<'a>]) -> impl Iterator<Item = &'t Token<'a>> {
    let ends = |three: &&[Token]| three[0].is("mod") && three[2].is(";");
    tokens.windows(3).filter(ends).map(|three| &three[1])
}

/// Tests of a script that calls its own tests, which it does not call any more: their lines of now.
pub(super) fn list_uncalled(before: &Suite, after: &Suite) -> Vec<(String, usize)> {
    if after.language != Language::Shell {
        return Vec::new();
    }
    let called = |suite: &'_ Suite| -> BTreeSet<String> {
        let tokens = &suite.tokens;
        let calls = (0..tokens.len()).filter(|at| {
            let defines = tokens.get(at + 1).is_some_and(|next| next.is("("))
                || *at > 0 && tokens[at - 1].is("function");
            !defines
        });
        calls.map(|at| tokens[at].text.to_owned()).collect()
    };
    let (was, is) = (called(before), called(after));
    let known: BTreeSet<&str> = before.tests().map(|(test, _)| test.name.as_str()).collect();
    let own = after.tests().map(|(test, _)| test);
    let gone = own.filter(|test| {
        let name = test.name.as_str();
        known.contains(name) && was.contains(name) && !is.contains(name)
    });
    gone.map(|test| (test.name.clone(), test.line)).collect()
}
