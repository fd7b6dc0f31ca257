//! Settings of runners in files that hold other things too: extracts and compares them, and puts them into another
//! version of the file.

use serde_json::Value;
use std::collections::BTreeSet;

/// The part of a file that belongs to the tests, whatever else the file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Split {
    /// TOML tables or INI sections whose headings begin with one of these.
    Sections(&'static [&'static str]),
    /// Keys of a JSON object, and scripts of a `package.json` by name.
    Json {
        /// Keys at the top level.
        keys: &'static [&'static str],
        /// Names in `scripts`.
        scripts: BTreeSet<String>,
    },
    /// Makefile rules or justfile recipes by their targets, and variables, which begin with `$`.
    Rules(BTreeSet<String>),
}

/// The part of a file that holds settings of a runner, if the file holds other things too.
pub fn split_of(path: &str) -> Option<Split> {
    let keys = |keys| {
        Some(Split::Json {
            keys,
            scripts: BTreeSet::new(),
        })
    };
    let sections: &[&str] = match path.rsplit('/').next().unwrap_or(path) {
        "pyproject.toml" => &["tool.pytest", "tool.tox"],
        "setup.cfg" => &["tool:pytest"],
        // A target's table decides whether its tests run.
        "Cargo.toml" => &["lib", "[bin]", "[test]", "profile"],
        "bunfig.toml" => &["test"],
        "package.json" => return keys(&["jest", "mocha", "ava", "tap", "vitest"]),
        "deno.json" => return keys(&["test"]),
        _ => return None,
    };
    Some(Split::Sections(sections))
}

impl Split {
    /// Returns the part alone, in a form that can be compared. `None` if the text does not have the format of the
    /// file's name.
    pub fn take(&self, text: &str) -> Option<String> {
        match self {
            Self::Json { keys, scripts } => {
                let value: Value = serde_json::from_str(text).ok()?;
                let tops = keys.iter().map(|key| value.get(key));
                let scripts = scripts
                    .iter()
                    .map(|name| value.get("scripts").and_then(|all| all.get(name)));
                let parts: Vec<Option<&Value>> = tops.chain(scripts).collect();
                serde_json::to_string(&parts).ok()
            }
            _ => {
                let blocks = self.blocks(text);
                let own = blocks.iter().filter(|block| block.is_own);
                Some(own.map(|block| block.text).collect())
            }
        }
    }

    /// Returns the text of `code` with this part as in `tests`; `None` if that cannot be done.
    pub fn put(&self, code: &str, tests: &str) -> Option<String> {
        match self {
            Self::Json { keys, scripts } => put_json(code, tests, keys, scripts),
            _ => {
                let (code, tests) = (self.blocks(code), self.blocks(tests));
                let own: String = tests
                    .iter()
                    .filter(|block| block.is_own)
                    .map(|block| block.text)
                    .collect();
                let mut own = Some(own);
                let mut text = String::new();
                for block in &code {
                    match block.is_own {
                        true => text.push_str(&own.take().unwrap_or_default()),
                        false => text.push_str(block.text),
                    }
                }
                if let Some(own) = own {
                    if !text.is_empty() && !text.ends_with('\n') {
                        text.push('\n');
                    }
                    text.push_str(&own);
                }
                Some(text)
            }
        }
    }

    fn blocks<'t>(&self, text: &'t str) -> Vec<Block<'t>> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut start = 0;
        let mut is_own = false;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let begins = match self {
                Self::Sections(heads) => read_heading(line).map(|heading| {
                    heads.iter().any(|head| {
                        heading
                            .strip_prefix(*head)
                            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
                    })
                }),
                Self::Rules(targets) => match read_targets(line) {
                    Some(found) => Some(found.iter().any(|target| targets.contains(*target))),
                    // An indented or empty line belongs to the rule above.
                    None if line.starts_with([' ', '\t', '\n', '\r']) => None,
                    None => Some(steers(line, targets)),
                },
                Self::Json { .. } => None,
            };
            if let Some(own) = begins {
                if at > start {
                    blocks.push(Block {
                        text: &text[start..at],
                        is_own,
                    });
                }
                (start, is_own) = (at, own);
            }
            at += line.len();
        }
        if at > start {
            blocks.push(Block {
                text: &text[start..],
                is_own,
            });
        }
        blocks
    }
}

struct Block<'t> {
    text: &'t str,
    is_own: bool,
}

/// `[tool.pytest.ini_options]`, `[[test]]` without its outer brackets.
fn read_heading(line: &str) -> Option<&str> {
    let heading = line.strip_prefix('[')?;
    let end = heading.rfind(']')?;
    Some(heading[..end].trim())
}

/// The targets of a line that begins a rule: `test check: build`, `test *args:` of just.
pub fn read_targets(line: &str) -> Option<Vec<&str>> {
    if line.starts_with([' ', '\t', '#', '.']) && !line.starts_with(".PHONY") {
        return None;
    }
    let (left, right) = line.split_once(':')?;
    let is_assignment = right.starts_with('=') || right.starts_with(":=") || left.contains('=');
    let words: Vec<&str> = left.split_whitespace().collect();
    (!is_assignment && !words.is_empty() && words[0] != ".PHONY").then_some(words)
}

/// The target that is made if none is named.
pub fn first_target(text: &str) -> Option<String> {
    let mut rules = text.lines().filter_map(read_targets);
    rules.next().map(|targets| targets[0].to_owned())
}

/// The targets that a target of a Makefile or justfile leads to, including itself.
pub fn close_targets(text: &str, first: &str) -> BTreeSet<String> {
    let mut due = vec![first.to_owned()];
    let mut closed = BTreeSet::new();
    let rules = list_rules(text);
    while let Some(target) = due.pop() {
        if !closed.insert(target.clone()) {
            continue;
        }
        for (targets, needs, recipe) in &rules {
            if !targets.contains(&target.as_str()) {
                continue;
            }
            due.extend(needs.iter().map(|need| (*need).to_owned()));
            for line in recipe {
                due.extend(list_called(line, &["$(MAKE)", "make", "just"]));
            }
        }
    }
    closed
}

/// Variables that decide how make runs every recipe.
const STEERING: [&str; 4] = ["SHELL", ".SHELLFLAGS", "MAKEFLAGS", "GNUMAKEFLAGS"];

/// The variables of a Makefile that the recipes of these targets use, directly or through others, and those that
/// affect every recipe. Each begins with `$`.
pub fn list_variables(text: &str, targets: &[String]) -> BTreeSet<String> {
    let rules = list_rules(text);
    let own = rules.iter().filter(|(names, ..)| {
        let mut names = names.iter();
        names.any(|name| targets.iter().any(|target| target == name))
    });
    let recipes = own.flat_map(|(.., recipe)| recipe.iter().copied());
    let mut due: Vec<&str> = recipes.flat_map(list_used).collect();
    let mut found: BTreeSet<String> = STEERING.iter().map(|name| format!("${name}")).collect();
    while let Some(name) = due.pop() {
        if found.insert(format!("${name}")) {
            let values = text.lines().filter_map(read_assignment);
            let values = values.filter(|(assigned, _)| *assigned == name);
            due.extend(values.flat_map(|(_, value)| list_used(value)));
        }
    }
    found
}

/// The names in `$(NAME)` and `${NAME}`.
fn list_used(text: &str) -> Vec<&str> {
    let parts = text.split('$').skip(1);
    let named = parts.filter_map(|part| part.strip_prefix(['(', '{']));
    let names = named.filter_map(|part| part.split([')', '}', ':']).next());
    names.filter(|name| !name.contains(' ')).collect()
}

/// The variable that a line assigns, and its value.
fn read_assignment(line: &str) -> Option<(&str, &str)> {
    let (left, value) = line.split_once('=')?;
    let left = left.trim_end_matches([':', '?', '+', '!']).trim();
    let name = left.split_whitespace().last()?;
    let is_name = !line.starts_with('#') && !name.contains([':', '(', '"', '\'']);
    is_name.then_some((name, value))
}

/// Whether a line outside of rules affects how these run.
fn steers(line: &str, names: &BTreeSet<String>) -> bool {
    let is_special = [".IGNORE", ".ONESHELL", ".POSIX"];
    let is_special = is_special.iter().any(|word| line.starts_with(word));
    let assigned = read_assignment(line);
    is_special || assigned.is_some_and(|(name, _)| names.contains(&format!("${name}")))
}

type Rule<'t> = (Vec<&'t str>, Vec<&'t str>, Vec<&'t str>);

fn list_rules(text: &str) -> Vec<Rule<'_>> {
    let mut rules: Vec<Rule> = Vec::new();
    for line in text.lines() {
        if let Some(targets) = read_targets(line) {
            let needs = line.split_once(':').map_or("", |(_, needs)| needs);
            let needs = needs.split(['#', ';']).next().unwrap_or_default();
            let needs = needs.split_whitespace().filter(|need| *need != "|");
            rules.push((targets, needs.collect(), Vec::new()));
        } else if line.starts_with([' ', '\t'])
            && let Some((_, _, recipe)) = rules.last_mut()
        {
            recipe.push(line);
        }
    }
    rules
}

/// Targets or scripts that a line of a recipe calls with one of these programs.
fn list_called(line: &str, programs: &[&str]) -> Vec<String> {
    let words: Vec<&str> = line
        .split(|c: char| c.is_whitespace() || c == ';')
        .map(|word| word.trim_start_matches(['@', '-']))
        .collect();
    let mut called = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if programs.contains(word) {
            let behind = words[at + 1..].iter();
            let targets = behind.take_while(|word| !matches!(**word, "&&" | "||" | "|"));
            let targets = targets.filter(|word| !word.starts_with('-') && !word.contains('='));
            called.extend(targets.map(|word| (*word).to_owned()));
        }
    }
    called
}

/// The scripts of a `package.json` that a script leads to, including its `pre` and `post` scripts.
pub fn close_scripts(text: &str, first: &str) -> BTreeSet<String> {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let mut due = vec![first.to_owned()];
    let mut closed = BTreeSet::new();
    while let Some(name) = due.pop() {
        if !closed.insert(name.clone()) {
            continue;
        }
        let script = |name: &str| {
            let scripts = value.get("scripts")?;
            scripts.get(name)?.as_str().map(str::to_owned)
        };
        for around in [format!("pre{name}"), format!("post{name}")] {
            if script(&around).is_some() {
                due.push(around);
            }
        }
        let text = script(&name).unwrap_or_default();
        for called in list_called(&text, &["npm", "yarn", "pnpm", "bun"]) {
            if script(&called).is_some() {
                due.push(called);
            }
        }
    }
    closed
}

fn put_json(code: &str, tests: &str, keys: &[&str], scripts: &BTreeSet<String>) -> Option<String> {
    let mut code: Value = serde_json::from_str(code).ok()?;
    let tests: Value = serde_json::from_str(tests).ok()?;
    let object = code.as_object_mut()?;
    for key in keys {
        match tests.get(key) {
            Some(value) => drop(object.insert((*key).to_owned(), value.clone())),
            None => drop(object.remove(*key)),
        }
    }
    if !scripts.is_empty() {
        let all = object
            .entry("scripts")
            .or_insert_with(|| Value::Object(serde_json::Map::new()));
        let all = all.as_object_mut()?;
        for name in scripts {
            match tests.get("scripts").and_then(|all| all.get(name)) {
                Some(value) => drop(all.insert(name.clone(), value.clone())),
                None => drop(all.remove(name)),
            }
        }
    }
    let mut text = serde_json::to_string_pretty(&code).ok()?;
    text.push('\n');
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_toml_are_put_into_another_version() {
        let split = split_of("pyproject.toml").unwrap();
        let code = "[project]\nname = \"b\"\n[tool.pytest.ini_options]\naddopts = \"-p x\"\n[tool.ruff]\nline = 1\n";
        let tests = "[project]\nname = \"a\"\n\n[tool.pytest.ini_options]\naddopts = \"\"\n";
        assert_eq!(
            split.put(code, tests).unwrap(),
            "[project]\nname = \"b\"\n[tool.pytest.ini_options]\naddopts = \"\"\n[tool.ruff]\nline = 1\n"
        );
        assert_ne!(split.take(code), split.take(tests));
        let none = "[project]\nname = \"b\"\n";
        assert_eq!(
            split.put(none, tests).unwrap(),
            "[project]\nname = \"b\"\n[tool.pytest.ini_options]\naddopts = \"\"\n"
        );
        assert_eq!(split.put(code, none).unwrap().matches("pytest").count(), 0);
        let split = split_of("Cargo.toml").unwrap();
        let cargo = "[package]\nname = \"a\"\n[lib]\ntest = false\n[[test]]\nname = \"t\"\n[profile.dev]\ndebug-assertions = false\n[tests-of-mine]\nx = 1\n";
        let own = "[lib]\ntest = false\n[[test]]\nname = \"t\"\n[profile.dev]\ndebug-assertions = false\n";
        assert_eq!(split.take(cargo).unwrap(), own);
    }

    #[test]
    fn rules_of_a_makefile_are_put_into_another_version() {
        let before = "CC = gcc\n\ntest: unit\n\nunit: build\n\tpython3 -m unittest\n\nbuild:\n\tcc a.c\nother:\n\ttrue\n";
        let after =
            "CC := clang\ntest: safe\nsafe:\n\tpython3 -m unittest a\nbuild:\n\tcc a.c b.c\n";
        let mut targets = close_targets(before, "test");
        assert_eq!(
            targets.iter().map(String::as_str).collect::<Vec<_>>(),
            ["build", "test", "unit"]
        );
        targets.extend(close_targets(after, "test"));
        targets.remove("build");
        let split = Split::Rules(targets);
        assert_eq!(
            split.put(after, before).unwrap(),
            "CC := clang\ntest: unit\n\nunit: build\n\tpython3 -m unittest\n\nbuild:\n\tcc a.c b.c\n"
        );
        let steered = "SH = sh\nX = $(SH)\nOBJS = a.o\nSHELL = /bin/true\ntest: prog\n\t$(X) t.sh\nprog:\n\tcc $(OBJS)\n.IGNORE:\n";
        let mut names = list_variables(steered, &["test".to_owned()]);
        assert!(names.contains("$SH") && names.contains("$X") && !names.contains("$OBJS"));
        names.insert("test".to_owned());
        assert_eq!(
            Split::Rules(names)
                .put(steered, "SH = sh\ntest:\n\tsh t.sh\n")
                .unwrap(),
            "SH = sh\ntest:\n\tsh t.sh\nOBJS = a.o\nprog:\n\tcc $(OBJS)\n"
        );
        let made = "all:\n\t$(MAKE) -C . check X=1\ncheck:\n\ttrue\n";
        assert!(close_targets(made, "all").contains("check"));
    }

    #[test]
    fn scripts_of_a_package_are_put_into_another_version() {
        let before = r#"{"version":"1","scripts":{"test":"npm run unit","unit":"jest","pretest":"x","build":"tsc"},"jest":{"a":1}}"#;
        let after = r#"{"version":"2","scripts":{"test":"true","build":"tsc -b"}}"#;
        let mut scripts = close_scripts(before, "test");
        assert_eq!(
            scripts.iter().map(String::as_str).collect::<Vec<_>>(),
            ["pretest", "test", "unit"]
        );
        scripts.extend(close_scripts(after, "test"));
        let Some(Split::Json { keys, .. }) = split_of("package.json") else {
            panic!("it has keys");
        };
        let split = Split::Json { keys, scripts };
        let put: Value = serde_json::from_str(&split.put(after, before).unwrap()).unwrap();
        assert_eq!(put["version"], "2");
        assert_eq!(put["scripts"]["test"], "npm run unit");
        assert_eq!(put["scripts"]["build"], "tsc -b");
        assert_eq!(put["jest"]["a"], 1);
        assert_eq!(split.put("no json", before), None);
    }
}
