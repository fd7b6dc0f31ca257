//! Files of this tree that a test makes from the code: compared, or written again.
#![allow(dead_code, clippy::unwrap_used)]

use std::path::Path;

/// What `just update` runs. Each test that makes a file has `generated` in its name.
pub const COMMAND: &str =
    "COOK_UPDATE=1 INSTA_UPDATE=always cargo test --test all --test exploration generated";

/// Whether the files are written again.
pub fn is_update() -> bool {
    std::env::var_os("COOK_UPDATE").is_some()
}

/// The file, below the root of the package, holds this text.
#[track_caller]
pub fn compare(path: &str, wanted: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let read = || std::fs::read_to_string(&file).unwrap_or_default();
    // Only what differs: cargo would build again whatever includes the file.
    if is_update() && read() != wanted {
        std::fs::write(&file, wanted).unwrap();
    }
    let found = read();
    assert!(found == wanted, "{}", stale(path));
}

/// What to do about a file that is not what the code makes.
pub fn stale(path: &str) -> String {
    format!("`{path}` is stale: run `just update`, which is `{COMMAND}`")
}
