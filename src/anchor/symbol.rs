//! Symbols in a file: the line that names one, and what belongs to that line.

use std::ops::Range;

/// Lines of a body that are looked at.
const MAX_BODY: usize = 1_000;

/// The lines of what has this name: the first place where something belongs to it, else the first
/// that names it.
pub(super) fn find_symbol(lines: &[String], symbol: &str) -> Option<Range<usize>> {
    let name = find_name(lines, symbol)?;
    let named = (0..lines.len()).filter(|at| has_word(&lines[*at], name));
    let mut all = named.map(|at| trim_end(lines, body(lines, at)));
    let first = all.next()?;
    match first.len() {
        1 => Some(all.find(|found| found.len() > 1).unwrap_or(first)),
        _ => Some(first),
    }
}

/// Without the empty lines before what comes next.
fn trim_end(lines: &[String], range: Range<usize>) -> Range<usize> {
    let here = lines.get(range.clone()).unwrap_or_default().iter();
    let last = here.rev().position(|line| !line.trim().is_empty());
    range.start..range.end - last.unwrap_or_default()
}

/// The word by which these lines name the symbol. A qualified name (`Type::method`) that stands
/// nowhere as such is found by its last part, when the file names the other parts too.
fn find_name<'s>(lines: &[String], symbol: &'s str) -> Option<&'s str> {
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
fn has_word(line: &str, word: &str) -> bool {
    find_word(line, word).next().is_some()
}

/// Where the line holds this as a whole word: what comes before it and what after.
fn find_word<'l>(line: &'l str, word: &str) -> impl Iterator<Item = (&'l str, &'l str)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let all = line.match_indices(word);
    let around = all.map(move |(at, found)| (&line[..at], &line[at + found.len()..]));
    around.filter(move |(before, after)| !before.ends_with(is_part) && !after.starts_with(is_part))
}

/// The lines of what begins here: those that are indented deeper, and the ones that end it; where nothing
/// is, those up to the bracket that ends it.
fn body(lines: &[String], first: usize) -> Range<usize> {
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
    let mut literal = Literal::default();
    literal.read(&lines[first]);
    let mut open = count_open(&lines[first]);
    let mut end = first + 1;
    while let Some(line) = lines.get(end).filter(|_| end - first < MAX_BODY) {
        // The lines of a literal, and of a preprocessor, begin where they like.
        let is_within = literal.is_open() || is_preprocessed(line);
        literal.read(line);
        if !is_within {
            open += count_open(line);
        }
        let is_blank = is_within || line.trim().is_empty();
        if !is_blank && depth(line) <= own && !begins(end) {
            let closes = line.trim_start().starts_with(['}', ')', ']']) || line.trim() == "end";
            if !closes || depth(line) < own {
                return first..end;
            }
            // `) -> u8 {` ends the parameters alone, and `)` what stands within.
            let opens = line.trim_end().ends_with(['{', '(', '[', ':']) || open > 0;
            if !opens && !begins(end + 1) {
                return first..end + 1;
            }
        }
        end += 1;
    }
    first..end
}

/// Text over several lines that a program quotes.
#[derive(Default)]
struct Literal {
    /// What ends it.
    end: Option<String>,
}

impl Literal {
    fn is_open(&self) -> bool {
        self.end.is_some()
    }

    /// `"""`, `'''`, and a shell's here-document.
    fn read(&mut self, line: &str) {
        match &self.end {
            Some(end) if end.len() == 3 && line.matches(end.as_str()).count() % 2 == 1 => {
                self.end = None;
            }
            Some(end) if line.trim() == end => self.end = None,
            Some(_) => {}
            None => {
                let quotes = ["\"\"\"", "'''"].into_iter();
                let mut open = quotes.filter(|mark| line.matches(mark).count() % 2 == 1);
                let quoted = open.next().map(str::to_owned);
                self.end = quoted.or_else(|| find_here_document(line));
            }
        }
    }
}

/// The word that ends the here-document which this line begins.
fn find_here_document(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("<<")?;
    let rest = rest.trim_start_matches(['-', '~']);
    let rest = rest.strip_prefix(['\'', '"']).unwrap_or(rest);
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let word = &rest[..end.unwrap_or(rest.len())];
    // `1 << n` is a number.
    let is_word = word.len() >= 2 && word.starts_with(|c: char| c.is_ascii_uppercase());
    is_word.then(|| word.to_owned())
}

/// `#if`, `#else`, `#endif` of C stand at the margin.
fn is_preprocessed(line: &str) -> bool {
    let marks = ["#if", "#el", "#endif"];
    marks.iter().any(|mark| line.starts_with(mark))
}

/// The lines up to the bracket that closes the one that this line leaves open; the line alone where it
/// leaves none open, or none closes it.
fn find_bracketed(lines: &[String], first: usize) -> Range<usize> {
    let mut open = 0_i64;
    for (at, line) in lines.iter().enumerate().skip(first).take(MAX_BODY) {
        open += count_open(line);
        if open <= 0 {
            return first..at + 1;
        }
    }
    first..first + 1
}

/// How many brackets the line leaves open; less than none where it closes others.
fn count_open(line: &str) -> i64 {
    let count = |marks: &[char]| line.matches(marks).count() as i64;
    count(&['{', '(', '[']) - count(&['}', ')', ']'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn whole_words_and_qualified_names() {
        let lines = lines_of("use a;\nimpl Foo {\n  fn bars() {}\n  fn bar() {}\n}\n");
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
    fn a_body_goes_on_behind_what_begins_at_the_margin() {
        for code in [
            "def a():\n    x = \"\"\"\nmargin\n\"\"\"\n    y()\n\ndef b():\n    z()\n",
            "a() {\n    x=$(cat <<'TXT'\nmargin\nTXT\n)\n    y\n}\nb() {\n    z\n}\n",
            "void a() {\n    x();\n#ifdef B\n    y();\n#endif\n    y();\n}\nint b;\n",
        ] {
            let lines = lines_of(code);
            let found = &lines[body(&lines, 0)];
            assert!(found.iter().any(|line| line.contains('y')), "{code}");
            assert!(!found.iter().any(|line| line.contains('b')), "{code}");
        }
        let shifts = lines_of("def a():\n    x << N\nN\n    y()\n");
        assert_eq!(body(&shifts, 0), 0..2);
    }

    #[test]
    fn a_symbol_is_what_belongs_to_the_line_that_names_it() {
        let find = |text: &str, symbol: &str| {
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            find_symbol(&lines, symbol)
        };
        let called = "// works\nworks();\n\ndef works():\n    x()\n\n\ndef other():\n    y()\n";
        assert_eq!(find(called, "works"), Some(3..5));
        assert_eq!(find("a = 1\nworks = 2\nb = works\n", "works"), Some(1..2));
        assert_eq!(find("a = 1\n", "works"), None);
    }
}
