//! What a session may change (`docs/run.md#what-a-session-may-change`): the repository is
//! compared before and after, and whatever the role had no right to is kept aside and put back.
//!
//! Invariant: nothing is put back before it was kept. What cannot be put back is named and
//! left as it is.

use crate::prelude::*;
use crate::service;
use crate::workspace::Workspace;
use cook_protocol::machine::OutsideEdit;
use cook_protocol::model::{BRIEF_FILE, BriefSync, CONTRACT_FILES, SETTINGS_FILES};
use cook_repo::git::{Baseline, Difference, Ignored};
use cook_repo::store::{MAX_KEPT, rescue_keep};
use std::time::SystemTime;

/// Bytes of a note, at most.
const MAX_NOTE: u64 = 64 << 20;

/// How long a writer is waited for.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Watches one session.
#[derive(Debug)]
pub struct Watch {
    baseline: Baseline,
    note: Note,
    /// The cook that began it is gone: others may have used the repository since.
    left: bool,
}

/// Whose session it is; lies beside the baseline for the cook that finds both.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    role: Role,
    /// It is a question of the user's own, and no role's.
    #[serde(default)]
    asked: bool,
    /// The log's tip when the session began.
    tip: Option<String>,
    /// The newest transition then that had moved the work.
    #[serde(default)]
    settled: Option<String>,
    /// Files of `.agent/` that differed from the log already.
    edits: Vec<OutsideEdit>,
    /// It works in a place of its own: what changes in the worktree is the user's.
    #[serde(default)]
    apart: bool,
    /// Lock files of git's that were there already.
    #[serde(default)]
    locks: BTreeSet<PathBuf>,
}

/// What a session did that its role may not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Violation {
    /// What it did, one line each.
    pub what: Vec<String>,
    /// Copies that `cook doctor rescue` shows.
    pub copies: Vec<String>,
    /// Refs in the user's repository that hold commits which were taken back.
    pub refs: Vec<String>,
    /// Where files are now that were too large for a copy.
    pub moved: Vec<PathBuf>,
    /// What could not be put back.
    pub left: Vec<String>,
    /// What came after the session, or beside it, and stays.
    pub later: Vec<String>,
    /// Copies of what was not committed and is not there any more, though nothing of that is
    /// the session's.
    pub before: Vec<String>,
    /// Somebody moved the log: nothing that the session reports fits it.
    pub log_moved: bool,
    /// Nothing but the user's words and changes of the brief moved it.
    pub user_spoke: bool,
}

impl Violation {
    /// Nothing that was forbidden happened.
    pub fn is_none(&self) -> bool {
        self.what.is_empty() && !self.log_moved
    }
}

impl Watch {
    /// Begins to watch a session of a role.
    ///
    /// # Errors
    /// When the repository or the log cannot be read, or the baseline not be written.
    pub fn begin(workspace: &Workspace, role: Role, apart: bool, dir: &Path) -> Result<Self> {
        // An implementer leaves what it likes there, and of a place of its own `.agent/` is the user's.
        let ignored = match apart || role == Role::Implementer {
            true => Ignored::default(),
            false => list_ignored(workspace)?,
        };
        Self::begin_noted(workspace, (role, false, apart), dir, ignored)
    }

    /// Begins to watch a question of the user's: it may change as little as a reader's session.
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

    /// One that a cook left which was ended; none when it had not begun yet. What came after
    /// `end` is not the session's; none = nobody can tell.
    ///
    /// # Errors
    /// When it cannot be read.
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

    /// Where its baseline lies.
    pub(super) fn dir(&self) -> &Path {
        self.baseline.dir()
    }

    /// The log's tip when the session began.
    pub(super) fn tip(&self) -> Option<&str> {
        self.note.tip.as_deref()
    }

    /// Whose session it was.
    pub fn role(&self) -> Role {
        self.note.role
    }

    /// Removes locks that a git of the session left which was ended: nobody could commit any
    /// more. Comes when the session's processes are gone.
    ///
    /// # Errors
    /// When the git dir cannot be read or written.
    pub fn unlock(&self, workspace: &Workspace) -> Result<Vec<PathBuf>> {
        workspace.repo.remove_dead_locks(&self.note.locks)
    }

    /// Puts back what leads to the repository. Comes before it is opened.
    ///
    /// # Errors
    /// When that cannot be read or written.
    pub fn put_leads_back(&self) -> Result<Vec<Difference>> {
        self.baseline.put_leads_back()
    }

    /// Compares, keeps what was forbidden, and puts it back; with what was put back before.
    ///
    /// # Errors
    /// When the repository cannot be read, or a copy not be kept: nothing that is not kept
    /// is touched.
    pub fn settle(&self, workspace: &Workspace, leads: Vec<Difference>) -> Result<Violation> {
        let repo = &workspace.repo;
        let mut breach = Violation::default();
        self.settle_log(workspace, &mut breach)?;
        // Steering files are put back by the first look, and what they hid is seen by the second.
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
            // Files that went with bits of the index which are back: nothing is in their place.
            let mut gone = self.still(repo)?;
            gone.retain(|one| matches!(one, Difference::File { deleted: true, .. }));
            self.baseline.put_back(repo, &gone)?;
            let mut still = self.still(repo)?;
            let repositories = move_repositories(repo, &id, &still);
            if !repositories.is_empty() {
                // Without them what lies in their place is seen like any other file.
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

    /// A log that was set back, or that goes on with what no event brings about, stands where it stood
    /// again; one that somebody moved stays.
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
        // Whoever came after it may have used cook. A change of the brief leaves the work where it stands.
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

    /// What is not as it was and would have to be put back.
    fn still(&self, repo: &Repo) -> Result<Vec<Difference>> {
        let differences = self.baseline.differences(repo)?;
        let (own, _) = self.baseline.divide(repo, differences)?;
        self.forbidden(repo, self.not_its_place(own).0)
    }

    /// Keeps what stood where nothing is put back, as far as no commit holds it.
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

    /// Of a session in a place of its own the worktree is not: what is not committed there may
    /// be changed by its user. What it hides from git is looked at all the same.
    fn not_its_place(&self, differences: Vec<Difference>) -> (Vec<Difference>, Vec<Difference>) {
        let of_worktree = |one: &Difference| {
            self.note.apart && matches!(one, Difference::File { .. } | Difference::Index)
        };
        differences.into_iter().partition(|one| !of_worktree(one))
    }

    /// Ends the watch.
    ///
    /// # Errors
    /// When the baseline cannot be removed.
    pub fn end(self, repo: &Repo) -> Result<()> {
        self.baseline.forget(repo)
    }

    /// Documents that only cook writes.
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
            // The user's own edits stand beside them: a re-ground settles both.
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
        // History that was rewritten leaves nothing of the session standing.
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

    /// Files, the index, and the branch that is checked out. What it changes of the contract
    /// or of protected paths is refused with its commits.
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

/// Since that transition the user said something, and nothing else happened but changes of the brief.
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

/// Differences that are named one by one.
const NAMED: usize = 12;
/// In `.agent/`: what any session leaves.
pub(crate) const SCRATCH: [&str; 2] = ["inbox", "tmp"];
/// Beside `cook/` in the git dir: files that were too large for a copy.
pub(crate) const MOVED_DIR: &str = "cook-rescued";

/// Ignored files that a session that only reads leaves as they are: all in `.agent/` that neither
/// the tree holds nor cook shows or takes in, the brief's file where cook does not write it itself, and
/// beside tracked files each `.gitignore` that may ignore itself.
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

/// The path that a copy of a steering file gets.
pub(super) fn rescue_name(name: &str) -> Vec<u8> {
    if let Some(path) = name.strip_prefix("ignored:") {
        return path.as_bytes().to_vec();
    }
    let name = name
        .trim_start_matches("worktree:")
        .trim_start_matches("root:");
    format!("git-dir/{name}").into_bytes()
}

/// A file, and the path it gets where it is kept.
type Placed = (Vec<u8>, PathBuf);

/// The files of differences; apart from those that are too large for a copy.
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

/// Moves files out of the worktree, to the git dir: no copy holds them.
pub(super) fn move_away(repo: &Repo, id: &str, files: &[Placed]) -> Result<Vec<PathBuf>> {
    let mut moved = Vec::new();
    for (_, at) in files {
        let to = find_free_place(repo, id, at);
        rename(at, &to).map_err(|error| unwritable(&to, &error))?;
        moved.push(to);
    }
    Ok(moved)
}

/// Moves the git dirs of repositories that came into the worktree; one that cannot be moved stays,
/// and is named.
pub(super) fn move_repositories(repo: &Repo, id: &str, left: &[Difference]) -> Vec<PathBuf> {
    let new = left.iter().filter_map(|one| match one {
        Difference::File {
            path, added: true, ..
        } => Some(repo.at(path)?.join(".git")),
        _ => None,
    });
    // A link to a git dir elsewhere is another worktree's, or a submodule's.
    let new = new.filter(|git| git.symlink_metadata().is_ok_and(|found| found.is_dir()));
    new.filter_map(|git| {
        let to = find_free_place(repo, id, &git);
        rename(&git, &to).ok().map(|()| to)
    })
    .collect()
}

/// A place in the git dir that is free.
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

/// Whose sessions a cook that is gone left unfinished; none while somebody drives.
///
/// # Errors
/// When the lease or what is left cannot be read.
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

/// What lies in a directory; nothing when it is not there.
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
