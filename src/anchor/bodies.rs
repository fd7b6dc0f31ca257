//! Tests by their bodies: that a name is green says little once another test has it.

use super::body::Body;
use super::named::{NameContext, NamedPlace, TestName, is_assigned, keep_likely, list_contexts};
use super::place::follow_lines;
use super::sources::{Sources, Text};
use cook_core::diagnostic::Failure;
use cook_core::machine::{AnchorQuestion, WorkOf};
use cook_core::model::Own;
use cook_git::{ChangeKind, Following};
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

/// Files that changed since the work that a test is looked for in.
const MAX_SEARCHED: usize = 2_000;

impl Sources<'_> {
    /// What became of the test that proves a done slice: what bore its name when it was stamped, as far
    /// as something that changed since names it, or another one of its name.
    /// `full` is what its runner calls it now.
    pub(super) fn same_test(
        &self,
        question: &AnchorQuestion,
        name: &str,
        full: &str,
    ) -> Result<Same, Failure> {
        let (Some((own, stamp)), Some(head)) = (self.find_stamped(question)?, &self.head.commit)
        else {
            return Ok(Same::Yes);
        };
        if stamp == *head {
            return Ok(Same::Yes);
        }
        let name = TestName::of(name);
        let stamped = self.find_stamped_tests(&own, &stamp, &name)?;
        let places = self.places(&own, head)?;
        // Nobody can say which of several runs: each must be there.
        let mut seen = Vec::new();
        for found in &stamped {
            seen.push(self.find_again(found, (&stamp, head), &places, &name)?);
        }
        let stands = seen.contains(&Same::Yes);
        if let Some(same) = seen.into_iter().find(|same| *same != Same::Yes) {
            if self.is_as_before(&own, head, &name)? {
                return Ok(Same::AsBefore);
            }
            return Ok(if stands { Same::InItsPlace } else { same });
        }
        let full = TestName::of(full);
        for found in &stamped {
            if self.is_displaced(found, head, &places, &full)? {
                return Ok(Same::OneOfSeveral);
            }
        }
        if !self.has_another(&stamped, (&stamp, head), &places, &name)? {
            return Ok(Same::Yes);
        }
        for found in &stamped {
            let there = self.list_bodies(head, &found.path, &name)?;
            if !there.contains(&found.body) {
                return Ok(Same::OneOfSeveral);
            }
        }
        Ok(Same::InItsPlace)
    }

    fn find_again(
        &self,
        found: &TestThen,
        (stamp, head): (&str, &str),
        places: &BTreeSet<String>,
        name: &TestName,
    ) -> Result<Same, Failure> {
        // A copy of what it said is not what runs, where something stands in its place.
        if let Some((path, there)) = self.find_in_place(found, stamp, head, name)? {
            let Text::Lines(lines) = &*self.text(head, &path)? else {
                return Ok(Same::InItsPlace);
            };
            let mut bodies = there.iter().map(|at| Body::of(lines, at, name.last));
            return Ok(match bodies.any(|body| body == found.body) {
                true => Same::Yes,
                false => Same::InItsPlace,
            });
        }
        for path in places {
            if self.list_bodies(head, path, name)?.contains(&found.body) {
                return Ok(Same::Yes);
            }
        }
        Ok(Same::No)
    }

    /// More of the name leads to another place now, which says something else: that one runs.
    fn is_displaced(
        &self,
        found: &TestThen,
        head: &str,
        places: &BTreeSet<String>,
        name: &TestName,
    ) -> Result<bool, Failure> {
        let mut there = Vec::new();
        for path in places {
            let Text::Lines(lines) = &*self.text(head, path)? else {
                continue;
            };
            for place in name.find_all(path, lines) {
                let body = Body::of(lines, &place, name.last);
                there.push((place, body == found.body));
            }
        }
        let is_less = |own: &NamedPlace| {
            let mut others = there.iter().filter(|(_, is_own)| !is_own);
            others.any(|(other, _)| own.is_less_than(other))
        };
        let mut own = there.iter().filter(|(_, is_own)| *is_own).peekable();
        Ok(own.peek().is_some() && own.all(|(place, _)| is_less(place)))
    }

    /// Something bears the name in just its way that did not when it was stamped, and says something else:
    /// the runner may take that one.
    fn has_another(
        &self,
        stamped: &[TestThen],
        (stamp, head): (&str, &str),
        places: &BTreeSet<String>,
        name: &TestName,
    ) -> Result<bool, Failure> {
        let contexts: Vec<&NameContext> = stamped.iter().map(|found| &found.context).collect();
        let bears = |commit: &str, path: &str| -> Result<Vec<Body>, Failure> {
            let Text::Lines(lines) = &*self.text(commit, path)? else {
                return Ok(Vec::new());
            };
            let mut found = name.find_lines(path, lines);
            found.retain(|found| {
                let there = list_contexts(&lines[found.lines.start], name.last);
                let is_likely = stamped.iter().all(|then| !found.is_less_than(&then.place));
                let line = &lines[found.lines.start];
                let is_put = is_assigned(line, name.last);
                let is_alike = there.iter().any(|context| contexts.contains(&context)) || is_put;
                is_likely && is_alike || is_put && name.is_within(line)
            });
            let bodies = found.into_iter();
            Ok(bodies
                .map(|found| Body::of(lines, &found, name.last))
                .collect())
        };
        let mut before = Vec::new();
        for change in self.changes(stamp, head)?.iter().take(MAX_SEARCHED) {
            before.extend(bears(stamp, &change.path)?);
        }
        for path in places {
            let now = bears(head, path)?;
            let is_more = now.len() > bears(stamp, path)?.len();
            if is_more && now.iter().any(|body| !before.contains(body)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn list_bodies(
        &self,
        commit: &str,
        path: &str,
        name: &TestName,
    ) -> Result<Vec<Body>, Failure> {
        let Text::Lines(lines) = &*self.text(commit, path)? else {
            return Ok(Vec::new());
        };
        let found = name.find_all(path, lines).into_iter();
        Ok(found
            .map(|found| Body::of(lines, &found, name.last))
            .collect())
    }

    /// A test that the work changed says again what it said at the basis.
    fn is_as_before(&self, own: &Own, head: &str, name: &TestName) -> Result<bool, Failure> {
        let (Some(basis), Some(done)) =
            (self.find_commit(&own.basis)?, self.find_commit(&own.head)?)
        else {
            return Ok(false);
        };
        for file in &own.files {
            let source = file.from.as_deref().unwrap_or(&file.path);
            let was = self.list_bodies(&basis, source, name)?;
            let then = self.list_bodies(&done, &file.path, name)?;
            let now = self.list_bodies(head, &file.path, name)?;
            let is_back = |body: &Body| now.contains(body) && !then.contains(body);
            if was.iter().any(is_back) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The places of this name where the stamped one stood, and their file.
    fn find_in_place(
        &self,
        found: &TestThen,
        stamp: &str,
        head: &str,
        name: &TestName,
    ) -> Result<Option<InPlace>, Failure> {
        let path = match &*self.text(head, &found.path)? {
            Text::Gone => self.find_renamed(stamp, head, &found.path)?,
            _ => Some(found.path.clone()),
        };
        let Some(path) = path else {
            return Ok(None);
        };
        let (then, now) = (self.text(stamp, &found.path)?, self.text(head, &path)?);
        let (Text::Lines(then), Text::Lines(lines)) = (&*then, &*now) else {
            return Ok(None);
        };
        let stood = found.place.lines.clone();
        let Some(followed) = follow_lines(then, lines, stood, (&[], 0..0))? else {
            return Ok(None);
        };
        let there = name.find_all(&path, lines).into_iter();
        // What is quoted there is none that anybody would run.
        let there = there.filter(|here| {
            (!here.is_quoted || found.place.is_quoted)
                && followed.now.start < here.lines.end
                && here.lines.start < followed.now.end
        });
        let there: Vec<NamedPlace> = there.collect();
        Ok((!there.is_empty()).then_some((path, there)))
    }

    /// Whether the test is the work's own, or stands in the place of its own.
    pub(super) fn is_own_test(&self, work: &WorkOf, name: &str) -> Result<bool, Failure> {
        let Some(head) = &self.head.commit else {
            return Ok(false);
        };
        let Some(own) = self.work(work, "")? else {
            return Ok(true);
        };
        let name = TestName::of(name);
        let found = self.find_tests(head, &self.places(&own, head)?, &name)?;
        // Where another one bears the name, nobody can say which of them runs; what is quoted never does.
        for test in &found {
            if test.place.is_quoted || !self.is_work(work, &test.path, &test.below())? {
                return Ok(false);
            }
        }
        Ok(!found.is_empty())
    }

    /// Whose work it is, and the commit since which its proof must say the same: of a done slice where
    /// it was stamped, of one that is to be accepted the commit that was reviewed. What a slice found
    /// there is nobody's work, and its proof is held as well.
    pub(super) fn find_stamped(
        &self,
        question: &AnchorQuestion,
    ) -> Result<Option<(Rc<Own>, String)>, Failure> {
        let Some(work) = &question.work else {
            return Ok(self.find_stamp(question)?.map(|stamp| {
                let nothing = Own {
                    basis: stamp.clone(),
                    head: stamp.clone(),
                    ..Own::default()
                };
                (Rc::new(nothing), stamp)
            }));
        };
        let Some(own) = self.work(work, "")? else {
            return Ok(None);
        };
        let stamp = match work {
            WorkOf::Claimed(_) => self.find_commit(&own.head)?,
            WorkOf::Accepted(_) => self.find_stamp(question)?,
        };
        Ok(stamp.map(|stamp| (own, stamp)))
    }

    fn places_then(&self, own: &Own) -> BTreeSet<String> {
        own.files.iter().map(|file| file.path.clone()).collect()
    }

    /// Where the work's text may stand at a later commit.
    pub(super) fn places(&self, own: &Own, head: &str) -> Result<BTreeSet<String>, Failure> {
        let mut places = self.places_then(own);
        let Some(from) = self.find_commit(&own.head)? else {
            return Ok(places);
        };
        let following = Following::new(self.repo, own, head)?;
        for path in self.places_then(own) {
            places.extend(following.find_renamed(&path)?);
        }
        let changes = self.changes(&from, head)?;
        let there = changes
            .iter()
            .filter(|change| change.kind != ChangeKind::Deleted);
        places.extend(there.take(MAX_SEARCHED).map(|change| change.path.clone()));
        Ok(places)
    }

    /// The test as it was stamped: in the work's own files, else where its text had gone by then,
    /// else in a file that changed since. Elsewhere it is as it was.
    pub(super) fn find_stamped_tests(
        &self,
        own: &Own,
        stamp: &str,
        name: &TestName,
    ) -> Result<Vec<TestThen>, Failure> {
        for places in [self.places_then(own), self.places(own, stamp)?] {
            let found = self.find_tests(stamp, &places, name)?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        let Some(head) = &self.head.commit else {
            return Ok(Vec::new());
        };
        let changes = self.changes(stamp, head)?;
        let there = changes
            .iter()
            .filter(|change| change.kind != ChangeKind::Added);
        let there = there.take(MAX_SEARCHED).map(|change| change.path.clone());
        // One line that names it may be anybody's.
        let mut found = self.find_tests(stamp, &there.collect(), name)?;
        found.retain(|found| found.place.has_body);
        Ok(found)
    }

    /// What may be the test in these files.
    pub(super) fn find_tests(
        &self,
        commit: &str,
        places: &BTreeSet<String>,
        name: &TestName,
    ) -> Result<Vec<TestThen>, Failure> {
        let mut all = Vec::new();
        for path in places {
            let text = self.text(commit, path)?;
            let Text::Lines(lines) = &*text else {
                continue;
            };
            for place in name.find_all(path, lines) {
                let line = &lines[place.lines.start];
                let mut contexts = list_contexts(line, name.last).into_iter();
                all.push(TestThen {
                    path: path.clone(),
                    body: Body::of(lines, &place, name.last),
                    context: contexts.next().unwrap_or_default(),
                    place,
                });
            }
        }
        keep_likely(&mut all, |found| &found.place);
        Ok(all)
    }
}

/// Whether a test is the one that was stamped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Same {
    Yes,
    /// The one from before the work.
    AsBefore,
    /// Another one, which somebody wrote in its place, or beside it where it was.
    InItsPlace,
    /// It went elsewhere, and another one of its name came.
    OneOfSeveral,
    No,
}

/// A file, and the places in it.
type InPlace = (String, Vec<NamedPlace>);

/// A test as it was stamped, and where.
pub(super) struct TestThen {
    pub(super) path: String,
    pub(super) place: NamedPlace,
    context: NameContext,
    pub(super) body: Body,
}

impl TestThen {
    /// What it says. The line that names it says whose it is called, and another one may bear the same.
    pub(super) fn below(&self) -> Range<usize> {
        let lines = &self.place.lines;
        match lines.len() {
            0 | 1 => lines.clone(),
            _ => lines.start + 1..lines.end,
        }
    }
}
