//! One prepared repository for each kind of transition: the state right before
//! it, the command that makes it, and what the log holds after it.

use crate::support::workflow::{Sandbox, copy_tree, feed, reports, store};
use cook_repo::store::Store;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a person wrote into `.agent/` themselves, which cook never touches.
pub const NOTES: &str = "my own notes\n";

/// One kind of transition.
pub struct Kind {
    pub name: &'static str,
    /// The repository as it is right before.
    pub prepared: PathBuf,
    pub args: Vec<String>,
    pub input: String,
    /// More environment.
    pub env: Vec<(&'static str, &'static str)>,
    /// An edit of `.agent/plan.json` that must not get lost.
    pub edit: Option<Vec<u8>>,
    /// The log before it; none before the first transition.
    pub before: Option<Stand>,
    /// The log after it.
    pub after: Stand,
    /// A remote is the commit point.
    pub travels: bool,
}

/// What the log's tip says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stand {
    pub seq: u64,
    /// Every document and history, but for what two runs of a gate never share.
    pub content: Vec<(String, String)>,
}

impl Stand {
    pub fn of(worktree: &Path) -> Option<Self> {
        store(worktree).as_ref().map(Self::read)
    }

    fn read(store: &Store) -> Self {
        let entry = store.entry("@").unwrap();
        let repo = git2::Repository::open_bare(store.place().log_dir()).unwrap();
        let commit = git2::Oid::from_str_ext(&entry.commit, repo.object_format()).unwrap();
        let tree = repo.find_commit(commit).unwrap().tree().unwrap();
        let timed = !entry.receipts.is_empty();
        let content = tree
            .iter()
            .map(|item| (item.name().unwrap().to_owned(), item.id().to_string()))
            .filter(|(name, _)| {
                // A receipt says how long a run took; so do what cites it.
                !timed
                    || matches!(
                        name.as_str(),
                        "state.json" | "plan.json" | "active-slice.json" | "format"
                    )
            })
            .collect();
        Self {
            seq: entry.seq,
            content,
        }
    }
}

/// Builds kinds one after another, each from the state the one before left.
struct Builder<'s> {
    sandbox: &'s Sandbox,
    kinds: Vec<Kind>,
}

impl Builder<'_> {
    /// Runs the command on a copy of `from` and keeps both. Returns the state after.
    fn add(&mut self, name: &'static str, from: &Path, args: &[&str], input: String) -> PathBuf {
        self.add_with(name, from, args, input, &[], None)
    }

    fn add_with(
        &mut self,
        name: &'static str,
        from: &Path,
        args: &[&str],
        input: String,
        env: &[(&'static str, &'static str)],
        edit: Option<Vec<u8>>,
    ) -> PathBuf {
        let after = self.room(name);
        copy_tree(from, &after);
        let mut kind = Kind {
            name,
            prepared: from.to_owned(),
            args: args.iter().map(ToString::to_string).collect(),
            input,
            env: env.to_vec(),
            edit,
            travels: false,
            before: Stand::of(from),
            after: Stand {
                seq: 0,
                content: Vec::new(),
            },
        };
        let output = feed(&mut kind.command(self.sandbox, &after), &kind.input);
        assert!(
            output.status.success(),
            "{name}: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        kind.after = Stand::of(&after).unwrap();
        let before = kind.before.as_ref().map_or(0, |stand| stand.seq);
        assert_eq!(kind.after.seq, before + 1, "{name} is one transition");
        self.kinds.push(kind);
        after
    }

    /// Where a repository goes: its own name is always the same, because it
    /// becomes the project's name.
    fn room(&self, name: &str) -> PathBuf {
        let room = self.sandbox.join(name);
        std::fs::create_dir(&room).unwrap();
        room.join("w")
    }

    /// A copy to change.
    fn copy(&self, name: &str, from: &Path) -> PathBuf {
        let to = self.room(name);
        copy_tree(from, &to);
        to
    }
}

impl Kind {
    /// The command, to run in a copy of the prepared repository.
    pub fn command(&self, sandbox: &Sandbox, dir: &Path) -> Command {
        let mut command = sandbox.cook(dir);
        command.args(&self.args).envs(self.env.iter().copied());
        command
    }
}

/// All kinds.
pub fn all(sandbox: &Sandbox) -> Vec<Kind> {
    let mut build = Builder {
        sandbox,
        kinds: Vec::new(),
    };
    let empty = build.room("empty");
    sandbox.repository(&empty);
    std::fs::create_dir(empty.join(".agent")).unwrap();
    std::fs::write(empty.join(".agent/backlog.md"), NOTES).unwrap();
    let args = [
        "init",
        "--assurance",
        "strict",
        "--mission",
        crate::support::workflow::MISSION,
    ];
    build.add("init", &empty, &args, String::new());
    let args = [
        "init",
        "--assurance",
        "strict",
        "--mission",
        crate::support::workflow::MISSION,
        "--commit",
    ];
    let fresh = build.add("init-commit", &empty, &args, String::new());
    let selected = build.add(
        "regrounder",
        &fresh,
        &["record", "regrounder"],
        reports::plan(),
    );
    roles(&mut build, &selected);
    user_commands(&mut build, &selected);
    edits(&mut build, &selected);
    build_pulled(&mut build, &selected);
    build.kinds.extend(crate::crash::travel::kinds(sandbox));
    build.kinds
}

/// From the selected slice to the end.
fn roles(build: &mut Builder<'_>, selected: &Path) {
    let work = build.copy("work", selected);
    let commit = build.sandbox.commit(
        &work,
        "greeting.txt",
        "hello please\n",
        "Say please\n\nCook-Slice: kind",
    );
    let record = |role| ["record", role];
    let at = build.add(
        "implementer",
        &work,
        &record("implementer"),
        reports::report_implemented(&commit),
    );
    let at = build.add(
        "reviewer",
        &at,
        &record("reviewer"),
        reports::report_reviewed(),
    );
    let at = build.add(
        "auditor",
        &at,
        &record("auditor"),
        reports::report_audited(),
    );
    let at = build.add("reconcile", &at, &record("regrounder"), reports::accept());
    let at = build.add(
        "judge",
        &at,
        &record("stop-judge"),
        reports::report_judged(&commit, 1),
    );
    let last = build.copy("votes", &at);
    for judge in 2..=3 {
        build.sandbox.run(
            &last,
            &record("stop-judge"),
            &reports::report_judged(&commit, judge),
            0,
        );
    }
    build.add(
        "conclude",
        &last,
        &record("regrounder"),
        reports::conclude(),
    );
}

fn user_commands(build: &mut Builder<'_>, selected: &Path) {
    let paused = build.add("pause", selected, &["pause", "a proof"], String::new());
    build.add("resume", &paused, &["resume", "--as-user"], String::new());
    build.add("undo", &paused, &["undo", "--as-user"], String::new());
    let args = ["plan", "refocus", "--mission", "Keep it short", "--as-user"];
    build.add("refocus", selected, &args, String::new());
    build.add("cancel", selected, &["cancel", "--as-user"], String::new());
    // Packing runs after a transition whose number these thresholds meet.
    let env = [("COOK_PACK_ABOVE", "10")];
    build.add_with(
        "packing",
        selected,
        &["pause", "a proof"],
        String::new(),
        &env,
        None,
    );
}

/// An edited `plan.json`, met by each event that deals with one.
fn edits(build: &mut Builder<'_>, selected: &Path) {
    let legal = build.copy("legal", selected);
    let plan = edit(&legal, |text| {
        text.replace("greeting.txt", "greeting.txt, read again")
    });
    build.add_with(
        "adopt",
        &legal,
        &["plan", "adopt", "--as-user"],
        String::new(),
        &[],
        Some(plan.clone()),
    );
    let args = ["plan", "adopt", "--discard", "--as-user"];
    build.add_with(
        "discard",
        &legal,
        &args,
        String::new(),
        &[],
        Some(plan.clone()),
    );
    build.add_with(
        "pause-edited",
        &legal,
        &["pause", "a proof"],
        String::new(),
        &[],
        Some(plan),
    );
    let broken = build.copy("broken", selected);
    let plan = edit(&broken, |text| text.replace("say please", "say nothing"));
    build.add_with(
        "reground-edited",
        &broken,
        &["record", "regrounder"],
        reports::confirm("C-kind", "kind"),
        &[],
        Some(plan),
    );
}

/// A transition that another clone recorded.
fn build_pulled(build: &mut Builder<'_>, selected: &Path) {
    let sandbox = build.sandbox;
    let bare = sandbox.join("r.git");
    let bare = bare.to_str().unwrap();
    let behind = build.copy("behind", selected);
    sandbox.git(&behind, &["init", "-q", "--bare", bare]);
    sandbox.git(&behind, &["remote", "add", "origin", bare]);
    sandbox.run(&behind, &["push", "--yes"], "", 0);
    let ahead = build.copy("ahead", &behind);
    sandbox.run(&ahead, &["pause", "a proof"], "", 0);
    sandbox.run(&ahead, &["push"], "", 0);
    build.add("pull", &behind, &["pull"], String::new());
}

fn edit(worktree: &Path, change: impl Fn(&str) -> String) -> Vec<u8> {
    let path = worktree.join(".agent/plan.json");
    let before = std::fs::read_to_string(&path).unwrap();
    let after = change(&before);
    assert_ne!(before, after, "the edit changes something");
    std::fs::write(&path, &after).unwrap();
    after.into_bytes()
}
