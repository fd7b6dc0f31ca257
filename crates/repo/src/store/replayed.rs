//! Replay: runs the recorded events again and compares what comes out with what
//! the log holds, oldest first. A tree that its event does not produce is the
//! finding `log_not_derivable`.

use super::error::unknown_name;
use super::log_format::{
    self, APPENDED, Document, EVENT, EXCHANGES, EventFile, FORMAT, FORMAT_FILE, HISTORIES,
    Histories, History, Lines, Meta, RECEIPTS, Stand, TESTS, TRAIL,
};
use super::odb::{self, Log, TreeEntry};
use super::transitions::{actor_word, is_writer_name, take_signature};
use super::view::{Difference, is_history};
use super::{Store, checkpoints};
use cook_protocol::diagnostic::{Code, Failure, Finding};
use cook_protocol::digest::sha256;
use cook_protocol::machine::Facts;
use cook_protocol::model::{Actor, Event, Receipt, Records, Snapshot};
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
    ) -> Result<ReplayReport, Failure> {
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
    ) -> Result<ReplayReport, Failure> {
        let mut report = ReplayReport::default();
        let known = match known {
            Some(name) => Some(self.read(|log| log.oid(name).ok_or_else(|| unknown_name(name)))?),
            None => None,
        };
        let (mut state, chain) = self.read(|log| {
            let chain = list_chain_after(log, self.tip_id(log)?, known)?;
            let state = known.map_or(Ok(Replay::default()), |known| Replay::at(log, known))?;
            Ok((state, chain))
        })?;
        for commit in chain {
            let seq = state.seq + 1;
            let stop = |what: &str| {
                let what = format!("transition {seq} ({commit}): {what}");
                Finding::new(Code::LogNotDerivable, what).at(format!("transition {seq}"))
            };
            let step = match self.read(|log| Step::read(log, commit)) {
                Err(error) if error.code == Code::LogNotDerivable => {
                    report.findings.push(stop(&error.message));
                    return Ok(report);
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
                    report.findings.push(stop(&what));
                    return Ok(report);
                }
            };
            let added = History::each(|history| history.list_added(event, &produced.records))?;
            let last = checkpoints::last_id(&step.trail.bytes);
            let histories = state
                .histories
                .extend(&added, &step.trail, last.as_deref())?;
            let differs =
                self.read(|log| state.compare(log, &step, &produced, &added, &histories))?;
            if let Some(what) = differs {
                report.findings.push(stop(&what));
                return Ok(report);
            }
            report.records += added.iter().map(|added| added.count).sum::<u64>();
            report.transitions += 1;
            state = Replay {
                seq,
                commit: Some(commit),
                snapshot: Some(produced.snapshot),
                histories,
                entries: step.entries,
            };
        }
        Ok(report)
    }
}

impl Store {
    /// Every receipt that transitions brought, by its id.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn receipts(&self) -> Result<BTreeMap<String, Receipt>, Failure> {
        let mut receipts = BTreeMap::new();
        for commit in self.read(|log| chain(log, self.tip_id(log)?))? {
            let brought = self.read(|log| {
                let kept = Stand::at(log, commit)?.folder(RECEIPTS)?.into_iter();
                kept.map(|kept| log_format::parse::<Receipt>(RECEIPTS, &log.blob(kept.id)?))
                    .collect::<Result<Vec<Receipt>, Failure>>()
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
    pub fn read_kept_tests(&self, id: &str) -> Result<Option<Vec<u8>>, Failure> {
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

/// Commits of the chain, oldest first.
pub(super) fn chain(log: &Log, tip: Option<Oid>) -> Result<Vec<Oid>, Failure> {
    list_chain_after(log, tip, None)
}

/// The same after one of them, which must be there.
fn list_chain_after(log: &Log, tip: Option<Oid>, known: Option<Oid>) -> Result<Vec<Oid>, Failure> {
    let mut commits = Vec::new();
    let mut is_known = known.is_none();
    for commit in log_format::ancestry(log, tip) {
        let commit = commit?;
        if Some(commit) == known {
            is_known = true;
            break;
        }
        commits.push(commit);
    }
    commits.reverse();
    match known {
        Some(known) if !is_known => Err(unknown_name(&known.to_string())),
        _ => Ok(commits),
    }
}

/// One commit as the log holds it.
struct Step {
    file: EventFile,
    tree: Oid,
    entries: Vec<TreeEntry>,
    /// Its text, without a signature.
    text: Vec<u8>,
    /// Checkpoints it took in: given, not derived.
    trail: Lines,
}

impl Step {
    fn read(log: &Log, commit: Oid) -> Result<Self, Failure> {
        let bytes = log.read_as(commit, ObjectType::Commit)?;
        let read = log.decode_commit(commit, &bytes)?;
        let stand = Stand::of(log, &read)?;
        stand.check_format()?;
        Ok(Self {
            file: stand.event()?,
            tree: read.tree,
            trail: stand.lines_added(TRAIL)?.into(),
            entries: stand.entries,
            text: take_signature(&bytes).map_or(bytes, |signed| signed.payload),
        })
    }

    fn find(&self, name: &str) -> Option<&TreeEntry> {
        self.entries.iter().find(|entry| entry.name == name)
    }
}

/// What replay has so far.
#[derive(Default)]
struct Replay {
    seq: u64,
    commit: Option<Oid>,
    snapshot: Option<Snapshot>,
    histories: Histories,
    entries: Vec<TreeEntry>,
}

impl Replay {
    /// Where a transition left off.
    fn at(log: &Log, commit: Oid) -> Result<Self, Failure> {
        let stand = Stand::at(log, commit)?;
        Ok(Self {
            seq: log_format::meta(log, commit)?.seq,
            commit: Some(commit),
            snapshot: Some(stand.snapshot()?),
            histories: stand.histories()?,
            entries: stand.entries,
        })
    }

    /// Says what differs from the commit that cook would write, if anything.
    fn compare(
        &self,
        log: &Log,
        step: &Step,
        produced: &Replayed,
        added: &[Lines; 3],
        histories: &Histories,
    ) -> Result<Option<String>, Failure> {
        let file = &step.file;
        let seq = self.seq + 1;
        let time = OffsetDateTime::parse(&file.facts.now, &Rfc3339);
        let checks = [
            (file.seq == seq, "its number"),
            (is_writer_name(&file.writer), "its writer"),
            (file.rule == produced.rule, "its rule"),
            (time.is_ok(), "its time"),
        ];
        if let Some((_, what)) = checks.iter().find(|(right, _)| !right) {
            return Ok(Some(format!("{what} is not what its event produces")));
        }
        let expected = self.expect(log, step, &produced.snapshot, added, histories)?;
        for entry in &step.entries {
            match expected.iter().find(|one| one.name == entry.name) {
                Some(one) if one == entry => {}
                Some(_) => return Ok(Some(differs(&entry.name))),
                None => {
                    let name = entry.name.escape_debug();
                    return Ok(Some(format!("`{name}` has no place in the format")));
                }
            }
        }
        let lacks = |one: &&TreeEntry| step.find(&one.name).is_none();
        if let Some(one) = expected.iter().find(lacks) {
            return Ok(Some(differs(&one.name)));
        }
        if log.name(ObjectType::Tree, &odb::tree_bytes(expected))? != step.tree {
            return Ok(Some("its tree is not what its event produces".to_owned()));
        }
        let epoch_seconds = time.map_or(0, OffsetDateTime::unix_timestamp);
        let message = log_format::message(&Meta {
            commit: String::new(),
            seq,
            event: file.event.name().to_owned(),
            rule: file.rule.clone(),
            actor: actor_word(file.actor).to_owned(),
            subject: file.subject.clone(),
            epoch_seconds,
        });
        let text = odb::commit_text(step.tree, self.commit, epoch_seconds, &message);
        let is_right = step.text == text.as_bytes();
        Ok((!is_right)
            .then(|| "its author, committer or message is not what its event produces".to_owned()))
    }

    /// The entries of the tree that cook would write. What an event is and what was said in its session are given.
    fn expect(
        &self,
        log: &Log,
        step: &Step,
        after: &Snapshot,
        added: &[Lines; 3],
        histories: &Histories,
    ) -> Result<Vec<TreeEntry>, Failure> {
        let file = |name: &str, id: Oid| TreeEntry {
            mode: odb::FILE,
            name: name.to_owned(),
            id,
        };
        let blob = |bytes: &[u8]| log_format::blob_id(log, bytes);
        let mut all = vec![
            file(FORMAT_FILE, blob(format!("{FORMAT}\n").as_bytes())?),
            file(HISTORIES, blob(&log_format::pretty(histories)?)?),
        ];
        all.extend(step.find(EVENT).map(|entry| file(EVENT, entry.id)));
        for document in Document::ALL {
            let name = document.file();
            let id = match &self.snapshot {
                // A document that the event left alone keeps its blob, so it need not be written out.
                Some(before) if document.same(before, after) => {
                    log_format::find(&self.entries, name)
                }
                _ => document.text(after)?.map(|text| blob(&text)).transpose()?,
            };
            all.extend(id.map(|id| file(name, id)));
        }
        let names = History::ALL.map(History::file).into_iter().chain([TRAIL]);
        let mut appended = Vec::new();
        for (name, lines) in names.zip(added.iter().chain([&step.trail])) {
            if !lines.bytes.is_empty() {
                appended.push(file(name, blob(&lines.bytes)?));
            }
        }
        let mut receipts = BTreeMap::new();
        for receipt in step.file.facts.receipts() {
            let text = log_format::pretty(receipt)?;
            receipts.insert(format!("{}.json", receipt.id), blob(&text)?);
        }
        let receipts = receipts.iter().map(|(name, id)| file(name, *id)).collect();
        let mut tests = Vec::new();
        if let Some(folder) = step.find(TESTS) {
            for kept in log.tree(folder.id)? {
                let name = format!("{}.json", sha256(log.blob(kept.id)?));
                tests.push(file(&name, kept.id));
            }
        }
        let said = match step.find(EXCHANGES) {
            Some(folder) => log.tree(folder.id)?,
            None => Vec::new(),
        };
        let said = said.iter().map(|one| file(&one.name, one.id)).collect();
        for (name, files) in [
            (APPENDED, appended),
            (EXCHANGES, said),
            (RECEIPTS, receipts),
            (TESTS, tests),
        ] {
            if !files.is_empty() {
                all.push(TreeEntry {
                    mode: odb::FOLDER,
                    name: name.to_owned(),
                    id: log.name(ObjectType::Tree, &odb::tree_bytes(files))?,
                });
            }
        }
        Ok(all)
    }
}

fn differs(name: &str) -> String {
    format!("`{name}` is not what its event produces")
}
