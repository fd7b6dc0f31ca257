//! What whoever judges the whole is shown beside the slices' work: commits since the job began that are
//! no work of a slice that is done or in work, with what was said of them, and what HEAD lacks of the work
//! of done slices.

use super::foreign::{Foreign, NAMED, add_lines, name_commit};
use super::past::{Past, Whose};
use super::workspace::Workspace;
use cook_protocol::diagnostic::{Failure, Lines, clean, without_attribution};
use cook_protocol::machine::{CommitSeen, Head, list_other_ratings};
use cook_protocol::model::{Slice, SliceStatus, Snapshot, Verdicts};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Paths that are named of a commit.
const PATHS: usize = 5;
/// Characters of what a review said.
const SAID: usize = 160;

/// Commits since the job began that are no work of a slice that is done or in work. A re-ground notes a
/// commit once, and another mission or `cook undo` clears the plan that it was made under; whoever judges
/// the whole comes later, and is shown all of them.
///
/// # Errors
/// When the repository cannot be read.
pub(super) fn list_unclaimed(
    text: &mut String,
    workspace: &Workspace,
    snapshot: &Snapshot,
    head: &Head,
    past: &Past,
    in_range: &Foreign,
) -> Result<(), Failure> {
    let Some(base) = find_base(workspace, snapshot, past)? else {
        return Ok(());
    };
    let range = workspace.repo.range(head, &base, false)?;
    let mut lines = Vec::new();
    let (mut others, mut accepted) = (0, 0);
    for commit in range.commits.iter().rev() {
        let claimant = find_claimant(snapshot, &commit.id);
        let counts = claimant.is_some_and(|slice| {
            slice.status == SliceStatus::Done
                || Some(slice.slice_id.as_str()) == snapshot.find_slice_in_work()
        });
        if counts || in_range.commits.contains(&commit.id) {
            continue;
        }
        let whose = past.find_whose(&commit.id, claimant.map(|slice| slice.slice_id.as_str()));
        let is_accepted = |whose: &Whose| whose.is_of_earlier_mission && whose.accepted.is_some();
        if whose.as_ref().is_some_and(is_accepted) {
            accepted += 1;
            continue;
        }
        if lines.len() == NAMED {
            others += 1;
            continue;
        }
        let paths = workspace.repo.list_written_paths(&commit.id)?;
        if whose.is_none() && is_contract(&paths) {
            continue;
        }
        others += 1;
        let mut line = name_commit(workspace, &commit.id)?;
        if let Some(about) = tell_whose(snapshot, past, commit, whose.as_ref()) {
            let _ = write!(line, " ({about})");
        }
        let named: Vec<&str> = paths.iter().take(PATHS).map(String::as_str).collect();
        let _ = write!(line, ": {}", clean(&named.join(", "), Lines::Fold));
        if paths.len() > named.len() {
            let _ = write!(line, " and {} more", paths.len() - named.len());
        }
        lines.push(line);
    }
    let title = "commits since the job began that are no work of a slice that is done or in work (`git show ID` shows what one changed):";
    add_lines(text, title, &lines, others);
    if accepted > 0 {
        let _ = writeln!(
            text,
            "commits of slices that were accepted under an earlier mission: {accepted} (`cook log` lists the reports)"
        );
    }
    Ok(())
}

/// What `cook init` writes, and the user commits: nobody's work, and changes of settings are asked about.
fn is_contract(paths: &BTreeSet<String>) -> bool {
    let is_own = |path: &String| path.starts_with(".agent/");
    let mut all = paths.iter();
    paths.iter().any(is_own) && all.all(|path| is_own(path) || path == ".gitignore")
}

/// Whose it is, by reports or by its trailer, and what review and audit said of it.
fn tell_whose(
    snapshot: &Snapshot,
    past: &Past,
    commit: &CommitSeen,
    whose: Option<&Whose>,
) -> Option<String> {
    let Some(whose) = whose else {
        let id = clean(commit.slice.as_deref()?, Lines::Fold);
        return Some(format!(
            "its trailer names slice `{id}`, no report of it does"
        ));
    };
    let id = clean(&whose.slice, Lines::Fold);
    let status = snapshot
        .plan
        .slice(&whose.slice)
        .map(|slice| slice.status.id());
    let undone = whose.report.filter(|seq| past.is_undone(*seq));
    let of = match (whose.is_of_earlier_mission, undone, status) {
        (true, _, _) => format!("slice `{id}` of an earlier mission"),
        (false, Some(seq), _) => {
            format!("reported for slice `{id}` in {seq}, which was taken back with `cook undo`")
        }
        (false, None, Some(status)) => format!("slice `{id}`, {status}"),
        (false, None, None) => format!("slice `{id}`, no more in the plan"),
    };
    let [review, audit] = past.find_looks(whose);
    let reviewed = match review {
        None => "never reviewed".to_owned(),
        Some((seq, verdicts)) => tell_look("reviewed", ["yes", "no"], seq, verdicts),
    };
    let audited = audit.map(|(seq, verdicts)| {
        let says = ["nothing open", "something open"];
        format!("; {}", tell_look("audited", says, seq, verdicts))
    });
    let accepted = whose
        .accepted
        .map(|seq| format!("; accepted in {seq}, before it was taken up again"));
    let more = [audited, accepted]
        .into_iter()
        .flatten()
        .collect::<String>();
    Some(format!("{of}: {reviewed}{more}"))
}

fn tell_look(how: &str, says: [&str; 2], seq: u64, verdicts: &Verdicts) -> String {
    let is_yes = verdicts.positive && verdicts.fails.is_empty();
    let [yes, no] = says;
    if is_yes {
        return format!("{how} {yes}");
    }
    let rated = list_other_ratings(&verdicts.findings, &verdicts.concerns);
    let named = [&verdicts.findings[..], &rated].concat().join("; ");
    let named = without_attribution(&clean(&named, Lines::Fold));
    let short: String = named.chars().take(SAID).collect();
    let more = if short.len() < named.len() {
        " …"
    } else {
        ""
    };
    format!("{how} {no} (`cook log {seq}`): {short}{more}")
}

/// The slice whose reports named the commit.
fn find_claimant<'a>(snapshot: &'a Snapshot, commit: &String) -> Option<&'a Slice> {
    let mut slices = snapshot.ledger.slices.iter();
    let (id, _) = slices.find(|(_, ledger)| ledger.claimed.contains(commit))?;
    snapshot.plan.slice(id)
}

/// Where the job began: a plan that was taken in with its work began before its log did.
fn find_base(
    workspace: &Workspace,
    snapshot: &Snapshot,
    past: &Past,
) -> Result<Option<String>, Failure> {
    let bases = snapshot.plan.candidate_slices.iter();
    let bases = bases.filter_map(|slice| slice.basis_commit.clone());
    // A shallow clone lacks what is older than it.
    let mut first = match &past.base {
        Some(base) => workspace.repo.resolve(base)?,
        None => None,
    };
    for basis in bases.filter(|_| !past.begins_at_end) {
        let Some(basis) = workspace.repo.resolve(&basis)? else {
            continue;
        };
        let is_older = match &first {
            Some(first) => workspace.repo.is_ancestor(&basis, first)?,
            None => true,
        };
        if is_older {
            first = Some(basis);
        }
    }
    Ok(first)
}
