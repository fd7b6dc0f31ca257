//! Files of source as they were before a change, beside the tests as they are.

use cook_core::diagnostic::Failure;
use cook_git::{Edit, Entry, Repo};
use cook_store::receipt::TakenBack;
use cook_strength::{Class, classify, without_change};

/// The edits of source; `commands` are those that decide what passes.
pub(crate) fn sources<'e>(edits: &'e [Edit], commands: &[String]) -> Vec<&'e Edit> {
    edits
        .iter()
        .filter(|edit| classify(&edit.change.path, commands) == Class::Source)
        .collect()
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
