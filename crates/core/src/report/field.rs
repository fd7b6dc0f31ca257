//! One field of a report, and what it may hold.

/// What a field may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// Begins with the whole word yes or no.
    YesNo,
    /// Begins with a whole number of at least 0.
    Count,
    /// One text a line, or `none`.
    List,
    /// Begins with one of these words.
    Choice(&'static [&'static str]),
    /// A commit id of 7 to 64 hex digits, or `none`.
    Sha,
}

/// One field of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// As it is written before the colon, without the list of its words.
    pub label: &'static str,
    /// As it stands in JSON and in records.
    pub key: &'static str,
    /// What it may hold.
    pub kind: Kind,
    /// Its absence is a breach.
    pub required: bool,
    /// What to write, for the format in prompts.
    pub hint: &'static str,
}

impl Field {
    /// The key is the label in small letters, joined by `_`.
    pub(super) fn new(label: &'static str, kind: Kind, hint: &'static str) -> Self {
        let key = label.to_lowercase();
        let key = key.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        Self {
            label,
            key: key.leak(),
            kind,
            required: true,
            hint,
        }
    }

    pub(super) fn optional(mut self) -> Self {
        self.required = false;
        self
    }

    /// The words a field of a fixed choice begins with, in order.
    pub fn words(&self) -> &'static [&'static str] {
        match self.kind {
            Kind::YesNo => &["yes", "no"],
            Kind::Choice(words) => words,
            _ => &[],
        }
    }

    /// What it must hold, and one example: another than what was refused.
    pub(super) fn wants(&self, refused: &str) -> String {
        let own = self.hint.trim_end_matches(", or none");
        let own = format!("<{own}>");
        let examples: &[&str] = match self.kind {
            Kind::YesNo => &["no", "yes"],
            // A count that is read and refused is one too many.
            Kind::Count if refused.starts_with(|c: char| c.is_ascii_digit()) => &["0", "1"],
            Kind::Count => &["2"],
            Kind::Choice(words) => words,
            Kind::Sha => &["1a2b3c4d"],
            Kind::Text | Kind::List if self.hint.contains("none") => &["none", &own],
            Kind::Text | Kind::List => &[&own],
        };
        let refused = refused.trim_start_matches(['-', '*', ' ']).to_lowercase();
        let example = examples
            .iter()
            .find(|example| !refused.starts_with(**example));
        let example = example.or(examples.last()).copied().unwrap_or_default();
        format!("{}; for example `{}: {example}`", self.hint, self.title())
    }

    /// The label with the words it takes: `Acceptable as-is (yes/no)`.
    pub fn title(&self) -> String {
        match self.words() {
            [] => self.label.to_owned(),
            words => format!("{} ({})", self.label, words.join("/")),
        }
    }
}

pub(super) fn text(label: &'static str, hint: &'static str) -> Field {
    Field::new(label, Kind::Text, hint)
}

pub(super) fn list(label: &'static str, hint: &'static str) -> Field {
    Field::new(label, Kind::List, hint)
}

pub(super) fn yes_no(label: &'static str, hint: &'static str) -> Field {
    Field::new(label, Kind::YesNo, hint)
}

pub(super) fn count(label: &'static str, hint: &'static str) -> Field {
    Field::new(label, Kind::Count, hint)
}

pub(super) fn sha(label: &'static str, hint: &'static str) -> Field {
    Field::new(label, Kind::Sha, hint)
}
