//! The log on its way to a remote and from one, with real git and real servers on loopback.

mod clones;
mod hostile;
mod leaving;
mod race;
mod renamed;
mod server;
mod servers;
mod sync;
mod worker;

use crate::support::{Repo, Run, run_alone};
use std::path::PathBuf;

/// A bare repository, and the clone in which the work was begun.
pub struct Shared {
    /// Where the work was begun.
    pub first: Repo,
    /// The remote.
    pub bare: PathBuf,
}

impl Shared {
    /// Set up in the first clone and never pushed.
    pub fn make_unpushed() -> Self {
        Self::around(Repo::with_mission("Build it. All of it."))
    }

    /// The same with a first clone of the test's.
    pub fn around(first: Repo) -> Self {
        let bare = first.beside("r.git");
        first.git(&["init", "-q", "--bare", "-b", "main", bare.to_str().unwrap()]);
        first.git(&["remote", "add", "origin", bare.to_str().unwrap()]);
        name(&first, 1);
        Self { first, bare }
    }

    /// The same, pushed.
    pub fn make_pushed() -> Self {
        let shared = Self::make_unpushed();
        shared.first.cook(&["push", "--yes"]).ok();
        shared
    }

    /// Another clone, on another machine: with a home of its own.
    pub fn another(&self, number: u8) -> Repo {
        let clone = Repo::directory();
        let bare = self.bare.to_str().unwrap();
        clone.git(&["clone", "-q", bare, "."]);
        name(&clone, number);
        clone
    }

    /// git in the bare repository.
    pub fn git(&self, args: &[&str]) -> String {
        let mut all = vec!["--git-dir", self.bare.to_str().unwrap()];
        all.extend(args);
        self.first.git(&all)
    }

    /// A setting of the bare repository.
    pub fn set(&self, key: &str, value: &str) {
        self.git(&["config", key, value]);
    }

    /// Where a ref stands in the bare repository; empty where it is not.
    pub fn at(&self, name: &str) -> String {
        self.git(&["for-each-ref", "--format=%(objectname)", name])
    }
}

/// Names of writers that differ, as those of two machines do.
fn name(repo: &Repo, number: u8) {
    let writer = format!("{number:032x}");
    repo.extra
        .borrow_mut()
        .push(("COOK_WRITER".to_owned(), writer));
}

/// The log of a clone.
pub fn log(repo: &Repo, args: &[&str]) -> Run {
    let dir = repo.root.join(".git/cook/log.git");
    run_alone(repo.command("git").arg("--git-dir").arg(dir).args(args))
}

/// What a clone holds of the log and shows of it.
pub fn standing(repo: &Repo) -> (String, String) {
    let refs = match repo.root.join(".git/cook/log.git").exists() {
        true => log(repo, &["for-each-ref"]).ok().out,
        false => String::new(),
    };
    let state = std::fs::read_to_string(repo.root.join(".agent/state.json"));
    (refs, state.unwrap_or_default())
}

/// Adds a transition that nobody else's hinders.
pub fn say(repo: &Repo, text: &str) -> Run {
    repo.cook(&["brief", "say", text, "--as-user"])
}

/// The log's ref on the remote.
pub const LOG: &str = "refs/cook/log/main";
