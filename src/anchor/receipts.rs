//! Anchors that point into what gates printed: held against kept receipts.

use super::alike::{ask_for_one, is_given, list_alike, tell_fewer};
use super::answer::answer;
use super::bodies::Same;
use super::lines::find_lines;
use super::sources::Sources;
use super::work::find_basis;
use cook_core::diagnostic::Failure;
use cook_core::machine::{AnchorAnswer, AnchorQuestion, WorkOf};
use cook_core::model::{Receipt, Verdict};
use cook_trials::TestResult;

impl Sources<'_> {
    pub(super) fn test(
        &self,
        question: &AnchorQuestion,
        name: &str,
        gates: &[String],
    ) -> Result<AnchorAnswer, Failure> {
        let tree = self.head.tree.as_deref().unwrap_or_default();
        let (mut partial, mut stale) = (false, false);
        let mut passed = None;
        let mut seen = Vec::new();
        for command in gates {
            let Some(receipt) = self.receipts.find(command, tree)? else {
                stale |= match self.receipts.latest(command)? {
                    Some(old) => self.find_test_in(&old, name)? == Some(true),
                    None => false,
                };
                continue;
            };
            match self.find_test_in(&receipt, name)? {
                Some(true) if !receipt.has_passed() => {
                    let (why, target) = (red(&receipt), format!("test {name}"));
                    return Ok(self.answer_from(
                        question,
                        Verdict::Missing,
                        why,
                        &receipt,
                        &target,
                    ));
                }
                Some(true) => {
                    passed.get_or_insert((command, receipt));
                }
                Some(false) => {
                    let why = format!("`{command}` says that it failed or did not run");
                    return Ok(self.answer_from(
                        question,
                        Verdict::Missing,
                        why,
                        &receipt,
                        &format!("test {name}"),
                    ));
                }
                None => {
                    partial |= self.read_output(&receipt)?.partial;
                    seen.push(receipt);
                }
            }
        }
        let Some((command, receipt)) = passed else {
            if let Some(new) = self.find_renamed_test(question, name, &seen)? {
                let why = format!("`{new}` has its body now");
                let mut answer = answer(Verdict::Moved, why, &format!("test {new}"));
                answer.receipt = seen.first().map(|receipt| receipt.id.clone());
                answer.now = Some(format!("test:{new}"));
                answer.related = true;
                return Ok(answer);
            }
            let (verdict, why) = match (seen.len(), partial, stale) {
                (0, _, true) => (
                    Verdict::Stale,
                    "the receipt that names it is of another tree",
                ),
                (0, ..) => (
                    Verdict::Unverifiable,
                    "no gate has a clean receipt of HEAD's tree",
                ),
                (_, true, _) => (Verdict::Unverifiable, "the gates' output is not kept whole"),
                _ => (Verdict::Missing, "no gate's output names it as passed"),
            };
            return Ok(answer(verdict, why, &question.anchor));
        };
        let said = self.read_output(&receipt)?;
        let alike = list_alike(&said.tests, name);
        if is_given(question) && alike.len() > 1 {
            return Ok(ask_for_one(question, &alike));
        }
        let then = self.read_stamped_output(question, command)?;
        if let Some(full) = self.find_other_name(question, name, &alike, then.as_deref())? {
            return self.follow_name(question, &full, gates);
        }
        if let Some(why) = tell_fewer(&alike, &said, then.as_deref()) {
            return Ok(answer(Verdict::Changed, why, &question.anchor));
        }
        let why = format!("`{command}` names it as passed");
        // The same line may be named by `cmd:` too.
        let mut named = said.tests.iter();
        let named = named.find(|told| alike.contains(told.name.as_str()));
        let line = named.and_then(|told| told.line);
        let target = match line {
            Some(at) => format!("line {}", at + 1),
            None => format!("test {name}"),
        };
        let mut answer = self.answer_from(question, Verdict::Verified, why, &receipt, &target);
        let holds =
            |old: &Receipt| Ok(old.has_passed() && self.find_test_in(old, name)? == Some(true));
        answer.related = self.is_slices(question, &receipt, holds)?;
        answer.is_new = self.is_new(question, command, holds)?;
        let full = alike.first().filter(|_| alike.len() == 1);
        self.look_behind(question, name, full.unwrap_or(&name), answer)
    }

    /// The test must be the one that proved it, or be given anew as the work's own; of a slice that is
    /// to be accepted, the one that was reviewed.
    pub(super) fn look_behind(
        &self,
        question: &AnchorQuestion,
        name: &str,
        full: &str,
        mut answer: AnchorAnswer,
    ) -> Result<AnchorAnswer, Failure> {
        if let (Some(work @ WorkOf::Accepted(_)), None) = (&question.work, &question.stamped_at) {
            answer.related = self.is_own_test(work, name)?;
            return Ok(answer);
        }
        let work = question.work.as_ref();
        let (verdict, why) = match self.same_test(question, name, full)? {
            Same::Yes => {
                if let Some(work @ WorkOf::Claimed(of)) = work
                    && self.is_others_test(work, of, name)?
                {
                    answer.related = false;
                    let others = "; others wrote the test since the slice's basis";
                    answer.why.push_str(others);
                }
                return Ok(answer);
            }
            Same::AsBefore => (
                Verdict::Missing,
                "the test says again what it said before the work",
            ),
            _ if matches!(work, Some(WorkOf::Claimed(_))) => (
                Verdict::Changed,
                "the test says something else than at the commit that was reviewed; reopened, it is reviewed again",
            ),
            same => {
                let is_own = work.map_or(Ok(false), |work| self.is_own_test(work, name))?;
                let is_named = same == Same::InItsPlace || is_own;
                answer.now = is_named.then(|| question.anchor.clone());
                (Verdict::Changed, "the test says something else now")
            }
        };
        answer.verdict = verdict;
        why.clone_into(&mut answer.why);
        Ok(answer)
    }

    /// Whether a receipt's output names the test as passed; none when it does not name it.
    fn find_test_in(&self, receipt: &Receipt, name: &str) -> Result<Option<bool>, Failure> {
        let said = self.read_output(receipt)?;
        let alike = list_alike(&said.tests, name);
        let outcomes = said
            .tests
            .iter()
            .filter(|told| alike.contains(told.name.as_str()))
            .map(|told| told.result == TestResult::Passed);
        Ok(outcomes.reduce(|all, passed| all && passed))
    }

    pub(super) fn command(
        &self,
        question: &AnchorQuestion,
        command: &str,
        text: &str,
    ) -> Result<AnchorAnswer, Failure> {
        let tree = self.head.tree.as_deref().unwrap_or_default();
        let Some(receipt) = self.receipts.find(command, tree)? else {
            let (verdict, why) = match self.receipts.latest(command)? {
                Some(_) => (Verdict::Stale, "its receipt is of another tree"),
                None => (
                    Verdict::Unverifiable,
                    "no trusted gate has run this command",
                ),
            };
            return Ok(answer(verdict, why, &question.anchor));
        };
        let (verdict, why, target) = self.output_anchor(&receipt, text)?;
        let mut answer = self.answer_from(question, verdict, why, &receipt, &target);
        let holds = |old: &Receipt| Ok(self.output_anchor(old, text)?.0 == Verdict::Verified);
        answer.related = self.is_slices(question, &receipt, holds)?;
        answer.is_new = self.is_new(question, command, holds)?;
        if verdict == Verdict::Missing && receipt.has_passed() {
            let renamed = self.follow_line(question, command, text, &receipt)?;
            return Ok(renamed.unwrap_or(answer));
        }
        if verdict != Verdict::Verified || !target.starts_with("line ") {
            return Ok(answer);
        }
        self.look_behind_line(question, command, text, &receipt, answer)
    }

    /// What stands behind `#`: `exit`, `exit-status-line`, or a line of the output.
    fn output_anchor(
        &self,
        receipt: &Receipt,
        text: &str,
    ) -> Result<(Verdict, String, String), Failure> {
        if !receipt.has_passed() {
            return Ok((Verdict::Missing, red(receipt), text.to_owned()));
        }
        if matches!(text, "exit" | "exit-status-line") {
            return Ok((
                Verdict::Verified,
                "it ended with exit code 0".to_owned(),
                "exit".to_owned(),
            ));
        }
        let said = self.read_output(receipt)?;
        let found = find_lines(&said, text).first().copied();
        Ok(match found {
            Some(at) => (
                Verdict::Verified,
                format!("line {} of its output", at + 1),
                format!("line {}", at + 1),
            ),
            None if said.partial => (
                Verdict::Unverifiable,
                "the output is not kept whole".to_owned(),
                text.to_owned(),
            ),
            None => {
                let holds = said.lines.iter().find(|line| line.contains(text));
                let why = holds.map_or_else(
                    || "no line of its output says that".to_owned(),
                    |line| {
                        format!("no line of its output begins with that; one holds it: `{line}`")
                    },
                );
                (Verdict::Missing, why, text.to_owned())
            }
        })
    }

    pub(super) fn receipt(
        &self,
        question: &AnchorQuestion,
        id: &str,
    ) -> Result<AnchorAnswer, Failure> {
        let Some(receipt) = self.receipts.get(id)? else {
            return Ok(answer(
                Verdict::Missing,
                "no receipt has that id",
                &question.anchor,
            ));
        };
        // Of a done slice the same command is asked again.
        let tree = self.head.tree.as_deref().unwrap_or_default();
        let is_done = matches!(question.work, Some(WorkOf::Accepted(_)));
        if (is_done || question.work.is_none())
            && question.stamped_at.is_some()
            && receipt.tree_oid != self.head.tree
            && let Some(again) = self.receipts.find(&receipt.command, tree)?
        {
            let (verdict, why) = match again.has_passed() {
                true => (
                    Verdict::Moved,
                    format!("`{}` passes at HEAD", again.command),
                ),
                false => (Verdict::Missing, red(&again)),
            };
            let mut answer = self.answer_from(question, verdict, why, &again, "exit");
            answer.now = Some(format!("receipt:{}", again.id));
            answer.related = true;
            return Ok(answer);
        }
        let (verdict, why) = if !self.receipts.is_from_here(&receipt)? {
            let why = "it was not made on this machine".to_owned();
            (Verdict::Unverifiable, why)
        } else if !receipt.proves() {
            (
                Verdict::Unverifiable,
                "it is of a worktree, not of a commit".to_owned(),
            )
        } else if receipt.tree_oid != self.head.tree {
            (
                Verdict::Stale,
                "it is of another tree than HEAD's".to_owned(),
            )
        } else if receipt.has_passed() {
            (Verdict::Verified, "it ended with exit code 0".to_owned())
        } else {
            (Verdict::Missing, red(&receipt))
        };
        let mut answer = self.answer_from(question, verdict, why, &receipt, "exit");
        let holds = |old: &Receipt| Ok(old.has_passed());
        answer.related = self.is_slices(question, &receipt, holds)?;
        answer.is_new = self.is_new(question, &receipt.command, holds)?;
        Ok(answer)
    }

    /// Whether the receipt, or another of the same command that holds as well, is of
    /// the slice head's tree.
    fn is_slices(
        &self,
        question: &AnchorQuestion,
        receipt: &Receipt,
        holds: impl Fn(&Receipt) -> Result<bool, Failure>,
    ) -> Result<bool, Failure> {
        let Some(WorkOf::Claimed(of)) = &question.work else {
            return Ok(true);
        };
        let Some(slice_head) = self.repo.resolve(&of.head)? else {
            return Ok(false);
        };
        let tree = self.repo.find_tree(&slice_head)?;
        if receipt.tree_oid.as_deref() == Some(tree.as_str()) {
            return Ok(true);
        }
        match self.receipts.find(&receipt.command, &tree)? {
            Some(old) => holds(&old),
            None => Ok(false),
        }
    }

    /// Whether the same did not hold at the slice's basis already, as far as a run there is kept.
    fn is_new(
        &self,
        question: &AnchorQuestion,
        command: &str,
        holds: impl Fn(&Receipt) -> Result<bool, Failure>,
    ) -> Result<bool, Failure> {
        let Some(basis) = find_basis(question) else {
            return Ok(true);
        };
        let Some(basis) = self.repo.resolve(basis)? else {
            return Ok(true);
        };
        let tree = self.repo.find_tree(&basis)?;
        match self.receipts.find(command, &tree)? {
            Some(then) => Ok(!holds(&then)?),
            None => Ok(true),
        }
    }

    fn answer_from(
        &self,
        question: &AnchorQuestion,
        verdict: Verdict,
        why: impl Into<String>,
        receipt: &Receipt,
        what: &str,
    ) -> AnchorAnswer {
        AnchorAnswer {
            receipt: Some(receipt.id.clone()),
            target: format!("receipt {} {what}", receipt.id),
            ..answer(verdict, why, &question.anchor)
        }
    }
}

fn red(receipt: &Receipt) -> String {
    match receipt.exit_code {
        _ if receipt.timed_out => "its gate is red: it ran into its timeout".to_owned(),
        Some(code) => format!("its gate is red: exit code {code}"),
        None => "its gate is red: a signal ended it".to_owned(),
    }
}
