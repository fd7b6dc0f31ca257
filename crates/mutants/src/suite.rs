//! Finds functions and tests in a source text, with their bodies, by the conventions of each language's common test
//! frameworks. The forms of all languages are recognised by the same keywords and marks.

use crate::tokens::Language::{self, *};
use crate::tokens::{self, Kind, Token, between, close, inside, line_starts};
use std::collections::BTreeSet;
use std::ops::Range;

/// A function, a test, or a group of tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its own name, without those of the enclosing groups.
    pub name: String,
    /// The sort of item.
    pub sort: Sort,
    /// The tokens before its body: attributes, decorators, name, parameters.
    pub head: Range<usize>,
    /// The tokens of its body, without the enclosing braces or keywords.
    pub body: Range<usize>,
}

/// The sort of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// A test, which a runner runs.
    Test,
    /// A group of tests or other items.
    Group,
    /// A function that others call.
    Helper,
}

/// Keywords of functions and of groups, and names of calls that define tests or groups.
const FUNCTIONS: [&str; 6] = ["fn", "func", "fun", "function", "def", "defp"];
const GROUPS: [&str; 8] = [
    "mod",
    "class",
    "object",
    "interface",
    "trait",
    "namespace",
    "module",
    "defmodule",
];
const TEST_CALLS: [&str; 8] = [
    "it", "test", "specify", "scenario", "should", "example", "its", "@test",
];
const GROUP_CALLS: [&str; 4] = ["describe", "context", "suite", "feature"];

/// A parsed text.
#[derive(Debug)]
pub struct Suite<'a> {
    /// The language, by the file's name.
    pub language: Language,
    /// The tokens, without comments.
    pub tokens: Vec<Token<'a>>,
    /// The items, in the order in which they begin.
    pub items: Vec<Item>,
    text: &'a str,
}

impl<'a> Suite<'a> {
    /// Parses a text.
    pub fn read(path: &str, text: &'a str) -> Self {
        let language = Language::of(path, text);
        let mut suite = Self {
            language,
            tokens: tokens::code(language, text),
            items: Vec::new(),
            text,
        };
        if language != Other {
            suite.read_items();
        }
        suite
    }

    /// The tests, each with the names of the enclosing groups.
    pub fn tests(&self) -> impl Iterator<Item = (&Item, String)> {
        let tests = self.items.iter().filter(|item| item.sort == Sort::Test);
        tests.map(|test| {
            let holds = |item: &&Item| {
                item.sort != Sort::Helper
                    && item.body.start <= test.head.start
                    && test.body.end <= item.body.end
                    && *item != test
            };
            let around = self.items.iter().filter(holds);
            let names: Vec<&str> = around.map(|item| item.name.as_str()).collect();
            (test, names.join(" > "))
        })
    }

    /// Whether the text contains a test.
    pub fn has_tests(&self) -> bool {
        self.items.iter().any(|item| item.sort == Sort::Test)
    }

    /// The lines, counted from 1, of the examples that a test runner may run. In Rust these are the code blocks of the
    /// documentation; in Python the lines of a docstring from a prompt to the next empty line, as `doctest` reads them.
    /// A Python literal that is data contains none.
    pub fn example_lines(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        if self.language == Rust {
            let mut is_open = false;
            for (at, line) in self.text.lines().enumerate() {
                let line = line.trim_start();
                let doc = line.strip_prefix("///").or(line.strip_prefix("//!"));
                let is_fence = doc.is_some_and(|doc| doc.trim_start().starts_with("```"));
                // The words behind a fence decide whether the block runs.
                found.extend((is_fence || doc.is_some() && is_open).then_some(at + 1));
                is_open = doc.is_some() && is_open != is_fence;
            }
            return found;
        }
        let mut depth = 0_usize;
        for (at, token) in self.tokens.iter().enumerate() {
            match token.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            let before = at.checked_sub(1).map(|before| self.tokens[before]);
            let is_first = before.is_none_or(|it| it.is(":") && it.line < token.line);
            if self.language == Python && token.kind == Kind::Text && depth == 0 && is_first {
                let mut is_example = false;
                let last = token.last_line();
                for (line, text) in (token.line..last).zip(token.text.lines()).skip(1) {
                    let text = text.trim_start();
                    is_example = text.starts_with(">>>") || is_example && !text.is_empty();
                    found.extend(is_example.then_some(line));
                }
            }
        }
        found
    }

    /// The lines of an item, counted from 1.
    pub fn lines(&self, item: &Item) -> Range<usize> {
        let line = |at: usize| self.tokens.get(at).map(|token| token.line);
        let first = line(item.head.start).unwrap_or(1);
        let end = item.body.end.max(item.head.end);
        let last = self.tokens.get(end.saturating_sub(1)).map(Token::last_line);
        let closes = |token: &&Token| matches!(token.text, "}" | ")" | "end");
        let closed = self.tokens.get(end).filter(closes);
        let last = match closed.filter(|_| self.language != Python) {
            Some(token) => token.line,
            None => last.unwrap_or(first),
        };
        first..last.max(first) + 1
    }

    fn read_items(&mut self) {
        // The start of the attributes that precede the next item.
        let mut pending: Option<usize> = None;
        let mut at = 0;
        while let Some(token) = self.tokens.get(at) {
            if let Some(end) = self.attribute(at) {
                pending.get_or_insert(at);
                at = end + 1;
                continue;
            }
            let ends = token.kind == Kind::Mark && matches!(token.text, ";" | "{" | "}");
            if let Some(item) = self.item(pending.unwrap_or(at), at) {
                at = item.head.end.max(at + 1);
                self.items.push(item);
                pending = None;
            } else {
                pending = pending.filter(|_| !ends);
                at += 1;
            }
        }
    }

    fn token(&self, at: usize) -> Option<&Token<'a>> {
        self.tokens.get(at)
    }

    fn is(&self, at: usize, text: &str) -> bool {
        self.token(at).is_some_and(|token| token.is(text))
    }

    /// Whether a line or a statement begins with this token.
    fn begins_statement(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map(|before| self.tokens[before]);
        before.is_none_or(|before| {
            matches!(before.text, ";" | "{" | "}") || before.last_line() < self.tokens[at].line
        })
    }

    /// The end of an attribute: `#[a(b)]`, `[A]`, `@a.b(c)`.
    fn attribute(&self, at: usize) -> Option<usize> {
        let (token, next) = (self.token(at)?, self.token(at + 1)?);
        match self.language {
            Rust | Php if token.is("#") && next.is("[") => Some(close(&self.tokens, at + 1)),
            CSharp if token.is("[") && self.begins_statement(at) => Some(close(&self.tokens, at)),
            Elixir if token.is("@") && next.is("tag") => {
                let behind = self.tokens[at..].iter();
                let on_line = behind.take_while(|next| next.line == token.line);
                Some(at + on_line.count() - 1)
            }
            Java | Kotlin | Swift | Python if token.is("@") && next.kind == Kind::Word => {
                let mut end = at + 1;
                while self.is(end + 1, ".") || self.is(end + 1, ":") {
                    end += 2;
                }
                match self.is(end + 1, "(") {
                    true => Some(close(&self.tokens, end + 1)),
                    false => Some(end.min(self.tokens.len() - 1)),
                }
            }
            _ => None,
        }
    }

    /// Parses the item that begins at the token `at` and whose attributes begin at `start`.
    fn item(&self, start: usize, at: usize) -> Option<Item> {
        let token = self.token(at)?;
        let before = at
            .checked_sub(1)
            .map_or("", |before| self.tokens[before].text);
        let owner = at
            .checked_sub(2)
            .map_or("", |owner| self.tokens[owner].text);
        let is_own = !matches!(before, "." | "?." | "->") || matches!(owner, "Deno" | "RSpec");
        if token.kind != Kind::Word {
            return None;
        }
        let next = self.token(at + 1)?;
        let word = |words: &[&str]| is_own && words.contains(&token.text);
        let is_run = token.is("Run") && before == "." && self.language == Go;
        // `fit` runs only this test, `xdescribe` skips the group.
        let call = token.text.strip_prefix(['f', 'x']).unwrap_or_default();
        let called = |words: &[&str]| word(words) || is_own && words.contains(&call);
        let sort = match is_run || called(&TEST_CALLS) || self.language == C {
            true => Some(Sort::Test),
            false => called(&GROUP_CALLS).then_some(Sort::Group),
        };
        if let Some(called) = sort.and_then(|sort| self.call(start, at, sort)) {
            return Some(called);
        }
        if word(&GROUPS) && next.kind == Kind::Word {
            let (head_end, body) = self.block(at, at + 2)?;
            return Some(self.make(start..head_end, body, at + 1, Sort::Group));
        }
        let named = match self.language {
            _ if word(&FUNCTIONS) => {
                let receiver = self.language == Go && next.is("(");
                match receiver {
                    true => close(&self.tokens, at + 1) + 1,
                    false => at + 1,
                }
            }
            Rust if token.is("macro_rules") => at + 2,
            JavaScript if matches!(token.text, "const" | "let" | "var") => {
                return self.arrow(start, at);
            }
            Java | CSharp | C | Shell if next.is("(") && next.at == token.end() => {
                let is_call = matches!(before, "new" | "return" | "=") || !is_own;
                (!is_call).then_some(at)?
            }
            _ => return None,
        };
        self.function(start, at, named)
    }

    fn function(&self, start: usize, at: usize, named: usize) -> Option<Item> {
        let name = self.token(named).filter(|name| name.kind != Kind::Mark)?;
        let mut params = named + 1;
        if self.is(params, "<") {
            params = (params..self.tokens.len()).find(|at| self.is(*at, "("))?;
        }
        let behind = match self.is(params, "(") {
            true => close(&self.tokens, params) + 1,
            false if matches!(self.language, Ruby | Elixir | Shell) => params,
            false if self.is(at, "macro_rules") => params,
            false => return None,
        };
        let (head_end, body) = self.block(at, behind)?;
        let is_inner = self.language == Python
            && self
                .items
                .iter()
                .any(|item| item.sort == Sort::Test && item.body.contains(&at));
        let is_test = self.is_marked(start, at) || self.has_name_of_test(inside(name.text));
        let sort = match is_test && !is_inner {
            true => Sort::Test,
            false => Sort::Helper,
        };
        Some(self.make(start..head_end, body, named, sort))
    }

    /// Parses the calls `it('name', …)`, `test.each(…)('name', …)`, `test "name" do`, `TEST(Group, Name) {` and
    /// `t.Run("name", …)`.
    fn call(&self, start: usize, at: usize, sort: Sort) -> Option<Item> {
        if matches!(self.language, Ruby | Elixir) || self.is(at, "@test") {
            return self.call_with_block(start, at, sort);
        }
        match self.language {
            C => return self.macro_test(start, at, sort),
            JavaScript | Go => {}
            _ => return None,
        }
        let mut open = at + 1;
        while !self.is(open, "(") || self.token(open + 1)?.kind != Kind::Text {
            let token = self.token(open)?;
            if token.is(".") {
                open += 2;
            } else if token.kind == Kind::Text && token.text.starts_with('`') {
                open += 1;
            } else if token.is("(")
                && (open > at + 1)
                && self.is(close(&self.tokens, open) + 1, "(")
            {
                open = close(&self.tokens, open) + 1;
            } else {
                return None;
            }
        }
        let body = open + 2..close(&self.tokens, open).max(open + 2);
        Some(self.make(start..open + 2, body, open + 1, sort))
    }

    fn macro_test(&self, start: usize, at: usize, sort: Sort) -> Option<Item> {
        let name = self.tokens[at].text;
        let is_upper = !name.contains(char::is_lowercase);
        let is_macro = is_upper && (name.contains("TEST") || name == "SCENARIO");
        (is_macro && self.is(at + 1, "(")).then_some(())?;
        let end = close(&self.tokens, at + 1);
        let (head_end, body) = self.block(at, end + 1)?;
        let inner = &self.tokens[at + 2..end];
        let own = inner.rsplit(|token| token.is(",")).next()?;
        let words: Vec<&str> = own.iter().map(|token| inside(token.text)).collect();
        let mut item = self.make(start..head_end, body, at, sort);
        item.name = words.join(" ");
        Some(item)
    }

    fn call_with_block(&self, start: usize, at: usize, sort: Sort) -> Option<Item> {
        let line = self.tokens[at].line;
        let rest = (at + 1..self.tokens.len()).take_while(|at| self.tokens[*at].line == line);
        let opens = |word: &str| rest.clone().find(|at| self.is(*at, word));
        let (head_end, body) = match (opens("do"), opens("{")) {
            (None, Some(brace)) => (brace, between(&self.tokens, brace)),
            (Some(_), _) => self.block(at, at + 1)?,
            (None, None) => return None,
        };
        let mut item = self.make(start..head_end, body.clone(), at + 1, sort);
        if self.tokens[at + 1].kind == Kind::Mark {
            // For example `it { is_expected.to … }`.
            let words = self.tokens[body].iter().map(|token| token.text);
            item.name = words.collect::<Vec<_>>().join(" ");
        }
        Some(item)
    }

    /// Parses `const name = async (…) => …`.
    fn arrow(&self, start: usize, at: usize) -> Option<Item> {
        self.is(at + 2, "=").then_some(())?;
        let mut next = at + 3 + usize::from(self.is(at + 3, "async"));
        let is_function = self.is(next, "function");
        if is_function || self.is(next, "<") {
            let limit = (next + 12).min(self.tokens.len());
            next = (next..limit).find(|at| self.is(*at, "("))?;
        }
        let behind = match self.is(next, "(") {
            true => close(&self.tokens, next) + 1,
            false => next + 1,
        };
        let limit = (behind + 12).min(self.tokens.len());
        let begin = match is_function || self.is(behind, ":") {
            true => (behind..limit).find(|at| self.is(*at, "=>") || self.is(*at, "{"))?,
            // Anything else is a value, behind which another statement may stand.
            false => self.is(behind, "=>").then_some(behind)?,
        };
        let begin = begin + usize::from(self.is(begin, "=>"));
        let body = match self.is(begin, "{") {
            true => between(&self.tokens, begin),
            false => begin..self.expression_end(begin),
        };
        Some(self.make(start..begin, body, at + 1, Sort::Helper))
    }

    /// The end of the head and the range of the body of an item that begins at the token `at`; its name and parameters
    /// end before `from`.
    fn block(&self, at: usize, from: usize) -> Option<(usize, Range<usize>)> {
        match self.language {
            Python => {
                let mut colon = from;
                while !self.is(colon, ":") {
                    let is_open = matches!(self.token(colon)?.text, "(" | "[" | "{");
                    colon = if is_open {
                        close(&self.tokens, colon)
                    } else {
                        colon
                    } + 1;
                }
                let end = self.find_outer(at, colon + 1, |_| false);
                Some((colon + 1, colon + 1..end))
            }
            Ruby | Elixir => {
                let line = self.tokens[at].line;
                let rest = from..self.tokens.len();
                let mut on_line = rest.take_while(|at| self.tokens[*at].line == line);
                let behind = from + on_line.clone().count();
                let head_end = on_line.find(|at| self.is(*at, "do"));
                let head_end = head_end.map_or(behind, |at| at + 1);
                let end = self.find_outer(at, head_end, |token| token.is("end"));
                Some((head_end, head_end..end))
            }
            _ => {
                let mut open = from;
                loop {
                    match self.token(open)?.text {
                        "{" => return Some((open, between(&self.tokens, open))),
                        "=" | "=>" => {
                            let body = open + 1..self.expression_end(open + 1);
                            return Some((open, body));
                        }
                        ";" | "}" => return None,
                        "(" | "[" => open = close(&self.tokens, open),
                        _ => {}
                    }
                    open += 1;
                }
            }
        }
    }

    /// The first token after `from` that begins a line and is indented no deeper than the line of `at`. At the same
    /// depth, it must end the block, except in Python.
    fn find_outer(&self, at: usize, from: usize, ends: impl Fn(&Token) -> bool) -> usize {
        let line = self.tokens[at].line;
        let first = self.tokens.partition_point(|token| token.line < line);
        let column = self.tokens[first].column;
        let rest = &self.tokens[from.min(self.tokens.len())..];
        let starts = line_starts(rest, false).into_iter();
        let is_python = self.language == Python;
        let mut outer = starts.filter(|at| {
            let token = &rest[*at];
            token.line > line
                && (token.column < column || token.column == column && (is_python || ends(token)))
        });
        outer.next().map_or(self.tokens.len(), |at| from + at)
    }

    fn expression_end(&self, from: usize) -> usize {
        let mut end = from;
        while let Some(token) = self.token(end) {
            let is_new = end > from && token.line > self.tokens[end - 1].last_line();
            if matches!(token.text, ";" | "}" | ")" | ",") || is_new && !token.is(".") {
                break;
            }
            if matches!(token.text, "(" | "[" | "{") {
                end = close(&self.tokens, end);
            }
            end += 1;
        }
        end
    }

    fn make(&self, head: Range<usize>, body: Range<usize>, named: usize, sort: Sort) -> Item {
        let name = self.token(named).map_or("", |token| inside(token.text));
        Item {
            name: name.to_owned(),
            sort,
            head,
            body: body.start..body.end.max(body.start),
        }
    }

    /// Whether an attribute marks the item as a test.
    fn is_marked(&self, start: usize, at: usize) -> bool {
        let mut depth = 0usize;
        (start..at).any(|at| {
            match self.tokens[at].text {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                _ => {}
            }
            let before = at.checked_sub(1).map_or("", |at| self.tokens[at].text);
            let is_name = matches!(before, "[" | "::" | "." | "@" | "," | ":");
            // In `test::case`, only the last name counts.
            let is_last = !(self.is(at + 1, "::") || self.is(at + 1, "."));
            depth == 0 && is_name && is_last && is_mark(self.tokens[at].text)
        })
    }

    fn has_name_of_test(&self, name: &str) -> bool {
        let begins = |kind: &str, other: fn(char) -> bool| {
            let rest = name.strip_prefix(kind);
            rest.is_some_and(|rest| !rest.starts_with(other))
        };
        match self.language {
            Go => {
                let kinds = ["Test", "Fuzz", "Benchmark", "Example"];
                name != "TestMain" && kinds.iter().any(|kind| begins(kind, char::is_lowercase))
            }
            Python | Ruby | Php | Swift | Kotlin | Java | CSharp | Shell => {
                let rest = name.strip_prefix("test").unwrap_or_default();
                rest.starts_with(|c: char| c.is_uppercase() || matches!(c, '_' | '-'))
            }
            _ => false,
        }
    }
}

/// Whether an attribute of this name marks a test: `test`, `rstest`, `ParameterizedTest`, `TestMethod`, `Fact`.
fn is_mark(name: &str) -> bool {
    let name = name.to_lowercase();
    name.starts_with("test")
        || name.ends_with("test")
        || matches!(name.as_str(), "quickcheck" | "property" | "fact" | "theory")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list_cases(path: &str, text: &str) -> Vec<String> {
        let suite = Suite::read(path, text);
        let show = |(test, within): (&Item, String)| {
            let lines = suite.lines(test);
            let body: Vec<&str> = suite.tokens[test.body.clone()]
                .iter()
                .map(|t| t.text)
                .collect();
            format!(
                "{within}|{}|{}-{}|{}",
                test.name,
                lines.start,
                lines.end - 1,
                body.join(" ")
            )
        };
        suite.tests().map(show).collect()
    }

    #[test]
    fn each_language_names_its_tests() {
        for (path, text, expected) in [
            (
                "a.rs",
                "fn work() {}\n#[cfg(test)]\nmod tests {\n    /// Says.\n    #[tokio::test(flavor = \"x\")]\n    #[ignore]\n    pub async fn a() -> Result<(), E> {\n        f(1);\n    }\n    fn help() {}\n    #[rstest]\n    fn b(#[case] x: u8) { g() }\n}\n",
                &["tests|a|5-9|f ( 1 ) ;", "tests|b|11-12|g ( )"][..],
            ),
            (
                "t.py",
                "import x\n\ndef help():\n    return 1\n\n@mark.skip\ndef test_a(tmp,\n  b):\n    # why\n    assert f(\n1)\n\n    assert g()\n\nclass TestB(Base):\n    async def test_c(self): pass\n\n    def testD(self):\n        self.x()\nY = 1\n",
                &[
                    "|test_a|6-13|assert f ( 1 ) assert g ( )",
                    "TestB|test_c|16-16|pass",
                    "TestB|testD|18-19|self . x ( )",
                ],
            ),
            (
                "a.test.ts",
                "describe('calc', () => {\n  it.only(\"adds\", async () => {\n    f(`${x}`)\n  })\n  test.each([[1, 2]])('many %i', (a) => { g(a) })\n  xit('later')\n})\nconst h = (x) => { y() }\nconst t = require('t')\ntest('after', () => { w() })\n/x/.test('no')\nDeno.test('d', () => z())\n",
                &[
                    "calc|adds|2-4|, async ( ) => { f ( `${x}` ) }",
                    "calc|many %i|5-5|, ( a ) => { g ( a ) }",
                    "calc|later|6-6|",
                    "|after|10-10|, ( ) => { w ( ) }",
                    "|d|12-12|, ( ) => z ( )",
                ],
            ),
            (
                "a_test.go",
                "package a\nfunc TestA(t *testing.T) {\n\tt.Run(\"one\", func(t *testing.T) { f() })\n}\nfunc Testing() {}\nfunc (s *Suite) TestB() { g() }\n",
                &[
                    "|TestA|2-4|t . Run ( \"one\" , func ( t * testing . T ) { f ( ) } )",
                    "TestA|one|3-3|, func ( t * testing . T ) { f ( ) }",
                    "|TestB|6-6|g ( )",
                ],
            ),
            (
                "ATest.java",
                "class ATest {\n  @Disabled(\"x\")\n  @Test\n  public void adds() throws Exception {\n    f();\n  }\n  private int help(int a) { return a; }\n  @ParameterizedTest @ValueSource(ints = {1, 2})\n  void many(int a) { g(a); }\n}\n",
                &["ATest|adds|2-6|f ( ) ;", "ATest|many|8-9|g ( a ) ;"],
            ),
            (
                "ATest.kt",
                "class ATest {\n  @Test\n  fun `adds up`() = runTest {\n    f()\n  }\n\n  @Test fun b(): Unit { g() }\n}\n",
                &["ATest|adds up|2-5|runTest { f ( ) }", "ATest|b|7-7|g ( )"],
            ),
            (
                "a_test.rb",
                "class ATest < Test\n  def setup\n    x\n  end\n  def test_a\n    assert f\n  end\n  test \"b c\" do\n    if x\n      g\n    end\n  end\nend\n",
                &["ATest|test_a|5-7|assert f", "ATest|b c|8-12|if x g end"],
            ),
            (
                "a_spec.rb",
                "describe A do\n  it 'adds' do\n    f\n  end\n  it { is_expected.to g }\nend\n",
                &[
                    "A|adds|2-4|f",
                    "A|is_expected . to g|5-5|is_expected . to g",
                ],
            ),
            (
                "t/a.bats",
                "@test \"adds up\" {\n  run f\n  [ \"$x\" = 1 ]\n}\ntest_b() {\n  g\n}\nhelp() { h; }\n",
                &["|adds up|1-4|run f [ \"$x\" = 1 ]", "|test_b|5-7|g"],
            ),
            (
                "ATests.cs",
                "public class ATests {\n  [Fact(Skip = \"x\")]\n  public async Task Adds() { F(); }\n  [Theory, InlineData(1)]\n  public void Many(int a) => G(a);\n}\n",
                &["ATests|Adds|2-3|F ( ) ;", "ATests|Many|4-5|G ( a )"],
            ),
            (
                "a_test.cc",
                "TEST(Calc, Adds) {\n  EXPECT_EQ(1, f());\n}\nint g() { return 1; }\n",
                &["|Adds|1-3|EXPECT_EQ ( 1 , f ( ) ) ;"],
            ),
            (
                "ATest.php",
                "<?php\nclass ATest extends T {\n  public function testA(): void {\n    $this->x();\n  }\n}\n",
                &["ATest|testA|3-5|$this -> x ( ) ;"],
            ),
            (
                "a_test.exs",
                "defmodule A do\n  test \"adds\" do\n    assert f() == 1\n  end\nend\n",
                &["A|adds|2-4|assert f ( ) == 1"],
            ),
        ] {
            assert_eq!(list_cases(path, text), expected, "{path}");
        }
    }

    #[test]
    fn what_is_no_test_is_none() {
        for (path, text) in [
            (
                "src/emit.rs",
                "fn test() {}\n#[cfg(test)]\nmod a;\nfn f() { emit(x); it(y); }\n",
            ),
            ("a.js", "emit('x'); re.test('y'); it(z); unit('a', f)\n"),
            ("a.py", "# def test_a():\nx = '''\ndef test_b():\n'''\n"),
            (
                "a.go",
                "// func TestA(t *testing.T) {\nvar s = `\nfunc TestB(t *testing.T) {`\n",
            ),
        ] {
            assert_eq!(list_cases(path, text), [""; 0], "{path}");
        }
    }
}
