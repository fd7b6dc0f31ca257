//! Submodules: which of the local repositories a path's commit is read from.

use crate::git::plain_git;
use cook_os::disk::{self, Links};
use cook_os::process::{Short, capture};
use git2::Oid;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(60);
const LIMIT: usize = 16 << 20;

/// By path, the names that a `.gitmodules` gives to what a clone gets; what is wrong with it otherwise.
pub(crate) fn names(
    gitmodules: Vec<u8>,
    dir: &Path,
    path: &OsStr,
) -> Result<BTreeMap<Vec<u8>, String>, String> {
    let asked = [
        "git",
        "config",
        "--no-includes",
        "--file",
        "-",
        "-z",
        "--get-regexp",
        r"^submodule\..*\.(path|update)$",
    ];
    let captured = capture(&Short {
        argv: asked.iter().map(OsString::from).collect(),
        dir,
        env: plain_git(path),
        stdin: gitmodules,
        deadline: DEADLINE,
        limit: LIMIT,
        group: false,
    });
    let captured = captured.map_err(|error| error.to_string())?;
    if !matches!(captured.code, Some(0 | 1)) {
        return Err(format!(".gitmodules: {}", captured.stderr.trim()));
    }
    let (mut names, mut left_out) = (BTreeMap::new(), BTreeSet::new());
    for line in captured.stdout.split(|byte| *byte == 0) {
        let Some(end) = line.iter().position(|byte| *byte == b'\n') else {
            continue;
        };
        let key = String::from_utf8_lossy(&line[..end]).into_owned();
        let key = key.strip_prefix("submodule.").unwrap_or_default();
        if let Some(name) = key.strip_suffix(".update")
            && line[end + 1..] == *b"none"
        {
            left_out.insert(name.to_owned());
        }
        let name = key.strip_suffix(".path");
        if let Some(name) = name.filter(|name| is_safe(name)) {
            names.insert(line[end + 1..].to_vec(), name.to_owned());
        }
    }
    names.retain(|_, name| !left_out.contains(name));
    Ok(names)
}

/// Where a submodule's repository lies, below the git directory of the one that holds it.
pub(crate) fn git_dir(above: &Path, name: &str) -> PathBuf {
    above.join("modules").join(name)
}

/// Whether a remote was seen to have a commit: one of its branches leads to it, or it was fetched by
/// its id.
pub(crate) fn is_fetched(git_dir: &Path, commit: Oid, path: &OsStr) -> bool {
    let id = commit.to_string();
    let is_listed = |name: &str| {
        let text = disk::read_text(&git_dir.join(name), LIMIT as u64, Links::Refuse);
        text.is_ok_and(|text| {
            text.is_some_and(|text| text.lines().any(|line| line.starts_with(&id)))
        })
    };
    if is_listed("shallow") || is_listed("FETCH_HEAD") {
        return true;
    }
    let mut of = OsString::from("--git-dir=");
    of.push(git_dir);
    let mut argv = vec![OsString::from("git"), of];
    for setting in [
        "core.fsmonitor=false",
        "core.alternateRefsCommand=false",
        "core.hooksPath=/dev/null",
    ] {
        argv.extend(["-c", setting].map(OsString::from));
    }
    let asked = [
        "for-each-ref",
        "--count=1",
        "--contains",
        &id,
        "refs/remotes",
    ];
    argv.extend(asked.map(OsString::from));
    let captured = capture(&Short {
        argv,
        dir: git_dir,
        env: plain_git(path),
        stdin: Vec::new(),
        deadline: DEADLINE,
        limit: LIMIT,
        group: false,
    });
    captured.is_ok_and(|captured| captured.success() && !captured.stdout.is_empty())
}

/// A name that does not lead out of `modules`, as git has it.
fn is_safe(name: &str) -> bool {
    let is_up = |part: &str| matches!(part, ".." | "." | "");
    !name.split(['/', '\\']).any(is_up) && !name.contains('\0') && !name.contains(':')
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_name_that_leads_elsewhere_is_nobody_s() {
        let dir = tempfile::tempdir().unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let text = "[submodule \"a\"]\n path = lib/a\n url = x\n[submodule \"../../b\"]\n path = b\n[submodule \"/c\"]\n path = c\n[include]\n path = /etc/passwd\n";
        let found = names(text.into(), dir.path(), &path).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[&b"lib/a"[..]], "a");
        let text = "[submodule \"a\"]\n path = a\n update = none\n[submodule \"b\"]\n path = b\n";
        let found = names(text.into(), dir.path(), &path).unwrap();
        assert_eq!(found.into_values().collect::<Vec<_>>(), ["b"]);
        assert!(names(b"[submodule".to_vec(), dir.path(), &path).is_err());
        assert!(names(Vec::new(), dir.path(), &path).unwrap().is_empty());
    }
}
