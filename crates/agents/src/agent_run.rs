//! One run of an agent program: command line, environment, listening, judging, keeping.

use super::acp::Conversation;
use super::failure::{AgentFailure, FailureClass};
use super::listen::{Progress, Reader, StreamResult};
use super::preset::{file_failure, invalid};
use super::{Bounds, Directories, Preset, Sandbox, redact, usage};
use cook_core::diagnostic::Failure;
use cook_core::digest::hex;
use cook_core::model::{Access, AgentKind, SessionNaming};
use cook_os::disk::{self, Links};
use cook_os::process::{
    Clocks, ControlFlow, DEPTH_VARIABLE, Input, Kept, Outcome, ProcessError, ROLE_VARIABLE,
    Supervised, supervise,
};
use cook_room::STARTS;
use cook_store::session::{Action, Native, SupplierErrorKind};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Files that are looked at when a program's own record is searched for.
const MAX_SEARCHED: usize = 50_000;
/// Directories below each other there.
const MAX_DEPTH: usize = 8;
/// Largest record that is digested; a larger one is not gone on from.
const MAX_TRANSCRIPT: u64 = 512 << 20;

/// Runs an agent to its end. Whatever the program does is in the report.
///
/// # Errors
/// When the files that cook itself needs for it cannot be written.
pub fn run(task: &Task, watch: &mut dyn FnMut(Progress) -> ControlFlow) -> Result<Report, Failure> {
    make_dir(task.state)?;
    make_new_dir(task.keep)?;
    let (argv, given) = command_line(task)?;
    let directories = task.sandbox.map(|_| Directories::of(task.preset));
    let env = environment(task);
    let prompt = prompt(task);
    let greeting = Conversation::greeting();
    let mut starts = 0;
    let heard = loop {
        let within = match task.sandbox.zip(directories.as_ref()) {
            Some((sandbox, directories)) => {
                sandbox.arguments(task.preset, task.action, task.dir, task.state, directories)?
            }
            None => Vec::new(),
        };
        let supervised = Supervised {
            argv: &argv,
            within: &within,
            dir: task.dir,
            env: &env,
            stdin: match task.preset.kind() {
                AgentKind::Command => Input::Whole(prompt.as_bytes()),
                AgentKind::Acp => Input::Open(&greeting),
            },
            invocation: task.invocation,
            clocks: task.clocks,
            polite: task.preset.polite(),
        };
        let heard = match task.preset.kind() {
            AgentKind::Command => {
                let mut reader = Reader::of(task.preset, task.bounds, &mut *watch);
                supervise(&supervised, &mut reader).map(|outcome| (reader.end(&outcome), outcome))
            }
            AgentKind::Acp => {
                let mut talk = Conversation::of(task, &prompt, &mut *watch);
                supervise(&supervised, &mut talk).map(|outcome| (talk.end(&outcome), outcome))
            }
        };
        starts += 1;
        match &heard {
            // A socket that was to be hidden went in between: nothing was started.
            Ok((_, outcome))
                if starts < STARTS && task.sandbox.is_some() && never_began(outcome) => {}
            _ => break heard,
        }
    };
    let planted = match &directories {
        Some(directories) => directories.put_back(task.keep)?,
        None => Vec::new(),
    };
    let (mut streamed, outcome) = match heard {
        Ok(heard) => heard,
        Err(error) => return Ok(never_started(task, &error)),
    };
    keep(task, &outcome)?;
    if let Some(failure) = report_planted(&planted, task.keep) {
        streamed.failure = Some(failure);
    }
    Ok(report(task, streamed, given, &outcome))
}

/// Settings that its later sessions would go by are no part of an answer.
fn report_planted(planted: &[PathBuf], keep: &Path) -> Option<AgentFailure> {
    let first = planted.first()?;
    let what = format!(
        "it wrote settings that start programs later: `{}`; what it wrote lies in `{}`",
        first.display(),
        keep.display()
    );
    let failure = SupplierErrorKind::Failed(what);
    Some(AgentFailure::new(FailureClass::Agent, failure))
}

/// The sandbox was not set up.
fn never_began(outcome: &Outcome) -> bool {
    cook_room::never_began(outcome.code, outcome.stdout.total, &outcome.stderr.bytes())
}

fn report(task: &Task, streamed: StreamResult, given: Option<String>, outcome: &Outcome) -> Report {
    let preset = task.preset;
    // A path that cook gave names a session better than an id out of its events.
    let session = match (&given, preset.session()) {
        (Some(path), SessionNaming::Path) => Some(path.clone()),
        _ => streamed.session.or(given),
    };
    let totals = task.fork.and_then(|native| native.totals.as_ref());
    let before = |key: &str| totals.and_then(|totals| totals.get(key));
    let usage = streamed
        .usage
        .count_taken(preset.usage_counting(), before("usage"));
    let cost = streamed
        .cost
        .count_taken(preset.cost_counting(), before("cost_usd"));
    // One that was ended told no sum.
    let usage = usage.or(streamed.spent);
    let free = streamed.cost.total().and_then(usage::micro_usd) == Some(0);
    let took = usage.as_ref().and_then(usage::tokens);
    // A program without a price for its model says 0.
    let cost = cost.filter(|_| !(free && took.is_some_and(|took| took.all() > 0)));
    let forkable = session.clone().filter(|_| streamed.can_fork);
    let native = forkable.map(|session| Native {
        transcript_sha256: transcript_digest(preset, &session),
        session,
        totals: Some(json!({"usage": streamed.usage.total(), "cost_usd": streamed.cost.total()})),
    });
    Report {
        text: streamed.text,
        data: streamed.data,
        session,
        native,
        usage,
        cost_micro_usd: cost.as_ref().and_then(usage::micro_usd),
        compaction: streamed.compaction,
        failure: streamed.failure,
        exit: outcome.code,
        signal: outcome.signal,
        last_event: streamed.last_event,
        duration: outcome.duration,
        swept: outcome.swept,
        kept: task.keep.to_owned(),
    }
}

fn never_started(task: &Task, error: &ProcessError) -> Report {
    let why = error.to_string();
    let (class, failure) = match error {
        ProcessError::NotFound(_) | ProcessError::NotExecutable(_) => {
            (FailureClass::Environment, SupplierErrorKind::Absent(why))
        }
        _ => (FailureClass::Config, SupplierErrorKind::Failed(why)),
    };
    Report {
        failure: Some(AgentFailure::new(class, failure)),
        swept: true,
        kept: task.keep.to_owned(),
        ..Report::default()
    }
}

/// The command line, and the session's name where cook gives it.
fn command_line(task: &Task) -> Result<(Vec<String>, Option<String>), Failure> {
    let preset = task.preset;
    if let Some(model) = task.model
        && !preset.takes_model()
    {
        let why = format!(
            "`{}` cannot be named to it: its `start` has no `{{model}}`",
            model.escape_debug()
        );
        return Err(invalid(preset.name(), why));
    }
    let fresh = uuid();
    let given = match (preset.session(), task.fork) {
        (SessionNaming::Uuid, None) => Some(fresh.clone()),
        (SessionNaming::Path, None) => Some(
            task.state
                .join(format!("{fresh}.jsonl"))
                .display()
                .to_string(),
        ),
        (SessionNaming::Uuid, Some(_)) => preset
            .table()
            .fork
            .iter()
            .flatten()
            .any(|item| item.contains("{new_session}"))
            .then(|| fresh.clone()),
        _ => None,
    };
    let schema_json = task.schema.map(Value::to_string);
    let schema_file = task.keep.join("schema.json");
    if let Some(schema) = &schema_json {
        write(&schema_file, schema.as_bytes())?;
    }
    let cwd = task.dir.display().to_string();
    let schema_file = schema_file.display().to_string();
    let session = match task.fork {
        Some(native) => native.session.clone(),
        None => given.clone().unwrap_or_default(),
    };
    let values = Values {
        cwd: &cwd,
        session: &session,
        new_session: &fresh,
        model: task.model,
        schema_file: schema_json.is_some().then_some(&schema_file),
        schema_json: schema_json.as_deref(),
    };
    let template = match (task.fork, &preset.table().fork) {
        (Some(_), Some(fork)) => fork.as_slice(),
        _ => preset.start(),
    };
    let argv = command(preset, template, task.access, task.fork.is_some(), &values);
    Ok((argv, given))
}

/// The command line of a program's own interface on a fork of a session; none where the
/// preset knows none.
pub fn open_command(preset: &Preset, dir: &Path, native: &Native) -> Option<Vec<String>> {
    let template = preset.table().open.as_ref()?;
    let cwd = dir.display().to_string();
    let fresh = uuid();
    let values = Values {
        cwd: &cwd,
        session: &native.session,
        new_session: &fresh,
        ..Values::default()
    };
    Some(command(preset, template, Access::Write, true, &values))
}

/// A program that takes no schema is told it.
fn prompt(task: &Task) -> String {
    match task.schema {
        Some(schema) if task.preset.table().schema.is_none() => format!(
            "{}\n\nAnswer with one JSON value and nothing else. It must fit this JSON Schema:\n{schema}\n",
            task.prompt
        ),
        _ => task.prompt.to_owned(),
    }
}

fn environment(task: &Task) -> Vec<(String, OsString)> {
    let depth = std::env::var(DEPTH_VARIABLE)
        .ok()
        .and_then(|depth| depth.parse::<u32>().ok())
        .unwrap_or(0);
    let fixed = [
        ("NO_COLOR", "1".to_owned()),
        ("TERM", "dumb".to_owned()),
        ("GIT_TERMINAL_PROMPT", "0".to_owned()),
        (DEPTH_VARIABLE, depth.saturating_add(1).to_string()),
    ];
    let table = task.preset.table().env.clone();
    let access = task.preset.access(task.access).env;
    let mut env: Vec<(String, OsString)> = fixed
        .into_iter()
        .map(|(name, value)| (name.to_owned(), OsString::from(value)))
        .collect();
    env.extend(
        table
            .into_iter()
            .chain(access)
            .map(|(name, value)| (name, OsString::from(value))),
    );
    env.extend(task.env.iter().cloned());
    if let Some(role) = task.role {
        env.push((ROLE_VARIABLE.to_owned(), OsString::from(role)));
    }
    env
}

/// What a program said goes to files, without secrets.
fn keep(task: &Task, outcome: &Outcome) -> Result<(), Failure> {
    // The program may have removed it.
    make_dir(task.keep)?;
    for (name, kept) in [("stdout", &outcome.stdout), ("stderr", &outcome.stderr)] {
        write(&task.keep.join(name), redact(&whole_lines(kept)).as_bytes())?;
    }
    Ok(())
}

/// Both ends of a stream. At the gap lines are left out whole: half a secret is one too.
fn whole_lines(kept: &Kept) -> String {
    if kept.count_left_out() == 0 {
        return String::from_utf8_lossy(&kept.bytes()).into_owned();
    }
    let head = match memchr::memrchr(b'\n', &kept.head) {
        Some(end) => &kept.head[..=end],
        None => &[],
    };
    let tail = match memchr::memchr(b'\n', &kept.tail) {
        Some(end) => &kept.tail[end + 1..],
        None => &[],
    };
    let left_out = kept.total - (head.len() + tail.len()) as u64;
    format!(
        "{}[cook: {left_out} bytes left out]\n{}",
        String::from_utf8_lossy(head),
        String::from_utf8_lossy(tail)
    )
}

/// SHA-256 of the program's own record of a session, where it can be found.
pub fn transcript_digest(preset: &Preset, session: &str) -> Option<String> {
    let path = Path::new(session);
    let file = if path.is_absolute() {
        path.to_owned()
    } else {
        let place = preset.table().transcript.as_ref()?;
        let home = match std::env::var_os(&place.variable).filter(|home| !home.is_empty()) {
            Some(home) => PathBuf::from(home),
            None => PathBuf::from(std::env::var_os("HOME")?).join(&place.home),
        };
        search(&home.join(&place.under), session)?
    };
    let file = disk::open_regular(&file, Links::Refuse).ok()??;
    if file.metadata().ok()?.len() > MAX_TRANSCRIPT {
        return None;
    }
    let mut reader = file.take(MAX_TRANSCRIPT);
    let mut digest = Sha256::new();
    let mut piece = vec![0; 64 * 1024];
    loop {
        match reader.read(&mut piece).ok()? {
            0 => break,
            read => digest.update(&piece[..read]),
        }
    }
    Some(hex(&digest.finalize()))
}

/// The one file whose name holds the id: several would not tell which.
fn search(root: &Path, id: &str) -> Option<PathBuf> {
    if id.len() < 8 {
        return None;
    }
    let mut found = None;
    let mut directories = vec![(root.to_owned(), 0)];
    let mut seen = 0;
    while let Some((directory, depth)) = directories.pop() {
        let Ok(entries) = std::fs::read_dir(directory) else {
            continue;
        };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MAX_SEARCHED {
                return None;
            }
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_dir() && depth < MAX_DEPTH {
                directories.push((entry.path(), depth + 1));
            } else if kind.is_file() && entry.file_name().to_string_lossy().contains(id) {
                if found.is_some() {
                    return None;
                }
                found = Some(entry.path());
            }
        }
    }
    found
}

/// A version 4 UUID out of the random part of ULIDs.
fn uuid() -> String {
    let random = || ulid::Ulid::generate().random();
    let bits = (random() << 64) ^ random();
    let part = |from: u32, width: u32| (bits >> from) & ((1 << width) - 1);
    let (high, variant) = (bits >> 80, 0x8000 | part(48, 14));
    let (first, second) = (high >> 16, high & 0xffff);
    let (version, last) = (0x4000 | part(64, 12), part(0, 48));
    format!("{first:08x}-{second:04x}-{version:04x}-{variant:04x}-{last:012x}")
}

fn make_dir(dir: &Path) -> Result<(), Failure> {
    private()
        .recursive(true)
        .create(dir)
        .map_err(|cause| file_failure("make", dir, &cause))
}

/// Nothing overwrites what an earlier run left.
fn make_new_dir(dir: &Path) -> Result<(), Failure> {
    if let Some(parent) = dir.parent() {
        make_dir(parent)?;
    }
    private()
        .create(dir)
        .map_err(|cause| file_failure("make", dir, &cause))
}

fn private() -> std::fs::DirBuilder {
    #[allow(unused_mut)]
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|cause| file_failure("write", path, &cause))
}

/// What an agent is to do, and within what.
#[derive(Debug)]
pub struct Task<'a> {
    /// The agent.
    pub preset: &'a Preset,
    /// All that it is told; goes to its stdin.
    pub prompt: &'a str,
    /// What it may do.
    pub access: Access,
    /// Whether it may change anything.
    pub action: Action,
    /// What keeps it to that; none = nothing does.
    pub sandbox: Option<&'a Sandbox>,
    /// Where it works.
    pub dir: &'a Path,
    /// Its model; none = its own choice.
    pub model: Option<&'a str>,
    /// The shape of its answer.
    pub schema: Option<&'a Value>,
    /// The record of its own to fork; none = a fresh session.
    pub fork: Option<&'a Native>,
    /// How long it may take.
    pub clocks: Clocks,
    /// What it may take.
    pub bounds: Bounds,
    /// What marks all its processes; unique.
    pub invocation: &'a str,
    /// The role it plays, for `COOK_ROLE`.
    pub role: Option<&'a str>,
    /// Further variables.
    pub env: &'a [(String, OsString)],
    /// A directory for the session files that cook names.
    pub state: &'a Path,
    /// A directory for what is kept of this run alone; it must not be there yet.
    pub keep: &'a Path,
}

/// What came of a run. Its raw output lies in [`Task::keep`](super::Task::keep), capped and redacted.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The final text; where there was data only, its JSON.
    pub text: String,
    /// Structured data that the program reported.
    pub data: Option<Value>,
    /// The program's name for the session.
    pub session: Option<String>,
    /// How it can be gone on from.
    pub native: Option<Native>,
    /// Tokens of this run, as the program counts them.
    pub usage: Option<Value>,
    /// Millionths of a dollar of this run; none = unknown.
    pub cost_micro_usd: Option<u64>,
    /// The summary, when the program compacted its context on its own.
    pub compaction: Option<String>,
    /// Why there is no result.
    pub failure: Option<AgentFailure>,
    /// Exit code; none when a signal ended it, or it was never started.
    pub exit: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// What its last event was.
    pub last_event: Option<String>,
    /// Wall time.
    pub duration: Duration,
    /// No process of it was left, as far as could be seen.
    pub swept: bool,
    /// Where `stdout` and `stderr` are kept: [`Task::keep`](super::Task::keep).
    pub kept: PathBuf,
}

impl Report {
    /// How it ended, in one line: after what time, how, with what event, and where what it said lies.
    pub fn describe_end(&self) -> String {
        if (self.signal, self.exit) == (None, None) {
            return "it was not started".to_owned();
        }
        let mut parts = vec![format!(
            "ended after {}",
            humantime::format_duration(Duration::from_millis(self.duration.as_millis() as u64))
        )];
        match (self.signal, self.exit) {
            (Some(signal), _) => parts.push(format!("by signal {signal}")),
            (None, code) => parts.extend(code.map(|code| format!("with exit code {code}"))),
        }
        parts.push(match &self.last_event {
            Some(event) => format!("last event `{event}`"),
            None => "no event".to_owned(),
        });
        parts.push(format!("its output lies in `{}`", self.kept.display()));
        parts.join(", ")
    }
}

/// What the names stand for in one run.
#[derive(Debug, Default)]
pub(super) struct Values<'a> {
    pub cwd: &'a str,
    pub session: &'a str,
    pub new_session: &'a str,
    pub model: Option<&'a str>,
    pub schema_file: Option<&'a str>,
    pub schema_json: Option<&'a str>,
}

/// The whole command line.
pub(super) fn command(
    preset: &Preset,
    template: &[String],
    access: Access,
    continued: bool,
    values: &Values,
) -> Vec<String> {
    let mut argv = vec![preset.bin().to_owned()];
    let table = preset.table();
    let access = preset.access(access);
    let access = access
        .continued
        .filter(|_| continued)
        .unwrap_or(access.args);
    for item in template {
        let block = match item.as_str() {
            "{access}" => Some(&access),
            "{model}" => table.model.as_ref().filter(|_| values.model.is_some()),
            "{schema}" => table
                .schema
                .as_ref()
                .filter(|_| values.schema_json.is_some()),
            item => {
                argv.push(fill_item(item, values));
                None
            }
        };
        argv.extend(
            block
                .into_iter()
                .flatten()
                .map(|item| fill_item(item, values)),
        );
    }
    argv
}

/// An item with its names replaced, each once from the left: what a name stands for is
/// not looked through again.
fn fill_item(item: &str, values: &Values) -> String {
    let mut text = String::new();
    let mut rest = item;
    while let Some(start) = rest.find('{') {
        text.push_str(&rest[..start]);
        rest = &rest[start..];
        let value = rest[1..]
            .split_once('}')
            .and_then(|(name, after)| Some((value(name, values)?, after)));
        match value {
            Some((value, after)) => {
                text.push_str(value);
                rest = after;
            }
            None => {
                text.push('{');
                rest = &rest[1..];
            }
        }
    }
    text.push_str(rest);
    text
}

fn value<'a>(name: &str, values: &Values<'a>) -> Option<&'a str> {
    match name {
        "cwd" => Some(values.cwd),
        "session" => Some(values.session),
        "new_session" => Some(values.new_session),
        "model" => values.model,
        "schema_file" => values.schema_file,
        "schema_json" => values.schema_json,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_one_and_its_own() {
        let (one, two) = (uuid(), uuid());
        assert_ne!(one, two);
        let parts: Vec<usize> = one.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        assert_eq!(&one[14..15], "4");
        assert!("89ab".contains(&one[19..20]));
    }
}

#[cfg(test)]
mod argv_tests {
    use super::*;
    use cook_core::model::Config;

    fn argv(name: &str, access: Access, continued: bool, values: &Values) -> Vec<String> {
        let preset = Preset::of(name, &Config::default()).unwrap_or_else(|e| panic!("{e}"));
        let template = if continued {
            preset.table().fork.clone().unwrap_or_default()
        } else {
            preset.start().to_vec()
        };
        command(&preset, &template, access, continued, values)
    }

    #[test]
    fn blocks_are_spliced_and_empty_ones_leave_nothing() {
        let values = Values {
            cwd: "/w",
            session: "s1",
            ..Values::default()
        };
        assert_eq!(
            argv("codex", Access::Write, false, &values),
            [
                "codex",
                "exec",
                "--json",
                "--skip-git-repo-check",
                "-C",
                "/w",
                "-s",
                "workspace-write",
                "--add-dir",
                "/w/.git",
                "-"
            ]
        );
        let forked = argv("codex", Access::Read, true, &values);
        assert!(
            forked.contains(&"sandbox_mode=\"read-only\"".to_owned())
                && forked.contains(&"s1".to_owned())
        );
        let values = Values {
            session: "{model}",
            model: Some("{cwd}"),
            schema_json: Some("{\"a\":{}}"),
            ..values
        };
        let line = argv("claude", Access::Read, false, &values);
        assert!(line.windows(2).any(|pair| pair == ["--model", "{cwd}"]));
        assert!(
            line.windows(2)
                .any(|pair| pair == ["--session-id", "{model}"])
        );
        assert!(
            line.windows(2)
                .any(|pair| pair == ["--json-schema", "{\"a\":{}}"])
        );
    }

    #[test]
    fn unknown_names_stay() {
        let values = Values::default();
        assert_eq!(fill_item("a{b}{", &values), "a{b}{");
        assert_eq!(
            fill_item("{\"x\": \"{session}\"}", &values),
            "{\"x\": \"\"}"
        );
    }
}
