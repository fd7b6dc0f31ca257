//! In-place editing of JSON with comments. Pure.
//!
//! `jsonc-parser` provides the positions; everything that is not changed stays byte for byte. The parser's own edits
//! are not used: they reformat a single-line object, and removing the entry later does not restore it.
//!
//! An entry goes on a line of its own if the previous entry is on its own line, otherwise it follows on the same line.
//! Thus the text shows whether an object existed before: in an object that cook created, the first entry begins a line;
//! in an empty object of the user, it follows the brace and extends over several lines.

use cook_protocol::model::hook_table::Lenience;
use jsonc_parser::ast::Value as Node;
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

const BOM: &str = "\u{feff}";

/// The reason why a text cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsoncError {
    /// It is not JSON, with or without comments.
    #[error("it is not valid JSON (line {0})")]
    Syntax(usize),
    /// Cook can parse it, but the agent cannot.
    #[error(
        "the agent does not read it: line {0} has a comment or a comma behind the last entry; take that out"
    )]
    Unread(usize),
    /// Something else is in the place of an object or a list.
    #[error("`{0}` is not what it should be")]
    Shape(String),
}

/// Checks that an agent can read a text: JSON with only the extensions that it `reads`.
pub fn check(text: &str, reads: &[Lenience]) -> Result<(), JsoncError> {
    let text = text.trim_start_matches(BOM);
    let options = options(|beside| reads.contains(&beside));
    let found = parse_to_ast(text, &CollectOptions::default(), &options);
    found.map_or_else(
        |error| Err(JsoncError::Unread(error.line_display())),
        |_| Ok(()),
    )
}

fn options(takes: impl Fn(Lenience) -> bool) -> ParseOptions {
    ParseOptions {
        allow_comments: takes(Lenience::Comments),
        allow_trailing_commas: takes(Lenience::TrailingCommas),
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// The value of a text; an empty text is an empty object.
pub fn value(text: &str) -> Result<Value, JsoncError> {
    Ok(match is_blank(text) {
        true => Value::Object(serde_json::Map::new()),
        false => Text::read(text)?.root.into(),
    })
}

/// Removes the entries of the list at `path` for which `ours` returns true, then the list and the objects around it if
/// they are empty and were created by cook. `None` if nothing is left.
pub fn remove(
    text: &str,
    path: &[&str],
    ours: &dyn Fn(&Value) -> bool,
) -> Result<Option<String>, JsoncError> {
    let mut text = text.to_owned();
    loop {
        let read = Text::read(&text)?;
        let Some(Node::Array(list)) = at_path(&read.root, path) else {
            return Ok(Some(text));
        };
        let of_ours = |node: &Node<'_>| ours(&node.clone().into());
        let Some(index) = list.elements.iter().position(of_ours) else {
            return Ok(Some(text));
        };
        let index = index.to_string();
        match read.without(&[path, &[&index]].concat()) {
            Some(left) => text = left,
            None => return Ok(None),
        }
    }
}

/// Removes a member, and the objects around it as [`remove`] does.
pub fn remove_member(text: &str, path: &[&str]) -> Result<Option<String>, JsoncError> {
    let read = Text::read(text)?;
    Ok(match at_path(&read.root, path) {
        Some(_) => read.without(path),
        None => Some(text.to_owned()),
    })
}

/// Whether the text contains only white space, apart from a byte order mark.
pub fn is_blank(text: &str) -> bool {
    text.trim_start_matches(BOM).trim().is_empty()
}

/// Appends an entry to the list at `path`, or adds a member that does not exist yet; missing objects and the list are
/// created.
pub fn add(text: &str, path: &[&str], value: &Value, to_list: bool) -> Result<String, JsoncError> {
    let style = Style::of(text);
    let nested = |value: Value, names: &[&str]| {
        names.iter().rev().fold(value, |value, name| {
            Value::Object([((*name).to_owned(), value)].into_iter().collect())
        })
    };
    let listed = || Value::Array(vec![value.clone()]);
    if is_blank(text) {
        let whole = nested(if to_list { listed() } else { value.clone() }, path);
        return Ok(style.write(&whole, 0) + style.newline);
    }
    let read = Text::read(text)?;
    let depth = (0..=path.len())
        .rev()
        .find(|depth| at_path(&read.root, &path[..*depth]).is_some())
        .unwrap_or_default();
    let wrong = || JsoncError::Shape(path[..depth].join("."));
    let holder = at_path(&read.root, &path[..depth]).ok_or_else(wrong)?;
    match (holder, path[depth..].split_first()) {
        (Node::Array(_), None) if to_list => Ok(read.with(holder, depth, &style, "", value)),
        (Node::Object(_), Some((name, rest))) => {
            let value = nested(if to_list { listed() } else { value.clone() }, rest);
            let key = format!("{}: ", Value::from(*name));
            Ok(read.with(holder, depth, &style, &key, &value))
        }
        _ => Err(wrong()),
    }
}

/// The node at a path. Of several members with the same name the last one counts, as for other readers of the file; a
/// number is the index of an entry in a list.
fn at_path<'n, 't>(root: &'n Node<'t>, path: &[&str]) -> Option<&'n Node<'t>> {
    path.iter().try_fold(root, |node, name| match node {
        Node::Object(object) => {
            let mut members = object.properties.iter().rev();
            let named = members.find(|member| member.name.as_str() == *name)?;
            Some(&named.value)
        }
        Node::Array(list) => list.elements.get(name.parse::<usize>().ok()?),
        _ => None,
    })
}

/// The ranges of the entries of an object or list.
fn entries(node: &Node) -> Vec<Range> {
    match node {
        Node::Object(object) => object.properties.iter().map(Ranged::range).collect(),
        Node::Array(list) => list.elements.iter().map(Ranged::range).collect(),
        _ => Vec::new(),
    }
}

/// A parsed text.
struct Text<'t> {
    /// The byte order mark, which the parser does not accept.
    bom: &'t str,
    text: &'t str,
    root: Node<'t>,
    tokens: Vec<TokenAndRange<'t>>,
}

impl<'t> Text<'t> {
    fn read(whole: &'t str) -> Result<Self, JsoncError> {
        let (bom, text) = whole.split_at(whole.len() - whole.trim_start_matches(BOM).len());
        let collected = CollectOptions {
            comments: CommentCollectionStrategy::AsTokens,
            tokens: true,
        };
        let found = parse_to_ast(text, &collected, &options(|_| true))
            .map_err(|error| JsoncError::Syntax(error.line_display()))?;
        Ok(Self {
            bom,
            text,
            root: found.value.ok_or(JsoncError::Syntax(1))?,
            tokens: found.tokens.unwrap_or_default(),
        })
    }

    fn list_tokens(&self, from: usize, to: usize) -> impl Iterator<Item = &TokenAndRange<'t>> {
        let within = move |token: &&TokenAndRange| from <= token.start() && token.end() <= to;
        self.tokens.iter().filter(within)
    }

    fn breaks_line(&self, from: usize, to: usize) -> bool {
        self.text[from..to].contains('\n')
    }

    /// The last token before a position: a comment, a comma or a bracket.
    fn before(&self, place: usize) -> Option<&TokenAndRange<'t>> {
        self.tokens.iter().rfind(|token| token.end() <= place)
    }

    /// The text with an entry appended to an object or list.
    fn with(&self, holder: &Node, depth: usize, style: &Style, key: &str, value: &Value) -> String {
        let close = holder.end() - 1;
        let last = entries(holder).last().copied();
        let from = last.map_or(holder.start() + 1, |last| last.end);
        let comma = self
            .list_tokens(from, close)
            .find(|token| token.token == Token::Comma);
        // The new entry follows the comma after the last entry; comments on that line stay with the last entry.
        let mut at = comma.map_or(from, Ranged::end);
        let mut own_line = match last {
            Some(last) => {
                let before = self.before(last.start).map_or(0, Ranged::end);
                self.breaks_line(before, last.start)
            }
            None => self.list_tokens(from, close).next().is_some(),
        };
        for comment in self.list_tokens(at, close) {
            if self.breaks_line(at, comment.start()) {
                break;
            }
            at = comment.end();
            own_line |= matches!(comment.token, Token::CommentLine(_));
        }
        let gap = match (own_line, last) {
            (true, _) => format!("{}{}", style.newline, style.unit.repeat(depth + 1)),
            (false, Some(_)) => " ".to_owned(),
            (false, None) => String::new(),
        };
        let (comma_before, comma_behind) = match (last, comma) {
            (Some(_), None) => (",", ""),
            (_, Some(_)) => ("", ","),
            (None, None) => ("", ""),
        };
        let value = style.write(value, depth + usize::from(own_line));
        format!(
            "{}{}{comma_before}{}{gap}{key}{value}{comma_behind}{}",
            self.bom,
            &self.text[..from],
            &self.text[from..at],
            &self.text[at..]
        )
    }

    /// The text without the entry at `path`, and without the object or list around it if that was created for it.
    /// `None` if nothing is left.
    fn without(&self, path: &[&str]) -> Option<String> {
        let (_, above) = path.split_last()?;
        let entry = at_path(&self.root, path)?.range();
        let holder = at_path(&self.root, above)?;
        let all = entries(holder);
        let entry = *all.iter().find(|one| one.end == entry.end)?;
        let before = self.before(entry.start)?;
        // Outside of the root there can only be comments, which are the user's.
        let around = match above {
            [] => 0..self.text.len(),
            _ => holder.start() + 1..holder.end() - 1,
        };
        let is_bracket =
            |token: &TokenAndRange| token.start() == holder.start() || token.end() == holder.end();
        let others = self
            .list_tokens(around.start, around.end)
            .filter(|token| !is_bracket(token))
            .any(|token| token.end() <= entry.start || token.start() >= entry.end);
        // If someone has joined the lines, the creator of the holder cannot be determined.
        let is_theirs = self.breaks_line(entry.start, entry.end)
            && !self.breaks_line(before.end(), entry.start);
        if !others && !is_theirs {
            return self.without(above);
        }
        Some(self.cut(entry, before))
    }

    /// The text without an entry, the white space before it, and one comma.
    fn cut(&self, entry: Range, before: &TokenAndRange) -> String {
        let is_comment = |token: &TokenAndRange| {
            matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_))
        };
        let is_comma = |token: &&TokenAndRange| token.token == Token::Comma;
        let mut behind = self.list_tokens(entry.end, self.text.len());
        let comma_behind = behind.find(|token| !is_comment(token)).filter(is_comma);
        let mut ahead = self.tokens.iter().rev();
        let comma_ahead = ahead
            .find(|token| token.end() <= entry.start && !is_comment(token))
            .filter(is_comma);
        // A line comment before the entry keeps its line break, unless a line break follows the entry.
        let lead = &self.text[before.end()..entry.start];
        let rest = &self.text[entry.end..];
        let rest = rest.strip_prefix(',').unwrap_or(rest);
        let ends = rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
        let kept = match (&before.token, lead.find('\n')) {
            (Token::CommentLine(_), Some(at)) if !ends => at + 1,
            _ => 0,
        };
        let own = Range::new(before.end() + kept, entry.end);
        let comma = comma_behind.or(comma_ahead).map(Ranged::range);
        let mut cuts: Vec<Range> = comma.into_iter().chain([own]).collect();
        cuts.sort_by_key(|cut| cut.start);
        let mut left = self.bom.to_owned();
        let mut from = 0;
        for cut in cuts {
            left.push_str(&self.text[from..cut.start]);
            from = cut.end;
        }
        left + &self.text[from..]
    }
}

/// The line breaks and indentation of a text.
struct Style {
    newline: &'static str,
    unit: String,
}

impl Style {
    fn of(text: &str) -> Self {
        let indented = text
            .lines()
            .map(|line| &line[..line.len() - line.trim_start_matches([' ', '\t']).len()])
            .find(|indent| !indent.is_empty());
        Self {
            newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
            unit: match indented {
                Some(indent) if indent.starts_with('\t') => "\t".to_owned(),
                Some(indent) if indent.len() <= 8 => indent.to_owned(),
                _ => "  ".to_owned(),
            },
        }
    }

    /// Formats a value over several lines; the first line is not indented.
    fn write(&self, value: &Value, depth: usize) -> String {
        let mut bytes = Vec::new();
        let pretty = PrettyFormatter::with_indent(self.unit.as_bytes());
        // Serializing a value into memory cannot fail.
        let _ = value.serialize(&mut Serializer::with_formatter(&mut bytes, pretty));
        let line = format!("{}{}", self.newline, self.unit.repeat(depth));
        String::from_utf8_lossy(&bytes).replace('\n', &line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::{collection::vec, sample::select};
    use serde_json::json;

    fn push(text: &str, path: &[&str], value: &Value) -> Result<String, JsoncError> {
        add(text, path, value, true)
    }

    fn insert(text: &str, path: &[&str], value: &Value) -> Result<String, JsoncError> {
        add(text, path, value, false)
    }

    const FILE: &str = "{\n    // mine\n    \"a\": 1, /* kept */\n    \"hooks\": {\n        \"Stop\": [\n            { \"theirs\": true } // too\n        ]\n    }\n}\n";

    #[test]
    fn what_is_added_and_taken_out_again_leaves_no_trace() {
        let files = [
            FILE,
            "{}",
            "{}\n",
            "{ }",
            "{\n}\n",
            "{\n\n  }",
            "{ // mine\n}\n",
            "{ /* mine */ }",
            "{\n  // mine\n}\n",
            "// mine\n{}\n// too\n",
            "{\"a\":1}",
            "{ \"a\" : 1 , }\n",
            "{ \"a\": 1 /* mine */ }",
            "{\"a\": 1 // mine\n}",
            "{\"a\": 1, // mine  \n // too\n}",
            "{\n  \"a\": 1\n  // mine\n}\n",
            "{\n  \"a\": 1 /* mine\n  too */ // three\n}\n",
            "{ \"a\": 1,\n  \"b\": 2 }",
            "{\n  \"a\": 1\n, \"b\": 2\n,\n}",
            "{\n  \"a\": [1, 2,],\n}\n",
            "{\r\n\t\"a\": 1\r\n}\r\n",
            "{\r\n\t\"a\": 1 // mine\r\n}\r\n",
            "\u{feff}{\n  \"a\": \"é // \\\" {\"\n}\n",
            "\u{feff}{}",
            "{\"hooks\": {}}",
            "{\n  \"hooks\": {\n  }\n}",
            "{\"hooks\": {\"Stop\": []}}",
            "{\"hooks\": {\"Stop\": [\n]}}",
            "{\"hooks\": {\"Stop\": [ /* mine */ ]}}",
            "{\"hooks\": {\"Stop\": [{\"theirs\": 1}]}}",
            "{\"hooks\": {\"Stop\": [{\"theirs\": 1},]},}",
            "{\"hooks\": {\"Start\": []}, \"Stop\": 1}",
        ];
        let ours = |value: &Value| value.get("ours").is_some();
        for file in files {
            let before = value(file).unwrap();
            let added = push(file, &["hooks", "Stop"], &json!({"ours": 1})).unwrap();
            let added = push(&added, &["hooks", "Start"], &json!({"ours": 2})).unwrap();
            let added = push(&added, &["hooks", "Stop"], &json!({"ours": [3, {}]})).unwrap();
            let added = insert(&added, &["line"], &json!({"ours": 4})).unwrap();
            let between = value(&added).unwrap();
            assert_eq!(between["hooks"]["Start"], json!([{"ours": 2}]), "{added}");
            assert_eq!(between["line"]["ours"], 4, "{added}");
            let paths = [["hooks", "Stop"], ["hooks", "Start"]];
            for order in [[0, 1], [1, 0]] {
                let mut out = remove_member(&added, &["line"]).unwrap().unwrap();
                for index in order {
                    out = remove(&out, &paths[index], &ours).unwrap().unwrap();
                }
                assert_eq!(value(&out).unwrap(), before);
                assert_eq!(out, file, "{added}");
            }
        }
    }

    /// White space and comments in any style.
    fn gap() -> impl Strategy<Value = &'static str> {
        select(vec![
            "",
            "",
            " ",
            "\n  ",
            "\r\n\t",
            "\n\n",
            " /* c, { */ ",
            "/* c\n*/",
            " // c, }\n",
            "//c \r\n  ",
        ])
    }

    fn holder(
        brackets: [&'static str; 2],
        entry: impl Strategy<Value = String>,
    ) -> impl Strategy<Value = String> {
        let entry = (gap(), entry, gap()).prop_map(|(a, entry, b)| format!("{a}{entry}{b}"));
        (vec(entry, 0..4), gap(), any::<bool>()).prop_map(move |(entries, tail, comma)| {
            let comma = if comma && !entries.is_empty() {
                ","
            } else {
                ""
            };
            let [open, close] = brackets;
            format!("{open}{}{comma}{tail}{close}", entries.join(","))
        })
    }

    fn member(
        name: &'static str,
        value: impl Strategy<Value = String>,
    ) -> impl Strategy<Value = String> {
        (gap(), gap(), value).prop_map(move |(a, b, value)| format!("\"{name}\"{a}:{b}{value}"))
    }

    fn file() -> impl Strategy<Value = String> {
        let leaf = || {
            select(vec![
                "1",
                "null",
                "\"é // \\\" {\"",
                "[2, 3]",
                "{\"x\": {}}",
            ])
        };
        let leaf = move || leaf().prop_map(str::to_owned);
        let list = || holder(["[", "]"], leaf());
        let events = prop_oneof![
            member("Stop", list()),
            member("Start", list()),
            member("b", leaf())
        ];
        let hooks = member("hooks", holder(["{", "}"], events));
        let root = holder(
            ["{", "}"],
            prop_oneof![2 => hooks, 1 => member("a", leaf())],
        );
        (select(vec!["", "\u{feff}"]), gap(), root, gap())
            .prop_map(|(bom, before, root, behind)| format!("{bom}{before}{root}{behind}"))
    }

    proptest! {
        #[test]
        fn nothing_of_a_file_is_lost_whatever_its_form(file in file()) {
            let ours = |value: &Value| value.get("ours").is_some();
            let before = value(&file).unwrap();
            let mut text = file.clone();
            let paths = [["hooks", "Stop"], ["hooks", "Start"], ["hooks", "Stop"]];
            for path in paths {
                text = push(&text, &path, &json!({"ours": [1]})).unwrap();
            }
            text = insert(&text, &["line"], &json!({"ours": 2})).unwrap();
            let held = value(&text).unwrap();
            prop_assert_eq!(held["hooks"]["Stop"].as_array().unwrap().iter().filter(|v| ours(v)).count(), 2);
            for path in paths {
                text = remove(&text, &path, &ours).unwrap().unwrap();
            }
            text = remove_member(&text, &["line"]).unwrap().unwrap();
            prop_assert_eq!(value(&text).unwrap(), before);
            prop_assert_eq!(text, file);
        }
    }

    #[test]
    fn a_file_that_was_made_here_goes_whole() {
        for file in ["", "\n", "\u{feff} "] {
            let added = push(file, &["hooks", "Stop"], &json!({"ours": 1})).unwrap();
            assert_eq!(
                added,
                "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"ours\": 1\n      }\n    ]\n  }\n}\n"
            );
            let ours = |value: &Value| value.get("ours").is_some();
            assert_eq!(remove(&added, &["hooks", "Stop"], &ours).unwrap(), None);
        }
    }

    #[test]
    fn what_others_added_since_stays() {
        let ours = |value: &Value| *value == json!(0);
        for (file, left) in [
            ("{\"l\": [0, 1]}", "{\"l\": [ 1]}"),
            ("{\"l\": [1, 0, 2]}", "{\"l\": [1, 2]}"),
            (
                "{\"l\": [\n  1, // one\n  0, 2]}",
                "{\"l\": [\n  1, // one\n 2]}",
            ),
            (
                "{\"l\": [\n  1 // one\n  ,0]}",
                "{\"l\": [\n  1 // one\n  ]}",
            ),
            ("{\"l\": [1, // one\n0]}", "{\"l\": [1 // one\n]}"),
            ("{\"l\": [\n  0 // whose\n]}", "{\"l\": [ // whose\n]}"),
            ("// mine\n{\n  \"l\": [\n    0\n  ]\n}\n", "// mine\n{\n}\n"),
            ("{\n  \"l\": [0]\n}\n// mine", "{\n}\n// mine"),
        ] {
            let out = remove(file, &["l"], &ours).unwrap().unwrap();
            assert_eq!(out, left);
            assert!(value(&out).is_ok());
        }
        let twice = "{\"l\": [0], \"l\": [0, 1]}";
        let out = remove(twice, &["l"], &ours).unwrap().unwrap();
        assert_eq!(out, "{\"l\": [0], \"l\": [ 1]}");
    }

    #[test]
    fn comments_and_order_stay() {
        let added = push(FILE, &["hooks", "Stop"], &json!({"ours": 1})).unwrap();
        assert_eq!(
            added,
            FILE.replace("{ \"theirs\": true } // too", "{ \"theirs\": true }, // too\n            {\n                \"ours\": 1\n            }")
        );
        for part in ["// mine", "/* kept */", "// too"] {
            assert!(added.contains(part));
        }
    }

    #[test]
    fn a_comma_behind_the_last_entry_is_used() {
        let added = push("{\"l\": [\n  1,\n]}", &["l"], &json!(2)).unwrap();
        assert_eq!(value(&added).unwrap(), json!({"l": [1, 2]}));
        assert_eq!(added, "{\"l\": [\n  1,\n    2,\n]}");
    }

    #[test]
    fn what_is_no_json_or_of_another_shape_is_refused() {
        for text in [
            "{",
            "{\"a\" 1}",
            "[1 2]",
            "{\"a\": tru}",
            "x",
            "{} {}",
            "/* open",
            "// nothing",
            "{\"\\x\": 1}",
            "{\"a",
            "{a: 1}",
            "{'a': 1}",
            "{\"a\": +1}",
            "{\"a\": 0x1}",
        ] {
            assert!(matches!(value(text), Err(JsoncError::Syntax(_))), "{text}");
        }
        assert_eq!(value("{\n\n  \"a\" 1}"), Err(JsoncError::Syntax(3)));
        assert!(value(&"[".repeat(10_000)).is_err());
        assert!(matches!(
            push("[]", &["a"], &json!(1)),
            Err(JsoncError::Shape(_))
        ));
        assert!(matches!(
            push("{\"a\": 1}", &["a", "b"], &json!(1)),
            Err(JsoncError::Shape(_))
        ));
        assert!(matches!(
            push("{\"a\": {}}", &["a"], &json!(1)),
            Err(JsoncError::Shape(_))
        ));
        assert_eq!(
            value("\u{feff}{\"a\":\"\\u00e9\"}").unwrap(),
            json!({"a": "é"})
        );
    }
}
