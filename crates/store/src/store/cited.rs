//! Reads what transitions keep of the sessions that their reports came out of.

use super::Store;
use super::error::StoreError;
use super::log::{Log, TreeEntry};
use super::objects::Stand;
use super::replay::chain;
use super::tree::{self, EXCHANGES};
use cook_core::model::{Citation, CitedExchange, Event, Said, Snapshot};
use git2::Oid;
use std::collections::{BTreeMap, BTreeSet};

/// The documents before a transition; none before the first.
pub type Before<'a> = &'a dyn Fn() -> Result<Option<Snapshot>, StoreError>;

impl Store {
    /// Every transition that keeps what was said in the session behind its report, oldest
    /// first: the documents before it when asked for, sequence, event, and what was said.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn each_cited_exchange(
        &self,
        known: Option<&str>,
        mut each: impl FnMut(
            Before<'_>,
            u64,
            &Event,
            Result<&CitedExchange, &str>,
        ) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let chain = self.read(|log| chain(log, self.tip_id(log)?))?;
        let is_known = |commit: &Oid| known.is_some_and(|known| commit.to_string() == known);
        let first = chain.iter().position(is_known).map_or(0, |at| at + 1);
        for (at, commit) in chain.iter().copied().enumerate().skip(first) {
            let found = self.read(|log| {
                let stand = Stand::at(log, commit)?;
                let folder = stand.folder(EXCHANGES)?;
                if folder.is_empty() {
                    return Ok(None);
                }
                Ok(Some((stand.event()?, read_cited(log, &folder)?)))
            })?;
            if let Some((file, cited)) = found {
                let before = || match at.checked_sub(1).map(|before| chain[before]) {
                    Some(before) => self
                        .read(|log| Stand::at(log, before)?.snapshot())
                        .map(Some),
                    None => Ok(None),
                };
                for one in &cited {
                    let one = one.as_ref().map_err(String::as_str);
                    each(&before, file.seq, &file.event, one)?;
                }
            }
        }
        Ok(())
    }
}

/// The citations of a folder, or why one is none; what none of them names is none either.
fn read_cited(
    log: &Log,
    folder: &[TreeEntry],
) -> Result<Vec<Result<CitedExchange, String>>, StoreError> {
    let files = folder
        .iter()
        .map(|entry| Ok((entry.name.as_str(), log.blob(entry.id)?)));
    let files: BTreeMap<&str, Vec<u8>> = files.collect::<Result<_, StoreError>>()?;
    let mut named = BTreeSet::new();
    let mut all = Vec::new();
    for name in files.keys().filter(|name| name.starts_with("ex_")) {
        named.insert((*name).to_owned());
        all.push(one_cited(&files, name, &mut named));
    }
    let left = files.keys().filter(|name| !named.contains(**name));
    all.extend(left.map(|name| Err(format!("nothing cites `{EXCHANGES}/{name}`"))));
    Ok(all)
}

fn one_cited(
    files: &BTreeMap<&str, Vec<u8>>,
    name: &str,
    named: &mut BTreeSet<String>,
) -> Result<CitedExchange, String> {
    let missing = |name: &str| format!("`{EXCHANGES}/{name}` is missing");
    let wrong = |name: &str| format!("`{EXCHANGES}/{name}` is not what its name says");
    let bytes = files.get(name).ok_or_else(|| missing(name))?;
    let citation: Citation = tree::parse(EXCHANGES, bytes).map_err(|_| wrong(name))?;
    if format!("{}.json", citation.exchange) != name {
        return Err(wrong(name));
    }
    let mut said = Vec::new();
    for hash in citation.said {
        let name = format!("{}.json", hash.trim_start_matches("sha256:"));
        let bytes = files.get(name.as_str()).ok_or_else(|| missing(&name))?;
        let one: Said = tree::parse(EXCHANGES, bytes).map_err(|_| wrong(&name))?;
        if one.hash != hash {
            return Err(wrong(&name));
        }
        named.insert(name);
        said.push(one);
    }
    Ok(CitedExchange {
        exchange: citation.exchange,
        said,
    })
}
