//! What a criterion's proof is worth, and what a verification says of it.

use cook_core::diagnostic::{Code, Finding};
use serde::Serialize;

/// What a criterion's proof is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ProofVerdict {
    /// Its gate or test ran again in a new clean room and came out the same.
    Reproduced,
    /// It was looked up in the code, or in what ran here at this tree, and is true.
    Holds,
    /// It rests on what somebody said or a log holds. It fits the log, and nobody looked it up.
    Recorded,
    /// It comes out another way than it is on record.
    Differs,
    /// It can be neither looked up nor run here.
    NotReproducible,
    /// What it rests on is gone.
    Lost,
}

impl ProofVerdict {
    /// The word in answers.
    pub fn id(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Holds => "holds",
            Self::Recorded => "recorded",
            Self::Differs => "differs",
            Self::NotReproducible => "not_reproducible",
            Self::Lost => "lost",
        }
    }
}

/// A criterion of a done slice, and what its proof is worth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Criterion {
    /// The slice's id.
    pub slice: String,
    /// Its words.
    pub text: String,
    /// Where the proof is; null where none is on record.
    pub anchor: Option<String>,
    /// What it is worth.
    pub verdict: ProofVerdict,
    /// Why, for a reader.
    pub why: String,
    /// The commit that this is about.
    pub at: Option<String>,
}

impl Criterion {
    /// What is wrong, if anything. `shallow` = the clone lacks a part of the history.
    pub(super) fn finding(&self, shallow: bool) -> Option<Finding> {
        let code = match self.verdict {
            ProofVerdict::Reproduced | ProofVerdict::Holds | ProofVerdict::Recorded => return None,
            ProofVerdict::Differs => Code::CriterionDiffers,
            ProofVerdict::NotReproducible if shallow => Code::HistoryShallow,
            ProofVerdict::NotReproducible => Code::ProofNotReproducible,
            ProofVerdict::Lost if self.anchor.is_none() => Code::EvidenceImported,
            ProofVerdict::Lost => Code::ProofBroken,
        };
        let what = match &self.anchor {
            Some(anchor) => format!("`{}` rests on {anchor}: {}", self.text, self.why),
            None => format!("`{}`: {}", self.text, self.why),
        };
        Some(Finding::new(code, what).at(self.slice.clone()))
    }
}
