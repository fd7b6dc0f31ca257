//! `cook fsck`: checks the log's objects and the view.

use super::context::{Answer, Context, answer};
use crate::view::VerifyAnswer;
use cook_core::diagnostic::counted;

pub(super) fn fsck(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let report = workspace.store()?.fsck()?;
    answer(VerifyAnswer {
        scope: "fsck",
        question: None,
        strict: false,
        checked: vec![
            format!("{} objects, {} bytes", report.objects, report.bytes),
            format!(
                "{} in {}",
                counted(report.transitions, "transition"),
                counted(report.workflows, "workflow")
            ),
        ],
        findings: report.findings,
    })
}
