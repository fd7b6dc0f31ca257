//! Runs trusted gates, unless a receipt has their result.

use super::world::World;
use crate::init::{self, stop_script};
use crate::prelude::*;
use cook_protocol::machine::StopVerifierRun;
use cook_protocol::model::{Place, RoomCheck, STOP_VERIFIER_SCRIPTS};
use cook_protocol::question::GateQuestion;
use cook_repo::disk::AtPath;
use cook_repo::git::Entry;

/// Maximum size of a script in bytes.
const MAX_SCRIPT: u64 = 1 << 20;
/// Time limit of the script itself, in addition to its gates.
const OF_SCRIPT: Duration = Duration::from_secs(30);
/// Upper limit of the time for a stop verifier.
const PATIENCE: Duration = Duration::from_secs(60 * 60);

impl World<'_> {
    /// Runs the stop verifier, which is a program of the repository like any gate.
    pub(super) fn stop_verifier(&self, caches: Caches) -> Result<StopVerifierRun> {
        let (_, trust) = self.gates_here()?;
        let why = match (trust.is_trusted(STOP_VERIFIER), self.repo.head()?.commit) {
            (true, Some(commit)) => {
                match self
                    .other_script(&commit)?
                    .or(self.explain_untrusted_setup(trust))
                {
                    None => {
                        let gates = self.config.gate_specs();
                        let runs =
                            |gate: &&GateSpec| gate.required && gate.place == Place::CleanRoom;
                        let required = || gates.iter().filter(runs);
                        let network = required().any(|gate| gate.network);
                        let own = required().map(|gate| gate.timeout_ms).sum();
                        // The time that the user's own script takes is unknown.
                        let patience = match self.is_generated(&commit)? {
                            true => (Duration::from_millis(own) + OF_SCRIPT).min(PATIENCE),
                            false => PATIENCE,
                        };
                        let runner = self.runner()?;
                        return runner.stop_verifier(&commit, caches, network, patience);
                    }
                    Some(why) => why,
                }
            }
            (true, None) => "there is no commit to run it at".to_owned(),
            (false, _) => "this machine does not trust its scripts".to_owned(),
        };
        Ok(StopVerifierRun {
            receipt: None,
            problem: Some(why),
            remarks: Vec::new(),
        })
    }

    /// The commands that are not trusted.
    pub(super) fn list_untrusted(&self, commands: &BTreeSet<String>) -> Result<BTreeSet<String>> {
        let (_, trust) = self.gates_here()?;
        let untrusted = commands.iter().filter(|it| !trust.is_trusted(it));
        Ok(untrusted.cloned().collect())
    }

    pub(super) fn gates(&self, question: &GateQuestion) -> Result<Vec<GateRun>> {
        let gates = merge_gates(self.config.gate_specs(), &question.commands);
        let commit = if question.commit.is_empty() {
            self.repo.head()?.commit
        } else {
            self.repo.resolve(&question.commit)?
        };
        match commit {
            Some(commit) => {
                let mut runs = self.run_trusted(&commit, gates)?;
                self.add_failed(&mut runs)?;
                Ok(runs)
            }
            None => Ok(gates
                .into_iter()
                .map(|gate| GateRun::new(gate, None, Some("there is no such commit to run it at")))
                .collect()),
        }
    }

    /// Runs the trusted gates; the result of any other says that it is not trusted. A green run at the same tree is not
    /// repeated, nor is a red one of this process: then only the transition is being retried.
    pub(crate) fn run_trusted(&self, commit: &str, gates: Vec<GateSpec>) -> Result<Vec<GateRun>> {
        let (receipts, trust) = self.gates_here()?;
        let tree = self.repo.find_tree(commit)?;
        let mut done: BTreeMap<usize, GateRun> = BTreeMap::new();
        let mut due = Vec::new();
        let runner = self.runner()?;
        let untrusted_setup = self.explain_untrusted_setup(trust);
        for (place, gate) in gates.into_iter().enumerate() {
            let kept = receipts.find_gate(&gate, &tree, None)?;
            let known = kept.filter(|receipt| {
                let serves = receipt.caches == self.workspace.caches
                    || self.workspace.caches == Caches::Kept;
                receipts.is_own(receipt) && serves
                    || receipt.has_passed()
                        && self.workspace.caches == Caches::Kept
                        && receipt.preparation_sha256 == runner.preparation(&gate)
            });
            if let Some(why) = explain_untrusted(trust, &gate.run).or(untrusted_setup.clone()) {
                done.insert(place, GateRun::new(gate, None, Some(&why)));
            } else if let Some(receipt) = known {
                let told = runner.tell_chance(&receipt)?.into_iter();
                let remarks = told.chain(runner.remark_on(&receipt)?).collect();
                let mut run = GateRun::new(gate, Some(receipt), None);
                run.remarks = remarks;
                done.insert(place, run);
            } else {
                due.push((place, gate));
            }
        }
        let (places, specs): (Vec<usize>, Vec<GateSpec>) = due.into_iter().unzip();
        let runs = runner.run_at(commit, &specs, self.workspace.caches)?;
        done.extend(places.into_iter().zip(runs));
        Ok(done.into_values().collect())
    }

    /// Finds or runs the results of trusted gates at a commit. A known result is returned again, green or red, except
    /// if tests could not be loaded: their dependencies may have been installed since, and such a result was not
    /// chance. `cook gate --clean` runs a gate anew.
    ///
    /// # Errors
    /// As [`Gates::run_at`](cook_repo::receipt::Gates::run_at).
    pub(crate) fn ask(&self, commit: &str, gates: Vec<GateSpec>) -> Result<Vec<GateRun>> {
        let (receipts, trust) = self.gates_here()?;
        let runner = self.runner()?;
        let has_loaded = |receipt: &Receipt| -> Result<bool> {
            Ok(receipt.has_passed() || receipts.outcomes(receipt)?.unloaded.is_empty())
        };
        let is_trusted = self.explain_untrusted_setup(trust).is_none();
        let mut runs = Vec::new();
        for gate in gates {
            let known = match is_trusted && trust.is_trusted(&gate.run) {
                true if self.workspace.caches == Caches::Kept => {
                    runner.find_asked(commit, &gate)?
                }
                _ => None,
            };
            match known {
                Some(receipt) if has_loaded(&receipt)? => {
                    let remarks = runner.remark_on(&receipt)?.into_iter().collect();
                    let run = GateRun::new(gate, Some(receipt), None);
                    runs.push(GateRun { remarks, ..run });
                }
                _ => runs.extend(self.run_trusted(commit, vec![gate])?),
            }
        }
        Ok(runs)
    }

    /// Whether the commit's stop verifier is the one that cook generates from the gates.
    pub(crate) fn is_generated(&self, commit: &str) -> Result<bool> {
        let made = stop_script(&self.config.gate_specs());
        let entry = self.repo.entry(commit, STOP_VERIFIER_SCRIPTS[0])?;
        Ok(matches!(entry, Entry::File { bytes, .. } if bytes == made.as_bytes()))
    }

    /// Runs the required gates at HEAD in a clean room, and then a stop verifier that is not generated from them;
    /// `None` on an unborn branch.
    pub(crate) fn room(&self) -> Result<Option<RoomCheck>> {
        let head = self.repo.head()?;
        let (Some(commit), Some(tree)) = (head.commit, head.tree) else {
            return Ok(None);
        };
        if !self.holds_settings(&commit)? {
            let why = "the worktree's `.agent/cook.toml` is not committed";
            return Ok(Some(RoomCheck {
                tree,
                red: vec![why.to_owned()],
                remarks: Vec::new(),
            }));
        }
        let mut gates = self.config.gate_specs();
        gates.retain(|gate| gate.required && gate.place == Place::CleanRoom);
        let generated = self.is_generated(&commit)?;
        let runs = self.run_trusted(&commit, gates)?;
        let mut red = Vec::new();
        for run in runs.iter().filter(|run| !run.has_passed()) {
            let mut what = ending(&run.gate.name, run.receipt.as_ref(), run.problem.as_deref());
            for hint in missing(self.repo, self.config, run.into())? {
                what.push_str(&format!("; missing: {hint}"));
            }
            red.push(what);
        }
        let mut remarks: Vec<String> = runs.into_iter().flat_map(|run| run.remarks).collect();
        if red.is_empty() && !generated {
            let run = self.stop_verifier(self.workspace.caches)?;
            remarks.extend(run.remarks.iter().cloned());
            if !run.has_passed() {
                let name = STOP_VERIFIER_SCRIPTS[0];
                red.push(ending(name, run.receipt.as_ref(), run.problem.as_deref()));
            }
        }
        Ok(Some(RoomCheck { tree, red, remarks }))
    }

    /// Runs trusted gates that have no receipt at HEAD's tree yet; with empty caches all of them.
    pub(super) fn complete(
        &self,
        head: &Head,
        commands: &BTreeSet<Vec<String>>,
        caches: Caches,
    ) -> Result<()> {
        let (Some(commit), Some(tree)) = (&head.commit, &head.tree) else {
            return Ok(());
        };
        let (receipts, trust) = self.gates_here()?;
        if self.explain_untrusted_setup(trust).is_some() {
            return Ok(());
        }
        let slices: Vec<String> = self.slice_commands(None).cloned().collect();
        let all = merge_gates(self.config.gate_specs(), &slices);
        let mut due = Vec::new();
        for gate in all {
            let asked = words(&gate.run).is_ok_and(|argv| commands.contains(&argv))
                && trust.is_trusted(&gate.run);
            if asked && (caches == Caches::Empty || receipts.find(&gate.run, tree)?.is_none()) {
                due.push(gate);
            }
        }
        self.runner()?.run_at(commit, &due, caches)?;
        Ok(())
    }

    /// Why the stop verifier may not run: the commit's script would run, but trust is given to the one in the worktree.
    fn other_script(&self, commit: &str) -> Result<Option<String>> {
        for script in STOP_VERIFIER_SCRIPTS {
            let path = self.repo.root().join(script);
            let here = disk::read_if_plain(&path, MAX_SCRIPT, Links::Refuse);
            let here = here.at("read", &path)?;
            let same = match self.repo.entry(commit, script)? {
                Entry::File { bytes, .. } => here == Some(bytes),
                _ => false,
            };
            if !same {
                let why = format!("`{script}` is not committed as it stands in the worktree");
                return Ok(Some(why));
            }
        }
        Ok(None)
    }

    /// Why setup may not run here; `None` if it may.
    pub(super) fn explain_untrusted_setup(&self, trust: &Trust) -> Option<String> {
        let commands = self.config.clean_room.setup();
        let mut whys = commands.filter_map(|command| explain_untrusted(trust, command));
        whys.next()
    }
}

/// Describes how a run that is not green ended.
pub(super) fn ending(name: &str, receipt: Option<&Receipt>, problem: Option<&str>) -> String {
    match (problem, receipt) {
        (Some(problem), _) => format!("`{name}`: {problem}"),
        (None, Some(receipt)) => format!("`{name}` {} (receipt:{})", receipt.ending(), receipt.id),
        (None, None) => format!("`{name}` did not run"),
    }
}

/// Why a command may not run here; `None` if it may.
pub(super) fn explain_untrusted(trust: &Trust, command: &str) -> Option<String> {
    let hint = || format!("run `cook trust {}`", shell_words::quote(command));
    (!trust.is_trusted(command))
        .then(|| format!("`{command}` is not trusted on this machine: {}", hint()))
}

// Hints at the cause of a red run in the clean room: names in its output that exist only on this machine or in this
// worktree.

/// A command that is red.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Red<'a> {
    /// The gate; `None` for the stop verifier, which runs them all.
    pub gate: Option<&'a GateSpec>,
    pub receipt: Option<&'a Receipt>,
    /// Why there is no receipt, or another problem of the run.
    pub problem: Option<&'a str>,
}

impl<'a> From<&'a GateRun> for Red<'a> {
    fn from(run: &'a GateRun) -> Self {
        Self {
            gate: Some(&run.gate),
            receipt: run.receipt.as_ref(),
            problem: run.problem.as_deref(),
        }
    }
}

struct Look<'a> {
    repo: &'a Repo,
    config: &'a Config,
    red: Red<'a>,
    /// The words of its output.
    words: BTreeSet<String>,
}

/// Maximum number of hints for one command.
const MAX_HINTS: usize = 6;
/// Maximum number of lines at the end of an output that are searched.
const MAX_LINES: usize = 2_000;
/// Maximum number of different words that are searched.
const MAX_WORDS: usize = 5_000;

/// What may have been missing, with the setting that provides it; empty if nothing is recognized.
///
/// # Errors
/// A failing git, or an output or a trust list that cannot be read.
pub(crate) fn missing(repo: &Repo, config: &Config, red: Red) -> Result<Vec<String>> {
    let mut output = red.problem.unwrap_or_default().to_owned();
    if let Some(receipt) = red.receipt {
        if receipt.place != Place::CleanRoom || receipt.has_passed() && red.problem.is_none() {
            return Ok(Vec::new());
        }
        let kept = Receipts::of(repo)?.output(receipt)?;
        output = format!("{}\n{}\n{output}", kept.text, receipt.tail);
    }
    let look = Look {
        repo,
        config,
        red,
        words: list_words(&output),
    };
    let mut hints = look.list_variables();
    hints.extend(look.list_programs()?);
    hints.extend(look.list_files()?);
    hints.extend(look.find_unprepared_packages()?);
    hints.truncate(MAX_HINTS);
    Ok(hints)
}

/// The message about green gates that do not name any passed test.
pub(crate) const NAMELESS: &str = "no gate names a test that passed, so no criterion can rest on `test:NAME`: let the runner print its tests, or call it without a shell around it";

/// Whether gates ran and are green, but none of them names a passed test.
///
/// # Errors
/// Outcomes that cannot be read.
pub(crate) fn are_nameless(repo: &Repo, green: &[&Receipt]) -> Result<bool> {
    let receipts = Receipts::of(repo)?;
    for receipt in green {
        let outcomes = receipts.outcomes(receipt)?;
        let mut results = outcomes.tests.values().map(|test| test.result);
        if outcomes.omits_passed || results.any(|result| result == TestResult::Passed) {
            return Ok(false);
        }
    }
    Ok(!green.is_empty())
}

/// Like [`missing`], for a gate that did not start in the worktree, where no setup runs.
pub(crate) fn list_missing_in_worktree(repo: &Repo, config: &Config, run: &GateRun) -> Vec<String> {
    let argv = words(&run.gate.run).unwrap_or_default();
    let program = argv.first().filter(|word| word.contains('/'));
    let setup: Vec<String> = config
        .clean_room
        .setup()
        .map(|command| format!("`{command}`"))
        .collect();
    let unmade = program.filter(|program| {
        run.receipt.is_none() && !setup.is_empty() && !repo.root().join(program).exists()
    });
    let hint = unmade.map(|program| {
        let setup = setup.join(", then ");
        format!(
            "`{program}`, which setup makes in clean rooms alone: run `cook gate --clean`, or make it here as setup does: {setup}"
        )
    });
    hint.into_iter().collect()
}

/// The words of the last lines, without quotes, brackets and surrounding punctuation.
fn list_words(output: &str) -> BTreeSet<String> {
    let lines: Vec<&str> = output.lines().collect();
    let last = &lines[lines.len().saturating_sub(MAX_LINES)..];
    let separators = |c: char| c.is_whitespace() || "'\"`‘’()[]<>{}$,;|=".contains(c);
    let words = last.iter().rev().flat_map(|line| line.split(separators));
    let words = words.map(|word| {
        let word = word.trim_matches([':', '!', '?']);
        word.strip_suffix('.').unwrap_or(word)
    });
    let words = words.filter(|word| !word.is_empty() && word.len() < 1024);
    words.take(MAX_WORDS).map(str::to_owned).collect()
}

impl Look<'_> {
    fn gate_setting(&self) -> String {
        match self.red.gate {
            Some(gate) if self.config.gates.contains_key(&gate.name) => {
                format!("`[gates.{}]`", gate.name)
            }
            _ => "its gate".to_owned(),
        }
    }

    /// Variables of the terminal that the room lacks and that the output or the command names.
    fn list_variables(&self) -> Vec<String> {
        let Some(receipt) = self.red.receipt else {
            return Vec::new();
        };
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let names = |text: &str, name: &str| text.split(|c| !is_word(c)).any(|word| word == name);
        let dropped = receipt.dropped_env.iter();
        let dropped = dropped.filter(|name| name.contains(char::is_alphabetic));
        let hints = dropped.filter_map(|name| {
            let by = match () {
                () if self.words.iter().any(|word| names(word, name)) => "output",
                () if names(&receipt.command, name) => "command",
                () => return None,
            };
            Some(format!(
                "the variable `{name}` of this terminal, which its {by} names: `[clean_room] env = [\"{name}\"]` passes it on"
            ))
        });
        hints.collect()
    }

    /// Programs that the output names and that are on the PATH of this terminal but not on the trusted PATH.
    fn list_programs(&self) -> Result<Vec<String>> {
        let here = std::env::var_os("PATH").unwrap_or_default();
        let tools = Trust::of(self.repo)?.tools();
        let trusted = tools.get("PATH").cloned().unwrap_or_default();
        let is_name = |word: &str| {
            word.chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_+.".contains(c))
        };
        let named = self.words.iter().filter(|word| is_name(word));
        let hints = named.filter_map(|name| {
            let place = on_path(name, &here)?;
            let how = match place.starts_with(self.repo.root()) {
                true => format!(
                    "it is `{}`, and no program of the repository is on the PATH of the room: call it by its path",
                    place.display()
                ),
                false if on_path(name, trusted.as_ref()).is_some() => return None,
                false => "`cook trust --tools` takes in the PATH of this terminal, which has it".to_owned(),
            };
            Some(format!("the program `{name}`: {how}"))
        });
        Ok(hints.collect())
    }

    /// Files that the output names and that exist in the worktree but not in the commit.
    fn list_files(&self) -> Result<Vec<String>> {
        let Some(head) = self.repo.head()?.commit else {
            return Ok(Vec::new());
        };
        // The path of the room ends with the name of the worktree.
        let name = self.repo.root().file_name().unwrap_or_default();
        let room = format!("/{}/", name.to_string_lossy());
        let mut hints = Vec::new();
        for word in &self.words {
            let path = match word.starts_with('/') {
                true => word.split_once(&room).map_or("", |(_, path)| path),
                false => word.strip_prefix("./").unwrap_or(word),
            };
            let is_plain = !path.is_empty()
                && !path
                    .split('/')
                    .any(|part| matches!(part, "" | "." | ".." | ".git"));
            if !is_plain
                || self.config.clean_room.is_cached(path)
                || !self.repo.root().join(path).is_file()
                || self.repo.entry(&head, path)? != Entry::Nothing
            {
                continue;
            }
            let place = self.gate_setting();
            hints.push(match self.repo.list_ignored(&[path])?.is_empty() {
                true => format!("`{path}`, which no commit has: commit it"),
                false => format!(
                    "`{path}`, which git ignores, so no clone has it: make it in `[clean_room] setup`, or set `place = \"worktree\"` in {place}, which then proves nothing"
                ),
            });
        }
        Ok(hints)
    }

    /// Packages that a lock file lists, where no setup installs any.
    fn find_unprepared_packages(&self) -> Result<Option<String>> {
        if self.config.clean_room.setup().next().is_some() {
            return Ok(None);
        }
        let proposed = init::detect(self.repo.root())?;
        let hint = (!proposed.setup.is_empty()).then(|| {
            format!(
                "perhaps the packages of `{}`, because no setup installs them: `[clean_room]` with {}",
                proposed.setup_inputs.join("`, `"),
                init::setup_settings(&proposed).join(", ")
            )
        });
        Ok(hint)
    }
}

/// Maximum number of words of an output that are looked up.
const MAX_ASKED: usize = 500;
/// Prints the words that are modules of this Python, each with its package.
const PROBE: &str = "import importlib.metadata as m, importlib.util as u, sys
of = getattr(m, 'packages_distributions', dict)()
for word in sys.argv[1:]:
    try:
        if u.find_spec(word):
            print(word, (of.get(word) or [word])[0])
    except Exception:
        pass
";

/// Runs a command in the room and outside of it, and returns the two outputs.
type PrintBoth<'a> = &'a dyn Fn(&[String]) -> Result<[String; 2]>;

/// Python packages whose modules a red gate's output names, and that are installed here but not in its room.
///
/// # Errors
/// A failing git, an output that cannot be read, or an interruption.
pub(crate) fn list_packages(
    repo: &Repo,
    gate: &GateSpec,
    receipt: &Receipt,
    print: PrintBoth,
) -> Result<Vec<String>> {
    let argv = words(&gate.run).unwrap_or_default();
    let is_python = |word: &&String| {
        let name = word.rsplit('/').next().unwrap_or(word);
        name.starts_with("python")
    };
    let python = argv.first().filter(is_python);
    let kept = Receipts::of(repo)?.output(receipt)?;
    let is_name =
        |word: &String| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_');
    let named = list_words(&format!("{}\n{}", kept.text, receipt.tail));
    // A submodule belongs to the package of its first part.
    let named: BTreeSet<String> = named
        .iter()
        .filter_map(|word| word.split('.').next().map(str::to_owned))
        .filter(is_name)
        .collect();
    let mut asked = vec![
        python.map_or("python3".to_owned(), Clone::clone),
        "-c".to_owned(),
        PROBE.to_owned(),
    ];
    asked.extend(named.into_iter().take(MAX_ASKED));
    let [room, here] = print(&asked)?;
    let in_room: BTreeSet<&str> = room.lines().collect();
    let lacking = here.lines().filter(|line| !in_room.contains(line));
    let packages: BTreeSet<&str> = lacking.filter_map(|line| line.split(' ').nth(1)).collect();
    Ok(packages.into_iter().map(str::to_owned).collect())
}
