//! Tests of a diff's files, each with where it stands and what it holds.

use super::content::Content;
use crate::lex::Token;
use crate::suite::{Item, Suite};
use std::collections::BTreeSet;

/// A test, and where it stands.
#[derive(Debug)]
pub(super) struct Case<'a> {
    /// Which file of the diff.
    pub file: usize,
    pub item: &'a Item,
    pub suite: &'a Suite<'a>,
    pub within: String,
    pub body: String,
    pub content: Content<'a>,
    /// Words of its name.
    pub named: BTreeSet<String>,
}

/// The tests of the files' texts.
pub(super) fn list_cases<'a>(suites: &'a [Option<Suite<'a>>]) -> Vec<Case<'a>> {
    let mut found = Vec::new();
    for (file, suite) in suites.iter().enumerate() {
        let Some(suite) = suite else { continue };
        for (item, within) in suite.tests() {
            let tokens = &suite.tokens[item.body.clone()];
            found.push(Case {
                file,
                item,
                suite,
                within,
                body: join(tokens),
                content: Content::of(suite.language, tokens),
                named: split_name(&item.name),
            });
        }
    }
    found
}

/// Tokens as one text, without what separates them.
pub(super) fn join(tokens: &[Token]) -> String {
    let texts = tokens.iter().map(|token| token.text);
    let told: Vec<&str> = texts.filter(|text| !matches!(*text, ";" | ",")).collect();
    told.join(" ")
}

/// The words of a name that tell something.
fn split_name(name: &str) -> BTreeSet<String> {
    const PLAIN: [&str; 26] = [
        "test", "tests", "a", "an", "the", "is", "are", "be", "it", "its", "of", "with", "to",
        "in", "on", "when", "for", "and", "should", "does", "that", "by", "as", "at", "will",
        "from",
    ];
    let mut found = BTreeSet::new();
    let mut word = String::new();
    let mut lower = false;
    for c in name.chars().chain([' ']) {
        if !c.is_alphanumeric() || lower && c.is_uppercase() {
            // A plural or a verb's ending is no other word.
            let stem = word.trim_end_matches('s');
            if !PLAIN.contains(&word.as_str()) && !stem.is_empty() {
                found.insert(stem.to_owned());
            }
            word.clear();
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        lower = c.is_lowercase();
    }
    found
}
