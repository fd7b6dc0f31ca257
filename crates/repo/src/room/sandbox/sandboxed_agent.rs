//! An agent in the sandbox: what its role may write, and nothing else.

use super::{
    Bubblewrap, STARTS, VARIABLES, is_private, is_socket, list_sockets, never_began, try_argv,
};
use crate::disk::{is_directory, look};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// Directories of a git directory that are made where they are not, to be protected.
const MADE: [&str; 3] = ["cook", "hooks", "info"];
/// Refs that steer what git reads, and cook's own.
const MADE_REFS: [&str; 2] = ["refs/cook", "refs/replace"];
/// What of a repository's own directory steers git.
const STEERS: [&str; 6] = [
    "commondir",
    "config",
    "config.worktree",
    "hooks",
    "info",
    "objects/info/alternates",
];
/// Directories that are mounted on themselves: one that is renamed takes what is protected in it
/// along.
const FIXED: [&str; 4] = ["modules", "objects", "refs", "worktrees"];
/// Of the first worktree, for a session in another one.
const FIRST: [&str; 2] = ["HEAD", "index"];
/// Of a linked worktree: what says which repository it belongs to.
const LINK: [&str; 3] = ["commondir", "config.worktree", "gitdir"];
/// In the user's home, wherever that lies: what the user's own programs start by.
const HOMES: &str = "\
    .bash_login .bash_logout .bash_profile .bashrc .config/fish .config/git .gitconfig \
    .gnupg .local/bin .profile .ssh .zlogin .zprofile .zshenv .zshrc bin";
/// In `.agent/`: what a session that may write nothing else leaves.
const LEAVES: [&str; 2] = ["inbox", "tmp"];
/// Where it keeps what it needs no longer than the session.
const TEMPORARY: &str = "/tmp/session";
/// Directories of submodules in submodules.
const DEPTH: usize = 8;
/// Git settings by environment: what collects garbage beside a session takes what nothing names yet.
const SETTINGS: [(&str, &str); 2] = [("gc.auto", "0"), ("maintenance.auto", "false")];

/// What an agent may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authority<'a> {
    /// The worktree and its git directory, but for what steers git and what is cook's.
    Implementer,
    /// What it leaves in `.agent/`, and a checkout that is thrown away where it has one.
    Reader {
        /// A checkout of its own.
        checkout: Option<&'a Path>,
    },
}

/// A session of an agent in the sandbox. All paths are absolute.
#[derive(Debug, Clone)]
pub struct Agent<'a> {
    /// What it may write.
    pub authority: Authority<'a>,
    /// Where it works.
    pub dir: &'a Path,
    /// The user's worktree.
    pub root: &'a Path,
    /// Its git directory.
    pub git_dir: &'a Path,
    /// The one that all worktrees share.
    pub common_dir: &'a Path,
    /// The user's home.
    pub home: Option<&'a Path>,
    /// Submodules and repositories of their own in the worktree.
    pub nested: &'a [PathBuf],
    /// Its own directories.
    pub writes: &'a [PathBuf],
    /// What of those steers its later sessions: read-only where [`is_kept`].
    pub settings: &'a [PathBuf],
    /// Directories that would and are not there: what is written in one is thrown away.
    pub absent: &'a [PathBuf],
    /// A directory that cook keeps for it, below its own.
    pub session: Option<&'a Path>,
    /// What it needs of the private directories: programs.
    pub shown: &'a [PathBuf],
    /// Sockets that it reaches.
    pub sockets: &'a [PathBuf],
}

/// Whether the sandbox can keep a file or directory as it is: one that is absent can be made, and
/// a link be replaced.
pub fn is_kept(path: &Path) -> bool {
    path.symlink_metadata()
        .is_ok_and(|found| found.is_file() || found.is_dir())
}

impl Agent<'_> {
    /// Directories that must be there before a session begins.
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
    /// What a program is started by, so that it runs as that agent: this, then its own words. What
    /// is protected and not there is made first.
    ///
    /// # Errors
    /// When a directory that must be protected cannot be made or looked at.
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
        // Files that whoever works on a goal does not see.
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

    /// Starts nothing but `true` as that agent, and makes nothing.
    ///
    /// # Errors
    /// What bubblewrap said, and what is behind it where that is known.
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

    /// Read-only, where it is there.
    fn protect(&mut self, place: &Path) {
        if place
            .symlink_metadata()
            .is_ok_and(|found| !found.is_symlink())
        {
            self.add(["--ro-bind".into(), place.into(), place.into()]);
        }
    }

    /// What lies in a private directory comes back, read-only as everything is.
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

    /// What steers git in a repository, and in its submodules.
    fn protect_repository(&mut self, dir: &Path, depth: usize) -> io::Result<()> {
        for name in STEERS {
            self.protect(&dir.join(name));
        }
        self.protect_modules(&dir.join("modules"), depth)
    }

    /// A submodule's name may have directories of its own.
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

    /// What cook keeps beside its directory.
    fn protect_cooks(&mut self, dir: &Path) -> io::Result<()> {
        for place in list(dir)? {
            let name = place.file_name().unwrap_or_default();
            if name.as_encoded_bytes().starts_with(b"cook-") {
                self.protect(&place);
            }
        }
        Ok(())
    }

    /// Directories of an agent's own may lie around the repository.
    fn reader(&mut self, agent: &Agent, checkout: Option<&Path>) {
        self.protect(agent.root);
        self.protect(agent.common_dir);
        // A link would open what it leads to.
        for dir in agent.list_made().iter().filter(|dir| is_directory(dir)) {
            self.bind(dir);
        }
        if let Some(checkout) = checkout {
            self.bind(checkout);
            self.protect(&checkout.join(".git"));
        }
    }

    /// Those that can be seen inside. One that is given back and lies in a private directory
    /// comes back.
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

    /// Where something was mounted so far.
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
        // Not `/tmp` itself: Codex runs no command where its own directory is below that.
        self.add(["--dir".into(), TEMPORARY.into()]);
        self.add(set("TMPDIR", TEMPORARY));
        self.add(set("GIT_CONFIG_COUNT", &SETTINGS.len().to_string()));
        for (place, (key, value)) in SETTINGS.iter().enumerate() {
            self.add(set(&format!("GIT_CONFIG_KEY_{place}"), key));
            self.add(set(&format!("GIT_CONFIG_VALUE_{place}"), value));
        }
    }
}

/// What lies in a directory; nothing when it is not there.
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
