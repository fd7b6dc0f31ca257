//! Kinds whose commit point is a remote: `cook push` and `cook run --once --from`, and the git that they start
//! killed at any moment.

use crate::crash::kinds::{Kind, NOTES, Stand};
use crate::crash::sweep::{Case, HANG, PATIENCE, Tally};
use crate::support::workflow::{MISSION, Sandbox, copy_tree, feed, feed_within, reports};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::time::Instant;

/// The remote lies in the repository, so that each copy has its own.
const BARE: &str = ".git/r.git";
const LOG: &str = "refs/cook/log/main";

/// `push` and `step --from`, each from a repository of its own.
pub fn kinds(sandbox: &Sandbox) -> Vec<Kind> {
    let selected = make_begun(sandbox);
    let ahead = copy_repo(sandbox, "to-push", &selected);
    sandbox.commit(&ahead, "more.txt", "more\n", "More");
    sandbox.run(&ahead, &["pause", "a proof"], "", 0);
    let step = ["run", "--once", "--from", "origin", "--trust-repo"];
    vec![
        kind(sandbox, "push", ahead, &["push"]),
        kind(sandbox, "step", selected, &step),
    ]
}

fn kind(sandbox: &Sandbox, name: &'static str, prepared: PathBuf, args: &[&str]) -> Kind {
    let after = copy_repo(sandbox, name, &prepared);
    sandbox.run(&after, args, "", 0);
    assert_eq!(remote(&after), local(&after), "{name}");
    Kind {
        name,
        before: Stand::of(&prepared),
        after: Stand::of(&after).unwrap(),
        prepared,
        args: args.iter().map(ToString::to_string).collect(),
        input: String::new(),
        env: Vec::new(),
        edit: None,
        travels: true,
    }
}

fn copy_repo(sandbox: &Sandbox, name: &str, from: &Path) -> PathBuf {
    let to = sandbox.join(format!("{name}-of-a-remote")).join("w");
    std::fs::create_dir(to.parent().unwrap()).unwrap();
    copy_tree(from, &to);
    to
}

/// A slice is selected and pushed; its agent makes the commit and reports it.
fn make_begun(sandbox: &Sandbox) -> PathBuf {
    let room = sandbox.join("begun");
    std::fs::create_dir(&room).unwrap();
    let (dir, report, agent) = (room.join("w"), room.join("report"), room.join("agent.sh"));
    sandbox.repository(&dir);
    std::fs::write(&report, reports::report_implemented("@commit@")).unwrap();
    let script = format!(
        "set -e\nif [ ! -e greeting.txt ]; then\n  echo hello please > greeting.txt\n  git add greeting.txt\nfi\n\
         git diff --cached --quiet || git commit -q -m 'Say please' -m 'Cook-Slice: kind'\n\
         sed \"s/@commit@/$(git rev-parse HEAD)/\" '{}'\n",
        report.display()
    );
    std::fs::write(&agent, script).unwrap();
    std::fs::create_dir(dir.join(".agent")).unwrap();
    std::fs::write(dir.join(".agent/backlog.md"), NOTES).unwrap();
    let settings = format!(
        "[sandbox]\nmode = \"off\"\n[agents.player]\nbin = \"/bin/bash\"\nstart = [{agent:?}]\nevents = \"text\"\n\
         [roles.default]\nagent = \"player\"\ntimeout = \"60s\"\n"
    );
    std::fs::write(dir.join(".agent/cook.toml"), settings).unwrap();
    sandbox.run(
        &dir,
        &[
            "init",
            "--assurance",
            "strict",
            "--mission",
            MISSION,
            "--commit",
        ],
        "",
        0,
    );
    sandbox.run(&dir, &["record", "regrounder"], &reports::plan(), 0);
    sandbox.git(&dir, &["init", "-q", "--bare", "-b", "main", BARE]);
    sandbox.git(&dir, &["remote", "add", "origin", BARE]);
    sandbox.run(&dir, &["push", "--yes"], "", 0);
    dir
}

/// Where the log stands on the remote, and here.
fn remote(dir: &Path) -> Option<String> {
    let bare = git2::Repository::open_bare(dir.join(BARE)).unwrap();
    bare.refname_to_id(LOG).ok().map(|id| id.to_string())
}

fn local(dir: &Path) -> Option<String> {
    let store = crate::support::workflow::store(dir)?;
    store.tip().unwrap().map(|tip| tip.commit)
}

impl Case<'_> {
    /// The log here and there is before or after, there never further than here; what was
    /// acknowledged is there; and the same command, given again, brings it to its end.
    pub fn judge_travel(&self, output: &Output) {
        let dir = &self.dir;
        let found = std::panic::catch_unwind(|| (Stand::of(dir), local(dir), remote(dir)));
        let Ok((here, tip, there)) = found else {
            return self.note(|tally| &mut tally.mixed, "a log cannot be read");
        };
        let seq = |stand: &Option<Stand>| stand.as_ref().map(|stand| stand.seq);
        let (before, after) = (seq(&self.kind.before), Some(self.kind.after.seq));
        if ![before, after].contains(&seq(&here)) {
            self.note(
                |tally| &mut tally.mixed,
                &format!("the log here is at {:?}", seq(&here)),
            );
        }
        let old = remote(&self.kind.prepared);
        if there != old && there != tip {
            self.note(
                |tally| &mut tally.mixed,
                &format!("the log there is at {there:?}"),
            );
        }
        if output.status.success() && (there != tip || seq(&here) != after) {
            self.note(
                |tally| &mut tally.untrue,
                "it ended with 0, and the remote lacks it",
            );
        }
        let mut tally = self.tally.lock().unwrap();
        tally.survived += usize::from(output.status.success());
        drop(tally);
        self.go_on();
    }

    fn go_on(&self) {
        let started = Instant::now();
        for args in [&["next", "--json"][..], &["status", "--json"]] {
            self.succeeds(args);
        }
        let again: Vec<&str> = self.kind.args.iter().map(String::as_str).collect();
        // A git of the killed one may be at work for a moment longer.
        let mut output = self.cook(&again);
        while !output.status.success() && started.elapsed() < PATIENCE {
            std::thread::sleep(std::time::Duration::from_millis(50));
            output = self.cook(&again);
        }
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            self.note(
                |tally| &mut tally.stuck,
                &format!("{again:?}: {:?} {said}", output.status.code()),
            );
            return;
        }
        let took = started.elapsed();
        let mut tally = self.tally.lock().unwrap();
        tally.slowest = tally.slowest.max(took);
        drop(tally);
        self.succeeds(&["doctor", "fsck"]);
        self.succeeds(&["push"]);
        if remote(&self.dir) != local(&self.dir) {
            self.note(
                |tally| &mut tally.lost,
                "the remote does not hold what is here",
            );
        }
        if !self
            .sandbox
            .git(&self.dir, &["status", "--porcelain"])
            .is_empty()
        {
            self.note(|tally| &mut tally.mixed, "the worktree is not clean");
        }
        let notes = std::fs::read_to_string(self.dir.join(".agent/backlog.md"));
        if notes.unwrap_or_default() != NOTES {
            self.note(|tally| &mut tally.lost, "the user's notes");
        }
    }

    fn succeeds(&self, args: &[&str]) {
        let output = self.cook(args);
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            self.note(
                |tally| &mut tally.stuck,
                &format!("{args:?}: {:?} {said}", output.status.code()),
            );
        }
    }
}

/// Milliseconds that a git lives.
const LIVES: [u32; 4] = [0, 3, 8, 20];

/// Kills each git that the command starts, after each of some times; `most` of them.
pub fn kill_each_git(sandbox: &Sandbox, kind: &Kind, most: usize) -> Tally {
    let calls = gits(sandbox, kind);
    let points: Vec<(usize, u32)> = (1..=calls)
        .flat_map(|nth| LIVES.map(|lives| (nth, lives)))
        .collect();
    let step = (points.len() / most.max(1)).max(1);
    let mut total = Tally::default();
    for (nth, lives) in points.into_iter().step_by(step) {
        let dir = tempfile::tempdir_in(sandbox.path()).unwrap();
        let worktree = dir.path().join("w");
        copy_tree(&kind.prepared, &worktree);
        let mut command = with_shim(sandbox, kind, &worktree, dir.path(), Some((nth, lives)));
        let output = feed_within(&mut command, &kind.input, HANG);
        let case = Case {
            sandbox,
            kind,
            what: format!("{} git #{nth} killed after {lives} ms", kind.name),
            dir: worktree,
            tally: Mutex::new(Tally {
                injections: 1,
                ..Tally::default()
            }),
        };
        match output {
            Some(output) if kind.travels => case.judge_travel(&output),
            Some(output) => case.judge_killed_child(&output),
            None => case.note(|tally| &mut tally.stuck, "it hangs"),
        }
        total.merge(case.tally.into_inner().unwrap());
    }
    total
}

/// How many the undisturbed command starts.
fn gits(sandbox: &Sandbox, kind: &Kind) -> usize {
    let dir = tempfile::tempdir_in(sandbox.path()).unwrap();
    let worktree = dir.path().join("w");
    copy_tree(&kind.prepared, &worktree);
    let output = feed(
        &mut with_shim(sandbox, kind, &worktree, dir.path(), None),
        &kind.input,
    );
    assert!(output.status.success(), "{}", kind.name);
    let calls = std::fs::read_to_string(dir.path().join("calls")).unwrap();
    calls.lines().count()
}

/// The command with a `git` before it that counts, and ends one of its calls.
fn with_shim(
    sandbox: &Sandbox,
    kind: &Kind,
    worktree: &Path,
    beside: &Path,
    ends: Option<(usize, u32)>,
) -> Command {
    let path = std::env::var("PATH").unwrap();
    let mut found = std::env::split_paths(&path).map(|dir| dir.join("git"));
    let git = found.find(|git| git.is_file()).unwrap();
    let shim = beside.join("shims/git");
    std::fs::create_dir(shim.parent().unwrap()).unwrap();
    let (nth, lives) = ends.unwrap_or_default();
    let script = format!(
        "#!/bin/sh\necho x >> '{calls}'\nif [ \"$(wc -l < '{calls}')\" -eq {nth} ]; then\n  exec timeout -s KILL {}.{:03} '{git}' \"$@\"\nfi\nexec '{git}' \"$@\"\n",
        lives / 1000,
        lives.max(1) % 1000,
        calls = beside.join("calls").display(),
        git = git.display()
    );
    std::fs::write(&shim, script).unwrap();
    std::fs::set_permissions(&shim, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = kind.command(sandbox, worktree);
    command.env(
        "PATH",
        format!("{}:{path}", shim.parent().unwrap().display()),
    );
    command
}
