//! The strength of the gates over a change.

use super::found::{Ask, Measured};
use super::span::{self, Span};
use crate::check::{Tell, require_green};
use crate::measure::{
    Field, Planted, deciding, list_unread, plant_defects, tell_unread, texts, why_not,
};
use crate::service::Workspace;
use cook_core::diagnostic::{Failure, count_noun};
use cook_git::MAX_EDITS;

/// Plants defects in a change, and counts those that its gates notice.
///
/// # Errors
/// A base or a slice that is not known, gates that may not run or are not green, an interruption.
pub(crate) fn measure(
    workspace: &mut Workspace,
    ask: &Ask,
    tell: Tell,
) -> Result<Measured, Failure> {
    let Span {
        head,
        base,
        commands: own,
    } = span::find(workspace, ask)?;
    for commit in [&base.commit, &head] {
        workspace.repo.fetch_missing(commit, &[])?;
    }
    let (proposed, _) = workspace.propose_gates_for(&base.commit, &head)?;
    let edits = workspace.repo.edits(&base.commit, &head)?;
    let mut commands = deciding((&workspace.repo, workspace.config()?), &edits, &base.commit)?;
    commands.extend(own.iter().cloned());
    let mut checked = Vec::new();
    if edits.len() > MAX_EDITS {
        checked.push(format!(
            "{} differ, of which the first {MAX_EDITS} were read",
            count_noun(edits.len() as u64, "file")
        ));
    }
    if !workspace.repo.status()?.worktree.is_clean() {
        let what = "what is not committed was not looked at";
        checked.push(what.to_owned());
    }
    let why = why_not(&texts(&edits, &commands));
    let unread = tell_unread(&list_unread(&edits, &commands));
    let mut planted = Planted::default();
    let not_applicable = why.clone().filter(|_| unread.is_none());
    if why.is_none() {
        let (mut greens, looked_at) =
            require_green(workspace, (&head, &base), (proposed, &own), tell)?;
        checked.extend(looked_at);
        greens.sort_by_key(|green| green.ms);
        let field = Field {
            repo: &workspace.repo,
            base: &base.commit,
            head: &head,
            edits: &edits,
            commands: &commands,
            greens: &greens,
            run: &|files, gate| {
                let gates = std::slice::from_ref(gate);
                workspace
                    .with_runner(|runner| runner.run_without(&head, files, gates, workspace.caches))
            },
            tell,
        };
        planted = plant_defects(&field, (ask.mutants, ask.minutes))?;
    }
    checked.append(&mut planted.checked);
    planted.checked = checked;
    Ok(Measured {
        head,
        base,
        not_applicable,
        unread,
        planted,
    })
}
