//! What is not committed, parked as a ref and put back: with the index, untracked files and the
//! user's own stash as they were.

use crate::scratch::Scratch;
use cook_repo::git::Unparked;

/// What a user sees of what he has not committed.
fn read_seen(scratch: &Scratch) -> (String, String) {
    (
        scratch.git(&["status", "--porcelain"]),
        scratch.git(&["stash", "list", "--format=%H %gs"]),
    )
}

#[test]
fn everything_comes_back_as_it_was() {
    let scratch = Scratch::new();
    scratch.write("a.txt", "stashed earlier\n");
    scratch.git(&["stash", "push", "-q", "-m", "mine"]);
    scratch.write("a.txt", "one\nmore\nstaged\n");
    scratch.git(&["add", "a.txt"]);
    scratch.write("a.txt", "one\nmore\nstaged\nand not\n");
    scratch.write("new/file.txt", "untracked");
    scratch.git(&["rm", "-q", "dir/with space.txt"]);
    let before = read_seen(&scratch);
    let repo = scratch.repo();
    let name = repo.park("log", "01").unwrap();
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
    assert_eq!(scratch.git(&["stash", "list", "--format=%H %gs"]), before.1);
    assert_eq!(
        repo.list_parked("log").unwrap(),
        std::slice::from_ref(&name)
    );
    assert!(repo.list_parked("other").unwrap().is_empty());
    scratch.write("elsewhere.txt", "an agent's");
    scratch.commit("work");
    assert_eq!(repo.unpark(&name).unwrap(), Unparked::PutBack);
    assert_eq!(read_seen(&scratch), before);
    assert!(repo.list_parked("log").unwrap().is_empty());
    let text = std::fs::read_to_string(scratch.path("a.txt")).unwrap();
    assert_eq!(text, "one\nmore\nstaged\nand not\n");
}

#[test]
fn what_would_collide_stays_parked() {
    let scratch = Scratch::new();
    scratch.write("a.txt", "mine\n");
    scratch.write("notes.txt", "mine too");
    let repo = scratch.repo();
    let name = repo.park("log", "01").unwrap();
    scratch.write("notes.txt", "an agent's");
    let commit = scratch.commit("work");
    let stays = |why: &str| {
        let Unparked::Stay(said) = repo.unpark(&name).unwrap() else {
            panic!("it was put back");
        };
        assert!(said.contains(why), "{said}");
        assert_eq!(
            repo.list_parked("log").unwrap(),
            std::slice::from_ref(&name)
        );
    };
    stays("`notes.txt`");
    scratch.git(&["revert", "--no-edit", &commit]);
    scratch.write("dirt.txt", "of a run that was interrupted");
    stays("the worktree is not clean");
    std::fs::remove_file(scratch.path("dirt.txt")).unwrap();
    assert_eq!(repo.unpark(&name).unwrap(), Unparked::PutBack);
    assert_eq!(
        std::fs::read_to_string(scratch.path("notes.txt")).unwrap(),
        "mine too"
    );
}

/// git stashes nothing then, and what stands at the top of the stash is the user's.
#[test]
fn the_users_own_stash_is_never_taken_for_what_was_parked() {
    let library = Scratch::new();
    let scratch = Scratch::new();
    let source = library.root.to_str().unwrap();
    scratch.git(&["submodule", "--quiet", "add", source, "lib"]);
    scratch.commit("submodule");
    scratch.write("a.txt", "stashed earlier\n");
    scratch.git(&["stash", "push", "-q", "-m", "mine"]);
    scratch.write("lib/a.txt", "dirty");
    let before = read_seen(&scratch);
    let refused = scratch.repo().park("log", "01").unwrap_err();
    assert!(refused.to_string().contains("stashes nothing"), "{refused}");
    assert_eq!(read_seen(&scratch), before);
    assert!(scratch.repo().list_parked("log").unwrap().is_empty());
}
