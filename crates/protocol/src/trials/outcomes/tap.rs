//! Reads the Test Anything Protocol.

use super::found::TestResult::{Failed, Passed, Skipped};
use super::found::{
    Again, Found, Reader, TestResult, indent_of, is_script, is_time, number_before,
};
use std::collections::BTreeMap;

/// Counts of the lines at one depth. Lines of subtests are indented.
#[derive(Default)]
struct Depth {
    versions: u64,
    plans: u64,
    planned: u64,
    told: u64,
}

#[derive(Default)]
pub(super) struct Tap {
    /// Whether the runner is known to be node's.
    is_node: bool,
    /// `# Subtest: title`, outermost first, with the indentation of each.
    subtests: Vec<(usize, String)>,
    depths: BTreeMap<usize, Depth>,
    gives_up: bool,
    /// The last test, if it failed. `is_error` means that its reason is on the next line.
    failed: Option<usize>,
    is_error: bool,
    is_yaml: bool,
    /// The index of the first result of a file that is itself a subtest.
    file_start: usize,
    /// Whether the line above gave the version.
    is_begun: bool,
    /// A comment that names the test of the assertions below it, as tape writes it, and the index of that test.
    group: Option<(String, Option<usize>)>,
}

impl Reader for Tap {
    fn read(&mut self, line: &str, found: &mut Found) -> bool {
        let text = line.trim_start();
        let indent = indent_of(line);
        let is_first = std::mem::take(&mut self.is_begun);
        if let Some((result, rest)) = read_test(text) {
            self.tell(indent, result, rest, found);
            return true;
        }
        if let Some(comment) = text.strip_prefix('#') {
            let comment = comment.trim_start();
            if self.begins_group(indent, comment, is_first) {
                self.group = Some((comment.to_owned(), None));
                self.failed = None;
                return true;
            }
            return self.read_comment(indent, comment, found);
        }
        let depth = self.depths.entry(indent).or_default();
        if let Some(planned) = read_plan(text) {
            depth.plans += 1;
            depth.planned = depth.planned.saturating_add(planned);
            return true;
        }
        if text.starts_with("TAP version ") {
            depth.versions += 1;
            self.is_begun = true;
            return true;
        }
        if text.starts_with("Bail out!") {
            self.gives_up = true;
            return true;
        }
        if let Some((_, counts)) = line.split_once(" Tests=")
            && line.starts_with("Files=")
        {
            let ran = number_before(counts, ",").unwrap_or(0);
            found.close("tap", ran, ran);
            return true;
        }
        self.read_reason(indent, text, found)
    }

    fn end(&mut self, found: &mut Found) {
        let runner = if self.is_node { "node" } else { "tap" };
        if self.is_node {
            let told = found.told.iter_mut().filter(|told| told.runner == "tap");
            told.for_each(|told| told.runner = runner);
        }
        strip_times(found);
        let depths = || self.depths.values();
        let is_tap = depths()
            .any(|depth| depth.told > 0 || depth.versions > 0 || depth.plans > 0 && self.gives_up);
        // Several outputs may follow one another, so the sums are compared.
        let is_short =
            depths().any(|depth| depth.told < depth.planned || depth.plans < depth.versions);
        found.ends_early |= is_tap && (self.gives_up || is_short);
        let has_plan = depths().any(|depth| depth.plans > 0);
        if is_tap || has_plan {
            let ran = found.open(runner).count() as u64;
            found.count(runner, ran, false);
        }
    }
}

impl Tap {
    fn tell(&mut self, indent: usize, result: TestResult, rest: &str, found: &mut Found) {
        self.depths.entry(indent).or_default().told += 1;
        self.subtests.retain(|(at, _)| *at < indent);
        let (title, directive) = split_directive(rest);
        // A test that failed and then asked to be skipped has failed: bats prints both.
        let is_todo = directive.to_ascii_lowercase().starts_with("todo");
        let result = match result {
            Passed if !directive.is_empty() => Skipped,
            _ if is_todo => Skipped,
            result => result,
        };
        self.failed = None;
        self.is_error = false;
        self.is_yaml = false;
        if title.is_empty() {
            return;
        }
        // tape writes no dash; with a dash, a comment is a test's output.
        self.group.take_if(|_| rest.starts_with("- "));
        if let Some((name, known)) = self.group.as_mut().filter(|_| indent == 0) {
            let at = *known.get_or_insert_with(|| found.tell("tap", name, result, Again::No));
            if let Some(told) = found.told.get_mut(at).filter(|_| result == Failed) {
                told.result = Failed;
                found.explain(at, &title);
            }
            return;
        }
        // A file is not a test: node reports a file without tests as one that passed.
        if is_script(&title) && indent == 0 && self.subtests.is_empty() && !title.contains(' ') {
            let told = found.told.get(self.file_start..).unwrap_or_default();
            if result == Failed && told.iter().all(|told| told.result != Failed) {
                found.unload(&title, "it did not run to its end");
            }
            self.file_start = found.told.len();
            return;
        }
        let above = self.subtests.iter().map(|(_, above)| above.as_str());
        let name: Vec<&str> = above.chain([&*title]).collect();
        let at = found.tell("tap", &name.join(" > "), result, Again::No);
        self.failed = (result == Failed).then_some(at);
    }

    /// Whether a comment names a test of tape, whose first one directly follows the version.
    fn begins_group(&self, indent: usize, comment: &str, is_first: bool) -> bool {
        let is_word = !is_summary(comment) && comment != "ok" && !comment.starts_with("Subtest: ");
        indent == 0 && (is_first || self.group.is_some()) && is_word
    }

    fn read_comment(&mut self, indent: usize, comment: &str, found: &mut Found) -> bool {
        if let Some(title) = comment.strip_prefix("Subtest: ") {
            if indent == 0 {
                self.file_start = found.told.len();
            }
            self.subtests.retain(|(at, _)| *at < indent);
            self.subtests
                .push((indent, title.trim().replace("\\#", "#")));
            return true;
        }
        self.is_node |= comment.starts_with("cancelled ");
        if let Some(at) = self.failed
            && !comment.starts_with(['(', '.', '/'])
            && !comment.starts_with("Looks like")
            && !is_summary(comment)
        {
            found.explain(at, comment.trim_start_matches("Failure message: "));
        }
        true
    }

    /// `error: '5 == 6'` in the block after a failed test.
    fn read_reason(&mut self, indent: usize, text: &str, found: &mut Found) -> bool {
        let Some(at) = self.failed else {
            return false;
        };
        if text == "---" || text == "..." {
            self.is_yaml = text == "---";
            return true;
        }
        if !self.is_yaml {
            // mocha's reason is not enclosed in marks.
            let is_why = indent > 0 && !text.is_empty();
            if is_why {
                found.explain(at, text);
            }
            return is_why;
        }
        if std::mem::take(&mut self.is_error) {
            found.explain(at, text);
        }
        let mut keys = ["error: ", "message: "].iter();
        match keys.find_map(|key| text.strip_prefix(key)) {
            Some("|-" | "|" | ">-" | ">") => self.is_error = true,
            Some(value) => found.explain(at, value.trim_matches(['\'', '"'])),
            None => {}
        }
        true
    }
}

/// `ok 1 - name`, `not ok 2 - name`
fn read_test(text: &str) -> Option<(TestResult, &str)> {
    let (result, rest) = match text.strip_prefix("not ok") {
        Some(rest) => (Failed, rest),
        None => (Passed, text.strip_prefix("ok")?),
    };
    let number = rest.strip_prefix(' ')?;
    let rest = number.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = rest.len() < number.len() && (rest.is_empty() || rest.starts_with(' '));
    (is_numbered || number.starts_with("- ")).then_some((result, rest.trim_start()))
}

/// `- name # SKIP why`, `- name # TODO`, `- # SKIP name`: returns the name, and the text after the `#`. `\#` is a
/// `#` in the name.
fn split_directive(rest: &str) -> (String, &str) {
    let (rest, has_dash) = match rest.strip_prefix("- ") {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    let starts = |word: &str| {
        let word = word.trim_start();
        ["skip", "todo", "expected failure"].iter().any(|aside| {
            word.get(..aside.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(aside))
        })
    };
    if let Some(directive) = rest.strip_prefix('#').filter(|word| starts(word)) {
        let directive = directive.trim_start();
        let name = directive.split_once(' ').map_or("", |(_, name)| name);
        return (
            if has_dash {
                name.to_owned()
            } else {
                String::new()
            },
            directive,
        );
    }
    let mut places = rest.match_indices(" #");
    let place = places.find(|(at, mark)| starts(&rest[at + mark.len()..]));
    let (name, directive) = match place {
        Some((at, mark)) => (&rest[..at], rest[at + mark.len()..].trim_start()),
        None => (rest, ""),
    };
    // `# time=1.2ms` of tap and vitest, `# in 12 ms` of bats.
    let bare = |time: &'_ str| {
        let time = time.strip_prefix("time=").or(time.strip_prefix("in "));
        time.is_some_and(is_time)
    };
    let name = match name.rsplit_once(" # ") {
        Some((before, time)) if bare(time) || is_time(time) => before,
        _ => name,
    };
    (name.trim().replace("\\#", "#"), directive)
}

/// Removes ` in 12ms`, which bats appends to each title if times are requested.
fn strip_times(found: &mut Found) {
    let find_title = |name: &str| {
        let (title, time) = name.rsplit_once(" in ")?;
        let number = time.strip_suffix("ms")?;
        number.parse::<u64>().ok().map(|_| title.len())
    };
    let mut told: Vec<_> = found.told.iter_mut().collect();
    told.retain(|told| told.runner == "tap");
    if told.iter().all(|told| find_title(&told.name).is_some()) {
        for told in told {
            let end = find_title(&told.name).unwrap_or(told.name.len());
            told.name.truncate(end);
        }
    }
}

/// `tests 5`, a count at the end.
fn is_summary(comment: &str) -> bool {
    let mut words = comment.split_whitespace();
    let word = words.next().unwrap_or_default();
    matches!(
        word,
        "tests" | "pass" | "fail" | "skip" | "suites" | "time="
    ) && words
        .next()
        .is_some_and(|count| count.parse::<u64>().is_ok())
}

/// `1..7`, `1..0 # SKIP why`
fn read_plan(text: &str) -> Option<u64> {
    let rest = text.strip_prefix("1..")?;
    let number = rest.split(['#', ' ']).next()?;
    let behind = rest[number.len()..].trim_start();
    let is_plan = behind.is_empty() || behind.starts_with('#');
    is_plan.then(|| number.parse().ok())?
}
