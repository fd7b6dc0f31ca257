//! Rooms against what git itself makes of the same commit in a clone without any settings.

use crate::room::support::{Project, git};
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
