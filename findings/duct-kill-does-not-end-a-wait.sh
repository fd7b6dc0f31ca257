#!/usr/bin/env bash
# One would guess that a command started with the Rust library duct has ended when its process has, and that `kill`
# followed by `wait` returns at once. Where the command left a child in the background that holds the captured output,
# `wait_timeout` says that the command still runs, `kill` answers Ok and ends nothing, and `wait` returns only when that
# child ends by itself: a time limit built on them does not hold.
# Seen with duct 1.1.2 on Linux. Exit code 1: it is otherwise now; 77: it could not be had.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "waits"
version = "0.0.0"
edition = "2021"
[dependencies]
duct = "=1.1.2"
TOML
cat >src/main.rs <<'RUST'
use std::time::{Duration, Instant};
fn main() {
    let command = duct::cmd!("sh", "-c", "sleep 6 & echo done");
    let handle = command.stdout_capture().start().unwrap();
    let ended = handle.wait_timeout(Duration::from_secs(2)).unwrap().is_some();
    println!("wait_timeout of 2 s: ended = {ended}");
    println!("kill: {:?}", handle.kill());
    let since = Instant::now();
    let output = handle.wait().unwrap();
    let waited = since.elapsed().as_secs_f64() > 2.0;
    println!("wait: {:?}, longer than 2 s = {waited}", String::from_utf8_lossy(&output.stdout));
}
RUST
CARGO_TARGET_DIR=$work/target cargo build --quiet >/dev/null 2>&1 || exit 77
echo 'duct 1.1.2'
timeout 60 target/debug/waits | tee seen | sed 's/^/    /'
grep -q 'ended = false' seen
grep -q 'kill: Ok' seen
grep -q '"done\\n", longer than 2 s = true' seen
