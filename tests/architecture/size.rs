//! No source file is longer than what one can keep in mind: lines of code, without comments,
//! blank lines and tests.

use crate::source::{root, rust_files, strip_comments, strip_tests, test_only_files};
use std::path::Path;

/// Lines of code that a file may have.
const MOST_LINES: usize = 400;

/// Lines that hold code which is not for tests alone.
fn count_lines_of_code(source: &str) -> usize {
    let (code, _) = strip_tests(&strip_comments(source));
    code.lines().filter(|line| !line.trim().is_empty()).count()
}

/// Files below these directories that are too long, by their place in the repository.
fn too_long(directories: &[&str]) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for directory in directories {
        let files = rust_files(&root().join(directory));
        let test_only = test_only_files(&files);
        let for_tests =
            |file: &Path| test_only.contains(file) || describe_place(file).contains("/tests/");
        for file in files.iter().filter(|file| !for_tests(file)) {
            let lines = count_lines_of_code(&std::fs::read_to_string(file).unwrap());
            if lines > MOST_LINES {
                found.push((describe_place(file), lines));
            }
        }
    }
    found
}

/// A file's place in the repository, with `/` on every system.
pub fn describe_place(file: &Path) -> String {
    let inside = file.strip_prefix(root()).unwrap().components();
    let parts: Vec<_> = inside
        .map(|part| part.as_os_str().to_str().unwrap())
        .collect();
    parts.join("/")
}

#[test]
fn no_file_is_too_long() {
    let found = too_long(&["src", "crates"]);
    assert!(
        found.is_empty(),
        "over {MOST_LINES} lines of code: {found:#?}"
    );
}

#[test]
fn lines_of_code_are_counted_without_comments_blank_lines_and_tests() {
    let source =
        "//! What it is for.\n\n/// A text.\nconst A: &str = \"\n// one\n\ntwo\";\n/* a\nb */\n";
    assert_eq!(count_lines_of_code(source), 4);
    let tests = "#[cfg(test)]\nmod tests {\n    fn f() {}\n}\n";
    assert_eq!(
        count_lines_of_code(&format!("{source}{tests}fn g() {{}}\n")),
        5
    );
    assert_eq!(
        count_lines_of_code(&"fn f() {}\n".repeat(MOST_LINES + 1)),
        401
    );
}
