//! What a page tells, as the log holds it: nothing of it is cleaned yet.

use crate::view::{CostAnswer, GraphAnswer, VerifyAnswer};
use cook_core::model::SliceStatus;

/// The work and its proof.
#[derive(Debug)]
pub(crate) struct Report {
    pub mission: String,
    /// Which log it is, and by which commit.
    pub source: String,
    pub branch: Option<String>,
    /// When the page was made, RFC 3339.
    pub made_at: String,
    pub verified: VerifyAnswer,
    /// Votes that are asked for.
    pub required_votes: u64,
    pub slices: Vec<SliceStory>,
    /// Criteria of slices that are not done.
    pub open: Vec<OpenCriterion>,
    /// Every vote, oldest first.
    pub judgments: Vec<Judgment>,
    /// Whose word the verdicts that count are, and what is known of them: one line each.
    pub judges: Vec<String>,
    /// Reports that were refused and rejections that changed what was done after them, oldest first.
    pub caught: Vec<Catch>,
    /// Noes that changed nothing, in words.
    pub unheeded: Option<String>,
    /// Copies that were set aside here; none = they do not travel with a log.
    pub kept: Option<Vec<Kept>>,
    /// Of calls for this work; none = the record of calls does not travel with a log.
    pub cost: Option<CostAnswer>,
    /// Oldest first.
    pub timeline: Vec<Moment>,
    pub graph: GraphAnswer,
}

/// A slice, and what became of each try.
#[derive(Debug)]
pub(crate) struct SliceStory {
    pub id: String,
    pub goal: String,
    pub status: SliceStatus,
    pub waits_for: Vec<String>,
    pub head: Option<String>,
    pub attempts: usize,
    pub events: Vec<SliceEvent>,
}

/// Something that was reported of a slice.
#[derive(Debug)]
pub(crate) struct SliceEvent {
    pub seq: u64,
    pub what: &'static str,
    /// Whether it brought the slice on; none = it is only told.
    pub good: Option<bool>,
    pub says: Vec<String>,
}

/// A criterion that nobody has accepted yet.
#[derive(Debug)]
pub(crate) struct OpenCriterion {
    pub slice: String,
    pub text: String,
    pub anchor: Option<String>,
}

/// What a judge said.
#[derive(Debug)]
pub(crate) struct Judgment {
    pub seq: u64,
    pub session: Option<String>,
    pub yes: bool,
    /// It is one of the wave that decides now.
    pub counts: bool,
    pub reasons: Vec<String>,
    /// Dimensions that it does not pass.
    pub concerns: Vec<String>,
}

/// A report that was refused, or that said no.
#[derive(Debug)]
pub(crate) struct Catch {
    pub seq: u64,
    pub subject: String,
    pub what: &'static str,
    pub names: String,
}

/// What was set aside, and why.
#[derive(Debug)]
pub(crate) struct Kept {
    pub id: String,
    pub time: String,
    pub why: String,
    pub files: Vec<String>,
}

/// One transition.
#[derive(Debug)]
pub(crate) struct Moment {
    pub seq: u64,
    pub time: String,
    pub epoch_seconds: i64,
    pub event: String,
    pub actor: String,
    pub rule: String,
    pub subject: String,
    pub undone: bool,
}
