//! What somebody did to a repository or to a room has no effect on what the room holds.

use crate::room::support::{Project, Tree, git, tree};
use cook_protocol::diagnostic::Code;
use cook_protocol::model::Caches;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

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
    found.remove(Path::new("target")).unwrap();
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

/// What changed a file in a run, or between two, is seen after the run, also where it was put back.
#[test]
fn what_was_done_to_a_file_is_seen() {
    let project = Project::new();
    project.write("a", "one\n").write("dir/b", "two\n");
    symlink("a", project.repo().join("link")).unwrap();
    let commit = project.commit();
    let wanted = project.make_clone(&commit);
    let room = project.room(Caches::Kept);
    let at = |path: &str| room.path().join(path);
    let filled = project.try_fill(&room, &commit).unwrap();
    assert_eq!(room.find_changed(&filled), None);
    let before = fs::metadata(at("dir/b")).unwrap().modified().unwrap();
    for text in ["own\n", "two\n"] {
        fs::write(at("dir/b"), text).unwrap();
        let file = fs::File::options().write(true).open(at("dir/b")).unwrap();
        file.set_modified(before).unwrap();
        assert_eq!(room.find_changed(&filled).as_deref(), Some("dir/b"));
    }
    let filled = project.try_fill(&room, &commit).unwrap();
    assert_eq!(tree(room.path()), wanted);
    assert_eq!(room.find_changed(&filled), None);

    // The files are the same ones, and stand elsewhere.
    let elsewhere = project.dir.path().join("elsewhere");
    fs::rename(at("dir"), &elsewhere).unwrap();
    symlink(&elsewhere, at("dir")).unwrap();
    assert_eq!(room.find_changed(&filled).as_deref(), Some("dir"));
    fs::remove_file(at("a")).unwrap();
    fs::remove_file(at("link")).unwrap();
    fs::write(at("link"), "no link").unwrap();
    fs::write(at("new"), "x").unwrap();
    project.try_fill(&room, &commit).unwrap();
    assert_eq!(tree(room.path()), wanted);
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
    assert!(refused.code == Code::NotReproducible, "{refused}");
    assert!(refused.to_string().contains("`out`"), "{refused}");
    assert!(!room.path().join("out").exists());
    fs::remove_file(place(&bad)).unwrap();
    let refused = project.try_fill(&room, &commit).unwrap_err();
    assert!(refused.code == Code::NotReproducible, "{refused}");
}

#[test]
fn neither_replacements_nor_settings_are_looked_at() {
    let project = Project::new();
    project.write("out", "one\n");
    let one = project.commit();
    let wanted = project.make_clone(&one);
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
        assert!(refused.code == Code::NotReproducible, "{name}: {refused}");
    }
    assert_eq!(tree(room.path()), Tree::new());
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
    let paths: Vec<&str> = filled.leading_out.iter().map(|(path, _)| &**path).collect();
    assert_eq!(paths, ["dir/out", "out", "root"]);
}
