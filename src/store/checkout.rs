//! The view: what `.agent/` shows of the log, told cheaply from what somebody
//! else wrote there, and brought up to the tip without losing a byte.
//!
//! `<git dir>/cook-checkout.json` (the stamp) names the commit shown and each
//! file's digest and stat. Stamp = tip: a file that differs was edited outside
//! cook. Stamp ≠ tip: a write was interrupted and is rolled forward.

use super::Store;
use super::displaced::{self, Aside};
use super::error::StoreError;
use super::files;
use super::log::Log;
use super::objects::{self, Stand};
use super::place::Place;
use super::tree::{self, Document, History};
use crate::diagnostic::{Code, Finding};
use crate::machine::OutsideEdit;
use git2::Oid;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{Metadata, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

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

/// How a file of the view differs from the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DifferenceKind {
    /// It is gone.
    Missing,
    /// It is no regular file.
    NotAFile,
    /// It is larger than cook reads.
    TooLarge,
    /// It is no JSON.
    NotJson,
    /// A history whose last line is incomplete, otherwise as in the log.
    Torn,
    /// It says something else.
    Edited,
}

/// One file of the view that is not what cook showed there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// File name under `.agent/`.
    pub file: String,
    /// How it differs.
    pub kind: DifferenceKind,
    /// Top-level fields that differ; slice ids for a plan; `line N` for a history.
    pub fields: Vec<String>,
}

impl Difference {
    /// As `verify` and `fsck` report it.
    pub fn finding(&self) -> Finding {
        let history = is_history(&self.file);
        let (code, what) = match self.kind {
            DifferenceKind::Missing => (Code::DocumentMissing, "is missing"),
            DifferenceKind::NotAFile => (Code::DocumentUnreadable, "is no regular file"),
            DifferenceKind::TooLarge => (Code::DocumentTooLarge, "is larger than cook reads"),
            DifferenceKind::NotJson => (Code::DocumentUnreadable, "is no JSON"),
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

/// What a file looked like right after cook wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stat {
    bytes: u64,
    mtime_ns: i128,
    /// Change time and inode; 0 where the system has none.
    ctime_ns: i128,
    inode: u64,
}

impl Stat {
    #[cfg(unix)]
    fn of(found: &Metadata) -> Self {
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
    fn of(found: &Metadata) -> Self {
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

/// One file in the stamp.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shown {
    /// Blob id of a document, digest chain of a history.
    oid: String,
    /// Null for a file that was left as somebody else wrote it.
    stat: Option<Stat>,
}

/// `cook-checkout.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stamp {
    schema_version: u32,
    commit: String,
    files: BTreeMap<String, Shown>,
}

/// The stamp as it was found, with its own change time: a file changed in the
/// same tick of the file system's clock cannot be told by its stat.
struct FoundStamp {
    stamp: Stamp,
    written_ns: i128,
}

/// An unreadable or foreign stamp is no stamp: contents are compared instead.
fn read_stamp(place: &Place) -> Result<Option<FoundStamp>, StoreError> {
    let path = place.stamp_file();
    let failed = |error: io::Error| StoreError::unreadable("the checkout's stamp", error);
    let Some(found) = files::look(&path).map_err(failed)? else {
        return Ok(None);
    };
    if !found.is_file() {
        return Err(StoreError::unsafe_path(&path, "is no regular file"));
    }
    let Some(bytes) = files::read_capped(&path, 1 << 20).map_err(failed)? else {
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

/// `Some` when `.agent` is there; a symlink or a file in its place is refused.
fn agent_dir(place: &Place) -> Result<Option<std::path::PathBuf>, StoreError> {
    let dir = place.agent_dir();
    let refuse = |path: &Path, what: &str| StoreError::AgentDir {
        path: path.to_owned(),
        what: what.to_owned(),
    };
    match files::look(&dir).map_err(|error| StoreError::unreadable(".agent", error))? {
        None => Ok(None),
        Some(found) if found.is_symlink() => Err(refuse(&dir, "is a symlink")),
        Some(found) if !found.is_dir() => Err(refuse(&dir, "is no directory")),
        Some(_) => Ok(Some(dir)),
    }
}

/// The view of one worktree against one commit of the log.
pub(super) struct View<'r> {
    log: &'r Log,
    place: &'r Place,
    tip: Oid,
    stand: Stand<'r>,
    histories: tree::Histories,
    stamp: Option<FoundStamp>,
    /// The commit that the stamp names, when it is another one the log holds.
    before: Option<Before<'r>>,
    /// False: look inside every file.
    trust_stat: bool,
}

struct Before<'r> {
    stand: Stand<'r>,
    histories: tree::Histories,
}

/// What a file's stat and the stamp say without looking inside.
enum Glance {
    /// It is what the stamp says.
    Known,
    /// Look inside.
    Unknown(Metadata),
    Missing,
    NotAFile,
}

/// How a history file compares with the log, as far as it goes.
enum Comparison {
    Equal,
    /// The file is a proper prefix of the log's, this many bytes long.
    Prefix(u64),
    /// It differs in this line (from 1).
    Differs(u64),
}

impl<'r> View<'r> {
    pub(super) fn open(log: &'r Log, place: &'r Place, tip: Oid) -> Result<Self, StoreError> {
        let stand = Stand::at(log, tip)?;
        let histories = stand.histories()?;
        let mut stamp = read_stamp(place)?;
        let named = stamp
            .as_ref()
            .and_then(|found| log.oid(&found.stamp.commit));
        let before = named.filter(|commit| *commit != tip).and_then(|commit| {
            let stand = Stand::at(log, commit).ok()?;
            let histories = stand.histories().ok()?;
            Some(Before { stand, histories })
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

    fn shows_tip(&self) -> bool {
        self.stamp
            .as_ref()
            .is_some_and(|found| found.stamp.commit == self.tip.to_string())
    }

    pub(super) fn status(&self) -> Result<ViewStatus, StoreError> {
        let any = match agent_dir(self.place)? {
            None => false,
            Some(dir) => {
                let mut any = false;
                for name in shown_files() {
                    any |= files::look(&dir.join(name))
                        .map_err(|error| StoreError::unreadable(name, error))?
                        .is_some();
                }
                any
            }
        };
        Ok(match (any, self.shows_tip()) {
            (false, _) => ViewStatus::Absent,
            (true, true) => ViewStatus::Current,
            (true, false) => ViewStatus::Pending,
        })
    }

    fn glance(&self, dir: &Path, name: &str) -> Result<Glance, StoreError> {
        let found =
            files::look(&dir.join(name)).map_err(|error| StoreError::unreadable(name, error))?;
        let Some(found) = found else {
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

    /// Files that are neither what the tip says nor what an interrupted write left.
    pub(super) fn differences(&self) -> Result<Vec<Difference>, StoreError> {
        let Some(dir) = agent_dir(self.place)? else {
            return Ok(if self.stamp.is_none() {
                Vec::new()
            } else {
                shown_files().map(missing).collect()
            });
        };
        let mut differences = Vec::new();
        for document in Document::SHOWN {
            differences.extend(self.document_difference(&dir, document)?);
        }
        for history in History::ALL {
            differences.extend(self.history_difference(&dir, history)?);
        }
        differences.sort_by(|a, b| a.file.cmp(&b.file));
        Ok(differences)
    }

    fn document_difference(
        &self,
        dir: &Path,
        document: Document,
    ) -> Result<Option<Difference>, StoreError> {
        let name = document.file();
        let found = match self.glance(dir, name)? {
            Glance::Known => return Ok(None),
            Glance::Missing => return Ok(self.stamp.is_some().then(|| missing(name))),
            Glance::NotAFile => return Ok(Some(plain(name, DifferenceKind::NotAFile))),
            Glance::Unknown(found) => found,
        };
        if found.len() > MAX_DOCUMENT {
            return Ok(Some(plain(name, DifferenceKind::TooLarge)));
        }
        let Some(bytes) = files::read_capped(&dir.join(name), MAX_DOCUMENT)
            .map_err(|error| StoreError::unreadable(name, error))?
        else {
            return Ok(Some(missing(name)));
        };
        if self.is_own(document, &bytes)? {
            return Ok(None);
        }
        let Ok(theirs) = serde_json::from_slice::<Value>(&bytes) else {
            return Ok(Some(plain(name, DifferenceKind::NotJson)));
        };
        let ours: Value = tree::parse(name, &self.stand.file(name)?)?;
        Ok(Some(Difference {
            file: name.to_owned(),
            kind: DifferenceKind::Edited,
            fields: changed_fields(&ours, &theirs),
        }))
    }

    /// Whether these bytes are a version of the document that cook itself wrote:
    /// the tip's; while the view is behind, also the stamp's, or with no stamp
    /// to go by one of the last transitions'. Equal JSON in another layout is the same version.
    fn is_own(&self, document: Document, bytes: &[u8]) -> Result<bool, StoreError> {
        let name = document.file();
        let id = objects::blob_id(self.log, bytes)?;
        if self.stand.blob(name) == Some(id) {
            return Ok(true);
        }
        let mut versions = vec![self.stand.file(name)?];
        if !self.shows_tip() {
            match &self.before {
                Some(before) if before.stand.blob(name) == Some(id) => return Ok(true),
                Some(before) => versions.push(before.stand.file(name)?),
                None if self.was_written_lately(document, id)? => return Ok(true),
                None => {}
            }
        }
        let Ok(theirs) = serde_json::from_slice::<Value>(bytes) else {
            return Ok(false);
        };
        Ok(versions
            .iter()
            .any(|ours| serde_json::from_slice::<Value>(ours).is_ok_and(|ours| ours == theirs)))
    }

    fn was_written_lately(&self, document: Document, blob: Oid) -> Result<bool, StoreError> {
        let mut at = Some(self.tip);
        for _ in 0..RECENT {
            let Some(commit) = at else { break };
            if Stand::at(self.log, commit)?.blob(document.file()) == Some(blob) {
                return Ok(true);
            }
            at = objects::parent(self.log, commit)?;
        }
        Ok(false)
    }

    fn history_difference(
        &self,
        dir: &Path,
        history: History,
    ) -> Result<Option<Difference>, StoreError> {
        let name = history.file();
        match self.glance(dir, name)? {
            Glance::Known => return Ok(None),
            Glance::Missing => return Ok(self.stamp.is_some().then(|| missing(name))),
            Glance::NotAFile => return Ok(Some(plain(name, DifferenceKind::NotAFile))),
            Glance::Unknown(_) => {}
        }
        let (line, torn) = match self.compare(dir, history)? {
            Comparison::Equal => return Ok(None),
            // An interrupted append left a prefix that still holds what was shown.
            Comparison::Prefix(length)
                if !self.shows_tip() && length >= self.shown_bytes(history) =>
            {
                return Ok(None);
            }
            Comparison::Prefix(length) => {
                let torn = !ends_line(&dir.join(name), length)
                    .map_err(|error| StoreError::unreadable(name, error))?;
                (None, torn)
            }
            Comparison::Differs(line) => (Some(line), false),
        };
        Ok(Some(Difference {
            file: name.to_owned(),
            kind: if torn {
                DifferenceKind::Torn
            } else {
                DifferenceKind::Edited
            },
            fields: line
                .map(|line| format!("line {line}"))
                .into_iter()
                .collect(),
        }))
    }

    fn shown_bytes(&self, history: History) -> u64 {
        self.before
            .as_ref()
            .map_or(0, |before| before.histories.of(history).bytes)
    }

    /// Reads a history file once against the log's.
    fn compare(&self, dir: &Path, history: History) -> Result<Comparison, StoreError> {
        let failed = |error: io::Error| StoreError::unreadable(history.file(), error);
        let file = files::open_no_follow(OpenOptions::new().read(true), &dir.join(history.file()))
            .map_err(failed)?;
        let mut file = BufReader::with_capacity(1 << 18, file);
        let (blobs, _) = objects::segments(self.log, self.tip, history, 0)?;
        let mut line = 1;
        let mut done = 0;
        let mut theirs = Vec::new();
        for blob in blobs {
            let ours = self.log.blob(blob)?;
            theirs.clear();
            (&mut file)
                .take(ours.len() as u64)
                .read_to_end(&mut theirs)
                .map_err(failed)?;
            let equal = ours.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
            line += ours[..equal].iter().filter(|byte| **byte == b'\n').count() as u64;
            done += equal as u64;
            if equal < theirs.len() {
                return Ok(Comparison::Differs(line));
            }
            if equal < ours.len() {
                return Ok(Comparison::Prefix(done));
            }
        }
        let mut rest = [0];
        Ok(if file.read(&mut rest).map_err(failed)? == 0 {
            Comparison::Equal
        } else {
            Comparison::Differs(line)
        })
    }

    /// Brings `.agent/` to the tip, leaving the files named in `leave` as they
    /// are. What would be overwritten and the log does not hold is set aside
    /// first, in one kept copy whose id is returned.
    pub(super) fn show(&self, leave: &BTreeSet<String>) -> Result<Option<String>, StoreError> {
        let dir = self.agent_dir_for_writing()?;
        let scratch = dir.join("tmp");
        let plan = self.plan(&dir, leave)?;
        let aside = if plan.aside.is_empty() {
            None
        } else {
            Some(displaced::keep(
                self.log,
                &plan.aside,
                "edited outside cook",
            )?)
        };
        let mut shown = BTreeMap::new();
        for history in History::ALL {
            self.show_history(&dir, &scratch, history, &plan)?;
            shown.insert(history.file(), self.histories.of(history).sha256.clone());
        }
        for document in Document::SHOWN {
            let name = document.file();
            if plan.writes(name) {
                files::replace(&scratch, &dir.join(name), &self.stand.file(name)?)
                    .map_err(|error| StoreError::write(format!(".agent/{name}"), error))?;
            }
            let blob = self.stand.blob(name).map(|id| id.to_string());
            shown.insert(name, blob.unwrap_or_default());
        }
        if plan.files.values().any(|step| !matches!(step, Step::Keep)) {
            files::sync_dir(&dir).map_err(|error| StoreError::write(".agent", error))?;
        }
        self.write_stamp(&dir, &shown, leave)?;
        Ok(aside)
    }

    fn agent_dir_for_writing(&self) -> Result<std::path::PathBuf, StoreError> {
        let failed = |error: io::Error| StoreError::write(".agent", error);
        let dir = match agent_dir(self.place)? {
            Some(dir) => dir,
            None => {
                let dir = self.place.agent_dir();
                std::fs::create_dir(&dir).map_err(failed)?;
                dir
            }
        };
        let scratch = dir.join("tmp");
        match files::look(&scratch).map_err(failed)? {
            None => std::fs::create_dir(&scratch).map_err(failed)?,
            Some(found) if found.is_dir() => {}
            Some(_) => {
                return Err(StoreError::AgentDir {
                    path: scratch,
                    what: "is no directory".to_owned(),
                });
            }
        }
        Ok(dir)
    }

    /// Decides for each file what to do, and reads what must be set aside.
    fn plan(&self, dir: &Path, leave: &BTreeSet<String>) -> Result<Plan, StoreError> {
        let mut plan = Plan::default();
        for document in Document::SHOWN {
            let step = self.document_step(dir, document, leave, &mut plan.aside)?;
            plan.files.insert(document.file(), step);
        }
        for history in History::ALL {
            let step = self.history_step(dir, history, leave, &mut plan.aside)?;
            plan.files.insert(history.file(), step);
        }
        Ok(plan)
    }

    fn document_step(
        &self,
        dir: &Path,
        document: Document,
        leave: &BTreeSet<String>,
        aside: &mut Vec<Aside>,
    ) -> Result<Step, StoreError> {
        let name = document.file();
        if leave.contains(name) {
            return Ok(Step::Keep);
        }
        let tip = self.stand.blob(name).map(|id| id.to_string());
        match self.glance(dir, name)? {
            Glance::Missing => return Ok(Step::Write),
            Glance::Known if self.stamped(name) == tip.as_deref() => return Ok(Step::Keep),
            Glance::Known => return Ok(Step::Write),
            Glance::NotAFile | Glance::Unknown(_) => {}
        }
        let found = Aside::read(dir, name)?;
        if let Some(bytes) = found.regular() {
            let id = objects::blob_id(self.log, bytes)?;
            if Some(id.to_string()) == tip {
                return Ok(Step::Keep);
            }
            if self.is_own(document, bytes)? {
                return Ok(Step::Write);
            }
        }
        aside.push(found);
        Ok(Step::Write)
    }

    fn history_step(
        &self,
        dir: &Path,
        history: History,
        leave: &BTreeSet<String>,
        aside: &mut Vec<Aside>,
    ) -> Result<Step, StoreError> {
        let name = history.file();
        let tip = self.histories.of(history);
        if leave.contains(name) {
            return Ok(Step::Keep);
        }
        match self.glance(dir, name)? {
            Glance::Missing => return Ok(Step::Write),
            Glance::Known if self.stamped(name) == Some(tip.sha256.as_str()) => {
                return Ok(Step::Keep);
            }
            Glance::Known => {
                // The file is what the stamp's commit says: append the rest.
                return Ok(match &self.before {
                    Some(before) => Step::Append(before.histories.of(history).bytes),
                    None => Step::Write,
                });
            }
            Glance::NotAFile => {
                aside.push(Aside::read(dir, name)?);
                return Ok(Step::Write);
            }
            Glance::Unknown(_) => {}
        }
        Ok(match self.compare(dir, history)? {
            Comparison::Equal => Step::Keep,
            Comparison::Prefix(length) => Step::Append(length),
            Comparison::Differs(_) => {
                aside.push(Aside::read(dir, name)?);
                Step::Write
            }
        })
    }

    fn stamped(&self, name: &str) -> Option<&str> {
        self.stamp
            .as_ref()
            .and_then(|found| found.stamp.files.get(name))
            .map(|shown| shown.oid.as_str())
    }

    fn show_history(
        &self,
        dir: &Path,
        scratch: &Path,
        history: History,
        plan: &Plan,
    ) -> Result<(), StoreError> {
        let target = dir.join(history.file());
        let failed =
            |error: io::Error| StoreError::write(format!(".agent/{}", history.file()), error);
        match plan.files.get(history.file()) {
            Some(Step::Append(length)) => {
                let mut file = files::open_no_follow(OpenOptions::new().write(true), &target)
                    .map_err(failed)?;
                file.seek(SeekFrom::Start(*length)).map_err(failed)?;
                self.copy_history(history, *length, &mut file)?;
                file.sync_data().map_err(failed)
            }
            Some(Step::Write) => {
                let mut file = files::named_temp(scratch).map_err(failed)?;
                self.copy_history(history, 0, &mut file)?;
                file.as_file().sync_data().map_err(failed)?;
                file.persist(&target).map_err(|error| failed(error.error))?;
                Ok(())
            }
            Some(Step::Keep) | None => Ok(()),
        }
    }

    fn copy_history(
        &self,
        history: History,
        from: u64,
        target: &mut impl Write,
    ) -> Result<(), StoreError> {
        let (blobs, skip) = objects::segments(self.log, self.tip, history, from)?;
        let mut skip = usize::try_from(skip).unwrap_or(usize::MAX);
        for blob in blobs {
            let bytes = self.log.blob(blob)?;
            target
                .write_all(bytes.get(skip..).unwrap_or_default())
                .map_err(|error| StoreError::write(format!(".agent/{}", history.file()), error))?;
            skip = 0;
        }
        Ok(())
    }

    /// Written last, and only when it says something new.
    fn write_stamp(
        &self,
        dir: &Path,
        shown: &BTreeMap<&str, String>,
        leave: &BTreeSet<String>,
    ) -> Result<(), StoreError> {
        let failed = |error: io::Error| StoreError::write("the checkout's stamp", error);
        let mut listed = BTreeMap::new();
        for (name, oid) in shown {
            let stat = if leave.contains(*name) {
                None
            } else {
                files::look(&dir.join(name))
                    .map_err(failed)?
                    .as_ref()
                    .map(Stat::of)
            };
            listed.insert(
                (*name).to_owned(),
                Shown {
                    oid: oid.clone(),
                    stat,
                },
            );
        }
        let stamp = Stamp {
            schema_version: 1,
            commit: self.tip.to_string(),
            files: listed,
        };
        if self
            .stamp
            .as_ref()
            .is_some_and(|found| found.stamp == stamp)
        {
            return Ok(());
        }
        files::replace(
            &self.place.git_dir,
            &self.place.stamp_file(),
            &tree::pretty(&stamp)?,
        )
        .map_err(failed)
    }

    /// The stamp does not name the tip.
    pub(super) fn is_behind(&self) -> bool {
        !self.shows_tip()
    }
}

/// What [`View::show`] does to each file.
#[derive(Default)]
struct Plan {
    files: BTreeMap<&'static str, Step>,
    aside: Vec<Aside>,
}

impl Plan {
    fn writes(&self, name: &str) -> bool {
        matches!(self.files.get(name), Some(Step::Write))
    }
}

enum Step {
    Keep,
    Write,
    /// The file is right up to this length.
    Append(u64),
}

pub(super) fn shown_files() -> impl Iterator<Item = &'static str> {
    Document::SHOWN
        .into_iter()
        .map(Document::file)
        .chain(History::ALL.into_iter().map(History::file))
}

fn is_history(name: &str) -> bool {
    History::ALL.iter().any(|history| history.file() == name)
}

fn missing(name: &str) -> Difference {
    plain(name, DifferenceKind::Missing)
}

fn plain(name: &str, kind: DifferenceKind) -> Difference {
    Difference {
        file: name.to_owned(),
        kind,
        fields: Vec::new(),
    }
}

fn ends_line(path: &Path, length: u64) -> io::Result<bool> {
    if length == 0 {
        return Ok(true);
    }
    let mut file = files::open_no_follow(OpenOptions::new().read(true), path)?;
    file.seek(SeekFrom::Start(length - 1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last[0] == b'\n')
}

/// Names of the top-level fields that differ; in a plan, ids of the slices that do.
fn changed_fields(ours: &Value, theirs: &Value) -> Vec<String> {
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
                changed.extend(changed_slices(our, their));
            }
            _ => changed.push(name.clone()),
        }
    }
    changed
}

fn changed_slices(ours: &[Value], theirs: &[Value]) -> Vec<String> {
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

impl Store {
    /// How `.agent/` stands to the log; `Absent` before the first transition.
    pub fn view_status(&self) -> Result<ViewStatus, StoreError> {
        self.read(|log| match self.tip_id(log)? {
            Some(tip) => View::open(log, &self.place, tip)?.status(),
            None => Ok(ViewStatus::Absent),
        })
    }

    /// Files of `.agent/` that are not what cook wrote there, by name. Costs a
    /// few stat calls when nothing was touched. A write that was interrupted is
    /// no difference: the next writer rolls it forward.
    pub fn differences(&self) -> Result<Vec<Difference>, StoreError> {
        self.settled_differences(true)
    }

    /// What a writer shows between a look at the branch and a look at the files
    /// would pass for an edit, so differences count only when the branch stands
    /// where it stood before the look.
    fn settled_differences(&self, trust_stat: bool) -> Result<Vec<Difference>, StoreError> {
        let mut found = Vec::new();
        for _ in 0..LOOKS {
            let tip = self.read(|repo| self.tip_id(repo))?;
            found = self.read(|repo| match tip {
                Some(tip) => {
                    let mut view = View::open(repo, &self.place, tip)?;
                    view.trust_stat = trust_stat;
                    view.differences()
                }
                None => Ok(Vec::new()),
            })?;
            if found.is_empty() || self.read(|repo| self.tip_id(repo))? == tip {
                break;
            }
        }
        Ok(found)
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
    pub fn differences_by_content(&self) -> Result<Vec<Difference>, StoreError> {
        self.settled_differences(false)
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
        assert_eq!(changed_fields(&ours, &theirs), ["b", "c", "x"]);
        assert!(changed_fields(&ours, &ours).is_empty());
        assert!(changed_fields(&ours, &json!([])).is_empty());
    }

    #[test]
    fn reordered_or_duplicated_slices_are_named_as_a_whole() {
        let ours = json!({"candidate_slices": [{"slice_id": "x"}, {"slice_id": "y"}]});
        let swapped = json!({"candidate_slices": [{"slice_id": "y"}, {"slice_id": "x"}]});
        let twice = json!({"candidate_slices": [{"slice_id": "x"}, {"slice_id": "x"}]});
        assert_eq!(changed_fields(&ours, &swapped), ["candidate_slices"]);
        assert_eq!(changed_fields(&ours, &twice), ["candidate_slices"]);
    }
}
