//! The schema of every answer.

use super::ask::{FanoutAnswer, ReplyAnswer};
use super::brief::{
    BriefAnswer, BriefChangeAnswer, BriefCheckAnswer, CheckpointAnswer, GuideAnswer, RecoverAnswer,
};
use super::calibrate::CalibrateAnswer;
use super::demo::DemoAnswer;
use super::doctor::{AgentsAnswer, RescueAnswer, RescuedFile};
use super::gate::GateAnswer;
use super::goal::GoalAnswer;
use super::issue::{IssueChangedAnswer, IssueReadyAnswer, IssueShowAnswer, IssueStatusAnswer};
use super::log::{DiffAnswer, EntryAnswer, LogAnswer};
use super::next::{RolePromptAnswer, WhyAnswer};
use super::plan::CriteriaAnswer;
use super::pull_request::PullRequestAnswer;
use super::push::{PullAnswer, PushAnswer};
use super::report::ReportAnswer;
use super::run::RunAnswer;
use super::session::{SessionLogAnswer, SessionShowAnswer};
use super::status::{GraphAnswer, ReadyAnswer, StatusAnswer};
use super::strength::StrengthAnswer;
use super::transition::{NoteAnswer, TransitionAnswer};
use crate::attest::{Attested, Made};
use crate::service::RunEstimate;
use crate::view::{CostAnswer, Dispatched, Failed, Verified};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The schema of what is written of a type, without references.
pub fn describe<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    let generator = settings.into_generator();
    generator.into_root_schema_for::<T>().to_value()
}

/// Id, title and schema of every answer, sorted by id.
pub fn describe_answers() -> Vec<(&'static str, &'static str, Value)> {
    macro_rules! all {
        ($($id:literal $of:ty, $title:literal;)*) => {
            vec![$(($id, $title, describe::<$of>()),)*]
        };
    }
    all! {
        "agents" AgentsAnswer, "cook doctor agents --json";
        "attest" Made, "cook attest --json";
        "attested" Attested, "cook attest verify --json";
        "brief" BriefAnswer, "`cook brief`, `cook brief render`";
        "brief-change" BriefChangeAnswer, "`cook brief note`, `say`, `import`, `--reconcile`";
        "brief-check" BriefCheckAnswer, "`cook brief check`";
        "brief-guide" GuideAnswer, "`cook brief guide`";
        "calibrate" CalibrateAnswer, "cook calibrate --json";
        "check" cook_protocol::report::Checked, "cook record --check --json";
        "check-commit" crate::check::Checked, "cook check --json";
        "checkpoint" CheckpointAnswer, "cook brief checkpoint --json";
        "cost" CostAnswer, "cook status --cost --json";
        "criteria" CriteriaAnswer, "cook plan criteria --json";
        "demo" DemoAnswer, "what a demonstration came to";
        "diff" DiffAnswer, "cook log A..B --json";
        "estimate" RunEstimate, "cook run --estimate --json";
        "failure" Failed, "a failure, in JSON";
        "fanout" FanoutAnswer, "cook ask --each --json";
        "gate" GateAnswer, "cook gate --json";
        "goal" GoalAnswer, "cook goal --json";
        "graph" GraphAnswer, "cook status --graph --json";
        "issue-changed" IssueChangedAnswer, "cook issue claim, close, comment, create --json";
        "issue-ready" IssueReadyAnswer, "cook issue ready --json";
        "issue-show" IssueShowAnswer, "cook issue show --json";
        "issue-status" IssueStatusAnswer, "cook issue status --json";
        "log" LogAnswer, "cook log --json";
        "next" Dispatched, "cook next --json";
        "next-prompt" RolePromptAnswer, "cook next --prompt --json";
        "note" NoteAnswer, "a command that recorded nothing";
        "pr" PullRequestAnswer, "cook report --format pr --json";
        "pull" PullAnswer, "cook pull --json";
        "push" PushAnswer, "cook push --json";
        "ready" ReadyAnswer, "cook status --ready --json";
        "recover" RecoverAnswer, "cook brief recover --json";
        "reply" ReplyAnswer, "cook ask --json, cook act --json";
        "report" ReportAnswer, "cook report --html FILE --json";
        "rescue" RescueAnswer, "cook doctor rescue list --json";
        "rescue-file" RescuedFile, "cook doctor rescue show ID PATH --json";
        "run" RunAnswer, "what a run came to";
        "session-log" SessionLogAnswer, "cook session log --json, cook session tree --json";
        "session-show" SessionShowAnswer, "cook session show --json";
        "show" EntryAnswer, "cook log ID --json";
        "status" StatusAnswer, "cook status --json";
        "strength" StrengthAnswer, "cook strength --json";
        "transition" TransitionAnswer, "an accepted transition";
        "verify" Verified, "cook verify, fsck, doctor and hooks check --json";
        "why" WhyAnswer, "cook next --why --json";
    }
}
