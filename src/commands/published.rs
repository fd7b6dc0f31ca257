//! The JSON schemas of all answers.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The schema of the serialized form of a type, with references inlined.
pub fn describe<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    let generator = settings.into_generator();
    generator.into_root_schema_for::<T>().to_value()
}

/// The id, title and schema of every answer, sorted by id.
pub fn describe_answers() -> Vec<(&'static str, &'static str, Value)> {
    macro_rules! all {
        ($($id:literal $of:ty, $title:literal;)*) => {
            vec![$(($id, $title, describe::<$of>()),)*]
        };
    }
    all! {
        "agents" super::doctor::AgentsAnswer, "cook doctor agents --json";
        "attest" crate::attest::Made, "cook attest --json";
        "attested" crate::attest::Attested, "cook attest verify --json";
        "brief" super::brief::BriefAnswer, "`cook brief`, `cook brief render`";
        "brief-change" super::brief::BriefChangeAnswer, "`cook brief note`, `say`, `import`, `--reconcile`";
        "brief-check" super::brief::BriefCheckAnswer, "`cook brief check`";
        "brief-guide" super::brief::GuideAnswer, "`cook brief guide`";
        "calibrate" super::calibrate::CalibrateAnswer, "cook calibrate --json";
        "check" cook_protocol::report::Checked, "cook record --check --json";
        "check-commit" crate::check::Checked, "cook check --json";
        "checkpoint" super::brief::CheckpointAnswer, "cook brief checkpoint --json";
        "codes" super::help::CodesAnswer, "cook explain --json";
        "cost" crate::view::CostAnswer, "cook status --cost --json";
        "criteria" super::plan::CriteriaAnswer, "cook plan criteria --json";
        "demo" super::demo::DemoAnswer, "what a demonstration came to";
        "diff" super::log::DiffAnswer, "cook log A..B --json";
        "estimate" crate::service::RunEstimate, "cook run --estimate --json";
        "failure" crate::view::Failed, "a failure, in JSON";
        "fanout" super::ask::FanoutAnswer, "cook ask --each --json";
        "gate" super::gate::GateAnswer, "cook gate --json";
        "goal" super::goal::GoalAnswer, "cook goal --json";
        "graph" super::status::GraphAnswer, "cook status --graph --json";
        "issue-changed" super::issue::IssueChangedAnswer, "cook issue claim, close, comment, create --json";
        "issue-ready" super::issue::IssueReadyAnswer, "cook issue ready --json";
        "issue-show" super::issue::IssueShowAnswer, "cook issue show --json";
        "issue-status" super::issue::IssueStatusAnswer, "cook issue status --json";
        "log" super::log::LogAnswer, "cook log --json";
        "next" crate::view::Dispatched, "cook next --json";
        "next-prompt" super::next::RolePromptAnswer, "cook next --prompt --json";
        "note" super::recorded::NoteAnswer, "a command that recorded nothing";
        "pr" super::pull_request::PullRequestAnswer, "cook report --format pr --json";
        "pull" super::push::PullAnswer, "cook pull --json";
        "push" super::push::PushAnswer, "cook push --json";
        "ready" super::status::ReadyAnswer, "cook status --ready --json";
        "recover" super::brief::RecoverAnswer, "cook brief recover --json";
        "reply" super::ask::ReplyAnswer, "cook ask --json, cook act --json";
        "report" super::report::ReportAnswer, "cook report --html FILE --json";
        "rescue" super::doctor::RescueAnswer, "cook doctor rescue list --json";
        "rescue-file" super::doctor::RescuedFile, "cook doctor rescue show ID PATH --json";
        "run" super::run::RunAnswer, "what a run came to";
        "session-log" super::session::SessionLogAnswer, "cook session log --json, cook session tree --json";
        "session-show" super::session::SessionShowAnswer, "cook session show --json";
        "show" super::log::EntryAnswer, "cook log ID --json";
        "status" super::status::StatusAnswer, "cook status --json";
        "strength" super::strength::StrengthAnswer, "cook strength --json";
        "transition" super::recorded::TransitionAnswer, "an accepted transition";
        "verify" crate::view::Verified, "cook verify, fsck, doctor and hooks check --json";
        "why" super::next::WhyAnswer, "cook next --why --json";
    }
}
