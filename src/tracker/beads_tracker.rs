//! The trackers `br` and `bd`, which have the same commands with small differences.

use super::tracked_issue::{
    Attempt, Brief, Comment, Commented, Issue, IssueStatus, Link, NewIssue, ReadyList, Result,
    Tracker, TrackerError, carries, explore, is_id, line, mark, text,
};
use crate::prelude::*;
use cook_protocol::model::TrackerKind;
use cook_repo::disk::is_directory;
use cook_repo::process::Captured;
use std::ffi::OsStr;
use std::sync::atomic::{AtomicBool, Ordering};

/// The maximum size of a text argument in bytes; Linux allows 128 KiB for one argument.
const MAX_ARGUMENT: usize = 60 * 1024;

/// A tracker that is an external program.
#[derive(Debug, Clone)]
pub struct Beads {
    name: &'static str,
    program: PathBuf,
    dir: PathBuf,
    actor: Actor,
    bounds: Bounds,
    /// Set if this version lacks the options that only save time.
    plain: Arc<AtomicBool>,
}

impl Beads {
    /// Uses the program that was found as the tracker of a worktree.
    pub fn new(found: &Found, root: &Path, actor: Actor, bounds: Bounds) -> Self {
        Self {
            name: found.name,
            program: found.program.clone(),
            dir: root.to_owned(),
            actor,
            bounds,
            plain: Arc::default(),
        }
    }

    fn is_br(&self) -> bool {
        self.name == "br"
    }

    fn issues(&self, call: &Call) -> Result<Vec<Issue>> {
        self.read(call, read_issue)
    }

    fn links(&self, id: &str, direction: &str) -> Result<Vec<Link>> {
        let direction = format!("--direction={direction}");
        let call = Call::new("dep list", &[&direction], &[check_id(id)?]);
        self.about(id, self.read(&call, |row| read_link(row, id)))
    }

    /// Names the issue in an error about an unknown issue.
    fn about<T>(&self, id: &str, outcome: Result<T>) -> Result<T> {
        outcome.map_err(|error| match error {
            TrackerError::Unknown(_) => TrackerError::Unknown(id.to_owned()),
            error => error,
        })
    }

    /// Makes a write. Returns the tracker's error, or fails if the effect of the write is unknown.
    fn complaint(&self, call: &Call) -> Result<Option<TrackerError>> {
        match self.write(call) {
            Err(error) if error.is_outage() => Err(error),
            said => Ok(said.err()),
        }
    }

    /// The other person to whom the issue is assigned.
    fn holder(&self, issue: &Issue) -> Option<String> {
        let assignee = issue.assignee.as_deref()?;
        (!self.actor.is(assignee)).then(|| assignee.to_owned())
    }

    /// Whether a claim is needed: false if the issue is this actor's already. Fails if it cannot be claimed.
    fn claimable(&self, issue: &Issue) -> Result<bool> {
        if let Some(by) = self.holder(issue) {
            return Err(TrackerError::Held(issue.id.clone(), by));
        }
        match issue.status {
            IssueStatus::InProgress => Ok(issue.assignee.is_none()),
            IssueStatus::Closed => Err(not_claimed(issue)),
            _ => Ok(true),
        }
    }

    /// Describes the open dependencies of an issue.
    fn blockers(&self, id: &str) -> Option<String> {
        let open: Vec<String> = self
            .dependencies(id)
            .ok()?
            .into_iter()
            .filter(|link| link.blocks() && !link.issue.is_closed())
            .map(|link| link.issue.id)
            .collect();
        (!open.is_empty()).then(|| format!("it waits for {}", open.join(", ")))
    }
}

impl Tracker for Beads {
    fn name(&self) -> &'static str {
        self.name
    }

    fn detect(&self) -> Result<()> {
        match self.write(&Call::new("info", &[], &[])) {
            Err(error) if error.is_away() => Err(error),
            // Any other answer shows that the tracker is there; the next command reports its problems.
            _ => Ok(()),
        }
    }

    fn current(&self) -> Result<Vec<Issue>> {
        let options = ["--status=in_progress", "--limit=0"];
        let mut issues = self.issues(&Call::new("list", &options, &[]))?;
        issues.retain(|issue| issue.status == IssueStatus::InProgress);
        issues.sort_by(|a, b| b.updated_at.cmp(&a.updated_at));
        let is_mine = |issue: &Issue| issue.assignee.as_deref().is_some_and(|n| self.actor.is(n));
        issues.sort_by_key(|issue| !is_mine(issue));
        Ok(issues)
    }

    fn ready(&self) -> Result<Vec<Issue>> {
        let options = ["--sort=priority", "--limit=0"];
        let mut issues = self.issues(&Call::new("ready", &options, &[]))?;
        issues.retain(|issue| !matches!(issue.status, IssueStatus::Blocked | IssueStatus::Closed));
        Ok(issues)
    }

    fn show(&self, id: &str) -> Result<Issue> {
        let call = Call::new("show", &[], &[check_id(id)?]);
        let issues = self.about(id, self.issues(&call))?;
        match <[Issue; 1]>::try_from(issues) {
            Ok([issue]) if issue.id == id => Ok(issue),
            Ok([issue]) => Err(self.shape(&call, format!("it is about `{}`", issue.id))),
            Err(none) if none.is_empty() => Err(TrackerError::Unknown(id.to_owned())),
            Err(_) => Err(self.shape(&call, "it has several rows".to_owned())),
        }
    }

    fn comments(&self, id: &str) -> Result<Vec<Comment>> {
        let words = match self.is_br() {
            true => "comments list",
            false => "comments",
        };
        let call = Call::new(words, &[], &[check_id(id)?]);
        self.about(id, self.read(&call, read_comment))
    }

    fn dependents(&self, id: &str) -> Result<Vec<Link>> {
        self.links(id, "up")
    }

    fn dependencies(&self, id: &str) -> Result<Vec<Link>> {
        self.links(id, "down")
    }

    fn claim(&self, id: &str) -> Result<Issue> {
        let before = self.show(id)?;
        if !self.claimable(&before)? {
            return Ok(before);
        }
        let call = Call::new("update", &["--claim"], &[&before.id]);
        let complaint = self.complaint(&call)?;
        let now = self.show(&before.id)?;
        if let Some(by) = self.holder(&now) {
            return Err(TrackerError::Held(now.id, by));
        }
        match complaint {
            _ if now.status == IssueStatus::InProgress && now.assignee.is_some() => Ok(now),
            Some(complaint) => Err(complaint),
            None => Err(not_claimed(&now)),
        }
    }

    fn comment(&self, id: &str, key: &str, text: &str, attempt: Attempt) -> Result<Commented> {
        let id = check_id(id)?;
        if !is_id(key) {
            return Err(TrackerError::BadText("has a key that is not a single word"));
        }
        let text = argument(text)?;
        if attempt == Attempt::Again && self.comments(id)?.iter().any(|c| carries(&c.text, key)) {
            return Ok(Commented::WasThere);
        }
        let text = format!("{text} {}", mark(key));
        let call = Call::new("comments add", &[], &[id, &text]);
        self.about(id, self.write(&call))?;
        Ok(Commented::Added)
    }

    fn close(&self, id: &str, reason: &str) -> Result<(Issue, bool)> {
        let before = self.show(id)?;
        if before.status == IssueStatus::Closed {
            return Ok((before, true));
        }
        let reason = format!("--reason={}", argument(reason)?);
        let call = Call::new("close", &[&reason], &[&before.id]);
        let complaint = self.complaint(&call)?;
        let now = self.show(&before.id)?;
        if now.status == IssueStatus::Closed {
            return Ok((now, false));
        }
        let why = self
            .blockers(&now.id)
            .or_else(|| complaint.map(|complaint| complaint.to_string()))
            .unwrap_or_else(|| format!("it is {}", now.status.id()));
        Err(TrackerError::NotClosed(now.id, why))
    }

    fn create(&self, new: &NewIssue) -> Result<Issue> {
        let title = line(&argument(&new.title)?);
        if title.is_empty() {
            return Err(TrackerError::BadText("is empty"));
        }
        let kind = new.kind.as_deref().unwrap_or("task");
        if !is_id(kind) {
            return Err(TrackerError::BadText("names no type of issue"));
        }
        let mut options = vec![format!("--type={kind}")];
        options.extend(new.priority.map(|number| format!("--priority={number}")));
        if let Some(description) = &new.description {
            options.push(format!("--description={}", argument(description)?));
        }
        if let Some(origin) = &new.discovered_from {
            let origin = self.show(origin)?.id;
            options.push(format!("--deps=discovered-from:{origin}"));
        }
        let mut call = Call::new("create", &[], &[&title]);
        call.options = options;
        let made = self.read(&call, |row| Ok(row.clone()))?;
        let made = made.first().and_then(|row| row.get("id")?.as_str());
        match made.filter(|id| is_id(id)) {
            Some(id) => self.show(id),
            None => Err(self.shape(&call, "it names no issue".to_owned())),
        }
    }

    fn ready_list(&self, end: Instant) -> Result<ReadyList> {
        explore(self, self.ready()?, end)
    }

    fn is_mine(&self, assignee: &str) -> bool {
        self.actor.is(assignee)
    }

    fn until(&self, end: Instant) -> Box<dyn Tracker + '_> {
        let mut bounded = self.clone();
        let until = self.bounds.until;
        bounded.bounds.until = Some(until.map_or(end, |until| until.min(end)));
        Box::new(bounded)
    }
}

/// Refuses a word that cannot be an id.
fn check_id(id: &str) -> Result<&str> {
    if is_id(id) {
        Ok(id)
    } else {
        Err(TrackerError::BadId(line(id)))
    }
}

/// Cleans a text for use as an argument, and refuses one that is too long.
fn argument(raw: &str) -> Result<String> {
    if raw.len() > MAX_ARGUMENT {
        return Err(TrackerError::BadText("is longer than 60 KiB"));
    }
    Ok(text(raw))
}

fn not_claimed(issue: &Issue) -> TrackerError {
    TrackerError::NotClaimed(issue.id.clone(), format!("it is {}", issue.status.id()))
}

/// Opens the tracker of a worktree and checks that it answers. Returns `None` for cook's own plan: the settings choose
/// it, or with `auto` there is no other tracker here.
///
/// # Errors
/// `Absent` if the tracker in the settings is missing, `Unavailable` if it is here but does not answer.
pub fn open(kind: TrackerKind, root: &Path, bounds: Bounds) -> Result<Option<Beads>> {
    let path = std::env::var_os("PATH");
    let Some(found) = find(kind, root, path.as_deref())? else {
        return Ok(None);
    };
    let beads = Beads::new(&found, root, Actor::of(root), bounds);
    match beads.detect() {
        Err(TrackerError::Absent { .. }) if kind == TrackerKind::Auto => Ok(None),
        answer => answer.map(|()| Some(beads)),
    }
}

/// The limits of calls to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The time limit of one call.
    pub call: Duration,
    /// The deadline of all calls together.
    pub until: Option<Instant>,
    /// How long the program may wait for its own lock.
    pub lock: Duration,
    /// Whether a write also updates the tracker's exported file. That takes seconds if there are many issues, and
    /// changes a tracked file.
    pub flush: bool,
    /// The maximum size of an answer in bytes.
    pub bytes: usize,
}

impl Bounds {
    /// The limits of a command for which a person or an agent waits.
    pub fn command() -> Self {
        Self {
            call: Duration::from_secs(15),
            until: None,
            lock: Duration::from_secs(5),
            flush: true,
            bytes: 32 << 20,
        }
    }

    /// The limits of a command that only reads; all its calls together end within three seconds.
    pub fn reading() -> Self {
        Self {
            call: Duration::from_millis(2_500),
            until: Some(Instant::now() + Duration::from_millis(2_800)),
            ..Self::command()
        }
    }

    /// The limits of calls beside other work that can be repeated later: hooks, and updates after a report.
    pub fn beside(call: Duration, until: Instant) -> Self {
        Self {
            call,
            until: Some(until),
            lock: call / 2,
            flush: false,
            bytes: 8 << 20,
        }
    }
}

/// A call of the program.
#[derive(Debug)]
struct Call {
    /// The words of the command.
    words: &'static str,
    /// The options, each one argument (`--name=value`).
    options: Vec<String>,
    /// The arguments after `--`.
    free: Vec<String>,
    /// Whether the call changes something.
    writes: bool,
}

impl Call {
    fn new(words: &'static str, options: &[&str], free: &[&str]) -> Self {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            words,
            options: owned(options),
            free: owned(free),
            writes: matches!(words, "update" | "close" | "create" | "comments add"),
        }
    }
}

impl Beads {
    /// Makes a call and parses each row of its answer with `read`.
    fn read<T>(
        &self,
        call: &Call,
        read: impl Fn(&Map<String, Value>) -> Result<T, String>,
    ) -> Result<Vec<T>> {
        let said = self.say(call)?;
        rows(&said.stdout)
            .and_then(|rows| rows.iter().map(read).collect())
            .map_err(|what| self.shape(call, what))
    }

    /// Makes a writing call. Its output does not prove the write, so only errors are read from it.
    fn write(&self, call: &Call) -> Result<()> {
        self.say(call).map(|_| ())
    }

    fn shape(&self, call: &Call, what: String) -> TrackerError {
        TrackerError::Shape(format!("{} {}", self.name, call.words), what)
    }

    fn say(&self, call: &Call) -> Result<Captured> {
        let plain = self.plain.load(Ordering::Relaxed);
        match self.attempt(call, plain) {
            Err(TrackerError::Rejected(_, _, message)) if !plain && is_unknown_option(&message) => {
                // The option was refused before the command began, so repeating the call does not write twice.
                self.plain.store(true, Ordering::Relaxed);
                self.attempt(call, true)
            }
            said => said,
        }
    }

    fn attempt(&self, call: &Call, plain: bool) -> Result<Captured> {
        let deadline = self.deadline()?;
        let said = capture(&Short {
            env: vec![("NO_COLOR", OsString::from("1"))],
            ..Short::new(
                self.argv(call, plain),
                &self.dir,
                deadline,
                self.bounds.bytes,
            )
        })
        .map_err(|error| match error {
            ProcessError::TooMuch { limit, .. } => {
                self.shape(call, format!("it is longer than {limit} bytes"))
            }
            // It had less time than a single call may take, so the timeout does not show a problem of the tracker.
            ProcessError::Deadline { .. } if deadline < self.bounds.call => {
                TrackerError::Spent(self.name)
            }
            error => TrackerError::of_process(self.name, &error),
        })?;
        let complaint = complaint(&said.stderr).or_else(|| in_answer(&said.stdout));
        match complaint {
            Some(complaint) => Err(self.make_error(&complaint)),
            None if said.success() => Ok(said),
            None => Err(self.make_error(&Complaint {
                code: said.code.map_or("ended by a signal".to_owned(), |code| {
                    format!("exit {code}")
                }),
                message: last_words(&said.stderr),
            })),
        }
    }

    fn argv(&self, call: &Call, plain: bool) -> Vec<OsString> {
        let mut argv = vec![self.program.clone().into_os_string()];
        argv.extend(call.words.split(' ').map(OsString::from));
        argv.push("--json".into());
        if call.writes {
            argv.push(format!("--actor={}", self.actor.name).into());
        }
        if !plain {
            let milliseconds = self.bounds.lock.as_millis();
            let unit = if self.is_br() { "" } else { "ms" };
            argv.push(format!("--lock-timeout={milliseconds}{unit}").into());
            if call.writes && !self.bounds.flush {
                argv.push("--no-auto-flush".into());
            }
        }
        argv.extend(call.options.iter().map(OsString::from));
        if !call.free.is_empty() {
            argv.push("--".into());
            argv.extend(call.free.iter().map(OsString::from));
        }
        argv
    }

    /// The time that is left for this call.
    fn deadline(&self) -> Result<Duration> {
        let end = self.bounds.until;
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        match left {
            Some(Duration::ZERO) => Err(TrackerError::Spent(self.name)),
            Some(left) => Ok(self.bounds.call.min(left)),
            None => Ok(self.bounds.call),
        }
    }

    /// Turns a complaint into an error, by its code, or by its words if it has no code.
    fn make_error(&self, complaint: &Complaint) -> TrackerError {
        let tracker = self.name;
        let code = complaint.code.to_ascii_uppercase();
        let said = complaint.message.to_ascii_lowercase();
        let is_coded = !code.is_empty() && !code.starts_with("EXIT ");
        let means = |codes: &str, words: &[&str]| {
            codes.split(' ').any(|known| known == code)
                || !is_coded && words.iter().any(|words| said.contains(words))
        };

        let message = complaint.message.clone();
        let why = match message.as_str() {
            "" => complaint.code.clone(),
            message => message.to_owned(),
        };
        let absent = "NOT_INITIALIZED NO_WORKSPACE NO_DATABASE";
        let away = "DATABASE_LOCKED DATABASE_BUSY LOCKED BUSY LOCK_TIMEOUT TIMEOUT PERMISSION_DENIED \
                    ACCESS_DENIED IO_ERROR";
        let unset = ["not initialized", "no beads database", "no beads workspace"];
        let held = ["database is locked", "lock timeout", "permission denied"];
        let unknown = ["issue not found", "no issue found", "no such issue"];
        if means(absent, &unset) {
            TrackerError::Absent(tracker, why)
        } else if means(away, &held) {
            TrackerError::Unavailable(tracker, why)
        } else if means("ISSUE_NOT_FOUND NOT_FOUND", &unknown) {
            TrackerError::Unknown(message)
        } else {
            let code = line(&complaint.code);
            TrackerError::Rejected(tracker, code, message)
        }
    }
}

/// Whether the program does not know one of the options that only save time.
fn is_unknown_option(message: &str) -> bool {
    let names = ["--lock-timeout", "--no-auto-flush"];
    let complaints = ["unknown", "unexpected", "unrecognized", "not defined"];
    names.iter().any(|name| message.contains(name))
        && complaints.iter().any(|word| message.contains(word))
}

/// Finds an error in place of an answer on stdout.
fn in_answer(stdout: &[u8]) -> Option<Complaint> {
    // Only an object can be an error, so long lists are not parsed twice.
    if stdout.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return None;
    }
    find_complaint(&serde_json::from_slice(stdout).ok()?)
}

/// The first line that begins with `error`, else the last line.
fn last_words(stderr: &str) -> String {
    let lines = || {
        stderr
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
    };
    let said = lines()
        .find(|said| said.to_ascii_lowercase().starts_with("error"))
        .or_else(|| lines().next_back());
    line(said.unwrap_or("it said nothing"))
}

/// The maximum number of rows in an answer.
const MAX_ROWS: usize = 20_000;
/// The members that may contain the list.
const WRAPPERS: [&str; 6] = [
    "data",
    "issues",
    "comments",
    "dependencies",
    "dependents",
    "results",
];

/// An error message of a tracker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Complaint {
    /// `error.code`; empty if there is none.
    pub code: String,
    /// The message itself.
    pub message: String,
}

/// Finds the error among log lines: the object that starts at the first line that is exactly `{`. Anything after it is
/// ignored.
pub(super) fn complaint(stderr: &str) -> Option<Complaint> {
    let mut at = 0;
    let start = stderr.split_inclusive('\n').find_map(|line| {
        let here = at;
        at += line.len();
        (line.trim_end_matches(['\r', '\n']) == "{").then_some(here)
    })?;
    let mut values = serde_json::Deserializer::from_str(&stderr[start..]).into_iter::<Value>();
    find_complaint(&values.next()?.ok()?)
}

/// Finds the error in a JSON answer without data.
pub(super) fn find_complaint(value: &Value) -> Option<Complaint> {
    let whole = value.as_object()?;
    let of = |object: &Map<String, Value>, message: &str| Complaint {
        code: find_text(object, &["code"]).unwrap_or_default(),
        message: line(message),
    };
    match whole.get("error")? {
        Value::Object(error) => Some(of(
            error,
            &find_text(error, &["message", "error"]).unwrap_or_default(),
        )),
        Value::String(message) => Some(of(whole, message)),
        _ => None,
    }
}

/// Parses the rows of an answer; a single object is one row, and `null` is none.
pub(super) fn rows(stdout: &[u8]) -> Result<Vec<Map<String, Value>>, String> {
    let stdout = stdout.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stdout);
    if stdout.iter().all(u8::is_ascii_whitespace) {
        return Err("it is empty".to_owned());
    }
    let value: Value = serde_json::from_slice(stdout).map_err(|error| {
        if error.is_eof() {
            "it breaks off".to_owned()
        } else {
            format!("it is not valid JSON ({error})")
        }
    })?;
    let list = unwrap(value, 0)?;
    if list.len() > MAX_ROWS {
        return Err(format!("it has more than {MAX_ROWS} rows"));
    }
    list.into_iter()
        .map(|row| match row {
            Value::Object(row) => Ok(row),
            _ => Err("a row is not an object".to_owned()),
        })
        .collect()
}

fn unwrap(value: Value, depth: usize) -> Result<Vec<Value>, String> {
    match value {
        Value::Array(list) => Ok(list),
        Value::Null => Ok(Vec::new()),
        Value::Object(mut object) => {
            // An issue may have members with these names too.
            let wrapper = (!object.contains_key("id"))
                .then(|| WRAPPERS.iter().find(|name| object.contains_key(**name)))
                .flatten();
            match wrapper.and_then(|name| object.remove(*name)) {
                Some(inner) if depth < 2 => unwrap(inner, depth + 1),
                None if object.contains_key("id") => Ok(vec![Value::Object(object)]),
                _ => Err(format!(
                    "it is an object with {}",
                    names(object.keys().map(String::as_str))
                )),
            }
        }
        _ => Err("it is neither a list nor an object".to_owned()),
    }
}

fn names<'a>(keys: impl Iterator<Item = &'a str>) -> String {
    let keys: Vec<String> = keys.take(6).map(|key| format!("`{}`", line(key))).collect();
    if keys.is_empty() {
        return "no members".to_owned();
    }
    keys.join(", ")
}

/// Parses a row as an issue.
fn read_issue(row: &Map<String, Value>) -> Result<Issue, String> {
    let line_of = |names: &[&str]| find_text(row, names).map(|text| line(&text));
    let id = find_id(row, &["id"])?;
    let status = find_text(row, &["status"]).ok_or("an issue has no `status`")?;
    let priority = row.get("priority");
    Ok(Issue {
        id,
        title: line_of(&["title"]).unwrap_or_default(),
        status: IssueStatus::read(&status),
        kind: line_of(&["issue_type", "type"]).unwrap_or_else(|| "task".to_owned()),
        priority: priority.and_then(|value| serde_json::Number::deserialize(value).ok()),
        assignee: line_of(&["assignee"]).filter(|name| !name.is_empty()),
        updated_at: line_of(&["updated_at"]),
        description: text(&find_text(row, &["description"]).unwrap_or_default()),
    })
}

/// Parses a row as a dependency of `of`. Rows of one tracker name both ends; rows of the other are the issue at the
/// other end.
fn read_link(row: &Map<String, Value>, of: &str) -> Result<Link, String> {
    let id = if row.contains_key("id") {
        find_id(row, &["id"])?
    } else {
        let from = find_id(row, &["issue_id"])?;
        let to = find_id(row, &["depends_on_id"])?;
        if from == of { to } else { from }
    };
    let kind = find_text(row, &["dependency_type", "dep_type", "type"])
        .ok_or("a dependency has no `type`")?;
    Ok(Link {
        kind: line(&kind),
        issue: Brief {
            id,
            title: line(&find_text(row, &["title"]).unwrap_or_default()),
            status: find_text(row, &["status"]).map(|word| IssueStatus::read(&word)),
            kind: find_text(row, &["issue_type"]).map(|kind| line(&kind)),
        },
    })
}

/// Parses a row as a comment.
fn read_comment(row: &Map<String, Value>) -> Result<Comment, String> {
    let said = find_text(row, &["text", "body", "content"]).ok_or("a comment has no `text`")?;
    Ok(Comment {
        author: line(&find_text(row, &["author", "created_by"]).unwrap_or_default()),
        created_at: find_text(row, &["created_at"]).map(|moment| line(&moment)),
        text: text(&said),
    })
}

fn find_id(row: &Map<String, Value>, names: &[&str]) -> Result<String, String> {
    let id = find_text(row, names).ok_or_else(|| format!("a row has no `{}`", names[0]))?;
    if is_id(&id) {
        Ok(id)
    } else {
        Err(format!("`{}` is not an issue id", line(&id)))
    }
}

fn find_text(row: &Map<String, Value>, names: &[&str]) -> Option<String> {
    names
        .iter()
        .find_map(|name| row.get(*name)?.as_str().map(str::to_owned))
}

// Finds the worktree's tracker: its workspace directory and its program.

/// The directory in which `br` and `bd` keep a worktree's issues.
pub const WORKSPACE: &str = ".beads";
/// Directories in it that only `bd` creates.
const OF_BD: [&str; 2] = ["dolt", "embeddeddolt"];

/// The program of a tracker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// `br` or `bd`.
    pub name: &'static str,
    /// The path of the program.
    pub program: PathBuf,
}

/// Finds the tracker in the settings. `None` means cook's own plan.
///
/// # Errors
/// `Absent` if the settings name a tracker whose program or workspace is missing.
pub fn find(kind: TrackerKind, root: &Path, path: Option<&OsStr>) -> Result<Option<Found>> {
    let is_of_bd = |name: &&str| is_directory(&root.join(WORKSPACE).join(name));
    let names: &[&'static str] = match kind {
        TrackerKind::None => return Ok(None),
        // First, so that a worktree without a workspace costs only one look-up.
        TrackerKind::Auto if !has_workspace(root) => return Ok(None),
        TrackerKind::Br => &["br"],
        TrackerKind::Bd => &["bd"],
        TrackerKind::Auto if OF_BD.iter().any(is_of_bd) => &["bd"],
        TrackerKind::Auto => &["br", "bd"],
    };
    let found = names.iter().find_map(|name| {
        let program = on_path(name, path?)?;
        Some(Found { name, program })
    });
    let why = match (has_workspace(root), found) {
        (true, Some(found)) => return Ok(Some(found)),
        _ if kind == TrackerKind::Auto => return Ok(None),
        (false, _) => format!("`{WORKSPACE}` is not a directory of this worktree"),
        (true, None) => format!("`{}` is not on PATH", names[0]),
    };
    Err(TrackerError::Absent(names[0], why))
}

/// Whether a path, relative to the worktree, belongs to a tracker and not to the work.
pub fn is_own_file(path: &str) -> bool {
    path.strip_prefix(WORKSPACE)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether there is a workspace that is a real directory; a symlink would lead out of the worktree.
fn has_workspace(root: &Path) -> bool {
    is_directory(&root.join(WORKSPACE))
}

/// The variables that name the actor; the first one that is set counts.
const NAMED_BY: [&str; 3] = ["BR_ACTOR", "BD_ACTOR", "BEADS_ACTOR"];
/// The time limit of git for a setting.
const DEADLINE: Duration = Duration::from_secs(2);

/// A name, and other names of the same person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// The name for claims.
    pub name: String,
    /// Other names by which the tracker may know the same person.
    pub also: Vec<String>,
}

impl Actor {
    /// Uses only the variable that the trackers' own programs read, if it is set. Otherwise, uses git's `user.name`,
    /// with the login and the mail address as other names.
    pub fn of(root: &Path) -> Self {
        let variable = |name: &&str| std::env::var(name).ok().filter(|value| usable(value));
        if let Some(name) = NAMED_BY.iter().find_map(variable) {
            return Self {
                name,
                also: Vec::new(),
            };
        }
        let login = ["USER", "LOGNAME"].iter().find_map(variable);
        let [name, mail] = ["user.name", "user.email"].map(|name| setting(root, name));
        let mut names: Vec<String> = [name, login, mail].into_iter().flatten().collect();
        if names.is_empty() {
            names.push("cook".to_owned());
        }
        Self {
            name: names.remove(0),
            also: names,
        }
    }

    /// Whether a name is one of this actor's.
    pub fn is(&self, name: &str) -> bool {
        name == self.name || self.also.iter().any(|also| also == name)
    }
}

/// Whether a name can be used in an argument.
fn usable(name: &str) -> bool {
    !name.trim().is_empty() && name.len() <= 200 && !name.chars().any(char::is_control)
}

/// Reads a git setting; `None` if git does not answer.
fn setting(root: &Path, name: &str) -> Option<String> {
    let argv = ["git", "config", "--get", name].map(Into::into).to_vec();
    let captured = capture(&Short {
        group: false,
        ..Short::new(argv, root, DEADLINE, 4096)
    })
    .ok()?;
    let value = String::from_utf8(captured.stdout).ok()?;
    let value = value.trim();
    usable(value).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(answer: &str) -> Result<Vec<String>, String> {
        let rows = rows(answer.as_bytes())?;
        rows.iter().map(|row| Ok(read_issue(row)?.id)).collect()
    }

    #[test]
    fn each_known_shape_gives_the_same_rows() {
        let row = r#"{"id":"a-1","title":"t","status":"open","dependencies":[]}"#;
        for answer in [
            format!("[{row}]"),
            format!(r#"{{"issues":[{row}],"total":1,"has_more":false}}"#),
            format!(r#"{{"schema_version":1,"data":[{row}]}}"#),
            format!(r#"{{"schema_version":1,"data":{{"issues":[{row}]}}}}"#),
            format!(r#"{{"schema_version":1,"data":{row}}}"#),
            row.to_owned(),
            format!("\u{feff}[{row}]\n"),
        ] {
            assert_eq!(ids(&answer), Ok(vec!["a-1".to_owned()]), "{answer}");
        }
        for none in [r#"{"schema_version":1,"data":null}"#, "null", "[]"] {
            assert_eq!(ids(none), Ok(Vec::new()));
        }
    }

    #[test]
    fn any_other_shape_is_named() {
        for (answer, what) in [
            ("", "empty"),
            ("[{\"id\":\"a\"", "breaks off"),
            ("nonsense", "not valid JSON"),
            ("[1]", "a row is not an object"),
            ("7", "neither"),
            (r#"{"rows":[]}"#, "`rows`"),
            (r#"{"data":{"data":{"data":[]}}}"#, "object with no members"),
            (r#"[{"id":"a"}]"#, "no `status`"),
            (r#"[{"id":7,"status":"open"}]"#, "no `id`"),
            (
                r#"[{"id":"--force","status":"open"}]"#,
                "`--force` is not an issue id",
            ),
            (
                r#"[{"id":"a b","status":"open"}]"#,
                "`a b` is not an issue id",
            ),
        ] {
            let error = ids(answer).unwrap_err();
            assert!(error.contains(what), "{answer}: {error}");
        }
        let deep = "[".repeat(100_000);
        assert!(ids(&deep).is_err());
    }

    #[test]
    fn the_error_starts_at_the_first_line_that_is_a_brace() {
        let logs = "2026 INFO {\"error\":{\"code\":\"NO\"}}\n  {\n{\r\n  \"error\": {\n    \"code\": \"ISSUE_NOT_FOUND\",\n    \"message\": \"no\\u001b[31m such\"\n  }\n}\n2026 DEBUG bye\n";
        let found = complaint(logs).unwrap();
        assert_eq!(found.code, "ISSUE_NOT_FOUND");
        assert_eq!(found.message, "no such");
        assert_eq!(complaint("INFO all well\n"), None);
        assert_eq!(complaint("{\n  \"error\": {\n"), None);
        let flat =
            complaint("{\n\"error\": \"database is locked\", \"code\": \"busy\"}\n").unwrap();
        assert_eq!(flat.code, "busy");
    }

    #[test]
    fn dependencies_of_both_forms_name_the_other_end() {
        let read = |text: &str| read_link(&rows(text.as_bytes()).unwrap()[0], "a-1").unwrap();
        let up = read(r#"[{"issue_id":"b-2","depends_on_id":"a-1","type":"blocks","title":"t"}]"#);
        assert_eq!((up.issue.id.as_str(), up.blocks()), ("b-2", true));
        let down = read(r#"[{"issue_id":"a-1","depends_on_id":"c-3","type":"parent-child"}]"#);
        assert_eq!((down.issue.id.as_str(), down.is_parent()), ("c-3", true));
        let bd = read(
            r#"[{"id":"d-4","issue_type":"bug","status":"closed","dependency_type":"frobs"}]"#,
        );
        assert!(bd.issue.is_closed() && !bd.blocks() && !bd.is_parent());
    }

    proptest::proptest! {
        #[test]
        fn no_answer_makes_it_panic(bytes: Vec<u8>, wrapper in "(data|issues|id|error|type)?", inner in "[\\[\\]{}\"a:,0-9.n-]{0,40}") {
            let wrapped = format!("{{\n\"{wrapper}\":{inner}}}");
            for text in [String::from_utf8_lossy(&bytes).into_owned(), wrapped] {
                let _ = complaint(&text);
                if let Ok(rows) = rows(text.as_bytes()) {
                    for row in &rows {
                        let _ = (read_issue(row), read_link(row, "a"), read_comment(row));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tracker_place_tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn program(directory: &Path, name: &str) {
        std::fs::create_dir_all(directory).unwrap();
        let path = directory.join(name);
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn auto_needs_a_workspace_and_a_program() {
        let temp = tempfile::tempdir().unwrap();
        let (root, bin) = (temp.path().join("work"), temp.path().join("bin"));
        std::fs::create_dir_all(&root).unwrap();
        program(&bin, "bd");
        let path = Some(bin.as_os_str());
        let auto = || {
            find(TrackerKind::Auto, &root, path)
                .unwrap()
                .map(|found| found.name)
        };
        assert_eq!(auto(), None);
        std::os::unix::fs::symlink(&bin, root.join(WORKSPACE)).unwrap();
        assert_eq!(auto(), None, "a link is not a workspace");
        std::fs::remove_file(root.join(WORKSPACE)).unwrap();
        std::fs::create_dir(root.join(WORKSPACE)).unwrap();
        assert_eq!(auto(), Some("bd"));
        program(&bin, "br");
        assert_eq!(auto(), Some("br"));
        std::fs::create_dir(root.join(WORKSPACE).join("dolt")).unwrap();
        assert_eq!(auto(), Some("bd"), "a store of bd");
        assert_eq!(find(TrackerKind::None, &root, path).unwrap(), None);
    }

    #[test]
    fn a_named_tracker_that_is_not_there_is_an_error() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("work");
        std::fs::create_dir_all(&root).unwrap();
        let error = |path| find(TrackerKind::Br, &root, path).unwrap_err().to_string();
        assert!(error(None).contains("not a directory of this worktree"));
        std::fs::create_dir(root.join(WORKSPACE)).unwrap();
        assert!(error(Some(OsStr::new("bin:.::"))).contains("not on PATH"));
    }

    #[test]
    fn own_files_are_those_of_the_workspace() {
        assert!(is_own_file(".beads") && is_own_file(".beads/issues.jsonl"));
        assert!(!is_own_file(".beadsx") && !is_own_file("src/.beads/x"));
    }
}
