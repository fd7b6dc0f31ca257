//! The results of planted defects at a slice's commit, and the reviewer's waivers for those that no gate notices.

use super::scalar::Count;
use serde::{Deserialize, Serialize};

/// The id of the defect that reverts the whole change.
pub const WHOLE: &str = "whole";
/// The word with which a finding waives a defect.
const WAIVE: &str = "WAIVE";
const THOUSAND: u64 = 1_000;

/// `[rules] strength`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StrengthRule {
    /// No defects are planted.
    #[default]
    Off,
    /// Reviewers and judges see the defects that no gate notices.
    Report,
    /// The same, and a slice is accepted only if enough defects are noticed or waived.
    Require,
}

/// A share from 0 to 1, kept in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Share(u64);

impl Share {
    /// Builds a share from thousandths.
    pub const fn of_thousandths(thousandths: u64) -> Self {
        Self(thousandths)
    }
}

impl TryFrom<f64> for Share {
    type Error = String;

    fn try_from(share: f64) -> Result<Self, String> {
        match (0.0..=1.0).contains(&share) {
            true => Ok(Self((share * THOUSAND as f64).round() as u64)),
            false => Err(format!("{share} must be from 0 to 1")),
        }
    }
}

impl From<Share> for f64 {
    fn from(share: Share) -> Self {
        share.0 as f64 / THOUSAND as f64
    }
}

/// A planted defect that no gate notices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnnoticedDefect {
    /// The id; the same for the same defect in the same code, wherever its lines stand.
    pub id: String,
    /// The file.
    pub path: String,
    /// The line in the slice's commit, from 1.
    pub line: Count,
    /// A description of the defect.
    pub what: String,
    /// The defect as a unified diff; only the beginning if it is long.
    pub diff: String,
}

/// A reviewer's reason to accept a defect that no gate notices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waiver {
    /// The id of the defect, or [`WHOLE`].
    pub id: String,
    /// Why no gate has to notice it.
    pub why: String,
}

/// The results of planted defects at a slice's commit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StrengthNote {
    /// The commit.
    pub commit: String,
    /// The share of defects that gates must notice; `None` if there is no requirement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<Share>,
    /// Why no defects can be planted, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_applicable: Option<String>,
    /// Why the result is unknown, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Whether every gate passes with the whole change reverted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub proves_nothing: bool,
    /// Code files without planted defects, because a gate's command names them or their language is unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untried: Vec<String>,
    /// Defects that a gate noticed.
    pub noticed: Count,
    /// Defects that no gate noticed.
    pub unnoticed: Count,
    /// The first of the unnoticed defects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub defects: Vec<UnnoticedDefect>,
    /// Defects that do not build, according to the output of the gates; they count neither as noticed nor as unnoticed.
    pub unbuildable: Count,
    /// Defects that the limits on time or number left out.
    pub left_out: Count,
    /// The waivers of the review.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waived: Vec<Waiver>,
}

/// Returns the waivers among the findings of a review, and those without a known id (`is_there`) or a reason.
pub fn read_waivers<'f>(
    findings: impl IntoIterator<Item = &'f str>,
    is_there: impl Fn(&str) -> bool,
) -> (Vec<Waiver>, Vec<String>) {
    let (mut waived, mut unknown) = (Vec::<Waiver>::new(), Vec::new());
    for text in findings.into_iter().filter_map(strip_waiver) {
        let (id, why) = text.split_once(':').unwrap_or((text, ""));
        let (id, why) = (id.trim().trim_matches('`'), why.trim());
        if waived.iter().any(|known| known.id == id) {
            continue;
        }
        if is_there(id) && is_reason(why) {
            waived.push(Waiver {
                id: id.to_owned(),
                why: why.to_owned(),
            });
        } else if !unknown.iter().any(|known| known == text) {
            unknown.push(text.to_owned());
        }
    }
    (waived, unknown)
}

impl StrengthNote {
    /// Whether a waiver with this id refers to something in this note.
    pub fn has(&self, id: &str) -> bool {
        match id {
            WHOLE => self.proves_nothing || self.problem.is_some(),
            _ => self.defects.iter().any(|defect| defect.id == id),
        }
    }

    /// Lists the reasons why the slice cannot be accepted: too few defects are noticed, the reverted change is not
    /// noticed, or the result is unknown, without a waiver.
    pub fn list_short(&self) -> Vec<String> {
        let Some(required) = self.required.filter(|_| self.not_applicable.is_none()) else {
            return Vec::new();
        };
        let is_waived = |id: &str| self.waived.iter().any(|waiver| waiver.id == id);
        let mut short = Vec::new();
        if !is_waived(WHOLE) {
            if self.proves_nothing {
                short.push(format!(
                    "planted defect `{WHOLE}`: every gate passes with the whole change taken back; add a test that fails without it, or say why none can in the report of a commit (`git commit --allow-empty` will do), for the reviewer to waive it"
                ));
            }
            if let Some(why) = &self.problem {
                short.push(format!(
                    "planted defect `{WHOLE}`: whether the gates notice defects is not known: {why}"
                ));
            }
        }
        let open = self.defects.iter().filter(|defect| !is_waived(&defect.id));
        let open: Vec<&UnnoticedDefect> = open.collect();
        let waived = (self.defects.len() - open.len()) as u64;
        let counted = (self.noticed.0 + self.unnoticed.0).saturating_sub(waived);
        if self.noticed.0 * THOUSAND < required.0 * counted {
            short.extend(open.into_iter().map(|defect| {
                format!(
                    "planted defect `{}`: every gate passes with it; {}:{}, {}; add a test that fails with it, or say why it means the same in the report of a commit (`git commit --allow-empty` will do), for the reviewer to waive it",
                    defect.id, defect.path, defect.line.0, defect.what
                )
            }));
        }
        short
    }

    /// Describes the result in one line.
    pub fn tell(&self) -> String {
        if let Some(why) = &self.not_applicable {
            return format!("nothing to plant a defect in: {why}");
        }
        let all = self.noticed.0 + self.unnoticed.0;
        let mut told = match (&self.problem, all) {
            (Some(why), _) => format!("not known: {why}"),
            (None, 0) => "no defect could be planted".to_owned(),
            (None, _) => {
                format!(
                    "{} of {all} planted defects noticed by a gate",
                    self.noticed.0
                )
            }
        };
        if self.unbuildable.0 > 0 {
            told.push_str(&format!("; {} more do not build", self.unbuildable.0));
        }
        if self.proves_nothing {
            told.push_str("; every gate passes with the whole change taken back");
        }
        if !self.waived.is_empty() {
            told.push_str(&format!("; {} waived by the review", self.waived.len()));
        }
        if !self.untried.is_empty() {
            told.push_str(&format!(
                "; nothing is planted in {}",
                self.untried.join(", ")
            ));
        }
        if let Some(required) = self.required {
            let share = f64::from(required);
            told.push_str(&format!("; a share of {share} is required"));
        }
        told
    }
}

/// Returns the text after the word `WAIVE` in a finding; list marks, back-quotes and case do not matter.
fn strip_waiver(finding: &str) -> Option<&str> {
    let bare = finding.trim_start_matches(['-', '*', '`', ' ']);
    let word = bare.get(..WAIVE.len())?;
    let rest = bare.get(WAIVE.len()..)?.trim_end_matches('`');
    word.eq_ignore_ascii_case(WAIVE).then(|| rest.trim())
}

/// Whether the reason has at least two words.
fn is_reason(why: &str) -> bool {
    let words = why
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.count() > 1
}

/// Whether the finding is a waiver and so requires no fix.
pub fn is_waiver(finding: &str) -> bool {
    strip_waiver(finding).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(noticed: u64, unnoticed: u64) -> StrengthNote {
        let defect = |number: u64| UnnoticedDefect {
            id: format!("d{number}"),
            path: "a.sh".to_owned(),
            line: Count(number),
            what: "a condition is negated".to_owned(),
            diff: String::new(),
        };
        StrengthNote {
            required: Some(Share::of_thousandths(700)),
            noticed: Count(noticed),
            unnoticed: Count(unnoticed),
            defects: (1..=unnoticed).map(defect).collect(),
            ..StrengthNote::default()
        }
    }

    #[test]
    fn a_share_is_one_from_0_to_1() {
        assert_eq!(Share::try_from(0.7), Ok(Share(700)));
        assert_eq!(f64::from(Share(700)), 0.7);
        for wrong in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(Share::try_from(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_noticed_too_seldom_is_named_and_can_be_waived() {
        assert_eq!(note(7, 3).list_short(), [""; 0]);
        let mut weak = note(2, 2);
        assert_eq!(weak.list_short().len(), 2);
        assert!(weak.list_short()[0].starts_with("planted defect `d1`: every gate"));
        let findings = [
            "WAIVE d1: the same as the code",
            "- WAIVE `d1`: again the same",
            "WAIVE d2:",
            "WAIVED d2: the same",
            "waive d2: none",
            "WAIVE d9: nobody knows it",
            "WAIVE whole: it is noticed",
            "a loop runs once too often",
        ];
        let findings = findings.map(str::to_owned);
        let (waived, unknown) =
            read_waivers(findings.iter().map(String::as_str), |id| weak.has(id));
        assert_eq!(waived.len(), 1);
        assert_eq!(waived[0].id, "d1");
        assert_eq!(unknown.len(), 5, "{unknown:?}");
        weak.waived = waived;
        // 2 of 3 is less than 0.7.
        assert_eq!(weak.list_short().len(), 1);
        weak.required = Some(Share::of_thousandths(660));
        assert_eq!(weak.list_short(), [""; 0]);
        weak.required = None;
        assert_eq!(weak.list_short(), [""; 0]);
        let kept: Vec<&String> = findings.iter().filter(|it| !is_waiver(it)).collect();
        assert_eq!(kept, ["a loop runs once too often"]);
    }

    #[test]
    fn a_change_that_nobody_misses_is_short_whatever_is_noticed() {
        let mut weak = note(4, 0);
        weak.proves_nothing = true;
        assert_eq!(weak.list_short().len(), 1);
        weak.waived = read_waivers(["WAIVE whole: a README alone"], |id| weak.has(id)).0;
        assert_eq!(weak.list_short(), [""; 0]);
        let mut unknown = note(0, 0);
        unknown.problem = Some("a gate could not be run".to_owned());
        assert_eq!(unknown.list_short().len(), 1);
        unknown.not_applicable = Some("comments".to_owned());
        assert_eq!(unknown.list_short(), [""; 0]);
    }
}
