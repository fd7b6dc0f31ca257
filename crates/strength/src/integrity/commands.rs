//! What names a check, what a command line runs, and whether its failure passes.

/// Programs and words that name a check, in settings as in a command.
const CHECKS: [&str; 43] = [
    "test",
    "tests",
    "check",
    "checks",
    "lint",
    "spec",
    "verify",
    "gate",
    "gates",
    "ci",
    "coverage",
    "pytest",
    "unittest",
    "tox",
    "nox",
    "mypy",
    "ruff",
    "flake8",
    "jest",
    "vitest",
    "mocha",
    "eslint",
    "tsc",
    "playwright",
    "cypress",
    "cargo",
    "clippy",
    "nextest",
    "ctest",
    "make",
    "npm",
    "pnpm",
    "yarn",
    "bats",
    "prove",
    "rspec",
    "phpunit",
    "gradle",
    "gradlew",
    "mvn",
    "go",
    "rake",
    "shellcheck",
];
/// Programs that run checks too; in settings their names say versions.
const RUNNERS: [&str; 6] = ["node", "dotnet", "mix", "swift", "deno", "bun"];

/// Commands whose failure says nothing of the work.
const HARMLESS: [&str; 40] = [
    "rm",
    "rmdir",
    "kill",
    "pkill",
    "killall",
    "wait",
    "mkdir",
    "cd",
    "popd",
    "pushd",
    "umount",
    "docker",
    "podman",
    "command",
    "which",
    "type",
    "grep",
    "egrep",
    "read",
    "unset",
    "trap",
    "stty",
    "tput",
    "mv",
    "ln",
    "cat",
    "head",
    "tail",
    "pip",
    "apt-get",
    "git",
    "systemctl",
    "launchctl",
    "stat",
    "chmod",
    "chown",
    "ulimit",
    "source",
    "disown",
    "sudo",
];

/// A line of settings names a check.
pub fn names_check(line: &str) -> bool {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .any(|word| CHECKS.contains(&word))
}

/// The line runs a check.
pub(super) fn runs_check(line: &str) -> bool {
    line.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')))
        .any(|word| CHECKS.contains(&word) || RUNNERS.contains(&word))
}

/// A program of tests stands first, and is told to test.
fn runs_tests(command: &str) -> bool {
    const PROGRAMS: [&str; 12] = [
        "cargo", "go", "npm", "npx", "pnpm", "yarn", "make", "pytest", "python", "python3", "bats",
        "tox",
    ];
    let mut words = command.split_whitespace();
    let first = words.next().unwrap_or_default();
    PROGRAMS.contains(&first)
        && (matches!(first, "pytest" | "bats" | "tox")
            || words.any(|word| {
                let word = word.trim_end_matches([')', '"', ';']);
                matches!(
                    word,
                    "test" | "check" | "clippy" | "lint" | "vet" | "pytest" | "nextest"
                )
            }))
}

/// `COMMAND || true` and its like, where the command could say something.
pub(super) fn or_passes(line: &str) -> bool {
    let Some((command, rest)) = line.rsplit_once("||") else {
        return false;
    };
    let rest = rest
        .trim()
        .trim_end_matches(['"', '\'', ',', ';', ')', '`'])
        .trim_end();
    let word = rest.split([' ', ';']).next().unwrap_or_default();
    let passes = matches!(
        rest,
        "true" | ":" | "exit 0" | "return 0" | "/bin/true" | "(exit 0)" | "continue" | "exit"
    ) || matches!(word, "echo" | "printf" | "warn" | "log")
        && !rest.contains("exit")
        && !rest.contains("return")
        && !rest.contains("failed")
        && !rest.contains("=1")
        || rest.starts_with("{ true")
        || rest.starts_with("{ :")
        || rest.starts_with("{ echo")
            && !rest.contains("exit")
            && !rest.contains("=")
            && !rest.contains("return");
    if !passes {
        return false;
    }
    // Within `$( … )` only a value is read, and a test as condition decides nothing else.
    let value = ["=$(", "=\"$(", "=`"]
        .iter()
        .find_map(|begin| command.split_once(begin));
    if let Some((_, inner)) = value {
        return runs_tests(inner);
    }
    if command.trim_start().starts_with('[') && !command.contains(';') {
        return false;
    }
    !is_harmless(command)
}

/// The last command of these words is one whose failure says nothing.
pub fn is_harmless(command: &str) -> bool {
    let own = command.rsplit("&&").next().unwrap_or(command);
    let own = own.rsplit(';').next().unwrap_or(own);
    let mut words = own.split_whitespace().skip_while(|word| {
        matches!(
            *word,
            "-" | "run:" | "-run:" | "sudo" | "@" | "then" | "do" | "{" | "!" | "if"
        ) || word.contains('=') && !word.starts_with('-')
            || word.ends_with(':')
    });
    let first = words
        .next()
        .unwrap_or_default()
        .trim_start_matches(['@', '-', '"', '\'', '(']);
    let first = first.rsplit('/').next().unwrap_or(first);
    let second = words.next().unwrap_or_default();
    match first {
        "docker" | "podman" => !matches!(second, "run" | "exec" | "build" | "compose"),
        "git" => !matches!(second, "diff"),
        "grep" | "egrep" | "cat" | "head" | "tail" => true,
        _ => HARMLESS.contains(&first),
    }
}
