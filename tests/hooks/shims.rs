//! The shims for Cline, opencode and pi: they fit the published types, carry out what cook answers, and a real
//! pi is recovered, linked, held and checkpointed by its one.
//!
//! They need node, and what `tests/shims/prepare.sh DIR` fetches; `COOK_NPM_DIR=DIR` names it. Without
//! it each test says that it was skipped.
#![cfg(unix)]

use crate::support::Repo;
use crate::support::hooks::{list_linked, texts};
use crate::support::model::{Model, Script, Step};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const CLINE: &str = include_str!("../../templates/hooks/cline.ts");
const OPENCODE: &str = include_str!("../../templates/hooks/opencode.ts");
const PI: &str = include_str!("../../templates/hooks/pi.ts");

/// Where the packages are.
fn packages() -> Option<PathBuf> {
    let dir = std::env::var_os("COOK_NPM_DIR").map(PathBuf::from);
    let found = dir.filter(|dir| dir.join("node_modules").is_dir() && node().is_some());
    if found.is_none() {
        eprintln!("skipped: no node, or COOK_NPM_DIR is not what tests/shims/prepare.sh made");
    }
    found
}

fn node() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|dir| dir.join("node"))
        .find(|node| node.is_file())
}

/// A directory with these files, where the packages are found.
fn project(packages: &Path, modules: &Path, files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(
        modules.join("node_modules"),
        dir.path().join("node_modules"),
    )
    .unwrap();
    for (name, text) in files {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    let options = json!({"compilerOptions": {"strict": true, "module": "nodenext", "moduleResolution": "nodenext",
        "target": "es2022", "skipLibCheck": true, "types": ["node"],
        "typeRoots": [packages.join("node_modules/@types")], "outDir": "out"}, "include": ["*.ts"]});
    std::fs::write(dir.path().join("tsconfig.json"), options.to_string()).unwrap();
    std::fs::write(dir.path().join("package.json"), "{\"type\": \"module\"}").unwrap();
    dir
}

fn compile(packages: &Path, project: &Path) -> (bool, String) {
    let output = Command::new(packages.join("node_modules/.bin/tsc"))
        .current_dir(project)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (
        output.status.success(),
        String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}

#[test]
fn the_shims_are_short_and_fit_the_published_types() {
    for shim in [CLINE, OPENCODE, PI] {
        assert!(shim.lines().count() < 80);
    }
    let Some(packages) = packages() else { return };
    let now = project(
        &packages,
        &packages,
        &[("opencode.ts", OPENCODE), ("pi.ts", PI)],
    );
    let (fits, said) = compile(&packages, now.path());
    assert!(fits, "{said}");
    // Its types name modules as a bundler finds them.
    let bundled = project(&packages, &packages, &[("cline.ts", CLINE)]);
    let options = bundled.path().join("tsconfig.json");
    let mut text: Value =
        serde_json::from_str(&std::fs::read_to_string(&options).unwrap()).unwrap();
    text["compilerOptions"]["module"] = json!("esnext");
    text["compilerOptions"]["moduleResolution"] = json!("bundler");
    std::fs::write(&options, text.to_string()).unwrap();
    let (fits, said) = compile(&packages, bundled.path());
    assert!(fits, "{said}");
    let renamed = PI.replace("@mariozechner/", "@earendil-works/");
    let next = project(&packages, &packages.join("next"), &[("pi.ts", &renamed)]);
    let (fits, said) = compile(&packages, next.path());
    assert!(fits, "{said}");
    let wrong = PI.replace("\"steer\"", "\"stear\"");
    let (fits, _) = compile(
        &packages,
        project(&packages, &packages, &[("pi.ts", &wrong)]).path(),
    );
    assert!(!fits, "the compiler would not notice");
}

#[track_caller]
fn wait_for(mut is_so: impl FnMut() -> bool) {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(90);
    while !is_so() {
        assert!(std::time::Instant::now() < end, "it took too long");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn a_real_pi_is_recovered_linked_held_and_checkpointed() {
    use std::io::{BufRead, BufReader, Write};
    use std::sync::{Arc, Mutex};

    let Some(packages) = packages() else { return };
    let command = "cook next --take && echo one > a.txt && git add -A && git commit -qm 'made by pi' -m 'Cook-Slice: a'";
    let model = Model::start(vec![
        Script {
            prompt: "## Core Rules",
            steps: vec![Step::run(command), Step::Say("I am done".to_owned())],
            turns: 1,
        },
        Script {
            prompt: "the work is not done",
            steps: vec![Step::Say("still done".to_owned())],
            turns: usize::MAX,
        },
    ]);
    let repo = Repo::set_up();
    repo.cook(&["hooks", "install", "pi", "--shared"]).exits(0);
    repo.commit("hooks", None);
    repo.select_a();
    let home = repo.beside("pi");
    std::fs::create_dir(&home).unwrap();
    let provider = json!({"providers": {"mock": {"baseUrl": format!("http://127.0.0.1:{}/v1", model.port),
        "api": "openai-completions", "apiKey": "x", "models": [{"id": "mock-model"}]}}});
    std::fs::write(home.join("models.json"), provider.to_string()).unwrap();

    let bin = packages.join("node_modules/.bin");
    let mut pi = repo.command(bin.join("pi"));
    let path = format!(
        "{}:{}:/usr/bin:/bin",
        Path::new(env!("CARGO_BIN_EXE_cook"))
            .parent()
            .unwrap()
            .display(),
        node().unwrap().parent().unwrap().display()
    );
    pi.args([
        "--provider",
        "mock",
        "--model",
        "mock-model",
        "--mode",
        "rpc",
    ])
    .env("PATH", path)
    .env("PI_OFFLINE", "1")
    .env("PI_CODING_AGENT_DIR", &home)
    .env_remove("COOK_NOW")
    .env_remove("COOK_TEST")
    .stdin(Stdio::piped())
    .stdout(Stdio::piped())
    .stderr(Stdio::null());
    let mut child = pi.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let said = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&said);
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let reader = std::thread::spawn(move || {
        for line in stdout.lines().map_while(Result::ok) {
            let mut kept = kept.lock().unwrap();
            kept.push_str(&line);
            kept.push('\n');
        }
    });
    let count = |text: &str| said.lock().unwrap().matches(text).count();

    writeln!(
        stdin,
        "{}",
        json!({"type": "prompt", "message": "do the work"})
    )
    .unwrap();
    // Its own end, and that of each turn that cook asked for: three, then it is let go.
    wait_for(|| count("\"type\":\"agent_end\"") >= 4);
    writeln!(stdin, "{}", json!({"type": "compact"})).unwrap();
    wait_for(|| count("\"command\":\"compact\"") == 1);
    writeln!(stdin, "{}", json!({"type": "prompt", "message": "go on"})).unwrap();
    wait_for(|| {
        model
            .prompts()
            .iter()
            .filter(|p| p.contains("## Core Rules"))
            .count()
            >= 3
    });
    drop(stdin);
    wait_for(|| child.try_wait().unwrap().is_some());
    reader.join().unwrap();

    let prompts = model.prompts();
    assert!(
        prompts[0].contains("## Resuming: a — `do a`"),
        "{}",
        prompts[0]
    );
    assert_eq!(list_linked(&repo), ["made by pi"]);
    let held = prompts
        .iter()
        .filter(|p| p.contains("completion-implementer is due: report slice `a`"));
    assert!(held.count() >= 3);
    assert_eq!(texts(&repo, "released").len(), 1);
    let auto = texts(&repo, "auto");
    assert_eq!(auto.len(), 1);
    assert!(
        auto[0].contains("made by pi") && auto[0].contains("a.txt"),
        "{auto:?}"
    );
    let last = prompts
        .iter()
        .rfind(|p| p.contains("## Core Rules"))
        .unwrap();
    assert!(
        last.contains("Auto-checkpoint (before compaction)"),
        "{last}"
    );
}
