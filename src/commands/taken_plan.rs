//! `cook init --from`: a plan that is there already, and its ticks.

use super::caller;
use super::context::{Answer, Context};
use super::transition::note;
use crate::init::plans;
use crate::service;
use crate::service::Workspace;
use crate::verify::measure_worths;
use cook_protocol::diagnostic::{Code, Failure, Refusal, count_noun};
use cook_protocol::machine::quote_word;
use cook_protocol::model::{Actor, Snapshot};
use cook_repo::store::Tip;
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
    let items = items.map(|item| format!("ticked in {path}: {item}"));
    let back = ticked.taken_back.iter();
    let back = back.map(|(item, why)| format!("took the tick back in {path}: {item}: {why}"));
    let mut lines: Vec<String> = items.chain(back).collect();
    if lines.is_empty() && ticked.untold.is_empty() {
        lines.push(format!("nothing to tick in {path}: what holds is ticked"));
    }
    let left = ticked.left.iter();
    lines.extend(left.map(|(item, why)| format!("left as it is in {path}: {item}: {why}")));
    let untold = ticked.untold.iter();
    lines.extend(
        untold.map(|item| {
            format!("left, as it stands in {path} no longer, or more than once: {item}")
        }),
    );
    note("init", lines)
}

/// Plans that lie there and were not named.
pub(super) fn offers(root: &Path) -> impl Iterator<Item = String> {
    plans::list_plans(root).into_iter().map(|(path, plan)| {
        let what = format!(
            "`{path}` ({}, {} tasks, {} ticked)",
            plan.import.layout, plan.tasks, plan.ticked
        );
        format!(
            "a plan is here, and was not taken in: {what}; `cook init --from {}` takes it in while nothing has begun",
            quote_word(&path)
        )
    })
}

/// Takes the workflow out of the way of a plan, where nothing but `cook init` was recorded in it: the
/// one that begins with the plan comes in its place. What is to be said of it.
pub(super) fn begin_anew(
    workspace: &Workspace,
    tip: &Tip,
    snapshot: &Snapshot,
    from: &str,
    as_user: &Result<Actor, Failure>,
) -> Result<String, Failure> {
    let has_plan = !snapshot.plan.candidate_slices.is_empty();
    let mut entries = workspace.store()?.entries()?;
    let is_begun = entries.any(|entry| !matches!(entry, Ok(meta) if meta.event == BOOTSTRAPPED));
    if has_plan || is_begun || service::check_unseen(workspace).is_err() {
        let what =
            format!("the workflow has begun with a plan of its own: `{from}` is not taken in");
        let mission = format!("Do what {from} lists; its boxes are claims, not proof");
        let mission = quote_word(&mission);
        let hints = [
            format!("let the next re-ground plan it: `cook plan refocus --mission {mission}`"),
            "or begin with it beside this work: `git worktree add PATH`, and `cook init --from` there".to_owned(),
        ];
        return Err(Refusal::new(Code::DoesNotApply, what)
            .replace_hints(hints)
            .into());
    }
    as_user.as_ref().map_err(Clone::clone)?;
    let kept = service::leave_workflow(workspace, tip)?;
    Ok(format!(
        "nothing had begun, so the log begins again with the plan; what `cook init` recorded before is kept as `{kept}`"
    ))
}

/// The name of the event that `cook init` records.
const BOOTSTRAPPED: &str = "bootstrapped";

/// Older state and a plan are both there.
pub(super) fn refuse_two() -> Failure {
    let what = "`.agent/` holds the plan of an older workflow, and `--from` names another";
    let hint = "run `cook init` without `--from` to go on with the older one, or move its `plan.json`, `state.json` and `active-slice.json` away first";
    Refusal::new(Code::PlanAmbiguous, what)
        .replace_hints([hint])
        .into()
}

/// What was taken in, and what its ticks are worth.
pub(super) fn describe(taken: &plans::TakenPlan) -> String {
    let import = &taken.import;
    let (path, layout) = (import.path.as_deref().unwrap_or_default(), &import.layout);
    let tasks = count_noun(taken.tasks as u64, "task");
    let claimed = match taken.ticked {
        0 => String::new(),
        ticked => format!("; {ticked} ticked there, which nothing proves yet"),
    };
    format!("took {tasks} from {path} ({layout}){claimed}")
}
