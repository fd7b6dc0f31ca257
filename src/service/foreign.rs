//! Commits that are nobody's slice's or another's, told apart from the slice in work: named by id,
//! author and subject, with the files of its range that are not its own. For whoever judges the whole,
//! those since the first slice began, and what HEAD lacks of the work of done slices.

use super::workspace::Workspace;
use cook_core::diagnostic::{Failure, Lines, clean};
use cook_core::machine::{CommitSeen, FactSet, Facts, Head, others_since, short};
use cook_core::model::{Slice, SliceStatus, Snapshot};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Commits that are named with their author, and characters of what each says.
const NAMED: usize = 20;
const SUBJECT: usize = 100;
/// Paths that are named of a commit.
const PATHS: usize = 5;
/// Commits whose paths are read.
const LOOKED_AT: usize = 200;

/// What of a slice's range is whose.
#[derive(Debug, Default)]
pub(super) struct Foreign {
    /// Commits of the range that are not the slice's, oldest first.
    pub commits: Vec<String>,
    /// Paths that the slice's own commits write.
    own: BTreeSet<String>,
    /// Paths that the others write.
    theirs: BTreeSet<String>,
}

impl Foreign {
    /// No commit of the slice wrote it.
    pub fn is_theirs(&self, path: &str) -> bool {
        !self.commits.is_empty() && !self.own.contains(path)
    }

    /// What stands beside a path of the range.
    pub fn mark(&self, path: &str) -> &'static str {
        match (self.is_theirs(path), self.theirs.contains(path)) {
            (true, _) => " (of no commit of the slice)",
            (false, true) => " (partly of other commits)",
            (false, false) => "",
        }
    }
}

/// Tells the commits of a slice's range apart; nothing where all are its own.
///
/// # Errors
/// When the repository cannot be read.
pub(super) fn find_foreign(
    workspace: &Workspace,
    snapshot: &Snapshot,
    facts: &Facts,
    (basis, upto): (&str, &str),
) -> Result<Foreign, Failure> {
    let mut found = Foreign::default();
    let Some(id) = snapshot.active.slice_id.as_deref() else {
        return Ok(found);
    };
    let ledger = snapshot.ledger.slices.get(id);
    let claimed = ledger.map_or(&[][..], |ledger| ledger.claimed.as_slice());
    let is_own =
        |commit: &CommitSeen| commit.slice.as_deref() == Some(id) || claimed.contains(&commit.id);
    let to_head = facts
        .ranges
        .get(basis)
        .map(|range| range.commits.as_slice());
    if to_head.is_some_and(|commits| commits.iter().all(is_own)) {
        return Ok(found);
    }
    let end = Head {
        commit: Some(upto.to_owned()),
        tree: None,
        branch: None,
    };
    let range = workspace.repo.range(&end, basis, false)?;
    let (own, others): (Vec<&CommitSeen>, Vec<_>) = range.commits.iter().partition(|it| is_own(it));
    for commit in own {
        found.own.extend(workspace.repo.written_paths(&commit.id)?);
    }
    for commit in others.iter().rev().take(LOOKED_AT) {
        found
            .theirs
            .extend(workspace.repo.written_paths(&commit.id)?);
    }
    found.commits = others.into_iter().map(|commit| commit.id.clone()).collect();
    Ok(found)
}

/// Names the commits of the range that are not the slice's.
///
/// # Errors
/// When the repository cannot be read.
pub(super) fn list_foreign(
    text: &mut String,
    workspace: &Workspace,
    found: &Foreign,
) -> Result<(), Failure> {
    let title = "commits in that range that are not the slice's (what they wrote is not its work):";
    list_commits(text, workspace, title, &found.commits)
}

/// Commits that are not the slice's and that no re-ground has seen, with who made them; those of its
/// range stand there already.
///
/// # Errors
/// When the repository cannot be read.
pub(super) fn list_others(
    text: &mut String,
    workspace: &Workspace,
    logged: &Snapshot,
    facts: &Facts,
    in_range: &Foreign,
) -> Result<(), Failure> {
    let others = others_since(logged, facts).into_iter();
    let others = others.map(|commit| commit.id.clone());
    let others: Vec<String> = others.filter(|id| !in_range.commits.contains(id)).collect();
    let title = "commits of nobody's slice since the last re-ground:";
    list_commits(text, workspace, title, &others)
}

/// The newest first; their words are their authors'.
fn list_commits(
    text: &mut String,
    workspace: &Workspace,
    title: &str,
    commits: &[String],
) -> Result<(), Failure> {
    let lines = commits.iter().rev().take(NAMED);
    let lines = lines.map(|id| name_commit(workspace, id));
    let lines: Vec<String> = lines.collect::<Result<_, _>>()?;
    add_lines(text, title, &lines, commits.len());
    Ok(())
}

fn name_commit(workspace: &Workspace, id: &str) -> Result<String, Failure> {
    let (author, subject) = workspace.repo.heading(id)?;
    let subject: String = subject.chars().take(SUBJECT).collect();
    let words = clean(&format!("by {author}: {subject}"), Lines::Fold);
    Ok(format!("{} {words}", short(id)))
}

/// The newest of all commits, one a line.
fn add_lines(text: &mut String, title: &str, newest: &[String], all: usize) {
    if newest.is_empty() {
        return;
    }
    let _ = writeln!(text, "{title}");
    for line in newest {
        let _ = writeln!(text, "  {line}");
    }
    if all > newest.len() {
        let _ = writeln!(text, "  and {} before them", all - newest.len());
    }
}

/// Commits since the first slice began that are no work of a slice that is done or in work. A re-ground
/// notes a commit once; whoever judges the whole comes later, and is shown all of them.
///
/// # Errors
/// When the repository cannot be read.
pub(super) fn list_unclaimed(
    text: &mut String,
    workspace: &Workspace,
    snapshot: &Snapshot,
    facts: &Facts,
    in_range: &Foreign,
) -> Result<(), Failure> {
    let (Some(head), Some(first)) = (&facts.head, first_basis(workspace, snapshot)?) else {
        return Ok(());
    };
    let range = workspace.repo.range(head, &first, false)?;
    let mut unclaimed: Vec<(&CommitSeen, Option<&Slice>)> = Vec::new();
    for commit in &range.commits {
        let slice = claimed_by(snapshot, &commit.id);
        let counts = slice.is_some_and(|slice| {
            slice.status == SliceStatus::Done
                || Some(slice.slice_id.as_str()) == snapshot.slice_in_work()
        });
        if !counts && !in_range.commits.contains(&commit.id) {
            unclaimed.push((commit, slice));
        }
    }
    let mut lines = Vec::new();
    for (commit, slice) in unclaimed.iter().rev().take(NAMED) {
        let mut line = name_commit(workspace, &commit.id)?;
        let about = match (slice, &commit.slice) {
            (Some(slice), _) => {
                let id = &slice.slice_id;
                Some(format!(
                    "reported for slice `{id}`, which is {}",
                    slice.status.id()
                ))
            }
            (None, Some(id)) => Some(format!(
                "its trailer names slice `{id}`, no report of it does"
            )),
            (None, None) => None,
        };
        if let Some(about) = about {
            let _ = write!(line, " ({})", clean(&about, Lines::Fold));
        }
        let paths = workspace.repo.written_paths(&commit.id)?;
        let named: Vec<&str> = paths.iter().take(PATHS).map(String::as_str).collect();
        let _ = write!(line, ": {}", clean(&named.join(", "), Lines::Fold));
        if paths.len() > named.len() {
            let _ = write!(line, " and {} more", paths.len() - named.len());
        }
        lines.push(line);
    }
    let title = "commits since the first slice began that are no work of a slice that is done or in work (`git show ID` shows what one changed):";
    add_lines(text, title, &lines, unclaimed.len());
    Ok(())
}

/// The slice whose reports named the commit.
fn claimed_by<'a>(snapshot: &'a Snapshot, commit: &String) -> Option<&'a Slice> {
    let mut slices = snapshot.ledger.slices.iter();
    let (id, _) = slices.find(|(_, ledger)| ledger.claimed.contains(commit))?;
    snapshot.plan.slice(id)
}

/// The oldest basis that a slice began at.
fn first_basis(workspace: &Workspace, snapshot: &Snapshot) -> Result<Option<String>, Failure> {
    let slices = snapshot.plan.candidate_slices.iter();
    let mut first: Option<String> = None;
    for basis in slices.filter_map(|slice| slice.basis_commit.as_deref()) {
        let Some(basis) = workspace.repo.resolve(basis)? else {
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

/// What HEAD lacks of the work of done slices, by whatever took it.
///
/// # Errors
/// When the repository cannot be read.
pub(super) fn list_lost_work(
    text: &mut String,
    workspace: &Workspace,
    snapshot: &Snapshot,
) -> Result<(), Failure> {
    let slices = snapshot.plan.candidate_slices.iter();
    let done = slices.filter(|slice| slice.status == SliceStatus::Done);
    let accepted = done.filter_map(|slice| {
        let ledger = snapshot.ledger.slices.get(&slice.slice_id)?;
        Some((slice.slice_id.clone(), ledger.accepted.clone()?))
    });
    let wanted = FactSet {
        survivals: accepted.collect(),
        ..FactSet::default()
    };
    if wanted.survivals.is_empty() {
        return Ok(());
    }
    let found = workspace.measure(&wanted, Some(snapshot))?;
    for (id, survival) in &found.survivals {
        for (what, places) in [
            ("was taken away since", &survival.lost),
            ("stands there with other text", &survival.rewritten),
        ] {
            if !places.is_empty() {
                let places = clean(&places.join(", "), Lines::Fold);
                let _ = writeln!(
                    text,
                    "work of slice {id}, which is done, that {what}: {places}"
                );
            }
        }
    }
    Ok(())
}
