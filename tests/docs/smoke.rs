//! The smoke script: it passes with this cook, and notices one that lies.
#![cfg(unix)]

use crate::support::{COOK, Run, clean, run_alone};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

fn smoke(cook: &Path, scratch: &TempDir) -> Run {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("smoke/smoke.sh");
    let mut command = clean("bash", scratch.path());
    command
        .arg(script)
        .env("COOK_BIN", cook)
        .env("TMPDIR", scratch.path())
        .current_dir(scratch.path());
    run_alone(&mut command)
}

#[test]
fn the_whole_job_and_the_seed_flow_pass() {
    let scratch = crate::support::room();
    let started = std::time::Instant::now();
    let answer = smoke(Path::new(COOK), &scratch)
        .ok()
        .says("the project is done")
        .says("[head_moved_since_done]")
        .says("[basis_unresolved]")
        .says("smoke test passed");
    println!("{}\n{:?}", answer.out, started.elapsed());
    let left = std::fs::read_dir(scratch.path()).unwrap().count();
    assert_eq!(left, 0, "it cleans up");
}

/// A cook that answers one command with 0 and nothing else.
fn liar(scratch: &TempDir, lie: &str) -> std::path::PathBuf {
    let path = scratch.path().join("liar");
    let text = format!(
        "#!/usr/bin/env bash\ncase \"$*\" in {lie}) exit 0 ;; esac\nexec '{COOK}' \"$@\"\n"
    );
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn a_cook_that_takes_everything_is_noticed() {
    let scratch = crate::support::room();
    smoke(&liar(&scratch, "'record regrounder'*"), &scratch)
        .exits(1)
        .says("surprise:");
}

#[test]
fn a_verify_that_always_passes_is_noticed() {
    let scratch = crate::support::room();
    smoke(&liar(&scratch, "'verify --strict'"), &scratch)
        .exits(1)
        .says("surprise: `cook verify --strict` ended with 0, not 1");
}
