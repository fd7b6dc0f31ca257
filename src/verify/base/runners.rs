//! Which of the repository's own files decide what the gates of a contract run.

use cook_core::change::{Contract, Part};
use std::collections::BTreeSet;

/// Programs that take from files what they run.
struct Runner {
    /// What they are called.
    names: &'static [&'static str],
    /// Those files in small letters: a name that ends with a dot is the beginning of one, one with a slash a
    /// directory, one that begins with a star an ending.
    files: &'static [&'static str],
    /// They are read wherever they lie; others at the top, and in directories that are named.
    everywhere: bool,
}

const RUNNERS: [Runner; 13] = [
    Runner {
        names: &["make", "gmake", "MAKE"],
        files: &["makefile", "gnumakefile", "*.mk"],
        everywhere: false,
    },
    Runner {
        names: &["just"],
        files: &["justfile", ".justfile"],
        everywhere: false,
    },
    Runner {
        names: &["task"],
        files: &["taskfile.yml", "taskfile.yaml"],
        everywhere: false,
    },
    Runner {
        names: &[
            "npm",
            "npx",
            "pnpm",
            "yarn",
            "bun",
            "bunx",
            "node",
            "deno",
            "corepack",
            "jest",
            "vitest",
            "mocha",
            "karma",
            "playwright",
            "cypress",
            "eslint",
            "tsc",
        ],
        files: &[
            "package.json",
            ".npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            "bunfig.toml",
            "deno.json",
            "tsconfig.json",
            "jest.config.",
            "vitest.config.",
            "vite.config.",
            "playwright.config.",
            "cypress.config.",
            "babel.config.",
            "eslint.config.",
            ".eslintrc.json",
            ".mocharc.",
            "karma.conf.js",
        ],
        everywhere: false,
    },
    Runner {
        names: &[
            "python", "python3", "pytest", "py.test", "tox", "nox", "unittest", "coverage", "ruff",
            "mypy", "flake8", "uv", "poetry", "hatch", "pdm",
        ],
        files: &[
            "pytest.ini",
            ".pytest.ini",
            "tox.ini",
            "setup.cfg",
            "pyproject.toml",
            "conftest.py",
            "noxfile.py",
            ".coveragerc",
        ],
        everywhere: true,
    },
    Runner {
        names: &["cargo"],
        files: &[
            "cargo.toml",
            "clippy.toml",
            "nextest.toml",
            "rust-toolchain.toml",
            "rust-toolchain",
            ".cargo/",
            ".config/",
        ],
        everywhere: true,
    },
    Runner {
        names: &["go"],
        files: &["go.mod", "go.work"],
        everywhere: true,
    },
    Runner {
        names: &["mvn", "mvnw", "gradle", "gradlew"],
        files: &["pom.xml", "build.gradle", "build.gradle."],
        everywhere: true,
    },
    Runner {
        names: &["mix"],
        files: &["mix.exs"],
        everywhere: true,
    },
    Runner {
        names: &["cmake", "ctest", "meson", "ninja"],
        files: &["cmakelists.txt", "meson.build"],
        everywhere: true,
    },
    Runner {
        names: &["rake", "rspec", "bundle"],
        files: &["rakefile", ".rspec"],
        everywhere: false,
    },
    Runner {
        names: &["phpunit", "composer"],
        files: &["phpunit.xml"],
        everywhere: false,
    },
    Runner {
        names: &["pre-commit", "lefthook"],
        files: &[".pre-commit-config.yaml", "lefthook.yml"],
        everywhere: false,
    },
];

impl Runner {
    fn reads(&self, path: &str) -> bool {
        let lower = path.to_lowercase();
        let (dirs, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
        self.files.iter().any(|file| {
            if let Some(dir) = file.strip_suffix('/') {
                return dirs.split('/').any(|part| part == dir);
            }
            match file.strip_prefix('*') {
                Some(end) => name.ends_with(end),
                None => name == *file || file.ends_with('.') && name.starts_with(file),
            }
        })
    }
}

/// What the gates of a contract go through.
pub(super) struct Ways {
    runners: Vec<&'static Runner>,
    /// What the gates, and what they go through, say: by the file, none for the gates' own commands.
    texts: Vec<(Option<String>, BTreeSet<String>)>,
}

impl Ways {
    /// Follows the commands of the gates, the scripts that these name, and what those go through.
    pub(super) fn follow(contract: &Contract, commands: &[String]) -> Self {
        let scripts = contract
            .files
            .iter()
            .filter(|(_, file)| file.part == Part::Script);
        let mut said: Vec<String> = commands.to_vec();
        said.extend(scripts.filter_map(|(_, file)| file.bytes.as_deref().map(read_words_of)));
        let mut ways = Self {
            runners: Vec::new(),
            texts: said.iter().map(|text| (None, split_words(text))).collect(),
        };
        loop {
            let new: Vec<&'static Runner> = RUNNERS
                .iter()
                .filter(|runner| {
                    !ways
                        .runners
                        .iter()
                        .any(|known| std::ptr::eq(*known, *runner))
                })
                .filter(|runner| runner.names.iter().any(|name| ways.names(name, "")))
                .collect();
            ways.runners.extend(new);
            let more: Vec<(Option<String>, BTreeSet<String>)> = contract
                .files
                .iter()
                .filter(|(path, file)| {
                    file.part == Part::Checks && !ways.has_read(path) && ways.lead_to(path)
                })
                .map(|(path, file)| {
                    let text = file
                        .bytes
                        .as_deref()
                        .map(String::from_utf8_lossy)
                        .unwrap_or_default();
                    (Some(path.clone()), list_words(path, &text))
                })
                .collect();
            if more.is_empty() {
                return ways;
            }
            ways.texts.extend(more);
        }
    }

    fn has_read(&self, path: &str) -> bool {
        self.texts.iter().any(|(of, _)| of.as_deref() == Some(path))
    }

    /// Whether a file of that path is one by which a gate finds what it runs.
    pub(super) fn lead_to(&self, path: &str) -> bool {
        let top = path.split_once('/').map(|(top, _)| top);
        self.runners
            .iter()
            .filter(|runner| runner.reads(path))
            .any(|runner| runner.everywhere || top.is_none_or(|top| self.names(top, path)))
    }

    /// Whether anything that the gates go through, beside one file, says this word.
    pub(super) fn names(&self, word: &str, beside: &str) -> bool {
        let mut others = self
            .texts
            .iter()
            .filter(|(of, _)| of.as_deref() != Some(beside));
        others.any(|(_, words)| words.contains(word))
    }
}

/// The lines of a script that are no comment.
fn read_words_of(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    lines.collect::<Vec<_>>().join("\n")
}

/// The words of a file; of JSON those of its values, because a key calls nothing.
fn list_words(path: &str, text: &str) -> BTreeSet<String> {
    match serde_json::from_str(text) {
        Ok(value) if path.ends_with(".json") => {
            let mut words = BTreeSet::new();
            add_values(&value, &mut words);
            words
        }
        // What a target or a key is called calls nothing.
        _ => read_words_of(text.as_bytes())
            .lines()
            .map(|line| match plain_target(line) {
                Some(name) => &line[name.len()..],
                None => line,
            })
            .flat_map(split_words)
            .collect(),
    }
}

fn add_values(value: &serde_json::Value, words: &mut BTreeSet<String>) {
    use serde_json::Value::{Array, Object, String};
    match value {
        String(text) => words.extend(split_words(text)),
        Array(all) => all.iter().for_each(|one| add_values(one, words)),
        Object(all) => all.values().for_each(|one| add_values(one, words)),
        _ => {}
    }
}

/// Words as programs, targets and directories are named.
pub(super) fn split_words(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let words = text.split(|c| !is_part(c)).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// The target of a line that begins a rule of one, without a setting.
pub(super) fn plain_target(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(':')?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let is_rule = !rest.contains([':', '=']) && !name.is_empty() && name.chars().all(is_plain);
    is_rule.then_some(name)
}
