//! A test by what it says: its text without its name and without white space.

use super::named::NamedPlace;
use super::text::{body, count_open};

/// Lines above a test that are looked at for what belongs to it.
const MAX_ABOVE: usize = 100;

/// A test without its name and without white space.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Body {
    /// Attributes and decorators right above it: one may say that it must fail, or put another in its place.
    above: String,
    /// The line that names it.
    head: String,
    rest: String,
    /// In a comment or a text nothing runs it.
    is_quoted: bool,
}

impl Body {
    /// Of what bears this name in a file.
    pub(super) fn of(file: &[String], place: &NamedPlace, name: &str) -> Self {
        let above = squeeze_all(find_attributes(file, place.lines.start));
        let (head, rest) = file
            .get(place.lines.clone())
            .and_then(<[String]>::split_first)
            .map_or(("", &[][..]), |(head, rest)| (head.as_str(), rest));
        Self {
            above,
            head: squeeze(&head.replacen(name, "", 1)),
            rest: squeeze_all(rest),
            is_quoted: place.is_quoted,
        }
    }

    /// The same stands behind the line, whatever the line says. What stands in one line is not told
    /// from others without its name.
    pub(super) fn is_body_at(&self, lines: &[String], at: usize) -> bool {
        if self.rest.is_empty()
            || lines
                .get(at + 1)
                .is_none_or(|next| !self.rest.starts_with(&squeeze(next)))
        {
            return false;
        }
        let found = body(lines, at);
        let rest = lines.get(at + 1..found.end).unwrap_or_default();
        squeeze_all(rest) == self.rest && squeeze_all(find_attributes(lines, at)) == self.above
    }
}

/// The lines right above this one that begin with `@` or `#[`, and those that their brackets hold.
fn find_attributes(lines: &[String], at: usize) -> &[String] {
    let (mut start, mut open) = (at, 0_i64);
    for (place, line) in lines[..at].iter().enumerate().rev().take(MAX_ABOVE) {
        open -= count_open(line);
        let begins = line.trim_start().starts_with(['@', '#']) && !is_comment(line);
        match (open, begins) {
            (0, true) => start = place,
            (1.., _) => {}
            _ => break,
        }
    }
    &lines[start..at]
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('#') && !line.starts_with("#[")
}

/// Lines without their white space. What follows a comment in its line would be a part of it, so that
/// such a line ends where it did.
fn squeeze_all(lines: &[String]) -> String {
    let end = |line: &str| match ["//", "#", "--"].iter().any(|mark| line.contains(mark)) {
        true => "\n",
        false => "",
    };
    lines.iter().map(|line| squeeze(line) + end(line)).collect()
}

fn squeeze(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::named::TestName;
    use super::*;

    fn split(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_body_is_the_same_under_another_name() {
        let body = |text: &str| {
            let lines = split(text);
            let places = TestName::of("adds").find_lines("a.txt", &lines);
            Body::of(&lines, &places[0], "adds")
        };
        let then = body("fn adds() {\n    x();\n}\n");
        let now = split("fn sums_up() {\n  x( );\n}\nfn other() {\n    y();\n}\n");
        assert!(then.is_body_at(&now, 0));
        assert!(!then.is_body_at(&now, 3));
        let test = body("fn adds() {\n    // sums\n    x();\n    y(1, 2);\n}\n");
        let formatted = "fn adds() {\n  // sums\n  x(); y(1,\n    2);\n}\n";
        assert_eq!(test, body(formatted));
        assert_ne!(
            test,
            body("fn adds() {\n    // sums x();\n    y(1, 2);\n}\n")
        );
        // What stands right above belongs to it, what stands further up does not.
        let bare = "fn adds() {\n    x();\n}\n";
        for other in [
            "",
            "use a;\n\n",
            "# a comment\n",
            "fn b() {\n    c(1);\n}\n",
        ] {
            assert_eq!(body(&format!("{other}{bare}")), body(bare), "{other}");
        }
        for above in [
            "@later\n",
            "#[should_panic]\n",
            "@each([\n    1,\n    2,\n])\n@b\n",
        ] {
            assert_ne!(body(&format!("{above}{bare}")), body(bare), "{above}");
        }
    }
}
