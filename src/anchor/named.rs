//! What a test's name says of its place: the last part of it, and what leads there.

use super::text::{body, find_word, has_word};
use cook_git::is_prose;
use cook_strength::list_quoted;
use std::collections::BTreeSet;
use std::ops::Range;

/// The name of a test, in full as its runner says it, by its parts.
pub(super) struct TestName<'n> {
    /// What its source says: no module, class or file, no parameters.
    pub(super) last: &'n str,
    /// Which of the tests that it runs by name, as Go says it: `case` of `TestX/case`.
    pub(super) case: &'n str,
    /// Files, modules and classes that it stands in.
    within: Vec<&'n str>,
}

/// A place that bears the name.
pub(super) struct NamedPlace {
    pub(super) lines: Range<usize>,
    /// Something deeper belongs to it.
    pub(super) has_body: bool,
    /// It stands in a comment, or within a text.
    pub(super) is_quoted: bool,
    /// It is code, and so many parts of the name lead here.
    leads: (bool, usize),
}

impl NamedPlace {
    /// Less of the name leads here than there.
    pub(super) fn is_less_than(&self, other: &Self) -> bool {
        self.leads < other.leads
    }
}

impl<'n> TestName<'n> {
    pub(super) fn of(full: &'n str) -> Self {
        let (before, last, case) = split_last(full);
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let within = before.split(|c| !is_part(c));
        Self {
            last,
            case,
            within: within.filter(|part| !part.is_empty()).collect(),
        }
    }

    /// The places of a file that bear the name: those to which something deeper belongs, else lines.
    pub(super) fn find_all(&self, path: &str, lines: &[String]) -> Vec<NamedPlace> {
        let mut all = self.find_lines(path, lines);
        if all.iter().any(|found| found.has_body) {
            all.retain(|found| found.has_body);
        }
        all
    }

    /// Every line of a file that bears the name, with what belongs to it.
    pub(super) fn find_lines(&self, path: &str, lines: &[String]) -> Vec<NamedPlace> {
        let named = (0..lines.len()).filter(|at| has_word(&lines[*at], self.last));
        let mut named = named.peekable();
        let quoted = match named.peek() {
            Some(_) => list_quoted(path, &lines.join("\n")),
            None => BTreeSet::new(),
        };
        let all = named.map(|at| {
            let found = body(lines, at);
            let (has_body, is_quoted) = (found.len() > 1, quoted.contains(&at));
            let is_code = !is_quoted && !is_prose(path);
            NamedPlace {
                lines: found,
                has_body,
                is_quoted,
                leads: (is_code, self.count_parts(path, lines, at)),
            }
        });
        all.collect()
    }

    /// Whether every part of the name leads to this line.
    pub(super) fn leads_to(&self, path: &str, lines: &[String], at: usize) -> bool {
        has_word(&lines[at], self.last) && self.count_parts(path, lines, at) == self.within.len()
    }

    /// The line names something that the test stands in: `TestOne.test_works = …`.
    pub(super) fn is_within(&self, line: &str) -> bool {
        self.within.last().is_some_and(|part| has_word(line, part))
    }

    /// How many of the parts before the last one lead to this line: by the path, or by the lines that it
    /// stands under.
    fn count_parts(&self, path: &str, lines: &[String], at: usize) -> usize {
        if self.within.is_empty() {
            return 0;
        }
        let depth = |line: &String| line.len() - line.trim_start().len();
        let mut own = depth(&lines[at]);
        let mut above: Vec<&str> = Vec::new();
        for line in lines[..at].iter().rev() {
            if own == 0 {
                break;
            }
            if !line.trim().is_empty() && depth(line) < own {
                own = depth(line);
                above.push(line);
            }
        }
        let leads = |part: &&&str| has_word(path, part) || above.iter().any(|l| has_word(l, part));
        self.within.iter().filter(leads).count()
    }
}

/// Of places that bear a name those that are it: not those that fewer parts of the name lead to, and no
/// prose beside code.
pub(super) fn keep_likely<T>(found: &mut Vec<T>, place: impl Fn(&T) -> &NamedPlace) {
    let rank = |one: &T| {
        let NamedPlace {
            has_body, leads, ..
        } = place(one);
        (leads.0, *has_body, leads.1)
    };
    let best = found.iter().map(rank).max();
    found.retain(|one| Some(rank(one)) == best);
}

/// How the name stands in a line: the word right before it, and the sign right after.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct NameContext {
    before: String,
    after: Option<char>,
}

pub(super) fn list_contexts(line: &str, word: &str) -> Vec<NameContext> {
    let all = find_word(line, word).map(|(before, after)| {
        let last = before.split_whitespace().next_back().unwrap_or_default();
        match is_called(last, after) {
            true => NameContext {
                before: "(".to_owned(),
                after: Some(')'),
            },
            false => NameContext {
                before: last.to_owned(),
                after: after.chars().next(),
            },
        }
    });
    all.collect()
}

/// The name is the first thing that a call is given, in quotes: `it('adds', …)`, `test("adds", …)`.
fn is_called(before: &str, after: &str) -> bool {
    let quotes = ['\'', '"', '`'].into_iter();
    let mut quotes = quotes.filter(|quote| before.ends_with(*quote) && after.starts_with(*quote));
    let opens = |quote: char| {
        before
            .strip_suffix(quote)
            .is_some_and(|before| before.ends_with('('))
    };
    quotes.any(opens)
}

/// Whether a line gives the name to something else: `adds = …`, `Test.adds = …`, `let adds = …`.
pub(super) fn is_assigned(line: &str, word: &str) -> bool {
    find_word(line, word).any(|(before, after)| {
        let after = after.trim_start();
        let is_other = ["==", "=>", "=~"]
            .iter()
            .any(|sign| after.starts_with(sign));
        let mut words = before.split_whitespace();
        let last = words.next_back().unwrap_or_default();
        let is_whole = |word: &str| {
            word.chars()
                .all(|c| c.is_alphanumeric() || "_.".contains(c))
        };
        after.starts_with('=') && !is_other && words.count() <= 1 && is_whole(last)
    })
}

/// The name without parameters: what leads to its last part, that part, and the case behind it.
fn split_last(full: &str) -> (&str, &str, &str) {
    let name = match full.split_once('[') {
        Some((name, _)) if !name.is_empty() => name,
        _ => full,
    };
    let marks = ["::", " > ", " \u{203a} ", "#"];
    let ends = marks.map(|mark| name.rfind(mark).map_or(0, |at| at + mark.len()));
    let (before, last) = name.split_at(ends.into_iter().max().unwrap_or_default());
    // `TestX/case` is a case of `TestX`; a dot ends a class.
    let (last, case) = last.split_once('/').unwrap_or((last, ""));
    match last.rsplit_once('.') {
        Some((class, method)) if !method.is_empty() && !method.contains(' ') => {
            (&name[..before.len() + class.len()], method, case)
        }
        _ => (before, last, case),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    fn find(full: &str, files: &[(&str, &str)]) -> Vec<(String, usize)> {
        let name = TestName::of(full);
        let mut all = Vec::new();
        for (path, text) in files {
            let found = name.find_all(path, &split(text));
            all.extend(found.into_iter().map(|found| (*path, found)));
        }
        keep_likely(&mut all, |(_, found)| found);
        let places = all.iter();
        places
            .map(|(path, found)| ((*path).to_owned(), found.lines.start + 1))
            .collect()
    }

    #[test]
    fn a_test_is_found_by_the_part_of_its_name_that_its_source_says() {
        for (full, part) in [
            ("a::tests::adds", "adds"),
            ("tests/t.py::TestA::test_x[1-2]", "test_x"),
            ("TestX/a_case", "TestX"),
            ("m.C::adds", "adds"),
            ("pkg.mod.Class.test_y", "test_y"),
            ("sum > adds up", "adds up"),
            ("it ends. Always.", "it ends. Always."),
        ] {
            assert_eq!(TestName::of(full).last, part, "{full}");
        }
        let code = "// see adds\nrun(adds);\nfn adds() {\n    x();\n}\n";
        assert_eq!(find("adds", &[("t.rs", code)]), [("t.rs".to_owned(), 3)]);
        assert!(find("add", &[("t.rs", code)]).is_empty());
    }

    #[test]
    fn of_several_places_those_are_it_that_the_whole_name_leads_to() {
        let own =
            "fn adds() {\n    x();\n}\n\nmod tests {\n    fn adds() {\n        y();\n    }\n}\n";
        assert_eq!(
            find("a::tests::adds", &[("src/a.rs", own), ("src/b.rs", own)]),
            [("src/a.rs".to_owned(), 6)]
        );
        assert_eq!(find("adds", &[("src/a.rs", own)]).len(), 2);
        let module = "mod adds {\n    fn adds() {\n        y();\n    }\n}\n";
        assert_eq!(
            find("adds::adds", &[("src/a.rs", module)]),
            [("src/a.rs".to_owned(), 2)]
        );
        let list = "- adds\n  two numbers\n";
        let test = "def adds():\n    x()\n";
        assert_eq!(
            find("adds", &[("CHANGES.md", list), ("t.py", test)]),
            [("t.py".to_owned(), 1)]
        );
        assert_eq!(
            find("adds", &[("CHANGES.md", list), ("t.rst", test)]).len(),
            2
        );
    }
}
