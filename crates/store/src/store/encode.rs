//! From a transition to the tree of its commit.

use super::error::StoreError;
use super::log::{self, Log, TreeEntry};
use super::objects::{self, Stand};
use super::trail::Intake;
use super::transition::Transition;
use super::tree::{
    self, APPENDED, Document, EVENT, EXCHANGES, EventFile, FORMAT, FORMAT_FILE, HISTORIES,
    Histories, History, RECEIPTS, TESTS, TRAIL,
};
use super::writer;
use cook_core::model::{Actor, Citation, CitedExchange};
use git2::{ObjectType, Oid};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Writes the tree of one transition; files that did not change keep their blob.
pub(super) fn transition(
    log: &Log,
    before: Option<&Stand<'_>>,
    transition: &Transition,
    trail: &Intake,
    seq: u64,
) -> Result<Oid, StoreError> {
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    files.insert(FORMAT_FILE.to_owned(), format!("{FORMAT}\n").into_bytes());
    for document in Document::ALL {
        if let Some(text) = document.text(&transition.snapshot)? {
            files.insert(document.file().to_owned(), text);
        }
    }
    files.insert(
        EVENT.to_owned(),
        tree::pretty(&EventFile {
            seq,
            actor: transition.actor,
            rule: transition.rule.clone(),
            subject: one_line(&transition.subject),
            lease_epoch: transition.lease_epoch,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            writer: writer::name()?.to_owned(),
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
    files.insert(HISTORIES.to_owned(), tree::pretty(&digests)?);
    let mut receipts = BTreeMap::new();
    for receipt in &transition.receipts {
        receipts.insert(
            format!("{}.json", receipt.id),
            Arc::new(tree::pretty(receipt)?),
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
fn exchanges(cited: &[CitedExchange]) -> Result<Folder, StoreError> {
    let mut folder = Folder::new();
    for one in cited {
        let citation = Citation {
            exchange: one.exchange.clone(),
            said: one.said.iter().map(|said| said.hash.clone()).collect(),
        };
        folder.insert(
            format!("{}.json", one.exchange),
            Arc::new(tree::pretty(&citation)?),
        );
        for said in &one.said {
            let name = said.hash.trim_start_matches("sha256:");
            folder.insert(format!("{name}.json"), Arc::new(tree::pretty(said)?));
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
) -> Result<Oid, StoreError> {
    let mut root = Vec::new();
    for (name, bytes) in files {
        let mut id = objects::blob_id(log, &bytes)?;
        if before.and_then(|before| before.blob(&name)) != Some(id) {
            id = log.write(ObjectType::Blob, &bytes)?;
        }
        root.push(TreeEntry {
            mode: log::FILE,
            name,
            id,
        });
    }
    for (name, files) in folders {
        let mut folder = Vec::new();
        for (name, bytes) in files {
            folder.push(TreeEntry {
                mode: log::FILE,
                name,
                id: log.write(ObjectType::Blob, &bytes)?,
            });
        }
        if !folder.is_empty() {
            root.push(TreeEntry {
                mode: log::FOLDER,
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
}
