//! What is left when a transition is interrupted: by a signal or an I/O error at
//! every system call, or by a power cut at every point where data became durable.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout)]

mod kinds;
#[path = "../workflow/mod.rs"]
mod workflow;

use workflow::Sandbox;

#[test]
fn kinds_build() {
    let sandbox = Sandbox::new();
    for kind in kinds::all(&sandbox) {
        println!("{} {:?}", kind.name, kind.after.seq);
    }
}
