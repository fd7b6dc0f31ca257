//! How the commit at hand is the one that was found done: itself, by its tree, or as exactly its merge.

use super::outcome::Outcome;
use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure, Finding};
use cook_core::machine::{self, Head};
use cook_core::model::{Policy, Snapshot, Subject};
use cook_git::{MergedAs, MergedFrom, Repo};

/// How a commit is the proven one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proven {
    /// It is the done commit.
    Itself,
    /// Its tree is the done commit's.
    SameTree,
    /// It is exactly the merge of the done commit into its base.
    Merged(MergedFrom),
}

/// The commit that was asked about, and the one that was found done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitStanding {
    /// HEAD.
    pub head: Head,
    /// The commit that was found done; none while work is open.
    pub done: Option<String>,
    /// How the one is the other; none = it is not.
    pub how: Option<Proven>,
}

impl CommitStanding {
    /// Its tree is one that nobody has judged: only what runs at HEAD says something of it.
    pub fn is_new_tree(&self) -> bool {
        matches!(self.how, Some(Proven::Merged(_)))
    }

    /// In words: how the commit at hand is the proven one, or that it is not.
    pub fn words(&self) -> String {
        self.say("the done commit", "the work is not done")
    }

    /// The same of a goal.
    pub fn words_of_goal(&self) -> String {
        self.say(
            "the commit that reached the goal,",
            "the goal is not reached",
        )
    }

    fn say(&self, proven: &str, open: &str) -> String {
        let head = match &self.head.commit {
            Some(head) => short(head),
            None => "there is no commit yet".to_owned(),
        };
        let done = self.done.as_deref().map(short);
        match (&self.how, done) {
            (_, None) => format!("{head}: {open}"),
            (Some(Proven::Itself), _) => format!("{head} is {}", proven.trim_end_matches(',')),
            (Some(Proven::SameTree), Some(done)) => {
                format!("{head} has the tree of {proven} {done}")
            }
            (Some(Proven::Merged(from)), Some(done)) => {
                let how = match from.how {
                    MergedAs::Merge => "",
                    MergedAs::Squash => " (squashed)",
                    MergedAs::Rebase => " (rebased)",
                };
                let base = short(&from.base);
                format!(
                    "{head} is exactly the merge{how} of {proven} {done} into {base}, made again here"
                )
            }
            (None, Some(done)) => format!("{head} is not {proven} {done}"),
        }
    }
}

fn short(id: &str) -> String {
    format!("`{}`", machine::short(id))
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
    Ok(CommitStanding { head, done, how })
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
) -> Result<Option<Proven>, Failure> {
    let repo = &workspace.repo;
    let moved = |what: String| Finding::new(Code::HeadMovedSinceDone, what);
    if head != done && repo.resolve(done)?.is_none() {
        let what = format!("the done commit {} is not in this clone", short(done));
        outcome.findings.push(match repo.is_shallow() {
            true => Finding::new(Code::HistoryShallow, what),
            false => moved(what),
        });
        return Ok(None);
    }
    let how = recognise(repo, head, done)?;
    if let (Some(Proven::Merged(from)), Some(judging)) = (&how, &workspace.judging)
        && from.base != judging.base
        && !repo.is_ancestor(&from.base, &judging.base)?
    {
        let what = format!(
            "{} is the merge of the done commit {} into {}, which is not of the base {}: what else that commit holds was judged by nobody",
            short(head),
            short(done),
            short(&from.base),
            short(&judging.base)
        );
        outcome.findings.push(moved(what));
        return Ok(None);
    }
    if how.is_none() {
        if repo.is_shallow() {
            let what = "where the work was merged cannot be seen: history is shallow";
            let finding = Finding::new(Code::HistoryShallow, what);
            outcome.findings.push(finding);
        }
        let what = format!(
            "{} is not the done commit {}, has not its tree, and is not exactly a merge of it",
            short(head),
            short(done)
        );
        outcome.findings.push(moved(what));
    }
    Ok(how)
}

/// How a commit is the done one (full ids, both here); none = it is not.
pub(super) fn recognise(repo: &Repo, head: &str, done: &str) -> Result<Option<Proven>, Failure> {
    if head == done {
        return Ok(Some(Proven::Itself));
    }
    if repo.find_tree(head)? == repo.find_tree(done)? {
        return Ok(Some(Proven::SameTree));
    }
    Ok(repo.find_merge(head, done)?.map(Proven::Merged))
}
