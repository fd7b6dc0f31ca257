//! Exit codes that go unseen: in gate scripts, build files and settings of CI.

use super::bare;
use super::commands::{is_harmless, or_passes, runs_check};
use super::status;
use crate::class::{Class, Edited};
use crate::language::Language;
use std::collections::BTreeMap;

/// What lets a failure pass by itself.
const PLAIN: [&str; 17] = [
    "success_codes=[0,1",
    "continue-on-error:true",
    "continueOnError:true",
    "allow_failure:true",
    "--passWithNoTests",
    "--no-fail-on-empty",
    "ignoreFailures=true",
    "ignoreFailures.set(true)",
    "<testFailureIgnore>true",
    "maven.test.failure.ignore",
    "-fae-fn",
    "--exit-zero",
    "--continue-on-collection-errors",
    "check=False",
    "abortOnError=false",
    "failOnError=false",
    "ignore_outcome=true",
];

/// Lines of a script or of settings that let a failure pass and are new, from 1.
pub(super) fn new_swallows(path: &str, before: &str, after: &str) -> Vec<(usize, String)> {
    let (was, is) = (Script::read(path, before), Script::read(path, after));
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for (_, line) in was.swallows() {
        *known.entry(dense(&line)).or_default() += 1;
    }
    let mut found: Vec<(usize, String)> = is
        .swallows()
        .into_iter()
        .filter(|(_, line)| match known.get_mut(&dense(line)) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => true,
        })
        .collect();
    if !before.is_empty() && !after.is_empty() {
        found.extend(is.find_lost(&was));
        if is.language == Language::Shell && was.language == Language::Shell {
            found.extend(status::find_unseen(
                &was.lines,
                &is.lines,
                is.ends_on_error(),
            ));
        }
    }
    found.sort();
    found.dedup_by_key(|(line, _)| *line);
    found
}

/// A program of tests that ended with what came out, and ends well now whatever did: `os.Exit(0)`.
pub(super) fn find_lost_end(edit: &Edited) -> Option<(usize, String)> {
    let (before, after) = edit.before.zip(edit.after)?;
    if edit.class != Class::Test || Language::of(edit.path, after) != Language::Go {
        return None;
    }
    let of = |text: &str, well: bool| {
        let lines = text.lines().enumerate();
        let ends = lines.filter(|(_, line)| {
            line.trim().starts_with("os.Exit(") && line.contains("os.Exit(0)") == well
        });
        ends.map(|(at, line)| (at + 1, line.trim().to_owned()))
            .collect::<Vec<_>>()
    };
    let fewer = of(after, false).len() < of(before, false).len();
    let well = of(after, true).into_iter().next();
    well.filter(|_| fewer && of(before, true).len() < of(after, true).len())
}

/// It runs what tests, and tests nothing by itself.
pub(super) fn is_runner(path: &str, text: &str) -> bool {
    const RUNNERS: [&str; 22] = [
        "bash", "sh", "zsh", ".", "source", "bats", "pytest", "python", "python3", "cargo", "go",
        "npm", "npx", "pnpm", "yarn", "make", "node", "jest", "ctest", "mvn", "gradle", "prove",
    ];
    let script = Script::read(path, text);
    script.lines.iter().any(|(_, line)| {
        let own = line
            .trim()
            .trim_start_matches("if ")
            .trim_start_matches("! ");
        let first = own.split_whitespace().next().unwrap_or_default();
        // `"$test"` of a loop.
        RUNNERS.contains(&first) || first.starts_with("\"$") && !first.contains('/')
    })
}

fn dense(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).collect()
}

struct Script<'a> {
    language: Language,
    is_make: bool,
    /// Lines with their numbers, without those that are nothing but comments.
    lines: Vec<(usize, &'a str)>,
    text: &'a str,
    /// What runs in the background is waited for by its own name, or ended.
    is_waited_for: bool,
}

impl<'a> Script<'a> {
    fn read(path: &str, text: &'a str) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
        let language = Language::of(path, text);
        let lines = text.lines().enumerate().filter(|(_, line)| {
            let line = line.trim();
            !(line.is_empty() || line.starts_with('#') || line.starts_with("//"))
        });
        let lines: Vec<(usize, &str)> = lines.map(|(at, line)| (at + 1, line)).collect();
        Self {
            language,
            is_make: name.ends_with("makefile") || name.ends_with(".mk"),
            is_waited_for: status::waits_for_one(&lines)
                || lines.iter().any(|(_, line)| line.contains("kill ")),
            lines,
            text,
        }
    }

    /// A failing command ends it.
    fn ends_on_error(&self) -> bool {
        let shebang = self.text.lines().next().unwrap_or_default();
        shebang.starts_with("#!")
            && shebang
                .split_whitespace()
                .any(|word| word.starts_with('-') && word.contains('e') && !word.starts_with("--"))
            || self.sets('e', "errexit")
    }

    fn sets(&self, flag: char, name: &str) -> bool {
        self.lines.iter().any(|(_, line)| {
            let mut words = line.split_whitespace().peekable();
            if words.next() != Some("set") {
                return false;
            }
            words.any(|word| {
                word == name && line.contains("-o")
                    || word.starts_with('-')
                        && word[1..].chars().all(char::is_alphabetic)
                        && word.contains(flag)
            })
        })
    }

    fn swallows(&self) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        for (place, (number, line)) in self.lines.iter().enumerate() {
            if self.swallows_in(place, line) {
                found.push((*number, line.trim().to_owned()));
            }
        }
        found
    }

    fn swallows_in(&self, place: usize, whole: &str) -> bool {
        let line = whole.trim();
        let packed = dense(line);
        if PLAIN.iter().any(|mark| packed.contains(mark)) {
            return true;
        }
        if line.starts_with("set +e")
            || line.contains("; set +e")
            || line.starts_with("set +o errexit")
            || line.starts_with("set +o pipefail")
        {
            return true;
        }
        if self.is_make
            && whole.starts_with('\t')
            && (line.starts_with('-') || line.starts_with("@-"))
        {
            return !is_harmless(line.trim_start_matches(['-', '@']));
        }
        if line.contains("trap") && line.contains("exit 0") {
            return true;
        }
        if or_passes(line) {
            return true;
        }
        let pipes =
            self.language == Language::Shell || self.is_make || self.language == Language::Other;
        if pipes && self.hides_in_pipe(line) {
            return true;
        }
        if line.ends_with('&') && !line.ends_with("&&") && runs_check(line) {
            return !self.is_waited_for;
        }
        let own = line
            .trim_end_matches([';', '"', '\'', ',', '}', ' '])
            .trim_end();
        let passes = ["; true", "; exit 0", "; :"]
            .iter()
            .find_map(|end| own.strip_suffix(end));
        if let Some(before) = passes {
            return runs_check(before);
        }
        let ends_well = match self.language {
            Language::Shell => matches!(line, "exit 0" | "exit" | "true" | ":" | "return 0"),
            Language::Python => matches!(
                line,
                "sys.exit(0)" | "sys.exit()" | "exit(0)" | "os._exit(0)"
            ),
            Language::JavaScript => matches!(
                line.trim_end_matches(';'),
                "process.exit(0)" | "process.exitCode = 0"
            ),
            _ => false,
        };
        let indented = whole.starts_with([' ', '\t']);
        let is_last = place + 1 == self.lines.len();
        // Where an error ends the script, its end is reached by what passed.
        ends_well
            && !indented
            && line != "return 0"
            && (!is_last || !self.ends_on_error())
            && (!is_last || self.is_checked_last(place))
    }

    /// The command before the end is a check, whose status would have been the script's.
    fn is_checked_last(&self, place: usize) -> bool {
        let before = place.checked_sub(1).and_then(|place| self.lines.get(place));
        before.is_some_and(|(_, line)| {
            let own = line.split("||").next().unwrap_or(line);
            !line.contains("exit")
                && (runs_check(own)
                    || line.trim() == "fi"
                    || line.trim() == "done"
                    || self.language != Language::Shell)
        })
    }

    fn hides_in_pipe(&self, line: &str) -> bool {
        let Some((check, rest)) = line.split_once(" | ") else {
            return false;
        };
        let to = rest.split_whitespace().next().unwrap_or_default();
        let passes = matches!(
            to,
            "tee" | "cat" | "tail" | "head" | "sed" | "awk" | "less" | "ts" | "sort"
        );
        let assigned = check
            .split_whitespace()
            .next()
            .is_some_and(|word| word.contains("=$("));
        passes
            && runs_check(check)
            && !assigned
            && !check.trim_start().starts_with("echo")
            && !self.text.contains("PIPESTATUS")
            && !self.text.contains("pipefail")
    }

    /// What ended it in failure and is not there any more.
    fn find_lost(&self, before: &Script) -> Option<(usize, String)> {
        let first = self.lines.first().map_or(1, |(number, _)| *number);
        if matches!(self.language, Language::Shell) {
            if before.ends_on_error()
                && !self.ends_on_error()
                && bare::runs_unseen(&before.lines, &self.lines)
            {
                return Some((first, "`set -e` is gone".to_owned()));
            }
            if before.ends_on_error()
                && !self.ends_on_error()
                && let Some(idle) = status::find_idle_count(&self.lines)
            {
                return Some(idle);
            }
            if before.text.contains("pipefail")
                && !self.text.contains("pipefail")
                && self.text.contains(" | ")
            {
                return Some((first, "`pipefail` is gone".to_owned()));
            }
        }
        let (was, is) = (before.failing_exits(), self.failing_exits());
        let gone: Vec<&(usize, String)> = was
            .iter()
            .filter(|(_, line)| !is.iter().any(|(_, other)| other == line))
            .collect();
        let lost = gone.first().filter(|_| is.len() < was.len())?;
        // Where nothing that could fail is gone with it, and errors end the script now, it may go.
        if self.ends_on_error() && !before.ends_on_error() {
            return None;
        }
        let conditions = |script: &Script| {
            script
                .lines
                .iter()
                .filter(|(_, line)| {
                    let line = line.trim_start();
                    line.starts_with("if ") || line.contains("||") || line.contains("exec ")
                })
                .count()
        };
        let by_variable = lost.1.contains('$');
        if !by_variable && conditions(self) < conditions(before) {
            return None;
        }
        if by_variable
            && self.lines.last().is_some_and(|(_, line)| {
                line.trim_start().starts_with("exec ")
                    || line.trim_start().starts_with("exit ") && line.contains('$')
            })
        {
            return None;
        }
        let near = self
            .lines
            .iter()
            .rev()
            .find(|(_, line)| line.contains("exit"))
            .map_or(first, |(number, _)| *number);
        Some((near, format!("`{}` is gone", lost.1)))
    }

    /// Lines that end it with something else than 0.
    fn failing_exits(&self) -> Vec<(usize, String)> {
        let marks: &[&str] = match self.language {
            Language::Shell => &["exit ", "return "],
            Language::Python => &["sys.exit(", "exit(", "check_call(", "check=True"],
            Language::JavaScript => &["process.exit(", "process.exitCode"],
            _ => return Vec::new(),
        };
        let zero = |line: &str| {
            ["exit 0", "return 0", "exit(0)", "exitCode = 0", "exit()"]
                .iter()
                .any(|mark| line.contains(mark))
        };
        let fails = self.lines.iter().filter(|(_, line)| {
            let raises = self.language == Language::Python && line.trim().starts_with("raise ");
            (raises || marks.iter().any(|mark| line.contains(mark))) && !zero(line)
        });
        fails
            .map(|(number, line)| (*number, line.trim().to_owned()))
            .collect()
    }
}
