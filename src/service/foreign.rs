//! Commits that are nobody's slice's or another's, told apart from the slice in work: named by id,
//! author and subject, with the files of its range that are not its own.

use super::workspace::Workspace;
use cook_protocol::diagnostic::{Failure, Lines, clean};
use cook_protocol::machine::{CommitSeen, Facts, Head, list_others_since, short};
use cook_protocol::model::Snapshot;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Commits that are named with their author, and characters of what each says.
pub(super) const NAMED: usize = 20;
const SUBJECT: usize = 100;
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
        found
            .own
            .extend(workspace.repo.list_written_paths(&commit.id)?);
    }
    for commit in others.iter().rev().take(LOOKED_AT) {
        found
            .theirs
            .extend(workspace.repo.list_written_paths(&commit.id)?);
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
    let title = "commits in that range that are not the slice's (what they wrote is not its work; `git show ID` shows one):";
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
    let others = list_others_since(logged, facts).into_iter();
    let others = others.map(|commit| commit.id.clone());
    let others: Vec<String> = others.filter(|id| !in_range.commits.contains(id)).collect();
    let title = "commits of nobody's slice since the last re-ground (`git show ID` shows one):";
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

pub(super) fn name_commit(workspace: &Workspace, id: &str) -> Result<String, Failure> {
    let (author, subject) = workspace.repo.heading(id)?;
    let subject = match subject.char_indices().nth(SUBJECT) {
        Some((end, _)) => format!("{} …", &subject[..end]),
        None => subject,
    };
    let words = clean(&format!("by {author}: {subject}"), Lines::Fold);
    Ok(format!("{} {words}", short(id)))
}

/// The newest of all commits, one a line.
pub(super) fn add_lines(text: &mut String, title: &str, newest: &[String], all: usize) {
    if newest.is_empty() {
        return;
    }
    let _ = writeln!(text, "{title}");
    for line in newest {
        let _ = writeln!(text, "  {line}");
    }
    if all > newest.len() {
        let _ = writeln!(
            text,
            "  and {} before them (`git log` shows all)",
            all - newest.len()
        );
    }
}
