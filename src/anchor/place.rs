//! Anchors at text: lines of a file, a symbol, a section, and deleted files or lines.

use super::sources::{NO_COMMIT, Sources, Text, answer, say};
use crate::prelude::*;
use cook_protocol::model::{Anchor, KeptProof};
use cook_repo::git::{Entry, find_text, says_something};
use std::ops::Range;

impl Sources<'_> {
    /// Judges an anchor at lines, a symbol or a section, at HEAD or as it was accepted.
    pub(super) fn judge_place(
        &self,
        question: &AnchorQuestion,
        anchor: &Anchor,
        path: &str,
    ) -> Result<AnchorAnswer> {
        let Some(head) = &self.head.commit else {
            return say(question, Verdict::Missing, NO_COMMIT);
        };
        if let Required::Accepted(kept) = &question.required {
            return self.look_for_kept(question, anchor, (head, path), kept);
        }
        let text = self.text(head, path)?;
        let lines = match &*text {
            Text::Lines(lines) => lines,
            Text::Gone => {
                return say(question, Verdict::Missing, report_gone(path));
            }
            Text::No(why) => {
                let why = format!("`{path}` cannot be anchored in: {why}");
                return say(question, Verdict::Unverifiable, why);
            }
        };
        let Some(range) = find_place(lines, anchor) else {
            let why = match anchor {
                Anchor::Symbol { symbol, .. } => format!("`{path}` does not name `{symbol}`"),
                Anchor::Doc { .. } => "the document has no such section".to_owned(),
                _ => format!("`{path}` has {} at HEAD", count_noun(lines.len(), "line")),
            };
            return say(question, Verdict::Missing, why);
        };
        let shown = &lines[range.clone()];
        if !says_something(shown) {
            let why = "these lines hold no letter and no digit, so they prove nothing";
            return say(question, Verdict::Unverifiable, why);
        }
        let target = format!("{path}#{}-{}", range.start + 1, range.end);
        let mut answer = answer(Verdict::Verified, "it stands at HEAD", &target);
        if let Some(basis) = self.find_basis(question)? {
            answer.is_new = !self.repo.has_text(&basis, shown)?;
            if !answer.is_new {
                answer
                    .why
                    .push_str(", and stood in a file of the basis already");
            }
        }
        // A document as a whole does not prove a criterion.
        let is_part = !matches!(anchor, Anchor::Doc { section: None, .. });
        answer.text = is_part.then(|| shown.to_vec());
        Ok(answer)
    }

    /// Searches the accepted text: in its file, else as a single occurrence in the file that git says it was renamed
    /// to.
    fn look_for_kept(
        &self,
        question: &AnchorQuestion,
        anchor: &Anchor,
        (head, path): (&str, &str),
        kept: &KeptProof,
    ) -> Result<AnchorAnswer> {
        let Some(text) = &kept.text else {
            let why = "the log does not hold the text that was accepted";
            return say(question, Verdict::Unverifiable, why);
        };
        if let Text::Lines(lines) = &*self.text(head, path)? {
            let found = find_text(lines, text);
            if let Some(first) = found.first() {
                let near = find_place(lines, anchor).filter(|near| found.contains(near));
                let at = near.as_ref().unwrap_or(first);
                return Ok(answer_at(question, anchor, path, at, path));
            }
        }
        let then = self.repo.resolve(&kept.head_sha)?;
        let renamed = match (&then, self.find_linked(head, path)?) {
            (_, Some(linked)) => Some(linked),
            (Some(then), None) => self.repo.find_renamed(then, head, path)?,
            (None, None) => None,
        };
        if let Some(to) = &renamed
            && let Text::Lines(lines) = &*self.text(head, to)?
            && let [at] = &find_text(lines, text)[..]
        {
            return Ok(answer_at(question, anchor, to, at, path));
        }
        let why = match &renamed {
            Some(to) => format!("its text is gone from `{path}`, which is `{to}` now"),
            None => format!("its text is gone from `{path}`"),
        };
        say(question, Verdict::Missing, why)
    }

    /// The file in the tree that a symbolic link at this path leads to.
    fn find_linked(&self, head: &str, path: &str) -> Result<Option<String>> {
        let Entry::Symlink = self.repo.entry(head, path)? else {
            return Ok(None);
        };
        let target = match self.repo.tree_entry(head, path)? {
            Some(entry) => self.repo.blob(&entry.id)?,
            None => None,
        };
        let Some(target) = target.and_then(|bytes| String::from_utf8(bytes).ok()) else {
            return Ok(None);
        };
        let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
        let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
        for part in target.split('/') {
            match part {
                "" | "." => {}
                ".." if parts.pop().is_none() => return Ok(None),
                ".." => {}
                part => parts.push(part),
            }
        }
        let is_inside = !target.starts_with('/');
        Ok(is_inside.then(|| parts.join("/")))
    }

    /// Judges `gone:PATH` and `gone:PATH#LINE`.
    pub(super) fn judge_gone(
        &self,
        question: &AnchorQuestion,
        path: &str,
        line: Option<&str>,
    ) -> Result<AnchorAnswer> {
        let Some(head) = &self.head.commit else {
            return say(question, Verdict::Missing, NO_COMMIT);
        };
        if self.is_there(head, path, line)? {
            let why = match line {
                Some(_) => format!("`{path}` holds that line at HEAD"),
                None => format!("`{path}` is in HEAD's tree"),
            };
            return say(question, Verdict::Missing, why);
        }
        let mut answer = answer(Verdict::Verified, "it is gone at HEAD", &question.anchor);
        answer.text = Some(line.map(str::to_owned).into_iter().collect());
        if let Some(basis) = self.find_basis(question)?
            && !self.is_there(&basis, path, line)?
        {
            answer.is_new = false;
            answer.why.push_str(", and was not at the basis either");
        }
        Ok(answer)
    }

    fn is_there(&self, commit: &str, path: &str, line: Option<&str>) -> Result<bool> {
        let Some(line) = line else {
            return Ok(self.repo.entry(commit, path)? != Entry::Nothing);
        };
        let wanted = [line.to_owned()];
        Ok(match &*self.text(commit, path)? {
            Text::Lines(lines) => match says_something(&wanted) {
                true => !find_text(lines, &wanted).is_empty(),
                false => lines.iter().any(|other| other.trim() == line.trim()),
            },
            _ => false,
        })
    }

    /// Judges `entry:PATH`, which only earlier records contain.
    pub(super) fn judge_entry(
        &self,
        question: &AnchorQuestion,
        path: &str,
    ) -> Result<AnchorAnswer> {
        let Some(head) = &self.head.commit else {
            return say(question, Verdict::Missing, NO_COMMIT);
        };
        let entry = |commit: &str| -> Result<Option<String>> {
            let found = self.repo.tree_entry(commit, path)?;
            Ok(found.map(|entry| format!("{} {}", entry.mode, entry.id)))
        };
        let Some(now) = entry(head)? else {
            return say(question, Verdict::Missing, report_gone(path));
        };
        if let Required::Accepted(kept) = &question.required
            && kept.text.as_deref() != Some(std::slice::from_ref(&now))
        {
            let why = format!("`{path}` is another file now");
            return say(question, Verdict::Missing, why);
        }
        let mut answer = answer(
            Verdict::Verified,
            "it is in HEAD's tree",
            &format!("entry:{path}"),
        );
        if let Some(basis) = self.find_basis(question)? {
            answer.is_new = entry(&basis)?.as_ref() != Some(&now);
        }
        answer.text = Some(vec![now]);
        Ok(answer)
    }

    /// The commit against which a claim must be new: the slice's basis. `None` if the question is not about a claim.
    pub(super) fn find_basis(&self, question: &AnchorQuestion) -> Result<Option<String>> {
        match &question.required {
            Required::Claimed { basis, .. } => self.repo.resolve(basis),
            Required::AtHead | Required::Accepted(_) => Ok(None),
        }
    }
}

/// The lines that an anchor names: for a symbol, the line that defines it.
pub(super) fn find_place(lines: &[String], anchor: &Anchor) -> Option<Range<usize>> {
    match anchor {
        Anchor::Lines { first, last, .. } => (*last <= lines.len()).then(|| first - 1..*last),
        Anchor::Symbol { symbol, .. } => {
            let found = find_symbol(lines, symbol)?;
            Some(found.start..found.start + 1)
        }
        Anchor::Doc {
            section: Some(section),
            ..
        } => find_section(lines, section),
        Anchor::Doc { section: None, .. } => Some(0..lines.len()),
        _ => None,
    }
}

/// The anchor at the present place of its text.
pub(super) fn name_place(anchor: &Anchor, path: &str, at: &Range<usize>) -> String {
    let (first, last) = (at.start + 1, at.end);
    match anchor {
        Anchor::Symbol { symbol, .. } => format!("{path}:{symbol}"),
        Anchor::Doc {
            section: Some(section),
            ..
        } => format!("doc:{path}#{section}"),
        Anchor::Doc { .. } => format!("doc:{path}"),
        _ if first == last => format!("{path}:{first}"),
        _ => format!("{path}:{first}-{last}"),
    }
}

/// The answer if the text is at another place now.
pub(super) fn answer_moved(anchor: &Anchor, path: &str, at: &Range<usize>) -> AnchorAnswer {
    let (first, last) = (at.start + 1, at.end);
    let why = format!("its text stands at `{path}` line {first} now");
    let mut answer = answer(Verdict::Moved, why, &format!("{path}#{first}-{last}"));
    answer.now = Some(name_place(anchor, path, at));
    answer
}

fn answer_at(
    question: &AnchorQuestion,
    anchor: &Anchor,
    path: &str,
    at: &Range<usize>,
    was: &str,
) -> AnchorAnswer {
    let is_same_document = path == was && matches!(anchor, Anchor::Doc { .. });
    if !is_same_document && name_place(anchor, path, at) != question.anchor {
        return answer_moved(anchor, path, at);
    }
    let target = format!("{path}#{}-{}", at.start + 1, at.end);
    answer(Verdict::Verified, "its text stands at HEAD", &target)
}

fn report_gone(path: &str) -> String {
    format!("`{path}` is not in HEAD's tree")
}

// Symbols in a file: the line that defines one, and its body.

/// Maximum number of lines of a body.
const MAX_BODY: usize = 1_000;

/// The lines of the symbol with this name: the first occurrence that has a body, else the first one.
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

/// The range without empty lines at its end.
fn trim_end(lines: &[String], range: Range<usize>) -> Range<usize> {
    let here = lines.get(range.clone()).unwrap_or_default().iter();
    let last = here.rev().position(|line| !line.trim().is_empty());
    range.start..range.end - last.unwrap_or_default()
}

/// The word by which these lines name the symbol. A qualified name (`Type::method`) that does not occur as such is
/// found by its last part, if the file names the other parts too.
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

/// Whether the line contains this as a whole word.
fn has_word(line: &str, word: &str) -> bool {
    find_word(line, word).next().is_some()
}

/// The occurrences of a whole word in the line, as the text before and after each.
fn find_word<'l>(line: &'l str, word: &str) -> impl Iterator<Item = (&'l str, &'l str)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let all = line.match_indices(word);
    let around = all.map(move |(at, found)| (&line[..at], &line[at + found.len()..]));
    around.filter(move |(before, after)| !before.ends_with(is_part) && !after.starts_with(is_part))
}

/// The lines of the item that begins here: the lines that are indented deeper, and the ones that close it. If there are
/// none, the lines up to the bracket that closes it.
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
    // The body may begin on a line of its own.
    let begins = |at: usize| {
        let line = lines.get(at).filter(|line| depth(line) == own);
        line.is_some_and(|line| matches!(line.trim(), "{" | "where"))
    };
    let mut literal = Literal::default();
    literal.read(&lines[first]);
    let mut open = count_open(&lines[first]);
    let mut end = first + 1;
    while let Some(line) = lines.get(end).filter(|_| end - first < MAX_BODY) {
        // The lines of a multi-line literal, and of a preprocessor, are not indented like code.
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
            // `) -> u8 {` closes only the parameters, and `)` only a nested part.
            let opens = line.trim_end().ends_with(['{', '(', '[', ':']) || open > 0;
            if !opens && !begins(end + 1) {
                return first..end + 1;
            }
        }
        end += 1;
    }
    first..end
}

/// A string literal over several lines.
#[derive(Default)]
struct Literal {
    /// The text that ends it.
    end: Option<String>,
}

impl Literal {
    fn is_open(&self) -> bool {
        self.end.is_some()
    }

    /// Recognizes `"""`, `'''`, and a shell's here-document.
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
    // `1 << n` is an arithmetic shift.
    let is_word = word.len() >= 2 && word.starts_with(|c: char| c.is_ascii_uppercase());
    is_word.then(|| word.to_owned())
}

/// `#if`, `#else` and `#endif` of C begin in the first column.
fn is_preprocessed(line: &str) -> bool {
    let marks = ["#if", "#el", "#endif"];
    marks.iter().any(|mark| line.starts_with(mark))
}

/// The lines up to the bracket that closes the one that this line leaves open; only the line itself if it leaves none
/// open, or none closes it.
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

/// The number of brackets that the line leaves open; negative if it closes others.
fn count_open(line: &str) -> i64 {
    let count = |marks: &[char]| line.matches(marks).count() as i64;
    count(&['{', '(', '[']) - count(&['}', ')', ']'])
}

// Sections of a document: the text below a heading, up to the next heading of the same or a higher level.

/// The lines of the section with that heading; headings are compared as link anchors.
pub(super) fn find_section(lines: &[String], section: &str) -> Option<Range<usize>> {
    let wanted = slug(section);
    let headings = headings(lines);
    let at = headings
        .iter()
        .position(|heading| slug(heading.words) == wanted)?;
    let depth = headings[at].depth;
    let next = headings[at + 1..]
        .iter()
        .find(|heading| heading.depth <= depth);
    let end = next.map_or(lines.len(), |next| next.line);
    let start = headings[at].line;
    // Empty lines before the next heading do not belong to the section.
    let section = lines[start..end].iter();
    let last = section.rev().position(|line| !line.trim().is_empty())?;
    Some(start..end - last)
}

struct Heading<'a> {
    line: usize,
    depth: usize,
    words: &'a str,
}

/// Headings that are marked with `#` or underlined, outside of code fences.
fn headings(lines: &[String]) -> Vec<Heading<'_>> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for (line, text) in lines.iter().enumerate() {
        let text = text.trim_end();
        let ticks = find_fence(text);
        match (fence, ticks) {
            (Some(open), Some(close)) => {
                let closes = close.starts_with(open) && close.len() == text.trim_start().len();
                if closes {
                    fence = None;
                }
                continue;
            }
            (None, Some(open)) => {
                fence = Some(open);
                continue;
            }
            (Some(_), None) => continue,
            (None, None) => {}
        }
        let marks = text.chars().take_while(|c| *c == '#').count();
        if (1..=6).contains(&marks) && text[marks..].chars().next().is_none_or(char::is_whitespace)
        {
            found.push(Heading {
                line,
                depth: marks,
                words: text[marks..].trim_end_matches('#'),
            });
        } else if let Some(depth) = lines.get(line + 1).and_then(|next| underline(next))
            && !text.is_empty()
            && (line == 0 || lines[line - 1].trim().is_empty())
        {
            found.push(Heading {
                line,
                depth,
                words: text,
            });
        }
    }
    found
}

/// The marks that open or close a code fence.
fn find_fence(line: &str) -> Option<&str> {
    let text = line.trim_start();
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = text.chars().take_while(|c| *c == mark).count();
    (length >= 3 && line.len() - text.len() <= 3).then(|| &text[..length])
}

/// The level of a heading above a line of `=` or `-`.
fn underline(line: &str) -> Option<usize> {
    let line = line.trim_end();
    let all = |mark: char| line.len() >= 2 && line.chars().all(|c| c == mark);
    match (all('='), all('-')) {
        (true, _) => Some(1),
        (_, true) => Some(2),
        _ => None,
    }
}

/// The link anchor of a heading.
fn slug(text: &str) -> String {
    text.trim()
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
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

    fn section(text: &str, name: &str) -> Option<String> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        find_section(&lines, name).map(|range| lines[range].join("\n"))
    }

    #[test]
    fn a_section_ends_at_the_next_heading_of_its_depth() {
        let text = "# A\none\n## B b\ntwo\n### C\nthree\n## D\nfour\n";
        assert_eq!(section(text, "b-b").unwrap(), "## B b\ntwo\n### C\nthree");
        assert_eq!(section(text, "D").unwrap(), "## D\nfour");
        assert_eq!(section(text, "E"), None);
    }

    #[test]
    fn underlined_headings_are_headings() {
        let text = "Tool\n====\none\n\nUse it\n---\ntwo\n\nMore\n---\nthree\n";
        assert_eq!(section(text, "use-it").unwrap(), "Use it\n---\ntwo");
        assert!(section(text, "tool").unwrap().ends_with("three"));
        // Neither a rule below a paragraph nor front matter is a heading.
        assert_eq!(section("---\ntitle: x\n---\n", "title-x"), None);
        assert_eq!(section("one\ntwo\n---\n", "two"), None);
    }

    #[test]
    fn a_comment_in_a_code_fence_is_no_heading() {
        let text = "# Build\n```sh\n# first\nmake\n```\nthen\n~~~\n# x\n```\n~~~\nend\n# Next\n";
        assert!(section(text, "build").unwrap().ends_with("end"));
        assert_eq!(section(text, "first"), None);
        assert_eq!(section(text, "x"), None);
    }
}
