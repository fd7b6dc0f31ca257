//! The environment of a program in a clean room: an allowlist of names. More than thirty variables make common tools
//! run other code or skip tests, so a denylist would never be complete.
//!
//! Also the files through which a CI step passes outputs, variables, search path and summary to its runner. A gate does
//! not get their paths, and in the sandbox it cannot write them. Without a sandbox it runs as the same user, so their
//! contents are remembered before the first gate and restored after the last.

use crate::disk::{self, Durable, Links, Mode, NewFile};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// Variables that configure network access, language and time zone.
const PASSED: &str = "\
    ALL_PROXY COMSPEC CURL_CA_BUNDLE HTTPS_PROXY HTTP_PROXY LANG LANGUAGE NIX_SSL_CERT_FILE \
    NODE_EXTRA_CA_CERTS NO_PROXY PATHEXT REQUESTS_CA_BUNDLE SSL_CERT_DIR SSL_CERT_FILE \
    SYSTEMROOT TZ WINDIR all_proxy http_proxy https_proxy no_proxy";

/// Variables that locate programs.
const TOOLS: &str = "\
    ANDROID_HOME DOTNET_ROOT FNM_DIR GOROOT JAVA_HOME NIX_PROFILES NVM_DIR PATH PYENV_ROOT \
    PYENV_VERSION RUSTUP_HOME RUSTUP_TOOLCHAIN SDKMAN_DIR VOLTA_HOME";

/// Toolchains that are looked for below the home directory if no variable locates them.
const BELOW_HOME: [(&str, &str); 2] = [("RUSTUP_HOME", ".rustup"), ("PYENV_ROOT", ".pyenv")];

/// Locale categories; no other `LC_` name is passed on.
const LOCALE: &str = "\
    LC_ADDRESS LC_ALL LC_COLLATE LC_CTYPE LC_IDENTIFICATION LC_MEASUREMENT LC_MESSAGES \
    LC_MONETARY LC_NAME LC_NUMERIC LC_PAPER LC_RESPONSES LC_TELEPHONE LC_TIME";

/// Prefixes of the variables that a CI runner sets for its steps: tokens, and the files through which a step reports to
/// it.
const OF_RUNNERS: [&str; 3] = ["ACTIONS_", "GITHUB_", "RUNNER_"];

/// Whether a variable is meant only for a CI runner and its step: a gate never gets it, wherever it runs and whatever
/// the settings pass on.
pub fn is_of_runner(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    OF_RUNNERS.iter().any(|prefix| name.starts_with(prefix))
}

/// Selects the variables to pass on, and locates toolchains. These values decide which programs a gate runs, so they
/// are recorded when the user trusts commands and not taken from the environment of a later caller.
pub fn tools(variables: impl Iterator<Item = (OsString, OsString)>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut home = None;
    for (name, value) in variables {
        let (Ok(name), Ok(value)) = (name.into_string(), value.into_string()) else {
            continue;
        };
        if name == "HOME" {
            home = Some(PathBuf::from(&value));
        }
        let mut passed = [TOOLS, PASSED, LOCALE].into_iter();
        if passed.any(|names| names.split(' ').any(|passed| passed == name)) {
            found.insert(name, value);
        }
    }
    for (name, dir) in BELOW_HOME {
        let dir = home.as_ref().map(|home| home.join(dir));
        if let Some(dir) = dir.filter(|dir| dir.is_dir()) {
            found
                .entry(name.to_owned())
                .or_insert(dir.display().to_string());
        }
    }
    found
}

/// Variables with the same value for everyone: they disable prompts and name a user. None of them affects output
/// formatting: a test that checks colours or widths gets the same result as in any pipe.
const FIXED: [(&str, &str); 6] = [
    ("CI", "true"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LOGNAME", "user"),
    ("SHELL", "/bin/sh"),
    ("USER", "user"),
];

/// The environment of a program in the room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// The complete environment.
    pub variables: BTreeMap<OsString, OsString>,
    /// Names of variables of this process that were not passed on.
    pub dropped: Vec<String>,
}

/// The parameters of an environment.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The home directory.
    pub home: &'a Path,
    /// The directory for temporary files.
    pub scratch: &'a Path,
    /// Directories from which programs are not taken: worktrees, git directories.
    pub untrusted: &'a [PathBuf],
    /// Additional names that the user allows.
    pub passed: &'a [String],
    /// The variables to pass on, as returned by [`tools`].
    pub tools: &'a BTreeMap<String, String>,
}

impl Environment {
    /// Builds the environment from the variables of this process.
    pub fn of(
        variables: impl Iterator<Item = (OsString, OsString)>,
        around: &Surroundings,
    ) -> Self {
        let is_passed = |name: &str| around.passed.iter().any(|passed| passed == name);
        let mut passed = BTreeMap::new();
        let mut dropped = Vec::new();
        for (name, value) in variables {
            match name.to_str().is_some_and(is_passed) && !is_of_runner(&name) {
                true => drop(passed.insert(name, value)),
                false => dropped.push(name.to_string_lossy().into_owned()),
            }
        }
        for (name, value) in around.tools {
            passed.insert(name.into(), value.into());
        }
        let path = passed.remove(OsStr::new("PATH")).unwrap_or_default();
        for (name, value) in FIXED {
            passed.insert(name.into(), value.into());
        }
        passed.insert("PATH".into(), search_path(&path, around.untrusted));
        passed.insert("HOME".into(), around.home.into());
        for name in ["TMPDIR", "TMP", "TEMP"] {
            passed.insert(name.into(), around.scratch.into());
        }
        dropped.retain(|name| !passed.contains_key(OsStr::new(name)));
        dropped.sort();
        Self {
            variables: passed,
            dropped,
        }
    }
}

/// Reduces a search path to absolute directories outside the untrusted ones, which agents can write to.
pub fn search_path(path: &OsStr, untrusted: &[PathBuf]) -> OsString {
    let is_trusted = |dir: &PathBuf| {
        let real = dir.canonicalize().unwrap_or_else(|_| dir.clone());
        dir.is_absolute()
            && !untrusted
                .iter()
                .any(|place| dir.starts_with(place) || real.starts_with(place))
    };
    let dirs: Vec<PathBuf> = std::env::split_paths(path).filter(is_trusted).collect();
    std::env::join_paths(dirs).unwrap_or_default()
}

/// The variables that name the files of the CI runner, on GitHub and on runners compatible with it.
const NAMES: [&str; 5] = [
    "GITHUB_ENV",
    "GITHUB_OUTPUT",
    "GITHUB_PATH",
    "GITHUB_STATE",
    "GITHUB_STEP_SUMMARY",
];
/// GitHub accepts 1 MiB of each.
const LIMIT: u64 = 8 << 20;

/// The contents of the runner's files.
#[derive(Debug)]
pub struct RunnerFiles {
    held: Vec<(&'static str, PathBuf, Option<Vec<u8>>)>,
}

impl RunnerFiles {
    /// Reads the files; there are none if this process was not started by a runner. Anything that is not a regular file
    /// is recorded without content.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn remember() -> io::Result<Self> {
        let mut held = Vec::new();
        for name in NAMES {
            let Some(path) = std::env::var_os(name).filter(|path| !path.is_empty()) else {
                continue;
            };
            let path = PathBuf::from(path);
            let bytes = disk::read_if_plain(&path, LIMIT, Links::Refuse)?;
            held.push((name, path, bytes));
        }
        Ok(Self { held })
    }

    /// Restores the files that were changed since, and returns the names of their variables.
    ///
    /// # Errors
    /// When a file cannot be restored.
    pub fn put_back(&self) -> io::Result<Vec<&'static str>> {
        let mut written = Vec::new();
        for (name, path, bytes) in &self.held {
            let now = disk::read_if_plain(path, LIMIT, Links::Refuse);
            if now.is_ok_and(|now| now == *bytes) {
                continue;
            }
            match bytes {
                Some(bytes) => NewFile::at(path, Durable::Nothing)
                    .mode(Mode::Kept(0o644))
                    .write(bytes)?,
                None => disk::remove_tree(path)?,
            }
            written.push(*name);
        }
        Ok(written)
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn only_what_is_named_is_passed_on() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["worktree/bin", "tools", "home/.rustup"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        std::os::unix::fs::symlink(at("worktree/bin"), at("link")).unwrap();
        let text = |path: PathBuf| path.into_os_string().into_string().unwrap();
        let path = [
            "bin".to_owned(),
            String::new(),
            text(at("worktree/bin")),
            text(at("link")),
            text(at("tools")),
            "/usr/bin".to_owned(),
        ]
        .join(":");
        let home = text(at("home"));
        let given = [
            ("PATH", path.as_str()),
            ("HOME", &home),
            ("LC_ALL", "C.UTF-8"),
            ("LD_PRELOAD", "/evil.so"),
            ("PYTEST_ADDOPTS", "--collect-only"),
            ("DATABASE_URL", "x"),
            ("CLAUDECODE", "1"),
            ("GITHUB_ENV", "/runner/env"),
            ("RUNNER_TEMP", "/runner"),
        ];
        let untrusted = [at("worktree")];
        let passed = ["DATABASE_URL".to_owned(), "GITHUB_ENV".to_owned()];
        let given = || {
            given
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
        };
        let environment = Environment::of(
            given(),
            &Surroundings {
                home: Path::new("/room/home"),
                scratch: Path::new("/room/tmp"),
                untrusted: &untrusted,
                passed: &passed,
                tools: &tools(given()),
            },
        );
        let value = |name: &str| environment.variables.get(OsStr::new(name)).cloned();
        let tools = text(at("tools"));
        assert_eq!(
            value("PATH").unwrap(),
            OsString::from(format!("{tools}:/usr/bin"))
        );
        assert_eq!(value("HOME").unwrap(), "/room/home");
        assert_eq!(value("DATABASE_URL").unwrap(), "x");
        assert_eq!(value("LC_ALL").unwrap(), "C.UTF-8");
        assert_eq!(value("RUSTUP_HOME").unwrap(), at("home/.rustup"));
        assert_eq!(value("LD_PRELOAD"), None);
        let dropped = [
            "CLAUDECODE",
            "GITHUB_ENV",
            "LD_PRELOAD",
            "PYTEST_ADDOPTS",
            "RUNNER_TEMP",
        ];
        assert_eq!(environment.dropped, dropped);
    }
}
