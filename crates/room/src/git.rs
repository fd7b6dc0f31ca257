//! git as this crate asks it: by the program that the user trusted, without anybody's settings.

use std::ffi::{OsStr, OsString};

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
