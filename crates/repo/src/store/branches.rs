//! Branches and other refs of the log: which worktree owns a branch, refs with which this clone remembers remotes, and
//! moving a branch to a transition from elsewhere. All refs are written under the same lock.
//!
//! A worktree that lost its id, or a log that lost its branch, must not start a new log beside the old one: an error
//! names what is left of the old one.

use super::Store;
use super::error::{During, stale, unknown_name, unwritable};
use super::log_format::{self, Document, Meta, Stand, Tip};
use super::log_place::{self, LockedLog, Place, clear_ref_lock};
use super::odb::Log;
use super::writing::{Recovered, names};
use crate::disk::{self, Durable, Links, Mode, NewFile};
use cook_protocol::diagnostic::{Code, Failure, Finding};
use cook_protocol::machine::quote_word;
use git2::Oid;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Opens the log for reading. `None` if there is none.
pub(crate) fn open(place: &Place) -> Result<Option<Log>, Failure> {
    log_place::open_log(place)
}

/// Largest document of a worktree that is compared, in bytes.
const MAX_DOCUMENT: u64 = 64 << 20;

/// A workflow of the log that belongs to no worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unclaimed {
    /// The id of its former worktree: the branch of the log.
    pub id: String,
    /// Its newest transition; `None` if that cannot be read.
    pub tip: Option<Meta>,
    /// Whether `.agent/` shows it.
    pub is_shown: bool,
}

impl std::fmt::Display for Unclaimed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.tip {
            Some(tip) => {
                let what = &tip.subject;
                write!(f, "`{}` (#{} {}: {what})", self.id, tip.seq, tip.event)
            }
            None => write!(f, "`{}` (its newest transition cannot be read)", self.id),
        }
    }
}

impl Store {
    /// Opens the log of this worktree. `None` if there is none yet: no log, no worktree id, or no transition under that
    /// id. Anything unreadable or lost is an error, because `None` leads to a new log.
    pub fn open(place: Place) -> Result<Option<Self>, Failure> {
        let id = log_place::read_id(&place)?;
        let found = match &id {
            Some(id) => Self::open_as(place.clone(), id.clone(), false)?,
            None => None,
        };
        if found.is_none()
            && let Some(log) = log_place::open_log(&place)?
        {
            report_lost(&place, &log, id.as_deref())?;
        }
        Ok(found)
    }

    /// Workflows that belong to no worktree; those that `.agent/` shows come first.
    ///
    /// # Errors
    /// If the log cannot be opened.
    pub fn list_unclaimed(place: &Place) -> Result<Vec<Unclaimed>, Failure> {
        let log = log_place::open_log(place)?;
        log.map_or(Ok(Vec::new()), |log| list_unclaimed(place, &log))
    }

    /// Assigns an unclaimed workflow to this worktree, which must have none.
    ///
    /// # Errors
    /// If there is no such workflow, or this worktree has one.
    pub fn claim(place: &Place, id: &str) -> Result<(), Failure> {
        let log = log_place::open_known_log(place)?;
        let known = list_unclaimed(place, &log)?;
        match known.iter().any(|one| one.id == id) {
            true => write_id(place, &log, id),
            false => Err(unknown_name(id)),
        }
    }

    /// Assigns the id of a new workflow to this worktree, which must have none, and removes the stamp: nothing then
    /// vouches for the files of its view.
    ///
    /// # Errors
    /// If this worktree has a workflow.
    pub fn renounce(place: &Place) -> Result<(), Failure> {
        let log = log_place::open_known_log(place)?;
        write_id(place, &log, &log_place::fresh_id())?;
        remove(&place.stamp_file())
    }

    /// Transitions that another log replaced: the ref that keeps them, and the newest of them.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn set_aside(&self) -> Result<Vec<(String, String)>, Failure> {
        let found = self.read(|log| log.list_refs_under(SET_ASIDE))?;
        let mut kept: Vec<(String, String)> = found
            .into_iter()
            .map(|(id, commit)| (format!("{SET_ASIDE}{id}"), commit.to_string()))
            .collect();
        kept.sort();
        Ok(kept)
    }

    /// Whether the chain of `later` contains `earlier`; false if the log does not hold both.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn leads_over(&self, later: &str, earlier: &str) -> Result<bool, Failure> {
        self.read(|log| {
            let (Some(later), Some(earlier)) = (log.oid(later), log.oid(earlier)) else {
                return Ok(false);
            };
            if !log.holds(later) || !log.holds(earlier) {
                return Ok(false);
            }
            log_format::comes_before(log, earlier, later)
        })
    }

    /// The commit of the workflow's first transition.
    ///
    /// # Errors
    /// If the log cannot be read, or holds no transition.
    pub fn first(&self) -> Result<String, Failure> {
        self.read(|log| {
            let mut first = None;
            for commit in log_format::ancestry(log, self.tip_id(log)?) {
                first = Some(commit?);
            }
            let first = first.ok_or_else(|| unknown_name("@"))?;
            Ok(first.to_string())
        })
    }

    /// The newest transition that both workflows share.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn last_shared(&self, other: &Self) -> Result<Option<Tip>, Failure> {
        let (Some(mine), Some(theirs)) = (self.tip()?, other.tip()?) else {
            return Ok(None);
        };
        let least = mine.seq.min(theirs.seq);
        let mut ours = self
            .entries()?
            .skip_while(|meta| matches!(meta, Ok(meta) if meta.seq > least));
        let mut others = other
            .entries()?
            .skip_while(|meta| matches!(meta, Ok(meta) if meta.seq > least));
        while let (Some(mine), Some(theirs)) = (ours.next(), others.next()) {
            let (mine, theirs) = (mine?, theirs?);
            if mine.commit == theirs.commit {
                return Ok(Some(Tip {
                    commit: mine.commit,
                    seq: mine.seq,
                }));
            }
        }
        Ok(None)
    }

    /// Copies this log up to a transition (full id) to another place, under a new id. Conversations with agents are not
    /// copied.
    ///
    /// # Errors
    /// If the place has a log or cannot be written, or the transition is unknown.
    pub fn copy_until(&self, commit: &str, place: Place) -> Result<Self, Failure> {
        let copy = Self::create(place)?;
        let objects = |place: &Place| place.log_dir().join("objects");
        copy_tree(&objects(&self.place), &objects(&copy.place)).writing("a copy of the log")?;
        Marks::set(&copy.place, &format!("heads/{}", copy.id), commit, WAIT)?;
        Self::open(copy.place)?.ok_or_else(|| unknown_name(commit))
    }
}

/// Fails if this worktree has no workflow now but had one.
pub(super) fn report_lost(place: &Place, log: &Log, id: Option<&str>) -> Result<(), Failure> {
    let failed = |what: String, next: Vec<String>| {
        Err(Failure::state(Code::LogUnclaimed, what).replace_hints(next))
    };
    let shown = find_shown_commit(place, log)?;
    if let (Some(id), Some(shown)) = (id, shown) {
        let Ok(tip) = log_format::tip(log, shown) else {
            return Ok(());
        };
        let what = format!(
            "the branch `{id}` of this worktree is gone from the log; its transition #{} is there",
            tip.seq
        );
        let back = format!(
            "git --git-dir={} update-ref refs/heads/{id} {shown}",
            quote_word(&place.log_dir().display().to_string())
        );
        return failed(
            what,
            vec![format!("bring it back: `{back}`"), NEW.to_owned()],
        );
    }
    if id.is_some() {
        return Ok(());
    }
    let left = list_unclaimed(place, log)?;
    if shown.is_none() && !left.iter().any(|one| one.is_shown) {
        return Ok(());
    }
    let named: Vec<String> = left.iter().map(ToString::to_string).collect();
    let what = format!(
        "this worktree's id `{}` is lost; the log holds {}",
        place.id_file().display(),
        match named.is_empty() {
            true => "no workflow without a worktree".to_owned(),
            false => named.join(", "),
        }
    );
    let mut next: Vec<String> = left
        .iter()
        .map(|one| format!("go on with it: `cook init --log {}`", one.id))
        .collect();
    next.push(NEW.to_owned());
    failed(what, next)
}

const NEW: &str = "or begin another log beside it: `cook init --log new`";

fn list_unclaimed(place: &Place, log: &Log) -> Result<Vec<Unclaimed>, Failure> {
    let claimed = list_claimed(place)?;
    let shown = find_shown_commit(place, log)?;
    let state = disk::read(
        &place.agent_dir().join(Document::State.file()),
        MAX_DOCUMENT,
        Links::Refuse,
    );
    let state = state.ok().flatten();
    let state = state
        .map(|bytes| log_format::blob_id(log, &bytes))
        .transpose()?;
    let is_shown = |tip: Oid| {
        let before =
            |shown| shown == tip || log_format::comes_before(log, shown, tip).unwrap_or(false);
        let is_state = |state| {
            Stand::at(log, tip).is_ok_and(|stand| stand.blob(Document::State.file()) == Some(state))
        };
        shown.is_some_and(before) || state.is_some_and(is_state)
    };
    let mut left: Vec<Unclaimed> = log
        .list_refs_under("refs/heads/")?
        .into_iter()
        .filter(|(id, _)| log_place::is_id(id) && !claimed.contains(id))
        .map(|(id, tip)| Unclaimed {
            id,
            tip: log_format::meta(log, tip).ok(),
            is_shown: is_shown(tip),
        })
        .collect();
    left.sort_by_key(|one| !one.is_shown);
    Ok(left)
}

/// The ids of all worktrees.
fn list_claimed(place: &Place) -> Result<BTreeSet<String>, Failure> {
    let mut dirs = vec![place.common_dir.clone(), place.git_dir.clone()];
    if let Ok(linked) = std::fs::read_dir(place.common_dir.join("worktrees")) {
        dirs.extend(linked.flatten().map(|entry| entry.path()));
    }
    let mut ids = BTreeSet::new();
    for git_dir in dirs {
        let of = Place {
            git_dir,
            ..place.clone()
        };
        // A file with other content claims nothing; its own worktree reports that.
        ids.extend(log_place::read_id(&of).ok().flatten());
    }
    Ok(ids)
}

/// The transition that `.agent/` shows, if the log holds it.
fn find_shown_commit(place: &Place, log: &Log) -> Result<Option<Oid>, Failure> {
    let stamp = super::view::read_stamp(place)?;
    let named = stamp.and_then(|found| log.oid(&found.stamp.commit));
    Ok(named.filter(|id| log.commit(*id).is_ok()))
}

/// Writes the worktree's id, replacing one whose branch the log does not have.
fn write_id(place: &Place, log: &Log, id: &str) -> Result<(), Failure> {
    if let Some(old) = log_place::read_id(place)? {
        if log.find_ref(&format!("refs/heads/{old}"))?.is_some() {
            return Err(unknown_name(id));
        }
        remove(&place.id_file())?;
    }
    let path = place.id_file();
    let new = NewFile::at(&path, Durable::ContentAndName).mode(Mode::Masked(0o644));
    new.over_nothing()
        .write(format!("{id}\n").as_bytes())
        .writing("the worktree's id")
}

/// Removes a file, if it exists.
fn remove(path: &Path) -> Result<(), Failure> {
    disk::remove_file(path).writing(path.display().to_string())
}

/// Prefix of the refs that keep transitions which another log replaced.
pub(super) const SET_ASIDE: &str = "refs/cook/rescue/";

/// The result of moving the branch to a transition from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The new position of the branch.
    pub tip: Tip,
    /// The ref that keeps the old transitions, if they are not part of the new chain.
    pub set_aside: Option<String>,
    /// `checkout_pending` if the view lags behind, `displaced` if edits were set aside.
    pub findings: Vec<Finding>,
}

impl Recovered<'_> {
    /// Moves the branch from where the caller saw it to a transition that the log holds. Transitions that the new chain
    /// does not contain are kept under a ref first.
    ///
    /// # Errors
    /// `stale_facts` if the branch is elsewhere by now; then nothing changed.
    pub fn go_on_from(self, seen: Option<&Tip>, to: &str) -> Result<Moved, Failure> {
        let writer = &self.writer;
        let here = writer.tip()?;
        if here.map(|id| id.to_string()).as_deref() != seen.map(|tip| tip.commit.as_str()) {
            return Err(stale("the log moved meanwhile"));
        }
        let log = &writer.locked.log;
        let to = log.oid(to).ok_or_else(|| unknown_name(to))?;
        let mut moved = Moved {
            tip: log_format::tip(log, to)?,
            set_aside: None,
            findings: Vec::new(),
        };
        if here == Some(to) {
            return Ok(moved);
        }
        let leave = names(&self.differences()?);
        if let Some(here) = here
            && !log_format::comes_before(log, here, to)?
        {
            moved.set_aside = Some(set_aside_chain(log, here)?);
        }
        writer.locked.advance(&writer.store.branch(), here, to)?;
        moved.findings = writer.show(to, moved.tip.seq, &leave).1;
        Ok(moved)
    }

    /// Detaches the worktree from its workflow, if its tip is still the one the caller saw: keeps the transitions under
    /// a ref, which is returned, and removes the files of the view. Edits of these files are kept first. If the process
    /// is killed, the worktree has either this workflow, which will be shown again, or none.
    ///
    /// # Errors
    /// `stale_facts` if the branch is elsewhere by now; then nothing changed.
    pub fn leave_workflow(self, seen: &Tip) -> Result<String, Failure> {
        let writer = &self.writer;
        let here = writer.tip()?.filter(|id| id.to_string() == seen.commit);
        let here = here.ok_or_else(|| stale("the log moved meanwhile"))?;
        self.put_view_back()?;
        let place = &writer.store.place;
        let log = &writer.locked.log;
        let name = set_aside_chain(log, here)?;
        for file in super::view::list_documents() {
            remove(&place.agent_dir().join(file))?;
        }
        remove(&place.stamp_file())?;
        let branch = writer.store.branch();
        clear_ref_lock(&place.log_dir().join(&branch))?;
        let removed = log.remove_ref(&branch, here);
        removed.map_err(|error| unwritable("the log's branch", error))?;
        Ok(name)
    }
}

/// Keeps the chain of a transition under a ref, and returns the ref.
fn set_aside_chain(log: &Log, tip: Oid) -> Result<String, Failure> {
    let name = format!("{SET_ASIDE}{}", log_place::fresh_id());
    log.create_ref(&name, tip).writing("a ref of the log")?;
    Ok(name)
}

/// Refs of the log that record what this clone has seen elsewhere, such as `remotes/<remote>/<branch>`.
pub struct Marks;

impl Marks {
    /// The target of such a ref.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn read(place: &Place, name: &str) -> Result<Option<String>, Failure> {
        let Some(log) = log_place::open_log(place)? else {
            return Ok(None);
        };
        let found = log.find_ref(&format!("refs/{name}"))?;
        Ok(found.map(|id| id.to_string()))
    }

    /// Names of such refs below a prefix that ends in `/`, without the prefix.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn list(place: &Place, prefix: &str) -> Result<Vec<String>, Failure> {
        let Some(log) = log_place::open_log(place)? else {
            return Ok(Vec::new());
        };
        let found = log.list_refs_under(&format!("refs/{prefix}"))?;
        Ok(found.into_iter().map(|(name, _)| name).collect())
    }

    /// Points such a ref at a transition that the log holds.
    ///
    /// # Errors
    /// If the lock is held, or the ref cannot be written.
    pub fn set(place: &Place, name: &str, to: &str, wait: Duration) -> Result<(), Failure> {
        let name = format!("refs/{name}");
        let locked = LockedLog::take(place, wait)?;
        let to = locked.log.oid(to).ok_or_else(|| unknown_name(to))?;
        match locked.log.find_ref(&name)? {
            Some(at) if at == to => Ok(()),
            at => locked.advance(&name, at, to),
        }
    }
}

/// How long to wait for the lock of a log that nobody else knows.
const WAIT: Duration = Duration::from_secs(5);

/// Copies files and directories; everything else is not cook's and is skipped.
fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else if kind.is_file() {
            // A copy rather than a hard link, so that writes to the copy cannot reach the log.
            std::fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
