//! Splits commands into words, and finds the programs that they start.

use crate::disk::{self, Links};
use cook_protocol::diagnostic::Failure;
use cook_protocol::digest::hex;
use cook_protocol::model::{Program, check_command};
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::Path;

/// Shell built-ins.
const BUILT_IN: [&str; 22] = [
    ".", ":", "[", "cd", "command", "echo", "eval", "exec", "exit", "export", "false", "printf",
    "pwd", "read", "set", "shift", "source", "test", "trap", "true", "unset", "wait",
];
/// Operators that join commands.
const JOINTS: [&str; 4] = ["&&", "||", ";", "|"];

/// The programs that a command starts, including those in the script of `sh -c` if it consists of plain commands.
/// Relative paths are left out: they belong to the repository or its setup.
pub(super) fn list_programs(command: &str) -> Vec<String> {
    let argv = words(command).unwrap_or_default();
    let mut found: Vec<String> = argv.first().cloned().into_iter().collect();
    if let [shell, option, script, ..] = &argv[..]
        && matches!(shell.as_str(), "bash" | "sh")
        && option.starts_with('-')
        && option.ends_with('c')
    {
        found.extend(of_script(script));
    }
    found.retain(|word| !word.contains('/') || word.starts_with('/'));
    found
}

/// Empty if the script is more than plain commands, because it may define the names that it calls.
fn of_script(script: &str) -> Vec<String> {
    if script.contains(['$', '`', '(', ')', '{', '\n', '<', '>', '*']) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut begins = true;
    // Blanks around `;`, because `shell_words` does not split there.
    for word in shell_words::split(&script.replace(';', " ; ")).unwrap_or_default() {
        if JOINTS.contains(&word.as_str()) {
            begins = true;
        } else if begins && !word.contains('=') {
            begins = false;
            found.push(word);
        }
    }
    let is_plain = |word: &String| {
        !matches!(
            word.as_str(),
            "if" | "for" | "while" | "until" | "case" | "function" | "!" | "alias"
        )
    };
    if !found.iter().all(is_plain) {
        return Vec::new();
    }
    found.retain(|word| !BUILT_IN.contains(&word.as_str()));
    found
}

/// A program file with its SHA-256 digest; `None` if it cannot be read.
pub(super) fn identify(file: &Path) -> Option<Program> {
    let mut bytes = disk::open_regular(file, Links::Follow).ok()??;
    let mut digest = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match bytes.read(&mut piece).ok()? {
            0 => break,
            read => digest.update(&piece[..read]),
        }
    }
    Some(Program {
        path: file.display().to_string(),
        sha256: hex(&digest.finalize()),
    })
}

/// Splits a command into words as a shell would. Shell operators are refused, because no shell runs the command.
///
/// # Errors
/// When a quote is open, there is no word, or a shell operator is outside of quotes.
pub fn words(command: &str) -> Result<Vec<String>, Failure> {
    check_command(command).map_err(refuse_words)?;
    split(command)
}

/// Splits a command that is not run: an older trust list may contain shell operators.
///
/// # Errors
/// When a quote is open or there is no word.
pub(super) fn split(command: &str) -> Result<Vec<String>, Failure> {
    match shell_words::split(command) {
        Ok(words) if words.first().is_some_and(|word| !word.is_empty()) => Ok(words),
        _ => Err(refuse_words(format!(
            "`{command}` has no words, or an open quote"
        ))),
    }
}

fn refuse_words(why: String) -> Failure {
    Failure::usage(why).replace_hints(["name a program and what it is given"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_told_from_plain_words() {
        for (command, programs) in [
            ("cargo test", &["cargo"][..]),
            ("./gradlew check", &[]),
            ("/opt/tool run", &["/opt/tool"]),
            (
                "sh -c 'cmake -B out && A=1 ctest; cd x | wc'",
                &["sh", "cmake", "ctest", "wc"],
            ),
            ("bash -ec 'if x; then y; fi'", &["bash"]),
            ("bash -c 'x() { y; }; x'", &["bash"]),
            ("bash run.sh", &["bash"]),
            ("'open", &[]),
        ] {
            assert_eq!(list_programs(command), programs, "{command}");
        }
    }

    #[test]
    fn what_only_a_shell_does_is_no_command() {
        for command in [
            "a && b", "a | b", "a; b", "a >b", "a $(b)", "a `b`", "a &", "'a", "",
        ] {
            assert!(words(command).is_err(), "{command}");
        }
        assert_eq!(
            words("a '&&' \"b | c\" d\\;").unwrap(),
            ["a", "&&", "b | c", "d;"]
        );
        assert_eq!(words("sh -c 'a && b'").unwrap().len(), 3);
    }
}
