//! Replay: runs the recorded events again and compares what comes out with what
//! the log holds, oldest first. A tree that its event does not produce is the
//! finding `log_not_derivable`.

use super::Store;
use super::difference::{Difference, is_history};
use super::error::StoreError;
use super::log::{self, Log, TreeEntry};
use super::objects::{self, Stand};
use super::seal::take_signature;
use super::trail;
use super::tree::{
    self, APPENDED, Document, EVENT, EXCHANGES, EventFile, FORMAT, FORMAT_FILE, HISTORIES,
    Histories, History, Lines, RECEIPTS, TESTS, TRAIL,
};
use cook_core::diagnostic::{Code, Finding};
use cook_core::digest::sha256;
use cook_core::machine::Facts;
use cook_core::model::{Actor, Event, Receipt, Records, Snapshot};
use git2::{ObjectType, Oid};
use std::collections::BTreeMap;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// What an event produced when it was run again.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// The documents after it.
    pub snapshot: Snapshot,
    /// What it appends.
    pub records: Records,
    /// The rule it is taken under.
    pub rule: String,
}

/// What replay found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReplayReport {
    /// Transitions that were run again and are as the log has them.
    pub transitions: u64,
    /// Records they produced.
    pub records: u64,
    /// `log_not_derivable` for the first transition that differs (nothing after
    /// it is looked at); `history_forged` or `history_torn` for a history file
    /// in `.agent/` that is not the log's.
    pub findings: Vec<Finding>,
}

impl Store {
    /// Runs `apply` over the chain. It gets the documents before (none at
    /// first), the event, its facts and who caused it, and says why when the event
    /// is not accepted.
    pub fn replay(
        &self,
        apply: impl FnMut(Option<&Snapshot>, &Event, &Facts, Actor) -> Result<Replayed, String>,
    ) -> Result<ReplayReport, StoreError> {
        let mut report = self.replay_after(None, apply)?;
        if report.findings.is_empty() && self.view_status()? == super::ViewStatus::Current {
            let edits = self.find_differences_by_content()?;
            let histories = edits.iter().filter(|edit| is_history(&edit.file));
            report.findings.extend(histories.map(Difference::finding));
        }
        Ok(report)
    }

    /// The same without the view, of the transitions after one that is known to hold.
    ///
    /// # Errors
    /// A log that cannot be read, or does not hold that transition.
    pub fn replay_after(
        &self,
        known: Option<&str>,
        mut apply: impl FnMut(Option<&Snapshot>, &Event, &Facts, Actor) -> Result<Replayed, String>,
    ) -> Result<ReplayReport, StoreError> {
        let mut report = ReplayReport::default();
        let (mut state, chain, mut seq) = self.read(|log| match known {
            None => Ok((Replay::default(), chain(log, self.tip_id(log)?)?, 0)),
            Some(name) => {
                let known = log.oid(name).ok_or_else(|| StoreError::unknown(name))?;
                let after = list_chain_after(log, self.tip_id(log)?, known)?;
                Ok((
                    Replay::at(log, known)?,
                    after,
                    objects::meta(log, known)?.seq,
                ))
            }
        })?;
        for commit in chain {
            seq += 1;
            let step = match self.read(|log| read_step(log, commit)) {
                Err(error @ StoreError::NoRecord { .. }) => {
                    return Ok(stop_at(report, commit, seq, &error.to_string()));
                }
                step => step?,
            };
            let EventFile {
                event,
                facts,
                actor,
                ..
            } = &step.file;
            let produced = match apply(state.snapshot.as_ref(), event, facts, *actor) {
                Ok(produced) => produced,
                Err(why) => {
                    let what = format!("its event is not accepted: {why}");
                    return Ok(stop_at(report, commit, seq, &what));
                }
            };
            let added = History::each(|history| history.list_added(event, &produced.records))?;
            let histories = state.extend(&added, &step.trail)?;
            let differs =
                self.read(|log| state.compare(log, &step, &produced, &added, &histories, seq))?;
            if let Some(what) = differs {
                return Ok(stop_at(report, commit, seq, &what));
            }
            for added in &added {
                report.records += added.count;
            }
            state = Replay {
                snapshot: Some(produced.snapshot),
                histories,
                blobs: step.blobs,
            };
            report.transitions += 1;
        }
        Ok(report)
    }
}

impl Store {
    /// Every receipt that transitions brought, by its id.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn receipts(&self) -> Result<BTreeMap<String, Receipt>, StoreError> {
        let mut receipts = BTreeMap::new();
        for commit in self.read(|log| chain(log, self.tip_id(log)?))? {
            let brought = self.read(|log| {
                let kept = Stand::at(log, commit)?.folder(RECEIPTS)?.into_iter();
                kept.map(|kept| tree::parse::<Receipt>(RECEIPTS, &log.blob(kept.id)?))
                    .collect::<Result<Vec<Receipt>, StoreError>>()
            })?;
            receipts.extend(brought.into_iter().map(|one| (one.id.clone(), one)));
        }
        Ok(receipts)
    }
}

impl Store {
    /// Tests that a transition brought, by their digest; none where no transition did.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn read_kept_tests(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let name = format!("{id}.json");
        for commit in self.read(|log| chain(log, self.tip_id(log)?))? {
            let found = self.read(|log| {
                let mut kept = Stand::at(log, commit)?.folder(TESTS)?.into_iter();
                let found = kept.find(|kept| kept.name == name);
                found.map(|kept| log.blob(kept.id)).transpose()
            })?;
            if let Some(bytes) = found.filter(|bytes| sha256(bytes) == id) {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }
}

fn stop_at(mut report: ReplayReport, commit: Oid, seq: u64, what: &str) -> ReplayReport {
    report.findings.push(
        Finding::new(
            Code::LogNotDerivable,
            format!("transition {seq} ({commit}): {what}"),
        )
        .at(format!("transition {seq}")),
    );
    report
}

/// Commits of the chain, oldest first.
pub(super) fn chain(log: &Log, tip: Option<Oid>) -> Result<Vec<Oid>, StoreError> {
    let mut commits: Vec<Oid> = objects::ancestry(log, tip).collect::<Result<_, _>>()?;
    commits.reverse();
    Ok(commits)
}

/// The same after one of them, which must be there.
fn list_chain_after(log: &Log, tip: Option<Oid>, known: Oid) -> Result<Vec<Oid>, StoreError> {
    let mut commits = Vec::new();
    for commit in objects::ancestry(log, tip) {
        let commit = commit?;
        if commit == known {
            commits.reverse();
            return Ok(commits);
        }
        commits.push(commit);
    }
    Err(StoreError::unknown(&known.to_string()))
}

/// One commit as the log holds it.
struct Recorded {
    file: EventFile,
    meta: objects::Meta,
    parents: usize,
    /// Author, committer and message are those that cook writes.
    is_plain: bool,
    /// In the order of [`Document::ALL`].
    blobs: Vec<Option<Oid>>,
    histories: Option<Oid>,
    appended: [Option<Oid>; 3],
    format: Option<Oid>,
    /// Checkpoints it took in: given, not derived.
    trail: Lines,
    /// The receipts it brought, by file name.
    tests: Vec<TreeEntry>,
    receipts: Vec<(String, Oid)>,
    /// Names in the tree that no part of the format explains.
    strange: Vec<String>,
}

fn read_step(log: &Log, commit: Oid) -> Result<Recorded, StoreError> {
    let bytes = log.read_as(commit, ObjectType::Commit)?;
    let read = log.decode_commit(commit, &bytes)?;
    let stand = Stand::of(log, &read)?;
    stand.check_format()?;
    let known = |name: &str| {
        [
            EVENT,
            FORMAT_FILE,
            HISTORIES,
            APPENDED,
            RECEIPTS,
            EXCHANGES,
            TESTS,
        ]
        .contains(&name)
            || Document::ALL.iter().any(|document| document.file() == name)
    };
    let mut strange: Vec<String> = stand
        .entries
        .iter()
        .map(|entry| entry.name.clone())
        .filter(|name| !known(name))
        .collect();
    let history = |name: &str| name == TRAIL || History::ALL.iter().any(|h| h.file() == name);
    let folder = stand.folder(APPENDED)?;
    let names = folder.iter().map(|entry| entry.name.clone());
    strange.extend(names.filter(|name| !history(name)));
    let appended = |file: &str| objects::find(&folder, file);
    let taken = appended(TRAIL).map_or(Ok(Vec::new()), |blob| log.blob(blob))?;
    let meta = objects::read_meta(commit, &read).ok_or_else(|| {
        StoreError::unreadable(format!("log commit {commit}"), "it has no trailers")
    })?;
    let written = log::commit_text(
        read.tree,
        read.parents.first().copied(),
        read.epoch_seconds,
        &objects::message(&meta),
    );
    let unsigned = take_signature(&bytes).map_or(bytes, |signed| signed.payload);
    Ok(Recorded {
        file: stand.event()?,
        meta,
        parents: read.parents.len(),
        is_plain: unsigned == written.as_bytes(),
        blobs: document_blobs(&stand),
        histories: stand.blob(HISTORIES),
        appended: History::ALL.map(|history| appended(history.file())),
        format: stand.blob(FORMAT_FILE),
        trail: taken.into(),
        tests: stand.folder(TESTS)?,
        receipts: stand
            .folder(RECEIPTS)?
            .into_iter()
            .map(|entry| (entry.name, entry.id))
            .collect(),
        strange,
    })
}

fn document_blobs(stand: &Stand<'_>) -> Vec<Option<Oid>> {
    let blob = |document: &Document| stand.blob(document.file());
    Document::ALL.iter().map(blob).collect()
}

/// What replay has so far.
#[derive(Default)]
struct Replay {
    snapshot: Option<Snapshot>,
    histories: Histories,
    blobs: Vec<Option<Oid>>,
}

impl Replay {
    /// Where a transition left off.
    fn at(log: &Log, commit: Oid) -> Result<Self, StoreError> {
        let stand = Stand::at(log, commit)?;
        Ok(Self {
            snapshot: Some(stand.snapshot()?),
            histories: stand.histories()?,
            blobs: document_blobs(&stand),
        })
    }

    /// Says what differs, if anything.
    fn compare(
        &self,
        log: &Log,
        step: &Recorded,
        produced: &Replayed,
        added: &[Lines; 3],
        histories: &Histories,
        seq: u64,
    ) -> Result<Option<String>, StoreError> {
        if let Some(what) = message_differs(step, produced, seq) {
            return Ok(Some(what));
        }
        if step.format != Some(objects::blob_id(log, format!("{FORMAT}\n").as_bytes())?) {
            return Ok(Some(format!("`{FORMAT_FILE}` is not {FORMAT}")));
        }
        for (index, document) in Document::ALL.into_iter().enumerate() {
            if !self.document_is(log, index, document, step, &produced.snapshot)? {
                return Ok(Some(differs(document.file())));
            }
        }
        for (index, history) in History::ALL.into_iter().enumerate() {
            if !is_appended(log, step.appended[index], &added[index].bytes)? {
                return Ok(Some(differs(&format!("{APPENDED}/{}", history.file()))));
            }
        }
        let id = objects::blob_id(log, &tree::pretty(histories)?)?;
        if step.histories != Some(id) {
            return Ok(Some(differs(HISTORIES)));
        }
        for kept in &step.tests {
            if kept.name != format!("{}.json", sha256(log.blob(kept.id)?)) {
                return Ok(Some(differs(&format!("{TESTS}/{}", kept.name))));
            }
        }
        let mut held = Vec::new();
        for receipt in step.file.facts.receipts() {
            let id = objects::blob_id(log, &tree::pretty(receipt)?)?;
            held.push((format!("{}.json", receipt.id), id));
        }
        held.sort();
        Ok((held != step.receipts).then(|| format!("`{RECEIPTS}/` is not what its facts hold")))
    }

    /// A document that the event left alone keeps its blob, so it need not be written out.
    fn document_is(
        &self,
        log: &Log,
        index: usize,
        document: Document,
        step: &Recorded,
        after: &Snapshot,
    ) -> Result<bool, StoreError> {
        if let Some(before) = &self.snapshot
            && document.same(before, after)
        {
            return Ok(self.blobs.get(index) == Some(&step.blobs[index]));
        }
        let text = document.text(after)?;
        let id = text.map(|text| objects::blob_id(log, &text)).transpose()?;
        Ok(step.blobs[index] == id)
    }

    fn extend(&self, added: &[Lines; 3], taken: &Lines) -> Result<Histories, StoreError> {
        let last = trail::last_id(&taken.bytes);
        self.histories.extend(added, taken, last.as_deref())
    }
}

fn differs(name: &str) -> String {
    format!("`{name}` is not what its event produces")
}

fn is_appended(log: &Log, blob: Option<Oid>, bytes: &[u8]) -> Result<bool, StoreError> {
    match blob {
        None => Ok(bytes.is_empty()),
        Some(_) if bytes.is_empty() => Ok(false),
        Some(id) => Ok(id == objects::blob_id(log, bytes)?),
    }
}

/// The message, the place in the chain, and what `event.json` says about itself.
fn message_differs(step: &Recorded, produced: &Replayed, seq: u64) -> Option<String> {
    let Recorded { file, meta, .. } = step;
    let time = OffsetDateTime::parse(&file.facts.now, &Rfc3339).map(OffsetDateTime::unix_timestamp);
    let checks = [
        (file.seq == seq && meta.seq == seq, "its number"),
        (super::writer::is_name(&file.writer), "its writer"),
        (step.parents == usize::from(seq > 1), "its parents"),
        (meta.event == file.event.name(), "its event's name"),
        (
            meta.rule == file.rule && file.rule == produced.rule,
            "its rule",
        ),
        (
            meta.actor == super::encode::actor_word(file.actor),
            "its actor",
        ),
        (meta.subject == file.subject, "its subject"),
        (time.ok() == Some(meta.epoch_seconds), "its time"),
        (step.is_plain, "its author, committer or message"),
    ];
    if let Some((_, what)) = checks.iter().find(|(right, _)| !right) {
        return Some(format!("{what} is not what its event produces"));
    }
    step.strange
        .first()
        .map(|name| format!("`{name}` has no place in the format"))
}
