//! Tests under other names, several of one name, and tests that others wrote.

use super::bodies::TestThen;
use super::body::Body;
use super::forms::TestOutcome;
use super::named::TestName;
use super::output::names;
use super::sources::{Sources, Text};
use cook_core::diagnostic::Failure;
use cook_core::machine::{AnchorQuestion, OwnQuestion, WorkOf};
use cook_core::model::Receipt;
use cook_git::{ChangeKind, is_telling};
use std::collections::BTreeSet;

/// Files that are looked at for a test that others wrote.
const MAX_SEARCHED: usize = 2_000;

/// The tests that a name may mean: itself, or each that ends in it.
pub(super) fn list_alike<'t>(tests: &'t [(String, TestOutcome)], name: &str) -> BTreeSet<&'t str> {
    let all = tests.iter().map(|(full, _)| full.as_str());
    match all.clone().find(|full| *full == name) {
        Some(exact) => BTreeSet::from([exact]),
        None => all.filter(|full| names(full, name)).collect(),
    }
}

impl Sources<'_> {
    /// Of several tests that a stamped name may mean now, the one that all of its name leads to where the
    /// stamped one stood.
    pub(super) fn find_stamped_name(
        &self,
        question: &AnchorQuestion,
        name: &str,
        alike: &BTreeSet<&str>,
    ) -> Result<Option<String>, Failure> {
        let (Some((own, stamp)), Some(head)) = (self.find_stamped(question)?, &self.head.commit)
        else {
            return Ok(None);
        };
        let stamped = self.find_stamped_tests(&own, &stamp, &TestName::of(name))?;
        let mut led: BTreeSet<&str> = BTreeSet::new();
        for found in &stamped {
            let path = match &*self.text(head, &found.path)? {
                Text::Gone => self.find_renamed(&stamp, head, &found.path)?,
                _ => Some(found.path.clone()),
            };
            let Some(path) = path else { continue };
            let Text::Lines(lines) = &*self.text(head, &path)? else {
                continue;
            };
            led.extend(alike.iter().copied().filter(|full| {
                let full = TestName::of(full);
                (0..lines.len()).any(|at| full.leads_to(&path, lines, at))
            }));
        }
        Ok(match led.len() {
            1 => led.pop_first().map(str::to_owned),
            _ => None,
        })
    }

    /// The name of the one passed test that has the body of the stamped one now: all of its name leads
    /// to where that body stands. One of that last part alone may stand anywhere.
    pub(super) fn find_renamed_test(
        &self,
        question: &AnchorQuestion,
        name: &str,
        receipts: &[Receipt],
    ) -> Result<Option<String>, Failure> {
        // Whoever claims a test names it as it is.
        if matches!(question.work, Some(WorkOf::Claimed(_))) {
            return Ok(None);
        }
        let (Some((own, stamp)), Some(head)) = (self.find_stamped(question)?, &self.head.commit)
        else {
            return Ok(None);
        };
        let stamped = self.find_stamped_tests(&own, &stamp, &TestName::of(name))?;
        let mut named = BTreeSet::new();
        let way = self.repo.list_way(&stamp, head)?;
        for path in self.places(&own, head)? {
            let text = self.text(head, &path)?;
            let Text::Lines(lines) = &*text else {
                continue;
            };
            let mut moved = Vec::new();
            for then in &stamped {
                if !self.has_stood_beside(then, &stamp, &way, &path)? {
                    moved.push(then);
                }
            }
            let same = (0..lines.len())
                .filter(|at| moved.iter().any(|then| then.body.is_body_at(lines, *at)));
            for at in same {
                for receipt in receipts.iter().filter(|receipt| receipt.has_passed()) {
                    let said = self.read_output(receipt)?;
                    let passed = said
                        .tests
                        .iter()
                        .filter(|(_, how)| *how == TestOutcome::Passed);
                    let here =
                        passed.filter(|(name, _)| TestName::of(name).leads_to(&path, lines, at));
                    named.extend(here.map(|(name, _)| name.clone()));
                }
            }
        }
        Ok(match named.len() {
            1 => named.pop_first(),
            _ => None,
        })
    }

    /// The other file held what the test says already before it left its own.
    fn has_stood_beside(
        &self,
        then: &TestThen,
        stamp: &str,
        way: &[(String, String)],
        other: &str,
    ) -> Result<bool, Failure> {
        let Text::Lines(lines) = &*self.text(stamp, &then.path)? else {
            return Ok(false);
        };
        let below = then.place.lines.start + 1..then.place.lines.end;
        let below = lines.get(below).unwrap_or_default();
        if other == then.path || !is_telling(below) {
            return Ok(false);
        }
        let below: Vec<&[u8]> = below.iter().map(String::as_bytes).collect();
        self.repo.has_stood_before(way, &then.path, other, &below)
    }

    /// The test came with others while the slice was in work: what may bear its name stands in no text of the
    /// slice's, and did not say the same at the basis.
    pub(super) fn is_others_test(
        &self,
        work: &WorkOf,
        of: &OwnQuestion,
        name: &str,
    ) -> Result<bool, Failure> {
        let (basis, head) = (self.repo.resolve(&of.basis)?, self.repo.resolve(&of.head)?);
        let (Some(basis), Some(head), Some(now)) = (basis, head, &self.head.commit) else {
            return Ok(false);
        };
        let changes = self.changes(&basis, &head)?;
        let changed = |unlike: ChangeKind| -> BTreeSet<String> {
            let listed = changes.iter().filter(|change| change.kind != unlike);
            let listed = listed.take(MAX_SEARCHED);
            listed.map(|change| change.path.clone()).collect()
        };
        let name = TestName::of(name);
        let there = self.find_tests(now, &changed(ChangeKind::Deleted), &name)?;
        if there.is_empty() {
            return Ok(false);
        }
        let mut before: Vec<Body> = Vec::new();
        for path in changed(ChangeKind::Added) {
            before.extend(self.list_bodies(&basis, &path, &name)?);
        }
        for found in there {
            let is_old = before.contains(&found.body);
            if is_old || self.is_own_body(work, &found)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
