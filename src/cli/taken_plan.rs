//! `cook init --from`: a plan that is there already, and its ticks.

use super::caller;
use super::context::{Answer, Context, note};
use crate::scaffold::plans;
use crate::service::Workspace;
use crate::verify::measure_worths;
use cook_core::diagnostic::{Code, Failure, Finding, Refusal, counted};
use cook_core::model::Import;
use std::path::Path;

/// Ticks what holds in the file that the plan was taken from.
pub(super) fn tick(context: &Context, as_user: bool) -> Answer {
    caller::require_user(as_user)?;
    let workspace = Workspace::open(&context.dir)?;
    let (_, snapshot) = workspace.require()?;
    let worths = measure_worths(&workspace, &snapshot)?;
    let ticked = plans::tick(workspace.repo.root(), &snapshot, &worths)?;
    let path = &ticked.path;
    let items = ticked.items.iter();
    let mut lines: Vec<String> = items
        .map(|item| format!("ticked in {path}: {item}"))
        .collect();
    let back = ticked.taken_back.iter();
    lines.extend(back.map(|(item, why)| format!("took the tick back in {path}: {item}: {why}")));
    if lines.is_empty() && ticked.untold.is_empty() {
        lines.push(format!("nothing to tick in {path}: what holds is ticked"));
    }
    let left = ticked.left.iter();
    lines.extend(left.map(|(item, why)| format!("left as it is in {path}: {item}: {why}")));
    lines.extend(
        ticked.untold.iter().map(|item| {
            format!("left, as it stands in {path} no longer, or more than once: {item}")
        }),
    );
    note("init", lines)
}

/// Plans that lie there and were not named.
pub(super) fn offers(root: &Path) -> impl Iterator<Item = String> {
    plans::find(root).into_iter().map(|plan| {
        let path = &plan.path;
        let what = plan.describe();
        format!(
            "a plan is here, and was not taken in: {what}; where it is to be, `cook init --from {path}` comes first"
        )
    })
}

/// The plan is the log's already.
pub(super) fn too_late(from: &str) -> Failure {
    Refusal::new(
        Code::DoesNotApply,
        format!("the workflow has begun with a plan of its own: `{from}` is not taken in"),
    )
    .replace_hints(["say what is wanted with `cook refocus`: the next re-ground plans it"])
    .into()
}

/// Makes the plan part of the first event.
pub(super) fn take_in(
    taken: plans::TakenPlan,
    import: &mut Option<Box<Import>>,
    lines: &mut Vec<String>,
    findings: &mut Vec<Finding>,
) -> Result<(), Failure> {
    if import.is_some() {
        return Err(two_plans());
    }
    lines.push(describe(&taken));
    findings.extend(taken.findings);
    *import = Some(Box::new(taken.import));
    Ok(())
}

/// Older state and a plan are both there.
fn two_plans() -> Failure {
    Refusal::new(
        Code::PlanAmbiguous,
        "`.agent/` holds the plan of an older workflow, and `--from` names another",
    )
    .replace_hints([
        "run `cook init` without `--from` to go on with the older one, or move its `plan.json`, `state.json` and `active-slice.json` away first",
    ])
    .into()
}

/// What was taken in, and what its ticks are worth.
fn describe(taken: &plans::TakenPlan) -> String {
    let path = taken.import.path.as_deref().unwrap_or_default();
    let tasks = counted(taken.tasks as u64, "task");
    let claimed = match taken.ticked {
        0 => String::new(),
        ticked => format!("; {ticked} ticked there, which nothing proves yet"),
    };
    format!(
        "took {tasks} from {path} ({}){claimed}",
        taken.import.layout
    )
}
