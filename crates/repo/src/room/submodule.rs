//! Submodules: finds the local repository from which the commit of each submodule is read.

use crate::disk::{self, Links};
use crate::git::Call;
use crate::room::contents::{Filled, Lacking, Source};
use crate::room::list::{List, Objects, join, place_below};
use crate::room::repository::{Git, Repository, TakenFrom, find_git_dir, within};
use git2::{ObjectType, Oid};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Maximum size in bytes of a `.gitmodules`, and of `FETCH_HEAD` or `shallow`.
const MAX_GITMODULES: u64 = 4 << 20;
const MAX_FETCHED: u64 = 16 << 20;

/// The settings of one submodule in `.gitmodules`.
#[derive(Debug, PartialEq, Eq)]
struct Module {
    name: String,
    /// The address that a clone fetches it from.
    address: Option<Vec<u8>>,
    /// Whether a clone gets only the commit, without its ancestors.
    is_cut: bool,
}

/// The submodules of a commit that exist locally, by path. Problems of the others, and possible differences in a clone,
/// are recorded in `filled`.
pub(crate) fn find_submodules<'a>(
    above: &Repository<'a>,
    source: &Source<'a>,
    root: &[u8],
    filled: &mut Filled,
) -> BTreeMap<Vec<u8>, Repository<'a>> {
    let mut found = BTreeMap::new();
    if above.list.submodules.is_empty() {
        return found;
    }
    let modules = read_modules(above);
    let mut names: Vec<&str> = Vec::new();
    for (path, id) in &above.list.submodules {
        let place = String::from_utf8_lossy(&join(root, path)).into_owned();
        let modules = modules.as_ref().map_err(String::clone);
        let module = modules.and_then(|modules| {
            let module = modules.get(path);
            module.ok_or_else(|| {
                "`.gitmodules` does not name its address, or sets `update = none`".to_owned()
            })
        });
        let opened = module.and_then(|module| {
            if let Some(other) = names.iter().find(|other| lies_within(&module.name, other)) {
                return Err(format!(
                    "one of the submodule names `{}` and `{other}` contains the other, which `git clone --recurse-submodules` refuses: rename one in `.gitmodules`",
                    module.name
                ));
            }
            let opened = open(above, source, root, module, path, *id)?;
            names.push(&module.name);
            Ok(opened)
        });
        match opened {
            Ok((mut repository, remark)) => {
                let remark = remark.map(|remark| format!("`{place}` {remark}"));
                filled.remarks.extend(remark);
                filled.submodules.push(repository.here());
                let at = source.objects_at;
                repository.objects_at = at.map(|at| at(filled.submodules.len()));
                found.insert(path.clone(), repository);
            }
            Err(why) => filled.lacking.push(Lacking { path: place, why }),
        }
    }
    found
}

/// Reads `.gitmodules`: the submodules that a clone gets, by path. The error says what is wrong with the file.
fn read_modules(above: &Repository) -> Result<BTreeMap<Vec<u8>, Module>, String> {
    let leaf = above.list.file(b".gitmodules");
    let leaf = leaf.ok_or("`.gitmodules` does not name its address")?;
    above.objects.require_small(leaf.id, MAX_GITMODULES)?;
    let text = above.objects.read(leaf.id, ObjectType::Blob)?;
    parse_modules(text, above.path)
}

fn parse_modules(text: Vec<u8>, path: &OsStr) -> Result<BTreeMap<Vec<u8>, Module>, String> {
    let dir = Path::new("/");
    let read = Git { path, dir }.settings("-".as_ref(), text);
    let read = read.map_err(|why| format!(".gitmodules: {why}"))?;
    let mut modules: BTreeMap<String, Module> = BTreeMap::new();
    let mut paths = BTreeMap::new();
    let mut left_out = BTreeSet::new();
    for (key, value) in read {
        if key == "submodule.fetchjobs" && !is_number_of_jobs(&value) {
            let value = String::from_utf8_lossy(&value).escape_debug().to_string();
            return Err(format!(
                "`.gitmodules` sets `submodule.fetchJobs` to `{value}`, with which `git clone --recurse-submodules` fails: make it a number"
            ));
        }
        let Some((name, key)) = within(&key, "submodule") else {
            continue;
        };
        let module = modules.entry(name.to_owned()).or_insert_with(|| Module {
            name: name.to_owned(),
            address: None,
            is_cut: false,
        });
        // Of several values, git uses the last; it ignores a path or address that looks like an option.
        match key {
            "update" if value == b"none" => drop(left_out.insert(name.to_owned())),
            "update" => drop(left_out.remove(name)),
            "path" if is_safe(name) && !value.starts_with(b"-") => {
                paths.retain(|_, other| other != name);
                paths.insert(value, name.to_owned());
            }
            "url" if !value.starts_with(b"-") => module.address = Some(value),
            "shallow" => module.is_cut = is_yes(&value),
            _ => {}
        }
    }
    paths.retain(|_, name| !left_out.contains(name));
    let found = paths.into_iter();
    Ok(found
        .filter_map(|(path, name)| Some((path, modules.remove(&name)?)))
        .collect())
}

/// Parses a boolean as git does.
fn is_yes(value: &[u8]) -> bool {
    let word = value.trim_ascii().to_ascii_lowercase();
    !matches!(&word[..], b"" | b"false" | b"no" | b"off" | b"0")
}

/// Parses a number as git does, with an optional unit.
fn is_number_of_jobs(value: &[u8]) -> bool {
    let text = String::from_utf8_lossy(value).trim().to_ascii_lowercase();
    let number = text.strip_suffix(['k', 'm', 'g']).unwrap_or(&text);
    number.parse::<u32>().is_ok()
}

/// Whether one submodule's git directory would lie in the other's, so that git refuses to clone both.
fn lies_within(one: &str, other: &str) -> bool {
    let is_below = |below: &str, above: &str| {
        let rest = below.strip_prefix(above);
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    is_below(one, other) || is_below(other, one)
}

/// Whether a name stays below `modules`, by git's rules.
fn is_safe(name: &str) -> bool {
    let is_up = |part: &str| matches!(part, ".." | "." | "");
    !name.split(['/', '\\']).any(is_up) && !name.contains('\0') && !name.contains(':')
}

/// Opens the local repository that has the commit: first in the `modules` directories of the repository and of this
/// worktree, then in the submodule's worktree. Also returns a remark if a clone might differ.
fn open<'a>(
    above: &Repository<'a>,
    source: &Source<'a>,
    root: &[u8],
    module: &Module,
    path: &[u8],
    id: Oid,
) -> Result<(Repository<'a>, Option<String>), String> {
    let address = module.address.as_deref();
    let address = address.ok_or("`.gitmodules` does not name its address")?;
    let in_place = place_below(source.worktree, &join(root, path));
    let in_place = in_place.map_err(|cause| cause.to_string())?;
    let mut places = vec![above.git_dir.join("modules").join(&module.name)];
    if root.is_empty() && source.git_dir != above.git_dir {
        places.push(source.git_dir.join("modules").join(&module.name));
    }
    places.push(in_place.join(".git"));
    let mut opened = Err("it is not here: `git submodule update --init` fetches it".to_owned());
    for place in places {
        let is_there = |dir: &Path| disk::is_directory(dir);
        if opened.is_err() && is_there(&place) && is_there(&place.join("objects")) {
            opened = Repository::read(&place, &id.to_string(), source);
        }
    }
    let mut repository = opened?;
    let address = resolve(address, above)?;
    let place = find_place(&address);
    let remark = match &place {
        Some(place) => check_place(place, &repository, id).map(|()| None)?,
        None => check_fetched(&address, &repository, id)?,
    };
    repository.from = match place {
        // A clone from a plain path copies the whole history, whatever depth is set.
        _ if module.is_cut && !address.starts_with(b"/") => TakenFrom::Cut,
        Some(place) => TakenFrom::Place(place),
        None => TakenFrom::Here,
    };
    Ok((repository, remark))
}

/// Resolves the address as a clone of the repository above does: a relative address starts from that repository's
/// remote, or from its path if it has none.
fn resolve(address: &[u8], above: &Repository) -> Result<Vec<u8>, String> {
    if !address.starts_with(b"./") && !address.starts_with(b"../") {
        return Ok(address.to_vec());
    }
    let git_dir = &above.git_dir;
    let root = git_dir.parent().filter(|_| git_dir.ends_with(".git"));
    let root = root.unwrap_or(git_dir).as_os_str().as_encoded_bytes();
    let mut base = list_sources(git_dir, above.path)?
        .into_iter()
        .next()
        .unwrap_or_else(|| root.to_vec());
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
            let end = end.ok_or("its address leads out of the address of this repository")?;
            base.truncate(end + usize::from(base[end] == b':'));
        } else {
            break;
        }
    }
    if !base.ends_with(b":") {
        base.push(b'/');
    }
    Ok([&base, rest].concat())
}

/// The local path that an address names; `None` if it is not local.
fn find_place(address: &[u8]) -> Option<PathBuf> {
    let path = address.strip_prefix(b"file://").unwrap_or(address);
    let path = path.starts_with(b"/").then_some(path)?;
    place_below(Path::new("/"), path).ok()
}

/// The URLs of a repository's remotes; git's default remote `origin` comes first.
fn list_sources(git_dir: &Path, path: &OsStr) -> Result<Vec<Vec<u8>>, String> {
    let file = git_dir.join("config");
    let read = Git { path, dir: git_dir }.settings(file.as_os_str(), Vec::new())?;
    let urls = read.into_iter().filter_map(|(key, value)| {
        let (name, what) = within(&key, "remote")?;
        (what == "url").then(|| (name != "origin", value))
    });
    let mut found: Vec<(bool, Vec<u8>)> = urls.collect();
    found.sort_by_key(|(is_other, _)| *is_other);
    Ok(found.into_iter().map(|(_, value)| value).collect())
}

/// Checks that the repository at a local path has the commit and its files.
fn check_place(place: &Path, repository: &Repository, id: Oid) -> Result<(), String> {
    let lacks = |what: &str| {
        let place = place.display();
        format!("{what} is not in `{place}`, the address in `.gitmodules`")
    };
    let format = repository.objects.format();
    let there = find_git_dir(place).map(|dir| Objects::open(&dir.join("objects"), format));
    let there = there.and_then(Result::ok);
    let there = there.and_then(|there| Some((there.find_tree(id).ok()?, there)));
    let (tree, there) = there.ok_or_else(|| lacks(&format!("its commit {id}")))?;
    let list = List::read(&there, tree).map_err(|why| lacks(&why))?;
    let mut files = list.files.iter();
    match files.find(|(_, leaf)| there.size(leaf.id).is_err()) {
        None => Ok(()),
        Some((path, _)) => {
            let path = String::from_utf8_lossy(path);
            Err(lacks(&format!("`{path}` of its commit {id}")))
        }
    }
}

/// Checks a submodule that a clone would fetch from a remote. The remote is not contacted: the local clone shows which
/// commits it had. Returns a remark about any remaining doubt.
fn check_fetched(
    address: &[u8],
    repository: &Repository,
    id: Oid,
) -> Result<Option<String>, String> {
    if !is_fetched(repository, &id.to_string()) {
        return Err(format!(
            "its commit {id} is not on a branch of a remote, so a clone would lack it: push it, then `git -C … fetch`"
        ));
    }
    let fetched = list_sources(&repository.git_dir, repository.path)?;
    if fetched.iter().any(|from| from == address) {
        return Ok(None);
    }
    let text = |bytes: &[u8]| format!("`{}`", String::from_utf8_lossy(bytes));
    let from = fetched.first();
    let from = from.map_or("nowhere".to_owned(), |from| text(from));
    Ok(Some(format!(
        "was fetched from {from}, but a clone would fetch it from {}, the address in `.gitmodules`",
        text(address)
    )))
}

/// Whether a remote-tracking branch contains the commit, or it was fetched by its id.
fn is_fetched(repository: &Repository, id: &str) -> bool {
    let git_dir = &repository.git_dir;
    let is_listed = |name: &str| {
        let text = disk::read_text(&git_dir.join(name), MAX_FETCHED, Links::Refuse);
        let text = text.ok().flatten().unwrap_or_default();
        text.lines().any(|line| line.starts_with(id))
    };
    if is_listed("shallow") || is_listed("FETCH_HEAD") {
        return true;
    }
    let line = "--git-dir=. -c core.fsmonitor=false -c core.alternateRefsCommand=false -c core.hooksPath=/dev/null for-each-ref --count=1 --contains";
    let call = Call::new(line).arg(id).arg("refs/remotes");
    let listed = repository.git(git_dir).answer(call, &[0]);
    listed.is_ok_and(|listed| !listed.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{Module, lies_within, parse_modules};

    #[test]
    fn a_name_below_another_is_told() {
        assert!(lies_within("h", "h/hooks") && lies_within("h/a/b", "h/a"));
        assert!(!lies_within("h", "h") && !lies_within("h", "hooks") && !lies_within("a/h", "h"));
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_nobody_s() {
        let path = std::env::var_os("PATH").unwrap();
        let text = "[submodule \"a\"]\n path = lib/a\n url = x\n[submodule \"../../b\"]\n path = b\n[submodule \"/c\"]\n path = c\n[include]\n path = /etc/passwd\n";
        let found = parse_modules(text.into(), &path).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[&b"lib/a"[..]].name, "a");
        assert_eq!(found[&b"lib/a"[..]].address.as_deref(), Some(&b"x"[..]));
        let text = "[submodule \"a\"]\n path = old\n path = new\n update = none\n update = rebase\n shallow = true\n[submodule]\n fetchJobs = 2k\n";
        let found = parse_modules(text.into(), &path).unwrap();
        let of = |found: &Module| (found.name.clone(), found.is_cut);
        let found: Vec<_> = found
            .iter()
            .map(|(path, found)| (&path[..], of(found)))
            .collect();
        assert_eq!(found, [(&b"new"[..], ("a".to_owned(), true))]);
        for jobs in ["many", "-1", "1.5"] {
            let text = format!("[submodule]\n fetchJobs = {jobs}\n");
            let why = parse_modules(text.into(), &path).unwrap_err();
            assert!(why.contains("fetchJobs"), "{why}");
        }
        let text = "[submodule \"a\"]\n path = a\n update = none\n[submodule \"b\"]\n path = b\n";
        let found = parse_modules(text.into(), &path).unwrap();
        let names = found.into_values().map(|module| module.name);
        assert_eq!(names.collect::<Vec<_>>(), ["b"]);
        assert!(parse_modules(b"[submodule".to_vec(), &path).is_err());
        assert!(parse_modules(Vec::new(), &path).unwrap().is_empty());
    }
}
