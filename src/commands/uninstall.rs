//! `cook uninstall`: removes from a repository what cook wrote there.
//!
//! Invariants: it lists what it removes and keeps before it removes anything; it keeps the user's files, and text of
//! others in cook's files; copies of the user's files in the log get refs in the repository before the log goes.

use super::context::*;
use super::recorded::note;
use crate::hooks::install::{self, Change, Written};
use crate::init::TRACKED;
use crate::run::{MOVED_DIR, SCRATCH};
use cook_repo::disk::{look, remove_tree};
use cook_repo::receipt::key_dir;
use cook_repo::remote::Elsewhere;
use cook_repo::room::{remove_rooms_of, rooms_dir};
use cook_repo::store::KeptKind;

#[derive(Debug, Args)]
#[command(
    after_help = "Your contract in `.agent/` and what a remote holds stay: the answer names the commands that remove them."
)]
pub(super) struct UninstallArgs {
    /// Show what would be removed, but remove nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Also remove what all your repositories share: hooks, key and caches in your home
    #[arg(long)]
    pub home: bool,
    /// Confirm that a script acts on behalf of a person
    #[arg(long)]
    pub yes: bool,
}

pub(super) fn uninstall(context: &Context, args: &UninstallArgs) -> Answer {
    let workspace = Workspace::open_without_log(&context.dir)?;
    context::not_apart(&workspace)?;
    let mut lines = Vec::new();
    let removal = Removal::plan(workspace, args.home)?;
    let is_empty = removal.hooks.is_empty() && removal.paths.is_empty();
    if is_empty {
        lines.push("there is nothing to remove".to_owned());
    }
    lines.extend(removal.list());
    lines.extend(removal.stays.iter().map(|what| format!("stays    {what}")));
    if args.dry_run || is_empty {
        return note("uninstall", lines);
    }
    context::require_user_by("--yes", args.yes)?;
    // The user has read the lines as part of the question.
    let question = format!("{}\nRemove all of this? [y/N]", lines.join("\n"));
    if !args.yes {
        lines.clear();
        if !context.screen.agrees(&question) {
            return note("uninstall", vec!["nothing was removed".to_owned()]);
        }
    }
    lines.extend(removal.carry_out()?);
    lines.push("done: cook is out of this repository".to_owned());
    note("uninstall", lines)
}

/// The planned removal.
struct Removal {
    /// All worktrees of the repository, this one first.
    worktrees: Vec<Workspace>,
    /// Files with hooks, each with the index of its worktree.
    hooks: Vec<(usize, Written)>,
    pre_push: Option<Change>,
    /// Files and directories that hold nothing but cook's data.
    paths: BTreeSet<PathBuf>,
    stays: Vec<String>,
    /// Kept files that all of the user's repositories share.
    of_home: Vec<String>,
}

impl Removal {
    fn plan(workspace: Workspace, home: bool) -> Result<Self> {
        let mut removal = Self {
            worktrees: Vec::new(),
            hooks: Vec::new(),
            pre_push: None,
            paths: BTreeSet::new(),
            stays: Vec::new(),
            of_home: Vec::new(),
        };
        let others = workspace.repo.list_other_worktrees()?;
        removal.add_shared(&workspace, home)?;
        removal.worktrees.push(workspace);
        for root in others.iter().filter(|root| root.is_dir()) {
            removal.worktrees.push(Workspace::open_without_log(root)?);
        }
        for at in 0..removal.worktrees.len() {
            removal.add_worktree(at, home)?;
        }
        removal.of_home.dedup();
        if !removal.of_home.is_empty() {
            removal.stays.push(format!(
                "what all your repositories share, which `cook uninstall --home` removes: {}",
                removal.of_home.join(", ")
            ));
        }
        Ok(removal)
    }

    /// Adds what the worktrees of the repository share, and what all of the user's repositories share.
    fn add_shared(&mut self, workspace: &Workspace, home: bool) -> Result<()> {
        let repo = &workspace.repo;
        match install::change_pre_push(workspace, false) {
            Ok(change) if change.changes() => self.pre_push = Some(change),
            Ok(_) => {}
            Err(failure) => self.keep_failed(&failure),
        }
        // Fails if `cook` is a symlink.
        repo.cook_dir()?;
        self.add_git_dir(repo.common_dir())?;
        let moved = repo.common_dir().join(MOVED_DIR);
        if moved.exists() {
            let what = "your files that were too large for a copy";
            self.stays
                .push(format!("{} ({what})", show_path(&moved, Some(repo.root()))));
        }
        for (name, _) in repo.set_aside()? {
            let how = format!("`git show {name}` shows it, `git update-ref -d {name}` removes it");
            self.stays.push(format!("{name} (changes of yours): {how}"));
        }
        let names = workspace.config().map(|config| &config.log.remote_ref);
        let names = names.cloned().unwrap_or_default();
        // If a log cannot be read, its remotes are unknown.
        let logs = Elsewhere::list_all(repo, &workspace.place()).unwrap_or_default();
        for (remote, branch) in logs.into_iter().collect::<BTreeSet<_>>() {
            let remote = remote.map_or("REMOTE".to_owned(), |name| show_word(&name));
            let log = show_word(&names.log(&branch));
            self.stays.push(format!(
                "the log of `{branch}` on {remote}: `git push {remote} --delete {log}` removes it, `git ls-remote {remote} 'refs/cook/*'` lists what was pushed beside it"
            ));
        }
        let rooms = rooms_dir(&Default::default()).ok();
        let shared = key_dir().into_iter().chain(rooms);
        for path in shared.filter(|path| path.exists()) {
            match home {
                true => drop(self.paths.insert(path)),
                false => self.of_home.push(show_path(&path, None)),
            }
        }
        Ok(())
    }

    fn add_git_dir(&mut self, dir: &Path) -> Result<()> {
        let entries = std::fs::read_dir(dir).map_err(|error| fail("look into", dir, &error))?;
        let names = entries.flatten().map(|entry| entry.file_name());
        let is_ours =
            |name: &String| name == "cook" || name.starts_with("cook-") && name != MOVED_DIR;
        let names = names.filter_map(|name| name.into_string().ok());
        self.paths
            .extend(names.filter(is_ours).map(|name| dir.join(name)));
        Ok(())
    }

    fn add_worktree(&mut self, at: usize, home: bool) -> Result<()> {
        let repo = &self.worktrees[at].repo;
        let (root, git_dir) = (repo.root().to_owned(), repo.git_dir().to_owned());
        self.add_git_dir(&git_dir)?;
        let agent = root.join(".agent");
        if agent.is_symlink() {
            self.stays.push(format!("{} (a link)", self.show(&agent)));
        } else {
            let names = Store::list_shown_files().chain(SCRATCH);
            let paths = names.map(|name| agent.join(name));
            self.paths
                .extend(paths.filter(|path| path.symlink_metadata().is_ok()));
            self.keep_contract(&root);
        }
        let (written, failed) = install::list_written(&self.worktrees[at]);
        failed.iter().for_each(|failure| self.keep_failed(failure));
        for one in written {
            let shown = format!("{} ({})", self.show(&one.path), one.agent());
            let is_known = |(_, known): &(usize, Written)| {
                one.is_in_home && (&known.path, known.agent()) == (&one.path, one.agent())
            };
            if one.is_edited {
                self.stays.push(format!(
                    "{shown} was changed by hand: delete it if you do not need it"
                ));
            } else if one.is_in_home && !home {
                self.of_home.push(shown);
            } else if !(at > 0 && self.hooks.iter().any(is_known)) {
                self.hooks.push((at, one));
            }
        }
        self.stays.dedup();
        Ok(())
    }

    /// Keeps the contract, because it is the user's, whether or not git tracks it.
    fn keep_contract(&mut self, root: &Path) {
        if TRACKED.iter().any(|path| root.join(path).exists()) {
            let agent = self.show(&root.join(".agent"));
            self.stays.push(format!(
                "{agent}, your contract: `git rm -r -q -- .agent` where it is committed, else `rm -r .agent`; then delete the lines from `# >>> cook` to `# <<< cook` in `.gitignore`"
            ));
        }
    }

    fn keep_failed(&mut self, failure: &Failure) {
        let hint = failure.hints.first().map(|hint| format!(": {hint}"));
        self.stays
            .push(format!("{}{}", failure.message, hint.unwrap_or_default()));
    }

    /// Lists everything to remove, one line each.
    fn list(&self) -> Vec<String> {
        let hooks = self.hooks.iter().map(|(_, written)| {
            format!(
                "cook's part of {} ({})",
                self.show(&written.path),
                written.agent()
            )
        });
        let pre_push = self.pre_push.iter();
        let pre_push = pre_push.map(|change| format!("{} (a git hook)", self.show(&change.path)));
        let paths = self.paths.iter().map(|path| {
            let what = match *path == self.worktrees[0].place().cook_dir() {
                true => " (the log of the work, receipts of gates, and trust)",
                false => "",
            };
            format!("{}{what}", self.show(path))
        });
        let mut lines: Vec<String> = hooks.chain(pre_push).chain(paths).collect();
        lines.dedup();
        lines
            .iter()
            .map(|what| format!("removes  {what}"))
            .collect()
    }

    fn show(&self, path: &Path) -> String {
        let first = self.worktrees.first();
        show_path(path, first.map(|worktree| worktree.repo.root()))
    }

    /// Removes everything and returns lines about what was saved.
    fn carry_out(&self) -> Result<Vec<String>> {
        let first = &self.worktrees[0];
        let place = first.place();
        let held = Store::hold_all(&place).map_err(|failure| {
            failure
                .replace_hints(["end it, or wait until it ends; then run `cook uninstall` again"])
        })?;
        for (at, written) in &self.hooks {
            written.take_out(&self.worktrees[*at])?;
            remove_empty_dirs(&written.path, self.worktrees[*at].repo.root());
        }
        install::write(self.pre_push.as_slice(), true)?;
        install::hide_from_status(first, self.pre_push.as_slice(), false)?;
        let log = place.log_dir();
        let copies = || Store::open(place.clone()).ok()??.rescue_list().ok();
        let mut lines = Vec::new();
        if copies().is_some_and(|copies| !copies.is_empty()) {
            let saved = first
                .repo
                .save_copies(&log, &KeptKind::ALL.map(KeptKind::prefix))?;
            lines.extend(saved.iter().map(|name| {
                format!("stays    {name} (files of yours that cook kept): `git ls-tree -r {name}` lists them, `git update-ref -d {name}` removes them")
            }));
        }
        for worktree in &self.worktrees {
            // If the settings cannot be read, the clean rooms are looked for in the default place.
            let settings = worktree.config().map(|config| config.clean_room.clone());
            if let Ok(rooms) = rooms_dir(&settings.unwrap_or_default()) {
                remove_rooms_of(&rooms, worktree.repo.root());
            }
        }
        first.repo.unpin_all()?;
        for path in &self.paths {
            let is_dir = look(path).is_ok_and(|found| found.is_some_and(|found| found.is_dir()));
            let removed = match is_dir {
                true => remove_tree(path),
                false => std::fs::remove_file(path),
            };
            match removed {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(fail("remove", path, &error));
                }
                _ => {}
            }
        }
        drop(held);
        first.repo.sweep_throwaways()?;
        for worktree in &self.worktrees {
            // The directory stays if it still holds files of the user.
            let _ = std::fs::remove_dir(worktree.repo.root().join(".agent"));
        }
        Ok(lines)
    }
}

/// Removes directories that became empty when the file was removed.
fn remove_empty_dirs(path: &Path, root: &Path) {
    let below = path.ancestors().skip(1);
    let below = below.take_while(|dir| dir.starts_with(root) && *dir != root);
    // Stops at the first directory that is not empty.
    let _ = below
        .map(std::fs::remove_dir)
        .take_while(Result::is_ok)
        .count();
}

/// Shortens a path relative to the worktree or the home directory.
fn show_path(path: &Path, root: Option<&Path>) -> String {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let below = |dir: Option<&Path>| Some(path.strip_prefix(dir?).ok()?.display().to_string());
    let of_home = || below(home.as_deref()).map(|path| format!("~/{path}"));
    let shown = below(root).or_else(of_home);
    shown.unwrap_or_else(|| path.display().to_string())
}

/// Quotes a word for the shell if it needs quotes.
fn show_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-%".contains(c);
    match word.chars().all(is_plain) {
        true => word.to_owned(),
        false => quote_word(word),
    }
}

fn fail(what: &str, path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("cannot {what} `{}`", path.display());
    Failure::state(Code::NotWritable, message).with_cause(error)
}
