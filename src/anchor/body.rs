//! A test by what it says: its text without its name and without white space.

use super::text::body;

/// A test without its name and without white space.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Body {
    /// The line that names it.
    head: String,
    rest: String,
}

impl Body {
    pub(super) fn of(lines: &[String], name: &str) -> Self {
        let (head, rest) = lines
            .split_first()
            .map_or(("", &[][..]), |(head, rest)| (head.as_str(), rest));
        Self {
            head: squeeze(&head.replacen(name, "", 1)),
            rest: squeeze_all(rest),
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
        squeeze_all(rest) == self.rest
    }
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
    use super::*;

    fn split(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_body_is_the_same_under_another_name() {
        let then = Body::of(&split("fn adds() {\n    x();\n}\n"), "adds");
        let now = split("fn sums_up() {\n  x( );\n}\nfn other() {\n    y();\n}\n");
        assert!(then.is_body_at(&now, 0));
        assert!(!then.is_body_at(&now, 3));
        let body = |text: &str| Body::of(&split(text), "adds");
        let test = body("fn adds() {\n    // sums\n    x();\n    y(1, 2);\n}\n");
        let formatted = "fn adds() {\n  // sums\n  x(); y(1,\n    2);\n}\n";
        assert_eq!(test, body(formatted));
        assert_ne!(
            test,
            body("fn adds() {\n    // sums x();\n    y(1, 2);\n}\n")
        );
    }
}
