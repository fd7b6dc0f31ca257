//! A test compared with the test that it became.

use super::again::list_again;
use super::around;
use super::assertion;
use super::case::{Case, list_cases};
use super::collected;
use super::constants::{self, Constants};
use super::content::{Content, list_fresh};
use super::marks;
use super::merged::{self, Grown};
use super::outside::outside;
use super::pair;
use super::remark::{Kind, Remark, Renamed, Weakenings, show_line};
use super::replaced;
use super::retired::Retired;
use super::shadowed::list_shadowed;
use super::shared;
use super::side::{Both, Side};
use super::stub::{Defined, StandIns};
use super::tables::Tables;
use crate::class::Edited;
use crate::suite::{Item, Suite};
use std::collections::BTreeSet;

pub(super) fn compare<'a>(
    edits: &[Edited<'a>],
    before: &'a [Option<Suite<'a>>],
    after: &'a [Option<Suite<'a>>],
) -> Weakenings {
    let mut found = Weakenings::default();
    let (old, new) = (list_cases(before), list_cases(after));
    let sides = before.iter().zip(after);
    let fresh: Vec<Content> = sides
        .map(|(before, after)| list_fresh(before.as_ref(), after.as_ref()))
        .collect();
    let pairs = pair::pair(&old, &new, &fresh, after);
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
    let loose: [Vec<Constants>; 2] = [before, after].map(|suites| {
        let of = |suite: &'a Option<Suite<'a>>| suite.as_ref().map(constants::list_loose);
        suites
            .iter()
            .map(|suite| of(suite).unwrap_or_default())
            .collect()
    });
    let side = |part: usize, case: &Case<'a>| {
        Side::of(
            case.suite,
            case.item,
            &helpers[part],
            &lines[part][case.file],
            &loose[part][case.file],
        )
    };
    let was: Vec<Side> = old.iter().map(|case| side(0, case)).collect();
    let is: Vec<Side> = new.iter().map(|case| side(1, case)).collect();
    let retired = Retired::list(edits, before, after);
    let tables = Tables::read(edits, before, after);
    let stand_ins = StandIns {
        was: Defined::list(edits, before),
        is: Defined::list(edits, after),
        suites: after,
    };
    let beside_tests = [before, after].map(|suites| {
        let of = |suite: &'a Option<Suite<'a>>| suite.as_ref().map(replaced::list_beside);
        suites
            .iter()
            .map(|suite| of(suite).unwrap_or_default())
            .collect::<Vec<_>>()
    });
    let before_names: Vec<BTreeSet<&str>> = before
        .iter()
        .map(|suite| {
            let tokens = suite.as_ref().map(|suite| suite.tokens.as_slice());
            let all = replaced::list_replaced(tokens.unwrap_or_default());
            all.into_iter().map(|(name, ..)| name).collect()
        })
        .enumerate()
        .map(|(file, mut names): (usize, BTreeSet<&str>)| {
            names.extend(beside_tests[0][file].iter().map(|(name, ..)| *name));
            names
        })
        .collect();
    let grown: Vec<Grown> = pairs
        .same
        .iter()
        .filter(|(old, new)| is[*new].assertions != was[*old].assertions)
        .map(|(old, new)| Grown::of(Some(&was[*old]), &is[*new]))
        .chain(pairs.new.iter().map(|new| Grown::of(None, &is[*new])))
        .take(merged::CANDIDATES)
        .collect();
    for (place, lost) in pairs.lost.iter().enumerate() {
        let case = &old[*lost];
        let body = &case.suite.tokens[case.item.body.clone()];
        if holds_others(case, &old)
            || runs_gone_suite(case, after)
            || retired.is_told_in(case.suite.language, body)
            || place < merged::CANDIDATES && merged::is_merged(&was[*lost], &grown)
        {
            continue;
        }
        found.remarks.push(Remark {
            kind: Kind::Lost,
            path: edits[case.file].path.to_owned(),
            line: case.item.line,
            name: full_name(case),
            what: show_line(edits[case.file].before, case.item.line),
        });
    }
    // What sets up every test stands beside each.
    let set_up = |part: usize| -> Vec<(&str, &str, usize)> {
        let own = edits.iter().zip(&beside_tests[part]);
        let own = own.filter(|(edit, _)| edit.path.rsplit('/').next() == Some("conftest.py"));
        own.flat_map(|(_, beside)| beside.iter().copied()).collect()
    };
    let before_set_up: BTreeSet<&str> = set_up(0).iter().map(|(name, ..)| *name).collect();
    let mut of_set_up = set_up(1);
    of_set_up.retain(|(name, ..)| !before_set_up.contains(name));
    let again = list_again(after);
    // Where a test no longer waits for a time, what looks again takes its place.
    let by_deadline = lines[0].iter().flatten().any(|line| marks::is_sleep(line));
    let spare = merged::list_spare(pairs.new.iter().map(|new| &is[*new]));
    for (old_at, new_at) in &pairs.same {
        let (from, to) = (&old[*old_at], &new[*new_at]);
        if from.item.name != to.item.name {
            found.renamed.push(Renamed {
                path: edits[to.file].path.to_owned(),
                from: full_name(from),
                to: full_name(to),
            });
        }
        let both = Both {
            was: &was[*old_at],
            is: &is[*new_at],
            fresh: &fresh[to.file].values,
            spare: &spare,
            retired: &retired,
        };
        for (kind, line) in both.weakenings() {
            found.remarks.push(remark(edits, to, kind, line));
        }
        let wrapped = both.is_wrapped(&again);
        if let Some(line) = wrapped.filter(|_| !by_deadline) {
            found.remarks.push(remark(edits, to, Kind::Retried, line));
        }
        if collected::is_out_of_sight(edits, from, to) {
            found
                .remarks
                .push(remark(edits, to, Kind::Lost, to.item.line));
        }
        let mut beside = beside_tests[1][to.file].clone();
        beside.extend(&of_set_up);
        let line = stand_ins
            .find(&both)
            .or_else(|| stand_ins.find_written(&both))
            .or_else(|| replaced::finds_replaced(&both, &before_names[from.file], &beside));
        if let Some(line) = line {
            found.remarks.push(remark(edits, to, Kind::Weakened, line));
        }
        if tables.takes_out((from.file, from.item), (to.file, to.item), &retired) {
            found
                .remarks
                .push(remark(edits, to, Kind::Weakened, to.item.line));
        }
    }
    for fresh in &pairs.new {
        let case = &new[*fresh];
        for (kind, line) in is[*fresh].find_born_weak() {
            // Elsewhere it runs.
            let elsewhere =
                kind == Kind::Skipped && around::is_conditional(edits[case.file].after, line);
            if !elsewhere {
                found.remarks.push(remark(edits, case, kind, line));
            }
        }
    }
    let of_item = |part: usize, file: usize, item: &'a Item| {
        let suite = [before, after][part][file].as_ref()?;
        Some(Side::of(
            suite,
            item,
            &helpers[part],
            &lines[part][file],
            &loose[part][file],
        ))
    };
    for (file, edit) in edits.iter().enumerate() {
        let (Some(was), Some(is)) = (&before[file], &after[file]) else {
            continue;
        };
        let unlisted = collected::list_unlisted(edits, file, was, is).into_iter();
        let uncalled = collected::list_uncalled(was, is).into_iter();
        let told = unlisted
            .map(|one| (Kind::Lost, one, edit.before))
            .chain(uncalled.map(|one| (Kind::Skipped, one, edit.after)));
        found
            .remarks
            .extend(told.map(|(kind, (name, line), text)| Remark {
                kind,
                path: edit.path.to_owned(),
                line,
                name,
                what: show_line(text, line),
            }));
        let whole = shared::is_of_tests(edit);
        if let Some(line) = tables.takes_out_of(file, whole, &retired) {
            found.remarks.push(Remark {
                kind: Kind::Weakened,
                path: edit.path.to_owned(),
                line,
                name: edit.path.to_owned(),
                what: show_line(edit.after, line),
            });
        }
    }
    let scripts = shared::list_scripts(edits, before, after);
    for (file, was, is) in &scripts {
        let (Some(one), Some(other)) = (&before[*file], &after[*file]) else {
            continue;
        };
        let side = |part: usize, suite, item| {
            let (helpers, lines) = (&helpers[part], &lines[part][*file]);
            Side::of(suite, item, helpers, lines, &loose[part][*file])
        };
        let (was, to) = (side(0, one, was), side(1, other, is));
        let (from, into) = (
            side(0, one, was.item).without_functions(),
            side(1, other, to.item).without_functions(),
        );
        let both = Both {
            was: &from,
            is: &into,
            fresh: &fresh[*file].values,
            spare: &spare,
            retired: &retired,
        };
        let told = both.weakenings_of_script().into_iter();
        // What its functions look at is looked at by it.
        let both = Both {
            was: &was,
            is: &to,
            ..both
        };
        let by_stub = stand_ins
            .find(&both)
            .or_else(|| stand_ins.find_written(&both));
        let told = told.chain(by_stub.map(|line| (Kind::Weakened, line)));
        found.remarks.extend(told.map(|(kind, line)| Remark {
            kind,
            path: edits[*file].path.to_owned(),
            line,
            name: edits[*file].path.to_owned(),
            what: show_line(edits[*file].after, line),
        }));
    }
    for (was, is) in shared::pair_helpers(edits, before, after) {
        let sides = of_item(0, was.0, was.1).zip(of_item(1, is.0, is.1));
        let Some((was, to)) = &sides else { continue };
        let both = Both {
            was,
            is: to,
            fresh: &fresh[is.0].values,
            spare: &spare,
            retired: &retired,
        };
        let told = both.weakenings_of_helper().into_iter();
        found.remarks.extend(told.map(|(kind, line)| Remark {
            kind,
            path: edits[is.0].path.to_owned(),
            line,
            name: is.1.name.clone(),
            what: show_line(edits[is.0].after, line),
        }));
    }
    outside(edits, before, after, &lines, &mut found.remarks);
    found.remarks.extend(list_shadowed(edits, before, after));
    found
}

/// A test of Go that is nothing but others: they are looked at by themselves.
fn holds_others(case: &Case, all: &[Case]) -> bool {
    let body = &case.item.body;
    let place = all.partition_point(|other| {
        (other.file, other.item.head.start) <= (case.file, case.item.head.start)
    });
    let inner: Vec<&Case> = all[place..]
        .iter()
        .take_while(|other| other.file == case.file && other.item.body.end <= body.end)
        .collect();
    let fails = |at: usize| {
        let token = case.suite.tokens[at];
        let outside = !inner.iter().any(|other| other.item.body.contains(&at));
        outside
            && matches!(
                token.text,
                "Error" | "Errorf" | "Fatal" | "Fatalf" | "Fail" | "FailNow"
            )
    };
    !inner.is_empty() && !body.clone().any(fails)
}

/// `suite.Run(t, new(StoreSuite))` of what is no suite any more: its tests are looked at themselves.
fn runs_gone_suite(case: &Case, after: &[Option<Suite>]) -> bool {
    let body = &case.suite.tokens[case.item.body.clone()];
    let runs = body
        .windows(3)
        .any(|three| three[0].is("suite") && three[1].is(".") && three[2].is("Run"));
    let Some(name) = body
        .iter()
        .rev()
        .find(|one| one.text.len() > 1 && one.kind == crate::lex::Kind::Word)
    else {
        return false;
    };
    let tokens = after.iter().flatten().flat_map(|suite| &suite.tokens);
    runs && !tokens.into_iter().any(|one| one.text == name.text)
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
