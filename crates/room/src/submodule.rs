//! Submodules: which of the local repositories a path's commit is read from.

use crate::git::{Text, plain_git, settings, within};
use crate::list::List;
use crate::objects::Objects;
use crate::scan::make_path_below;
use cook_os::disk::{self, Links};
use cook_os::process::{Short, capture};
use git2::{ObjectFormat, Oid};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(60);
const LIMIT: usize = 16 << 20;

/// What a `.gitmodules` says of one path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Module {
    pub name: String,
    /// Where a clone gets it.
    pub address: Option<Vec<u8>>,
    /// A clone gets the commit alone, without those before it.
    pub is_cut: bool,
}

/// By path, what a `.gitmodules` says of what a clone gets; what is wrong with it otherwise.
pub(crate) fn modules(
    gitmodules: Vec<u8>,
    dir: &Path,
    path: &OsStr,
) -> Result<BTreeMap<Vec<u8>, Module>, String> {
    let read = settings(Text::Bytes(gitmodules), dir, path);
    let read = read.map_err(|why| format!(".gitmodules: {why}"))?;
    let (mut paths, mut left_out, mut addresses) =
        (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
    let mut cut = BTreeMap::new();
    for (key, value) in read {
        if key == "submodule.fetchjobs" && !is_number_of_jobs(&value) {
            let value = String::from_utf8_lossy(&value).escape_debug().to_string();
            return Err(format!(
                "`.gitmodules` sets `submodule.fetchJobs` to `{value}`, which ends `git clone --recurse-submodules`: make it a number"
            ));
        }
        let Some((name, key)) = within(&key, "submodule") else {
            continue;
        };
        // Of several values git takes the last.
        match key {
            "update" if value == b"none" => drop(left_out.insert(name.to_owned())),
            "update" => drop(left_out.remove(name)),
            // git takes no path and no address that reads as an option.
            "path" if is_safe(name) && !value.starts_with(b"-") => {
                paths.retain(|_, other| other != name);
                paths.insert(value, name.to_owned());
            }
            "url" if !value.starts_with(b"-") => drop(addresses.insert(name.to_owned(), value)),
            "shallow" => drop(cut.insert(name.to_owned(), is_yes(&value))),
            _ => {}
        }
    }
    paths.retain(|_, name| !left_out.contains(name));
    Ok(paths
        .into_iter()
        .map(|(path, name)| {
            let module = Module {
                address: addresses.get(&name).cloned(),
                is_cut: cut.get(&name).is_some_and(|is_cut| *is_cut),
                name,
            };
            (path, module)
        })
        .collect())
}

/// As git reads a truth value.
fn is_yes(value: &[u8]) -> bool {
    let word = value.trim_ascii().to_ascii_lowercase();
    !matches!(&word[..], b"" | b"false" | b"no" | b"off" | b"0")
}

/// As git reads a number, which may end with its unit.
fn is_number_of_jobs(value: &[u8]) -> bool {
    let text = String::from_utf8_lossy(value).trim().to_ascii_lowercase();
    let number = text.strip_suffix(['k', 'm', 'g']).unwrap_or(&text);
    number.parse::<u32>().is_ok()
}

/// Whether a clone of both ends in a refusal, as the git directory of one would lie in the other's.
pub(crate) fn lies_within(one: &str, other: &str) -> bool {
    let is_below = |below: &str, above: &str| {
        below
            .strip_prefix(above)
            .is_some_and(|rest| rest.starts_with('/'))
    };
    is_below(one, other) || is_below(other, one)
}

/// Where a submodule's repository lies, below the git directory of the one that holds it.
pub(crate) fn git_dir(above: &Path, name: &str) -> PathBuf {
    above.join("modules").join(name)
}

/// Whether a remote was seen to have a commit: one of its branches leads to it, or it was fetched by
/// its id.
fn is_fetched(git_dir: &Path, commit: Oid, path: &OsStr) -> bool {
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

/// Where a clone looks for a submodule.
#[derive(Debug, PartialEq, Eq)]
enum Source {
    /// On this machine.
    Here(PathBuf),
    /// At another place, which is not asked.
    There(Vec<u8>),
}

/// What an address means in a clone of the repository that names it: a relative one begins where
/// that repository comes from, or else is.
fn source(address: &[u8], above: &Path, path: &OsStr) -> Result<Source, String> {
    let is_relative = address.starts_with(b"./") || address.starts_with(b"../");
    if !is_relative {
        return Ok(find_place(address));
    }
    let mut base = match list_sources(above, path)?.into_iter().next() {
        Some(base) => base,
        None => {
            let root = above.parent().filter(|_| above.ends_with(".git"));
            root.unwrap_or(above)
                .as_os_str()
                .as_encoded_bytes()
                .to_vec()
        }
    };
    let mut rest = address;
    loop {
        while base.ends_with(b"/") {
            base.pop();
        }
        if let Some(below) = rest.strip_prefix(b"./") {
            rest = below;
        } else if let Some(below) = rest.strip_prefix(b"../") {
            rest = below;
            let end = base.iter().rposition(|byte| matches!(byte, b'/' | b':'));
            let end = end.filter(|end| end + 1 < base.len());
            let end = end.ok_or("its address leads above where this repository comes from")?;
            base.truncate(end + usize::from(base[end] == b':'));
        } else {
            break;
        }
    }
    if !base.ends_with(b":") {
        base.push(b'/');
    }
    Ok(find_place(&[&base, rest].concat()))
}

fn find_place(address: &[u8]) -> Source {
    let path = match address.strip_prefix(b"file://") {
        Some(path) => Some(path),
        None => address.starts_with(b"/").then_some(address),
    };
    match path.and_then(|path| make_path_below(Path::new("/"), path).ok()) {
        Some(path) => Source::Here(path),
        None => Source::There(address.to_vec()),
    }
}

/// Where a repository was fetched from; the remote of that name that git takes by itself first.
fn list_sources(git_dir: &Path, path: &OsStr) -> Result<Vec<Vec<u8>>, String> {
    let file = git_dir.join("config");
    let read = settings(Text::File(file), git_dir, path)?;
    let mut found: Vec<(bool, Vec<u8>)> = read
        .into_iter()
        .filter_map(|(key, value)| match within(&key, "remote")? {
            (name, "url") => Some((name != "origin", value)),
            _ => None,
        })
        .collect();
    found.sort_by_key(|(is_other, _)| *is_other);
    Ok(found.into_iter().map(|(_, value)| value).collect())
}

/// Where a clone gets a submodule's commit.
pub(crate) struct Origin<'a> {
    /// As `.gitmodules` has it.
    pub address: &'a [u8],
    /// The repository that names it.
    pub above: &'a Path,
    /// The local clone.
    pub git_dir: &'a Path,
    pub commit: Oid,
}

impl Origin<'_> {
    /// A clone by a plain path copies all of the history, whatever depth it is told.
    pub fn ignores_depth(&self, path: &OsStr) -> bool {
        if !self.address.starts_with(b"./") && !self.address.starts_with(b"../") {
            return self.address.starts_with(b"/");
        }
        let base = list_sources(self.above, path).unwrap_or_default();
        base.first().is_none_or(|base| base.starts_with(b"/"))
    }

    /// The place of this machine that a clone gets it from.
    pub fn place(&self, path: &OsStr) -> Option<PathBuf> {
        match source(self.address, self.above, path) {
            Ok(Source::Here(place)) => Some(place),
            _ => None,
        }
    }

    /// Why no clone has the commit, where that can be told: at a place of this machine one looks,
    /// of another the local clone says what it was seen to have. What is not sure otherwise.
    pub fn check(&self, format: ObjectFormat, path: &OsStr) -> Result<Option<String>, String> {
        let id = self.commit;
        match source(self.address, self.above, path)? {
            Source::Here(place) => {
                let there = git_dir_at(&place).map(|dir| dir.join("objects"));
                let there = there.and_then(|dir| Objects::open(&dir, format).ok());
                let lacks = |what: &str| {
                    let place = place.display();
                    format!(
                        "{what} is not in `{place}`, where `.gitmodules` says that it comes from"
                    )
                };
                let tree = there.and_then(|there| Some((there.find_tree(id).ok()?, there)));
                let (tree, there) = tree.ok_or_else(|| lacks(&format!("its commit {id}")))?;
                let mut list = List::default();
                list.add(&there, 0, tree, b"").map_err(|why| lacks(&why))?;
                for (path, leaf) in &list.files {
                    let path = String::from_utf8_lossy(path);
                    let size = there.size(leaf.id);
                    size.map_err(|_| lacks(&format!("`{path}` of its commit {id}")))?;
                }
                Ok(None)
            }
            Source::There(_) if !is_fetched(self.git_dir, id, path) => Err(format!(
                "its commit {id} is on no branch of a remote, so no clone has it: push it, then `git -C … fetch`"
            )),
            Source::There(named) => {
                let fetched = list_sources(self.git_dir, path)?;
                if fetched.contains(&named) {
                    return Ok(None);
                }
                let text = |bytes: &[u8]| format!("`{}`", String::from_utf8_lossy(bytes));
                let from = fetched
                    .first()
                    .map_or("nowhere".to_owned(), |from| text(from));
                Ok(Some(format!(
                    "was fetched from {from}, and a clone asks {}, as `.gitmodules` has it",
                    text(&named)
                )))
            }
        }
    }
}

/// The git directory of the repository at a place of this machine, where git would find one.
pub(crate) fn git_dir_at(place: &Path) -> Option<PathBuf> {
    let mut suffixed = place.as_os_str().to_owned();
    suffixed.push(".git");
    let places = [place.join(".git"), place.to_owned(), suffixed.into()];
    places.into_iter().find(|dir| dir.join("objects").is_dir())
}

/// A name that does not lead out of `modules`, as git has it.
fn is_safe(name: &str) -> bool {
    let is_up = |part: &str| matches!(part, ".." | "." | "");
    !name.split(['/', '\\']).any(is_up) && !name.contains('\0') && !name.contains(':')
}

#[cfg(test)]
mod tests {
    use super::{Module, Source, lies_within, modules, source};

    #[test]
    fn an_address_is_a_place_of_this_machine_or_another() {
        let dir = tempfile::tempdir().unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let above = dir.path().join("work/.git");
        std::fs::create_dir_all(&above).unwrap();
        let of = |address: &str| source(address.as_bytes(), &above, &path).unwrap();
        let here = |place: &str| Source::Here(place.into());
        let there = |place: &str| Source::There(place.into());
        assert_eq!(of("/a/b"), here("/a/b"));
        assert_eq!(of("file:///a/b.git"), here("/a/b.git"));
        assert_eq!(of("https://example.org/a"), there("https://example.org/a"));
        assert_eq!(of("git@example.org:a/b"), there("git@example.org:a/b"));
        assert_eq!(of("../a/b"), Source::Here(dir.path().join("a/b")));
        assert_eq!(of("./../a"), Source::Here(dir.path().join("a")));
        std::fs::write(above.join("config"), "").unwrap();
        for (origin, wanted) in [
            (
                "https://example.org/team/work.git",
                "https://example.org/team/a",
            ),
            ("git@example.org:work/", "git@example.org:a"),
        ] {
            let text = format!("[remote \"b\"]\n url = x\n[remote \"origin\"]\n url = {origin}\n");
            std::fs::write(above.join("config"), text).unwrap();
            assert_eq!(of("../a"), there(wanted));
        }
        assert!(source(b"../../../../a", &above, &path).is_err());
    }

    #[test]
    fn a_name_below_another_is_told() {
        assert!(lies_within("h", "h/hooks") && lies_within("h/a/b", "h/a"));
        assert!(!lies_within("h", "h") && !lies_within("h", "hooks") && !lies_within("a/h", "h"));
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_nobody_s() {
        let dir = tempfile::tempdir().unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let text = "[submodule \"a\"]\n path = lib/a\n url = x\n[submodule \"../../b\"]\n path = b\n[submodule \"/c\"]\n path = c\n[include]\n path = /etc/passwd\n";
        let found = modules(text.into(), dir.path(), &path).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[&b"lib/a"[..]].name, "a");
        assert_eq!(found[&b"lib/a"[..]].address.as_deref(), Some(&b"x"[..]));
        let text = "[submodule \"a\"]\n path = old\n path = new\n update = none\n update = rebase\n shallow = true\n[submodule]\n fetchJobs = 2k\n";
        let found = modules(text.into(), dir.path(), &path).unwrap();
        let of = |found: &Module| (found.name.clone(), found.is_cut);
        let found: Vec<_> = found
            .iter()
            .map(|(path, found)| (&path[..], of(found)))
            .collect();
        assert_eq!(found, [(&b"new"[..], ("a".to_owned(), true))]);
        for jobs in ["many", "-1", "1.5"] {
            let text = format!("[submodule]\n fetchJobs = {jobs}\n");
            let why = modules(text.into(), dir.path(), &path).unwrap_err();
            assert!(why.contains("fetchJobs"), "{why}");
        }
        let text = "[submodule \"a\"]\n path = a\n update = none\n[submodule \"b\"]\n path = b\n";
        let found = modules(text.into(), dir.path(), &path).unwrap();
        let names = found.into_values().map(|module| module.name);
        assert_eq!(names.collect::<Vec<_>>(), ["b"]);
        assert!(modules(b"[submodule".to_vec(), dir.path(), &path).is_err());
        assert!(modules(Vec::new(), dir.path(), &path).unwrap().is_empty());
    }
}
