//! What a red command did not have in the clean room, told from what it printed, and the setting
//! that gives it.

use super::phrases::{
    NO_FILE, NO_NETWORK, NO_PACKAGE, NO_PROGRAM, NO_SERVICE, SURROUNDINGS, TERMINAL,
    TERMINAL_PREFIXES,
};
use crate::scaffold;
use cook_core::diagnostic::Failure;
use cook_core::machine::GateRun;
use cook_core::model::{Config, GateSpec, Place, Receipt, SandboxKind};
use cook_git::{Entry, Repo};
use cook_os::process::on_path;
use cook_store::receipt::{Receipts, words};
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

/// What a cause is told by.
struct Look<'a> {
    repo: &'a Repo,
    config: &'a Config,
    red: Red<'a>,
    /// What it printed.
    output: String,
}

type Cause = fn(&Look) -> Result<Vec<String>, Failure>;

/// Causes, in the order in which they are said.
const CAUSES: [Cause; 6] = [
    variables,
    programs,
    files,
    dependencies,
    network,
    surroundings,
];
/// Hints that are said of one command.
const MAX_HINTS: usize = 6;
/// Lines and words of an output that are looked at, from its end.
const MAX_LINES: usize = 2_000;
const MAX_WORDS: usize = 500;

/// What was missing, and what gives it; nothing where that cannot be told.
///
/// # Errors
/// git that does not answer, an output that cannot be read.
pub(crate) fn missing(repo: &Repo, config: &Config, red: Red) -> Result<Vec<String>, Failure> {
    let mut output = red.problem.unwrap_or_default().to_owned();
    if let Some(receipt) = red.receipt {
        if receipt.place != Place::CleanRoom || receipt.has_passed() && red.problem.is_none() {
            return Ok(Vec::new());
        }
        let kept = Receipts::of(repo)?.output(receipt)?;
        output = format!("{}\n{}\n{output}", kept.text, receipt.tail);
    }
    let lines: Vec<&str> = output.lines().collect();
    let last = lines[lines.len().saturating_sub(MAX_LINES)..].join("\n");
    let look = Look {
        repo,
        config,
        red,
        output: last,
    };
    let mut hints: Vec<String> = Vec::new();
    for cause in CAUSES {
        for hint in cause(&look)? {
            if !hints.contains(&hint) {
                hints.push(hint);
            }
        }
    }
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

/// Variables that a command did not get, without those of the terminal itself.
pub(crate) fn list_dropped(receipt: &Receipt) -> Vec<String> {
    let is_terminals = |name: &str| {
        TERMINAL.contains(&name)
            || TERMINAL_PREFIXES
                .iter()
                .any(|prefix| name.starts_with(prefix))
    };
    let dropped = receipt.dropped_env.iter();
    dropped
        .filter(|name| !is_terminals(name))
        .cloned()
        .collect()
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

    fn says(&self, words: &[&str]) -> bool {
        self.list_lines_with(words).next().is_some()
    }

    fn list_lines_with<'l>(&'l self, words: &'l [&str]) -> impl Iterator<Item = &'l str> {
        self.output.lines().filter(|line| {
            let line = line.to_lowercase();
            words.iter().any(|word| line.contains(word))
        })
    }

    /// Paths that these lines could name, from the root of the repository.
    fn paths(&self, lines: &mut dyn Iterator<Item = &str>) -> Vec<String> {
        let mut found = Vec::new();
        let separators = |c: char| c.is_whitespace() || "'\"`()[]<>,;|".contains(c);
        for word in lines.flat_map(|line| line.split(separators)) {
            let word = word.trim_matches(|c: char| matches!(c, ':' | '!' | '?'));
            let word = word.strip_suffix('.').unwrap_or(word);
            // Whole paths are the room's, which ends with the name of the worktree.
            let name = self.repo.root().file_name().unwrap_or_default();
            let room = format!("/{}/", name.to_string_lossy());
            let path = match word.starts_with('/') {
                true => word.split_once(&room).map_or("", |(_, path)| path),
                false => word.strip_prefix("./").unwrap_or(word),
            };
            let is_plain = !path.is_empty()
                && path.len() < 1024
                && !path.starts_with('-')
                && !path
                    .split('/')
                    .any(|part| matches!(part, "" | "." | ".." | ".git"));
            if is_plain && found.len() < MAX_WORDS && !found.iter().any(|had| had == path) {
                found.push(path.to_owned());
            }
        }
        found
    }

    /// Programs that somebody called and the room does not have.
    fn absent_programs(&self) -> BTreeSet<String> {
        let mut named = BTreeSet::new();
        for line in self.output.lines() {
            for (before, after) in NO_PROGRAM {
                let Some((_, rest)) = line.split_once(before) else {
                    continue;
                };
                // Python says the same of any file.
                if after.is_empty() && !self.output.contains("subprocess") {
                    continue;
                }
                let part = match after {
                    "" => Some(rest),
                    after => rest.split_once(after).map(|(part, _)| part),
                };
                let word = part.and_then(|part| part.rsplit(": ").next());
                let quotes = |c: char| matches!(c, '\'' | '"' | '`' | '‘' | '’');
                let word = word.unwrap_or_default().trim().trim_matches(quotes);
                let is_name = |c: char| c.is_ascii_alphanumeric() || "-_+".contains(c);
                if word.contains(char::is_alphabetic) && word.chars().all(is_name) {
                    named.insert(word.to_owned());
                }
            }
        }
        named
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
}

/// A variable of the terminal that the room does not have, and that somebody asks for.
fn variables(look: &Look) -> Result<Vec<String>, Failure> {
    let Some(receipt) = look.red.receipt else {
        return Ok(Vec::new());
    };
    let dropped = list_dropped(receipt);
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let names = |text: &str, name: &str| text.split(|c| !is_word(c)).any(|word| word == name);
    let in_files = look.repo.mentions(&dropped)?;
    let mut hints = Vec::new();
    for name in dropped {
        let by = if names(&look.output, &name) {
            "its output".to_owned()
        } else if names(&receipt.command, &name) {
            "its command".to_owned()
        } else if let Some(path) = in_files.get(&name) {
            format!("`{path}`")
        } else {
            continue;
        };
        hints.push(format!(
            "the variable `{name}` of this terminal, which {by} names: `[clean_room] env = [\"{name}\"]` passes it on"
        ));
    }
    Ok(hints)
}

/// A program that the room does not find.
fn programs(look: &Look) -> Result<Vec<String>, Failure> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let hints = look.absent_programs().into_iter().filter_map(|name| {
        let how = match on_path(&name, &path) {
            Some(place) if place.starts_with(look.repo.root()) => format!(
                "it is `{}`, and no program of the repository is on the PATH: call it by its path",
                place.display()
            ),
            Some(_) => "`cook trust --tools` takes in the PATH of this terminal, which has it".to_owned(),
            // A word that is a file of the repository is none of the machine's programs.
            None if look.repo.root().join(&name).exists() => return None,
            None => "install it, then run `cook trust --tools`; what the repository itself brings, `[clean_room] setup` makes".to_owned(),
        };
        Some(format!("the program `{name}`: {how}"))
    });
    Ok(hints.collect())
}

/// A file that the worktree has and no commit.
fn files(look: &Look) -> Result<Vec<String>, Failure> {
    let Some(head) = look.repo.head()?.commit else {
        return Ok(Vec::new());
    };
    let named = look.paths(
        &mut look
            .list_lines_with(&NO_FILE)
            .chain(look.list_lines_with(&NO_PACKAGE)),
    );
    let mut hints = Vec::new();
    for word in named {
        let as_module = word.replace('.', "/");
        let forms = [
            word.clone(),
            format!("{word}.js"),
            format!("{word}.ts"),
            format!("{word}.json"),
            format!("{as_module}.py"),
            as_module,
        ];
        let there = forms.into_iter().find(|path| {
            let place = look.repo.root().join(path);
            place.symlink_metadata().is_ok() && !look.is_cached(path)
        });
        let Some(path) = there else { continue };
        if look.repo.entry(&head, &path)? != Entry::Nothing {
            continue;
        }
        let place = look.gate_setting();
        hints.push(match look.repo.list_ignored(&[&path])?.is_empty() {
            true => format!("`{path}`, which no commit has: commit it"),
            false => format!(
                "`{path}`, which git ignores, so no clone has it: make it in `[clean_room] setup`, or set `place = \"worktree\"` in {place}, which then proves nothing"
            ),
        });
    }
    Ok(hints)
}

/// Packages that a lock file names and nobody brought.
fn dependencies(look: &Look) -> Result<Vec<String>, Failure> {
    let settings = &look.config.clean_room;
    let proposed = scaffold::detect(look.repo.root())?;
    let sources = proposed.setup_inputs.join("`, `");
    let says_so = look.says(&NO_PACKAGE);
    let is_set_up = settings.setup().next().is_some();
    let hint = match (proposed.setup.is_empty(), is_set_up) {
        (false, false)
            if says_so || look.says(&NO_NETWORK) || !look.absent_programs().is_empty() =>
        {
            format!(
                "the packages of `{sources}`: `[clean_room]` with {}",
                scaffold::setup_settings(&proposed).join(", ")
            )
        }
        (false, true) if says_so => format!(
            "a package that setup did not bring: add it to `{sources}`; `cook gate --clean --fresh` sets the room up anew"
        ),
        _ => return Ok(Vec::new()),
    };
    Ok(vec![hint])
}

/// The network, where the sandbox keeps it away.
fn network(look: &Look) -> Result<Vec<String>, Failure> {
    let Some(receipt) = look.red.receipt else {
        return Ok(Vec::new());
    };
    let has_network = look.red.gate.is_some_and(|gate| gate.network);
    let is_kept_away = receipt.sandbox == SandboxKind::Bubblewrap && !has_network;
    let place = look.gate_setting();
    if !look.says(&NO_NETWORK) {
        let hint = (is_kept_away && look.says(&NO_SERVICE)).then(|| {
            format!("a server of this machine, if it is none of the command's own: `network = true` in {place}")
        });
        return Ok(hint.into_iter().collect());
    }
    if is_kept_away {
        return Ok(vec![format!(
            "the network: fetch in `[clean_room] setup`, or set `network = true` in {place}"
        )]);
    }
    let by_name = |name: &String| {
        let name = name.to_uppercase();
        ["REGISTRY", "INDEX", "PROXY", "MIRROR", "NPM_CONFIG", "PIP_"]
            .iter()
            .any(|part| name.contains(part))
    };
    let mut names = list_dropped(receipt);
    names.retain(by_name);
    Ok(match names.is_empty() {
        true => vec!["the network, which this machine does not reach now".to_owned()],
        false => vec![format!(
            "the network, as this terminal reaches it by {}: `[clean_room] env` passes them on",
            names.join(", ")
        )],
    })
}

/// What a room has for nobody.
fn surroundings(look: &Look) -> Result<Vec<String>, Failure> {
    let said = SURROUNDINGS.iter().filter(|(words, _)| look.says(&[words]));
    Ok(said.map(|(_, hint)| (*hint).to_owned()).collect())
}
