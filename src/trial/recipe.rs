//! What a gate's command calls in the tree: a rule of a Makefile or justfile, a script of a
//! `package.json`.

use super::change::{Change, Depth, End};
use cook_core::diagnostic::Failure;
use cook_core::model::GateSpec;
use cook_store::receipt::words;
use cook_trials::{Split, close_scripts, close_targets, first_target};
use std::collections::BTreeSet;

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
                [script, ..] => Self::Script(script.replace("tst", "test")),
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

    /// What it calls, as text.
    pub fn read(&self, change: &Change, end: End) -> Result<Option<String>, Failure> {
        let Some(file) = self.file() else {
            return Ok(None);
        };
        let Some(text) = change.text(end, file)? else {
            return Ok(None);
        };
        let names = self.close(&text);
        let split = match self {
            Self::Script(_) => Split::Json {
                keys: Vec::new(),
                scripts: names,
            },
            _ => Split::Rules(names),
        };
        Ok(split.take(&text))
    }

    /// What of its file belongs to the tests, beside what does anyway.
    pub fn split(
        &self,
        change: &Change,
        own: Option<Split>,
        depth: Depth,
    ) -> Result<Option<Split>, Failure> {
        let Some(file) = self.file() else {
            return Ok(own);
        };
        let mut names = BTreeSet::new();
        for end in [End::Base, End::Head] {
            let text = change.text(end, file)?.unwrap_or_default();
            match depth {
                Depth::All => names.extend(self.close(&text)),
                _ => names.extend(self.own(&text)),
            }
        }
        Ok(Some(match (self, own) {
            (Self::Script(_), Some(Split::Json { keys, .. })) => Split::Json {
                keys,
                scripts: names,
            },
            (Self::Script(_), _) => Split::Json {
                keys: Vec::new(),
                scripts: names,
            },
            _ => Split::Rules(names),
        }))
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
