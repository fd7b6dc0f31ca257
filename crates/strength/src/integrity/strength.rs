//! How much an assertion would notice.

use super::{constants, values, words};
use crate::language::Language;
use crate::lex::{Kind, Token, close};
use std::ops::Range;

/// How much an assertion would notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// It is always so.
    Idle,
    /// There is something, or nothing.
    Truth,
    /// A part, a bound, a kind.
    Partial,
    /// One value.
    Exact,
}

/// It fails by itself.
pub(super) fn fails(own: &[Token]) -> bool {
    own.iter()
        .any(|token| token.kind == Kind::Word && words::FAILS.contains(&token.text))
}

pub(super) fn strength(language: Language, tokens: &[Token], extent: &Range<usize>) -> Strength {
    let own = &tokens[extent.clone()];
    let has = |word: &str| own.iter().any(|token| token.is(word));
    let any = |list: &[&str]| {
        own.iter()
            .any(|token| token.kind == Kind::Word && list.contains(&token.text))
    };
    if fails(own) && !has("if") {
        return Strength::Truth;
    }
    if is_idle(language, own) {
        return Strength::Idle;
    }
    if any(&words::RAISES) {
        return of_raise(own);
    }
    if has("_") && (has("matches") || has("assert_matches")) {
        return Strength::Truth;
    }
    if any(&words::ANYTHING) && language != Language::Shell {
        let values = own
            .iter()
            .any(|token| matches!(token.kind, Kind::Number | Kind::Text));
        return if values {
            Strength::Partial
        } else {
            Strength::Truth
        };
    }
    // `errors.Is` of Go looks for one error.
    if says_either(language, own) {
        return Strength::Partial;
    }
    let of_one_error = language == Language::Go && any(&["Is", "ErrorIs"]);
    let is_exact_call = of_one_error
        || is_given_value(tokens, extent)
        || any(&words::EXACT)
        || own
            .iter()
            .any(|token| token.kind == Kind::Word && words::is_named_equality(token.text))
        || has_unknown_matcher(own)
        || own.iter().any(|token| {
            token.kind == Kind::Word
                && words::EXACT_STARTS
                    .iter()
                    .any(|start| token.text.starts_with(start))
        });
    let mut equalities: Vec<&str> = match language {
        Language::Go => vec!["!=", "=="],
        Language::Shell => vec!["=", "==", "-eq"],
        Language::Python => vec!["==", "is"],
        Language::Elixir => vec!["==", "===", "="],
        _ => vec!["==", "===", "=~"],
    };
    equalities.retain(|mark| has(mark));
    if language == Language::Shell {
        let command = own[0].text;
        return match command {
            "diff" | "cmp" => Strength::Exact,
            _ if has("=~") || is_glob(own) => Strength::Partial,
            _ if !equalities.is_empty() => {
                let of_status = own
                    .iter()
                    .any(|token| token.text.contains("$status") || token.text.contains("$?"));
                if of_status && own.iter().any(|token| token.text == "0") {
                    Strength::Truth
                } else {
                    Strength::Exact
                }
            }
            _ if words::is_named_check(command) && own.len() > 1 => match own[1].text {
                "--partial" | "--regexp" | "-p" | "-e" => Strength::Partial,
                _ => Strength::Exact,
            },
            "grep" | "egrep" => Strength::Partial,
            // `if [ "$a" != "$b" ]; then exit 1; fi` wants one value.
            _ if has("!=") && fails_where_so(tokens, extent) => Strength::Exact,
            _ if any(&["-gt", "-lt", "-ge", "-le", "-ne", "!="]) || has("!=") => Strength::Partial,
            _ => Strength::Truth,
        };
    }
    if is_exact_call || !equalities.is_empty() {
        let is_truth = values::compares_with_constant(own, &equalities);
        return if is_truth {
            Strength::Truth
        } else {
            Strength::Exact
        };
    }
    if is_nearly_equal(own) {
        return Strength::Exact;
    }
    let counts = own
        .iter()
        .any(|token| matches!(token.text, "len" | "length" | "size" | "count"));
    let some = own
        .windows(2)
        .any(|pair| matches!(pair[0].text, ">" | ">=") && matches!(pair[1].text, "0" | "1"));
    if counts && some {
        return Strength::Truth;
    }
    let known = |token: &&Token| language == Language::Go || !matches!(token.text, "Is" | "As");
    if any(&[
        "IsNil", "NotNil", "IsTrue", "IsFalse", "BeNil", "BeTrue", "BeFalse",
    ]) {
        return Strength::Truth;
    }
    let partial = own
        .iter()
        .filter(known)
        .any(|token| token.kind == Kind::Word && words::PARTIAL.contains(&token.text))
        || of_several(own)
        || own.iter().any(|token| {
            matches!(token.text, "<" | ">" | "<=" | ">=" | "!=" | "!==") && token.kind == Kind::Mark
        });
    let against_nothing =
        values::compares_with_constant(own, &["!=", "!=="]) || own.iter().any(values::fits_any);
    if partial && !against_nothing {
        return Strength::Partial;
    }
    Strength::Truth
}

/// `expect(x).toHaveText("1")`, `assertThat(x).hasName("a")`, `assertThat(x, is("a"))`: a matcher of any
/// name that is given a value.
fn has_unknown_matcher(own: &[Token]) -> bool {
    let Some(first) = own
        .iter()
        .position(|token| matches!(token.text, "expect" | "assertThat" | "Should" | "That"))
    else {
        return false;
    };
    if !own.get(first + 1).is_some_and(|open| open.is("(")) {
        return false;
    }
    let args = values::arguments(own, first + 1);
    let by_is = args
        .get(1)
        .is_some_and(|arg| arg.len() > 3 && arg[0].is("is") && arg[1].is("("));
    let mut at = close(own, first + 1) + 1;
    while at + 2 < own.len() {
        let called = own[at].is(".") && own[at + 1].kind == Kind::Word && own[at + 2].is("(");
        if called {
            let given = !values::arguments(own, at + 2).is_empty();
            let name = own[at + 1].text;
            if given
                && !words::PARTIAL.contains(&name)
                && !words::RAISES.contains(&name)
                && name != "to"
                && name != "that"
            {
                return true;
            }
            at = close(own, at + 2) + 1;
        } else {
            at += 1;
        }
    }
    by_is
}

fn fails_where_so(tokens: &[Token], extent: &Range<usize>) -> bool {
    let before = extent.start.checked_sub(1).map_or("", |at| tokens[at].text);
    let after = tokens.get(extent.end).map_or("", |next| next.text);
    matches!(before, "if" | "elif") || after == "&&"
}

/// `assert x == 1 or x == 2`: more than one value is well.
fn says_either(language: Language, own: &[Token]) -> bool {
    let fails_where_so = matches!(language, Language::Go | Language::Shell | Language::Elixir);
    let asserts = own[0].is("assert") || own[0].text.starts_with("assertTrue");
    !fails_where_so
        && asserts
        && own
            .iter()
            .any(|token| matches!(token.text, "or" | "||") && token.kind != Kind::Text)
        && own.iter().any(|token| matches!(token.text, "==" | "==="))
}

/// `response.assert_status(200)`: a check of what it is asked of, of any name that says no less.
fn is_given_value(tokens: &[Token], extent: &Range<usize>) -> bool {
    let own = &tokens[extent.clone()];
    let asked = extent.start > 1
        && tokens[extent.start - 1].is(".")
        && !matches!(
            tokens[extent.start - 2].text,
            "self" | "this" | "assert" | "t" | "mock"
        );
    let name = own[0].text.to_lowercase();
    let less = [
        "contain", "include", "match", "not", "start", "end", "like", "any", "has", "in_",
    ]
    .iter()
    .any(|part| name.contains(part));
    asked
        && !less
        && words::is_named_check(own[0].text)
        && !words::is_vocabulary(own[0].text)
        && own.get(1).is_some_and(|open| open.is("("))
        && values::arguments(own, 1)
            .iter()
            .any(|arg| matches!(arg, [one] if matches!(one.kind, Kind::Text | Kind::Number)))
}

/// `[[ $output == *"usage"* ]]`
fn is_glob(own: &[Token]) -> bool {
    own[0].is("[[")
        && own.iter().any(|token| {
            let mut parts = token.text.split(['"', '\'']).step_by(2);
            parts.any(|part| part.contains('*'))
        })
}

/// A bound that leaves room for rounding alone: `math.Abs(got-want) > 1e-9`, `isclose(a, b, rel_tol=1e-9)`.
fn is_nearly_equal(own: &[Token]) -> bool {
    const ROUNDING: f64 = 1e-6;
    const NEAR: [&str; 14] = [
        "Abs",
        "abs",
        "fabs",
        "isclose",
        "allclose",
        "InDelta",
        "InEpsilon",
        "closeTo",
        "isCloseTo",
        "approx",
        "within",
        "assert_allclose",
        "EXPECT_NEAR",
        "assert_in_delta",
    ];
    let numbers = own.iter().filter(|token| token.kind == Kind::Number);
    let tiny = |token: &Token| {
        constants::read_number(token.text).is_some_and(|value| value > 0.0 && value <= ROUNDING)
    };
    own.iter().any(|token| NEAR.contains(&token.text)) && numbers.into_iter().any(tiny)
}

/// A check of any name that is given more than one thing: it compares them somehow.
fn of_several(own: &[Token]) -> bool {
    let first = own
        .iter()
        .position(|token| token.kind == Kind::Word && words::is_named_check(token.text));
    first.is_some_and(|at| {
        own.get(at + 1).is_some_and(|open| open.is("("))
            && !matches!(
                own[at].text,
                "assert" | "expect" | "assertTrue" | "assertFalse" | "verify"
            )
            && {
                let args = values::arguments(own, at + 1);
                args.iter()
                    .filter(|arg| !matches!(arg, [one] if one.kind == Kind::Text || one.is("t")))
                    .count()
                    > 1
            }
    })
}

/// Nothing that is asserted could be otherwise.
fn is_idle(language: Language, own: &[Token]) -> bool {
    let or_true = own
        .windows(2)
        .any(|pair| matches!(pair[0].text, "or" | "||") && matches!(pair[1].text, "True" | "true"));
    if or_true {
        return true;
    }
    if language != Language::Shell {
        let named = (0..own.len()).any(|at| {
            own[at].kind == Kind::Word && !words::is_vocabulary(own[at].text)
                || words::is_called(own, at)
        });
        let interpolated = own
            .iter()
            .any(|token| token.kind == Kind::Text && token.text.contains("{"));
        if !named && !interpolated {
            return true;
        }
    }
    let sides = values::sides(own);
    sides.is_some_and(|(a, b)| a == b && !a.is_empty())
}

/// How much is asked of an error.
fn of_raise(own: &[Token]) -> Strength {
    const WITH_TEXT: [&str; 7] = [
        "toThrow",
        "toThrowError",
        "raise_error",
        "should_panic",
        "toMatchObject",
        "toEqual",
        "expected",
    ];
    const MESSAGES: [&str; 8] = [
        "match",
        "assertRaisesRegex",
        "assertRaisesRegexp",
        "expectExceptionMessage",
        "hasMessage",
        "hasMessageContaining",
        "expectMessage",
        "toThrowErrorMatchingSnapshot",
    ];
    let telling = |token: &Token| token.kind == Kind::Text && !values::fits_any(token);
    let matched = own
        .iter()
        .any(|token| token.kind == Kind::Word && MESSAGES.contains(&token.text))
        && (own.iter().any(telling) || !own.iter().any(values::fits_any));
    let says = own.iter().position(|token| WITH_TEXT.contains(&token.text));
    let has_text = says.is_some_and(|at| own[at..].iter().any(telling)) || describes(own, telling);
    let named = own.iter().any(|token| {
        let upper = token.text.starts_with(|c: char| c.is_uppercase());
        token.kind == Kind::Word
            && upper
            && !words::ANY_ERROR.contains(&token.text)
            && !words::RAISES.contains(&token.text)
            && token.text != "Assert"
            && token.text.len() > 1
    });
    // `raises(error)` of a table.
    let by_name = own.windows(4).any(|four| {
        matches!(
            four[0].text,
            "raises" | "assertRaises" | "toThrow" | "toThrowError"
        ) && four[1].is("(")
            && four[2].kind == Kind::Word
            && four[2].text.starts_with(|c: char| c.is_lowercase())
            && matches!(four[3].text, ")" | ",")
    });
    match (has_text || matched, named || by_name) {
        (true, _) => Strength::Exact,
        (_, true) => Strength::Partial,
        _ => Strength::Truth,
    }
}

/// `assert.rejects(f(), { code: "E" })`, `assert.throws(f, /e/)`: what the error is like stands behind
/// the call.
fn describes(own: &[Token], telling: impl Fn(&Token) -> bool) -> bool {
    let first = own
        .iter()
        .position(|token| matches!(token.text, "throws" | "rejects" | "throwsAsync"));
    let Some(at) = first.filter(|at| own.get(at + 1).is_some_and(|next| next.is("("))) else {
        return false;
    };
    let args = values::arguments(own, at + 1);
    args.iter().skip(1).any(|arg| {
        let calls = |token: &Token| matches!(token.text, "=>" | "->" | "function" | "lambda" | "|");
        !arg.iter().any(calls) && arg.iter().any(&telling)
    })
}
