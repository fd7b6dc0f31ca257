//! What somebody who has a part of the log can read in it.

use super::Store;
use super::error::StoreError;
use super::log::{self, Log};
use super::objects::{self, Meta};
use super::tree::{self, APPENDED, EXCHANGES, TRAIL};
use cook_core::model::{Checkpoint, CheckpointKind};
use git2::Oid;
use std::collections::HashSet;

/// What a part of the log holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    /// Transitions.
    pub transitions: u64,
    /// Bytes of their files, each counted once.
    pub bytes: u64,
    /// Exchanges with agents.
    pub exchanges: u64,
    /// Messages of the user.
    pub messages: u64,
}

impl Store {
    /// Looks into every file that the transitions after one bring, up to another one, newest first:
    /// the transition, the file's name, its content.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn look_into_contents_after(
        &self,
        known: Option<&str>,
        newest: &str,
        mut look: impl FnMut(&Meta, &str, &[u8]),
    ) -> Result<Contents, StoreError> {
        let mut contents = Contents::default();
        let mut seen = HashSet::new();
        if let Some(known) = known {
            self.read(|log| {
                let known = log.oid(known).ok_or_else(|| StoreError::unknown(known))?;
                files(log, known)
            })?
            .into_iter()
            .for_each(|(_, id)| {
                seen.insert(id);
            });
        }
        for meta in self.list_entries_from(newest)? {
            let meta = meta?;
            if known == Some(meta.commit.as_str()) {
                break;
            }
            contents.transitions += 1;
            contents.messages += u64::from(meta.event == "said");
            let files = self.read(|log| {
                let id = log
                    .oid(&meta.commit)
                    .ok_or_else(|| StoreError::unknown(&meta.commit))?;
                files(log, id)
            })?;
            for (name, id) in files {
                if !seen.insert(id) {
                    continue;
                }
                let bytes = self.read(|log| log.blob(id))?;
                contents.bytes += bytes.len() as u64;
                if name.starts_with(EXCHANGES) && !name.contains("/ex_") {
                    contents.exchanges += 1;
                }
                if name == format!("{APPENDED}/{TRAIL}") {
                    contents.messages += prompts(&bytes);
                }
                look(&meta, &name, &bytes);
            }
        }
        Ok(contents)
    }
}

fn prompts(lines: &[u8]) -> u64 {
    let is_prompt = |line: &&[u8]| {
        tree::parse::<Checkpoint>(TRAIL, line)
            .is_ok_and(|entry| entry.kind == CheckpointKind::Prompt)
    };
    lines.split(|byte| *byte == b'\n').filter(is_prompt).count() as u64
}

/// Files of a transition, those in its folders included.
fn files(log: &Log, commit: Oid) -> Result<Vec<(String, Oid)>, StoreError> {
    let mut found = Vec::new();
    for entry in objects::Stand::at(log, commit)?.entries {
        if entry.mode != log::FOLDER {
            found.push((entry.name, entry.id));
            continue;
        }
        let inside = log.tree(entry.id)?.into_iter();
        found.extend(inside.map(|file| (format!("{}/{}", entry.name, file.name), file.id)));
    }
    Ok(found)
}
