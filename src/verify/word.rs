//! Whose word it is, what a fetched log only records: a signature of its tip, by somebody whom the
//! base branch lists.

use super::outcome::Outcome;
use super::sshsig::{self, Unlisted, look_up};
use crate::service::{self, LogSource, Workspace};
use cook_core::diagnostic::{Code, Failure, Finding, Lines, clean};
use cook_core::machine::short;
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
    /// There is a list, and nobody on it: the code, and why.
    Nobody(Code, String),
}

impl Word {
    /// For the first line.
    fn words(&self, source: &LogSource) -> String {
        match self {
            Self::Pushers if source.remote.is_empty() => {
                "what it records is the word of whoever writes the log of this clone".to_owned()
            }
            Self::Pushers => format!(
                "what it records is the word of whoever can push this ref: `{}` of `{}`",
                source.reference, source.shown
            ),
            Self::Signer(who) => format!("what it records is signed by {who}"),
            Self::Nobody(..) => {
                "what it records is signed by nobody whom the base lists".to_owned()
            }
        }
    }

    /// What is wrong, if anything.
    fn finding(&self) -> Option<Finding> {
        match self {
            Self::Nobody(code, why) => Some(Finding::new(*code, why.clone()).at(SIGNERS)),
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
        if !source.tip.is_empty() {
            let tip = short(&source.tip);
            let (of, remote) = (&source.reference, &source.shown);
            outcome.add_checked(format!(
                "the log at `{tip}`, where `{of}` of `{remote}` stood"
            ));
        }
        answer.push_str("; ");
        answer.push_str(&word.words(source));
        return Ok(());
    }
    if let Some(judging) = &workspace.judging {
        let Some(tip) = workspace.current()?.0 else {
            return Ok(());
        };
        let own = LogSource {
            remote: String::new(),
            shown: "this clone".to_owned(),
            reference: "its log".to_owned(),
            tip: tip.commit,
            base: Some(judging.commit.clone()),
        };
        let word = find(workspace, &own)?;
        outcome.findings.extend(word.finding());
        answer.push_str("; ");
        answer.push_str(&word.words(&own));
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

/// Looks at the signature of the tip, where the base lists signers: the one that was named, else the
/// default branch of the remote.
fn find(workspace: &Workspace, source: &LogSource) -> Result<Word, Failure> {
    let tracked = format!("refs/remotes/{}/HEAD", source.remote);
    let refs = workspace.repo.refs()?;
    let judging = workspace.judging.as_ref().map(|judging| &judging.commit);
    let known = || source.base.as_ref().or_else(|| refs.get(&tracked));
    let listed = match judging.or_else(known) {
        Some(base) => workspace.repo.entry(base, SIGNERS)?,
        None => Entry::Nothing,
    };
    let list = match listed {
        Entry::Nothing => return Ok(Word::Pushers),
        Entry::File { bytes, .. } => bytes,
        _ => {
            let why = format!("`{SIGNERS}` of the base branch is not a file that can be read");
            return Ok(Word::Nobody(Code::WordUnsigned, why));
        }
    };
    let Some(signed) = workspace.store()?.signed(&source.tip)? else {
        return Ok(unsigned("the log's tip bears no signature"));
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
    let now = workspace.clock.now();
    let now = now.chars().filter(char::is_ascii_digit).take(14).collect();
    let asking = Asking {
        dir: dir.path(),
        now,
    };
    match asking.check(&signed.payload) {
        Ok(Some(who)) => Ok(Word::Signer(who)),
        Ok(None) => {
            let is_intact = asking.is_intact(&signed.payload).unwrap_or(false);
            let list = String::from_utf8_lossy(&list);
            Ok(explain(&signed.signature, &list, is_intact))
        }
        Err(ProcessError::NotFound(program)) => Ok(unsigned(&format!(
            "`{program}`, which checks signatures, is not on PATH"
        ))),
        Err(error) => Ok(unsigned(&error.to_string())),
    }
}

fn unsigned(why: &str) -> Word {
    Word::Nobody(Code::WordUnsigned, why.to_owned())
}

/// Why a signature counts for nothing.
fn explain(signature: &str, list: &str, is_intact: bool) -> Word {
    let Some(claimed) = sshsig::read(signature) else {
        return unsigned("the signature of the log's tip is not an SSH signature");
    };
    if claimed.namespace != NAMESPACE {
        let what = format!(
            "the signature of the log's tip is for `{}`, not for `{NAMESPACE}`",
            clean(&claimed.namespace, Lines::Fold)
        );
        return Word::Nobody(Code::WordNamespace, what);
    }
    if !is_intact {
        return unsigned("the signature of the log's tip is not one of that transition");
    }
    let (code, what) = match look_up(list, &claimed.key, NAMESPACE) {
        Unlisted::Unknown => (
            Code::WordSignerUnknown,
            "the key that signed the log's tip is not on the list of the base".to_owned(),
        ),
        Unlisted::Namespace => (
            Code::WordNamespace,
            format!("the base lists the key that signed the log's tip, and not for `{NAMESPACE}`"),
        ),
        Unlisted::Time => (
            Code::WordSignerExpired,
            "the base lists the key that signed the log's tip for another time than now".to_owned(),
        ),
        Unlisted::Listed => (
            Code::WordUnsigned,
            "ssh-keygen does not take the signature of the log's tip by the list of the base"
                .to_owned(),
        ),
    };
    Word::Nobody(code, what)
}

/// Questions to ssh-keygen about one signature.
struct Asking<'a> {
    /// Where the list and the signature are.
    dir: &'a Path,
    /// `YYYYMMDDHHMMSS`: a key counts when it is valid now, whatever time the log claims.
    now: String,
}

impl Asking<'_> {
    /// Who signed; none where nobody on the list did.
    fn check(&self, payload: &[u8]) -> Result<Option<String>, ProcessError> {
        let time = format!("-Overify-time={}", self.now);
        let find = ["-Y", "find-principals", &time, "-s", "sig", "-f", "list"];
        let who = self.ask(&find, Vec::new())?;
        let who = String::from_utf8_lossy(&who.stdout);
        for who in who.lines() {
            let verify = ["-Y", "verify", &time, "-s", "sig", "-f", "list"];
            let words = [&verify[..], &["-n", NAMESPACE, "-I", who]].concat();
            let verified = self.ask(&words, payload.to_vec())?;
            if verified.code == Some(0) {
                return Ok(Some(who.to_owned()));
            }
        }
        Ok(None)
    }

    /// The signature is one of this text, by whomever.
    fn is_intact(&self, payload: &[u8]) -> Result<bool, ProcessError> {
        let words = ["-Y", "check-novalidate", "-n", NAMESPACE, "-s", "sig"];
        Ok(self.ask(&words, payload.to_vec())?.code == Some(0))
    }

    fn ask(&self, words: &[&str], stdin: Vec<u8>) -> Result<Captured, ProcessError> {
        let argv = ["ssh-keygen"].iter().chain(words);
        capture(&Short {
            argv: argv.map(OsString::from).collect(),
            dir: self.dir,
            env: vec![("LC_ALL", "C".into()), ("TZ", "UTC".into())],
            stdin,
            deadline: DEADLINE,
            limit: LIMIT,
            group: false,
        })
    }
}
