//! Facts for decisions about ranges and reported commits.
//!
//! The moves of HEAD since a known commit, from the reflog, or from ancestry if there is no reflog.
//!
//! Trailers of commit messages as libgit2 finds them; resolution of revisions; settings; the user's git identity.

use super::libgit::Listed;
use super::program::{Call, fail_git};
use super::{Repo, SLICE_TRAILER};
use crate::disk::{self, AtPath, Links};
use cook_protocol::diagnostic::Failure;
use cook_protocol::machine::{CommitFacts, CommitSeen, Head, MAX_COMMITS, MAX_PATHS, Range};
use cook_protocol::model::{Pattern, surface_matches};
use cook_protocol::question::CommitQuestion;
use std::collections::BTreeSet;
use std::path::PathBuf;

impl Repo {
    /// The commits that HEAD gained since `commit`; see [`Range`].
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn range(&self, head: &Head, commit: &str, with_paths: bool) -> Result<Range, Failure> {
        let mut range = Range::default();
        let Some(from) = self.resolve(commit)? else {
            return Ok(range);
        };
        range.resolves = true;
        let Some(to) = &head.commit else {
            return Ok(range);
        };
        range.ancestor = self.is_ancestor(&from, to)?;
        if !range.ancestor {
            range.merge_base = self.merge_base(&from, to)?;
        }
        range.commits = self.list_since(&from, to, range.ancestor, with_paths)?;
        Ok(range)
    }

    fn list_since(
        &self,
        from: &str,
        to: &str,
        is_on_head: bool,
        with_paths: bool,
    ) -> Result<Vec<CommitSeen>, Failure> {
        if from == to {
            return Ok(Vec::new());
        }
        let listed = self.list(Some(from), to, MAX_COMMITS)?;
        let mut found = Vec::new();
        for commit in listed.into_iter().rev() {
            let mut seen = self.read_commit(commit, with_paths)?;
            if seen.slice.is_some() && !self.is_work(&seen.id, from, is_on_head)? {
                seen.slice = None;
            }
            found.push(seen);
        }
        Ok(found)
    }

    /// Whether a commit can be work of a slice: it changes something, and it is built on the start of the range.
    /// Commits that a merge brings in from another branch are not, whatever their trailers say.
    fn is_work(&self, commit: &str, from: &str, is_on_head: bool) -> Result<bool, Failure> {
        let parents = self.parents(commit)?;
        if let [parent] = &parents[..]
            && self.find_tree(parent)? == self.find_tree(commit)?
        {
            return Ok(false);
        }
        Ok(!is_on_head || self.is_ancestor(from, commit)?)
    }

    fn read_commit(&self, commit: Listed, with_paths: bool) -> Result<CommitSeen, Failure> {
        let paths = if with_paths {
            let parent = self.parent(&commit.id)?;
            let changes = self.changes(parent.as_deref(), &commit.id)?;
            let paths = changes.into_iter().map(|change| change.path);
            paths.take(MAX_PATHS).collect()
        } else {
            Vec::new()
        };
        Ok(CommitSeen {
            slice: last_trailer(&commit.message, SLICE_TRAILER),
            id: commit.id,
            paths,
        })
    }

    /// Paths that a commit itself writes: those that differ from every one of its parents.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn list_written_paths(&self, commit: &str) -> Result<BTreeSet<String>, Failure> {
        let parents = self.parents(commit)?;
        let paths = |parent: Option<&str>| -> Result<BTreeSet<String>, Failure> {
            let changes = self.changes(parent, commit)?.into_iter();
            Ok(changes.map(|change| change.path).collect())
        };
        let Some((first, rest)) = parents.split_first() else {
            return paths(None);
        };
        let mut written = paths(Some(first))?;
        for parent in rest {
            let others = paths(Some(parent))?;
            written.retain(|path| others.contains(path));
        }
        Ok(written)
    }

    /// The author of a commit and the first line of its message, unmodified.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn heading(&self, commit: &str) -> Result<(String, String), Failure> {
        let listed = self.list(None, commit, 1)?;
        let heading = listed.into_iter().next().map(|commit| {
            let subject = commit.message.lines().next().unwrap_or_default().to_owned();
            (commit.author, subject)
        });
        Ok(heading.unwrap_or_default())
    }

    /// Whether `commit` (full or abbreviated) is HEAD or an ancestor of it.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn on_head(&self, head: &Head, commit: &str) -> Result<bool, Failure> {
        match (self.resolve(commit)?, &head.commit) {
            (Some(commit), Some(head)) => self.is_ancestor(&commit, head),
            _ => Ok(false),
        }
    }

    /// The facts about a reported commit, relative to the basis of its slice; see [`CommitFacts`].
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn commit_facts(
        &self,
        head: &Head,
        question: &CommitQuestion,
        protected: &[Pattern],
    ) -> Result<CommitFacts, Failure> {
        let mut facts = CommitFacts {
            id: self.resolve(&question.commit)?,
            ..CommitFacts::default()
        };
        let Some(id) = facts.id.clone() else {
            return Ok(facts);
        };
        facts.tree = Some(self.find_tree(&id)?);
        if let Some(head) = &head.commit {
            facts.on_head = self.is_ancestor(&id, head)?;
        }
        let Some(basis) = self.resolve(&question.basis)? else {
            return Ok(facts);
        };
        facts.after_basis = basis != id && self.is_ancestor(&basis, &id)?;
        let since = match &question.since {
            Some(since) => self.resolve(since)?,
            None => None,
        };
        let listed = self.list(Some(&basis), &id, MAX_COMMITS)?;
        let trailers: Vec<(String, Option<String>)> = listed
            .into_iter()
            .map(|commit| (commit.id, last_trailer(&commit.message, SLICE_TRAILER)))
            .collect();
        let is_own = |slice: &Option<String>| slice.as_ref() == Some(&question.slice_id);
        facts.claimed = vec![id.clone()];
        // A commit that a rewrite of history recreated may come from anybody.
        if let Some(since) = &since
            && self.is_ancestor(since, &id)?
        {
            facts.claimed = self.between(since, &id)?;
            facts.claimed.retain(|commit| {
                let named = trailers.iter().find(|(id, _)| id == commit);
                named.is_none_or(|(_, slice)| slice.is_none() || is_own(slice))
            });
        }
        let of_slice = trailers.into_iter().filter(|(_, slice)| is_own(slice));
        let mut own: BTreeSet<String> = of_slice.map(|(id, _)| id).collect();
        if let Some(since) = &since {
            let is_known = question.claimed.contains(&id) || !own.is_subset(&question.claimed);
            facts.is_earlier = !is_known && self.is_ancestor(&id, since)?;
        }
        own.extend(question.claimed.iter().cloned());
        let way = self.list_way(Some(&basis), &id, MAX_COMMITS)?;
        let way = BTreeSet::from_iter(way);
        facts.merged.clone_from(&facts.claimed);
        facts.merged.retain(|commit| !way.contains(commit));
        let made = facts.claimed.iter().filter(|made| way.contains(*made));
        own.extend(made.cloned());
        own.insert(id.clone());
        let mut touched = BTreeSet::new();
        for commit in own.intersection(&way) {
            touched.extend(self.list_written_paths(commit)?);
        }
        let mut paths = self.changes(Some(&basis), &id)?;
        paths.retain(|change| touched.contains(&change.path));
        let (mut guarded, mut free): (Vec<String>, Vec<String>) = paths
            .into_iter()
            .map(|change| change.path)
            .partition(|path| is_protected(path, protected));
        guarded.truncate(MAX_PATHS);
        free.truncate(MAX_PATHS - guarded.len());
        facts.paths = [guarded.clone(), free].concat();
        facts.protected = guarded;
        Ok(facts)
    }

    /// The first-parent chain from `to` back to `from`, without `from`.
    fn list_way(&self, from: Option<&str>, to: &str, most: usize) -> Result<Vec<String>, Failure> {
        let mut way = Vec::new();
        let mut next = Some(to.to_owned());
        while let Some(commit) = next.filter(|one| Some(&**one) != from && way.len() < most) {
            next = self.parent(&commit)?;
            way.push(commit);
        }
        Ok(way)
    }

    /// Ids of `from..to`, oldest first.
    fn between(&self, from: &str, to: &str) -> Result<Vec<String>, Failure> {
        let listed = self.list(Some(from), to, MAX_COMMITS)?;
        Ok(listed.into_iter().rev().map(|commit| commit.id).collect())
    }

    /// Commits made since HEAD was at `seen`, oldest first, as far as HEAD still contains them; at most the newest
    /// [`MAX_MADE`]. A branch switch, a reset and a fast-forward make none; an amend and a merge make one each; a
    /// rebase makes one for each rewritten commit.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn list_made_since(
        &self,
        seen: Option<&str>,
        head: &Head,
    ) -> Result<Vec<MadeCommit>, Failure> {
        let Some(now) = &head.commit else {
            return Ok(Vec::new());
        };
        if seen == Some(now.as_str()) {
            return Ok(Vec::new());
        }
        let ids = match self.list_moves_since(seen)? {
            Some(moves) => moves
                .into_iter()
                .filter(Move::is_new_commit)
                .map(|made| made.to)
                .collect(),
            None => self.list_gained(seen, now)?,
        };
        let mut made = Vec::new();
        let mut known = BTreeSet::new();
        // Newest first, so that the limit keeps the newest and a repeated id keeps its last position.
        for id in ids.into_iter().rev() {
            if made.len() < MAX_MADE && known.insert(id.clone()) && self.is_ancestor(&id, now)? {
                made.push(self.read_made(&id)?);
            }
        }
        made.reverse();
        Ok(made)
    }

    fn read_made(&self, id: &str) -> Result<MadeCommit, Failure> {
        let listed = self.list(None, id, 1)?.into_iter().next();
        let listed = listed.ok_or_else(|| fail_git(format!("{id} is not a commit")))?;
        let subject = listed.message.lines().next().unwrap_or_default().to_owned();
        let CommitSeen { id, slice, paths } = self.read_commit(listed, true)?;
        Ok(MadeCommit {
            id,
            subject,
            slice,
            paths,
        })
    }

    /// The moves after the last one to `seen`; `None` if there is no reflog, or it does not reach back that far.
    fn list_moves_since(&self, seen: Option<&str>) -> Result<Option<Vec<Move>>, Failure> {
        let path = self.git_dir.join("logs").join("HEAD");
        let Some(mut file) = disk::open_regular(&path, Links::Follow).at("read", &path)? else {
            return Ok(None);
        };
        let is_whole = file.metadata().at("read", &path)?.len() <= TAIL;
        let bytes = disk::read_tail(&mut file, TAIL).at("read", &path)?;
        let text = String::from_utf8_lossy(&bytes);
        let moves: Vec<Move> = text.lines().filter_map(parse).collect();
        let from = match seen {
            None if is_whole => Some(0),
            None => None,
            Some(seen) => moves.iter().rposition(|m| m.to == seen).map(|at| at + 1),
        };
        Ok(from.map(|from| moves.into_iter().skip(from).collect()))
    }

    /// Without a reflog: the commits that HEAD gained on its first-parent chain, if it still contains `seen`. Any other
    /// case cannot be told from a branch switch.
    fn list_gained(&self, seen: Option<&str>, now: &str) -> Result<Vec<String>, Failure> {
        if let Some(seen) = seen
            && !self.is_ancestor(seen, now)?
        {
            return Ok(Vec::new());
        }
        let mut ids = self.list_way(seen, now, MAX_MADE)?;
        ids.reverse();
        Ok(ids)
    }

    /// The identity that a commit made here would carry, from the user's settings and variables; `None` if git would
    /// refuse to make one.
    ///
    /// # Errors
    /// When git cannot be asked.
    pub fn identity(&self) -> Result<Option<Identity>, Failure> {
        let mut identity = Identity::new();
        for (asked, variables) in NAMES {
            let heard = self.program.ask(Call::new("var").arg(asked))?;
            let text = String::from_utf8_lossy(&heard.stdout).into_owned();
            let Some((name, address)) = name_and_address(&text).filter(|_| heard.success()) else {
                return Ok(None);
            };
            identity.extend(variables.into_iter().zip([name, address]));
        }
        Ok(Some(identity))
    }

    /// Whether git has an identity for commits. git is not asked if variables or settings name one.
    ///
    /// # Errors
    /// As [`Repo::identity`].
    pub fn has_identity(&self) -> Result<bool, Failure> {
        Ok(self.names_somebody() || self.identity()?.is_some())
    }

    /// Whether author and committer each have a name and an address that git would not strip to nothing.
    fn names_somebody(&self) -> bool {
        let variable = |name: &str| std::env::var_os(name).map(|value| value.into_string().ok());
        // libgit2 does not read settings that come from the environment.
        let is_read =
            std::env::vars_os().all(|(name, _)| !name.to_string_lossy().starts_with("GIT_CONFIG"));
        let settings = self.objects.config().ok().filter(|_| is_read);
        let setting = |name: String| settings.as_ref()?.get_string(&name).ok();
        let is_plain = |value: &str| {
            value.contains(|c: char| c.is_ascii_alphanumeric())
                && !value.contains(|c: char| c.is_control() || "<>".contains(c))
        };
        ["author", "committer"].iter().all(|who| {
            ["name", "email"].iter().all(|what| {
                let named = match variable(&format!("GIT_{who}_{what}").to_ascii_uppercase()) {
                    Some(named) => named,
                    None => {
                        setting(format!("{who}.{what}")).or_else(|| setting(format!("user.{what}")))
                    }
                };
                named.is_some_and(|named| is_plain(&named))
            })
        })
    }

    /// The full id of the commit that a revision names, as `git rev-parse` reads it; `None` if it names no commit here.
    ///
    /// # Errors
    /// `git_missing`, or git does not answer.
    pub fn commit_named(&self, name: &str) -> Result<Option<String>, Failure> {
        if name.is_empty() || name.starts_with('-') || name.contains('\0') {
            return Ok(None);
        }
        let call = Call::new("rev-parse -q --verify").arg(format!("{name}^{{commit}}"));
        self.ask_line(call)
    }

    /// Whether a ref is symbolic, as a remote's `HEAD` is and a branch of that name is not.
    ///
    /// # Errors
    /// As [`Repo::commit_named`].
    pub fn is_symbolic(&self, name: &str) -> Result<bool, Failure> {
        let call = Call::new("symbolic-ref -q").arg(name.to_owned());
        Ok(self.ask_line(call)?.is_some())
    }

    /// The short name of the upstream of the checked-out branch.
    ///
    /// # Errors
    /// As [`Repo::commit_named`].
    pub fn upstream(&self) -> Result<Option<String>, Failure> {
        self.ask_line(Call::new("rev-parse --abbrev-ref @{upstream}"))
    }

    /// The ref of a remote's default branch, `origin` preferred, as of the last clone or fetch.
    ///
    /// # Errors
    /// If the refs cannot be read.
    pub fn default_branch(&self) -> Result<Option<String>, Failure> {
        let names = self.refs()?.into_keys();
        Ok(names
            .filter(|name| name.starts_with("refs/remotes/") && name.ends_with("/HEAD"))
            .min_by_key(|name| name != "refs/remotes/origin/HEAD"))
    }

    /// The directory of git's hooks; `core.hooksPath` if that is set.
    ///
    /// # Errors
    /// As [`Repo::commit_named`].
    pub fn hooks_dir(&self) -> Result<PathBuf, Failure> {
        let call = Call::new("config --type=path --get-all core.hooksPath");
        let told = self.program.ask(call)?;
        let text = String::from_utf8_lossy(&told.stdout);
        // The last value is the one that cook sets in each of its calls to keep hooks from running.
        let theirs = text.lines().rev().nth(1);
        let default = || self.common_dir().join("hooks");
        Ok(theirs.map_or_else(default, |path| self.root().join(path)))
    }

    /// The effective value of a git setting, with `~` expanded; `None` if it is not set.
    ///
    /// # Errors
    /// As [`Repo::commit_named`].
    pub fn setting(&self, name: &str) -> Result<Option<String>, Failure> {
        self.ask_line(Call::new("config --type=path --get").arg(name))
    }

    /// The output line of git, if any; `None` if git refuses the name.
    fn ask_line(&self, call: Call) -> Result<Option<String>, Failure> {
        let captured = self.program.ask(call)?;
        let text = String::from_utf8_lossy(&captured.stdout);
        let line = text.trim();
        Ok((captured.code == Some(0) && !line.is_empty()).then(|| line.to_owned()))
    }
}

/// Whether a path is protected: everything in `.agent/` (contract and settings, whose gates and limits bind their
/// author as well), or a path of `[rules] protected`.
pub(super) fn is_protected(path: &str, protected: &[Pattern]) -> bool {
    path.starts_with(".agent/")
        || protected
            .iter()
            .any(|pattern| surface_matches(pattern, path))
}

/// Bytes that are read from the end of the reflog.
const TAIL: u64 = 256 << 10;

/// Most commits that [`Repo::list_made_since`] returns.
pub const MAX_MADE: usize = 100;

/// A commit that [`Repo::list_made_since`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeCommit {
    /// Full id.
    pub id: String,
    /// First line of its message, unmodified.
    pub subject: String,
    /// Value of its last `Cook-Slice` trailer.
    pub slice: Option<String>,
    /// Paths it changes against its first parent, at most [`MAX_PATHS`].
    pub paths: Vec<String>,
}

/// A line of the reflog.
struct Move {
    to: String,
    what: String,
}

/// Beginnings of reflog messages for moves to commits that existed before.
const LEADS_ELSEWHERE: [&str; 9] = [
    "checkout:",
    "switch:",
    "reset:",
    "clone:",
    "branch:",
    "fetch:",
    "update:",
    "Branch:",
    "worktree:",
];

impl Move {
    /// Whether the move made a commit. A fast-forward, and the start and end of a rebase, do not.
    fn is_new_commit(&self) -> bool {
        let action = self.what.split(':').next().unwrap_or_default();
        let elsewhere = LEADS_ELSEWHERE
            .iter()
            .any(|beginning| self.what.starts_with(beginning));
        let pulled = ["merge ", "pull"].iter().any(|how| action.starts_with(how));
        let forward = pulled && self.what.ends_with("Fast-forward");
        let edge = ["(start)", "(finish)", "(abort)", "finished"]
            .iter()
            .any(|end| action.ends_with(end));
        !(self.what.is_empty() || elsewhere || forward || edge)
    }
}

/// `<old> <new> <who> <when> <zone>\t<what>`.
fn parse(line: &str) -> Option<Move> {
    let (facts, what) = line.split_once('\t').unwrap_or((line, ""));
    let mut ids = facts.split(' ');
    let is_id = |id: &&str| id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    ids.next().filter(is_id)?;
    Some(Move {
        to: ids.next().filter(is_id)?.to_owned(),
        what: what.to_owned(),
    })
}

/// `(token, value)` of each trailer in the final trailer block, in order; continuation lines are joined with one space.
fn trailers(message: &str) -> Vec<(String, String)> {
    // A commit message has no patch below it, so a `---` line does not end the message.
    let lines = message.lines();
    let lines = lines.map(|line| {
        line.strip_prefix('-')
            .filter(|_| line.starts_with("---"))
            .unwrap_or(line)
    });
    let message = lines.collect::<Vec<_>>().join("\n");
    let Ok(found) = git2::message_trailers_strs(&message) else {
        return Vec::new();
    };
    let found = found.iter().map(|(token, value)| {
        let parts: Vec<&str> = value.lines().map(str::trim).collect();
        (token.trim().to_owned(), parts.join(" ").trim().to_owned())
    });
    found.collect()
}

/// The value of the last trailer of that name (in any case), if it has one.
pub fn last_trailer(message: &str, name: &str) -> Option<String> {
    let mut found = trailers(message).into_iter().rev();
    let (_, value) = found.find(|(token, _)| token.eq_ignore_ascii_case(name))?;
    Some(value).filter(|value| !value.is_empty())
}

/// The identity of author and committer: git's environment variables and their values.
pub type Identity = Vec<(&'static str, String)>;

/// git's name for each identity, and the environment variables that set it in another git process.
const NAMES: [(&str, [&str; 2]); 2] = [
    ("GIT_AUTHOR_IDENT", ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"]),
    (
        "GIT_COMMITTER_IDENT",
        ["GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"],
    ),
];

/// `Name <address> seconds zone`.
fn name_and_address(text: &str) -> Option<(String, String)> {
    let (before, _) = text.rsplit_once('>')?;
    let (name, address) = before.rsplit_once('<')?;
    Some((name.trim().to_owned(), address.to_owned()))
}

#[cfg(test)]
mod trailers_tests {
    use super::*;

    #[test]
    fn the_last_one_of_the_final_block_counts() {
        let message = "title\n\nCook-Slice: not-this\n\nbody\n\nCook-Slice: a\ncook-slice: b\n";
        assert_eq!(last_trailer(message, "Cook-Slice").as_deref(), Some("b"));
        assert_eq!(last_trailer("Cook-Slice: title", "Cook-Slice"), None);
        assert_eq!(
            last_trailer("t\n\nprose\nCook-Slice: a\n", "Cook-Slice"),
            None
        );
        assert_eq!(
            last_trailer(
                "t\n\nCook-Slice: a\nSigned-off-by: x\nsome prose\n",
                "Cook-Slice"
            )
            .as_deref(),
            Some("a")
        );
        assert_eq!(
            last_trailer("t\r\n\r\nCook-Slice: a\r\n", "Cook-Slice").as_deref(),
            Some("a")
        );
    }
}

#[cfg(test)]
mod revisions_tests {
    use super::*;

    #[test]
    fn a_name_and_an_address_as_git_says_them() {
        let of = |text| name_and_address(text);
        let both = |name: &str, address: &str| Some((name.to_owned(), address.to_owned()));
        assert_eq!(
            of("Ada B. <ada@example.org> 1700000000 +0100\n"),
            both("Ada B.", "ada@example.org")
        );
        assert_eq!(of("Ada <> 1 +0000"), both("Ada", ""));
        assert_eq!(of(""), None);
    }
}
