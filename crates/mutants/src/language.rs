//! Languages, by a file's name and its first line.

/// A language whose words and marks are known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Language {
    Rust,
    Python,
    /// TypeScript and JSX too.
    JavaScript,
    Go,
    Shell,
    Java,
    Kotlin,
    Ruby,
    /// C and C++.
    C,
    CSharp,
    Php,
    Swift,
    Elixir,
    /// None of these.
    Other,
}

/// Endings of names, without the dot.
const ENDINGS: [(Language, &[&str]); 13] = [
    (Language::Rust, &["rs"]),
    (Language::Python, &["py", "pyi", "pyx"]),
    (
        Language::JavaScript,
        &[
            "js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte",
        ],
    ),
    (Language::Go, &["go"]),
    (Language::Shell, &["sh", "bash", "zsh", "ksh", "bats"]),
    (Language::Java, &["java", "groovy", "scala"]),
    (Language::Kotlin, &["kt", "kts"]),
    (Language::Ruby, &["rb", "rake"]),
    (
        Language::C,
        &["c", "h", "cc", "cpp", "cxx", "hpp", "hh", "m", "mm"],
    ),
    (Language::CSharp, &["cs"]),
    (Language::Php, &["php"]),
    (Language::Swift, &["swift"]),
    (Language::Elixir, &["ex", "exs"]),
];

/// Programs that a script's first line names.
const PROGRAMS: [(&str, Language); 7] = [
    ("python", Language::Python),
    ("node", Language::JavaScript),
    ("deno", Language::JavaScript),
    ("bun", Language::JavaScript),
    ("ruby", Language::Ruby),
    ("bats", Language::Shell),
    ("sh", Language::Shell),
];

impl Language {
    /// The language of a file; of one without an ending, by its first line.
    pub fn of(path: &str, text: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path);
        if let Some((stem, ending)) = name.rsplit_once('.')
            && !stem.is_empty()
        {
            let ending = ending.to_lowercase();
            return ENDINGS
                .iter()
                .find(|(_, known)| known.contains(&ending.as_str()))
                .map_or(Self::Other, |(language, _)| *language);
        }
        let first = text.lines().next().unwrap_or_default();
        let Some(program) = first.strip_prefix("#!") else {
            return Self::Other;
        };
        PROGRAMS
            .iter()
            .find(|(word, _)| program.contains(word))
            .map_or(Self::Other, |(_, language)| *language)
    }

    /// What begins a comment that goes on to the end of its line.
    pub(crate) fn comments(self) -> &'static [&'static str] {
        use Language::*;
        match self {
            Rust | JavaScript | Go | Java | Kotlin | C | CSharp | Swift => &["//"],
            Python | Shell | Ruby | Elixir | Other => &["#"],
            Php => &["//", "#"],
        }
    }

    /// What a text literal stands in: marks between which lines may end, and those between which none does.
    pub(crate) fn quotes(self) -> [&'static [&'static str]; 2] {
        use Language::*;
        match self {
            Rust => [&["\""], &[]],
            Python => [&["\"\"\"", "'''"], &["\"", "'"]],
            Shell | Ruby | Php => [&["\"", "'", "`"], &[]],
            Go | JavaScript => [&["`"], &["\"", "'"]],
            Java | Kotlin | CSharp | Swift | Elixir => [&["\"\"\""], &["\"", "'", "`"]],
            C | Other => [&[], &["\"", "'"]],
        }
    }

    /// Its blocks stand in braces.
    pub(crate) fn has_braces(self) -> bool {
        use Language::*;
        !matches!(self, Python | Ruby | Elixir | Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_language_of_their_names_or_first_lines() {
        for (path, text, language) in [
            ("src/a.rs", "", Language::Rust),
            ("A.PY", "", Language::Python),
            ("web/a.test.tsx", "", Language::JavaScript),
            ("bin/check", "#!/usr/bin/env bash\n", Language::Shell),
            ("bin/check", "#!/usr/bin/env python3\n", Language::Python),
            ("Makefile", "all:\n", Language::Other),
            (".gitignore", "x\n", Language::Other),
            ("a.zig", "", Language::Other),
        ] {
            assert_eq!(Language::of(path, text), language, "{path}");
        }
    }
}
