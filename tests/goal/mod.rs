//! `cook goal`: whole stories by the public command line. A goal is set, missed, cheated, reached, held at a stop,
//! dropped, and verified in a clone.
#![cfg(unix)]

mod clones;
mod hidden;
mod odd;
mod runs;
mod set;
mod stops;
mod tricks;

use crate::support::{Repo, Run};

/// The check of most stories.
const CHECK: &str = "sh tests/slug.sh";
const TEST: &str = "set -e\n. ./slug.sh\n[ \"$(slug 'A B')\" = 'a-b' ]\n";
const OPEN: &str = "slug() { echo \"$1\"; }\n";
const SOUND: &str = "slug() { echo \"$1\" | tr 'A-Z ' 'a-z-'; }\n";
/// It knows the one case that the test asks for.
const CHEAT: &str = "slug() { echo a-b; }\n";

/// A repository in which the check is red.
fn repo() -> Repo {
    Repo::stage("a red check", || {
        let repo = Repo::unborn();
        repo.write("slug.sh", OPEN);
        repo.write("tests/slug.sh", TEST);
        repo.commit("Begin", None);
        repo
    })
}

/// Sets a goal as a script of the user's.
fn set(repo: &Repo, more: &[&str]) -> Run {
    let words = [
        "goal",
        "slugs are lower case",
        "--check",
        CHECK,
        "--as-user",
    ];
    repo.cook(&[&words[..], more].concat())
}

/// The same in a repository of its own.
fn with_goal() -> Repo {
    Repo::stage("a goal", || {
        let repo = repo();
        set(&repo, &[]).ok();
        repo
    })
}

/// What `cook goal --json` says, with its exit code.
#[track_caller]
fn state(repo: &Repo, code: i32) -> serde_json::Value {
    repo.cook(&["goal", "--json"]).exits(code).json()
}

/// The work is done, and committed.
fn mend(repo: &Repo) -> String {
    repo.write("slug.sh", SOUND);
    repo.commit("Lower the case", None)
}
