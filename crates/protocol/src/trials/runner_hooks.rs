//! Small hooks in runners, enabled by environment variables: each appends a record for every test to a file
//! outside the tree. A project's own reporters and reports stay.

/// A file that is written for the hooks.
#[derive(Debug, Clone, Copy)]
pub struct HookFile {
    /// Path relative to the directory of the hooks.
    pub path: &'static str,
    /// Its content.
    pub text: &'static str,
}

/// Paths as the command that is run sees them.
#[derive(Debug, Clone, Copy)]
pub struct HookPlaces<'a> {
    /// The directory with the files of [`files`].
    pub hooks: &'a str,
    /// The file that records are appended to. The directory of [`name_gtest_dir`] is beside it.
    pub records: &'a str,
    /// The root of the tree that the command runs in.
    pub root: &'a str,
}

macro_rules! hook_files {
    ($($path:literal),* $(,)?) => {
        &[$(HookFile { path: $path, text: include_str!(concat!("../../hooks/", $path)) }),*]
    };
}

static FILES: &[HookFile] = hook_files![
    "python/sitecustomize.py",
    "python/trial_record.py",
    "python/trial_pytest.py",
    "python/trial_unittest.py",
    "node/trial.cjs",
    "node/record.cjs",
    "node/node_test.cjs",
    "node/jest.cjs",
    "node/mocha.cjs",
    "node/vitest.cjs",
    "node/playwright.cjs",
    "perl/Trial/Harness.pm",
    "ruby/trial_record.rb",
    "ruby/trial_rspec.rb",
    "ruby/minitest/trial_plugin.rb",
];

/// The separator of directories in a variable.
const SEPARATOR: &str = if cfg!(windows) { ";" } else { ":" };

/// All files of the hooks.
pub fn files() -> &'static [HookFile] {
    FILES
}

/// The directory beside the file of records in which googletest writes a JUnit XML file for each test program.
pub fn name_gtest_dir(records: &str) -> String {
    format!("{records}.gtest")
}

/// Variables for a command, with their whole values. `existing` returns those that it has already, which are added
/// to or left, but not replaced.
pub fn variables(
    places: &HookPlaces,
    existing: impl Fn(&str) -> Option<String>,
) -> Vec<(String, String)> {
    let present = |name: &str| existing(name).filter(|value| !value.trim().is_empty());
    let in_hooks = |path: &str| format!("{}/{path}", places.hooks);
    let before = |name: &str, directory: String| match present(name) {
        Some(value) => format!("{directory}{SEPARATOR}{value}"),
        None => directory,
    };
    let after = |name: &str, words: &str| match present(name) {
        Some(value) => format!("{value} {words}"),
        None => words.to_owned(),
    };

    let node = format!("--require {}", quote_for_node(&in_hooks("node/trial.cjs")));
    let rspec = format!(
        "--require {}",
        escape_for_shell(&in_hooks("ruby/trial_rspec.rb"))
    );
    let mut variables = vec![
        ("TRIAL_RECORDS", places.records.to_owned()),
        ("TRIAL_ROOT", places.root.to_owned()),
        ("PYTHONPATH", before("PYTHONPATH", in_hooks("python"))),
        ("NODE_OPTIONS", after("NODE_OPTIONS", &node)),
        ("RUBYLIB", before("RUBYLIB", in_hooks("ruby"))),
        ("SPEC_OPTS", after("SPEC_OPTS", &rspec)),
    ];
    if !present("GOFLAGS").is_some_and(|flags| shows_go_tests(&flags)) {
        // `-v` would also make `go build`, `go run` and `go vet` print names of packages.
        variables.push(("GOFLAGS", after("GOFLAGS", "-test.v")));
    }
    // Each of these names one place, so that a user's own value stays.
    let alone = [
        ("PW_TEST_REPORTER", in_hooks("node/playwright.cjs")),
        (
            "GTEST_OUTPUT",
            format!("xml:{}/", name_gtest_dir(places.records)),
        ),
    ];
    variables.extend(
        alone
            .into_iter()
            .filter(|(name, _)| present(name).is_none()),
    );
    // Words in Perl's variable end at a space, even within quotes.
    if !places.hooks.contains(char::is_whitespace) {
        let perl = format!("-I{} -MTrial::Harness", in_hooks("perl"));
        variables.push(("PERL5OPT", after("PERL5OPT", &perl)));
    }
    variables.push((
        "TOX_OVERRIDE",
        match present("TOX_OVERRIDE") {
            Some(value) => format!("{value};{TOX_PASSES}"),
            None => TOX_PASSES.to_owned(),
        },
    ));
    variables
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// What tox must pass on, because it starts its commands in an environment of its own. The sections of an INI file
/// and of a TOML file have different names.
const TOX_PASSES: &str = concat!(
    "testenv.pass_env+=PYTHONPATH,TRIAL_RECORDS,TRIAL_ROOT;",
    "env_run_base.pass_env+=PYTHONPATH,TRIAL_RECORDS,TRIAL_ROOT"
);

fn shows_go_tests(flags: &str) -> bool {
    flags.split_whitespace().any(|flag| {
        let name = flag.trim_start_matches('-').split('=').next();
        matches!(name, Some("v" | "test.v" | "json"))
    })
}

/// Quotes a path for `NODE_OPTIONS`: in double quotes, with a backslash before `"` and `\`.
fn quote_for_node(path: &str) -> String {
    format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Writes a path as one word of a shell command, with a backslash before each special character.
fn escape_for_shell(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c) || !c.is_ascii();
    path.chars()
        .flat_map(|c| (!is_plain(c)).then_some('\\').into_iter().chain([c]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const PLACES: HookPlaces = HookPlaces {
        hooks: "/a b/hooks",
        records: "/r/records",
        root: "/tree",
    };

    fn ask(existing: &[(&str, &str)]) -> BTreeMap<String, String> {
        let existing: BTreeMap<_, _> = existing.iter().copied().collect();
        let own = |name: &str| existing.get(name).map(|value| (*value).to_owned());
        let given = variables(&PLACES, own);
        let count = given.len();
        let by_name: BTreeMap<_, _> = given.into_iter().collect();
        assert_eq!(by_name.len(), count, "a variable is given twice");
        by_name
    }

    #[test]
    fn without_own_values_each_stands_alone() {
        let given = ask(&[("GOFLAGS", ""), ("PYTHONPATH", "")]);
        assert_eq!(given["PYTHONPATH"], "/a b/hooks/python");
        assert_eq!(
            given["NODE_OPTIONS"],
            "--require \"/a b/hooks/node/trial.cjs\""
        );
        assert_eq!(
            given["SPEC_OPTS"],
            "--require /a\\ b/hooks/ruby/trial_rspec.rb"
        );
        assert_eq!(given["GOFLAGS"], "-test.v");
        assert_eq!(given["GTEST_OUTPUT"], "xml:/r/records.gtest/");
        assert_eq!(given["TRIAL_ROOT"], "/tree");
        assert!(!given.contains_key("PERL5OPT"), "its words end at spaces");
    }

    #[test]
    fn perl_is_asked_where_no_space_is_in_the_way() {
        let places = HookPlaces {
            hooks: "/hooks",
            ..PLACES
        };
        let given = variables(&places, |name| {
            (name == "PERL5OPT").then(|| "-MDevel::Cover".to_owned())
        });
        let value = "-MDevel::Cover -I/hooks/perl -MTrial::Harness".to_owned();
        assert!(given.contains(&("PERL5OPT".to_owned(), value)));
    }

    #[test]
    fn own_values_are_added_to() {
        let given = ask(&[
            ("PYTHONPATH", "src"),
            ("NODE_OPTIONS", "--max-old-space-size=4096"),
            ("RUBYLIB", "lib"),
            ("SPEC_OPTS", "--format documentation"),
            ("GOFLAGS", "-mod=vendor"),
            ("TOX_OVERRIDE", "testenv.skip_install=true"),
        ]);
        assert_eq!(
            given["PYTHONPATH"],
            format!("/a b/hooks/python{SEPARATOR}src")
        );
        assert_eq!(given["RUBYLIB"], format!("/a b/hooks/ruby{SEPARATOR}lib"));
        assert!(given["NODE_OPTIONS"].starts_with("--max-old-space-size=4096 --require "));
        assert!(given["SPEC_OPTS"].starts_with("--format documentation --require "));
        assert_eq!(given["GOFLAGS"], "-mod=vendor -test.v");
        assert!(given["TOX_OVERRIDE"].starts_with("testenv.skip_install=true;testenv.pass_env+="));
    }

    #[test]
    fn one_that_names_a_place_is_left_to_its_owner() {
        let given = ask(&[
            ("PW_TEST_REPORTER", "/own"),
            ("GTEST_OUTPUT", "json"),
            ("GOFLAGS", "-tags=x -v=true"),
        ]);
        for name in ["PW_TEST_REPORTER", "GTEST_OUTPUT", "GOFLAGS"] {
            assert!(!given.contains_key(name), "{name}");
        }
    }

    #[test]
    fn what_variables_name_is_laid_down() {
        for value in ask(&[]).values() {
            for file in value.split("/a b/hooks/").skip(1) {
                let path = file.trim_end_matches('"');
                assert!(
                    FILES.iter().any(|one| one.path.starts_with(path)),
                    "{path} is not laid down"
                );
            }
        }
    }
}
