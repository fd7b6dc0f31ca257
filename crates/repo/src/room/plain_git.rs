//! git as this crate asks it: by the program that the user trusted, without anybody's settings.

use crate::process::{Captured, LENT_VARIABLE, Short, capture, join_lent};
use crate::room::RoomError;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

/// For one walk of the whole history, or a copy of it: a minute may pass over a million objects.
const DEADLINE: Duration = Duration::from_secs(60 * 60);
/// Bytes of an answer.
const LIMIT: usize = 1 << 30;

/// The environment of such a git.
const ENVIRONMENT: [(&str, &str); 16] = [
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
];

/// Where such a git is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Git<'a> {
    /// Where programs are looked for.
    pub path: &'a OsStr,
    pub dir: &'a Path,
}

impl Git<'_> {
    /// What git says to the words of a line, and to more, and how it ends; `lent` = with the objects of another
    /// repository.
    pub fn ask(
        &self,
        line: &str,
        more: &[&dyn AsRef<OsStr>],
        lent: Option<&Path>,
        stdin: impl Into<Vec<u8>>,
    ) -> Result<Captured, RoomError> {
        let own = ENVIRONMENT.map(|(name, value)| (name, OsString::from(value)));
        let mut env = own.to_vec();
        env.push(("HOME", "/dev/null".into()));
        env.push(("PATH", self.path.to_owned()));
        env.extend(lent.map(|lent| (LENT_VARIABLE, join_lent(&[lent]))));
        let words = ["git"].into_iter().chain(line.split_whitespace());
        let words = words.map(OsString::from);
        let more = more.iter().map(|word| word.as_ref().to_owned());
        let captured = capture(&Short {
            argv: words.chain(more).collect(),
            dir: self.dir,
            env,
            stdin: stdin.into(),
            deadline: DEADLINE,
            limit: LIMIT,
            group: false,
        });
        captured.map_err(|error| RoomError::Git(error.to_string()))
    }

    /// The same where these exit codes alone are an answer.
    pub fn answer(
        &self,
        line: &str,
        more: &[&dyn AsRef<OsStr>],
        stdin: impl Into<Vec<u8>>,
        codes: &[i32],
    ) -> Result<Vec<u8>, RoomError> {
        let captured = self.ask(line, more, None, stdin)?;
        match captured.code.is_some_and(|code| codes.contains(&code)) {
            true => Ok(captured.stdout),
            false => Err(RoomError::Git(complaint(&captured))),
        }
    }

    /// Keys and values of settings in a file, in their order: a later one holds. `-` is what git reads
    /// from its input; a file that is not there holds none.
    pub fn settings(
        &self,
        file: &OsStr,
        text: impl Into<Vec<u8>>,
    ) -> Result<Vec<(String, Vec<u8>)>, String> {
        let more: [&dyn AsRef<OsStr>; 3] = [&file, &"--get-regexp", &"."];
        let answer = self.answer("config --no-includes -z --file", &more, text, &[0, 1]);
        let answer = answer.map_err(|error| error.to_string())?;
        let lines = answer.split(|byte| *byte == 0);
        let found = lines.filter_map(|line| {
            let end = line.iter().position(|byte| *byte == b'\n')?;
            let key = String::from_utf8_lossy(&line[..end]).into_owned();
            Some((key, line[end + 1..].to_vec()))
        });
        Ok(found.collect())
    }
}

/// What git complains of, without its advice and its progress.
pub(crate) fn complaint(captured: &Captured) -> String {
    let lines = captured.stderr.lines().map(str::trim);
    let is_wrong = |line: &&str| line.contains("fatal:") || line.contains("error:");
    let wrong: Vec<&str> = lines.filter(is_wrong).take(3).collect();
    match wrong.is_empty() {
        true => captured.stderr.trim().to_owned(),
        false => wrong.join("; "),
    }
}

/// The name and the last part of a key of that section.
pub(crate) fn within<'k>(key: &'k str, section: &str) -> Option<(&'k str, &'k str)> {
    key.strip_prefix(section)?
        .strip_prefix('.')?
        .rsplit_once('.')
}
