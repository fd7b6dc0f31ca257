//! Rooms against what git itself makes of the same commit in a clone without any settings.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use cook_room::{Caches, Filled, Room, RoomError, Source};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A repository, and a place for its rooms.
struct Project {
    dir: TempDir,
}

impl Project {
    fn new() -> Self {
        Self::with(&[])
    }

    fn with(init: &[&str]) -> Self {
        let project = Self {
            dir: TempDir::new().unwrap(),
        };
        fs::create_dir(project.repo()).unwrap();
        project.git(&[&["init", "-q", "-b", "main"], init].concat());
        project
    }

    fn repo(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let place = self.repo().join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, bytes).unwrap();
        self
    }

    fn git(&self, arguments: &[&str]) -> String {
        git(&self.repo(), arguments)
    }

    fn commit(&self) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "work"]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn room(&self, caches: Caches) -> Room {
        let rooms = self.dir.path().join("rooms");
        Room::open(&rooms, &self.repo(), "repo", caches).unwrap()
    }

    fn fill(&self, commit: &str) -> (Filled, Tree) {
        let room = self.room(Caches::Kept);
        let filled = self.try_fill(&room, commit).unwrap();
        (filled, tree(room.path()))
    }

    fn try_fill(&self, room: &Room, commit: &str) -> Result<Filled, RoomError> {
        let common = self.repo().join(".git");
        let source = Source {
            common: &common,
            commit,
            tags: "",
            objects_at: None,
        };
        room.fill(&source, &["target".to_owned()])
    }

    /// What git itself makes of a commit.
    fn clone_of(&self, commit: &str) -> Tree {
        let dir = TempDir::new().unwrap();
        let place = dir.path().join("clone");
        let url = format!("file://{}", self.repo().display());
        let to = place.display().to_string();
        git(dir.path(), &["clone", "-q", "--no-checkout", &url, &to]);
        git(&place, &["checkout", "-q", "--detach", commit]);
        tree(&place)
    }
}

fn try_git(dir: &Path, arguments: &[&str]) -> Output {
    Command::new("git")
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(dir)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", "/nonexistent")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs(["AUTHOR", "COMMITTER"].into_iter().flat_map(|who| {
            let of = move |what| format!("GIT_{who}_{what}");
            [(of("NAME"), "a"), (of("EMAIL"), "a@example.org")]
        }))
        .output()
        .unwrap()
}

fn git(dir: &Path, arguments: &[&str]) -> String {
    let output = try_git(dir, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Mode and content by path.
type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

fn tree(top: &Path) -> Tree {
    let mut found = Tree::new();
    let mut due = vec![top.to_owned()];
    while let Some(dir) = due.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let at = path.strip_prefix(top).unwrap().to_owned();
            if at == Path::new(".git") {
                continue;
            }
            let content = if metadata.is_dir() {
                due.push(path);
                continue;
            } else if metadata.is_symlink() {
                fs::read_link(&path)
                    .unwrap()
                    .into_os_string()
                    .into_encoded_bytes()
            } else {
                fs::read(&path).unwrap()
            };
            // A clone's modes follow the umask.
            let mode = metadata.permissions().mode() & 0o170_100;
            found.insert(at, (mode, content));
        }
    }
    found
}

#[test]
fn a_room_holds_what_a_clone_holds() {
    for init in [&[][..], &["--object-format=sha256"]] {
        let project = Project::with(init);
        project
            .write("a", "one\n")
            .write("dir/b", "two\n")
            .write("dir/deep/er/c", vec![0; 70_000])
            .write("empty", "")
            .write("run.sh", "#!/bin/sh\n");
        let program = project.repo().join("run.sh");
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
        symlink("dir/b", project.repo().join("link")).unwrap();
        let first = project.commit();
        let (filled, found) = project.fill(&first);
        assert_eq!(found, project.clone_of(&first));
        assert_eq!((filled.files, filled.written), (6, 6));
        let (again, _) = project.fill(&first);
        assert_eq!((again.written, again.removed), (0, 0));

        project.write("dir/b", "changed\n");
        fs::remove_file(project.repo().join("a")).unwrap();
        fs::remove_file(project.repo().join("link")).unwrap();
        project.write("link/now-a-directory", "x");
        let second = project.commit();
        let (filled, found) = project.fill(&second);
        assert_eq!(found, project.clone_of(&second));
        assert_eq!((filled.written, filled.removed), (2, 3));
        let (_, found) = project.fill(&first);
        assert_eq!(found, project.clone_of(&first));
        project.git(&["gc", "-q"]);
        let (_, found) = project.fill(&second);
        assert_eq!(found, project.clone_of(&second));
    }
}

#[test]
fn what_was_done_in_a_room_is_undone() {
    let project = Project::new();
    project
        .write("a", "one\n")
        .write("dir/b", "two\n")
        .write(".gitignore", "ignored\n");
    let commit = project.commit();
    let (_, wanted) = project.fill(&commit);
    let room = project.room(Caches::Kept);
    let at = |path: &str| room.path().join(path);
    // Same size, same times.
    let before = fs::metadata(at("a")).unwrap().modified().unwrap();
    fs::write(at("a"), "two\n").unwrap();
    fs::File::open(at("a"))
        .unwrap()
        .set_modified(before)
        .unwrap();
    fs::write(at("ignored"), "x").unwrap();
    fs::create_dir_all(at("dir/new/deeper")).unwrap();
    fs::set_permissions(at("dir/new"), fs::Permissions::from_mode(0o000)).unwrap();
    fs::remove_file(at("dir/b")).unwrap();
    let outside = project.dir.path().join("outside");
    fs::write(&outside, "mine").unwrap();
    symlink(&outside, at("dir/b")).unwrap();
    fs::create_dir(at("target")).unwrap();
    fs::write(at("target/built"), "kept").unwrap();
    drop(room);
    let (filled, mut found) = project.fill(&commit);
    assert_eq!(fs::read(&outside).unwrap(), b"mine");
    assert_eq!(found.remove(Path::new("target/built")).unwrap().1, b"kept");
    assert_eq!(found, wanted);
    assert_eq!(filled.written, 2);

    // A directory of the commit, and a cache, that became links.
    let room = project.room(Caches::Kept);
    fs::remove_dir_all(room.path().join("dir")).unwrap();
    fs::remove_dir_all(room.path().join("target")).unwrap();
    let place = project.dir.path().join("place");
    fs::create_dir(&place).unwrap();
    fs::write(place.join("b"), "theirs").unwrap();
    symlink(&place, room.path().join("dir")).unwrap();
    symlink(&place, room.path().join("target")).unwrap();
    drop(room);
    let (_, found) = project.fill(&commit);
    assert_eq!(found, wanted);
    assert_eq!(fs::read(place.join("b")).unwrap(), b"theirs");

    let room = project.room(Caches::Kept);
    fs::create_dir(room.path().join("target")).unwrap();
    fs::write(room.home().join("x"), "x").unwrap();
    drop(room);
    let room = project.room(Caches::Empty);
    project.try_fill(&room, &commit).unwrap();
    assert!(!room.path().join("target").exists() && !room.home().join("x").exists());
}

#[test]
fn attributes_do_what_they_do_in_a_clone() {
    let project = Project::new();
    project
        .write(
            ".gitattributes",
            "*.bat eol=crlf\n*.auto text=auto eol=crlf\n*.id ident\n*.u16 text working-tree-encoding=UTF-16LE eol=crlf\n*.bin -text\n*.f filter=evil\n",
        )
        .write("dir/.gitattributes", "*.bat -text\n*.txt text eol=crlf\n")
        .write("a.bat", "one\ntwo\n")
        .write("b.auto", "one\ntwo\n")
        .write("mixed.auto", "one\r\ntwo\n")
        .write("binary.auto", b"one\n\0two\n")
        .write("c.id", "$Id$\n$Id: x $\n")
        .write("d.u16", "a\0\n\0".as_bytes())
        .write("e.bin", "one\n")
        .write("f.f", "plain\n")
        .write("dir/a.bat", "one\n")
        .write("dir/g.txt", "one\ntwo")
        .write("plain", "one\n");
    // As it is kept, whatever the attributes make of it on the way in.
    let odd = project.repo().join("mixed.auto");
    let id = project.git(&["hash-object", "-w", "--no-filters", odd.to_str().unwrap()]);
    project.git(&["add", "-A"]);
    project.git(&[
        "update-index",
        "--cacheinfo",
        &format!("100644,{id},mixed.auto"),
    ]);
    project.git(&["commit", "-qm", "work"]);
    let commit = project.git(&["rev-parse", "HEAD"]);
    // None of these is the commit's.
    fs::write(
        project.repo().join(".git/info/attributes"),
        "* -text -ident\n",
    )
    .unwrap();
    project.git(&["config", "core.autocrlf", "true"]);
    project.git(&[
        "config",
        "filter.evil.smudge",
        "sh -c 'touch /tmp/cook-evil; cat'",
    ]);
    let (_, found) = project.fill(&commit);
    let wanted = project.clone_of(&commit);
    for (path, file) in &wanted {
        assert_eq!(found.get(path), Some(file), "{}", path.display());
    }
    assert_eq!(found, wanted);
    assert_eq!(found[Path::new("a.bat")].1, b"one\r\ntwo\r\n");
    assert!(!Path::new("/tmp/cook-evil").exists());

    project.git(&["config", "--unset", "core.autocrlf"]);
    fs::remove_file(project.repo().join(".git/info/attributes")).unwrap();
    project.write(".gitattributes", "*.id -ident\n");
    let next = project.commit();
    let (_, found) = project.fill(&next);
    assert_eq!(found, project.clone_of(&next));
    assert!(found[Path::new("c.id")].1.starts_with(b"$Id$\n"));
}

#[test]
fn objects_are_what_their_names_say_or_nothing() {
    let project = Project::new();
    project.write("out", "BAD\n");
    let commit = project.commit();
    project.write("out", "GOOD\n");
    project.commit();
    let good = project.git(&["rev-parse", "HEAD:out"]);
    let bad = project.git(&["rev-parse", &format!("{commit}:out")]);
    let place = |id: &str| {
        project
            .repo()
            .join(".git/objects")
            .join(&id[..2])
            .join(&id[2..])
    };
    // git's own checkout takes it.
    fs::set_permissions(place(&bad), fs::Permissions::from_mode(0o644)).unwrap();
    fs::copy(place(&good), place(&bad)).unwrap();
    let room = project.room(Caches::Kept);
    let refused = project.try_fill(&room, &commit).unwrap_err();
    assert!(
        matches!(refused, RoomError::NotReproducible { .. }),
        "{refused}"
    );
    assert!(refused.to_string().contains("`out`"), "{refused}");
    assert!(!room.path().join("out").exists());
    fs::remove_file(place(&bad)).unwrap();
    let refused = project.try_fill(&room, &commit).unwrap_err();
    assert!(
        matches!(refused, RoomError::NotReproducible { .. }),
        "{refused}"
    );
}

#[test]
fn neither_replacements_nor_settings_are_looked_at() {
    let project = Project::new();
    project.write("out", "one\n");
    let one = project.commit();
    let wanted = project.clone_of(&one);
    project.write("out", "two\n");
    let two = project.commit();
    project.git(&["replace", &one, &two]);
    project.git(&["config", "core.fsmonitor", "touch /tmp/cook-evil"]);
    fs::write(
        project.repo().join(".git/hooks/post-checkout"),
        "#!/bin/sh\ntouch /tmp/cook-evil\n",
    )
    .unwrap();
    fs::set_permissions(
        project.repo().join(".git/hooks/post-checkout"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    let (_, found) = project.fill(&one);
    assert_eq!(found, wanted);
    let room = project.room(Caches::Kept);
    project.try_fill(&room, &one).unwrap();
    assert_eq!(
        git(room.path(), &["status", "--porcelain", "--ignored"]),
        ""
    );
    assert_eq!(git(room.path(), &["rev-parse", "HEAD"]), one);
    assert_eq!(git(room.path(), &["remote"]), "");
    assert!(!Path::new("/tmp/cook-evil").exists());
    // A hook or setting that a run left is gone at the next.
    fs::create_dir_all(room.path().join(".git/hooks")).unwrap();
    git(room.path(), &["config", "alias.status", "!false"]);
    project.try_fill(&room, &one).unwrap();
    assert!(!room.path().join(".git/hooks").exists());
    assert_eq!(git(room.path(), &["status", "--porcelain"]), "");
}

#[test]
fn names_that_leave_the_room_are_refused() {
    let project = Project::new();
    project.write("a", "x");
    project.commit();
    let blob = project.git(&["rev-parse", "HEAD:a"]);
    let raw = |name: &str, mode: &str| {
        let id: Vec<u8> = (0..blob.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&blob[at..at + 2], 16).unwrap())
            .collect();
        let bytes = [format!("{mode} {name}\0").as_bytes(), &id].concat();
        let file = project.dir.path().join("tree");
        fs::write(&file, bytes).unwrap();
        let tree = project.git(&[
            "hash-object",
            "-t",
            "tree",
            "-w",
            "--literally",
            file.to_str().unwrap(),
        ]);
        project.git(&["commit-tree", "-m", "x", &tree])
    };
    let room = project.room(Caches::Kept);
    for (name, mode) in [
        ("..", "100644"),
        (".git", "100644"),
        (".GIT", "40000"),
        ("a/b", "100644"),
        ("a", "20000"),
    ] {
        let refused = project.try_fill(&room, &raw(name, mode)).unwrap_err();
        assert!(
            matches!(refused, RoomError::NotReproducible { .. }),
            "{name}: {refused}"
        );
    }
    assert_eq!(tree(room.path()), Tree::new());
}

#[test]
fn submodules_come_from_the_local_modules() {
    let library = Project::new();
    library
        .write("lib.txt", "one\n")
        .write(".gitattributes", "*.txt eol=crlf\n");
    library.commit();
    let project = Project::new();
    project
        .write("lib/other.txt", "x\n")
        .write(".gitattributes", "*.txt -text\n");
    let url = format!("file://{}", library.repo().display());
    project.git(&["submodule", "--quiet", "add", &url, "vendor/lib"]);
    let commit = project.commit();
    let (filled, found) = project.fill(&commit);
    assert_eq!(filled.lacking, []);
    assert_eq!(found[Path::new("vendor/lib/lib.txt")].1, b"one\r\n");
    assert_eq!(found[Path::new("lib/other.txt")].1, b"x\n");
    fs::remove_dir_all(project.repo().join(".git/modules")).unwrap();
    let (filled, found) = project.fill(&commit);
    assert_eq!(filled.lacking.len(), 1);
    assert_eq!(filled.lacking[0].path, "vendor/lib");
    assert!(!found.contains_key(Path::new("vendor/lib/lib.txt")));
}

#[test]
fn large_files_come_from_the_local_store() {
    let project = Project::new();
    let content = b"large content";
    let digest = cook_core::digest::sha256(content);
    let pointer =
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize 13\n");
    project
        .write(
            ".gitattributes",
            "*.big filter=lfs diff=lfs merge=lfs -text\n",
        )
        .write("a.big", &pointer)
        .write("not.big", "text\n");
    let commit = project.commit();
    let (filled, _) = project.fill(&commit);
    assert_eq!(filled.lacking[0].path, "a.big");
    let store = project
        .repo()
        .join(".git/lfs/objects")
        .join(&digest[..2])
        .join(&digest[2..4]);
    fs::create_dir_all(&store).unwrap();
    fs::write(store.join(&digest), content).unwrap();
    let room = project.room(Caches::Empty);
    let filled = project.try_fill(&room, &commit).unwrap();
    assert_eq!(filled.lacking, []);
    assert_eq!(tree(room.path())[Path::new("a.big")].1, content);
    assert_eq!(tree(room.path())[Path::new("not.big")].1, b"text\n");
    drop(room);
    fs::write(store.join(&digest), b"other content").unwrap();
    let room = project.room(Caches::Empty);
    let filled = project.try_fill(&room, &commit).unwrap();
    assert_eq!(filled.lacking.len(), 1);
}

#[test]
fn two_at_once_have_two_rooms_and_paths_stay() {
    let project = Project::new();
    project.write("a", "x");
    let one = project.room(Caches::Kept);
    let two = project.room(Caches::Kept);
    assert_ne!(one.path(), two.path());
    let place = one.path().to_owned();
    drop(one);
    assert_eq!(project.room(Caches::Kept).path(), place);
    assert!(place.ends_with("src/repo"));
}

#[test]
fn links_that_lead_out_are_named() {
    let project = Project::new();
    fs::create_dir(project.repo().join("dir")).unwrap();
    for (name, target) in [
        ("in", "dir/../a"),
        ("out", "../a"),
        ("dir/up", "../a"),
        ("dir/out", "../../a"),
        ("root", "/etc/passwd"),
    ] {
        symlink(target, project.repo().join(name)).unwrap();
    }
    let commit = project.commit();
    let (mut filled, _) = project.fill(&commit);
    filled.leading_out.sort();
    assert_eq!(filled.leading_out, ["dir/out", "out", "root"]);
}
