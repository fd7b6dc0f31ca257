//! Build tools that bring a test command of their own.

use super::check::{Check, Proposed};
use super::files::Files;
use crate::init::error::Error;

const GRADLE: [&str; 4] = [
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
];

pub(super) fn detect(files: &Files<'_>, found: &mut Proposed) -> Result<(), Error> {
    go(files, found);
    mix(files, found);
    simple(files, found);
    swift(files, found);
    dotnet(files, found);
    ruby(files, found)?;
    php(files, found)?;
    cmake(files, found)
}

/// What a build tool needs: its files, its command, the command by its wrapper script, and the
/// directories that it fills.
type Tool = (
    &'static str,
    &'static [&'static str],
    &'static str,
    Option<(&'static str, &'static str)>,
    &'static [&'static str],
);

/// They fetch what they need as they run.
const SIMPLE: [Tool; 4] = [
    ("sbt", &["build.sbt"], "sbt test", None, &["target"]),
    (
        "stack",
        &["stack.yaml"],
        "stack test",
        None,
        &[".stack-work"],
    ),
    (
        "maven",
        &["pom.xml"],
        "mvn -B verify",
        Some(("mvnw", "./mvnw -B verify")),
        &["target"],
    ),
    (
        "gradle",
        &GRADLE,
        "gradle check",
        Some(("gradlew", "./gradlew check")),
        &[".gradle", "build"],
    ),
];

/// One file, one command, through the tool's wrapper script where one is there.
fn simple(files: &Files<'_>, found: &mut Proposed) {
    for (tool, sources, plain, wrapped, caches) in SIMPLE {
        // A module of Maven finds the others only where all of them begin.
        let has_modules = |above: Files<'_>| {
            let text = above.text("pom.xml").ok().flatten();
            text.is_some_and(|text| text.contains("<modules>"))
        };
        if tool == "maven" && files.above().any(has_modules) {
            continue;
        }
        if let Some(source) = files.first(sources) {
            let run = wrapped.and_then(|(script, run)| {
                let mut all = std::iter::once(files.clone()).chain(files.above());
                let up = all.position(|at| at.has(script))?;
                Some(match up {
                    0 => run.to_owned(),
                    up => format!("{}{}", "../".repeat(up), run.trim_start_matches("./")),
                })
            });
            let run = run.unwrap_or_else(|| plain.to_owned());
            found.add(Check::new(tool, "test", source, run).with_network(true));
            found.add_caches(caches);
        }
    }
}

/// Modules come into the home directory, which a clean room keeps.
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
    let kinds = [
        ("*.sln", ".sln"),
        ("*.slnx", ".slnx"),
        ("*.csproj", ".csproj"),
        ("*.fsproj", ".fsproj"),
    ];
    for (source, ending) in kinds {
        if files.any_name("", |name| name.ends_with(ending)) {
            let test = Check::new("dotnet", "test", source, "dotnet test");
            found.add(test.with_network(true));
            found.add_caches(&["bin", "obj"]);
            return;
        }
    }
}

fn ruby(files: &Files<'_>, found: &mut Proposed) -> Result<(), Error> {
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

fn php(files: &Files<'_>, found: &mut Proposed) -> Result<(), Error> {
    let Some(text) = files.text("composer.json")? else {
        return Ok(());
    };
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
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

/// One command, because a gate is answered by its receipt alone: a test of its own would find what
/// another commit built. The build directory is in `.agent/tmp/`, where it cannot make the worktree
/// dirty.
fn cmake(files: &Files<'_>, found: &mut Proposed) -> Result<(), Error> {
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

/// The options of a project (its file in small letters, without blanks) that its CI turns on.
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
