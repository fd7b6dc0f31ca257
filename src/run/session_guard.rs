//! What a session may change (`docs/run.md#what-a-session-may-change`): the repository is compared before and after the
//! session, and changes that the role may not make are kept aside and reverted.
//!
//! Invariant: nothing is reverted before a copy of it is kept. Changes that cannot be reverted are named and left as
//! they are.

use crate::prelude::*;
use crate::service;
use crate::workspace::Workspace;
use cook_protocol::machine::OutsideEdit;
use cook_protocol::model::{BRIEF_FILE, BriefSync, CONTRACT_FILES, SETTINGS_FILES};
use cook_repo::git::{Baseline, Difference, Ignored};
use cook_repo::store::{MAX_KEPT, rescue_keep};
use std::time::SystemTime;

/// Maximum size of a note in bytes.
const MAX_NOTE: u64 = 64 << 20;

/// How long to wait for another writer.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// The watch over one session.
#[derive(Debug)]
pub struct Watch {
    baseline: Baseline,
    note: Note,
    /// Whether the `cook` that began it is gone, so that others may have used the repository since.
    left: bool,
}

/// Facts about the session, stored with the baseline for a later `cook` that finds them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    role: Role,
    /// Whether it is a question of the user and not a session of a role.
    #[serde(default)]
    asked: bool,
    /// The log's tip when the session began.
    tip: Option<String>,
    /// The newest transition at that time that had moved the work.
    #[serde(default)]
    settled: Option<String>,
    /// Files of `.agent/` that already differed from the log.
    edits: Vec<OutsideEdit>,
    /// Whether the session works in its own checkout, so that changes of the worktree are the user's.
    #[serde(default)]
    apart: bool,
    /// Lock files of git that were already there.
    #[serde(default)]
    locks: BTreeSet<PathBuf>,
}

/// Changes of a session that its role may not make.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Violation {
    /// The changes, one line each.
    pub what: Vec<String>,
    /// Ids of copies that `cook doctor rescue` shows.
    pub copies: Vec<String>,
    /// Refs in the user's repository that hold removed commits.
    pub refs: Vec<String>,
    /// New places of files that were too large for a copy.
    pub moved: Vec<PathBuf>,
    /// Changes that could not be reverted.
    pub left: Vec<String>,
    /// Changes that were made after the session or beside it, and that stay.
    pub later: Vec<String>,
    /// Ids of copies of earlier uncommitted content that is gone now, though the session did not remove it.
    pub before: Vec<String>,
    /// Whether another process moved the log, so that the session's report no longer fits it.
    pub log_moved: bool,
    /// Whether only the user's words and changes of the brief moved it.
    pub user_spoke: bool,
}

impl Violation {
    /// Whether there was no violation.
    pub fn is_none(&self) -> bool {
        self.what.is_empty() && !self.log_moved
    }
}

impl Watch {
    /// Begins to watch a session of a role.
    ///
    /// # Errors
    /// A repository or log that cannot be read, or a baseline that cannot be written.
    pub fn begin(workspace: &Workspace, role: Role, apart: bool, dir: &Path) -> Result<Self> {
        // An implementer may leave any ignored files, and if the session has its own checkout, `.agent/` is the user's.
        let ignored = match apart || role == Role::Implementer {
            true => Ignored::default(),
            false => list_ignored(workspace)?,
        };
        Self::begin_noted(workspace, (role, false, apart), dir, ignored)
    }

    /// Begins to watch a question of the user, which may change as little as a reader's session.
    ///
    /// # Errors
    /// As [`Watch::begin`].
    pub fn of_question(workspace: &Workspace, dir: &Path) -> Result<Self> {
        let ignored = list_ignored(workspace)?;
        Self::begin_noted(workspace, (Role::Reviewer, true, false), dir, ignored)
    }

    fn begin_noted(
        workspace: &Workspace,
        (role, asked, apart): (Role, bool, bool),
        dir: &Path,
        ignored: Ignored,
    ) -> Result<Self> {
        let note = Note {
            role,
            asked,
            apart,
            tip: tip(workspace)?,
            settled: find_settled(workspace)?,
            edits: outside_edits(workspace)?,
            locks: workspace.repo.locks()?,
        };
        let baseline = workspace.repo.baseline(dir, ignored)?;
        let path = dir.join(NOTE);
        let written = serde_json::to_vec(&note)
            .map_err(std::io::Error::other)
            .and_then(|bytes| std::fs::write(&path, bytes));
        written.map_err(|error| unwritable(&path, &error))?;
        Ok(Self {
            baseline,
            note,
            left: false,
        })
    }

    /// Opens the watch of a `cook` that was killed; `None` if it had not begun yet. Changes made after `end` are not
    /// the session's; if `end` is `None`, its end is unknown.
    ///
    /// # Errors
    /// A baseline that cannot be read.
    pub fn open_left_behind(dir: &Path, end: Option<SystemTime>) -> Result<Option<Self>> {
        let Some(baseline) = Baseline::open(dir)? else {
            return Ok(None);
        };
        let note = disk::read(&dir.join(NOTE), MAX_NOTE, Links::Refuse)
            .ok()
            .flatten()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(note.map(|note| Self {
            baseline: baseline.until(end),
            note,
            left: true,
        }))
    }

    /// The directory of its baseline.
    pub(super) fn dir(&self) -> &Path {
        self.baseline.dir()
    }

    pub(super) fn tip(&self) -> Option<&str> {
        self.note.tip.as_deref()
    }

    /// The role of the session.
    pub fn role(&self) -> Role {
        self.note.role
    }

    /// Removes locks that killed git processes of the session left, because they would prevent every commit. Must run
    /// after the session's processes have ended.
    ///
    /// # Errors
    /// A git directory that cannot be read or written.
    pub fn unlock(&self, workspace: &Workspace) -> Result<Vec<PathBuf>> {
        workspace.repo.remove_dead_locks(&self.note.locks)
    }

    /// Restores the files that lead to the repository. Must run before it is opened.
    ///
    /// # Errors
    /// Files that cannot be read or written.
    pub fn put_leads_back(&self) -> Result<Vec<Difference>> {
        self.baseline.put_leads_back()
    }

    /// Compares the repository with the baseline, and keeps and reverts forbidden changes. `leads` are the differences
    /// that [`Watch::put_leads_back`] has reverted.
    ///
    /// # Errors
    /// A repository that cannot be read, or a copy that cannot be kept: nothing is reverted without a copy.
    pub fn settle(&self, workspace: &Workspace, leads: Vec<Difference>) -> Result<Violation> {
        let repo = &workspace.repo;
        let mut breach = Violation::default();
        self.settle_log(workspace, &mut breach)?;
        // The first comparison restores steering files; the second sees what they hid.
        let mut all = leads;
        all.extend(self.baseline.differences(repo)?);
        if all
            .iter()
            .any(|one| matches!(one, Difference::Steering { .. }))
        {
            all.extend(self.baseline.differences(repo)?);
            all.sort();
            all.dedup();
        }
        let (own, mut later) = self.baseline.divide(repo, all)?;
        let (own, beside) = self.not_its_place(own);
        later.extend(beside);
        if self.left {
            breach.later = list_differences(&later);
        }
        let forbidden = self.forbidden(repo, own)?;
        let id = cook_repo::store::fresh_id();
        if !forbidden.is_empty() {
            breach.what.extend(list_differences(&forbidden));
            let why = format!("{} changed it", self.whose());
            let (small, large) = files(repo, &forbidden);
            breach
                .copies
                .extend(rescue_keep(&workspace.place(), &small, &why)?);
            breach.moved = move_away(repo, &id, &large)?;
            breach.refs = self.baseline.keep_refs(repo, &forbidden, &id)?;
            self.baseline.put_back(repo, &forbidden)?;
            // Files that flags of the index had hidden; the index is restored, and nothing is in their place.
            let mut gone = self.still(repo)?;
            gone.retain(|one| matches!(one, Difference::File { deleted: true, .. }));
            self.baseline.put_back(repo, &gone)?;
            let mut still = self.still(repo)?;
            let repositories = move_repositories(repo, &id, &still);
            if !repositories.is_empty() {
                // With the repositories gone, the files in their place are compared like any others.
                breach.moved.extend(repositories);
                let new = self.still(repo)?;
                let (small, large) = files(repo, &new);
                breach
                    .copies
                    .extend(rescue_keep(&workspace.place(), &small, &why)?);
                breach.moved.extend(move_away(repo, &id, &large)?);
                self.baseline.put_back(repo, &new)?;
                still = self.still(repo)?;
            }
            breach.left = list_differences(&still);
            later.extend(still);
        }
        self.keep_before(workspace, &later, &id, &mut breach)?;
        let documents = repo.root().join(".agent");
        if let Some(store) = &workspace.store {
            self.settle_view(store, &documents, &mut breach)?;
        }
        Ok(breach)
    }

    /// Restores a log that was set back, or that gained a transition which no event produces. A log that another
    /// process moved properly stays.
    fn settle_log(&self, workspace: &Workspace, breach: &mut Violation) -> Result<()> {
        let now = tip(workspace)?;
        if now == self.note.tip {
            return Ok(());
        }
        let (Some(begun), Some(store)) = (&self.note.tip, &workspace.store) else {
            breach.log_moved = !self.left;
            return Ok(());
        };
        if store.lock(LOCK_WAIT)?.forward(begun)? {
            let what = "the log was set back; it is restored";
            breach.what.push(what.to_owned());
            return Ok(());
        }
        let follows = service::follows(workspace, begun)?;
        if follows && let Some(what) = service::find_made_up(workspace, begun)? {
            store.lock(LOCK_WAIT)?.back(begun)?;
            let made_up = now.unwrap_or_default();
            breach.what.push(format!(
                "the log had a commit that its events do not produce, {made_up}, and was set back: {what}"
            ));
            return Ok(());
        }
        // If this `cook` is not the one that began the session, others may have used cook since. A change of the brief
        // does not move the work.
        if !self.left && find_settled(workspace)? != self.note.settled {
            breach.log_moved = true;
            breach.user_spoke = only_words(store, begun)?;
        }
        Ok(())
    }

    fn whose(&self) -> String {
        match self.note.asked {
            true => "an agent that was asked".to_owned(),
            false => format!("a session of the {}", self.note.role),
        }
    }

    /// The differences that are left and would have to be reverted.
    fn still(&self, repo: &Repo) -> Result<Vec<Difference>> {
        let differences = self.baseline.differences(repo)?;
        let (own, _) = self.baseline.divide(repo, differences)?;
        self.forbidden(repo, self.not_its_place(own).0)
    }

    /// Keeps the earlier content of files that are not restored, unless a commit holds it.
    fn keep_before(
        &self,
        workspace: &Workspace,
        left: &[Difference],
        id: &str,
        breach: &mut Violation,
    ) -> Result<()> {
        let repo = &workspace.repo;
        let refs = self.baseline.keep_before(repo, left, id)?;
        breach.refs.extend(refs);
        let paths: Vec<&[u8]> = left
            .iter()
            .filter_map(|one| match one {
                Difference::File {
                    path, added: false, ..
                } => Some(path.as_slice()),
                _ => None,
            })
            .collect();
        let mut before = self.baseline.restore_uncommitted(repo, &paths)?;
        before.extend(left.iter().filter_map(|one| match one {
            Difference::Steering { name, .. } | Difference::Operation { name, .. } => {
                Some((rescue_name(name), self.baseline.find_before(one)?))
            }
            _ => None,
        }));
        let why = format!("the content before {}", self.whose());
        let kept = rescue_keep(&workspace.place(), &before, &why)?;
        breach.before.extend(kept);
        Ok(())
    }

    /// Separates the differences that do not concern a session in its own checkout: the user may change the files and
    /// the index of the worktree. Hiding files from git is checked nevertheless.
    fn not_its_place(&self, differences: Vec<Difference>) -> (Vec<Difference>, Vec<Difference>) {
        let of_worktree = |one: &Difference| {
            self.note.apart && matches!(one, Difference::File { .. } | Difference::Index)
        };
        differences.into_iter().partition(|one| !of_worktree(one))
    }

    /// Ends the watch.
    ///
    /// # Errors
    /// A baseline that cannot be removed.
    pub fn end(self, repo: &Repo) -> Result<()> {
        self.baseline.forget(repo)
    }

    /// Checks the documents that only cook writes, and restores them.
    fn settle_view(&self, store: &Store, documents: &Path, breach: &mut Violation) -> Result<()> {
        let edits = store.outside_edits()?;
        let (later, new): (Vec<&OutsideEdit>, Vec<&OutsideEdit>) = edits
            .iter()
            .filter(|edit| !self.note.edits.contains(edit))
            .partition(|edit| self.baseline.is_later(&documents.join(&edit.file)));
        breach
            .later
            .extend(later.iter().map(|edit| format!("`.agent/{}`", edit.file)));
        if new.is_empty() {
            return Ok(());
        }
        breach.what.extend(new.iter().map(|edit| {
            let how = if edit.missing {
                "is gone"
            } else {
                "was edited"
            };
            format!("`.agent/{}` {how}", edit.file)
        }));
        if self.note.edits.is_empty() && later.is_empty() {
            let kept = store.lock(LOCK_WAIT)?.recover()?.put_view_back()?;
            breach.copies.extend(kept);
        } else {
            // The user's own edits are among them: a re-ground settles both.
            breach
                .left
                .extend(new.iter().map(|edit| format!("`.agent/{}`", edit.file)));
        }
        Ok(())
    }

    fn forbidden(&self, repo: &Repo, differences: Vec<Difference>) -> Result<Vec<Difference>> {
        let mut own = Vec::new();
        for one in differences {
            match &one {
                Difference::Ref { name, .. }
                    if self.baseline.has_moves_by_others(repo, name)? => {}
                _ => own.push(one),
            }
        }
        let differences = own;
        if self.note.role != Role::Implementer {
            return Ok(differences);
        }
        // If history was rewritten, all changes of the session are reverted.
        let own = differences.iter().find_map(|one| match one {
            Difference::Ref {
                name,
                from: Some(from),
                to,
            } if self.baseline.head() == format!("ref: {name}") => Some((from, to)),
            _ => None,
        });
        let rewritten = match own {
            Some((from, Some(to))) => !repo.is_ancestor(from, to)?,
            Some((_, None)) => true,
            None => false,
        };
        let left_branch = differences
            .iter()
            .any(|one| matches!(one, Difference::Head { .. }));
        if rewritten || left_branch {
            return Ok(differences);
        }
        Ok(differences
            .into_iter()
            .filter(|one| !self.is_implementers(one))
            .collect())
    }

    /// Whether an implementer may make the change: files, the index, submodules, an operation of git in progress, and
    /// the checked-out branch. Its changes of the contract or of protected paths are refused with its commits.
    fn is_implementers(&self, difference: &Difference) -> bool {
        match difference {
            Difference::File { path, .. } => !path.starts_with(b".agent/"),
            Difference::Index | Difference::Submodule { .. } | Difference::Operation { .. } => true,
            Difference::Ref { name, .. } => self.baseline.head() == format!("ref: {name}"),
            _ => false,
        }
    }
}

const NOTE: &str = "session.json";
fn tip(workspace: &Workspace) -> Result<Option<String>> {
    Ok(workspace.current()?.0.map(|tip| tip.commit))
}

/// The newest transition that moved the work.
fn find_settled(workspace: &Workspace) -> Result<Option<String>> {
    let (Some(tip), Some(snapshot)) = workspace.current()? else {
        return Ok(None);
    };
    Ok(Some(workspace.find_settled(&tip, &snapshot)?.commit))
}

/// Whether since that transition only the user's words, signatures and changes of the brief were recorded.
fn only_words(store: &Store, since: &str) -> Result<bool> {
    for meta in store.entries()? {
        let meta = meta?;
        if meta.commit == since {
            return Ok(true);
        }
        if !matches!(meta.event.as_str(), "said" | "briefed" | "signed") {
            return Ok(false);
        }
    }
    Ok(false)
}

fn outside_edits(workspace: &Workspace) -> Result<Vec<OutsideEdit>> {
    let edits = workspace.store.as_ref().map(Store::outside_edits);
    Ok(edits.transpose()?.unwrap_or_default())
}

/// Maximum number of differences that are named.
const NAMED: usize = 12;
/// Directories in `.agent/` that any session may write.
pub(crate) const SCRATCH: [&str; 2] = ["inbox", "tmp"];
/// Directory next to `cook/` in the git directory, for files that were too large for a copy.
pub(crate) const MOVED_DIR: &str = "cook-rescued";

/// Ignored files that a reader's session must not change: everything in `.agent/` that the tree does not hold and that
/// cook neither shows nor takes in; the brief's file, if cook does not write it itself; and each untracked
/// `.gitignore`, which may ignore itself.
pub(super) fn list_ignored(workspace: &Workspace) -> Result<Ignored> {
    let contract = CONTRACT_FILES.iter().chain(&SETTINGS_FILES);
    let contract = contract.filter_map(|path| path.strip_prefix(".agent/"));
    let own = contract.chain(Store::list_shown_files()).chain(SCRATCH);
    let brief = workspace.config().ok().map(|config| config.brief.sync);
    let brief = brief.filter(|sync| *sync == BriefSync::Manual);
    let mut files = workspace.repo.list_untracked_gitignores()?;
    files.extend(brief.map(|_| BRIEF_FILE.to_owned()));
    Ok(Ignored {
        agent_dir_but: Some(own.map(str::to_owned).collect()),
        files,
    })
}

pub(super) fn list_differences(differences: &[Difference]) -> Vec<String> {
    let mut lines: Vec<String> = differences
        .iter()
        .take(NAMED)
        .map(ToString::to_string)
        .collect();
    if differences.len() > NAMED {
        lines.push(format!("{} more", differences.len() - NAMED));
    }
    lines
}

/// The path under which a copy of a steering file is kept.
pub(super) fn rescue_name(name: &str) -> Vec<u8> {
    if let Some(path) = name.strip_prefix("ignored:") {
        return path.as_bytes().to_vec();
    }
    let name = name
        .trim_start_matches("worktree:")
        .trim_start_matches("root:");
    format!("git-dir/{name}").into_bytes()
}

/// The path under which a file is kept, and the file.
type Placed = (Vec<u8>, PathBuf);

/// The files of the differences; separately those that are too large for a copy.
pub(super) fn files(repo: &Repo, differences: &[Difference]) -> (Vec<Placed>, Vec<Placed>) {
    let placed = differences.iter().filter_map(|one| match one {
        Difference::File {
            path,
            deleted: false,
            ..
        } => Some((path.clone(), repo.at(path)?)),
        Difference::Steering {
            name,
            found: Some(found),
            ..
        }
        | Difference::Operation {
            name,
            found: Some(found),
        } => Some((rescue_name(name), found.clone())),
        _ => None,
    });
    placed.partition(|(_, at)| {
        let found = at.symlink_metadata();
        !found.is_ok_and(|found| found.is_file() && found.len() > MAX_KEPT)
    })
}

/// Moves files that are too large for a copy from the worktree to the git directory.
pub(super) fn move_away(repo: &Repo, id: &str, files: &[Placed]) -> Result<Vec<PathBuf>> {
    let mut moved = Vec::new();
    for (_, at) in files {
        let to = find_free_place(repo, id, at);
        rename(at, &to).map_err(|error| unwritable(&to, &error))?;
        moved.push(to);
    }
    Ok(moved)
}

/// Moves away the git directories of repositories that were added to the worktree. One that cannot be moved stays, and
/// is not in the result.
pub(super) fn move_repositories(repo: &Repo, id: &str, left: &[Difference]) -> Vec<PathBuf> {
    let new = left.iter().filter_map(|one| match one {
        Difference::File {
            path, added: true, ..
        } => Some(repo.at(path)?.join(".git")),
        _ => None,
    });
    // A `.git` file leads to another worktree or a submodule.
    let new = new.filter(|git| git.symlink_metadata().is_ok_and(|found| found.is_dir()));
    new.filter_map(|git| {
        let to = find_free_place(repo, id, &git);
        rename(&git, &to).ok().map(|()| to)
    })
    .collect()
}

/// A path in the git directory that is free.
fn find_free_place(repo: &Repo, id: &str, from: &Path) -> PathBuf {
    let dir = repo.common_dir().join(MOVED_DIR).join(id);
    let name = from.file_name().unwrap_or_default();
    let mut places = (0..).map(|number: u64| dir.join(number.to_string()).join(name));
    let free = places.find(|place| place.parent().is_none_or(|parent| !parent.exists()));
    free.unwrap_or(dir)
}

fn rename(from: &Path, to: &Path) -> std::io::Result<()> {
    to.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::rename(from, to)
}

pub(super) fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::state(
        Code::WriteFailed,
        format!("cannot write `{}`", path.display()),
    )
    .with_cause(error)
}

/// The roles of sessions that a `cook` which is gone left unfinished; empty while a driver runs.
///
/// # Errors
/// A lease or a watch that cannot be read.
pub fn list_unfinished(workspace: &Workspace) -> Result<Vec<Role>> {
    if workspace.store()?.lease_holder()?.is_some() {
        return Ok(Vec::new());
    }
    let mut roles = Vec::new();
    for path in list_directory(&watches(workspace)?)? {
        roles.extend(Watch::open_left_behind(&path, None)?.map(|watch| watch.role()));
    }
    Ok(roles)
}

/// Names of the baselines of all worktrees.
pub(super) fn all_watches(workspace: &Workspace) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for of_one in list_directory(&workspace.repo.cook_dir()?.join("watch"))? {
        let all = list_directory(&of_one)?;
        names.extend(
            all.iter()
                .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())),
        );
    }
    Ok(names)
}

pub(super) fn watches(workspace: &Workspace) -> Result<PathBuf> {
    let dir = workspace.repo.cook_dir()?.join("watch");
    Ok(dir.join(workspace.store()?.id()))
}

/// The entries of a directory; empty if it does not exist.
pub(super) fn list_directory(dir: &Path) -> Result<Vec<PathBuf>> {
    let found = match std::fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    };
    found.map_err(|error: std::io::Error| unreadable(dir, &error))
}

pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::state(
        Code::InputUnreadable,
        format!("cannot read `{}`", path.display()),
    )
    .with_cause(error)
}
