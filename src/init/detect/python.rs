//! Python: nox and tox where they are set up, else pytest or unittest through the
//! project's environment tool, or in a virtual environment of what the project names. Each with the
//! names of its tests: a proof is named by them.

use super::check::{Check, Proposed};
use super::files::Files;
use crate::init::error::Error;
use toml::{Table, Value};

const PROJECT: &str = "pyproject.toml";
const REQUIREMENTS: [&str; 6] = [
    "requirements.txt",
    "requirements-dev.txt",
    "requirements-test.txt",
    "requirements_dev.txt",
    "dev-requirements.txt",
    "test-requirements.txt",
];
/// What a project may call what its tests need.
const EXTRAS: [(&str, &str); 4] = [
    ("test", ".[test]"),
    ("tests", ".[tests]"),
    ("testing", ".[testing]"),
    ("dev", ".[dev]"),
];
const GROUPS: [(&str, &str); 3] = [
    ("test", "--group test"),
    ("tests", "--group tests"),
    ("dev", "--group dev"),
];
/// A tool that keeps an environment: its lock file, how it runs tests, how it makes one.
const TOOLS: [(&str, &str, &str); 4] = [
    ("uv.lock", "uv run pytest -v", "uv sync --locked"),
    (
        "poetry.lock",
        "poetry run pytest -v",
        "poetry install --no-interaction",
    ),
    ("pdm.lock", "pdm run pytest -v", "pdm sync"),
    ("Pipfile.lock", "pipenv run pytest -v", "pipenv sync --dev"),
];

pub(super) fn detect(files: &Files<'_>, found: &mut Proposed) -> Result<(), Error> {
    if files.has("noxfile.py") {
        let nox = Check::new("nox", "test", "noxfile.py", "nox -r");
        found.add(nox.with_network(true));
        found.add_caches(&[".nox"]);
        return Ok(());
    }
    let text = files.text(PROJECT)?.unwrap_or_default();
    let tox = files.text("tox.ini")?.unwrap_or_default();
    let by_tox = if tox.contains("[tox]") || tox.contains("[testenv") {
        Some("tox.ini")
    } else {
        text.contains("[tool.tox").then_some(PROJECT)
    };
    if let Some(source) = by_tox {
        let environment = choose_environment(&files.read_workflows()?);
        let run = format!("tox -e {environment}");
        found.add(Check::new("tox", "test", source, run));
        let inputs = ["tox.ini", PROJECT, "setup.py", "setup.cfg"];
        let inputs = [&inputs[..], &REQUIREMENTS].concat();
        let setup = format!("tox --notest -e {environment}");
        found.add_setup(files, [setup], &files.list_committed(&inputs));
        found.add_caches(&[".tox"]);
        return Ok(());
    }
    let project = Project::read(files, &text)?;
    if let Some(source) = pytest(files, &text)? {
        // A member's lock file is that of its workspace.
        let tool = TOOLS.into_iter().find_map(|(lock, run, make)| {
            let mut all = std::iter::once(files.clone()).chain(files.above());
            Some((all.find(|at| at.has(lock))?, lock, run, make))
        });
        let run = if let Some((at, lock, run, make)) = tool {
            let inputs = files.list_committed(&[lock, PROJECT, "Pipfile"]);
            found.add_setup(files, [make], &inputs);
            if at.dir() != files.dir() {
                found.add_setup::<String>(&at, [], &[lock]);
            }
            found.add_caches(&[".venv"]);
            run
        } else if project.requirements.is_empty() && !project.is_package {
            "python3 -m pytest -v"
        } else {
            let also = (!project.names_pytest).then_some("pytest");
            project.add_environment(files, found, also);
            ".venv/bin/python -m pytest -v"
        };
        found.add(Check::new("python", "test", source, run));
    } else if let Some((source, place)) = unittest(files) {
        let python = if project.requirements.is_empty() && !project.needs_packages {
            "python3"
        } else {
            project.add_environment(files, found, None);
            ".venv/bin/python"
        };
        let run = format!("{python} -m unittest discover -v{place}");
        found.add(Check::new("python", "test", source, run));
    }
    Ok(())
}

/// The environment of tox that the project's CI names, where it names one; else the one of the Python that runs tox.
fn choose_environment(workflows: &[String]) -> String {
    let is_name = |word: &&str| {
        word.chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    };
    let lines = workflows.iter().flat_map(|text| text.lines());
    let named = lines.filter_map(|line| {
        let (_, rest) = line.split_once("tox ")?;
        let (_, rest) = rest.split_once("-e ")?;
        rest.split_whitespace().next().filter(is_name)
    });
    let named: std::collections::BTreeSet<&str> = named.collect();
    match named.first() {
        Some(one) if named.len() == 1 => (*one).to_owned(),
        _ => "py".to_owned(),
    }
}

/// What a project says it needs.
struct Project {
    requirements: Vec<&'static str>,
    /// It can be installed itself.
    is_package: bool,
    /// It names packages of others, or its tests find it only where it is installed.
    needs_packages: bool,
    names_pytest: bool,
    extra: Option<&'static str>,
    group: Option<&'static str>,
    inputs: Vec<&'static str>,
}

impl Project {
    fn read(files: &Files<'_>, text: &str) -> Result<Self, Error> {
        let manifest: Table = toml::from_str(text).unwrap_or_default();
        let project = manifest.get("project").and_then(Value::as_table);
        let part = |name: &str| project.and_then(|project| project.get(name));
        let extras = part("optional-dependencies").and_then(Value::as_table);
        let groups = manifest.get("dependency-groups").and_then(Value::as_table);
        let dependencies = part("dependencies").and_then(Value::as_array);
        let has_dependencies = dependencies.is_some_and(|names| !names.is_empty());
        let has_extras = extras.is_some_and(|extras| !extras.is_empty());
        let setup = files.text("setup.py")?;
        let configured = files.text("setup.cfg")?.unwrap_or_default();
        let requirements = files.list_committed(&REQUIREMENTS);
        let mut texts = vec![
            part("dependencies").map(Value::to_string),
            extras.map(Table::to_string),
            groups.map(Table::to_string),
            setup.clone(),
            Some(configured.replace("[tool:pytest]", "")),
        ];
        for path in &requirements {
            texts.push(files.text(path)?);
        }
        let is_legacy = setup.is_some() || configured.contains("[metadata]");
        let legacy = setup.unwrap_or_default() + &configured;
        Ok(Self {
            is_package: is_legacy
                || manifest.contains_key("build-system")
                || has_dependencies
                || has_extras,
            needs_packages: has_dependencies
                || has_extras
                || legacy.contains("install_requires")
                || files.has_directory("src") && manifest.contains_key("build-system"),
            names_pytest: texts.iter().flatten().any(|text| text.contains("pytest")),
            extra: find_named(EXTRAS, extras),
            group: find_named(GROUPS, groups),
            inputs: [
                &files.list_committed(&[PROJECT, "setup.py", "setup.cfg"])[..],
                &requirements,
            ]
            .concat(),
            requirements,
        })
    }

    /// A virtual environment with all that it names, and itself.
    fn add_environment(&self, files: &Files<'_>, found: &mut Proposed, also: Option<&str>) {
        let mut words: Vec<String> = Vec::new();
        if self.is_package {
            words.extend(["-e", self.extra.unwrap_or(".")].map(str::to_owned));
        }
        words.extend(self.requirements.iter().map(|path| format!("-r {path}")));
        words.extend(self.group.map(str::to_owned));
        words.extend(also.map(str::to_owned));
        let mut commands = vec!["python3 -m venv .venv".to_owned()];
        if self.group.is_some() {
            // The pip that an older Python brings knows no groups.
            commands.push(".venv/bin/python -m pip install --upgrade pip".to_owned());
        }
        let words = words.join(" ");
        commands.push(format!(".venv/bin/python -m pip install {words}"));
        found.add_setup(files, commands, &self.inputs);
        found.add_caches(&[".venv"]);
    }
}

/// The first of these names that the table has, as words of a command.
fn find_named<const N: usize>(
    names: [(&str, &'static str); N],
    table: Option<&Table>,
) -> Option<&'static str> {
    let (_, words) = names
        .into_iter()
        .find(|(name, _)| table.is_some_and(|table| table.contains_key(*name)))?;
    Some(words)
}

/// The file that shows that pytest is used.
fn pytest(files: &Files<'_>, project: &str) -> Result<Option<&'static str>, Error> {
    if let Some(source) = files.first(&["pytest.ini", "conftest.py"]) {
        return Ok(Some(source));
    }
    if project.contains("pytest") {
        return Ok(Some(PROJECT));
    }
    let mentions = [("setup.cfg", "pytest"), ("tox.ini", "[pytest]")];
    let listed = REQUIREMENTS.map(|path| (path, "pytest"));
    for (source, word) in mentions.into_iter().chain(listed) {
        if files.text(source)?.is_some_and(|text| text.contains(word)) {
            return Ok(Some(source));
        }
    }
    Ok(None)
}

/// The file that shows a Python project, when it has tests that need no pytest, and the option that
/// says where they are.
fn unittest(files: &Files<'_>) -> Option<(&'static str, &'static str)> {
    let source = files.first(&[PROJECT, "setup.py", "setup.cfg", "requirements.txt"])?;
    let is_test = |name: &str| name.starts_with("test") && name.ends_with(".py");
    // Beside the sources a name alone proves nothing.
    let is_root_test = |name: &str| {
        let text = is_test(name).then(|| files.text(name).ok().flatten());
        text.flatten().is_some_and(|text| text.contains("unittest"))
    };
    let place = if files.any_name("tests", is_test) {
        " -s tests"
    } else if files.any_name("test", is_test) {
        " -s test"
    } else if files.any_name("", is_root_test) {
        ""
    } else {
        return None;
    };
    Some((source, place))
}
