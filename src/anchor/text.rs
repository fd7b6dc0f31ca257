//! Lines of a file, words in them, and what belongs to a line.

use std::ops::Range;

/// Lines in which a file says that a program made it.
const HEADER: usize = 8;
/// Lines of a body that are looked at.
const MAX_BODY: usize = 1_000;

pub(super) fn split(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes)
        .lines()
        .map(str::to_owned)
        .collect()
}

/// The lines with one before and one after, where there are any.
pub(super) fn context(lines: &[String], first: usize, last: usize) -> &[String] {
    let end = (last + 1).min(lines.len());
    lines.get(first.saturating_sub(2)..end).unwrap_or_default()
}

/// The word by which these lines name the symbol. A qualified name (`Type::method`) that stands
/// nowhere as such is found by its last part, when the file names the other parts too.
pub(super) fn find_name<'s>(lines: &[String], symbol: &'s str) -> Option<&'s str> {
    let is_named = |word: &str| lines.iter().any(|line| has_word(line, word));
    if is_named(symbol) {
        return Some(symbol);
    }
    let mut parts = symbol
        .split([':', '.', '#'])
        .filter(|part| !part.is_empty())
        .rev();
    let last = parts.next().filter(|last| *last != symbol)?;
    (is_named(last) && parts.all(is_named)).then_some(last)
}

/// The line holds this as a whole word.
pub(super) fn has_word(line: &str, word: &str) -> bool {
    find_word(line, word).next().is_some()
}

/// Where the line holds this as a whole word: what comes before it and what after.
pub(super) fn find_word<'l>(line: &'l str, word: &str) -> impl Iterator<Item = (&'l str, &'l str)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let all = line.match_indices(word);
    let around = all.map(move |(at, found)| (&line[..at], &line[at + found.len()..]));
    around.filter(move |(before, after)| !before.ends_with(is_part) && !after.starts_with(is_part))
}

/// The lines of what begins here: those that are indented deeper, and the ones that end it; where nothing
/// is, those up to the bracket that ends it.
pub(super) fn body(lines: &[String], first: usize) -> Range<usize> {
    let deeper = find_deeper(lines, first);
    match deeper.len() {
        1 => find_bracketed(lines, first),
        _ => deeper,
    }
}

fn find_deeper(lines: &[String], first: usize) -> Range<usize> {
    let depth = |line: &String| line.len() - line.trim_start().len();
    let Some(own) = lines.get(first).map(depth) else {
        return first..first;
    };
    // What is to come may begin in a line of its own.
    let begins = |at: usize| {
        let line = lines.get(at).filter(|line| depth(line) == own);
        line.is_some_and(|line| matches!(line.trim(), "{" | "where"))
    };
    let mut end = first + 1;
    while let Some(line) = lines.get(end).filter(|_| end - first < MAX_BODY) {
        let is_blank = line.trim().is_empty();
        if !is_blank && depth(line) <= own && !begins(end) {
            let closes = line.trim_start().starts_with(['}', ')', ']']) || line.trim() == "end";
            if !closes || depth(line) < own {
                return first..end;
            }
            // `) -> u8 {` ends the parameters alone.
            let opens = line.trim_end().ends_with(['{', '(', '[', ':']);
            if !opens && !begins(end + 1) {
                return first..end + 1;
            }
        }
        end += 1;
    }
    first..end
}

/// The lines up to the bracket that closes the one that this line leaves open; the line alone where it
/// leaves none open, or none closes it.
fn find_bracketed(lines: &[String], first: usize) -> Range<usize> {
    let mut open = 0_i64;
    for (at, line) in lines.iter().enumerate().skip(first).take(MAX_BODY) {
        let count = |marks: &[char]| line.matches(marks).count() as i64;
        open += count(&['{', '(', '[']) - count(&['}', ')', ']']);
        if open <= 0 {
            return first..at + 1;
        }
    }
    first..first + 1
}

/// A program says in its first lines that it made the file.
pub(super) fn says_generated(lines: &[String]) -> bool {
    lines.iter().take(HEADER).any(|line| {
        let line = line.to_ascii_lowercase();
        line.contains("@generated")
            || line.contains("code generated") && line.contains("do not edit")
            || line.contains("automatically generated") && line.contains("do not edit")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn whole_words_and_qualified_names() {
        let lines = split(b"use a;\nimpl Foo {\n  fn bars() {}\n  fn bar() {}\n}\n");
        assert_eq!(find_name(&lines, "bar"), Some("bar"));
        assert_eq!(find_name(&lines, "Foo::bar"), Some("bar"));
        assert_eq!(find_name(&lines, "Qux::bar"), None);
        assert_eq!(find_name(&lines, "ba"), None);
    }

    #[test]
    fn a_body_ends_where_the_indentation_does() {
        let code = lines_of("fn a() {\n    x();\n\n    y();\n}\n\nfn b() {}\n");
        assert_eq!(body(&code, 0), 0..5);
        assert_eq!(body(&code, 6), 6..7);
        let code = lines_of("def a():\n    x()\n\ndef b():\n    y()\n");
        assert_eq!(body(&code, 0), 0..3);
        assert_eq!(body(&code, 3), 3..5);
        let code =
            lines_of("fn a(\n    x: u8,\n) -> u8\nwhere\n    u8: B,\n{\n    y();\n}\nfn b() {}\n");
        assert_eq!(body(&code, 0), 0..8);
        let code = lines_of("fn a() {\nx();\n}\nfn b() { y(); }\n");
        assert_eq!(body(&code, 0), 0..3);
        assert_eq!(body(&code, 3), 3..4);
        let code = lines_of("int a(\n    int x\n) {\n    y();\n}\nint b;\n");
        assert_eq!(body(&code, 0), 0..5);
    }

    #[test]
    fn what_a_program_made_says_so() {
        let split = lines_of;
        assert!(says_generated(&split(
            "// Code generated by x. DO NOT EDIT.\n"
        )));
        assert!(says_generated(&split("/* @generated */\n")));
        assert!(!says_generated(&split(
            "// generated names are not edited here\n"
        )));
    }
}
