//! Build tools that bring a test command of their own.

use super::check::Proposal;
use super::files::Files;
use crate::scaffold::error::Error;

const GRADLE: [&str; 4] = [
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
];

pub(super) fn detect(files: &Files<'_>, found: &mut Vec<Proposal>) -> Result<(), Error> {
    cargo(files, found)?;
    simple(files, found);
    swift(files, found);
    dotnet(files, found);
    ruby(files, found)?;
    php(files, found)?;
    cmake(files, found)
}

fn cargo(files: &Files<'_>, found: &mut Vec<Proposal>) -> Result<(), Error> {
    let source = "Cargo.toml";
    let Some(text) = files.text(source)? else {
        return Ok(());
    };
    let manifest: toml::Table = toml::from_str(&text).unwrap_or_default();
    let table = |name: &str| manifest.get(name).and_then(toml::Value::as_table);
    if files.has("rustfmt.toml") || files.has(".rustfmt.toml") {
        let run = "cargo fmt --all --check";
        found.push(Proposal::new("cargo", "format", "rustfmt.toml", run));
    }
    let test = if table("workspace").is_some() {
        "cargo test --workspace"
    } else {
        "cargo test"
    };
    found.push(Proposal::new("cargo", "test", source, test));
    let lints = table("lints")
        .or_else(|| table("workspace")?.get("lints")?.as_table())
        .is_some_and(|lints| lints.contains_key("clippy"));
    if lints || files.has("clippy.toml") || files.has(".clippy.toml") {
        let run = "cargo clippy --all-targets -- -D warnings";
        let mut lint = Proposal::new("cargo", "lint", source, run);
        lint.required = false;
        found.push(lint);
    }
    Ok(())
}

/// One file, one command, through the tool's wrapper script where one is there.
fn simple(files: &Files<'_>, found: &mut Vec<Proposal>) {
    let tools: [(_, &[&'static str], _, _); 6] = [
        ("go", &["go.mod"], "go test ./...", None),
        ("mix", &["mix.exs"], "mix test", None),
        ("sbt", &["build.sbt"], "sbt test", None),
        ("stack", &["stack.yaml"], "stack test", None),
        (
            "maven",
            &["pom.xml"],
            "mvn -B verify",
            Some(("mvnw", "./mvnw -B verify")),
        ),
        (
            "gradle",
            &GRADLE,
            "gradle check",
            Some(("gradlew", "./gradlew check")),
        ),
    ];
    for (tool, sources, run, wrapped) in tools {
        if let Some(source) = files.first(sources) {
            let wrapped = wrapped.filter(|(script, _)| files.has(script));
            let run = wrapped.map_or(run, |(_, run)| run);
            found.push(Proposal::new(tool, "test", source, run));
        }
    }
}

fn swift(files: &Files<'_>, found: &mut Vec<Proposal>) {
    let source = "Package.swift";
    if !files.has(source) {
        return;
    }
    found.push(if files.has_directory("Tests") {
        Proposal::new("swift", "test", source, "swift test")
    } else {
        Proposal::new("swift", "build", source, "swift build")
    });
}

fn dotnet(files: &Files<'_>, found: &mut Vec<Proposal>) {
    let kinds = [
        ("*.sln", ".sln"),
        ("*.slnx", ".slnx"),
        ("*.csproj", ".csproj"),
        ("*.fsproj", ".fsproj"),
    ];
    for (source, ending) in kinds {
        if files.any_name("", |name| name.ends_with(ending)) {
            found.push(Proposal::new("dotnet", "test", source, "dotnet test"));
            return;
        }
    }
}

fn ruby(files: &Files<'_>, found: &mut Vec<Proposal>) -> Result<(), Error> {
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
    found.push(Proposal::new("ruby", "test", source, run));
    Ok(())
}

fn php(files: &Files<'_>, found: &mut Vec<Proposal>) -> Result<(), Error> {
    let Some(text) = files.text("composer.json")? else {
        return Ok(());
    };
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let test = &manifest["scripts"]["test"];
    if test.is_string() || test.is_array() {
        let run = "composer run-script test";
        found.push(Proposal::new("composer", "test", "composer.json", run));
    } else if let Some(source) = files.first(&["phpunit.xml", "phpunit.xml.dist"]) {
        found.push(Proposal::new(
            "phpunit",
            "test",
            source,
            "vendor/bin/phpunit",
        ));
    }
    Ok(())
}

/// Gates run in the order of their names, so the steps are numbered. The build
/// directory is in `.agent/tmp/`, where it cannot make the worktree dirty.
fn cmake(files: &Files<'_>, found: &mut Vec<Proposal>) -> Result<(), Error> {
    let source = "CMakeLists.txt";
    let Some(text) = files.text(source)? else {
        return Ok(());
    };
    let step = |kind, run| Proposal::new("cmake", kind, source, run);
    found.push(step("cmake-1-configure", "cmake -S . -B .agent/tmp/cmake"));
    found.push(step("cmake-2-build", "cmake --build .agent/tmp/cmake"));
    let text = text.to_lowercase().replace(' ', "");
    if text.contains("enable_testing(") || text.contains("include(ctest)") {
        let run = "ctest --test-dir .agent/tmp/cmake --output-on-failure";
        found.push(step("cmake-3-test", run));
    }
    Ok(())
}
