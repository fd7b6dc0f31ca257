//! What a re-ground says proves a criterion.

use super::anchor::Anchor;
use super::assurance::Offer;
use super::evidence::Basis;
use super::scalar::Text;
use serde::{Deserialize, Serialize};

/// A claim that a criterion holds, with where to look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "GivenClaim")]
pub struct EvidenceClaim {
    /// The slice; left out = the slice that is reconciled or active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice_id: Option<String>,
    /// The criterion's text.
    #[serde(with = "Text")]
    pub criterion: String,
    /// Where the proof is.
    #[serde(with = "Text")]
    pub anchor: String,
    /// What kind of proof; where a claim leaves it out, the one that its anchor's form has.
    pub basis: Basis,
}

/// An evidence claim as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenClaim {
    #[serde(default)]
    slice_id: Option<String>,
    #[serde(with = "Text")]
    criterion: String,
    #[serde(with = "Text")]
    anchor: String,
    #[serde(default)]
    basis: Option<Basis>,
}

impl From<GivenClaim> for EvidenceClaim {
    fn from(given: GivenClaim) -> Self {
        // An anchor that breaks its grammar is refused where it is looked at.
        let natural = || Anchor::parse(&given.anchor).map_or(Basis::Observed, |a| a.basis());
        Self {
            basis: given.basis.unwrap_or_else(natural),
            slice_id: given.slice_id,
            criterion: given.criterion,
            anchor: given.anchor,
        }
    }
}

impl EvidenceClaim {
    /// What an implementer says proves a criterion, as a re-ground claims it.
    pub fn of_offer(slice_id: &str, offer: &Offer) -> Self {
        Self::from(GivenClaim {
            slice_id: Some(slice_id.to_owned()),
            criterion: offer.criterion.clone(),
            anchor: offer.anchor.clone(),
            basis: None,
        })
    }
}
