//! What the `cli_*` tests share: a repository in a temporary directory, the built `cook` in a cleaned
//! environment, and the text of each role's report.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// First line of every mission here.
pub const MISSION: &str = "Ship the tool";
/// The clock of every run.
pub const NOW: &str = "2026-01-02T03:04:05Z";
/// The gate of both slices.
pub const GATE: &str = "bash test.sh";

/// What a command left behind.
#[derive(Debug)]
pub struct Run {
    /// Exit code; -1 when a signal ended it.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Run {
    /// Asserts the exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "stdout: {}\nstderr: {}",
            self.out, self.err
        );
        self
    }

    /// Asserts a failure: its exit code, its catalogue code, and a next command.
    #[track_caller]
    pub fn fails(self, exit: i32, code: &str) -> Self {
        let run = self.exits(exit);
        assert!(
            run.err.starts_with(&format!("error[{code}]: ")),
            "expected {code}: {}",
            run.err
        );
        assert!(run.err.contains("next: "), "no next command: {}", run.err);
        run
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }

    /// Asserts that both streams together say something.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(
            self.out.contains(text) || self.err.contains(text),
            "`{text}` is not in\n{}\n{}",
            self.out,
            self.err
        );
        self
    }
}

/// A worktree and a home of its own.
pub struct Repo {
    _temp: TempDir,
    /// Root of the worktree.
    pub root: PathBuf,
    home: PathBuf,
    /// Variables that every command gets on top.
    pub extra: std::cell::RefCell<Vec<(String, String)>>,
}

impl Repo {
    /// An empty directory that is not a repository.
    pub fn directory() -> Self {
        let temp = TempDir::new().unwrap();
        let root = temp.path().join("work");
        let home = temp.path().join("home");
        std::fs::create_dir(&root).unwrap();
        std::fs::create_dir(&home).unwrap();
        Self {
            _temp: temp,
            root,
            home,
            extra: std::cell::RefCell::default(),
        }
    }

    /// A directory beside the worktree.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.root.parent().unwrap().join(name)
    }

    /// `git init` and no commit.
    pub fn unborn() -> Self {
        let repo = Self::directory();
        repo.git(&["init", "-q", "-b", "main"]);
        repo
    }

    /// One commit with the gate's script.
    pub fn born() -> Self {
        let repo = Self::unborn();
        repo.write("test.sh", "cat results 2>/dev/null; test ! -e red\n");
        repo.write("README.md", "# tool\n\nA tool.\n");
        repo.commit("begin", None);
        repo
    }

    /// After `cook init --commit`.
    pub fn set_up() -> Self {
        let repo = Self::born();
        repo.cook(&["init", "--mission", MISSION, "--commit"])
            .exits(0);
        repo
    }

    /// Two slices planned, the gate trusted, `a` selected.
    pub fn selected() -> Self {
        let repo = Self::set_up();
        repo.select_a();
        repo
    }

    /// Plans both slices, trusts their gate and selects `a`.
    pub fn select_a(&self) {
        self.cook(&["trust", GATE, "--as-user"]).exits(0);
        let block = json!({"plan": plan(), "select": "a"});
        self.record("regrounder", self.reground("none", "none", "a", &block))
            .exits(0);
    }

    /// `a` is implemented and its gate green.
    pub fn committed() -> Self {
        let repo = Self::selected();
        repo.implement_a();
        repo
    }

    /// Review (yes) and audit of `a` are in.
    pub fn reviewed() -> Self {
        let repo = Self::committed();
        repo.record("reviewer", repo.review(true)).exits(0);
        repo.record("auditor", repo.audit("b")).exits(0);
        repo
    }

    /// `a` is done, `b` cancelled, and judges are due.
    pub fn wave() -> Self {
        let repo = Self::reviewed();
        let mut plan = plan();
        plan["candidate_slices"][1]["status"] = json!("cancelled");
        plan["candidate_slices"][1]["reason"] = json!("the mission does not need it");
        let block = json!({
            "reconcile": {"slice_id": "a", "decision": "accepted"},
            "evidence": evidence_a(),
            "plan": plan,
        });
        repo.record("regrounder", repo.reground("accepted", "a", "none", &block))
            .exits(0);
        assert_eq!(repo.rule(), "8");
        repo
    }

    /// The project is done.
    pub fn done() -> Self {
        let repo = Self::wave();
        for judge in 0..3 {
            repo.record_with(
                &["stop-judge", "--session", &format!("judge-{judge}")],
                repo.judge(true),
            )
            .exits(0);
        }
        let block = json!({"conclude": {"decision": "stop"}});
        repo.record("regrounder", repo.reground("none", "none", "none", &block))
            .exits(0);
        repo
    }

    /// The implementer's work on `a` and its report.
    pub fn implement_a(&self) {
        self.write("results", "ok 1 - one\nok 2 - two\n");
        self.write("a.txt", "one\ntwo\n");
        let sha = self.commit("do a", Some("a"));
        self.record("implementer", self.implementation("a", &sha))
            .exits(0);
    }

    /// Writes a file of the worktree, directories included.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Reads a file of the worktree.
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path)).unwrap()
    }

    /// A document of `.agent/`.
    pub fn document(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(&format!(".agent/{name}"))).unwrap()
    }

    /// Edits a document of `.agent/` outside cook.
    pub fn edit(&self, name: &str, change: impl FnOnce(&mut Value)) {
        let mut value = self.document(name);
        change(&mut value);
        self.write(
            &format!(".agent/{name}"),
            serde_json::to_string_pretty(&value).unwrap() + "\n",
        );
    }

    /// Commits everything; the id.
    pub fn commit(&self, message: &str, slice: Option<&str>) -> String {
        self.git(&["add", "-A"]);
        let message = match slice {
            Some(slice) => format!("{message}\n\nCook-Slice: {slice}\n"),
            None => message.to_owned(),
        };
        self.git(&["commit", "-q", "--allow-empty", "-m", &message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// A program in the cleaned environment.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let bin = Path::new(env!("CARGO_BIN_EXE_cook")).parent().unwrap();
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
            .env("HOME", &self.home)
            .env("TERM", "dumb")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_NAME", "A")
            .env("GIT_AUTHOR_EMAIL", "a@example.org")
            .env("GIT_AUTHOR_DATE", NOW)
            .env("GIT_COMMITTER_NAME", "A")
            .env("GIT_COMMITTER_EMAIL", "a@example.org")
            .env("GIT_COMMITTER_DATE", NOW)
            .env("COOK_TEST", "1")
            .env("COOK_NOW", NOW)
            .current_dir(&self.root);
        for (name, value) in self.extra.borrow().iter() {
            command.env(name, value);
        }
        command
    }

    /// git, which must succeed; its trimmed output.
    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        let output = self.command("git").args(args).output().unwrap();
        assert!(
            output.status.success(),
            "git {args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// cook, ready to be changed and run by [`run`].
    pub fn cook_command(&self, args: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_cook"));
        command.args(args);
        command
    }

    /// cook without input.
    pub fn cook(&self, args: &[&str]) -> Run {
        run(self.cook_command(args), b"")
    }

    /// cook with one more variable.
    pub fn cook_env(&self, args: &[&str], key: &str, value: &str) -> Run {
        let mut command = self.cook_command(args);
        command.env(key, value);
        run(command, b"")
    }

    /// The user trusts a gate or a program.
    #[track_caller]
    pub fn trust(&self, words: &str) {
        self.cook(&["trust", words, "--as-user"]).exits(0);
    }

    /// `cook record ROLE -`.
    pub fn record(&self, role: &str, report: impl AsRef<[u8]>) -> Run {
        self.record_with(&[role], report)
    }

    /// `cook record` with options.
    pub fn record_with(&self, args: &[&str], report: impl AsRef<[u8]>) -> Run {
        let mut command = self.cook_command(&["record"]);
        command.args(args);
        run(command, report.as_ref())
    }

    /// The rule `cook next` names.
    #[track_caller]
    pub fn rule(&self) -> String {
        let next = self.cook(&["next", "--json"]).exits(0).json();
        next["rule"].as_str().unwrap().to_owned()
    }

    /// Refs of the log, files of `.agent/`, HEAD, `git status`: what a refused command must not change.
    pub fn fingerprint(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        gather(&self.root.join(".agent"), &self.root, &mut files);
        let log = self.root.join(".git/cook/log.git");
        if log.is_dir() {
            let refs = self.git(&["--git-dir", log.to_str().unwrap(), "for-each-ref"]);
            files.insert("log".to_owned(), refs.into_bytes());
        }
        let status = self.git(&[
            "--no-optional-locks",
            "status",
            "--porcelain=v2",
            "--branch",
        ]);
        files.insert("status".to_owned(), status.into_bytes());
        files
    }

    fn ids(&self) -> String {
        let text = std::fs::read_to_string(self.root.join(".agent/state.json")).unwrap_or_default();
        let state: Value = serde_json::from_str(&text).unwrap_or_default();
        let ids: Vec<&str> = state["unsatisfied_contract_ids"]
            .as_array()
            .map(|ids| ids.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        if ids.is_empty() {
            "none".to_owned()
        } else {
            ids.join(", ")
        }
    }

    fn clean(&self) -> &'static str {
        let status = self.git(&["--no-optional-locks", "status", "--porcelain"]);
        if status.is_empty() { "yes" } else { "no" }
    }

    /// A regrounder's report around a block.
    pub fn reground(&self, decision: &str, slice: &str, selected: &str, block: &Value) -> String {
        format!(
            "MISSION ANCHOR: {MISSION}\nRemaining contract IDs: {}\nCanonical re-ground applied: yes\n\
             Acceptance criteria revalidated: yes\nTracked and unignored worktree is clean: {}\n\
             Reopened slices: none\nReconciliation decision: {decision}\nReconciled slice ID: {slice}\n\
             Current selected slice: {selected}\nNext role to invoke: whoever is due\n\
             Exact handoff payload: none\nCanonical blockers or deviations: none\n\n```json\n{block}\n```\n",
            self.ids(),
            self.clean(),
        )
    }

    /// An implementer's report of a commit.
    pub fn implementation(&self, slice: &str, sha: &str) -> String {
        format!(
            "MISSION ANCHOR: {MISSION}\nRemaining contract IDs before slice: {}\nSlice ID: {slice}\n\
             Slice goal: do {slice}\nContract IDs closed or advanced: C-{slice}\nFiles changed: results\n\
             Tests added or strengthened: none\nVerification commands run: {GATE}\n\
             Verification results: green\nCommit SHA: {sha}\nWhat release gap this closed: none\n\
             Plan adjustment required: no\nResidual risks discovered: none\n\
             Remaining contract IDs after slice: none\n",
            self.ids(),
        )
    }

    /// A reviewer's report.
    pub fn review(&self, acceptable: bool) -> String {
        let (yes, follow, verdict) = match acceptable {
            true => ("yes", "none", "pass"),
            false => ("no", "mend two", "fail"),
        };
        format!(
            "MISSION ANCHOR: {MISSION}\nRemaining contract IDs: {}\n{}Findings: two is odd\n\
             Acceptable as-is: {yes}\nSmallest follow-up slice: {follow}\n",
            self.ids(),
            rubric(verdict),
        )
    }

    /// An auditor's report that names what comes next, `none` when nothing does.
    pub fn audit(&self, next: &str) -> String {
        let open = if next == "none" { "none" } else { "C-b" };
        let clean = self.clean();
        let blockers = if clean == "yes" {
            "none"
        } else {
            "a dirty file"
        };
        format!(
            "MISSION ANCHOR: {MISSION}\nRemaining contract IDs: {}\n{}\
             Why the project is still not done: see the ids\nOpen top-level contract IDs: {open}\n\
             Blocker count: 0\nHigh-value gap count: 0\n\
             Tracked and unignored worktree is clean: {clean}\nWorktree blockers: {blockers}\n\
             Next mandatory slice: {next}\nStale or conflicting canonical state: no\n\
             Plan truthfully captures remaining slice backlog: yes\n",
            self.ids(),
            rubric("pass"),
        )
    }

    /// A judge's report.
    pub fn judge(&self, can_stop: bool) -> String {
        let (yes, ids, count, verdict) = match can_stop {
            true => ("yes", "none", 0, "pass"),
            false => ("no", "C-x", 1, "fail"),
        };
        format!(
            "MISSION ANCHOR: {MISSION}\nRemaining contract IDs: {}\n{}Can the project stop now: {yes}\n\
             Exact remaining open top-level contract IDs: {ids}\nBlocker count: {count}\n\
             High-value gap count: 0\nLatest completed slice commit: none\n\
             Docs/config/runbooks match shipped behavior: yes\n\
             Tracked and unignored worktree is clean: {}\nBrief justification: as measured\n",
            self.ids(),
            rubric(verdict),
            self.clean(),
        )
    }
}

/// Runs a command with input and takes what it leaves behind.
pub fn run(mut command: Command, input: &[u8]) -> Run {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // Written beside: a command that reads nothing must not block the test, nor fail it.
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Run {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn gather(path: &Path, root: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    let name = path.strip_prefix(root).unwrap().display().to_string();
    let Ok(meta) = std::fs::symlink_metadata(path) else {
        return;
    };
    if meta.is_symlink() {
        let target = std::fs::read_link(path).unwrap();
        files.insert(name, target.display().to_string().into_bytes());
    } else if meta.is_dir() {
        files.insert(name, Vec::new());
        for entry in std::fs::read_dir(path).unwrap() {
            gather(&entry.unwrap().path(), root, files);
        }
    } else {
        // Sparse giants count by their length.
        let bytes = match meta.len() {
            0..=8_388_608 => std::fs::read(path).unwrap(),
            length => length.to_string().into_bytes(),
        };
        files.insert(name, bytes);
    }
}

/// The four lines with one verdict.
pub fn rubric(verdict: &str) -> String {
    let dimensions = [
        "Contract coverage",
        "Correctness risk",
        "Verification evidence",
        "Docs/state parity",
    ];
    let lines: String = dimensions
        .iter()
        .map(|dimension| format!("- {dimension}: {verdict} - looked\n"))
        .collect();
    format!("Rubric:\n{lines}")
}

/// Two slices; `b` waits for `a`.
pub fn plan() -> Value {
    json!({"plan_basis": "the README", "candidate_slices": [
        {"slice_id": "a", "goal": "do a", "priority": 5, "contract_ids": ["C-a"],
         "acceptance_criteria": ["prints one", "prints two"], "why_now": "b needs it",
         "implementation_surfaces": ["a.txt", "results"], "verification_commands": [GATE]},
        {"slice_id": "b", "goal": "do b", "priority": 5, "contract_ids": ["C-b"],
         "acceptance_criteria": ["prints three"], "why_now": "the rest", "blocked_on": ["a"],
         "implementation_surfaces": ["b.txt", "results"], "verification_commands": [GATE]},
    ]})
}

/// Proof of both criteria of `a`.
pub fn evidence_a() -> Value {
    json!([
        {"criterion": "prints one", "anchor": "test:one", "basis": "test"},
        {"criterion": "prints two", "anchor": "test:two", "basis": "test"},
    ])
}
