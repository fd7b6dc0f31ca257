//! What each language and each build tool proposes: gates, caches, and setup commands.

use super::manifests::{Check, Files, Proposed};
use crate::prelude::*;
use toml::Table;

/// The proposals of all tools. Targets of a task runner are used only if no build tool proposes a test, because they
/// mostly call one.
pub(super) fn detect_in(files: &Files<'_>) -> Result<Proposed> {
    let mut found = Proposed::default();
    detect_rust(files, &mut found)?;
    detect_native(files, &mut found)?;
    detect_javascript(files, &mut found)?;
    detect_python(files, &mut found)?;
    if !found.has_test() {
        detect_runner(files, &mut found)?;
    }
    // In another folder it may be a part of a package, which the root's tests run.
    if !found.has_test() && files.dir().is_empty() {
        detect_unittest(files, None, &mut found, |_| "python3");
    }
    Ok(found)
}

fn detect_native(files: &Files<'_>, found: &mut Proposed) -> Result<()> {
    go(files, found);
    mix(files, found);
    simple(files, found);
    swift(files, found);
    dotnet(files, found);
    ruby(files, found)?;
    php(files, found)?;
    cmake(files, found)
}

/// Tools that fetch their dependencies while they run. For each: its name, its files, its command, the wrapper script
/// that replaces its program, and the directories that it fills.
const SIMPLE: [[&str; 5]; 4] = [
    ["sbt", "build.sbt", "sbt test", "", "target"],
    ["stack", "stack.yaml", "stack test", "", ".stack-work"],
    ["maven", "pom.xml", "mvn -B verify", "mvnw", "target"],
    ["gradle", GRADLE, "gradle check", "gradlew", ".gradle build"],
];

const GRADLE: &str = "build.gradle build.gradle.kts settings.gradle settings.gradle.kts";

/// Proposes one command for each such tool, with the tool's wrapper script if there is one.
fn simple(files: &Files<'_>, found: &mut Proposed) {
    for [tool, sources, plain, wrapper, caches] in SIMPLE {
        // A Maven module finds its sibling modules only if the build starts at their common parent.
        let has_modules = |above: Files<'_>| {
            let text = above.text("pom.xml").ok().flatten();
            text.is_some_and(|text| text.contains("<modules>"))
        };
        if tool == "maven" && files.above().any(has_modules) {
            continue;
        }
        let sources: Vec<&str> = sources.split(' ').collect();
        let Some(source) = files.first(&sources) else {
            continue;
        };
        let mut all = std::iter::once(files.clone()).chain(files.above());
        let up = all.position(|at| !wrapper.is_empty() && at.has(wrapper));
        let run = match (up, plain.split_once(' ')) {
            (Some(0), Some((_, more))) => format!("./{wrapper} {more}"),
            (Some(up), Some((_, more))) => format!("{}{wrapper} {more}", "../".repeat(up)),
            _ => plain.to_owned(),
        };
        found.add(Check::new(tool, "test", source, run).with_network(true));
        found.add_caches(&caches.split(' ').collect::<Vec<_>>());
    }
}

/// Modules are downloaded into the home directory, which a clean room keeps.
fn go(files: &Files<'_>, found: &mut Proposed) {
    let source = "go.mod";
    if !files.has(source) {
        return;
    }
    found.add(Check::new("go", "test", source, "go test -v ./..."));
    if !files.list_committed(&["go.sum"]).is_empty() && !files.has_directory("vendor") {
        found.add_setup(files, ["go mod download"], &[source, "go.sum"]);
    }
}

fn mix(files: &Files<'_>, found: &mut Proposed) {
    let source = "mix.exs";
    if !files.has(source) {
        return;
    }
    found.add(Check::new("mix", "test", source, "mix test"));
    found.add_caches(&["deps", "_build"]);
    let lock = files.list_committed(&["mix.lock"]);
    if !lock.is_empty() {
        let commands = [
            "mix local.hex --force",
            "mix local.rebar --force",
            "mix deps.get",
        ];
        found.add_setup(files, commands, &[&[source][..], &lock].concat());
    }
}

fn swift(files: &Files<'_>, found: &mut Proposed) {
    let source = "Package.swift";
    if !files.has(source) {
        return;
    }
    let proposal = if files.has_directory("Tests") {
        Check::new("swift", "test", source, "swift test")
    } else {
        Check::new("swift", "build", source, "swift build")
    };
    found.add(proposal.with_network(files.has("Package.resolved")));
    found.add_caches(&[".build"]);
}

fn dotnet(files: &Files<'_>, found: &mut Proposed) {
    for source in ["*.sln", "*.slnx", "*.csproj", "*.fsproj"] {
        if files.any_name("", |name| name.ends_with(&source[1..])) {
            let test = Check::new("dotnet", "test", source, "dotnet test");
            found.add(test.with_network(true));
            found.add_caches(&["bin", "obj"]);
            return;
        }
    }
}

fn ruby(files: &Files<'_>, found: &mut Proposed) -> Result<()> {
    let rakefile = files.text("Rakefile")?.unwrap_or_default();
    let says = |words: &[&str]| words.iter().any(|word| rakefile.contains(word));
    let bundled = files.has("Gemfile");
    let (source, run) = if files.has(".rspec") {
        let run = ["rspec", "bundle exec rspec"];
        (".rspec", run[usize::from(bundled)])
    } else if files.has("bin/rails") && files.has_directory("test") {
        ("bin/rails", "bin/rails test")
    } else if says(&["RSpec::Core::RakeTask"]) {
        let run = ["rake spec", "bundle exec rake spec"];
        ("Rakefile", run[usize::from(bundled)])
    } else if says(&[
        "Rake::TestTask",
        "task :test",
        "task test:",
        "task \"test\"",
    ]) {
        let run = ["rake test", "bundle exec rake test"];
        ("Rakefile", run[usize::from(bundled)])
    } else {
        return Ok(());
    };
    found.add(Check::new("ruby", "test", source, run));
    if bundled {
        let commands = [
            "bundle config set --local path vendor/bundle",
            "bundle install",
        ];
        let inputs = files.list_committed(&["Gemfile", "Gemfile.lock"]);
        found.add_setup(files, commands, &inputs);
        found.add_caches(&[".bundle", "vendor/bundle"]);
    }
    Ok(())
}

fn php(files: &Files<'_>, found: &mut Proposed) -> Result<()> {
    let Some(text) = files.text("composer.json")? else {
        return Ok(());
    };
    let manifest = found.read_json(files.place("composer.json"), &text);
    let test = &manifest["scripts"]["test"];
    if test.is_string() || test.is_array() {
        let run = "composer run-script test";
        found.add(Check::new("composer", "test", "composer.json", run));
    } else if let Some(source) = files.first(&["phpunit.xml", "phpunit.xml.dist"]) {
        let run = "vendor/bin/phpunit";
        found.add(Check::new("phpunit", "test", source, run));
    } else {
        return Ok(());
    }
    let inputs = files.list_committed(&["composer.json", "composer.lock"]);
    found.add_setup(files, ["composer install --no-interaction"], &inputs);
    found.add_caches(&["vendor"]);
    Ok(())
}

/// Builds and tests in one command, because the receipt of a gate must not depend on another gate: a separate test
/// would run what another commit built. The build directory is in `.agent/tmp/`, where it cannot make the worktree
/// dirty.
fn cmake(files: &Files<'_>, found: &mut Proposed) -> Result<()> {
    let source = "CMakeLists.txt";
    let Some(text) = files.text(source)? else {
        return Ok(());
    };
    let text = text.to_lowercase().replace(' ', "");
    let options = list_options(&text, &files.read_workflows()?);
    let build =
        format!("cmake -S . -B .agent/tmp/cmake{options} && cmake --build .agent/tmp/cmake");
    found.add(
        if text.contains("enable_testing(") || text.contains("include(ctest)") {
            let run =
                format!("sh -c '{build} && ctest --test-dir .agent/tmp/cmake --output-on-failure'");
            Check::new("cmake", "test", source, run)
        } else {
            Check::new("cmake", "build", source, format!("sh -c '{build}'"))
        },
    );
    found.add_caches(&[".agent/tmp/cmake"]);
    Ok(())
}

/// The options of a project that its CI turns on. `text` is its file in lower case, without spaces.
fn list_options(text: &str, workflows: &[String]) -> String {
    let words = workflows.iter().flat_map(|text| text.split_whitespace());
    let names = words.filter_map(|word| word.strip_prefix("-D")?.strip_suffix("=ON"));
    let is_name = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let declares = |name: &&str| {
        let head = format!("option({}", name.to_lowercase());
        let mut after = text.split(&head).skip(1);
        after.any(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
    };
    let names: std::collections::BTreeSet<&str> = names.filter(is_name).filter(declares).collect();
    names.iter().map(|name| format!(" -D{name}=ON")).collect()
}

// `package.json` scripts by package manager, and Deno.

/// Scripts that are checks; each gives its name to a gate.
const SCRIPTS: [&str; 4] = ["test", "lint", "typecheck", "build"];
const PACKAGE: &str = "package.json";

/// A package manager, its lock files, its install command for an existing lock file, and the one without a lock file.
type Manager = (
    &'static str,
    &'static [&'static str],
    &'static str,
    &'static str,
);

const MANAGERS: [Manager; 4] = [
    (
        "pnpm",
        &["pnpm-lock.yaml"],
        "pnpm install --frozen-lockfile --prefer-offline",
        "pnpm install --no-lockfile",
    ),
    (
        "yarn",
        &["yarn.lock"],
        "yarn install --frozen-lockfile",
        "yarn install",
    ),
    (
        "bun",
        &["bun.lock", "bun.lockb"],
        "bun install --frozen-lockfile",
        "bun install --no-save",
    ),
    (
        "npm",
        &["package-lock.json", "npm-shrinkwrap.json"],
        "npm ci --prefer-offline --no-audit --no-fund",
        "npm install --no-package-lock",
    ),
];

fn detect_javascript(files: &Files<'_>, found: &mut Proposed) -> Result<()> {
    if let Some(text) = files.text(PACKAGE)? {
        package(files, &text, found)?;
    }
    if let Some(source) = files.first(&["deno.json", "deno.jsonc"]) {
        let text = files.text(source)?.unwrap_or_default();
        let tasks: Value = serde_json::from_str(&text).unwrap_or_default();
        let run = if tasks["tasks"].get("test").is_some() {
            "deno task test"
        } else {
            "deno test --permit-no-files"
        };
        found.add(Check::new("deno", "test", source, run).with_network(true));
    }
    Ok(())
}

fn package(files: &Files<'_>, text: &str, found: &mut Proposed) -> Result<()> {
    let manifest = found.read_json(files.place(PACKAGE), text);
    let has_lock = MANAGERS
        .iter()
        .any(|(_, locks, ..)| files.first(locks).is_some());
    let workspace = match has_lock {
        true => None,
        false => find_workspace(files)?,
    };
    let (at, of_all) = workspace
        .as_ref()
        .map_or((files, &manifest), |(at, of)| (at, of));
    let manager = package_manager(at, of_all["packageManager"].as_str());
    let tool = manager.0;
    for name in SCRIPTS {
        let says = manifest["scripts"][name].as_str().unwrap_or_default();
        // `npm init` creates a test that always fails, and a watcher never ends.
        let real = !says.trim().is_empty()
            && !says.contains("no test specified")
            && !says.contains("--watch");
        if real {
            let run = format!("{tool} run {name}");
            found.add(Check::new(tool, name, PACKAGE, run));
        }
    }
    install(at, manager, of_all, found)
}

/// The nearest folder above whose package is a workspace: dependencies are installed there.
fn find_workspace<'a>(files: &Files<'a>) -> Result<Option<(Files<'a>, Value)>> {
    for above in files.above() {
        let text = above.text(PACKAGE)?.unwrap_or_default();
        let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
        if manifest.get("workspaces").is_some() || above.has("pnpm-workspace.yaml") {
            return Ok(Some((above, manifest)));
        }
    }
    Ok(None)
}

/// Installs the dependencies before the checks, because scripts need them and make targets call scripts.
fn install(
    files: &Files<'_>,
    (tool, locks, exact, loose): Manager,
    manifest: &Value,
    found: &mut Proposed,
) -> Result<()> {
    let names_something = ["dependencies", "devDependencies", "optionalDependencies"]
        .iter()
        .filter_map(|name| manifest[name].as_object())
        .any(|names| !names.is_empty())
        || manifest.get("workspaces").is_some();
    let lock = files.list_committed(locks).first().copied();
    let command = match lock {
        Some(_) if tool == "yarn" && is_later_yarn(files, manifest)? => "yarn install --immutable",
        Some(_) => exact,
        None if names_something => loose,
        None => return Ok(()),
    };
    let inputs: Vec<&'static str> = lock.into_iter().chain([PACKAGE]).collect();
    found.add_setup(files, [command], &inputs);
    found.add_caches(&["node_modules"]);
    Ok(())
}

/// Yarn 2 and later have other options than Yarn 1.
fn is_later_yarn(files: &Files<'_>, manifest: &Value) -> Result<bool> {
    let declared = manifest["packageManager"].as_str().unwrap_or_default();
    if let Some(version) = declared.strip_prefix("yarn@") {
        return Ok(!version.starts_with("1."));
    }
    let lock = files.text("yarn.lock")?.unwrap_or_default();
    Ok(files.has(".yarnrc.yml") || lock.contains("__metadata:"))
}

fn package_manager(files: &Files<'_>, declared: Option<&str>) -> Manager {
    let declared = declared.unwrap_or_default().split('@').next();
    let by_name = MANAGERS.iter().find(|(tool, ..)| declared == Some(*tool));
    let by_lock = || {
        let mut all = MANAGERS.iter();
        all.find(|(_, locks, ..)| files.first(locks).is_some())
    };
    let [.., npm] = MANAGERS;
    by_name.or_else(by_lock).copied().unwrap_or(npm)
}

// Python: nox or tox if they are configured, else pytest or unittest, through the project's environment tool or in a
// virtual environment with the project's dependencies. Each prints the names of the tests, because proofs name tests.

/// Tools that manage an environment: lock file, command that runs the tests, command that creates the environment.
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

const PROJECT: &str = "pyproject.toml";
const REQUIREMENTS: [&str; 6] = [
    "requirements.txt",
    "requirements-dev.txt",
    "requirements-test.txt",
    "requirements_dev.txt",
    "dev-requirements.txt",
    "test-requirements.txt",
];

fn detect_python(files: &Files<'_>, found: &mut Proposed) -> Result<()> {
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
    let manifest = found.read_toml(files.place(PROJECT), &text);
    let project = Project::read(files, &manifest)?;
    if let Some(source) = pytest(files, &text)? {
        // A member of a workspace uses the lock file of the workspace.
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
    } else if let Some(source) =
        files.first(&[PROJECT, "setup.py", "setup.cfg", "requirements.txt"])
    {
        detect_unittest(files, Some(source), found, |found| {
            if project.requirements.is_empty() && !project.needs_packages {
                return "python3";
            }
            project.add_environment(files, found, None);
            ".venv/bin/python"
        });
    }
    Ok(())
}

/// The tox environment that the project's CI names, if it names exactly one, by a plain name; else the one of the
/// Python that runs tox.
fn choose_environment(workflows: &[String]) -> String {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let lines = workflows.iter().flat_map(|text| text.lines());
    let named = lines.filter_map(|line| {
        let (_, rest) = line.split_once("tox ")?;
        let (_, rest) = rest.split_once("-e ")?;
        rest.split_whitespace().next()
    });
    let named: std::collections::BTreeSet<&str> = named.collect();
    let mut words = named.first().filter(|_| named.len() == 1).into_iter();
    let only = words.find(|word| word.chars().all(is_of_name));
    only.copied().unwrap_or("py").to_owned()
}

/// The dependencies that a project declares.
struct Project {
    requirements: Vec<&'static str>,
    /// Whether the project itself can be installed.
    is_package: bool,
    /// Whether it needs other packages, or its tests can import it only if it is installed.
    needs_packages: bool,
    names_pytest: bool,
    extra: Option<String>,
    group: Option<String>,
    inputs: Vec<&'static str>,
}

impl Project {
    fn read(files: &Files<'_>, manifest: &Table) -> Result<Self> {
        let project = manifest.get("project").and_then(toml::Value::as_table);
        let part = |name: &str| project.and_then(|project| project.get(name));
        let extras = part("optional-dependencies").and_then(toml::Value::as_table);
        let groups = manifest
            .get("dependency-groups")
            .and_then(toml::Value::as_table);
        let dependencies = part("dependencies").and_then(toml::Value::as_array);
        let has_dependencies = dependencies.is_some_and(|names| !names.is_empty());
        let has_extras = extras.is_some_and(|extras| !extras.is_empty());
        let setup = files.text("setup.py")?;
        let configured = files.text("setup.cfg")?.unwrap_or_default();
        let requirements = files.list_committed(&REQUIREMENTS);
        let mut texts = vec![
            part("dependencies").map(toml::Value::to_string),
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
            extra: find_named(&EXTRAS, extras)
                .or_else(|| EXTRAS.into_iter().find(|name| names_extra(&legacy, name)))
                .map(|name| format!(".[{name}]")),
            group: find_named(&["test", "tests", "dev"], groups)
                .map(|name| format!("--group {name}")),
            inputs: [
                &files.list_committed(&[PROJECT, "setup.py", "setup.cfg"])[..],
                &requirements,
            ]
            .concat(),
            requirements,
        })
    }

    /// Creates a virtual environment with the declared dependencies and the project itself.
    fn add_environment(&self, files: &Files<'_>, found: &mut Proposed, also: Option<&str>) {
        let mut words: Vec<String> = Vec::new();
        if self.is_package {
            words.extend(["-e", self.extra.as_deref().unwrap_or(".")].map(str::to_owned));
        }
        words.extend(self.requirements.iter().map(|path| format!("-r {path}")));
        words.extend(self.group.clone());
        words.extend(also.map(str::to_owned));
        let mut commands = vec!["python3 -m venv .venv".to_owned()];
        if self.group.is_some() {
            // The pip of an older Python does not support dependency groups.
            commands.push(".venv/bin/python -m pip install --upgrade pip".to_owned());
        }
        let words = words.join(" ");
        commands.push(format!(".venv/bin/python -m pip install {words}"));
        found.add_setup(files, commands, &self.inputs);
        found.add_caches(&[".venv"]);
    }
}

/// Usual names of extras with the dependencies of tests.
const EXTRAS: [&str; 4] = ["test", "tests", "testing", "dev"];

/// Whether a `setup.py` or `setup.cfg` seems to define that extra. pip only warns of an unknown extra.
fn names_extra(text: &str, name: &str) -> bool {
    let Some((_, extras)) = text.split_once("extras_require") else {
        return false;
    };
    let is_key = |line: &str| line.split('=').next().is_some_and(|key| key.trim() == name);
    let quoted = ['"', '\''].map(|quote| format!("{quote}{name}{quote}"));
    quoted.iter().any(|word| extras.contains(word)) || extras.lines().any(is_key)
}

/// The first of these names that is a key of the table.
fn find_named(names: &[&'static str], table: Option<&Table>) -> Option<&'static str> {
    let mut names = names.iter().copied();
    names.find(|name| table.is_some_and(|table| table.contains_key(*name)))
}

/// The file that shows that the project uses pytest.
fn pytest(files: &Files<'_>, project: &str) -> Result<Option<&'static str>> {
    if let Some(source) = files.first(&["pytest.ini", "conftest.py"]) {
        return Ok(Some(source));
    }
    if project.contains("pytest") {
        return Ok(Some(PROJECT));
    }
    let mentions = [
        ("setup.cfg", "pytest"),
        ("setup.py", "pytest"),
        ("tox.ini", "[pytest]"),
    ];
    let listed = REQUIREMENTS.map(|path| (path, "pytest"));
    for (source, word) in mentions.into_iter().chain(listed) {
        if files.text(source)?.is_some_and(|text| text.contains(word)) {
            return Ok(Some(source));
        }
    }
    Ok(None)
}

/// Adds a gate for tests that do not need pytest, if there are any. `source` is the project file; `python` prepares and
/// names the interpreter.
fn detect_unittest(
    files: &Files<'_>,
    source: Option<&'static str>,
    found: &mut Proposed,
    python: impl FnOnce(&mut Proposed) -> &'static str,
) {
    let holds_tests = |dir: &str| {
        files.any_name(dir, |name| {
            let is_test = name.starts_with("test") && name.ends_with(".py");
            // Next to the sources, or without a project file, a file name alone does not identify a test.
            let is_enough = source.is_some() && !dir.is_empty();
            let path = format!("{dir}/{name}");
            let text = || files.text(path.trim_start_matches('/')).ok().flatten();
            is_test && (is_enough || text().is_some_and(|text| text.contains("unittest")))
        })
    };
    let places = [("tests", " -s tests"), ("test", " -s test"), ("", "")];
    let Some((dir, place)) = places.into_iter().find(|(dir, _)| holds_tests(dir)) else {
        return;
    };
    let source = source.unwrap_or(if dir.is_empty() { "test*.py" } else { dir });
    let run = format!("{} -m unittest discover -v{place}", python(found));
    found.add(Check::new("python", "test", source, run));
}

// Cargo.

fn detect_rust(files: &Files<'_>, found: &mut Proposed) -> Result<()> {
    let source = "Cargo.toml";
    let Some(text) = files.text(source)? else {
        return Ok(());
    };
    let manifest = found.read_toml(files.place(source), &text);
    let table = |name: &str| manifest.get(name).and_then(toml::Value::as_table);
    // A member of a workspace uses the lock file of the workspace.
    let mut lock = None;
    for at in std::iter::once(files.clone()).chain(files.above()) {
        let is_known = lock.is_some();
        lock = lock.or(at.read_committed("Cargo.lock")?);
        if !is_known && lock.as_ref().is_some_and(|lock| lock.contains("source = ")) {
            found.add_setup(&at, ["cargo fetch --locked"], &["Cargo.lock"]);
        }
    }
    let network = lock.is_none() && fetches(&manifest);
    found.add_caches(&["target"]);
    if files.has("rustfmt.toml") || files.has(".rustfmt.toml") {
        let run = "cargo fmt --all --check";
        found.add(Check::new("cargo", "format", "rustfmt.toml", run));
    }
    let test = if table("workspace").is_some() {
        "cargo test --workspace"
    } else {
        "cargo test"
    };
    found.add(Check::new("cargo", "test", source, test).with_network(network));
    let lints = table("lints")
        .or_else(|| table("workspace")?.get("lints")?.as_table())
        .is_some_and(|lints| lints.contains_key("clippy"));
    if lints || files.has("clippy.toml") || files.has(".clippy.toml") {
        let run = "cargo clippy --all-targets -- -D warnings";
        let mut lint = Check::new("cargo", "lint", source, run).with_network(network);
        lint.required = false;
        found.add(lint);
    }
    Ok(())
}

/// Whether a build fetches crates from outside the repository. True for a workspace, because its members are not read.
fn fetches(manifest: &Table) -> bool {
    if manifest.contains_key("workspace") {
        return true;
    }
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let platforms = targets
        .into_iter()
        .flat_map(Table::values)
        .filter_map(toml::Value::as_table);
    platforms.chain([manifest]).any(|table| {
        ["dependencies", "dev-dependencies", "build-dependencies"]
            .iter()
            .filter_map(|name| table.get(*name)?.as_table())
            .flat_map(Table::values)
            .any(|wanted| wanted.get("path").is_none())
    })
}

// Targets of make and just, for repositories whose build tool proposes no test.

fn detect_runner(files: &Files<'_>, found: &mut Proposed) -> Result<()> {
    let justfiles = ["justfile", "Justfile", ".justfile"];
    if let Some(source) = files.first(&justfiles) {
        let text = files.text(source)?.unwrap_or_default();
        if let Some(run) = choose(&text, recipe, ["just check", "just test"]) {
            found.add(Check::new("just", "test", source, run));
            found.add_caches(&build_directories(files));
            return Ok(());
        }
    }
    // The order in which make looks for its file.
    if let Some(source) = files.first(&["GNUmakefile", "makefile", "Makefile"]) {
        let text = files.text(source)?.unwrap_or_default();
        if let Some(name) = choose(&text, target, ["check", "test"]) {
            let is_there = files.has(name) || files.has_directory(name);
            let run = match is_there && !is_phony(&text, name) {
                // Without `-B`, make does nothing if a file has the target's name.
                true => format!("make -B {name}"),
                false => format!("make {name}"),
            };
            found.add(Check::new("make", "test", source, run));
            found.add_caches(&build_directories(files));
        }
    }
    Ok(())
}

/// The usual build directories that git ignores.
fn build_directories(files: &Files<'_>) -> Vec<&'static str> {
    const USUAL: [&str; 7] = ["build", "_build", ".build", "out", "obj", "dist", "bin"];
    let asked = USUAL.map(|name| format!("{name}/"));
    let ignored = files.list_ignored(&asked.each_ref().map(String::as_str));
    let pairs = USUAL.into_iter().zip(&asked);
    let dirs = pairs.filter(|(_, asked)| ignored.contains(*asked));
    dirs.map(|(name, _)| name).collect()
}

/// `test` if it is defined, else `check`.
fn choose(
    text: &str,
    defines: fn(&str, &str) -> bool,
    [check, test]: [&'static str; 2],
) -> Option<&'static str> {
    let defined = |name| text.lines().any(|line| defines(line, name));
    if defined("test") {
        Some(test)
    } else {
        defined("check").then_some(check)
    }
}

/// Whether the line defines the target: `test: deps`, `lint test:`, `test::`, but not `test := value`.
fn target(line: &str, name: &str) -> bool {
    let Some((targets, rest)) = line.split_once(':') else {
        return false;
    };
    let assigns = rest.trim_start_matches(':').starts_with('=');
    !line.starts_with(char::is_whitespace)
        && !assigns
        && targets.split_whitespace().any(|target| target == name)
}

/// Whether the target is declared as in `.PHONY: test lint`.
fn is_phony(text: &str, name: &str) -> bool {
    let mut phony = text.lines().filter_map(|line| line.strip_prefix(".PHONY"));
    phony.any(|names| names.split([' ', '\t', ':']).any(|word| word == name))
}

/// Whether the line defines the recipe: `test:`, `@test: deps`; with parameters only if all are optional.
fn recipe(line: &str, name: &str) -> bool {
    let line = line.strip_prefix('@').unwrap_or(line);
    let Some((head, rest)) = line.split_once(':') else {
        return false;
    };
    let mut words = head.split_whitespace();
    let named = words.next() == Some(name) && head.starts_with(name);
    let optional = |word: &str| word.starts_with('*') || word.contains('=');
    named && !rest.starts_with('=') && words.all(optional)
}
