//! Packing when cook dies: nobody writes beside the `git gc` that goes on.

use crate::crash::kinds;
use crate::support::workflow::{Sandbox, copy_tree, feed};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// A `git` that says when `gc` begins and ends, and takes its time in between.
const SLOW_GIT: &str = r#"#!/bin/sh
case " $* " in *" gc "*)
  echo began >"$HOME/began"
  sleep 1
  /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin git "$@"
  status=$?
  echo ended >"$HOME/ended"
  exit $status ;;
esac
PATH=/usr/local/bin:/usr/bin:/bin exec git "$@"
"#;

#[test]
fn the_lock_outlives_cook_while_git_packs() {
    let sandbox = Sandbox::new();
    let kinds = kinds::all(&sandbox);
    let kind = kinds.iter().find(|kind| kind.name == "packing").unwrap();
    let dir = sandbox.join("w");
    copy_tree(&kind.prepared, &dir);
    let bin = sandbox.join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::fs::write(bin.join("git"), SLOW_GIT).unwrap();
    std::fs::set_permissions(bin.join("git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());

    let mut command = kind.command(&sandbox, &dir);
    let mut cook = command.env("PATH", &path).spawn().unwrap();
    wait_for(&sandbox.join("home/began"));
    cook.kill().unwrap();
    cook.wait().unwrap();
    assert!(
        !sandbox.join("home/ended").exists(),
        "cook died while git packed"
    );

    let output = feed(sandbox.cook(&dir).args(["resume", "--as-user"]), "");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        sandbox.join("home/ended").exists(),
        "a writer went on beside git gc"
    );
    sandbox.run(&dir, &["doctor", "fsck"], "", 0);
}

fn wait_for(path: &Path) {
    let started = Instant::now();
    while !path.exists() {
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "{} is awaited",
            path.display()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}
