//! Which test of before is which test of now: by name, by body, by what it holds.

use super::absorbed::{is_absorbed, list_added, list_idle, makes_tests};
use super::case::Case;
use super::content::Content;
use crate::suite::{Item, Sort, Suite};
use std::collections::{BTreeMap, BTreeSet};

/// Candidates that one test is compared with by what it holds.
const CANDIDATES: usize = 400;
/// Of these the best that are kept.
const BEST: usize = 8;

/// What became of the tests of before.
pub(super) struct Pairs {
    /// Test of before, test of now.
    pub same: Vec<(usize, usize)>,
    /// Tests of before that are not there any more.
    pub lost: Vec<usize>,
    /// Tests of now that nothing of before became.
    pub new: Vec<usize>,
}

/// Finds for each test of before the one of now that it became; `fresh` is by file what came outside
/// of tests.
pub(super) fn pair<'a>(
    before: &[Case<'a>],
    after: &[Case<'a>],
    fresh: &[Content<'a>],
    suites: &[Option<Suite<'a>>],
) -> Pairs {
    let mut to: Vec<Option<usize>> = vec![None; before.len()];
    let mut taken = vec![false; after.len()];
    type Key<'k> = fn(&'k Case<'k>) -> (Option<usize>, &'k str, &'k str);
    let keys: [(Key, bool); 5] = [
        (
            |case| (Some(case.file), &case.within, &case.item.name),
            true,
        ),
        (|case| (Some(case.file), "", &case.item.name), true),
        (|case| (Some(case.file), "", &case.body), false),
        (|case| (None, &case.item.name, &case.body), false),
        (|case| (None, "", &case.body), false),
    ];
    for (key, by_name) in keys {
        let mut places: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for at in (0..after.len()).rev().filter(|at| !taken[*at]) {
            places.entry(key(&after[at])).or_default().push(at);
        }
        for (old, case) in before.iter().enumerate() {
            let telling = by_name || case.content.len() > 1;
            if to[old].is_some() || !telling {
                continue;
            }
            if let Some(new) = places.get_mut(&key(case)).and_then(Vec::pop) {
                to[old] = Some(new);
                taken[new] = true;
            }
        }
    }
    // What is left when the best of all were taken is sought once more.
    let idle = list_idle(after);
    for _ in 0..2 {
        if !by_content(before, after, fresh, &idle, (&mut to, &mut taken)) {
            break;
        }
    }
    let mut pool = list_added(before, after, &to);
    let made = suites.iter().enumerate().filter_map(|(file, suite)| {
        let makes = suite.as_ref().is_some_and(makes_tests);
        makes.then(|| (file, fresh[file].clone()))
    });
    pool.extend(made);
    let kept: BTreeSet<_> = to
        .iter()
        .flatten()
        .map(|new| key_copy(&after[*new]))
        .collect();
    let paired: BTreeSet<&str> = (0..before.len())
        .filter(|old| to[*old].is_some())
        .map(|old| before[old].body.as_str())
        .collect();
    let lost = (0..before.len()).filter(|old| {
        let case = &before[*old];
        to[*old].is_none()
            && (idle.contains(case.body.as_str())
                || !is_absorbed(case, &pool, fresh)
                    && !kept.contains(&key_copy(case))
                    && !is_run_for_both(case, &paired, after)
                    && !after
                        .iter()
                        .enumerate()
                        .any(|(new, other)| !taken[new] && tells_more(case, other)))
    });
    Pairs {
        lost: lost.collect(),
        same: to
            .iter()
            .enumerate()
            .filter_map(|(old, new)| Some((old, (*new)?)))
            .collect(),
        new: (0..after.len()).filter(|new| !taken[*new]).collect(),
    }
}

/// A test that came in its file bears a name that says what its own says and more: it was merged.
fn tells_more(case: &Case, other: &Case) -> bool {
    let within = case.file == other.file
        && !case.named.is_empty()
        && case.named.len() < other.named.len()
        && case.named.is_subset(&other.named);
    within && {
        let (of_words, of_values) = case.content.measure_cover(&[&other.content]);
        of_words >= 0.3 && of_values >= 0.5 && other.body.len() >= case.body.len()
    }
}

/// The same test of two classes became one for both: what sets its class apart still stands there.
fn is_run_for_both(case: &Case, paired: &BTreeSet<&str>, after: &[Case]) -> bool {
    if !paired.contains(case.body.as_str()) {
        return false;
    }
    let suite = case.suite;
    let own = case.item.head.start;
    let mut groups = suite
        .items
        .iter()
        .filter(|item| item.sort == Sort::Group && item.body.contains(&own));
    let (Some(group), Some(now)) = (
        groups.next_back(),
        after.iter().find(|other| other.file == case.file),
    ) else {
        return false;
    };
    let tests: Vec<&Item> = suite.tests().map(|(test, _)| test).collect();
    let apart = group.body.clone().filter(|at| {
        let place = tests.partition_point(|test| test.body.end <= *at);
        tests.get(place).is_none_or(|test| test.head.start > *at)
    });
    let tokens: Vec<_> = apart.map(|at| suite.tokens[at]).collect();
    let words = Content::of(suite.language, &tokens).words;
    let there: BTreeSet<&str> = now.suite.tokens.iter().map(|one| one.text).collect();
    let mut named = words
        .iter()
        .filter(|word| word.starts_with(char::is_uppercase))
        .peekable();
    named.peek().is_some() && named.all(|word| there.contains(word))
}

/// What two tests have in common of which one is a copy of the other: all but their names.
fn key_copy<'c>(case: &'c Case) -> (usize, &'c str, &'c str, String) {
    let head = &case.suite.tokens[case.item.head.clone()];
    let own = head
        .iter()
        .filter(|one| crate::lex::inside(one.text) != case.item.name);
    let head: Vec<&str> = own.map(|one| one.text).collect();
    (case.file, &case.within, &case.body, head.join(" "))
}

/// A test that has another name, or another file, and holds nearly all that the old one held; whether
/// one was left because others took what it could have become.
fn by_content(
    before: &[Case],
    after: &[Case],
    fresh: &[Content],
    idle: &BTreeSet<String>,
    (to, taken): (&mut [Option<usize>], &mut [bool]),
) -> bool {
    let mut found: Vec<(f64, usize, usize)> = Vec::new();
    for (old, case) in before.iter().enumerate() {
        // What stands there and is not run has become no other test.
        if to[old].is_some() || idle.contains(&case.body) {
            continue;
        }
        // Of the same name first, then those of its file.
        let near = |new: &usize| {
            let other = &after[*new];
            (other.file == case.file, other.item.name == case.item.name)
        };
        let free = |here: bool, named: bool| {
            let taken = &*taken;
            (0..after.len()).filter(move |new| !taken[*new] && near(new) == (here, named))
        };
        let order = free(false, true)
            .take(CANDIDATES)
            .chain(free(true, false).take(CANDIDATES))
            .chain(free(false, false).take(CANDIDATES));
        let scored = order.filter_map(|new| {
            let other = &after[new];
            Some((measure_likeness(case, other, &fresh[other.file])?, old, new))
        });
        let mut scored: Vec<_> = scored.collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.extend(scored.into_iter().take(BEST));
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (_, old, new) in &found {
        if to[*old].is_none() && !taken[*new] {
            to[*old] = Some(*new);
            taken[*new] = true;
        }
    }
    found.iter().any(|(_, old, _)| to[*old].is_none())
}

/// How much the one may have become the other; none where it has not.
fn measure_likeness(case: &Case, other: &Case, fresh: &Content) -> Option<f64> {
    let own = &case.content;
    let (own_words, own_values) = own.measure_cover(&[&other.content]);
    let same_name = other.item.name == case.item.name;
    let any = own_words > 0.0 || !own.values.is_empty() && own_values > 0.0;
    if !any {
        return None;
    }
    let like_name = same_name || is_much_the_same_name(&case.named, &other.named);
    let mut score = own_words + own_values;
    let few = own.len() < 3;
    let mut is_one = own_words >= 0.7 && own_values >= 0.75 && !few
        || own_words >= 0.5 && own_values >= 1.0 && own.values.len() > 1
        || own.values.len() > 2 && own.values == other.content.values
        || few && own.words == other.content.words && own_values >= 1.0;
    // What it was given by itself comes from a helper, a hook or a table.
    let shares =
        own_words >= 0.3 || !own.values.is_empty() && own_values >= 0.5 || like_name && any;
    if shares && !is_one {
        let (of_words, of_values) = own.measure_cover(&[&other.content, fresh]);
        score = (of_words + of_values + score) / 2.0;
        is_one = of_words >= 0.7 && of_values >= 0.75 && !few
            || like_name && of_words >= 0.3 && of_values >= 0.3;
    }
    // In a file that came instead it is known by its whole name.
    let moved = same_name && case.file != other.file && case.within == other.within;
    is_one |= moved && (own_words > 0.2 || !own.values.is_empty() && own_values > 0.0);
    let bonus = match (same_name, like_name) {
        (true, _) => 1.0,
        (_, true) => 0.5,
        _ => 0.0,
    };
    is_one.then_some(score + bonus)
}

fn is_much_the_same_name(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    let both = a.intersection(b).count();
    let least = a.len().min(b.len());
    both > 1 && both * 10 >= least * 6 || both == 1 && a.len() == 1 && b.len() == 1
}
