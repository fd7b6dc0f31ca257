//! Kinds of repositories.

use crate::support::{COOK, Repo, run_alone};
use crate::toolchains::{init_green, is_here, make_project, only_a, path, room, skip, twice};
use std::path::Path;

/// git that may copy from a file of this machine.
#[track_caller]
fn git(repo: &Repo, args: &[&str]) {
    let mut command = repo.command("git");
    command
        .args(["-c", "protocol.file.allow=always"])
        .args(args);
    run_alone(&mut command).ok();
}

/// A repository of that kind, whose tests want `also`; none where this git does not know it.
fn begin(options: &[&str], also: &str) -> Option<Repo> {
    let repo = Repo::directory();
    let cook = Path::new(COOK).parent().unwrap();
    repo.extra.borrow_mut().push(path(cook));
    let mut command = repo.command("git");
    command.args(["init", "-q", "-b", "main"]).args(options);
    let output = command.output().unwrap();
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let why = said.lines().next().unwrap_or_default();
        skip(&format!("git init {}: {why}", options.join(" ")));
        return None;
    }
    make_project(&repo, also);
    is_here(&[&["make", "--version"]]).then_some(repo)
}

#[test]
fn a_repository_of_sha256() {
    let Some(repo) = begin(&["--object-format=sha256"], "a.txt") else {
        return;
    };
    repo.commit("Begin", None);
    assert_eq!(repo.head().len(), 64);
    let printed = twice(&repo, |repo| repo.write("a.txt", "other text\n"));
    only_a(&printed);
    repo.cook(&["doctor", "fsck"]).exits(0);
}

#[test]
fn a_repository_with_reftable() {
    let Some(repo) = begin(&["--ref-format=reftable"], "a.txt") else {
        return;
    };
    repo.commit("Begin", None);
    repo.git(&["tag", "v1"]);
    let printed = twice(&repo, |repo| repo.write("a.txt", "other text\n"));
    only_a(&printed);
    repo.cook(&["doctor", "fsck"]).exits(0);
}

#[test]
fn a_submodule_is_there_at_its_recorded_commit() {
    let Some(repo) = begin(&[], "library/word") else {
        return;
    };
    let library = repo.outside().join("library");
    std::fs::create_dir(&library).unwrap();
    let at = |args: &[&str]| {
        let mut command = repo.command("git");
        run_alone(command.args(args).current_dir(&library)).ok();
    };
    at(&["init", "-q", "-b", "main"]);
    std::fs::write(library.join("word"), "text\n").unwrap();
    at(&["add", "."]);
    at(&["commit", "-qm", "Begin"]);
    git(
        &repo,
        &[
            "submodule",
            "add",
            "-q",
            library.to_str().unwrap(),
            "library",
        ],
    );
    repo.commit("Begin", None);
    let printed = twice(&repo, |repo| repo.write("a.txt", "other text\n"));
    only_a(&printed);
    assert_eq!(
        std::fs::read_to_string(room(&repo).join("library/word")).unwrap(),
        "text\n"
    );
}

#[test]
fn large_files_come_from_the_local_store() {
    if !is_here(&[&["git", "lfs", "version"]]) {
        return;
    }
    let Some(repo) = begin(&[], "large.bin") else {
        return;
    };
    repo.git(&["lfs", "install", "--local"]);
    repo.git(&["lfs", "track", "*.bin"]);
    repo.write("large.bin", "text that is large\n");
    repo.commit("Begin", None);
    let pointer = repo.git(&["cat-file", "blob", "HEAD:large.bin"]);
    assert!(pointer.starts_with("version https://git-lfs"), "{pointer}");
    let printed = twice(&repo, |repo| repo.write("a.txt", "other text\n"));
    only_a(&printed);
}

#[test]
fn what_a_partial_clone_lacks_is_fetched() {
    let Some(origin) = begin(&[], "deep/word") else {
        return;
    };
    origin.write("deep/word", "text\n");
    origin.commit("Begin", None);
    origin.git(&["config", "uploadpack.allowFilter", "true"]);
    origin.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let repo = Repo::directory();
    let from = format!("file://{}", origin.root.display());
    let args = ["clone", "-q", "--filter=blob:none", "--sparse", &from, "."];
    git(&repo, &args);
    let missing = repo.git(&["rev-list", "--objects", "--missing=print", "HEAD"]);
    assert!(missing.contains('?'), "nothing is missing: {missing}");
    assert!(!Path::new(&repo.root).join("deep").exists());
    init_green(&repo);
    repo.write("a.txt", "other text\n");
    repo.git(&["commit", "-qam", "Change one line"]);
    let printed = crate::toolchains::green(&repo);
    only_a(&printed);
}
