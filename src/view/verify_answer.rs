//! `cook verify`, `cook doctor fsck`, `cook gate`: what was checked and what was found.

use super::results::Weight;
use super::screen::finding_line;
use super::{Exit, Page, Results, Show, Tone};
use crate::verify::{Answered, Criterion, Outcome, ProofVerdict};
use cook_protocol::diagnostic::{Code, Finding, Severity, count_noun};
use serde::{Serialize, Serializer};

/// What was looked at and what was found.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Verified<'a> {
    #[schemars(extend(
        "enum" = ["control-plane", "stop", "all", "slice", "fsck", "doctor", "hooks", "session"]
    ))]
    scope: &'a str,
    strict: bool,
    passed: bool,
    #[serde(flatten)]
    question: Option<&'a Answered>,
    checked: &'a [String],
    findings: Vec<Judged<'a>>,
}

/// A finding and how much it weighs.
#[derive(Serialize, schemars::JsonSchema)]
struct Judged<'a> {
    code: Code,
    severity: Severity,
    message: &'a str,
    place: Option<&'a str>,
    /// What to run; empty when only the case can tell.
    hint: &'a str,
}

/// The outcome of a verification.
#[derive(Debug, Default)]
pub struct VerifyAnswer {
    /// `control-plane`, `stop`, `all`, `slice` or `fsck`.
    pub scope: &'static str,
    /// What `cook verify` was asked.
    pub question: Option<Answered>,
    /// Findings that need a re-ground fail too, and a worktree that is not clean.
    pub strict: bool,
    /// What was looked at, one line each.
    pub checked: Vec<String>,
    /// What was found, worst first.
    pub findings: Vec<Finding>,
}

impl VerifyAnswer {
    pub fn of(scope: &'static str, strict: bool, mut answered: Answered) -> Self {
        let Outcome { checked, findings } = std::mem::take(&mut answered.outcome);
        Self {
            scope,
            question: Some(answered),
            strict,
            checked,
            findings,
        }
    }

    /// Of a check that is no question about a commit.
    pub fn new(scope: &'static str, checked: Vec<String>, findings: Vec<Finding>) -> Self {
        Self {
            scope,
            question: None,
            strict: false,
            checked,
            findings,
        }
    }

    /// Whether it passes: a question that could not be answered never does. What reviewers and
    /// judges were shown as remarks does not fail it.
    pub fn has_passed(&self) -> bool {
        !self.findings.iter().any(|finding| self.fails(finding))
    }

    fn fails(&self, finding: &Finding) -> bool {
        match finding.severity() {
            Severity::Error => true,
            Severity::NeedsReground => self.strict || self.leaves_open(finding.code),
            Severity::Warning | Severity::Note => {
                let is_strict = [
                    Code::DirtyWorktree,
                    Code::ProofNotReproducible,
                    Code::NoCommandRan,
                ];
                self.strict && is_strict.contains(&finding.code)
            }
        }
    }

    /// What every format is made from.
    pub(crate) fn as_results(&self) -> Results {
        let verdict = match &self.question {
            Some(question) => format!("{} {}", question.question, question.answer),
            None => format!("verify {}", self.scope),
        };
        let mut results = Results::new("cook verify", self.has_passed(), &verdict);
        let question = self.question.as_ref();
        let standing = question.and_then(|question| question.commit.as_ref());
        results.head = standing.and_then(|standing| standing.head.commit.clone());
        for criterion in question.into_iter().flat_map(|it| &it.criteria) {
            results.prove(criterion, self.strict);
        }
        let mut findings: Vec<_> = self.findings.iter().collect();
        findings.sort_by_key(|finding| !self.fails(finding));
        for finding in findings {
            let weight = Weight::of(finding, self.fails(finding));
            results.find(finding, weight, finding.code.hint());
        }
        results.note_looked_at(&self.checked);
        results
    }

    /// Whether this finding, which needs a re-ground, means that what was asked is not so, or not
    /// known.
    fn leaves_open(&self, code: Code) -> bool {
        match self.scope {
            "all" => true,
            "slice" => matches!(code, Code::LogMissing | Code::EvidenceImported),
            "stop" => matches!(code, Code::LogMissing | Code::HeadMovedSinceDone),
            _ => code == Code::LogMissing && self.question.as_ref().is_some_and(|it| !it.has_log),
        }
    }
}

impl Serialize for VerifyAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let findings = self.findings.iter();
        Verified {
            scope: self.scope,
            strict: self.strict,
            passed: self.has_passed(),
            question: self.question.as_ref(),
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
        if let Some(question) = &self.question {
            page.add_toned(Tone::Strong, &question.question);
            page.line(&format!(" {}", question.answer));
        }
        for line in &self.checked {
            page.add_toned(Tone::Dim, "checked  ");
            page.line(line);
        }
        for criterion in self.question.iter().flat_map(|it| &it.criteria) {
            criterion_lines(page, criterion);
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
                page.add_toned(Tone::Dim, "      next: ");
                page.line(hint);
                hinted.push(hint);
            }
        }
        let scope = self.scope;
        if self.has_passed() {
            page.add_toned(Tone::Good, "passed");
        } else {
            page.add_toned(Tone::Bad, "failed");
        }
        let strict = if self.strict { ", strict" } else { "" };
        let word = match scope {
            "fsck" | "doctor" | "hooks" | "session" => scope.to_owned(),
            scope => format!("verify {scope}{strict}"),
        };
        page.line(&format!(
            "  {word}: {}",
            count_noun(self.findings.len() as u64, "finding")
        ));
    }

    fn results(&self) -> Option<Results> {
        Some(self.as_results())
    }

    fn exit(&self) -> Exit {
        let mut failing = self.findings.iter().filter(|finding| self.fails(finding));
        if self.has_passed() {
            Exit::Ok
        } else if failing.all(|it| matches!(it.code, Code::ContractAlone | Code::ContractChanged)) {
            Exit::Paused
        } else {
            Exit::CheckFailed
        }
    }
}

/// What the proof of a criterion is worth; why, where that is not plain.
fn criterion_lines(page: &mut Page, criterion: &Criterion) {
    let (tone, says_why) = match criterion.verdict {
        ProofVerdict::Reproduced | ProofVerdict::Holds => (Tone::Good, false),
        ProofVerdict::Recorded => (Tone::Warn, true),
        // Why stands in the finding.
        ProofVerdict::NotReproducible => (Tone::Warn, false),
        ProofVerdict::Differs | ProofVerdict::Lost => (Tone::Bad, false),
    };
    page.add_toned(
        tone,
        &format!("{:<10}", criterion.verdict.id().replace('_', " ")),
    );
    let anchor = criterion.anchor.as_deref().unwrap_or("nothing");
    let at = match (&criterion.at, criterion.verdict) {
        (Some(at), ProofVerdict::Reproduced) => format!(", at {}", &at[..at.len().min(12)]),
        _ => String::new(),
    };
    page.line(&format!(
        "  {}: {} ({anchor}{at})",
        criterion.slice, criterion.text
    ));
    if says_why {
        page.line(&format!("            {}", criterion.why));
    }
}
