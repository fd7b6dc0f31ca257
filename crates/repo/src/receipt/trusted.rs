//! The commands that cook may run on this machine: `<common git dir>/cook/trust.json`. It is never a tracked file, and
//! it counts only if this user wrote it on this machine.
//!
//! A command is trusted by its words, so a gate whose command changed must be trusted again. The stop verifier is
//! trusted by the content of its scripts, because its command never changes. A list that cannot be read is an error: it
//! is treated neither as empty nor as allowing everything.

use super::programs::{identify, list_programs, split, words};
use super::receipts::{self as files, Key};
use crate::disk::{self, AtPath, Links};
use crate::git::Repo;
use crate::process::{is_program, on_path};
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::digest::hex;
use cook_protocol::model::{STOP_VERIFIER, STOP_VERIFIER_SCRIPTS, SchemaVersion};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const LIMIT: u64 = 4 * 1024 * 1024;
/// The maximum size of a trusted script in bytes; the generated ones have about a kilobyte.
const MAX_SCRIPT: u64 = 1024 * 1024;

/// The trust list of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trust {
    path: PathBuf,
    /// The worktree whose stop verifier is meant.
    root: PathBuf,
    /// The digest of the stop verifier's scripts ([`script_digest`]).
    stop_verifier: Option<String>,
    /// Directories from which programs are not taken.
    own: [PathBuf; 3],
    list: List,
    /// Whether a list exists that is not this user's.
    foreign: bool,
    everything: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    schema_version: SchemaVersion,
    commands: BTreeSet<String>,
    prefixes: BTreeSet<String>,
    /// The variables that located programs when the user trusted something.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    tools: BTreeMap<String, String>,
    /// Digests of programs that the user accepted although they differ from the first green run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    programs: BTreeMap<String, String>,
    /// Digests of the trusted stop verifiers; several worktrees share this list.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    stop_verifiers: BTreeSet<String>,
    /// The tag of the other fields, made with the user's key.
    #[serde(default)]
    tag: String,
}

impl List {
    fn compute_tag(&self, key: &Key) -> String {
        let untagged = Self {
            tag: String::new(),
            ..self.clone()
        };
        key.tag(&serde_json::to_vec(&untagged).unwrap_or_default())
    }
}

impl Trust {
    /// Reads the list. A missing file is an empty list, and so is one that this user did not make on this machine,
    /// because it may come from an archive.
    ///
    /// # Errors
    /// `trust_unreadable` when the file exists but is not a valid list.
    pub fn of(repo: &Repo) -> Result<Self, Failure> {
        let path = repo.cook_dir()?.join("trust.json");
        let unreadable = |why: String| {
            let shown = path.display();
            let what = format!("`{shown}` is not a list of trusted commands: {why}");
            let hint = format!("move `{shown}` away, then run `cook trust --gates`");
            Failure::state(Code::TrustUnreadable, what).replace_hints([hint])
        };
        let bytes = files::read(&path, LIMIT)
            .map_err(|error| unreadable(error.causes.first().unwrap_or(&error.message).clone()))?;
        let mut list: List = match bytes {
            Some(bytes) => {
                serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))?
            }
            None => List::default(),
        };
        for entry in list.commands.iter().chain(&list.prefixes) {
            split(entry).map_err(|error| unreadable(error.message))?;
        }
        let is_users = list == List::default()
            || Key::of_user()?.is_some_and(|key| list.tag == list.compute_tag(&key));
        if !is_users {
            list = List::default();
        }
        Ok(Self {
            path,
            foreign: !is_users,
            root: repo.root().to_owned(),
            stop_verifier: script_digest(repo.root())?,
            own: [repo.root(), repo.common_dir(), repo.git_dir()].map(Path::to_owned),
            list,
            everything: false,
        })
    }

    /// Trusts every command of the repository for this run (`--trust-repo`).
    #[must_use]
    pub fn with_everything(mut self) -> Self {
        self.everything = true;
        self
    }

    /// Whether a list exists that this user did not make on this machine. Its entries do not count.
    pub fn is_foreign(&self) -> bool {
        self.foreign
    }

    /// Whether cook may run this command: its words are on the list, or begin with the words of a trusted prefix. An
    /// invalid command is not trusted. The stop verifier is trusted by its scripts' current content, and never by a
    /// prefix.
    pub fn is_trusted(&self, command: &str) -> bool {
        let Ok(argv) = words(command) else {
            return false;
        };
        if runs_stop_verifier(&argv) {
            let listed = |digest| self.list.stop_verifiers.contains(digest);
            return self.everything || self.stop_verifier.as_ref().is_some_and(listed);
        }
        let same = |entry: &String| words(entry).is_ok_and(|words| words == argv);
        let begins = |entry: &String| words(entry).is_ok_and(|words| argv.starts_with(&words));
        self.everything
            || self.list.commands.iter().any(same)
            || self.list.prefixes.iter().any(begins)
    }

    /// Trusts one command permanently.
    ///
    /// # Errors
    /// When the command is invalid, or the list cannot be written.
    pub fn trust(&mut self, command: &str) -> Result<(), Failure> {
        if runs_stop_verifier(&words(command)?) {
            self.stop_verifier = script_digest(&self.root)?;
            let digest = self.stop_verifier.clone();
            let digest = digest.ok_or_else(|| {
                let path = self.root.join(STOP_VERIFIER_SCRIPTS[0]);
                let what = format!(
                    "`{}` is missing, or it is not a regular file",
                    path.display()
                );
                Failure::state(Code::NotWritable, what)
                    .hint("run `cook init`, which writes the missing file")
            })?;
            self.list.stop_verifiers.insert(digest);
        } else {
            self.list.commands.insert(command.to_owned());
        }
        self.save()
    }

    /// Trusts the programs that this process finds, permanently.
    ///
    /// # Errors
    /// When the list cannot be written.
    pub fn trust_tools(&mut self) -> Result<(), Failure> {
        self.list.tools = crate::room::tools(std::env::vars_os());
        self.save()
    }

    /// Accepts a gate's program, by name, in its present state on the trusted PATH. Returns its file.
    ///
    /// # Errors
    /// When the program does not exist, or the list cannot be written.
    pub fn trust_program(&mut self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.search_path();
        let file = on_path(name, &path);
        let found = file.and_then(|file| Some((identify(&file)?, file)));
        let Some((program, file)) = found else {
            return Err(Failure::usage(format!(
                "no program `{name}` on the PATH that gates have: {}",
                path.display()
            )));
        };
        self.list.programs.insert(name.to_owned(), program.sha256);
        self.save()?;
        Ok(file)
    }

    /// The digests of the programs that the user accepted.
    pub fn programs(&self) -> BTreeMap<String, String> {
        self.list.programs.clone()
    }

    /// The variables that locate programs: those that the user trusted, or those of this process if everything is
    /// trusted or nothing has been yet.
    pub fn tools(&self) -> BTreeMap<String, String> {
        match self.everything || self.list.tools.is_empty() {
            true => crate::room::tools(std::env::vars_os()),
            false => self.list.tools.clone(),
        }
    }

    fn search_path(&self) -> OsString {
        let tools = self.tools();
        let path = tools.get("PATH").map(String::as_str).unwrap_or_default();
        crate::room::search_path(path.as_ref(), &self.own)
    }

    /// The programs of a command that are not on the trusted search path.
    pub fn absent_programs(&self, command: &str) -> Vec<String> {
        let path = self.search_path();
        let mut absent = list_programs(command);
        absent.retain(|name| match name.starts_with('/') {
            true => !is_program(Path::new(name)),
            false => on_path(name, &path).is_none(),
        });
        absent
    }

    /// Trusts every command that begins with these words, permanently.
    ///
    /// # Errors
    /// When the prefix is invalid, or the list cannot be written.
    pub fn trust_prefix(&mut self, prefix: &str) -> Result<(), Failure> {
        words(prefix)?;
        self.list.prefixes.insert(prefix.to_owned());
        self.save()
    }

    /// The commands and prefixes on the list, sorted. The stop verifier is among the commands if its present scripts
    /// are trusted.
    pub fn list_trusted(&self) -> (Vec<&str>, Vec<&str>) {
        let mut commands: Vec<&str> = self.list.commands.iter().map(String::as_str).collect();
        if self.is_trusted(STOP_VERIFIER) {
            commands.push(STOP_VERIFIER);
            commands.sort_unstable();
        }
        let prefixes = self.list.prefixes.iter().map(String::as_str).collect();
        (commands, prefixes)
    }

    fn save(&mut self) -> Result<(), Failure> {
        if self.list.tools.is_empty() {
            self.list.tools = crate::room::tools(std::env::vars_os());
        }
        self.list.tag = self.list.compute_tag(&Key::make()?);
        let mut json = serde_json::to_vec_pretty(&self.list).unwrap_or_default();
        json.push(b'\n');
        files::write(&self.path, &json)?;
        self.foreign = false;
        Ok(())
    }
}

fn runs_stop_verifier(argv: &[String]) -> bool {
    argv.iter().map(String::as_str).eq(STOP_VERIFIER.split(' '))
}

/// A digest of the stop verifier's scripts; `None` if one of them is missing, not a regular file, or too large. A read
/// error is reported, because otherwise a transition would treat the script as untrusted.
fn script_digest(root: &Path) -> Result<Option<String>, Failure> {
    let mut digest = Sha256::new();
    for script in STOP_VERIFIER_SCRIPTS {
        let path = root.join(script);
        let read = disk::read_if_plain(&path, MAX_SCRIPT, Links::Refuse);
        let Some(bytes) = read.at("read", &path)? else {
            return Ok(None);
        };
        digest.update((bytes.len() as u64).to_le_bytes());
        digest.update(&bytes);
    }
    Ok(Some(hex(&digest.finalize())))
}
