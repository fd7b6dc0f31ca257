//! Assertions that stand in another test now: of tests that were merged, and of those that were split.

use super::assertion::Assertion;
use super::side::Side;
use crate::lex::{Kind, Token};
use std::collections::{BTreeMap, BTreeSet};

/// Tests that one which is gone is sought in.
pub(super) const CANDIDATES: usize = 400;

/// A test that came or grew: as it was, and as it is, with the values in it.
pub(super) struct Grown<'s, 'a> {
    was: Option<&'s Side<'a>>,
    is: &'s Side<'a>,
    values: BTreeSet<&'a str>,
}

impl<'s, 'a> Grown<'s, 'a> {
    pub(super) fn of(was: Option<&'s Side<'a>>, is: &'s Side<'a>) -> Self {
        let values = list_values(is.tokens());
        Self { was, is, values }
    }
}

fn list_values<'a>(tokens: &[Token<'a>]) -> BTreeSet<&'a str> {
    let texts = tokens
        .iter()
        .filter(|one| matches!(one.kind, Kind::Text | Kind::Number));
    texts.map(|one| crate::lex::inside(one.text)).collect()
}

/// One test of now holds all that this one asserted, and did not before.
pub(super) fn is_merged(lost: &Side, grown: &[Grown]) -> bool {
    let own: Vec<&Assertion> = lost.assertions.iter().collect();
    if own.is_empty() || own.len() > CANDIDATES {
        return false;
    }
    let all = list_values(lost.tokens());
    grown
        .iter()
        .take(CANDIDATES)
        .any(|Grown { was, is, values }| {
            let kept = all.intersection(values).count() * 10 >= all.len() * 8;
            kept && {
                let mut taken = vec![false; is.assertions.len()];
                own.iter().all(|one| {
                    let held = find_held(lost, one, is, &mut taken);
                    held && !was.is_some_and(|was| {
                        find_held(lost, one, was, &mut vec![false; was.assertions.len()])
                    })
                })
            }
        })
}

/// The same assertion stands there, or one that says all of it and more.
fn find_held(from: &Side, one: &Assertion, to: &Side, taken: &mut [bool]) -> bool {
    let own = &from.suite.tokens[one.tokens.clone()];
    let whole = own.len() > 4;
    let (given, other_given) = (locals(from), locals(to));
    let place = to
        .assertions
        .iter()
        .zip(taken.iter())
        .position(|(other, taken)| {
            let tokens = &to.suite.tokens[other.tokens.clone()];
            let same = own.len() == tokens.len();
            (whole || same) && !(*taken && same) && is_within((own, &given), (tokens, &other_given))
        });
    if let Some(place) = place {
        taken[place] = true;
    }
    place.is_some()
}

/// These tokens stand among the others in this order, whatever a test calls its own values.
fn is_within(
    (own, given): (&[Token], &BTreeSet<&str>),
    (others, other_given): (&[Token], &BTreeSet<&str>),
) -> bool {
    let mut left = others.iter();
    own.iter().all(|token| {
        let local = given.contains(token.text);
        left.any(|other| other.text == token.text || local && other_given.contains(other.text))
    })
}

/// Assertions of tests that came, without the names that they give to what they look at.
pub(super) fn list_spare<'s>(sides: impl Iterator<Item = &'s Side<'s>>) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for side in sides {
        let own = locals(side);
        for one in &side.assertions {
            *found.entry(shape(side, one, &own)).or_default() += 1;
        }
    }
    found
}

/// Keeps those that no new test holds.
pub(super) fn keep_those_without_place(
    side: &Side,
    gone: &mut Vec<&Assertion>,
    spare: &BTreeMap<String, usize>,
) {
    if gone.is_empty() || spare.is_empty() {
        return;
    }
    let own = locals(side);
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    gone.retain(|one| {
        let shape = shape(side, one, &own);
        let there = spare.get(&shape).copied().unwrap_or(0);
        let used = used.entry(shape).or_default();
        *used += 1;
        *used > there
    });
}

/// Names that a test gives to values.
pub(super) fn locals<'a>(side: &Side<'a>) -> BTreeSet<&'a str> {
    list_locals(&side.suite.tokens[side.item.head.start..side.item.body.end])
}

/// Names that are given to values among these tokens.
pub(super) fn list_locals<'a>(tokens: &[Token<'a>]) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    for (at, token) in tokens.iter().enumerate() {
        let assigned = tokens
            .get(at + 1)
            .is_some_and(|next| next.is("=") || next.is(":="));
        let declared = at > 0
            && matches!(
                tokens[at - 1].text,
                "let" | "const" | "var" | "mut" | "as" | "for"
            );
        if token.kind == Kind::Word && (assigned || declared) {
            found.insert(token.text);
        }
    }
    found
}

fn shape(side: &Side, one: &Assertion, locals: &BTreeSet<&str>) -> String {
    let tokens = side.suite.tokens[one.tokens.clone()].iter();
    let words: Vec<&str> = tokens
        .map(|token| {
            if locals.contains(token.text) {
                "_"
            } else {
                token.text
            }
        })
        .collect();
    words.join(" ")
}
