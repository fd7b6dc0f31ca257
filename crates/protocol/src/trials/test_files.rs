//! The test files that a trial needs, and the command that runs only these.

use super::runners::{By, CALLS, Call, TESTS, WRAPPERS, is_test_file};
use super::settings::close_scripts;
use serde_json::Value;
use std::collections::BTreeSet;

/// A gate that runs only some test files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// The words of the command.
    pub words: Vec<String>,
    /// The files that it runs.
    pub files: BTreeSet<String>,
}

/// The parts of a tree that a command depends on.
pub struct Tree<'a> {
    /// All files.
    pub files: &'a BTreeSet<String>,
    /// Returns the text of a file.
    pub read: &'a dyn Fn(&str) -> Option<String>,
    /// Files that a run named as holding tests.
    pub printed: &'a BTreeSet<String>,
}

impl Tree<'_> {
    fn has(&self, path: &str) -> bool {
        let path = path.trim_start_matches("./").trim_end_matches('/');
        if path.is_empty() || path == "." || self.files.contains(path) {
            return true;
        }
        let below = format!("{path}/");
        let mut from = self.files.range(below.clone()..);
        from.next().is_some_and(|first| first.starts_with(&below))
    }
}

/// Limits a command to the touched test files, and to those below a touched set-up, data or settings file. `None`
/// if the command is not a plain call of a runner that takes files, or if all test files are needed.
pub fn limit_to_files(words: &[String], touched: &[String], tree: &Tree) -> Option<Chosen> {
    let called = find_call(words, tree)?;
    let files = choose(called.call, touched, tree)?;
    if files.is_empty() {
        return None;
    }
    let list: Vec<&str> = files.iter().map(String::as_str).collect();
    let words = match called.call.by {
        By::Paths => {
            let mut own = strip_paths(&called, tree)?;
            if called.is_script {
                if own.len() != called.script.len() {
                    return None;
                }
                own = words.to_vec();
                own.push("--".to_owned());
            }
            own.extend(list.iter().map(|file| (*file).to_owned()));
            own
        }
        By::GoPackages if !called.is_script => name_packages(words, &called, &list)?,
        By::CargoTests if !called.is_script => name_targets(words, &called, &list, tree)?,
        _ => return None,
    };
    Some(Chosen { words, files })
}

struct Called {
    call: Call,
    /// Number of words up to the end of the call itself.
    upto: usize,
    /// The words that call the runner: those of the command, or of the script that it names.
    script: Vec<String>,
    is_script: bool,
}

fn find_call(words: &[String], tree: &Tree) -> Option<Called> {
    let (script, is_script) = match read_script(words, tree) {
        Some(script) => (script, true),
        None => (words.to_vec(), false),
    };
    let wrapper = WRAPPERS
        .iter()
        .find(|wrapper| begins(&script, wrapper))
        .map_or(0, |wrapper| wrapper.len());
    let rest = &script[wrapper..];
    let call = CALLS.into_iter().find(|call| begins(rest, call.words))?;
    Some(Called {
        call,
        upto: wrapper + call.words.len(),
        script,
        is_script,
    })
}

/// Whether the words begin with `wanted`. Of a program only the last part counts, and `python3.11` is `python`.
fn begins(words: &[String], wanted: &[&str]) -> bool {
    words.len() >= wanted.len()
        && words
            .iter()
            .zip(wanted)
            .enumerate()
            .all(|(at, (word, wanted))| {
                let word = match at {
                    0 => word.rsplit('/').next().unwrap_or(word),
                    _ => word,
                };
                let version = word.strip_prefix(wanted).unwrap_or("-");
                word == *wanted
                    || at == 0
                        && *wanted == "python"
                        && version.chars().all(|c| c.is_ascii_digit() || c == '.')
            })
}

/// The words of the `package.json` script that a command names, if it does not need a shell.
fn read_script(words: &[String], tree: &Tree) -> Option<Vec<String>> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let name = match words[..] {
        ["npm" | "yarn" | "pnpm", "test" | "t"] => "test",
        ["npm" | "yarn" | "pnpm", "run", name] => name,
        _ => return None,
    };
    let text = (tree.read)("package.json")?;
    if close_scripts(&text, name).len() != 1 {
        return None;
    }
    let value: Value = serde_json::from_str(&text).ok()?;
    let script = value.get("scripts")?.get(name)?.as_str()?;
    const OF_SHELLS: &[char] = &[
        '"', '\'', '`', '$', '&', '|', ';', '<', '>', '(', ')', '\\', '#', '=',
    ];
    let is_plain = !script.contains(OF_SHELLS);
    is_plain.then(|| script.split_whitespace().map(str::to_owned).collect())
}

/// The words of the call without its paths; `None` if a word may be a path or a value.
fn strip_paths(called: &Called, tree: &Tree) -> Option<Vec<String>> {
    let mut kept = called.script[..called.upto].to_vec();
    let mut may_be_value = false;
    for word in &called.script[called.upto..] {
        let is_path = tree.has(word) || word.contains('*');
        if word == "--" {
            return None;
        } else if word.starts_with('-') {
            may_be_value = !word.contains('=') && !called.call.flags.contains(&word.as_str());
            kept.push(word.clone());
        } else if called.call.flags.contains(&word.as_str()) {
            kept.push(word.clone());
        } else if is_path && !may_be_value {
            continue;
        } else if may_be_value && !is_path {
            may_be_value = false;
            kept.push(word.clone());
        } else {
            return None;
        }
    }
    Some(kept)
}

/// The touched test files and, for any other touched file, the test files below the nearest directory above it
/// that has any. `None` if that directory is the root.
fn choose(call: Call, touched: &[String], tree: &Tree) -> Option<BTreeSet<String>> {
    let is_own = |path: &str| call.ends.iter().any(|end| path.ends_with(end));
    let is_target = |path: &str| match call.by {
        By::CargoTests => read_target(path).is_some(),
        _ => is_own(path) && (is_test_file(path) || tree.printed.contains(path)),
    };
    let is_foreign = |path: &str| {
        let mut others = TESTS.iter().flat_map(|(ends, _)| *ends);
        !is_own(path) && others.any(|end| path.ends_with(end))
    };
    let all: BTreeSet<&String> = tree.files.iter().filter(|path| is_target(path)).collect();
    let mut chosen = BTreeSet::new();
    for path in touched {
        if is_foreign(path) {
            continue;
        }
        if is_target(path) {
            if tree.files.contains(path) {
                chosen.insert(path.clone());
            }
            continue;
        }
        let mut dir = path.as_str();
        loop {
            dir = dir.rsplit_once('/')?.0;
            let below = format!("{dir}/");
            let found: Vec<&&String> = all.iter().filter(|path| path.starts_with(&below)).collect();
            if !found.is_empty() {
                chosen.extend(found.into_iter().map(|path| (*path).clone()));
                break;
            }
        }
    }
    Some(chosen)
}

fn name_packages(words: &[String], called: &Called, files: &[&str]) -> Option<Vec<String>> {
    let mut kept = words[..called.upto].to_vec();
    let mut has_all = false;
    for word in &words[called.upto..] {
        match word.as_str() {
            "./..." => has_all = true,
            flag if flag.starts_with('-') && flag != "-args" && flag != "--args" => {
                kept.push(word.clone());
            }
            _ => return None,
        }
    }
    let packages: BTreeSet<String> = files
        .iter()
        .map(|file| match file.rsplit_once('/') {
            Some((dir, _)) => format!("./{dir}"),
            None => ".".to_owned(),
        })
        .collect();
    kept.extend(packages);
    has_all.then_some(kept)
}

/// The directory of a package and the name of a test target, from the path of its file.
fn read_target(path: &str) -> Option<(&str, &str)> {
    let (dir, rest) = match path.strip_prefix("tests/") {
        Some(rest) => ("", rest),
        None => path.split_once("/tests/")?,
    };
    let name = rest.strip_suffix(".rs")?;
    let name = name.strip_suffix("/main").unwrap_or(name);
    (!name.contains('/')).then_some((dir, name))
}

fn name_targets(
    words: &[String],
    called: &Called,
    files: &[&str],
    tree: &Tree,
) -> Option<Vec<String>> {
    const ALL: [&str; 2] = ["--workspace", "--all"];
    let mut kept = words[..called.upto].to_vec();
    for word in &words[called.upto..] {
        let selects = [
            "--lib",
            "--bin",
            "--bins",
            "--test",
            "--tests",
            "--doc",
            "--package",
        ]
        .iter()
        .any(|flag| word == flag || word.starts_with(&format!("{flag}=")));
        if selects || !word.starts_with('-') || word.starts_with("-p") || word == "--" {
            return None;
        }
        if !ALL.contains(&word.as_str()) {
            kept.push(word.clone());
        }
    }
    let mut packages = BTreeSet::new();
    let mut targets = BTreeSet::new();
    for file in files {
        let (dir, name) = read_target(file)?;
        let manifest = match dir {
            "" => "Cargo.toml".to_owned(),
            dir => format!("{dir}/Cargo.toml"),
        };
        packages.insert(read_package(&(tree.read)(&manifest)?)?);
        targets.insert(name.to_owned());
    }
    for package in packages {
        kept.extend(["-p".to_owned(), package]);
    }
    for target in targets {
        kept.extend(["--test".to_owned(), target]);
    }
    Some(kept)
}

/// The value of `name` in `[package]`.
fn read_package(manifest: &str) -> Option<String> {
    let mut lines = manifest.lines().map(str::trim);
    lines.find(|line| *line == "[package]")?;
    let own = lines.take_while(|line| !line.starts_with('['));
    let mut names = own.filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "name").then(|| value.trim().trim_matches('"').to_owned())
    });
    names.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(command: &str, touched: &[&str], files: &[&str], texts: &[(&str, &str)]) -> String {
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let touched: Vec<String> = touched.iter().map(|path| (*path).to_owned()).collect();
        let read = |path: &str| {
            let found = texts.iter().find(|(name, _)| *name == path);
            found.map(|(_, text)| (*text).to_owned())
        };
        let tree = Tree {
            files: &files,
            read: &read,
            printed: &BTreeSet::new(),
        };
        let chosen = limit_to_files(&words, &touched, &tree);
        chosen.map_or("-".to_owned(), |chosen| chosen.words.join(" "))
    }

    #[test]
    fn a_plain_call_is_told_the_files() {
        let files = [
            "src/a.py",
            "tests/test_a.py",
            "tests/test_b.py",
            "tests/sub/test_c.py",
            "tests/data/x.csv",
        ];
        for (command, touched, expected) in [
            ("pytest", "tests/test_a.py", "pytest tests/test_a.py"),
            (
                "python3.11 -m pytest -q tests",
                "tests/test_a.py",
                "python3.11 -m pytest -q tests/test_a.py",
            ),
            (
                ".venv/bin/pytest -n 2 tests/",
                "tests/test_a.py",
                ".venv/bin/pytest -n 2 tests/test_a.py",
            ),
            ("pytest --cov src tests", "tests/test_a.py", "-"),
            (
                "pytest",
                "tests/data/x.csv",
                "pytest tests/sub/test_c.py tests/test_a.py tests/test_b.py",
            ),
            (
                "pytest",
                "tests/sub/conftest.py",
                "pytest tests/sub/test_c.py",
            ),
            ("pytest", "conftest.py", "-"),
            ("pytest", "web/a.test.js", "-"),
            ("make test", "tests/test_a.py", "-"),
            (
                "uv run pytest",
                "tests/test_a.py",
                "uv run pytest tests/test_a.py",
            ),
        ] {
            assert_eq!(
                limit(command, &[touched], &files, &[]),
                expected,
                "{command}"
            );
        }
    }

    #[test]
    fn packages_and_targets_are_named() {
        let files = [
            "a_test.go",
            "b/b_test.go",
            "tests/t.rs",
            "x/tests/u/main.rs",
            "x/tests/common/mod.rs",
        ];
        let texts = [
            ("Cargo.toml", "[package]\nname = \"root\"\n"),
            (
                "x/Cargo.toml",
                "[package]\nversion = \"1\"\nname = \"x-y\"\n[lib]\nname = \"z\"\n",
            ),
            (
                "package.json",
                r#"{"scripts":{"test":"jest --ci","unit":"mocha test","all":"jest && tsc"}}"#,
            ),
        ];
        for (command, touched, expected) in [
            ("go test -race ./...", "b/b_test.go", "go test -race ./b"),
            ("go test ./...", "a_test.go", "go test ."),
            ("go test ./b", "b/b_test.go", "-"),
            (
                "cargo test --workspace --locked",
                "tests/t.rs",
                "cargo test --locked -p root --test t",
            ),
            (
                "cargo test",
                "x/tests/common/mod.rs",
                "cargo test -p x-y --test u",
            ),
            ("cargo test name", "tests/t.rs", "-"),
            ("cargo test", "src/lib.rs", "-"),
            ("npm test", "t/a.test.js", "-"),
        ] {
            assert_eq!(
                limit(command, &[touched], &files, &texts),
                expected,
                "{command}"
            );
        }
        let files = ["t/a.test.js"];
        for (command, expected) in [
            ("npm test", "npm test -- t/a.test.js"),
            ("npm run unit", "-"),
            ("npm run all", "-"),
            ("npx jest t", "npx jest t/a.test.js"),
            ("node --test t/*.js", "node --test t/a.test.js"),
        ] {
            assert_eq!(
                limit(command, &["t/a.test.js"], &files, &texts),
                expected,
                "{command}"
            );
        }
    }
}
