//! Build tools and package managers.

use crate::support::{Repo, run_alone};
use crate::toolchains::{
    append, init, init_green, is_here, make_project, only_a, path, read_written_time, toolchain,
    twice,
};

#[test]
fn cargo_compiles_what_changed() {
    let repo = Repo::unborn();
    repo.extra.borrow_mut().push(path(&toolchain()));
    repo.write(".gitignore", "/target\n");
    repo.write(
        "Cargo.toml",
        "[package]\nname = \"whole\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\npart = { path = \"part\" }\n",
    );
    repo.write(
        "src/lib.rs",
        "#[test]\nfn two() {\n    assert_eq!(part::two(), 2);\n}\n",
    );
    repo.write(
        "part/Cargo.toml",
        "[package]\nname = \"part\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    repo.write("part/src/lib.rs", "pub fn two() -> u8 {\n    2\n}\n");
    run_alone(
        repo.command("cargo")
            .args(["generate-lockfile", "--offline"]),
    )
    .ok();
    repo.commit("Begin", None);
    let printed = twice(&repo, |repo| {
        append(&repo.root.join("src/lib.rs"), "// more\n");
    });
    assert!(printed.contains("Compiling whole"), "{printed}");
    assert!(!printed.contains("Compiling part"), "{printed}");
    assert!(printed.contains("1 passed"), "{printed}");
}

#[test]
fn npm_installs_from_the_lock_file_once() {
    if !is_here(&[&["node", "--version"], &["npm", "--version"]]) {
        return;
    }
    let repo = Repo::unborn();
    let npm = |args: &[&str], dir: &str| {
        let mut command = repo.command("npm");
        command
            .args(args)
            .current_dir(repo.root.join(dir))
            .env("npm_config_audit", "false")
            .env("npm_config_update_notifier", "false");
        run_alone(&mut command).ok()
    };
    repo.write(".gitignore", "node_modules/\ngreet/\n");
    repo.write(
        "greet/package.json",
        r#"{"name": "greet", "version": "1.0.0", "main": "greet.js"}"#,
    );
    repo.write("greet/greet.js", "module.exports = () => \"hello\";\n");
    repo.write("vendor/README", "packages\n");
    npm(&["pack", "--pack-destination", "../vendor"], "greet");
    repo.write(
        "package.json",
        r#"{"name": "work", "version": "1.0.0", "scripts": {"test": "node test.js"},
            "dependencies": {"greet": "file:vendor/greet-1.0.0.tgz"}}"#,
    );
    repo.write(
        "test.js",
        "require(\"assert\").equal(require(\"greet\")(), \"hello\");\n",
    );
    npm(&["install", "--no-fund"], ".");
    repo.commit("Begin", None);
    let stamp = "node_modules/.package-lock.json";
    let mut before = None;
    twice(&repo, |repo| {
        assert!(repo.read("package-lock.json").contains("sha512"));
        assert!(
            repo.read(".agent/cook.toml")
                .contains("\"npm ci --prefer-offline")
        );
        before = Some(read_written_time(repo, stamp));
        append(&repo.root.join("test.js"), "// more\n");
    });
    assert_eq!(
        before,
        Some(read_written_time(&repo, stamp)),
        "installed again"
    );
}

#[test]
fn a_virtual_environment_is_made_once() {
    let commands: [&[&str]; 1] = [&["python3", "-c", "import venv, ensurepip"]];
    if !is_here(&commands) {
        return;
    }
    let repo = Repo::unborn();
    repo.write(
        "make_wheel.py",
        r#"import zipfile
info = "greet-1.0.dist-info"
with zipfile.ZipFile("vendor/greet-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("greet.py", "def hello():\n    return 'hello'\n")
    wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: greet\nVersion: 1.0\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(f"{info}/RECORD", f"greet.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
"#,
    );
    repo.write("vendor/README", "packages\n");
    run_alone(repo.command("python3").arg("make_wheel.py")).ok();
    repo.write(".gitignore", ".venv/\n__pycache__/\n");
    repo.write("requirements.txt", "./vendor/greet-1.0-py3-none-any.whl\n");
    repo.write(
        "tests/test_greet.py",
        "import unittest\nimport greet\n\n\nclass Greeting(unittest.TestCase):\n    def test_hello(self):\n        self.assertEqual(greet.hello(), \"hello\")\n",
    );
    repo.commit("Begin", None);
    let stamp = ".venv/pyvenv.cfg";
    let mut before = None;
    let printed = twice(&repo, |repo| {
        before = Some(read_written_time(repo, stamp));
        append(&repo.root.join("tests/test_greet.py"), "# more\n");
    });
    assert!(printed.contains("Ran 1 test"), "{printed}");
    assert_eq!(before, Some(read_written_time(&repo, stamp)), "made again");
}

#[test]
fn make_makes_what_changed() {
    if !is_here(&[&["make", "--version"]]) {
        return;
    }
    let repo = Repo::unborn();
    make_project(&repo, "a.txt");
    repo.commit("Begin", None);
    let printed = twice(&repo, |repo| repo.write("a.txt", "other text\n"));
    only_a(&printed);
}

#[test]
fn cmake_builds_what_changed() {
    let commands: [&[&str]; 3] = [
        &["cmake", "--version"],
        &["cc", "--version"],
        &["make", "--version"],
    ];
    if !is_here(&commands) {
        return;
    }
    let repo = Repo::unborn();
    repo.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.13)\nproject(work C)\nenable_testing()\nadd_executable(whole whole.c part.c)\nadd_test(NAME whole COMMAND whole)\n",
    );
    repo.write(
        "whole.c",
        "int part(void);\nint main(void) { return part(); }\n",
    );
    repo.write("part.c", "int part(void) { return 0; }\n");
    repo.commit("Begin", None);
    let printed = twice(&repo, |repo| {
        append(&repo.root.join("whole.c"), "/* more */\n");
    });
    assert!(printed.contains("whole.c.o"), "{printed}");
    assert!(!printed.contains("part.c.o"), "{printed}");
    assert!(printed.contains("100% tests passed"), "{printed}");
}

/// What a commit's test finds was built of that commit, whichever gates ran before.
#[test]
fn no_gate_of_cmake_tests_what_another_commit_built() {
    let commands: [&[&str]; 2] = [&["cmake", "--version"], &["cc", "--version"]];
    if !is_here(&commands) {
        return;
    }
    let repo = Repo::unborn();
    repo.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.13)\nproject(work C)\nenable_testing()\nadd_executable(whole whole.c)\nadd_test(NAME whole COMMAND whole)\n",
    );
    repo.write("whole.c", "int main(void) { return 0; }\n");
    repo.commit("Begin", None);
    init_green(&repo);
    repo.write("whole.c", "int main(void) { return 1; }\n");
    repo.commit("Break it", None);
    let gates = repo.cook(&["doctor", "--config"]).ok().out;
    let names = gates
        .lines()
        .filter_map(|line| line.strip_prefix("[gates.")?.strip_suffix(']'));
    for name in names {
        repo.cook(&["gate", "--clean", name]).exits(1);
    }
}

#[test]
fn a_program_that_is_not_here_is_named_and_its_gate_is_not_trusted() {
    let repo = Repo::unborn();
    repo.write("mix.exs", "defmodule Work do\nend\n");
    repo.commit("Begin", None);
    if is_here(&[&["sh", "-c", "! command -v mix"]]) {
        let run = init(&repo);
        assert!(run.out.contains("absent     test  mix test"), "{}", run.out);
        assert!(run.err.contains("program_absent"), "{}", run.err);
        let listed = repo.cook(&["trust", "--list"]).ok();
        assert!(!listed.out.contains("mix"), "{}", listed.out);
        assert!(
            !listed.out.contains("verify_completion_stop"),
            "{}",
            listed.out
        );
        repo.cook(&["doctor"]).says("program_absent").says("`mix`");
        repo.cook(&["trust", "--gates", "--as-user"])
            .exits(0)
            .says("it needs `mix`");
    }
}
