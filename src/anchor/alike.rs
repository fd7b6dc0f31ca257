//! Tests under other names, several of one name, and tests that others wrote.

use super::answer::answer;
use super::bodies::TestThen;
use super::body::Body;
use super::lines::list_named;
use super::named::TestName;
use super::sources::{Said, Sources, Text};
use super::told::Told;
use cook_core::diagnostic::Failure;
use cook_core::machine::{AnchorAnswer, AnchorQuestion, OwnQuestion, WorkOf};
use cook_core::model::{Receipt, Verdict};
use cook_git::{ChangeKind, is_telling};
use cook_strength::list_quoted;
use cook_trials::TestResult;
use cook_trials::outcomes::names;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Files that are looked at for a test that others wrote.
const MAX_SEARCHED: usize = 2_000;

/// Lines of a test of which each is asked whose it is.
const MAX_LINES: usize = 500;

/// The tests that a name may mean: itself, or each that ends in it.
pub(super) fn list_alike<'t>(tests: &'t [Told], name: &str) -> BTreeSet<&'t str> {
    let all = tests.iter().map(|told| told.name.as_str());
    match all.clone().find(|full| *full == name) {
        Some(exact) => BTreeSet::from([exact]),
        None => all.filter(|full| names(full, name)).collect(),
    }
}

/// The anchor is to prove something from now on: it must be clear which test it means.
pub(super) fn is_given(question: &AnchorQuestion) -> bool {
    question.stamped_at.is_none() || matches!(question.work, Some(WorkOf::Claimed(_)))
}

pub(super) fn ask_for_one(question: &AnchorQuestion, alike: &BTreeSet<&str>) -> AnchorAnswer {
    let some: Vec<&str> = alike.iter().copied().take(4).collect();
    let why = format!(
        "several tests are named so: `{}`; name the one that proves it in full",
        some.join("`, `")
    );
    answer(Verdict::Unverifiable, why, &question.anchor)
}

/// Says that fewer tests bear one name than when it was stamped: nobody can say which of them is gone.
pub(super) fn tell_fewer(
    alike: &BTreeSet<&str>,
    now: &Said,
    then: Option<&Said>,
) -> Option<String> {
    let count = |said: &Said| {
        let tests = said.tests.iter();
        tests
            .filter(|told| alike.contains(told.name.as_str()))
            .count()
    };
    let (then, now) = (count(then?), count(now));
    (alike.len() == 1 && now < then).then(|| {
        format!("{then} tests bore this name when it was stamped, {now} now; which is gone nobody can say")
    })
}

impl Sources<'_> {
    /// What a command printed at the commit where the proof was stamped, or where its slice's work ended.
    pub(super) fn read_stamped_output(
        &self,
        question: &AnchorQuestion,
        command: &str,
    ) -> Result<Option<Rc<Said>>, Failure> {
        let head = match (self.find_stamped(question)?, &question.work) {
            (Some((_, stamp)), _) => Some(stamp),
            (None, Some(work @ WorkOf::Accepted(_))) => match self.work(work, "")? {
                Some(own) => self.find_commit(&own.head)?,
                None => None,
            },
            (None, _) => None,
        };
        let Some(head) = head else {
            return Ok(None);
        };
        let tree = self.repo.find_tree(&head)?;
        match self.receipts.find(command, &tree)? {
            Some(then) => Ok(Some(self.read_output(&then)?)),
            None => Ok(None),
        }
    }

    /// What the stamped test is called in full, where the name alone leads to another one, or to several.
    pub(super) fn find_other_name(
        &self,
        question: &AnchorQuestion,
        name: &str,
        alike: &BTreeSet<&str>,
        then: Option<&Said>,
    ) -> Result<Option<String>, Failure> {
        let were = then.map(|then| list_alike(&then.tests, name));
        let were = were.unwrap_or_default();
        let one = were.first().filter(|_| were.len() == 1);
        Ok(match one {
            Some(one) if alike.len() == 1 && alike.contains(one) || *one == name => None,
            Some(one) => Some((*one).to_owned()),
            None if alike.len() > 1 => self.find_stamped_name(question, name, alike)?,
            None => None,
        })
    }

    /// Follows a test by its full name.
    pub(super) fn follow_name(
        &self,
        question: &AnchorQuestion,
        full: &str,
        gates: &[String],
    ) -> Result<AnchorAnswer, Failure> {
        let mut answer = self.test(question, full, gates)?;
        if answer.verdict == Verdict::Verified {
            answer.verdict = Verdict::Moved;
            "other tests are named so now; this one is the stamped one".clone_into(&mut answer.why);
            answer.now = Some(format!("test:{full}"));
        }
        if answer.now.as_ref() == Some(&question.anchor) {
            answer.now = Some(format!("test:{full}"));
        }
        Ok(answer)
    }

    /// A line of a command's output names a test: it must name the one that it named when it was stamped.
    pub(super) fn look_behind_line(
        &self,
        question: &AnchorQuestion,
        command: &str,
        text: &str,
        receipt: &Receipt,
        mut answer: AnchorAnswer,
    ) -> Result<AnchorAnswer, Failure> {
        let said = self.read_output(receipt)?;
        let named = list_named(&said, text);
        if is_given(question) && named.len() > 1 {
            return Ok(ask_for_one(question, &named));
        }
        let then = self.read_stamped_output(question, command)?;
        let were = then.as_ref().map(|then| list_named(then, text));
        let were = were.unwrap_or_default();
        let one = match were.first().filter(|_| were.len() == 1) {
            Some(one) => Some(one),
            None => named.first(),
        };
        let Some(one) = one else {
            return Ok(answer);
        };
        let one = BTreeSet::from([*one]);
        if !named.is_superset(&one) {
            let renamed = self.follow_line(question, command, text, receipt)?;
            return Ok(renamed.unwrap_or_else(|| {
                answer.verdict = Verdict::Missing;
                "the line names another test now".clone_into(&mut answer.why);
                answer
            }));
        }
        if let Some(why) = tell_fewer(&one, &said, then.as_deref()) {
            answer.verdict = Verdict::Changed;
            answer.why = why;
            return Ok(answer);
        }
        let name = one.first().map_or(text, |name| *name);
        self.look_behind(question, name, name, answer)
    }

    /// The line that names a test otherwise than the stamped one did, which says what that one said.
    pub(super) fn follow_line(
        &self,
        question: &AnchorQuestion,
        command: &str,
        text: &str,
        receipt: &Receipt,
    ) -> Result<Option<AnchorAnswer>, Failure> {
        let Some(then) = self.read_stamped_output(question, command)? else {
            return Ok(None);
        };
        let mut were = list_named(&then, text).into_iter();
        let (Some(was), None) = (were.next(), were.next()) else {
            return Ok(None);
        };
        let Some(new) = self.find_renamed_test(question, was, std::slice::from_ref(receipt))?
        else {
            return Ok(None);
        };
        let said = self.read_output(receipt)?;
        let told = said.tests.iter().find(|told| told.name == new);
        let line = told.and_then(|told| said.lines.get(told.line?));
        Ok(line.map(|line| {
            let why = format!("`{new}` has the body of the test that it named");
            let mut answer = answer(Verdict::Moved, why, &format!("test {new}"));
            answer.receipt = Some(receipt.id.clone());
            answer.now = Some(format!("cmd:{command}#{line}"));
            answer.related = true;
            answer
        }))
    }

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
        let was = TestName::of(name);
        let case = was.case;
        let stamped = self.find_stamped_tests(&own, &stamp, &was)?;
        let mut named = BTreeSet::new();
        let way = self.repo.list_way(&stamp, head)?;
        let places = self.places(&own, head)?;
        for path in &places {
            let text = self.text(head, path)?;
            let Text::Lines(lines) = &*text else {
                continue;
            };
            let mut moved = Vec::new();
            for then in &stamped {
                if !self.has_stood_beside(then, &stamp, &way, path)? {
                    moved.push(then);
                }
            }
            let same = (0..lines.len())
                .filter(|at| moved.iter().any(|then| then.body.is_body_at(lines, *at)));
            let mut same = same.peekable();
            let quoted = match same.peek() {
                Some(_) => list_quoted(path, &lines.join("\n")),
                None => BTreeSet::new(),
            };
            for at in same.filter(|at| !quoted.contains(at)) {
                for receipt in receipts.iter().filter(|receipt| receipt.has_passed()) {
                    let said = self.read_output(receipt)?;
                    let passed = said
                        .tests
                        .iter()
                        .filter(|told| told.result == TestResult::Passed);
                    let here = passed.filter(|told| {
                        let other = TestName::of(&told.name);
                        other.case == case && other.leads_to(path, lines, at)
                    });
                    for told in here {
                        if self.is_all_of(&told.name, head, &places, &moved)? {
                            named.insert(told.name.clone());
                        }
                    }
                }
            }
        }
        Ok(match named.len() {
            1 => named.pop_first(),
            _ => None,
        })
    }

    /// Whatever bears the name as well as it says what one of these tests said.
    fn is_all_of(
        &self,
        name: &str,
        head: &str,
        places: &BTreeSet<String>,
        tests: &[&TestThen],
    ) -> Result<bool, Failure> {
        for found in self.find_tests(head, places, &TestName::of(name))? {
            let Text::Lines(lines) = &*self.text(head, &found.path)? else {
                return Ok(false);
            };
            let at = found.place.lines.start;
            if !tests.iter().any(|then| then.body.is_body_at(lines, at)) {
                return Ok(false);
            }
        }
        Ok(true)
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
            if is_old || self.is_mostly_own(work, &basis, &found)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Of what the test says since the basis, more is the work's own than anybody else's.
    fn is_mostly_own(&self, work: &WorkOf, basis: &str, found: &TestThen) -> Result<bool, Failure> {
        let (Some(head), was) = (&self.head.commit, self.text(basis, &found.path)?) else {
            return Ok(false);
        };
        let Text::Lines(lines) = &*self.text(head, &found.path)? else {
            return Ok(false);
        };
        let was = match &*was {
            Text::Lines(was) => was.as_slice(),
            _ => &[],
        };
        let (mut own, mut others) = (0_usize, 0_usize);
        for at in found.below().take(MAX_LINES) {
            if !lines.get(at..=at).is_some_and(is_telling) {
                continue;
            }
            if self.is_work(work, &found.path, &(at..at + 1))? {
                own += 1;
            } else if !was.contains(&lines[at]) {
                others += 1;
            }
        }
        Ok(own > others)
    }
}
