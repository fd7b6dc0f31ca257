//! Going on from a transition that came from elsewhere.

use super::Store;
use super::chain::LockedLog;
use super::claim::remove;
use super::error::{During, StoreError};
use super::lock;
use super::objects::{self, Tip};
use super::place::{self, Place};
use super::write::{Recovered, names};
use cook_core::diagnostic::Finding;
use std::time::Duration;

/// Where transitions are kept that another log took the place of.
pub(super) const SET_ASIDE: &str = "refs/cook/rescue/";

/// What going on from there did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// Where the branch stands now.
    pub tip: Tip,
    /// The ref that keeps the transitions which are not before it.
    pub set_aside: Option<String>,
    /// `checkout_pending` when the view lags behind, `displaced` when edits were set aside.
    pub findings: Vec<Finding>,
}

impl Recovered<'_> {
    /// Moves the branch from where the caller saw it to a transition that the log holds. What it
    /// leads to and the other does not is kept under a ref first.
    ///
    /// # Errors
    /// `stale_facts` when it stands elsewhere now. Nothing changed then.
    pub fn go_on_from(self, seen: Option<&Tip>, to: &str) -> Result<Moved, StoreError> {
        let writer = &self.writer;
        let here = writer.tip()?;
        if here.map(|id| id.to_string()).as_deref() != seen.map(|tip| tip.commit.as_str()) {
            return Err(StoreError::stale("the log moved meanwhile"));
        }
        let log = &writer.log;
        let to = log.oid(to).ok_or_else(|| StoreError::unknown(to))?;
        let tip = objects::tip(log, to)?;
        let mut moved = Moved {
            tip,
            set_aside: None,
            findings: Vec::new(),
        };
        let leave = names(&self.differences()?);
        let branch = writer.store.branch();
        lock::clear_ref_lock(&writer.store.place.log_dir().join(&branch))?;
        let moving = match here {
            Some(here) if here == to => return Ok(moved),
            Some(here) => {
                if !objects::comes_before(log, here, to)? {
                    let name = format!("{SET_ASIDE}{}", place::fresh_id());
                    log.create_ref(&name, here).writing("a ref of the log")?;
                    moved.set_aside = Some(name);
                }
                log.move_ref(&branch, here, to)
            }
            None => log.create_ref(&branch, to),
        };
        if let Err(error) = moving
            && writer.tip()? != Some(to)
        {
            return Err(StoreError::write("the log's branch", error));
        }
        moved.findings = writer.show(to, moved.tip.seq, &leave).1;
        Ok(moved)
    }

    /// Leaves the worktree without a workflow, where the caller saw its tip: the transitions are kept
    /// under a ref, which is returned, and what `.agent/` shows of them goes. Edits of what it shows are
    /// kept first. A process that is killed here leaves the workflow, which is shown again, or none.
    ///
    /// # Errors
    /// `stale_facts` when it stands elsewhere now. Nothing changed then.
    pub fn leave_workflow(self, seen: &Tip) -> Result<String, StoreError> {
        let writer = &self.writer;
        let here = writer.tip()?.filter(|id| id.to_string() == seen.commit);
        let here = here.ok_or_else(|| StoreError::stale("the log moved meanwhile"))?;
        self.put_view_back()?;
        let place = &writer.store.place;
        let branch = writer.store.branch();
        lock::clear_ref_lock(&place.log_dir().join(&branch))?;
        let name = format!("{SET_ASIDE}{}", place::fresh_id());
        let log = &writer.log;
        log.create_ref(&name, here).writing("a ref of the log")?;
        for file in super::view::list_documents() {
            remove(&place.agent_dir().join(file))?;
        }
        remove(&place.stamp_file())?;
        let removed = log.remove_ref(&branch, here);
        removed.map_err(|error| StoreError::write("the log's branch", error))?;
        Ok(name)
    }
}

impl Store {
    /// Transitions that another log took the place of: the ref that keeps them, and the newest.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn set_aside(&self) -> Result<Vec<(String, String)>, StoreError> {
        let found = self.read(|log| log.list_refs_under(SET_ASIDE))?;
        let mut kept: Vec<(String, String)> = found
            .into_iter()
            .map(|(id, commit)| (format!("{SET_ASIDE}{id}"), commit.to_string()))
            .collect();
        kept.sort();
        Ok(kept)
    }

    /// Whether the chain of a transition leads over another one; false where the log does not
    /// hold both.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn leads_over(&self, later: &str, earlier: &str) -> Result<bool, StoreError> {
        self.read(|log| {
            let (Some(later), Some(earlier)) = (log.oid(later), log.oid(earlier)) else {
                return Ok(false);
            };
            if !log.holds(later) || !log.holds(earlier) {
                return Ok(false);
            }
            objects::comes_before(log, earlier, later)
        })
    }

    /// The first transition of the workflow, by its commit.
    ///
    /// # Errors
    /// A log that cannot be read, or holds none.
    pub fn first(&self) -> Result<String, StoreError> {
        self.read(|log| {
            let mut first = None;
            for commit in objects::ancestry(log, self.tip_id(log)?) {
                first = Some(commit?);
            }
            let first = first.ok_or_else(|| StoreError::unknown("@"))?;
            Ok(first.to_string())
        })
    }

    /// The newest transition that this workflow and another one share.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn last_shared(&self, other: &Self) -> Result<Option<Tip>, StoreError> {
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
}

/// Refs of the log that say what this clone has seen elsewhere: `remotes/<remote>/<branch>`, and
/// the like.
pub struct Marks;

impl Marks {
    /// Where one points.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn read(place: &Place, name: &str) -> Result<Option<String>, StoreError> {
        let Some(log) = place::open_log(place)? else {
            return Ok(None);
        };
        let found = log.find_ref(&format!("refs/{name}"))?;
        Ok(found.map(|id| id.to_string()))
    }

    /// Names under a prefix that ends in `/`, without it.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn list(place: &Place, prefix: &str) -> Result<Vec<String>, StoreError> {
        let Some(log) = place::open_log(place)? else {
            return Ok(Vec::new());
        };
        let found = log.list_refs_under(&format!("refs/{prefix}"))?;
        Ok(found.into_iter().map(|(name, _)| name).collect())
    }

    /// Lets one point at a transition that the log holds.
    ///
    /// # Errors
    /// A held lock, a ref that cannot be written.
    pub fn set(place: &Place, name: &str, to: &str, wait: Duration) -> Result<(), StoreError> {
        let name = format!("refs/{name}");
        let locked = LockedLog::take(place, &name, wait)?;
        let to = locked.log.oid(to).ok_or_else(|| StoreError::unknown(to))?;
        match locked.log.find_ref(&name)? {
            Some(at) if at == to => Ok(()),
            at => locked.advance(&name, at, to),
        }
    }
}
