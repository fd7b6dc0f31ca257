//! The anchor grammar, what an anchor is worth, and how its place is stamped.

use super::evidence::Basis;
use super::scalar::Count;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// Characters an anchor may have.
pub const MAX_ANCHOR: usize = 4000;

/// A place where a proof is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Anchor {
    /// `path:line` or `path:line-line`, from 1.
    #[allow(missing_docs)]
    Lines {
        path: String,
        first: usize,
        last: usize,
    },
    /// `path:symbol`.
    #[allow(missing_docs)]
    Symbol { path: String, symbol: String },
    /// `test:NAME`.
    Test(String),
    /// `cmd:COMMAND#TEXT`, split at the last `#`.
    #[allow(missing_docs)]
    Command { command: String, text: String },
    /// `doc:WHERE` or `doc:WHERE#SECTION`.
    #[allow(missing_docs)]
    Doc {
        place: String,
        section: Option<String>,
    },
    /// `user@ID` or `user@ID: 'QUOTE'`.
    #[allow(missing_docs)]
    User { id: String, quote: Option<String> },
    /// `gone:PATH` or `gone:PATH#LINE`: a file, or a line of it, that is not there any more.
    #[allow(missing_docs)]
    Gone { path: String, line: Option<String> },
    /// `entry:PATH`: a file's mode and content as a whole.
    Entry(String),
    /// `commit:SHA`.
    Commit(String),
    /// `receipt:ID`.
    Receipt(String),
}

/// Why a text is not an anchor: a lowercase fragment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub String);

fn refuse_form<T>(why: impl Into<String>) -> Result<T, Malformed> {
    Err(Malformed(why.into()))
}

impl Anchor {
    /// The file of the repository that it names a part of.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Lines { path, .. }
            | Self::Symbol { path, .. }
            | Self::Gone { path, .. }
            | Self::Entry(path)
            | Self::Doc { place: path, .. } => Some(path),
            _ => None,
        }
    }

    /// The kind of proof that its form has by itself.
    pub fn basis(&self) -> Basis {
        match self {
            Self::Lines { .. }
            | Self::Symbol { .. }
            | Self::Gone { .. }
            | Self::Entry(_)
            | Self::Commit(_) => Basis::Observed,
            Self::Test(_) => Basis::Test,
            Self::Command { .. } | Self::Receipt(_) => Basis::Output,
            Self::User { .. } => Basis::User,
            Self::Doc { .. } => Basis::Doc,
        }
    }

    /// Reads an anchor.
    ///
    /// # Errors
    /// When the text follows no form of the grammar.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        if text.chars().count() > MAX_ANCHOR {
            return refuse_form(format!("an anchor is longer than {MAX_ANCHOR} characters"));
        }
        if text.chars().any(char::is_control) {
            return refuse_form("an anchor holds a control character");
        }
        let text = text.trim();
        if let Some(name) = text.strip_prefix("test:") {
            return parse_name(name, "a test's name").map(Self::Test);
        }
        if let Some(rest) = text.strip_prefix("cmd:") {
            return command(rest);
        }
        if let Some(rest) = text.strip_prefix("doc:") {
            return doc(rest);
        }
        if let Some(rest) = text.strip_prefix("gone:") {
            let (path, line) = match rest.split_once('#') {
                Some((path, line)) => (path, Some(parse_name(line, "the line")?)),
                None => (rest, None),
            };
            let path = parse_name(path, "the path")?;
            check_path(&path)?;
            return Ok(Anchor::Gone { path, line });
        }
        if let Some(rest) = text.strip_prefix("entry:") {
            let path = parse_name(rest, "the path")?;
            check_path(&path)?;
            return Ok(Anchor::Entry(path));
        }
        if let Some(rest) = text.strip_prefix("user@") {
            return user(rest);
        }
        if let Some(id) = text.strip_prefix("commit:") {
            return hex(id, 4..=64, "a commit id").map(Self::Commit);
        }
        if let Some(id) = text.strip_prefix("receipt:") {
            return hex(id, 64..=64, "a receipt id").map(Self::Receipt);
        }
        place(text)
    }
}

fn parse_name(text: &str, what: &str) -> Result<String, Malformed> {
    let text = text.trim();
    if text.is_empty() {
        return refuse_form(format!("{what} is missing"));
    }
    Ok(text.to_owned())
}

fn hex(
    text: &str,
    length: std::ops::RangeInclusive<usize>,
    what: &str,
) -> Result<String, Malformed> {
    let text = text.trim();
    if length.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(text.to_ascii_lowercase());
    }
    refuse_form(format!("`{text}` is not {what}"))
}

fn command(rest: &str) -> Result<Anchor, Malformed> {
    let Some((command, text)) = rest.rsplit_once('#') else {
        return refuse_form("`cmd:` needs `#` and a line of the output, or `#exit`");
    };
    let command = parse_name(command, "the command")?;
    if !shell_words::split(&command).is_ok_and(|words| !words.is_empty()) {
        return refuse_form("the command has an open quote");
    }
    Ok(Anchor::Command {
        command,
        text: parse_name(text, "what stands after `#`")?,
    })
}

fn doc(rest: &str) -> Result<Anchor, Malformed> {
    let (place, section) = match rest.split_once('#') {
        Some((place, section)) => (place, Some(parse_name(section, "the section")?)),
        None => (rest, None),
    };
    let place = parse_name(place, "the document")?;
    if !place.contains("://") {
        check_path(&place)?;
    }
    Ok(Anchor::Doc { place, section })
}

fn user(rest: &str) -> Result<Anchor, Malformed> {
    let (id, quote) = match rest.split_once(':') {
        Some((id, quote)) => (id, Some(quote.trim())),
        None => (rest, None),
    };
    let id = parse_name(id, "the message's id")?;
    if id.contains(char::is_whitespace) {
        return refuse_form("a message's id has no blanks");
    }
    let quote = match quote {
        Some(quote) => match quote.strip_prefix('\'').and_then(|q| q.strip_suffix('\'')) {
            Some(quote) if !quote.is_empty() => Some(quote.to_owned()),
            _ => return refuse_form("a quote stands between `'` and `'`"),
        },
        None => None,
    };
    Ok(Anchor::User { id, quote })
}

/// `path:line[-line]` or `path:symbol`.
fn place(text: &str) -> Result<Anchor, Malformed> {
    if let Some((path, lines)) = text.rsplit_once(':')
        && lines.starts_with(|c: char| c.is_ascii_digit())
        && lines
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-')
    {
        check_path(path)?;
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
        return match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => Ok(Anchor::Lines {
                path: path.to_owned(),
                first: first as usize,
                last: last as usize,
            }),
            (Some(_), Some(_)) => refuse_form(format!("lines {lines} run backwards")),
            _ => refuse_form(format!(
                "`{lines}` is not a line number from 1, or a pair of them"
            )),
        };
    }
    let Some((path, symbol)) = text.split_once(':') else {
        return refuse_form(format!(
            "`{text}` is not an anchor: a file needs `:line` or `:symbol`"
        ));
    };
    check_path(path)?;
    let fits = |c: char| c.is_alphanumeric() || "_.:$#!?-".contains(c);
    let begins = !symbol.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let names = symbol.contains(char::is_alphanumeric);
    if !(begins && names && symbol.chars().all(fits)) {
        return refuse_form(format!("`{symbol}` is neither a line nor a symbol"));
    }
    Ok(Anchor::Symbol {
        path: path.to_owned(),
        symbol: symbol.to_owned(),
    })
}

fn check_path(path: &str) -> Result<(), Malformed> {
    if path.is_empty() {
        return refuse_form("the path is missing");
    }
    let drive = matches!(path.as_bytes(), [_, b':', b'/' | b'\\', ..]);
    if path.starts_with('/') || path.starts_with('\\') || path.starts_with('~') || drive {
        return refuse_form(format!("`{path}` is not relative to the repository"));
    }
    if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return refuse_form(format!(
            "`{path}` is not a plain path inside the repository"
        ));
    }
    Ok(())
}

/// What an anchor is worth now.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    IntoStaticStr,
    JsonSchema,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It holds.
    Verified,
    /// It holds in another place.
    Moved,
    /// The place holds something else.
    Changed,
    /// The file, symbol, test or receipt is gone, or its gate is red.
    Missing,
    /// The receipt is of another tree.
    Stale,
    /// It cannot be told offline.
    Unverifiable,
    /// It does not follow the grammar.
    Malformed,
}

impl Verdict {
    /// The word in documents and answers.
    pub fn id(self) -> &'static str {
        self.into()
    }
}

/// The place an anchor pointed at when it was written down, so that it can be told
/// later whether the same thing still stands there, also when its commit is gone.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stamp {
    /// HEAD then; null on an unborn branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The branch then; null = detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Blob id of the file then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    /// Digest of the anchored lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_sha256: Option<String>,
    /// The same with the line before and the line after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_sha256: Option<String>,
    /// First anchored line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<Count>,
    /// How many lines are anchored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<Count>,
}

/// Whether a kind of proof may have that form.
pub fn fits(basis: Basis, anchor: &Anchor) -> bool {
    let is_place = matches!(anchor, Anchor::Lines { .. } | Anchor::Symbol { .. });
    anchor.basis() == basis || basis == Basis::Test && is_place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, first: usize, last: usize) -> Anchor {
        Anchor::Lines {
            path: path.to_owned(),
            first,
            last,
        }
    }

    #[test]
    fn every_form() {
        let symbol = |path: &str, symbol: &str| Anchor::Symbol {
            path: path.to_owned(),
            symbol: symbol.to_owned(),
        };
        let command = |command: &str, text: &str| Anchor::Command {
            command: command.to_owned(),
            text: text.to_owned(),
        };
        for (text, anchor) in [
            ("src/a.rs:10", lines("src/a.rs", 10, 10)),
            ("src/a.rs:10-12", lines("src/a.rs", 10, 12)),
            ("a: b/c.rs:3", lines("a: b/c.rs", 3, 3)),
            ("Makefile:build", symbol("Makefile", "build")),
            ("src/a.rs:Foo::bar", symbol("src/a.rs", "Foo::bar")),
            ("test:a::b c", Anchor::Test("a::b c".to_owned())),
            ("cmd:cargo test#exit", command("cargo test", "exit")),
            ("cmd:sh -c 'echo #1'#1", command("sh -c 'echo #1'", "1")),
            ("commit:ABCD12", Anchor::Commit("abcd12".to_owned())),
            ("entry:a/b.png", Anchor::Entry("a/b.png".to_owned())),
            (
                "gone:a.rs#fn old() {",
                Anchor::Gone {
                    path: "a.rs".to_owned(),
                    line: Some("fn old() {".to_owned()),
                },
            ),
        ] {
            assert_eq!(Anchor::parse(text), Ok(anchor), "{text}");
        }
        assert!(matches!(
            Anchor::parse("doc:https://example.org/a#b"),
            Ok(Anchor::Doc {
                section: Some(_),
                ..
            })
        ));
        assert!(matches!(
            Anchor::parse("user@m12: 'it's done'"),
            Ok(Anchor::User { quote: Some(quote), .. }) if quote == "it's done"
        ));
        assert!(Anchor::parse(&format!("receipt:{}", "a".repeat(64))).is_ok());
    }

    #[test]
    fn what_is_no_anchor() {
        for text in [
            "",
            "README.md",
            "src/a.rs:0",
            "src/a.rs:5-3",
            "src/a.rs:1-",
            "src/a.rs:-1",
            "src/a.rs:1-2-3",
            "src/a.rs:99999999999",
            "../a.rs:1",
            "a/../b.rs:1",
            "/etc/passwd:1",
            "C:\\a:1",
            "~/a:1",
            "a//b:1",
            "./a:1",
            ":1",
            "src/a.rs:",
            "src/a.rs:two words",
            "http://x",
            "gone:",
            "gone:../a",
            "gone:a#",
            "entry:/etc/passwd",
            "test:",
            "test:  ",
            "cmd:cargo test",
            "cmd:#exit",
            "cmd:a#",
            "cmd:'a#exit",
            "doc:",
            "doc:../x",
            "doc:/etc/passwd",
            "user@",
            "user@a b",
            "user@a: quote",
            "user@a: ''",
            "commit:xyz",
            "commit:abc",
            "receipt:abcd",
            "a\u{1b}[31m:1",
            "a.rs:1\nb",
        ] {
            assert!(Anchor::parse(text).is_err(), "{text:?}");
        }
        assert!(Anchor::parse(&"a".repeat(MAX_ANCHOR + 1)).is_err());
    }

    #[test]
    fn each_basis_has_its_forms() {
        let forms = [
            "a:1",
            "a:b",
            "commit:abcd",
            "test:a",
            "cmd:a#exit",
            "user@a",
            "doc:a",
        ];
        for form in forms {
            let anchor = Anchor::parse(form).unwrap();
            assert!(fits(anchor.basis(), &anchor), "{form}");
        }
        let fit = |basis| {
            let anchors = forms.iter().map(|form| Anchor::parse(form).unwrap());
            anchors
                .map(|anchor| fits(basis, &anchor))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            fit(Basis::Observed),
            [true, true, true, false, false, false, false]
        );
        assert_eq!(
            fit(Basis::Test),
            [true, true, false, true, false, false, false]
        );
        assert_eq!(
            fit(Basis::Output),
            [false, false, false, false, true, false, false]
        );
        assert_eq!(
            fit(Basis::User),
            [false, false, false, false, false, true, false]
        );
        assert_eq!(
            fit(Basis::Doc),
            [false, false, false, false, false, false, true]
        );
    }
}
