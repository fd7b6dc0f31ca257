//! Source text as tokens: words, numbers, texts (string literals), comments and marks, by the
//! language's own rules as far as tests and planted defects need them. It never fails: what is
//! open at the end of the text ends there.

mod literal;

use crate::language::Language;
use literal::{
    block_comment, is_shell_meta, measure_quoted, number, one_line, percent, plain, python_literal,
    regex, rust_literal, shell_text, shell_word, template,
};
use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Word,
    Number,
    /// A string or character literal with its quotes, a regular expression, a here-document.
    Text,
    Comment,
    Mark,
}

/// A token, with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// What it is.
    pub kind: Kind,
    /// As it stands.
    pub text: &'a str,
    /// Bytes before it.
    pub at: usize,
    /// From 1.
    pub line: usize,
    /// Bytes between the line's begin and it.
    pub column: usize,
}

impl Token<'_> {
    /// The byte behind it.
    pub fn end(&self) -> usize {
        self.at + self.text.len()
    }

    /// A mark or a word that reads so.
    pub fn is(&self, text: &str) -> bool {
        self.text == text && matches!(self.kind, Kind::Mark | Kind::Word)
    }
}

/// Marks of more than one character, longest first.
const MARKS: [&str; 39] = [
    "===", "!==", "<<=", ">>=", "...", "..=", "**=", "||=", "&&=", "<=>", "->", "=>", "==", "!=",
    "<=", ">=", "&&", "||", "::", "..", "<<", ">>", "+=", "-=", "*=", "/=", "%=", "++", "--", ":=",
    "<-", "?.", "??", "|>", "=~", "!~", ";;", "**", "?:",
];

/// Every token of a text.
pub fn tokens(language: Language, text: &str) -> Vec<Token<'_>> {
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

/// The same without comments.
pub fn code(language: Language, text: &str) -> Vec<Token<'_>> {
    let mut found = tokens(language, text);
    found.retain(|token| token.kind != Kind::Comment);
    found
}

struct Lexer<'a> {
    language: Language,
    text: &'a str,
    at: usize,
    line: usize,
    line_start: usize,
    found: Vec<Token<'a>>,
    /// Ends of here-documents that begin behind this line.
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
            if !self.here.is_empty() {
                self.take_here_document();
            }
        } else if c.is_whitespace() {
            self.at += c.len_utf8();
        } else if let Some(len) = self.comment(rest) {
            self.push(Kind::Comment, len);
        } else if let Some(len) = self.literal(rest, c) {
            self.push(Kind::Text, len);
        } else if self.language == Language::Shell && !is_shell_meta(c) {
            self.push(Kind::Word, shell_word(rest));
        } else if c.is_ascii_digit() {
            self.push(Kind::Number, number(rest));
        } else if self.begins_word(c) {
            let len = self.word(rest);
            self.push(Kind::Word, len);
        } else {
            self.note_here_document(rest);
            let known = MARKS.iter().find(|mark| rest.starts_with(**mark));
            self.push(Kind::Mark, known.map_or(c.len_utf8(), |mark| mark.len()));
        }
        true
    }

    fn push(&mut self, kind: Kind, len: usize) {
        let text = &self.text[self.at..self.at + len];
        self.found.push(Token {
            kind,
            text,
            at: self.at,
            line: self.line,
            column: self.at - self.line_start,
        });
        self.at += len;
        if let Some(last) = text.rfind('\n') {
            self.line += text.matches('\n').count();
            self.line_start = self.at - (text.len() - last - 1);
        }
    }

    fn comment(&self, rest: &str) -> Option<usize> {
        let to_end = || Some(rest.find('\n').unwrap_or(rest.len()));
        if self.language.has_slash_comments() {
            if rest.starts_with("//") {
                return to_end();
            }
            if rest.starts_with("/*") {
                return Some(block_comment(rest, self.nests()));
            }
        }
        if self.language.has_hash_comments() && rest.starts_with('#') {
            let before = self.text[..self.at].chars().next_back();
            let inside = self.language == Language::Shell
                && before.is_some_and(|c| !c.is_whitespace() && !";()|&".contains(c));
            let attribute = self.language == Language::Php && rest.starts_with("#[");
            return if inside || attribute { None } else { to_end() };
        }
        if self.language == Language::Ruby
            && self.at == self.line_start
            && rest.starts_with("=begin")
        {
            let end = rest.find("\n=end").map_or(rest.len(), |at| at + 5);
            return Some(end);
        }
        None
    }

    fn nests(&self) -> bool {
        matches!(
            self.language,
            Language::Rust | Language::Kotlin | Language::Swift
        )
    }

    /// The length of a literal that begins here.
    fn literal(&self, rest: &str, c: char) -> Option<usize> {
        use Language::*;
        let bare = |from: usize, quote: char| from + measure_quoted(&rest[from..], quote);
        match self.language {
            Rust => rust_literal(rest, c),
            Python => python_literal(rest),
            Shell => match c {
                '\'' => Some(plain(rest, '\'')),
                '$' if rest.starts_with("$'") => Some(bare(1, '\'')),
                '"' => Some(shell_text(rest)),
                '`' => Some(measure_quoted(rest, '`')),
                _ => None,
            },
            JavaScript => match c {
                '"' | '\'' => Some(one_line(rest, c)),
                '`' => Some(template(rest)),
                '/' if self.may_begin_value() => regex(rest),
                _ => None,
            },
            Go => match c {
                '"' | '\'' => Some(one_line(rest, c)),
                '`' => Some(plain(rest, '`')),
                _ => None,
            },
            Ruby => match c {
                '"' | '\'' | '`' => Some(measure_quoted(rest, c)),
                '/' if self.may_begin_value() => regex(rest),
                '%' => percent(rest),
                _ => None,
            },
            Elixir | Kotlin | Java | Swift | CSharp if rest.starts_with("\"\"\"") => {
                Some(rest[3..].find("\"\"\"").map_or(rest.len(), |at| at + 6))
            }
            Kotlin if c == '`' => Some(one_line(rest, '`')),
            CSharp if rest.starts_with("@\"") => Some(1 + plain(&rest[1..], '"')),
            Php => matches!(c, '"' | '\'').then(|| measure_quoted(rest, c)),
            _ => matches!(c, '"' | '\'').then(|| one_line(rest, c)),
        }
    }

    /// A `/` here begins a regular expression, not a division.
    fn may_begin_value(&self) -> bool {
        let Some(last) = self.found.iter().rev().find(|t| t.kind != Kind::Comment) else {
            return true;
        };
        match last.kind {
            Kind::Mark => !matches!(last.text, ")" | "]" | "}"),
            Kind::Word => matches!(
                last.text,
                "return"
                    | "typeof"
                    | "case"
                    | "in"
                    | "of"
                    | "if"
                    | "unless"
                    | "when"
                    | "and"
                    | "or"
            ),
            _ => false,
        }
    }

    fn begins_word(&self, c: char) -> bool {
        c.is_alphabetic()
            || c == '_'
            || match self.language {
                Language::JavaScript | Language::Php => c == '$',
                Language::Ruby => c == '@' || c == '$',
                _ => false,
            }
    }

    fn word(&self, rest: &str) -> usize {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '@');
        let len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let behind = &rest[len..];
        let asks = matches!(self.language, Language::Ruby | Language::Elixir)
            && behind.starts_with(['?', '!'])
            && !behind[1..].starts_with(['=', '~']);
        len.max(1) + usize::from(asks && len > 0)
    }

    /// `<<EOF`, `<<-'EOF'`, `<<~EOF`.
    fn note_here_document(&mut self, rest: &'a str) {
        if !matches!(self.language, Language::Shell | Language::Ruby)
            || !rest.starts_with("<<")
            || rest.starts_with("<<<")
        {
            return;
        }
        let marked = rest[2..].starts_with(['-', '~']);
        let name = rest[2..].trim_start_matches(['-', '~']);
        let name = name.strip_prefix(['\'', '"']).unwrap_or(name);
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let len = name.find(|c| !is_part(c)).unwrap_or(name.len());
        let (name, _) = name.split_at(len);
        let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        if is_name && (self.language == Language::Shell || marked) {
            self.here.push(name);
        }
    }

    fn take_here_document(&mut self) {
        let mut len = 0;
        for name in std::mem::take(&mut self.here) {
            let rest = &self.text[self.at + len..];
            let mut read = 0;
            for line in rest.split_inclusive('\n') {
                read += line.len();
                if line.trim() == name {
                    break;
                }
            }
            len += read;
        }
        let whole = &self.text[self.at..self.at + len];
        let without_end = whole.strip_suffix('\n').unwrap_or(whole);
        if !without_end.is_empty() {
            self.push(Kind::Text, without_end.len());
        }
    }
}

/// The index of the token that closes the one at `open`; the last one where none does.
pub(crate) fn close(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if token.kind != Kind::Mark {
            continue;
        }
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    tokens.len().saturating_sub(1)
}

/// The tokens between the one at `open` and the one that closes it: none where the text ends there.
pub(crate) fn between(tokens: &[Token], open: usize) -> Range<usize> {
    let begin = (open + 1).min(tokens.len());
    begin..close(tokens, open).max(begin)
}

/// A text literal without its quotes and prefix.
pub(crate) fn inside(text: &str) -> &str {
    let from = text.find(['"', '\'', '`']).unwrap_or(0);
    let (prefix, rest) = text.split_at(from);
    let is_prefix = prefix.len() <= 2;
    let rest = if is_prefix { rest } else { text };
    let quote = rest.chars().next();
    match quote {
        Some('"' | '\'' | '`') => rest.trim_matches(quote.unwrap_or_default()),
        _ => rest,
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
                "fn f<'a>(c: &'a str) { '\\'' r#\"a\"b\"# /* x /* y */ */ b\"z\" 1..2 } // end",
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
                    "b\"z\"",
                    "1",
                    "..",
                    "2",
                    "}",
                ][..],
            ),
            (
                Python,
                "x = f\"a{b}\" # c\ny = '''a\n# b'''\nz = rb'x' == 1e-3",
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
                    "1e-3",
                ],
            ),
            (
                JavaScript,
                "a = `x ${b(`y`)} z` / 2; c.test(/a\\/[/]b/gi) // d",
                &[
                    "a",
                    "=",
                    "`x ${b(`y`)} z`",
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
                "echo \"a $(b \"c\") d\" x#y # z\ncat <<'E' | f\n# no comment\nE\nexit ${1#a}",
                &[
                    "echo",
                    "\"a $(b \"c\") d\"",
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
                "a.empty? ; x = %w[a b] # c\n@b !~ /x y/",
                &[
                    "a", ".", "empty?", ";", "x", "=", "%w[a b]", "@b", "!~", "/x y/",
                ],
            ),
        ] {
            assert_eq!(list_code(language, text), expected, "{language:?}");
        }
        let places = tokens(Python, "a = '''x\ny''' + b\nc");
        let b = places.iter().find(|token| token.text == "b");
        assert_eq!(b.map(|token| (token.line, token.column)), Some((2, 7)));
        assert_eq!(inside("rb'x'"), "x");
        assert_eq!(inside("\"it's\""), "it's");
    }

    proptest! {
        #[test]
        fn any_text_is_read_in_order_and_nothing_twice(text in "\\PC{0,80}", pick in 0usize..14) {
            use Language::*;
            let all = [Rust, Python, JavaScript, Go, Shell, Java, Kotlin, Ruby, C, CSharp, Php, Swift, Elixir, Other];
            let mut end = 0;
            for token in tokens(all[pick], &text) {
                prop_assert!(token.at >= end && !token.text.is_empty());
                end = token.end();
            }
        }

        #[test]
        fn quotes_and_brackets_of_all_kinds_do_not_upset_it(text in "[\"'`/#$(){}\\[\\]\\\\%<r\\-EOF\n ab1=*]{0,60}", pick in 0usize..14) {
            use Language::*;
            let all = [Rust, Python, JavaScript, Go, Shell, Java, Kotlin, Ruby, C, CSharp, Php, Swift, Elixir, Other];
            let mut end = 0;
            for token in tokens(all[pick], &text) {
                prop_assert!(token.at >= end && !token.text.is_empty());
                end = token.end();
            }
        }
    }
}
