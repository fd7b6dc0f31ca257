//! Rows that were taken out of tables: cases that are not tried any more.

use super::retired::Retired;
use super::rows::{Row, list_rows};
use super::shared;
use crate::class::{Class, Edited};
use crate::language::Language;
use crate::lex::{Kind, inside};
use crate::suite::{Item, Suite};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Rows of a table that are held against each other.
const CANDIDATES: usize = 300;

/// Cells that many rows hold.
const COMMON: [&str; 10] = [
    "", "0", "1", "true", "false", "True", "False", "nil", "None", "null",
];

/// The rows of all files of one side, and what is held there how often.
struct Part<'a> {
    suites: &'a [Option<Suite<'a>>],
    rows: Vec<Vec<Row>>,
    keys: BTreeSet<String>,
    values: BTreeMap<String, usize>,
}

impl<'a> Part<'a> {
    fn read(edits: &[Edited], suites: &'a [Option<Suite<'a>>]) -> Self {
        let of_tests = |(edit, suite): (&Edited, &'a Option<Suite<'a>>)| {
            let suite = suite.as_ref()?;
            (shared::is_of_tests(edit) || suite.has_tests()).then_some(suite)
        };
        let known: Vec<Option<&Suite>> = edits.iter().zip(suites).map(of_tests).collect();
        let rows: Vec<Vec<Row>> = known
            .iter()
            .map(|suite| suite.map(list_rows).unwrap_or_default())
            .collect();
        let mut values = BTreeMap::new();
        for suite in known.iter().flatten() {
            let texts = suite.tokens.iter();
            for text in texts.filter(|one| matches!(one.kind, Kind::Number | Kind::Text)) {
                let own = inside(text.text);
                *values.entry(own.replace('_', "")).or_default() += 1;
                if own.contains('\n') {
                    for cell in own.split(['|', ',', '\n', '\t']) {
                        let cell = cell.trim().trim_matches(['$', '{', '}', '"', '\'']);
                        *values.entry(cell.replace('_', "")).or_default() += 1;
                    }
                }
            }
        }
        // A file of data may hold them in columns.
        for (edit, suite) in edits.iter().zip(suites) {
            let Some(suite) = suite.as_ref().filter(|_| edit.class == Class::Test) else {
                continue;
            };
            if suite.language == Language::Other {
                for cell in list_cells(suite) {
                    *values.entry(cell).or_default() += 1;
                }
            }
        }
        let keys = rows.iter().flatten().map(Row::key).collect();
        Self {
            suites,
            rows,
            keys,
            values,
        }
    }

    fn count(&self, value: &str) -> usize {
        let own = value.trim_start_matches('-').replace('_', "");
        self.values.get(&own).copied().unwrap_or(0)
    }

    /// Rows of a file among some of its tokens.
    fn within(&self, file: usize, range: &Range<usize>) -> Vec<&Row> {
        let rows = self.rows.get(file).map(Vec::as_slice).unwrap_or_default();
        let from = rows.partition_point(|row| row.at < range.start);
        let own = rows[from..].iter();
        own.take_while(|row| row.at < range.end).collect()
    }
}

/// Both sides of a diff.
pub(super) struct Tables<'a> {
    was: Part<'a>,
    is: Part<'a>,
}

impl<'a> Tables<'a> {
    pub(super) fn read(
        edits: &[Edited],
        before: &'a [Option<Suite<'a>>],
        after: &'a [Option<Suite<'a>>],
    ) -> Self {
        Self {
            was: Part::read(edits, before),
            is: Part::read(edits, after),
        }
    }

    /// A test of before goes through rows that it does not go through any more, and nothing else does.
    pub(super) fn takes_out(
        &self,
        (was_file, was): (usize, &Item),
        (is_file, is): (usize, &Item),
        retired: &Retired,
    ) -> bool {
        let range = |item: &Item| item.head.start..item.body.end;
        let before = self.was.within(was_file, &range(was));
        if before.is_empty() || self.tries_more((was_file, range(was)), (is_file, range(is))) {
            return false;
        }
        self.is_less(
            was_file,
            before,
            self.is.within(is_file, &range(is)),
            retired,
        )
    }

    /// The same of tables that stand beside the tests: the line where the file has less.
    pub(super) fn takes_out_of(
        &self,
        file: usize,
        whole: bool,
        retired: &Retired,
    ) -> Option<usize> {
        let loose = |part: &Part<'a>| -> Vec<Range<usize>> {
            part.suites
                .get(file)
                .and_then(Option::as_ref)
                .map(|suite| shared::list_loose(suite, whole))
                .unwrap_or_default()
        };
        let rows = |part: &'_ Part<'a>| -> Vec<usize> {
            let places = loose(part);
            let own = part.rows.get(file).into_iter().flatten().enumerate();
            own.filter(|(_, row)| {
                let at = places.partition_point(|range| range.end <= row.at);
                places.get(at).is_some_and(|range| range.contains(&row.at))
            })
            .map(|(at, _)| at)
            .collect()
        };
        let (old, new) = (rows(&self.was), rows(&self.is));
        let before: Vec<&Row> = old
            .iter()
            .filter_map(|at| self.was.rows.get(file)?.get(*at))
            .collect();
        let after: Vec<&Row> = new
            .iter()
            .filter_map(|at| self.is.rows.get(file)?.get(*at))
            .collect();
        let line = after.first().map_or(1, |row| row.line);
        self.is_less(file, before, after, retired).then_some(line)
    }

    /// Numbers of a range, or values that are made up, are more than rows.
    fn tries_more(&self, was: (usize, Range<usize>), is: (usize, Range<usize>)) -> bool {
        const MORE: [&str; 9] = [
            "..",
            "..=",
            "given",
            "proptest",
            "quickcheck",
            "fc",
            "rapid",
            "Fuzz",
            "arbitrary",
        ];
        let count = |part: &Part, (file, range): (usize, Range<usize>)| {
            let suite = part.suites.get(file).and_then(Option::as_ref);
            let tokens = suite
                .and_then(|suite| suite.tokens.get(range))
                .unwrap_or_default();
            let more = |at: &usize| {
                let next = tokens.get(at + 1).is_some_and(|next| next.is("("));
                MORE.contains(&tokens[*at].text) || tokens[*at].is("range") && next
            };
            (0..tokens.len()).filter(more).count()
        };
        count(&self.is, is) > count(&self.was, was)
    }

    fn is_less(&self, file: usize, before: Vec<&Row>, after: Vec<&Row>, retired: &Retired) -> bool {
        let mut gone: Vec<&Row> = before
            .into_iter()
            .filter(|row| !self.is.keys.contains(&row.key()))
            .take(CANDIDATES)
            .collect();
        if gone.is_empty() {
            return false;
        }
        let mut came: Vec<&Row> = after
            .into_iter()
            .filter(|row| !self.was.keys.contains(&row.key()))
            .take(CANDIDATES)
            .collect();
        let all: BTreeSet<&String> = came.iter().flat_map(|row| &row.cells).collect();
        if gone.len() <= came.len() && came.iter().all(|row| !is_part_of_any(row, &gone)) {
            return false;
        }
        // A row that got a name, or lost one, is the same.
        came.retain(|new| {
            let place = gone
                .iter()
                .position(|old| is_part(old, new) || is_part(new, old));
            if let Some(place) = place {
                gone.remove(place);
            }
            place.is_none()
        });
        let suite = self.was.suites.get(file).and_then(Option::as_ref);
        gone.retain(|row| {
            // What stands everywhere tells nothing.
            let plain =
                |cell: &&String| !COMMON.contains(&cell.as_str()) && self.was.count(cell) > 0;
            let mut told = row.cells.iter().filter(plain).peekable();
            let kept = told.peek().is_some()
                && told.all(|cell| self.is.count(cell) >= self.was.count(cell));
            let crossed = row.cells.iter().all(|cell| all.contains(cell));
            let fell = suite.is_some_and(|suite| {
                let end = (row.at + row.cells.len() * 3).min(suite.tokens.len());
                let own: Vec<_> = suite.tokens[row.at..end]
                    .iter()
                    .take_while(|token| token.line <= row.line + 1)
                    .filter(|token| row.cells.iter().any(|cell| cell == inside(token.text)))
                    .copied()
                    .collect();
                retired.is_named_in(suite.language, &own)
            });
            !(kept || crossed || fell)
        });
        gone.len() > came.len()
    }
}

/// Words of a text between blanks and marks of columns, and its lines, as they are put together there.
fn list_cells(suite: &Suite) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut lines: BTreeMap<usize, String> = BTreeMap::new();
    let mut end = None;
    for token in &suite.tokens {
        let line = lines.entry(token.line).or_default();
        if !line.is_empty() && end != Some(token.at) {
            line.push(' ');
        }
        line.push_str(token.text);
        let parts = matches!(token.text, "," | ";" | "|");
        match found.last_mut() {
            Some(last) if end == Some(token.at) && !parts => last.push_str(token.text),
            _ if parts => {}
            _ => found.push(inside(token.text).to_owned()),
        }
        end = Some(token.end());
    }
    found.extend(lines.into_values());
    found
}

fn is_part(a: &Row, b: &Row) -> bool {
    a.cells.len() <= b.cells.len() && a.cells.iter().all(|cell| b.cells.contains(cell))
}

fn is_part_of_any(row: &Row, others: &[&Row]) -> bool {
    others
        .iter()
        .any(|other| is_part(other, row) || is_part(row, other))
}
