//! The sandbox of an agent session, which can write only what its role may write.

use super::{
    Bubblewrap, STARTS, VARIABLES, is_private, is_socket, list_sockets, never_began, try_argv,
};
use crate::disk::{is_directory, look};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// Directories in the git directory that are created if they are missing, so that they can be protected.
const MADE: [&str; 3] = ["cook", "hooks", "info"];
/// Ref directories that are protected: replace refs affect how git reads objects, the others are cook's own.
const MADE_REFS: [&str; 2] = ["refs/cook", "refs/replace"];
/// Files and directories in a git directory that configure git.
const STEERS: [&str; 6] = [
    "commondir",
    "config",
    "config.worktree",
    "hooks",
    "info",
    "objects/info/alternates",
];
/// Directories that are bind-mounted on themselves, because renaming one would move the protected paths in it.
const FIXED: [&str; 4] = ["modules", "objects", "refs", "worktrees"];
/// Files of the main worktree, protected from a session in a linked worktree.
const FIRST: [&str; 2] = ["HEAD", "index"];
/// Files that connect a linked worktree to its repository.
const LINK: [&str; 3] = ["commondir", "config.worktree", "gitdir"];
/// Files in the user's home directory, wherever that is, that configure or provide programs of the user.
const HOMES: &str = "\
    .bash_login .bash_logout .bash_profile .bashrc .config/fish .config/git .gitconfig \
    .gnupg .local/bin .profile .ssh .zlogin .zprofile .zshenv .zshrc bin";
/// Directories in `.agent/` that a read-only session can write.
const LEAVES: [&str; 2] = ["inbox", "tmp"];
/// The session's directory for temporary files.
const TEMPORARY: &str = "/tmp/session";
/// The maximum nesting depth of submodules.
const DEPTH: usize = 8;
/// Git settings in the environment: a garbage collection during a session could remove objects that are not referenced
/// yet.
const SETTINGS: [(&str, &str); 2] = [("gc.auto", "0"), ("maintenance.auto", "false")];

/// The write access of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authority<'a> {
    /// The worktree and its git directory, except for files that configure git or belong to cook.
    Implementer,
    /// The inbox and scratch directories in `.agent/`, and the disposable checkout if there is one.
    Reader {
        /// Its own disposable checkout.
        checkout: Option<&'a Path>,
    },
}

/// A session of an agent in the sandbox. All paths are absolute.
#[derive(Debug, Clone)]
pub struct Agent<'a> {
    /// Its write access.
    pub authority: Authority<'a>,
    /// The working directory.
    pub dir: &'a Path,
    /// The user's worktree.
    pub root: &'a Path,
    /// The worktree's git directory.
    pub git_dir: &'a Path,
    /// The common git directory.
    pub common_dir: &'a Path,
    /// The user's home directory.
    pub home: Option<&'a Path>,
    /// Submodules and nested repositories in the worktree.
    pub nested: &'a [PathBuf],
    /// The agent program's own directories.
    pub writes: &'a [PathBuf],
    /// Files among them that configure later sessions; read-only if [`is_kept`].
    pub settings: &'a [PathBuf],
    /// Directories of the agent program that do not exist on the host. Files written there are discarded.
    pub absent: &'a [PathBuf],
    /// A directory that cook keeps for the session.
    pub session: Option<&'a Path>,
    /// Paths below the private directories that the session needs: programs.
    pub shown: &'a [PathBuf],
    /// Sockets that the session can reach.
    pub sockets: &'a [PathBuf],
}

/// Whether the sandbox can protect this path. It cannot if the path does not exist, because the agent could create it,
/// or if it is a link, because the agent could replace it.
pub fn is_kept(path: &Path) -> bool {
    path.symlink_metadata()
        .is_ok_and(|found| found.is_file() || found.is_dir())
}

impl Agent<'_> {
    /// Directories that must exist before a session begins.
    fn list_made(&self) -> Vec<PathBuf> {
        match self.authority {
            Authority::Implementer => {
                let by_files = !self.common_dir.join("reftable").is_dir();
                let refs = MADE_REFS.iter().filter(|_| by_files);
                let names = MADE.iter().chain(refs);
                names.map(|name| self.common_dir.join(name)).collect()
            }
            Authority::Reader { .. } => {
                let documents = self.root.join(".agent");
                let names = LEAVES.iter().filter(|_| is_directory(&documents));
                names.map(|name| documents.join(name)).collect()
            }
        }
    }

    fn may_write(&self, place: &Path) -> bool {
        let is_implementer = self.authority == Authority::Implementer;
        let own = self.writes.iter().any(|dir| place.starts_with(dir));
        own || (is_implementer && place.starts_with(self.root))
    }
}

impl Bubblewrap {
    /// The words that precede a program to run it as this agent. Protected directories that do not exist are created
    /// first.
    ///
    /// # Errors
    /// When a directory that must be protected cannot be created or examined.
    pub fn agent(&self, agent: &Agent) -> io::Result<Vec<OsString>> {
        for dir in agent.list_made() {
            if look(&dir)?.is_none() {
                std::fs::create_dir_all(&dir)?;
            }
        }
        self.arguments(agent)
    }

    fn arguments(&self, agent: &Agent) -> io::Result<Vec<OsString>> {
        let mut argv = Arguments(self.common(true));
        let home = agent.home.and_then(|home| home.canonicalize().ok());
        argv.show(agent, home.as_deref());
        for place in agent.writes.iter().filter(|place| place.is_dir()) {
            argv.bind(place);
        }
        match agent.authority {
            Authority::Implementer => argv.implementer(agent)?,
            Authority::Reader { checkout } => argv.reader(agent, checkout),
        }
        // The hidden files of a goal, which an agent must not see.
        let hidden = agent.common_dir.join("cook").join("hidden");
        if is_directory(&hidden) {
            argv.add(["--tmpfs".into(), hidden.into()]);
        }
        if let Some(session) = agent.session {
            argv.bind(session);
        }
        for settings in agent.settings.iter().filter(|path| is_kept(path)) {
            argv.protect(settings);
        }
        for dir in agent.absent {
            argv.add(["--tmpfs".into(), dir.into()]);
        }
        let homes = HOMES
            .split(' ')
            .filter_map(|name| Some(home.as_ref()?.join(name)));
        for place in homes.filter(|place| agent.may_write(place)) {
            argv.protect(&place);
        }
        argv.hide_sockets(agent);
        argv.environment(agent.sockets);
        argv.add(["--chdir".into(), agent.dir.into(), "--".into()]);
        Ok(argv.0)
    }

    /// Runs `true` as this agent, without creating any directory.
    ///
    /// # Errors
    /// The message of bubblewrap, with the cause if it is known.
    pub fn try_agent(&self, agent: &Agent) -> Result<(), String> {
        let mut tried = Ok(());
        for _ in 0..STARTS {
            tried = try_argv(self.arguments(agent).map_err(|error| error.to_string())?);
            match &tried {
                Err(said) if never_began(Some(1), 0, said.as_bytes()) => {}
                _ => break,
            }
        }
        tried
    }
}

struct Arguments(Vec<OsString>);

impl Arguments {
    fn add<const N: usize>(&mut self, words: [OsString; N]) {
        self.0.extend(words);
    }

    fn bind(&mut self, place: &Path) {
        self.add(["--bind".into(), place.into(), place.into()]);
    }

    /// Mounts a path read-only, if it exists and is not a link.
    fn protect(&mut self, place: &Path) {
        if place
            .symlink_metadata()
            .is_ok_and(|found| !found.is_symlink())
        {
            self.add(["--ro-bind".into(), place.into(), place.into()]);
        }
    }

    /// Mounts the needed paths below the private directories again, read-only.
    fn show(&mut self, agent: &Agent, home: Option<&Path>) {
        let own = [agent.dir, agent.root, agent.git_dir, agent.common_dir];
        let shown = agent.shown.iter().map(PathBuf::as_path);
        for place in shown.chain(home).chain(own) {
            if is_private(place) {
                self.protect(place);
            }
        }
    }

    fn implementer(&mut self, agent: &Agent) -> io::Result<()> {
        let (root, common) = (agent.root, agent.common_dir);
        self.bind(root);
        self.bind(common);
        for name in FIXED {
            let dir = common.join(name);
            if is_directory(&dir) {
                self.bind(&dir);
            }
        }
        for dir in agent.list_made() {
            self.protect(&dir);
        }
        self.protect_repository(common, DEPTH)?;
        self.protect_cooks(common)?;
        for other in list(&common.join("worktrees"))? {
            if other != agent.git_dir {
                self.protect(&other);
            }
        }
        if agent.git_dir != common {
            self.protect(&root.join(".git"));
            self.protect_cooks(agent.git_dir)?;
            for name in LINK {
                self.protect(&agent.git_dir.join(name));
            }
            for name in FIRST {
                self.protect(&common.join(name));
            }
        }
        for nested in agent.nested {
            let git = nested.join(".git");
            match is_directory(&git) {
                true => self.protect_repository(&git, DEPTH)?,
                false => self.protect(&git),
            }
        }
        Ok(())
    }

    /// Protects the files that configure git in a repository and in its submodules.
    fn protect_repository(&mut self, dir: &Path, depth: usize) -> io::Result<()> {
        for name in STEERS {
            self.protect(&dir.join(name));
        }
        self.protect_modules(&dir.join("modules"), depth)
    }

    /// Protects all submodules; a submodule's name may contain slashes, so that its git directory is nested deeper.
    fn protect_modules(&mut self, dir: &Path, depth: usize) -> io::Result<()> {
        if depth == 0 {
            return Ok(());
        }
        for module in list(dir)? {
            match module.join("config").is_file() {
                true => self.protect_repository(&module, depth - 1)?,
                false => self.protect_modules(&module, depth - 1)?,
            }
        }
        Ok(())
    }

    /// Protects the files of cook beside its own directory.
    fn protect_cooks(&mut self, dir: &Path) -> io::Result<()> {
        for place in list(dir)? {
            let name = place.file_name().unwrap_or_default();
            if name.as_encoded_bytes().starts_with(b"cook-") {
                self.protect(&place);
            }
        }
        Ok(())
    }

    /// The repository is protected explicitly, because a writable directory of the agent may contain it.
    fn reader(&mut self, agent: &Agent, checkout: Option<&Path>) {
        self.protect(agent.root);
        self.protect(agent.common_dir);
        // Binding a link would make its target writable.
        for dir in agent.list_made().iter().filter(|dir| is_directory(dir)) {
            self.bind(dir);
        }
        if let Some(checkout) = checkout {
            self.bind(checkout);
            self.protect(&checkout.join(".git"));
        }
    }

    /// Hides all sockets that are visible inside, except the given ones; a given one that lies in a private directory
    /// is mounted again.
    fn hide_sockets(&mut self, agent: &Agent) {
        let given: Vec<PathBuf> = agent
            .sockets
            .iter()
            .filter_map(|path| path.canonicalize().ok())
            .filter(|path| is_socket(path))
            .collect();
        let back: Vec<PathBuf> = self
            .list_mounted()
            .filter(|place| is_private(place))
            .collect();
        let is_seen =
            |path: &PathBuf| !is_private(path) || back.iter().any(|place| path.starts_with(place));
        let hidden = list_sockets().into_iter();
        for path in hidden.filter(|path| is_seen(path) && !given.contains(path)) {
            self.add(["--ro-bind".into(), "/dev/null".into(), path.into()]);
        }
        for path in &given {
            if !is_seen(path) {
                self.bind(path);
            }
        }
    }

    /// The mount points so far.
    fn list_mounted(&self) -> impl Iterator<Item = PathBuf> {
        let mounted = self.0.windows(3).filter(|words| {
            [OsStr::new("--bind"), OsStr::new("--ro-bind")].contains(&words[0].as_os_str())
        });
        mounted.map(|words| PathBuf::from(&words[2]))
    }

    fn environment(&mut self, given: &[PathBuf]) {
        for name in VARIABLES {
            let value = std::env::var(name).unwrap_or_default();
            let leads = |path: &PathBuf| value.ends_with(&*path.to_string_lossy());
            if !value.is_empty() && !given.iter().any(leads) {
                self.add(["--unsetenv".into(), name.into()]);
            }
        }
        let set = |name: &str, value: &str| ["--setenv".into(), name.into(), value.into()];
        // Not `/tmp` itself: Codex runs no command if its own directory is below `TMPDIR`.
        self.add(["--dir".into(), TEMPORARY.into()]);
        self.add(set("TMPDIR", TEMPORARY));
        self.add(set("GIT_CONFIG_COUNT", &SETTINGS.len().to_string()));
        for (place, (key, value)) in SETTINGS.iter().enumerate() {
            self.add(set(&format!("GIT_CONFIG_KEY_{place}"), key));
            self.add(set(&format!("GIT_CONFIG_VALUE_{place}"), value));
        }
    }
}

/// The entries of a directory, sorted; empty if it does not exist.
fn list(dir: &Path) -> io::Result<Vec<PathBuf>> {
    if look(dir)?.is_none() || !is_directory(dir) {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(dir)?;
    let mut found = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<Vec<PathBuf>>>()?;
    found.sort();
    Ok(found)
}
