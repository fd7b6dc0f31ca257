//! Functions and tests in a source text, with their bodies: what each language's common
//! frameworks call a test.

mod blocks;
mod braces;
mod calls;
mod item;
mod shell;

pub(crate) use blocks::line_starts;
pub(crate) use item::last_line;
pub use item::{Item, Sort};

use crate::language::Language;
use crate::lex::{self, Token};
use std::ops::Range;

/// A text, taken apart.
#[derive(Debug)]
pub struct Suite<'a> {
    /// By the file's name.
    pub language: Language,
    /// Without comments.
    pub tokens: Vec<Token<'a>>,
    /// In the order they begin.
    pub items: Vec<Item>,
}

impl<'a> Suite<'a> {
    /// Takes a text apart.
    pub fn read(path: &str, text: &'a str) -> Self {
        let language = Language::of(path, text);
        let tokens = lex::code(language, text);
        let mut items = match language {
            Language::JavaScript => calls::items(&tokens),
            Language::Python => blocks::python(&tokens),
            Language::Ruby | Language::Elixir => blocks::ruby(&tokens),
            Language::Shell => shell::items(&tokens),
            Language::Other => Vec::new(),
            _ => braces::items(language, &tokens),
        };
        items.sort_by_key(|item| (item.head.start, std::cmp::Reverse(item.body.end)));
        Self {
            language,
            tokens,
            items,
        }
    }

    /// Its tests, each with the names of the groups it stands in.
    pub fn tests(&self) -> impl Iterator<Item = (&Item, String)> {
        let tests = self.items.iter().filter(|item| item.sort == Sort::Test);
        tests.map(|test| (test, self.within(test)))
    }

    /// It holds a test.
    pub fn has_tests(&self) -> bool {
        self.items.iter().any(|item| item.sort == Sort::Test)
    }

    fn within(&self, test: &Item) -> String {
        let holds = |item: &&Item| {
            item.sort != Sort::Helper
                && item.body.start <= test.head.start
                && test.body.end <= item.body.end
                && *item != test
        };
        let around = self.items.iter().filter(holds);
        let names: Vec<&str> = around.map(|item| item.name.as_str()).collect();
        names.join(" > ")
    }

    /// Lines, from 1, that an item takes.
    pub fn lines(&self, item: &Item) -> Range<usize> {
        let first = self
            .tokens
            .get(item.head.start)
            .map_or(item.line, |token| token.line);
        let end = item.body.end.max(item.head.end);
        let closes = |token: &&Token| matches!(token.text, "}" | ")" | "end");
        let last = match self.tokens.get(end).filter(closes) {
            Some(token) if self.language != Language::Python => token.line,
            _ => self
                .tokens
                .get(end.saturating_sub(1))
                .map_or(first, last_line),
        };
        first..last.max(item.line) + 1
    }
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
                "describe('calc', () => {\n  it.only(\"adds\", async () => {\n    f(`${x}`)\n  })\n  test.each([[1, 2]])('many %i', (a) => { g(a) })\n  xit('later')\n})\nconst h = (x) => { y() }\n/x/.test('no')\nDeno.test('d', () => z())\n",
                &[
                    "calc|adds|2-4|, async ( ) => { f ( `${x}` ) }",
                    "calc|many %i|5-5|, ( a ) => { g ( a ) }",
                    "calc|later|6-6|",
                    "|d|10-10|, ( ) => z ( )",
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
