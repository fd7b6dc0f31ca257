//! Tests by their bodies: that a name is green says little once another test has it.

use super::forms::TestOutcome;
use super::sources::{Sources, Text};
use super::text::{body, has_word};
use cook_core::diagnostic::Failure;
use cook_core::machine::{AnchorQuestion, WorkOf};
use cook_core::model::{Own, Receipt};
use cook_git::{ChangeKind, Comparison, Following, Text as Lines};
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

/// Files that changed since the work that a test is looked for in.
const MAX_SEARCHED: usize = 200;

impl Sources<'_> {
    /// What became of the test that proves a done slice: the one that was stamped, as far as
    /// something that changed since names it, or another one of its name.
    pub(super) fn same_test(&self, question: &AnchorQuestion, name: &str) -> Result<Same, Failure> {
        let (Some((own, stamp)), Some(head)) = (self.find_stamped(question)?, &self.head.commit)
        else {
            return Ok(Same::Yes);
        };
        let Some(found) = self.find_stamped_test(&own, &stamp, name)? else {
            return Ok(Same::Yes);
        };
        let name = last_part(name);
        let place = self.find_in_place(&found, &stamp, head, name)?;
        for path in self.places(&own, head)? {
            // A copy of what it said is not what runs, where something stands in its place.
            if place.as_ref().is_some_and(|place| *place != path) {
                continue;
            }
            let text = self.text(head, &path)?;
            if let Text::Lines(lines) = &*text
                && let Some(here) = find_body(lines, name)
                && Body::of(&lines[here], name) == found.body
            {
                return Ok(Same::Yes);
            }
        }
        if self.is_as_before(&own, head, name)? {
            return Ok(Same::AsBefore);
        }
        Ok(match place.is_some() {
            true => Same::InItsPlace,
            false => Same::No,
        })
    }

    /// A test that the work changed says again what it said at the basis.
    fn is_as_before(&self, own: &Own, head: &str, name: &str) -> Result<bool, Failure> {
        let read = |commit: &str, path: &str| -> Result<Option<Body>, Failure> {
            Ok(match &*self.text(commit, path)? {
                Text::Lines(lines) => {
                    find_body(lines, name).map(|found| Body::of(&lines[found], name))
                }
                _ => None,
            })
        };
        let (Some(basis), Some(done)) = (
            self.repo.resolve(&own.basis)?,
            self.repo.resolve(&own.head)?,
        ) else {
            return Ok(false);
        };
        for file in &own.files {
            let was = read(&basis, file.from.as_deref().unwrap_or(&file.path))?;
            let is_back = was.is_some() && was == read(head, &file.path)?;
            if is_back && was != read(&done, &file.path)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The file in which a test of this name stands where the stamped one stood.
    fn find_in_place(
        &self,
        found: &TestThen,
        stamp: &str,
        head: &str,
        name: &str,
    ) -> Result<Option<String>, Failure> {
        let path = match &*self.text(head, &found.path)? {
            Text::Gone => self.find_renamed(stamp, head, &found.path)?,
            _ => Some(found.path.clone()),
        };
        let Some(path) = path else {
            return Ok(None);
        };
        let (then, now) = (self.text(stamp, &found.path)?, self.text(head, &path)?);
        let (Text::Lines(then), Text::Lines(now)) = (&*then, &*now) else {
            return Ok(None);
        };
        let Some(here) = find_body(now, name) else {
            return Ok(None);
        };
        let text = |lines: &[String]| Lines::of(lines.join("\n").into_bytes());
        let (Some(then), Some(now)) = (text(then), text(now)) else {
            return Ok(None);
        };
        let followed =
            Comparison::new(&then, &now, &[])?.find_outcome(found.lines.clone(), &(0..0))?;
        let is_there = followed.now.start < here.end && here.start < followed.now.end;
        Ok(is_there.then_some(path))
    }

    /// The name of the one passed test that has the body of the stamped one now.
    pub(super) fn find_renamed_test(
        &self,
        question: &AnchorQuestion,
        name: &str,
        receipts: &[Receipt],
    ) -> Result<Option<String>, Failure> {
        let (Some((own, stamp)), Some(head)) = (self.find_stamped(question)?, &self.head.commit)
        else {
            return Ok(None);
        };
        let Some(TestThen { body: then, .. }) = self.find_stamped_test(&own, &stamp, name)? else {
            return Ok(None);
        };
        let mut named = BTreeSet::new();
        for path in self.places(&own, head)? {
            let text = self.text(head, &path)?;
            let Text::Lines(lines) = &*text else {
                continue;
            };
            let same = (0..lines.len()).filter(|at| then.is_body_at(lines, *at));
            for line in same.map(|at| &lines[at]) {
                for receipt in receipts.iter().filter(|receipt| receipt.has_passed()) {
                    let said = self.read_output(receipt)?;
                    let passed = said
                        .tests
                        .iter()
                        .filter(|(_, how)| *how == TestOutcome::Passed);
                    let here = passed.filter(|(name, _)| has_word(line, last_part(name)));
                    named.extend(here.map(|(name, _)| name.clone()));
                }
            }
        }
        Ok(match named.len() {
            1 => named.pop_first(),
            _ => None,
        })
    }

    /// Whether the test is the work's own, or stands in the place of its own.
    pub(super) fn is_own_test(&self, work: &WorkOf, name: &str) -> Result<bool, Failure> {
        let Some(head) = &self.head.commit else {
            return Ok(false);
        };
        let Some(own) = self.work(work, "")? else {
            return Ok(true);
        };
        for path in self.places(&own, head)? {
            let text = self.text(head, &path)?;
            if let Text::Lines(lines) = &*text
                && let Some(found) = find_body(lines, last_part(name))
                && self.is_work(work, &path, &found)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The work of a done slice, and the commit that its stored proof was stamped at.
    fn find_stamped(
        &self,
        question: &AnchorQuestion,
    ) -> Result<Option<(Rc<Own>, String)>, Failure> {
        let (Some(work @ WorkOf::Accepted(_)), Some(stamp)) =
            (&question.work, &question.stamped_at)
        else {
            return Ok(None);
        };
        let (Some(own), Some(stamp)) = (self.work(work, "")?, self.repo.resolve(stamp)?) else {
            return Ok(None);
        };
        Ok(Some((own, stamp)))
    }

    fn places_then(&self, own: &Own) -> BTreeSet<String> {
        own.files.iter().map(|file| file.path.clone()).collect()
    }

    /// Where the work's text may stand at a later commit.
    fn places(&self, own: &Own, head: &str) -> Result<BTreeSet<String>, Failure> {
        let mut places = self.places_then(own);
        let Some(from) = self.repo.resolve(&own.head)? else {
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
    fn find_stamped_test(
        &self,
        own: &Own,
        stamp: &str,
        name: &str,
    ) -> Result<Option<TestThen>, Failure> {
        for places in [self.places_then(own), self.places(own, stamp)?] {
            let found = self.find_test(stamp, &places, name)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        let Some(head) = &self.head.commit else {
            return Ok(None);
        };
        let changes = self.changes(stamp, head)?;
        let there = changes
            .iter()
            .filter(|change| change.kind != ChangeKind::Added);
        let there = there.take(MAX_SEARCHED).map(|change| change.path.clone());
        // One line that names it may be anybody's.
        let found = self.find_test(stamp, &there.collect(), name)?;
        Ok(found.filter(|found| found.lines.len() > 1))
    }

    fn find_test(
        &self,
        commit: &str,
        places: &BTreeSet<String>,
        name: &str,
    ) -> Result<Option<TestThen>, Failure> {
        let name = last_part(name);
        let mut mention = None;
        for path in places {
            let text = self.text(commit, path)?;
            let Text::Lines(lines) = &*text else {
                continue;
            };
            let Some(found) = find_body(lines, name) else {
                continue;
            };
            let is_test = found.len() > 1;
            let found = TestThen {
                path: path.clone(),
                body: Body::of(&lines[found.clone()], name),
                lines: found,
            };
            if is_test {
                return Ok(Some(found));
            }
            mention.get_or_insert(found);
        }
        Ok(mention)
    }
}

/// Whether a test is the one that was stamped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Same {
    Yes,
    /// The one from before the work.
    AsBefore,
    /// Another one, which somebody wrote in its place.
    InItsPlace,
    No,
}

/// A test as it was stamped, and where.
struct TestThen {
    path: String,
    lines: Range<usize>,
    body: Body,
}

/// A test without its name and without white space.
#[derive(Debug, PartialEq, Eq)]
struct Body {
    /// The line that names it.
    head: String,
    rest: String,
}

impl Body {
    fn of(lines: &[String], name: &str) -> Self {
        let (head, rest) = lines
            .split_first()
            .map_or(("", &[][..]), |(head, rest)| (head.as_str(), rest));
        Self {
            head: squeeze(&head.replacen(name, "", 1)),
            rest: rest.iter().map(|line| squeeze(line)).collect(),
        }
    }

    /// The same stands behind the line, whatever the line says. What stands in one line is not told
    /// from others without its name.
    fn is_body_at(&self, lines: &[String], at: usize) -> bool {
        if self.rest.is_empty()
            || lines
                .get(at + 1)
                .is_none_or(|next| !self.rest.starts_with(&squeeze(next)))
        {
            return false;
        }
        let found = body(lines, at);
        let rest = lines.get(at + 1..found.end).unwrap_or_default();
        rest.iter().map(|line| squeeze(line)).collect::<String>() == self.rest
    }
}

pub(super) fn squeeze(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The part of a test's full name that its source says: no module, class or file, no parameters.
fn last_part(name: &str) -> &str {
    let name = match name.split_once('[') {
        Some((name, _)) if !name.is_empty() => name,
        _ => name,
    };
    let marks = ["::", " > ", " \u{203a} ", "#"];
    let last = marks.iter().fold(name, |name, mark| {
        name.rsplit_once(mark).map_or(name, |(_, last)| last)
    });
    // `TestX/case` is a case of `TestX`; a dot ends a class.
    let last = last.split_once('/').map_or(last, |(test, _)| test);
    match last.rsplit_once('.') {
        Some((_, method)) if !method.is_empty() && !method.contains(' ') => method,
        _ => last,
    }
}

/// The lines of what has this name: the first place where something belongs to it, else the only one.
fn find_body(lines: &[String], name: &str) -> Option<Range<usize>> {
    let named = |at: &usize| has_word(&lines[*at], name);
    let mut all = (0..lines.len()).filter(named).map(|at| body(lines, at));
    let first = all.next()?;
    if first.len() > 1 {
        return Some(first);
    }
    let mut rest = all.peekable();
    match rest.peek() {
        None => Some(first),
        Some(_) => rest.find(|found| found.len() > 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_test_is_found_by_the_part_of_its_name_that_its_source_says() {
        for (full, part) in [
            ("a::tests::adds", "adds"),
            ("tests/t.py::TestA::test_x[1-2]", "test_x"),
            ("TestX/a_case", "TestX"),
            ("m.C::adds", "adds"),
            ("pkg.mod.Class.test_y", "test_y"),
            ("sum > adds up", "adds up"),
            ("it ends. Always.", "it ends. Always."),
        ] {
            assert_eq!(last_part(full), part, "{full}");
        }
        let code = split("// see adds\nrun(adds);\nfn adds() {\n    x();\n}\n");
        assert_eq!(find_body(&code, "adds"), Some(2..5));
        assert_eq!(find_body(&code, "add"), None);
    }

    #[test]
    fn a_body_is_the_same_under_another_name() {
        let then = Body::of(&split("fn adds() {\n    x();\n}\n"), "adds");
        let now = split("fn sums_up() {\n  x( );\n}\nfn other() {\n    y();\n}\n");
        assert!(then.is_body_at(&now, 0));
        assert!(!then.is_body_at(&now, 3));
    }
}
