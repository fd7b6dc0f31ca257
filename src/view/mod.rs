//! The only place that prints: people's text, `--json`, exit codes.
//!
//! A command hands over a value that implements [`Show`]; it never prints itself.

mod agents;
mod brief;
mod carriage;
mod check;
mod checked;
mod cost;
mod estimate;
mod exit;
mod formats;
mod goal;
mod history;
mod hook;
pub(crate) mod html_page;
mod issue;
mod judges;
mod next;
mod page;
mod plan;
mod progress;
mod reply;
mod results;
mod run;
mod screen;
mod session;
mod status;
mod strength;
mod summary;
mod transition;
mod trial;
mod verify;

pub(crate) use agents::{AgentRow, AgentsAnswer};
pub(crate) use brief::{
    ArtifactAnswer, BriefAnswer, BriefChangeAnswer, BriefCheckAnswer, GuideAnswer, ShownEntry,
};
pub(crate) use carriage::{PullAnswer, PushAnswer};
pub(crate) use check::CheckAnswer;
pub(crate) use cost::{CostAnswer, CostRow};
pub(crate) use estimate::EstimateAnswer;
pub(crate) use exit::Exit;
pub(crate) use formats::{Format, markdown};
pub(crate) use goal::GoalAnswer;
pub(crate) use history::{
    Change, DiffAnswer, EntryAnswer, GateRun, LogAnswer, LogRow, RescueAnswer, RescueFile,
    RescueRef, RescueRow, RescuedFile, WorktreeLog,
};
pub(crate) use hook::{CheckpointAnswer, HookAnswer, RecoverAnswer};
pub(crate) use issue::{IssueChangedAnswer, IssueReadyAnswer, IssueShowAnswer, IssueStatusAnswer};
pub(crate) use judges::ShareView;
pub(crate) use next::{Dispatched, NextAnswer, PromptAnswer, RolePromptAnswer, WhyAnswer};
pub(crate) use page::{Page, Tone};
pub(crate) use plan::{
    CriteriaAnswer, CriteriaOfSlice, Edge, GraphAnswer, GraphForm, Node, NumberedCriterion,
    ReadyAnswer, WaitingSlice,
};
pub(crate) use progress::LiveLine;
pub(crate) use reply::{FanoutAnswer, MemberFailure, MemberRow, ReplyAnswer};
pub(crate) use results::{Results, Weight, plain};
pub(crate) use run::{RunAnswer, event_line};
pub(crate) use screen::write_line;
pub(crate) use screen::{ColorChoice, Screen};
pub(crate) use session::{CallRow, SessionLogAnswer, SessionShowAnswer};
pub(crate) use status::{LastChanged, RunView, SessionView, StatusAnswer};
pub(crate) use strength::StrengthAnswer;
pub(crate) use summary::{find_accepted, summarize, summarize_taken};
pub(crate) use transition::{NoteAnswer, TransitionAnswer};
pub(crate) use trial::{Trial, TrialOutcome};
pub(crate) use verify::{GateAnswer, VerifyAnswer};
#[cfg(feature = "schema")]
pub(crate) use {
    screen::Failed,
    status::Standing,
    verify::{Gates, Verified},
};

use cook_core::diagnostic::Finding;
use cook_core::model::SchemaVersion;
use serde::Serialize;
use serde_json::{Value, json};

/// An answer with the version of its shape.
#[derive(Serialize)]
struct Versioned<'a, T> {
    schema_version: SchemaVersion,
    #[serde(flatten)]
    answer: &'a T,
}

/// The JSON of an answer.
fn to_json<T: Serialize>(answer: &T) -> Value {
    json!(Versioned {
        schema_version: SchemaVersion,
        answer,
    })
}

/// An answer, in both forms: for programs its type is written as it is, and the schema in
/// `protocol/schema/` is made from the same type.
pub trait Answer: Show {
    /// For programs.
    fn json(&self) -> Value;
}

impl<T: Show + Serialize> Answer for T {
    fn json(&self) -> Value {
        to_json(self)
    }
}

/// How an answer is shown.
pub trait Show {
    /// For people.
    fn human(&self, page: &mut Page);

    /// False for answers that are one format by nature (man pages, completions).
    fn has_json(&self) -> bool {
        true
    }

    /// What it came to, where other formats than text and JSON are made from it.
    fn results(&self) -> Option<Results> {
        None
    }

    /// What was noticed on the way; people see it on stderr.
    fn findings(&self) -> &[Finding] {
        &[]
    }

    /// A line for stderr that is no finding; told even to the quiet, because it
    /// says why there is no answer.
    fn aside(&self) -> Option<&str> {
        None
    }

    /// How the command ends.
    fn exit(&self) -> Exit {
        Exit::Ok
    }
}
