//! A repository for one seed, with things of the user's in it that nobody may lose.

use crate::agent::{MISSION, SEED, STATE};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const COOK: &str = env!("CARGO_BIN_EXE_cook");
/// Longest time for one command.
const PATIENCE: Duration = Duration::from_secs(90);

/// What a command answered.
#[derive(Debug)]
pub struct Answer {
    /// Exit code; none = a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Answer {
    /// Standard output as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_default()
    }
}

/// The repository of a seed.
pub struct Place {
    base: PathBuf,
    root: PathBuf,
    seed: u64,
    /// Whether agents and gates run in a sandbox.
    sandbox: bool,
    /// The copy that holds an edit of the user's.
    copy: String,
}

impl Place {
    /// Sets it up.
    ///
    /// # Errors
    /// Whatever did not work.
    pub fn new(base: &Path, seed: u64, sandbox: bool) -> Result<Self, String> {
        let base = base.join(format!("seed-{seed}"));
        for dir in ["home/state", "work/tests", "tmp"] {
            fs::create_dir_all(base.join(dir)).map_err(|error| error.to_string())?;
        }
        let mut place = Self {
            root: base.join("work"),
            base,
            seed,
            sandbox,
            copy: String::new(),
        };
        place.begin()?;
        place.users()?;
        Ok(place)
    }

    fn begin(&self) -> Result<(), String> {
        self.git(&["init", "--quiet", "--initial-branch=main"])?;
        self.write("README.md", "# parts\n\nTwo parts.\n");
        self.write("tests/run.sh", include_str!("gate.sh"));
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "--message", "begin"])?;
        self.expect_done(&["init", "--mission", MISSION, "--commit"])?;
        let settings = self.read(".agent/cook.toml");
        let agent = std::env::current_exe().map_err(|error| error.to_string())?;
        let mode = if self.sandbox { "required" } else { "off" };
        let rules = include_str!("../../protocol/demo/agent.toml")
            .replace("[[rule]]", "[[agents.seeded.rule]]");
        self.write(
            ".agent/cook.toml",
            &format!(
                "{settings}\n[sandbox]\nmode = {mode:?}\n\n[gates.test]\nrun = \"sh tests/run.sh\"\n\n[roles.default]\nagent = \"seeded\"\ntimeout = \"20s\"\nidle_timeout = \"3s\"\n\n[agents.seeded]\nbin = {:?}\nstart = []\nwrites = [\"~/state\"]\n{rules}",
                agent.display().to_string(),
            ),
        );
        self.expect_done(&["init", "--as-user"])?;
        self.git(&["commit", "--quiet", "--all", "--message", "settings"])?;
        self.expect_done(&["trust", "--gates", "--as-user"])?;
        for _ in 0..2 {
            let refused = self.cook(&["run", "--steps", "0"]);
            let Some(rest) = refused.err.split("cook trust '").nth(1) else {
                break;
            };
            let words = rest.split('\'').next().unwrap_or_default();
            self.expect_done(&["trust", words, "--as-user"])?;
        }
        Ok(())
    }

    /// A stash, an ignored file, a branch, a tag, a setting, and an edit among the copies.
    fn users(&mut self) -> Result<(), String> {
        self.write("later.txt", "for later\n");
        self.git(&["stash", "--quiet", "--include-untracked"])?;
        self.git(&["branch", "kept"])?;
        self.git(&["tag", "kept"])?;
        self.git(&["config", "user.mine", "mine"])?;
        self.write(".git/info/exclude", "mine.txt\n");
        self.write("mine.txt", "mine\n");
        let plan = self.read(".agent/plan.json");
        self.write(
            ".agent/plan.json",
            &plan.replacen('{', "{\n  \"mine\": \"mine\",", 1),
        );
        self.expect_done(&["plan", "adopt", "--discard", "--as-user"])?;
        let copies = self.cook(&["doctor", "rescue", "list", "--json"]).json();
        let id = copies["copies"][0]["id"].as_str();
        self.copy = id.ok_or("no copy of the edited plan")?.to_owned();
        Ok(())
    }

    /// What of the user's is not as it was.
    pub fn list_lost(&self) -> Vec<String> {
        let copy = format!("refs/displaced/{}", self.copy);
        let shown = self.log(&["grep", "--fixed-strings", "\"mine\": \"mine\"", &copy]);
        let looks = [
            (
                "the stash",
                self.look(&["show", "stash@{0}^3:later.txt"]) == "for later",
            ),
            ("the ignored file", self.read("mine.txt") == "mine\n"),
            (
                "the branch",
                self.look(&["rev-parse", "kept"])
                    == self.look(&["rev-parse", "main~0^{/settings}"]),
            ),
            (
                "the tag",
                self.look(&["rev-parse", "refs/tags/kept"])
                    == self.look(&["rev-parse", "main~0^{/settings}"]),
            ),
            ("the setting", self.look(&["config", "user.mine"]) == "mine"),
            (
                "the name",
                self.look(&["config", "--local", "user.name"]).is_empty(),
            ),
            (
                "the exclude file",
                self.read(".git/info/exclude") == "mine.txt\n",
            ),
            ("the edit among the copies", shown.contains("plan.json")),
            (
                "a list of refs without cook's own",
                self.look(&["for-each-ref", "refs/cook/watch"]).is_empty(),
            ),
        ];
        let gone = looks.iter().filter(|(_, there)| !there);
        gone.map(|(what, _)| (*what).to_owned()).collect()
    }

    /// Processes of agents that are still there: marked ones of this seed, and unmarked ones
    /// that were begun in a round whose cook was not killed.
    pub fn survivors(&self, killed: &[usize]) -> Vec<String> {
        let mark = format!("{STATE}={}", self.state().display());
        let mut found = Vec::new();
        for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let environment = fs::read(process.path().join("environ")).unwrap_or_default();
            let mut entries = environment.split(|byte| *byte == 0);
            let is_marked = entries
                .clone()
                .any(|entry| entry.starts_with(b"COOK_INVOCATION="));
            let is_agents = is_marked && entries.any(|entry| entry == mark.as_bytes());
            if is_agents || self.sandbox && self.is_inside(&process.path()) {
                found.push(process.file_name().to_string_lossy().into_owned());
            }
        }
        // Numbers of processes inside say nothing outside.
        if self.sandbox {
            return found;
        }
        for line in self.lines("daemons") {
            let mut words = line.split(' ');
            let (Some(pid), Some(round)) = (words.next(), words.next()) else {
                continue;
            };
            let was_killed = round.parse().is_ok_and(|round| killed.contains(&round));
            if !was_killed && self.is_daemon(pid) {
                found.push(pid.to_owned());
            }
        }
        found
    }

    /// A daemon of this seed: no other process is where its repository is, and none of the
    /// sandbox lives longer than the cook that began it.
    fn is_inside(&self, process: &Path) -> bool {
        let name = process.file_name().unwrap_or_default().to_string_lossy();
        let at = fs::read_link(process.join("cwd")).unwrap_or_default();
        at.starts_with(&self.base) && self.is_daemon(&name)
    }

    fn is_daemon(&self, pid: &str) -> bool {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        words.starts_with(b"sleep\x00611") && !stat.contains(") Z ")
    }

    /// Ends daemons that nobody can have found, and removes the directory.
    pub fn clear(self) {
        for line in self.lines("daemons") {
            let pid = line.split(' ').next().unwrap_or_default();
            if !self.sandbox && self.is_daemon(pid) {
                let _ = Command::new("kill").args(["-KILL", pid]).status();
            }
        }
        let _ = fs::remove_dir_all(&self.base);
    }

    /// Where it is.
    pub fn base(&self) -> &Path {
        &self.base
    }

    fn state(&self) -> PathBuf {
        self.base.join("home/state")
    }

    /// The lines of a file of the agent's.
    pub fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.state().join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Tells the agents which start of cook this is.
    pub fn begins_round(&self, round: usize) {
        fs::write(self.state().join("round"), round.to_string()).unwrap();
    }

    /// A file of the worktree; empty when it is not there.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap_or_default()
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.root.join(path), text).unwrap();
    }

    /// The log's newest commit.
    pub fn tip(&self) -> String {
        self.log(&["for-each-ref", "--format=%(objectname)", "refs/heads"])
    }

    /// Whether one of its commits comes before another.
    pub fn follows(&self, before: &str, after: &str) -> bool {
        let mut command = self.command("git");
        command.args([
            "--git-dir=.git/cook/log.git",
            "merge-base",
            "--is-ancestor",
            before,
            after,
        ]);
        before.is_empty() || self.ends(command).code == Some(0)
    }

    fn log(&self, arguments: &[&str]) -> String {
        let mut all = vec!["--git-dir=.git/cook/log.git"];
        all.extend(arguments);
        self.look(&all)
    }

    fn command(&self, program: &str) -> Command {
        let bin = Path::new(COOK).parent().unwrap();
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
            .env("HOME", self.base.join("home"))
            .env("TMPDIR", self.base.join("tmp"))
            .env("TERM", "dumb")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_NAME", "A")
            .env("GIT_AUTHOR_EMAIL", "a@example.org")
            .env("GIT_COMMITTER_NAME", "A")
            .env("GIT_COMMITTER_EMAIL", "a@example.org")
            .env(STATE, self.state())
            .env(SEED, self.seed.to_string())
            .current_dir(&self.root)
            .stdin(Stdio::null());
        command
    }

    /// `cook`, to its end.
    pub fn cook(&self, arguments: &[&str]) -> Answer {
        let mut command = self.command(COOK);
        command.args(arguments);
        self.ends(command)
    }

    /// A shell line as a user types it.
    pub fn shell(&self, line: &str) -> Answer {
        let mut command = self.command("sh");
        command.args(["-c", line]);
        self.ends(command)
    }

    /// `cook run`, begun.
    pub fn starts(&self) -> Child {
        let (out, err) = (self.base.join("out"), self.base.join("err"));
        let mut command = self.command(COOK);
        command
            .args(["run", "--yes"])
            .stdout(fs::File::create(out).unwrap())
            .stderr(fs::File::create(err).unwrap());
        command.spawn().unwrap()
    }

    /// What it printed so far.
    pub fn read_printed(&self) -> String {
        let read = |name| fs::read_to_string(self.base.join(name)).unwrap_or_default();
        read("err") + &read("out")
    }

    /// Beside the pipes of what it starts, so that nothing that lives on holds this up.
    fn ends(&self, mut command: Command) -> Answer {
        let (out, err) = (self.base.join("answer.out"), self.base.join("answer.err"));
        let mut child = command
            .stdout(fs::File::create(&out).unwrap())
            .stderr(fs::File::create(&err).unwrap())
            .spawn()
            .unwrap();
        let until = Instant::now() + PATIENCE;
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status.code(),
                None if Instant::now() > until => {
                    let _ = child.kill();
                    let _ = child.wait();
                    break None;
                }
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        let read =
            |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        Answer {
            code: status,
            out: read(&out),
            err: read(&err),
        }
    }

    fn look(&self, arguments: &[&str]) -> String {
        let mut command = self.command("git");
        command.args(arguments);
        self.ends(command).out.trim().to_owned()
    }

    fn git(&self, arguments: &[&str]) -> Result<(), String> {
        let mut command = self.command("git");
        command.args(arguments);
        expect(arguments, self.ends(command))
    }

    fn expect_done(&self, arguments: &[&str]) -> Result<(), String> {
        expect(arguments, self.cook(arguments))
    }
}

fn expect(arguments: &[&str], answer: Answer) -> Result<(), String> {
    match answer.code {
        Some(0) => Ok(()),
        code => Err(format!(
            "{arguments:?} ended with {code:?}: {}{}",
            answer.out, answer.err
        )),
    }
}
