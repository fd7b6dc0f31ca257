//! Presets of agents: the built-in ones, and the user's tables that modify or add to them.

use cook_protocol::diagnostic::{Code, Failure, Lines, clean};
use cook_protocol::digest::sha256;
use cook_protocol::model::{
    Access, AccessArgs, AgentKind, AgentTable, Capability, Config, Continuation, Counting,
    EventFormat, KnownAgent, Rule, SessionNaming, Wanted,
};
use cook_repo::disk::{self, Durable, Links, NewFile};
use cook_repo::process::{Polite, Short, capture, is_program, list_on_path, on_path};
use cook_repo::session::Window;
use cook_repo::thread;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The placeholders that a command line may contain in braces, including those that expand to several items.
const NAMES: [&str; 8] = [
    "access",
    "cwd",
    "model",
    "new_session",
    "schema",
    "schema_file",
    "schema_json",
    "session",
];

/// An agent that can be started.
#[derive(Debug, Clone, PartialEq)]
pub struct Preset {
    name: String,
    bin: String,
    start: Vec<String>,
    pub(super) table: AgentTable,
    is_users: bool,
}

impl Preset {
    /// The agent of this name: the user's table merged over the preset that it extends.
    ///
    /// # Errors
    /// When there is no such agent, or its table is invalid.
    pub fn of(name: &str, config: &Config) -> Result<Self, Failure> {
        let own = config.agents.get(name);
        let base = own
            .and_then(|table| table.extends.as_deref())
            .unwrap_or(name);
        let base = match KnownAgent::find(base) {
            Some(known) => Some(known.preset.clone()),
            None if own.is_some_and(|table| table.extends.is_some()) => {
                return Err(invalid(
                    name,
                    format!("`extends`: there is no preset `{}`", base.escape_debug()),
                ));
            }
            None => None,
        };
        let table = match (own, base) {
            (Some(own), Some(base)) if is_acp(own) && !is_acp(&base) => {
                check_acp(name, own)?;
                merge(name, own, &without_flags(base))?
            }
            (Some(own), Some(base)) => merge(name, own, &base)?,
            (Some(own), None) => own.clone(),
            (None, Some(base)) => base,
            (None, None) => return Err(unknown(name, config)),
        };
        Self::complete(name, table, own.is_some())
    }

    fn complete(name: &str, table: AgentTable, is_users: bool) -> Result<Self, Failure> {
        let bin = table.bin.clone().filter(|bin| !bin.is_empty());
        let bin = bin.ok_or_else(|| invalid(name, "`bin` is missing"))?;
        let start = table.start.clone();
        let start = start.ok_or_else(|| invalid(name, "`start` is missing"))?;
        let preset = Self {
            name: name.to_owned(),
            bin,
            start,
            table,
            is_users,
        };
        if preset.kind() == AgentKind::Acp {
            check_acp(name, &preset.table)?;
        }
        check_names(name, &preset)?;
        if preset.events() == EventFormat::Json && preset.rules().is_empty() {
            return Err(invalid(name, "`events = \"json\"` needs `[[rule]]` tables"));
        }
        if let (Some(window), Some(reserve)) =
            (preset.table.window_tokens, preset.table.reserve_tokens)
            && reserve >= window
        {
            return Err(invalid(
                name,
                "`reserve_tokens` must be below `window_tokens`",
            ));
        }
        for rule in preset.rules() {
            check_rule(rule).map_err(|why| invalid(name, why))?;
        }
        Ok(preset)
    }

    /// The name of the agent.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The program name or path.
    pub fn bin(&self) -> &str {
        &self.bin
    }

    /// The complete table.
    pub fn table(&self) -> &AgentTable {
        &self.table
    }

    /// Arguments for a fresh session.
    pub fn start(&self) -> &[String] {
        &self.start
    }

    /// The options of a fork, for a run and for the program's own interface.
    pub(super) fn fork_options(&self) -> impl Iterator<Item = &str> {
        let items = self.table.fork.iter().chain(&self.table.open).flatten();
        let items = items.map(String::as_str);
        items.filter(|item| item.starts_with('-') && item.len() > 1)
    }

    /// Whether `cook.toml` defines or modifies it.
    pub fn is_users(&self) -> bool {
        self.is_users
    }

    /// Whether some version of the program is known to work with it.
    pub fn is_verified(&self) -> bool {
        let verified = self.table.verified.as_ref();
        !self.is_users && verified.is_some_and(|versions| !versions.is_empty())
    }

    /// The words that the user must trust before a table of the repository is used; they change with every change of
    /// the table. `None` for an unmodified preset.
    pub fn trust_words(&self) -> Option<String> {
        self.is_users.then(|| {
            let text = toml::to_string(&self.table).unwrap_or_default();
            format!("agent {} {}", self.name, &sha256(text)[..16])
        })
    }

    /// Whether these are the trust words of an agent, and not a command line.
    pub fn are_trust_words(words: &str) -> bool {
        let digest = words
            .strip_prefix("agent ")
            .and_then(|rest| rest.rsplit_once(' '));
        digest.is_some_and(|(_, digest)| {
            digest.len() == 16 && digest.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
    }

    /// The protocol by which cook communicates with it.
    pub fn kind(&self) -> AgentKind {
        self.table.kind.unwrap_or_default()
    }

    /// Its output format.
    pub fn events(&self) -> EventFormat {
        self.table.events.unwrap_or(EventFormat::Text)
    }

    /// Its capability.
    pub fn capability(&self) -> Capability {
        self.table.capability.unwrap_or(Capability::Repl)
    }

    /// How a conversation is continued. Native continuation requires that the program's own record can be compared
    /// before a fork. Over the Agent Client Protocol, each session reports whether it can be forked.
    pub fn continuation(&self) -> Continuation {
        let forks = self.table.fork.is_some() || self.kind() == AgentKind::Acp;
        let can = forks && self.table.transcript.is_some();
        match self.table.continuation {
            Some(Continuation::Native) | None if can => Continuation::Native,
            Some(Continuation::None) => Continuation::None,
            _ => Continuation::Replay,
        }
    }

    /// Whether a model can be chosen. Over the Agent Client Protocol, the session decides.
    pub fn takes_model(&self) -> bool {
        let by_session = self.kind() == AgentKind::Acp;
        by_session
            || self.start.iter().any(|item| match item.as_str() {
                "{model}" => self.table.model.is_some(),
                item => item.contains("{model}"),
            })
    }

    /// Its context window.
    pub fn window(&self) -> Option<Window> {
        self.table.window_tokens.map(|tokens| Window {
            tokens,
            reserve: self.table.reserve_tokens.unwrap_or(tokens / 8),
        })
    }

    /// How sessions are named.
    pub fn session(&self) -> SessionNaming {
        self.table.session.unwrap_or(SessionNaming::None)
    }

    /// The rules for reading its events.
    pub fn rules(&self) -> &[Rule] {
        &self.table.rules
    }

    /// The arguments for a level of access; empty if the preset does not define the level.
    pub fn access(&self, access: Access) -> AccessArgs {
        self.table.access.get(&access).cloned().unwrap_or_default()
    }

    /// Whether it has a read-only mode.
    pub fn can_only_read(&self) -> bool {
        self.table.access.contains_key(&Access::Read)
    }

    /// The signal that asks it to end.
    pub fn polite(&self) -> Polite {
        match self.table.interrupt {
            Some(cook_protocol::model::EndSignal::Int) => Polite::Interrupt,
            Some(cook_protocol::model::EndSignal::Term) | None => Polite::Terminate,
        }
    }

    /// The scope of its token counts.
    pub fn usage_counting(&self) -> Counting {
        self.table.usage.unwrap_or(Counting::Run)
    }

    /// The scope of its cost. The Agent Client Protocol reports that of the whole session.
    pub fn cost_counting(&self) -> Counting {
        let usual = match self.kind() {
            AgentKind::Command => Counting::Run,
            AgentKind::Acp => Counting::Thread,
        };
        self.table.cost.unwrap_or(usual)
    }
}

fn merge(name: &str, own: &AgentTable, base: &AgentTable) -> Result<AgentTable, Failure> {
    own.over(base).map_err(|why| invalid(name, why))
}

fn is_acp(table: &AgentTable) -> bool {
    table.kind == Some(AgentKind::Acp)
}

/// The settings of a preset that do not depend on the protocol: its command lines and events do.
fn without_flags(base: AgentTable) -> AgentTable {
    AgentTable {
        bin: base.bin,
        identify: base.identify,
        version: base.version,
        env: base.env,
        writes: base.writes,
        window_tokens: base.window_tokens,
        reserve_tokens: base.reserve_tokens,
        transcript: base.transcript,
        ..AgentTable::default()
    }
}

/// Refuses settings whose meaning the Agent Client Protocol determines.
fn check_acp(name: &str, table: &AgentTable) -> Result<(), Failure> {
    let settled = [
        ("events", table.events.is_some()),
        ("rule", !table.rules.is_empty()),
        ("resume", table.resume.is_some()),
        ("fork", table.fork.is_some()),
        ("session", table.session.is_some()),
        ("schema", table.schema.is_some()),
    ];
    match settled.iter().find(|(_, is_set)| *is_set) {
        Some((key, _)) => Err(invalid(
            name,
            format!("`{key}` has no meaning beside `kind = \"acp\"`"),
        )),
        None => Ok(()),
    }
}

/// Checks that every item that consists of a name in braces is a known placeholder.
fn check_names(name: &str, preset: &Preset) -> Result<(), Failure> {
    let table = &preset.table;
    let lists = [
        ("start", Some(&preset.start)),
        ("resume", table.resume.as_ref()),
        ("fork", table.fork.as_ref()),
        ("open", table.open.as_ref()),
        ("model", table.model.as_ref()),
        ("schema", table.schema.as_ref()),
    ];
    let listed = lists
        .into_iter()
        .flat_map(|(key, list)| list.into_iter().flatten().map(move |item| (key, item)));
    for (key, item) in listed {
        let braced = item
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'));
        let is_name = |word: &str| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        if let Some(word) = braced.filter(|word| !word.is_empty() && is_name(word))
            && !NAMES.contains(&word)
        {
            return Err(invalid(
                name,
                format!(
                    "`{key}`: `{item}` stands for nothing; there are {{{}}}",
                    NAMES.join("}, {")
                ),
            ));
        }
    }
    Ok(())
}

/// All agents by name: the presets and the user's. An invalid one does not affect the others.
pub fn presets(config: &Config) -> BTreeMap<String, Result<Preset, Failure>> {
    names(config)
        .map(|name| {
            let preset = Preset::of(&name, config);
            (name, preset)
        })
        .collect()
}

fn names(config: &Config) -> impl Iterator<Item = String> {
    KnownAgent::names()
        .map(str::to_owned)
        .chain(config.agents.keys().map(ToString::to_string))
}

pub(super) fn invalid(name: &str, why: impl std::fmt::Display) -> Failure {
    Failure::state(Code::AgentInvalid, format!("agents.{name}: {why}"))
}

/// The failure for a file that cook needs for an agent and cannot write or read.
pub(super) fn file_failure(what: &str, path: &Path, cause: &std::io::Error) -> Failure {
    let what = format!("{what} `{}`", path.display());
    Failure::state(Code::NotWritable, what).with_cause(cause)
}

fn unknown(name: &str, config: &Config) -> Failure {
    let nearest = names(config)
        .map(|known| (strsim::damerau_levenshtein(name, &known), known))
        .min()
        .filter(|(distance, known)| *distance <= known.len().max(3) / 2);
    let hint = nearest.map(|(_, known)| format!("; did you mean `{known}`?"));
    let what = format!(
        "unknown agent `{}`{}",
        name.escape_debug(),
        hint.unwrap_or_default()
    );
    Failure::unknown(Code::AgentUnknown, what)
}

// Detection of installed agents: a name on PATH proves nothing, so each program is asked to identify itself. The answer
// is cached by path, size, inode and ctime of the program's file.

/// The maximum size of the cache in bytes.
const MAX_CACHE: u64 = 4 << 20;

/// How long a program may take to identify itself: some need seconds on a busy machine.
const DEADLINE: Duration = Duration::from_secs(30);
/// The maximum size of its answer in bytes.
const LIMIT: usize = 256 * 1024;
/// The number of characters of a failed answer that are shown.
const WORDS: usize = 300;

/// The result of looking for one agent's program.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// The program's file; `None` if it was not found.
    pub path: Option<PathBuf>,
    /// Whether the program is the agent that the preset means; true if the preset has no check.
    pub is_it: bool,
    /// Whether its help lacks an option for a fork, so that this version cannot fork.
    pub lacks_fork: bool,
    /// The version that it reports.
    pub version: Option<String>,
    /// The reason why asking it failed.
    pub problem: Option<String>,
    /// Other programs of the same name later on PATH; they are shadowed.
    #[serde(skip)]
    pub further: Vec<PathBuf>,
    /// The one among them that is the agent, if the first is not or did not answer.
    #[serde(skip)]
    pub elsewhere: Option<PathBuf>,
}

impl Found {
    /// Removes from the preset what this version of the program cannot do.
    pub fn restrict(&self, preset: &mut Preset) {
        if self.lacks_fork {
            preset.table.fork = None;
            preset.table.open = None;
        }
    }
}

/// Asks all programs in parallel. Known answers are read from `cache` and stored there; an unreadable cache is
/// replaced.
///
/// # Errors
/// When the cache cannot be written.
pub fn find(presets: &[&Preset], dir: &Path, cache: &Path) -> Result<Vec<Found>, Failure> {
    // The cache: results by agent, path, and the identity of the file.
    let kept: BTreeMap<String, Found> = disk::read(cache, MAX_CACHE, Links::Refuse)
        .ok()
        .flatten()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    let places: Vec<(Option<PathBuf>, String)> =
        presets.iter().map(|preset| place(preset, dir)).collect();
    // One agent may have several roles, but its program is asked only once.
    let mut wanted: BTreeMap<&str, (&Preset, &Path)> = BTreeMap::new();
    for (preset, (path, key)) in presets.iter().zip(&places) {
        if let (Some(path), None) = (path, kept.get(key)) {
            wanted.insert(key, (preset, path));
        }
    }
    let wanted: Vec<_> = wanted.into_iter().collect();
    let asked = thread::on_each(&wanted, |(_, (preset, path))| ask(preset, path, dir));
    let went_wrong = |preset: &Preset| Found {
        problem: Some(format!("asking `{}` went wrong", preset.bin())),
        ..Found::default()
    };
    let asked = wanted.iter().zip(asked).map(|((key, (preset, _)), found)| {
        let found = found.unwrap_or_else(|_| went_wrong(preset));
        ((*key).to_owned(), found)
    });
    let mut known = kept.clone();
    // Entries of programs that have been replaced are dropped.
    known.retain(|key, _| {
        let is_here = places.iter().any(|(_, place)| place == key);
        let name = key.split(' ').next();
        is_here || !presets.iter().any(|preset| name == Some(preset.name()))
    });
    known.extend(asked);
    let found = places.iter().map(|(_, key)| known.get(key).cloned());
    let mut found: Vec<Found> = found.map(Option::unwrap_or_default).collect();
    for (preset, found) in presets.iter().zip(&mut found) {
        look_further(preset, dir, found);
    }
    // A program that did not answer is not stored, so that it is asked again next time.
    known.retain(|_, found| found.problem.is_none());
    if known != kept {
        let fail = |cause| file_failure("write", cache, &cause);
        std::fs::create_dir_all(cache.parent().unwrap_or(Path::new("."))).map_err(fail)?;
        let bytes = serde_json::to_vec(&known).map_err(|error| fail(error.into()))?;
        let file = NewFile::at(cache, Durable::Nothing);
        file.write(&bytes).map_err(fail)?;
    }
    Ok(found)
}

/// The program's file and its cache key: the agent's name, the file's identity, and the parts of the table that affect
/// the answer.
fn place(preset: &Preset, dir: &Path) -> (Option<PathBuf>, String) {
    let path = program_file(preset.bin(), dir);
    let stamp = path.as_ref().and_then(|path| {
        let found = path.metadata().ok()?;
        let stamp = stamp(&found)?;
        Some(format!("{} {} {stamp}", path.display(), found.len()))
    });
    let table = preset.table();
    let options: Vec<&str> = preset.fork_options().collect();
    let table = format!("{:?} {:?} {options:?}", table.identify, table.version);
    let key = format!("{} {} {table}", preset.name(), stamp.unwrap_or_default());
    (path, key)
}

/// Distinguishes files of the same size: a package manager may give all its files the same mtime.
#[cfg(unix)]
fn stamp(found: &Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let (seconds, nanos) = (found.ctime(), found.ctime_nsec());
    Some(format!("{} {seconds}.{nanos}", found.ino()))
}

#[cfg(not(unix))]
fn stamp(found: &Metadata) -> Option<String> {
    let changed = found.modified().ok()?.duration_since(std::time::UNIX_EPOCH);
    Some(changed.ok()?.as_nanos().to_string())
}

/// Looks for other installations. They are asked only if the first one did not identify itself as the agent.
fn look_further(preset: &Preset, dir: &Path, found: &mut Found) {
    let (bin, Some(path)) = (preset.bin(), std::env::var_os("PATH")) else {
        return;
    };
    if bin.contains('/') || found.path.is_none() {
        return;
    }
    let mut seen = BTreeSet::new();
    for file in list_on_path(bin, &path) {
        let is_first = seen.is_empty();
        if seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone())) && !is_first {
            found.further.push(file);
        }
    }
    if !found.is_it || found.problem.is_some() {
        let mut further = found.further.iter();
        let is_it = |file: &&PathBuf| {
            let asked = ask(preset, file, dir);
            asked.is_it && asked.problem.is_none()
        };
        found.elsewhere = further.find(is_it).cloned();
    }
}

/// States where the agent is, if the first program of its name is another one.
pub fn describe_elsewhere(path: impl std::fmt::Display) -> String {
    format!("`{path}`, further on PATH, is the agent")
}

/// The file that a program name denotes.
pub(super) fn program_file(bin: &str, dir: &Path) -> Option<PathBuf> {
    if bin.contains('/') {
        let path = dir.join(bin);
        return is_program(&path).then_some(path);
    }
    on_path(bin, &std::env::var_os("PATH")?)
}

fn ask(preset: &Preset, path: &Path, dir: &Path) -> Found {
    let table = preset.table();
    let mut found = Found {
        path: Some(path.to_owned()),
        is_it: table.identify.is_none(),
        ..Found::default()
    };
    if let Some(identify) = &table.identify {
        let is_it = |said: &Said| {
            let text = said.text.to_lowercase();
            text.contains(&identify.text.to_lowercase())
        };
        match ask_twice(path, &identify.args, dir, is_it) {
            Ok(said) => {
                found.is_it = is_it(&said);
                let is_help = identify.args.iter().any(|arg| arg == "--help");
                found.lacks_fork = is_help && !names_all(&said.text, preset.fork_options());
            }
            Err(why) => found.problem = Some(why),
        }
    }
    if found.problem.is_none()
        && found.is_it
        && let Some(args) = &table.version
    {
        match ask_twice(path, args, dir, |said| find_version(&said.text).is_some()) {
            Ok(said) => found.version = find_version(&said.text),
            Err(why) => found.problem = Some(why),
        }
    }
    found
}

/// Whether a help text contains each of the options as a word.
fn names_all<'a>(help: &str, mut options: impl Iterator<Item = &'a str>) -> bool {
    let words: BTreeSet<&str> = help
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
        .collect();
    options.all(|option| words.contains(option))
}

/// Asks a program twice if the first attempt fails, because a failure does not identify it; the error holds its output.
/// If its answer is `enough`, the exit code is ignored.
fn ask_twice(
    path: &Path,
    args: &[String],
    dir: &Path,
    enough: impl Fn(&Said) -> bool,
) -> Result<Said, String> {
    let once = || {
        let heard = ask_program(path, args, dir)?;
        match heard.code == Some(0) || enough(&heard) {
            true => Ok(heard),
            false => Err(heard.complain(path, args)),
        }
    };
    once().or_else(|_: String| once())
}

/// The version that the program reports now.
pub fn probe_version(preset: &Preset, dir: &Path) -> Option<String> {
    let path = program_file(preset.bin(), dir)?;
    let args = preset.table().version.as_ref()?;
    find_version(&ask_program(&path, args, dir).ok()?.text)
}

/// States that cook was not tested with the program's release; `None` if it was, or if either is unknown.
pub(super) fn describe_untested(preset: &Preset, dir: &Path) -> Option<String> {
    let tested = preset.table().verified.as_ref()?;
    let version = probe_version(preset, dir).filter(|_| !tested.is_empty())?;
    let releases = tested.join(", ");
    let is_tested = tested.contains(&version);
    (!is_tested).then(|| format!("cook was tested with {releases}, and this is {version}"))
}

/// The output of a program.
struct Said {
    text: String,
    /// The exit code; `None` if a signal ended it.
    code: Option<i32>,
}

impl Said {
    /// For example `gemini --help ended with 52: …`.
    fn complain(&self, path: &Path, args: &[String]) -> String {
        let name = path.file_name().unwrap_or(path.as_os_str());
        let how = match self.code {
            Some(code) => format!("ended with {code}"),
            None => "was ended by a signal".to_owned(),
        };
        let words: String = clean(&self.text, Lines::Fold).chars().take(WORDS).collect();
        let words = if words.is_empty() {
            "it said nothing"
        } else {
            &words
        };
        let words = name_node(words.to_owned(), path);
        format!(
            "`{} {}` {how}: {words}",
            name.to_string_lossy(),
            args.join(" ")
        )
    }
}

/// Adds the node version that the program requires to an error message of node itself.
pub(super) fn name_node(words: String, program: &Path) -> String {
    let wanted = words
        .contains("Node.js v")
        .then(|| read_wanted_node(program));
    match wanted.flatten() {
        Some(node) => format!("it needs node {node}: {words}"),
        None => words,
    }
}

fn read_wanted_node(program: &Path) -> Option<String> {
    let real = program.canonicalize().ok()?;
    let packages = real.ancestors().skip(1).take(4);
    let found = packages
        .map(|dir| dir.join("package.json"))
        .find_map(|file| {
            let text = disk::read(&file, MAX_CACHE, Links::Refuse).ok()??;
            serde_json::from_slice::<Value>(&text).ok()
        })?;
    let node = clean(found["engines"]["node"].as_str()?, Lines::Fold);
    Some(node.chars().take(40).collect())
}

fn ask_program(path: &Path, args: &[String], dir: &Path) -> Result<Said, String> {
    let mut argv = vec![path.as_os_str().to_owned()];
    argv.extend(args.iter().map(OsString::from));
    let captured = capture(&Short {
        env: vec![("NO_COLOR", "1".into()), ("TERM", "dumb".into())],
        ..Short::new(argv, dir, DEADLINE, LIMIT)
    });
    match captured {
        Ok(said) => Ok(Said {
            text: String::from_utf8_lossy(&said.stdout).into_owned() + &said.stderr,
            code: said.code,
        }),
        Err(error) => Err(error.to_string()),
    }
}

/// The first word that begins with a number and a dot, without a leading `v`.
fn find_version(text: &str) -> Option<String> {
    text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | '/'))
        .map(|word| word.trim_start_matches('v'))
        .find(|word| {
            let digits = word.bytes().take_while(u8::is_ascii_digit).count();
            digits > 0 && word.as_bytes().get(digits) == Some(&b'.')
        })
        .map(|word| {
            word.trim_end_matches('.')
                .chars()
                .take(40)
                .filter(|c| c.is_ascii_graphic())
                .collect()
        })
}

// Paths into an event, and the rules that use them.
//
// A path consists of keys joined by `.`; `key[k=v]` selects the items of a list whose `k` is `v`, and the key `*`
// selects every member. A key after a list without a filter applies to each item. Several paths, separated by blanks,
// produce one text.

/// The maximum number of values that one path may find.
const MAX_FOUND: usize = 10_000;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step<'a> {
    pub(super) key: &'a str,
    pub(super) filter: Option<(&'a str, &'a str)>,
}

/// Splits a path into its steps; `None` if it is invalid.
pub(super) fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let mut steps = Vec::new();
    let mut rest = path;
    loop {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let key = &rest[..end];
        rest = &rest[end..];
        let mut filter = None;
        if let Some(inside) = rest.strip_prefix('[') {
            let (condition, after) = inside.split_once(']')?;
            filter = Some(condition.split_once('=')?);
            rest = after;
        }
        if key.is_empty() {
            return None;
        }
        steps.push(Step { key, filter });
        if rest.is_empty() {
            return Some(steps);
        }
        rest = rest.strip_prefix('.')?;
    }
}

/// All values that a path finds, in order.
pub(super) fn find_values<'a>(event: &'a Value, path: &str) -> Vec<&'a Value> {
    let Some(steps) = steps(path) else {
        return Vec::new();
    };
    let mut found = vec![event];
    for step in steps {
        let mut next = Vec::new();
        for value in found {
            enter(value, &step, &mut next);
        }
        next.truncate(MAX_FOUND);
        found = next;
    }
    found
}

fn enter<'a>(value: &'a Value, step: &Step, next: &mut Vec<&'a Value>) {
    if let Value::Array(items) = value {
        for item in items {
            if let Some(inner) = item.get(step.key) {
                keep(inner, step, next);
            }
        }
    } else if let (Value::Object(members), "*") = (value, step.key) {
        next.extend(members.values());
    } else if let Some(inner) = value.get(step.key) {
        keep(inner, step, next);
    }
}

fn keep<'a>(value: &'a Value, step: &Step, next: &mut Vec<&'a Value>) {
    match (step.filter, value) {
        (None, _) => next.push(value),
        (Some((key, wanted)), Value::Array(items)) => {
            next.extend(
                items
                    .iter()
                    .filter(|item| item.get(key).and_then(Value::as_str) == Some(wanted)),
            );
        }
        (Some(_), _) => {}
    }
}

/// The values that the paths find, as text: those of one path are joined by newlines.
pub(super) fn find_text(event: &Value, paths: &str) -> Option<String> {
    let of_one = |path| {
        let found = find_values(event, path).into_iter();
        let texts: Vec<String> = found.filter_map(as_text).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    };
    let found: Vec<String> = paths.split(' ').filter_map(of_one).collect();
    (!found.is_empty()).then(|| found.join(" "))
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// Whether a rule applies to this event.
pub(super) fn applies(rule: &Rule, event: &Value) -> bool {
    rule.when
        .iter()
        .all(|(path, wanted)| holds(&find_values(event, path), wanted))
}

fn holds(found: &[&Value], wanted: &Wanted) -> bool {
    let is = |text: &str| {
        found
            .iter()
            .any(|value| as_text(value).as_deref() == Some(text))
    };
    match wanted {
        Wanted::Flag(flag) => found.iter().any(|value| value.as_bool() == Some(*flag)),
        Wanted::Text(text) if text == "*" => found.iter().any(|value| !value.is_null()),
        Wanted::Text(text) => match text.strip_prefix('!') {
            Some(other) => !found.is_empty() && !is(other),
            None => is(text),
        },
        Wanted::Any(texts) => texts.iter().any(|text| is(text)),
    }
}

/// Checks a rule; the error says what is wrong with it.
pub(super) fn check_rule(rule: &Rule) -> Result<(), String> {
    if rule.when.is_empty() {
        return Err("a rule without `when` would speak of every event".to_owned());
    }
    let set = serde_json::to_value(&rule.set).unwrap_or_default();
    let set = set.as_object().into_iter().flat_map(|set| set.values());
    let paths = rule.when.keys().map(String::as_str);
    let set = set.filter_map(Value::as_str).flat_map(|set| set.split(' '));
    for path in paths.chain(set) {
        if steps(path).is_none() {
            return Err(format!("`{}` is not a path", path.escape_debug()));
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use cook_protocol::model::Continuation;
    use serde_json::json;

    /// A program that records each call, and fails this many times before it answers.
    #[cfg(unix)]
    fn program(dir: &Path, fails: u32) -> Preset {
        use std::os::unix::fs::PermissionsExt;
        let path = dir.join("agent");
        let text = format!(
            "#!/bin/sh\ncd {}\necho >>asked\n[ $(wc -l <asked) -gt {fails} ] || {{ echo out of quota >&2; exit 52; }}\necho the agent, 1.2.3\n",
            dir.display()
        );
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let table = format!(
            "[agents.one]\nbin = {path:?}\nstart = []\nevents = \"text\"\nidentify = {{ args = [\"--help\"], match = \"The agent\" }}\n"
        );
        let config =
            cook_protocol::model::Config::parse(&table).unwrap_or_else(|why| panic!("{why}"));
        Preset::of("one", &config).unwrap_or_else(|why| panic!("{why}"))
    }

    #[test]
    fn a_program_that_an_old_node_cannot_run_says_which_one_it_needs() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("package.json");
        std::fs::write(&file, "{\"engines\": {\"node\": \">=22.19.0\"}}").unwrap();
        let program = dir.path().join("cli.js");
        std::fs::write(&program, "").unwrap();
        let named = name_node("SyntaxError Node.js v20.20.2".to_owned(), &program);
        assert!(named.starts_with("it needs node >=22.19.0: Syn"), "{named}");
        let other = name_node("no key".to_owned(), &program);
        assert_eq!(other, "no key");
    }

    #[cfg(unix)]
    #[test]
    fn a_program_is_asked_once_for_all_its_roles_and_again_when_it_fails() {
        for (fails, questions, is_it) in [(0, 1, true), (1, 2, true), (9, 2, false)] {
            let dir = tempfile::tempdir().unwrap();
            let preset = program(dir.path(), fails);
            let cache = dir.path().join("cache");
            let found = find(&[&preset; 5], dir.path(), &cache).unwrap();
            let asked = std::fs::read_to_string(dir.path().join("asked")).unwrap();
            assert_eq!(asked.lines().count(), questions, "{fails}");
            assert_eq!(found.len(), 5);
            for found in &found {
                assert_eq!(found.is_it, is_it, "{fails}");
                let said = "`agent --help` ended with 52: out of quota";
                assert_eq!(found.problem.as_deref() == Some(said), !is_it, "{found:?}");
            }
            // Answers are cached; failures are not.
            find(&[&preset], dir.path(), &cache).unwrap();
            let asked = std::fs::read_to_string(dir.path().join("asked")).unwrap();
            let again = asked.lines().count() - questions;
            assert_eq!(again, if is_it { 0 } else { 2 });
        }
    }

    /// Like a profile of a package manager whose files all have the same size and mtime.
    #[cfg(unix)]
    #[test]
    fn a_program_that_was_replaced_by_one_of_its_size_and_time_is_asked_anew() {
        let dir = tempfile::tempdir().unwrap();
        let preset = program(dir.path(), 0);
        let file = dir.path().join("agent");
        let cache = dir.path().join("cache");
        let find = || find(&[&preset], dir.path(), &cache).unwrap().remove(0);
        assert!(find().is_it);
        let text = std::fs::read_to_string(&file).unwrap();
        let time = file.metadata().unwrap().modified().unwrap();
        let next = dir.path().join("next");
        std::fs::copy(&file, &next).unwrap();
        std::fs::write(&next, text.replace("the agent", "the other")).unwrap();
        let opened = std::fs::File::options().write(true).open(&next).unwrap();
        opened.set_modified(time).unwrap();
        drop(opened);
        std::fs::rename(&next, &file).unwrap();
        assert_eq!(file.metadata().unwrap().modified().unwrap(), time);
        assert!(!find().is_it);
    }

    #[cfg(unix)]
    #[test]
    fn a_program_whose_help_names_no_fork_is_not_asked_for_one() {
        use std::os::unix::fs::PermissionsExt;
        for (identify, help, forks) in [
            ("--help", "--resume ID, --branch, -o FORMAT", true),
            ("--help", "--resume ID, --branches, -o FORMAT", false),
            // This output only identifies the program.
            ("--version", "", true),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("agent");
            std::fs::write(&path, format!("#!/bin/sh\necho 'the agent {help}'\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            let table = format!(
                "[agents.one]\nbin = {path:?}\nstart = []\nevents = \"text\"\nfork = [\"-o\", \"json\", \"--branch\", \"{{session}}\", \"-\"]\ntranscript = {{ variable = \"X\", home = \"x\", under = \"x\" }}\nidentify = {{ args = [{identify:?}], match = \"The agent\" }}\n"
            );
            let config = cook_protocol::model::Config::parse(&table).unwrap();
            let mut preset = Preset::of("one", &config).unwrap();
            let found = find(&[&preset], dir.path(), &dir.path().join("cache")).unwrap();
            assert!(found[0].is_it);
            found[0].restrict(&mut preset);
            let goes_on = preset.continuation();
            assert_eq!(goes_on == Continuation::Native, forks, "{identify} {help}");
        }
    }

    #[test]
    fn versions_as_programs_say_them() {
        for (text, version) in [
            ("2.1.330 (Claude Code)", Some("2.1.330")),
            ("codex-cli 0.169.0", Some("0.169.0")),
            ("GitHub Copilot CLI v1.0.102.\n", Some("1.0.102")),
            ("usage: tool [options]", None),
        ] {
            assert_eq!(find_version(text).as_deref(), version);
        }
    }

    #[test]
    fn a_misspelt_name_in_braces_is_refused_and_other_braces_are_text() {
        let of = |start: &str| {
            let text = format!("[agents.a]\nbin = \"a\"\nevents = \"text\"\nstart = [{start}]\n");
            Preset::of("a", &toml::from_str(&text).unwrap())
        };
        let error = of("'--session', '{sesion}'").unwrap_err().to_string();
        assert!(error.contains("`{sesion}` stands for nothing"), "{error}");
        for text in ["'{session}'", "'{\"a\": 1}'", "'{}'", "'{model}-x'"] {
            assert!(of(text).is_ok(), "{text}");
        }
        assert!(of("'-m={model}'").unwrap().takes_model());
        assert!(!of("'{model}'").unwrap().takes_model());
    }

    #[test]
    fn every_preset_built_in_is_sound() {
        for name in KnownAgent::names() {
            let preset = Preset::of(name, &Config::default()).unwrap_or_else(|e| panic!("{e}"));
            assert!(!preset.is_users() && preset.trust_words().is_none());
            let is_read = preset.events() == EventFormat::Json || preset.kind() == AgentKind::Acp;
            assert_eq!(preset.is_verified(), is_read, "{name}");
        }
    }

    #[test]
    fn three_lines_make_an_agent() {
        let text = "[agents.mine]\nbin = \"my-agent\"\nstart = [\"--quiet\"]\nevents = \"text\"\n";
        let config = Config::parse(text).unwrap_or_else(|e| panic!("{e}"));
        let preset = Preset::of("mine", &config).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(
            (preset.bin(), preset.start()),
            ("my-agent", &["--quiet".to_owned()][..])
        );
        assert_eq!(preset.continuation(), Continuation::Replay);
        assert!(Preset::are_trust_words(&preset.trust_words().unwrap()));
        assert!(!Preset::are_trust_words("agent --all build"));
    }

    #[test]
    fn a_table_changes_one_thing_of_a_preset() {
        let text = "[agents.claude]\nbin = \"/opt/claude\"\n[agents.fast]\nextends = \"claude\"\n";
        let config = Config::parse(text).unwrap_or_else(|e| panic!("{e}"));
        let claude = Preset::of("claude", &config).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(claude.bin(), "/opt/claude");
        assert!(!claude.rules().is_empty() && claude.is_users());
        let fast = Preset::of("fast", &config).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(fast.bin(), "claude");
        assert_ne!(fast.trust_words(), claude.trust_words());
    }

    #[test]
    fn a_program_is_spoken_with_over_the_protocol() {
        let of = |text: &str| {
            let config = Config::parse(text).unwrap_or_else(|e| panic!("{e}"));
            Preset::of("a", &config)
        };
        let own = of("[agents.a]\nkind = \"acp\"\nbin = \"b\"\nstart = [\"--acp\"]");
        let own = own.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(own.kind(), AgentKind::Acp);
        assert_eq!(own.continuation(), Continuation::Replay);
        assert_eq!(own.cost_counting(), Counting::Thread);
        // The arguments for the other protocol are not inherited.
        let other = "[agents.a]\nextends = \"claude\"\nkind = \"acp\"\n";
        assert!(of(other).is_err_and(|why| why.to_string().contains("`start`")));
        let other = of(&format!("{other}start = [\"--acp\"]"));
        let other = other.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((other.bin(), other.rules().len()), ("claude", 0));
        assert!(!other.can_only_read() && other.table().identify.is_some());
        assert_eq!(other.continuation(), Continuation::Native);
        for key in [
            "events = \"json\"",
            "fork = []",
            "schema = []",
            "session = \"uuid\"",
        ] {
            let text = format!("[agents.a]\nkind = \"acp\"\nbin = \"b\"\nstart = []\n{key}");
            let word = key.split(' ').next().unwrap_or_default();
            assert!(
                of(&text).is_err_and(|why| why.to_string().contains(word)),
                "{key}"
            );
        }
    }

    #[test]
    fn what_makes_no_agent_is_named() {
        let wrong = |text: &str, name: &str| {
            let config = Config::parse(text).unwrap_or_else(|e| panic!("{e}"));
            Preset::of(name, &config)
                .err()
                .map(|e| e.to_string())
                .unwrap_or_default()
        };
        assert!(wrong("", "cluade").contains("did you mean `claude`"));
        assert!(wrong("[agents.a]\nstart = []", "a").contains("`bin`"));
        assert!(wrong("[agents.a]\nbin = \"b\"", "a").contains("`start`"));
        assert!(
            wrong(
                "[agents.a]\nbin = \"b\"\nstart = []\nevents = \"json\"",
                "a"
            )
            .contains("rule")
        );
        assert!(wrong("[agents.a]\nextends = \"zz\"", "a").contains("`zz`"));
        let unknown = Config::parse("[agents.a]\nbn = \"b\"").err();
        assert!(unknown.is_some_and(|why| why.contains("`bin`")));
        assert!(Config::parse("[agents.\"../x\"]\nbin = \"b\"").is_err());
        for rule in [
            "when = {}\nset = { done = true }",
            "when = { \"a[\" = \"x\" }\nset = { done = true }",
            "when = { a = \"x\" }\nset = { text = \"\" }",
        ] {
            let text = format!(
                "[agents.a]\nbin = \"b\"\nstart = []\nevents = \"json\"\n[[agents.a.rule]]\n{rule}"
            );
            assert!(!wrong(&text, "a").is_empty(), "{rule}");
        }
    }

    #[test]
    fn paths_go_into_objects_and_lists() {
        let event = json!({"m": {"c": [
            {"type": "text", "text": "one"}, {"type": "tool", "text": "no"},
            {"type": "text", "text": "two"}]}, "n": 3, "t": true, "z": null});
        assert_eq!(
            find_text(&event, "m.c[type=text].text").as_deref(),
            Some("one\ntwo")
        );
        assert_eq!(
            find_text(&event, "m.c.text").as_deref(),
            Some("one\nno\ntwo")
        );
        assert_eq!(find_text(&event, "n").as_deref(), Some("3"));
        assert_eq!(find_text(&event, "m.c"), None);
        assert_eq!(find_text(&event, "n none t").as_deref(), Some("3 true"));
        assert_eq!(
            find_text(&json!({"m": {"x": {"n": 1}}}), "m.*.n").as_deref(),
            Some("1")
        );
        for path in ["", ".", "a.", "a[b]", "a[b=c", "a[b=c]d"] {
            assert!(
                steps(path).is_none() && find_values(&event, path).is_empty(),
                "{path}"
            );
        }
    }

    #[test]
    fn conditions() {
        let event = json!({"type": "result", "is_error": true, "sub": "bad", "n": 3, "z": null});
        let yes = |path: &str, wanted: Wanted| holds(&find_values(&event, path), &wanted);
        let text = |text: &str| Wanted::Text(text.to_owned());
        assert!(yes("type", text("result")) && yes("n", text("3")));
        assert!(yes("is_error", Wanted::Flag(true)) && !yes("is_error", Wanted::Flag(false)));
        assert!(yes("sub", text("!good")) && !yes("sub", text("!bad")));
        assert!(!yes("none", text("!good")) && yes("sub", text("*")));
        assert!(!yes("z", text("*")) && !yes("none", text("*")));
        let any = Wanted::Any(vec!["x".to_owned(), "bad".to_owned()]);
        assert!(yes("sub", any));
    }
}
