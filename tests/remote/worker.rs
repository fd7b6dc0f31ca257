//! `cook run --once --from`: workers that keep nothing of their own, over one bare remote.
#![cfg(unix)]

use crate::remote::{LOG, Shared, log, say};
use crate::support::agents::{is_alive, wait_for};
use crate::support::{Repo, with_default_signals};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const STEP: [&str; 5] = ["run", "--once", "--from", "origin", "--trust-repo"];

/// A bare remote that holds the job of `examples/job/agent.sh`, and its state.
struct Work {
    shared: Shared,
    state: PathBuf,
}

impl Work {
    fn make_begun() -> Self {
        Self::with("")
    }

    /// The same with more settings.
    fn with(more: &str) -> Self {
        let shared = Shared::around(Repo::with_mission("greet says hello"));
        let first = &shared.first;
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let agent = root.join("examples/job/agent.sh");
        let state = first.beside("state");
        std::fs::create_dir(&state).unwrap();
        let settings = format!(
            "[gates.tests]\nrun = \"bash tests/run.sh\"\n[sandbox]\nmode = \"off\"\n\
             [agents.player]\nbin = {agent:?}\nstart = []\nevents = \"text\"\nwrites = [\"$STATE\"]\n\
             [roles.default]\nagent = \"player\"\ntimeout = \"60s\"\n{more}"
        );
        first.write(".agent/cook.toml", settings);
        first.write(
            "tests/run.sh",
            "set -e\ncd \"$(dirname \"$0\")/..\"\necho \"ok 1 - it runs\"\n",
        );
        first.commit("Begin", None);
        first.cook(&["push", "--yes"]).ok();
        first.cook(&["init", "--as-user", "--commit"]).ok();
        first.cook(&["push"]).ok();
        Self { shared, state }
    }

    fn clone(&self, number: u8) -> Repo {
        let clone = self.shared.another(number);
        let state = self.state.display().to_string();
        // What two machines commit differs.
        let author = ("GIT_AUTHOR_NAME".to_owned(), format!("Worker {number}"));
        clone
            .extra
            .borrow_mut()
            .extend([("STATE".to_owned(), state), author]);
        clone
    }

    fn calls(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.state.join("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The next session of that role hangs.
    fn hang(&self, role: &str) {
        std::fs::write(self.state.join(format!("hang-{role}")), "").unwrap();
    }

    fn go(&self) {
        std::fs::write(self.state.join("go"), "").unwrap();
    }

    /// A clone in which the implementer's session hangs, the step and its agent.
    fn begin_hanging() -> (Self, Repo, (Child, u32)) {
        let work = Self::make_begun();
        let one = work.clone(2);
        one.cook(&STEP).exits(0);
        work.hang("implementer");
        let step = work.begin(&one);
        (work, one, step)
    }

    /// A step whose session hangs by now, and its agent.
    fn begin(&self, clone: &Repo) -> (Child, u32) {
        let mut command = clone.cook_command(&STEP);
        command.stdin(Stdio::null());
        command.stdout(std::fs::File::create(clone.beside("out")).unwrap());
        command.stderr(std::fs::File::create(clone.beside("err")).unwrap());
        let child = with_default_signals(&mut command).spawn().unwrap();
        let hung = self.state.join("hung");
        let agent = wait_for(|| {
            std::fs::read_to_string(&hung)
                .ok()?
                .split(' ')
                .next()?
                .parse()
                .ok()
        });
        std::fs::remove_file(hung).unwrap();
        (child, agent)
    }

    /// Steps in these clones in turn until the mission is done.
    #[track_caller]
    fn finish(&self, clones: &[&Repo]) -> usize {
        for number in 0..40 {
            let step = clones[number % clones.len()].cook(&STEP);
            match step.code {
                0 => {}
                13 => return number + 1,
                _ => panic!("{}{}", step.out, step.err),
            }
        }
        panic!("it is not done after 40 steps")
    }

    /// The mission is done, once, and whoever takes it in finds it sound.
    #[track_caller]
    fn is_done(&self) {
        let done = self.shared.git(&["for-each-ref", "refs/cook/done/"]);
        assert_eq!(done.lines().count(), 1, "{done}");
        let reader = self.shared.another(9);
        let all = [
            "verify",
            "--from",
            "origin",
            "--strict",
            "--rerun",
            "--trust-repo",
        ];
        reader.cook(&all).ok().says("reproduced");
        reader.cook(&["pull"]).ok();
        reader.cook(&["doctor", "fsck"]).ok();
        self.is_built_once(&reader);
    }

    /// Steps in these clones in turn until the slice is audited, by four sessions where none was held in vain, and
    /// whoever takes the log in finds it sound. Nothing in the stories that end here is told by the judges' sessions.
    #[track_caller]
    fn goes_on(&self, clones: &[&Repo]) -> usize {
        for number in 0..8 {
            if self.calls().iter().any(|call| call.starts_with("auditor")) {
                break;
            }
            clones[number % clones.len()].cook(&STEP).exits(0);
        }
        let reader = self.shared.another(9);
        reader.cook(&["pull"]).ok();
        reader.cook(&["verify", "control-plane"]).ok();
        reader.cook(&["doctor", "fsck"]).ok();
        self.is_built_once(&reader);
        self.calls().len()
    }

    #[track_caller]
    fn is_built_once(&self, reader: &Repo) {
        let log = reader.cook(&["log"]).ok().out;
        assert_eq!(log.matches("implemented").count(), 1, "{log}");
        let commits = reader.git(&["log", "--format=%s", "--grep=Cook-Slice: hello"]);
        assert_eq!(commits.matches("Say hello").count(), 1, "{commits}");
    }

    fn remote(&self) -> (String, String) {
        (self.shared.at("refs/heads/main"), self.shared.at(LOG))
    }
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn end(agent: u32) {
    let agent = nix::unistd::Pid::from_raw(agent.cast_signed());
    let _ = nix::sys::signal::kill(agent, nix::sys::signal::Signal::SIGKILL);
}

/// What it ended with and said.
fn outcome(clone: &Repo, mut child: Child) -> (Option<i32>, String) {
    let code = child.wait().unwrap().code();
    let said = ["out", "err"].map(|name| std::fs::read_to_string(clone.beside(name)).unwrap());
    (code, said.concat())
}

#[test]
fn who_comes_second_leaves_nothing_there_and_can_begin_again() {
    let work = Work::make_begun();
    let (one, two) = (work.clone(2), work.clone(3));
    one.cook(&STEP).exits(0);
    work.hang("implementer");
    let (slow, _) = work.begin(&one);
    two.cook(&STEP).exits(0);
    let there = work.remote();
    work.go();
    let (code, said) = outcome(&one, slow);
    assert_eq!(code, Some(7), "{said}");
    assert!(
        said.contains("step_overtaken") && said.contains("implemented"),
        "{said}"
    );
    assert_eq!(work.remote(), there);
    // Its transition and its commit are kept, and it stands where the remote does.
    assert_eq!(one.head(), there.0);
    assert_eq!(one.git(&["status", "--porcelain"]), "");
    let kept = one.git(&["for-each-ref", "--format=%(refname)", "refs/cook/rescue/"]);
    assert_eq!(one.git(&["log", "-1", "--format=%s", &kept]), "Say hello");
    assert_ne!(one.git(&["rev-parse", &kept]), there.0);
    let aside = log(&one, &["for-each-ref", "refs/cook/rescue/"]).ok().out;
    assert_eq!(aside.lines().count(), 1, "{aside}");
    one.cook(&["doctor", "fsck"]).ok();
    work.goes_on(&[&one, &two]);
}

#[test]
fn who_is_killed_in_a_session_loses_nothing_that_was_recorded() {
    for here in [true, false] {
        let work = Work::make_begun();
        let (one, two) = (work.clone(2), work.clone(3));
        one.cook(&STEP).exits(0);
        let there = work.remote();
        work.hang("implementer");
        let (child, agent) = work.begin(&one);
        kill(child);
        assert_eq!(work.remote(), there);
        assert!(one.root.join("half.txt").exists());
        match here {
            true => {
                // What the session left is put aside, and its agent is ended.
                one.cook(&STEP).exits(0).says("refs/cook/rescue/");
                assert!(!is_alive(agent));
                assert!(!one.root.join("half.txt").exists());
                let kept = one.git(&["for-each-ref", "--format=%(refname)", "refs/cook/rescue/"]);
                assert_eq!(one.git(&["show", &format!("{kept}:half.txt")]), "half");
                work.goes_on(&[&one, &two]);
            }
            false => {
                work.finish(&[&two]);
                end(agent);
                // The clone of the killed one is usable again, also after the others are done.
                one.cook(&STEP).exits(13);
                assert_eq!(one.head(), work.remote().0);
                work.is_done();
            }
        }
    }
}

/// In the middle of a merge that does not work out, with files in every state.
#[test]
fn what_a_killed_session_was_in_the_middle_of_is_kept() {
    let (work, one, (child, agent)) = Work::begin_hanging();
    one.git(&["switch", "-q", "-c", "side"]);
    one.write_commit_for("hello", "README.md", "theirs\n");
    one.git(&["switch", "-q", "main"]);
    one.write_commit_for("hello", "README.md", "ours\n");
    let merged = one.command("git").args(["merge", "-q", "side"]).output();
    assert!(!merged.unwrap().status.success());
    one.write("staged.txt", "staged");
    one.git(&["add", "-N", "staged.txt"]);
    one.write("greet", "changed");
    kill(child);
    let head = one.head();
    one.cook(&STEP).exits(0).says("refs/cook/rescue/");
    end(agent);
    // Its commits go on, what it did not commit is kept.
    let behind = ["merge-base", "--is-ancestor", &head, "HEAD"];
    one.git(&behind);
    assert_eq!(one.git(&["status", "--porcelain"]), "");
    let refs = ["for-each-ref", "--format=%(refname)", "refs/cook/rescue/"];
    let kept = one.git(&refs);
    let kept = kept
        .lines()
        .find(|name| name.ends_with("uncommitted"))
        .unwrap();
    let of = |path: &str| one.git(&["show", &format!("{kept}:{path}")]);
    assert!(of("README.md").contains("<<<<<<<"), "{}", of("README.md"));
    assert_eq!(
        (of("staged.txt"), of("greet")),
        ("staged".to_owned(), "changed".to_owned())
    );
    work.goes_on(&[&one, &work.clone(3)]);
}

/// A push that waits for the test: the worker is killed with its transition recorded and not pushed.
#[test]
fn who_is_killed_before_the_push_gives_it_the_next_time_or_gives_way() {
    for gives_way in [false, true] {
        let work = Work::make_begun();
        let (one, two) = (work.clone(2), work.clone(3));
        one.cook(&STEP).exits(0);
        let there = work.remote();
        // git runs a hook of the user's before a push of the branch.
        let hook = one.root.join(".git/hooks/pre-push");
        let (at, go) = (work.state.join("at-push"), work.state.join("go-push"));
        let script = format!(
            "#!/bin/sh\necho $$ > {}\nuntil [ -f {} ]; do sleep 0.05; done\nexit 1\n",
            at.display(),
            go.display()
        );
        std::fs::write(&hook, script).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&hook, mode).unwrap();
        let mut command = one.cook_command(&STEP);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = with_default_signals(&mut command).spawn().unwrap();
        wait_for(|| at.exists().then_some(()));
        kill(child);
        std::fs::write(&go, "").unwrap();
        std::fs::remove_file(&hook).unwrap();
        assert_eq!(work.remote(), there);
        let sessions = work.calls().len();
        if gives_way {
            two.cook(&STEP).exits(0);
            let there = work.remote();
            one.cook(&STEP).exits(0).says("refs/cook/rescue/");
            assert_ne!(
                work.remote(),
                there,
                "the review was held on what the other built"
            );
            assert_eq!(work.calls().len(), sessions + 2);
        } else {
            // The implementer's session is not held again.
            one.cook(&STEP).exits(0);
            assert_eq!(work.calls().len(), sessions + 1);
            assert!(work.calls()[sessions].starts_with("reviewer"));
        }
        work.goes_on(&[&one, &two]);
    }
}

#[test]
fn a_remote_without_a_log_names_the_command_that_gives_it_one() {
    let work = Work::make_begun();
    let one = work.clone(2);
    one.git(&["switch", "-q", "-c", "other"]);
    one.cook(&STEP)
        .fails(3, "remote_log_absent")
        .says("`cook push --yes origin`")
        .says("cook init");
    assert_eq!(one.git(&["for-each-ref", "refs/cook"]), "");
    let empty = one.beside("empty.git");
    one.git(&["init", "-q", "--bare", empty.to_str().unwrap()]);
    let from = empty.display().to_string();
    one.cook(&["run", "--once", "--from", &from])
        .fails(3, "remote_log_absent");
    let first = &work.shared.first;
    first
        .cook(&["run", "--once", "--from", &from, "--trust-repo"])
        .fails(3, "remote_log_absent")
        .says(&format!("`cook push --yes {from}` here"));
    one.cook(&["run", "--once", "--from", "nowhere"])
        .fails(2, "remote_unknown");
}

#[test]
fn a_machine_runs_nothing_that_it_was_not_told_to_trust() {
    let work = Work::make_begun();
    let one = work.clone(2);
    let refused = one
        .cook(&["run", "--once", "--from", "origin"])
        .expect_refused("agent_untrusted")
        .says("cook trust 'agent")
        .says("--trust-repo");
    assert_eq!(work.calls().len(), 0);
    let words = refused.err.split("cook trust '").nth(1).unwrap();
    one.trust(words.split('\'').next().unwrap());
    one.cook(&["run", "--once", "--from", "origin"])
        .expect_refused("trust_missing")
        .says("cook trust")
        .says("cook run --once --from origin --trust-repo");
    assert_eq!(work.calls().len(), 0);
    one.cook(&["trust", "--gates", "--as-user"]).ok();
    one.cook(&["run", "--once", "--from", "origin"]).exits(0);
    assert_eq!(work.calls().len(), 1);
    // What one step trusts is not trusted by the next.
    let two = work.clone(3);
    two.cook(&STEP).exits(0);
    two.cook(&["run", "--once", "--from", "origin"])
        .expect_refused("agent_untrusted");
}

#[test]
fn what_looks_like_a_secret_stays_here_until_a_person_decides() {
    let work = Work::make_begun();
    let one = work.clone(2);
    one.cook(&["pull"]).ok();
    let token = format!("ghp_{}", "a1B2".repeat(8));
    say(&one, &format!("use {token}")).ok();
    let there = work.remote();
    one.cook(&STEP)
        .expect_refused("secret_found")
        .says("--allow-secret");
    assert_eq!((work.remote(), work.calls().len()), (there, 0));
}

#[test]
fn two_steps_in_one_clone_do_not_meet() {
    let (work, one, (child, _)) = Work::begin_hanging();
    let second = one.cook(&STEP);
    second.exits(7).says("lease_held");
    work.go();
    let (code, said) = outcome(&one, child);
    assert_eq!(code, Some(0), "{said}");
    work.goes_on(&[&one]);
}

/// Two workers whose steps are killed after a while that a seed draws, until the mission is done.
fn die_and_finish(seed: u64, kills: u32) {
    let work = Work::make_begun();
    let clones = [work.clone(2), work.clone(3)];
    let mut random = seed;
    let mut draw = |below: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let mut killed = 0;
    for _ in 0..kills * 4 {
        let clone = &clones[usize::try_from(draw(2)).unwrap()];
        let mut command = clone.cook_command(&STEP);
        command.stdin(Stdio::null());
        command.stdout(std::fs::File::create(clone.beside("out")).unwrap());
        command.stderr(std::fs::File::create(clone.beside("err")).unwrap());
        let mut child = with_default_signals(&mut command).spawn().unwrap();
        let end = Instant::now() + Duration::from_millis(draw(600));
        while child.try_wait().unwrap().is_none() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(2));
        }
        if child.try_wait().unwrap().is_none() && killed < kills {
            killed += 1;
            child.kill().unwrap();
        }
        let (code, said) = outcome(clone, child);
        // A git of the killed one may be at work for a moment longer.
        assert!(
            matches!(code, None | Some(0 | 3 | 7 | 13)),
            "{seed}: {code:?} {said}"
        );
        if code == Some(13) {
            break;
        }
    }
    for clone in &clones {
        let mut code = clone.cook(&STEP).code;
        for _ in 0..40 {
            if code == 13 {
                break;
            }
            code = clone.cook(&STEP).code;
        }
        assert_eq!(code, 13, "{seed}");
        clone.cook(&["doctor", "fsck"]).ok();
        assert_eq!(clone.head(), work.remote().0, "{seed}");
        assert_eq!(clone.git(&["status", "--porcelain"]), "", "{seed}");
        assert_eq!(
            clone.git(&["for-each-ref", "refs/cook/watch"]),
            "",
            "{seed}"
        );
    }
    println!(
        "seed {seed}: {killed} killed, {} sessions",
        work.calls().len()
    );
    work.is_done();
}

/// `proofs/workers.sh`
#[test]
#[ignore = "takes long; proofs/workers.sh runs it"]
fn workers_that_are_killed_again_and_again_finish() {
    let seeds = std::env::var("WORKER_SEEDS").map_or(100, |seeds| seeds.parse().unwrap());
    for seed in 100..100 + seeds {
        die_and_finish(seed, 40);
    }
}
