//! `cook strength`: whether the gates would notice a defect in a change. Defects are planted in the changed lines, one
//! at a time, in a clean room at the last commit, and the gates run on each.
//!
//! Invariant: only commands that this machine trusts run, no defect is ever written into the user's worktree, and
//! defects that were not tried do not count.

use crate::check::{Base, Tell, find_base, require_green};
use crate::measure::{
    Field, Planted, Survivor, deciding, list_unread, plant_defects, tell_unread, texts, why_not,
};
use crate::prelude::*;
use crate::workspace::Workspace;
use cook_mutants::{Outcome, Tally, Unread, read_cargo_mutants, read_elements};
use cook_repo::git::MAX_EDITS;

/// Maximum size of a report in bytes.
pub(crate) const MAX_REPORT: u64 = 64 << 20;
/// Maximum size of a diff file of a report in bytes.
const MAX_DIFF: u64 = 256 << 10;
/// Maximum number of diff files of a report that are read.
const MOST_DIFFS: usize = 1_000;

/// The options of a measurement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask<'a> {
    /// The slice whose change is measured; if `None`, the change since `base`.
    pub slice: Option<&'a str>,
    /// The commit to compare HEAD with, as the user names it; if `None`, one is determined.
    pub base: Option<&'a str>,
    /// Maximum number of defects.
    pub mutants: usize,
    /// Time limit for all of them in minutes.
    pub minutes: u64,
}

/// The result of a measurement.
#[derive(Debug)]
pub(crate) struct Measured {
    /// The change's last commit, in which defects were planted.
    pub head: String,
    pub base: Base,
    /// Why no defect can be planted; `None` if one can.
    pub not_applicable: Option<String>,
    /// A description of changed code that was not read.
    pub unread: Option<String>,
    pub planted: Planted,
}

/// Plants defects in a change, and counts those that its gates notice.
///
/// # Errors
/// An unknown base or slice, gates that may not run or are not green, or an interruption.
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

/// The commits of a change.
struct Span {
    /// Its last commit.
    pub head: String,
    pub base: Base,
    /// Commands that run in addition to the gates of the settings.
    pub commands: Vec<String>,
}

/// The change of a slice according to the log, else from the base to HEAD.
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

/// The contents of a report of another tool.
#[derive(Debug)]
pub(crate) struct Reported {
    pub tally: Tally,
    pub survivors: Vec<Survivor>,
}

/// Reads a report; separate diff files are searched in `beside`.
///
/// # Errors
/// `defect_report_unread`.
pub(crate) fn read_report(bytes: &[u8], beside: Option<&Path>) -> Result<Reported> {
    let tried = read_elements(bytes).or_else(|error| match error {
        // The two formats have no key in common.
        Unread::Shape { .. } => read_cargo_mutants(bytes),
        error => Err(error),
    });
    let tried = tried.map_err(|error| Refusal::new(Code::DefectReportUnread, error.to_string()))?;
    let tally = Tally::of(tried.iter().map(|one| one.outcome));
    let survivors = tried.into_iter();
    let survivors = survivors.filter(|one| one.outcome == Outcome::Survived);
    let survivors = survivors.enumerate().map(|(at, one)| {
        // The report is valid without a diff file that is missing.
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
