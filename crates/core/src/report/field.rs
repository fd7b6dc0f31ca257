//! One field of a report, and what it may hold.

/// What a field may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// Exactly yes or no.
    YesNo,
    /// Exactly a whole number of at least 0.
    Count,
    /// One text a line, or `none`.
    List,
    /// Exactly one of these words.
    Choice(&'static [&'static str]),
    /// Exactly a commit id of 7 to 64 hex digits, or `none`.
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

    /// The words of which a field of a fixed choice holds one, in order.
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
        let mut others = examples.iter().filter(|one| !refused.starts_with(**one));
        let example = others.next().or(examples.last()).copied();
        let example = example.unwrap_or_default();
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
