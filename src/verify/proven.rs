//! How the commit at hand is the one that was found done: itself, by its tree, or as exactly its merge.

use super::verify_outcome::Outcome;
use crate::service::Workspace;
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::machine::{self, Head};
use cook_protocol::model::{Policy, Snapshot, Subject};
use cook_repo::git::{MergedFrom, Repo};
use serde::{Serialize, Serializer};

/// How a commit is the proven one.
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

/// The commit that was asked about, and the one that was found done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct CommitStanding {
    /// HEAD; null = there is no commit yet.
    #[serde(serialize_with = "write_commit")]
    #[schemars(with = "Option<String>")]
    pub head: Head,
    /// The commit that was found done; null while work is open.
    pub done: Option<String>,
    /// null = it is not the proven one.
    pub how: Option<Proven>,
    /// What the done commit was merged into.
    pub base: Option<String>,
    /// How.
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

    /// Its tree is one that nobody has judged: only what runs at HEAD says something of it.
    pub fn is_new_tree(&self) -> bool {
        self.how == Some(Proven::MergedFrom)
    }

    /// In words: how the commit at hand is the proven one, or that it is not.
    pub fn words(&self, proven: &str, open: &str) -> String {
        let head = match &self.head.commit {
            Some(head) => short(head),
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
                let base = short(self.base.as_deref().unwrap_or_default());
                format!(
                    "{head} is exactly the merge{how} of {proven} {done} into {base}, made again here"
                )
            }
            None => format!("{head} is not {proven} {done}"),
        }
    }
}

fn short(id: &str) -> String {
    format!("`{}`", machine::short(id))
}

/// A commit in the place of HEAD.
pub(crate) fn head_at(commit: &str) -> Head {
    Head {
        commit: Some(commit.to_owned()),
        tree: None,
        branch: None,
    }
}

/// Finds out, and says what is wrong where it is not.
pub(super) fn find(
    workspace: &Workspace,
    snapshot: &Snapshot,
    outcome: &mut Outcome,
) -> Result<CommitStanding, Failure> {
    let head = workspace.repo.head()?;
    let done = find_done_commit(snapshot);
    let how = match (&head.commit, &done) {
        (Some(head), Some(done)) => how(workspace, head, done, outcome)?,
        _ => None,
    };
    Ok(CommitStanding::new(head, done, how))
}

/// The commit that the last conclusion was about.
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
) -> Result<Option<Recognised>, Failure> {
    let repo = &workspace.repo;
    let (shown, of) = (short(head), short(done));
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
            "{shown} is the merge of the done commit {of} into {}, which is not of the base {}: what else that commit holds was judged by nobody",
            short(&from.base),
            short(&judging.base)
        );
        outcome.find(Code::HeadMovedSinceDone, what);
        return Ok(None);
    }
    if how.is_none() {
        if repo.is_shallow() {
            let what = "where the work was merged cannot be seen: history is shallow";
            outcome.find(Code::HistoryShallow, what);
        }
        let what = format!(
            "{shown} is not the done commit {of}, has not its tree, and is not exactly a merge of it"
        );
        outcome.find(Code::HeadMovedSinceDone, what);
    }
    Ok(how)
}

/// How a commit is the done one, and of a merge how it was made.
type Recognised = (Proven, Option<MergedFrom>);

/// How a commit is the done one (full ids, both here); none = it is not.
pub(super) fn recognise(
    repo: &Repo,
    head: &str,
    done: &str,
) -> Result<Option<Recognised>, Failure> {
    if head == done {
        return Ok(Some((Proven::Itself, None)));
    }
    if repo.find_tree(head)? == repo.find_tree(done)? {
        return Ok(Some((Proven::SameTree, None)));
    }
    let merged = repo.find_merge(head, done)?;
    Ok(merged.map(|from| (Proven::MergedFrom, Some(from))))
}
