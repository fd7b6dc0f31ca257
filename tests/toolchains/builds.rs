//! Build tools and package managers.

use crate::support::{Repo, run_alone};
use crate::toolchains::{append, init, is_here, path, read_written_time, toolchain, twice};

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
