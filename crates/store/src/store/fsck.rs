//! `cook doctor fsck`: is every object what its name says, is every chain whole, does
//! the view show what the log holds.

use super::Store;
use super::error::StoreError;
use super::log::Log;
use super::objects::{self, Stand};
use super::place::{self, Place};
use super::trail;
use super::tree::{Document, EVENT, FORMAT_FILE, HISTORIES, Histories, History, Lines, TRAIL};
use cook_core::diagnostic::{Code, Finding};
use git2::Oid;

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
    /// Reads all that the refs lead to and all other objects, walks the chains of all worktrees,
    /// reads the view.
    ///
    /// # Errors
    /// A log that cannot be opened. What cannot be read in it is a finding.
    pub fn fsck(&self) -> Result<FsckReport, StoreError> {
        let log = place::open_known_log(&self.place)?;
        let walk = self.walk(&log)?;
        let mut report = FsckReport {
            objects: walk.report.objects,
            bytes: walk.report.bytes,
            findings: walk.report.findings.clone(),
            ..FsckReport::default()
        };
        let is_known = |id: &Oid| walk.sound.contains(id) || walk.lost.contains_key(id);
        hash_others(&log, is_known, &mut report)?;
        let is_whole = walk.report.findings.is_empty();
        for (id, tip) in branches(&self.place, &log)? {
            report.workflows += 1;
            match walk_chain(&log, tip, &mut report) {
                // What is missing is named already.
                Err(error) if is_whole => report.findings.push(
                    Finding::new(find_code(&error), error.in_one_line())
                        .at(format!("refs/heads/{id}")),
                ),
                _ => {}
            }
        }
        if walk.report.stands {
            report.findings.extend(self.view_findings());
        }
        report.findings.truncate(MAX_FINDINGS);
        Ok(report)
    }

    /// Where the view is not what the log holds.
    fn view_findings(&self) -> Vec<Finding> {
        match self.find_differences_by_content() {
            Ok(differences) => differences.iter().map(|one| one.finding()).collect(),
            Err(error @ (StoreError::Rewound { .. } | StoreError::Path { .. })) => {
                vec![Finding::new(error.code(), error.in_one_line())]
            }
            Err(error) => vec![Finding::new(
                Code::LogDamaged,
                format!("the view cannot be compared: {error}"),
            )],
        }
    }
}

fn branches(place: &Place, log: &Log) -> Result<Vec<(String, Oid)>, StoreError> {
    let found = log.list_refs_under("refs/heads/")?;
    match found.iter().find(|(id, _)| !place::is_id(id)) {
        Some(_) => Err(StoreError::path(
            Code::LogUnsafe,
            &place.log_dir(),
            "holds a branch that cook did not make",
        )),
        None => Ok(found),
    }
}

/// A log of another format is not damaged.
fn find_code(error: &StoreError) -> Code {
    match error {
        StoreError::TooOld { .. } | StoreError::TooNew { .. } => error.code(),
        _ => Code::LogDamaged,
    }
}

/// Objects that no ref leads to. Reading one hashes it.
fn hash_others(
    log: &Log,
    is_known: impl Fn(&Oid) -> bool,
    report: &mut FsckReport,
) -> Result<(), StoreError> {
    for id in log.all()?.into_iter().filter(|id| !is_known(id)) {
        match log.read(id) {
            Ok((_, bytes)) => {
                report.objects += 1;
                report.bytes += bytes.len() as u64;
            }
            Err(error) => report.findings.push(
                Finding::new(
                    Code::LogDamaged,
                    format!(
                        "{}; no transition and no session call needs it",
                        error.in_one_line()
                    ),
                )
                .at(format!("object {id}")),
            ),
        }
    }
    Ok(())
}

/// From the tip back: one parent each, numbers that follow, all files there, and
/// the histories' digests chained.
fn walk_chain(log: &Log, tip: Oid, report: &mut FsckReport) -> Result<(), StoreError> {
    let mut at = Some(tip);
    let mut expected: Option<u64> = None;
    while let Some(id) = at {
        report.transitions += 1;
        let broken = |what: &str| StoreError::unreadable(format!("log commit {id}"), what);
        let seq = objects::meta(log, id)?.seq;
        if expected.is_some_and(|expected| expected != seq) {
            return Err(broken("its number does not follow"));
        }
        if log.commit(id)?.parents.len() != usize::from(seq > 1) {
            return Err(broken("its parents do not go with its number"));
        }
        let stand = Stand::at(log, id)?;
        stand.check_format()?;
        let wanted = Document::ALL
            .into_iter()
            .filter(|document| !document.is_optional())
            .map(Document::file)
            .chain([EVENT, FORMAT_FILE, HISTORIES]);
        for name in wanted {
            if stand.blob(name).is_none() {
                return Err(broken(&format!("it lacks `{name}`")));
            }
        }
        at = objects::parent(log, id)?;
        let before = match at {
            Some(parent) => Stand::at(log, parent)?.histories()?,
            None => Histories::default(),
        };
        check_digests(&stand, &before)?;
        expected = seq.checked_sub(1);
    }
    Ok(())
}

fn check_digests(stand: &Stand<'_>, before: &Histories) -> Result<(), StoreError> {
    let after = stand.histories()?;
    let added = History::each(|history| stand.lines_added(history.file()).map(Lines::from))?;
    let taken = Lines::from(stand.lines_added(TRAIL)?);
    let last = trail::last_id(&taken.bytes);
    let expected = before.extend(&added, &taken, last.as_deref())?;
    if expected == after {
        return Ok(());
    }
    let broken = History::ALL
        .into_iter()
        .find(|history| expected.of(*history) != after.of(*history));
    Err(StoreError::unreadable(
        broken.map_or(TRAIL, History::file),
        "the chain of its digests is broken",
    ))
}
