//! Anchors that could prove the criteria of the slice that waits to be accepted: tests that kept receipts name as
//! passed, lines that gates printed, and lines of the work. Each is checked at HEAD as a claim would be, and only those
//! that hold are shown. No gate is run.

use super::report_context::Context;
use crate::anchor::read_line;
use crate::prelude::*;
use cook_mutants::list_differences;
use cook_protocol::model::Anchor;
use cook_protocol::trials::Outcomes;
use cook_repo::git::split_lines;
use cook_repo::receipt::Output;
use std::fmt::Write;

/// Maximum number of anchors of one kind that are checked at HEAD.
const HELD: usize = 40;
/// Size limit in bytes for the anchors that are listed after the criteria.
const OTHERS: usize = 2_000;
/// Maximum number of characters of an output line that are cited.
const LINE: usize = 80;
/// Minimum length of a word, in characters, that is compared between two texts.
const WORD: usize = 3;

/// The kind of thing that an anchor names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Test,
    Lines,
    Printed,
}

/// An anchor, and the words that are compared with those of a criterion.
struct Candidate {
    kind: Kind,
    anchor: String,
    words: BTreeSet<String>,
    /// Whether the anchor held before the work too, as far as a run at the basis is kept.
    is_old: bool,
}

impl Candidate {
    fn new(kind: Kind, anchor: String, about: &str, is_old: bool) -> Self {
        Self {
            kind,
            words: list_words(about),
            anchor,
            is_old,
        }
    }

    /// The anchor, marked if it is not new.
    fn describe(&self) -> String {
        let anchor = &self.anchor;
        match self.is_old {
            true => format!("{anchor} [not new]"),
            false => anchor.clone(),
        }
    }
}

impl Context<'_> {
    /// Lists the candidates for each criterion, then the remaining ones.
    pub(super) fn list_candidates(
        &mut self,
        (basis, edits): (&str, &[Edit]),
        gates: &[String],
    ) -> Result<()> {
        let Some(slice) = self
            .snapshot
            .find_slice_in_work()
            .and_then(|id| self.snapshot.plan.slice(id))
        else {
            return Ok(());
        };
        let tree = self.facts.head.as_ref().and_then(|head| head.tree.clone());
        let runs = self.read_runs(gates, tree.as_deref().unwrap_or_default(), basis)?;
        let criteria: BTreeSet<String> = slice
            .acceptance_criteria
            .iter()
            .flat_map(|criterion| list_words(criterion))
            .collect();
        let mut held = Vec::new();
        for kind in [tests(&runs), own_lines(edits), list_printed(&runs)] {
            held.extend(best(kind, &criteria));
        }
        let held = self.keep_verified(&slice.slice_id, held)?;
        for run in runs.iter().filter(|run| run.passed.is_empty()) {
            let command = &run.receipt.command;
            self.add(format!("gate `{command}` names no test that passed; cite a line that it prints (`cmd:{command}#LINE`) or lines of the work (`PATH:LINE`)"));
        }
        if held.is_empty() {
            return Ok(());
        }
        self.add("anchors that hold at HEAD and can prove the criteria:");
        let mut criteria = slice.acceptance_criteria.iter().map(|one| list_words(one));
        let first = criteria.next().unwrap_or_default();
        let everywhere = criteria.fold(first, |all, words| &all & &words);
        let mut shown = BTreeSet::new();
        let mut is_lacking = false;
        for (number, criterion) in slice.acceptance_criteria.iter().enumerate() {
            let mut wanted = list_words(criterion);
            // Words that all criteria share do not distinguish them.
            if wanted.iter().any(|word| !everywhere.contains(word)) {
                wanted.retain(|word| !everywhere.contains(word));
            }
            // Takes the best candidate of each kind.
            let best = |kind: Kind| {
                let known = held
                    .iter()
                    .filter(|one| one.kind == kind && !shown.contains(&one.anchor));
                let common = known.map(|one| (one.words.intersection(&wanted).count(), one));
                let fitting = common.filter(|(common, _)| *common > 0);
                let best = fitting.min_by_key(|(common, one)| (one.is_old, usize::MAX - common))?;
                Some(best.1)
            };
            let kinds = [Kind::Test, Kind::Lines, Kind::Printed];
            let fitting: Vec<&Candidate> = kinds.into_iter().filter_map(best).collect();
            shown.extend(fitting.iter().map(|one| one.anchor.clone()));
            let fitting: Vec<String> = fitting.into_iter().map(Candidate::describe).collect();
            is_lacking |= fitting.is_empty();
            let fitting = match fitting.is_empty() {
                true => "no anchor shares a word with it: see the others".to_owned(),
                false => fitting.join(" | "),
            };
            self.add(format!("  criterion {}: {fitting}", number + 1));
        }
        let (mut bytes, mut left) = (0, 0);
        let others = held.iter().filter(|one| !shown.contains(&one.anchor));
        for one in others {
            bytes += one.describe().len() + 3;
            // If every criterion has a candidate, anchors that held before the work add no proof.
            match bytes <= OTHERS && (is_lacking || !one.is_old) {
                true => drop(writeln!(self.text, "  {}", one.describe())),
                false => left += 1,
            }
        }
        if left > 0 {
            self.add(format!(
                "  and {} (`cook record regrounder FILE --check` tries what your report claims)",
                count_noun(left, "more anchor")
            ));
        }
        Ok(())
    }

    fn read_runs(&self, gates: &[String], tree: &str, basis: &str) -> Result<Vec<Run>> {
        let receipts = Receipts::of(&self.workspace.repo)?;
        let old_tree = self.workspace.repo.find_tree(basis)?;
        let mut runs = Vec::new();
        for command in gates {
            let Some(receipt) = receipts.find(command, tree)?.filter(Receipt::has_passed) else {
                continue;
            };
            let output = receipts.output(&receipt)?;
            let mut before = BTreeSet::new();
            if let Some(then) = receipts.find(command, &old_tree)? {
                before.extend(list_passed(receipts.outcomes(&then)?));
                let then = receipts.output(&then)?;
                before.extend(lines(&then.text));
            }
            runs.push(Run {
                passed: list_passed(receipts.outcomes(&receipt)?),
                receipt,
                output,
                before,
            });
        }
        Ok(runs)
    }

    fn keep_verified(&self, slice_id: &str, candidates: Vec<Candidate>) -> Result<Vec<Candidate>> {
        let question = |one: &Candidate| {
            let basis = Anchor::parse(&one.anchor).ok()?.basis();
            AnchorQuestion::ask_claimed(self.snapshot, slice_id, &one.anchor, basis)
        };
        let wanted = candidates.iter().filter_map(question).collect();
        let answers = self.workspace.measure_kept(self.snapshot, wanted)?;
        let hold = candidates.into_iter().filter_map(|mut one| {
            let answer = answers.get(&question(&one)?.key())?;
            one.is_old |= !answer.is_new;
            (answer.verdict == Verdict::Verified).then_some(one)
        });
        Ok(hold.collect())
    }
}

/// A green run of a gate at HEAD's tree.
struct Run {
    receipt: Receipt,
    output: Output,
    passed: Vec<String>,
    /// Tests that passed at the basis, and lines that were printed there.
    before: BTreeSet<String>,
}

fn list_passed(outcomes: Outcomes) -> Vec<String> {
    let tests = outcomes.tests.into_iter();
    let passed = tests.filter(|(_, test)| test.result == TestResult::Passed);
    passed.map(|(name, _)| name).collect()
}

fn lines(output: &str) -> Vec<String> {
    let plain = without_escapes(output);
    plain.lines().map(|line| line.trim().to_owned()).collect()
}

fn tests(runs: &[Run]) -> Vec<Candidate> {
    let of_run = |run: &Run| {
        let names = run.passed.iter();
        let candidates = names.map(|name| {
            let is_old = run.before.contains(name);
            Candidate::new(Kind::Test, format!("test:{name}"), name, is_old)
        });
        candidates.collect::<Vec<_>>()
    };
    runs.iter().flat_map(of_run).collect()
}

/// Lines that gates printed. Leaves out lines with digits, such as times, because they differ in each run, and lines
/// that name a failed test.
fn list_printed(runs: &[Run]) -> Vec<Candidate> {
    let mut found = Vec::new();
    for run in runs {
        let command = &run.receipt.command;
        let mut seen = BTreeSet::new();
        for line in lines(&run.output.text) {
            let is_steady = !line.contains(|c: char| c.is_ascii_digit());
            let failed = read_line(&line).is_some_and(|(_, result)| result != TestResult::Passed);
            if !says_what(&line) || !is_steady || failed || !seen.insert(line.clone()) {
                continue;
            }
            let begins: String = line.chars().take(LINE).collect();
            let is_old = run.before.contains(&line);
            let anchor = format!("cmd:{command}#{}", begins.trim_end());
            found.push(Candidate::new(Kind::Printed, anchor, &line, is_old));
        }
    }
    found
}

/// Words that a runner prints when everything went well.
const ROUTINE: &str = "\
    all and any are build check checks complete completed done error errors failed failure \
    failures finished green none okay pass passed passes passing result results running \
    success successful successfully test tests the warnings with";

/// Whether the line makes a statement: it is neither a separator nor a mere success message.
fn says_what(line: &str) -> bool {
    let words = list_words(line);
    let says = |word: &String| {
        let is_number = word.chars().all(|c| c.is_ascii_digit());
        !is_number && !ROUTINE.split(' ').any(|known| known == word)
    };
    words.iter().any(says)
}

/// The lines that the work wrote.
fn own_lines(edits: &[Edit]) -> Vec<Candidate> {
    let mut found = Vec::new();
    for edit in edits {
        let Some((old, Some(new))) = &edit.texts else {
            continue;
        };
        let old = old.as_deref().unwrap_or_default();
        let text = split_lines(new.as_bytes());
        for lines in list_differences(old, new).into_iter().map(|one| one.after) {
            let Some(last) = lines.clone().next_back() else {
                continue;
            };
            let path = &edit.change.path;
            let anchor = match lines.start == last {
                true => format!("{path}:{}", last + 1),
                false => format!("{path}:{}-{}", lines.start + 1, last + 1),
            };
            let said = text.get(lines).unwrap_or_default().join(&b' ');
            let about = format!("{path} {}", String::from_utf8_lossy(&said));
            found.push(Candidate::new(Kind::Lines, anchor, &about, false));
        }
    }
    found
}

/// The [`HELD`] best candidates: new ones first, then by the number of words that they share with the criteria.
fn best(mut candidates: Vec<Candidate>, criteria: &BTreeSet<String>) -> Vec<Candidate> {
    candidates.sort_by_key(|one| {
        let common = one.words.intersection(criteria).count();
        (one.is_old, usize::MAX - common)
    });
    candidates.truncate(HELD);
    candidates
}

fn list_words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| word.chars().count() >= WORD);
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_says_nothing_of_the_work_is_no_candidate() {
        for line in [
            "",
            "====",
            "--- ---",
            "OK",
            "ok",
            "100%",
            "PASSED",
            "All tests passed.",
            "done",
            "test result: ok.",
            "....",
            "[ PASS ]",
            "0 errors",
            "Running all checks",
        ] {
            assert!(!says_what(line), "{line}");
        }
        for line in [
            "roman: XIV is fourteen",
            "all words are counted",
            "ok - reads an empty file",
        ] {
            assert!(says_what(line), "{line}");
        }
    }
}
