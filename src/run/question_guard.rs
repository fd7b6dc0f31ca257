//! A question of the user's own, held to reading as a reader's session is.

use super::mirror::{Mirror, TAKEN};
use super::session_guard::{Violation, Watch, list_directory};
use crate::service::Workspace;
use cook_agents::PutBack;
use cook_protocol::diagnostic::Failure;
use cook_repo::session::Action;
use std::path::Path;
use std::time::Duration;

/// Where the baselines of questions lie: beside those of runs, which settle what they find.
const QUESTIONS: &str = "questions";
/// No question takes longer.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3_600);

/// Begins to watch a question or an order; the call that this gives puts back what it changed. An
/// order may change the worktree: of what it did only the loss of the log is put back. Nothing is
/// put back while somebody drives: the changes may be a session's that has the right to them.
///
/// # Errors
/// When the repository cannot be read, or the baseline not be written.
pub fn guard(workspace: &Workspace, action: Action) -> Result<PutBack<'_>, Failure> {
    let is_driven = match &workspace.store {
        Some(store) => store.lease_holder()?.is_some(),
        None => false,
    };
    if is_driven {
        return Ok(Box::new(|| Ok(None)));
    }
    let mirror = Mirror::of_question(workspace)?;
    if action == Action::Act {
        let tip = workspace.current()?.0.map(|tip| tip.commit);
        mirror.refresh()?;
        return Ok(Box::new(move || {
            let lost = mirror.put_log_back(tip.as_deref())?;
            mirror.note_settled();
            let told = format!("{TAKEN}, and is put back");
            Ok(Some(lost.then_some(told).into_iter().collect()))
        }));
    }
    let questions = workspace.repo.cook_dir()?.join("watch").join(QUESTIONS);
    forget_old(workspace, &questions)?;
    let dir = questions.join(cook_repo::store::fresh_id());
    let watch = Watch::of_question(workspace, &dir)?;
    mirror.refresh()?;
    Ok(Box::new(move || {
        let (leads, lost) = mirror.put_back(&watch)?;
        // The session may have changed the settings.
        let now = Workspace::open(workspace.repo.root())?;
        watch.unlock(&now)?;
        let mut breach = watch.settle(&now, leads)?;
        mirror.note_settled();
        if lost {
            breach.what.insert(0, TAKEN.to_owned());
        }
        watch.end(&now.repo)?;
        Ok(Some(name_changes(&breach)))
    }))
}

/// Removes what a killed cook left of its questions.
fn forget_old(workspace: &Workspace, dir: &Path) -> Result<(), Failure> {
    for left in list_directory(dir)? {
        let made = left.metadata().and_then(|found| found.modified());
        let age = made.ok().and_then(|made| made.elapsed().ok());
        if age.is_some_and(|age| age > LONGEST)
            && let Some(watch) = Watch::open_left_behind(&left, None)?
        {
            watch.end(&workspace.repo)?;
        }
    }
    Ok(())
}

/// What was changed, that it is put back, and where the changed files are now.
fn name_changes(breach: &Violation) -> Vec<String> {
    if breach.what.is_empty() {
        return Vec::new();
    }
    let mut lines = breach.what.clone();
    lines.push(match breach.left.as_slice() {
        [] => "all of it is put back".to_owned(),
        left => format!("put back but for {}", left.join(", ")),
    });
    let copies = breach
        .copies
        .iter()
        .map(|id| format!("`cook doctor rescue show {id}`"));
    let refs = breach.refs.iter().map(|name| format!("`{name}`"));
    let moved = breach
        .moved
        .iter()
        .map(|path| format!("`{}`", path.display()));
    let kept: Vec<String> = copies.chain(refs).chain(moved).collect();
    if !kept.is_empty() {
        lines.push(format!("what was there is kept: {}", kept.join(", ")));
    }
    lines
}
