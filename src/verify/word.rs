//! Whose word it is, what a fetched log only records: a signature of its tip, by somebody whom the
//! base branch lists.

use super::outcome::Outcome;
use crate::service::{self, LogSource, Workspace};
use crate::signature::{self, NAMESPACE, Signer};
use cook_core::diagnostic::{Code, Failure, Finding};
use cook_git::Entry;

/// Who may sign, as ssh-keygen reads it.
const SIGNERS: &str = ".agent/allowed_signers";

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
    let found = signature::find_signer(&list, &signed.signature, &signed.payload);
    Ok(match found {
        Ok(Signer::Listed(who)) => Word::Signer(who),
        Ok(_) => Word::Nobody(format!(
            "the signature of the log's tip is not one of somebody on the list, for `{NAMESPACE}`"
        )),
        // What cannot be checked is signed by nobody.
        Err(failure) => Word::Nobody(failure.message),
    })
}
