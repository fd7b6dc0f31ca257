//! One case: a copy of a repository in which a role is due on a done slice's work, as it was or with a
//! fault in it.
//!
//! The work is committed and reported as it was, its gates run, and what was recorded after it is
//! recorded again until the role is due. Whatever the machine refuses on the way makes no case.

use super::done_work::{DoneSlice, Source};
use crate::service::{self, ByCookOutcome, Workspace, find_place};
use cook_mutants::Fault;
use cook_protocol::diagnostic::{Code, Failure, FailureKind};
use cook_protocol::model::{Actor, Event, Role};
use cook_repo::disk::TemporaryDir;
use std::path::{Path, PathBuf};

/// Steps to a role, at most.
const MOST_STEPS: usize = 40;

/// A case that is ready to be asked about.
pub(super) struct Case {
    pub root: PathBuf,
    /// The log's newest transition before the session.
    pub tip: String,
    _dir: TemporaryDir,
}

/// What became of making one.
pub(super) enum Made {
    Ready(Box<Case>),
    /// Why the role is not due there: most often because a gate notices the fault.
    Unusable(String),
}

/// Makes a case.
///
/// # Errors
/// A copy that cannot be made, an interruption, unreadable state.
pub(super) fn make(
    source: &Source,
    past: &DoneSlice,
    fault: Option<&Fault>,
    role: Role,
) -> Result<Made, Failure> {
    let dir = TemporaryDir::make().map_err(|error| {
        Failure::state(Code::NotWritable, "no directory can be made for a case").with_cause(&error)
    })?;
    let name = source.workspace.repo.root().file_name();
    let root = dir.path().join(name.unwrap_or("work".as_ref()));
    let made = replay(source, past, fault, role, &root);
    match made {
        Ok(Ok(tip)) => Ok(Made::Ready(Box::new(Case {
            root,
            tip,
            _dir: dir,
        }))),
        Ok(Err(why)) => Ok(Made::Unusable(why)),
        Err(failure) if failure.kind == FailureKind::Refused => Ok(Made::Unusable(failure.message)),
        Err(failure) => Err(failure),
    }
}

/// Opens a copy: its gates are those that were trusted where it comes from, nothing of it is pushed, and
/// nobody is told what happens in it.
pub(super) fn open(root: &Path) -> Result<Workspace, Failure> {
    let mut workspace = Workspace::open(root)?;
    workspace.trust_everything = true;
    workspace.pushes_later = true;
    workspace.tells_nobody = true;
    Ok(workspace)
}

/// The log's newest transition where the role is due, or why it is not.
fn replay(
    source: &Source,
    past: &DoneSlice,
    fault: Option<&Fault>,
    role: Role,
    root: &Path,
) -> Result<Result<String, String>, Failure> {
    let store = source.workspace.store()?;
    let before = store.entry(&past.before)?.snapshot;
    let repo = &source.workspace.repo;
    let seen = match &before.ledger.head_seen {
        Some(seen) => repo.resolve(seen)?,
        None => None,
    };
    let Some(seen) = seen else {
        return Ok(Err("where its work began is not there any more".to_owned()));
    };
    if seen == past.commit || !repo.is_ancestor(&seen, &past.commit)? {
        return Ok(Err("its work does not follow where it began".to_owned()));
    }
    let copy = repo.copy_to(root, before.ledger.branch.as_deref(), &seen)?;
    store.copy_until(&past.before, find_place(&copy))?;
    let texts = fault.map(|fault| (fault.path.clone(), fault.text.clone()));
    let commit = copy.commit_like(&past.commit, texts.as_slice())?;
    let workspace = open(root)?;
    service::show_tip(&workspace)?;
    let mut events = past.events.iter();
    let mut is_reported = false;
    for _ in 0..MOST_STEPS {
        let workspace = open(root)?;
        let (tip, snapshot) = workspace.require()?;
        let (due, _) = service::dispatch_now(&workspace, Some(&snapshot))?;
        if due.waits_for_gates() {
            service::transition(&workspace, &Event::Verified, Actor::Runner)?;
            continue;
        }
        if is_reported && due.role == Some(role) {
            return Ok(Ok(tip.commit));
        }
        if is_reported && due.role == Some(Role::Implementer) {
            return Ok(Err("its gates notice it".to_owned()));
        }
        let Some(meta) = events.next() else {
            return Ok(Err(format!("no {role} was due after it")));
        };
        let event = store.event(&meta.commit)?;
        match &event {
            Event::Implemented { .. } if !is_reported => is_reported = true,
            Event::Implemented { .. } | Event::Returned { .. } | Event::Undone { .. } => {
                return Ok(Err(format!("no {role} was due after it")));
            }
            Event::RegroundedByCook { .. } => match service::reground_by_cook(&workspace, None)? {
                ByCookOutcome::Applied(_) => continue,
                ByCookOutcome::Model(why) => return Ok(Err(why)),
                ByCookOutcome::NotDue => return Ok(Err("another role is due".to_owned())),
            },
            Event::Reviewed { .. } | Event::Audited { .. } | Event::Regrounded { .. } => {}
            // What only passes by, or is of a vote that comes after.
            _ => continue,
        }
        let event = of_copy(&event, &past.commit, &commit)?;
        service::transition(&workspace, &event, Actor::Role)?;
    }
    Ok(Err(format!("no {role} was due after it")))
}

/// The event as it is of the copy's commit; its session and its ticket are of another log.
fn of_copy(event: &Event, from: &str, to: &str) -> Result<Event, Failure> {
    let fail = |error: serde_json::Error| {
        Failure::state(Code::LogDamaged, "an event of the log cannot be read").with_cause(&error)
    };
    let text = serde_json::to_string(event).map_err(fail)?;
    let mut event: Event = serde_json::from_str(&rename(&text, from, to)).map_err(fail)?;
    match &mut event {
        Event::Implemented { submission, .. }
        | Event::Reviewed { submission, .. }
        | Event::Audited { submission, .. }
        | Event::Regrounded { submission, .. } => {
            submission.session = None;
            submission.ticket = None;
            submission.began_at = None;
        }
        _ => {}
    }
    Ok(event)
}

/// Shortest beginning of a commit's name that counts as one.
const SHORTEST: usize = 7;

/// The text with each word that is a commit's name, or begins it, as the other's.
fn rename(text: &str, from: &str, to: &str) -> String {
    let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_hex) {
        let joins = |c: char| c.is_alphanumeric() || c == '_';
        let is_begun = rest[..at].chars().next_back().is_some_and(joins)
            || (at == 0 && out.chars().next_back().is_some_and(joins));
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.find(|c| !joins(c)).unwrap_or(rest.len());
        let word = &rest[..end];
        match !is_begun && word.len() >= SHORTEST && from.starts_with(word) {
            true => out.push_str(&to[..word.len().min(to.len())]),
            false => out.push_str(word),
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_names_and_their_beginnings_become_others() {
        let (from, to) = ("abcdef0123456789", "1111111111111111");
        for (text, expected) in [
            ("commit abcdef0123456789.", "commit 1111111111111111."),
            ("git:abcdef012:a.rs", "git:111111111:a.rs"),
            ("abcdef", "abcdef"),
            ("xabcdef0123", "xabcdef0123"),
            ("abcdef01234567890", "abcdef01234567890"),
            ("a_abcdef0 é abcdef0", "a_abcdef0 é 1111111"),
            ("", ""),
        ] {
            assert_eq!(rename(text, from, to), expected, "{text}");
        }
    }
}
