//! The recipes of `docs/notify.md`, with stand-ins for what they call.
#![cfg(unix)]

use super::pages::path;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

/// Writes down what it is called with and what it reads.
const STAND_IN: &str =
    "#!/bin/sh\n{ basename \"$0\"; printf '<%s>\\n' \"$@\"; [ -t 0 ] || cat; } >\"$TOLD\"\n";

const REASON: &str = "say \"so\" $(touch made) `touch made`; 'done'";

#[test]
fn each_recipe_passes_on_what_it_is_told_as_data() {
    use std::os::unix::fs::PermissionsExt;
    let page = fs::read_to_string(path("docs/notify.md")).unwrap();
    let recipes: Vec<&str> = page
        .split("```bash\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    if Command::new("jq").arg("--version").output().is_err() {
        eprintln!("skipped: the recipes need `jq`");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let place = dir.path().join(name);
        fs::write(&place, text).unwrap();
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
        place
    };
    for name in ["notify-send", "curl"] {
        write(name, STAND_IN);
    }
    let event = serde_json::json!({"to": "paused", "reason": REASON, "worktree": "/w"});
    let with_stand_ins = std::env::join_paths(
        [dir.path().to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let with_stand_ins = with_stand_ins.unwrap();
    let expected = [
        ("notify-send", format!("paused: {REASON}")),
        ("curl", format!("paused: {REASON}")),
        (
            "curl",
            serde_json::json!(format!("/w: paused: {REASON}")).to_string(),
        ),
    ];
    assert_eq!(recipes.len(), expected.len());
    for (recipe, (program, said)) in recipes.iter().zip(expected) {
        let told = dir.path().join("told");
        let mut run = Command::new(write("recipe", recipe))
            .current_dir(dir.path())
            .env("PATH", &with_stand_ins)
            .env("TOLD", &told)
            .env("COOK_NTFY_TOPIC", "topic")
            .env("COOK_WEBHOOK", "http://127.0.0.1:1/hook")
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = run.stdin.take().unwrap();
        input.write_all(event.to_string().as_bytes()).unwrap();
        drop(input);
        assert!(run.wait().unwrap().success(), "{recipe}");
        let told = fs::read_to_string(told).unwrap();
        assert!(told.starts_with(program) && told.contains(&said), "{told}");
        assert!(!dir.path().join("made").exists(), "{recipe}");
    }
}
