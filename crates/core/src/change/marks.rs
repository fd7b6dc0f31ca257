//! The marks by which test frameworks are known in a text: where a test begins, what sets one
//! aside, what asserts, and what cannot fail.

/// Starts of a line that begins a test, name and all.
const BEGINS: [&str; 26] = [
    "def test_",
    "async def test_",
    "def test ",
    "it(",
    "it('",
    "it(\"",
    "it \"",
    "it '",
    "test(",
    "test \"",
    "test '",
    "it.each",
    "test.each",
    "Deno.test(",
    "func Test",
    "func Fuzz",
    "func test",
    "@test \"",
    "public function test",
    "TEST(",
    "TEST_F(",
    "TEST_P(",
    "TEST_CASE(",
    "SCENARIO(",
    "BOOST_AUTO_TEST_CASE(",
    "specify ",
];
/// Starts of a line after which the next line of code names the test.
const ANNOUNCES: [&str; 7] = [
    "@Test",
    "@ParameterizedTest",
    "@RepeatedTest",
    "[Fact",
    "[Theory",
    "[Test",
    "[TestMethod",
];
/// What sets a test aside, wherever it stands.
const SKIPS: [&str; 35] = [
    "#[ignore",
    "#[cfg(any())]",
    "@pytest.mark.skip",
    "@pytest.mark.xfail",
    "pytest.skip(",
    "pytest.xfail(",
    "unittest.skip",
    "self.skipTest(",
    "it.skip",
    "test.skip",
    "describe.skip",
    "it.only",
    "test.only",
    "describe.only",
    "it.todo",
    "test.todo",
    "xit(",
    "xtest(",
    "xdescribe(",
    "fit(",
    "fdescribe(",
    "this.skip(",
    "t.Skip(",
    "t.Skipf(",
    "t.SkipNow(",
    "b.Skip(",
    "@Disabled",
    "@Ignore",
    "[Ignore",
    "Skip = \"",
    "@tag :skip",
    "GTEST_SKIP(",
    "markTestSkipped(",
    "XCTSkip",
    "# SKIP",
];
/// What asserts.
const ASSERTS: [&str; 17] = [
    "assert",
    "Assert",
    "ASSERT",
    "EXPECT_",
    "REQUIRE",
    "CHECK(",
    "expect(",
    "expect ",
    "should",
    "require.",
    "t.Error",
    "t.Fatal",
    "t.Fail",
    "prop_",
    "is_expected",
    "must_equal",
    "raise AssertionError",
];
/// What compares with an expected value.
const EXACT: [&str; 18] = [
    "assert_eq!",
    "assertEqual",
    "assertEquals",
    "assertListEqual",
    "assertDictEqual",
    "assert.equal",
    "assert.strictEqual",
    "assert.deepEqual",
    "assert.deepStrictEqual",
    "assert.Equal",
    "require.Equal",
    "toBe(",
    "toEqual(",
    "toStrictEqual(",
    "EXPECT_EQ",
    "ASSERT_EQ",
    "must_equal",
    "should eq",
];
/// What asserts nothing, blanks left out.
const IDLE: [&str; 14] = [
    "self.assertTrue(True)",
    "assertTrue(true)",
    "assert!(true",
    "assert_eq!(true,true",
    "assert_eq!(1,1",
    "debug_assert!(true",
    "expect(true).toBe(true)",
    "expect(1).toBe(1)",
    "expect(true).toBeTruthy()",
    "assert.ok(true)",
    "assert(true)",
    "EXPECT_TRUE(true)",
    "ASSERT_TRUE(true)",
    "Assert.True(true)",
];
/// What lets a command fail unseen.
const SWALLOWS: [&str; 9] = [
    "|| true",
    "||true",
    "|| :",
    "|| exit 0",
    "set +e",
    "continue-on-error: true",
    "allow_failure: true",
    "--passWithNoTests",
    "--no-fail-on-empty",
];

/// A line that is nothing but a comment.
fn is_comment(line: &str) -> bool {
    ["//", "/*", "* ", "--", ";;"]
        .iter()
        .any(|mark| line.starts_with(mark))
        || (line.starts_with('#') && !line.starts_with("#["))
}

/// The line without a comment behind it, where `//` begins one.
fn code(line: &str) -> &str {
    line.split_once(" // ").map_or(line, |(code, _)| code)
}

/// How many tests a text holds.
pub fn count_tests(text: &str) -> usize {
    tests(text).len()
}

/// Lines that begin a test, as they stand but for blanks around them.
pub(super) fn tests(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut announced = false;
    for line in text.lines().map(str::trim) {
        let attribute = line.starts_with("#[") || line.starts_with('@') || line.starts_with('[');
        if is_comment(line) || line.is_empty() {
            continue;
        }
        if begins(line) {
            found.push(line);
            announced = false;
        } else if announces(line) {
            announced = true;
        } else if announced && !attribute {
            found.push(line);
            announced = false;
        }
    }
    found
}

fn begins(line: &str) -> bool {
    BEGINS.iter().any(|start| line.starts_with(start))
        // A function of a shell's test script.
        || (line.starts_with("test_") && line.contains("()"))
}

/// `#[test]`, `#[tokio::test(…)]`, `#[rstest]`, `@Test`.
fn announces(line: &str) -> bool {
    if let Some(attribute) = line.strip_prefix("#[") {
        let path = attribute.split(['(', ']']).next().unwrap_or_default();
        return path.rsplit("::").next().is_some_and(|last| {
            matches!(last.trim(), "test" | "rstest" | "test_case" | "quickcheck")
        });
    }
    ANNOUNCES.iter().any(|start| line.starts_with(start))
}

/// Lines that set a test aside.
pub(super) fn skips(text: &str) -> Vec<&str> {
    text.lines()
        .map(str::trim)
        .filter(|line| {
            let tap = line.contains("# SKIP");
            (tap || !is_comment(line))
                && (SKIPS.iter().any(|mark| marks(code(line), mark))
                    || *line == "skip"
                    || line.starts_with("skip \"")
                    || line.starts_with("skip '"))
        })
        .collect()
}

/// A mark that begins with a letter is a word of its own: `emit(` is no `it(`.
fn marks(line: &str, mark: &str) -> bool {
    line.match_indices(mark).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !mark.starts_with(char::is_alphabetic)
            || !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.')
    })
}

/// How many lines assert something that could fail.
pub(super) fn assertions(text: &str) -> usize {
    text.lines()
        .map(str::trim)
        .filter(|line| !is_comment(line) && !is_idle(line))
        .filter(|line| ASSERTS.iter().any(|mark| line.contains(mark)))
        .count()
}

/// How many lines hold a value against an expected one, where others only look whether there is one.
pub(super) fn comparisons(text: &str) -> usize {
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !is_comment(line) && !is_idle(line));
    let compares = |line: &&str| {
        let asserts = ASSERTS.iter().any(|mark| line.contains(mark));
        EXACT.iter().any(|mark| line.contains(mark))
            || asserts && line.contains(" == ")
            || ["[ ", "[[ ", "test "]
                .iter()
                .any(|mark| line.starts_with(mark))
                && [" = ", " == ", " -eq "]
                    .iter()
                    .any(|mark| line.contains(mark))
    };
    lines.filter(compares).count()
}

/// Lines that assert what is always so.
pub(super) fn idle(text: &str) -> Vec<&str> {
    text.lines()
        .map(str::trim)
        .filter(|line| !is_comment(line) && is_idle(line))
        .collect()
}

fn is_idle(line: &str) -> bool {
    let dense: String = line.chars().filter(|c| !c.is_whitespace()).collect();
    dense == "assertTrue" || IDLE.iter().any(|mark| dense.starts_with(mark))
}

/// Lines that let a command fail unseen.
pub(super) fn swallows(text: &str) -> Vec<&str> {
    text.lines()
        .map(str::trim)
        .filter(|line| !is_comment(line) && SWALLOWS.iter().any(|mark| line.contains(mark)))
        .collect()
}
