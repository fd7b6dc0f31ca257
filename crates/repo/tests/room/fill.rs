//! Rooms against what git itself makes of the same commit in a clone without any settings.

use crate::room::support::{Project, git, tree};
use cook_protocol::model::Caches;
use cook_repo::room::Source;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

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
        assert_eq!(found, project.make_clone(&first));
        assert_eq!((filled.files, filled.written), (6, 6));
        let (again, _) = project.fill(&first);
        assert_eq!((again.written, again.removed), (0, 0));

        project.write("dir/b", "changed\n");
        fs::remove_file(project.repo().join("a")).unwrap();
        fs::remove_file(project.repo().join("link")).unwrap();
        project.write("link/now-a-directory", "x");
        let second = project.commit();
        let (filled, found) = project.fill(&second);
        assert_eq!(found, project.make_clone(&second));
        assert_eq!((filled.written, filled.removed), (2, 3));
        let (_, found) = project.fill(&first);
        assert_eq!(found, project.make_clone(&first));
        project.git(&["gc", "-q"]);
        let (_, found) = project.fill(&second);
        assert_eq!(found, project.make_clone(&second));
    }
}

#[test]
fn a_commit_without_files_has_a_room() {
    let project = Project::new();
    let empty = project.commit();
    let (filled, found) = project.fill(&empty);
    assert_eq!((filled.files, found), (0, project.make_clone(&empty)));
    project.write("a", "one\n");
    let (filled, _) = project.fill(&project.commit());
    assert_eq!(filled.written, 1);
    let (_, found) = project.fill(&empty);
    assert_eq!(found, project.make_clone(&empty));
}

/// Python, among others, takes what it compiled before for current if the source's size and its time in
/// whole seconds are the same.
#[test]
fn a_new_version_of_the_same_size_is_a_whole_second_later() {
    let project = Project::new();
    project.write("calc", "a - b").write("other", "x");
    let first = project.commit();
    project.write("calc", "a + b");
    let second = project.commit();
    let room = project.room(Caches::Kept);
    let seconds_of = |name: &str| {
        let time = fs::metadata(room.path().join(name)).unwrap().modified();
        let since = time.unwrap().duration_since(std::time::UNIX_EPOCH).unwrap();
        since.as_secs()
    };
    project.try_fill(&room, &first).unwrap();
    let untouched = seconds_of("other");
    let mut before = seconds_of("calc").max(untouched);
    for commit in [&second, &first, &second] {
        project.try_fill(&room, commit).unwrap();
        let now = seconds_of("calc");
        assert!(now > before, "{now} is not after {before}");
        before = now;
    }
    assert_eq!(seconds_of("other"), untouched);
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
    let wanted = project.make_clone(&commit);
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
    assert_eq!(found, project.make_clone(&next));
    assert!(found[Path::new("c.id")].1.starts_with(b"$Id$\n"));
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

/// What the local clone of a submodule says of its remote is anybody's to write.
#[test]
fn an_address_of_this_machine_is_asked_whether_it_has_a_submodule_s_commit() {
    let library = Project::new();
    library.write("lib.txt", "one\n");
    library.commit();
    let project = Project::new();
    let url = format!("file://{}", library.repo().display());
    project.git(&["submodule", "--quiet", "add", &url, "lib"]);
    project.commit();
    let sub = project.repo().join("lib");
    fs::write(sub.join("lib.txt"), "two\n").unwrap();
    git(&sub, &["commit", "-qam", "nobody else has it"]);
    git(&sub, &["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let commit = project.commit();
    let (filled, _) = project.fill(&commit);
    let lacking = filled.lacking.first().unwrap();
    assert!(
        lacking.why.contains("the address in `.gitmodules`"),
        "{lacking:?}"
    );
    git(&sub, &["push", "-q", "origin", "HEAD:refs/heads/side"]);
    assert_eq!(project.fill(&commit).0.lacking, []);

    // Elsewhere nobody is asked: what differs from where it came from is said.
    for (address, remarks) in [("https://example.org/lib", 1), (&url[..], 0)] {
        project.git(&["config", "-f", ".gitmodules", "submodule.lib.url", address]);
        let commit = project.commit();
        let (filled, _) = project.fill(&commit);
        assert_eq!(
            (filled.lacking, filled.remarks.len()),
            (Vec::new(), remarks)
        );
    }
    let nowhere = project.dir.path().join("nowhere");
    let nowhere = nowhere.to_str().unwrap();
    project.git(&["config", "-f", ".gitmodules", "submodule.lib.url", nowhere]);
    let commit = project.commit();
    assert_eq!(project.fill(&commit).0.lacking.len(), 1);
}

#[test]
fn a_large_file_that_a_clone_does_not_fetch_stays_a_pointer() {
    let project = Project::new();
    let content = b"large content";
    let digest = cook_protocol::digest::sha256(content);
    let pointer =
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize 13\n");
    let store = project.repo().join(".git/lfs/objects");
    let store = store.join(&digest[..2]).join(&digest[2..4]);
    fs::create_dir_all(&store).unwrap();
    fs::write(store.join(&digest), content).unwrap();
    project.write(".gitattributes", "*.big filter=lfs -text\n");
    for path in ["a.big", "media/b.big", "media/deep/c.big", "!d.big"] {
        project.write(path, &pointer);
    }
    let large = |config: &str| {
        project.write(".lfsconfig", config);
        let (filled, found) = project.fill(&project.commit());
        assert_eq!(filled.lacking, []);
        let all = ["a.big", "media/b.big", "media/deep/c.big", "!d.big"];
        all.map(|path| found[Path::new(path)].1 == content)
    };
    assert_eq!(large(""), [true; 4]);
    let of = |key: &str, value: &str| format!("[lfs]\n\t{key} = \"{value}\"\n");
    for (config, wanted) in [
        (of("fetchexclude", "media/"), [true, false, false, true]),
        (
            of("fetchexclude", "a.big, /media/b.big"),
            [false, false, true, true],
        ),
        (of("fetchexclude", "!d.big"), [true, true, true, false]),
        (of("fetchinclude", "media"), [false, true, true, false]),
        (
            of("fetchinclude", "media") + &of("fetchexclude", "deep"),
            [false, true, false, false],
        ),
        (of("fetchexclude", "*"), [false; 4]),
        (of("url", "https://example.org"), [true; 4]),
    ] {
        assert_eq!(large(&config), wanted, "{config}");
    }
}

#[test]
fn large_files_come_from_the_local_store() {
    let project = Project::new();
    let content = b"large content";
    let digest = cook_protocol::digest::sha256(content);
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

/// A clone has no list of caches that git is told not to look at.
#[test]
fn git_passes_over_caches_only_where_they_are_kept() {
    let project = Project::new();
    project.write("a.txt", "x");
    let commit = project.commit();
    for (caches, wanted) in [(Caches::Kept, ""), (Caches::Empty, "?? target/")] {
        let room = project.room(caches);
        project.try_fill(&room, &commit).unwrap();
        fs::create_dir(room.path().join("target")).unwrap();
        fs::write(room.path().join("target/built"), "x").unwrap();
        for _ in 0..2 {
            assert_eq!(git(room.path(), &["status", "--porcelain"]), wanted);
            project.try_fill(&room, &commit).unwrap();
        }
        assert!(room.path().join("target/built").exists());
    }
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
fn a_room_that_stands_alone_has_what_a_clone_has_and_no_other_object() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let first = project.commit();
    project.write("a.txt", "two\n");
    let commit = project.commit();
    project.write("left", "nobody names it\n");
    let left = project.git(&["hash-object", "-w", "left"]);
    let room = project.room(Caches::Empty);
    let common = project.repo().join(".git");
    let source = Source {
        common: &common,
        git_dir: &common,
        worktree: common.parent().unwrap(),
        commit: &commit,
        refs: &[],
        objects_at: None,
        history: true,
        alone: true,
        path: &std::env::var_os("PATH").unwrap(),
    };
    for _ in 0..2 {
        room.fill(&source, &[]).unwrap();
        assert_eq!(git(room.path(), &["status", "--porcelain"]), "");
        assert_eq!(
            git(room.path(), &["rev-list", "HEAD"]),
            format!("{commit}\n{first}")
        );
        let all = git(
            room.path(),
            &["cat-file", "--batch-check", "--batch-all-objects"],
        );
        assert!(!all.contains(&left), "{all}");
    }
}

/// Whoever makes a clone sends all branches, and asks git's own indexes of the history.
#[test]
fn what_keeps_a_clone_from_being_made_is_named() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let commit = project.commit();
    project.git(&["checkout", "-q", "-b", "dev"]);
    project.write("dev.txt", "precious\n");
    project.commit();
    let dev = project.git(&["rev-parse", "dev"]);
    let blob = project.git(&["rev-parse", "dev:dev.txt"]);
    project.git(&["checkout", "-q", "--detach", &commit]);
    let common = project.repo().join(".git");
    let path = std::env::var_os("PATH").unwrap();
    let refs = [("refs/heads/dev".to_owned(), dev)];
    let filled = || {
        let source = Source {
            common: &common,
            git_dir: &common,
            worktree: common.parent().unwrap(),
            commit: &commit,
            refs: &refs,
            objects_at: None,
            history: true,
            alone: true,
            path: &path,
        };
        let filled = project.room(Caches::Empty).fill(&source, &[]);
        filled.map(drop).map_err(|error| error.to_string())
    };
    filled().unwrap();
    let object = common.join("objects").join(&blob[..2]).join(&blob[2..]);
    let bytes = std::fs::read(&object).unwrap();
    std::fs::remove_file(&object).unwrap();
    let why = filled().unwrap_err();
    assert!(why.contains("is incomplete"), "{why}");
    assert!(why.contains(&blob), "{why}");
    std::fs::write(&object, bytes).unwrap();
    filled().unwrap();
}

/// A clone is made from the bitmaps of packs, where there are some.
#[test]
fn a_bitmap_that_lies_is_named() {
    let project = Project::new();
    for text in ["one\n", "two\n", "three\n"] {
        project.write("a.txt", text);
        project.commit();
    }
    let commit = project.git(&["rev-parse", "HEAD"]);
    let common = project.repo().join(".git");
    let path = std::env::var_os("PATH").unwrap();
    let refs = [("refs/heads/main".to_owned(), commit.clone())];
    let filled = || {
        let source = Source {
            common: &common,
            git_dir: &common,
            worktree: common.parent().unwrap(),
            commit: &commit,
            refs: &refs,
            objects_at: None,
            history: true,
            alone: true,
            path: &path,
        };
        let filled = project.room(Caches::Empty).fill(&source, &[]);
        filled.map(drop).map_err(|error| error.to_string())
    };
    project.git(&["repack", "-qadb"]);
    filled().unwrap();
    swap_two_commits(&common.join("objects/pack"));
    let url = format!("file://{}", project.repo().display());
    let clone = crate::room::support::try_git(project.dir.path(), &["clone", "-q", &url, "clone"]);
    assert!(!clone.status.success());
    let why = filled().unwrap_err();
    assert!(why.contains("cannot be cloned"), "{why}");
}

/// Gives the first commit of a bitmap what the last one leads to, and the other way about.
fn swap_two_commits(packs: &Path) {
    let bitmap = fs::read_dir(packs)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let bitmap = bitmap.filter(|path| path.extension().is_some_and(|end| end == "bitmap"));
    let bitmap = bitmap.last().unwrap();
    let mut bytes = fs::read(&bitmap).unwrap();
    let number = |bytes: &[u8], at: usize| {
        u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
    };
    let end = |bytes: &[u8], at: usize| at + 12 + 8 * number(bytes, at + 4);
    let mut at = 32;
    for _ in 0..4 {
        at = end(&bytes, at);
    }
    let mut commits = Vec::new();
    for _ in 0..number(&bytes, 8) {
        commits.push(at);
        at = end(&bytes, at + 6);
    }
    let (first, last) = (commits[0], *commits.last().unwrap());
    for byte in 0..4 {
        bytes.swap(first + byte, last + byte);
    }
    fs::remove_file(&bitmap).unwrap();
    fs::write(&bitmap, bytes).unwrap();
}

/// As after a checkout: a script may ask git without letting it look at files first.
#[test]
fn git_in_a_room_knows_its_files_as_in_a_clone() {
    for init in [&[][..], &["--object-format=sha256"]] {
        let library = Project::with(init);
        library.write("lib.txt", "one\n");
        library.commit();
        let project = Project::with(init);
        let url = format!("file://{}", library.repo().display());
        project.git(&["submodule", "--quiet", "add", &url, "lib"]);
        let long = "long/".repeat(60) + &"n".repeat(200);
        project
            .write("a", "one\n")
            .write("lib.txt", "x")
            .write(&long, "x");
        symlink("a", project.repo().join("link")).unwrap();
        for text in ["one\n", "two\n"] {
            project.write("dir/b", text);
            let commit = project.commit();
            let room = project.room(Caches::Kept);
            project.try_fill(&room, &commit).unwrap();
            let asked = ["diff-index", "--ignore-submodules", "HEAD"];
            assert_eq!(git(room.path(), &asked), "");
            assert_eq!(git(room.path(), &["fsck"]), "");
            assert_eq!(
                git(room.path(), &["ls-files", "--stage"]),
                git(&project.repo(), &["ls-files", "--stage"])
            );
            // One that is put back is known again.
            fs::write(room.path().join("a"), "other\n").unwrap();
            project.try_fill(&room, &commit).unwrap();
            assert_eq!(git(room.path(), &asked), "");
        }
    }
}

/// A clone reads attributes from its index, writes files as it streams them, and makes no directory
/// that holds nothing.
#[cfg(unix)]
#[test]
fn a_clone_s_own_ways_with_files_are_the_room_s() {
    let attributes: [(&str, &[u8]); 4] = [
        (
            "a byte order mark",
            b"\xef\xbb\xbfwork.txt ident\nb.txt ident\n",
        ),
        ("a zero byte", b"#\0\nwork.txt ident\n"),
        ("a line", b"work.txt ident\n*.txt eol=crlf\n"),
        ("several", b"work.txt eol=lf\nb.txt ident eol=crlf\n"),
    ];
    for (what, bytes) in attributes {
        for text in [
            "$Id$\n",
            "$$Id$\n$Id: x$ $Id$\n",
            "$$$Id$$Id$\r\n",
            "$Id\n$\n",
        ] {
            let project = Project::new();
            project.write(".gitattributes", bytes);
            project.write("work.txt", text).write("b.txt", text);
            project.write("dir/work.txt", text);
            let commit = project.commit();
            assert_eq!(
                project.fill(&commit).1,
                project.make_clone(&commit),
                "{what}: {text:?}"
            );
        }
    }
    let project = Project::new();
    project.write("work.txt", "$Id$\n").write("b.txt", "b\n");
    std::os::unix::fs::symlink("work.txt ident", project.repo().join(".gitattributes")).unwrap();
    let commit = project.commit();
    assert_eq!(project.fill(&commit).1, project.make_clone(&commit));

    let empty = project.git(&["hash-object", "-t", "tree", "-w", "/dev/null"]);
    let listed = project.git(&["ls-tree", "HEAD"]);
    let list = project.repo().join(".git/list");
    std::fs::write(&list, format!("{listed}\n040000 tree {empty}\tsub\n")).unwrap();
    let made = std::process::Command::new("git")
        .args(["mktree"])
        .current_dir(project.repo())
        .stdin(std::fs::File::open(&list).unwrap())
        .output()
        .unwrap();
    let tree = String::from_utf8(made.stdout).unwrap();
    let commit = project.git(&["commit-tree", "-m", "one", tree.trim()]);
    project.git(&["reset", "-q", "--hard", &commit]);
    assert_eq!(project.fill(&commit).1, project.make_clone(&commit));
}

/// What a clone's sender reads beside objects and refs is read by a real sender here.
#[test]
fn what_keeps_a_sender_from_sending_a_clone_is_named() {
    type Setting = fn(&Project);
    let cases: [(&str, &str, Setting); 11] = [
        (
            "a file of another branch that holds something else",
            "(all branches and tags) cannot be cloned",
            |project| {
                project.git(&["checkout", "-q", "-b", "side"]);
                project.write("side.txt", "side\n");
                project.commit();
                project.git(&["checkout", "-q", "--detach", "v1"]);
                let object = |name: &str| {
                    let id = project.git(&["rev-parse", name]);
                    let objects = project.repo().join(".git/objects");
                    objects.join(&id[..2]).join(&id[2..])
                };
                let forged = object("side:side.txt");
                fs::remove_file(&forged).unwrap();
                fs::copy(object("v1:a.txt"), &forged).unwrap();
            },
        ),
        (
            "branches in each other's way",
            "`refs/heads/x` and `refs/heads/x/y` cannot both exist in a clone",
            |project| pack_refs(project, &["refs/heads/x", "refs/heads/x/y"]),
        ),
        (
            "tags in each other's way",
            "`refs/tags/x` and `refs/tags/x/y/z` cannot both exist in a clone",
            |project| pack_refs(project, &["refs/tags/x", "refs/tags/x/y/z"]),
        ),
        ("grafts", "cannot be cloned", |project| {
            let older = project.git(&["rev-parse", "HEAD~1"]);
            project.write(".git/info/grafts", format!("# cut\n{older}\n"));
        }),
        (
            "a ref of no id",
            "`refs/heads/odd` does not name an object",
            |project| {
                project.write(".git/refs/heads/odd", "junk\n");
            },
        ),
        ("a ref of nothing", "is incomplete", |project| {
            let id = "1234567890123456789012345678901234567890\n";
            project.write(".git/refs/heads/odd", id);
        }),
        ("HEAD is hidden", "would not get `HEAD`", |project| {
            project.git(&["config", "uploadpack.hideRefs", "HEAD"]);
        }),
        (
            "tags are hidden",
            "would not get `refs/tags/v1`",
            |project| {
                project.git(&["config", "transfer.hideRefs", "refs/tags"]);
            },
        ),
        (
            "a setting that is malformed",
            "the repository cannot be cloned",
            |project| {
                project.git(&["config", "uploadpack.keepAlive", "x"]);
            },
        ),
        ("a setting of packs", "cannot be cloned", |project| {
            project.git(&["config", "pack.indexVersion", "9"]);
        }),
        ("a promise of nobody's", "cannot be cloned", |project| {
            project.git(&["config", "remote.x.promisor", "true"]);
            project.git(&["config", "remote.x.url", "/nonexistent"]);
            let blob = project.git(&["rev-parse", "HEAD~1:a.txt"]);
            let objects = project.repo().join(".git/objects");
            fs::remove_file(objects.join(&blob[..2]).join(&blob[2..])).unwrap();
        }),
    ];
    for (what, wanted, make) in cases {
        let project = Project::new();
        for text in ["one\n", "two\n", "three\n"] {
            project.write("a.txt", text);
            project.commit();
        }
        project.git(&["tag", "v1"]);
        for history in [true, false] {
            project.fill_alone(history).unwrap();
        }
        make(&project);
        for history in [true, false] {
            let why = project.fill_alone(history).err().unwrap_or_default();
            assert!(why.contains(wanted), "{what}, shown {history}: {why}");
        }
    }
}

fn pack_refs(project: &Project, names: &[&str]) {
    let id = project.git(&["rev-parse", "HEAD"]);
    let lines: Vec<String> = names.iter().map(|name| format!("{id} {name}\n")).collect();
    project.write(".git/packed-refs", lines.concat());
}

/// A name that git passes over keeps nobody from a clone, and what is not told apart by names is sent.
#[test]
fn names_that_a_clone_bears_are_borne() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let commit = project.commit();
    let names = ["refs/heads/x-y", "refs/heads/x.lock", "refs/heads/xy/z"];
    pack_refs(&project, &names);
    project.fill_alone(true).unwrap();
    project.make_clone(&commit);
}

/// A script asks git in a submodule, and about it.
#[test]
fn a_submodule_in_a_room_is_a_repository_as_in_a_clone() {
    let inner = Project::new();
    inner.write("inner.txt", "one\n");
    inner.commit();
    let library = Project::new();
    library.write("lib.txt", "one\n");
    let url = |of: &Project| format!("file://{}", of.repo().display());
    library.git(&["submodule", "--quiet", "add", &url(&inner), "in ner"]);
    library.commit();
    library.write("lib.txt", "two\n");
    library.commit();
    let project = Project::new();
    project.git(&["submodule", "--quiet", "add", &url(&library), "vendor/lib"]);
    let update = ["submodule", "--quiet", "update", "--init", "--recursive"];
    project.git(&update);
    let first = project.commit();
    let says_the_same = |place: &Path| {
        let lib = place.join("vendor/lib");
        let asked = |repo: &Path, arguments: &[&str]| git(repo, arguments);
        let status = ["submodule", "status", "--recursive", "--cached"];
        let said = asked(place, &status);
        assert_eq!(said.lines().count(), 2, "{said}");
        let ids = |repo: &Path| {
            let said = asked(repo, &["submodule", "status", "--recursive"]);
            let lines = said
                .lines()
                .map(|line| line.trim().split(' ').next().unwrap().to_owned());
            lines.collect::<Vec<_>>()
        };
        assert_eq!(ids(place), ids(&project.repo()));
        assert_eq!(asked(place, &["status", "--porcelain"]), "");
        assert_eq!(asked(&lib, &["status", "--porcelain"]), "");
        let head = ["rev-parse", "HEAD"];
        assert_eq!(
            asked(&lib, &head),
            asked(&project.repo().join("vendor/lib"), &head)
        );
        assert_eq!(asked(&lib, &["rev-list", "--count", "HEAD"]), "2");
        assert_eq!(
            asked(&lib.join("in ner"), &["rev-list", "--count", "HEAD"]),
            "1"
        );
    };
    let room = project.room(Caches::Kept);
    let filled = project.try_fill(&room, &first).unwrap();
    assert_eq!(filled.lacking, []);
    says_the_same(room.path());
    says_the_same(project.fill_alone(true).unwrap().path());
    let hidden = project.fill_alone(false).unwrap();
    assert!(!hidden.path().join("vendor/lib/.git").exists());

    // What a run leaves there is gone with the next one, and so is a repository of an older commit.
    let config = room.path().join("vendor/lib/.git/config");
    let before = fs::metadata(&config).unwrap().modified().unwrap();
    project.try_fill(&room, &first).unwrap();
    assert_eq!(fs::metadata(&config).unwrap().modified().unwrap(), before);
    fs::write(room.path().join("vendor/lib/.git/left"), "x").unwrap();
    project.try_fill(&room, &first).unwrap();
    assert!(!room.path().join("vendor/lib/.git/left").exists());
    fs::remove_dir_all(room.path().join("vendor/lib/.git")).unwrap();
    fs::write(room.path().join("vendor/lib/.git"), "gitdir: /elsewhere\n").unwrap();
    project.try_fill(&room, &first).unwrap();
    says_the_same(room.path());
    project.git(&["rm", "-q", "-f", "vendor/lib"]);
    let next = project.commit();
    project.try_fill(&room, &next).unwrap();
    assert!(!room.path().join("vendor").exists());
}

#[test]
fn a_submodule_that_is_to_be_shallow_is_cut_off_as_in_a_clone() {
    let library = Project::new();
    for text in ["one\n", "two\n"] {
        library.write("lib.txt", text);
        library.commit();
    }
    let project = Project::new();
    let url = |of: &Project| format!("file://{}", of.repo().display());
    project.git(&["submodule", "--quiet", "add", &url(&library), "lib"]);
    let shallow = ["submodule.lib.shallow", "true"];
    project.git(&[&["config", "--file", ".gitmodules"], &shallow[..]].concat());
    let commit = project.commit();
    let count = |top: &Path| git(&top.join("lib"), &["rev-list", "--count", "HEAD"]);
    let clone = [
        "clone",
        "-q",
        "--recurse-submodules",
        &url(&project),
        "clone",
    ];
    git(project.dir.path(), &clone);
    assert_eq!(count(&project.dir.path().join("clone")), "1");
    let room = project.room(Caches::Kept);
    project.try_fill(&room, &commit).unwrap();
    assert_eq!(count(room.path()), "1");
    assert_eq!(count(project.fill_alone(true).unwrap().path()), "1");
}

#[test]
fn a_submodule_whose_name_lies_in_another_s_is_lacking() {
    let library = Project::new();
    library.write("lib.txt", "one\n");
    let id = library.commit();
    let project = Project::new();
    let url = format!("file://{}", library.repo().display());
    project.git(&["submodule", "--quiet", "add", "--name", "h", &url, "lib"]);
    for (key, value) in [("path", "other"), ("url", &url)] {
        let key = format!("submodule.h/hooks.{key}");
        project.git(&["config", "--file", ".gitmodules", &key, value]);
    }
    fs::create_dir(project.repo().join("other")).unwrap();
    let entry = format!("160000,{id},other");
    project.git(&["update-index", "--add", "--cacheinfo", &entry]);
    let commit = project.commit();
    let (filled, _) = project.fill(&commit);
    assert_eq!(filled.lacking.len(), 1, "{:?}", filled.lacking);
    assert_eq!(filled.lacking[0].path, "other");
    let why = &filled.lacking[0].why;
    assert!(why.contains("contains the other"), "{why}");
}

/// git keeps those of a linked worktree in a place of its own, and those that somebody cloned by hand where
/// their files are.
#[test]
fn a_submodule_is_found_wherever_git_keeps_it() {
    let library = Project::new();
    library.write("lib.txt", "one\n");
    library.commit();
    let url = format!("file://{}", library.repo().display());

    let by_hand = Project::new();
    by_hand.git(&["clone", "-q", &url, "lib"]);
    by_hand.git(&["submodule", "--quiet", "add", &url, "lib"]);
    by_hand.commit();
    assert!(by_hand.repo().join("lib/.git").is_dir());
    by_hand.fill_alone(true).unwrap();

    let project = Project::new();
    project.write("a", "x");
    project.commit();
    let linked = project.dir.path().join("linked");
    project.git(&[
        "worktree",
        "add",
        "-q",
        "--detach",
        linked.to_str().unwrap(),
    ]);
    git(&linked, &["submodule", "--quiet", "add", &url, "lib"]);
    git(&linked, &["commit", "-qam", "work"]);
    assert!(!project.repo().join(".git/modules").exists());
    let common = project.repo().join(".git");
    let source = Source {
        common: &common,
        git_dir: &common.join("worktrees/linked"),
        worktree: &linked,
        commit: &git(&linked, &["rev-parse", "HEAD"]),
        refs: &[],
        objects_at: None,
        history: true,
        alone: true,
        path: &std::env::var_os("PATH").unwrap(),
    };
    let room = project.room(Caches::Empty);
    let filled = room.fill(&source, &[]).unwrap();
    assert_eq!(filled.lacking, []);
    assert_eq!(fs::read(room.path().join("lib/lib.txt")).unwrap(), b"one\n");
    git(&room.path().join("lib"), &["rev-parse", "HEAD"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_place_that_is_not_utf_8_is_refused_with_a_way_on() {
    use std::os::unix::ffi::OsStrExt;
    let project = Project::new();
    project.write("a", "x");
    let commit = project.commit();
    let place = project
        .dir
        .path()
        .join(std::ffi::OsStr::from_bytes(b"r\xff"));
    fs::rename(project.repo(), &place).unwrap();
    let common = place.join(".git");
    let source = Source {
        common: &common,
        git_dir: &common,
        worktree: &place,
        commit: &commit,
        refs: &[],
        objects_at: None,
        history: true,
        alone: false,
        path: &std::env::var_os("PATH").unwrap(),
    };
    let failure = project.room(Caches::Kept).fill(&source, &[]).unwrap_err();
    assert_eq!(
        failure.code,
        cook_protocol::diagnostic::Code::NotReproducible
    );
    assert!(failure.message.contains("is not UTF-8"), "{failure:?}");
    assert!(
        failure.hints[0].contains("move the repository"),
        "{failure:?}"
    );
}

/// A relative address begins where the repository that names it comes from, or is.
#[test]
fn a_relative_address_of_a_submodule_is_resolved_as_in_a_clone() {
    let library = Project::new();
    library.write("lib.txt", "one\n");
    library.commit();
    let project = Project::new();
    let url = format!("file://{}", library.repo().display());
    project.git(&["submodule", "--quiet", "add", &url, "lib"]);
    let name = library.dir.path().file_name().unwrap().to_str().unwrap();
    for (origin, address, wanted) in [
        (None, format!("../../{name}/repo"), None),
        (None, format!("./../../{name}/none"), Some("the address in")),
        (None, "../".repeat(20), Some("leads out of")),
        (
            Some("https://example.org/team/work.git"),
            "../a".into(),
            None,
        ),
        (Some("git@example.org:work/"), "../a".into(), None),
    ] {
        if let Some(origin) = origin {
            project.git(&["config", "remote.origin.url", origin]);
        }
        let key = ["submodule.lib.url", &address];
        project.git(&[&["config", "-f", ".gitmodules"], &key[..]].concat());
        let (filled, _) = project.fill(&project.commit());
        match wanted {
            None => assert_eq!(filled.lacking, [], "{address}"),
            Some(why) => assert!(filled.lacking[0].why.contains(why), "{:?}", filled.lacking),
        }
        let asked = match origin {
            Some("git@example.org:work/") => Some("git@example.org:a"),
            Some(_) => Some("https://example.org/team/a"),
            None => None,
        };
        let remarks = filled.remarks.concat();
        assert!(remarks.contains(asked.unwrap_or_default()), "{remarks}");
    }
}
