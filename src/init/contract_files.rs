//! The contract files of `.agent/` (`protocol/completion.md#files`). Missing files are written and existing ones kept;
//! only cook's own verify scripts are regenerated, if they are unedited and out of date.

use super::detect::{Files, Proposed, detect};
use super::text_files::{Mode, Tree, too_large, unwritable};
use crate::prelude::*;
use cook_protocol::model::{
    CONTRACT_FILES, CachePath, Command, CommandIn, CommandLine, GateTable, Place, RepoPath,
    mission_anchor,
};
use cook_protocol::schema::{MAX_DOCUMENT_BYTES, read_document};

const README: &str = include_str!("../../templates/agent/README.md");
/// The settings, relative to the worktree.
pub(crate) const SETTINGS: &str = ".agent/cook.toml";
const CONFIG_HEAD: &str = include_str!("../../templates/agent/cook.toml");

const CLEAN_ROOM_HEAD: &str = "
# Gates that count run on a commit in a directory that holds nothing else: `cache` stays there from run to run,
# `setup` comes before the gates, again when one of `setup_inputs` changed.
[clean_room]
";

/// Size limit in bytes of a file that cook reads but does not rewrite.
const MAX_KEPT_BYTES: u64 = 4 * 1024 * 1024;

/// What was done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileOutcome {
    /// It was missing and was created.
    Created,
    /// It was cook's own and out of date, and was updated; in `.gitignore`, only the block.
    Updated,
    /// It was kept as it was.
    Kept,
    /// It is a verify script that a person wrote or edited, and was kept as it was.
    KeptHandMade,
}

/// One file of the contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractFile {
    /// Path relative to the worktree.
    pub path: &'static str,
    /// What was done with it.
    pub outcome: FileOutcome,
}

/// What `write_contract` did and found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Contract {
    /// The files, in the order in which they were written.
    pub files: Vec<ContractFile>,
    /// The present profile; `None` if the existing one cannot be read.
    pub profile: Option<Profile>,
    /// Problems of files that were kept.
    pub findings: Vec<Finding>,
    /// The proposed settings for the repository.
    pub proposed: Proposed,
    /// The present settings; `None` if they cannot be read.
    pub config: Option<Config>,
}

/// Writes the contract files, `cook.toml` and the `.gitignore` block. `mission` is written only if `mission.md` is
/// missing or blank; without a mission an empty `mission.md` is created, to be filled in later. `adapt` changes the
/// default profile, if there is no profile yet.
///
/// # Errors
/// A file that cannot be read or written. Files that were written before stay, and a second run continues from there.
pub fn write_contract(
    root: &Path,
    mission: Option<&str>,
    adapt: &dyn Fn(&mut Profile),
) -> Result<Contract> {
    let tree = Tree::new(root);
    tree.make_agent_directories()?;
    let mut contract = Contract {
        proposed: detect(root)?,
        ..Contract::default()
    };
    contract.gitignore(tree)?;
    contract.keep_or_create(tree, ".agent/README.md", README)?;
    contract.mission(tree, mission)?;
    contract.profile(tree, root, adapt)?;
    let config = config_text(&contract.proposed);
    contract.keep_or_create(tree, SETTINGS, &config)?;
    let script = control_plane_script();
    contract.script(tree, ".agent/verify_completion_control_plane.sh", &script)?;
    contract.config(tree)?;
    let made = contract
        .config
        .as_ref()
        .map(|config| stop_script(&config.gate_specs()));
    if let Some(made) = made {
        contract.script(tree, ".agent/verify_completion_stop.sh", &made)?;
    }
    Ok(contract)
}

/// Replaces `mission.md` by a mission that the user has stated.
///
/// # Errors
/// A file that cannot be written.
pub fn write_mission(root: &Path, mission: &str) -> Result<()> {
    let tree = Tree::new(root);
    tree.make_agent_directories()?;
    write_mission_text(tree, mission)
}

/// Replaces `profile.json` by a profile that the user has chosen.
///
/// # Errors
/// A file that cannot be written.
pub fn write_profile(root: &Path, profile: &Profile) -> Result<()> {
    write_profile_text(Tree::new(root), profile)
}

fn write_profile_text(tree: Tree<'_>, profile: &Profile) -> Result<()> {
    let path = ".agent/profile.json";
    let mut text =
        serde_json::to_string_pretty(profile).map_err(|error| unwritable(path, &error.into()))?;
    text.push('\n');
    tree.write(path, text.as_bytes(), Mode::Data)
}

fn write_mission_text(tree: Tree<'_>, mission: &str) -> Result<()> {
    let path = ".agent/mission.md";
    let mut text = mission.trim().to_owned();
    if !text.is_empty() {
        text.push('\n');
    }
    if text.len() as u64 > MAX_MISSION_BYTES {
        return Err(too_large(path, MAX_MISSION_BYTES));
    }
    tree.write(path, text.as_bytes(), Mode::Data)
}

impl Contract {
    /// What was done with a file; `None` if it was not processed.
    pub fn outcome(&self, path: &str) -> Option<FileOutcome> {
        let file = self.files.iter().find(|file| file.path == path);
        file.map(|file| file.outcome)
    }

    fn note(&mut self, path: &'static str, outcome: FileOutcome) {
        self.files.push(ContractFile { path, outcome });
    }

    fn gitignore(&mut self, tree: Tree<'_>) -> Result<()> {
        let path = ".gitignore";
        let existing = tree.bytes(path, MAX_KEPT_BYTES)?;
        let wanted = with_block(existing.as_deref().unwrap_or_default());
        let outcome = match &existing {
            Some(existing) if *existing == wanted => FileOutcome::Kept,
            Some(_) => FileOutcome::Updated,
            None => FileOutcome::Created,
        };
        if outcome != FileOutcome::Kept {
            tree.write(path, &wanted, Mode::Data)?;
        }
        self.note(path, outcome);
        Ok(())
    }

    fn keep_or_create(&mut self, tree: Tree<'_>, path: &'static str, text: &str) -> Result<()> {
        let outcome = if tree.has_file(path)? {
            FileOutcome::Kept
        } else {
            tree.write(path, text.as_bytes(), Mode::Data)?;
            FileOutcome::Created
        };
        self.note(path, outcome);
        Ok(())
    }

    /// Reads `cook.toml`.
    fn config(&mut self, tree: Tree<'_>) -> Result<()> {
        let bytes = tree.bytes(SETTINGS, MAX_KEPT_BYTES)?.unwrap_or_default();
        match Config::parse(&String::from_utf8_lossy(&bytes)) {
            Ok(config) => self.config = Some(config),
            Err(why) => {
                let finding = Finding::new(Code::ConfigInvalid, why).at(SETTINGS);
                self.findings.push(finding);
            }
        }
        Ok(())
    }

    fn mission(&mut self, tree: Tree<'_>, mission: Option<&str>) -> Result<()> {
        let path = ".agent/mission.md";
        let existing = tree.bytes(path, MAX_MISSION_BYTES)?;
        let blank = existing
            .as_ref()
            .is_none_or(|bytes| bytes.iter().all(u8::is_ascii_whitespace));
        let outcome = match (&existing, mission) {
            (None, mission) => {
                write_mission_text(tree, mission.unwrap_or_default())?;
                FileOutcome::Created
            }
            (Some(_), Some(mission)) if blank && !mission.trim().is_empty() => {
                write_mission_text(tree, mission)?;
                FileOutcome::Updated
            }
            _ => FileOutcome::Kept,
        };
        self.note(path, outcome);
        Ok(())
    }

    fn profile(&mut self, tree: Tree<'_>, root: &Path, adapt: &dyn Fn(&mut Profile)) -> Result<()> {
        let path = ".agent/profile.json";
        if let Some(bytes) = tree.bytes(path, MAX_DOCUMENT_BYTES as u64)? {
            match read_document::<Profile>(&bytes, MAX_DOCUMENT_BYTES) {
                Ok(profile) => self.profile = Some(profile),
                Err(findings) => self.findings.extend(findings),
            }
            self.note(path, FileOutcome::Kept);
            return Ok(());
        }
        let mut profile = Profile::new(&project_name(root)?);
        adapt(&mut profile);
        write_profile_text(tree, &profile)?;
        self.profile = Some(profile);
        self.note(path, FileOutcome::Created);
        Ok(())
    }

    fn script(&mut self, tree: Tree<'_>, path: &'static str, made: &str) -> Result<()> {
        let Some(existing) = tree.bytes(path, MAX_KEPT_BYTES)? else {
            tree.write(path, made.as_bytes(), Mode::Script)?;
            self.note(path, FileOutcome::Created);
            return Ok(());
        };
        let existing = String::from_utf8_lossy(&existing);
        let outcome = if !is_generated(&existing) {
            FileOutcome::KeptHandMade
        } else if may_replace(&existing, made) {
            tree.write(path, made.as_bytes(), Mode::Script)?;
            FileOutcome::Updated
        } else {
            FileOutcome::Kept
        };
        let outcome = match (outcome, tree.make_runnable(path)?) {
            (FileOutcome::Kept, true) => FileOutcome::Updated,
            (outcome, _) => outcome,
        };
        self.note(path, outcome);
        Ok(())
    }
}

/// The text of `cook.toml`, with the repository's checks as gates and the setup of a clone.
fn config_text(proposed: &Proposed) -> String {
    let mut text = CONFIG_HEAD.to_owned();
    if proposed.checks.is_empty() {
        text.push_str("#\n# Nothing was found here to propose. For example:\n#\n");
        text.push_str("# [gates]\n# test = { run = \"make test\", timeout = \"20m\" }\n");
        return text;
    }
    text.push_str("[gates]\n");
    for check in &proposed.checks {
        let more = [
            (!check.required).then_some(", required = false"),
            check.network.then_some(", network = true"),
        ];
        let more: String = more.into_iter().flatten().collect();
        text.push_str(&format!(
            "{} = {{ run = \"{}\", timeout = \"20m\"{more} }} # {}\n",
            proposed.name_check(check),
            check.run,
            check.source
        ));
    }
    let settings = setup_settings(proposed);
    if !settings.is_empty() {
        text.push_str(CLEAN_ROOM_HEAD);
        text.push_str(&format!("{}\n", settings.join("\n")));
    }
    text
}

/// The settings that `cook init` would write into that worktree. Writes nothing.
///
/// # Errors
/// A file that cannot be read.
pub(crate) fn propose_settings(root: &Path) -> Result<Config> {
    Ok(Config::parse(&config_text(&detect(root)?)).unwrap_or_default())
}

/// The settings for the projects that were found in several folders.
pub(crate) fn propose_for(found: &BTreeMap<String, Proposed>) -> Config {
    let mut config = Config::default();
    let mut is_always_due = false;
    for (dir, proposed) in found {
        let place = RepoPath::try_from(dir.clone()).ok();
        let own = Config::parse(&config_text(proposed));
        // A folder whose name the settings cannot hold is skipped.
        let (Ok(own), true) = (own, place.is_some() || dir.is_empty()) else {
            continue;
        };
        for (name, gate) in own.gates {
            let name = match dir.as_str() {
                "" => name,
                dir => format!("{dir}{OF_FOLDER}{name}"),
            };
            let dir = place.clone();
            config.gates.insert(name, GateTable { dir, ..gate });
        }
        let room = &mut config.clean_room;
        for path in own.clean_room.cache {
            let inside = place.as_ref().filter(|_| path.contains('/'));
            let inside = inside.map(|dir| CachePath::try_from(format!("{dir}/{path}")));
            room.cache.extend(inside.unwrap_or(Ok(path)));
        }
        for (dir, run) in &proposed.setup {
            let command = CommandLine::try_from(run.clone()).map(|run| {
                match RepoPath::try_from(dir.clone()) {
                    Ok(dir) => Command::In(CommandIn { run, dir }),
                    Err(_) => Command::AtRoot(run),
                }
            });
            // Members of a workspace share its setup.
            let is_new = |command: &Command| !room.setup.contains(command);
            let command = command.ok().filter(is_new);
            room.setup.0.extend(command);
        }
        let inputs = proposed.setup_inputs.iter().cloned();
        let inputs = inputs.filter_map(|path| RepoPath::try_from(path).ok());
        room.setup_inputs.extend(inputs);
        is_always_due |= proposed.setup_always;
    }
    if is_always_due {
        config.clean_room.setup_inputs.clear();
    }
    config
}

/// Separates a folder from the name of a gate that was found there.
pub(crate) const OF_FOLDER: char = ':';

/// The setup of a clone, as lines of `[clean_room]`.
pub(crate) fn setup_settings(proposed: &Proposed) -> Vec<String> {
    let setup: Vec<&String> = proposed.setup.iter().map(|(_, run)| run).collect();
    let all = [
        ("cache", list(&proposed.cache)),
        ("setup", list(&setup)),
        ("setup_inputs", list(&proposed.setup_inputs)),
    ];
    let lines = all
        .into_iter()
        .filter_map(|(key, value)| Some(format!("{key} = {}", value?)));
    lines.collect()
}

/// A TOML list; `None` if it is empty.
fn list<T: AsRef<str>>(words: &[T]) -> Option<String> {
    let quoted: Vec<String> = words
        .iter()
        .map(|word| format!("\"{}\"", word.as_ref()))
        .collect();
    (!quoted.is_empty()).then(|| format!("[{}]", quoted.join(", ")))
}

// The two verify scripts. Each has a marker line with two digests: one of the gates that it was made from, and one of
// its own text. The first shows that a script is out of date with `cook.toml`, the second that a person has edited it.
// An edited or handwritten script is never replaced.

const CONTROL_PLANE: &str =
    include_str!("../../templates/agent/verify_completion_control_plane.sh");
const STOP: &str = include_str!("../../templates/agent/verify_completion_stop.sh");
const MARKER: &str = "# generated by cook:";

/// Increased when scripts must be regenerated although their gates have not changed.
const FORMAT: u32 = 2;

/// The text of `verify_completion_control_plane.sh`.
pub fn control_plane_script() -> String {
    seal(CONTROL_PLANE, &compute_digest(&[]))
}

/// The text of `verify_completion_stop.sh` for these gates.
pub fn stop_script(gates: &[GateSpec]) -> String {
    let mut lines = String::new();
    for gate in list_required(gates) {
        // A gate consists of words and is not a script, so its words are quoted for bash.
        let words = shell_words::split(&gate.run).unwrap_or_default();
        let run = match gate.dir.as_str() {
            "" => shell_words::join(words),
            dir => format!(
                "(cd -- {} && {})",
                shell_words::quote(dir),
                shell_words::join(words)
            ),
        };
        let heading = shell_words::quote(&gate.name).into_owned();
        lines.push_str(&format!("\nheading {heading}\n{run}\n"));
    }
    let body = STOP.replace("@CHECKS@\n", &lines);
    seal(&body, &compute_digest(gates))
}

/// Whether the script is cook's own, unedited, and made from other gates than these.
pub fn stop_verifier_is_stale(gates: &[GateSpec], script: &str) -> bool {
    read_seal(script).is_some_and(|seal| seal != compute_digest(gates))
}

/// Whether an existing script may be replaced by the one that would be generated now: it is cook's own, unedited, and
/// made from other gates.
pub(super) fn may_replace(existing: &str, made: &str) -> bool {
    match (read_seal(existing), read_seal(made)) {
        (Some(existing), Some(made)) => existing != made,
        _ => false,
    }
}

/// Whether cook generated the script and nobody has edited it.
pub(super) fn is_generated(script: &str) -> bool {
    read_seal(script).is_some()
}

/// The gates that a stop requires. A gate that runs in the worktree proves nothing.
fn list_required(gates: &[GateSpec]) -> impl Iterator<Item = &GateSpec> {
    gates
        .iter()
        .filter(|gate| gate.required && gate.place == Place::CleanRoom)
}

/// The digest of the gates that a script was made from; `None` if it is not cook's own or was edited.
fn read_seal(script: &str) -> Option<String> {
    let script = script.replace("\r\n", "\n");
    let line = script.lines().find(|line| line.starts_with(MARKER))?;
    let mut words = line[MARKER.len()..].split_whitespace();
    let gates = words.next()?.strip_prefix("gates=")?;
    let text = words.next()?.strip_prefix("text=")?;
    let body = script.replacen(line, "@MARKER@", 1);
    (text == short_digest(&body)).then(|| gates.to_owned())
}

fn seal(body: &str, gates: &str) -> String {
    let marker = format!("{MARKER} gates={gates} text={}", short_digest(body));
    body.replacen("@MARKER@", &marker, 1)
}

fn compute_digest(gates: &[GateSpec]) -> String {
    let mut text = format!("{FORMAT}\n");
    for gate in list_required(gates) {
        text.push_str(&format!("{}\t{}", gate.name, gate.run));
        text.extend((!gate.dir.is_empty()).then(|| format!("\t{}", gate.dir)));
        text.push('\n');
    }
    short_digest(&text)
}

/// The first 16 hexadecimal digits of the SHA-256.
fn short_digest(text: &str) -> String {
    sha256(text)[..16].to_owned()
}

// The marked block in `.gitignore`: it excludes the execution state from git, but not the contract. The user's own
// lines and all line endings are preserved byte for byte.

/// First line of the block.
const BEGIN: &str = "# >>> cook: the state of the work stays out of git, its contract stays in";
/// The start of the first line in every version.
const BEGIN_MARK: &[u8] = b"# >>> cook";
/// Last line of the block.
const END: &str = "# <<< cook";

/// Files under `.agent/` that git tracks (`protocol/completion.md#files`).
pub const TRACKED: [&str; 6] = [
    CONTRACT_FILES[0],
    CONTRACT_FILES[1],
    CONTRACT_FILES[2],
    CONTRACT_FILES[3],
    CONTRACT_FILES[4],
    ".agent/cook.toml",
];

/// Files in `.agent/` that a user may add and that belong to the repository too: the list of permitted signers.
const MAY_BE_TRACKED: [&str; 1] = [".agent/allowed_signers"];

/// The patterns. The directory itself is included again first, because git ignores `!` lines below a directory that an
/// earlier pattern excludes.
fn patterns() -> Vec<String> {
    let mut lines = vec!["!.agent/".to_owned(), ".agent/*".to_owned()];
    let tracked = TRACKED.iter().chain(&MAY_BE_TRACKED);
    lines.extend(tracked.map(|path| format!("!{path}")));
    lines.push("/CONTINUE.md".to_owned());
    lines
}

/// `.gitignore` with the block: an existing block is updated in place, otherwise the block is appended. Equal to
/// `existing` if nothing must change.
pub fn with_block(existing: &[u8]) -> Vec<u8> {
    let end_of_line: &[u8] = if existing.windows(2).any(|pair| pair == b"\r\n") {
        b"\r\n"
    } else {
        b"\n"
    };
    let patterns = patterns();
    let mut out = Vec::with_capacity(existing.len() + 512);
    let mut placed = false;
    let lines: Vec<&[u8]> = existing.split_inclusive(|byte| *byte == b'\n').collect();
    let mut at = 0;
    while at < lines.len() {
        if !lines[at].starts_with(BEGIN_MARK) {
            out.extend_from_slice(lines[at]);
            at += 1;
            continue;
        }
        let (length, kept) = block(&lines[at..], &patterns);
        at += length;
        if !placed {
            push_block(&mut out, &patterns, end_of_line);
            placed = true;
        }
        kept.iter().for_each(|line| out.extend_from_slice(line));
    }
    if !placed {
        if !out.is_empty() && !out.ends_with(b"\n") {
            out.extend_from_slice(end_of_line);
        }
        push_block(&mut out, &patterns, end_of_line);
    }
    out
}

fn push_block(out: &mut Vec<u8>, patterns: &[String], end_of_line: &[u8]) {
    for line in [BEGIN]
        .into_iter()
        .chain(patterns.iter().map(String::as_str))
        .chain([END])
    {
        out.extend_from_slice(line.as_bytes());
        out.extend_from_slice(end_of_line);
    }
}

/// The number of lines of the block that begins here, and its lines that cook did not write; those are kept, after the
/// block. A block without its last line ends before the first line that is not cook's.
fn block<'a>(lines: &[&'a [u8]], patterns: &[String]) -> (usize, Vec<&'a [u8]>) {
    let ours = |line: &[u8]| {
        let line = line.trim_ascii();
        line.is_empty() || patterns.iter().any(|pattern| pattern.as_bytes() == line)
    };
    let body = &lines[1..];
    let next = body
        .iter()
        .position(|line| line.starts_with(BEGIN_MARK))
        .unwrap_or(body.len());
    let is_end = |line: &&[u8]| line.trim_ascii() == END.as_bytes();
    match body[..next].iter().position(is_end) {
        Some(end) => {
            let kept = body[..end].iter().copied().filter(|line| !ours(line));
            (end + 2, kept.collect())
        }
        None => (
            1 + body.iter().take_while(|line| ours(line)).count(),
            Vec::new(),
        ),
    }
}

// The mission and the name of the repository, as its files state them.

/// Maximum size of a mission in bytes.
pub const MAX_MISSION_BYTES: u64 = 256 * 1024;

/// Maximum number of characters of a project's name.
const MAX_NAME_CHARS: usize = 100;

/// A mission and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundMission {
    /// The whole text.
    pub text: String,
    /// The file, relative to the worktree.
    pub source: &'static str,
}

/// The mission that the repository itself states, in `.agent/mission.md` or `mission.md`. `None` if there is neither: a
/// README describes a project, but states no task.
///
/// # Errors
/// A mission file that is a link, too large, or not text.
pub fn find_mission(root: &Path) -> Result<Option<FoundMission>> {
    let tree = Tree::new(root);
    for source in [".agent/mission.md", "mission.md", "MISSION.md"] {
        if let Some(text) = tree.text(source, MAX_MISSION_BYTES)? {
            let text = clean(&text, Lines::Keep).trim().to_owned();
            if mission_anchor(&text).is_some() {
                return Ok(Some(FoundMission { text, source }));
            }
        }
    }
    Ok(None)
}

/// A document's first heading and the first paragraph after it. `None` without a paragraph, because a title alone does
/// not describe a task.
pub(super) fn opening(readme: &str) -> Option<String> {
    let text = clean(readme, Lines::Keep);
    let mut heading: Option<&str> = None;
    let mut paragraph: Vec<&str> = Vec::new();
    let mut fenced = false;
    for line in without_front_matter(&text).lines().take(2_000) {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
        }
        let underline = line.len() > 2 && line.chars().all(|c| matches!(c, '=' | '-' | '~'));
        if underline && heading.is_none() && paragraph.len() == 1 {
            heading = paragraph.pop();
        } else if fenced
            || line.starts_with("```")
            || line.starts_with("~~~")
            || is_decoration(line)
        {
            if !paragraph.is_empty() {
                break;
            }
        } else if is_heading(line) {
            if !paragraph.is_empty() {
                break;
            }
            heading = heading.or(Some(line));
        } else {
            paragraph.push(line);
        }
    }
    let paragraph = paragraph.join("\n");
    if paragraph.split_whitespace().count() < 3 {
        return None;
    }
    match heading.and_then(mission_anchor) {
        Some(heading) => Some(format!("# {heading}\n\n{paragraph}")),
        None => Some(paragraph),
    }
}

/// Removes a leading block between `---` lines.
fn without_front_matter(text: &str) -> &str {
    text.strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .map_or(text, |(_, body)| body)
}

fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    rest.len() < line.len() && rest.starts_with(' ')
}

/// Whether a line is not prose: blank lines, badges, images, HTML, rules, comments, and fields such as `**Status**:
/// draft`.
fn is_decoration(line: &str) -> bool {
    line.is_empty()
        || line.starts_with("**") && (line.contains("**:") || line.contains(":**"))
        || ["[![", "![", "<", "|", "---", "===", "***", ".. ", ":"]
            .iter()
            .any(|mark| line.starts_with(mark))
}

/// The project's name, from a manifest or else from the directory, on one line without control characters.
///
/// # Errors
/// A manifest that exists but cannot be read.
pub fn project_name(root: &Path) -> Result<String> {
    let files = Files::new(root);
    let manifests = [
        ("Cargo.toml", "/package/name"),
        ("package.json", "/name"),
        ("pyproject.toml", "/project/name"),
        ("pyproject.toml", "/tool/poetry/name"),
    ];
    let mut declared = Vec::new();
    for (file, pointer) in manifests {
        let text = files.text(file)?.unwrap_or_default();
        let manifest: Value = match file.ends_with(".json") {
            true => serde_json::from_str(&text).unwrap_or_default(),
            false => toml::from_str(&text).unwrap_or_default(),
        };
        let name = manifest.pointer(pointer).and_then(Value::as_str);
        declared.extend(name.map(str::to_owned));
    }
    declared.extend(go_name(&files)?);
    let directory = || {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        Some(root.file_name()?.to_string_lossy().into_owned())
    };
    let name = declared
        .iter()
        .map(|name| presentable(name))
        .find(|name| !name.is_empty())
        .or_else(|| directory().map(|name| presentable(&name)))
        .filter(|name| !name.is_empty());
    Ok(name.unwrap_or_else(|| "repository".to_owned()))
}

fn presentable(name: &str) -> String {
    clean(name, Lines::Fold)
        .chars()
        .take(MAX_NAME_CHARS)
        .collect()
}

/// The last part of the module path that is not a major version.
fn go_name(files: &Files<'_>) -> Result<Option<String>> {
    let manifest = files.text("go.mod")?.unwrap_or_default();
    let path = manifest
        .lines()
        .find_map(|line| line.trim().strip_prefix("module "));
    let is_version = |part: &str| {
        part.strip_prefix('v')
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
    };
    Ok(path.and_then(|path| {
        let path = path.split("//").next()?.trim().trim_matches('"');
        let name = path.rsplit('/').find(|part| !is_version(part))?;
        Some(name.to_owned())
    }))
}

#[cfg(test)]
mod tests {
    use super::opening;

    #[test]
    fn a_readme_opens_with_a_heading_and_a_paragraph() {
        let cases = [
            (
                "# Tool\n\nDoes one thing well.\nAnd more.\n\nLater.",
                Some("# Tool\n\nDoes one thing well.\nAnd more."),
            ),
            (
                "[![b](c)](d)\n# Tool #\n\n![x](y)\n<p>\n\nDoes one thing.\n## Use\nx",
                Some("# Tool\n\nDoes one thing."),
            ),
            (
                "Tool\n====\n\nDoes one thing.",
                Some("# Tool\n\nDoes one thing."),
            ),
            (
                "---\ntitle: x y z\n---\n# T\n\nDoes one thing.",
                Some("# T\n\nDoes one thing."),
            ),
            (
                "# T\n```\ncode is not prose here\n```\nDoes one thing.",
                Some("# T\n\nDoes one thing."),
            ),
            (
                "Just one plain paragraph.",
                Some("Just one plain paragraph."),
            ),
            ("# Title only", None),
            ("# T\n\nTwo words", None),
            ("", None),
            ("\u{1b}]0;x\u{7}", None),
        ];
        for (readme, wanted) in cases {
            assert_eq!(opening(readme).as_deref(), wanted, "{readme:?}");
        }
    }
}
