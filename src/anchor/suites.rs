//! The suites that a test's title stands under, as runners print them by indenting. Pure.

/// Spaces that a suite's tests are further in, but for those of TAP.
const STEP: usize = 2;

/// Marks before the title of a suite, or of a file that holds some.
const MARKS: [char; 10] = [
    '\u{25b6}', '\u{276f}', '\u{2713}', '\u{2714}', '\u{221a}', '\u{2715}', '\u{2717}', '\u{2718}',
    '\u{2716}', '\u{d7}',
];

/// The suites that are open, outermost first: how far in, and their title.
#[derive(Default)]
pub struct Suites {
    /// `# Subtest: title` of TAP.
    subtests: Vec<(usize, String)>,
    /// Titles of the reporters for people.
    titles: Vec<(usize, String)>,
}

impl Suites {
    /// The title of the test on this line behind those of its suites. One that its runner names in full
    /// stays as it is.
    pub fn name_in_full(&mut self, line: &str, title: &str) -> String {
        let (indent, text) = split_indent(line);
        let mut above: Vec<&str> = Vec::new();
        let mut title = title;
        if is_tap(text) {
            close(&mut self.subtests, indent);
            above.extend(self.subtests.iter().map(|(_, title)| title.as_str()));
        } else if is_listed(text) {
            let mut outer = indent;
            for (at, suite) in self.titles.iter().rev().skip_while(|(at, _)| *at >= indent) {
                if *at + STEP != outer {
                    break;
                }
                outer = *at;
                above.insert(0, suite);
            }
            // vitest puts the time behind a title without brackets, and its files one space in.
            if outer == 1 {
                title = without_counts(title);
            }
        }
        above.push(title);
        above.join(" > ")
    }

    /// Notes what a line opens or closes.
    pub fn note(&mut self, line: &str) {
        let (indent, text) = split_indent(line);
        if let Some(title) = text.strip_prefix("# Subtest: ") {
            close(&mut self.subtests, indent);
            self.subtests.push((indent, title.trim().to_owned()));
            return;
        }
        let title = text.trim_start_matches(MARKS);
        // At the margin anything may be printed.
        if text.is_empty() || indent == 0 && title.len() == text.len() {
            return;
        }
        close(&mut self.titles, indent);
        self.titles.push((indent, without_counts(title).to_owned()));
    }
}

fn split_indent(line: &str) -> (usize, &str) {
    let text = line.trim_start();
    (line.len() - text.len(), text.trim_end())
}

fn close(open: &mut Vec<(usize, String)>, indent: usize) {
    open.retain(|(at, _)| *at < indent);
}

fn is_tap(text: &str) -> bool {
    text.starts_with("ok ") || text.starts_with("not ok ")
}

/// Marked, numbered, or with its result behind `...`: the title alone.
fn is_listed(text: &str) -> bool {
    let is_mark = |c: char| MARKS.contains(&c) || matches!(c, '\u{25cb}' | '\u{2193}' | '\u{fe63}');
    let number = text.split_once(") ").map_or("", |(number, _)| number);
    text.starts_with(is_mark) || number.parse::<u32>().is_ok() || text.contains(" ... ")
}

/// The title without the counts, the time and the dots that may stand behind it.
fn without_counts(title: &str) -> &str {
    let mut title = title.trim().trim_end_matches("...").trim_end();
    while let Some((before, last)) = title.rsplit_once(' ') {
        let number = last.trim_start_matches('(').trim_end_matches(')');
        let number = number.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let is_count = number.parse::<f64>().is_ok() && last.ends_with([')', 's']);
        let is_tests = last.ends_with(')')
            && title.rsplit_once(" (").is_some_and(|(_, tests)| {
                tests.starts_with(|c: char| c.is_ascii_digit()) && tests.contains(" test")
            });
        title = match (is_tests, is_count) {
            (true, _) => title.rsplit_once(" (").map_or(before, |(before, _)| before),
            (_, true) => before,
            _ => return title,
        }
        .trim_end();
    }
    title
}

#[cfg(test)]
mod tests {
    use super::super::forms::TestOutcome::{self, Failed, Passed};
    use super::super::output::test_outcomes;

    fn assert_names(output: &str, expected: &[(&str, TestOutcome)]) {
        let found = test_outcomes(output);
        let found: Vec<_> = found
            .iter()
            .map(|(name, how)| (name.as_str(), *how))
            .collect();
        assert_eq!(found, expected, "{output}");
    }

    #[test]
    fn titles_stand_behind_their_suites() {
        let expected = [
            ("add > refuses", Passed),
            ("add > zero > refuses", Passed),
            ("sub > refuses", Failed),
        ];
        // mocha and jest; deno has its results behind the titles.
        assert_names(
            "PASS ./a.test.js\n  add\n    \u{2714} refuses (2 ms)\nhello\n    zero\n      \u{2714} refuses\n\n  sub\n    \u{2717} refuses\n",
            &expected,
        );
        let (tap, spec) = (
            "TAP version 13\n# Subtest: add\n    # Subtest: refuses\n    ok 1 - refuses\n      ---\n      duration_ms: 1\n      ...\n    # Subtest: zero\n        # Subtest: refuses\n        ok 1 - refuses\n        1..1\n    1..1\n    ok 2 - zero\n    1..2\nok 1 - add\n# Subtest: sub\n    # Subtest: refuses\n    not ok 1 - refuses\n    1..1\nnot ok 2 - sub\n1..2\n",
            "\u{25b6} add\n  \u{2714} refuses (0.4ms)\n  \u{25b6} zero\n    \u{2714} refuses (0.2ms)\n  \u{2714} zero (3ms)\n\u{2714} add (5.1ms)\n\u{25b6} sub\n  \u{2716} refuses (1ms)\n    Error: no\n\u{2716} sub (2ms)\n",
        );
        let with_suites = [
            expected[0],
            expected[1],
            ("add > zero", Passed),
            ("add", Passed),
            expected[2],
            ("sub", Failed),
        ];
        assert_names(
            &tap.replace("    1..1\n    ok 2 - zero\n", "    ok 2 - zero\n"),
            &with_suites,
        );
        assert_names(spec, &with_suites);
    }

    #[test]
    fn files_are_suites_of_vitests() {
        assert_names(
            " \u{2713} t/a.test.ts (2 tests) 5ms\n   \u{2713} add (1)\n     \u{2713} refuses 1ms\n   \u{2713} sub > refuses 3ms\n",
            &[
                ("t/a.test.ts", Passed),
                ("t/a.test.ts > add", Passed),
                ("t/a.test.ts > add > refuses", Passed),
                ("t/a.test.ts > sub > refuses", Passed),
            ],
        );
    }

    #[test]
    fn other_text_is_no_suite() {
        assert_names(
            "  \u{2713} root (1 ms)\nnoise\n  \u{2713} other\n{\n      \"a\": 1\n  \u{2713} last\n    --- PASS: T/sub (0.0s)\n",
            &[
                ("root", Passed),
                ("other", Passed),
                ("last", Passed),
                ("T/sub", Passed),
            ],
        );
    }
}
