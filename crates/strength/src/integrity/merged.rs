//! Assertions that stand in another test now: of tests that were merged, and of those that were split.

use super::assertion::Assertion;
use super::side::Side;
use crate::lex::{Kind, Token};
use std::collections::{BTreeMap, BTreeSet};

/// Tests that one which is gone is sought in.
const CANDIDATES: usize = 400;

/// What a test is that came or grew: as it was, and as it is.
pub(super) type Grown<'s, 'a> = (Option<&'s Side<'a>>, &'s Side<'a>);

/// One test of now holds all that this one asserted, and did not before.
pub(super) fn is_merged(lost: &Side, grown: &[Grown]) -> bool {
    let own: Vec<&Assertion> = lost.assertions.iter().collect();
    if own.is_empty() || own.len() > CANDIDATES {
        return false;
    }
    let values = |tokens: &[Token]| -> BTreeSet<String> {
        let texts = tokens
            .iter()
            .filter(|one| matches!(one.kind, Kind::Text | Kind::Number));
        texts
            .map(|one| crate::lex::inside(one.text).to_owned())
            .collect()
    };
    let all = values(lost.tokens());
    grown.iter().take(CANDIDATES).any(|(was, is)| {
        let there = values(is.tokens());
        let kept = all.intersection(&there).count() * 10 >= all.len() * 8;
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
    let place = to
        .assertions
        .iter()
        .zip(taken.iter())
        .position(|(other, taken)| {
            let tokens = &to.suite.tokens[other.tokens.clone()];
            let same = own.len() == tokens.len();
            (whole || same) && !(*taken && same) && is_within(own, tokens)
        });
    if let Some(place) = place {
        taken[place] = true;
    }
    place.is_some()
}

/// These tokens stand among the others in this order.
fn is_within(own: &[Token], others: &[Token]) -> bool {
    let mut left = others.iter();
    own.iter()
        .all(|token| left.any(|other| other.text == token.text))
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
    let tokens = &side.suite.tokens[side.item.head.start..side.item.body.end];
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
