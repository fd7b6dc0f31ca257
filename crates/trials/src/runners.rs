//! Test runners as data: where their tests and settings stand, and how one is told which files to run.

/// A runner, or a family of runners that share their habits.
#[derive(Debug, Clone, Copy)]
pub struct Runner {
    /// Its usual name.
    pub name: &'static str,
    /// How the names of its sources end.
    pub ends: &'static [&'static str],
    /// Names of files that hold its tests; `*` stands for any characters.
    pub tests: &'static [&'static str],
    /// Where its settings stand.
    pub settings: &'static [Setting],
    /// The beginnings of a command that calls it, and how files are named there.
    pub calls: &'static [Call],
    /// Files at the root that would take the place of the runner itself.
    pub shadows: &'static [&'static str],
}

/// A file that holds settings of a runner.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The file's name, or the end of its path; `*` stands for any characters.
    pub file: &'static str,
    /// Which part of it.
    pub part: Part,
}

/// What of a file are settings of a runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// Tables of TOML or sections of INI whose headings begin so.
    Sections(&'static [&'static str]),
    /// Keys of a JSON object.
    Keys(&'static [&'static str]),
}

/// A beginning of a command.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// Its words.
    pub words: &'static [&'static str],
    /// How files are named.
    pub by: By,
    /// Options without a value of their own that may stand there: behind any other one, a word that
    /// names nothing of the tree may be its value.
    pub flags: &'static [&'static str],
}

/// How files are named to a runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// As arguments behind the others, in the place of paths that are named there.
    Paths,
    /// As packages, a directory each, in the place of `./...`.
    GoPackages,
    /// As `--test NAME`, with `-p PACKAGE` in a workspace.
    CargoTests,
}

const PYTEST_FLAGS: &[&str] = &[
    "-q", "-qq", "-v", "-vv", "-x", "-s", "-l", "-ra", "-rA", "-rf", "-W",
];
const JS_FLAGS: &[&str] = &[
    "run",
    "--run",
    "--ci",
    "--coverage",
    "--silent",
    "--verbose",
];

macro_rules! setting {
    ($($file:literal),*) => { &[$(Setting { file: $file, part: Part::Whole }),*] };
}

/// All of them.
pub const RUNNERS: &[Runner] = &[
    Runner {
        name: "pytest",
        ends: &[".py"],
        tests: &["test_*.py", "*_test.py", "tests.py"],
        settings: &[
            Setting {
                file: "pytest.ini",
                part: Part::Whole,
            },
            Setting {
                file: ".pytest.ini",
                part: Part::Whole,
            },
            Setting {
                file: "pytest.toml",
                part: Part::Whole,
            },
            Setting {
                file: ".pytest.toml",
                part: Part::Whole,
            },
            Setting {
                file: "pyproject.toml",
                part: Part::Sections(&["tool.pytest", "tool.tox"]),
            },
            Setting {
                file: "setup.cfg",
                part: Part::Sections(&["tool:pytest"]),
            },
            Setting {
                file: "tox.ini",
                part: Part::Whole,
            },
            Setting {
                file: "noxfile.py",
                part: Part::Whole,
            },
        ],
        calls: &[
            Call {
                words: &["pytest"],
                by: By::Paths,
                flags: PYTEST_FLAGS,
            },
            Call {
                words: &["py.test"],
                by: By::Paths,
                flags: PYTEST_FLAGS,
            },
            Call {
                words: &["python", "-m", "pytest"],
                by: By::Paths,
                flags: PYTEST_FLAGS,
            },
        ],
        shadows: &[
            "pytest.py",
            "pytest/*",
            "_pytest/*",
            "unittest.py",
            "unittest/*",
            "sitecustomize.py",
            "usercustomize.py",
        ],
    },
    Runner {
        name: "jest",
        ends: &[".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"],
        tests: &[
            "*.test.js",
            "*.test.jsx",
            "*.test.ts",
            "*.test.tsx",
            "*.test.mjs",
            "*.test.cjs",
            "*.test.mts",
            "*.test.cts",
            "*.spec.js",
            "*.spec.jsx",
            "*.spec.ts",
            "*.spec.tsx",
            "*.spec.mjs",
            "*.spec.cjs",
            "*.spec.mts",
            "*_test.js",
            "*_test.ts",
            "*-test.js",
            "*-test.ts",
            "test.js",
            "test.mjs",
            "test.cjs",
            "test.ts",
        ],
        settings: &[
            Setting {
                file: "package.json",
                part: Part::Keys(&["jest", "mocha", "ava", "tap", "vitest"]),
            },
            Setting {
                file: "jest.config.*",
                part: Part::Whole,
            },
            Setting {
                file: "vitest.config.*",
                part: Part::Whole,
            },
            Setting {
                file: "vitest.workspace.*",
                part: Part::Whole,
            },
            Setting {
                file: "vite.config.*",
                part: Part::Whole,
            },
            Setting {
                file: ".mocharc.*",
                part: Part::Whole,
            },
            Setting {
                file: "ava.config.*",
                part: Part::Whole,
            },
            Setting {
                file: ".taprc",
                part: Part::Whole,
            },
            Setting {
                file: "playwright.config.*",
                part: Part::Whole,
            },
            Setting {
                file: "karma.conf.*",
                part: Part::Whole,
            },
            Setting {
                file: "deno.json",
                part: Part::Keys(&["test"]),
            },
            Setting {
                file: "bunfig.toml",
                part: Part::Sections(&["test"]),
            },
        ],
        calls: &[
            Call {
                words: &["jest"],
                by: By::Paths,
                flags: JS_FLAGS,
            },
            Call {
                words: &["vitest", "run"],
                by: By::Paths,
                flags: JS_FLAGS,
            },
            Call {
                words: &["mocha"],
                by: By::Paths,
                flags: &[],
            },
            Call {
                words: &["node", "--test"],
                by: By::Paths,
                flags: &[],
            },
            Call {
                words: &["bun", "test"],
                by: By::Paths,
                flags: &[],
            },
            Call {
                words: &["deno", "test"],
                by: By::Paths,
                flags: &["-A", "--allow-all"],
            },
        ],
        shadows: &[],
    },
    Runner {
        name: "cargo",
        ends: &[".rs"],
        tests: &["tests.rs", "test.rs", "*_test.rs", "*_tests.rs"],
        settings: &[
            Setting {
                file: "Cargo.toml",
                part: Part::Sections(&["[test]", "profile.test"]),
            },
            Setting {
                file: ".cargo/config.toml",
                part: Part::Whole,
            },
            Setting {
                file: ".cargo/config",
                part: Part::Whole,
            },
            Setting {
                file: ".config/nextest.toml",
                part: Part::Whole,
            },
        ],
        calls: &[
            Call {
                words: &["cargo", "test"],
                by: By::CargoTests,
                flags: &[],
            },
            Call {
                words: &["cargo", "nextest", "run"],
                by: By::CargoTests,
                flags: &[],
            },
        ],
        shadows: &[],
    },
    Runner {
        name: "go",
        ends: &[".go"],
        tests: &["*_test.go"],
        settings: &[],
        calls: &[Call {
            words: &["go", "test"],
            by: By::GoPackages,
            flags: &["-v", "-race", "-cover"],
        }],
        shadows: &[],
    },
    Runner {
        name: "ruby",
        ends: &[".rb"],
        tests: &["*_spec.rb", "*_test.rb", "test_*.rb"],
        settings: setting![".rspec"],
        calls: &[Call {
            words: &["rspec"],
            by: By::Paths,
            flags: &[],
        }],
        shadows: &[],
    },
    Runner {
        name: "jvm",
        ends: &[".java", ".kt", ".scala", ".groovy", ".cs", ".swift"],
        tests: &[
            "*Test.java",
            "*Tests.java",
            "*IT.java",
            "*Test.kt",
            "*Tests.kt",
            "*Spec.scala",
            "*Spec.groovy",
            "*Tests.cs",
            "*Test.cs",
            "*Tests.swift",
            "*Test.swift",
        ],
        settings: &[],
        calls: &[],
        shadows: &[],
    },
    Runner {
        name: "phpunit",
        ends: &[".php"],
        tests: &["*Test.php"],
        settings: setting!["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"],
        calls: &[],
        shadows: &[],
    },
    Runner {
        name: "others",
        ends: &[".bats", ".t"],
        tests: &[
            "*.bats",
            "*.t",
            "*_test.exs",
            "*_test.c",
            "*_test.cc",
            "*_test.cpp",
            "test_*.c",
            "test_*.cc",
            "test_*.cpp",
            "*_test.dart",
            "*_test.lua",
            "*_spec.lua",
            "test_*.sh",
            "*_test.sh",
            "test.sh",
            "tests.*",
        ],
        settings: setting![".proverc", ".busted"],
        calls: &[
            Call {
                words: &["bats"],
                by: By::Paths,
                flags: &["-r", "--tap"],
            },
            Call {
                words: &["prove"],
                by: By::Paths,
                flags: &["-v", "-l", "-lv"],
            },
        ],
        shadows: &[],
    },
];

/// Programs behind which a runner is called as if they were not there.
pub const WRAPPERS: &[&[&str]] = &[
    &["npx"],
    &["bundle", "exec"],
    &["uv", "run"],
    &["poetry", "run"],
    &["pnpm", "exec"],
    &["yarn"],
];

/// Whether a text is what a pattern says, in which `*` stands for any characters.
pub fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn stars_stand_for_any_characters() {
        for (pattern, text, expected) in [
            ("test_*.py", "test_a.py", true),
            ("test_*.py", "test_.py", true),
            ("test_*.py", "tests.py", false),
            ("*.t", "a.t", true),
            ("a*a", "a", false),
            ("tests.py", "tests.py", true),
            ("tests.py", "tests.pyc", false),
            ("a/*/b*", "a/x/bc", true),
            ("*", "", true),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }
}
