//! `cook doctor fsck`: checks the log's objects and the view.

use super::context::{Answer, Context, answer};
use crate::view::VerifyAnswer;
use cook_core::diagnostic::count_noun;

pub(super) fn fsck(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let report = workspace.store()?.fsck()?;
    answer(VerifyAnswer {
        scope: "fsck",
        checked: vec![
            format!("{} objects, {} bytes", report.objects, report.bytes),
            format!(
                "{} in {}",
                count_noun(report.transitions, "transition"),
                count_noun(report.workflows, "workflow")
            ),
        ],
        findings: report.findings,
        ..VerifyAnswer::default()
    })
}
