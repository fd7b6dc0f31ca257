//! One difference between two contracts.

use crate::diagnostic::{Lines, clean};

/// Characters of a value that are shown.
const SHOWN: usize = 80;

/// How what a contract asks for now stands to what it asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// It asks for more.
    Stronger,
    /// It asks for less.
    Weaker,
    /// It asks for something else.
    NotComparable,
}

/// One difference: where it is, how it weighs, and both values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// The file.
    pub file: String,
    /// The field in it; empty = the file as a whole.
    pub field: String,
    /// How it weighs.
    pub strength: Strength,
    /// What happened to it, in words that follow the field.
    pub what: String,
    /// The file starts the judge, or is a part of how it is started.
    pub is_judge: bool,
}

impl Difference {
    pub(super) fn new(file: &str, field: &str, strength: Strength, what: String) -> Self {
        Self {
            file: file.to_owned(),
            field: field.to_owned(),
            strength,
            what,
            is_judge: false,
        }
    }

    /// What is asked for is not what was asked for, nor more.
    pub fn is_weaker(&self) -> bool {
        self.strength != Strength::Stronger
    }

    /// In one line.
    pub fn describe(&self) -> String {
        let word = match self.strength {
            Strength::Stronger => "stronger",
            Strength::Weaker => "weaker",
            Strength::NotComparable => "not comparable",
        };
        let field = match self.field.is_empty() {
            true => String::new(),
            false => format!(" `{}`", clean(&self.field, Lines::Fold)),
        };
        format!("`{}`{field} {} ({word})", self.file, self.what)
    }
}

/// A value as it is shown: one line, not too long.
pub(super) fn show(value: &str) -> String {
    let line = clean(value.trim(), Lines::Fold);
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("`{}…`", &line[..end]),
        None => format!("`{line}`"),
    }
}
