//! Transitions: the checks that need no other transition, the tree and commit text that a writer writes, and signatures
//! in the commit header, where git puts its own.
//!
//! Each transition names the process that wrote it. Otherwise two machines that take the same decision in the same
//! second would write the same commit, and git would tell both that their push was the first.
//!
//! Replay runs the recorded events again, oldest first, and compares the results with the log. A tree that its event
//! does not produce is the finding `log_not_derivable`.

use super::Store;
use super::checkpoints::{self, Intake};
use super::error::{During, refuse_malformed, unknown_name};
use super::log_format::{
    self, APPENDED, Document, EVENT, EXCHANGES, EventFile, FORMAT, FORMAT_FILE, HISTORIES,
    Histories, History, Lines, RECEIPTS, Stand, TESTS, TRAIL, Tip, Writer,
};
use super::odb::{self, Log, TreeEntry};
use super::view::{Difference, is_history};
use crate::clock::value_for_tests;
use cook_protocol::diagnostic::{Code, Failure, Finding};
use cook_protocol::digest::{hex, sha256};
use cook_protocol::machine::Facts;
use cook_protocol::model::{
    Actor, Citation, CitedExchange, Event, Receipt, Records, Said, Snapshot,
};
use git2::{ObjectType, Oid};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The content of one log commit, as `apply` returned it.
#[derive(Debug, Clone)]
pub struct Transition {
    /// The tip that `snapshot` follows; `None` for the first transition.
    pub parent: Option<Tip>,
    /// The event.
    pub event: Event,
    /// The facts by which it was judged; `facts.now` is the commit's time.
    pub facts: Facts,
    /// Who caused it.
    pub actor: Actor,
    /// The rule under which it was accepted: one short word.
    pub rule: String,
    /// The slice or mission that it concerns, for the message.
    pub subject: String,
    /// The documents after it, with sequence number and revisions set.
    pub snapshot: Snapshot,
    /// The records that it appends to the histories.
    pub records: Records,
    /// The receipts that it adds.
    pub receipts: Vec<Receipt>,
    /// The exchanges of the session from which its report was taken.
    pub exchanges: Vec<CitedExchange>,
    /// Tests on which proofs rest for the first time, by their digest.
    pub tests: Vec<(String, Vec<u8>)>,
    /// Epoch of the writer's lease.
    pub lease_epoch: u64,
    /// Whether files edited outside cook are set aside and the log's version is restored (re-ground, adopt, restore,
    /// repair). Otherwise they stay as they are.
    pub displace: bool,
}

/// Checks of a transition that need nothing else. Returns its time.
pub(super) fn check_transition(transition: &Transition) -> Result<i64, Failure> {
    let seq = transition.parent.as_ref().map_or(0, |tip| tip.seq) + 1;
    let snapshot = &transition.snapshot;
    let numbers = [
        ("ledger.seq", Some(snapshot.ledger.seq)),
        ("state.revision", snapshot.state.revision),
        ("active.revision", snapshot.active.revision),
    ];
    for (name, found) in numbers {
        if found.map(|count| count.0) != Some(seq) {
            return Err(refuse_malformed(format!("`{name}` is not {seq}")));
        }
    }
    let word = &transition.rule;
    if word.is_empty() || word.len() > 40 || !word.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(refuse_malformed("the rule is not one short word"));
    }
    for receipt in &transition.receipts {
        let plain = receipt.id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if receipt.id.is_empty() || receipt.id.len() > 128 || !plain {
            return Err(refuse_malformed("a receipt's id is not a digest"));
        }
    }
    for (id, bytes) in &transition.tests {
        if sha256(bytes) != *id {
            return Err(refuse_malformed("tests are not named by their digest"));
        }
    }
    for cited in &transition.exchanges {
        let plain = |text: &str| {
            text.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        let digest = |said: &Said| said.hash.strip_prefix("sha256:").is_some_and(plain);
        if cited.exchange.is_empty() || !plain(&cited.exchange) || !cited.said.iter().all(digest) {
            return Err(refuse_malformed(
                "an exchange is not named by a ref and a digest",
            ));
        }
    }
    OffsetDateTime::parse(&transition.facts.now, &Rfc3339)
        .map(OffsetDateTime::unix_timestamp)
        .map_err(|_| refuse_malformed("`facts.now` is not an RFC 3339 time"))
}

/// Writes the tree of one transition, reusing the blobs of unchanged files. Returns it with the message of its commit.
pub(super) fn write_transition(
    log: &Log,
    before: Option<&Stand<'_>>,
    transition: &Transition,
    trail: &Intake,
    seq: u64,
) -> Result<(Oid, String), Failure> {
    let event = EventFile {
        seq,
        actor: transition.actor,
        rule: transition.rule.clone(),
        subject: one_line(&transition.subject),
        lease_epoch: transition.lease_epoch,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        writer: writer_name()?.to_owned(),
        facts: transition.facts.clone(),
        event: transition.event.clone(),
    };
    let histories = before.map_or_else(|| Ok(Histories::default()), Stand::histories)?;
    let added =
        History::each(|history| history.list_added(&transition.event, &transition.records))?;
    let histories = histories.extend(&added, &trail.lines, trail.last.as_deref())?;
    let mut nodes = frame(&histories, &added, &trail.lines, transition.receipts.iter())?;
    nodes.insert(EVENT.to_owned(), text(log_format::pretty(&event)?));
    for document in Document::ALL {
        let found = document.text(&transition.snapshot)?;
        nodes.extend(found.map(|bytes| (document.file().to_owned(), text(bytes))));
    }
    let tests = transition.tests.iter();
    let tests = tests.map(|(id, bytes)| (format!("{id}.json"), text(bytes.clone())));
    nodes.insert(TESTS.to_owned(), Node::Folder(tests.collect()));
    let said = Node::Folder(exchanges(&transition.exchanges)?);
    nodes.insert(EXCHANGES.to_owned(), said);
    let entries = before.map_or(&[][..], |before| &before.entries);
    let put = |kind: ObjectType, bytes: &[u8]| {
        let id = log.name(kind, bytes)?;
        match entries.iter().any(|entry| entry.id == id) {
            true => Ok(id),
            false => log.write(kind, bytes),
        }
    };
    let tree = log.write_tree(name_entries(nodes, &put)?)?;
    Ok((tree, event.message()))
}

/// Files and folders of a transition's tree, by name.
type Nodes = BTreeMap<String, Node>;

enum Node {
    /// Shared with the code that checked it.
    Text(Arc<Vec<u8>>),
    Blob(Oid),
    Folder(Nodes),
}

fn text(bytes: Vec<u8>) -> Node {
    Node::Text(Arc::new(bytes))
}

/// The files that every transition has in the same form: format, histories with the appended lines, receipts.
fn frame<'r>(
    histories: &Histories,
    added: &[Lines; 3],
    trail: &Lines,
    receipts: impl Iterator<Item = &'r Receipt>,
) -> Result<Nodes, Failure> {
    let names = History::ALL.map(History::file).into_iter().chain([TRAIL]);
    let appended = names.zip(added.iter().chain([trail]));
    let appended = appended
        .filter(|(_, lines)| !lines.bytes.is_empty())
        .map(|(name, lines)| (name.to_owned(), Node::Text(lines.bytes.clone())));
    let receipts = receipts.map(|receipt| {
        let bytes = log_format::pretty(receipt)?;
        Ok((format!("{}.json", receipt.id), text(bytes)))
    });
    Ok(Nodes::from([
        (FORMAT_FILE.to_owned(), text(format!("{FORMAT}\n").into())),
        (HISTORIES.to_owned(), text(log_format::pretty(histories)?)),
        (APPENDED.to_owned(), Node::Folder(appended.collect())),
        (
            RECEIPTS.to_owned(),
            Node::Folder(receipts.collect::<Result<_, Failure>>()?),
        ),
    ]))
}

/// The entries of a tree; `put` returns the id of each object.
fn name_entries(
    nodes: Nodes,
    put: &impl Fn(ObjectType, &[u8]) -> Result<Oid, Failure>,
) -> Result<Vec<TreeEntry>, Failure> {
    let mut entries = Vec::new();
    for (name, node) in nodes {
        let (mode, id) = match node {
            Node::Text(bytes) => (odb::FILE, put(ObjectType::Blob, &bytes)?),
            Node::Blob(id) => (odb::FILE, id),
            Node::Folder(inside) if inside.is_empty() => continue,
            Node::Folder(inside) => {
                let tree = odb::tree_bytes(name_entries(inside, put)?);
                (odb::FOLDER, put(ObjectType::Tree, &tree)?)
            }
        };
        entries.push(TreeEntry { mode, name, id });
    }
    Ok(entries)
}

/// One file for each citation, and one for each exchange, so that an exchange cited several times is kept once.
fn exchanges(cited: &[CitedExchange]) -> Result<Nodes, Failure> {
    let mut folder = Nodes::new();
    for one in cited {
        let citation = log_format::pretty(&Citation {
            exchange: one.exchange.clone(),
            said: one.said.iter().map(|said| said.hash.clone()).collect(),
        })?;
        folder.insert(format!("{}.json", one.exchange), text(citation));
        for said in &one.said {
            let name = said.hash.trim_start_matches("sha256:");
            folder.insert(format!("{name}.json"), text(log_format::pretty(said)?));
        }
    }
    Ok(folder)
}

/// Reduces a message's subject to one line without control or direction characters.
fn one_line(text: &str) -> String {
    let line: String = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .filter(|c| !c.is_control() && !is_direction(*c))
        .take(200)
        .collect();
    line.trim().to_owned()
}

fn is_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{061c}')
}

/// Signs the text of a commit; returns the armored signature.
pub type Sign<'a> = dyn Fn(&[u8]) -> Result<String, Failure> + 'a;

/// A signature and the text it signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// The commit's text without the signature.
    pub payload: Vec<u8>,
    /// The armored signature.
    pub signature: String,
}

/// Length of a commit's first line with SHA-256 names: `tree ` and 64 digits.
const LONG_FIRST_LINE: usize = 69;

/// Adds a signature to the text of a commit, as git does.
pub(super) fn add_signature(commit: &str, signature: &str) -> Result<String, Failure> {
    let armor = signature.trim_end();
    let (Some((head, message)), false) = (commit.split_once("\n\n"), armor.contains('\0')) else {
        return Err(refuse_malformed("the signature cannot stand in a commit"));
    };
    let name = match head.lines().next().map(str::len) {
        Some(LONG_FIRST_LINE) => "gpgsig-sha256",
        _ => "gpgsig",
    };
    let indented = armor.replace('\n', "\n ");
    Ok(format!("{head}\n{name} {indented}\n\n{message}"))
}

/// Extracts a commit's signature from the header: `gpgsig` with indented continuation lines, as git writes it.
pub(super) fn take_signature(commit: &[u8]) -> Option<Signed> {
    let mut payload = Vec::new();
    let mut signature = String::new();
    let (mut in_head, mut in_signature) = (true, false);
    for line in commit.split_inclusive(|byte| *byte == b'\n') {
        let rest = match in_head {
            true if in_signature => line.strip_prefix(b" "),
            true => ["gpgsig ", "gpgsig-sha256 "]
                .iter()
                .find_map(|name| line.strip_prefix(name.as_bytes())),
            false => None,
        };
        in_signature = rest.is_some();
        match rest {
            Some(rest) => signature.push_str(&String::from_utf8_lossy(rest)),
            None => payload.extend_from_slice(line),
        }
        in_head &= line != b"\n";
    }
    (!signature.is_empty()).then_some(Signed { payload, signature })
}

/// Number of random bytes in a writer's name.
const BYTES: usize = 16;

/// The writer's name in tests that compare commits. Effective only if `COOK_TEST=1` is set too.
const NAME_VARIABLE: &str = "COOK_WRITER";

/// The writer's name: 32 hexadecimal digits, the same for the life of the process.
fn writer_name() -> Result<&'static str, Failure> {
    static NAME: OnceLock<String> = OnceLock::new();
    if let Some(name) = NAME.get() {
        return Ok(name);
    }
    let name = match value_for_tests(NAME_VARIABLE).filter(|name| is_writer_name(name)) {
        Some(name) => name,
        None => {
            let mut bytes = [0; BYTES];
            getrandom::fill(&mut bytes).writing("the writer's name")?;
            hex(&bytes)
        }
    };
    Ok(NAME.get_or_init(|| name))
}

/// Whether a text has the form of a writer's name.
pub(super) fn is_writer_name(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == 2 * BYTES && text.bytes().all(is_digit)
}

/// The result of running an event again.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// The documents after the event.
    pub snapshot: Snapshot,
    /// The records that it appends.
    pub records: Records,
    /// The rule under which it is accepted.
    pub rule: String,
}

/// The result of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReplayReport {
    /// Number of transitions that were run again and match the log.
    pub transitions: u64,
    /// Number of records that they produced.
    pub records: u64,
    /// `log_not_derivable` for the first transition that differs (later ones are not checked); `history_forged` or
    /// `history_torn` for a history file in `.agent/` that differs from the log.
    pub findings: Vec<Finding>,
}

impl Store {
    /// Runs `apply` for each transition of the chain. It receives the documents before (`None` for the first), the
    /// event, its facts and its actor, and returns a reason if the event is not accepted.
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

    /// Like [`Store::replay`] without the view, for the transitions after one that is known to be valid.
    ///
    /// # Errors
    /// If the log cannot be read, or does not hold that transition.
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
                writer: state.writer,
            };
        }
        Ok(report)
    }

    /// All receipts that transitions added, by id.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn receipts(&self) -> Result<BTreeMap<String, Receipt>, Failure> {
        let mut receipts = BTreeMap::new();
        for commit in self.read(|log| chain(log, self.tip_id(log)?))? {
            let brought = self.read(|log| Stand::at(log, commit)?.receipts())?;
            receipts.extend(brought.into_iter().map(|one| (one.id.clone(), one)));
        }
        Ok(receipts)
    }

    /// The tests with this digest that a transition added; `None` if none did.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn read_kept_tests(&self, id: &str) -> Result<Option<Vec<u8>>, Failure> {
        let name = format!("{id}.json");
        self.read(|log| {
            let mut known = self.kept_tests.borrow_mut();
            known.begin_at(self.tip_id(log)?);
            let mut tried = 0;
            loop {
                let blobs = known.list(&name);
                for blob in &blobs[tried..] {
                    let bytes = log.blob(*blob)?;
                    if sha256(&bytes) == id {
                        return Ok(Some(bytes));
                    }
                }
                tried = blobs.len();
                if !known.go_on(log)? {
                    return Ok(None);
                }
            }
        })
    }
}

/// The commits of the chain, oldest first.
pub(super) fn chain(log: &Log, tip: Option<Oid>) -> Result<Vec<Oid>, Failure> {
    list_chain_after(log, tip, None)
}

/// The commits of the chain after `known`, which must be in it.
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
    /// The commit's text without a signature.
    text: Vec<u8>,
    /// The checkpoints that it took in. They are input, not derived.
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

/// The state of a replay.
#[derive(Default)]
struct Replay {
    seq: u64,
    commit: Option<Oid>,
    snapshot: Option<Snapshot>,
    histories: Histories,
    entries: Vec<TreeEntry>,
    writer: RefCell<Writer>,
}

impl Replay {
    /// The state after a transition.
    fn at(log: &Log, commit: Oid) -> Result<Self, Failure> {
        let stand = Stand::at(log, commit)?;
        Ok(Self {
            seq: log_format::meta(log, commit)?.seq,
            commit: Some(commit),
            snapshot: Some(stand.snapshot()?),
            histories: stand.histories()?,
            entries: stand.entries,
            writer: RefCell::default(),
        })
    }

    /// Describes the first difference from the commit that cook would write, if any.
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
        let text = odb::commit_text(step.tree, self.commit, epoch_seconds, &file.message());
        let is_right = step.text == text.as_bytes();
        Ok((!is_right)
            .then(|| "its author, committer or message is not what its event produces".to_owned()))
    }

    /// The entries of the tree that cook would write. The event and the exchanges are input, not derived.
    fn expect(
        &self,
        log: &Log,
        step: &Step,
        after: &Snapshot,
        added: &[Lines; 3],
        histories: &Histories,
    ) -> Result<Vec<TreeEntry>, Failure> {
        let mut nodes = frame(
            histories,
            added,
            &step.trail,
            step.file.facts.receipts().into_iter(),
        )?;
        let given = step.find(EVENT).map(|entry| Node::Blob(entry.id));
        nodes.extend(given.map(|node| (EVENT.to_owned(), node)));
        for document in Document::ALL {
            let name = document.file();
            let node = match &self.snapshot {
                Some(before) if document.same(before, after) => {
                    log_format::find(&self.entries, name).map(Node::Blob)
                }
                _ => self.writer.borrow_mut().text(document, after)?.map(text),
            };
            nodes.extend(node.map(|node| (name.to_owned(), node)));
        }
        let folder = |name: &str| step.find(name).map_or(Ok(Vec::new()), |at| log.tree(at.id));
        let mut tests = Nodes::new();
        for kept in folder(TESTS)? {
            let name = format!("{}.json", sha256(log.blob(kept.id)?));
            tests.insert(name, Node::Blob(kept.id));
        }
        let said = folder(EXCHANGES)?.into_iter();
        let said = said.map(|one| (one.name, Node::Blob(one.id)));
        nodes.insert(TESTS.to_owned(), Node::Folder(tests));
        nodes.insert(EXCHANGES.to_owned(), Node::Folder(said.collect()));
        name_entries(nodes, &|kind, bytes| log.name(kind, bytes))
    }
}

fn differs(name: &str) -> String {
    format!("`{name}` is not what its event produces")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_become_one_harmless_line() {
        assert_eq!(
            one_line("a\nCook-Seq: 9\u{1b}[0m\u{202e}"),
            "a Cook-Seq: 9[0m"
        );
        assert_eq!(one_line(&"x".repeat(500)).len(), 200);
    }

    #[test]
    fn a_signature_is_taken_out_of_the_header_alone() {
        let signed = take_signature(b"tree 1\ngpgsig a\n b\n c\nauthor x\n\ngpgsig no\n").unwrap();
        assert_eq!(signed.payload, b"tree 1\nauthor x\n\ngpgsig no\n");
        assert_eq!(signed.signature, "a\nb\nc\n");
        assert_eq!(take_signature(b"tree 1\n\ngpgsig no\n"), None);
    }

    #[test]
    fn a_signature_is_taken_out_as_it_was_put_in() {
        for (tree, name) in [
            ("1".repeat(40), "gpgsig "),
            ("1".repeat(64), "gpgsig-sha256 "),
        ] {
            let commit = format!("tree {tree}\nauthor x\n\nA message\n\nof two parts\n");
            let armor = "BEGIN\n\nbody\nEND\n";
            let written = add_signature(&commit, armor).unwrap();
            assert!(
                written.lines().any(|line| line.starts_with(name)),
                "{written}"
            );
            let signed = take_signature(written.as_bytes()).unwrap();
            assert_eq!(signed.payload, commit.as_bytes());
            assert_eq!(signed.signature, armor);
        }
        assert!(add_signature("tree 1\n\nm\n", "a\0b").is_err());
    }
}
