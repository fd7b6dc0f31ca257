//! What a gate's command calls in the tree: a rule of a Makefile or justfile, a script of a
//! `package.json`.

use cook_protocol::model::GateSpec;
use cook_protocol::trials::{Split, close_scripts, close_targets, first_target, list_variables};
use cook_repo::receipt::words;
use std::collections::BTreeSet;

/// How much of what a gate calls is taken for the tests'.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// The rule that it names, and what that comes to.
    All,
    /// That rule alone.
    Own,
    /// Nothing.
    Nothing,
}

/// A file of rules and what of it a command calls.
pub(super) enum Recipe {
    /// None of them.
    Nothing,
    /// Rules by their targets; none = the first one.
    Rules { file: String, targets: Vec<String> },
    /// A script by its name.
    Script { file: String, name: String },
}

impl Recipe {
    /// What a gate's command calls.
    pub fn of(gate: &GateSpec) -> Self {
        let words = words(&gate.run).unwrap_or_default();
        let Some((program, rest)) = words.split_first() else {
            return Self::Nothing;
        };
        let program = program.rsplit('/').next().unwrap_or(program);
        let named = || {
            let named = rest
                .iter()
                .filter(|word| !word.starts_with('-') && !word.contains('='));
            named.cloned().collect::<Vec<String>>()
        };
        match program {
            "make" | "gmake" => Self::Rules {
                file: gate.from_root("Makefile"),
                targets: named(),
            },
            "just" => Self::Rules {
                file: gate.from_root("justfile"),
                targets: named(),
            },
            "npm" | "yarn" | "pnpm" => {
                let named = named();
                let words: Vec<&str> = named.iter().map(String::as_str).collect();
                let name = match words[..] {
                    ["run", script, ..] => script,
                    ["t" | "tst", ..] => "test",
                    [script, ..] => script,
                    [] => return Self::Nothing,
                };
                Self::Script {
                    file: gate.from_root("package.json"),
                    name: name.to_owned(),
                }
            }
            _ => Self::Nothing,
        }
    }

    /// Where it stands.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Nothing => None,
            Self::Rules { file, .. } | Self::Script { file, .. } => Some(file),
        }
    }

    /// What its program reads of itself: its file, and others that lie in its place or beside it.
    pub fn reads(&self, path: &str) -> bool {
        let beside = |file: &str, name: &str| {
            let dir = file.rsplit_once('/').map_or("", |(dir, _)| dir);
            match dir {
                "" => path == name,
                dir => path.strip_prefix(dir) == Some(&format!("/{name}")),
            }
        };
        match self {
            Self::Nothing => false,
            Self::Script { file, .. } => beside(file, ".npmrc"),
            Self::Rules { file, .. } => {
                path.eq_ignore_ascii_case(file)
                    || beside(file, "GNUmakefile")
                    || path.ends_with(".mk")
            }
        }
    }

    /// What decides how its program reads or runs it, and holds none of what is built.
    pub fn steers(&self, path: &str) -> bool {
        self.reads(path) && self.file() != Some(path) && !path.ends_with(".mk")
    }

    /// Its file, and what steers its program.
    pub fn needs(&self, path: &str) -> bool {
        self.file() == Some(path) || self.steers(path)
    }

    /// What of a version of its file it calls.
    pub fn take(&self, text: &str) -> Option<String> {
        let names = self.close(text);
        let split = match self {
            Self::Script { .. } => Split::Json {
                keys: &[],
                scripts: names,
            },
            _ => Split::Rules(names),
        };
        split.take(text)
    }

    /// What of its file belongs to the tests, beside what does anyway.
    pub fn split(&self, texts: &[String], own: Option<Split>, depth: Depth) -> Split {
        let mut names = BTreeSet::new();
        for text in texts {
            match depth {
                Depth::All => names.extend(self.close(text)),
                _ => names.extend(self.own(text)),
            }
        }
        match (self, own) {
            (Self::Script { .. }, Some(Split::Json { keys, .. })) => Split::Json {
                keys,
                scripts: names,
            },
            (Self::Script { .. }, _) => Split::Json {
                keys: &[],
                scripts: names,
            },
            _ => Split::Rules(names),
        }
    }

    fn own(&self, text: &str) -> Vec<String> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Script { name, .. } => vec![name.clone()],
            Self::Rules { targets, .. } => {
                let mut own = match targets.is_empty() {
                    true => first_target(text).into_iter().collect(),
                    false => targets.clone(),
                };
                own.extend(list_variables(text, &own));
                own
            }
        }
    }

    fn close(&self, text: &str) -> BTreeSet<String> {
        let own = self.own(text);
        let close = |name: &String| match self {
            Self::Script { .. } => close_scripts(text, name),
            _ => close_targets(text, name),
        };
        own.iter().flat_map(close).collect()
    }
}
