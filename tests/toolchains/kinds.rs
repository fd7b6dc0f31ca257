//! Kinds of repositories.

use crate::support::{COOK, Repo};
use crate::toolchains::{is_here, make_project, only_a, path, skip, twice};
use std::path::Path;

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
