//! A lexer that splits source text into words, numbers, texts (string literals), comments and marks, following each
//! language's rules as far as tests and planted defects require. It never fails: a literal that is not closed ends with
//! the text.

use std::ops::Range;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Word,
    Number,
    /// A string or character literal, with its quotes.
    Text,
    Comment,
    /// Punctuation or an operator.
    Mark,
}

/// A token of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// The kind of the token.
    pub kind: Kind,
    /// The token as written.
    pub text: &'a str,
    /// The byte offset of its start.
    pub at: usize,
    /// The line in which it begins, counted from 1.
    pub line: usize,
    /// The number of bytes before it in its line.
    pub column: usize,
}

impl Token<'_> {
    /// The byte offset of its end.
    pub fn end(&self) -> usize {
        self.at + self.text.len()
    }

    /// The line in which it ends.
    pub fn last_line(&self) -> usize {
        self.line + self.text.matches('\n').count()
    }

    /// Whether it is this mark or word.
    pub fn is(&self, text: &str) -> bool {
        self.text == text && matches!(self.kind, Kind::Mark | Kind::Word)
    }
}

/// Marks of several characters, the longest first.
const MARKS: [&str; 39] = [
    "===", "!==", "<<=", ">>=", "...", "..=", "**=", "||=", "&&=", "<=>", "->", "=>", "==", "!=",
    "<=", ">=", "&&", "||", "::", "..", "<<", ">>", "+=", "-=", "*=", "/=", "%=", "++", "--", ":=",
    "<-", "?.", "??", "|>", "=~", "!~", ";;", "**", "?:",
];

/// Words after which a slash begins a regular expression.
const BEFORE_REGEX: [&str; 10] = [
    "return", "typeof", "case", "in", "of", "if", "unless", "when", "and", "or",
];

/// The tokens of a text, without comments.
pub fn code(language: Language, text: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer {
        language,
        text,
        at: 0,
        line: 1,
        line_start: 0,
        found: Vec::new(),
        here: Vec::new(),
    };
    while lexer.step() {}
    lexer.found
}

struct Lexer<'a> {
    language: Language,
    text: &'a str,
    at: usize,
    line: usize,
    line_start: usize,
    found: Vec<Token<'a>>,
    /// Delimiters of the here-documents that begin on the next line.
    here: Vec<&'a str>,
}

impl<'a> Lexer<'a> {
    fn step(&mut self) -> bool {
        let rest = &self.text[self.at..];
        let Some(c) = rest.chars().next() else {
            return false;
        };
        if c == '\n' {
            self.at += 1;
            self.line += 1;
            self.line_start = self.at;
            self.take_here_documents();
        } else if c.is_whitespace() {
            self.at += c.len_utf8();
        } else if let Some(len) = self.comment(rest) {
            self.push(Kind::Comment, len);
        } else if let Some(len) = self.literal(rest, c) {
            self.push(Kind::Text, len);
        } else if self.language == Language::Shell && !is_shell_meta(c) {
            let len = shell_word(rest);
            let is_brace = matches!(&rest[..len], "{" | "}");
            self.push(if is_brace { Kind::Mark } else { Kind::Word }, len);
        } else if c.is_ascii_digit() {
            self.push(Kind::Number, number(rest));
        } else if c.is_alphabetic() || matches!(c, '_' | '$' | '@') && self.begins_word(c) {
            self.push(Kind::Word, self.word(rest));
        } else {
            self.note_here_document(rest);
            let known = MARKS.iter().find(|mark| rest.starts_with(**mark));
            self.push(Kind::Mark, known.map_or(c.len_utf8(), |mark| mark.len()));
        }
        true
    }

    fn push(&mut self, kind: Kind, len: usize) {
        let text = &self.text[self.at..self.at + len];
        let token = Token {
            kind,
            text,
            at: self.at,
            line: self.line,
            column: self.at - self.line_start,
        };
        if kind != Kind::Comment {
            self.found.push(token);
        }
        self.at += len;
        if let Some(last) = text.rfind('\n') {
            self.line = token.last_line();
            self.line_start = self.at - (text.len() - last - 1);
        }
    }

    fn comment(&self, rest: &str) -> Option<usize> {
        let to_end = rest.find('\n').unwrap_or(rest.len());
        let marks = self.language.comments();
        if marks.contains(&"//") && rest.starts_with("/*") {
            return Some(rest.find("*/").map_or(rest.len(), |at| at + 2));
        }
        marks.iter().find(|mark| rest.starts_with(**mark))?;
        let before = self.text[..self.at].chars().next_back();
        let is_inside = self.language == Language::Shell
            && before.is_some_and(|c| !c.is_whitespace() && !";()|&".contains(c));
        let is_attribute = self.language == Language::Php && rest.starts_with("#[");
        (!is_inside && !is_attribute).then_some(to_end)
    }

    fn literal(&self, rest: &str, c: char) -> Option<usize> {
        use Language::*;
        let is_regex = c == '/' && matches!(self.language, JavaScript | Ruby);
        match self.language {
            _ if is_regex && self.may_begin_value() => return regex(rest),
            Rust if c == '\'' => return rust_char(rest),
            Rust if rest.starts_with(['r', 'b', 'c']) => return rust_raw(rest),
            _ => {}
        }
        let is_prefix = |c: &char| self.language == Python && "rbfuRBFU".contains(*c);
        let prefix = rest.chars().take(2).take_while(is_prefix).count();
        let body = &rest[prefix..];
        let [over_lines, in_line] = self.language.quotes();
        let begins = |mark: &&&str| body.starts_with(**mark);
        let mark = *over_lines.iter().chain(in_line).find(begins)?;
        let has_escapes = !matches!((self.language, mark), (Shell, "'") | (Go, "`"));
        let mut from = mark.len();
        while let Some(c) = body[from..].chars().next() {
            if body[from..].starts_with(mark) {
                return Some(prefix + from + mark.len());
            }
            if c == '\n' && !over_lines.contains(&mark) {
                break;
            }
            from += c.len_utf8();
            if c == '\\' && has_escapes {
                from += body[from..].chars().next().map_or(0, char::len_utf8);
            }
        }
        Some(prefix + from)
    }

    /// Whether a value may begin here, so that a slash is not a division.
    fn may_begin_value(&self) -> bool {
        self.found.last().is_none_or(|last| match last.kind {
            Kind::Mark => !matches!(last.text, ")" | "]" | "}"),
            Kind::Word => BEFORE_REGEX.contains(&last.text),
            _ => false,
        })
    }

    fn begins_word(&self, c: char) -> bool {
        match self.language {
            Language::JavaScript | Language::Php => c != '@',
            Language::Ruby => true,
            _ => c == '_',
        }
    }

    fn word(&self, rest: &str) -> usize {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '@');
        let len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let behind = &rest[len..];
        let asks = matches!(self.language, Language::Ruby | Language::Elixir)
            && behind.starts_with(['?', '!'])
            && !behind[1..].starts_with(['=', '~']);
        len + usize::from(asks)
    }

    /// Recognises `<<END` and `<<-'END'`; in Ruby only with `-` or `~`, because `a <<B` appends to a list.
    fn note_here_document(&mut self, rest: &'a str) {
        let marked = rest.strip_prefix("<<-").or(rest.strip_prefix("<<~"));
        let name = match self.language {
            Language::Shell if !rest.starts_with("<<<") => marked.or(rest.strip_prefix("<<")),
            Language::Ruby => marked,
            _ => None,
        };
        let Some(name) = name else { return };
        let name = name.strip_prefix(['\'', '"']).unwrap_or(name);
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let name = &name[..name.find(|c| !is_part(c)).unwrap_or(name.len())];
        if name.starts_with(|c: char| !c.is_ascii_digit()) {
            self.here.push(name);
        }
    }

    fn take_here_documents(&mut self) {
        let mut len = 0;
        for name in std::mem::take(&mut self.here) {
            for line in self.text[self.at + len..].split_inclusive('\n') {
                len += line.len();
                if line.trim() == name {
                    break;
                }
            }
        }
        let whole = &self.text[self.at..self.at + len];
        let whole = whole.strip_suffix('\n').unwrap_or(whole);
        if !whole.is_empty() {
            self.push(Kind::Text, whole.len());
        }
    }
}

fn is_shell_meta(c: char) -> bool {
    c.is_whitespace() || ";|&()<>\"'`".contains(c)
}

fn shell_word(rest: &str) -> usize {
    let mut is_escaped = false;
    let ends = |c: char| {
        let ends = is_shell_meta(c) && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    };
    rest.find(ends).unwrap_or(rest.len()).max(1)
}

fn number(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let is_part = |at: usize| {
        let is_point = bytes[at] == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_' || is_point
    };
    (1..bytes.len())
        .find(|at| !is_part(*at))
        .unwrap_or(bytes.len())
}

/// The length of a regular expression such as `/a[/]b/gi`; `None` if it is not closed on its line.
fn regex(rest: &str) -> Option<usize> {
    let (mut is_escaped, mut is_class) = (false, false);
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => return None,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => is_class = true,
            ']' => is_class = false,
            '/' if !is_class && at > 1 => {
                let flags = &rest[at + 1..];
                let is_flag = |c: char| c.is_ascii_lowercase();
                return Some(at + 1 + flags.find(|c| !is_flag(c)).unwrap_or(flags.len()));
            }
            _ => {}
        }
    }
    None
}

/// The length of a character literal such as `'a'` or `'\''`; `None` for a lifetime.
fn rust_char(rest: &str) -> Option<usize> {
    let mut chars = rest.char_indices().skip(1);
    if let (_, '\\') = chars.next()? {
        chars.next();
        return chars.find(|(_, c)| *c == '\'').map(|(at, _)| at + 1);
    }
    chars
        .next()
        .filter(|(_, c)| *c == '\'')
        .map(|(at, _)| at + 1)
}

/// The length of a raw string literal such as `r#"a"b"#` or `br"x"`.
fn rust_raw(rest: &str) -> Option<usize> {
    let behind = rest.strip_prefix(['b', 'c']).unwrap_or(rest);
    let inside = behind.strip_prefix('r')?.trim_start_matches('#');
    let hashes = behind.len() - 1 - inside.len();
    let end = format!("\"{}", "#".repeat(hashes));
    let inside = inside.strip_prefix('"')?;
    let len = inside.find(&end).map_or(inside.len(), |at| at + end.len());
    Some(rest.len() - inside.len() + len)
}

/// The index of the token that closes the bracket at `open` (`(`, `[` or `{`); the last token if none does.
pub(crate) fn close(tokens: &[Token], open: usize) -> usize {
    let close = match tokens.get(open).map(|token| token.text) {
        Some("(") => ")",
        Some("[") => "]",
        _ => "}",
    };
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if token.kind == Kind::Mark && token.text == tokens[open].text {
            depth += 1;
        } else if token.kind == Kind::Mark && token.text == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return at;
            }
        }
    }
    tokens.len().saturating_sub(1)
}

/// The tokens between the bracket at `open` and its closing token; empty if the text ends there.
pub(crate) fn between(tokens: &[Token], open: usize) -> Range<usize> {
    let begin = (open + 1).min(tokens.len());
    begin..close(tokens, open).max(begin)
}

/// The content of a string literal, without its quotes and prefix.
pub(crate) fn inside(text: &str) -> &str {
    let Some(from) = text.find(['"', '\'', '`']).filter(|from| *from <= 2) else {
        return text;
    };
    let quoted = &text[from..];
    let mark = &quoted[..1];
    let three = mark.repeat(3);
    let mark = match quoted.len() >= 6 && quoted.starts_with(&three) {
        true => &three,
        false => mark,
    };
    let rest = quoted.strip_prefix(mark).unwrap_or(quoted);
    rest.strip_suffix(mark).unwrap_or(rest)
}

/// Whether the statement continues on the next line after this token: a mark that does not end an expression.
pub(crate) fn goes_on(last: &Token) -> bool {
    last.kind == Kind::Mark && !matches!(last.text, ")" | "]" | "}" | "++" | "--" | ";" | "?" | "!")
}

/// The tokens that begin a line outside of brackets; with `has_blocks`, also inside of braces.
pub(crate) fn line_starts(tokens: &[Token], has_blocks: bool) -> Vec<usize> {
    let mut open: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let is_first = at == 0 || tokens[at - 1].last_line() < token.line;
        if is_first && open.last().is_none_or(|last| has_blocks && *last == "{") {
            found.push(at);
        }
        match token.text {
            _ if token.kind != Kind::Mark => {}
            "(" | "[" | "{" => open.push(token.text),
            ")" | "]" | "}" => drop(open.pop()),
            _ => {}
        }
    }
    found
}

// Detection of the language by a file's name and its first line.

/// The languages whose keywords and marks are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Language {
    Rust,
    Python,
    /// Also TypeScript and JSX.
    JavaScript,
    Go,
    Shell,
    Java,
    Kotlin,
    Ruby,
    /// Also C++ and Objective-C.
    C,
    CSharp,
    Php,
    Swift,
    Elixir,
    /// Any other language.
    Other,
}

/// File name extensions.
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

/// Programs in the first line of a script.
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
    /// The language of a file, by its extension; without one, by its first line.
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

    /// The marks that begin a line comment.
    pub(crate) fn comments(self) -> &'static [&'static str] {
        use Language::*;
        match self {
            Rust | JavaScript | Go | Java | Kotlin | C | CSharp | Swift => &["//"],
            Python | Shell | Ruby | Elixir | Other => &["#"],
            Php => &["//", "#"],
        }
    }

    /// The quotes of string literals: first those that may span several lines, then those that may not.
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

    /// Whether its blocks are enclosed in braces.
    pub(crate) fn has_braces(self) -> bool {
        use Language::*;
        !matches!(self, Python | Ruby | Elixir | Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list_code(language: Language, text: &str) -> Vec<&str> {
        code(language, text)
            .iter()
            .map(|token| token.text)
            .collect()
    }

    #[test]
    fn texts_and_comments_are_told_from_code() {
        use Language::*;
        for (language, text, expected) in [
            (
                Rust,
                "fn f<'a>(c: &'a str) { '\\'' r#\"a\"b\"# /* x */ b\"z\" 1..2 } // end",
                &[
                    "fn",
                    "f",
                    "<",
                    "'",
                    "a",
                    ">",
                    "(",
                    "c",
                    ":",
                    "&",
                    "'",
                    "a",
                    "str",
                    ")",
                    "{",
                    "'\\''",
                    "r#\"a\"b\"#",
                    "b",
                    "\"z\"",
                    "1",
                    "..",
                    "2",
                    "}",
                ][..],
            ),
            (
                Python,
                "x = f\"a{b}\" # c\ny = '''a\n# b'''\nz = rb'x' == 1.5",
                &[
                    "x",
                    "=",
                    "f\"a{b}\"",
                    "y",
                    "=",
                    "'''a\n# b'''",
                    "z",
                    "=",
                    "rb'x'",
                    "==",
                    "1.5",
                ],
            ),
            (
                JavaScript,
                "a = `x ${b} z` / 2; c.test(/a\\/[/]b/gi) // d",
                &[
                    "a",
                    "=",
                    "`x ${b} z`",
                    "/",
                    "2",
                    ";",
                    "c",
                    ".",
                    "test",
                    "(",
                    "/a\\/[/]b/gi",
                    ")",
                ],
            ),
            (
                Shell,
                "echo \"a $(b) d\" x#y # z\ncat <<'E' | f\n# no comment\nE\nexit ${1#a}",
                &[
                    "echo",
                    "\"a $(b) d\"",
                    "x#y",
                    "cat",
                    "<<",
                    "'E'",
                    "|",
                    "f",
                    "# no comment\nE",
                    "exit",
                    "${1#a}",
                ],
            ),
            (
                Ruby,
                "a.empty? ; x = `a b` # c\n@b !~ /x y/",
                &[
                    "a", ".", "empty?", ";", "x", "=", "`a b`", "@b", "!~", "/x y/",
                ],
            ),
        ] {
            assert_eq!(list_code(language, text), expected, "{language:?}");
        }
        let places = code(Python, "a = '''x\ny''' + b\nc");
        let b = places.iter().find(|token| token.text == "b");
        assert_eq!(b.map(|token| (token.line, token.column)), Some((2, 7)));
        assert_eq!(inside("rb'x'"), "x");
        assert_eq!(inside("\"it's\""), "it's");
        assert_eq!(inside("'for \".mp4\"'"), "for \".mp4\"");
        assert_eq!(inside("\"\"\"a\"\"\""), "a");
        assert_eq!(inside("\"\""), "");
    }

    proptest! {
        #[test]
        fn any_text_is_read_in_order_and_nothing_twice(text in "\\PC{0,80}", pick in 0usize..14) {
            use Language::*;
            let all = [Rust, Python, JavaScript, Go, Shell, Java, Kotlin, Ruby, C, CSharp, Php, Swift, Elixir, Other];
            let mut end = 0;
            for token in code(all[pick], &text) {
                prop_assert!(token.at >= end && !token.text.is_empty());
                end = token.end();
            }
        }

        #[test]
        fn quotes_and_brackets_of_all_kinds_do_not_upset_it(text in "[\"'`/#$(){}\\[\\]\\\\%<r\\-EOF\n ab1=*]{0,60}", pick in 0usize..14) {
            use Language::*;
            let all = [Rust, Python, JavaScript, Go, Shell, Java, Kotlin, Ruby, C, CSharp, Php, Swift, Elixir, Other];
            let mut end = 0;
            for token in code(all[pick], &text) {
                prop_assert!(token.at >= end && !token.text.is_empty());
                end = token.end();
            }
        }
    }

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
