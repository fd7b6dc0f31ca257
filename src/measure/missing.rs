//! What a red command may have lacked in the clean room: what its output names, and only this machine or
//! this worktree has.

use crate::init;
use cook_protocol::diagnostic::Failure;
use cook_protocol::machine::GateRun;
use cook_protocol::model::{Config, GateSpec, Place, Receipt};
use cook_repo::git::{Entry, Repo};
use cook_repo::process::on_path;
use cook_repo::receipt::{Receipts, Trust, words};
use std::collections::BTreeSet;

/// A command that is red.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Red<'a> {
    /// The gate; none = the stop verifier, which runs them all.
    pub gate: Option<&'a GateSpec>,
    pub receipt: Option<&'a Receipt>,
    /// Why there is no receipt, or what else is wrong with it.
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

/// Hints for one command.
const MAX_HINTS: usize = 6;
/// Lines of an output that are searched, from its end.
const MAX_LINES: usize = 2_000;
/// Different words that are searched.
const MAX_WORDS: usize = 5_000;

/// What was missing, with the setting that provides it; nothing where that cannot be told.
///
/// # Errors
/// git that does not answer, an output or a trust list that cannot be read.
pub(crate) fn missing(repo: &Repo, config: &Config, red: Red) -> Result<Vec<String>, Failure> {
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

/// The same for a gate that did not start in the worktree, where no setup runs.
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

/// The words of the last lines, without quotes, brackets and the punctuation around them.
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

    /// Variables of the terminal that the room does not have, and that the output or the command names.
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

    /// Programs that the output names, and that the PATH of this terminal has and the trusted one has not.
    fn list_programs(&self) -> Result<Vec<String>, Failure> {
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

    /// Files that the output names, and that the worktree has and the commit has not.
    fn list_files(&self) -> Result<Vec<String>, Failure> {
        let Some(head) = self.repo.head()?.commit else {
            return Ok(Vec::new());
        };
        // The room ends with the name of the worktree.
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
                || self.is_cached(path)
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

    /// Whether it lies in a directory that the room keeps for itself.
    fn is_cached(&self, path: &str) -> bool {
        let mut caches = self.config.clean_room.cache.iter();
        caches.any(|cache| {
            let cache = cache.trim_matches('/');
            path == cache
                || path.starts_with(&format!("{cache}/"))
                || !cache.contains('/') && path.split('/').any(|part| part == cache)
        })
    }

    /// Packages that a lock file lists, where no setup installs any.
    fn find_unprepared_packages(&self) -> Result<Option<String>, Failure> {
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

/// Words of an output that are asked about.
const MAX_ASKED: usize = 500;
/// Prints those of its words that are modules of this Python, each with the package that brings it.
const PROBE: &str = "import importlib.metadata as m, importlib.util as u, sys
of = getattr(m, 'packages_distributions', dict)()
for word in sys.argv[1:]:
    try:
        if u.find_spec(word):
            print(word, (of.get(word) or [word])[0])
    except Exception:
        pass
";

/// Runs a command in the room and outside, and says what each printed.
type PrintBoth<'a> = &'a dyn Fn(&[String]) -> Result<[String; 2], Failure>;

/// The packages of Python that a red gate's output names a module of, and that are here and not in its room.
///
/// # Errors
/// git that does not answer, an output that cannot be read, an interruption.
pub(crate) fn list_packages(
    repo: &Repo,
    gate: &GateSpec,
    receipt: &Receipt,
    print: PrintBoth,
) -> Result<Vec<String>, Failure> {
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
    // A submodule is in the package of its first part.
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
