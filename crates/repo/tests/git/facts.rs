//! The facts about a repository agree with `git`, in every set-up git allows, or
//! the refusal names the reason.

use crate::scratch::{Scratch, run_git_in, try_git};
use cook_protocol::diagnostic::Code;
use cook_protocol::question::CommitQuestion;
use cook_repo::git::{Entry, Repo};
use std::collections::BTreeSet;
use std::path::Path;

/// Holds every fact about the repository at `dir` against git's own answers.
fn agrees(dir: &Path) -> Repo {
    let repo = Repo::discover(dir).unwrap_or_else(|failure| panic!("{}: {failure}", dir.display()));
    let git = |arguments: &[&str]| run_git_in(repo.root(), arguments);
    assert_eq!(
        repo.root().to_str().unwrap(),
        git(&["rev-parse", "--show-toplevel"])
    );
    for (ours, theirs) in [
        (repo.git_dir(), "--git-dir"),
        (repo.common_dir(), "--git-common-dir"),
    ] {
        let theirs = git(&["rev-parse", "--path-format=absolute", theirs]);
        assert_eq!(ours, Path::new(&theirs).canonicalize().unwrap());
    }
    let head = repo.head().unwrap();
    let commit = head.commit.clone().unwrap();
    assert_eq!(commit, git(&["rev-parse", "HEAD"]));
    assert_eq!(
        head.tree.clone().unwrap(),
        git(&["rev-parse", "HEAD^{tree}"])
    );
    let branch = try_git(repo.root(), &["symbolic-ref", "-q", "--short", "HEAD"]);
    assert_eq!(
        head.branch.clone().unwrap_or_default(),
        String::from_utf8_lossy(&branch.stdout).trim()
    );

    for earlier in git(&["rev-list", "HEAD"]).lines() {
        let range = repo.range(&head, earlier, true).unwrap();
        assert!(range.resolves && range.ancestor && range.merge_base.is_none());
        let theirs = git(&["rev-list", &format!("{earlier}..HEAD")]);
        let ours: Vec<&str> = range.commits.iter().map(|seen| seen.id.as_str()).collect();
        assert_eq!(
            ours.iter().copied().collect::<BTreeSet<_>>(),
            theirs.lines().collect::<BTreeSet<_>>()
        );
        // Git leaves open which of two unrelated commits is older; parents come first.
        let place = |id: &str| ours.iter().position(|ours| *ours == id);
        for (at, id) in ours.iter().enumerate() {
            for parent in git(&["show", "-s", "--format=%P", id]).split_whitespace() {
                assert!(place(parent).is_none_or(|parent| parent < at));
            }
        }
        for seen in &range.commits {
            let format = "--format=%(trailers:key=Cook-Slice,valueonly)";
            let theirs = git(&["show", "-s", format, &seen.id]);
            assert_eq!(seen.slice.as_deref(), theirs.lines().last());
            let parent = format!("{}^1", seen.id);
            let theirs = git(&[
                "diff-tree",
                "-r",
                "-z",
                "--name-only",
                "--no-renames",
                "--ignore-submodules=none",
                &parent,
                &seen.id,
            ]);
            let mut theirs: Vec<&str> =
                theirs.split('\0').filter(|path| !path.is_empty()).collect();
            theirs.sort_unstable();
            assert_eq!(seen.paths, theirs);
        }
        assert!(repo.on_head(&head, &earlier[..12]).unwrap());
    }
    assert!(!repo.on_head(&head, "0123456789").unwrap());

    let files = git(&["ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD"]);
    for file in files.split('\0').filter(|file| !file.is_empty()) {
        if let Entry::File { oid, bytes } = repo.entry(&commit, file).unwrap() {
            assert_eq!(oid, git(&["rev-parse", &format!("HEAD:{file}")]));
            assert_eq!(bytes.len().to_string(), git(&["cat-file", "-s", &oid]));
        }
    }
    let theirs = git(&["status", "--porcelain", "--untracked-files=normal"]);
    let status = repo.status().unwrap().worktree;
    assert_eq!(status.is_clean(), theirs.is_empty(), "{status:?} {theirs}");
    repo
}

fn expect_refused(dir: &Path) -> Code {
    Repo::discover(dir).unwrap_err().code
}

#[test]
fn a_linked_worktree_has_its_own_git_dir() {
    let scratch = Scratch::new();
    scratch.git(&["worktree", "add", "-q", "../linked", "-b", "linked"]);
    let linked = scratch.root.with_file_name("linked");
    let repo = agrees(&linked);
    assert_ne!(repo.git_dir(), repo.common_dir());
    assert_eq!(repo.common_dir(), scratch.path(".git"));
    assert_eq!(repo.head().unwrap().branch.as_deref(), Some("linked"));
}

#[test]
fn sha256() {
    let scratch = Scratch::with(&["--object-format=sha256"]);
    let repo = agrees(&scratch.root);
    assert_eq!(repo.head().unwrap().commit.unwrap().len(), 64);
}

#[test]
fn reftable_is_asked_of_git() {
    let scratch = Scratch::with(&["--ref-format=reftable"]);
    let repo = agrees(&scratch.root);
    assert!(!repo.is_open_in_libgit2());
    assert_eq!(
        read_commit_facts(&scratch),
        read_commit_facts(&Scratch::new())
    );
    let unborn = Scratch::unborn(&["--ref-format=reftable"]);
    assert_eq!(unborn.repo().head().unwrap().commit, None);
}

#[test]
fn a_partial_clone_never_downloads() {
    let source = Scratch::new();
    source.git(&["config", "uploadpack.allowFilter", "true"]);
    let place = source.root.with_file_name("partial");
    let url = format!("file://{}", source.root.display());
    run_git_in(
        &source.root,
        &[
            "clone",
            "-q",
            "--filter=blob:none",
            &url,
            place.to_str().unwrap(),
        ],
    );
    let repo = agrees(&place);
    // The first commit's `dir/b.txt` was never fetched, and is not fetched now.
    let first = source.git(&["rev-list", "--max-parents=0", "HEAD"]);
    let failure = repo.entry(&first, "dir/b.txt").unwrap_err();
    assert_eq!(failure.code, Code::GitFailed);
    // A gate there needs it, so a checkout fetches.
    let throwaway = repo.throwaway(&first).unwrap();
    let fetched = std::fs::read_to_string(throwaway.path().join("dir/b.txt"));
    assert_eq!(fetched.unwrap(), "two\n");
}

#[test]
fn shallow() {
    let source = Scratch::new();
    let place = source.root.with_file_name("shallow");
    let url = format!("file://{}", source.root.display());
    run_git_in(
        &source.root,
        &["clone", "-q", "--depth=2", &url, place.to_str().unwrap()],
    );
    let repo = agrees(&place);
    let first = source.git(&["rev-list", "--max-parents=0", "HEAD"]);
    let range = repo.range(&repo.head().unwrap(), &first, false).unwrap();
    assert!(!range.resolves && range.commits.is_empty());
}

/// Runs one ignored test of this file in a process of its own, whose variables
/// would reach other tests.
fn run_in_own_process(test: &str, root: &Path, variables: &[(&str, &Path)]) {
    let (_, module) = module_path!().split_once("::").unwrap();
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            &format!("{module}::{test}"),
            "--ignored",
            "--nocapture",
        ])
        .env("CHILD_ROOT", root)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{failed}"
    );
}

#[test]
#[ignore = "the child of `the_environment_points_nowhere_else`"]
fn redirected_child() {
    let root = std::env::var("CHILD_ROOT").unwrap();
    let repo = Repo::discover(&Path::new(&root).join("dir")).unwrap();
    assert_eq!(repo.root(), Path::new(&root));
    assert!(repo.head().unwrap().commit.is_some());
    assert!(repo.status().unwrap().worktree.is_clean());
    std::fs::write(repo.root().join("new.txt"), "x").unwrap();
    assert_eq!(repo.status().unwrap().worktree.dirty, ["new.txt"]);
    // What cook sets itself is not taken away with what the caller set.
    let commit = repo.commit_paths(&["new.txt"], "new\n").unwrap().unwrap();
    assert_eq!(repo.head().unwrap().commit, Some(commit));
    assert!(repo.status().unwrap().worktree.is_clean());
}

#[test]
fn a_git_directory_may_lie_elsewhere() {
    let source = Scratch::new();
    let source = source.root.to_str().unwrap();
    let home = Scratch::empty();
    home.git(&["clone", "-q", "--bare", source, ".bare"]);
    home.write(".git", "gitdir: ./.bare\n");
    home.git(&["worktree", "add", "-q", "-b", "work", "work"]);
    home.git(&["worktree", "add", "-q", "-b", "inside", ".bare/inside"]);
    home.git(&[
        "clone",
        "-q",
        "--separate-git-dir=apart.git",
        source,
        "apart",
    ]);
    for dir in ["work", ".bare/inside", "apart"] {
        assert_eq!(agrees(&home.path(dir)).root(), home.path(dir));
    }
    for dir in [".", ".bare", "apart.git"] {
        let code = expect_refused(&home.path(dir));
        assert_eq!(code, Code::BareRepository, "{dir}");
    }
}

#[cfg(unix)]
#[test]
fn another_users_repository() {
    let scratch = Scratch::new();
    let chowned = std::process::Command::new("chown")
        .args(["-R", "12345"])
        .arg(&scratch.root)
        .status();
    if !chowned.is_ok_and(|status| status.success()) {
        // Only the superuser can make this situation.
        assert!(!nix::unistd::geteuid().is_root());
        return;
    }
    let failure = Repo::discover(&scratch.root).unwrap_err();
    assert_eq!(failure.code, Code::ForeignOwner);
    assert!(failure.hints[0].contains("safe.directory"), "{failure:?}");
}

fn read_commit_facts(scratch: &Scratch) -> cook_protocol::machine::CommitFacts {
    let repo = scratch.repo();
    let head = repo.head().unwrap();
    let basis = scratch.git(&["rev-list", "--max-parents=0", "HEAD"]);
    let question = CommitQuestion {
        commit: head.commit.clone().unwrap()[..10].to_owned(),
        since: Some(basis.clone()),
        basis,
        slice_id: "s-1".to_owned(),
        claimed: BTreeSet::new(),
    };
    repo.commit_facts(
        &head,
        &question,
        &["dir/*.txt".to_owned().try_into().unwrap()],
    )
    .unwrap()
}

#[cfg(unix)]
#[test]
fn a_linked_agent_directory_is_refused() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.root.with_file_name("elsewhere")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", scratch.path(".agent")).unwrap();
    assert_eq!(
        scratch.repo().contract_missing().unwrap_err().code,
        Code::AgentDirUnsafe
    );
    std::os::unix::fs::symlink("../elsewhere", scratch.path(".git/cook")).unwrap();
    assert_eq!(scratch.repo().cook_dir().unwrap_err().code, Code::LogUnsafe);
}

#[test]
fn trailers_are_found_as_git_finds_them() {
    let scratch = Scratch::unborn(&[]);
    let blocks = [
        "Cook-Slice: a",
        "Cook-Slice: a\nCook-Slice: b",
        "cook-slice: a",
        "Cook-Slice:a",
        "Cook-Slice : a",
        "Cook-Slice: a\n  more",
        "Cook-Slice: a\nprose",
        "prose\nCook-Slice: a",
        "Signed-off-by: x\nprose\nCook-Slice: a",
        "Signed-off-by: x\np\np\np\np\nCook-Slice: a",
        "(cherry picked from commit 12)\nCook-Slice: a\nprose",
        " Cook-Slice: a",
        "Cook-Slice: a\n\n# comment",
        "Cook-Slice: a\n# comment\nOther: b",
        "Cook-Slice: a\n\nConflicts:\n\tx.txt",
        "Cook-Slice:",
        "https://example.org",
        "Cook-Slice: a\n---\nb: c",
        "Cook-Slice: a\n\n---\n\nb: c",
        "Cook-Slice: a\r\nOther: b\r",
        "a b: c",
        "-: x",
        ": x",
        "Cook-Slice: gr\u{f6}\u{df}e",
        "x: y\n\n\n\n   \n",
        "Cook-Slice: a\n  \nb: c",
        "# only\n# comments",
        "Cook-Slice: a\n# ------------------------ >8 ------------------------\nb: c",
        "\tindented\nCook-Slice: a",
        "Signed-off-by: x\n\tindented\nCook-Slice: a",
        "no",
        "",
    ];
    let heads = [
        "title\n\n",
        "title\n\nbody\n\n",
        "title\nsecond line\n\nbody: x\n\n",
        "title: x\n",
        "",
        "\n\n",
        "# c\ntitle\n\n",
    ];
    let mut compared = 0;
    let mut others = Vec::new();
    for head in heads {
        for block in blocks {
            for end in ["", "\n", "\n\n"] {
                let message = format!("{head}{block}{end}");
                scratch.write("message", &message);
                let theirs =
                    scratch.git(&["interpret-trailers", "--parse", "--no-divider", "message"]);
                let mut slices = theirs.lines().filter_map(|line| {
                    let (token, value) = line.split_once(':')?;
                    let is_slice = token.trim().eq_ignore_ascii_case("Cook-Slice");
                    is_slice.then(|| value.trim().to_owned())
                });
                let theirs = slices.next_back().filter(|value| !value.is_empty());
                let ours = cook_repo::git::last_trailer(&message, "Cook-Slice");
                if ours != theirs {
                    others.push((message, ours, theirs));
                }
                compared += 1;
            }
        }
    }
    assert_eq!(others, []);
    assert_eq!(compared, heads.len() * blocks.len() * 3);
}

#[test]
fn without_the_git_program() {
    let scratch = Scratch::new();
    let nothing = Scratch::empty();
    run_in_own_process("gitless_child", &scratch.root, &[("PATH", &nothing.root)]);
    let reftable = Scratch::with(&["--ref-format=reftable"]);
    run_in_own_process(
        "gitless_reftable_child",
        &reftable.root,
        &[("PATH", &nothing.root)],
    );
}

#[test]
#[ignore = "a child of `without_the_git_program`"]
fn gitless_child() {
    let repo = Repo::discover(Path::new(&std::env::var("CHILD_ROOT").unwrap())).unwrap();
    let head = repo.head().unwrap();
    assert!(
        repo.range(&head, &head.commit.clone().unwrap(), true)
            .unwrap()
            .ancestor
    );
    assert_eq!(repo.status().unwrap_err().code, Code::GitMissing);
}

#[test]
#[ignore = "a child of `without_the_git_program`"]
fn gitless_reftable_child() {
    let root = std::env::var("CHILD_ROOT").unwrap();
    assert_eq!(expect_refused(Path::new(&root)), Code::GitMissing);
}
