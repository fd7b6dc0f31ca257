//! The schema of every answer.

use super::demo::DemoAnswer;
use super::pull_request::PullRequestAnswer;
use super::calibrate::CalibrateAnswer;
use super::report::ReportAnswer;
use crate::attest::{Attested, Made};
use crate::view::{
    AgentsAnswer, BriefAnswer, BriefChangeAnswer, BriefCheckAnswer, CalibrateAnswer,
    CheckpointAnswer, CostAnswer, CriteriaAnswer, DiffAnswer, Dispatched, EntryAnswer,
    EstimateAnswer, Failed, FanoutAnswer, Gates, GoalAnswer, GraphAnswer, GuideAnswer,
    IssueChangedAnswer, IssueReadyAnswer, IssueShowAnswer, IssueStatusAnswer, LogAnswer,
    NoteAnswer, PullAnswer, PushAnswer, ReadyAnswer, RecoverAnswer, ReplyAnswer, RescueAnswer,
    RescuedFile, RolePromptAnswer, RunAnswer, SessionLogAnswer, SessionShowAnswer, Standing,
    StrengthAnswer, TransitionAnswer, Verified, WhyAnswer,
};
use cook_core::schema::published::describe_answer;
use serde_json::Value;

/// Id and schema of every answer, sorted by id.
pub fn describe_answers() -> Vec<(&'static str, Value)> {
    macro_rules! all {
        ($($id:literal $of:ty, $title:literal;)*) => {
            vec![$(($id, describe_answer::<$of>($id, $title)),)*]
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
        "calibrate" "cook calibrate --json";
        "check" cook_core::report::Checked, "cook record --check --json";
        "check-commit" crate::check::Checked, "cook check --json";
        "checkpoint" CheckpointAnswer, "cook brief checkpoint --json";
        "cost" CostAnswer, "cook status --cost --json";
        "criteria" CriteriaAnswer, "cook plan criteria --json";
        "demo" DemoAnswer, "what a demonstration came to";
        "diff" DiffAnswer, "cook log A..B --json";
        "estimate" EstimateAnswer, "cook run --estimate --json";
        "failure" Failed, "a failure, in JSON";
        "fanout" FanoutAnswer, "cook ask --each --json";
        "gate" Gates, "cook gate --json";
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
        "status" Standing, "cook status --json";
        "strength" StrengthAnswer, "cook strength --json";
        "transition" TransitionAnswer, "an accepted transition";
        "verify" Verified, "cook verify, fsck, doctor and hooks check --json";
        "why" WhyAnswer, "cook next --why --json";
    }
}
