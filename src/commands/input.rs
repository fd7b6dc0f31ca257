//! Reads the input of a command from a file or standard input, and checks where it may write.

use crate::prelude::*;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::fs::File;
use std::io;
use std::io::Read;

/// The largest input, in bytes. Reports above 1 MiB are refused by the report parser with a clear message, so a larger
/// input is let through to it.
const MAX_INPUT: u64 = 16 << 20;

/// Accepts free text, which may begin with a hyphen, as a list item or a number does. Refuses a single word that looks
/// like an option: it is more likely a mistyped option.
pub(super) fn free_text(text: &str) -> Result<String, String> {
    let word = text.strip_prefix("--").unwrap_or_default();
    let begins = word.starts_with(|c: char| c.is_ascii_alphabetic());
    if begins && !text.contains(char::is_whitespace) {
        return Err("it looks like an option; put a word before it".to_owned());
    }
    Ok(text.to_owned())
}

/// Parses one of `all` by its id.
pub(super) fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    all: &'static [T; N],
    id: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.map(id))
        .try_map(move |name| all.iter().copied().find(|one| id(*one) == name).ok_or(name))
}

/// Reads a file; `-` or `None` means standard input.
pub(super) fn read(file: Option<&Path>) -> Result<Vec<u8>> {
    read_up_to(file, MAX_INPUT)
}

/// Like [`read`], with another limit in bytes.
pub(super) fn read_up_to(file: Option<&Path>, limit: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = file.filter(|path| *path != Path::new("-"));
    let name = file.map_or("standard input".to_owned(), |path| {
        path.display().to_string()
    });
    let read = match file {
        Some(path) => {
            File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes))
        }
        None => io::stdin().lock().take(limit + 1).read_to_end(&mut bytes),
    };
    read.or_fail(Code::InputUnreadable, format!("`{name}` cannot be read"))?;
    if bytes.len() as u64 > limit {
        let what = format!("`{name}` is larger than {} MiB", limit >> 20);
        return Err(Failure::state(Code::InputTooLarge, what));
    }
    Ok(bytes)
}

/// Reads a file and refuses anything but a regular file; `-` means standard input.
pub(super) fn read_regular(path: &Path, limit: u64) -> Result<Vec<u8>> {
    if path == Path::new("-") {
        return read_up_to(None, limit);
    }
    let name = path.display();
    let unreadable = || Failure::state(Code::InputUnreadable, format!("`{name}` cannot be read"));
    match disk::read(path, limit, Links::Follow) {
        Ok(read) => read.ok_or_else(unreadable),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            let what = format!("`{name}` is larger than {} MiB", limit >> 20);
            Err(Failure::state(Code::InputTooLarge, what))
        }
        Err(error) => Err(unreadable().with_cause(&error)),
    }
}

/// Like [`read`], but returns text without a byte order mark.
pub(super) fn read_text(file: Option<&Path>) -> Result<String> {
    let bytes = read(file)?;
    let text = String::from_utf8(bytes).or_fail(Code::InputUnreadable, "the input is not UTF-8")?;
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

/// Returns the argument itself; `-` means standard input.
pub(super) fn read_argument(argument: &str) -> Result<String> {
    match argument {
        "-" => read_text(None),
        text => Ok(text.to_owned()),
    }
}

/// The mission given on the command line.
pub(super) fn mission_text(text: Option<&str>, file: Option<&Path>) -> Result<Option<String>> {
    let mission = match (text, file) {
        (Some(text), _) => Some(text.to_owned()),
        (None, Some(file)) => Some(read_text(Some(file))?),
        (None, None) => None,
    };
    match mission {
        Some(text) if text.trim().is_empty() => Err(Failure::usage("the mission is empty")),
        other => Ok(other),
    }
}

/// Refuses to write a file in git's own directory.
pub(super) fn require_outside_git(dir: &Path, target: &Path) -> Result<()> {
    let parent = target.parent().filter(|parent| *parent != Path::new(""));
    let Ok(parent) = parent.unwrap_or(Path::new(".")).canonicalize() else {
        // The write itself reports a missing directory.
        return Ok(());
    };
    let repo = Repo::discover(dir).ok();
    let own = repo
        .iter()
        .flat_map(|repo| [repo.git_dir(), repo.common_dir()]);
    let is_in = own
        .filter_map(|own| own.canonicalize().ok())
        .any(|own| parent.starts_with(own));
    if is_in || parent.components().any(|part| part.as_os_str() == ".git") {
        let what = format!("`{}` is in git's own directory", target.display());
        return Err(Failure::usage(what).hint("name a file elsewhere"));
    }
    Ok(())
}
