//! What `cook verify` and `cook check` came to, in the one shape that every format is made from.
//!
//! Invariant: each text in it is one line without control, direction or hidden characters, at most
//! [`LONGEST`] characters long. A format has only its own signs left to take the meaning from.

use crate::anchor::Anchor;
use crate::check::{FilePlace, Line};
use crate::verify::{Criterion, ProofVerdict};
use cook_core::diagnostic::{
    Code, Failure, FailureKind, Finding, Lines, Severity, clean, without_tags,
};

/// Characters of one text.
const LONGEST: usize = 2000;

/// How much it weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// The command fails by it.
    Fails,
    /// Worth a look.
    Look,
    /// For the reader.
    Note,
}

impl Weight {
    /// The word in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fails => "fails",
            Self::Look => "look",
            Self::Note => "note",
        }
    }
}

/// One thing that was found.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub code: Code,
    pub weight: Weight,
    /// With the slice or the field it is about.
    pub message: String,
    pub file: Option<FilePlace>,
    /// What to do, or the command that shows more.
    pub next: String,
    /// It says what is wrong with the proof of one criterion.
    pub is_of_criterion: bool,
}

/// A criterion, and what its proof is worth.
#[derive(Debug, Clone)]
pub(super) struct Proof {
    pub slice: String,
    pub text: String,
    pub anchor: Option<String>,
    pub verdict: ProofVerdict,
    pub why: String,
    pub fails: bool,
}

/// What a command came to.
#[derive(Debug, Clone)]
pub struct Results {
    /// `cook verify`, `cook check`.
    pub(super) command: &'static str,
    pub(super) passed: bool,
    /// It could not do its work, so that nothing is known.
    pub(super) is_failure: bool,
    /// What was asked, and the answer.
    pub(super) verdict: String,
    /// The commit that was asked about.
    pub(super) head: Option<String>,
    pub(super) proofs: Vec<Proof>,
    /// Worst first.
    pub(super) found: Vec<Found>,
    /// What was looked at.
    pub(super) checked: Vec<String>,
}

impl Results {
    /// Nothing but the verdict.
    pub(super) fn new(command: &'static str, passed: bool, verdict: &str) -> Self {
        Self {
            command,
            passed,
            is_failure: false,
            verdict: plain(verdict),
            head: None,
            proofs: Vec::new(),
            found: Vec::new(),
            checked: Vec::new(),
        }
    }

    /// The command could not do its work.
    pub(super) fn of_failure(command: &'static str, failure: &Failure) -> Self {
        let verdict = format!("not answered: {}", failure.message);
        let mut results = Self::new(command, false, &verdict);
        results.is_failure = true;
        let next = failure.hints.join("; ");
        let whole = Finding::new(failure.code, failure.message.clone());
        let parts = failure.findings.iter();
        for finding in
            std::iter::once(&whole).chain(parts.filter(|part| part.message != failure.message))
        {
            results.find(finding, Weight::Fails, &next);
        }
        let of_command_line = failure.kind == FailureKind::Usage;
        let causes = failure.causes.iter().filter(|_| !of_command_line);
        results.note_looked_at(causes.map(|cause| format!("because: {cause}")));
        results
    }

    pub(super) fn note_looked_at(&mut self, lines: impl IntoIterator<Item = impl AsRef<str>>) {
        let lines = lines.into_iter().map(|line| plain(line.as_ref()));
        self.checked.extend(lines);
    }

    /// A criterion; `strict` = what can be neither looked up nor run fails.
    pub(super) fn prove(&mut self, criterion: &Criterion, strict: bool) {
        let fails = match criterion.verdict {
            ProofVerdict::Differs | ProofVerdict::Lost => true,
            ProofVerdict::NotReproducible => strict,
            ProofVerdict::Reproduced | ProofVerdict::Holds | ProofVerdict::Recorded => false,
        };
        self.proofs.push(Proof {
            slice: plain(&criterion.slice),
            text: plain(&criterion.text),
            anchor: criterion.anchor.as_deref().map(plain),
            verdict: criterion.verdict,
            why: plain(&criterion.why),
            fails,
        });
    }

    /// A finding of a verification, after the criteria.
    pub(super) fn find(&mut self, finding: &Finding, weight: Weight, next: &str) {
        let place = finding.place.as_deref().map(plain).unwrap_or_default();
        let message = plain(&finding.message);
        let proof = self.proofs.iter().find(|proof| {
            proof.slice == place && message.starts_with(&format!("`{}`", proof.text))
        });
        let file = match proof {
            Some(proof) => proof.anchor.as_deref().and_then(find_file),
            None if place.starts_with(".agent/") => Some(FilePlace {
                path: place
                    .split(['#', ':'])
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
                line: None,
            }),
            None => None,
        };
        let is_said = place.is_empty() || message.contains(&place);
        self.found.push(Found {
            code: finding.code,
            weight,
            is_of_criterion: proof.is_some(),
            file,
            next: plain(next),
            message: match is_said {
                true => message,
                false => plain(&format!("{place}: {message}")),
            },
        });
    }

    /// A line of a check.
    pub(super) fn add_line(&mut self, line: &Line) {
        self.found.push(Found {
            code: line.code,
            weight: match line.weight {
                cook_trials::Weight::Refuses | cook_trials::Weight::NotKnown => Weight::Fails,
                cook_trials::Weight::Shown => Weight::Look,
            },
            message: plain(&line.message),
            file: line.file.as_ref().map(|file| FilePlace {
                path: plain(&file.path),
                line: file.line,
            }),
            next: plain(&match &line.declare {
                Some(declare) => format!("{}; or declare it: {declare}", line.show),
                None => line.show.clone(),
            }),
            is_of_criterion: false,
        });
    }

    /// The word before the verdict.
    pub(super) fn word(&self) -> &'static str {
        match self.passed {
            true => "passed",
            false => "failed",
        }
    }

    pub(super) fn failing(&self) -> usize {
        let fails = |found: &&Found| found.weight == Weight::Fails;
        self.found.iter().filter(fails).count()
    }
}

/// How a finding of a verification weighs where it fails, or does not.
pub(super) fn find_weight(finding: &Finding, fails: bool) -> Weight {
    match (fails, finding.severity()) {
        (true, _) => Weight::Fails,
        (false, Severity::Note) => Weight::Note,
        (false, _) => Weight::Look,
    }
}

/// The file that an anchor names, where it still stands.
fn find_file(anchor: &str) -> Option<FilePlace> {
    let anchor = Anchor::parse(anchor).ok()?;
    let line = match &anchor {
        Anchor::Lines { first, .. } => Some(*first),
        _ => None,
    };
    let path = match &anchor {
        Anchor::Gone { .. } => None,
        other => other.file(),
    }?;
    Some(FilePlace {
        path: path.to_owned(),
        line,
    })
}

/// One line of somebody's words.
pub(super) fn plain(text: &str) -> String {
    let text = without_tags(&clean(text, Lines::Fold));
    shorten(&text, LONGEST)
}

/// The text, or its beginning with a sign that more stood there.
pub(super) fn shorten(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
