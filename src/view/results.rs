//! What `cook verify` and `cook check` came to, in the one shape that every format is made from.
//!
//! Invariant: each text in it is one line without control, direction or hidden characters, at most
//! [`LONGEST`] characters long. A format has only its own signs left to take the meaning from.

use crate::anchor::Anchor;
use crate::check::{FilePlace, Line};
use crate::verify::{Criterion, ProofVerdict};
use cook_protocol::diagnostic::{
    Code, Failure, FailureKind, Finding, Lines, Severity, clean, without_tags,
};

/// Characters of one text.
const LONGEST: usize = 2000;

/// How much it weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// The command fails by it.
    Fails,
    /// Worth a look.
    Look,
    /// For the reader.
    Note,
}

impl Weight {
    /// How a finding of a verification weighs where it fails, or does not.
    pub fn of(finding: &Finding, fails: bool) -> Self {
        match (fails, finding.severity()) {
            (true, _) => Self::Fails,
            (false, Severity::Note) => Self::Note,
            (false, _) => Self::Look,
        }
    }

    /// As SARIF and GitHub name it, but that GitHub says `notice`.
    pub fn level(self) -> &'static str {
        match self {
            Self::Fails => "error",
            Self::Look => "warning",
            Self::Note => "note",
        }
    }
}

/// One thing that was found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
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

impl Found {
    /// The file and the line, then the message.
    pub fn with_place(&self) -> String {
        let message = &self.message;
        match &self.file {
            None => message.clone(),
            Some(FilePlace { path, line: None }) => format!("{path}: {message}"),
            Some(FilePlace {
                path,
                line: Some(line),
            }) => format!("{path}:{line}: {message}"),
        }
    }

    /// A text of it with what to do, on a line of its own.
    pub fn with_next(&self, text: &str) -> String {
        match self.next.as_str() {
            "" => text.to_owned(),
            next => format!("{text}\nnext: {next}"),
        }
    }
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
    pub(crate) verdict: String,
    /// The commit that was asked about.
    pub(crate) head: Option<String>,
    /// Criteria with what their proof is worth, and whether the command fails by it.
    pub(super) proofs: Vec<(Criterion, bool)>,
    /// Worst first.
    pub(crate) found: Vec<Found>,
    /// What was looked at.
    pub(super) checked: Vec<String>,
}

impl Results {
    /// Nothing but the verdict.
    pub(crate) fn new(command: &'static str, passed: bool, verdict: &str) -> Self {
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
        results.find(&whole, Weight::Fails, &next);
        for part in &failure.findings {
            if part.message != failure.message {
                results.find(part, Weight::Fails, &next);
            }
        }
        if failure.kind != FailureKind::Usage {
            let causes = failure.causes.iter();
            results.note_looked_at(causes.map(|cause| format!("because: {cause}")));
        }
        results
    }

    pub(crate) fn note_looked_at(&mut self, lines: impl IntoIterator<Item = impl AsRef<str>>) {
        let lines = lines.into_iter().map(|line| plain(line.as_ref()));
        self.checked.extend(lines);
    }

    /// A criterion; `strict` = what can be neither looked up nor run fails.
    pub(super) fn prove(&mut self, criterion: &Criterion, strict: bool) {
        let verdict = criterion.verdict;
        let fails = verdict.is_lost() || strict && verdict == ProofVerdict::NotReproducible;
        let criterion = Criterion {
            slice: plain(&criterion.slice),
            text: plain(&criterion.text),
            anchor: criterion.anchor.as_deref().map(plain),
            why: plain(&criterion.why),
            ..criterion.clone()
        };
        self.proofs.push((criterion, fails));
    }

    /// A finding of a verification, after the criteria.
    pub(super) fn find(&mut self, finding: &Finding, weight: Weight, next: &str) {
        let place = finding.place.as_deref().map(plain).unwrap_or_default();
        let message = plain(&finding.message);
        let proof = self.proofs.iter().find(|(proof, _)| {
            proof.slice == place && message.starts_with(&format!("`{}`", proof.text))
        });
        let file = match proof {
            Some((proof, _)) => proof.anchor.as_deref().and_then(find_file),
            None if place.starts_with(".agent/") => {
                let path = place.split(['#', ':']).next().unwrap_or_default();
                let path = path.to_owned();
                Some(FilePlace { path, line: None })
            }
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
    pub(crate) fn add_line(&mut self, line: &Line) {
        let next = match &line.declare {
            Some(declare) => format!("{}; or declare it: {declare}", line.show),
            None => line.show.clone(),
        };
        self.found.push(Found {
            code: line.code,
            weight: match line.weight {
                cook_protocol::trials::Weight::Refuses
                | cook_protocol::trials::Weight::NotKnown => Weight::Fails,
                cook_protocol::trials::Weight::Shown => Weight::Look,
            },
            message: plain(&line.message),
            file: line.file.as_ref().map(|file| FilePlace {
                path: plain(&file.path),
                line: file.line,
            }),
            next: plain(&next),
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

    /// What the command fails by.
    pub(crate) fn list_failing(&self) -> Vec<&Found> {
        let found = self.found.iter();
        found.filter(|it| it.weight == Weight::Fails).collect()
    }
}

/// The file that an anchor names, where it still stands.
fn find_file(anchor: &str) -> Option<FilePlace> {
    let anchor = Anchor::parse(anchor).ok()?;
    let line = match &anchor {
        Anchor::Gone { .. } => return None,
        Anchor::Lines { first, .. } => Some(*first),
        _ => None,
    };
    let path = anchor.file()?.to_owned();
    Some(FilePlace { path, line })
}

/// One line of somebody's words.
pub(crate) fn plain(text: &str) -> String {
    let text = without_tags(&clean(text, Lines::Fold));
    shorten(&text, LONGEST)
}

/// The text, or its beginning with a sign that more stood there.
pub(crate) fn shorten(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
