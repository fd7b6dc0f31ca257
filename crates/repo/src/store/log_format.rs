//! The format of a log commit (`protocol/store.md`): the files of its tree, their exact text, its message, and the
//! chain of first parents.

use super::error::{During, refuse_malformed, unreadable};
use super::odb::{Commit, Log, TreeEntry};
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::digest::hex;
use cook_protocol::machine::Facts;
use cook_protocol::model::{
    Actor, BriefRecord, Event, Ledger, Plan, Receipt, Records, Remark, Shared, Slice, SliceLedger,
    SliceRecord, Snapshot, StopRecord,
};
use git2::{ObjectType, Oid};
use memchr::memmem;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The format that this build writes.
pub const FORMAT: u32 = 4;

pub(super) const FORMAT_FILE: &str = "format";
pub(super) const EVENT: &str = "event.json";
pub(super) const HISTORIES: &str = "histories.json";
pub(super) const APPENDED: &str = "appended";
pub(super) const RECEIPTS: &str = "receipts";
pub(super) const EXCHANGES: &str = "exchanges";
/// Folder of the tests on which proofs of this transition rest.
pub(super) const TESTS: &str = "tests";
/// The checkpoint trail, in `.agent/` and under `appended/`.
pub(super) const TRAIL: &str = "checkpoints.jsonl";

macro_rules! documents {
    ($($document:ident $field:ident $file:literal),+) => {
        /// The documents of a snapshot in the log's tree.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Document {
            $($document),+
        }

        impl Document {
            pub(super) const ALL: [Self; 10] = [$(Self::$document),+];

            pub(super) fn file(self) -> &'static str {
                match self {
                    $(Self::$document => $file),+
                }
            }

            /// The document's exact bytes; `None` for an absent optional one.
            pub(super) fn text(self, snapshot: &Snapshot) -> Result<Option<Vec<u8>>, Failure> {
                if self == Self::Mission {
                    return Ok(Some(snapshot.mission.clone().into_bytes()));
                }
                match self {
                    Self::Brief if snapshot.brief.is_none() => Ok(None),
                    $(Self::$document => pretty(&snapshot.$field).map(Some)),+
                }
            }

            /// Whether the document is the same in two snapshots; cheaper than comparing texts.
            pub(super) fn same(self, a: &Snapshot, b: &Snapshot) -> bool {
                match self {
                    $(Self::$document => a.$field == b.$field),+
                }
            }
        }
    };
}

documents! {
    Active active "active-slice.json",
    Brief brief "brief.json",
    Counters counters "counters.json",
    Ledger ledger "ledger.json",
    Mission mission "mission.md",
    Plan plan "plan.json",
    Profile profile "profile.json",
    State state "state.json",
    Undone undone "undone.json",
    Evidence evidence "verification-evidence.json"
}

impl Document {
    /// The documents that `.agent/` shows, in writing order: the file that external readers poll comes last.
    pub(super) const SHOWN: [Self; 5] = [
        Self::Brief,
        Self::Plan,
        Self::Evidence,
        Self::Active,
        Self::State,
    ];

    /// Whether a workflow may lack this document.
    pub(super) fn is_optional(self) -> bool {
        self == Self::Brief
    }

    /// Whether a name is the file of a document.
    pub(super) fn is_file(name: &str) -> bool {
        Self::ALL.iter().any(|document| document.file() == name)
    }
}

/// The append-only histories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum History {
    /// `slice-history.jsonl`.
    Slice,
    /// `stop-check-history.jsonl`.
    Stop,
    /// `brief-history.jsonl`; exists from its first line on.
    Brief,
}

impl History {
    /// All histories.
    pub const ALL: [History; 3] = [History::Slice, History::Stop, History::Brief];

    /// Calls `get` for each history, in the order of [`History::ALL`].
    pub(super) fn each<T>(get: impl Fn(Self) -> Result<T, Failure>) -> Result<[T; 3], Failure> {
        Ok([get(Self::Slice)?, get(Self::Stop)?, get(Self::Brief)?])
    }

    /// The name of its file, in `.agent/` and under `appended/`.
    pub fn file(self) -> &'static str {
        match self {
            History::Slice => "slice-history.jsonl",
            History::Stop => "stop-check-history.jsonl",
            History::Brief => "brief-history.jsonl",
        }
    }

    /// The lines that a transition adds to it: those that its event imports, then the records that it produces.
    pub(super) fn list_added(self, event: &Event, records: &Records) -> Result<Lines, Failure> {
        let import = match event {
            Event::Bootstrapped { import, .. } => import.as_deref(),
            _ => None,
        };
        match self {
            History::Slice => {
                let imported = import.map_or(&[][..], |import| &import.slice_history);
                write_lines(imported.iter().chain(&records.slice))
            }
            History::Stop => {
                let imported = import.map_or(&[][..], |import| &import.stop_history);
                write_lines(imported.iter().chain(&records.stop))
            }
            History::Brief => write_lines(records.brief.iter()),
        }
    }
}

/// Lines of a history.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) count: u64,
    pub(super) bytes: Arc<Vec<u8>>,
}

impl From<Vec<u8>> for Lines {
    fn from(bytes: Vec<u8>) -> Self {
        Self {
            count: bytes.iter().filter(|byte| **byte == b'\n').count() as u64,
            bytes: Arc::new(bytes),
        }
    }
}

/// Writes one line for each record.
fn write_lines<'r, T: Serialize + 'r>(
    records: impl Iterator<Item = &'r T>,
) -> Result<Lines, Failure> {
    let mut bytes = Vec::new();
    for record in records {
        serde_json::to_writer(&mut bytes, record).writing("a record")?;
        bytes.push(b'\n');
    }
    Ok(bytes.into())
}

/// Parses the lines of the histories.
pub(super) fn records(appended: [Vec<u8>; 3]) -> Result<Records, Failure> {
    let [slice, stop, brief] = appended;
    Ok(Records {
        slice: parse_lines::<SliceRecord>(&slice)?,
        stop: parse_lines::<StopRecord>(&stop)?,
        brief: parse_lines::<BriefRecord>(&brief)?,
    })
}

fn parse_lines<T: DeserializeOwned>(bytes: &[u8]) -> Result<Vec<T>, Failure> {
    bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).reading("a record"))
        .collect()
}

/// The extent of a history in the log up to one commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryDigest {
    /// Number of lines.
    pub records: u64,
    /// Bytes of the concatenation.
    pub bytes: u64,
    /// The digest chain: SHA-256 of the previous link (32 bytes) and the appended bytes; 64 zeros at the beginning.
    pub sha256: String,
    /// Only for the trail: the id of the last line that was taken in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
}

impl Default for HistoryDigest {
    fn default() -> Self {
        Self {
            records: 0,
            bytes: 0,
            sha256: "0".repeat(64),
            last: None,
        }
    }
}

impl HistoryDigest {
    /// Whether nothing was ever appended.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The next link; the same link if nothing is appended.
    pub(super) fn extend(&self, added: &Lines, last: Option<&str>) -> Result<Self, Failure> {
        if added.bytes.is_empty() {
            return Ok(self.clone());
        }
        let before = unhex(&self.sha256)
            .ok_or_else(|| refuse_malformed("a history's digest is not a SHA-256"))?;
        let mut hash = Sha256::new();
        hash.update(before);
        hash.update(added.bytes.as_slice());
        Ok(Self {
            records: self.records + added.count,
            bytes: self.bytes + added.bytes.len() as u64,
            sha256: hex(&hash.finalize()),
            last: last.map(str::to_owned),
        })
    }
}

/// `histories.json`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Histories {
    #[serde(rename = "slice-history")]
    pub(super) slice: HistoryDigest,
    #[serde(rename = "stop-check-history")]
    pub(super) stop: HistoryDigest,
    #[serde(
        rename = "brief-history",
        default,
        skip_serializing_if = "HistoryDigest::is_empty"
    )]
    pub(super) brief: HistoryDigest,
    /// The extent of the checkpoint trail in the log.
    #[serde(default, skip_serializing_if = "HistoryDigest::is_empty")]
    pub(super) checkpoints: HistoryDigest,
}

impl Histories {
    pub(super) fn of(&self, history: History) -> &HistoryDigest {
        match history {
            History::Slice => &self.slice,
            History::Stop => &self.stop,
            History::Brief => &self.brief,
        }
    }

    /// The extents after a commit that added these lines to the histories and took `taken` in from the trail; `last` is
    /// the id of the last of them.
    pub(super) fn extend(
        &self,
        added: &[Lines; 3],
        taken: &Lines,
        last: Option<&str>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            slice: self.slice.extend(&added[0], None)?,
            stop: self.stop.extend(&added[1], None)?,
            brief: self.brief.extend(&added[2], None)?,
            checkpoints: self.checkpoints.extend(taken, last)?,
        })
    }
}

/// `event.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventFile {
    pub(super) seq: u64,
    pub(super) actor: Actor,
    pub(super) rule: String,
    pub(super) subject: String,
    pub(super) lease_epoch: u64,
    pub(super) version: String,
    /// Identifies the process that wrote it, so that two equal decisions in the same second are two commits.
    pub(super) writer: String,
    pub(super) facts: Facts,
    #[serde(serialize_with = "without_imported_histories")]
    pub(super) event: Event,
}

impl EventFile {
    /// The message of its commit.
    pub(super) fn message(&self) -> String {
        message(&Meta {
            commit: String::new(),
            seq: self.seq,
            event: self.event.name().to_owned(),
            rule: self.rule.clone(),
            actor: self.actor.id().to_owned(),
            subject: self.subject.clone(),
            epoch_seconds: 0,
        })
    }
}

/// Omits imported histories, because they are the lines that the commit appends; [`Stand::event`] restores them.
fn without_imported_histories<S: serde::Serializer>(
    event: &Event,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut event = event.clone();
    if let Event::Bootstrapped {
        import: Some(import),
        ..
    } = &mut event
    {
        import.slice_history.clear();
        import.stop_history.clear();
    }
    event.serialize(serializer)
}

/// Pretty-printed JSON with keys in the order of the types and a final line feed.
pub(super) fn pretty<T: Serialize>(value: &T) -> Result<Vec<u8>, Failure> {
    let mut bytes = serde_json::to_vec_pretty(value).writing("a document")?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Writes the documents of successive snapshots as [`Document::text`] does, but reuses the text of slices and remarks
/// in plan and ledger that did not change.
#[derive(Default)]
pub(super) struct Writer {
    planned: Known<Shared<Slice>>,
    known: Known<Shared<SliceLedger>>,
    remarks: Known<Remark>,
}

/// The last written entries with their lines, by slice or position.
type Known<T> = BTreeMap<String, (T, Vec<u8>)>;

impl Writer {
    pub(super) fn text(
        &mut self,
        document: Document,
        of: &Snapshot,
    ) -> Result<Option<Vec<u8>>, Failure> {
        match document {
            Document::Plan => self.plan(&of.plan).map(Some),
            Document::Ledger => self.ledger(&of.ledger).map(Some),
            _ => document.text(of),
        }
    }

    fn plan(&mut self, plan: &Plan) -> Result<Vec<u8>, Failure> {
        let bare = Plan {
            candidate_slices: Vec::new(),
            ..plan.clone()
        };
        let slices = plan.candidate_slices.iter();
        let slices = slices.map(|slice| (slice.slice_id.clone(), slice));
        let place = ["\n  \"candidate_slices\": [", "]"];
        weave(
            pretty(&bare)?,
            place,
            slices,
            &mut self.planned,
            |_, slice, before| {
                let proved = before.and_then(|(known, lines)| prove_anew(known, lines, slice));
                proved.map_or_else(|| indent(&[slice], "\n  "), Ok)
            },
        )
    }

    fn ledger(&mut self, ledger: &Ledger) -> Result<Vec<u8>, Failure> {
        let mut bare = ledger.clone();
        let slices = std::mem::take(&mut bare.slices);
        // One remark is enough to have the key written; the ledger omits an empty list.
        bare.remarks.truncate(1);
        let mut text = pretty(&bare)?;
        if !bare.remarks.is_empty() {
            let remarks = ledger.remarks.iter().enumerate();
            let remarks = remarks.map(|(number, remark)| (number.to_string(), remark));
            let place = ["\n  \"remarks\": [", "]"];
            let known = &mut self.remarks;
            text = weave(text, place, remarks, known, |_, remark, _| {
                indent(&[remark], "\n  ")
            })?;
        }
        let slices = slices.iter().map(|(id, slice)| (id.clone(), slice));
        let place = ["\n  \"slices\": {", "}"];
        weave(text, place, slices, &mut self.known, |id, slice, _| {
            indent(&BTreeMap::from([(id, slice)]), "\n  ")
        })
    }
}

/// Replaces the entries of a top-level list or map of a document. The place is unambiguous, because no JSON string
/// contains a line feed. `write` makes the lines of an entry that changed.
fn weave<'d, T: Clone + PartialEq + 'd>(
    mut text: Vec<u8>,
    [begin, end]: [&str; 2],
    entries: impl Iterator<Item = (String, &'d T)>,
    known: &mut Known<T>,
    write: impl Fn(&str, &'d T, Option<&(T, Vec<u8>)>) -> Result<Vec<u8>, Failure>,
) -> Result<Vec<u8>, Failure> {
    let lacks = || refuse_malformed("a document lacks its slices");
    let at = memmem::find(&text, begin.as_bytes()).ok_or_else(lacks)? + begin.len();
    let mut rest = text.split_off(at);
    if !rest.starts_with(end.as_bytes()) {
        let end = memmem::find(&rest, format!("\n  {end}").as_bytes()).ok_or_else(lacks)?;
        rest.drain(..end + "\n  ".len());
    }
    let mut before = std::mem::take(known);
    for (number, (id, entry)) in entries.enumerate() {
        let kept = match before.remove(&id) {
            Some(kept) if kept.0 == *entry => kept,
            kept => (entry.clone(), write(&id, entry, kept.as_ref())?),
        };
        if number > 0 {
            text.push(b',');
        }
        text.extend_from_slice(&kept.1);
        known.insert(id, kept);
    }
    if !known.is_empty() {
        text.extend_from_slice(b"\n  ");
    }
    text.extend_from_slice(&rest);
    Ok(text)
}

/// The lines of a slice if only its evidence changed: each re-ground stamps that of every done slice.
fn prove_anew(known: &Slice, lines: &[u8], slice: &Slice) -> Option<Vec<u8>> {
    let place = b"\n      \"evidence\": [";
    let proved = Slice {
        evidence: slice.evidence.clone(),
        ..known.clone()
    };
    let is_same = proved == *slice && !known.evidence.is_empty() && !slice.evidence.is_empty();
    let at = memmem::find(lines, place).filter(|_| is_same)? + place.len();
    let end = at + memmem::find(&lines[at..], b"\n      ]")?;
    let evidence = indent(&slice.evidence, "\n      ").ok()?;
    Some([&lines[..at], &evidence, &lines[end..]].concat())
}

/// The lines of a list's or map's entries, indented for a place whose lines begin with `line_begin`.
fn indent(of: &impl Serialize, line_begin: &str) -> Result<Vec<u8>, Failure> {
    let text = serde_json::to_vec_pretty(of).writing("a document")?;
    let inside = text.strip_suffix(b"\n]").or(text.strip_suffix(b"\n}"));
    let mut lines = Vec::with_capacity(2 * text.len());
    for line in inside.unwrap_or(&text).split(|byte| *byte == b'\n').skip(1) {
        lines.extend_from_slice(line_begin.as_bytes());
        lines.extend_from_slice(line);
    }
    Ok(lines)
}

/// Parses one JSON file of the log.
pub(super) fn parse<T: DeserializeOwned>(name: &str, bytes: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(bytes).reading(name)
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    Some(bytes)
}

/// A commit of the log and its position in the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tip {
    /// Full id of the log commit.
    pub commit: String,
    /// Its sequence number: the number of transitions up to and including this one.
    pub seq: u64,
}

/// The data in the message of a log commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// Full id of the log commit.
    pub commit: String,
    /// Its sequence number.
    pub seq: u64,
    /// Name of the event.
    pub event: String,
    /// The rule under which it was accepted.
    pub rule: String,
    /// Who caused it: `user`, `script`, `role`, `runner`, `cook`.
    pub actor: String,
    /// The slice or mission that it concerns.
    pub subject: String,
    /// Time in seconds since 1970, UTC.
    pub epoch_seconds: i64,
}

/// The id of a blob with that content.
pub(super) fn blob_id(log: &Log, bytes: &[u8]) -> Result<Oid, Failure> {
    log.name(ObjectType::Blob, bytes)
}

/// A commit and its position in the chain.
pub(super) fn tip(log: &Log, id: Oid) -> Result<Tip, Failure> {
    let Meta { commit, seq, .. } = meta(log, id)?;
    Ok(Tip { commit, seq })
}

/// The data in the message of a commit.
pub(super) fn meta(log: &Log, id: Oid) -> Result<Meta, Failure> {
    require_meta(id, &log.commit(id)?)
}

/// Like [`meta`], for a commit that is read already.
pub(super) fn require_meta(id: Oid, commit: &Commit) -> Result<Meta, Failure> {
    read_meta(id, commit)
        .ok_or_else(|| unreadable(format!("log commit {id}"), "it has no trailers"))
}

/// Like [`require_meta`], but `None` if the commit is not one of cook's.
pub(super) fn read_meta(id: Oid, commit: &Commit) -> Option<Meta> {
    parse_message(id.to_string(), commit.epoch_seconds, &commit.message)
}

fn parse_message(commit: String, epoch_seconds: i64, message: &str) -> Option<Meta> {
    let trailer = |key: &str| {
        message
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))
    };
    let event = trailer("Cook-Event")?;
    let first = message.lines().next()?;
    Some(Meta {
        commit,
        epoch_seconds,
        subject: first
            .strip_prefix(event)
            .and_then(|rest| rest.strip_prefix(": "))
            .unwrap_or(first)
            .to_owned(),
        event: event.to_owned(),
        rule: trailer("Cook-Rule")?.to_owned(),
        actor: trailer("Cook-Actor")?.to_owned(),
        seq: trailer("Cook-Seq")?.parse().ok()?,
    })
}

/// The message that [`meta`] parses.
pub(super) fn message(meta: &Meta) -> String {
    format!(
        "{event}: {subject}\n\nCook-Event: {event}\nCook-Rule: {rule}\nCook-Actor: {actor}\nCook-Seq: {seq}\n",
        event = meta.event,
        subject = meta.subject,
        rule = meta.rule,
        actor = meta.actor,
        seq = meta.seq,
    )
}

pub(super) fn parent(log: &Log, id: Oid) -> Result<Option<Oid>, Failure> {
    Ok(log.commit(id)?.parents.first().copied())
}

/// A commit and its ancestors, newest first. Ends after an error.
pub(super) fn ancestry(log: &Log, tip: Option<Oid>) -> impl Iterator<Item = Result<Oid, Failure>> {
    let mut next = tip;
    std::iter::from_fn(move || {
        let id = next.take()?;
        Some(parent(log, id).map(|parent| {
            next = parent;
            id
        }))
    })
}

/// The commit that is `steps` before another one.
pub(super) fn back(log: &Log, tip: Option<Oid>, steps: u64) -> Result<Option<Oid>, Failure> {
    let mut found = None;
    let steps = usize::try_from(steps).unwrap_or(usize::MAX);
    for (number, commit) in ancestry(log, tip).enumerate().take(steps.saturating_add(1)) {
        found = Some(commit?).filter(|_| number == steps);
    }
    Ok(found)
}

/// Whether the chain of `later` contains `earlier` before it.
pub(super) fn comes_before(log: &Log, earlier: Oid, later: Oid) -> Result<bool, Failure> {
    let steps = meta(log, later)?
        .seq
        .saturating_sub(meta(log, earlier)?.seq);
    Ok(steps > 0 && back(log, Some(later), steps)? == Some(earlier))
}

/// The tree of one commit.
pub(super) struct Stand<'r> {
    log: &'r Log,
    pub(super) entries: Vec<TreeEntry>,
}

impl<'r> Stand<'r> {
    pub(super) fn at(log: &'r Log, commit: Oid) -> Result<Self, Failure> {
        Self::of(log, &log.commit(commit)?)
    }

    /// The tree of a commit that is read already.
    pub(super) fn of(log: &'r Log, commit: &Commit) -> Result<Self, Failure> {
        let entries = log.tree(commit.tree)?;
        Ok(Self { log, entries })
    }

    /// Fails if the format of this commit is not that of this build.
    pub(super) fn check_format(&self) -> Result<(), Failure> {
        let (found, ours) = (self.format()?, FORMAT);
        match found.cmp(&ours) {
            Ordering::Equal => Ok(()),
            Ordering::Greater => Err(Failure::state(
                Code::LogTooNew,
                format!("the log's format is {found}; this cook knows {ours}"),
            )),
            Ordering::Less => Err(Failure::state(
                Code::LogTooOld,
                format!(
                    "the log's format is {found}; this cook knows {ours} and reads no older one"
                ),
            )),
        }
    }

    pub(super) fn format(&self) -> Result<u32, Failure> {
        let bytes = self.file(FORMAT_FILE)?;
        String::from_utf8_lossy(&bytes)
            .trim_end()
            .parse()
            .reading("the log's format")
    }

    /// The blob of a file at the top of the tree.
    pub(super) fn blob(&self, name: &str) -> Option<Oid> {
        find(&self.entries, name)
    }

    /// A file at the top of the tree.
    pub(super) fn file(&self, name: &str) -> Result<Vec<u8>, Failure> {
        let id = self
            .blob(name)
            .ok_or_else(|| unreadable(name, "the log commit lacks it"))?;
        self.log.blob(id)
    }

    /// The entries of a folder; empty if there is no such folder.
    pub(super) fn folder(&self, name: &str) -> Result<Vec<TreeEntry>, Failure> {
        self.blob(name)
            .map_or(Ok(Vec::new()), |id| self.log.tree(id))
    }

    /// The receipts that the transition added.
    pub(super) fn receipts(&self) -> Result<Vec<Receipt>, Failure> {
        let kept = self.folder(RECEIPTS)?.into_iter();
        kept.map(|kept| parse(RECEIPTS, &self.log.blob(kept.id)?))
            .collect()
    }

    /// The blob with the lines that this commit added to a history.
    pub(super) fn find_appended(&self, history: History) -> Result<Option<Oid>, Failure> {
        Ok(find(&self.folder(APPENDED)?, history.file()))
    }

    pub(super) fn histories(&self) -> Result<Histories, Failure> {
        parse(HISTORIES, &self.file(HISTORIES)?)
    }

    /// The lines that this commit added to a history or the trail.
    pub(super) fn lines_added(&self, file: &str) -> Result<Vec<u8>, Failure> {
        find(&self.folder(APPENDED)?, file).map_or(Ok(Vec::new()), |blob| self.log.blob(blob))
    }

    /// The event, with its imported histories.
    pub(super) fn event(&self) -> Result<EventFile, Failure> {
        let mut file: EventFile = parse(EVENT, &self.file(EVENT)?)?;
        if let Event::Bootstrapped {
            import: Some(import),
            ..
        } = &mut file.event
        {
            import.slice_history = self.import_history(History::Slice)?;
            import.stop_history = self.import_history(History::Stop)?;
        }
        Ok(file)
    }

    fn import_history<T: DeserializeOwned>(&self, history: History) -> Result<Vec<T>, Failure> {
        let file = history.file();
        parse_lines(&self.lines_added(file)?).map_err(|_| {
            let what = format!("`{APPENDED}/{file}` in the log holds a line that is not a record");
            Failure::state(Code::LogNotDerivable, what)
        })
    }

    /// The documents. An older format is refused; for a newer one that cannot be read, the error says that it is newer.
    pub(super) fn snapshot(&self) -> Result<Snapshot, Failure> {
        let format = match self.check_format() {
            Err(older) if older.code == Code::LogTooOld => return Err(older),
            format => format,
        };
        self.read_snapshot()
            .map_err(|error| format.err().unwrap_or(error))
    }

    fn read_snapshot(&self) -> Result<Snapshot, Failure> {
        let mission = Document::Mission.file();
        let brief = self.blob(Document::Brief.file());
        Ok(Snapshot {
            brief: brief.map(|_| self.document(Document::Brief)).transpose()?,
            mission: String::from_utf8(self.file(mission)?).reading(mission)?,
            profile: self.document(Document::Profile)?,
            state: self.document(Document::State)?,
            plan: self.document(Document::Plan)?,
            active: self.document(Document::Active)?,
            evidence: self.document(Document::Evidence)?,
            ledger: self.document(Document::Ledger)?,
            counters: self.document(Document::Counters)?,
            undone: self.document(Document::Undone)?,
        })
    }

    /// One document of the commit.
    pub(super) fn document<T: DeserializeOwned>(&self, document: Document) -> Result<T, Failure> {
        parse(document.file(), &self.file(document.file())?)
    }
}

pub(super) fn find(entries: &[TreeEntry], name: &str) -> Option<Oid> {
    entries
        .iter()
        .find(|entry| entry.name == name)
        .map(|entry| entry.id)
}

/// The blobs of a history from byte `from` on, oldest first, found by walking back from `tip`. The number is the offset
/// of `from` in the first of them.
pub(super) fn segments(
    log: &Log,
    tip: Oid,
    history: History,
    from: u64,
) -> Result<(Vec<Oid>, u64), Failure> {
    let mut blobs = Vec::new();
    let mut skip = 0;
    let mut known: Option<(Oid, u64)> = None;
    let mut next = Some(tip);
    while let Some(id) = next {
        let commit = log.commit(id)?;
        next = commit.parents.first().copied();
        let stand = Stand::of(log, &commit)?;
        let file = stand
            .blob(HISTORIES)
            .ok_or_else(|| unreadable(HISTORIES, "the log commit lacks it"))?;
        let bytes = match known {
            Some((seen, bytes)) if seen == file => bytes,
            _ => stand.histories()?.of(history).bytes,
        };
        known = Some((file, bytes));
        if bytes <= from {
            skip = from - bytes;
            break;
        }
        if let Some(blob) = stand.find_appended(history)? {
            blobs.push(blob);
        }
    }
    blobs.reverse();
    Ok((blobs, skip))
}

/// The tests that transitions keep, collected in one walk back through the log.
#[derive(Default)]
pub(super) struct KeptTests {
    /// The commit at which the walk began.
    tip: Option<Oid>,
    /// The commit at which it continues.
    next: Option<Oid>,
    /// Blobs by name; several transitions may hold the name, one of them damaged.
    blobs: BTreeMap<String, Vec<Oid>>,
}

impl KeptTests {
    /// Starts again if the tip has moved.
    pub(super) fn begin_at(&mut self, tip: Option<Oid>) {
        if self.tip != tip {
            *self = Self {
                tip,
                next: tip,
                blobs: BTreeMap::new(),
            };
        }
    }

    /// The blobs of that name found so far.
    pub(super) fn list(&self, name: &str) -> &[Oid] {
        self.blobs.get(name).map_or(&[], Vec::as_slice)
    }

    /// Examines one more transition; false if there are no more.
    pub(super) fn go_on(&mut self, log: &Log) -> Result<bool, Failure> {
        let Some(commit) = self.next else {
            return Ok(false);
        };
        let read = log.commit(commit)?;
        for kept in Stand::of(log, &read)?.folder(TESTS)? {
            self.blobs.entry(kept.name).or_default().push(kept.id);
        }
        self.next = read.parents.first().copied();
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cook_protocol::model::Evidence;

    #[test]
    fn plans_and_ledgers_are_written_as_any_other_document() {
        let slice = |id: &str, notes: &[&str]| {
            Shared::from(Slice {
                slice_id: id.to_owned(),
                goal: "two\nlines [] {}\n  \"slices\": {}".to_owned(),
                locked_notes: Some(notes.iter().map(|note| (*note).to_owned()).collect()),
                evidence: (1..notes.len())
                    .map(|number| Evidence::Text(format!("]{}\n      ]", notes[number])))
                    .collect(),
                ..Slice::default()
            })
        };
        let proved = |id: &str, evidence: &[&str]| {
            let mut slice = slice(id, &["x"]);
            let evidence = evidence
                .iter()
                .map(|text| Evidence::Text((*text).to_owned()));
            slice.evidence = evidence.collect();
            slice
        };
        let mut writer = Writer::default();
        let mut plan = Plan {
            plan_basis: "[]\n}\n  \"candidate_slices\": []".to_owned(),
            ..Plan::default()
        };
        let mut ledger = Ledger {
            branch: Some("\n  \"slices\": {}".to_owned()),
            ..Ledger::default()
        };
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        for slices in [
            vec![],
            vec![slice("a", &["x"])],
            vec![slice("a", &["x"]), slice("b", &[])],
            vec![slice("a", &["x", "y"]), slice("b", &[])],
            vec![slice("b", &[]), slice("c", &[]), slice("a", &[])],
            vec![slice("c", &[])],
            vec![slice("c", &[]), slice("c", &["z"])],
            vec![proved("c", &[]), proved("d", &["one"])],
            vec![proved("c", &["two"]), proved("d", &["two", "three"])],
            vec![proved("c", &[]), proved("d", &["four"])],
            vec![slice("c", &["x", "y"]), slice("d", &["z"])],
            vec![],
        ] {
            let known = slices.iter().map(|slice| {
                let known = SliceLedger {
                    claimed: slice.locked_notes.clone().unwrap(),
                    ..SliceLedger::default()
                };
                (slice.slice_id.clone(), known.into())
            });
            ledger.slices = known.collect();
            let remarks = slices.iter().map(|slice| Remark {
                slice_id: slice.slice_id.clone(),
                code: "]".to_owned(),
                what: "\n  \"remarks\": []\n  ]".to_owned(),
            });
            ledger.remarks = remarks.collect();
            plan.candidate_slices = slices;
            let written = [writer.plan(&plan), writer.ledger(&ledger)];
            let whole = [pretty(&plan), pretty(&ledger)];
            assert_eq!(
                written.map(|it| text(it.unwrap())),
                whole.map(|it| text(it.unwrap()))
            );
        }
    }

    #[test]
    fn a_message_reads_back() {
        let meta = Meta {
            commit: String::new(),
            seq: 7,
            event: "reviewed".to_owned(),
            rule: "5".to_owned(),
            actor: "role".to_owned(),
            subject: "a-slice: with colons".to_owned(),
            epoch_seconds: 0,
        };
        let parsed = parse_message(String::new(), 0, &message(&meta));
        assert_eq!(parsed, Some(meta));
    }

    #[test]
    fn a_subject_cannot_forge_a_trailer() {
        // Subjects are one line, so a trailer in one is never a line of its own.
        let meta = parse_message(
            String::new(),
            0,
            "reviewed: Cook-Seq: 99\n\nCook-Event: reviewed\nCook-Rule: 5\nCook-Actor: role\nCook-Seq: 7\n",
        )
        .unwrap();
        assert_eq!(meta.seq, 7);
    }
}
