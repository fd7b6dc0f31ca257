//! What an agent in the sandbox may write: git's own work, and nothing that steers git, cook or
//! the user's other programs. Without a bubblewrap that works here the tests say so and prove
//! nothing.
#![cfg(target_os = "linux")]

use cook_repo::room::{Agent, Authority, Bubblewrap, never_began};
use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;
use tempfile::TempDir;

/// Work that an implementer does.
const WORK: [(&str, &str); 18] = [
    ("commit", "echo a >> f1; git add -A; git commit -qm a"),
    ("amend", "git commit -q --amend -m b"),
    (
        "stash",
        "echo b >> f1; git stash -q; git stash pop -q; git checkout -q f1",
    ),
    (
        "rebase",
        "git checkout -q -b t1 HEAD~1; echo z > f2; git add f2; git commit -qm z; git rebase -q -; git checkout -q -",
    ),
    (
        "rebase interactively",
        "GIT_SEQUENCE_EDITOR=true git rebase -q -i HEAD~1",
    ),
    ("merge", "git merge -q --no-edit t1"),
    ("remove a branch", "git branch -D t1"),
    ("tag", "git tag x1; git tag -a -m m x2"),
    ("pack the refs", "git pack-refs --all"),
    ("repack", "git repack -qad; git prune"),
    (
        "expire",
        "git reflog expire --expire=now HEAD refs/heads/main",
    ),
    (
        "cherry-pick",
        "git checkout -q -b t5 HEAD~1; echo p > f5; git add f5; git commit -qm p; git checkout -q -; git cherry-pick t5; git branch -D t5",
    ),
    (
        "another worktree",
        "git worktree add -q --detach ./wtx; git worktree remove --force ./wtx",
    ),
    ("bisect", "git bisect start; git bisect reset"),
    ("notes", "git notes add -m n"),
    ("clean", "git checkout -q HEAD -- f1; git clean -qfd"),
    ("fetch", "git fetch -q . HEAD"),
    (
        "reset",
        "git reset -q --soft HEAD~1; git reset -q --hard ORIG_HEAD",
    ),
];

/// What no agent can write. `$C` is the shared git directory, `$G` the worktree's own.
const REFUSED: [(&str, &str); 24] = [
    ("cook's directory", "echo x > $C/cook/x"),
    (
        "remove cook's directory",
        "rm -rf $C/cook; test ! -e $C/cook",
    ),
    ("rename cook's directory", "mv $C/cook $C/cook2"),
    ("the copy of cook's directory", "echo x > $C/cook-mirror/x"),
    ("the name of the log's branch", "echo x > $G/cook-id"),
    ("rename the git directory", "mv $C $C.old"),
    ("a setting", "git config foo.bar 1"),
    ("a remote", "git remote add zz /nowhere"),
    (
        "settings by a rename",
        "echo '[x]' > $C/c2; mv $C/c2 $C/config",
    ),
    ("a hook", "echo x > $C/hooks/post-commit"),
    ("another directory of hooks", "mv $C/hooks $C/h2"),
    ("excludes", "echo x >> $C/info/exclude"),
    ("attributes", "echo x > $C/info/attributes"),
    ("refs renamed away", "mv $C/refs $C/refs2"),
    ("objects renamed away", "mv $C/objects $C/objects2"),
    ("unmount", "umount $C/config"),
    ("mount again", "mount -o remount,rw,bind $C/config"),
    (
        "mount again in a namespace of its own",
        "unshare -Urm sh -c \"mount -o remount,rw,bind $C/config; umount -l $C/config; echo x >> $C/config\"",
    ),
    (
        "another process's files",
        "for p in /proc/[0-9]*; do echo x > $p/root$C/cook/y && exit 0; done; exit 1",
    ),
    ("git's settings of the user", "echo x >> ~/.gitconfig"),
    ("what a shell starts by", "echo x >> ~/.bashrc"),
    ("keys", "echo x > ~/.ssh/authorized_keys"),
    ("a hook of its own", "echo x > ~/.agent/settings.json"),
    ("another worktree", "echo x > $C/worktrees/other/HEAD"),
];

/// Refused where refs are files: elsewhere nothing but a look afterwards tells.
const REFUSED_AS_FILES: [(&str, &str); 2] = [
    ("replace a commit", "git replace HEAD HEAD~1"),
    ("a ref of cook's", "git update-ref refs/cook/x HEAD"),
];

/// Refused in a linked worktree.
const REFUSED_LINKED: [(&str, &str); 4] = [
    (
        "the worktree's link",
        "echo 'gitdir: /x' > .git2; mv .git2 .git",
    ),
    ("where the shared directory is", "echo /x > $G/commondir"),
    ("where the worktree is", "echo /x > $G/gitdir"),
    ("the first worktree's HEAD", "echo /x > $C/HEAD"),
];

/// A home, a repository with two worktrees, and what a user and cook keep there.
struct Place {
    dir: TempDir,
    root: PathBuf,
    bubblewrap: Bubblewrap,
    user: Option<u32>,
}

/// How refs are kept, and in which worktree the agent works.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Files,
    Linked,
    Reftable,
}

impl Place {
    /// None where the sandbox does not work, or git not know that kind.
    fn new(kind: Kind) -> Option<Self> {
        crate::scratch::hermetic();
        let found = Bubblewrap::find().filter(|found| found.try_out().is_ok());
        let Some(bubblewrap) = found else {
            eprintln!("skipped: bubblewrap does not work here");
            return None;
        };
        let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let first = dir.path().join("first");
        let mut place = Self {
            root: first.clone(),
            dir,
            bubblewrap,
            user: None,
        };
        let format = match kind {
            Kind::Reftable => "--ref-format=reftable",
            Kind::Files | Kind::Linked => "-q",
        };
        let begun = Command::new("git")
            .args(["init", "-q", "-b", "main", format])
            .arg(&first)
            .output()
            .unwrap();
        if !begun.status.success() {
            eprintln!("skipped: this git has no such format of refs");
            return None;
        }
        place.outside(
            "git config user.name a; git config user.email a@example.org
             for n in 1 2 3; do echo $n > f1; git add -A; git commit -qm $n; done
             git worktree add -q --detach ../other; git worktree add -q -b side ../linked
             mkdir -p .git/cook .git/cook-mirror ../home/.ssh ../home/.agent
             echo id > .git/cook-id; echo id > .git/worktrees/linked/cook-id
             echo {} > ../home/.agent/settings.json
             touch ../home/.gitconfig ../home/.bashrc",
        );
        if kind == Kind::Linked {
            place.root = place.dir.path().join("linked");
        }
        Some(place)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn outside(&self, script: &str) {
        let done = Command::new("bash")
            .args(["-ec", script])
            .current_dir(&self.root)
            .env("HOME", self.at("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(done.status.success(), "{script}: {done:?}");
    }

    fn git(&self, what: &str) -> PathBuf {
        let found = Command::new("git")
            .args(["-c", "safe.directory=*", "rev-parse"])
            .args(["--path-format=absolute", what])
            .current_dir(&self.root)
            .output()
            .unwrap();
        PathBuf::from(String::from_utf8(found.stdout).unwrap().trim())
    }

    fn arguments(&self, authority: Authority, dir: &Path, sockets: &[PathBuf]) -> Command {
        let (git_dir, common_dir) = (self.git("--git-dir"), self.git("--git-common-dir"));
        let own = [self.at("home/.agent")];
        let settings = [self.at("home/.agent/settings.json")];
        let absent = [self.at("home/.agent/hooks")];
        let home = self.at("home");
        let argv = self
            .bubblewrap
            .agent(&Agent {
                authority,
                dir,
                root: &self.root,
                git_dir: &git_dir,
                common_dir: &common_dir,
                home: Some(&home),
                nested: &[],
                writes: &own,
                settings: &settings,
                absent: &absent,
                session: None,
                shown: &[],
                sockets,
            })
            .unwrap();
        let mut command = match self.user {
            None => Command::new(&argv[0]),
            Some(id) => {
                let mut command = Command::new("setpriv");
                command
                    .args([format!("--reuid={id}"), format!("--regid={id}")])
                    .arg("--clear-groups")
                    .arg(&argv[0]);
                command
            }
        };
        command
            .args(&argv[1..])
            .current_dir(dir)
            .env("HOME", self.at("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("C", common_dir)
            .env("G", git_dir);
        command
    }

    /// A script of an agent's, which no test waits for longer than a minute.
    fn run(&self, authority: Authority, script: &str) -> Output {
        for left in (0..100).rev() {
            let mut command = self.arguments(authority, &self.root, &[]);
            command.args(["timeout", "60", "bash", "-ec", script]);
            let done = command.output().unwrap();
            // A socket of another test went before it could be hidden: nothing was started. Where that lasts, it has
            // another cause, and whoever asked looks at it.
            let began = !never_began(done.status.code(), done.stdout.len() as u64, &done.stderr);
            if began || left == 0 {
                return done;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        unreachable!("the last attempt returns");
    }

    #[track_caller]
    fn works(&self, what: &str, script: &str) {
        let done = self.run(Authority::Implementer, script);
        assert!(done.status.success(), "{what}: {done:?}");
    }

    #[track_caller]
    fn refuses(&self, authority: Authority, what: &str, script: &str) {
        let done = self.run(authority, &format!("set +e; {script}"));
        assert!(!done.status.success(), "{what} was possible: {done:?}");
    }

    fn attack(&self, kind: Kind) {
        for (what, script) in WORK {
            self.works(what, script);
        }
        let implementer = Authority::Implementer;
        for (what, script) in REFUSED {
            self.refuses(implementer, what, script);
        }
        let more: &[(&str, &str)] = match kind {
            Kind::Files => &REFUSED_AS_FILES,
            Kind::Linked => &REFUSED_LINKED,
            Kind::Reftable => &[],
        };
        for (what, script) in more {
            self.refuses(implementer, what, script);
        }
        // What lies in a private directory is written there and nowhere else.
        self.run(implementer, "echo x > ../beside");
        assert!(!self.at("beside").exists());
        // Where nothing is, something can be written, and is thrown away.
        self.works("a directory of hooks", "echo x > ~/.agent/hooks/evil");
        assert!(!self.at("home/.agent/hooks/evil").exists());
        self.works("its own directory", "echo x > ~/.agent/session");
        assert!(self.at("home/.agent/session").exists());
    }
}

#[test]
fn an_implementer_works_with_git_and_steers_nothing() {
    for kind in [Kind::Files, Kind::Linked, Kind::Reftable] {
        let Some(place) = Place::new(kind) else {
            continue;
        };
        place.attack(kind);
    }
}

/// Whoever runs the tests as root is an ordinary user too.
#[test]
fn it_is_the_same_for_an_ordinary_user() {
    let Some(mut place) = Place::new(Kind::Files) else {
        return;
    };
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: these tests run as an ordinary user as it is");
        return;
    }
    let id = 54_321;
    place.outside(&format!(
        "chown -R {id}:{id} ../first ../home ../other ../linked; chmod 755 ..; chown {id}:{id} .."
    ));
    place.user = Some(id);
    let reaches = Command::new("setpriv")
        .args([format!("--reuid={id}"), format!("--regid={id}")])
        .args([
            "--clear-groups",
            "bwrap",
            "--ro-bind",
            "/",
            "/",
            "test",
            "-w",
        ])
        .arg(&place.root)
        .output();
    if !reaches.is_ok_and(|tried| tried.status.success() || tried.status.code() == Some(1)) {
        eprintln!("skipped: another user cannot be tried here");
        return;
    }
    let looks = place.run(Authority::Implementer, "ls");
    if String::from_utf8_lossy(&looks.stderr).contains("bwrap:") {
        eprintln!("skipped: an ordinary user reaches neither: {looks:?}");
        return;
    }
    place.attack(Kind::Files);
}

#[test]
fn a_reader_writes_its_checkout_and_what_it_leaves() {
    let Some(place) = Place::new(Kind::Files) else {
        return;
    };
    place.outside("mkdir -p .agent/inbox .agent/tmp; echo x > .agent/state.json");
    place.outside("git worktree add -q --detach .git/cook/worktrees/room");
    let checkout = place.root.join(".git/cook/worktrees/room");
    let reader = Authority::Reader {
        checkout: Some(&checkout),
    };
    for (what, script) in REFUSED {
        place.refuses(reader, what, script);
    }
    for (what, script) in [
        ("the worktree", "echo x > f1"),
        ("a document", "echo x > .agent/state.json"),
        ("a commit", "git commit -q --allow-empty -m x"),
        ("a ref", "git tag cheat"),
        ("the stash", "git stash clear; echo x > $C/refs/stash"),
        (
            "the checkout's link",
            "echo x > $C/cook/worktrees/room/.git",
        ),
    ] {
        place.refuses(reader, what, script);
    }
    let done = place.run(
        reader,
        "echo x > .agent/inbox/1.json; echo x > .agent/tmp/hook; cd $C/cook/worktrees/room; echo x > f1; mkdir target; git status --short",
    );
    assert!(done.status.success(), "{done:?}");
    assert!(place.root.join(".agent/inbox/1.json").exists());
    assert_eq!(fs::read_to_string(checkout.join("f1")).unwrap(), "x\n");
    // What a link in its place leads to is not opened.
    place.outside("rm -r .agent/tmp; ln -s ../../home .agent/tmp");
    place.refuses(reader, "a link", "echo x > .agent/tmp/.bashrc");
}

#[test]
fn sockets_are_hidden_and_given_back() {
    let Some(place) = Place::new(Kind::Files) else {
        return;
    };
    // A short name: the system allows a hundred bytes.
    let dir = TempDir::new_in("/var/lib").or_else(|_| TempDir::new_in(place.at("")));
    let dir = dir.unwrap();
    let socket = dir.path().join("s");
    let Ok(_listener) = UnixListener::bind(&socket) else {
        eprintln!("skipped: no socket can be made here");
        return;
    };
    let asks = |sockets: &[PathBuf]| {
        let mut command = place.arguments(Authority::Implementer, &place.root, sockets);
        command.args(["test", "-S"]).arg(&socket);
        command.output().unwrap().status.success()
    };
    assert!(!asks(&[]));
    assert!(asks(std::slice::from_ref(&socket)));
    let private = TempDir::new_in("/tmp").unwrap();
    let hidden = private.path().join("s");
    let _other = UnixListener::bind(&hidden).unwrap();
    let asks = |sockets: &[PathBuf]| {
        let mut command = place.arguments(Authority::Implementer, &place.root, sockets);
        command.args(["test", "-S"]).arg(&hidden);
        command.output().unwrap().status.success()
    };
    assert!(!asks(&[]));
    assert!(asks(std::slice::from_ref(&hidden)));
}

#[test]
fn a_home_that_is_a_worktree_keeps_what_the_users_programs_start_by() {
    let Some(mut place) = Place::new(Kind::Files) else {
        return;
    };
    place.outside("cd ../home; git init -q -b main; git config user.name a; git config user.email a@example.org; git commit -q --allow-empty -m x");
    place.root = place.at("home");
    place.works("a file", "echo x > ~/notes");
    for name in [".gitconfig", ".bashrc", ".ssh/config"] {
        let script = format!("echo x >> ~/{name}");
        place.refuses(Authority::Implementer, name, &script);
    }
}

/// 20 ms are promised; a busy machine gets more.
#[test]
fn a_start_costs_little() {
    let Some(place) = Place::new(Kind::Files) else {
        return;
    };
    let time = |command: &mut Command| {
        let mut best = u128::MAX;
        for _ in 0..10 {
            let begun = Instant::now();
            assert!(command.status().unwrap().success());
            best = best.min(begun.elapsed().as_micros());
        }
        best
    };
    let alone = time(&mut Command::new("true"));
    let mut inside = place.arguments(Authority::Implementer, &place.root, &[]);
    let inside = time(inside.arg("true"));
    let more = inside.saturating_sub(alone);
    eprintln!("a start in the sandbox costs {more} µs more than {alone} µs");
    assert!(more < 100_000, "{more} µs");
}
