//! What a commit's message declares: `Test-Changed: NAME: why`, anywhere in it.

/// The label of the line.
const LABEL: &str = "Test-Changed:";

/// One declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// The commit whose message has it.
    pub commit: String,
    /// What stands behind the label: a name, `: ` and the reason. A name may hold `: ` itself.
    text: String,
}

/// The declarations of a message.
pub fn read_declarations(commit: &str, message: &str) -> Vec<Declaration> {
    let lines = message.lines().filter_map(|line| {
        let line = line.trim().trim_start_matches(['>', '*', '-']).trim_start();
        let label = line.get(..LABEL.len())?;
        let rest = line.get(LABEL.len()..)?;
        label.eq_ignore_ascii_case(LABEL).then(|| Declaration {
            commit: commit.to_owned(),
            text: rest.trim().to_owned(),
        })
    });
    lines.collect()
}

impl Declaration {
    /// The names that it may have and the reason of each, the longest name first.
    fn splits(&self) -> impl Iterator<Item = (&str, &str)> {
        let places: Vec<usize> = self.text.match_indices(": ").map(|(at, _)| at).collect();
        let whole = [(self.text.trim_end_matches(':'), "")].into_iter();
        let splits = places.into_iter().rev().map(|at| {
            let (name, why) = self.text.split_at(at);
            (name, why[1..].trim())
        });
        whole.chain(splits)
    }

    /// The reason that it gives for a name, where it names that: the name itself, `PREFIX*`, or a
    /// directory with `/` at its end. An empty reason is none.
    pub fn find_reason(&self, name: &str) -> Option<&str> {
        let mut splits = self.splits();
        let (_, why) = splits.find(|(declared, _)| names(declared.trim(), name))?;
        // A mark is no reason.
        let has_words = why
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty());
        Some(if has_words.count() > 1 { why } else { "" })
    }

    /// It names all of a directory.
    pub fn is_directory(&self) -> bool {
        self.splits().any(|(name, _)| name.trim().ends_with('/'))
    }

    /// What it says, for a reader.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// It names many by a prefix.
    pub fn is_prefix(&self) -> bool {
        self.splits().any(|(name, _)| name.trim().ends_with('*'))
    }
}

fn names(declared: &str, name: &str) -> bool {
    // A prompt shows tags, and what looks like one, with other brackets.
    let plain = |text: &str| text.replace('\u{2039}', "<").replace('\u{203a}', ">");
    let (declared, name) = (plain(declared.trim_matches('`')), plain(name));
    let declared = declared.as_str();
    if declared.is_empty() {
        return false;
    }
    if let Some(prefix) = declared.strip_suffix('*') {
        return prefix.len() > 1 && name.starts_with(prefix);
    }
    declared == name || declared.ends_with('/') && name.starts_with(declared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_anywhere_declares() {
        let message = "Squash\n\n* one\n  Test-Changed: a.py::T::test_x: it rounds now\n\nmore\nTest-changed: b > c: d*: why: so\nTest-Changed: e\nTest-Changed: tests/old/: moved to ES modules\n";
        let found = read_declarations("c", message);
        let reasons: Vec<Option<&str>> = [
            (0, "a.py::T::test_x"),
            (0, "a.py::T"),
            (1, "b > c: d1"),
            (1, "b > c"),
            (2, "e"),
            (3, "tests/old/a.js > x"),
        ]
        .iter()
        .map(|(at, name)| found[*at].find_reason(name))
        .collect();
        let shown = read_declarations("c", "Test-Changed: a.js \u{203a} x: it adds now");
        assert_eq!(shown[0].find_reason("a.js > x"), Some("it adds now"));
        assert_eq!(
            reasons,
            [
                Some("it rounds now"),
                None,
                Some("why: so"),
                Some("d*: why: so"),
                Some(""),
                Some("moved to ES modules"),
            ]
        );
    }
}
