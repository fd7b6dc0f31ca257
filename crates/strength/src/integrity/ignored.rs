//! Comparisons that leave out what they looked at: options that ignore, contents that nobody reads.

use super::gone::loses_value;
use super::side::{Both, Side};
use super::strength::Strength;
use crate::lex::{Kind, inside};
use std::collections::BTreeSet;

/// Beginnings of options that leave something out of a comparison.
const LEAVES_OUT: [&str; 10] = [
    "Ignore",
    "ignoring",
    "ignore_",
    "ignoreFields",
    "excluding",
    "exclude_",
    "excludePaths",
    "omit",
    "redact",
    "filters",
];
/// What reads the contents of a file.
const READS: [&str; 14] = [
    "read_bytes",
    "read_text",
    "ReadFile",
    "ReadAll",
    "readFile",
    "readFileSync",
    "read_to_string",
    "read_to_end",
    "hexdigest",
    "digest",
    "sha256",
    "md5",
    "sha256sum",
    "cat",
];

impl Both<'_, '_> {
    /// The line of an option that came and leaves out what is not compared any more.
    pub(super) fn leaves_out(&self) -> Option<usize> {
        let options = |side: &Side| -> Vec<(String, usize)> {
            let own = &side.suite.tokens[side.item.head.start..side.item.body.end];
            let found = own.iter().filter(|one| {
                one.kind == Kind::Word && LEAVES_OUT.iter().any(|start| one.text.starts_with(start))
            });
            found.map(|one| (one.text.to_owned(), one.line)).collect()
        };
        let (was, is) = (options(self.was), options(self.is));
        let new = is
            .iter()
            .find(|(name, _)| !was.iter().any(|(old, _)| old == name));
        new.filter(|_| is.len() > was.len() && (loses_value(self) || self.expects_less()))
            .map(|(_, line)| *line)
    }

    /// Words of what was expected are gone where nothing else came.
    fn expects_less(&self) -> bool {
        let values = |side: &Side| -> BTreeSet<String> {
            let own = side.tokens().iter();
            let told = own.filter(|one| matches!(one.kind, Kind::Text | Kind::Number));
            told.map(|one| inside(one.text).to_owned()).collect()
        };
        let (was, is) = (values(self.was), values(self.is));
        was.difference(&is).count() > is.difference(&was).count()
    }

    /// What was expected whole is a mark now that stands for anything: `[report]`.
    pub(super) fn expects_placeholder(&self) -> Option<usize> {
        let longest = |side: &Side| -> (usize, Option<(usize, String)>) {
            let exact = side
                .assertions
                .iter()
                .filter(|one| one.strength == Strength::Exact);
            let texts = exact.flat_map(|one| {
                let own = side.suite.tokens[one.tokens.clone()].iter();
                own.filter(|token| token.kind == Kind::Text)
                    .map(|token| (token.line, inside(token.text).trim().to_owned()))
            });
            let most = texts.max_by_key(|(_, text)| text.len());
            (most.as_ref().map_or(0, |(_, text)| text.len()), most)
        };
        let (was, _) = longest(self.was);
        let (len, is) = longest(self.is);
        let (line, text) = is?;
        let marked = text.starts_with(['[', '<', '{']) && text.ends_with([']', '>', '}'])
            || text.ends_with("...");
        let plain = !text.contains(['\n', ',', ':', '"']);
        (marked && plain && len < 32 && was > len * 2).then_some(line)
    }

    /// Files that were compared by what is in them are compared by something else.
    pub(super) fn reads_no_contents(&self) -> bool {
        let reads = |side: &Side| {
            let mut words: BTreeSet<&str> = side.tokens().iter().map(|one| one.text).collect();
            // What it calls in its file reads for it.
            for helper in &side.suite.items {
                if words.contains(helper.name.as_str()) && helper.name != side.item.name {
                    let body = &side.suite.tokens[helper.body.clone()];
                    words.extend(body.iter().map(|one| one.text));
                }
            }
            READS.iter().filter(|name| words.contains(**name)).count()
        };
        let compares = |side: &Side| {
            let exact = side
                .assertions
                .iter()
                .filter(|one| one.strength == Strength::Exact);
            exact.count()
        };
        reads(self.was) > 0
            && reads(self.is) == 0
            && compares(self.was) > 0
            && compares(self.is) > 0
            && compares(self.is) <= compares(self.was)
    }
}
