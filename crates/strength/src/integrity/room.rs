//! The same assertion with more room: a tolerance that grew, an error of any kind.

use super::assertion::Assertion;
use super::constants::{Constants, list_constants, resolve};
use super::side::Side;
use super::words;
use crate::lex::{Kind, Token};
use std::collections::BTreeMap;

/// How many times a bound must grow until it is another one.
const FACTOR: f64 = 5.0;

/// A line where an assertion that came says the same as one that is gone, with more room.
pub(super) fn looser(
    was: &Side,
    gone: &[&Assertion],
    is: &Side,
    came: &[&Assertion],
) -> Option<usize> {
    if gone.is_empty() || came.is_empty() {
        return None;
    }
    let (own_before, own_after) = (list_own(was), list_own(is));
    for old in gone {
        let before = &was.suite.tokens[old.tokens.clone()];
        for new in came {
            let after = &is.suite.tokens[new.tokens.clone()];
            if before.len() == after.len()
                && has_more_room(
                    before,
                    after,
                    (&own_before, was.loose),
                    (&own_after, is.loose),
                )
            {
                return Some(new.line);
            }
            if has_new_room(before, after) {
                return Some(new.line);
            }
            let raises = |tokens: &[Token]| {
                tokens
                    .iter()
                    .any(|token| words::RAISES.contains(&token.text))
            };
            if raises(before)
                && raises(after)
                && new.strength < old.strength
                && gone.len() == came.len()
            {
                return Some(new.line);
            }
        }
    }
    None
}

/// A line of an assertion that reads as before, whose named bound is another one now.
pub(super) fn find_wider(was: &Side, is: &Side) -> Option<usize> {
    let bounded = |side: &Side, one: &Assertion| is_bounded(&side.suite.tokens[one.tokens.clone()]);
    if !is.assertions.iter().any(|one| bounded(is, one)) {
        return None;
    }
    let (own_before, own_after) = (list_own(was), list_own(is));
    let known: BTreeMap<String, &Assertion> = was
        .assertions
        .iter()
        .map(|one| (was.text(one), one))
        .collect();
    let wider = is
        .assertions
        .iter()
        .filter(|one| bounded(is, one))
        .find(|one| {
            known.get(&is.text(one)).is_some_and(|old| {
                has_more_room(
                    &was.suite.tokens[old.tokens.clone()],
                    &is.suite.tokens[one.tokens.clone()],
                    (&own_before, was.loose),
                    (&own_after, is.loose),
                )
            })
        });
    wider.map(|one| one.line)
}

fn list_own<'a>(side: &Side<'a>) -> Constants<'a> {
    list_constants(&side.suite.tokens[side.item.head.start..side.item.body.end])
}

const TOLERANCES: [&str; 26] = [
    "approx",
    "isclose",
    "allclose",
    "assert_allclose",
    "assertAlmostEqual",
    "toBeCloseTo",
    "closeTo",
    "within",
    "InDelta",
    "InEpsilon",
    "delta",
    "epsilon",
    "tolerance",
    "assert_relative_eq",
    "assert_abs_diff_eq",
    "assert_ulps_eq",
    "assert_in_delta",
    "EXPECT_NEAR",
    "threshold",
    "failureThreshold",
    "maxDiffPixels",
    "maxDiffPixelRatio",
    "atol",
    "rtol",
    "EquateApprox",
    "isCloseTo",
];
const PLACES: [&str; 3] = ["assertAlmostEqual", "toBeCloseTo", "decimal"];

fn has(tokens: &[Token], list: &[&str]) -> bool {
    tokens.iter().any(|token| list.contains(&token.text))
}

/// It holds what it looks at to a bound.
fn is_bounded(tokens: &[Token]) -> bool {
    const BOUNDS: [&str; 8] = [
        "<",
        "<=",
        "assertLess",
        "assertLessEqual",
        "toBeLessThan",
        "toBeLessThanOrEqual",
        "-lt",
        "-le",
    ];
    // `if diff > eps { t.Errorf(…) }`: it fails beyond.
    let fails_beyond =
        tokens.first().is_some_and(|first| first.is("if")) && has(tokens, &[">", ">="]);
    has(tokens, &BOUNDS) || has(tokens, &TOLERANCES) || fails_beyond
}

fn has_more_room(
    before: &[Token],
    after: &[Token],
    (own_before, loose_before): (&Constants, &Constants),
    (own_after, loose_after): (&Constants, &Constants),
) -> bool {
    if !is_bounded(before) || before.len() != after.len() {
        return false;
    }
    let was = resolve(before, own_before, loose_before);
    let is = resolve(after, own_after, loose_after);
    let same = was
        .iter()
        .zip(&is)
        .all(|(a, b)| a.0 == b.0 || a.1.is_some() && b.1.is_some());
    if !same {
        return false;
    }
    let named_delta = before.iter().any(|token| token.is("delta"));
    let places = has(before, &PLACES) && !named_delta;
    (0..was.len()).any(|at| {
        let (Some(a), Some(b)) = (was[at].1, is[at].1) else {
            return false;
        };
        let named = before[at].kind != Kind::Number || after[at].kind != Kind::Number;
        if a == b || named && !is_bound(before, at) {
            return false;
        }
        if places {
            b < a
        } else {
            b >= a * FACTOR && b > 0.0
        }
    })
}

/// What stands here is the bound, not what is held to it.
fn is_bound(tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |at| tokens[at].text);
    let after = tokens.get(at + 1).map_or("", |token| token.text);
    let compared = matches!(before, "<" | "<=" | "-lt" | "-le" | "=" | ":")
        || matches!(after, ">" | ">=")
        || matches!(before, ">" | ">=") && tokens.first().is_some_and(|first| first.is("if"));
    // The last of several: `assertLess(x, LIMIT)`, `InDelta(t, a, b, delta)`.
    let last = before == "," && matches!(after, ")" | ",");
    let alone = before == "("
        && after == ")"
        && at > 1
        && matches!(
            tokens[at - 2].text,
            "toBeLessThan" | "toBeLessThanOrEqual" | "within"
        );
    compared || last || alone
}

/// A tolerance is given where none was.
fn has_new_room(before: &[Token], after: &[Token]) -> bool {
    const NAMED: [&str; 10] = [
        "abs",
        "rel",
        "atol",
        "rtol",
        "delta",
        "epsilon",
        "tolerance",
        "abs_tol",
        "rel_tol",
        "max_relative",
    ];
    let given = |tokens: &[Token]| {
        tokens.windows(3).any(|three| {
            NAMED.contains(&three[0].text)
                && matches!(three[1].text, "=" | ":")
                && three[2].kind == Kind::Number
        })
    };
    has(before, &TOLERANCES) && has(after, &TOLERANCES) && !given(before) && given(after)
}
