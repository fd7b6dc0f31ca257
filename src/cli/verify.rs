//! `cook verify`, `cook fsck`.

use super::args::{VerifyArgs, VerifyScope};
use super::{Answer, Context, answer};
use crate::verify::{self, Outcome};
use crate::view::VerifyAnswer;
use cook_core::diagnostic::counted;

pub(super) fn verify(context: &Context, args: &VerifyArgs) -> Answer {
    let mut workspace = context.workspace()?;
    workspace.rerun = args.rerun;
    workspace.trust_everything = args.trust_repo;
    let (scope, outcome) = match args.scope {
        VerifyScope::ControlPlane => ("control-plane", verify::control_plane(&workspace)?),
        VerifyScope::Stop => ("stop", verify::stop(&workspace)?),
        VerifyScope::All => {
            let mut outcome = verify::control_plane(&workspace)?;
            outcome.append(verify::stop(&workspace)?);
            verify::released(&workspace, &mut outcome)?;
            ("all", outcome.sorted())
        }
    };
    let Outcome { checked, findings } = outcome;
    answer(VerifyAnswer {
        scope,
        strict: args.strict,
        checked,
        findings,
    })
}

pub(super) fn fsck(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let report = workspace.store()?.fsck()?;
    answer(VerifyAnswer {
        scope: "fsck",
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
