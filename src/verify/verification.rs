//! A question about a commit or a slice, and its answer.

use super::base::Compared;
use super::criterion_proof::{Criterion, Outcome};
use crate::prelude::*;
use crate::service;
use crate::signature::{self, Blob, NAMESPACE, Signer};
use crate::workspace::{LogSource, Workspace};
use cook_protocol::model::Subject;
use cook_repo::git::{Entry, MergedFrom};
use cook_repo::remote::{FORMER, Remote, Side};
use cook_repo::store::Signed;
use serde::Serializer;

/// The question and the answer of a verification.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Answered {
    /// The question that the verification answers.
    pub question: String,
    /// The answer in words: how the commit relates to the proven one, or what the answer covers.
    pub answer: String,
    /// The log that it is about is there.
    #[serde(skip)]
    pub has_log: bool,
    /// HEAD and the commit at which the work was done; absent if the question is not about a commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitStanding>,
    /// Criteria of done slices, each with the verdict on its proof.
    pub criteria: Vec<Criterion>,
    /// Commit whose contract decides (`--base`), compared with HEAD; absent if none was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<Compared>,
    #[serde(skip)]
    pub outcome: Outcome,
}

impl Answered {
    pub fn new(question: impl Into<String>, answer: &str, outcome: Outcome) -> Self {
        Self {
            question: question.into(),
            answer: answer.to_owned(),
            has_log: true,
            commit: None,
            criteria: Vec::new(),
            base: None,
            outcome,
        }
    }

    /// Turns this into the answer when the log is missing or damaged.
    pub(super) fn without_log(mut self, workspace: &Workspace) -> Self {
        self.has_log = false;
        self.answer = match self.outcome.has_found(Code::LogDamaged) {
            true => "not answered: the log is damaged".to_owned(),
            false => {
                self.outcome.miss_log(workspace);
                "not answered: there is no log here".to_owned()
            }
        };
        self.outcome = self.outcome.sort();
        self
    }

    /// Adds findings about the criteria and about who vouches for the parts that the log only records.
    pub(super) fn finish(mut self, workspace: &Workspace) -> Result<Self> {
        let is_shallow = workspace.repo.is_shallow();
        let wrong = self.criteria.iter();
        let wrong = wrong.filter_map(|criterion| criterion.finding(is_shallow));
        self.outcome.findings.extend(wrong);
        tell_word(workspace, &mut self.answer, &mut self.outcome)?;
        self.outcome = self.outcome.sort();
        Ok(self)
    }

    /// Adds the result of the comparison with the base.
    #[must_use]
    pub fn with_base(mut self, mut compared: Compared) -> Self {
        self.answer = format!("{}; {}", self.answer, compared.words());
        let mut outcome = std::mem::take(&mut compared.outcome);
        outcome.checked.extend(self.outcome.checked);
        outcome.findings.extend(self.outcome.findings);
        self.outcome = outcome.sort();
        self.base = Some(compared);
        self
    }
}

// How HEAD relates to the commit that was found done: it is that commit, has its tree, or is exactly its merge.

/// Relation of HEAD to the proven commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Proven {
    /// It is the done commit.
    Itself,
    /// Its tree is the done commit's.
    SameTree,
    /// It is exactly the merge of the done commit into its base.
    MergedFrom,
}

/// HEAD, and the commit at which the work was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct CommitStanding {
    /// Full ID of HEAD; null before the first commit.
    #[serde(serialize_with = "write_commit")]
    #[schemars(with = "Option<String>")]
    pub head: Head,
    /// Full ID of the commit at which the work was done; null while work is open.
    pub done: Option<String>,
    /// Relation of HEAD to the done commit: the same commit, the same tree, or exactly its merge; null if there is
    /// none.
    pub how: Option<Proven>,
    /// Full ID of the commit into which the done commit was merged; null if HEAD is not such a merge.
    pub base: Option<String>,
    /// Kind of the merge; null if HEAD is not a merge of the done commit.
    #[schemars(extend(
        "enum" = ["merge", "squash", "rebase", null]
    ))]
    pub merged_as: Option<&'static str>,
}

fn write_commit<S: Serializer>(head: &Head, serializer: S) -> Result<S::Ok, S::Error> {
    head.commit.serialize(serializer)
}

impl CommitStanding {
    pub fn new(head: Head, done: Option<String>, how: Option<Recognised>) -> Self {
        let (how, from) = how.unzip();
        let from = from.flatten();
        Self {
            head,
            done,
            how,
            merged_as: from.as_ref().map(|from| from.how.id()),
            base: from.map(|from| from.base),
        }
    }

    /// Whether its tree was never judged, so that only runs at HEAD count.
    pub fn is_new_tree(&self) -> bool {
        self.how == Some(Proven::MergedFrom)
    }

    /// Describes how HEAD relates to the proven commit.
    pub fn words(&self, proven: &str, open: &str) -> String {
        let head = match &self.head.commit {
            Some(head) => quote_commit(head),
            None => "there is no commit yet".to_owned(),
        };
        let Some(done) = self.done.as_deref().map(short) else {
            return format!("{head}: {open}");
        };
        match self.how {
            Some(Proven::Itself) => format!("{head} is {}", proven.trim_end_matches(',')),
            Some(Proven::SameTree) => format!("{head} has the tree of {proven} {done}"),
            Some(Proven::MergedFrom) => {
                let how = match self.merged_as {
                    Some("squash") => " (squashed)",
                    Some("rebase") => " (rebased)",
                    _ => "",
                };
                let base = quote_commit(self.base.as_deref().unwrap_or_default());
                format!(
                    "{head} is exactly the merge{how} of {proven} {done} into {base}, made again here"
                )
            }
            None => format!("{head} is not {proven} {done}"),
        }
    }
}

fn quote_commit(id: &str) -> String {
    format!("`{}`", short(id))
}

/// A head at the given commit, to be used in the place of HEAD.
pub(crate) fn head_at(commit: &str) -> Head {
    Head {
        commit: Some(commit.to_owned()),
        tree: None,
        branch: None,
    }
}

/// Finds how HEAD relates to the done commit; adds a finding if it does not.
pub(super) fn find_standing(
    workspace: &Workspace,
    snapshot: &Snapshot,
    outcome: &mut Outcome,
) -> Result<CommitStanding> {
    let head = workspace.repo.head()?;
    let done = find_done_commit(snapshot);
    let how = match (&head.commit, &done) {
        (Some(head), Some(done)) => how(workspace, head, done, outcome)?,
        _ => None,
    };
    Ok(CommitStanding::new(head, done, how))
}

/// The commit of the last conclusion, if the project is done.
pub(super) fn find_done_commit(snapshot: &Snapshot) -> Option<String> {
    let evidence = &snapshot.evidence;
    let is_done = snapshot.state.continuation_policy == Policy::Done
        && evidence.subject_type == Subject::CurrentHead;
    evidence.head_sha.clone().filter(|_| is_done)
}

fn how(
    workspace: &Workspace,
    head: &str,
    done: &str,
    outcome: &mut Outcome,
) -> Result<Option<Recognised>> {
    let repo = &workspace.repo;
    let (shown, of) = (quote_commit(head), quote_commit(done));
    if head != done && repo.resolve(done)?.is_none() {
        let code = match repo.is_shallow() {
            true => Code::HistoryShallow,
            false => Code::HeadMovedSinceDone,
        };
        outcome.find(code, format!("the done commit {of} is not in this clone"));
        return Ok(None);
    }
    let how = recognise(repo, head, done)?;
    if let (Some((_, Some(from))), Some(judging)) = (&how, &workspace.judging)
        && from.base != judging.base
        && !repo.is_ancestor(&from.base, &judging.base)?
    {
        let what = format!(
            "{shown} is the merge of the done commit {of} into {}, which is not part of the base {}, so the rest of that commit was never judged",
            quote_commit(&from.base),
            quote_commit(&judging.base)
        );
        outcome.find(Code::HeadMovedSinceDone, what);
        return Ok(None);
    }
    if how.is_none() {
        if repo.is_shallow() {
            let what = "the history is shallow, so the merge of the work cannot be found";
            outcome.find(Code::HistoryShallow, what);
        }
        let what = format!(
            "{shown} is not the done commit {of}, has not its tree, and is not exactly a merge of it"
        );
        outcome.find(Code::HeadMovedSinceDone, what);
    }
    Ok(how)
}

/// How a commit relates to the done commit, with the details of a merge.
type Recognised = (Proven, Option<MergedFrom>);

/// How a commit relates to the done commit (full ids, both in this clone); `None` if it does not.
pub(super) fn recognise(repo: &Repo, head: &str, done: &str) -> Result<Option<Recognised>> {
    if head == done {
        return Ok(Some((Proven::Itself, None)));
    }
    if repo.find_tree(head)? == repo.find_tree(done)? {
        return Ok(Some((Proven::SameTree, None)));
    }
    let merged = repo.find_merge(head, done)?;
    Ok(merged.map(|from| (Proven::MergedFrom, Some(from))))
}

// Who vouches for the records of a fetched log: a signature of its tip by a signer whom the base branch lists.

/// The list of permitted signers, in the format of ssh-keygen.
const SIGNERS: &str = ".agent/allowed_signers";

/// Who vouches for the records of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    /// There is no list: anyone who can push the ref.
    Pushers,
    /// Signed by a listed signer.
    Signer(String),
    /// There is a list, but no signature by a listed signer; the code and the reason.
    Nobody(Code, String),
}

impl Word {
    /// The part of the first line of the answer about the records.
    fn words(&self, workspace: &Workspace, source: &LogSource) -> String {
        // A remote's own branch may list anyone.
        let lister = match &workspace.judging {
            None if source.remote == FORMER => {
                "the default branch that this clone knows".to_owned()
            }
            None if !source.shown.is_empty() => format!("the default branch of `{}`", source.shown),
            _ => "the base".to_owned(),
        };
        match self {
            Self::Pushers if source.remote.is_empty() => {
                "anyone who can write this clone's log could have written its records".to_owned()
            }
            Self::Pushers => format!(
                "anyone who can push this ref could have written its records: `{}` of `{}`",
                source.reference, source.shown
            ),
            Self::Signer(who) => {
                format!("its records are signed by {who}, whom {lister} lists")
            }
            Self::Nobody(..) => {
                format!("its records are not signed by anyone whom {lister} lists")
            }
        }
    }

    /// The finding, if no listed signer vouches.
    fn finding(&self) -> Option<Finding> {
        match self {
            Self::Nobody(code, why) => Some(Finding::new(*code, why.clone()).at(SIGNERS)),
            Self::Pushers | Self::Signer(_) => None,
        }
    }
}

/// Adds who vouches for the records of a log that came from a remote. For a pulled log only the transitions up to the
/// pulled tip count; this clone recorded the later ones itself.
fn tell_word(workspace: &Workspace, answer: &mut String, outcome: &mut Outcome) -> Result<()> {
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
        let word = find_word(workspace, source)?;
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

/// Whether a signer listed by the base signed the tip of a fetched log.
pub(super) fn is_signed(workspace: &Workspace, source: &LogSource) -> Result<bool> {
    Ok(matches!(find_word(workspace, source)?, Word::Signer(_)))
}

/// Checks the signature of the tip if the base lists signers. The base is the one that was named or else the default
/// branch of the remote.
fn find_word(workspace: &Workspace, source: &LogSource) -> Result<Word> {
    let tracked = service::find_tracked_default(workspace, &source.remote)?;
    let judging = workspace.judging.as_ref().map(|judging| &judging.commit);
    let known = || source.base.as_ref().or(tracked.as_ref());
    let base = judging.or_else(known);
    // The remote of a fetched log is known, so objects that a partial clone lacks may be fetched.
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
            None => Ok(from_unsigned("the log's tip is not signed")),
        },
    }
}

/// The list of signers at a commit.
enum List {
    Nothing,
    Of(Vec<u8>),
    Unreadable,
}

const UNREADABLE: &str =
    "`.agent/allowed_signers` of the base branch is not a file that can be read";

fn read_list(workspace: &Workspace, base: Option<&String>) -> Result<List> {
    let Some(base) = base else {
        return Ok(List::Nothing);
    };
    Ok(match workspace.repo.entry(base, SIGNERS)? {
        Entry::Nothing => List::Nothing,
        Entry::File { bytes, .. } => List::Of(bytes),
        _ => List::Unreadable,
    })
}

/// Checks that this signature counts for the reader: if the base lists signers, the signer must be on that list.
///
/// # Errors
/// `signer_not_listed`, `signer_out_of_time`, `signing_failed`.
pub(crate) fn check_signature(
    workspace: &Workspace,
    base: Option<&String>,
    signed: &Signed,
) -> Result<()> {
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

/// The base that lists the permitted signers for a push to this remote. If this clone does not track the remote's
/// default branch, the remote is asked for it.
///
/// # Errors
/// A repository that cannot be read; `remote_unreachable`.
pub(crate) fn find_signing_base(
    workspace: &Workspace,
    to: &Remote,
    branch: &str,
) -> Result<Option<String>> {
    Ok(ask_base(workspace, to, branch)?.1)
}

/// The remote whose list of signers counts for a log, and its default branch. The bool tells whether that is the branch
/// that the remote names now, and not only the one that this clone saw last.
fn ask_base(
    workspace: &Workspace,
    of: &Remote,
    branch: &str,
) -> Result<(String, Option<String>, bool)> {
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

/// For a log that was just taken in from a remote: who signed it, or a finding why the signature does not count; both
/// `None` if there is no list of signers. The list of the default branch is kept for later; it is fetched if this clone
/// does not track that branch.
///
/// # Errors
/// A repository or a log that cannot be read; `remote_unreachable`.
pub(crate) fn tell_signer(
    workspace: &Workspace,
    from: &Remote,
    branch: &str,
) -> Result<(Option<String>, Option<Finding>)> {
    let Some((tip, _)) = workspace.store()?.current()? else {
        return Ok((None, None));
    };
    let (remote, base, is_told) = ask_base(workspace, from, branch)?;
    if let Some(base) = base.as_ref().filter(|_| is_told) {
        // Kept for times without a connection. A list that cannot be read permits nobody.
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
    Ok(match find_word(workspace, &source)? {
        Word::Pushers => (None, None),
        Word::Signer(who) => (Some(who), None),
        word @ Word::Nobody(..) => (None, word.finding()),
    })
}

fn from_unsigned(why: &str) -> Word {
    Word::Nobody(Code::WordUnsigned, why.to_owned())
}

/// The listed signer, or why the signature does not count.
fn judge(list: &[u8], signed: &Signed) -> Result<Word> {
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
        // A signature that cannot be checked does not count.
        Err(failure) => (Code::WordUnsigned, failure.message),
        Ok(Signer::Listed(who)) => return Ok(Word::Signer(who)),
        Ok(Signer::OutOfTime(why)) => (
            Code::WordSignerExpired,
            format!(
                "the base lists the key that signed the log's tip, but not for the present time: {why}"
            ),
        ),
        Ok(Signer::ForSomethingElse) => (
            Code::WordNamespace,
            format!("the base lists the key that signed the log's tip, but not for `{NAMESPACE}`"),
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
