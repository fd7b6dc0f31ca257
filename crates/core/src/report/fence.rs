//! Fenced blocks.

/// The opening line of a fenced block.
#[derive(PartialEq)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    info: String,
}

impl Fence {
    /// Reads an opening line.
    pub fn open(line: &str) -> Option<Self> {
        if is_indented(line) {
            return None;
        }
        let line = line.trim();
        let mark = line.chars().next().filter(|c| "`~".contains(*c))?;
        let info = line.trim_start_matches(mark);
        let length = line.len() - info.len();
        (length >= 3 && !info.contains('`')).then(|| Self {
            mark,
            length,
            info: info.trim().to_ascii_lowercase(),
        })
    }

    /// The block is marked as JSON, or as something near it: `json5`, `jsonc`, `{.json}`.
    pub fn is_json(&self) -> bool {
        let first = self.info.split_whitespace().next();
        first.is_some_and(|word| word.contains("json"))
    }

    /// The block is not marked at all.
    pub fn is_bare(&self) -> bool {
        self.info.is_empty()
    }

    /// The line ends this block.
    pub fn is_closed_by(&self, line: &str) -> bool {
        let text = line.trim();
        let is_bare = text.len() >= self.length && text.chars().all(|c| c == self.mark);
        is_bare && !is_indented(line)
    }
}

pub(super) fn is_indented(line: &str) -> bool {
    line.starts_with("    ")
}
