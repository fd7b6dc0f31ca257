//! The facts about a repository agree with `git`, in every set-up git allows, or
//! the refusal names the reason.

use crate::scratch::{Scratch, hermetic, run_git_in, try_git};
use cook_protocol::diagnostic::Code;
use cook_protocol::machine::MAX_COMMITS;
use cook_protocol::model::CONTRACT_FILES;
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
fn a_plain_repository_and_below_it() {
    let scratch = Scratch::new();
    assert!(agrees(&scratch.root).is_open_in_libgit2());
    agrees(&scratch.path("dir"));
    scratch.write("new.txt", "x");
    let status = agrees(&scratch.root).status().unwrap();
    assert_eq!(status.worktree.dirty, ["new.txt"]);
    assert!(!status.tracked);
    scratch.write("a.txt", "changed");
    assert!(scratch.repo().status().unwrap().tracked);
}

#[test]
fn ignored_files_never_count_and_the_digest_follows_the_status() {
    let scratch = Scratch::new();
    scratch.write(".gitignore", "*.log\n");
    scratch.commit("ignore");
    let clean = scratch.repo().status().unwrap().worktree;
    scratch.write("x.log", "x");
    assert_eq!(scratch.repo().status().unwrap().worktree, clean);
    scratch.write("x.txt", "x");
    assert_ne!(
        scratch.repo().status().unwrap().worktree.digest,
        clean.digest
    );
}

#[test]
fn merges_are_seen_against_their_first_parent() {
    let scratch = Scratch::new();
    scratch.git(&["switch", "-q", "-c", "side", "HEAD~1"]);
    scratch.write("side.txt", "x");
    scratch.commit("side");
    scratch.git(&["switch", "-q", "main"]);
    scratch.git(&[
        "merge",
        "-q",
        "--no-ff",
        "-m",
        "merge\n\nCook-Slice: m",
        "side",
    ]);
    agrees(&scratch.root);
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
fn detached_unborn_and_slashed_branches() {
    let scratch = Scratch::new();
    scratch.git(&["switch", "-q", "-c", "feature/x/y"]);
    assert_eq!(
        agrees(&scratch.root).head().unwrap().branch.as_deref(),
        Some("feature/x/y")
    );
    scratch.git(&["switch", "-q", "--detach"]);
    assert_eq!(agrees(&scratch.root).head().unwrap().branch, None);

    let unborn = Scratch::unborn(&[]);
    let repo = unborn.repo();
    let head = repo.head().unwrap();
    assert_eq!((head.commit.clone(), head.tree.clone()), (None, None));
    assert_eq!(head.branch.as_deref(), Some("main"));
    assert!(!repo.on_head(&head, &"a".repeat(40)).unwrap());
    assert!(repo.status().unwrap().worktree.is_clean());
    assert_eq!(
        repo.contract_uncommitted(&head).unwrap().len(),
        CONTRACT_FILES.len()
    );
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
fn sparse_checkouts_split_and_sparse_indexes_are_clean() {
    let scratch = Scratch::new();
    scratch.git(&["sparse-checkout", "set", "--cone", "nothing"]);
    assert!(agrees(&scratch.root).status().unwrap().worktree.is_clean());
    scratch.git(&[
        "sparse-checkout",
        "set",
        "--cone",
        "--sparse-index",
        "nothing",
    ]);
    assert!(agrees(&scratch.root).status().unwrap().worktree.is_clean());
    let split = Scratch::new();
    split.git(&["update-index", "--split-index"]);
    assert!(agrees(&split.root).status().unwrap().worktree.is_clean());
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

#[test]
fn submodules_and_their_superproject() {
    let library = Scratch::new();
    let scratch = Scratch::new();
    scratch.git(&[
        "submodule",
        "--quiet",
        "add",
        library.root.to_str().unwrap(),
        "lib",
    ]);
    scratch.commit("submodule");
    let repo = agrees(&scratch.root);
    let commit = repo.head().unwrap().commit.unwrap();
    assert_eq!(repo.entry(&commit, "lib").unwrap(), Entry::Submodule);
    agrees(&scratch.path("lib"));
    let own = scratch.path(".git/modules/lib");
    assert_eq!(expect_refused(&own), Code::BareRepository);
    scratch.write("lib/a.txt", "dirty");
    assert_eq!(repo.status().unwrap().worktree.dirty, ["lib"]);
    scratch.git(&["config", "submodule.lib.ignore", "all"]);
    assert!(agrees(&scratch.root).status().unwrap().worktree.is_clean());
}

#[cfg(unix)]
#[test]
fn unusual_paths() {
    use std::os::unix::ffi::OsStrExt;
    let scratch = Scratch::new();
    for name in [
        &b"new\nline"[..],
        b"tab\there",
        b"quo\"te",
        "gr\u{f6}\u{df}e \u{1f600}".as_bytes(),
        b"-dash",
        b":(glob)x",
    ] {
        std::fs::write(scratch.root.join(std::ffi::OsStr::from_bytes(name)), "x").unwrap();
    }
    scratch.commit("unusual");
    agrees(&scratch.root);
    std::fs::write(
        scratch
            .root
            .join(std::ffi::OsStr::from_bytes(b"bad\xff\xfename")),
        "x",
    )
    .unwrap();
    assert_eq!(
        scratch.repo().status().unwrap().worktree.dirty,
        ["bad\\xff\\xfename"]
    );
    let before = scratch.git(&["rev-parse", "HEAD"]);
    scratch.commit("not UTF-8");
    let repo = scratch.repo();
    let range = repo.range(&repo.head().unwrap(), &before, true).unwrap();
    assert_eq!(range.commits[0].paths, ["bad\\xff\\xfename"]);

    let odd = scratch.root.with_file_name("odd\ndir \u{e4}");
    std::fs::rename(&scratch.root, &odd).unwrap();
    assert_eq!(Repo::discover(&odd).unwrap().root(), odd);
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
fn the_environment_points_nowhere_else() {
    let scratch = Scratch::new();
    let other = Scratch::unborn(&[]);
    run_in_own_process(
        "redirected_child",
        &scratch.root,
        &[
            ("GIT_DIR", &other.path(".git")),
            ("GIT_WORK_TREE", &other.root),
            ("GIT_INDEX_FILE", &other.path(".git/index")),
            ("GIT_OBJECT_DIRECTORY", &other.path(".git/objects")),
            ("GIT_PREFIX", Path::new("dir/")),
            ("GIT_CEILING_DIRECTORIES", &scratch.root),
            ("GIT_CONFIG_COUNT", Path::new("1")),
            ("GIT_CONFIG_KEY_0", Path::new("core.excludesFile")),
            ("GIT_CONFIG_VALUE_0", Path::new("/dev/stdin")),
        ],
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
fn what_is_no_repository_to_work_in() {
    hermetic();
    let scratch = Scratch::empty();
    assert_eq!(expect_refused(&scratch.root), Code::NotARepository);
    assert_eq!(
        expect_refused(&scratch.path("missing")),
        Code::NotARepository
    );
    let bare = Scratch::empty();
    bare.git(&["init", "-q", "--bare"]);
    assert_eq!(expect_refused(&bare.root), Code::BareRepository);
    let bare = Scratch::empty();
    bare.git(&["init", "-q", "--bare", "--ref-format=reftable"]);
    assert_eq!(expect_refused(&bare.root), Code::BareRepository);
    // A `.git` that leads nowhere hides the repository above it, as it does for git.
    let outer = Scratch::new();
    outer.write("inner/.git", "gitdir: ../nowhere\n");
    assert_eq!(expect_refused(&outer.path("inner")), Code::NotARepository);
    // An empty `.git` directory does not.
    std::fs::create_dir_all(outer.path("other/.git")).unwrap();
    assert_eq!(
        Repo::discover(&outer.path("other")).unwrap().root(),
        outer.root
    );
}

/// Whoever tracks files may track a git directory among them, with settings of theirs; none can be
/// tracked that is named `.git`.
#[test]
fn a_git_directory_among_the_files_is_no_place_to_work_in() {
    let other = Scratch::new();
    let scratch = Scratch::new();
    scratch.git(&["init", "-q", "--bare", "x"]);
    scratch.write("x/sub/f", "f\n");
    let set = |name: &str, value: &str| {
        scratch.git(&["config", "--file", "x/config", name, value]);
    };
    set("core.bare", "false");
    for worktree in ["sub", "..", ".", other.root.to_str().unwrap()] {
        set("core.worktree", worktree);
        for dir in ["x", "x/sub", "x/refs"] {
            let code = expect_refused(&scratch.path(dir));
            assert_eq!(code, Code::BareRepository, "{worktree} {dir}");
        }
    }
    // Its own is no other place.
    for dir in [".git", ".git/refs"] {
        let repo = Repo::discover(&scratch.path(dir)).unwrap();
        assert_eq!(repo.root(), scratch.root);
    }
    // At the root too what is named `.git` counts.
    scratch.write("HEAD", "ref: refs/heads/other\n");
    for dir in ["objects", "refs"] {
        std::fs::create_dir(scratch.path(dir)).unwrap();
    }
    assert_eq!(scratch.repo().git_dir(), scratch.path(".git"));
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

#[test]
fn discovery_stops_at_the_worktree_it_starts_in() {
    let outer = Scratch::new();
    std::fs::create_dir(outer.path("nested")).unwrap();
    run_git_in(&outer.path("nested"), &["init", "-q"]);
    assert_eq!(
        Repo::discover(&outer.path("nested")).unwrap().root(),
        outer.path("nested")
    );
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

#[test]
fn a_reported_commit() {
    let scratch = Scratch::new();
    let facts = read_commit_facts(&scratch);
    assert_eq!(facts.id, scratch.repo().head().unwrap().commit);
    assert!(facts.on_head && facts.after_basis);
    assert_eq!(facts.protected, ["dir/b.txt", "dir/with space.txt"]);
    assert_eq!(facts.paths, ["dir/b.txt", "dir/with space.txt", "a.txt"]);
    assert_eq!(facts.claimed.len(), 2);

    let repo = scratch.repo();
    let head = repo.head().unwrap();
    let ask = |commit: &str, basis: &str, since: Option<&str>| {
        let question = CommitQuestion {
            commit: commit.to_owned(),
            basis: basis.to_owned(),
            since: since.map(str::to_owned),
            slice_id: "s-1".to_owned(),
            claimed: BTreeSet::new(),
        };
        repo.commit_facts(&head, &question, &[]).unwrap()
    };
    let tip = head.commit.clone().unwrap();
    let before = scratch.git(&["rev-parse", "HEAD~1"]);
    // The basis itself does not come after itself; refs and nonsense name no commit.
    assert!(!ask(&tip, &tip, None).after_basis);
    for nonsense in [
        "main",
        "HEAD",
        "HEAD~1",
        "",
        "abc",
        "zzzzzz",
        &"0".repeat(40),
        &"f".repeat(65),
    ] {
        assert_eq!(ask(nonsense, &before, None).id, None, "{nonsense}");
    }
    let made = ask(&tip, &before, Some(&before));
    assert!(made.claimed == [tip.as_str()] && !made.is_earlier);
    assert!(ask(&tip, &before, Some(&tip)).is_earlier);
    assert!(!ask(&tip, &before, None).is_earlier);
    assert_eq!(
        ask(&tip, &before, Some(&"0".repeat(40))).claimed,
        [tip.as_str()]
    );
    // A commit that was amended away exists, and is not on HEAD.
    scratch.git(&["commit", "-q", "--amend", "-m", "other"]);
    let moved = repo.head().unwrap();
    let question = CommitQuestion {
        commit: tip.clone(),
        basis: before.clone(),
        since: None,
        slice_id: "s-1".to_owned(),
        claimed: BTreeSet::new(),
    };
    let facts = repo.commit_facts(&moved, &question, &[]).unwrap();
    assert!(facts.id.is_some() && !facts.on_head && facts.after_basis);
    let range = repo.range(&moved, &tip, false).unwrap();
    assert!(range.resolves && !range.ancestor);
    assert_eq!(range.merge_base, Some(before));
}

#[test]
fn contract_files_are_protected_and_looked_for() {
    let scratch = Scratch::new();
    let repo = scratch.repo();
    assert_eq!(repo.contract_missing().unwrap(), CONTRACT_FILES);
    let basis = repo.head().unwrap().commit.unwrap();
    for file in CONTRACT_FILES {
        scratch.write(file, "x");
    }
    assert!(repo.contract_missing().unwrap().is_empty());
    assert_eq!(
        repo.contract_uncommitted(&repo.head().unwrap()).unwrap(),
        CONTRACT_FILES
    );
    let commit = scratch.commit("contract");
    let head = repo.head().unwrap();
    assert!(repo.contract_uncommitted(&head).unwrap().is_empty());
    let question = CommitQuestion {
        commit,
        basis,
        since: None,
        slice_id: "s-1".to_owned(),
        claimed: BTreeSet::new(),
    };
    let facts = repo.commit_facts(&head, &question, &[]).unwrap();
    assert_eq!(facts.protected.len(), CONTRACT_FILES.len());
    std::fs::remove_file(scratch.path(CONTRACT_FILES[0])).unwrap();
    assert_eq!(repo.contract_missing().unwrap(), [CONTRACT_FILES[0]]);
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
fn a_long_range_is_cut_to_its_newest() {
    let scratch = Scratch::new();
    let basis = scratch.git(&["rev-parse", "HEAD"]);
    let mut stream = String::new();
    for number in 0..MAX_COMMITS + 20 {
        stream += &format!(
            "commit refs/heads/main\ncommitter A <a@b> {} +0000\ndata {}\n{number}\n",
            1_800_000_000 + number,
            number.to_string().len()
        );
        if number == 0 {
            stream += &format!("from {basis}\n");
        }
    }
    scratch.write(".git/stream", &stream);
    let status = std::process::Command::new("git")
        .args(["fast-import", "--quiet", "--force"])
        .current_dir(&scratch.root)
        .stdin(std::fs::File::open(scratch.path(".git/stream")).unwrap())
        .status();
    assert!(status.unwrap().success());
    let repo = scratch.repo();
    let head = repo.head().unwrap();
    let range = repo.range(&head, &basis, false).unwrap();
    assert_eq!(range.commits.len(), MAX_COMMITS);
    assert_eq!(
        range.commits.last().map(|seen| &seen.id),
        head.commit.as_ref()
    );
}

#[test]
fn an_ambiguous_id_names_nothing_and_a_branch_is_no_id() {
    let scratch = Scratch::new();
    // Enough commits that two share their first four digits.
    let mut ids = Vec::new();
    let tree = scratch.git(&["rev-parse", "HEAD^{tree}"]);
    let shared = loop {
        let id = scratch.git(&["commit-tree", &tree, "-m", &ids.len().to_string()]);
        if let Some(other) = ids
            .iter()
            .find(|other: &&String| other[..4] == id[..4] && **other != id)
        {
            break other[..4].to_owned();
        }
        ids.push(id);
        assert!(ids.len() < 5000);
    };
    let repo = scratch.repo();
    assert_eq!(repo.resolve(&shared).unwrap(), None);
    assert_eq!(
        repo.resolve(&ids[0]).unwrap().as_deref(),
        Some(ids[0].as_str())
    );
    scratch.git(&["branch", "deadbeef"]);
    assert_eq!(repo.resolve("deadbeef").unwrap(), None);
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

#[test]
fn the_hot_path_is_hot() {
    let scratch = Scratch::new();
    let repo = scratch.repo();
    let head = repo.head().unwrap();
    let basis = scratch.git(&["rev-parse", "HEAD~2"]);
    let fastest = (0..50)
        .map(|_| {
            let started = std::time::Instant::now();
            repo.head().unwrap();
            repo.range(&head, &basis, true).unwrap();
            started.elapsed()
        })
        .min()
        .unwrap();
    // Half a millisecond is the aim in a release build; this one is not, and is shared.
    assert!(fastest < std::time::Duration::from_millis(5), "{fastest:?}");
}

#[test]
fn a_commit_of_a_line_is_read_once() {
    let scratch = Scratch::new();
    let first = scratch.git(&["rev-parse", "HEAD"]);
    for number in 0..3 {
        scratch.write("a.txt", number.to_string());
        scratch.commit("more");
    }
    let repo = scratch.repo();
    let head = repo.head().unwrap();
    let range = repo.range(&head, &first, false).unwrap();
    assert_eq!(range.commits.len(), 3);
    for seen in &range.commits {
        let (begin, rest) = seen.id.split_at(2);
        let file = repo.git_dir().join("objects").join(begin).join(rest);
        std::fs::remove_file(file).unwrap();
    }
    assert_eq!(repo.range(&head, &first, false).unwrap(), range);
    for seen in &range.commits {
        assert!(repo.is_ancestor(&first, &seen.id).unwrap());
        assert!(!repo.is_ancestor(&seen.id, &first).unwrap());
    }
}

/// Each path with what became of it, as git's letters say it.
fn letters(repo: &Repo, from: &str, to: &str) -> Vec<String> {
    let mut told: Vec<String> = repo
        .changes(Some(from), to)
        .unwrap()
        .into_iter()
        .map(|change| {
            let letter = match change.kind {
                cook_repo::git::ChangeKind::Added => 'A',
                cook_repo::git::ChangeKind::Deleted => 'D',
                cook_repo::git::ChangeKind::Modified => 'M',
            };
            format!("{letter} {}", change.path)
        })
        .collect();
    told.sort();
    told
}

#[cfg(unix)]
#[test]
fn changes_are_those_that_git_names() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let scratch = Scratch::new();
    scratch.write("deep/er/one.txt", "one");
    scratch.write("deep/er/two.txt", "two");
    scratch.write("becomes/a/file", "x");
    scratch.write("was-file", "x");
    scratch.write("name", "x");
    scratch.write("name.txt", "x");
    scratch.write("run.sh", "x");
    scratch.write("link-to-be", "x");
    let before = scratch.commit("before");
    let path = |name: &str| scratch.root.join(name);
    scratch.write("deep/er/two.txt", "changed");
    scratch.write("deep/new/three.txt", "three");
    std::fs::remove_dir_all(path("becomes")).unwrap();
    scratch.write("becomes", "a file now");
    std::fs::remove_file(path("was-file")).unwrap();
    scratch.write("was-file/inside", "a directory now");
    std::fs::remove_file(path("name")).unwrap();
    scratch.write("name/x", "x");
    std::fs::set_permissions(path("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::remove_file(path("link-to-be")).unwrap();
    symlink("run.sh", path("link-to-be")).unwrap();
    let after = scratch.commit("after");
    let repo = scratch.repo();
    for (from, to) in [(&before, &after), (&after, &before), (&after, &after)] {
        let said = scratch.git(&["diff-tree", "-r", "--no-renames", "--name-status", from, to]);
        let mut theirs: Vec<String> = said
            .lines()
            .map(|line| line.replace('\t', " ").replacen("T ", "M ", 1))
            .collect();
        theirs.sort();
        assert_eq!(letters(&repo, from, to), theirs);
    }
    let all = repo.changes(None, &after).unwrap();
    let files = scratch.git(&["ls-tree", "-r", "--name-only", &after]);
    assert_eq!(all.len(), files.lines().count());
}
