//! `test:NAME`: the results of a test in runs at HEAD and, for an accepted test, those of the accepted version on
//! HEAD's code.

use super::runs::{answer_from, red};
use super::sources::{LastRun, Sources, Told, answer, recall, say};
use crate::prelude::*;
use crate::trial::{self, Accepted, Bundle, TestSide};
use cook_protocol::model::KeptProof;
use cook_protocol::trials::outcomes::names;
use cook_protocol::trials::{Known, Outcomes, Side, side_of};
use cook_repo::receipt::{TrialRun, plan_gate};
use std::rc::Rc;

/// Maximum number of names that are shown if several fit.
const SHOWN: usize = 4;

/// The result of a test in one run.
pub(super) enum Said {
    /// Every test with that name passed; its full name.
    Green(String),
    /// At least one of them is red or skipped.
    Red(String),
    /// Several tests fit the name.
    Several(String),
    /// No test with that name has a result.
    Nothing,
}

/// The result of one version of a test on HEAD's code.
enum Version {
    /// HEAD has the same tests, so its own run counts.
    AsAtHead,
    /// It was not run, and only kept results may be used.
    NotAsked,
    Green,
    Red(Box<Receipt>, String),
    /// It cannot be run; the reason.
    Nothing(String),
}

/// A test and its results at HEAD.
struct Shown<'a> {
    name: &'a str,
    runs: &'a [Ran<'a>],
    file: Option<&'a str>,
    gates: &'a [String],
}

/// A run, and its result for the test.
struct Ran<'a> {
    command: &'a String,
    receipt: Rc<Receipt>,
    outcomes: Rc<Outcomes>,
    said: Said,
}

impl Sources<'_> {
    pub(super) fn judge_test(
        &self,
        question: &AnchorQuestion,
        name: &str,
        gates: &[String],
    ) -> Result<AnchorAnswer> {
        let (mut runs, mut is_stale) = (Vec::new(), false);
        for command in gates {
            match self.find_run(command)? {
                LastRun::AtHead(receipt, outcomes) => runs.push(Ran {
                    said: find_test(&outcomes, name),
                    command,
                    receipt,
                    outcomes,
                }),
                LastRun::Elsewhere => is_stale = true,
                LastRun::Never => {}
            }
        }
        let now = self.weigh_runs(question, name, &runs, is_stale);
        match &question.required {
            Required::AtHead => self.with_bundle(now, &runs),
            Required::Claimed { basis, head } => {
                let now = self.with_bundle(now, &runs)?;
                self.weigh_newness(now, name, &runs, (basis, head))
            }
            Required::Accepted(kept) => {
                self.weigh_accepted(question, name, now, &runs, kept, gates)
            }
        }
    }

    /// The verdict from all runs at HEAD.
    fn weigh_runs(
        &self,
        question: &AnchorQuestion,
        name: &str,
        runs: &[Ran],
        is_stale: bool,
    ) -> AnchorAnswer {
        let target = format!("test {name}");
        let mut passed = None;
        for run in runs {
            let command = run.command;
            match &run.said {
                Said::Green(whole) if run.receipt.has_passed() => {
                    passed.get_or_insert((run, whole));
                }
                Said::Green(_) => {
                    return answer_from(&run.receipt, Verdict::Missing, red(&run.receipt), &target);
                }
                Said::Red(what) => {
                    let why = format!("`{command}` says that {what}");
                    return answer_from(&run.receipt, Verdict::Missing, why, &target);
                }
                Said::Several(what) => {
                    return answer(Verdict::Unverifiable, what.clone(), &question.anchor);
                }
                Said::Nothing => {}
            }
        }
        if let Some((run, whole)) = passed {
            let why = format!("`{}` names it as passed", run.command);
            let target = format!("test {whole}");
            return answer_from(&run.receipt, Verdict::Verified, why, &target);
        }
        let is_partial = runs.iter().any(|run| run.outcomes.is_partial);
        let (verdict, why) = match (runs.is_empty(), is_partial) {
            (true, _) if is_stale => (
                Verdict::Stale,
                "no gate that may name it has run on HEAD's tree",
            ),
            (true, _) => (
                Verdict::Unverifiable,
                "no gate has a clean receipt of HEAD's tree",
            ),
            (_, true) => (Verdict::Unverifiable, "the gates' output is not kept whole"),
            _ => (Verdict::Missing, "no gate's output names it as passed"),
        };
        let near = match verdict {
            Verdict::Missing => tell_near(runs, name),
            _ => String::new(),
        };
        answer(verdict, format!("{why}{near}"), &question.anchor)
    }

    /// Adds the tests at HEAD to a verified answer, for the record: from then on cook checks later code against them.
    fn with_bundle(&self, mut now: AnchorAnswer, runs: &[Ran]) -> Result<AnchorAnswer> {
        if let (Some(head), Some(_), Verdict::Verified) =
            (&self.head.commit, self.runner, now.verdict)
        {
            now.tests = Some(self.keep_bundle(head, runs)?.0);
        }
        Ok(now)
    }

    /// The tests of a commit and their id; they are kept for the log.
    fn keep_bundle(&self, commit: &str, runs: &[Ran]) -> Result<(String, Rc<Bundle>)> {
        let specs: Vec<GateSpec> = runs.iter().map(|run| self.spec(run.command)).collect();
        let printed = list_files(runs);
        let bundle = recall(&self.known.bundles, commit.to_owned(), || {
            Bundle::read(self.repo, commit, self.config, &specs, &printed, &[])
        })?;
        let id = bundle.id()?;
        let mut made = self.workspace.made_tests.borrow_mut();
        if !made.contains_key(&id) {
            made.insert(id.clone(), bundle.to_bytes()?);
        }
        Ok((id, bundle))
    }

    fn spec(&self, command: &str) -> GateSpec {
        let mut configured = self.config.gate_specs().into_iter();
        let found = configured.find(|gate| gate.run == command);
        found.unwrap_or_else(|| plan_gate(command))
    }

    /// Determines whether the claim is new: the test was not green on the code of the basis.
    fn weigh_newness(
        &self,
        mut now: AnchorAnswer,
        name: &str,
        runs: &[Ran],
        (basis, head): (&str, &str),
    ) -> Result<AnchorAnswer> {
        if now.verdict != Verdict::Verified {
            return Ok(now);
        }
        let ends = (self.repo.resolve(basis)?, self.repo.resolve(head)?);
        let (Some(basis), Some(head)) = ends else {
            return Ok(now);
        };
        let named = |run: &&Ran| matches!(run.said, Said::Green(_));
        let Some(run) = runs.iter().find(named) else {
            return Ok(now);
        };
        // Both versions must be new: that of the slice's commit, which is claimed, and that of HEAD, which is kept.
        let kept = self.head.commit.as_deref().unwrap_or(&head);
        let mut versions = vec![head.as_str()];
        if self.repo.find_tree(&head)? != self.repo.find_tree(kept)? {
            versions.push(kept);
            if self.lacks_test(run.command, &head, name)? {
                now.is_new = false;
                now.why = format!("{}; the slice's commit has no such test", now.why);
                return Ok(now);
            }
        }
        let mut told = None;
        for tests in versions {
            let ends = (basis.as_str(), head.as_str());
            let Some((is_new, why)) = self.try_on_basis(name, (run, runs), ends, tests)? else {
                return Ok(now);
            };
            told = Some(why);
            now.is_new = is_new;
            if !is_new {
                break;
            }
        }
        now.why = format!("{}; {}", now.why, told.unwrap_or_default());
        Ok(now)
    }

    /// Whether the gate ran at a commit and did not name the test as passed.
    fn lacks_test(&self, command: &str, commit: &str, name: &str) -> Result<bool> {
        let tree = self.repo.find_tree(commit)?;
        let Some(receipt) = self.receipts.find(command, &tree)? else {
            return Ok(false);
        };
        let outcomes = self.receipts.outcomes(&receipt)?;
        Ok(!matches!(find_test(&outcomes, name), Said::Green(_)))
    }

    /// Whether the test, in the version of a commit, is not green on the code of the basis, with a description; `None`
    /// if that is not known.
    fn try_on_basis(
        &self,
        name: &str,
        (run, runs): (&Ran, &[Ran]),
        (basis, head): (&str, &str),
        tests: &str,
    ) -> Result<Option<(bool, String)>> {
        let own = self.list_own(runs, name, find_file(runs, name));
        let files: Vec<&str> = own.iter().map(String::as_str).collect();
        let key = format!("{basis} {tests} {}", files.join(" "));
        let key = (run.command.clone(), key.trim_end().to_owned());
        let then = recall(&self.known.on_other_code, key, || {
            let Some(runner) = self.runner else {
                let tree = self.repo.find_tree(basis)?;
                return match self.receipts.find(run.command, &tree)? {
                    Some(receipt) => Ok(Some(Told {
                        outcomes: self.receipts.outcomes(&receipt)?,
                        has_passed: receipt.has_passed(),
                    })),
                    None => Ok(None),
                };
            };
            let spec = self.spec(run.command);
            let ran = trial::try_new_tests(runner, self.config, &spec, (basis, tests), &own)?;
            Ok(Some(ran.into()))
        })?;
        let Some(then) = &*then else {
            return Ok(None);
        };
        let outcomes = &then.outcomes;
        let is_unloaded = !outcomes.unloaded.is_empty() || !then.has_passed;
        let (is_new, why) = match (find_test(outcomes, name), self.runner) {
            (Said::Red(_), _) => (true, "it is red on the code of the basis".to_owned()),
            (Said::Nothing, _) if outcomes.omits_passed && outcomes.unloaded.is_empty() => {
                let why = "its runner names no test that passed on the code of the basis";
                (false, why.to_owned())
            }
            (Said::Nothing, Some(runner)) if is_unloaded => {
                let gate = self.spec(run.command);
                let (is_new, seen) = self.notices_defect(runner, &gate, name, (basis, head))?;
                let why = format!("it cannot be loaded on the code of the basis, and {seen}");
                (is_new, why)
            }
            (Said::Nothing, _) => (true, "it has no result on the code of the basis".to_owned()),
            (Said::Green(_) | Said::Several(_), _) => {
                (false, "it is green on the code of the basis too".to_owned())
            }
        };
        Ok(Some((is_new, why)))
    }

    /// The verdict on an accepted test: its accepted version on HEAD's code.
    fn weigh_accepted(
        &self,
        question: &AnchorQuestion,
        name: &str,
        now: AnchorAnswer,
        runs: &[Ran],
        kept: &KeptProof,
        gates: &[String],
    ) -> Result<AnchorAnswer> {
        let (Some(id), Some(_)) = (&kept.tests, &self.head.commit) else {
            return Ok(now);
        };
        let bundle = self.read_kept_tests(id)?;
        let Some(bundle) = &*bundle else {
            let why = "the log does not hold the tests that were accepted";
            return say(question, Verdict::Unverifiable, why);
        };
        let shown = Shown {
            name,
            runs,
            file: find_file(runs, name),
            gates,
        };
        Ok(match self.try_version(bundle, id, &shown)? {
            Version::AsAtHead => now,
            Version::NotAsked => self.answer_not_asked(question, now, kept),
            Version::Green => self.weigh_guard(question, now),
            Version::Nothing(why) => {
                let why = format!("the accepted version cannot be run on HEAD's code: {why}");
                answer(Verdict::Unverifiable, why, &question.anchor)
            }
            Version::Red(receipt, why) => {
                let why = format!("the accepted version, on HEAD's code: {why}");
                let mut broken = answer_from(&receipt, Verdict::Missing, why, &question.anchor);
                let Some(at) = kept
                    .declared_at
                    .as_ref()
                    .filter(|_| now.verdict == Verdict::Verified)
                else {
                    return Ok(broken);
                };
                // The version that the review saw replaces the accepted one, and no later version does.
                let (id, reviewed) = self.keep_bundle(at, runs)?;
                match self.try_version(&reviewed, &id, &shown)? {
                    Version::AsAtHead | Version::Green => {
                        broken.now = Some(question.anchor.clone());
                        broken.receipt = now.receipt;
                        broken.tests = Some(id);
                    }
                    Version::NotAsked => return Ok(self.answer_not_asked(question, now, kept)),
                    Version::Red(..) | Version::Nothing(_) => {}
                }
                broken
            }
        })
    }

    /// The result of one version of the tests, for one test on HEAD's code.
    fn try_version(&self, bundle: &Bundle, id: &str, shown: &Shown) -> Result<Version> {
        let Some(head) = &self.head.commit else {
            return Ok(Version::NotAsked);
        };
        let others = self.list_accepted()?;
        let now = recall(&self.known.tests, head.clone(), || {
            TestSide::read(self.repo, head)
        })?;
        if bundle.is_as_at(&now, shown.file, &others) {
            return Ok(Version::AsAtHead);
        }
        let own = self.list_own(shown.runs, shown.name, shown.file);
        let files: Vec<&str> = own.iter().map(String::as_str).collect();
        let version = format!("{id} {}", files.join(" "));
        let mut nothing = None;
        for command in shown.gates {
            let spec = self.spec(command);
            let key = (version.clone(), command.clone());
            let mixed = recall(&self.known.mixed, key, || {
                let laid = (bundle, head.as_str());
                trial::lay_down(self.repo, self.config, &spec, laid, &others, &own)
            });
            // Without a runner, the repository may not be writable.
            let mixed = match (mixed, self.runner) {
                (Err(_), None) => return Ok(Version::NotAsked),
                (mixed, _) => mixed?,
            };
            let tree = self.repo.find_tree(&mixed)?;
            if tree == self.head.tree.clone().unwrap_or_default() {
                return Ok(Version::AsAtHead);
            }
            let (receipt, outcomes) = match self.runner {
                Some(runner) => {
                    let run = trial::run_at(runner, &mixed, &spec)?;
                    let Some(receipt) = run.run.receipt else {
                        let why = run.run.problem;
                        nothing.get_or_insert(why.unwrap_or_else(|| "it did not run".to_owned()));
                        continue;
                    };
                    (receipt, run.outcomes)
                }
                // Without a runner, only an earlier run counts.
                None => match self.receipts.find(command, &tree)? {
                    Some(receipt) => {
                        let outcomes = self.receipts.outcomes(&receipt)?;
                        (receipt, outcomes)
                    }
                    None => return Ok(Version::NotAsked),
                },
            };
            match find_test(&outcomes, shown.name) {
                Said::Green(_) => return Ok(Version::Green),
                Said::Red(what) => {
                    let why = format!("`{command}` says that {what}");
                    return Ok(Version::Red(Box::new(receipt), why));
                }
                Said::Several(_) | Said::Nothing if outcomes.tests.is_empty() => {
                    let line = outcomes.unloaded.values().next().cloned();
                    nothing.get_or_insert(line.unwrap_or_else(|| receipt.ending()));
                }
                Said::Several(_) | Said::Nothing if is_unloaded(&outcomes, shown.file) => {
                    let line = outcomes.unloaded.values().next().cloned();
                    nothing.get_or_insert(line.unwrap_or_default());
                }
                Said::Several(_) | Said::Nothing => {
                    let why = format!("`{command}` runs other tests and not this one");
                    return Ok(Version::Red(Box::new(receipt), why));
                }
            }
        }
        let why = nothing.unwrap_or_else(|| "no gate ran it".to_owned());
        Ok(Version::Nothing(why))
    }

    /// The test's own file, if only the output of runs identifies it as a test file. Other such files may be the code
    /// that it tests.
    fn list_own(&self, runs: &[Ran], name: &str, file: Option<&str>) -> BTreeSet<String> {
        let known = Known {
            paths: self.config.tests.paths.clone(),
            ..Known::default()
        };
        let is_own = |path: &String| match file {
            Some(file) => path == file,
            None => name.contains(path.as_str()),
        };
        let printed = list_files(runs).into_iter();
        let own = printed.filter(|path| is_own(path) && side_of(path, &known, false) == Side::Code);
        own.collect()
    }

    fn list_accepted(&self) -> Result<Rc<Accepted>> {
        recall(&self.known.accepted, (), || {
            let mut files = Accepted::new();
            for id in &self.accepted {
                let bundle = self.read_kept_tests(id)?;
                files.extend(bundle.iter().flat_map(Bundle::list_files));
            }
            Ok(files)
        })
    }

    /// The answer if the accepted version was not run at this tree. It holds if it held at this tree when its slice was
    /// accepted.
    fn answer_not_asked(
        &self,
        question: &AnchorQuestion,
        now: AnchorAnswer,
        kept: &KeptProof,
    ) -> AnchorAnswer {
        if kept.held_at.is_some() && kept.held_at == self.head.tree {
            return now;
        }
        let why = match now.verdict {
            Verdict::Missing => now.why,
            _ => "its tests changed since it was accepted".to_owned(),
        };
        let why = format!("{why}; the accepted version was not run on this tree");
        answer(Verdict::Stale, why, &question.anchor)
    }

    /// If the accepted version passes, checks that HEAD still has a test with that name.
    fn weigh_guard(&self, question: &AnchorQuestion, now: AnchorAnswer) -> AnchorAnswer {
        if now.verdict != Verdict::Missing || now.receipt.is_some() {
            return now;
        }
        let why = "the accepted version passes on HEAD's code, and no test at HEAD has that name";
        answer(Verdict::Changed, why, &question.anchor)
    }
}

impl From<TrialRun> for Told {
    fn from(ran: TrialRun) -> Self {
        Self {
            has_passed: ran.run.has_passed(),
            outcomes: ran.outcomes,
        }
    }
}

fn is_unloaded(outcomes: &Outcomes, file: Option<&str>) -> bool {
    match file {
        Some(file) => outcomes.unloaded.contains_key(file),
        None => !outcomes.unloaded.is_empty(),
    }
}

/// The test files that the runs name.
fn list_files(runs: &[Ran]) -> BTreeSet<String> {
    let tests = runs.iter().flat_map(|run| run.outcomes.tests.values());
    tests.filter_map(|test| test.file.clone()).collect()
}

/// The file of a test, if a run names it.
fn find_file<'r>(runs: &'r [Ran], name: &str) -> Option<&'r str> {
    let tests = runs.iter().flat_map(|run| &run.outcomes.tests);
    let mut named = tests.filter(|(full, _)| *full == name || names(full, name));
    named.find_map(|(_, test)| test.file.as_deref())
}

/// The result of the tests with that name: the test with that full name, else those whose names end in it, else the
/// cases of a parameterized test.
pub(super) fn find_test(outcomes: &Outcomes, name: &str) -> Said {
    let all = || outcomes.tests.iter();
    let exact: Vec<_> = all().filter(|(full, _)| *full == name).collect();
    let mut found = match exact.is_empty() {
        true => all().filter(|(full, _)| names(full, name)).collect(),
        false => exact,
    };
    let mut parent = None;
    if found.is_empty() {
        found = all()
            .filter(|(full, _)| {
                list_parents(full).any(|parent| parent == name || names(parent, name))
            })
            .collect();
        let parents: BTreeSet<&str> = found
            .iter()
            .flat_map(|(full, _)| list_parents(full))
            .filter(|parent| *parent == name || names(parent, name))
            .collect();
        if parents.len() > 1 {
            return tell_several(parents.into_iter());
        }
        parent = parents.into_iter().next();
    } else if found.len() > 1 {
        return tell_several(found.iter().map(|(full, _)| full.as_str()));
    }
    if let Some((full, _)) = found.iter().find(|(_, test)| test.is_ambiguous) {
        return Said::Several(format!("two results bear the name `{full}`"));
    }
    let whole = match parent {
        Some(parent) => parent.to_owned(),
        None => found
            .first()
            .map_or_else(|| name.to_owned(), |(full, _)| (*full).clone()),
    };
    let bad = found
        .iter()
        .find(|(_, test)| test.result != TestResult::Passed);
    match bad {
        Some((full, test)) if test.result == TestResult::Skipped => {
            Said::Red(format!("`{full}` was skipped"))
        }
        Some((full, test)) => {
            let line = test.message.as_deref().map(|line| format!(": {line}"));
            Said::Red(format!("`{full}` failed{}", line.unwrap_or_default()))
        }
        None if found.is_empty() => Said::Nothing,
        None => Said::Green(whole),
    }
}

/// The names that are most similar to a name that no run has.
fn tell_near(runs: &[Ran], name: &str) -> String {
    let named = runs.iter().flat_map(|run| run.outcomes.tests.keys());
    let mut near: Vec<(usize, &String)> = named
        .map(|full| {
            // A claim may leave out the beginning of the full name.
            let end = full.len().saturating_sub(name.len());
            let own = full.get(end..).unwrap_or(full);
            (strsim::damerau_levenshtein(own, name), full)
        })
        .collect();
    near.sort();
    near.dedup();
    let near: Vec<&str> = near
        .iter()
        .take(SHOWN)
        .map(|(_, full)| full.as_str())
        .collect();
    match near.is_empty() {
        true => String::new(),
        false => format!("; tests that it names: `{}`", near.join("`, `")),
    }
}

fn tell_several<'a>(names: impl Iterator<Item = &'a str>) -> Said {
    let some: Vec<&str> = names.take(SHOWN).collect();
    Said::Several(format!(
        "several tests are named so: `{}`; name the one that proves it in full",
        some.join("`, `")
    ))
}

/// The parameterized tests that a name may be a case of.
fn list_parents(full: &str) -> impl Iterator<Item = &str> {
    let ends = ["[", "(", "/"];
    ends.into_iter().filter_map(move |mark| {
        let at = match mark {
            "/" => full.rfind(mark)?,
            _ => full.find(mark)?,
        };
        let parent = full[..at].trim_end();
        (!parent.is_empty()).then_some(parent)
    })
}
