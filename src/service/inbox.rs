//! The inbox. A command inside an agent's sandbox that cannot write to the log leaves its request as
//! `.agent/inbox/<id>.json`. The next hook or writing command outside takes it in, as a submission by hand without an
//! attested session.
//!
//! Invariants: a request is a report, a checkpoint or a note of the brief. Files are regular, of bounded size and
//! number, and never read through a link. Each is taken in once, in the order of the ids, or is renamed and reported.

use super::prompting::fits;
use super::transition::{apply_without_gates, transition};
use crate::prelude::*;
use crate::workspace::Workspace;
use cook_protocol::brief::not_user;
use cook_protocol::diagnostic::redact;
use cook_protocol::model::{BriefChange, MAX_CHECKPOINT_TEXT};
use cook_protocol::report::{self, Provenance, Reported};
use cook_repo::disk::is_directory;
use std::io::{self, ErrorKind};

/// Size limit of a file in bytes, and number of files that are taken in at once.
const MAX_FILE: u64 = 2 << 20;
const MAX_FILES: usize = 100;
/// Extension of a file that was refused.
const ASIDE: &str = "refused";

/// What a request asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub enum Asked {
    /// `cook record`.
    Record {
        /// The role, as on the command line.
        role: String,
        /// Its report.
        report: String,
        /// The ticket that came with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ticket: Option<String>,
    },
    /// `cook brief checkpoint`.
    Checkpoint {
        /// The checkpoint's text.
        text: String,
        /// The slice or issue that it belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        item: Option<String>,
    },
    /// `cook brief note`.
    BriefNote {
        /// The entries to add, and changes to others.
        change: BriefChange,
        /// The author of the note.
        by: String,
    },
}

/// One request file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Always 1.
    pub schema_version: SchemaVersion,
    /// When it was written.
    pub at: Timestamp,
    /// The session that it comes from, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// What it asks for.
    pub request: Asked,
}

/// Who takes the inbox in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taker {
    /// A command, which may run gates.
    Command,
    /// A hook, which never runs a gate: requests that need one wait for a command.
    Hook,
}

/// Whether this process cannot write to the log, as inside an agent's sandbox.
pub fn is_shut_out(workspace: &Workspace, failure: &Failure) -> bool {
    if failure.kind != FailureKind::State || workspace.store.is_none() {
        return false;
    }
    let log = workspace.place().common_dir.join("cook");
    let probe = tempfile::Builder::new().prefix("probe-").tempfile_in(log);
    probe.is_err_and(|error| {
        matches!(
            error.kind(),
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
        )
    })
}

/// Writes a request. Returns its path relative to the worktree.
///
/// # Errors
/// `.agent/inbox` cannot be created or written.
pub fn leave(workspace: &Workspace, session: Option<String>, request: Asked) -> io::Result<String> {
    let dir = inbox(workspace.repo.root());
    match std::fs::create_dir(&dir) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    if !is_directory(&dir) {
        return Err(io::Error::other("`.agent/inbox` is not a directory"));
    }
    let request = Request {
        schema_version: SchemaVersion,
        at: Timestamp::Text(workspace.clock.now()),
        session,
        request,
    };
    let name = format!("{}.json", ulid::Ulid::generate());
    NewFile::at(&dir.join(&name), Durable::Content)
        .over_nothing()
        .write(&serde_json::to_vec_pretty(&request)?)?;
    Ok(format!(".agent/inbox/{name}"))
}

/// Takes in the waiting requests. Returns a finding for each that was accepted or refused.
///
/// # Errors
/// An inbox that cannot be read. Requests that cannot be taken in now stay.
pub fn take_inbox(workspace: &Workspace, taker: Taker) -> Result<Vec<Finding>> {
    let dir = inbox(workspace.repo.root());
    if workspace.store.is_none() || !is_directory(&dir) {
        return Ok(Vec::new());
    }
    let mut findings = Vec::new();
    for path in waiting(&dir).map_err(|error| unreadable(&error))? {
        let place = describe_path(&path);
        match take(workspace, &path, taker) {
            Ok(Some(what)) => {
                if let Err(error) = std::fs::remove_file(&path) {
                    // Otherwise it would be taken in again each time.
                    return Err(unreadable(&error));
                }
                findings.push(Finding::new(Code::InboxTaken, what).at(place));
            }
            Ok(None) => break,
            Err(failure) if waits(&failure) => break,
            Err(failure) => {
                set_aside(&path).map_err(|error| unreadable(&error))?;
                let what = format!("it was not taken in: {}", failure.message);
                findings.push(Finding::new(Code::InboxRefused, what).at(place));
            }
        }
    }
    Ok(findings)
}

fn inbox(root: &Path) -> PathBuf {
    root.join(".agent").join("inbox")
}

fn unreadable(error: &io::Error) -> Failure {
    Failure::state(Code::NotWritable, "`.agent/inbox` cannot be emptied").with_cause(error)
}

/// Whether the obstacle is temporary, such as a held lock or lease or a full disk.
fn waits(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::Held | FailureKind::State)
        && failure.code != Code::InputUnreadable
}

/// Waiting files, oldest first. A file that is still being written has another extension.
fn waiting(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            paths.push(path);
        }
    }
    paths.sort();
    paths.truncate(MAX_FILES);
    Ok(paths)
}

fn describe_path(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!(".agent/inbox/{}", clean(&name, Lines::Fold))
}

/// Renames a file so that it is not read again. A link is renamed itself, not its target.
fn set_aside(path: &Path) -> io::Result<()> {
    std::fs::rename(path, path.with_extension(ASIDE))
}

/// Takes one request in. Returns a description, or `None` if it needs a gate, which a hook does not run.
fn take(workspace: &Workspace, path: &Path, taker: Taker) -> Result<Option<String>> {
    let Request {
        at,
        session,
        request,
        ..
    } = read(path)?;
    let session = session.map(|session| clean(&session, Lines::Fold));
    match request {
        Asked::Record {
            role,
            report,
            ticket,
        } => record(
            workspace,
            &role,
            &report,
            Provenance {
                session,
                ticket,
                began_at: None,
            },
            taker,
        ),
        Asked::Checkpoint { text, item } => checkpoint(workspace, path, at, session, &text, item),
        Asked::BriefNote { change, by } => note(workspace, change, &by, session),
    }
}

fn refuse_input(what: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Refused, Code::InputUnreadable, what)
}

fn read(path: &Path) -> Result<Request> {
    let bytes = disk::read(path, MAX_FILE, Links::Refuse)
        .map_err(|error| refuse_input(format!("it cannot be read: {error}")))?
        .unwrap_or_default();
    serde_json::from_slice(&bytes)
        .map_err(|error| refuse_input(format!("it is not a request of cook's: {error}")))
}

fn record(
    workspace: &Workspace,
    role: &str,
    text: &str,
    provenance: Provenance,
    taker: Taker,
) -> Result<Option<String>> {
    let role = Role::parse(role).ok_or_else(|| refuse_input("it names no role"))?;
    let parsed = report::parse(role, text.as_bytes());
    let given = provenance.ticket.clone();
    let event = match parsed.report {
        Some(report) if parsed.findings.is_empty() => match report::event(&report, provenance) {
            Reported::Event(event) => *event,
            Reported::Nothing => return Err(refuse_input("it asks for nothing")),
        },
        _ => {
            return Err(refuse_input(format!(
                "the {role} report breaks its grammar"
            )));
        }
    };
    let (tip, snapshot) = workspace.require()?;
    if let Some(given) = given {
        let head = workspace.repo.head()?;
        if !fits(workspace, role, &given, Some((&tip, &snapshot)), &head)? {
            return Err(refuse_input(
                "the log or HEAD moved since its ticket was given",
            ));
        }
    }
    let applied = match taker {
        Taker::Hook => match apply_without_gates(workspace, &event, Actor::Role) {
            Err(failure) if failure.code == Code::FactMissing => return Ok(None),
            applied => applied?,
        },
        _ => transition(workspace, &event, Actor::Role)?,
    };
    Ok(Some(format!(
        "the {role} report of a sandboxed session is #{}",
        applied.step.snapshot.ledger.seq.0
    )))
}

fn checkpoint(
    workspace: &Workspace,
    path: &Path,
    at: Timestamp,
    session: Option<String>,
    text: &str,
    item: Option<String>,
) -> Result<Option<String>> {
    let text = redact(&clean(text, Lines::Keep));
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_CHECKPOINT_TEXT {
        return Err(refuse_input(format!(
            "a checkpoint has 1 to {MAX_CHECKPOINT_TEXT} bytes"
        )));
    }
    if item
        .as_deref()
        .is_some_and(|item| !machine::id_is_valid(item))
    {
        return Err(refuse_input("it names no slice and no issue"));
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let entry = Checkpoint {
        id: format!("inbox:{}", clean(&stem, Lines::Fold)),
        schema_version: SchemaVersion,
        at,
        kind: CheckpointKind::Manual,
        text: text.to_owned(),
        item,
        session,
        agent: None,
        commit: workspace.repo.head()?.commit,
    };
    if entry.id.len() > 90 {
        return Err(refuse_input("its name is too long"));
    }
    workspace.store()?.append_checkpoint(&entry)?;
    Ok(Some(
        "the checkpoint of a sandboxed session is in the trail".to_owned(),
    ))
}

fn note(
    workspace: &Workspace,
    change: BriefChange,
    by: &str,
    session: Option<String>,
) -> Result<Option<String>> {
    if change.whole || change.guide.is_some() {
        return Err(refuse_input("a note adds entries and nothing else"));
    }
    let by: String = clean(by, Lines::Fold).chars().take(100).collect();
    let by = not_user(by)?;
    let event = Event::Briefed {
        change,
        by,
        session,
    };
    match transition(workspace, &event, Actor::Role) {
        Ok(applied) => Ok(Some(format!(
            "the note of a sandboxed session is #{}",
            applied.step.snapshot.ledger.seq.0
        ))),
        Err(failure) if failure.code == Code::BriefUnchanged => {
            Ok(Some("the brief already contains this".to_owned()))
        }
        Err(failure) => Err(failure),
    }
}
