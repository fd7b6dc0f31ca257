//! Files of source as they were before a change, beside the tests as they are.

use cook_mutants::{Class, Language, classify_texts, is_in_tests, without_change};
use cook_protocol::diagnostic::{Failure, Lines, clean};
use cook_repo::git::{ChangeKind, Edit, Entry, MAX_EDITS, MAX_TEXT, Repo};
use cook_repo::receipt::TakenBack;

/// The edits of source; `commands` are those that decide what passes.
pub(crate) fn sources<'e>(edits: &'e [Edit], commands: &[String]) -> Vec<&'e Edit> {
    edits
        .iter()
        .filter(|edit| find_class(edit, commands) == Class::Source)
        .collect()
}

/// What an edited file is for; where nobody read it, by its path.
pub(super) fn find_class(edit: &Edit, commands: &[String]) -> Class {
    let texts = edit.texts.as_ref();
    let texts = texts.map_or([None, None], |(before, after)| {
        [before.as_deref(), after.as_deref()]
    });
    classify_texts(&edit.change.path, commands, texts)
}

/// Code that came or changed and that nobody can read: no text, or too much of it.
pub(crate) fn list_unread(edits: &[Edit], commands: &[String]) -> Vec<String> {
    let is_code = |edit: &&Edit| {
        let path = &edit.change.path;
        edit.texts.is_none()
            && edit.change.kind != ChangeKind::Deleted
            && Language::of(path, "") != Language::Other
            // Elsewhere its place says nothing of it.
            && !is_in_tests(path)
            && find_class(edit, commands) != Class::Gate
    };
    let unread = edits.iter().filter(is_code);
    unread
        .map(|edit| clean(&edit.change.path, Lines::Fold))
        .collect()
}

/// Why nothing is known of it.
pub(crate) fn tell_unread(unread: &[String]) -> Option<String> {
    /// Files that are named.
    const NAMED: usize = 5;
    if unread.is_empty() {
        return None;
    }
    let more = match unread.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named: Vec<&str> = unread.iter().take(NAMED).map(String::as_str).collect();
    Some(format!(
        "nobody could plant a defect in `{}`{more}: what is not UTF-8, has more than {} KiB, or comes after {MAX_EDITS} other files or 64 MiB of them, is not read",
        named.join("`, `"),
        MAX_TEXT / 1024
    ))
}

/// These files as they were at the first commit, with the tests of the second one; or why that
/// cannot be told.
pub(crate) fn read_files_before(
    repo: &Repo,
    sources: &[&Edit],
    span: (&str, &str),
) -> Result<Result<Vec<TakenBack>, String>, Failure> {
    let mut files = Vec::new();
    for edit in sources {
        let path = edit.change.path.as_str();
        match read_file_before(repo, edit, span)? {
            Some(file) => files.push(file),
            None => return Ok(Err(format!("`{path}` holds tests of its own, or no text"))),
        }
    }
    Ok(Ok(files))
}

fn read_file_before(
    repo: &Repo,
    edit: &Edit,
    (base, head): (&str, &str),
) -> Result<Option<TakenBack>, Failure> {
    let path = &edit.change.path;
    let entry = repo.tree_entry(base, path)?;
    let runs = entry.as_ref().is_some_and(|entry| entry.mode == "100755");
    // A link or a submodule is no text that could be put back.
    let now = repo.tree_entry(head, path)?;
    let mut sides = entry.iter().chain(&now);
    let is_file = sides.all(|entry| entry.mode.starts_with("100"));
    let bytes = match &edit.texts {
        Some((before, after)) => match without_change(path, before.as_deref(), after.as_deref()) {
            Some(text) => text.map(String::into_bytes),
            None => return Ok(None),
        },
        None => match repo.entry(base, path)? {
            Entry::Nothing => None,
            Entry::File { bytes, .. } => Some(bytes),
            _ => return Ok(None),
        },
    };
    let file = TakenBack {
        path: path.clone(),
        bytes,
        runs,
    };
    Ok(is_file.then_some(file))
}
