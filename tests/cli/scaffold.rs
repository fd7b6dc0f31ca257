//! What `cook init` puts into a repository: contract files, `.gitignore` block,
//! gates, verify scripts that really run, missions, and older layouts.
#![cfg(unix)]

use cook::init::{
    FileOutcome, TRACKED, control_plane_script, detect, find_mission, import, project_name,
    stop_script, stop_verifier_is_stale, with_block, write_contract, write_mission,
};
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::model::{Config, GateSpec};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const STOP: &str = ".agent/verify_completion_stop.sh";
const CONTROL_PLANE: &str = ".agent/verify_completion_control_plane.sh";

/// Paths with their texts.
type Files = &'static [(&'static str, &'static str)];

fn repository(files: &[(&str, &str)]) -> TempDir {
    let root = TempDir::new().unwrap();
    for (path, text) in files {
        write(&root, path, text);
    }
    root
}

fn write(root: &TempDir, path: &str, text: &str) {
    let path = root.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn read(root: &TempDir, path: &str) -> String {
    fs::read_to_string(root.path().join(path)).unwrap()
}

/// Every file with its bytes and when it was written.
fn everything(root: &Path) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
    let mut found = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                let modified = fs::metadata(&path).unwrap().modified().unwrap();
                found.insert(path.clone(), (fs::read(&path).unwrap(), modified));
            }
        }
    }
    found
}

fn gates(root: &TempDir) -> Vec<GateSpec> {
    let text = read(root, ".agent/cook.toml");
    Config::parse(&text).unwrap().gate_specs()
}

fn is_stale(root: &TempDir, script: &str) -> bool {
    stop_verifier_is_stale(&gates(root), script)
}

fn code<T: std::fmt::Debug>(result: Result<T, Failure>) -> Code {
    result.unwrap_err().code
}

/// A directory with links to these programs and nothing else, as a PATH.
fn programs(names: &[&str]) -> TempDir {
    let bin = TempDir::new().unwrap();
    let path = std::env::var_os("PATH").unwrap();
    for name in names {
        let program = std::env::split_paths(&path)
            .map(|directory| directory.join(name))
            .find(|program| program.is_file())
            .unwrap_or_else(|| panic!("`{name}` is not on PATH"));
        std::os::unix::fs::symlink(program, bin.path().join(name)).unwrap();
    }
    bin
}

fn bash(bin: &TempDir) -> Command {
    let mut command = Command::new("bash");
    command
        .env_clear()
        .env("PATH", bin.path())
        .env("LC_ALL", "C");
    command
}

fn read_both_streams(output: &Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout);
    format!("{out}{}", String::from_utf8_lossy(&output.stderr))
}

const TOOLS: [&str; 3] = ["bash", "env", "dirname"];

#[test]
fn a_second_run_changes_no_byte() {
    for files in [
        vec![],
        vec![
            ("Cargo.toml", "[package]\nname = \"x\"\n"),
            (".gitignore", "/target\r\n*.o"),
        ],
        vec![
            ("package.json", r#"{"scripts":{"test":"x","build":"y"}}"#),
            ("Makefile", "test:\n"),
        ],
    ] {
        let root = repository(&files);
        write_contract(root.path(), Some("mission one two"), &|_| {}).unwrap();
        let before = everything(root.path());
        let again = write_contract(root.path(), Some("another mission"), &|_| {}).unwrap();
        assert!(
            again
                .files
                .iter()
                .all(|file| file.outcome == FileOutcome::Kept),
            "{:?}",
            again.files
        );
        assert_eq!(everything(root.path()), before);
    }
}

#[test]
fn what_a_person_wrote_stays() {
    let profile = r#"{"schema_version":1,"protocol_id":"completion","project_name":"p",
        "required_stop_judges":5,"priority_policy_id":"completion-default","docs_surfaces":[]}"#;
    let files = [
        (".agent/README.md", "mine"),
        (".agent/mission.md", "my mission"),
        (".agent/cook.toml", "[gates]\n"),
        (".agent/profile.json", profile),
        (CONTROL_PLANE, "#!/bin/sh\nexit 0\n"),
        (STOP, "#!/bin/sh\nmake everything\n"),
    ];
    let root = repository(&files);
    let contract = write_contract(root.path(), Some("another"), &|_| {}).unwrap();
    for (path, text) in files {
        assert_eq!(read(&root, path), text);
        let file = contract
            .files
            .iter()
            .find(|file| file.path == path)
            .unwrap();
        let wanted = if path.ends_with(".sh") {
            FileOutcome::KeptHandMade
        } else {
            FileOutcome::Kept
        };
        assert_eq!(file.outcome, wanted, "{path}");
    }
    assert_eq!(contract.profile.unwrap().required_stop_judges.0, 5);
    assert!(!is_stale(&root, &read(&root, STOP)));
}

#[test]
fn without_a_mission_the_file_keeps_the_place_until_the_user_says_it() {
    let root = repository(&[]);
    write_contract(root.path(), None, &|_| {}).unwrap();
    assert_eq!(read(&root, ".agent/mission.md"), "");
    assert_eq!(find_mission(root.path()).unwrap(), None);
    write_contract(root.path(), Some("  Now it is known \n"), &|_| {}).unwrap();
    assert_eq!(read(&root, ".agent/mission.md"), "Now it is known\n");
    write_mission(root.path(), "Another one").unwrap();
    assert_eq!(read(&root, ".agent/mission.md"), "Another one\n");
    assert_eq!(
        code(write_mission(root.path(), &"x".repeat(300_000))),
        Code::InputTooLarge
    );
    assert_eq!(read(&root, ".agent/mission.md"), "Another one\n");
}

#[test]
fn unsafe_shapes_are_refused_and_nothing_outside_is_touched() {
    use std::os::unix::fs::symlink;
    let outside = repository(&[("README.md", "theirs")]);
    let root = repository(&[]);
    symlink(outside.path(), root.path().join(".agent")).unwrap();
    let failure = write_contract(root.path(), None, &|_| {}).unwrap_err();
    assert_eq!(failure.message, "`.agent` is a symbolic link");
    assert_eq!(
        code(write_contract(root.path(), None, &|_| {})),
        Code::AgentDirUnsafe
    );
    assert_eq!(
        code(import::read(&root.path().join(".agent"))),
        Code::AgentDirUnsafe
    );

    let root = repository(&[(".agent", "a file")]);
    assert_eq!(
        code(write_contract(root.path(), None, &|_| {})),
        Code::AgentDirUnsafe
    );
    assert_eq!(
        code(import::read(&root.path().join(".agent"))),
        Code::AgentDirUnsafe
    );

    for path in TRACKED.into_iter().chain([".agent/tmp", ".gitignore"]) {
        let root = repository(&[]);
        fs::create_dir(root.path().join(".agent")).unwrap();
        symlink(outside.path().join("README.md"), root.path().join(path)).unwrap();
        assert_eq!(
            code(write_contract(root.path(), None, &|_| {})),
            Code::AgentDirUnsafe,
            "{path}"
        );
        let root = repository(&[]);
        fs::create_dir(root.path().join(".agent")).unwrap();
        symlink(root.path().join("nowhere"), root.path().join(path)).unwrap();
        assert_eq!(
            code(write_contract(root.path(), None, &|_| {})),
            Code::AgentDirUnsafe,
            "{path}"
        );
    }
    for path in TRACKED {
        let root = repository(&[]);
        fs::create_dir_all(root.path().join(path)).unwrap();
        assert_eq!(
            code(write_contract(root.path(), None, &|_| {})),
            Code::AgentDirUnsafe,
            "{path}"
        );
    }
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    assert_eq!(read(&outside, "README.md"), "theirs");
}

#[test]
fn the_gitignore_block_is_written_once_and_the_users_lines_stay() {
    let text = |bytes: &[u8]| String::from_utf8(with_block(bytes)).unwrap();
    let block = text(b"");
    let crlf = block.replace('\n', "\r\n");
    assert_eq!(text(b"/target\n*.o\n"), format!("/target\n*.o\n{block}"));
    assert_eq!(text(b"*.o"), format!("*.o\n{block}"));
    assert_eq!(text(b"*.o\r\n"), format!("*.o\r\n{crlf}"));
    let old = "# >>> cook: older words\n.agent/*\n!.agent/README.md\n# <<< cook\n";
    assert_eq!(
        text(format!("a\n{old}b\n").as_bytes()),
        format!("a\n{block}b\n")
    );
    assert_eq!(
        text(format!("{block}a\n{block}").as_bytes()),
        format!("{block}a\n")
    );
    let open = "a\n# >>> cook\n.agent/*\n!.agent/README.md\nmine\n";
    assert_eq!(text(open.as_bytes()), format!("a\n{block}mine\n"));
    let added = "# >>> cook\n.agent/*\n!.agent/backlog.md\n# <<< cook\nb\n";
    assert_eq!(
        text(added.as_bytes()),
        format!("{block}!.agent/backlog.md\nb\n")
    );
    let last = "# >>> cook\n.agent/*";
    assert_eq!(text(last.as_bytes()), block);
    assert_eq!(with_block(b"\xff\xfe\n").split_at(3).0, b"\xff\xfe\n");
    for existing in ["", "a", "a\r\nb", old, open, last, added, "\n\n"] {
        let once = with_block(existing.as_bytes());
        assert_eq!(with_block(&once), once, "{existing:?}");
        for line in TRACKED.into_iter().chain([".agent/allowed_signers"]) {
            let line = format!("!{line}");
            let lines = String::from_utf8(once.clone()).unwrap();
            assert_eq!(lines.lines().filter(|found| *found == line).count(), 1);
        }
    }
}

#[test]
fn no_arrangement_of_lines_loses_one_of_the_users() {
    const LINES: [&str; 8] = [
        "# >>> cook: any words",
        "# <<< cook",
        ".agent/*",
        "!.agent/README.md",
        "!.agent/mine.md",
        "target/",
        "",
        "/CONTINUE.md",
    ];
    let users = |bytes: &[u8]| -> Vec<String> {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let mine = ["!.agent/mine.md", "target/"];
        text.lines()
            .filter(|line| mine.contains(line))
            .map(str::to_owned)
            .collect()
    };
    for number in 0..8_usize.pow(5) {
        let lines: String = (0..5)
            .map(|place| format!("{}\n", LINES[number / 8_usize.pow(place) % 8]))
            .collect();
        let once = with_block(lines.as_bytes());
        assert_eq!(users(&once), users(lines.as_bytes()), "{lines:?}");
        assert_eq!(with_block(&once), once, "{lines:?}");
        let begins = once
            .windows(10)
            .filter(|bytes| bytes == b"# >>> cook")
            .count();
        assert_eq!(begins, 1, "{lines:?}");
    }
}

/// Files, and the checks they must give as `name: command`.
const REPOSITORIES: &[(Files, &[&str])] = &[
    (&[("notes.txt", "x")], &[]),
    (
        &[("Cargo.toml", "[package]\nname='a'\n")],
        &["test: cargo test"],
    ),
    (
        &[
            (
                "Cargo.toml",
                "[workspace]\nmembers=[]\n[workspace.lints.clippy]\n",
            ),
            ("rustfmt.toml", ""),
        ],
        &[
            "format: cargo fmt --all --check",
            "test: cargo test --workspace",
            "lint: cargo clippy --all-targets -- -D warnings",
        ],
    ),
    (&[("Cargo.toml", "not toml [[[")], &["test: cargo test"]),
    (
        &[(
            "package.json",
            r#"{"scripts":{"test":"jest","lint":"eslint","build":"tsc"}}"#,
        )],
        &[
            "test: npm run test",
            "lint: npm run lint",
            "build: npm run build",
        ],
    ),
    (
        &[
            ("package.json", r#"{"scripts":{"test":"jest"}}"#),
            ("pnpm-lock.yaml", ""),
        ],
        &["test: pnpm run test"],
    ),
    (
        &[
            ("package.json", r#"{"scripts":{"lint":"x"}}"#),
            ("yarn.lock", ""),
        ],
        &["lint: yarn run lint"],
    ),
    (
        &[
            ("package.json", r#"{"scripts":{"test":"x"}}"#),
            ("bun.lock", ""),
        ],
        &["test: bun run test"],
    ),
    (
        &[
            (
                "package.json",
                r#"{"packageManager":"yarn@4.1.0","scripts":{"typecheck":"tsc"}}"#,
            ),
            ("package-lock.json", ""),
        ],
        &["typecheck: yarn run typecheck"],
    ),
    (
        &[(
            "package.json",
            r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#,
        )],
        &[],
    ),
    (
        &[("package.json", r#"{"scripts":{"test":"jest --watch"}}"#)],
        &[],
    ),
    (
        &[("deno.json", r#"{"tasks":{"test":"deno test -A"}}"#)],
        &["test: deno task test"],
    ),
    (
        &[("deno.jsonc", "{ // comment\n}")],
        &["test: deno test --permit-no-files"],
    ),
    (
        &[("pyproject.toml", "[tool.pytest.ini_options]\n")],
        &["test: python3 -m pytest -v"],
    ),
    (
        &[
            ("pyproject.toml", "[project]\ndependencies=['pytest']\n"),
            ("uv.lock", ""),
        ],
        &["test: uv run pytest -v"],
    ),
    (
        &[("setup.cfg", "[tool:pytest]\n"), ("poetry.lock", "")],
        &["test: poetry run pytest -v"],
    ),
    (
        &[("tox.ini", "[testenv]\n"), ("pytest.ini", "")],
        &["test: tox -e py"],
    ),
    (
        &[
            ("tox.ini", "[testenv]\n"),
            (
                ".github/workflows/t.yaml",
                "x: tox -e ${{ matrix.tox }}\ny: tox run -e typing\n",
            ),
        ],
        &["test: tox -e py"],
    ),
    (
        &[
            ("tox.ini", "[testenv]\n"),
            (".github/workflows/t.yaml", "y: tox run -e py312\n"),
        ],
        &["test: tox -e py312"],
    ),
    (
        &[("tox.ini", "[pytest]\n")],
        &["test: python3 -m pytest -v"],
    ),
    (&[("noxfile.py", "")], &["test: nox -r"]),
    (
        &[("setup.py", ""), ("tests/test_a.py", "")],
        &["test: python3 -m unittest discover -v -s tests"],
    ),
    (
        &[("setup.py", ""), ("test/test_a.py", "")],
        &["test: python3 -m unittest discover -v -s test"],
    ),
    (
        &[("setup.py", ""), ("tests.py", "import unittest\n")],
        &["test: python3 -m unittest discover -v"],
    ),
    (
        &[("tests/test_a.py", "import unittest\n")],
        &["test: python3 -m unittest discover -v -s tests"],
    ),
    (&[("tests/test_a.py", "def test_a(): pass\n")], &[]),
    (&[("setup.py", ""), ("test.py", "print(1)\n")], &[]),
    (&[("setup.py", "")], &[]),
    (&[("go.mod", "module x\n")], &["test: go test -v ./..."]),
    (&[("pom.xml", "")], &["test: mvn -B verify"]),
    (
        &[("pom.xml", ""), ("mvnw", "")],
        &["test: ./mvnw -B verify"],
    ),
    (
        &[("build.gradle.kts", ""), ("gradlew", "")],
        &["test: ./gradlew check"],
    ),
    (&[("settings.gradle", "")], &["test: gradle check"]),
    (
        &[("App.sln", ""), ("App.csproj", "")],
        &["test: dotnet test"],
    ),
    (&[("mix.exs", "")], &["test: mix test"]),
    (
        &[("Rakefile", "Rake::TestTask.new"), ("Gemfile", "")],
        &["test: bundle exec rake test"],
    ),
    (&[(".rspec", "")], &["test: rspec"]),
    (
        &[
            ("bin/rails", ""),
            ("test/a.rb", ""),
            ("Rakefile", "load_tasks"),
        ],
        &["test: bin/rails test"],
    ),
    (
        &[("Package.swift", ""), ("Tests/a.swift", "")],
        &["test: swift test"],
    ),
    (&[("Package.swift", "")], &["build: swift build"]),
    (
        &[("CMakeLists.txt", "ENABLE_TESTING ()\n")],
        &[
            "test: sh -c 'cmake -S . -B .agent/tmp/cmake && cmake --build .agent/tmp/cmake && ctest --test-dir .agent/tmp/cmake --output-on-failure'",
        ],
    ),
    (
        &[("CMakeLists.txt", "project(x)\n")],
        &["build: sh -c 'cmake -S . -B .agent/tmp/cmake && cmake --build .agent/tmp/cmake'"],
    ),
    (
        &[("composer.json", r#"{"scripts":{"test":["phpunit"]}}"#)],
        &["test: composer run-script test"],
    ),
    (
        &[("composer.json", "{}"), ("phpunit.xml.dist", "")],
        &["test: vendor/bin/phpunit"],
    ),
    (&[("build.sbt", "")], &["test: sbt test"]),
    (&[("stack.yaml", "")], &["test: stack test"]),
    (
        &[("Makefile", ".PHONY: test\nall:\nlint test: dep\n\techo\n")],
        &["test: make test"],
    ),
    (
        &[("Makefile", "test := value\ncheck::\n")],
        &["test: make check"],
    ),
    (
        &[
            ("Makefile", "test:\n\tsh test/run.sh\n"),
            ("test/run.sh", ""),
        ],
        &["test: make -B test"],
    ),
    (
        &[
            ("Makefile", "test:\n\tsh test/run.sh\n.PHONY: all test\n"),
            ("test/run.sh", ""),
        ],
        &["test: make test"],
    ),
    (&[("Makefile", "all:\n\ttest: not a target\n")], &[]),
    (
        &[
            ("justfile", "@test *args:\n  x\n"),
            ("Makefile", "check:\n"),
        ],
        &["test: just test"],
    ),
    (
        &[("justfile", "test target:\n  x\ncheck:\n")],
        &["test: just check"],
    ),
    (&[("justfile", "test := 'x'\n")], &[]),
    (
        &[
            ("Makefile", "test:\n\tcargo test\n"),
            ("Cargo.toml", "[package]\nname='a'\n"),
        ],
        &["test: cargo test"],
    ),
    (
        &[
            ("Makefile", "test:\n"),
            ("package.json", r#"{"scripts":{"build":"x"}}"#),
        ],
        &["build: npm run build", "test: make test"],
    ),
    (
        &[
            ("Cargo.toml", "[package]\nname='a'\n"),
            ("package.json", r#"{"scripts":{"test":"x","build":"y"}}"#),
            ("go.mod", ""),
        ],
        &[
            "cargo-test: cargo test",
            "go-test: go test -v ./...",
            "npm-test: npm run test",
            "build: npm run build",
        ],
    ),
];

/// Files, and what a clone needs before the checks, as `cook.toml` says it.
const SETUPS: &[(Files, &str)] = &[
    (
        &[
            ("Cargo.toml", "[package]\nname='a'\n"),
            ("Cargo.lock", "[[package]]\nname='a'\n"),
        ],
        "cache = [\"target\"]",
    ),
    (
        &[
            ("Cargo.toml", "[package]\nname='a'\n"),
            ("Cargo.lock", "source = \"registry+x\"\n"),
        ],
        "cache = [\"target\"]\nsetup = [\"cargo fetch --locked\"]\nsetup_inputs = [\"Cargo.lock\"]",
    ),
    (
        &[
            ("package.json", r#"{"scripts":{"test":"x"}}"#),
            ("package-lock.json", "{}"),
        ],
        "cache = [\"node_modules\"]\nsetup = [\"npm ci --prefer-offline --no-audit --no-fund\"]\nsetup_inputs = [\"package-lock.json\", \"package.json\"]",
    ),
    (&[("package.json", r#"{"scripts":{"test":"x"}}"#)], ""),
    (
        &[(
            "package.json",
            r#"{"scripts":{"test":"x"},"devDependencies":{"a":"1"}}"#,
        )],
        "cache = [\"node_modules\"]\nsetup = [\"npm install --no-package-lock\"]\nsetup_inputs = [\"package.json\"]",
    ),
    (
        &[
            (
                "package.json",
                r#"{"packageManager":"yarn@4.1.0","scripts":{"test":"x"}}"#,
            ),
            ("yarn.lock", ""),
        ],
        "cache = [\"node_modules\"]\nsetup = [\"yarn install --immutable\"]\nsetup_inputs = [\"yarn.lock\", \"package.json\"]",
    ),
    (
        &[
            ("requirements.txt", "requests\n"),
            ("requirements-dev.txt", "pytest\n"),
        ],
        "cache = [\".venv\"]\nsetup = [\"python3 -m venv .venv\", \".venv/bin/python -m pip install -r requirements.txt -r requirements-dev.txt\"]\nsetup_inputs = [\"requirements.txt\", \"requirements-dev.txt\"]",
    ),
    (
        &[
            (
                "pyproject.toml",
                "[build-system]\n[project.optional-dependencies]\ndev=['x']\n",
            ),
            ("conftest.py", ""),
        ],
        "cache = [\".venv\"]\nsetup = [\"python3 -m venv .venv\", \".venv/bin/python -m pip install -e .[dev] pytest\"]\nsetup_inputs = [\"pyproject.toml\"]",
    ),
    (
        &[(
            "setup.py",
            "setup(extras_require={'docs': ['x'], 'test': ['pytest']})\n",
        )],
        "cache = [\".venv\"]\nsetup = [\"python3 -m venv .venv\", \".venv/bin/python -m pip install -e .[test]\"]\nsetup_inputs = [\"setup.py\"]",
    ),
    (
        &[(
            "setup.cfg",
            "[metadata]\nname = a\n[options.extras_require]\ndev =\n  pytest\n",
        )],
        "cache = [\".venv\"]\nsetup = [\"python3 -m venv .venv\", \".venv/bin/python -m pip install -e .[dev]\"]\nsetup_inputs = [\"setup.cfg\"]",
    ),
    (&[("pytest.ini", "")], ""),
    (
        &[("go.mod", "module x\n"), ("go.sum", "x\n")],
        "setup = [\"go mod download\"]\nsetup_inputs = [\"go.mod\", \"go.sum\"]",
    ),
    (&[("go.mod", "module x\n")], ""),
    (
        &[("CMakeLists.txt", "project(x)\n")],
        "cache = [\".agent/tmp/cmake\"]",
    ),
    (
        &[("Makefile", "test:\n"), (".gitignore", "/build/\nobj\n")],
        "cache = [\"build\", \"obj\"]",
    ),
    (
        &[("Rakefile", "Rake::TestTask.new"), ("Gemfile", "")],
        "cache = [\".bundle\", \"vendor/bundle\"]\nsetup = [\"bundle config set --local path vendor/bundle\", \"bundle install\"]\nsetup_inputs = [\"Gemfile\"]",
    ),
    // A lock file that no commit holds is in no clone.
    (
        &[
            ("package.json", r#"{"scripts":{"test":"x"}}"#),
            ("package-lock.json", "{}"),
            (".gitignore", "*-lock.json\n"),
        ],
        "",
    ),
];

#[test]
fn a_clone_is_set_up_by_what_the_repository_is() {
    for (files, wanted) in SETUPS {
        let root = repository(files);
        let git = Command::new("git")
            .args(["init", "-q"])
            .current_dir(root.path())
            .status();
        assert!(git.unwrap().success());
        write_contract(root.path(), None, &|_| {}).unwrap();
        let text = read(&root, ".agent/cook.toml");
        let found = text.split("[clean_room]\n").nth(1).unwrap_or_default();
        assert_eq!(found.trim(), *wanted, "{files:?}");
        Config::parse(&text).unwrap();
    }
}

#[test]
fn a_hostile_manifest_is_data() {
    let evil = "x\u{1b}[2J'; rm -rf \"$HOME\" #\n$(touch /tmp/no)`";
    let manifest = serde_json::json!({
        "name": evil,
        "packageManager": format!("npm; {evil}"),
        "scripts": { "test": evil, "test; rm -rf .": "x", "build": { "a": 1 }, "lint": [evil] },
    });
    let root = repository(&[
        ("package.json", &manifest.to_string()),
        ("Cargo.toml", &format!("[package]\nname = {evil:?}\n")),
    ]);
    let contract = write_contract(root.path(), None, &|_| {}).unwrap();
    let checks: Vec<_> = contract
        .proposed
        .checks
        .iter()
        .map(|check| &*check.run)
        .collect();
    assert_eq!(checks, ["cargo test", "npm run test"]);
    let profile = contract.profile.unwrap();
    assert!(
        !profile.project_name.chars().any(char::is_control),
        "{}",
        profile.project_name
    );
    for path in [STOP, ".agent/cook.toml"] {
        let text = read(&root, path);
        assert!(
            !text.contains("rm -rf") && !text.contains('\u{1b}'),
            "{text}"
        );
    }
    for bad in [
        "",
        "null",
        "[]",
        "{\"scripts\":3}",
        "\0\0\0",
        &"[".repeat(100_000),
    ] {
        let root = repository(&[
            ("package.json", bad),
            ("pyproject.toml", bad),
            ("composer.json", bad),
        ]);
        assert_eq!(detect(root.path()).unwrap().checks, [], "{:.20}", bad);
        project_name(root.path()).unwrap();
    }
    let big = format!(
        "{{\"scripts\":{{\"test\":\"x\"}},\"pad\":\"{}\"}}",
        "y".repeat(2_000_000)
    );
    let root = repository(&[("package.json", &big)]);
    assert_eq!(detect(root.path()).unwrap().checks, []);
}

#[test]
fn every_script_is_valid_bash() {
    let bin = programs(&TOOLS);
    let mut scripts = vec![control_plane_script()];
    for (files, _) in REPOSITORIES {
        let root = repository(files);
        write_contract(root.path(), None, &|_| {}).unwrap();
        scripts.push(stop_script(&gates(&root)));
    }
    for script in scripts {
        assert!(script.starts_with("#!/usr/bin/env bash\n# generated by cook: gates="));
        assert!(!script.contains("@MARKER@") && !script.contains("@CHECKS@"));
        let file = repository(&[("script.sh", &script)]);
        let output = bash(&bin)
            .arg("-n")
            .arg(file.path().join("script.sh"))
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}\n{script}",
            read_both_streams(&output)
        );
    }
}

const OLD_STATE: &str = r#"{"schema_version":1,"mission_anchor":"Old mission","continuation_policy":"await_user_input",
  "continuation_reason":"which database?","current_phase":"awaiting_user","next_mandatory_role":"null"}"#;
const OLD_PLAN: &str = r#"{"schema_version":1,"mission_anchor":"Old mission","last_reground_at":1735689600000,
  "plan_basis":"repo truth","future_field":1,"candidate_slices":[
    {"slice_id":"s1","goal":"first","acceptance_criteria":["a"],"contract_ids":["c1"],"priority":1,"status":"done",
     "why_now":"now","blocked_on":[],"evidence":["cargo test passed",{"note":"ran it"}],"owner":"me"},
    {"slice_id":"s2","goal":"second","acceptance_criteria":"only one","priority":"2","status":"dancing","owner":"you"},
    {"goal":"nameless"}]}"#;
const OLD_ACTIVE: &str = r#"{"schema_version":1,"status":"in_progress","slice_id":"s2","goal":"second","contract_ids":["c1"],
  "mission_anchor":"Old mission","acceptance_criteria":["x"],"priority":2,"why_now":"w","blocked_on":[],"locked_notes":[],
  "must_fix_findings":[],"basis_commit":"deadbeef","remaining_contract_ids_before":["c1"],
  "release_blocker_count_before":1,"high_value_gap_count_before":0,"extra":{}}"#;
const OLD_HISTORY: &str = concat!(
    r#"{"schema_version":1,"type":"implemented","recorded_at":1735689600,"slice_id":"s1","commit_sha":"abc","head_sha":"abc","summary":"x"}"#,
    "\n\n",
    r#"{"schema_version":1,"type":"reviewed","recorded_at":"2025-01-01T00:00:00Z","slice_id":"s1","commit_sha":"abc","head_sha":"abc","report":"free text","summary":"y"}"#,
    "\nnot json\n[1]\n",
    r#"{"schema_version":1,"type":"invented","recorded_at":1,"slice_id":"s1","commit_sha":"a","head_sha":"a"}"#,
    "\n",
    r#"{"schema_version":1,"type":"accep"#,
);
const OLD_STOPS: &str = r#"{"schema_version":1,"type":"judgment","recorded_at":1,"head_sha":"h","can_stop":false,"blocker_count":2,"high_value_gap_count":"1"}"#;

fn old_layout(prefix: &str) -> TempDir {
    let root = TempDir::new().unwrap();
    for (name, text) in [
        ("state.json", OLD_STATE),
        ("plan.json", OLD_PLAN),
        ("active-slice.json", OLD_ACTIVE),
        ("slice-history.jsonl", OLD_HISTORY),
        ("stop-check-history.jsonl", OLD_STOPS),
    ] {
        write(&root, &format!("{prefix}{name}"), text);
    }
    root
}

#[test]
fn unreadable_old_documents_are_named_and_the_rest_is_taken_in() {
    let root = old_layout("");
    write(&root, "plan.json", "{\"candidate_slices\": [");
    write(&root, "active-slice.json", "[]");
    write(&root, "state.json", "{\"continuation_policy\":\"done\"}");
    let found = import::read(root.path()).unwrap().unwrap();
    assert_eq!(
        (found.import.plan, found.import.active, found.import.policy),
        (None, None, None)
    );
    assert_eq!(found.import.slice_history.len(), 2);
    let codes: Vec<_> = found
        .findings
        .iter()
        .map(|finding| (finding.code, finding.place.as_deref()))
        .collect();
    assert!(
        codes.contains(&(Code::DocumentUnreadable, Some("plan.json"))),
        "{codes:?}"
    );
    assert!(
        codes.contains(&(Code::DocumentInvalid, Some("active-slice.json"))),
        "{codes:?}"
    );

    write(
        &root,
        "active-slice.json",
        r#"{"status":"selected","slice_id":"s"}"#,
    );
    let found = import::read(root.path()).unwrap().unwrap();
    assert_eq!(found.import.active, None);
    assert!(
        found
            .findings
            .iter()
            .any(|finding| finding.code == Code::HandoffIncomplete)
    );

    fs::remove_file(root.path().join("plan.json")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", root.path().join("plan.json")).unwrap();
    assert_eq!(code(import::read(root.path())), Code::AgentDirUnsafe);
}

#[test]
fn a_flood_of_bad_lines_gives_a_bounded_report() {
    let root = old_layout("");
    let lines: String = (0..5_000)
        .map(|n| format!("{{\"k{n}\": \"\u{1b}\"}}\n"))
        .collect();
    write(&root, "slice-history.jsonl", &lines);
    let found = import::read(root.path()).unwrap().unwrap();
    assert!(found.findings.len() <= 201, "{}", found.findings.len());
    let last = found.findings.last().unwrap();
    assert!(
        last.message.contains("more things were not taken in"),
        "{last:?}"
    );
    assert!(
        found
            .findings
            .iter()
            .all(|finding| !finding.message.contains('\u{1b}'))
    );
}

#[test]
fn both_layouts_side_by_side_take_the_later_one() {
    let root = old_layout("");
    write(
        &root,
        "current/plan.json",
        "{\"mission_anchor\":\"# New  one\",\"candidate_slices\":[]}",
    );
    write(&root, "current/verification-evidence.json", "{}");
    let found = import::read(root.path()).unwrap().unwrap();
    assert_eq!(found.import.layout, import::CURRENT);
    assert!(found.import.slice_history.is_empty());
    let places: Vec<_> = found
        .findings
        .iter()
        .filter_map(|finding| finding.place.as_deref())
        .collect();
    assert_eq!(places, [".agent", "verification-evidence.json"]);
}
