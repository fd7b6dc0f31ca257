//! A file's place in the repository, as the tests of the shape name it.

use super::source::root;
use std::path::Path;

/// A file's place in the repository, with `/` on every system.
pub fn describe_place(file: &Path) -> String {
    let inside = file.strip_prefix(root()).unwrap().components();
    let parts: Vec<_> = inside
        .map(|part| part.as_os_str().to_str().unwrap())
        .collect();
    parts.join("/")
}
