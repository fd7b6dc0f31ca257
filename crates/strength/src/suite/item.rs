//! A function, a test or a group of tests.

use crate::lex::{Kind, Token};
use std::ops::Range;

/// A function, a test, or a group of tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its own name, without the groups it stands in.
    pub name: String,
    /// What it is.
    pub sort: Sort,
    /// The line that names it, from 1.
    pub line: usize,
    /// Tokens before its body: attributes, decorators, name, parameters.
    pub head: Range<usize>,
    /// Tokens of its body, without what encloses them.
    pub body: Range<usize>,
}

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// A runner runs it.
    Test,
    /// It holds tests, or other items.
    Group,
    /// Others call it.
    Helper,
}

/// The line in which a token ends.
pub(crate) fn last_line(token: &Token) -> usize {
    token.line + token.text.matches('\n').count()
}

/// The token is a word that reads so, and none that something is asked of.
pub(super) fn is_own_word(tokens: &[Token], at: usize, text: &str) -> bool {
    let before = at.checked_sub(1).map(|at| tokens[at]);
    tokens[at].kind == Kind::Word
        && tokens[at].text == text
        && !before.is_some_and(|token| token.is(".") || token.is("?.") || token.is("->"))
}
