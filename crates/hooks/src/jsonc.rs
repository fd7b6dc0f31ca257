//! Changing a JSON text in place. Pure.
//!
//! Comments, order, white space and everything else that is not changed stays as
//! it is, byte for byte. Comments and a comma behind the last entry are read;
//! what is written needs neither.

use serde_json::Value;
use std::ops::Range;

/// Deepest nesting that is read.
const MAX_DEPTH: usize = 100;

/// Why a text cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsoncError {
    /// Not JSON, with or without comments.
    #[error("it is no JSON (line {0})")]
    Syntax(usize),
    /// Something else stands where an object or a list belongs.
    #[error("`{0}` is not what it should be")]
    Shape(String),
}

/// A value with the place it has in the text.
#[derive(Debug, Clone)]
pub struct Node {
    /// Where it stands.
    pub span: Range<usize>,
    /// What it holds.
    pub kind: NodeKind,
}

/// What a value holds.
#[derive(Debug, Clone)]
pub enum NodeKind {
    /// Name, place of the name, value.
    Object(Vec<(String, Range<usize>, Node)>),
    /// Entries.
    Array(Vec<Node>),
    /// Anything else.
    Scalar(Value),
}

impl Node {
    /// The member of that name; the last one counts, as for whoever reads the file.
    pub fn member(&self, name: &str) -> Option<&Node> {
        match &self.kind {
            NodeKind::Object(members) => members
                .iter()
                .rev()
                .find(|(key, ..)| key == name)
                .map(|(.., node)| node),
            _ => None,
        }
    }

    /// The entries of a list.
    pub fn items(&self) -> &[Node] {
        match &self.kind {
            NodeKind::Array(items) => items,
            _ => &[],
        }
    }

    /// The value without its places.
    pub fn value(&self) -> Value {
        match &self.kind {
            NodeKind::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|(key, _, node)| (key.clone(), node.value()))
                    .collect(),
            ),
            NodeKind::Array(items) => Value::Array(items.iter().map(Node::value).collect()),
            NodeKind::Scalar(value) => value.clone(),
        }
    }

    fn is_empty(&self) -> bool {
        match &self.kind {
            NodeKind::Object(members) => members.is_empty(),
            NodeKind::Array(items) => items.is_empty(),
            NodeKind::Scalar(_) => false,
        }
    }
}

/// Reads a text.
pub fn parse(text: &str) -> Result<Node, JsoncError> {
    let mut reader = Reader { text, at: 0 };
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    let node = reader.value(0)?;
    reader.blank()?;
    if reader.at < text.len() {
        return Err(reader.wrong());
    }
    Ok(node)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn wrong(&self) -> JsoncError {
        let read = &self.text.as_bytes()[..self.at.min(self.text.len())];
        JsoncError::Syntax(1 + read.iter().filter(|byte| **byte == b'\n').count())
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// White space and comments.
    fn blank(&mut self) -> Result<(), JsoncError> {
        loop {
            let rest = &self.text[self.at..];
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                let end = rest.find("*/").ok_or_else(|| self.wrong())?;
                self.at += end + 2;
            } else if rest.starts_with([' ', '\t', '\r', '\n']) {
                self.at += 1;
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, JsoncError> {
        self.blank()?;
        let from = self.at;
        let kind = match self.peek() {
            _ if depth > MAX_DEPTH => return Err(self.wrong()),
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => NodeKind::Scalar(Value::String(self.string()?)),
            _ => self.word()?,
        };
        Ok(Node {
            span: from..self.at,
            kind,
        })
    }

    fn object(&mut self, depth: usize) -> Result<NodeKind, JsoncError> {
        let mut members = Vec::new();
        self.at += 1;
        loop {
            self.blank()?;
            if self.take(b'}') {
                return Ok(NodeKind::Object(members));
            }
            let from = self.at;
            let key = self.string()?;
            let span = from..self.at;
            self.blank()?;
            if !self.take(b':') {
                return Err(self.wrong());
            }
            members.push((key, span, self.value(depth + 1)?));
            self.separator(b'}')?;
        }
    }

    fn array(&mut self, depth: usize) -> Result<NodeKind, JsoncError> {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            self.blank()?;
            if self.take(b']') {
                return Ok(NodeKind::Array(items));
            }
            items.push(self.value(depth + 1)?);
            self.separator(b']')?;
        }
    }

    /// A comma, or the end that comes next.
    fn separator(&mut self, end: u8) -> Result<(), JsoncError> {
        self.blank()?;
        match self.take(b',') || self.peek() == Some(end) {
            true => Ok(()),
            false => Err(self.wrong()),
        }
    }

    fn string(&mut self) -> Result<String, JsoncError> {
        let from = self.at;
        if !self.take(b'"') {
            return Err(self.wrong());
        }
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'"' => {
                    let text = self.text.get(from..self.at).ok_or_else(|| self.wrong())?;
                    return serde_json::from_str(text).map_err(|_| self.wrong());
                }
                _ => {}
            }
        }
        Err(self.wrong())
    }

    fn word(&mut self) -> Result<NodeKind, JsoncError> {
        let from = self.at;
        while self
            .peek()
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.'))
        {
            self.at += 1;
        }
        serde_json::from_str(&self.text[from..self.at])
            .map(NodeKind::Scalar)
            .map_err(|_| self.wrong())
    }
}

/// How the text breaks and indents its lines.
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

    /// A value over several lines, the first of them not indented.
    fn write(&self, value: &Value, depth: usize) -> String {
        let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
        let mut lines = pretty.lines();
        let mut text = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            let bare = line.trim_start();
            let inner = (line.len() - bare.len()) / 2;
            text.push_str(self.newline);
            text.push_str(&self.unit.repeat(depth + inner));
            text.push_str(bare);
        }
        text
    }
}

/// Adds an entry at the end of the list at `path`; objects and the list are made
/// where they are missing.
pub fn push(text: &str, path: &[&str], value: &Value) -> Result<String, JsoncError> {
    add(text, path, value, true)
}

/// Adds a member that is not there yet.
pub fn insert(text: &str, path: &[&str], value: &Value) -> Result<String, JsoncError> {
    add(text, path, value, false)
}

fn add(text: &str, path: &[&str], value: &Value, to_list: bool) -> Result<String, JsoncError> {
    let blank = text.trim_start_matches('\u{feff}').trim().is_empty();
    let text = if blank { "{}\n" } else { text };
    let root = parse(text)?;
    let style = Style::of(text);
    let mut node = &root;
    let mut depth = 0;
    for name in path {
        match node.member(name) {
            Some(next) => node = next,
            None => break,
        }
        depth += 1;
    }
    let missing = &path[depth..];
    let mut value = match to_list && !missing.is_empty() {
        true => Value::Array(vec![value.clone()]),
        false => value.clone(),
    };
    let Some((first, rest)) = missing.split_first() else {
        return match (&node.kind, to_list) {
            (NodeKind::Array(_), true) => Ok(append(text, node, depth, &style, None, &value)),
            _ => Err(JsoncError::Shape(path.join("."))),
        };
    };
    for name in rest.iter().rev() {
        value = Value::Object([((*name).to_owned(), value)].into_iter().collect());
    }
    match node.kind {
        NodeKind::Object(_) => Ok(append(text, node, depth, &style, Some(first), &value)),
        _ => Err(JsoncError::Shape(path[..depth].join("."))),
    }
}

/// Writes an entry behind the last one of an object or a list.
fn append(
    text: &str,
    node: &Node,
    depth: usize,
    style: &Style,
    name: Option<&str>,
    value: &Value,
) -> String {
    let last = match &node.kind {
        NodeKind::Object(members) => members.last().map(|(.., node)| node.span.end),
        NodeKind::Array(items) => items.last().map(|node| node.span.end),
        NodeKind::Scalar(_) => None,
    };
    let close = node.span.end - 1;
    // The comma stands at the entry before; comments on its line stay with it.
    let (comma_at, comma) = match last {
        None => (node.span.start + 1, ""),
        Some(end) => match comma_after(text, end, close) {
            Some(at) => (at + 1, ""),
            None => (end, ","),
        },
    };
    let at = end_of_line_comments(text, comma_at, close);
    let indent = style.unit.repeat(depth + 1);
    let key = name
        .map(|name| format!("{}: ", Value::from(name)))
        .unwrap_or_default();
    let entry = format!(
        "{}{indent}{key}{}",
        style.newline,
        style.write(value, depth + 1)
    );
    // What stood on one line before gets its end on a line of its own.
    let rest = &text[at..close];
    let tail = match rest.contains('\n') {
        true => String::new(),
        false => format!("{}{}", style.newline, style.unit.repeat(depth)),
    };
    let rest = if tail.is_empty() {
        rest
    } else {
        rest.trim_end()
    };
    format!(
        "{}{comma}{}{entry}{rest}{tail}{}",
        &text[..comma_at],
        &text[comma_at..at],
        &text[close..]
    )
}

/// Where the comments end that begin on the line of `from`.
fn end_of_line_comments(text: &str, from: usize, to: usize) -> usize {
    let mut end = from;
    loop {
        let rest = &text[end..to];
        let comment = rest.trim_start_matches([' ', '\t']);
        let at = end + rest.len() - comment.len();
        if comment.starts_with("//") {
            return at + comment.find('\n').unwrap_or(comment.len());
        }
        match comment.strip_prefix("/*").and_then(|body| body.find("*/")) {
            Some(length) => end = at + length + 4,
            None => return end,
        }
    }
}

/// A comma between `from` and `to`, comments passed over.
fn comma_after(text: &str, from: usize, to: usize) -> Option<usize> {
    let mut reader = Reader {
        text: &text[..to],
        at: from,
    };
    reader.blank().ok()?;
    (reader.peek() == Some(b',')).then_some(reader.at)
}

/// Takes out the entries of the list at `path` that `ours` names by their values;
/// then the list, and the objects around it, when nothing is left in them.
pub fn remove(
    text: &str,
    path: &[&str],
    ours: &dyn Fn(&Value) -> bool,
) -> Result<String, JsoncError> {
    let mut text = text.to_owned();
    loop {
        let root = parse(&text)?;
        let Some(list) = at_path(&root, path) else {
            return Ok(text);
        };
        match list.items().iter().position(|item| ours(&item.value())) {
            Some(index) => {
                let spans: Vec<Range<usize>> =
                    list.items().iter().map(|item| item.span.clone()).collect();
                text = cut(&text, &spans, index, &list.span);
            }
            None => break,
        }
        let left = parse(&text)?;
        if at_path(&left, path).is_some_and(Node::is_empty) {
            text = prune(&text, path)?;
            break;
        }
    }
    Ok(text)
}

/// Takes a member out.
pub fn remove_member(text: &str, path: &[&str]) -> Result<String, JsoncError> {
    let Some((name, above)) = path.split_last() else {
        return Ok(text.to_owned());
    };
    let root = parse(text)?;
    let Some(Node {
        kind: NodeKind::Object(members),
        span,
    }) = at_path(&root, above)
    else {
        return Ok(text.to_owned());
    };
    let Some(index) = members.iter().position(|(key, ..)| key == name) else {
        return Ok(text.to_owned());
    };
    let spans: Vec<Range<usize>> = members
        .iter()
        .map(|(_, key, node)| key.start..node.span.end)
        .collect();
    Ok(cut(text, &spans, index, span))
}

/// Removes the member at `path`, and each object above it that it leaves empty,
/// but never the whole text's own.
fn prune(text: &str, path: &[&str]) -> Result<String, JsoncError> {
    let mut text = remove_member(text, path)?;
    for length in (1..path.len()).rev() {
        let root = parse(&text)?;
        if !at_path(&root, &path[..length]).is_some_and(Node::is_empty) {
            break;
        }
        text = remove_member(&text, &path[..length])?;
    }
    Ok(text)
}

fn at_path<'n>(root: &'n Node, path: &[&str]) -> Option<&'n Node> {
    path.iter().try_fold(root, |node, name| node.member(name))
}

/// Takes out one of several entries with one comma and the line it leaves blank.
fn cut(text: &str, spans: &[Range<usize>], index: usize, holder: &Range<usize>) -> String {
    let entry = &spans[index];
    let close = holder.end - 1;
    let mut cuts = vec![entry.clone()];
    match (comma_after(text, entry.end, close), index.checked_sub(1)) {
        (Some(at), _) if index + 1 < spans.len() => cuts.push(at..at + 1),
        (own, Some(before)) => {
            // The last one: the comma before it goes, a comma behind it stays for the new last.
            if own.is_none()
                && let Some(at) = comma_after(text, spans[before].end, close)
            {
                cuts.push(at..at + 1);
            } else if let Some(at) = own {
                cuts.push(at..at + 1);
            }
        }
        (Some(at), None) => cuts.push(at..at + 1),
        (None, None) => {}
    }
    cuts.sort_by_key(|cut| cut.start);
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for cut in &cuts {
        out.push_str(&text[from..cut.start]);
        from = cut.end;
    }
    let rest = &text[from..];
    tidy(out, rest, spans.len() == 1)
}

/// Joins what stood before and behind a cut: a line that holds nothing any more
/// goes, and an object or list that holds nothing is closed on its line.
fn tidy(mut out: String, rest: &str, emptied: bool) -> String {
    let bare = rest.trim_start_matches([' ', '\t', '\r', '\n']);
    let kept = out.trim_end_matches([' ', '\t', '\r', '\n']).len();
    if emptied && out[..kept].ends_with(['{', '[']) && bare.starts_with(['}', ']']) {
        out.truncate(kept);
        out.push_str(bare);
        return out;
    }
    let line_start = out.rfind('\n').map_or(0, |at| at + 1);
    let line_is_blank = out[line_start..].trim().is_empty();
    let rest_of_line = rest.find('\n').map(|end| &rest[..end]);
    match rest_of_line {
        Some(line) if line_is_blank && line.trim().is_empty() => {
            out.truncate(line_start);
            out.push_str(&rest[line.len() + 1..]);
        }
        _ => out.push_str(rest),
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const FILE: &str = "{\n    // mine\n    \"a\": 1, /* kept */\n    \"hooks\": {\n        \"Stop\": [\n            { \"theirs\": true } // too\n        ]\n    }\n}\n";

    #[test]
    fn what_is_added_and_taken_out_again_leaves_no_trace() {
        let files = [
            FILE,
            "{}",
            "{}\n",
            "{\"a\":1}",
            "{\n  \"a\": [1, 2,],\n}\n",
            "{\r\n\t\"a\": 1\r\n}\r\n",
            "{\"hooks\": {\"Stop\": [{\"theirs\": 1}]}}",
        ];
        for file in files {
            let added = push(file, &["hooks", "Stop"], &json!({"ours": 1})).unwrap();
            let added = push(&added, &["hooks", "Start"], &json!({"ours": 2})).unwrap();
            let ours = |value: &Value| value.get("ours").is_some();
            let before = parse(file).unwrap().value();
            let between = parse(&added).unwrap().value();
            assert_eq!(between["hooks"]["Start"], json!([{"ours": 2}]));
            let out = remove(&added, &["hooks", "Stop"], &ours).unwrap();
            let out = remove(&out, &["hooks", "Start"], &ours).unwrap();
            assert_eq!(parse(&out).unwrap().value(), before, "{out}");
            if file == FILE || file.starts_with("{\r") {
                assert_eq!(out, file);
            }
        }
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
        assert_eq!(parse(&added).unwrap().value(), json!({"l": [1, 2]}));
        let out = remove("{\"l\": [1, 2, 3]}", &["l"], &|v| *v == json!(2)).unwrap();
        assert_eq!(out, "{\"l\": [1,  3]}");
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
            "{\"\\x\": 1}",
            "{\"a",
        ] {
            assert!(matches!(parse(text), Err(JsoncError::Syntax(_))), "{text}");
        }
        assert!(parse(&"[".repeat(10_000)).is_err());
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
            parse("\u{feff}{\"a\":\"\\u00e9\"}").unwrap().value(),
            json!({"a": "é"})
        );
    }
}
