//! Whole statements of a text.

use crate::language::Language;
use crate::lex::{Kind, Token};
use crate::suite::{last_line, line_starts};
use std::ops::Range;

/// Words that begin what is no statement that could be left out.
const KEPT: [&str; 70] = [
    "let",
    "const",
    "var",
    "val",
    "import",
    "from",
    "use",
    "package",
    "fn",
    "def",
    "defp",
    "class",
    "return",
    "if",
    "elif",
    "elsif",
    "else",
    "for",
    "foreach",
    "while",
    "match",
    "switch",
    "case",
    "default",
    "try",
    "catch",
    "except",
    "finally",
    "rescue",
    "pub",
    "mod",
    "struct",
    "enum",
    "impl",
    "type",
    "trait",
    "raise",
    "throw",
    "break",
    "continue",
    "export",
    "function",
    "func",
    "fun",
    "interface",
    "static",
    "public",
    "private",
    "protected",
    "async",
    "unsafe",
    "extern",
    "macro_rules",
    "loop",
    "do",
    "end",
    "then",
    "fi",
    "done",
    "esac",
    "local",
    "declare",
    "readonly",
    "global",
    "nonlocal",
    "with",
    "include",
    "using",
    "namespace",
    "module",
];
/// Words that begin what is only told to people.
const TOLD: [&str; 14] = [
    "log",
    "logger",
    "logging",
    "console",
    "debug",
    "trace",
    "info",
    "warn",
    "tracing",
    "slog",
    "Log",
    "LOG",
    "debug_assert",
    "assert",
];

/// Statements that do something and could be left out, as ranges of tokens.
pub(super) fn statements(language: Language, tokens: &[Token]) -> Vec<Range<usize>> {
    let found = match language {
        Language::Python | Language::Shell | Language::Ruby | Language::Elixir => by_lines(tokens),
        Language::Other => Vec::new(),
        _ => by_ends(language, tokens),
    };
    found
        .into_iter()
        .filter(|range| does_something(language, &tokens[range.clone()]))
        .collect()
}

fn by_lines(tokens: &[Token]) -> Vec<Range<usize>> {
    let starts = line_starts(tokens);
    let ends = starts.iter().skip(1).copied().chain([tokens.len()]);
    starts
        .iter()
        .copied()
        .zip(ends)
        .map(|(from, to)| from..to)
        .collect()
}

/// Statements that end with `;`, or with their line where nothing is open and nothing goes on.
fn by_ends(language: Language, tokens: &[Token]) -> Vec<Range<usize>> {
    let by_line = language.is_line_based() || language == Language::JavaScript;
    let mut found = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let mut from = 0;
    for (at, token) in tokens.iter().enumerate() {
        let inside = open.last().is_some_and(|last| *last != "{");
        let before = at.checked_sub(1).map(|at| tokens[at]);
        let breaks = before.is_some_and(|before| {
            last_line(&before) < token.line && !goes_on(&before) && !token.is(".")
        });
        if by_line && breaks && !inside && from < at {
            found.push(from..at);
            from = at;
        }
        if token.kind != Kind::Mark {
            continue;
        }
        match token.text {
            "(" | "[" | "{" => {
                // A block within parentheses holds statements of its own.
                open.push(token.text);
                if token.text == "{" {
                    from = at + 1;
                }
            }
            ")" | "]" | "}" => {
                open.pop();
                if token.text == "}" {
                    from = at + 1;
                }
            }
            ";" if !inside => {
                if from < at {
                    found.push(from..at + 1);
                }
                from = at + 1;
            }
            _ => {}
        }
    }
    found
}

fn goes_on(last: &Token) -> bool {
    last.kind == Kind::Mark && !matches!(last.text, ")" | "]" | "}" | "++" | "--" | ";")
}

fn does_something(language: Language, own: &[Token]) -> bool {
    let (Some(first), Some(last)) = (own.first(), own.last()) else {
        return false;
    };
    if first.kind != Kind::Word && !first.is("*")
        || KEPT.contains(&first.text)
        || TOLD.contains(&first.text)
    {
        return false;
    }
    let balanced = ["()", "[]", "{}"].iter().all(|pair| {
        let count = |text: &str| {
            own.iter()
                .filter(|token| token.kind == Kind::Mark && token.text == text)
                .count()
        };
        count(&pair[..1]) == count(&pair[1..])
    });
    let opens =
        matches!(last.text, "{" | ":" | "do" | "(" | "," | "then") && last.kind != Kind::Text;
    if !balanced || opens || own.iter().any(|token| token.is(":=")) {
        return false;
    }
    if language == Language::Shell {
        let plain = first
            .text
            .chars()
            .all(|c| c.is_alphanumeric() || "_-./$".contains(c));
        return plain
            && !first.is("}")
            && !first.is("{")
            && !matches!(
                first.text,
                "set" | "exit" | "shift" | "trap" | "echo" | "printf"
            )
            && !(own.get(1).is_some_and(|next| next.is("(")));
    }
    let calls = own.iter().any(|token| token.is("("));
    let assigns = own.iter().any(|token| {
        matches!(
            token.text,
            "=" | "+=" | "-=" | "*=" | "/=" | "|=" | "&=" | "++" | "--"
        ) && token.kind == Kind::Mark
    });
    // A type before a name declares it: `int x = 1;`.
    let declares = own.len() > 2 && own[0].kind == Kind::Word && own[1].kind == Kind::Word;
    let ruby = matches!(language, Language::Ruby | Language::Elixir) && own.len() > 1;
    (calls || assigns || ruby) && !declares
}
