//! What a test would notice less than before.

use super::assertion::Assertion;
use super::content::is_said;
use super::merged;
use super::narrow::narrower;
use super::room::{find_wider, looser};
use super::side::{Both, Side, is_value};
use super::strength::Strength;
use super::words;
use crate::language::Language;
use crate::lex;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

impl Both<'_, '_> {
    /// The line from which on it would notice less.
    pub(super) fn notices_less(&self) -> Option<usize> {
        let (mut gone, mut came) = (remaining(self.was, self.is), remaining(self.is, self.was));
        merged::keep_those_without_place(self.was, &mut gone, self.spare);
        gone.retain(|one| {
            let tokens = &self.was.suite.tokens[one.tokens.clone()];
            !self.retired.is_named_in(self.was.suite.language, tokens)
        });
        drop_nothing(self, &mut gone, &mut came);
        if let Some(idle) = came.iter().find(|one| one.strength == Strength::Idle) {
            return Some(idle.line);
        }
        if let Some(line) = self.find_guarded() {
            return Some(line);
        }
        if let Some(line) = looser(self.was, &gone, self.is, &came) {
            return Some(line);
        }
        if let Some(line) = narrower(self.was, &gone, self.is, &came, self.fresh) {
            return Some(line);
        }
        if let Some(line) = find_wider(self.was, self.is) {
            return Some(line);
        }
        if let Some(line) = self.expects_no_error(&gone, &came) {
            return Some(line);
        }
        let count = |list: &[&Assertion], strength| -> usize {
            list.iter()
                .filter(|one| one.strength == strength)
                .map(|one| one.weight)
                .sum()
        };
        // Of equal strength each stands in the place of one; what is left has become something weaker.
        for strength in [Strength::Exact, Strength::Partial] {
            let lost = count(&gone, strength).saturating_sub(count(&came, strength));
            let stronger =
                count(&came, Strength::Exact).saturating_sub(count(&gone, Strength::Exact));
            let weaker: Vec<&&Assertion> =
                came.iter().filter(|one| one.strength < strength).collect();
            let weaker_before: usize = gone
                .iter()
                .filter(|one| one.strength < strength)
                .map(|one| one.weight)
                .sum();
            let weaker_now: usize = weaker.iter().map(|one| one.weight).sum();
            if lost > 0 && stronger == 0 && weaker_now > weaker_before {
                return weaker.first().map(|one| one.line);
            }
        }
        gone.retain(|one| !self.was.says_little(one));
        came.retain(|one| one.strength > Strength::Idle);
        let weight = |list: &[&Assertion]| -> usize { list.iter().map(|one| one.weight).sum() };
        let removed = gone
            .iter()
            .filter(|one| !self.still_held(one, &came))
            .count();
        (weight(&came) < weight(&gone) && removed > 0).then_some(self.is.item.line)
    }

    /// All that an assertion of before held stands in the test of now, and something there asserts.
    fn still_held(&self, one: &Assertion, came: &[&Assertion]) -> bool {
        let words = |side: &Side, range: &Range<usize>| -> BTreeSet<String> {
            let tokens = side.suite.tokens[range.clone()].iter();
            let own = tokens
                .filter(|token| token.kind == lex::Kind::Word && !words::is_vocabulary(token.text));
            own.map(|token| token.text.to_owned()).collect()
        };
        let own = words(self.was, &one.tokens);
        // Whether there is something goes without saying where it is looked at.
        let looked_at = |new: &&&Assertion| !words(self.is, &new.tokens).is_disjoint(&own);
        if one.strength == Strength::Truth
            && came
                .iter()
                .filter(|new| new.strength > Strength::Truth)
                .any(|new| looked_at(&new))
        {
            return true;
        }
        if came.iter().any(|new| self.holds_whole(one, new)) {
            return true;
        }
        let asserts = self.is.assertions.iter().any(|one| {
            one.strength > Strength::Truth
                || self
                    .is
                    .helpers
                    .contains_key(self.is.suite.tokens[one.tokens.start].text)
        });
        let values = |side: &Side, range: &Range<usize>| -> BTreeMap<String, usize> {
            let mut counts = BTreeMap::new();
            let tokens = &side.suite.tokens[range.clone()];
            for (at, token) in tokens.iter().enumerate() {
                if is_value(side.suite.language, token) && !is_said(tokens, at) {
                    *counts
                        .entry(lex::inside(token.text).to_owned())
                        .or_default() += 1;
                }
            }
            counts
        };
        let whole = |side: &Side| side.item.head.start..side.item.body.end;
        let (was, is) = (
            values(self.was, &whole(self.was)),
            values(self.is, &whole(self.is)),
        );
        let mine = values(self.was, &one.tokens);
        let kept = mine.keys().all(|value| {
            let count = |side: &BTreeMap<String, usize>| side.get(value).copied().unwrap_or(0);
            count(&is) >= count(&was) || self.fresh.contains(value.as_str())
        });
        // Several became one that holds what they held.
        let of = |side: &Side, one: &Assertion| values(side, &one.tokens);
        let gone = remaining(self.was, self.is);
        let merges = |new: &&&Assertion| {
            let held = of(self.is, new);
            let inside = |old: &&&Assertion| {
                let own = of(self.was, old);
                !own.is_empty() && own.keys().all(|value| held.contains_key(value))
            };
            new.strength == Strength::Exact && gone.iter().filter(inside).count() > 0
        };
        if mine.keys().all(|value| is.contains_key(value)) || mine.len() < 2 {
            let merging = came.iter().filter(|new| merges(new)).count();
            if merging > 0
                && came.len() < gone.len()
                && (mine.is_empty()
                    || came
                        .iter()
                        .any(|new| merges(&new) && of(self.is, new).len() > 1))
            {
                return true;
            }
        }
        let there = words(self.is, &whole(self.is));
        let share = own.intersection(&there).count() * 10;
        asserts
            && if mine.is_empty() {
                let stronger = came.iter().any(|new| new.strength > one.strength);
                let enough = if stronger { 5 } else { 10 };
                share >= own.len() * enough && !came.is_empty()
            } else {
                kept && share >= own.len() * 5
            }
    }

    /// The new one compares the whole of what the old one asked a part, or the size, of.
    fn holds_whole(&self, one: &Assertion, new: &Assertion) -> bool {
        let own = &self.was.suite.tokens[one.tokens.clone()];
        let whole = &self.is.suite.tokens[new.tokens.clone()];
        let text = |token: &lex::Token| token.kind == lex::Kind::Text;
        let values: Vec<&str> = whole
            .iter()
            .filter(|token| is_value(self.is.suite.language, token))
            .map(|token| lex::inside(token.text))
            .collect();
        let several = whole
            .windows(2)
            .any(|two| matches!(two[1].text, "[" | "{") && !matches!(two[0].text, "]" | ")"))
            || whole
                .iter()
                .any(|token| text(token) && token.text.contains('\n'));
        // An error's text is looked at where the error is expected.
        let several = several
            || whole
                .iter()
                .any(|token| words::RAISES.contains(&token.text));
        let sizes = own.iter().any(|token| {
            matches!(
                token.text,
                "len" | "length" | "size" | "count" | "Len" | "is_empty" | "toHaveLength"
            )
        });
        // How many there are, and where one stands, goes without saying.
        let held = |token: &lex::Token| match token.kind {
            lex::Kind::Number if sizes => true,
            lex::Kind::Number => values.contains(&token.text) || token.text.len() == 1,
            _ => {
                let value = lex::inside(token.text);
                values.iter().any(|whole| whole.contains(value))
            }
        };
        let told = own
            .iter()
            .filter(|token| is_value(self.was.suite.language, token));
        let mut told = told.peekable();
        new.strength == Strength::Exact && several && told.peek().is_some() && told.all(held)
    }

    /// An error was expected, and none is any more.
    fn expects_no_error(&self, gone: &[&Assertion], came: &[&Assertion]) -> Option<usize> {
        let own = |side: &Side, one: &Assertion| -> Vec<String> {
            let tokens = side.suite.tokens[one.tokens.clone()].iter();
            tokens.map(|token| token.text.to_lowercase()).collect()
        };
        let raised = gone.iter().any(|one| {
            let tokens = &self.was.suite.tokens[one.tokens.clone()];
            tokens
                .iter()
                .any(|token| words::RAISES.contains(&token.text))
        });
        let of_error = |word: &String| {
            [
                "err",
                "raise",
                "throw",
                "panic",
                "fail",
                "exception",
                "reject",
            ]
            .iter()
            .any(|part| word.contains(part))
        };
        let expects = came
            .iter()
            .any(|one| own(self.is, one).iter().any(of_error));
        let came = came.first().filter(|_| raised && !expects)?;
        Some(came.line)
    }

    /// An assertion that stands under a condition now.
    fn find_guarded(&self) -> Option<usize> {
        let of = |side: &Side| -> BTreeMap<String, usize> {
            let mut most = BTreeMap::new();
            for one in &side.assertions {
                most.insert(side.text(one), one.guards);
            }
            most
        };
        let was = of(self.was);
        let under = self.is.assertions.iter().find(|one| {
            was.get(&self.is.text(one))
                .is_some_and(|guards| one.guards > *guards)
        });
        if let Some(one) = under {
            return Some(one.line);
        }
        // Rows of Go's tables say under which conditions they hold.
        if self.is.suite.language == Language::Go {
            return None;
        }
        let free = |side: &Side| side.assertions.iter().filter(|one| one.guards == 0).count();
        let guarded = |side: &Side| side.assertions.iter().filter(|one| one.guards > 0).count();
        let more = guarded(self.is) > guarded(self.was) && free(self.is) < free(self.was);
        self.is
            .assertions
            .iter()
            .find(|one| more && one.guards > 0)
            .map(|one| one.line)
    }
}

/// Assertions of the one side that the other does not have.
fn remaining<'s>(side: &'s Side, other: &Side) -> Vec<&'s Assertion> {
    let key = |side: &Side, one: &Assertion| (side.text(one), one.strength == Strength::Idle);
    let mut known: BTreeMap<(String, bool), usize> = BTreeMap::new();
    for one in &other.assertions {
        *known.entry(key(other, one)).or_default() += 1;
    }
    let left = side
        .assertions
        .iter()
        .filter(|one| match known.get_mut(&key(side, one)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        });
    left.collect()
}

/// That nothing is there may be said in two ways: `x == []`, and `not x` now.
fn drop_nothing(both: &Both, gone: &mut Vec<&Assertion>, came: &mut Vec<&Assertion>) {
    let is_empty = |one: &&&Assertion| {
        let own = &both.was.suite.tokens[one.tokens.clone()];
        let pair = |two: &[lex::Token]| {
            matches!(
                (two[0].text, two[1].text),
                ("[", "]") | ("{", "}") | ("\"\"", _) | ("''", _)
            )
        };
        one.strength == Strength::Exact
            && !own.iter().any(|token| {
                is_value(both.was.suite.language, token) && !lex::inside(token.text).is_empty()
            })
            && own.windows(2).any(pair)
    };
    // Twice denied is said: `is not None`, `!x.isEmpty()`.
    let denies = |one: &&&Assertion| {
        let own = &both.is.suite.tokens[one.tokens.clone()];
        let denials = own.iter().filter(|token| {
            let lower = token.text.to_lowercase();
            matches!(lower.as_str(), "not" | "!" | "!=" | "!==" | "nil")
                || ["false", "falsy", "empty", "none", "null"]
                    .iter()
                    .any(|end| lower.ends_with(end))
        });
        one.strength == Strength::Truth && denials.count() % 2 == 1
    };
    let pairs = gone
        .iter()
        .filter(is_empty)
        .count()
        .min(came.iter().filter(denies).count());
    for _ in 0..pairs {
        if let Some(at) = gone.iter().position(|one| is_empty(&one)) {
            gone.remove(at);
        }
        if let Some(at) = came.iter().position(|one| denies(&one)) {
            came.remove(at);
        }
    }
}
