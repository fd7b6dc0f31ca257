//! One run of an agent program: builds the command line and environment, reads and judges the output, and stores it.

use super::acp::Conversation;
use super::agent_supplier::{AgentSupplier, Report, redact_answer, redact_data};
use super::listen::{AgentFailure, FailureClass, Progress, Reader, StreamResult};
use super::preset::{describe_untested, file_failure, invalid};
use super::{Directories, Preset, Surroundings, redact, usage};
use cook_protocol::diagnostic::Failure;
use cook_protocol::digest::hex;
use cook_protocol::model::{Access, AgentKind, SessionNaming};
use cook_repo::disk::{self, Links};
use cook_repo::process::{
    ControlFlow, DEPTH_VARIABLE, Input, Kept, Outcome, ProcessError, ROLE_VARIABLE, Supervised,
    supervise,
};
use cook_repo::room::STARTS;
use cook_repo::session::{
    Action, Answer, Capability, Continuation, Native, Supplier, SupplierError, SupplierErrorKind,
    Turn, Window,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The maximum number of directory entries that are searched for a program's own record.
const MAX_SEARCHED: usize = 50_000;
/// The maximum depth of that search.
const MAX_DEPTH: usize = 8;
/// The maximum size of a record that is digested; a session with a larger one is not continued.
const MAX_TRANSCRIPT: u64 = 512 << 20;

/// Runs an agent until it ends. The report covers every outcome of the program.
///
/// # Errors
/// When the files that cook itself needs for the run cannot be written.
pub fn run(
    supplier: &AgentSupplier,
    turn: &Turn,
    watch: &mut dyn FnMut(Progress) -> ControlFlow,
) -> Result<Report, Failure> {
    let (state, kept) = (supplier.state(), supplier.attempt_dir(turn));
    make_dir(&state)?;
    make_new_dir(&kept)?;
    let (argv, given) = command_line(supplier, turn)?;
    let (preset, invocation) = (&supplier.preset, turn.name.to_string());
    let directories = supplier.sandbox.as_ref().map(|_| Directories::of(preset));
    let env = environment(supplier, turn);
    let prompt = prompt(supplier, turn);
    let greeting = Conversation::greeting();
    let mut starts = 0;
    let heard = loop {
        let within = match supplier.sandbox.as_ref().zip(directories.as_ref()) {
            Some((sandbox, directories)) => {
                sandbox.arguments(preset, turn.action, &supplier.dir, &state, directories)?
            }
            None => Vec::new(),
        };
        let supervised = Supervised {
            argv: &argv,
            within: &within,
            dir: &supplier.dir,
            env: &env,
            stdin: match preset.kind() {
                AgentKind::Command => Input::Whole(prompt.as_bytes()),
                AgentKind::Acp => Input::Open(&greeting),
            },
            invocation: &invocation,
            clocks: supplier.clocks,
            polite: preset.polite(),
        };
        let heard = match preset.kind() {
            AgentKind::Command => {
                let mut reader = Reader::of(preset, supplier.bounds, &mut *watch);
                supervise(&supervised, &mut reader).map(|outcome| (reader.end(&outcome), outcome))
            }
            AgentKind::Acp => {
                let mut talk = Conversation::of(supplier, turn, &prompt, &mut *watch);
                supervise(&supervised, &mut talk).map(|outcome| (talk.end(&outcome), outcome))
            }
        };
        starts += 1;
        match &heard {
            // A socket that was to be hidden was removed in the meantime, so nothing was started; try again.
            Ok((_, outcome))
                if starts < STARTS && supplier.sandbox.is_some() && never_began(outcome) => {}
            _ => break heard,
        }
    };
    let planted = match &directories {
        Some(directories) => directories.put_back(&kept)?,
        None => Vec::new(),
    };
    let (mut streamed, outcome) = match heard {
        Ok(heard) => heard,
        Err(error) => return Ok(never_started(kept, &error)),
    };
    keep(&kept, &outcome)?;
    if let Some(failure) = &mut streamed.failure {
        explain(failure, supplier, streamed.text.is_empty());
    }
    if let Some(failure) = report_planted(&planted, &kept) {
        streamed.failure = Some(failure);
    }
    Ok(report((supplier, turn), streamed, given, &outcome))
}

/// Adds a possible cause to a failure: an agent directory that is not writable, which programs report in many ways or
/// not at all, or a release with different events and options.
fn explain(failure: &mut AgentFailure, supplier: &AgentSupplier, is_silent: bool) {
    let preset = &supplier.preset;
    let is_timeout = matches!(failure.failure, SupplierErrorKind::TimedOut(_));
    if is_silent && failure.class == FailureClass::Agent && !is_timeout {
        let directories = Directories::of(preset);
        if let Some(place) = directories.find_unwritable() {
            failure.class = FailureClass::Environment;
            // Removes a trailing slash.
            let place = place.components().as_path().display();
            failure.add(&format!("`{place}` cannot be written"));
            return;
        }
    }
    if failure.may_be_by_release()
        && let Some(untested) = describe_untested(preset, &supplier.dir)
    {
        failure.add(&untested);
    }
}

/// The failure if the session wrote settings that would configure its later sessions.
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

/// Whether the sandbox could not be set up.
fn never_began(outcome: &Outcome) -> bool {
    cook_repo::room::never_began(outcome.code, outcome.stdout.total, &outcome.stderr.bytes())
}

fn report(
    (supplier, turn): (&AgentSupplier, &Turn),
    streamed: StreamResult,
    given: Option<String>,
    outcome: &Outcome,
) -> Report {
    let preset = &supplier.preset;
    // If cook chose the session's path, that identifies it better than an id from the events.
    let session = match (&given, preset.session()) {
        (Some(path), SessionNaming::Path) => Some(path.clone()),
        _ => streamed.session.or(given),
    };
    let totals = turn.fork.and_then(|native| native.totals.as_ref());
    let before = |key: &str| totals.and_then(|totals| totals.get(key));
    let usage = streamed
        .usage
        .count_taken(preset.usage_counting(), before("usage"));
    let cost = streamed
        .cost
        .count_taken(preset.cost_counting(), before("cost_usd"));
    // A program that was ended early reported no total.
    let usage = usage.or(streamed.spent);
    let free = streamed.cost.total().and_then(usage::micro_usd) == Some(0);
    let took = usage.as_ref().and_then(usage::tokens);
    // A program that does not know the price of its model reports 0.
    let cost = cost.filter(|_| !(free && took.is_some_and(|took| took.all() > 0)));
    let forkable = session.clone().filter(|_| streamed.can_fork);
    let native = forkable.map(|session| Native {
        transcript_sha256: transcript_digest(preset, &session),
        session,
        totals: Some(
            json!({"usage": streamed.usage.total(), "cost_usd": streamed.cost.total(), "window": streamed.window}),
        ),
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
        kept: supplier.attempt_dir(turn),
    }
}

fn never_started(kept: PathBuf, error: &ProcessError) -> Report {
    let why = error.to_string();
    let is_written = |cause: &io::Error| cause.kind() == io::ErrorKind::ExecutableFileBusy;
    let (class, failure) = match error {
        ProcessError::NotFound(_) | ProcessError::NotExecutable(_) => {
            (FailureClass::Environment, SupplierErrorKind::Absent(why))
        }
        ProcessError::Start { cause, .. } if is_written(cause) => {
            (FailureClass::Environment, SupplierErrorKind::Absent(why))
        }
        _ => (FailureClass::Config, SupplierErrorKind::Failed(why)),
    };
    Report {
        failure: Some(AgentFailure::new(class, failure)),
        swept: true,
        kept,
        ..Report::default()
    }
}

/// Builds the command line. Also returns the session's name if cook chose it.
fn command_line(
    supplier: &AgentSupplier,
    turn: &Turn,
) -> Result<(Vec<String>, Option<String>), Failure> {
    let preset = &supplier.preset;
    let model = supplier.model.as_deref();
    if let Some(model) = model
        && !preset.takes_model()
    {
        let why = format!(
            "`{}` cannot be named to it: its `start` has no `{{model}}`",
            model.escape_debug()
        );
        return Err(invalid(preset.name(), why));
    }
    let fresh = uuid();
    let given = match (preset.session(), turn.fork) {
        (SessionNaming::Uuid, None) => Some(fresh.clone()),
        (SessionNaming::Path, None) => {
            let file = supplier.state().join(format!("{fresh}.jsonl"));
            Some(file.display().to_string())
        }
        (SessionNaming::Uuid, Some(_)) => preset
            .table()
            .fork
            .iter()
            .flatten()
            .any(|item| item.contains("{new_session}"))
            .then(|| fresh.clone()),
        _ => None,
    };
    let schema_json = turn.schema.map(Value::to_string);
    let schema_file = supplier.attempt_dir(turn).join("schema.json");
    if let Some(schema) = &schema_json {
        write(&schema_file, schema.as_bytes())?;
    }
    let cwd = supplier.dir.display().to_string();
    let schema_file = schema_file.display().to_string();
    let session = match turn.fork {
        Some(native) => native.session.clone(),
        None => given.clone().unwrap_or_default(),
    };
    let values = Values {
        cwd: &cwd,
        session: &session,
        new_session: &fresh,
        model,
        schema_file: schema_json.is_some().then_some(&schema_file),
        schema_json: schema_json.as_deref(),
    };
    let template = match (turn.fork, &preset.table().fork) {
        (Some(_), Some(fork)) => fork.as_slice(),
        _ => preset.start(),
    };
    let access = supplier.choose_access(turn.action);
    let argv = command(preset, template, access, turn.fork.is_some(), &values);
    Ok((argv, given))
}

/// The command line that opens the program's own interface on a fork of a session; `None` if the preset has none.
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

/// The prompt; it includes the schema if the program has no option for one.
fn prompt(supplier: &AgentSupplier, turn: &Turn) -> String {
    match turn.schema {
        Some(schema) if supplier.preset.table().schema.is_none() => format!(
            "{}\n\nAnswer with one JSON value and nothing else. It must fit this JSON Schema:\n{schema}\n",
            turn.prompt
        ),
        _ => turn.prompt.to_owned(),
    }
}

fn environment(supplier: &AgentSupplier, turn: &Turn) -> Vec<(String, OsString)> {
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
    let table = supplier.preset.table().env.clone();
    let access = supplier
        .preset
        .access(supplier.choose_access(turn.action))
        .env;
    let fixed = fixed.map(|(name, value)| (name.to_owned(), value));
    let all = fixed.into_iter().chain(table).chain(access);
    let mut env: Vec<(String, OsString)> = all.map(|(name, value)| (name, value.into())).collect();
    env.extend(supplier.env.iter().cloned());
    if let Some(role) = &supplier.role {
        env.push((ROLE_VARIABLE.to_owned(), OsString::from(role)));
    }
    env
}

/// Writes the program's output to files, without secrets.
fn keep(dir: &Path, outcome: &Outcome) -> Result<(), Failure> {
    // The program may have removed the directory.
    make_dir(dir)?;
    for (name, kept) in [("stdout", &outcome.stdout), ("stderr", &outcome.stderr)] {
        write(&dir.join(name), redact(&whole_lines(kept)).as_bytes())?;
    }
    Ok(())
}

/// The beginning and end of a stream as text. Partial lines at the gap are dropped, because half a secret would not be
/// recognised.
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

/// The SHA-256 of the program's own record of a session; `None` if it cannot be found.
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

/// Finds the file whose name contains the id; `None` if there are several.
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

/// Makes a version 4 UUID from the random part of ULIDs.
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

/// Creates a new directory; an existing one is an error, so that the output of an earlier run is not overwritten.
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

/// The values of the placeholders in one run.
#[derive(Debug, Default)]
pub(super) struct Values<'a> {
    pub cwd: &'a str,
    pub session: &'a str,
    pub new_session: &'a str,
    pub model: Option<&'a str>,
    pub schema_file: Option<&'a str>,
    pub schema_json: Option<&'a str>,
}

/// Builds a command line from a template.
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

/// Replaces the placeholders in an item, once from left to right: inserted values are not searched for placeholders.
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

impl AgentSupplier<'_> {
    fn surroundings(&self) -> Result<Option<Surroundings>, SupplierError> {
        self.repo.map(Surroundings::of).transpose().map_err(unseen)
    }

    /// Measures what the call changed in the repository. If changes of a question were already looked for and reverted,
    /// that list is used.
    fn measure(
        &self,
        before: &Option<Surroundings>,
        (action, put_back): (Action, Option<Vec<String>>),
        answer: &mut Answer,
    ) -> Result<(), SupplierError> {
        let is_guarded = action == Action::Ask && put_back.is_some();
        answer.changed = put_back.unwrap_or_default();
        let (Some(repo), Some(before)) = (self.repo, before) else {
            return Ok(());
        };
        let now = Surroundings::of(repo).map_err(unseen)?;
        answer.head_before = before.head().map(str::to_owned);
        answer.head_after = now.head().map(str::to_owned);
        answer.tree_after = Some(now.tree_digest());
        if !is_guarded {
            let changed = before.list_changes(repo, &now).map_err(unseen)?;
            answer.changed.extend(changed);
        }
        answer.commits = before.commits(repo, &now).map_err(unseen)?;
        Ok(())
    }
}

fn unseen(failure: Failure) -> SupplierError {
    SupplierErrorKind::Failed(format!("the repository cannot be read: {failure}")).into()
}

impl Supplier for AgentSupplier<'_> {
    fn name(&self) -> &str {
        self.preset.name()
    }

    fn capability(&self) -> Capability {
        self.preset.capability()
    }

    fn continuation(&self) -> Continuation {
        self.preset.continuation()
    }

    fn window(&self, before: Option<&Native>) -> Option<Window> {
        let usual = self.preset.window()?;
        let told = before.and_then(|native| native.totals.as_ref()?["window"].as_u64());
        let tokens = told.unwrap_or(usual.tokens);
        let reserve = usual.reserve.min(tokens / 2);
        Some(Window { tokens, reserve })
    }

    fn can_fork(&self, native: &Native) -> bool {
        let kept = native.transcript_sha256.as_ref();
        kept.is_some() && kept == transcript_digest(&self.preset, &native.session).as_ref()
    }

    fn call(&self, turn: &Turn) -> Result<Answer, SupplierError> {
        let before = self.surroundings()?;
        let guard = self.guard.as_ref();
        let put_back = guard
            .map(|begin| begin(turn.action))
            .transpose()
            .map_err(unseen)?;
        let ran = run(self, turn, &mut *self.watch.borrow_mut());
        // Runs before anything that may fail: a failed run may have made changes too.
        let put_back = match put_back {
            Some(put_back) => put_back().map_err(unseen)?,
            None => None,
        };
        let mut report = match ran {
            Ok(report) => report,
            Err(error) => {
                let mut failed = SupplierError::from(SupplierErrorKind::Failed(error.message));
                self.measure(&before, (turn.action, put_back), &mut failed.known)?;
                return Err(failed);
            }
        };
        let by_price = self.bounds.price.zip(report.usage.as_ref());
        report.cost_micro_usd = report
            .cost_micro_usd
            .or_else(|| by_price.and_then(|(price, usage)| usage::compute_price(price, usage)));
        *self.last.borrow_mut() = Some(report.clone());
        // The answer's hash covers the stored text, so secrets are removed first.
        report.data.iter_mut().for_each(redact_data);
        let mut answer = Answer {
            output: redact_answer(&report.text),
            data: report.data,
            exid: report.session,
            native: report.native,
            compaction: report.compaction.as_deref().map(redact_answer),
            usage: report.usage,
            cost_micro_usd: report.cost_micro_usd,
            duration_ms: u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX),
            exit: report.exit,
            model: self.model.clone(),
            role: self.role.clone(),
            workflow: self.workflow.clone(),
            ..Answer::default()
        };
        self.measure(&before, (turn.action, put_back), &mut answer)?;
        match report.failure {
            None => Ok(answer),
            Some(failed) => Err(SupplierError {
                failure: failed.failure,
                class: Some(failed.class.id()),
                reset_at: failed.reset_at,
                known: Box::new(answer),
            }),
        }
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
    use cook_protocol::model::Config;

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
