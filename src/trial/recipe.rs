//! What a gate's command calls in the tree: a rule of a Makefile or justfile, a script of a
//! `package.json`.

use cook_core::model::GateSpec;
use cook_store::receipt::words;
use cook_trials::{Split, close_scripts, close_targets, first_target};
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
    Rules {
        file: &'static str,
        targets: Vec<String>,
    },
    /// A script by its name.
    Script(String),
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
                file: "Makefile",
                targets: named(),
            },
            "just" => Self::Rules {
                file: "justfile",
                targets: named(),
            },
            "npm" | "yarn" | "pnpm" => match named().as_slice() {
                [run, script, ..] if run == "run" => Self::Script(script.clone()),
                [script, ..] => Self::Script(match script.as_str() {
                    "t" | "tst" => "test".to_owned(),
                    script => script.to_owned(),
                }),
                [] => Self::Nothing,
            },
            _ => Self::Nothing,
        }
    }

    /// Where it stands.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Nothing => None,
            Self::Rules { file, .. } => Some(file),
            Self::Script(_) => Some("package.json"),
        }
    }

    /// What of a version of its file it calls.
    pub fn take(&self, text: &str) -> Option<String> {
        let names = self.close(text);
        let split = match self {
            Self::Script(_) => Split::Json {
                keys: Vec::new(),
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
            (Self::Script(_), Some(Split::Json { keys, .. })) => Split::Json {
                keys,
                scripts: names,
            },
            (Self::Script(_), _) => Split::Json {
                keys: Vec::new(),
                scripts: names,
            },
            _ => Split::Rules(names),
        }
    }

    fn own(&self, text: &str) -> Vec<String> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Script(name) => vec![name.clone()],
            Self::Rules { targets, .. } if targets.is_empty() => {
                first_target(text).into_iter().collect()
            }
            Self::Rules { targets, .. } => targets.clone(),
        }
    }

    fn close(&self, text: &str) -> BTreeSet<String> {
        let own = self.own(text);
        let close = |name: &String| match self {
            Self::Script(_) => close_scripts(text, name),
            _ => close_targets(text, name),
        };
        own.iter().flat_map(close).collect()
    }
}
