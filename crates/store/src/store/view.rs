//! The view `.agent/` against the log: what cook showed, what an interrupted
//! write left, and what somebody else wrote there.
//!
//! Stamp = tip: a file that differs was edited outside cook. Stamp ≠ tip: a
//! write was interrupted and will be rolled forward.

use super::Store;
use super::compare::{Comparison, compare, ends_line};
use super::difference::{
    Difference, DifferenceKind, is_history, list_changed_fields, missing, plain,
};
use super::error::{During, StoreError};
use super::log::Log;
use super::objects::{self, Stand};
use super::place::{self, Place};
use super::stamp::{self, FoundStamp, Stat};
use super::tree::{self, Document, History};
use cook_core::diagnostic::Code;
use cook_core::machine::OutsideEdit;
use cook_os::disk::{self, Links};
use git2::Oid;
use serde_json::Value;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// A document in `.agent/` larger than this is not read, only reported.
const MAX_DOCUMENT: u64 = 64 << 20;

/// How often a reader looks again when a writer was at work meanwhile.
const LOOKS: usize = 16;

/// Transitions whose documents count as cook's own when the stamp is lost.
const RECENT: usize = 100;

/// How `.agent/` stands to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewStatus {
    /// It shows the tip (edits outside cook apart).
    Current,
    /// The log is ahead: a write was interrupted, or never reached the view.
    Pending,
    /// None of the files is there.
    Absent,
}

/// `Some` when `.agent` is there; a symlink or a file in its place is refused.
pub(super) fn agent_dir(place: &Place) -> Result<Option<PathBuf>, StoreError> {
    let dir = place.agent_dir();
    Ok(place::is_directory(&dir, Code::AgentDirUnsafe)?.then_some(dir))
}

/// `.agent/tmp`, made when it is missing.
pub(super) fn scratch(dir: &Path) -> Result<PathBuf, StoreError> {
    let scratch = dir.join("tmp");
    place::make_directory(&scratch, Code::AgentDirUnsafe)?;
    Ok(scratch)
}

/// The view of one worktree against one commit of the log.
pub(super) struct View<'r> {
    pub(super) log: &'r Log,
    pub(super) place: &'r Place,
    pub(super) tip: Oid,
    pub(super) stand: Stand<'r>,
    pub(super) histories: tree::Histories,
    pub(super) stamp: Option<FoundStamp>,
    /// The commit that the stamp names, when it is another one the log holds.
    pub(super) before: Option<Before<'r>>,
    /// False: look inside every file.
    trust_stat: bool,
}

pub(super) struct Before<'r> {
    pub(super) stand: Stand<'r>,
    pub(super) histories: tree::Histories,
    /// The tip comes after it, so that its histories begin the tip's.
    pub(super) leads_here: bool,
}

/// What a file's stat and the stamp say without looking inside.
pub(super) enum Glance {
    /// It is what the stamp says.
    Known,
    /// Look inside.
    Unknown(Metadata),
    Missing,
    NotAFile,
}

impl<'r> View<'r> {
    pub(super) fn open(log: &'r Log, place: &'r Place, tip: Oid) -> Result<Self, StoreError> {
        let stand = Stand::at(log, tip)?;
        let histories = stand.histories()?;
        let mut stamp = stamp::read_stamp(place)?;
        let named = stamp
            .as_ref()
            .and_then(|found| log.oid(&found.stamp.commit));
        let before = named.filter(|commit| *commit != tip).and_then(|commit| {
            let stand = Stand::at(log, commit).ok()?;
            let histories = stand.histories().ok()?;
            let leads_here = objects::comes_before(log, commit, tip).unwrap_or(false);
            Some(Before {
                stand,
                histories,
                leads_here,
            })
        });
        if named != Some(tip) && before.is_none() {
            // A stamp that names what the log does not hold vouches for nothing.
            stamp = None;
        }
        Ok(Self {
            log,
            place,
            tip,
            stand,
            histories,
            stamp,
            before,
            trust_stat: true,
        })
    }

    pub(super) fn shows_tip(&self) -> bool {
        self.stamp
            .as_ref()
            .is_some_and(|found| found.stamp.commit == self.tip.to_string())
    }

    pub(super) fn status(&self) -> Result<ViewStatus, StoreError> {
        let mut any = false;
        if let Some(dir) = agent_dir(self.place)? {
            for name in list_documents() {
                any |= place::look(&dir.join(name))?.is_some();
            }
        }
        Ok(match (any, self.shows_tip()) {
            (false, _) => ViewStatus::Absent,
            (true, true) => ViewStatus::Current,
            (true, false) => ViewStatus::Pending,
        })
    }

    pub(super) fn glance(&self, dir: &Path, name: &str) -> Result<Glance, StoreError> {
        let Some(found) = place::look(&dir.join(name))? else {
            return Ok(Glance::Missing);
        };
        if !found.is_file() {
            return Ok(Glance::NotAFile);
        }
        let known = self.trust_stat
            && self.stamp.as_ref().is_some_and(|stamp| {
                let shown = stamp.stamp.files.get(name).and_then(|shown| shown.stat);
                // Histories are exempt from the tick rule: comparing one means reading all of it.
                shown.is_some_and(|stat| {
                    stat == Stat::of(&found)
                        && (stat.ctime_ns < stamp.written_ns || is_history(name))
                })
            });
        Ok(if known {
            Glance::Known
        } else {
            Glance::Unknown(found)
        })
    }

    /// The stamp is written after the branch has moved, so it never runs ahead of it: a stamp
    /// that names a descendant of the tip shows that somebody moved the branch back.
    pub(super) fn find_rewind(&self, branch: &str) -> Result<Option<StoreError>, StoreError> {
        let Some(shown) = self
            .stamp
            .as_ref()
            .filter(|_| self.before.is_some())
            .and_then(|found| self.log.oid(&found.stamp.commit))
        else {
            return Ok(None);
        };
        if !objects::comes_before(self.log, self.tip, shown)? {
            return Ok(None);
        }
        Ok(Some(StoreError::Rewound {
            shown: objects::meta(self.log, shown)?.seq,
            tip: objects::meta(self.log, self.tip)?.seq,
            forward: format!(
                "git --git-dir={} update-ref {branch} {shown}",
                shell_words::quote(&self.place.log_dir().to_string_lossy()),
            ),
            stamp: self.place.stamp_file(),
        }))
    }

    /// Files that are neither what the tip says nor what an interrupted write left.
    pub(super) fn differences(&self) -> Result<Vec<Difference>, StoreError> {
        let Some(dir) = agent_dir(self.place)? else {
            return Ok(if self.stamp.is_none() {
                Vec::new()
            } else {
                list_documents()
                    .filter(|name| self.is_missed(name))
                    .map(missing)
                    .collect()
            });
        };
        let mut differences = Vec::new();
        for name in list_documents() {
            differences.extend(self.difference(&dir, name)?);
        }
        differences.sort_by(|a, b| a.file.cmp(&b.file));
        Ok(differences)
    }

    fn difference(&self, dir: &Path, name: &str) -> Result<Option<Difference>, StoreError> {
        let found = match self.glance(dir, name)? {
            Glance::Known => return Ok(None),
            Glance::Missing => return Ok(self.is_missed(name).then(|| missing(name))),
            Glance::NotAFile => return Ok(Some(plain(name, DifferenceKind::NotAFile))),
            Glance::Unknown(found) => found,
        };
        if let Some(history) = History::ALL.into_iter().find(|one| one.file() == name) {
            return self.history_difference(dir, history);
        }
        if !self.is_shown(name) {
            return Ok(Some(plain(name, DifferenceKind::Edited)));
        }
        if found.len() > MAX_DOCUMENT {
            return Ok(Some(plain(name, DifferenceKind::TooLarge)));
        }
        let Some(bytes) = disk::read(&dir.join(name), MAX_DOCUMENT, Links::Refuse).reading(name)?
        else {
            return Ok(Some(missing(name)));
        };
        if self.is_own(name, &bytes)? {
            return Ok(None);
        }
        let Ok(theirs) = serde_json::from_slice::<Value>(&bytes) else {
            return Ok(Some(plain(name, DifferenceKind::NotJson)));
        };
        let ours: Value = tree::parse(name, &self.stand.file(name)?)?;
        Ok(Some(Difference {
            fields: list_changed_fields(&ours, &theirs),
            ..plain(name, DifferenceKind::Edited)
        }))
    }

    /// Whether these bytes are a version of the document that cook itself wrote:
    /// the tip's; while the view is behind, also the stamp's, or with no stamp
    /// to go by one of the last transitions'. Equal JSON in another layout is the same version.
    pub(super) fn is_own(&self, name: &str, bytes: &[u8]) -> Result<bool, StoreError> {
        let id = objects::blob_id(self.log, bytes)?;
        if self.stand.blob(name) == Some(id) {
            return Ok(true);
        }
        let mut versions: Vec<Vec<u8>> = match self.is_shown(name) {
            true => vec![self.stand.file(name)?],
            false => Vec::new(),
        };
        if !self.shows_tip() {
            match &self.before {
                Some(before) if before.stand.blob(name) == Some(id) => return Ok(true),
                Some(before) if before.stand.blob(name).is_none() => {}
                Some(before) => versions.push(before.stand.file(name)?),
                None if self.was_written_lately(name, id)? => return Ok(true),
                None => {}
            }
        }
        // A key that stands twice can be read in two ways, so it is not a version of ours.
        let Ok(theirs) = cook_core::schema::value(bytes) else {
            return Ok(false);
        };
        Ok(versions
            .iter()
            .any(|ours| serde_json::from_slice::<Value>(ours).is_ok_and(|ours| ours == theirs)))
    }

    fn was_written_lately(&self, name: &str, blob: Oid) -> Result<bool, StoreError> {
        for commit in objects::ancestry(self.log, Some(self.tip)).take(RECENT) {
            if Stand::at(self.log, commit?)?.blob(name) == Some(blob) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn history_difference(
        &self,
        dir: &Path,
        history: History,
    ) -> Result<Option<Difference>, StoreError> {
        let name = history.file();
        let (line, torn) = match compare(self.log, self.tip, dir, history)? {
            Comparison::Equal => return Ok(None),
            // An interrupted append left a prefix that still holds what was shown.
            Comparison::Prefix(length)
                if !self.shows_tip() && length >= self.count_shown(history) =>
            {
                return Ok(None);
            }
            Comparison::Prefix(length) => {
                let torn = !ends_line(&dir.join(name), length).reading(name)?;
                (None, torn)
            }
            Comparison::Differs(line) => (Some(line), false),
        };
        let kind = match torn {
            true => DifferenceKind::Torn,
            false => DifferenceKind::Edited,
        };
        let fields = line.map(|line| format!("line {line}"));
        Ok(Some(Difference {
            fields: fields.into_iter().collect(),
            ..plain(name, kind)
        }))
    }

    fn count_shown(&self, history: History) -> u64 {
        self.before
            .as_ref()
            .map_or(0, |before| before.histories.of(history).bytes)
    }

    /// Whether the tip shows that file at all: the brief and its history are there from
    /// the first time somebody adds to them.
    pub(super) fn is_shown(&self, name: &str) -> bool {
        if name == History::Brief.file() {
            return !self.histories.of(History::Brief).is_empty();
        }
        is_history(name) || self.stand.blob(name).is_some()
    }

    /// Whether a file that is not there should be: it was shown when the stamp was written.
    fn is_missed(&self, name: &str) -> bool {
        let shown_before = self
            .before
            .as_ref()
            .is_none_or(|before| match is_history(name) {
                true => name != History::Brief.file() || !before.histories.brief.is_empty(),
                false => before.stand.blob(name).is_some(),
            });
        self.stamp.is_some() && self.is_shown(name) && shown_before
    }
}

pub(super) fn list_documents() -> impl Iterator<Item = &'static str> {
    Document::SHOWN
        .into_iter()
        .map(Document::file)
        .chain(History::ALL.into_iter().map(History::file))
}

impl Store {
    /// Files of `.agent/` that cook writes: those that show the log, and the trail.
    pub fn list_shown_files() -> impl Iterator<Item = &'static str> {
        list_documents().chain([tree::TRAIL])
    }

    /// How `.agent/` stands to the log; `Absent` before the first transition.
    pub fn view_status(&self) -> Result<ViewStatus, StoreError> {
        self.read(|log| match self.tip_id(log)? {
            Some(tip) => View::open(log, &self.place, tip)?.status(),
            None => Ok(ViewStatus::Absent),
        })
    }

    /// Files of `.agent/` that are not what cook wrote there, by name. Costs a
    /// few stat calls when nothing was touched. A write that was interrupted is
    /// not a difference: the next writer rolls it forward.
    pub fn differences(&self) -> Result<Vec<Difference>, StoreError> {
        self.find_differences(true)
    }

    /// What a writer shows between a look at the branch and a look at the files
    /// would pass for an edit or for a branch that was moved back, so either counts
    /// only when the branch stands where it stood before the look.
    fn find_differences(&self, trust_stat: bool) -> Result<Vec<Difference>, StoreError> {
        let mut found = Ok(Vec::new());
        for _ in 0..LOOKS {
            let tip = self.read(|log| self.tip_id(log))?;
            found = self.read(|log| match tip {
                Some(tip) => {
                    let mut view = View::open(log, &self.place, tip)?;
                    view.trust_stat = trust_stat;
                    match view.find_rewind(&self.branch())? {
                        Some(rewound) => Ok(Err(rewound)),
                        None => view.differences().map(Ok),
                    }
                }
                None => Ok(Ok(Vec::new())),
            })?;
            let settled = matches!(&found, Ok(differences) if differences.is_empty());
            if settled || self.read(|log| self.tip_id(log))? == tip {
                break;
            }
        }
        found
    }

    /// [`Store::differences`] as the fact that decisions are judged by.
    pub fn outside_edits(&self) -> Result<Vec<OutsideEdit>, StoreError> {
        Ok(self
            .differences()?
            .into_iter()
            .map(OutsideEdit::from)
            .collect())
    }

    /// The same with every file read, whatever its stat says (`fsck`, `verify`).
    pub fn find_differences_by_content(&self) -> Result<Vec<Difference>, StoreError> {
        self.find_differences(false)
    }
}
