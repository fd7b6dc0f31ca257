//! The smoke script's job, to be driven by an agent that a test chooses.

use super::Repo;
use super::agents::add_sandbox_setting;
use std::path::PathBuf;

/// Sessions of the whole job.
pub const SESSIONS: usize = 25;
pub const MISSION: &str = "tally counts the words of a text";

/// A repository in which the job may begin.
pub struct Job {
    pub repo: Repo,
    /// Where `tests/drive/agent.sh` notes how far it is.
    pub state: PathBuf,
}

impl Job {
    /// The job with these tables in `cook.toml`; what they run is trusted.
    pub fn with(tables: &str) -> Self {
        let begun = || Self::within(tables, Vec::new()).repo;
        Self::in_place(
            Repo::stage(&format!("a job with {tables}"), begun),
            Vec::new(),
        )
    }

    /// The same with further variables.
    pub fn within(tables: &str, variables: Vec<(String, String)>) -> Self {
        let job = Self::in_place(Repo::directory(), variables);
        std::fs::create_dir(&job.state).unwrap();
        job.begin();
        job.repo.init_strictly(MISSION).exits(0);
        let settings = job.repo.read(".agent/cook.toml");
        job.repo.write(
            ".agent/cook.toml",
            format!("{settings}\n{}{tables}", add_sandbox_setting(tables)),
        );
        job.repo.commit("Let a player play", None);
        job.repo.cook(&["init", "--as-user"]).exits(0);
        job.trust_all();
        job
    }

    /// The same with a plan that the user brings, under a profile that they choose.
    pub fn with_plan(tables: &str, plan: &str, profile: &str, assurance: &str) -> Self {
        let job = Self::in_place(Repo::directory(), Vec::new());
        std::fs::create_dir(&job.state).unwrap();
        job.repo.write("prd.json", plan);
        job.repo.write(".agent/profile.json", profile);
        job.repo.write(
            ".agent/cook.toml",
            format!("{}{tables}", add_sandbox_setting(tables)),
        );
        job.begin();
        let chosen = ["--from", "prd.json", "--assurance", assurance];
        let mut words = vec!["init", "--as-user", "--commit"];
        words.extend(chosen);
        job.repo.cook(&words).exits(0);
        job.trust_all();
        job.repo.cook(&["trust", "--gates", "--as-user"]).exits(0);
        job
    }

    fn begin(&self) {
        self.shell("source \"$SMOKE/job.sh\"; git init -q -b main; write_start; git add -A; git commit -qm begin");
    }

    fn trust_all(&self) {
        // Each agent of the file is refused until it is trusted, and says how.
        self.repo.write("draft.txt", "no session begins beside it");
        loop {
            let refused = self.repo.cook(&["run"]);
            let Some(words) = refused.err.split("cook trust '").nth(1) else {
                break;
            };
            let words = words.split('\'').next().unwrap().to_owned();
            if !words.starts_with("agent ") {
                break;
            }
            self.repo.cook(&["trust", &words, "--as-user"]).exits(0);
        }
        std::fs::remove_file(self.repo.root.join("draft.txt")).unwrap();
        self.repo
            .cook(&["trust", "bash tests/run.sh", "--as-user"])
            .exits(0);
    }

    fn in_place(repo: Repo, variables: Vec<(String, String)>) -> Self {
        let state = repo.beside("state");
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        repo.extra.borrow_mut().extend(variables);
        repo.extra.borrow_mut().extend([
            ("STATE".to_owned(), state.display().to_string()),
            ("SMOKE".to_owned(), root.join("smoke").display().to_string()),
        ]);
        Self { repo, state }
    }

    pub fn shell(&self, script: &str) {
        let mut bash = self.repo.command("bash");
        assert!(bash.args(["-c", script]).status().unwrap().success());
    }

    /// The program that plays every role, one answer a call.
    pub fn player() -> String {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        root.join("tests/drive/agent.sh").display().to_string()
    }

    /// The roles that were played.
    pub fn calls(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.state.join("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Asserts that the work is done and everything kept is sound.
    #[track_caller]
    pub fn is_done(&self) {
        let next = self.repo.cook(&["next", "--json"]).exits(0).json();
        assert_eq!(next["policy"], "done", "{next}");
        self.repo.cook(&["verify", "--strict"]).exits(0);
        self.repo.cook(&["doctor", "fsck"]).exits(0);
        self.repo.cook(&["session", "verify"]).exits(0);
        assert_eq!(self.repo.git(&["status", "--porcelain"]), "");
    }
}
