//! `cook verify`, `cook fsck`, `cook gate`: what was checked and what was found.

use super::screen::finding_line;
use super::{Exit, Page, Show, Tone};
use cook_core::diagnostic::{Code, Finding, Severity, counted};
use cook_core::machine::GateRun;
use cook_core::model::Receipt;
use serde::{Serialize, Serializer};

/// What was looked at and what was found.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Verified<'a> {
    #[cfg_attr(feature = "schema", schemars(extend(
        "enum" = ["control-plane", "stop", "all", "fsck", "doctor", "hooks", "session"]
    )))]
    scope: &'a str,
    strict: bool,
    passed: bool,
    checked: &'a [String],
    findings: Vec<Judged<'a>>,
}

/// A finding and how much it weighs.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Judged<'a> {
    code: Code,
    severity: Severity,
    message: &'a str,
    place: Option<&'a str>,
    /// What to run; empty when only the case can tell.
    hint: &'a str,
}

/// The outcome of a verification.
#[derive(Debug)]
pub struct VerifyAnswer {
    /// `control-plane`, `stop`, `all` or `fsck`.
    pub scope: &'static str,
    /// Findings that need a re-ground fail too, and a worktree that is not clean.
    pub strict: bool,
    /// What was looked at, one line each.
    pub checked: Vec<String>,
    /// What was found, worst first.
    pub findings: Vec<Finding>,
}

impl VerifyAnswer {
    /// Whether it passes: a question that could not be answered never does. What reviewers and
    /// judges were shown as remarks does not fail it.
    pub fn passed(&self) -> bool {
        !self
            .findings
            .iter()
            .any(|finding| match finding.severity() {
                Severity::Error => true,
                Severity::NeedsReground => self.strict || self.leaves_open(finding.code),
                Severity::Warning | Severity::Note => {
                    self.strict && matches!(finding.code, Code::DirtyWorktree)
                }
            })
    }

    /// Whether this finding means that what was asked about this commit is not known.
    fn leaves_open(&self, code: Code) -> bool {
        matches!(self.scope, "stop" | "all")
            && matches!(code, Code::LogMissing | Code::HeadMovedSinceDone)
    }
}

impl Serialize for VerifyAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let findings = self.findings.iter();
        Verified {
            scope: self.scope,
            strict: self.strict,
            passed: self.passed(),
            checked: &self.checked,
            findings: findings
                .map(|finding| Judged {
                    code: finding.code,
                    severity: finding.severity(),
                    message: &finding.message,
                    place: finding.place.as_deref(),
                    hint: finding.code.hint(),
                })
                .collect(),
        }
        .serialize(serializer)
    }
}

impl Show for VerifyAnswer {
    fn human(&self, page: &mut Page) {
        for line in &self.checked {
            page.toned(Tone::Dim, "checked  ");
            page.line(line);
        }
        let mut hinted: Vec<&str> = Vec::new();
        for (at, finding) in self.findings.iter().enumerate() {
            finding_line(page, finding);
            let last_of_code = self
                .findings
                .get(at + 1)
                .is_none_or(|next| next.code != finding.code);
            let hint = finding.code.hint();
            let wanted = finding.severity() >= Severity::NeedsReground && !hint.is_empty();
            if last_of_code && wanted && !hinted.contains(&hint) {
                page.toned(Tone::Dim, "      next: ");
                page.line(hint);
                hinted.push(hint);
            }
        }
        let scope = self.scope;
        if self.passed() {
            page.toned(Tone::Good, "passed");
        } else {
            page.toned(Tone::Bad, "failed");
        }
        let strict = if self.strict { ", strict" } else { "" };
        let word = match scope {
            "fsck" | "doctor" | "hooks" | "session" => scope.to_owned(),
            scope => format!("verify {scope}{strict}"),
        };
        page.line(&format!(
            "  {word}: {}",
            counted(self.findings.len() as u64, "finding")
        ));
    }

    fn exit(&self) -> Exit {
        if self.passed() {
            Exit::Ok
        } else {
            Exit::CheckFailed
        }
    }
}

/// Gates that were run, or whose receipt was found.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Gates<'a> {
    gates: Vec<Gate<'a>>,
    findings: &'a [Finding],
}

/// One gate's run.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Gate<'a> {
    name: &'a str,
    run: &'a str,
    required: bool,
    passed: bool,
    /// Why it could not be run.
    problem: Option<&'a str>,
    receipt: Option<&'a Receipt>,
    /// What a reader should know of it.
    remarks: &'a [String],
    /// What it did not have in the clean room, and the setting that gives it.
    missing: &'a [String],
    /// The run at the basis, for gates that must fail there.
    at_basis: Option<&'a Receipt>,
}

/// Gates that were run.
#[derive(Debug)]
pub struct GateAnswer {
    /// Each gate's run, and what it did not have where it is red.
    pub runs: Vec<(GateRun, Vec<String>)>,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
}

impl Serialize for GateAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let runs = self.runs.iter();
        Gates {
            gates: runs
                .map(|(run, missing)| Gate {
                    name: &run.gate.name,
                    run: &run.gate.run,
                    required: run.gate.required,
                    passed: run.passed(),
                    problem: run.problem.as_deref(),
                    receipt: run.receipt.as_ref(),
                    remarks: &run.remarks,
                    missing,
                    at_basis: run.at_basis.as_ref(),
                })
                .collect(),
            findings: &self.findings,
        }
        .serialize(serializer)
    }
}

impl Show for GateAnswer {
    fn human(&self, page: &mut Page) {
        if self.runs.is_empty() {
            page.line("no gates: `.agent/cook.toml` names none");
        }
        for (run, missing) in &self.runs {
            let (tone, word) = if run.passed() {
                (Tone::Good, "green")
            } else {
                (Tone::Bad, "red  ")
            };
            page.toned(tone, word);
            let took = run.receipt.as_ref().map_or(String::new(), |receipt| {
                format!("  {} ms", receipt.duration_ms.0)
            });
            page.line(&format!("  {}  {}{took}", run.gate.name, run.gate.run));
            if let Some(receipt) = &run.receipt {
                page.line(&format!("       receipt:{}", receipt.id));
                if !receipt.proves() {
                    page.line("       ran in the worktree, so it proves nothing");
                }
            }
            if run
                .receipt
                .as_ref()
                .is_some_and(|receipt| receipt.exit_code.is_none())
            {
                let limit = std::time::Duration::from_millis(run.gate.timeout_ms);
                page.line(&format!(
                    "       ended by a signal, or by its timeout of {}",
                    humantime::format_duration(limit)
                ));
            }
            for remark in &run.remarks {
                page.line(&format!("       {remark}"));
            }
            if let Some(problem) = &run.problem {
                page.line(&format!("       {problem}"));
            } else if !run.passed()
                && let Some(receipt) = &run.receipt
            {
                let lines: Vec<&str> = receipt.tail.lines().collect();
                for line in &lines[lines.len().saturating_sub(8)..] {
                    page.line(&format!("       | {line}"));
                }
            }
            for hint in missing {
                page.toned(Tone::Dim, "       missing: ");
                page.line(hint);
            }
        }
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }

    fn exit(&self) -> Exit {
        let red = self
            .runs
            .iter()
            .any(|(run, _)| run.gate.required && !run.passed());
        if red { Exit::CheckFailed } else { Exit::Ok }
    }
}
