//! What the change takes away from tests, and which settings of checks it edits.

use super::found::Checked;
use super::line::Line;
use crate::measure::{self, list_lost_tests, texts};
use crate::service::Workspace;
use cook_core::change::{Effect, Loss, LossKind, list_settings_edits};
use cook_core::diagnostic::{Code, Failure, count_noun};
use cook_git::{Edit, MAX_EDITS};

pub(super) fn look(
    workspace: &Workspace,
    edits: &[Edit],
    checked: &mut Checked,
) -> Result<(), Failure> {
    let gates = deciding(workspace, edits, &checked.base.commit)?;
    for loss in list_lost_tests(edits, &gates) {
        let line = loss_line(&loss, edits, checked);
        checked.lines.push(line);
    }
    let files = texts(edits, &gates);
    for edit in list_settings_edits(&files) {
        let show = checked.diff(&[edit.path]);
        let after = files.iter().find(|file| file.path == edit.path);
        let takes_away = edit.effect == Effect::TakesAway;
        let what = format!("`{}` {}", edit.path, edit.what);
        let line = Line::new(Code::TestSettingsEdited, takes_away, what, show)
            .about(edit.path, after.and_then(|file| file.after));
        checked.lines.push(line);
    }
    let mut what = format!("{} compared", count_noun(edits.len() as u64, "file"));
    if edits.len() > MAX_EDITS {
        what.push_str(&format!(", of which the first {MAX_EDITS} were read"));
    }
    checked.checked.push(what);
    Ok(())
}

/// The commands that decide what passes, and the scripts among the edited files that a runner's
/// file names at the base.
pub(crate) fn deciding(
    workspace: &Workspace,
    edits: &[Edit],
    base: &str,
) -> Result<Vec<String>, Failure> {
    measure::deciding((&workspace.repo, workspace.config()?), edits, base)
}

/// A loss, with the diff of the file that it names.
pub(super) fn loss_line(loss: &Loss, edits: &[Edit], checked: &Checked) -> Line {
    let code = match loss.kind {
        LossKind::Deleted => Code::TestDeleted,
        LossKind::Skipped => Code::TestSkipped,
        LossKind::Weakened => Code::TestWeakened,
        LossKind::Fewer => Code::TestsFewer,
    };
    let named = edits
        .iter()
        .find(|edit| loss.what.contains(&format!("`{}`", edit.change.path)));
    let line = |paths: &[&str]| Line::new(code, true, loss.what.clone(), checked.diff(paths));
    match named {
        Some(edit) => {
            let path = edit.change.path.as_str();
            let after = edit.texts.as_ref().and_then(|(_, after)| after.as_deref());
            line(&[path]).about(path, after)
        }
        None => line(&[]),
    }
}
