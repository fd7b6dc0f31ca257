//! The view `.agent/` compared with the log: which files are as cook wrote them, which an interrupted write left
//! behind, and which others wrote; and bringing the view to the tip without losing anything that others wrote.
//!
//! The stamp `<git dir>/cook-checkout.json` names the commit that `.agent/` shows, and the metadata of each file right
//! after cook wrote it. If the stamp names the tip, a file that differs was edited outside cook; otherwise a write was
//! interrupted and will be rolled forward.

use super::Store;
use super::displaced::{self, Aside};
use super::error::{During, unsafe_path};
use super::log_format::{self, Document, History, Stand};
use super::log_place::{self, Place};
use super::odb::Log;
use crate::disk::{self, Durable, Links, Mode, NewFile};
use cook_protocol::diagnostic::{Code, Failure, Finding};
use cook_protocol::machine::OutsideEdit;
use cook_protocol::model::{GOAL_VIEW, Ledger};
use git2::Oid;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{Metadata, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Largest document in `.agent/` that is read; a larger one is only reported.
const MAX_DOCUMENT: u64 = 64 << 20;

/// Most comparisons with the log, if a writer moves the branch meanwhile.
const LOOKS: usize = 16;

/// Number of recent transitions whose documents count as cook's own if there is no stamp.
const RECENT: usize = 100;

/// The state of `.agent/` relative to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewStatus {
    /// It shows the tip, except for edits outside cook.
    Current,
    /// The log is ahead: a write was interrupted before it updated the view.
    Pending,
    /// None of the files exists.
    Absent,
}

/// The path of `.agent` if it exists; a symlink or a file in its place is refused.
pub(super) fn agent_dir(place: &Place) -> Result<Option<PathBuf>, Failure> {
    let dir = place.agent_dir();
    Ok(log_place::is_directory(&dir, Code::AgentDirUnsafe)?.then_some(dir))
}

/// Returns `.agent/tmp`, creating it if necessary.
pub(super) fn scratch(dir: &Path) -> Result<PathBuf, Failure> {
    let scratch = dir.join("tmp");
    log_place::make_directory(&scratch, Code::AgentDirUnsafe)?;
    Ok(scratch)
}

/// The view of one worktree, compared with one commit of the log.
pub(super) struct View<'r> {
    pub(super) log: &'r Log,
    pub(super) place: &'r Place,
    pub(super) tip: Oid,
    pub(super) stand: Stand<'r>,
    pub(super) histories: log_format::Histories,
    pub(super) stamp: Option<FoundStamp>,
    /// The commit named by the stamp, if it is not the tip and the log holds it.
    pub(super) before: Option<Before<'r>>,
    /// Whether a file with the stamp's metadata counts as unchanged; if not, all files are read.
    trust_stat: bool,
}

pub(super) struct Before<'r> {
    pub(super) stand: Stand<'r>,
    pub(super) histories: log_format::Histories,
    /// Whether it is an ancestor of the tip, so that its histories are prefixes of the tip's.
    pub(super) leads_here: bool,
}

/// The action that makes a file show the tip.
pub(super) enum Step {
    Keep,
    Write,
    Remove,
    /// The file is correct up to this length.
    Append(u64),
}

/// The state of a file of the view.
pub(super) struct Judged {
    pub(super) step: Step,
    /// Set if the file is neither that of the tip nor left by an interrupted write.
    difference: Option<Difference>,
    /// Whether the log does not hold the content of the file.
    pub(super) is_foreign: bool,
}

impl Judged {
    /// A file that cook wrote.
    fn own(step: Step) -> Self {
        Self {
            step,
            difference: None,
            is_foreign: false,
        }
    }
}

/// The result of comparing a file's metadata with the stamp.
enum Glance {
    /// The file is as the stamp says.
    Known,
    /// The content must be compared.
    Unknown(Metadata),
    Missing,
    NotAFile,
}

impl<'r> View<'r> {
    pub(super) fn open(log: &'r Log, place: &'r Place, tip: Oid) -> Result<Self, Failure> {
        let stand = Stand::at(log, tip)?;
        let histories = stand.histories()?;
        let mut stamp = read_stamp(place)?;
        let named = stamp
            .as_ref()
            .and_then(|found| log.oid(&found.stamp.commit));
        let before = named.filter(|commit| *commit != tip).and_then(|commit| {
            let stand = Stand::at(log, commit).ok()?;
            let histories = stand.histories().ok()?;
            let leads_here = log_format::comes_before(log, commit, tip).unwrap_or(false);
            Some(Before {
                stand,
                histories,
                leads_here,
            })
        });
        if named != Some(tip) && before.is_none() {
            // A stamp that names a commit the log does not hold proves nothing.
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

    pub(super) fn status(&self) -> Result<ViewStatus, Failure> {
        let mut any = false;
        if let Some(dir) = agent_dir(self.place)? {
            for name in list_documents() {
                any |= log_place::look(&dir.join(name))?.is_some();
            }
        }
        Ok(match (any, self.shows_tip()) {
            (false, _) => ViewStatus::Absent,
            (true, true) => ViewStatus::Current,
            (true, false) => ViewStatus::Pending,
        })
    }

    fn glance(&self, dir: &Path, name: &str) -> Result<Glance, Failure> {
        let Some(found) = log_place::look(&dir.join(name))? else {
            return Ok(Glance::Missing);
        };
        if !found.is_file() {
            return Ok(Glance::NotAFile);
        }
        let known = self.trust_stat
            && self.stamp.as_ref().is_some_and(|stamp| {
                let shown = stamp.stamp.files.get(name).and_then(|shown| shown.stat);
                // Histories are exempt from the tick rule, because comparing one means reading all of it.
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

    /// Fails if the stamp names a descendant of the tip: the stamp is written after the branch moves, so somebody must
    /// have moved the branch back.
    pub(super) fn refuse_rewind(&self, branch: &str) -> Result<(), Failure> {
        let Some(shown) = self
            .stamp
            .as_ref()
            .filter(|_| self.before.is_some())
            .and_then(|found| self.log.oid(&found.stamp.commit))
        else {
            return Ok(());
        };
        if !log_format::comes_before(self.log, self.tip, shown)? {
            return Ok(());
        }
        let number = |id| log_format::meta(self.log, id).map(|meta| meta.seq);
        let (from, to) = (number(shown)?, number(self.tip)?);
        let what = format!("the log was moved back from #{from} to #{to}");
        Err(Failure::state(Code::LogRewound, what).replace_hints([
            format!(
                "bring the later transitions back: `git --git-dir={} update-ref {branch} {shown}`",
                shell_words::quote(&self.place.log_dir().to_string_lossy()),
            ),
            format!(
                "or go on from the older one: remove `{}`",
                self.place.stamp_file().display()
            ),
        ]))
    }

    /// Files that are neither those of the tip nor left by an interrupted write.
    pub(super) fn differences(&self) -> Result<Vec<Difference>, Failure> {
        let dir = agent_dir(self.place)?.unwrap_or_else(|| self.place.agent_dir());
        let mut differences = Vec::new();
        for name in list_documents() {
            differences.extend(self.judge(&dir, name)?.difference);
        }
        differences.sort_by(|a, b| a.file.cmp(&b.file));
        Ok(differences)
    }

    /// Determines the state of a file, and what makes it show the tip.
    pub(super) fn judge(&self, dir: &Path, name: &str) -> Result<Judged, Failure> {
        let history = find_history(name);
        let is_shown = self.is_shown(name);
        let found = match self.glance(dir, name)? {
            Glance::Missing => {
                return Ok(Judged {
                    step: if is_shown { Step::Write } else { Step::Keep },
                    difference: self
                        .is_missed(name)
                        .then(|| plain(name, DifferenceKind::Missing)),
                    is_foreign: false,
                });
            }
            Glance::NotAFile => return Ok(self.foreign(name, DifferenceKind::NotAFile)),
            Glance::Known if is_shown => {
                return Ok(Judged::own(match (history, &self.before) {
                    _ if self.find_stamp(name) == self.current(name).as_deref() => Step::Keep,
                    // The file is as in the stamp's commit, so only the rest is appended.
                    (Some(history), Some(before)) if before.leads_here => {
                        Step::Append(before.histories.of(history).bytes)
                    }
                    _ => Step::Write,
                }));
            }
            // A file that the tip does not show is removed, after it was set aside.
            Glance::Known => {
                return Ok(Judged {
                    difference: None,
                    ..self.foreign(name, DifferenceKind::Edited)
                });
            }
            Glance::Unknown(found) => found,
        };
        match history {
            _ if !is_shown => Ok(self.foreign(name, DifferenceKind::Edited)),
            Some(history) => self.judge_history(dir, history),
            None => self.judge_document(dir, name, &found),
        }
    }

    fn judge_document(&self, dir: &Path, name: &str, found: &Metadata) -> Result<Judged, Failure> {
        if found.len() > MAX_DOCUMENT {
            return Ok(self.foreign(name, DifferenceKind::TooLarge));
        }
        let read = disk::read(&dir.join(name), MAX_DOCUMENT, Links::Refuse).reading(name)?;
        let Some(bytes) = read else {
            return Ok(Judged {
                difference: Some(plain(name, DifferenceKind::Missing)),
                ..Judged::own(Step::Write)
            });
        };
        if self.stand.blob(name) == Some(log_format::blob_id(self.log, &bytes)?) {
            return Ok(Judged::own(Step::Keep));
        }
        if self.is_own(name, &bytes)? {
            return Ok(Judged::own(Step::Write));
        }
        let Ok(theirs) = serde_json::from_slice::<Value>(&bytes) else {
            return Ok(self.foreign(name, DifferenceKind::NotJson));
        };
        let ours: Value = log_format::parse(name, &self.stand.file(name)?)?;
        let mut judged = self.foreign(name, DifferenceKind::Edited);
        if let Some(difference) = &mut judged.difference {
            difference.fields = list_changed_fields(&ours, &theirs);
        }
        Ok(judged)
    }

    fn judge_history(&self, dir: &Path, history: History) -> Result<Judged, Failure> {
        let name = history.file();
        let (length, is_torn) = match self.compare(dir, history)? {
            Comparison::Equal => return Ok(Judged::own(Step::Keep)),
            Comparison::Prefix(length, is_torn) => (length, is_torn),
            Comparison::Differs(line) => {
                let mut judged = self.foreign(name, DifferenceKind::Edited);
                if let Some(difference) = &mut judged.difference {
                    difference.fields.push(format!("line {line}"));
                }
                return Ok(judged);
            }
        };
        let before = self.before.as_ref();
        let shown = before.map_or(0, |before| before.histories.of(history).bytes);
        let mut judged = Judged::own(Step::Append(length));
        // The file is shorter than before, so somebody truncated it.
        if self.shows_tip() || length < shown {
            judged.difference = Some(plain(
                name,
                match is_torn {
                    true => DifferenceKind::Torn,
                    false => DifferenceKind::Edited,
                },
            ));
        }
        Ok(judged)
    }

    /// Compares a history's file with the log.
    fn compare(&self, dir: &Path, history: History) -> Result<Comparison, Failure> {
        let name = history.file();
        let total = self.histories.of(history).bytes;
        let mut options = OpenOptions::new();
        let file = disk::open_no_follow(options.read(true), &dir.join(name)).reading(name)?;
        let mut theirs = Vec::new();
        file.take(total + 1)
            .read_to_end(&mut theirs)
            .reading(name)?;
        let mut equal = 0;
        for blob in log_format::segments(self.log, self.tip, history, 0)?.0 {
            let ours = self.log.blob(blob)?;
            let rest = &theirs[equal..];
            if rest.starts_with(&ours) {
                equal += ours.len();
                continue;
            }
            equal += ours.iter().zip(rest).take_while(|(a, b)| a == b).count();
            break;
        }
        let is_end = |byte: &&u8| **byte == b'\n';
        Ok(match equal == theirs.len() {
            true if equal as u64 == total => Comparison::Equal,
            true => Comparison::Prefix(equal as u64, theirs.last().is_some_and(|b| *b != b'\n')),
            false => Comparison::Differs(1 + theirs[..equal].iter().filter(is_end).count()),
        })
    }

    /// The state of a file that somebody else wrote: it is kept before it is overwritten.
    fn foreign(&self, name: &str, kind: DifferenceKind) -> Judged {
        Judged {
            step: match self.is_shown(name) {
                true => Step::Write,
                false => Step::Remove,
            },
            difference: Some(plain(name, kind)),
            is_foreign: true,
        }
    }

    /// The stamp's name for the tip's version of a file: a document's blob id, or a history's digest.
    fn current(&self, name: &str) -> Option<String> {
        match find_history(name).filter(|_| self.is_shown(name)) {
            Some(history) => Some(self.histories.of(history).sha256.clone()),
            None => self.stand.blob(name).map(|id| id.to_string()),
        }
    }

    fn find_stamp(&self, name: &str) -> Option<&str> {
        let shown = self.stamp.as_ref()?.stamp.files.get(name)?;
        Some(shown.oid.as_str())
    }

    /// Whether these bytes are a version of the document that cook wrote: the tip's; if the view is behind, also the
    /// stamp's; and without a stamp, that of a recent transition. Equal JSON in another layout is the same version.
    fn is_own(&self, name: &str, bytes: &[u8]) -> Result<bool, Failure> {
        let id = log_format::blob_id(self.log, bytes)?;
        let mut versions = vec![self.stand.file(name)?];
        if !self.shows_tip() {
            match &self.before {
                Some(before) if before.stand.blob(name) == Some(id) => return Ok(true),
                Some(before) if before.stand.blob(name).is_none() => {}
                Some(before) => versions.push(before.stand.file(name)?),
                None if self.was_written_lately(name, id)? => return Ok(true),
                None => {}
            }
        }
        // Duplicate keys are ambiguous, so such JSON is not a version that cook wrote.
        let Ok(theirs) = cook_protocol::schema::value(bytes) else {
            return Ok(false);
        };
        Ok(versions
            .iter()
            .any(|ours| serde_json::from_slice::<Value>(ours).is_ok_and(|ours| ours == theirs)))
    }

    fn was_written_lately(&self, name: &str, blob: Oid) -> Result<bool, Failure> {
        for commit in log_format::ancestry(self.log, Some(self.tip)).take(RECENT) {
            if Stand::at(self.log, commit?)?.blob(name) == Some(blob) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the tip shows this file at all: the brief and its history exist only from the first entry on.
    pub(super) fn is_shown(&self, name: &str) -> bool {
        if name == History::Brief.file() {
            return !self.histories.of(History::Brief).is_empty();
        }
        is_history(name) || self.stand.blob(name).is_some()
    }

    /// Whether a file is missing although it was shown when the stamp was written.
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

/// The files that show the log, in writing order.
pub(super) fn list_documents() -> impl Iterator<Item = &'static str> {
    let histories = History::ALL.into_iter().map(History::file);
    histories.chain(Document::SHOWN.map(Document::file))
}

impl Store {
    /// The files of `.agent/` that cook writes: those that show the log, and the trail.
    pub fn list_shown_files() -> impl Iterator<Item = &'static str> {
        list_documents().chain([log_format::TRAIL])
    }

    /// The state of `.agent/` relative to the log; `Absent` before the first transition.
    pub fn view_status(&self) -> Result<ViewStatus, Failure> {
        self.read(|log| match self.tip_id(log)? {
            Some(tip) => View::open(log, &self.place, tip)?.status(),
            None => Ok(ViewStatus::Absent),
        })
    }

    /// Files of `.agent/` that are not as cook wrote them, by name. Costs a few stat calls if nothing changed. Files
    /// left by an interrupted write are not differences: the next writer rolls them forward.
    pub fn differences(&self) -> Result<Vec<Difference>, Failure> {
        self.find_differences(true)
    }

    /// If a writer updates the view between the reads of the branch and of the files, this could look like an edit or a
    /// branch that was moved back. So such results count only if the branch did not move meanwhile.
    fn find_differences(&self, trust_stat: bool) -> Result<Vec<Difference>, Failure> {
        let mut found = Ok(Vec::new());
        for _ in 0..LOOKS {
            let tip = self.read(|log| self.tip_id(log))?;
            found = self.read(|log| {
                let Some(tip) = tip else {
                    return Ok(Vec::new());
                };
                let mut view = View::open(log, &self.place, tip)?;
                view.trust_stat = trust_stat;
                view.refuse_rewind(&self.branch())?;
                view.differences()
            });
            let settled = matches!(&found, Ok(differences) if differences.is_empty());
            if settled || self.read(|log| self.tip_id(log))? == tip {
                break;
            }
        }
        found
    }

    /// [`Store::differences`] in the form of the fact that decisions use.
    pub fn outside_edits(&self) -> Result<Vec<OutsideEdit>, Failure> {
        Ok(self
            .differences()?
            .into_iter()
            .map(OutsideEdit::from)
            .collect())
    }

    /// Like [`Store::differences`], but reads every file regardless of its metadata (`fsck`, `verify`).
    pub fn find_differences_by_content(&self) -> Result<Vec<Difference>, Failure> {
        self.find_differences(false)
    }
}

/// The metadata of a file right after cook wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stat {
    pub(super) bytes: u64,
    pub(super) mtime_ns: i128,
    /// Change time (the modification time if not on Unix) and inode (0 if not on Unix).
    pub(super) ctime_ns: i128,
    pub(super) inode: u64,
}

impl Stat {
    #[cfg(unix)]
    pub(super) fn of(found: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let nanos =
            |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Self {
            bytes: found.len(),
            mtime_ns: nanos(found.mtime(), found.mtime_nsec()),
            ctime_ns: nanos(found.ctime(), found.ctime_nsec()),
            inode: found.ino(),
        }
    }

    #[cfg(not(unix))]
    pub(super) fn of(found: &Metadata) -> Self {
        let mtime_ns = found
            .modified()
            .ok()
            .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
            .map_or(0, |since| since.as_nanos() as i128);
        Self {
            bytes: found.len(),
            mtime_ns,
            ctime_ns: mtime_ns,
            inode: 0,
        }
    }
}

/// The entry of one file in the stamp.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shown {
    /// Blob id of a document, or digest of a history.
    pub(super) oid: String,
    /// `None` for a file that was left as somebody else wrote it.
    pub(super) stat: Option<Stat>,
}

/// `cook-checkout.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stamp {
    pub(super) schema_version: u32,
    pub(super) commit: String,
    pub(super) files: BTreeMap<String, Shown>,
}

/// The stamp with its own change time: a file that changed in the same tick of the file system's clock cannot be
/// recognized by its metadata.
pub(super) struct FoundStamp {
    pub(super) stamp: Stamp,
    pub(super) written_ns: i128,
}

/// Reads the stamp. An invalid one counts as none, so that contents are compared instead.
pub(super) fn read_stamp(place: &Place) -> Result<Option<FoundStamp>, Failure> {
    let path = place.stamp_file();
    let Some(found) = disk::look(&path).reading("the checkout's stamp")? else {
        return Ok(None);
    };
    if !found.is_file() {
        return Err(unsafe_path(Code::LogUnsafe, &path, "is not a regular file"));
    }
    let Some(bytes) = disk::read(&path, 1 << 20, Links::Refuse).reading("the checkout's stamp")?
    else {
        return Ok(None);
    };
    let stamp = serde_json::from_slice::<Stamp>(&bytes)
        .ok()
        .filter(|stamp| stamp.schema_version == 1);
    Ok(stamp.map(|stamp| FoundStamp {
        stamp,
        written_ns: Stat::of(&found).ctime_ns,
    }))
}

/// The result of comparing a history's file with the log.
enum Comparison {
    Equal,
    /// The file is a proper prefix of the log's history, with its length in bytes, and whether it ends within a line.
    Prefix(u64, bool),
    /// The first line that differs, counted from 1.
    Differs(usize),
}

/// How a file of the view differs from the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DifferenceKind {
    /// It is gone.
    Missing,
    /// It is not a regular file.
    NotAFile,
    /// It is larger than cook reads.
    TooLarge,
    /// It is not valid JSON.
    NotJson,
    /// A history that is as in the log, except that its last line is incomplete.
    Torn,
    /// Its content differs.
    Edited,
}

/// A file of the view that is not as cook wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Its name in `.agent/`.
    pub file: String,
    /// How it differs.
    pub kind: DifferenceKind,
    /// Top-level fields that differ; ids of slices for a plan; `line N` for a history.
    pub fields: Vec<String>,
}

impl Difference {
    /// The finding that `verify` and `fsck` report.
    pub fn finding(&self) -> Finding {
        let history = is_history(&self.file);
        let (code, what) = match self.kind {
            DifferenceKind::Missing => (Code::DocumentMissing, "is missing"),
            DifferenceKind::NotAFile => (Code::DocumentUnreadable, "is not a regular file"),
            DifferenceKind::TooLarge => (Code::DocumentTooLarge, "is larger than cook reads"),
            DifferenceKind::NotJson => (Code::DocumentUnreadable, "is not valid JSON"),
            DifferenceKind::Torn => (Code::HistoryTorn, "ends in the middle of a line"),
            DifferenceKind::Edited if history => (Code::HistoryForged, "is not the log's"),
            DifferenceKind::Edited if self.file == Document::State.file() => {
                (Code::StateForged, "is not the log's")
            }
            DifferenceKind::Edited => (Code::EditedOutside, "is not the log's"),
        };
        let mut message = format!("`{}` {what}", self.file);
        if !self.fields.is_empty() {
            message.push_str(": ");
            message.push_str(&self.fields.join(", "));
        }
        Finding::new(code, message).at(format!(".agent/{}", self.file))
    }
}

impl From<Difference> for OutsideEdit {
    fn from(difference: Difference) -> Self {
        Self {
            missing: difference.kind == DifferenceKind::Missing,
            file: difference.file,
            fields: difference.fields,
        }
    }
}

pub(super) fn is_history(name: &str) -> bool {
    find_history(name).is_some()
}

fn find_history(name: &str) -> Option<History> {
    History::ALL.into_iter().find(|one| one.file() == name)
}

fn plain(name: &str, kind: DifferenceKind) -> Difference {
    Difference {
        file: name.to_owned(),
        kind,
        fields: Vec::new(),
    }
}

/// Names of the top-level fields that differ; for the slices of a plan, the ids of those that differ.
fn list_changed_fields(ours: &Value, theirs: &Value) -> Vec<String> {
    let (Value::Object(ours), Value::Object(theirs)) = (ours, theirs) else {
        return Vec::new();
    };
    let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let mut changed = Vec::new();
    for name in names {
        let (our, their) = (ours.get(name), theirs.get(name));
        if our == their {
            continue;
        }
        match (name.as_str(), our, their) {
            ("candidate_slices", Some(Value::Array(our)), Some(Value::Array(their))) => {
                changed.extend(list_changed_slices(our, their));
            }
            _ => changed.push(name.clone()),
        }
    }
    changed
}

fn list_changed_slices(ours: &[Value], theirs: &[Value]) -> Vec<String> {
    fn by_id(slices: &[Value]) -> Option<BTreeMap<&str, &Value>> {
        let map: BTreeMap<&str, &Value> = slices
            .iter()
            .map(|slice| Some((slice.get("slice_id")?.as_str()?, slice)))
            .collect::<Option<_>>()?;
        (map.len() == slices.len()).then_some(map)
    }
    let (Some(our), Some(their)) = (by_id(ours), by_id(theirs)) else {
        return vec!["candidate_slices".to_owned()];
    };
    let ids: BTreeSet<&str> = our.keys().chain(their.keys()).copied().collect();
    let changed: Vec<String> = ids
        .into_iter()
        .filter(|id| our.get(id) != their.get(id))
        .map(str::to_owned)
        .collect();
    if changed.is_empty() {
        // The same slices in another order.
        return vec!["candidate_slices".to_owned()];
    }
    changed
}

impl View<'_> {
    /// Creates the directory of a goal's view in the git dir, or removes it for a mission.
    fn choose_dir(&self) -> Result<(), Failure> {
        let ledger: Ledger = self.stand.document(Document::Ledger)?;
        let of_goal = self.place.git_dir.join(GOAL_VIEW);
        if ledger.goal.is_some() {
            log_place::make_directory(&of_goal, Code::LogUnsafe)?;
        } else if log_place::is_directory(&of_goal, Code::LogUnsafe)? {
            disk::remove_tree(&of_goal).writing(of_goal.display().to_string())?;
        }
        Ok(())
    }

    /// Brings `.agent/` to the tip, except for the files in `leave`. Content that would be overwritten and that the log
    /// does not hold is set aside first, in one kept copy whose id is returned.
    pub(super) fn show(&self, leave: &BTreeSet<String>) -> Result<Option<String>, Failure> {
        self.choose_dir()?;
        let dir = self.place.agent_dir();
        log_place::make_directory(&dir, Code::AgentDirUnsafe)?;
        let scratch = scratch(&dir)?;
        let (mut steps, mut foreign) = (Vec::new(), Vec::new());
        for name in list_documents().filter(|name| !leave.contains(*name)) {
            let judged = self.judge(&dir, name)?;
            if judged.is_foreign {
                foreign.push(Aside::read(&dir, name)?);
            }
            steps.push((name, judged.step));
        }
        let aside = match foreign.is_empty() {
            true => None,
            false => Some(displaced::keep(self.log, &foreign, "edited outside cook")?),
        };
        for (name, step) in &steps {
            self.take_step(&dir, &scratch, name, step)?;
        }
        if steps.iter().any(|(_, step)| !matches!(step, Step::Keep)) {
            disk::sync_dir(&dir).writing(".agent")?;
        }
        self.write_stamp(&dir, leave)?;
        Ok(aside)
    }

    fn take_step(
        &self,
        dir: &Path,
        scratch: &Path,
        name: &str,
        step: &Step,
    ) -> Result<(), Failure> {
        let target = dir.join(name);
        let at = format!(".agent/{name}");
        match (step, find_history(name)) {
            (Step::Keep, _) => Ok(()),
            (Step::Remove, _) => std::fs::remove_file(&target).writing(at),
            (Step::Append(length), Some(history)) => {
                disk::unshare(&target).writing(&at)?;
                let mut options = OpenOptions::new();
                let file = disk::open_no_follow(options.write(true), &target);
                let mut file = file.writing(&at)?;
                file.seek(SeekFrom::Start(*length)).writing(&at)?;
                self.copy_history(history, *length, &mut file)?;
                file.sync_data().writing(at)
            }
            (_, history) => {
                let new = NewFile::at(&target, Durable::Content).mode(Mode::Masked(0o644));
                let mut draft = new.scratch(scratch).begin().writing(&at)?;
                match history {
                    Some(history) => self.copy_history(history, 0, &mut draft)?,
                    None => draft.write_all(&self.stand.file(name)?).writing(&at)?,
                }
                draft.finish().map(drop).writing(at)
            }
        }
    }

    fn copy_history(
        &self,
        history: History,
        from: u64,
        target: &mut impl Write,
    ) -> Result<(), Failure> {
        let (blobs, skip) = log_format::segments(self.log, self.tip, history, from)?;
        let mut skip = usize::try_from(skip).unwrap_or(usize::MAX);
        for blob in blobs {
            let bytes = self.log.blob(blob)?;
            target
                .write_all(bytes.get(skip..).unwrap_or_default())
                .writing(format!(".agent/{}", history.file()))?;
            skip = 0;
        }
        Ok(())
    }

    /// Writes the stamp, as the last file, and only if it changed.
    fn write_stamp(&self, dir: &Path, leave: &BTreeSet<String>) -> Result<(), Failure> {
        let what = "the checkout's stamp";
        let mut files = BTreeMap::new();
        for name in list_documents() {
            let Some(oid) = self.current(name) else {
                continue;
            };
            let found = disk::look(&dir.join(name)).writing(what)?;
            let stat = found.as_ref().map(Stat::of);
            let stat = stat.filter(|_| !leave.contains(name));
            files.insert(name.to_owned(), Shown { oid, stat });
        }
        let stamp = Stamp {
            schema_version: 1,
            commit: self.tip.to_string(),
            files,
        };
        let there = self.stamp.as_ref();
        if there.is_some_and(|found| found.stamp == stamp) {
            return Ok(());
        }
        NewFile::at(&self.place.stamp_file(), Durable::Content)
            .mode(Mode::Masked(0o644))
            .write(&log_format::pretty(&stamp)?)
            .writing(what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_that_differ_are_named() {
        let ours = json!({"a": 1, "b": 2, "candidate_slices": [{"slice_id": "x", "n": 1}, {"slice_id": "y"}]});
        let theirs = json!({"a": 1, "b": 3, "c": 0, "candidate_slices": [{"slice_id": "x", "n": 2}, {"slice_id": "y"}]});
        assert_eq!(list_changed_fields(&ours, &theirs), ["b", "c", "x"]);
        assert!(list_changed_fields(&ours, &ours).is_empty());
        assert!(list_changed_fields(&ours, &json!([])).is_empty());
    }

    #[test]
    fn reordered_or_duplicated_slices_are_named_as_a_whole() {
        let ours = json!({"candidate_slices": [{"slice_id": "x"}, {"slice_id": "y"}]});
        let swapped = json!({"candidate_slices": [{"slice_id": "y"}, {"slice_id": "x"}]});
        let twice = json!({"candidate_slices": [{"slice_id": "x"}, {"slice_id": "x"}]});
        assert_eq!(list_changed_fields(&ours, &swapped), ["candidate_slices"]);
        assert_eq!(list_changed_fields(&ours, &twice), ["candidate_slices"]);
    }
}
