//! What a writer commits: a transition, what can be told of it by itself, the tree and the text of its commit, and a signature
//! in the header of that, where git has its own.
//!
//! Each transition names the process that wrote it. The rest of a commit may be equal to what another machine decides in the
//! same second, and git would tell both that they were the first to push it.

use super::checkpoints::Intake;
use super::error::{During, refuse_malformed};
use super::log_format::{
    self, APPENDED, Document, EVENT, EXCHANGES, EventFile, FORMAT, FORMAT_FILE, HISTORIES,
    Histories, History, RECEIPTS, Stand, TESTS, TRAIL, Tip,
};
use super::odb::{self, Log, TreeEntry};
use crate::clock::TEST_VARIABLE;
use cook_protocol::diagnostic::Failure;
use cook_protocol::digest::{hex, sha256};
use cook_protocol::machine::Facts;
use cook_protocol::model::{
    Actor, Citation, CitedExchange, Event, Receipt, Records, Said, Snapshot,
};
use git2::{ObjectType, Oid};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// What one commit holds, as `apply` returned it.
#[derive(Debug, Clone)]
pub struct Transition {
    /// The tip that `snapshot` follows; none for the first transition.
    pub parent: Option<Tip>,
    /// What happened.
    pub event: Event,
    /// What it was judged by; `facts.now` is the commit's time.
    pub facts: Facts,
    /// Who caused it.
    pub actor: Actor,
    /// The rule it was taken under: one short word.
    pub rule: String,
    /// The slice or mission it is about, for the message.
    pub subject: String,
    /// The documents after it, sequence and revisions set.
    pub snapshot: Snapshot,
    /// What it appends to the histories.
    pub records: Records,
    /// The receipts it brings.
    pub receipts: Vec<Receipt>,
    /// What was said in the session that its report was taken from.
    pub exchanges: Vec<CitedExchange>,
    /// Tests that proofs show for the first time, by their digest.
    pub tests: Vec<(String, Vec<u8>)>,
    /// Epoch of the writer's lease.
    pub lease_epoch: u64,
    /// True: files edited outside cook are set aside and the log's version is
    /// put back (re-ground, adopt, restore, repair). False: they stay as they are.
    pub displace: bool,
}

/// What can be told of a transition by itself. Returns its time.
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

/// Writes the tree of one transition; files that did not change keep their blob.
pub(super) fn write_transition(
    log: &Log,
    before: Option<&Stand<'_>>,
    transition: &Transition,
    trail: &Intake,
    seq: u64,
) -> Result<Oid, Failure> {
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    files.insert(FORMAT_FILE.to_owned(), format!("{FORMAT}\n").into_bytes());
    for document in Document::ALL {
        if let Some(text) = document.text(&transition.snapshot)? {
            files.insert(document.file().to_owned(), text);
        }
    }
    files.insert(
        EVENT.to_owned(),
        log_format::pretty(&EventFile {
            seq,
            actor: transition.actor,
            rule: transition.rule.clone(),
            subject: one_line(&transition.subject),
            lease_epoch: transition.lease_epoch,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            writer: writer_name()?.to_owned(),
            facts: transition.facts.clone(),
            event: transition.event.clone(),
        })?,
    );
    let histories = before.map_or_else(|| Ok(Histories::default()), Stand::histories)?;
    let mut appended = BTreeMap::new();
    let added =
        History::each(|history| history.list_added(&transition.event, &transition.records))?;
    let digests = histories.extend(&added, &trail.lines, trail.last.as_deref())?;
    let names = History::ALL.map(History::file).into_iter().chain([TRAIL]);
    for (name, lines) in names.zip(added.iter().chain([&trail.lines])) {
        if !lines.bytes.is_empty() {
            appended.insert(name.to_owned(), lines.bytes.clone());
        }
    }
    files.insert(HISTORIES.to_owned(), log_format::pretty(&digests)?);
    let mut receipts = BTreeMap::new();
    for receipt in &transition.receipts {
        receipts.insert(
            format!("{}.json", receipt.id),
            Arc::new(log_format::pretty(receipt)?),
        );
    }
    let tests = transition.tests.iter();
    let tests = tests.map(|(id, bytes)| (format!("{id}.json"), Arc::new(bytes.clone())));
    let tests = tests.collect();
    write_tree(
        log,
        before,
        files,
        [
            (APPENDED, appended),
            (RECEIPTS, receipts),
            (EXCHANGES, exchanges(&transition.exchanges)?),
            (TESTS, tests),
        ],
    )
}

/// One file a citation, and one an exchange: what several cite is kept once.
fn exchanges(cited: &[CitedExchange]) -> Result<Folder, Failure> {
    let mut folder = Folder::new();
    for one in cited {
        let citation = Citation {
            exchange: one.exchange.clone(),
            said: one.said.iter().map(|said| said.hash.clone()).collect(),
        };
        folder.insert(
            format!("{}.json", one.exchange),
            Arc::new(log_format::pretty(&citation)?),
        );
        for said in &one.said {
            let name = said.hash.trim_start_matches("sha256:");
            folder.insert(format!("{name}.json"), Arc::new(log_format::pretty(said)?));
        }
    }
    Ok(folder)
}

/// File name to content, which is shared with whoever checked it.
type Folder = BTreeMap<String, Arc<Vec<u8>>>;

fn write_tree(
    log: &Log,
    before: Option<&Stand<'_>>,
    files: BTreeMap<String, Vec<u8>>,
    folders: [(&str, Folder); 4],
) -> Result<Oid, Failure> {
    let mut root = Vec::new();
    for (name, bytes) in files {
        let mut id = log_format::blob_id(log, &bytes)?;
        if before.and_then(|before| before.blob(&name)) != Some(id) {
            id = log.write(ObjectType::Blob, &bytes)?;
        }
        root.push(TreeEntry {
            mode: odb::FILE,
            name,
            id,
        });
    }
    for (name, files) in folders {
        let mut folder = Vec::new();
        for (name, bytes) in files {
            folder.push(TreeEntry {
                mode: odb::FILE,
                name,
                id: log.write(ObjectType::Blob, &bytes)?,
            });
        }
        if !folder.is_empty() {
            root.push(TreeEntry {
                mode: odb::FOLDER,
                name: name.to_owned(),
                id: log.write_tree(folder)?,
            });
        }
    }
    log.write_tree(root)
}

/// The word in trailers and `event.json`.
pub(super) fn actor_word(actor: Actor) -> &'static str {
    match actor {
        Actor::User => "user",
        Actor::Script => "script",
        Actor::Role => "role",
        Actor::Runner => "runner",
        Actor::Cook => "cook",
    }
}

/// A message's subject: one line without control or direction characters.
pub(super) fn one_line(text: &str) -> String {
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

/// Makes a signature of the text of a commit, in its armor.
pub type Sign<'a> = dyn Fn(&[u8]) -> Result<String, Failure> + 'a;

/// What stands signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// The commit without its signature.
    pub payload: Vec<u8>,
    /// The signature, in its armor.
    pub signature: String,
}

/// Characters of a commit's first line where names are SHA-256: `tree ` and 64 digits.
const LONG_FIRST_LINE: usize = 69;

/// The text of a commit with a signature of it, as git writes one.
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

/// A commit's signature, as git writes it into the header: `gpgsig`, its further lines indented.
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

/// Random bytes of a name.
const BYTES: usize = 16;

/// A name for tests that compare commits. Honoured only while `COOK_TEST=1` is set too.
const NAME_VARIABLE: &str = "COOK_WRITER";

/// 32 hexadecimal digits, the same for as long as the process lives.
fn writer_name() -> Result<&'static str, Failure> {
    static NAME: OnceLock<String> = OnceLock::new();
    if let Some(name) = NAME.get() {
        return Ok(name);
    }
    let name = match read_name_for_tests() {
        Some(name) => name,
        None => {
            let mut bytes = [0; BYTES];
            getrandom::fill(&mut bytes).writing("the writer's name")?;
            hex(&bytes)
        }
    };
    Ok(NAME.get_or_init(|| name))
}

fn read_name_for_tests() -> Option<String> {
    if std::env::var(TEST_VARIABLE).as_deref() != Ok("1") {
        return None;
    }
    std::env::var(NAME_VARIABLE)
        .ok()
        .filter(|name| is_writer_name(name))
}

/// Whether another process can have been called so.
pub(super) fn is_writer_name(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == 2 * BYTES && text.bytes().all(is_digit)
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
