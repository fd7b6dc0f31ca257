//! How a test got weaker since before.

use super::remark::Kind;
use super::side::{Both, Side};
use super::strength::Strength;
use super::{marks, swallow};
use std::collections::BTreeSet;

impl Both<'_, '_> {
    pub(super) fn weakenings(&self) -> Vec<(Kind, usize)> {
        let mut found = Vec::new();
        found.extend(self.more(marks::is_skip).map(|line| (Kind::Skipped, line)));
        let again = self
            .more(marks::is_retry)
            .or_else(|| self.loops_until_well());
        found.extend(again.map(|line| (Kind::Retried, line)));
        if let Some(line) = self.more(marks::is_sleep).or_else(|| self.longer_sleep()) {
            found.push((Kind::SleepPadded, line));
        }
        if let Some(line) = self.swallows_more() {
            found.push((Kind::ErrorSwallowing, line));
        }
        let skipped = found.iter().any(|(kind, _)| *kind == Kind::Skipped);
        if self.is.is_empty() && !self.was.is_empty() {
            if !skipped {
                found.push((Kind::Emptied, self.is.item.line));
            }
            return found;
        }
        if let Some(line) = self.ends_early() {
            found.push((Kind::Skipped, line));
        }
        let (had, has) = (self.was.weight(), self.is.weight());
        if had > 0 && has == 0 {
            let idle = self.is.assertions.first().map(|one| one.line);
            let kind = if idle.is_some() {
                Kind::Weakened
            } else {
                Kind::Assertionless
            };
            found.push((kind, idle.unwrap_or(self.is.item.line)));
        } else if let Some(line) = self.notices_less().or_else(|| self.looks_elsewhere()) {
            found.push((Kind::Weakened, line));
        }
        found
    }

    /// Its assertions stand, and cannot fail for what they failed for.
    fn looks_elsewhere(&self) -> Option<usize> {
        self.passes_over()
            .or_else(|| self.expects_itself())
            .or_else(|| self.assumes_answer())
            .or_else(|| self.writes_expected())
            .or_else(|| self.leaves_out())
            .or_else(|| self.expects_placeholder())
    }

    /// A condition that came lets some rows go by unseen: `if row.name == "x" { continue }`.
    fn passes_over(&self) -> Option<usize> {
        let of = |side: &Side| -> Vec<usize> {
            let own = side.tokens();
            let bare = |at: &usize| {
                let opens = *at > 0 && matches!(own[at - 1].text, "{" | ":");
                let ends = own
                    .get(at + 1)
                    .is_none_or(|next| matches!(next.text, "}" | ";") || next.line > own[*at].line);
                let alone = ends && own.get(at + 1).is_none_or(|next| next.text != "(");
                let header = own[at.saturating_sub(24)..*at].iter().rev();
                let header = header.take_while(|one| !one.is("if"));
                // Values are told apart there, not errors.
                let values = header.filter(|one| {
                    matches!(one.kind, crate::lex::Kind::Text | crate::lex::Kind::Number)
                });
                own[*at].is("continue") && opens && alone && values.count() > 0
            };
            (0..own.len()).filter(bare).map(|at| own[at].line).collect()
        };
        let (was, is) = (of(self.was), of(self.is));
        is.last().copied().filter(|_| is.len() > was.len())
    }

    /// The same of what tests call to look at something; by whatever it got weaker, they notice less.
    pub(super) fn weakenings_of_helper(&self) -> Vec<(Kind, usize)> {
        let mut found = Vec::new();
        let (had, has) = (self.was.weight(), self.is.weight());
        if had == 0 {
            if self.always_agrees() {
                found.push((Kind::Weakened, self.is.item.line));
            }
            return found;
        }
        if let Some(line) = self.swallows_more() {
            found.push((Kind::ErrorSwallowing, line));
        }
        if has == 0
            || self.returns_at_once()
            || self.reads_no_contents()
            || self.levels_both_sides()
        {
            found.push((Kind::Weakened, self.is.item.line));
        } else if let Some(line) = self.notices_less().or_else(|| self.looks_elsewhere()) {
            found.push((Kind::Weakened, line));
        }
        found
    }

    /// The same of a script that is one test.
    pub(super) fn weakenings_of_script(&self) -> Vec<(Kind, usize)> {
        let (had, has) = (self.was.weight(), self.is.weight());
        if had > 0 && has == 0 {
            return vec![(Kind::Assertionless, self.is.item.line)];
        }
        // A loop that goes through a table says once what was said for each.
        let loops = |side: &Side| {
            let words = side.tokens().iter();
            words
                .filter(|one| matches!(one.text, "for" | "while" | "read"))
                .count()
        };
        let exact = |side: &Side| {
            side.assertions
                .iter()
                .any(|one| one.strength > Strength::Truth)
        };
        let gathers = loops(self.is) > loops(self.was) && exact(self.is);
        let less = self.notices_less().filter(|_| had > 0 && !gathers);
        less.or_else(|| self.writes_expected())
            .map(|line| (Kind::Weakened, line))
            .into_iter()
            .collect()
    }

    /// It compared, and answers now that all is well.
    fn always_agrees(&self) -> bool {
        const AGREES: [&str; 9] = [
            "return", "true", "True", "nil", "None", "null", "Ok", "0", ":",
        ];
        let compares = self.was.tokens().iter().any(|token| {
            matches!(token.text, "==" | "===" | "!=" | "!==" | "=" | "-eq")
                || token.kind == crate::lex::Kind::Word
                    && matches!(
                        token.text,
                        "diff" | "cmp" | "DeepEqual" | "isEqual" | "deepEqual" | "all" | "matches"
                    )
        });
        let is = self.is.tokens();
        let nothing = |token: &crate::lex::Token| {
            matches!(token.text, "(" | ")" | ";") || AGREES.contains(&token.text)
        };
        compares
            && !is.is_empty()
            && is.iter().all(nothing)
            && is
                .iter()
                .any(|token| matches!(token.text, "true" | "True" | "0" | "nil" | "Ok" | ":"))
    }

    /// Both sides are made alike before they are compared: `a.lower() == b.lower()`.
    fn levels_both_sides(&self) -> bool {
        const LEVELS: [&str; 14] = [
            "strip",
            "lower",
            "upper",
            "casefold",
            "trim",
            "toLowerCase",
            "toUpperCase",
            "slice",
            "to_lowercase",
            "ToLower",
            "TrimSpace",
            "EqualFold",
            "substring",
            "truncate",
        ];
        let count = |side: &Side| {
            let own = side.tokens().iter();
            own.filter(|token| LEVELS.contains(&token.text)).count()
        };
        count(self.was) == 0 && count(self.is) > 1
    }

    /// Nothing behind its first line is reached.
    fn returns_at_once(&self) -> bool {
        let first = |side: &Side| {
            let own = side.tokens();
            let next = own
                .get(1)
                .is_none_or(|next| next.line > own[0].line || matches!(next.text, ";" | "0"));
            own.first().is_some_and(|first| first.is("return")) && next
        };
        first(self.is) && !first(self.was)
    }

    /// The first line of now that is such, where there are more than before.
    fn more(&self, is_one: fn(&str) -> bool) -> Option<usize> {
        let (was, is) = (self.was.matching(is_one), self.is.matching(is_one));
        if is.len() <= was.len() {
            return None;
        }
        let known: BTreeSet<&str> = was.iter().map(|(_, line)| *line).collect();
        let new = is.iter().find(|(_, line)| !known.contains(line));
        new.or(is.last()).map(|(line, _)| *line)
    }

    /// It waits, and at least twice as long as before.
    fn longer_sleep(&self) -> Option<usize> {
        // `sleep(SETTLE)`
        let named = |side: &Side, text: &str| {
            let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            words
                .filter_map(|word| *side.loose.get(word)?)
                .reduce(f64::max)
        };
        let longest = |side: &Side| {
            let lines = side.matching(marks::is_sleep).into_iter();
            let times = lines.filter_map(|(line, text)| {
                let told = numbers(text).into_iter().reduce(f64::max);
                Some((told.or_else(|| named(side, text))?, line))
            });
            times.reduce(|a, b| if b.0 > a.0 { b } else { a })
        };
        let (was, is) = (longest(self.was)?, longest(self.is)?);
        (is.0 >= was.0 * 2.0 && is.0 > 0.0).then_some(is.1)
    }

    fn swallows_more(&self) -> Option<usize> {
        let of = |side: &Side| swallow::list_swallowed(side.suite, &side.item.body);
        let (was, is) = (of(self.was), of(self.is));
        if is.len() <= was.len() {
            return None;
        }
        let text = |side: &Side, line: &usize| {
            side.lines
                .iter()
                .find(|(number, _)| number == line)
                .map(|(_, text)| (*text).to_owned())
        };
        let known: Vec<Option<String>> = was.iter().map(|line| text(self.was, line)).collect();
        let new = is.iter().find(|line| !known.contains(&text(self.is, line)));
        new.or(is.last()).copied()
    }

    fn ends_early(&self) -> Option<usize> {
        let early = |side: &Side| {
            let first = side
                .assertions
                .iter()
                .map(|one| one.tokens.start)
                .filter(|at| side.item.body.contains(at))
                .min()?;
            swallow::early_return(side.suite, &side.item.body, first)
        };
        match early(self.was) {
            None => early(self.is),
            Some(_) => None,
        }
    }
}

fn numbers(line: &str) -> Vec<f64> {
    let parts = line.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'));
    parts
        .filter_map(|part| part.trim_matches('.').replace('_', "").parse().ok())
        .collect()
}
