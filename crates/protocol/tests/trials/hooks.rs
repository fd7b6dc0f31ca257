//! The hooks in real runners, which the script beside this file installs: minutes, and a network.
//! `cargo test -p cook-protocol --test trials -- --ignored --nocapture`; `HOOK_RUNNERS` names a few alone.

use cook_protocol::trials::runner_hooks::{HookPlaces, files, name_gtest_dir, variables};
use std::error::Error;
use std::path::Path;
use std::process::Command;

#[test]
#[ignore = "installs each runner, which takes minutes and a network"]
fn runners_say_the_same_with_hooks_and_each_test_is_recorded() -> Result<(), Box<dyn Error>> {
    let made = Command::new("mktemp").arg("-d").output()?.stdout;
    let directory = String::from_utf8(made)?.trim().to_owned();
    let hooks = format!("{directory}/hooks");
    for file in files() {
        let path = Path::new(&hooks).join(file.path);
        std::fs::create_dir_all(path.parent().ok_or("a hook has no directory")?)?;
        std::fs::write(path, file.text)?;
    }
    let records = format!("{directory}/records");
    let root = format!("{directory}/tree");
    let places = HookPlaces {
        hooks: &hooks,
        records: &records,
        root: &root,
    };
    let given = variables(&places, |_| None);
    let ended = Command::new("bash")
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/trials/hooks.sh"
        ))
        .arg(&directory)
        .args(
            given
                .iter()
                .map(|(name, value)| format!("{name}={}", quote(value))),
        )
        .env("REPORT_DIRS", name_gtest_dir(&records))
        .status()?;
    std::fs::remove_dir_all(&directory)?;
    assert!(
        matches!(ended.code(), Some(0 | 77)),
        "a runner says something else, see above"
    );
    Ok(())
}

fn quote(value: &str) -> String {
    format!("'{}'", value.replace('\'', "'\\''"))
}
