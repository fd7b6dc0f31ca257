//! A log that came from elsewhere, in a temporary directory: looked through there, read there, and
//! taken into the log when all of it holds.

use super::Store;
use super::admit::{self, Admitted, Limits};
use super::chain::LockedLog;
use super::error::{During, StoreError};
use super::log::Log;
use super::objects::{self, Meta};
use super::pack;
use super::place::{self, Place};
use cook_os::disk::TemporaryDir;
use git2::Oid;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// From this many objects on they become a pack; fewer are files of their own, as a
/// transition's are.
const PACKED_FROM: usize = 500;

/// A directory for objects of another repository, with the shape of a log.
#[derive(Debug)]
pub struct Quarantine {
    dir: Arc<TemporaryDir>,
    /// Of the log in it.
    inside: Place,
    /// Of the worktree that asked.
    here: Place,
    /// Object directories that are read beside it.
    lent: Vec<PathBuf>,
    /// What the worktree's log holds counts as known.
    knows_own: bool,
}

impl Quarantine {
    /// Makes one. With `knows_own` a chain is followed to what the worktree's log holds, else to
    /// its beginning.
    ///
    /// # Errors
    /// A directory that cannot be made, a log that cannot be used.
    pub fn make(here: &Place, knows_own: bool) -> Result<Self, StoreError> {
        let what = "a directory for a log from elsewhere";
        let dir = TemporaryDir::make().writing(what)?;
        let root = dir.path().canonicalize().writing(what)?;
        let inside = Place {
            common_dir: root.clone(),
            git_dir: root.clone(),
            // It shows nothing.
            worktree: root.join("none"),
        };
        place::fill_passing(&inside, here).writing(what)?;
        let mut lent = vec![here.common_dir.join("objects")];
        let knows_own = knows_own && place::open_log(here)?.is_some();
        if knows_own {
            lent.push(here.log_dir().join("objects"));
        }
        Ok(Self {
            dir: Arc::new(dir),
            inside,
            here: here.clone(),
            lent,
            knows_own,
        })
    }

    /// Where git is to put what it fetches.
    pub fn objects(&self) -> PathBuf {
        self.inside.log_dir().join("objects")
    }

    /// Where git may look for what is here already.
    pub fn lent(&self) -> &[PathBuf] {
        &self.lent
    }

    fn open_alone(&self) -> Result<Log, StoreError> {
        place::open_known_log(&self.inside)
    }

    fn open_all(&self) -> Result<Log, StoreError> {
        let mut log = self.open_alone()?;
        for dir in self.lent.iter().filter(|dir| dir.is_dir()) {
            log = log.with_objects(dir)?;
        }
        Ok(log)
    }

    fn own(&self) -> Result<Option<Log>, StoreError> {
        match self.knows_own {
            true => place::open_log(&self.here),
            false => Ok(None),
        }
    }

    /// Looks at the size of everything that came along.
    ///
    /// # Errors
    /// `remote_log_refused`.
    pub fn check_sizes(&self, limits: &Limits) -> Result<(), StoreError> {
        admit::check_sizes(&self.open_alone()?.at_rest(), limits)
    }

    /// Looks a chain through, from that commit back.
    ///
    /// # Errors
    /// `remote_log_refused`, or a format that this cook does not know.
    pub fn admit(&self, tip: &str, limits: &Limits) -> Result<Admitted, StoreError> {
        let log = self.open_all()?.at_rest();
        let tip = commit_name(&log, tip)?;
        admit::admit(&log, self.own()?.as_ref(), tip, limits)
    }

    /// What a commit of it says about itself.
    ///
    /// # Errors
    /// When it is not here, or not a transition.
    pub fn meta(&self, commit: &str) -> Result<Meta, StoreError> {
        let log = self.open_all()?;
        objects::meta(&log, commit_name(&log, commit)?)
    }

    /// Opens an admitted chain as a log of its own, for reading. The directory stays for as long
    /// as the store does.
    ///
    /// # Errors
    /// When it cannot be written down there.
    pub fn open(&self, admitted: &Admitted) -> Result<Store, StoreError> {
        let all = self.open_all()?;
        let alone = self.open_alone()?;
        let came: HashSet<Oid> = alone.all()?.into_iter().collect();
        let needed = admitted.objects.iter().copied();
        let lacking: Vec<Oid> = needed.filter(|id| !came.contains(id)).collect();
        bring(&all, &alone, &self.lent, &self.inside, &lacking)?;
        let id = place::fresh_id();
        // The tip may be among what is here already.
        all.create_ref(&format!("refs/heads/{id}"), admitted.tip)
            .writing("a ref of the fetched log")?;
        let mut log = self.open_alone()?;
        if self.knows_own {
            // What it follows stays where it is.
            for dir in &self.lent {
                log = log.with_objects(dir)?;
            }
        }
        Ok(Store {
            place: self.inside.clone(),
            log: log.at_rest(),
            id,
            foreign: true,
            _keeps: Some(Arc::clone(&self.dir)),
        })
    }

    /// Writes an admitted chain into the log of the worktree, which is made where there is none.
    /// No ref leads there yet.
    ///
    /// # Errors
    /// A held lock, an object that cannot be read or written.
    pub fn take_in(&self, admitted: &Admitted, wait: Duration) -> Result<(), StoreError> {
        let all = self.open_all()?;
        let locked = LockedLog::take(&self.here, "refs/heads/none", wait)?;
        let lacking: Vec<Oid> = admitted
            .objects
            .iter()
            .copied()
            .filter(|id| !locked.log.holds(*id))
            .collect();
        let mut from = vec![self.objects()];
        from.extend(self.lent.iter().cloned());
        bring(&all, &locked.log, &from, &self.here, &lacking)?;
        locked.log.sync_fan_out()
    }
}

fn commit_name(log: &Log, name: &str) -> Result<Oid, StoreError> {
    log.oid(name).ok_or_else(|| {
        StoreError::foreign(format!("`{}` is not an object's name", name.escape_debug()))
    })
}

/// Copies objects into a log, in their order.
fn bring(
    from: &Log,
    to: &Log,
    dirs: &[PathBuf],
    place: &Place,
    objects: &[Oid],
) -> Result<(), StoreError> {
    if objects.len() >= PACKED_FROM {
        return pack::write(place, dirs, objects);
    }
    for id in objects {
        let (kind, bytes) = from.read(*id)?;
        to.write(kind, &bytes)?;
    }
    Ok(())
}
