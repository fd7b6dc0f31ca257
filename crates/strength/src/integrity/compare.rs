//! A test compared with the test that it became.

use super::assertion;
use super::marks;
use super::outside::outside;
use super::pair::{self, Case};
use super::remark::{Kind, Remark, Renamed, Weakenings, show_line};
use super::side::{Both, Side};
use crate::class::Edited;
use crate::suite::Suite;
use std::collections::BTreeSet;

pub(super) fn compare<'a>(
    edits: &[Edited<'a>],
    before: &'a [Option<Suite<'a>>],
    after: &'a [Option<Suite<'a>>],
) -> Weakenings {
    let mut found = Weakenings::default();
    let (old, new) = (pair::cases(before), pair::cases(after));
    let sides = before.iter().zip(after);
    let fresh: Vec<BTreeSet<&str>> = sides
        .map(|(before, after)| pair::fresh_values(before.as_ref(), after.as_ref()))
        .collect();
    let pairs = pair::pair(&old, &new, &fresh);
    for lost in &pairs.lost {
        let case = &old[*lost];
        found.remarks.push(Remark {
            kind: Kind::Lost,
            path: edits[case.file].path.to_owned(),
            line: case.item.line,
            name: full_name(case),
            what: show_line(edits[case.file].before, case.item.line),
        });
    }
    let helpers = [
        assertion::asserting_helpers(before.iter().flatten()),
        assertion::asserting_helpers(after.iter().flatten()),
    ];
    let lines: [Vec<Vec<String>>; 2] = [
        edits
            .iter()
            .map(|edit| code_lines(edit, edit.before))
            .collect(),
        edits
            .iter()
            .map(|edit| code_lines(edit, edit.after))
            .collect(),
    ];
    for (was, is) in &pairs.same {
        let (was, is) = (&old[*was], &new[*is]);
        if was.item.name != is.item.name {
            found.renamed.push(Renamed {
                path: edits[is.file].path.to_owned(),
                from: full_name(was),
                to: full_name(is),
            });
        }
        let both = Both {
            was: Side::of(was, &helpers[0], &lines[0][was.file]),
            is: Side::of(is, &helpers[1], &lines[1][is.file]),
            fresh: &fresh[is.file],
        };
        for (kind, line) in both.weakenings() {
            found.remarks.push(remark(edits, is, kind, line));
        }
    }
    for fresh in &pairs.new {
        let case = &new[*fresh];
        let side = Side::of(case, &helpers[1], &lines[1][case.file]);
        for (kind, line) in side.find_born_weak() {
            found.remarks.push(remark(edits, case, kind, line));
        }
    }
    outside(edits, before, after, &lines, &mut found.remarks);
    found
}

fn code_lines(edit: &Edited, text: Option<&str>) -> Vec<String> {
    marks::code_lines(edit.path, text.unwrap_or_default())
}

fn full_name(case: &Case) -> String {
    match case.within.as_str() {
        "" => case.item.name.clone(),
        within => format!("{within} > {}", case.item.name),
    }
}

fn remark(edits: &[Edited], case: &Case, kind: Kind, line: usize) -> Remark {
    Remark {
        kind,
        path: edits[case.file].path.to_owned(),
        line,
        name: full_name(case),
        what: show_line(edits[case.file].after, line),
    }
}
