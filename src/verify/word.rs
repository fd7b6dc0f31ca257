//! Whose word it is, what a fetched log only records: a signature of its tip, by somebody whom the
//! base branch lists.

use super::outcome::Outcome;
use crate::service::{self, LogSource, Workspace};
use cook_core::diagnostic::{Code, Failure, Finding};
use cook_git::Entry;
use cook_os::disk::TemporaryDir;
use cook_os::process::{Captured, ProcessError, Short, capture};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// Who may sign, as ssh-keygen reads it.
const SIGNERS: &str = ".agent/allowed_signers";
/// What a signature must be for.
const NAMESPACE: &str = "cook";
const DEADLINE: Duration = Duration::from_secs(30);
const LIMIT: usize = 64 << 10;

/// Whose word the recorded part of a fetched log is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    /// There is no list: whoever can push the ref.
    Pushers,
    /// Somebody on the list.
    Signer(String),
    /// There is a list, and nobody on it.
    Nobody(String),
}

impl Word {
    /// For the first line.
    fn words(&self, source: &LogSource) -> String {
        match self {
            Self::Pushers => format!(
                "what it records is the word of whoever can push this ref: `{}` of `{}`",
                source.reference, source.shown
            ),
            Self::Signer(who) => format!("what it records is signed by {who}"),
            Self::Nobody(_) => "what it records is signed by nobody whom the base lists".to_owned(),
        }
    }

    /// What is wrong, if anything.
    fn finding(&self) -> Option<Finding> {
        match self {
            Self::Nobody(why) => Some(Finding::new(Code::WordUnsigned, why.clone()).at(SIGNERS)),
            Self::Pushers | Self::Signer(_) => None,
        }
    }
}

/// Says of a log that came from a remote whose word it is. Of one that was pulled it is asked where
/// there is a list: what this clone recorded afterwards is its own.
pub(super) fn say(
    workspace: &Workspace,
    answer: &mut String,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    if let Some(source) = &workspace.log_from {
        let word = find(workspace, source)?;
        outcome.findings.extend(word.finding());
        answer.push_str("; ");
        answer.push_str(&word.words(source));
        return Ok(());
    }
    for source in service::pulled(workspace)? {
        let word = find(workspace, &source)?;
        if word != Word::Pushers {
            outcome.findings.extend(word.finding());
            answer.push_str("; ");
            answer.push_str(&word.words(&source));
        }
    }
    Ok(())
}

/// Looks at the signature of the tip, where the default branch of the remote lists signers.
fn find(workspace: &Workspace, source: &LogSource) -> Result<Word, Failure> {
    let tracked = format!("refs/remotes/{}/HEAD", source.remote);
    let refs = workspace.repo.refs()?;
    let listed = match source.base.as_ref().or_else(|| refs.get(&tracked)) {
        Some(base) => workspace.repo.entry(base, SIGNERS)?,
        None => Entry::Nothing,
    };
    let list = match listed {
        Entry::Nothing => return Ok(Word::Pushers),
        Entry::File { bytes, .. } => bytes,
        _ => {
            let why = format!("`{SIGNERS}` of the base branch is not a file that can be read");
            return Ok(Word::Nobody(why));
        }
    };
    let Some(signed) = workspace.store()?.signed(&source.tip)? else {
        return Ok(Word::Nobody("the log's tip bears no signature".to_owned()));
    };
    let dir = TemporaryDir::make().map_err(|error| {
        Failure::state(Code::NotWritable, "a directory for a signature").caused_by(&error)
    })?;
    let at = |name: &str| dir.path().join(name);
    for (name, bytes) in [
        ("list", list.as_slice()),
        ("sig", signed.signature.as_bytes()),
    ] {
        std::fs::write(at(name), bytes)
            .map_err(|error| Failure::state(Code::NotWritable, "a signature").caused_by(&error))?;
    }
    match check(dir.path(), signed.payload) {
        Ok(Some(who)) => Ok(Word::Signer(who)),
        Ok(None) => Ok(Word::Nobody(format!(
            "the signature of the log's tip is not one of somebody on the list, for `{NAMESPACE}`"
        ))),
        Err(ProcessError::NotFound(program)) => Ok(Word::Nobody(format!(
            "`{program}`, which checks signatures, is not on PATH"
        ))),
        Err(error) => Ok(Word::Nobody(error.to_string())),
    }
}

/// Who signed; none where nobody on the list did.
fn check(dir: &Path, payload: Vec<u8>) -> Result<Option<String>, ProcessError> {
    let who = ask(dir, &["-Y", "find-principals"], &[], Vec::new())?;
    let who = String::from_utf8_lossy(&who.stdout);
    for who in who.lines() {
        let more = ["-n", NAMESPACE, "-I", who];
        let verified = ask(dir, &["-Y", "verify"], &more, payload.clone())?;
        if verified.code == Some(0) {
            return Ok(Some(who.to_owned()));
        }
    }
    Ok(None)
}

fn ask(dir: &Path, what: &[&str], more: &[&str], stdin: Vec<u8>) -> Result<Captured, ProcessError> {
    let files = ["-s", "sig", "-f", "list"];
    let words = ["ssh-keygen"].iter().chain(what).chain(&files).chain(more);
    capture(&Short {
        argv: words.map(OsString::from).collect(),
        dir,
        env: vec![("LC_ALL", "C".into())],
        stdin,
        deadline: DEADLINE,
        limit: LIMIT,
        group: false,
    })
}
