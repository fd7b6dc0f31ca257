//! The places where commands run: a clean room that holds one commit, or the worktree as it is.
//!
//! A room's setup can use the downloads of the user's package managers: large files in the room's home are links to
//! them. The room never writes to the originals: a file that a program may append to is copied.
//!
//! The outcomes of tests are collected in the place where they ran, and stored beside the receipt.

use super::receipts::{Look, Receipts};
use super::trusted::Trust;
use crate::clock::Clock;
use crate::disk::{self, AtPath, Durable, Links, NewFile};
use crate::git::Repo;
use crate::process::{Outcome as Ended, list_inherited, on_path};
use crate::room::{Bubblewrap, Environment, Filled, Gate, Room, Source, Surroundings};
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::digest::hex;
use cook_protocol::model::{
    AgentName, AgentTable, Caches, CleanRoom, GateSpec, GitShown, KnownAgent, Place, Receipt,
    SandboxKind, SandboxMode,
};
use cook_protocol::trials::runner_hooks::{self, HookPlaces};
use cook_protocol::trials::{Material, Outcomes, Report};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};
use std::{fs, io};

/// The maximum size of a room's note in bytes.
const MAX_NOTE: u64 = 1024;
/// Prefixes of the refs that lead to the user's work.
const OF_USER: [&str; 3] = ["refs/heads/", "refs/tags/", "refs/stash"];
/// The maximum number of remarks about one commit.
const MAX_REMARKS: usize = 8;
/// The maximum size in bytes of a file that setup depends on.
const MAX_INPUT: u64 = 256 << 20;
/// Files and directories that tools look for in the parent directories of a room.
const LOOKED_FOR_ABOVE: [&str; 6] = [
    ".cargo",
    "node_modules",
    "package.json",
    "pytest.ini",
    "pyproject.toml",
    "tox.ini",
];

/// The program that the first word of a command denotes.
pub(super) enum Found {
    /// A file found on the search path.
    Machine(PathBuf),
    /// A path: a file of the repository, or an absolute path.
    Path,
    /// A name that is not on the search path.
    Nothing,
}

/// Runs gates and keeps their receipts.
pub struct Gates<'a> {
    /// The repository.
    pub repo: &'a Repo,
    /// The storage of receipts.
    pub receipts: &'a Receipts,
    /// The clock for timestamps.
    pub clock: Clock,
    /// The settings of clean rooms.
    pub settings: &'a CleanRoom,
    /// Agents from the settings; the directories they write are hidden in a sandbox.
    pub agents: &'a Agents,
    /// Whether a sandbox is used.
    pub sandbox: SandboxMode,
    /// The programs that the user trusts.
    pub trust: &'a Trust,
    /// An upper limit for the duration of any command.
    pub patience: Option<Duration>,
    /// Called with each command that begins.
    pub tell: Option<Tell>,
}

/// Receives progress lines for the user.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// The directory of the hooks and the file that they append to, in a room's home.
pub(super) const HOOKS: &str = ".trial/hooks";
pub(super) const RECORDS: &str = ".trial/records";

/// Agents from the settings, by name.
pub type Agents = BTreeMap<AgentName, AgentTable>;

/// A gate with the words of its command.
pub(super) struct Order<'a> {
    pub gate: &'a GateSpec,
    pub argv: &'a [String],
}

/// A place in which commands run one after another.
pub(super) struct RunPlace<'a> {
    gates: &'a Gates<'a>,
    room: Option<Room>,
    /// Whether its `.git` holds only what a clone would hold. True when caches are empty, as the final verification
    /// requires.
    alone: bool,
    /// Whether it may hold a commit that no clone has.
    pub mixed: bool,
    /// The kind of additional run for which it is used, if any.
    pub look: Option<Look>,
    sandbox: Option<Bubblewrap>,
    pub environment: Environment,
    /// The commit in the room; in a worktree it is HEAD, whatever the files hold.
    pub commit: Option<String>,
    pub tree: Option<String>,
    /// Files and submodules of the commit that nobody could check out from its objects alone.
    pub lacking: Vec<String>,
    /// Remarks about the downloads that setup used.
    pub lending: Vec<String>,
    filled: Option<Filled>,
}

/// The parameters for starting a command.
pub(super) struct Start {
    pub argv: Vec<OsString>,
    pub dir: PathBuf,
    pub env: BTreeMap<OsString, OsString>,
}

impl<'a> RunPlace<'a> {
    fn of(gates: &'a Gates<'a>, environment: Environment) -> Self {
        Self {
            gates,
            room: None,
            alone: false,
            mixed: false,
            look: None,
            sandbox: None,
            environment,
            commit: None,
            tree: None,
            lacking: Vec::new(),
            lending: Vec::new(),
            filled: None,
        }
    }

    /// The worktree as it is, with this process's environment.
    pub fn worktree(gates: &'a Gates<'a>) -> Result<Self, Failure> {
        let head = gates.repo.head()?;
        Ok(Self {
            commit: head.commit,
            tree: head.tree,
            ..Self::of(gates, inherit())
        })
    }

    /// A clean room that is not filled yet.
    pub fn room(gates: &'a Gates<'a>, mode: SandboxMode, caches: Caches) -> Result<Self, Failure> {
        let (repo, settings) = (gates.repo, gates.settings);
        let tools = gates.trust.tools();
        let own = [repo.root(), repo.common_dir(), repo.git_dir()].map(Path::to_owned);
        let rooms = crate::room::rooms_dir(settings)?;
        if own.iter().any(|own| rooms.starts_with(own)) {
            let what = format!(
                "clean rooms would be in `{}`, which is inside the repository",
                rooms.display()
            );
            let hint = "name another place: `[clean_room] dir = \"/…\"` in `.agent/cook.toml`";
            return Err(Failure::state(Code::NotWritable, what).replace_hints([hint]));
        }
        let name = repo.root().file_name().unwrap_or_default();
        let name = name.to_string_lossy();
        let trusted = tools.get("PATH").map(String::as_str).unwrap_or_default();
        let sandbox = find_sandbox(mode, trusted.as_ref())?;
        let room = Room::open(&rooms, repo.root(), &name, caches, sandbox.is_some())?;
        crate::room::keep_within(&rooms, CleanRoom::MAX_BYTES);
        let passed: Vec<String> = settings.env.iter().map(ToString::to_string).collect();
        let (home, scratch) = match sandbox {
            Some(_) => (Bubblewrap::home().to_owned(), PathBuf::from("/tmp")),
            None => (room.home(), room.scratch()),
        };
        let surroundings = Surroundings {
            home: &home,
            scratch: &scratch,
            untrusted: &own,
            passed: &passed,
            tools: &tools,
        };
        let environment = Environment::of(std::env::vars_os(), &surroundings);
        Ok(Self {
            room: Some(room),
            alone: caches == Caches::Empty,
            sandbox,
            ..Self::of(gates, environment)
        })
    }

    /// A room that is not filled yet, with this process's environment and without a sandbox. Runs there prove nothing;
    /// compared with the clean room, they show whether the commit or the room is the cause of a failure.
    pub fn outside(gates: &'a Gates<'a>) -> Result<Self, Failure> {
        let mut place = Self::room(gates, SandboxMode::Off, Caches::Empty)?;
        place.environment = inherit();
        place.expect_mixed();
        place.look = Some(Look::Outside);
        Ok(place)
    }

    /// Links the worktree's cache directories into the room. Links that cannot be made are skipped, and commands that
    /// need them fail.
    pub fn link_caches(&self, dir: &str) {
        let Some(top) = self.top() else { return };
        let mut above = vec![""];
        above.extend(dir.match_indices('/').map(|(end, _)| &dir[..end]));
        above.push(dir);
        for cache in &self.gates.settings.cache {
            let places = above.iter().filter(|_| !cache.contains('/'));
            let places = places.map(|dir| Path::new(dir).join(&**cache));
            for place in places.chain([PathBuf::from(&**cache)]) {
                let (from, to) = (self.gates.repo.root().join(&place), top.join(&place));
                if from.is_dir() && to.symlink_metadata().is_err() {
                    let _ = disk::link(&from, &to);
                }
            }
        }
    }

    /// Makes a room hold a commit and nothing else; does nothing for a worktree.
    pub fn hold(&mut self, commit: &str) -> Result<(), Failure> {
        let Some(room) = &self.room else {
            return Ok(());
        };
        let mut refs: Vec<(String, String)> = self.gates.repo.refs()?.into_iter().collect();
        refs.retain(|(name, _)| OF_USER.iter().any(|of| name.starts_with(of)));
        let mut filled = match self.fill(room, commit, &refs) {
            Err(failure) if failure.code == Code::NotReproducible => {
                if !self.fetch_missing(commit, &refs, &failure)? {
                    return Err(failure);
                }
                self.fill(room, commit, &refs)?
            }
            filled => filled?,
        };
        let lacking = filled.lacking.iter();
        self.lacking = lacking
            .map(|lacking| format!("`{}`: {}", lacking.path, lacking.why))
            .collect();
        let own = [
            self.gates.repo.root(),
            self.gates.repo.common_dir(),
            self.gates.repo.git_dir(),
        ];
        for (path, leads_to) in std::mem::take(&mut filled.leading_out) {
            if own.iter().any(|own| leads_to.starts_with(own)) {
                let what = format!("`{path}`: a link into this repository fails in a clone");
                self.lacking.push(what);
            } else if filled.remarks.len() < MAX_REMARKS {
                let to = leads_to.display();
                let what = format!("`{path}` is a link that leads out of the commit, to `{to}`");
                filled.remarks.push(what);
            }
        }
        self.commit = Some(commit.to_owned());
        self.tree = Some(filled.tree.clone());
        self.filled = Some(filled);
        Ok(())
    }

    /// Fetches the objects that a partial clone omitted: the commit's files, and with `alone` the history. Returns
    /// whether a fetch was made: a promisor remote in the settings does not provide objects by itself.
    fn fetch_missing(
        &self,
        commit: &str,
        refs: &[(String, String)],
        lacking: &Failure,
    ) -> Result<bool, Failure> {
        let mut history = Vec::new();
        if self.alone {
            history.extend(refs.iter().map(|(_, id)| &**id));
            history.push(commit);
        }
        self.gates
            .repo
            .fetch_missing(commit, &history)
            .map_err(|failure| {
                let why = &lacking.message;
                let what = format!("{why}; it was not fetched: {}", failure.message);
                Failure::state(Code::NotReproducible, what)
            })
    }

    fn fill(
        &self,
        room: &Room,
        commit: &str,
        refs: &[(String, String)],
    ) -> Result<Filled, Failure> {
        let source = Source {
            common: self.gates.repo.common_dir(),
            git_dir: self.gates.repo.git_dir(),
            worktree: self.gates.repo.root(),
            commit,
            refs,
            objects_at: self.sandbox.as_ref().map(|_| Bubblewrap::objects as _),
            history: self.gates.settings.git == GitShown::History,
            alone: self.alone,
            path: self.search_path(),
        };
        let caches = self.gates.settings.cache.iter();
        let caches: Vec<String> = caches.map(ToString::to_string).collect();
        room.fill(&source, &caches)
    }

    /// Declares that the place will hold a commit that no clone has.
    pub fn expect_mixed(&mut self) {
        (self.alone, self.mixed) = (false, true);
    }

    /// The home directory of commands in the room.
    pub fn home(&self) -> Option<PathBuf> {
        self.room.as_ref().map(Room::home)
    }

    /// The path of the files as commands see it.
    pub fn root_inside(&self) -> PathBuf {
        match (&self.room, &self.sandbox) {
            (Some(room), Some(_)) => Bubblewrap::neutral(room.path()),
            (Some(room), None) => room.path().to_owned(),
            (None, _) => self.gates.repo.root().to_owned(),
        }
    }

    /// The directory of the room's files.
    pub fn top(&self) -> Option<PathBuf> {
        self.room.as_ref().map(|room| room.path().to_owned())
    }

    /// A file of the commit that was changed since the place was filled.
    pub fn find_changed(&self) -> Option<String> {
        let room = self.room.as_ref()?;
        room.find_changed(self.filled.as_ref()?)
    }

    /// The directory whose files may now be altered. After this call the place holds no commit until it is filled
    /// again.
    pub fn alter(&mut self) -> Option<PathBuf> {
        (self.commit, self.tree, self.filled) = (None, None, None);
        self.room.as_ref().map(|room| room.path().to_owned())
    }

    /// Whether it is a room whose files do not match a commit.
    pub fn is_altered(&self) -> bool {
        self.room.is_some() && self.filled.is_none()
    }

    pub fn kind(&self) -> Place {
        match self.room {
            Some(_) if self.look != Some(Look::Outside) => Place::CleanRoom,
            _ => Place::Worktree,
        }
    }

    pub fn caches(&self) -> Caches {
        self.room.as_ref().map_or(Caches::Kept, Room::caches)
    }

    pub fn sandbox(&self) -> SandboxKind {
        match self.sandbox {
            Some(_) => SandboxKind::Bubblewrap,
            None => SandboxKind::None,
        }
    }

    /// Possible reasons why a run here differs from one in a clone.
    pub fn remarks(&self) -> Vec<String> {
        let Some(room) = &self.room else {
            return Vec::new();
        };
        let filled = self.filled.iter();
        let mut remarks: Vec<String> = filled.flat_map(|filled| filled.remarks.clone()).collect();
        remarks.extend(self.lending.iter().cloned());
        let now = crate::room::tools(std::env::vars_os());
        for (name, value) in now {
            let used = self.environment.variables.get(OsStr::new(&name));
            if name != "PATH" && used != Some(&OsString::from(value)) {
                remarks.push(format!("`{name}` is another one than the user trusted, which was used; `cook trust --tools` takes it in"));
            }
        }
        let above = room
            .path()
            .ancestors()
            .skip(1)
            .filter(|_| self.sandbox.is_none());
        remarks.extend(above
            .flat_map(|dir| LOOKED_FOR_ABOVE.map(|name| dir.join(name)))
            .filter(|path| path.symlink_metadata().is_ok())
            .map(|path| format!("`{}` stands above the clean room, where tools look for settings; `[clean_room] dir` moves the room", path.display())));
        remarks
    }

    /// The search path for programs.
    fn search_path(&self) -> &OsStr {
        let path = self.environment.variables.get(OsStr::new("PATH"));
        path.map(OsString::as_os_str).unwrap_or_default()
    }

    /// The program that the first word of a command denotes here.
    pub fn program(&self, word: &str) -> Found {
        if word.contains('/') {
            return Found::Path;
        }
        match on_path(word, self.search_path()) {
            Some(file) => Found::Machine(file),
            None => Found::Nothing,
        }
    }

    /// How to start a command here. With `hooked`, test runners append the outcome of each test to a file.
    pub fn start(&self, order: &Order, program: &Found, hooked: bool) -> Start {
        let mut words: Vec<OsString> = order.argv.iter().map(OsString::from).collect();
        if let (Found::Machine(file), Some(first)) = (program, words.first_mut()) {
            *first = file.into();
        }
        let mut env = self.environment.variables.clone();
        let (Some(room), Some(sandbox)) = (&self.room, &self.sandbox) else {
            let top = match &self.room {
                Some(room) => room.path(),
                None => self.gates.repo.root(),
            };
            let dir = join(top, &order.gate.dir);
            env.insert("PWD".into(), dir.as_os_str().into());
            if let (Some(room), true) = (&self.room, hooked) {
                add_hooks(&mut env, &room.home(), top);
            }
            return Start {
                argv: words,
                dir,
                env,
            };
        };
        let top = Bubblewrap::neutral(room.path());
        if hooked {
            add_hooks(&mut env, Bubblewrap::home(), &top);
        }
        env.insert("PWD".into(), join(&top, &order.gate.dir).into());
        let mut objects = Vec::new();
        if !self.alone {
            objects.push(self.gates.repo.common_dir().join("objects"));
            let filled = self.filled.iter();
            objects.extend(filled.flat_map(|filled| filled.submodules.iter().cloned()));
        }
        let mut all = sandbox.gate(&Gate {
            top: room.path(),
            home: &room.home(),
            objects: &objects,
            hidden: &self.list_hidden(),
            shown: &self.list_shown(),
            network: order.gate.network,
            dir: &order.gate.dir,
        });
        all.append(&mut words);
        Start {
            argv: all,
            dir: PathBuf::from("/"),
            env,
        }
    }

    /// Directories that a sandboxed command does not see: the repository, and those that agents write.
    fn list_hidden(&self) -> Vec<PathBuf> {
        let mut hidden = vec![
            self.gates.repo.root().to_owned(),
            self.gates.repo.common_dir().to_owned(),
            self.gates.repo.git_dir().to_owned(),
        ];
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        let known = KnownAgent::all().map(|agent| &agent.preset);
        for table in known.chain(self.gates.agents.values()) {
            let variable = |name: &str| match table.env.get(name) {
                Some(value) => Some(OsString::from(value)),
                None => std::env::var_os(name),
            };
            for dir in &table.writes {
                hidden.extend(dir.place(home.as_deref(), |_| None));
                hidden.extend(dir.place(home.as_deref(), variable));
            }
        }
        hidden.sort();
        hidden.dedup();
        hidden
    }

    /// The directories named in its environment, except for its own ones, and the downloads.
    fn list_shown(&self) -> Vec<PathBuf> {
        const OWN: [&str; 5] = ["HOME", "PWD", "TEMP", "TMP", "TMPDIR"];
        let all = self.environment.variables.iter();
        all.filter(|(name, _)| !OWN.iter().any(|own| name == own))
            .flat_map(|(_, value)| std::env::split_paths(value))
            .chain(list_downloads())
            .filter(|path| path.is_absolute() && path.is_dir())
            .collect()
    }

    /// A digest of the settings and of the files that setup depends on. Setup runs again if it differs from the stored
    /// one.
    pub fn setup_stamp(&self) -> Result<String, Failure> {
        let mut digest = Sha256::new();
        let mut add = |bytes: &[u8]| {
            digest.update((bytes.len() as u64).to_le_bytes());
            digest.update(bytes);
        };
        add(self.gates.settings.preparation().as_bytes());
        if self.gates.settings.setup_inputs.is_empty() {
            add(self.tree.as_deref().unwrap_or_default().as_bytes());
        }
        if let Some(room) = &self.room {
            for input in &self.gates.settings.setup_inputs {
                let place = room.path().join(&**input);
                let read = disk::read(&place, MAX_INPUT, Links::Refuse);
                let bytes = read.at("read", &place)?;
                add(&[bytes.is_some().into()]);
                add(&bytes.unwrap_or_default());
            }
        }
        Ok(hex(&digest.finalize()))
    }

    /// Whether the room was set up with this digest.
    pub fn is_set_up(&self, stamp: &str) -> bool {
        let note = self.room.as_ref().map(|room| room.note("setup"));
        note.is_some_and(|note| {
            let found = disk::read_text(&note, MAX_NOTE, Links::Refuse);
            matches!(found, Ok(Some(found)) if found == stamp)
        })
    }

    /// Records the digest with which the room was set up; `None` means that it is not set up.
    pub fn note_setup(&self, stamp: Option<&str>) -> Result<(), Failure> {
        let Some(room) = &self.room else {
            return Ok(());
        };
        let note = room.note("setup");
        let noted =
            NewFile::at(&note, Durable::Nothing).write(stamp.unwrap_or_default().as_bytes());
        noted.at("write", &note)
    }
}

/// This process's environment, as far as its children inherit it.
pub(super) fn inherit() -> Environment {
    Environment {
        variables: list_inherited()
            .filter(|(name, _)| !crate::room::is_of_runner(name))
            .collect(),
        dropped: Vec::new(),
    }
}

/// A folder below a directory; an empty folder denotes the directory itself.
fn join(top: &Path, dir: &str) -> PathBuf {
    match dir {
        "" => top.to_owned(),
        dir => top.join(dir),
    }
}

/// The bubblewrap that the user trusted, if it is wanted and works.
fn find_sandbox(mode: SandboxMode, path: &OsStr) -> Result<Option<Bubblewrap>, Failure> {
    static TRIED: OnceLock<Result<Bubblewrap, String>> = OnceLock::new();
    if mode == SandboxMode::Off {
        return Ok(None);
    }
    let tried = TRIED.get_or_init(|| {
        let found = Bubblewrap::find_on(path)
            .ok_or("bubblewrap (`bwrap`) is not on the PATH that this machine's user trusted")?;
        found.try_out().map(|()| found)
    });
    match (tried, mode) {
        (Ok(sandbox), _) => Ok(Some(sandbox.clone())),
        (Err(why), SandboxMode::Required) => {
            Err(Failure::state(Code::SandboxUnavailable, why.clone()))
        }
        (Err(_), _) => Ok(None),
    }
}

/// Adds the variables that activate the hooks, for a program that sees `home` and `top` at these paths.
fn add_hooks(env: &mut BTreeMap<OsString, OsString>, home: &Path, top: &Path) {
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let (hooks, records) = (text(home.join(HOOKS)), text(home.join(RECORDS)));
    let root = text(top.to_owned());
    let places = HookPlaces {
        hooks: &hooks,
        records: &records,
        root: &root,
    };
    let existing = |name: &str| {
        let value = env.get(OsStr::new(name))?;
        Some(value.to_string_lossy().into_owned())
    };
    let added = runner_hooks::variables(&places, existing);
    env.extend(
        added
            .into_iter()
            .map(|(name, value)| (name.into(), value.into())),
    );
}

/// The maximum number of files that are linked or copied from one cache; the rest is downloaded.
const MOST: usize = 100_000;
/// The maximum size in bytes of a file that is copied. Index files, which programs append to, are not larger.
const COPIED: u64 = 16 * 1024;

/// A download cache: the command word that uses it, the variable that moves it, the subdirectory below that variable's
/// value, and the default directory relative to the home.
type Downloads = (&'static str, &'static str, &'static str, &'static str);

const PIP: &str = match cfg!(target_os = "macos") {
    true => "Library/Caches/pip",
    false => ".cache/pip",
};
const ALL: [Downloads; 6] = [
    ("npm", "npm_config_cache", "_cacache", ".npm/_cacache"),
    ("pip", "PIP_CACHE_DIR", "", PIP),
    ("uv", "UV_CACHE_DIR", "", ".cache/uv"),
    (
        "cargo",
        "CARGO_HOME",
        "registry/cache",
        ".cargo/registry/cache",
    ),
    (
        "cargo",
        "CARGO_HOME",
        "registry/index",
        ".cargo/registry/index",
    ),
    (
        "go",
        "GOMODCACHE",
        "cache/download",
        "go/pkg/mod/cache/download",
    ),
];

/// The user's directory of this cache, if it exists.
fn find((_, variable, below, place): &Downloads) -> Option<PathBuf> {
    let moved = std::env::var_os(variable).filter(|dir| !dir.is_empty());
    let found = match moved {
        Some(dir) => PathBuf::from(dir).join(below),
        None => std::env::home_dir()?.join(place),
    };
    (found.is_absolute() && found.is_dir()).then_some(found)
}

/// The directories that the links point to; a sandbox shows them.
pub(super) fn list_downloads() -> Vec<PathBuf> {
    ALL.iter().filter_map(find).collect()
}

/// The downloads that were put into a room's home.
#[derive(Default)]
pub(super) struct Lent {
    /// Source and destination directories.
    places: Vec<(PathBuf, PathBuf)>,
    /// Downloads that could not be used, and why.
    pub remarks: Vec<String>,
}

impl Lent {
    pub fn is_any(&self) -> bool {
        !self.places.is_empty()
    }

    /// Removes the downloads from the home again, with everything that setup added to them.
    pub fn take_back(&self) -> Result<(), Failure> {
        for (_, place) in &self.places {
            disk::remove_tree(place).at("remove", place)?;
        }
        Ok(())
    }

    /// Names the caches that they come from.
    pub fn describe(&self) -> String {
        let named = self.places.iter();
        let named: Vec<String> = named
            .map(|(from, _)| format!("`{}`", from.display()))
            .collect();
        format!("the downloads of {}", named.join(", "))
    }
}

/// Puts the downloads that these commands would need into a room's home, unless they are there. A remark names those
/// that could not be used and are downloaded.
pub(super) fn lend_downloads(home: &Path, commands: &[&str]) -> Lent {
    let mut lent = Lent::default();
    for downloads in &ALL {
        let (program, .., place) = downloads;
        let mut words = commands.iter().flat_map(|run| run.split_whitespace());
        if !words.any(|word| is_called(word, program)) {
            continue;
        }
        let Some(from) = find(downloads) else {
            continue;
        };
        let shown = from.display();
        if !from.metadata().is_ok_and(|found| disk::is_own(&found)) {
            lent.remarks.push(format!(
                "the downloads in `{shown}` belong to another user, so they were not used"
            ));
            continue;
        }
        let to = home.join(place);
        let put = lend(&from, &to, &mut 0);
        if let Err(error) = put {
            lent.remarks.push(format!(
                "not all downloads in `{shown}` could be used ({error}); what is missing was downloaded"
            ));
        }
        lent.places.push((from, to));
    }
    lent
}

/// Whether a word of a command denotes this program: by its name, or by a path that ends in it.
fn is_called(word: &str, program: &str) -> bool {
    word.rsplit('/').next() == Some(program)
}

fn lend(from: &Path, to: &Path, taken: &mut usize) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        let found = entry.metadata()?;
        if found.is_dir() {
            lend(&entry.path(), &place, taken)?;
            continue;
        }
        // An empty file is a lock file, or not worth copying.
        if found.len() == 0 || place.symlink_metadata().is_ok() {
            continue;
        }
        *taken += 1;
        if *taken > MOST {
            return Ok(());
        }
        match found.is_file() && found.len() <= COPIED {
            true => drop(std::fs::copy(entry.path(), &place)?),
            false => disk::link(&entry.path(), &place)?,
        }
    }
    Ok(())
}

/// The maximum size in bytes of all records, and of one report.
const MAX_RECORDS: u64 = 64 << 20;
const MAX_REPORT: u64 = 8 << 20;
/// The maximum number of reports that are read and of directories that are searched, and their maximum depth.
const MAX_REPORTS: usize = 2_000;
const MAX_DIRECTORIES: usize = 20_000;
const MAX_DEPTH: usize = 12;

impl RunPlace<'_> {
    /// Writes the hooks from scratch, and removes the output of earlier runs.
    pub(super) fn lay_hooks(&self) -> Result<(), Failure> {
        let Some(home) = self.home() else {
            return Ok(());
        };
        let own = home.join(".trial");
        disk::remove_tree(&own).at("write", &own)?;
        for file in runner_hooks::files() {
            let path = home.join(HOOKS).join(file.path);
            if let Some(dir) = path.parent() {
                fs::create_dir_all(dir).at("write", &own)?;
            }
            NewFile::at(&path, Durable::Nothing)
                .write(file.text.as_bytes())
                .at("write", &own)?;
        }
        Ok(())
    }

    /// The outcomes of the tests of a run that began at this time.
    pub(super) fn read_outcomes(&self, ended: &Ended, began: SystemTime) -> Outcomes {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&ended.stdout.bytes()), text(&ended.stderr.bytes()));
        let home = self.home();
        let read = |path: &Path, limit| {
            let bytes = disk::read(path, limit, Links::Refuse).ok().flatten();
            bytes.map(|bytes| text(&bytes)).unwrap_or_default()
        };
        let records = home
            .as_ref()
            .map(|home| read(&home.join(RECORDS), MAX_RECORDS))
            .unwrap_or_default();
        let mut reports = Vec::new();
        if let Some(top) = self.top() {
            find_reports(&top, Some(began), &mut reports);
        }
        if let Some(home) = home {
            let records = home.join(RECORDS);
            let place = runner_hooks::name_gtest_dir(&records.to_string_lossy());
            find_reports(Path::new(&place), None, &mut reports);
        }
        let root = self.root_inside();
        let root = root.to_string_lossy();
        let texts: Vec<(String, String)> = reports
            .iter()
            .map(|(path, place)| (path.clone(), read(place, MAX_REPORT)))
            .collect();
        let reports: Vec<Report> = texts
            .iter()
            .map(|(path, text)| Report { path, text })
            .collect();
        let mut outcomes = Outcomes::read(&Material {
            root: &root,
            stdout: &stdout,
            stderr: &stderr,
            records: &records,
            reports: &reports,
        });
        // It was killed before it completed.
        outcomes.is_partial |= ended.code.is_none();
        outcomes
    }
}

/// Finds report files of test runners below a directory, written since this time; without a time, all files.
fn find_reports(top: &Path, since: Option<SystemTime>, found: &mut Vec<(String, PathBuf)>) {
    let mut directories = 0;
    let mut due = vec![(top.to_owned(), String::new(), 0)];
    while let Some((dir, below, depth)) = due.pop() {
        directories += 1;
        if directories > MAX_DIRECTORIES || found.len() >= MAX_REPORTS {
            return;
        }
        let Ok(entries) = fs::read_dir(&dir) else {
            continue;
        };
        for entry in entries.flatten() {
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let path = match below.is_empty() {
                true => name.clone(),
                false => format!("{below}/{name}"),
            };
            if kind.is_dir() {
                if depth < MAX_DEPTH && !PASSED_OVER.contains(&name.as_str()) {
                    due.push((entry.path(), path, depth + 1));
                }
            } else if kind.is_file()
                && (since.is_none() || cook_protocol::trials::outcomes::is_report(&path))
            {
                let is_new = |since: SystemTime| {
                    let changed = entry.metadata().and_then(|found| found.modified());
                    changed.is_ok_and(|at| at >= since)
                };
                if since.is_none_or(is_new) {
                    found.push((path, entry.path()));
                }
            }
        }
    }
}

/// Directories in which no test runner writes a report.
const PASSED_OVER: [&str; 5] = [".git", "node_modules", ".venv", "hooks", "site-packages"];

impl Receipts {
    /// The outcomes of the tests of a receipt's run.
    ///
    /// # Errors
    /// When a file cannot be opened.
    pub fn outcomes(&self, receipt: &Receipt) -> Result<Outcomes, Failure> {
        if let Some(digest) = &receipt.outcomes_sha256
            && let Some(bytes) = self.stream(digest)?
            && let Ok(outcomes) = serde_json::from_slice(&bytes)
        {
            return Ok(outcomes);
        }
        let output = self.output(receipt)?;
        let mut outcomes = Outcomes::read(&Material {
            stdout: &output.text,
            ..Material::default()
        });
        outcomes.is_partial |= output.partial;
        Ok(outcomes)
    }
}
