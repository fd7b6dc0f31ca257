//! Which commands cook may run on this machine: `<common git dir>/cook/trust.json`,
//! never a tracked file.
//!
//! Trust is by the words of a command, so a gate whose command changed is a new
//! one and is asked for again. A file that cannot be read is an error: neither
//! nothing nor everything is trusted then.

use super::{ReceiptError, atomic, words};
use crate::diagnostic::Failure;
use crate::model::SchemaVersion;
use crate::repo::Repo;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::PathBuf;

const LIMIT: u64 = 4 * 1024 * 1024;

/// What is trusted here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trust {
    path: PathBuf,
    list: List,
    everything: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    schema_version: SchemaVersion,
    commands: BTreeSet<String>,
    prefixes: BTreeSet<String>,
}

impl Trust {
    /// Reads the list; no file means that nothing is trusted yet.
    ///
    /// # Errors
    /// `trust_unreadable` when the file is there and is not such a list.
    pub fn of(repo: &Repo) -> Result<Self, Failure> {
        let path = repo.cook_dir()?.join("trust.json");
        let unreadable = |why: String| ReceiptError::Trust {
            path: path.clone(),
            why,
        };
        let bytes = atomic::read(&path, LIMIT).map_err(|error| {
            let why = std::error::Error::source(&error).map(ToString::to_string);
            unreadable(why.unwrap_or_else(|| error.to_string()))
        })?;
        let list: List = match bytes {
            Some(bytes) => {
                serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))?
            }
            None => List::default(),
        };
        for entry in list.commands.iter().chain(&list.prefixes) {
            words(entry).map_err(|error| unreadable(error.to_string()))?;
        }
        Ok(Self {
            path,
            list,
            everything: false,
        })
    }

    /// The same, for this run, with every command of the repository (`--trust-repo`).
    #[must_use]
    pub fn with_everything(mut self) -> Self {
        self.everything = true;
        self
    }

    /// True when cook may run this command: it is on the list word for word, or
    /// begins with the words of a trusted prefix. What is no command is not trusted.
    pub fn is_trusted(&self, command: &str) -> bool {
        let Ok(argv) = words(command) else {
            return false;
        };
        let same = |entry: &String| words(entry).is_ok_and(|words| words == argv);
        let begins = |entry: &String| words(entry).is_ok_and(|words| argv.starts_with(&words));
        self.everything
            || self.list.commands.iter().any(same)
            || self.list.prefixes.iter().any(begins)
    }

    /// Trusts one command from now on.
    ///
    /// # Errors
    /// When it is no command, or the list cannot be written.
    pub fn trust(&mut self, command: &str) -> Result<(), Failure> {
        words(command)?;
        self.list.commands.insert(command.to_owned());
        self.save()
    }

    /// Trusts every command that begins with these words from now on.
    ///
    /// # Errors
    /// When there is no word, or the list cannot be written.
    pub fn trust_prefix(&mut self, prefix: &str) -> Result<(), Failure> {
        words(prefix)?;
        self.list.prefixes.insert(prefix.to_owned());
        self.save()
    }

    /// Commands and prefixes on the list, sorted.
    pub fn listed(&self) -> (Vec<&str>, Vec<&str>) {
        (
            self.list.commands.iter().map(String::as_str).collect(),
            self.list.prefixes.iter().map(String::as_str).collect(),
        )
    }

    fn save(&self) -> Result<(), Failure> {
        let mut json = serde_json::to_vec_pretty(&self.list).unwrap_or_default();
        json.push(b'\n');
        Ok(atomic::write(&self.path, &json)?)
    }
}
