//! Whose word it is, what a fetched log only records: a signature of its tip, by somebody whom the
//! base branch lists.

use super::verify_outcome::Outcome;
use crate::service::{self, LogSource, Workspace};
use crate::signature::{self, Blob, NAMESPACE, Signer};
use cook_protocol::diagnostic::{Code, Failure, Finding, Lines, Refusal, clean};
use cook_protocol::machine::short;
use cook_repo::git::Entry;
use cook_repo::remote::{FORMER, Remote, Side};
use cook_repo::store::{Signed, Tip};

/// Who may sign, as ssh-keygen reads it.
const SIGNERS: &str = ".agent/allowed_signers";

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
    fn words(&self, workspace: &Workspace, source: &LogSource) -> String {
        // A remote's own branch may list whom it likes.
        let lister = match &workspace.judging {
            None if source.remote == FORMER => {
                "the default branch that this clone knows".to_owned()
            }
            None if !source.shown.is_empty() => format!("the default branch of `{}`", source.shown),
            _ => "the base".to_owned(),
        };
        match self {
            Self::Pushers if source.remote.is_empty() => {
                "what it records is the word of whoever writes the log of this clone".to_owned()
            }
            Self::Pushers => format!(
                "what it records is the word of whoever can push this ref: `{}` of `{}`",
                source.reference, source.shown
            ),
            Self::Signer(who) => {
                format!("what it records is signed by {who}, whom {lister} lists")
            }
            Self::Nobody(..) => {
                format!("what it records is signed by nobody whom {lister} lists")
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
pub(super) fn tell(
    workspace: &Workspace,
    answer: &mut String,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let sources = match (&workspace.log_from, &workspace.judging) {
        (Some(source), _) => vec![source.clone()],
        (None, Some(judging)) => {
            let own = |tip: Tip| LogSource {
                shown: "this clone".to_owned(),
                reference: "its log".to_owned(),
                tip: tip.commit,
                base: Some(judging.commit.clone()),
                ..LogSource::default()
            };
            workspace.current()?.0.map(own).into_iter().collect()
        }
        (None, None) => service::list_pulled(workspace)?,
    };
    for source in &sources {
        let word = find(workspace, source)?;
        outcome.findings.extend(word.finding());
        if workspace.log_from.is_some() && !source.tip.is_empty() {
            let tip = short(&source.tip);
            let (of, remote) = (&source.reference, &source.shown);
            outcome.add_checked(format!(
                "the log at `{tip}`, where `{of}` of `{remote}` stood"
            ));
        }
        answer.push_str("; ");
        answer.push_str(&word.words(workspace, source));
    }
    Ok(())
}

/// Somebody whom the base lists signed the tip of a log that was fetched.
pub(super) fn is_signed(workspace: &Workspace, source: &LogSource) -> Result<bool, Failure> {
    Ok(matches!(find(workspace, source)?, Word::Signer(_)))
}

/// Looks at the signature of the tip, where the base lists signers: the one that was named, else the
/// default branch of the remote.
fn find(workspace: &Workspace, source: &LogSource) -> Result<Word, Failure> {
    let tracked = service::find_tracked_default(workspace, &source.remote)?;
    let judging = workspace.judging.as_ref().map(|judging| &judging.commit);
    let known = || source.base.as_ref().or(tracked.as_ref());
    let base = judging.or_else(known);
    // A log that was fetched names a remote: what a partial clone left there may be fetched too.
    if let (Some(base), Some(_)) = (base, &workspace.log_from) {
        workspace.repo.fetch_missing(base, &[])?;
    }
    let list = match (base, &source.signers) {
        (None, Some(kept)) => List::Of(kept.clone()),
        (base, _) => read_list(workspace, base)?,
    };
    match list {
        List::Nothing => Ok(Word::Pushers),
        List::Unreadable => Ok(from_unsigned(UNREADABLE)),
        List::Of(list) => match workspace.store()?.read_signed(&source.tip)? {
            Some(signed) => judge(&list, &signed),
            None => Ok(from_unsigned("the log's tip bears no signature")),
        },
    }
}

/// The list of a commit.
enum List {
    Nothing,
    Of(Vec<u8>),
    Unreadable,
}

const UNREADABLE: &str =
    "`.agent/allowed_signers` of the base branch is not a file that can be read";

fn read_list(workspace: &Workspace, base: Option<&String>) -> Result<List, Failure> {
    let Some(base) = base else {
        return Ok(List::Nothing);
    };
    Ok(match workspace.repo.entry(base, SIGNERS)? {
        Entry::Nothing => List::Nothing,
        Entry::File { bytes, .. } => List::Of(bytes),
        _ => List::Unreadable,
    })
}

/// Whether whoever reads the log lets this signature of it count: where the base lists signers, it is one
/// of theirs.
///
/// # Errors
/// `signer_not_listed`, `signer_out_of_time`.
pub(crate) fn check_signature(
    workspace: &Workspace,
    base: Option<&String>,
    signed: &Signed,
) -> Result<(), Failure> {
    let word = match read_list(workspace, base)? {
        List::Nothing => return Ok(()),
        List::Of(bytes) => judge(&bytes, signed)?,
        List::Unreadable => from_unsigned(UNREADABLE),
    };
    let Word::Nobody(code, why) = word else {
        return Ok(());
    };
    let code = match code {
        Code::WordSignerExpired => Code::SignerOutOfTime,
        Code::WordUnsigned => Code::SigningFailed,
        _ => Code::SignerNotListed,
    };
    let finding = Finding::new(code, format!("`{SIGNERS}` of the base")).at(SIGNERS);
    Err(
        Refusal::new(code, format!("nothing was signed or pushed: {why}"))
            .hint("sign with a key that is listed: `cook push --sign --key FILE`")
            .with(vec![finding])
            .into(),
    )
}

/// The base that says who may sign what is pushed there. A remote is asked for its default branch where this
/// clone does not track that.
///
/// # Errors
/// A repository that cannot be read; `remote_unreachable`.
pub(crate) fn find_signing_base(
    workspace: &Workspace,
    to: &Remote,
    branch: &str,
) -> Result<Option<String>, Failure> {
    Ok(ask_base(workspace, to, branch)?.1)
}

/// The remote whose list of signers counts for a log, and its default branch; whether that is what the
/// remote names, else it is what this clone saw last.
fn ask_base(
    workspace: &Workspace,
    of: &Remote,
    branch: &str,
) -> Result<(String, Option<String>, bool), Failure> {
    let lister = of.find_lister(branch)?;
    let tracked = match &lister {
        Some(name) => service::find_tracked_default(workspace, name)?,
        None => None,
    };
    let told = match (tracked, lister.as_deref()) {
        (Some(tracked), _) => Some(tracked),
        (None, Some(name)) if name != of.name() => {
            service::remote(workspace, Some(name), branch, Side::Fetch, false)?.bring_default()?
        }
        (None, _) => of.bring_default()?,
    };
    let remote = lister.unwrap_or_else(|| of.name().to_owned());
    Ok(match told {
        Some(base) => {
            workspace.repo.fetch_missing(&base, &[])?;
            (remote, Some(base), true)
        }
        None => {
            let seen = service::find_tracked_base(workspace, &remote)?;
            (remote, seen, false)
        }
    })
}

/// Of a log that was just taken in from a remote: who signed it, or why nobody's signature counts;
/// nothing where nobody lists signers. The list of the default branch is kept, and asked for where this
/// clone does not track that branch.
///
/// # Errors
/// A repository or a log that cannot be read; `remote_unreachable`.
pub(crate) fn tell_signer(
    workspace: &Workspace,
    from: &Remote,
    branch: &str,
) -> Result<(Option<String>, Option<Finding>), Failure> {
    let Some((tip, _)) = workspace.store()?.current()? else {
        return Ok((None, None));
    };
    let (remote, base, is_told) = ask_base(workspace, from, branch)?;
    if let Some(base) = base.as_ref().filter(|_| is_told) {
        // For when nobody is asked. On a list that cannot be read nobody stands.
        match read_list(workspace, Some(base))? {
            List::Nothing => from.keep_signers(None),
            List::Of(list) => from.keep_signers(Some(&list)),
            List::Unreadable => from.keep_signers(Some(b"")),
        }?;
    }
    let source = LogSource {
        remote,
        tip: tip.commit,
        base,
        ..LogSource::default()
    };
    Ok(match find(workspace, &source)? {
        Word::Pushers => (None, None),
        Word::Signer(who) => (Some(who), None),
        word @ Word::Nobody(..) => (None, word.finding()),
    })
}

fn from_unsigned(why: &str) -> Word {
    Word::Nobody(Code::WordUnsigned, why.to_owned())
}

/// Whose signature it is by the list, or why it counts for nothing.
fn judge(list: &[u8], signed: &Signed) -> Result<Word, Failure> {
    let Some(blob) = Blob::read(signed.signature.as_bytes()) else {
        return Ok(from_unsigned(
            "the signature of the log's tip is not an SSH signature",
        ));
    };
    if blob.namespace != NAMESPACE {
        let what = format!(
            "the signature of the log's tip is for `{}`, not for `{NAMESPACE}`",
            clean(&blob.namespace, Lines::Fold)
        );
        return Ok(Word::Nobody(Code::WordNamespace, what));
    }
    let (code, what) = match signature::find_signer(list, &signed.signature, &signed.payload) {
        // What cannot be checked is signed by nobody.
        Err(failure) => (Code::WordUnsigned, failure.message),
        Ok(Signer::Listed(who)) => return Ok(Word::Signer(who)),
        Ok(Signer::OutOfTime(why)) => (
            Code::WordSignerExpired,
            format!(
                "the base lists the key that signed the log's tip for another time than now: {why}"
            ),
        ),
        Ok(Signer::ForSomethingElse) => (
            Code::WordNamespace,
            format!("the base lists the key that signed the log's tip, and not for `{NAMESPACE}`"),
        ),
        Ok(Signer::OfSomethingElse) => (
            Code::WordUnsigned,
            "the signature of the log's tip is not one of that transition".to_owned(),
        ),
        Ok(Signer::Nobody) => (
            Code::WordSignerUnknown,
            "the key that signed the log's tip is not on the list of the base".to_owned(),
        ),
    };
    Ok(Word::Nobody(code, what))
}
