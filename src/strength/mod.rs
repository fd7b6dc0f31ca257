//! `cook strength`: would the gates notice a defect in what a change brought? Defects are planted in
//! the lines that it changed, one at a time, in a clean room at its last commit, and the gates run.
//!
//! Invariant: nothing of the repository runs that this machine does not trust, no defect is ever
//! written where the user works, and what was not tried counts as nothing.

use crate::check::{Base, Tell, find_base, require_green};
use crate::measure::{
    Field, Planted, Survivor, deciding, list_unread, plant_defects, tell_unread, texts, why_not,
};
use crate::prelude::*;
use crate::workspace::Workspace;
use cook_mutants::{Outcome, Tally, Unread, read_cargo_mutants, read_elements};
use cook_repo::git::MAX_EDITS;

/// Bytes of a report that are read.
pub(crate) const MAX_REPORT: u64 = 64 << 20;
/// Bytes of a diff beside a report.
const MAX_DIFF: u64 = 256 << 10;
/// Diffs beside a report that are read.
const MOST_DIFFS: usize = 1_000;

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask<'a> {
    /// The slice whose change it is; none = what `base` says.
    pub slice: Option<&'a str>,
    /// The commit to compare HEAD with, as the user names it; none = it is looked for.
    pub base: Option<&'a str>,
    /// Defects, at most.
    pub mutants: usize,
    /// Minutes for all of them.
    pub minutes: u64,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Measured {
    /// The change's last commit, in which defects were planted.
    pub head: String,
    pub base: Base,
    /// Why there is nothing to plant in, where that is so.
    pub not_applicable: Option<String>,
    /// Code that changed and that nobody could read, in words.
    pub unread: Option<String>,
    pub planted: Planted,
}

/// Plants defects in a change, and counts those that its gates notice.
///
/// # Errors
/// A base or a slice that is not known, gates that may not run or are not green, an interruption.
pub(crate) fn measure(workspace: &mut Workspace, ask: &Ask, tell: Tell) -> Result<Measured> {
    let Span {
        head,
        base,
        commands: own,
    } = find_span(workspace, ask)?;
    for commit in [&base.commit, &head] {
        workspace.repo.fetch_missing(commit, &[])?;
    }
    let named = workspace.propose_gates_for(&base.commit, &head)?.own;
    let edits = workspace.repo.edits(&base.commit, &head)?;
    let mut commands = deciding((&workspace.repo, workspace.config()?), &edits, &base.commit)?;
    commands.extend(own.iter().cloned());
    let mut checked = Vec::new();
    if edits.len() > MAX_EDITS {
        checked.push(format!(
            "{} differ, of which the first {MAX_EDITS} were read",
            count_noun(edits.len(), "file")
        ));
    }
    if !workspace.repo.status()?.worktree.is_clean() {
        checked.push("uncommitted changes were not examined".to_owned());
    }
    let why = why_not(&texts(&edits, &commands));
    let unread = tell_unread(&list_unread(&edits, &commands));
    let mut planted = Planted::default();
    let not_applicable = why.clone().filter(|_| unread.is_none());
    if why.is_none() {
        let (mut greens, looked_at) =
            require_green(workspace, (&head, &base), (&named, &own), tell)?;
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
                let world = workspace.world()?;
                world
                    .runner()?
                    .run_without(&head, files, gates, workspace.caches)
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

/// Where a change lies.
struct Span {
    /// Its last commit.
    pub head: String,
    pub base: Base,
    /// Commands that are run for it beside the gates of the settings.
    pub commands: Vec<String>,
}

/// Of a slice as the log has it, else from the base to HEAD.
fn find_span(workspace: &Workspace, ask: &Ask) -> Result<Span> {
    let head = workspace.repo.head()?.commit;
    let Some(id) = ask.slice else {
        let Some(head) = head else {
            let refusal = Refusal::new(Code::UnbornHead, "the repository has no commit yet");
            let hint = "commit the change, then run `cook strength`";
            return Err(refusal.replace_hints([hint]).into());
        };
        let base = find_base(&workspace.repo, &head, ask.base)?;
        return Ok(Span {
            head,
            base,
            commands: Vec::new(),
        });
    };
    let (_, snapshot) = workspace.require()?;
    let Some(slice) = snapshot.plan.slice(id) else {
        let what = format!("the plan has no slice `{id}`");
        return Err(Failure::unknown(Code::SliceUnknown, what));
    };
    let ledger = snapshot.ledger.slices.get(id);
    let accepted = ledger.and_then(|ledger| ledger.accepted.as_ref());
    let ends = match accepted {
        Some(accepted) => Some((accepted.basis.clone(), accepted.head.clone())),
        None => ledger.and_then(|ledger| {
            let own = ledger.head.clone().or_else(|| ledger.reported.clone());
            Some((ledger.basis.clone()?, own.or(head)?))
        }),
    };
    let Some((basis, upto)) = ends else {
        let what = format!("the slice `{id}` has no commit yet");
        return Err(Refusal::new(Code::SliceUnknown, what)
            .replace_hints(["name a slice that was worked on, or run `cook strength --base REF`"])
            .into());
    };
    let resolve = |id: &str| match workspace.repo.resolve(id)? {
        Some(commit) => Ok(commit),
        None => {
            let what = format!("{} is not in this clone", short(id));
            let hint = "fetch the whole history: `git fetch --unshallow`";
            Err(Failure::from(
                Refusal::new(Code::CommitUnknown, what).replace_hints([hint]),
            ))
        }
    };
    let base = Base {
        commit: resolve(&basis)?,
        why: format!("the basis of slice {id}"),
    };
    Ok(Span {
        head: resolve(&upto)?,
        base,
        commands: slice.verification_commands.clone().unwrap_or_default(),
    })
}

/// What a report says.
#[derive(Debug)]
pub(crate) struct Reported {
    pub tally: Tally,
    pub survivors: Vec<Survivor>,
}

/// Reads a report; diffs that stand in files of their own are looked for in `beside`.
///
/// # Errors
/// `defect_report_unread`.
pub(crate) fn read_report(bytes: &[u8], beside: Option<&Path>) -> Result<Reported> {
    let tried = read_elements(bytes).or_else(|error| match error {
        // The two have no key in common.
        Unread::Shape { .. } => read_cargo_mutants(bytes),
        error => Err(error),
    });
    let tried = tried.map_err(|error| Refusal::new(Code::DefectReportUnread, error.to_string()))?;
    let tally = Tally::of(tried.iter().map(|one| one.outcome));
    let survivors = tried.into_iter();
    let survivors = survivors.filter(|one| one.outcome == Outcome::Survived);
    let survivors = survivors.enumerate().map(|(at, one)| {
        // A diff that is not there is not shown; the report holds without it.
        let read = || {
            let file = beside?.join(one.diff_file.as_ref()?);
            disk::read_text(&file, MAX_DIFF, Links::Refuse).ok()?
        };
        let diff = if at < MOST_DIFFS { read() } else { None };
        Survivor {
            diff: one.diff.or(diff),
            id: one.id,
            path: one.path,
            line: one.line,
            what: one.what,
        }
    });
    Ok(Reported {
        tally,
        survivors: survivors.collect(),
    })
}
