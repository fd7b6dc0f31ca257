//! git as this crate asks it: by the program that the user trusted, without anybody's settings.

use cook_os::process::{Short, capture};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(60);
const LIMIT: usize = 16 << 20;

/// The environment of such a git, which is looked for on that path.
pub(crate) fn plain_git(path: &OsStr) -> Vec<(&'static str, OsString)> {
    let values = [
        ("LC_ALL", "C"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_SYSTEM", "/dev/null"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_ATTR_NOSYSTEM", "1"),
        ("GIT_NO_REPLACE_OBJECTS", "1"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        // Where git finds its own parts is for itself to say.
        ("GIT_EXEC_PATH", ""),
        // Indexes beside the objects say what nobody hashed.
        ("GIT_CONFIG_COUNT", "2"),
        ("GIT_CONFIG_KEY_0", "core.commitGraph"),
        ("GIT_CONFIG_VALUE_0", "false"),
        ("GIT_CONFIG_KEY_1", "core.multiPackIndex"),
        ("GIT_CONFIG_VALUE_1", "false"),
        // git's own default for attributes is a file of the user's.
        ("XDG_CONFIG_HOME", "/dev/null"),
        ("HOME", "/dev/null"),
    ];
    let mut all: Vec<(&'static str, OsString)> = values
        .map(|(name, value)| (name, OsString::from(value)))
        .to_vec();
    all.push(("PATH", path.to_owned()));
    all
}

/// Where settings stand.
pub(crate) enum Text {
    Bytes(Vec<u8>),
    File(PathBuf),
}

/// Keys and values of a text in git's form, in their order: a later one holds. What is wrong with it
/// otherwise; a file that is not there holds none.
pub(crate) fn settings(
    text: Text,
    dir: &Path,
    path: &OsStr,
) -> Result<Vec<(String, Vec<u8>)>, String> {
    let (file, stdin) = match text {
        Text::Bytes(bytes) => (OsString::from("-"), bytes),
        Text::File(file) => (file.into_os_string(), Vec::new()),
    };
    let mut argv = ["git", "config", "--no-includes", "--file"]
        .map(OsString::from)
        .to_vec();
    argv.push(file);
    argv.extend(["-z", "--get-regexp", "."].map(OsString::from));
    let captured = capture(&Short {
        argv,
        dir,
        env: plain_git(path),
        stdin,
        deadline: DEADLINE,
        limit: LIMIT,
        group: false,
    });
    let captured = captured.map_err(|error| error.to_string())?;
    if !matches!(captured.code, Some(0 | 1)) {
        return Err(captured.stderr.trim().to_owned());
    }
    let lines = captured.stdout.split(|byte| *byte == 0);
    let found = lines.filter_map(|line| {
        let end = line.iter().position(|byte| *byte == b'\n')?;
        let key = String::from_utf8_lossy(&line[..end]).into_owned();
        Some((key, line[end + 1..].to_vec()))
    });
    Ok(found.collect())
}

/// The name and the last part of a key of that section.
pub(crate) fn within<'k>(key: &'k str, section: &str) -> Option<(&'k str, &'k str)> {
    key.strip_prefix(section)?
        .strip_prefix('.')?
        .rsplit_once('.')
}
