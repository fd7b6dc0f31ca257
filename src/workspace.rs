//! A worktree with everything that a command needs from it, opened once.

use crate::init::{
    Proposed, detect_around, list_folders, propose_for, propose_settings, stop_verifier_is_stale,
};
use crate::prelude::*;
use crate::trial::Bundle;
use cook_mutants::Language;
use cook_protocol::machine::{CONTRACT_TEXTS, OutsideEdit};
use cook_protocol::model::{
    self, BriefRecord, Cause, CleanRoom, PROMPT_ID, STOP_VERIFIER_SCRIPTS, SliceRecord,
};
use cook_protocol::schema;
use cook_protocol::trials::fits_path;
use cook_repo::disk::AtPath;
use cook_repo::receipt::{TakenBack, plan_gate};
use cook_repo::remote::Elsewhere;
use cook_repo::store::{History, Place};

/// A worktree, its log and its settings.
pub struct Workspace {
    /// The user's repository.
    pub repo: Repo,
    /// The log; `None` before `cook init`.
    pub store: Option<Store>,
    /// The source of a log that was fetched to be read; `None` if it is this worktree's own.
    pub log_from: Option<LogSource>,
    /// The clock.
    pub clock: Clock,
    /// `.agent/cook.toml`, or the problem with it, which stops the commands that need the settings.
    config: Result<Config, Finding>,
    /// Whether it was opened from a throwaway worktree that stands for it.
    pub from_apart: bool,
    /// Caches of earlier runs that gates may use. With empty caches, gates run again even if a receipt has their
    /// result.
    pub caches: Caches,
    /// Upper limit for the time of a gate or setup command; `None` if only the settings limit it.
    pub patience: Option<Duration>,
    /// Whether a user is at a terminal, where git may ask for a password.
    pub attended: bool,
    /// Whether every gate of the repository is trusted for this run (`--trust-repo`).
    pub trust_everything: bool,
    /// The contract that decides instead of the worktree's (`cook verify --base`).
    pub judging: Option<Judging>,
    /// Whether transitions are only recorded locally, whatever `[log] sync` is, and pushed together later.
    pub pushes_later: bool,
    /// Whether the command of `[notify]` is not run, because the transitions here are not part of the work.
    pub tells_nobody: bool,
    /// Whether a decision may use the last result of `git status`: only cook has worked here since, and a transition
    /// checks again under the lock.
    pub worktree_stays: bool,
    /// Receives each command that begins.
    pub tell: Option<cook_repo::receipt::Tell>,
    /// Directory of a goal's hidden files, if it is not cook's own.
    pub hidden: Option<PathBuf>,
    /// Bundles of tests made while measuring proofs, to be kept in the log.
    pub(crate) made_tests: MadeTests,
}

/// Serialized bundles of tests, by id.
type MadeTests = RefCell<BTreeMap<String, Vec<u8>>>;

/// The gates and tests that are available for a change.
pub(crate) struct Offered {
    /// The names of the settings' own gates.
    pub own: BTreeSet<String>,
    /// Whether there are tests to run.
    pub has_tests: bool,
    /// Changed code files that no gate covers.
    pub untested: Vec<String>,
    /// Messages about files that could not be parsed.
    pub unread: Vec<String>,
}

/// The source of a fetched log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogSource {
    /// The remote, as it was named.
    pub remote: String,
    /// The remote's name or address without secrets, for display.
    pub shown: String,
    /// The ref on the remote.
    pub reference: String,
    /// The commit that it pointed to.
    pub tip: String,
    /// The commit of the remote's default branch, if it names one.
    pub base: Option<String>,
    /// The list of permitted signers on that branch when the log was pulled, if this clone lacks its commit.
    pub signers: Option<Vec<u8>>,
}

/// Directory next to `cook/` in the git directory, for the copies that drivers keep while agents work.
pub const MIRROR_DIR: &str = "cook-mirror";
/// Follows the log's id in the name of a copy that is not a driver's.
pub const OF_PROCESS: char = '.';
/// The hint if there is such a copy but no log.
const PUTS_BACK: &str =
    "it was taken away while agents worked, and a copy is there: `cook init` puts it back";
/// Maximum size of `cook.toml` in bytes.
const MAX_CONFIG: u64 = 1 << 20;

/// The places of a worktree's log.
pub fn find_place(repo: &Repo) -> Place {
    Place {
        common_dir: repo.common_dir().to_owned(),
        git_dir: repo.git_dir().to_owned(),
        worktree: repo.root().to_owned(),
    }
}

impl Workspace {
    /// Opens the worktree that contains `dir`, or the one that it stands for.
    ///
    /// # Errors
    /// No repository, a bare one, or one of another user; an unsafe or unreadable log.
    pub fn open(dir: &Path) -> Result<Self> {
        let mut workspace = Self::open_without_log(dir)?;
        match Store::open(workspace.place()) {
            Ok(store) => workspace.store = store,
            Err(failure) => {
                return Err(match workspace.has_copy() {
                    true => failure.hint(PUTS_BACK),
                    false => failure,
                });
            }
        }
        Ok(workspace)
    }

    /// As [`Workspace::open`], as if there were no log.
    ///
    /// # Errors
    /// No repository, a bare one, or one of another user.
    pub fn open_without_log(dir: &Path) -> Result<Self> {
        let mut repo = Repo::discover(dir)?;
        let stands_for = repo.stands_for();
        if let Some(root) = &stands_for {
            repo = Repo::discover(root)?;
        }
        let clock = Clock::from_environment()
            .map_err(|error| Failure::new(FailureKind::Usage, Code::Usage, error.to_string()))?;
        let config = read_config(repo.root());
        Ok(Self {
            repo,
            store: None,
            log_from: None,
            clock,
            config,
            from_apart: stands_for.is_some(),
            caches: Caches::Kept,
            patience: None,
            attended: false,
            trust_everything: false,
            judging: None,
            pushes_later: false,
            tells_nobody: false,
            worktree_stays: false,
            tell: None,
            hidden: None,
            made_tests: Default::default(),
        })
    }

    /// The places of this worktree's log.
    pub fn place(&self) -> Place {
        find_place(&self.repo)
    }

    /// The settings.
    ///
    /// # Errors
    /// `cook.toml` cannot be read; then nothing is decided by defaults.
    pub fn config(&self) -> Result<&Config> {
        self.config.as_ref().map_err(|finding| {
            let mut failure = Failure::state(finding.code, finding.message.clone());
            failure.findings = vec![finding.clone()];
            failure
        })
    }

    /// The settings of the contract that decides.
    ///
    /// # Errors
    /// As [`Workspace::config`].
    pub fn judging_config(&self) -> Result<&Config> {
        match &self.judging {
            Some(judging) => Ok(&judging.config),
            None => self.config(),
        }
    }

    /// The problem with `cook.toml`, if any.
    pub fn config_problem(&self) -> Option<&Finding> {
        self.config.as_ref().err()
    }

    /// If the settings name no gate, uses those that `cook init` would propose. Returns whether it did.
    ///
    /// # Errors
    /// Settings, or a file of the repository, that cannot be read.
    pub fn propose_gates(&mut self) -> Result<bool> {
        if !self.config()?.gates.is_empty() {
            return Ok(false);
        }
        let proposed = propose_settings(self.repo.root())?;
        self.take_proposed(proposed);
        Ok(true)
    }

    /// Adds proposed gates for the folders that a change touches, if no gate of the settings covers them. Returns what
    /// is available then.
    ///
    /// # Errors
    /// Commits that cannot be read.
    pub(crate) fn propose_gates_for(&mut self, base: &str, head: &str) -> Result<Offered> {
        let touched = self.list_touched(base, head)?;
        let config = self.config()?;
        let own: BTreeSet<String> = config.gates.keys().cloned().collect();
        let (found, mut untested) = self.find_uncovered(head, touched, &config.gate_specs())?;
        let files = self.repo.files(head)?;
        untested
            .retain(|path| files.contains_key(path) && Language::of(path, "") != Language::Other);
        let has_tests = !own.is_empty() || found.values().any(Proposed::has_test);
        self.take_proposed(propose_for(&found));
        let unread = found.into_values().flat_map(|it| it.unread).collect();
        Ok(Offered {
            own,
            has_tests,
            untested: untested.into_iter().collect(),
            unread,
        })
    }

    /// Adds proposed gates for these folders of HEAD; if the settings name no gate, also those for the top of the
    /// worktree.
    ///
    /// # Errors
    /// As [`Workspace::propose_gates_for`].
    pub(crate) fn propose_gates_in(&mut self, dirs: &[&str]) -> Result<()> {
        let room = self.config()?.clean_room.clone();
        self.propose_gates()?;
        if let (false, Some(head)) = (dirs.is_empty(), self.repo.head()?.commit) {
            // A path in each folder makes the search include the folder.
            let paths = dirs.iter().map(|dir| format!("{dir}/.")).collect();
            let config = propose_for(&self.find_proposed(&head, &paths)?);
            if let Ok(own) = &mut self.config {
                own.clean_room = room;
            }
            self.take_proposed(config);
        }
        Ok(())
    }

    /// Proposals for the folders of a commit that contain these paths, as far as none of the given gates covers them;
    /// and the paths for which no tests would run.
    fn find_uncovered(
        &self,
        commit: &str,
        mut paths: BTreeSet<String>,
        named: &[GateSpec],
    ) -> Result<(BTreeMap<String, Proposed>, BTreeSet<String>)> {
        let covers = |gate: &GateSpec, path: &str| match gate.paths.is_empty() {
            true => gate.inside(path).is_some(),
            false => gate.paths.iter().any(|pattern| fits_path(pattern, path)),
        };
        paths.retain(|path| !named.iter().any(|gate| covers(gate, path)));
        if paths.is_empty() {
            return Ok(Default::default());
        }
        let mut found = self.find_proposed(commit, &paths)?;
        // If the settings name gates for a folder, they are complete for it and for the folders above.
        let is_above = |dir: &str, gate: &GateSpec| dir.is_empty() || fits_path(dir, &gate.dir);
        found.retain(|dir, _| !named.iter().any(|gate| is_above(dir, gate)));
        let has_tests = |dir: &str| found.get(dir).is_some_and(Proposed::has_test);
        paths.retain(|path| !list_folders(path).any(has_tests));
        Ok((found, paths))
    }

    fn find_proposed(
        &self,
        commit: &str,
        paths: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, Proposed>> {
        let files = self.repo.files(commit)?;
        detect_around(&self.repo, (commit, &files), paths)
    }

    fn take_proposed(&mut self, proposed: Config) {
        if let Ok(config) = &mut self.config {
            if config.clean_room == CleanRoom::default() {
                config.clean_room = proposed.clean_room;
            }
            for (name, gate) in proposed.gates {
                config.gates.entry(name).or_insert(gate);
            }
        }
    }

    /// The paths that differ, with their old and new names; all paths if nothing differs.
    ///
    /// # Errors
    /// Commits that cannot be read.
    pub(crate) fn list_touched(&self, base: &str, head: &str) -> Result<BTreeSet<String>> {
        let changes = self.repo.list_tree_changes(base, head)?;
        if changes.is_empty() {
            return Ok(self.repo.files(head)?.into_keys().collect());
        }
        let both = changes.into_iter().flat_map(|it| [it.before, it.after]);
        Ok(both.flatten().map(|(path, _)| path).collect())
    }

    /// Proposed gates for the folders of a commit (full id) that contain these paths, in addition to those that it
    /// names.
    ///
    /// # Errors
    /// A commit that cannot be read.
    pub(crate) fn propose_gates_at(
        &self,
        commit: &str,
        paths: &BTreeSet<String>,
        named: &[GateSpec],
    ) -> Result<Vec<GateSpec>> {
        let (found, _) = self.find_uncovered(commit, paths.clone(), named)?;
        Ok(propose_for(&found).gate_specs())
    }

    /// Whether the stop verifier is generated by cook, but from other gates than those of the settings.
    ///
    /// # Errors
    /// A script that exists but cannot be read.
    pub fn is_stop_verifier_stale(&self) -> Result<bool> {
        let script = STOP_VERIFIER_SCRIPTS[0];
        let path = self.repo.root().join(script);
        let read = disk::read_if_plain(&path, MAX_CONFIG, Links::Refuse);
        let read = read.at("read", &path)?;
        Ok(match (&self.config, read) {
            (Ok(config), Some(script)) => {
                let script = String::from_utf8_lossy(&script);
                stop_verifier_is_stale(&config.gate_specs(), &script)
            }
            _ => false,
        })
    }

    /// The log.
    ///
    /// # Errors
    /// `not_initialised` if there is none.
    pub fn store(&self) -> Result<&Store> {
        self.store.as_ref().ok_or_else(|| self.no_log())
    }

    /// Whether the log is lost, entirely or in part, and a killed driver left a copy of it.
    pub fn is_log_lost(&self) -> bool {
        let common = self.repo.common_dir();
        match common.join("cook").join("log.git").exists() {
            true => self.has_copy() && !matches!(self.current(), Ok((Some(_), _))),
            false => common.join(MIRROR_DIR).is_dir(),
        }
    }

    /// Whether a driver of this worktree, or a question, left a copy of the log.
    fn has_copy(&self) -> bool {
        let Some(id) = Store::find_id(&self.place()).ok().flatten() else {
            return false;
        };
        let mirrors = std::fs::read_dir(self.repo.common_dir().join(MIRROR_DIR));
        mirrors.into_iter().flatten().flatten().any(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.split(OF_PROCESS).next() == Some(&id)
        })
    }

    fn no_log(&self) -> Failure {
        let failure = Failure::state(Code::NotInitialised, "there is no log for this worktree");
        // A clone may have the mission already.
        let states_mission = self.repo.root().join(".agent/mission.md").is_file();
        if self.is_log_lost() {
            return failure.replace_hints([PUTS_BACK]);
        }
        // The caller reports a failure already, so errors here are ignored.
        let mut hints = pull_hints(&self.repo, &self.place()).unwrap_or_default();
        if hints.iter().all(|hint| hint.starts_with("where ")) {
            let init = match states_mission {
                true => "run `cook init`",
                false => Code::NotInitialised.hint(),
            };
            let or = if hints.is_empty() {
                ""
            } else {
                "where none does: "
            };
            hints.push(format!("{or}{init}"));
        }
        failure.replace_hints(hints)
    }

    /// The log's id; empty if there is no log.
    pub fn store_id(&self) -> &str {
        self.store.as_ref().map_or("", Store::id)
    }

    /// The documents at the tip.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn current(&self) -> Result<(Option<Tip>, Option<Snapshot>)> {
        match &self.store {
            None => Ok((None, None)),
            Some(store) => Ok(match store.current()? {
                Some((tip, snapshot)) => (Some(tip), Some(snapshot)),
                None => (None, None),
            }),
        }
    }

    /// The documents at the tip, which must exist.
    ///
    /// # Errors
    /// `not_initialised`, or a log that cannot be read.
    pub fn require(&self) -> Result<(Tip, Snapshot)> {
        self.store()?;
        match self.current()? {
            (Some(tip), Some(snapshot)) => Ok((tip, snapshot)),
            _ => Err(self.no_log()),
        }
    }

    /// The newest transition that moved the work. Tickets are tied to it, so that a note does not void them.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn find_settled(&self, tip: &Tip, snapshot: &Snapshot) -> Result<Tip> {
        match snapshot.ledger.aside.0 {
            0 => Ok(tip.clone()),
            aside => {
                let meta = self.store()?.resolve(&format!("@-{aside}"))?;
                Ok(Tip {
                    commit: meta.commit,
                    seq: meta.seq,
                })
            }
        }
    }

    /// Files in `.agent/` that differ from the log.
    ///
    /// # Errors
    /// A log or view that cannot be read.
    pub fn outside_edits(&self) -> Result<Vec<OutsideEdit>> {
        match &self.store {
            // No file here shows a fetched log.
            Some(store) if self.log_from.is_none() => Ok(store.outside_edits()?),
            _ => Ok(Vec::new()),
        }
    }

    /// The directory of a goal's hidden files, which are named by their digests.
    ///
    /// # Errors
    /// `cook` in the git directory exists but is not a directory.
    pub(crate) fn find_hidden(&self) -> Result<PathBuf> {
        match &self.hidden {
            Some(dir) => Ok(dir.clone()),
            None => Ok(self.repo.cook_dir()?.join("hidden")),
        }
    }

    /// The commands that this machine's user trusts.
    ///
    /// # Errors
    /// A list that cannot be read.
    pub fn trust(&self) -> Result<Trust> {
        let trust = Trust::of(&self.repo)?;
        Ok(if self.trust_everything {
            trust.with_everything()
        } else {
            trust
        })
    }

    /// Checks that all commands are trusted on this machine. `whose` names the setting that they are from, if they are
    /// not gates.
    ///
    /// # Errors
    /// `trust_missing`, with the commands that would trust them.
    pub fn require_trust(&self, whose: &str, commands: &[String]) -> Result<()> {
        let trust = self.trust()?;
        let untrusted = commands.iter().filter(|command| !trust.is_trusted(command));
        let untrusted: Vec<&String> = untrusted.collect();
        let Some(first) = untrusted.first() else {
            return Ok(());
        };
        let hint = |command: &&String| format!("run `cook trust {}`", quote_word(command));
        let (some, all) = (untrusted.len(), count_noun(commands.len(), "command"));
        let what = format!("{some} of {all}{whose} not trusted on this machine: `{first}`");
        Err(Refusal::new(Code::TrustMissing, what)
            .replace_hints(untrusted.iter().map(hint))
            .into())
    }

    // Parts of the log's histories: the user's words, and the work of slices.

    /// The user's words by message id: those that `cook resume --answer` and `cook brief say` recorded, except undone
    /// ones, and those that hooks reported as typed.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn messages(&self) -> Result<BTreeMap<String, String>> {
        let Some(store) = &self.store else {
            return Ok(BTreeMap::new());
        };
        let snapshot = store.snapshot()?;
        let undone = snapshot.undone.seqs;
        let answers = snapshot.ledger.answers.into_iter();
        let mut messages: BTreeMap<String, String> =
            answers.map(|answer| (answer.id(), answer.answer)).collect();
        for line in store.history_lines(History::Brief)? {
            let record: BriefRecord = serde_json::from_str(&line?)
                .or_fail(Code::LogUnreadable, "a line of the brief's history")?;
            if record.kind == Cause::Said && !undone.contains(&record.seq.0) {
                messages.insert(record.id, record.text);
            }
        }
        for entry in store.checkpoints(usize::MAX)?.entries {
            // A message from a hook never replaces one that was given to cook itself.
            if entry.kind == CheckpointKind::Prompt && entry.id.starts_with(PROMPT_ID) {
                messages.entry(entry.id).or_insert(entry.text);
            }
        }
        Ok(messages)
    }

    /// Checks that a session that did the work is not its judge, as far as sessions are known.
    ///
    /// # Errors
    /// `judge_not_independent`, or a log that cannot be read.
    pub fn check_independent(&self, event: &Event) -> Result<()> {
        let (Some(role), Some(submission)) = (event.role(), event.submission()) else {
            return Ok(());
        };
        let (true, Some(session)) = (role.is_independent(), &submission.session) else {
            return Ok(());
        };
        let built = |record: &SliceRecord| {
            record.kind == SliceRecordType::Implemented && record.session.as_ref() == Some(session)
        };
        let records = self.slice_records(|line| line.contains("\"session\""))?;
        match records.iter().find(|record| built(record)) {
            None => Ok(()),
            Some(record) => Err(Refusal::new(
                Code::JudgeNotIndependent,
                format!(
                    "the session that did the work on `{}` cannot be its {role}",
                    record.slice_id
                ),
            )
            .into()),
        }
    }

    /// Parses the lines of the slices' history that pass the given test.
    pub(crate) fn slice_records(
        &self,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<SliceRecord>> {
        let mut records = Vec::new();
        let Some(store) = &self.store else {
            return Ok(records);
        };
        for line in store.history_lines(History::Slice)? {
            let line = line?;
            if is_wanted(&line) {
                records.push(
                    serde_json::from_str(&line)
                        .or_fail(Code::LogUnreadable, "a line of the slices' history")?,
                );
            }
        }
        Ok(records)
    }

    /// A bundle of accepted tests, by its id; `None` if the log does not hold it.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub(crate) fn read_kept_tests(&self, id: &str) -> Result<Option<Bundle>> {
        if let Some(made) = self.made_tests.borrow().get(id) {
            return Bundle::from_bytes(made).map(Some);
        }
        let Some(store) = &self.store else {
            return Ok(None);
        };
        match store.read_kept_tests(id)? {
            Some(bytes) => Bundle::from_bytes(&bytes).map(Some),
            None => Ok(None),
        }
    }

    /// Bundles of tests that the documents name for the first time, by id.
    pub(crate) fn list_new_tests(
        &self,
        before: Option<&Snapshot>,
        next: &Snapshot,
    ) -> Vec<(String, Vec<u8>)> {
        let known = before.map(list_tests).unwrap_or_default();
        let made = self.made_tests.borrow();
        let new = list_tests(next)
            .into_iter()
            .filter(|id| !known.contains(id));
        new.filter_map(|id| Some((id.clone(), made.get(&id)?.clone())))
            .collect()
    }

    /// Contract texts in the worktree that differ from the log.
    ///
    /// # Errors
    /// A file that exists but cannot be read, so that its content is unknown.
    pub fn contract_differs(&self, snapshot: Option<&Snapshot>) -> Result<Vec<String>> {
        let Some(snapshot) = snapshot else {
            return Ok(Vec::new());
        };
        let [mission, profile] = CONTRACT_TEXTS;
        let mut differ = Vec::new();
        if !snapshot.mission.is_empty()
            && let Some(bytes) = self.read_contract_text(mission)?
            && String::from_utf8_lossy(&bytes).trim() != snapshot.mission.trim()
        {
            differ.push(mission.to_owned());
        }
        if let Some(bytes) = self.read_contract_text(profile)?
            && schema::read_document::<Profile>(&bytes, schema::MAX_DOCUMENT_BYTES)
                .map_or(true, |found| found != snapshot.profile)
        {
            differ.push(profile.to_owned());
        }
        Ok(differ)
    }

    /// One of [`CONTRACT_TEXTS`] in the worktree; `None` if the file does not exist.
    ///
    /// # Errors
    /// A file that exists but cannot be read.
    pub fn read_contract_text(&self, path: &str) -> Result<Option<Vec<u8>>> {
        let read = disk::read_if_plain(&self.repo.root().join(path), MAX_TEXT, Links::Refuse);
        read.or_fail(Code::InputUnreadable, format!("`{path}` cannot be read"))
    }
}

/// The ids of the bundles of tests that evidence and a goal name.
pub(crate) fn list_tests(snapshot: &Snapshot) -> BTreeSet<String> {
    let slices = snapshot.plan.candidate_slices.iter();
    let records = slices.flat_map(|slice| &slice.evidence);
    let tests = records.filter_map(|entry| entry.record()?.tests.clone());
    let frozen = snapshot.goal().map(|goal| goal.tests.clone());
    tests.chain(frozen).collect()
}

fn read_config(root: &Path) -> Result<Config, Finding> {
    let path = root.join(".agent").join("cook.toml");
    let problem = |what: String| Finding::new(Code::ConfigInvalid, what).at(".agent/cook.toml");
    match disk::read_text(&path, MAX_CONFIG, Links::Refuse) {
        Ok(Some(text)) => Config::parse(&text).map_err(problem),
        Ok(None) => Ok(Config::default()),
        Err(error) => Err(problem(error.to_string())),
    }
}

// Where the log of a branch may be, according to this clone. No remote is contacted.

/// Where the log of the checked-out branch may be.
///
/// # Errors
/// A failing git, or a log that cannot be read.
pub(crate) fn elsewhere(repo: &Repo, place: &Place) -> Result<Elsewhere> {
    let branch = repo.head()?.branch.unwrap_or_default();
    Elsewhere::find(repo, place, &branch)
}

/// Hints at how to pull that log.
///
/// # Errors
/// As [`elsewhere`].
pub(crate) fn pull_hints(repo: &Repo, place: &Place) -> Result<Vec<String>> {
    let found = elsewhere(repo, place)?;
    Ok(match (found.seen.first(), found.configured.is_empty()) {
        (Some(_), _) => vec!["take the log in: `cook pull`".to_owned()],
        (None, false) => {
            vec!["where a remote holds the log of this branch: `cook pull`".to_owned()]
        }
        (None, true) => Vec::new(),
    })
}

// The contract of another commit by which HEAD is judged.

/// Time limit of a handwritten stop verifier.
const PATIENCE: Duration = Duration::from_secs(60 * 60);

/// A contract that decides instead of the worktree's.
#[derive(Debug, Clone)]
pub struct Judging {
    /// The full id of its commit.
    pub commit: String,
    /// The full id of the base; differs from `commit` if HEAD's contract was accepted.
    pub base: String,
    /// Its settings, with the gates that HEAD adds.
    pub config: Config,
    /// Its profile.
    pub profile: Option<Profile>,
    /// Names of the gates that HEAD adds.
    pub added: Vec<String>,
    /// Its files under `.agent/` that differ at HEAD.
    pub files: Vec<TakenBack>,
    /// Whether its stop verifier is not generated from its gates.
    pub has_own_verifier: bool,
}

impl Judging {
    /// The required gates that run in a clean room: those that HEAD adds, or the others.
    pub(crate) fn gates(&self, added: bool) -> Vec<GateSpec> {
        let mut gates = self.config.gate_specs();
        gates.retain(|gate| {
            gate.required
                && gate.place == model::Place::CleanRoom
                && self.added.contains(&gate.name) == added
        });
        gates
    }

    /// The checks of its stop verifier, as one command.
    pub(crate) fn verifier(&self) -> GateSpec {
        GateSpec {
            run: format!("{STOP_VERIFIER} --checks"),
            timeout_ms: PATIENCE.as_millis() as u64,
            network: self.gates(false).iter().any(|gate| gate.network),
            ..plan_gate("stop verifier")
        }
    }
}

// The contract's texts in the worktree, compared with the log's.

/// Maximum size of a contract text in bytes.
const MAX_TEXT: u64 = 4 << 20;
