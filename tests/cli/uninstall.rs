//! `cook uninstall`: what is named, what goes, and what stays.

use crate::support::repo::Repo;
use std::collections::BTreeSet;
use std::path::Path;

/// Every file below a directory.
fn list_files(dir: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => list_files(&path, found),
            false => drop(found.insert(path.display().to_string())),
        }
    }
}

/// Files of the git directory that git itself did not write.
fn list_written(repo: &Repo) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    list_files(&repo.root.join(".git"), &mut found);
    found.retain(|path| path.contains("cook") || path.ends_with("pre-push"));
    found
}

#[test]
fn files_that_the_user_changed_are_named_and_left() {
    let repo = Repo::set_up();
    repo.cook(&["hooks", "install", "git", "--check"]).exits(0);
    repo.cook(&["hooks", "install", "opencode"]).exits(0);
    let pre_push = repo.root.join(".git/hooks/pre-push");
    let mut text = std::fs::read_to_string(&pre_push).unwrap();
    text.push_str("echo mine\n");
    std::fs::write(&pre_push, &text).unwrap();
    let shim = repo.beside("home/.config/opencode/plugins/cook.ts");
    let shim = match shim.exists() {
        true => shim,
        false => repo.root.join(".opencode/plugins/cook.ts"),
    };
    let own = format!("{}// mine\n", std::fs::read_to_string(&shim).unwrap());
    std::fs::write(&shim, &own).unwrap();
    let told = repo.cook(&["uninstall", "--yes", "--home"]);
    told.exits(0)
        .says("stays    ")
        .says("/pre-push")
        .says("cook.ts (opencode) was changed by hand");
    assert_eq!(std::fs::read_to_string(&pre_push).unwrap(), text);
    assert_eq!(std::fs::read_to_string(&shim).unwrap(), own);
}

/// A lease that is held is a run at work, whoever asks.
#[test]
fn a_run_at_work_is_not_pulled_from_under_itself() {
    let repo = Repo::set_up();
    let id = repo.read(".git/cook-id");
    let lease = repo.root.join(".git/cook/leases").join(id.trim());
    std::fs::create_dir_all(lease.parent().unwrap()).unwrap();
    let file = std::fs::File::create(&lease).unwrap();
    std::fs::write(&lease, "{\"pid\": 77, \"owner\": \"`cook run`\"}").unwrap();
    file.lock().unwrap();
    let before = repo.fingerprint();
    repo.cook(&["uninstall", "--yes"])
        .fails(7, "lease_held")
        .says("driven by `cook run` (pid 77)")
        .says("next: ");
    assert_eq!(repo.fingerprint(), before);
    drop(file);
    repo.cook(&["uninstall", "--yes"]).exits(0);
}

#[test]
fn what_lies_on_a_remote_is_named_with_the_command_that_removes_it() {
    let repo = Repo::set_up();
    let there = repo.beside("there.git");
    repo.git(&["init", "--quiet", "--bare", there.to_str().unwrap()]);
    repo.git(&["remote", "add", "origin", there.to_str().unwrap()]);
    repo.cook(&["push", "origin", "--yes"]).exits(0);
    let log = "refs/cook/log/main";
    let listed = || repo.git(&["ls-remote", "origin", log]);
    assert!(listed().contains(log));
    let told = repo.cook(&["uninstall", "--yes"]);
    let command = format!("git push origin --delete {log}");
    told.exits(0).says(&command);
    assert!(listed().contains(log), "a remote is not touched");
    repo.git(&["push", "--quiet", "origin", "--delete", log]);
    assert_eq!(listed(), "");
}

/// Copies of the user's files that the log kept stand under refs of the repository afterwards.
#[test]
fn saved_copies_are_kept_as_refs_of_the_repository() {
    let repo = Repo::set_up();
    repo.write(".agent/plan.json", "my own plan\n");
    repo.cook(&["plan", "adopt", "--discard", "--as-user"])
        .exits(0);
    let listed = repo.cook(&["doctor", "rescue", "list"]);
    listed.exits(0).says("plan.json");
    let told = repo.cook(&["uninstall", "--yes"]);
    told.exits(0).says("refs/cook/saved/");
    let refs = repo.git(&["for-each-ref", "--format=%(refname)", "refs/cook/saved/"]);
    let name = refs.lines().next().unwrap();
    let files = repo.git(&["ls-tree", "-r", "--name-only", name]);
    let path = files.lines().find(|path| path.ends_with("plan.json"));
    let shown = repo.git(&["show", &format!("{name}:{}", path.unwrap())]);
    assert!(shown.contains("my own plan"), "{shown}");
}

#[test]
fn it_works_where_the_log_is_damaged_and_in_a_repository_without_a_commit() {
    let repo = Repo::set_up();
    std::fs::remove_dir_all(repo.root.join(".git/cook/log.git/objects")).unwrap();
    repo.cook(&["uninstall", "--yes"]).exits(0);
    assert_eq!(list_written(&repo), BTreeSet::new());

    let repo = Repo::unborn();
    let told = repo.cook(&["uninstall", "--yes"]);
    told.exits(0).says("there is nothing to remove");
}

#[test]
fn the_worktrees_of_a_repository_are_cleaned_together() {
    let repo = Repo::set_up();
    let other = repo.beside("other");
    repo.git(&[
        "worktree",
        "add",
        "--quiet",
        other.to_str().unwrap(),
        "-b",
        "side",
    ]);
    repo.cook(&["-C", other.to_str().unwrap(), "init"]).exits(0);
    assert!(other.join(".agent/state.json").exists());
    repo.cook(&["uninstall", "--yes"]).exits(0);
    assert!(!other.join(".agent/state.json").exists());
    assert_eq!(list_written(&repo), BTreeSet::new());
}
