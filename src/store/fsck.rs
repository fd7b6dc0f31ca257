//! `cook fsck`: is every object what its name says, is every chain whole, does
//! the view show what the log holds.

use super::Store;
use super::error::StoreError;
use super::objects::{self, Stand};
use super::place::{self, Place};
use super::tree::{Document, EVENT, FORMAT_FILE, HISTORIES, Histories, History, Lines};
use crate::diagnostic::{Code, Finding};
use git2::{Oid, Repository};

/// What was looked at and what is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FsckReport {
    /// Objects whose content was hashed.
    pub objects: u64,
    /// Their size, before compression.
    pub bytes: u64,
    /// Workflows whose chain was walked.
    pub workflows: u64,
    /// Transitions in them.
    pub transitions: u64,
    /// What is wrong; empty = nothing.
    pub findings: Vec<Finding>,
}

/// Findings that are listed; a broken disk would give millions.
const MAX_FINDINGS: usize = 100;

impl Store {
    /// Hashes all objects, walks the chains of all worktrees, reads the view.
    pub fn fsck(&self) -> Result<FsckReport, StoreError> {
        let repo = place::open_log(&self.place)?
            .ok_or_else(|| StoreError::unreadable("the log", "it is gone"))?;
        let mut report = FsckReport::default();
        hash_objects(&repo, &mut report)?;
        for (id, tip) in branches(&self.place, &repo)? {
            report.workflows += 1;
            if let Err(error) = walk_chain(&repo, tip, &mut report) {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                report.findings.push(
                    Finding::new(
                        Code::LogDamaged,
                        format!("{error}: {}", cause.unwrap_or_default()),
                    )
                    .at(format!("refs/heads/{id}")),
                );
            }
        }
        match self.differences_by_content() {
            Ok(differences) => report
                .findings
                .extend(differences.iter().map(|difference| difference.finding())),
            Err(error) => report.findings.push(Finding::new(
                Code::LogDamaged,
                format!("the view cannot be compared: {error}"),
            )),
        }
        report.findings.truncate(MAX_FINDINGS);
        Ok(report)
    }
}

fn branches(place: &Place, repo: &Repository) -> Result<Vec<(String, Oid)>, StoreError> {
    let failed = |error| StoreError::unreadable("the log's branches", error);
    let mut found = Vec::new();
    for reference in repo.references_glob("refs/heads/*").map_err(failed)? {
        let reference = reference.map_err(failed)?;
        let name = String::from_utf8_lossy(reference.name_bytes()).into_owned();
        match (name.strip_prefix("refs/heads/"), reference.target()) {
            (Some(id), Some(target)) if place::is_id(id) => found.push((id.to_owned(), target)),
            _ => {
                return Err(StoreError::unsafe_path(
                    &place.log_dir(),
                    "holds a branch that cook did not make",
                ));
            }
        }
    }
    Ok(found)
}

fn hash_objects(repo: &Repository, report: &mut FsckReport) -> Result<(), StoreError> {
    let failed = |error| StoreError::unreadable("the log's objects", error);
    let odb = repo.odb().map_err(failed)?;
    let mut ids = Vec::new();
    odb.foreach(|id| {
        ids.push(*id);
        true
    })
    .map_err(failed)?;
    ids.sort_unstable();
    ids.dedup();
    for id in ids {
        let wrong = match odb.read(id) {
            Ok(object) => {
                report.objects += 1;
                report.bytes += object.len() as u64;
                match Oid::hash_object_ext(object.kind(), object.data(), repo.object_format()) {
                    Ok(hash) if hash == id => None,
                    Ok(_) => Some("its content is not what its name says".to_owned()),
                    Err(error) => Some(error.message().to_owned()),
                }
            }
            Err(error) => Some(error.message().to_owned()),
        };
        if let Some(wrong) = wrong {
            report.findings.push(
                Finding::new(Code::LogDamaged, format!("object {id}: {wrong}"))
                    .at(format!("object {id}")),
            );
        }
    }
    Ok(())
}

/// From the tip back: one parent each, numbers that follow, all files there, and
/// the histories' digests chained.
fn walk_chain(repo: &Repository, tip: Oid, report: &mut FsckReport) -> Result<(), StoreError> {
    let mut at = Some(tip);
    let mut expected: Option<u64> = None;
    while let Some(id) = at {
        report.transitions += 1;
        let broken = |what: &str| StoreError::unreadable(format!("log commit {id}"), what);
        let seq = objects::meta(repo, id)?.seq;
        if expected.is_some_and(|expected| expected != seq) {
            return Err(broken("its number does not follow"));
        }
        let commit = repo
            .find_commit(id)
            .map_err(|error| StoreError::unreadable(format!("log commit {id}"), error))?;
        if commit.parent_count() != usize::from(seq > 1) {
            return Err(broken("its parents do not go with its number"));
        }
        let stand = Stand::at(repo, id)?;
        stand.check_format()?;
        let wanted =
            Document::ALL
                .into_iter()
                .map(Document::file)
                .chain([EVENT, FORMAT_FILE, HISTORIES]);
        for name in wanted {
            if stand.blob(name).is_none() {
                return Err(broken(&format!("it lacks `{name}`")));
            }
        }
        at = objects::parent(repo, id)?;
        let before = match at {
            Some(parent) => Stand::at(repo, parent)?.histories()?,
            None => Histories::default(),
        };
        check_digests(repo, &stand, &before)?;
        expected = seq.checked_sub(1);
    }
    Ok(())
}

fn check_digests(
    repo: &Repository,
    stand: &Stand<'_>,
    before: &Histories,
) -> Result<(), StoreError> {
    let after = stand.histories()?;
    for history in History::ALL {
        let bytes = match stand.appended(history)? {
            Some(blob) => objects::read_blob(repo, blob, history.file())?,
            None => Vec::new(),
        };
        let added = Lines {
            count: bytes.iter().filter(|byte| **byte == b'\n').count() as u64,
            bytes,
        };
        if before.of(history).extend(&added)? != *after.of(history) {
            return Err(StoreError::unreadable(
                history.file(),
                "the chain of its digests is broken",
            ));
        }
    }
    Ok(())
}
