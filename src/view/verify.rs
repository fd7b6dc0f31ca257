//! `cook verify`, `cook doctor fsck`, `cook gate`: what was checked and what was found.

use super::results::find_weight;
use super::screen::finding_line;
use super::{Exit, Page, Results, Show, Tone};
use crate::verify::{CommitStanding, Compared, Criterion, ProofVerdict, Proven};
use cook_core::diagnostic::{Code, Finding, Severity, count_noun};
use serde::{Serialize, Serializer};

/// What was looked at and what was found.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Verified<'a> {
    #[cfg_attr(feature = "schema", schemars(extend(
        "enum" = ["control-plane", "stop", "all", "slice", "fsck", "doctor", "hooks", "session"]
    )))]
    scope: &'a str,
    strict: bool,
    passed: bool,
    #[serde(flatten)]
    question: Option<Questioned<'a>>,
    checked: &'a [String],
    findings: Vec<Judged<'a>>,
}

/// The question that `cook verify` was asked, and its answer.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Questioned<'a> {
    /// The question.
    question: &'a str,
    /// How the commit is the proven one, or what the answer is about.
    answer: &'a str,
    /// The commit that was asked about; left out where the question is not about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<Asked<'a>>,
    /// What the proof of each criterion of a done slice is worth.
    criteria: &'a [Criterion],
    /// The commit whose contract decides; left out where none was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<Base<'a>>,
}

/// The commit whose contract decides, and how the one at HEAD stands to it.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Base<'a> {
    /// As it was named.
    name: &'a str,
    commit: &'a str,
    /// SHA-256 of HEAD's whole contract, for `--accept-contract`.
    contract: &'a str,
    /// That digest was accepted: HEAD's contract decides.
    accepted: bool,
    /// HEAD differs in nothing but its contract.
    contract_alone: bool,
}

impl<'a> From<&'a Compared> for Base<'a> {
    fn from(compared: &'a Compared) -> Self {
        Self {
            name: &compared.name,
            commit: &compared.commit,
            contract: &compared.digest,
            accepted: compared.accepted,
            contract_alone: compared.alone,
        }
    }
}

/// The commit that was asked about, and how it is the proven one.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Asked<'a> {
    /// HEAD; null = there is no commit yet.
    head: Option<&'a str>,
    /// The commit that was found done; null while work is open.
    done: Option<&'a str>,
    /// null = it is not the proven one.
    #[cfg_attr(feature = "schema", schemars(extend(
        "enum" = ["itself", "same_tree", "merged_from", null]
    )))]
    how: Option<&'static str>,
    /// What the done commit was merged into.
    base: Option<&'a str>,
    /// How.
    #[cfg_attr(feature = "schema", schemars(extend(
        "enum" = ["merge", "squash", "rebase", null]
    )))]
    merged_as: Option<&'static str>,
}

impl<'a> From<&'a CommitStanding> for Asked<'a> {
    fn from(standing: &'a CommitStanding) -> Self {
        let from = match &standing.how {
            Some(Proven::Merged(from)) => Some(from),
            _ => None,
        };
        Self {
            head: standing.head.commit.as_deref(),
            done: standing.done.as_deref(),
            how: standing.how.as_ref().map(|how| match how {
                Proven::Itself => "itself",
                Proven::SameTree => "same_tree",
                Proven::Merged(_) => "merged_from",
            }),
            base: from.map(|from| from.base.as_str()),
            merged_as: from.map(|from| from.how.id()),
        }
    }
}

/// A question, and what it was answered.
#[derive(Debug)]
pub struct Question {
    /// The question.
    pub asks: String,
    /// How the commit is the proven one, or what the answer is about.
    pub answer: String,
    /// The log that it is about is there.
    pub has_log: bool,
    /// The commit, where it is about one.
    pub commit: Option<CommitStanding>,
    /// The proof of each criterion.
    pub criteria: Vec<Criterion>,
    /// How the contract stands to the base's, where one was named.
    pub base: Option<Compared>,
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
    /// `control-plane`, `stop`, `all`, `slice` or `fsck`.
    pub scope: &'static str,
    /// What `cook verify` was asked.
    pub question: Option<Question>,
    /// Findings that need a re-ground fail too, and a worktree that is not clean.
    pub strict: bool,
    /// What was looked at, one line each.
    pub checked: Vec<String>,
    /// What was found, worst first.
    pub findings: Vec<Finding>,
}

impl VerifyAnswer {
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
            Some(question) => format!("{} {}", question.asks, question.answer),
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
            let weight = find_weight(finding, self.fails(finding));
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
            question: self.question.as_ref().map(|question| Questioned {
                question: &question.asks,
                answer: &question.answer,
                commit: question.commit.as_ref().map(Asked::from),
                criteria: &question.criteria,
                base: question.base.as_ref().map(Base::from),
            }),
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
            page.add_toned(Tone::Strong, &question.asks);
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
